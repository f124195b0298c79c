/* test_dropin.c: what is read of programs and libraries, also of damaged ones; which folders are
 * the system's; manifests. Takes a library that has a function rmcp_version, and a program. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "code/codeobj/linked.h"
#include "dropin/install/dropin.h"
#include "dropin/install/manifest.h"
#include "dropin/install/program.h"

static const char *library, *program;

static void test_linked(void **state)
{
    (void)state;
    struct rmcp_file map;
    struct codeobj_linked linked;
    assert_int_equal(rmcp_file_map(AT_FDCWD, library, &map), RMCP_OK);
    assert_int_equal(codeobj_linked_read(map.bytes, map.size, &linked), RMCP_OK);
    assert_string_equal(linked.soname, "librmcp.so.0");
    assert_string_equal(linked.interpreter, "");
    assert_true(codeobj_linked_exports(map.bytes, map.size, "rmcp_version"));
    assert_false(codeobj_linked_exports(map.bytes, map.size, "rmcp_versio"));
    assert_false(codeobj_linked_exports(map.bytes, map.size, "malloc")); /* needed, not defined */
    rmcp_file_unmap(&map);
    assert_int_equal(rmcp_file_map(AT_FDCWD, program, &map), RMCP_OK);
    assert_int_equal(codeobj_linked_read(map.bytes, map.size, &linked), RMCP_OK);
    assert_string_equal(linked.soname, "");
    assert_non_null(strstr(linked.interpreter, "ld"));
    rmcp_file_unmap(&map);
}

/* Cut anywhere, with bytes changed: an error or an answer, and nothing beyond the end is read,
 * which sanitizers would see. */
static void test_damaged(void **state)
{
    (void)state;
    struct rmcp_file map;
    struct codeobj_linked linked;
    assert_int_equal(rmcp_file_map(AT_FDCWD, library, &map), RMCP_OK);
    const size_t sections = 4096; /* the end of the file, where the tables are */
    uint64_t seed = 1;
    for (int i = 0; i < 200; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const size_t size = i % 2 ? map.size - (seed >> 33) % sections : (seed >> 33) % sections;
        uint8_t *copy = malloc(size + !size);
        assert_non_null(copy);
        memcpy(copy, map.bytes, size);
        for (int k = 0; k < 8 && size; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const size_t near = k % 2 && size > sections ? size - sections : 0;
            copy[near + (seed >> 33) % (size - near)] = (uint8_t)(seed >> 25);
        }
        if (!codeobj_linked_read(copy, size, &linked))
            assert_true(strlen(linked.soname) < sizeof linked.soname);
        codeobj_linked_exports(copy, size, "rmcp_version");
        free(copy);
    }
    rmcp_file_unmap(&map);
    assert_int_not_equal(codeobj_linked_read("", 0, &linked), RMCP_OK);
    assert_false(codeobj_linked_exports("\177ELF\2\1\1", 7, "x"));
}

static void test_system_folders(void **state)
{
    (void)state;
    static const struct {
        const char *folder;
        bool is_system;
    } list[] = {
        { "/usr/lib/x86_64-linux-gnu", true },
        { "/usr/lib/python3/dist-packages/torch/lib", true },
        { "/opt/rocm-6.2.0/lib", true },
        { "/opt/rocm/lib", true },
        { "/nix/store/abc/lib", true },
        { "/usr/local/lib/python3.12/dist-packages/torch/lib", false },
        { "/home/user/venv/lib/python3.12/site-packages/torch/lib", false },
        { "/opt/venv/lib/python3.12/site-packages/torch/lib", false },
        { "/usrx/lib", false },
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        struct dropin_place place = { .copy = DROPIN_SYSTEM };
        snprintf(place.folder, sizeof place.folder, "%s", list[i].folder);
        if (dropin_place_is_system(&place) != list[i].is_system) fail_msg("%s", list[i].folder);
    }
}

static void test_manifest(void **state)
{
    (void)state;
    char folder[] = "/tmp/rmcp-manifest-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const int room = open(folder, O_RDONLY | O_DIRECTORY);
    assert_true(room >= 0);
    struct dropin_manifest in = { .name = "libMIOpen.so.1",
                                  .version = "1.2.3",
                                  .ours = { 1, UINT64_MAX },
                                  .original = { UINT64_MAX, 0 },
                                  .link = "libMIOpen.so.1.0 with blanks" },
                           out;
    assert_false(dropin_manifest_read(room, &out));
    assert_int_equal(dropin_manifest_write(room, &in), RMCP_OK);
    assert_true(dropin_manifest_read(room, &out));
    /* As earlier releases wrote it. */
    static const char text[] =
        "rmcp-dropin 1\nname libMIOpen.so.1\nversion 1.2.3\nours 1 ffffffffffffffff\n"
        "original 18446744073709551615 0000000000000000\nlink libMIOpen.so.1.0 with blanks\n";
    struct rmcp_file file;
    assert_int_equal(rmcp_file_map(room, "manifest", &file), RMCP_OK);
    assert_int_equal(file.size, sizeof text - 1);
    assert_memory_equal(file.bytes, text, file.size);
    rmcp_file_unmap(&file);
    assert_string_equal(out.name, in.name);
    assert_string_equal(out.version, in.version);
    assert_string_equal(out.link, in.link);
    assert_memory_equal(&out.ours, &in.ours, sizeof in.ours);
    assert_memory_equal(&out.original, &in.original, sizeof in.original);
    static const char *const bad[] = {
        "", "rmcp-dropin 2\nname a\nversion 1\nours 1 1\noriginal 1 1\n",
        "rmcp-dropin 1\nname a\nversion 1\nours 1\noriginal 1 1\n",
        "rmcp-dropin 1\nname a\nversion 1\nours 1 1 1\noriginal 1 1\n",
        "rmcp-dropin 1\nversion 1\nours 1 1\noriginal 1 1\n",
        /* clang-format off: one string */
        "rmcp-dropin 1\nname aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\nversion 1\nours 1 1\noriginal 1 "
        "1\n",
        /* clang-format on */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(rmcp_file_write(room, "manifest", 0644, bad[i], strlen(bad[i])), RMCP_OK);
        if (dropin_manifest_read(room, &out)) fail_msg("manifest %zu was taken", i);
    }
    unlinkat(room, "manifest", 0);
    close(room);
    rmdir(folder);
}

static void test_program(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct dropin_program found;
    assert_true(dropin_program_search("sh", path));
    assert_int_equal(path[0], '/');
    assert_false(dropin_program_search("", path));
    assert_false(dropin_program_search("/", path));
    assert_false(dropin_program_search("no-such-program-anywhere", path));
    char *const command[] = { (char *)program, NULL };
    assert_int_equal(dropin_program_read(command, &found), RMCP_OK);
    assert_int_equal(found.kind, DROPIN_PROGRAM_LINKED);
    assert_false(found.is_setuid);
    char *const folder[] = { "/tmp", NULL };
    assert_int_equal(dropin_program_read(folder, &found), RMCP_E_UNSUPPORTED);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linked),         cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_system_folders), cmocka_unit_test(test_manifest),
        cmocka_unit_test(test_program),
    };
    if (argc != 3) return 2;
    library = argv[1];
    program = argv[2];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
