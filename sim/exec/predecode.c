/* predecode.c: makes an instruction ready to be executed many times. */
#include <stdlib.h>

#include "sim/check/check.h"
#include "sim/exec/exec.h"
#include "sim/memory/memory.h"

const struct isa_operand *op_find(const struct isa_inst *inst, enum isa_role role)
{
    for (unsigned i = 0; i < inst->n_operands; i++)
        if (inst->op[i].role == role) return &inst->op[i];
    return NULL;
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

/* Sources of at most `words` of 32 bits without modifiers, as wide a result: run_valu has nothing
 * to do for it. */
static bool has_plain_form(const struct op *op, unsigned words)
{
    const struct isa_inst *inst = &op->inst;
    const unsigned simple = OP_COPIES | OP_MASK_OUT | OP_VCC_IN;
    if (inst->form == ISA_FORM_SDWA || inst->form == ISA_FORM_DPP16 || inst->form == ISA_FORM_DPP8)
        return false;
    if (op->flags & ~simple || inst->op_sel || op->n_dst > words) return false;
    for (unsigned i = 0; i < op->n_src; i++) {
        if (op->src[i].n_regs > words || op->src[i].kind == SRC_SPECIAL) return false;
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
    if (row->flags & ISA_HALF) op->flags |= OP_HALF;
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
    const bool plain = has_plain_form(op, 1) && mask_is_register;
    const bool masks = op->flags & (OP_MASK_OUT | OP_VCC_IN);
    op->run = !plain ? run_valu : masks ? run_valu_mask : op->n_dst ? run_valu_plain : run_valu;
    if (!plain && has_plain_form(op, 2) && mask_is_register && (masks || op->n_dst))
        op->run = run_valu_wide;
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
}

/* How wide an access is and which part of the register it takes. */
static void predecode_width(struct op *op)
{
    static const struct {
        uint8_t width; /* of a typed access: what bounds are checked with */
        bool is_signed;
        uint8_t n_typed;
    } table[ISA_N_MOVES] = {
        [ISA_MOVES_U8] = { 1, false, 0 },   [ISA_MOVES_I8] = { 1, true, 0 },
        [ISA_MOVES_U16] = { 2, false, 0 },  [ISA_MOVES_I16] = { 2, true, 0 },
        [ISA_MOVES_W1] = { 4, false, 0 },   [ISA_MOVES_W2] = { 8, false, 0 },
        [ISA_MOVES_W3] = { 12, false, 0 },  [ISA_MOVES_W4] = { 16, false, 0 },
        [ISA_MOVES_W8] = { 32, false, 0 },  [ISA_MOVES_W16] = { 64, false, 0 },
        [ISA_MOVES_X] = { 4, false, 1 },    [ISA_MOVES_XY] = { 4, false, 2 },
        [ISA_MOVES_XYZ] = { 4, false, 3 },  [ISA_MOVES_XYZW] = { 4, false, 4 },
        [ISA_MOVES_HX] = { 4, false, 1 },   [ISA_MOVES_HXY] = { 4, false, 2 },
        [ISA_MOVES_HXYZ] = { 4, false, 3 }, [ISA_MOVES_HXYZW] = { 4, false, 4 },
    };
    const struct isa_row *row = op->inst.row;
    op->width = table[row->moves].width;
    op->is_signed = table[row->moves].is_signed;
    op->n_typed = table[row->moves].n_typed;
    if (row->flags & (ISA_D16 | ISA_D16_HI)) op->half = row->flags & ISA_D16_HI ? 2 : 1;
}

/* Byte offsets of the one or two places in LDS that an instruction names. */
static void predecode_places(struct op *op)
{
    const struct isa_inst *inst = &op->inst;
    const bool two = inst->row->flags & ISA_TWO_DATA;
    const unsigned unit = !two ? 1 : op->width * (inst->row->flags & ISA_ST64 ? 64u : 1u);
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
    op->base = op_find(inst, ISA_OP_RSRC);
    if (!op->base) op->base = op_find(inst, ISA_OP_SADDR);
    op->sampler = op_find(inst, ISA_OP_SAMP);
    op->soffset = op_find(inst, ISA_OP_SOFF);
    if (row->flags & ISA_ATOMIC) op->atomic = row->does;
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
    } else if (row->flags & ISA_IMAGE) {
        op->atomic = (uint8_t)image_atomic(row->id);
        op->run = image_function(op);
    } else if (row->flags & ISA_VMEM) {
        if (inst->lds || inst->tfe) return; /* not modelled */
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

/* LLVM takes `null` where the hardware takes a VGPR only. */
static bool lacks_vgpr(const struct op *op)
{
    for (unsigned i = 0; i < 3; i++) {
        const struct isa_operand *in = op->in[i];
        if (in && (in->type == ISA_V32 || in->type == ISA_V128) && in->kind != ISA_KIND_VGPR)
            return true;
    }
    return false;
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
    if (!op->run || !isa_is_legal(&op->inst) || lacks_vgpr(op)) op->run = run_illegal;
    op->kill = (uint8_t)isa_rules_kills(&op->inst);
    op->raise = (uint8_t)isa_rules_raises(&op->inst, &op->uses);
    op->single = (uint8_t)isa_rules_single(&op->inst, false);
    op->watch = (uint8_t)patterns_watched(op);
    return true;
}
