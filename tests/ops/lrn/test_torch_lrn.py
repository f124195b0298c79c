#!/usr/bin/env python3
"""test_torch_lrn.py: local response normalisation on the CPU device against PyTorch in double precision: forward, the
scale, and the gradient that autograd has. usage: test_torch_lrn.py [ROUNDS [SEED]]"""
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


def scale_of(x, n, within, alpha, k):
    """k + alpha / area * (sum of squares), from PyTorch's own average over padded windows."""
    less, more = (n - 1) // 2, n // 2
    if within:
        square = f.pad(x * x, (less, more, less, more))
        return k + alpha * f.avg_pool2d(square, n, 1)
    shape = x.shape
    square = f.pad((x * x).reshape(shape[0], 1, shape[1], -1), (0, 0, less, more))
    return k + alpha * f.avg_pool2d(square, (n, 1), 1).reshape(shape)


def layout(rng, tensor):
    return tensor.contiguous(memory_format=torch.channels_last if rng.random() < 0.4 else torch.contiguous_format)


def strided(name, tensor):
    return f":{name}/" + "x".join(map(str, tensor.stride()))


def near(got, want, allowed, what):
    error = (got.double() - want).abs()
    if not bool((error <= allowed).all()):
        raise AssertionError(f"{what}: off by {(error - allowed).max().item()}")


def check(rng, device):
    size = [rng.randrange(1, 4), rng.randrange(1, 30), rng.randrange(1, 14), rng.randrange(1, 14)]
    dtype, within, n = rng.choice(tuple(WORDS)), rng.random() < 0.5, rng.choice((5, 5, 1, 2, 3, 4, 7, 9))
    alpha, beta, k = rng.uniform(0, 2), rng.choice((0.75, 0.5, 1, rng.uniform(0, 2))), rng.uniform(0.5, 3)
    x = layout(rng, (torch.randn(size) * 2).to(dtype))
    exact_x = x.double().requires_grad_()
    exact_scale = scale_of(exact_x, n, within, alpha, k)
    exact_y = exact_x * exact_scale ** -beta
    if not within and n % 2 and bool((exact_y - f.local_response_norm(exact_x, n, alpha, beta, k)).abs().max() > 1e-12):
        raise AssertionError("the test's own formula is not PyTorch's")
    words = (f"lrn:{'x'.join(map(str, size))}:%s:{'within' if within else 'cross'}:{WORDS[dtype]}:n{n}:alpha{alpha!r}"
             f":beta{beta!r}:k{k!r}")

    scale_type = torch.float16 if dtype == torch.float16 else torch.float32
    y, scale = layout(rng, torch.full(size, float("nan")).to(dtype)), layout(rng, torch.zeros(size, dtype=scale_type))
    case = words % "fwd" + strided("x", x) + strided("y", y) + strided("scale", scale)
    with CasePlan(device, case) as plan:
        plan.execute({"x": x.data_ptr(), "y": y.data_ptr(), "scale": scale.data_ptr()})
    u = 2**-24
    near(scale, exact_scale.detach(), exact_scale.detach() * (ROUNDING[scale_type] * 1.01 + 200 * u), case + " scale")
    near(y, exact_y.detach(), exact_y.detach().abs() * (ROUNDING[dtype] * 1.01 + 400 * u) + 2**-24, case)

    # The gradient takes y and the scale as they were rounded; that is all the difference there is.
    dy = layout(rng, torch.randn(size).to(dtype))
    exact_y.backward(dy.double())
    dx = layout(rng, torch.full(size, float("nan")).to(dtype))
    case = words % "bwd"
    for name, tensor in (("x", x), ("y", y), ("scale", scale), ("dy", dy), ("dx", dx)):
        case += strided(name, tensor)
    with CasePlan(device, case) as plan:
        plan.execute({"x": x.data_ptr(), "y": y.data_ptr(), "scale": scale.data_ptr(), "dy": dy.data_ptr(),
                      "dx": dx.data_ptr()})
    rounding = ROUNDING[dtype] + (beta + 2) * ROUNDING[scale_type] + 400 * u
    terms = (exact_y * dy.double() / exact_scale).abs().detach()
    window = n * n if within else n
    reach = terms.max() * window * 2 * alpha * beta / window * x.double().abs()
    bound = rounding * 1.05 * ((dy.double() * exact_scale.detach() ** -beta).abs() + reach)
    near(dx, exact_x.grad, bound + ROUNDING[dtype] * exact_x.grad.abs() + 2**-24, case)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(os.environ.get("RMCP_SEED") or random.randrange(1 << 30))
    print(f"{rounds} rounds, seed {seed}")
    rng = random.Random(seed)
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    device = Device("cpu")
    for _ in range(rounds):
        check(rng, device)
    device.close()
    print("right")


main()
