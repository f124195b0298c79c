/* test_guard.c: first use of algorithms, guarded and remembered, on a fake HIP library that can run
 * `direct` in f32 and gives nonsense for all others. Usage: test_guard libfake_hip.so */
#include "base/clock.h"
#include "engine/core/guard.h"
#include "engine/core/plan.h"
#include "engine/ops/conv/conv.h"
#include "hip_world.h"
#include "small_case.h"

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
    for (size_t i = 0; rmcp_algos_conv[i]; i++)
        if (!strcmp(rmcp_algos_conv[i]->name, name)) return rmcp_algos_conv[i];
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
    rmcp_status status = rmcp_conv_plan(device, &case_problem, RMCP_CONV_FORWARD, &options, &made);
    snprintf(chosen, 32, "%s", rmcp_plan_algorithm(made));
    rmcp_plan_destroy(made);
    return status;
}

static struct rmcp_guard_finding look(const rmcp_device *device, const char *algorithm)
{
    return rmcp_guard_look(&device->info, &rmcp_operation_conv, algo_named(algorithm), RMCP_F32);
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
    assert_int_equal(
        rmcp_guard_look(&device->info, &rmcp_operation_conv, algo_named("direct"), RMCP_F16).state,
        RMCP_GUARD_UNTRIED);
    /* Another driver is another story. */
    rmcp_device_info other = device->info;
    snprintf(other.driver, sizeof other.driver, "HIP 9.9.9");
    assert_int_equal(
        rmcp_guard_look(&other, &rmcp_operation_conv, algo_named("direct"), RMCP_F32).state,
        RMCP_GUARD_UNTRIED);
    char remark[RMCP_GUARD_REMARK_MAX];
    rmcp_guard_remark(remark);
    assert_string_equal(remark, "");
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
    assert_int_equal(rmcp_conv_candidates(device, &case_problem, RMCP_CONV_FORWARD, NULL, list, &n),
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
    const rmcp_conv large = { .struct_size = sizeof large,
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
        assert_int_equal(rmcp_conv_plan(device, &large, RMCP_CONV_FORWARD, &options, &made),
                         RMCP_OK);
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
    char chosen[32], path[64];
    snprintf(path, sizeof path, "/tmp/rmcp-test-guard-launched-%ld", (long)getpid());
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

/* The file of the record with this ending. */
static const char *record_path(const char *ending)
{
    static char path[512];
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    for (char *c = host; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", *c))
            *c = '_';
    snprintf(path, sizeof path, "%s/rmcp/first_use/%s%s", getenv("XDG_CACHE_HOME"), host, ending);
    return path;
}

static void survives_a_damaged_record(void **state)
{
    (void)state;
    char chosen[32];
    enum rmcp_guard_state seen;
    die_at_first_use(&seen);
    FILE *file = fopen(record_path(".2.txt"), "a");
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
    char remark[RMCP_GUARD_REMARK_MAX];
    rmcp_guard_remark(remark);
    contains(remark, "cannot be written");
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

/* Where the largest workspace does not fit, those that need less are measured. */
static void measures_with_what_memory_there_is(void **state)
{
    (void)state;
    rmcp_conv problem = { .struct_size = sizeof problem };
    int pass = -1;
    assert_int_equal(rmcp_conv_parse("n4c64h28w28k64r3s3p1:f32:nchw:fwd", &problem, &pass),
                     RMCP_OK);
    rmcp_conv_info info = { .struct_size = sizeof info };
    assert_int_equal(rmcp_conv_describe(&problem, &info), RMCP_OK);
    const uint64_t tensors = info.x_bytes + info.w_bytes + info.y_bytes;
    rmcp_device *device = open_card();
    setenv("RMCP_GUARD", "0", 1);
    const rmcp_plan_options by_name = { .struct_size = sizeof by_name,
                                        .algorithm = "winograd_4x4" };
    rmcp_plan *large = NULL, *made = NULL;
    assert_int_equal(rmcp_conv_plan(device, &problem, RMCP_CONV_FORWARD, &by_name, &large),
                     RMCP_OK);
    rmcp_memory rest;
    assert_int_equal(
        rmcp_buffer_create(device, FAKE_HIP_MEMORY - tensors - rmcp_plan_workspace(large) + 4096,
                           &rest),
        RMCP_OK);
    const rmcp_plan_options options = { .struct_size = sizeof options, .effort = RMCP_MEASURE };
    if (rmcp_conv_plan(device, &problem, RMCP_CONV_FORWARD, &options, &made))
        fail_msg("%s", rmcp_last_error());
    assert_true(rmcp_plan_workspace(made) < rmcp_plan_workspace(large));
    unsetenv("RMCP_GUARD");
    rmcp_plan_destroy(made);
    rmcp_plan_destroy(large);
    rmcp_buffer_destroy(device, rest);
    rmcp_device_close(device);
    assert_int_equal(fake->live, 0);
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

/* ---- the rmcp command that tries apart ---- */

/* An rmcp command with these bytes, and RMCP_COMMAND set to it; each has its own name. */
static void use_command(const char *text)
{
    static int n;
    char path[256];
    snprintf(path, sizeof path, "%s/../rmcp-%d", getenv("XDG_CACHE_HOME"), n++);
    mkdir(getenv("XDG_CACHE_HOME"), 0700); /* for the .. */
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(chmod(path, 0700), 0);
    setenv("RMCP_COMMAND", path, 1);
}

/* How many lines of the record have this word. */
static int count_lines(const char *word)
{
    char line[512];
    int n = 0;
    FILE *file = fopen(record_path(".2.txt"), "r");
    if (!file) return 0;
    while (fgets(line, sizeof line, file)) n += strstr(line, word) != NULL;
    fclose(file);
    return n;
}

#define BEGIN "#!/bin/sh\necho rmcp-trial 1 " RMCP_TEST_VERSION " begin\n"

/* One that says nothing of a trial of our version has tried nothing: it is tried here instead, and
 * the record says what was found here and nothing else. */
static void holds_no_command_against_an_algorithm(void **state)
{
    static const char *const commands[] = {
        "#!/bin/sh\nexit 127\n",
        "#!/bin/sh\nexit 126\n",
        "#!/bin/sh\nexit 0\n",
        "#!/bin/sh\nkill -SEGV $$\n",
        "#!/bin/sh\necho 'rmcp: error while loading shared libraries: libdw.so.1' >&2\nexit 127\n",
        "#!/bin/sh\necho 'rmcp: error while loading shared libraries: libdw.so.1'\nexit 127\n",
        "#!/bin/sh\necho warning >&2\necho 'rmcp lacks libdw' >&2\nexit 127\n",
        "#!/no/such/interpreter\n",
        "not a program\n",
        "\177ELF and no more",
        "",
        "#!/bin/sh\necho rmcp-trial 1 9.9.9 begin; echo rmcp-trial 1 bad other\n",
        "#!/bin/sh\necho rmcp-trial 2 " RMCP_TEST_VERSION " begin; echo rmcp-trial 2 bad other\n",
        "#!/bin/sh\necho rmcp-trial 1 " RMCP_TEST_VERSION "0 begin; echo rmcp-trial 1 bad other\n",
        "#!/bin/sh\nprintf 'rmcp-trial 1 " RMCP_TEST_VERSION " beg'\n",
        "#!/bin/sh\necho 'rmcp verify: no option --trial'; exit 2\n",
        "#!/bin/sh\necho 'FAIL n1 direct: wrong'; echo '3 runs, 3 failures'; exit 1\n",
        "#!/bin/sh\nhead -c 300000 /dev/zero\nhead -c 300000 /dev/zero >&2\n",
        BEGIN "echo rmcp-trial 1 untried no memory\n",
    };
    char chosen[32];
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        begin(state);
        use_command(commands[i]);
        rmcp_device *device = open_card();
        if (plan(device, "direct", chosen))
            fail_msg("command %zu, '%s': %s", i, commands[i], rmcp_last_error());
        assert_int_equal(look(device, "direct").state, RMCP_GUARD_GOOD);
        assert_true(fake->launches > 0);
        assert_int_equal(count_lines(" direct/"), 2);
        assert_int_equal(count_lines(" trying "), 1);
        assert_int_equal(count_lines(" good "), 1);
        /* What is wrong is still seen, by trying it here. */
        assert_int_equal(plan(device, "implicit_gemm", chosen), RMCP_E_UNSUPPORTED);
        contains(rmcp_last_error(), "wrong result in");
        rmcp_device_info info = { .struct_size = sizeof info };
        assert_int_equal(rmcp_device_describe(device, &info), RMCP_OK);
        if (!strstr(commands[i], " untried ")) contains(info.why, "the rmcp command does not work");
        if (strstr(commands[i], "lacks")) contains(info.why, "work: rmcp lacks libdw");
        if (!strcmp(commands[i], "not a program\n")) contains(info.why, "Exec format error");
        rmcp_device_close(device);
    }
    assert_int_equal(fake->live, 0);
    unsetenv("RMCP_COMMAND");
}

/* The lines decide, whatever becomes of the process. */
static void believes_the_lines_of_a_trial(void **state)
{
    static const struct {
        const char *command;
        rmcp_status status;
        const char *reason;
    } rows[] = {
        { BEGIN "echo rmcp-trial 1 good ''\nexit 3\n", RMCP_OK, NULL },
        { BEGIN "echo rmcp-trial 1 good ''\nexec >&-\nsleep 30\n", RMCP_OK, NULL },
        { BEGIN "echo rmcp-trial 1 bad wrong here\n", RMCP_E_UNSUPPORTED, "direct: wrong here" },
        { BEGIN, RMCP_E_UNSUPPORTED, "ended without a result" },
        { BEGIN "printf 'rmcp-trial 1 good '\n", RMCP_E_UNSUPPORTED, "ended without a result" },
        { BEGIN "echo rmcp-trial 1 goodness\n", RMCP_E_UNSUPPORTED, "ended without a result" },
        { BEGIN "kill -KILL $$\n", RMCP_E_UNSUPPORTED, "ended without a result" },
        { BEGIN "sleep 30\n", RMCP_E_UNSUPPORTED, "no result within 1 seconds" },
    };
    char chosen[32];
    for (int reaped = 0; reaped < 2; reaped++) {
        if (reaped) signal(SIGCHLD, SIG_IGN); /* a host that wants no exit statuses */
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            begin(state);
            use_command(rows[i].command);
            /* Where the lines decide, a machine that is busy may take its time; what sleeps on is
             * waited for until the limit. */
            const bool late = rows[i].reason && strstr(rows[i].reason, "no result within");
            const bool sleeps = strstr(rows[i].command, "sleep");
            setenv("RMCP_GUARD_LIMIT", late ? "1" : sleeps ? "5" : "60", 1);
            rmcp_device *device = open_card();
            assert_int_equal(plan(device, "direct", chosen), rows[i].status);
            if (rows[i].reason) contains(rmcp_last_error(), rows[i].reason);
            assert_int_equal(fake->launches, 0); /* nothing was tried here */
            assert_int_equal(count_lines(rows[i].status ? " bad " : " good "), 1);
            rmcp_device_close(device);
        }
    }
    signal(SIGCHLD, SIG_DFL);
    unsetenv("RMCP_GUARD_LIMIT");
    unsetenv("RMCP_COMMAND");
}

/* ---- notices ---- */

static struct {
    int calls;
    char line[256];
    double at;
} heard;

static void hear(const char *line, void *context)
{
    assert_ptr_equal(context, &heard);
    heard.calls++;
    snprintf(heard.line, sizeof heard.line, "%s", line);
    heard.at = rmcp_clock();
}

/* While it still runs, once, and only when it takes long. */
static void tells_of_a_long_first_use(void **state)
{
    static const struct {
        const char *command;
        rmcp_status status;
        int calls;
    } rows[] = {
        { BEGIN "echo rmcp-trial 1 good ''\n", RMCP_OK, 0 },
        { BEGIN "sleep 5\necho rmcp-trial 1 good ''\n", RMCP_OK, 1 },
        { BEGIN "sleep 30\n", RMCP_E_UNSUPPORTED, 1 },
        { "#!/bin/sh\nsleep 5\n", RMCP_OK, 1 }, /* and then it is tried here */
    };
    char chosen[32];
    setenv("RMCP_GUARD_LIMIT", "9", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(state);
        use_command(rows[i].command);
        heard.calls = 0;
        rmcp_on_notice(hear, &heard);
        rmcp_device *device = open_card();
        const double start = rmcp_clock();
        assert_int_equal(plan(device, "direct", chosen), rows[i].status);
        const double end = rmcp_clock();
        /* A busy machine may make a long one of the first. */
        if (rows[i].calls || end - start < 2) assert_int_equal(heard.calls, rows[i].calls);
        if (heard.calls) {
            assert_true(heard.at - start >= 2 && end > heard.at);
            if (rows[i].calls) assert_true(end - heard.at > 1);
            contains(heard.line, "first use of direct f32 on hip (gfx1010)");
            contains(heard.line, "up to 9 seconds");
            assert_null(strchr(heard.line, '\n'));
        }
        rmcp_device_close(device);
    }
    /* Nobody has to listen. */
    rmcp_on_notice(NULL, NULL);
    begin(state);
    use_command(rows[1].command);
    rmcp_device *device = open_card();
    heard.calls = 0;
    assert_int_equal(plan(device, "direct", chosen), RMCP_OK);
    assert_int_equal(heard.calls, 0);
    rmcp_device_close(device);
    unsetenv("RMCP_GUARD_LIMIT");
    unsetenv("RMCP_COMMAND");
}

/* Another process that tries is waited for, and that may take long, too. */
static void tells_of_the_trial_of_another_process(void **state)
{
    (void)state;
    char chosen[32], path[64], command[256];
    snprintf(path, sizeof path, "/tmp/rmcp-test-guard-other-%ld", (long)getpid());
    remove(path);
    snprintf(command, sizeof command, BEGIN "touch %s\nsleep 6\necho rmcp-trial 1 good ''\n", path);
    use_command(command);
    rmcp_device *device = open_card();
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(plan(device, "direct", chosen) ? 1 : 0);
    struct stat status;
    while (stat(path, &status)) nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
    heard.calls = 0;
    rmcp_on_notice(hear, &heard);
    assert_int_equal(plan(device, "direct", chosen), RMCP_OK);
    assert_int_equal(heard.calls, 1);
    rmcp_on_notice(NULL, NULL);
    int ended = 1;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    remove(path);
    rmcp_device_close(device);
    unsetenv("RMCP_COMMAND");
}

/* Earlier releases took a command that does not load for a bad algorithm. */
static void does_not_read_the_old_record(void **state)
{
    (void)state;
    char chosen[32], old[512], line[512];
    rmcp_device *device = open_card();
    assert_int_equal(plan(device, "implicit_gemm", chosen), RMCP_E_UNSUPPORTED);
    snprintf(old, sizeof old, "%s", record_path(".txt"));
    assert_int_equal(rename(record_path(".2.txt"), old), 0);
    assert_int_equal(rmcp_guard_forget(NULL), RMCP_OK); /* what this process knows */
    assert_int_equal(remove(record_path(".2.txt")), 0);
    assert_int_equal(look(device, "implicit_gemm").state, RMCP_GUARD_UNTRIED);
    assert_int_equal(plan(device, "direct", chosen), RMCP_OK);
    FILE *file = fopen(old, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) assert_null(strstr(line, " direct/"));
    fclose(file);
    rmcp_device_close(device);
}

/* Of what the environment names only the last folder is made, and never a home. */
static void makes_no_home(void **state)
{
    (void)state;
    static const struct {
        const char *home, *cache, *made; /* below the folder of the test */
    } rows[] = {
        { "nobody", NULL, NULL },
        { "", NULL, "/.cache/rmcp" },
        { "nobody", "some/cache", NULL },
        { "nobody", "cache-2", "/cache-2/rmcp" },
    };
    char chosen[32], *cache = strdup(getenv("XDG_CACHE_HOME")), folder[256], path[600];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(cache, '/') - cache), cache);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, rows[i].home);
        setenv("HOME", path, 1);
        unsetenv("XDG_CACHE_HOME");
        snprintf(path, sizeof path, "%s/%s", folder, rows[i].cache ? rows[i].cache : "");
        if (rows[i].cache) setenv("XDG_CACHE_HOME", path, 1);
        assert_int_equal(rmcp_guard_forget(NULL), rows[i].made ? RMCP_OK : RMCP_E_IO);
        rmcp_device *device = open_card();
        assert_int_equal(plan(device, "direct", chosen), RMCP_OK);
        rmcp_device_close(device);
        snprintf(path, sizeof path, "%s%s", folder, rows[i].made ? rows[i].made : "/nobody");
        assert_int_equal(access(path, F_OK), rows[i].made ? 0 : -1);
        snprintf(path, sizeof path, "%s/some", folder);
        assert_int_equal(access(path, F_OK), -1);
    }
    setenv("HOME", "", 1);
    setenv("XDG_CACHE_HOME", cache, 1);
    free(cache);
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
        cmocka_unit_test_setup(measures_with_what_memory_there_is, begin),
        cmocka_unit_test_setup(blames_only_the_algorithm, begin),
        cmocka_unit_test_setup(tries_once_for_many_threads, begin),
        cmocka_unit_test_setup(does_not_read_the_old_record, begin),
        cmocka_unit_test_setup(believes_the_lines_of_a_trial, begin),
        cmocka_unit_test_setup(holds_no_command_against_an_algorithm, begin),
        cmocka_unit_test_setup(tells_of_a_long_first_use, begin),
        cmocka_unit_test_setup(tells_of_the_trial_of_another_process, begin),
        cmocka_unit_test_setup(works_without_a_place_to_remember, begin),
        cmocka_unit_test_setup(makes_no_home, begin),
    };
    const int failures = cmocka_run_group_tests(tests, NULL, NULL);
    world_end();
    return failures;
}
