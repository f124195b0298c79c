/* undefined.c: follows values that nothing has written, in registers and (local.c) in LDS.
 *
 * Compilers copy and compute with undefined values freely, so that alone is no finding. It becomes
 * one when the value reaches an address, a jump, EXEC, a branch, a scalar comparison, or memory
 * other than scratch and LDS. VGPRs are followed by lane, SGPRs by bit (bitwise instructions on
 * lane masks keep garbage only in lanes that are off). */
#include "sim/check/check.h"
#include "sim/math/dpp.h"
#include "sim/state/registers.h"

/* The finding: a register that nothing wrote, or what was read from LDS where nothing wrote. */
static void tell(struct wave *w, const struct op *op, uint64_t lanes, const struct origin *from,
                 char file, unsigned reg, const char *where)
{
    struct finding f = { .kind = SIM_UNDEFINED, .rule = -1, .lanes = lanes };
    if (from) {
        f.cause = from->instruction;
        f.data_address = from->address;
        if (!from->stored) f.kind = SIM_UNDEFINED_LDS;
    }
    if (!from)
        report(w, op, &f, "%c%u was never written and reaches %s", file, reg, where);
    else if (from->stored)
        report(w, op, &f, "%c%u was never written and reaches %s, by way of LDS at %u", file, reg,
               where, from->address);
    else
        report(w, op, &f,
               "%u bytes read at %u of LDS, which this workgroup has not written; %c%u, made of "
               "them, reaches %s",
               from->bytes, from->address, file, reg, where);
}

/* Where the undefined part of a result comes from, if that was LDS. */
static bool source_origin(const struct wave *w, const struct op *op, struct origin *out)
{
    const struct isa_operand *in[4] = { op->in[0], op->in[1], op->in[2], op->out };
    const struct isa_row *row = op->inst.row;
    const struct origin *from = NULL;
    for (unsigned i = 0; i < (row->flags & ISA_ACC ? 4 : 3) && !from; i++) {
        const bool vector = in[i] && in[i]->kind == ISA_KIND_VGPR;
        if (!in[i] || !(vector || (in[i]->kind == ISA_KIND_REG && in[i]->reg != ISA_NULL)))
            continue;
        const unsigned first = in[i]->reg - (vector ? (unsigned)ISA_VGPR0 : 0);
        const bool pair = in[i]->type == ISA_MASK && w->n_lanes == 64;
        for (unsigned k = 0; k < (pair ? 2 : in[i]->n_regs) && !from; k++) {
            const unsigned r = first + k;
            if (r >= (vector ? 256u : 128u)) break;
            if (vector ? w->vgpr_defined[r] != w->full : w->sgpr_defined[r] != UINT32_MAX)
                from = origin_of(w, vector ? ORIGIN_VGPR + r : r);
        }
    }
    if (!from && row->implicit & ISA_R_VCC) from = origin_of(w, ISA_VCC_LO);
    if (from) *out = *from;
    return from;
}

static void undefined(struct wave *w, const struct op *op, uint64_t lanes, char file, unsigned reg,
                      const char *where)
{
    tell(w, op, lanes, origin_of(w, reg + (file == 'v' ? ORIGIN_VGPR : 0)), file, reg, where);
    /* Once is enough: not what follows from it. */
    if (file == 'v')
        define_vgprs(w, reg, 1, w->full);
    else
        define_sgprs(w, reg, 1);
}

/* ---- scalar ---- */

/* The defined bits of a scalar operand; constants are all defined. */
static uint64_t scalar_defined(const struct wave *w, const struct isa_operand *op)
{
    if (!op || op->kind != ISA_KIND_REG || op->reg == ISA_NULL) return ~UINT64_C(0);
    uint64_t bits = w->sgpr_defined[op->reg];
    if (op->n_regs < 2) return bits | UINT64_C(0xffffffff) << 32;
    return bits | (uint64_t)w->sgpr_defined[op->reg + 1] << 32;
}

/* Report the registers of an operand that are not defined. */
static void need_scalar(struct wave *w, const struct op *op, const struct isa_operand *operand,
                        const char *where)
{
    if (!operand || operand->kind != ISA_KIND_REG || operand->reg == ISA_NULL) return;
    for (unsigned s = operand->reg; s < operand->reg + operand->n_regs && s < 128u; s++)
        if (w->sgpr_defined[s] != UINT32_MAX) undefined(w, op, 0, 's', s, where);
}

static uint64_t logic_defined(const struct wave *w, const struct op *op)
{
    uint64_t da = scalar_defined(w, op->in[0]), db = scalar_defined(w, op->in[1]);
    uint64_t a = op->in[0] ? scalar_read(w, op->in[0]) : 0;
    uint64_t b = op->in[1] ? scalar_read(w, op->in[1]) : 0;
    switch (op->inst.row->does) {
    case ISA_DOES_SELECT: return w->scc ? da : db;
    case ISA_DOES_ANDN2: return (da & db) | (da & ~a) | (db & b);
    case ISA_DOES_ORN2: return (da & db) | (da & a) | (db & ~b);
    case ISA_DOES_AND:
    case ISA_DOES_NAND: return (da & db) | (da & ~a) | (db & ~b);
    case ISA_DOES_OR:
    case ISA_DOES_NOR: return (da & db) | (da & a) | (db & b);
    default: return da & db;
    }
}

static void set_scalar(struct wave *w, const struct op *op, const struct isa_operand *to,
                       uint64_t bits)
{
    struct origin origin;
    if (!to || to->kind != ISA_KIND_REG || to->reg == ISA_NULL) return;
    const bool from = bits != ~UINT64_C(0) && source_origin(w, op, &origin);
    for (unsigned k = 0; k < to->n_regs && to->reg + k < 128u; k++) {
        uint32_t part = (uint32_t)(k < 2 ? bits >> 32 * k : bits ? UINT32_MAX : 0);
        unsigned s = to->reg + k;
        if (part != UINT32_MAX) origin_set(w, s, from ? &origin : NULL);
        bool exec = s >= ISA_EXEC_LO && (s == ISA_EXEC_LO || w->n_lanes == 64);
        if (exec && part != UINT32_MAX) {
            undefined(w, op, ~part, 's', s, "EXEC");
            part = UINT32_MAX;
        }
        set_sgpr_defined(w, s, part);
    }
}

static void salu(struct wave *w, const struct op *op)
{
    const struct isa_row *row = op->inst.row;
    if (row->flags & ISA_JUMP) need_scalar(w, op, op->in[0], "the program counter");
    if (row->flags & ISA_BRANCH) {
        /* A defined 1 decides. */
        uint64_t vcc = mask_read(w, ISA_VCC_LO), known = w->sgpr_defined[ISA_VCC_LO];
        if (w->n_lanes == 64) known |= (uint64_t)w->sgpr_defined[ISA_VCC_HI] << 32;
        if (row->implicit & ISA_R_VCCZ && !(vcc & known) && ~known & w->full)
            undefined(w, op, ~known & w->full, 's', ISA_VCC_LO, "a branch");
        return;
    }
    if (row->flags & ISA_CMP) {
        need_scalar(w, op, op->in[0], "a comparison");
        need_scalar(w, op, op->in[1], "a comparison");
        if (row->encoding == ISA_SOPK) need_scalar(w, op, op->out, "a comparison");
        return;
    }
    if (op->flags & OP_INDEXED && w->sgpr_defined[ISA_M0] != UINT32_MAX)
        undefined(w, op, 0, 's', ISA_M0, "a register number");
    if (row->implicit & ISA_W_EXEC) {
        /* s_and_saveexec and its kin: garbage in lanes that are off does not matter to AND. */
        uint64_t known = scalar_defined(w, op->in[0]), exec = w->exec;
        bool masks = row->does == ISA_DOES_AND || row->does == ISA_DOES_ANDN1;
        uint64_t bad = ~known & (masks ? exec : w->full);
        if (op->in[0] && op->in[0]->kind == ISA_KIND_REG && bad)
            undefined(w, op, bad, 's', op->in[0]->reg, "EXEC");
        set_scalar(w, op, op->out, ~UINT64_C(0));
        return;
    }
    uint64_t bits = ~UINT64_C(0);
    if (row->does != ISA_DOES_NONE) {
        bits = logic_defined(w, op);
    } else {
        const uint64_t a = scalar_defined(w, op->in[0]), b = scalar_defined(w, op->in[1]);
        if ((a & b) != ~UINT64_C(0)) bits = partial_scalar(w, op, a, b);
        if (op->out && op->out->access & ISA_READ && scalar_defined(w, op->out) != ~UINT64_C(0))
            bits = 0;
    }
    if (op->out && op->out->access & ISA_WRITE) set_scalar(w, op, op->out, bits);
}

/* ---- vector ---- */

/* Lanes in which the first `n` words of an operand are defined. */
static uint64_t words_defined(const struct wave *w, const struct isa_operand *in, unsigned n)
{
    uint64_t lanes = w->full;
    if (in->kind == ISA_KIND_REG) {
        for (unsigned k = 0, s = in->reg; k < in->n_regs && k < n && s < 128u; k++, s++)
            if (w->sgpr_defined[s] != UINT32_MAX && s != ISA_NULL) lanes = 0;
    } else if (in->kind == ISA_KIND_VGPR) {
        unsigned v = in->reg - (unsigned)ISA_VGPR0;
        for (unsigned k = 0; k < in->n_regs && k < n && v + k < 256; k++)
            lanes &= w->vgpr_defined[v + k];
    }
    return lanes;
}

static uint64_t vector_defined(const struct wave *w, const struct isa_operand *in)
{
    return words_defined(w, in, 16);
}

static uint64_t mask_defined(const struct wave *w, unsigned reg)
{
    if (reg >= 128) return ~UINT64_C(0); /* a constant, execz and its like */
    uint64_t bits = w->sgpr_defined[reg];
    return w->n_lanes == 64 && reg + 1 < 128 ? bits | (uint64_t)w->sgpr_defined[reg + 1] << 32
                                             : bits;
}

/* Lanes whose result does not depend on anything undefined. */
static uint64_t result_defined(const struct wave *w, const struct op *op)
{
    const struct isa_inst *inst = &op->inst;
    uint64_t lanes = w->full;
    bool dpp = inst->form == ISA_FORM_DPP16 || inst->form == ISA_FORM_DPP8;
    if (inst->id == ISA_v_cndmask_b32_VOP2 && inst->form != ISA_FORM_SDWA && !dpp) {
        uint64_t mask = scalar_read(w, op->in[2]), known = mask_defined(w, op->in[2]->reg);
        uint64_t d0 = vector_defined(w, op->in[0]), d1 = vector_defined(w, op->in[1]);
        return (((mask & d1) | (~mask & d0)) & known) & w->full;
    }
    for (unsigned i = 0; i < 3; i++) {
        if (!op->in[i]) continue;
        if (op->in[i]->type == ISA_MASK)
            lanes &= mask_defined(w, op->in[i]->reg);
        else
            lanes &= i == 0 && dpp
                         ? dpp_mask(inst, w->exec, w->n_lanes, vector_defined(w, op->in[0]))
                         : vector_defined(w, op->in[i]);
    }
    if (inst->row->implicit & ISA_R_VCC) lanes &= mask_defined(w, ISA_VCC_LO);
    if (inst->row->flags & ISA_ACC && op->out) lanes &= vector_defined(w, op->out);
    return lanes;
}

/* Lanes in which one word of an operand of two is defined. */
static uint64_t word_defined(const struct wave *w, const struct isa_operand *in, unsigned word)
{
    if (in->kind == ISA_KIND_VGPR && in->n_regs > 1)
        return w->vgpr_defined[(in->reg - (unsigned)ISA_VGPR0 + word) & 255];
    return vector_defined(w, in);
}

/* One word of a shift of 64 bits: by 32 or more, each word comes from one of the source. */
static uint64_t shift_defined(const struct wave *w, const struct op *op, unsigned word,
                              uint64_t all)
{
    const bool left = op->inst.id == ISA_v_lshlrev_b64_VOP3;
    const uint64_t amount = vector_defined(w, op->in[0]);
    const unsigned outer = left ? 0 : 1; /* the word that nothing is shifted into */
    const bool known = op->in[0]->kind != ISA_KIND_VGPR && amount == w->full;
    const bool far = known && scalar_read(w, op->in[0]) & 32;
    if (!far) return word == outer ? amount & word_defined(w, op->in[1], outer) : all;
    if (word != outer) return word_defined(w, op->in[1], outer);
    return op->inst.id == ISA_v_ashrrev_i64_VOP3 ? word_defined(w, op->in[1], 1) : w->full;
}

/* Compilers leave one half undefined where only the other half of a sum or shift is used. */
static uint64_t result_word_defined(const struct wave *w, const struct op *op, unsigned word,
                                    uint64_t all)
{
    switch (op->inst.id) {
    case ISA_v_mad_u64_u32_VOP3:
    case ISA_v_mad_i64_i32_VOP3:
        return word ? all
                    : vector_defined(w, op->in[0]) & vector_defined(w, op->in[1]) &
                          words_defined(w, op->in[2], 1);
    case ISA_v_lshlrev_b64_VOP3:
    case ISA_v_lshrrev_b64_VOP3:
    case ISA_v_ashrrev_i64_VOP3: return shift_defined(w, op, word, all);
    default: return all;
    }
}

/* Unoptimised code saves SGPRs in lanes of a VGPR, lane masks that are written in part among them.
 */
static void lane_instruction(struct wave *w, const struct op *op)
{
    unsigned lane = w->exec ? (unsigned)__builtin_ctzll(w->exec) : 0;
    if (op->in[1]) {
        need_scalar(w, op, op->in[1], "a lane number");
        lane = (unsigned)scalar_read(w, op->in[1]) & (w->n_lanes - 1);
    }
    uint64_t one = UINT64_C(1) << lane;
    if (op->out->kind == ISA_KIND_VGPR) { /* v_writelane */
        uint64_t old = w->vgpr_defined[op->dst];
        const uint32_t bits = (uint32_t)scalar_defined(w, op->in[0]);
        struct origin origin;
        if (bits != UINT32_MAX)
            origin_set(w, ORIGIN_VGPR + op->dst, source_origin(w, op, &origin) ? &origin : NULL);
        set_vgpr_defined(w, op->dst, bits == UINT32_MAX ? old | one : old & ~one);
        partial_set(w, op->dst, lane, bits);
    } else {
        const bool vector = op->in[0]->kind == ISA_KIND_VGPR;
        uint64_t bits = vector_defined(w, op->in[0]) & one ? ~UINT64_C(0) : 0;
        if (vector) bits = vgpr_bits(w, op->in[0]->reg - (unsigned)ISA_VGPR0, lane);
        set_scalar(w, op, op->out, bits);
    }
}

static void valu(struct wave *w, const struct op *op)
{
    const struct isa_row *row = op->inst.row;
    if (row->flags & ISA_LANE) {
        lane_instruction(w, op);
        return;
    }
    if (op->flags & OP_INDEXED) { /* which registers these are is seen when it runs */
        if (w->sgpr_defined[ISA_M0] != UINT32_MAX)
            undefined(w, op, 0, 's', ISA_M0, "a register number");
        return;
    }
    if (row->id == ISA_v_swap_b32_VOP1) {
        unsigned a = op->src[0].reg, b = op->dst;
        uint64_t da = w->vgpr_defined[a], db = w->vgpr_defined[b];
        set_vgpr_defined(w, a, (da & ~w->exec) | (db & w->exec));
        set_vgpr_defined(w, b, (db & ~w->exec) | (da & w->exec));
        w->vgpr_partial[a] = w->vgpr_partial[b] = 0;
        return;
    }
    uint64_t good = row->flags & ISA_PERMLANE ? w->full : result_defined(w, op);
    if (w->exec & ~good) good |= partial_result(w, op, w->exec & ~good);
    struct origin origin;
    const bool gaps = w->exec & ~good, from = gaps && source_origin(w, op, &origin);
    if (op->flags & OP_CMPX && gaps) {
        struct finding f = { .kind = SIM_UNDEFINED, .rule = -1, .lanes = w->exec & ~good };
        if (from)
            tell(w, op, f.lanes, &origin, 's', ISA_EXEC_LO, "EXEC");
        else
            report(w, op, &f, "a register that was never written reaches EXEC");
    }
    if (op->out && op->out->kind == ISA_KIND_VGPR) {
        uint64_t now[4]; /* all of them first: the result may be a source */
        for (unsigned k = 0; k < op->n_dst; k++) now[k & 3] = result_word_defined(w, op, k, good);
        for (unsigned k = 0; k < op->n_dst && op->dst + k < 256u; k++) {
            uint64_t old = w->vgpr_defined[op->dst + k];
            set_vgpr_defined(w, op->dst + k, (old & ~w->exec) | (now[k & 3] & w->exec));
            if (gaps) origin_set(w, ORIGIN_VGPR + op->dst + k, from ? &origin : NULL);
        }
    }
    if (op->flags & OP_MASK_OUT) {
        uint64_t bits = ~w->exec | good; /* lanes that are off give 0 */
        unsigned n = w->n_lanes == 64 ? 2 : 1;
        for (unsigned k = 0; k < n && op->sdst != ISA_NULL; k++) {
            uint32_t part = (uint32_t)(bits >> 32 * k);
            if (part != UINT32_MAX) origin_set(w, op->sdst + k, from ? &origin : NULL);
            if (op->sdst + k >= ISA_EXEC_LO && part != UINT32_MAX) {
                undefined(w, op, ~bits, 's', op->sdst + k, "EXEC");
                part = UINT32_MAX;
            }
            set_sgpr_defined(w, op->sdst + k, part);
        }
    }
}

/* ---- memory ---- */

void undefined_vgpr(struct wave *w, const struct op *op, unsigned v, uint64_t lanes, uint32_t bits,
                    const char *where)
{
    uint64_t bad = lanes & ~w->vgpr_defined[v];
    for (uint64_t rest = bad & w->vgpr_partial[v]; rest; rest &= rest - 1)
        if (!(bits & ~vgpr_bits(w, v, (unsigned)__builtin_ctzll(rest)))) bad &= ~(rest & -rest);
    if (bad) undefined(w, op, bad, 'v', v, where);
}

/* `bits` are those of each register that matter, in `lanes`. */
static void need_lanes(struct wave *w, const struct op *op, const struct isa_operand *in,
                       uint64_t lanes, uint32_t bits, const char *where)
{
    if (!in || in->kind != ISA_KIND_VGPR) return;
    unsigned v = in->reg - (unsigned)ISA_VGPR0;
    for (unsigned k = 0; k < in->n_regs && v + k < 256; k++)
        undefined_vgpr(w, op, v + k, lanes, bits, where);
}

static void need_vector(struct wave *w, const struct op *op, const struct isa_operand *in,
                        uint32_t bits, const char *where)
{
    need_lanes(w, op, in, w->exec, bits, where);
}

/* Compilers save whole registers in scratch, defined or not. */
static bool is_scratch(const struct wave *w, const struct op *op)
{
    const struct isa_row *row = op->inst.row;
    if (row->encoding == ISA_SCRATCH) return true;
    return row->encoding == ISA_MUBUF && op->base->reg + 3u < 128 &&
           w->sgpr[op->base->reg + 3] >> 23 & 1;
}

/* What goes to LDS is followed there; FLAT may go there by lane. */
static uint64_t lanes_to_memory(const struct wave *w, const struct op *op)
{
    const struct isa_row *row = op->inst.row;
    const uint64_t base = w->core->sim->options.shared_base;
    uint64_t lanes = w->exec;
    if (row->flags & ISA_IS_DS) return 0;
    if (row->encoding != ISA_FLAT || row->flags & ISA_ATOMIC) return lanes;
    const uint32_t *high = vgpr_row(w, op->address->reg - ISA_VGPR0 + 1u);
    for (unsigned i = 0; i < w->n_lanes; i++)
        if (high[i] == base >> 32) lanes &= ~(UINT64_C(1) << i);
    return lanes;
}

/* Images may have each coordinate in a register of its own. With halves of registers, the last may
 * have one that is not used. */
static void image(struct wave *w, const struct op *op)
{
    const uint32_t bits = op->inst.a16 ? 0xffff : UINT32_MAX;
    for (unsigned i = 0; i < op->inst.n_operands; i++)
        if (op->inst.op[i].role == ISA_OP_ADDR)
            need_vector(w, op, &op->inst.op[i], bits, "an address");
    need_scalar(w, op, op->sampler, "an address");
}

static void memory(struct wave *w, const struct op *op)
{
    const struct isa_row *row = op->inst.row;
    if (row->flags & ISA_IMAGE)
        image(w, op);
    else if (row->id != ISA_ds_swizzle_b32_DS) /* has its data there */
        need_vector(w, op, op->address, UINT32_MAX, "an address");
    need_scalar(w, op, op->base, "an address");
    need_scalar(w, op, op->soffset, "an address");
    /* Stores to images see to their data: which of it is stored is in the descriptor. */
    if (row->flags & ISA_STORE && !is_scratch(w, op) &&
        (row->flags & (ISA_IMAGE | ISA_ATOMIC)) != ISA_IMAGE) {
        const uint32_t bits = op->width == 1 ? 0xff : op->width == 2 ? 0xffff : UINT32_MAX;
        const uint64_t lanes = lanes_to_memory(w, op);
        need_lanes(w, op, op->data, lanes, op->half == 2 ? bits << 16 : bits, "memory");
        need_lanes(w, op, op->data1, lanes, bits, "memory");
        if (row->flags & ISA_SCALAR_MEM) need_scalar(w, op, op->out, "memory");
    }
    const struct isa_operand *to = op->out ? op->out : op->data;
    /* LDS knows what of its values was written, and sees to the results. */
    if (!to || !(to->access & ISA_WRITE) || row->flags & ISA_IS_DS) return;
    if (to->kind == ISA_KIND_VGPR)
        define_vgprs(w, to->reg - (unsigned)ISA_VGPR0, to->n_regs, w->exec);
    else if (to->kind == ISA_KIND_REG)
        define_sgprs(w, to->reg, to->n_regs);
}

void undefined_before(struct wave *w, const struct op *op)
{
    if (op->flags & OP_MEMORY)
        memory(w, op);
    else if (op->inst.row->flags & ISA_SALU)
        salu(w, op);
    else
        valu(w, op);
}
