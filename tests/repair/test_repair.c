/* test_repair.c: src/code/repair from the inside: names of kernels and files, RECORD, hashes; and
 * every allocation failed in turn while files, libraries, wheels and folders are repaired: a
 * status, the right result or none, and nothing left behind.
 *
 * usage: test_repair FOLDER: with in/ (a folder, a library, a wheel …) and ok/, the same repaired
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "allocations.h"
#include "code/codeobj/sha256.h"
#include "code/codeobj/zip.h"
#include "code/repair/folder.h"
#include "code/repair/names.h"
#include "code/repair/record.h"

static const char *samples;

/* ---- what the C library allocates for us, counted and failed like our own ---- */

char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t most);
char *__real_realpath(const char *path, char *resolved);
char *__wrap_realpath(const char *path, char *resolved);
int __real_scandir64(const char *folder, struct dirent ***names,
                     int (*choose)(const struct dirent *),
                     int (*order)(const struct dirent **, const struct dirent **));
int __wrap_scandir64(const char *folder, struct dirent ***names,
                     int (*choose)(const struct dirent *),
                     int (*order)(const struct dirent **, const struct dirent **));
void __real_free(void *block);

char *__wrap_strndup(const char *text, size_t most)
{
    const size_t length = strnlen(text, most);
    char *copy = malloc(length + 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

char *__wrap_strdup(const char *text)
{
    return __wrap_strndup(text, SIZE_MAX);
}

char *__wrap_realpath(const char *path, char *resolved)
{
    char *found = __real_realpath(path, resolved);
    if (resolved || !found) return found;
    char *copy = __wrap_strdup(found);
    __real_free(found);
    return copy;
}

int __wrap_scandir64(const char *folder, struct dirent ***names,
                     int (*choose)(const struct dirent *),
                     int (*order)(const struct dirent **, const struct dirent **))
{
    struct dirent **found;
    const int n = __real_scandir64(folder, &found, choose, order);
    if (n < 0) return n;
    *names = malloc((size_t)(n + 1) * sizeof **names);
    bool failed = !*names;
    for (int i = 0; i < n; i++) {
        struct dirent *copy = failed ? NULL : malloc(sizeof *copy);
        failed = failed || !copy;
        if (copy) memcpy(copy, found[i], found[i]->d_reclen);
        if (*names) (*names)[i] = copy;
        __real_free(found[i]);
    }
    __real_free(found);
    if (!failed) return n;
    for (int i = 0; *names && i < n; i++) free((*names)[i]);
    free(*names);
    errno = ENOMEM;
    return -1;
}

static void test_operators(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        { "plain", "plain" },
        { "", "" },
        { "_Z", "_Z" },
        { "_Z23ncclDevKernel_Generic_424ncclDevKernelArgsStorageILm4096EE",
          "ncclDevKernel_Generic_4" },
        { "_Z3addPfi", "add" },
        { "_ZL26rocblas_syr2k_her2k_kernelIiLb0ELb0ELi32E19rocblas_complex_numIfEEvbi",
          "rocblas_syr2k_her2k_kernel" },
        { "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3"
          "EEEEviT0_T1_",
          "vectorized_elementwise_kernel: CUDAFunctor_add" },
        { "_ZN2at6native12_GLOBAL__N_120softmax_warp_forwardIfffLi5ELb0ELb0EEEvPT0_PKT_iii",
          "softmax_warp_forward" },
        { "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_14func_wrapper_tIfEEEEEEvT1_",
          "reduce_kernel: ReduceOp" },
        { "_ZN12rocrand_impl6system6detail17trampoline_kernelINS_4host20init_lfsr113_enginesENS3_33"
          "static_block_size_config_providerILj256EEEjLb0ELNS3_11target_"
          "archE4294967295EJPjjEEEvDpT4_",
          "trampoline_kernel: init_lfsr113_engines" },
        { "Cijk_Ailk_Bljk_HB_MT64x64x8_SE_K1", "Cijk_Ailk_Bljk_HB" },
        { "Cijk_Ailk", "Cijk_Ailk" },
        { "_Z99999999999999999999x", "_Z99999999999999999999x" },
        { "_Z5ab", "_Z5ab" },
        { "_Z3a\nbv", "a?b" },
    };
    char out[REPAIR_OPERATOR];
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        repair_operator(pairs[i][0], out);
        assert_string_equal(out, pairs[i][1]);
    }
    /* Names of any length, and every ending of one. */
    char *name = test_malloc(20001);
    memset(name, 'a', 20000);
    name[20000] = 0;
    memcpy(name, "_Z20000", 7);
    repair_operator(name, out);
    assert_true(strlen(out) < REPAIR_OPERATOR);
    const size_t length = strlen(pairs[6][0]);
    for (size_t n = 0; n <= length; n++) {
        snprintf(name, 20001, "%.*s", (int)n, pairs[6][0]);
        repair_operator(name, out);
        assert_true(strlen(out) < REPAIR_OPERATOR);
    }
    test_free(name);
}

static void test_sha256(void **state)
{
    (void)state;
    char hex[SHA256_HEX];
    sha256_hex("", 0, hex); /* FIPS 180-4's examples */
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha256_hex("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, hex);
    assert_string_equal(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    char *many = test_malloc(1000000);
    memset(many, 'a', 1000000);
    sha256_hex(many, 1000000, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    test_free(many);
}

static bool exists(void *context, const char *name)
{
    return !strcmp(context, name);
}

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *name, *beside, *kept, *replaced; /* NULL: left out */
    } cases[] = {
        { "K_gfx1030.co", "", "K_gfx1010.co", "K_gfx1010.co" },
        { "K_gfx1030.co", "K_gfx1010.co", NULL, "K_gfx1010.co" },
        { "K_gfx1010.co", "K_gfx1030.co", "K_gfx1010.co", NULL },
        { "K_gfx1010.co", "", "K_gfx1010.co", "K_gfx1010.co" },
        { "K_gfx906.co", "", NULL, NULL },
        { "K_gfx90a-xnack+.co", "", NULL, NULL },
        { "gfx1030", "", "gfx1010", "gfx1010" },
        { "xgfx1030.co", "", "xgfx1030.co", "xgfx1030.co" },
        { "plain.so", "", "plain.so", "plain.so" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int replace = 0; replace < 2; replace++) {
            char beside[64], *out = NULL;
            snprintf(beside, sizeof beside, "%s", cases[i].beside);
            const struct repair_names names = { ISA_GFX1010, replace, beside, exists };
            const char *wanted = replace ? cases[i].replaced : cases[i].kept;
            assert_int_equal(repair_choose_name(&names, cases[i].name, &out), RMCP_OK);
            assert_int_equal(out == NULL, wanted == NULL);
            if (out) assert_string_equal(out, wanted);
            free(out);
        }
    static const char *const unsafe[] = { "",    "/a",    "..",   "a/..", "../a",  "a//b",
                                          "./a", "a/./b", "a\\b", "a\nb", "a/../b" };
    for (size_t i = 0; i < sizeof unsafe / sizeof *unsafe; i++)
        assert_false(repair_name_is_safe(unsafe[i]));
    assert_true(repair_name_is_safe("a/b.c/..d/e../"));
}

static void test_record(void **state)
{
    (void)state;
    static const char text[] =
        "a.py,sha256=x,3\r\n\"b, \"\"q\"\".co\",sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,"
        "4\ngone.co,sha256=z,5\n"
        "old.dat,sha256=w,6\n\nRECORD,,";
    static const char wanted[] =
        "a.py,sha256=x,3\r\n\"b, \"\"q\"\".co\",sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,"
        "9\nnew.dat,sha256=w,6\n\nRECORD,,\nunlisted.co,sha256=47DEQpj8HBSa-_TImW-"
        "5JCeuQeRkm5NMpJWZG3hSuFU,9\n";
    struct repair_row rows[] = {
        { .name = "a.py", .new_name = "a.py" },
        { .name = "b, \"q\".co", .new_name = "b, \"q\".co", .is_changed = true, .size = 9 },
        { .name = "gone.co" },
        { .name = "old.dat", .new_name = "new.dat" },
        { .name = "unlisted.co", .new_name = "unlisted.co", .is_changed = true, .size = 9 },
    };
    struct buffer out = { 0 };
    sha256("", 0, rows[1].before);
    sha256("", 0, rows[1].digest);
    sha256("", 0, rows[4].digest);
    assert_int_equal(repair_record(text, sizeof text - 1, rows, 5, &out), RMCP_OK);
    assert_int_equal(out.size, sizeof wanted - 1);
    assert_memory_equal(out.bytes, wanted, out.size);
    buffer_deinit(&out);
    static const char *const bad[] = { "\"b, \"\"q\"\".co\",sha256=y,4\n",
                                       "\"b, \"\"q\"\".co\",sha256=47DEQ",
                                       "no comma\n",
                                       "\"open\n",
                                       "\"a\"b,c\n",
                                       "x" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(repair_record(bad[i], strlen(bad[i]), rows, 5, &out), RMCP_E_UNSUPPORTED);
        buffer_deinit(&out);
    }
}

/* A member beyond 4 GiB needs zip64, in its own record and at the end. */
static void test_far_member(void **state)
{
    (void)state;
    static const uint64_t far = (UINT64_C(9) << 29) + 7; /* a hole: it takes no space */
    static uint8_t record[64] = { 'P', 'K', 1, 2 };
    char path[4096];
    struct codeobj_output *output = NULL;
    struct zip_writer *writer = NULL;
    struct rmcp_file file;
    struct zip zip;
    struct zip_member found;
    struct spool spool;
    const uint8_t *bytes;
    const struct zip_member member = { .method = ZIP_STORED,
                                       .crc = zip_crc((const uint8_t *)"hello", 5),
                                       .compressed = 5,
                                       .uncompressed = 5,
                                       .name = "a/b",
                                       .name_length = 3,
                                       .record = record };
    snprintf(path, sizeof path, "%s/far.zip", samples);
    assert_int_equal(codeobj_output_open(path, 0600, &output), RMCP_OK);
    assert_int_equal(codeobj_output_extend(output, far), RMCP_OK);
    assert_int_equal(zip_writer_open(output, &writer), RMCP_OK);
    assert_int_equal(zip_writer_add(writer, &member, &member, (const uint8_t *)"hello"), RMCP_OK);
    assert_int_equal(zip_writer_finish(writer), RMCP_OK);
    zip_writer_close(writer);
    assert_int_equal(codeobj_output_commit(output), RMCP_OK);
    assert_int_equal(rmcp_file_map(AT_FDCWD, path, &file), RMCP_OK);
    assert_int_equal(zip_open(&zip, file.bytes, file.size), RMCP_OK);
    assert_int_equal(zip.n, 1);
    assert_true(zip.offset > far);
    assert_int_equal(zip_next(&zip, &found), RMCP_OK);
    assert_true(found.header == far);
    assert_int_equal(zip_extract(&zip, &found, 100, &spool, &bytes), RMCP_OK);
    assert_memory_equal(bytes, "hello", 5);
    spool_deinit(&spool);
    rmcp_file_unmap(&file);
    unlink(path);
}

/* ---- allocations that fail ---- */

static void compare(const char *left, const char *right)
{
    struct rmcp_file a, b;
    assert_int_equal(rmcp_file_map(AT_FDCWD, left, &a), RMCP_OK);
    assert_int_equal(rmcp_file_map(AT_FDCWD, right, &b), RMCP_OK);
    assert_int_equal(a.size, b.size);
    if (a.size) assert_memory_equal(a.bytes, b.bytes, a.size);
    rmcp_file_unmap(&a);
    rmcp_file_unmap(&b);
}

static void compare_trees(const char *left, const char *right)
{
    struct dirent **names = NULL, **others = NULL;
    struct stat about;
    assert_int_equal(lstat(left, &about), 0);
    if (!S_ISDIR(about.st_mode)) {
        compare(left, right);
        return;
    }
    const int n = scandir(left, &names, NULL, alphasort);
    assert_int_equal(scandir(right, &others, NULL, alphasort), n);
    for (int i = 0; i < n; i++) {
        char a[4096], b[4096];
        assert_string_equal(names[i]->d_name, others[i]->d_name);
        snprintf(a, sizeof a, "%s/%s", left, names[i]->d_name);
        snprintf(b, sizeof b, "%s/%s", right, names[i]->d_name);
        if (strcmp(names[i]->d_name, ".") && strcmp(names[i]->d_name, "..")) compare_trees(a, b);
    }
    for (int i = 0; i < n; i++) {
        free(names[i]);
        free(others[i]);
    }
    free(names);
    free(others);
}

static size_t count_files(const char *folder)
{
    size_t n = 0;
    DIR *list = opendir(folder);
    assert_non_null(list);
    while (readdir(list)) n++;
    closedir(list);
    return n - 2;
}

/* Repairs `name` of in/ with the allocation number `first` failed; false: there were not so many.
 */
static bool repair_failing(const char *name, long first, bool rest, uint32_t jobs)
{
    char from[4096], to[8192], out[4096], right[4096];
    struct repair_report report = { .n_files = 0 };
    const struct repair_options options = { .target = ISA_GFX1010, .jobs = jobs };
    snprintf(from, sizeof from, "%s/in/%s", samples, name);
    snprintf(out, sizeof out, "%s/out", samples);
    snprintf(to, sizeof to, "%s/%s", out, name);
    snprintf(right, sizeof right, "%s/ok/%s", samples, name);
    const long live = allocations_live();
    allocations_arm(first, rest);
    const rmcp_status status = repair_path(from, to, &options, &report);
    const long calls = allocations_calls();
    allocations_arm(0, false);
    if (!status && !report.n_refusals) {
        compare_trees(to, right);
        repair_remove(to);
        unlink(to);
    } else {
        assert_true(first);
    }
    repair_report_deinit(&report);
    assert_int_equal(allocations_live(), live);
    if (count_files(out)) { /* a result that says what it lacks */
        assert_int_equal(status, RMCP_OK);
        repair_remove(to);
        unlink(to);
    }
    assert_int_equal(count_files(out), 0);
    return calls >= first;
}

static void test_allocations(void **state)
{
    (void)state;
    static const char *const names[] = { "plain.co", "libhost.so", "toy.whl", "folder" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (uint32_t jobs = 1; jobs < 4; jobs += 2) {
            assert_true(repair_failing(names[i], 0, false, jobs));
            /* All of the first ones, then ever larger steps. */
            for (long first = 1; repair_failing(names[i], first, false, jobs);
                 first += 1 + first / 60)
                repair_failing(names[i], first, true, jobs);
        }
}

/* In place: as it was, or restorable. */
static void test_install_allocations(void **state)
{
    (void)state;
    char site[4096], before[4096];
    const struct repair_options options = { .target = ISA_GFX1010, .jobs = 1 };
    snprintf(site, sizeof site, "%s/site", samples);
    snprintf(before, sizeof before, "%s/in/folder", samples);
    for (long first = 1, over = 0; !over; first += 1 + first / 60) {
        struct repair_report report = { .n_files = 0 };
        struct repair_installed installed;
        const long live = allocations_live();
        allocations_arm(first, false);
        const rmcp_status status = repair_install(site, &options, &report, &installed);
        over = allocations_calls() < first;
        repair_report_deinit(&report);
        assert_int_equal(allocations_live(), live);
        if (status) {
            allocations_arm(0, false);
            compare_trees(site, before);
        }
        allocations_arm(first / 4 + 1, false);
        const rmcp_status undone = repair_restore(site, false, &installed);
        allocations_arm(0, false);
        if (undone) assert_int_equal(repair_restore(site, false, &installed), RMCP_OK);
        assert_int_equal(allocations_live(), live);
        compare_trees(site, before);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    samples = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operators),
        cmocka_unit_test(test_sha256),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_far_member),
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_install_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
