/* test_division.c: how batch normalisation is divided among workgroups and launches: every element
 * by exactly one, none longer than a display can wait, numbers within what kernels count with. */
#include "norms.h"

#include "engine/ops/batchnorm/gpu.h"

#include <string.h>

extern const struct rmcp_algo rmcp_algo_batchnorm_staged, rmcp_algo_batchnorm_fused;

static const char *const shapes[] = {
    "n1c1w1",
    "n2c3h5w7",
    "n32c64h56w56",
    "n32c2048h7w7",
    "n1c1h4096w4096",
    "n64c64h224w224",
    "n100000c3w1:nhwc",
    "n32c64h56w56:nhwc",
    "n2c2048h7w7:nhwc",
    "n1c5000000h1w1",
    "n4c7h300w300:activation",
    "n1000c3h1000w1000:nhwc",
    "n700c2h2000w2000",
    "n3c100000h3w3:f16",
};

/* The struct of a kernel of ours, by its size. */
static const void *value_of(const struct rmcp_kernel_launch *l, size_t bytes)
{
    for (uint32_t i = 0; i < l->n_args; i++)
        if (l->args[i].kind == RMCP_ARG_VALUE && l->args[i].bytes == bytes) return l->args[i].value;
    return NULL;
}

/* What a kernel of ours divides the problem for, by its name. */
static enum rmcp_norm_split purpose_of(const char *kernel)
{
    if (strstr(kernel, "_stats_") || strstr(kernel, "_sums_")) return RMCP_NORM_SUMS;
    if (strstr(kernel, "_apply_") || strstr(kernel, "_dx_")) return RMCP_NORM_VALUES;
    return RMCP_NORM_WHOLE;
}

/* Parts together have all elements of a parameter, and none is empty. */
static struct rmcp_norm_division divided(const struct rmcp_request *request,
                                         enum rmcp_norm_split purpose)
{
    const struct rmcp_norm *norm = rmcp_norm_of(request);
    const struct rmcp_norm_division d = rmcp_norm_divide(request, purpose);
    const int64_t length = d.columns ? norm->outer : norm->count;
    assert_true(d.splits >= 1 && (d.splits - 1) * d.share < length && d.splits * d.share >= length);
    assert_true(purpose != RMCP_NORM_WHOLE || d.splits == 1);
    return d;
}

/* The launches from record `at` on that run the same kernel cover groups x splits once, in order.
 * Returns the record behind them. */
static size_t check_cover(const struct rmcp_launch_list *list, size_t at,
                          const struct rmcp_norm_division *d)
{
    const char *kernel = list->records[at].kernel.kernel;
    int64_t group = 0, split = 0, covered = 0;
    for (; at < list->n_records && !strcmp(list->records[at].kernel.kernel, kernel); at++) {
        const struct rmcp_kernel_launch *l = &list->records[at].kernel;
        const struct rmcp_norm_rows *rows = value_of(l, sizeof *rows);
        const struct rmcp_norm_columns *columns = value_of(l, sizeof *columns);
        assert_true(rows || columns);
        assert_int_equal(rows ? rows->first_group : columns->first_group, group);
        assert_int_equal(rows ? rows->first_split : columns->first_split, split);
        assert_true(l->grid[0] >= 1 && l->grid[1] >= 1 && l->grid[1] <= 65535 && l->grid[2] == 1);
        assert_true(l->grid[0] == d->groups || l->grid[1] == d->splits);
        covered += (int64_t)l->grid[0] * l->grid[1];
        if (l->grid[1] == d->splits && d->groups >= d->splits)
            group += l->grid[0];
        else
            split += l->grid[1];
    }
    assert_int_equal(covered, d->groups * d->splits);
    return at;
}

static void check(const struct rmcp_norm *norm, const struct rmcp_caps *caps,
                  const struct rmcp_algo *algo)
{
    const struct rmcp_request request = { .operation = &rmcp_operation_batchnorm,
                                          .problem = norm,
                                          .caps = caps };
    struct rmcp_way way;
    assert_int_equal(rmcp_algo_consider(algo, &request, &way), RMCP_OK);
    if (way.refusal) return;
    assert_true(way.seconds > 0);
    const uint64_t bytes = way.workspace_bytes;
    if (algo == &rmcp_algo_batchnorm_staged) {
        assert_int_equal(bytes > 0, norm->pass != RMCP_BATCHNORM_INFER);
        /* small beside the data, unless a parameter has but a few elements */
        assert_true(bytes <= (uint64_t)norm->elements / 8 + (uint64_t)norm->params * 64 + 100000);
    } else {
        assert_int_equal(bytes, 0);
    }
    struct rmcp_launch_list list = { 0 };
    if (algo->emit(&request, &way, &list)) fail_msg("%s", rmcp_last_error());
    int64_t most = 0;
    for (size_t at = 0; at < list.n_records;) {
        const char *kernel = list.records[at].kernel.kernel;
        if (strstr(kernel, "finish")) {
            at++;
            continue;
        }
        const struct rmcp_norm_division d = divided(&request, purpose_of(kernel));
        if (d.groups * d.splits > most) most = d.groups * d.splits;
        at = check_cover(&list, at, &d);
    }
    /* a few launches where the device is fast, more where one would take long */
    const double seconds = rmcp_norm_bytes(norm) / caps->bytes_per_second;
    if (seconds < 0.05) assert_true(list.n_records <= 5);
    if (seconds > 1 && most > 64 * (int64_t)caps->compute_units) assert_true(list.n_records > 3);
    rmcp_launch_list_deinit(&list);
}

static void test_divisions(void **state)
{
    (void)state;
    const struct rmcp_caps devices[] = {
        { .compute_units = 132,
          .bytes_per_second = 4.8e12,
          .flops_per_second = 60e12,
          .launch_seconds = 3e-6 },
        { .compute_units = 36,
          .bytes_per_second = 288e9,
          .flops_per_second = 7e12,
          .launch_seconds = 5e-6 },
        { .compute_units = 2,
          .bytes_per_second = 5e9,
          .flops_per_second = 1e11,
          .launch_seconds = 1e-5 },
        { .compute_units = 1,
          .bytes_per_second = 1e6,
          .flops_per_second = 1e9,
          .launch_seconds = 1e-5 },
    };
    for (size_t i = 0; i < SUPPORT_LENGTH(shapes); i++)
        for (size_t j = 0; j < SUPPORT_LENGTH(devices); j++)
            for (int pass = 0; pass < RMCP_BATCHNORM_PASSES; pass++)
                for (uint32_t saved = 0; saved < 2; saved++) {
                    rmcp_batchnorm problem = { .struct_size = sizeof problem };
                    struct rmcp_norm norm;
                    assert_int_equal(rmcp_batchnorm_parse(shapes[i], &problem, NULL), RMCP_OK);
                    problem.saved = saved;
                    assert_int_equal(rmcp_norm_init(&norm, &problem, pass), RMCP_OK);
                    check(&norm, &devices[j], &rmcp_algo_batchnorm_staged);
                    check(&norm, &devices[j], &rmcp_algo_batchnorm_fused);
                }
}

/* The algorithm of one launch says when it is none: a channel too long, and nothing to fuse. */
static void test_refusals(void **state)
{
    (void)state;
    const struct rmcp_caps caps = { .compute_units = 36, .bytes_per_second = 288e9 };
    const struct {
        const char *text;
        const struct rmcp_algo *algo;
        const char *reason;
    } refused[] = {
        { "n7c2h2000w2000:train", &rmcp_algo_batchnorm_fused, "too many elements" },
        { "n700c2h2000w2000:train", &rmcp_algo_batchnorm_fused, "2^31 elements of a channel" },
        { "n2c3h4w5:infer", &rmcp_algo_batchnorm_fused, "one launch anyway" },
        { "n1c1h65536w65536:train", &rmcp_algo_batchnorm_staged, "2^31 elements or more" },
        { "n1c3000000000h1w2:train", &rmcp_algo_batchnorm_staged, "2^31 channels" },
    };
    for (size_t i = 0; i < SUPPORT_LENGTH(refused); i++) {
        const struct rmcp_norm norm = norm_of(refused[i].text);
        const struct rmcp_request request = { .operation = &rmcp_operation_batchnorm,
                                              .problem = &norm,
                                              .caps = &caps };
        struct rmcp_way way;
        assert_int_equal(rmcp_algo_consider(refused[i].algo, &request, &way), RMCP_OK);
        const char *reason = way.refusal;
        assert_non_null(reason);
        if (!strstr(reason, refused[i].reason)) fail_msg("%s: %s", refused[i].text, reason);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_divisions),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
