#!/usr/bin/env python3
"""Our GPU kernels against cuDNN's, layer by layer, in one run on one NVIDIA GPU.

usage: bench/compare_cudnn --rmcp build/rmcp [--device cuda] [--batch 32] [--network resnet50] [--pass fwd]

The time of a layer is the best of several runs by the GPU's own clock, taken in turn: ours, cuDNN's
(benchmark mode, fp32 without TF32), ours, cuDNN's. Rates count 2 operations per multiplication of the
direct convolution. A ratio above 1 means that ours is faster. Totals weigh each layer by how often the
network has it.
"""
import argparse
import json
import math
import subprocess
import sys

try:
    import torch
except ImportError as missing:
    sys.exit(f"this comparison needs PyTorch: {missing}; bench/compare_cudnn finds a Python that has it")

PASSES = ("fwd", "bwd_data", "bwd_weights")
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
ROUNDS, REPEATS = 2, 10


def ours(options, which):
    """Rows of rmcp bench for one pass: case, count, seconds_best, algorithm, flops."""
    command = [options.rmcp, "bench", "--device", options.device, "--json", "--repeats", str(REPEATS),
               "--effort", options.effort, "--pass", which]
    if options.case:
        command += [f"{case}:{which}" for case in options.case]
    else:
        command += ["--network", options.network, "--batch", str(options.batch), "--type", options.type,
                    "--layout", options.layout]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)["results"]


def shape_of(case):
    """The numbers of a 2-D case string as rmcp prints them (square padding, stride)."""
    numbers, letter = {"n": 1, "p": 0, "u": 1, "g": 1}, ""
    for c in case.split(":")[0]:
        if c.isdigit():
            numbers[letter] = numbers[letter] * 10 + int(c)
        else:
            letter = c
            numbers[letter] = 0
    return numbers


def theirs(case):
    """Best seconds of cuDNN for the same problem, type, layout and pass."""
    s = shape_of(case)
    fields = case.split(":")
    which = fields[3]
    form = {"dtype": TYPES[fields[1]], "device": "cuda"}
    order = torch.channels_last if fields[2] == "nhwc" else torch.contiguous_format
    x = torch.randn(s["n"], s["c"], s["h"], s["w"], **form).to(memory_format=order)
    w = torch.randn(s["k"], s["c"] // s["g"], s["r"], s["s"], **form).to(memory_format=order)
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
    for _ in range(REPEATS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        run()
        end.record()
        end.synchronize()
        best = min(best, start.elapsed_time(end) * 1e-3)
    return best


def compare(options, which):
    """One pass over all layers; returns the two totals in seconds."""
    rows = []
    for _ in range(ROUNDS):
        for i, row in enumerate(ours(options, which)):
            if i == len(rows):
                rows.append({**row, "cudnn": math.inf})
            kept = rows[i]
            kept["seconds_best"] = min(kept["seconds_best"], row["seconds_best"])
            kept["cudnn"] = min(kept["cudnn"], theirs(row["case"]))
    for row in rows:
        mine, cudnn = row["seconds_best"], row["cudnn"]
        print(f"{1e3 * mine:8.3f} {1e3 * cudnn:8.3f} {row['flops'] / mine * 1e-12:8.2f} "
              f"{row['flops'] / cudnn * 1e-12:8.2f} {cudnn / mine:7.3f} {row.get('count', 1):3d}x "
              f"{row['algorithm']:14} {row['case']}", flush=True)
    ratios = [row["cudnn"] / row["seconds_best"] for row in rows]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    totals = [sum(row.get("count", 1) * row[key] for row in rows) for key in ("seconds_best", "cudnn")]
    print(f"{which}: geometric mean of {len(ratios)} ratios {mean:.3f}, from {min(ratios):.3f} to "
          f"{max(ratios):.3f}; all layers {1e3 * totals[0]:.2f} ms against {1e3 * totals[1]:.2f} ms, "
          f"ratio {totals[1] / totals[0]:.3f}")
    return totals


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rmcp", default="build/rmcp")
    parser.add_argument("--device", default="cuda", help="cuda (our PTX) or opencl")
    parser.add_argument("--network", default="resnet50")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--type", default="f32", choices=TYPES)
    parser.add_argument("--layout", default="nchw", choices=("nchw", "nhwc"))
    parser.add_argument("--pass", dest="passes", choices=PASSES, action="append")
    parser.add_argument("--effort", default="estimate")
    parser.add_argument("case", nargs="*", help="2-D case strings without a pass")
    options = parser.parse_args()
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False

    print(f"{torch.cuda.get_device_name()}, cuDNN {torch.backends.cudnn.version()} "
          f"(PyTorch {torch.__version__}), no TF32, ours on {options.device}")
    print(f"{'ours ms':>8} {'cuDNN ms':>8} {'TFLOP/s':>8} {'cuDNN':>8} {'ratio':>7}")
    totals = [compare(options, which) for which in options.passes or PASSES]
    ours_ms, cudnn_ms = (1e3 * sum(t[i] for t in totals) for i in range(2))
    print(f"all: {ours_ms:.2f} ms against {cudnn_ms:.2f} ms, ratio {cudnn_ms / ours_ms:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
