#!/usr/bin/env python3
"""test_special.py: maxima among NaN, infinities and zeros of both signs, in the windows for which pooling has tiles,
against PyTorch: values, indices and gradients; on the CPU device, which has no tiles, by its own loops.

usage: test_special.py [DEVICE [SEED]]"""
import itertools
import os
import pathlib
import random
import sys

try:
    import torch
    import torch.nn.functional as f
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "python"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "elements"))
from elements_world import WORDS, World, text  # noqa: E402

RARE = [float("nan"), float("inf"), float("-inf"), 0.0, -0.0]
WINDOWS = [(3, 1, 1), (3, 1, 0), (3, 2, 1), (3, 2, 0), (2, 2, 0), (2, 2, 1)]


def image(rng, dtype, size, last):
    """Small numbers, many alike; some channels with a few rare ones, some with little else."""
    x = torch.randint(-4, 3, size).float()
    for c in range(size[1]):
        share = (0, 0.01, 0.9)[c % 3]
        rare = torch.tensor([rng.choice(RARE) for _ in range(x[:, c].numel())]).reshape(x[:, c].shape)
        x[:, c] = torch.where(torch.rand(x[:, c].shape) < share, rare, x[:, c])
    x[:, 2::3, :4] = float("-inf")
    x = x.to(dtype)
    return x.contiguous(memory_format=torch.channels_last) if last else x


def strides(name, tensor):
    return f":{name}/{text(tensor.stride())}"


def same(a, b):
    return bool(((a == b) | (a.isnan() & b.isnan())).all())


def check(world, rng, dtype, window, stride, pad, last):
    layout = torch.channels_last if last else torch.contiguous_format
    size = (2, 8, rng.choice([3, 8, 11, 14, 16]), rng.choice([3, 8, 16, 24, 13]))
    x = image(rng, dtype, size, last)
    want, places = f.max_pool2d(x.float(), window, stride, pad, return_indices=True)
    options = f"window{window}:stride{stride}:pad{pad}"
    for kind in ("u8", "u64:image", "none"):
        y = torch.full(want.shape, 7.0).to(dtype).contiguous(memory_format=layout)
        tensors = {"x": x, "y": y}
        case = f"pool:{text(size)}:fwd:max:{WORDS[dtype]}:{kind}:{options}{strides('x', x)}{strides('y', y)}"
        if kind != "none":
            index = torch.zeros(want.shape, dtype=torch.uint8 if kind == "u8" else torch.int64)
            tensors["index"] = index = index.contiguous(memory_format=layout)
            case += strides("index", index)
        world.run(case, tensors, "tiles")
        if not same(y.float(), want):
            raise SystemExit(f"{case}: {(~((y.float() == want) | want.isnan())).sum()} other values")
        if kind == "none":
            continue
        own = index.long()
        if kind == "u8":  # their places in the image
            rows = torch.arange(want.shape[2]).reshape(-1, 1) * stride - pad + own // window
            own = rows * size[3] + torch.arange(want.shape[3]) * stride - pad + own % window
        if not torch.equal(own, places):
            raise SystemExit(f"{case}: {(own != places).sum()} other indices")
        dy = torch.randint(-3, 4, want.shape).to(dtype).contiguous(memory_format=layout)
        dx = torch.full(size, 7.0).to(dtype).contiguous(memory_format=layout)
        case = case.replace(":fwd:", ":bwd:").replace(":x/", ":dx/").replace(":y/", ":dy/")
        world.run(case, {"dy": dy, "index": index, "dx": dx}, "back")
        gradient = torch.zeros(size).flatten(2).scatter_add(2, places.flatten(2), dy.float().flatten(2)).reshape(size)
        if not torch.equal(dx.float(), gradient):
            raise SystemExit(f"{case}: {(dx.float() != gradient).sum()} other gradients")


def main():
    spec = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(os.environ.get("RMCP_SEED") or random.randrange(1 << 30))
    print(f"{spec}, seed {seed}")
    rng = random.Random(seed)
    torch.manual_seed(seed)
    with World(spec) as world:
        for dtype, (window, stride, pad), last in itertools.product(WORDS, WINDOWS, (False, True)):
            check(world, rng, dtype, window, stride, pad, last)
        print(f"{world.runs} runs, right")


main()
