/* test_gemm.c: problems of matrix products: defaults, sizes of structs, every wrong thing and its
 * message, spans, and what is read. */
#include "engine/ops/gemm/gemm.h"
#include "support.h"

#include <float.h>
#include <math.h>
#include <string.h>

static rmcp_gemm plain(void)
{
    return (rmcp_gemm){
        .struct_size = sizeof(rmcp_gemm), .batch = 1, .m = 3, .n = 4, .k = 5, .alpha = 1
    };
}

static void test_sizes_of_structs(void **state)
{
    (void)state;
    assert_int_equal(sizeof(rmcp_gemm), RMCP_FIRST_GEMM);
    assert_int_equal(sizeof(rmcp_gemm_matrices), RMCP_FIRST_GEMM_MATRICES);
    struct rmcp_gemm_form form;
    struct {
        rmcp_gemm gemm;
        uint64_t later;
    } newer = { plain(), 0 };
    newer.gemm.struct_size = sizeof newer;
    assert_int_equal(rmcp_gemm_form_init(&form, &newer.gemm), RMCP_OK);
    newer.later = 1;
    support_assert_failed(rmcp_gemm_form_init(&form, &newer.gemm), RMCP_E_UNSUPPORTED,
                          "newer release");
    newer.gemm.struct_size = sizeof(rmcp_gemm) - 8;
    support_assert_failed(rmcp_gemm_form_init(&form, &newer.gemm), RMCP_E_ARG, "rmcp_gemm");
    support_assert_failed(rmcp_gemm_form_init(&form, NULL), RMCP_E_ARG, "NULL");
}

static void test_defaults(void **state)
{
    (void)state;
    struct rmcp_gemm_form form;
    rmcp_gemm g = plain();
    g.batch = 2;
    g.a_stride = g.b_stride = g.c_stride = RMCP_GEMM_PACKED;
    assert_int_equal(rmcp_gemm_form_init(&form, &g), RMCP_OK);
    assert_int_equal(form.gemm.a_pitch, 5);
    assert_int_equal(form.gemm.b_pitch, 4);
    assert_int_equal(form.gemm.c_pitch, 4);
    assert_int_equal(form.gemm.a_stride, 15);
    assert_int_equal(form.gemm.b_stride, 20);
    assert_int_equal(form.gemm.c_stride, 12);
    assert_int_equal(form.span[RMCP_GEMM_A], 30);
    assert_int_equal(form.span[RMCP_GEMM_B], 40);
    assert_int_equal(form.span[RMCP_GEMM_C], 24);
    assert_int_equal(form.span[RMCP_GEMM_BIAS], 0);
    g.transpose_a = g.transpose_b = 1;
    g.b_stride = 0, g.a_pitch = 7, g.bias = RMCP_GEMM_ROW_BIAS;
    assert_int_equal(rmcp_gemm_form_init(&form, &g), RMCP_OK);
    assert_int_equal(form.gemm.a_stride, 35);
    assert_int_equal(form.span[RMCP_GEMM_A], 35 + 4 * 7 + 3);
    assert_int_equal(form.span[RMCP_GEMM_B], 20);
    assert_int_equal(form.span[RMCP_GEMM_BIAS], 3);
}

static void test_what_is_not_read(void **state)
{
    (void)state;
    struct rmcp_gemm_form form;
    const struct rmcp_operation *o = &rmcp_operation_gemm;
    rmcp_gemm g = plain();
    assert_int_equal(rmcp_gemm_form_init(&form, &g), RMCP_OK);
    assert_false(o->slot(&form, RMCP_GEMM_C).read);
    g.beta = 1;
    assert_int_equal(rmcp_gemm_form_init(&form, &g), RMCP_OK);
    assert_true(o->slot(&form, RMCP_GEMM_C).read);
    g.beta = 0, g.c_pitch = 6; /* gaps keep their value */
    assert_int_equal(rmcp_gemm_form_init(&form, &g), RMCP_OK);
    assert_true(o->slot(&form, RMCP_GEMM_C).read);
    g.alpha = 0;
    assert_int_equal(rmcp_gemm_form_init(&form, &g), RMCP_OK);
    assert_int_equal(o->slot(&form, RMCP_GEMM_A).elements, 0);
    assert_int_equal(o->slot(&form, RMCP_GEMM_B).elements, 0);
    g = plain();
    g.k = 0;
    assert_int_equal(rmcp_gemm_form_init(&form, &g), RMCP_OK);
    assert_int_equal(o->slot(&form, RMCP_GEMM_A).elements, 0);
    assert_int_equal(o->slot(&form, RMCP_GEMM_C).elements, 12);
    int64_t *const sizes[] = { &g.m, &g.n, &g.batch };
    for (size_t i = 0; i < SUPPORT_LENGTH(sizes); i++) {
        g = plain();
        g.bias = RMCP_GEMM_COLUMN_BIAS;
        *sizes[i] = 0;
        assert_int_equal(rmcp_gemm_form_init(&form, &g), RMCP_OK);
        for (unsigned slot = 0; slot < RMCP_GEMM_SLOTS; slot++)
            assert_int_equal(o->slot(&form, slot).elements, 0);
    }
}

#define WRONG(field, value, message)                                                               \
    do {                                                                                           \
        rmcp_gemm g = plain();                                                                     \
        g.field = value;                                                                           \
        support_assert_failed(rmcp_gemm_form_init(&form, &g), RMCP_E_ARG, message);                \
    } while (0)

static void test_wrong_things(void **state)
{
    (void)state;
    struct rmcp_gemm_form form;
    WRONG(type, 3, "type is 3");
    WRONG(batch, -1, "batch is -1");
    WRONG(m, -2, "m is -2");
    WRONG(n, INT64_MIN, "n is -9223372036854775808");
    WRONG(k, -4, "k is -4");
    WRONG(transpose_a, 2, "transpose_a is 2");
    WRONG(transpose_b, 7, "transpose_b is 7");
    WRONG(a_pitch, 4, "a_pitch is 4; it must be at least 5");
    WRONG(a_pitch, -1, "a_pitch is -1");
    WRONG(b_pitch, 3, "b_pitch is 3; it must be at least 4");
    WRONG(c_pitch, 3, "c_pitch is 3; it must be at least 4");
    WRONG(a_stride, -2, "a_stride is -2");
    WRONG(b_stride, INT64_MIN, "b_stride is -9223372036854775808");
    WRONG(c_stride, -5, "c_stride is -5");
    WRONG(m, INT64_MAX, "is too large");
    WRONG(a_pitch, INT64_MAX, "a is too large");
    WRONG(bias, 3, "bias is 3");
    WRONG(activation, 4, "activation is 4");
    WRONG(reserved, 1, "reserved is 1");
    WRONG(alpha, (double)NAN, "alpha is");
    WRONG(alpha, 1e39, "alpha is 1e+39");
    WRONG(beta, (double)-INFINITY, "beta is -inf");
    rmcp_gemm g = plain();
    g.activation = RMCP_LEAKY_RELU, g.slope = INFINITY;
    support_assert_failed(rmcp_gemm_form_init(&form, &g), RMCP_E_ARG, "slope is inf");
    g.activation = RMCP_CLAMP, g.clamp_low = 1, g.clamp_high = 0;
    support_assert_failed(rmcp_gemm_form_init(&form, &g), RMCP_E_ARG, "clamp_low, 1");
}

static void test_matrices_of_c_do_not_overlap(void **state)
{
    (void)state;
    struct rmcp_gemm_form form;
    rmcp_gemm g = plain();
    g.batch = 3, g.c_pitch = 20;
    static const struct {
        int64_t stride;
        bool good;
    } strides[] = { { 0, false }, { 3, false },  { 4, true },  { 8, true },
                    { 9, false }, { 43, false }, { 44, true }, { 100, true } };
    for (size_t i = 0; i < SUPPORT_LENGTH(strides); i++) {
        g.c_stride = strides[i].stride;
        const rmcp_status status = rmcp_gemm_form_init(&form, &g);
        if (strides[i].good)
            assert_int_equal(status, RMCP_OK);
        else
            support_assert_failed(status, RMCP_E_ARG, "overlap");
    }
    g.c_stride = 8; /* side by side: each element once */
    assert_int_equal(rmcp_gemm_form_init(&form, &g), RMCP_OK);
    int64_t found = 0;
    for (int64_t place = 0; place < form.span[RMCP_GEMM_C]; place++) {
        struct rmcp_gemm_index at;
        if (!rmcp_gemm_index_of(&form, place, &at)) continue;
        found++;
        assert_int_equal(at.batch * 8 + at.row * 20 + at.column, place);
    }
    assert_int_equal(found, form.outputs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_of_structs),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_what_is_not_read),
        cmocka_unit_test(test_wrong_things),
        cmocka_unit_test(test_matrices_of_c_do_not_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
