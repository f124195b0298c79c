/* encode_compare.c: is what was decoded what was asked for; and instructions built from nothing. */
#include <inttypes.h>
#include <string.h>

#include "code/isa/encoder.h"

/* The numbers of an instruction besides its operands, all of one byte. */
static const struct {
    const char *name;
    size_t offset;
} numbers[] = {
#define NUMBER(field)                                                                              \
    {                                                                                              \
#field, offsetof(struct isa_inst, field)                                                   \
    }
    NUMBER(form),       NUMBER(offset1),  NUMBER(clamp),     NUMBER(omod),      NUMBER(op_sel),
    NUMBER(op_sel_hi),  NUMBER(neg_lo),   NUMBER(neg_hi),    NUMBER(dst_sel),   NUMBER(dst_unused),
    NUMBER(src0_sel),   NUMBER(src1_sel), NUMBER(row_mask),  NUMBER(bank_mask), NUMBER(bound_ctrl),
    NUMBER(fi),         NUMBER(glc),      NUMBER(slc),       NUMBER(dlc),       NUMBER(lds),
    NUMBER(tfe),        NUMBER(gds),      NUMBER(offen),     NUMBER(idxen),     NUMBER(format),
    NUMBER(dmask),      NUMBER(dim),      NUMBER(unorm),     NUMBER(r128),      NUMBER(a16),
    NUMBER(lwe),        NUMBER(d16),      NUMBER(n_nsa),     NUMBER(attr),      NUMBER(attr_chan),
    NUMBER(exp_target), NUMBER(exp_en),   NUMBER(exp_compr), NUMBER(exp_done),  NUMBER(exp_vm),
#undef NUMBER
};
enum { N_NUMBERS = sizeof numbers / sizeof *numbers };

static unsigned number_of(const struct isa_inst *in, unsigned i)
{
    return *((const uint8_t *)in + numbers[i].offset);
}

/* The number that differs, or NULL. */
static const char *find_difference(const struct isa_inst *a, const struct isa_inst *b,
                                   uint32_t *value)
{
    for (unsigned i = 0; i < N_NUMBERS; i++) {
        *value = number_of(a, i);
        if (*value != number_of(b, i)) return numbers[i].name;
    }
    *value = (uint32_t)a->imm;
    if (a->imm != b->imm) return "constant";
    *value = a->dpp_ctrl;
    if (a->dpp_ctrl != b->dpp_ctrl) return "dpp_ctrl";
    *value = a->dpp8;
    return a->dpp8 != b->dpp8 ? "dpp8" : NULL;
}

void isa_compare(struct isa_encoder *e, const struct isa_inst *back)
{
    const struct isa_inst *in = e->in;
    const char *name = e->row->name;
    uint32_t value;
    const char *different = find_difference(in, back, &value);
    if (back->id != in->id)
        isa_encode_fail(e, "%s: these operands and modifiers are those of %s", name,
                        back->row->name);
    else if (different)
        isa_encode_fail(e, "%s cannot have %s %" PRIu32 " here", name, different, value);
    else if (back->n_operands != in->n_operands)
        isa_encode_fail(e, "%s has %u operands here, not %u", name, back->n_operands,
                        in->n_operands);
    for (unsigned i = 0; i < in->n_operands && !e->failed; i++) {
        const struct isa_operand *want = &in->op[i], *is = &back->op[i];
        bool reg = is->kind <= ISA_KIND_SPECIAL;
        if (want->role != is->role)
            isa_encode_fail(e, "%s: operand %u is out of order", name, i);
        else if (want->mods != is->mods)
            isa_encode_fail(e, "%s: operand %u cannot have these neg, abs or sext", name, i);
        else if (want->kind != is->kind)
            isa_encode_fail(e, "%s: operand %u is of a kind that it cannot be", name, i);
        else if (reg && want->n_regs && want->n_regs != is->n_regs)
            isa_encode_fail(e, "%s: operand %u has %u registers, not %u", name, i, is->n_regs,
                            want->n_regs);
        else if (is->kind <= ISA_KIND_INLINE && want->reg != is->reg)
            isa_encode_fail(e, "%s: operand %u cannot start at register %u", name, i, want->reg);
        else if (is->kind == ISA_KIND_LITERAL && want->value != is->value)
            isa_encode_fail(e, "%s: operand %u loses bits of its literal", name, i);
    }
}

bool isa_same(const struct isa_inst *a, const struct isa_inst *b)
{
    uint32_t value;
    if (a->id != b->id || a->n_words != b->n_words || a->wave64 != b->wave64 ||
        a->chip != b->chip || a->has_literal != b->has_literal || a->literal != b->literal ||
        a->n_operands != b->n_operands || find_difference(a, b, &value))
        return false;
    for (unsigned i = 0; i < a->n_operands; i++) {
        const struct isa_operand *x = &a->op[i], *y = &b->op[i];
        if (x->kind != y->kind || x->role != y->role || x->type != y->type ||
            x->access != y->access || x->reg != y->reg || x->n_regs != y->n_regs ||
            x->mods != y->mods || x->value != y->value)
            return false;
    }
    return true;
}

void isa_start(struct isa_inst *inst, unsigned id, unsigned form)
{
    const struct isa_row *row = isa_row(id);
    memset(inst, 0, sizeof *inst);
    inst->row = row;
    inst->id = (uint16_t)id;
    inst->form = (uint8_t)form;
    if (!row) return;
    if (row->encoding == ISA_VOP3P && !(row->mods & M_MIX)) inst->op_sel_hi = 7;
    if (form == ISA_FORM_SDWA && row->src[0]) {
        const uint8_t whole = 6; /* DWORD */
        inst->src0_sel = whole;
        if (row->encoding != ISA_VOPC) inst->dst_sel = whole;
        if (row->encoding != ISA_VOP1) inst->src1_sel = whole;
    }
    if (form == ISA_FORM_DPP16) {
        inst->row_mask = inst->bank_mask = 15;
        inst->dpp_ctrl = 0xe4; /* every lane its own */
    }
    if (form == ISA_FORM_DPP8) inst->dpp8 = 0xfac688;
    if (row->encoding == ISA_MTBUF) inst->format = 1;
    if (row->flags & ISA_BVH) {
        inst->dmask = 15;
        inst->unorm = inst->r128 = 1;
    }
}

struct isa_operand *isa_add(struct isa_inst *inst, enum isa_role role, unsigned code)
{
    if (inst->n_operands >= ISA_MAX_OPERANDS) return NULL;
    unsigned kind;
    if (code <= ISA_EXEC_HI)
        kind = ISA_KIND_REG;
    else if (code == ISA_OFF)
        kind = ISA_KIND_OFF;
    else if (code >= ISA_VGPR0 && code < ISA_VGPR0 + 256)
        kind = ISA_KIND_VGPR;
    else if (code == SRC_LITERAL)
        kind = ISA_KIND_LITERAL;
    else if (code <= 208 || (code >= 240 && code <= 248))
        kind = ISA_KIND_INLINE;
    else if ((code >= ISA_SHARED_BASE && code <= ISA_POPS_WAVE_ID) ||
             (code >= ISA_VCCZ && code <= ISA_LDS_DIRECT))
        kind = ISA_KIND_SPECIAL;
    else
        return NULL;
    struct isa_operand *op = &inst->op[inst->n_operands++];
    *op = (struct isa_operand){ .kind = (uint8_t)kind, .role = (uint8_t)role };
    if (kind != ISA_KIND_OFF) op->reg = (uint16_t)code;
    return op;
}

struct isa_operand *isa_add_value(struct isa_inst *inst, enum isa_role role, uint32_t value)
{
    if (value <= 64) return isa_add(inst, role, 128 + value);
    if (value >= UINT32_MAX - 15) return isa_add(inst, role, 192 - value);
    struct isa_operand *op = isa_add(inst, role, ISA_LITERAL);
    if (op) op->value = value;
    return op;
}
