/* jumps.c: where jumps through registers go: s_getpc and the constants added to it. */
#include <string.h>

#include "isa/flow.h"

/* What is known of a scalar register. */
enum { UNKNOWN, CONSTANT, PC_LOW, PC_HIGH };

struct known {
    uint8_t kind;
    int64_t value; /* constant, or bytes from the start of the function: PC_LOW's lowest 32 bits */
};

struct tracker {
    struct known reg[128];
    bool carry_known;
    int64_t carried; /* what the last addition added to a PC_LOW */
};

static struct known operand_value(const struct tracker *t, const struct isa_operand *op)
{
    if (op->kind == ISA_KIND_REG && op->reg < 128) return t->reg[op->reg];
    if (op->kind == ISA_KIND_LITERAL || op->kind == ISA_KIND_INLINE)
        return (struct known){ CONSTANT, (int64_t)op->value };
    return (struct known){ UNKNOWN, 0 };
}

/* The low half first, then the high half with the carry: s_add_u32 and s_addc_u32, or s_sub_u32
 * and s_subb_u32; constants plainly. */
static struct known add(struct tracker *t, const struct isa_inst *in, bool *carries)
{
    const struct known unknown = { UNKNOWN, 0 };
    struct known a = operand_value(t, &in->op[1]), b = operand_value(t, &in->op[2]);
    bool minus = in->id == ISA_s_sub_u32_SOP2 || in->id == ISA_s_subb_u32_SOP2 ||
                 in->id == ISA_s_sub_i32_SOP2;
    bool high = in->id == ISA_s_addc_u32_SOP2 || in->id == ISA_s_subb_u32_SOP2;
    *carries = false;
    if (!minus && a.kind == CONSTANT && b.kind != CONSTANT) {
        struct known c = a;
        a = b;
        b = c;
    }
    if (b.kind != CONSTANT) return unknown;
    if (a.kind == CONSTANT && !high) {
        uint32_t sum = (uint32_t)(minus ? a.value - b.value : a.value + b.value);
        return (struct known){ CONSTANT, (int64_t)sum };
    }
    if (a.kind == PC_LOW && !high) {
        t->carried = minus ? -b.value : b.value;
        *carries = true;
        return (struct known){ PC_LOW, a.value + t->carried };
    }
    if (a.kind != PC_HIGH || !high || !t->carry_known) return unknown;
    uint64_t upper = (uint64_t)b.value << 32, value = (uint64_t)a.value + (uint64_t)t->carried;
    return (struct known){ PC_HIGH, (int64_t)(minus ? value - upper : value + upper) };
}

/* Move the tracker over the instruction at word i. */
static void follow(struct tracker *t, const struct isa_inst *in, size_t i)
{
    struct isa_uses uses;
    struct known result[2] = { { UNKNOWN, 0 }, { UNKNOWN, 0 } };
    bool carries = false;
    switch (in->id) {
    case ISA_s_getpc_b64_SOP1:
        result[0] = (struct known){ PC_LOW, 4 * ((int64_t)i + 1) };
        result[1] = (struct known){ PC_HIGH, 4 * ((int64_t)i + 1) };
        break;
    case ISA_s_mov_b32_SOP1: result[0] = operand_value(t, &in->op[1]); break;
    case ISA_s_mov_b64_SOP1:
        if (in->op[1].kind == ISA_KIND_REG && in->op[1].reg < 127)
            memcpy(result, &t->reg[in->op[1].reg], sizeof result);
        break;
    case ISA_s_add_u32_SOP2:
    case ISA_s_addc_u32_SOP2:
    case ISA_s_sub_u32_SOP2:
    case ISA_s_subb_u32_SOP2:
    case ISA_s_add_i32_SOP2:
    case ISA_s_sub_i32_SOP2: result[0] = add(t, in, &carries); break;
    default: break;
    }
    isa_uses(in, &uses);
    if (uses.special & ISA_W_SCC) t->carry_known = carries;
    for (unsigned r = 0; r < 128; r++)
        if (isa_sgpr_in(uses.sgpr_write, r)) t->reg[r].kind = UNKNOWN;
    if (uses.indexed) memset(t->reg, 0, sizeof t->reg);
    for (unsigned k = 0; k < 2 && in->n_operands && in->op[0].kind == ISA_KIND_REG; k++)
        if (k < in->op[0].n_regs && in->op[0].reg + k < 125u && in->op[0].access & ISA_WRITE)
            t->reg[in->op[0].reg + k] = result[k];
}

/* The bytes that a pair of registers points at, from the start of the function. */
static bool points_at(const struct tracker *t, const struct isa_inst *in, int64_t *bytes)
{
    const struct isa_operand *op = &in->op[in->n_operands - 1];
    if (op->kind != ISA_KIND_REG || op->reg > 124) return false;
    struct known low = t->reg[op->reg], high = t->reg[op->reg + 1];
    *bytes = high.value;
    return low.kind == PC_LOW && high.kind == PC_HIGH &&
           (uint32_t)low.value == (uint32_t)high.value && high.value % 4 == 0;
}

bool isa_jumps_resolve(struct isa_flow *flow, uint8_t *mark, unsigned chip_mode,
                       const uint32_t *words, size_t n_words)
{
    struct tracker t;
    struct isa_inst in;
    bool cut = false;
    size_t next = 0;
    memset(&t, 0, sizeof t);
    for (size_t i = 0; i < n_words && next < flow->n_jumps;) {
        size_t n = isa_decode(chip_mode, words + i, n_words - i, &in);
        if (mark[i] & MARK_LEADER) memset(&t, 0, sizeof t);
        if (mark[i] & MARK_JUMP) {
            struct isa_jump *jump = &flow->jumps[next++];
            int64_t bytes = 0;
            jump->is_known = in.id == ISA_s_call_b64_SOPK || points_at(&t, &in, &bytes);
            jump->to = in.id == ISA_s_call_b64_SOPK ? (int64_t)i + 1 + in.imm : bytes / 4;
            bool inside = jump->is_known && jump->to >= 0 && jump->to < (int64_t)n_words;
            if (inside && !(mark[jump->to] & MARK_LEADER)) {
                mark[jump->to] |= MARK_LEADER;
                cut |= mark[jump->to] & MARK_START;
            }
        }
        if (n && in.row->flags & ISA_SALU) follow(&t, &in, i);
        if (!n || !(in.row->flags & ISA_SALU)) {
            struct isa_uses uses;
            if (n) isa_uses(&in, &uses);
            for (unsigned r = 0; r < 128; r++)
                if (!n || isa_sgpr_in(uses.sgpr_write, r)) t.reg[r].kind = UNKNOWN;
        }
        i += n ? n : 1;
    }
    return cut;
}
