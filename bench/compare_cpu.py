#!/usr/bin/env python3
"""compare_cpu.py: our CPU device against PyTorch's own CPU convolution, layer by layer.

Both sides run in this process, in turns, on the same number of threads. What counts is the ratio
PyTorch's time / our time: above 1 we are faster. Times of single layers are not printed, because
they say more about the machine than about the two libraries.

PyTorch takes part twice. The ratio of its two entries would be 1 on a quiet machine; it is printed
beside each result as "noise", and a result that differs from 1 by no more than that says nothing.
A turn during which the system took a core away from this process is thrown away and taken again:
with several threads one such turn costs a whole time slice, many times the layer itself.

PyTorch allocates its output in each call, ours is given. glibc may hand such memory back to the
system each time, depending on what the process did before, and the page faults then cost more than
the layer (a factor of 2 to 3 for the first layer of ResNet-50). So malloc is told to keep what is
freed, and a line says so where a side still faults.

    bench/compare_cpu --batches 1,8 --passes fwd,bwd_data,bwd_weights
"""
import argparse
import csv
import ctypes
import json
import math
import os
import pathlib
import random
import resource
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def arguments():
    parser = argparse.ArgumentParser(description="our CPU convolutions against PyTorch's")
    parser.add_argument("--network", default="resnet50", help="resnet50, vgg16, mobilenetv2")
    parser.add_argument("--layer", default="", help="only layers whose name contains this")
    parser.add_argument("--batches", default="1,8", help="batch sizes (1,8)")
    parser.add_argument("--passes", default="fwd", help="fwd,bwd_data,bwd_weights (fwd)")
    parser.add_argument("--layout", default="nchw", choices=("nchw", "nhwc"))
    parser.add_argument("--type", default="f32", choices=("f32", "f16", "bf16"))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)),
                        help="threads of both sides (all cores)")
    parser.add_argument("--algorithm", help="our algorithm (the planner's choice)")
    parser.add_argument("--effort", default="estimate", choices=("estimate", "measure"))
    parser.add_argument("--fixed-weights", action="store_true",
                        help="our plan prepares the weights once; PyTorch has no such thing here")
    parser.add_argument("--pytorch-onednn", action="store_true",
                        help="forward: call PyTorch's oneDNN path even where its dispatcher would "
                             "not (1x1 on one thread goes to BLAS, which may be a slow one)")
    parser.add_argument("--repeats", type=int, default=15,
                        help="undisturbed turns of each side (15)")
    parser.add_argument("--seconds", type=float, default=0.003,
                        help="a turn repeats the layer for about this time (0.003)")
    parser.add_argument("--json", metavar="FILE", help="write the results there too")
    return parser.parse_args()


def read_layers(network, name_part):
    with open(ROOT / "data" / "networks.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file)
                if row["net"].startswith(network) and name_part in row["layer"]]
    if not rows:
        sys.exit(f"no layer of '{network}' contains '{name_part}'; see data/networks.csv")
    return rows


def case_of(row, n, type_name, layout):
    g = int(row["groups"])
    return (f"n{n}c{row['C']}h{row['H']}w{row['W']}k{row['K']}r{row['R']}s{row['S']}"
            f"p{row['pad']}u{row['stride']}g{g}:{type_name}:{layout}")


class Sides:
    """The two contestants for one layer and pass, over the same numbers."""

    def __init__(self, device, case, pass_, options):
        self.problem, _ = rmcp.parse(case)
        self.pass_ = pass_
        generator = numpy.random.default_rng(1)
        self.torch_tensors, self.arrays = {}, {}
        for name in "xwy":
            shape = rmcp.array_shape(self.problem, name)
            values = torch.from_numpy(generator.standard_normal(shape, dtype=numpy.float32))
            values = values.to(TORCH_TYPES[self.problem.type])
            # Our array is a copy, aligned as PyTorch aligns its own.
            bits = values if values.dtype != torch.bfloat16 else values.view(torch.int16)
            array = rmcp.aligned_empty(shape, rmcp.ARRAY_TYPES[self.problem.type], 64)
            array[...] = bits.numpy().view(array.dtype)
            self.arrays[name] = array
            if self.problem.layout == rmcp.NHWC:  # the same memory, seen as N C H W
                values = values.permute(0, 3, 1, 2)
            self.torch_tensors[name] = values
        if options.fixed_weights and pass_ != rmcp.CONV_BACKWARD_WEIGHTS:
            fixed = self.arrays["w"]
        else:
            fixed = None
        self.plan = rmcp.Plan(device, self.problem, pass_, algorithm=options.algorithm,
                              fixed_weights=fixed, effort=int(options.effort == "measure"))
        self.tensors = self.plan.bind(**self.arrays)
        self.pytorch_onednn = options.pytorch_onednn

    def ours(self):
        self.plan.execute(self.tensors)

    def pytorch(self):
        p, t = self.problem, self.torch_tensors
        stride, pad = list(p.stride[:2]), list(p.pad_begin[:2])
        if self.pass_ == rmcp.CONV_FORWARD and self.pytorch_onednn:
            return torch.mkldnn_convolution(t["x"], t["w"], None, pad, stride, [1, 1], p.groups)
        if self.pass_ == rmcp.CONV_FORWARD:
            return torch.nn.functional.conv2d(t["x"], t["w"], None, stride, pad, 1, p.groups)
        mask = [self.pass_ == rmcp.CONV_BACKWARD_DATA, self.pass_ == rmcp.CONV_BACKWARD_WEIGHTS, False]
        return torch.ops.aten.convolution_backward(
            t["y"], t["x"], t["w"], [0], stride, pad, [1, 1], False, [0, 0], p.groups,
            mask)[mask.index(True)]

    def differ(self):
        """The largest difference of the two results, in parts of the largest value."""
        self.ours()
        ours = self.arrays["yxw"[self.pass_]]
        theirs = self.pytorch()
        if self.problem.layout == rmcp.NHWC:
            theirs = theirs.permute(0, 2, 3, 1)
        ours = torch.from_numpy(ours.view(numpy.int16) if ours.dtype == numpy.uint16 else ours)
        ours = ours.view(theirs.dtype).float()
        return float((ours - theirs.float()).abs().max() / theirs.float().abs().max())


def keep_freed_memory():
    """Tell glibc's malloc to take no memory by mmap and to give none back."""
    trim_threshold, mmap_max = -1, -4  # M_TRIM_THRESHOLD, M_MMAP_MAX of malloc.h
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return bool(mallopt and mallopt(trim_threshold, 2**31 - 1) and mallopt(mmap_max, 0))


def faults(function, count=4):
    """Page faults per call once warm."""
    function()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(count):
        function()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / count


def clock(function, count):
    """Seconds per call, and whether the system left us alone meanwhile. The first call is not
    timed: it finds the caches as the other side left them."""
    function()
    switches = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
    start = time.perf_counter()
    for _ in range(count):
        function()
    seconds = (time.perf_counter() - start) / count
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw == switches


def compare(sides, repeats, seconds):
    """Medians of undisturbed turns; the sides take turns, in each round in another order, so that
    none always follows the same one."""
    shuffler = random.Random(1)
    contestants = (sides.ours, sides.pytorch, sides.pytorch)
    counts = [max(1, round(seconds / min(clock(f, 1)[0] for _ in range(3)))) for f in contestants]
    times = ([], [], [])
    disturbed = turns = 0
    while min(map(len, times)) < repeats and turns < 4 * repeats:
        for side in shuffler.sample(range(3), 3):
            taken, quiet = clock(contestants[side], counts[side])
            if quiet:
                times[side].append(taken)
            else:
                disturbed += 1
        turns += 1
    if min(map(len, times)) < max(3, repeats // 3):
        return None  # too busy a machine to say anything
    ours, pytorch, again = map(statistics.median, times)
    return {"ratio": math.sqrt(pytorch * again) / ours, "noise": again / pytorch,
            "our_seconds": ours, "pytorch_seconds": math.sqrt(pytorch * again),
            "disturbed": disturbed / (3 * turns), "our_faults": faults(sides.ours),
            "pytorch_faults": faults(sides.pytorch)}


def geomean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios)))


def run_table(device, layers, n, pass_, options):
    print(f"\nn={n} {rmcp.PASS_NAMES[pass_]} {options.type} {options.layout}"
          f"{' fixed weights' if options.fixed_weights else ''}: PyTorch's time / our time")
    print("  ratio  noise  layer")
    results = []
    for row in layers:
        case = case_of(row, n, options.type, options.layout)
        sides = Sides(device, case, pass_, options)
        difference = sides.differ()
        result = compare(sides, options.repeats, options.seconds)
        sides.plan.close()
        if not result:
            print(f"    -      -    {row['layer']}: no quiet turns", flush=True)
            continue
        result.update(layer=row["layer"], count=int(row["count"]), difference=difference,
                      case=rmcp.case_string(sides.problem, pass_), algorithm=sides.plan.algorithm)
        results.append(result)
        remark = "  RESULTS DIFFER" if not difference < 0.05 else ""
        if max(result["our_faults"], result["pytorch_faults"]) > 16:
            remark += (f"  page faults: {result['our_faults']:.0f} ours, "
                       f"{result['pytorch_faults']:.0f} PyTorch's")
        print(f"  {result['ratio']:5.2f}  {result['noise']:5.2f}  {row['layer']:<10} "
              f"x{row['count']:<2} {result['case']}  {result['algorithm']}{remark}", flush=True)
    return summary(n, pass_, results, len(layers))


def summary(n, pass_, results, n_layers):
    if not results:
        return {"n": n, "pass": rmcp.PASS_NAMES[pass_], "layers": []}
    mean = geomean([r["ratio"] for r in results])
    noise = geomean([r["noise"] for r in results])
    spread = max(abs(math.log(r["noise"])) for r in results)
    network = (sum(r["pytorch_seconds"] * r["count"] for r in results)
               / sum(r["our_seconds"] * r["count"] for r in results))
    disturbed = statistics.fmean(r["disturbed"] for r in results)
    worst = sorted(results, key=lambda r: r["ratio"])[:3]
    print(f"  {len(results)} of {n_layers} layers: geometric mean {mean:.3f}; weighted by "
          f"time and count {network:.3f}")
    print(f"  PyTorch against itself: geometric mean {noise:.3f}, worst layer off by "
          f"{math.expm1(spread):.0%}; {disturbed:.0%} of the turns were disturbed and left out")
    print("  slowest of ours: " + ", ".join(f"{r['layer']} {r['ratio']:.2f}" for r in worst))
    return {"n": n, "pass": rmcp.PASS_NAMES[pass_], "geomean": mean, "noise": noise,
            "worst_noise": math.exp(spread), "n_layers": n_layers,
            "network": network, "layers": results}


def main():
    options = arguments()
    try:
        passes = [rmcp.PASS_NAMES.index(name) for name in options.passes.split(",")]
        batches = [int(n) for n in options.batches.split(",")]
    except ValueError as error:
        sys.exit(f"--passes or --batches: {error}")
    layers = read_layers(options.network, options.layer)
    torch.set_num_threads(options.threads)
    if not keep_freed_memory():
        print("malloc cannot be told to keep freed memory: beware of page faults")
    tables = []
    with rmcp.Device("cpu", threads=options.threads) as device, torch.no_grad():
        info = device.describe()
        print(f"{info.name.decode()}, {options.threads} threads; ours: {info.driver.decode()} "
              f"{info.chip.decode()}; PyTorch {torch.__version__}")
        for pass_ in passes:
            for n in batches:
                tables.append(run_table(device, layers, n, pass_, options))
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"version": 1, "options": vars(options), "tables": tables}, file, indent=1)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "python"))
    try:
        import numpy
        import torch
        import rmcp_ctypes as rmcp
    except ImportError as missing:
        sys.exit(f"this comparison needs PyTorch and numpy: {missing}; bench/compare_cpu finds a Python that has them")
    TORCH_TYPES = (torch.float32, torch.float16, torch.bfloat16)
    main()
