"""The rest of the vector ALU: conversions, transcendentals, packed and mixed arithmetic."""

from decimal import Decimal, getcontext
from fractions import Fraction

from fp import DOWN, F16, F32, F64, NAN, NEAREST, ZERO
from valu import M16, OPS, Op, clamped, op, s, sat

getcontext().prec = 40

# ---- to and from integers ----


def whole(f, u, how, low, high):
    k = f.to_int(u, how)
    return 0 if k is None else sat(k, low, high)


I32, U32, I16, U16 = (-2**31, 2**31 - 1), (0, 2**32 - 1), (-2**15, 2**15 - 1), (0, 2**16 - 1)
op("v_cvt_i32_f32", "i32", "f32")(lambda c, a: whole(F32, a, ZERO, *I32))
op("v_cvt_u32_f32", "i32", "f32")(lambda c, a: whole(F32, a, ZERO, *U32))
op("v_cvt_i32_f64", "i32", "f64")(lambda c, a: whole(F64, a, ZERO, *I32))
op("v_cvt_u32_f64", "i32", "f64")(lambda c, a: whole(F64, a, ZERO, *U32))
op("v_cvt_i16_f16", "i16", "f16")(lambda c, a: whole(F16, a, ZERO, *I16))
op("v_cvt_u16_f16", "i16", "f16")(lambda c, a: whole(F16, a, ZERO, *U16))
op("v_cvt_flr_i32_f32", "i32", "f32")(lambda c, a: whole(F32, a, DOWN, *I32))


@op("v_cvt_rpi_i32_f32", "i32", "f32")
def rpi(c, a):
    if F32.is_nan(a):
        return 0
    if F32.is_inf(a):
        return I32[a < F32.sign]
    n, m, e = F32.parts(a)
    x = Fraction(m) * Fraction(2)**e + 0
    x = -x if n else x
    return sat((x + Fraction(1, 2)).__floor__(), *I32)


op("v_cvt_f32_i32", "f32", "i32")(lambda c, a: F32.of_int(s(a, 32), c.round(F32)))
op("v_cvt_f32_u32", "f32", "i32")(lambda c, a: F32.of_int(a, c.round(F32)))
op("v_cvt_f64_i32", "f64", "i32")(lambda c, a: F64.of_int(s(a, 32)))
op("v_cvt_f64_u32", "f64", "i32")(lambda c, a: F64.of_int(a))
op("v_cvt_f16_i16", "f16", "i16")(lambda c, a: F16.of_int(s(a, 16), c.round(F16)))
op("v_cvt_f16_u16", "f16", "i16")(lambda c, a: F16.of_int(a, c.round(F16)))
for _k in range(4):
    op("v_cvt_f32_ubyte%d" % _k, "f32", "i32")(lambda c, a, k=_k: F32.of_int(a >> 8 * k & 255))
op("v_cvt_off_f32_i4", "f32", "i32")(lambda c, a: F32.make(s(a, 4) < 0, abs(s(a, 4)), -4))
op("v_cvt_f32_f16", "f32", "f16")(lambda c, a: F16.convert(a, F32))
op("v_cvt_f16_f32", "f16", "f32")(lambda c, a: F32.convert(a, F16, c.round(F16)))
op("v_cvt_f32_f64", "f32", "f64")(lambda c, a: F64.convert(a, F32, c.round(F32)))
op("v_cvt_f64_f32", "f64", "f32")(lambda c, a: F32.convert(a, F64))


def norm(f, u, scale, low):
    """[-1, 1] or [0, 1] to integers, half to even."""
    if f.is_nan(u):
        return 0
    one = f.bias << f.fraction
    if (u & ~f.sign) >= one:
        return (low if low < 0 else 0) if u & f.sign else scale
    n, m, e = f.parts(u)
    x = Fraction(m * scale) * Fraction(2)**e
    k = round(x)  # Python rounds halves to even
    return 0 if n and low == 0 else (-k if n else k)


for _f, _t in ((F16, "f16"), (F32, "f32")):
    op("v_cvt_pknorm_i16_" + _t, "i32", _t + " " + _t)(lambda c, a, b, f=_f: (
        norm(f, a, 32767, -32767) & M16) | (norm(f, b, 32767, -32767) & M16) << 16)
    op("v_cvt_pknorm_u16_" + _t, "i32", _t + " " + _t)(
        lambda c, a, b, f=_f: norm(f, a, 65535, 0) | norm(f, b, 65535, 0) << 16)
op("v_cvt_norm_i16_f16", "i16", "f16")(lambda c, a: norm(F16, a, 32767, -32767))
op("v_cvt_norm_u16_f16", "i16", "f16")(lambda c, a: norm(F16, a, 65535, 0))


@op("v_cvt_pk_u8_f32", "i32", "f32 i32 i32")
def pk_u8(c, a, b, d):
    k, shift = whole(F32, a, NEAREST, 0, 255), b % 4 * 8
    return (d & ~(255 << shift)) | k << shift


def half_rtz(c, u):
    r = F32.convert(u, F16, ZERO)
    if r != NAN and not c.denorm_out(F16):
        r = F16.flush(r)
    if c.clamp:
        r = c.clamp_float(F16, r)
    return r


op("v_cvt_pkrtz_f16_f32", "pk", "f32 f32")(lambda c, a, b: (half_rtz(c, a), half_rtz(c, b)))

# ---- transcendentals: forty digits ----

TAU = Decimal("6.283185307179586476925286766559005768394338798750211641949889185")
LN2 = Decimal(2).ln()


def decimal_of(f, u):
    n, m, e = f.parts(u)
    x = Decimal(m) * Decimal(2)**e
    return -x if n else x


def of_decimal(f, x):
    """The nearest number to a Decimal (its forty digits are far more than any format has)."""
    if not x:
        return 0
    ratio = Fraction(x)
    n, d = abs(ratio.numerator), ratio.denominator
    shift = 200 - n.bit_length() + d.bit_length()
    q = (n << shift) // d if shift > 0 else n // (d << -shift)
    return f.make(ratio < 0, q | 1, -shift)


def sine(turns):
    """Of a fraction of a turn, by its series."""
    x = (turns - turns.to_integral_value()) * TAU
    term, total, k = x, x, 1
    while abs(term) > Decimal(10)**-38:
        term = -term * x * x / ((k + 1) * (k + 2))
        total, k = total + term, k + 2
    return total


def trans(name, f, u):
    if f.is_nan(u):
        return NAN
    n, zero, inf = bool(u & f.sign), f.is_zero(u), f.is_inf(u)
    if name == "exp":
        if inf:
            return 0 if n else f.inf
        x = decimal_of(f, u)
        if abs(x) > 5000:
            return 0 if n else f.inf
        return of_decimal(f, Decimal(2)**x) if x else f.bias << f.fraction
    if name == "rcp":
        if zero:
            return u | f.inf
        return u & f.sign if inf else of_decimal(f, 1 / decimal_of(f, u))
    if name in ("sin", "cos"):
        if inf:
            return NAN
        x = decimal_of(f, u)
        return of_decimal(f, sine(x if name == "sin" else x % 1 + Decimal("0.25"))) if x else (
            u if name == "sin" else f.bias << f.fraction)
    if zero:
        return {"log": f.sign | f.inf, "rsq": u | f.inf, "sqrt": u}[name]
    if n:
        return NAN
    if inf:
        return {"log": f.inf, "rsq": 0, "sqrt": f.inf}[name]
    x = decimal_of(f, u)
    return of_decimal(f, {"log": lambda: x.ln() / LN2, "rsq": lambda: 1 / x.sqrt(),
                          "sqrt": x.sqrt}[name]())


for _n in "exp log rcp rsq sqrt sin cos".split():
    op("v_%s_f32" % _n, "f32", "f32", ulp=1, flush="always")(lambda c, a, n=_n: trans(n, F32, a))
    op("v_%s_f16" % _n, "f16", "f16", ulp=1)(lambda c, a, n=_n: trans(n, F16, a))
OPS["v_rcp_iflag_f32"] = OPS["v_rcp_f32"]
for _n in "rcp rsq sqrt".split():
    op("v_%s_f64" % _n, "f64", "f64", ulp=2**29)(lambda c, a, n=_n: trans(n, F64, a))


def _two_over_pi():
    """2 / pi times 2**1201, rounded down, by Machin's formula."""
    def arctan(x):
        total, term, k, sign = 0, (1 << 1400) // x, 1, 1
        while term:
            total, term, k, sign = total + sign * (term // k), term // (x * x), k + 2, -sign
        return total

    pi = 4 * (4 * arctan(5) - arctan(239))
    return (2 << 1400 + 1201) // pi


TWO_OVER_PI = _two_over_pi()


@op("v_trig_preop_f64", "f64", "f64 i32")
def trig_preop(c, a, b):
    e, shift = a >> 52 & 2047, b % 32 * 53
    if e > 1077:
        shift += e - 1077
    bits = (TWO_OVER_PI << 2000 >> (1201 + 2000 - 53 - shift)) % 2**53 if shift < 3000 else 0
    return F64.make(False, bits, -53 - shift + (128 if e >= 1968 else 0), c.round(F64))


# ---- packed; sources are words, the Lane has op_sel and its kin ----


def halves(c, words, is_float):
    """((low sources), (high sources)) after op_sel and neg."""
    result = []
    for select, negate in ((c.op_sel, c.neg_lo), (c.op_sel_hi, c.neg_hi)):
        row = []
        for k, word in enumerate(words):
            h = word >> (16 if select >> k & 1 else 0) & M16
            row.append(h ^ 0x8000 if is_float and negate >> k & 1 else h)
        result.append(row)
    return result


def packed(name, sources, is_float, function):
    def run(c, *words):
        out = []
        for row in halves(c, words, is_float):
            if is_float and not c.denorm_in(F16):
                row = [F16.flush(h) for h in row]
            r = function(c, *row)
            if is_float and r != NAN and not c.denorm_out(F16):
                r = F16.flush(r)
            if is_float and c.clamp:
                r = c.clamp_float(F16, r)
            out.append(r if r == NAN else r & M16)
        return tuple(out)

    OPS[name] = Op("pk", " ".join(["pk"] * sources), run, packed=True, flush="never")


def of(name):
    """The oracle of the instruction on single halves."""
    return OPS[name].function


for _n in "add_i16 sub_i16 add_u16 sub_u16".split():
    packed("v_pk_" + _n, 2, False, of("v_%s_nc_%s" % tuple(_n.split("_"))))
for _n in "lshlrev_b16 lshrrev_b16 ashrrev_i16 max_i16 min_i16 max_u16 min_u16 mul_lo_u16".split():
    packed("v_pk_" + _n, 2, False, of("v_" + _n))
packed("v_pk_mad_i16", 3, False, of("v_mad_i16"))
packed("v_pk_mad_u16", 3, False, of("v_mad_u16"))
for _n in "add_f16 mul_f16 min_f16 max_f16".split():
    packed("v_pk_" + _n, 2, True, of("v_" + _n))
packed("v_pk_fma_f16", 3, True, of("v_fma_f16"))
packed("v_pk_fmac_f16", 3, True, of("v_fma_f16"))
OPS["v_pk_fmac_f16"].acc = True


def mix(c, words):
    """The fused sum in f32, bits or NAN."""
    x = []
    for k, word in enumerate(words):
        if c.op_sel_hi >> k & 1:
            h = word >> (16 if c.op_sel >> k & 1 else 0) & M16
            if not c.denorm_in(F16):
                h = F16.flush(h)
            u = F16.convert(h, F32)
            u = 0x7fc00000 if u == NAN else u
        else:
            u = word if c.denorm_in(F32) else F32.flush(word)
        if c.neg_hi >> k & 1:
            u &= 0x7fffffff
        if c.neg_lo >> k & 1:
            u ^= 0x80000000
        x.append(u)
    r = F32.fma(*x, c.round(F32))
    return r if r == NAN or c.denorm_out(F32) else F32.flush(r)


@op("v_fma_mix_f32", "f32", "pk pk pk", packed=True, flush="never", modify=False)
def fma_mix(c, *words):
    r = mix(c, words)
    return c.clamp_float(F32, r) if c.clamp else r


def mix_half(c, words):
    r = mix(c, words)
    r = NAN if r == NAN else F32.convert(r, F16, c.round(F16))
    if r != NAN and not c.denorm_out(F16):
        r = F16.flush(r)
    return c.clamp_float(F16, r) if c.clamp else r


op("v_fma_mixlo_f16", "pk", "pk pk pk", packed=True, flush="never")(
    lambda c, *words: (mix_half(c, words), None))
op("v_fma_mixhi_f16", "pk", "pk pk pk", packed=True, flush="never")(
    lambda c, *words: (None, mix_half(c, words)))


def dot2_f32(c, a, b, d):
    low, high = halves(c, (a, b), True)
    if not c.denorm_in(F32):
        d = F32.flush(d)
    r = d
    for x, y in (low, high):
        if not c.denorm_in(F16):
            x, y = F16.flush(x), F16.flush(y)
        x, y = (0x7fc00000 if F16.is_nan(h) else F16.convert(h, F32) for h in (x, y))
        product = F32.mul(x, y)
        r = NAN if NAN in (r, product) else F32.add(r, product, c.round(F32))
    if r != NAN and not c.denorm_out(F32):
        r = F32.flush(r)
    return c.clamp_float(F32, r) if c.clamp else r


op("v_dot2_f32_f16", "f32", "pk pk i32", packed=True, flush="never", modify=False)(dot2_f32)
op("v_dot2c_f32_f16", "f32", "pk pk i32", packed=True, flush="never", acc=True,
   modify=False)(dot2_f32)


def dot(name, bits, signed, **options):
    def run(c, a, b, d):
        if bits == 16:
            low, high = halves(c, (a, b), False)
            a, b = (low[k] | high[k] << 16 for k in (0, 1))
        value = s(d, 32) if signed else d
        for k in range(32 // bits):
            x, y = (v >> bits * k & (2**bits - 1) for v in (a, b))
            value += s(x, bits) * s(y, bits) if signed else x * y
        return clamped(c, value, 32, signed)

    op(name, "i32", ("pk pk" if bits == 16 else "i32 i32") + " i32", packed=True, **options)(run)


dot("v_dot2_i32_i16", 16, True)
dot("v_dot2_u32_u16", 16, False)
dot("v_dot4_i32_i8", 8, True)
dot("v_dot4_u32_u8", 8, False)
dot("v_dot8_i32_i4", 4, True)
dot("v_dot8_u32_u4", 4, False)
dot("v_dot4c_i32_i8", 8, True, acc=True)
