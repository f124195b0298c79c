/* test_endurance.c: the drop-in in long and crowded use: a thousand handles, sixteen threads, ten
 * thousand steps of training without growth, processes that fork. usage: test_endurance
 * cpu|FAKE-HIP-LIBRARY [PATTERN] */
#include "hostile.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1, STEPS = 200 };
#else
enum { SANITIZED = 0, STEPS = 10000 };
#endif
enum { FIRST_STEPS = STEPS / 10, N_HANDLES = 1000, N_THREADS = 16, ROUNDS = 20 };

/* ---- many handles ---- */

static void a_thousand_handles(void **state)
{
    static miopenHandle_t handles[N_HANDLES];
    struct client_conv conv;
    (void)state;
    hostile_conv(&conv, &hostile_shape, 5);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < N_HANDLES; i++) {
            GOOD(miopenCreate(&handles[i]));
            for (int j = i - 1; j >= 0 && j > i - 20; j--)
                assert_ptr_not_equal(handles[i], handles[j]);
            if (i % 100 == 0) {
                GOOD(client_immediate(handles[i], &conv, CLIENT_FORWARD, false));
                hostile_assert_right(&conv, CLIENT_FORWARD);
            }
        }
        /* In another order than they came. */
        for (int i = 0; i < N_HANDLES; i++) GOOD(miopenDestroy(handles[i * 7 % N_HANDLES]));
        for (int i = 0; i < N_HANDLES; i++) BAD_PARM(miopenSetStream(handles[i], NULL));
    }
    client_conv_deinit(&conv);
}

/* ---- threads ---- */

struct worker {
    pthread_t thread;
    miopenHandle_t shared; /* NULL: a handle of its own */
    unsigned number;
    int status;  /* the first that is no success */
    long wrong;  /* results */
    int n_calls; /* that were made */
};

static bool is_same(const struct client_conv *conv, const float *expected, float *got)
{
    const size_t bytes = conv->n_y * sizeof *expected;
    client_read(got, conv->y, bytes);
    return !hostile_computes || !memcmp(got, expected, bytes);
}

/* Threads share no memory but the handle; cmocka's assertions are for the main thread. */
static void *work(void *argument)
{
    struct worker *w = argument;
    static const int sizes[] = { 5, 7, 9, 12 };
    struct client_shape shape = hostile_shape;
    miopenHandle_t handle = w->shared;
    struct client_conv conv;
    shape.h = sizes[w->number % 4];
    if (!handle) w->status = miopenCreate(&handle);
    if (w->status || !client_conv_init(&conv, &shape)) {
        if (!w->status) w->status = miopenStatusAllocFailed;
        return NULL;
    }
    float *host = calloc(conv.n_x + conv.n_w + 2 * conv.n_y, sizeof *host);
    if (!host) abort();
    for (size_t i = 0; i < conv.n_x + conv.n_w; i++) host[i] = (float)((i + w->number) % 5) - 2;
    client_write(conv.x, host, conv.n_x * sizeof *host);
    client_write(conv.w, host + conv.n_x, conv.n_w * sizeof *host);
    float *expected = host + conv.n_x + conv.n_w;
    for (int round = 0; round < ROUNDS && !w->status; round++) {
        w->status = client_describe(&conv);
        if (!w->status) w->status = miopenSetStream(handle, NULL);
        if (!w->status) w->status = client_immediate(handle, &conv, CLIENT_FORWARD, false);
        if (!round) client_read(expected, conv.y, conv.n_y * sizeof *host);
        w->wrong += !is_same(&conv, expected, expected + conv.n_y);
        client_forget(&conv);
        w->n_calls++;
    }
    free(host);
    client_conv_deinit(&conv);
    if (!w->shared && !w->status) w->status = miopenDestroy(handle);
    return NULL;
}

static void run_threads(miopenHandle_t shared)
{
    struct worker workers[N_THREADS] = { 0 };
    for (unsigned i = 0; i < N_THREADS; i++) {
        workers[i] = (struct worker){ .shared = shared, .number = i };
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < N_THREADS; i++) pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < N_THREADS; i++) {
        assert_int_equal(workers[i].status, miopenStatusSuccess);
        assert_int_equal(workers[i].wrong, 0);
        assert_int_equal(workers[i].n_calls, ROUNDS);
    }
}

static void threads_with_handles_of_their_own(void **state)
{
    (void)state;
    run_threads(NULL);
    hostile_assert_well();
}

static void threads_that_share_a_handle(void **state)
{
    miopenHandle_t handle = NULL;
    (void)state;
    GOOD(miopenCreate(&handle));
    run_threads(handle);
    GOOD(miopenDestroy(handle));
}

/* ---- ten thousand steps ---- */

/* Kilobytes of memory that the process holds. */
static long resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d %ld", &pages), 1);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* As PyTorch trains: descriptors anew for each call, the stream set before it. */
static void step(miopenHandle_t handle, struct client_conv *conv, const struct client_norm *norm)
{
    for (int pass = 0; pass < CLIENT_PASSES; pass++) {
        GOOD(miopenSetStream(handle, NULL));
        GOOD(client_describe(conv));
        GOOD(client_immediate(handle, conv, (enum client_pass)pass, false));
        client_forget(conv);
    }
    GOOD(client_norm_train(handle, norm));
    GOOD(client_norm_backward(handle, norm));
}

static void training_does_not_grow(void **state)
{
    miopenHandle_t handle = NULL;
    struct client_conv conv;
    struct client_norm norm;
    struct client_shape shape = hostile_shape;
    long early = 0;
    (void)state;
    shape.n = 1, shape.c = 4, shape.k = 4, shape.h = shape.w = 6;
    GOOD(miopenCreate(&handle));
    hostile_conv(&conv, &shape, 9);
    client_forget(&conv);
    assert_true(client_norm_init(&norm, 1, 4, 6, 6, miopenFloat));
    float data[144];
    for (size_t i = 0; i < LENGTH(data); i++) data[i] = (float)(i % 7);
    client_write(norm.x, data, sizeof data);
    client_write(norm.dy, data, sizeof data);
    for (int i = 0; i < STEPS; i++) {
        if (i == FIRST_STEPS) early = resident();
        step(handle, &conv, &norm);
    }
    const long late = resident();
    print_message("%ld KiB after %d steps, %ld KiB after %d\n", early, (int)FIRST_STEPS, late,
                  (int)STEPS);
    if (!SANITIZED && late > early + 256) fail_msg("grew by %ld KiB", late - early);
    client_norm_deinit(&norm);
    client_conv_deinit(&conv);
    GOOD(miopenDestroy(handle));
}

/* Find mode, and shapes that never come again. */
static void ever_new_shapes_do_not_grow_much(void **state)
{
    miopenHandle_t handle = NULL;
    long early = 0;
    enum { SHAPES = SANITIZED ? 100 : 2000 };
    (void)state;
    GOOD(miopenCreate(&handle));
    for (int i = 0; i < SHAPES; i++) {
        struct client_shape shape = hostile_shape;
        struct client_conv conv;
        int algorithm = -1;
        shape.n = 1, shape.c = 4, shape.k = 4;
        shape.h = 5 + i % 40, shape.w = 5 + i / 40;
        if (i == SHAPES / 2) early = resident();
        assert_true(client_conv_init(&conv, &shape));
        GOOD(client_describe(&conv));
        GOOD(client_immediate(handle, &conv, CLIENT_FORWARD, false));
        if (i % 20 == 0) {
            GOOD(client_find(handle, &conv, CLIENT_FORWARD, &algorithm));
            GOOD(client_found(handle, &conv, CLIENT_FORWARD, algorithm));
        }
        client_conv_deinit(&conv);
    }
    const long late = resident();
    print_message("%ld KiB after %d shapes, %ld KiB after %d\n", early, (int)SHAPES / 2, late,
                  (int)SHAPES);
    /* What is remembered of a shape must be small: 64 KiB each would be 64 MiB in a thousand. */
    if (!SANITIZED && late > early + 32 * 1024) fail_msg("grew by %ld KiB", late - early);
    GOOD(miopenDestroy(handle));
}

/* ---- forking ---- */

/* Run `child` in a child process, which has half a minute; its exit status. */
static int forked(int (*child)(void))
{
    int status = -1;
    fflush(NULL);
    const pid_t process = fork();
    assert_true(process >= 0);
    if (!process) {
        alarm(30);
        exit(child());
    }
    assert_int_equal(waitpid(process, &status, 0), process);
    if (WIFSIGNALED(status)) fail_msg("the child ends with signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

/* A worker of a DataLoader: does something else, and ends as programs do. */
static int touch_nothing(void)
{
    void *memory = malloc(1 << 20);
    free(memory);
    return memory ? 17 : 1;
}

static int create_one(void)
{
    miopenHandle_t handle = NULL;
    const int status = miopenCreate(&handle);
    if (!status) miopenDestroy(handle);
    return status;
}

static miopenHandle_t inherited;
static int use_inherited(void)
{
    struct client_conv conv = { .shape = hostile_shape, .out_h = 9, .out_w = 7 };
    miopenConvSolution_t solution;
    if (client_describe(&conv)) return 100; /* descriptors are no device's */
    const int status = client_solution(inherited, &conv, CLIENT_FORWARD, true, &solution);
    client_forget(&conv);
    return status;
}

static void processes_that_fork(void **state)
{
    (void)state;
    hostile_assert_well();
    GOOD(miopenCreate(&inherited));
    assert_int_equal(forked(touch_nothing), 17);
    hostile_assert_status(forked(create_one), "miopenCreate in a child");
    const int status = forked(use_inherited);
    hostile_assert_status(status, "a handle of the parent in a child");
    GOOD(miopenDestroy(inherited));
    hostile_assert_well(); /* and the parent did not notice */
}

/* Before anybody used the library, a child may. */
static int whole_life(void)
{
    hostile_assert_well();
    return 23;
}

static void a_child_before_the_first_use(void **state)
{
    (void)state;
    assert_int_equal(forked(whole_life), 23);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_before_the_first_use), /* the first */
        cmocka_unit_test(a_thousand_handles),
        cmocka_unit_test(threads_with_handles_of_their_own),
        cmocka_unit_test(threads_that_share_a_handle),
        cmocka_unit_test(training_does_not_grow),
        cmocka_unit_test(ever_new_shapes_do_not_grow_much),
        cmocka_unit_test(processes_that_fork),
    };
    if (argc < 2) return 99;
    hostile_begin(argv[1]);
    if (argc > 2) cmocka_set_test_filter(argv[2]);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    hostile_end();
    return failed;
}
