/* test_opencl.c: what is OpenCL's own, on whatever driver is installed; skipped without one: the
 * caller's objects, copies out of range, binaries kept on disk. */
#define _XOPEN_SOURCE 700 /* nftw */

#include "engine/driver/opencl/devices.h"
#include "life.h"

#include <ftw.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

extern char **environ;

static char folder[] = "/tmp/rmcp-test-opencl-XXXXXX";
static char program[256];

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        if ((call) != RMCP_OK) fail_msg("%s: %s", #call, rmcp_last_error());                       \
    } while (0)

/* ---- help ---- */

static const struct rmcp_cl *library(void)
{
    char why[256] = "";
    const struct rmcp_cl *cl = rmcp_cl_get(why, sizeof why);
    if (!cl) fail_msg("%s", why);
    return cl;
}

static rmcp_device *open_device(const rmcp_device_options *options)
{
    rmcp_device *device = NULL;
    assert_ok(rmcp_device_open("opencl", options, &device));
    return device;
}

/* Run one plan in `base` on `stream`; 0 when the result is right and nothing else was written. */
static int run_in(rmcp_device *device, const rmcp_plan *plan, void *stream, void *base,
                  unsigned seed, double *seconds)
{
    bool right = false;
    return life_execute(device, plan, stream, base, seed, seconds, &right) || !right;
}

static rmcp_plan *make_plan(rmcp_device *device)
{
    rmcp_plan *plan = NULL;
    assert_ok(life_plan(device, NULL, &plan));
    return plan;
}

/* Everything once, on the device's own queue. */
static void run_once(unsigned seed)
{
    rmcp_device *device = open_device(NULL);
    rmcp_plan *plan = make_plan(device);
    rmcp_memory memory;
    assert_ok(rmcp_buffer_create(device, CASE_BYTES, &memory));
    assert_int_equal(run_in(device, plan, NULL, memory.base, seed, NULL), 0);
    rmcp_buffer_destroy(device, memory);
    rmcp_plan_destroy(plan);
    rmcp_device_close(device);
}

/* ---- memory ---- */

static void refuses_copies_out_of_range(void **state)
{
    (void)state;
    rmcp_device *device = open_device(NULL);
    unsigned char out[1000] = { 0 }, in[1000];
    rmcp_memory memory;
    assert_ok(rmcp_buffer_create(device, sizeof out, &memory));
    assert_int_equal(rmcp_copy_to_host(device, NULL, in, (rmcp_memory){ memory.base, 999 }, 2),
                     RMCP_E_ARG);
    assert_non_null(strstr(rmcp_last_error(), "2 bytes at offset 999"));
    assert_int_equal(rmcp_copy_to_device(device, NULL, (rmcp_memory){ memory.base, 1 }, out, 1000),
                     RMCP_E_ARG);
    rmcp_buffer_destroy(device, memory);
    rmcp_device_close(device);
}

/* ---- execution ---- */

static cl_uint references(cl_context context)
{
    cl_uint n = 0;
    assert_int_equal(
        library()->clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof n, &n, NULL), 0);
    return n;
}

/* Drivers may let go of finished commands, and so of the context, a little later. */
static void assert_let_go(cl_context context, cl_uint before)
{
    for (int i = 0; i < 1000 && references(context) != before; i++)
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    assert_int_equal(references(context), before);
}

/* A context, queues of every kind and memory that are not ours. */
static void works_with_the_callers_objects(void **state)
{
    (void)state;
    const struct rmcp_cl *cl = library();
    char why[256];
    cl_device_id devices[RMCP_CL_MOST_DEVICES];
    assert_true(rmcp_cl_devices_find(cl, devices, why, sizeof why) > 0);
    cl_context context = cl->clCreateContext(NULL, 1, devices, NULL, NULL, NULL);
    assert_non_null(context);
    const cl_uint before = references(context);

    rmcp_device *device = open_device(&(rmcp_device_options){
        .struct_size = sizeof(rmcp_device_options), .native_context = context });
    rmcp_device_close(device);
    assert_let_go(context, before);
    device = open_device(&(rmcp_device_options){ .struct_size = sizeof(rmcp_device_options),
                                                 .native_context = context,
                                                 .native_device = devices[0] });
    assert_true(references(context) > before);
    rmcp_plan *plan = make_plan(device);
    cl_mem memory = cl->clCreateBuffer(context, CL_MEM_READ_WRITE, CASE_BYTES, NULL, NULL);
    assert_non_null(memory);

    const cl_command_queue_properties kinds[] = { 0, CL_QUEUE_PROFILING_ENABLE,
                                                  CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
                                                  CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE |
                                                      CL_QUEUE_PROFILING_ENABLE };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        cl_command_queue queue = cl->clCreateCommandQueue(context, devices[0], kinds[i], NULL);
        if (!queue) continue; /* out of order is optional */
        double seconds = 0;
        assert_int_equal(run_in(device, plan, queue, memory, 1, NULL), 0);
        assert_int_equal(run_in(device, plan, queue, memory, 2, &seconds), 0);
        assert_true(seconds > 0);
        assert_ok(rmcp_device_wait(device, queue));
        cl->clReleaseCommandQueue(queue);
    }
    rmcp_plan_destroy(plan);
    cl->clReleaseMemObject(memory);
    rmcp_device_close(device);
    assert_let_go(context, before);
    cl->clReleaseContext(context);

    /* A device without a context gets one of ours. */
    device = open_device(&(rmcp_device_options){ .struct_size = sizeof(rmcp_device_options),
                                                 .native_device = devices[0] });
    rmcp_device_close(device);
}

static void refuses_objects_of_another_context(void **state)
{
    (void)state;
    const struct rmcp_cl *cl = library();
    char why[256];
    cl_device_id devices[RMCP_CL_MOST_DEVICES];
    assert_true(rmcp_cl_devices_find(cl, devices, why, sizeof why) > 0);
    cl_context other = cl->clCreateContext(NULL, 1, devices, NULL, NULL, NULL);
    cl_command_queue queue = cl->clCreateCommandQueue(other, devices[0], 0, NULL);
    cl_mem foreign = cl->clCreateBuffer(other, CL_MEM_READ_WRITE, CASE_BYTES, NULL, NULL);
    assert_true(other && queue && foreign);

    rmcp_device *device = open_device(NULL);
    rmcp_plan *plan = make_plan(device);
    rmcp_memory memory;
    assert_ok(rmcp_buffer_create(device, CASE_BYTES, &memory));
    assert_int_equal(rmcp_device_wait(device, queue), RMCP_E_ARG);
    assert_non_null(strstr(rmcp_last_error(), "another cl_context"));
    char byte = 0;
    assert_int_equal(rmcp_copy_to_device(device, queue, memory, &byte, 1), RMCP_E_ARG);
    assert_int_equal(rmcp_copy_to_host(device, NULL, &byte, (rmcp_memory){ foreign, 0 }, 1),
                     RMCP_E_ARG);
    rmcp_conv_tensors tensors = life_tensors(memory.base);
    assert_int_equal(rmcp_conv_execute(plan, queue, &tensors), RMCP_E_ARG);
    tensors.x.base = foreign;
    assert_int_equal(rmcp_conv_execute(plan, NULL, &tensors), RMCP_E_ARG);
    assert_non_null(strstr(rmcp_last_error(), "no cl_mem of the device's cl_context"));

    /* None of it harms the device. */
    assert_int_equal(run_in(device, plan, NULL, memory.base, 3, NULL), 0);
    rmcp_buffer_destroy(device, memory);
    rmcp_plan_destroy(plan);
    rmcp_device_close(device);
    cl->clReleaseMemObject(foreign);
    cl->clReleaseCommandQueue(queue);
    cl->clReleaseContext(other);
}

/* ---- binaries on disk ---- */

static char cached[512]; /* one file of the cache */
static int n_cached, n_others;

static int note_file(const char *path, const struct stat *stat, int kind, struct FTW *where)
{
    (void)stat, (void)where;
    const size_t length = strlen(path);
    if (kind != FTW_F) return 0;
    if (length > 4 && !strcmp(path + length - 4, ".bin")) {
        n_cached++;
        snprintf(cached, sizeof cached, "%s", path);
    } else {
        n_others++;
    }
    return 0;
}

static int remove_file(const char *path, const struct stat *stat, int kind, struct FTW *where)
{
    (void)stat, (void)kind, (void)where;
    remove(path);
    return 0;
}

/* Start with an empty cache in a folder of its own. */
static void use_cache(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    nftw(path, remove_file, 8, FTW_DEPTH | FTW_PHYS);
    setenv("XDG_CACHE_HOME", path, 1);
}

static void count_files(void)
{
    char path[128];
    n_cached = n_others = 0;
    snprintf(path, sizeof path, "%s/rmcp", getenv("XDG_CACHE_HOME")); /* drivers have theirs */
    nftw(path, note_file, 8, FTW_PHYS);
}

static size_t read_cached(unsigned char *data, size_t room)
{
    FILE *file = fopen(cached, "rb");
    assert_non_null(file);
    size_t n = fread(data, 1, room, file);
    fclose(file);
    assert_true(n > 100 && n < room);
    return n;
}

static void write_cached(const unsigned char *data, size_t n)
{
    remove(cached);
    FILE *file = fopen(cached, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, n, file), n);
    fclose(file);
}

/* A file whose form is right and whose program is not one. */
static void forge(unsigned char *data, size_t n)
{
    uint64_t key_bytes, sum = UINT64_C(0xcbf29ce484222325);
    memcpy(&key_bytes, data + 8, sizeof key_bytes);
    memset(data + 32 + key_bytes, 0x55, n - 32 - key_bytes);
    for (size_t i = 32; i < n; i++) sum = (sum ^ data[i]) * UINT64_C(0x100000001b3);
    memcpy(data + 24, &sum, sizeof sum);
}

static void survives_a_damaged_cache(void **state)
{
    (void)state;
    enum { ROOM = 8 << 20 };
    unsigned char *good = malloc(ROOM), *bad = malloc(ROOM);
    assert_true(good && bad);
    use_cache("damaged");
    run_once(1);
    count_files();
    if (n_cached == 0) {
        print_message("this driver gives no binaries\n");
        free(good);
        free(bad);
        skip();
    }
    assert_int_equal(n_others, 0);
    run_once(2);
    const size_t n = read_cached(good, ROOM);

    for (int damage = 0; damage < 9; damage++) {
        memcpy(bad, good, n);
        size_t length = n;
        switch (damage) {
        case 0: length = 0; break;
        case 1: length = 7; break;
        case 2: length = n / 2; break;
        case 3: length = n - 1; break;
        case 4: bad[0] ^= 1; break;
        case 5: bad[40] ^= 1; break;              /* in the key           */
        case 6: bad[n - 5] ^= 1; break;           /* in the data          */
        case 7: memset(bad + 8, 0xff, 16); break; /* both lengths */
        default: forge(bad, n); break;            /* refused by the driver */
        }
        write_cached(bad, length);
        run_once((unsigned)damage);
        /* and is a good file again, though a driver need not build the same bytes twice */
        uint64_t key_bytes, sizes[2];
        const size_t now = read_cached(bad, ROOM);
        memcpy(&key_bytes, good + 8, sizeof key_bytes);
        memcpy(sizes, bad + 8, sizeof sizes);
        assert_memory_equal(bad, good, 8);
        assert_int_equal(sizes[0], key_bytes);
        assert_int_equal(now, 32 + sizes[0] + sizes[1]);
        assert_memory_equal(bad + 32, good + 32, key_bytes);
        assert_int_not_equal(bad[now - 1] == 0x55 && bad[now - 2] == 0x55 && bad[now - 3] == 0x55,
                             1); /* not the forged one */
    }
    free(good);
    free(bad);
}

static void works_without_a_cache(void **state)
{
    (void)state;
    /* A file where the folder should be; a folder, a pipe and a dead link where the file should. */
    setenv("XDG_CACHE_HOME", "/dev/null/nowhere", 1);
    run_once(1);
    use_cache("odd");
    run_once(1);
    count_files();
    if (n_cached) {
        remove(cached);
        assert_int_equal(mkdir(cached, 0700), 0);
        run_once(2);
        remove(cached);
        assert_int_equal(mkfifo(cached, 0600), 0);
        run_once(3);
        remove(cached);
        assert_int_equal(symlink("/nonexistent", cached), 0);
        run_once(4);
        count_files();
        assert_int_equal(n_others, 0); /* nothing left aside */
    }
    const char *home = getenv("HOME");
    char *kept = home ? strdup(home) : NULL;
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    run_once(5);
    setenv("XDG_CACHE_HOME", "relative/path", 1);
    run_once(6);
    if (kept) setenv("HOME", kept, 1);
    free(kept);
    use_cache("default");
}

/* Several processes, all of them with an empty cache, build the same kernels at once. */
static void shares_the_cache_between_processes(void **state)
{
    (void)state;
    enum { N = 4 };
    use_cache("shared");
    pid_t children[N];
    char *arguments[] = { program, "child", NULL };
    for (int i = 0; i < N; i++)
        assert_int_equal(posix_spawn(&children[i], program, NULL, NULL, arguments, environ), 0);
    int results[N] = { 0 };
    for (int i = 0; i < N; i++) /* all of them, before any failure ends the test */
        if (waitpid(children[i], &results[i], 0) != children[i]) results[i] = -1;
    for (int i = 0; i < N; i++) assert_int_equal(results[i], 0);
    count_files();
    assert_int_equal(n_others, 0);
    run_once(7);
    use_cache("default");
}

static int run_child(void)
{
    rmcp_device *device = NULL;
    rmcp_plan *plan = NULL;
    rmcp_memory memory = { 0 };
    int failed = rmcp_device_open("opencl", NULL, &device) || life_plan(device, NULL, &plan) ||
                 rmcp_buffer_create(device, CASE_BYTES, &memory) ||
                 run_in(device, plan, NULL, memory.base, 1, NULL);
    if (failed) fprintf(stderr, "child: %s\n", rmcp_last_error());
    rmcp_buffer_destroy(device, memory);
    rmcp_plan_destroy(plan);
    rmcp_device_close(device);
    return failed;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "child")) return run_child();
    char why[256] = "";
    cl_device_id devices[RMCP_CL_MOST_DEVICES];
    const struct rmcp_cl *cl = rmcp_cl_get(why, sizeof why);
    if (!cl || !rmcp_cl_devices_find(cl, devices, why, sizeof why)) {
        printf("skipped: %s\n", why);
        return 77;
    }
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0 || !mkdtemp(folder)) return 99;
    use_cache("default");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_copies_out_of_range),
        cmocka_unit_test(works_with_the_callers_objects),
        cmocka_unit_test(refuses_objects_of_another_context),
        cmocka_unit_test(survives_a_damaged_cache),
        cmocka_unit_test(works_without_a_cache),
        cmocka_unit_test(shares_the_cache_between_processes),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    nftw(folder, remove_file, 8, FTW_DEPTH | FTW_PHYS);
    return failures;
}
