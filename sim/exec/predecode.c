/* predecode.c: makes an instruction ready to be executed many times. */
#include <stdlib.h>
#include <string.h>

#include "sim/check/check.h"
#include "sim/exec/exec.h"
#include "sim/math/atomics.h"
#include "sim/memory/memory.h"

const struct isa_operand *op_find(const struct isa_inst *inst, enum isa_role role)
{
    for (unsigned i = 0; i < inst->n_operands; i++)
        if (inst->op[i].role == role) return &inst->op[i];
    return NULL;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

/* Results of 16 bits: gfx10 keeps the other half of the register. */
static bool is_half(const struct isa_row *row)
{
    const char *name = row->name;
    if (row->encoding == ISA_VOP3P || row->flags & ISA_PARTIAL || strstr(name, "pk") ||
        strstr(name, "sad"))
        return false;
    if (row->dst == ISA_MASK || row->flags & ISA_CMPX) return false;
    if (valu_result_of(row->id) == VALU_F16) return true;
    if (valu_result_of(row->id) != VALU_INT || strstr(name, "32_")) return false;
    return ends_with(name, "_u16") || ends_with(name, "_i16") || ends_with(name, "_b16") ||
           ends_with(name, "_u16_f16") || ends_with(name, "_i16_f16");
}

/* Rows of a constant: one word of it in every lane. */
static bool constant_rows(struct op *op, unsigned i, const struct isa_operand *operand)
{
    if (!op->rows) {
        size_t bytes = sizeof(uint32_t) * MAX_LANES * 6;
        op->rows = aligned_alloc(64, bytes);
        if (!op->rows) return false;
    }
    uint64_t value = isa_constant(operand);
    uint32_t *row = op->rows + (size_t)MAX_LANES * 2 * i;
    for (unsigned lane = 0; lane < MAX_LANES; lane++) {
        row[lane] = (uint32_t)value;
        row[MAX_LANES + lane] = (uint32_t)(value >> 32);
    }
    return true;
}

static bool valu_source(struct op *op, unsigned i)
{
    const struct isa_operand *in = op->in[i];
    struct source *s = &op->src[i];
    s->n_regs = in->n_regs ? in->n_regs : 1;
    switch (in->kind) {
    case ISA_KIND_VGPR:
        s->kind = SRC_VGPR;
        s->reg = (uint16_t)(in->reg - ISA_VGPR0);
        return true;
    case ISA_KIND_REG:
        s->kind = SRC_SGPR;
        s->reg = in->reg;
        return true;
    case ISA_KIND_SPECIAL: s->kind = SRC_SPECIAL; return true;
    default:
        s->kind = SRC_CONSTANT;
        if (in->type == ISA_B64 || in->type == ISA_F64) s->n_regs = 2;
        return constant_rows(op, i, in);
    }
}

/* Sources of 32 bits without modifiers, one result at most: run_valu has nothing to do for it. */
static bool has_plain_form(const struct op *op)
{
    const struct isa_inst *inst = &op->inst;
    const unsigned simple = OP_COPIES | OP_MASK_OUT | OP_VCC_IN;
    if (inst->form == ISA_FORM_SDWA || inst->form == ISA_FORM_DPP16 || inst->form == ISA_FORM_DPP8)
        return false;
    if (op->flags & ~simple || inst->op_sel || op->n_dst > 1) return false;
    for (unsigned i = 0; i < op->n_src; i++) {
        if (op->src[i].n_regs != 1 || op->src[i].kind == SRC_SPECIAL) return false;
        if (op->in[i] && op->in[i]->mods && !(inst->row->flags & ISA_PACKED)) return false;
    }
    return true;
}

static bool valu_operands(struct op *op)
{
    const struct isa_row *row = op->inst.row;
    for (unsigned i = 0; i < 3; i++) {
        op->in[i] = op_find(&op->inst, ISA_OP_SRC0 + i);
        if (!op->in[i]) continue;
        if (op->in[i]->type == ISA_MASK) {
            op->sdst = 0; /* the mask read is in[2] itself */
            continue;
        }
        if (!valu_source(op, i)) return false;
        op->n_src = (uint8_t)(i + 1);
    }
    if (op->out && op->out->kind == ISA_KIND_VGPR) {
        op->dst = (uint16_t)(op->out->reg - ISA_VGPR0);
        op->n_dst = op->out->n_regs;
    }
    if (row->flags & ISA_ACC && !(row->flags & (ISA_LANE | ISA_INTERP))) {
        op->src[2] = (struct source){ .reg = op->dst, .kind = SRC_VGPR, .n_regs = 1 };
        op->n_src = 3;
    }
    return true;
}

static bool predecode_valu(struct op *op)
{
    const struct isa_row *row = op->inst.row;
    if (!valu_operands(op)) return false;
    op->fn.valu = valu_function(row->id);
    switch (row->id) {
    case ISA_v_nop_VOP1:
    case ISA_v_pipeflush_VOP1:
    case ISA_v_clrexcp_VOP1: op->run = run_nothing; return true;
    case ISA_v_readfirstlane_b32_VOP1:
    case ISA_v_readlane_b32_VOP3: op->run = run_readlane; return true;
    case ISA_v_writelane_b32_VOP3: op->run = run_writelane; return true;
    case ISA_v_movreld_b32_VOP1:
    case ISA_v_movrels_b32_VOP1:
    case ISA_v_movrelsd_b32_VOP1:
    case ISA_v_movrelsd_2_b32_VOP1: op->run = run_movrel; return true;
    case ISA_v_swap_b32_VOP1:
    case ISA_v_swaprel_b32_VOP1: op->run = run_swap; return true;
    default: break;
    }
    if (!op->fn.valu) return true; /* illegal */
    if (is_half(row)) op->flags |= OP_HALF;
    if (row->flags & ISA_PERMLANE) op->flags |= OP_CROSS | OP_OLD_DST;
    if (row->flags & ISA_PARTIAL) op->flags |= OP_OLD_DST;
    enum valu_kind kind = valu_result_of(row->id);
    bool is_float = kind == VALU_F16 || kind == VALU_F32 || kind == VALU_F64;
    if (is_float && (op->inst.clamp || op->inst.omod) && !(row->flags & ISA_PACKED))
        op->flags |= OP_MODIFY;
    if (row->flags & ISA_CMPX) op->flags |= OP_CMPX;
    const struct isa_operand *mask = op->out2;
    if (op->out && op->out->type == ISA_MASK) mask = op->out;
    if (mask && mask->kind != ISA_KIND_REG) return true; /* illegal: a result in execz, say */
    if (mask) {
        op->flags |= OP_MASK_OUT;
        op->sdst = mask->reg;
    }
    if (op->in[2] && op->in[2]->type == ISA_MASK) op->flags |= OP_VCC_IN;
    if (row->implicit & ISA_R_VCC) op->flags |= OP_VCC_IN;
    op->mask_in = ISA_VCC_LO;
    bool mask_is_register = true;
    if (op->in[2] && op->in[2]->type == ISA_MASK) {
        mask_is_register = op->in[2]->kind == ISA_KIND_REG;
        op->mask_in = op->in[2]->reg;
    }
    const bool plain = has_plain_form(op) && mask_is_register;
    const bool masks = op->flags & (OP_MASK_OUT | OP_VCC_IN);
    op->run = !plain ? run_valu : masks ? run_valu_mask : op->n_dst ? run_valu_plain : run_valu;
    if (row->id == ISA_v_mov_b32_VOP1 || row->id == ISA_v_cndmask_b32_VOP2) op->flags |= OP_COPIES;
    return true;
}

static void predecode_salu(struct op *op)
{
    const struct isa_row *row = op->inst.row;
    op->in[0] = op_find(&op->inst, ISA_OP_SRC0);
    op->in[1] = op_find(&op->inst, ISA_OP_SRC1);
    if (op->out && op->out->kind == ISA_KIND_REG) {
        op->dst = op->out->reg;
        op->n_dst = op->out->n_regs;
    }
    op->fn.salu = salu_function(row->id);
    op_fn *own = salu_handler(row->id);
    if (own)
        op->run = own;
    else if (row->flags & ISA_BRANCH)
        op->run = run_branch;
    else if (!op->fn.salu)
        return;
    else if (row->encoding == ISA_SOPC)
        op->run = run_salu_compare;
    else if (row->encoding == ISA_SOPK)
        op->run = run_salu_k;
    else
        op->run = run_salu;
    static const uint16_t logic[] = {
        ISA_s_and_b32_SOP2,     ISA_s_and_b64_SOP2,     ISA_s_or_b32_SOP2,    ISA_s_or_b64_SOP2,
        ISA_s_xor_b32_SOP2,     ISA_s_xor_b64_SOP2,     ISA_s_andn2_b32_SOP2, ISA_s_andn2_b64_SOP2,
        ISA_s_orn2_b32_SOP2,    ISA_s_orn2_b64_SOP2,    ISA_s_nand_b32_SOP2,  ISA_s_nand_b64_SOP2,
        ISA_s_nor_b32_SOP2,     ISA_s_nor_b64_SOP2,     ISA_s_xnor_b32_SOP2,  ISA_s_xnor_b64_SOP2,
        ISA_s_mov_b32_SOP1,     ISA_s_mov_b64_SOP1,     ISA_s_not_b32_SOP1,   ISA_s_not_b64_SOP1,
        ISA_s_cselect_b32_SOP2, ISA_s_cselect_b64_SOP2,
    };
    for (size_t i = 0; i < sizeof logic / sizeof *logic; i++)
        if (logic[i] == row->id) op->flags |= OP_LOGIC;
}

/* How wide an access is and which part of the register it takes, by its name. */
static void predecode_width(struct op *op)
{
    static const struct {
        const char *part;
        uint8_t width;
        bool is_signed;
    } table[] = {
        { "_ubyte", 1, false },     { "_sbyte", 1, true },    { "_byte", 1, false },
        { "_ushort", 2, false },    { "_sshort", 2, true },   { "_short", 2, false },
        { "_dwordx16", 64, false }, { "_dwordx2", 8, false }, { "_dwordx3", 12, false },
        { "_dwordx4", 16, false },  { "_dword", 4, false },   { "_x2", 8, false },
        { "_i8", 1, true },         { "_u8", 1, false },      { "_b8", 1, false },
        { "_i16", 2, true },        { "_u16", 2, false },     { "_b16", 2, false },
        { "_b96", 12, false },      { "_b128", 16, false },   { "_b64", 8, false },
        { "_i64", 8, false },       { "_u64", 8, false },     { "_f64", 8, false },
    };
    const char *name = op->inst.row->name;
    op->width = 4;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (!strstr(name, table[i].part)) continue;
        op->width = table[i].width;
        op->is_signed = table[i].is_signed;
        break;
    }
    if (strstr(name, "_d16")) op->half = strstr(name, "_d16_hi") ? 2 : 1;
    const char *typed = strstr(name, "_format_");
    if (typed) {
        const char *components = strrchr(name, '_') + 1;
        op->n_typed = (uint8_t)strlen(components); /* "x" to "xyzw" */
    }
}

/* Byte offsets of the one or two places in LDS that an instruction names. */
static void predecode_places(struct op *op)
{
    const struct isa_inst *inst = &op->inst;
    const bool two = inst->row->flags & ISA_TWO_DATA;
    const unsigned unit = !two ? 1 : op->width * (strstr(inst->row->name, "st64") ? 64u : 1u);
    op->n_places = two ? 2 : 1;
    op->offset[0] = (uint32_t)inst->imm * unit;
    op->offset[1] = inst->offset1 * unit;
}

static void predecode_memory(struct op *op)
{
    const struct isa_inst *inst = &op->inst;
    const struct isa_row *row = inst->row;
    uint64_t kind = row->flags & (ISA_LOAD | ISA_STORE);
    op->flags |= OP_MEMORY;
    predecode_width(op);
    predecode_places(op);
    if (op->out && (op->out->kind == ISA_KIND_VGPR || op->out->kind == ISA_KIND_REG)) {
        op->dst = (uint16_t)(op->out->reg - (op->out->kind == ISA_KIND_VGPR ? ISA_VGPR0 : 0));
        op->n_dst = op->out->n_regs;
    }
    op->address = op_find(inst, ISA_OP_ADDR);
    op->data = op_find(inst, ISA_OP_DATA);
    op->data1 = op_find(inst, ISA_OP_DATA1);
    op->base =
        op_find(inst, row->encoding == ISA_MUBUF || row->encoding == ISA_MTBUF ? ISA_OP_RSRC
                                                                               : ISA_OP_SADDR);
    op->soffset = op_find(inst, ISA_OP_SOFF);
    if (row->flags & ISA_ATOMIC) op->atomic = (uint8_t)atomic_of(row);
    if (row->id == ISA_s_atc_probe_SMEM || row->id == ISA_s_atc_probe_buffer_SMEM) return;
    if (row->flags & ISA_SCALAR_MEM) {
        op->run = op->atomic                ? run_smem_atomic
                  : row->flags & ISA_ATOMIC ? NULL
                  : kind && row->src[0]     ? run_smem
                                            : run_smem_other;
    } else if (row->flags & ISA_IS_DS) {
        if (inst->gds || row->flags & (ISA_GDS_ONLY | ISA_SRC2)) return;
        if (row->id == ISA_ds_append_DS || row->id == ISA_ds_consume_DS)
            op->run = run_ds_append;
        else if (row->flags & ISA_ATOMIC)
            op->run = op->atomic ? run_ds_atomic : NULL;
        else if (kind == ISA_LOAD)
            op->run = run_ds_load;
        else if (kind == ISA_STORE)
            op->run = run_ds_store;
        else
            op->run = row->id == ISA_ds_nop_DS ? run_nothing : run_ds_lanes;
    } else if (row->flags & ISA_VMEM && !(row->flags & ISA_IMAGE)) {
        if (inst->lds || inst->tfe || (op->n_typed && strstr(row->name, "_d16"))) return;
        if (row->flags & ISA_CACHE)
            op->run = run_nothing;
        else if (row->flags & ISA_ATOMIC)
            op->run = op->atomic ? run_vmem_atomic : NULL;
        else
            op->run = kind == ISA_LOAD ? run_vmem_load : run_vmem_store;
    }
}

static enum sim_class class_of(const struct isa_row *row)
{
    if (row->flags & ISA_SCALAR_MEM) return SIM_CLASS_SMEM;
    if (row->flags & ISA_SALU) {
        if (row->flags & (ISA_BRANCH | ISA_JUMP)) return SIM_CLASS_BRANCH;
        if (row->encoding == ISA_SOPP || row->flags & ISA_WAIT) return SIM_CLASS_WAIT;
        return SIM_CLASS_SALU;
    }
    if (row->flags & ISA_IS_DS)
        return !(row->flags & (ISA_LOAD | ISA_STORE)) || row->flags & ISA_ATOMIC
                   ? SIM_CLASS_DS_OTHER
               : row->flags & ISA_LOAD ? SIM_CLASS_DS_LOAD
                                       : SIM_CLASS_DS_STORE;
    if (row->flags & ISA_CACHE) return SIM_CLASS_WAIT;
    if (row->flags & ISA_VMEM)
        return row->flags & ISA_ATOMIC ? SIM_CLASS_VMEM_ATOMIC
               : row->flags & ISA_LOAD ? SIM_CLASS_VMEM_LOAD
                                       : SIM_CLASS_VMEM_STORE;
    switch (row->id) {
    case ISA_v_fma_f32_VOP3:
    case ISA_v_fmac_f32_VOP2:
    case ISA_v_fmamk_f32_VOP2:
    case ISA_v_fmaak_f32_VOP2:
    case ISA_v_mad_f32_VOP3:
    case ISA_v_mac_f32_VOP2:
    case ISA_v_madmk_f32_VOP2:
    case ISA_v_madak_f32_VOP2:
    case ISA_v_fma_mix_f32_VOP3P: return SIM_CLASS_FMA;
    case ISA_v_pk_fma_f16_VOP3P:
    case ISA_v_pk_fmac_f16_VOP2:
    case ISA_v_dot2_f32_f16_VOP3P:
    case ISA_v_dot2c_f32_f16_VOP2: return SIM_CLASS_PKFMA;
    default: break;
    }
    if (row->flags & ISA_TRANS) return SIM_CLASS_TRANS;
    return row->flags & ISA_F64_RATE ? SIM_CLASS_F64 : SIM_CLASS_VALU;
}

bool predecode(struct op *op)
{
    const struct isa_row *row = op->inst.row;
    op->bytes = (uint8_t)(4 * op->inst.n_words);
    op->out = op_find(&op->inst, ISA_OP_DST);
    op->out2 = op_find(&op->inst, ISA_OP_SDST);
    op->klass = (uint8_t)class_of(row);
    isa_uses(&op->inst, &op->uses);
    for (unsigned i = 0; i < 4; i++)
        op->vgpr_used[i] = op->uses.vgpr_read[i] | op->uses.vgpr_write[i];
    for (unsigned i = 0; i < 2; i++)
        op->sgpr_used[i] = op->uses.sgpr_read[i] | op->uses.sgpr_write[i];
    if (row->flags & ISA_VALU) {
        if (!predecode_valu(op)) return false;
    } else if (row->flags & ISA_SALU) {
        predecode_salu(op);
    } else {
        predecode_memory(op);
    }
    if (row->flags & ISA_INDEXED) op->flags |= OP_INDEXED;
    if (!op->run || !isa_is_legal(&op->inst)) op->run = run_illegal;
    op->kill = (uint8_t)isa_rules_kills(&op->inst);
    op->raise = (uint8_t)isa_rules_raises(&op->inst, &op->uses);
    op->single = (uint8_t)isa_rules_single(&op->inst, false);
    op->watch = (uint8_t)patterns_watched(op);
    return true;
}
