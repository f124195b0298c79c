/* test_log.c: files that are only appended to, by processes that end at any moment; and locks. */
#include "base/clock.h"
#include "base/hash.h"
#include "base/lock.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct rmcp_log_kind checked = { .checked = true,
                                              .mode = 0600,
                                              .most_bytes = 1 << 20 },
                                  plain = { .mode = 0644, .most_bytes = 1 << 20 };
static char path[64];

static int begin(void **state)
{
    (void)state;
    strcpy(path, "/tmp/rmcp-test-log-XXXXXX");
    int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int end(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_file(const void *bytes, size_t n)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

static void append(const struct rmcp_log_kind *kind, const char *text)
{
    assert_int_equal(rmcp_log_append_to(kind, path, text), 0);
}

/* The lines that were taken, each with its end; those with "nonsense" are not. */
static char taken[1 << 20];
static bool take(void *context, char *line)
{
    assert_ptr_equal(context, taken);
    assert_null(strchr(line, '\n'));
    if (strstr(line, "nonsense")) return false;
    strcat(strcat(taken, line), "\n");
    return true;
}

static size_t read_all(const struct rmcp_log_kind *kind)
{
    struct rmcp_log log;
    taken[0] = '\0';
    assert_int_equal(rmcp_log_open(&log, kind, path, false), 0);
    const size_t n = rmcp_log_read(&log, take, taken);
    rmcp_log_close(&log);
    return n;
}

static void remembers(void **state)
{
    (void)state;
    static const char text[] = "one\ntwo words\n\n";
    append(&checked, "one");
    append(&checked, "two words");
    append(&checked, "");
    assert_int_equal(read_all(&checked), 0);
    assert_string_equal(taken, text);
    /* As other programs read it: the digest, a blank, the text. */
    char line[64], expected[64];
    FILE *file = fopen(path, "r");
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    snprintf(expected, sizeof expected, "%016" PRIx64 " one\n",
             rmcp_hash_text(RMCP_HASH_START, "one"));
    assert_string_equal(line, expected);
    append(&checked, "\tcontrol\r\ncharacters\177");
    assert_int_equal(read_all(&checked), 0);
    assert_string_equal(taken + strlen(text), " control  characters \n");
    write_file("", 0);
    append(&plain, "one");
    append(&plain, "nonsense");
    append(&plain, "");
    assert_int_equal(read_all(&plain), 1);
    assert_string_equal(taken, "one\n\n");
}

static void passes_over_torn_and_damaged_lines(void **state)
{
    (void)state;
    append(&checked, "good line");
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    char whole[64];
    FILE *file = fopen(path, "r");
    assert_int_equal(fread(whole, 1, sizeof whole, file), about.st_size);
    fclose(file);
    const size_t n = (size_t)about.st_size;
    /* Torn at every byte, with a line behind it. */
    for (size_t cut = 0; cut <= n; cut++) {
        write_file(whole, cut);
        assert_int_equal(read_all(&checked), cut && cut < n);
        append(&checked, "later");
        const size_t passed_over = read_all(&checked);
        /* Only its end may be torn off without harm. */
        assert_int_equal(passed_over, cut && cut + 1 < n);
        assert_string_equal(taken, cut + 1 < n ? "later\n" : "good line\nlater\n");
    }
    /* One bit turned, at every place. */
    for (size_t bit = 0; bit < 8 * (n - 1); bit++) {
        whole[bit / 8] ^= (char)(1 << bit % 8);
        write_file(whole, n);
        append(&checked, "later");
        assert_true(read_all(&checked) >= 1);
        assert_string_equal(taken, "later\n");
        whole[bit / 8] ^= (char)(1 << bit % 8);
    }
}

static void passes_over_what_is_too_long(void **state)
{
    (void)state;
    static char flood[300000];
    memset(flood, 'x', sizeof flood);
    static const size_t lengths[] = { RMCP_LOG_LINE_MAX - 2,     RMCP_LOG_LINE_MAX - 1,
                                      RMCP_LOG_LINE_MAX,         2 * RMCP_LOG_LINE_MAX - 1,
                                      2 * RMCP_LOG_LINE_MAX,     2 * RMCP_LOG_LINE_MAX + 1,
                                      3 * RMCP_LOG_LINE_MAX + 7, sizeof flood };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const bool fits = lengths[i] < RMCP_LOG_LINE_MAX;
        write_file(flood, lengths[i]);
        assert_int_equal(read_all(&plain), 1); /* torn */
        append(&plain, "behind it");
        assert_int_equal(read_all(&plain), fits ? 0 : 1);
        assert_string_equal(strrchr(taken, 'x') ? strrchr(taken, 'x') + 1 : taken,
                            fits ? "\nbehind it\n" : "behind it\n");
    }
    write_file("", 0);
    flood[RMCP_LOG_LINE_MAX - 1] = '\0'; /* a line is this with its end */
    append(&plain, flood);
    assert_int_equal(read_all(&plain), 0);
    assert_int_equal(strlen(taken), RMCP_LOG_LINE_MAX);
    assert_int_equal(rmcp_log_append_to(&checked, path, flood), EMSGSIZE);
    flood[RMCP_LOG_LINE_MAX - 1] = 'x';
    flood[RMCP_LOG_LINE_MAX] = '\0';
    assert_int_equal(rmcp_log_append_to(&plain, path, flood), EMSGSIZE);
    /* Zeros, as a file system leaves after a crash. */
    memset(flood, 0, sizeof flood);
    write_file(flood, 5000);
    append(&checked, "later");
    assert_int_equal(read_all(&checked), 1);
    assert_string_equal(taken, "later\n");
}

static void keeps_to_its_title(void **state)
{
    (void)state;
    const struct rmcp_log_kind titled = {
        .title = "a title", .owned = true, .mode = 0644, .most_bytes = 64
    };
    static const char *const others[] = { "my diary\n", "a title", "a title!\n",
                                          "\n",         "a t",     "A title\nx\n" };
    struct rmcp_log log, again;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        write_file(others[i], strlen(others[i]));
        assert_int_equal(rmcp_log_open(&log, &titled, path, true), EBADMSG);
        struct stat about;
        assert_int_equal(stat(path, &about), 0);
        assert_int_equal(about.st_size, strlen(others[i]));
    }
    write_file("", 0);
    assert_int_equal(rmcp_log_open(&log, &titled, path, true), 0);
    assert_int_equal(log.bytes, 0);
    assert_int_equal(rmcp_log_open(&again, &titled, path, true), EWOULDBLOCK);
    assert_int_equal(rmcp_log_append(&log, "first"), 0);
    rmcp_log_close(&log);
    assert_int_equal(rmcp_log_open(&log, &titled, path, true), 0);
    assert_int_equal(log.bytes, strlen("a title\nfirst\n"));
    rmcp_log_close(&log);
    assert_int_equal(read_all(&titled), 0);
    assert_string_equal(taken, "first\n");
    rmcp_log_close(&log); /* again does no harm */
}

static void keeps_to_files(void **state)
{
    (void)state;
    struct rmcp_log log;
    assert_int_equal(rmcp_log_open(&log, &plain, "/dev/null", true), EINVAL);
    assert_int_equal(rmcp_log_open(&log, &plain, "/tmp", false), EINVAL);
    assert_int_equal(rmcp_log_open(&log, &plain, "/nonexistent/log", true), ENOENT);
    char fifo[80];
    snprintf(fifo, sizeof fifo, "%s-fifo", path);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(rmcp_log_open(&log, &plain, fifo, true), EINVAL); /* and does not wait */
    unlink(fifo);
    /* A file that is too long is neither read nor written. */
    const struct rmcp_log_kind small = { .mode = 0644, .most_bytes = 20 };
    for (int i = 0; i < 2; i++)
        assert_int_equal(rmcp_log_append_to(&small, path, "12345678901234"), 0);
    assert_int_equal(rmcp_log_append_to(&small, path, "x"), EFBIG);
    assert_int_equal(rmcp_log_open(&log, &small, path, false), EFBIG);
}

/* A full disk, as far as one process can have one: the line is lost, and no other. */
static void survives_a_full_disk(void **state)
{
    (void)state;
    for (rlim_t room = 0; room < 60; room++) {
        write_file("", 0);
        append(&checked, "before");
        struct stat about;
        assert_int_equal(stat(path, &about), 0);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
            const struct rlimit limit = { (rlim_t)about.st_size + room,
                                          (rlim_t)about.st_size + room };
            signal(SIGXFSZ, SIG_IGN);
            setrlimit(RLIMIT_FSIZE, &limit);
            _exit(rmcp_log_append_to(&checked, path, "does it fit?"));
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        const bool fits = room >= 16 + 1 + strlen("does it fit?") + 1;
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status) == 0, fits);
        append(&checked, "after");
        /* Without its end alone the line is still whole. */
        const bool whole = room + 1 >= 16 + 1 + strlen("does it fit?") + 1;
        assert_int_equal(read_all(&checked), room && !whole ? 1 : 0);
        assert_string_equal(taken, whole ? "before\ndoes it fit?\nafter\n" : "before\nafter\n");
    }
}

/* Several processes at once, one of which is killed now and then: no line is lost or mixed. */
static void serves_many_processes(void **state)
{
    (void)state;
    enum { WRITERS = 4, LINES = 300 };
    pid_t children[WRITERS + 1];
    for (int w = 0; w <= WRITERS; w++) {
        children[w] = fork();
        assert_true(children[w] >= 0);
        if (children[w]) continue;
        char text[64];
        for (int i = 0; i < LINES || w == WRITERS; i++) { /* the last one does not end */
            snprintf(text, sizeof text, "writer %d line %d", w, i % LINES);
            if (rmcp_log_append_to(&checked, path, text) && w < WRITERS) _exit(1);
            if (w == WRITERS) rmcp_clock_nap(1e-3);
        }
        _exit(0);
    }
    for (int w = 0; w < WRITERS; w++) {
        int status = -1;
        assert_int_equal(waitpid(children[w], &status, 0), children[w]);
        assert_int_equal(status, 0);
    }
    kill(children[WRITERS], SIGKILL);
    waitpid(children[WRITERS], NULL, 0);
    assert_true(read_all(&checked) <= 1);
    for (int w = 0; w < WRITERS; w++) {
        char *at = taken;
        for (int i = 0; i < LINES; i++) { /* each writer's lines in their order */
            char text[64];
            snprintf(text, sizeof text, "writer %d line %d\n", w, i);
            at = strstr(at, text);
            assert_non_null(at);
            at += strlen(text);
        }
    }
}

static void locks_out_others(void **state)
{
    (void)state;
    static struct rmcp_lock lock = RMCP_LOCK_START;
    assert_int_equal(rmcp_lock_take(&lock, "/nonexistent/lock", 1), ENOENT);
    assert_false(rmcp_lock_is_taken(&lock, path));
    assert_int_equal(rmcp_lock_take(&lock, path, 0), 0);
    assert_true(rmcp_lock_is_taken(&lock, path));
    assert_int_equal(rmcp_lock_take(&lock, path, 0.05), EWOULDBLOCK); /* another thread of ours */
    /* A child that only forks does not have it, and cannot get it. */
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        int how = rmcp_lock_is_taken(&lock, path) ? 0 : 1;
        how |= rmcp_lock_take(&lock, path, 0.05) == EWOULDBLOCK ? 0 : 2;
        rmcp_lock_give(&lock);
        how |= rmcp_lock_is_taken(&lock, path) ? 0 : 4;
        if (write(ends[1], "x", 1) != 1) how |= 8;
        how |= rmcp_lock_take(&lock, path, 10) == 0 ? 0 : 16; /* when its parent gives it back */
        if (write(ends[1], "y", 1) != 1) how |= 32;
        if (how) _exit(how);
        for (;;) pause();
    }
    char byte = 0;
    assert_int_equal(read(ends[0], &byte, 1), 1);
    rmcp_lock_give(&lock);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_true(rmcp_lock_is_taken(&lock, path));
    assert_int_equal(rmcp_lock_take(&lock, path, 0.05), EWOULDBLOCK);
    kill(child, SIGKILL); /* its lock goes with it */
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(rmcp_lock_take(&lock, path, 1), 0);
    rmcp_lock_give(&lock);
    rmcp_lock_give(&lock); /* again does no harm */
    assert_false(rmcp_lock_is_taken(&lock, path));
    close(ends[0]);
    close(ends[1]);
}

#define WITH_FILE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(remembers),
        WITH_FILE(passes_over_torn_and_damaged_lines),
        WITH_FILE(passes_over_what_is_too_long),
        WITH_FILE(keeps_to_its_title),
        WITH_FILE(keeps_to_files),
        WITH_FILE(survives_a_full_disk),
        WITH_FILE(serves_many_processes),
        WITH_FILE(locks_out_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
