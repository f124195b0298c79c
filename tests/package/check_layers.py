#!/usr/bin/env python3
"""Rooms include only the rooms that the table of docs/ARCHITECTURE.md allows, and link only with them.

usage: check_layers.py SOURCE-ROOT BUILD-ROOT

The table has a row for each folder: its path, what it holds, and which folders it may include ("all": any). A star in a
path stands for the name of any folder, each of which is a room of its own. A file belongs to the longest path that it
lies below. Symbols are read from the objects of the build.
"""
import fnmatch
import glob
import os
import re
import subprocess
import sys

# Some that were real once; each must be refused.
PLANTED = [
    ("src/engine/ops/conv/algo/direct.c", "engine/driver/hip/api.h"),
    ("src/engine/driver/cuda/driver.c", "engine/ops/conv/gpu/gemm.h"),
    ("src/engine/driver/opencl/driver.c", "engine/driver/hip/load.h"),
    ("bench/sim_speed.c", "tests/sim/device.h"),
    ("src/help/doctor/library.c", "code/codeobj/elf.h"),
    ("src/engine/core/plan.c", "command/cli.h"),
    ("src/engine/ops/softmax/softmax.c", "engine/ops/conv/conv.h"),
    ("src/engine/ops/norm/kernels/rows.h", "engine/ops/conv/kernels/args.h"),
    ("src/engine/ops/norm/kernels/rows.h", "engine/core/device.h"),
    ("src/dropin/miopen/plans.c", "engine/core/plan.h"),
    ("src/engine/core/plan.c", "engine/ops/conv/conv.h"),
    ("src/base/error.c", "engine/core/device.h"),
    ("src/code/isa/decode.c", "base/error.h"),
    ("sim/math/valu.c", "sim/state/wave.h"),
    ("sim/check/report.c", "sim/memory/memory.h"),
    ("sim/driver/dispatch.c", "sim/exec/exec.h"),
    ("sim/exec/dispatch.c", "sim/runner/runner.h"),
]
# A room's headers for others, where it has others of its own beside them.
PUBLIC = {"src/code/codeobj": {"buffer.h", "chip_names.h", "codeobj.h", "containers.h", "linked.h", "output.h",
                          "sha256.h", "tensile.h", "walk.h", "write.h", "zip.h"},
          "src/code/isa": {"encode.h", "isa.h", "rules.h"},
          "src/code/rewrite": {"aligned.h", "cures.h", "lower.h", "rewrite.h"},
          "sim/exec": set(), "sim/runner": {"runner.h"}} # sim/sim.h is the face of sim/exec


def read_table(root):
    """{room: rooms it may include}"""
    rooms = {}
    for line in open(os.path.join(root, "docs/ARCHITECTURE.md"), encoding="utf-8"):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and len(cells) == 3 and re.fullmatch(r"[\w/*]+/", cells[0]):
            allowed = set() if cells[2] == "nothing of ours" else set(re.split(r",\s*", cells[2]))
            path = os.path.join(root, cells[0])
            for folder in glob.glob(path) if "*" in cells[0] else [path]:
                room = os.path.relpath(folder, root)
                own = room.removeprefix("src/") + "/kernels"
                rooms[room] = {own if name == "its own kernels" else name.rstrip("/") for name in allowed}
    return rooms


def room_of(path, rooms):
    """The room that a file below the root lies in, or None."""
    while path and path not in rooms:
        path = os.path.dirname(path)
    return path or None


def may(room, other, rooms):
    """Whether `room` may know `other`; the table calls src/engine/core engine/core."""
    names = (other, other.removeprefix("src/"))
    return room == other or any(
        allowed == "all" or fnmatch.fnmatch(name, allowed) for allowed in rooms[room] for name in names)


def resolve(root, path, name):
    """Where an include of a file leads, below the root; None: a system header or a generated file."""
    for folder in (os.path.dirname(path), "src", "include", ""):
        candidate = os.path.normpath(os.path.join(folder, name))
        if os.path.exists(os.path.join(root, candidate)):
            return candidate
    return None


def judge(path, target, rooms):
    """The reason why `path` must not include `target`, or None."""
    room, other = room_of(path, rooms), room_of(target, rooms)
    if not room or not other:
        return f"{path if not room else target}: in no room of the table"
    if not may(room, other, rooms):
        return f"{path} includes {target}: {room} may not include {other}"
    if room != other and "all" not in rooms[room] and other in PUBLIC and os.path.basename(target) not in PUBLIC[other]:
        return f"{path} includes {target}, which is private to {other}"
    return None


def includes(root, rooms):
    files = subprocess.run(["git", "-C", root, "ls-files", "src", "sim", "include", "tools", "bench", "examples"],
                           capture_output=True, text=True)
    names = files.stdout.split("\n") if files.returncode == 0 else [
        os.path.relpath(os.path.join(folder, name), root)
        for top in ("src", "sim", "include", "tools", "bench", "examples")
        for folder, _, inside in os.walk(os.path.join(root, top)) for name in inside]
    count, wrong = 0, []
    for path in sorted(name for name in names if re.search(r"\.(c|h|cl|inc)$", name)):
        if not os.path.exists(os.path.join(root, path)):
            continue
        text = open(os.path.join(root, path), encoding="utf-8").read()
        for name in re.findall(r'^\s*#\s*include "([^"]+)"', text, re.M):
            target = resolve(root, path, name)
            if not target:
                continue
            count += 1
            reason = judge(path, target, rooms)
            if reason:
                wrong.append(reason)
    return count, wrong


def source_of(build, path, sources):
    """The source of an object: its folder's own, or named with underscores for slashes."""
    folder, name = os.path.dirname(os.path.dirname(path)), os.path.basename(path)[:-2]
    return sources.get(os.path.relpath(os.path.join(folder, name), build))


def symbols(root, build, rooms):
    """Every undefined symbol of an object, and the room that defines it."""
    sources = {}
    for top in ("src", "sim"):
        for folder, _, inside in os.walk(os.path.join(root, top)):
            for name in inside:
                if name.endswith(".c"):
                    path = os.path.relpath(os.path.join(folder, name), root)
                    parts = path.split("/") # an object lies where its library is made, which may be further up
                    for i in range(len(parts)):
                        sources["/".join(parts[:i] + ["_".join(parts[i:])])] = path
    objects = {}
    for folder, _, inside in os.walk(build):
        for name in inside:
            path = os.path.join(folder, name)
            source = source_of(build, path, sources) if name.endswith(".c.o") else None
            if source and "/tests/" not in path[len(build):]:
                objects[path] = source
    defined, needed = {}, []
    listing = subprocess.run(["nm", "-A", *objects], capture_output=True, text=True, check=True).stdout
    for path, kind, symbol in re.findall(r"^(.*):\s*[0-9a-f]*\s+(\S)\s+(\S+)$", listing, re.M):
        source = objects[path]
        if kind == "U":
            needed.append((source, symbol))
        elif kind.isupper() and not os.path.basename(source).startswith("interpose"):
            defined.setdefault(symbol, source) # what stands before the C library is meant for others
    wrong = set()
    for source, symbol in needed:
        target = defined.get(symbol)
        if target and not may(room_of(source, rooms), room_of(target, rooms), rooms):
            wrong.add(f"{source} links with {symbol} of {target}: "
                      f"{room_of(source, rooms)} may not use {room_of(target, rooms)}")
    return len(needed), len(defined), sorted(wrong)


def named(root):
    """Lines of src/engine/core that name an operation; the core must know none of them."""
    names = [name.removesuffix(".c") for folder in ("src/engine/ops", "src/engine/elements/special")
             for name in os.listdir(os.path.join(root, folder))]
    others = "|".join(re.escape(name) for name in names if name != "conv")
    # An operation may be called like an everyday word: of the others, functions, structs and files count.
    pattern = re.compile(rf"(?<![a-z])convol|(?<![a-z])conv\b|rmcp_(conv|{others})_|(conv|ops/({others}))/", re.I)
    wrong = []
    for name in sorted(os.listdir(os.path.join(root, "src/engine/core"))):
        for number, line in enumerate(open(os.path.join(root, "src/engine/core", name), encoding="utf-8"), 1):
            if pattern.search(line):
                wrong.append(f"src/engine/core/{name}:{number} names an operation: {line.strip()}")
    return wrong


def main():
    root, build = map(os.path.abspath, sys.argv[1:3])
    rooms = read_table(root)
    if len(rooms) < 10:
        sys.exit("the table of docs/ARCHITECTURE.md was not found")
    known = set(rooms) | {name.removeprefix("src/") for name in rooms} | {"all"}
    unknown = sorted(name for name in {name for allowed in rooms.values() for name in allowed}
                     if not fnmatch.filter(known, name) and not name.endswith("/kernels"))
    missing = sorted(room for room in rooms if not os.path.isdir(os.path.join(root, room)))
    n_includes, wrong = includes(root, rooms)
    n_needed, n_defined, linked = symbols(root, build, rooms)
    wrong += linked + named(root)
    wrong += [f"the table allows '{name}', which is no folder of it" for name in unknown]
    wrong += [f"the table has a row for {room}, which is not there" for room in missing]
    for path, target in PLANTED:
        if not judge(path, target if target.startswith(("tests/", "sim/")) else "src/" + target, rooms):
            wrong.append(f"{path} including {target} would not be seen")
    for reason in wrong:
        print(reason)
    print(f"{len(rooms)} rooms, {n_includes} includes, {n_needed} uses of {n_defined} symbols, {len(PLANTED)} planted: "
          f"{len(wrong)} wrong")
    if n_includes < 300 or n_defined < 300:
        sys.exit("too little was found: nothing was checked")
    sys.exit(1 if wrong else 0)


main()
