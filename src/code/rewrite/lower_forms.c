/* lower_forms.c: which instructions stand in the place of one that the chip lacks.
 *
 * All forms work on vector registers: other sources are moved into temporaries first. */
#include "code/isa/encode.h"
#include "code/rewrite/lower_parts.h"

enum {
    SDWA_WORD_0 = 4,
    FULL_MASK = 15,
    ZERO = 128,
    MINUS_ONE = 193,
    FIRST_REAL = 240,
    LAST_REAL = 248
};

/* A source, as isa_add wants it. */
struct source {
    unsigned code;
    uint32_t value;
};

static const struct isa_operand *operand(const struct isa_inst *inst, enum isa_role role)
{
    for (unsigned i = 0; i < inst->n_operands; i++)
        if (inst->op[i].role == role) return &inst->op[i];
    return NULL;
}

static struct source source_of(const struct isa_operand *op)
{
    bool literal = op->kind == ISA_KIND_LITERAL;
    return (struct source){ .code = literal ? (unsigned)ISA_LITERAL : op->reg, .value = op->value };
}

static struct source vector(unsigned reg)
{
    return (struct source){ .code = reg };
}

static struct source number(unsigned small) /* 0 to 64 */
{
    return (struct source){ .code = ZERO + small };
}

static unsigned temp(struct lowering *l)
{
    if (l->n_temps == LOWER_MOST_TEMPS) {
        l->why = "too many temporaries";
        return ISA_VGPR0;
    }
    return ISA_VGPR0 + l->temps[l->n_temps++];
}

static struct isa_inst *put(struct lowering *l, unsigned id, unsigned form, unsigned to,
                            const struct source *sources, unsigned n)
{
    if (l->n == LOWER_MOST_CODE) {
        l->why = "too many instructions";
        l->n = 0;
    }
    struct isa_inst *inst = &l->code[l->n++];
    isa_start(inst, id, form);
    isa_add(inst, ISA_OP_DST, to);
    for (unsigned i = 0; i < n; i++) {
        struct isa_operand *op = isa_add(inst, ISA_OP_SRC0 + i, sources[i].code);
        if (op && op->kind == ISA_KIND_LITERAL) op->value = sources[i].value;
    }
    return inst;
}

static struct isa_inst *put3(struct lowering *l, unsigned id, unsigned to, struct source a,
                             struct source b, struct source c)
{
    struct source sources[3] = { a, b, c };
    return put(l, id, ISA_FORM_BASE, to, sources, 3);
}

static void move(struct lowering *l, unsigned to, struct source from)
{
    put(l, ISA_v_mov_b32_VOP1, ISA_FORM_BASE, to, &from, 1);
}

/* The register that has a source of a dot product, moved there when it has to be. A small integer
 * is one of 32 bits in every instruction; a real is a half, with 0 above it, in those on halves,
 * and a single in all others. */
static unsigned in_register(struct lowering *l, const struct isa_operand *op, bool is_float)
{
    static const uint16_t halves[] = { 0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                       0xc000, 0x4400, 0xc400, 0x3118 };
    if (op->kind == ISA_KIND_VGPR) return op->reg;
    if (op->kind != ISA_KIND_REG && op->kind != ISA_KIND_INLINE && op->kind != ISA_KIND_LITERAL)
        l->why = "with a special source";
    struct source from = source_of(op);
    if (is_float && op->kind == ISA_KIND_INLINE && op->reg >= FIRST_REAL && op->reg <= LAST_REAL)
        from =
            (struct source){ .code = (unsigned)ISA_LITERAL, .value = halves[op->reg - FIRST_REAL] };
    unsigned reg = temp(l);
    move(l, reg, from);
    return reg;
}

/* Source 0 as DPP brings it. Lanes that DPP leaves out get 0, which adds nothing to a sum of
 * integers; there is no such number for floats. */
static unsigned through_dpp(struct lowering *l, const struct isa_inst *in, bool is_float)
{
    const struct isa_operand *op = operand(in, ISA_OP_SRC0);
    bool all = in->form == ISA_FORM_DPP8
                   ? in->fi
                   : in->bound_ctrl && in->row_mask == FULL_MASK && in->bank_mask == FULL_MASK;
    if (is_float && !all) l->why = "with DPP that leaves lanes out";
    unsigned reg = temp(l);
    if (!all) move(l, reg, number(0));
    struct source from = source_of(op);
    struct isa_inst *inst = put(l, ISA_v_mov_b32_VOP1, in->form, reg, &from, 1);
    inst->dpp_ctrl = in->dpp_ctrl;
    inst->dpp8 = in->dpp8;
    inst->fi = in->fi;
    inst->bound_ctrl = in->bound_ctrl;
    inst->row_mask = in->row_mask;
    inst->bank_mask = in->bank_mask;
    return reg;
}

/* What all dot products have. */
struct dot {
    const struct isa_inst *in;
    unsigned to, a, b; /* registers */
    struct source c;   /* what the products are added to */
    bool c_is_vector;
    bool hits_source; /* the result lies in a or b */
};

static bool read_dot(struct lowering *l, const struct isa_inst *in, bool is_float, struct dot *d)
{
    const struct isa_operand *to = operand(in, ISA_OP_DST), *a = operand(in, ISA_OP_SRC0),
                             *b = operand(in, ISA_OP_SRC1), *c = operand(in, ISA_OP_SRC2);
    if (!c) c = to; /* v_dot*c */
    if (!to || to->kind != ISA_KIND_VGPR || !a || !b) {
        l->why = "with operands that it does not have";
        return false;
    }
    if (a->mods || b->mods || c->mods || (in->neg_lo | in->neg_hi) >> 2)
        l->why = "with a negated or absolute source";
    if (!is_float && (in->neg_lo || in->neg_hi)) l->why = "with a negated source";
    if (in->op_sel >> 2) l->why = "with a selected half of its third source";
    if (c->kind == ISA_KIND_SPECIAL || c->kind == ISA_KIND_OFF) l->why = "with a special source";
    d->in = in;
    d->to = to->reg;
    bool dpp = in->form == ISA_FORM_DPP16 || in->form == ISA_FORM_DPP8;
    d->a = dpp ? through_dpp(l, in, is_float) : in_register(l, a, is_float);
    d->b = in_register(l, b, is_float);
    d->c = source_of(c);
    d->c_is_vector = c->kind == ISA_KIND_VGPR;
    d->hits_source = d->to == d->a || d->to == d->b;
    return !l->why;
}

/* Which half of source `i` the product `k` has. */
static unsigned half_of(const struct isa_inst *in, unsigned i, unsigned k)
{
    if (in->row->encoding != ISA_VOP3P) return k;
    return (k ? in->op_sel_hi : in->op_sel) >> i & 1;
}

static void lower_halves(struct lowering *l, const struct isa_inst *in)
{
    struct dot d;
    if (!read_dot(l, in, true, &d)) return;
    unsigned between = d.hits_source ? temp(l) : d.to;
    struct source sum = d.c;
    if (!d.c_is_vector) {
        move(l, between, d.c);
        sum = vector(between);
    }
    for (unsigned k = 0; k < 2; k++) {
        struct isa_inst *fma =
            put3(l, ISA_v_fma_mix_f32_VOP3P, k ? d.to : between, vector(d.a), vector(d.b), sum);
        fma->op_sel_hi = 3; /* two halves and a single */
        fma->op_sel = (uint8_t)(half_of(in, 0, k) | half_of(in, 1, k) << 1);
        fma->neg_lo = (uint8_t)((k ? in->neg_hi : in->neg_lo) & 3);
        for (unsigned i = 0; i < 2; i++) fma->op[1 + i].mods = fma->neg_lo >> i & 1 ? ISA_NEG : 0;
        fma->clamp = k ? in->clamp : 0;
        sum = vector(between);
    }
}

/* to = field k of a times field k of b; bytes or halves. */
static void multiply(struct lowering *l, const struct dot *d, unsigned to, unsigned bits,
                     bool is_signed, unsigned k)
{
    struct source sources[2] = { vector(d->a), vector(d->b) };
    unsigned id = is_signed ? ISA_v_mul_i32_i24_VOP2 : ISA_v_mul_u32_u24_VOP2;
    struct isa_inst *inst = put(l, id, ISA_FORM_SDWA, to, sources, 2);
    inst->src0_sel = (uint8_t)(bits == 8 ? k : SDWA_WORD_0 + half_of(d->in, 0, k));
    inst->src1_sel = (uint8_t)(bits == 8 ? k : SDWA_WORD_0 + half_of(d->in, 1, k));
    for (unsigned i = 1; i < inst->n_operands; i++) inst->op[i].mods = is_signed ? ISA_SEXT : 0;
}

/* to = a + b, not beyond the numbers that there are. */
static void add_clamped(struct lowering *l, bool is_signed, unsigned to, struct source a,
                        struct source b)
{
    struct source sources[2] = { a, b };
    struct isa_inst *inst = is_signed ? put(l, ISA_v_add_nc_i32_VOP3, ISA_FORM_BASE, to, sources, 2)
                                      : put(l, ISA_v_add_nc_u32_VOP2, ISA_FORM_E64, to, sources, 2);
    inst->clamp = 1;
}

/* Fields of 4 bits; the sums of their products are small. */
static void add_nibbles(struct lowering *l, const struct dot *d, bool is_signed, unsigned sum,
                        unsigned last, struct source c)
{
    unsigned x = temp(l), y = temp(l);
    unsigned extract = is_signed ? ISA_v_bfe_i32_VOP3 : ISA_v_bfe_u32_VOP3;
    for (unsigned k = 0; k < 8; k++) {
        put3(l, extract, x, vector(d->a), number(4 * k), number(4));
        put3(l, extract, y, vector(d->b), number(4 * k), number(4));
        put3(l, is_signed ? ISA_v_mad_i32_i24_VOP3 : ISA_v_mad_u32_u24_VOP3, k < 7 ? sum : last,
             vector(x), vector(y), k ? vector(sum) : c);
    }
}

static void lower_integers(struct lowering *l, const struct isa_inst *in, unsigned bits,
                           bool is_signed)
{
    struct dot d;
    if (bits == 16 && is_signed && in->clamp) l->why = "with clamp";
    bool selects = in->op_sel || (in->row->encoding == ISA_VOP3P && (in->op_sel_hi & 3) != 3);
    if (bits < 16 && selects) l->why = "with selected halves";
    if (!read_dot(l, in, false, &d)) return;
    /* Where the sum grows while a and b are still needed. With clamp it starts at 0. */
    unsigned sum = d.to;
    if (bits < 16 && (d.hits_source || in->clamp)) sum = temp(l);
    unsigned last = in->clamp ? sum : d.to;
    struct source c = in->clamp ? number(0) : d.c;
    if (bits == 4) {
        add_nibbles(l, &d, is_signed, sum, last, c);
    } else if (bits == 8 && l->is_tight) {
        unsigned x = temp(l);
        for (unsigned k = 0; k < 4; k++) {
            struct source sources[2] = { k ? vector(sum) : c, vector(x) };
            multiply(l, &d, x, bits, is_signed, k);
            put(l, ISA_v_add_nc_u32_VOP2, ISA_FORM_BASE, k < 3 ? sum : last, sources, 2);
        }
    } else {
        unsigned x = temp(l), y = temp(l);
        multiply(l, &d, x, bits, is_signed, 0);
        multiply(l, &d, y, bits, is_signed, 1);
        if (bits == 16 && in->clamp) {
            add_clamped(l, is_signed, x, vector(x), vector(y));
            sum = x;
        } else {
            put3(l, ISA_v_add3_u32_VOP3, bits == 16 ? last : sum, vector(x), vector(y), c);
        }
        if (bits == 8) {
            multiply(l, &d, x, bits, is_signed, 2);
            multiply(l, &d, y, bits, is_signed, 3);
            put3(l, ISA_v_add3_u32_VOP3, last, vector(x), vector(y), vector(sum));
        }
    }
    if (in->clamp) add_clamped(l, is_signed, d.to, vector(sum), d.c);
}

/* The address of each lane: a scalar, and its own number times 4. */
static void lower_addtid(struct lowering *l, const struct isa_inst *in, bool is_store)
{
    const struct isa_operand *base = operand(in, ISA_OP_SADDR),
                             *data = operand(in, is_store ? ISA_OP_DATA : ISA_OP_DST);
    if (!base || base->kind != ISA_KIND_REG || !data || data->kind != ISA_KIND_VGPR) {
        l->why = "without a scalar address";
        return;
    }
    unsigned lane = temp(l);
    struct source all = { .code = MINUS_ONE };
    struct source low[2] = { all, number(0) }, high[2] = { all, vector(lane) };
    struct source shift[2] = { number(2), vector(lane) };
    put(l, ISA_v_mbcnt_lo_u32_b32_VOP3, ISA_FORM_BASE, lane, low, 2);
    if (in->wave64) put(l, ISA_v_mbcnt_hi_u32_b32_VOP3, ISA_FORM_BASE, lane, high, 2);
    put(l, ISA_v_lshlrev_b32_VOP2, ISA_FORM_BASE, lane, shift, 2);
    struct isa_inst *access = &l->code[l->n++];
    isa_start(access, is_store ? ISA_global_store_dword_GLOBAL : ISA_global_load_dword_GLOBAL,
              ISA_FORM_BASE);
    if (!is_store) isa_add(access, ISA_OP_DST, data->reg);
    isa_add(access, ISA_OP_ADDR, lane);
    if (is_store) isa_add(access, ISA_OP_DATA, data->reg);
    isa_add(access, ISA_OP_SADDR, base->reg);
    access->imm = in->imm;
    access->glc = in->glc;
    access->slc = in->slc;
    access->dlc = in->dlc;
}

void lower_instruction(const struct isa_inst *in, struct lowering *l)
{
    l->n = l->n_temps = 0;
    l->why = NULL;
    switch (in->id) {
    case ISA_v_dot2c_f32_f16_VOP2:
    case ISA_v_dot2_f32_f16_VOP3P: lower_halves(l, in); break;
    case ISA_v_dot2_i32_i16_VOP3P: lower_integers(l, in, 16, true); break;
    case ISA_v_dot2_u32_u16_VOP3P: lower_integers(l, in, 16, false); break;
    case ISA_v_dot4c_i32_i8_VOP2:
    case ISA_v_dot4_i32_i8_VOP3P: lower_integers(l, in, 8, true); break;
    case ISA_v_dot4_u32_u8_VOP3P: lower_integers(l, in, 8, false); break;
    case ISA_v_dot8_i32_i4_VOP3P: lower_integers(l, in, 4, true); break;
    case ISA_v_dot8_u32_u4_VOP3P: lower_integers(l, in, 4, false); break;
    case ISA_global_load_dword_addtid_GLOBAL: lower_addtid(l, in, false); break;
    case ISA_global_store_dword_addtid_GLOBAL: lower_addtid(l, in, true); break;
    default: l->why = ""; break;
    }
}
