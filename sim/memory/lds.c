/* lds.c: local memory of a workgroup: loads, stores and atomics. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/math/atomics.h"
#include "sim/memory/memory.h"
#include "sim/state/registers.h"

/* Past the end loads give 0 and stores do nothing, as AMD's manuals have it: told, and no more. */
static void lds_fault(struct wave *w, const struct op *op, uint64_t lanes, uint64_t address,
                      unsigned bytes)
{
    const uint32_t asked = w->core->run->dispatch->group_bytes;
    struct finding f = {
        .kind = SIM_FAULT_LDS, .rule = -1, .lanes = lanes, .data_address = address
    };
    report(w, op, &f, "%u bytes at %llu of an LDS of %u bytes%s", bytes,
           (unsigned long long)address, asked,
           w->core->group_bytes != asked ? " and the rest of its granule of 512" : "");
}

uint8_t *lds_at(struct wave *w, const struct op *op, unsigned lane, uint64_t address,
                unsigned bytes)
{
    const struct core *core = w->core;
    if (address + bytes <= core->group_bytes) return core->lds + address;
    lds_fault(w, op, UINT64_C(1) << lane, address, bytes);
    return NULL;
}

/* Wide accesses that are not aligned to their size, in WGP mode. */
static void check_alignment(struct wave *w, const struct op *op, uint32_t address, unsigned lane)
{
    const struct run *run = w->core->run;
    unsigned width = op->width == 12 ? 16 : op->width;
    if (width >= 8 && address % width && run->wgp_mode && run->has_bugs &&
        run->checks & SIM_CHECK_PATTERNS) {
        struct finding f = { .kind = SIM_PATTERN,
                             .rule = ISA_RULE_LDS_MISALIGNED,
                             .lanes = UINT64_C(1) << lane,
                             .data_address = address };
        pattern_found(w, op, &f, "");
    }
    unsigned align = width < 4 ? width : 4;
    if (run->checks & SIM_CHECK_UNALIGNED && address % align)
        misaligned(w, op, UINT64_C(1) << lane, address, op->width, "LDS access");
}

/* Lane addresses without the offsets. */
static const uint32_t *base_row(struct wave *w, const struct op *op)
{
    if (op->address) return vgpr_row(w, op->address->reg - ISA_VGPR0);
    for (unsigned i = 0; i < w->n_lanes; i++) /* *_addtid */
        w->core->row[0][i] = (w->sgpr[ISA_M0] & 0xffff) + 4 * i;
    return w->core->row[0];
}

/* The active lanes that are outside of the workgroup's LDS, all of them in one report. */
static uint64_t lanes_outside(struct wave *w, const struct op *op, const uint32_t *base,
                              uint32_t offset)
{
    uint64_t outside = 0;
    for (uint64_t rest = w->exec; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(rest);
        const uint32_t address = base[lane] + offset;
        if ((uint64_t)address + op->width > w->core->group_bytes) outside |= UINT64_C(1) << lane;
    }
    if (outside) {
        const unsigned lane = (unsigned)__builtin_ctzll(outside);
        lds_fault(w, op, outside, base[lane] + offset, op->width);
    }
    return outside;
}

/* All lanes on, everything inside, aligned and (for loads) written before. */
static bool is_easy(const struct wave *w, const struct op *op, const uint32_t *base,
                    uint32_t offset, bool load)
{
    const struct core *core = w->core;
    const unsigned n = w->n_lanes, width = op->width;
    if (w->exec != w->full || width < 4 || width == 12) return false;
    const struct lanes_span span = core->sim->lanes->span(base, n, offset, LDS_BYTES);
    const uint64_t least = (uint64_t)span.least + offset,
                   end = (uint64_t)span.most + offset + width;
    if (span.bits & (width - 1) || end > core->group_bytes) return false;
    if (!load || end <= core->lds_whole) return true;
    /* Mostly the lanes read one dense piece. */
    if (!memchr(core->lds_written + least, 0, end - least)) return true;
    uint32_t all = UINT32_MAX;
    for (unsigned i = 0; i < n; i++) {
        const uint8_t *written = core->lds_written + base[i] + offset;
        for (unsigned k = 0; k < width; k += 4) {
            uint32_t word;
            memcpy(&word, written + k, 4);
            all &= word;
        }
    }
    return all == 0x01010101;
}

/* ---- which bits of the registers are written afterwards, and of LDS ---- */

/* Whether any active lane of `n` registers is not written as a whole. */
static bool has_gaps(const struct wave *w, unsigned v, unsigned n)
{
    uint64_t defined = w->full;
    for (unsigned k = 0; k < n && v + k < 256; k++) defined &= w->vgpr_defined[v + k];
    return w->exec & ~defined;
}

/* Registers whose active lanes get values that are. */
static void define_results(struct wave *w, unsigned v, unsigned n)
{
    for (unsigned k = 0; k < n && v + k < 256; k++)
        if (w->exec & ~w->vgpr_defined[v + k]) define_vgprs(w, v + k, 1, w->exec);
}

/* The written bits of a register that gets less than 32 bits of memory. */
static uint32_t narrow_bits(const struct op *op, uint32_t bits)
{
    const uint32_t sign = op->width == 1 ? 0x80 : 0x8000;
    if (op->is_signed && !(bits & sign)) bits &= 2 * sign - 1;
    if (op->half == 1) return bits | 0xffff0000;
    if (op->half == 2) return bits << 16 | 0xffff;
    return bits;
}

void lds_loaded(struct wave *w, const struct op *op, unsigned v, unsigned lane, uint32_t address)
{
    const struct core *core = w->core;
    if (local_is_written(core, address, op->width)) return;
    if (op->width < 4) {
        const uint32_t bits = narrow_bits(op, local_get(core, address, op->width));
        if (bits != UINT32_MAX) local_loaded(w, op, v, lane, bits, address);
        return;
    }
    for (unsigned k = 0; k < op->width / 4u; k++) {
        const uint32_t bits = local_get(core, address + 4 * k, 4);
        if (bits != UINT32_MAX) local_loaded(w, op, v + k, lane, bits, address);
    }
}

/* ---- loads and stores ---- */

static uint32_t narrow(const struct op *op, const uint8_t *at, uint32_t old)
{
    uint32_t value = 0;
    memcpy(&value, at, op->width);
    if (op->is_signed) value = op->width == 1 ? (uint32_t)(int8_t)value : (uint32_t)(int16_t)value;
    if (op->half == 1) return (old & 0xffff0000) | (value & 0xffff);
    if (op->half == 2) return (old & 0xffff) | value << 16;
    return value;
}

void run_ds_load(struct wave *w, const struct op *op)
{
    uint32_t copy[MAX_LANES];
    const uint32_t *base = base_row(w, op), *offset = op->offset;
    const unsigned n_places = op->n_places, n = w->n_lanes, words = (op->width + 3u) / 4;
    if (n_places > 1 || op->n_dst > 1) { /* the result may be written over the address */
        memcpy(copy, base, n * sizeof *copy);
        base = copy;
    }
    for (unsigned p = 0; p < n_places; p++) {
        lds_touched(w, op, base, offset[p]);
        const unsigned to = op->dst + p * words;
        const bool easy = is_easy(w, op, base, offset[p], true);
        define_results(w, to, words);
        if (easy) {
            w->core->sim->lanes->gather(vgpr_row(w, to), n, w->core->lds + offset[p], base, words);
            continue;
        }
        const uint64_t outside = lanes_outside(w, op, base, offset[p]);
        for (uint64_t rest = w->exec; rest; rest &= rest - 1) {
            static const uint8_t zeros[16];
            unsigned lane = (unsigned)__builtin_ctzll(rest);
            const bool inside = !(outside >> lane & 1);
            const uint32_t address = base[lane] + offset[p];
            const uint8_t *at = inside ? w->core->lds + address : zeros;
            uint32_t *row = vgpr_row(w, to);
            if (op->width < 4) row[lane] = narrow(op, at, row[lane]);
            for (unsigned k = 0; k < op->width / 4u; k++)
                memcpy(&row[(size_t)k * n + lane], at + 4 * k, 4);
            if (!inside) continue;
            check_alignment(w, op, address, lane);
            lds_loaded(w, op, to, lane, address);
        }
    }
    w->core->stats.lds_loaded += (uint64_t)op->width * n_places * w->n_active;
    wave_load_begins(w, op, ISA_LGKMCNT, false);
}

void run_ds_store(struct wave *w, const struct op *op)
{
    struct core *core = w->core;
    const unsigned n_places = op->n_places, n = w->n_lanes;
    const uint32_t *base = base_row(w, op), *offset = op->offset;
    if (op->inst.row->flags & ISA_SRC2) {
        run_illegal(w, op);
        return;
    }
    for (unsigned p = 0; p < n_places; p++) {
        const unsigned from = (p ? op->data1 : op->data)->reg - (unsigned)ISA_VGPR0;
        const uint32_t *row = vgpr_row(w, from);
        const bool gaps = has_gaps(w, from, (op->width + 3u) / 4);
        if (!gaps && is_easy(w, op, base, offset[p], false)) {
            core->sim->lanes->scatter(core->lds + offset[p], base, row, n, op->width / 4);
            if (core->lds_whole == core->group_bytes) continue;
            for (unsigned i = 0; i < n; i++) local_define(core, base[i] + offset[p], op->width);
            continue;
        }
        const uint64_t outside = lanes_outside(w, op, base, offset[p]);
        for (uint64_t rest = w->exec & ~outside; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(rest);
            const uint32_t address = base[lane] + offset[p];
            uint8_t *at = core->lds + address;
            check_alignment(w, op, address, lane);
            if (gaps)
                local_stored(w, from, lane, op->half == 2 ? 16 : 0, address, op->width);
            else
                local_define(core, address, op->width);
            if (op->width < 4) {
                uint32_t value = op->half == 2 ? row[lane] >> 16 : row[lane];
                memcpy(at, &value, op->width);
            }
            for (unsigned k = 0; k < op->width / 4u; k++)
                memcpy(at + 4 * k, &row[(size_t)k * n + lane], 4);
        }
    }
    core->stats.lds_stored += (uint64_t)op->width * n_places * w->n_active;
    wave_counts(w, &w->lgkm);
    for (unsigned p = 0; p < n_places; p++) lds_store_begins(w, op, base, offset[p]);
}

/* ---- atomics ---- */

static uint64_t lane_value(const struct wave *w, const struct isa_operand *data, unsigned lane)
{
    if (!data) return 0;
    unsigned v = data->reg - (unsigned)ISA_VGPR0;
    uint64_t value = vgpr_row(w, v)[lane];
    if (data->n_regs > 1) value |= (uint64_t)vgpr_row(w, v + 1)[lane] << 32;
    return value;
}

static uint64_t lane_bits(const struct wave *w, const struct isa_operand *data, unsigned lane)
{
    if (!data) return ~UINT64_C(0);
    const unsigned v = data->reg - (unsigned)ISA_VGPR0;
    uint64_t bits = vgpr_bits(w, v, lane);
    return bits | (uint64_t)(data->n_regs > 1 ? vgpr_bits(w, v + 1, lane) : UINT32_MAX) << 32;
}

/* An atomic reads and writes LDS: returns the written bits that were there; what it leaves is
 * written when those and its data are, and by an exchange as its data is. */
static uint64_t atomic_marks(struct wave *w, const struct op *op, uint32_t address, uint64_t data,
                             uint64_t other)
{
    struct core *core = w->core;
    const bool wide = op->width == 8;
    uint64_t old = ~UINT64_C(0), now = data;
    if (!local_is_written(core, address, op->width)) {
        old = local_get(core, address, 4) | UINT64_C(0xffffffff) << 32;
        if (wide) old = (uint32_t)old | (uint64_t)local_get(core, address + 4, 4) << 32;
    }
    if (op->atomic != ISA_DOES_SWAP) now = (old & data & other) == ~UINT64_C(0) ? old : 0;
    local_put(core, address, 4, (uint32_t)now);
    if (wide) local_put(core, address + 4, 4, (uint32_t)(now >> 32));
    return old;
}

void run_ds_atomic(struct wave *w, const struct op *op)
{
    uint32_t base[MAX_LANES];
    const uint32_t *offset = op->offset;
    const unsigned n_places = op->n_places, bytes = op->width;
    const bool compares = op->atomic == ISA_DOES_CMPSWAP || op->atomic == ISA_DOES_FCMPSWAP;
    if (op->inst.row->flags & ISA_SRC2) {
        run_illegal(w, op);
        return;
    }
    memcpy(base, base_row(w, op), w->n_lanes * sizeof *base);
    uint64_t outside[2] = { 0 };
    for (unsigned p = 0; p < n_places; p++) {
        outside[p] = lanes_outside(w, op, base, offset[p]);
        lds_touched(w, op, base, offset[p]);
    }
    for (uint64_t rest = w->exec; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint64_t data[2] = { lane_value(w, op->data, lane), lane_value(w, op->data1, lane) };
        const uint64_t known[2] = { lane_bits(w, op->data, lane), lane_bits(w, op->data1, lane) };
        for (unsigned p = 0; p < n_places; p++) {
            const uint32_t address = base[lane] + offset[p];
            const bool inside = !(outside[p] >> lane & 1);
            uint8_t *at = w->core->lds + address;
            uint64_t old = 0, bits = ~UINT64_C(0);
            unsigned to = op->dst + p * (bytes / 4);
            if (inside) {
                if (address % bytes)
                    misaligned(w, op, UINT64_C(1) << lane, address, bytes, "LDS atomic");
                memcpy(&old, at, bytes);
                /* Compare-and-store has the comparand first, an exchange of two has one each. */
                const unsigned which = n_places == 2 ? p : compares;
                uint64_t now =
                    atomic_new(op->atomic, bytes, old, data[which], compares ? data[0] : data[1]);
                memcpy(at, &now, bytes);
                bits =
                    atomic_marks(w, op, address, known[which], compares ? known[0] : ~UINT64_C(0));
            }
            if (!op->out) continue;
            vgpr_row(w, to)[lane] = (uint32_t)old;
            if (bytes == 8) vgpr_row(w, to + 1)[lane] = (uint32_t)(old >> 32);
            for (unsigned k = 0; k < bytes / 4u; k++) {
                const uint32_t word = (uint32_t)(bits >> 32 * k);
                if (word != UINT32_MAX)
                    local_loaded(w, op, to + k, lane, word, address);
                else if (!(w->vgpr_defined[(to + k) & 255] >> lane & 1))
                    undefine_lane(w, to + k, lane, word);
            }
        }
    }
    w->core->stats.lds_stored += (uint64_t)bytes * n_places * w->n_active;
    if (op->out)
        wave_load_begins(w, op, ISA_LGKMCNT, false);
    else
        wave_counts(w, &w->lgkm);
    for (unsigned p = 0; p < n_places; p++) lds_store_begins(w, op, base, offset[p]);
}

/* ds_append and ds_consume: one counter for all active lanes. */
void run_ds_append(struct wave *w, const struct op *op)
{
    uint64_t address = (w->sgpr[ISA_M0] & 0xffff) + (uint64_t)op->inst.imm;
    uint8_t *at = lds_at(w, op, 0, address, 4);
    uint32_t old = 0, *row = vgpr_row(w, op->dst);
    const struct touch t = { .lanes = 1, .width = 4, .lds = true, .atomic = true, .scalar = true };
    w->core->address[0] = address;
    define_results(w, op->dst, 1);
    if (at) {
        if (w->core->crossed) stores_touched(w, op, &t);
        memcpy(&old, at, 4);
        const uint32_t now =
            op->inst.id == ISA_ds_append_DS ? old + w->n_active : old - w->n_active;
        memcpy(at, &now, 4);
    }
    const bool known = !at || local_is_written(w->core, (uint32_t)address, 4);
    for (unsigned i = 0; i < w->n_lanes; i++) {
        if (!w->exec_row[i]) continue;
        row[i] = old;
        if (!known) local_loaded(w, op, op->dst, i, 0, (uint32_t)address);
    }
    wave_load_begins(w, op, ISA_LGKMCNT, false);
    if (at && w->core->watch_lds) store_begins(w, op, &t, ISA_LGKMCNT);
}
