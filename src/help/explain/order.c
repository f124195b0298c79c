/* order.c: which findings belong together: causes first, effects marked, what misleads left out. */
#include "help/explain/order.h"

#include "help/explain/card.h"

#include <stdlib.h>
#include <string.h>

const struct explain_relation explain_relations[] = {
#define CAUSES(cause, others) { EXPLAIN_CAUSES, cause, others },
#define HIDES(cause, others) { EXPLAIN_HIDES, cause, others },
#define REPLACES(cause, others) { EXPLAIN_REPLACES, cause, others },
#define FALLBACK(id) { EXPLAIN_FALLBACK, id, "" },
#define IGNORE(id) { EXPLAIN_IGNORE, id, "" },
#define CARD(id, others) { EXPLAIN_CARD, id, others },
#define VAGUE(id) { EXPLAIN_VAGUE, id, "" },
#define NOTICE(id) { EXPLAIN_NOTICE, id, "" },
#define ONLY(id, chips) { EXPLAIN_ONLY, id, chips },
#include "help/explain/relations.inc"
#undef CAUSES
#undef HIDES
#undef REPLACES
#undef FALLBACK
#undef IGNORE
#undef CARD
#undef VAGUE
#undef NOTICE
#undef ONLY
    { EXPLAIN_CAUSES, NULL, NULL },
};

/* Does relations.inc say that of the signature? */
static bool is_marked(const struct explain_signature *signature, int kind)
{
    for (const struct explain_relation *r = explain_relations; r->cause; r++)
        if ((int)r->kind == kind && !strcmp(r->cause, signature->id)) return true;
    return false;
}

static bool is_in(const char *id, const char *list)
{
    const size_t length = strlen(id);
    for (const char *at = list; (at = strstr(at, id)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return true;
    return false;
}

static struct explain_match *find(struct explain_result *r, const char *id)
{
    for (size_t i = 0; i < r->n_matches; i++)
        if (!strcmp(r->matches[i].signature->id, id)) return &r->matches[i];
    return NULL;
}

static void leave_out(struct explain_result *r, size_t index)
{
    r->n_matches--;
    memmove(&r->matches[index], &r->matches[index + 1],
            (r->n_matches - index) * sizeof *r->matches);
}

/* What speaks of other chips than this one. */
static void leave_out_other_chips(struct explain_result *r)
{
    if (!*r->card.chip) return;
    for (const struct explain_relation *one = explain_relations; one->cause; one++)
        for (size_t i = r->n_matches; one->kind == EXPLAIN_ONLY && i-- > 0;)
            if (!strcmp(r->matches[i].signature->id, one->cause) &&
                !explain_is_one_of(r->card.chip, one->others))
                leave_out(r, i);
}

/* Is one an effect of the other, by the table? */
static bool is_effect(const char *cause, const char *id)
{
    for (const struct explain_relation *r = explain_relations; r->cause; r++)
        if (r->kind == EXPLAIN_CAUSES && !strcmp(r->cause, cause) && is_in(id, r->others))
            return true;
    return false;
}

/* Does the log have anything else that went wrong? Harmless findings do not count, and what says
 * less than this one. */
static bool is_alone(const struct explain_result *r, const struct explain_match *match)
{
    const bool vague = match->by_form || explain_is_vague(match->signature);
    for (size_t i = 0; i < r->n_matches; i++)
        if (&r->matches[i] != match && r->matches[i].signature->weight >= EXPLAIN_HARMLESS &&
            (vague || !explain_is_vague(r->matches[i].signature)) &&
            !is_effect(match->signature->id, r->matches[i].signature->id))
            return false;
    return true;
}

static bool any_found(const struct explain_result *r, const char *ids)
{
    for (size_t i = 0; i < r->n_matches; i++)
        if (is_in(r->matches[i].signature->id, ids)) return true;
    return false;
}

/* May two findings be two names of the same lines? Those of what is harmless are counted alone. */
static bool may_be_same(const struct explain_match *a, const struct explain_match *b)
{
    enum { NEAR = 3 }; /* lines between the two halves of a message */
    return a->signature->weight < EXPLAIN_HARMLESS ||
           (a->line <= b->last + NEAR && b->line <= a->last + NEAR);
}

static void leave_out_superfluous(struct explain_result *r)
{
    for (const struct explain_relation *relation = explain_relations; relation->cause; relation++) {
        if (relation->kind == EXPLAIN_CAUSES || relation->kind == EXPLAIN_VAGUE ||
            relation->kind == EXPLAIN_NOTICE || relation->kind == EXPLAIN_ONLY)
            continue;
        const struct explain_match *cause = find(r, relation->cause);
        if (!cause) continue;
        const bool alone = relation->kind == EXPLAIN_FALLBACK,
                   card = relation->kind == EXPLAIN_CARD;
        if (alone || card || relation->kind == EXPLAIN_IGNORE) {
            const bool fits = alone ? is_alone(r, cause)
                                    : card && (*r->card.chip || cause->by_form || cause->error ||
                                               any_found(r, relation->others));
            if (!fits) leave_out(r, (size_t)(cause - r->matches));
            continue;
        }
        const uint64_t count = relation->kind == EXPLAIN_HIDES ? UINT64_MAX : cause->count;
        for (size_t i = r->n_matches; i-- > 0;)
            if (is_in(r->matches[i].signature->id, relation->others) &&
                r->matches[i].count <= count &&
                (relation->kind == EXPLAIN_HIDES || may_be_same(cause, &r->matches[i])))
                leave_out(r, i);
    }
}

/* The heavier first; of those that weigh about the same, the first in time. */
static int by_weight(const void *a, const void *b)
{
    enum { ALIKE = 6 };
    const struct explain_match *x = a, *y = b;
    const int heavy = x->signature->weight / ALIKE, other = y->signature->weight / ALIKE;
    if (heavy != other) return heavy > other ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* Do both stand in the system's log, whose lines are in the order of time, and the cause later? */
static bool is_later(const struct explain_match *cause, const struct explain_match *effect)
{
    return cause->logged && effect->logged && cause->line > effect->line;
}

/* Every effect of `cause` that stands before it, to behind it. */
static void move_effects(struct explain_result *r, const struct explain_relation *relation)
{
    for (size_t i = 0; i < r->n_matches; i++) {
        const struct explain_match *cause = find(r, relation->cause);
        if (!cause || &r->matches[i] >= cause) return;
        if (!is_in(r->matches[i].signature->id, relation->others)) continue;
        if (is_later(cause, &r->matches[i])) continue;
        const struct explain_match effect = r->matches[i];
        const size_t to = (size_t)(cause - r->matches);
        memmove(&r->matches[i], &r->matches[i + 1], (to - i) * sizeof *r->matches);
        r->matches[to] = effect;
        i--;
    }
}

/* Is it the cause of another finding? */
static bool is_cause(struct explain_result *r, const struct explain_match *match)
{
    for (const struct explain_relation *relation = explain_relations; relation->cause; relation++) {
        if (relation->kind != EXPLAIN_CAUSES || strcmp(relation->cause, match->signature->id))
            continue;
        for (size_t i = 0; i < r->n_matches; i++)
            if (is_in(r->matches[i].signature->id, relation->others)) return true;
    }
    return false;
}

/* What the text calls a warning, and what is harmless, to behind what is not, unless an error
 * follows from it. */
static void move_warnings(struct explain_result *r)
{
    for (size_t left = r->n_matches, i = 0; left-- > 0;) {
        const struct explain_match match = r->matches[i];
        const bool mild =
            match.plain || explain_is_thin(&match) || match.signature->weight < EXPLAIN_HARMLESS;
        if (!mild || is_cause(r, &match)) {
            i++;
            continue;
        }
        memmove(&r->matches[i], &r->matches[i + 1], (r->n_matches - i - 1) * sizeof *r->matches);
        r->matches[r->n_matches - 1] = match;
    }
}

bool explain_went_on(const struct explain_course *course, uint64_t line, uint64_t calm, bool error)
{
    enum { FEW = 6, MANY = 16 }; /* lines without trouble that follow what ended a program */
    return line < course->well || course->calm - calm > (error ? MANY : FEW);
}

void explain_leave_out_noticed(const struct explain_course *course, bool harmless,
                               struct explain_result *r)
{
    for (size_t i = r->n_matches; i-- > 0;) {
        const struct explain_match *m = &r->matches[i];
        const bool thin = explain_is_thin(m) || is_marked(m->signature, EXPLAIN_NOTICE);
        const bool noticed = harmless ? m->signature->weight < EXPLAIN_HARMLESS : thin;
        const bool over = explain_went_on(course, m->last, m->calm, m->raised);
        if (noticed && !m->exception && over) leave_out(r, i);
    }
}

void explain_order(struct explain_result *result)
{
    for (size_t i = 0; i < result->n_matches; i++) result->matches[i].follows = 0;
    leave_out_other_chips(result);
    leave_out_superfluous(result);
    qsort(result->matches, result->n_matches, sizeof *result->matches, by_weight);
    move_warnings(result);
    enum { CHAIN = 4 }; /* causes of causes */
    for (int n = 0; n < CHAIN; n++)
        for (const struct explain_relation *r = explain_relations; r->cause; r++)
            if (r->kind == EXPLAIN_CAUSES) move_effects(result, r);
    for (size_t i = 0; i < result->n_matches; i++)
        for (const struct explain_relation *r = explain_relations; r->cause; r++) {
            const struct explain_match *cause =
                r->kind == EXPLAIN_CAUSES ? find(result, r->cause) : NULL;
            if (!cause || cause >= &result->matches[i] || result->matches[i].follows) continue;
            if (is_in(result->matches[i].signature->id, r->others) &&
                !is_later(cause, &result->matches[i]))
                result->matches[i].follows = (size_t)(cause - result->matches) + 1;
        }
}

bool explain_is_vague(const struct explain_signature *signature)
{
    return signature->weight < EXPLAIN_HARMLESS || is_marked(signature, EXPLAIN_VAGUE);
}

bool explain_is_general(const struct explain_signature *signature)
{
    return explain_is_vague(signature) || is_marked(signature, EXPLAIN_FALLBACK);
}

bool explain_is_notice(const struct explain_match *match)
{
    return match->warning || match->quiet ||
           (!match->raised && !match->by_form && is_marked(match->signature, EXPLAIN_NOTICE));
}

bool explain_is_thin(const struct explain_match *match)
{
    if (match->by_facts || match->by_stack || match->signature->weight < EXPLAIN_HARMLESS)
        return false;
    return match->by_form || explain_is_notice(match) || explain_is_general(match->signature);
}

bool explain_card_matters(const struct explain_result *result)
{
    static const char *const others[] = { "the kernel log", "DKMS", "apt", "CMake" };
    if (!result->family || (!result->n_matches && !result->unknown.about)) return false;
    for (size_t i = 0; result->program && i < sizeof others / sizeof *others; i++)
        if (!strcmp(result->program->name, others[i])) return false;
    for (size_t i = 0; i < result->n_matches; i++)
        if (!explain_is_general(result->matches[i].signature)) return false;
    return true;
}
