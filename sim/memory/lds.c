/* lds.c: local memory of a workgroup, and lane permutations that go through its hardware. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/math/atomics.h"
#include "sim/memory/memory.h"
#include "sim/state/registers.h"

static void lds_fault(struct wave *w, const struct op *op, uint64_t lanes, uint64_t address,
                      unsigned bytes)
{
    struct finding f = {
        .kind = SIM_FAULT_LDS, .rule = -1, .lanes = lanes, .data_address = address
    };
    report(w, op, &f, "%u bytes at %llu of an LDS of %u bytes", bytes, (unsigned long long)address,
           w->core->group_bytes);
}

uint8_t *lds_at(struct wave *w, const struct op *op, unsigned lane, uint64_t address,
                unsigned bytes)
{
    const struct core *core = w->core;
    if (address + bytes <= core->group_bytes) return core->lds + address;
    lds_fault(w, op, UINT64_C(1) << lane, address, bytes);
    return NULL;
}

static bool is_written(const uint8_t *written, unsigned bytes)
{
    unsigned all = 1;
    for (unsigned i = 0; i < bytes; i++) all &= written[i];
    return all;
}

static void lds_unwritten(struct wave *w, const struct op *op, uint64_t lanes, uint64_t address,
                          unsigned bytes)
{
    struct finding f = {
        .kind = SIM_UNDEFINED_LDS, .rule = -1, .lanes = lanes, .data_address = address
    };
    report(w, op, &f, "%u bytes read at %llu of LDS, which this workgroup has not written", bytes,
           (unsigned long long)address);
}

void lds_mark(struct wave *w, const struct op *op, uint64_t address, unsigned bytes, bool store,
              unsigned lane)
{
    uint8_t *written = w->core->lds_written + address;
    if (!store && !is_written(written, bytes))
        lds_unwritten(w, op, UINT64_C(1) << lane, address, bytes);
    memset(written, 1, bytes); /* reported once is enough */
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

/* What is wrong with the lanes of an access, all of them in one report each. False: one is outside
 * of the workgroup's LDS. */
static bool check_lanes(struct wave *w, const struct op *op, const uint32_t *base, uint32_t offset,
                        bool load)
{
    const struct core *core = w->core;
    uint64_t outside = 0, unwritten = 0;
    for (uint64_t rest = w->exec; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(rest);
        const uint32_t address = base[lane] + offset;
        if ((uint64_t)address + op->width > core->group_bytes)
            outside |= UINT64_C(1) << lane;
        else if (load && !core->lds_complete && !is_written(core->lds_written + address, op->width))
            unwritten |= UINT64_C(1) << lane;
    }
    if (outside) {
        const unsigned lane = (unsigned)__builtin_ctzll(outside);
        lds_fault(w, op, outside, base[lane] + offset, op->width);
        return false;
    }
    if (unwritten) {
        const unsigned lane = (unsigned)__builtin_ctzll(unwritten);
        lds_unwritten(w, op, unwritten, base[lane] + offset, op->width);
        for (; unwritten; unwritten &= unwritten - 1) /* once is enough */
            memset(core->lds_written + (uint32_t)(base[__builtin_ctzll(unwritten)] + offset), 1,
                   op->width);
    }
    return true;
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
    if (!load || core->lds_complete) return true;
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
        if (is_easy(w, op, base, offset[p], true)) {
            w->core->sim->lanes->gather(vgpr_row(w, op->dst + p * words), n,
                                        w->core->lds + offset[p], base, words);
            continue;
        }
        if (!check_lanes(w, op, base, offset[p], true)) return;
        for (uint64_t rest = w->exec; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(rest);
            const uint32_t address = base[lane] + offset[p];
            const uint8_t *at = w->core->lds + address;
            check_alignment(w, op, address, lane);
            uint32_t *row = vgpr_row(w, op->dst + p * words);
            if (op->width < 4) row[lane] = narrow(op, at, row[lane]);
            for (unsigned k = 0; k < op->width / 4u; k++)
                memcpy(&row[(size_t)k * n + lane], at + 4 * k, 4);
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
        const uint32_t *row = vgpr_row(w, (p ? op->data1 : op->data)->reg - ISA_VGPR0);
        if (is_easy(w, op, base, offset[p], false)) {
            core->sim->lanes->scatter(core->lds + offset[p], base, row, n, op->width / 4);
            if (core->lds_complete) continue;
            for (unsigned i = 0; i < n; i++)
                memset(core->lds_written + base[i] + offset[p], 1, op->width);
            continue;
        }
        if (!check_lanes(w, op, base, offset[p], false)) return;
        for (uint64_t rest = w->exec; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(rest);
            const uint32_t address = base[lane] + offset[p];
            uint8_t *at = core->lds + address;
            check_alignment(w, op, address, lane);
            memset(core->lds_written + address, 1, op->width);
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
    for (unsigned p = 0; p < n_places; p++)
        if (!check_lanes(w, op, base, offset[p], op->atomic != ISA_DOES_SWAP)) return;
    for (unsigned p = 0; p < n_places; p++) lds_touched(w, op, base, offset[p]);
    for (uint64_t rest = w->exec; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint64_t data[2] = { lane_value(w, op->data, lane), lane_value(w, op->data1, lane) };
        for (unsigned p = 0; p < n_places; p++) {
            const uint32_t address = base[lane] + offset[p];
            uint8_t *at = w->core->lds + address;
            uint64_t old = 0;
            if (address % bytes)
                misaligned(w, op, UINT64_C(1) << lane, address, bytes, "LDS atomic");
            memset(w->core->lds_written + address, 1, bytes);
            memcpy(&old, at, bytes);
            /* Compare-and-store has the comparand first, an exchange of two has one each. */
            uint64_t value = n_places == 2 ? data[p] : compares ? data[1] : data[0];
            uint64_t now = atomic_new(op->atomic, bytes, old, value, compares ? data[0] : data[1]);
            memcpy(at, &now, bytes);
            if (!op->out) continue;
            unsigned to = op->dst + p * (bytes / 4);
            vgpr_row(w, to)[lane] = (uint32_t)old;
            if (bytes == 8) vgpr_row(w, to + 1)[lane] = (uint32_t)(old >> 32);
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
    uint32_t old, now;
    if (!at) return;
    lds_mark(w, op, address, 4, false, 0);
    const struct touch t = { .lanes = 1, .width = 4, .lds = true, .atomic = true, .scalar = true };
    w->core->address[0] = address;
    if (w->core->crossed) stores_touched(w, op, &t);
    memcpy(&old, at, 4);
    now = op->inst.id == ISA_ds_append_DS ? old + w->n_active : old - w->n_active;
    memcpy(at, &now, 4);
    uint32_t *row = vgpr_row(w, op->dst);
    for (unsigned i = 0; i < w->n_lanes; i++)
        if (w->exec_row[i]) row[i] = old;
    wave_load_begins(w, op, ISA_LGKMCNT, false);
    if (w->core->watch_lds) store_begins(w, op, &t, ISA_LGKMCNT);
}

/* ---- permutations ---- */

/* The lane of 32 that ds_swizzle reads for a lane, or -1 for a mode that is not modelled. */
static int swizzle_lane(unsigned mode, int lane)
{
    int and = (int)(mode & 31), or = (int)(mode >> 5 & 31), xor = (int)(mode >> 10 & 31);
    if (mode >= 0xe000) return -1;
    if (mode >= 0xc000) { /* rotate */
        int to = mode >> 10 & 1 ? lane - or : lane + or ;
        return ((lane & and) | (to & ~and)) & 31;
    }
    if (mode >= 0x8000) return (lane & ~3) + (int)(mode >> 2 * (lane & 3) & 3);
    return ((lane & and) | or) ^ xor;
}

/* ds_permute, ds_bpermute, ds_swizzle: within each half of 32 lanes; lanes that are off read as 0.
 */
void run_ds_lanes(struct wave *w, const struct op *op)
{
    const unsigned n = w->n_lanes, id = op->inst.id;
    const uint32_t *address = vgpr_row(w, op->address->reg - ISA_VGPR0);
    uint32_t *result = w->core->result[0];
    memset(result, 0, n * sizeof *result);
    if (id == ISA_ds_swizzle_b32_DS && swizzle_lane((unsigned)op->inst.imm, 0) < 0) {
        run_illegal(w, op);
        return;
    }
    const uint32_t *data = op->data ? vgpr_row(w, op->data->reg - ISA_VGPR0) : address;
    for (unsigned lane = 0; lane < n; lane++) {
        unsigned half = lane & 32, other;
        if (id == ISA_ds_swizzle_b32_DS)
            other = half + (unsigned)swizzle_lane((unsigned)op->inst.imm, (int)(lane & 31));
        else
            other = half + ((address[lane] + (uint32_t)op->inst.imm) / 4 & 31);
        if (id == ISA_ds_permute_b32_DS) {
            if (w->exec_row[lane]) result[other] = data[lane];
        } else if (w->exec_row[lane]) {
            result[lane] = data[other] & w->exec_row[other];
        }
    }
    uint32_t *to = vgpr_row(w, op->dst);
    for (unsigned lane = 0; lane < n; lane++)
        if (w->exec_row[lane]) to[lane] = result[lane];
    wave_load_begins(w, op, ISA_LGKMCNT, false);
}
