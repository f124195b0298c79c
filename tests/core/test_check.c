/* test_check.c: RMCP_CHECK sees what is wrong and says so, and leaves the caller's data alone: on a
 * CPU device whose driver lies on demand. */
#include "check_rig.h"

#include "allocations.h"
#include "base/convert.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rmcp_device *device;
static const struct rmcp_driver *honest;
static struct rmcp_driver liar; /* the honest one's functions, but for those below */

/* What the liar does. */
static struct {
    rmcp_status fail;    /* submissions fail with this          */
    bool idle;           /* they do nothing                     */
    bool twice;          /* they do everything twice            */
    bool capturing;      /* streams capture                     */
    bool deaf;           /* tensors cannot be read              */
    void (*spoil)(void); /* called after the work               */
    atomic_long reads, writes;
} lie;

static rmcp_status submit(struct rmcp_device *d, void *stream, const struct rmcp_launch_list *list,
                          const struct rmcp_given *given, double *seconds)
{
    if (lie.fail) return rmcp_fail(lie.fail, "a lie");
    if (lie.idle) return RMCP_OK;
    rmcp_status status = honest->submit(d, stream, list, given, seconds);
    if (!status && lie.twice) status = honest->submit(d, stream, list, given, seconds);
    if (lie.spoil) lie.spoil();
    return status;
}

static rmcp_status capturing(struct rmcp_device *d, void *stream, bool *active)
{
    (void)d, (void)stream;
    *active = lie.capturing;
    return RMCP_OK;
}

static rmcp_status read_memory(struct rmcp_device *d, void *stream, void *target,
                               rmcp_memory source, uint64_t bytes)
{
    lie.reads++;
    if (lie.deaf) return rmcp_fail(RMCP_E_DEVICE, "a lie");
    return honest->read(d, stream, target, source, bytes);
}

static rmcp_status write_memory(struct rmcp_device *d, void *stream, rmcp_memory target,
                                const void *source, uint64_t bytes)
{
    lie.writes++;
    return honest->write(d, stream, target, source, bytes);
}

/* An element that is replaced after the work. */
static struct {
    const struct rig *rig;
    unsigned slot;
    int64_t element;
    float value;
} spot;

static void spoil_spot(void)
{
    rmcp_store((char *)spot.rig->memory[spot.slot].base, rig_slot(spot.rig, spot.slot).type,
               spot.element, spot.value);
}

static int begin(void **state)
{
    (void)state;
    memset(&lie, 0, sizeof lie);
    return 0;
}

static void contains(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("'%s' is not in '%s'", part, text);
}

static void *copy_of(const struct rig *rig, unsigned slot)
{
    void *copy = malloc(rig->bytes[slot]);
    assert_non_null(copy);
    memcpy(copy, rig->memory[slot].base, rig->bytes[slot]);
    return copy;
}

/* Execute and expect one line with this in it (NULL: none). */
static void expect_said(const struct rig *rig, const char *line)
{
    char said[RIG_SAID];
    const rmcp_check_info before = rig_counts();
    if (rig_execute(rig, said)) fail_msg("%s", rmcp_last_error());
    const rmcp_check_info after = rig_counts();
    assert_int_equal(after.checked, before.checked + 1);
    assert_int_equal(after.skipped, before.skipped);
    assert_int_equal(after.wrong, before.wrong + (line ? 1 : 0));
    if (!line)
        assert_string_equal(said, "");
    else
        contains(said, line);
    assert_true(!line || strchr(said, '\n') == said + strlen(said) - 1);
}

/* ---- differences ---- */

static const struct {
    const char *text, *tensor; /* what is computed, and where an element is off */
    float off;                 /* by how much: little, but beyond the bound, unless it is one
                                  that goes on changing                              */
} wrongs[] = {
    { "n2c3h6w5k4r3s3p1:f32:nchw:fwd", "y", 1e-4f },
    { "n2c3h6w5k4r3s3p1:f16:nhwc:fwd:bias:relu", "y", 0.5f },
    { "n2c3h6w5k4r3s3p1:bf16:nchw:bwd_data", "x", 0.5f },
    { "n2c4h6w5k4r3s3p1g2:f32:nhwc:bwd_weights", "w", 1e-3f },
    { "batchnorm:n4c3h5w5:f32:nchw:train:running:saved", "y", 1e-4f },
    { "batchnorm:n4c5h5w5:f16:nchw:train:running:saved", "running_mean", 10 },
    { "batchnorm:n4c5h5w5:bf16:nhwc:train:running:saved", "running_variance", 10 },
    { "batchnorm:n4c6h5w5:f32:nhwc:train:saved", "saved_inverse", 1e-3f },
    { "batchnorm:n4c3h5w5:f32:nchw:infer", "y", 1e-4f },
    { "batchnorm:n4c3h5w5:bf16:nchw:bwd:saved", "dx", 0.5f },
    { "batchnorm:n4c3h5w5:f32:nchw:bwd", "dscale", 1e-2f },
    { "tensor:3x7x5:add:f32:b1x7x1", "c", 1e-5f },
    { "tensor:3x7x5:copy:f16", "c", 0.01f },
    { "tensor:3x7x5:scale:bf16:alpha0.375", "c", 0.1f },
    { "tensor:30x70:sum:f32:c1x70", "c", 1e-3f },
};

static void reports_what_is_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < SUPPORT_LENGTH(wrongs); i++) {
        struct rig rig;
        char line[RMCP_CASE_MAX + 200];
        rig_make_case(&rig, device, wrongs[i].text, NULL);
        lie.spoil = NULL;
        expect_said(&rig, NULL);
        const unsigned slot = rig_find(&rig, wrongs[i].tensor);
        const struct rmcp_slot info = rig_slot(&rig, slot);
        spot.rig = &rig, spot.slot = slot, spot.element = info.elements / 2;
        spot.value = rig_load(&rig, slot, spot.element) + wrongs[i].off;
        lie.spoil = spoil_spot;
        const rmcp_status printed =
            rmcp_case_print(rig.plan->request.operation, rig.problem.bytes, line, sizeof line);
        assert_int_equal(printed, RMCP_OK);
        assert_string_equal(line, wrongs[i].text); /* it runs again with rmcp verify */
        snprintf(line, sizeof line,
                 "rmcp: check: %s on cpu, algorithm %s: %s element %lld: ", wrongs[i].text,
                 rmcp_plan_algorithm(rig.plan), wrongs[i].tensor, (long long)spot.element);
        expect_said(&rig, line);
        /* The caller has what the device made of it. */
        union {
            float f32;
            uint16_t half;
        } stored;
        rmcp_store(&stored, info.type, 0, spot.value);
        assert_true(rig_load(&rig, slot, spot.element) == rmcp_load(&stored, info.type, 0));
        if (i == 0) contains(rig_counts().first, wrongs[0].text);
        /* The same again is counted, not said. */
        char said[RIG_SAID];
        const uint64_t wrong = rig_counts().wrong;
        if (!info.read) {
            assert_int_equal(rig_execute(&rig, said), RMCP_OK);
            assert_string_equal(said, "");
            assert_int_equal(rig_counts().wrong, wrong + 1);
        }
        rig_destroy(&rig);
    }
    contains(rig_counts().first, wrongs[0].text); /* the first, not the last */
    contains(rig_counts().first, ", expected ");
    contains(rig_counts().first, " within ");
}

static void reports_what_is_not_written(void **state)
{
    (void)state;
    static const struct {
        const char *text, *line;
    } rows[] = {
        { "n1c3h6w5k5r3s3p1:f32:nchw:fwd", "y element 0: never written, expected " },
        { "batchnorm:n5c3h5w5:f16:nchw:infer", "y element 0: never written, expected " },
        { "tensor:3x11x5:add:bf16", "c element 0: never written, expected " },
        /* Gaps and results that are read before cannot be marked, but they are not right either. */
        { "tensor:3x11x5:scale:f32:alpha2", ", expected " },
        { "tensor:4x8:copy:f32:c/16x1", ", expected " },
    };
    for (size_t i = 0; i < SUPPORT_LENGTH(rows); i++) {
        struct rig rig;
        rig_make_case(&rig, device, rows[i].text, NULL);
        void *before[RMCP_MOST_SLOTS] = { NULL };
        for (unsigned slot = 0; slot < RMCP_MOST_SLOTS; slot++)
            if (rig.bytes[slot]) before[slot] = copy_of(&rig, slot);
        lie.idle = true;
        expect_said(&rig, rows[i].line);
        for (unsigned slot = 0; slot < RMCP_MOST_SLOTS; slot++) {
            if (before[slot]) /* nothing was written, so nothing has changed */
                assert_memory_equal(rig.memory[slot].base, before[slot], rig.bytes[slot]);
            free(before[slot]);
        }
        lie.idle = false;
        expect_said(&rig, NULL);
        rig_destroy(&rig);
    }
}

/* One element that a kernel leaves out, in a case that was told already. */
static void keeps_what_was_there(void **state)
{
    (void)state;
    struct rig rig;
    rig_make_case(&rig, device, "n1c3h6w5k6r3s3p1:f32:nchw:fwd", NULL);
    const unsigned y = rig_find(&rig, "y");
    rig_store(&rig, y, 7, 1234.5f);
    spot.rig = &rig, spot.slot = y, spot.element = 7;
    const uint32_t mark = UINT32_MAX;
    memcpy(&spot.value, &mark, sizeof mark); /* as if nobody had written it */
    lie.spoil = spoil_spot;
    expect_said(&rig, "y element 7: never written");
    assert_true(rig_load(&rig, y, 7) == 1234.5f);
    assert_true(rig_load(&rig, y, 8) != 1234.5f);
    rig_destroy(&rig);
}

/* ---- operands in place ---- */

static void sees_an_update_that_is_made_twice(void **state)
{
    (void)state;
    struct rig rig;
    rig_make_case(&rig, device, "batchnorm:n4c7h5w5:f32:nchw:train:running", NULL);
    for (int i = 0; i < 3; i++) expect_said(&rig, NULL);
    lie.twice = true;
    expect_said(&rig, "running_mean element ");
    rig_destroy(&rig);
}

static void lets_a_tensor_be_its_own_result(void **state)
{
    (void)state;
    static const char *const texts[] = { "tensor:3x13x5:add:f32", "tensor:3x13x5:multiply:f16",
                                         "tensor:3x13x5:copy:bf16:alpha2" };
    for (size_t i = 0; i < SUPPORT_LENGTH(texts); i++) {
        struct rig rig;
        rig_make_case(&rig, device, texts[i], NULL);
        const unsigned a = rig_find(&rig, "a"), c = rig_find(&rig, "c");
        expect_said(&rig, NULL);
        void *right = copy_of(&rig, c), *kept = rig.memory[c].base;
        rig.memory[c].base = rig.memory[a].base;
        expect_said(&rig, NULL);
        assert_memory_equal(rig.memory[a].base, right, rig.bytes[c]);
        spot.rig = &rig, spot.slot = c, spot.element = 3;
        spot.value = rig_load(&rig, c, 3) * 4 + 1;
        lie.spoil = spoil_spot;
        expect_said(&rig, "c element 3: ");
        lie.spoil = NULL;
        rig.memory[c].base = kept;
        free(right);
        rig_destroy(&rig);
    }
}

static void knows_fixed_weights(void **state)
{
    (void)state;
    int pass = 0;
    const rmcp_conv problem = support_case("n1c3h7w5k5r3s3p1:f32:nchw:fwd", &pass);
    const struct rmcp_convolution conv = support_conv(&problem, RMCP_CONV_FORWARD);
    rmcp_plan_options options = { .struct_size = sizeof options };
    struct rig rig;
    assert_true(rig_make(&rig, device, &rmcp_operation_conv, &conv, &options, 1));
    options.fixed_weights = rig.memory[RMCP_CONV_W];
    rmcp_plan *plan = NULL;
    assert_int_equal(rmcp_conv_plan(device, &problem, RMCP_CONV_FORWARD, &options, &plan), RMCP_OK);
    rmcp_memory workspace = { NULL, 0 };
    if (rmcp_plan_workspace(plan))
        assert_int_equal(rmcp_buffer_create(device, rmcp_plan_workspace(plan), &workspace),
                         RMCP_OK);
    const rmcp_conv_tensors tensors = { .struct_size = sizeof tensors,
                                        .x = rig.memory[RMCP_CONV_X],
                                        .y = rig.memory[RMCP_CONV_Y],
                                        .workspace = workspace,
                                        .workspace_bytes = rmcp_plan_workspace(plan) };
    const rmcp_check_info before = rig_counts();
    assert_int_equal(rmcp_conv_execute(plan, NULL, &tensors), RMCP_OK);
    assert_int_equal(rig_counts().checked, before.checked + 1);
    assert_int_equal(rig_counts().wrong, before.wrong);
    spot.rig = &rig, spot.slot = RMCP_CONV_Y, spot.element = 0, spot.value = 77;
    lie.spoil = spoil_spot;
    assert_int_equal(rmcp_conv_execute(plan, NULL, &tensors), RMCP_OK);
    assert_int_equal(rig_counts().wrong, before.wrong + 1);
    rmcp_buffer_destroy(device, workspace);
    rmcp_plan_destroy(plan);
    rig_destroy(&rig);
}

/* ---- numbers that are none ---- */

static void compares_nan_and_infinity(void **state)
{
    (void)state;
    struct rig rig;
    rig_make_case(&rig, device, "n1c2h8w8k3r3s3p1:f32:nchw:fwd", NULL);
    const unsigned x = rig_find(&rig, "x"), y = rig_find(&rig, "y");
    rig_store(&rig, x, 20, NAN);
    rig_store(&rig, x, 44, INFINITY);
    expect_said(&rig, NULL);
    assert_true(isnan(rig_load(&rig, y, 20)));
    spot.rig = &rig, spot.slot = y, spot.element = 20, spot.value = 0.5f;
    lie.spoil = spoil_spot; /* a NaN that got lost */
    expect_said(&rig, "y element 20: 0.5, expected nan");
    rig_destroy(&rig);
    rig_make_case(&rig, device, "n1c2h8w8k4r3s3p1:f32:nchw:fwd", NULL);
    spot.element = 21, spot.value = NAN; /* and one from nowhere */
    spot.rig = &rig;
    expect_said(&rig, "y element 21: nan, expected ");
    lie.spoil = NULL;
    rig_destroy(&rig);

    /* What the type cannot hold is not held against anybody, what it can is. */
    rig_make_case(&rig, device, "tensor:8:scale:f16:alpha2", NULL);
    rig_store(&rig, rig_find(&rig, "c"), 0, 40000);
    rig_store(&rig, rig_find(&rig, "c"), 1, -60000);
    expect_said(&rig, NULL);
    assert_true(isinf(rig_load(&rig, rig_find(&rig, "c"), 0)));
    spot.rig = &rig, spot.slot = rig_find(&rig, "c"), spot.element = 5, spot.value = INFINITY;
    lie.spoil = spoil_spot;
    expect_said(&rig, "c element 5: inf, expected ");
    rig_destroy(&rig);
}

/* ---- what cannot be compared ---- */

static void expect_skipped(const struct rig *rig, rmcp_status status)
{
    char said[RIG_SAID];
    rmcp_fail(RMCP_OK, "an older message");
    const rmcp_check_info before = rig_counts();
    assert_int_equal(rig_execute(rig, said), status);
    const rmcp_check_info after = rig_counts();
    assert_int_equal(after.checked, before.checked);
    assert_int_equal(after.skipped, before.skipped + (status ? 0 : 1));
    assert_string_equal(said, "");
    assert_string_equal(rmcp_last_error(), status ? "a lie" : "an older message");
}

static void leaves_captures_alone(void **state)
{
    (void)state;
    struct rig rig;
    rig_make_case(&rig, device, "n1c2h9w8k3r3s3p1:f32:nchw:fwd", NULL);
    lie.capturing = true;
    const long reads = lie.reads, writes = lie.writes;
    expect_skipped(&rig, RMCP_OK);
    assert_int_equal(lie.reads, reads);
    assert_int_equal(lie.writes, writes);
    lie.capturing = false;
    expect_said(&rig, NULL);
    rig_destroy(&rig);
}

static void executes_where_it_cannot_read(void **state)
{
    (void)state;
    struct rig rig;
    rig_make_case(&rig, device, "tensor:3x17x5:add:f32", NULL);
    const unsigned c = rig_find(&rig, "c");
    expect_said(&rig, NULL);
    void *right = copy_of(&rig, c);
    memset(rig.memory[c].base, 0, rig.bytes[c]);
    lie.deaf = true;
    expect_skipped(&rig, RMCP_OK);
    assert_memory_equal(rig.memory[c].base, right, rig.bytes[c]);
    lie.deaf = false;

    /* A submission that fails leaves the result as it was. */
    memset(rig.memory[c].base, 1, rig.bytes[c]);
    lie.fail = RMCP_E_DEVICE;
    expect_skipped(&rig, RMCP_E_DEVICE);
    for (uint64_t i = 0; i < rig.bytes[c]; i++)
        assert_int_equal(((unsigned char *)rig.memory[c].base)[i], 1);
    lie.fail = RMCP_OK;

    /* Each allocation in turn. */
    for (long first = 1;; first++) {
        const long live = allocations_live();
        const rmcp_check_info before = rig_counts();
        memset(rig.memory[c].base, 0, rig.bytes[c]);
        allocations_arm(first, false);
        const rmcp_status status = rig_execute(&rig, NULL);
        const long calls = allocations_calls();
        allocations_arm(0, false);
        assert_int_equal(status, RMCP_OK);
        assert_int_equal(allocations_live(), live);
        assert_memory_equal(rig.memory[c].base, right, rig.bytes[c]);
        const rmcp_check_info after = rig_counts();
        assert_int_equal(after.checked + after.skipped, before.checked + before.skipped + 1);
        assert_int_equal(after.wrong, before.wrong);
        if (calls < first) break;
        assert_true(after.skipped > before.skipped);
        assert_true(first < 100);
    }
    free(right);
    rig_destroy(&rig);
}

/* ---- threads ---- */

enum { N_THREADS = 6, N_RUNS = 20 };

static void *work(void *rig)
{
    const struct rig *r = rig;
    for (int i = 0; i < N_RUNS; i++)
        if (rmcp_plan_execute(r->plan, NULL, r->memory, r->plan->workspace_bytes, NULL)) return rig;
    return NULL;
}

static void counts_for_many_threads(void **state)
{
    (void)state;
    pthread_t threads[N_THREADS];
    struct rig rigs[N_THREADS];
    const rmcp_check_info before = rig_counts();
    for (int i = 0; i < N_THREADS; i++) {
        rig_make_case(&rigs[i], device,
                      i % 2 ? "tensor:5x7x9:add:f32" : "batchnorm:n2c3h4w4:f32:nchw:train:running",
                      NULL);
    }
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &rigs[i]), 0);
    for (int i = 0; i < N_THREADS; i++) {
        void *failed = NULL;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
        rig_destroy(&rigs[i]);
    }
    assert_int_equal(rig_counts().checked, before.checked + N_THREADS * N_RUNS);
    assert_int_equal(rig_counts().wrong, before.wrong);
}

static void describes_itself(void **state)
{
    (void)state;
    support_assert_failed(rmcp_check_describe(NULL), RMCP_E_ARG, "NULL");
    rmcp_check_info info = { .struct_size = 3 };
    support_assert_failed(rmcp_check_describe(&info), RMCP_E_ARG, "struct_size is 3");
    assert_int_equal(rig_counts().on, 1);
}

int main(void)
{
    setenv("RMCP_CHECK", "1", 1);
    if (rmcp_device_open("cpu", NULL, &device)) return 99;
    honest = device->driver;
    liar = *honest;
    liar.submit = submit;
    liar.capturing = capturing;
    liar.read = read_memory;
    liar.write = write_memory;
    device->driver = &liar;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(reports_what_is_wrong, begin), /* the first of all is told here */
        cmocka_unit_test_setup(reports_what_is_not_written, begin),
        cmocka_unit_test_setup(keeps_what_was_there, begin),
        cmocka_unit_test_setup(sees_an_update_that_is_made_twice, begin),
        cmocka_unit_test_setup(lets_a_tensor_be_its_own_result, begin),
        cmocka_unit_test_setup(knows_fixed_weights, begin),
        cmocka_unit_test_setup(compares_nan_and_infinity, begin),
        cmocka_unit_test_setup(leaves_captures_alone, begin),
        cmocka_unit_test_setup(executes_where_it_cannot_read, begin),
        cmocka_unit_test_setup(counts_for_many_threads, begin),
        cmocka_unit_test_setup(describes_itself, begin),
    };
    const int failures = cmocka_run_group_tests(tests, NULL, NULL);
    device->driver = honest;
    rmcp_device_close(device);
    return failures;
}
