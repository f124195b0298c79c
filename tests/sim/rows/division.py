"""Whole divisions, as compilers expand them, against the quotient rounded once."""

import random
from fractions import Fraction

from case import EXACT, Case
from fp import F32, F64
from memory import of_fraction, put_lanes

rng = random.Random(5)
# v0 or v[0:1] the numerator, v2 or v[2:3] the denominator, the quotient in v8 or v[8:9]
F32_TEXT = ("v_div_scale_f32 v4, s12, v2, v2, v0; v_rcp_f32_e32 v5, v4; "
            "v_fma_f32 v6, -v4, v5, 1.0; v_fmac_f32_e32 v5, v6, v5; "
            "v_div_scale_f32 v6, vcc_lo, v0, v2, v0; "
            "v_mul_f32_e32 v7, v6, v5; v_fma_f32 v9, -v4, v7, v6; v_fmac_f32_e32 v7, v9, v5; "
            "v_fma_f32 v4, -v4, v7, v6; v_div_fmas_f32 v4, v4, v5, v7; "
            "v_div_fixup_f32 v8, v4, v2, v0")
F64_TEXT = ("v_div_scale_f64 v[4:5], s12, v[2:3], v[2:3], v[0:1]; v_rcp_f64_e32 v[6:7], v[4:5]; "
            "v_fma_f64 v[10:11], -v[4:5], v[6:7], 1.0; "
            "v_fma_f64 v[6:7], v[6:7], v[10:11], v[6:7]; "
            "v_fma_f64 v[10:11], -v[4:5], v[6:7], 1.0; "
            "v_fma_f64 v[6:7], v[6:7], v[10:11], v[6:7]; "
            "v_div_scale_f64 v[10:11], vcc_lo, v[0:1], v[2:3], v[0:1]; "
            "v_mul_f64 v[12:13], v[10:11], v[6:7]; "
            "v_fma_f64 v[4:5], -v[4:5], v[12:13], v[10:11]; "
            "v_div_fmas_f64 v[4:5], v[4:5], v[6:7], v[12:13]; "
            "v_div_fixup_f64 v[8:9], v[4:5], v[2:3], v[0:1]")


def number(f):
    u = rng.choice(f.edges()) if rng.random() < 0.4 else rng.getrandbits(f.bits)
    return u if not f.is_nan(u) and not f.is_inf(u) and not f.is_zero(u) else number(f)


def pair(f):
    """Operands; often with a quotient near the denormals."""
    if rng.random() < 0.6:
        return number(f), number(f)
    den = rng.randint(f.bias - 5, f.e_max - 2) << f.fraction | rng.getrandbits(f.fraction)
    e = max((den >> f.fraction) - f.bias - rng.randint(-3, f.fraction + 3), 0)
    return e << f.fraction | rng.getrandbits(f.fraction) | 1, den


def value(f, u):
    negative, m, e = f.parts(u)
    x = Fraction(m) * Fraction(2)**e
    return -x if negative else x


def cases(rows):
    result = []
    for f, text, clobbered in ((F32, F32_TEXT, (4, 5, 6, 7, 9)),
                               (F64, F64_TEXT, (4, 5, 6, 7, 10, 11, 12, 13))):
        for _ in range(12):
            clear = "; s_mov_b32 s12, 0; s_mov_b32 vcc_lo, 0" + "".join(
                "; v_mov_b32_e32 v%d, 0" % v for v in clobbered)
            c = Case("v_div_fixup_f%d" % f.bits, "VOP3", text + clear)
            words = f.bits // 32
            pairs = [pair(f) for _ in range(32)]
            put_lanes(c, 0, [n for n, _ in pairs], words)
            put_lanes(c, 2, [d for _, d in pairs], words)
            quotients = [of_fraction(f, value(f, n) / value(f, d)) for n, d in pairs]
            for w in range(words):
                c.expect(0, 8 + w, [q >> 32 * w for q in quotients], [EXACT] * 32)
            for v in clobbered:
                c.expect(0, v, [0] * 32)
            c.expect(1, 12, [0])
            c.want["vcc"] = c.vcc & ~0xffffffff
            result.append(c)
    return result
