/* leaf.c: which scalar registers a function leaves as they are: one that calls nobody, or one whose
 * paths and callees are known. Compilers know that of the functions of one file, whatever the
 * calling convention says, and keep addresses in such registers over a call. */
#include "code/rewrite/values.h"

enum { LINK = 30 };      /* s[30:31] holds where a function returns to */
enum { MOST_DEEP = 32 }; /* calls within calls that are looked at */

static bool decode(const struct rewrite *r, const struct function *f, const struct item *item,
                   struct isa_inst *inst)
{
    const unsigned chip = r->chip | (f->face.wave64 ? ISA_WAVE64 : 0);
    return item->kind != REWRITE_DATA &&
           isa_decode(chip, r->pool + item->words, item->n_words, inst);
}

/* Whether an instruction of a function that was not looked at yet stays in it, or returns. */
static bool stays(const struct function *f, const struct item *item, const struct isa_inst *inst)
{
    if (item->flags & CALLS) return false;
    if (item->flags & BRANCHES &&
        (item->target == NONE || item->target < f->first || item->target >= f->last))
        return false;
    return !(item->flags & JUMPS) || (inst->op[0].kind == ISA_KIND_REG && inst->op[0].reg == LINK);
}

static bool find_writes(const struct rewrite *r, struct function *f, unsigned depth);

/* What it calls, and jumps to at its end. */
static bool add_callees(const struct rewrite *r, struct function *f, unsigned depth)
{
    for (uint32_t c = 0; c < f->n_calls; c++) {
        struct function *callee = &r->functions[r->calls[f->calls + c]];
        if (depth == MOST_DEEP || !find_writes(r, callee, depth + 1)) return false;
        for (unsigned w = 0; w < 2; w++) f->writes[w] |= callee->writes[w];
    }
    return true;
}

/* False when not all is known, and of a function that calls itself. */
static bool find_writes(const struct rewrite *r, struct function *f, unsigned depth)
{
    if (f->leaf != LEAF_UNKNOWN) return f->leaf == LEAF_YES;
    f->leaf = LEAF_NO;
    if (f->first >= f->last || f->face.is_kernel || f->face.refused || f->face.calls_unknown)
        return false;
    for (uint32_t i = f->first; i < f->last; i++) {
        const struct item *item = &r->items[i];
        struct isa_inst inst;
        struct isa_uses uses;
        if (f->is_resolved && !(item->flags & IS_REACHED)) continue;
        if (!decode(r, f, item, &inst) || (!f->is_resolved && !stays(f, item, &inst))) return false;
        isa_uses(&inst, &uses);
        if (uses.indexed && inst.row->flags & ISA_SALU) return false;
        for (unsigned w = 0; w < 2; w++) f->writes[w] |= uses.sgpr_write[w];
    }
    if (f->is_resolved ? !add_callees(r, f, depth) : f->writes[0] >> LINK & 3) return false;
    f->leaf = LEAF_YES;
    return true;
}

bool leaf_keeps(const struct rewrite *r, uint32_t function, unsigned reg)
{
    struct function *f = &r->functions[function];
    return find_writes(r, f, 0) && !(f->writes[reg / 64] >> reg % 64 & 1);
}
