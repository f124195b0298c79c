/* print.c: a decoded instruction as llvm-objdump writes it. */
#include <stdarg.h>
#include <stdio.h>

#include "code/isa/internal.h"
#include "code/isa/text.h"

void isa_text(struct isa_output *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t room = t->length < t->bytes ? t->bytes - t->length : 0;
    int n = vsnprintf(room ? t->at + t->length : NULL, room, format, args);
    va_end(args);
    if (n > 0) t->length += (size_t)n;
}

static void print_group(struct isa_output *t, const char *prefix, unsigned first, unsigned n)
{
    if (n == 1)
        isa_text(t, "%s%u", prefix, first);
    else
        isa_text(t, "%s[%u:%u]", prefix, first, first + n - 1);
}

static void print_scalar(struct isa_output *t, unsigned reg, unsigned n)
{
    static const char *const low[] = {
        [ISA_VCC_LO - 106] = "vcc_lo",   [ISA_VCC_HI - 106] = "vcc_hi",
        [ISA_M0 - 106] = "m0",           [ISA_NULL - 106] = "null",
        [ISA_EXEC_LO - 106] = "exec_lo", [ISA_EXEC_HI - 106] = "exec_hi"
    };
    if (reg < ISA_VCC_LO)
        print_group(t, "s", reg, n);
    else if (reg >= ISA_TTMP0 && reg < ISA_M0)
        print_group(t, "ttmp", reg - ISA_TTMP0, n);
    else if (n == 2 && reg == ISA_VCC_LO)
        isa_text(t, "vcc");
    else if (n == 2 && reg == ISA_EXEC_LO)
        isa_text(t, "exec");
    else
        isa_text(t, "%s", low[reg - 106]);
}

static const char *special_name(unsigned reg)
{
    switch (reg) {
    case ISA_SHARED_BASE: return "src_shared_base";
    case ISA_SHARED_LIMIT: return "src_shared_limit";
    case ISA_PRIVATE_BASE: return "src_private_base";
    case ISA_PRIVATE_LIMIT: return "src_private_limit";
    case ISA_POPS_WAVE_ID: return "src_pops_exiting_wave_id";
    case ISA_VCCZ: return "src_vccz";
    case ISA_EXECZ: return "src_execz";
    case ISA_SCC: return "src_scc";
    default: return "src_lds_direct";
    }
}

static const char *const float_names[] = { "0.5",  "-0.5", "1.0",  "-1.0",      "2.0",
                                           "-2.0", "4.0",  "-4.0", "0.15915494" };

/* The name of a float constant by its bits, or NULL. */
static const char *name_f16(uint32_t v)
{
    static const uint16_t values[] = { 0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                       0xc000, 0x4400, 0xc400, 0x3118 };
    for (unsigned i = 0; i < 9; i++)
        if (v == values[i]) return float_names[i];
    return NULL;
}

static const char *name_f32(uint32_t v)
{
    static const uint32_t values[] = { 0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                       0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983 };
    for (unsigned i = 0; i < 9; i++)
        if (v == values[i]) return float_names[i];
    return NULL;
}

static const char *name_f64_high(uint32_t v)
{
    static const uint32_t values[] = { 0x3fe00000, 0xbfe00000, 0x3ff00000, 0xbff00000,
                                       0x40000000, 0xc0000000, 0x40100000, 0xc0100000 };
    for (unsigned i = 0; i < 8; i++)
        if (v == values[i]) return float_names[i];
    return NULL;
}

static bool small(uint32_t v)
{
    return (int32_t)v >= -16 && (int32_t)v <= 64;
}

static void print_named(struct isa_output *t, const char *name, uint32_t v)
{
    if (name)
        isa_text(t, "%s", name);
    else
        isa_text(t, "0x%x", v);
}

static void print_literal(struct isa_output *t, uint32_t v, unsigned type)
{
    switch (type) {
    case ISA_K16:
    case ISA_K32: isa_text(t, "0x%x", v); break;
    case ISA_F64:
        if (v)
            print_named(t, name_f64_high(v), v);
        else
            isa_text(t, "0");
        break;
    case ISA_B64: isa_text(t, v <= 64 ? "%u" : "0x%x", v); break;
    case ISA_F16:
        v = (uint32_t)(int32_t)(int16_t)(v & 0xffff);
        if (small(v))
            isa_text(t, "%d", (int32_t)v);
        else
            print_named(t, name_f16(v & 0xffff), v & 0xffff);
        break;
    case ISA_B16:
        if (small(v))
            isa_text(t, "%d", (int32_t)v);
        else
            print_named(t, name_f32(v), v & 0xffff);
        break;
    case ISA_PF16:
        if (small(v))
            isa_text(t, "%d", (int32_t)v);
        else
            print_named(t, name_f16(v), v);
        break;
    default:
        if (small(v))
            isa_text(t, "%d", (int32_t)v);
        else
            print_named(t, name_f32(v), v);
    }
}

static void print_inline(struct isa_output *t, const struct isa_operand *op)
{
    if (op->reg <= 208)
        isa_text(t, "%d", (int32_t)op->value);
    else if (op->type == ISA_B16)
        isa_text(t, "0x%x", op->value);
    else if (op->reg == 248 && (op->type == ISA_B64 || op->type == ISA_F64))
        isa_text(t, "0.15915494309189532");
    else
        isa_text(t, "%s", float_names[op->reg - 240]);
}

/* LLVM decodes some registers that it then marks as wrong for the operand: the name of the class
 * that they should be of, or NULL. */
static const char *wrong_class(const struct isa_inst *in, const struct isa_operand *op)
{
    bool vgpr = op->kind == ISA_KIND_VGPR, lds = op->kind == ISA_KIND_SPECIAL && op->reg == 254;
    bool special = op->kind == ISA_KIND_SPECIAL || (op->kind == ISA_KIND_REG && op->reg > 105);
    if (op->kind != ISA_KIND_REG && op->kind != ISA_KIND_SPECIAL && !vgpr) return NULL;
    if (op->reg == ISA_NULL || in->form == ISA_FORM_SDWA) return NULL;
    if (op->kind == ISA_KIND_SPECIAL && op->reg != ISA_LDS_DIRECT) return NULL;
    if (in->row->encoding == ISA_SMEM && special && !(op->reg >= ISA_TTMP0 && op->reg < ISA_M0)) {
        bool exec = op->reg == ISA_EXEC_LO || op->reg == ISA_EXEC_HI;
        if (op->type == ISA_B128) return "SReg_128";
        if (op->type == ISA_B256) return "SReg_256";
        if (op->type == ISA_B512) return "SReg_512";
        if (op->role == ISA_OP_DST && op->type == ISA_B64) return exec ? "SReg_64_XEXEC" : NULL;
        if (op->role == ISA_OP_DST) return exec || op->reg == ISA_M0 ? "SReg_32_XM0_XEXEC" : NULL;
    }
    switch (op->type) {
    case ISA_V32: return vgpr ? NULL : "VGPR_32";
    case ISA_V128: return vgpr ? NULL : "VReg_128";
    case ISA_C32: return vgpr || lds ? "SReg_32" : NULL;
    case ISA_CL32: return vgpr ? "SRegOrLds_32" : NULL;
    case ISA_L32: return vgpr || lds ? NULL : "VRegOrLds_32";
    default: break;
    }
    if (op->type == ISA_MASK && op->role == ISA_OP_DST && lds) return "SReg_1";
    if (op->type == ISA_MASK && op->role == ISA_OP_SRC2) {
        bool exec = op->reg == ISA_EXEC_LO || op->reg == ISA_EXEC_HI;
        return vgpr || lds || exec ? "SReg_1_XEXEC" : NULL;
    }
    if (lds && (op->role == ISA_OP_DST || in->row->flags & ISA_SALU || op->role == ISA_OP_SOFF))
        return "SReg_32";
    if (in->row->encoding == ISA_SCRATCH && op->role == ISA_OP_SADDR && op->reg == ISA_EXEC_HI)
        return "SReg_32_XEXEC_HI";
    return NULL;
}

/* Places where a constant is decoded but marked. */
static bool no_constant(const struct isa_operand *op)
{
    return op->role == ISA_OP_DST || op->type == ISA_MASK ||
           (op->type >= ISA_V32 && op->type <= ISA_S64);
}

static bool marked_constant(const struct isa_inst *in, const struct isa_operand *op)
{
    bool constant = op->kind == ISA_KIND_INLINE || op->kind == ISA_KIND_LITERAL;
    return constant && no_constant(op) && in->form != ISA_FORM_SDWA;
}

bool isa_operand_is_legal(const struct isa_inst *in, const struct isa_operand *op)
{
    return !marked_constant(in, op) && !wrong_class(in, op);
}

bool isa_is_legal(const struct isa_inst *in)
{
    for (unsigned i = 0; i < in->n_operands; i++)
        if (!isa_operand_is_legal(in, &in->op[i])) return false;
    return true;
}

static void print_plain(struct isa_output *t, const struct isa_inst *in,
                        const struct isa_operand *op)
{
    switch (op->kind) {
    case ISA_KIND_VGPR: print_group(t, "v", op->reg - ISA_VGPR0, op->n_regs); break;
    case ISA_KIND_REG: print_scalar(t, op->reg, op->n_regs); break;
    case ISA_KIND_SPECIAL: isa_text(t, "%s", special_name(op->reg)); break;
    case ISA_KIND_INLINE: print_inline(t, op); break;
    case ISA_KIND_LITERAL: print_literal(t, op->value, op->type); break;
    default: isa_text(t, "off"); break;
    }
    if (marked_constant(in, op)) isa_text(t, "/*Invalid immediate*/");
    const char *class = wrong_class(in, op);
    if (class) isa_text(t, "/*Invalid register, operand has '%s' register class*/", class);
}

static void print_operand(struct isa_output *t, const struct isa_inst *in,
                          const struct isa_operand *op)
{
    bool constant = op->kind == ISA_KIND_INLINE || op->kind == ISA_KIND_LITERAL;
    bool neg = op->mods & ISA_NEG, abs = op->mods & ISA_ABS, wrap = neg && !abs && constant;
    isa_text(t, "%s%s%s",
             wrap  ? "neg("
             : neg ? "-"
                   : "",
             abs ? "|" : "", op->mods & ISA_SEXT ? "sext(" : "");
    print_plain(t, in, op);
    isa_text(t, "%s%s%s", op->mods & ISA_SEXT ? ")" : "", abs ? "|" : "", wrap ? ")" : "");
}

static void print_bit_list(struct isa_output *t, const char *name, unsigned value, unsigned n)
{
    isa_text(t, " %s:[", name);
    for (unsigned i = 0; i < n; i++) isa_text(t, "%s%u", i ? "," : "", value >> i & 1);
    isa_text(t, "]");
}

static unsigned count_sources(const struct isa_row *row)
{
    return !!row->src[0] + !!row->src[1] + !!row->src[2];
}

static void print_sdwa(struct isa_output *t, const struct isa_inst *in)
{
    static const char *const sel[] = { "BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                       "WORD_0", "WORD_1", "DWORD" };
    static const char *const unused[] = { "PAD", "SEXT", "PRESERVE" };
    if (in->row->encoding != ISA_VOPC)
        isa_text(t, " dst_sel:%s dst_unused:UNUSED_%s", sel[in->dst_sel], unused[in->dst_unused]);
    isa_text(t, " src0_sel:%s", sel[in->src0_sel]);
    if (in->row->encoding != ISA_VOP1) isa_text(t, " src1_sel:%s", sel[in->src1_sel]);
}

static void print_valu_mods(struct isa_output *t, const struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    unsigned n = count_sources(row);
    if (row->encoding == ISA_VOP3P) {
        unsigned all = (1u << n) - 1;
        if (in->op_sel) print_bit_list(t, "op_sel", in->op_sel, n);
        if (row->mods & M_MIX ? in->op_sel_hi : (in->op_sel_hi & all) != all)
            print_bit_list(t, "op_sel_hi", in->op_sel_hi, n);
        if (!(row->mods & M_MIX)) {
            if (in->neg_lo) print_bit_list(t, "neg_lo", in->neg_lo, n);
            if (in->neg_hi) print_bit_list(t, "neg_hi", in->neg_hi, n);
        }
    } else if (in->op_sel) {
        unsigned shown = row->mods & M_PERM ? 2 : n + 1;
        unsigned value = in->op_sel;
        if (shown == 3) value = (value & 3) | (value >> 3 & 1) << 2;
        print_bit_list(t, "op_sel", value, shown);
    }
    if (row->flags & ISA_INTERP && in->op_sel_hi) isa_text(t, " high");
    if (in->clamp) isa_text(t, " clamp");
    if (in->omod) isa_text(t, " %s", in->omod == 1 ? "mul:2" : in->omod == 2 ? "mul:4" : "div:2");
    switch (in->form) {
    case ISA_FORM_SDWA:
        if (row->src[0]) print_sdwa(t, in);
        break;
    case ISA_FORM_DPP16: isa_print_dpp16(t, in); break;
    case ISA_FORM_DPP8:
        isa_text(t, " dpp8:[");
        for (unsigned i = 0; i < 8; i++) isa_text(t, "%s%u", i ? "," : "", in->dpp8 >> 3 * i & 7);
        isa_text(t, "]%s", in->fi ? " fi:1" : "");
        break;
    default: break;
    }
}

static void print_image_mods(struct isa_output *t, const struct isa_inst *in)
{
    static const char *const dims[] = { "1D",       "2D",       "3D",      "CUBE",
                                        "1D_ARRAY", "2D_ARRAY", "2D_MSAA", "2D_MSAA_ARRAY" };
    if (!(in->row->flags & ISA_BVH)) {
        if (in->dmask) isa_text(t, " dmask:0x%x", in->dmask);
        isa_text(t, " dim:SQ_RSRC_IMG_%s", dims[in->dim]);
        if (in->unorm) isa_text(t, " unorm");
        if (in->glc) isa_text(t, " glc");
        if (in->slc) isa_text(t, " slc");
        if (in->dlc) isa_text(t, " dlc");
        if (in->r128) isa_text(t, " r128");
    }
    if (in->a16) isa_text(t, " a16");
    if (in->tfe) isa_text(t, " tfe");
    if (in->lwe) isa_text(t, " lwe");
    if (in->d16) isa_text(t, " d16");
}

static void print_memory_mods(struct isa_output *t, const struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    if (row->encoding == ISA_DS) {
        if (row->flags & ISA_TWO_DATA) {
            if (in->imm) isa_text(t, " offset0:%d", in->imm);
            if (in->offset1) isa_text(t, " offset1:%u", in->offset1);
        } else if (row->id == ISA_ds_swizzle_b32_DS) {
            isa_print_swizzle(t, (unsigned)in->imm);
        } else if (in->imm) {
            isa_text(t, " offset:%d", in->imm);
        }
        if (in->gds) isa_text(t, " gds");
        return;
    }
    if (row->encoding == ISA_EXP) {
        if (in->exp_done) isa_text(t, " done");
        if (in->exp_compr) isa_text(t, " compr");
        if (in->exp_vm) isa_text(t, " vm");
        return;
    }
    if (row->encoding == ISA_MIMG) {
        print_image_mods(t, in);
        return;
    }
    if (row->encoding == ISA_MTBUF) isa_print_format(t, in->format);
    if (in->idxen) isa_text(t, " idxen");
    if (in->offen) isa_text(t, " offen");
    if (in->imm && row->encoding != ISA_SMEM) isa_text(t, " offset:%d", in->imm);
    if (in->glc) isa_text(t, " glc");
    if (in->slc) isa_text(t, " slc");
    if (in->dlc) isa_text(t, " dlc");
    if (in->tfe) isa_text(t, " tfe");
    if (in->lds) isa_text(t, " lds");
}

static void print_attribute(struct isa_output *t, const struct isa_inst *in, bool parameter)
{
    static const char *const names[] = { "p10", "p20", "p0" };
    if (parameter && in->imm < 3)
        isa_text(t, ", %s", names[in->imm]);
    else if (parameter)
        isa_text(t, ", invalid_param_%d", in->imm);
    isa_text(t, ", attr%u.%c", in->attr, "xyzw"[in->attr_chan]);
}

static void print_exp_target(struct isa_output *t, unsigned target)
{
    if (target <= 7)
        isa_text(t, " mrt%u", target);
    else if (target == 8)
        isa_text(t, " mrtz");
    else if (target == 9)
        isa_text(t, " null");
    else if (target >= 12 && target <= 16)
        isa_text(t, " pos%u", target - 12);
    else if (target == 20)
        isa_text(t, " prim");
    else if (target >= 32)
        isa_text(t, " param%u", target - 32);
    else
        isa_text(t, " invalid_target_%u", target);
}

/* The offset of SMEM stands among the operands. */
static void print_smem_offset(struct isa_output *t, const struct isa_inst *in)
{
    const struct isa_operand *soff = &in->op[in->n_operands - 1];
    unsigned size = (unsigned)(in->imm < 0 ? -in->imm : in->imm);
    const char *sign = in->imm < 0 ? "-" : "";
    if (soff->reg == ISA_NULL && in->imm) {
        isa_text(t, "%s0x%x", sign, size);
        return;
    }
    print_plain(t, in, soff);
    if (in->imm) isa_text(t, " offset:%s0x%x", sign, size);
}

static void print_operands(struct isa_output *t, const struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    /* Two spaces where LLVM has two. */
    const char *gap = row->flags & ISA_SAMPLER && in->n_nsa ? "  " : " ";
    if (row->dst == ISA_SIMM_DEC) {
        isa_text(t, in->attr <= 64 ? " %u" : " 0x%x", in->attr);
        gap = ", ";
    }
    if (row->encoding == ISA_EXP) {
        print_exp_target(t, in->exp_target);
    }
    /* s_setreg names the register last. */
    bool imm_first = row->flags & ISA_READS_DST && row->src[0] == ISA_HWREG;
    imm_first |= row->id == ISA_s_setreg_imm32_b32_SOPK;
    if (imm_first) {
        isa_text(t, " ");
        isa_print_simm(t, in);
        gap = ", ";
    }
    for (unsigned i = 0; i < in->n_operands; i++) {
        const struct isa_operand *op = &in->op[i];
        bool nsa = in->n_nsa && op->role == ISA_OP_ADDR;
        bool nsa_before = i && in->n_nsa && op[-1].role == ISA_OP_ADDR;
        isa_text(t, "%s%s%s", nsa_before && !nsa ? "]" : "", gap, nsa && !nsa_before ? "[" : "");
        gap = ", ";
        if (op->role == ISA_OP_SOFF && row->encoding == ISA_SMEM)
            print_smem_offset(t, in);
        else
            print_operand(t, in, op);
        bool parameter = i == 0 && in->n_operands == 1;
        if (row->flags & ISA_INTERP && (i == 1 || parameter)) print_attribute(t, in, parameter);
    }
    bool has_imm = row->encoding == ISA_SOPK || (row->encoding == ISA_SOPP && row->src[0]);
    if (row->src[0] == ISA_SIMM_OPT && !in->imm) has_imm = false;
    if (has_imm && !imm_first) {
        isa_text(t, "%s", gap);
        isa_print_simm(t, in);
    }
}

static const char *suffix(const struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    if (row->flags & ISA_INTERP && row->opcode < 0x203)
        return row->encoding == ISA_VOP3 ? "_e64" : "_e32";
    bool vop = row->encoding == ISA_VOP1 || row->encoding == ISA_VOP2 || row->encoding == ISA_VOPC;
    if (vop && !row->src[0]) return ""; /* v_nop */
    if (in->form == ISA_FORM_SDWA) return "_sdwa";
    if (in->form == ISA_FORM_DPP16 || in->form == ISA_FORM_DPP8) return "_dpp";
    if (!vop || !(row->forms >> ISA_FORM_E64 & 1)) return "";
    return in->form == ISA_FORM_E64 ? "_e64" : "_e32";
}

size_t isa_print(const struct isa_inst *in, char *text, size_t bytes)
{
    struct isa_output t = { text, bytes, 0 };
    if (bytes) text[0] = 0;
    isa_text(&t, "%s%s", in->row->name, suffix(in));
    print_operands(&t, in);
    if (in->row->flags & ISA_VALU)
        print_valu_mods(&t, in);
    else if (!(in->row->flags & ISA_SALU))
        print_memory_mods(&t, in);
    return t.length;
}
