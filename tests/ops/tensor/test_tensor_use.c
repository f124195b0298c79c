/* test_tensor_use.c: plans and executions of tensor operations: in place, special values, long
 * sums, on the host and on whatever OpenCL driver is installed; wrong uses. */
#include "engine/core/plan.h"
#include "engine/ops/tensor/tensor.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rmcp_tensor_operands operands_of(float *a, float *b, float *c)
{
    return (rmcp_tensor_operands){
        .struct_size = sizeof(rmcp_tensor_operands), .a = { a, 0 }, .b = { b, 0 }, .c = { c, 0 }
    };
}

/* The ways to compute element by element: on the host, and on an OpenCL driver when there is one.
 */
static struct way {
    rmcp_device *device;
    const char *algorithm;
} ways[3];
static size_t n_ways;

/* Arrays of so many bytes; a or b may be c. They go through device memory. */
static void run_with(struct way way, const rmcp_tensor *tensor, rmcp_tensor_operands operands,
                     size_t bytes)
{
    const rmcp_plan_options options = { .struct_size = sizeof options, .algorithm = way.algorithm };
    rmcp_plan *plan = NULL;
    if (rmcp_tensor_plan(way.device, tensor, &options, &plan)) fail_msg("%s", rmcp_last_error());
    assert_string_equal(rmcp_plan_algorithm(plan), way.algorithm);
    void *const host[] = { operands.a.base, operands.b.base, operands.c.base };
    rmcp_memory buffer[] = { { 0 }, { 0 }, { 0 } };
    for (int i = 2; i >= 0; i--) {
        if (!host[i]) continue;
        if (i < 2 && host[i] == host[2]) continue;
        assert_int_equal(rmcp_buffer_create(way.device, bytes, &buffer[i]), RMCP_OK);
        assert_int_equal(rmcp_copy_to_device(way.device, NULL, buffer[i], host[i], bytes), RMCP_OK);
    }
    operands.a = host[0] == host[2] ? buffer[2] : buffer[0];
    operands.b = host[1] == host[2] ? buffer[2] : buffer[1];
    operands.c = buffer[2];
    operands.workspace_bytes = rmcp_plan_workspace(plan);
    if (operands.workspace_bytes)
        assert_int_equal(
            rmcp_buffer_create(way.device, operands.workspace_bytes, &operands.workspace), RMCP_OK);
    if (rmcp_tensor_execute(plan, NULL, &operands)) fail_msg("%s", rmcp_last_error());
    assert_int_equal(rmcp_copy_to_host(way.device, NULL, host[2], buffer[2], bytes), RMCP_OK);
    for (int i = 0; i < 3; i++) rmcp_buffer_destroy(way.device, buffer[i]);
    rmcp_buffer_destroy(way.device, operands.workspace);
    rmcp_plan_destroy(plan);
}

static rmcp_tensor parsed(const char *text)
{
    rmcp_tensor tensor = { .struct_size = sizeof tensor };
    if (rmcp_tensor_parse(text, &tensor)) fail_msg("%s: %s", text, rmcp_last_error());
    return tensor;
}

static void test_a_or_b_may_be_c(void **state)
{
    (void)state;
    enum { N = 1500 }; /* several chunks of a work-item, several workgroups */
    const rmcp_tensor add = parsed("300x5:add:alpha2:alpha_b3");
    const rmcp_tensor scaled = parsed("300x5:copy:alpha2:beta1");
    for (size_t k = 0; k < n_ways; k++) {
        float c[N], other[N];
        for (int i = 0; i < N; i++) c[i] = (float)i, other[i] = (float)(i % 9);
        run_with(ways[k], &add, operands_of(c, other, c), sizeof c);
        for (int i = 0; i < N; i++) assert_true(c[i] == (float)(2 * i + 3 * (i % 9)));
        for (int i = 0; i < N; i++) c[i] = (float)i;
        run_with(ways[k], &add, operands_of(other, c, c), sizeof c);
        for (int i = 0; i < N; i++) assert_true(c[i] == (float)(2 * (i % 9) + 3 * i));
        for (int i = 0; i < N; i++) c[i] = (float)i;
        run_with(ways[k], &scaled, operands_of(c, NULL, c), sizeof c);
        for (int i = 0; i < N; i++) assert_true(c[i] == (float)(3 * i));
    }
}

/* NaN with any payload, zeros of both signs, denormals: a copy within a type keeps every bit. */
static void test_a_copy_keeps_every_bit(void **state)
{
    (void)state;
    static const uint32_t words[] = { 0x7f800001, 0xffc12345, 0x80000000, 0x00000001,
                                      0x7f800000, 0x3f800000, 0x80000003 };
    static const uint16_t halves[] = { 0x7c01, 0xfe23, 0x8000, 0x0001, 0x7c00, 0x3c00, 0xff81 };
    static const char *const texts[] = { "7:copy:%s", "7:copy:%s:a/3", "7:copy:%s:c/3" };
    for (size_t k = 0; k < n_ways; k++)
        for (size_t t = 0; t < SUPPORT_LENGTH(texts); t++)
            for (unsigned type = RMCP_F32; type <= RMCP_BF16; type++) {
                char text[64];
                snprintf(text, sizeof text, texts[t], rmcp_type_names[type]);
                const rmcp_tensor copy = parsed(text);
                uint32_t from[21] = { 0 }, to[21] = { 0 };
                const int from_step = t == 1 ? 3 : 1, to_step = t == 2 ? 3 : 1;
                for (int i = 0; i < 7; i++) {
                    if (type == RMCP_F32)
                        from[i * from_step] = words[i];
                    else
                        ((uint16_t *)from)[i * from_step] = halves[i];
                }
                run_with(ways[k], &copy, operands_of((float *)from, NULL, (float *)to), sizeof to);
                for (int i = 0; i < 7; i++) {
                    if (type == RMCP_F32)
                        assert_int_equal(to[i * to_step], words[i]);
                    else
                        assert_int_equal(((uint16_t *)to)[i * to_step], halves[i]);
                }
            }
}

/* The same through tiles. */
static void test_turning_keeps_every_bit(void **state)
{
    (void)state;
    if (n_ways < 3) skip();
    enum { X = 70, Y = 90 };
    static uint32_t from[X * Y], to[X * Y];
    const struct way tiles = { ways[2].device, "tiles" };
    for (int half = 0; half < 2; half++) {
        char text[64];
        snprintf(text, sizeof text, "%dx%d:copy:%s:a/1x%d", X, Y, half ? "f16" : "f32", X);
        const rmcp_tensor turn = parsed(text);
        for (uint32_t i = 0; i < X * Y; i++) from[i] = i * 0x9e3779b9u ^ 0x7f800000u;
        run_with(tiles, &turn, operands_of((float *)from, NULL, (float *)to), sizeof to);
        for (int x = 0; x < X; x++)
            for (int y = 0; y < Y; y++) {
                if (half)
                    assert_int_equal(((uint16_t *)to)[x * Y + y], ((uint16_t *)from)[x + y * X]);
                else
                    assert_int_equal(to[x * Y + y], from[x + y * X]);
            }
    }
}

static void test_nan_and_infinity_are_what_ieee_says(void **state)
{
    (void)state;
    static const char *const kinds[] = { "add", "multiply", "minimum", "maximum" };
    const float values[] = { NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 2.0f, -3.0f };
    enum { N = 7 };
    float a[N * N], b[N * N], c[N * N];
    for (int i = 0; i < N * N; i++) a[i] = values[i / N], b[i] = values[i % N];
    for (size_t k = 0; k < n_ways; k++)
        for (size_t kind = 0; kind < SUPPORT_LENGTH(kinds); kind++) {
            char text[64];
            snprintf(text, sizeof text, "49:%s", kinds[kind]);
            const rmcp_tensor tensor = parsed(text);
            for (int i = 0; i < N * N; i++) c[i] = NAN; /* beta 0: not read */
            run_with(ways[k], &tensor, operands_of(a, b, c), sizeof c);
            for (int i = 0; i < N * N; i++) {
                const float x = a[i], y = b[i];
                const float expected = kind == 0   ? x + y
                                       : kind == 1 ? x * y
                                       : kind == 2 ? (x < y ? x : y)
                                                   : (x > y ? x : y);
                if (isnan(expected))
                    assert_true(isnan(c[i]));
                else
                    assert_true(c[i] == expected && !signbit(c[i]) == !signbit(expected));
            }
        }
}

static void test_zero_times_nan_is_nan(void **state)
{
    (void)state;
    for (size_t k = 0; k < n_ways; k++) {
        float a[2] = { NAN, 5 }, c[2] = { 1, 1 };
        const rmcp_tensor copy = parsed("2:copy:alpha0"), scale = parsed("2:scale:alpha0");
        run_with(ways[k], &copy, operands_of(a, NULL, c), sizeof c);
        assert_true(isnan(c[0]) && c[1] == 0);
        run_with(ways[k], &scale, operands_of(NULL, NULL, c), sizeof c);
        assert_true(isnan(c[0]) && c[1] == 0);
        const rmcp_tensor set = parsed("2:set:alpha-inf");
        run_with(ways[k], &set, operands_of(NULL, NULL, c), sizeof c);
        assert_true(isinf(c[0]) && c[0] < 0 && isinf(c[1]));
    }
}

/* Terms that a plain f32 sum would lose: 2^24 + 1 + 1 + …; the promised bound does not. */
static void test_long_sums_stay_accurate(void **state)
{
    (void)state;
    enum { N = 1 << 22 };
    float *a = malloc(N * sizeof *a), *c = malloc(N * sizeof *c);
    assert_true(a && c);
    a[0] = 0x1p24f;
    for (int i = 1; i < N; i++) a[i] = 1;
    const rmcp_tensor sum = parsed("4194304:sum:c1");
    const struct way sums[] = { { ways[0].device, "loops_sum" }, { ways[2].device, "sum" } };
    const double expected = 0x1p24 + (N - 1);
    for (size_t k = 0; k < SUPPORT_LENGTH(sums) && sums[k].device; k++) {
        run_with(sums[k], &sum, operands_of(a, NULL, c), N * sizeof *a);
        assert_true(fabs((double)c[0] - expected) <=
                    rmcp_tensor_roundings(N) * 0x1p-24 * expected + 1);
    }
    free(a);
    free(c);
}

static void test_wrong_executions(void **state)
{
    float a[15] = { 0 }, b[15] = { 0 }, c[15] = { 0 };
    const rmcp_tensor add = parsed("3x5:add"), set = parsed("3x5:set");
    rmcp_plan *plan = NULL, *other = NULL;
    assert_int_equal(rmcp_tensor_plan(*state, &add, NULL, &plan), RMCP_OK);
    rmcp_tensor_operands o = operands_of(NULL, b, c);
    support_assert_failed(rmcp_tensor_execute(plan, NULL, &o), RMCP_E_ARG, "tensors.a is NULL");
    o = operands_of(a, NULL, c);
    support_assert_failed(rmcp_tensor_execute(plan, NULL, &o), RMCP_E_ARG, "tensors.b is NULL");
    o = operands_of(a, b, NULL);
    support_assert_failed(rmcp_tensor_execute(plan, NULL, &o), RMCP_E_ARG, "tensors.c is NULL");
    o = operands_of(a, b, c);
    o.c.offset = 2;
    support_assert_failed(rmcp_tensor_execute(plan, NULL, &o), RMCP_E_ARG, "no multiple of 4");
    o = operands_of(a, b, c);
    o.reserved = 3;
    support_assert_failed(rmcp_tensor_execute(plan, NULL, &o), RMCP_E_ARG, "reserved is 3;");
    o.reserved = 0, o.struct_size = 8;
    support_assert_failed(rmcp_tensor_execute(plan, NULL, &o), RMCP_E_ARG, "struct_size is 8;");
    support_assert_failed(rmcp_tensor_execute(plan, NULL, NULL), RMCP_E_ARG, "is NULL");
    o = operands_of(a, b, c);
    support_assert_failed(rmcp_tensor_execute(NULL, NULL, &o), RMCP_E_ARG, "plan is NULL");
    support_assert_failed(rmcp_tensor_execute_timed(plan, NULL, &o, NULL), RMCP_E_ARG,
                          "seconds is NULL");
    double seconds = -1;
    assert_int_equal(rmcp_tensor_execute_timed(plan, NULL, &o, &seconds), RMCP_OK);
    assert_true(seconds >= 0);

    /* what the kind does not have may be anything */
    assert_int_equal(rmcp_tensor_plan(*state, &set, NULL, &other), RMCP_OK);
    o = operands_of(NULL, NULL, c);
    assert_int_equal(rmcp_tensor_execute(other, NULL, &o), RMCP_OK);
    /* a plan of another operation */
    const rmcp_conv conv = support_case("c1h3w3k1", NULL);
    const rmcp_conv_tensors tensors = { .struct_size = sizeof tensors };
    support_assert_failed(rmcp_conv_execute(other, NULL, &tensors), RMCP_E_ARG,
                          "the plan is one of tensor, not of conv");
    rmcp_plan_destroy(other);
    assert_int_equal(rmcp_conv_plan(*state, &conv, RMCP_CONV_FORWARD, NULL, &other), RMCP_OK);
    support_assert_failed(rmcp_tensor_execute(other, NULL, &o), RMCP_E_ARG,
                          "the plan is one of conv, not of tensor");
    rmcp_plan_destroy(other);
    rmcp_plan_destroy(plan);
}

static void test_wrong_plans(void **state)
{
    const rmcp_tensor add = parsed("3x5:add");
    rmcp_plan *plan = (rmcp_plan *)&plan;
    rmcp_plan_options options = { .struct_size = sizeof options, .algorithm = "rows" };
    support_assert_failed(rmcp_tensor_plan(*state, &add, &options, &plan), RMCP_E_UNSUPPORTED,
                          "is a GPU kernel");
    assert_null(plan);
    options.algorithm = "onednn"; /* is convolution's */
    support_assert_failed(rmcp_tensor_plan(*state, &add, &options, &plan), RMCP_E_ARG,
                          "no algorithm 'onednn'");
    options.algorithm = "loops_sum";
    support_assert_failed(rmcp_tensor_plan(*state, &add, &options, &plan), RMCP_E_UNSUPPORTED,
                          "only sums");
    options.algorithm = NULL;
    options.fixed_weights.base = &plan;
    support_assert_failed(rmcp_tensor_plan(*state, &add, &options, &plan), RMCP_E_ARG,
                          "fixed_weights is set");
    support_assert_failed(rmcp_tensor_plan(*state, &add, NULL, NULL), RMCP_E_ARG, "out is NULL");
    support_assert_failed(rmcp_tensor_plan(NULL, &add, NULL, &plan), RMCP_E_ARG, "device is NULL");
    size_t n = 0;
    assert_int_equal(rmcp_tensor_candidates(*state, &add, NULL, NULL, &n), RMCP_OK);
    assert_int_equal(n, 6);
    rmcp_candidate list[6] = { { .struct_size = sizeof *list } };
    assert_int_equal(rmcp_tensor_candidates(*state, &add, NULL, list, &n), RMCP_OK);
    int chosen = 0;
    for (size_t i = 0; i < n; i++) {
        chosen += (int)list[i].chosen;
        if (list[i].chosen) assert_string_equal(list[i].algorithm, "loops");
    }
    assert_int_equal(chosen, 1);
    support_assert_failed(rmcp_tensor_candidates(*state, &add, NULL, list, NULL), RMCP_E_ARG,
                          "count is NULL");
}

static int open_devices(void **state)
{
    rmcp_device *device = NULL, *opencl = NULL;
    if (rmcp_device_open("cpu", NULL, &device)) return 1;
    *state = device;
    ways[n_ways++] = (struct way){ device, "loops" };
    ways[n_ways++] = (struct way){ device, "reference" };
    if (!rmcp_device_open("opencl", NULL, &opencl)) ways[n_ways++] = (struct way){ opencl, "rows" };
    return 0;
}

static int close_devices(void **state)
{
    rmcp_device_close(ways[2].device);
    rmcp_device_close(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_or_b_may_be_c),
        cmocka_unit_test(test_a_copy_keeps_every_bit),
        cmocka_unit_test(test_turning_keeps_every_bit),
        cmocka_unit_test(test_nan_and_infinity_are_what_ieee_says),
        cmocka_unit_test(test_zero_times_nan_is_nan),
        cmocka_unit_test(test_long_sums_stay_accurate),
        cmocka_unit_test(test_wrong_executions),
        cmocka_unit_test(test_wrong_plans),
    };
    return cmocka_run_group_tests(tests, open_devices, close_devices);
}
