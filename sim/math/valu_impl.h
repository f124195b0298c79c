/* valu_impl.h: what the lane functions share: loops, bit patterns, half precision, modes.
 *
 * The valu_*.c files with lane functions are compiled once per level of the host's instruction
 * set, with another VALU_SUFFIX each; FN() gives a function its name of that level. Loops are
 * written so that compilers turn them into vector code: no branch, no call in the hot ones. */
#ifndef RMCP_SIM_MATH_VALU_IMPL_H
#define RMCP_SIM_MATH_VALU_IMPL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/math/valu.h"

#ifndef VALU_SUFFIX
#define VALU_SUFFIX base
#endif
#define VALU_JOIN2(name, suffix) valu_##name##_##suffix
#define VALU_JOIN(name, suffix) VALU_JOIN2(name, suffix)
#define FN(name) VALU_JOIN(name, VALU_SUFFIX)

/* One row of the table: function and what it works on. */
struct valu_row {
    valu_fn *run;
    uint8_t result;    /* enum valu_kind */
    uint8_t source[3]; /* enum valu_kind */
};

/* Lane functions of every row, by isa id; made from valu_rows.inc. */
extern const struct valu_row FN(table)[ISA_N_IDS];

#define VALU(name, encoding, function, result, src0, src1, src2) valu_fn FN(function);
#include "sim/math/valu_rows.inc"
#undef VALU

/* A result row may be a source row, but lane i depends on lane i only. */
#ifdef __clang__
#define VALU_LANES _Pragma("clang loop vectorize(assume_safety)") for (unsigned i = 0; i < n; i++)
#else
#define VALU_LANES _Pragma("GCC ivdep") for (unsigned i = 0; i < n; i++)
#endif

/* Define a lane function on 32-bit rows: `expression` of a, b, c, the lane i, mode and mask. */
#define OP1(name, expression)                                                                      \
    void FN(name)(struct valu_args * args)                                                         \
    {                                                                                              \
        const unsigned n = args->n & 96u;                                                          \
        const uint32_t mode = args->mode;                                                          \
        uint32_t *d = args->dst[0];                                                                \
        const uint32_t *s0 = args->src[0][0];                                                      \
        (void)mode;                                                                                \
        VALU_LANES                                                                                 \
        {                                                                                          \
            const uint32_t a = s0[i];                                                              \
            d[i] = (uint32_t)(expression);                                                         \
        }                                                                                          \
    }
#define OP2(name, expression)                                                                      \
    void FN(name)(struct valu_args * args)                                                         \
    {                                                                                              \
        const unsigned n = args->n & 96u;                                                          \
        const uint32_t mode = args->mode;                                                          \
        const uint64_t mask = args->mask_in;                                                       \
        uint32_t *d = args->dst[0];                                                                \
        const uint32_t *s0 = args->src[0][0], *s1 = args->src[1][0];                               \
        (void)mode, (void)mask;                                                                    \
        VALU_LANES                                                                                 \
        {                                                                                          \
            const uint32_t a = s0[i], b = s1[i];                                                   \
            d[i] = (uint32_t)(expression);                                                         \
        }                                                                                          \
    }
#define OP3(name, expression)                                                                      \
    void FN(name)(struct valu_args * args)                                                         \
    {                                                                                              \
        const unsigned n = args->n & 96u;                                                          \
        const uint32_t mode = args->mode;                                                          \
        const uint64_t mask = args->mask_in;                                                       \
        uint32_t *d = args->dst[0];                                                                \
        const uint32_t *s0 = args->src[0][0], *s1 = args->src[1][0], *s2 = args->src[2][0];        \
        (void)mode, (void)mask;                                                                    \
        VALU_LANES                                                                                 \
        {                                                                                          \
            const uint32_t a = s0[i], b = s1[i], c = s2[i];                                        \
            d[i] = (uint32_t)(expression);                                                         \
        }                                                                                          \
    }

/* OPn with another expression when the instruction's clamp bit is set (integer saturation). */
#define CLAMPED(op, name, wrapped, clamped)                                                        \
    static valu_fn FN(name##_wrapped), FN(name##_clamped);                                         \
    static op(name##_wrapped, wrapped) static op(name##_clamped, clamped) void FN(name)(           \
        struct valu_args * args)                                                                   \
    {                                                                                              \
        if (args->inst->clamp)                                                                     \
            FN(name##_clamped)(args);                                                              \
        else                                                                                       \
            FN(name##_wrapped)(args);                                                              \
    }

/* Float functions are pairs: the plain one below for denormals on and nearest-even rounding, and
 * the same in valu_moded's hands when MODE says otherwise. `in` is the kind of the first n_float
 * sources, `out` that of the result. */
struct valu_float {
    uint8_t in, n_float, out;
};
enum { VALU_PACKED = VALU_MASK + 1 }; /* two halves a word */
void valu_moded(struct valu_args *args, valu_fn *plain, struct valu_float what);
/* Set the host's rounding to a direction of MODE: 0 nearest, 1 up, 2 down, 3 to zero. */
void valu_round(unsigned direction);

static inline bool valu_is_plain(uint32_t mode, unsigned in, unsigned out)
{
    uint32_t mask = 0, want = 0;
    if (in == VALU_F32) mask |= VALU_DENORM_F32_IN, want |= VALU_DENORM_F32_IN;
    if (in == VALU_F16 || in == VALU_F64 || in == VALU_PACKED)
        mask |= VALU_DENORM_F64_IN, want |= VALU_DENORM_F64_IN;
    if (out == VALU_F32) mask |= VALU_DENORM_F32_OUT | VALU_ROUND_F32, want |= VALU_DENORM_F32_OUT;
    if (out == VALU_F16 || out == VALU_F64 || out == VALU_PACKED)
        mask |= VALU_DENORM_F64_OUT | VALU_ROUND_F64, want |= VALU_DENORM_F64_OUT;
    return (mode & mask) == want;
}

/* OPn whose function obeys MODE. */
#define MODED(op, name, in_, n_float_, out_, ...)                                                  \
    static valu_fn FN(name##_plain);                                                               \
    static op(name##_plain, __VA_ARGS__) void FN(name)(struct valu_args * args)                    \
    {                                                                                              \
        if (valu_is_plain(args->mode, VALU_##in_, VALU_##out_))                                    \
            FN(name##_plain)(args);                                                                \
        else                                                                                       \
            valu_moded(args, FN(name##_plain),                                                     \
                       (struct valu_float){ VALU_##in_, n_float_, VALU_##out_ });                  \
    }

union valu_bits32 {
    uint32_t u;
    float f;
};
union valu_bits64 {
    uint64_t u;
    double f;
};

static inline float as_f32(uint32_t u)
{
    return (union valu_bits32){ .u = u }.f;
}

static inline uint32_t of_f32(float f)
{
    return (union valu_bits32){ .f = f }.u;
}

static inline double as_f64(uint64_t u)
{
    return (union valu_bits64){ .u = u }.f;
}

static inline uint64_t of_f64(double f)
{
    return (union valu_bits64){ .f = f }.u;
}

static inline uint64_t pair(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

/* Denormals to zero of the same sign. */
static inline uint32_t flush_f32(uint32_t u)
{
    return u & 0x7f800000 ? u : u & 0x80000000;
}

static inline float flushed(float f)
{
    return as_f32(flush_f32(of_f32(f)));
}

static inline bool is_nan16(uint32_t u)
{
    return (u & 0x7fff) > 0x7c00;
}

static inline bool is_nan32(uint32_t u)
{
    return (u & 0x7fffffff) > 0x7f800000;
}

static inline bool is_nan64(uint64_t u)
{
    return (u & INT64_MAX) > UINT64_C(0x7ff0000000000000);
}

/* Exact. The low 16 bits of h count. Denormals by way of an integer: hosts are slow at others. */
static inline float f32_of_f16(uint32_t h)
{
    const uint32_t magnitude = h & 0x7fff;
    const uint32_t bias = magnitude >= 0x7c00 ? 224u << 23 : 112u << 23; /* infinity and NaN stay */
    const uint32_t small = of_f32((float)(int32_t)magnitude * 0x1p-24f);
    return as_f32((magnitude < 0x400 ? small : (magnitude << 13) + bias) | (h & 0x8000) << 16);
}

static inline double f64_of_f16(uint32_t h)
{
    return (double)f32_of_f16(h);
}

/* Round once to half precision, as the host's rounding direction says. Adding and subtracting a
 * number whose last place is that of the result rounds; so also for denormal halves. */
static inline uint32_t f16_of_f64(double x)
{
    const uint64_t u = of_f64(x);
    uint64_t e = u >> 52 & 0x7ff;
    e = e < 1023 - 14 ? 1023 - 14 : e;
    e = e > 1023 + 16 ? 1023 + 16 : e;
    const double m = as_f64((e + 42) << 52 | UINT64_C(1) << 51 | (u & UINT64_C(1) << 63));
    const double r = fabs((x + m) - m);
    const uint32_t normal = (of_f32((float)r) >> 13) - (112u << 10);
    const uint32_t denormal = (uint32_t)(int32_t)(r < 0x1p-14 ? r * 0x1p24 : 0.0);
    /* What overflow gives depends on the direction: infinity or the largest number. */
    const uint32_t over = fabs(x * 0x1p1023) > 0x1.fffffffffffffp1023 ? 0x7c00 : 0x7bff;
    const uint32_t nan = (uint32_t)(u >> 42 & 0x3ff) | 0x7e00;
    uint32_t h = r < 0x1p-14 ? denormal : normal;
    h = r >= 65536.0 ? over : h;
    h = x != x ? nan : h;
    return h | (uint32_t)(u >> 48 & 0x8000);
}

static inline uint32_t f16_of_f32(float f)
{
    return f16_of_f64((double)f);
}

static inline uint32_t flush_f16(uint32_t h)
{
    return h & 0x7c00 ? h : h & 0x8000;
}

/* Between 0 and 1; -0 becomes 0, a NaN 0 or what it is. */
static inline uint32_t clamp_f16(uint32_t h, uint32_t mode)
{
    if (is_nan16(h)) return mode & VALU_DX10_CLAMP ? 0 : h;
    return h & 0x8000 ? 0 : h > 0x3c00 ? 0x3c00 : h;
}

static inline uint32_t clamp_f32(uint32_t u, uint32_t mode)
{
    if (is_nan32(u)) return mode & VALU_DX10_CLAMP ? 0 : u;
    return u & 0x80000000 ? 0 : u > 0x3f800000 ? 0x3f800000 : u;
}

/* p + z, made odd in its last bit when inexact, so that one more rounding to fewer bits (by two at
 * least) gives what a single rounding of the true sum would. */
static inline double odd_sum(double p, double z)
{
    const double s = p + z, t = s - p, error = (p - (s - t)) + (z - t);
    const uint64_t u = of_f64(s), below = (of_f64(error) ^ u) >> 63;
    const uint64_t step = fabs(error) > 0 ? ~u & 1 : 0; /* not for NaN: s is no number then */
    return as_f64(u + step - 2 * (step & below));
}

/* a * b + c of halves, to be rounded once. */
static inline double fma_of_f16(uint32_t a, uint32_t b, uint32_t c)
{
    return odd_sum(f64_of_f16(a) * f64_of_f16(b), f64_of_f16(c));
}

/* Order of bit patterns of floats with -0 below +0, as signed integers. */
static inline int32_t order32(uint32_t u)
{
    return (int32_t)(u ^ (uint32_t)((int32_t)u >> 31 & 0x7fffffff));
}

static inline int64_t order64(uint64_t u)
{
    return (int64_t)(u ^ ((u >> 63 ? UINT64_MAX : 0) & INT64_MAX));
}

/* v_min and v_max on bit patterns: a number beats a NaN; with IEEE a signalling NaN beats all. */
static inline uint32_t pick32(uint32_t a, uint32_t b, bool less, bool ieee)
{
    const uint32_t quiet = 0x00400000;
    uint32_t r = less ? a : b;
    r = is_nan32(b) ? a : r;
    r = is_nan32(a) ? b : r;
    r = (ieee & is_nan32(b) & !(b & quiet)) ? b | quiet : r;
    r = (ieee & is_nan32(a) & !(a & quiet)) ? a | quiet : r;
    return r;
}

static inline uint32_t min_f32(uint32_t a, uint32_t b, bool ieee)
{
    return pick32(a, b, order32(a) < order32(b), ieee);
}

static inline uint32_t max_f32(uint32_t a, uint32_t b, bool ieee)
{
    return pick32(a, b, order32(a) > order32(b), ieee);
}

/* The same for halves, compared in the upper half of a word. */
static inline uint32_t pick16(uint32_t a, uint32_t b, bool less, bool ieee)
{
    const uint32_t quiet = 0x200;
    uint32_t r = less ? a : b;
    r = is_nan16(b) ? a : r;
    r = is_nan16(a) ? b : r;
    r = (ieee & is_nan16(b) & !(b & quiet)) ? b | quiet : r;
    r = (ieee & is_nan16(a) & !(a & quiet)) ? a | quiet : r;
    return r & 0xffff;
}

static inline uint32_t min_f16(uint32_t a, uint32_t b, bool ieee)
{
    return pick16(a, b, order32(a << 16) < order32(b << 16), ieee);
}

static inline uint32_t max_f16(uint32_t a, uint32_t b, bool ieee)
{
    return pick16(a, b, order32(a << 16) > order32(b << 16), ieee);
}

/* A lane mask to words of 0 or 1; n is 32 or 64. */
static inline void words_of_mask(uint64_t mask, uint32_t *flags, unsigned n)
{
    for (unsigned k = 0; k < n; k += 32) {
        const uint32_t half = (uint32_t)(mask >> k);
        for (unsigned i = 0; i < 32; i++) flags[k + i] = half >> i & 1;
    }
}

/* Words of 0 or 1 to a lane mask; n is 32 or 64. */
static inline uint64_t mask_of_words(const uint32_t *flags, unsigned n)
{
    uint64_t mask = 0;
    for (unsigned k = 0; k < n; k += 32) {
        uint32_t half = 0;
        for (unsigned i = 0; i < 32; i++) half |= flags[k + i] << i;
        mask |= (uint64_t)half << k;
    }
    return mask;
}

#endif
