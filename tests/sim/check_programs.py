#!/usr/bin/python3
"""check_programs.py: generated programs on the executor against the same source on the host.

usage: check_programs.py RUNNER [--programs N] [--first SEED] [--all] [--level L] [--wave W] [--keep FOLDER]

Each batch of programs is compiled by clang once for the host and once for gfx1010, at a level of
optimisation and a wave size that take turns; --all compiles and runs every batch at every level and
both sizes. Results are compared bit by bit and no check of the executor may report anything.
"""
import argparse
import concurrent.futures
import itertools
import os
import shutil
import subprocess
import sys
import tempfile

import generate

BATCH = 10
HERE = os.path.dirname(os.path.abspath(__file__))
CLANG = os.environ.get("CLANG", "clang-19")
HOST = [CLANG, "-O0", "-w", "-fPIC", "-shared", "-ffp-contract=off", "-Xclang", "-ffloat16-excess-precision=none"]
GPU = [CLANG, "-x", "cl", "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-w", "-ffp-contract=off",
       "-cl-fp32-correctly-rounded-divide-sqrt"]
CONFIGS = list(itertools.product("0123", ("32", "64")))


def gpu_options(first, level, wave, chip):
    """The options of a batch; what has no say in the result takes turns by the batch's number."""
    turn = (first - 1) // BATCH
    options = [f"-mcpu={chip}", f"-O{level}", "-mwavefrontsize64" if wave == "64" else "-mno-wavefrontsize64",
               f"-cl-std=CL{'2.0' if turn % 2 else '1.2'}", f"-mcode-object-version={4 + turn // 2 % 2}"]
    if turn % 3 == 0:
        options += ["-mllvm", "-amdgpu-atomic-optimizer-strategy=DPP"]
    if turn % 5 == 0:
        options += ["-mcumode"]
    return options


def run_batch(arguments, folder, first, count, configs):
    """Generate, compile and run one batch; returns (failed runs, runs, text)."""
    base = os.path.join(folder, f"b{first}")
    with open(base + ".c", "w") as file:
        file.write(generate.write_programs(range(first, first + count)))
    include = ["-I", HERE]
    commands = [(HOST + include + [base + ".c", "-o", base + ".so", "-lm"], None)]
    for level, wave in configs:
        out = f"{base}-{level}-{wave}.co"
        repeat = f": repeat with {sys.argv[0]} RUNNER --first {first} --programs {count} --level {level} --wave {wave}"
        commands.append((GPU + include + gpu_options(first, level, wave, arguments.chip) + [base + ".c", "-o", out],
                         [arguments.runner, out, base + ".so", arguments.chip, repeat]))
    failed, text = 0, ""
    for compile_it, run_it in commands:
        done = subprocess.run(compile_it, capture_output=True, text=True)
        if done.returncode == 0 and run_it:
            done = subprocess.run(run_it, capture_output=True, text=True)
        if done.returncode:
            failed += 1
            text += f"FAIL {' '.join(run_it or compile_it)}: exit {done.returncode}\n" + done.stdout + done.stderr
    if not arguments.keep:
        for name in os.listdir(folder):
            if name.startswith(f"b{first}.") or name.startswith(f"b{first}-"):
                os.remove(os.path.join(folder, name))
    return failed, len(configs) * count, text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runner")
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="every level and wave size for every program")
    parser.add_argument("--level", choices="0123")
    parser.add_argument("--wave", choices=("32", "64"))
    parser.add_argument("--chip", default="gfx1010")
    parser.add_argument("--keep", help="leave sources and objects in this folder")
    arguments = parser.parse_args()
    if not shutil.which(CLANG):
        print(f"{CLANG} is not installed")
        return 77
    wanted = [c for c in CONFIGS if arguments.level in (None, c[0]) and arguments.wave in (None, c[1])]
    one_each = not arguments.all and len(wanted) > 1 and not (arguments.level or arguments.wave)
    folder = arguments.keep or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    failed = runs = 0
    try:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = []
            last = arguments.first + arguments.programs
            for i, first in enumerate(range(arguments.first, last, BATCH)):
                configs = [wanted[i % len(wanted)]] if one_each else wanted
                jobs.append(pool.submit(run_batch, arguments, folder, first, min(BATCH, last - first), configs))
            for job in jobs:
                bad, n, text = job.result()
                failed, runs = failed + bad, runs + n
                print(text, end="", flush=True)
    finally:
        if not arguments.keep:
            shutil.rmtree(folder)
    print(f"{arguments.programs} programs, {runs} runs, {failed} batches failed")
    return 1 if failed or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
