/* samples.c: random instructions of a chip, made from the table, for tests of the encoder. */
#include "samples.h"

#include <string.h>

#include "code/isa/internal.h"

uint64_t sample_number(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

static unsigned below(uint64_t *state, unsigned n)
{
    return (unsigned)(sample_number(state) % n);
}

static bool one_in(uint64_t *state, unsigned n)
{
    return !below(state, n);
}

/* A scalar register that a group of so many may start at. */
static unsigned scalar(uint64_t *state, unsigned n_regs)
{
    static const uint8_t special[] = { ISA_VCC_LO, ISA_VCC_HI,  ISA_M0,
                                       ISA_NULL,   ISA_EXEC_LO, ISA_EXEC_HI };
    unsigned align = n_regs >= 3 ? 4 : n_regs ? n_regs : 1;
    if (one_in(state, 6)) return special[below(state, sizeof special)];
    if (one_in(state, 8)) return ISA_TTMP0 + below(state, 16 / align) * align;
    return below(state, 106 / align) * align;
}

/* A literal of which text and bits are the same: no inline constant, within the operand's bits. */
static uint32_t literal(uint64_t *state, unsigned type)
{
    for (;;) {
        uint32_t v = (uint32_t)sample_number(state);
        bool half = type == ISA_F16 || type == ISA_B16 || type == ISA_K16;
        if (half) v &= 0x7fff;
        if (one_in(state, 2)) v &= half ? 0xff : 0xfffff;
        bool is_float = (v & 0xfffff) == 0 || v == 0x3e22f983;
        is_float |= v < 0x10000 && (v & 0x3ff) == 0; /* of 16 bits */
        if (v > 64 && v < UINT32_MAX - 15 && !is_float && v != 0x3118) return v;
    }
}

/* Any source; which kinds an operand takes is the encoder's to say. */
static void add_source(uint64_t *state, struct isa_inst *in, enum isa_role role, unsigned type,
                       bool vgprs)
{
    static const uint8_t special[] = { 235, 236, 237, 238, 239, 251, 252, 253, 254 };
    unsigned n_regs = isa_type_regs[type], kind = below(state, 16);
    struct isa_operand *op;
    bool vector = type == ISA_V32 || type == ISA_V128 || type == ISA_L32;
    bool no_constant = vector || type == ISA_S32 || type == ISA_S64 || type == ISA_MASK;
    if (vgprs && (kind < 7 || vector) && type != ISA_MASK)
        isa_add(in, role, ISA_VGPR0 + below(state, 257 - (n_regs ? n_regs : 1)));
    else if (kind < 11 || no_constant)
        isa_add(in, role, scalar(state, n_regs));
    else if (kind < 13)
        /* Floats as 16-bit integers have the text of a literal. */
        isa_add(in, role,
                one_in(state, 3) && type != ISA_B16 ? 240 + below(state, 9)
                                                    : 128 + below(state, 81));
    else if (kind < 15) {
        op = isa_add(in, role, ISA_LITERAL);
        op->value = literal(state, type);
        for (unsigned i = 0; i + 1 < in->n_operands; i++) /* one word for all */
            if (in->op[i].kind == ISA_KIND_LITERAL) op->value = in->op[i].value;
    } else
        isa_add(in, role, special[below(state, sizeof special)]);
}

static void add_vgpr(uint64_t *state, struct isa_inst *in, enum isa_role role)
{
    isa_add(in, role, ISA_VGPR0 + below(state, one_in(state, 4) ? 256 : 230));
}

static uint8_t flag(uint64_t *state)
{
    return one_in(state, 4);
}

static void build_scalar(uint64_t *state, struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    if (row->id == ISA_s_setreg_imm32_b32_SOPK)
        isa_add(in, ISA_OP_SRC0, ISA_LITERAL)->value = literal(state, ISA_B32);
    else if (row->dst)
        isa_add(in, ISA_OP_DST, scalar(state, isa_type_regs[row->dst]));
    if (row->encoding == ISA_SOPK || row->encoding == ISA_SOPP) {
        if (row->src[0]) in->imm = (int16_t)sample_number(state);
        if (one_in(state, 4)) in->imm &= 0xff;
        if (!row->src[0]) in->imm = 0;
        /* Spare bits have no text. */
        if (row->src[0] == ISA_WAITCNT) in->imm &= ~0x80;
        if (row->src[0] == ISA_SENDMSG) in->imm &= 0x37f;
        return;
    }
    if (row->src[0]) add_source(state, in, ISA_OP_SRC0, row->src[0], false);
    if (row->src[1]) add_source(state, in, ISA_OP_SRC1, row->src[1], false);
}

static void build_modifiers(uint64_t *state, struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    const unsigned mods = row->mods;
    bool wide = in->form == ISA_FORM_E64 || row->encoding == ISA_VOP3;
    bool sdwa = in->form == ISA_FORM_SDWA, dpp = in->form == ISA_FORM_DPP16;
    for (unsigned i = 0; i < in->n_operands; i++) {
        struct isa_operand *op = &in->op[i];
        unsigned source = (unsigned)op->role - ISA_OP_SRC0;
        if (op->role < ISA_OP_SRC0 || op->role > ISA_OP_SRC2 || !(wide || sdwa || dpp)) continue;
        bool integer = source && mods & M_INT1, fp = mods & (M_NEG0 << source) && !integer;
        if (fp && flag(state)) op->mods |= ISA_NEG;
        if (fp && mods & (M_ABS0 << source) && flag(state)) op->mods |= ISA_ABS;
        if (!fp && (sdwa || (integer && mods & (M_NEG0 << source))) && flag(state))
            op->mods |= ISA_SEXT;
    }
    if (wide || sdwa) {
        if (mods & M_CLAMP || (sdwa && row->encoding != ISA_VOPC)) in->clamp = flag(state);
        if (mods & M_OMOD && one_in(state, 3)) in->omod = (uint8_t)below(state, 4);
    }
    if (wide && mods & M_OPSEL && one_in(state, 2))
        in->op_sel = (uint8_t)(below(state, 16) & (row->src[2] ? 15 : 11));
    if (wide && mods & M_PERM) {
        in->op_sel = (uint8_t)below(state, 4);
        in->fi = in->op_sel & 1;
        in->bound_ctrl = in->op_sel >> 1;
    }
    if (sdwa && row->src[0]) {
        in->src0_sel = (uint8_t)below(state, 7);
        if (row->encoding != ISA_VOP1) in->src1_sel = (uint8_t)below(state, 7);
        if (row->encoding != ISA_VOPC) {
            in->dst_sel = (uint8_t)below(state, 7);
            in->dst_unused = (uint8_t)below(state, 3);
        }
    }
    if (dpp) {
        static const uint16_t controls[] = { 0x101, 0x111, 0x121, 0x150, 0x160, 0x140, 0x141 };
        unsigned i = below(state, 14);
        in->dpp_ctrl = (uint16_t)(i >= 7 ? below(state, 256) : controls[i]);
        if (i < 3) in->dpp_ctrl = (uint16_t)(in->dpp_ctrl + below(state, 15));
        if (i == 3 || i == 4) in->dpp_ctrl = (uint16_t)(in->dpp_ctrl + below(state, 16));
        in->row_mask = (uint8_t)below(state, 16);
        in->bank_mask = (uint8_t)below(state, 16);
        in->bound_ctrl = flag(state);
        in->fi = flag(state);
    }
    if (in->form == ISA_FORM_DPP8) {
        in->dpp8 = (uint32_t)sample_number(state) & 0xffffff;
        in->fi = flag(state);
    }
}

static void build_packed(uint64_t *state, struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    unsigned all = row->src[2] ? 7 : 3;
    bool mix = row->mods & M_MIX;
    in->clamp = flag(state);
    if (one_in(state, 2)) in->op_sel = (uint8_t)(below(state, 8) & all);
    if (one_in(state, 2)) in->op_sel_hi = (uint8_t)(below(state, 8) & all);
    if (!mix && !row->src[2]) in->op_sel_hi |= 4;
    if (one_in(state, 3)) in->neg_lo = (uint8_t)(below(state, 8) & all);
    if (one_in(state, 3)) in->neg_hi = (uint8_t)(below(state, 8) & all);
    for (unsigned i = 0; mix && i < in->n_operands; i++) {
        unsigned source = (unsigned)in->op[i].role - ISA_OP_SRC0;
        if (source > 2) continue;
        in->op[i].mods = (uint8_t)((in->neg_lo >> source & 1 ? ISA_NEG : 0) |
                                   (in->neg_hi >> source & 1 ? ISA_ABS : 0));
    }
}

static void build_vector(uint64_t *state, struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    bool wide = in->form == ISA_FORM_E64 || row->encoding == ISA_VOP3;
    bool packed = row->encoding == ISA_VOP3P, vintrp = row->encoding == ISA_VINTRP;
    bool dpp = in->form == ISA_FORM_DPP16 || in->form == ISA_FORM_DPP8;
    bool sdwa = in->form == ISA_FORM_SDWA;
    if (row->dst == ISA_MASK)
        isa_add(in, ISA_OP_DST, wide || (sdwa && one_in(state, 2)) ? scalar(state, 1) : ISA_VCC_LO);
    else if (row->flags & ISA_LANE && !(row->flags & ISA_ACC))
        isa_add(in, ISA_OP_DST, scalar(state, 1));
    else if (row->dst)
        add_vgpr(state, in, ISA_OP_DST);
    if (row->mods & M_SDST && !vintrp && !packed)
        isa_add(in, ISA_OP_SDST, wide ? scalar(state, 1) : ISA_VCC_LO);
    for (unsigned i = 0; i < 3; i++) {
        enum isa_role role = ISA_OP_SRC0 + i;
        unsigned type = row->src[i];
        if (!type) continue;
        if (type == ISA_MASK && !wide)
            isa_add(in, role, ISA_VCC_LO);
        else if (type == ISA_K16 || type == ISA_K32) {
            isa_add(in, role, ISA_LITERAL)->value = literal(state, type);
            for (unsigned k = 0; k < in->n_operands; k++)
                if (in->op[k].kind == ISA_KIND_LITERAL)
                    in->op[k].value = in->op[in->n_operands - 1].value;
        } else if (dpp || vintrp || (i && !wide && !packed && !sdwa))
            add_vgpr(state, in, role);
        else
            add_source(state, in, role, type, true);
    }
    if (row->flags & ISA_INTERP) {
        in->attr = (uint8_t)below(state, 64);
        in->attr_chan = (uint8_t)below(state, 4);
        if (!vintrp && row->opcode >= 0x203) in->op_sel_hi = flag(state);
        if (!row->src[0] && !row->src[1]) in->imm = (int32_t)below(state, 3);
    }
    if (packed)
        build_packed(state, in);
    else if (!vintrp)
        build_modifiers(state, in);
}

static void build_smem(uint64_t *state, struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    if (row->dst == ISA_SIMM_DEC)
        in->attr = (uint8_t)below(state, 128);
    else if (row->dst)
        isa_add(in, ISA_OP_DST, scalar(state, isa_type_regs[row->dst]));
    if (!row->src[0]) return;
    isa_add(in, ISA_OP_SADDR, scalar(state, isa_type_regs[row->src[0]]) & ~1u);
    if (row->dst && row->dst != ISA_SIMM_DEC) {
        in->glc = flag(state);
        in->dlc = flag(state);
    }
    in->imm = (int32_t)(sample_number(state) & 0x1fffff) - 0x100000;
    if (one_in(state, 2)) in->imm = (int32_t)below(state, 256);
    isa_add(in, ISA_OP_SOFF, one_in(state, 2) ? (unsigned)ISA_NULL : scalar(state, 1));
}

/* An offset of ds_swizzle as its text is read: of each bit of a lane's number 0, 1, kept, flipped.
 */
static unsigned swizzle(uint64_t *state)
{
    if (one_in(state, 3)) return 0x8000 | below(state, 256);
    unsigned imm = 0;
    for (unsigned bit = 0; bit < 5; bit++) {
        static const uint16_t masks[] = { 0, 0x20, 1, 1 | 0x400 };
        imm |= (unsigned)masks[below(state, 4)] << bit;
    }
    return imm;
}

static void build_ds(uint64_t *state, struct isa_inst *in)
{
    static const uint8_t role[] = { ISA_OP_ADDR, ISA_OP_DATA, ISA_OP_DATA1 };
    const struct isa_row *row = in->row;
    in->gds = row->flags & ISA_GDS_ONLY ? 1 : row->flags & ISA_NO_GDS ? 0 : flag(state);
    in->imm = (int32_t)below(state, row->flags & ISA_TWO_DATA ? 256 : 65536);
    if (row->id == ISA_ds_nop_DS) in->imm = 0;
    if (row->id == ISA_ds_swizzle_b32_DS) in->imm = (int32_t)swizzle(state);
    if (row->flags & ISA_TWO_DATA) in->offset1 = (uint8_t)below(state, 256);
    if (row->dst) add_vgpr(state, in, ISA_OP_DST);
    for (unsigned i = 0; i < 3; i++)
        if (row->src[i]) add_vgpr(state, in, role[i]);
}

static void build_buffer(uint64_t *state, struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    if (!row->dst) return;
    in->imm = (int32_t)below(state, 4096);
    in->offen = (uint8_t)below(state, 2);
    in->idxen = (uint8_t)below(state, 2);
    in->glc = flag(state);
    in->slc = flag(state);
    if (!(row->flags & ISA_ATOMIC)) in->dlc = flag(state);
    if (row->encoding == ISA_MTBUF)
        in->format = (uint8_t)below(state, 128);
    else if (!(row->flags & ISA_ATOMIC))
        in->tfe = flag(state);
    if (row->flags & ISA_LDS_DMA && !in->tfe) in->lds = flag(state);
    if (!in->lds) add_vgpr(state, in, row->flags & ISA_LOAD ? ISA_OP_DST : ISA_OP_DATA);
    if (in->offen | in->idxen)
        add_vgpr(state, in, ISA_OP_ADDR);
    else
        isa_add(in, ISA_OP_ADDR, ISA_OFF);
    isa_add(in, ISA_OP_RSRC, scalar(state, 4) & ~3u);
    add_source(state, in, ISA_OP_SOFF, ISA_B32, false);
}

static void build_flat(uint64_t *state, struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    bool atomic = row->flags & ISA_ATOMIC, store = row->flags & ISA_STORE && !atomic;
    bool flat = row->encoding == ISA_FLAT, scratch = row->encoding == ISA_SCRATCH;
    in->imm = (int32_t)below(state, flat ? 2048 : 4096);
    if (!flat) in->imm -= 2048;
    if (flat && one_in(state, 16)) in->imm += 2048;
    in->glc = flag(state);
    in->slc = flag(state);
    in->dlc = flag(state);
    if (row->flags & ISA_LDS_DMA) in->lds = flag(state);
    bool base = !flat && one_in(state, 2);
    bool address = scratch ? !base && !one_in(state, 4) : !(row->flags & ISA_ADDTID);
    if (!store && !in->lds && (!atomic || in->glc)) add_vgpr(state, in, ISA_OP_DST);
    if (address)
        add_vgpr(state, in, ISA_OP_ADDR);
    else if (!(row->flags & ISA_ADDTID))
        isa_add(in, ISA_OP_ADDR, ISA_OFF);
    if (store || atomic) add_vgpr(state, in, ISA_OP_DATA);
    if (!flat) isa_add(in, ISA_OP_SADDR, base ? scalar(state, scratch ? 1 : 2) : (unsigned)ISA_OFF);
}

static void build_image(uint64_t *state, struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    bool bvh = row->flags & ISA_BVH, nsa = one_in(state, 2);
    unsigned n = 1;
    if (!bvh) {
        in->dmask = (uint8_t)below(state, 16);
        if (row->flags & ISA_ATOMIC && !one_in(state, 4))
            in->dmask = isa_type_regs[row->dst] == 2 ? (one_in(state, 2) ? 15 : 3)
                                                     : (one_in(state, 2) ? 3 : 1);
        if (row->flags & ISA_GATHER && !one_in(state, 4))
            in->dmask = (uint8_t)(1 << below(state, 4));
        in->dim = (uint8_t)below(state, 8);
        in->dlc = flag(state);
        in->unorm = flag(state);
        in->glc = flag(state);
        in->r128 = flag(state);
        in->tfe = flag(state);
        in->lwe = flag(state);
        in->slc = flag(state);
        if (!(row->flags & (ISA_NO_D16 | ISA_ATOMIC))) in->d16 = flag(state);
    }
    in->a16 = flag(state);
    if (nsa) {
        n = 2 + below(state, 12);
        in->n_nsa = (uint8_t)((n + 2) / 4);
    }
    add_vgpr(state, in, row->flags & ISA_LOAD ? ISA_OP_DST : ISA_OP_DATA);
    while (n--) add_vgpr(state, in, ISA_OP_ADDR);
    isa_add(in, ISA_OP_RSRC, scalar(state, 4) & ~3u);
    if (row->flags & ISA_SAMPLER) isa_add(in, ISA_OP_SAMP, scalar(state, 4) & ~3u);
}

static void build_export(uint64_t *state, struct isa_inst *in)
{
    static const uint8_t targets[] = { 0, 1, 7, 8, 9, 12, 13, 16, 20, 32, 40, 63 };
    in->exp_en = (uint8_t)below(state, 16);
    in->exp_target = targets[below(state, sizeof targets)];
    in->exp_compr = flag(state);
    in->exp_done = flag(state);
    in->exp_vm = flag(state);
    if (in->exp_compr) in->exp_en = (uint8_t)((in->exp_en & 1) * 3 | (in->exp_en >> 1 & 1) * 12);
    for (unsigned i = 0; i < 4; i++) {
        unsigned code = ISA_VGPR0 + below(state, 256);
        if (in->exp_compr && i & 1 && in->op[i - 1].kind == ISA_KIND_VGPR) code = in->op[i - 1].reg;
        isa_add(in, ISA_OP_DATA, in->exp_en >> i & 1 ? code : (unsigned)ISA_OFF);
    }
}

void sample_build(uint64_t *state, unsigned id, unsigned form, struct isa_inst *in)
{
    isa_start(in, id, form);
    switch (in->row->encoding) {
    case ISA_SMEM: build_smem(state, in); break;
    case ISA_DS: build_ds(state, in); break;
    case ISA_MUBUF:
    case ISA_MTBUF: build_buffer(state, in); break;
    case ISA_MIMG: build_image(state, in); break;
    case ISA_FLAT:
    case ISA_GLOBAL:
    case ISA_SCRATCH: build_flat(state, in); break;
    case ISA_EXP: build_export(state, in); break;
    case ISA_VOP1:
    case ISA_VOP2:
    case ISA_VOPC:
    case ISA_VOP3:
    case ISA_VOP3P:
    case ISA_VINTRP: build_vector(state, in); break;
    default: build_scalar(state, in); break;
    }
}

bool sample_draw(uint64_t *state, unsigned chip, unsigned id, unsigned form, struct isa_inst *inst,
                 uint32_t words[ISA_MAX_WORDS], size_t *n_words)
{
    struct isa_inst asked;
    for (unsigned i = 0; i < 1000; i++) {
        sample_build(state, id, form, &asked);
        *n_words = isa_encode_any(chip, &asked, words, NULL, 0);
        if (*n_words) return isa_decode(chip, words, *n_words, inst) == *n_words;
    }
    return false;
}

const char *roundtrip_fault(unsigned chip, const uint32_t *words, size_t n_words)
{
    struct isa_inst first, second;
    uint32_t out[ISA_MAX_WORDS], again[ISA_MAX_WORDS];
    char why[160];
    size_t n = isa_decode(chip, words, n_words, &first);
    if (!n) return NULL;
    if (isa_encode_any(chip, &first, out, why, sizeof why) != n)
        return why[0] ? "refused, with a reason" : "another length";
    if (isa_decode(chip, out, n, &second) != n) return "what was encoded does not decode";
    if (!isa_same(&first, &second)) return "another instruction came back";
    if (isa_encode_any(chip, &second, again, why, sizeof why) != n ||
        memcmp(out, again, n * sizeof *out))
        return "a second time gives other words";
    bool refused = isa_refusal(&first);
    if ((isa_encode(chip, &first, again, why, sizeof why) == 0) != refused)
        return "isa_encode and isa_refusal disagree";
    if (refused != (why[0] != 0)) return "a refusal without a reason, or a reason without one";
    if (!refused && memcmp(out, again, n * sizeof *out)) return "isa_encode gives other words";
    return NULL;
}
