"""Cases of the scalar ALU, of program control and of the few vector instructions about lanes."""

import random

from case import Case, assemble, frame
from valu import M32, M64, s, sat_i

rng = random.Random(2)
EDGES = [0, 1, 2, 3, 31, 32, 33, 63, 64, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x10000, 0x10001,
         0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 0x00200010, 0x001f0001, 0x00400020]
WIDE = EDGES + [v << 32 for v in EDGES] + [M64, M64 - 1, 1 << 63, (1 << 63) - 1, 0xffffffff]
LANES = 1 << 19 | 1 << 20 | 1 << 29  # flags: v_readlane, permlane, movrel
NONZERO = "nonzero"  # SCC is whether the result is not 0
OPS = {}


def op(names, sizes, scc):
    """sizes: of result and sources, 0 for none; scc: NONZERO, None, or given by the function."""
    def take(function):
        for name in names.split():
            OPS[name] = (sizes, scc, function)
        return function

    return take


def both(name, function, scc=NONZERO, one=False):
    """For 32 and for 64 bits; the function gets the width too."""
    for n in (32, 64):
        op("%s_b%d" % (name, n), (n, n) if one else (n, n, n), scc)(
            lambda e, *x, n=n: function(n, *x) & ((1 << n) - 1))


def ones(n):
    return (1 << n) - 1


def overflows(value):
    return value != sat_i(value, 32)


# ---- two sources; e.scc is the SCC before ----

W = (32, 32, 32)
op("s_add_u32", W, 1)(lambda e, a, b: (a + b, a + b > M32))
op("s_sub_u32", W, 1)(lambda e, a, b: (a - b, b > a))
op("s_add_i32", W, 1)(lambda e, a, b: (a + b, overflows(s(a, 32) + s(b, 32))))
op("s_sub_i32", W, 1)(lambda e, a, b: (a - b, overflows(s(a, 32) - s(b, 32))))
op("s_addc_u32", W, 1)(lambda e, a, b: (a + b + e.scc, a + b + e.scc > M32))
op("s_subb_u32", W, 1)(lambda e, a, b: (a - b - e.scc, a - b - e.scc < 0))
op("s_min_i32", W, 1)(lambda e, a, b: (min(s(a, 32), s(b, 32)), s(a, 32) < s(b, 32)))
op("s_max_i32", W, 1)(lambda e, a, b: (max(s(a, 32), s(b, 32)), s(a, 32) > s(b, 32)))
op("s_min_u32", W, 1)(lambda e, a, b: (min(a, b), a < b))
op("s_max_u32", W, 1)(lambda e, a, b: (max(a, b), a > b))
for _n in (32, 64):
    op("s_cselect_b%d" % _n, (_n, _n, _n), None)(lambda e, a, b: a if e.scc else b)
both("s_and", lambda n, a, b: a & b)
both("s_or", lambda n, a, b: a | b)
both("s_xor", lambda n, a, b: a ^ b)
both("s_andn2", lambda n, a, b: a & (ones(n) - b))
both("s_orn2", lambda n, a, b: a | (ones(n) - b))
both("s_nand", lambda n, a, b: ones(n) - (a & b))
both("s_nor", lambda n, a, b: ones(n) - (a | b))
both("s_xnor", lambda n, a, b: ones(n) - (a ^ b))
for _n in (32, 64):
    op("s_lshl_b%d" % _n, (_n, _n, 32), NONZERO)(lambda e, a, b, n=_n: a << b % n)
    op("s_lshr_b%d" % _n, (_n, _n, 32), NONZERO)(lambda e, a, b, n=_n: a >> b % n)
    op("s_ashr_i%d" % _n, (_n, _n, 32), NONZERO)(lambda e, a, b, n=_n: s(a, n) >> b % n)
    op("s_bfm_b%d" % _n, (_n, 32, 32), None)(lambda e, a, b, n=_n: ones(a % n) << b % n)
    op("s_bfe_u%d" % _n, (_n, _n, 32), NONZERO)(
        lambda e, a, b, n=_n: (a >> b % n) & ones(b >> 16 & 127))

    def bfe_i(e, a, b, n=_n):
        width = b >> 16 & 127
        value = s(a, n) >> b % n
        return value if width >= n else s(value, width) if width else 0

    op("s_bfe_i%d" % _n, (_n, _n, 32), NONZERO)(bfe_i)
op("s_mul_i32", W, None)(lambda e, a, b: a * b)
op("s_mul_hi_u32", W, None)(lambda e, a, b: a * b >> 32)
op("s_mul_hi_i32", W, None)(lambda e, a, b: s(a, 32) * s(b, 32) >> 32)
op("s_absdiff_i32", W, NONZERO)(lambda e, a, b: abs(s(s(a, 32) - s(b, 32), 32)))
for _k in range(1, 5):
    op("s_lshl%d_add_u32" % _k, W, 1)(lambda e, a, b, k=_k: ((a << k) + b, (a << k) + b > M32))
op("s_pack_ll_b32_b16", W, None)(lambda e, a, b: a & 0xffff | b << 16)
op("s_pack_lh_b32_b16", W, None)(lambda e, a, b: a & 0xffff | b >> 16 << 16)
op("s_pack_hh_b32_b16", W, None)(lambda e, a, b: a >> 16 | b >> 16 << 16)

# ---- one source; e.old is the register before ----

both("s_not", lambda n, a: ones(n) - a, one=True)
both("s_brev", lambda n, a: int("{:0{}b}".format(a, n)[::-1], 2), None, one=True)
both("s_wqm", lambda n, a: sum(15 << k for k in range(0, n, 4) if a >> k & 15), one=True)
both("s_quadmask", lambda n, a: sum(1 << k // 4 for k in range(0, n, 4) if a >> k & 15), one=True)
for _n in (32, 64):
    op("s_mov_b%d" % _n, (_n, _n), None)(lambda e, a: a)
    op("s_cmov_b%d" % _n, (_n, _n), None)(lambda e, a: a if e.scc else e.old)
    op("s_bcnt0_i32_b%d" % _n, (32, _n), NONZERO)(lambda e, a, n=_n: n - bin(a).count("1"))
    op("s_bcnt1_i32_b%d" % _n, (32, _n), NONZERO)(lambda e, a: bin(a).count("1"))
    op("s_ff1_i32_b%d" % _n, (32, _n), None)(lambda e, a: (a & -a).bit_length() - 1)
    op("s_ff0_i32_b%d" % _n, (32, _n), None)(
        lambda e, a, n=_n: (~a & ones(n) & -(~a & ones(n))).bit_length() - 1)
    op("s_flbit_i32_b%d" % _n, (32, _n), None)(lambda e, a, n=_n: n - a.bit_length() if a else -1)

    def flbit(e, a, n=_n):
        text = "{:0{}b}".format(a, n)
        return text.find("1" if text[0] == "0" else "0")

    op("s_flbit_i32" + ("" if _n == 32 else "_i64"), (32, _n), None)(flbit)
    op("s_bitset0_b%d" % _n, (_n, 32), None)(lambda e, a, n=_n: e.old & ~(1 << a % n))
    op("s_bitset1_b%d" % _n, (_n, 32), None)(lambda e, a, n=_n: e.old | 1 << a % n)
    op("s_bitcmp0_b%d" % _n, (0, _n, 32), 1)(lambda e, a, b, n=_n: (0, not a >> b % n & 1))
    op("s_bitcmp1_b%d" % _n, (0, _n, 32), 1)(lambda e, a, b, n=_n: (0, a >> b % n & 1))
op("s_sext_i32_i8", (32, 32), None)(lambda e, a: s(a, 8))
op("s_sext_i32_i16", (32, 32), None)(lambda e, a: s(a, 16))
op("s_abs_i32", (32, 32), NONZERO)(lambda e, a: abs(s(a, 32)))
op("s_bitreplicate_b64_b32", (64, 32), None)(
    lambda e, a: sum(3 << 2 * k for k in range(32) if a >> k & 1))

COMPARE = {"eq": lambda a, b: a == b, "lg": lambda a, b: a != b, "gt": lambda a, b: a > b,
           "ge": lambda a, b: a >= b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b}
for _c, _f in COMPARE.items():
    op("s_cmp_%s_i32" % _c, (0, 32, 32), 1)(lambda e, a, b, f=_f: (0, f(s(a, 32), s(b, 32))))
    op("s_cmp_%s_u32" % _c, (0, 32, 32), 1)(lambda e, a, b, f=_f: (0, f(a, b)))
    op("s_cmp_%s_u64" % _c, (0, 64, 64), 1)(lambda e, a, b, f=_f: (0, f(a, b)))


def reg(size, k):
    return "s%d" % k if size == 32 else "s[%d:%d]" % (k, k + 1)


class Before:
    scc, old = 0, 0


def pick(size):
    if rng.random() < 0.7:
        return rng.choice(WIDE if size == 64 else EDGES)
    return rng.getrandbits(size)


def plain_case(name, encoding, kind):
    """One execution; kind: "s" registers, "k" a constant or a literal as one source."""
    sizes, scc, function = OPS[name]
    operands, sources = [], []
    e = Before()
    e.scc = rng.getrandbits(1)
    special = rng.randrange(len(sizes) - 1) if kind == "k" else None
    values = []
    for k, size in enumerate(sizes[1:]):
        value, text = pick(size), reg(size, 4 * (k + 1))
        if k == 1 and rng.random() < 0.25:
            value = (values[0] + rng.choice((0, 0, 1, -1))) & ones(size)
        if k == special:
            roll = rng.randrange(3)
            if roll == 0:
                small = rng.choice((0, 1, 64, 17, -1, -16))
                value, text = small & ones(size), str(small)
            elif roll == 1:
                value, text = (0x3f800000, 0xc0000000)[rng.getrandbits(1)], None
                text = {0x3f800000: "1.0", 0xc0000000: "-2.0"}[value]
                if size == 64:
                    value = {"1.0": 0x3ff0000000000000, "-2.0": 0xc000000000000000}[text]
            else:
                value = rng.getrandbits(31) | 0x1000
                text = "0x%x" % value
        values.append(value)
        operands.append(text)
        sources.append((4 * (k + 1), size, value))
    e.old = pick(64) & ones(sizes[0] or 32)
    if sizes[0]:
        operands.insert(0, reg(sizes[0], 12))
    c = Case(name, encoding, name + " " + ", ".join(operands))
    c.scc = e.scc
    for at, size, value in sources:
        c.put(1, at, [value] if size == 32 else [value & M32, value >> 32])
    if sizes[0]:
        c.put(1, 12, [e.old & M32, e.old >> 32][:sizes[0] // 32])
    r = function(e, *values)
    if scc == 1:
        r, c.want["scc"] = r
    if sizes[0]:
        r &= ones(sizes[0])
        c.expect(1, 12, [r & M32, r >> 32][:sizes[0] // 32])
    if scc == NONZERO:
        c.want["scc"] = r != 0
    return c


def constant_cases(name, encoding):
    """SOPK with a number."""
    for _ in range(14):
        k = rng.choice((0, 1, 0x7fff, 0x8000, 0xffff, rng.getrandbits(16)))
        signed = s(k, 16)
        old = rng.choice((signed & M32, k, (k - 1) & M32, k + 1, pick(32)))
        c = Case(name, encoding, "%s s12, 0x%x" % (name, k))
        c.scc = rng.getrandbits(1)
        c.put(1, 12, [old])
        if name == "s_movk_i32":
            c.expect(1, 12, [signed])
        elif name == "s_cmovk_i32":
            c.expect(1, 12, [signed if c.scc else old])
        elif name == "s_addk_i32":
            total = s(old, 32) + signed
            c.expect(1, 12, [total])
            c.want["scc"] = total != sat_i(total, 32)
        elif name == "s_mulk_i32":
            c.expect(1, 12, [s(old, 32) * signed])
        else:
            _, _, how, kind = name.split("_")
            c.want["scc"] = (COMPARE[how](s(old, 32), signed) if kind == "i32"
                             else COMPARE[how](old, k))
        yield c


EXEC = {"and": lambda a, x: a & x, "or": lambda a, x: a | x, "xor": lambda a, x: a ^ x,
        "andn2": lambda a, x: a & ~x, "orn2": lambda a, x: a | ~x, "nand": lambda a, x: ~(a & x),
        "nor": lambda a, x: ~(a | x), "xnor": lambda a, x: ~(a ^ x), "andn1": lambda a, x: ~a & x,
        "orn1": lambda a, x: ~a | x}


def exec_cases(name, encoding):
    size = int(name[-2:])
    how, save = name.split("_")[1], "saveexec" in name
    for k in range(5):
        c = Case(name, encoding, "%s %s, %s" % (name, reg(size, 12), reg(size, 4)),
                 wave64=size == 64)
        c.exec, a = rng.getrandbits(size), rng.getrandbits(size)
        if k == 0:
            a = c.exec
        if k == 1:
            a = 0
        c.put(1, 4, [a & M32, a >> 32])
        now = EXEC[how](a, c.exec) & ones(size)
        c.want["exec"], c.want["scc"] = now, now != 0
        r = c.exec if save else now
        c.expect(1, 12, [r & M32, r >> 32][:size // 32])
        yield c


_base = {}


def base(wave64=False):
    """The address of the case's first word."""
    if wave64 not in _base:
        _base[wave64] = 0x200000000 + 4 * sum(map(len, assemble(frame(wave64)[0], 0, wave64)))
    return _base[wave64]


def flow_cases(name, encoding):
    """Jumps over an instruction that would be seen."""
    if name in ("s_getpc_b64", "s_setpc_b64", "s_swappc_b64", "s_call_b64"):
        text = {"s_getpc_b64": "s_getpc_b64 s[12:13]",
                "s_setpc_b64": "s_setpc_b64 s[4:5]; s_mov_b32 s9, 1",
                "s_swappc_b64": "s_swappc_b64 s[12:13], s[4:5]; s_mov_b32 s9, 1",
                "s_call_b64": "s_call_b64 s[12:13], 1; s_mov_b32 s9, 1"}[name]
        c = Case(name, encoding, text)
        c.put(1, 4, [(base() + 8) & M32, base() + 8 >> 32])
        if name != "s_setpc_b64":
            c.expect(1, 12, [(base() + 4) & M32, base() + 4 >> 32])
        yield c
        return
    for k in range(6):
        wave64 = bool(k & 1)
        c = Case(name, encoding, name + " 1; s_mov_b32 s9, 1", wave64=wave64)
        c.scc = k & 1
        if "vcc" in name:
            c.vcc = (0, 0, 1 << 31, 1 << 63, 1, M64)[k]
        if "exec" in name:
            c.exec = (0, 0, 1 << 31, 1 << 63, 1, M64)[k] & ones(c.lanes)
        vcc, exec_ = c.vcc & ones(c.lanes), c.exec
        taken = {"s_branch": True, "s_cbranch_scc0": not c.scc, "s_cbranch_scc1": c.scc,
                 "s_cbranch_vccz": not vcc, "s_cbranch_vccnz": vcc, "s_cbranch_execz": not exec_,
                 "s_cbranch_execnz": exec_}.get(name, False)
        if not taken:
            c.expect(1, 9, [1])
        yield c


def subvector_cases(name, encoding):
    """Two passes over the halves of EXEC; the register holds the half that waits."""
    for low, high, old in ((0, 0, 5), (0, 6, 5), (7, 6, 5), (7, 0, 5), (7, 0, 0), (0, 9, 0),
                           (7, 8, 3)):
        c = Case(name, encoding, name + " s12, 1; s_mov_b32 s9, 1", wave64=True)
        c.exec = high << 32 | low
        c.put(1, 12, [old])
        taken, register = False, old
        if "begin" in name:
            if not low and not high:
                taken = True
            elif not low:
                register = low
            else:
                register, high = high, 0
        elif high:
            low = old
        elif old:
            high, register, low, taken = old, low, 0, True
        c.want["exec"] = high << 32 | low
        c.expect(1, 12, [register])
        if not taken:
            c.expect(1, 9, [1])
        yield c


def hwreg_cases(name, encoding):
    for offset, size in ((0, 32), (4, 4), (8, 2), (0, 2), (9, 1)):
        text = {"s_getreg_b32": "s_getreg_b32 s12, %s", "s_setreg_b32": "s_setreg_b32 %s, s12",
                "s_setreg_imm32_b32": "s_setreg_imm32_b32 %s, 0x2a5"}[name]
        c = Case(name, encoding, text % ("hwreg(HW_REG_MODE, %d, %d)" % (offset, size)))
        if name == "s_getreg_b32":
            c.expect(1, 12, [c.mode >> offset & ones(size)])
        else:
            value = 0x2a5
            c.put(1, 12, [value])
            c.want["mode"] = (c.mode & ~(ones(size) << offset)) | (value & ones(size)) << offset
        yield c


QUIET = {"s_nop": "s_nop 3", "s_wakeup": "s_wakeup", "s_barrier": "s_barrier",
         "s_waitcnt": "s_waitcnt vmcnt(0)", "s_sleep": "s_sleep 1", "s_setprio": "s_setprio 2",
         "s_sendmsg": "s_sendmsg sendmsg(MSG_INTERRUPT)", "s_icache_inv": "s_icache_inv",
         "s_incperflevel": "s_incperflevel 1", "s_decperflevel": "s_decperflevel 1",
         "s_ttracedata": "s_ttracedata", "s_inst_prefetch": "s_inst_prefetch 0x1",
         "s_clause": "s_clause 0x1", "s_wait_idle": "s_wait_idle",
         "s_waitcnt_depctr": "s_waitcnt_depctr 0xffe3", "s_ttracedata_imm": "s_ttracedata_imm 0x1",
         "s_version": "s_version UC_VERSION_GFX10", "s_waitcnt_vscnt": "s_waitcnt_vscnt null, 0x0",
         "s_waitcnt_vmcnt": "s_waitcnt_vmcnt null, 0x0",
         "s_waitcnt_expcnt": "s_waitcnt_expcnt null, 0x0",
         "s_waitcnt_lgkmcnt": "s_waitcnt_lgkmcnt null, 0x0", "v_nop": "v_nop",
         "v_pipeflush": "v_pipeflush", "v_clrexcp": "v_clrexcp"}
ENDS = {"s_endpgm": "s_endpgm", "s_endpgm_saved": "s_endpgm_saved",
        "s_endpgm_ordered_ps_done": "s_endpgm_ordered_ps_done",
        "s_sendmsghalt": "s_sendmsghalt sendmsg(MSG_INTERRUPT)", "s_trap": "s_trap 2"}


def mode_cases(name, encoding):
    for k in (0, 5, 15):
        c = Case(name, encoding, "%s 0x%x" % (name, k))
        shift = 0 if "round" in name else 4
        c.want["mode"] = c.mode & ~(15 << shift) | k << shift
        yield c


def movrel_cases(name, encoding):
    """Registers moved by M0."""
    if name.startswith("s_"):
        size = 64 if "b64" in name else 32
        c = Case(name, encoding, "%s %s, %s" % (name, reg(size, 12), reg(size, 4)))
        c.m0 = 4 if "_2_" not in name else 6 << 16 | 2
        source, target = 4, 12
        if "_2_" in name:
            source, target = 6, 18
        elif "movrels" in name:
            source = 8
        else:
            target = 16
        values = [rng.getrandbits(32) for _ in range(size // 32)]
        c.put(1, source, values)
        c.expect(1, target, values)
        yield c
        return
    for wave64 in (False, True):
        suffix = "" if "swap" in name else "_e32"
        c = Case(name, encoding, name + suffix + " v8, v2", wave64=wave64)
        c.m0 = 3 if "_2_" not in name and "swap" not in name else 2 << 16 | 1
        source, target = {"v_movreld_b32": (2, 11), "v_movrels_b32": (5, 8),
                          "v_movrelsd_b32": (5, 11), "v_movrelsd_2_b32": (3, 10),
                          "v_swaprel_b32": (3, 10)}[name]
        c.exec = rng.getrandbits(c.lanes)
        a, b = ([rng.getrandbits(32) for _ in range(c.lanes)] for _ in range(2))
        c.put(0, source, a)
        c.put(0, target, b)
        on = lambda x, y: [p if c.exec >> k & 1 else q for k, (p, q) in enumerate(zip(x, y))]
        c.expect(0, target, on(a, b))
        if "swap" in name:
            c.expect(0, source, on(b, a))
        yield c
        if "swap" in name:
            continue
        # A byte of the source to the upper half of the result, whose lower half stays.
        d = Case(name, encoding, name + "_sdwa v8, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE "
                 "src0_sel:BYTE_2", wave64=wave64)
        d.m0, d.exec = c.m0, c.exec
        d.put(0, source, a)
        d.put(0, target, b)
        d.expect(0, target, on([(x >> 16 & 255) << 16 | y & 0xffff for x, y in zip(a, b)], b))
        yield d


def lane_cases(name, encoding):
    """v_readlane and its kin, v_swap, v_permlane."""
    for k in range(6):
        wave64 = bool(k & 1)
        n = 64 if wave64 else 32
        rows = [[rng.getrandbits(32) for _ in range(n)] for _ in range(2)]
        lane, select = rng.randrange(n), rng.getrandbits(64)
        fi, bound = k >> 1 & 1, k >> 2 & 1
        text = {"v_readfirstlane_b32": "v_readfirstlane_b32 s12, v2",
                "v_readlane_b32": "v_readlane_b32 s12, v2, " + ("s4" if k & 2 else str(lane)),
                "v_writelane_b32": "v_writelane_b32 v8, s5, " + ("s4" if k & 2 else str(lane)),
                "v_swap_b32": "v_swap_b32 v8, v2"}.get(name)
        if "permlane" in name:
            select_text = " op_sel:[%d,%d]" % (fi, bound) if fi or bound else ""
            text = "%s v8, v2, s6, s7" % name + select_text
        c = Case(name, encoding, text, wave64=wave64)
        c.exec = rng.getrandbits(n) if k else 0 if name.startswith("v_read") else 1
        c.put(0, 2, rows[0])
        c.put(0, 8, rows[1])
        c.put(1, 4, [lane | rng.getrandbits(1) * 0x100, 0xabcdef, select & M32, select >> 32])
        on = lambda i: c.exec >> i & 1
        if name == "v_readfirstlane_b32":
            first = (c.exec & -c.exec).bit_length() - 1 if c.exec else 0
            c.expect(1, 12, [rows[0][first]])
        elif name == "v_readlane_b32":
            c.expect(1, 12, [rows[0][lane]])
        elif name == "v_writelane_b32":
            c.expect(0, 8, [0xabcdef if i == lane else v for i, v in enumerate(rows[1])])
        elif name == "v_swap_b32":
            c.expect(0, 8, [rows[0][i] if on(i) else rows[1][i] for i in range(n)])
            c.expect(0, 2, [rows[1][i] if on(i) else rows[0][i] for i in range(n)])
        else:
            result = []
            for i in range(n):
                row = i // 16 * 16
                row = row ^ 16 if "x16" in name else row
                at = row + (select >> 4 * (i % 16) & 15)
                value = rows[0][at] if fi or on(at) else 0 if bound else rows[1][i]
                result.append(value if on(i) else rows[1][i])
            c.expect(0, 8, result)
        yield c


def special_cases(name, encoding):
    if name in QUIET:
        yield Case(name, encoding, QUIET[name])
    elif name in ENDS:
        c = Case(name, encoding, ENDS[name])
        c.ends = 2 if name == "s_trap" else 1
        yield c
    elif "saveexec" in name or "wrexec" in name:
        yield from exec_cases(name, encoding)
    elif "subvector" in name:
        yield from subvector_cases(name, encoding)
    elif "branch" in name or name in ("s_getpc_b64", "s_setpc_b64", "s_swappc_b64", "s_call_b64"):
        yield from flow_cases(name, encoding)
    elif "getreg" in name or "setreg" in name:
        yield from hwreg_cases(name, encoding)
    elif name in ("s_round_mode", "s_denorm_mode"):
        yield from mode_cases(name, encoding)
    elif "movrel" in name or name == "v_swaprel_b32":
        yield from movrel_cases(name, encoding)
    elif encoding == "SOPK":
        yield from constant_cases(name, encoding)
    elif encoding.startswith("VOP"):
        yield from lane_cases(name, encoding)


def cases(rows):
    result = []
    for row in rows:
        name, encoding, flags = row[0], row[1], row[9]
        if encoding in ("SOP1", "SOP2", "SOPC") and name in OPS:
            result += [plain_case(name, encoding, "s") for _ in range(24)]
            result += [plain_case(name, encoding, "k") for _ in range(8)]
        elif encoding.startswith("SOP"):
            result += special_cases(name, encoding)
        elif encoding.startswith("VOP") and (flags & LANES or name in QUIET or "swap" in name):
            result += special_cases(name, encoding)
    return result
