#!/usr/bin/env python3
"""Every file that a kernel includes, directly or not, is an input of the targets that embed and compile kernels:
whoever edits it gets new kernels.

usage: check_dependencies.py SOURCES BUILD NINJA"""
import os
import re
import subprocess
import sys

sources, build, ninja = sys.argv[1:]


def ask(*tool):
    return subprocess.run([ninja, "-C", build, "-t", *tool], check=True, stdout=subprocess.PIPE, text=True).stdout


def inputs(target):
    """The real paths of what a target is made from: what `ninja -t query` lists before its outputs."""
    found = set()
    for line in ask("query", target).partition("input:")[2].partition("outputs:")[0].splitlines()[1:]:
        found.add(os.path.realpath(os.path.join(build, line.strip().lstrip("| "))))
    return found


def included(path, seen):
    """`path` and all that it includes; kernels name what they include from the folder of the sources on."""
    if path in seen:
        return seen
    seen.add(path)
    with open(path, encoding="utf-8") as file:
        for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', file.read(), re.M):
            below = [os.path.realpath(os.path.join(folder, name)) for folder in (sources, os.path.dirname(path))]
            there = [p for p in below if os.path.isfile(p)]
            if not there:
                sys.exit(f"{path} includes {name}, which is nowhere")
            included(there[0], seen)
    return seen


kernels = [os.path.realpath(os.path.join(folder, name)) for folder, _, names in os.walk(sources) for name in names
           if name.endswith(".cl") and os.path.basename(folder) == "kernels"]
targets = [line.split(":")[0] for line in ask("targets", "all").splitlines()
           if re.search(r"(/kernel_sources\.inc|/kernels_\w+\.S):", line)]
if not kernels or not targets:
    sys.exit(f"{len(kernels)} kernels, {len(targets)} targets")
needed = set()
for kernel in kernels:
    included(kernel, needed)
failures = 0
for target in targets:
    for path in sorted(needed - inputs(target)):
        print(f"{target} does not depend on {os.path.relpath(path, sources)}")
        failures += 1
print(f"{len(kernels)} kernels, {len(needed) - len(kernels)} headers, {len(targets)} targets: {failures} missing")
sys.exit(failures != 0)
