/* valu_double.c: lane functions on f64. */
#include "sim/math/valu_impl.h"

#define F(x) as_f64(x)
#define SIGN (UINT64_C(1) << 63)
#define INF UINT64_C(0x7ff0000000000000)
#define QUIET (UINT64_C(1) << 51)

/* `expression` of the 64-bit patterns a, b, c. */
#define WIDE(name, sources, expression)                                                            \
    static void name##_plain(struct valu_args *args)                                               \
    {                                                                                              \
        const unsigned n = args->n & 96u;                                                          \
        uint32_t *low = args->dst[0], *high = args->dst[1];                                        \
        const uint32_t *a0 = args->src[0][0], *a1 = args->src[0][1];                               \
        const uint32_t *b0 = args->src[1][0], *b1 = args->src[1][1];                               \
        const uint32_t *c0 = args->src[2][0], *c1 = args->src[2][1];                               \
        (void)b0, (void)b1, (void)c0, (void)c1;                                                    \
        VALU_LANES                                                                                 \
        {                                                                                          \
            const uint64_t a = pair(a0[i], a1[i]);                                                 \
            const uint64_t b = sources > 1 ? pair(b0[i], b1[i]) : 0;                               \
            const uint64_t c = sources > 2 ? pair(c0[i], c1[i]) : 0;                               \
            const uint64_t r = (expression);                                                       \
            (void)b, (void)c;                                                                      \
            low[i] = (uint32_t)r;                                                                  \
            high[i] = (uint32_t)(r >> 32);                                                         \
        }                                                                                          \
    }                                                                                              \
    void FN(name)(struct valu_args * args)                                                         \
    {                                                                                              \
        if (valu_is_plain(args->mode, VALU_F64, VALU_F64))                                         \
            name##_plain(args);                                                                    \
        else                                                                                       \
            valu_moded(args, name##_plain, (struct valu_float){ VALU_F64, sources, VALU_F64 });    \
    }

WIDE(add_f64, 2, of_f64(F(a) + F(b)))
WIDE(mul_f64, 2, of_f64(F(a) * F(b)))
WIDE(fma_f64, 3, of_f64(fma(F(a), F(b), F(c))))

static inline uint64_t quiet(uint64_t u)
{
    return is_nan64(u) ? u | QUIET : u;
}

static inline uint64_t pick(uint64_t a, uint64_t b, bool first, bool ieee)
{
    uint64_t r = first ? a : b;
    r = is_nan64(b) ? a : r;
    r = is_nan64(a) ? b : r;
    r = ieee && is_nan64(b) && !(b & QUIET) ? b | QUIET : r;
    r = ieee && is_nan64(a) && !(a & QUIET) ? a | QUIET : r;
    return r;
}
WIDE(min_f64, 2, pick(a, b, order64(a) < order64(b), args->mode &VALU_IEEE))
WIDE(max_f64, 2, pick(a, b, order64(a) > order64(b), args->mode &VALU_IEEE))

/* With the sign that they came from: hosts may lose that of 0 when they round down. */
static inline uint64_t whole(double r, uint64_t a)
{
    return quiet((of_f64(r) & ~SIGN) | (a & SIGN));
}
WIDE(floor_f64, 1, whole(floor(F(a)), a))
WIDE(ceil_f64, 1, whole(ceil(F(a)), a))
WIDE(trunc_f64, 1, whole(trunc(F(a)), a))

/* Half to even whatever the rounding direction. */
static inline uint64_t rndne(uint64_t a)
{
    const double x = fabs(F(a)), t = trunc(x), rest = x - t;
    const bool up = rest > 0.5 || (rest == 0.5 && t * 0.5 != trunc(t * 0.5));
    return whole(up ? t + 1 : t, a);
}
WIDE(rndne_f64, 1, rndne(a))

/* Below 1 even where rounding would give 1; NaN for infinities. */
static inline uint64_t fract(uint64_t a)
{
    const double r = F(a) - F(whole(floor(F(a)), a));
    return of_f64(r >= 1 ? 0x1.fffffffffffffp-1 : r);
}
WIDE(fract_f64, 1, fract(a))

static inline uint64_t frexp_mant(uint64_t a)
{
    int e;
    if ((a & INF) == INF) return quiet(a);
    return of_f64(frexp(F(a), &e));
}
WIDE(frexp_mant_f64, 1, frexp_mant(a))

static inline uint32_t frexp_exp(double x)
{
    int e = 0;
    if (isfinite(x)) frexp(x, &e);
    return (uint32_t)e;
}

/* Approximations of about 2^-29 on silicon; here rounded correctly. */
WIDE(rcp_f64, 1, of_f64(1 / F(a)))
WIDE(sqrt_f64, 1, of_f64(sqrt(F(a))))
WIDE(rsq_f64, 1, of_f64(1 / sqrt(F(a))))

static void frexp_exp_rows(struct valu_args *args)
{
    for (unsigned i = 0; i < args->n; i++)
        args->dst[0][i] = frexp_exp(F(pair(args->src[0][0][i], args->src[0][1][i])));
}

void FN(frexp_exp_f64)(struct valu_args *args)
{
    if (valu_is_plain(args->mode, VALU_F64, VALU_INT))
        frexp_exp_rows(args);
    else
        valu_moded(args, frexp_exp_rows, (struct valu_float){ VALU_F64, 1, VALU_INT });
}

static void store(struct valu_args *args, unsigned i, uint64_t r)
{
    args->dst[0][i] = (uint32_t)r;
    args->dst[1][i] = (uint32_t)(r >> 32);
}

static void ldexp_rows(struct valu_args *args)
{
    for (unsigned i = 0; i < args->n; i++) {
        const double x = F(pair(args->src[0][0][i], args->src[0][1][i]));
        int e = (int)(int32_t)args->src[1][0][i];
        e = e < -5000 ? -5000 : e > 5000 ? 5000 : e;
        store(args, i, quiet(of_f64(ldexp(x, e))));
    }
}

void FN(ldexp_f64)(struct valu_args *args)
{
    if (valu_is_plain(args->mode, VALU_F64, VALU_F64))
        ldexp_rows(args);
    else
        valu_moded(args, ldexp_rows, (struct valu_float){ VALU_F64, 1, VALU_F64 });
}

/* Division: see valu_float.c. */
static inline int exponent(uint64_t u)
{
    return (int)(u >> 52 & 2047);
}

struct scaled_f64 {
    double value;
    bool post;
};

static struct scaled_f64 div_scale(double x, double den, double num)
{
    const uint64_t d = of_f64(den), q = of_f64(num);
    int de, e;
    const double dm = frexp(fabs(den), &de), nm = frexp(fabs(num), &e);
    const bool finite = exponent(d) != 2047 && exponent(q) != 2047;
    const bool tiny = finite && (e - de < -1022 || (e - de == -1022 && nm < dm));
    const bool tiny_rcp = exponent(d) != 2047 && fabs(den) > 0x1p1022;
    if (den == 0 || num == 0) return (struct scaled_f64){ F(INF | QUIET), false };
    if (exponent(q) - exponent(d) >= 768)
        return (struct scaled_f64){ x == den ? x * 0x1p128 : x, true };
    if (!exponent(d)) return (struct scaled_f64){ x * 0x1p128, false };
    if (tiny_rcp && tiny) return (struct scaled_f64){ x == den ? x * 0x1p-128 : x, true };
    if (tiny_rcp) return (struct scaled_f64){ x * 0x1p-128, false };
    if (tiny) return (struct scaled_f64){ x == num ? x * 0x1p128 : x, true };
    if (exponent(q) <= 53) return (struct scaled_f64){ x * 0x1p128, false };
    return (struct scaled_f64){ x, false };
}

static void div_scale_rows(struct valu_args *args)
{
    args->mask_out = 0;
    for (unsigned i = 0; i < args->n; i++) {
        const struct scaled_f64 r = div_scale(F(pair(args->src[0][0][i], args->src[0][1][i])),
                                              F(pair(args->src[1][0][i], args->src[1][1][i])),
                                              F(pair(args->src[2][0][i], args->src[2][1][i])));
        store(args, i, quiet(of_f64(r.value)));
        args->mask_out |= (uint64_t)r.post << i;
    }
}

void FN(div_scale_f64)(struct valu_args *args)
{
    if (valu_is_plain(args->mode, VALU_F64, VALU_F64))
        div_scale_rows(args);
    else
        valu_moded(args, div_scale_rows, (struct valu_float){ VALU_F64, 3, VALU_F64 });
}

/* (a * b + c) * 2^-128, rounded once: where the scaled sum is denormal and half way between two
 * numbers, what the sum itself lost in rounding decides. A sum too large comes back into range. */
static double scaled_down(double a, double b, double c)
{
    const double p = a * b, lost_p = fma(a, b, -p), s = p + c, t = s - p, whole = fma(a, b, c);
    const double lost = ((p - (s - t)) + (c - t)) + lost_p, r = whole * 0x1p-128;
    if (fabs(whole) > 0x1p1000 && isfinite(a) && isfinite(b) && isfinite(c))
        return fabs(a) > fabs(b) ? fma(a * 0x1p-128, b, c * 0x1p-128)
                                 : fma(a, b * 0x1p-128, c * 0x1p-128);
    if (!(fabs(r) < 0x1p-1022) || s == 0) return r;
    const double down = s * 0x1p-128, rest = s - down * 0x1p128;
    if (rest == 0x1p-947 && lost > 0) return down + 0x1p-1074;
    if (rest == -0x1p-947 && lost < 0) return down - 0x1p-1074;
    return down;
}

static inline uint64_t div_fmas(uint64_t a, uint64_t b, uint64_t c, bool scale)
{
    if (!scale) return of_f64(fma(F(a), F(b), F(c)));
    if (exponent(c) > 1023) return of_f64(fma(F(a), F(b), F(c)) * 0x1p128);
    return of_f64(scaled_down(F(a), F(b), F(c)));
}
WIDE(div_fmas_f64, 3, div_fmas(a, b, c, args->mask_in >> i & 1))

static inline uint64_t div_fixup(uint64_t q, uint64_t den, uint64_t num, uint32_t direction)
{
    const uint64_t sign = (den ^ num) & SIGN, d = den & ~SIGN, m = num & ~SIGN;
    if (is_nan64(num)) return quiet(num);
    if (is_nan64(den)) return quiet(den);
    if ((!d && !m) || (d == INF && m == INF)) return SIGN | INF | QUIET;
    if (!d || m == INF) return sign | INF;
    if (d == INF || !m) return sign;
    if (exponent(num) - exponent(den) < -1075) return sign | (direction == (sign ? 2u : 1u));
    if (is_nan64(q)) return sign | INF; /* what the steps before make of an overflow */
    return sign | (q & ~SIGN);
}
WIDE(div_fixup_f64, 3, div_fixup(a, b, c, args->mode >> 2 & 3))
