/* cures.c: waits and deletions where the rules of silicon bugs find their patterns. */
#include "code/rewrite/cures.h"

#include <stdlib.h>
#include <string.h>

#include "code/rewrite/program.h"

enum { MOST_ROUNDS = 12, RSRC1_WGP_MODE = 1 << 29, N_SCALARS = 106 };

#define WAIT_VMEM_SCALAR UINT32_C(0xbfa3ffe3) /* s_waitcnt_depctr 0xffe3 */
#define WAIT_EXEC UINT32_C(0xbfa3fffe)        /* s_waitcnt_depctr 0xfffe */
#define WAIT_STORES UINT32_C(0xbbfd0000)      /* s_waitcnt_vscnt null, 0 */
#define MOVE_TO_NULL UINT32_C(0xbefd0380)     /* s_mov_b32 null, 0 */
#define MOVE_VGPR UINT32_C(0x7e000300)        /* v_mov_b32 v0, v0: or both numbers to it */

struct finding {
    uint32_t item;
    enum isa_rule rule;
    enum isa_detail detail;
    uint64_t at, cause; /* bytes of the new text; a cause elsewhere is UINT64_MAX */
};

struct cure {
    struct rewrite *r;
    struct rewrite_cured *out;
    unsigned rules;
    struct isa_code *code; /* of the functions that are not refused */
    size_t *index;         /* which they are */
    size_t n;
    struct finding *findings;
    size_t n_findings, room;
    uint16_t *tried; /* by item: rules that were cured before its clause, and came back */
    size_t tried_room;
    uint32_t *run; /* by item: which straight code it stands in */
    size_t run_room;
    uint64_t base; /* byte offset of the function at hand in the new text */
    unsigned scratch;
    bool no_memory;
};

static void found(const struct isa_finding *finding, void *context)
{
    struct cure *c = context;
    if (!rewrite_grow(&c->findings, &c->room, c->n_findings, sizeof *c->findings)) {
        c->no_memory = true;
        return;
    }
    const uint64_t at = c->base + finding->at;
    c->findings[c->n_findings++] = (struct finding){
        .item = rewrite_item_at(c->r, at),
        .rule = finding->rule,
        .detail = finding->detail,
        .at = at,
        .cause = finding->cause == ISA_NO_CAUSE ? UINT64_MAX : c->base + finding->cause,
    };
}

/* WGP mode of a kernel; device functions as any of them may be called from one that has it. */
static bool has_wgp_mode(const struct codeobj *object, const struct rewrite_function *f)
{
    for (size_t i = 0; i < object->n_kernels && f->is_kernel; i++)
        if (object->kernels[i].function == f->symbol)
            return object->kernels[i].descriptor.rsrc1 & RSRC1_WGP_MODE;
    return true;
}

static bool start(struct cure *c)
{
    struct rewrite *r = c->r;
    c->code = calloc(r->n_functions + 1, sizeof *c->code);
    c->index = calloc(r->n_functions + 1, sizeof *c->index);
    if (!c->code || !c->index) return false;
    for (size_t i = 0; i < r->n_functions; i++) {
        const struct rewrite_function *f = &r->faces[i];
        if (f->refused) continue;
        c->index[c->n] = i;
        c->code[c->n++] = (struct isa_code){ .chip_mode = r->chip | (f->wave64 ? ISA_WAVE64 : 0),
                                             .wgp_mode = has_wgp_mode(r->object, f),
                                             .is_kernel = f->is_kernel };
    }
    return true;
}

/* All findings of the text as it is laid out now. */
static bool look(struct cure *c, const struct rewrite_text *text)
{
    struct isa_calls *calls = NULL;
    c->n_findings = 0;
    for (size_t i = 0; i < c->n; i++) {
        uint64_t address = 0, size = 0;
        rewrite_place(c->r, &c->r->faces[c->index[i]], &address, &size);
        c->code[i].address = address;
        c->code[i].words = text->words + (address - c->r->new_address) / 4;
        c->code[i].n_words = (size_t)size / 4;
    }
    if (!isa_calls_create(c->code, c->n, &calls)) return false;
    bool ok = true;
    for (size_t i = 0; i < c->n && ok; i++) {
        struct isa_rules_count count;
        c->base = c->code[i].address - c->r->new_address;
        ok = isa_calls_check(calls, i, found, c, &count);
    }
    isa_calls_destroy(calls);
    return ok && !c->no_memory;
}

/* ---- what is done about one ---- */

static rmcp_status insert(struct cure *c, const struct finding *f, uint32_t word)
{
    uint16_t bit = (uint16_t)(1u << f->rule);
    bool again = c->tried[f->item] & bit;
    c->tried[f->item] |= bit;
    return rewrite_insert(c->r, f->item, again ? REWRITE_ON_ALL_PATHS : REWRITE_BEFORE_CLAUSE,
                          &word, 1, NULL);
}

/* v_permlane behind v_cmpx: any other VALU between them, here a register onto itself. */
static rmcp_status part_permlane(struct cure *c, const struct finding *f,
                                 const struct rewrite_function *function, bool *done)
{
    struct isa_inst inst;
    if (!rewrite_decode(c->r, function, f->item, &inst) || inst.op[0].kind != ISA_KIND_VGPR) {
        *done = false;
        return RMCP_OK;
    }
    uint32_t v = inst.op[0].reg - ISA_VGPR0;
    return insert(c, f, MOVE_VGPR | v | v << 17);
}

/* A long image instruction leaves its clause; or a buffer instruction keeps off it. */
static rmcp_status part_nsa(struct cure *c, const struct finding *f)
{
    const uint32_t nop = WORD_S_NOP;
    uint32_t clause = rewrite_clause(c->r, f->item);
    if (f->detail == ISA_DETAIL_CLAUSE)
        return clause == NONE ? RMCP_OK : rewrite_delete(c->r, clause);
    return rewrite_insert(c->r, f->item, REWRITE_ON_ALL_PATHS, &nop, 1, NULL);
}

static rmcp_status cure_one(struct cure *c, const struct finding *f,
                            const struct rewrite_function *function, bool *done)
{
    *done = true;
    switch (f->rule) {
    case ISA_RULE_VMEM_SCALAR_WRITE: return insert(c, f, WAIT_VMEM_SCALAR);
    case ISA_RULE_VCMPX_EXEC_WAR: return insert(c, f, WAIT_EXEC);
    case ISA_RULE_LDS_BRANCH_VMEM: return insert(c, f, WAIT_STORES);
    case ISA_RULE_SMEM_VECTOR_WRITE: return insert(c, f, MOVE_TO_NULL);
    case ISA_RULE_VCMPX_PERMLANE: return part_permlane(c, f, function, done);
    case ISA_RULE_INST_PREFETCH: return rewrite_delete(c->r, f->item);
    case ISA_RULE_NSA: return part_nsa(c, f);
    case ISA_RULE_LDS_MISALIGNED: return rewrite_split_access(c->r, function, f->item, done);
    case ISA_RULE_SCRATCH_OFFSET:
    case ISA_RULE_FLAT_OFFSET:
        if (c->scratch != NONE)
            return rewrite_fold_offset(c->r, function, f->item, c->scratch, done);
        break;
    default: break;
    }
    *done = false;
    return RMCP_OK;
}

/* The function of an item's place in the new text. */
static const struct rewrite_function *function_of(const struct cure *c, uint32_t item)
{
    uint64_t at = c->r->new_address + c->r->items[item].at;
    size_t low = 0, high = c->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->code[middle].address <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &c->r->faces[c->index[low - 1]] : NULL;
}

/* Number the pieces of straight code. */
static bool find_runs(struct cure *c)
{
    const struct rewrite *r = c->r;
    uint32_t n = 0;
    if (r->n_items > c->run_room) {
        free(c->run);
        c->run = malloc(r->n_items * sizeof *c->run);
        c->run_room = c->run ? r->n_items : 0;
        if (!c->run) return false;
    }
    for (uint32_t i = r->first_item; i != NONE; i = r->items[i].next) {
        n += r->items[i].kind == REWRITE_LABEL;
        c->run[i] = n;
        n += (r->items[i].flags & (BRANCHES | ENDS | CALLS | JUMPS)) != 0;
    }
    return true;
}

/* Whether the wait before an earlier finding of this round in the same straight code is one for
 * this, too: it was caused before that. */
static bool is_cured(const struct cure *c, const struct finding *f, const struct finding *before)
{
    bool waits = f->rule == ISA_RULE_VMEM_SCALAR_WRITE || f->rule == ISA_RULE_VCMPX_EXEC_WAR ||
                 f->rule == ISA_RULE_LDS_BRANCH_VMEM || f->rule == ISA_RULE_SMEM_VECTOR_WRITE;
    if (!waits || !before || c->run[before->item] != c->run[f->item]) return false;
    return !(f->cause >= before->at && f->cause <= f->at);
}

static rmcp_status mend(struct cure *c, bool *changed)
{
    const struct finding *last[ISA_N_RULES] = { NULL };
    *changed = false;
    if (!find_runs(c)) return rmcp_fail_memory("cures", c->r->n_items);
    if (c->r->n_items > c->tried_room) {
        uint16_t *tried = realloc(c->tried, c->r->n_items * sizeof *tried);
        if (!tried) return rmcp_fail_memory("cures", c->r->n_items);
        memset(tried + c->tried_room, 0, (c->r->n_items - c->tried_room) * sizeof *tried);
        c->tried = tried;
        c->tried_room = c->r->n_items;
    }
    for (size_t i = 0; i < c->n_findings; i++) {
        const struct finding *f = &c->findings[i];
        bool done = false;
        if (!(c->rules >> f->rule & 1) || f->item == NONE || c->r->items[f->item].is_gone ||
            !(c->r->items[f->item].flags & IS_REACHED))
            continue;
        if (is_cured(c, f, last[f->rule])) {
            *changed = true; /* to be seen in the next round */
            continue;
        }
        const struct rewrite_function *function = function_of(c, f->item);
        rmcp_status status = function ? cure_one(c, f, function, &done) : RMCP_OK;
        if (status) return status;
        if (!done) continue;
        last[f->rule] = f;
        c->out->n_cures[f->rule]++;
        *changed = true;
    }
    return RMCP_OK;
}

/* A scalar register, or an aligned pair, that no instruction of the object names; NONE: there is
 * none. Those that a caller from elsewhere does not expect to be kept come first. */
static unsigned find_scratch(const struct rewrite *r)
{
    uint64_t used[2] = { 0, 0 };
    unsigned width = 1;
    for (size_t i = 0; i < r->n_functions; i++) {
        const struct rewrite_function *f = &r->faces[i];
        if (f->wave64) width = 2;
        for (uint32_t item = f->entry; item != f->end; item = r->items[item].next) {
            struct isa_inst inst;
            struct isa_uses uses;
            if (!rewrite_decode(r, f, item, &inst)) continue;
            isa_uses(&inst, &uses);
            if (uses.indexed && inst.row->flags & ISA_SALU) return NONE;
            for (unsigned w = 0; w < 2; w++) used[w] |= uses.sgpr_read[w] | uses.sgpr_write[w];
        }
    }
    /* What a kernel starts with (up to 16 user registers and some more) is not always read. */
    static const unsigned from[] = { 24, 34 }, to[] = { 30, N_SCALARS };
    for (unsigned k = 0; k < 2; k++)
        for (unsigned reg = from[k]; reg + width <= to[k]; reg += width)
            if (!isa_sgpr_in(used, reg) && !isa_sgpr_in(used, reg + width - 1)) return reg;
    return NONE;
}

rmcp_status rewrite_cure(struct rewrite *r, const struct rewrite_options *options, unsigned rules,
                         struct rewrite_text *text, struct rewrite_cured *out)
{
    memset(out, 0, sizeof *out);
    struct rewrite_options asked = *options;
    if (rules >> ISA_RULE_BRANCH_3F & 1) asked.avoid_3f = true;
    struct cure c = { .r = r, .out = out, .rules = rules, .scratch = find_scratch(r) };
    rmcp_status status = start(&c) ? RMCP_OK : rmcp_fail_memory("cures", r->n_functions);
    bool changed = !status;
    while (changed && !status) {
        struct rewrite_options now = asked;
        if (!out->n_rounds) now.avoid_3f = options->avoid_3f; /* as it was: to be counted */
        status = rewrite_layout(r, &now, text);
        if (!status && !look(&c, text)) status = rmcp_fail_memory("findings", c.n_findings);
        for (size_t i = 0; !status && !out->n_rounds && i < c.n_findings; i++)
            out->n_found[c.findings[i].rule]++;
        if (!status) status = mend(&c, &changed);
        if (!status && !out->n_rounds++) changed = true; /* laid out once more with avoid_3f */
        if (!status && changed && out->n_rounds > MOST_ROUNDS)
            status = rmcp_fail(RMCP_E_UNSUPPORTED, "cures do not come to rest");
    }
    for (size_t i = 0; !status && i < c.n_findings; i++) {
        out->n_left[c.findings[i].rule]++;
        out->n_unreached +=
            c.findings[i].item != NONE && !(r->items[c.findings[i].item].flags & IS_REACHED);
    }
    out->n_cures[ISA_RULE_BRANCH_3F] = r->n_nops;
    free(c.code);
    free(c.index);
    free(c.findings);
    free(c.tried);
    free(c.run);
    return status;
}
