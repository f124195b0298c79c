#!/usr/bin/python3
"""check_lower.py: instructions that gfx1010 lacks, lowered, against arithmetic in Python.

usage: check_lower.py SCAN RMCP [--seed N] [--items N]

Kernels for gfx1030, one for each form and placement of operands, run as they are on a simulated gfx1030 and
lowered on a simulated gfx1010, on random and on extreme operands: integers bit by bit, sums of halves within the
bound of src/code/rewrite/lower.h; operands that are no result must stay. With few registers used, with 255 and 256
(temporaries are then registers whose values nobody reads any more), with as many as a full workgroup can have, and in
wave64; in loops and branches that lanes take one by one, and in functions that are called, too. Code is cured as well,
and nothing may be reported. What cannot be lowered is refused by name.
"""
import argparse
import fractions
import math
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

CLANG = os.environ.get("CLANG", "clang-19")
SCALAR = 0x7FC180FE
# What result, sources and third source are: %0 to %3 are vector registers, %4 is a scalar one.
PLACES = [("%0", "%1", "%2", "%3"), ("%1", "%1", "%2", "%3"), ("%2", "%1", "%2", "%2"), ("%0", "%1", "%1", "%0"),
          ("%1", "%1", "%1", "%1"), ("%0", "%4", "%2", "0x12345678"), ("%3", "%1", "%4", "-7"),
          ("%0", "0x9abcdef1", "%2", "%4"), ("%2", "%4", "%2", "64"), ("%3", "%4", "%4", "%3"),
          ("%0", "%1", "63", "%3"), ("%2", "-16", "%2", "%1"), ("%0", "-4.0", "%2", "%3")]
HALF_PLACES = [("%0", "%1", "%2", "%3"), ("%1", "%1", "%2", "%3"), ("%2", "%1", "%2", "%3"), ("%0", "%1", "%1", "%0"),
               ("%0", "%4", "%2", "0x42280000"), ("%3", "0xbc004100", "%1", "1.0"), ("%2", "%1", "%2", "%4"),
               ("%1", "%4", "%1", "-4.0"), ("%0", "0", "%2", "%3"), ("%0", "%1", "1.0", "%3"),
               ("%2", "-4.0", "%2", "1.0"), ("%0", "64", "%2", "%3"), ("%1", "%1", "-1", "%3")]
INTEGERS = {"v_dot2_i32_i16": (16, True), "v_dot2_u32_u16": (16, False), "v_dot4_i32_i8": (8, True),
            "v_dot4_u32_u8": (8, False), "v_dot8_i32_i4": (4, True), "v_dot8_u32_u4": (4, False)}
FLOATS = {"1.0": 1.0, "-4.0": -4.0}


class Form:
    """One kernel: its instruction, and what it must give."""

    def __init__(self, name, to, sources, options="", lanes=None, tail=""):
        self.op, self.to, self.sources, self.lanes = name, to, sources, lanes
        self.text = f"{name}{tail} {', '.join([to, *sources])} {options}".strip()
        self.clamp = "clamp" in options
        if len(sources) == 2:
            self.sources = (*sources, to)

        def bits(key, default):
            found = re.search(rf"{key}:\[(\d),(\d),\d\]", options)
            return [int(b) for b in found.groups()] if found else default
        self.low, self.high = bits("op_sel", [0, 0]), bits("op_sel_hi", [1, 1])
        self.neg = bits("neg_lo", [0, 0]), bits("neg_hi", [0, 0])


def forms():
    """Every form that is lowered."""
    for places in PLACES:
        for op, (bits, signed) in INTEGERS.items():
            for clamp in ("", "clamp"):
                if not (clamp and op == "v_dot2_i32_i16"):
                    yield Form(op, places[0], places[1:], clamp)
            if bits == 16:
                yield Form(op, places[0], places[1:], "op_sel:[1,0,0] op_sel_hi:[0,1,1]")
    for places in HALF_PLACES:
        for options in ("", "clamp", "op_sel:[0,1,0] op_sel_hi:[1,0,1]", "neg_lo:[1,0,0] neg_hi:[1,1,0]"):
            yield Form("v_dot2_f32_f16", places[0], places[1:], options)
    for to, a, b in (("%0", "%1", "%2"), ("%1", "%1", "%2"), ("%2", "%1", "%2"), ("%1", "%1", "%1"),
                     ("%0", "%4", "%2"), ("%2", "%4", "%2")):
        yield Form("v_dot4c_i32_i8", to, (a, b))
        yield Form("v_dot2c_f32_f16", to, (a, b))
    for to, a, b in (("%0", "0x80017fff", "%2"), ("%2", "0x80017fff", "%2"), ("%0", "-16", "%1")):
        yield Form("v_dot4c_i32_i8", to, (a, b))
    yield Form("v_dot2c_f32_f16", "%0", ("0x3c01c400", "%2"))
    # DPP: the lane that source 0 comes from; None: the lane takes no part.
    pairs, mirror = (lambda i: i ^ 1), (lambda i: i ^ 7)
    for to, a, b in (("%0", "%1", "%2"), ("%1", "%1", "%2"), ("%2", "%1", "%2")):
        yield Form("v_dot4c_i32_i8", to, (a, b), "row_shr:1 row_mask:0x5 bank_mask:0xf", tail="_dpp",
                   lanes=lambda i: i - 1 if i % 16 and not i & 16 else None)
        for op in ("v_dot4c_i32_i8", "v_dot2c_f32_f16"):
            yield Form(op, to, (a, b), "quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:0", pairs, "_dpp")
            yield Form(op, to, (a, b), "dpp8:[7,6,5,4,3,2,1,0] fi:1", mirror, "_dpp")
        yield Form("v_dot4c_i32_i8", to, (a, b), "dpp8:[7,6,5,4,3,2,1,0]", mirror, "_dpp")


CODE = """
#define GLOBAL __attribute__((address_space(1)))
#define KERNEL __attribute__((amdgpu_kernel))
#define APART static __attribute__((noinline))
typedef unsigned u32;
#define ITEM (__builtin_amdgcn_workgroup_id_x() * BLOCK + __builtin_amdgcn_workitem_id_x())
#define FORM(name, text)                                                                     \\
    KERNEL void name(GLOBAL const u32 *in, GLOBAL u32 *out, u32 s)                           \\
    {                                                                                        \\
        u32 i = ITEM, d = in[4 * i], a = in[4 * i + 1], b = in[4 * i + 2], c = in[4 * i + 3]; \\
        CROWD;                                                                               \\
        asm volatile(text : "+v"(d), "+v"(a), "+v"(b), "+v"(c) : "s"(s));                    \\
        out[4 * i] = d;                                                                      \\
        out[4 * i + 1] = a;                                                                  \\
        out[4 * i + 2] = b;                                                                  \\
        out[4 * i + 3] = c;                                                                  \\
    }
"""
# Loops and branches that lanes leave and take one by one, with values that others still need.
BUSY = """
#define DOT(text) asm volatile(text : "+v"(d) : "v"(a), "v"(b), "v"(c))
KERNEL void busy(GLOBAL const u32 *in, GLOBAL u32 *out, u32 s)
{
    u32 i = ITEM, x[12], d = in[4 * i], a = in[4 * i + 1], b = in[4 * i + 2], c = in[4 * i + 3];
    CROWD;
    for (u32 k = 0; k < 12; k++) x[k] = in[4 * (i ^ k)];
    for (u32 n = a & 7; n < 9; n++) {
        u32 next = in[4 * (d & 127)];
        if (d & 1) {
            u32 kept = a * n + x[3];
            DOT("v_dot4c_i32_i8 %0, %1, %2");
            if (b & 2) {
                x[1] ^= d;
                DOT("v_dot8_i32_i4 %0, %1, %0, %3");
                for (u32 k = 0; k < (c & 3); k++) {
                    x[2] += d + k;
                    DOT("v_dot4_u32_u8 %0, %0, %2, %3 clamp");
                }
            } else {
                a += kept;
                DOT("v_dot2_u32_u16 %0, %2, %0, %1");
            }
            x[4] += kept;
        } else if (d & 4) {
            x[5] -= d * next;
        }
        b = b * 3 + next;
        DOT("v_dot4c_i32_i8 %0, %1, %2");
        for (u32 k = 0; k < 12; k += 3) x[k] += x[(k + 5) % 12] ^ d;
    }
    for (u32 k = 0; k < 12; k++) d = d * 7 + x[k];
    out[4 * i] = d;
    out[4 * i + 1] = a;
    out[4 * i + 2] = b;
    out[4 * i + 3] = c;
}
"""
CALLS = """
APART u32 bytes(u32 a, u32 b, u32 c)
{
    asm volatile("v_dot4_i32_i8 %0, %0, %1, %2" : "+v"(a) : "v"(b), "v"(c));
    return a;
}
APART u32 nibbles(u32 a, u32 b, u32 c)
{
    asm volatile("v_dot8_u32_u4 %0, %1, %0, %2" : "+v"(b) : "v"(a), "v"(c));
    return b;
}
static u32 (*const table[])(u32, u32, u32) = { bytes, nibbles };
/* Many values that live over the calls: d, a, b and c with each of 24 numbers. */
#define CALLING(name, product)                                                               \\
    KERNEL void name(GLOBAL const u32 *in, GLOBAL u32 *out, u32 s)                           \\
    {                                                                                        \\
        u32 i = ITEM, x[24], a = in[4 * i + 1], b = in[4 * i + 2];                           \\
        for (u32 k = 0; k < 24; k++) x[k] = in[4 * i] ^ (a + k * s);                         \\
        for (u32 k = 0; k < 3; k++) b = product(a + k, b, s);                                \\
        for (u32 k = 0; k < 24; k++) asm volatile("" : "+v"(x[k]));                          \\
        for (u32 k = 0; k < 24; k++) b = b * 5 + x[k];                                       \\
        out[4 * i] = b;                                                                      \\
    }
CALLING(called, bytes)
CALLING(pointed, table[s >> k & 1])
KERNEL void addtid(GLOBAL const u32 *in, GLOBAL u32 *out, u32 s)
{
    u32 d, group = __builtin_amdgcn_workgroup_id_x() * BLOCK;
    asm volatile("global_load_dword_addtid %0, %1 offset:-4 glc\\n s_waitcnt vmcnt(0)" : "=v"(d) : "s"(in + group + 1));
    if (__builtin_amdgcn_workitem_id_x() % 3) /* lanes that take no part have numbers, too */
        asm volatile("global_store_dword_addtid %0, %1 offset:16" :: "v"(d * s), "s"(out + group - 4) : "memory");
}
"""
REFUSED = {  # instruction: reason, before ", which gfx1010 lacks"
    "v_dot2_i32_i16 %0, %1, %2, %3 clamp": "v_dot2_i32_i16 with clamp",
    "v_dot2_f32_f16 %0, %1, %2, %3 neg_lo:[0,0,1]": "v_dot2_f32_f16 with a negated or absolute source",
    "v_dot4_i32_i8 %0, %1, %2, %3 op_sel_hi:[0,1,1]": "v_dot4_i32_i8 with selected halves",
    "v_dot2c_f32_f16_dpp %0, %1, %2 row_shr:1 row_mask:0xf bank_mask:0xf":
        "v_dot2c_f32_f16 with DPP that leaves lanes out",
    "v_fma_legacy_f32 %0, %1, %2, %3": "v_fma_legacy_f32",
    "v_fmac_legacy_f32 %0, %1, %2": "v_fmac_legacy_f32",
    "s_getreg_b32 vcc_lo, hwreg(HW_REG_SHADER_CYCLES)": r"s_getreg_b32 hwreg\(HW_REG_SHADER_CYCLES\)",
    "buffer_atomic_csub %0, off, s[4:7], 0 glc": "buffer_atomic_csub",
    "image_msaa_load v[0:3], v[4:6], s[8:15] dmask:0xf dim:SQ_RSRC_IMG_2D_MSAA": "image_msaa_load",
}


def signed32(x):
    return x - (x >> 31 << 32)


def field(x, k, bits, signed):
    value = x >> k * bits & (1 << bits) - 1
    return value - (value >> bits - 1 << bits) if signed else value


def half(x):
    return struct.unpack("<e", struct.pack("<H", x & 0xFFFF))[0]


def single(x):
    return struct.unpack("<f", struct.pack("<I", x))[0]


def integer_result(form, a, b, c):
    bits, signed = INTEGERS[form.op.replace("4c", "4")]
    if bits == 16:
        a = (a >> 16 * form.low[0] & 0xFFFF) | (a >> 16 * form.high[0] & 0xFFFF) << 16
        b = (b >> 16 * form.low[1] & 0xFFFF) | (b >> 16 * form.high[1] & 0xFFFF) << 16
    total = signed32(c) if signed else c
    total += sum(field(a, k, bits, signed) * field(b, k, bits, signed) for k in range(32 // bits))
    if form.clamp:
        least, most = (-2**31, 2**31 - 1) if signed else (0, 2**32 - 1)
        total = min(max(total, least), most)
    return total & 0xFFFFFFFF


def halves_are_right(form, a, b, c, got):
    """Within the bound that lower.h promises; what is not finite is as IEEE arithmetic has it."""
    low = [half(x >> 16 * form.low[k]) * (-1) ** form.neg[0][k] for k, x in enumerate((a, b))]
    high = [half(x >> 16 * form.high[k]) * (-1) ** form.neg[1][k] for k, x in enumerate((a, b))]
    c, got = single(c), single(got)
    if not all(map(math.isfinite, (*low, *high, c))):
        want = c + low[0] * low[1] + high[0] * high[1]
        if form.clamp:
            return got == (0 if math.isnan(want) else min(max(want, 0), 1)) or math.isnan(got) and math.isnan(want)
        return got == want or math.isnan(got) and math.isnan(want)
    if not math.isfinite(got):
        return False
    exact = fractions.Fraction
    first = exact(c) + exact(low[0]) * exact(low[1])
    want = first + exact(high[0]) * exact(high[1])
    u, tiny = exact(1, 2**24), exact(1, 2**149)
    bound = u * (abs(first) * (1 + u) + abs(want) * (1 + 2 * u) + u * abs(first)) + 2 * tiny
    if form.clamp:
        want = min(max(want, exact(0)), exact(1))
    return abs(exact(got) - want) <= bound


class Bench:
    def __init__(self, args, folder):
        self.scan, self.rmcp, self.folder = args.scan, args.rmcp, folder
        self.n_checks, self.failures = 0, []

    def path(self, name):
        return os.path.join(self.folder, name)

    def fail(self, text):
        self.failures.append(text)
        print("FAIL:", text, file=sys.stderr)

    def command(self, *words):
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def compile(self, name, source, *options):
        with open(self.path(name + ".c"), "w") as file:
            file.write(source)
        status, text = self.command(CLANG, "-x", "c", "-std=gnu11", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1030",
                                    "-nogpulib", "-O2", "-w", *options, self.path(name + ".c"),
                                    "-o", self.path(name + ".co"))
        if status:
            raise SystemExit(text)
        return self.path(name + ".co")

    def lower(self, name, *options):
        status, text = self.command(self.scan, "--lower", "gfx1010", "--list", *options, "--out", self.path("lowered"),
                                    self.path(name + ".co"))
        self.n_checks += 1
        if status:
            self.fail(f"{name}: {text}")
        return text

    def run(self, file, kernel, chip, block, n_items):
        status, text = self.command(self.rmcp, "sim", "--kernel", file, kernel, "--chip", chip, "--grid", str(n_items),
                                    "--block", str(block), "--args", "in:" + self.path("in"),
                                    f"out:{16 * n_items}@" + self.path("out"), f"u32:{SCALAR}")
        self.n_checks += 1
        if status:
            self.fail(f"{kernel} of {os.path.basename(file)} on {chip}: {text[:600]}")
            return None
        with open(self.path("out"), "rb") as file:
            return struct.unpack(f"<{4 * n_items}I", file.read())


def judge(bench, form, given, got, wave, where):
    """All outputs of one kernel."""
    def value(text, i, k):
        if text[0] == "%":
            return SCALAR if text == "%4" else given[4 * i + int(text[1])]
        if text in FLOATS:
            if k < 2 and "f16" in form.op:  # a half, and 0 above it
                return struct.unpack("<H", struct.pack("<e", FLOATS[text]))[0]
            return struct.unpack("<I", struct.pack("<f", FLOATS[text]))[0]
        return int(text, 0) & 0xFFFFFFFF
    to = int(form.to[1])
    for i in range(len(given) // 4):
        a, b, c = (value(text, i, k) for k, text in enumerate(form.sources))
        takes_part = True
        if form.lanes:
            lane = form.lanes(i % wave)
            takes_part = lane is not None
            a = value(form.sources[0], i - i % wave + lane, 0) if takes_part else 0
        have = got[4 * i + to]
        if not takes_part:
            right = have == given[4 * i + to]
        elif "f16" in form.op:
            right = halves_are_right(form, a, b, c, have)
        else:
            right = have == integer_result(form, a, b, c)
        right = right and all(got[4 * i + k] == given[4 * i + k] for k in range(4) if k != to)
        if not right:
            bench.fail(f"{where}: {form.text}: {a:#x}, {b:#x}, {c:#x} give {[hex(x) for x in got[4 * i:4 * i + 4]]}")
            return


def operands(rng, n_items):
    """Four words for each item: any bits, extreme integers, halves that are special, moderate singles."""
    extreme = [0, 0x80008000, 0x7FFF7FFF, 0xFFFFFFFF, 0x80808080, 0x7F7F7F7F, 0x88888888, 0x77777777, 0x7FFFFFFF,
               0x80000000, 0x00010001, 0x80018001, 0x03FF8400, 0x7C00FC00, 0x3C007E00, 0xFBFF7BFF]
    words = []
    for i in range(n_items):
        for k in range(4):
            kind = rng.randrange(4)
            if kind == 0:
                words.append(rng.choice(extreme))
            elif kind == 1:  # halves, and singles of about the size of their products
                e = [rng.randrange(8, 22) << 10 | rng.getrandbits(10) | rng.getrandbits(1) << 15 for _ in range(2)]
                single_bits = rng.randrange(110, 135) << 23 | rng.getrandbits(23) | rng.getrandbits(1) << 31
                words.append(single_bits if k in (0, 3) else e[0] | e[1] << 16)
            else:
                words.append(rng.getrandbits(32))
    return words


def check_busy(bench, name, n_items, block):
    before = bench.run(bench.path(name + ".co"), "busy", "gfx1030", block, n_items)
    after = bench.run(bench.path("lowered/" + name + ".co"), "busy", "gfx1010", block, n_items)
    if not before or before != after:
        bench.fail(f"{name}: busy computes something else")


def check_calls(bench, name, given, n_items, block):
    """Functions that are called: the same as before they were lowered, and what Python says of one."""
    for kernel in ("called", "pointed", "addtid"):
        before = bench.run(bench.path(name + ".co"), kernel, "gfx1030", block, n_items)
        after = bench.run(bench.path("lowered/" + name + ".co"), kernel, "gfx1010", block, n_items)
        if before != after:
            bench.fail(f"{name}: {kernel} computes something else")
        if kernel == "addtid" and after:
            want = [given[i] * SCALAR & 0xFFFFFFFF if i % block % 3 else 0 for i in range(n_items)]
            if list(after[:n_items]) != want:
                bench.fail(f"{name}: addtid is wrong")
        if kernel == "called" and after:
            form = Form("v_dot4_i32_i8", "%0", ("%1", "%2", "%3"))
            for i in range(n_items):
                d, a, b = given[4 * i:4 * i + 3]
                x = [d ^ (a + k * SCALAR & 0xFFFFFFFF) for k in range(24)]
                for k in range(3):
                    b = integer_result(form, a + k & 0xFFFFFFFF, b, SCALAR)
                for k in range(24):
                    b = b * 5 + x[k] & 0xFFFFFFFF
                if after[4 * i] != b:
                    bench.fail(f"{name}: called gives {after[4 * i]:#x}, not {b:#x}")
                    break


def check_forms(bench, all_forms, given, n_items, wave, name, crowd, block):
    kernels = "".join(f'FORM(form_{k}, "{form.text}")\n' for k, form in enumerate(all_forms))
    crowded = f'asm volatile("v_mov_b32 v{crowd}, 0" ::: "v{crowd}")' if crowd else ""
    head = f"#define BLOCK {block}\n#define CROWD {crowded}\n"
    with_calls = not crowd
    bench.compile(name, head + CODE + kernels + BUSY + (CALLS if with_calls else ""),
                  "-mwavefrontsize64" if wave == 64 else "-mno-wavefrontsize64")
    text = bench.lower(name, "--cure", "all")
    if not re.search(r" 0 refused; \d+ kernels, 0 refused;", text):
        bench.fail(f"{name}: {text}")
        return
    raised = int(re.search(r"(\d+) kernels have more", text).group(1))
    if (raised > 0) == (crowd in (127, 255)):
        bench.fail(f"{name}: {raised} kernels have more registers")
    lowered = bench.path("lowered/" + name + ".co")
    status, text = bench.command(bench.rmcp, "audit", "--target", "gfx1010", lowered)
    if "instructions that gfx1010 lacks" in text or not re.search(r"lacking in the chip +0 +0 +0 +0", text):
        bench.fail(f"{name}: {text}")
    for k, form in enumerate(all_forms):
        got = bench.run(lowered, f"form_{k}", "gfx1010", block, n_items)
        if got:
            judge(bench, form, given, got, wave, f"{name}, lowered")
    check_busy(bench, name, n_items, block)
    if with_calls:
        check_calls(bench, name, given, n_items, block)
        # The judge is judged: the forms themselves on a chip that has them.
        for k, form in enumerate(all_forms):
            if k % 4 and len(all_forms) > 100:
                continue
            got = bench.run(bench.path(name + ".co"), f"form_{k}", "gfx1030", block, n_items)
            if got:
                judge(bench, form, given, got, wave, f"{name}, as it was")


def check_refused(bench):
    kernels = "".join(f'FORM(form_{k}, "{text}")\n' for k, text in enumerate(REFUSED))
    bench.compile("refused", "#define BLOCK 32\n#define CROWD\n" + CODE + kernels)
    text = bench.lower("refused")
    for k, reason in enumerate(REFUSED.values()):
        bench.n_checks += 1
        if not re.search(rf"form_{k}: {reason}, which gfx1010 lacks at 0x[0-9a-f]+\n", text):
            bench.fail(f"form_{k} is not refused for: {reason}\n{text}")
    if os.path.exists(bench.path("lowered/refused.co")):
        bench.fail("an object with refused kernels was written")


# All registers are read at the end but two, and one is written before that, though not for all lanes: it is not free.
MASKED = """.amdgcn_target "amdgcn-amd-amdhsa--gfx1030"
.text
.globl masked
.p2align 8
.type masked,@function
masked:
    s_load_dwordx2 s[0:1], s[4:5], 0x8
{fill}
    v_dot4_i32_i8 v1, v2, v3, v1
    {narrow}
    v_mov_b32 v200, 5
    {widen}
    v_mov_b32 v255, 0
{sum}
    v_lshlrev_b32 v0, 2, v0
    s_waitcnt lgkmcnt(0)
    global_store_dword v0, v255, s[0:1]
    s_endpgm
.Lend:
    .size masked, .Lend-masked
    .rodata
    .p2align 6
    .amdhsa_kernel masked
        .amdhsa_user_sgpr_private_segment_buffer 1
        .amdhsa_user_sgpr_kernarg_segment_ptr 1
        .amdhsa_kernarg_size 24
        .amdhsa_next_free_vgpr 256
        .amdhsa_next_free_sgpr 48
        .amdhsa_wavefront_size32 1
    .end_amdhsa_kernel
"""
MASKS = [("v_cmp_gt_u32 vcc_lo, 7, v0\n s_and_saveexec_b32 s20, vcc_lo", "s_or_b32 exec_lo, exec_lo, s20"),
         ("s_mov_b32 s20, exec_lo\n v_cmpx_gt_u32 7, v0", "s_mov_b32 exec_lo, s20"),
         ("s_mov_b32 exec_lo, 0x7f", "s_mov_b32 exec_lo, -1"),
         ("v_cmp_gt_u32 vcc_lo, 7, v0\n s_cbranch_vccz .Lskip\n s_and_saveexec_b32 s20, vcc_lo",
          "s_or_b32 exec_lo, exec_lo, s20\n.Lskip:")]


def check_masked(bench):
    """A register that is written while some lanes are off stays for these."""
    for narrow, widen in MASKS:
        fill = "\n".join(f"    v_mov_b32 v{i}, {i}" for i in range(1, 254))
        total = "\n".join(f"    v_add_nc_u32 v255, v255, v{i}" for i in range(1, 254))
        with open(bench.path("masked.s"), "w") as file:
            file.write(MASKED.format(fill=fill, sum=total, narrow=narrow, widen=widen))
        status, text = bench.command(CLANG, "-x", "assembler", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1030",
                                     bench.path("masked.s"), "-o", bench.path("masked.co"))
        if status:
            raise SystemExit(text)
        text = bench.lower("masked", "--cure", "all")
        if "v_dot4_i32_i8: 1 lowered" not in text or "\n0 kernels have more" not in text:
            bench.fail(f"masked: {text}")
        got = bench.run(bench.path("lowered/masked.co"), "masked", "gfx1010", 32, 32)
        want = [sum(range(1, 254)) + 2 * 3 - (195 if i < 7 else 0) for i in range(32)]
        if got and list(got[:32]) != want:
            bench.fail(f"masked, {narrow}: {got[:32]}, not {want}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scan")
    parser.add_argument("rmcp")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--items", type=int, default=256)
    args = parser.parse_args()
    args.scan, args.rmcp = os.path.abspath(args.scan), os.path.abspath(args.rmcp)
    if not shutil.which(CLANG):
        print(f"skipped: {CLANG} is not installed")
        return 77
    rng = random.Random(args.seed)
    n_items = max(256, args.items // 256 * 256)
    given = operands(rng, n_items)
    all_forms = list(forms())
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(args, folder)
        os.mkdir(bench.path("lowered"))
        with open(bench.path("in"), "wb") as file:
            file.write(struct.pack(f"<{len(given)}I", *given))
        few = all_forms[::7] + all_forms[-3:]
        check_forms(bench, all_forms, given, n_items, 32, "wave32", None, 32)
        check_forms(bench, few, given, n_items, 64, "wave64", None, 64)
        check_forms(bench, few, given, n_items, 32, "crowded", 255, 32)
        check_forms(bench, few[::3] + [Form("v_dot4c_i32_i8", "%0", ("%1", "%2"))], given, n_items, 32, "nearly", 254,
                    32)
        check_forms(bench, few[::2], given, n_items, 64, "crowded64", 255, 64)
        check_forms(bench, few[::4], given, n_items, 32, "full", 127, 32)
        check_masked(bench)
        check_refused(bench)
        print(f"{len(all_forms)} forms, {n_items} operands, {bench.n_checks} checks, {len(bench.failures)} failures")
        return 1 if bench.failures else 0


if __name__ == "__main__":
    sys.exit(main())
