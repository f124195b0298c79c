#!/usr/bin/env python3
"""test_torch.py: layer, T5 and group normalisation against PyTorch's: values, statistics and all gradients of drawn
problems.

usage: test_torch.py [DEVICE [PROBLEMS [SEED]]], by default 60 problems on the CPU device. PyTorch computes in double.
"""
import os
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "python"))
try:
    import torch
    import rmcp_ctypes as rmcp
    import case_torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

NAMES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def draw(r):
    kind = r.choice(("layer", "t5", "group"))
    length = r.choice((r.randint(1, 40), 4 * r.randint(1, 100), r.randint(1, 6000)))
    p = dict(kind=kind, type=r.choice(("f32", "f32", "f16", "bf16")), affine=r.random() < 0.7, add=r.random() < 0.3,
             eps=r.choice((1e-5, 1e-3)), groups=1, mean=r.choice((0, 0, 3)))
    if kind == "group":
        p["groups"] = r.randint(1, 4)
        p["shape"] = (r.randint(1, 5), p["groups"] * r.randint(1, 3), length)
    else:
        p["shape"] = (r.randint(1, 20), length)
    return p


def normalise(p, x, weight, bias):
    """y, mean and rstd, in double."""
    rows = x.reshape(p["shape"][0] * p["groups"], -1)
    mean = torch.zeros_like(rows[:, :1]) if p["kind"] == "t5" else rows.mean(1, keepdim=True)
    rstd = ((rows - mean).square().mean(1, keepdim=True) + p["eps"]).rsqrt()
    if p["kind"] == "layer":
        y = torch.nn.functional.layer_norm(x, x.shape[1:], weight, bias, p["eps"])
    elif p["kind"] == "group":
        y = torch.nn.functional.group_norm(x, p["groups"], weight, bias, p["eps"])
    else:
        y = x * rstd if weight is None else x * rstd * weight
    return y, mean.flatten(), rstd.flatten()


def check(device, p, seed):
    torch.manual_seed(seed)
    dtype, count = NAMES[p["type"]], p["shape"][1]
    x = (torch.randn(p["shape"]) + p["mean"]).to(dtype)
    x2 = torch.randn(p["shape"]).to(dtype) if p["add"] else None
    weight = torch.randn(count).to(dtype) if p["affine"] else None
    bias = torch.randn(count).to(dtype) if p["affine"] and p["kind"] != "t5" else None
    dy = torch.randn(p["shape"]).to(dtype)
    shared = f"norm:{'x'.join(map(str, p['shape']))}:{p['kind']}:{p['type']}:{'affine' if p['affine'] else 'bare'}" \
             f":groups{p['groups']}:eps{p['eps']}"
    rows = p["shape"][0] * p["groups"]
    inputs = {"x": x, "x2": x2, "weight": weight, "bias": bias}
    inputs = {name: value for name, value in inputs.items() if value is not None}
    ours = case_torch.run(device, f"{shared}:fwd:saved:{'add' if p['add'] else 'single'}", inputs,
                          {"y": x.shape, "mean": (rows,), "rstd": (rows,)})

    # In double, of what the types hold.
    def exact(value):
        return None if value is None else value.double().requires_grad_(True)
    wide, wide_weight, wide_bias = exact(x), exact(weight), exact(bias)
    if x2 is not None:
        y, mean, rstd = normalise(p, wide + x2.double(), wide_weight, wide_bias)
    else:
        y, mean, rstd = normalise(p, wide, wide_weight, wide_bias)
    expected = {"y": y, "mean": mean, "rstd": rstd}
    if x2 is None:
        # Backward from statistics that are rounded to the type: those of PyTorch, so that rounding does not count.
        if p["affine"]:
            ones, zeros = wide_weight, wide_bias
        else:
            ones = torch.ones(count).double().requires_grad_(True)
            zeros = torch.zeros(count).double().requires_grad_(True)
            if p["kind"] == "t5":
                zeros = None
            y = normalise(p, wide, ones, zeros)[0]
        y.backward(dy.double())
        if dtype == torch.float32:
            inputs = {"x": x, "dy": dy, "mean": mean.detach().to(dtype), "rstd": rstd.detach().to(dtype)}
            if p["kind"] == "t5":
                del inputs["mean"]
            if p["affine"]:
                inputs["weight"] = weight
            ours.update(case_torch.run(device, f"{shared}:bwd:all", inputs,
                                       {"dx": x.shape, "dweight": (count,), "dbias": (count,)}))
            expected["dx"], expected["dweight"] = wide.grad, ones.grad
            if p["kind"] != "t5":
                expected["dbias"] = zeros.grad
    # A row of one element has gradients that are differences of equal numbers.
    close = {name: case_torch.CLOSE[dtype] for name in ours}
    close["dx"] = close["dweight"] = 3e-4
    good = True
    for name in ours:
        far = case_torch.distance(ours[name], expected[name].detach())
        small = (ours[name].double() - expected[name].detach()).abs().max().item() < 1e-2 * close[name]
        if not far <= close[name] and not small:
            print(f"wrong: {shared}, {name}, seed {seed}: {far:.2e} beyond {close[name]:.2e}")
            good = False
    return good


def main():
    device = rmcp.Device(sys.argv[1] if len(sys.argv) > 1 else "cpu")
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(os.environ.get("RMCP_SEED") or random.randrange(10**6))
    print(f"seed {seed}")
    wrong = sum(not check(device, draw(random.Random(seed + i)), seed + i) for i in range(count))
    print(f"{count} problems, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
