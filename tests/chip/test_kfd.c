/* test_kfd.c: KFD's topology as the kernel writes it, and as somebody else may have written it. */
#define _XOPEN_SOURCE 700 /* nftw */
#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/chip/kfd.h"

#define NODES "class/kfd/kfd/topology/nodes"

static char folder[] = "/tmp/rmcp-test-kfd-XXXXXX";
static struct rmcp_kfd kfd;

static int remove_item(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about, (void)kind, (void)where;
    return remove(path);
}

static int remove_tree(void **state)
{
    (void)state;
    nftw(folder, remove_item, 8, FTW_DEPTH | FTW_PHYS);
    return 0;
}

static int make_tree(void **state)
{
    (void)state;
    return mkdir(folder, 0700) && errno != EEXIST;
}

static const char *at(const char *path)
{
    static char full[2][512];
    static int turn;
    turn = !turn;
    snprintf(full[turn], sizeof full[turn], "%s/%s", folder, path);
    return full[turn];
}

static void put(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s", at(path));
    for (char *slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void put_node(unsigned number, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, NODES "/%u/properties", number);
    put(path, text);
}

static void put_gpu(unsigned number, unsigned version, unsigned bus)
{
    char text[512];
    snprintf(text, sizeof text,
             "cpu_cores_count 0\nsimd_count 72\nmem_banks_count 1\nsimd_per_cu 2\n"
             "gfx_target_version %u\nvendor_id 4098\ndevice_id 29471\nlocation_id %u\ndomain 0\n"
             "max_engine_clk_fcompute 1780\nfw_version 151\nunique_id 12345\n",
             version, bus << 8 | 1 << 3 | 2);
    put_node(number, text);
}

static int read_topology(void)
{
    const struct rmcp_sysfs sysfs = rmcp_sysfs_here();
    return rmcp_kfd_read(&sysfs, &kfd);
}

static size_t count_gpus(void)
{
    size_t n = 0;
    assert_int_equal(read_topology(), 0);
    for (size_t i = 0; i < kfd.n_nodes; i++) n += kfd.nodes[i].is_gpu;
    return n;
}

/* ---- as the kernel writes it ---- */

static void tells_what_is_there(void **state)
{
    (void)state;
    const struct rmcp_sysfs sysfs = rmcp_sysfs_here();
    assert_string_equal(sysfs.root, folder);
    put_node(0, "cpu_cores_count 16\nsimd_count 0\ngfx_target_version 0\nvendor_id 0\n");
    put_gpu(10, 90010, 0x0a); /* numbers, not texts, are sorted */
    put_gpu(2, 100100, 0x03);
    put(NODES "/2/mem_banks/0/properties", "heap_type 1\nsize_in_bytes 4294967296\nflags 0\n");
    put(NODES "/2/mem_banks/1/properties", "heap_type 2\nsize_in_bytes 2130706432\n");
    put(NODES "/2/mem_banks/2/properties", "heap_type 4\nsize_in_bytes 65536\n"); /* LDS */
    put(NODES "/2/io_links/0/properties", "type 2\nnode_from 2\nnode_to 0\nflags 1\n");
    put(NODES "/0/io_links/0/properties", "type 2\nnode_from 0\nnode_to 10\nflags 13\n");
    put(NODES "/0/mem_banks/0/properties", "heap_type 1\nsize_in_bytes 1000\n");
    assert_int_equal(count_gpus(), 2);
    assert_int_equal(kfd.n_nodes, 3);
    assert_string_equal(kfd.folder, at(NODES));
    const struct rmcp_kfd_node *host = &kfd.nodes[0], *one = &kfd.nodes[1], *two = &kfd.nodes[2];
    assert_int_equal(one->number, 2);
    assert_int_equal(two->number, 10);
    assert_false(host->is_gpu);
    assert_string_equal(host->chip, "");
    assert_string_equal(one->chip, "gfx1010");
    assert_string_equal(two->chip, "gfx90a");
    assert_int_equal(one->version, 100100);
    assert_int_equal(one->vendor, 0x1002);
    assert_int_equal(one->device, 0x731f);
    assert_int_equal(one->compute_units, 36);
    assert_int_equal(one->clock_mhz, 1780);
    assert_int_equal(one->firmware, 151);
    const struct rmcp_pci place = { 0, 3, 1, 2 };
    assert_true(rmcp_pci_same(&one->pci, &place));
    assert_false(rmcp_pci_same(&two->pci, &place));

    assert_int_equal(one->memory_bytes, 0);
    rmcp_kfd_read_details(&sysfs, &kfd);
    assert_int_equal(one->memory_bytes, UINT64_C(4294967296) + 2130706432);
    assert_int_equal(two->memory_bytes, 0);
    assert_int_equal(host->memory_bytes, 0); /* not a GPU's */
    assert_int_equal(one->link_flags, 1);
    assert_int_equal(two->link_flags & RMCP_KFD_NO_ATOMICS, RMCP_KFD_NO_ATOMICS); /* to it */
    assert_int_equal(host->link_flags, 13);
}

static void finds_the_other_place(void **state)
{
    (void)state;
    put("devices/virtual/kfd/kfd/topology/nodes/1/properties", "gfx_target_version 100102\n");
    assert_int_equal(count_gpus(), 1);
    assert_string_equal(kfd.nodes[0].chip, "gfx1012");
    put_gpu(7, 100300, 3); /* the usual one goes first */
    assert_int_equal(count_gpus(), 1);
    assert_string_equal(kfd.nodes[0].chip, "gfx1030");
}

static void says_why_there_is_none(void **state)
{
    (void)state;
    assert_int_equal(read_topology(), ENOENT);
    assert_int_equal(kfd.n_nodes, 0);
    assert_non_null(strstr(kfd.folder, "topology/nodes"));
    put("class/kfd/kfd/topology/nodes", "a file");
    put("devices/virtual/kfd/kfd/topology/nodes", "a file");
    assert_int_equal(read_topology(), ENOTDIR);
    char endless[3000];
    memset(endless, 'x', sizeof endless - 1);
    endless[0] = '/';
    endless[sizeof endless - 1] = '\0';
    setenv("RMCP_SYSFS_ROOT", endless, 1);
    assert_int_equal(read_topology(), ENAMETOOLONG);
    setenv("RMCP_SYSFS_ROOT", folder, 1);
}

/* ---- as somebody else may have written it ---- */

static void takes_no_nonsense(void **state)
{
    (void)state;
    static char long_line[20000];
    memset(long_line, '7', sizeof long_line - 1);
    const char *bad[] = { "",
                          "gfx_target_version",
                          "gfx_target_version \n",
                          "gfx_target_version -5\n",
                          "gfx_target_version +100100\n",
                          "gfx_target_version 0x18704\n",
                          "gfx_target_version 99999999999999999999\n",
                          "gfx_target_version 18446744073709651716\n", /* 2^64 + 100100 */
                          "gfx_target_version 4295067396\n",           /* 2^32 + 100100 */
                          "gfx_target_version 100100x\n",
                          "gfx_target_version 4294967295\n",
                          "xgfx_target_version 100100\n",
                          "gfx_target_versionx 100100\n",
                          "simd_count 100001\nsimd_per_cu 2\n",
                          "simd_count 18446744073709551616\n",
                          long_line };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (unsigned node = 0; node < 3; node++) {
            put_node(node, bad[i]);
            assert_int_equal(count_gpus(), 0);
        }
    put_node(0, "simd_count 72\nsimd_per_cu 0\ngfx_target_version 100199\ndevice_id 95007\n"
                "location_id 18446744073709551615\ndomain 4294967296\nfw_version -1\n");
    assert_int_equal(count_gpus(), 1); /* something is there, of no known chip */
    assert_string_equal(kfd.nodes[0].chip, "");
    assert_int_equal(kfd.nodes[0].compute_units, 0);
    assert_int_equal(kfd.nodes[0].device, 0);
    assert_int_equal(kfd.nodes[0].pci.bus, 0);
    assert_int_equal(kfd.nodes[0].pci.domain, 0);
    assert_int_equal(kfd.nodes[0].firmware, 0);
}

static void takes_no_odd_files(void **state)
{
    (void)state;
    put(NODES "/9/properties/folder", "");
    put(NODES "/12x/properties", "gfx_target_version 100100\n");
    put(NODES "/007/properties", "gfx_target_version 100100\n");
    put(NODES "/-3/properties", "gfx_target_version 100100\n");
    put(NODES "/1234567890123/properties", "gfx_target_version 90010\n");
    put(NODES "/4/x", "");
    assert_int_equal(mkfifo(at(NODES "/4/properties"), 0600), 0); /* reading it would wait */
    put(NODES "/5/x", "");
    assert_int_equal(symlink("/dev/zero", at(NODES "/5/properties")), 0);
    put(NODES "/6/x", "");
    assert_int_equal(symlink("properties", at(NODES "/6/properties")), 0);
    assert_int_equal(count_gpus(), 0);
    assert_int_equal(kfd.n_nodes, 0);
}

/* A line that the limit cuts has another number than the file. */
static void takes_whole_lines_only(void **state)
{
    (void)state;
    static char text[9000];
    for (size_t length = 8100; length < 8200; length++) {
        static const char line[] = "\ngfx_target_version 100100\n";
        memset(text, '\n', sizeof text);
        memcpy(text + length, line, sizeof line); /* with its end */
        put_node(0, text);
        const size_t gpus = count_gpus();
        assert_int_equal(gpus, length + strlen(line) <= 8191);
        if (gpus) assert_string_equal(kfd.nodes[0].chip, "gfx1010");
    }
}

static void is_bounded(void **state)
{
    (void)state;
    const struct rmcp_sysfs sysfs = rmcp_sysfs_here();
    for (unsigned node = 20; node < 20 + RMCP_KFD_NODES + 5; node++)
        put_gpu(node, 90010, node & 255);
    assert_int_equal(count_gpus(), RMCP_KFD_NODES);
    assert_int_equal(kfd.nodes[3].number, 23);
    assert_int_equal(kfd.nodes[3].pci.bus, 23);
    char path[128];
    for (unsigned bank = 0; bank < 40; bank++) {
        snprintf(path, sizeof path, NODES "/20/mem_banks/%u/properties", bank);
        put(path, bank % 2 ? "heap_type 1\nsize_in_bytes 18446744073709551615\n"
                           : "heap_type 2\nsize_in_bytes 1125899906842624\n"); /* 2^50 */
    }
    put(NODES "/20/io_links/0/properties", "node_to 4294967295\nflags 4294967295\n");
    put(NODES "/20/io_links/1/properties", "node_to 99999999999\nflags 99999999999\n");
    put(NODES "/21/io_links/x/properties", "node_to 22\nflags 12\n");
    rmcp_kfd_read_details(&sysfs, &kfd);
    assert_int_equal(kfd.nodes[0].memory_bytes, UINT64_C(8) << 50);
    assert_int_equal(kfd.nodes[0].link_flags, UINT32_MAX);
    assert_int_equal(kfd.nodes[1].link_flags, 0);
    assert_int_equal(kfd.nodes[2].link_flags, 0);
}

/* ---- PCI ---- */

static void reads_pci(void **state)
{
    (void)state;
    static const char *const not_addresses[] = {
        "", "0000", "0000:03:00", "0000:03:20.0", "0000:03:00.8", "0000:03:00.0x", "g:0:0.0", ":::"
    };
    const struct rmcp_sysfs sysfs = rmcp_sysfs_here();
    struct rmcp_pci pci;
    uint32_t vendor, device, revision;
    for (size_t i = 0; i < sizeof not_addresses / sizeof *not_addresses; i++)
        assert_false(rmcp_pci_parse(not_addresses[i], &pci));
    assert_true(rmcp_pci_parse("10000:e1:1f.7", &pci));
    assert_int_equal(pci.domain, 0x10000);
    assert_int_equal(pci.bus, 0xe1);
    assert_int_equal(pci.device, 31);
    assert_int_equal(pci.function, 7);
    assert_false(rmcp_pci_ids(&sysfs, &pci, &vendor, &device, &revision));
    put("bus/pci/devices/10000:e1:1f.7/vendor", "0x1002\n");
    assert_false(rmcp_pci_ids(&sysfs, &pci, &vendor, &device, &revision));
    static const char *const bad[] = { "", "0x", "731f\n", "0x731fx", "0x73 1f", "0x123456789" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put("bus/pci/devices/10000:e1:1f.7/device", bad[i]);
        assert_false(rmcp_pci_ids(&sysfs, &pci, &vendor, &device, &revision));
    }
    put("bus/pci/devices/10000:e1:1f.7/device", "0x731f\n");
    assert_true(rmcp_pci_ids(&sysfs, &pci, &vendor, &device, &revision));
    assert_int_equal(vendor, 0x1002);
    assert_int_equal(device, 0x731f);
    assert_int_equal(revision, 0);
    put("bus/pci/devices/10000:e1:1f.7/revision", "0xca\n");
    assert_true(rmcp_pci_ids(&sysfs, &pci, &vendor, &device, &revision));
    assert_int_equal(revision, 0xca);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_tree, remove_tree)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tells_what_is_there),
        TEST(finds_the_other_place),
        TEST(says_why_there_is_none),
        TEST(takes_no_nonsense),
        TEST(takes_no_odd_files),
        TEST(takes_whole_lines_only),
        TEST(is_bounded),
        TEST(reads_pci),
    };
    if (!mkdtemp(folder) || setenv("RMCP_SYSFS_ROOT", folder, 1)) return 1;
    const int failures = cmocka_run_group_tests(tests, NULL, NULL);
    remove_tree(NULL);
    return failures;
}
