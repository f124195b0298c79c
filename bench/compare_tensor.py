#!/usr/bin/env python3
"""Our tensor operations against PyTorch's own kernels, in one process on one device.

usage: RMCP_LIBRARY=build/librmcp.so compare_tensor.py [--device cuda|cpu] [--size 256] [--only NAME]

On CUDA both are replayed from CUDA graphs and timed by the GPU's clock; on the CPU by the wall clock. Rates
count each element that is read or written once. A ratio above 1 means that ours is faster; results are
compared as well.
"""
import argparse
import math
import pathlib
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
from rmcp import _library as c  # noqa: E402
from rmcp._api import Device  # noqa: E402
from rmcp._tensor import TensorPlan, describe  # noqa: E402

TYPES = {torch.float32: c.F32, torch.float16: c.F16, torch.bfloat16: c.BF16}
PEAK = 4.8e12  # bytes a second of an H200, by its data sheet
ROUNDS, REPEATS = 5, 20


def operand(tensor, size):
    """How a PyTorch tensor, broadcast to `size` or summed from it, is described to us."""
    own = (1,) * (len(size) - tensor.dim()) + tuple(tensor.shape)
    strides = (0,) * (len(size) - tensor.dim()) + tuple(tensor.stride())
    packed, product = [], 1
    for n in reversed(own):
        packed.insert(0, product)
        product *= n
    plain = all(s == p or n == 1 for n, s, p in zip(own, strides, packed))
    return TYPES[tensor.dtype], own, None if plain else strides


class Work:
    """One operation: ours on these tensors, and the call of PyTorch's that does the same."""

    def __init__(self, name, kind, theirs, out, a=None, b=None, **scalars):
        self.name, self.theirs, self.tensors = name, theirs, {"a": a, "b": b, "c": out}
        size = tuple(a.shape if kind == c.TENSOR_SUM else out.shape)
        given = {key: operand(t, size) for key, t in (("a", a), ("b", b), ("out", out)) if t is not None}
        scalars.setdefault("alpha", 1)
        if b is not None:
            scalars.setdefault("alpha_b", 1)
        self.problem = describe(kind, size, **given, **scalars)
        reads_c = kind == c.TENSOR_SCALE or scalars.get("beta")
        self.bytes = sum(t.numel() * t.element_size() for t in (a, b, out) if t is not None)
        self.bytes += out.numel() * out.element_size() if reads_c else 0

    def prepare(self, device):
        self.plan = TensorPlan(device, self.problem)
        self.operands = c.TensorOperands(workspace_bytes=self.plan.workspace_bytes)
        for name, tensor in self.tensors.items():
            if tensor is not None:
                setattr(self.operands, name, c.Memory(base=tensor.data_ptr(), offset=0))
        if self.plan.workspace_bytes:
            self.workspace = torch.empty(self.plan.workspace_bytes + 256, dtype=torch.uint8,
                                         device=self.tensors["c"].device)
            start = self.workspace.data_ptr()
            self.operands.workspace = c.Memory(base=start + -start % 256, offset=0)

    def ours(self, stream=None):
        self.plan.execute(self.operands, stream)


def works(device, mega):
    """The list: large tensors of `mega` MiB in f32, and layers of a network."""
    n = mega * 2**20 // 4
    for dtype in (torch.float32, torch.float16):
        count = n * 4 // dtype.itemsize if hasattr(dtype, "itemsize") else n * (1 if dtype == torch.float32 else 2)
        x = torch.randn(count, device=device).to(dtype)
        y, z = torch.randn(count, device=device).to(dtype), torch.empty_like(x)
        tag = str(dtype)[6:]
        yield Work(f"set {tag}", c.TENSOR_SET, lambda z=z: z.fill_(0.5), z, alpha=0.5)
        yield Work(f"scale {tag}", c.TENSOR_SCALE, lambda z=z: z.mul_(-1), z, alpha=-1)
        yield Work(f"copy {tag}", c.TENSOR_COPY, lambda x=x, z=z: z.copy_(x), z, x)
        yield Work(f"add {tag}", c.TENSOR_ADD, lambda x=x, y=y, z=z: torch.add(x, y, out=z), z, x, y)
        shift = x[1:]
        yield Work(f"copy misaligned {tag}", c.TENSOR_COPY, lambda s=shift, z=z: z[:-1].copy_(s), z[:-1], shift)
        for h, channels in ((56, 64), (14, 1024), (7, 2048)):
            images = count // (h * h * channels)
            nchw = x[:images * channels * h * h].view(images, channels, h, h)
            out = z[:nchw.numel()].view(images, channels, h, h)
            last = z[:nchw.numel()].view(images, h, h, channels).permute(0, 3, 1, 2)
            other = x[:nchw.numel()].view(images, h, h, channels).permute(0, 3, 1, 2)
            bias = torch.randn(channels, 1, 1, device=device).to(dtype)
            total = torch.empty(1, channels, 1, 1, device=device, dtype=dtype)
            shape = f"{channels}x{h}x{h} {tag}"
            yield Work(f"nchw to nhwc {shape}", c.TENSOR_COPY, lambda a=nchw, o=last: o.copy_(a), last, nchw)
            yield Work(f"nhwc to nchw {shape}", c.TENSOR_COPY, lambda a=other, o=out: o.copy_(a), out, other)
            yield Work(f"bias nchw {shape}", c.TENSOR_ADD,
                       lambda a=nchw, b=bias, o=out: torch.add(a, b, out=o), out, nchw, bias)
            yield Work(f"bias nhwc {shape}", c.TENSOR_ADD,
                       lambda a=other, b=bias, o=last: torch.add(a, b, out=o), last, other, bias)
            dims = (0, 2, 3)
            yield Work(f"sum nchw {shape}", c.TENSOR_SUM,
                       lambda a=nchw, t=total: torch.sum(a, dims, keepdim=True, out=t), total, nchw)
            yield Work(f"sum nhwc {shape}", c.TENSOR_SUM,
                       lambda a=other, t=total: torch.sum(a, dims, keepdim=True, out=t), total, other)
        one = torch.empty(1, device=device, dtype=dtype)
        yield Work(f"sum of all {tag}", c.TENSOR_SUM,
                   lambda x=x, t=one: torch.sum(x, 0, keepdim=True, out=t), one, x)
        rows = x.view(-1, 4096)
        sums = torch.empty(rows.shape[0], 1, device=device, dtype=dtype)
        yield Work(f"sum of rows {tag}", c.TENSOR_SUM,
                   lambda x=rows, t=sums: torch.sum(x, 1, keepdim=True, out=t), sums, rows)
        del x, y, z
    wide = torch.randn(n, device=device)
    narrow = torch.empty(n, dtype=torch.float16, device=device)
    yield Work("f32 to f16", c.TENSOR_COPY, lambda: narrow.copy_(wide), narrow, wide)
    yield Work("f16 to f32", c.TENSOR_COPY, lambda: wide.copy_(narrow), wide, narrow)


def replayed(run):
    """Seconds of one run, the best of some rounds of a CUDA graph with several of them."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(REPEATS):
            run()
    best = math.inf
    for _ in range(ROUNDS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        best = min(best, start.elapsed_time(end) * 1e-3 / REPEATS)
    return best


def timed(run):
    run()
    best = math.inf
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def check(work):
    """Both results agree. Sums are held against PyTorch's in double, its own in f16 being coarse on CPUs."""
    out, a = work.tensors["c"], work.tensors["a"]
    out.fill_(1)
    if work.problem.kind == c.TENSOR_SUM:
        dims = [i for i in range(a.dim()) if out.shape[i] != a.shape[i]]
        expected = torch.sum(a, dims, keepdim=True, dtype=torch.float64)
        size = torch.sum(a.abs(), dims, keepdim=True, dtype=torch.float64)
    else:
        work.theirs()
        expected, size = out.double(), 0
    out.fill_(1)
    work.ours(torch.cuda.current_stream().cuda_stream if out.is_cuda else None)
    if out.is_cuda:
        torch.cuda.synchronize()
    rounding = 2**-10 if out.dtype != torch.float32 else 2**-22
    return bool(((out.double() - expected).abs() <= rounding * expected.abs() + 2e-5 * size).all())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--size", type=int, default=256, help="MiB of the large tensors")
    parser.add_argument("--only", default="", help="part of a name")
    options = parser.parse_args()
    on_gpu = options.device == "cuda"
    print(f"{torch.cuda.get_device_name() if on_gpu else 'CPU'}, PyTorch {torch.__version__}, "
          f"tensors of {options.size} MiB")
    print(f"{'ours us':>9} {'theirs us':>9} {'ours GB/s':>10} {'theirs':>8} {'ratio':>7}")
    ratios, wrong = [], 0
    with Device(options.device) as device:
        for work in works(options.device, options.size):
            if options.only not in work.name:
                continue
            work.prepare(device)
            right = check(work)
            wrong += not right
            if on_gpu:
                ours = replayed(lambda: work.ours(torch.cuda.current_stream().cuda_stream))
                theirs = replayed(work.theirs)
            else:
                ours, theirs = timed(work.ours), timed(work.theirs)
            ratios.append(theirs / ours)
            share = f" {100 * work.bytes / ours / PEAK:3.0f}%" if on_gpu else ""
            print(f"{1e6 * ours:9.1f} {1e6 * theirs:9.1f} {work.bytes / ours * 1e-9:10.1f} "
                  f"{work.bytes / theirs * 1e-9:8.1f} {theirs / ours:7.3f}{share} {work.plan.algorithm:6} "
                  f"{work.name}{'' if right else '  WRONG'}", flush=True)
            work.plan.close()
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else 0
    print(f"geometric mean of {len(ratios)} ratios {mean:.3f}, least {min(ratios, default=0):.3f}; {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
