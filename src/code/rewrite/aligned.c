/* aligned.c: facts of registers carried along every path of a function until nothing changes; then
 * each wide access of LDS is looked at. */
#include "code/rewrite/aligned.h"

#include <stdlib.h>
#include <string.h>

#include "code/isa/rules.h"
#include "code/rewrite/aligned_state.h"

enum { MOST_LABELS = 1 << 14 }; /* of a function, 5 KB each; beyond, nothing is proven */

struct walk {
    const struct rewrite *r;
    const struct rewrite_function *f;
    uint32_t *number; /* by item from `first` on: of a label of the function, else NONE */
    uint32_t first, n_numbers;
    struct aligned_state *states;
    uint8_t *waits; /* by label: to be passed on */
    size_t n_labels;
    bool goes_back;               /* a label that was passed waits again */
    struct aligned_state jumping; /* what is known at all indirect jumps */
    bool jumps;                   /* there is news of it */
    struct rewrite_wide *found;
    size_t n_found, room;
    bool no_memory;
};

static uint32_t number_of(const struct walk *w, uint32_t item)
{
    return item >= w->first && item - w->first < w->n_numbers ? w->number[item - w->first] : NONE;
}

static void arrive(struct walk *w, uint32_t item, uint32_t from, const struct aligned_state *s)
{
    const uint32_t label = number_of(w, item);
    if (label == NONE || !aligned_join(&w->states[label], s)) return;
    w->waits[label] = 1;
    if (from == NONE || label <= from) w->goes_back = true;
}

/* An indirect jump goes to one of the places that a sum on the program counter leads to. Functions
 * have thousands of both: what is known at the jumps is joined first. */
static void arrive_anywhere(struct walk *w)
{
    w->jumps = false;
    for (size_t i = 0; i < w->r->n_sums; i++)
        if (w->r->sums[i].target != NONE) arrive(w, w->r->sums[i].target, NONE, &w->jumping);
}

/* ---- wide accesses ---- */

static bool is_wide(const struct isa_inst *inst)
{
    const uint64_t flags = inst->row->flags;
    return inst->row->moves >= ISA_MOVES_W2 && inst->row->moves <= ISA_MOVES_W4 &&
           (flags & ISA_IS_FLAT || (flags & ISA_IS_DS && !inst->gds));
}

static bool is_aligned(const struct aligned_state *s, const struct isa_inst *inst)
{
    const unsigned align = inst->row->moves == ISA_MOVES_W2 ? 8 : 16;
    const struct isa_operand *address = NULL;
    if (inst->row->flags & ISA_ATOMIC) return true;
    if (isa_rules_single(inst, true) == ISA_RULE_LDS_MISALIGNED) return false;
    for (unsigned i = 0; i < inst->n_operands; i++)
        if (inst->op[i].role == ISA_OP_ADDR) address = &inst->op[i];
    /* Two offsets are multiples of what is moved. */
    const uint32_t offset = inst->row->flags & ISA_TWO_DATA ? 0 : (uint32_t)inst->imm;
    if (!address || address->kind != ISA_KIND_VGPR) return false;
    const fact f = fact_add(aligned_source(s, address), fact_of(offset));
    return (f >> 8) >= (align == 8 ? 3 : 4) && (f & (align - 1)) == 0;
}

static void look(struct walk *w, uint32_t item, const struct isa_inst *inst,
                 const struct aligned_state *s)
{
    if (!is_wide(inst)) return;
    if (!rewrite_grow(&w->found, &w->room, w->n_found, sizeof *w->found)) {
        w->no_memory = true;
        return;
    }
    w->found[w->n_found++] = (struct rewrite_wide){ .item = item,
                                                    .is_flat = inst->row->flags & ISA_IS_FLAT,
                                                    .is_proven = s && is_aligned(s, inst) };
}

/* ---- paths ---- */

/* Over an instruction; false when nothing falls through. */
static bool pass(struct walk *w, uint32_t item, uint32_t label, const struct isa_inst *inst,
                 struct aligned_state *s)
{
    const struct item *i = &w->r->items[item];
    /* Loops over halves of a wave (SOPK) change EXEC as they branch. */
    const bool is_plain = inst->row->encoding == ISA_SOPP;
    if (i->flags & CALLS || (i->flags & BRANCHES && !is_plain)) aligned_forget(s);
    if (i->flags & JUMPS && aligned_join(&w->jumping, s)) w->jumps = true;
    if (i->flags & BRANCHES) arrive(w, i->target, label, s);
    if (i->flags & ENDS) return false;
    if (!(i->flags & (CALLS | JUMPS | BRANCHES))) aligned_step(s, inst);
    return true;
}

/* From the first label to the last, through what waits; or, with `looks`, through everything. */
static void walk_once(struct walk *w, bool looks)
{
    struct aligned_state s = { .is_reached = false };
    bool runs = false;
    uint32_t label = NONE;
    for (uint32_t item = w->f->entry; item != w->f->end && item != NONE;
         item = w->r->items[item].next) {
        struct isa_inst inst;
        if (w->r->items[item].kind == REWRITE_LABEL) {
            if (runs && !looks) arrive(w, item, label, &s);
            label = number_of(w, item);
            runs = looks ? w->states[label].is_reached : w->waits[label];
            w->waits[label] = 0;
            if (runs) s = w->states[label];
        } else if (runs) {
            runs = rewrite_decode(w->r, w->f, item, &inst);
            if (runs && looks) look(w, item, &inst, &s);
            if (runs) runs = pass(w, item, label, &inst, &s);
        }
    }
}

static void follow(struct walk *w)
{
    const uint32_t entry = number_of(w, w->f->entry);
    aligned_forget(&w->states[entry]);
    w->waits[entry] = 1;
    do {
        w->goes_back = false;
        walk_once(w, false);
        if (w->jumps) arrive_anywhere(w);
    } while (w->goes_back);
    walk_once(w, true);
}

/* Nothing is followed: everything that a path leads to counts as not aligned. */
static void list_all(struct walk *w)
{
    for (uint32_t item = w->f->entry; item != w->f->end && item != NONE;
         item = w->r->items[item].next) {
        struct isa_inst inst;
        if (rewrite_is_reached(w->r, item) && rewrite_decode(w->r, w->f, item, &inst))
            look(w, item, &inst, NULL);
    }
}

static bool number_labels(struct walk *w)
{
    const struct item *items = w->r->items;
    uint32_t first = NONE, last = 0;
    for (uint32_t i = w->f->entry; i != w->f->end && i != NONE; i = items[i].next) {
        if (items[i].kind != REWRITE_LABEL) continue;
        if (i < first) first = i;
        if (i > last) last = i;
    }
    w->first = first;
    w->n_numbers = last - first + 1;
    w->number = malloc(w->n_numbers * sizeof *w->number);
    if (!w->number) return false;
    memset(w->number, 255, w->n_numbers * sizeof *w->number);
    for (uint32_t i = w->f->entry; i != w->f->end && i != NONE; i = items[i].next)
        if (items[i].kind == REWRITE_LABEL) w->number[i - first] = (uint32_t)w->n_labels++;
    if (w->n_labels > MOST_LABELS) return true;
    w->states = calloc(w->n_labels + 1, sizeof *w->states);
    w->waits = calloc(w->n_labels + 1, 1);
    return w->states && w->waits;
}

rmcp_status rewrite_find_wide(const struct rewrite *r, size_t function, struct rewrite_wide **out,
                              size_t *n)
{
    struct walk w = { .r = r, .f = &r->faces[function] };
    *out = NULL;
    *n = 0;
    list_all(&w);
    if (!w.no_memory && w.n_found) {
        w.no_memory = !number_labels(&w);
        if (!w.no_memory && w.n_labels <= MOST_LABELS) {
            const size_t n_all = w.n_found;
            w.n_found = 0;
            follow(&w);
            if (w.n_found < n_all) { /* a path that was not followed */
                w.n_found = 0;
                list_all(&w);
            }
        }
    }
    free(w.number);
    free(w.states);
    free(w.waits);
    if (w.no_memory) {
        free(w.found);
        return rmcp_fail_memory("wide accesses", w.n_found);
    }
    *out = w.found;
    *n = w.n_found;
    return RMCP_OK;
}
