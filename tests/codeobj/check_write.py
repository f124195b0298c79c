#!/usr/bin/env python3
"""Compares written code objects with the originals through LLVM's own tools, and tries written containers.

usage: check_write.py REWRITE SAMPLES             REWRITE is tests/codeobj/codeobj_rewrite
       check_write.py REWRITE --pairs FOLDER      N.old.co and N.new.co, as REWRITE --walk --out leaves them
"""
import bz2
import ctypes
import glob
import hashlib
import os
import re
import sqlite3
import subprocess
import sys

checks = 0


def expect(what, good):
    global checks
    checks += 1
    if not good:
        sys.exit(f"FAIL: {what}")


def run(*command, stderr=subprocess.STDOUT):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=stderr, text=True, errors="replace")
    return result.returncode, result.stdout


def tool(*command):
    """The output of one of LLVM's tools, which must not complain."""
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    expect(f"{' '.join(command)}: {result.stderr}", result.returncode == 0 and not result.stderr)
    return result.stdout


def disassembly(path):
    """Instructions by function, without addresses; what s_getpc is followed by has other distances."""
    functions, current, mask = {}, None, 0
    for line in tool("llvm-objdump-19", "-d", path).splitlines():
        start = re.match(r"^[0-9a-f]+ <(.*)>:$", line)
        if start:
            # What lies before the first function has the section's name.
            current = functions.setdefault(start[1], []) if start[1] != ".text" else None
            continue
        text = re.sub(r"\s*//.*", "", line).strip()
        if current is None or not text or text.startswith(("Disassembly", "...", path)):
            continue
        if text.startswith(("s_code_end", "s_nop")):  # between functions
            continue
        text = re.sub(r"<[^>]*>", "", text)
        if text.startswith("s_getpc_b64"):
            mask = 6
        if mask and text.startswith(("s_add_u32", "s_addc_u32", "s_add_i32")):
            text = re.sub(r"(0x[0-9a-f]+|-?\d+)$", "LITERAL", text)
        mask = max(0, mask - 1)
        current.append(text)
    return functions


def symbols(path):
    rows = []
    for line in tool("llvm-readelf-19", "-sW", path).splitlines():
        row = line.split()
        if len(row) == 8 and row[0].endswith(":") and row[0] != "Num:":
            rows.append((row[2], row[3], row[4], row[5], row[7]))
    return rows


def notes(path):
    text = tool("llvm-readelf-19", "-nW", path)
    return text[text.find("AMDGPU Metadata"):]


def hashes(path):
    """Symbols as a loader finds them: by the hash tables, which name them in their order."""
    return tool("llvm-readelf-19", "--hash-symbols", "--gnu-hash-table", path)


def compare(old, new):
    tool("llvm-readelf-19", "-aW", new)
    expect(f"symbols of {new}", symbols(old) == symbols(new))
    expect(f"notes of {new}", notes(old) == notes(new))
    before, after = disassembly(old), disassembly(new)
    expect(f"functions of {new}", list(before) == list(after))
    for name, lines in before.items():
        differing = [pair for pair in zip(lines, after[name]) if pair[0] != pair[1]]
        expect(f"code of {name} in {old}: {len(lines)} and {len(after[name])} instructions, {differing[:3]}",
               lines == after[name])
    names = re.compile(r"\S+$")
    for line, other in zip(hashes(old).splitlines(), hashes(new).splitlines()):
        if "FUNC" in line or "OBJECT" in line:
            expect(f"hash tables of {new}", names.search(line)[0] == names.search(other)[0])


def objects(samples):
    chosen = ("gfx1010-v4", "gfx1030-v5", "gfx10-3-generic-v6", "gfx906-v5", "gfx90a_*", "gfx1100-v5", "linked*",
              "old-gfx906-v[23]", "stripped-v5", "no-sections-v5")
    for old in sorted(path for name in chosen for path in glob.glob(f"{samples}/{name}.co")):
        new = samples + "/written"
        for how in (("same",), ("spread", "2")):
            status, text = run(REWRITE, *how, old, new)
            refused = re.search(r"no-sections|-v2\.co", old)
            expect(f"{how} {old}: {text}", (status == 0) != bool(refused))
            expect(f"{old}: more than a line: {text}", text.count("\n") <= 1)
            if not status:
                compare(old, new)


# A library, a program and a program at fixed addresses, all with the same fat binaries.
HOST = """
#include <stdint.h>
#include <stdio.h>
#include <string.h>
extern const struct wrapper { uint32_t magic, version; const unsigned char *data; uint64_t zero; } fat_a, fat_b;
__attribute__((visibility("default"))) const unsigned char *fat(int i) { return i ? fat_b.data : fat_a.data; }
int count = 41;
char much[1 << 20];
__attribute__((visibility("default"))) int answer(void) { return ++count + much[77]; }
#ifdef PROGRAM
int main(void)
{
    printf("%d %.24s %.24s\\n", answer(), (const char *)fat(0), (const char *)fat(1));
    return 0;
}
#endif
"""


def host(samples):
    source, wrappers = samples + "/host_main.c", samples + "/wrappers.s"
    with open(source, "w") as file:
        file.write(HOST)
    with open(wrappers, "w") as file:
        file.write('.section .hip_fatbin,"a",@progbits\n')
        for name, bundle in (("a", "plain.bundle"), ("b", "ccob-v2-zstd.bundle")):
            file.write(f'.p2align 12\nfat_data_{name}: .incbin "{samples}/{bundle}"\n')
        file.write('.section .hipFatBinSegment,"aw",@progbits\n.p2align 3\n')
        for name in "ab":
            file.write(f'.globl fat_{name}\n.hidden fat_{name}\nfat_{name}: .long 0x48495046, 1\n'
                       f'.quad fat_data_{name}, 0\n')
        file.write('.section .note.GNU-stack,"",@progbits\n')
    kinds = (("libhost2.so", ["-shared", "-fPIC", "-fvisibility=hidden"]),
             ("program", ["-DPROGRAM", "-fPIE", "-pie"]),
             ("fixed", ["-DPROGRAM", "-fno-pie", "-no-pie"]))
    for name, options in kinds:
        old, new = f"{samples}/{name}", f"{samples}/{name}.new"
        status, text = run("cc", "-O1", *options, source, wrappers, "-o", old)
        expect(f"cc {name}: {text}", status == 0)
        status, text = run(REWRITE, "file", "add=gfx1012:xnack-", "gfx1030", old, new)
        expect(f"{name}: {text}", status == 0 and "4 objects, 2 changed, 2 added" in text)
        for readelf in ("llvm-readelf-19", "readelf"):
            tool(readelf, "-aW", new)
        # No byte of code or data moved.
        sections = [line for line in tool("llvm-readelf-19", "-SW", old).splitlines() if " PROGBITS " in line]
        there = tool("llvm-readelf-19", "-SW", new)
        expect(f"sections of {name}", len(sections) > 5 and all(line in there for line in sections))
        expect(f"mode of {name}", os.stat(old).st_mode == os.stat(new).st_mode)
        if name.endswith(".so"):
            for path in (old, new):
                library = ctypes.CDLL(path)
                library.fat.restype = ctypes.c_void_p
                expect(f"{path} answers", library.answer() == 42)
                expect(f"{path} has fat binaries",
                       ctypes.string_at(library.fat(0), 24) == b"__CLANG_OFFLOAD_BUNDLE__" and
                       ctypes.string_at(library.fat(1), 4) == b"CCOB" and library.fat(0) % 4096 == 0)
                table = ctypes.string_at(library.fat(0), 400)
                expect(f"{path} has the new code", (b"gfx1012:xnack-" in table) == (path == new))
        else:
            before, after = run(old), run(new)
            expect(f"{name} runs as before: {before} {after}", before == after and before[0] == 0)
        # GNU strip cannot lay out a table of segments that was moved, and says so; LLVM's can.
        stripped = new + ".stripped"
        tool("llvm-strip-19", new, "-o", stripped)
        if not name.endswith(".so"):
            expect(f"stripped {name} runs", run(stripped) == run(old))
        # Once more, over a file that was written already, with nothing to change: the same bytes.
        status, text = run(REWRITE, "file", "keep", "gfx1030", new, new + ".again")
        expect(f"again {name}: {text}", status == 0)
        with open(new, "rb") as one, open(new + ".again", "rb") as two:
            expect(f"{name} unchanged", one.read() == two.read())
        # All that is for other chips taken out: one entry of GPU code is left in each bundle.
        status, text = run(REWRITE, "file", "only", "gfx1012", new, new + ".only")
        expect(f"only gfx1012 in {name}: {text}", status == 0 and "6 objects, 4 changed, 0 added, 4 removed" in text)
        expect(f"{name} without others",
               run(REWRITE, "file", "spread", "gfx1030", new + ".only", new + ".none")[1].startswith(
                   "2 objects, 0 changed"))
        if not name.endswith(".so"):
            expect(f"{name} runs without others", run(new + ".only") == run(old))
        # And with a second change: the table of segments moves again.
        status, text = run(REWRITE, "file", "spread", "gfx1030", new, new + ".twice")
        expect(f"twice {name}: {text}", status == 0 and "2 changed" in text)
        if not name.endswith(".so"):
            expect(f"{name} runs after two changes", run(new + ".twice") == run(old))


    # An object alone cannot be taken out of itself.
    status, text = run(REWRITE, "file", "only", "gfx1012", samples + "/gfx1030-v5.co", samples + "/none.co")
    expect(f"only in an object: {text}", status == 1 and not os.path.exists(samples + "/none.co"))


def database(samples):
    old, new = samples + "/gfx1030_36.kdb", samples + "/written.kdb"
    status, text = run(REWRITE, "file", "add=gfx1010:xnack-", "gfx1030", old, new)
    expect(f"database: {text}", status == 0)
    with open(new, "rb") as file:
        expect("it is SQLite", file.read(16) == b"SQLite format 3\0")
    db = sqlite3.connect(new)
    expect("integrity", db.execute("PRAGMA integrity_check").fetchone() == ("ok",))
    rows = db.execute("SELECT kernel_name, kernel_args, kernel_blob, kernel_hash, uncompressed_size "
                      "FROM kern_db ORDER BY id").fetchall()
    expect("rows", [row[0] for row in rows] == ["one.cpp.o", "two.s.o", "three.cl.o"])
    for name, arguments, blob, digest, size in rows:
        data = bz2.decompress(blob) if size else blob
        expect(f"size of {name}", not size or len(data) == size)
        expect(f"hash of {name}", hashlib.md5(data).hexdigest() == digest)
        changed = name != "two.s.o"
        expect(f"arguments of {name}", arguments == ("-mcpu=gfx1010" if changed else "-mcpu=gfx1030"))
    with open(samples + "/written.co", "wb") as file:
        file.write(bz2.decompress(rows[0][2]))
    tool("llvm-readelf-19", "-aW", samples + "/written.co")
    db.close()


def pairs(folder):
    for old in sorted(glob.glob(folder + "/*.old.co")):
        compare(old, old.replace(".old.", ".new."))


def main():
    if sys.argv[2] == "--pairs":
        pairs(sys.argv[3])
    else:
        objects(sys.argv[2])
        host(sys.argv[2])
        database(sys.argv[2])
    print(f"{checks} checks")


REWRITE = sys.argv[1]
main()
