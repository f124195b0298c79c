#!/usr/bin/env python3
"""Gives Debian's MIOpen its Winograd kernels for gfx1010, whose sources are not in the package: it ends where it would
compile one.

usage: miopen_winograd.py KERNELS DATABASE [CLANG]

KERNELS is src/kernels of MIOpen's own sources (github.com/ROCm/MIOpen, 6.3 or a release near it), DATABASE the cache of
compiled kernels that MIOpen looks into first: ~/.cache/miopen/3.4.0./gfx1010_18.ukdb for 6.4.3 on 18 WGPs. f32 only.
Needs a clang for amdgcn.
"""
import glob
import hashlib
import os
import sqlite3
import subprocess
import sys
import tempfile

OPTIONS = ["-Wa,-defsym,ROCM_METADATA_VERSION=5", "-Wa,-defsym,FORCE_CACHE_BYPASS_ON_STORE=0", "-mcumode",
           "-mwavefrontsize64"]
TABLE = """CREATE TABLE IF NOT EXISTS kern_db (id INTEGER PRIMARY KEY ASC, kernel_name TEXT NOT NULL, \
kernel_args TEXT NOT NULL,
kernel_blob BLOB NOT NULL, kernel_hash TEXT NOT NULL, uncompressed_size INT NOT NULL)"""
INDEX = "CREATE UNIQUE INDEX IF NOT EXISTS idx_kern_db ON kern_db(kernel_name, kernel_args)"


def assemble(clang, source):
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "kernel.o")
        subprocess.run([clang, "-x", "assembler", "-target", "amdgcn-amd-amdhsa", "-mcode-object-version=5",
                        "-mcpu=gfx1010:xnack-"] + OPTIONS + [os.path.basename(source), "-o", target],
                       check=True, cwd=os.path.dirname(source) or ".")
        with open(target, "rb") as file:
            return file.read()


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    sources = sorted(glob.glob(os.path.join(sys.argv[1], "Conv_Winograd_v30_3_1_fp32_*.s")))
    if not sources:
        sys.exit("%s: no Conv_Winograd_v30_3_1_fp32_*.s" % sys.argv[1])
    os.makedirs(os.path.dirname(os.path.abspath(sys.argv[2])), exist_ok=True)
    with sqlite3.connect(sys.argv[2]) as database:
        database.execute(TABLE)
        database.execute(INDEX)
        for source in sources:
            code = assemble(sys.argv[3] if len(sys.argv) > 3 else "clang-21", os.path.abspath(source))
            # Not compressed: the size is 0.
            database.execute("INSERT OR REPLACE INTO kern_db (kernel_name, kernel_args, kernel_blob, kernel_hash, "
                             "uncompressed_size) VALUES (?, ?, ?, ?, 0)",
                             (os.path.basename(source) + ".o", " ".join(OPTIONS + ["-mcpu=gfx1010"]), code,
                              hashlib.md5(code).hexdigest()))
            print(os.path.basename(source), len(code), "bytes")


main()
