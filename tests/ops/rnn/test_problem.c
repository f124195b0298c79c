/* test_problem.c: recurrent networks that are right and wrong: fields, case strings, places of
 * parameters, the generator of masks. */
#include "engine/kernels/philox.h"
#include "engine/ops/rnn/rnn.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static rmcp_rnn good(void)
{
    return (rmcp_rnn){ .struct_size = sizeof(rmcp_rnn),
                       .mode = RMCP_RNN_LSTM,
                       .steps = 4,
                       .batch = 3,
                       .input = 5,
                       .hidden = 6,
                       .layers = 2,
                       .bidirectional = 1,
                       .bias = 1 };
}

static void bad(rmcp_rnn p, const char *pattern)
{
    rmcp_rnn_info info = { .struct_size = sizeof info, .rows = -7 };
    support_assert_failed(rmcp_rnn_describe(&p, &info), RMCP_E_ARG, pattern);
    assert_int_equal(info.rows, -7);
}

static void test_wrong_fields(void **state)
{
    (void)state;
    rmcp_rnn p;
#define WRONG(field, value, pattern) p = good(), p.field = (value), bad(p, pattern)
    WRONG(mode, 4, "mode is 4");
    WRONG(type, 3, "type is 3");
    WRONG(bidirectional, 2, "bidirectional is 2");
    WRONG(bias, 7, "bias is 7");
    WRONG(skip, 2, "skip is 2");
    WRONG(skip, 1, "skip needs as many inputs as hidden units: 5 and 6");
    WRONG(given, 64, "given is 64");
    WRONG(steps, 0, "steps is 0");
    WRONG(batch, -1, "batch is -1");
    WRONG(input, 0, "input is 0");
    WRONG(hidden, INT64_MAX, "hidden is");
    WRONG(layers, 70000, "layers is 70000");
    WRONG(dropout, 1, "dropout is 1");
    WRONG(dropout, -0.5, "dropout is -0.5");
    WRONG(dropout, NAN, "dropout is");
#undef WRONG
    p = good();
    p.steps = p.batch = p.input = INT32_MAX;
    p.hidden = INT32_MAX / 8;
    bad(p, "do not fit in 63 bits");
    rmcp_rnn_info info = { .struct_size = sizeof info };
    support_assert_failed(rmcp_rnn_describe(NULL, &info), RMCP_E_ARG, "rmcp_rnn");
    rmcp_plan *plan = (rmcp_plan *)&p;
    p = good();
    support_assert_failed(rmcp_rnn_plan(NULL, &p, (rmcp_rnn_pass)4, NULL, &plan), RMCP_E_ARG,
                          "pass is 4");
    assert_null(plan);
}

static void test_batches(void **state)
{
    (void)state;
    rmcp_rnn p = good();
    const int64_t fine[] = { 3, 3, 2, 1 }, first[] = { 2, 2, 2, 1 }, grows[] = { 3, 2, 3, 1 },
                  empty[] = { 3, 2, 1, 0 };
    rmcp_rnn_info info = { .struct_size = sizeof info };
    p.batches = fine;
    assert_int_equal(rmcp_rnn_describe(&p, &info), RMCP_OK);
    assert_int_equal(info.rows, 9);
    p.batches = first;
    bad(p, "batches[0] is 2, but batch is 3");
    p.batches = grows;
    bad(p, "batches[2] is 3");
    p.batches = empty;
    bad(p, "batches[3] is 0");
    /* Too many lengths for the canonical form. */
    int64_t many[128];
    for (int i = 0; i < 128; i++) many[i] = 128 - i;
    p.steps = p.batch = 128;
    p.batches = many;
    support_assert_failed(rmcp_rnn_describe(&p, &info), RMCP_E_UNSUPPORTED, "different lengths");
}

static void test_case_strings(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "rnn:t4n3i5h6l2:lstm:f32:train:bi:bias:hx:cx:hy:cy:dhx:dcx:drop0.5:batches3x2,2x1,1x1",
        "rnn:t1n1i2h2:relu:bf16:infer:skip",
        "rnn:t7n2i1h3:gru:f16:wrw:bias",
    };
    for (size_t i = 0; i < SUPPORT_LENGTH(texts); i++) {
        rmcp_rnn p = { .struct_size = sizeof p };
        int pass = -2;
        int64_t batches[8];
        char text[RMCP_CASE_MAX];
        assert_int_equal(rmcp_rnn_parse(texts[i], &p, &pass, batches, 8), RMCP_OK);
        assert_int_equal(rmcp_rnn_print(&p, pass, text, sizeof text), RMCP_OK);
        assert_string_equal(text, texts[i]);
        assert_int_equal(rmcp_rnn_print(&p, pass, text, 8), RMCP_E_ARG);
    }
    static const struct {
        const char *text, *pattern;
    } wrong[] = {
        { "", "empty" },
        { "t4n3i5h6", "relu, tanh, lstm or gru is missing" },
        { "t4n3h6:lstm", "'i' is missing" },
        { "t4n3i5:lstm", "'h' is missing" },
        { "t4t4i5h6:lstm", "'t' is given twice" },
        { "x4:lstm", "no field 'x'" },
        { "i5h6:lstm:gru", "a second word" },
        { "i5h6:lstm:what", "unknown word 'what'" },
        { "i5h6:lstm:drop1.5", "dropout is 1.5" },
        { "i5h6:lstm:drop0.5:drop0.5", "a second 'drop'" },
        { "i5h6:lstm:batches", "a number is missing" },
        { "i5h6:lstm:batches3", "batches are written as" },
        { "i5h6:lstm:batches3x2,4x1", "must become smaller" },
        { "i5h6:lstm:batches3x2z", "does not end" },
        { "t9i5h6:lstm:batches3x2,2x1", "t3n3" },
        { "i5h6:lstm:batches99999999999x1", "batches has" },
        { "i5h6l0:lstm", "l is 0" },
    };
    for (size_t i = 0; i < SUPPORT_LENGTH(wrong); i++) {
        rmcp_rnn p = { .struct_size = sizeof p };
        int64_t batches[8];
        support_assert_failed(rmcp_rnn_parse(wrong[i].text, &p, NULL, batches, 8), RMCP_E_ARG,
                              wrong[i].pattern);
    }
    rmcp_rnn p = { .struct_size = sizeof p };
    support_assert_failed(rmcp_rnn_parse("i5h6:lstm:batches3x2,2x1", &p, NULL, NULL, 0), RMCP_E_ARG,
                          "room for 0 batches");
}

/* All parts of w, each after the one before, and the end is the end. */
static void test_places(void **state)
{
    (void)state;
    for (uint32_t variant = 0; variant < 16; variant++) {
        rmcp_rnn p = good();
        p.mode = variant % 4;
        p.bidirectional = variant / 4 % 2;
        p.bias = variant / 8;
        struct rmcp_recurrence rec;
        assert_int_equal(rmcp_rec_init(&rec, &p, RMCP_RNN_TRAIN), RMCP_OK);
        const int64_t stack = rec.width * rec.gates;
        int64_t at = 0;
        for (int64_t layer = 0; layer < 2; layer++) {
            const struct rmcp_rnn_weights w = rmcp_rec_weights(&rec, layer);
            assert_int_equal(w.wx, at);
            at += stack * (layer ? rec.width : 5);
            assert_int_equal(w.wh, at);
            at += stack * 6;
        }
        assert_int_equal(at, rmcp_rec_matrix_elements(&rec));
        for (int64_t layer = 0; layer < 2 && p.bias; layer++) {
            const struct rmcp_rnn_weights w = rmcp_rec_weights(&rec, layer);
            assert_int_equal(w.bx, at);
            assert_int_equal(w.bh, at + stack);
            at += 2 * stack;
        }
        assert_int_equal(at, rmcp_rec_weight_elements(&rec));
    }
}

/* Vectors of Random123's own test (kat_vectors, philox4x32 10). */
static void test_philox(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], words[4];
    } known[] = {
        { { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
        { { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
          { 0xffffffff, 0xffffffff },
          { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
        { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
          { 0xa4093822, 0x299f31d0 },
          { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
    };
    for (size_t i = 0; i < SUPPORT_LENGTH(known); i++) {
        struct rmcp_philox counter;
        memcpy(counter.word, known[i].counter, sizeof counter.word);
        const struct rmcp_philox got = rmcp_philox(counter, known[i].key[0], known[i].key[1]);
        assert_memory_equal(got.word, known[i].words, sizeof got.word);
    }
    const uint32_t words[4] = { 1, 2, 3, 4 };
    assert_int_not_equal(rmcp_philox_at(words, 0), rmcp_philox_at(words, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_fields), cmocka_unit_test(test_batches),
        cmocka_unit_test(test_case_strings), cmocka_unit_test(test_places),
        cmocka_unit_test(test_philox),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
