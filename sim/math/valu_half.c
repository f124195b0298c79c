/* valu_half.c: lane functions on single halves; each rounds once. */
#include "sim/math/valu_impl.h"

#define F(x) f64_of_f16(x)
#define H(x) f16_of_f64(x)
#define IEEE (mode & VALU_IEEE)
#define F16_1(name, expression) MODED(OP1, name, F16, 1, F16, expression)
#define F16_2(name, expression) MODED(OP2, name, F16, 2, F16, expression)
#define F16_3(name, expression) MODED(OP3, name, F16, 3, F16, expression)

/* Sums and products of two halves are exact in double. */
F16_2(add_f16, H(F(a) + F(b)))
F16_2(sub_f16, H(F(a) - F(b)))
F16_2(subrev_f16, H(F(b) - F(a)))
F16_2(mul_f16, H(F(a) * F(b)))
F16_3(fma_f16, H(fma_of_f16(a, b, c)))

F16_2(min_f16, min_f16(a, b, IEEE))
F16_2(max_f16, max_f16(a, b, IEEE))
F16_3(min3_f16, min_f16(min_f16(a, b, IEEE), c, IEEE))
F16_3(max3_f16, max_f16(max_f16(a, b, IEEE), c, IEEE))

static inline uint32_t med3(uint32_t a, uint32_t b, uint32_t c, bool ieee)
{
    if (is_nan16(a) || is_nan16(b) || is_nan16(c)) return min_f16(min_f16(a, b, ieee), c, ieee);
    const double top = F(max_f16(max_f16(a, b, ieee), c, ieee));
    if (top == F(a)) return max_f16(b, c, ieee);
    if (top == F(b)) return max_f16(a, c, ieee);
    return max_f16(a, b, ieee);
}
F16_3(med3_f16, med3(a, b, c, IEEE))

/* With the sign that they came from: hosts may lose that of 0 when they round down. */
F16_1(floor_f16, H(copysign(floor(F(a)), F(a))))
F16_1(ceil_f16, H(copysign(ceil(F(a)), F(a))))
F16_1(trunc_f16, H(copysign(trunc(F(a)), F(a))))

/* Half to even whatever the rounding direction. */
static inline double rndne(double a)
{
    const double x = fabs(a), t = trunc(x), rest = x - t;
    const bool up = rest > 0.5 || (rest == 0.5 && t * 0.5 != trunc(t * 0.5));
    return copysign(up ? t + 1 : t, a);
}
F16_1(rndne_f16, H(rndne(F(a))))

/* Below 1 even where rounding would give 1. */
static inline uint32_t fract(uint32_t a)
{
    const uint32_t r = H(F(a) - copysign(floor(F(a)), F(a)));
    return r == 0x3c00 ? 0x3bff : r;
}
F16_1(fract_f16, fract(a))

static inline uint32_t frexp_mant(uint32_t a)
{
    int e;
    if ((a & 0x7c00) == 0x7c00) return H(F(a));
    return H(frexp(F(a), &e));
}
F16_1(frexp_mant_f16, frexp_mant(a))

static inline uint32_t frexp_exp(uint32_t a)
{
    int e = 0;
    if ((a & 0x7c00) != 0x7c00) frexp(F(a), &e);
    return (uint32_t)e & 0xffff;
}
MODED(OP1, frexp_exp_f16, F16, 1, INT, frexp_exp(a))

/* The exponent is the integer in the low half of b; beyond +-100 all give the same. */
static inline uint32_t ldexp_f16(uint32_t a, int32_t e)
{
    e = e < -100 ? -100 : e > 100 ? 100 : e;
    return H(F(a) * as_f64((uint64_t)(1023 + e) << 52));
}
MODED(OP2, ldexp_f16, F16, 1, F16, ldexp_f16(a, (int16_t)(b & 0xffff)))

static inline uint32_t quiet(uint32_t u)
{
    return is_nan16(u) ? u | 0x200 : u;
}

/* Source 0 is the quotient, 1 the denominator, 2 the numerator. */
static inline uint32_t div_fixup(uint32_t q, uint32_t den, uint32_t num)
{
    const uint32_t sign = (den ^ num) & 0x8000, inf = 0x7c00;
    const uint32_t d = den & 0x7fff, m = num & 0x7fff;
    if (is_nan16(num)) return quiet(num) & 0xffff;
    if (is_nan16(den)) return quiet(den) & 0xffff;
    if ((!d && !m) || (d == inf && m == inf)) return 0xfe00;
    if (!d || m == inf) return sign | inf;
    if (d == inf || !m) return sign;
    return sign | (quiet(q) & 0x7fff);
}
F16_3(div_fixup_f16, div_fixup(a, b, c))

/* Two halves side by side. */
MODED(OP2, pack_f16, F16, 2, INT, (a & 0xffff) | b << 16)
