#!/usr/bin/python3
"""check_aligned.py: what is proven of the alignment of LDS accesses, against what happens when the code runs.

usage: check_aligned.py SCAN RMCP [--kernels N] [--seed N]

Random kernels (sums, products, shifts and masks on vector and scalar registers; branches, loops and every way to change
EXEC, nested) end up with wide LDS accesses all over. They run in WGP mode on a simulated gfx1010, which reports each
access that is not aligned: none of these may be one that SCAN calls proven. And much must be proven: kernels of fixed
text say what.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

CLANG = os.environ.get("CLANG", "clang-19")
HEAD = """.amdgcn_target "amdgcn-amd-amdhsa--gfx1030"
"""
KERNEL = """.text
.globl {name}
.p2align 8
.type {name},@function
{name}:
{body}
    s_endpgm
.L{name}_end:
    .size {name}, .L{name}_end-{name}
    .rodata
    .p2align 6
    .amdhsa_kernel {name}
        .amdhsa_group_segment_fixed_size 8192
        .amdhsa_user_sgpr_private_segment_buffer 1
        .amdhsa_user_sgpr_kernarg_segment_ptr 1
        .amdhsa_next_free_vgpr 32
        .amdhsa_next_free_sgpr 100
        .amdhsa_wavefront_size32 {wave32}
    .end_amdhsa_kernel
"""
# Text, and what is proven of its accesses, in order: v0 is the lane, s[4:5] the arguments, which nobody knows.
FIXED = {
    "shifted": ("v_lshlrev_b32 v1, 4, v0\nds_write_b128 v1, v[8:11] offset:32\nds_write_b128 v1, v[8:11] offset:4\n"
                "ds_write_b64 v1, v[8:9] offset:8\nds_write2_b64 v1, v[8:9], v[10:11] offset1:3", "1011"),
    "unknown": ("ds_write_b64 v0, v[8:9]\nv_lshlrev_b32 v1, 2, v0\nds_write_b64 v1, v[8:9]\nv_and_b32 v1, -8, v1\n"
                "ds_write_b64 v1, v[8:9]\nds_write_b96 v1, v[8:10]", "0010"),
    # Written for some lanes only, and then used by all.
    "some_lanes": ("v_mov_b32 v1, v0\nv_cmp_gt_u32 vcc_lo, 5, v0\ns_and_saveexec_b32 s20, vcc_lo\n"
                   "v_lshlrev_b32 v1, 3, v0\nds_write_b64 v1, v[8:9]\ns_or_b32 exec_lo, exec_lo, s20\n"
                   "ds_write_b64 v1, v[8:9]", "10"),
    # Written for all before, used by some, by all again.
    "all_lanes": ("v_lshlrev_b32 v1, 3, v0\nv_cmp_gt_u32 vcc_lo, 5, v0\ns_and_saveexec_b32 s20, vcc_lo\n"
                  "v_add_nc_u32 v1, 8, v1\n"
                  "ds_write_b64 v1, v[8:9]\ns_xor_b32 s20, exec_lo, s20\ns_or_saveexec_b32 s20, s20\n"
                  "s_xor_b32 exec_lo, exec_lo, s20\nv_add_nc_u32 v1, 16, v1\ns_or_b32 exec_lo, exec_lo, s20\n"
                  "ds_write_b64 v1, v[8:9]", "11"),
    "other_lanes": ("v_lshlrev_b32 v1, 3, v0\nv_mov_b32 v1, v0\ns_mov_b32 exec_lo, 0xff\nv_lshlrev_b32 v1, 3, v0\n"
                    "ds_write_b64 v1, v[8:9]\ns_mov_b32 exec_lo, -1\nds_write_b64 v1, v[8:9]", "10"),
    # Lanes that were EXEC once, and are a part of it later.
    "lanes_of_before": ("v_cmp_gt_u32 vcc_lo, 5, v0\ns_and_saveexec_b32 s20, vcc_lo\ns_mov_b32 s22, exec_lo\n"
                        "s_or_b32 exec_lo, exec_lo, s20\nv_mov_b32 v1, v0\ns_mov_b32 exec_lo, s22\n"
                        "v_lshlrev_b32 v1, 3, v0\n"
                        "ds_write_b64 v1, v[8:9]\ns_mov_b32 exec_lo, s20\nds_write_b64 v1, v[8:9]", "10"),
    # Around a loop it is 8 more each time, and 4 more in the other.
    "loop": ("v_lshlrev_b32 v1, 3, v0\nv_mov_b32 v2, v1\ns_mov_b32 s20, 5\n"
             "1: ds_write_b64 v1, v[8:9]\nds_write_b64 v2, v[8:9]\n"
             "v_add_nc_u32 v1, 8, v1\nv_add_nc_u32 v2, 4, v2\ns_sub_u32 s20, s20, 1\ns_cmp_lg_u32 s20, 0\n"
             "s_cbranch_scc1 1b", "10"),
    "joined": ("s_load_dword s20, s[4:5], 0\nv_lshlrev_b32 v1, 3, v0\ns_waitcnt lgkmcnt(0)\ns_cmp_lg_u32 s20, 0\n"
               "s_cbranch_scc1 1f\nv_add_nc_u32 v1, 4, v1\nds_write_b64 v1, v[8:9] offset:8\n"
               "1: ds_write_b64 v1, v[8:9]\nv_lshlrev_b32 v1, 1, v1\n"
               "ds_write_b64 v1, v[8:9]", "001"),
    "loaded": ("ds_read_b32 v1, v0\ns_waitcnt lgkmcnt(0)\nds_write_b64 v1, v[8:9]\nv_lshl_add_u32 v1, v1, 3, 64\n"
               "ds_write_b64 v1, v[8:9]", "01"),
}


class Kernel:
    """Random text."""

    def __init__(self, rng, wave):
        self.rng, self.wave, self.lines, self.labels, self.saved = rng, wave, [], 0, 0
        self.exec, self.vcc = ("exec_lo", "vcc_lo") if wave == 32 else ("exec", "vcc")
        self.b = f"_b{wave}"

    def emit(self, text):
        self.lines.append("    " + text)

    def label(self):
        self.labels += 1
        return self.labels

    def v(self):
        return f"v{self.rng.randrange(0, 8)}"

    def s(self):
        return f"s{self.rng.randrange(10, 18)}"

    def place(self, n):
        return f"s{40 + 2 * n}" if self.wave == 32 else f"s[{40 + 2 * n}:{41 + 2 * n}]"

    def mask(self):
        """A place for a mask; nested ones differ most of the time."""
        self.saved = (self.saved + 1) % 12
        return self.place(self.saved)

    def constant(self):
        return self.rng.choice([0, 1, 2, 3, 4, 5, 8, 12, 16, 24, 32, 48, 64, "0xfff0", "0xff8", "-8", "-16", "0x210",
                                "0x104", hex(self.rng.getrandbits(16))])

    def source(self):
        roll = self.rng.random()
        return self.v() if roll < 0.6 else self.s() if roll < 0.75 else self.constant()

    def compute(self):
        r, to = self.rng, self.v()
        small = r.randrange(0, 6)
        kind = r.randrange(14)
        if kind < 4:
            op = r.choice(["v_add_nc_u32", "v_sub_nc_u32", "v_subrev_nc_u32", "v_and_b32", "v_or_b32", "v_xor_b32",
                           "v_mul_u32_u24", "v_min_u32", "v_max_i32", "v_xnor_b32"])
            self.emit(f"{op} {to}, {self.source()}, {self.v()}")
        elif kind < 7:
            self.emit(f"{r.choice(['v_lshlrev_b32', 'v_lshlrev_b32', 'v_lshrrev_b32', 'v_ashrrev_i32'])} {to}, "
                      f"{r.choice([small, small, self.v()])}, {self.v()}")
        elif kind == 7:
            op = r.choice(["v_lshl_add_u32", "v_add_lshl_u32", "v_lshl_or_b32"])
            middle = small if op != "v_add_lshl_u32" else self.v()
            self.emit(f"{op} {to}, {self.v()}, {middle}, {small if op == 'v_add_lshl_u32' else self.v()}")
        elif kind == 8:
            op = r.choice(["v_add3_u32", "v_or3_b32", "v_and_or_b32", "v_xad_u32", "v_mad_u32_u24", "v_bfi_b32",
                           "v_xor3_b32"])
            self.emit(f"{op} {to}, {self.v()}, {self.source()}, {self.v()}")
        elif kind == 9:
            self.emit(r.choice([f"v_mov_b32 {to}, {self.source()}", f"v_not_b32 {to}, {self.v()}",
                                f"v_bfe_u32 {to}, {self.v()}, {small}, {r.randrange(1, 9)}",
                                f"v_mul_lo_u32 {to}, {self.v()}, {self.s()}", f"v_lshl_add_u32 {to}, {self.v()}, 4, 0",
                                f"v_mov_b32_dpp {to}, {self.v()} quad_perm:[1,0,3,2] row_mask:0x5 bank_mask:0xf",
                                f"v_lshlrev_b32_sdwa {to}, {self.v()}, {self.v()} dst_sel:BYTE_0 "
                                "dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0 src1_sel:DWORD"]))
        elif kind == 10:
            self.emit(r.choice([f"v_readfirstlane_b32 {self.s()}, {self.v()}",
                                f"v_readlane_b32 {self.s()}, {self.v()}, {r.randrange(32)}",
                                f"v_writelane_b32 {to}, {self.s()}, {r.randrange(32)}",
                                f"v_cndmask_b32 {to}, {self.v()}, {self.v()}, {self.vcc}"]))
        else:
            op = r.choice(["s_add_u32", "s_sub_i32", "s_and_b32", "s_or_b32", "s_xor_b32", "s_mul_i32",
                           "s_lshl2_add_u32", "s_lshl4_add_u32", "s_cselect_b32", "s_min_u32", "s_andn2_b32"])
            self.emit(r.choice([f"{op} {self.s()}, {self.s()}, {self.constant()}",
                                f"s_lshl_b32 {self.s()}, {self.s()}, {small}",
                                f"s_lshr_b32 {self.s()}, {self.s()}, {small}",
                                f"s_movk_i32 {self.s()}, {r.choice([8, 16, 0x210, 6])}",
                                f"s_addk_i32 {self.s()}, {r.choice([8, 16, 4])}",
                                f"s_mulk_i32 {self.s()}, {r.choice([8, 6, 16])}"]))

    def access(self):
        """8 KB of LDS; v8 is used for nothing else."""
        r = self.rng
        if self.rng.random() < 0.5:
            self.emit(f"v_lshlrev_b32 {self.v()}, {r.choice([3, 4, 4, 5])}, {self.v()}")
        self.emit(f"v_and_b32 v8, {r.choice(['0xfff', '0xfff', '0xffc', '0x7ff'])}, {self.v()}")
        self.emit(r.choice([f"ds_write_b64 v8, v[10:11] offset:{r.choice([0, 8, 16, 20, 64])}",
                            f"ds_write_b128 v8, v[10:13] offset:{r.choice([0, 16, 8, 32])}",
                            f"ds_read_b96 v[14:16], v8 offset:{r.choice([0, 16])}",
                            f"ds_read2_b64 v[14:17], v8 offset1:{r.randrange(4)}"]))

    def compare(self):
        self.emit(f"v_cmp_{self.rng.choice(['gt', 'lt', 'ne', 'le'])}_u32 {self.vcc}, {self.source()}, {self.v()}")

    def branches(self, depth):
        r, b = self.rng, self.b
        kind, saved, end = r.randrange(11), self.mask(), self.label()
        if kind < 3:  # if, or if and else
            self.compare()
            self.emit(f"s_and_saveexec{b} {saved}, {self.vcc}")
            if kind == 2:
                self.emit(f"s_xor{b} {saved}, {self.exec}, {saved}")
            if r.random() < 0.7:
                self.emit(f"s_cbranch_execz .L{id(self)}_{end}")
            self.block(depth - 1)
            self.lines.append(f".L{id(self)}_{end}:")
            if kind == 2:
                self.emit(r.choice([f"s_or_saveexec{b} {saved}, {saved}", f"s_andn2_saveexec{b} {saved}, {saved}"]))
                if "s_or" in self.lines[-1]:
                    self.emit(f"s_xor{b} {self.exec}, {self.exec}, {saved}")
                self.block(depth - 1)
            self.emit(f"s_or{b} {self.exec}, {self.exec}, {saved}")
        elif kind == 3:  # some lanes leave a loop at a time
            counter = f"s{70 + depth}"
            done = self.mask()
            self.emit(f"s_mov_b32 {counter}, {r.randrange(1, 4)}")
            self.emit(f"s_mov{b} {saved}, {self.exec}")
            self.emit(f"s_mov{b} {done}, 0")
            self.lines.append(f".L{id(self)}_{end}:")
            self.block(depth - 1)
            self.compare()
            self.emit(f"s_or{b} {done}, {self.vcc}, {done}")
            self.emit(f"s_andn2{b} {self.exec}, {self.exec}, {done}")
            self.emit(f"s_sub_u32 {counter}, {counter}, 1")
            self.emit(f"s_cmp_lg_u32 {counter}, 0")
            self.emit(f"s_cbranch_scc1 .L{id(self)}_{end}")
            self.emit(f"s_mov{b} {self.exec}, {saved}" if r.random() < 0.5
                      else f"s_or{b} {self.exec}, {self.exec}, {saved}")
        elif kind == 4:  # all lanes go the same way
            self.emit(f"s_cmp_lt_u32 {self.s()}, {self.s()}")
            self.emit(f"s_cbranch_scc1 .L{id(self)}_{end}")
            self.block(depth - 1)
            self.lines.append(f".L{id(self)}_{end}:")
        elif kind == 5:
            self.emit(f"s_mov{b} {saved}, {self.exec}")
            self.emit(f"v_cmpx_gt_u32 {self.source()}, {self.v()}")
            self.block(depth - 1)
            self.emit(f"s_mov{b} {self.exec}, {saved}")
        elif kind == 6:  # every lane, whatever EXEC is
            self.emit(f"s_or_saveexec{b} {saved}, -1")
            self.block(depth - 1)
            self.emit(f"s_mov{b} {self.exec}, {saved}")
        elif kind == 7:  # lanes that nobody knows
            self.emit(f"s_mov{b} {saved}, {self.exec}")
            self.emit(f"s_mov_b32 exec_lo, {hex(r.getrandbits(31) | 1)}")
            self.block(depth - 1)
            self.emit(f"s_mov{b} {self.exec}, {r.choice([saved, saved, -1])}")
        elif kind < 10:  # lanes of long ago
            old = self.place(r.randrange(12))
            self.emit(f"s_mov{b} {saved}, {self.exec}")
            self.emit(r.choice([f"s_mov{b} {self.exec}, {old}", f"s_or{b} {self.exec}, {self.exec}, {old}",
                                f"s_and_saveexec{b} {old}, {old}"]))
            self.block(depth - 1)
            self.emit(f"s_mov{b} {self.exec}, {saved}")
        else:
            self.emit(f"s_mov{b} {saved}, {self.exec}")
            self.compare()
            self.emit(f"s_and{b} {self.exec}, {self.exec}, {self.vcc}")
            self.block(depth - 1)
            self.emit(f"s_cselect{b} {self.exec}, {saved}, {self.exec}")
            self.block(depth - 1)
            self.emit(f"s_or{b} {self.exec}, {self.exec}, {saved}")

    def block(self, depth):
        for _ in range(self.rng.randrange(1, 5)):
            roll = self.rng.random()
            if depth > 0 and roll < 0.25:
                self.branches(depth)
            elif roll < 0.5:
                self.access()
            else:
                self.compute()

    def text(self, name):
        for i in range(1, 20):
            self.emit(f"v_lshlrev_b32 v{i}, {i % 5}, v0" if i % 2 else f"v_mov_b32 v{i}, {16 * i}")
        for i in range(12):
            self.emit(f"s_mov{self.b} {self.place(i)}, {self.rng.choice([0, self.exec])}")
        for i in range(10, 18):
            self.emit(f"s_movk_i32 s{i}, {self.rng.choice([0, 4, 8, 16, 48, 0x210, 7])}")
        for _ in range(6):
            self.block(3)
        return "\n".join(self.lines).replace(str(id(self)), name)


def compile_and_list(arguments, folder, name, source, wave=32):
    """The object's path, and {kernel: [(offset, is proven)]} of its wide accesses."""
    path = os.path.join(folder, name)
    with open(path + ".s", "w") as file:
        file.write(source)
    subprocess.run([CLANG, "-x", "assembler", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1030",
                    f"-m{'no-' if wave == 32 else ''}wavefrontsize64", path + ".s", "-o", path + ".co"], check=True)
    text = subprocess.run([arguments.scan, "--wide", path + ".co"], check=True, capture_output=True, text=True).stdout
    if " 0 refused; " not in text:
        raise SystemExit(text)
    found = {}
    for kernel, offset, verdict in re.findall(r"^wide: (\S+) (0x[0-9a-f]+) (proven|open)", text, re.MULTILINE):
        found.setdefault(kernel, []).append((int(offset, 16), verdict == "proven"))
    return path + ".co", found


def check_random(arguments, folder, wave, seed):
    """Returns (accesses, proven, seen to be not aligned, wrongly proven)."""
    rng = random.Random(seed)
    names = [f"k{i}" for i in range(arguments.kernels)]
    source = HEAD + "".join(KERNEL.format(name=n, body=Kernel(rng, wave).text(n), wave32=int(wave == 32))
                            for n in names)
    path, found = compile_and_list(arguments, folder, f"random{wave}", source, wave)
    accesses = proven = bad = wrong = 0
    for name in names:
        run = subprocess.run([arguments.rmcp, "sim", "--kernel", path, name, "--chip", "gfx1010", "--checks=patterns",
                              "--reports", "100000", "--grid", "64", "--block", "64"], capture_output=True, text=True)
        if "completed" not in run.stdout and "reports" not in run.stdout:
            raise SystemExit(f"{name}: {run.stdout[-600:]}{run.stderr}")
        crooked = {int(o, 16) for o in re.findall(rf"lds-misaligned: [^\n]*\n  kernel {name}\+(0x[0-9a-f]+),",
                                                  run.stdout)}
        for offset, is_proven in found.get(name, []):
            accesses, proven, bad = accesses + 1, proven + is_proven, bad + (offset in crooked)
            if is_proven and offset in crooked:
                wrong += 1
                print(f"FAIL: wave{wave}, seed {seed}, {name}+{offset:#x} is proven, and not aligned")
    return accesses, proven, bad, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scan")
    parser.add_argument("rmcp")
    parser.add_argument("--kernels", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if not shutil.which(CLANG):
        print(f"skipped: {CLANG} is not installed")
        return 77
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        source = HEAD + "".join(KERNEL.format(name=n, body=text, wave32=1) for n, (text, _) in FIXED.items())
        _, found = compile_and_list(arguments, folder, "fixed", source)
        for name, (_, wanted) in FIXED.items():
            got = "".join(str(int(p)) for _, p in found.get(name, []))
            if got != wanted:
                failures += 1
                print(f"FAIL: {name}: {got}, not {wanted}")
        for wave in (32, 64):
            accesses, proven, bad, wrong = check_random(arguments, folder, wave, arguments.seed + wave)
            print(f"wave{wave}: {accesses} accesses, {proven} proven, {bad} seen not to be aligned, {wrong} of both")
            failures += wrong
            if min(proven, bad) * 20 < accesses:
                failures += 1
                print("FAIL: too few to tell")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
