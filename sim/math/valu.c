/* valu.c: chooses the lane functions for this host; modes, output modifiers. */
#include <fenv.h>
#include <string.h>

#include "sim/math/lanes.h"
#include "sim/math/valu_impl.h"

/* The levels that were compiled; the plain one is always there. */
#ifdef VALU_HAVE_V3
extern const struct valu_row valu_table_v3[ISA_N_IDS];
extern const struct lanes valu_lanes_v3;
#endif
#ifdef VALU_HAVE_V4
extern const struct valu_row valu_table_v4[ISA_N_IDS];
extern const struct lanes valu_lanes_v4;
#endif
extern const struct lanes FN(lanes);

unsigned valu_levels(void)
{
    unsigned n = 1;
#ifdef VALU_HAVE_V3
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
        n = 2;
#endif
#if defined(VALU_HAVE_V3) && defined(VALU_HAVE_V4)
    if (n == 2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd"))
        n = 3;
#endif
    return n;
}

valu_fn *valu_function_at(unsigned level, unsigned isa_id)
{
    static const struct valu_row *const tables[] = {
        FN(table),
#ifdef VALU_HAVE_V3
        valu_table_v3,
#endif
#ifdef VALU_HAVE_V4
        valu_table_v4,
#endif
    };
    if (level >= valu_levels() || isa_id >= ISA_N_IDS) return NULL;
    return tables[level][isa_id].run;
}

valu_fn *valu_function(unsigned isa_id)
{
    return valu_function_at(valu_levels() - 1, isa_id);
}

const struct lanes *lanes_best(void)
{
    static const struct lanes *const tables[] = {
        &FN(lanes),
#ifdef VALU_HAVE_V3
        &valu_lanes_v3,
#endif
#ifdef VALU_HAVE_V4
        &valu_lanes_v4,
#endif
    };
    return tables[valu_levels() - 1];
}

enum valu_kind valu_result_of(unsigned isa_id)
{
    return isa_id < ISA_N_IDS ? (enum valu_kind)FN(table)[isa_id].result : VALU_INT;
}

enum valu_kind valu_source_of(unsigned isa_id, unsigned i)
{
    return isa_id < ISA_N_IDS && i < 3 ? (enum valu_kind)FN(table)[isa_id].source[i] : VALU_INT;
}

void valu_round(unsigned direction)
{
    static const int host[4] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
    fesetround(host[direction & 3]);
}

/* Denormals of a row to zero; of 64-bit values the high word tells. */
static void flush_rows(unsigned kind, unsigned n, uint32_t *low, uint32_t *high)
{
    for (unsigned i = 0; i < n; i++) {
        if (kind == VALU_F32) low[i] = flush_f32(low[i]);
        if (kind == VALU_F16) low[i] = flush_f16(low[i] & 0xffff);
        if (kind == VALU_PACKED)
            low[i] = flush_f16(low[i] & 0xffff) | flush_f16(low[i] >> 16) << 16;
        if (kind == VALU_F64 && !(high[i] & 0x7ff00000)) {
            low[i] = 0;
            high[i] &= 0x80000000;
        }
    }
}

void valu_moded(struct valu_args *args, valu_fn *plain, struct valu_float what)
{
    const uint32_t mode = args->mode;
    const bool out64 = what.out == VALU_F64 || what.out == VALU_F16 || what.out == VALU_PACKED;
    const bool in_on = mode & (what.in == VALU_F32 ? VALU_DENORM_F32_IN : VALU_DENORM_F64_IN);
    const bool out_on = mode & (what.out == VALU_F32 ? VALU_DENORM_F32_OUT : VALU_DENORM_F64_OUT);
    const unsigned direction = what.out == VALU_F32 ? mode & 3 : out64 ? mode >> 2 & 3 : 0;
    struct valu_args own = *args;
    uint32_t rows[3][2][64];
    for (unsigned k = 0; !in_on && k < what.n_float; k++) {
        const unsigned words = what.in == VALU_F64 ? 2 : 1;
        for (unsigned w = 0; w < words; w++) {
            memcpy(rows[k][w], args->src[k][w], args->n * sizeof rows[k][w][0]);
            own.src[k][w] = rows[k][w];
        }
        flush_rows(what.in, args->n, rows[k][0], rows[k][1]);
    }
    if (direction) valu_round(direction);
    plain(&own);
    if (direction) valu_round(0);
    args->mask_out = own.mask_out;
    if (!out_on) flush_rows(what.out, args->n, args->dst[0], args->dst[1]);
}

static void modify_f32(const struct valu_args *args, uint32_t *d)
{
    static const float factor[4] = { 1.0f, 2.0f, 4.0f, 0.5f };
    const unsigned omod = args->inst->omod & 3;
    const bool multiply = omod && !(args->mode & (VALU_IEEE | VALU_DENORM_F32_OUT));
    for (unsigned i = 0; i < args->n; i++) {
        if (multiply) {
            d[i] = flush_f32(of_f32(as_f32(d[i]) * factor[omod]));
            if (d[i] == 0x80000000) d[i] = 0;
        }
        if (args->inst->clamp) d[i] = clamp_f32(d[i], args->mode);
    }
}

static void modify_f16(const struct valu_args *args, uint32_t *d)
{
    static const double factor[4] = { 1, 2, 4, 0.5 };
    const unsigned omod = args->inst->omod & 3;
    const bool multiply = omod && !(args->mode & (VALU_IEEE | VALU_DENORM_F64_OUT));
    for (unsigned i = 0; i < args->n; i++) {
        uint32_t h = d[i] & 0xffff;
        if (multiply) {
            h = flush_f16(f16_of_f64(f64_of_f16(h) * factor[omod]));
            if (h == 0x8000) h = 0;
        }
        d[i] = args->inst->clamp ? clamp_f16(h, args->mode) : h;
    }
}

static void modify_f64(const struct valu_args *args, uint32_t *low, uint32_t *high)
{
    static const double factor[4] = { 1, 2, 4, 0.5 };
    const unsigned omod = args->inst->omod & 3;
    const bool multiply = omod && !(args->mode & (VALU_IEEE | VALU_DENORM_F64_OUT));
    for (unsigned i = 0; i < args->n; i++) {
        double x = as_f64(pair(low[i], high[i]));
        if (multiply) {
            x *= factor[omod];
            if (fabs(x) < 0x1p-1022) x = 0;
        }
        if (args->inst->clamp) {
            if (x != x)
                x = args->mode & VALU_DX10_CLAMP ? 0 : x;
            else
                x = x > 0 ? x < 1 ? x : 1 : 0;
        }
        low[i] = (uint32_t)of_f64(x);
        high[i] = (uint32_t)(of_f64(x) >> 32);
    }
}

void valu_modify(enum valu_kind kind, struct valu_args *args)
{
    if (!args->inst->omod && !args->inst->clamp) return;
    if (kind == VALU_F32) modify_f32(args, args->dst[0]);
    if (kind == VALU_F16) modify_f16(args, args->dst[0]);
    if (kind == VALU_F64) modify_f64(args, args->dst[0], args->dst[1]);
}
