#!/usr/bin/env python3
"""Our convolutions against cuDNN's, layer by layer, in one process on one NVIDIA GPU.

usage: bench/compare_cudnn [--out FOLDER] [--seconds 300] [--sample 1000] [--type f32,f16] [--candidates] …

Ours are plans of librmcp; cuDNN is called through PyTorch (benchmark mode, fp32 without TF32; for some layers PyTorch
takes a kernel of its own). Both read the same memory, are replayed from CUDA graphs in turn (ours, cuDNN, ours, …),
and the best of several rounds counts. A ratio, PyTorch's time / ours, above 1 means that ours is faster. Each layer's
two results are compared first; one of ours that is wrong counts as a failure and not as a time.

FOLDER gets results.csv, summary.txt, summary.json and report.html; a second run with the same folder goes on where the
first one stopped. --device cpu compares our CPU device with PyTorch's CPU operators by the wall clock: a test of this
script (bench/compare_cpu is the careful comparison). Exit status: 0; 1 when a layer failed; 2 for wrong options.
"""
import argparse
import json
import os
import pathlib
import signal
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "bench")]
PASSES, TYPES, LAYOUTS = ("fwd", "bwd_data", "bwd_weights"), ("f32", "f16", "bf16"), ("nchw", "nhwc")


def words(known=None):
    """A type for argparse: words with commas between; "all" for all that are known."""
    def split(text):
        if known and text == "all":
            return list(known)
        parts = text.split(",")
        for part in parts:
            if known and part not in known:
                raise argparse.ArgumentTypeError(f"'{part}' is none of {', '.join(known)}")
        return parts
    return split


def numbers(text):
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError:
        found = [0]
    if min(found) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' are no batch sizes")
    return found


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_argument_group("which layers (words with commas between)")
    what.add_argument("--list", type=words(("networks", "torchvision", "deepbench", "layers")),
                      help="files of data/ (all)")
    what.add_argument("--network", type=words(), help="networks whose name contains one of these")
    what.add_argument("--tuning", choices=("seen", "unseen"), help="unseen: only what no tuning looked at")
    what.add_argument("--batch", type=numbers, default=[1, 8, 32], help="batch sizes (1,8,32)")
    what.add_argument("--type", type=words(TYPES), default=["f32"], help="f32,f16,bf16 or all (f32)")
    what.add_argument("--layout", type=words(LAYOUTS), default=["nchw"], help="nchw,nhwc or all (nchw)")
    what.add_argument("--pass", dest="passes", type=words(PASSES), default=list(PASSES),
                      help="fwd,bwd_data,bwd_weights (all)")
    what.add_argument("--class", dest="kind", type=words(), help="classes such as 1x1,depthwise,3-D")
    what.add_argument("--case", action="append", help="this case string and no list; may be repeated")
    what.add_argument("--random", type=int, default=0, metavar="N", help="N random layers and no list")
    what.add_argument("--sample", type=int, default=0, metavar="N", help="N of them, each class and pass in turn")
    what.add_argument("--seed", type=int, default=1, help="of --random and of the order (1)")
    what.add_argument("--min-gflop", type=float, default=0, help="only layers with so much work (0)")
    what.add_argument("--max-gflop", type=float, default=300, help="no layers with more work (300)")
    how = parser.add_argument_group("how")
    how.add_argument("--device", default="cuda:0", help="cuda:N, or cpu to try this script (cuda:0)")
    how.add_argument("--library", help="librmcp.so (RMCP_LIBRARY, else the one in build/)")
    how.add_argument("--effort", choices=("estimate", "measure"), default="estimate", help="of our planner (estimate)")
    how.add_argument("--candidates", action="store_true", help="also time each algorithm of ours")
    how.add_argument("--turn", type=float, help="milliseconds that a turn takes at least (0.3; cpu: 2)")
    how.add_argument("--cudnn-limit", type=int, default=10, help="plans that cuDNN's search tries (10, PyTorch's own)")
    how.add_argument("--seconds", type=float, default=float("inf"), help="stop cleanly after this time")
    how.add_argument("--out", metavar="FOLDER", help="keep results there, or go on with those that are there")
    how.add_argument("--report", action="store_true", help="measure nothing; only write the reports of --out again")
    how.add_argument("--quiet", action="store_true", help="a progress line every ten seconds, not for each layer")
    options = parser.parse_args()
    if options.report and not options.out:
        parser.error("--report needs --out")
    if not (options.device == "cpu" or options.device.startswith("cuda")):
        parser.error(f"--device {options.device}: PyTorch's side can be cuda:N or cpu")
    return options


def report(results):
    """Prints the tables and writes the files; true when nothing failed."""
    from compare import page, tables
    summary = tables.summary(results)
    print()
    print(tables.text(summary), end="")
    results.write("summary.txt", tables.text(summary, most=10**6))
    results.write("summary.json", json.dumps(summary, indent=1) + "\n")
    results.write("report.html", page.page(summary, list(results.rows.values())))
    if results.folder:
        print(f"\nwrote {results.folder}/report.html, summary.txt, summary.json, results.csv")
    return not summary["failures"]


def stop(_signal, _frame):
    raise KeyboardInterrupt


def main():
    began = time.monotonic()
    options = arguments()
    options.began = began
    signal.signal(signal.SIGTERM, stop)  # as Ctrl-C: what was measured is reported
    from compare.results import Mixed, Results
    results = Results(options.out)
    if not options.report:
        os.environ.setdefault("RMCP_GUARD", "0")  # nothing here is used for the first time in earnest
        if options.library:
            os.environ["RMCP_LIBRARY"] = options.library
        elif (ROOT / "build" / "librmcp.so").exists():
            os.environ.setdefault("RMCP_LIBRARY", str(ROOT / "build" / "librmcp.so"))
        try:
            from compare.run import measure
            from rmcp import Error
        except ImportError as missing:
            sys.exit(f"this comparison needs PyTorch: {missing}; bench/compare_cudnn finds a Python that has it")
        try:
            measure(results, options)
        except KeyboardInterrupt:
            print("interrupted")
        except (Error, ImportError, LookupError, Mixed) as error:
            print(f"compare_cudnn: {error}", file=sys.stderr)
            return 2
    return 0 if report(results) else 1


if __name__ == "__main__":
    sys.exit(main())
