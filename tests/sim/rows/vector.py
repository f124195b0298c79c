"""Cases of the vector ALU: edge values through every form of every instruction."""

import random

import convert  # noqa: F401  (fills OPS)
from case import (ANY, EXACT, HALVES, MODE, NAN32, NAN64, ROUGH64, ULP16, ULP32, Case)
from fp import F16, F32, F64, NAN
from valu import M16, M32, M64, OPS, s

FORMATS = {"f16": F16, "f32": F32, "f64": F64}
WORDS = {"i16": 1, "i32": 1, "i64": 2, "i128": 4, "f16": 1, "f32": 1, "f64": 2, "pk": 1}
BITS = {"i16": 16, "i32": 32, "i64": 64, "i128": 128, "f16": 16, "f32": 32, "f64": 64, "pk": 32}
# isa.h: enum isa_form, the modifiers of src/code/isa/internal.h and the flags
E64, SDWA, DPP16, DPP8 = 1, 2, 3, 4
NEG, ABS, CLAMP, OMOD, OPSEL, SDST, INT1 = 7, 56, 64, 128, 256, 1024, 8192
LANE_FLAGS = 1 << 19 | 1 << 20 | 1 << 29  # v_readlane, permlane, movrel
rng = random.Random(1)


class Lane:
    """What a lane function may ask."""

    def __init__(self, mode=MODE):
        self.mode, self.lane, self.carry, self.clamp = mode, 0, 0, 0
        self.ieee = bool(mode & 0x200)
        self.op_sel, self.op_sel_hi, self.neg_lo, self.neg_hi = 0, 7, 0, 0

    def round(self, f):
        return self.mode & 3 if f is F32 else self.mode >> 2 & 3

    def denorm_in(self, f):
        return bool(self.mode & (0x10 if f is F32 else 0x40))

    def denorm_out(self, f):
        return bool(self.mode & (0x20 if f is F32 else 0x80))

    def clamp_float(self, f, r):
        if r == NAN or f.is_nan(r):
            return 0 if self.mode & 0x100 else r
        one = f.bias << f.fraction
        return 0 if r & f.sign else min(r, one)

    def omod_float(self, f, r, omod):
        """Multiplied by 2, 4, 1/2 where the mode lets it."""
        if not omod or self.ieee or self.denorm_out(f) or r == NAN:
            return r
        if f.is_nan(r):
            return NAN
        r = f.flush(f.ldexp(r, {1: 1, 2: 2, 3: -1}[omod]))
        return 0 if r == f.sign else r


def evaluate(op, lane, sources, omod=0, clamp=0):
    """Of raw sources: (result, mask bit)."""
    if op.flush != "never" and not op.packed:
        flushed = []
        for kind, u in zip(op.src, sources):
            f = FORMATS.get(kind)
            if f and (op.flush == "always" or not lane.denorm_in(f)):
                u = f.flush(u)
            flushed.append(u)
        sources = flushed
    lane.clamp = clamp
    r = op.function(lane, *sources)
    bit = None
    if op.dst == "mask":
        return None, bool(r)
    if op.mask_out:
        r, bit = r
    f = FORMATS.get(op.dst)
    if f and not op.packed:
        if r != NAN and (op.flush == "always" or (op.flush == "mode" and not lane.denorm_out(f))):
            r = f.flush(r)
        if op.modify:
            r = lane.omod_float(f, r, omod)
            if clamp:
                r = lane.clamp_float(f, r)
    elif r != NAN and op.dst != "pk":
        r &= (1 << BITS[op.dst]) - 1
    return r, bit


def expected_words(op, r, old):
    """[(word, kind)] of a result on top of the old register words."""
    if op.dst == "pk":
        word, kind = 0, 0
        for k, h in enumerate(r):
            if h is None:
                h = old[0] >> 16 * k & M16
            if h == NAN:
                kind |= HALVES | 1 << k
            else:
                word |= h << 16 * k
        return [(word, kind or EXACT)]
    if op.dst in ("f16", "i16"):
        high = old[0] & ~M16
        if r == NAN:
            return [(high, HALVES | 1)]
        return [(high | r, ULP16 if op.ulp else EXACT)]
    if op.dst == "f32":
        return [(0, NAN32)] if r == NAN else [(r, ULP32 if op.ulp else EXACT)]
    if op.dst == "f64":
        if r == NAN:
            return [(0, ANY), (0, NAN64)]
        if op.ulp:
            return [(r & M32, ANY), (r >> 32, ROUGH64)]
        return [(r & M32, EXACT), (r >> 32, EXACT)]
    return [(r >> 32 * k & M32, EXACT) for k in range(WORDS[op.dst])]


INTS = [0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff,
        0x10000, 0x7fffff, 0x800000, 0xffffff, 0x1000000, 0x7fffffff, 0x80000000, 0xfffffffe,
        0xffffffff, 0x0c080d0b, 0x07060504, 0x12345678]


def edges(kind):
    if kind in FORMATS:
        return FORMATS[kind].edges()
    if kind == "pk":
        half = F16.edges() + [v & M16 for v in INTS]
        return [rng.choice(half) | rng.choice(half) << 16 for _ in range(64)]
    if kind in ("i64", "i128"):
        return INTS + [v << 32 for v in INTS] + [M64, 1 << 63, (1 << 63) - 1, 0xffffffff80000000]
    return [v & ((1 << BITS[kind]) - 1) for v in INTS]


def pick(kind):
    """One value: mostly an edge, else random bits or a number near another."""
    roll = rng.random()
    f = FORMATS.get(kind)
    if roll < 0.6:
        return rng.choice(edges_of[kind])
    if f and roll < 0.85:
        e = f.bias + rng.randint(-12, 12)
        return rng.getrandbits(f.fraction) | e << f.fraction | (f.sign if rng.random() < 0.5 else 0)
    return rng.getrandbits(BITS[kind])


edges_of = {kind: edges(kind) for kind in BITS}
ESSENTIAL = {k: [f.edges()[i] for i in (0, 25, 1, 3, 6, 31, 11, 13, 38, 14, 15, 9)]
             for k, f in FORMATS.items()}


def values(op, lanes, wave):
    """Sources of all lanes of a wave. The first waves pair the essential values."""
    result = []
    for lane in range(lanes):
        row = [pick(kind) for kind in op.src]
        if len(op.src) >= 2 and all(k in FORMATS for k in op.src[:2]) and wave < 5:
            n = wave * lanes + lane
            a, b = ESSENTIAL[op.src[0]], ESSENTIAL[op.src[1]]
            if n < len(a) * len(b):
                row[0], row[1] = a[n // len(b)], b[n % len(b)]
        if len(op.src) == 1 and wave < 2:
            row[0] = edges_of[op.src[0]][(wave * lanes + lane) % len(edges_of[op.src[0]])]
        if "div_scale" in op.name and rng.random() < 0.8:
            row[0] = rng.choice(row[1:])
        if len(op.src) >= 2 and op.src[0] == op.src[1] and rng.random() < 0.1:
            row[1] = row[0]
        result.append(row)
    return result


class Form:
    """One way to write an instruction: text, constants for sources, modifiers."""

    def __init__(self, **options):
        self.kind = "base"  # base, e64, sdwa, dpp16, dpp8
        self.sources = {}  # index: ("s",) or ("k", text, bits) or ("lit", value)
        self.neg, self.abs, self.sext, self.clamp, self.omod = 0, 0, 0, 0, 0
        self.op_sel, self.op_sel_hi, self.neg_lo, self.neg_hi = 0, 7, 0, 0
        self.mode, self.masked, self.wave64 = MODE, False, False
        self.dpp, self.dpp8, self.bound, self.fi = None, None, 0, 0
        self.row_mask, self.bank_mask = 15, 15
        self.dst_sel, self.unused, self.sel = 6, 0, [6, 6]
        self.__dict__.update(options)


def register(kind, first, letter):
    n = WORDS[kind]
    return "%s%d" % (letter, first) if n == 1 else "%s[%d:%d]" % (letter, first, first + n - 1)


SOURCE_AT = (0, 2, 4)  # VGPR or SGPR of each source; 4 words for the last
DST = 8
SELECTS = ["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"]
UNUSED = ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"]


def source_text(op, form, k):
    how = form.sources.get(k, ("v",))
    if how[0] == "k" or how[0] == "lit":
        text = how[1] if how[0] == "k" else "0x%x" % how[1]
    else:
        text = register(op.src[k], SOURCE_AT[k], how[0])
    if form.abs >> k & 1:
        text = "|%s|" % text
    if form.neg >> k & 1:
        text = "-%s" % text
    if form.sext >> k & 1:
        text = "sext(%s)" % text
    return text


def bits_text(name, value, n):
    return " %s:[%s]" % (name, ",".join(str(value >> k & 1) for k in range(n)))


def instruction_text(name, encoding, op, form):
    """The assembler's text of a form."""
    mask = "vcc" if form.wave64 else "vcc_lo"
    far = "s[12:13]" if form.wave64 else "s12"  # a mask result or source in SGPRs
    near = "s[10:11]" if form.wave64 else "s10"
    n = len(op.src) - op.acc
    e64 = form.kind == "e64" or encoding in ("VOP3", "VOP3P")
    operands = []
    if op.dst == "mask":
        if "cmpx" not in name:
            operands.append(far if e64 else mask)
    else:
        operands.append(register(op.dst, DST, "v"))
        if op.mask_out:
            operands.append(far if e64 else mask)
    operands += [source_text(op, form, k) for k in range(n)]
    if op.mask_in and "div_fmas" not in name:
        operands.append(near if e64 else mask)
    suffix = {"e64": "_e64", "sdwa": "_sdwa", "dpp16": "_dpp", "dpp8": "_dpp"}.get(
        form.kind, "" if encoding in ("VOP3", "VOP3P") or "mk_" in name or "ak_" in name or
        name == "v_pk_fmac_f16" else "_e32")
    if name.startswith("v_dot2c") or name.startswith("v_dot4c"):
        suffix = suffix if form.kind.startswith("dpp") else "_e32"
    text = name + suffix + " " + ", ".join(operands)
    if encoding == "VOP3P" and "mix" in name:
        text += bits_text("op_sel", form.op_sel, 3) + bits_text("op_sel_hi", form.op_sel_hi, 3)
    elif encoding == "VOP3P":
        if form.op_sel:
            text += bits_text("op_sel", form.op_sel, n)
        if form.op_sel_hi != 7:
            text += bits_text("op_sel_hi", form.op_sel_hi, n)
        if form.neg_lo:
            text += bits_text("neg_lo", form.neg_lo, n)
        if form.neg_hi:
            text += bits_text("neg_hi", form.neg_hi, n)
    elif form.op_sel:
        text += " op_sel:[%s]" % ",".join(
            [str(form.op_sel >> k & 1) for k in range(n)] + [str(form.op_sel >> 3 & 1)])
    if form.clamp:
        text += " clamp"
    text += ["", " mul:2", " mul:4", " div:2"][form.omod]
    if form.kind == "sdwa":
        if op.dst != "mask":
            text += " dst_sel:%s dst_unused:%s" % (SELECTS[form.dst_sel], UNUSED[form.unused])
        text += "".join(" src%d_sel:%s" % (k, SELECTS[form.sel[k]]) for k in range(min(n, 2)))
    if form.kind == "dpp16":
        text += " %s row_mask:0x%x bank_mask:0x%x" % (form.dpp, form.row_mask, form.bank_mask)
        text += (" bound_ctrl:0" if form.bound else "") + (" fi:1" if form.fi else "")
    if form.kind == "dpp8":
        text += " dpp8:[%s]" % ",".join(map(str, form.dpp8)) + (" fi:1" if form.fi else "")
    return text


def dpp_source(form, lane):
    """The lane that DPP reads, or None."""
    if form.kind == "dpp8":
        return (lane & ~7) + form.dpp8[lane & 7]
    what, _, arg = form.dpp.partition(":")
    row, at = lane & ~15, lane & 15
    if what == "quad_perm":
        return (lane & ~3) + eval(arg)[lane & 3]
    if what == "row_mirror":
        return row + 15 - at
    if what == "row_half_mirror":
        return (lane & ~7) + 7 - (lane & 7)
    n = int(arg)
    if what == "row_shl":
        return lane + n if at + n < 16 else None
    if what == "row_shr":
        return lane - n if at >= n else None
    return row + {"row_ror": (at - n) % 16, "row_share": n, "row_xmask": at ^ n}[what]


def prepare(op, form, k, word_bits):
    """A source as the instruction sees it: selections and signs."""
    kind, u = op.src[k], word_bits
    if form.kind == "sdwa" and k < 2:
        sel = form.sel[k]
        width = 8 if sel < 4 else 16 if sel < 6 else 32
        u = u >> (8 * sel if sel < 4 else 16 * (sel - 4) if sel < 6 else 0) & ((1 << width) - 1)
        if form.sext >> k & 1:
            u = s(u, width) & M32
    elif not op.packed and op.src[k] in ("i16", "f16") and form.op_sel >> k & 1:
        u >>= 16
    u &= (1 << BITS[kind]) - 1
    f = FORMATS.get(kind)
    if f and not op.packed:
        if form.abs >> k & 1:
            u &= ~f.sign
        if form.neg >> k & 1:
            u ^= f.sign
    return u


def place_sdwa(form, r, kind, old):
    """A result of SDWA in its part of the register."""
    if form.dst_sel == 6:
        return r, kind
    width = 8 if form.dst_sel < 4 else 16
    shift = 8 * form.dst_sel if width == 8 else 16 * (form.dst_sel - 4)
    part = r & ((1 << width) - 1)
    if form.unused == 2:
        return (old & ~(((1 << width) - 1) << shift)) | part << shift, kind
    if form.unused == 1 and part >> (width - 1):
        return (-1 << (shift + width)) & M32 | part << shift, kind
    return part << shift, kind


def build(name, encoding, chip, op, form, wave):
    """A case of one form with the values of a wave."""
    c = Case(name, encoding, instruction_text(name, encoding, op, form), form.wave64, chip)
    c.mode = form.mode
    if form.masked:
        c.exec = rng.getrandbits(c.lanes) | 1
    old = [[rng.getrandbits(32) for _ in range(c.lanes)] for _ in range(WORDS.get(op.dst, 1))]
    raw = values(op, c.lanes, wave)
    n = len(op.src)
    constants = {}
    for k in range(n - op.acc):
        how = form.sources.get(k, ("v",))
        if how[0] == "s":
            value = raw[0][k]
            c.put(1, SOURCE_AT[k], [value >> 32 * w for w in range(WORDS[op.src[k]])])
            constants[k] = value
        elif how[0] == "k":
            constants[k] = how[2]
        elif how[0] == "lit":
            constants[k] = how[1] << 32 if op.src[k] == "f64" else how[1]
        else:
            padded = [row[k] for row in raw]
            if BITS[op.src[k]] == 16:  # the other half must not matter
                padded = [v | rng.getrandbits(16) << 16 for v in padded]
                if form.op_sel >> k & 1 and not op.packed:
                    padded = [v >> 16 | v << 16 & M32 for v in padded]
            for lane, v in enumerate(padded):
                raw[lane][k] = v
            c.put_wide(SOURCE_AT[k], padded, WORDS[op.src[k]])
    for lane in range(c.lanes):
        for k, value in constants.items():
            raw[lane][k] = value
        if op.acc:
            for w in range(WORDS[op.dst]):
                old[w][lane] = raw[lane][-1] >> 32 * w & M32
    if op.dst != "mask":
        for w, row in enumerate(old):
            c.put(0, DST + w, row)
    carry = rng.getrandbits(c.lanes)
    e64 = form.kind == "e64" or encoding in ("VOP3", "VOP3P")
    far = e64 and "div_fmas" not in name
    c.vcc = rng.getrandbits(64)
    if op.mask_in and far:
        c.put(1, 10, [carry] if c.lanes == 32 else [carry & M32, carry >> 32])
    elif op.mask_in:
        c.vcc = c.vcc & ~((1 << c.lanes) - 1) | carry
    finish(c, name, op, form, raw, old, carry, e64)
    return c


def finish(c, name, op, form, raw, old, carry, e64):
    """Compute what must come out."""
    lane_state = Lane(form.mode)
    for key in ("op_sel", "op_sel_hi", "neg_lo", "neg_hi"):
        setattr(lane_state, key, getattr(form, key))
    if "mix" in name:
        lane_state.neg_lo, lane_state.neg_hi = form.neg, form.abs
    mask, words, kinds = 0, [list(row) for row in old], [[EXACT] * c.lanes for _ in old]
    for lane in range(c.lanes):
        if not c.exec >> lane & 1:
            continue
        sources = list(raw[lane])
        if form.kind in ("dpp16", "dpp8"):
            if form.kind == "dpp16" and not (form.row_mask >> lane // 16 & 1 and
                                             form.bank_mask >> lane // 4 % 4 & 1):
                continue
            at = dpp_source(form, lane)
            if at is not None and (form.fi or c.exec >> at & 1):
                sources[0] = raw[at][0]
            elif form.kind == "dpp8" or form.bound:
                sources[0] = 0
            else:
                continue
        lane_state.lane, lane_state.carry = lane, carry >> lane & 1
        prepared = [prepare(op, form, k, u) for k, u in enumerate(sources)]
        r, bit = evaluate(op, lane_state, prepared, form.omod, form.clamp)
        if bit:
            mask |= 1 << lane
        if op.dst == "mask":
            continue
        before = [row[lane] for row in old]
        if op.dst in ("i16", "f16") and form.op_sel >> 3 & 1 and not op.packed:
            before = [before[0] >> 16 | before[0] << 16 & M32]
        for w, (value, kind) in enumerate(expected_words(op, r, before)):
            if form.kind == "sdwa":
                plain = value if op.dst == "pk" else 0 if r == NAN else r
                value, kind = place_sdwa(form, plain, EXACT if kind == EXACT else ANY, old[w][lane])
            if op.dst in ("i16", "f16") and form.op_sel >> 3 & 1 and not op.packed:
                value = value >> 16 | value << 16 & M32
                kind = {EXACT: EXACT, HALVES | 1: HALVES | 2}[kind]
            words[w][lane], kinds[w][lane] = value, kind
    if op.dst == "mask" or op.mask_out:
        if "cmpx" in name:
            c.want["exec"] = mask
        elif e64:
            c.expect(1, 12, [mask] if c.lanes == 32 else [mask & M32, mask >> 32])
        else:
            c.want["vcc"] = c.vcc & ~((1 << c.lanes) - 1) | mask
    if op.dst != "mask":
        for w, row in enumerate(words):
            c.expect(0, DST + w, row, kinds[w])


INLINE_INT = [(str(k), k) for k in (0, 1, 64, 33, -1, -16, -7)]
INLINE_FLOAT = [("0.5", 1, -1), ("-0.5", -1, -1), ("1.0", 1, 0), ("-2.0", -1, 1), ("4.0", 1, 2)]


def constant(kind):
    """An inline constant for a source of this kind: ("k", text, bits)."""
    f = FORMATS.get(kind) or {"i32": F32, "i64": F64, "i16": F16, "pk": F16}[kind]
    if kind in ("pk",):
        text, sign, e = rng.choice(INLINE_FLOAT)
        return ("k", text, F16.make(sign < 0, 1, e))
    if rng.random() < 0.5 or kind in ("i16",):
        text, value = rng.choice(INLINE_INT)
        return ("k", text, value & ((1 << BITS[kind]) - 1))
    if rng.random() < 0.2:
        text = "0.15915494309189532" if f is F64 else "0.15915494"
        return ("k", text, {16: 0x3118, 32: 0x3e22f983, 64: 0x3fc45f306dc9c882}[f.bits])
    text, sign, e = rng.choice(INLINE_FLOAT)
    return ("k", text, f.make(sign < 0, 1, e))


def literal(kind):
    bits = 16 if BITS[kind] == 16 else 32
    value = rng.choice(edges_of["i32"] + [0x3f123456, 0x40490fdb, 0x7fc00000]) & ((1 << bits) - 1)
    return ("lit", value | (0x4321 if bits == 16 else 0x54320000))


DPPS = ["quad_perm:[3,1,0,2]", "row_shl:1", "row_shl:15", "row_shr:3", "row_ror:5", "row_mirror",
        "row_half_mirror", "row_share:7", "row_xmask:9"]
MODES = [0x300, 0x3c0, 0x330, 0x0f0, 0x1f0, 0x310, 0x3a0, 0x3f5, 0x3fa, 0x3ff, 0x305]


def forms(name, encoding, op, row_forms, mods):
    """The forms of a row to be tried."""
    n = len(op.src) - op.acc
    has_float = any(k in FORMATS for k in op.src + [op.dst]) or "f16" in name
    ak = "ak_" in name or "mk_" in name

    def fixed():
        """The constant that an instruction always has, of a middling size."""
        bits = {"f32": (0x3f123456, 0xbfc00000, 0x40490fdb, 0x3e99999a),
                "f16": (0x3555, 0xc248, 0x3c66)}
        at = 2 if "ak_" in name else 1
        return {at: ("lit", rng.choice(bits[op.src[at]]))} if ak else {}

    plain = 6 if n > 1 else 3
    yield from (Form(sources=fixed()) for _ in range(plain))
    yield Form(masked=True, sources=fixed())
    yield Form(wave64=True, masked=True, sources=fixed())
    yield Form(sources={**fixed(), 0: ("s",)})
    if encoding not in ("VOP3P",) or "f16" in name and "mix" not in name:
        if "i128" not in op.src:
            yield Form(sources={**fixed(), 0: constant(op.src[0])}, masked=True)
            yield Form(sources={**fixed(), 0: constant(op.src[0])})
        if not ak and op.src[0] not in ("i64", "pk"):
            yield Form(sources={0: literal(op.src[0])})
    if has_float:
        yield from (Form(mode=m, sources=fixed()) for m in MODES)
    if ak:
        return
    if encoding in ("VOP3", "VOP3P") or row_forms >> E64 & 1:
        kind = "e64" if encoding in ("VOP1", "VOP2", "VOPC") else "base"
        yield Form(kind=kind, masked=True)
        yield Form(kind=kind, wave64=True)
        if n > 1 and op.src[1] != "i128" and encoding != "VOP3P":
            yield Form(kind=kind, sources={1: ("s",)})
            yield Form(kind=kind, sources={1: constant(op.src[1])})
        if n > 2 and op.src[2] not in ("i128", "pk") and encoding != "VOP3P":
            yield Form(kind=kind, sources={2: ("s",), 0: ("s",)})
            yield Form(kind=kind, sources={2: constant(op.src[2])})
        if encoding != "VOP3P":
            yield from modified(kind, op, mods, n)
    if encoding == "VOP3P":
        yield from packed_forms(name, op, n)
    yield from sdwa_forms(op, row_forms, mods, n)
    yield from dpp_forms(op, row_forms, mods, n)


def modified(kind, op, mods, n):
    for _ in range(3):
        neg = rng.getrandbits(3) & mods & NEG & ((1 << n) - 1)
        absolute = rng.getrandbits(3) & (mods & ABS) >> 3 & ((1 << n) - 1)
        if mods & INT1:
            neg &= 1
        if neg or absolute:
            yield Form(kind=kind, neg=neg, abs=absolute)
    if mods & CLAMP:
        yield Form(kind=kind, clamp=1)
        yield Form(kind=kind, clamp=1)
        if op.dst in FORMATS:
            yield Form(kind=kind, clamp=1, mode=0x2f0)
    if mods & OMOD:
        for omod in (1, 2, 3):
            yield Form(kind=kind, omod=omod, mode=0x100)
        yield Form(kind=kind, omod=1)
        yield Form(kind=kind, omod=1, mode=0x1f0)
    if mods & OPSEL and any(BITS[k] == 16 for k in op.src):
        for _ in range(3):
            select = rng.getrandbits(4) or 1
            for k, name in enumerate(op.src):
                if BITS[name] != 16:
                    select &= ~(1 << k)
            if BITS[op.dst] != 16:
                select &= 7
            if select:
                yield Form(kind=kind, op_sel=select)


def packed_forms(name, op, n):
    for _ in range(5):
        form = Form(op_sel=rng.getrandbits(n), op_sel_hi=rng.getrandbits(n) | 7 << n & 7)
        if "mix" in name:
            form.neg, form.abs = rng.getrandbits(3), rng.getrandbits(3)
            form.op_sel &= form.op_sel_hi
        elif "f16" in name:
            form.neg_lo, form.neg_hi = rng.getrandbits(n), rng.getrandbits(n)
            if "dot" in name:
                form.neg_lo, form.neg_hi = form.neg_lo & 3, form.neg_hi & 3
        if "dot" in name:
            form.op_sel, form.op_sel_hi = form.op_sel & 3, form.op_sel_hi | 4
        if "dot4" in name or "dot8" in name:
            form.op_sel, form.op_sel_hi = 0, 7
        yield form
    yield Form(clamp=1, op_sel_hi=7)
    yield Form(clamp=1, op_sel_hi=7, mode=0x2f0)
    if "mix" in name:
        yield Form(op_sel_hi=0)
        yield Form(op_sel_hi=0, clamp=1)
    if "mix" in name:
        yield Form(op_sel_hi=5, sources={1: ("s",)})


def sdwa_forms(op, row_forms, mods, n):
    if not row_forms >> SDWA & 1:
        return
    for k in range(4):
        form = Form(kind="sdwa", masked=k == 0, wave64=k == 1)
        form.sel = [rng.randrange(7), rng.randrange(7)]
        if op.dst in ("i16", "f16"):
            form.dst_sel = rng.randrange(6)
        elif op.dst != "mask":
            form.dst_sel = rng.randrange(7)
        form.unused = rng.randrange(3)
        for source in range(min(n, 2)):
            if op.src[source] in FORMATS and mods >> source & 1:
                form.neg |= rng.getrandbits(1) << source
                form.abs |= rng.getrandbits(1) << source
            elif op.src[source] not in FORMATS and form.sel[source] < 6:
                form.sext |= rng.getrandbits(1) << source
        yield form


def dpp_forms(op, row_forms, mods, n):
    if op.mask_out:
        return
    if row_forms >> DPP16 & 1:
        for k in range(4):
            yield Form(kind="dpp16", dpp=rng.choice(DPPS), bound=rng.getrandbits(1),
                       fi=rng.getrandbits(1), masked=k != 1, wave64=k == 2,
                       row_mask=rng.choice((15, 15, 5)), bank_mask=rng.choice((15, 15, 6)))
    if row_forms >> DPP8 & 1:
        yield Form(kind="dpp8", dpp8=[7, 6, 1, 3, 0, 2, 2, 5], masked=True)
        yield Form(kind="dpp8", dpp8=[1, 1, 0, 7, 4, 2, 3, 6], fi=1, masked=True)


def cases(rows):
    result = []
    for name, encoding, row_forms, mods, chips, _, _, _, _, flags in rows:
        op = OPS.get(name)
        if op is None or not encoding.startswith("VOP") or flags & LANE_FLAGS:
            continue
        op.name = name
        chip = min(k for k in range(5) if chips >> k & 1)
        for wave, form in enumerate(forms(name, encoding, op, row_forms, mods)):
            result.append(build(name, encoding, chip, op, form, wave))
    return result
