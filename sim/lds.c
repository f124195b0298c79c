/* lds.c: local memory of a workgroup, and lane permutations that go through its hardware. */
#include "sim/internal.h"

uint8_t *lds_at(struct wave *w, const struct op *op, unsigned lane, uint64_t address,
                unsigned bytes)
{
    const struct core *core = w->core;
    if (address + bytes <= core->group_bytes) return core->lds + address;
    struct finding f = {
        .kind = SIM_FAULT_LDS, .rule = -1, .lanes = UINT64_C(1) << lane, .data_address = address
    };
    report(w, op, &f, "%u bytes at %llu of an LDS of %u bytes", bytes, (unsigned long long)address,
           core->group_bytes);
    return NULL;
}

static bool is_written(const uint8_t *written, unsigned bytes)
{
    unsigned all = 1;
    for (unsigned i = 0; i < bytes; i++) all &= written[i];
    return all;
}

void lds_mark(struct wave *w, const struct op *op, uint64_t address, unsigned bytes, bool store,
              unsigned lane)
{
    uint8_t *written = w->core->lds_written + address;
    if (store) {
        memset(written, 1, bytes);
        return;
    }
    if (is_written(written, bytes)) return;
    struct finding f = {
        .kind = SIM_UNDEFINED_LDS, .rule = -1, .lanes = UINT64_C(1) << lane, .data_address = address
    };
    report(w, op, &f, "%u bytes read at %llu of LDS, which this workgroup has not written", bytes,
           (unsigned long long)address);
    memset(written, 1, bytes); /* once is enough */
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

/* Byte offsets of the one or two places that an instruction names. */
static unsigned places(const struct op *op, uint32_t offset[2])
{
    const struct isa_inst *inst = &op->inst;
    if (!(inst->row->flags & ISA_TWO_DATA)) {
        offset[0] = (uint32_t)inst->imm;
        return 1;
    }
    unsigned unit = op->width * (strstr(inst->row->name, "st64") ? 64 : 1);
    offset[0] = (uint32_t)inst->imm * unit;
    offset[1] = inst->offset1 * unit;
    return 2;
}

/* Lane addresses without the offsets. */
static const uint32_t *base_row(struct wave *w, const struct op *op)
{
    if (op->address) return vgpr_row(w, op->address->reg - ISA_VGPR0);
    for (unsigned i = 0; i < w->n_lanes; i++) /* *_addtid */
        w->core->row[0][i] = (w->sgpr[ISA_M0] & 0xffff) + 4 * i;
    return w->core->row[0];
}

/* All lanes on, everything inside, aligned and (for loads) written before. */
static bool is_easy(const struct wave *w, const struct op *op, const uint32_t *base,
                    uint32_t offset, bool load)
{
    const struct core *core = w->core;
    const unsigned n = w->n_lanes, width = op->width;
    uint32_t bits = 0, least = UINT32_MAX;
    uint64_t most = 0;
    if (w->exec != w->full || width < 4 || width == 12) return false;
    uint32_t top = 0;
    for (unsigned i = 0; i < n; i++) {
        uint32_t at = base[i] < LDS_BYTES ? base[i] : LDS_BYTES; /* far out stays out */
        bits |= at + offset;
        top = at > top ? at : top;
        least = at < least ? at : least;
    }
    most = (uint64_t)top + offset;
    least += offset;
    if (bits & (width - 1) || most + width > core->group_bytes) return false;
    /* Mostly the lanes read one dense piece. */
    if (!load || !memchr(core->lds_written + least, 0, most + width - least)) return true;
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

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define HAVE_SHUFFLE
#endif
#endif

#ifdef HAVE_SHUFFLE
typedef uint32_t v4 __attribute__((vector_size(16)));

/* 16 bytes of each of four lanes to four rows. */
static inline void transpose(const uint8_t *lds, const uint32_t *at, uint32_t *row, unsigned n)
{
    v4 a, b, c, d;
    memcpy(&a, lds + at[0], 16);
    memcpy(&b, lds + at[1], 16);
    memcpy(&c, lds + at[2], 16);
    memcpy(&d, lds + at[3], 16);
    v4 ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    v4 ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    v4 cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    v4 cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    v4 r0 = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
    v4 r1 = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
    v4 r2 = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
    v4 r3 = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
    memcpy(row, &r0, 16);
    memcpy(row + n, &r1, 16);
    memcpy(row + 2 * n, &r2, 16);
    memcpy(row + 3 * n, &r3, 16);
}
#endif

/* `base` is no register: the result may be written over the address. */
static void load_easy(struct wave *w, const struct op *op, const uint32_t *base, uint32_t offset,
                      unsigned first)
{
    const unsigned n = w->n_lanes, words = op->width / 4;
    const uint8_t *lds = w->core->lds + offset;
    uint32_t *row = vgpr_row(w, op->dst + first);
#ifdef HAVE_SHUFFLE
    if (words == 4) {
        for (unsigned i = 0; i < n; i += 4) transpose(lds, base + i, row + i, n);
        return;
    }
#endif
    for (unsigned k = 0; k < words; k++)
        for (unsigned i = 0; i < n; i++) memcpy(&row[(size_t)k * n + i], lds + base[i] + 4 * k, 4);
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
    uint32_t offset[2], base[MAX_LANES];
    const unsigned n_places = places(op, offset), n = w->n_lanes, words = (op->width + 3u) / 4;
    memcpy(base, base_row(w, op), n * sizeof *base);
    for (unsigned p = 0; p < n_places; p++) {
        lds_touched(w, op, base, offset[p]);
        if (is_easy(w, op, base, offset[p], true)) {
            load_easy(w, op, base, offset[p], p * words);
            continue;
        }
        for (uint64_t rest = w->exec; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(rest);
            uint64_t address = (uint64_t)base[lane] + offset[p];
            const uint8_t *at = lds_at(w, op, lane, address, op->width);
            if (!at) return;
            check_alignment(w, op, (uint32_t)address, lane);
            lds_mark(w, op, address, op->width, false, lane);
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
    uint32_t offset[2];
    const unsigned n_places = places(op, offset), n = w->n_lanes;
    const uint32_t *base = base_row(w, op);
    if (op->inst.row->flags & ISA_SRC2) {
        run_illegal(w, op);
        return;
    }
    for (unsigned p = 0; p < n_places; p++) {
        const uint32_t *row = vgpr_row(w, (p ? op->data1 : op->data)->reg - ISA_VGPR0);
        bool easy = is_easy(w, op, base, offset[p], false);
        for (uint64_t rest = w->exec; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(rest);
            uint64_t address = (uint64_t)base[lane] + offset[p];
            uint8_t *at = easy ? w->core->lds + address : lds_at(w, op, lane, address, op->width);
            if (!at) return;
            if (!easy) check_alignment(w, op, (uint32_t)address, lane);
            memset(w->core->lds_written + address, 1, op->width);
            if (op->width < 4) {
                uint32_t value = op->half == 2 ? row[lane] >> 16 : row[lane];
                memcpy(at, &value, op->width);
            }
            for (unsigned k = 0; k < op->width / 4u; k++)
                memcpy(at + 4 * k, &row[(size_t)k * n + lane], 4);
        }
    }
    w->core->stats.lds_stored += (uint64_t)op->width * n_places * w->n_active;
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
    uint32_t offset[2], base[MAX_LANES];
    const unsigned n_places = places(op, offset), bytes = op->width;
    const bool compares = op->atomic == ATOMIC_CMPSWAP || op->atomic == ATOMIC_FCMPSWAP;
    if (op->inst.row->flags & ISA_SRC2) {
        run_illegal(w, op);
        return;
    }
    memcpy(base, base_row(w, op), w->n_lanes * sizeof *base);
    for (unsigned p = 0; p < n_places; p++) lds_touched(w, op, base, offset[p]);
    for (uint64_t rest = w->exec; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint64_t data[2] = { lane_value(w, op->data, lane), lane_value(w, op->data1, lane) };
        for (unsigned p = 0; p < n_places; p++) {
            uint64_t address = (uint64_t)base[lane] + offset[p], old = 0;
            uint8_t *at = lds_at(w, op, lane, address, bytes);
            if (!at) return;
            if (address % bytes)
                misaligned(w, op, UINT64_C(1) << lane, address, bytes, "LDS atomic");
            lds_mark(w, op, address, bytes, op->atomic == ATOMIC_SWAP, lane);
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
