/* valu_run.c: operands of vector ALU instructions fetched, their results written back. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/exec/exec.h"
#include "sim/math/dpp.h"
#include "sim/state/registers.h"

/* ---- rows ---- */

static void broadcast(uint32_t *restrict row, uint32_t value, unsigned n)
{
    for (unsigned i = 0; i < n; i++) row[i] = value;
}

/* Active lanes of a result into the register. */
static inline void merge(uint32_t *restrict to, const uint32_t *restrict from,
                         const uint32_t *restrict mask, unsigned n)
{
    for (unsigned i = 0; i < n; i++) to[i] = (to[i] & ~mask[i]) | (from[i] & mask[i]);
}

static inline const uint32_t *plain_row(struct wave *w, const struct op *op, unsigned i)
{
    const struct source *s = &op->src[i];
    if (s->kind == SRC_VGPR) return vgpr_row(w, s->reg);
    if (s->kind == SRC_CONSTANT) return constant_row(op, i);
    broadcast(w->core->row[i], w->sgpr[s->reg], w->n_lanes);
    return w->core->row[i];
}

/* What a lane function is given, but for masks and results. */
static inline void plain_args(struct wave *w, const struct op *op, struct valu_args *args)
{
    args->n = w->n_lanes;
    args->exec = w->exec;
    args->mode = w->mode;
    args->inst = &op->inst;
    for (unsigned i = 0; i < op->n_src; i++) args->src[i][0] = plain_row(w, op, i);
}

/* One result register, sources of 32 bits, no modifiers: nearly everything in a hot loop. */
void run_valu_plain(struct wave *w, const struct op *op)
{
    struct valu_args args;
    plain_args(w, op, &args);
    uint32_t *to = vgpr_row(w, op->dst);
    if (w->exec == w->full) {
        args.dst[0] = to;
        op->fn.valu(&args);
    } else {
        args.dst[0] = w->core->result[0];
        op->fn.valu(&args);
        merge(to, w->core->result[0], w->exec_row, w->n_lanes);
    }
}

/* The same with a lane mask that is read, written or both: carries, compares, v_cndmask. */
void run_valu_mask(struct wave *w, const struct op *op)
{
    struct valu_args args;
    plain_args(w, op, &args);
    args.mask_in = op->flags & OP_VCC_IN ? mask_read(w, op->mask_in) : 0;
    const bool whole = w->exec == w->full;
    uint32_t *to = vgpr_row(w, op->dst);
    args.dst[0] = whole && op->n_dst ? to : w->core->result[0];
    op->fn.valu(&args);
    if (op->n_dst && !whole) merge(to, w->core->result[0], w->exec_row, w->n_lanes);
    if (op->flags & OP_MASK_OUT) mask_write(w, op->sdst, args.mask_out & w->exec);
}

/* The same of sources and results of 64 bits: v_mad_u64_u32, shifts, comparisons, doubles. */
void run_valu_wide(struct wave *w, const struct op *op)
{
    struct valu_args args = {
        .n = w->n_lanes, .exec = w->exec, .mode = w->mode, .inst = &op->inst
    };
    struct core *core = w->core;
    const unsigned n = w->n_lanes;
    for (unsigned i = 0; i < op->n_src; i++) {
        const struct source *s = &op->src[i];
        const unsigned words = s->n_regs;
        for (unsigned k = 0; k < words; k++) {
            if (s->kind == SRC_VGPR) {
                args.src[i][k] = vgpr_row(w, s->reg + k);
            } else if (s->kind == SRC_CONSTANT) {
                args.src[i][k] = constant_row(op, i) + (size_t)MAX_LANES * k;
            } else {
                broadcast(core->row[4 * i + k], s->reg == ISA_NULL ? 0 : w->sgpr[s->reg + k], n);
                args.src[i][k] = core->row[4 * i + k];
            }
        }
    }
    if (op->flags & OP_VCC_IN) args.mask_in = mask_read(w, op->mask_in);
    for (unsigned k = 0; k < 2; k++) args.dst[k] = core->result[k];
    op->fn.valu(&args);
    for (unsigned k = 0; k < op->n_dst; k++) {
        uint32_t *to = vgpr_row(w, op->dst + k);
        if (w->exec == w->full)
            memcpy(to, core->result[k], n * sizeof *to);
        else
            merge(to, core->result[k], w->exec_row, n);
    }
    if (op->flags & OP_MASK_OUT) mask_write(w, op->sdst, args.mask_out & w->exec);
}

/* ---- sources with modifiers ---- */

/* A byte (0 to 3) or a half (4, 5) of each word, with its sign or zeros above. */
static void sdwa_select(uint32_t *row, unsigned n, unsigned select, bool sign)
{
    const unsigned down = select < 4 ? 24 : select < 6 ? 16 : 0;
    const unsigned up = select < 4 ? 24 - 8 * select : select == 4 ? 16 : 0;
    if (sign)
        for (unsigned i = 0; i < n; i++) row[i] = (uint32_t)((int32_t)(row[i] << up) >> down);
    else
        for (unsigned i = 0; i < n; i++) row[i] = row[i] << up >> down;
}

/* abs, then neg, of a float; `row` has the word with the sign. */
static void change_sign(uint32_t *row, unsigned n, uint32_t sign, unsigned mods)
{
    const uint32_t kept = mods & ISA_ABS ? ~sign : UINT32_MAX, turned = mods & ISA_NEG ? sign : 0;
    for (unsigned i = 0; i < n; i++) row[i] = (row[i] & kept) ^ turned;
}

static bool has_half_source(const struct op *op, unsigned i)
{
    unsigned type = op->inst.row->src[i];
    return type == ISA_B16 || type == ISA_F16;
}

/* The rows of source i; returns the lanes that DPP leaves a result. */
static uint64_t fetch_source(struct wave *w, const struct op *op, unsigned i,
                             struct valu_args *args)
{
    const struct isa_inst *inst = &op->inst;
    const struct source *s = &op->src[i];
    struct core *core = w->core;
    const unsigned n = w->n_lanes;
    const bool packed = inst->row->flags & ISA_PACKED;
    const unsigned mods = op->in[i] && !packed ? op->in[i]->mods : 0;
    uint32_t *tmp[4] = { core->row[4 * i], core->row[4 * i + 1], core->row[4 * i + 2],
                         core->row[4 * i + 3] };
    uint64_t value = 0, enabled = w->full;
    if (s->kind == SRC_SGPR || s->kind == SRC_SPECIAL) value = scalar_read(w, op->in[i]);
    for (unsigned k = 0; k < s->n_regs && k < 4; k++) {
        if (s->kind == SRC_VGPR) {
            args->src[i][k] = vgpr_row(w, s->reg + k);
        } else if (s->kind == SRC_CONSTANT) {
            args->src[i][k] = constant_row(op, i) + (size_t)MAX_LANES * k;
        } else {
            broadcast(tmp[k], (uint32_t)(value >> 32 * (k & 1)), n);
            args->src[i][k] = tmp[k];
        }
    }
    if (i == 0 && (inst->form == ISA_FORM_DPP16 || inst->form == ISA_FORM_DPP8)) {
        /* Not in place: lanes look at others. */
        enabled = dpp_move(inst, w->exec, n, args->src[0][0], tmp[0]);
        args->src[0][0] = tmp[0];
    }
    bool half = !packed && has_half_source(op, i) && inst->op_sel >> i & 1 &&
                !(inst->row->flags & ISA_PERMLANE);
    bool sdwa = inst->form == ISA_FORM_SDWA && i < 2;
    if (!half && !sdwa && !mods) return enabled;

    unsigned last = s->n_regs == 2;
    if (args->src[i][last] != tmp[last]) {
        memcpy(tmp[last], args->src[i][last], n * sizeof(uint32_t));
        args->src[i][last] = tmp[last];
    }
    if (half)
        for (unsigned lane = 0; lane < n; lane++) tmp[0][lane] >>= 16;
    if (sdwa) {
        const unsigned select = i ? inst->src1_sel : inst->src0_sel;
        sdwa_select(tmp[0], n, select, mods & ISA_SEXT);
    }
    if (mods & (ISA_NEG | ISA_ABS)) {
        enum valu_kind kind = valu_source_of(inst->id, i);
        change_sign(tmp[last], n, kind == VALU_F16 ? 0x8000 : 0x80000000, mods);
    }
    return enabled;
}

/* ---- results ---- */

/* Rows do not overlap: results are computed in rows of their own. */
static void sdwa_write(uint32_t *restrict to, const uint32_t *restrict from,
                       const uint32_t *restrict mask, const struct isa_inst *inst, unsigned n)
{
    const unsigned select = inst->dst_sel;
    const unsigned shift = select < 4 ? 8 * select : select == 5 ? 16 : 0;
    const uint32_t field = select < 4 ? 0xff : select < 6 ? 0xffff : UINT32_MAX;
    const uint32_t there = field << shift;
    /* What the other bits get: the old ones, or those of the sign above and zeros below. */
    const uint32_t old = inst->dst_unused == 2 ? ~there : 0;
    const uint32_t above =
        inst->dst_unused == 1 && field != UINT32_MAX ? ~there & ~((1u << shift) - 1) : 0;
    const uint32_t sign = (field + 1) / 2;
    for (unsigned i = 0; i < n; i++) {
        const uint32_t signs = from[i] & sign ? above : 0;
        const uint32_t value = (from[i] & field) << shift | signs | (to[i] & old);
        to[i] = (to[i] & ~mask[i]) | (value & mask[i]);
    }
}

static void half_write(uint32_t *restrict to, const uint32_t *restrict from,
                       const uint32_t *restrict mask, bool high, unsigned n)
{
    const uint32_t half = high ? 0xffff0000 : 0xffff;
    const unsigned shift = high ? 16 : 0;
    for (unsigned i = 0; i < n; i++) {
        const uint32_t changed = half & mask[i];
        to[i] = (to[i] & ~changed) | (from[i] << shift & changed);
    }
}

static void write_rows(struct wave *w, const struct op *op, struct valu_args *args,
                       uint64_t enabled)
{
    const unsigned n = w->n_lanes;
    const struct isa_inst *inst = &op->inst;
    const uint32_t *mask = w->exec_row;
    _Alignas(64) uint32_t lanes[MAX_LANES];
    if (~enabled & w->exec) {
        for (unsigned i = 0; i < n; i++) lanes[i] = mask[i] & (0u - (uint32_t)(enabled >> i & 1));
        mask = lanes;
    }
    for (unsigned k = 0; k < op->n_dst && k < 4; k++) {
        uint32_t *to = vgpr_row(w, op->dst + k);
        if (inst->form == ISA_FORM_SDWA)
            sdwa_write(to, args->dst[k], mask, inst, n);
        else if (op->flags & OP_HALF)
            half_write(to, args->dst[k], mask, inst->op_sel >> 3 & 1, n);
        else
            merge(to, args->dst[k], mask, n);
    }
}

/* Any vector ALU instruction. */
void run_valu(struct wave *w, const struct op *op)
{
    struct core *core = w->core;
    struct valu_args args = {
        .n = w->n_lanes, .exec = w->exec, .mode = w->mode, .inst = &op->inst
    };
    uint64_t enabled = w->full;
    for (unsigned i = 0; i < op->n_src; i++) enabled &= fetch_source(w, op, i, &args);
    if (op->flags & OP_VCC_IN) {
        const struct isa_operand *in = op->in[2];
        args.mask_in = in && in->type == ISA_MASK ? scalar_read(w, in) : mask_read(w, ISA_VCC_LO);
    }
    for (unsigned k = 0; k < 4; k++) args.dst[k] = core->result[k];
    if (op->flags & OP_OLD_DST)
        memcpy(core->result[0], vgpr_row(w, op->dst), w->n_lanes * sizeof(uint32_t));
    op->fn.valu(&args);
    if (op->flags & OP_MODIFY) valu_modify(valu_result_of(op->inst.id), &args);
    if (op->n_dst) write_rows(w, op, &args, enabled);
    uint64_t mask = args.mask_out & w->exec & enabled;
    if (op->flags & OP_CMPX)
        exec_write(w, mask);
    else if (op->flags & OP_MASK_OUT)
        mask_write(w, op->sdst, mask);
}

/* ---- instructions that need the wave ---- */

/* v_readlane, v_readfirstlane */
void run_readlane(struct wave *w, const struct op *op)
{
    unsigned lane;
    if (op->src[0].kind != SRC_VGPR || !op->out || op->out->kind != ISA_KIND_REG) {
        run_illegal(w, op);
        return;
    }
    if (op->inst.id == ISA_v_readlane_b32_VOP3)
        lane = (unsigned)scalar_read(w, op->in[1]) & (w->n_lanes - 1);
    else
        lane = w->exec ? (unsigned)__builtin_ctzll(w->exec) : 0;
    sgpr_write(w, op->out->reg, vgpr_row(w, op->src[0].reg)[lane]);
}

void run_writelane(struct wave *w, const struct op *op)
{
    if (op->in[0]->kind == ISA_KIND_SPECIAL && op->in[0]->reg == ISA_LDS_DIRECT) {
        run_illegal(w, op);
        return;
    }
    unsigned lane = (unsigned)scalar_read(w, op->in[1]) & (w->n_lanes - 1);
    vgpr_row(w, op->dst)[lane] = (uint32_t)scalar_read(w, op->in[0]);
}

/* Registers moved by M0 must be among those that the kernel has. */
static bool in_range(struct wave *w, const struct op *op, uint64_t v)
{
    if (v < w->n_vgprs) return true;
    struct finding f = { .kind = SIM_BAD_REGISTER, .rule = -1 };
    report(w, op, &f, "M0 is 0x%x: that is v%llu of %u", w->sgpr[ISA_M0], (unsigned long long)v,
           w->n_vgprs);
    return false;
}

static void indexed_registers(const struct wave *w, const struct op *op, uint64_t *from,
                              uint64_t *to)
{
    uint32_t m0 = w->sgpr[ISA_M0];
    *from = op->src[0].reg;
    *to = op->dst;
    switch (op->inst.id) {
    case ISA_v_movreld_b32_VOP1: *to += m0; break;
    case ISA_v_movrels_b32_VOP1: *from += m0; break;
    case ISA_v_movrelsd_b32_VOP1:
        *from += m0;
        *to += m0;
        break;
    default: /* v_movrelsd_2, v_swaprel */
        *from += m0 & 0xff;
        *to += m0 >> 16 & 0x3ff;
        break;
    }
}

void run_movrel(struct wave *w, const struct op *op)
{
    uint64_t from, to;
    const unsigned n = w->n_lanes;
    indexed_registers(w, op, &from, &to);
    if (!in_range(w, op, to)) return;
    if (op->inst.form != ISA_FORM_BASE && op->inst.form != ISA_FORM_E64) {
        /* SDWA and DPP: a v_mov of the registers that are meant. */
        struct op moved = *op;
        if (op->src[0].kind == SRC_VGPR && !in_range(w, op, from)) return;
        if (op->src[0].kind == SRC_VGPR) moved.src[0].reg = (uint16_t)from;
        moved.dst = (uint16_t)to;
        moved.fn.valu = valu_function(ISA_v_mov_b32_VOP1);
        run_valu(w, &moved);
        define_vgprs(w, (unsigned)to, 1, w->exec);
        return;
    }
    const uint32_t *source;
    if (op->src[0].kind == SRC_VGPR) {
        if (!in_range(w, op, from)) return;
        source = vgpr_row(w, (unsigned)from);
    } else {
        broadcast(w->core->row[0], (uint32_t)scalar_read(w, op->in[0]), n);
        source = w->core->row[0];
    }
    memcpy(w->core->result[0], source, n * sizeof(uint32_t));
    merge(vgpr_row(w, (unsigned)to), w->core->result[0], w->exec_row, n);
    define_vgprs(w, (unsigned)to, 1, w->exec);
}

void run_swap(struct wave *w, const struct op *op)
{
    uint64_t a = op->src[0].reg, b = op->dst;
    if (op->inst.id == ISA_v_swaprel_b32_VOP1) indexed_registers(w, op, &a, &b);
    if (!in_range(w, op, a) || !in_range(w, op, b)) return;
    uint32_t *x = vgpr_row(w, (unsigned)a), *y = vgpr_row(w, (unsigned)b);
    for (unsigned i = 0; i < w->n_lanes; i++) {
        uint32_t old = x[i];
        if (!w->exec_row[i]) continue;
        x[i] = y[i];
        y[i] = old;
    }
}
