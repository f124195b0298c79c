/* encode_vop.c: operands and modifiers of vector ALU into words. */
#include "code/isa/encoder.h"

static unsigned source_mods(const struct isa_encoder *e, unsigned source)
{
    const struct isa_operand *op = isa_operand_of(e->in, ISA_OP_SRC0 + source, 0);
    return op ? op->mods : 0;
}

/* The neg bit of a source: of integers beside floats it means sext. */
static unsigned neg_bit(const struct isa_encoder *e, unsigned source)
{
    bool integer = source && e->row->mods & M_INT1;
    return source_mods(e, source) & (integer ? ISA_SEXT : ISA_NEG) ? 1 : 0;
}

static unsigned abs_bit(const struct isa_encoder *e, unsigned source)
{
    return source_mods(e, source) & ISA_ABS ? 1 : 0;
}

/* The result: a VGPR, or anything scalar for v_readlane and v_readfirstlane. */
static void put_vdst(struct isa_encoder *e, unsigned field)
{
    if (e->row->flags & ISA_LANE && !(e->row->flags & ISA_ACC))
        isa_put_src(e, field, ISA_OP_DST);
    else
        isa_put_vgpr(e, field, ISA_OP_DST);
}

static void put_sdwa_source(struct isa_encoder *e, unsigned i)
{
    unsigned code = isa_source_code(e, ISA_OP_SRC0 + i), shift = 8 * i;
    bool scalar = code < ISA_VGPR0;
    if (code == SRC_LITERAL) isa_encode_fail(e, "%s: SDWA has no room for a literal", e->row->name);
    isa_put(e, i ? AT_VSRC1 : AT_SDWA_SRC0, code & 255, "source");
    isa_put(e, AT_NEXT(AT_SDWA_SCALAR, shift), scalar, "scalar");
    unsigned mods = source_mods(e, i);
    isa_put(e, AT_NEXT(AT_SDWA_SEXT, shift), mods & ISA_SEXT ? 1 : 0, "sext");
    isa_put(e, AT_NEXT(AT_SDWA_NEG, shift), mods & ISA_NEG ? 1 : 0, "neg");
    isa_put(e, AT_NEXT(AT_SDWA_ABS, shift), mods & ISA_ABS ? 1 : 0, "abs");
    isa_put(e, AT_NEXT(AT_SDWA_SEL, shift), i ? e->in->src1_sel : e->in->src0_sel, "src_sel");
}

static void put_sdwa(struct isa_encoder *e)
{
    const struct isa_inst *in = e->in;
    const struct isa_row *row = e->row;
    isa_put(e, AT_VSRC0, SRC_SDWA, "form");
    if (!row->src[0]) return; /* v_nop */
    if (row->encoding == ISA_VOPC) {
        const struct isa_operand *dst = isa_operand_of(in, ISA_OP_DST, 0);
        if (dst && !(dst->kind == ISA_KIND_REG && dst->reg == ISA_VCC_LO)) {
            isa_put_sgpr(e, AT_SDWA_SDST, ISA_OP_DST, 1);
            isa_put(e, AT_SDWA_HAS_SDST, 1, "sdst");
        }
    } else {
        put_vdst(e, AT_VDST);
        isa_put(e, AT_SDWA_DST_SEL, in->dst_sel, "dst_sel");
        isa_put(e, AT_SDWA_DST_UNUSED, in->dst_unused, "dst_unused");
        isa_put(e, AT_SDWA_CLAMP, in->clamp, "clamp");
        isa_put(e, AT_SDWA_OMOD, in->omod, "omod");
    }
    put_sdwa_source(e, 0);
    if (row->encoding != ISA_VOP1) put_sdwa_source(e, 1);
}

static void put_dpp(struct isa_encoder *e)
{
    const struct isa_inst *in = e->in;
    const struct isa_row *row = e->row;
    if (row->dst) put_vdst(e, AT_VDST);
    if (row->src[0]) isa_put_vgpr(e, AT_DPP_SRC0, ISA_OP_SRC0);
    if (row->src[1]) isa_put_vgpr(e, AT_VSRC1, ISA_OP_SRC1);
    if (in->form == ISA_FORM_DPP8) {
        isa_put(e, AT_VSRC0, in->fi ? SRC_DPP8_FI : SRC_DPP8, "form");
        isa_put(e, AT_DPP8_LANES, in->dpp8, "dpp8");
        return;
    }
    isa_put(e, AT_VSRC0, SRC_DPP16, "form");
    isa_put(e, AT_DPP_CTRL, in->dpp_ctrl, "dpp_ctrl");
    isa_put(e, AT_DPP_FI, in->fi, "fi");
    isa_put(e, AT_DPP_BOUND, in->bound_ctrl, "bound_ctrl");
    isa_put(e, AT_DPP_BANKS, in->bank_mask, "bank_mask");
    isa_put(e, AT_DPP_ROWS, in->row_mask, "row_mask");
    for (unsigned i = 0; i < 2; i++) {
        isa_put(e, AT_NEXT(AT_DPP_NEG, 2 * i), neg_bit(e, i), "neg");
        isa_put(e, AT_NEXT(AT_DPP_ABS, 2 * i), abs_bit(e, i), "abs");
    }
}

void isa_encode_vop(struct isa_encoder *e)
{
    const struct isa_row *row = e->row;
    if (e->in->form != ISA_FORM_BASE) {
        e->n_words = 2;
        if (e->in->form == ISA_FORM_SDWA)
            put_sdwa(e);
        else
            put_dpp(e);
        return;
    }
    if (row->encoding != ISA_VOPC && row->dst) put_vdst(e, AT_VDST);
    if (row->src[0]) isa_put_src(e, AT_VSRC0, ISA_OP_SRC0);
    for (unsigned i = 1; i < 3; i++) {
        if (row->src[i] == ISA_K16 || row->src[i] == ISA_K32)
            isa_put_literal(e, ISA_OP_SRC0 + i);
        else if (row->src[i] && row->src[i] != ISA_MASK) /* that one is VCC */
            isa_put_vgpr(e, AT_VSRC1, ISA_OP_SRC0 + i);
    }
}

/* Interpolation: the attribute in the place of source 0, v_interp_mov's number in that of 1. */
static void put_attribute(struct isa_encoder *e)
{
    isa_put(e, AT_INTERP_ATTR, e->in->attr, "attr");
    isa_put(e, AT_INTERP_CHANNEL, e->in->attr_chan, "attr_chan");
    isa_put(e, AT_INTERP_HIGH, e->in->op_sel_hi, "high");
    if (!e->row->src[1]) isa_put(e, AT_NEXT(AT_VOP3_SRC, 9), (uint32_t)e->in->imm, "parameter");
}

static void put_sources(struct isa_encoder *e)
{
    for (unsigned i = 0; i < 3; i++)
        if (e->row->src[i]) isa_put_src(e, AT_NEXT(AT_VOP3_SRC, 9 * i), ISA_OP_SRC0 + i);
}

void isa_encode_vop3(struct isa_encoder *e)
{
    const struct isa_inst *in = e->in;
    const struct isa_row *row = e->row;
    if (row->dst == ISA_MASK)
        isa_put_src(e, AT_VOP3_VDST, ISA_OP_DST);
    else if (row->dst)
        put_vdst(e, AT_VOP3_VDST);
    else if (row->flags & ISA_CMPX)
        isa_put(e, AT_VOP3_VDST, ISA_EXEC_LO, "result");
    if (row->mods & M_SDST) isa_put_sgpr(e, AT_VOP3_SDST, ISA_OP_SDST, 1);
    put_sources(e);
    if (row->flags & ISA_INTERP) put_attribute(e);
    isa_put(e, AT_VOP3_CLAMP, in->clamp, "clamp");
    isa_put(e, AT_VOP3_OMOD, in->omod, "omod");
    if (row->mods & (M_OPSEL | M_PERM)) isa_put(e, AT_VOP3_OP_SEL, in->op_sel, "op_sel");
    uint32_t neg = 0, abs = 0;
    for (unsigned i = 0; i < 3; i++) {
        neg |= neg_bit(e, i) << i;
        abs |= abs_bit(e, i) << i;
    }
    isa_put(e, AT_VOP3_NEG, neg, "neg");
    if (!(row->mods & M_SDST)) isa_put(e, AT_VOP3_ABS, abs, "abs");
}

void isa_encode_vop3p(struct isa_encoder *e)
{
    const struct isa_inst *in = e->in;
    put_vdst(e, AT_VOP3_VDST);
    put_sources(e);
    isa_put(e, AT_VOP3_CLAMP, in->clamp, "clamp");
    isa_put(e, AT_VOP3P_OP_SEL, in->op_sel, "op_sel");
    isa_put(e, AT_VOP3P_OP_SEL_HI, in->op_sel_hi & 3u, "op_sel_hi");
    isa_put(e, AT_VOP3P_OP_SEL_HI2, in->op_sel_hi >> 2, "op_sel_hi");
    isa_put(e, AT_VOP3_ABS, in->neg_hi, "neg_hi");
    isa_put(e, AT_VOP3_NEG, in->neg_lo, "neg_lo");
}

void isa_encode_vintrp(struct isa_encoder *e)
{
    isa_put_vgpr(e, AT_VINTRP_VDST, ISA_OP_DST);
    isa_put(e, AT_VINTRP_ATTR, e->in->attr, "attr");
    isa_put(e, AT_VINTRP_CHANNEL, e->in->attr_chan, "attr_chan");
    if (e->row->src[0])
        isa_put_vgpr(e, AT_VINTRP_SRC, ISA_OP_SRC0);
    else
        isa_put(e, AT_VINTRP_SRC, (uint32_t)e->in->imm, "parameter");
}
