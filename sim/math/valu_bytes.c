/* valu_bytes.c: lane functions on bytes (differences, averages, permutes) and between lanes. */
#include <string.h>

#include "sim/math/valu_impl.h"

static inline uint32_t byte(uint32_t x, unsigned k)
{
    return x >> 8 * k & 255;
}

static inline uint32_t distance(uint32_t x, uint32_t y)
{
    return x > y ? x - y : y - x;
}

/* Sum of absolute differences of four bytes. */
static inline uint32_t sad(uint32_t a, uint32_t b)
{
    return distance(byte(a, 0), byte(b, 0)) + distance(byte(a, 1), byte(b, 1)) +
           distance(byte(a, 2), byte(b, 2)) + distance(byte(a, 3), byte(b, 3));
}

/* The same without the bytes whose reference b is 0. */
static inline uint32_t msad(uint32_t a, uint32_t b)
{
    uint32_t sum = 0;
    for (unsigned k = 0; k < 4; k++) sum += byte(b, k) ? distance(byte(a, k), byte(b, k)) : 0;
    return sum;
}

static inline uint32_t sum_sat(uint64_t x)
{
    return x > UINT32_MAX ? UINT32_MAX : (uint32_t)x;
}

static inline uint32_t sad16(uint32_t a, uint32_t b)
{
    return distance(a & 0xffff, b & 0xffff) + distance(a >> 16, b >> 16);
}

CLAMPED(OP3, sad_u8, sad(a, b) + c, sum_sat((uint64_t)sad(a, b) + c))
CLAMPED(OP3, sad_hi_u8, (sad(a, b) << 16) + c, sum_sat(((uint64_t)sad(a, b) << 16) + c))
CLAMPED(OP3, sad_u16, sad16(a, b) + c, sum_sat((uint64_t)sad16(a, b) + c))
CLAMPED(OP3, sad_u32, distance(a, b) + c, sum_sat((uint64_t)distance(a, b) + c))
CLAMPED(OP3, msad_u8, msad(a, b) + c, sum_sat((uint64_t)msad(a, b) + c))

/* Average of bytes, rounded up where the lowest bit of c's byte says so. */
static inline uint32_t lerp(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t r = 0;
    for (unsigned k = 0; k < 4; k++)
        r |= (byte(a, k) + byte(b, k) + (c >> 8 * k & 1)) >> 1 << 8 * k;
    return r;
}
OP3(lerp_u8, lerp(a, b, c))

/* One byte of the eight in a:b, a sign of one of them, 0 or 255. */
static inline uint32_t chosen(uint64_t data, uint32_t select)
{
    if (select > 12) return 255;
    if (select == 12) return 0;
    if (select < 8) return data >> 8 * select & 255;
    return data >> (16 * (select - 8) + 15) & 1 ? 255 : 0;
}

static inline uint32_t perm(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t r = 0;
    for (unsigned k = 0; k < 4; k++) r |= chosen(pair(b, a), byte(c, k)) << 8 * k;
    return r;
}
OP3(perm, perm(a, b, c))

/* Four windows of four bytes, one byte apart, against the same four bytes. */
static void quad(struct valu_args *args, bool masked, uint32_t sums[4], unsigned i)
{
    const uint64_t a = pair(args->src[0][0][i], args->src[0][1][i]);
    for (unsigned k = 0; k < 4; k++) {
        const uint32_t window = (uint32_t)(a >> 8 * k), b = args->src[1][0][i];
        sums[k] = masked ? msad(window, b) : sad(window, b);
    }
}

static void quad_u16(struct valu_args *args, bool masked)
{
    for (unsigned i = 0; i < args->n; i++) {
        const uint64_t c = pair(args->src[2][0][i], args->src[2][1][i]);
        uint32_t sums[4];
        uint64_t r = 0;
        quad(args, masked, sums, i);
        for (unsigned k = 0; k < 4; k++) {
            uint32_t sum = sums[k] + (uint32_t)(c >> 16 * k & 0xffff);
            if (args->inst->clamp && sum > 0xffff) sum = 0xffff;
            r |= (uint64_t)(sum & 0xffff) << 16 * k;
        }
        args->dst[0][i] = (uint32_t)r;
        args->dst[1][i] = (uint32_t)(r >> 32);
    }
}

void FN(qsad_pk_u16_u8)(struct valu_args *args)
{
    quad_u16(args, false);
}

void FN(mqsad_pk_u16_u8)(struct valu_args *args)
{
    quad_u16(args, true);
}

void FN(mqsad_u32_u8)(struct valu_args *args)
{
    for (unsigned i = 0; i < args->n; i++) {
        uint32_t sums[4], old[4];
        quad(args, true, sums, i);
        for (unsigned k = 0; k < 4; k++) old[k] = args->src[2][k][i];
        for (unsigned k = 0; k < 4; k++)
            args->dst[k][i] =
                args->inst->clamp ? sum_sat((uint64_t)sums[k] + old[k]) : sums[k] + old[k];
    }
}

/* Every lane takes a lane of its own row of 16, or of the row beside it. The selectors are the
 * same for all lanes. A lane switched off gives nothing (the old value stays) or, with bound_ctrl,
 * 0; with fi it gives its value all the same. */
static void permlane(struct valu_args *args, unsigned other_row)
{
    const uint64_t select = pair(args->src[1][0][0], args->src[2][0][0]);
    const bool fetch_inactive = args->inst->op_sel & 1, bound_ctrl = args->inst->op_sel & 2;
    uint32_t from[64];
    memcpy(from, args->src[0][0], args->n * sizeof *from);
    for (unsigned i = 0; i < args->n; i++) {
        const unsigned lane = ((i & ~15u) ^ other_row) + (select >> 4 * (i & 15) & 15);
        if (fetch_inactive || args->exec >> lane & 1)
            args->dst[0][i] = from[lane];
        else if (bound_ctrl)
            args->dst[0][i] = 0;
    }
}

void FN(permlane16)(struct valu_args *args)
{
    permlane(args, 0);
}

void FN(permlanex16)(struct valu_args *args)
{
    permlane(args, 16);
}
