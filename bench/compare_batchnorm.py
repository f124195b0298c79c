#!/usr/bin/env python3
"""Our batch normalisation against PyTorch's (cuDNN's and its own on CUDA, its own on the CPU), in one run.

usage: compare_batchnorm.py [--device cuda] [--set resnet50|small|large|all] [--type f32] [--layout nchw] [--pass train]

RMCP_LIBRARY names librmcp.so (default: build/librmcp.so of this tree). On CUDA both sides are replayed from
graphs that hold as many executions as take a few milliseconds, in turn, and timed by the GPU's clock; the best
of several counts. Rates count what has to be moved when x does not fit on the chip: training reads x twice and
writes y, inference reads x and writes y, backward reads x and dy twice and writes dx. A ratio above 1 means
that ours is faster; cuDNN's and PyTorch's own kernel are compared each, and the faster of them ("best").
"""
import argparse
import ctypes
import math
import os
import pathlib
import sys
import time

import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent
os.environ.setdefault("RMCP_LIBRARY", str(ROOT / "build" / "librmcp.so"))
sys.path.insert(0, str(ROOT / "python"))

from rmcp import _library as c  # noqa: E402
from rmcp._api import Device  # noqa: E402

# channels, height and width, how often ResNet-50 has it
RESNET50 = [(64, 112, 1), (64, 56, 6), (256, 56, 4), (128, 56, 1), (128, 28, 7), (512, 28, 5), (256, 28, 1),
            (256, 14, 11), (1024, 14, 7), (512, 14, 1), (512, 7, 5), (2048, 7, 4)]
SETS = {
    "resnet50": [(32, *row) for row in RESNET50],
    "small": [(1, *row) for row in RESNET50],
    "large": [(64, 64, 224, 1), (256, 64, 112, 1), (128, 256, 56, 1), (256, 1024, 14, 1), (16, 3, 1024, 1),
              (1024, 2048, 7, 1)],
}
SETS["all"] = SETS["resnet50"] + SETS["small"] + SETS["large"]
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
PASSES = {"train": (0, 3), "infer": (1, 2), "bwd": (2, 5)}  # number, tensors that are moved
EPSILON, MOMENTUM, ROUNDS = 1e-5, 0.1, 7
aten = torch.ops.aten


class Data:
    """The tensors of one shape on one device."""

    def __init__(self, n, channels, size, type_name, layout, device):
        order = torch.channels_last if layout == "nhwc" else torch.contiguous_format
        shape = (n, channels, size, size)

        def data():
            return torch.randn(shape, device=device).to(TYPES[type_name]).contiguous(memory_format=order)

        self.x, self.dy, self.y, self.dx = data(), data(), data(), data()
        self.tensors = {"x": self.x, "dy": self.dy, "y": self.y, "dx": self.dx}
        for name in ("scale", "bias", "dscale", "dbias", "running_mean", "running_variance", "saved_mean",
                     "saved_inverse"):
            self.tensors[name] = torch.rand(channels, device=device) + 0.5
        self.scale, self.bias = self.tensors["scale"], self.tensors["bias"]
        # torch wants a running mean and variance of its own, or the comparison would train both
        self.running = [torch.rand(channels, device=device) + 0.5 for _ in range(2)]


class Ours:
    """A plan of ours, bound to the data."""

    def __init__(self, device, data, text, which, effort):
        self.library, self.plan = c.library(), ctypes.c_void_p()
        problem, pass_ = c.BatchNorm(), ctypes.c_int()
        self.library.rmcp_batchnorm_parse(f"{text}:running:saved:{which}".encode(), problem, pass_)
        options = c.PlanOptions(effort=effort)
        self.library.rmcp_batchnorm_plan(device.handle, problem, pass_.value, options, self.plan)
        self.algorithm = self.library.rmcp_plan_algorithm(self.plan).decode()
        n = self.library.rmcp_plan_workspace(self.plan)
        self.workspace = torch.empty(n + 256, dtype=torch.uint8, device=data.x.device)
        self.bound = c.BatchNormTensors(workspace_bytes=n)
        start = self.workspace.data_ptr()
        self.bound.workspace = c.Memory(base=start + -start % 256, offset=0)
        for name, tensor in data.tensors.items():
            setattr(self.bound, name, c.Memory(base=tensor.data_ptr(), offset=0))

    def __call__(self):
        stream = torch.cuda.current_stream().cuda_stream if self.workspace.is_cuda else None
        self.library.rmcp_batchnorm_execute(self.plan, stream, self.bound)

    def close(self):
        self.library.rmcp_plan_destroy(self.plan)


def cudnn(data, which):
    """cuDNN's kernel through PyTorch, or None where it has none."""
    args = (data.scale, data.bias, *data.running)
    if which == "train":
        return lambda: aten.cudnn_batch_norm(data.x, *args, True, MOMENTUM, EPSILON)
    if which == "infer":
        return lambda: aten.cudnn_batch_norm(data.x, *args, False, MOMENTUM, EPSILON)
    _y, mean, inverse, reserve = aten.cudnn_batch_norm(data.x, *args, True, MOMENTUM, EPSILON)
    return lambda: aten.cudnn_batch_norm_backward(data.x, data.dy, data.scale, *data.running, mean, inverse, EPSILON,
                                                  reserve)


def native(data, which):
    """PyTorch's own kernel."""
    args = (data.scale, data.bias, *data.running)
    if which != "bwd":
        return lambda: aten.native_batch_norm(data.x, *args, which == "train", MOMENTUM, EPSILON)
    _y, mean, inverse = aten.native_batch_norm(data.x, *args, True, MOMENTUM, EPSILON)
    return lambda: aten.native_batch_norm_backward(data.dy, data.x, data.scale, *data.running, mean, inverse, True,
                                                   EPSILON, [True, True, True])


def graph_of(call, repeats):
    """A CUDA graph of so many executions."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(repeats):
            call()
    return graph


def seconds_cuda(calls, n_bytes):
    """Best seconds of one execution of each, replayed in turn."""
    repeats = max(3, min(100, int(3e-3 / (n_bytes / 3e12 + 5e-6))))
    graphs = {name: graph_of(call, repeats) for name, call in calls.items()}
    best = {name: math.inf for name in calls}
    for _ in range(ROUNDS):
        for name, graph in graphs.items():
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            graph.replay()
            end.record()
            end.synchronize()
            best[name] = min(best[name], start.elapsed_time(end) * 1e-3 / repeats)
    return best


def seconds_cpu(calls, n_bytes):
    # With one thread, the time that this thread had: other programs then matter less.
    clock = time.thread_time if torch.get_num_threads() == 1 else time.perf_counter
    repeats = max(1, min(200, int(0.05 / (n_bytes / 8e9 + 1e-5))))
    best = {name: math.inf for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = clock()
            for _ in range(repeats):
                call()
            best[name] = min(best[name], (clock() - start) / repeats)
    return best


def compare(options, device, row, which):
    n, channels, size, count = row
    on_gpu = options.device.startswith("cuda")
    data = Data(n, channels, size, options.type, options.layout, "cuda" if on_gpu else "cpu")
    text = f"n{n}c{channels}h{size}w{size}:{options.type}:{options.layout}"
    n_bytes = PASSES[which][1] * data.x.numel() * data.x.element_size()
    ours = Ours(device, data, text, which, {"estimate": 0, "measure": 1}[options.effort])
    calls = {"ours": ours, "torch": native(data, which)}
    if on_gpu:
        try:
            calls["cudnn"] = cudnn(data, which)
            calls["cudnn"]()
        except RuntimeError as error:
            calls.pop("cudnn", None)
            print(f"no cuDNN for {text}: {str(error).splitlines()[0]}")
    with torch.no_grad():
        best = (seconds_cuda if on_gpu else seconds_cpu)(calls, n_bytes)
    ours.close()
    rates = {name: n_bytes / seconds * 1e-9 for name, seconds in best.items()}
    theirs = min(seconds for name, seconds in best.items() if name != "ours")
    print(f"{1e6 * best['ours']:9.1f} {rates['ours']:8.0f} {rates.get('cudnn', 0):8.0f} {rates['torch']:8.0f} "
          f"{best.get('cudnn', math.nan) / best['ours']:7.3f} {best['torch'] / best['ours']:7.3f} {count:3d}x "
          f"{ours.algorithm:8} batchnorm:{text}:{which}", flush=True)
    return {"count": count, "ours": best["ours"], "theirs": theirs, "cudnn": best.get("cudnn"), "torch": best["torch"]}


def summarise(which, rows):
    def mean(key):
        ratios = [row[key] / row["ours"] for row in rows if row[key]]
        if not ratios:
            return "none"
        middle = math.exp(sum(map(math.log, ratios)) / len(ratios))
        return f"{middle:.3f} ({min(ratios):.3f} to {max(ratios):.3f})"

    total = [1e3 * sum(row["count"] * row[key] for row in rows) for key in ("ours", "theirs")]
    print(f"{which}: geometric mean of {len(rows)} ratios: cuDNN {mean('cudnn')}, PyTorch {mean('torch')}, best "
          f"{mean('theirs')}; all layers {total[0]:.3f} ms against {total[1]:.3f} ms\n", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--device", default="cuda", help="cuda or cpu")
    parser.add_argument("--set", default="resnet50", choices=SETS)
    parser.add_argument("--type", default="f32", choices=TYPES)
    parser.add_argument("--layout", default="nchw", choices=("nchw", "nhwc"))
    parser.add_argument("--pass", dest="passes", choices=PASSES, action="append")
    parser.add_argument("--effort", default="estimate", choices=("estimate", "measure"))
    parser.add_argument("--threads", type=int, default=0, help="cpu: threads of both sides")
    options = parser.parse_args()
    if options.device == "cpu" and "MALLOC_MMAP_THRESHOLD_" not in os.environ:
        # PyTorch makes its results anew each time: from memory that it has already, not page by page
        os.environ.update(MALLOC_MMAP_THRESHOLD_=str(1 << 40), MALLOC_TRIM_THRESHOLD_=str(1 << 40))
        os.execv(sys.executable, [sys.executable, *sys.argv])
    if options.threads:
        torch.set_num_threads(options.threads)
    if options.device.startswith("cuda"):
        name = f"{torch.cuda.get_device_name()}, cuDNN {torch.backends.cudnn.version()}"
    else:
        name = f"CPU, {torch.get_num_threads()} threads"
    print(f"{name}, PyTorch {torch.__version__}, {options.type} {options.layout}, {options.set}, "
          f"ours by {options.effort}")
    print(f"{'ours us':>9} {'GB/s':>8} {'cuDNN':>8} {'PyTorch':>8} {'/cuDNN':>7} {'/torch':>7}")
    with Device(options.device, threads=torch.get_num_threads() if options.device == "cpu" else 0) as device:
        for which in options.passes or PASSES:
            summarise(which, [compare(options, device, row, which) for row in SETS[options.set]])
    return 0


if __name__ == "__main__":
    sys.exit(main())
