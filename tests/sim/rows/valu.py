"""What vector ALU instructions compute, lane by lane, from the text of the ISA documents.

OPS[name] is an Op: the kinds of its result and sources and a function of the raw bits of one lane.
The first argument of the function is the Lane: modes, carry, the instruction's clamp."""

from fp import DOWN, F16, F32, F64, NAN, NEAREST, UP, ZERO

M16, M32, M64 = (1 << 16) - 1, (1 << 32) - 1, (1 << 64) - 1
OPS = {}


class Op:
    """dst, src: "i16" "i32" "i64" "i128" "f16" "f32" "f64" "mask" "pk" (two halves, raw)."""

    def __init__(self, dst, src, function, **options):
        self.dst, self.src, self.function = dst, src.split(), function
        self.mask_out = options.get("mask_out", False)  # also returns a bit
        self.mask_in = options.get("mask_in", False)
        self.acc = options.get("acc", False)  # the last source is the old result
        self.ulp = options.get("ulp", 0)
        self.flush = options.get("flush", "mode")  # "always", "never"
        self.packed = options.get("packed", False)
        self.modify = options.get("modify", True)  # omod and clamp as floats have them


def op(names, dst, src, **options):
    def take(function):
        for name in names.split():
            OPS[name] = Op(dst, src, function, **options)
        return function

    return take


def s(value, bits):
    """Signed value of the low bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def sat(value, low, high):
    return max(low, min(high, value))


def sat_u(value, bits):
    return sat(value, 0, (1 << bits) - 1)


def sat_i(value, bits):
    return sat(value, -(1 << (bits - 1)), (1 << (bits - 1)) - 1)


# ---- integers ----

op("v_mov_b32", "i32", "i32")(lambda c, a: a)
op("v_not_b32", "i32", "i32")(lambda c, a: M32 - a)
op("v_bfrev_b32", "i32", "i32")(lambda c, a: int("{:032b}".format(a)[::-1], 2))
op("v_ffbh_u32", "i32", "i32")(lambda c, a: 32 - a.bit_length() if a else M32)
op("v_ffbl_b32", "i32", "i32")(lambda c, a: (a & -a).bit_length() - 1 if a else M32)


@op("v_ffbh_i32", "i32", "i32")
def ffbh_i32(c, a):
    text = "{:032b}".format(a)
    k = text.find("1" if text[0] == "0" else "0")
    return k if k > 0 else M32


op("v_sat_pk_u8_i16", "i32", "i32")(
    lambda c, a: sat(s(a, 16), 0, 255) | sat(s(a >> 16, 16), 0, 255) << 8)
op("v_cndmask_b32", "i32", "f32 f32", mask_in=True, flush="never")(
    lambda c, a, b: b if c.carry else a)


def clamped(c, value, bits, signed):
    """An integer result: wrapped, or saturated when the instruction says clamp."""
    if c.clamp:
        value = sat_i(value, bits) if signed else sat_u(value, bits)
    return value & ((1 << bits) - 1)


op("v_mul_i32_i24", "i32", "i32 i32")(lambda c, a, b: clamped(c, s(a, 24) * s(b, 24), 32, True))
op("v_mul_u32_u24", "i32", "i32 i32")(
    lambda c, a, b: clamped(c, a % 2**24 * (b % 2**24), 32, False))
op("v_mul_hi_i32_i24", "i32", "i32 i32")(lambda c, a, b: s(a, 24) * s(b, 24) // 2**32)
op("v_mul_hi_u32_u24", "i32", "i32 i32")(lambda c, a, b: a % 2**24 * (b % 2**24) // 2**32)
op("v_mad_i32_i24", "i32", "i32 i32 i32")(
    lambda c, a, b, d: clamped(c, s(a, 24) * s(b, 24) + s(d, 32), 32, True))
op("v_mad_u32_u24", "i32", "i32 i32 i32")(
    lambda c, a, b, d: clamped(c, a % 2**24 * (b % 2**24) + d, 32, False))
op("v_min_i32", "i32", "i32 i32")(lambda c, a, b: min(s(a, 32), s(b, 32)))
op("v_max_i32", "i32", "i32 i32")(lambda c, a, b: max(s(a, 32), s(b, 32)))
op("v_min_u32", "i32", "i32 i32")(lambda c, a, b: min(a, b))
op("v_max_u32", "i32", "i32 i32")(lambda c, a, b: max(a, b))
op("v_lshrrev_b32", "i32", "i32 i32")(lambda c, a, b: b // 2**(a % 32))
op("v_ashrrev_i32", "i32", "i32 i32")(lambda c, a, b: s(b, 32) // 2**(a % 32))
op("v_lshlrev_b32", "i32", "i32 i32")(lambda c, a, b: b * 2**(a % 32))
op("v_and_b32", "i32", "i32 i32")(lambda c, a, b: a & b)
op("v_or_b32", "i32", "i32 i32")(lambda c, a, b: a | b)
op("v_xor_b32", "i32", "i32 i32")(lambda c, a, b: a ^ b)
op("v_xnor_b32", "i32", "i32 i32")(lambda c, a, b: M32 - (a ^ b))
op("v_add_nc_u32", "i32", "i32 i32")(lambda c, a, b: clamped(c, a + b, 32, False))
op("v_sub_nc_u32", "i32", "i32 i32")(lambda c, a, b: clamped(c, a - b, 32, False))
op("v_subrev_nc_u32", "i32", "i32 i32")(lambda c, a, b: clamped(c, b - a, 32, False))
op("v_add_nc_i32", "i32", "i32 i32")(lambda c, a, b: clamped(c, s(a, 32) + s(b, 32), 32, True))
op("v_sub_nc_i32", "i32", "i32 i32")(lambda c, a, b: clamped(c, s(a, 32) - s(b, 32), 32, True))


def carries(value, c):
    return clamped(c, value, 32, False), not 0 <= value <= M32


op("v_add_co_u32", "i32", "i32 i32", mask_out=True)(lambda c, a, b: carries(a + b, c))
op("v_sub_co_u32", "i32", "i32 i32", mask_out=True)(lambda c, a, b: carries(a - b, c))
op("v_subrev_co_u32", "i32", "i32 i32", mask_out=True)(lambda c, a, b: carries(b - a, c))
op("v_add_co_ci_u32", "i32", "i32 i32", mask_out=True, mask_in=True)(
    lambda c, a, b: carries(a + b + c.carry, c))
op("v_sub_co_ci_u32", "i32", "i32 i32", mask_out=True, mask_in=True)(
    lambda c, a, b: carries(a - b - c.carry, c))
op("v_subrev_co_ci_u32", "i32", "i32 i32", mask_out=True, mask_in=True)(
    lambda c, a, b: carries(b - a - c.carry, c))


@op("v_mad_u64_u32", "i64", "i32 i32 i64", mask_out=True)
def mad_u64(c, a, b, d):
    value = a * b + d
    return clamped(c, value, 64, False), value > M64


@op("v_mad_i64_i32", "i64", "i32 i32 i64", mask_out=True)
def mad_i64(c, a, b, d):
    value = s(a, 32) * s(b, 32) + s(d, 64)
    return clamped(c, value, 64, True), value != sat_i(value, 64)


op("v_bfe_u32", "i32", "i32 i32 i32")(lambda c, a, b, d: a // 2**(b % 32) % 2**(d % 32))


@op("v_bfe_i32", "i32", "i32 i32 i32")
def bfe_i32(c, a, b, d):
    return s(s(a, 32) >> b % 32, d % 32) if d % 32 else 0


op("v_bfi_b32", "i32", "i32 i32 i32")(lambda c, a, b, d: (a & b) | ((M32 - a) & d))
op("v_alignbit_b32", "i32", "i32 i32 i32")(lambda c, a, b, d: (a << 32 | b) >> d % 32)
op("v_alignbyte_b32", "i32", "i32 i32 i32")(lambda c, a, b, d: (a << 32 | b) >> d % 4 * 8)
for _bits, _names in ((32, "32"), (16, "16")):
    for _k, _signed in (("i", True), ("u", False)):
        _t = "i%d" % _bits

        def key(x, bits=_bits, signed=_signed):
            return s(x, bits) if signed else x

        op("v_min3_%s%s" % (_k, _names), _t, " ".join([_t] * 3))(
            lambda c, a, b, d, key=key: min(a, b, d, key=key))
        op("v_max3_%s%s" % (_k, _names), _t, " ".join([_t] * 3))(
            lambda c, a, b, d, key=key: max(a, b, d, key=key))
        op("v_med3_%s%s" % (_k, _names), _t, " ".join([_t] * 3))(
            lambda c, a, b, d, key=key: sorted((a, b, d), key=key)[1])
op("v_mul_lo_u32 v_mul_lo_i32", "i32", "i32 i32")(lambda c, a, b: a * b)
op("v_mul_hi_u32", "i32", "i32 i32")(lambda c, a, b: a * b >> 32)
op("v_mul_hi_i32", "i32", "i32 i32")(lambda c, a, b: s(a, 32) * s(b, 32) >> 32)
op("v_xor3_b32", "i32", "i32 i32 i32")(lambda c, a, b, d: a ^ b ^ d)
op("v_or3_b32", "i32", "i32 i32 i32")(lambda c, a, b, d: a | b | d)
op("v_and_or_b32", "i32", "i32 i32 i32")(lambda c, a, b, d: (a & b) | d)
op("v_lshl_or_b32", "i32", "i32 i32 i32")(lambda c, a, b, d: (a << b % 32 & M32) | d)
op("v_lshl_add_u32", "i32", "i32 i32 i32")(lambda c, a, b, d: (a << b % 32) + d)
op("v_add_lshl_u32", "i32", "i32 i32 i32")(lambda c, a, b, d: (a + b) << d % 32)
op("v_xad_u32", "i32", "i32 i32 i32")(lambda c, a, b, d: (a ^ b) + d)
op("v_add3_u32", "i32", "i32 i32 i32")(lambda c, a, b, d: a + b + d)
op("v_lshlrev_b64", "i64", "i32 i64")(lambda c, a, b: b << a % 64)
op("v_lshrrev_b64", "i64", "i32 i64")(lambda c, a, b: b >> a % 64)
op("v_ashrrev_i64", "i64", "i32 i64")(lambda c, a, b: s(b, 64) >> a % 64)
op("v_bfm_b32", "i32", "i32 i32")(lambda c, a, b: (2**(a % 32) - 1) << b % 32)
op("v_bcnt_u32_b32", "i32", "i32 i32")(lambda c, a, b: bin(a).count("1") + b)
op("v_mbcnt_lo_u32_b32", "i32", "i32 i32")(
    lambda c, a, b: bin(a & ((1 << c.lane) - 1) & M32).count("1") + b)
op("v_mbcnt_hi_u32_b32", "i32", "i32 i32")(
    lambda c, a, b: bin(a << 32 & ((1 << c.lane) - 1)).count("1") + b)
op("v_cvt_pk_u16_u32", "i32", "i32 i32")(lambda c, a, b: min(a, M16) | min(b, M16) << 16)
op("v_cvt_pk_i16_i32", "i32", "i32 i32")(
    lambda c, a, b: sat_i(s(a, 32), 16) & M16 | (sat_i(s(b, 32), 16) & M16) << 16)
op("v_mad_u32_u16", "i32", "i16 i16 i32")(lambda c, a, b, d: clamped(c, a * b + d, 32, False))
op("v_mad_i32_i16", "i32", "i16 i16 i32")(
    lambda c, a, b, d: clamped(c, s(a, 16) * s(b, 16) + s(d, 32), 32, True))

# ---- 16 bits ----

op("v_add_nc_u16", "i16", "i16 i16")(lambda c, a, b: clamped(c, a + b, 16, False))
op("v_sub_nc_u16", "i16", "i16 i16")(lambda c, a, b: clamped(c, a - b, 16, False))
op("v_add_nc_i16", "i16", "i16 i16")(lambda c, a, b: clamped(c, s(a, 16) + s(b, 16), 16, True))
op("v_sub_nc_i16", "i16", "i16 i16")(lambda c, a, b: clamped(c, s(a, 16) - s(b, 16), 16, True))
op("v_mul_lo_u16", "i16", "i16 i16")(lambda c, a, b: a * b)
op("v_mad_u16", "i16", "i16 i16 i16")(lambda c, a, b, d: clamped(c, a * b + d, 16, False))
op("v_mad_i16", "i16", "i16 i16 i16")(
    lambda c, a, b, d: clamped(c, s(a, 16) * s(b, 16) + s(d, 16), 16, True))
op("v_lshlrev_b16", "i16", "i16 i16")(lambda c, a, b: b << a % 16)
op("v_lshrrev_b16", "i16", "i16 i16")(lambda c, a, b: b >> a % 16)
op("v_ashrrev_i16", "i16", "i16 i16")(lambda c, a, b: s(b, 16) >> a % 16)
op("v_min_u16", "i16", "i16 i16")(lambda c, a, b: min(a, b))
op("v_max_u16", "i16", "i16 i16")(lambda c, a, b: max(a, b))
op("v_min_i16", "i16", "i16 i16")(lambda c, a, b: min(s(a, 16), s(b, 16)))
op("v_max_i16", "i16", "i16 i16")(lambda c, a, b: max(s(a, 16), s(b, 16)))

# ---- bytes ----


def octets(x, n=4):
    return [x >> 8 * k & 255 for k in range(n)]


def sad(a, b):
    return sum(abs(x - y) for x, y in zip(octets(a), octets(b)))


def msad(a, b):
    return sum(abs(x - y) for x, y in zip(octets(a), octets(b)) if y)


op("v_sad_u8", "i32", "i32 i32 i32")(lambda c, a, b, d: clamped(c, sad(a, b) + d, 32, False))
op("v_sad_hi_u8", "i32", "i32 i32 i32")(
    lambda c, a, b, d: clamped(c, sad(a, b) * 65536 + d, 32, False))
op("v_sad_u16", "i32", "i32 i32 i32")(lambda c, a, b, d: clamped(
    c, abs(a % 65536 - b % 65536) + abs(a // 65536 - b // 65536) + d, 32, False))
op("v_sad_u32", "i32", "i32 i32 i32")(lambda c, a, b, d: clamped(c, abs(a - b) + d, 32, False))
op("v_msad_u8", "i32", "i32 i32 i32")(lambda c, a, b, d: clamped(c, msad(a, b) + d, 32, False))
op("v_lerp_u8", "i32", "i32 i32 i32")(lambda c, a, b, d: sum(
    (x + y + (z & 1)) // 2 << 8 * k
    for k, (x, y, z) in enumerate(zip(octets(a), octets(b), octets(d)))))


def quad(c, function, a, b, d, bits):
    return sum(clamped(c, function(a >> 8 * k & M32, b) + (d >> bits * k) % 2**bits, bits, False)
               << bits * k for k in range(4))


op("v_qsad_pk_u16_u8", "i64", "i64 i32 i64")(lambda c, a, b, d: quad(c, sad, a, b, d, 16))
op("v_mqsad_pk_u16_u8", "i64", "i64 i32 i64")(lambda c, a, b, d: quad(c, msad, a, b, d, 16))
op("v_mqsad_u32_u8", "i128", "i64 i32 i128")(lambda c, a, b, d: quad(c, msad, a, b, d, 32))


@op("v_perm_b32", "i32", "i32 i32 i32")
def perm(c, a, b, d):
    source = octets(b) + octets(a)
    table = source + [255 * (source[k] >> 7) for k in (1, 3, 5, 7)] + [0]
    return sum((table[k] if k < 13 else 255) << 8 * i for i, k in enumerate(octets(d)))


# ---- f32, f16, f64 ----


def minimum(c, f, a, b, sign=1):
    """v_min, or v_max with sign -1, on bits."""
    if c.ieee and f.is_snan(a):
        return a | f.quiet
    if c.ieee and f.is_snan(b):
        return b | f.quiet
    if f.is_nan(a):
        return b
    if f.is_nan(b):
        return a
    return a if sign * f.order(a) < sign * f.order(b) else b


def medium(c, f, a, b, d):
    if f.is_nan(a) or f.is_nan(b) or f.is_nan(d):
        return minimum(c, f, minimum(c, f, a, b), d)
    top = max((a, b, d), key=f.order)
    if f.equal(top, a):
        return minimum(c, f, b, d, -1)
    if f.equal(top, b):
        return minimum(c, f, a, d, -1)
    return minimum(c, f, a, b, -1)


def quieted(f, u):
    return NAN if f.is_nan(u) else u


def fract(f, u, mode):
    whole = f.round_to_int(u, DOWN)
    if whole == NAN or f.is_inf(u):
        return NAN
    r = f.add(u, f.neg(whole), mode)
    one = f.bias << f.fraction
    return one - 1 if r != NAN and r < f.sign and r >= one else r


def frexp(f, u):
    """(mantissa bits, exponent)"""
    if f.is_nan(u) or f.is_inf(u):
        return quieted(f, u), 0
    n, m, e = f.parts(u)
    if not m:
        return u, 0
    return f.make(n, m, -m.bit_length()), e + m.bit_length()


def div_fixup(c, f, q, den, num, underflow):
    sign = (den ^ num) & f.sign
    if f.is_nan(num) or f.is_nan(den):
        return NAN
    if (f.is_zero(den) and f.is_zero(num)) or (f.is_inf(den) and f.is_inf(num)):
        return NAN
    if f.is_zero(den) or f.is_inf(num):
        return sign | f.inf
    if f.is_inf(den) or f.is_zero(num):
        return sign
    difference = (num >> f.fraction & f.e_max) - (den >> f.fraction & f.e_max)
    if underflow is not None and difference < underflow:
        away = c.round(f) == (DOWN if sign else UP)
        return sign | (1 if away else 0)
    if f.is_nan(q):  # an overflow that the steps before could not express
        return NAN if underflow is None else sign | f.inf
    return sign | (q & ~f.sign)


def ratio_below(f, num, den, power):
    """|num / den| < 2**power"""
    _, m, e = f.parts(num)
    _, k, g = f.parts(den)
    low = min(e, g + power)
    return m << (e - low) < k << (g + power - low)


def div_scale(c, f, x, den, num, far, shift, small):
    """v_div_scale: (result, post-scaling flag)."""
    mode = c.round(f)
    field = lambda u: u >> f.fraction & f.e_max
    least = 1 - f.bias
    one = f.bias << f.fraction
    if f.is_zero(den) or f.is_zero(num):
        return NAN, False
    numbers = field(den) != f.e_max and field(num) != f.e_max
    tiny = numbers and ratio_below(f, num, den, least)
    tiny_rcp = field(den) != f.e_max and ratio_below(f, one, den, least)
    scaled = lambda k: f.ldexp(x, k, mode)
    if field(num) - field(den) >= far:
        return (scaled(shift) if f.equal(x, den) else quieted(f, x)), True
    if field(den) == 0:
        return scaled(shift), False
    if tiny_rcp and tiny:
        return (scaled(-shift) if f.equal(x, den) else quieted(f, x)), True
    if tiny_rcp:
        return scaled(-shift), False
    if tiny:
        return (scaled(shift) if f.equal(x, num) else quieted(f, x)), True
    if field(num) <= small:
        return scaled(shift), False
    return quieted(f, x), False


def div_fmas(c, f, a, b, d, shift):
    if not c.carry:
        return f.fma(a, b, d, c.round(f))
    return f.fma(a, b, d, c.round(f), shift if (d >> f.fraction & f.e_max) > f.bias else -shift)


for _f, _t in ((F32, "f32"), (F16, "f16"), (F64, "f64")):
    _2, _3 = _t + " " + _t, _t + " " + _t + " " + _t
    op("v_add_" + _t, _t, _2)(lambda c, a, b, f=_f: f.add(a, b, c.round(f)))
    op("v_sub_" + _t, _t, _2)(lambda c, a, b, f=_f: f.add(a, f.neg(b), c.round(f)))
    op("v_subrev_" + _t, _t, _2)(lambda c, a, b, f=_f: f.add(b, f.neg(a), c.round(f)))
    op("v_mul_" + _t, _t, _2)(lambda c, a, b, f=_f: f.mul(a, b, c.round(f)))
    op("v_fma_%s v_fmaak_%s v_fmamk_%s" % (_t, _t, _t), _t, _3)(
        lambda c, a, b, d, f=_f: f.fma(a, b, d, c.round(f)))
    op("v_fmac_" + _t, _t, _3, acc=True)(lambda c, a, b, d, f=_f: f.fma(a, b, d, c.round(f)))
    op("v_min_" + _t, _t, _2)(lambda c, a, b, f=_f: minimum(c, f, a, b))
    op("v_max_" + _t, _t, _2)(lambda c, a, b, f=_f: minimum(c, f, a, b, -1))
    op("v_min3_" + _t, _t, _3)(
        lambda c, a, b, d, f=_f: minimum(c, f, minimum(c, f, a, b), d))
    op("v_max3_" + _t, _t, _3)(
        lambda c, a, b, d, f=_f: minimum(c, f, minimum(c, f, a, b, -1), d, -1))
    op("v_med3_" + _t, _t, _3)(lambda c, a, b, d, f=_f: medium(c, f, a, b, d))
    op("v_floor_" + _t, _t, _t)(lambda c, a, f=_f: f.round_to_int(a, DOWN))
    op("v_ceil_" + _t, _t, _t)(lambda c, a, f=_f: f.round_to_int(a, UP))
    op("v_trunc_" + _t, _t, _t)(lambda c, a, f=_f: f.round_to_int(a, ZERO))
    op("v_rndne_" + _t, _t, _t)(lambda c, a, f=_f: f.round_to_int(a, NEAREST))
    op("v_fract_" + _t, _t, _t)(lambda c, a, f=_f: fract(f, a, c.round(f)))
    op("v_frexp_mant_" + _t, _t, _t)(lambda c, a, f=_f: frexp(f, a)[0])
    op("v_frexp_exp_%s_%s" % ("i16" if _t == "f16" else "i32", _t),
       "i16" if _t == "f16" else "i32", _t)(lambda c, a, f=_f: frexp(f, a)[1])
    op("v_ldexp_" + _t, _t, _t + (" i16" if _t == "f16" else " i32"))(
        lambda c, a, b, f=_f: f.ldexp(a, s(b, 16 if f is F16 else 32), c.round(f)))
    op("v_div_fixup_" + _t, _t, _3)(
        lambda c, a, b, d, f=_f: div_fixup(c, f, a, b, d, {16: None, 32: -150, 64: -1075}[f.bits]))
op("v_div_scale_f32", "f32", "f32 f32 f32", mask_out=True)(
    lambda c, a, b, d: div_scale(c, F32, a, b, d, 96, 64, 23))
op("v_div_scale_f64", "f64", "f64 f64 f64", mask_out=True)(
    lambda c, a, b, d: div_scale(c, F64, a, b, d, 768, 128, 53))
op("v_div_fmas_f32", "f32", "f32 f32 f32", mask_in=True)(
    lambda c, a, b, d: div_fmas(c, F32, a, b, d, 64))
op("v_div_fmas_f64", "f64", "f64 f64 f64", mask_in=True)(
    lambda c, a, b, d: div_fmas(c, F64, a, b, d, 128))


def mul_legacy(c, a, b):
    return 0 if F32.is_zero(a) or F32.is_zero(b) else F32.mul(a, b, c.round(F32))


def add_nan(c, a, b):
    return NAN if NAN in (a, b) else F32.add(a, b, c.round(F32))


def flush_nan(u):
    return NAN if u == NAN else F32.flush(u)


def fma_legacy(c, a, b, d):
    if F32.is_zero(a) or F32.is_zero(b):
        return F32.add(0, d, c.round(F32))
    return F32.fma(a, b, d, c.round(F32))


op("v_mul_legacy_f32", "f32", "f32 f32")(mul_legacy)
op("v_mad_f32 v_madmk_f32 v_madak_f32", "f32", "f32 f32 f32", flush="always")(
    lambda c, a, b, d: add_nan(c, flush_nan(F32.mul(a, b, c.round(F32))), d))
op("v_mac_f32", "f32", "f32 f32 f32", flush="always", acc=True)(
    lambda c, a, b, d: add_nan(c, flush_nan(F32.mul(a, b, c.round(F32))), d))
op("v_mad_legacy_f32", "f32", "f32 f32 f32", flush="always")(
    lambda c, a, b, d: add_nan(c, flush_nan(mul_legacy(c, a, b)), d))
op("v_mac_legacy_f32", "f32", "f32 f32 f32", flush="always", acc=True)(
    lambda c, a, b, d: add_nan(c, flush_nan(mul_legacy(c, a, b)), d))
op("v_fma_legacy_f32", "f32", "f32 f32 f32")(fma_legacy)
op("v_fmac_legacy_f32", "f32", "f32 f32 f32", acc=True)(fma_legacy)


@op("v_mullit_f32", "f32", "f32 f32 f32")
def mullit(c, a, b, d):
    f = F32
    if f.is_nan(b) or f.is_nan(d) or b in (0xff7fffff, 0xff800000) or not f.less(0, d):
        return 0xff7fffff
    return mul_legacy(c, a, b)


def cube(a, b, d):
    """Face 0 to 5, s, t, major axis, by the table of cube maps."""
    x, y, z = (v & 0x7fffffff for v in (a, b, d))
    at_least = lambda p, q: not F32.is_nan(p) and not F32.is_nan(q) and p >= q
    neg = lambda v: v ^ 0x80000000
    if at_least(z, x) and at_least(z, y):
        back = F32.less(d, 0)
        return 4 + back, neg(a) if back else a, neg(b), d
    if at_least(y, x):
        below = F32.less(b, 0)
        return 2 + below, a, neg(d) if below else d, b
    left = F32.less(a, 0)
    return 0 + left, d if left else neg(d), neg(b), a


op("v_cubeid_f32", "f32", "f32 f32 f32")(lambda c, a, b, d: F32.of_int(cube(a, b, d)[0]))
op("v_cubesc_f32", "f32", "f32 f32 f32")(lambda c, a, b, d: quieted(F32, cube(a, b, d)[1]))
op("v_cubetc_f32", "f32", "f32 f32 f32")(lambda c, a, b, d: quieted(F32, cube(a, b, d)[2]))
op("v_cubema_f32", "f32", "f32 f32 f32")(
    lambda c, a, b, d: F32.mul(cube(a, b, d)[3], 0x40000000, c.round(F32)))
op("v_pack_b32_f16", "i32", "f16 f16")(lambda c, a, b: a | b << 16)

# ---- compares ----

NUMERIC = {"f": lambda l, e, g: False, "lt": lambda l, e, g: l, "eq": lambda l, e, g: e,
           "le": lambda l, e, g: l or e, "gt": lambda l, e, g: g, "lg": lambda l, e, g: l or g,
           "ne": lambda l, e, g: not e, "ge": lambda l, e, g: g or e,
           "o": lambda l, e, g: l or e or g, "u": lambda l, e, g: not (l or e or g),
           "nge": lambda l, e, g: not (g or e), "nlg": lambda l, e, g: not (l or g),
           "ngt": lambda l, e, g: not g, "nle": lambda l, e, g: not (l or e),
           "neq": lambda l, e, g: not e, "nlt": lambda l, e, g: not l,
           "tru": lambda l, e, g: True, "t": lambda l, e, g: True}


def classify(f, u):
    n = bool(u & f.sign)
    if f.is_nan(u):
        return 0 if f.is_snan(u) else 1
    if f.is_inf(u):
        return 2 if n else 9
    if f.is_zero(u):
        return 5 if n else 6
    if f.is_denormal(u):
        return 4 if n else 7
    return 3 if n else 8


for _x in ("v_cmp_", "v_cmpx_"):
    for _f, _t in ((F32, "f32"), (F16, "f16"), (F64, "f64")):
        for _n in "f lt eq le gt lg ge o u nge nlg ngt nle neq nlt tru".split():
            op(_x + _n + "_" + _t, "mask", _t + " " + _t)(
                lambda c, a, b, f=_f, n=_n: NUMERIC[n](f.less(a, b), f.equal(a, b), f.less(b, a)))
        op(_x + "class_" + _t, "mask", _t + " i32", flush="never")(
            lambda c, a, b, f=_f: bool(b >> classify(f, a) & 1))
    for _t in ("i16", "u16", "i32", "u32", "i64", "u64"):
        _b = int(_t[1:])
        for _n in "f lt eq le gt ne ge t".split():
            op(_x + _n + "_" + _t, "mask", "i%d i%d" % (_b, _b))(
                lambda c, a, b, n=_n, bits=_b, signed=_t[0] == "i": NUMERIC[n](
                    (s(a, bits) < s(b, bits)) if signed else a < b, a == b,
                    (s(a, bits) > s(b, bits)) if signed else a > b))
