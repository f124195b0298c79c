/* leaf.c: which scalar registers a function without calls leaves as they are. Compilers know that
 * of the functions of one file, whatever the calling convention says, and keep addresses in such
 * registers over a call. */
#include "rewrite/values.h"

enum { LINK = 30 }; /* s[30:31] holds where a function returns to */

/* Adds what an instruction writes; false when it may leave the function otherwise than by
 * returning. */
static bool take(const struct rewrite *r, struct function *f, const struct item *item)
{
    const unsigned chip = r->chip | (f->face.wave64 ? ISA_WAVE64 : 0);
    struct isa_inst inst;
    struct isa_uses uses;
    if (item->kind == REWRITE_DATA || item->flags & CALLS ||
        !isa_decode(chip, r->pool + item->words, item->n_words, &inst))
        return false;
    if (item->flags & BRANCHES &&
        (item->target == NONE || item->target < f->first || item->target >= f->last))
        return false;
    if (item->flags & JUMPS && (inst.op[0].kind != ISA_KIND_REG || inst.op[0].reg != LINK))
        return false;
    isa_uses(&inst, &uses);
    for (unsigned w = 0; w < 2; w++) f->writes[w] |= uses.sgpr_write[w];
    return !(uses.indexed && inst.row->flags & ISA_SALU);
}

bool leaf_keeps(const struct rewrite *r, uint32_t function, unsigned reg)
{
    struct function *f = &r->functions[function];
    if (f->leaf == LEAF_UNKNOWN) {
        bool is_leaf = f->first < f->last && !f->face.is_kernel;
        for (uint32_t i = f->first; is_leaf && i < f->last; i++) is_leaf = take(r, f, &r->items[i]);
        is_leaf = is_leaf && !(f->writes[0] >> LINK & 3);
        f->leaf = is_leaf ? LEAF_YES : LEAF_NO;
    }
    return f->leaf == LEAF_YES && !(f->writes[reg / 64] >> reg % 64 & 1);
}
