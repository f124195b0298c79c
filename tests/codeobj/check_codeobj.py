#!/usr/bin/env python3
"""Compares what src/code/codeobj reads with what LLVM's own tools say of the same files.

usage: check_codeobj.py DUMP SAMPLES           DUMP is tests/codeobj/codeobj_dump
       check_codeobj.py DUMP --items FILE      a selection of what `DUMP --walk` printed to FILE
"""
import glob
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

checks = 0


def expect(what, ours, theirs):
    global checks
    checks += 1
    if ours != theirs:
        sys.exit(f"{what}: ours {ours!r}, theirs {theirs!r}")


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, errors="replace").stdout


def dump(*arguments):
    return [json.loads(line) for line in output(DUMP, *arguments).splitlines()]


def note_kernels(text):
    """The kernels of `llvm-readelf --notes`, which prints them as YAML of one fixed shape."""
    kernels, target, in_args = [], "", False
    for line in text.splitlines():
        match = re.match(r"^(\s*)(- )?(\.\w+):\s*(.*)$", line)
        if line.startswith("amdhsa.target:"):
            target = line.split(":", 1)[1].strip().strip("'")
        if not match:
            continue
        indent, dash, key, value = len(match[1]), match[2], match[3], match[4].strip("'")
        if indent == 2 and dash:
            kernels.append({".args": []})
        if indent + (2 if dash else 0) == 4:
            in_args = key == ".args"
            kernels[-1].setdefault(key, value)
        elif in_args:
            if dash:
                kernels[-1][".args"].append({})
            kernels[-1][".args"][-1][key] = value
    return kernels, target


NUMBERS = (".group_segment_fixed_size", ".private_segment_fixed_size", ".kernarg_segment_size",
           ".kernarg_segment_align", ".sgpr_count", ".vgpr_count", ".sgpr_spill_count",
           ".vgpr_spill_count", ".wavefront_size", ".max_flat_workgroup_size")


def check_kernels(path, head, ours):
    kernels, target = note_kernels(output("llvm-readelf-19", "--notes", path))
    if head["version"] == 2:
        return
    expect(path + ": target in the note", head["note_target"], target)
    expect(path + ": number of kernels", len(ours), len(kernels))
    for mine, theirs in zip(ours, kernels):
        where = f"{path}: {theirs['.name']}"
        expect(where + " name", mine["name"], theirs[".name"])
        expect(where + " symbol", mine["symbol"], theirs[".symbol"])
        for key in NUMBERS:
            expect(f"{where} {key}", mine[key], int(theirs.get(key, 0)))
        arguments = [[a.get(".name", ""), a[".value_kind"], a.get(".address_space", ""),
                      int(a[".offset"]), int(a[".size"]), int(a[".value_kind"].startswith("hidden_"))]
                     for a in theirs[".args"]]
        expect(where + " arguments", mine["args"], arguments)


def check_symbols(path, ours):
    """Descriptors and code against the symbol table and the bytes of the file."""
    symbols = {}
    for line in output("llvm-readelf-19", "-s", "--dyn-syms", "-W", path).splitlines():
        field = line.split()
        if len(field) >= 8 and re.match(r"^\d+:$", field[0]):
            symbols[field[7]] = (int(field[1], 16), int(field[2], 0))
    segments = []
    for line in output("llvm-readelf-19", "-l", "-W", path).splitlines():
        field = line.split()
        if field and field[0] == "LOAD":
            segments.append([int(value, 16) for value in field[1:6]])
    with open(path, "rb") as file:
        data = file.read()
    for kernel in ours:
        address, size = symbols[kernel["symbol"]]
        expect(path + ": address of " + kernel["symbol"], kernel["kd_address"], address)
        offset = next(o + address - v for o, v, _, n, _ in segments if v <= address < v + n)
        code_address, code_size = symbols[kernel["name"]]
        if kernel["symbol"] == kernel["name"]:  # version 2: a header of 256 bytes, then the code
            code_address, code_size = address + 256, size - 256
        else:
            kd = struct.unpack_from("<III4xq20xIIIHH", data, offset)
            expect(path + ": fields of " + kernel["symbol"], kernel["kd"],
                   [kd[0], kd[1], kd[2], kd[3], kd[5], kd[6], kd[4], kd[7], kd[8]])
        expect(path + ": code of " + kernel["name"], kernel["address"], code_address)
        if code_size:  # Tensile's assembly does not say
            expect(path + ": size of " + kernel["name"], kernel["size"], code_size)


def check_flags(path, head):
    line = next(line for line in output("llvm-readelf-19", "-h", path).splitlines() if "Flags:" in line)
    words = [word.strip() for word in line.split(":", 1)[1].split(",")]
    expect(path + ": e_flags", head["e_flags"], int(words[0], 16))
    expect(path + ": chip", head["target"].split(":")[0], words[1])
    settings = sorted(word for word in words[2:] if word[-1] in "+-")
    if head["version"] >= 4:
        expect(path + ": settings", head["target"].split(":")[1:], settings)


def check_objects():
    for path in sorted(glob.glob(SAMPLES + "/*.co") + glob.glob(SAMPLES + "/*.o")):
        name = os.path.basename(path)
        if name == "concatenated.co":
            continue
        head, *kernels = dump(path)
        expect(path + ": version", head["version"], int(re.search(r"-v(\d)\.", name)[1]))
        expect(path + ": kernels with code", sum("address" in k for k in kernels),
               7 if name.startswith("linked") else 6)
        check_flags(path, head)
        if not name.startswith("no-sections") and not head["relocatable"]:
            check_kernels(path, head, kernels)
            check_symbols(path, kernels)
    # With the section headers gone everything is found by the program headers.
    for other in ("stripped-v5.co", "no-sections-v5.co"):
        expect(other, dump(f"{SAMPLES}/{other}")[1:], dump(SAMPLES + "/gfx1010-v5.co")[1:])


def disassembly(path, chip):
    lines = output("llvm-objdump-19", "-d", f"--mcpu={chip}", path).splitlines()
    return [re.sub(r"^.*file format", "file format", line) for line in lines]


def check_retag():
    out = SAMPLES + "/retagged"
    for name, target, flags in (
            ("gfx1010-v4.co", "gfx1030", 0x36), ("gfx1010-v5.co", "gfx1030", 0x36),
            ("gfx1010-v6.co", "gfx1030", 0x36), ("gfx1010_xnack--v4.co", "gfx1030", 0x36),
            ("gfx1010_xnack--v4.co", "gfx1012", 0x235), ("gfx1012_xnack+-v5.co", "gfx1031", 0x37),
            ("gfx1030-v5.co", "gfx1010", 0x133), ("gfx1010-v5.co", "gfx1011:xnack-", 0x234),
            ("gfx1010-v6.co", "gfx10-3-generic", 0x1000053), ("gfx10-1-generic-v6.co", "gfx1030", 0x36),
            ("linked-v5.co", "gfx1030", 0x36), ("linked-v5.co", "gfx1011:xnack-", 0x234),
            ("linked_xnack--v4.co", "gfx1030", 0x36), ("linked_xnack--v4.co", "gfx1012:xnack+", 0x335),
            ("no-sections-v5.co", "gfx1030", 0x36), ("no-sections-v5.co", "gfx1011:xnack+", 0x334),
            ("gfx906-v5.co", "gfx90c", 0x132), ("gfx906-v5.co", "gfx908:sramecc-", 0x930)):
        path = f"{SAMPLES}/{name}"
        subprocess.run([DUMP, path, target, out], check=True)
        before, *kernels = dump(path)
        head, *after = dump(out)
        where = f"{name} as {target}"
        expect(where + ": e_flags", head["e_flags"], flags)
        expect(where + ": target in the note", head["note_target"],
               "amdgcn-amd-amdhsa--" + head["target"])
        expect(where + ": kernels", after, kernels)
        check_flags(out, head)
        if not name.startswith("no-sections"):
            check_kernels(out, head, after)
            check_symbols(out, after)
            chip = "gfx906" if name.startswith("gfx906") else "gfx1010"
            expect(where + ": code", disassembly(out, chip), disassembly(path, chip))
        warnings = subprocess.run(["llvm-readelf-19", "-a", out], stderr=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL, text=True).stderr
        known = subprocess.run(["llvm-readelf-19", "-a", path], stderr=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, text=True).stderr
        expect(where + ": warnings", warnings.replace(out, path), known)
        with open(path, "rb") as old, open(out, "rb") as new:
            a, b = old.read(), new.read()
        if len(target) == 7 and ":" not in before["target"] and "generic" not in before["target"]:
            changed = [i for i in range(len(a)) if a[i] != b[i]]
            expect(where + ": only flags and note differ", len(a) == len(b) and len(changed) <= 6, True)
    for name, target in (("gfx906-v5.co", "gfx1010"), ("gfx1010-v5.co", "gfx906"),
                         ("gfx1010-v5.co", "gfx1100"), ("gfx1010-v5.co", "gfx10-1-generic"),
                         ("gfx1010-v5.co", "gfx9999"), ("gfx1010-v5.co", "gfx1030:xnack+")):
        done = subprocess.run([DUMP, f"{SAMPLES}/{name}", target, out], stderr=subprocess.DEVNULL)
        expect(f"{name} as {target} is refused", done.returncode, 1)


ONE, TWO, OLD = ("hipv4-amdgcn-amd-amdhsa--" + chip for chip in ("gfx1010", "gfx1030", "gfx906"))


def check_walks():
    def paths(name, kind="object"):
        found = dump("--walk", f"{SAMPLES}/{name}")
        for item in found:
            expect(item["path"] + ": error", item["error"], "")
            if item["kind"] == "object":
                expect(item["path"] + ": kernels", item["kernels"], 6)
            if item["id"] and item["kind"] == "object":
                expect(item["path"] + ": target", item["target"], item["id"].split("--")[1])
        return [item["path"].replace(SAMPLES + "/", "") for item in found if item["kind"] == kind]

    many = [f"bundle 1: {ONE}", f"bundle 1: {TWO}", f"bundle 2: {OLD}", f"bundle 3: {OLD}",
            f"bundle 4: {ONE}", f"bundle 4: {TWO}", f"bundle 5: {OLD}"]
    for path in glob.glob(SAMPLES + "/*.bundle"):
        name = os.path.basename(path)
        if name in ("many.bundle", "other.bundle", "text.bundle"):
            continue
        expect(name, paths(name), [f"{name}: bundle 1: {ONE}", f"{name}: bundle 1: {TWO}"])
    expect("many", paths("many.bundle"), ["many.bundle: " + path for path in many])
    expect("other", len(paths("other.bundle", "other")), 2)
    expect("text", dump("--walk", SAMPLES + "/text.bundle"), [])
    expect("concatenated", paths("concatenated.co"),
           ["concatenated.co: offset 0x0", "concatenated.co: offset 0x230c",
            f"concatenated.co: bundle 1: {OLD}"])
    library = [".hip_fatbin " + path for path in many]
    expect("host library", [p.split(": ", 1)[1] for p in paths("libhost.so") if "offset" not in p],
           library)
    expect("in its other sections", sum("offset" in path for path in paths("libhost.so")), 1)
    expect("without sections", [p.split(": ", 1)[1] for p in paths("libbare.so") if "offset" not in p],
           many)
    for name in ("wheel.whl", "zip64.zip"):
        found = paths(name)
        expect(name, found[-1], name + ": pkg/lib/kernels.co")
        expect(name, [p for p in found if ".hip_fatbin" in p],
               [f"{name}: pkg/lib/libhost.so: {path}" for path in library])
    for name in ("gfx1030_36.kdb", "wal.kdb"):
        expect(name, paths(name), [f"{name}: row 1 one.cpp.o", f"{name}: row 2 two.s.o",
                                   f"{name}: row 3 three.cl.o: bundle 1: {ONE}",
                                   f"{name}: row 3 three.cl.o: bundle 1: {TWO}"])
    expect("folder", paths("tree"), ["tree/a/b/kernels.hsaco", "tree/z.co"])


def check_items(listing):
    with open(listing) as file:
        items = [json.loads(line) for line in file]
    # What was compressed is no longer there; the largest take LLVM minutes.
    items = [item for item in items if item["kind"] == "object" and item["size"] < 20e6]
    kernels = 0
    chosen = items[::max(1, len(items) // 60)]
    for item in chosen:
        with open(item["path"].split(": ")[0], "rb") as file:
            file.seek(item["offset"])
            data = file.read(item["size"])
        with tempfile.NamedTemporaryFile() as copy:
            copy.write(data)
            copy.flush()
            head, *ours = dump(copy.name)
            check_flags(copy.name, head)
            check_kernels(copy.name, head, ours)
            check_symbols(copy.name, ours)
            kernels += len(ours)
    print(f"{len(chosen)} objects with {kernels} kernels")


DUMP, SAMPLES = sys.argv[1:3]
if SAMPLES == "--items":
    check_items(sys.argv[3])
else:
    check_objects()
    check_retag()
    check_walks()
print(f"{checks} comparisons with LLVM's tools and with what was put in")
