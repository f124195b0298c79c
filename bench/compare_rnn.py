#!/usr/bin/env python3
"""Our recurrent networks against PyTorch's (cuDNN in f32 without TF32, its own on a CPU), in one process.

usage: RMCP_LIBRARY=build/librmcp.so compare_rnn.py [--device cuda|cpu] [--steps 50] [--quick]

LSTM with 512 and 1024 hidden units, as many inputs, 1 and 64 sequences of 50 steps; GRU once. For each: inference,
training forward, and both backward passes together; ours with each algorithm. Medians of rounds that take turns;
on CUDA by the GPU's clock. A ratio above 1 means that ours is faster. Outputs are compared as well.
"""
import argparse
import ctypes
import pathlib
import statistics
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
from rmcp import _library as c  # noqa: E402
from rmcp._api import Device  # noqa: E402

INFER, TRAIN, BACKWARD, WEIGHTS = range(4)
ORDER = {"lstm": (0, 1, 3, 2), "gru": (1, 0, 2)}
library = c.library()


class Ours:
    def __init__(self, device, where, mode, steps, batch, hidden, algorithm):
        self.device, self.plans = device, {}
        self.problem = c.Rnn(mode={"lstm": 2, "gru": 3}[mode], steps=steps, batch=batch, input=hidden, hidden=hidden,
                             layers=1, bias=1)
        info = c.RnnInfo()
        library.rmcp_rnn_describe(self.problem, info)
        room = lambda n: torch.zeros(n, device=where)
        self.memory = {"x": room(info.x), "w": room(info.w), "y": room(info.y), "dx": room(info.x), "dy": room(info.y),
                       "dw": room(info.w), "reserve": room(info.reserve), "gradients": room(info.gradients)}
        most = 0
        for pass_ in range(4):
            plan = ctypes.c_void_p()
            options = c.PlanOptions(algorithm=algorithm.encode() if algorithm and pass_ != WEIGHTS else None)
            library.rmcp_rnn_plan(device.handle, self.problem, pass_, options, plan)
            self.plans[pass_] = plan
            most = max(most, library.rmcp_plan_workspace(plan))
        self.workspace = torch.zeros(most + 256, dtype=torch.uint8, device=where)
        self.tensors = c.RnnTensors(workspace=c.Memory(base=(self.workspace.data_ptr() + 255) // 256 * 256, offset=0),
                                    workspace_bytes=most)
        for name, tensor in self.memory.items():
            setattr(self.tensors, name, c.Memory(base=tensor.data_ptr(), offset=0))

    def run(self, pass_, stream):
        library.rmcp_rnn_execute(self.plans[pass_], stream, self.tensors)

    def close(self):
        for plan in self.plans.values():
            library.rmcp_plan_destroy(plan)


class Clock:
    """Seconds of a function, on the GPU or the host; replayed from a graph when that is possible."""

    def __init__(self, cuda):
        self.cuda = cuda

    def prepare(self, function):
        if not self.cuda:
            return function
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            function()
            function()
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        return function

    def seconds(self, function):
        if not self.cuda:
            start = time.perf_counter()
            function()
            return time.perf_counter() - start
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        function()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e-3


def graph_of(function):
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        function()
    return graph.replay


def compare(device, where, mode, steps, batch, hidden, rounds):
    cuda = where == "cuda"
    torch.manual_seed(1)
    net = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[mode](hidden, hidden).to(where)
    x = torch.randn(steps, batch, hidden, device=where)
    dy = torch.randn(steps, batch, hidden, device=where)
    clock = Clock(cuda)
    stream = lambda: torch.cuda.current_stream().cuda_stream if cuda else None
    with torch.no_grad():
        want = net(x)[0]
    grad_x = x.clone().requires_grad_()

    def forward():
        return net(grad_x)[0]

    def infer():
        with torch.no_grad():
            net(x)

    kept = forward()

    def backward():
        torch.autograd.grad(kept, [grad_x, *net.parameters()], dy, retain_graph=True)

    theirs = {"infer": clock.prepare(infer), "train": clock.prepare(forward), "backward": clock.prepare(backward)}
    parameters = [p.detach().chunk(len(ORDER[mode]), 0) for p in net.parameters()]
    flat = torch.cat([torch.cat([p[g] for g in ORDER[mode]]).reshape(-1) for p in parameters])
    for algorithm in (None, "fused", "apart") if where == "cuda" else (None,):
        if algorithm == "fused" and batch > 256:
            continue
        ours = Ours(device, where, mode, steps, batch, hidden, algorithm)
        ours.memory["x"].copy_(x.reshape(-1))
        ours.memory["w"].copy_(flat)
        ours.memory["dy"].copy_(dy.reshape(-1))

        def both():
            ours.run(BACKWARD, stream())
            ours.run(WEIGHTS, stream())

        mine = {"infer": lambda: ours.run(INFER, stream()), "train": lambda: ours.run(TRAIN, stream()),
                "backward": both}
        for name in theirs:
            ready = clock.prepare(mine[name])
            if name == "infer":
                worst = (ours.memory["y"].view_as(want) - want).abs().max().item()
            graph = graph_of(ready) if cuda else ready
            pairs = [(clock.seconds(graph), clock.seconds(ready), clock.seconds(theirs[name])) for _ in range(rounds)]
            a, direct, b = (statistics.median(p[i] for p in pairs) for i in range(3))
            print(f"{mode} t{steps} n{batch} h{hidden} {name:8} {algorithm or 'planned':8} graph {a * 1e6:9.1f} us  "
                  f"calls {direct * 1e6:9.1f} us  theirs {b * 1e6:9.1f} us  ratio {b / a:5.2f} {b / direct:5.2f}  "
                  f"off by {worst:.1e}", flush=True)
        ours.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--quick", action="store_true", help="small networks: does it run?")
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    device = Device(options.device)
    cases = [("lstm", 1, 512), ("lstm", 64, 512), ("lstm", 1, 1024), ("lstm", 64, 1024), ("gru", 1, 512),
             ("gru", 64, 512)]
    if options.quick:
        cases = [("lstm", 3, 24), ("gru", 2, 16)]
    for mode, batch, hidden in cases:
        compare(device, options.device, mode, options.steps, batch, hidden, options.rounds)
    device.close()


if __name__ == "__main__":
    main()
