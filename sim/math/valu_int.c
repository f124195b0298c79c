/* valu_int.c: lane functions on integers: moves, bits, shifts, sums, products, carries. */
#include "sim/math/valu_impl.h"

static inline int32_t sext24(uint32_t x)
{
    return (int32_t)(x << 8) >> 8;
}

static inline uint32_t u24(uint32_t x)
{
    return x & 0xffffff;
}

static inline uint32_t sat_u32(int64_t x)
{
    return x < 0 ? 0 : x > UINT32_MAX ? UINT32_MAX : (uint32_t)x;
}

static inline uint32_t sat_i32(int64_t x)
{
    x = x < INT32_MIN ? INT32_MIN : x;
    return (uint32_t)(x > INT32_MAX ? INT32_MAX : x);
}

OP1(mov, a)
OP1(not, ~a)
OP2(and, a &b)
OP2(or, a | b)
OP2(xor, a ^ b)
OP2(xnor, ~(a ^ b))
OP3(bfi, (a & b) | (~a & c))
OP3(or3, a | b | c)
OP3(xor3, a ^ b ^ c)
OP3(and_or, (a & b) | c)

/* Shifts take the distance first and use its low bits only. */
OP2(lshlrev, b << (a & 31))
OP2(lshrrev, b >> (a & 31))
OP2(ashrrev, (int32_t)b >> (a & 31))
OP3(lshl_or, a << (b & 31) | c)
OP3(lshl_add, (a << (b & 31)) + c)
OP3(add_lshl, (a + b) << (c & 31))
OP3(xad, (a ^ b) + c)
OP3(add3, a + b + c)
OP3(alignbit, pair(b, a) >> (c & 31))
OP3(alignbyte, pair(b, a) >> 8 * (c & 3))
OP2(bfm, ((1u << (a & 31)) - 1) << (b & 31))
OP3(bfe_u, a >> (b & 31) & ((1u << (c & 31)) - 1))

static inline uint32_t bfe_i(uint32_t a, uint32_t offset, uint32_t width)
{
    const uint32_t field = (uint32_t)((int32_t)a >> offset);
    return width ? (uint32_t)((int32_t)(field << (32 - width)) >> (32 - width)) : 0;
}
OP3(bfe_i, bfe_i(a, b & 31, c & 31))

static inline uint32_t reversed(uint32_t x)
{
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    x = (x >> 8 & 0x00ff00ff) | (x & 0x00ff00ff) << 8;
    return x >> 16 | x << 16;
}
OP1(bfrev, reversed(a))

/* The first one from the top or from below; -1 without any. */
OP1(ffbh_u, a ? (uint32_t)__builtin_clz(a) : UINT32_MAX)
OP1(ffbl, a ? (uint32_t)__builtin_ctz(a) : UINT32_MAX)

/* The first bit that differs from the sign. */
static inline uint32_t ffbh_i(uint32_t a)
{
    const uint32_t x = a ^ (uint32_t)((int32_t)a >> 31);
    return x ? (uint32_t)__builtin_clz(x) : UINT32_MAX;
}
OP1(ffbh_i, ffbh_i(a))

static inline uint32_t ones(uint32_t x)
{
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    return ((x + (x >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}
OP2(bcnt, ones(a) + b)
/* Of the lanes below this one, those 0 to 31 and those 32 to 63. */
OP2(mbcnt_lo, ones(a &(i < 32 ? (1u << (i & 31)) - 1 : UINT32_MAX)) + b)
OP2(mbcnt_hi, ones(a &(i < 32 ? 0 : (1u << (i & 31)) - 1)) + b)

CLAMPED(OP2, add_u32, a + b, sat_u32((int64_t)a + b))
CLAMPED(OP2, sub_u32, a - b, sat_u32((int64_t)a - b))
CLAMPED(OP2, subrev_u32, b - a, sat_u32((int64_t)b - a))
CLAMPED(OP2, add_i32, a + b, sat_i32((int64_t)(int32_t)a + (int32_t)b))
CLAMPED(OP2, sub_i32, a - b, sat_i32((int64_t)(int32_t)a - (int32_t)b))

OP2(min_i, (int32_t)a < (int32_t)b ? a : b)
OP2(max_i, (int32_t)a > (int32_t)b ? a : b)
OP2(min_u, a < b ? a : b)
OP2(max_u, a > b ? a : b)

#define MIN(x, y) ((x) < (y) ? (x) : (y))
#define MAX(x, y) ((x) > (y) ? (x) : (y))
#define MED(x, y, z) MAX(MIN(x, y), MIN(MAX(x, y), z))
#define S32(x) ((int32_t)(x))
OP3(min3_i, MIN(MIN(S32(a), S32(b)), S32(c)))
OP3(max3_i, MAX(MAX(S32(a), S32(b)), S32(c)))
OP3(med3_i, MED(S32(a), S32(b), S32(c)))
OP3(min3_u, MIN(MIN(a, b), c))
OP3(max3_u, MAX(MAX(a, b), c))
OP3(med3_u, MED(a, b, c))

/* Products of 24 bits: the low 32 bits of 48, or the 16 above. */
CLAMPED(OP2, mul_i24, sext24(a) * (int64_t)sext24(b), sat_i32((int64_t)sext24(a) * sext24(b)))
CLAMPED(OP2, mul_u24, u24(a) * u24(b), sat_u32((int64_t)((uint64_t)u24(a) * u24(b))))
OP2(mul_hi_i24, (int64_t)sext24(a) * sext24(b) >> 32)
OP2(mul_hi_u24, (uint64_t)u24(a) * u24(b) >> 32)
CLAMPED(OP3, mad_i24, (int64_t)sext24(a) * sext24(b) + (int32_t)c,
        sat_i32((int64_t)sext24(a) * sext24(b) + (int32_t)c))
CLAMPED(OP3, mad_u24, u24(a) * u24(b) + c, sat_u32((int64_t)((uint64_t)u24(a) * u24(b) + c)))
OP2(mul_lo, a *b)
OP2(mul_hi_u, (uint64_t)a *b >> 32)
OP2(mul_hi_i, (int64_t)(int32_t)a *(int32_t)b >> 32)

/* 16 bits. */
#define U16(x) ((x)&0xffff)
#define I16(x) ((int32_t)(int16_t)(x))
static inline uint32_t sat_u16(int64_t x)
{
    return x < 0 ? 0 : x > 0xffff ? 0xffff : (uint32_t)x;
}

static inline uint32_t sat_i16(int64_t x)
{
    x = x < INT16_MIN ? INT16_MIN : x;
    return U16((uint32_t)(x > INT16_MAX ? INT16_MAX : x));
}
CLAMPED(OP2, add_u16, U16(a + b), sat_u16((int64_t)U16(a) + U16(b)))
CLAMPED(OP2, sub_u16, U16(a - b), sat_u16((int64_t)U16(a) - U16(b)))
CLAMPED(OP2, add_i16, U16(a + b), sat_i16(I16(a) + I16(b)))
CLAMPED(OP2, sub_i16, U16(a - b), sat_i16(I16(a) - I16(b)))
OP2(mul_lo_u16, U16(U16(a) * U16(b)))
CLAMPED(OP3, mad_u16, U16(U16(a) * U16(b) + c), sat_u16((int64_t)U16(a) * U16(b) + U16(c)))
CLAMPED(OP3, mad_i16, U16(U16(a) * U16(b) + c), sat_i16((int64_t)I16(a) * I16(b) + I16(c)))
CLAMPED(OP3, mad_u32_u16, U16(a) * U16(b) + c, sat_u32((int64_t)U16(a) * U16(b) + c))
CLAMPED(OP3, mad_i32_i16, (uint32_t)(I16(a) * I16(b)) + c,
        sat_i32((int64_t)I16(a) * I16(b) + (int32_t)c))
OP2(lshlrev_b16, U16(U16(b) << (a & 15)))
OP2(lshrrev_b16, U16(b) >> (a & 15))
OP2(ashrrev_i16, U16((uint32_t)(I16(b) >> (a & 15))))
OP2(min_u16, MIN(U16(a), U16(b)))
OP2(max_u16, MAX(U16(a), U16(b)))
OP2(min_i16, U16((uint32_t)MIN(I16(a), I16(b))))
OP2(max_i16, U16((uint32_t)MAX(I16(a), I16(b))))
OP3(min3_u16, MIN(MIN(U16(a), U16(b)), U16(c)))
OP3(max3_u16, MAX(MAX(U16(a), U16(b)), U16(c)))
OP3(med3_u16, MED(U16(a), U16(b), U16(c)))
OP3(min3_i16, U16((uint32_t)MIN(MIN(I16(a), I16(b)), I16(c))))
OP3(max3_i16, U16((uint32_t)MAX(MAX(I16(a), I16(b)), I16(c))))
OP3(med3_i16, U16((uint32_t)MED(I16(a), I16(b), I16(c))))

/* Narrowing with saturation, packed. */
OP2(pk_u16_u32, MIN(a, 0xffff) | MIN(b, 0xffff) << 16)
OP2(pk_i16_i32, sat_i16((int32_t)a) | sat_i16((int32_t)b) << 16)

static inline uint32_t sat_u8(int32_t x)
{
    return x < 0 ? 0 : x > 255 ? 255 : (uint32_t)x;
}
OP1(sat_pk_u8_i16, sat_u8(I16(a)) | sat_u8((int32_t)a >> 16) << 8)

/* One bit a lane chooses. */
void FN(cndmask)(struct valu_args *args)
{
    const unsigned n = args->n & 96u;
    uint32_t *d = args->dst[0], chosen[64];
    const uint32_t *s0 = args->src[0][0], *s1 = args->src[1][0];
    words_of_mask(args->mask_in, chosen, n);
    VALU_LANES d[i] = chosen[i] ? s1[i] : s0[i];
}

/* Sums and differences with carry in and out; with clamp they saturate. `over` tells from a, b, the
 * carry ci and the result r whether the next place is carried to or borrowed from. */
#define CARRY(name, carries, sum, over, limit)                                                     \
    void FN(name)(struct valu_args * args)                                                         \
    {                                                                                              \
        const unsigned n = args->n & 96u;                                                          \
        const uint32_t clamp = args->inst->clamp ? UINT32_MAX : 0;                                 \
        uint32_t *d = args->dst[0], in[64] = { 0 }, out[64];                                       \
        const uint32_t *s0 = args->src[0][0], *s1 = args->src[1][0];                               \
        if (carries) words_of_mask(args->mask_in, in, n);                                          \
        VALU_LANES                                                                                 \
        {                                                                                          \
            const uint32_t ci = in[i], a = s0[i], b = s1[i], r = (sum);                            \
            const uint32_t co = (over);                                                            \
            out[i] = co;                                                                           \
            const uint32_t m = (0u - co) & clamp;                                                  \
            d[i] = (r & ~m) | ((limit)&m);                                                         \
        }                                                                                          \
        args->mask_out = mask_of_words(out, n);                                                    \
    }
CARRY(add_co, false, a + b + ci, r < a, UINT32_MAX)
CARRY(sub_co, false, a - b - ci, a < b, 0)
CARRY(subrev_co, false, b - a - ci, b < a, 0)
CARRY(add_co_ci, true, a + b + ci, (r < a) | ((r == a) & ci), UINT32_MAX)
CARRY(sub_co_ci, true, a - b - ci, (a < b) | ((a == b) & ci), 0)
CARRY(subrev_co_ci, true, b - a - ci, (b < a) | ((b == a) & ci), 0)

/* 64 bits: `expression` of a, b (32 bits) and x (64 bits, source 1 or 2). */
#define WIDE(name, wide, expression)                                                               \
    void FN(name)(struct valu_args * args)                                                         \
    {                                                                                              \
        const unsigned n = args->n & 96u;                                                          \
        uint32_t *low = args->dst[0], *high = args->dst[1];                                        \
        const uint32_t *s0 = args->src[0][0], *x0 = args->src[wide][0], *x1 = args->src[wide][1];  \
        VALU_LANES                                                                                 \
        {                                                                                          \
            const uint32_t a = s0[i];                                                              \
            const uint64_t x = pair(x0[i], x1[i]), r = (uint64_t)(expression);                     \
            low[i] = (uint32_t)r;                                                                  \
            high[i] = (uint32_t)(r >> 32);                                                         \
        }                                                                                          \
    }
WIDE(lshlrev_b64, 1, x << (a & 63))
WIDE(lshrrev_b64, 1, x >> (a & 63))
WIDE(ashrrev_i64, 1, (int64_t)x >> (a & 63))

void FN(mad_u64_u32)(struct valu_args *args)
{
    const unsigned n = args->n & 96u;
    const uint64_t clamp = args->inst->clamp;
    uint32_t *low = args->dst[0], *high = args->dst[1], out[64];
    const uint32_t *s0 = args->src[0][0], *s1 = args->src[1][0];
    const uint32_t *x0 = args->src[2][0], *x1 = args->src[2][1];
    VALU_LANES
    {
        const uint64_t p = (uint64_t)s0[i] * s1[i], r = p + pair(x0[i], x1[i]);
        const uint64_t over = r < p, all = r | (0 - (over & clamp));
        out[i] = (uint32_t)over;
        low[i] = (uint32_t)all;
        high[i] = (uint32_t)(all >> 32);
    }
    args->mask_out = mask_of_words(out, n);
}

void FN(mad_i64_i32)(struct valu_args *args)
{
    const unsigned n = args->n & 96u;
    const bool clamp = args->inst->clamp;
    uint32_t out[64];
    for (unsigned i = 0; i < n; i++) {
        const int64_t p = (int64_t)(int32_t)args->src[0][0][i] * (int32_t)args->src[1][0][i];
        const int64_t c = (int64_t)pair(args->src[2][0][i], args->src[2][1][i]);
        int64_t r;
        const bool over = __builtin_add_overflow(p, c, &r);
        if (over && clamp) r = p < 0 ? INT64_MIN : INT64_MAX;
        out[i] = over;
        args->dst[0][i] = (uint32_t)r;
        args->dst[1][i] = (uint32_t)((uint64_t)r >> 32);
    }
    args->mask_out = mask_of_words(out, n);
}
