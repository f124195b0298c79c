/* test_tensor.c: tensor operations: every wrong struct has its own message with the value;
 * canonical forms; structs of older and newer callers; plans, executions and their wrong uses. */
#include "core/plan.h"
#include "ops/tensor/tensor.h"
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

/* ---- plans and executions ---- */

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
        cmocka_unit_test(test_each_wrong_struct_has_its_own_message),
        cmocka_unit_test(test_a_newer_caller_may_only_use_what_is_known),
        cmocka_unit_test(test_neighbouring_dimensions_are_merged),
        cmocka_unit_test(test_spans_outputs_and_terms),
        cmocka_unit_test(test_the_bound_of_a_sum_stops_growing),
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
