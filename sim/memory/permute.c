/* permute.c: ds_permute, ds_bpermute and ds_swizzle: lanes that go through the hardware of LDS. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/memory/memory.h"
#include "sim/state/registers.h"

/* Bit reversal of 5 bits, shifted down by as many as the mask keeps in their places. */
static unsigned fft_lane(unsigned mask, unsigned lane)
{
    unsigned reversed = 0;
    for (unsigned i = 0; i < 5; i++) reversed |= (lane >> i & 1) << (4 - i);
    return (reversed >> __builtin_popcount(mask) | (lane & mask)) & 31;
}

/* The lane of 32 that ds_swizzle reads for a lane. */
static unsigned swizzle_lane(unsigned mode, unsigned lane)
{
    const unsigned and = mode & 31, or = mode >> 5 & 31, xor = mode >> 10 & 31;
    if (mode >= 0xe000) return fft_lane(and, lane);
    if (mode >= 0xc000) { /* rotate */
        const unsigned to = mode >> 10 & 1 ? lane - or : lane + or ;
        return ((lane & and) | (to & ~and)) & 31;
    }
    if (mode >= 0x8000) return (lane & ~3u) + (mode >> 2 * (lane & 3) & 3);
    return ((lane & and) | or) ^ xor;
}

/* For each lane the one that it names, within its half of 32 lanes. Loops without a branch, which
 * compilers turn into vector code: reductions do little else. */
static void find_named(const struct wave *w, const struct op *op, uint8_t named[MAX_LANES])
{
    const unsigned n = w->n_lanes == 64 ? 64 : 32, mode = (unsigned)op->inst.imm & 0xffff;
    if (op->inst.id == ISA_ds_swizzle_b32_DS) {
        for (unsigned lane = 0; lane < 32; lane++) named[lane] = (uint8_t)swizzle_lane(mode, lane);
        for (unsigned lane = 32; lane < n; lane++) named[lane] = (uint8_t)(named[lane - 32] | 32);
        return;
    }
    const uint32_t *address = vgpr_row(w, op->address->reg - ISA_VGPR0);
    for (unsigned lane = 0; lane < n; lane++)
        named[lane] = (uint8_t)(((address[lane] + (uint32_t)op->inst.imm) >> 2 & 31) | (lane & 32));
}

/* For each lane the one that its result comes from; -1: none, it is 0. Lanes that are off read as
 * 0. */
static void find_sources(const struct wave *w, const struct op *op, const uint8_t named[MAX_LANES],
                         int8_t source[MAX_LANES])
{
    memset(source, -1, MAX_LANES);
    for (unsigned lane = 0; lane < w->n_lanes; lane++) {
        if (!w->exec_row[lane]) continue;
        if (op->inst.id == ISA_ds_permute_b32_DS)
            source[named[lane]] = (int8_t)lane;
        else if (w->exec_row[named[lane]])
            source[lane] = (int8_t)named[lane];
    }
}

/* Some lanes are off or not written, or are named as the ones to go to. */
static void move_lanes(struct wave *w, const struct op *op, unsigned from,
                       const uint8_t named[MAX_LANES], bool gaps)
{
    const unsigned n = w->n_lanes;
    const uint32_t *data = vgpr_row(w, from);
    uint32_t *to = vgpr_row(w, op->dst), *result = w->core->result[0], bits[MAX_LANES];
    int8_t source[MAX_LANES];
    find_sources(w, op, named, source);
    for (unsigned lane = 0; lane < n; lane++) {
        result[lane] = source[lane] < 0 ? 0 : data[source[lane]];
        if (gaps)
            bits[lane] = source[lane] < 0 ? UINT32_MAX : vgpr_bits(w, from, (unsigned)source[lane]);
    }
    const struct origin *known = origin_of(w, ORIGIN_VGPR + from);
    const struct origin origin = known ? *known : (struct origin){ 0 };
    for (unsigned lane = 0; lane < n; lane++) {
        if (!w->exec_row[lane]) continue;
        to[lane] = result[lane];
        if (!gaps) continue;
        undefine_lane(w, op->dst, lane, bits[lane]);
        if (bits[lane] != UINT32_MAX) origin_set(w, ORIGIN_VGPR + op->dst, known ? &origin : NULL);
    }
}

void run_ds_lanes(struct wave *w, const struct op *op)
{
    const unsigned n = w->n_lanes == 64 ? 64 : 32;
    const unsigned from = (op->data ? op->data : op->address)->reg - (unsigned)ISA_VGPR0;
    const bool gaps = w->vgpr_defined[from] != w->full || w->vgpr_defined[op->dst] != w->full;
    uint8_t named[MAX_LANES];
    find_named(w, op, named);
    if (!gaps && w->exec == w->full && op->inst.id != ISA_ds_permute_b32_DS) {
        const uint32_t *data = vgpr_row(w, from);
        uint32_t *result = w->core->result[0];
        for (unsigned lane = 0; lane < n; lane++) result[lane] = data[named[lane]];
        memcpy(vgpr_row(w, op->dst), result, n * sizeof *result);
    } else {
        move_lanes(w, op, from, named, gaps);
    }
    wave_load_begins(w, op, ISA_LGKMCNT, false);
}
