/* vmem_address.c: addresses of buffer, flat, global and scratch instructions, and their bounds. */
#include "sim/check/check.h"
#include "sim/memory/vmem.h"
#include "sim/state/registers.h"

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
    const struct sim_options *options = &w->core->sim->options;
    uint64_t *address = w->core->address;
    const bool ignore = op->inst.imm && acts_out(w, ISA_RULE_FLAT_OFFSET);
    bool ignored = false;
    global_addresses(w, op);
    for (uint64_t rest = w->exec; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint64_t bit = UINT64_C(1) << lane, aperture = address[lane] & ~UINT64_C(0xffffffff);
        if (aperture == options->shared_base) {
            a->lds |= bit;
            address[lane] &= 0xffffffff;
        } else if (aperture == options->private_base) {
            a->private |= bit;
            int64_t offset = (int64_t)(address[lane] & 0xffffffff);
            if (!in_scratch(w, op, lane, offset)) return false;
            address[lane] = w->scratch + swizzle(w, (uint64_t)offset, lane);
        } else if (ignore) {
            address[lane] -= (uint64_t)(int64_t)op->inst.imm;
            ignored = true;
        }
    }
    if (ignored) w->core->acted_out[ISA_RULE_FLAT_OFFSET]++;
    a->lanes &= ~a->lds;
    if (!a->private || a->private != a->lanes) return true;
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

/* Is an access outside of the buffer, by the rule that the descriptor chooses? Dwords of an untyped
 * access count one by one, everything else as a whole. */
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
    const unsigned last = op->base->reg + 3u;
    if (last >= ISA_VCC_LO && (op->base->reg < ISA_TTMP0 || last >= ISA_M0)) {
        run_illegal(w, op);
        return false;
    }
    const struct buffer b = read_buffer(w, op->base->reg);
    if (!b.format) { /* no buffer is bound: loads give 0, stores do nothing */
        a->lanes = 0;
        a->outside = w->exec;
        return true;
    }
    const uint64_t soffset = op->soffset ? (uint32_t)scalar_read(w, op->soffset) : 0;
    const uint32_t *v =
        inst->offen | inst->idxen ? vgpr_row(w, op->address->reg - ISA_VGPR0) : NULL;
    const bool dwords = !op->n_typed && !op->atomic;
    const uint32_t *v_index = inst->idxen ? v : NULL;
    const uint32_t *v_offset = inst->offen ? v + (inst->idxen ? w->n_lanes : 0) : NULL;
    for (uint64_t rest = w->exec; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint64_t index = v_index ? v_index[lane] : 0;
        uint64_t offset = (uint32_t)inst->imm + (v_offset ? (uint64_t)v_offset[lane] : 0);
        if (b.adds_lane) index += lane;
        bool scratch = b.adds_lane && b.swizzled;
        if (scratch) offset = (uint32_t)offset; /* compilers let the register be negative */
        unsigned inside = op->width;
        while (inside && is_outside(&b, index, scratch ? 0 : offset, soffset, inside))
            inside = dwords && !b.swizzled && inside > 4 ? inside - 4 : 0;
        if (!inside) {
            a->lanes &= ~(UINT64_C(1) << lane);
            a->outside |= UINT64_C(1) << lane;
            continue;
        }
        if (inside < op->width) {
            a->partial |= UINT64_C(1) << lane;
            a->inside[lane] = (uint8_t)inside;
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

bool find_addresses(struct wave *w, const struct op *op, struct access *a)
{
    a->lanes = w->exec;
    a->outside = a->lds = a->partial = a->private = 0;
    a->step = 4;
    a->scratch = false;
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

unsigned lane_step(const struct wave *w, const struct access *a, unsigned lane)
{
    return a->private >> lane & 1 ? 4 * w->n_lanes : a->step;
}

unsigned buffer_format(const struct wave *w, unsigned reg)
{
    return read_buffer(w, reg).format;
}

void buffer_select(const struct wave *w, unsigned reg, uint8_t select[4])
{
    for (unsigned k = 0; k < 4; k++) select[k] = w->sgpr[reg + 3] >> 3 * k & 7;
}
