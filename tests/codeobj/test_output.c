/* test_output.c: files are there whole or not at all, whenever the writer ends and whatever fails.
 * usage: test_output SAMPLES
 * Each system call that writes is in turn the last one of a process, or fails. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "code/codeobj/containers.h"
#include "rewriting.h"

static const char *samples;

/* The n-th call of these: ends the process half-way, or fails as a full disk does. */
static long act_at = -1;
static bool kills;
static bool turn(void)
{
    return act_at >= 0 && act_at-- == 0;
}

/* Large files make these the 64-bit ones where off_t has to be asked for. */
ssize_t __real_pwrite64(int file, const void *bytes, size_t size, off_t offset);
ssize_t __wrap_pwrite64(int file, const void *bytes, size_t size, off_t offset);
ssize_t __wrap_pwrite64(int file, const void *bytes, size_t size, off_t offset)
{
    if (!turn()) return __real_pwrite64(file, bytes, size, offset);
    if (kills) {
        if (size > 1 && __real_pwrite64(file, bytes, size / 2, offset) < 0) _exit(3);
        _exit(9);
    }
    errno = ENOSPC;
    return -1;
}

int __real_ftruncate64(int file, off_t size);
int __wrap_ftruncate64(int file, off_t size);
int __wrap_ftruncate64(int file, off_t size)
{
    if (!turn()) return __real_ftruncate64(file, size);
    if (kills) _exit(9);
    errno = ENOSPC;
    return -1;
}

int __real_fsync(int file);
int __wrap_fsync(int file);
int __wrap_fsync(int file)
{
    if (!turn()) return __real_fsync(file);
    if (kills) _exit(9);
    errno = EIO;
    return -1;
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to)
{
    if (!turn()) return __real_rename(from, to);
    if (kills) _exit(9);
    errno = EACCES;
    return -1;
}

static rmcp_status spread_object(void *context, const struct codeobj_item *item,
                                 struct codeobj_made *made)
{
    (void)context;
    struct codeobj *object = NULL;
    struct spread spread = { 0 };
    if (strcmp(item->target.text, "gfx1030")) return RMCP_OK;
    rmcp_status status = codeobj_open(item->bytes, item->size, &object);
    if (!status) status = spread_init(&spread, object, 1);
    const struct codeobj_change change = { .text = spread.text,
                                           .text_size = spread.text_size,
                                           .moved = spread_moved,
                                           .moved_context = &spread };
    if (!status) status = codeobj_write(object, &change, &made->bytes, &made->size);
    spread_deinit(&spread);
    codeobj_close(object);
    return status;
}

static size_t file_bytes(const char *path, uint8_t **bytes)
{
    FILE *file = fopen(path, "rb");
    *bytes = NULL;
    if (!file) return 0;
    fseek(file, 0, SEEK_END);
    const size_t size = (size_t)ftell(file);
    rewind(file);
    *bytes = malloc(size + 1);
    assert_non_null(*bytes);
    assert_int_equal(fread(*bytes, 1, size, file), size);
    fclose(file);
    return size;
}

static bool same_file(const char *a, const char *b)
{
    uint8_t *x, *y;
    const size_t n = file_bytes(a, &x), m = file_bytes(b, &y);
    const bool same = x && y && n == m && !memcmp(x, y, n);
    free(x);
    free(y);
    return same;
}

/* Files in the folder, and with `clean` they are gone. */
static size_t count_files(const char *folder, bool clean)
{
    DIR *list = opendir(folder);
    size_t n = 0;
    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list));) {
        char path[8192];
        if (entry->d_name[0] == '.') continue;
        n++;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (clean) unlink(path);
    }
    closedir(list);
    return n;
}

/* `to` is absent before, or holds something else: in the end that, or the whole new file. */
static void try_file(const char *name, bool exists)
{
    char from[4096], to[4096], whole[4096], folder[] = "/tmp/rmcp-output-XXXXXX";
    struct stat about, made;
    assert_non_null(mkdtemp(folder));
    snprintf(from, sizeof from, "%s/%s", samples, name);
    snprintf(to, sizeof to, "%s/out", folder);
    snprintf(whole, sizeof whole, "%s.whole", folder);
    assert_int_equal(codeobj_rewrite_file(from, whole, spread_object, NULL, NULL), RMCP_OK);
    assert_false(same_file(from, whole));
    assert_int_equal(stat(from, &about) || stat(whole, &made), 0);
    assert_int_equal(about.st_mode, made.st_mode);
    for (int mode = 0; mode < 2; mode++) {
        bool done = false;
        long n = 0;
        for (; !done && n < 1000; n++) {
            count_files(folder, true);
            if (exists) assert_int_equal(codeobj_output_file(to, 0600, "old", 3), RMCP_OK);
            kills = mode == 0;
            const pid_t child = fork();
            assert_true(child >= 0);
            if (!child) {
                act_at = n;
                const rmcp_status status =
                    codeobj_rewrite_file(from, to, spread_object, NULL, NULL);
                _exit(status ? 1 : act_at >= 0 ? 0 : 2);
            }
            int result = 0;
            assert_int_equal(waitpid(child, &result, 0), child);
            assert_true(WIFEXITED(result));
            const int code = WEXITSTATUS(result);
            done = code == 0;
            assert_true(code == 0 || code == (kills ? 9 : 1) || code == 2);
            struct stat there;
            const bool is_there = !stat(to, &there);
            /* 2: the folder's own fsync, which is not needed for the file to be whole */
            if (code == 0 || code == 2)
                assert_true(same_file(to, whole));
            else if (is_there && !same_file(to, whole))
                assert_true(exists && there.st_size == 3);
            if (!exists && code == 1) assert_false(is_there);
            /* What fails leaves nothing behind; what is killed may leave its temporary file. */
            if (!kills) assert_int_equal(count_files(folder, false), is_there ? 1 : 0);
        }
        assert_true(done);
        assert_true(n > 3);
    }
    count_files(folder, true);
    rmdir(folder);
    unlink(whole);
}

static void test_every_kind(void **state)
{
    (void)state;
    static const char *const names[] = { "gfx1030-v5.co", "plain.bundle", "ccob-v2-zstd.bundle",
                                         "libhost.so", "gfx1030_36.kdb" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        try_file(names[i], false);
        try_file(names[i], true);
    }
}

/* Of what cannot be written nothing is. */
static void test_nothing_written(void **state)
{
    (void)state;
    static const char *const names[] = { "libbare.so", "concatenated.co", "text.bundle",
                                         "wheel.whl",  "sample.cl",       "empty-file",
                                         "nowhere" };
    char folder[] = "/tmp/rmcp-output-XXXXXX", from[4096], to[4096];
    assert_non_null(mkdtemp(folder));
    snprintf(to, sizeof to, "%s/out", folder);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(from, sizeof from, "%s/%s", samples, names[i]);
        assert_int_not_equal(codeobj_rewrite_file(from, to, spread_object, NULL, NULL), RMCP_OK);
        assert_non_null(strstr(rmcp_last_error(), names[i]));
        assert_null(strchr(rmcp_last_error(), '\n'));
        assert_int_equal(count_files(folder, false), 0);
    }
    snprintf(from, sizeof from, "%s/gfx1030-v5.co", samples);
    assert_int_equal(codeobj_rewrite_file(from, "/nowhere/at/all", spread_object, NULL, NULL),
                     RMCP_E_IO);
    rmdir(folder);
}

/* Damaged containers: an error, or a file of which every object can be read. */
static rmcp_status read_object(void *context, const struct codeobj_item *item)
{
    struct codeobj *object = NULL;
    if (item->kind != CODEOBJ_OBJECT || codeobj_open(item->bytes, item->size, &object))
        return RMCP_OK;
    codeobj_close(object);
    ++*(size_t *)context;
    return RMCP_OK;
}

static void test_damaged_containers(void **state)
{
    (void)state;
    static const char *const names[] = { "plain.bundle", "ccob-v3-zlib.bundle", "libhost.so",
                                         "gfx1030_36.kdb" };
    char folder[] = "/tmp/rmcp-output-XXXXXX", from[4096], bad[4096], to[4096];
    assert_non_null(mkdtemp(folder));
    snprintf(bad, sizeof bad, "%s/bad", folder);
    snprintf(to, sizeof to, "%s/out", folder);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint8_t *bytes;
        snprintf(from, sizeof from, "%s/%s", samples, names[i]);
        const size_t size = file_bytes(from, &bytes);
        for (uint64_t n = 0; n < 120; n++) {
            const uint64_t mixed = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
            /* Half of them in the first bytes, where headers are; some are cut off. */
            const size_t at = (size_t)(mixed >> 20) % (n % 2 ? size : 256);
            const size_t cut = n % 10 == 9 ? at : size;
            const uint8_t old = bytes[at];
            bytes[at] = (uint8_t)(mixed >> 5);
            FILE *file = fopen(bad, "wb");
            assert_non_null(file);
            assert_int_equal(fwrite(bytes, 1, cut, file), cut);
            fclose(file);
            bytes[at] = old;
            size_t seen = 0;
            if (codeobj_rewrite_file(bad, to, spread_object, NULL, NULL)) {
                assert_int_equal(access(to, F_OK), -1);
            } else {
                assert_int_equal(codeobj_walk_path(to, NULL, read_object, &seen), RMCP_OK);
                unlink(to);
            }
        }
        free(bytes);
    }
    count_files(folder, true);
    rmdir(folder);
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    samples = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind),
        cmocka_unit_test(test_nothing_written),
        cmocka_unit_test(test_damaged_containers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
