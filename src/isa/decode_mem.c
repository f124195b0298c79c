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

/* Address words a full-size image instruction takes. */
static unsigned mimg_address_words(const struct isa_inst *in)
{
    static const uint8_t coordinates[] = { 1, 2, 3, 3, 2, 3, 3, 4 };
    static const uint8_t gradients[] = { 2, 4, 6, 4, 2, 4, 4, 4 };
    const struct isa_row *row = in->row;
    unsigned parts = row->src[2];
    if (row->id != ISA_image_get_resinfo_MIMG) parts += coordinates[in->dim];
    unsigned words = row->src[0] + (in->a16 ? (parts + 1) / 2 : parts);
    if (!row->src[1]) return words;
    /* 16-bit gradients are packed for each of the two directions by itself. */
    if (row->flags & ISA_G16) return words + (gradients[in->dim] / 2 + 1) / 2 * 2;
    return words + gradients[in->dim];
}

/* The least and the most address words an instruction exists with. */
static void mimg_address_range(const struct isa_row *row, unsigned *least, unsigned *most)
{
    bool lod = row->src[2];
    *least = 1;
    *most = 4;
    if (!(row->flags & ISA_SAMPLER)) return;
    if (row->src[1]) {
        *least = 2;
        *most = (row->flags & ISA_G16 ? 7 : 9) + lod;
    } else {
        *most = 3 + lod;
    }
    *least += row->src[0];
    *most += row->src[0];
}

/* Registers of data for a wanted number; 0 when no such form exists. */
static unsigned mimg_data_regs(const struct isa_row *row, unsigned wanted)
{
    if (row->flags & ISA_ATOMIC) {
        if (row->dst == ISA_B64) return wanted == 2 || wanted == 4 ? wanted : 0;
        return wanted <= 2 ? wanted : wanted == 4 ? 5 : 0; /* five: as LLVM has it */
    }
    if (row->flags & ISA_GATHER) return wanted == 2 || wanted >= 4 ? wanted : 0;
    return wanted <= 5 ? wanted : 0;
}

static bool push_addresses(struct isa_inst *in, unsigned n)
{
    unsigned v = in->word[1] & 255;
    if (!in->n_nsa) return isa_push_vgpr(in, ISA_OP_ADDR, ISA_READ, v, n);
    for (unsigned i = 0; i < n; i++) {
        if (i) v = in->word[2 + (i - 1) / 4] >> 8 * ((i - 1) % 4) & 255;
        isa_push_vgpr(in, ISA_OP_ADDR, ISA_READ, v, 1);
    }
    return true;
}

/* Ray against box or triangle: everything but the registers is fixed. */
static bool decode_bvh(struct isa_inst *in)
{
    uint32_t w = in->word[0], x = in->word[1];
    bool wide = in->row->opcode == 0xe7;
    unsigned n = (in->a16 ? 8 : 11) + wide;
    /* dmask, unorm and r128 set; dim, dlc, glc, tfe, lwe and slc clear */
    if ((w & 0x0203bfb8) != 0x9f00) return false;
    if (in->d16 || bits(x, 25, 21)) return false;
    if (in->n_nsa && in->n_nsa != (in->a16 ? 2 : 3)) return false;
    return push_data(in, ISA_OP_DST, ISA_WRITE, bits(x, 15, 8), ISA_B128) &&
           push_addresses(in, n) &&
           isa_push_sgpr(in, ISA_OP_RSRC, ISA_READ, 4 * bits(x, 20, 16), 4);
}

bool isa_decode_mimg(struct isa_inst *in, size_t n_words)
{
    const struct isa_row *row = in->row;
    uint32_t w = in->word[0], x = in->word[1];
    bool atomic = row->flags & ISA_ATOMIC, sampler = row->flags & ISA_SAMPLER;
    in->n_nsa = (uint8_t)bits(w, 2, 1);
    in->dim = (uint8_t)bits(w, 5, 3);
    in->dlc = w >> 7 & 1;
    in->dmask = (uint8_t)bits(w, 11, 8);
    in->unorm = w >> 12 & 1;
    in->glc = w >> 13 & 1;
    in->r128 = w >> 15 & 1;
    in->tfe = w >> 16 & 1;
    in->lwe = w >> 17 & 1;
    in->slc = w >> 25 & 1;
    in->a16 = x >> 30 & 1;
    in->d16 = x >> 31;
    in->n_words = (uint8_t)(2 + in->n_nsa);
    if (in->n_words > n_words) return false;
    if (row->flags & ISA_BVH) return decode_bvh(in);
    if (in->d16 && row->flags & (ISA_ATOMIC | ISA_NO_D16)) return false;
    if (!sampler && bits(x, 25, 21)) return false;

    /* The form LLVM starts from: least data, and least address words, or with NSA the most that
     * the extra words hold. */
    unsigned data = isa_type_regs[row->dst], address, least, most;
    mimg_address_range(row, &least, &most);
    if (in->n_nsa) {
        unsigned group = 1 + 4 * in->n_nsa; /* registers that this many words can name */
        if (most + 3 < group || least > group) return false;
        if (most > group) most = group;
        if (least < 2) least = 2;
        address = most;
    } else {
        if (most == 3 || most == 7) most++; /* LLVM rounds these registers up */
        address = least;
    }

    unsigned wanted = row->flags & ISA_GATHER ? 4 : 0, want_address = mimg_address_words(in);
    if (!wanted)
        for (unsigned i = 0; i < 4; i++) wanted += in->dmask >> i & 1;
    if (!wanted) wanted = 1;
    if (in->d16) wanted = (wanted + 1) / 2;
    wanted = mimg_data_regs(row, wanted + in->tfe);
    unsigned vdata = bits(x, 15, 8), vaddr = x & 255;
    if (vdata + data > 256 || (!in->n_nsa && vaddr + address > 256)) return false;
    bool fits = wanted && want_address >= least && want_address <= most && vdata + wanted <= 256 &&
                (in->n_nsa || vaddr + want_address <= 256);
    if (fits) {
        data = wanted;
        address = want_address;
    }
    unsigned access = atomic                   ? ISA_READ | (in->glc ? ISA_WRITE : 0)
                      : row->flags & ISA_STORE ? ISA_READ
                                               : ISA_WRITE;
    return isa_push_vgpr(in, row->flags & ISA_LOAD ? ISA_OP_DST : ISA_OP_DATA, access, vdata,
                         data) &&
           push_addresses(in, address) &&
           isa_push_sgpr(in, ISA_OP_RSRC, ISA_READ, 4 * bits(x, 20, 16), 8) &&
           (!sampler || isa_push_sgpr(in, ISA_OP_SAMP, ISA_READ, 4 * bits(x, 25, 21), 4));
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
