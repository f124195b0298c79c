#!/usr/bin/env python3
"""Our GPU kernels against cuDNN's fp32 (no TF32), layer by layer, in one run on one NVIDIA GPU.

usage: compare_cudnn.py --rmcp build/rmcp --device opencl [--batch 32] [--network resnet50] [--pass fwd]

The time of a layer is the best of several runs by the GPU's own clock, taken in turn: ours, cuDNN's
(benchmark mode), ours, cuDNN's. Rates count 2 operations per multiplication of the direct
convolution. A ratio above 1 means that ours is faster.
"""
import argparse
import json
import math
import subprocess
import sys

import torch

PASSES = ("fwd", "bwd_data", "bwd_weights")


def ours(options, case):
    """Best seconds, algorithm and operations of one case, from rmcp bench."""
    command = [options.rmcp, "bench", "--device", options.device, "--json", "--repeats", "10",
               "--effort", options.effort, case]
    result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    row = result["results"][0]
    return row["seconds_best"], row["algorithm"], row["flops"]


def shape_of(case):
    """The numbers of a 2-D case string as rmcp prints them (square padding, stride)."""
    numbers, letter = {"n": 1, "p": 0, "u": 1, "g": 1}, ""
    for c in case.split(":")[0] + ";":
        if c.isdigit():
            numbers[letter] = numbers[letter] * 10 + int(c)
        elif c != ";":
            letter = c
            numbers[letter] = 0
    return numbers


def theirs(case, which):
    """Best seconds of cuDNN for the same problem."""
    s = shape_of(case)
    x = torch.randn(s["n"], s["c"], s["h"], s["w"], device="cuda")
    w = torch.randn(s["k"], s["c"] // s["g"], s["r"], s["s"], device="cuda")
    both = ([s["u"]] * 2, [s["p"]] * 2, [1, 1])

    def forward():
        return torch.convolution(x, w, None, *both, False, [0, 0], s["g"])

    y = forward()

    def backward():
        mask = [which == "bwd_data", which == "bwd_weights", False]
        torch.ops.aten.convolution_backward(y, x, w, None, *both, False, [0, 0], s["g"], mask)

    run = forward if which == "fwd" else backward
    for _ in range(3):
        run()
    best = math.inf
    for _ in range(10):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        run()
        end.record()
        end.synchronize()
        best = min(best, start.elapsed_time(end) * 1e-3)
    return best


def cases_of(options):
    """Case strings to compare: those given, or all layers of a network."""
    if options.case:
        return options.case
    command = [options.rmcp, "bench", "--device", options.device, "--json", "--repeats", "1", "--network",
               options.network, "--batch", str(options.batch), "--pass", "fwd"]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["results"]
    return [row["case"].rsplit(":", 1)[0] for row in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rmcp", default="build/rmcp")
    parser.add_argument("--device", default="opencl")
    parser.add_argument("--network", default="resnet50")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--pass", dest="passes", choices=PASSES, action="append")
    parser.add_argument("--effort", default="estimate")
    parser.add_argument("case", nargs="*", help="case strings without a pass")
    options = parser.parse_args()
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False

    print(f"{torch.cuda.get_device_name()}, cuDNN {torch.backends.cudnn.version()}, fp32 without TF32")
    print(f"{'ours':>8} {'cuDNN':>8} TFLOP/s {'ratio':>7}  algorithm")
    for which in options.passes or PASSES:
        ratios = []
        for case in cases_of(options):
            text, mine, cudnn = f"{case}:{which}", math.inf, math.inf
            for _ in range(2):
                seconds, algorithm, flops = ours(options, text)
                mine, cudnn = min(mine, seconds), min(cudnn, theirs(case, which))
            ratios.append(cudnn / mine)
            print(f"{flops / mine * 1e-12:8.2f} {flops / cudnn * 1e-12:8.2f} {'':7} {ratios[-1]:7.3f}  "
                  f"{algorithm:16} {text}", flush=True)
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{which}: geometric mean of {len(ratios)} ratios {mean:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
