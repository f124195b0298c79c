/* test_case.c: case strings: what they read, what they print, and what is wrong with bad ones. */
#include "support.h"

#include "engine/ops/conv/conv.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void test_reads_every_field(void **state)
{
    (void)state;
    int pass = -2;
    const rmcp_conv p = support_case(
        "n2c6t9x4h10w11k12r3s2p1-0x2x3-4u2x1x3d1x2x1g3:f16:nhwc:bwd_data:bias:leaky0.25", &pass);
    const rmcp_conv expected = {
        .struct_size = sizeof expected,
        .dims = 3,
        .n = 2,
        .c = 6,
        .k = 12,
        .groups = 3,
        .input = { 9, 10, 11 },
        .filter = { 4, 3, 2 },
        .pad_begin = { 1, 2, 3 },
        .pad_end = { 0, 2, 4 },
        .stride = { 2, 1, 3 },
        .dilation = { 1, 2, 1 },
        .type = RMCP_F16,
        .layout = RMCP_NHWC,
        .bias = 1,
        .activation = RMCP_LEAKY_RELU,
        .slope = 0.25f,
    };
    assert_memory_equal(&p, &expected, sizeof p);
    assert_int_equal(pass, RMCP_CONV_BACKWARD_DATA);
}

static void test_a_short_case_gets_the_defaults(void **state)
{
    (void)state;
    int pass = 5;
    const rmcp_conv p = support_case("c3w7k2", &pass);
    const rmcp_conv expected = {
        .struct_size = sizeof expected,
        .dims = 1,
        .n = 1,
        .c = 3,
        .k = 2,
        .groups = 1,
        .input = { 7 },
        .filter = { 1 },
        .stride = { 1 },
        .dilation = { 1 },
    };
    assert_memory_equal(&p, &expected, sizeof p);
    assert_int_equal(pass, -1);
    support_case("c3w7k2:fwd", NULL); /* nobody asks for the pass */
}

/* Each text and the one that the same problem prints as. */
static const struct {
    const char *text, *printed;
} pairs[] = {
    { "c1w1k1", "n1c1w1k1s1:f32:nchw" },
    { "n8c64h56w56k64r3s3p1:f32:nchw:fwd", "n8c64h56w56k64r3s3p1:f32:nchw:fwd" },
    { "c1h4w5k1", "n1c1h4w5k1r1s1:f32:nchw" },
    { "k1w5h4c1n1", "n1c1h4w5k1r1s1:f32:nchw" },
    { "c2t5h6w7k3r3s1", "n1c2t5x3h6w7k3r3s1:f32:nchw" },
    { "c2t5x1h6w7k3r3s1", "n1c2t5x1h6w7k3r3s1:f32:nchw" },
    { "c1h9w9k1r3s3p1x1u2x2d1x1g1", "n1c1h9w9k1r3s3p1u2:f32:nchw" },
    { "c1h9w9k1r3s3p1x2", "n1c1h9w9k1r3s3p1x2:f32:nchw" },
    { "c1h9w9k1r3s3p0-1", "n1c1h9w9k1r3s3p0-1:f32:nchw" },
    { "c1h9w9k1r3s3p0-1x2-2", "n1c1h9w9k1r3s3p0-1x2:f32:nchw" },
    { "c1h9w9k1r3s3p0-0", "n1c1h9w9k1r3s3:f32:nchw" },
    { "c1t9h9w9k1r3s3p1x0x2-3u1x2x3d3x2x1", "n1c1t9x3h9w9k1r3s3p1x0x2-3u1x2x3d3x2x1:f32:nchw" },
    { "c4w9k4s3g2", "n1c4w9k4s3g2:f32:nchw" },
    { "c1w1k1:f16", "n1c1w1k1s1:f16:nchw" },
    { "c1w1k1:bf16", "n1c1w1k1s1:bf16:nchw" },
    { "c1w1k1:nhwc:fwd:f32", "n1c1w1k1s1:f32:nhwc:fwd" },
    { "c1w1k1:ncw", "n1c1w1k1s1:f32:nchw" },
    { "c1w1k1:nwc", "n1c1w1k1s1:f32:nhwc" },
    { "c1w1k1:ncdhw", "n1c1w1k1s1:f32:nchw" },
    { "c1w1k1:ndhwc", "n1c1w1k1s1:f32:nhwc" },
    { "c1w1k1:bwd", "n1c1w1k1s1:f32:nchw:bwd_data" },
    { "c1w1k1:bwd_data", "n1c1w1k1s1:f32:nchw:bwd_data" },
    { "c1w1k1:wrw", "n1c1w1k1s1:f32:nchw:bwd_weights" },
    { "c1w1k1:bwd_weights", "n1c1w1k1s1:f32:nchw:bwd_weights" },
    { "c1w1k1:relu:bias:nhwc:wrw:bf16", "n1c1w1k1s1:bf16:nhwc:bwd_weights:bias:relu" },
    { "c1w1k1:leaky0.1", "n1c1w1k1s1:f32:nchw:leaky0.100000001" },
    { "c1w1k1:leaky-.5", "n1c1w1k1s1:f32:nchw:leaky-0.5" },
    { "c1w1k1:leaky1e-3", "n1c1w1k1s1:f32:nchw:leaky0.00100000005" },
    { "c1w1k1:leaky0", "n1c1w1k1s1:f32:nchw:leaky0" },
    { "c1w1k1:clamp0x6", "n1c1w1k1s1:f32:nchw:clamp0x6" },
    { "c1w1k1:clamp-1x1", "n1c1w1k1s1:f32:nchw:clamp-1x1" },
    { "c1w1k1:clamp-1.5e1x+2", "n1c1w1k1s1:f32:nchw:clamp-15x2" },
    { "c1w1k1:clamp3x3", "n1c1w1k1s1:f32:nchw:clamp3x3" },
    { "c01w001k1", "n1c1w1k1s1:f32:nchw" },
};

static void assert_prints(const rmcp_conv *problem, int pass, const char *expected)
{
    char text[RMCP_CASE_MAX];
    if (rmcp_conv_print(problem, pass, text, sizeof text)) fail_msg("%s", rmcp_last_error());
    assert_string_equal(text, expected);
}

static void test_prints_what_it_reads(void **state)
{
    (void)state;
    for (size_t i = 0; i < SUPPORT_LENGTH(pairs); i++) {
        int pass;
        rmcp_conv problem = support_case(pairs[i].text, &pass);
        assert_prints(&problem, pass, pairs[i].printed);
        problem = support_case(pairs[i].printed, &pass);
        assert_prints(&problem, pass, pairs[i].printed);
    }
}

static void test_infinite_clamp_bounds_print_as_they_read(void **state)
{
    (void)state;
    rmcp_conv problem = support_case("c1w1k1:clamp-1x1", NULL);
    problem.clamp_low = -INFINITY;
    assert_prints(&problem, -1, "n1c1w1k1s1:f32:nchw:clamp-infx1");
    problem.clamp_high = INFINITY;
    assert_prints(&problem, -1, "n1c1w1k1s1:f32:nchw:clamp-infxinf");
    const rmcp_conv again = support_case("n1c1w1k1s1:f32:nchw:clamp-infxinf", NULL);
    assert_memory_equal(&again, &problem, sizeof again);
}

static void test_2000_random_problems_survive_printing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        rmcp_conv drawn;
        rmcp_conv_pass pass;
        char first[RMCP_CASE_MAX], second[RMCP_CASE_MAX];
        rmcp_conv_draw(seed, &drawn, &pass);
        assert_int_equal(rmcp_conv_print(&drawn, (int)pass, first, sizeof first), RMCP_OK);
        int read_pass;
        rmcp_conv read = support_case(first, &read_pass);
        assert_int_equal(read_pass, pass);
        assert_int_equal(rmcp_conv_print(&read, read_pass, second, sizeof second), RMCP_OK);
        assert_string_equal(first, second);
        const struct rmcp_convolution a = support_conv(&drawn, pass), b = support_conv(&read, pass);
        assert_memory_equal(&a.problem, &b.problem, sizeof a.problem);
    }
}

static const struct {
    const char *text, *message;
} bad[] = {
    { "", "the case string is empty" },
    { ":", "no word at position 2" },
    { "n1c1h8w8k1:", "no word at position 12" },
    { "n1c1h8w8k1::f32", "no word at position 12" },
    { "n1c1h8w8k1q3", "no field 'q' (position 11)" },
    { "N1c1h8w8k1", "no field 'N' (position 1)" },
    { "n1 c1h8w8k1", "no field ' ' (position 3)" },
    { "n1c1h8w8k1r3s3p-1", "a number must follow 'p' at position 16" },
    { "n-1c1h8w8k1", "a number must follow 'n' at position 2" },
    { "n1c1h8w8k", "a number must follow 'k' at position 10" },
    { "n1c1h8w8k1p1x", "a number must follow 'p' at position 14" },
    { "n1c1h8w8k1p1-", "a number must follow 'p' at position 14" },
    { "n1c1h8w8k1n2", "'n' is given twice" },
    { "n12345678901234567890c1h8w8k1", "n is 12345678901234567890, larger than" },
    { "n1c9223372036854775808h8w8k1", "c is 9223372036854775808, larger than" },
    { "n11111111111111111111111111111111111111111111111111c1w1k1", "n is 1111111111" },
    { "n1h8w8k1", "'c' is missing" },
    { "n1c1h8w8", "'k' is missing" },
    { "n1c1h8k1", "'w' is missing" },
    { "n0c1h8w8k1", "n is 0; it must be at least 1" },
    { "n1c0h8w8k1", "c is 0; it must be at least 1" },
    { "n1c1h8w8k1g0", "g is 0; it must be at least 1" },
    { "n1c1h8w8k1u0", "u is 0; it must be at least 1" },
    { "n1c1h8w8k1d1x0", "d is 0; it must be at least 1" },
    { "n1c1h0w8k1", "input of dimension h is 0" },
    { "n1c1t4w8k1", "'t' is given without 'h'" },
    { "n1c1w8k1r3s3", "'r' is given without 'h'" },
    { "n1c1h8w8k1r3", "'r' is given without 's'" },
    { "n1c1h8w8k1s3", "'s' is given without 'r'" },
    { "n1c1h8w8k1p1x1x1", "'p' has 3 numbers for 2 dimensions" },
    { "n1c1t8h8w8k1u1x1", "'u' has 2 numbers for 3 dimensions" },
    { "n1c1h8w8k1p1x1x1x1", "'p' takes 3 numbers at most" },
    { "n1x2c1h8w8k1", "'n' takes 1 number at most" },
    { "n1c1t8x3x3h8w8k1", "'t' takes 2 numbers at most" },
    { "n1c1h8w8k1u1-2", "no field '-' (position 13)" },
    { "n1c1h8w8k1r9s9", "9 taps with dilation 1 reach over 9, the padded input has 8" },
    { "n1c3h8w8k2g2", "groups, 2, does not divide c, 3" },
    { "n1c1h8w8k1:f64", "unknown word 'f64'" },
    { "n1c1h8w8k1:F32", "unknown word 'F32'" },
    { "n1c1h8w8k1:relu6", "unknown word 'relu6'" },
    { "n1c1h8w8k1:abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
      "too long a word at position 12" },
    { "n1c1h8w8k1:f32:f16", "a second type, 'f16'" },
    { "n1c1h8w8k1:nchw:nhwc", "a second layout, 'nhwc'" },
    { "n1c1h8w8k1:fwd:bwd", "a second pass, 'bwd'" },
    { "n1c1h8w8k1:bias:bias", "'bias' is given twice" },
    { "n1c1h8w8k1:relu:leaky0.1", "a second activation, 'leaky0.1'" },
    { "n1c1h8w8k1:leaky", "'leaky' must be followed by a number within f32" },
    { "n1c1h8w8k1:leakyinf", "slope is inf; it must be finite" },
    { "n1c1h8w8k1:leakyinfinity", "'leaky' must be followed by a number within f32" },
    { "n1c1h8w8k1:clamp0x1e39", "'clamp' must be followed by a number within f32" },
    { "n1c1h8w8k1:leakynan", "'leaky' must be followed by a number within f32" },
    { "n1c1h8w8k1:leaky1e99", "'leaky' must be followed by a number within f32" },
    { "n1c1h8w8k1:leaky0,1", "'leaky0,1' does not end after its number" },
    { "n1c1h8w8k1:leaky0x1p3", "'leaky0x1p3' does not end after its number" },
    { "n1c1h8w8k1:leaky1-2", "'leaky' must be followed by a number within f32" },
    { "n1c1h8w8k1:clamp", "'clamp' must be followed by a number within f32" },
    { "n1c1h8w8k1:clampnanx1", "'clamp' must be followed by a number within f32" },
    { "n1c1h8w8k1:clamp0", "clamp takes two numbers: clamp0x6" },
    { "n1c1h8w8k1:clamp0x", "'clamp' must be followed by a number within f32" },
    { "n1c1h8w8k1:clamp0x1p3x6", "'clamp0x1p3x6' does not end after its number" },
    { "n1c1h8w8k1:clamp0x6x7", "'clamp0x6x7' does not end after its number" },
    { "n1c1h8w8k1:clamp6x0", "clamp_low, 6, is not below clamp_high, 0" },
    { "n1c1h8w8k1\n", "no field '?' (position 11)" },
    { "n1\x1b[31mc1h8w8k1", "no field '?' (position 3)" },
    { "n1c1h8w8k1:\x1b[31m", "unknown word '?[31m'" },
    { "n1c1h8w8k1:leaky0.1\x1b[31m", "'leaky0.1?[31m' does not end after its number" },
    { "n1c1h8w8k1:relu:clamp\x1b[31m", "a second activation, 'clamp?[31m'" },
    { "n1c1h8w8k1\xff", "no field '?' (position 11)" },
};

/* The text fails with one line, nothing raw in it, and leaves its outputs alone. */
static void assert_bad(const char *text, const char *message)
{
    rmcp_conv problem, before;
    memset(&problem, 0x5a, sizeof problem);
    problem.struct_size = sizeof problem;
    before = problem;
    int pass = 77;
    support_assert_failed(rmcp_conv_parse(text, &problem, &pass), RMCP_E_ARG, message);
    assert_memory_equal(&problem, &before, sizeof problem);
    assert_int_equal(pass, 77);
    for (const char *c = rmcp_last_error(); *c; c++) assert_true((unsigned char)*c < 127);
}

static void test_each_bad_text_has_one_clear_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < SUPPORT_LENGTH(bad); i++) assert_bad(bad[i].text, bad[i].message);
}

static void test_too_long_a_text(void **state)
{
    (void)state;
    char text[RMCP_CASE_MAX + 8];
    memset(text, '0', sizeof text);
    memcpy(text, "c1w1k1n", 7);
    text[RMCP_CASE_MAX] = '\0';
    assert_bad(text, "longer than 639 characters");
    text[RMCP_CASE_MAX - 1] = '\0';
    assert_bad(text, "n is 0");
    text[RMCP_CASE_MAX - 2] = '1';
    rmcp_conv problem = support_case(text, NULL);
    assert_int_equal(problem.n, 1);
}

static void test_null_and_struct_sizes(void **state)
{
    (void)state;
    struct {
        rmcp_conv problem;
        unsigned char tail[16];
    } newer;
    memset(&newer, 0xff, sizeof newer);
    support_assert_failed(rmcp_conv_parse(NULL, &newer.problem, NULL), RMCP_E_ARG, "text is NULL");
    support_assert_failed(rmcp_conv_parse("c1w1k1", NULL, NULL), RMCP_E_ARG, "rmcp_conv is NULL");
    newer.problem.struct_size = 0;
    support_assert_failed(rmcp_conv_parse("c1w1k1", &newer.problem, NULL), RMCP_E_ARG,
                          "struct_size is 0;");
    newer.problem.struct_size = sizeof newer;
    assert_int_equal(rmcp_conv_parse("c1w1k1", &newer.problem, NULL), RMCP_OK);
    assert_int_equal(newer.problem.struct_size, sizeof newer);
    for (size_t i = 0; i < sizeof newer.tail; i++) assert_int_equal(newer.tail[i], 0);
    char text[RMCP_CASE_MAX];
    assert_int_equal(rmcp_conv_print(&newer.problem, -1, text, sizeof text), RMCP_OK);
    assert_string_equal(text, "n1c1w1k1s1:f32:nchw");
}

static void test_printing_into_too_little_room(void **state)
{
    (void)state;
    static const char full[] = "n1c1h8w8k1r3s3p0-1:f32:nchw:bwd_weights:bias:clamp0x6";
    int pass;
    const rmcp_conv problem = support_case(full, &pass);
    for (size_t size = 1; size <= sizeof full; size++) {
        char text[sizeof full + 8];
        memset(text, '#', sizeof text);
        rmcp_status status = rmcp_conv_print(&problem, pass, text, size);
        if (size < sizeof full)
            support_assert_failed(status, RMCP_E_ARG, "needs 54 bytes, ");
        else
            assert_int_equal(status, RMCP_OK);
        assert_non_null(memchr(text, '\0', size));
        for (size_t i = size; i < sizeof text; i++) assert_int_equal(text[i], '#');
    }
    char text[4] = "abc";
    support_assert_failed(rmcp_conv_print(&problem, pass, text, 0), RMCP_E_ARG, "0 bytes");
    assert_string_equal(text, "abc");
    support_assert_failed(rmcp_conv_print(&problem, pass, NULL, 10), RMCP_E_ARG, "no room");
}

static void test_printing_wrong_arguments(void **state)
{
    (void)state;
    rmcp_conv problem = support_case("c1w1k1", NULL);
    char text[RMCP_CASE_MAX] = "x";
    support_assert_failed(rmcp_conv_print(&problem, 3, text, sizeof text), RMCP_E_ARG,
                          "pass is 3;");
    assert_string_equal(text, "");
    support_assert_failed(rmcp_conv_print(&problem, -2, text, sizeof text), RMCP_E_ARG,
                          "pass is -2;");
    support_assert_failed(rmcp_conv_print(NULL, 0, text, sizeof text), RMCP_E_ARG,
                          "rmcp_conv is NULL");
    problem.k = 0;
    support_assert_failed(rmcp_conv_print(&problem, 0, text, sizeof text), RMCP_E_ARG, "k is 0");
}

static void test_the_longest_problem_fits(void **state)
{
    (void)state;
    rmcp_conv problem = {
        .struct_size = sizeof problem,
        .dims = 3,
        .n = 1,
        .c = 1,
        .k = 1,
        .groups = 1,
        .type = RMCP_BF16,
        .bias = 1,
        .activation = RMCP_CLAMP,
        .clamp_low = -1.17549435e-38f,
        .clamp_high = 1.17549435e-38f,
    };
    for (int i = 0; i < 3; i++) {
        problem.input[i] = problem.filter[i] = 1;
        problem.pad_begin[i] = INT64_C(1111111111111111111) + i;
        problem.pad_end[i] = INT64_C(2222222222222222222) + i;
        problem.stride[i] = INT64_MAX - i;
        problem.dilation[i] = INT64_MAX - i;
    }
    char text[RMCP_CASE_MAX];
    assert_int_equal(rmcp_conv_print(&problem, RMCP_CONV_BACKWARD_WEIGHTS, text, sizeof text),
                     RMCP_OK);
    const rmcp_conv again = support_case(text, NULL);
    assert_memory_equal(&again, &problem, sizeof again);
}

static void test_the_decimal_point_is_a_point_in_every_locale(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8")) skip();
    char number[8];
    snprintf(number, sizeof number, "%.1f", 0.5);
    assert_string_equal(number, "0,5"); /* else this test proves nothing */
    const rmcp_conv problem = support_case("c1w1k1:leaky0.5", NULL);
    assert_true(problem.slope == 0.5f);
    assert_prints(&problem, -1, "n1c1w1k1s1:f32:nchw:leaky0.5");
    snprintf(number, sizeof number, "%.1f", 0.5);
    assert_string_equal(number, "0,5"); /* the caller's locale is back */
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_every_field),
        cmocka_unit_test(test_a_short_case_gets_the_defaults),
        cmocka_unit_test(test_prints_what_it_reads),
        cmocka_unit_test(test_infinite_clamp_bounds_print_as_they_read),
        cmocka_unit_test(test_2000_random_problems_survive_printing),
        cmocka_unit_test(test_each_bad_text_has_one_clear_line),
        cmocka_unit_test(test_too_long_a_text),
        cmocka_unit_test(test_null_and_struct_sizes),
        cmocka_unit_test(test_printing_into_too_little_room),
        cmocka_unit_test(test_printing_wrong_arguments),
        cmocka_unit_test(test_the_longest_problem_fits),
        cmocka_unit_test(test_the_decimal_point_is_a_point_in_every_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
