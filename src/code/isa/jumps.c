/* jumps.c: where jumps through registers go: s_getpc and the constants added to it. */
#include <stdlib.h>
#include <string.h>

#include "code/isa/flow.h"

/* What is known of a scalar register. */
enum { UNKNOWN, CONSTANT, PC_LOW, PC_HIGH };
enum { MOST_KNOWN = 16 }; /* registers that are followed from block to block */

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

/* What holds at the start of a block, of s_getpc and what was added to it. */
struct state {
    bool visited, queued;
    uint8_t n;
    struct {
        uint8_t reg, kind;
        int64_t value;
    } known[MOST_KNOWN];
};

static void load(struct tracker *t, const struct state *s)
{
    memset(t, 0, sizeof *t);
    for (unsigned i = 0; i < s->n; i++)
        t->reg[s->known[i].reg] = (struct known){ s->known[i].kind, s->known[i].value };
}

/* What a block hands on joins what others did: only what all agree on. True when that changed. */
static bool meet(struct state *s, const struct tracker *t)
{
    bool changed = !s->visited;
    if (!s->visited) {
        s->visited = true;
        for (unsigned r = 0; r < 128 && s->n < MOST_KNOWN; r++) {
            if (t->reg[r].kind != PC_LOW && t->reg[r].kind != PC_HIGH) continue;
            s->known[s->n].reg = (uint8_t)r;
            s->known[s->n].kind = t->reg[r].kind;
            s->known[s->n++].value = t->reg[r].value;
        }
        return true;
    }
    for (unsigned i = 0; i < s->n;) {
        const struct known *k = &t->reg[s->known[i].reg];
        if (k->kind == s->known[i].kind && k->value == s->known[i].value) {
            i++;
            continue;
        }
        s->known[i] = s->known[--s->n];
        changed = true;
    }
    return changed;
}

struct resolver {
    struct isa_flow *flow;
    unsigned chip_mode;
    const uint32_t *words;
    struct state *states;
    uint32_t *queue; /* a ring */
    size_t head, length;
};

static void hand_on(struct resolver *r, uint32_t to, const struct tracker *t)
{
    if (to == ISA_NO_BLOCK || !meet(&r->states[to], t) || r->states[to].queued) return;
    r->states[to].queued = true;
    r->queue[(r->head + r->length++) % r->flow->n_blocks] = to;
}

/* Move the tracker over a block; at its end tell where the jump goes. */
static void follow_block(struct resolver *r, size_t block, struct tracker *t)
{
    const struct isa_block *b = &r->flow->blocks[block];
    struct isa_inst in;
    load(t, &r->states[block]);
    for (size_t i = b->first; i < b->end;) {
        size_t n = isa_decode(r->chip_mode, r->words + i, b->end - i, &in);
        struct isa_jump *jump = b->jump == ISA_NO_BLOCK ? NULL : &r->flow->jumps[b->jump];
        if (n && jump && jump->at == i && in.id != ISA_s_call_b64_SOPK) {
            int64_t bytes = 0;
            jump->is_known = points_at(t, &in, &bytes);
            jump->to = bytes / 4;
        } else if (n && jump && jump->at == i) {
            jump->is_known = true;
            jump->to = (int64_t)i + 1 + in.imm;
        }
        if (n)
            follow(t, &in, i);
        else
            memset(t, 0, sizeof *t);
        i += n ? n : 1;
    }
}

/* Behind a call only what it preserves; behind s_call, which knows no convention, nothing. */
static void forget_at_call(struct tracker *t, const struct isa_jump *jump, uint32_t word,
                           const struct isa_flow_callees *callees)
{
    enum { FIRST_PRESERVED = 32, LAST_PRESERVED = 105 };
    uint64_t written[2] = { UINT64_MAX, UINT64_MAX };
    bool s_call = word >> 23 == 0x176;
    if (callees && !s_call) callees->clobbers(callees->context, jump, written);
    for (unsigned r = 0; r < 128; r++) {
        bool preserved = r >= FIRST_PRESERVED && r <= LAST_PRESERVED;
        if (s_call || (!preserved && isa_sgpr_in(written, r))) t->reg[r].kind = UNKNOWN;
    }
}

bool isa_jumps_resolve(struct isa_flow *flow, unsigned chip_mode, const uint32_t *words,
                       const struct isa_flow_callees *callees)
{
    struct resolver r = { .flow = flow, .chip_mode = chip_mode, .words = words };
    struct tracker t;
    r.states = calloc(flow->n_blocks, sizeof *r.states);
    r.queue = malloc(flow->n_blocks * sizeof *r.queue);
    bool ok = r.states && r.queue;
    memset(&t, 0, sizeof t);
    if (ok) hand_on(&r, 0, &t);
    for (size_t next = 0; ok && next < flow->n_blocks;) {
        if (!r.length) { /* what no path reaches starts with nothing known */
            if (!r.states[next].visited) {
                memset(&t, 0, sizeof t);
                hand_on(&r, (uint32_t)next, &t);
            }
            next++;
            continue;
        }
        uint32_t block = r.queue[r.head];
        const struct isa_block *b = &flow->blocks[block];
        r.head = (r.head + 1) % flow->n_blocks;
        r.length--;
        r.states[block].queued = false;
        follow_block(&r, block, &t);
        const struct isa_jump *jump = b->jump == ISA_NO_BLOCK ? NULL : &flow->jumps[b->jump];
        hand_on(&r, b->target, &t);
        if (jump && jump->is_call) forget_at_call(&t, jump, words[jump->at], callees);
        hand_on(&r, b->next, &t);
    }
    free(r.states);
    free(r.queue);
    return ok;
}
