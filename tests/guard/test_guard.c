/* test_guard.c: first use of algorithms, guarded and remembered, on a fake HIP library that can run
 * `direct` in f32 and gives nonsense for all others. Usage: test_guard libfake_hip.so */
#include "core/guard.h"
#include "core/plan.h"
#include "hip_world.h"
#include "opencl_case.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static void contains(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("'%s' is not in '%s'", part, text);
}

static const struct rmcp_algo *algo_named(const char *name)
{
    for (size_t i = 0; rmcp_algos[i]; i++)
        if (!strcmp(rmcp_algos[i]->name, name)) return rmcp_algos[i];
    fail_msg("no algorithm %s", name);
    return NULL;
}

static rmcp_device *open_card(void)
{
    rmcp_device *device = NULL;
    if (rmcp_device_open("hip", NULL, &device)) fail_msg("%s", rmcp_last_error());
    return device;
}

static int begin(void **state)
{
    (void)state;
    world_calm();
    world_no_sysfs();
    world_node(1, 100100, 3);
    world_devices("gfx1010 0000:03:00.0");
    assert_int_equal(rmcp_guard_forget(NULL), RMCP_OK); /* what this process knows */
    world_forget();
    return 0;
}

static rmcp_status plan(rmcp_device *device, const char *algorithm, char chosen[32])
{
    rmcp_plan *made = NULL;
    const rmcp_plan_options options = { .struct_size = sizeof options, .algorithm = algorithm };
    rmcp_status status = rmcp_plan_create(device, &case_problem, RMCP_FORWARD, &options, &made);
    snprintf(chosen, 32, "%s", rmcp_plan_algorithm(made));
    rmcp_plan_destroy(made);
    return status;
}

static struct rmcp_guard_finding look(const rmcp_device *device, const char *algorithm)
{
    return rmcp_guard_look(&device->info, algo_named(algorithm), RMCP_F32);
}

static void tries_once_and_remembers(void **state)
{
    (void)state;
    char chosen[32];
    rmcp_device *device = open_card();
    assert_int_equal(look(device, "direct").state, RMCP_GUARD_UNTRIED);
    assert_int_equal(plan(device, "direct", chosen), RMCP_OK);
    assert_true(fake->launches > 0);
    assert_int_equal(look(device, "direct").state, RMCP_GUARD_GOOD);
    const long launches = fake->launches, waits = fake->waits;
    assert_int_equal(plan(device, "direct", chosen), RMCP_OK);
    assert_int_equal(fake->launches, launches);
    assert_int_equal(fake->waits, waits);
    assert_int_equal(rmcp_guard_look(&device->info, algo_named("direct"), RMCP_F16).state,
                     RMCP_GUARD_UNTRIED);
    /* Another driver is another story. */
    rmcp_device_info other = device->info;
    snprintf(other.driver, sizeof other.driver, "HIP 9.9.9");
    assert_int_equal(rmcp_guard_look(&other, algo_named("direct"), RMCP_F32).state,
                     RMCP_GUARD_UNTRIED);
    assert_string_equal(rmcp_guard_remark(), "");
    rmcp_device_close(device);
    assert_int_equal(fake->live, 0);
}

static void passes_over_what_is_wrong(void **state)
{
    (void)state;
    char chosen[32];
    rmcp_device *device = open_card();
    assert_int_equal(plan(device, "implicit_gemm", chosen), RMCP_E_UNSUPPORTED);
    contains(rmcp_last_error(), "wrong result in n1c8h9w7k24r3s3p1:f32:nchw:fwd");
    contains(rmcp_last_error(), "rmcp devices --forget");
    assert_int_equal(look(device, "implicit_gemm").state, RMCP_GUARD_BAD);
    /* Nobody launches it again, and others do the work. */
    const long launches = fake->launches;
    assert_int_equal(plan(device, "implicit_gemm", chosen), RMCP_E_UNSUPPORTED);
    assert_int_equal(fake->launches, launches);
    assert_int_equal(plan(device, NULL, chosen), RMCP_OK);
    assert_string_equal(chosen, "direct");
    rmcp_candidate list[RMCP_MOST_ALGOS] = { { .struct_size = sizeof *list } };
    size_t n = RMCP_MOST_ALGOS;
    assert_int_equal(rmcp_plan_candidates(device, &case_problem, RMCP_FORWARD, NULL, list, &n),
                     RMCP_OK);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i].algorithm, "implicit_gemm")) contains(list[i].refusal, "wrong result");
    assert_int_equal(rmcp_guard_forget(&device->info), RMCP_OK);
    assert_int_equal(look(device, "implicit_gemm").state, RMCP_GUARD_UNTRIED);
    assert_int_equal(look(device, "direct").state, RMCP_GUARD_UNTRIED);
    rmcp_device_close(device);
    assert_int_equal(fake->live, 0);
}

static void falls_to_the_next_at_first_use(void **state)
{
    (void)state;
    /* Large enough for the matrix product to look faster. */
    const rmcp_problem large = { .struct_size = sizeof large,
                                 .n = 4,
                                 .c = 64,
                                 .k = 64,
                                 .input = { 28, 28 },
                                 .filter = { 3, 3 },
                                 .pad_begin = { 1, 1 },
                                 .pad_end = { 1, 1 } };
    rmcp_device *device = open_card();
    for (unsigned effort = RMCP_ESTIMATE; effort <= RMCP_MEASURE; effort++) {
        rmcp_plan *made = NULL;
        const rmcp_plan_options options = { .struct_size = sizeof options, .effort = effort };
        assert_int_equal(rmcp_plan_create(device, &large, RMCP_FORWARD, &options, &made), RMCP_OK);
        assert_string_equal(rmcp_plan_algorithm(made), "direct");
        rmcp_plan_destroy(made);
        assert_int_equal(look(device, "implicit_gemm").state, RMCP_GUARD_BAD);
        assert_int_equal(rmcp_guard_forget(NULL), RMCP_OK);
    }
    rmcp_device_close(device);
    assert_int_equal(fake->live, 0);
}

/* Make a plan in a process that is killed in the middle of first use; `*seen` is what others see
 * meanwhile. */
static void die_at_first_use(enum rmcp_guard_state *seen)
{
    const char *path = "/tmp/rmcp-test-guard-launched";
    char chosen[32];
    rmcp_device *device = open_card();
    remove(path);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv("FAKE_HIP_HANG", path, 1);
        plan(device, "direct", chosen);
        _exit(0);
    }
    struct stat status;
    while (stat(path, &status)) nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
    *seen = look(device, "direct").state;
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    remove(path);
    rmcp_device_close(device);
}

static void skips_what_a_process_died_of(void **state)
{
    (void)state;
    char chosen[32];
    enum rmcp_guard_state seen;
    die_at_first_use(&seen);
    assert_int_equal(seen, RMCP_GUARD_TRYING); /* alive, so not yet a crash */
    rmcp_device *device = open_card();
    assert_int_equal(look(device, "direct").state, RMCP_GUARD_CRASHED);
    assert_int_equal(plan(device, "direct", chosen), RMCP_E_UNSUPPORTED);
    contains(rmcp_last_error(),
             "ended or the machine stopped while it was tried for the first time");
    contains(rmcp_last_error(), "UTC");
    assert_int_equal(fake->launches, 0);
    assert_int_equal(rmcp_guard_forget(&device->info), RMCP_OK);
    assert_int_equal(plan(device, "direct", chosen), RMCP_OK);
    assert_int_equal(look(device, "direct").state, RMCP_GUARD_GOOD);
    rmcp_device_close(device);
}

static void survives_a_damaged_record(void **state)
{
    (void)state;
    char chosen[32], path[512], host[64] = "";
    enum rmcp_guard_state seen;
    die_at_first_use(&seen);
    gethostname(host, sizeof host - 1);
    for (char *c = host; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", *c))
            *c = '_';
    snprintf(path, sizeof path, "%s/rmcp/first_use/%s.txt", getenv("XDG_CACHE_HOME"), host);
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    for (int i = 0; i < 3000; i++) fputc(i % 256, file);
    fputs("0123456789abcdef * * * good 1 1 forged\nhalf a line", file);
    fclose(file);
    rmcp_device *device = open_card();
    assert_int_equal(look(device, "direct").state, RMCP_GUARD_CRASHED);
    assert_int_equal(rmcp_guard_forget(NULL), RMCP_OK); /* after the torn line */
    assert_int_equal(plan(device, "direct", chosen), RMCP_OK);
    rmcp_device_close(device);
}

static void works_without_a_place_to_remember(void **state)
{
    (void)state;
    char chosen[32], *cache = strdup(getenv("XDG_CACHE_HOME"));
    setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
    rmcp_device *device = open_card();
    assert_int_equal(plan(device, "direct", chosen), RMCP_OK);
    assert_int_equal(look(device, "direct").state, RMCP_GUARD_GOOD);
    contains(rmcp_guard_remark(), "cannot be written");
    assert_int_equal(rmcp_guard_forget(NULL), RMCP_E_IO);
    rmcp_device_close(device);
    setenv("XDG_CACHE_HOME", cache, 1);
    free(cache);
}

static void can_be_switched_off(void **state)
{
    (void)state;
    char chosen[32];
    rmcp_device *device = open_card();
    setenv("RMCP_GUARD", "0", 1);
    assert_int_equal(plan(device, "implicit_gemm", chosen), RMCP_OK);
    assert_int_equal(fake->launches, 0);
    unsetenv("RMCP_GUARD");
    assert_int_equal(look(device, "implicit_gemm").state, RMCP_GUARD_UNTRIED);
    rmcp_device_close(device);
}

/* An error that is not the algorithm's fault is not held against it. */
static void blames_only_the_algorithm(void **state)
{
    (void)state;
    char chosen[32];
    rmcp_device *device = open_card();
    rmcp_memory all;
    assert_int_equal(rmcp_buffer_create(device, FAKE_HIP_MEMORY - 16, &all), RMCP_OK);
    assert_int_equal(plan(device, "direct", chosen), RMCP_E_NOMEM);
    contains(rmcp_last_error(), "direct could not be tried");
    assert_int_equal(look(device, "direct").state, RMCP_GUARD_UNTRIED);
    rmcp_buffer_destroy(device, all);
    assert_int_equal(plan(device, "direct", chosen), RMCP_OK);
    assert_int_equal(rmcp_guard_forget(NULL), RMCP_OK);
    fake->fail_launch = 719; /* this one is: the device is lost by it */
    assert_int_equal(plan(device, "direct", chosen), RMCP_E_UNSUPPORTED);
    assert_int_equal(look(device, "direct").state, RMCP_GUARD_BAD);
    assert_int_equal(plan(device, NULL, chosen), RMCP_E_LOST);
    rmcp_device_close(device);
    assert_int_equal(fake->live, 0);
}

static void *plan_in_thread(void *device)
{
    char chosen[32];
    return plan(device, "direct", chosen) ? device : NULL;
}

static void tries_once_for_many_threads(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    rmcp_device *device = open_card();
    plan_in_thread(device);
    const long once = fake->launches;
    assert_int_equal(rmcp_guard_forget(NULL), RMCP_OK);
    fake->launches = 0;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, plan_in_thread, device), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    assert_int_equal(fake->launches, once);
    rmcp_device_close(device);
    assert_int_equal(fake->live, 0);
}

int main(int argc, char **argv)
{
    if (argc < 2 || !world_begin(argv[1])) return 99;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(tries_once_and_remembers, begin),
        cmocka_unit_test_setup(passes_over_what_is_wrong, begin),
        cmocka_unit_test_setup(falls_to_the_next_at_first_use, begin),
        cmocka_unit_test_setup(skips_what_a_process_died_of, begin),
        cmocka_unit_test_setup(survives_a_damaged_record, begin),
        cmocka_unit_test_setup(can_be_switched_off, begin),
        cmocka_unit_test_setup(blames_only_the_algorithm, begin),
        cmocka_unit_test_setup(tries_once_for_many_threads, begin),
        cmocka_unit_test_setup(works_without_a_place_to_remember, begin),
    };
    const int failures = cmocka_run_group_tests(tests, NULL, NULL);
    world_end();
    return failures;
}
