#!/usr/bin/env python3
"""Our matrix products against PyTorch's (cuBLAS in f32 without TF32, oneDNN or MKL on a CPU), in one process.

usage: RMCP_LIBRARY=build/librmcp.so compare_gemm.py [--device cuda|cpu] [--candidates] [CASE ...]

Without a CASE (docs/cases.md) ten shapes: squares, tall and skinny, steps of recurrent networks, attention,
transposes. On CUDA both are replayed from CUDA graphs and timed by the GPU's clock. A ratio above 1 means that
ours is faster; results are compared as well. --candidates times every algorithm that applies beside its
estimate.
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
from rmcp._gemm import GemmPlan, candidates, case_string, parse  # noqa: E402

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
CASES = (
    "gemm:m512n512k512:nn", "gemm:m1024n1024k1024:nn", "gemm:m2048n2048k2048:tn", "gemm:m4096n4096k4096:nn",
    "gemm:m65536n64k256:nn", "gemm:m1n4096k1024:nt", "gemm:m64n4096k1024:nt", "gemm:m64n1024k4096:nn",
    "gemm:m512n512k64:nt:b64", "gemm:m512n64k512:nn:b64",
)
ROUNDS = 5


class Work:
    """One product: its matrices, ours and PyTorch's."""

    def __init__(self, text, device):
        self.problem = g = parse(text)
        self.name = case_string(g)
        dtype = DTYPES[g.type]
        torch.manual_seed(1)

        def matrices(lines, length, pitch, stride):
            count = g.batch if stride else 1
            room = torch.randn((count - 1) * stride + lines * pitch, device=device).to(dtype)
            return room.as_strided((count, lines, length), (stride, pitch, 1))

        a_size = (g.k, g.m) if g.transpose_a else (g.m, g.k)
        b_size = (g.n, g.k) if g.transpose_b else (g.k, g.n)
        self.a = matrices(*a_size, g.a_pitch, g.a_stride)
        self.b = matrices(*b_size, g.b_pitch, g.b_stride)
        self.c = matrices(g.m, g.n, g.c_pitch, g.c_stride)
        self.other = torch.empty_like(self.c)
        a = self.a.transpose(1, 2) if g.transpose_a else self.a
        b = self.b.transpose(1, 2) if g.transpose_b else self.b
        self.sides = (a[0], b[0], self.other[0]) if g.batch == 1 else (
            a.expand(g.batch, -1, -1), b.expand(g.batch, -1, -1), self.other)
        self.plain = g.alpha == 1 and g.beta == 0 and not g.bias and not g.activation
        self.flops = 2.0 * g.batch * g.m * g.n * g.k

    def theirs(self):
        a, b, out = self.sides
        torch.matmul(a, b, out=out)

    def prepare(self, device, algorithm=None):
        self.plan = GemmPlan(device, self.problem, algorithm)
        self.matrices = c.GemmMatrices(workspace_bytes=self.plan.workspace_bytes)
        for name in ("a", "b", "c"):
            setattr(self.matrices, name, c.Memory(base=getattr(self, name).data_ptr(), offset=0))
        self.workspace = torch.empty(self.plan.workspace_bytes + 256, dtype=torch.uint8, device=self.a.device)
        start = self.workspace.data_ptr()
        self.matrices.workspace = c.Memory(base=start + -start % 256, offset=0)

    def ours(self):
        stream = torch.cuda.current_stream().cuda_stream if self.a.is_cuda else None
        self.plan.execute(self.matrices, stream)

    def right(self):
        """Whether ours is within the bound of a sum in f32 of the product in double precision."""
        self.c.fill_(math.nan)
        self.ours()
        a, b, _ = self.sides
        ours = self.c[0] if self.problem.batch == 1 else self.c
        expected, size = a.double() @ b.double(), a.double().abs() @ b.double().abs()
        rounding = (2**-24, 2**-11, 2**-8)[self.problem.type] * expected.abs()
        bound = 2**-24 * (2 * self.problem.k**0.5 + 6) * size + 1.001 * rounding
        return bool(((ours.double() - expected).abs() <= bound).all())


def replayed(run, seconds):
    """Seconds of one run, the best of some rounds of a CUDA graph that takes about 2 ms."""
    repeats = max(3, min(50, int(2e-3 / max(seconds, 1e-6))))
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(repeats):
            run()
    graph.replay()
    best = math.inf
    for _ in range(ROUNDS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        best = min(best, start.elapsed_time(end) * 1e-3 / repeats)
    return best


def timed(run, _seconds):
    run()
    best = math.inf
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--candidates", action="store_true", help="time every algorithm")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    options = parser.parse_args()
    on_gpu = options.device == "cuda"
    torch.backends.cuda.matmul.allow_tf32 = False
    clock = replayed if on_gpu else timed
    print(f"{torch.cuda.get_device_name() if on_gpu else 'CPU'}, PyTorch {torch.__version__}, f32 without TF32")
    print(f"{'ours us':>9} {'theirs us':>9} {'ours TF/s':>9} {'theirs':>7} {'ratio':>6}")
    ratios, wrong = [], 0
    with Device(options.device) as device:
        for text in options.cases or CASES:
            work = Work(text, options.device)
            if not work.plain:
                print(f"{work.name}: only products without factors, bias and activation are compared")
                return 2
            work.prepare(device)
            right = work.right()
            wrong += not right
            guess = work.flops / (40e12 if on_gpu else 1e11)
            ours, theirs = clock(work.ours, guess), clock(work.theirs, guess)
            ratios.append(theirs / ours)
            print(f"{1e6 * ours:9.1f} {1e6 * theirs:9.1f} {work.flops / ours * 1e-12:9.2f} "
                  f"{work.flops / theirs * 1e-12:7.2f} {theirs / ours:6.3f} {work.plan.algorithm:8} "
                  f"{work.name}{'' if right else '  WRONG'}", flush=True)
            work.plan.close()
            for name, refusal, estimate in candidates(device, work.problem) if options.candidates else ():
                if refusal or name == "reference":
                    continue
                work.prepare(device, name)
                print(f"{'':9} {name:8} {1e6 * clock(work.ours, guess):9.1f} us, estimated {1e6 * estimate:.1f}",
                      flush=True)
                work.plan.close()
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else 0
    print(f"geometric mean of {len(ratios)} ratios {mean:.3f}, least {min(ratios, default=0):.3f}; {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
