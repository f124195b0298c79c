/* paths.c: carries the state of the registers along every path of a function until nothing changes,
 * finding the targets of indirect jumps on the way; then looks at everything once. */
#include <string.h>

#include "code/rewrite/values.h"

/* Registers that a callee keeps by LLVM's convention, in every release the most that one keeps. */
enum { FIRST_KEPT = 32, LAST_KEPT = 105 };

static bool is_inside(const struct values *v, uint32_t item)
{
    return item != NONE && item >= v->f->first && item < v->f->last;
}

/* Whether a path led there: SCC always is something then. */
static bool is_visited(const struct values *v, uint32_t state)
{
    return v->states[(size_t)state * N_FOLLOWED + REG_SCC] != VALUE_NONE;
}

static bool enqueue(struct values *v, uint32_t state)
{
    if (v->queued[state]) return true;
    if (!rewrite_grow(&v->queue, &v->queue_room, v->n_queue, sizeof *v->queue)) return false;
    v->queued[state] = 1;
    v->queue[v->n_queue++] = state;
    return true;
}

/* The state before an item, made when a path first leads there. */
static uint32_t state_at(struct values *v, uint32_t item)
{
    uint32_t *known = &v->state_of[item - v->f->first];
    if (*known != NONE) return *known;
    size_t n = v->n_states;
    while (v->states_room < (n + 1) * N_FOLLOWED)
        if (!rewrite_grow(&v->states, &v->states_room, v->states_room, sizeof *v->states))
            return NONE;
    if (!rewrite_grow(&v->leaders, &v->leaders_room, n, sizeof *v->leaders) ||
        !rewrite_grow(&v->queued, &v->queued_room, n, 1))
        return NONE;
    memset(v->states + n * N_FOLLOWED, 0, N_FOLLOWED * sizeof *v->states);
    v->leaders[n] = item;
    v->queued[n] = 0;
    *known = (uint32_t)n;
    v->n_states++;
    /* Who ran through here before must stop here from now on. */
    uint32_t above = item, through = NONE;
    while (above > v->f->first && through == NONE) through = v->state_of[--above - v->f->first];
    if (through != NONE && is_visited(v, through) && !enqueue(v, through)) return NONE;
    return (uint32_t)n;
}

/* A path leads to an item of the function. */
static void arrive(struct values *v, uint32_t item, const uint32_t *state)
{
    if (v->is_last) return;
    uint32_t to = state_at(v, item);
    if (to == NONE) {
        v->no_memory = true;
        return;
    }
    bool moved = false;
    for (unsigned i = 0; i < N_FOLLOWED; i++) {
        uint32_t *old = &v->states[(size_t)to * N_FOLLOWED + i];
        uint32_t joined = value_join(v, *old, state[i]);
        moved |= joined != *old;
        *old = joined;
    }
    if (moved && !enqueue(v, to)) v->no_memory = true;
}

static void called(struct values *v, uint32_t function)
{
    if (!v->is_last) return;
    if (!rewrite_grow(&v->callees, &v->callees_room, v->n_callees, sizeof *v->callees)) {
        v->no_memory = true;
        return;
    }
    v->callees[v->n_callees++] = function;
}

static void refuse(struct values *v, uint32_t item, const char *reason)
{
    if (v->is_last) rewrite_refuse(v->f, reason, v->r->address + v->r->items[item].old);
}

/* Another function may read all registers. A whole address of something may well lie in one, left
 * over or as an argument: it is the right one there, too. Everything else counts as read. */
static void read_all(struct values *v, const uint32_t *state)
{
    for (unsigned i = 0; v->is_last && i < 128; i++) value_pass(v, state[i]);
}

/* Where an indirect jump goes. Returns false when that is not known. */
static bool jump(struct values *v, uint32_t item, const struct isa_operand *to,
                 const uint32_t *state, bool calls)
{
    uint32_t low = state[to->reg], high = to->reg < 127 ? state[to->reg + 1] : VALUE_ANY;
    if (low == VALUE_NONE || high == VALUE_NONE) return !v->is_last;
    for (;;) {
        struct value x = v->list[low], y = v->list[high];
        if (x.kind != V_PC || y.kind != V_PC || x.number != y.number || x.is_high || !y.is_high)
            return false;
        struct node *node = &v->nodes[x.number];
        if (!node->is_complete || node->is_torn) return false;
        if (v->is_last) node->jumps = true;
        uint32_t there = item_at_address(v->r, node_address(v, x.number));
        uint32_t function = there == NONE ? NONE : function_at(v->r, there);
        if (function != NONE && (calls || !is_inside(v, there))) {
            called(v, function);
            if (!calls) read_all(v, state);
        } else if (calls) {
            refuse(v, item, "a call of what is no function");
        } else if (is_inside(v, there)) {
            arrive(v, there, state);
        } else {
            refuse(v, item, "an indirect jump into the middle of another function");
        }
        if (x.rest == VALUE_NONE || y.rest == VALUE_NONE) return x.rest == y.rest;
        low = x.rest;
        high = y.rest;
    }
}

static bool returns(const struct values *v, const struct isa_operand *to, const uint32_t *state)
{
    if (v->f->face.is_kernel || to->reg > 126) return false;
    struct value x = v->list[state[to->reg]], y = v->list[state[to->reg + 1]];
    return x.kind == V_ENTRY && y.kind == V_ENTRY && x.number + 1 == y.number;
}

static void set_link(struct values *v, uint32_t item, const struct isa_inst *inst, uint32_t *state)
{
    uint32_t node = node_of_pc(v, item);
    if (node == NONE || inst->op[0].reg > 126) return;
    state[inst->op[0].reg] = value_of_node(v, node, false);
    state[inst->op[0].reg + 1] = value_of_node(v, node, true);
}

/* The function that a register pair holds the address of; NONE when that is not known, or one of
 * several. */
static uint32_t only_callee(const struct values *v, const struct isa_operand *to,
                            const uint32_t *state)
{
    if (to->kind != ISA_KIND_REG || to->reg > 126) return NONE;
    const struct value x = v->list[state[to->reg]], y = v->list[state[to->reg + 1]];
    if (x.kind != V_PC || y.kind != V_PC || x.number != y.number || x.is_high || !y.is_high ||
        x.rest != VALUE_NONE || y.rest != VALUE_NONE || !v->nodes[x.number].is_complete)
        return NONE;
    uint32_t there = item_at_address(v->r, node_address(v, x.number));
    return there == NONE ? NONE : function_at(v->r, there);
}

/* Behind a call of another function; `callee` is NONE when it is not known which. */
static void come_back(struct values *v, uint32_t item, const struct isa_inst *inst, uint32_t callee,
                      uint32_t *state)
{
    for (unsigned reg = 0; reg < 128; reg++)
        if ((reg < FIRST_KEPT || reg > LAST_KEPT) &&
            (callee == NONE || !leaf_keeps(v->r, callee, reg)))
            state[reg] = VALUE_ANY;
    if (inst->op[0].reg < 127) state[inst->op[0].reg] = state[inst->op[0].reg + 1] = VALUE_ANY;
    state[REG_SCC] = VALUE_ANY;
    if (is_inside(v, item + 1)) arrive(v, item + 1, state);
}

static void leave_call(struct values *v, uint32_t item, const struct isa_inst *inst,
                       uint32_t *state)
{
    if (v->r->items[item].flags & JUMPS) {
        const struct isa_operand *to = &inst->op[1];
        const uint32_t callee = only_callee(v, to, state);
        read_all(v, state);
        if (to->kind != ISA_KIND_REG)
            refuse(v, item, "a call to a constant address");
        else if (!jump(v, item, to, state, true))
            v->f->face.calls_unknown |= v->is_last;
        come_back(v, item, inst, callee, state);
        return;
    }
    uint32_t there = v->r->items[item].target;
    uint32_t function = there == NONE ? NONE : function_at(v->r, there);
    if (function != NONE) { /* s_call of a function */
        called(v, function);
        read_all(v, state);
        come_back(v, item, inst, function, state);
    } else if (is_inside(v, there)) { /* of a part of this one: comes back by s_setpc */
        set_link(v, item, inst, state);
        arrive(v, there, state);
    } else {
        refuse(v, item, "a call that leads outside of every function");
    }
}

/* From an item that ends straight code, or one behind which another path arrives. */
static void leave(struct values *v, uint32_t item, const struct isa_inst *inst, uint32_t *state)
{
    const struct item *it = &v->r->items[item];
    if (it->flags & CALLS) {
        leave_call(v, item, inst, state);
        return;
    }
    if (it->flags & JUMPS) {
        const struct isa_operand *to = &inst->op[0];
        if (to->kind != ISA_KIND_REG) {
            refuse(v, item, "a jump to a constant address");
        } else if (returns(v, to, state)) {
            read_all(v, state);
        } else if (!jump(v, item, to, state, false)) {
            refuse(v, item, "an indirect jump, and where it goes is not known");
        }
        return;
    }
    struct value truth = v->list[state[REG_SCC]];
    bool known = truth.kind == V_TRUTH &&
                 (inst->id == ISA_s_cbranch_scc0_SOPP || inst->id == ISA_s_cbranch_scc1_SOPP);
    bool taken = known && truth.number == (inst->id == ISA_s_cbranch_scc1_SOPP);
    if (it->flags & BRANCHES && (!known || taken)) {
        uint32_t function = it->target == NONE ? NONE : function_at(v->r, it->target);
        if (is_inside(v, it->target)) {
            arrive(v, it->target, state);
        } else if (function != NONE) {
            called(v, function);
            read_all(v, state);
        } else {
            refuse(v, item,
                   it->target == NONE ? "a branch to where no instruction starts"
                                      : "a branch into the middle of another function");
        }
    }
    if (it->flags & ENDS || (known && taken)) return;
    if (is_inside(v, item + 1))
        arrive(v, item + 1, state);
    else
        refuse(v, item, "runs past its end");
}

/* From a leader to the end of its straight code. */
static void walk(struct values *v, uint32_t leader, const uint32_t *from)
{
    uint32_t state[N_FOLLOWED];
    memcpy(state, from, sizeof state);
    unsigned chip = v->r->chip | (v->f->face.wave64 ? ISA_WAVE64 : 0);
    for (uint32_t item = leader;; item++) {
        if (!is_inside(v, item)) {
            refuse(v, item - 1, "runs past its end");
            return;
        }
        if (item != leader && v->state_of[item - v->f->first] != NONE) {
            arrive(v, item, state);
            return;
        }
        struct item *it = &v->r->items[item];
        struct isa_inst inst;
        const uint32_t *words = v->r->pool + it->words;
        if (v->is_last) it->flags |= IS_REACHED;
        if (it->kind == REWRITE_DATA || !isa_decode(chip, words, it->n_words, &inst)) {
            refuse(v, item, "a word that is no instruction of the chip");
            return;
        }
        if (!(it->flags & CALLS)) follow_step(v, item, &inst, state);
        if (it->flags & (CALLS | JUMPS | BRANCHES | ENDS)) {
            leave(v, item, &inst, state);
            return;
        }
    }
}

/* All targets of branches from the start, so that straight code seldom has to be cut later. */
static bool find_leaders(struct values *v)
{
    for (uint32_t i = v->f->first; i < v->f->last; i++) {
        const struct item *item = &v->r->items[i];
        if (item->flags & BRANCHES && is_inside(v, item->target) &&
            state_at(v, item->target) == NONE)
            return false;
    }
    return true;
}

static bool settle(struct values *v)
{
    while (v->n_queue && !v->no_memory) {
        uint32_t state = v->queue[--v->n_queue];
        uint32_t copy[N_FOLLOWED];
        v->queued[state] = 0;
        memcpy(copy, v->states + (size_t)state * N_FOLLOWED, sizeof copy);
        walk(v, v->leaders[state], copy);
    }
    return !v->no_memory;
}

bool follow_function(struct values *v)
{
    uint32_t entry[N_FOLLOWED];
    for (unsigned i = 0; i < N_FOLLOWED; i++)
        entry[i] = v->f->face.is_kernel || i == REG_SCC
                       ? VALUE_ANY
                       : value_of(v, (struct value){ .kind = V_ENTRY, .number = i });
    if (state_at(v, v->f->first) == NONE || !find_leaders(v)) return false;
    arrive(v, v->f->first, entry);
    do {
        v->lanes_moved = false;
        if (!settle(v)) return false;
        for (size_t i = 0; v->lanes_moved && i < v->n_states; i++)
            if (is_visited(v, (uint32_t)i) && !enqueue(v, (uint32_t)i)) return false;
    } while (v->lanes_moved);
    v->is_last = true;
    for (size_t i = 0; i < v->n_states; i++) {
        uint32_t copy[N_FOLLOWED];
        if (!is_visited(v, (uint32_t)i)) continue;
        memcpy(copy, v->states + i * N_FOLLOWED, sizeof copy);
        walk(v, v->leaders[i], copy);
    }
    return !v->no_memory;
}
