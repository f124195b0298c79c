/* valu_convert.c: lane functions that convert between formats. */
#include "sim/math/valu_impl.h"

/* To integers: towards 0, saturated, NaN to 0. */
static inline int32_t to_i32(double x)
{
    x = x > -2147483648.0 ? x : -2147483648.0;
    x = x < 2147483647.0 ? x : 2147483647.0;
    return (int32_t)x;
}

static inline uint32_t to_u32(double x)
{
    x = x > 0.0 ? x : 0.0;
    x = x < 4294967295.0 ? x : 4294967295.0;
    return (uint32_t)x;
}

static inline uint32_t i32_of(double x)
{
    return x != x ? 0 : (uint32_t)to_i32(x);
}

#define F(x) ((double)as_f32(x))
MODED(OP1, cvt_i32_f32, F32, 1, INT, i32_of(F(a)))
MODED(OP1, cvt_u32_f32, F32, 1, INT, to_u32(F(a)))
MODED(OP1, cvt_rpi_i32_f32, F32, 1, INT, i32_of(floor(F(a) + 0.5)))
MODED(OP1, cvt_flr_i32_f32, F32, 1, INT, i32_of(floor(F(a))))
MODED(OP1, cvt_f32_i32, INT, 0, F32, of_f32((float)(int32_t)a))
MODED(OP1, cvt_f32_u32, INT, 0, F32, of_f32((float)a))
OP1(cvt_f32_ubyte0, of_f32((float)(a & 255)))
OP1(cvt_f32_ubyte1, of_f32((float)(a >> 8 & 255)))
OP1(cvt_f32_ubyte2, of_f32((float)(a >> 16 & 255)))
OP1(cvt_f32_ubyte3, of_f32((float)(a >> 24)))
/* Four bits, signed, in sixteenths. */
OP1(cvt_off_f32_i4, of_f32((float)((int32_t)(a << 28) >> 28) * 0.0625f))

/* A direction or a denormal mode may differ between the two formats: each has its own. */
static inline uint32_t quiet(uint32_t u)
{
    return is_nan32(u) ? u | 0x400000 : u;
}
MODED(OP1, cvt_f32_f16, F16, 1, F32, quiet(of_f32(f32_of_f16(a))))
MODED(OP1, cvt_f16_f32, F32, 1, F16, f16_of_f32(as_f32(a)))

static inline uint32_t i16_of(double x)
{
    x = x > -32768.0 ? x : -32768.0;
    x = x < 32767.0 ? x : 32767.0;
    return (uint32_t)(int32_t)x & 0xffff;
}

static inline uint32_t u16_of(double x)
{
    x = x > 0.0 ? x : 0.0;
    x = x < 65535.0 ? x : 65535.0;
    return (uint32_t)(int32_t)x;
}

MODED(OP1, cvt_i16_f16, F16, 1, INT, is_nan16(a) ? 0 : i16_of(f64_of_f16(a)))
MODED(OP1, cvt_u16_f16, F16, 1, INT, u16_of(f64_of_f16(a)))
MODED(OP1, cvt_f16_i16, INT, 0, F16, f16_of_f64((double)(int16_t)(a & 0xffff)))
MODED(OP1, cvt_f16_u16, INT, 0, F16, f16_of_f64((double)(a & 0xffff)))

/* [-1, 1] and [0, 1] to the whole range of 16 bits, half to even, NaN to 0. The product is exact
 * in double. */
static inline uint32_t snorm(double x)
{
    x = x > -1.0 ? x : x <= -1.0 ? -1.0 : 0.0;
    x = x < 1.0 ? x : 1.0;
    const double y = fabs(x) * 32767.0, t = floor(y), rest = y - t;
    const int32_t k = (int32_t)t, up = rest > 0.5 || (rest == 0.5 && k & 1);
    return (uint32_t)(x < 0 ? -(k + up) : k + up) & 0xffff;
}

static inline uint32_t unorm(double x)
{
    x = x > 0.0 ? x : 0.0;
    x = x < 1.0 ? x : 1.0;
    const double y = x * 65535.0, t = floor(y), rest = y - t;
    const uint32_t k = (uint32_t)(int32_t)t;
    return k + (rest > 0.5 || (rest == 0.5 && k & 1));
}
MODED(OP1, cvt_norm_i16_f16, F16, 1, INT, snorm(f64_of_f16(a)))
MODED(OP1, cvt_norm_u16_f16, F16, 1, INT, unorm(f64_of_f16(a)))
MODED(OP2, pknorm_i16_f16, F16, 2, INT, snorm(f64_of_f16(a)) | snorm(f64_of_f16(b)) << 16)
MODED(OP2, pknorm_u16_f16, F16, 2, INT, unorm(f64_of_f16(a)) | unorm(f64_of_f16(b)) << 16)
MODED(OP2, pknorm_i16_f32, F32, 2, INT, snorm(F(a)) | snorm(F(b)) << 16)
MODED(OP2, pknorm_u16_f32, F32, 2, INT, unorm(F(a)) | unorm(F(b)) << 16)

/* Two floats to halves, towards 0 whatever MODE says. */
static inline uint32_t f16_toward_zero(uint32_t u)
{
    const float x = as_f32(u & 0x7fffffff);
    const uint32_t sign = u >> 16 & 0x8000;
    if (is_nan32(u)) return sign | 0x7e00 | (u >> 13 & 0x3ff);
    if (x > 65504.0f) return sign | (isinf(x) ? 0x7c00 : 0x7bff);
    if (x < 0x1p-14f) return sign | (uint32_t)(x * 0x1p24f);
    return sign | ((u & 0x7fffffff) - (112u << 23)) >> 13;
}

static void pkrtz_rows(struct valu_args *args)
{
    const bool flush = !(args->mode & VALU_DENORM_F64_OUT);
    for (unsigned i = 0; i < args->n; i++) {
        uint32_t h[2];
        for (unsigned k = 0; k < 2; k++) {
            h[k] = f16_toward_zero(args->src[k][0][i]);
            if (flush) h[k] = flush_f16(h[k]);
            if (args->inst->clamp) h[k] = clamp_f16(h[k], args->mode);
        }
        args->dst[0][i] = h[0] | h[1] << 16;
    }
}

void FN(pkrtz_f16_f32)(struct valu_args *args)
{
    if (valu_is_plain(args->mode, VALU_F32, VALU_INT))
        pkrtz_rows(args);
    else
        valu_moded(args, pkrtz_rows, (struct valu_float){ VALU_F32, 2, VALU_INT });
}

/* A float to a byte of c: to nearest even, saturated, NaN to 0. */
static inline uint32_t pk_u8(uint32_t a, uint32_t b, uint32_t c)
{
    double x = F(a);
    x = x > 0.0 ? x : 0.0;
    x = x < 255.0 ? x : 255.0;
    const uint32_t t = (uint32_t)x, shift = 8 * (b & 3);
    const double rest = x - t;
    const uint32_t k = t + (rest > 0.5 || (rest == 0.5 && t & 1));
    return (c & ~(255u << shift)) | k << shift;
}
MODED(OP3, pk_u8_f32, F32, 1, INT, pk_u8(a, b, c))

/* From and to double. */
#define WIDE_IN(name, out, expression)                                                             \
    static void name##_plain(struct valu_args *args)                                               \
    {                                                                                              \
        for (unsigned i = 0; i < args->n; i++) {                                                   \
            const double x = as_f64(pair(args->src[0][0][i], args->src[0][1][i]));                 \
            args->dst[0][i] = (expression);                                                        \
        }                                                                                          \
    }                                                                                              \
    void FN(name)(struct valu_args * args)                                                         \
    {                                                                                              \
        if (valu_is_plain(args->mode, VALU_F64, VALU_##out))                                       \
            name##_plain(args);                                                                    \
        else                                                                                       \
            valu_moded(args, name##_plain, (struct valu_float){ VALU_F64, 1, VALU_##out });        \
    }
WIDE_IN(cvt_i32_f64, INT, i32_of(x))
WIDE_IN(cvt_u32_f64, INT, to_u32(x))
WIDE_IN(cvt_f32_f64, F32, of_f32((float)x))

#define WIDE_OUT(name, in, n_float, expression)                                                    \
    static void name##_plain(struct valu_args *args)                                               \
    {                                                                                              \
        for (unsigned i = 0; i < args->n; i++) {                                                   \
            const uint32_t a = args->src[0][0][i];                                                 \
            const uint64_t r = of_f64(expression);                                                 \
            args->dst[0][i] = (uint32_t)r;                                                         \
            args->dst[1][i] = (uint32_t)(r >> 32);                                                 \
        }                                                                                          \
    }                                                                                              \
    void FN(name)(struct valu_args * args)                                                         \
    {                                                                                              \
        if (valu_is_plain(args->mode, VALU_##in, VALU_F64))                                        \
            name##_plain(args);                                                                    \
        else                                                                                       \
            valu_moded(args, name##_plain, (struct valu_float){ VALU_##in, n_float, VALU_F64 });   \
    }
WIDE_OUT(cvt_f64_i32, INT, 0, (double)(int32_t)a)
WIDE_OUT(cvt_f64_u32, INT, 0, (double)a)
WIDE_OUT(cvt_f64_f32, F32, 1, (double)as_f32(quiet(a)))
