/* calls.c: the silicon-bug rules across functions: what each leaves behind its calls, and what it
 * meets when it is called.
 *
 * First what every function does to facts, again for the callers of each whose summary grew. Then
 * what holds at every call, again for each function whose entry grew. Both only grow, so both end.
 */
#include <stdlib.h>
#include <string.h>

#include "isa/facts.h"

struct function {
    struct facts entry;
    struct summary summary;
    uint32_t *callees;
    size_t n_callees;
    bool jumps;  /* has a call or a jump out of it */
    bool called; /* by a function that is here     */
    bool waits;  /* in the list of what is to be done */
    uint8_t n_solved;
    size_t solved_at, grew_at; /* by a clock that counts summaries that grew */
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

struct note {
    struct isa_calls *calls;
    size_t self;
    bool entries; /* the second pass: facts at calls go to entries */
};

static bool add_callee(struct isa_calls *calls, struct function *f, size_t callee)
{
    calls->functions[callee].called = true;
    if (!(f->n_callees & (f->n_callees - 1))) { /* full at powers of two */
        size_t room = f->n_callees ? 2 * f->n_callees : 1;
        uint32_t *more = realloc(f->callees, room * sizeof *more);
        if (!more) return false;
        f->callees = more;
    }
    f->callees[f->n_callees++] = (uint32_t)callee;
    return true;
}

static bool note_call(void *context, size_t callee, const struct facts *facts)
{
    const struct note *note = context;
    struct isa_calls *calls = note->calls;
    struct function *f = &calls->functions[note->self];
    if (!note->entries)
        return callee == SIZE_MAX || f->n_solved > 1 || add_callee(calls, f, callee);
    if (callee != SIZE_MAX) {
        if (join(&calls->functions[callee].entry, facts)) wait_for(calls, callee);
        return true;
    }
    if (!join(&calls->entry_of_any, facts)) return true;
    for (size_t i = 0; i < calls->n; i++)
        if (!calls->codes[i].is_kernel && join(&calls->functions[i].entry, &calls->entry_of_any))
            wait_for(calls, i);
    return true;
}

static bool solve(struct isa_calls *calls, size_t i, bool entries, struct summary *out)
{
    struct function *f = &calls->functions[i];
    struct note note = { calls, i, entries };
    struct rules_request request = {
        .code = &calls->codes[i], .calls = calls, .self = i, .met = note_call, .context = &note
    };
    if (entries) request.entry = f->entry;
    return isa_rules_solve(&request, out);
}

static bool grew(const struct summary *old, const struct summary *new)
{
    struct facts all = old->gen;
    return join(&all, &new->gen) || new->pass & ~old->pass || (new->returns && !old->returns);
}

/* Has a summary that a function was solved with grown since? */
static bool is_stale(const struct isa_calls *calls, const struct function *f)
{
    for (size_t k = 0; k < f->n_callees; k++)
        if (calls->functions[f->callees[k]].grew_at > f->solved_at) return true;
    return !f->n_solved;
}

static bool solve_summaries(struct isa_calls *calls)
{
    size_t clock = 0;
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < calls->n; i++) {
            struct function *f = &calls->functions[i];
            struct summary new = worst;
            if (!f->jumps || !is_stale(calls, f)) continue;
            f->solved_at = clock;
            if (f->n_solved < MOST_SOLVED) {
                f->n_solved++;
                if (!solve(calls, i, false, &new)) return false;
            }
            if (!grew(&f->summary, &new)) continue;
            f->summary = new;
            f->grew_at = ++clock;
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
        if (f->jumps) wait_for(calls, i);
    }
    while (calls->length) {
        size_t i = take_next(calls);
        struct function *f = &calls->functions[i];
        struct summary unused;
        if (!f->jumps) continue; /* calls nobody */
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
    ok = ok && solve_summaries(calls) && solve_entries(calls);
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
    struct rules_request request = { .code = &calls->codes[index],
                                     .calls = calls,
                                     .self = index,
                                     .entry = calls->functions[index].entry };
    return isa_rules_find(&request, found, context, count);
}
