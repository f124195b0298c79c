/* test_gemm_case.c: case strings of matrix products: read, printed, refused with the reason. */
#include "engine/ops/gemm/gemm.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

/* Text, and how it is printed (NULL: the same). */
static const char *const texts[][2] = {
    { "gemm:m1n2k3:nn:f32", NULL },
    { "m1n2k3", "gemm:m1n2k3:nn:f32" },
    { "gemm:k3m1n2:f16:tn", "gemm:m1n2k3:tn:f16" },
    { "gemm:m1n2k0:tt:bf16:b0", NULL },
    { "gemm:m8n2k3:nn:f32:b1", "gemm:m8n2k3:nn:f32" },
    { "gemm:m8n9k7:nt:f32:b4:a/8:b/9x0:c/12x100", NULL },
    { "gemm:m8n9k7:nn:f32:b4:a/7x56:b/9:c/9x72", "gemm:m8n9k7:nn:f32:b4" },
    { "gemm:m8n9k7:nn:f32:a/7x11", "gemm:m8n9k7:nn:f32" }, /* a single one has no stride */
    { "gemm:m1n2k3:nn:f32:alpha-0.5:beta2:bias_row:relu", NULL },
    { "gemm:m1n2k3:nn:f32:bias_col:leaky0.25", NULL },
    { "gemm:m1n2k3:nn:f32:clamp-1x6", NULL },
    { "gemm:m1n2k3:alpha1:beta0", "gemm:m1n2k3:nn:f32" },
    { "gemm:m1n2k3:alpha.1", "gemm:m1n2k3:nn:f32:alpha0.100000001" },
};

static void test_printed_as_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < SUPPORT_LENGTH(texts); i++) {
        rmcp_gemm g = { .struct_size = sizeof g };
        char text[RMCP_CASE_MAX];
        if (rmcp_gemm_parse(texts[i][0], &g)) fail_msg("%s: %s", texts[i][0], rmcp_last_error());
        assert_int_equal(rmcp_gemm_print(&g, text, sizeof text), RMCP_OK);
        assert_string_equal(text, texts[i][1] ? texts[i][1] : texts[i][0]);
    }
}

static void test_whatever_is_drawn_survives_the_way_through_text(void **state)
{
    (void)state;
    unsigned seen[3][4][3] = { { { 0 } } };
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct rmcp_gemm_form drawn, again;
        rmcp_gemm g = { .struct_size = sizeof g };
        char text[RMCP_CASE_MAX], second[RMCP_CASE_MAX];
        rmcp_gemm_draw(seed, &drawn);
        assert_int_equal(rmcp_gemm_print(&drawn.gemm, text, sizeof text), RMCP_OK);
        if (rmcp_gemm_parse(text, &g)) fail_msg("%s: %s", text, rmcp_last_error());
        assert_int_equal(rmcp_gemm_form_init(&again, &g), RMCP_OK);
        assert_int_equal(rmcp_gemm_print(&again.gemm, second, sizeof second), RMCP_OK);
        assert_string_equal(text, second);
        assert_memory_equal(again.span, drawn.span, sizeof again.span);
        assert_memory_equal(&again.product, &drawn.product, sizeof again.product);
        const unsigned transposes = 2 * g.transpose_a + g.transpose_b;
        seen[g.type][transposes][g.bias]++;
    }
    for (int type = 0; type < 3; type++)
        for (int transposes = 0; transposes < 4; transposes++)
            for (int bias = 0; bias < 3; bias++) assert_true(seen[type][transposes][bias] > 10);
}

static const char *const wrongs[][2] = {
    { "", "the case string is empty" },
    { "gemm:", "the case string is empty" },
    { "m1n2", "'k' is missing" },
    { "m1n2k3m4", "'m' is given twice" },
    { "m1n2k", "a number must follow 'k'" },
    { "m1n2kx", "a number must follow 'k'" },
    { "m1n2k3q", "'q' does not belong at position 7" },
    { "m1n2k99999999999999999999", "larger than 9223372036854775807" },
    { "m1n2k3:", "no word" },
    { "m1n2k3::f32", "no word" },
    { "m1n2k3:xx", "unknown word 'xx'" },
    { "m1n2k3:f32:f16", "'f16' is one too many" },
    { "m1n2k3:nn:tt", "'tt' is one too many" },
    { "m1n2k3:b2:b3", "'b' is one too many" },
    { "m1n2k3:b2x", "'b' does not end after its number" },
    { "m1n2k3:bias", "unknown word 'bias'" },
    { "m1n2k3:bias_row:bias_col", "'bias_col' is one too many" },
    { "m1n2k3:alpha", "'alpha' must be followed by a number" },
    { "m1n2k3:alpha2x", "'alpha' does not end after its number" },
    { "m1n2k3:alphainf", "alpha is inf" },
    { "m1n2k3:alpha1:alpha1", "'alpha1' is one too many" },
    { "m1n2k3:beta1e39", "beta is 1e+39" },
    { "m1n2k3:relu:relu", "'relu' is one too many" },
    { "m1n2k3:clamp3x1", "clamp_low, 3" },
    { "m1n2k3:a/2", "a_pitch is 2" },
    { "m1n2k3:a/", "a number is missing" },
    { "m1n2k3:a/3x", "a number is missing" },
    { "m1n2k3:a/3x4x5", "'x' does not belong" },
    { "m1n2k3:a/3:a/3", "'a' is one too many" },
    { "m3n2k3:b2:c/2x0", "overlap" },
    { "m9000000000000000000n2k3", "is too large" },
};

static void test_wrong_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < SUPPORT_LENGTH(wrongs); i++) {
        rmcp_gemm g = { .struct_size = sizeof g, .m = 77 };
        support_assert_failed(rmcp_gemm_parse(wrongs[i][0], &g), RMCP_E_ARG, wrongs[i][1]);
        assert_int_equal(g.m, 77); /* untouched */
    }
    rmcp_gemm g = { .struct_size = sizeof g };
    support_assert_failed(rmcp_gemm_parse(NULL, &g), RMCP_E_ARG, "NULL");
    support_assert_failed(rmcp_gemm_parse("m1n1k1", NULL), RMCP_E_ARG, "NULL");
    char text[10];
    assert_int_equal(rmcp_gemm_parse("m1n1k1", &g), RMCP_OK);
    support_assert_failed(rmcp_gemm_print(&g, text, sizeof text), RMCP_E_ARG, "needs");
    support_assert_failed(rmcp_gemm_print(&g, NULL, 5), RMCP_E_ARG, "NULL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_printed_as_read),
        cmocka_unit_test(test_whatever_is_drawn_survives_the_way_through_text),
        cmocka_unit_test(test_wrong_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
