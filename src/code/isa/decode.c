/* decode.c: words to instructions; scalar and vector ALU here, memory in decode_mem.c. */
#include <string.h>

#include "code/isa/fields.h"
#include "code/isa/internal.h"

struct isa_operand *isa_push(struct isa_inst *in, enum isa_role role, unsigned access)
{
    struct isa_operand *op = &in->op[in->n_operands++];
    *op = (struct isa_operand){ .role = (uint8_t)role, .access = (uint8_t)access };
    return op;
}

bool isa_push_vgpr(struct isa_inst *in, enum isa_role role, unsigned access, unsigned v,
                   unsigned n_regs)
{
    struct isa_operand *op = isa_push(in, role, access);
    op->kind = ISA_KIND_VGPR;
    op->reg = (uint16_t)(ISA_VGPR0 + v);
    op->n_regs = (uint8_t)n_regs;
    return v + n_regs <= 256;
}

/* A scalar register or a group of them. LLVM rounds an unaligned number down; so do we. */
bool isa_push_sgpr(struct isa_inst *in, enum isa_role role, unsigned access, unsigned code,
                   unsigned n_regs)
{
    struct isa_operand *op = isa_push(in, role, access);
    unsigned align = n_regs >= 3 ? 4 : n_regs;
    op->kind = ISA_KIND_REG;
    op->n_regs = (uint8_t)n_regs;
    if (code < ISA_VCC_LO) {
        op->reg = (uint16_t)(code & ~(align - 1));
        return op->reg + n_regs <= ISA_VCC_LO;
    }
    op->reg = (uint16_t)code;
    if (code >= ISA_TTMP0 && code < ISA_M0) {
        op->reg = (uint16_t)(ISA_TTMP0 + ((code - ISA_TTMP0) & ~(align - 1)));
        return op->reg + n_regs <= ISA_M0;
    }
    if (code > ISA_EXEC_HI) return false;
    if (n_regs == 1) return true;
    op->n_regs = 2; /* wider ones are decoded, too, but marked when printed */
    return code == ISA_VCC_LO || code == ISA_EXEC_LO || code == ISA_NULL;
}

/* Bits of an inline constant of 240 and above, by the width of the operand. */
static uint32_t inline_float(unsigned code, unsigned type)
{
    static const uint16_t f16[] = { 0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                    0xc000, 0x4400, 0xc400, 0x3118 };
    static const uint32_t f32[] = { 0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                    0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983 };
    static const uint32_t f64[] = { 0x3fe00000, 0xbfe00000, 0x3ff00000, 0xbff00000, 0x40000000,
                                    0xc0000000, 0x40100000, 0xc0100000, 0x3fc45f30 };
    if (isa_type_regs[type] == 2) return f64[code - 240];
    if (type == ISA_B16 || type == ISA_F16 || type == ISA_PF16) return f16[code - 240];
    return f32[code - 240];
}

uint64_t isa_constant(const struct isa_operand *op)
{
    if (isa_type_regs[op->type] != 2) return op->value;
    if (op->kind == ISA_KIND_LITERAL)
        return op->type == ISA_F64 ? (uint64_t)op->value << 32 : op->value;
    if (op->reg <= 208) return (uint64_t)(int64_t)(int32_t)op->value;
    /* 1/(2 pi) is the one float constant whose low half is not 0. */
    return (uint64_t)op->value << 32 | (op->reg == 248 ? 0x6dc9c882u : 0);
}

/* A source of 8 or 9 bits: register, constant, literal. */
bool isa_push_src(struct isa_inst *in, enum isa_role role, unsigned code, unsigned type)
{
    unsigned n_regs = type == ISA_MASK ? 1u + in->wave64 : isa_type_regs[type];
    if (code >= ISA_VGPR0) {
        bool ok = isa_push_vgpr(in, role, ISA_READ, code - ISA_VGPR0, n_regs);
        in->op[in->n_operands - 1].type = (uint8_t)type;
        return ok;
    }
    if (code < 128) {
        bool ok = isa_push_sgpr(in, role, ISA_READ, code, n_regs);
        in->op[in->n_operands - 1].type = (uint8_t)type;
        return ok;
    }
    struct isa_operand *op = isa_push(in, role, ISA_READ);
    op->type = (uint8_t)type;
    op->reg = (uint16_t)code;
    if (code == SRC_LITERAL) {
        op->kind = ISA_KIND_LITERAL;
        in->has_literal = true;
        return true;
    }
    if (code <= 208) {
        op->kind = ISA_KIND_INLINE;
        op->value = code <= 192 ? code - 128 : 192 - code;
        return true;
    }
    if (code >= 240 && code <= 248) {
        op->kind = ISA_KIND_INLINE;
        op->value = inline_float(code, type);
        return true;
    }
    op->kind = ISA_KIND_SPECIAL;
    op->n_regs = (uint8_t)n_regs;
    if (code == ISA_LDS_DIRECT) return n_regs == 1;
    return (code >= ISA_SHARED_BASE && code <= ISA_POPS_WAVE_ID) ||
           (code >= ISA_VCCZ && code <= ISA_SCC);
}

/* A scalar result in a field of 8 bits. LLVM decodes constants there, too, and marks them. */
static bool push_sdst8(struct isa_inst *in, unsigned code, unsigned type)
{
    bool ok = isa_push_src(in, ISA_OP_DST, code, type);
    in->op[in->n_operands - 1].access = ISA_WRITE;
    return ok;
}

/* The result register of VALU: VGPR, or SGPR for v_readlane and v_readfirstlane. */
static bool push_vdst(struct isa_inst *in, unsigned code)
{
    const struct isa_row *row = in->row;
    unsigned access = row->flags & (ISA_ACC | ISA_PARTIAL) ? ISA_READ | ISA_WRITE : ISA_WRITE;
    bool ok;
    if (row->flags & ISA_LANE && !(row->flags & ISA_ACC))
        ok = push_sdst8(in, code, ISA_B32);
    else
        ok = isa_push_vgpr(in, ISA_OP_DST, access, code, isa_type_regs[row->dst]);
    in->op[in->n_operands - 1].type = row->dst;
    return ok;
}

static bool push_mask(struct isa_inst *in, enum isa_role role, unsigned access, unsigned code)
{
    bool ok = isa_push_sgpr(in, role, access, code, 1u + in->wave64);
    in->op[in->n_operands - 1].type = ISA_MASK;
    return ok;
}

static bool decode_sop1(struct isa_inst *in, uint64_t w)
{
    const struct isa_row *row = in->row;
    if (row->dst) {
        unsigned access = row->flags & ISA_ACC ? ISA_READ | ISA_WRITE : ISA_WRITE;
        if (!isa_push_sgpr(in, ISA_OP_DST, access, get(w, AT_SDST), isa_type_regs[row->dst]))
            return false;
        in->op[0].type = row->dst;
    }
    return !row->src[0] || isa_push_src(in, ISA_OP_SRC0, get(w, AT_SSRC0), row->src[0]);
}

static bool decode_sop2(struct isa_inst *in, uint64_t w)
{
    const struct isa_row *row = in->row;
    if (row->dst) {
        if (!isa_push_sgpr(in, ISA_OP_DST, ISA_WRITE, get(w, AT_SDST), isa_type_regs[row->dst]))
            return false;
        in->op[0].type = row->dst;
    }
    return isa_push_src(in, ISA_OP_SRC0, get(w, AT_SSRC0), row->src[0]) &&
           isa_push_src(in, ISA_OP_SRC1, get(w, AT_SSRC1), row->src[1]);
}

static bool decode_sopk(struct isa_inst *in, uint64_t w)
{
    const struct isa_row *row = in->row;
    in->imm = (int16_t)get(w, AT_SIMM);
    if (row->id == ISA_s_setreg_imm32_b32_SOPK) return isa_push_src(in, ISA_OP_SRC0, 255, ISA_B32);
    if (!row->dst) return true;
    unsigned access = row->flags & ISA_READS_DST ? ISA_READ
                      : row->flags & ISA_ACC     ? ISA_READ | ISA_WRITE
                                                 : ISA_WRITE;
    bool ok = isa_push_sgpr(in, ISA_OP_DST, access, get(w, AT_SDST), isa_type_regs[row->dst]);
    in->op[0].type = row->dst;
    return ok;
}

static bool decode_sopp(struct isa_inst *in, uint64_t w)
{
    in->imm = (int16_t)get(w, AT_SIMM);
    return in->row->src[0] || !in->imm;
}

static void set_mods(struct isa_inst *in, unsigned source, unsigned neg, unsigned abs,
                     unsigned sext)
{
    if (source && in->row->mods & M_INT1) {
        sext |= neg;
        neg = 0;
    }
    for (unsigned i = 0; i < in->n_operands; i++)
        if (in->op[i].role == ISA_OP_SRC0 + source)
            in->op[i].mods = (uint8_t)(neg * ISA_NEG | abs * ISA_ABS | sext * ISA_SEXT);
}

/* SDWA: sub-dword selects. A selector of 7 is reserved (LLVM has no text for it). */
static bool decode_sdwa(struct isa_inst *in, uint64_t w)
{
    const struct isa_row *row = in->row;
    bool two = row->encoding != ISA_VOP1;
    if (!(row->forms >> ISA_FORM_SDWA & 1)) return false;
    in->form = ISA_FORM_SDWA;
    in->src0_sel = (uint8_t)get(w, AT_SDWA_SEL);
    in->src1_sel = (uint8_t)get(w, AT_NEXT(AT_SDWA_SEL, 8));
    if (in->src0_sel == 7 || in->src1_sel == 7) return false;
    if (!two && in->word[1] & 0xbf000000) return false;
    if (row->encoding == ISA_VOPC) {
        bool has_sdst = get(w, AT_SDWA_HAS_SDST);
        unsigned sdst = has_sdst ? get(w, AT_SDWA_SDST) : ISA_VCC_LO;
        if (row->flags & ISA_CMPX) {
            if (has_sdst) return false;
        } else if (!push_mask(in, ISA_OP_DST, ISA_WRITE, sdst)) {
            return false;
        }
    } else {
        in->dst_sel = (uint8_t)get(w, AT_SDWA_DST_SEL);
        in->dst_unused = (uint8_t)get(w, AT_SDWA_DST_UNUSED);
        in->clamp = (uint8_t)get(w, AT_SDWA_CLAMP);
        in->omod = (uint8_t)get(w, AT_SDWA_OMOD);
        if (in->dst_sel == 7 || in->dst_unused == 3) return false;
        if (in->omod && (!(row->mods & M_OMOD) || row->mods & M_INT_OUT)) return false;
        if (!push_vdst(in, get(w, AT_VDST))) return false;
        if (in->dst_unused == 2) in->op[0].access |= ISA_READ;
        if (row->mods & M_SDST && !push_mask(in, ISA_OP_SDST, ISA_WRITE, ISA_VCC_LO)) return false;
    }
    for (unsigned i = 0; i < 1u + two; i++) {
        unsigned reg = i ? get(w, AT_VSRC1) : get(w, AT_SDWA_SRC0);
        unsigned scalar = get(w, AT_NEXT(AT_SDWA_SCALAR, 8 * i));
        unsigned abs = get(w, AT_NEXT(AT_SDWA_ABS, 8 * i));
        unsigned neg = get(w, AT_NEXT(AT_SDWA_NEG, 8 * i));
        unsigned sext = get(w, AT_NEXT(AT_SDWA_SEXT, 8 * i));
        bool fp = row->mods & (i ? M_NEG1 : M_NEG0) && !(i && row->mods & M_INT1);
        if (fp ? sext : neg | abs) return false;
        if (scalar && reg == SRC_LITERAL) return false;
        if (!isa_push_src(in, ISA_OP_SRC0 + i, scalar ? reg : ISA_VGPR0 + reg, row->src[i]))
            return false;
        set_mods(in, i, neg, abs, sext);
    }
    return row->src[2] != ISA_MASK || push_mask(in, ISA_OP_SRC2, ISA_READ, ISA_VCC_LO);
}

/* The operands of a DPP instruction: VGPRs, and VCC for carries. */
static bool push_dpp(struct isa_inst *in, uint64_t w)
{
    const struct isa_row *row = in->row;
    if (!push_vdst(in, get(w, AT_VDST))) return false;
    if (row->mods & M_SDST && !push_mask(in, ISA_OP_SDST, ISA_WRITE, ISA_VCC_LO)) return false;
    if (!isa_push_src(in, ISA_OP_SRC0, ISA_VGPR0 + get(w, AT_DPP_SRC0), row->src[0])) return false;
    if (row->src[1] && !isa_push_src(in, ISA_OP_SRC1, ISA_VGPR0 + get(w, AT_VSRC1), row->src[1]))
        return false;
    return row->src[2] != ISA_MASK || push_mask(in, ISA_OP_SRC2, ISA_READ, ISA_VCC_LO);
}

/* What the extra word of DPP16 says besides the operands. */
static void set_dpp16(struct isa_inst *in, uint64_t w)
{
    in->form = ISA_FORM_DPP16;
    in->dpp_ctrl = (uint16_t)get(w, AT_DPP_CTRL);
    in->fi = (uint8_t)get(w, AT_DPP_FI);
    in->bound_ctrl = (uint8_t)get(w, AT_DPP_BOUND);
    in->bank_mask = (uint8_t)get(w, AT_DPP_BANKS);
    in->row_mask = (uint8_t)get(w, AT_DPP_ROWS);
}

static bool decode_dpp16(struct isa_inst *in, uint64_t w)
{
    const struct isa_row *row = in->row;
    if (!(row->forms >> ISA_FORM_DPP16 & 1)) return false;
    set_dpp16(in, w);
    if (!push_dpp(in, w)) return false;
    /* Lanes that nothing reaches keep the old value. */
    if (in->bank_mask != 15 || in->row_mask != 15 || !in->bound_ctrl) in->op[0].access |= ISA_READ;
    for (unsigned i = 0; i < 2; i++) {
        unsigned neg = get(w, AT_NEXT(AT_DPP_NEG, 2 * i)), abs = get(w, AT_NEXT(AT_DPP_ABS, 2 * i));
        bool ignore = row->src[i] && row->mods & M_IGNORE;
        if (!(row->mods & (M_NEG0 << i))) {
            if (neg && !ignore) return false;
            neg = 0;
        }
        if (!(row->mods & (M_ABS0 << i))) {
            if (abs && !ignore) return false;
            abs = 0;
        }
        set_mods(in, i, neg, abs, 0);
    }
    return true;
}

static bool decode_dpp8(struct isa_inst *in, uint64_t w)
{
    if (!(in->row->forms >> ISA_FORM_DPP8 & 1)) return false;
    in->form = ISA_FORM_DPP8;
    in->dpp8 = get(w, AT_DPP8_LANES);
    in->fi = get(w, AT_VSRC0) == SRC_DPP8_FI;
    return push_dpp(in, w);
}

/* v_nop, v_pipeflush, v_clrexcp: no operand; only v_nop has DPP and SDWA words, and LLVM takes
 * those for a part of it when they, too, name no operand. */
static bool decode_nop(struct isa_inst *in, uint64_t w, size_t n_words)
{
    unsigned src0 = get(w, AT_VSRC0);
    uint32_t x = in->word[1];
    if (get(w, AT_VDST)) return false;
    if (in->id != ISA_v_nop_VOP1 || x & 255 || n_words < 2) return true;
    bool sdwa = !(x & ~0x40401f00u); /* nothing but dst_sel, dst_unused and spare bits */
    if (src0 == SRC_DPP16 && !(x & 0xf00000)) {
        set_dpp16(in, w);
    } else if (src0 == SRC_DPP8 || src0 == SRC_DPP8_FI) {
        in->form = ISA_FORM_DPP8;
        in->dpp8 = get(w, AT_DPP8_LANES);
        in->fi = src0 == SRC_DPP8_FI;
    } else if (src0 == SRC_SDWA && sdwa) {
        in->form = ISA_FORM_SDWA;
    }
    if (in->form != ISA_FORM_BASE) in->n_words = 2;
    return true;
}

/* VOP1, VOP2 and VOPC in 32 bits, and the forms that src0 announces. */
static bool decode_vop(struct isa_inst *in, uint64_t w, size_t n_words)
{
    const struct isa_row *row = in->row;
    unsigned src0 = get(w, AT_VSRC0);
    if (row->id == ISA_v_illegal_VOP2) return !in->word[0];
    if (row->encoding == ISA_VOP1 && !row->dst) return decode_nop(in, w, n_words);
    if (src0 == SRC_SDWA || src0 == SRC_DPP16 || src0 == SRC_DPP8 || src0 == SRC_DPP8_FI) {
        in->n_words = 2;
        return src0 == SRC_SDWA    ? decode_sdwa(in, w)
               : src0 == SRC_DPP16 ? decode_dpp16(in, w)
                                   : decode_dpp8(in, w);
    }
    if (row->encoding == ISA_VOPC) {
        if (!(row->flags & ISA_CMPX) && !push_mask(in, ISA_OP_DST, ISA_WRITE, ISA_VCC_LO))
            return false;
        return isa_push_src(in, ISA_OP_SRC0, src0, row->src[0]) &&
               isa_push_src(in, ISA_OP_SRC1, ISA_VGPR0 + get(w, AT_VSRC1), row->src[1]);
    }
    if (!push_vdst(in, get(w, AT_VDST))) return false;
    if (row->mods & M_SDST && !push_mask(in, ISA_OP_SDST, ISA_WRITE, ISA_VCC_LO)) return false;
    if (!isa_push_src(in, ISA_OP_SRC0, src0, row->src[0])) return false;
    if (row->encoding == ISA_VOP1) {
        if (row->id == ISA_v_swap_b32_VOP1 || row->id == ISA_v_swaprel_b32_VOP1)
            in->op[1].access = ISA_READ | ISA_WRITE;
        return true;
    }
    unsigned vsrc1 = ISA_VGPR0 + get(w, AT_VSRC1);
    for (unsigned i = 1; i < 3 && row->src[i]; i++) {
        unsigned type = row->src[i];
        if (type == ISA_K16 || type == ISA_K32) {
            if (!isa_push_src(in, ISA_OP_SRC0 + i, SRC_LITERAL, type)) return false;
        } else if (type == ISA_MASK) {
            if (!push_mask(in, ISA_OP_SRC2, ISA_READ, ISA_VCC_LO)) return false;
        } else if (!isa_push_src(in, ISA_OP_SRC0 + i, vsrc1, type)) {
            return false;
        }
    }
    return true;
}

/* neg and abs of VOP3 words; false when a bit is set that the instruction does not have. */
static bool take_mods(struct isa_inst *in, unsigned neg, unsigned abs)
{
    unsigned mods = in->row->mods;
    for (unsigned i = 0; i < 3; i++) {
        unsigned n = neg >> i & 1, a = abs >> i & 1;
        bool ignore = mods & M_IGNORE && in->row->src[i];
        if (n && !(mods & (M_NEG0 << i))) {
            if (!ignore) return false;
            n = 0;
        }
        if (a && !(mods & (M_ABS0 << i))) {
            if (!ignore) return false;
            a = 0;
        }
        if (n | a) set_mods(in, i, n, a, 0);
    }
    return true;
}

/* Interpolation: src0 holds attribute, channel and half; v_interp_mov has a number as src1. */
static void take_attribute(struct isa_inst *in, uint64_t w, unsigned source)
{
    if (source == 1) {
        in->imm = (int32_t)get(w, AT_NEXT(AT_VOP3_SRC, 9));
        return;
    }
    in->attr = (uint8_t)get(w, AT_INTERP_ATTR);
    in->attr_chan = (uint8_t)get(w, AT_INTERP_CHANNEL);
    in->op_sel_hi = (uint8_t)get(w, AT_INTERP_HIGH);
}

static bool decode_vop3(struct isa_inst *in, uint64_t w)
{
    const struct isa_row *row = in->row;
    unsigned mods = row->mods;
    if (row->encoding != ISA_VOP3) in->form = ISA_FORM_E64;
    in->clamp = (uint8_t)get(w, AT_VOP3_CLAMP);
    in->omod = (uint8_t)get(w, AT_VOP3_OMOD);
    if (in->omod && !(mods & M_OMOD)) return false;
    if (in->clamp && !(mods & M_CLAMP)) return false;
    if (row->dst == ISA_MASK) {
        if (!push_sdst8(in, get(w, AT_VOP3_VDST), ISA_MASK)) return false;
    } else if (row->dst) {
        if (!push_vdst(in, get(w, AT_VOP3_VDST))) return false;
    } else if (!(row->flags & ISA_CMPX) && get(w, AT_VOP3_VDST)) {
        return false;
    }
    if (mods & M_SDST && !push_mask(in, ISA_OP_SDST, ISA_WRITE, get(w, AT_VOP3_SDST))) return false;
    for (unsigned i = 0; i < 3; i++) {
        unsigned code = get(w, AT_NEXT(AT_VOP3_SRC, 9 * i));
        if (row->src[i]) {
            if (!isa_push_src(in, ISA_OP_SRC0 + i, code, row->src[i])) return false;
        } else if (row->flags & ISA_INTERP && i < 2) {
            take_attribute(in, w, i);
        } else if (code) {
            return false;
        }
    }
    if (row->flags & ISA_INTERP && row->opcode < 0x203 && in->op_sel_hi) return false;
    if (mods & (M_OPSEL | M_PERM)) {
        in->op_sel = (uint8_t)get(w, AT_VOP3_OP_SEL);
        if (mods & M_PERM) {
            in->fi = in->op_sel & 1;
            in->bound_ctrl = in->op_sel >> 1 & 1;
            in->op_sel &= 3;
        }
        if (!row->src[2] && in->op_sel & 4) return false;
    }
    return take_mods(in, get(w, AT_VOP3_NEG), mods & M_SDST ? 0 : get(w, AT_VOP3_ABS));
}

static bool decode_vop3p(struct isa_inst *in, uint64_t w)
{
    const struct isa_row *row = in->row;
    in->clamp = (uint8_t)get(w, AT_VOP3_CLAMP);
    in->op_sel = (uint8_t)get(w, AT_VOP3P_OP_SEL);
    in->op_sel_hi = (uint8_t)(get(w, AT_VOP3P_OP_SEL_HI) | get(w, AT_VOP3P_OP_SEL_HI2) << 2);
    in->neg_hi = (uint8_t)get(w, AT_VOP3_ABS);
    in->neg_lo = (uint8_t)get(w, AT_VOP3_NEG);
    if (!push_vdst(in, get(w, AT_VOP3_VDST))) return false;
    for (unsigned i = 0; i < 3; i++) {
        unsigned code = get(w, AT_NEXT(AT_VOP3_SRC, 9 * i));
        if (row->src[i]) {
            if (!isa_push_src(in, ISA_OP_SRC0 + i, code, row->src[i])) return false;
        } else if (code || (in->op_sel | in->neg_hi | in->neg_lo) >> i & 1) {
            return false;
        }
        if (row->mods & M_MIX) set_mods(in, i, in->neg_lo >> i & 1, in->neg_hi >> i & 1, 0);
    }
    return true;
}

/* Which slot a first word belongs to, and how many words it has before any literal. */
static unsigned find_slot(uint32_t w, const uint32_t *words, size_t n_words, unsigned *length)
{
    *length = 1;
    if (!(w >> 31)) {
        unsigned op = w >> 25;
        if (op == 0x3f) return SLOT_VOP1 + get(w, AT_VOP1_OP);
        if (op == 0x3e) return SLOT_VOPC + get(w, AT_VOPC_OP);
        return SLOT_VOP2 + op;
    }
    if (w >> 30 == 2) {
        if (w >> 28 != 0xb) return SLOT_SOP2 + get(w, AT_SOP2_OP);
        unsigned op = get(w, AT_SOPK_OP);
        if (op == 0x1d) return SLOT_SOP1 + get(w, AT_SOP1_OP);
        if (op == 0x1e) return SLOT_SOPC + get(w, AT_SOPC_OP);
        if (op == 0x1f) return SLOT_SOPP + get(w, AT_SOPP_OP);
        return SLOT_SOPK + op;
    }
    *length = 2;
    switch (w >> 26) {
    case 0x32: *length = 1; return SLOT_VINTRP + get(w, AT_VINTRP_OP);
    case 0x33: return w & 0x3800000 ? (unsigned)N_SLOTS : SLOT_VOP3P + get(w, AT_VOP3P_OP);
    case 0x35: return SLOT_VOP3 + get(w, AT_VOP3_OP);
    case 0x36: return SLOT_DS + get(w, AT_DS_OP);
    case 0x37: {
        static const uint16_t segment[] = { SLOT_FLAT, SLOT_SCRATCH, SLOT_GLOBAL };
        unsigned seg = get(w, AT_FLAT_SEGMENT);
        return seg == 3 ? N_SLOTS : segment[seg] + get(w, AT_FLAT_OP);
    }
    case 0x38: return SLOT_MUBUF + get(w, AT_MUBUF_OP);
    case 0x3a:
        return n_words < 2 ? N_SLOTS
                           : SLOT_MTBUF + get(w, AT_MTBUF_OP) +
                                 8 * get((uint64_t)words[1] << 32, AT_MTBUF_D16);
    case 0x3c: return SLOT_MIMG + get(w, AT_MIMG_OP) + 128 * get(w, AT_MIMG_OP7);
    case 0x3d: return SLOT_SMEM + get(w, AT_SMEM_OP);
    case 0x3e: return SLOT_EXP;
    default: return N_SLOTS;
    }
}

static bool decode_operands(struct isa_inst *in, uint64_t w, unsigned slot, size_t n_words)
{
    switch (in->row->encoding) {
    case ISA_SOP1: return decode_sop1(in, w);
    case ISA_SOP2:
    case ISA_SOPC: return decode_sop2(in, w);
    case ISA_SOPK: return decode_sopk(in, w);
    case ISA_SOPP: return decode_sopp(in, w);
    case ISA_SMEM: return isa_decode_smem(in);
    case ISA_VOP1:
    case ISA_VOP2:
    case ISA_VOPC: return slot >= SLOT_VOP3 ? decode_vop3(in, w) : decode_vop(in, w, n_words);
    case ISA_VOP3: return decode_vop3(in, w);
    case ISA_VOP3P: return decode_vop3p(in, w);
    case ISA_VINTRP: return isa_decode_vintrp(in);
    case ISA_DS: return isa_decode_ds(in);
    case ISA_MUBUF:
    case ISA_MTBUF: return isa_decode_buffer(in);
    case ISA_MIMG: return isa_decode_mimg(in, n_words);
    case ISA_EXP: return isa_decode_exp(in);
    default: return isa_decode_flat(in);
    }
}

size_t isa_decode(unsigned chip, const uint32_t *words, size_t n_words, struct isa_inst *out)
{
    bool wave64 = chip & ISA_WAVE64;
    chip &= ~(unsigned)ISA_WAVE64;
    if (!n_words || chip >= ISA_N_CHIPS) return 0;
    unsigned length;
    unsigned slot = find_slot(words[0], words, n_words, &length);
    if (slot >= N_SLOTS || length > n_words) return 0;
    const struct isa_row *row = isa_slot(chip, slot);
    if (!row) return 0;

    /* In two parts: small enough to become plain stores instead of a slow string instruction. */
    enum { PART = 64, REST = offsetof(struct isa_inst, op) - PART };
    memset(out, 0, PART);
    memset((char *)out + PART, 0, REST);
    out->row = row;
    out->id = row->id;
    out->chip = (uint8_t)chip;
    out->wave64 = wave64;
    out->n_words = (uint8_t)length;
    if (n_words >= ISA_MAX_WORDS) {
        memcpy(out->word, words, sizeof out->word);
    } else {
        for (size_t i = 0; i < n_words; i++) out->word[i] = words[i];
    }
    if (!decode_operands(out, isa_first_two(out), slot, n_words)) return 0;
    if (out->has_literal) {
        if (out->n_words >= n_words) return 0;
        out->literal = words[out->n_words++];
        for (unsigned i = 0; i < out->n_operands; i++)
            if (out->op[i].kind == ISA_KIND_LITERAL) out->op[i].value = out->literal;
    }
    return out->n_words <= n_words ? out->n_words : 0;
}
