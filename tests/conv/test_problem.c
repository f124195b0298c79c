/* test_problem.c: every way in which a problem can be wrong has its own message with the value. */
#include "support.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const rmcp_conv good = {
    .struct_size = sizeof good,
    .dims = 2,
    .n = 2,
    .c = 4,
    .k = 6,
    .groups = 2,
    .input = { 8, 9 },
    .filter = { 3, 2 },
    .pad_begin = { 1, 0 },
    .pad_end = { 2, 1 },
    .stride = { 1, 2 },
    .dilation = { 2, 1 },
};

/* One field set to a value. */
struct change {
    enum { NOTHING, I64, U32, F32 } kind;
    size_t at;
    int64_t integer;
    double real;
};
#define LONG(field, value)                                                                         \
    {                                                                                              \
        I64, offsetof(rmcp_conv, field), value, 0                                                  \
    }
#define WORD(field, value)                                                                         \
    {                                                                                              \
        U32, offsetof(rmcp_conv, field), value, 0                                                  \
    }
#define REAL(field, value)                                                                         \
    {                                                                                              \
        F32, offsetof(rmcp_conv, field), 0, value                                                  \
    }

static void apply(rmcp_conv *problem, const struct change *change)
{
    void *target = (char *)problem + change->at;
    if (change->kind == I64) memcpy(target, &change->integer, sizeof(int64_t));
    if (change->kind == U32) memcpy(target, &(uint32_t){ (uint32_t)change->integer }, 4);
    if (change->kind == F32) memcpy(target, &(float){ (float)change->real }, sizeof(float));
}

static const struct wrong {
    struct change changes[6];
    const char *message; /* a part of it */
} wrongs[] = {
    { { LONG(n, 0) }, "n is 0;" },
    { { LONG(n, -3) }, "n is -3;" },
    { { LONG(c, 0) }, "c is 0;" },
    { { LONG(c, INT64_MIN) }, "c is -9223372036854775808;" },
    { { LONG(k, 0) }, "k is 0;" },
    { { LONG(k, -1) }, "k is -1;" },
    { { LONG(groups, -2) }, "groups is -2;" },
    { { LONG(groups, 3) }, "groups, 3, does not divide c, 4" },
    { { LONG(groups, 4) }, "groups, 4, does not divide k, 6" },
    { { WORD(dims, 4) }, "dims is 4;" },
    { { WORD(dims, UINT32_MAX) }, "dims is 4294967295;" },
    { { WORD(reserved, 7) }, "reserved is 7;" },
    { { LONG(input[2], 5) }, "input[2] is 5, but the problem has 2 " },
    { { LONG(filter[2], 1) }, "filter[2] is 1, " },
    { { LONG(pad_begin[2], -1) }, "pad_begin[2] is -1, " },
    { { LONG(pad_end[2], 2) }, "pad_end[2] is 2, " },
    { { LONG(stride[2], 1) }, "stride[2] is 1, " },
    { { LONG(dilation[2], 1) }, "dilation[2] is 1, " },
    { { WORD(dims, 1) }, "input[1] is 9, but the problem has 1 " },
    { { WORD(dims, 3) }, "input of dimension w is 0;" },
    { { LONG(input[0], 0) }, "input of dimension h is 0;" },
    { { LONG(input[1], -9) }, "input of dimension w is -9;" },
    { { LONG(filter[0], 0) }, "filter of dimension h is 0;" },
    { { LONG(filter[1], -2) }, "filter of dimension w is -2;" },
    { { LONG(pad_begin[0], -1) }, "pad_begin of dimension h is -1;" },
    { { LONG(pad_end[1], -4) }, "pad_end of dimension w is -4;" },
    { { LONG(stride[0], -1) }, "stride of dimension h is -1;" },
    { { LONG(stride[1], INT64_MIN) }, "stride of dimension w is -9223372036854775808;" },
    { { LONG(dilation[0], -5) }, "dilation of dimension h is -5;" },
    { { LONG(filter[0], 7) },
      "dimension h: 7 taps with dilation 2 reach over 13, the padded input has 11" },
    { { LONG(dilation[1], 100) },
      "dimension w: 2 taps with dilation 100 reach over 101, the padded input has 10" },
    { { WORD(dims, 3), LONG(input[2], 2), LONG(filter[2], 3) },
      "dimension w: 3 taps with dilation 1 reach over 3, the padded input has 2" },
    { { LONG(input[0], INT64_MAX) },
      "dimension h, 9223372036854775807 + 1 + 2, does not fit in 63 bits" },
    { { LONG(pad_end[0], INT64_MAX) }, "dimension h, 8 + 1 + 9223372036854775807, does not fit" },
    { { LONG(pad_begin[1], INT64_MAX - 8) },
      "dimension w, 9 + 9223372036854775799 + 1, does not fit" },
    { { LONG(dilation[0], INT64_MAX) },
      "dimension h, 3 taps 9223372036854775807 apart, does not fit in 63 bits" },
    { { LONG(dilation[1], INT64_MAX) },
      "dimension w, 2 taps 9223372036854775807 apart, does not fit in 63 bits" },
    { { LONG(filter[1], INT64_MAX), LONG(dilation[1], 4) },
      "dimension w, 9223372036854775807 taps 4 apart, does not fit" },
    /* bytes just beyond 63 bits, then beyond 64, where a plain product wraps to something small */
    { { LONG(n, INT64_C(1) << 58), LONG(input[0], 8), LONG(input[1], 8) },
      "x is too large: 288230376151711744 * 4 * 1 * 8 * 8" },
    { { LONG(n, INT64_C(1) << 62), LONG(input[0], INT64_C(1) << 62) },
      "x is too large: 4611686018427387904 * 4 * 1 * 4611686018427387904 * 9" },
    { { LONG(groups, 1), LONG(k, INT64_C(1) << 57), LONG(filter[0], 2) },
      "w is too large: 144115188075855872 * 4 * 1 * 2 * 2" },
    { { LONG(groups, 1), LONG(k, INT64_C(1) << 62), LONG(filter[0], 2) },
      "w is too large: 4611686018427387904 * 4 * 1 * 2 * 2" },
    { { LONG(groups, 1), LONG(c, 1), LONG(k, INT64_C(1) << 56), LONG(filter[0], 1),
        LONG(filter[1], 1) },
      "y is too large: 2 * 72057594037927936 * 1 * 11 * 5" },
    { { LONG(groups, 1), LONG(c, 1), LONG(k, INT64_C(1) << 60), LONG(filter[0], 1),
        LONG(filter[1], 1) },
      "y is too large: 2 * 1152921504606846976 * 1 * 11 * 5" },
    { { WORD(type, 3) }, "type is 3;" },
    { { WORD(layout, 2) }, "layout is 2;" },
    { { WORD(bias, 2) }, "bias is 2;" },
    { { WORD(activation, 4) }, "activation is 4;" },
    { { WORD(activation, RMCP_LEAKY_RELU), REAL(slope, NAN) }, "slope is nan;" },
    { { WORD(activation, RMCP_LEAKY_RELU), REAL(slope, INFINITY) }, "slope is inf;" },
    { { WORD(activation, RMCP_LEAKY_RELU), REAL(slope, -INFINITY) }, "slope is -inf;" },
    { { WORD(activation, RMCP_CLAMP), REAL(clamp_low, 2), REAL(clamp_high, 1) },
      "clamp_low, 2, is not below clamp_high, 1" },
    { { WORD(activation, RMCP_CLAMP), REAL(clamp_low, NAN) },
      "clamp_low, nan, is not below clamp_high, 0" },
    { { WORD(activation, RMCP_CLAMP), REAL(clamp_high, NAN) },
      "clamp_low, 0, is not below clamp_high, nan" },
    { { WORD(struct_size, 0) }, "rmcp_conv.struct_size is 0;" },
    { { WORD(struct_size, sizeof(rmcp_conv) - 1) }, "rmcp_conv.struct_size is " },
    { { WORD(struct_size, 4097) }, "rmcp_conv.struct_size is 4097;" },
    { { WORD(struct_size, UINT32_MAX) }, "rmcp_conv.struct_size is 4294967295;" },
};

static void test_each_wrong_problem_has_its_own_message(void **state)
{
    (void)state;
    static char messages[SUPPORT_LENGTH(wrongs)][512];
    for (size_t i = 0; i < SUPPORT_LENGTH(wrongs); i++) {
        rmcp_conv problem = good;
        for (size_t c = 0; c < SUPPORT_LENGTH(wrongs[i].changes); c++)
            apply(&problem, &wrongs[i].changes[c]);
        rmcp_conv_info shape, before;
        memset(&shape, 0x5a, sizeof shape);
        shape.struct_size = sizeof shape;
        before = shape;
        support_assert_failed(rmcp_conv_describe(&problem, &shape), RMCP_E_ARG, wrongs[i].message);
        assert_memory_equal(&shape, &before, sizeof shape);
        snprintf(messages[i], sizeof messages[i], "%s", rmcp_last_error());
        for (size_t other = 0; other < i; other++)
            if (!strcmp(messages[i], messages[other]))
                fail_msg("two problems get the same message '%s'", messages[i]);
    }
}

static void test_null_arguments(void **state)
{
    (void)state;
    rmcp_conv_info shape = { .struct_size = sizeof shape };
    support_assert_failed(rmcp_conv_describe(NULL, &shape), RMCP_E_ARG, "rmcp_conv is NULL");
    support_assert_failed(rmcp_conv_describe(&good, NULL), RMCP_E_ARG, "rmcp_conv_info is NULL");
}

static void test_a_newer_problem_is_taken_when_its_new_fields_are_zero(void **state)
{
    (void)state;
    struct {
        rmcp_conv problem;
        unsigned char tail[64];
    } newer = { .problem = good };
    newer.problem.struct_size = sizeof newer;
    rmcp_conv_info shape = { .struct_size = sizeof shape }, plain = shape;
    assert_int_equal(rmcp_conv_describe(&newer.problem, &shape), RMCP_OK);
    assert_int_equal(rmcp_conv_describe(&good, &plain), RMCP_OK);
    assert_memory_equal(&shape, &plain, sizeof shape);
    for (size_t i = 0; i < sizeof newer.tail; i += 21) {
        char part[64];
        snprintf(part, sizeof part, "newer release (byte %zu of", sizeof(rmcp_conv) + i);
        newer.tail[i] = 1;
        support_assert_failed(rmcp_conv_describe(&newer.problem, &shape), RMCP_E_UNSUPPORTED, part);
        newer.tail[i] = 0;
    }
}

static void test_a_newer_shape_is_filled_with_zeros(void **state)
{
    (void)state;
    struct {
        rmcp_conv_info shape;
        unsigned char tail[32];
    } newer;
    memset(&newer, 0xff, sizeof newer);
    newer.shape.struct_size = sizeof newer;
    assert_int_equal(rmcp_conv_describe(&good, &newer.shape), RMCP_OK);
    assert_int_equal(newer.shape.struct_size, sizeof newer);
    assert_int_equal(newer.shape.x_bytes, 2 * 4 * 8 * 9 * 4);
    for (size_t i = 0; i < sizeof newer.tail; i++) assert_int_equal(newer.tail[i], 0);

    static const uint32_t bad[] = { 0, 4, sizeof(rmcp_conv_info) - 1, 4097 };
    for (size_t i = 0; i < SUPPORT_LENGTH(bad); i++) {
        newer.shape.struct_size = bad[i];
        support_assert_failed(rmcp_conv_describe(&good, &newer.shape), RMCP_E_ARG,
                              "rmcp_conv_info.struct_size is ");
    }
}

static void test_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t output[RMCP_MAX_DIMS];
        uint64_t x, w, y, bias;
        double flops;
    } rows[] = {
        { "n1c1h1w1k1", { 1, 1 }, 4, 4, 4, 0, 2 },
        { "n2c4h8w9k6r3s2p1u1x2d2x1g2:f16:bias",
          { 6, 5 },
          2 * 4 * 72 * 2,
          6 * 2 * 6 * 2,
          2 * 6 * 30 * 2,
          12,
          2.0 * 360 * 2 * 6 },
        { "n3c2w10k5s4p0-1u3", { 3 }, 240, 160, 180, 0, 2.0 * 45 * 8 },
        { "n1c2t5x3h6w7k3r2s1:bf16", { 3, 5, 7 }, 840, 72, 630, 0, 2.0 * 315 * 12 },
        { "n1c1h3w3k1r3s3p1u9:nhwc:relu", { 1, 1 }, 36, 36, 4, 0, 18 },
    };
    for (size_t i = 0; i < SUPPORT_LENGTH(rows); i++) {
        rmcp_conv problem = support_case(rows[i].text, NULL);
        rmcp_conv_info shape = { .struct_size = sizeof shape };
        assert_int_equal(rmcp_conv_describe(&problem, &shape), RMCP_OK);
        for (int d = 0; d < RMCP_MAX_DIMS; d++)
            assert_int_equal(shape.output[d], rows[i].output[d]);
        assert_int_equal(shape.x_bytes, rows[i].x);
        assert_int_equal(shape.w_bytes, rows[i].w);
        assert_int_equal(shape.y_bytes, rows[i].y);
        assert_int_equal(shape.bias_bytes, rows[i].bias);
        assert_true(shape.flops == rows[i].flops);
    }
}

static void test_zero_means_default(void **state)
{
    (void)state;
    const rmcp_conv sparse = {
        .struct_size = sizeof sparse, .n = 1, .c = 2, .k = 3, .input = { 5, 6 }, .filter = { 3, 3 }
    };
    rmcp_conv full = sparse;
    full.dims = 2;
    full.groups = 1;
    full.stride[0] = full.stride[1] = full.dilation[0] = full.dilation[1] = 1;
    rmcp_conv_info a = { .struct_size = sizeof a }, b = a;
    assert_int_equal(rmcp_conv_describe(&sparse, &a), RMCP_OK);
    assert_int_equal(rmcp_conv_describe(&full, &b), RMCP_OK);
    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(a.output[0], 3);
    assert_int_equal(a.output[1], 4);
}

/* The slope of a problem without leaky relu is no one's business, and so on. */
static void test_unused_parameters_are_not_looked_at(void **state)
{
    (void)state;
    rmcp_conv problem = good;
    problem.slope = NAN;
    problem.clamp_low = 2;
    problem.activation = RMCP_RELU;
    rmcp_conv_info shape = { .struct_size = sizeof shape };
    assert_int_equal(rmcp_conv_describe(&problem, &shape), RMCP_OK);
}

static void test_the_largest_tensor_that_fits(void **state)
{
    (void)state;
    rmcp_conv problem = good;
    problem.groups = problem.c = 1;
    problem.n = INT64_C(1) << 54;
    problem.k = 1;
    problem.input[0] = 8, problem.input[1] = 15; /* 2^54 * 120 * 4 bytes, below 2^63 */
    problem.filter[0] = problem.filter[1] = 1;
    problem.pad_begin[0] = problem.pad_end[0] = problem.pad_end[1] = 0;
    rmcp_conv_info shape = { .struct_size = sizeof shape };
    assert_int_equal(rmcp_conv_describe(&problem, &shape), RMCP_OK);
    assert_true(shape.x_bytes == (UINT64_C(1) << 54) * 480);
    problem.input[1] = 16;
    support_assert_failed(rmcp_conv_describe(&problem, &shape), RMCP_E_ARG, "x is too large");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_wrong_problem_has_its_own_message),
        cmocka_unit_test(test_null_arguments),
        cmocka_unit_test(test_a_newer_problem_is_taken_when_its_new_fields_are_zero),
        cmocka_unit_test(test_a_newer_shape_is_filled_with_zeros),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_zero_means_default),
        cmocka_unit_test(test_unused_parameters_are_not_looked_at),
        cmocka_unit_test(test_the_largest_tensor_that_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
