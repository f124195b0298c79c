/* test_plan.c: what the public functions promise about devices, buffers, plans and executions. */
#include "support.h"

#include "base/convert.h"
#include "engine/ops/conv/conv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const small_case = "n2c8h9w7k6r3s3p1:bias:relu";

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

/* ---- names ---- */

static void test_version_and_status_names(void **state)
{
    (void)state;
    char header[32];
    snprintf(header, sizeof header, "%d.%d.%d", RMCP_VERSION_MAJOR, RMCP_VERSION_MINOR,
             RMCP_VERSION_PATCH);
    assert_string_equal(rmcp_version(), header);
    static const char *const names[] = { "RMCP_OK",      "RMCP_E_ARG",     "RMCP_E_UNSUPPORTED",
                                         "RMCP_E_NOMEM", "RMCP_E_DEVICE",  "RMCP_E_LOST",
                                         "RMCP_E_IO",    "RMCP_E_INTERNAL" };
    for (int i = 0; i < (int)SUPPORT_LENGTH(names); i++)
        assert_string_equal(rmcp_status_name((rmcp_status)i), names[i]);
    assert_string_equal(rmcp_status_name((rmcp_status)8), "unknown rmcp_status");
    assert_string_equal(rmcp_status_name((rmcp_status)-1), "unknown rmcp_status");
}

/* ---- devices ---- */

static void test_device_specs_that_do_not_open(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *message;
    } rows[] = {
        { "nosuch", "no device 'nosuch'; known are auto" },
        { "", "no device ''; known are auto" },
        { "CPU", "no device 'CPU'; known are auto" },
        { "cp", "no device 'cp'; known are auto" },
        { "cpux", "no device 'cpux'; known are auto" },
        { "cpu:1", "device 'cpu:1': there is only 1 (cpu:0)" },
        { "cpu:x", "device 'cpu:x': a device number must follow 'cpu:'" },
        { "cpu:", "device 'cpu:': a device number must follow 'cpu:'" },
        { "cpu:0x", "device 'cpu:0x': a device number must follow 'cpu:'" },
        { "cpu:-1", "device 'cpu:-1': a device number must follow 'cpu:'" },
        { "cpu: 0", "device 'cpu: 0': a device number must follow 'cpu:'" },
        { "cpu:99999999999999999999", "a device number must follow 'cpu:'" },
        { "no\nsuch\x1b[31m", "no device 'no such [31m'; known are auto" },
    };
    for (size_t i = 0; i < SUPPORT_LENGTH(rows); i++) {
        rmcp_device *device = (rmcp_device *)&device;
        support_assert_failed(rmcp_device_open(rows[i].spec, NULL, &device), RMCP_E_ARG,
                              rows[i].message);
        assert_null(device);
    }
    support_assert_failed(rmcp_device_open("cpu", NULL, NULL), RMCP_E_ARG, "out is NULL");
}

static void test_device_from_the_environment(void **state)
{
    (void)state;
    rmcp_device *device = NULL;
    setenv("RMCP_DEVICE", "nosuch", 1);
    support_assert_failed(rmcp_device_open("auto", NULL, &device), RMCP_E_ARG, "'nosuch'");
    support_assert_failed(rmcp_device_open(NULL, NULL, &device), RMCP_E_ARG, "'nosuch'");
    assert_int_equal(rmcp_device_open("cpu", NULL, &device), RMCP_OK); /* a name wins */
    rmcp_device_close(device);
    setenv("RMCP_DEVICE", "cpu", 1);
    assert_int_equal(rmcp_device_open("auto", NULL, &device), RMCP_OK);
    rmcp_device_info info = { .struct_size = sizeof info };
    assert_int_equal(rmcp_device_describe(device, &info), RMCP_OK);
    assert_string_equal(info.spec, "cpu");
    assert_string_equal(rmcp_device_note(device), "");
    rmcp_device_close(device);
    static const char *const none[] = { "", "auto" };
    for (size_t i = 0; i < SUPPORT_LENGTH(none); i++) {
        setenv("RMCP_DEVICE", none[i], 1);
        assert_int_equal(rmcp_device_open(NULL, NULL, &device), RMCP_OK);
        assert_non_null(rmcp_device_note(device));
        rmcp_device_close(device);
    }
    setenv("RMCP_DEVICE", "", 1);
}

static void test_device_options(void **state)
{
    (void)state;
    rmcp_device *device = NULL;
    struct {
        rmcp_device_options options;
        unsigned char tail[8];
    } o = { .options = { .struct_size = sizeof(rmcp_device_options), .threads = 3 } };
    assert_int_equal(rmcp_device_open("cpu", &o.options, &device), RMCP_OK);
    rmcp_device_info info = { .struct_size = sizeof info };
    assert_int_equal(rmcp_device_describe(device, &info), RMCP_OK);
    assert_int_equal(info.compute_units, 3);
    rmcp_device_close(device);

    o.options.threads = 4097;
    support_assert_failed(rmcp_device_open("cpu", &o.options, &device), RMCP_E_ARG,
                          "threads is 4097");
    assert_null(device);
    o.options.threads = 0;
    o.options.native_context = &o;
    support_assert_failed(rmcp_device_open("cpu", &o.options, &device), RMCP_E_ARG,
                          "native_context");
    o.options.native_context = NULL;

    o.options.struct_size = sizeof o; /* newer */
    assert_int_equal(rmcp_device_open("cpu", &o.options, &device), RMCP_OK);
    rmcp_device_close(device);
    o.tail[3] = 1;
    support_assert_failed(rmcp_device_open("cpu", &o.options, &device), RMCP_E_UNSUPPORTED,
                          "rmcp_device_options uses a field of a newer release");
    static const uint32_t bad[] = { 0, sizeof(rmcp_device_options) - 1, 5000 };
    for (size_t i = 0; i < SUPPORT_LENGTH(bad); i++) {
        o.options.struct_size = bad[i];
        support_assert_failed(rmcp_device_open("cpu", &o.options, &device), RMCP_E_ARG,
                              "rmcp_device_options.struct_size is ");
        assert_null(device);
    }
}

static void test_describe(void **state)
{
    struct {
        rmcp_device_info info;
        unsigned char tail[8];
    } newer;
    memset(&newer, 0xff, sizeof newer);
    newer.info.struct_size = sizeof newer;
    assert_int_equal(rmcp_device_describe(*state, &newer.info), RMCP_OK);
    assert_int_equal(newer.info.struct_size, sizeof newer);
    assert_int_equal(newer.info.usable, 1);
    assert_true(*newer.info.spec && *newer.info.name && *newer.info.driver);
    assert_true(newer.info.compute_units > 0);
    for (size_t i = 0; i < sizeof newer.tail; i++) assert_int_equal(newer.tail[i], 0);
    newer.info.struct_size = 8;
    support_assert_failed(rmcp_device_describe(*state, &newer.info), RMCP_E_ARG,
                          "rmcp_device_info.struct_size is 8");
    support_assert_failed(rmcp_device_describe(*state, NULL), RMCP_E_ARG,
                          "rmcp_device_info is NULL");
    support_assert_failed(rmcp_device_describe(NULL, &newer.info), RMCP_E_ARG, "device is NULL");
}

static void test_list_of_devices(void **state)
{
    (void)state;
    size_t n = 0;
    assert_int_equal(rmcp_device_list(NULL, &n), RMCP_OK);
    assert_true(n >= 1);
    rmcp_device_info *list = calloc(n + 1, sizeof *list);
    assert_non_null(list);
    list[0].struct_size = sizeof *list;
    size_t room = n + 1;
    assert_int_equal(rmcp_device_list(list, &room), RMCP_OK);
    assert_int_equal(room, n);
    size_t n_cpu = 0;
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(list[i].struct_size, sizeof *list);
        assert_true(*list[i].spec);
        assert_true(list[i].usable || *list[i].why);
        n_cpu += !strcmp(list[i].spec, "cpu") && list[i].usable && list[i].is_cpu;
    }
    assert_int_equal(n_cpu, 1);
    assert_int_equal(list[n].struct_size, 0); /* nothing beyond the end */

    memset(list, 0, sizeof *list);
    size_t none = 0;
    assert_int_equal(rmcp_device_list(list, &none), RMCP_OK); /* no room: only counts */
    assert_int_equal(none, n);
    assert_int_equal(list[0].spec[0], 0);
    room = 1;
    support_assert_failed(rmcp_device_list(list, &room), RMCP_E_ARG,
                          "rmcp_device_info.struct_size is 0");
    support_assert_failed(rmcp_device_list(list, NULL), RMCP_E_ARG, "count is NULL");
    free(list);

    /* A newer caller's entries are longer. */
    const size_t step = sizeof(rmcp_device_info) + 40;
    unsigned char *longer = malloc(n * step);
    assert_non_null(longer);
    memset(longer, 0xff, n * step);
    memcpy(longer, &(uint32_t){ (uint32_t)step }, sizeof(uint32_t));
    room = n;
    assert_int_equal(rmcp_device_list((rmcp_device_info *)longer, &room), RMCP_OK);
    for (size_t i = 0; i < n; i++) {
        uint32_t size;
        memcpy(&size, longer + i * step, sizeof size);
        assert_int_equal(size, step);
        assert_int_equal(longer[(i + 1) * step - 1], 0);
    }
    free(longer);
}

/* ---- memory ---- */

static void test_buffers(void **state)
{
    rmcp_device *device = *state;
    rmcp_memory buffer = { &buffer, 7 };
    support_assert_failed(rmcp_buffer_create(device, 0, &buffer), RMCP_E_ARG, "0 bytes");
    assert_null(buffer.base);
    assert_int_equal(buffer.offset, 0);
    support_assert_failed(rmcp_buffer_create(device, UINT64_MAX, &buffer), RMCP_E_ARG,
                          "18446744073709551615 bytes");
    support_assert_failed(rmcp_buffer_create(device, INT64_MAX, &buffer), RMCP_E_NOMEM,
                          "9223372036854775807 bytes");
    support_assert_failed(rmcp_buffer_create(device, UINT64_C(1) << 60, &buffer), RMCP_E_NOMEM,
                          "1152921504606846976 bytes");
    assert_null(buffer.base);
    support_assert_failed(rmcp_buffer_create(device, 1, NULL), RMCP_E_ARG, "out is NULL");
    support_assert_failed(rmcp_buffer_create(NULL, 1, &buffer), RMCP_E_ARG, "device is NULL");
    rmcp_buffer_destroy(device, (rmcp_memory){ 0 });
    rmcp_buffer_destroy(NULL, (rmcp_memory){ 0 });

    assert_int_equal(rmcp_buffer_create(device, 13, &buffer), RMCP_OK);
    assert_int_equal(rmcp_copy_to_device(device, NULL, buffer, "hello, world", 13), RMCP_OK);
    char text[16] = "";
    rmcp_memory part = { buffer.base, buffer.offset + 7 };
    assert_int_equal(rmcp_copy_to_device(device, NULL, part, "there", 5), RMCP_OK);
    assert_int_equal(rmcp_copy_to_host(device, NULL, text, part, 6), RMCP_OK);
    assert_string_equal(text, "there");
    assert_int_equal(rmcp_copy_to_host(device, NULL, text, buffer, 13), RMCP_OK);
    assert_string_equal(text, "hello, there");
    assert_int_equal(rmcp_copy_to_host(device, NULL, text, buffer, 0), RMCP_OK);
    support_assert_failed(rmcp_copy_to_host(device, NULL, NULL, buffer, 1), RMCP_E_ARG,
                          "host side");
    support_assert_failed(rmcp_copy_to_host(device, NULL, text, (rmcp_memory){ 0 }, 1), RMCP_E_ARG,
                          "device side");
    support_assert_failed(rmcp_copy_to_device(NULL, NULL, buffer, text, 1), RMCP_E_ARG,
                          "device is NULL");
    assert_int_equal(rmcp_device_wait(device, NULL), RMCP_OK);
    support_assert_failed(rmcp_device_wait(NULL, NULL), RMCP_E_ARG, "device is NULL");
    rmcp_buffer_destroy(device, buffer);
}

/* ---- making plans ---- */

static void test_null_is_fine_where_it_says_so(void **state)
{
    (void)state;
    rmcp_device_close(NULL);
    rmcp_plan_destroy(NULL);
    assert_int_equal(rmcp_plan_workspace(NULL), 0);
    assert_string_equal(rmcp_plan_algorithm(NULL), "");
    assert_string_equal(rmcp_device_note(NULL), "");
}

/* Expects rmcp_conv_plan to fail, with *out NULL. */
static void assert_no_plan(rmcp_device *device, const rmcp_conv *problem, int pass,
                           const rmcp_plan_options *options, rmcp_status expected, const char *part)
{
    rmcp_plan *plan = (rmcp_plan *)&plan;
    support_assert_failed(rmcp_conv_plan(device, problem, (rmcp_conv_pass)pass, options, &plan),
                          expected, part);
    assert_null(plan);
}

static void test_plans_that_cannot_be(void **state)
{
    rmcp_device *device = *state;
    rmcp_conv problem = support_case(small_case, NULL);
    assert_no_plan(NULL, &problem, 0, NULL, RMCP_E_ARG, "device is NULL");
    assert_no_plan(device, NULL, 0, NULL, RMCP_E_ARG, "rmcp_conv is NULL");
    assert_no_plan(device, &problem, 3, NULL, RMCP_E_ARG, "pass is 3;");
    assert_no_plan(device, &problem, -1, NULL, RMCP_E_ARG, "pass is -1;");
    support_assert_failed(rmcp_conv_plan(device, &problem, RMCP_CONV_FORWARD, NULL, NULL),
                          RMCP_E_ARG, "out is NULL");

    struct {
        rmcp_plan_options options;
        unsigned char tail[8];
    } o = { .options = { .struct_size = sizeof(rmcp_plan_options), .effort = 2 } };
    assert_no_plan(device, &problem, 0, &o.options, RMCP_E_ARG, "effort is 2;");
    o.options.effort = 0, o.options.accuracy = 2;
    assert_no_plan(device, &problem, 0, &o.options, RMCP_E_ARG, "accuracy is 2;");
    o.options.accuracy = 0, o.options.max_error = 0.5;
    assert_no_plan(device, &problem, 0, &o.options, RMCP_E_ARG, "max_error is 0.5;");
    o.options.max_error = (double)NAN;
    assert_no_plan(device, &problem, 0, &o.options, RMCP_E_ARG, "it must be 0 or at least 1");
    o.options.max_error = 0, o.options.nondeterministic = 2;
    assert_no_plan(device, &problem, 0, &o.options, RMCP_E_ARG, "nondeterministic is 2;");
    o.options.nondeterministic = 0, o.options.algorithm = "nosuch";
    assert_no_plan(device, &problem, 0, &o.options, RMCP_E_ARG, "no algorithm 'nosuch'");
    o.options.algorithm = "";
    assert_no_plan(device, &problem, 0, &o.options, RMCP_E_ARG, "no algorithm ''");
    o.options.algorithm = NULL, o.options.fixed_weights.base = &o;
    assert_no_plan(device, &problem, RMCP_CONV_BACKWARD_WEIGHTS, &o.options, RMCP_E_ARG,
                   "fixed_weights is set");
    o.options.fixed_weights.base = NULL;

    static const uint32_t bad[] = { 0, 47, 4097 };
    for (size_t i = 0; i < SUPPORT_LENGTH(bad); i++) {
        o.options.struct_size = bad[i];
        assert_no_plan(device, &problem, 0, &o.options, RMCP_E_ARG,
                       "rmcp_plan_options.struct_size is ");
    }
    o.options.struct_size = sizeof o;
    o.tail[0] = 1;
    assert_no_plan(device, &problem, 0, &o.options, RMCP_E_UNSUPPORTED, "newer release");
    o.tail[0] = 0;
    rmcp_plan *plan = NULL;
    assert_int_equal(rmcp_conv_plan(device, &problem, RMCP_CONV_FORWARD, &o.options, &plan),
                     RMCP_OK);
    rmcp_plan_destroy(plan);
}

static void test_algorithm_by_name(void **state)
{
    rmcp_device *device = *state;
    const rmcp_conv problem = support_case(small_case, NULL);
    size_t n_made = 0;
    for (size_t i = 0; rmcp_algos_conv[i]; i++) {
        rmcp_plan_options options = { .struct_size = sizeof options,
                                      .algorithm = rmcp_algos_conv[i]->name };
        rmcp_plan *plan = NULL;
        rmcp_status status = rmcp_conv_plan(device, &problem, RMCP_CONV_FORWARD, &options, &plan);
        if (status == RMCP_OK) {
            assert_string_equal(rmcp_plan_algorithm(plan), rmcp_algos_conv[i]->name);
            n_made++;
        } else {
            support_assert_failed(status, RMCP_E_UNSUPPORTED, rmcp_algos_conv[i]->name);
        }
        rmcp_plan_destroy(plan);
    }
    assert_true(n_made > 0);
}

static void test_candidates(void **state)
{
    rmcp_device *device = *state;
    const rmcp_conv problem = support_case(small_case, NULL);
    size_t n = 99;
    assert_int_equal(rmcp_conv_candidates(device, &problem, RMCP_CONV_FORWARD, NULL, NULL, &n),
                     RMCP_OK);
    size_t n_algos = 0;
    while (rmcp_algos_conv[n_algos]) n_algos++;
    assert_int_equal(n, n_algos);

    rmcp_candidate *list = calloc(n + 1, sizeof *list);
    assert_non_null(list);
    for (int pass = 0; pass < RMCP_CONV_PASSES; pass++) {
        memset(list, 0, (n + 1) * sizeof *list);
        list[0].struct_size = sizeof *list;
        size_t room = n + 1, n_chosen = 0;
        assert_int_equal(
            rmcp_conv_candidates(device, &problem, (rmcp_conv_pass)pass, NULL, list, &room),
            RMCP_OK);
        assert_int_equal(room, n);
        rmcp_plan *plan = NULL;
        assert_int_equal(rmcp_conv_plan(device, &problem, (rmcp_conv_pass)pass, NULL, &plan),
                         RMCP_OK);
        for (size_t i = 0; i < n; i++) {
            assert_string_equal(list[i].algorithm, rmcp_algos_conv[i]->name);
            if (*list[i].refusal) {
                assert_int_equal(list[i].chosen, 0);
                assert_true(list[i].estimated_seconds == 0);
                continue;
            }
            assert_true(list[i].estimated_seconds > 0 && isfinite(list[i].estimated_seconds));
            if (!list[i].chosen) continue;
            n_chosen++;
            assert_string_equal(list[i].algorithm, rmcp_plan_algorithm(plan));
            assert_int_equal(list[i].workspace_bytes, rmcp_plan_workspace(plan));
            for (size_t other = 0; other < n; other++)
                assert_true(*list[other].refusal ||
                            list[other].estimated_seconds >= list[i].estimated_seconds);
        }
        assert_int_equal(n_chosen, 1);
        assert_int_equal(list[n].struct_size, 0);
        rmcp_plan_destroy(plan);
    }

    size_t room = 1;
    list[0].struct_size = 3;
    support_assert_failed(
        rmcp_conv_candidates(device, &problem, RMCP_CONV_FORWARD, NULL, list, &room), RMCP_E_ARG,
        "rmcp_candidate.struct_size is 3");
    support_assert_failed(
        rmcp_conv_candidates(device, &problem, RMCP_CONV_FORWARD, NULL, list, NULL), RMCP_E_ARG,
        "count is NULL");
    support_assert_failed(
        rmcp_conv_candidates(NULL, &problem, RMCP_CONV_FORWARD, NULL, NULL, &room), RMCP_E_ARG,
        "device is NULL");
    free(list);
}

static void test_workspace_limits(void **state)
{
    rmcp_device *device = *state;
    const rmcp_conv problem = support_case("n1c16h14w14k16r3s3p1:f16", NULL);
    rmcp_candidate list[RMCP_MOST_ALGOS] = { { .struct_size = sizeof *list } };
    size_t n = RMCP_MOST_ALGOS, n_limited = 0;
    rmcp_plan_options options = { .struct_size = sizeof options };
    assert_int_equal(rmcp_conv_candidates(device, &problem, RMCP_CONV_FORWARD, NULL, list, &n),
                     RMCP_OK);
    for (size_t i = 0; i < n; i++) {
        if (*list[i].refusal || list[i].workspace_bytes < 2) continue;
        n_limited++;
        options.algorithm = list[i].algorithm;
        options.max_workspace = list[i].workspace_bytes - 1;
        char part[160];
        snprintf(part, sizeof part, "%s: needs %llu bytes of workspace, the limit is %llu",
                 list[i].algorithm, (unsigned long long)list[i].workspace_bytes,
                 (unsigned long long)list[i].workspace_bytes - 1);
        assert_no_plan(device, &problem, RMCP_CONV_FORWARD, &options, RMCP_E_UNSUPPORTED, part);
        options.max_workspace = RMCP_NO_WORKSPACE;
        assert_no_plan(device, &problem, RMCP_CONV_FORWARD, &options, RMCP_E_UNSUPPORTED,
                       "the limit is 0");
        options.max_workspace = list[i].workspace_bytes;
        rmcp_plan *plan = NULL;
        assert_int_equal(rmcp_conv_plan(device, &problem, RMCP_CONV_FORWARD, &options, &plan),
                         RMCP_OK);
        assert_int_equal(rmcp_plan_workspace(plan), list[i].workspace_bytes);
        rmcp_plan_destroy(plan);
    }
    if (!n_limited) skip(); /* no algorithm here uses workspace */
}

static void test_no_workspace_still_finds_an_algorithm(void **state)
{
    const rmcp_conv problem = support_case("n1c16h14w14k16r3s3p1:f16", NULL);
    rmcp_plan_options options = { .struct_size = sizeof options,
                                  .max_workspace = RMCP_NO_WORKSPACE };
    for (int pass = 0; pass < RMCP_CONV_PASSES; pass++) {
        rmcp_plan *plan = NULL;
        assert_int_equal(rmcp_conv_plan(*state, &problem, (rmcp_conv_pass)pass, &options, &plan),
                         RMCP_OK);
        assert_int_equal(rmcp_plan_workspace(plan), 0);
        rmcp_plan_destroy(plan);
    }
}

/* oneDNN takes strides and padding of 31 bits and says so late; the plain loops take any. */
static void test_a_late_refusal_leaves_the_others_in_the_race(void **state)
{
    (void)state;
    static const char *const texts[] = { "c1h1w1k1p1000000u3000000000",
                                         "c1w3k1p2200000000u2200000000",
                                         "c1w1k1s2p2000000000u2000000000d3000000000" };
    rmcp_device *device = NULL;
    assert_int_equal(rmcp_device_open("cpu", NULL, &device), RMCP_OK);
    for (size_t i = 0; i < SUPPORT_LENGTH(texts); i++)
        for (int pass = 0; pass < RMCP_CONV_PASSES; pass++) {
            const rmcp_conv problem = support_case(texts[i], NULL);
            struct rmcp_judgement result;
            if (rmcp_conv_judge(device, &problem, (rmcp_conv_pass)pass, NULL, RMCP_DATA_REALS, 1, 0,
                                &result))
                fail_msg("%s pass %d: %s", texts[i], pass, rmcp_last_error());
            if (!result.passed) fail_msg("%s pass %d: %s", texts[i], pass, result.why);
        }
    rmcp_device_close(device);
}

/* ---- executing ---- */

/* Runs the problem with these options and a fixed seed. */
static struct support_tensors results(rmcp_device *device, const rmcp_conv *problem, int pass,
                                      const rmcp_plan_options *options)
{
    const struct rmcp_convolution conv = support_conv(problem, (rmcp_conv_pass)pass);
    struct support_tensors t;
    support_tensors_init(&t, &conv, 1000, 42); /* large enough for sums to be rounded */
    for (int slot = 0; slot < SUPPORT_N_TENSORS; slot++)
        for (int64_t i = 0; i < t.n[slot]; i++) t.of[slot][i] *= 0x1.234p-10f;
    support_run(device, problem, (rmcp_conv_pass)pass, options, &t);
    return t;
}

static void assert_same_bits(struct support_tensors *a, struct support_tensors *b)
{
    for (int slot = 0; slot < SUPPORT_N_TENSORS; slot++)
        assert_memory_equal(a->of[slot], b->of[slot], (size_t)a->n[slot] * sizeof(float));
    support_tensors_deinit(b);
}

static const char *const execution_cases[] = {
    "n2c8h9w7k6r3s3p1:bias:relu", "n2c8h9w7k6r3s3p1:f16:nhwc", "n1c16h12w12k32r3s3p1u2:bf16",
    "n1c12h9w9k12r3s3p1g4",       "n1c4t5h6w6k4r3s3p1:nhwc",
};

static void test_same_bits_every_time(void **state)
{
    for (size_t c = 0; c < SUPPORT_LENGTH(execution_cases); c++)
        for (int pass = 0; pass < RMCP_CONV_PASSES; pass++) {
            const rmcp_conv problem = support_case(execution_cases[c], NULL);
            struct support_tensors a = results(*state, &problem, pass, NULL);
            for (int again = 0; again < 3; again++) {
                struct support_tensors b = results(*state, &problem, pass, NULL);
                assert_same_bits(&a, &b);
            }
            support_tensors_deinit(&a);
        }
}

/* Weights prepared at plan time give the bits of weights that come with each execution, also after
 * the caller has wiped tensors.w, which execute must ignore. */
static void test_fixed_weights(void **state)
{
    rmcp_device *device = *state;
    for (size_t c = 0; c < SUPPORT_LENGTH(execution_cases); c++)
        for (int pass = 0; pass < RMCP_CONV_BACKWARD_WEIGHTS; pass++)
            for (size_t a = 0; rmcp_algos_conv[a]; a++) {
                const rmcp_conv problem = support_case(execution_cases[c], NULL);
                rmcp_plan_options options = { .struct_size = sizeof options,
                                              .algorithm = rmcp_algos_conv[a]->name };
                rmcp_plan *plan = NULL;
                if (rmcp_conv_plan(device, &problem, (rmcp_conv_pass)pass, &options, &plan))
                    continue;
                rmcp_plan_destroy(plan);
                struct support_tensors expected = results(device, &problem, pass, &options), t;

                const struct rmcp_convolution conv = support_conv(&problem, (rmcp_conv_pass)pass);
                const uint64_t element = rmcp_type_bytes(conv.type);
                const uint64_t bytes = (uint64_t)conv.w_elements * element, lead = 3 * element;
                rmcp_memory weights;
                assert_int_equal(rmcp_buffer_create(device, bytes + lead, &weights), RMCP_OK);
                options.fixed_weights = (rmcp_memory){ weights.base, weights.offset + lead };
                uint16_t *staging = malloc(bytes);
                assert_non_null(staging);
                for (int64_t i = 0; i < conv.w_elements; i++)
                    rmcp_store(staging, conv.type, i, expected.of[RMCP_CONV_W][i]);
                assert_int_equal(
                    rmcp_copy_to_device(device, NULL, options.fixed_weights, staging, bytes),
                    RMCP_OK);
                free(staging);

                support_tensors_init(&t, &conv, 1, 1);
                for (int slot = 0; slot < SUPPORT_N_TENSORS; slot++)
                    for (int64_t i = 0; i < t.n[slot]; i++)
                        t.of[slot][i] = slot == RMCP_CONV_W ? NAN : expected.of[slot][i];
                const int out = (int)rmcp_conv_output_slot(&conv);
                for (int64_t i = 0; i < t.n[out]; i++) t.of[out][i] = NAN;
                support_run(device, &problem, (rmcp_conv_pass)pass, &options, &t);
                assert_memory_equal(t.of[out], expected.of[out], (size_t)t.n[out] * sizeof(float));
                rmcp_buffer_destroy(device, weights);
                support_tensors_deinit(&t);
                support_tensors_deinit(&expected);
            }
}

static void test_effort_measure(void **state)
{
    rmcp_plan_options options = { .struct_size = sizeof options, .effort = RMCP_MEASURE };
    for (size_t c = 0; c < SUPPORT_LENGTH(execution_cases); c++)
        for (int pass = 0; pass < RMCP_CONV_PASSES; pass++) {
            const rmcp_conv problem = support_case(execution_cases[c], NULL);
            rmcp_plan *plan = NULL;
            if (rmcp_conv_plan(*state, &problem, (rmcp_conv_pass)pass, &options, &plan))
                fail_msg("%s", rmcp_last_error());
            /* whichever was fastest, the result is that of the algorithm by name */
            rmcp_plan_options named = { .struct_size = sizeof named,
                                        .algorithm = rmcp_plan_algorithm(plan) };
            struct support_tensors expected = results(*state, &problem, pass, &named);
            struct support_tensors t = results(*state, &problem, pass, &named);
            const struct rmcp_convolution conv = support_conv(&problem, (rmcp_conv_pass)pass);
            const int out = (int)rmcp_conv_output_slot(&conv);
            for (int64_t i = 0; i < t.n[out]; i++) t.of[out][i] = NAN;
            support_execute(*state, plan, &t);
            assert_same_bits(&expected, &t);
            support_tensors_deinit(&expected);
            rmcp_plan_destroy(plan);
        }
}

/* One thread and two may add up in another order, within the bound of the judge. */
static void test_thread_counts_agree(void **state)
{
    (void)state;
    for (size_t c = 0; c < SUPPORT_LENGTH(execution_cases); c++)
        for (int pass = 0; pass < RMCP_CONV_PASSES; pass++)
            for (uint32_t threads = 1; threads <= 2; threads++) {
                const rmcp_device_options options = { .struct_size = sizeof options,
                                                      .threads = threads };
                rmcp_device *device = NULL;
                assert_int_equal(rmcp_device_open("cpu", &options, &device), RMCP_OK);
                const rmcp_conv problem = support_case(execution_cases[c], NULL);
                struct rmcp_judgement result;
                assert_int_equal(rmcp_conv_judge(device, &problem, (rmcp_conv_pass)pass, NULL,
                                                 RMCP_DATA_REALS, 7, 0, &result),
                                 RMCP_OK);
                if (!result.passed) fail_msg("%u threads: %s", (unsigned)threads, result.why);
                rmcp_device_close(device);
            }
}

/* A plan with every tensor in one buffer, for the checks of rmcp_conv_execute. */
struct bench {
    rmcp_plan *plan;
    rmcp_memory buffer;
    rmcp_conv_tensors tensors;
    uint64_t bytes;
};

static struct bench make_bench(rmcp_device *device, const char *text, const char *algorithm)
{
    struct bench b = { 0 };
    const rmcp_conv problem = support_case(text, NULL);
    const rmcp_plan_options options = { .struct_size = sizeof options, .algorithm = algorithm };
    rmcp_conv_info shape = { .struct_size = sizeof shape };
    assert_int_equal(rmcp_conv_describe(&problem, &shape), RMCP_OK);
    if (rmcp_conv_plan(device, &problem, RMCP_CONV_FORWARD, &options, &b.plan))
        fail_msg("%s", rmcp_last_error());
    const uint64_t sizes[RMCP_MOST_SLOTS] = { shape.x_bytes, shape.w_bytes, shape.y_bytes,
                                              shape.bias_bytes, rmcp_plan_workspace(b.plan) };
    uint64_t at[RMCP_MOST_SLOTS], used = 0;
    for (int slot = 0; slot < RMCP_MOST_SLOTS; slot++) {
        at[slot] = used;
        used += (sizes[slot] + 511) / 256 * 256; /* leaves a gap */
    }
    b.bytes = used;
    assert_int_equal(rmcp_buffer_create(device, used, &b.buffer), RMCP_OK);
    unsigned char *zeros = calloc(1, used);
    assert_non_null(zeros);
    assert_int_equal(rmcp_copy_to_device(device, NULL, b.buffer, zeros, used), RMCP_OK);
    free(zeros);
    void *base = b.buffer.base;
    b.tensors = (rmcp_conv_tensors){
        .struct_size = sizeof b.tensors,
        .x = { base, at[0] },
        .w = { base, at[1] },
        .y = { base, at[2] },
        .bias = { base, at[3] },
        .workspace = { base, at[4] },
        .workspace_bytes = sizes[4],
    };
    return b;
}

static void destroy_bench(rmcp_device *device, struct bench *b)
{
    rmcp_plan_destroy(b->plan);
    rmcp_buffer_destroy(device, b->buffer);
}

/* The first algorithm that wants workspace for this case; NULL when none does. */
static const char *with_workspace(rmcp_device *device, const char *text)
{
    const rmcp_conv problem = support_case(text, NULL);
    static rmcp_candidate list[RMCP_MOST_ALGOS];
    list[0].struct_size = sizeof *list;
    size_t n = RMCP_MOST_ALGOS;
    assert_int_equal(rmcp_conv_candidates(device, &problem, RMCP_CONV_FORWARD, NULL, list, &n),
                     RMCP_OK);
    for (size_t i = 0; i < n; i++)
        if (!*list[i].refusal && list[i].workspace_bytes) return list[i].algorithm;
    return NULL;
}

static void test_execute_checks_its_tensors(void **state)
{
    rmcp_device *device = *state;
    struct bench b = make_bench(device, small_case, NULL);
    double seconds = -1;
    assert_int_equal(rmcp_conv_execute(b.plan, NULL, &b.tensors), RMCP_OK);
    assert_int_equal(rmcp_conv_execute_timed(b.plan, NULL, &b.tensors, &seconds), RMCP_OK);
    assert_true(seconds >= 0 && isfinite(seconds));
    support_assert_failed(rmcp_conv_execute_timed(b.plan, NULL, &b.tensors, NULL), RMCP_E_ARG,
                          "seconds is NULL");
    support_assert_failed(rmcp_conv_execute(NULL, NULL, &b.tensors), RMCP_E_ARG, "plan is NULL");
    support_assert_failed(rmcp_conv_execute(b.plan, NULL, NULL), RMCP_E_ARG,
                          "rmcp_conv_tensors is NULL");

    const struct {
        rmcp_memory *memory;
        const char *missing, *odd;
    } rows[] = {
        { &b.tensors.x, "tensors.x is NULL", "the offset of tensors.x is " },
        { &b.tensors.w, "tensors.w is NULL", "the offset of tensors.w is " },
        { &b.tensors.y, "tensors.y is NULL", "the offset of tensors.y is " },
        { &b.tensors.bias, "tensors.bias is NULL", "the offset of tensors.bias is " },
    };
    for (size_t i = 0; i < SUPPORT_LENGTH(rows); i++) {
        const rmcp_memory before = *rows[i].memory;
        rows[i].memory->base = NULL;
        support_assert_failed(rmcp_conv_execute(b.plan, NULL, &b.tensors), RMCP_E_ARG,
                              rows[i].missing);
        *rows[i].memory = before;
        rows[i].memory->offset += 2;
        support_assert_failed(rmcp_conv_execute(b.plan, NULL, &b.tensors), RMCP_E_ARG, rows[i].odd);
        assert_non_null(strstr(rmcp_last_error(), "no multiple of 4"));
        *rows[i].memory = before;
    }
    static const uint32_t bad[] = { 0, sizeof(rmcp_conv_tensors) - 1, 4097 };
    for (size_t i = 0; i < SUPPORT_LENGTH(bad); i++) {
        b.tensors.struct_size = bad[i];
        support_assert_failed(rmcp_conv_execute(b.plan, NULL, &b.tensors), RMCP_E_ARG,
                              "rmcp_conv_tensors.struct_size is ");
    }
    struct {
        rmcp_conv_tensors tensors;
        unsigned char tail[16];
    } newer = { .tensors = b.tensors };
    newer.tensors.struct_size = sizeof newer;
    assert_int_equal(rmcp_conv_execute(b.plan, NULL, &newer.tensors), RMCP_OK);
    newer.tail[15] = 9;
    support_assert_failed(rmcp_conv_execute(b.plan, NULL, &newer.tensors), RMCP_E_UNSUPPORTED,
                          "rmcp_conv_tensors uses a field of a newer release");
    destroy_bench(device, &b);
}

static void test_execute_checks_its_workspace(void **state)
{
    rmcp_device *device = *state;
    static const char *const text = "n1c16h14w14k16r3s3p1:f16";
    const char *algorithm = with_workspace(device, text);
    if (!algorithm) skip();
    struct bench b = make_bench(device, text, algorithm);
    assert_int_equal(rmcp_conv_execute(b.plan, NULL, &b.tensors), RMCP_OK);
    b.tensors.workspace_bytes--;
    support_assert_failed(rmcp_conv_execute(b.plan, NULL, &b.tensors), RMCP_E_ARG,
                          "the workspace has ");
    b.tensors.workspace_bytes = 0;
    support_assert_failed(rmcp_conv_execute(b.plan, NULL, &b.tensors), RMCP_E_ARG,
                          "the workspace has 0 bytes; the plan needs ");
    b.tensors.workspace_bytes = rmcp_plan_workspace(b.plan);
    b.tensors.workspace.offset += 128;
    support_assert_failed(rmcp_conv_execute(b.plan, NULL, &b.tensors), RMCP_E_ARG,
                          "no multiple of 256");
    b.tensors.workspace.offset -= 128;
    b.tensors.workspace.base = NULL;
    support_assert_failed(rmcp_conv_execute(b.plan, NULL, &b.tensors), RMCP_E_ARG,
                          "tensors.workspace is NULL");
    destroy_bench(device, &b);
}

/* A failing execution writes nothing, and a good one only y (and its workspace). */
static void test_execute_writes_only_its_output(void **state)
{
    rmcp_device *device = *state;
    struct bench b = make_bench(device, "n1c2h5w5k3r3s3", NULL);
    unsigned char *before = malloc(b.bytes), *after = malloc(b.bytes);
    assert_true(before && after);
    for (uint64_t i = 0; i < b.bytes; i++) before[i] = 0x3f; /* 0.7470 as f32 */
    assert_int_equal(rmcp_copy_to_device(device, NULL, b.buffer, before, b.bytes), RMCP_OK);
    b.tensors.y.offset += 1;
    assert_int_equal(rmcp_conv_execute(b.plan, NULL, &b.tensors), RMCP_E_ARG);
    assert_int_equal(rmcp_copy_to_host(device, NULL, after, b.buffer, b.bytes), RMCP_OK);
    assert_memory_equal(before, after, b.bytes);

    b.tensors.y.offset += 3; /* an element further on, which the gap allows */
    assert_int_equal(rmcp_conv_execute(b.plan, NULL, &b.tensors), RMCP_OK);
    assert_int_equal(rmcp_copy_to_host(device, NULL, after, b.buffer, b.bytes), RMCP_OK);
    const uint64_t begin = b.tensors.y.offset, end = begin + 3 * 9 * sizeof(float);
    float value, expected = 0;
    memcpy(&value, before, sizeof value);
    for (int i = 0; i < 18; i++) expected += value * value;
    for (uint64_t i = 0; i < b.bytes && i < b.tensors.workspace.offset; i++)
        if (i < begin || i >= end) assert_int_equal(before[i], after[i]);
    for (uint64_t i = begin; i < end; i += sizeof value) {
        memcpy(&value, after + i, sizeof value);
        assert_true(fabsf(value - expected) < 1e-4f);
    }
    free(before), free(after);
    destroy_bench(device, &b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version_and_status_names),
        cmocka_unit_test(test_device_specs_that_do_not_open),
        cmocka_unit_test(test_device_from_the_environment),
        cmocka_unit_test(test_device_options),
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_list_of_devices),
        cmocka_unit_test(test_buffers),
        cmocka_unit_test(test_null_is_fine_where_it_says_so),
        cmocka_unit_test(test_plans_that_cannot_be),
        cmocka_unit_test(test_algorithm_by_name),
        cmocka_unit_test(test_candidates),
        cmocka_unit_test(test_workspace_limits),
        cmocka_unit_test(test_no_workspace_still_finds_an_algorithm),
        cmocka_unit_test(test_a_late_refusal_leaves_the_others_in_the_race),
        cmocka_unit_test(test_same_bits_every_time),
        cmocka_unit_test(test_fixed_weights),
        cmocka_unit_test(test_effort_measure),
        cmocka_unit_test(test_thread_counts_agree),
        cmocka_unit_test(test_execute_checks_its_tensors),
        cmocka_unit_test(test_execute_checks_its_workspace),
        cmocka_unit_test(test_execute_writes_only_its_output),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
