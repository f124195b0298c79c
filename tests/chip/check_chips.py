#!/usr/bin/python3
"""The table of chips against those who know: LLVM, pci.ids and libdrm's amdgpu.ids, where they are.
usage: check_chips.py CHIPS_DUMP"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

chips, parts = {}, []
for line in subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout.splitlines():
    kind, name, *rest = line.split("\t")
    if kind == "chip":
        mach, version, xnack, sramecc = map(int, rest)
        chips[name] = {"mach": mach, "version": version, "xnack": xnack, "sramecc": sramecc}
    else:
        parts.append((name, int(rest[0]), int(rest[1]), int(rest[2]), rest[3]))
assert len(chips) > 50 and len(parts) > 50, "the dump is cut off"

failures = 0


def check(good, message):
    global failures
    if not good:
        failures += 1
        print("FAIL:", message)


def chip_at(device):
    return next((name for name, first, last, _, _ in parts if first <= device <= last), None)


# ---- LLVM: the flags of an object that it makes ----
MODULE = "define amdgpu_kernel void @f() {\n  ret void\n}\n"


def llvm_flags(llc, chip, folder):
    """e_flags of an empty kernel; None when LLVM has no such chip."""
    source, out = os.path.join(folder, "f.ll"), os.path.join(folder, "f.o")
    version = 6 if chip.endswith("-generic") else 5
    with open(source, "w") as file:
        file.write('!llvm.module.flags = !{!0}\n!0 = !{i32 1, !"amdhsa_code_object_version", i32 %d00}\n' % version
                   + MODULE)
    run = subprocess.run([llc, "-mtriple=amdgcn-amd-amdhsa", "-mcpu=" + chip, "-filetype=obj", "-o", out, source],
                         capture_output=True, text=True)
    if run.returncode or "not a recognized processor" in run.stderr:
        return None
    with open(out, "rb") as file:
        return struct.unpack_from("<I", file.read(64), 48)[0]


def against_llvm(llc):
    listed = subprocess.run([llc, "-march=amdgcn", "-mcpu=help"], capture_output=True, text=True, input=MODULE)
    known = set(re.findall(r"^\s+(gfx[0-9a-z-]+)\s+- Select", listed.stdout + listed.stderr, re.M))
    check(len(known) > 40, "LLVM lists %d chips only" % len(known))
    for name in sorted(known):
        check(name in chips, "LLVM knows %s, which is not in the table" % name)
    n = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted(known & chips.keys()):
            flags, chip = llvm_flags(llc, name, folder), chips[name]
            check(flags is not None, "LLVM lists %s and does not compile for it" % name)
            if flags is None:
                continue
            n += 1
            check(flags & 0xff == chip["mach"], "%s is %#x to LLVM and %#x here" % (name, flags & 0xff, chip["mach"]))
            check(bool(flags >> 8 & 3) == bool(chip["xnack"]), "%s: xnack, flags %#x" % (name, flags))
            check(bool(flags >> 10 & 3) == bool(chip["sramecc"]), "%s: sramecc, flags %#x" % (name, flags))
    print("%d of %d chips are as LLVM has them" % (n, len(chips)))


# ---- pci.ids: the code names of what the numbers mean ----
CODE_NAMES = {
    "Kaveri": "gfx700", "Hawaii": "gfx701", "Topaz": "gfx802", "Tonga": "gfx802", "Fiji": "gfx803",
    "Ellesmere": "gfx803", "Baffin": "gfx803", "Lexa": "gfx803", "Polaris": "gfx803", "Vega 10": "gfx900",
    "Raven Ridge": "gfx902", "Picasso": "gfx902", "Vega 12": "gfx904", "Vega 20": "gfx906", "Arcturus": "gfx908",
    "Aldebaran": "gfx90a", "Barcelo": "gfx90c", "Renoir": "gfx90c", "Cezanne": "gfx90c", "Lucienne": "gfx90c",
    "Aqua Vanjaram": "gfx942", "Navi 10": "gfx1010", "Navi 12": "gfx1011", "Navi 14": "gfx1012",
    "Cyan Skillfish": "gfx1013", "Navi 21": "gfx1030", "Navi 22": "gfx1031", "Navi 23": "gfx1032",
    "VanGogh": "gfx1033", "Van Gogh": "gfx1033", "Navi 24": "gfx1034", "Rembrandt": "gfx1035",
    "Raphael": "gfx1036", "Granite Ridge": "gfx1036", "Mendocino": "gfx1036", "Navi 31": "gfx1100",
    "Navi 32": "gfx1101", "Navi 33": "gfx1102", "Phoenix": "gfx1103", "HawkPoint": "gfx1103", "Strix [": "gfx1150",
    "Strix Halo": "gfx1151", "Navi 44": "gfx1200", "Navi 48": "gfx1201",
}
NO_GPU = re.compile("Audio|USB|Bridge|Port|Coprocessor|UCSI|HDMI|Ethernet")


def against_pci_ids(path):
    n, is_amd = 0, False
    for line in open(path, encoding="utf-8", errors="replace"):
        if re.match("[0-9a-f]{4} ", line):
            is_amd = line.startswith("1002 ")
        row = re.match(r"\t([0-9a-f]{4})  (.*)", line) if is_amd else None
        if not row or NO_GPU.search(row[2]):
            continue
        for code_name, chip in CODE_NAMES.items():
            if row[2].startswith(code_name):
                n += 1
                check(chip_at(int(row[1], 16)) == chip, "%s is a %s, %s, and %s here" % (
                    row[1], row[2], chip, chip_at(int(row[1], 16))))
    check(n > 100, "pci.ids has only %d of these GPUs" % n)
    print("%d PCI numbers are as pci.ids has them" % n)


# ---- libdrm: the names of products ----
def against_libdrm(path):
    names = {}
    for line in open(path, encoding="utf-8", errors="replace"):
        row = re.match(r"([0-9A-F]{4}),\s*([0-9A-F]{2}),\s*(.*\S)", line)
        if row:
            names.setdefault((int(row[1], 16), int(row[2], 16)), []).append(row[3])
    n = 0
    for _, first, _, revision, name in parts:
        known = names.get((first, revision)) if revision else None
        n += bool(known)
        check(not known or "AMD " + name in known, "%04x, revision %02x: '%s', but %s to libdrm" % (
            first, revision, name, known))
    check(n > 10, "libdrm knows only %d of these products" % n)
    print("%d products are called as libdrm calls them" % n)


judges = 0
for judge, places in ((against_llvm, [shutil.which("llc-19") or "", "/usr/lib/llvm-19/bin/llc"]),
                      (against_pci_ids, ["/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids"]),
                      (against_libdrm, ["/usr/share/libdrm/amdgpu.ids"])):
    place = next((p for p in places if os.path.exists(p)), None)
    if place:
        judge(place)
        judges += 1
if not judges:
    print("skipped: neither LLVM 19 nor pci.ids nor amdgpu.ids is here")
    sys.exit(77)
sys.exit(failures > 0)
