/* test_rules.c: each silicon-bug rule on snippets that have the pattern and on some that do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "allocations.h"
#include "code/isa/rules.h"

#define NOTHING UINT32_MAX
enum { MAX_WORDS = 16 };

struct snippet {
    const char *name;
    enum isa_rule rule;
    uint32_t at, cause; /* at NOTHING: no rule may fire */
    enum isa_detail detail;
    unsigned reg;
    bool wgp_mode;
    unsigned mode;
    uint32_t words[MAX_WORDS]; /* zeros behind the end are not read */
};

static const struct snippet snippets[] = {
#include "rules_cases.inc"
};

struct seen {
    size_t n;
    struct isa_finding finding[8];
};

static void note(const struct isa_finding *finding, void *context)
{
    struct seen *seen = context;
    if (seen->n < 8) seen->finding[seen->n] = *finding;
    seen->n++;
}

static size_t length(const struct snippet *s)
{
    size_t n = MAX_WORDS;
    while (!s->words[n - 1]) n--;
    return n;
}

static void test_snippets(void **state)
{
    (void)state;
    unsigned positive[ISA_N_RULES] = { 0 }, negative[ISA_N_RULES] = { 0 };
    for (size_t i = 0; i < sizeof snippets / sizeof *snippets; i++) {
        const struct snippet *s = &snippets[i];
        struct seen seen = { 0 };
        struct isa_rules_count count;
        assert_true(isa_rules_check(ISA_GFX1030 | s->mode, s->words, length(s), s->wgp_mode, note,
                                    &seen, &count));
        if (count.n_undecodable) fail_msg("%s: not decoded", s->name);
        if (s->at == NOTHING) {
            negative[s->rule]++;
            if (seen.n) fail_msg("%s: %s", s->name, isa_rule_table[seen.finding[0].rule].id);
            continue;
        }
        positive[s->rule]++;
        const struct isa_finding *f = &seen.finding[0];
        if (seen.n != 1) fail_msg("%s: %zu findings", s->name, seen.n);
        if (f->rule != s->rule || f->detail != s->detail || f->at != s->at ||
            f->cause != s->cause || f->reg != s->reg)
            fail_msg("%s: %s detail %u at %u because of %u, register %u", s->name,
                     isa_rule_table[f->rule].id, f->detail, f->at, f->cause, f->reg);
        assert_int_equal(count.n_findings[s->rule], 1);
        assert_int_equal(count.n_details[s->detail], 1);
    }
    for (unsigned rule = 0; rule < ISA_N_RULES; rule++) {
        assert_true(positive[rule] && negative[rule]);
        assert_non_null(isa_rule_table[rule].id);
        assert_non_null(isa_rule_table[rule].silicon);
    }
}

/* Allocations fail one after the other: no result, no leak, nothing reported. */
static void test_out_of_memory(void **state)
{
    (void)state;
    const struct snippet *s = &snippets[0];
    struct isa_rules_count count;
    for (long k = 1;; k++) {
        struct seen seen = { 0 };
        allocations_arm(k, false);
        bool ok = isa_rules_check(ISA_GFX1030, s->words, length(s), true, note, &seen, &count);
        allocations_arm(0, false);
        if (ok) {
            assert_true(k > 3);
            break;
        }
        assert_int_equal(seen.n, 0);
        assert_int_equal(count.n_instructions, 0);
    }
}

static void test_odd_input(void **state)
{
    (void)state;
    struct isa_rules_count count;
    uint32_t nothing = 0;
    assert_true(isa_rules_check(ISA_GFX1010, &nothing, 0, true, NULL, NULL, &count));
    assert_int_equal(count.n_instructions, 0);
    /* A branch into the second word of an instruction, one before the code, one behind it. */
    const uint32_t branches[] = { 0xbf820001, 0xd6400000, 0x00000000, 0xbf82ff00, 0xbf827fff };
    assert_true(isa_rules_check(ISA_GFX1010, branches, 5, true, NULL, NULL, &count));
    const uint32_t junk[] = { 0xffffffff, 0xbf810000, 0xffffffff };
    assert_true(isa_rules_check(ISA_GFX1010, junk, 3, true, NULL, NULL, &count));
    assert_int_equal(count.n_undecodable, 2);
    assert_int_equal(count.n_instructions, 1);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Every word a branch to a random place, and loads of every SGPR between them: the worst case for
 * a search along paths. Twice the code must not take much more than twice the time. */
static void test_tangled_code_is_linear(void **state)
{
    (void)state;
    double took[2];
    for (unsigned k = 0; k < 2; k++) {
        size_t n = (size_t)25000 << k;
        uint32_t *words = malloc(n * sizeof *words);
        assert_non_null(words);
        uint64_t random = 88172645463325252u;
        for (size_t i = 0; i < n; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            uint32_t reg = (uint32_t)(random >> 20) % 48 * 2;
            words[i] = 0xbf850000 | (uint32_t)(random >> 40 & 0xffff); /* s_cbranch_scc1 */
            if (i % 7 == 0 && i + 2 < n) {
                words[i] = 0xdc308000; /* global_load_dword v0, v0, s[reg:reg+1] */
                words[++i] = reg << 16;
            }
        }
        struct isa_rules_count count;
        double start = seconds();
        assert_true(isa_rules_check(ISA_GFX1030, words, n, true, NULL, NULL, &count));
        took[k] = seconds() - start;
        free(words);
    }
    print_message("tangled: %.3f s, %.3f s for twice the code\n", took[0], took[1]);
    assert_true(took[1] < 8 * took[0] + 0.1);
}

/* Random words of an exact allocation, so that a sanitizer sees every overread. */
static void test_random_words(void **state)
{
    (void)state;
    uint64_t random = 88172645463325252u;
    for (unsigned k = 0; k < 400; k++) {
        size_t n = 1 + k % 97;
        uint32_t *words = malloc(n * sizeof *words);
        assert_non_null(words);
        for (size_t i = 0; i < n; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            words[i] = (uint32_t)(random >> 16);
            if (random % 3 == 0) words[i] = 0xbf820000 | (words[i] & 0x7003f); /* branches */
        }
        struct isa_rules_count count;
        unsigned mode = k % ISA_N_CHIPS | (k & 1 ? ISA_WAVE64 : 0);
        struct seen seen = { 0 };
        assert_true(isa_rules_check(mode, words, n, true, note, &seen, &count));
        for (size_t i = 0; i < seen.n && i < 8; i++) {
            assert_true(seen.finding[i].at < 4 * n);
            assert_true(seen.finding[i].cause < 4 * n);
        }
        free(words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_snippets),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_odd_input),
        cmocka_unit_test(test_random_words),
        cmocka_unit_test(test_tangled_code_is_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
