/* test_gemm_ways.c: which kernel computes a product, in how many parts and launches: sums are
 * covered once, workspace is what the launches use, nothing runs too long, and too large ones are
 * refused. */
#include "engine/kernels/matmul_args.h"
#include "engine/matmul/ways.h"
#include "engine/ops/gemm/gemm.h"
#include "support.h"

#include <string.h>

/* About an RX 5700 XT, and a much larger GPU. */
static const struct rmcp_caps cards[] = {
    { .kinds = RMCP_LAUNCH_KERNEL,
      .compute_units = 40,
      .max_block = 1024,
      .local_bytes = 65536,
      .max_buffer_bytes = UINT64_C(8) << 30,
      .flops_per_second = 9.7e12,
      .bytes_per_second = 448e9,
      .launch_seconds = 5e-6 },
    { .kinds = RMCP_LAUNCH_KERNEL,
      .compute_units = 132,
      .max_block = 1024,
      .local_bytes = 49152,
      .max_buffer_bytes = UINT64_C(64) << 30,
      .flops_per_second = 67e12,
      .bytes_per_second = 4.8e12,
      .launch_seconds = 2e-6 },
};

static struct rmcp_gemm_form form_of(const char *text)
{
    rmcp_gemm gemm = { .struct_size = sizeof gemm };
    struct rmcp_gemm_form form = { .terms = 0 };
    if (rmcp_gemm_parse(text, &gemm) || rmcp_gemm_form_init(&form, &gemm))
        fail_msg("%s: %s", text, rmcp_last_error());
    return form;
}

static void test_ways_cover_the_reduction(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct rmcp_gemm_form form;
        rmcp_gemm_draw(seed, &form);
        const struct rmcp_matmul *p = &form.product;
        for (size_t card = 0; card < SUPPORT_LENGTH(cards); card++)
            for (int i = 0; i < RMCP_MATMUL_FAMILIES; i++) {
                const enum rmcp_matmul_family family = (enum rmcp_matmul_family)i;
                if (rmcp_matmul_family_refuse(p, family)) continue;
                const struct rmcp_matmul_way way = rmcp_matmul_choose(p, &cards[card], family);
                assert_true(way.seconds > 0 && way.splits >= 1);
                if (form.outputs && form.terms) {
                    assert_true(way.splits * way.share >= form.terms);
                    assert_true((way.splits - 1) * way.share < form.terms);
                    assert_int_equal(family == RMCP_MATMUL_TILED ? way.splits : 1, 1);
                    assert_true(family != RMCP_MATMUL_SPLIT || way.splits > 1);
                }
                struct rmcp_launch_list list = { 0 };
                assert_int_equal(rmcp_matmul_emit_way(p, &way, &cards[card], 0, &list), RMCP_OK);
                const uint64_t workspace = rmcp_matmul_parts_bytes(p, &way);
                bool uses = false;
                for (size_t r = 0; r < list.n_records; r++) {
                    const struct rmcp_kernel_launch *launch = &list.records[r].kernel;
                    assert_true(launch->grid[0] && launch->grid[1] && launch->grid[2]);
                    assert_true(launch->grid[1] <= 65535);
                    for (uint32_t k = 0; k < launch->n_args; k++) {
                        const struct rmcp_arg *arg = &launch->args[k];
                        if (arg->kind != RMCP_ARG_MEMORY) continue;
                        uses |= arg->slot == RMCP_SLOT_WORKSPACE;
                        if (arg->slot < RMCP_GEMM_SLOTS) assert_true(form.span[arg->slot] > 0);
                    }
                }
                assert_int_equal(uses, workspace > 0);
                assert_int_equal(list.n_records == 0, form.outputs == 0);
                rmcp_launch_list_deinit(&list);
            }
    }
}

/* What the launches of a list cover: workgroups in all of them. */
static double workgroups(const struct rmcp_launch_list *list, const char *kernel)
{
    double sum = 0;
    for (size_t i = 0; i < list->n_records; i++) {
        const struct rmcp_kernel_launch *l = &list->records[i].kernel;
        if (!strncmp(l->kernel, kernel, strlen(kernel)))
            sum += (double)l->grid[0] * (double)l->grid[1] * (double)l->grid[2];
    }
    return sum;
}

static void test_long_ones_are_cut(void **state)
{
    (void)state;
    static const char *const texts[] = { "m30000n30000k8000", "m2048n2048k2048:b300",
                                         "m8n8k8:b200000" };
    for (size_t i = 0; i < SUPPORT_LENGTH(texts); i++) {
        const struct rmcp_gemm_form form = form_of(texts[i]);
        const struct rmcp_matmul_way way =
            rmcp_matmul_choose(&form.product, &cards[0], RMCP_MATMUL_TILED);
        struct rmcp_launch_list list = { 0 };
        assert_int_equal(rmcp_matmul_emit_way(&form.product, &way, &cards[0], 0, &list), RMCP_OK);
        assert_true(list.n_records > 1);
        assert_true(way.seconds / (double)list.n_records < 0.06);
        const double tiles = (double)rmcp_ceil_divide(form.gemm.m, way.tile->rows) *
                             (double)rmcp_ceil_divide(form.gemm.n, way.tile->columns) *
                             (double)form.gemm.batch;
        assert_true(workgroups(&list, "matmul_f32") == tiles);
        rmcp_launch_list_deinit(&list);
    }
}

static void test_too_large_ones_are_refused(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        { "m3n3k3000000000", "2^31 or more" },  { "m70000n70000k3", "c has 2^31 elements" },
        { "m3n3k3:a/5000000", "2^22" },         { "m3n3k3:b/5000000", "2^22" },
        { "m3n3k3:c/3000000000", "rows of c" },
    };
    for (size_t i = 0; i < SUPPORT_LENGTH(texts); i++) {
        const struct rmcp_gemm_form form = form_of(texts[i][0]);
        for (int family = 0; family < RMCP_MATMUL_FAMILIES; family++) {
            const char *why =
                rmcp_matmul_family_refuse(&form.product, (enum rmcp_matmul_family)family);
            assert_non_null(why);
            assert_non_null(strstr(why, texts[i][1]));
        }
        struct rmcp_matmul_known known = { 0 };
        assert_non_null(rmcp_matmul_consider(&form.product, &cards[0], &known).refusal);
        struct rmcp_launch_list list = { 0 };
        support_assert_failed(rmcp_matmul_emit(&form.product, &cards[0], &known, 0, &list),
                              RMCP_E_UNSUPPORTED, texts[i][1]);
        rmcp_launch_list_deinit(&list);
    }
}

static struct rmcp_kernel_launch only_launch(const struct rmcp_matmul *p,
                                             const struct rmcp_matmul_known *known)
{
    struct rmcp_launch_list list = { 0 };
    assert_int_equal(rmcp_matmul_emit(p, &cards[0], known, 0, &list), RMCP_OK);
    assert_true(list.n_records >= 1);
    const struct rmcp_kernel_launch launch = list.records[0].kernel;
    rmcp_launch_list_deinit(&list);
    return launch;
}

/* Ways that are known are those that would be chosen anew, also of more shapes than there is room
 * for, and are never those of another shape. */
static void test_ways_are_known(void **state)
{
    (void)state;
    static const char *const texts[] = { "m3n300k700",      "m300n3k700",  "m700n700k700",
                                         "m700n700k700:tn", "m64n64k9000", "m64n64k64",
                                         "m3n300k700:f16",  "m1n1k1",      "m128n128k128" };
    const struct rmcp_matmul_known none = { 0 };
    struct rmcp_matmul_known known = { 0 };
    for (int twice = 0; twice < 2; twice++)
        for (size_t i = 0; i < SUPPORT_LENGTH(texts); i++) {
            const struct rmcp_gemm_form form = form_of(texts[i]);
            const struct rmcp_matmul *p = &form.product;
            const struct rmcp_matmul_way way =
                rmcp_matmul_choose(p, &cards[0], RMCP_MATMUL_FAMILIES);
            const struct rmcp_matmul_cost cost = rmcp_matmul_consider(p, &cards[0], &known);
            assert_null(cost.refusal);
            assert_true(cost.seconds == way.seconds);
            assert_int_equal(cost.workspace_bytes, rmcp_matmul_parts_bytes(p, &way));
            const struct rmcp_kernel_launch a = only_launch(p, &known), b = only_launch(p, &none);
            assert_ptr_equal(a.kernel, b.kernel);
            assert_memory_equal(a.grid, b.grid, sizeof a.grid);
        }
    assert_int_equal(known.count, RMCP_MATMUL_KNOWN);
}

/* A batch that shares b is one product, unless each has a bias for its rows. */
static void test_batches_are_folded(void **state)
{
    (void)state;
    const struct rmcp_gemm_form one = form_of("m3n4k5:b6:b/4x0:bias_col");
    assert_int_equal(rmcp_matmul_folded(&one.product).m, 18);
    assert_int_equal(rmcp_matmul_folded(&one.product).batch, 1);
    static const char *const not [] = { "m3n4k5:b6:b/4x0:bias_row", "m3n4k5:b6",
                                        "m3n4k5:b6:tn:b/4x0", "m3n4k5:b6:b/4x0:a/5x16",
                                        "m3n4k5:b6:b/4x0:c/30x5" };
    for (size_t i = 0; i < SUPPORT_LENGTH(not ); i++) {
        const struct rmcp_gemm_form form = form_of(not [i]);
        assert_int_equal(rmcp_matmul_folded(&form.product).batch, 6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ways_cover_the_reduction),   cmocka_unit_test(test_long_ones_are_cut),
        cmocka_unit_test(test_too_large_ones_are_refused), cmocka_unit_test(test_ways_are_known),
        cmocka_unit_test(test_batches_are_folded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
