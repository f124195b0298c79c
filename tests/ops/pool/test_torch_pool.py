#!/usr/bin/env python3
"""test_torch_pool.py: pooling on the CPU device against PyTorch in double precision: random shapes, windows, strides,
types and layouts; values, indices and gradients. usage: test_torch_pool.py [ROUNDS [SEED]]"""
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
from rmcp._api import Device  # noqa: E402
from rmcp._case import CasePlan  # noqa: E402

WORDS = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16"}
ROUNDING = {torch.float32: 2**-24, torch.float16: 2**-11, torch.bfloat16: 2**-8}
INDICES = {"u8": torch.uint8, "u16": torch.int16, "u32": torch.int32, "u64": torch.int64}
LARGEST = {"u8": 255, "u16": 2**15 - 1, "u32": 2**31 - 1, "u64": 2**62}  # torch's int16 is signed
MAX = {1: f.max_pool1d, 2: f.max_pool2d, 3: f.max_pool3d}
AVERAGE = {1: f.avg_pool1d, 2: f.avg_pool2d, 3: f.avg_pool3d}
MODES = ("max", "avg", "avg_in")


def product(numbers):
    result = 1
    for number in numbers:
        result *= number
    return result


def text(numbers):
    return "x".join(map(str, numbers))


def laid_out(rng, tensor):
    """The same values, packed or in any order of the dimensions, maybe with a gap behind the outermost."""
    if rng.random() < 0.4:
        return tensor.contiguous()
    order = list(range(tensor.dim()))
    rng.shuffle(order)
    if rng.random() < 0.5:
        order = [0, *range(2, tensor.dim()), 1]
    room = torch.zeros([tensor.shape[i] + (1 if k == 1 and rng.random() < 0.3 else 0) for k, i in enumerate(order)],
                       dtype=tensor.dtype)
    for k, i in enumerate(order):
        room = room.narrow(k, 0, tensor.shape[i])
    result = room.permute([order.index(i) for i in range(tensor.dim())])
    result.copy_(tensor)
    return result


def strided(name, tensor):
    return f":{name}/{text(tensor.stride())}"


class Problem:
    """A random one; `values` are integers with many ties, or reals."""

    def __init__(self, rng):
        self.dims = rng.randrange(1, 4)
        self.mode = rng.choice(MODES)
        self.dtype = rng.choice(tuple(WORDS))
        widest = {1: 60, 2: 18, 3: 8}[self.dims]
        spatial = [rng.randrange(1, widest) for _ in range(self.dims)]
        self.window = [rng.randrange(1, min(5, n) + 1) if rng.random() < 0.85 else n for n in spatial]
        self.stride = [rng.randrange(1, 4) for _ in range(self.dims)]
        self.pad = [rng.randrange(0, n // 2 + 1) for n in self.window]
        self.ceil = self.mode == "max" and rng.random() < 0.3
        self.size = [rng.randrange(1, 4), rng.randrange(1, 7), *spatial]
        reals = rng.random() < 0.5
        x = torch.randn(self.size) if reals else torch.randint(-3, 4, self.size).float()
        self.x = x.to(self.dtype)
        self.index = rng.choice([word for word in INDICES
                                 if max(product(spatial), product(self.window)) <= LARGEST[word]])
        self.image = rng.random() < 0.5

    def reference(self):
        """(y, indices in the image, x with a graph behind y)"""
        x = self.x.double().requires_grad_()
        if self.mode == "max":
            y, index = MAX[self.dims](x, self.window, self.stride, self.pad, ceil_mode=self.ceil, return_indices=True)
            return y, index, x
        return AVERAGE[self.dims](x, self.window, self.stride, self.pad,
                                  count_include_pad=self.mode == "avg_in"), None, x

    def case(self, direction, out):
        words = [text(self.size), direction, self.mode, WORDS[self.dtype], "window" + text(self.window),
                 "stride" + text(self.stride), "pad" + text(self.pad), "out" + text(out)]
        if self.mode == "max":
            words += [self.index] + ["image"] * self.image
        return "pool:" + ":".join(words)

    def in_windows(self, index):
        """From places in the image to places in windows."""
        result = torch.zeros_like(index)
        spatial, out, rest = self.size[2:], index.shape[2:], index
        places = []
        for n in reversed(spatial):
            places.insert(0, rest % n)
            rest = rest // n
        for d in range(self.dims):
            begin = torch.arange(out[d]) * self.stride[d] - self.pad[d]
            shape = [1, 1] + [1] * self.dims
            shape[2 + d] = -1
            result = result * self.window[d] + places[d] - begin.reshape(shape)
        return result


def near(got, want, allowed, what):
    error = (got.double() - want).abs()
    if not bool((error <= allowed).all()):
        raise AssertionError(f"{what}: off by {(error - allowed).max().item()}")


def check(rng, device):
    p = Problem(rng)
    y, index, x = p.reference()
    dtype, u = p.dtype, 2**-24
    terms = product(p.window) + 8
    size = 0 if p.mode == "max" else terms * u * p.x.double().abs().max().item()
    ours_x = laid_out(rng, p.x)
    ours_y = laid_out(rng, torch.full(y.shape, float("nan")).to(dtype))
    tensors = {"x": ours_x.data_ptr(), "y": ours_y.data_ptr()}
    case = p.case("fwd", y.shape[2:]) + strided("x", ours_x) + strided("y", ours_y)
    ours_index = None
    if index is not None:
        ours_index = laid_out(rng, torch.zeros(y.shape, dtype=INDICES[p.index]))
        tensors["index"] = ours_index.data_ptr()
        case += strided("index", ours_index)
    with CasePlan(device, case) as plan:
        plan.execute(tensors)
    near(ours_y, y.detach(), (ROUNDING[dtype] * 1.01 * y.abs() + size + (0 if size == 0 else 2**-25)).detach(), case)
    if index is not None:
        want = index if p.image else p.in_windows(index)
        if not torch.equal(ours_index.long(), want):
            raise AssertionError(f"{case}: other indices")

    dy = torch.randint(-3, 4, y.shape).double() if rng.random() < 0.5 else torch.randn(y.shape).to(dtype).double()
    y.backward(dy)
    ours_dy = laid_out(rng, dy.to(dtype))
    ours_dx = laid_out(rng, torch.full(p.size, float("nan")).to(dtype))
    case = p.case("bwd", y.shape[2:]) + strided("dy", ours_dy) + strided("dx", ours_dx)
    tensors = {"dy": ours_dy.data_ptr(), "dx": ours_dx.data_ptr()}
    if index is not None:
        tensors["index"] = ours_index.data_ptr()
        case += strided("index", ours_index)
    with CasePlan(device, case) as plan:
        plan.execute(tensors)
    bound = ROUNDING[dtype] * 1.01 * x.grad.abs() + terms * u * dy.abs().max() * 2 + 2**-24
    near(ours_dx, x.grad, bound, case)


def check_nan(device):
    """NaN counts as the largest, the last of several; all of -inf gives -inf, the first; a window of padding the
    lowest number."""
    x = torch.tensor([[[1, float("nan"), 2, float("nan"), 3, 4, float("-inf"), float("-inf"), 0, 0]]])
    y, index = torch.empty(1, 1, 6), torch.empty(1, 1, 6, dtype=torch.uint8)
    with CasePlan(device, "pool:1x1x10:fwd:max:image:window2:stride2:out6") as plan:
        plan.execute({"x": x.data_ptr(), "y": y.data_ptr(), "index": index.data_ptr()})
    want, places = f.max_pool1d(x, 2, 2, return_indices=True)
    if not torch.equal(y[..., :5].nan_to_num(9), want.nan_to_num(9)) or not torch.equal(index[..., :5].long(), places):
        raise AssertionError(f"NaN and Inf: {y} {index}, PyTorch {want} {places}")
    if y[0, 0, 5] != torch.finfo(torch.float32).min or index[0, 0, 5] != 0:
        raise AssertionError(f"a window of nothing: {y[0, 0, 5]} {index[0, 0, 5]}")


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 250
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(os.environ.get("RMCP_SEED") or random.randrange(1 << 30))
    print(f"{rounds} rounds, seed {seed}")
    rng = random.Random(seed)
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    device = Device("cpu")
    check_nan(device)
    for _ in range(rounds):
        check(rng, device)
    device.close()
    print("right")


main()
