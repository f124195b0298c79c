/* encode_mem.c: operands and modifiers of memory instructions and exports into words. */
#include "code/isa/encoder.h"

void isa_encode_smem(struct isa_encoder *e)
{
    const struct isa_inst *in = e->in;
    const struct isa_row *row = e->row;
    if (row->dst == ISA_SIMM_DEC)
        isa_put(e, AT_SMEM_SDATA, in->attr, "attr"); /* s_atc_probe: a number */
    else if (row->dst)
        isa_put_sgpr(e, AT_SMEM_SDATA, ISA_OP_DST, 1);
    if (!row->src[0]) return;
    isa_put_sgpr(e, AT_SMEM_SBASE, ISA_OP_SADDR, 2);
    if (row->dst && row->dst != ISA_SIMM_DEC) {
        isa_put(e, AT_SMEM_GLC, in->glc, "glc");
        isa_put(e, AT_SMEM_DLC, in->dlc, "dlc");
    }
    isa_put_signed(e, AT_SMEM_OFFSET, in->imm, "offset");
    isa_put_sgpr(e, AT_SMEM_SOFFSET, ISA_OP_SOFF, 1);
}

void isa_encode_ds(struct isa_encoder *e)
{
    static const uint8_t role[] = { ISA_OP_ADDR, ISA_OP_DATA, ISA_OP_DATA1 };
    const struct isa_inst *in = e->in;
    const struct isa_row *row = e->row;
    isa_put(e, AT_DS_GDS, in->gds, "gds");
    if (row->flags & ISA_TWO_DATA) {
        isa_put(e, AT_DS_OFFSET0, (uint32_t)in->imm, "offset0");
        isa_put(e, AT_DS_OFFSET1, in->offset1, "offset1");
    } else {
        isa_put(e, AT_DS_OFFSET, (uint32_t)in->imm, "offset");
    }
    if (row->dst) isa_put_vgpr(e, AT_DS_VDST, ISA_OP_DST);
    for (unsigned i = 0; i < 3; i++)
        if (row->src[i]) isa_put_vgpr(e, AT_NEXT(AT_DS_ADDR, 8 * i), role[i]);
}

void isa_encode_buffer(struct isa_encoder *e)
{
    const struct isa_inst *in = e->in;
    const struct isa_row *row = e->row;
    if (!row->dst) return; /* buffer_gl0_inv and gl1_inv */
    isa_put(e, AT_BUF_OFFSET, (uint32_t)in->imm, "offset");
    isa_put(e, AT_BUF_OFFEN, in->offen, "offen");
    isa_put(e, AT_BUF_IDXEN, in->idxen, "idxen");
    isa_put(e, AT_BUF_GLC, in->glc, "glc");
    isa_put(e, AT_BUF_DLC, in->dlc, "dlc");
    isa_put(e, AT_BUF_SLC, in->slc, "slc");
    isa_put(e, AT_BUF_TFE, in->tfe, "tfe");
    if (row->encoding == ISA_MTBUF)
        isa_put(e, AT_MTBUF_FORMAT, in->format, "format");
    else
        isa_put(e, AT_MUBUF_LDS, in->lds, "lds");
    if (!in->lds) isa_put_vgpr(e, AT_BUF_VDATA, row->flags & ISA_LOAD ? ISA_OP_DST : ISA_OP_DATA);
    if (in->offen | in->idxen) isa_put_vgpr(e, AT_BUF_VADDR, ISA_OP_ADDR);
    isa_put_sgpr(e, AT_BUF_SRSRC, ISA_OP_RSRC, 4);
    isa_put_src(e, AT_BUF_SOFFSET, ISA_OP_SOFF);
}

static bool is_off(const struct isa_operand *op)
{
    return op && op->kind == ISA_KIND_OFF;
}

void isa_encode_flat(struct isa_encoder *e)
{
    const struct isa_inst *in = e->in;
    const struct isa_row *row = e->row;
    bool atomic = row->flags & ISA_ATOMIC, store = row->flags & ISA_STORE && !atomic;
    bool no_base = row->encoding == ISA_FLAT || is_off(isa_operand_of(in, ISA_OP_SADDR, 0));
    bool no_address = row->flags & ISA_ADDTID || is_off(isa_operand_of(in, ISA_OP_ADDR, 0));
    if (row->encoding == ISA_FLAT)
        isa_put(e, AT_FLAT_OFFSET, (uint32_t)in->imm, "offset");
    else
        isa_put_signed(e, AT_FLAT_OFFSET, in->imm, "offset");
    isa_put(e, AT_FLAT_DLC, in->dlc, "dlc");
    isa_put(e, AT_FLAT_LDS, in->lds, "lds");
    isa_put(e, AT_FLAT_GLC, in->glc, "glc");
    isa_put(e, AT_FLAT_SLC, in->slc, "slc");
    if (!store && !in->lds && (!atomic || in->glc)) isa_put_vgpr(e, AT_FLAT_VDST, ISA_OP_DST);
    if (!no_address) isa_put_vgpr(e, AT_FLAT_ADDR, ISA_OP_ADDR);
    if (store || atomic) isa_put_vgpr(e, AT_FLAT_DATA, ISA_OP_DATA);
    /* Scratch with neither is told by a base that it cannot have. */
    if (!no_base)
        isa_put_sgpr(e, AT_FLAT_SADDR, ISA_OP_SADDR, 1);
    else
        isa_put(e, AT_FLAT_SADDR,
                row->encoding == ISA_SCRATCH && no_address ? ISA_EXEC_HI : ISA_NULL, "base");
}

/* Addresses of images: registers in a row, or with NSA each by its number in the words after. */
static void put_addresses(struct isa_encoder *e)
{
    isa_put_vgpr(e, AT_MIMG_VADDR, ISA_OP_ADDR);
    if (!e->in->n_nsa) return;
    const unsigned most = 4 * (ISA_MAX_WORDS - 2);
    const struct isa_operand *op;
    for (unsigned i = 0; (op = isa_operand_of(e->in, ISA_OP_ADDR, i + 1)); i++) {
        if (op->kind != ISA_KIND_VGPR || op->reg < ISA_VGPR0 || op->reg > ISA_VGPR0 + 255)
            isa_encode_fail(e, "%s: an address must be one of v0 to v255", e->row->name);
        else if (i >= most)
            isa_encode_fail(e, "%s: more than %u addresses", e->row->name, most + 1);
        else
            e->more[i / 4] |= (uint32_t)(op->reg - ISA_VGPR0) << 8 * (i % 4);
    }
}

void isa_encode_mimg(struct isa_encoder *e)
{
    const struct isa_inst *in = e->in;
    const struct isa_row *row = e->row;
    isa_put(e, AT_MIMG_NSA, in->n_nsa, "n_nsa");
    isa_put(e, AT_MIMG_DIM, in->dim, "dim");
    isa_put(e, AT_MIMG_DLC, in->dlc, "dlc");
    isa_put(e, AT_MIMG_DMASK, in->dmask, "dmask");
    isa_put(e, AT_MIMG_UNORM, in->unorm, "unorm");
    isa_put(e, AT_MIMG_GLC, in->glc, "glc");
    isa_put(e, AT_MIMG_R128, in->r128, "r128");
    isa_put(e, AT_MIMG_TFE, in->tfe, "tfe");
    isa_put(e, AT_MIMG_LWE, in->lwe, "lwe");
    isa_put(e, AT_MIMG_SLC, in->slc, "slc");
    isa_put(e, AT_MIMG_A16, in->a16, "a16");
    isa_put(e, AT_MIMG_D16, in->d16, "d16");
    isa_put_vgpr(e, AT_MIMG_VDATA, row->flags & ISA_LOAD ? ISA_OP_DST : ISA_OP_DATA);
    put_addresses(e);
    isa_put_sgpr(e, AT_MIMG_SRSRC, ISA_OP_RSRC, 4);
    if (row->flags & ISA_SAMPLER) isa_put_sgpr(e, AT_MIMG_SSAMP, ISA_OP_SAMP, 4);
    e->n_words = 2u + (in->n_nsa & 3u);
}

void isa_encode_exp(struct isa_encoder *e)
{
    const struct isa_inst *in = e->in;
    isa_put(e, AT_EXP_EN, in->exp_en, "exp_en");
    isa_put(e, AT_EXP_TARGET, in->exp_target, "exp_target");
    isa_put(e, AT_EXP_COMPR, in->exp_compr, "exp_compr");
    isa_put(e, AT_EXP_DONE, in->exp_done, "exp_done");
    isa_put(e, AT_EXP_VM, in->exp_vm, "exp_vm");
    for (unsigned i = 0; i < 4; i++) {
        const struct isa_operand *op = isa_operand_of(in, ISA_OP_DATA, i);
        unsigned source = in->exp_compr ? i / 2 : i; /* two halves in a register */
        if (op && op->kind == ISA_KIND_VGPR)
            isa_put(e, AT_NEXT(AT_EXP_SRC, 8 * source), op->reg - (uint32_t)ISA_VGPR0, "data");
    }
}
