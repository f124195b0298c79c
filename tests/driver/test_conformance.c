/* test_conformance.c: what every driver must do, whichever it is: devices, memory, execution,
 * threads, and each of its calls and each allocation failing in turn.
 * Usage: test_conformance SUBJECT [LIBRARY [SKIPPED-TESTS]] */
#include "allocations.h"
#include "conformance.h"
#include "engine/core/device.h"
#include "engine/core/guard.h"
#include "life.h"

#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct subject *subject;
const struct rmcp_driver *driver;
struct life life;

/* ---- help ---- */

static int calm(void **state)
{
    (void)state;
    if (subject->calm) subject->calm();
    setenv("RMCP_GUARD", "0", 1);
    return 0;
}

static rmcp_device *open_device(void)
{
    rmcp_device *device = NULL;
    assert_ok(rmcp_device_open(subject->spec, NULL, &device));
    return device;
}

void conformance_nothing_left(void)
{
    if (subject->faults.live) assert_int_equal(*subject->faults.live, 0);
    if (subject->faults.check) subject->faults.check();
}

void conformance_forget_all(void)
{
    assert_ok(rmcp_guard_forget(NULL)); /* what this process knows */
    subject->forget();
}

static void execute_rightly(rmcp_device *device, const rmcp_plan *plan, void *stream, void *base,
                            unsigned seed, double *seconds)
{
    bool right = false;
    assert_ok(life_execute(device, plan, stream, base, seed, seconds, &right));
    assert_true(right);
}

/* ---- devices ---- */

static void lists_and_describes(void **state)
{
    (void)state;
    enum { MOST = 64 };
    rmcp_device_info list[MOST];
    size_t n_list = MOST, at = 0;
    char why[256] = "";
    uint32_t was_cpu = 0;
    list[0].struct_size = sizeof *list;
    assert_ok(rmcp_device_list(list, &n_list));
    const size_t length = strlen(driver->name);
    while (at < n_list && strncmp(list[at].spec, driver->name, length)) at++;
    const int n = driver->count(why, sizeof why);
    assert_true(n > 0 && at + (size_t)n <= n_list);
    for (int i = 0; i < n; i++, at++) {
        rmcp_device_info info = { .struct_size = sizeof info }, opened = info;
        rmcp_device *device = NULL;
        assert_ok(driver->describe(i, &info));
        assert_true(info.name[0] && info.driver[0]);
        assert_true(info.memory_bytes > 0 && info.compute_units > 0);
        assert_true(list[at].usable);
        assert_string_equal(list[at].name, info.name);
        assert_string_equal(list[at].chip, info.chip);
        assert_string_equal(list[at].driver, info.driver);
        assert_int_equal(list[at].is_cpu, info.is_cpu);
        assert_true(info.is_cpu >= was_cpu); /* processors last */
        was_cpu = info.is_cpu;
        conformance_nothing_left(); /* asking holds nothing */
        assert_ok(rmcp_device_open(list[at].spec, NULL, &device));
        assert_ok(rmcp_device_describe(device, &opened));
        assert_string_equal(opened.spec, list[at].spec);
        assert_string_equal(opened.name, info.name);
        assert_string_equal(rmcp_device_note(device), "");
        rmcp_device_close(device);
    }
    conformance_nothing_left();
}

static void refuses_devices_that_are_not_there(void **state)
{
    (void)state;
    static const char *const numbers[] = { ":999", ":-1", ":x", ":" };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char spec[64];
        rmcp_device *device = (rmcp_device *)spec;
        snprintf(spec, sizeof spec, "%s%s", driver->name, numbers[i]);
        assert_int_equal(rmcp_device_open(spec, NULL, &device), RMCP_E_ARG);
        assert_null(device);
    }
    conformance_nothing_left();
}

static void opens_one_device_twice(void **state)
{
    (void)state;
    rmcp_device *first = open_device(), *second = open_device();
    rmcp_device_close(first);
    assert_ok(rmcp_device_wait(second, NULL));
    assert_ok(life_run(&life));
    assert_ok(rmcp_device_wait(second, NULL));
    rmcp_device_close(second);
    rmcp_device_close(NULL);
    conformance_nothing_left();
}

/* ---- memory ---- */

static void allocates_and_releases(void **state)
{
    (void)state;
    static const uint64_t sizes[] = { 1, 3, 256, 4096, 100001 };
    enum { N = sizeof sizes / sizeof *sizes };
    rmcp_memory memory[N];
    rmcp_device *device = open_device();
    for (int i = 0; i < N; i++) {
        assert_ok(rmcp_buffer_create(device, sizes[i], &memory[i]));
        assert_non_null(memory[i].base);
        assert_int_equal(memory[i].offset, 0);
        for (int j = 0; j < i; j++) assert_ptr_not_equal(memory[i].base, memory[j].base);
    }
    for (int i = 0; i < N; i++) rmcp_buffer_destroy(device, memory[i]);
    rmcp_buffer_destroy(device, (rmcp_memory){ NULL, 0 });
    const uint64_t wrong[] = { 0, UINT64_MAX };
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rmcp_buffer_create(device, wrong[i], &memory[0]), RMCP_E_ARG);
        assert_null(memory[0].base);
    }
    rmcp_device_close(device);
    conformance_nothing_left();
}

static void refuses_too_large_buffers(void **state)
{
    (void)state;
    rmcp_device *device = open_device();
    const uint64_t limit = device->caps.max_buffer_bytes;
    const uint64_t bytes = subject->tells_limit ? limit + 1 : UINT64_C(1) << 62;
    rmcp_memory memory = { device, 1 };
    char number[32];
    assert_int_equal(rmcp_buffer_create(device, bytes, &memory), RMCP_E_NOMEM);
    assert_null(memory.base);
    snprintf(number, sizeof number, "%" PRIu64 " bytes", bytes);
    life_contains(rmcp_last_error(), number);
    snprintf(number, sizeof number, "%" PRIu64, limit);
    if (subject->tells_limit) life_contains(rmcp_last_error(), number);
    /* No harm is done. */
    assert_ok(rmcp_buffer_create(device, 4096, &memory));
    rmcp_buffer_destroy(device, memory);
    rmcp_device_close(device);
    conformance_nothing_left();
}

static void copies_with_offsets(void **state)
{
    (void)state;
    rmcp_device *device = open_device();
    unsigned char out[1000], in[1000];
    rmcp_memory memory;
    assert_ok(rmcp_buffer_create(device, sizeof out, &memory));
    for (size_t i = 0; i < sizeof out; i++) out[i] = (unsigned char)(i * 3);
    assert_ok(rmcp_copy_to_device(device, NULL, memory, out, sizeof out));
    memset(out + 101, 0, 37);
    assert_ok(rmcp_copy_to_device(device, NULL, (rmcp_memory){ memory.base, 101 }, out + 101, 37));
    assert_ok(rmcp_copy_to_host(device, NULL, in, memory, sizeof in));
    assert_memory_equal(in, out, sizeof out);
    assert_ok(rmcp_copy_to_host(device, NULL, in, (rmcp_memory){ memory.base, 999 }, 1));
    assert_int_equal(in[0], out[999]);
    /* Nothing is copied, and nothing from nowhere. */
    assert_ok(rmcp_copy_to_device(device, NULL, memory, in, 0));
    assert_int_equal(rmcp_copy_to_device(device, NULL, memory, NULL, 1), RMCP_E_ARG);
    assert_int_equal(rmcp_copy_to_host(device, NULL, in, (rmcp_memory){ NULL, 0 }, 1), RMCP_E_ARG);
    assert_ok(rmcp_copy_to_host(device, NULL, in, memory, sizeof in));
    assert_memory_equal(in, out, sizeof out);
    rmcp_buffer_destroy(device, memory);
    rmcp_device_close(device);
    conformance_nothing_left();
}

/* ---- execution ---- */

static void executes_and_times(void **state)
{
    (void)state;
    rmcp_device *device = open_device();
    rmcp_plan *plan = NULL;
    rmcp_memory memory;
    assert_ok(life_plan(device, subject->algorithm, &plan));
    assert_ok(rmcp_buffer_create(device, CASE_BYTES, &memory));
    for (unsigned seed = 0; seed < 5; seed++) {
        double seconds = -1;
        execute_rightly(device, plan, NULL, memory.base, seed, &seconds);
        assert_true(seconds > 0 && seconds < 100);
        execute_rightly(device, plan, NULL, memory.base, seed + 100, NULL);
    }
    assert_ok(rmcp_device_wait(device, NULL));
    rmcp_buffer_destroy(device, memory);
    rmcp_plan_destroy(plan);
    rmcp_device_close(device);
    conformance_nothing_left();
}

static void executing_allocates_nothing(void **state)
{
    (void)state;
    rmcp_device *device = open_device();
    rmcp_plan *plan = NULL;
    rmcp_memory memory;
    assert_ok(life_plan(device, subject->algorithm, &plan));
    assert_ok(rmcp_buffer_create(device, CASE_BYTES, &memory));
    execute_rightly(device, plan, NULL, memory.base, 1, NULL);
    const rmcp_conv_tensors tensors = life_tensors(memory.base);
    const long live = subject->faults.live ? *subject->faults.live : 0;
    rmcp_status status = RMCP_OK;
    allocations_arm(1, true);
    for (int i = 0; i < 3 && !status; i++) status = rmcp_conv_execute(plan, NULL, &tensors);
    const long calls = allocations_calls();
    allocations_arm(0, false);
    assert_ok(status);
    assert_int_equal(calls, 0);
    if (subject->faults.live) assert_int_equal(*subject->faults.live, live);
    assert_ok(rmcp_device_wait(device, NULL));
    rmcp_buffer_destroy(device, memory);
    rmcp_plan_destroy(plan);
    rmcp_device_close(device);
    conformance_nothing_left();
}

/* ---- threads ---- */

enum { N_THREADS = 8, N_RUNS = 40 };

struct worker {
    pthread_t thread;
    rmcp_device *device;   /* NULL: open one of its own          */
    const rmcp_plan *plan; /* NULL: make one, all threads at once */
    unsigned seed;
    int failures;
};

static void *work(void *data)
{
    struct worker *worker = data;
    rmcp_device *own_device = NULL;
    rmcp_plan *own = NULL;
    rmcp_memory memory = { 0 };
    rmcp_status status = RMCP_OK;
    if (!worker->device) status = rmcp_device_open(subject->spec, NULL, &own_device);
    rmcp_device *device = worker->device ? worker->device : own_device;
    if (!status && !worker->plan) status = life_plan(device, subject->algorithm, &own);
    if (!status) status = rmcp_buffer_create(device, CASE_BYTES, &memory);
    worker->failures = status != RMCP_OK;
    for (unsigned i = 0; i < N_RUNS && !status; i++) {
        bool right = false;
        double seconds = 0;
        status = life_execute(device, own ? own : worker->plan, NULL, memory.base,
                              worker->seed * N_RUNS + i, i % 8 ? NULL : &seconds, &right);
        worker->failures += status || !right;
    }
    rmcp_plan_destroy(own);
    if (device) rmcp_buffer_destroy(device, memory);
    rmcp_device_close(own_device);
    return NULL;
}

static void run_threads(rmcp_device *device, const rmcp_plan *plan)
{
    struct worker workers[N_THREADS];
    int failures = 0;
    for (unsigned i = 0; i < N_THREADS; i++) {
        workers[i] = (struct worker){ .device = device, .plan = plan, .seed = i };
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < N_THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        failures += workers[i].failures;
    }
    assert_int_equal(failures, 0);
}

static void serves_many_threads(void **state)
{
    (void)state;
    rmcp_device *device = open_device();
    rmcp_plan *plan = NULL;
    run_threads(device, NULL);
    assert_ok(life_plan(device, subject->algorithm, &plan));
    run_threads(device, plan);
    rmcp_plan_destroy(plan);
    rmcp_device_close(device);
    run_threads(NULL, NULL); /* each with a device of its own */
    conformance_nothing_left();
}

/* ---- beside the caller's work ---- */

/* On a stream of our own, from allocating to reading back. */
static void work_aside(rmcp_device *device)
{
    struct rmcp_side side = { 0 };
    rmcp_plan *plan = NULL;
    rmcp_memory memory = { 0 };
    const long live = subject->faults.live ? *subject->faults.live : 0;
    assert_ok(driver->side_begin(device, &side));
    assert_non_null(side.stream);
    assert_ok(rmcp_buffer_create(device, CASE_BYTES, &memory));
    assert_ok(life_plan(device, subject->algorithm, &plan));
    execute_rightly(device, plan, side.stream, memory.base, 3, NULL);
    assert_ok(rmcp_device_wait(device, side.stream));
    rmcp_plan_destroy(plan);
    rmcp_buffer_destroy(device, memory);
    driver->side_end(device, &side);
    if (subject->faults.live) assert_true(*subject->faults.live <= live + 1); /* the kernel */
}

static void works_aside(void **state)
{
    (void)state;
    assert_int_equal(!driver->side_begin, !driver->side_end);
    if (!driver->side_begin) skip();
    rmcp_device *device = open_device();
    work_aside(device);
    work_aside(device);
    rmcp_device_close(device);
    conformance_nothing_left();
}

/* Planning by estimate, executing, allocating, and whatever is done aside are legal in a capture.
 */
static void disturbs_no_capture(void **state)
{
    (void)state;
    const struct faults *f = &subject->faults;
    if (!f->capturing) skip();
    rmcp_device *device = open_device();
    rmcp_memory memory, more;
    rmcp_plan *plan = NULL;
    assert_ok(rmcp_buffer_create(device, CASE_BYTES, &memory));
    const rmcp_conv_tensors tensors = life_tensors(memory.base);
    *f->capturing = 1;
    assert_ok(life_plan(device, subject->algorithm, &plan));
    assert_ok(rmcp_conv_execute(plan, NULL, &tensors));
    work_aside(device);
    rmcp_plan_destroy(plan);
    if (driver->guarded) { /* first use is tried aside, too */
        unsetenv("RMCP_GUARD");
        conformance_forget_all();
        assert_ok(life_plan(device, subject->algorithm, &plan));
        assert_ok(rmcp_conv_execute(plan, NULL, &tensors));
        rmcp_plan_destroy(plan);
    }
    assert_ok(rmcp_buffer_create(device, 16, &more));
    assert_int_equal(*f->violations, 0);
    /* What is not legal is refused, and the device is none the worse. */
    assert_int_equal(rmcp_device_wait(device, NULL), RMCP_E_DEVICE);
    assert_true(*f->violations > 0);
    *f->capturing = 0;
    assert_ok(rmcp_device_wait(device, NULL));
    rmcp_buffer_destroy(device, more);
    rmcp_buffer_destroy(device, memory);
    rmcp_device_close(device);
    conformance_nothing_left();
}

int main(int argc, char **argv)
{
    struct subject *const subjects[] = { &subject_cpu, &subject_opencl, &subject_fake_opencl,
                                         &subject_fake_cuda, &subject_fake_hip };
    char why[512] = "";
    for (size_t i = 0; argc > 1 && i < sizeof subjects / sizeof *subjects; i++)
        if (!strcmp(argv[1], subjects[i]->name)) subject = subjects[i];
    if (!subject) {
        fprintf(stderr, "usage: test_conformance SUBJECT [LIBRARY [SKIPPED-TESTS]]\n");
        return 99;
    }
    if (!subject->begin(argc > 2 ? argv[2] : NULL, why, sizeof why)) {
        printf("skipped: %s\n", why);
        return 77;
    }
    for (size_t i = 0; rmcp_drivers[i]; i++)
        if (!strncmp(rmcp_drivers[i]->name, subject->spec, strcspn(subject->spec, ":")))
            driver = rmcp_drivers[i];
    life = (struct life){ subject->spec, subject->algorithm, subject->faults.calls,
                          subject->faults.code };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(lists_and_describes, calm),
        cmocka_unit_test_setup(refuses_devices_that_are_not_there, calm),
        cmocka_unit_test_setup(opens_one_device_twice, calm),
        cmocka_unit_test_setup(allocates_and_releases, calm),
        cmocka_unit_test_setup(refuses_too_large_buffers, calm),
        cmocka_unit_test_setup(copies_with_offsets, calm),
        cmocka_unit_test_setup(executes_and_times, calm),
        cmocka_unit_test_setup(executing_allocates_nothing, calm),
        cmocka_unit_test_setup(serves_many_threads, calm),
        cmocka_unit_test_setup(works_aside, calm),
        cmocka_unit_test_setup(disturbs_no_capture, calm),
        cmocka_unit_test_setup(fails_cleanly_wherever_a_call_fails, calm),
        cmocka_unit_test_setup(fails_cleanly_in_the_first_use, calm),
        cmocka_unit_test_setup(fails_cleanly_wherever_memory_runs_out, calm),
    };
    if (argc > 3) cmocka_set_skip_filter(argv[3]);
    const int failures = cmocka_run_group_tests_name(subject->name, tests, NULL, NULL);
    if (subject->end) subject->end();
    return failures;
}
