/* uses.c: registers and state an instruction reads and writes, implicit ones included. */
#include <string.h>

#include "code/isa/internal.h"

static void add(uint64_t *set, unsigned first, unsigned n)
{
    uint64_t mask = (UINT64_C(1) << n) - 1; /* n is at most 16 */
    unsigned shift = first & 63;
    set[first >> 6] |= mask << shift;
    if (shift + n > 64) set[(first >> 6) + 1] |= mask >> (64 - shift);
}

static void add_operand(struct isa_uses *u, const struct isa_operand *op)
{
    if (op->kind == ISA_KIND_VGPR) {
        unsigned v = op->reg - ISA_VGPR0;
        if (op->access & ISA_READ) add(u->vgpr_read, v, op->n_regs);
        if (op->access & ISA_WRITE) add(u->vgpr_write, v, op->n_regs);
    } else if (op->kind == ISA_KIND_REG && op->reg != ISA_NULL) {
        if (op->access & ISA_READ) add(u->sgpr_read, op->reg, op->n_regs);
        if (op->access & ISA_WRITE) add(u->sgpr_write, op->reg, op->n_regs);
    } else if (op->kind == ISA_KIND_SPECIAL) {
        switch (op->reg) {
        case ISA_SCC: u->special |= ISA_R_SCC; break;
        case ISA_VCCZ: u->special |= ISA_R_VCC | ISA_R_VCCZ; break;
        case ISA_EXECZ: u->special |= ISA_R_EXEC | ISA_R_EXECZ; break;
        case ISA_LDS_DIRECT: u->special |= ISA_R_LDS_DIRECT | ISA_R_M0; break;
        default: u->special |= ISA_R_FLAT_SCR; break;
        }
    }
}

void isa_uses(const struct isa_inst *in, struct isa_uses *u)
{
    const struct isa_row *row = in->row;
    memset(u->sgpr_read, 0, sizeof u->sgpr_read); /* one by one: plain stores */
    memset(u->sgpr_write, 0, sizeof u->sgpr_write);
    memset(u->vgpr_read, 0, sizeof u->vgpr_read);
    memset(u->vgpr_write, 0, sizeof u->vgpr_write);
    u->special = row->implicit;
    for (unsigned i = 0; i < in->n_operands; i++) add_operand(u, &in->op[i]);

    unsigned lanes = 1u + in->wave64;
    /* The scalar b64 instructions take both halves whatever the wave size is. */
    if (row->encoding == ISA_SOP1 && isa_type_regs[row->dst] == 2) lanes = 2;
    if (u->special & ISA_R_VCC) add(u->sgpr_read, ISA_VCC_LO, lanes);
    if (u->special & ISA_W_VCC) add(u->sgpr_write, ISA_VCC_LO, lanes);
    if (u->special & ISA_R_EXEC) add(u->sgpr_read, ISA_EXEC_LO, lanes);
    if (u->special & ISA_W_EXEC) add(u->sgpr_write, ISA_EXEC_LO, lanes);
    if (in->lds || in->gds) u->special |= ISA_R_M0;
    if (u->special & ISA_R_M0) add(u->sgpr_read, ISA_M0, 1);
    if (u->special & ISA_W_M0) add(u->sgpr_write, ISA_M0, 1);

    u->indexed = row->flags & ISA_INDEXED;
    u->counters = row->counters;
    /* An atomic that returns the old value waits in vmcnt instead of vscnt. */
    if (row->flags & ISA_ATOMIC && row->flags & ISA_VMEM && in->glc)
        u->counters = (uint8_t)((u->counters & ~ISA_VSCNT) | ISA_VMCNT);
    if (in->gds) u->counters |= ISA_EXPCNT;
}
