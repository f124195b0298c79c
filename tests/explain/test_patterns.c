/* test_patterns.c: no pattern of a signature says only what another one of it says already. */
#include "help/explain/automaton.h"
#include "help/explain/explain.h"
#include "support.h"

#include <ctype.h>
#include <string.h>

static bool same_letters(const char *a, const char *b, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (explain_lower(a[i]) != explain_lower(b[i])) return false;
    return true;
}

/* Where `size` letters stand in [at, end) of a pattern's text, within one part of it; NULL when
 * nowhere. */
static const char *find_part(const char *part, size_t size, const char *at, const char *end)
{
    for (; at + size <= end; at++)
        if (!memchr(at, '*', size) && same_letters(part, at, size)) return at;
    return NULL;
}

/* Do the parts of `a` behind its first one stand in that order in [at, end)? */
static bool rest_stands(const struct explain_pattern *a, const char *at, const char *end)
{
    for (size_t part = a->first; part < a->size;) {
        part++; /* the star */
        const char *star = memchr(a->text + part, '*', a->size - part);
        const size_t size = star ? (size_t)(star - a->text) - part : a->size - part;
        at = find_part(a->text + part, size, at, end);
        if (!at) return false;
        at += size;
        part += size;
    }
    return true;
}

/* Is every line that `b` finds found by `a` before: where `a` ends first, or has the same first
 * part? Then `b` changes nothing: not what is counted, nor where the excerpt of a long line starts.
 * Stars of `b` may stand for nothing. A line that a terminal broke is read from the end of a
 * pattern's first part on, so there `a` may not have other parts; nor is it looked for in two lines
 * where it is short. */
static bool covers(const struct explain_pattern *a, const struct explain_pattern *b)
{
    if (a->plain != b->plain) return false;
    if (a->alone) return b->alone && a->size == b->size && same_letters(a->text, b->text, a->size);
    if (a->first < EXPLAIN_WRAPPED && b->first >= EXPLAIN_WRAPPED) return false;
    const char *const end = b->text + b->size, *const first_end = b->text + b->first;
    if (a->first == b->first && same_letters(a->text, b->text, a->first))
        return rest_stands(a, first_end, end);
    for (const char *at = b->text; !a->rest && (at = find_part(a->text, a->first, at, end)); at++) {
        const bool starts_word =
            at == b->text ? b->whole || b->alone : at[-1] != '*' && !isalnum((unsigned char)at[-1]);
        if (at + a->first < first_end && (!a->whole || starts_word)) return true;
    }
    return false;
}

static struct explain_pattern pattern(const char *text)
{
    struct explain_pattern p = { .alone = *text == '^' };
    p.text = text + p.alone;
    p.size = strlen(p.text);
    p.first = strcspn(p.text, "*");
    for (size_t i = p.first; i < p.size; i++) p.rest += p.text[i] != '*';
    p.whole = p.first < 6 && isalpha((unsigned char)*p.text);
    return p;
}

static void test_what_covers(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool covers;
    } cases[] = {
        { "no GPU device", "No gpu devices", true },
        { "no GPU devices", "no GPU device", false },
        { "failed to init", "amdgpu failed to initialise", true },
        { "failed to init", "amdgpu failed to init", false }, /* the excerpt starts before it */
        { "failed to init", "amdgpu*failed to initialise", false },
        { "reset*failed", "reset*it failed*code", true },
        { "reset*failed", "reset: code*failed", false }, /* the line may break behind ':' */
        { "reset*failed", "reset*fail*ed", false },
        { "reset*failed", "failed*reset", false },
        { "reset failed", "reset*failed", false },
        { "shorter", "a shorter part of it", false }, /* is not looked for across a line's break */
        { "short", "it: shorter", true },
        { "hort", "it: shorter", false }, /* in the middle of a word */
        { "^Aborted", "Aborted", false },
        { "Aborted", "^Aborted", true },
        { "^Aborted", "^aborted", true },
        { "^Aborted", "^Aborted.", false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct explain_pattern a = pattern(cases[i].a), b = pattern(cases[i].b);
        if (covers(&a, &b) != cases[i].covers) fail_msg("'%s' and '%s'", cases[i].a, cases[i].b);
    }
}

/* Was it made from a row of codes.inc, which says more than the pattern? */
static bool is_composed(const struct explain_automaton *m, const struct explain_pattern *p)
{
    return p->text >= m->composed && p->text < m->composed + m->n_composed;
}

static void test_no_pattern_is_covered(void **state)
{
    (void)state;
    const struct explain_automaton *m;
    assert_int_equal(explain_automaton(&m), RMCP_OK);
    size_t n = 0;
    const struct explain_pattern *const end = m->patterns + m->n_patterns;
    for (const struct explain_pattern *b = m->patterns; b < end; b++) {
        if (b->role != PATTERN_SIGNATURE || is_composed(m, b)) continue;
        for (const struct explain_pattern *a = m->patterns; a < end; a++) {
            if (a == b || a->role != PATTERN_SIGNATURE || a->signature != b->signature) continue;
            if (!covers(a, b)) continue;
            if (a > b && !is_composed(m, a) && covers(b, a)) continue; /* two alike: the later */
            print_error("%s: delete '%s%.*s': '%.*s' finds all of its lines\n", b->signature->id,
                        b->alone ? "^" : "", (int)b->size, b->text, (int)a->size, a->text);
            n++;
            break;
        }
    }
    assert_int_equal(n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_covers),
        cmocka_unit_test(test_no_pattern_is_covered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
