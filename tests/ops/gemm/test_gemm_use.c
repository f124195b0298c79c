/* test_gemm_use.c: executions of matrix products, on the host and on whatever OpenCL driver is
 * installed: what is not read may hold anything, special values, the interface for other
 * operations, wrong uses. */
#include "engine/core/plan.h"
#include "engine/ops/gemm/gemm.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4096 };

static rmcp_device *devices[2];
static size_t n_devices;

/* Arrays in device memory for one execution: in what the execution is given, c comes back. */
static void run(rmcp_device *device, const char *algorithm, const char *text, const float *a,
                const float *b, const float *bias, float *c)
{
    rmcp_gemm gemm = { .struct_size = sizeof gemm };
    rmcp_plan *plan = NULL;
    const rmcp_plan_options options = { .struct_size = sizeof options, .algorithm = algorithm };
    if (rmcp_gemm_parse(text, &gemm)) fail_msg("%s", rmcp_last_error());
    if (rmcp_gemm_plan(device, &gemm, &options, &plan)) fail_msg("%s", rmcp_last_error());
    rmcp_gemm_matrices m = { .struct_size = sizeof m,
                             .workspace_bytes = rmcp_plan_workspace(plan) };
    const struct {
        rmcp_memory *memory;
        const float *host;
    } all[] = { { &m.a, a }, { &m.b, b }, { &m.c, c }, { &m.bias, bias } };
    for (size_t i = 0; i < SUPPORT_LENGTH(all); i++) {
        if (!all[i].host) continue;
        assert_int_equal(rmcp_buffer_create(device, ROOM, all[i].memory), RMCP_OK);
        assert_int_equal(rmcp_copy_to_device(device, NULL, *all[i].memory, all[i].host, ROOM),
                         RMCP_OK);
    }
    if (m.workspace_bytes)
        assert_int_equal(rmcp_buffer_create(device, m.workspace_bytes, &m.workspace), RMCP_OK);
    if (rmcp_gemm_execute(plan, NULL, &m)) fail_msg("%s", rmcp_last_error());
    assert_int_equal(rmcp_copy_to_host(device, NULL, c, m.c, ROOM), RMCP_OK);
    for (size_t i = 0; i < SUPPORT_LENGTH(all); i++)
        if (all[i].host) rmcp_buffer_destroy(device, *all[i].memory);
    rmcp_buffer_destroy(device, m.workspace);
    rmcp_plan_destroy(plan);
}

static void fill(float *array, float value)
{
    for (size_t i = 0; i < ROOM / sizeof *array; i++) array[i] = value;
}

static float a[ROOM / sizeof(float)], b[ROOM / sizeof(float)], c[ROOM / sizeof(float)],
    bias[ROOM / sizeof(float)];

/* Row-major 2 x 3 times 3 x 2, every way to store them. */
static void test_by_hand(void **state)
{
    (void)state;
    static const float plain_a[] = { 1, 2, 3, 4, 5, 6 }, turned_a[] = { 1, 4, 2, 5, 3, 6 };
    static const float plain_b[] = { 7, 8, 9, 10, 11, 12 }, turned_b[] = { 7, 9, 11, 8, 10, 12 };
    static const float product[] = { 58, 64, 139, 154 };
    static const char *const ways[] = { "nn", "nt", "tn", "tt" };
    for (size_t d = 0; d < n_devices; d++)
        for (int i = 0; i < 4; i++) {
            char text[64];
            fill(c, NAN);
            memcpy(a, i / 2 ? turned_a : plain_a, sizeof plain_a);
            memcpy(b, i % 2 ? turned_b : plain_b, sizeof plain_b);
            snprintf(text, sizeof text, "m2n2k3:%s", ways[i]);
            run(devices[d], NULL, text, a, b, NULL, c);
            assert_memory_equal(c, product, sizeof product);
            for (int k = 0; k < 4; k++) c[k] = 2;
            bias[0] = -60, bias[1] = 1;
            snprintf(text, sizeof text, "m2n2k3:%s:alpha0.5:beta-1:bias_row:relu", ways[i]);
            run(devices[d], NULL, text, a, b, bias, c);
            const float rows[] = { 0, 0, 68.5f, 76 };
            assert_memory_equal(c, rows, sizeof rows);
            snprintf(text, sizeof text, "m2n2k3:%s:bias_col:clamp0x100", ways[i]);
            run(devices[d], NULL, text, a, b, bias, c);
            const float columns[] = { 0, 65, 79, 100 };
            assert_memory_equal(c, columns, sizeof columns);
        }
}

static void test_nothing_to_do(void **state)
{
    (void)state;
    for (size_t d = 0; d < n_devices; d++) {
        fill(c, 3);
        run(devices[d], NULL, "m0n5k4", NULL, NULL, NULL, c);
        run(devices[d], NULL, "m5n0k4:b3", NULL, NULL, NULL, c);
        run(devices[d], NULL, "m5n5k4:b0:beta2", NULL, NULL, NULL, c);
        assert_true(c[0] == 3 && c[24] == 3);
        run(devices[d], NULL, "m2n3k0:beta2", NULL, NULL, NULL, c);
        assert_true(c[0] == 6 && c[5] == 6 && c[6] == 3);
        run(devices[d], NULL, "m2n3k0", NULL, NULL, NULL, c);
        assert_true(c[0] == 0 && c[5] == 0 && c[6] == 3);
        fill(bias, -4);
        run(devices[d], NULL, "m2n3k9:alpha0:bias_col:leaky0.5:c/4", NULL, NULL, bias, c);
        assert_true(c[0] == -2 && c[6] == -2 && c[3] == 0 && c[7] == 3);
    }
}

static const char *const all_gpu[] = { "tiled", "split_k", "thin", NULL };
static const char *const all_cpu[] = { "reference", "onednn", NULL };

/* NaN and infinities reach what they meet and nothing else. */
static void test_special_values(void **state)
{
    (void)state;
    for (size_t d = 0; d < n_devices; d++) {
        const char *const *algorithms = d ? all_gpu : all_cpu;
        for (; *algorithms; algorithms++) {
            fill(a, 1), fill(b, 1), fill(c, NAN);
            a[0] = NAN;                  /* row 0 */
            a[1 * 130 + 129] = INFINITY; /* row 1, the last term */
            b[5] = 0;                    /* term 0 of column 5 */
            b[129 * 7 + 6] = 0;          /* the last term of column 6 */
            run(devices[d], *algorithms, "m3n7k130:relu", a, b, NULL, c);
            for (int i = 0; i < 7; i++) {
                assert_true(isnan(c[i]));
                assert_true(i == 6 ? isnan(c[7 + i]) : c[7 + i] == INFINITY);
                assert_true(c[14 + i] == (i == 5 || i == 6 ? 129 : 130));
            }
        }
    }
}

/* A product inside another plan: with offsets into one slot, on the host. */
static void test_for_other_operations(void **state)
{
    (void)state;
    const struct rmcp_matmul p = {
        .type = RMCP_F32,
        .batch = 2,
        .m = 2,
        .n = 2,
        .k = 3,
        .a = { .slot = 3, .offset = 8 * sizeof(float), .pitch = 3, .stride = 6 },
        .b = { .slot = 3, .pitch = 3, .transposed = true },
        .c = { .slot = 1, .offset = 2 * sizeof(float), .pitch = 5, .stride = 2 },
        .alpha = 1,
        .beta = 1,
    };
    fill(c, 100);
    for (int i = 0; i < 32; i++) a[i] = (float)i;
    rmcp_memory memory[RMCP_MOST_SLOTS] = { [1] = { c, 0 }, [3] = { a, 0 } };
    const struct rmcp_caps *caps = &devices[0]->caps;
    struct rmcp_matmul_known known = { 0 };
    const struct rmcp_matmul_cost cost = rmcp_matmul_consider(&p, caps, &known);
    assert_null(cost.refusal);
    assert_true(cost.seconds > 0);
    assert_int_equal(cost.workspace_bytes, 0);
    struct rmcp_launch_list list = { 0 };
    assert_int_equal(rmcp_matmul_emit(&p, caps, &known, 0, &list), RMCP_OK);
    assert_int_equal(list.n_records, 1);
    const struct rmcp_host_call *call = &list.records[0].host;
    assert_int_equal(call->function(call->state, memory), RMCP_OK);
    rmcp_launch_list_deinit(&list);
    for (int batch = 0; batch < 2; batch++)
        for (int row = 0; row < 2; row++)
            for (int column = 0; column < 2; column++) {
                float sum = 100;
                for (int i = 0; i < 3; i++)
                    sum += (float)(8 + batch * 6 + row * 3 + i) * (float)(column * 3 + i);
                assert_true(c[2 + row * 5 + batch * 2 + column] == sum);
            }
    assert_true(c[0] == 100 && c[1] == 100 && c[6] == 100 && c[11] == 100);
}

static void test_wrong_uses(void **state)
{
    (void)state;
    rmcp_gemm gemm = { .struct_size = sizeof gemm };
    rmcp_tensor tensor = { .struct_size = sizeof tensor };
    rmcp_plan *plan = NULL, *other = NULL;
    assert_int_equal(rmcp_gemm_parse("m2n2k2:bias_row", &gemm), RMCP_OK);
    support_assert_failed(rmcp_gemm_plan(devices[0], &gemm, NULL, NULL), RMCP_E_ARG, "out is NULL");
    support_assert_failed(rmcp_gemm_plan(NULL, &gemm, NULL, &plan), RMCP_E_ARG, "device is NULL");
    support_assert_failed(rmcp_gemm_plan(devices[0], NULL, NULL, &plan), RMCP_E_ARG, "NULL");
    rmcp_plan_options options = { .struct_size = sizeof options, .fixed_weights = { a, 0 } };
    support_assert_failed(rmcp_gemm_plan(devices[0], &gemm, &options, &plan), RMCP_E_ARG,
                          "fixed_weights");
    assert_null(plan);
    assert_int_equal(rmcp_gemm_plan(devices[0], &gemm, NULL, &plan), RMCP_OK);
    rmcp_gemm_matrices m = { .struct_size = sizeof m, .a = { a, 0 }, .b = { b, 0 }, .c = { c, 0 } };
    support_assert_failed(rmcp_gemm_execute(plan, NULL, &m), RMCP_E_ARG, "bias");
    m.bias.base = bias;
    m.reserved = 1;
    support_assert_failed(rmcp_gemm_execute(plan, NULL, &m), RMCP_E_ARG, "reserved");
    m.reserved = 0;
    support_assert_failed(rmcp_gemm_execute(NULL, NULL, &m), RMCP_E_ARG, "plan is NULL");
    support_assert_failed(rmcp_gemm_execute(plan, NULL, NULL), RMCP_E_ARG, "NULL");
    support_assert_failed(rmcp_gemm_execute_timed(plan, NULL, &m, NULL), RMCP_E_ARG,
                          "seconds is NULL");
    double seconds = -1;
    assert_int_equal(rmcp_gemm_execute_timed(plan, NULL, &m, &seconds), RMCP_OK);
    assert_true(seconds >= 0);
    assert_int_equal(rmcp_tensor_parse("3:set", &tensor), RMCP_OK);
    assert_int_equal(rmcp_tensor_plan(devices[0], &tensor, NULL, &other), RMCP_OK);
    support_assert_failed(rmcp_gemm_execute(other, NULL, &m), RMCP_E_ARG, "not of gemm");
    rmcp_plan_destroy(other);
    rmcp_plan_destroy(plan);
}

static int open_devices(void **state)
{
    (void)state;
    if (rmcp_device_open("cpu", NULL, &devices[n_devices++])) return 1;
    if (rmcp_device_open("opencl", NULL, &devices[n_devices]) == RMCP_OK) n_devices++;
    return 0;
}

static int close_devices(void **state)
{
    (void)state;
    while (n_devices) rmcp_device_close(devices[--n_devices]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),        cmocka_unit_test(test_nothing_to_do),
        cmocka_unit_test(test_special_values), cmocka_unit_test(test_for_other_operations),
        cmocka_unit_test(test_wrong_uses),
    };
    return cmocka_run_group_tests(tests, open_devices, close_devices);
}
