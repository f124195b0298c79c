/* flat_offset.c: FLAT accesses without an offset, which gfx1010 ignores, and SCRATCH accesses
 * without a negative one that is not a multiple of 4.
 *
 * The offset is added to the address in its own registers and taken off again behind the access, so
 * that no vector register is needed; the carry, or SCC where the address is a scalar, waits in a
 * scalar register that nobody uses. What a load writes is not restored. */
#include "code/isa/encode.h"
#include "code/rewrite/cures.h"
#include "code/rewrite/program.h"

enum { N_SCALARS = 106 };

static const struct isa_operand *operand(const struct isa_inst *inst, enum isa_role role)
{
    for (unsigned i = 0; i < inst->n_operands; i++)
        if (inst->op[i].role == role) return &inst->op[i];
    return NULL;
}

static bool covers(const struct isa_operand *op, unsigned reg)
{
    return op && op->kind == ISA_KIND_VGPR && reg >= op->reg &&
           reg < op->reg + (unsigned)op->n_regs;
}

/* op reg, carry, reg, value: with a carry in, the lower half's. */
static rmcp_status put(struct rewrite *r, uint32_t before, unsigned chip, unsigned id, unsigned reg,
                       unsigned carry, uint32_t value, unsigned carry_in)
{
    struct isa_inst inst;
    uint32_t words[ISA_MAX_WORDS];
    char why[160];
    isa_start(&inst, id, ISA_FORM_E64);
    if (id == ISA_v_add_co_u32_VOP3) inst.form = ISA_FORM_BASE;
    isa_add(&inst, ISA_OP_DST, reg);
    if (carry != NONE) isa_add(&inst, ISA_OP_SDST, carry);
    if (carry == NONE) { /* v_add_nc_u32: the constant comes first, as in its short form */
        inst.form = ISA_FORM_BASE;
        isa_add_value(&inst, ISA_OP_SRC0, value);
        isa_add(&inst, ISA_OP_SRC1, reg);
    } else {
        isa_add(&inst, ISA_OP_SRC0, reg);
        isa_add_value(&inst, ISA_OP_SRC1, value);
    }
    if (carry_in != NONE) isa_add(&inst, ISA_OP_SRC2, carry_in);
    size_t n = isa_encode(chip, &inst, words, why, sizeof why);
    if (!n) return rmcp_fail(RMCP_E_INTERNAL, "the sum of a FLAT address: %s", why);
    return rewrite_insert(r, before, REWRITE_ON_ALL_PATHS, words, (unsigned)n, NULL);
}

/* A scalar instruction of two sources before an item. */
static rmcp_status put_scalar(struct rewrite *r, uint32_t before, unsigned id, unsigned to,
                              unsigned reg, uint32_t a, uint32_t b)
{
    struct isa_inst inst;
    uint32_t words[ISA_MAX_WORDS];
    char why[160];
    isa_start(&inst, id, ISA_FORM_BASE);
    if (to != NONE) isa_add(&inst, ISA_OP_DST, to);
    if (reg != NONE)
        isa_add(&inst, ISA_OP_SRC0, reg);
    else
        isa_add_value(&inst, ISA_OP_SRC0, a);
    isa_add_value(&inst, ISA_OP_SRC1, b);
    size_t n = isa_encode(r->chip, &inst, words, why, sizeof why);
    if (!n) return rmcp_fail(RMCP_E_INTERNAL, "the sum of a scalar address: %s", why);
    return rewrite_insert(r, before, REWRITE_ON_ALL_PATHS, words, (unsigned)n, NULL);
}

/* reg += value, SCC stays. */
static rmcp_status add_scalar(struct rewrite *r, uint32_t before, unsigned reg, unsigned scratch,
                              uint32_t value)
{
    rmcp_status status = put_scalar(r, before, ISA_s_cselect_b32_SOP2, scratch, NONE, 1, 0);
    if (!status) status = put_scalar(r, before, ISA_s_add_u32_SOP2, reg, reg, 0, value);
    if (!status) status = put_scalar(r, before, ISA_s_cmp_lg_u32_SOPC, NONE, scratch, 0, 0);
    return status;
}

static rmcp_status fold_scratch(struct rewrite *r, const struct rewrite_function *function,
                                uint32_t item, struct isa_inst *inst, unsigned scratch, bool *done)
{
    uint32_t words[ISA_MAX_WORDS];
    char why[160];
    const struct isa_operand *address = operand(inst, ISA_OP_ADDR), *data, *to;
    const struct isa_operand *base = operand(inst, ISA_OP_SADDR);
    const bool is_vector = address && address->kind == ISA_KIND_VGPR && address->n_regs == 1;
    const bool is_scalar = base && base->kind == ISA_KIND_REG && base->reg < N_SCALARS;
    data = operand(inst, ISA_OP_DATA);
    to = operand(inst, ISA_OP_DST);
    if (is_vector == is_scalar) return RMCP_OK;
    const unsigned reg = is_vector ? address->reg : base->reg;
    const bool hits = is_vector && covers(data, reg), restores = !is_vector || !covers(to, reg);
    if (hits || (!restores && to->access & ISA_READ)) return RMCP_OK;
    const unsigned chip = r->chip | (function->wave64 ? ISA_WAVE64 : 0);
    const uint32_t offset = (uint32_t)inst->imm, behind = rewrite_next(r, item);
    inst->imm = 0;
    const size_t n = isa_encode(chip, inst, words, why, sizeof why);
    if (!n) return rmcp_fail(RMCP_E_INTERNAL, "a SCRATCH access without its offset: %s", why);
    rmcp_status status = is_vector
                             ? put(r, item, chip, ISA_v_add_nc_u32_VOP2, reg, NONE, offset, NONE)
                             : add_scalar(r, item, reg, scratch, offset);
    if (!status) status = rewrite_replace(r, item, words, (unsigned)n);
    if (!status && restores)
        status = is_vector ? put(r, behind, chip, ISA_v_add_nc_u32_VOP2, reg, NONE, -offset, NONE)
                           : add_scalar(r, behind, reg, scratch, -offset);
    *done = !status;
    return status;
}

rmcp_status rewrite_fold_offset(struct rewrite *r, const struct rewrite_function *function,
                                uint32_t item, unsigned scratch, bool *done)
{
    struct isa_inst inst;
    uint32_t words[ISA_MAX_WORDS];
    char why[160];
    *done = false;
    if (!rewrite_decode(r, function, item, &inst)) return RMCP_OK;
    if (inst.row->encoding == ISA_SCRATCH)
        return fold_scratch(r, function, item, &inst, scratch, done);
    const struct isa_operand *address = operand(&inst, ISA_OP_ADDR),
                             *to = operand(&inst, ISA_OP_DST);
    const struct isa_operand *data = operand(&inst, ISA_OP_DATA);
    if (!address || address->n_regs != 2 || !inst.imm) return RMCP_OK;
    unsigned low = address->reg, high = low + 1u;
    if (covers(data, low) || covers(data, high)) return RMCP_OK;
    if (to && to->access & ISA_READ && (covers(to, low) || covers(to, high))) return RMCP_OK;
    unsigned chip = r->chip | (function->wave64 ? ISA_WAVE64 : 0);
    uint32_t offset = (uint32_t)inst.imm, sign = offset >> 31 ? UINT32_MAX : 0;
    bool restores_low = !covers(to, low), restores_high = !covers(to, high);
    inst.imm = 0;
    size_t n = isa_encode(chip, &inst, words, why, sizeof why);
    if (!n) return rmcp_fail(RMCP_E_INTERNAL, "a FLAT access without its offset: %s", why);
    uint32_t behind = rewrite_next(r, item);
    rmcp_status status = put(r, item, chip, ISA_v_add_co_u32_VOP3, low, scratch, offset, NONE);
    if (!status)
        status = put(r, item, chip, ISA_v_add_co_ci_u32_VOP2, high, ISA_NULL, sign, scratch);
    if (!status) status = rewrite_replace(r, item, words, (unsigned)n);
    /* Behind it, before labels: only who executed the sum takes it back. */
    if (!status && restores_low)
        status = put(r, behind, chip, ISA_v_add_nc_u32_VOP2, low, NONE, -offset, NONE);
    if (!status && restores_high)
        status = put(r, behind, chip, ISA_v_sub_co_ci_u32_VOP2, high, ISA_NULL, sign, scratch);
    *done = !status;
    return status;
}
