/* valu_float.c: lane functions on f32: sums, products, fused and not, limits, division steps. */
#include "sim/math/valu_impl.h"

#define F(x) as_f32(x)
#define IEEE (mode & VALU_IEEE)
#define F32_1(name, expression) MODED(OP1, name, F32, 1, F32, expression)
#define F32_2(name, expression) MODED(OP2, name, F32, 2, F32, expression)
#define F32_3(name, expression) MODED(OP3, name, F32, 3, F32, expression)

F32_2(add_f32, of_f32(F(a) + F(b)))
F32_2(sub_f32, of_f32(F(a) - F(b)))
F32_2(subrev_f32, of_f32(F(b) - F(a)))
F32_2(mul_f32, of_f32(F(a) * F(b)))
F32_3(fma_f32, of_f32(fmaf(F(a), F(b), F(c))))

/* The legacy rule: 0 times anything, even infinity or NaN, is +0. */
static inline bool is_zero(uint32_t u)
{
    return !(u & 0x7fffffff);
}

static inline float product_legacy(uint32_t a, uint32_t b)
{
    return is_zero(a) || is_zero(b) ? 0.0f : F(a) * F(b);
}
F32_2(mul_legacy_f32, of_f32(product_legacy(a, b)))
F32_3(fma_legacy_f32, of_f32(is_zero(a) || is_zero(b) ? 0.0f + F(c) : fmaf(F(a), F(b), F(c))))

/* v_mad and v_mac round twice and know no denormals, whatever MODE says. */
static inline uint32_t mad(uint32_t a, uint32_t b, uint32_t c)
{
    const float p = flushed(F(flush_f32(a)) * F(flush_f32(b)));
    return flush_f32(of_f32(p + F(flush_f32(c))));
}

static inline uint32_t mad_legacy(uint32_t a, uint32_t b, uint32_t c)
{
    const float p = flushed(product_legacy(flush_f32(a), flush_f32(b)));
    return flush_f32(of_f32(p + F(flush_f32(c))));
}
F32_3(mad_f32, mad(a, b, c))
F32_3(mad_legacy_f32, mad_legacy(a, b, c))

F32_2(min_f32, min_f32(a, b, IEEE))
F32_2(max_f32, max_f32(a, b, IEEE))
F32_3(min3_f32, min_f32(min_f32(a, b, IEEE), c, IEEE))
F32_3(max3_f32, max_f32(max_f32(a, b, IEEE), c, IEEE))

/* With a NaN the smallest; else the larger of the two that are not the largest. */
static inline uint32_t med3(uint32_t a, uint32_t b, uint32_t c, bool ieee)
{
    if (is_nan32(a) || is_nan32(b) || is_nan32(c)) return min_f32(min_f32(a, b, ieee), c, ieee);
    const float top = F(max_f32(max_f32(a, b, ieee), c, ieee));
    if (top == F(a)) return max_f32(b, c, ieee);
    if (top == F(b)) return max_f32(a, c, ieee);
    return max_f32(a, b, ieee);
}
F32_3(med3_f32, med3(a, b, c, IEEE))

/* Quiet what passes through unchanged. */
static inline uint32_t quiet(uint32_t u)
{
    return is_nan32(u) ? u | 0x400000 : u;
}

/* A whole number with the sign that it came from: hosts may lose that of 0 when they round down. */
static inline uint32_t whole(float r, uint32_t a)
{
    return quiet((of_f32(r) & 0x7fffffff) | (a & 0x80000000));
}
F32_1(floor_f32, whole(floorf(F(a)), a))
F32_1(ceil_f32, whole(ceilf(F(a)), a))
F32_1(trunc_f32, whole(truncf(F(a)), a))
/* Half to even whatever the rounding direction. */
static inline uint32_t rndne(uint32_t a)
{
    const float x = F(a & 0x7fffffff), t = truncf(x), rest = x - t;
    const bool up = rest > 0.5f || (rest == 0.5f && t * 0.5f != truncf(t * 0.5f));
    return whole(up ? t + 1.0f : t, a);
}
F32_1(rndne_f32, rndne(a))

/* Below 1 even where rounding would give 1; NaN for infinities. */
static inline uint32_t fract(uint32_t a)
{
    const float r = F(a) - F(whole(floorf(F(a)), a));
    return of_f32(r >= 1.0f ? 0x1.fffffep-1f : r);
}
F32_1(fract_f32, fract(a))

static inline uint32_t frexp_mant(uint32_t a)
{
    int e;
    if ((a & 0x7f800000) == 0x7f800000) return quiet(a);
    return of_f32(frexpf(F(a), &e));
}
F32_1(frexp_mant_f32, frexp_mant(a))

static inline uint32_t frexp_exp(uint32_t a)
{
    int e = 0;
    if ((a & 0x7f800000) != 0x7f800000) frexpf(F(a), &e);
    return (uint32_t)e;
}
MODED(OP1, frexp_exp_f32, F32, 1, INT, frexp_exp(a))

/* Exponents beyond these all give the same; then the product in double is exact. */
static inline uint32_t ldexp_f32(uint32_t a, int32_t e)
{
    e = e < -400 ? -400 : e > 400 ? 400 : e;
    return of_f32((float)(F(a) * as_f64((uint64_t)(1023 + e) << 52)));
}
MODED(OP2, ldexp_f32, F32, 1, F32, ldexp_f32(a, (int32_t)b))

/* Cube maps: the face by the largest of x, y, z, and the coordinates on it. */
static inline unsigned major(uint32_t a, uint32_t b, uint32_t c)
{
    const float x = fabsf(F(a)), y = fabsf(F(b)), z = fabsf(F(c));
    return z >= x && z >= y ? 2 : y >= x ? 1 : 0;
}

static inline uint32_t cube_id(uint32_t a, uint32_t b, uint32_t c)
{
    const unsigned axis = major(a, b, c);
    const float v = F(axis == 2 ? c : axis ? b : a);
    return of_f32((float)(2 * axis + (v < 0)));
}

static inline uint32_t cube_sc(uint32_t a, uint32_t b, uint32_t c)
{
    const unsigned axis = major(a, b, c);
    if (axis == 2) return F(c) < 0 ? a ^ 0x80000000 : a;
    if (axis == 1) return a;
    return F(a) < 0 ? c : c ^ 0x80000000;
}

static inline uint32_t cube_tc(uint32_t a, uint32_t b, uint32_t c)
{
    if (major(a, b, c) == 1) return F(b) < 0 ? c ^ 0x80000000 : c;
    return b ^ 0x80000000;
}

static inline uint32_t cube_ma(uint32_t a, uint32_t b, uint32_t c)
{
    const unsigned axis = major(a, b, c);
    return of_f32(2 * F(axis == 2 ? c : axis ? b : a));
}
F32_3(cubeid_f32, cube_id(a, b, c))
F32_3(cubesc_f32, quiet(cube_sc(a, b, c)))
F32_3(cubetc_f32, quiet(cube_tc(a, b, c)))
F32_3(cubema_f32, cube_ma(a, b, c))

/* The lighting product: -FLT_MAX unless b and c are sensible; 0 times anything is 0. */
static inline uint32_t mullit(uint32_t a, uint32_t b, uint32_t c)
{
    if (!(F(b) > -0x1.fffffep127f) || !(F(c) > 0)) return 0xff7fffff;
    return of_f32(product_legacy(a, b));
}
F32_3(mullit_f32, mullit(a, b, c))

/* Division a / b is refined from a reciprocal by fused steps. v_div_scale moves the operands away
 * from the ends of the range, v_div_fmas undoes it in the last step, v_div_fixup puts the special
 * cases right. Source 0 is the operand to scale, 1 the denominator, 2 the numerator. */
static inline int exponent(uint32_t u)
{
    return u >> 23 & 255;
}

struct scaled_f32 {
    float value;
    bool post; /* v_div_fmas is to scale the quotient */
};

static struct scaled_f32 div_scale(float x, float den, float num)
{
    const uint32_t d = of_f32(den), q = of_f32(num);
    int dist, e;
    const float dm = frexpf(fabsf(den), &dist), nm = frexpf(fabsf(num), &e);
    const bool finite = exponent(d) != 255 && exponent(q) != 255;
    /* |num / den| < 2^-126; |1 / den| < 2^-126 */
    const bool tiny = finite && (e - dist < -126 || (e - dist == -126 && nm < dm));
    const bool tiny_rcp = exponent(d) != 255 && fabsf(den) > 0x1p126f;
    if (den == 0 || num == 0) return (struct scaled_f32){ F(0x7fc00000), false };
    if (exponent(q) - exponent(d) >= 96)
        return (struct scaled_f32){ x == den ? x * 0x1p64f : x, true };
    if (!exponent(d)) return (struct scaled_f32){ x * 0x1p64f, false };
    if (tiny_rcp && tiny) return (struct scaled_f32){ x == den ? x * 0x1p-64f : x, true };
    if (tiny_rcp) return (struct scaled_f32){ x * 0x1p-64f, false };
    if (tiny) return (struct scaled_f32){ x == num ? x * 0x1p64f : x, true };
    if (exponent(q) <= 23) return (struct scaled_f32){ x * 0x1p64f, false };
    return (struct scaled_f32){ x, false };
}

static void div_scale_rows(struct valu_args *args)
{
    args->mask_out = 0;
    for (unsigned i = 0; i < args->n; i++) {
        struct scaled_f32 r =
            div_scale(F(args->src[0][0][i]), F(args->src[1][0][i]), F(args->src[2][0][i]));
        args->dst[0][i] = quiet(of_f32(r.value));
        args->mask_out |= (uint64_t)r.post << i;
    }
}

void FN(div_scale_f32)(struct valu_args *args)
{
    if (valu_is_plain(args->mode, VALU_F32, VALU_F32))
        div_scale_rows(args);
    else
        valu_moded(args, div_scale_rows, (struct valu_float){ VALU_F32, 3, VALU_F32 });
}

/* A quotient of 2 or more was made small, one below was made large. Rounded once. */
static inline uint32_t div_fmas(uint32_t a, uint32_t b, uint32_t c, bool scale)
{
    const double factor = exponent(c) > 127 ? 0x1p64 : 0x1p-64;
    const double sum = odd_sum((double)F(a) * F(b), F(c));
    return of_f32(scale ? (float)(sum * factor) : fmaf(F(a), F(b), F(c)));
}
F32_3(div_fmas_f32, div_fmas(a, b, c, mask >> i & 1))

static inline uint32_t div_fixup(uint32_t q, uint32_t den, uint32_t num, bool away)
{
    const uint32_t sign = (den ^ num) & 0x80000000, inf = 0x7f800000;
    const uint32_t d = den & 0x7fffffff, m = num & 0x7fffffff;
    if (is_nan32(num)) return quiet(num);
    if (is_nan32(den)) return quiet(den);
    if ((!d && !m) || (d == inf && m == inf)) return 0xffc00000;
    if (!d || m == inf) return sign | inf;
    if (d == inf || !m) return sign;
    if (exponent(num) - exponent(den) < -150) return sign | away;
    if (is_nan32(q)) return sign | inf; /* what the steps before make of an overflow */
    return sign | (q & 0x7fffffff);
}

/* Does the rounding direction lead away from 0 for a result of this sign? */
static inline bool is_away(uint32_t direction, uint32_t sign)
{
    return direction == (sign >> 31 ? 2u : 1u);
}
F32_3(div_fixup_f32,
      quiet(div_fixup(a, b, c, is_away(args->mode &VALU_ROUND_F32, (b ^ c) & 0x80000000))))
