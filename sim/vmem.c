/* vmem.c: buffer, flat, global and scratch memory instructions. */
#include "sim/internal.h"

/* Where the lanes of an instruction go. Byte k of a lane lies at address + k; in swizzled memory
 * each next dword of a lane is `step` bytes further instead of 4. */
struct access {
    uint64_t lanes;   /* that touch memory                     */
    uint64_t outside; /* buffers: loads give 0, stores nothing */
    uint64_t lds;     /* flat lanes that mean LDS              */
    unsigned step;
    bool scratch;
};

/* ---- addresses ---- */

static uint64_t swizzle(const struct wave *w, uint64_t offset, unsigned lane)
{
    return (offset & ~UINT64_C(3)) * w->n_lanes + 4 * lane + (offset & 3);
}

/* Scratch that does not belong to the work-item. */
static void scratch_fault(struct wave *w, const struct op *op, uint64_t lanes, int64_t offset)
{
    struct finding f = {
        .kind = SIM_FAULT_SCRATCH, .rule = -1, .lanes = lanes, .data_address = (uint64_t)offset
    };
    report(w, op, &f, "%u bytes at offset %lld of a scratch of %u bytes", op->width,
           (long long)offset, w->core->run->dispatch->private_bytes);
}

static bool in_scratch(struct wave *w, const struct op *op, unsigned lane, int64_t offset)
{
    int64_t size = w->core->run->dispatch->private_bytes;
    if (offset >= 0 && offset + op->width <= size) return true;
    scratch_fault(w, op, UINT64_C(1) << lane, offset);
    return false;
}

static bool scratch_addresses(struct wave *w, const struct op *op, struct access *a)
{
    uint64_t *address = w->core->address;
    const uint32_t *v = op->address && op->address->kind == ISA_KIND_VGPR
                            ? vgpr_row(w, op->address->reg - ISA_VGPR0)
                            : NULL;
    int64_t base = op->inst.imm;
    if (op->base && op->base->kind == ISA_KIND_REG)
        base += (int32_t)(uint32_t)scalar_read(w, op->base);
    a->step = 4 * w->n_lanes;
    a->scratch = true;
    for (uint64_t rest = a->lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        int64_t offset = base + (v ? (int64_t)v[lane] : 0);
        if (!in_scratch(w, op, lane, offset)) return false;
        address[lane] = w->scratch + swizzle(w, (uint64_t)offset, lane);
    }
    return true;
}

static void global_addresses(struct wave *w, const struct op *op)
{
    uint64_t *restrict address = w->core->address;
    const unsigned n = w->n_lanes;
    const uint64_t imm = (uint64_t)(int64_t)op->inst.imm;
    const uint32_t *lo = vgpr_row(w, op->address->reg - ISA_VGPR0);
    if (op->base && op->base->kind == ISA_KIND_REG) {
        const uint64_t base = scalar_read(w, op->base) + imm;
        for (unsigned i = 0; i < n; i++) address[i] = base + lo[i];
        return;
    }
    const uint32_t *hi = lo + n;
    for (unsigned i = 0; i < n; i++) address[i] = (lo[i] | (uint64_t)hi[i] << 32) + imm;
}

/* FLAT: the apertures tell LDS and scratch from global memory. */
static bool flat_addresses(struct wave *w, const struct op *op, struct access *a)
{
    const struct run *run = w->core->run;
    const struct sim_options *options = &w->core->sim->options;
    uint64_t *address = w->core->address, private = 0;
    const bool ignore = run->act_out >> ISA_RULE_FLAT_OFFSET & 1;
    global_addresses(w, op);
    for (uint64_t rest = w->exec; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint64_t bit = UINT64_C(1) << lane, aperture = address[lane] & ~UINT64_C(0xffffffff);
        if (aperture == options->shared_base) {
            a->lds |= bit;
            address[lane] &= 0xffffffff;
        } else if (aperture == options->private_base) {
            private |= bit;
            int64_t offset = (int64_t)(address[lane] & 0xffffffff);
            if (!in_scratch(w, op, lane, offset)) return false;
            address[lane] = w->scratch + swizzle(w, (uint64_t)offset, lane);
        } else if (ignore) {
            address[lane] -= (uint64_t)(int64_t)op->inst.imm;
        }
    }
    a->lanes &= ~a->lds;
    if (!private) return true;
    if (private != a->lanes) {
        /* Global and scratch lanes in one instruction: dwords differ in distance. */
        if (op->width > 4) {
            struct finding f = { .kind = SIM_ILLEGAL, .rule = -1, .lanes = w->exec };
            report(w, op, &f, "lanes in global and in scratch memory in one wide flat access");
            return false;
        }
        return true;
    }
    a->step = 4 * w->n_lanes;
    a->scratch = true;
    return true;
}

/* What a buffer descriptor says. */
struct buffer {
    uint64_t base;
    uint32_t stride, records, index_stride;
    unsigned oob, format;
    bool swizzled, adds_lane;
};

static struct buffer read_buffer(const struct wave *w, unsigned reg)
{
    const uint32_t *s = w->sgpr + reg;
    return (struct buffer){
        .base = s[0] | (uint64_t)(s[1] & 0xffff) << 32,
        .stride = s[1] >> 16 & 0x3fff,
        .swizzled = s[1] >> 31,
        .records = s[2],
        .format = s[3] >> 12 & 127,
        .index_stride = 8u << (s[3] >> 21 & 3),
        .adds_lane = s[3] >> 23 & 1,
        .oob = s[3] >> 28 & 3,
    };
}

/* Is an access outside of the buffer, by the rule that the descriptor chooses? */
static bool is_outside(const struct buffer *b, uint64_t index, uint64_t offset, uint64_t soffset,
                       unsigned bytes)
{
    switch (b->oob) {
    case 0: return index >= b->records || offset + bytes > b->stride;
    case 1: return index >= b->records;
    case 2: return !b->records;
    default:
        if (b->swizzled && b->stride)
            return index >= b->records / b->stride || offset + bytes > b->stride;
        return soffset + index * b->stride + offset + bytes > b->records;
    }
}

static bool buffer_addresses(struct wave *w, const struct op *op, struct access *a)
{
    const struct isa_inst *inst = &op->inst;
    uint64_t *address = w->core->address;
    if (op->base->reg + 4u > ISA_VCC_LO) {
        run_illegal(w, op);
        return false;
    }
    const struct buffer b = read_buffer(w, op->base->reg);
    const uint64_t soffset = op->soffset ? (uint32_t)scalar_read(w, op->soffset) : 0;
    const uint32_t *v =
        inst->offen | inst->idxen ? vgpr_row(w, op->address->reg - ISA_VGPR0) : NULL;
    const uint32_t *v_index = inst->idxen ? v : NULL;
    const uint32_t *v_offset = inst->offen ? v + (inst->idxen ? w->n_lanes : 0) : NULL;
    for (uint64_t rest = w->exec; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint64_t index = v_index ? v_index[lane] : 0;
        uint64_t offset = (uint32_t)inst->imm + (v_offset ? (uint64_t)v_offset[lane] : 0);
        if (b.adds_lane) index += lane;
        bool scratch = b.adds_lane && b.swizzled;
        if (is_outside(&b, index, scratch ? 0 : offset, soffset, op->width)) {
            a->lanes &= ~(UINT64_C(1) << lane);
            a->outside |= UINT64_C(1) << lane;
            continue;
        }
        uint64_t at = index * b.stride + offset;
        if (b.swizzled)
            at = (index / b.index_stride * b.stride + (offset & ~UINT64_C(3))) * b.index_stride +
                 index % b.index_stride * 4 + (offset & 3);
        address[lane] = b.base + soffset + at;
    }
    if (b.swizzled) {
        a->step = 4 * b.index_stride;
        a->scratch = b.adds_lane;
    }
    return true;
}

/* Swizzled memory with lane numbers is scratch: what is not this wave's belongs to another. */
static bool check_slot(struct wave *w, const struct op *op, const struct access *a)
{
    const struct run *run = w->core->run;
    uint64_t tail = (uint64_t)a->step * ((op->width - 1u) / 4);
    for (uint64_t rest = a->lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint64_t at = w->core->address[lane];
        if (at - run->scratch >= run->scratch_bytes) continue; /* not scratch after all */
        if (at >= w->slot && at + tail < w->slot + run->wave_bytes) continue;
        int64_t offset = (int64_t)(at - w->slot) / a->step * 4 + (int64_t)(at & 3);
        scratch_fault(w, op, UINT64_C(1) << lane, offset);
        return false;
    }
    return true;
}

static bool find_addresses(struct wave *w, const struct op *op, struct access *a)
{
    *a = (struct access){ .lanes = w->exec, .step = 4 };
    switch (op->inst.row->encoding) {
    case ISA_SCRATCH: return scratch_addresses(w, op, a);
    case ISA_FLAT: return flat_addresses(w, op, a);
    case ISA_GLOBAL:
        if (op->inst.row->flags & ISA_ADDTID) {
            uint64_t base =
                op->base && op->base->kind == ISA_KIND_REG ? scalar_read(w, op->base) : 0;
            for (unsigned i = 0; i < w->n_lanes; i++)
                w->core->address[i] = base + (uint64_t)(int64_t)op->inst.imm + 4 * i;
            return true;
        }
        global_addresses(w, op);
        return true;
    default: return buffer_addresses(w, op, a) && (!a->scratch || check_slot(w, op, a));
    }
}

/* ---- moving data ---- */

/* Copy the bytes of one lane, wherever its dwords lie. */
static bool lane_copy(struct wave *w, uint64_t address, unsigned step, uint8_t *bytes, unsigned n,
                      bool store)
{
    struct core *core = w->core;
    if (step == 4)
        return store ? memory_write(core, address, bytes, n)
                     : memory_read(core, address, bytes, n, SIM_READ);
    for (unsigned k = 0; k < n;) {
        unsigned in = (unsigned)(address & 3) + k, part = 4 - in % 4;
        uint64_t at = (address & ~UINT64_C(3)) + (uint64_t)(in / 4) * step + in % 4;
        if (part > n - k) part = n - k;
        if (!(store ? memory_write(core, at, bytes + k, part)
                    : memory_read(core, at, bytes + k, part, SIM_READ)))
            return false;
        k += part;
    }
    return true;
}

/* A narrow value as the register gets it; `old` keeps the other half of d16 loads. */
static uint32_t widen(const struct op *op, uint32_t value, uint32_t old)
{
    if (op->is_signed) value = op->width == 1 ? (uint32_t)(int8_t)value : (uint32_t)(int16_t)value;
    if (op->half == 1) return (old & 0xffff0000) | (value & 0xffff);
    if (op->half == 2) return (old & 0xffff) | value << 16;
    return value;
}

static void put_lane(struct wave *w, const struct op *op, unsigned lane, const uint8_t *bytes)
{
    uint32_t *row = vgpr_row(w, op->dst);
    uint32_t words[4];
    if (op->width < 4) {
        words[0] = 0;
        memcpy(words, bytes, op->width);
        row[lane] = widen(op, words[0], row[lane]);
        return;
    }
    memcpy(words, bytes, op->width);
    for (unsigned k = 0; k < op->width / 4u; k++) row[(size_t)k * w->n_lanes + lane] = words[k];
}

static void take_lane(const struct wave *w, const struct op *op, unsigned lane, uint8_t *bytes)
{
    const uint32_t *row = vgpr_row(w, op->data->reg - ISA_VGPR0);
    uint32_t words[4];
    for (unsigned k = 0; k < (op->width + 3u) / 4; k++)
        words[k] = row[(size_t)k * w->n_lanes + lane];
    if (op->half == 2) words[0] >>= 16;
    memcpy(bytes, words, op->width);
}

/* Host memory that all lanes fall into, or NULL: then lanes go one by one. */
static uint8_t *one_mapping(struct wave *w, const struct access *a, unsigned width, unsigned access)
{
    struct core *core = w->core;
    if (a->step != 4 || !a->lanes || a->outside || a->lds) return NULL;
    if (!memory_at(core, core->address[__builtin_ctzll(a->lanes)], width, access)) return NULL;
    const struct sim_mapping *m = &core->tlb[core->tlb_last];
    if (m->bytes < width) return NULL;
    const uint64_t first = m->first, most = m->bytes - width;
    const uint64_t bad = core->sim->lanes->outside(core->address, w->n_lanes, first, most);
    return bad & a->lanes ? NULL : m->host - first;
}

/* Every lane of an access that one_mapping has found a place for; `whole`: no lane is off. */
static inline void load_lanes(struct wave *w, const struct op *op, const uint8_t *host,
                              uint64_t lanes, const unsigned width, const bool whole)
{
    const uint64_t *address = w->core->address;
    uint32_t *row = vgpr_row(w, op->dst);
    const unsigned n = w->n_lanes;
    for (unsigned i = 0; whole ? i < n : lanes != 0; i++, lanes &= lanes - 1) {
        const unsigned lane = whole ? i : (unsigned)__builtin_ctzll(lanes);
        const uint8_t *from = (const uint8_t *)((uintptr_t)host + address[lane]);
        uint32_t word = 0;
        if (width < 4) {
            memcpy(&word, from, width);
            row[lane] = widen(op, word, row[lane]);
        }
        for (unsigned k = 0; k < width / 4; k++)
            memcpy(&row[(size_t)k * n + lane], from + 4 * k, 4);
    }
}

static void load_fast(struct wave *w, const struct op *op, const uint8_t *host, uint64_t lanes)
{
    const bool whole = lanes == w->full;
    switch (op->width) {
    case 1: load_lanes(w, op, host, lanes, 1, false); break;
    case 2: load_lanes(w, op, host, lanes, 2, false); break;
    case 4:
        if (whole)
            load_lanes(w, op, host, lanes, 4, true);
        else
            load_lanes(w, op, host, lanes, 4, false);
        break;
    case 8: load_lanes(w, op, host, lanes, 8, false); break;
    case 12: load_lanes(w, op, host, lanes, 12, false); break;
    default: load_lanes(w, op, host, lanes, 16, false); break;
    }
}

static void store_fast(struct wave *w, const struct op *op, uint8_t *host, uint64_t lanes)
{
    const uint64_t *address = w->core->address;
    const uint32_t *row = vgpr_row(w, op->data->reg - ISA_VGPR0);
    const unsigned n = w->n_lanes, words = op->width / 4;
    for (; lanes; lanes &= lanes - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(lanes);
        uint8_t *to = (uint8_t *)((uintptr_t)host + address[lane]);
        for (unsigned k = 0; k < words; k++) memcpy(to + 4 * k, &row[(size_t)k * n + lane], 4);
    }
}

/* A fault of some lanes: find them all for the report. */
static void lanes_fault(struct wave *w, const struct op *op, const struct access *a, bool store)
{
    unsigned access = store ? SIM_WRITE : SIM_READ;
    uint64_t bad = 0, first = 0;
    for (uint64_t rest = a->lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint64_t at = w->core->address[lane];
        uint8_t byte;
        bool ok =
            memory_at(w->core, at, op->width, access) ||
            (access == SIM_READ && a->step == 4 && memory_read(w->core, at, &byte, 1, access) &&
             memory_read(w->core, at + op->width - 1, &byte, 1, access));
        if (ok) continue;
        if (!bad) {
            first = at;
            /* The byte that is missing may be a later one. */
            for (unsigned k = 0; k < op->width && memory_at(w->core, first, 1, access); k++)
                first++;
        }
        bad |= UINT64_C(1) << lane;
    }
    memory_fault(w, op, bad, first, op->width, store ? "store" : "load");
}

static void check_alignment(struct wave *w, const struct op *op, const struct access *a)
{
    if (!(w->core->run->checks & SIM_CHECK_UNALIGNED)) return;
    unsigned align = op->width < 4 ? op->width : 4;
    for (uint64_t rest = a->lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        if (!(w->core->address[lane] & (align - 1))) continue;
        misaligned(w, op, UINT64_C(1) << lane, w->core->address[lane], op->width, "access");
        return;
    }
}

void misaligned(struct wave *w, const struct op *op, uint64_t lanes, uint64_t address,
                unsigned bytes, const char *what)
{
    if (!(w->core->run->checks & (SIM_CHECK_ALIGNMENT | SIM_CHECK_UNALIGNED))) return;
    struct finding f = {
        .kind = SIM_MISALIGNED, .rule = -1, .lanes = lanes, .data_address = address
    };
    report(w, op, &f, "%s of %u bytes at 0x%llx", what, bytes, (unsigned long long)address);
}

/* ---- typed buffers ---- */

static void typed_lane(struct wave *w, const struct op *op, unsigned format, unsigned lane,
                       bool store, bool inside, bool *ok)
{
    const struct isa_operand *data = store ? op->data : op->out;
    uint32_t *row = vgpr_row(w, data->reg - ISA_VGPR0), c[4] = { 0 };
    const unsigned bytes = format_bytes(format), n = w->n_lanes;
    uint8_t memory[16] = { 0 };
    if (store) {
        for (unsigned k = 0; k < op->n_typed; k++)
            c[k] = op->half ? row[(size_t)(k / 2) * n + lane] >> 16 * (k % 2) & 0xffff
                            : row[(size_t)k * n + lane];
        format_pack(format, c, memory);
        if (inside) *ok &= memory_write(w->core, w->core->address[lane], memory, bytes);
        return;
    }
    if (inside) *ok &= memory_read(w->core, w->core->address[lane], memory, bytes, SIM_READ);
    format_unpack(format, memory, c);
    for (unsigned k = 0; k < op->n_typed; k++) row[(size_t)k * n + lane] = inside ? c[k] : 0;
}

static void run_typed(struct wave *w, const struct op *op, bool store)
{
    struct access a;
    bool ok = true;
    unsigned format = op->inst.row->encoding == ISA_MTBUF ? op->inst.format
                                                          : read_buffer(w, op->base->reg).format;
    if (!format_bytes(format) || op->half) {
        struct finding f = { .kind = SIM_ILLEGAL, .rule = -1 };
        report(w, op, &f, "buffer format %u%s is not modelled", format,
               op->half ? " in 16 bits" : "");
        return;
    }
    if (!find_addresses(w, op, &a)) return;
    for (uint64_t rest = w->exec; rest && ok; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        typed_lane(w, op, format, lane, store, a.lanes >> lane & 1, &ok);
        if (!ok) lanes_fault(w, op, &a, store);
    }
    if (!store) wave_load_begins(w, op, ISA_VMCNT, false);
}

/* ---- handlers ---- */

/* Flat lanes that mean LDS. */
static bool flat_lds(struct wave *w, const struct op *op, const struct access *a, bool store)
{
    for (uint64_t rest = a->lds; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint64_t address = w->core->address[lane];
        uint8_t bytes[16], *at = lds_at(w, op, lane, address, op->width);
        if (!at) return false;
        lds_mark(w, op, address, op->width, store, lane);
        if (store) {
            take_lane(w, op, lane, bytes);
            memcpy(at, bytes, op->width);
        } else {
            memcpy(bytes, at, op->width);
            put_lane(w, op, lane, bytes);
        }
    }
    return true;
}

void run_vmem_load(struct wave *w, const struct op *op)
{
    struct access a;
    if (op->n_typed) {
        run_typed(w, op, false);
        return;
    }
    if (!find_addresses(w, op, &a)) return;
    w->core->stats.bytes_loaded += (uint64_t)op->width * w->n_active;
    const uint8_t *host = one_mapping(w, &a, op->width, SIM_READ);
    if (host) {
        load_fast(w, op, host, a.lanes);
    } else {
        static const uint8_t zeros[16];
        uint8_t bytes[16];
        for (uint64_t rest = a.lanes; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(rest);
            unsigned step = a.step;
            if (w->core->address[lane] - w->core->run->scratch < w->core->run->scratch_bytes &&
                op->inst.row->encoding == ISA_FLAT)
                step = 4 * w->n_lanes;
            if (!lane_copy(w, w->core->address[lane], step, bytes, op->width, false)) {
                lanes_fault(w, op, &a, false);
                return;
            }
            put_lane(w, op, lane, bytes);
        }
        for (uint64_t rest = a.outside; rest; rest &= rest - 1)
            put_lane(w, op, (unsigned)__builtin_ctzll(rest), zeros);
        if (!flat_lds(w, op, &a, false)) return;
    }
    check_alignment(w, op, &a);
    wave_load_begins(w, op, a.lds ? ISA_LGKMCNT : ISA_VMCNT, false);
}

void run_vmem_store(struct wave *w, const struct op *op)
{
    struct access a;
    if (op->n_typed) {
        run_typed(w, op, true);
        return;
    }
    if (!find_addresses(w, op, &a)) return;
    w->core->stats.bytes_stored += (uint64_t)op->width * w->n_active;
    check_alignment(w, op, &a);
    if (op->inst.row->encoding == ISA_FLAT) wave_counts(w, &w->lgkm);
    uint8_t *host = op->width >= 4 ? (uint8_t *)one_mapping(w, &a, op->width, SIM_WRITE) : NULL;
    if (host) {
        store_fast(w, op, host, a.lanes);
        return;
    }
    for (uint64_t rest = a.lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint8_t bytes[16];
        unsigned step = a.step;
        if (w->core->address[lane] - w->core->run->scratch < w->core->run->scratch_bytes &&
            op->inst.row->encoding == ISA_FLAT)
            step = 4 * w->n_lanes;
        take_lane(w, op, lane, bytes);
        if (lane_copy(w, w->core->address[lane], step, bytes, op->width, true)) continue;
        lanes_fault(w, op, &a, true);
        return;
    }
    flat_lds(w, op, &a, true);
}

static uint64_t pair_of(const struct wave *w, const uint32_t *row, unsigned lane, unsigned bytes)
{
    return bytes == 4 ? row[lane] : row[lane] | (uint64_t)row[w->n_lanes + lane] << 32;
}

void run_vmem_atomic(struct wave *w, const struct op *op)
{
    struct access a;
    const unsigned bytes = op->width;
    const struct isa_operand *data = op->data ? op->data : op->out;
    const uint32_t *row = vgpr_row(w, data->reg - ISA_VGPR0);
    const bool compares = op->atomic == ATOMIC_CMPSWAP || op->atomic == ATOMIC_FCMPSWAP;
    unsigned to = op->out ? op->dst : data->reg - (unsigned)ISA_VGPR0;
    if (!find_addresses(w, op, &a)) return;
    for (uint64_t rest = w->exec; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint64_t bit = UINT64_C(1) << lane, at = w->core->address[lane], old = 0;
        uint64_t value = pair_of(w, row, lane, bytes);
        uint64_t other =
            compares ? pair_of(w, row + (size_t)(bytes / 4) * w->n_lanes, lane, bytes) : 0;
        if ((a.lanes | a.lds) & bit) {
            if (at % bytes) {
                misaligned(w, op, bit, at, bytes, "atomic");
                at -= at % bytes;
            }
            uint8_t *host = a.lds & bit ? lds_at(w, op, lane, at, bytes)
                                        : memory_at(w->core, at, bytes, SIM_READ | SIM_WRITE);
            if (!host) {
                if (a.lanes & bit) memory_fault(w, op, bit, at, bytes, "atomic");
                return;
            }
            if (a.lds & bit) lds_mark(w, op, at, bytes, true, lane);
            old = atomic_apply(op->atomic, bytes, host, value, other);
        }
        if (!op->inst.glc) continue;
        vgpr_row(w, to)[lane] = (uint32_t)old;
        if (bytes == 8) vgpr_row(w, to + 1)[lane] = (uint32_t)(old >> 32);
    }
    w->core->stats.bytes_stored += (uint64_t)bytes * w->n_active;
    if (op->inst.glc)
        wave_load_begins(w, op, a.lds ? ISA_LGKMCNT : ISA_VMCNT, false);
    else if (op->inst.row->encoding == ISA_FLAT)
        wave_counts(w, &w->lgkm);
}
