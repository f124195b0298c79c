/* test_files.c: files that are mapped, compared, kept and replaced. */
#include "base/error.h"
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/rmcp-files-XXXXXX";
static int folder = -1;

static int set_up(void **state)
{
    (void)state;
    return !mkdtemp(path) || (folder = open(path, O_RDONLY | O_DIRECTORY)) < 0;
}

static int tear_down(void **state)
{
    (void)state;
    close(folder);
    return rmdir(path); /* the tests leave nothing */
}

static void write_text(const char *name, const char *text)
{
    assert_int_equal(rmcp_file_write(folder, name, 0640, text, strlen(text)), RMCP_OK);
}

static void assert_text(const char *name, const char *text)
{
    struct rmcp_file file;
    assert_int_equal(rmcp_file_map(folder, name, &file), RMCP_OK);
    assert_int_equal(file.size, strlen(text));
    assert_memory_equal(file.bytes, text, file.size);
    rmcp_file_unmap(&file);
}

static void test_map(void **state)
{
    (void)state;
    struct rmcp_file file;
    write_text("empty", "");
    assert_int_equal(rmcp_file_map(folder, "empty", &file), RMCP_OK);
    assert_true(file.bytes && !file.size);
    rmcp_file_unmap(&file);
    assert_int_equal(rmcp_file_map(folder, ".", &file), RMCP_E_IO);
    assert_int_equal(rmcp_file_map(folder, "nothing", &file), RMCP_E_IO);
    assert_non_null(strstr(rmcp_last_error(), "nothing"));
    rmcp_file_unmap(&file);
    assert_int_equal(unlinkat(folder, "empty", 0), 0);
}

static void test_same(void **state)
{
    (void)state;
    write_text("a", "one text");
    write_text("b", "one text");
    write_text("c", "one more");
    assert_true(rmcp_file_same(folder, "a", folder, "a"));
    assert_true(rmcp_file_same(folder, "a", folder, "b"));
    assert_false(rmcp_file_same(folder, "a", folder, "c"));
    assert_false(rmcp_file_same(folder, "a", folder, "d"));
    for (const char *name = "a\0b\0c\0"; *name; name += 2)
        assert_int_equal(unlinkat(folder, name, 0), 0);
}

/* Until it is committed a new file is nowhere to be seen; what was prepared last counts. */
static void test_replace(void **state)
{
    (void)state;
    struct stat about;
    char name[NAME_MAX + 1];
    memset(name, 'n', NAME_MAX);
    name[NAME_MAX] = '\0';
    write_text(name, "old");
    assert_int_equal(rmcp_file_prepare(folder, name, 0751, "half", 4), RMCP_OK);
    assert_text(name, "old");
    assert_int_equal(rmcp_file_prepare(folder, name, 0751, "new", 3), RMCP_OK);
    assert_int_equal(rmcp_file_commit(folder, name), RMCP_OK);
    assert_text(name, "new");
    assert_int_equal(fstatat(folder, name, &about, 0), 0);
    assert_int_equal(about.st_mode & 07777, 0751);
    assert_int_equal(rmcp_file_commit(folder, name), RMCP_E_IO); /* nothing is prepared */
    assert_int_equal(rmcp_file_prepare_link(folder, name, "elsewhere"), RMCP_OK);
    rmcp_file_discard(folder, name);
    assert_text(name, "new");
    assert_int_equal(unlinkat(folder, name, 0), 0);
}

static void test_keep(void **state)
{
    (void)state;
    struct stat before, after;
    write_text("file", "kept");
    assert_int_equal(rmcp_file_keep(folder, "file", folder, "second"), RMCP_OK);
    assert_int_equal(fstatat(folder, "file", &before, 0), 0);
    assert_int_equal(fstatat(folder, "second", &after, 0), 0);
    assert_true(before.st_ino == after.st_ino);
    write_text("other", "in the way"); /* a name that is taken cannot be a second one */
    assert_int_equal(rmcp_file_keep(folder, "file", folder, "other"), RMCP_OK);
    assert_text("other", "kept");
    assert_int_equal(fstatat(folder, "other", &after, 0), 0);
    assert_true(before.st_ino != after.st_ino && before.st_mode == after.st_mode);
    for (const char *const *name = (const char *const[]){ "file", "second", "other", NULL }; *name;
         name++)
        assert_int_equal(unlinkat(folder, *name, 0), 0);
}

static void test_lock(void **state)
{
    (void)state;
    int first, second;
    assert_int_equal(rmcp_folder_open(path, &first), RMCP_OK);
    assert_int_equal(rmcp_folder_open(path, &second), RMCP_E_IO);
    assert_int_equal(second, -1);
    assert_non_null(strstr(rmcp_last_error(), "another rmcp is at work"));
    close(first);
    assert_int_equal(rmcp_folder_open(path, &second), RMCP_OK);
    assert_int_equal(rmcp_folder_sync(second), RMCP_OK);
    close(second);
    assert_int_equal(rmcp_folder_open("/proc/version", &second), RMCP_E_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map),  cmocka_unit_test(test_same), cmocka_unit_test(test_replace),
        cmocka_unit_test(test_keep), cmocka_unit_test(test_lock),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
