/* test_doctor.c: rmcp doctor's way of reading machines: hostile trees and tar files, probes that
 * hang or crash, private things, chips and variables. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "help/doctor/clean.h"
#include "help/doctor/doctor.h"
#include "help/doctor/probe.h"

/* ---- a folder to play in ---- */

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/rmcp-doctor-XXXXXX");
    return !mkdtemp(folder);
}

static int tear_down(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static const char *at(const char *path)
{
    static char full[512];
    snprintf(full, sizeof full, "%s%s", folder, path);
    return full;
}

static void put_file(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", folder, path);
    for (char *slash = full + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(full, 0755);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void put_link(const char *path, const char *target)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", folder, path);
    assert_int_equal(symlink(target, full), 0);
}

/* ---- paths ---- */

static void test_paths(void **state)
{
    struct doctor_view view;
    char real[512], text[64];
    (void)state;
    put_file("/etc/passwd", "inside\n");
    put_file("/a/b/file", "abc\n");
    put_link("/up", "../../../../../../etc/passwd");
    put_link("/absolute", "/etc/passwd");
    put_link("/a/around", "/a/around2");
    put_link("/a/around2", "around");
    put_link("/self", "self/self");
    put_link("/a/dots", "../a/./b/../b/file");
    put_link("/nowhere", "gone");
    assert_int_equal(doctor_view_open(&view, folder), RMCP_OK);
    assert_false(view.is_live);
    assert_true(doctor_read(&view, "/up", text, sizeof text) > 0); /* never the real one */
    assert_string_equal(text, "inside\n");
    assert_true(doctor_read(&view, "/absolute", text, sizeof text) > 0);
    assert_string_equal(text, "inside\n");
    assert_true(doctor_read(&view, "/../../etc/../etc/passwd", text, sizeof text) > 0);
    assert_string_equal(text, "inside\n");
    assert_true(doctor_real(&view, "/a/dots", false, real, sizeof real, NULL, NULL));
    assert_string_equal(real, "/a/b/file");
    assert_int_equal(doctor_read(&view, "/a/around", text, sizeof text), -1);
    assert_int_equal(doctor_read(&view, "/self/x", text, sizeof text), -1);
    assert_int_equal(doctor_at(&view, "/nowhere"), DOCTOR_NOTHING);
    assert_int_equal(doctor_at(&view, "/a/b/file/beyond"), DOCTOR_NOTHING);
    assert_int_equal(doctor_at(&view, "/"), DOCTOR_FOLDER);
    assert_true(doctor_read_link(&view, "/nowhere", text, sizeof text));
    assert_string_equal(text, "gone");
    assert_false(doctor_read_link(&view, "/a", text, sizeof text));
    assert_int_equal(doctor_read(&view, "/a/b/file", text, 3), 2);
    assert_string_equal(text, "ab");
    assert_int_equal(doctor_read_end(&view, "/a/b/file", text, 3), 2);
    assert_string_equal(text, "c\n");
    doctor_view_close(&view);
}

static void test_odd_files(void **state)
{
    struct doctor_view view;
    struct doctor_map map;
    struct doctor_names names;
    char text[64];
    (void)state;
    put_file("/sys/empty", "");
    assert_int_equal(mkfifo(at("/pipe"), 0600), 0); /* nobody writes: opening it must not wait */
    put_link("/device", "/dev/zero");
    put_file("/sys/zeros", "");
    assert_int_equal(truncate(at("/sys/zeros"), (off_t)1 << 40), 0); /* 1 TB, sparse */
    assert_int_equal(doctor_view_open(&view, folder), RMCP_OK);
    assert_int_equal(doctor_at(&view, "/pipe"), DOCTOR_OTHER);
    assert_int_equal(doctor_read(&view, "/pipe", text, sizeof text), -1);
    assert_false(doctor_map(&view, "/pipe", &map));
    assert_int_equal(doctor_read(&view, "/device", text, sizeof text), -1);
    assert_int_equal(doctor_read(&view, "/sys", text, sizeof text), -1);
    assert_int_equal(doctor_read(&view, "/sys/empty", text, sizeof text), 0);
    assert_int_equal(doctor_read(&view, "/sys/zeros", text, sizeof text), 63);
    assert_int_equal(strlen(text), 63); /* NUL bytes became blanks */
    doctor_list(&view, "/sys", &names);
    assert_int_equal(names.n, 2);
    assert_string_equal(names.list[0], "empty");
    doctor_names_deinit(&names);
    doctor_list(&view, "/pipe", &names);
    assert_int_equal(names.n, 0);
    doctor_view_close(&view);
    assert_int_equal(doctor_view_open(&view, at("/pipe")), RMCP_E_ARG);
    assert_int_equal(doctor_view_open(&view, at("/gone")), RMCP_E_ARG);
    assert_int_equal(doctor_view_open(&view, at("/sys")), RMCP_E_ARG); /* no machine */
    assert_int_equal(doctor_view_open(&view, at("/sys/empty")), RMCP_E_ARG);
    assert_int_equal(doctor_view_open(&view, at("/sys/zeros")), RMCP_E_ARG); /* too large */
}

/* A tree in which every file of sysfs is something else. */
static void test_hostile_tree(void **state)
{
    static const char node[] = "/sys/class/kfd/kfd/topology/nodes";
    struct doctor_view view;
    struct doctor_machine *m;
    char path[256];
    (void)state;
    put_file("/sys/class/kfd/kfd/topology/nodes/0/x", "");
    snprintf(path, sizeof path, "%s/0/properties", node);
    assert_int_equal(mkfifo(at(path), 0600), 0);
    put_file("/sys/class/kfd/kfd/topology/nodes/1/properties",
             "simd_count 18446744073709551616\ngfx_target_version 4294967297\nvendor_id "
             "0x1002\n\n\n\xff\xfe\n");
    put_file(
        "/sys/class/kfd/kfd/topology/nodes/2/properties",
        "simd_count 72\nsimd_per_cu 0\nvendor_id 4098\ndevice_id 29471\ngfx_target_version 100199\n"
        "location_id 18446744073709551615\ndomain 18446744073709551615\n");
    put_link("/sys/class/kfd/kfd/topology/nodes/3", "3");
    put_link("/sys/class/kfd/kfd/topology/nodes/2/io_links", "..");
    put_file("/sys/bus/pci/devices/0000:03:00.0/class", "0x030000");
    put_file("/sys/bus/pci/devices/0000:03:00.0/vendor", "0x1002\n0x1002");
    put_link("/sys/bus/pci/devices/0000:03:00.0/device", "../0000:03:00.0/vendor");
    put_file("/rmcp/environment",
             "NOEQUALS\n=\nHSA_OVERRIDE_GFX_VERSION=\n\x1b[31mLD_PRELOAD=x\nLD_PRELOAD=\x1b[31m\n");
    put_file("/rmcp/devices", "/dev/kfd c 99999999999999 a b c\n/dev/kfd c 660 0 0 EVIL\n");
    put_file("/rmcp/user", "uid -1\ngroups : :: a:b 1:99999999999\n");
    put_file("/opt/rocm/lib/x", "");
    put_link("/opt/rocm/lib/libamdhip64.so", "libamdhip64.so");
    put_link("/home", "/");
    put_link("/opt/rocm-2", "rocm");
    assert_int_equal(doctor_view_open(&view, folder), RMCP_OK);
    assert_int_equal(doctor_examine(&view, &m), RMCP_OK);
    for (int i = 0; i < DOCTOR_PROBES; i++) assert_int_equal(m->probes[i], DOCTOR_DONE);
    assert_int_equal(m->n_gpus, 2);
    assert_string_equal(m->gpus[1].chip, ""); /* 10.1.99 is no chip */
    for (size_t i = 0; i < m->n_variables; i++) assert_null(strchr(m->variables[i].value, '\x1b'));
    assert_true(m->kfd.exists);
    assert_int_not_equal(m->kfd.open_error, 0);
    doctor_release(m);
    doctor_view_close(&view);
}

/* ---- tar files ---- */

static size_t make_tar(uint8_t *out, size_t room, const char *const *paths, const char *types,
                       size_t n)
{
    snprintf(folder, sizeof folder, "/tmp/rmcp-doctor-XXXXXX");
    int file = mkstemp(folder);
    assert_true(file >= 0);
    struct doctor_tar_writer writer = { file, RMCP_OK };
    for (size_t i = 0; i < n; i++)
        doctor_tar_put(&writer,
                       types[i] == 'l'   ? DOCTOR_LINK
                       : types[i] == 'd' ? DOCTOR_FOLDER
                                         : DOCTOR_FILE,
                       paths[2 * i], paths[2 * i + 1], strlen(paths[2 * i + 1]));
    doctor_tar_end(&writer);
    assert_int_equal(writer.status, RMCP_OK);
    ssize_t size = pread(file, out, room, 0);
    close(file);
    unlink(folder);
    assert_true(size > 0);
    return (size_t)size;
}

static void test_tar(void **state)
{
    static const char longest[] =
        "/home/user/env1/lib/python3.12/site-packages/a-very-long-name-for-a-folder-indeed/"
        "and-a-file-of-its-own.txt";
    static const char *const paths[] = { "/etc/one", "1\n",        "/a/b/c", "",
                                         "/a/link",  "../etc/one", "/loop",  "loop",
                                         "/../out",  "x",          longest,  "long\n" };
    uint8_t *bytes = calloc(1, 1 << 16);
    struct doctor_view view;
    struct doctor_names names;
    char text[16];
    (void)state;
    assert_non_null(bytes);
    size_t size = make_tar(bytes, 1 << 16, paths, "fdllff", 6);
    assert_int_equal(doctor_view_open_tar(&view, bytes, size), RMCP_OK);
    assert_true(doctor_read(&view, "/a/link", text, sizeof text) > 0);
    assert_string_equal(text, "1\n");
    assert_int_equal(doctor_at(&view, "/a/b/c"), DOCTOR_FOLDER);
    assert_int_equal(doctor_at(&view, "/a/b"), DOCTOR_FOLDER);
    assert_int_equal(doctor_at(&view, "/loop"), DOCTOR_NOTHING);
    assert_int_equal(doctor_at(&view, "/out"), DOCTOR_NOTHING); /* ".." is not taken */
    assert_true(doctor_read(&view, longest, text, sizeof text) > 0);
    doctor_list(&view, "/", &names);
    assert_int_equal(names.n, 4); /* a, etc, home, loop */
    doctor_names_deinit(&names);
    doctor_view_close(&view);
    /* Cut off anywhere, or damaged anywhere: an error or a smaller tree, never more. */
    for (size_t cut = 0; cut < size; cut += 97)
        if (!doctor_view_open_tar(&view, bytes, cut)) doctor_view_close(&view);
    for (size_t i = 0; i < size; i += 13) {
        bytes[i] ^= 0x55;
        if (!doctor_view_open_tar(&view, bytes, size)) doctor_view_close(&view);
        bytes[i] ^= 0x55;
    }
    bytes[0] = 'x'; /* checksum */
    assert_int_equal(doctor_view_open_tar(&view, bytes, size), RMCP_E_IO);
    free(bytes);
}

/* ---- probes that misbehave ---- */

static void hang(const struct doctor_search *search)
{
    (void)search;
    for (;;) pause();
}

static void crash(const struct doctor_search *search)
{
    (void)search;
    signal(SIGABRT, SIG_DFL);
    raise(SIGKILL);
}

static void fine(const struct doctor_search *search)
{
    search->machine->n_gpus++;
}

static void test_bad_probes(void **state)
{
    struct doctor_prober probers[DOCTOR_PROBES];
    const struct doctor_limits limits = { 100, 300 }, patient = { 60000, 60000 };
    struct doctor_view view;
    (void)state;
    struct doctor_machine *m =
        mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(m, MAP_FAILED);
    assert_int_equal(doctor_view_open(&view, NULL), RMCP_OK);
    for (int i = 0; i < DOCTOR_PROBES; i++) probers[i] = (struct doctor_prober){ "fine", fine };
    probers[1].run = crash;
    doctor_run(&view, m, probers, &patient,
               &patient); /* a crash is seen at once, whatever the limit */
    assert_int_equal(m->probes[0], DOCTOR_DONE);
    assert_int_equal(m->probes[1], DOCTOR_CRASHED);
    assert_int_equal(m->probes[2], DOCTOR_DONE);
    probers[0].run = hang;
    probers[3].run = hang;
    doctor_run(&view, m, probers, &limits, &limits);
    assert_int_equal(m->probes[0], DOCTOR_LATE);
    assert_int_equal(m->probes[3], DOCTOR_LATE);
    doctor_view_close(&view);
    doctor_release(m);
}

/* ---- private things ---- */

static void test_clean(void **state)
{
    static const struct {
        const char *from, *to;
    } texts[] = {
        { "at alices-pc.example.org now", "at host now" },
        { "on alices-pc: up", "on host: up" },
        { "user alice has", "user user has" },
        { "malice and alicee stay", "malice and alicee stay" },
        { "PATH=/home/alice/secret/x:/opt/rocm/lib", "PATH=/home/user/private:/opt/rocm/lib" },
        { "/home/bob/lib", "/home/user/private" },
        { "VIRTUAL_ENV=/home/alice/secret/venv\n", "VIRTUAL_ENV=/home/user/env1\n" },
        { "/home/alice/secret/venv/lib/python3.12/x", "/home/user/env1/lib/python3.12/x" },
        { "/home/alice/secret/venv2/x", "/home/user/private" },
        { "/root/build", "/home/user/private" },
        { "root=UUID=0f3c1a2b-1111-2222-3333-444455556666 ro", "root=UUID=removed ro" },
        { "mac 00:1b:21:ab:cd:ef.", "mac removed." },
        { "0000:03:00.0 stays", "0000:03:00.0 stays" },
        { "unique_id 123456789\nsimd_count 72\n", "removed\nsimd_count 72\n" },
        { "serial: ABC123\n", "removed\n" },
        { "10.3.0, gfx1010, 6425673728", "10.3.0, gfx1010, 6425673728" },
    };
    static const struct {
        const char *from, *to;
    } paths[] = {
        { "/home/alice/.bashrc", "/home/user/.bashrc" },
        { "/home/alice/secret/venv/lib/python3.12/site-packages/torch/version.py",
          "/home/user/env1/lib/python3.12/site-packages/torch/version.py" },
        { "/home/alice/thesis/libhip_memory_intercept.so",
          "/home/user/private/libhip_memory_intercept.so" },
        { "/opt/rocm/lib/libamdhip64.so", "/opt/rocm/lib/libamdhip64.so" },
    };
    struct doctor_cleaner *cleaner = calloc(1, sizeof *cleaner);
    struct doctor_machine *m = calloc(1, sizeof *m);
    (void)state;
    assert_non_null(cleaner);
    assert_non_null(m);
    snprintf(m->home, sizeof m->home, "/home/alice");
    m->n_pythons = 1;
    snprintf(m->pythons[0].site, sizeof m->pythons[0].site,
             "/home/alice/secret/venv/lib/python3.12/site-packages");
    doctor_cleaner_init(cleaner, m);
    snprintf(cleaner->host, sizeof cleaner->host, "alices-pc.example.org");
    snprintf(cleaner->short_host, sizeof cleaner->short_host, "alices-pc");
    snprintf(cleaner->user, sizeof cleaner->user, "alice");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *cleaned = doctor_clean_text(cleaner, texts[i].from);
        assert_string_equal(cleaned, texts[i].to);
        free(cleaned);
    }
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char *cleaned = doctor_clean_path(cleaner, paths[i].from);
        assert_string_equal(cleaned, paths[i].to);
        free(cleaned);
    }
    free(m);
    free(cleaner);
}

/* ---- chips, targets, overrides ---- */

/* RMCP beside a PyTorch, in an environment on top of the system's, and not there. */
static void test_adapter(void **state)
{
    static struct doctor_machine machine;
    static struct doctor_cleaner cleaner;
    struct doctor_view view;
    (void)state;
    put_file("/rmcp/format", "rmcp-machine 1\n");
    put_file("/rmcp/environment", "VIRTUAL_ENV=/home/user/top\n");
    put_file("/usr/lib/python3.12/site-packages/torch/version.py", "__version__ = '2.6.0'\n");
    put_file("/home/user/one/lib/python3.12/site-packages/torch/version.py",
             "__version__ = '2.5.0'\n");
    put_file("/home/user/one/lib/python3.12/site-packages/rmcp-torch.pth", "# RMCP_TORCH\n");
    put_file("/home/user/top/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = true\n");
    put_file("/home/user/top/lib/python3.12/site-packages/rmcp/_version.py", "TEXT = ''\n");
    assert_int_equal(doctor_view_open(&view, folder), RMCP_OK);
    memset(&machine, 0, sizeof machine);
    doctor_examine_here(&view, &machine);
    assert_int_equal(machine.n_pythons, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct doctor_python *python = &machine.pythons[i];
        const bool is_system = !strncmp(python->site, "/usr/", 5);
        assert_int_equal(python->has_rmcp, is_system);
        assert_int_equal(python->has_hook, !is_system);
        assert_string_equal(python->layer, is_system ? "/home/user/top" : "");
    }
    doctor_cleaner_init(&cleaner, &machine);
    char *clean = doctor_clean_path(&cleaner, "/home/user/top/pyvenv.cfg");
    assert_non_null(clean);
    assert_non_null(strstr(clean, "/home/user/env")); /* it stays an environment */
    assert_null(strstr(clean, "top"));
    free(clean);
    put_file("/home/user/top/pyvenv.cfg", "include-system-site-packages = false\n");
    memset(&machine, 0, sizeof machine);
    doctor_examine_here(&view, &machine);
    for (size_t i = 0; i < machine.n_pythons; i++) assert_false(machine.pythons[i].has_rmcp);
    doctor_view_close(&view);
}

static void test_chips(void **state)
{
    char chip[16];
    uint32_t version;
    (void)state;
    assert_true(rmcp_chip_name(100100, chip));
    assert_string_equal(chip, "gfx1010");
    assert_true(rmcp_chip_name(90010, chip));
    assert_string_equal(chip, "gfx90a");
    assert_true(rmcp_chip_name(90402, chip));
    assert_string_equal(chip, "gfx942");
    assert_false(rmcp_chip_name(0, chip));
    assert_false(rmcp_chip_name(100199, chip));
    assert_int_equal(doctor_chip_service(100102), DOCTOR_CHIP_LEFT_BEHIND);
    assert_int_equal(doctor_chip_service(80003), DOCTOR_CHIP_OLD);
    assert_int_equal(doctor_chip_service(100301), DOCTOR_CHIP_FAMILY);
    assert_int_equal(doctor_chip_service(90012), DOCTOR_CHIP_FAMILY);
    assert_string_equal(doctor_chip_wheel(90002), "rocm6.3"); /* gfx900's */
    assert_string_equal(doctor_chip_wheel(110003), "rocm7.2");
    assert_null(doctor_chip_wheel(100100));
    assert_true(doctor_chip_same_family(90002, 90000) && doctor_chip_same_family(110501, 110000));
    assert_false(doctor_chip_same_family(90000, 90006) || doctor_chip_same_family(100100, 100300));
    assert_false(doctor_chip_same_family(90010, 90402) || doctor_chip_same_family(0, 100300));
    assert_true(doctor_chip_has_fewer_registers(110002, 110000));
    assert_true(doctor_chip_has_fewer_registers(110500, 110501));
    assert_false(doctor_chip_has_fewer_registers(110501, 110000));
    assert_false(doctor_chip_has_fewer_registers(110000, 110002));
    assert_false(doctor_chip_has_fewer_registers(100301, 100300));
    assert_true(doctor_targets_have("gfx900,gfx90a:xnack+,gfx1010", "gfx1010"));
    assert_true(doctor_targets_have("gfx900,gfx90a:xnack+", "gfx90a"));
    assert_true(doctor_targets_have("gfx10-1-generic", "gfx1012"));
    assert_false(doctor_targets_have("gfx10-3-generic,gfx101", "gfx1012"));
    assert_false(doctor_targets_have("gfx1010", "gfx101"));
    assert_false(doctor_targets_have("gfx1010", ""));
    assert_true(doctor_override_parse("10.3.0", &version));
    assert_int_equal(version, 100300);
    assert_true(doctor_override_parse("9.0.10", &version));
    assert_int_equal(version, 90010);
    static const char *const wrong[] = { "",       "10",      "10.3",  "10.3.0.0", "gfx1030",
                                         "10.3.x", " 10.3.0", "10..0", "99.3.0",   "10.3.0 " };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(doctor_override_parse(wrong[i], &version));
    assert_true(doctor_like("libamdhip64.so.6", "lib*hip*.so*"));
    assert_false(doctor_like("libamdhip64.so.6", "lib*hip*.a"));
    assert_true(doctor_like("", "*"));
    assert_false(doctor_like("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "*a*a*a*a*a*a*a*a*a*a*b"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_paths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_odd_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hostile_tree, set_up, tear_down),
        cmocka_unit_test(test_tar),
        cmocka_unit_test(test_bad_probes),
        cmocka_unit_test(test_clean),
        cmocka_unit_test_setup_teardown(test_adapter, set_up, tear_down),
        cmocka_unit_test(test_chips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
