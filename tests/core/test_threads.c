/* test_threads.c: a plan executed from many threads, plans made and destroyed side by side on one
 * device, and a message per thread. Also run under ThreadSanitizer. */
#include "support.h"

#include "base/convert.h"
#include "base/random.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_THREADS = 8, N_ROUNDS = 6 };

/* cmocka's asserts belong to the main thread; the others report by a text. */
struct worker {
    pthread_t thread;
    pthread_barrier_t *start;
    int index;
    rmcp_device *device;
    rmcp_conv problem;
    const rmcp_plan *plan;
    char wrong[600];
};

static void complain(struct worker *w, const char *what)
{
    if (!*w->wrong) snprintf(w->wrong, sizeof w->wrong, "%s: %s", what, rmcp_last_error());
}

/* The memory of one execution of a plan, inputs drawn from `seed`. */
struct job {
    rmcp_device *device;
    rmcp_memory memory[RMCP_MOST_SLOTS];
    uint64_t bytes[RMCP_MOST_SLOTS];
    int out;
};

static bool job_init(struct job *j, rmcp_device *device, const rmcp_plan *plan, uint64_t seed)
{
    const struct rmcp_convolution *conv = plan->request.problem;
    *j = (struct job){ .device = device, .out = (int)rmcp_conv_output_slot(conv) };
    j->bytes[RMCP_SLOT_WORKSPACE] = rmcp_plan_workspace(plan);
    struct rmcp_random r = { seed };
    for (int slot = 0; slot < RMCP_MOST_SLOTS; slot++) {
        const int64_t n = rmcp_conv_elements(conv, (unsigned)slot);
        if (slot != RMCP_SLOT_WORKSPACE) j->bytes[slot] = (uint64_t)n * rmcp_type_bytes(conv->type);
        if (!j->bytes[slot]) continue;
        if (rmcp_buffer_create(device, j->bytes[slot], &j->memory[slot])) return false;
        void *data = calloc(1, j->bytes[slot]);
        if (!data) return false;
        for (int64_t i = 0; i < n; i++) rmcp_store(data, conv->type, i, rmcp_random_real(&r));
        rmcp_status status =
            rmcp_copy_to_device(device, NULL, j->memory[slot], data, j->bytes[slot]);
        free(data);
        if (status) return false;
    }
    return true;
}

static void job_deinit(struct job *j)
{
    for (int slot = 0; slot < RMCP_MOST_SLOTS; slot++)
        rmcp_buffer_destroy(j->device, j->memory[slot]);
}

/* Executes and copies the output to `result`, which has room for it. */
static rmcp_status job_run(const struct job *j, const rmcp_plan *plan, void *result)
{
    const rmcp_conv_tensors tensors = {
        .struct_size = sizeof tensors,
        .x = j->memory[RMCP_CONV_X],
        .w = j->memory[RMCP_CONV_W],
        .y = j->memory[RMCP_CONV_Y],
        .bias = j->memory[RMCP_CONV_BIAS],
        .workspace = j->memory[RMCP_SLOT_WORKSPACE],
        .workspace_bytes = j->bytes[RMCP_SLOT_WORKSPACE],
    };
    rmcp_status status = rmcp_conv_execute(plan, NULL, &tensors);
    if (!status) status = rmcp_device_wait(j->device, NULL);
    if (!status)
        status = rmcp_copy_to_host(j->device, NULL, result, j->memory[j->out], j->bytes[j->out]);
    return status;
}

/* Runs `work` in all threads at once and fails with the first complaint. */
static void run_workers(struct worker *workers, void *(*work)(void *))
{
    pthread_barrier_t start;
    assert_int_equal(pthread_barrier_init(&start, NULL, N_THREADS), 0);
    for (int i = 0; i < N_THREADS; i++) {
        workers[i].index = i;
        workers[i].start = &start;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < N_THREADS; i++) pthread_join(workers[i].thread, NULL);
    pthread_barrier_destroy(&start);
    for (int i = 0; i < N_THREADS; i++)
        if (*workers[i].wrong) fail_msg("thread %d: %s", i, workers[i].wrong);
}

/* ---- one plan, many threads ---- */

/* Every thread has its own tensors (seed = index); the bits must be those of running alone. */
static void *execute_many_times(void *argument)
{
    struct worker *w = argument;
    struct job job;
    const bool ready = job_init(&job, w->device, w->plan, (uint64_t)w->index + 1);
    if (!ready) complain(w, "no memory");
    const size_t bytes = (size_t)job.bytes[job.out];
    unsigned char *results = malloc((N_ROUNDS + 1) * bytes + 1);
    if (!results) complain(w, "no memory");
    pthread_barrier_wait(w->start);
    for (int i = 0; i < N_ROUNDS && !*w->wrong; i++)
        if (job_run(&job, w->plan, results + (size_t)i * bytes)) complain(w, "execution");
    pthread_barrier_wait(w->start); /* all others are done */
    unsigned char *alone = results + N_ROUNDS * bytes;
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&one_at_a_time);
    if (!*w->wrong && job_run(&job, w->plan, alone)) complain(w, "execution alone");
    pthread_mutex_unlock(&one_at_a_time);
    for (int i = 0; i < N_ROUNDS && !*w->wrong; i++)
        if (memcmp(results + (size_t)i * bytes, alone, bytes))
            snprintf(w->wrong, sizeof w->wrong, "round %d has other bits than alone", i);
    free(results);
    job_deinit(&job);
    return NULL;
}

static const char *const cases[] = {
    "n1c16h12w12k16r3s3p1:bias:relu",
    "n1c8h12w12k16r3s3p1:f16:nhwc",
    "n1c8h9w9k8r3s3p1u2g4:bf16",
};

static void test_one_plan_from_many_threads(void **state)
{
    for (size_t c = 0; c < SUPPORT_LENGTH(cases); c++)
        for (int pass = 0; pass < RMCP_CONV_PASSES; pass++)
            for (size_t a = 0; rmcp_algos_conv[a]; a++) {
                const rmcp_conv problem = support_case(cases[c], NULL);
                const rmcp_plan_options options = { .struct_size = sizeof options,
                                                    .algorithm = rmcp_algos_conv[a]->name };
                rmcp_plan *plan = NULL;
                rmcp_status status =
                    rmcp_conv_plan(*state, &problem, (rmcp_conv_pass)pass, &options, &plan);
                if (status == RMCP_E_UNSUPPORTED) continue;
                if (status) fail_msg("%s", rmcp_last_error());
                struct worker workers[N_THREADS];
                memset(workers, 0, sizeof workers);
                for (int i = 0; i < N_THREADS; i++) {
                    workers[i].device = *state;
                    workers[i].plan = plan;
                }
                run_workers(workers, execute_many_times);
                rmcp_plan_destroy(plan);
            }
}

/* ---- plans come and go ---- */

static void *make_and_destroy(void *argument)
{
    struct worker *w = argument;
    pthread_barrier_wait(w->start);
    for (int i = 0; i < N_ROUNDS && !*w->wrong; i++) {
        rmcp_plan *plan = NULL;
        const rmcp_conv_pass pass = (rmcp_conv_pass)((w->index + i) % RMCP_CONV_PASSES);
        const rmcp_plan_options options = { .struct_size = sizeof options,
                                            .effort = i == 0 ? RMCP_MEASURE : RMCP_ESTIMATE };
        if (rmcp_conv_plan(w->device, &w->problem, pass, &options, &plan)) {
            complain(w, "plan");
            break;
        }
        struct job job;
        void *result = NULL;
        if (!job_init(&job, w->device, plan, 1) || !(result = malloc((size_t)job.bytes[job.out])))
            complain(w, "no memory");
        else if (job_run(&job, plan, result))
            complain(w, "execution");
        free(result);
        job_deinit(&job);
        rmcp_plan_destroy(plan);
    }
    return NULL;
}

static void test_plans_made_and_destroyed_side_by_side(void **state)
{
    struct worker workers[N_THREADS];
    memset(workers, 0, sizeof workers);
    for (int i = 0; i < N_THREADS; i++) {
        workers[i].device = *state;
        workers[i].problem = support_case(cases[(size_t)i % SUPPORT_LENGTH(cases)], NULL);
    }
    run_workers(workers, make_and_destroy);
}

/* The very first use of the library may come from many threads at once. */
static void *open_and_close(void *argument)
{
    struct worker *w = argument;
    pthread_barrier_wait(w->start);
    for (int i = 0; i < N_ROUNDS && !*w->wrong; i++) {
        rmcp_device *device = NULL;
        rmcp_device_info info = { .struct_size = sizeof info };
        rmcp_conv problem = { .struct_size = sizeof problem };
        if (rmcp_device_open("cpu", NULL, &device) || rmcp_device_describe(device, &info))
            complain(w, "open");
        if (rmcp_conv_parse("c1w1k1:leaky0.5", &problem, NULL)) complain(w, "parse");
        rmcp_device_close(device);
    }
    return NULL;
}

static void test_devices_opened_side_by_side(void **state)
{
    (void)state;
    struct worker workers[N_THREADS];
    memset(workers, 0, sizeof workers);
    run_workers(workers, open_and_close);
}

/* ---- messages ---- */

static void *fail_in_its_own_way(void *argument)
{
    struct worker *w = argument;
    char expected[64], message[512];
    snprintf(expected, sizeof expected, "n is -%d; it must be at least 1", w->index + 1);
    if (*rmcp_last_error()) complain(w, "a new thread has a message already");
    rmcp_conv problem = { .struct_size = sizeof problem, .n = -(w->index + 1) };
    rmcp_conv_info shape = { .struct_size = sizeof shape };
    for (int i = 0; i < 100; i++) {
        rmcp_status status = rmcp_conv_describe(&problem, &shape);
        pthread_barrier_wait(w->start); /* all have failed by now */
        snprintf(message, sizeof message, "%s", rmcp_last_error());
        if (status != RMCP_E_ARG || strcmp(message, expected)) complain(w, expected);
        pthread_barrier_wait(w->start);
    }
    return NULL;
}

static void test_each_thread_has_its_own_message(void **state)
{
    (void)state;
    rmcp_device *device = NULL;
    assert_int_equal(rmcp_device_open("nosuch", NULL, &device), RMCP_E_ARG);
    char before[512];
    snprintf(before, sizeof before, "%s", rmcp_last_error());
    struct worker workers[N_THREADS];
    memset(workers, 0, sizeof workers);
    run_workers(workers, fail_in_its_own_way);
    assert_string_equal(rmcp_last_error(), before);
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices_opened_side_by_side),
        cmocka_unit_test(test_each_thread_has_its_own_message),
        cmocka_unit_test_setup_teardown(test_one_plan_from_many_threads, open_device, close_device),
        cmocka_unit_test_setup_teardown(test_plans_made_and_destroyed_side_by_side, open_device,
                                        close_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
