#!/usr/bin/python3
"""repair_cost.py: what repaired code costs: code for gfx1030, repaired, beside the compiler's own code for gfx1010.

usage: repair_cost.py RMCP [--level LEVEL]

The kernels of repair_cost.c are compiled by clang for both chips, the first is repaired, and both run on a simulated
gfx1010. Prints bytes of code and instructions executed by waves, and checks that results are the same.
"""
import argparse
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

CLANG = os.environ.get("CLANG", "clang-19")
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "repair_cost.c")
KERNELS = ["reduce", "scan", "histogram", "sort", "product_q8", "product_f16", "soft_max", "matrix_tile", "tree",
           "branches"]
CALLED = {"tree": "visit"}
WORDS, ITEMS = 4096, 256


def call(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stdout[-1000:]}{done.stderr[-1000:]}")
    return done.stdout


def sizes(path):
    """Bytes of the code of each function, as the symbols tell."""
    text = call("llvm-readelf-19", "-sW", path)
    return {name: int(size) for size, name in re.findall(r"^ *\d+: \w+ +(\d+) FUNC .* (\S+)$", text, re.MULTILINE)}


def run(rmcp, path, kernel, chip, folder):
    out = os.path.join(folder, "out")
    text = call(rmcp, "sim", "--kernel", path, kernel, "--chip", chip, "--grid", str(ITEMS), "--block", "64", "--json",
                "--args", f"out:{4 * ITEMS}@{out}", "in:" + os.path.join(folder, "in"), f"u32:{WORDS}")
    with open(out, "rb") as file:
        return sum(json.loads(text)["stats"]["instructions"].values()), file.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rmcp")
    parser.add_argument("--level", default="-O3")
    arguments = parser.parse_args()
    if not shutil.which(CLANG) or not shutil.which("llvm-readelf-19"):
        print(f"{CLANG} or llvm-readelf-19 is not installed")
        return 77
    rng = random.Random(1)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: os.path.join(folder, name + ".co") for name in ("gfx1010", "gfx1030", "repaired")}
        for chip in ("gfx1010", "gfx1030"):
            call(CLANG, "-x", "c", "-std=gnu11", "-target", "amdgcn-amd-amdhsa", f"-mcpu={chip}", "-nogpulib",
                 "-ffp-contract=off", arguments.level, SOURCE, "-o", paths[chip])
        call(arguments.rmcp, "repair", paths["gfx1030"], "--out", paths["repaired"])
        with open(os.path.join(folder, "in"), "wb") as file:
            file.write(struct.pack(f"<{WORDS}I", *(rng.getrandbits(32) for _ in range(WORDS))))
        code = {name: sizes(path) for name, path in paths.items()}
        print("| kernel | bytes: gfx1030 | repaired | gfx1010 | ratio "
              "| executed: gfx1030 | repaired | gfx1010 | ratio |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
        totals = [0] * 6
        for kernel in KERNELS:
            before, wanted = run(arguments.rmcp, paths["gfx1030"], kernel, "gfx1030", folder)
            after, got = run(arguments.rmcp, paths["repaired"], kernel, "gfx1010", folder)
            native, own = run(arguments.rmcp, paths["gfx1010"], kernel, "gfx1010", folder)
            if not wanted == got == own:
                failures += 1
                print(f"FAIL: {kernel}: other results", file=sys.stderr)
            row = [code[name][kernel] + code[name].get(CALLED.get(kernel), 0)
                   for name in ("gfx1030", "repaired", "gfx1010")] + [before, after, native]
            totals = [a + b for a, b in zip(totals, row)]
            print(f"| {kernel} | {row[0]} | {row[1]} | {row[2]} | {row[1] / row[2]:.2f} | "
                  f"{row[3]:,} | {row[4]:,} | {row[5]:,} | {row[4] / row[5]:.2f} |")
        print(f"| all | {totals[0]} | {totals[1]} | {totals[2]} | {totals[1] / totals[2]:.2f} | "
              f"{totals[3]:,} | {totals[4]:,} | {totals[5]:,} | {totals[4] / totals[5]:.2f} |")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
