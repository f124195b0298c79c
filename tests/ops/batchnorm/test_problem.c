/* test_problem.c: what batch normalisation accepts and refuses: problems, case strings, options and
 * memory, each with its message. */
#include "norms.h"

#include <locale.h>
#include <math.h>
#include <string.h>

static const rmcp_batchnorm good = {
    .struct_size = sizeof good, .dims = 2, .n = 2, .c = 3, .input = { 4, 5 }
};

static void test_defaults(void **state)
{
    (void)state;
    rmcp_batchnorm problem = good;
    problem.dims = 0;
    struct rmcp_norm norm;
    assert_int_equal(rmcp_norm_init(&norm, &problem, RMCP_BATCHNORM_TRAIN), RMCP_OK);
    assert_int_equal(norm.problem.dims, 2);
    assert_true(norm.problem.epsilon == 1e-5 && norm.problem.momentum == 0.1);
    assert_true(norm.outer == 2 && norm.params == 3 && norm.inner == 20);
    assert_true(norm.count == 40 && norm.elements == 120);
    problem.layout = RMCP_NHWC;
    assert_int_equal(rmcp_norm_init(&norm, &problem, RMCP_BATCHNORM_TRAIN), RMCP_OK);
    assert_true(norm.outer == 40 && norm.params == 3 && norm.inner == 1);
    problem.mode = RMCP_PER_ACTIVATION;
    assert_int_equal(rmcp_norm_init(&norm, &problem, RMCP_BATCHNORM_TRAIN), RMCP_OK);
    assert_true(norm.outer == 2 && norm.params == 60 && norm.inner == 1 && norm.count == 2);
}

/* One field changed, and what the message must have in it. */
static void test_wrong_problems(void **state)
{
    (void)state;
    struct wrong {
        rmcp_batchnorm problem;
        int pass;
        const char *message;
    } wrong[] = {
        { good, 3, "pass is 3; known are train (0), infer (1) and backward (2)" },
        { good, -1, "pass is -1" },
        { good, 0, "dims is 4" },
        { good, 0, "n is 0; it must be at least 1" },
        { good, 0, "c is -7; it must be at least 1" },
        { good, 0, "input of dimension h is 0" },
        { good, 0, "input of dimension w is -1" },
        { good, 0, "input[2] is 9, but the problem has 2 spatial dimensions" },
        { good, 0, "do not fit in 63 bits" },
        { good, 0, "type is 3" },
        { good, 0, "layout is 2" },
        { good, 0, "mode is 2; known are spatial (0) and per activation (1)" },
        { good, 0, "running is 2" },
        { good, 0, "saved is 5" },
        { good, 0, "activation is 4" },
        { good, 0, "slope is inf" },
        { good, 0, "clamp_low, 2, is not below clamp_high, 1" },
        { good, 0, "clamp_low, nan" },
        { good, 0, "reserved is 1" },
        { good, 0, "epsilon is -1" },
        { good, 0, "epsilon is 1e-40" },
        { good, 0, "epsilon is nan" },
        { good, 0, "epsilon is inf" },
        { good, 0, "momentum is inf" },
        { good, 0, "momentum is -inf" },
        { good, 0, "momentum is nan" },
    };
    size_t i = 2;
    wrong[i++].problem.dims = 4;
    wrong[i++].problem.n = 0;
    wrong[i++].problem.c = -7;
    wrong[i++].problem.input[0] = 0;
    wrong[i++].problem.input[1] = -1;
    wrong[i++].problem.input[2] = 9;
    wrong[i++].problem.n = INT64_C(1) << 58;
    wrong[i++].problem.type = 3;
    wrong[i++].problem.layout = 2;
    wrong[i++].problem.mode = 2;
    wrong[i++].problem.running = 2;
    wrong[i++].problem.saved = 5;
    wrong[i++].problem.activation = 4;
    wrong[i].problem.activation = RMCP_LEAKY_RELU, wrong[i++].problem.slope = HUGE_VALF;
    wrong[i].problem.activation = RMCP_CLAMP, wrong[i].problem.clamp_low = 2;
    wrong[i++].problem.clamp_high = 1;
    wrong[i].problem.activation = RMCP_CLAMP, wrong[i++].problem.clamp_low = NAN;
    wrong[i++].problem.reserved = 1;
    wrong[i++].problem.epsilon = -1;
    wrong[i++].problem.epsilon = 1e-40;
    wrong[i++].problem.epsilon = (double)NAN;
    wrong[i++].problem.epsilon = HUGE_VAL;
    wrong[i++].problem.momentum = (double)INFINITY;
    wrong[i++].problem.momentum = -(double)INFINITY;
    wrong[i++].problem.momentum = (double)NAN;
    assert_int_equal(i, SUPPORT_LENGTH(wrong));

    rmcp_device *device = support_open();
    for (i = 0; i < SUPPORT_LENGTH(wrong); i++) {
        char text[RMCP_CASE_MAX];
        rmcp_plan *plan = (rmcp_plan *)device;
        const rmcp_batchnorm *p = &wrong[i].problem;
        const rmcp_batchnorm_pass pass = (rmcp_batchnorm_pass)wrong[i].pass;
        support_assert_failed(rmcp_batchnorm_plan(device, p, pass, NULL, &plan), RMCP_E_ARG,
                              wrong[i].message);
        assert_null(plan);
        size_t n = 0;
        support_assert_failed(rmcp_batchnorm_candidates(device, p, pass, NULL, NULL, &n),
                              RMCP_E_ARG, wrong[i].message);
        if (wrong[i].pass == -1) continue; /* no pass: right for printing */
        support_assert_failed(rmcp_batchnorm_print(p, wrong[i].pass, text, sizeof text), RMCP_E_ARG,
                              wrong[i].message);
    }
    rmcp_device_close(device);
}

_Static_assert(sizeof(rmcp_batchnorm) >= RMCP_FIRST_BATCHNORM, "rmcp_batchnorm");
_Static_assert(sizeof(rmcp_batchnorm_tensors) >= RMCP_FIRST_BATCHNORM_TENSORS,
               "rmcp_batchnorm_tensors");

/* Structs of callers that are older or newer than the library. */
static void test_struct_sizes(void **state)
{
    (void)state;
    struct {
        rmcp_batchnorm known;
        uint64_t unknown;
    } newer = { .known = good };
    newer.known.struct_size = sizeof newer;
    struct rmcp_norm norm;
    assert_int_equal(rmcp_norm_init(&norm, &newer.known, 0), RMCP_OK);
    assert_int_equal(norm.problem.struct_size, sizeof(rmcp_batchnorm));
    newer.unknown = 1;
    support_assert_failed(rmcp_norm_init(&norm, &newer.known, 0), RMCP_E_UNSUPPORTED,
                          "rmcp_batchnorm");
    rmcp_batchnorm shorter = good;
    shorter.struct_size = RMCP_FIRST_BATCHNORM;
    assert_int_equal(rmcp_norm_init(&norm, &shorter, 0), RMCP_OK);
    shorter.struct_size = RMCP_FIRST_BATCHNORM - 1;
    support_assert_failed(rmcp_norm_init(&norm, &shorter, 0), RMCP_E_ARG, "rmcp_batchnorm");
    support_assert_failed(rmcp_norm_init(&norm, NULL, 0), RMCP_E_ARG, "NULL");
    support_assert_failed(rmcp_batchnorm_parse("c1w1", &shorter, NULL), RMCP_E_ARG,
                          "rmcp_batchnorm");
}

static void test_case_strings(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "batchnorm:n8c64h56w56:f32:nchw:train",
        "batchnorm:n1c1w1:f16:nhwc:infer",
        "batchnorm:n2c3t4h5w6:bf16:nchw:bwd:activation:saved:clamp-1x6",
        "batchnorm:n2c3h5w6:f32:nchw:train:running:saved:leaky0.100000001",
        "batchnorm:n2c3h5w6:f32:nchw:train:running:relu:eps0.001:mom1",
        "batchnorm:n9223372036854775c1w1:f32:nchw:bwd",
    };
    for (size_t i = 0; i < SUPPORT_LENGTH(texts); i++) {
        char text[RMCP_CASE_MAX];
        rmcp_batchnorm problem = { .struct_size = sizeof problem };
        int pass = -1;
        if (rmcp_batchnorm_parse(texts[i], &problem, &pass)) fail_msg("%s", rmcp_last_error());
        assert_int_equal(rmcp_batchnorm_print(&problem, pass, text, sizeof text), RMCP_OK);
        assert_string_equal(text, texts[i]);
        support_assert_failed(rmcp_batchnorm_print(&problem, pass, text, 12), RMCP_E_ARG, "needs");
        /* as the commands read them */
        const struct rmcp_operation *operation = NULL;
        struct rmcp_any_problem problems[RMCP_MOST_PASSES];
        size_t n = 0;
        assert_int_equal(rmcp_case_parse(texts[i], &operation, problems, &n), RMCP_OK);
        assert_ptr_equal(operation, &rmcp_operation_batchnorm);
        assert_int_equal(n, 1);
        assert_int_equal(rmcp_case_print(operation, &problems[0], text, sizeof text), RMCP_OK);
        assert_string_equal(text, texts[i]);
    }
    rmcp_batchnorm problem = { .struct_size = sizeof problem };
    int pass = 7;
    assert_int_equal(rmcp_batchnorm_parse("c3w2:ncw:spatial", &problem, &pass), RMCP_OK);
    assert_int_equal(pass, -1);
    assert_true(problem.n == 1 && problem.dims == 1 && problem.mode == RMCP_SPATIAL);
    struct rmcp_norm norms[RMCP_MOST_PASSES];
    size_t n = 0;
    assert_int_equal(rmcp_norm_parse("c3w2", norms, &n), RMCP_OK);
    assert_int_equal(n, 3);
    for (int i = 0; i < 3; i++) assert_int_equal(norms[i].pass, i);
}

static void test_wrong_case_strings(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } wrong[] = {
        { "", "empty" },
        { "batchnorm:", "empty" },
        { "k3w1", "no field 'k' (position 1); fields are n c t h w" },
        { "c1w", "a number must follow 'w'" },
        { "c1c1w1", "'c' is given twice" },
        { "w1", "'c' is missing" },
        { "c1", "'w' is missing" },
        { "c1t2w1", "'t' is given without 'h'" },
        { "c0w1", "c is 0; it must be at least 1" },
        { "n0c1w1", "n is 0" },
        { "c99999999999999999999w1", "larger than" },
        { "c1w1:", "no word at position" },
        { "c1w1:fwd", "unknown word 'fwd'" },
        { "c1w1:f32:f16", "a second type, 'f16'" },
        { "c1w1:nchw:nhwc", "a second layout" },
        { "c1w1:train:bwd", "a second pass" },
        { "c1w1:spatial:activation", "a second mode" },
        { "c1w1:saved:saved", "a second 'saved'" },
        { "c1w1:relu:leaky1", "a second activation" },
        { "c1w1:relux", "unknown word 'relux'" },
        { "c1w1:leaky", "'leaky' must be followed by a number" },
        { "c1w1:leaky1e99", "within f32" },
        { "c1w1:clamp1", "clamp takes two numbers" },
        { "c1w1:clamp2x1", "clamp_low, 2, is not below clamp_high, 1" },
        { "c1w1:leaky1x", "does not end after its number" },
        { "c1w1:eps0", "eps is 0" },
        { "c1w1:eps-1", "epsilon is -1" },
        { "c1w1:eps0x1p-3", "eps is 0" },
        { "c1w1:eps1x2", "does not end after its number" },
        { "c1w1:mom0", "mom is 0" },
        { "c1w1:mom1e99", "momentum is 1e+99" },
        { "c1w1:\x1b[31m", "unknown word '?[31m'" },
        { "c1w1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
          "too long a word" },
    };
    for (size_t i = 0; i < SUPPORT_LENGTH(wrong); i++) {
        rmcp_batchnorm problem = { .struct_size = sizeof problem };
        int pass = 7;
        support_assert_failed(rmcp_batchnorm_parse(wrong[i].text, &problem, &pass), RMCP_E_ARG,
                              wrong[i].message);
        assert_int_equal(pass, 7);
    }
    char longest[RMCP_CASE_MAX + 8];
    memset(longest, '1', sizeof longest);
    longest[0] = 'n', longest[sizeof longest - 1] = '\0';
    rmcp_batchnorm problem = { .struct_size = sizeof problem };
    support_assert_failed(rmcp_batchnorm_parse(longest, &problem, NULL), RMCP_E_ARG, "longer than");
    support_assert_failed(rmcp_batchnorm_parse(NULL, &problem, NULL), RMCP_E_ARG, "NULL");
    support_assert_failed(rmcp_batchnorm_print(&good, 0, NULL, 9), RMCP_E_ARG, "no room");
}

/* Each pass uses what rmcp.h says, and execution asks for exactly that. */
static void test_memory(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned slots; /* a mask of what it uses */
    } uses[] = {
#define S(name) (1u << RMCP_NORM_##name)
        { "n2c3w4:train", S(X) | S(Y) | S(SCALE) | S(BIAS) },
        { "n2c3w4:train:running:saved", S(X) | S(Y) | S(SCALE) | S(BIAS) | S(RUNNING_MEAN) |
                                            S(RUNNING_VARIANCE) | S(SAVED_MEAN) |
                                            S(SAVED_INVERSE) },
        { "n2c3w4:infer:running:saved",
          S(X) | S(Y) | S(SCALE) | S(BIAS) | S(RUNNING_MEAN) | S(RUNNING_VARIANCE) },
        { "n2c3w4:bwd:running", S(X) | S(DY) | S(DX) | S(SCALE) | S(DSCALE) | S(DBIAS) },
        { "n2c3w4:bwd:saved:relu", S(X) | S(DY) | S(DX) | S(SCALE) | S(BIAS) | S(DSCALE) |
                                       S(DBIAS) | S(SAVED_MEAN) | S(SAVED_INVERSE) },
#undef S
    };
    rmcp_device *device = support_open();
    for (size_t i = 0; i < SUPPORT_LENGTH(uses); i++) {
        const struct rmcp_norm norm = norm_of(uses[i].text);
        rmcp_batchnorm_tensors t = { .struct_size = sizeof t };
        rmcp_plan *plan = NULL;
        assert_int_equal(rmcp_batchnorm_plan(device, &norm.problem, norm.pass, NULL, &plan),
                         RMCP_OK);
        t.workspace_bytes = rmcp_plan_workspace(plan);
        if (t.workspace_bytes)
            assert_int_equal(rmcp_buffer_create(device, t.workspace_bytes, &t.workspace), RMCP_OK);
        for (unsigned slot = 0; slot < RMCP_NORM_SLOTS; slot++)
            if (uses[i].slots & 1u << slot)
                assert_int_equal(rmcp_buffer_create(device, 1024, norm_memory(&t, slot)), RMCP_OK);
        assert_int_equal(rmcp_batchnorm_execute(plan, NULL, &t), RMCP_OK);
        double seconds = -1;
        assert_int_equal(rmcp_batchnorm_execute_timed(plan, NULL, &t, &seconds), RMCP_OK);
        assert_true(seconds >= 0);
        support_assert_failed(rmcp_batchnorm_execute_timed(plan, NULL, &t, NULL), RMCP_E_ARG,
                              "seconds is NULL");
        for (unsigned slot = 0; slot < RMCP_NORM_SLOTS; slot++) {
            const struct rmcp_slot s = rmcp_norm_slot(&norm, slot);
            assert_int_equal(s.elements > 0, (uses[i].slots >> slot) & 1);
            if (!s.elements) continue;
            rmcp_batchnorm_tensors without = t;
            norm_memory(&without, slot)->base = NULL;
            support_assert_failed(rmcp_batchnorm_execute(plan, NULL, &without), RMCP_E_ARG, s.name);
        }
        for (unsigned slot = 0; slot < RMCP_NORM_SLOTS; slot++)
            rmcp_buffer_destroy(device, *norm_memory(&t, slot));
        rmcp_buffer_destroy(device, t.workspace);
        rmcp_plan_destroy(plan);
    }
    rmcp_device_close(device);
}

/* A plan belongs to its operation; options that mean nothing are refused. */
static void test_wrong_calls(void **state)
{
    (void)state;
    rmcp_device *device = support_open();
    const struct rmcp_norm norm = norm_of("n2c3w4:train");
    const rmcp_conv conv = support_case("c1w4k1", NULL);
    rmcp_batchnorm_tensors t = { .struct_size = sizeof t };
    rmcp_conv_tensors c = { .struct_size = sizeof c };
    rmcp_plan *plan = NULL, *other = NULL;
    assert_int_equal(rmcp_batchnorm_plan(device, &norm.problem, norm.pass, NULL, &plan), RMCP_OK);
    assert_int_equal(rmcp_conv_plan(device, &conv, RMCP_CONV_FORWARD, NULL, &other), RMCP_OK);
    support_assert_failed(rmcp_batchnorm_execute(other, NULL, &t), RMCP_E_ARG, "batchnorm");
    support_assert_failed(rmcp_conv_execute(plan, NULL, &c), RMCP_E_ARG, "batchnorm");
    support_assert_failed(rmcp_batchnorm_execute(NULL, NULL, &t), RMCP_E_ARG, "NULL");
    support_assert_failed(rmcp_batchnorm_execute(plan, NULL, NULL), RMCP_E_ARG, "NULL");
    t.struct_size = 8;
    support_assert_failed(rmcp_batchnorm_execute(plan, NULL, &t), RMCP_E_ARG,
                          "rmcp_batchnorm_tensors");
    support_assert_failed(rmcp_batchnorm_plan(device, &norm.problem, norm.pass, NULL, NULL),
                          RMCP_E_ARG, "out is NULL");
    rmcp_plan_destroy(plan);
    rmcp_plan_destroy(other);

    char weights[4];
    const rmcp_plan_options fixed = { .struct_size = sizeof fixed,
                                      .fixed_weights = { weights, 0 } };
    support_assert_failed(rmcp_batchnorm_plan(device, &norm.problem, norm.pass, &fixed, &plan),
                          RMCP_E_ARG, "fixed_weights is set");
    const rmcp_plan_options unknown = { .struct_size = sizeof unknown, .algorithm = "winograd" };
    support_assert_failed(rmcp_batchnorm_plan(device, &norm.problem, norm.pass, &unknown, &plan),
                          RMCP_E_ARG, "winograd");
    assert_null(plan);
    rmcp_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),           cmocka_unit_test(test_wrong_problems),
        cmocka_unit_test(test_struct_sizes),       cmocka_unit_test(test_case_strings),
        cmocka_unit_test(test_wrong_case_strings), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_wrong_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
