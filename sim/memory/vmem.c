/* vmem.c: buffer, flat, global and scratch memory instructions. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/math/atomics.h"
#include "sim/math/formats.h"
#include "sim/memory/memory.h"
#include "sim/memory/vmem.h"
#include "sim/record/hooks.h"
#include "sim/state/registers.h"

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

/* Do all lanes fall into one piece of host memory? Then `*base` plus a GPU address is a host
 * address, else lanes go one by one. */
static bool one_mapping(struct wave *w, const struct access *a, unsigned width, unsigned access,
                        uintptr_t *base)
{
    struct core *core = w->core;
    if (a->step != 4 || !a->lanes || a->outside || a->partial || a->lds || a->private) return false;
    if (!memory_at(core, core->address[__builtin_ctzll(a->lanes)], width, access)) return false;
    const struct sim_mapping *m = &core->tlb[core->tlb_last];
    if (m->bytes < width) return false;
    const uint64_t first = m->first, most = m->bytes - width;
    const uint64_t bad = core->sim->lanes->outside(core->address, w->n_lanes, first, most);
    *base = (uintptr_t)m->host - (uintptr_t)first;
    return !(bad & a->lanes);
}

/* What a lane moves at once is seen whole by others, as on the card: rocPRIM passes a value and its
 * flag between workgroups in 16 bytes. One move of the host each, wherever it lies. */
typedef uint64_t two_words __attribute__((aligned(1), may_alias));
typedef uint32_t four_words __attribute__((vector_size(16), aligned(1), may_alias));

/* Every lane of an access that one_mapping has found a place for; `whole`: no lane is off. */
static inline void load_lanes(struct wave *w, const struct op *op, uintptr_t base, uint64_t lanes,
                              const unsigned width, const bool whole)
{
    const uint64_t *address = w->core->address;
    uint32_t *row = vgpr_row(w, op->dst);
    const unsigned n = w->n_lanes;
    for (unsigned i = 0; whole ? i < n : lanes != 0; i++, lanes &= lanes - 1) {
        const unsigned lane = whole ? i : (unsigned)__builtin_ctzll(lanes);
        const uint8_t *from = (const uint8_t *)(base + address[lane]);
        uint32_t word = 0;
        if (width < 4) {
            memcpy(&word, from, width);
            row[lane] = widen(op, word, row[lane]);
        }
        if (width == 8) {
            const uint64_t words = *(const volatile two_words *)from;
            row[lane] = (uint32_t)words;
            row[n + lane] = (uint32_t)(words >> 32);
        } else if (width == 16) {
            const four_words words = *(const volatile four_words *)from;
            for (unsigned k = 0; k < 4; k++) row[(size_t)k * n + lane] = words[k];
        } else {
            for (unsigned k = 0; k < width / 4; k++)
                memcpy(&row[(size_t)k * n + lane], from + 4 * k, 4);
        }
    }
}

static void load_fast(struct wave *w, const struct op *op, uintptr_t base, uint64_t lanes)
{
    const bool whole = lanes == w->full;
    switch (op->width) {
    case 1: load_lanes(w, op, base, lanes, 1, false); break;
    case 2: load_lanes(w, op, base, lanes, 2, false); break;
    case 4:
        if (whole)
            load_lanes(w, op, base, lanes, 4, true);
        else
            load_lanes(w, op, base, lanes, 4, false);
        break;
    case 8: load_lanes(w, op, base, lanes, 8, false); break;
    case 12: load_lanes(w, op, base, lanes, 12, false); break;
    default: load_lanes(w, op, base, lanes, 16, false); break;
    }
}

static void store_fast(struct wave *w, const struct op *op, uintptr_t base, uint64_t lanes)
{
    const uint64_t *address = w->core->address;
    const uint32_t *row = vgpr_row(w, op->data->reg - ISA_VGPR0);
    const unsigned n = w->n_lanes, words = op->width / 4;
    for (; lanes; lanes &= lanes - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(lanes);
        uint8_t *to = (uint8_t *)(base + address[lane]);
        if (words == 2)
            *(volatile two_words *)to = row[lane] | (uint64_t)row[n + lane] << 32;
        else if (words == 4)
            *(volatile four_words *)to =
                (four_words){ row[lane], row[n + lane], row[2 * n + lane], row[3 * n + lane] };
        else
            for (unsigned k = 0; k < words; k++) memcpy(to + 4 * k, &row[(size_t)k * n + lane], 4);
    }
}

/* Bytes of a lane that are inside of its buffer. */
static unsigned lane_bytes(const struct op *op, const struct access *a, unsigned lane)
{
    return a->partial >> lane & 1 ? a->inside[lane] : op->width;
}

/* A fault of some lanes: find them all for the report. */
static void lanes_fault(struct wave *w, const struct op *op, const struct access *a, bool store)
{
    unsigned access = store ? SIM_WRITE : SIM_READ;
    uint64_t bad = 0, first = 0;
    for (uint64_t rest = a->lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint64_t at = w->core->address[lane];
        const unsigned width = lane_bytes(op, a, lane);
        uint8_t byte;
        bool ok =
            memory_at(w->core, at, width, access) ||
            (access == SIM_READ && a->step == 4 && memory_read(w->core, at, &byte, 1, access) &&
             memory_read(w->core, at + width - 1, &byte, 1, access));
        if (ok) continue;
        if (!bad) {
            first = at;
            /* The byte that is missing may be a later one. */
            for (unsigned k = 0; k < width && memory_at(w->core, first, 1, access); k++) first++;
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

/* ---- what other waves see ---- */

/* Swizzled memory is scratch, which no other wave reaches. */
void vmem_touches(struct wave *w, const struct op *op, const struct access *a, unsigned width)
{
    struct touch t = { .lanes = a->lanes, .width = width, .atomic = op->atomic };
    if (a->step == 4) stores_touched(w, op, &t);
    t.lanes = a->lds;
    t.lds = true;
    stores_touched(w, op, &t);
}

/* A store, or an atomic that returns nothing, counts in vscnt; what returns a value in vmcnt. */
void vmem_counts_store(struct wave *w, const struct op *op, const struct access *a, unsigned width)
{
    const bool returns = op->atomic && op->inst.glc, flat = op->inst.row->encoding == ISA_FLAT;
    if (returns) {
        wave_load_begins(w, op, a->lds ? ISA_LGKMCNT : ISA_VMCNT, false);
    } else {
        wave_counts(w, &w->vs);
        if (flat) wave_counts(w, &w->lgkm);
    }
    struct touch t = { .lanes = a->lanes, .width = width, .atomic = op->atomic };
    if (w->core->watch_memory && a->step == 4 && a->lanes)
        store_begins(w, op, &t, returns ? ISA_VMCNT : ISA_VSCNT);
    t.lanes = a->lds;
    t.lds = true;
    if (w->core->watch_lds && a->lds) store_begins(w, op, &t, ISA_LGKMCNT);
}

/* ---- typed buffers ---- */

/* A component in 16 bits of its register, as the format's kind of number. */
static uint32_t half_component(const struct op *op, const uint32_t *row, unsigned n, unsigned k,
                               bool integer)
{
    const uint32_t word = row[(size_t)(k / 2) * n];
    const uint32_t half = op->half == 2 || k % 2 ? word >> 16 : word & 0xffff;
    return integer ? half : format_of_half(half);
}

static void put_half(const struct op *op, uint32_t *row, unsigned n, unsigned k, uint32_t value)
{
    uint32_t *word = &row[(size_t)(k / 2) * n];
    if (op->half == 2)
        *word = (*word & 0xffff) | value << 16;
    else
        *word = k % 2 ? (*word & 0xffff) | value << 16 : value & 0xffff;
}

static void typed_lane(struct wave *w, const struct op *op, unsigned format, unsigned lane,
                       bool store, bool inside, bool *ok)
{
    const struct isa_operand *data = store ? op->data : op->out;
    uint32_t *row = vgpr_row(w, data->reg - ISA_VGPR0) + lane, c[4] = { 0 };
    const unsigned bytes = format_bytes(format), n = w->n_lanes;
    const bool halves = op->inst.row->moves >= ISA_MOVES_HX, integer = format_is_integer(format);
    uint8_t memory[16] = { 0 }, select[4];
    buffer_select(w, op->base->reg, select);
    if (store) {
        for (unsigned k = 0; k < op->n_typed; k++)
            c[k] = halves ? half_component(op, row, n, k, integer) : row[(size_t)k * n];
        format_unselect(select, c);
        format_pack(format, c, memory);
        if (inside) *ok &= memory_write(w->core, w->core->address[lane], memory, bytes);
        return;
    }
    if (inside) *ok &= memory_read(w->core, w->core->address[lane], memory, bytes, SIM_READ);
    format_unpack(format, memory, c);
    format_select(select, integer, c);
    for (unsigned k = 0; k < op->n_typed; k++) {
        const uint32_t value = inside ? c[k] : 0;
        if (halves)
            put_half(op, row, n, k, integer ? value & 0xffff : format_to_half(value));
        else
            row[(size_t)k * n] = value;
    }
}

static void run_typed(struct wave *w, const struct op *op, bool store)
{
    struct access a;
    bool ok = true;
    unsigned format =
        op->inst.row->encoding == ISA_MTBUF ? op->inst.format : buffer_format(w, op->base->reg);
    const bool bound = buffer_format(w, op->base->reg);
    if (bound && !format_bytes(format)) {
        struct finding f = { .kind = SIM_ILLEGAL, .rule = -1 };
        report(w, op, &f, "buffer format %u is not modelled", format);
        return;
    }
    if (!find_addresses(w, op, &a)) return;
    if (w->core->record) record_lanes(w, a.lanes, a.step, format_bytes(format));
    if (w->core->crossed && !store) vmem_touches(w, op, &a, format_bytes(format));
    for (uint64_t rest = w->exec; rest && ok; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        typed_lane(w, op, format, lane, store, a.lanes >> lane & 1, &ok);
        if (!ok) lanes_fault(w, op, &a, store);
    }
    if (store)
        vmem_counts_store(w, op, &a, format_bytes(format));
    else
        wave_load_begins(w, op, ISA_VMCNT, false);
}

/* ---- handlers ---- */

static const uint8_t zeros[16];

/* Flat lanes that mean LDS. */
static void flat_lds(struct wave *w, const struct op *op, const struct access *a, bool store)
{
    for (uint64_t rest = a->lds; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint64_t address = w->core->address[lane];
        uint8_t bytes[16], *at = lds_at(w, op, lane, address, op->width);
        if (store && at) {
            take_lane(w, op, lane, bytes);
            memcpy(at, bytes, op->width);
            local_stored(w, op->data->reg - (unsigned)ISA_VGPR0, lane, op->half == 2 ? 16 : 0,
                         (uint32_t)address, op->width);
        } else if (!store) {
            memcpy(bytes, at ? at : zeros, op->width);
            put_lane(w, op, lane, bytes);
            if (at) lds_loaded(w, op, op->dst, lane, (uint32_t)address);
        }
    }
}

void run_vmem_load(struct wave *w, const struct op *op)
{
    struct access a;
    if (op->n_typed) {
        run_typed(w, op, false);
        return;
    }
    if (!find_addresses(w, op, &a)) return;
    if (w->core->record) record_lanes(w, a.lanes, a.step, op->width);
    if (w->core->crossed) vmem_touches(w, op, &a, op->width);
    w->core->stats.bytes_loaded += (uint64_t)op->width * w->n_active;
    uintptr_t base;
    if (one_mapping(w, &a, op->width, SIM_READ, &base)) {
        load_fast(w, op, base, a.lanes);
    } else {
        for (uint64_t rest = a.lanes; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(rest);
            unsigned step = lane_step(w, &a, lane);
            uint8_t bytes[16] = { 0 };
            if (!lane_copy(w, w->core->address[lane], step, bytes, lane_bytes(op, &a, lane),
                           false)) {
                lanes_fault(w, op, &a, false);
                return;
            }
            put_lane(w, op, lane, bytes);
        }
        for (uint64_t rest = a.outside; rest; rest &= rest - 1)
            put_lane(w, op, (unsigned)__builtin_ctzll(rest), zeros);
        flat_lds(w, op, &a, false);
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
    if (w->core->record) record_lanes(w, a.lanes, a.step, op->width);
    w->core->stats.bytes_stored += (uint64_t)op->width * w->n_active;
    check_alignment(w, op, &a);
    vmem_counts_store(w, op, &a, op->width);
    uintptr_t base;
    if (op->width >= 4 && one_mapping(w, &a, op->width, SIM_WRITE, &base)) {
        store_fast(w, op, base, a.lanes);
        return;
    }
    for (uint64_t rest = a.lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint8_t bytes[16];
        unsigned step = lane_step(w, &a, lane);
        take_lane(w, op, lane, bytes);
        if (lane_copy(w, w->core->address[lane], step, bytes, lane_bytes(op, &a, lane), true))
            continue;
        lanes_fault(w, op, &a, true);
        return;
    }
    flat_lds(w, op, &a, true);
}

static uint64_t pair_of(const struct wave *w, const uint32_t *row, unsigned lane, unsigned bytes)
{
    return bytes == 4 ? row[lane] : row[lane] | (uint64_t)row[w->n_lanes + lane] << 32;
}

/* The address of an atomic; what is not aligned is reported, and goes to the aligned place. */
static uint64_t atomic_address(struct wave *w, const struct op *op, unsigned lane, unsigned align)
{
    uint64_t at = w->core->address[lane];
    if (at % align) misaligned(w, op, UINT64_C(1) << lane, at, op->width, "atomic");
    return at - at % align;
}

static uint64_t atomic_lds(struct wave *w, const struct op *op, unsigned lane, uint64_t value,
                           uint64_t other)
{
    uint64_t at = atomic_address(w, op, lane, op->width);
    uint8_t *host = lds_at(w, op, lane, at, op->width);
    if (!host) return 0;
    local_define(w->core, (uint32_t)at, op->width);
    return atomic_apply(op->atomic, op->width, host, value, other);
}

static bool atomic_lane(struct wave *w, const struct op *op, const struct access *a, unsigned lane,
                        uint64_t value, uint64_t other, uint64_t *old)
{
    const unsigned bytes = op->width, step = lane_step(w, a, lane);
    uint64_t at = atomic_address(w, op, lane, step == 4 ? bytes : 4), now;
    uint8_t *host = memory_at(w->core, at, bytes, SIM_READ | SIM_WRITE), copy[8] = { 0 };
    if (step == 4 && host) {
        *old = atomic_apply(op->atomic, bytes, host, value, other);
        return true;
    }
    /* The dwords of a work-item's scratch lie apart, and are its own. */
    if (step == 4 || !lane_copy(w, at, step, copy, bytes, false)) {
        memory_fault(w, op, UINT64_C(1) << lane, at, bytes, "atomic");
        return false;
    }
    memcpy(old, copy, bytes);
    now = atomic_new(op->atomic, bytes, *old, value, other);
    memcpy(copy, &now, bytes);
    if (lane_copy(w, at, step, copy, bytes, true)) return true;
    memory_fault(w, op, UINT64_C(1) << lane, at, bytes, "atomic");
    return false;
}

void run_vmem_atomic(struct wave *w, const struct op *op)
{
    struct access a;
    const unsigned bytes = op->width;
    const struct isa_operand *data = op->data ? op->data : op->out;
    const uint32_t *row = vgpr_row(w, data->reg - ISA_VGPR0);
    const bool compares = op->atomic == ISA_DOES_CMPSWAP || op->atomic == ISA_DOES_FCMPSWAP;
    unsigned to = op->out ? op->dst : data->reg - (unsigned)ISA_VGPR0;
    if (!find_addresses(w, op, &a)) return;
    if (w->core->record) record_lanes(w, a.lanes, a.step, op->width);
    if (w->core->crossed) vmem_touches(w, op, &a, bytes);
    for (uint64_t rest = w->exec; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint64_t bit = UINT64_C(1) << lane, old = 0;
        uint64_t value = pair_of(w, row, lane, bytes);
        uint64_t other =
            compares ? pair_of(w, row + (size_t)(bytes / 4) * w->n_lanes, lane, bytes) : 0;
        if (a.lds & bit) {
            old = atomic_lds(w, op, lane, value, other);
        } else if (a.lanes & bit) {
            if (!atomic_lane(w, op, &a, lane, value, other, &old)) return;
        }
        if (!op->inst.glc) continue;
        vgpr_row(w, to)[lane] = (uint32_t)old;
        if (bytes == 8) vgpr_row(w, to + 1)[lane] = (uint32_t)(old >> 32);
    }
    w->core->stats.bytes_stored += (uint64_t)bytes * w->n_active;
    vmem_counts_store(w, op, &a, bytes);
}
