#!/usr/bin/env python3
"""norm.py: layer, T5 and group normalisation through MIOpen's calls against PyTorch on the CPU, forward and backward;
and calls that must be refused.

usage: MIOPEN=…/libMIOpen.so.1 [HIP=…] norm.py [PROBLEMS [SEED]]; without HIP device memory is the host's, as it is
for RMCP_DEVICE=cpu."""
import ctypes as c
import os
import random
import sys

try:
    import torch
    from ctc import Memory, call, close, describe, status
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

BAD_PARAMETER, NOT_IMPLEMENTED = 3, 6
LAYER, ADD, T5 = (0, 1), (2, 3), (4, 5)  # modes without and with weights


class Call:
    """Tensors of one call: descriptors and memory, in pairs as the functions take them."""

    def __init__(self, dtype):
        self.dtype, self.kept = dtype, []

    def given(self, tensor):
        memory, descriptor = Memory(tensor.to(self.dtype)), describe(tensor.shape, self.dtype)
        self.kept.append((memory, descriptor))
        return descriptor, memory.pointer

    def result(self, shape):
        memory, descriptor = Memory(torch.full(shape, float("nan"), dtype=self.dtype)), describe(shape, self.dtype)
        self.kept.append((memory, descriptor))
        return memory, descriptor

    def close(self):
        for _, descriptor in self.kept:
            call("miopenDestroyTensorDescriptor", descriptor)


def expected_rows(x, rows, eps, t5):
    flat = x.reshape(rows, -1)
    mean = torch.zeros(rows, 1, dtype=x.dtype) if t5 else flat.mean(1, keepdim=True)
    return mean.flatten(), ((flat - mean).square().mean(1) + eps).rsqrt()


def compare(handle, seed):
    r = random.Random(seed)
    torch.manual_seed(seed)
    dtype, eps = r.choice((torch.float32, torch.float16)), r.choice((1e-5, 1e-3))
    kind, affine = r.choice(("layer", "add", "t5", "group")), r.random() < 0.6
    shape = tuple(r.randint(1, 6) for _ in range(r.randint(3, 5)))
    groups = r.choice([g for g in range(1, shape[1] + 1) if shape[1] % g == 0])
    dim = len(shape) - 1 if kind == "t5" else r.randint(0, len(shape))
    inner = (shape[1],) if kind == "group" else shape[dim:] or (1,)
    rows = shape[0] * groups if kind == "group" else max(1, int(torch.tensor(shape[:dim]).prod()) if dim else 1)
    x, x2, dy = (torch.randn(shape).to(dtype) for _ in range(3))
    weight, bias = (torch.randn(inner).to(dtype) for _ in range(2))
    one = Call(dtype)
    y, y_name = one.result(shape)
    mean, mean_name = one.result((rows,))
    rstd, rstd_name = one.result((rows,))
    given, weights = one.given(x), (*one.given(weight), *one.given(bias))
    results = (y_name, y.pointer, mean_name, mean.pointer, rstd_name, rstd.pointer)
    if kind == "layer":
        call("miopenLayerNormForward", handle, LAYER[affine], *given, *weights, c.c_float(eps), dim, *results)
    elif kind == "add":
        call("miopenAddLayerNormForward", handle, ADD[affine], *given, *one.given(x2), *weights, c.c_float(eps), dim,
             *results)
    elif kind == "t5":
        call("miopenT5LayerNormForward", handle, T5[affine], *given, *weights[:2], c.c_float(eps), y_name, y.pointer,
             rstd_name, rstd.pointer)
    else:
        call("miopenGroupNormForward", handle, LAYER[affine], *given, *weights, c.c_uint64(groups), c.c_float(eps),
             *results)

    wide = x.double().requires_grad_(True)
    total = wide + x2.double() if kind == "add" else wide
    w = (weight if affine else torch.ones_like(weight)).double().requires_grad_(True)
    b = (bias if affine else torch.zeros_like(bias)).double().requires_grad_(True)
    means, rstds = expected_rows(total, rows, eps, kind == "t5")
    if kind == "group":
        out = torch.group_norm(total, groups, w, b, eps)  # torch.nn's refuses groups of one value
    else:
        normal = ((total.reshape(rows, -1) - means[:, None]) * rstds[:, None]).reshape(shape)
        out = normal * w if kind == "t5" else normal * w + b
    bound = 1e-4 if dtype == torch.float32 else 4e-3
    good = close(y.read(), out.detach(), bound) and close(rstd.read(), rstds.detach(), bound)
    good = good and (kind == "t5" or (mean.read().double() - means.detach()).abs().max() < bound)
    if kind in ("layer", "t5") and dtype == torch.float32:
        good = backward(handle, one, kind, affine, dim, x, dy, weight, means, rstds, w, b, out, wide) and good
    one.close()
    if not good:
        print(f"wrong: seed {seed}: {kind} {shape} from {dim}, {groups} groups, {dtype}, weights {affine}")
    return good


def backward(handle, one, kind, affine, dim, x, dy, weight, means, rstds, w, b, out, wide):
    out.backward(dy.double())
    dx, dx_name = one.result(x.shape)
    dw, dw_name = one.result(weight.shape)
    db, db_name = one.result(weight.shape)
    size = c.c_size_t(99)
    given = (*one.given(dy), *one.given(x), *one.given(weight))
    mean, rstd = one.given(means.detach().float()), one.given(rstds.detach().float())
    if kind == "t5":
        call("miopenGetT5LayerNormBackwardWorkspaceSize", handle, T5[affine], given[0], given[2], given[4], rstd[0],
             dx_name, dw_name, c.byref(size))
        call("miopenT5LayerNormBackward", handle, T5[affine], None, size, *given, *rstd, dx_name, dx.pointer, dw_name,
             dw.pointer)
    else:
        call("miopenGetLayerNormBackwardWorkspaceSize", handle, LAYER[affine], given[0], given[2], given[4], mean[0],
             rstd[0], dim, dx_name, dw_name, db_name, c.byref(size))
        call("miopenLayerNormBackward", handle, LAYER[affine], None, size, *given, *mean, *rstd, dim, dx_name,
             dx.pointer, dw_name, dw.pointer, db_name, db.pointer)
    scale = max(1, rstds.max().item())
    near = (dx.read().double() - wide.grad).abs().max().item() <= 1e-4 * scale
    near = near and close(dw.read(), w.grad, 1e-4)
    return near and (kind == "t5" or close(db.read(), b.grad, 1e-4))


def refusals(handle):
    """Other sizes, types and gaps, which the original has no solver for; groups that do not divide; no tensors."""
    one = Call(torch.float32)
    x, w = one.given(torch.randn(2, 4, 6)), one.given(torch.randn(6))
    y, y_name = one.result((2, 4, 6))
    small, small_name = one.result((2, 4, 5))
    stats, stats_name = one.result((8,))
    gaps = c.c_void_p()
    call("miopenCreateTensorDescriptor", c.byref(gaps))
    call("miopenSetTensorDescriptor", gaps, 1, 3, (c.c_int * 3)(2, 4, 6), (c.c_int * 3)(28, 7, 1))
    tail = (stats_name, stats.pointer, stats_name, stats.pointer)

    def layer(x=x, dim=2, y=(y_name, y.pointer), w=w):
        return status("miopenLayerNormForward", handle, 1, *x, *w, *w, c.c_float(1e-5), dim, *y, *tail)
    found = {
        "good": (layer(), 0),
        "another size": (layer(y=(small_name, small.pointer)), NOT_IMPLEMENTED),
        "gaps": (layer(x=(gaps, x[1])), NOT_IMPLEMENTED),
        "dimension 4": (layer(dim=4), NOT_IMPLEMENTED),
        "dimension -1": (layer(dim=-1), NOT_IMPLEMENTED),
        "no descriptor": (layer(x=(None, x[1])), BAD_PARAMETER),
        "no memory": (layer(x=(x[0], None)), BAD_PARAMETER),
        "other weights": (layer(dim=1), BAD_PARAMETER),
        "3 groups": (status("miopenGroupNormForward", handle, 0, *x, *w, *w, c.c_uint64(3), c.c_float(1e-5), y_name,
                            y.pointer, *tail), BAD_PARAMETER),
        "no groups": (status("miopenGroupNormForward", handle, 0, *x, *w, *w, c.c_uint64(0), c.c_float(1e-5), y_name,
                             y.pointer, *tail), BAD_PARAMETER),
        "no handle": (status("miopenLayerNormForward", None, 1, *x, *w, *w, c.c_float(1e-5), 2, y_name, y.pointer,
                             *tail), BAD_PARAMETER),
        "one of mean and rstd": (status("miopenLayerNormForward", handle, 1, *x, *w, *w, c.c_float(1e-5), 2, y_name,
                                        y.pointer, stats_name, None, stats_name, stats.pointer), 0),
    }
    call("miopenDestroyTensorDescriptor", gaps)
    one.close()
    wrong = {name: got for name, (got, want) in found.items() if got != want}
    for name, got in wrong.items():
        print(f"wrong: {name}: status {got}")
    return len(wrong)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(os.environ.get("RMCP_SEED") or random.randrange(10**6))
    print(f"seed {seed}")
    handle = c.c_void_p()
    call("miopenCreate", c.byref(handle))
    wrong = sum(not compare(handle, seed + i) for i in range(count)) + refusals(handle)
    call("miopenDestroy", handle)
    print(f"{count} problems, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
