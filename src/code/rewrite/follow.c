/* follow.c: follows scalar registers along every path of one function: where a s_getpc leads, where
 * indirect jumps go, and what else reads the parts. */
#include <string.h>

#include "code/rewrite/values.h"

static void put(uint32_t *s, unsigned reg, uint32_t value)
{
    if (reg < 128 && reg != ISA_NULL) s[reg] = value;
}

static const struct isa_operand *operand(const struct isa_inst *inst, enum isa_role role)
{
    for (unsigned i = 0; i < inst->n_operands; i++)
        if (inst->op[i].role == role) return &inst->op[i];
    return NULL;
}

static uint32_t get(struct values *v, const uint32_t *s, const struct isa_operand *op,
                    uint32_t item)
{
    if (op->kind == ISA_KIND_LITERAL) return value_constant(v, op->value, item, true);
    if (op->kind == ISA_KIND_INLINE) return value_constant(v, op->value, item, false);
    if (op->kind == ISA_KIND_REG && op->reg < 128) return s[op->reg];
    return VALUE_ANY;
}

static uint32_t opposite(struct values *v, uint32_t value)
{
    struct value x = v->list[value];
    x.number = -x.number;
    x.offset = -x.offset;
    x.sign = (int8_t)-x.sign;
    return value_of(v, x);
}

/* The sum of two constants. Its site is that of the one with a literal. */
static uint32_t add_constants(struct values *v, uint32_t a, uint32_t b)
{
    struct value x = v->list[a], y = v->list[b];
    bool second = y.site != NONE && (x.site == NONE || (y.is_literal && !x.is_literal));
    struct value sum = second ? y : x;
    sum.offset += second ? x.number : y.number;
    sum.number = x.number + y.number;
    return value_of(v, sum);
}

/* s_add and s_sub. Returns false when it is none of our sums. */
static bool step_add(struct values *v, uint32_t item, const struct isa_inst *inst, uint32_t *s)
{
    bool subtracts = inst->id == ISA_s_sub_u32_SOP2 || inst->id == ISA_s_sub_i32_SOP2;
    bool carries = inst->id == ISA_s_add_u32_SOP2 || inst->id == ISA_s_sub_u32_SOP2;
    uint32_t a = get(v, s, &inst->op[1], item), b = get(v, s, &inst->op[2], item);
    if (v->list[a].kind == V_CONST && v->list[b].kind == V_PC && !subtracts) {
        uint32_t t = a;
        a = b;
        b = t;
    }
    if (v->list[b].kind != V_CONST) return false;
    struct value x = v->list[a];
    uint32_t result;
    s[REG_SCC] = VALUE_ANY;
    if (x.kind == V_CONST) {
        result = add_constants(v, a, subtracts ? opposite(v, b) : b);
    } else if (x.kind == V_PC && !x.is_high && x.rest == VALUE_NONE) {
        uint32_t node = node_of_sum(v, x.number, item, b, subtracts);
        if (node == NONE) return false;
        result = value_of_node(v, node, false);
        if (carries) s[REG_SCC] = value_of(v, (struct value){ .kind = V_CARRY, .number = node });
        if (v->is_last) v->nodes[node].is_live = true;
    } else {
        return false;
    }
    put(s, inst->op[0].reg, result);
    return true;
}

/* s_addc and s_subb: the upper half of a sum whose carry is in SCC. */
static bool step_carry(struct values *v, uint32_t item, const struct isa_inst *inst, uint32_t *s)
{
    bool subtracts = inst->id == ISA_s_subb_u32_SOP2;
    struct value carry = v->list[s[REG_SCC]];
    uint32_t a = get(v, s, &inst->op[1], item), b = get(v, s, &inst->op[2], item);
    if (v->list[a].kind == V_CONST && !subtracts) {
        uint32_t t = a;
        a = b;
        b = t;
    }
    struct value x = v->list[a], y = v->list[b];
    if (carry.kind != V_CARRY || y.kind != V_CONST || x.kind != V_PC || !x.is_high ||
        x.rest != VALUE_NONE)
        return false;
    struct node *node = &v->nodes[carry.number];
    if (node->base != x.number || node->subtracts != subtracts) return false;
    uint64_t distance = (uint64_t)y.number << 32 | v->list[node->constant].number;
    uint64_t sum = v->nodes[x.number].sum + (subtracts ? -distance : distance);
    if (!node->is_complete) {
        node->is_complete = true;
        node->high_item = item;
        node->high_constant = b;
        node->sum = sum;
    }
    if (node->high_item != item || node->high_constant != b || node->sum != sum)
        node->is_torn = true;
    s[REG_SCC] = VALUE_ANY;
    put(s, inst->op[0].reg, value_of_node(v, carry.number, true));
    return true;
}

static bool step_abs(struct values *v, uint32_t item, const struct isa_inst *inst, uint32_t *s)
{
    uint32_t a = get(v, s, &inst->op[1], item);
    if (v->list[a].kind != V_CONST) return false;
    uint32_t site = v->list[a].site;
    if (v->is_last && site != NONE) v->sites[site - v->f->first] |= SITE_SIGN;
    put(s, inst->op[0].reg, v->list[a].number >> 31 ? opposite(v, a) : a);
    s[REG_SCC] = VALUE_ANY;
    return true;
}

/* A constant against an inline 0: the answer stays as long as the sign does. */
static bool step_compare(struct values *v, uint32_t item, const struct isa_inst *inst, uint32_t *s)
{
    uint32_t a = get(v, s, &inst->op[0], item);
    const struct isa_operand *zero = &inst->op[1];
    if (v->list[a].kind != V_CONST || zero->kind != ISA_KIND_INLINE || zero->value) return false;
    int32_t x = (int32_t)v->list[a].number;
    bool answer;
    switch (inst->id) {
    case ISA_s_cmp_ge_i32_SOPC: answer = x >= 0; break;
    case ISA_s_cmp_gt_i32_SOPC: answer = x > 0; break;
    case ISA_s_cmp_lt_i32_SOPC: answer = x < 0; break;
    case ISA_s_cmp_le_i32_SOPC: answer = x <= 0; break;
    default: return false;
    }
    uint32_t site = v->list[a].site;
    if (v->is_last && site != NONE) v->sites[site - v->f->first] |= SITE_SIGN;
    s[REG_SCC] = value_of(v, (struct value){ .kind = V_TRUTH, .number = answer });
    return true;
}

static bool step_move(struct values *v, uint32_t item, const struct isa_inst *inst, uint32_t *s)
{
    const struct isa_operand *to = &inst->op[0], *from = &inst->op[1];
    if (inst->id == ISA_s_mov_b32_SOP1) {
        put(s, to->reg, get(v, s, from, item));
        return true;
    }
    if (from->kind != ISA_KIND_REG || from->reg > 126 || to->reg > 126) return false;
    uint32_t low = s[from->reg], high = s[from->reg + 1];
    put(s, to->reg, low);
    put(s, to->reg + 1u, high);
    return true;
}

static bool step_select(struct values *v, uint32_t item, const struct isa_inst *inst, uint32_t *s)
{
    if (v->list[s[REG_SCC]].kind == V_CARRY || v->list[s[REG_SCC]].kind == V_MIX) return false;
    const struct isa_operand *a = &inst->op[1], *b = &inst->op[2];
    bool wide = inst->id == ISA_s_cselect_b64_SOP2;
    if (wide && (a->kind != ISA_KIND_REG || b->kind != ISA_KIND_REG || a->reg > 126 ||
                 b->reg > 126 || inst->op[0].reg > 126))
        return false;
    uint32_t low = value_join(v, get(v, s, a, item), get(v, s, b, item));
    uint32_t high = wide ? value_join(v, s[a->reg + 1], s[b->reg + 1]) : VALUE_ANY;
    put(s, inst->op[0].reg, low);
    if (wide) put(s, inst->op[0].reg + 1u, high);
    return true;
}

/* ---- lanes of vector registers, where compilers keep scalar ones ---- */

static struct lane *find_lane(struct values *v, unsigned reg, const struct isa_operand *index,
                              bool add)
{
    if (!index || index->kind != ISA_KIND_INLINE || index->value > 63) return NULL;
    for (size_t i = 0; i < v->n_lanes; i++)
        if (v->lanes[i].reg == reg && v->lanes[i].lane == index->value) return &v->lanes[i];
    enum { MOST = 1024 };
    if (!add || v->n_lanes == MOST) return NULL;
    if (!rewrite_grow(&v->lanes, &v->lanes_room, v->n_lanes, sizeof *v->lanes)) {
        v->no_memory = true;
        return NULL;
    }
    v->lanes[v->n_lanes] = (struct lane){ (uint16_t)reg, (uint16_t)index->value, VALUE_NONE };
    return &v->lanes[v->n_lanes++];
}

static bool step_lane(struct values *v, uint32_t item, const struct isa_inst *inst, uint32_t *s)
{
    const struct isa_operand *index = operand(inst, ISA_OP_SRC1);
    bool writes = inst->id == ISA_v_writelane_b32_VOP3;
    unsigned reg = writes ? inst->op[0].reg : inst->op[1].reg;
    struct lane *lane = find_lane(v, reg, index, writes);
    if (!writes) {
        uint32_t value = lane ? lane->value : VALUE_ANY;
        if (v->is_last && value == VALUE_NONE) value = VALUE_ANY;
        put(s, inst->op[0].reg, value);
        return lane;
    }
    uint32_t value = get(v, s, &inst->op[1], item);
    if (v->is_last) value_read(v, value); /* whatever the lane's fate is */
    if (!lane) return true;
    uint32_t joined = value_join(v, lane->value, value);
    if (joined != lane->value) v->lanes_moved = true;
    lane->value = joined;
    return true;
}

/* ---- one instruction ---- */

static bool step_known(struct values *v, uint32_t item, const struct isa_inst *inst, uint32_t *s)
{
    switch (inst->id) {
    case ISA_s_getpc_b64_SOP1: {
        uint32_t node = node_of_pc(v, item);
        if (node == NONE) return false;
        if (v->is_last) v->nodes[node].is_live = true;
        put(s, inst->op[0].reg, value_of_node(v, node, false));
        put(s, inst->op[0].reg + 1u, value_of_node(v, node, true));
        return true;
    }
    case ISA_s_add_u32_SOP2:
    case ISA_s_add_i32_SOP2:
    case ISA_s_sub_u32_SOP2:
    case ISA_s_sub_i32_SOP2: return step_add(v, item, inst, s);
    case ISA_s_addc_u32_SOP2:
    case ISA_s_subb_u32_SOP2: return step_carry(v, item, inst, s);
    case ISA_s_abs_i32_SOP1: return step_abs(v, item, inst, s);
    case ISA_s_mov_b32_SOP1:
    case ISA_s_mov_b64_SOP1: return step_move(v, item, inst, s);
    case ISA_s_cselect_b32_SOP2:
    case ISA_s_cselect_b64_SOP2: return step_select(v, item, inst, s);
    case ISA_s_cmp_ge_i32_SOPC:
    case ISA_s_cmp_gt_i32_SOPC:
    case ISA_s_cmp_lt_i32_SOPC:
    case ISA_s_cmp_le_i32_SOPC: return step_compare(v, item, inst, s);
    case ISA_v_writelane_b32_VOP3:
    case ISA_v_readlane_b32_VOP3: return step_lane(v, item, inst, s);
    case ISA_s_setpc_b64_SOP1: return true; /* its reads are judged where it goes */
    default: return false;
    }
}

void follow_step(struct values *v, uint32_t item, const struct isa_inst *inst, uint32_t *s)
{
    struct isa_uses uses;
    uint32_t before[N_FOLLOWED];
    if (v->is_last) memcpy(before, s, sizeof before);
    if (step_known(v, item, inst, s)) return;
    isa_uses(inst, &uses);
    for (unsigned w = 0; w < 2; w++) {
        for (uint64_t rest = uses.sgpr_read[w]; v->is_last && rest; rest &= rest - 1)
            value_read(v, before[64 * w + (unsigned)__builtin_ctzll(rest)]);
        for (uint64_t rest = uses.sgpr_write[w]; rest; rest &= rest - 1)
            put(s, 64 * w + (unsigned)__builtin_ctzll(rest), VALUE_ANY);
    }
    if (v->is_last && uses.special & ISA_R_SCC) value_read(v, before[REG_SCC]);
    if (uses.special & ISA_W_SCC) s[REG_SCC] = VALUE_ANY;
    if (uses.indexed &&
        inst->row->flags & ISA_SALU) /* M0 picks the register: any may be read and written */
        for (unsigned reg = 0; reg < 128; reg++) {
            if (v->is_last) value_read(v, before[reg]);
            if (uses.sgpr_write[0] | uses.sgpr_write[1]) put(s, reg, VALUE_ANY);
        }
}
