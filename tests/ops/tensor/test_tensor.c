/* test_tensor.c: tensor operations: every wrong struct has its own message with the value;
 * canonical forms; structs of older and newer callers; plans, executions and their wrong uses. */
#include "engine/core/plan.h"
#include "engine/ops/tensor/tensor.h"
#include "support.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const rmcp_tensor good = {
    .struct_size = sizeof good,
    .kind = RMCP_TENSOR_ADD,
    .dims = 3,
    .size = { 2, 3, 4 },
    .b_size = { 1, 3, 1 },
    .alpha = 1,
    .alpha_b = 1,
};

/* One field set to a value. */
struct change {
    enum { NOTHING, I64, U32, F64 } kind;
    size_t at;
    int64_t integer;
    double real;
};
#define LONG(field, value)                                                                         \
    {                                                                                              \
        I64, offsetof(rmcp_tensor, field), value, 0                                                \
    }
#define WORD(field, value)                                                                         \
    {                                                                                              \
        U32, offsetof(rmcp_tensor, field), value, 0                                                \
    }
#define REAL(field, value)                                                                         \
    {                                                                                              \
        F64, offsetof(rmcp_tensor, field), 0, value                                                \
    }

static void apply(rmcp_tensor *tensor, const struct change *change)
{
    void *target = (char *)tensor + change->at;
    if (change->kind == I64) memcpy(target, &change->integer, sizeof(int64_t));
    if (change->kind == U32) memcpy(target, &(uint32_t){ (uint32_t)change->integer }, 4);
    if (change->kind == F64) memcpy(target, &change->real, sizeof(double));
}

static const struct wrong {
    struct change changes[7];
    const char *message; /* a part of it */
} wrongs[] = {
    { { WORD(kind, 8) }, "kind is 8;" },
    { { WORD(kind, UINT32_MAX) }, "kind is 4294967295;" },
    { { WORD(dims, 0) }, "dims is 0;" },
    { { WORD(dims, 6) }, "dims is 6;" },
    { { WORD(dims, 2) }, "size[2] is 4, but dims is 2" },
    { { WORD(dims, 4) }, "size[3] is 0;" },
    { { WORD(a_type, 3) }, "a_type is 3;" },
    { { WORD(b_type, 4) }, "b_type is 4;" },
    { { WORD(c_type, UINT32_MAX) }, "c_type is 4294967295;" },
    { { LONG(size[0], 0) }, "size[0] is 0;" },
    { { LONG(size[1], -3) }, "size[1] is -3;" },
    { { LONG(size[4], 1) }, "size[4] is 1, but dims is 3" },
    { { LONG(a_size[3], 1) }, "a_size[3] is 1, but dims is 3" },
    { { LONG(b_stride[4], 7) }, "b_stride[4] is 7, but dims is 3" },
    { { LONG(a_size[0], 3) }, "a_size[0] is 3; it must be 2 or 1" },
    { { LONG(b_size[2], 5) }, "b_size[2] is 5; it must be 4 or 1" },
    { { LONG(b_size[2], -1) }, "b_size[2] is -1;" },
    { { LONG(c_size[0], 1) }, "c_size[0] is 1; it must be 2" },
    { { LONG(c_size[1], 9) }, "c_size[1] is 9; it must be 3" },
    { { LONG(a_stride[1], -4) }, "a_stride[1] is -4;" },
    { { LONG(b_stride[0], INT64_MIN) }, "b_stride[0] is -9223372036854775808;" },
    { { LONG(c_stride[2], -1) }, "c_stride[2] is -1;" },
    { { LONG(c_stride[2], 1) }, "c_stride[0] is 0; elements of c would share memory" },
    { { LONG(c_stride[0], 12), LONG(c_stride[1], 3), LONG(c_stride[2], 1) },
      "c_stride[1] is 3; elements of c would share memory, since smaller strides reach over 3" },
    { { LONG(c_stride[0], 1), LONG(c_stride[1], 1), LONG(c_stride[2], 6) },
      "c_stride[1] is 1; elements of c would share memory, since smaller strides reach over 1" },
    { { LONG(size[0], INT64_C(1) << 61), LONG(size[1], 1), LONG(b_size[1], 1) },
      "the sizes multiply to more than 61 bits: size[0] is 2305843009213693952" },
    { { LONG(size[0], INT64_C(1) << 40), LONG(size[2], INT64_C(1) << 40) },
      "the sizes multiply to more than 61 bits: size[2] is 1099511627776" },
    { { LONG(a_stride[0], INT64_MAX), LONG(a_stride[1], 1) },
      "a is too large: 2 elements 9223372036854775807 apart in dimension 0" },
    { { LONG(a_stride[1], INT64_C(1) << 62) },
      "a is too large: 3 elements 4611686018427387904 apart in dimension 1" },
    { { LONG(b_stride[1], INT64_C(1) << 61) }, "b is too large: 3 elements" },
    { { LONG(c_stride[0], INT64_C(1) << 61), LONG(c_stride[1], 4), LONG(c_stride[2], 1) },
      "c is too large: 2 elements 2305843009213693952 apart in dimension 0" },
    { { REAL(alpha, 1e39) }, "alpha is 1e+39, beyond f32" },
    { { REAL(alpha_b, -1e300) }, "alpha_b is -1e+300, beyond f32" },
    { { REAL(beta, DBL_MAX) }, "beta is 1.79769e+308, beyond f32" },
    { { WORD(kind, RMCP_TENSOR_SUM) }, "b_size[0] is 1, but sum has no b" },
    { { WORD(kind, RMCP_TENSOR_COPY), LONG(b_size[0], 0), LONG(b_size[1], 0), LONG(b_size[2], 0) },
      "alpha_b is 1, but copy has no b" },
    { { WORD(kind, RMCP_TENSOR_COPY), WORD(b_type, 1) }, "b_type is 1, but copy has no b" },
    { { WORD(kind, RMCP_TENSOR_SET), WORD(a_type, 2) }, "a_type is 2, but set has no a" },
    { { WORD(kind, RMCP_TENSOR_SCALE), LONG(a_stride[2], 1) }, "a_stride[2] is 1, but scale has" },
    { { WORD(kind, RMCP_TENSOR_SCALE), LONG(b_size[0], 0), LONG(b_size[1], 0), LONG(b_size[2], 0),
        REAL(alpha_b, 0), REAL(beta, 2) },
      "beta is 2, but scale has none" },
    { { WORD(struct_size, 0) }, "rmcp_tensor.struct_size is 0;" },
    { { WORD(struct_size, sizeof(rmcp_tensor) - 1) }, "rmcp_tensor.struct_size is " },
    { { WORD(struct_size, 4097) }, "rmcp_tensor.struct_size is 4097;" },
};

static void test_each_wrong_struct_has_its_own_message(void **state)
{
    (void)state;
    struct rmcp_tensor_form form;
    char text[RMCP_CASE_MAX];
    assert_int_equal(rmcp_tensor_init(&form, &good), RMCP_OK);
    for (size_t i = 0; i < SUPPORT_LENGTH(wrongs); i++) {
        rmcp_tensor tensor = good;
        for (size_t k = 0; k < SUPPORT_LENGTH(wrongs[i].changes); k++)
            apply(&tensor, &wrongs[i].changes[k]);
        support_assert_failed(rmcp_tensor_init(&form, &tensor), RMCP_E_ARG, wrongs[i].message);
        support_assert_failed(rmcp_tensor_print(&tensor, text, sizeof text), RMCP_E_ARG,
                              wrongs[i].message);
        assert_string_equal(text, "");
    }
    support_assert_failed(rmcp_tensor_init(&form, NULL), RMCP_E_ARG, "rmcp_tensor is NULL");
}

static void test_a_newer_caller_may_only_use_what_is_known(void **state)
{
    (void)state;
    struct {
        rmcp_tensor tensor;
        uint64_t more;
    } newer = { .tensor = good };
    struct rmcp_tensor_form form;
    newer.tensor.struct_size = sizeof newer;
    assert_int_equal(rmcp_tensor_init(&form, &newer.tensor), RMCP_OK);
    newer.more = 1;
    support_assert_failed(rmcp_tensor_init(&form, &newer.tensor), RMCP_E_UNSUPPORTED, "newer");
}

/* ---- canonical form ---- */

static struct rmcp_tensor_form form_of(const char *text)
{
    rmcp_tensor tensor = { .struct_size = sizeof tensor };
    struct rmcp_tensor_form form;
    if (rmcp_tensor_parse(text, &tensor)) fail_msg("%s: %s", text, rmcp_last_error());
    assert_int_equal(rmcp_tensor_init(&form, &tensor), RMCP_OK);
    return form;
}

static void test_neighbouring_dimensions_are_merged(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned n_loops;
        int64_t sizes[RMCP_TENSOR_DIMS]; /* slowest first */
    } cases[] = {
        { "2x3x4x5:set", 1, { 120 } },
        { "2x3x4x5:copy", 1, { 120 } },
        { "1x1:set", 1, { 1 } },
        { "2x3x4x5:add:b1x3x1x1", 3, { 2, 3, 20 } },
        { "2x3x4x5:add:b1x1x1x5", 2, { 24, 5 } },
        { "2x3x4x5:add:b1x1x1x1", 1, { 120 } },
        { "2x3x4x5:copy:c/60x1x15x3", 3, { 2, 20, 3 } }, /* to channels last */
        { "2x3x4x5:copy:a/60x1x15x3:c/60x1x15x3", 1, { 120 } },
        { "2x3x4x5:copy:a/100x30x7x1", 4, { 2, 3, 4, 5 } },
        { "2x3x4x5:sum:c1x3x1x1", 3, { 2, 3, 20 } },
        { "2x3x4x5:sum:c1x1x1x1", 1, { 120 } },
        { "2x3x4x5:sum:c1x1x1x5", 2, { 24, 5 } },
        { "7x1x9:copy:a/9x5x1", 1, { 63 } }, /* the stride of a dimension of size 1 means nothing */
    };
    for (size_t i = 0; i < SUPPORT_LENGTH(cases); i++) {
        const struct rmcp_tensor_form form = form_of(cases[i].text);
        if (form.n_loops != cases[i].n_loops) fail_msg("%s: %u loops", cases[i].text, form.n_loops);
        for (unsigned k = 0; k < form.n_loops; k++)
            assert_int_equal(form.loop[k].size, cases[i].sizes[k]);
    }
}

static void test_spans_outputs_and_terms(void **state)
{
    (void)state;
    struct rmcp_tensor_form form = form_of("4x5x6:sum:c4x1x6/100x1x2");
    assert_int_equal(form.span[RMCP_TENSOR_A], 120);
    assert_int_equal(form.span[RMCP_TENSOR_B], 0);
    assert_int_equal(form.span[RMCP_TENSOR_C], 3 * 100 + 5 * 2 + 1);
    assert_int_equal(form.outputs, 24);
    assert_int_equal(form.terms, 5);
    /* gaps must keep what they hold, so the slot is read, too */
    assert_true(rmcp_operation_tensor.slot(&form, RMCP_TENSOR_C).read);
    form = form_of("4x5x6:sum:c4x1x6");
    assert_false(rmcp_operation_tensor.slot(&form, RMCP_TENSOR_C).read);
    form = form_of("4x5x6:sum:c4x1x6:beta1");
    assert_true(rmcp_operation_tensor.slot(&form, RMCP_TENSOR_C).read);
    assert_int_equal(form_of("3:scale").span[RMCP_TENSOR_A], 0);
}

static void test_the_bound_of_a_sum_stops_growing(void **state)
{
    (void)state;
    assert_true(rmcp_tensor_roundings(1) == 0);
    assert_true(rmcp_tensor_roundings(100) == 99);
    assert_true(rmcp_tensor_roundings(1000000) == RMCP_TENSOR_MOST_ROUNDINGS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_wrong_struct_has_its_own_message),
        cmocka_unit_test(test_a_newer_caller_may_only_use_what_is_known),
        cmocka_unit_test(test_neighbouring_dimensions_are_merged),
        cmocka_unit_test(test_spans_outputs_and_terms),
        cmocka_unit_test(test_the_bound_of_a_sum_stops_growing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
