/* calls.c: the silicon-bug rules across functions: what each leaves behind its calls, and what it
 * meets when it is called.
 *
 * First who calls whom; then what every function does to facts, again for the callers of each whose
 * summary grew; then what holds at every call, again for each function whose entry grew. */
#include <stdlib.h>
#include <string.h>

#include "code/isa/facts.h"
#include "code/isa/flow.h"

struct function {
    struct facts entry;
    struct summary summary;
    uint32_t *callees;
    size_t n_callees;
    bool jumps;  /* has what may be a call or a jump out of it */
    bool calls;  /* does call, or jump to another function     */
    bool called; /* by a function that is here     */
    bool waits;  /* in the list of what is to be done */
    uint8_t n_solved;
    size_t solved_at, changed_at; /* by a clock that counts changes */
    uint64_t written[2];          /* scalar registers, by it and by what it calls */
};

struct isa_calls {
    const struct isa_code *codes;
    struct function *functions;
    size_t n;
    struct facts entry_of_any; /* what holds at calls that may go anywhere */
    size_t *list;              /* a ring of functions to be done */
    size_t head, length;
};

/* A function that is solved more often than this is taken for the worst: hostile code only. */
enum { MOST_SOLVED = 20 };

/* Everything that can outlive a jump: that itself is a scalar instruction and a branch. */
static const struct summary worst = {
    .gen = { { UINT64_MAX, UINT64_MAX, 0, 0, TAIL(F_EXEC) | TAIL(F_CMPX) | BRANCHED_FACTS } },
    .pass = K_VMEM | K_EXEC | K_CMPX | K_LDS,
    .returns = true,
};

/* Does a word look like s_setpc, s_swappc or s_call? Some are constants: no harm. */
static bool may_jump(uint32_t w)
{
    unsigned sop1 = w >> 8 & 255;
    return (w >> 23 == 0x17d && (sop1 == 0x20 || sop1 == 0x21)) || w >> 23 == 0x176;
}

const struct summary *isa_calls_summary(const struct isa_calls *calls, size_t self, bool is_known,
                                        int64_t to, size_t *index)
{
    *index = SIZE_MAX;
    if (!is_known) return &worst;
    uint64_t address = calls->codes[self].address + 4 * (uint64_t)to;
    size_t low = 0, high = calls->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (calls->codes[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == calls->n || calls->codes[low].address != address) return &worst;
    *index = low;
    return &calls->functions[low].summary;
}

static void wait_for(struct isa_calls *calls, size_t i)
{
    if (calls->functions[i].waits) return;
    calls->functions[i].waits = true;
    calls->list[(calls->head + calls->length++) % calls->n] = i;
}

static size_t take_next(struct isa_calls *calls)
{
    size_t i = calls->list[calls->head];
    calls->head = (calls->head + 1) % calls->n;
    calls->length--;
    calls->functions[i].waits = false;
    return i;
}

/* True when `into` grew. */
static bool join(struct facts *into, const struct facts *facts)
{
    bool grew = false;
    for (unsigned w = 0; w < N_WORDS; w++) {
        grew |= (facts->bits[w] & ~into->bits[w]) != 0;
        into->bits[w] |= facts->bits[w];
    }
    return grew;
}

/* One function, and the others as it sees them. */
struct seen_from {
    struct isa_calls *calls;
    size_t self;
};

/* ---- who calls whom, and what they write ---- */

static void clobbers(const void *context, const struct isa_jump *jump, uint64_t sgprs[2])
{
    const struct seen_from *from = context;
    size_t callee;
    isa_calls_summary(from->calls, from->self, jump->is_known, jump->to, &callee);
    sgprs[0] = callee == SIZE_MAX ? UINT64_MAX : from->calls->functions[callee].written[0];
    sgprs[1] = callee == SIZE_MAX ? UINT64_MAX : from->calls->functions[callee].written[1];
}

static void find_written(const struct isa_code *code, uint64_t written[2])
{
    struct isa_inst inst;
    struct isa_uses uses;
    written[0] = written[1] = 0;
    for (size_t i = 0, n; i < code->n_words; i += n ? n : 1) {
        n = isa_decode(code->chip_mode, code->words + i, code->n_words - i, &inst);
        if (!n) continue;
        isa_uses(&inst, &uses);
        written[0] |= uses.indexed ? UINT64_MAX : uses.sgpr_write[0];
        written[1] |= uses.indexed ? UINT64_MAX : uses.sgpr_write[1];
    }
}

/* List the functions that one calls, and what it writes with them. `*smaller` when that is less
 * than was thought. */
static bool find_callees(struct isa_calls *calls, size_t i, bool *smaller)
{
    struct function *f = &calls->functions[i];
    const struct isa_code *code = &calls->codes[i];
    const struct seen_from from = { calls, i };
    const struct isa_flow_callees callees = { clobbers, &from };
    struct isa_flow flow;
    uint64_t written[2];
    if (!isa_flow_init(&flow, code->chip_mode, code->words, code->n_words, &callees)) return false;
    if (code->is_kernel) /* which nobody calls */
        memcpy(written, f->written, sizeof written);
    else
        find_written(code, written);
    f->calls = false;
    free(f->callees);
    f->n_callees = 0;
    f->callees = malloc((flow.n_jumps + 1) * sizeof *f->callees);
    for (size_t b = 0; f->callees && b < flow.n_blocks; b++) {
        const struct isa_block *block = &flow.blocks[b];
        if (block->jump == ISA_NO_BLOCK || block->target != ISA_NO_BLOCK) continue;
        const struct isa_jump *jump = &flow.jumps[block->jump];
        uint64_t more[2];
        size_t callee;
        if (!jump->is_call && !jump->is_known) continue; /* a return */
        f->calls = true;
        isa_calls_summary(calls, i, jump->is_known, jump->to, &callee);
        if (callee != SIZE_MAX) f->callees[f->n_callees++] = (uint32_t)callee;
        clobbers(&from, jump, more);
        written[0] |= more[0];
        written[1] |= more[1];
    }
    isa_flow_deinit(&flow);
    *smaller = written[0] != f->written[0] || written[1] != f->written[1];
    memcpy(f->written, written, sizeof written);
    return f->callees;
}

/* Has what a function was solved with changed since? */
static bool is_stale(const struct isa_calls *calls, const struct function *f)
{
    for (size_t k = 0; k < f->n_callees; k++)
        if (calls->functions[f->callees[k]].changed_at > f->solved_at) return true;
    return !f->n_solved;
}

/* At first everybody writes everything; that gets less as calls are understood, and is right at any
 * time. */
static bool solve_callees(struct isa_calls *calls)
{
    size_t clock = 0;
    for (size_t i = 0; i < calls->n; i++)
        memset(calls->functions[i].written, 0xff, sizeof calls->functions[i].written);
    bool again = true;
    for (unsigned round = 0; again; round++) {
        again = false;
        for (size_t k = 0; k < calls->n; k++) {
            const size_t i = round & 1 ? calls->n - 1 - k : k; /* long chains of either order */
            struct function *f = &calls->functions[i];
            bool smaller;
            if (!f->jumps || f->n_solved == MOST_SOLVED || !is_stale(calls, f)) continue;
            f->solved_at = clock;
            f->n_solved++;
            if (!find_callees(calls, i, &smaller)) return false;
            if (smaller) f->changed_at = ++clock;
            again |= smaller;
        }
    }
    for (size_t i = 0; i < calls->n; i++) {
        struct function *f = &calls->functions[i];
        f->n_solved = 0;
        f->solved_at = f->changed_at = 0;
        for (size_t k = 0; k < f->n_callees; k++) calls->functions[f->callees[k]].called = true;
    }
    return true;
}

/* ---- facts ---- */

static void meet_call(void *context, size_t callee, const struct facts *facts)
{
    const struct seen_from *from = context;
    struct isa_calls *calls = from->calls;
    if (callee != SIZE_MAX) {
        if (join(&calls->functions[callee].entry, facts)) wait_for(calls, callee);
        return;
    }
    if (!join(&calls->entry_of_any, facts)) return;
    for (size_t i = 0; i < calls->n; i++)
        if (!calls->codes[i].is_kernel && join(&calls->functions[i].entry, &calls->entry_of_any))
            wait_for(calls, i);
}

static bool solve(struct isa_calls *calls, size_t i, bool entries, struct summary *out)
{
    struct seen_from from = { calls, i };
    const struct isa_flow_callees callees = { clobbers, &from };
    struct rules_request request = { .code = &calls->codes[i],
                                     .calls = calls,
                                     .self = i,
                                     .callees = &callees,
                                     .met = entries ? meet_call : NULL,
                                     .context = &from };
    if (entries) request.entry = calls->functions[i].entry;
    return isa_rules_solve(&request, out);
}

static bool grew(const struct summary *old, const struct summary *new)
{
    struct facts all = old->gen;
    return join(&all, &new->gen) || new->pass & ~old->pass || (new->returns && !old->returns);
}

static bool solve_summaries(struct isa_calls *calls)
{
    size_t clock = 0;
    bool again = true;
    for (unsigned round = 0; again; round++) {
        again = false;
        for (size_t k = 0; k < calls->n; k++) {
            const size_t i = round & 1 ? calls->n - 1 - k : k; /* long chains of either order */
            struct function *f = &calls->functions[i];
            struct summary new = worst;
            if (!f->jumps || !f->called || !is_stale(calls, f)) continue;
            f->solved_at = clock;
            if (f->n_solved < MOST_SOLVED) {
                f->n_solved++;
                if (!solve(calls, i, false, &new)) return false;
            }
            if (!grew(&f->summary, &new)) continue;
            f->summary = new;
            f->changed_at = ++clock;
            again = true;
        }
    }
    return true;
}

static bool solve_entries(struct isa_calls *calls)
{
    for (size_t i = 0; i < calls->n; i++) {
        struct function *f = &calls->functions[i];
        f->n_solved = 0;
        if (!f->called && !calls->codes[i].is_kernel) f->entry = worst.gen;
        if (f->calls) wait_for(calls, i);
    }
    while (calls->length) {
        size_t i = take_next(calls);
        struct function *f = &calls->functions[i];
        struct summary unused;
        if (!f->calls) continue;
        if (f->n_solved == MOST_SOLVED)
            f->entry = worst.gen;
        else
            f->n_solved++;
        if (!solve(calls, i, true, &unused)) return false;
    }
    return true;
}

bool isa_calls_create(const struct isa_code *functions, size_t n_functions, struct isa_calls **out)
{
    struct isa_calls *calls = calloc(1, sizeof *calls);
    *out = NULL;
    if (!calls) return false;
    calls->codes = functions;
    calls->n = n_functions;
    calls->functions = calloc(n_functions + 1, sizeof *calls->functions);
    calls->list = malloc((n_functions + 1) * sizeof *calls->list);
    bool ok = calls->functions && calls->list;
    for (size_t i = 0; ok && i < n_functions; i++)
        for (size_t w = 0; w < functions[i].n_words && !calls->functions[i].jumps; w++)
            calls->functions[i].jumps = may_jump(functions[i].words[w]);
    ok = ok && solve_callees(calls) && solve_summaries(calls) && solve_entries(calls);
    if (!ok) {
        isa_calls_destroy(calls);
        return false;
    }
    *out = calls;
    return true;
}

void isa_calls_destroy(struct isa_calls *calls)
{
    if (!calls) return;
    for (size_t i = 0; calls->functions && i < calls->n; i++) free(calls->functions[i].callees);
    free(calls->functions);
    free(calls->list);
    free(calls);
}

bool isa_calls_check(const struct isa_calls *calls, size_t index, isa_finding_fn *found,
                     void *context, struct isa_rules_count *count)
{
    struct seen_from from = { (struct isa_calls *)(uintptr_t)calls, index }; /* only read */
    const struct isa_flow_callees callees = { clobbers, &from };
    struct rules_request request = { .code = &calls->codes[index],
                                     .calls = calls,
                                     .self = index,
                                     .entry = calls->functions[index].entry,
                                     .callees = &callees };
    return isa_rules_find(&request, found, context, count);
}
