/* test_tensor_case.c: case strings of tensor operations: read, printed, refused with the reason. */
#include "base/random.h"
#include "engine/ops/tensor/tensor.h"
#include "support.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_what_is_left_out(void **state)
{
    (void)state;
    rmcp_tensor t = { .struct_size = sizeof t };
    assert_int_equal(rmcp_tensor_parse("tensor:8x64x56x56:add:b1x64x1x1:f16", &t), RMCP_OK);
    assert_int_equal(t.kind, RMCP_TENSOR_ADD);
    assert_int_equal(t.dims, 4);
    assert_int_equal(t.size[1], 64);
    assert_int_equal(t.b_size[0], 1);
    assert_int_equal(t.b_size[1], 64);
    assert_int_equal(t.a_type, RMCP_F16);
    assert_int_equal(t.b_type, RMCP_F16);
    assert_int_equal(t.c_type, RMCP_F16);
    assert_int_equal(t.c_stride[0], 64 * 56 * 56);
    assert_int_equal(t.b_stride[1], 1);
    assert_true(t.alpha == 1 && t.alpha_b == 1 && t.beta == 0);
    assert_int_equal(rmcp_tensor_parse("5:copy:bf16-f32:alpha-0.5:beta2", &t), RMCP_OK);
    assert_int_equal(t.a_type, RMCP_BF16);
    assert_int_equal(t.b_type, 0);
    assert_int_equal(t.c_type, RMCP_F32);
    assert_true(t.alpha == -0.5 && t.alpha_b == 0 && t.beta == 2);
}

/* Text, and how it is printed (NULL: the same). */
static const char *const texts[][2] = {
    { "tensor:3:set:f32", NULL },
    { "3:set", "tensor:3:set:f32" },
    { "tensor:2x3:set:bf16:alpha-inf", NULL },
    { "tensor:2x3:set:f32:alphanan", NULL },
    { "tensor:2x3:scale:f32:c/5x1:alpha0.100000001", NULL },
    { "tensor:2x3:scale:alpha.1:c/5x1", "tensor:2x3:scale:f32:c/5x1:alpha0.100000001" },
    { "tensor:2x3:copy:f16-bf16", NULL },
    { "tensor:2x3:copy:f16-f16", "tensor:2x3:copy:f16" },
    { "tensor:2x3:copy:f32:c/3x1", "tensor:2x3:copy:f32" },
    { "tensor:2x3:copy:f32:a2x1/7x9", "tensor:2x3:copy:f32:a2x1/7x1" },
    { "tensor:2x3:copy:f32:a/0x1", NULL },
    { "tensor:2x3x4:add:f32-f16-bf16:b1x3x1:c/12x1x3:alpha2:alpha_b3:beta4", NULL },
    { "tensor:2x3x4x5x6:sum:f32:c1x3x1x5x1", NULL },
    { "tensor:2x3:minimum:f32:alpha0:alpha_b0", NULL },
    { "tensor:2x3:maximum:f32:b2x3", "tensor:2x3:maximum:f32" },
    { "tensor:2:multiply:f32:alpha1:alpha_b1:beta0", "tensor:2:multiply:f32" },
};

static void test_printed_as_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < SUPPORT_LENGTH(texts); i++) {
        rmcp_tensor t = { .struct_size = sizeof t };
        char text[RMCP_CASE_MAX];
        if (rmcp_tensor_parse(texts[i][0], &t)) fail_msg("%s: %s", texts[i][0], rmcp_last_error());
        assert_int_equal(rmcp_tensor_print(&t, text, sizeof text), RMCP_OK);
        assert_string_equal(text, texts[i][1] ? texts[i][1] : texts[i][0]);
    }
}

static void test_whatever_is_drawn_survives_the_way_through_text(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct rmcp_tensor_form drawn;
        rmcp_tensor t = { .struct_size = sizeof t };
        char text[RMCP_CASE_MAX];
        rmcp_tensor_draw(seed, &drawn);
        assert_int_equal(rmcp_tensor_print(&drawn.tensor, text, sizeof text), RMCP_OK);
        if (rmcp_tensor_parse(text, &t)) fail_msg("%s: %s", text, rmcp_last_error());
        assert_memory_equal(&t, &drawn.tensor, sizeof t);
    }
}

static const char *const wrongs[][2] = {
    { "", "the case string is empty" },
    { "tensor:", "the case string is empty" },
    { "set", "a number is missing at position 1" },
    { "3", "the kind is missing" },
    { "3x", "a number is missing at position 3" },
    { "3x4x5x6x7x8:set", "more than 5 numbers" },
    { "99999999999999999999:set", "is larger than 9223372036854775807" },
    { "3y:set", "':' must follow the size" },
    { "3:set:", "no word" },
    { "3:set::f32", "no word" },
    { "3:set:copy", "a second kind, 'copy'" },
    { "3:fill", "'fill' is no type" },
    { "3:zero", "unknown word 'zero'" },
    { "3:set:f64", "'f64' is no type" },
    { "3:set:f32:f16", "a second type, 'f16'" },
    { "3:set:f32-f32", "2 types for 1 tensors" },
    { "3:add:f32-f32", "2 types for 3 tensors" },
    { "3:add:f32-f32-f32-f32", "is no type" },
    { "3:copy:f32-", "is no type" },
    { "3:set:alpha", "'alpha' must be followed by a number" },
    { "3:set:alpha1x", "'alpha' must be followed by a number" },
    { "3:set:alpha0x10", "'alpha' must be followed by a number" },
    { "3:set:alphainfinity", "'alpha' must be followed by a number" },
    { "3:set:alpha1e999", "'alpha' must be followed by a number" },
    { "3:set:alpha1:alpha2", "'alpha' is given twice" },
    { "3:set:alpha1e39", "alpha is 1e+39, beyond f32" },
    { "3:set:alpha_b1", "alpha_b is 1, but set has no b" },
    { "3:set:beta1", "beta is 1, but set has none" },
    { "3:set:a3", "a_size[0] is 3, but set has no a" },
    { "3:copy:a3:a3", "'a' is given twice" },
    { "3:copy:a0", "a size of a is 0" },
    { "3:copy:a/0", "the strides of a are all 0; give it size 1" },
    { "3:copy:a3x3", "a has 2 numbers for 1 dimensions" },
    { "3x3:copy:a/3", "a has 1 numbers for 2 dimensions" },
    { "3:copy:a3/", "a number is missing" },
    { "3:copy:a3/1f", "'f' does not belong at position" },
    { "3:copy:a2", "a_size[0] is 2; it must be 3 or 1" },
    { "3:copy:c1", "c_size[0] is 1; it must be 3" },
    { "3x3:copy:c/2x1", "c_stride[0] is 2; elements of c would share memory" },
    { "0:set", "size[0] is 0;" },
    { "3:set:thisisafarfartoolongwordtobeanythingofours", "too long a word" },
};

static void test_each_wrong_text_has_its_own_message(void **state)
{
    (void)state;
    rmcp_tensor t, before;
    memset(&t, 0x5a, sizeof t);
    t.struct_size = sizeof t;
    before = t;
    for (size_t i = 0; i < SUPPORT_LENGTH(wrongs); i++) {
        support_assert_failed(rmcp_tensor_parse(wrongs[i][0], &t), RMCP_E_ARG, wrongs[i][1]);
        assert_memory_equal(&t, &before, sizeof t);
    }
    support_assert_failed(rmcp_tensor_parse(NULL, &t), RMCP_E_ARG, "text is NULL");
    support_assert_failed(rmcp_tensor_parse("3:\x1b[31m", &t), RMCP_E_ARG, "'?[31m'");
    char longest[2000];
    memset(longest, '3', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    support_assert_failed(rmcp_tensor_parse(longest, &t), RMCP_E_ARG, "longer than");
    support_assert_failed(rmcp_tensor_parse("3:set", NULL), RMCP_E_ARG, "NULL");
}

static void test_room_for_the_text(void **state)
{
    (void)state;
    rmcp_tensor t = { .struct_size = sizeof t };
    char text[RMCP_CASE_MAX];
    /* the longest numbers there are */
    assert_int_equal(
        rmcp_tensor_parse("2x2x2x2x2:minimum:bf16-f16-bf16:"
                          "a/1152921504606846975x576460752303423488x288230376151711744x"
                          "144115188075855872x72057594037927936:"
                          "b1x2x2x2x2/1x1152921504606846975x576460752303423488x"
                          "288230376151711744x144115188075855872:"
                          "c/1152921504606846975x576460752303423488x288230376151711744x"
                          "144115188075855872x72057594037927936:"
                          "alpha-1.17549435e-38:alpha_b-1.17549435e-38:beta-1.17549435e-38",
                          &t),
        RMCP_OK);
    assert_int_equal(rmcp_tensor_print(&t, text, sizeof text), RMCP_OK);
    const size_t length = strlen(text);
    assert_int_equal(rmcp_tensor_print(&t, text, length + 1), RMCP_OK);
    support_assert_failed(rmcp_tensor_print(&t, text, length), RMCP_E_ARG, "bytes");
    support_assert_failed(rmcp_tensor_print(&t, text, 5), RMCP_E_ARG, "bytes");
    support_assert_failed(rmcp_tensor_print(&t, text, 0), RMCP_E_ARG, "no room");
    support_assert_failed(rmcp_tensor_print(&t, NULL, 10), RMCP_E_ARG, "no room");
    support_assert_failed(rmcp_tensor_print(NULL, text, sizeof text), RMCP_E_ARG, "NULL");
}

static void test_noise_is_refused_or_read(void **state)
{
    (void)state;
    static const char letters[] = "0123456789x:/-.abcfeinmulphsxtdgoy_";
    struct rmcp_random r = { 7 };
    for (int i = 0; i < 20000; i++) {
        char text[60] = "3x4:copy:";
        const int64_t start = rmcp_random_below(&r, 9), n = rmcp_random_between(&r, 1, 40);
        for (int64_t k = 0; k < n; k++)
            text[start + k] = letters[rmcp_random_below(&r, sizeof letters - 1)];
        text[start + n] = '\0';
        rmcp_tensor t = { .struct_size = sizeof t };
        if (rmcp_tensor_parse(text, &t)) support_assert_one_line(rmcp_last_error());
    }
}

static void test_a_comma_of_the_locale_does_not_matter(void **state)
{
    (void)state;
    const char *before = setlocale(LC_NUMERIC, NULL);
    char saved[64];
    snprintf(saved, sizeof saved, "%s", before);
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) skip();
    rmcp_tensor t = { .struct_size = sizeof t };
    char text[RMCP_CASE_MAX];
    assert_int_equal(rmcp_tensor_parse("3:set:alpha0.5", &t), RMCP_OK);
    assert_true(t.alpha == 0.5);
    assert_int_equal(rmcp_tensor_print(&t, text, sizeof text), RMCP_OK);
    setlocale(LC_NUMERIC, saved);
    assert_string_equal(text, "tensor:3:set:f32:alpha0.5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_left_out),
        cmocka_unit_test(test_printed_as_read),
        cmocka_unit_test(test_whatever_is_drawn_survives_the_way_through_text),
        cmocka_unit_test(test_each_wrong_text_has_its_own_message),
        cmocka_unit_test(test_room_for_the_text),
        cmocka_unit_test(test_noise_is_refused_or_read),
        cmocka_unit_test(test_a_comma_of_the_locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
