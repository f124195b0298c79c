/* lower_dead.c: vector registers whose values nobody reads any more.
 *
 * Along all paths, backwards: a register is live where it may be read before all lanes that take
 * part now have written it. A write tells of these lanes only as long as EXEC stays; beyond a
 * change of EXEC a register is live when it is read at all. */
#include <stdlib.h>
#include <string.h>

#include "code/rewrite/lower_parts.h"

static void add(struct lower_set *to, const uint64_t from[4])
{
    for (unsigned w = 0; w < 4; w++) to->bits[w] |= from[w];
}

static void add_all(struct lower_set *to)
{
    memset(to->bits, 255, sizeof to->bits);
}

/* Whether an instruction writes whole registers of all lanes that take part; a load does so later,
 * but who comes before it does not see that. */
static bool writes_whole(const struct isa_inst *inst)
{
    const uint64_t partial = ISA_ACC | ISA_PARTIAL | ISA_HALF | ISA_LANE | ISA_NO_EXEC |
                             ISA_INTERP | ISA_PERMLANE | ISA_D16 | ISA_ATOMIC | ISA_IMAGE;
    const uint64_t flags = inst->row->flags;
    if (flags & partial || inst->lds || inst->tfe) return false;
    if (flags & (ISA_VMEM | ISA_IS_DS)) return flags & ISA_LOAD;
    return flags & ISA_VALU && (inst->form == ISA_FORM_BASE || inst->form == ISA_FORM_E64);
}

static bool writes_exec(const struct isa_uses *uses)
{
    return uses->special & ISA_W_EXEC || isa_sgpr_in(uses->sgpr_write, ISA_EXEC_LO) ||
           isa_sgpr_in(uses->sgpr_write, ISA_EXEC_HI);
}

/* What is live behind an item. */
static void join(const struct lower_dead *d, size_t k, struct lower_set *live,
                 struct lower_set *later)
{
    const struct item *item = &d->r->items[d->order[k]];
    bool is_label = item->kind == REWRITE_LABEL;
    if (item->kind == REWRITE_DATA || (!is_label && item->flags & (JUMPS | CALLS))) add_all(live);
    if (!is_label && item->flags & BRANCHES && !(item->flags & CALLS)) {
        uint32_t to = item->target < d->r->n_items ? d->place[item->target] : NONE;
        if (to == NONE) {
            add_all(live);
        } else {
            add(live, d->live[to].bits);
            add(later, d->later[to].bits);
        }
    }
    if (is_label || !(item->flags & ENDS)) {
        if (k + 1 == d->n) {
            add_all(live);
        } else {
            add(live, d->live[k + 1].bits);
            add(later, d->later[k + 1].bits);
        }
    }
    if (live->bits[0] == UINT64_MAX && live->bits[3] == UINT64_MAX) add(later, live->bits);
}

/* What is live before an item; true when it was not known. */
static bool step(struct lower_dead *d, const struct rewrite_function *f, size_t k)
{
    struct lower_set live = { { 0 } }, later = { { 0 } };
    struct isa_inst inst;
    struct isa_uses uses;
    join(d, k, &live, &later);
    if (rewrite_decode(d->r, f, d->order[k], &inst)) {
        isa_uses(&inst, &uses);
        add(&later, uses.vgpr_read);
        if (writes_exec(&uses)) {
            live = later;
        } else {
            for (unsigned w = 0; w < 4 && writes_whole(&inst); w++)
                live.bits[w] &= ~uses.vgpr_write[w];
            add(&live, uses.vgpr_read);
        }
        if (uses.indexed) {
            add_all(&live);
            add_all(&later);
        }
        if (!(inst.row->flags & ISA_VALU)) add(&d->loaded, uses.vgpr_write);
    }
    bool changed =
        memcmp(&live, &d->live[k], sizeof live) || memcmp(&later, &d->later[k], sizeof later);
    d->live[k] = live;
    d->later[k] = later;
    return changed;
}

bool lower_dead_init(struct lower_dead *d, struct rewrite *r, size_t function, unsigned n_registers)
{
    const struct rewrite_function *f = &r->faces[function];
    size_t n = 0;
    for (uint32_t item = f->entry; item != f->end; item = r->items[item].next) n++;
    *d = (struct lower_dead){ .r = r,
                              .n = n,
                              .n_registers = n_registers,
                              .order = malloc((n + 1) * sizeof *d->order),
                              .place = malloc(r->n_items * sizeof *d->place),
                              .live = calloc(n + 1, sizeof *d->live),
                              .later = calloc(n + 1, sizeof *d->later) };
    if (!d->order || !d->place || !d->live || !d->later) {
        lower_dead_deinit(d);
        return false;
    }
    memset(d->place, 255, r->n_items * sizeof *d->place);
    n = 0;
    for (uint32_t item = f->entry; item != f->end; item = r->items[item].next) {
        d->place[item] = (uint32_t)n;
        d->order[n++] = item;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t k = n; k-- > 0;) changed |= step(d, f, k);
    }
    return true;
}

void lower_dead_deinit(struct lower_dead *d)
{
    free(d->order);
    free(d->place);
    free(d->live);
    free(d->later);
    *d = (struct lower_dead){ .r = NULL };
}

bool lower_dead_find(const struct lower_dead *d, uint32_t item, const struct isa_inst *inst,
                     unsigned n, uint16_t *out, bool *waits)
{
    struct lower_set used = { { 0 } };
    struct isa_uses uses;
    uint32_t k = d->place[item];
    unsigned found = 0;
    *waits = false;
    if (k == NONE) return false;
    join(d, k, &used, &(struct lower_set){ { 0 } });
    isa_uses(inst, &uses);
    add(&used, uses.vgpr_read);
    add(&used, uses.vgpr_write);
    for (int round = 0; round < 2; round++)
        for (unsigned v = 0; v < d->n_registers && found < n; v++) {
            if (isa_vgpr_in(used.bits, v) || isa_vgpr_in(d->loaded.bits, v) != (round == 1))
                continue;
            *waits |= round == 1;
            out[found++] = (uint16_t)v;
        }
    return found == n;
}
