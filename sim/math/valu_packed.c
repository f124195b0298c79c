/* valu_packed.c: lane functions on two halves a word, mixed precision and dot products. */
#include "sim/math/valu_impl.h"

/* How far to shift a source to get the half that op_sel, op_sel_hi want for either result, and
 * which bits to flip there for neg_lo, neg_hi. */
struct halves {
    unsigned low[3], high[3];
    uint32_t neg_low[3], neg_high[3];
};

static struct halves halves_of(const struct isa_inst *inst, bool is_float)
{
    struct halves h = { { 0 }, { 16, 16, 16 }, { 0 }, { 0 } };
    if (inst->row->encoding != ISA_VOP3P) return h; /* v_pk_fmac_f16, v_dot2c: no selection */
    for (unsigned k = 0; k < 3; k++) {
        h.low[k] = inst->op_sel >> k & 1 ? 16 : 0;
        h.high[k] = inst->op_sel_hi >> k & 1 ? 16 : 0;
        h.neg_low[k] = is_float && inst->neg_lo >> k & 1 ? 0x8000 : 0;
        h.neg_high[k] = is_float && inst->neg_hi >> k & 1 ? 0x8000 : 0;
    }
    return h;
}

/* Both halves by `low` and `high`, expressions of the selected a, b, c (a2, b2, c2). */
#define PACKED2(name, is_float, expression)                                                        \
    static void name##_rows(struct valu_args *args)                                                \
    {                                                                                              \
        const unsigned n = args->n & 96u;                                                          \
        const struct halves h = halves_of(args->inst, is_float);                                   \
        const uint32_t mode = args->mode;                                                          \
        uint32_t *d = args->dst[0];                                                                \
        const uint32_t *s0 = args->src[0][0], *s1 = args->src[1][0];                               \
        (void)mode;                                                                                \
        VALU_LANES                                                                                 \
        {                                                                                          \
            uint32_t a = (s0[i] >> h.low[0] & 0xffff) ^ h.neg_low[0];                              \
            uint32_t b = (s1[i] >> h.low[1] & 0xffff) ^ h.neg_low[1];                              \
            const uint32_t low = (uint32_t)(expression)&0xffff;                                    \
            a = (s0[i] >> h.high[0] & 0xffff) ^ h.neg_high[0];                                     \
            b = (s1[i] >> h.high[1] & 0xffff) ^ h.neg_high[1];                                     \
            d[i] = low | (uint32_t)(expression) << 16;                                             \
        }                                                                                          \
    }
#define PACKED3(name, is_float, expression)                                                        \
    static void name##_rows(struct valu_args *args)                                                \
    {                                                                                              \
        const unsigned n = args->n & 96u;                                                          \
        const struct halves h = halves_of(args->inst, is_float);                                   \
        const uint32_t mode = args->mode;                                                          \
        uint32_t *d = args->dst[0];                                                                \
        const uint32_t *s0 = args->src[0][0], *s1 = args->src[1][0], *s2 = args->src[2][0];        \
        (void)mode;                                                                                \
        VALU_LANES                                                                                 \
        {                                                                                          \
            uint32_t a = (s0[i] >> h.low[0] & 0xffff) ^ h.neg_low[0];                              \
            uint32_t b = (s1[i] >> h.low[1] & 0xffff) ^ h.neg_low[1];                              \
            uint32_t c = (s2[i] >> h.low[2] & 0xffff) ^ h.neg_low[2];                              \
            const uint32_t low = (uint32_t)(expression)&0xffff;                                    \
            a = (s0[i] >> h.high[0] & 0xffff) ^ h.neg_high[0];                                     \
            b = (s1[i] >> h.high[1] & 0xffff) ^ h.neg_high[1];                                     \
            c = (s2[i] >> h.high[2] & 0xffff) ^ h.neg_high[2];                                     \
            d[i] = low | (uint32_t)(expression) << 16;                                             \
        }                                                                                          \
    }

/* Integers: as they are, or saturated with clamp. */
#define I16(x) ((int32_t)(int16_t)(x))
#define PACKED_INT(macro, name, wrapped, clamped)                                                  \
    macro(name##_wrapped, false, wrapped) macro(name##_clamped, false, clamped) void FN(name)(     \
        struct valu_args * args)                                                                   \
    {                                                                                              \
        if (args->inst->clamp)                                                                     \
            name##_clamped_rows(args);                                                             \
        else                                                                                       \
            name##_wrapped_rows(args);                                                             \
    }

static inline uint32_t sat_u16(int64_t x)
{
    return x < 0 ? 0 : x > 0xffff ? 0xffff : (uint32_t)x;
}

static inline uint32_t sat_i16(int64_t x)
{
    x = x < INT16_MIN ? INT16_MIN : x;
    return (uint32_t)(x > INT16_MAX ? INT16_MAX : x);
}
PACKED_INT(PACKED2, pk_add_i16, a + b, sat_i16(I16(a) + I16(b)))
PACKED_INT(PACKED2, pk_sub_i16, a - b, sat_i16(I16(a) - I16(b)))
PACKED_INT(PACKED2, pk_add_u16, a + b, sat_u16((int64_t)a + b))
PACKED_INT(PACKED2, pk_sub_u16, a - b, sat_u16((int64_t)a - b))
PACKED_INT(PACKED3, pk_mad_i16, a *b + c, sat_i16((int64_t)I16(a) * I16(b) + I16(c)))
PACKED_INT(PACKED3, pk_mad_u16, a *b + c, sat_u16((int64_t)a *b + c))

#define PACKED_PLAIN(name, expression)                                                             \
    PACKED2(name, false, expression) void FN(name)(struct valu_args * args)                        \
    {                                                                                              \
        name##_rows(args);                                                                         \
    }
PACKED_PLAIN(pk_mul_lo_u16, a *b)
PACKED_PLAIN(pk_lshlrev_b16, b << (a & 15))
PACKED_PLAIN(pk_lshrrev_b16, b >> (a & 15))
PACKED_PLAIN(pk_ashrrev_i16, I16(b) >> (a & 15))
PACKED_PLAIN(pk_min_i16, I16(a) < I16(b) ? a : b)
PACKED_PLAIN(pk_max_i16, I16(a) > I16(b) ? a : b)
PACKED_PLAIN(pk_min_u16, a < b ? a : b)
PACKED_PLAIN(pk_max_u16, a > b ? a : b)

/* Floats: MODE, then clamp. */
static void clamp_halves(struct valu_args *args)
{
    uint32_t *d = args->dst[0];
    if (!args->inst->clamp) return;
    for (unsigned i = 0; i < args->n; i++)
        d[i] = clamp_f16(d[i] & 0xffff, args->mode) | clamp_f16(d[i] >> 16, args->mode) << 16;
}

#define PACKED_FLOAT(macro, name, sources, expression)                                             \
    macro(name, true, expression) void FN(name)(struct valu_args * args)                           \
    {                                                                                              \
        if (valu_is_plain(args->mode, VALU_PACKED, VALU_PACKED))                                   \
            name##_rows(args);                                                                     \
        else                                                                                       \
            valu_moded(args, name##_rows,                                                          \
                       (struct valu_float){ VALU_PACKED, sources, VALU_PACKED });                  \
        clamp_halves(args);                                                                        \
    }
#define IEEE (mode & VALU_IEEE)
PACKED_FLOAT(PACKED2, pk_add_f16, 2, f16_of_f64(f64_of_f16(a) + f64_of_f16(b)))
PACKED_FLOAT(PACKED2, pk_mul_f16, 2, f16_of_f64(f64_of_f16(a) * f64_of_f16(b)))
PACKED_FLOAT(PACKED2, pk_min_f16, 2, min_f16(a, b, IEEE))
PACKED_FLOAT(PACKED2, pk_max_f16, 2, max_f16(a, b, IEEE))
PACKED_FLOAT(PACKED3, pk_fma_f16, 3, f16_of_f64(fma_of_f16(a, b, c)))

/* A source of the mixed instructions as floats: f32, or with op_sel_hi the half that op_sel names;
 * abs (in the place of neg_hi), then neg. */
static void mix_source(const struct valu_args *args, unsigned k, float *out)
{
    const struct isa_inst *inst = args->inst;
    const unsigned n = args->n & 96u, shift = inst->op_sel >> k & 1 ? 16 : 0;
    const bool half = inst->op_sel_hi >> k & 1;
    const uint32_t keep = inst->neg_hi >> k & 1 ? 0x7fffffff : UINT32_MAX;
    const uint32_t flip = inst->neg_lo >> k & 1 ? 0x80000000 : 0;
    const uint32_t *s = args->src[k][0];
    uint32_t u[64];
    if (half)
        for (unsigned i = 0; i < n; i++) u[i] = of_f32(f32_of_f16(s[i] >> shift));
    else
        for (unsigned i = 0; i < n; i++) u[i] = s[i];
    if (half && !(args->mode & VALU_DENORM_F64_IN))
        for (unsigned i = 0; i < n; i++)
            u[i] = flush_f16(s[i] >> shift) & 0x7fff ? u[i] : u[i] & 0x80000000;
    if (!half && !(args->mode & VALU_DENORM_F32_IN))
        for (unsigned i = 0; i < n; i++) u[i] = flush_f32(u[i]);
    for (unsigned i = 0; i < n; i++) out[i] = as_f32((u[i] & keep) ^ flip);
}

/* The fused sum in single precision; the mixed instructions differ in where it goes. */
static void mix(const struct valu_args *args, uint32_t *out)
{
    const unsigned n = args->n & 96u;
    float x[3][64];
    for (unsigned k = 0; k < 3; k++) mix_source(args, k, x[k]);
    if (args->mode & VALU_ROUND_F32) valu_round(args->mode & VALU_ROUND_F32);
    for (unsigned i = 0; i < n; i++) out[i] = of_f32(fmaf(x[0][i], x[1][i], x[2][i]));
    if (args->mode & VALU_ROUND_F32) valu_round(0);
    if (!(args->mode & VALU_DENORM_F32_OUT))
        for (unsigned i = 0; i < n; i++) out[i] = flush_f32(out[i]);
}

void FN(fma_mix_f32)(struct valu_args *args)
{
    const unsigned n = args->n & 96u;
    uint32_t r[64], *d = args->dst[0];
    mix(args, r);
    if (args->inst->clamp)
        for (unsigned i = 0; i < n; i++) r[i] = clamp_f32(r[i], args->mode);
    for (unsigned i = 0; i < n; i++) d[i] = r[i];
}

static void mix_half(struct valu_args *args, unsigned shift)
{
    const unsigned n = args->n & 96u, direction = args->mode >> 2 & 3;
    uint32_t r[64], *d = args->dst[0];
    mix(args, r);
    if (direction) valu_round(direction);
    for (unsigned i = 0; i < n; i++) r[i] = f16_of_f32(as_f32(r[i]));
    if (direction) valu_round(0);
    if (!(args->mode & VALU_DENORM_F64_OUT))
        for (unsigned i = 0; i < n; i++) r[i] = flush_f16(r[i]);
    if (args->inst->clamp)
        for (unsigned i = 0; i < n; i++) r[i] = clamp_f16(r[i], args->mode);
    for (unsigned i = 0; i < n; i++) d[i] = (d[i] & ~(0xffffu << shift)) | r[i] << shift;
}

void FN(fma_mixlo_f16)(struct valu_args *args)
{
    mix_half(args, 0);
}

void FN(fma_mixhi_f16)(struct valu_args *args)
{
    mix_half(args, 16);
}

/* c + a.low * b.low, then + a.high * b.high: the products are exact, each sum is rounded. */
void FN(dot2_f32_f16)(struct valu_args *args)
{
    const struct halves h = halves_of(args->inst, true);
    const bool flush_half = !(args->mode & VALU_DENORM_F64_IN);
    if (args->mode & VALU_ROUND_F32) valu_round(args->mode & VALU_ROUND_F32);
    for (unsigned i = 0; i < args->n; i++) {
        float low[2], high[2];
        for (unsigned k = 0; k < 2; k++) {
            uint32_t x = (args->src[k][0][i] >> h.low[k] & 0xffff) ^ h.neg_low[k];
            uint32_t y = (args->src[k][0][i] >> h.high[k] & 0xffff) ^ h.neg_high[k];
            low[k] = f32_of_f16(flush_half ? flush_f16(x) : x);
            high[k] = f32_of_f16(flush_half ? flush_f16(y) : y);
        }
        uint32_t c = args->src[2][0][i];
        if (!(args->mode & VALU_DENORM_F32_IN)) c = flush_f32(c);
        uint32_t r = of_f32((as_f32(c) + low[0] * low[1]) + high[0] * high[1]);
        if (!(args->mode & VALU_DENORM_F32_OUT)) r = flush_f32(r);
        args->dst[0][i] = args->inst->clamp ? clamp_f32(r, args->mode) : r;
    }
    if (args->mode & VALU_ROUND_F32) valu_round(0);
}

/* Sums of products of the fields of a word, `bits` wide each, and c; saturated with clamp. */
static inline int64_t field(uint32_t x, unsigned k, unsigned bits, bool is_signed)
{
    const uint32_t up = x << (32 - bits - bits * k);
    return is_signed ? (int32_t)up >> (32 - bits) : (int64_t)(up >> (32 - bits));
}

static inline void dot(struct valu_args *args, unsigned bits, bool is_signed, bool select)
{
    const struct halves h = halves_of(args->inst, false);
    for (unsigned i = 0; i < args->n; i++) {
        uint32_t x[2];
        for (unsigned k = 0; k < 2; k++) {
            const uint32_t s = args->src[k][0][i];
            x[k] = select ? (s >> h.low[k] & 0xffff) | s >> h.high[k] << 16 : s;
        }
        const uint32_t c = args->src[2][0][i];
        int64_t sum = is_signed ? (int32_t)c : (int64_t)c;
        for (unsigned k = 0; k < 32 / bits; k++)
            sum += field(x[0], k, bits, is_signed) * field(x[1], k, bits, is_signed);
        if (args->inst->clamp && is_signed)
            sum = sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum;
        if (args->inst->clamp && !is_signed) sum = sum > UINT32_MAX ? UINT32_MAX : sum;
        args->dst[0][i] = (uint32_t)sum;
    }
}

#define DOT(name, bits, is_signed, select)                                                         \
    void FN(name)(struct valu_args * args)                                                         \
    {                                                                                              \
        dot(args, bits, is_signed, select);                                                        \
    }
DOT(dot2_i32_i16, 16, true, true)
DOT(dot2_u32_u16, 16, false, true)
DOT(dot4_i32_i8, 8, true, false)
DOT(dot4_u32_u8, 8, false, false)
DOT(dot8_i32_i4, 4, true, false)
DOT(dot8_u32_u4, 4, false, false)
