/* facts.c: the facts that single instructions raise and drop. */
#include "code/isa/facts.h"

void facts_drop(struct facts *f, unsigned classes)
{
    if (classes & K_VMEM) f->bits[0] = f->bits[1] = 0;
    if (classes & K_SMEM) f->bits[2] = f->bits[3] = 0;
    uint64_t tail = 0;
    if (classes & K_EXEC) tail |= TAIL(F_EXEC);
    if (classes & K_CMPX) tail |= TAIL(F_CMPX);
    if (classes & K_NSA) tail |= TAIL(F_NSA);
    if (classes & K_LDS) tail |= LDS_FACTS | BRANCHED_FACTS;
    f->bits[4] &= ~tail;
}

bool isa_is_vector_memory(const struct isa_row *row)
{
    return row->flags & ISA_VMEM && row->encoding != ISA_FLAT;
}

static bool reads_exec(const struct isa_uses *u)
{
    return isa_sgpr_in(u->sgpr_read, ISA_EXEC_LO) || isa_sgpr_in(u->sgpr_read, ISA_EXEC_HI);
}

/* A counter of its own waited down to 0: "s_waitcnt_vscnt null, 0". */
static bool waits_for_all(const struct isa_inst *inst)
{
    return inst->op[0].reg == ISA_NULL && inst->imm == 0;
}

static bool drops_smem(const struct isa_inst *inst)
{
    switch (inst->id) {
    case ISA_s_version_SOPK:
    case ISA_s_waitcnt_vscnt_SOPK:
    case ISA_s_waitcnt_vmcnt_SOPK:
    case ISA_s_waitcnt_expcnt_SOPK: return false;
    case ISA_s_waitcnt_lgkmcnt_SOPK: return waits_for_all(inst);
    case ISA_s_waitcnt_SOPP: return (inst->imm >> 8 & 63) == 0;
    default: return inst->row->encoding != ISA_SOPP;
    }
}

/* A scalar result of a VALU, other than that of v_readlane, which LLVM does not count here. */
static bool has_mask_result(const struct isa_inst *inst)
{
    if (inst->row->flags & ISA_LANE) return false;
    if (inst->row->implicit & (ISA_W_VCC | ISA_W_EXEC)) return true;
    for (unsigned i = 0; i < inst->n_operands; i++)
        if (inst->op[i].access & ISA_WRITE && inst->op[i].kind == ISA_KIND_REG) return true;
    return false;
}

/* The classes that end at an instruction. */
unsigned isa_rules_kills(const struct isa_inst *inst)
{
    const struct isa_row *row = inst->row;
    unsigned kill = K_NSA;
    if (row->flags & ISA_VALU) {
        kill |= K_VMEM;
        if (inst->id != ISA_v_nop_VOP1) kill |= K_CMPX;
        if (has_mask_result(inst)) kill |= K_EXEC;
    } else if (row->flags & ISA_SALU) {
        if (drops_smem(inst)) kill |= K_SMEM;
        if (inst->id == ISA_s_waitcnt_SOPP && inst->imm == 0) kill |= K_VMEM;
        if (inst->id == ISA_s_waitcnt_depctr_SOPP && !(inst->imm >> 2 & 7)) kill |= K_VMEM;
        if (inst->id == ISA_s_waitcnt_depctr_SOPP && !(inst->imm & 1)) kill |= K_EXEC;
        if (inst->id == ISA_s_waitcnt_vscnt_SOPK && waits_for_all(inst)) kill |= K_LDS;
    } else if (row->flags & ISA_IS_DS || isa_is_vector_memory(row)) {
        kill |= K_LDS;
    }
    return kill;
}

struct facts facts_raised(const struct isa_inst *inst, const struct isa_uses *u)
{
    const struct isa_row *row = inst->row;
    struct facts f = { { 0 } };
    if (row->flags & (ISA_VMEM | ISA_IS_DS)) {
        f.bits[0] = u->sgpr_read[0];
        f.bits[1] = u->sgpr_read[1];
    }
    if (row->flags & ISA_SCALAR_MEM) {
        f.bits[2] = u->sgpr_read[0];
        f.bits[3] = u->sgpr_read[1];
    }
    if (!(row->flags & ISA_VALU) && reads_exec(u)) f.bits[4] |= TAIL(F_EXEC);
    if (row->flags & ISA_CMPX) f.bits[4] |= TAIL(F_CMPX);
    if (inst->n_nsa && inst->n_words >= 4) f.bits[4] |= TAIL(F_NSA);
    if (row->flags & ISA_IS_DS) f.bits[4] |= TAIL(F_LDS);
    if (isa_is_vector_memory(row)) f.bits[4] |= TAIL(F_VECTOR);
    return f;
}

unsigned isa_rules_raises(const struct isa_inst *inst, const struct isa_uses *uses)
{
    const struct facts f = facts_raised(inst, uses);
    unsigned classes = 0;
    if (f.bits[0] | f.bits[1]) classes |= K_VMEM;
    if (f.bits[2] | f.bits[3]) classes |= K_SMEM;
    if (f.bits[4] & TAIL(F_EXEC)) classes |= K_EXEC;
    if (f.bits[4] & TAIL(F_CMPX)) classes |= K_CMPX;
    if (f.bits[4] & TAIL(F_NSA)) classes |= K_NSA;
    if (f.bits[4] & LDS_FACTS) classes |= K_LDS;
    return classes;
}
