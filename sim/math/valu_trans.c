/* valu_trans.c: transcendental lane functions: in double, then rounded; silicon is within 1 ulp. */
#include "sim/math/valu_impl.h"

#define F(x) ((double)as_f32(flush_f32(x)))

/* In single precision these know no denormals, neither as source nor as result. */
#define TRANS_F32(name, expression)                                                                \
    void FN(name)(struct valu_args * args)                                                         \
    {                                                                                              \
        for (unsigned i = 0; i < args->n; i++) {                                                   \
            const double x = F(args->src[0][0][i]);                                                \
            args->dst[0][i] = flush_f32(of_f32((float)(expression)));                              \
        }                                                                                          \
    }
#define TRANS_F16(name, expression)                                                                \
    static void name##_plain(struct valu_args *args)                                               \
    {                                                                                              \
        for (unsigned i = 0; i < args->n; i++) {                                                   \
            const double x = f64_of_f16(args->src[0][0][i]);                                       \
            args->dst[0][i] = f16_of_f64(expression);                                              \
        }                                                                                          \
    }                                                                                              \
    void FN(name)(struct valu_args * args)                                                         \
    {                                                                                              \
        if (valu_is_plain(args->mode, VALU_F16, VALU_F16))                                         \
            name##_plain(args);                                                                    \
        else                                                                                       \
            valu_moded(args, name##_plain, (struct valu_float){ VALU_F16, 1, VALU_F16 });          \
    }

/* Sine of x turns, exact at quarters; any finite x. */
static double sin_turns(double x)
{
    if (!isfinite(x)) return NAN;
    double r = fabs(x) - floor(fabs(x));
    const int quarter = (int)(r * 4);
    r = (r - quarter * 0.25) * 6.283185307179586;
    const double s = quarter & 1 ? cos(r) : sin(r);
    return !(quarter & 2) == !signbit(x) ? s : -s;
}

static double cos_turns(double x)
{
    if (!isfinite(x)) return NAN;
    double r = fabs(x) - floor(fabs(x));
    const int quarter = (int)(r * 4);
    r = (r - quarter * 0.25) * 6.283185307179586;
    const double s = quarter & 1 ? -sin(r) : cos(r);
    return quarter & 2 ? -s : s;
}

TRANS_F32(exp_f32, exp2(x))
TRANS_F32(log_f32, log2(x))
TRANS_F32(rcp_f32, 1 / x)
TRANS_F32(rsq_f32, 1 / sqrt(x))
TRANS_F32(sqrt_f32, sqrt(x))
TRANS_F32(sin_f32, sin_turns(x))
TRANS_F32(cos_f32, cos_turns(x))
TRANS_F16(exp_f16, exp2(x))
TRANS_F16(log_f16, log2(x))
TRANS_F16(rcp_f16, 1 / x)
TRANS_F16(rsq_f16, 1 / sqrt(x))
TRANS_F16(sqrt_f16, sqrt(x))
TRANS_F16(sin_f16, sin_turns(x))
TRANS_F16(cos_f16, cos_turns(x))

/* 1216 bits of 2 / pi after the point, the highest first; the hardware has 1201 of them. */
static const uint32_t two_over_pi[] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab,
};

/* 53 of those bits, as an integer: `first` is the number of bits before them. */
static uint64_t bits_of_two_over_pi(unsigned first)
{
    uint64_t r = 0;
    for (unsigned k = first; k < first + 53; k++)
        r = r << 1 | (k < 1201 ? two_over_pi[k / 32] >> (31 - k % 32) & 1 : 0);
    return r;
}

/* Part b (of 53 bits) of the 2 / pi that matters for reducing the angle a. */
static double trig_preop(uint64_t a, uint32_t b)
{
    const int e = (int)(a >> 52 & 2047);
    int shift = (int)(b & 31) * 53;
    if (e > 1077) shift += e - 1077;
    /* signed: hosts without unsigned conversions may give -0 for 0 when they round down */
    const double bits = (double)(int64_t)bits_of_two_over_pi((unsigned)shift);
    return ldexp(bits, -53 - shift + (e >= 1968 ? 128 : 0));
}

static void trig_preop_rows(struct valu_args *args)
{
    for (unsigned i = 0; i < args->n; i++) {
        const uint64_t r =
            of_f64(trig_preop(pair(args->src[0][0][i], args->src[0][1][i]), args->src[1][0][i]));
        args->dst[0][i] = (uint32_t)r;
        args->dst[1][i] = (uint32_t)(r >> 32);
    }
}

void FN(trig_preop_f64)(struct valu_args *args)
{
    if (valu_is_plain(args->mode, VALU_F64, VALU_F64))
        trig_preop_rows(args);
    else
        valu_moded(args, trig_preop_rows, (struct valu_float){ VALU_F64, 1, VALU_F64 });
}
