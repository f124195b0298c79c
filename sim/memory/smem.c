/* smem.c: scalar loads, stores and atomics. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/math/atomics.h"
#include "sim/memory/memory.h"
#include "sim/record/hooks.h"
#include "sim/state/registers.h"

/* Address of a scalar access, and how many of its dwords a buffer holds. */
static uint64_t smem_address(struct wave *w, const struct op *op, unsigned *n_inside)
{
    const struct isa_inst *inst = &op->inst;
    unsigned base = op->base->reg;
    uint64_t offset = (uint64_t)(int64_t)inst->imm;
    if (op->soffset && op->soffset->kind == ISA_KIND_REG) offset += scalar_read(w, op->soffset);
    unsigned n = op->n_dst;
    *n_inside = n;
    if (inst->row->src[0] != ISA_B128) {
        uint64_t address = w->sgpr[base] | (uint64_t)w->sgpr[base + 1] << 32;
        if (base == ISA_NULL) address = 0;
        if (inst->row->implicit & ISA_R_FLAT_SCR) { /* s_scratch_*: offsets in units of 64 bytes */
            address += ((uint64_t)(int64_t)inst->imm & ~UINT64_C(3)) +
                       64 * (offset - (uint64_t)(int64_t)inst->imm);
            return address & ~UINT64_C(3);
        }
        return (address + offset) & ~UINT64_C(3);
    }
    if (base + 3 >= ISA_VCC_LO && (base < ISA_TTMP0 || base + 3 >= ISA_M0)) return 0;
    uint64_t address = w->sgpr[base] | (uint64_t)(w->sgpr[base + 1] & 0xffff) << 32;
    uint64_t records = w->sgpr[base + 2], stride = w->sgpr[base + 1] >> 16 & 0x3fff;
    uint64_t bytes = stride ? records * stride : records;
    offset &= ~UINT64_C(3);
    if (offset >= bytes)
        *n_inside = 0;
    else if ((bytes - offset) / 4 < n)
        *n_inside = (unsigned)((bytes - offset) / 4);
    return (address & ~UINT64_C(3)) + offset;
}

void run_smem(struct wave *w, const struct op *op)
{
    unsigned n = op->n_dst, inside;
    uint32_t words[16] = { 0 };
    const uint64_t address = smem_address(w, op, &inside);
    if (w->core->record) record_scalar(w, address, 4 * inside);
    if (n > 16 || op->dst + n > 128) {
        run_illegal(w, op);
        return;
    }
    if (op->inst.row->flags & ISA_STORE) {
        memcpy(words, w->sgpr + op->dst, n * sizeof *words);
        if (!memory_write(w->core, address, words, 4 * inside)) {
            memory_fault(w, op, 0, address, 4 * inside, "scalar store");
            return;
        }
        w->core->stats.bytes_stored += 4 * inside;
        return;
    }
    if (inside && !memory_read(w->core, address, words, 4 * inside, SIM_READ)) {
        memory_fault(w, op, 0, address, 4 * inside, "scalar load");
        return;
    }
    w->core->stats.bytes_loaded += 4 * inside;
    if (w->core->crossed && inside) {
        w->core->address[0] = address;
        stores_touched(w, op, &(struct touch){ .lanes = 1, .width = 4 * inside, .scalar = true });
    }
    wave_load_begins(w, op, ISA_LGKMCNT, true);
    if (op->dst == ISA_NULL) return;
    memcpy(w->sgpr + op->dst, words, n * sizeof *words);
    if (op->dst + n > ISA_EXEC_LO) exec_changed(w);
}

void run_smem_atomic(struct wave *w, const struct op *op)
{
    unsigned inside;
    const uint64_t address = smem_address(w, op, &inside);
    if (w->core->record) record_scalar(w, address, 4 * inside);
    const bool compares = op->atomic == ISA_DOES_CMPSWAP;
    const unsigned bytes = op->n_dst * (compares ? 2 : 4);
    uint32_t *data = w->sgpr + op->dst;
    if (op->dst + op->n_dst > ISA_VCC_LO) {
        run_illegal(w, op);
        return;
    }
    if (4 * inside < bytes) return;
    uint8_t *at = memory_at(w->core, address, bytes, SIM_READ | SIM_WRITE);
    if (!at || address % bytes) {
        memory_fault(w, op, 0, address, bytes, "scalar atomic");
        return;
    }
    uint64_t value = data[0], other = compares ? data[bytes / 4] : 0;
    if (bytes == 8) {
        value |= (uint64_t)data[1] << 32;
        if (compares) other |= (uint64_t)data[3] << 32;
    }
    uint64_t old = atomic_apply(op->atomic, bytes, at, value, other);
    if (!op->inst.glc) return;
    wave_load_begins(w, op, ISA_LGKMCNT, true);
    data[0] = (uint32_t)old;
    if (bytes == 8) data[1] = (uint32_t)(old >> 32);
}
