#!/usr/bin/env python3
"""Makes code objects, bundles, a host library, a wheel and a kernel database for the tests.

usage: codeobj_samples.py FOLDER     exit status 77 when LLVM 19 is not there
"""
import bz2
import hashlib
import os
import shutil
import sqlite3
import struct
import subprocess
import sys
import zipfile
import zlib

SOURCE = """
#define ID __builtin_amdgcn_workitem_id_x()
__attribute__((noinline)) static float twice(float v) { return v * 2 + ID; }
__kernel void plain(__global float *x, int n) { x[ID] = n; }
__kernel __attribute__((reqd_work_group_size(64, 2, 1)))
void shared(__global float *x, __local float *s, float f, __global const int *table)
{
    __local float fixed[256];
    fixed[ID] = x[ID] + s[ID];
    __builtin_amdgcn_s_barrier();
    x[ID] = fixed[ID ^ 1] * f + table[0];
}
__kernel void hidden(__global int *x)
{
    x[ID] = ((__constant int *)__builtin_amdgcn_implicitarg_ptr())[3];
}
__kernel void scratch(__global float *x, int n)
{
    float a[64];
    for (int i = 0; i < 64; i++) a[i] = x[i * n];
    for (int i = 0; i < 64; i++) x[i] = a[(i * n) & 63];
}
__kernel void calls(__global float *x) { x[ID] = twice(x[ID]); }
__kernel void v(__global float *x) { *x = 1; }
"""


def run(*command):
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)


def align(data, to):
    return data + bytes(-len(data) % to)


def ccob(version, method, data):
    body = zlib.compress(data) if method == 0 else zstd(data)
    check = hashlib.md5(data).digest()[:8]
    sizes = {1: struct.pack("<I", len(data)),
             2: struct.pack("<II", 24 + len(body), len(data)),
             3: struct.pack("<QQ", 32 + len(body), len(data))}[version]
    return b"CCOB" + struct.pack("<HH", version, method) + sizes + check + body


def zstd(data):
    """A zstd frame of raw blocks: there is no zstd in this Python's library."""
    frame = b"\x28\xb5\x2f\xfd" + bytes([0xe0]) + struct.pack("<Q", len(data))
    blocks = [data[i:i + 100000] for i in range(0, len(data), 100000)] or [b""]
    for i, block in enumerate(blocks):
        frame += struct.pack("<I", (i == len(blocks) - 1) | len(block) << 3)[:3] + block
    return frame


def bundle(entries):
    """What clang-offload-bundler writes, so that bundles can be made where it is missing."""
    ids = [(name.encode(), data) for name, data in entries]
    table = 32 + sum(24 + len(name) for name, _ in ids)
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(ids))
    start = table + -table % 4096
    body = b""
    for name, data in ids:
        head += struct.pack("<QQQ", start + len(body), len(data), len(name)) + name
        body = align(body + data, 4096)
    return align(head, 4096) + body


def code_objects(folder):
    source = folder + "/sample.cl"
    with open(source, "w") as file:
        file.write(SOURCE)
    wanted = [(chip, version) for chip in ("gfx1010", "gfx1030", "gfx906") for version in (4, 5, 6)]
    wanted += [("gfx90a:xnack+:sramecc-", 5), ("gfx1010:xnack-", 4), ("gfx1012:xnack+", 5),
               ("gfx1100", 5), ("gfx10-1-generic", 6), ("gfx10-3-generic", 6), ("gfx9-generic", 6)]
    flags = ["-x", "cl", "-cl-std=CL1.2", "-target", "amdgcn-amd-amdhsa", "-O1", "-nogpulib", source]
    for chip, version in wanted:
        run("clang-19", f"-mcpu={chip}", f"-mcode-object-version={version}", *flags,
            "-o", f"{folder}/{chip.replace(':', '_')}-v{version}.co")
    run("clang-19", "-mcpu=gfx1010", "-mcode-object-version=5", "-c", *flags,
        "-o", folder + "/relocatable-v5.o")
    # Linkers put the notes of all parts behind each other, and a build id behind these.
    with open(folder + "/second.cl", "w") as file:
        file.write("__kernel void second(__global int *x, int n) { *x = n; }\n")
    for chip, name, version in (("gfx1010", "linked", 5), ("gfx1010:xnack-", "linked_xnack-", 4)):
        parts = [f"{folder}/{name}.{i}" for i in range(2)]
        for text, part in ((source, parts[0]), (folder + "/second.cl", parts[1])):
            run("clang-19", f"-mcpu={chip}", f"-mcode-object-version={version}", "-c", *flags[:-1],
                text, "-o", part)
        run("ld.lld-19", "-shared", "--build-id", *parts, "-o", f"{folder}/{name}-v{version}.co")
    whole = folder + "/gfx1010-v5.co"
    run("llvm-strip-19", whole, "-o", folder + "/stripped-v5.co")
    run("llvm-objcopy-19", "--strip-sections", whole, folder + "/no-sections-v5.co")
    if shutil.which("clang-14"):  # the last one that writes versions 2 and 3
        for version in (2, 3):
            name = f"{folder}/old-gfx906-v{version}"
            run("clang-14", "-mcpu=gfx906", f"-mcode-object-version={version}", "-c", *flags,
                "-o", name + ".o")
            run("ld.lld-19", "-shared", name + ".o", "-o", name + ".co")


def containers(folder):
    def read(name):
        with open(f"{folder}/{name}", "rb") as file:
            return file.read()

    def write(name, data):
        with open(f"{folder}/{name}", "wb") as file:
            file.write(data)

    triple = "hipv4-amdgcn-amd-amdhsa--"
    host = "host-x86_64-unknown-linux-gnu-"
    one, two = read("gfx1010-v5.co"), read("gfx1030-v5.co")
    plain = bundle([(host, b""), (triple + "gfx1010", one), (triple + "gfx1030", two)])
    small = bundle([(host, b""), (triple + "gfx906", read("gfx906-v4.co"))])
    write("plain.bundle", plain)
    if shutil.which("clang-offload-bundler-19"):
        write("empty", b"")
        common = ["clang-offload-bundler-19", "-type=o", "-bundle-align=4096",
                  f"-targets={host},{triple}gfx1010,{triple}gfx1030", f"-input={folder}/empty",
                  f"-input={folder}/gfx1010-v5.co", f"-input={folder}/gfx1030-v5.co"]
        run(*common, f"-output={folder}/clang.bundle")
        run(*common, "-compress", f"-output={folder}/clang-compressed.bundle")
    for version in (1, 2, 3):
        for method in (0, 1):
            write(f"ccob-v{version}-{'zstd' if method else 'zlib'}.bundle",
                  ccob(version, method, plain))
    write("other.bundle", bundle([(triple + "gfx1010", b"BC\xc0\xde" + bytes(60)),
                                  ("hip-spirv64-amd-amdhsa--amdgcnspirv",
                                   struct.pack("<I", 0x07230203) + bytes(60))]))
    many = align(plain, 4096) + align(ccob(2, 0, small), 4096) + align(ccob(1, 0, small), 4096)
    many += align(ccob(3, 1, plain), 4096) + small
    write("many.bundle", many)
    write("concatenated.co", one + bytes(100) + two + b"text" + small)
    write("text.bundle", b"# __CLANG_OFFLOAD_BUNDLE____START__ hip-amdgcn-amd-amdhsa--gfx1010\n"
          b"code\n# __CLANG_OFFLOAD_BUNDLE____END__ hip-amdgcn-amd-amdhsa--gfx1010\n")
    with open(folder + "/host.s", "w") as file:
        file.write('.section .hip_fatbin,"a",@progbits\n.p2align 12\nfat:\n'
                   f'.incbin "{folder}/many.bundle"\n.section .hipFatBinSegment,"aw",@progbits\n'
                   '.p2align 3\n.long 0x48495046\n.long 1\n.quad fat\n.quad 0\n'
                   f'.section .rodata\nname: .asciz "__CLANG_OFFLOAD_BUNDLE__"\n.incbin "{folder}/gfx906-v4.co"\n')
    run("cc", "-shared", "-nostdlib", folder + "/host.s", "-o", folder + "/libhost.so")
    run("llvm-objcopy-19", "--strip-sections", folder + "/libhost.so", folder + "/libbare.so")

    for name, options in (("wheel.whl", {}), ("zip64.zip", {"force_zip64": True})):
        with zipfile.ZipFile(f"{folder}/{name}", "w") as archive:
            archive.writestr("pkg/__init__.py", "print('hello')\n")
            archive.writestr("pkg/lib/", "")
            for method, member in ((zipfile.ZIP_DEFLATED, "pkg/lib/libhost.so"),
                                   (zipfile.ZIP_STORED, "pkg/lib/kernels.co")):
                info = zipfile.ZipInfo(member)
                info.compress_type = method
                with archive.open(info, "w", **options) as out:
                    out.write(read("libhost.so") if member.endswith("so") else one)
    for name, journal in (("gfx1030_36.kdb", "DELETE"), ("wal.kdb", "WAL")):
        path = f"{folder}/{name}"
        if os.path.exists(path):
            os.remove(path)
        db = sqlite3.connect(path)
        db.execute(f"PRAGMA journal_mode={journal}")
        db.execute("CREATE TABLE `kern_db` (`id` INTEGER PRIMARY KEY ASC,`kernel_name` TEXT NOT NULL"
                   ",`kernel_args` TEXT NOT NULL,`kernel_blob` BLOB NOT NULL,`kernel_hash` TEXT NOT "
                   "NULL,`uncompressed_size` INT NOT NULL)")
        for kernel, data, packed in (("one.cpp.o", two, True), ("two.s.o", one, False),
                                     ("three.cl.o", plain, True)):
            blob = bz2.compress(data) if packed else data
            db.execute("INSERT INTO kern_db (kernel_name, kernel_args, kernel_blob, kernel_hash, "
                       "uncompressed_size) VALUES (?, ?, ?, ?, ?)",
                       (kernel, "-mcpu=gfx1030", blob, hashlib.md5(data).hexdigest(),
                        len(data) if packed else 0))
        db.commit()
        db.close()
    tree = folder + "/tree/a/b"
    os.makedirs(tree, exist_ok=True)
    write("tree/a/b/kernels.hsaco", one)
    write("tree/z.co", two)
    os.symlink("..", tree + "/loop")
    os.symlink("../z.co", folder + "/tree/a/link.co")
    os.mkfifo(folder + "/tree/pipe")


def main():
    folder = sys.argv[1]
    for tool in ("clang-19", "ld.lld-19", "llvm-readelf-19", "llvm-objdump-19", "cc"):
        if not shutil.which(tool):
            print(f"skipped: no {tool}")
            return 77
    code_objects(folder)
    containers(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
