/* decode_mem.c: operands of memory instructions, exports and interpolation. */
#include "code/isa/fields.h"
#include "code/isa/internal.h"

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
    const uint64_t w = isa_first_two(in);
    if (row->dst == ISA_SIMM_DEC) {
        in->imm = 0;
        in->attr = (uint8_t)get(w, AT_SMEM_SDATA); /* s_atc_probe: a number in the place of sdata */
    } else if (row->dst) {
        unsigned access = row->flags & ISA_ATOMIC ? ISA_READ | (get(w, AT_SMEM_GLC) ? ISA_WRITE : 0)
                          : row->flags & ISA_STORE ? ISA_READ
                                                   : ISA_WRITE;
        if (!isa_push_sgpr(in, ISA_OP_DST, access, get(w, AT_SMEM_SDATA), isa_type_regs[row->dst]))
            return false;
        in->op[0].type = row->dst;
    }
    if (!row->src[0]) return true;
    if (!isa_push_sgpr(in, ISA_OP_SADDR, ISA_READ, 2 * get(w, AT_SMEM_SBASE),
                       isa_type_regs[row->src[0]]))
        return false;
    in->op[in->n_operands - 1].type = row->src[0];
    if (row->dst != ISA_SIMM_DEC && row->dst) {
        in->glc = (uint8_t)get(w, AT_SMEM_GLC);
        in->dlc = (uint8_t)get(w, AT_SMEM_DLC);
    }
    in->imm = (int32_t)(get(w, AT_SMEM_OFFSET) << 11) >> 11;
    return isa_push_sgpr(in, ISA_OP_SOFF, ISA_READ, get(w, AT_SMEM_SOFFSET), 1);
}

bool isa_decode_ds(struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    const uint64_t w = isa_first_two(in);
    static const uint8_t role[] = { ISA_OP_ADDR, ISA_OP_DATA, ISA_OP_DATA1 };
    in->gds = (uint8_t)get(w, AT_DS_GDS);
    if (in->gds ? !!(row->flags & ISA_NO_GDS) : !!(row->flags & ISA_GDS_ONLY)) return false;
    if (row->flags & ISA_TWO_DATA) {
        in->imm = (int32_t)get(w, AT_DS_OFFSET0);
        in->offset1 = (uint8_t)get(w, AT_DS_OFFSET1);
    } else {
        in->imm = (int32_t)get(w, AT_DS_OFFSET);
    }
    if (row->dst) {
        unsigned access = row->flags & ISA_PARTIAL ? ISA_READ | ISA_WRITE : ISA_WRITE;
        if (!push_data(in, ISA_OP_DST, access, get(w, AT_DS_VDST), row->dst)) return false;
    } else if (get(w, AT_DS_VDST)) {
        return false;
    }
    for (unsigned i = 0; i < 3; i++) {
        unsigned v = get(w, AT_NEXT(AT_DS_ADDR, 8 * i));
        if (row->src[i]) {
            if (!push_data(in, role[i], ISA_READ, v, row->src[i])) return false;
        } else if (v) {
            return false;
        }
    }
    /* ds_nop has no field at all. */
    return row->id != ISA_ds_nop_DS || !get(w, AT_DS_OFFSET);
}

/* MUBUF and MTBUF: they differ in the place of op, format and lds. */
bool isa_decode_buffer(struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    const uint64_t w = isa_first_two(in);
    bool typed = row->encoding == ISA_MTBUF, atomic = row->flags & ISA_ATOMIC;
    in->tfe = (uint8_t)get(w, AT_BUF_TFE);
    if (!row->dst) return !(w & 0x1f000) && !in->tfe; /* buffer_gl0_inv and gl1_inv */
    in->imm = (int32_t)get(w, AT_BUF_OFFSET);
    in->offen = (uint8_t)get(w, AT_BUF_OFFEN);
    in->idxen = (uint8_t)get(w, AT_BUF_IDXEN);
    in->glc = (uint8_t)get(w, AT_BUF_GLC);
    in->dlc = (uint8_t)get(w, AT_BUF_DLC);
    in->slc = (uint8_t)get(w, AT_BUF_SLC);
    if (typed)
        in->format = (uint8_t)get(w, AT_MTBUF_FORMAT);
    else
        in->lds = (uint8_t)get(w, AT_MUBUF_LDS);
    if (in->lds && (!(row->flags & ISA_LDS_DMA) || in->tfe)) return false;
    if ((atomic || typed) && in->tfe) return false;
    if (atomic && in->dlc) return false;
    if (!in->lds) {
        unsigned access = atomic                     ? ISA_READ | (in->glc ? ISA_WRITE : 0)
                          : row->flags & ISA_STORE   ? ISA_READ
                          : row->flags & ISA_PARTIAL ? ISA_READ | ISA_WRITE
                                                     : ISA_WRITE;
        if (!push_data(in, row->flags & ISA_LOAD ? ISA_OP_DST : ISA_OP_DATA, access,
                       get(w, AT_BUF_VDATA), row->dst))
            return false;
        struct isa_operand *data = &in->op[0];
        data->n_regs = (uint8_t)(data->n_regs + in->tfe);
        if (data->reg + data->n_regs > ISA_VGPR0 + 256) return false;
    }
    if (in->offen | in->idxen) {
        if (!isa_push_vgpr(in, ISA_OP_ADDR, ISA_READ, get(w, AT_BUF_VADDR),
                           1u + (in->offen & in->idxen)))
            return false;
    } else {
        push_off(in, ISA_OP_ADDR);
    }
    return isa_push_sgpr(in, ISA_OP_RSRC, ISA_READ, 4 * get(w, AT_BUF_SRSRC), 4) &&
           isa_push_src(in, ISA_OP_SOFF, get(w, AT_BUF_SOFFSET), ISA_B32);
}

/* FLAT, GLOBAL and SCRATCH. */
bool isa_decode_flat(struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    const uint64_t w = isa_first_two(in);
    bool atomic = row->flags & ISA_ATOMIC, store = row->flags & ISA_STORE && !atomic;
    unsigned saddr = get(w, AT_FLAT_SADDR), offset = get(w, AT_FLAT_OFFSET);
    in->dlc = (uint8_t)get(w, AT_FLAT_DLC);
    in->lds = (uint8_t)get(w, AT_FLAT_LDS);
    in->glc = (uint8_t)get(w, AT_FLAT_GLC);
    in->slc = (uint8_t)get(w, AT_FLAT_SLC);
    in->imm = row->encoding == ISA_FLAT ? (int32_t)offset : (int32_t)(offset << 20) >> 20;
    if (in->word[1] & 0x800000) return false;
    if (in->lds && !(row->flags & ISA_LDS_DMA)) return false;
    if (row->encoding == ISA_FLAT && saddr != ISA_NULL) return false;
    if (!store && !in->lds && (!atomic || in->glc)) {
        unsigned access = row->flags & ISA_PARTIAL ? ISA_READ | ISA_WRITE : ISA_WRITE;
        if (!push_data(in, ISA_OP_DST, access, get(w, AT_FLAT_VDST), row->dst)) return false;
    }
    bool scratch = row->encoding == ISA_SCRATCH;
    bool with_saddr = saddr != ISA_NULL;
    if (!(row->flags & ISA_ADDTID)) {
        if (scratch && with_saddr)
            push_off(in, ISA_OP_ADDR);
        else if (!isa_push_vgpr(in, ISA_OP_ADDR, ISA_READ, get(w, AT_FLAT_ADDR),
                                scratch || with_saddr ? 1 : 2))
            return false;
    }
    if ((store || atomic) &&
        !push_data(in, ISA_OP_DATA, ISA_READ, get(w, AT_FLAT_DATA), row->src[0]))
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

void isa_image_wants(const struct isa_inst *in, unsigned *data, unsigned *address)
{
    unsigned wanted = in->row->flags & ISA_GATHER ? 4 : 0;
    if (!wanted)
        for (unsigned i = 0; i < 4; i++) wanted += in->dmask >> i & 1;
    if (!wanted) wanted = 1;
    if (in->d16) wanted = (wanted + 1) / 2;
    *data = wanted + in->tfe;
    *address = mimg_address_words(in);
}

static bool push_addresses(struct isa_inst *in, unsigned n)
{
    unsigned v = get(isa_first_two(in), AT_MIMG_VADDR);
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
    const uint64_t w = isa_first_two(in);
    bool wide = in->row->opcode == 0xe7;
    unsigned n = (in->a16 ? 8 : 11) + wide;
    /* dmask, unorm and r128 set; dim, dlc, glc, tfe, lwe and slc clear */
    if ((in->word[0] & 0x0203bfb8) != 0x9f00) return false;
    if (in->d16 || get(w, AT_MIMG_SSAMP)) return false;
    if (in->n_nsa && in->n_nsa != (in->a16 ? 2 : 3)) return false;
    return push_data(in, ISA_OP_DST, ISA_WRITE, get(w, AT_MIMG_VDATA), ISA_B128) &&
           push_addresses(in, n) &&
           isa_push_sgpr(in, ISA_OP_RSRC, ISA_READ, 4 * get(w, AT_MIMG_SRSRC), 4);
}

bool isa_decode_mimg(struct isa_inst *in, size_t n_words)
{
    const struct isa_row *row = in->row;
    const uint64_t w = isa_first_two(in);
    bool atomic = row->flags & ISA_ATOMIC, sampler = row->flags & ISA_SAMPLER;
    in->n_nsa = (uint8_t)get(w, AT_MIMG_NSA);
    in->dim = (uint8_t)get(w, AT_MIMG_DIM);
    in->dlc = (uint8_t)get(w, AT_MIMG_DLC);
    in->dmask = (uint8_t)get(w, AT_MIMG_DMASK);
    in->unorm = (uint8_t)get(w, AT_MIMG_UNORM);
    in->glc = (uint8_t)get(w, AT_MIMG_GLC);
    in->r128 = (uint8_t)get(w, AT_MIMG_R128);
    in->tfe = (uint8_t)get(w, AT_MIMG_TFE);
    in->lwe = (uint8_t)get(w, AT_MIMG_LWE);
    in->slc = (uint8_t)get(w, AT_MIMG_SLC);
    in->a16 = (uint8_t)get(w, AT_MIMG_A16);
    in->d16 = (uint8_t)get(w, AT_MIMG_D16);
    in->n_words = (uint8_t)(2 + in->n_nsa);
    if (in->n_words > n_words) return false;
    if (row->flags & ISA_BVH) return decode_bvh(in);
    if (in->d16 && row->flags & (ISA_ATOMIC | ISA_NO_D16)) return false;
    if (!sampler && get(w, AT_MIMG_SSAMP)) return false;

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

    unsigned wanted, want_address;
    isa_image_wants(in, &wanted, &want_address);
    wanted = mimg_data_regs(row, wanted);
    unsigned vdata = get(w, AT_MIMG_VDATA), vaddr = get(w, AT_MIMG_VADDR);
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
           isa_push_sgpr(in, ISA_OP_RSRC, ISA_READ, 4 * get(w, AT_MIMG_SRSRC), 8) &&
           (!sampler || isa_push_sgpr(in, ISA_OP_SAMP, ISA_READ, 4 * get(w, AT_MIMG_SSAMP), 4));
}

bool isa_decode_exp(struct isa_inst *in)
{
    const uint64_t w = isa_first_two(in);
    in->exp_en = (uint8_t)get(w, AT_EXP_EN);
    in->exp_target = (uint8_t)get(w, AT_EXP_TARGET);
    in->exp_compr = (uint8_t)get(w, AT_EXP_COMPR);
    in->exp_done = (uint8_t)get(w, AT_EXP_DONE);
    in->exp_vm = (uint8_t)get(w, AT_EXP_VM);
    for (unsigned i = 0; i < 4; i++) {
        unsigned source = in->exp_compr ? i / 2 : i;
        if (in->exp_en >> i & 1)
            isa_push_vgpr(in, ISA_OP_DATA, ISA_READ, get(w, AT_NEXT(AT_EXP_SRC, 8 * source)), 1);
        else
            push_off(in, ISA_OP_DATA);
    }
    return true;
}

bool isa_decode_vintrp(struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    const uint64_t w = isa_first_two(in);
    unsigned access = row->flags & ISA_ACC ? ISA_READ | ISA_WRITE : ISA_WRITE;
    in->attr = (uint8_t)get(w, AT_VINTRP_ATTR);
    in->attr_chan = (uint8_t)get(w, AT_VINTRP_CHANNEL);
    push_data(in, ISA_OP_DST, access, get(w, AT_VINTRP_VDST), row->dst);
    if (row->src[0])
        return push_data(in, ISA_OP_SRC0, ISA_READ, get(w, AT_VINTRP_SRC), row->src[0]);
    in->imm = (int32_t)get(w, AT_VINTRP_SRC);
    return true;
}
