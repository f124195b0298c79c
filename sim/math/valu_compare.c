/* valu_compare.c: lane functions that compare; results are lane masks. */
#include "sim/math/valu_impl.h"

/* `expression` of x and y, of type `type`, loaded by `load` from the words of a lane. */
#define COMPARE(name, type, load0, load1, expression)                                              \
    void FN(name)(struct valu_args * args)                                                         \
    {                                                                                              \
        const unsigned n = args->n & 96u;                                                          \
        const uint32_t *s00 = args->src[0][0], *s10 = args->src[1][0];                             \
        const uint32_t *s01 = args->src[0][1], *s11 = args->src[1][1];                             \
        uint32_t flags[64];                                                                        \
        (void)s01, (void)s11;                                                                      \
        VALU_LANES                                                                                 \
        {                                                                                          \
            const type x = load0, y = load1;                                                       \
            (void)x, (void)y;                                                                      \
            flags[i] = (expression);                                                               \
        }                                                                                          \
        args->mask_out = mask_of_words(flags, n);                                                  \
    }

#define LOW(k) s##k##0 [i]
#define BOTH(k) pair(s##k##0 [i], s##k##1 [i])

#define INTEGER(suffix, type, load0, load1)                                                        \
    COMPARE(cmp_f_##suffix, type, load0, load1, 0)                                                 \
    COMPARE(cmp_lt_##suffix, type, load0, load1, x < y)                                            \
    COMPARE(cmp_eq_##suffix, type, load0, load1, x == y)                                           \
    COMPARE(cmp_le_##suffix, type, load0, load1, x <= y)                                           \
    COMPARE(cmp_gt_##suffix, type, load0, load1, x > y)                                            \
    COMPARE(cmp_ne_##suffix, type, load0, load1, x != y)                                           \
    COMPARE(cmp_ge_##suffix, type, load0, load1, x >= y)                                           \
    COMPARE(cmp_t_##suffix, type, load0, load1, 1)

INTEGER(i32, int32_t, (int32_t)LOW(0), (int32_t)LOW(1))
INTEGER(u32, uint32_t, LOW(0), LOW(1))
INTEGER(i64, int64_t, (int64_t)BOTH(0), (int64_t)BOTH(1))
INTEGER(u64, uint64_t, BOTH(0), BOTH(1))

/* 16 bits have no "false" and no "true". */
#define SHORT(suffix, type)                                                                        \
    COMPARE(cmp_lt_##suffix, type, (type)LOW(0), (type)LOW(1), x < y)                              \
    COMPARE(cmp_eq_##suffix, type, (type)LOW(0), (type)LOW(1), x == y)                             \
    COMPARE(cmp_le_##suffix, type, (type)LOW(0), (type)LOW(1), x <= y)                             \
    COMPARE(cmp_gt_##suffix, type, (type)LOW(0), (type)LOW(1), x > y)                              \
    COMPARE(cmp_ne_##suffix, type, (type)LOW(0), (type)LOW(1), x != y)                             \
    COMPARE(cmp_ge_##suffix, type, (type)LOW(0), (type)LOW(1), x >= y)
SHORT(i16, int16_t)
SHORT(u16, uint16_t)

/* Floats obey the denormal mode of their sources. */
#define MODED_COMPARE(name, kind, type, load0, load1, expression)                                  \
    static valu_fn FN(name##_plain);                                                               \
    static COMPARE(name##_plain, type, load0, load1, expression) void FN(name)(struct valu_args *  \
                                                                               args)               \
    {                                                                                              \
        if (valu_is_plain(args->mode, VALU_##kind, VALU_MASK))                                     \
            FN(name##_plain)(args);                                                                \
        else                                                                                       \
            valu_moded(args, FN(name##_plain), (struct valu_float){ VALU_##kind, 2, VALU_MASK });  \
    }

#define FLOATING(suffix, kind, type, x0, x1)                                                       \
    COMPARE(cmp_f_##suffix, type, x0, x1, 0)                                                       \
    MODED_COMPARE(cmp_lt_##suffix, kind, type, x0, x1, x < y)                                      \
    MODED_COMPARE(cmp_eq_##suffix, kind, type, x0, x1, x == y)                                     \
    MODED_COMPARE(cmp_le_##suffix, kind, type, x0, x1, x <= y)                                     \
    MODED_COMPARE(cmp_gt_##suffix, kind, type, x0, x1, x > y)                                      \
    MODED_COMPARE(cmp_lg_##suffix, kind, type, x0, x1, x<y || x> y)                                \
    MODED_COMPARE(cmp_ge_##suffix, kind, type, x0, x1, x >= y)                                     \
    MODED_COMPARE(cmp_o_##suffix, kind, type, x0, x1, x == x && y == y)                            \
    MODED_COMPARE(cmp_u_##suffix, kind, type, x0, x1, x != x || y != y)                            \
    MODED_COMPARE(cmp_nge_##suffix, kind, type, x0, x1, !(x >= y))                                 \
    MODED_COMPARE(cmp_nlg_##suffix, kind, type, x0, x1, !(x < y || x > y))                         \
    MODED_COMPARE(cmp_ngt_##suffix, kind, type, x0, x1, !(x > y))                                  \
    MODED_COMPARE(cmp_nle_##suffix, kind, type, x0, x1, !(x <= y))                                 \
    MODED_COMPARE(cmp_neq_##suffix, kind, type, x0, x1, x != y)                                    \
    MODED_COMPARE(cmp_nlt_##suffix, kind, type, x0, x1, !(x < y))                                  \
    COMPARE(cmp_tru_##suffix, type, x0, x1, 1)

FLOATING(f32, F32, float, as_f32(LOW(0)), as_f32(LOW(1)))
FLOATING(f16, F16, float, f32_of_f16(LOW(0)), f32_of_f16(LOW(1)))
FLOATING(f64, F64, double, as_f64(BOTH(0)), as_f64(BOTH(1)))

/* Which of the ten classes a float is of: bits 0 to 9 are signalling NaN, quiet NaN, -infinity,
 * -normal, -denormal, -0, and the positive ones from 0 to infinity. A denormal is one in every
 * mode. */
static inline unsigned class_of(bool sign, unsigned e, unsigned e_max, bool quiet, bool fraction)
{
    if (e == e_max && fraction) return quiet ? 1 : 0;
    if (e == e_max) return sign ? 2 : 9;
    if (e) return sign ? 3 : 8;
    if (fraction) return sign ? 4 : 7;
    return sign ? 5 : 6;
}

static inline unsigned class_f32(uint32_t u)
{
    return class_of(u >> 31, u >> 23 & 255, 255, u >> 22 & 1, u & 0x7fffff);
}

static inline unsigned class_f16(uint32_t u)
{
    return class_of(u >> 15 & 1, u >> 10 & 31, 31, u >> 9 & 1, u & 0x3ff);
}

static inline unsigned class_f64(uint64_t u)
{
    return class_of(u >> 63, (unsigned)(u >> 52 & 2047), 2047, u >> 51 & 1,
                    u & UINT64_C(0xfffffffffffff));
}
COMPARE(cmp_class_f32, uint32_t, LOW(0), LOW(1), y >> class_f32(x) & 1)
COMPARE(cmp_class_f16, uint32_t, LOW(0), LOW(1), y >> class_f16(x) & 1)
COMPARE(cmp_class_f64, uint64_t, BOTH(0), LOW(1), y >> class_f64(x) & 1)
