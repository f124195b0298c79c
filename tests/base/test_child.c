/* test_child.c: processes of our own, under every kind of host. */
#include "base/child.h"
#include "base/clock.h"
#include "base/error.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char out_text[4096], err_text[4096];
static struct rmcp_child_output out = { .data = out_text, .size = sizeof out_text },
                                err = { .data = err_text, .size = sizeof err_text };
static struct rmcp_child child;

/* Run a shell script with both streams kept. */
static enum rmcp_child_end shell(const char *script, double limit)
{
    char *argv[] = { "/bin/sh", "-c", (char *)(uintptr_t)script, NULL };
    const struct rmcp_child_request request = {
        .argv = argv, .out = &out, .err = &err, .limit_seconds = limit
    };
    assert_int_equal(rmcp_child_run(&request, &child), RMCP_OK);
    assert_true(child.seconds >= 0);
    return child.end;
}

static int n_descriptors(void)
{
    int n = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder)) n++;
    closedir(folder);
    return n;
}

static int before;
static int count_before(void **state)
{
    (void)state;
    before = n_descriptors();
    return 0;
}

/* Nothing is left open, and no child is left behind. */
static int compare_after(void **state)
{
    (void)state;
    if (n_descriptors() != before) return -1;
    return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD ? 0 : -1;
}

static void keeps_both_streams_and_the_code(void **state)
{
    (void)state;
    char *argv[] = { "/bin/sh", "-c", "echo out $X $Y; echo err >&2; cat; exit 3", NULL };
    const char *environment[] = { "X=7", "Y=a=b", NULL };
    setenv("X", "old", 1);
    struct rmcp_child_request request = {
        .argv = argv, .environment = environment, .out = &out, .err = &err, .limit_seconds = 20
    };
    assert_int_equal(rmcp_child_run(&request, &child), RMCP_OK);
    assert_int_equal(child.end, RMCP_CHILD_EXITED);
    assert_int_equal(child.code, 3);
    assert_string_equal(out_text, "out 7 a=b\n");
    assert_int_equal(out.used, strlen(out_text));
    assert_string_equal(err_text, "err\n");
    request.err = &out; /* merged */
    assert_int_equal(rmcp_child_run(&request, &child), RMCP_OK);
    assert_string_equal(out_text, "out 7 a=b\nerr\n");
    assert_string_equal(getenv("X"), "old");
}

static void tells_how_it_ended(void **state)
{
    (void)state;
    assert_int_equal(shell("kill -9 $$", 20), RMCP_CHILD_KILLED);
    assert_int_equal(child.code, SIGKILL);
    assert_int_equal(shell("exit 0", 20), RMCP_CHILD_EXITED);
    assert_int_equal(child.code, 0);
    /* No limit. */
    assert_int_equal(shell("sleep 0.1; exit 9", 0), RMCP_CHILD_EXITED);
    assert_int_equal(child.code, 9);
    assert_true(child.seconds >= 0.1);
}

static void ends_what_does_not_end(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        "exec sleep 100",
        "exec >&- 2>&-; exec sleep 100",             /* closes its streams, and lives */
        "trap '' TERM INT HUP; while :; do :; done", /* will not listen               */
        "exec yes",                                  /* a flood without an end        */
        "echo first; exec 2>&-; exec sleep 100",
    };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        const double start = rmcp_clock();
        if (shell(scripts[i], 0.2) != RMCP_CHILD_LATE) fail_msg("not late: %s", scripts[i]);
        assert_true(rmcp_clock() - start >= 0.2);
        assert_true(rmcp_clock() - start < 9);
    }
    assert_string_equal(out_text, "first\n");
}

static void keeps_the_end_of_a_flood(void **state)
{
    (void)state;
    assert_int_equal(shell("head -c 3000000 /dev/zero; echo end", 60), RMCP_CHILD_EXITED);
    assert_int_equal(out.used, sizeof out_text - 1);
    assert_int_equal(out_text[0], 0);
    assert_string_equal(out_text + sizeof out_text - 5, "end\n");
    assert_int_equal(shell("head -c 3000000 /dev/zero >&2; echo end >&2", 60), RMCP_CHILD_EXITED);
    assert_int_equal(err.used, sizeof err_text - 1);
    assert_int_equal(out.used, 0);
    /* Any size of what is kept, and all of what fits. */
    for (size_t size = 0; size < 9; size++) {
        char small[9] = "xxxxxxxx";
        struct rmcp_child_output few = { .data = small, .size = size };
        char *argv[] = { "/bin/sh", "-c", "printf 12; sleep 0.02; printf 34; sleep 0.02; printf 5",
                         NULL };
        const struct rmcp_child_request request = { .argv = argv,
                                                    .out = &few,
                                                    .limit_seconds = 20 };
        assert_int_equal(rmcp_child_run(&request, &child), RMCP_OK);
        assert_int_equal(few.used, size > 5 ? 5 : size ? size - 1 : 0);
        if (size) assert_string_equal(small, &"12345"[size > 5 ? 0 : 6 - size]);
        for (size_t i = size; i < 8; i++) assert_int_equal(small[i], 'x');
    }
}

/* A grandchild that holds the stream open is not waited for. */
static void does_not_wait_for_grandchildren(void **state)
{
    (void)state;
    const double start = rmcp_clock();
    assert_int_equal(shell("sleep 20 & echo done", 60), RMCP_CHILD_EXITED);
    assert_string_equal(out_text, "done\n");
    assert_true(rmcp_clock() - start < 15);
}

static void says_what_cannot_be_started(void **state)
{
    (void)state;
    char path[] = "/tmp/rmcp-test-child-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, "no program", 10), 10);
    assert_int_equal(fchmod(file, 0700), 0);
    close(file);
    char *const programs[] = { "/nonexistent/program", path, "/tmp", "true", "" };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        char *argv[] = { programs[i], NULL };
        const struct rmcp_child_request request = { .argv = argv, .out = &out, .err = &err };
        assert_int_equal(rmcp_child_run(&request, &child), RMCP_E_IO);
        assert_non_null(strstr(rmcp_last_error(), "cannot start"));
    }
    unlink(path);
}

/* As a shell would have it: found in PATH, our streams, scripts that do not say what runs them. */
static void attends_programs(void **state)
{
    (void)state;
    char path[] = "/tmp/rmcp-test-child-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, "exit $(($1 + 1))\n", 17), 17);
    assert_int_equal(fchmod(file, 0700), 0);
    close(file);
    char *found[] = { "sh", "-c", "exit 6", NULL }, *script[] = { path, "6", NULL };
    struct rmcp_child_request request = { .argv = found, .attended = true };
    assert_int_equal(rmcp_child_run(&request, &child), RMCP_OK);
    assert_int_equal(child.end, RMCP_CHILD_EXITED);
    assert_int_equal(child.code, 6);
    request.argv = script;
    assert_int_equal(rmcp_child_run(&request, &child), RMCP_OK);
    assert_int_equal(child.end, RMCP_CHILD_EXITED);
    assert_int_equal(child.code, 7);
    unlink(path);
}

/* A host that blocks and ignores signals does not pass that on, unless it is to. */
static void gives_fresh_signals(void **state)
{
    (void)state;
    sigset_t blocked, old;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, &old);
    signal(SIGTERM, SIG_IGN);
    assert_int_equal(shell("kill -TERM $$; exit 5", 20), RMCP_CHILD_KILLED);
    assert_int_equal(child.code, SIGTERM);
    assert_int_equal(shell("kill -USR1 $$; exit 5", 20), RMCP_CHILD_KILLED);
    char *argv[] = { "sh", "-c", "kill -TERM $$; exit 5", NULL };
    const struct rmcp_child_request request = { .argv = argv, .attended = true };
    assert_int_equal(rmcp_child_run(&request, &child), RMCP_OK);
    assert_int_equal(child.end, RMCP_CHILD_EXITED);
    assert_int_equal(child.code, 5);
    signal(SIGTERM, SIG_DFL);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

static void reap_all(int number)
{
    (void)number;
    const int saved = errno;
    while (waitpid(-1, NULL, WNOHANG) > 0) continue;
    errno = saved;
}

/* What it said is kept; only its exit status is lost. */
static void survives_a_host_that_reaps(void **state)
{
    (void)state;
    for (int handler = 0; handler < 2; handler++) {
        signal(SIGCHLD, handler ? reap_all : SIG_IGN);
        for (int i = 0; i < 20; i++) {
            enum rmcp_child_end end = shell("echo said; exit 3", 20);
            if (!handler) assert_int_equal(end, RMCP_CHILD_UNKNOWN);
            assert_true(end == RMCP_CHILD_UNKNOWN || (end == RMCP_CHILD_EXITED && child.code == 3));
            assert_string_equal(out_text, "said\n");
        }
        assert_int_equal(shell("exec sleep 100", 0.1), RMCP_CHILD_LATE);
    }
    signal(SIGCHLD, SIG_DFL);
}

/* Our pipes must not be taken for the standard streams that are not there. */
static void survives_a_host_without_streams(void **state)
{
    (void)state;
    fflush(NULL);
    const pid_t host = fork();
    assert_true(host >= 0);
    if (!host) {
        close(0);
        close(1);
        close(2);
        shell("echo to out; echo to err >&2; read x; echo $? $x", 20);
        const bool good = child.end == RMCP_CHILD_EXITED && !strcmp(out_text, "to out\n1\n") &&
                          !strcmp(err_text, "to err\n");
        _exit(good ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(host, &status, 0), host);
    assert_int_equal(status, 0);
}

/* ---- functions ---- */

static void say(void *context, int to)
{
    const char *text = context;
    if (!strcmp(text, "crash")) raise(SIGSEGV);
    if (!strcmp(text, "hang")) sleep(100);
    if (!strcmp(text, "leave")) _exit(4);
    if (to >= 0 && write(to, text, strlen(text) + 1) < 0) _exit(1);
}

static enum rmcp_child_end call(const char *text, struct rmcp_child_output *to, double limit)
{
    const struct rmcp_child_request request = {
        .function = say, .context = (void *)(uintptr_t)text, .out = to, .limit_seconds = limit
    };
    assert_int_equal(rmcp_child_run(&request, &child), RMCP_OK);
    return child.end;
}

static void calls_functions_apart(void **state)
{
    (void)state;
    assert_int_equal(call("bytes", &out, 20), RMCP_CHILD_EXITED);
    assert_int_equal(out.used, 6); /* with its end */
    assert_string_equal(out_text, "bytes");
    assert_int_equal(call("nowhere", NULL, 20), RMCP_CHILD_EXITED);
    assert_int_equal(child.code, 0);
    assert_int_equal(call("leave", &out, 20), RMCP_CHILD_EXITED);
    assert_int_equal(child.code, 4);
    assert_int_equal(out.used, 0);
    assert_int_equal(call("crash", &out, 20), RMCP_CHILD_KILLED);
    assert_int_equal(child.code, SIGSEGV);
    assert_int_equal(call("hang", &out, 0.1), RMCP_CHILD_LATE);
}

static void runs_several_at_once(void **state)
{
    (void)state;
    enum { N = 4 };
    struct rmcp_child children[N];
    char texts[N][64];
    struct rmcp_child_output outputs[N];
    for (int i = 0; i < N; i++) {
        char *argv[] = { "/bin/sh", "-c", "sleep 0.3; echo $N", NULL }, name[8];
        snprintf(name, sizeof name, "N=%d", i);
        const char *environment[] = { name, NULL };
        outputs[i] = (struct rmcp_child_output){ .data = texts[i], .size = sizeof texts[i] };
        const struct rmcp_child_request request = { .argv = argv,
                                                    .environment = environment,
                                                    .out = &outputs[i] };
        assert_int_equal(rmcp_child_start(&request, &children[i]), RMCP_OK);
        assert_false(rmcp_child_wait(&children[i], 0));
        assert_int_equal(children[i].end, RMCP_CHILD_RUNS);
    }
    for (int i = 0; i < N; i++) {
        assert_true(rmcp_child_wait(&children[i], (double)INFINITY));
        assert_int_equal(children[i].end, RMCP_CHILD_EXITED);
        assert_int_equal(atoi(texts[i]), i);
        assert_true(rmcp_child_wait(&children[i], 0)); /* again does no harm */
        rmcp_child_kill(&children[i]);
    }
}

/* One that cannot be ended is left alone. (It can, here.) */
static void leaves_what_is_stuck(void **state)
{
    (void)state;
    char *argv[] = { "/bin/sleep", "100", NULL };
    const struct rmcp_child_request request = { .argv = argv, .out = &out };
    assert_int_equal(rmcp_child_start(&request, &child), RMCP_OK);
    const pid_t process = child.process;
    rmcp_child_leave(&child);
    assert_int_equal(child.end, RMCP_CHILD_STUCK);
    assert_int_equal(kill(process, SIGKILL), 0);
    assert_int_equal(waitpid(process, NULL, 0), process);
}

static void keeps_time(void **state)
{
    (void)state;
    const uint64_t start = rmcp_clock_ns();
    const double seconds = rmcp_clock();
    rmcp_clock_nap(0.02);
    rmcp_clock_nap(-1);
    assert_true(rmcp_clock_ns() - start >= 20000000);
    assert_true(rmcp_clock() - seconds >= 0.0199);
    assert_true(fabs(seconds - 1e-9 * (double)start) < 1);
}

#define CHECKED(name) cmocka_unit_test_setup_teardown(name, count_before, compare_after)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECKED(keeps_both_streams_and_the_code),
        CHECKED(tells_how_it_ended),
        CHECKED(ends_what_does_not_end),
        CHECKED(keeps_the_end_of_a_flood),
        CHECKED(does_not_wait_for_grandchildren),
        CHECKED(says_what_cannot_be_started),
        CHECKED(attends_programs),
        CHECKED(gives_fresh_signals),
        CHECKED(survives_a_host_that_reaps),
        CHECKED(survives_a_host_without_streams),
        CHECKED(calls_functions_apart),
        CHECKED(runs_several_at_once),
        CHECKED(leaves_what_is_stuck),
        CHECKED(keeps_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
