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

/* For each lane the one that its result comes from; -1: none, it is 0. Within each half of 32
 * lanes; lanes that are off read as 0. */
static void find_sources(const struct wave *w, const struct op *op, int8_t source[MAX_LANES])
{
    const uint32_t *address = vgpr_row(w, op->address->reg - ISA_VGPR0);
    const unsigned id = op->inst.id;
    memset(source, -1, MAX_LANES);
    for (unsigned lane = 0; lane < w->n_lanes; lane++) {
        const unsigned half = lane & 32;
        if (!w->exec_row[lane]) continue;
        const unsigned other =
            half + (id == ISA_ds_swizzle_b32_DS
                        ? swizzle_lane((unsigned)op->inst.imm & 0xffff, lane & 31)
                        : (address[lane] + (uint32_t)op->inst.imm) / 4 & 31);
        if (id == ISA_ds_permute_b32_DS)
            source[other] = (int8_t)lane;
        else if (w->exec_row[other])
            source[lane] = (int8_t)other;
    }
}

void run_ds_lanes(struct wave *w, const struct op *op)
{
    const unsigned n = w->n_lanes;
    const unsigned from = (op->data ? op->data : op->address)->reg - (unsigned)ISA_VGPR0;
    const uint32_t *data = vgpr_row(w, from);
    uint32_t *to = vgpr_row(w, op->dst), *result = w->core->result[0], bits[MAX_LANES];
    const bool gaps = w->vgpr_defined[from] != w->full || w->vgpr_defined[op->dst] != w->full;
    int8_t source[MAX_LANES];
    find_sources(w, op, source);
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
    wave_load_begins(w, op, ISA_LGKMCNT, false);
}
