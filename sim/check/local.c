/* local.c: values in LDS that nothing has written.
 *
 * Programs store registers in LDS of which only some lanes or bits mean something, and read back
 * more than they use, so neither alone is a finding: what is not written is followed through LDS
 * into the registers that it is read to, and told where it matters (undefined.c). Each byte of LDS
 * is written as a whole or has a mask of its written bits; each register remembers where in LDS its
 * garbage came from. */
#include <string.h>

#include "sim/check/check.h"

enum { STORED = 256 }; /* in lds_rest: a store left these bits, of a register that had no others */

void local_begin(struct core *core, bool watched)
{
    memset(core->lds_written, !watched, core->group_bytes);
    core->lds_whole = watched ? 0 : core->group_bytes;
    if (core->lds_has_rest) memset(core->lds_rest, 0, LDS_BYTES * sizeof *core->lds_rest);
    core->lds_has_rest = false;
}

void local_barrier(struct core *core)
{
    const uint8_t *from = core->lds_written + core->lds_whole;
    const uint8_t *gap = memchr(from, 0, core->group_bytes - core->lds_whole);
    core->lds_whole = gap ? (uint32_t)(gap - core->lds_written) : core->group_bytes;
}

void local_define(struct core *core, uint32_t address, unsigned bytes)
{
    if (address + bytes > core->lds_whole) memset(core->lds_written + address, 1, bytes);
}

bool local_is_written(const struct core *core, uint32_t address, unsigned bytes)
{
    if (address + bytes <= core->lds_whole) return true;
    unsigned all = 1;
    for (unsigned i = 0; i < bytes; i++) all &= core->lds_written[address + i];
    return all;
}

void local_put(struct core *core, uint32_t address, unsigned bytes, uint32_t bits)
{
    if (bytes < 4) bits |= UINT32_MAX << 8 * bytes;
    if (bits == UINT32_MAX) {
        local_define(core, address, bytes);
        return;
    }
    for (unsigned i = 0; i < bytes; i++) {
        const uint8_t part = (uint8_t)(bits >> 8 * i);
        core->lds_written[address + i] = part == 255;
        core->lds_rest[address + i] = part | STORED;
    }
    core->lds_has_rest = true;
    if (core->lds_whole > address) core->lds_whole = address;
}

uint32_t local_get(const struct core *core, uint32_t address, unsigned bytes)
{
    uint32_t bits = bytes < 4 ? UINT32_MAX << 8 * bytes : 0;
    for (unsigned i = 0; i < bytes; i++) {
        const bool whole = core->lds_written[address + i];
        bits |= (whole ? 255u : core->lds_rest[address + i] & 255u) << 8 * i;
    }
    return bits;
}

/* ---- registers that were read from LDS ---- */

static uint64_t bit(unsigned n)
{
    return UINT64_C(1) << (n & 63);
}

void origin_set(struct wave *w, unsigned reg, const struct origin *from)
{
    if (reg >= sizeof w->origin / sizeof *w->origin) return;
    uint64_t *set = &w->from_lds[reg >> 6];
    if (!from) {
        *set &= ~bit(reg);
        return;
    }
    *set |= bit(reg);
    w->origin[reg] = *from;
}

const struct origin *origin_of(const struct wave *w, unsigned reg)
{
    return w->from_lds[reg >> 6] & bit(reg) ? &w->origin[reg] : NULL;
}

void local_loaded(struct wave *w, const struct op *op, unsigned v, unsigned lane, uint32_t bits,
                  uint32_t address)
{
    const struct core *core = w->core;
    struct origin from = { w->pc - op->bytes, address, op->width, true };
    for (unsigned i = 0; i < op->width; i++)
        if (!core->lds_written[address + i] && !(core->lds_rest[address + i] & STORED))
            from.stored = false;
    undefine_lane(w, v, lane, bits);
    origin_set(w, ORIGIN_VGPR + v, &from);
}

void undefine_lane(struct wave *w, unsigned v, unsigned lane, uint32_t bits)
{
    if (v >= 256) return;
    if (bits == UINT32_MAX) {
        define_vgprs(w, v, 1, bit(lane));
        return;
    }
    set_vgpr_defined(w, v, w->vgpr_defined[v] & ~bit(lane));
    partial_set(w, v, lane, bits);
}

void local_stored(struct wave *w, unsigned v, unsigned lane, unsigned shift, uint32_t address,
                  unsigned bytes)
{
    for (unsigned k = 0; k < bytes; k += 4, v++) {
        const uint32_t bits = v < 256 ? vgpr_bits(w, v, lane) : UINT32_MAX;
        local_put(w->core, address + k, bytes - k < 4 ? bytes - k : 4,
                  (uint32_t)((bits | UINT64_C(0xffffffff) << 32) >> shift));
    }
}
