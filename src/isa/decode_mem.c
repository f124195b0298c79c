/* decode_mem.c: operands of memory instructions, exports and interpolation. */
#include "isa/internal.h"

/* The register(s) of an access, typed. */
static bool push_data(struct isa_inst *in, enum isa_role role, unsigned access, unsigned v,
                      unsigned type)
{
    bool ok = isa_push_vgpr(in, role, access, v, isa_type_regs[type]);
    in->op[in->n_operands - 1].type = (uint8_t)type;
    return ok;
}

static void push_off(struct isa_inst *in, enum isa_role role)
{
    isa_push(in, role, 0)->kind = ISA_KIND_OFF;
}

bool isa_decode_smem(struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    uint32_t w = in->word[0], x = in->word[1];
    if (row->dst == ISA_SIMM_DEC) {
        in->imm = 0;
        in->attr = (uint8_t)bits(w, 12, 6); /* s_atc_probe: a number in the place of sdata */
    } else if (row->dst) {
        unsigned access = row->flags & ISA_ATOMIC  ? ISA_READ | (w >> 16 & 1 ? ISA_WRITE : 0)
                          : row->flags & ISA_STORE ? ISA_READ
                                                   : ISA_WRITE;
        if (!isa_push_sgpr(in, ISA_OP_DST, access, bits(w, 12, 6), isa_type_regs[row->dst]))
            return false;
        in->op[0].type = row->dst;
    }
    if (!row->src[0]) return true;
    if (!isa_push_sgpr(in, ISA_OP_SADDR, ISA_READ, 2 * bits(w, 5, 0), isa_type_regs[row->src[0]]))
        return false;
    in->op[in->n_operands - 1].type = row->src[0];
    if (row->dst != ISA_SIMM_DEC && row->dst) {
        in->glc = w >> 16 & 1;
        in->dlc = w >> 14 & 1;
    }
    in->imm = (int32_t)(x << 11) >> 11;
    return isa_push_sgpr(in, ISA_OP_SOFF, ISA_READ, x >> 25, 1);
}

bool isa_decode_ds(struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    uint32_t w = in->word[0], x = in->word[1];
    static const uint8_t shift[] = { 0, 8, 16 };
    static const uint8_t role[] = { ISA_OP_ADDR, ISA_OP_DATA, ISA_OP_DATA1 };
    in->gds = w >> 17 & 1;
    if (in->gds ? !!(row->flags & ISA_NO_GDS) : !!(row->flags & ISA_GDS_ONLY)) return false;
    if (row->flags & ISA_TWO_DATA) {
        in->imm = w & 255;
        in->offset1 = (uint8_t)bits(w, 15, 8);
    } else {
        in->imm = w & 0xffff;
    }
    if (row->dst) {
        unsigned access = row->flags & ISA_PARTIAL ? ISA_READ | ISA_WRITE : ISA_WRITE;
        if (!push_data(in, ISA_OP_DST, access, x >> 24, row->dst)) return false;
    } else if (x >> 24) {
        return false;
    }
    for (unsigned i = 0; i < 3; i++) {
        unsigned v = x >> shift[i] & 255;
        if (row->src[i]) {
            if (!push_data(in, role[i], ISA_READ, v, row->src[i])) return false;
        } else if (v) {
            return false;
        }
    }
    /* ds_nop has no field at all. */
    return row->id != ISA_ds_nop_DS || !(w & 0xffff);
}

/* MUBUF and MTBUF: they differ in the place of op, format and lds. */
bool isa_decode_buffer(struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    uint32_t w = in->word[0], x = in->word[1];
    bool typed = row->encoding == ISA_MTBUF, atomic = row->flags & ISA_ATOMIC;
    in->tfe = x >> 23 & 1;
    if (!row->dst) return !(w & 0x1f000) && !in->tfe; /* buffer_gl0_inv and gl1_inv */
    in->imm = w & 0xfff;
    in->offen = w >> 12 & 1;
    in->idxen = w >> 13 & 1;
    in->glc = w >> 14 & 1;
    in->dlc = w >> 15 & 1;
    in->slc = x >> 22 & 1;
    if (typed)
        in->format = (uint8_t)bits(w, 25, 19);
    else
        in->lds = w >> 16 & 1;
    if (in->lds && (!(row->flags & ISA_LDS_DMA) || in->tfe)) return false;
    if ((atomic || typed) && in->tfe) return false;
    if (atomic && in->dlc) return false;
    if (!in->lds) {
        unsigned access = atomic                     ? ISA_READ | (in->glc ? ISA_WRITE : 0)
                          : row->flags & ISA_STORE   ? ISA_READ
                          : row->flags & ISA_PARTIAL ? ISA_READ | ISA_WRITE
                                                     : ISA_WRITE;
        if (!push_data(in, row->flags & ISA_LOAD ? ISA_OP_DST : ISA_OP_DATA, access, bits(x, 15, 8),
                       row->dst))
            return false;
        struct isa_operand *data = &in->op[0];
        data->n_regs = (uint8_t)(data->n_regs + in->tfe);
        if (data->reg + data->n_regs > ISA_VGPR0 + 256) return false;
    }
    if (in->offen | in->idxen) {
        if (!isa_push_vgpr(in, ISA_OP_ADDR, ISA_READ, x & 255, 1u + (in->offen & in->idxen)))
            return false;
    } else {
        push_off(in, ISA_OP_ADDR);
    }
    return isa_push_sgpr(in, ISA_OP_RSRC, ISA_READ, 4 * bits(x, 20, 16), 4) &&
           isa_push_src(in, ISA_OP_SOFF, x >> 24, ISA_B32);
}

/* FLAT, GLOBAL and SCRATCH. */
bool isa_decode_flat(struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    uint32_t w = in->word[0], x = in->word[1];
    bool atomic = row->flags & ISA_ATOMIC, store = row->flags & ISA_STORE && !atomic;
    unsigned saddr = bits(x, 22, 16);
    in->dlc = w >> 12 & 1;
    in->lds = w >> 13 & 1;
    in->glc = w >> 16 & 1;
    in->slc = w >> 17 & 1;
    in->imm = row->encoding == ISA_FLAT ? (int32_t)(w & 0xfff) : (int32_t)(w << 20) >> 20;
    if (x & 0x800000) return false;
    if (in->lds && !(row->flags & ISA_LDS_DMA)) return false;
    if (row->encoding == ISA_FLAT && saddr != ISA_NULL) return false;
    if (!store && !in->lds && (!atomic || in->glc)) {
        unsigned access = row->flags & ISA_PARTIAL ? ISA_READ | ISA_WRITE : ISA_WRITE;
        if (!push_data(in, ISA_OP_DST, access, x >> 24, row->dst)) return false;
    }
    bool scratch = row->encoding == ISA_SCRATCH;
    bool with_saddr = saddr != ISA_NULL;
    if (!(row->flags & ISA_ADDTID)) {
        if (scratch && with_saddr)
            push_off(in, ISA_OP_ADDR);
        else if (!isa_push_vgpr(in, ISA_OP_ADDR, ISA_READ, x & 255, scratch || with_saddr ? 1 : 2))
            return false;
    }
    if ((store || atomic) && !push_data(in, ISA_OP_DATA, ISA_READ, bits(x, 15, 8), row->src[0]))
        return false;
    if (row->encoding == ISA_FLAT) return true;
    if (!with_saddr || (scratch && saddr == ISA_EXEC_HI && (in->lds || in->chip == ISA_GFX1030))) {
        push_off(in, ISA_OP_SADDR);
        return true;
    }
    return isa_push_sgpr(in, ISA_OP_SADDR, ISA_READ, saddr, scratch ? 1 : 2);
}

bool isa_decode_mimg(struct isa_inst *in, size_t n_words)
{
    (void)in;
    (void)n_words;
    return false;
}

bool isa_decode_exp(struct isa_inst *in)
{
    uint32_t w = in->word[0], x = in->word[1];
    in->exp_en = w & 15;
    in->exp_target = (uint8_t)bits(w, 9, 4);
    in->exp_compr = w >> 10 & 1;
    in->exp_done = w >> 11 & 1;
    in->exp_vm = w >> 12 & 1;
    for (unsigned i = 0; i < 4; i++) {
        unsigned source = in->exp_compr ? i / 2 : i;
        if (in->exp_en >> i & 1)
            isa_push_vgpr(in, ISA_OP_DATA, ISA_READ, x >> 8 * source & 255, 1);
        else
            push_off(in, ISA_OP_DATA);
    }
    return true;
}

bool isa_decode_vintrp(struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    uint32_t w = in->word[0];
    unsigned access = row->flags & ISA_ACC ? ISA_READ | ISA_WRITE : ISA_WRITE;
    in->attr = (uint8_t)bits(w, 15, 10);
    in->attr_chan = (uint8_t)bits(w, 9, 8);
    push_data(in, ISA_OP_DST, access, bits(w, 25, 18), row->dst);
    if (row->src[0]) return push_data(in, ISA_OP_SRC0, ISA_READ, w & 255, row->src[0]);
    in->imm = w & 255;
    return true;
}
