/* Scalars: numbers that executions bring, on the device that the first argument names. One plan
 * does with all of them, from many threads, and gives the bits of a plan made for each. */
#include "engine/core/plan_cache.h"
#include "engine/gpu/params.h"
#include "support.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { N = 3 * 37, STEPS = 100, THREADS = 4, TENSORS = 4 };

static rmcp_device *device;

/* Parameter, gradient and moments on the device. */
struct tensors {
    rmcp_memory memory[TENSORS];
};

static rmcp_status begin(struct tensors *t)
{
    float values[N];
    rmcp_status status = RMCP_OK;
    for (int k = 0; k < TENSORS && !status; k++) {
        for (int i = 0; i < N; i++)
            values[i] = k == 0 ? (float)(i % 7) - 3 : k == 1 ? (float)(i * 5 % 11 - 5) / 8 : 0;
        status = rmcp_buffer_create(device, sizeof values, &t->memory[k]);
        if (!status)
            status = rmcp_copy_to_device(device, NULL, t->memory[k], values, sizeof values);
    }
    return status;
}

static void end(struct tensors *t)
{
    for (int k = 0; k < TENSORS; k++) rmcp_buffer_destroy(device, t->memory[k]);
}

static rmcp_status fetch(const struct tensors *t, float values[TENSORS][N])
{
    rmcp_status status = RMCP_OK;
    for (int k = 0; k < TENSORS && !status; k++)
        status = rmcp_copy_to_host(device, NULL, values[k], t->memory[k], sizeof values[k]);
    return status;
}

static rmcp_status step_with(const rmcp_plan *plan, const struct tensors *t, const double *scalars,
                             uint32_t n_scalars)
{
    const rmcp_slots slots = { .struct_size = sizeof slots,
                               .count = TENSORS,
                               .memory = t->memory,
                               .n_scalars = n_scalars,
                               .scalars = scalars };
    return rmcp_plan_run(plan, NULL, &slots);
}

static rmcp_plan *plan_of(const char *text)
{
    rmcp_plan *plan = NULL;
    if (rmcp_case_plan(device, text, NULL, &plan)) fail_msg("%s: %s", text, rmcp_last_error());
    return plan;
}

/* Where a scalar stands among the plan's. */
static uint32_t place_of(const rmcp_plan *plan, const char *name, uint32_t *count)
{
    uint32_t place = UINT32_MAX;
    rmcp_scalar_info info = { .struct_size = sizeof info };
    for (*count = 0; rmcp_plan_scalar(plan, *count, &info) == RMCP_OK; ++*count)
        if (!strcmp(info.name, name)) place = *count;
    assert_true(place < *count);
    return place;
}

/* Learning rates of a schedule. */
static double rate(int step)
{
    return (double)(step < 20 ? (float)step * 1e-3f : 0.02f / (float)(1 + step / 10));
}

static void fill(const rmcp_plan *plan, int step, double *scalars, uint32_t *n)
{
    const uint32_t number = place_of(plan, "number", n), lr = place_of(plan, "lr", n);
    for (uint32_t i = 0; i < *n; i++) {
        rmcp_scalar_info info = { .struct_size = sizeof info };
        assert_int_equal(rmcp_plan_scalar(plan, i, &info), RMCP_OK);
        scalars[i] = info.value;
    }
    scalars[number] = step;
    scalars[lr] = rate(step);
}

static void test_one_plan_does_all_steps(void **state)
{
    (void)state;
    static const char *const kinds[] = { "adam:decay0.01", "adamw:maximize", "transformers",
                                         "uncorrected" };
    for (size_t k = 0; k < SUPPORT_LENGTH(kinds); k++) {
        char text[RMCP_CASE_MAX];
        struct tensors ours, theirs;
        float got[TENSORS][N], expected[TENSORS][N];
        snprintf(text, sizeof text, "adam:3x37:f32:%s", kinds[k]);
        rmcp_plan *one = plan_of(text);
        assert_int_equal(begin(&ours), RMCP_OK);
        assert_int_equal(begin(&theirs), RMCP_OK);
        for (int step = 1; step <= STEPS; step++) {
            double scalars[16];
            uint32_t n;
            fill(one, step, scalars, &n);
            assert_int_equal(step_with(one, &ours, scalars, n), RMCP_OK);
            snprintf(text, sizeof text, "adam:3x37:f32:%s:lr%.9g:number%d", kinds[k], rate(step),
                     step);
            rmcp_plan *own = plan_of(text);
            assert_int_equal(step_with(own, &theirs, NULL, 0), RMCP_OK);
            assert_int_equal(fetch(&theirs, expected), RMCP_OK);
            rmcp_plan_destroy(own);
        }
        assert_int_equal(fetch(&ours, got), RMCP_OK);
        assert_memory_equal(got, expected, sizeof got);
        rmcp_plan_destroy(one);
        end(&ours);
        end(&theirs);
    }
}

static void test_what_they_may_be(void **state)
{
    (void)state;
    struct tensors t;
    rmcp_plan *plan = plan_of("adam:3x37:f32:lr0.5:number17");
    uint32_t n;
    const uint32_t number = place_of(plan, "number", &n), beta = place_of(plan, "beta1", &n);
    double scalars[16];
    rmcp_scalar_info info = { .struct_size = sizeof info };
    assert_int_equal(rmcp_plan_scalar(plan, number, &info), RMCP_OK);
    assert_true(info.value == 17 && info.least == 1);
    support_assert_failed(rmcp_plan_scalar(plan, n, &info), RMCP_E_ARG, "adam has 7");
    support_assert_failed(rmcp_plan_scalar(NULL, 0, &info), RMCP_E_ARG, "NULL");
    assert_int_equal(begin(&t), RMCP_OK);

    fill(plan, 3, scalars, &n);
    support_assert_failed(step_with(plan, &t, scalars, n + 1), RMCP_E_ARG, "n_scalars is 8");
    support_assert_failed(step_with(plan, &t, NULL, n), RMCP_E_ARG, "scalars is NULL");
    const struct {
        uint32_t place;
        double value;
    } wrong[] = {
        { number, 0 }, { number, NAN }, { number, -INFINITY }, { beta, 1 }, { beta, -0.5 }
    };
    for (size_t i = 0; i < SUPPORT_LENGTH(wrong); i++) {
        fill(plan, 3, scalars, &n);
        scalars[wrong[i].place] = wrong[i].value;
        support_assert_failed(step_with(plan, &t, scalars, n), RMCP_E_ARG, "must be from");
    }
    rmcp_plan_destroy(plan);
    end(&t);

    plan = plan_of("act:3x37:relu:fwd");
    support_assert_failed(rmcp_plan_scalar(plan, 0, &info), RMCP_E_ARG, "act has 0");
    rmcp_plan_destroy(plan);
}

/* A program that was compiled before there were scalars, and one that brings none. */
static void test_none_are_the_plan_s_own(void **state)
{
    (void)state;
    enum { BEFORE_SCALARS = 40 };
    float got[3][TENSORS][N];
    for (int k = 0; k < 3; k++) {
        struct tensors t;
        assert_int_equal(begin(&t), RMCP_OK);
        rmcp_plan *plan = plan_of(k < 2 ? "adam:3x37:f32:lr0.25:number17" : "adam:3x37:f32:lr0.25");
        double scalars[16];
        uint32_t n;
        fill(plan, 17, scalars, &n);
        scalars[place_of(plan, "lr", &n)] = 0.25;
        rmcp_slots slots = { .struct_size = k ? sizeof slots : BEFORE_SCALARS,
                             .count = TENSORS,
                             .memory = t.memory,
                             .n_scalars = k == 2 ? n : 0,
                             .scalars = scalars };
        assert_int_equal(rmcp_plan_run(plan, NULL, &slots), RMCP_OK);
        assert_int_equal(fetch(&t, got[k]), RMCP_OK);
        rmcp_plan_destroy(plan);
        end(&t);
    }
    assert_memory_equal(got[0], got[1], sizeof got[0]);
    assert_memory_equal(got[0], got[2], sizeof got[0]);
}

/* ---- threads ---- */

struct worker {
    const rmcp_plan *plan;
    double scalars[16];
    uint32_t n;
    rmcp_status status;
    float got[TENSORS][N];
};

static void *work(void *context)
{
    struct worker *w = context;
    for (int i = 0; i < 20 && !w->status; i++) {
        struct tensors t = { 0 };
        w->status = begin(&t);
        if (!w->status) w->status = step_with(w->plan, &t, w->scalars, w->n);
        if (!w->status) w->status = fetch(&t, w->got);
        end(&t);
    }
    return NULL;
}

static void test_threads_share_a_plan(void **state)
{
    (void)state;
    static struct worker workers[THREADS], alone;
    pthread_t threads[THREADS];
    rmcp_plan *plan = plan_of("adam:3x37:f32");
    for (int i = 0; i < THREADS; i++) {
        workers[i].plan = plan;
        fill(plan, 1 + 10 * i, workers[i].scalars, &workers[i].n);
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        alone.plan = plan;
        fill(plan, 1 + 10 * i, alone.scalars, &alone.n);
        work(&alone);
        assert_int_equal(workers[i].status, RMCP_OK);
        assert_int_equal(alone.status, RMCP_OK);
        assert_memory_equal(workers[i].got, alone.got, sizeof alone.got);
    }
    rmcp_plan_destroy(plan);
}

/* ---- launches of HIP and CUDA ---- */

static void make(const void *problem, const double *scalars, void *value)
{
    const float made[] = { *(const float *)problem, (float)scalars[1] };
    memcpy((char *)value + sizeof *made, made, sizeof made);
}

/* One value is made for the launch, in a copy; the record and the other arguments stay. */
static void test_arguments_are_made(void **state)
{
    (void)state;
    static struct rmcp_kernel_launch launch;
    const float emitted[] = { 1, 2, 3, 4 }, plain[] = { 5, 6, 7, 8 }, problem = 20;
    const double scalars[RMCP_MOST_SCALARS] = { 0, 30 };
    const rmcp_memory memory[RMCP_MOST_SLOTS] = { { &launch, 64 } };
    rmcp_arg_memory(&launch, 0, 16);
    rmcp_arg_value(&launch, plain, sizeof plain);
    rmcp_arg_made(&launch, emitted, sizeof emitted, make, &problem);
    for (int given = 0; given < 2; given++) {
        const float expected[] = { 1, given ? 20 : 2, given ? 30 : 3, 4 };
        struct rmcp_gpu_params params;
        rmcp_gpu_params_fill(&params, &launch,
                             &(struct rmcp_given){ memory, given ? scalars : NULL });
        assert_int_equal(*(const uint64_t *)params.pointers[1], 80);
        assert_memory_equal(params.pointers[2], plain, sizeof plain);
        assert_memory_equal(params.pointers[3], expected, sizeof expected);
        assert_memory_equal(launch.args[2].value, emitted, sizeof emitted);
    }
}

/* ---- what was measured ---- */

static void test_a_measurement_serves_all_of_them(void **state)
{
    (void)state;
    rmcp_plan *plan = plan_of("adam:3x37:f32:number3"), *other = plan_of("adam:3x37:f32:number4");
    rmcp_plan *another = plan_of("adam:3x38:f32:number3");
    char algorithm[32] = "";
    rmcp_plan_cache_add(device, &plan->request, 0, "reference", 1e-3);
    assert_true(rmcp_plan_cache_find(device, &other->request, 0, algorithm));
    assert_string_equal(algorithm, "reference");
    assert_false(rmcp_plan_cache_find(device, &another->request, 0, algorithm));
    rmcp_plan_destroy(plan);
    rmcp_plan_destroy(other);
    rmcp_plan_destroy(another);
}

int main(int argc, char **argv)
{
    if (rmcp_device_open(argc > 1 ? argv[1] : "cpu", NULL, &device)) {
        fprintf(stderr, "%s\n", rmcp_last_error());
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_plan_does_all_steps),
        cmocka_unit_test(test_what_they_may_be),
        cmocka_unit_test(test_none_are_the_plan_s_own),
        cmocka_unit_test(test_threads_share_a_plan),
        cmocka_unit_test(test_arguments_are_made),
        cmocka_unit_test(test_a_measurement_serves_all_of_them),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    /* With RMCP_CHECK: every execution was compared with a reference of its own scalars. */
    rmcp_check_info check = { .struct_size = sizeof check };
    if (rmcp_check_describe(&check) || check.wrong || (check.on && !check.checked)) {
        fprintf(stderr, "%d checked, first wrong: %s\n", (int)check.checked, check.first);
        failed++;
    }
    rmcp_device_close(device);
    return failed;
}
