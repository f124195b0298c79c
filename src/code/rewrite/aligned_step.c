/* aligned_step.c: what an instruction makes of the facts of registers modulo 256, and of EXEC. */
#include "code/rewrite/aligned_state.h"

static const struct isa_operand *operand(const struct isa_inst *inst, enum isa_role role)
{
    for (unsigned i = 0; i < inst->n_operands; i++)
        if (inst->op[i].role == role) return &inst->op[i];
    return NULL;
}

fact aligned_source(const struct aligned_state *s, const struct isa_operand *op)
{
    if (!op || op->mods) return 0;
    switch (op->kind) {
    case ISA_KIND_VGPR: return s->vectors[s->level][op->reg - ISA_VGPR0];
    case ISA_KIND_REG: return op->reg < N_SCALAR_REGS ? s->scalars[op->reg] : 0;
    case ISA_KIND_INLINE:
    case ISA_KIND_LITERAL: return fact_of((uint32_t)isa_constant(op));
    default: return 0;
    }
}

/* ---- arithmetic ---- */

/* (a >> from) & (2^width - 1) */
static fact extract(fact a, fact from, fact width)
{
    fact shifted = fact_shr(a, from);
    if (width >> 8 < 5) return 0;
    return fact_and(shifted, fact_of((UINT32_C(1) << (width & 31)) - 1));
}

/* The (lower word of the) result; 0 for what is not followed. */
static fact compute(const struct isa_inst *inst, fact a, fact b, fact c)
{
    const fact imm = fact_of((uint32_t)inst->imm);
    switch (inst->id) {
    case ISA_v_mov_b32_VOP1:
    case ISA_s_mov_b32_SOP1:
    case ISA_s_mov_b64_SOP1: return a;
    case ISA_s_movk_i32_SOPK: return imm;
    case ISA_v_not_b32_VOP1:
    case ISA_s_not_b32_SOP1: return fact_not(a);
    case ISA_v_add_nc_u32_VOP2:
    case ISA_v_add_nc_i32_VOP3:
    case ISA_v_add_co_u32_VOP3:
    case ISA_s_add_u32_SOP2:
    case ISA_s_add_i32_SOP2: return fact_add(a, b);
    case ISA_v_sub_nc_u32_VOP2:
    case ISA_v_sub_nc_i32_VOP3:
    case ISA_v_sub_co_u32_VOP3:
    case ISA_s_sub_u32_SOP2:
    case ISA_s_sub_i32_SOP2: return fact_sub(a, b);
    case ISA_v_subrev_nc_u32_VOP2:
    case ISA_v_subrev_co_u32_VOP3: return fact_sub(b, a);
    case ISA_v_mul_u32_u24_VOP2:
    case ISA_v_mul_i32_i24_VOP2:
    case ISA_v_mul_lo_u32_VOP3:
    case ISA_s_mul_i32_SOP2: return fact_mul(a, b);
    case ISA_v_mad_u32_u24_VOP3:
    case ISA_v_mad_i32_i24_VOP3:
    case ISA_v_mad_u64_u32_VOP3: return fact_add(fact_mul(a, b), c);
    case ISA_v_lshlrev_b32_VOP2: return fact_shl(b, a);
    case ISA_s_lshl_b32_SOP2: return fact_shl(a, b);
    case ISA_v_lshrrev_b32_VOP2:
    case ISA_v_ashrrev_i32_VOP2: return fact_shr(b, a);
    case ISA_s_lshr_b32_SOP2:
    case ISA_s_ashr_i32_SOP2: return fact_shr(a, b);
    case ISA_s_lshl1_add_u32_SOP2: return fact_add(fact_shl(a, fact_of(1)), b);
    case ISA_s_lshl2_add_u32_SOP2: return fact_add(fact_shl(a, fact_of(2)), b);
    case ISA_s_lshl3_add_u32_SOP2: return fact_add(fact_shl(a, fact_of(3)), b);
    case ISA_s_lshl4_add_u32_SOP2: return fact_add(fact_shl(a, fact_of(4)), b);
    case ISA_v_and_b32_VOP2:
    case ISA_s_and_b32_SOP2: return fact_and(a, b);
    case ISA_s_andn2_b32_SOP2: return fact_and(a, fact_not(b));
    case ISA_v_or_b32_VOP2:
    case ISA_s_or_b32_SOP2: return fact_or(a, b);
    case ISA_v_xor_b32_VOP2:
    case ISA_s_xor_b32_SOP2: return fact_xor(a, b);
    case ISA_v_xnor_b32_VOP2: return fact_not(fact_xor(a, b));
    case ISA_v_lshl_add_u32_VOP3: return fact_add(fact_shl(a, b), c);
    case ISA_v_add_lshl_u32_VOP3: return fact_shl(fact_add(a, b), c);
    case ISA_v_add3_u32_VOP3: return fact_add(fact_add(a, b), c);
    case ISA_v_lshl_or_b32_VOP3: return fact_or(fact_shl(a, b), c);
    case ISA_v_and_or_b32_VOP3: return fact_or(fact_and(a, b), c);
    case ISA_v_or3_b32_VOP3: return fact_or(fact_or(a, b), c);
    case ISA_v_xor3_b32_VOP3: return fact_xor(fact_xor(a, b), c);
    case ISA_v_xad_u32_VOP3: return fact_add(fact_xor(a, b), c);
    case ISA_v_bfe_u32_VOP3: return extract(a, b, c);
    case ISA_v_bfi_b32_VOP3: return fact_or(fact_and(a, b), fact_and(fact_not(a), c));
    case ISA_v_cndmask_b32_VOP2:
    case ISA_s_cselect_b32_SOP2:
    case ISA_v_min_u32_VOP2:
    case ISA_v_max_u32_VOP2:
    case ISA_v_min_i32_VOP2:
    case ISA_v_max_i32_VOP2:
    case ISA_s_min_u32_SOP2:
    case ISA_s_max_u32_SOP2:
    case ISA_s_min_i32_SOP2:
    case ISA_s_max_i32_SOP2: return fact_join(a, b);
    default: return 0;
    }
}

static fact result_of(const struct aligned_state *s, const struct isa_inst *inst)
{
    if (inst->form == ISA_FORM_SDWA || inst->form == ISA_FORM_DPP16 ||
        inst->form == ISA_FORM_DPP8 || inst->clamp || inst->omod)
        return 0;
    const fact a = aligned_source(s, operand(inst, ISA_OP_SRC0)),
               b = aligned_source(s, operand(inst, ISA_OP_SRC1)),
               c = aligned_source(s, operand(inst, ISA_OP_SRC2));
    const struct isa_operand *to = operand(inst, ISA_OP_DST);
    if (inst->id == ISA_s_addk_i32_SOPK || inst->id == ISA_s_mulk_i32_SOPK) {
        const fact imm = fact_of((uint32_t)inst->imm), old = aligned_source(s, to);
        return inst->id == ISA_s_addk_i32_SOPK ? fact_add(old, imm) : fact_mul(old, imm);
    }
    return compute(inst, a, b, c);
}

/* ---- sets of lanes ---- */

/* A source of 32 or 64 bits, as many as the wave has lanes. */
static mask mask_of(const struct aligned_state *s, const struct isa_operand *op, unsigned n_regs)
{
    if (!op) return 0;
    if (op->kind == ISA_KIND_INLINE && isa_constant(op) == 0)
        return (mask)(MASK_WITHIN | s->level); /* no lane at all */
    if (op->kind != ISA_KIND_REG || op->n_regs != n_regs) return 0;
    if (op->reg == ISA_EXEC_LO) return (mask)(MASK_IS | s->level);
    if (op->reg + n_regs > N_SCALAR_REGS) return 0;
    mask m = s->masks[op->reg];
    return n_regs == 2 ? mask_join(m, s->masks[op->reg + 1]) : m;
}

static mask either(mask a, mask b)
{
    if (!a || !b) return 0;
    const mask outer = (a & MASK_LEVEL) < (b & MASK_LEVEL) ? a : b, inner = outer == a ? b : a;
    if (outer & MASK_IS) return outer;
    const bool same = (a & MASK_LEVEL) == (b & MASK_LEVEL);
    return same && inner & MASK_IS ? inner : (mask)(MASK_WITHIN | (outer & MASK_LEVEL));
}

static mask within(mask m)
{
    return m ? (mask)(MASK_WITHIN | (m & MASK_LEVEL)) : 0;
}

static mask combine(unsigned does, mask a, mask b)
{
    switch (does) {
    case ISA_DOES_COPY: return a;
    case ISA_DOES_SELECT: return mask_join(a, b);
    case ISA_DOES_AND: return (a & MASK_LEVEL) > (b & MASK_LEVEL) || !b ? within(a) : within(b);
    case ISA_DOES_ANDN1: return within(b);
    case ISA_DOES_ANDN2: return within(a);
    case ISA_DOES_OR: return either(a, b);
    case ISA_DOES_XOR: return within(mask_join(a, b));
    default: return 0;
    }
}

/* Scalar logic: what its result is as a set of lanes, and what EXEC becomes; true when it is a
 * result that may be a set. */
static bool follow_masks(const struct aligned_state *s, const struct isa_inst *inst, mask *result,
                         mask *exec)
{
    const unsigned n_regs = inst->wave64 ? 2 : 1;
    const struct isa_operand *to = operand(inst, ISA_OP_DST);
    const bool writes_exec = inst->row->implicit & ISA_W_EXEC;
    *result = *exec = 0;
    if (!(inst->row->flags & ISA_SALU) || inst->row->does == ISA_DOES_NONE || !to ||
        to->n_regs != n_regs)
        return false;
    const mask now = (mask)(MASK_IS | s->level);
    const mask a = mask_of(s, operand(inst, ISA_OP_SRC0), n_regs),
               b = writes_exec ? now : mask_of(s, operand(inst, ISA_OP_SRC1), n_regs);
    *exec = *result = combine(inst->row->does, a, b);
    if (inst->row->flags & ISA_OLD_EXEC) *result = now;
    return true;
}

/* ---- everything ---- */

static void write_scalars(struct aligned_state *s, const struct isa_uses *uses)
{
    for (unsigned i = 0; i < N_SCALAR_REGS; i++)
        if (isa_sgpr_in(uses->sgpr_write, i)) s->scalars[i] = s->masks[i] = 0;
}

/* Of `first` `f` is known, of others nothing. */
static void write_vectors(struct aligned_state *s, const struct isa_uses *uses, unsigned first,
                          fact f)
{
    for (unsigned w = 0; w < 4; w++)
        for (uint64_t rest = uses->vgpr_write[w]; rest; rest &= rest - 1) {
            const unsigned v = 64 * w + (unsigned)__builtin_ctzll(rest);
            aligned_write(s, v, v == first ? f : 0);
        }
}

/* One lane, whatever EXEC is. */
static void write_lane(struct aligned_state *s, unsigned v, fact f)
{
    for (unsigned i = 0; i <= s->level; i++) s->vectors[i][v] = fact_join(s->vectors[i][v], f);
}

void aligned_step(struct aligned_state *s, const struct isa_inst *inst)
{
    struct isa_uses uses;
    mask result, exec;
    const struct isa_operand *to = operand(inst, ISA_OP_DST);
    const bool is_valu = inst->row->flags & ISA_VALU;
    isa_uses(inst, &uses);
    if (uses.indexed) {
        aligned_forget(s);
        return;
    }
    if (inst->id == ISA_v_writelane_b32_VOP3 && to && to->kind == ISA_KIND_VGPR) {
        write_lane(s, to->reg - ISA_VGPR0, aligned_source(s, operand(inst, ISA_OP_SRC0)));
        return;
    }
    const fact f = result_of(s, inst);
    const bool is_set = follow_masks(s, inst, &result, &exec);
    bool writes_exec = uses.special & ISA_W_EXEC || isa_sgpr_in(uses.sgpr_write, ISA_EXEC_LO) ||
                       isa_sgpr_in(uses.sgpr_write, ISA_EXEC_HI);
    if (is_valu && inst->row->flags & ISA_CMPX) exec = (mask)(MASK_WITHIN | s->level);
    /* The lanes that a comparison found, of those that are there. */
    const bool compares = is_valu && inst->row->flags & ISA_CMP && !(inst->row->flags & ISA_CMPX);
    if (compares) result = (mask)(MASK_WITHIN | s->level);
    write_scalars(s, &uses);
    const bool to_vector = is_valu && to && to->kind == ISA_KIND_VGPR;
    write_vectors(s, &uses, to_vector ? (unsigned)to->reg - ISA_VGPR0 : NONE, f);
    if (to && to->kind == ISA_KIND_REG && to->reg < N_SCALAR_REGS && to->reg != ISA_NULL &&
        inst->row->flags & ISA_SALU)
        s->scalars[to->reg] = f;
    if (is_set || compares)
        for (unsigned i = 0; i < N_SCALAR_REGS; i++)
            if (isa_sgpr_in(uses.sgpr_write, i)) s->masks[i] = result;
    if (writes_exec) aligned_set_exec(s, exec);
    s->masks[ISA_EXEC_LO] = s->masks[ISA_EXEC_HI] = 0;
    s->scalars[ISA_EXEC_LO] = s->scalars[ISA_EXEC_HI] = 0;
}
