/* test_rewrite.c: instructions replaced and deleted, with all that leads over them; every
 * allocation of src/code/rewrite failed in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "allocations.h"
#include "code/rewrite/cures.h"
#include "judge.h"
#include "sample.h"

enum { NEW_AT = 0x20000 };
static const uint32_t nop_3 = 0xbf800003, code_end = 0xbf9f0000;

/* One piece of code, the words' places in it, and a function behind it. */
enum {
    CLAUSE = 0,   /* s_clause 0x1                              */
    FIRST = 1,    /* global_load_dword v2, v0, s[0:1]          */
    SECOND = 3,   /* global_load_dword v3, v0, s[0:1] offset:4 */
    WAIT = 5,     /* s_waitcnt vmcnt(0)                        */
    MOVE = 6,     /* v_mov_b32 v1, 0x12345678                  */
    BRANCH = 8,   /* s_cbranch_scc0 to TARGET                  */
    SKIPPED = 9,  /* s_nop 0                                   */
    TARGET = 10,  /* v_or_b32 v2, v2, v3                       */
    GETPC = 11,   /* s_getpc_b64 s[34:35]                      */
    ADD = 12,     /* s_add_u32 s34, s34, a literal             */
    ADDC = 14,    /* s_addc_u32 s35, s35, a literal            */
    LOAD = 16,    /* s_load_dword s36, s[34:35], 0x0           */
    CALL = 18,    /* s_call_b64 s[30:31], FUNCTION             */
    LAST = 19,    /* s_waitcnt lgkmcnt(0)                      */
    END = 20,     /* s_endpgm                                  */
    FUNCTION = 21 /* s_mov_b32 s20, 5; s_setpc_b64 s[30:31]    */
};
static const uint32_t code[] = {
    0xbfa10001, 0xdc308000,
    0x02000000, 0xdc308004,
    0x03000000, 0xbf8c3f70,
    0x7e0202ff, 0x12345678,
    0xbf840001, 0xbf800000,
    0x38040702, 0xbea21f00,
    0x8022ff22, (uint32_t)(SAMPLE_DATA_AT - SAMPLE_TEXT_AT - 4 * 12),
    0x8223ff23, 0xffffffff,
    0xf4000911, 0xfa000000,
    0xbb1e0002, 0xbf8cc07f,
    0xbf810000, 0xbe940385,
    0xbe80201e,
};
enum { N_WORDS = sizeof code / sizeof *code };

struct trial {
    struct sample sample;
    struct rewrite *rewrite;
    struct rewrite_text text;
    struct rewrite_options options;
};

static void lift(struct trial *t, const uint32_t *words, size_t n, size_t n_kernel)
{
    memset(t, 0, sizeof *t);
    t->options.address = NEW_AT;
    sample_make(&t->sample, (const uint8_t *)words, 4 * n, 4 * n_kernel, false);
    assert_int_equal(rewrite_lift(&t->sample.object, &t->rewrite), RMCP_OK);
    size_t n_functions;
    const struct rewrite_function *f = rewrite_functions(t->rewrite, &n_functions);
    for (size_t i = 0; i < n_functions; i++)
        if (f[i].refused) fail_msg("%s: %s", f[i].symbol->name, f[i].refused);
}

static void lift_code(struct trial *t)
{
    lift(t, code, N_WORDS, FUNCTION);
    assert_int_equal(rewrite_layout(t->rewrite, &t->options, &t->text), RMCP_OK);
    assert_true(t->text.n_words >= N_WORDS);
}

/* The item of a word, by the layout before anything changed. */
static uint32_t item_of(const struct trial *t, size_t word)
{
    uint32_t item = rewrite_item_at(t->rewrite, 4 * word);
    assert_int_not_equal(item, REWRITE_NONE);
    return item;
}

/* Where a word of the old text is now; the old place of what is gone leads nowhere. */
static int64_t place_of(const struct trial *t, size_t word)
{
    uint64_t at;
    if (!rewrite_address(t->rewrite, SAMPLE_TEXT_AT + 4 * word, &at)) return -1;
    return (int64_t)(at - NEW_AT) / 4;
}

/* Lays out: the words are those of `code` with `n_old` words at `at` replaced by others, and
 * without the s_clause where `dropped` says so; references lead where they led. */
static void expect(struct trial *t, size_t at, size_t n_old, const uint32_t *words, size_t n,
                   bool dropped)
{
    uint32_t want[N_WORDS + 8];
    size_t n_want = 0, end = 0;
    assert_int_equal(rewrite_layout(t->rewrite, &t->options, &t->text), RMCP_OK);
    for (size_t i = 0; i <= N_WORDS; i++) {
        if (i == at)
            for (size_t k = 0; k < n; k++) want[n_want++] = words[k];
        if (i == N_WORDS || (i >= at && i < at + n_old) || (dropped && i == CLAUSE)) continue;
        want[n_want++] = code[i];
    }
    const size_t shift = n - n_old - dropped;
    /* The branch goes over one word, the call to the function, the sum to the data. */
    int64_t branch = place_of(t, BRANCH), call = place_of(t, CALL), add = place_of(t, ADD);
    assert_true(branch >= 0 && call >= 0 && add >= 0);
    want[branch] = (code[BRANCH] & 0xffff0000) | (uint32_t)(place_of(t, TARGET) - branch - 1);
    want[call] = (code[CALL] & 0xffff0000) | (uint32_t)(place_of(t, FUNCTION) - call - 1);
    want[add + 1] = (uint32_t)(SAMPLE_DATA_AT - (NEW_AT + 4 * (int32_t)add));
    assert_int_equal(n_want, N_WORDS + shift);
    assert_memory_equal(t->text.words, want, 4 * n_want);
    for (end = n_want; end < t->text.n_words; end++) assert_int_equal(t->text.words[end], code_end);
}

static void test_delete(void **state)
{
    (void)state;
    static const struct {
        size_t at, n;
        bool drops; /* the clause that it stands under */
    } cases[] = { { CLAUSE, 1, false },  { FIRST, 2, true }, { SECOND, 2, true },
                  { WAIT, 1, false },    { MOVE, 2, false }, { SKIPPED, 1, false },
                  { TARGET, 1, false },  { LOAD, 2, false }, { LAST, 1, false },
                  { FUNCTION, 1, false } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trial t;
        lift_code(&t);
        const uint32_t item = item_of(&t, cases[i].at);
        assert_int_equal(rewrite_delete(t.rewrite, item), RMCP_OK);
        expect(&t, cases[i].at, cases[i].n, NULL, 0, cases[i].drops);
        /* What led there leads to what follows. */
        const bool led = cases[i].at == TARGET || cases[i].at == FUNCTION || cases[i].at == 0;
        assert_int_equal(place_of(&t, cases[i].at),
                         led ? place_of(&t, cases[i].at + cases[i].n) : -1);
        assert_int_equal(rewrite_delete(t.rewrite, item), RMCP_E_ARG);
        assert_int_equal(rewrite_replace(t.rewrite, item, &nop_3, 1), RMCP_E_ARG);
        assert_int_equal(rewrite_insert(t.rewrite, item, REWRITE_ON_ALL_PATHS, &nop_3, 1, NULL),
                         RMCP_E_ARG);
        rewrite_destroy(t.rewrite);
    }
}

static void test_replace(void **state)
{
    (void)state;
    static const uint32_t move[] = { 0x7e0202ff, 0x87654321, 0 };
    static const struct {
        size_t at, n;
        bool drops;
    } cases[] = { { CLAUSE, 1, false }, { FIRST, 2, true },    { SECOND, 2, true },
                  { WAIT, 1, false },   { MOVE, 2, false },    { TARGET, 1, false },
                  { LAST, 1, false },   { FUNCTION, 1, false } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned n = 1; n <= 2; n++) { /* shorter, as long, longer */
            struct trial t;
            const uint32_t *words = n == 1 ? &nop_3 : move;
            lift_code(&t);
            const uint32_t item = item_of(&t, cases[i].at);
            assert_int_equal(rewrite_replace(t.rewrite, item, words, n), RMCP_OK);
            expect(&t, cases[i].at, cases[i].n, words, n, cases[i].drops);
            /* And once more, by what was there before. */
            if (!cases[i].drops) {
                assert_int_equal(
                    rewrite_replace(t.rewrite, item, code + cases[i].at, (unsigned)cases[i].n),
                    RMCP_OK);
                expect(&t, N_WORDS, 0, NULL, 0, false);
            }
            rewrite_destroy(t.rewrite);
        }
}

/* What takes the place of an s_clause is no clause: nothing is dropped when others are put where it
 * reached. */
static void test_clause_replaced(void **state)
{
    (void)state;
    struct trial t;
    lift_code(&t);
    const uint32_t clause = item_of(&t, CLAUSE), second = item_of(&t, SECOND);
    assert_int_equal(rewrite_clause(t.rewrite, second), clause);
    assert_int_equal(rewrite_replace(t.rewrite, clause, &nop_3, 1), RMCP_OK);
    assert_int_equal(rewrite_clause(t.rewrite, second), REWRITE_NONE);
    assert_int_equal(rewrite_insert(t.rewrite, second, REWRITE_ON_ALL_PATHS, &nop_3, 1, NULL),
                     RMCP_OK);
    const uint32_t words[] = { nop_3, code[FIRST], code[FIRST + 1], nop_3 };
    expect(&t, CLAUSE, 3, words, 4, false);
    rewrite_destroy(t.rewrite);
}

/* A clause in a clause, which no compiler makes: each insertion keeps the others in their order. */
static void test_clause_in_clause(void **state)
{
    (void)state;
    static const uint32_t nested[] = { 0xbfa10002, 0xbfa10001, 0xdc308000, 0x02000000,
                                       0xdc308004, 0x03000000, 0xbf810000 };
    static const uint32_t want[] = { 0xbf800003, 0xbfa10001, 0xdc308000, 0x02000000,
                                     0xdc308004, 0x03000000, 0xbf810000 };
    struct trial t;
    lift(&t, nested, 7, 7);
    assert_int_equal(rewrite_layout(t.rewrite, &t.options, &t.text), RMCP_OK);
    const uint32_t outer = item_of(&t, 0), inner = item_of(&t, 1), first = item_of(&t, 2);
    assert_int_equal(rewrite_clause(t.rewrite, inner), outer);
    assert_int_equal(rewrite_clause(t.rewrite, first), inner);
    assert_int_equal(rewrite_insert(t.rewrite, inner, REWRITE_ON_ALL_PATHS, &nop_3, 1, NULL),
                     RMCP_OK);
    assert_int_equal(rewrite_clause(t.rewrite, first), inner);
    assert_int_equal(rewrite_layout(t.rewrite, &t.options, &t.text), RMCP_OK);
    assert_memory_equal(t.text.words, want, sizeof want);
    rewrite_destroy(t.rewrite);
}

/* What cannot be changed stays as it is. */
static void test_refused(void **state)
{
    (void)state;
    static const size_t held[] = { BRANCH, GETPC, ADD, ADDC, CALL, END, FUNCTION + 1 };
    struct trial t;
    lift_code(&t);
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        const uint32_t item = item_of(&t, held[i]);
        assert_int_equal(rewrite_delete(t.rewrite, item), RMCP_E_UNSUPPORTED);
        assert_int_equal(rewrite_replace(t.rewrite, item, &nop_3, 1), RMCP_E_UNSUPPORTED);
    }
    size_t n;
    const uint32_t label = rewrite_functions(t.rewrite, &n)->entry, wait = item_of(&t, WAIT);
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t item = i == 0 ? label : i == 1 ? REWRITE_NONE : 1000;
        assert_int_equal(rewrite_delete(t.rewrite, item), RMCP_E_ARG);
        assert_int_equal(rewrite_replace(t.rewrite, item, &nop_3, 1), RMCP_E_ARG);
    }
    assert_int_equal(rewrite_replace(t.rewrite, wait, &nop_3, 0), RMCP_E_ARG);
    assert_int_equal(rewrite_replace(t.rewrite, wait, code, ISA_MAX_WORDS + 1), RMCP_E_ARG);
    expect(&t, N_WORDS, 0, NULL, 0, false);
    rewrite_destroy(t.rewrite);
}

/* ---- failing allocations ---- */

enum { N_PIECES = 24, N_LONG = N_PIECES * FUNCTION + 2 };

/* Many pieces in a row, so that every list grows, with patterns that have cures: a FLAT offset and
 * a scalar register that a load still reads. */
static void make_long(uint32_t *words)
{
    for (size_t p = 0; p < N_PIECES; p++) {
        uint32_t *piece = words + p * FUNCTION;
        memcpy(piece, code, 4 * FUNCTION);
        const size_t at = p * FUNCTION, function = N_PIECES * FUNCTION;
        piece[BRANCH] = (code[BRANCH] & 0xffff0000) |
                        (uint32_t)(function - 1 - (at + BRANCH) - 1); /* to the last s_endpgm */
        piece[ADD + 1] = code[ADD + 1] - (uint32_t)(4 * at);
        piece[CALL] = (code[CALL] & 0xffff0000) | (uint32_t)(function - (at + CALL) - 1);
        piece[MOVE] = 0xdc300004; /* flat_load_dword v3, v[0:1] offset:4 */
        piece[MOVE + 1] = 0x037d0000;
        piece[WAIT] = 0xbe800383; /* s_mov_b32 s0, 3 */
        if (p + 1 < N_PIECES) piece[END] = nop_3;
    }
    memcpy(words + (size_t)N_PIECES * FUNCTION, code + FUNCTION, 8);
}

static rmcp_status run(struct trial *t, bool cures)
{
    struct rewrite_cured cured;
    size_t n = 0;
    rmcp_status status = rewrite_lift(&t->sample.object, &t->rewrite);
    if (!status) status = judge_insert(t->rewrite, 30, 7, &n);
    if (!status && !cures) return rewrite_layout(t->rewrite, &t->options, &t->text);
    if (!status)
        status = rewrite_cure(t->rewrite, &t->options, REWRITE_ALL_CURES, &t->text, &cured);
    if (!status) {
        assert_true(cured.n_cures[ISA_RULE_FLAT_OFFSET] >= N_PIECES);
        assert_true(cured.n_cures[ISA_RULE_VMEM_SCALAR_WRITE] > 0);
        for (unsigned i = 0; i < ISA_N_RULES; i++) assert_int_equal(cured.n_left[i], 0);
    }
    return status;
}

/* Fails the first, the second, … allocation, until none fails any more. Returns how many. */
static long fail_each(bool cures, bool rest)
{
    static uint32_t words[N_LONG];
    make_long(words);
    for (long first = 1; first < 2000; first++) {
        struct trial t = { .options = { .address = NEW_AT, .reach = 256, .avoid_3f = true } };
        sample_make(&t.sample, (const uint8_t *)words, sizeof words, sizeof words - 8, false);
        const long live = allocations_live();
        t.rewrite = (struct rewrite *)&t;
        allocations_arm(first, rest);
        rmcp_status status = run(&t, cures);
        const long calls = allocations_calls();
        allocations_arm(0, false);
        if (status && status != RMCP_E_NOMEM)
            fail_msg("allocation %ld: %s", first, rmcp_last_error());
        assert_true(t.rewrite != (struct rewrite *)&t);
        /* After a failure within the layout another one is right. */
        if (t.rewrite && !cures) {
            if (rewrite_layout(t.rewrite, &t.options, &t.text))
                fail_msg("allocation %ld: %s", first, rmcp_last_error());
            struct judge judge = { .rewrite = t.rewrite, .text = &t.text, .options = &t.options };
            if (judge_text(&judge)) fail_msg("allocation %ld: %s", first, judge.first);
        }
        rewrite_destroy(t.rewrite);
        assert_int_equal(allocations_live(), live);
        if (calls < first) {
            assert_int_equal(status, RMCP_OK);
            return first - 1;
        }
        assert_int_equal(status, RMCP_E_NOMEM);
    }
    fail_msg("never succeeds");
    return 0;
}

static void test_allocations(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        const long n = fail_each(i & 1, i & 2);
        if (n < 20) fail_msg("%ld allocations", n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_delete),          cmocka_unit_test(test_replace),
        cmocka_unit_test(test_clause_replaced), cmocka_unit_test(test_clause_in_clause),
        cmocka_unit_test(test_refused),         cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
