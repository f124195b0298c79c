#!/usr/bin/python3
"""sim_cells.py: by hand: what code for two chips by several compilers does on a modelled gfx1010.

usage: sim_cells.py SIM_KERNELS LIST CASES CLANG…

Compiles the kernels of LIST (lines as build/tools/kernels/kernel-list prints them) with each clang for
gfx1030 and for gfx1010, runs CASES with each on the executor as on a gfx1010 chip
(tests/sim/kernels.c), and prints a table: the silicon-bug patterns that were executed and, with their
documented effects acted out, how many results are still right. OUT=FOLDER keeps the objects, and
takes those that are there.
"""
import collections
import concurrent.futures
import shutil
import os
import re
import subprocess
import sys
import tempfile

ACTED = ["vcmpx-exec-war", "vmem-scalar-write", "smem-vector-write", "flat-offset", "inst-prefetch"]
TARGETS = ["gfx1030", "gfx1010"]


def copy_sources(folder):
    """Older releases know neither a fence of one address space nor sched_barrier; all get the same text."""
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../src")
    shutil.copytree(here, folder, dirs_exist_ok=True)
    path = os.path.join(folder, "engine/kernels/target.h")
    text = open(path).read().replace('"workgroup", "local"', '"workgroup"')
    with open(path, "w") as file:
        file.write(text.replace("__builtin_amdgcn_sched_barrier(0)", "(void)0"))


def compile_one(clang, target, sources, out, line):
    name, _, source, _, _, *options = line.split()
    path = os.path.join(out, name + ".co")
    if not os.path.exists(path):
        subprocess.run([clang, "-x", "cl", "-cl-std=CL1.2", "-DBARE", "-O3", "-w", "-target", "amdgcn-amd-amdhsa",
                        f"-mcpu={target}", "-mcode-object-version=4", "-nogpulib", "-I", sources, *options, "-o", path,
                        os.path.join(sources, source)], check=True)


def run(sim_kernels, objects, cases, act=None):
    """One pass over the cases as on a gfx1010; returns the counts."""
    command = [sim_kernels, "--once", "--units", "1", "--keep-going", "--quiet"] + (["--act", act] if act else [])
    done = subprocess.run(command + [objects, "gfx1010", cases], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    counts = collections.Counter()
    for line in done.stdout.splitlines():
        match = re.fullmatch(r"([\w:-]+) (\d+)", line)
        if match:
            counts[match[1]] = int(match[2])
    return counts


def verdict(counts):
    """How many of the runs gave the right result, and what became of the others."""
    right = counts["runs"] - counts["wrong"] - counts["stopped"]
    if right == counts["runs"]:
        return "all right"
    return f"{right} right, {counts['wrong']} wrong, {counts['stopped']} stopped"


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    sim_kernels, kernels, cases, *clangs = sys.argv[1:]
    lines = open(kernels).read().splitlines()
    with tempfile.TemporaryDirectory() as scratch:
        out = os.environ.get("OUT", scratch)
        copy_sources(os.path.join(out, "sources"))
        cells = [(target, clang) for target in TARGETS for clang in clangs]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = []
            for target, clang in cells:
                folder = os.path.join(out, os.path.basename(clang), target)
                os.makedirs(folder, exist_ok=True)
                jobs += [pool.submit(compile_one, clang, target, os.path.join(out, "sources"), folder, line)
                         for line in lines]
            for job in jobs:
                job.result()
        columns = []
        for target, clang in cells:
            folder = os.path.join(out, os.path.basename(clang), target)
            plain = run(sim_kernels, folder, cases)
            column = {"runs": f"{plain['runs']:,}", "launches": f"{plain['launches']:,}",
                      "instructions": f"{plain['instructions']:,}", "absent instructions": f"{plain['absent']:,}"}
            patterns = {k[8:]: v for k, v in plain.items() if k.startswith("pattern:")}
            column.update({f"{k}, executed": f"{v:,}" for k, v in patterns.items()})
            column["results, nothing acted out"] = verdict(plain)
            for rule in ACTED:
                if patterns.get(rule):
                    column[f"results, {rule} acted out"] = verdict(run(sim_kernels, folder, cases, rule))
            column["results, all acted out"] = verdict(run(sim_kernels, folder, cases, "all"))
            columns.append(column)
            print(f"{target} {clang}: {column}", file=sys.stderr)
    rows = []
    for column in columns:
        rows += [row for row in column if row not in rows]
    rows.sort(key=lambda row: (row.startswith("results"), "executed" in row, row == "results, all acted out"))
    print("| |" + "|".join(f" {target}, {os.path.basename(clang)} " for target, clang in cells) + "|")
    print("|---|" + "---:|" * len(cells))
    for row in rows:
        missing = "no such pattern" if row.startswith("results") else "0"
        print(f"| {row} |" + "|".join(f" {column.get(row, missing)} " for column in columns) + "|")


if __name__ == "__main__":
    main()
