/* test_verify.c: every algorithm on a compact list of cases, and a judge that can say no: a device
 * that spoils results in one way each must be found out. */
#include "support.h"

#include "base/convert.h"
#include "engine/ops/conv/conv.h"
#include "engine/ops/tensor/tensor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int open_device(void **state)
{
    *state = support_open();
    return 0;
}

static int close_device(void **state)
{
    rmcp_device_close(*state);
    return 0;
}

/* ---- every algorithm on every case ---- */

static const char *const shapes[] = {
    "n2c5w23k6s3p1",
    "n1c6w31k4s4p0-3u2d2g2",
    "n2c8h9w7k6r3s3p1",
    "n1c3h15w15k8r5s5p2u2",
    "n1c6h9w9k9r3s3p2d2g3",
    "n1c16h8w8k16r3s3p1g16",
    "n1c17h6w6k33r1s1",
    "n1c4h6w6k4r3s3p5",
    "n1c3t5x3h6w7k4r3s2p1x0x1u1x2x1",
    "n1c4t4x2h5w5k4r1s3g2d1x1x2p1",
};
static const char *const types[] = { "f32", "f16", "bf16" };
static const char *const layouts[] = { "nchw", "nhwc" };
static const char *const extras[] = { "", ":bias:relu", ":bias:leaky-0.5", ":clamp-1.5x2" };

static void verify_all(rmcp_device *device, const char *text, size_t *n_runs)
{
    const rmcp_conv problem = support_case(text, NULL);
    for (int pass = 0; pass < RMCP_CONV_PASSES; pass++) {
        size_t n_algos = 0;
        for (size_t a = 0; rmcp_algos_conv[a]; a++)
            for (int data = 0; data < RMCP_N_DATA; data++) {
                struct rmcp_judgement result;
                rmcp_status status =
                    rmcp_conv_judge(device, &problem, (rmcp_conv_pass)pass,
                                    rmcp_algos_conv[a]->name, (enum rmcp_data)data, 11, 0, &result);
                if (status == RMCP_E_UNSUPPORTED) continue;
                if (status)
                    fail_msg("%s pass %d, %s: %s", text, pass, rmcp_algos_conv[a]->name,
                             rmcp_last_error());
                if (!result.passed)
                    fail_msg("%s pass %d, %s: %s", text, pass, rmcp_algos_conv[a]->name,
                             result.why);
                assert_string_equal(result.algorithm, rmcp_algos_conv[a]->name);
                assert_int_equal(result.checked, result.outputs);
                n_algos++, ++*n_runs;
            }
        if (!n_algos) fail_msg("%s pass %d: no algorithm", text, pass);
    }
}

static void test_every_algorithm_passes(void **state)
{
    size_t n_runs = 0;
    for (size_t shape = 0; shape < SUPPORT_LENGTH(shapes); shape++)
        for (size_t type = 0; type < SUPPORT_LENGTH(types); type++)
            for (size_t layout = 0; layout < SUPPORT_LENGTH(layouts); layout++) {
                char text[RMCP_CASE_MAX];
                snprintf(text, sizeof text, "%s:%s:%s%s", shapes[shape], types[type],
                         layouts[layout], extras[(shape + type + layout) % SUPPORT_LENGTH(extras)]);
                verify_all(*state, text, &n_runs);
            }
    assert_true(n_runs >= SUPPORT_LENGTH(shapes) * 3 * 2 * 3 * 2);
}

static void test_random_problems_pass(void **state)
{
    for (uint64_t seed = 100; seed < 160; seed++) {
        rmcp_conv problem;
        rmcp_conv_pass pass;
        struct rmcp_judgement result;
        char text[RMCP_CASE_MAX];
        rmcp_conv_draw(seed, &problem, &pass);
        assert_int_equal(rmcp_conv_print(&problem, (int)pass, text, sizeof text), RMCP_OK);
        if (rmcp_conv_judge(*state, &problem, pass, NULL, (enum rmcp_data)(seed % 2), seed, 0,
                            &result))
            fail_msg("%s: %s", text, rmcp_last_error());
        if (!result.passed) fail_msg("%s: %s", text, result.why);
    }
}

/* ---- the judge can say no ---- */

/* What the device below does to the result after a correct computation. */
enum spoil {
    HONEST,
    OUTPUT_BIT,       /* the last bit of one output                     */
    OUTPUT_TENTH,     /* one output off by a tenth                      */
    OUTPUT_SLIGHTLY,  /* one output off by one f32 rounding: allowed    */
    OUTPUT_INFINITE,  /* one output infinite                            */
    OUTPUT_UNWRITTEN, /* one output as it was before                    */
    OUTPUT_SWAPPED,   /* two neighbours in each other's place           */
    BYTE_BEFORE,      /* a byte before the output                       */
    BYTE_AFTER,       /* a byte after the output                        */
    FAR_AFTER,        /* a byte 511 bytes after the output              */
    INPUT_CHANGED,    /* one byte of an input                           */
    BIAS_CHANGED,     /* one byte of the bias                           */
    AFTER_INPUT,      /* a byte after an input                          */
    AFTER_WORKSPACE,  /* a byte after the workspace                     */
    BEFORE_WORKSPACE, /* a byte before it                               */
    THIRD_TIME,       /* the last bit of one output, the third time     */
    FAILS             /* reports an error                               */
};

static struct {
    enum spoil spoil;
    struct rmcp_convolution conv;
    int64_t at; /* the output element */
    int times;  /* that it was called */
    uint64_t workspace_bytes;
    rmcp_status (*submit)(struct rmcp_device *, void *, const struct rmcp_launch_list *,
                          const struct rmcp_given *, double *);
} plot;

static unsigned char *address(const rmcp_memory *memory, int slot)
{
    return (unsigned char *)memory[slot].base + memory[slot].offset;
}

static void spoil_output(unsigned char *y, const unsigned char *before)
{
    const size_t element = rmcp_type_bytes(plot.conv.type);
    unsigned char *one = y + (size_t)plot.at * element;
    const float value = rmcp_load(y, plot.conv.type, plot.at);
    unsigned char other[4];
    switch (plot.spoil) {
    case OUTPUT_BIT: one[0] ^= 1; break;
    case OUTPUT_TENTH: rmcp_store(y, plot.conv.type, plot.at, value + 0.1f); break;
    case OUTPUT_SLIGHTLY:
        rmcp_store(y, plot.conv.type, plot.at, nextafterf(value, INFINITY));
        break;
    case OUTPUT_INFINITE: rmcp_store(y, plot.conv.type, plot.at, INFINITY); break;
    case OUTPUT_UNWRITTEN: memcpy(one, before, element); break;
    default:
        memcpy(other, one, element);
        memcpy(one, one + element, element);
        memcpy(one + element, other, element);
    }
}

static rmcp_status spoiled_submit(struct rmcp_device *device, void *stream,
                                  const struct rmcp_launch_list *list,
                                  const struct rmcp_given *given, double *seconds)
{
    const rmcp_memory *memory = given->memory;
    const int out = (int)rmcp_conv_output_slot(&plot.conv);
    const int in = out == RMCP_CONV_X ? RMCP_CONV_W : RMCP_CONV_X;
    const size_t element = rmcp_type_bytes(plot.conv.type);
    const size_t out_bytes = (size_t)rmcp_conv_elements(&plot.conv, (unsigned)out) * element;
    const size_t in_bytes = (size_t)rmcp_conv_elements(&plot.conv, (unsigned)in) * element;
    unsigned char before[4];
    memcpy(before, address(memory, out) + (size_t)plot.at * element, element);
    rmcp_status status = plot.submit(device, stream, list, given, seconds);
    if (status) return status;

    switch (plot.spoil) {
    case HONEST: break;
    case THIRD_TIME: address(memory, out)[(size_t)plot.at * element] ^= ++plot.times == 3; break;
    case BYTE_BEFORE: address(memory, out)[-1] ^= 1; break;
    case BYTE_AFTER: address(memory, out)[out_bytes] ^= 1; break;
    case FAR_AFTER: address(memory, out)[out_bytes + 511] ^= 1; break;
    case INPUT_CHANGED: address(memory, in)[in_bytes - 1] ^= 1; break;
    case BIAS_CHANGED: address(memory, RMCP_CONV_BIAS)[0] ^= 1; break;
    case AFTER_INPUT: address(memory, in)[in_bytes] ^= 1; break;
    case AFTER_WORKSPACE: address(memory, RMCP_SLOT_WORKSPACE)[plot.workspace_bytes] ^= 1; break;
    case BEFORE_WORKSPACE: address(memory, RMCP_SLOT_WORKSPACE)[-1] ^= 1; break;
    case FAILS: return rmcp_fail(RMCP_E_LOST, "the device is gone");
    default: spoil_output(address(memory, out), before);
    }
    return RMCP_OK;
}

/* Judges a case on a device that spoils its results. Host memory is written directly, so this is
 * always the CPU device. */
static rmcp_status judge(const char *text, rmcp_conv_pass pass, const char *algorithm,
                         enum rmcp_data data, enum spoil spoil, int64_t at,
                         struct rmcp_judgement *result)
{
    rmcp_device *honest = NULL;
    assert_int_equal(rmcp_device_open("cpu", NULL, &honest), RMCP_OK);
    struct rmcp_driver driver = *honest->driver;
    driver.submit = spoiled_submit;
    struct rmcp_device device = *honest;
    device.driver = &driver;

    const rmcp_conv problem = support_case(text, NULL);
    const rmcp_plan_options options = { .struct_size = sizeof options, .algorithm = algorithm };
    rmcp_plan *plan = NULL;
    assert_int_equal(rmcp_conv_plan(&device, &problem, pass, &options, &plan), RMCP_OK);
    plot.conv = support_conv(&problem, pass);
    plot.spoil = spoil;
    plot.at = at;
    plot.workspace_bytes = rmcp_plan_workspace(plan);
    plot.submit = honest->driver->submit;
    rmcp_plan_destroy(plan);

    rmcp_status status = RMCP_OK;
    const bool no_workspace = spoil == AFTER_WORKSPACE || spoil == BEFORE_WORKSPACE;
    if (no_workspace && !plot.workspace_bytes)
        memset(result, 0, sizeof *result); /* nothing to write beside */
    else if (spoil == THIRD_TIME)
        status = rmcp_judge_repeats(&device, &rmcp_operation_conv, &plot.conv, algorithm, 3,
                                    (uint64_t)data, result);
    else
        status = rmcp_conv_judge(&device, &problem, pass, algorithm, data, 3, 0, result);
    rmcp_device_close(honest);
    return status;
}

static void test_the_judge_finds_each_kind_of_damage(void **state)
{
    (void)state;
    static const struct {
        enum spoil spoil;
        enum rmcp_data data;
        const char *why;
    } rows[] = {
        { OUTPUT_BIT, RMCP_DATA_INTEGERS, "[7] is " },
        { OUTPUT_TENTH, RMCP_DATA_REALS, "[7] is " },
        { OUTPUT_INFINITE, RMCP_DATA_REALS, "[7] is inf" },
        { OUTPUT_INFINITE, RMCP_DATA_INTEGERS, "[7] is inf" },
        { OUTPUT_UNWRITTEN, RMCP_DATA_INTEGERS, "is NaN or was never written" },
        { OUTPUT_UNWRITTEN, RMCP_DATA_REALS, "is NaN or was never written" },
        { OUTPUT_SWAPPED, RMCP_DATA_REALS, " is " },
        { BYTE_BEFORE, RMCP_DATA_REALS, "wrote 1 bytes before " },
        { BYTE_AFTER, RMCP_DATA_REALS, "bytes after the end of " },
        { FAR_AFTER, RMCP_DATA_REALS, "bytes after the end of " },
        { INPUT_CHANGED, RMCP_DATA_INTEGERS, "changed its input " },
        { AFTER_INPUT, RMCP_DATA_REALS, "bytes after the end of " },
        { AFTER_WORKSPACE, RMCP_DATA_REALS, "after the end of workspace" },
        { BEFORE_WORKSPACE, RMCP_DATA_REALS, "before workspace" },
    };
    static const char *const texts[] = { "n1c4h6w6k5r3s3p1", "n1c4h6w6k5r3s3p1:f16:nhwc",
                                         "n1c4h6w6k5r3s3p1:bf16" };
    size_t n_workspace = 0;
    for (size_t t = 0; t < SUPPORT_LENGTH(texts); t++)
        for (int pass = 0; pass < RMCP_CONV_PASSES; pass++)
            for (size_t i = 0; i < SUPPORT_LENGTH(rows); i++) {
                struct rmcp_judgement result;
                const char *beside = strstr(rows[i].why, "workspace");
                assert_int_equal(judge(texts[t], (rmcp_conv_pass)pass, beside ? NULL : "reference",
                                       rows[i].data, rows[i].spoil, 7, &result),
                                 RMCP_OK);
                if (beside && !result.outputs) continue;
                n_workspace += beside != NULL;
                if (result.passed)
                    fail_msg("%s pass %d: damage %d was not found", texts[t], pass,
                             (int)rows[i].spoil);
                if (!strstr(result.why, rows[i].why))
                    fail_msg("'%s' is not in '%s'", rows[i].why, result.why);
            }
    const rmcp_conv problem = support_case(texts[1], NULL);
    rmcp_device *device = NULL;
    rmcp_plan *plan = NULL;
    assert_int_equal(rmcp_device_open("cpu", NULL, &device), RMCP_OK);
    assert_int_equal(rmcp_conv_plan(device, &problem, RMCP_CONV_FORWARD, NULL, &plan), RMCP_OK);
    assert_true(n_workspace > 0 || !rmcp_plan_workspace(plan));
    rmcp_plan_destroy(plan);
    rmcp_device_close(device);
}

/* ---- results that are to be NaN ---- */

static enum { LEFT, MARKED, OTHER_NAN } nan_spoil;
static int64_t nan_at;

static rmcp_status nan_submit(struct rmcp_device *device, void *stream,
                              const struct rmcp_launch_list *list, const struct rmcp_given *given,
                              double *seconds)
{
    rmcp_status status = plot.submit(device, stream, list, given, seconds);
    float *c = (float *)(void *)address(given->memory, RMCP_TENSOR_C);
    if (nan_spoil == MARKED) memset(&c[nan_at], 0xff, sizeof *c);
    if (nan_spoil == OTHER_NAN) c[nan_at] = NAN;
    return status;
}

static void test_the_judge_knows_results_that_are_nan(void **state)
{
    static const struct {
        const char *text;
        int spoil;
        int64_t at;
        bool passes;
    } rows[] = {
        { "tensor:3x5:set:alphanan", LEFT, 0, true },
        { "tensor:3x5:set:alphanan", OTHER_NAN, 7, true },
        { "tensor:3x5:set:alphanan", MARKED, 7, false },
        { "tensor:3x5:set:alphanan", MARKED, 14, false },
        { "tensor:3x5:set:alphainf", LEFT, 0, true },
        { "tensor:3x5:set:alphainf", OTHER_NAN, 7, false },
        { "tensor:3x5:set:alpha2", OTHER_NAN, 14, false },
    };
    rmcp_device *honest = *state;
    struct rmcp_driver driver = *honest->driver;
    struct rmcp_device device = *honest;
    plot.submit = honest->driver->submit;
    driver.submit = nan_submit;
    device.driver = &driver;
    for (size_t i = 0; i < SUPPORT_LENGTH(rows); i++) {
        const struct rmcp_operation *operation = NULL;
        struct rmcp_any_problem problems[RMCP_MOST_PASSES];
        struct rmcp_judgement result;
        size_t n = 0;
        nan_spoil = rows[i].spoil;
        nan_at = rows[i].at;
        assert_int_equal(rmcp_case_parse(rows[i].text, &operation, problems, &n), RMCP_OK);
        assert_int_equal(rmcp_judge_problem(&device, operation, &problems[0], NULL,
                                            RMCP_DATA_INTEGERS, 1, 0, &result),
                         RMCP_OK);
        if (result.passed != rows[i].passes) fail_msg("row %d: %s", (int)i, result.why);
        if (!rows[i].passes) assert_non_null(strstr(result.why, "is NaN or was never written"));
    }
}

static void test_the_judge_finds_a_changed_bias(void **state)
{
    (void)state;
    struct rmcp_judgement result;
    assert_int_equal(judge("n1c4h6w6k5r3s3p1:bias", RMCP_CONV_FORWARD, NULL, RMCP_DATA_REALS,
                           BIAS_CHANGED, 0, &result),
                     RMCP_OK);
    assert_false(result.passed);
    assert_string_equal(result.why, "changed its input bias");
}

static void test_the_judge_accepts_honest_results(void **state)
{
    (void)state;
    for (int data = 0; data < RMCP_N_DATA; data++)
        for (int pass = 0; pass < RMCP_CONV_PASSES; pass++) {
            struct rmcp_judgement result;
            assert_int_equal(judge("n1c4h6w6k5r3s3p1", (rmcp_conv_pass)pass, NULL,
                                   (enum rmcp_data)data, HONEST, 0, &result),
                             RMCP_OK);
            if (!result.passed) fail_msg("%s", result.why);
        }
    /* One rounding more is within the bound of reals, and no reason to cry wolf. */
    struct rmcp_judgement result;
    assert_int_equal(judge("n1c4h6w6k5r3s3p1", RMCP_CONV_FORWARD, "reference", RMCP_DATA_REALS,
                           OUTPUT_SLIGHTLY, 7, &result),
                     RMCP_OK);
    if (!result.passed) fail_msg("%s", result.why);
    assert_true(result.worst > 0 && result.worst <= 1);
}

/* Here `data` is how many times. */
static void test_the_judge_finds_other_bits_in_a_repetition(void **state)
{
    (void)state;
    for (int times = 2; times <= 4; times++)
        for (int pass = 0; pass < RMCP_CONV_PASSES; pass++) {
            struct rmcp_judgement result;
            plot.times = 0;
            assert_int_equal(judge("n1c4h6w6k5r3s3p1", (rmcp_conv_pass)pass, "reference",
                                   (enum rmcp_data)times, THIRD_TIME, 9, &result),
                             RMCP_OK);
            assert_int_equal(result.passed, times < 3);
            if (times >= 3)
                assert_non_null(
                    strstr(result.why, "has other bits in execution 3 than in the first"));
        }
}

/* Every single output is looked at when all of them are affordable. */
static void test_the_judge_looks_at_every_output(void **state)
{
    (void)state;
    for (int64_t at = 0; at < 5 * 6 * 6; at++) {
        struct rmcp_judgement result;
        assert_int_equal(judge("n1c4h6w6k5r3s3p1", RMCP_CONV_FORWARD, "reference",
                               RMCP_DATA_INTEGERS, OUTPUT_BIT, at, &result),
                         RMCP_OK);
        char why[32];
        snprintf(why, sizeof why, "y[%d] is ", (int)at);
        if (result.passed || !strstr(result.why, why))
            fail_msg("damage at %d: '%s'", (int)at, result.why);
    }
}

static void test_a_failing_device_is_no_result(void **state)
{
    (void)state;
    struct rmcp_judgement result;
    support_assert_failed(
        judge("n1c4h6w6k5r3s3p1", RMCP_CONV_FORWARD, NULL, RMCP_DATA_REALS, FAILS, 0, &result),
        RMCP_E_LOST, "the device is gone");
}

/* The bound grows with the sum behind a value and is no wider than the type makes it. */
static void test_the_bound(void **state)
{
    (void)state;
    static const double unit[] = { 0x1p-24, 0x1p-11, 0x1p-8 };
    static const char *const texts[] = { "n1c4h6w6k5r3s3p1", "n1c4h6w6k5r3s3p1:f16",
                                         "n1c4h6w6k5r3s3p1:bf16" };
    for (size_t i = 0; i < SUPPORT_LENGTH(texts); i++) {
        const rmcp_conv problem = support_case(texts[i], NULL);
        const struct rmcp_convolution conv = support_conv(&problem, RMCP_CONV_FORWARD);
        const double zero = rmcp_conv_bound(&conv, 0, 0), one = rmcp_conv_bound(&conv, 1, 0);
        assert_true(zero > 0 && zero < 1e-6);
        assert_true(one >= unit[i] && one < 2 * unit[i]);
        assert_true(rmcp_conv_bound(&conv, -1, 0) == one);
        assert_true(rmcp_conv_bound(&conv, 1, 30) > one);
        /* 37 terms up to 1: far below what a wrong term would change */
        assert_true(rmcp_conv_bound(&conv, 1, 37) < 0.01);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_algorithm_passes),
        cmocka_unit_test(test_random_problems_pass),
        cmocka_unit_test(test_the_judge_finds_each_kind_of_damage),
        cmocka_unit_test(test_the_judge_knows_results_that_are_nan),
        cmocka_unit_test(test_the_judge_finds_a_changed_bias),
        cmocka_unit_test(test_the_judge_accepts_honest_results),
        cmocka_unit_test(test_the_judge_looks_at_every_output),
        cmocka_unit_test(test_the_judge_finds_other_bits_in_a_repetition),
        cmocka_unit_test(test_a_failing_device_is_no_result),
        cmocka_unit_test(test_the_bound),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
