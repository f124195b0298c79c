/* test_images.c: the kernels compiled into the library: all there, whole, and for the right
 * machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code/codeobj/codeobj.h"
#include "engine/gpu/images.h"
#include "engine/gpu/kernels.h"

static void check_code_object(const char *target, const struct rmcp_kernel *row, const void *bytes,
                              size_t size)
{
    struct codeobj *object = NULL;
    assert_int_equal(codeobj_open(bytes, size, &object), RMCP_OK);
    assert_int_equal(object->version, 4);
    assert_string_equal(object->target.chip, target);
    const struct codeobj_kernel *kernel = codeobj_find_kernel(object, row->entry);
    assert_non_null(kernel);
    assert_int_equal(kernel->metadata.required_workgroup_size[0], row->block);
    codeobj_close(object);
}

static void check_ptx(const struct rmcp_kernel *row, const char *text, size_t size)
{
    char entry[80];
    snprintf(entry, sizeof entry, ".entry %s(", row->entry);
    assert_int_equal(strlen(text), size);
    assert_non_null(strstr(text, "\n.version 6.0\n"));
    assert_non_null(strstr(text, "\n.target sm_60\n"));
    assert_non_null(strstr(text, entry));
}

static void test_all_kernels(void **state)
{
    (void)state;
    struct rmcp_kernel_target target;
    size_t n_targets = 0, n_images = 0;
    for (; rmcp_kernel_target_at(n_targets, &target); n_targets++) {
        uint64_t sum = 0;
        for (const struct rmcp_kernel *row = rmcp_kernels; row->name; row++, n_images++) {
            void *bytes = NULL;
            size_t size = 0;
            assert_int_equal(rmcp_kernel_image(target.name, row->name, &bytes, &size), RMCP_OK);
            if (!strcmp(target.name, "nvptx"))
                check_ptx(row, bytes, size);
            else
                check_code_object(target.name, row, bytes, size);
            sum += size;
            free(bytes);
        }
        assert_true(sum < target.bytes);
        assert_in_range(target.packed_bytes, 1, target.bytes / 2);
    }
    printf("%zu targets, %zu images, %s%s\n", n_targets, n_images, rmcp_kernel_compiler(),
           rmcp_kernel_missing());
    assert_int_equal(n_targets == 0, !*rmcp_kernel_compiler());
    if (!n_targets) assert_true(*rmcp_kernel_missing());
}

/* Code for a target, said to be for each chip that it serves. */
static void test_retagged(void **state)
{
    (void)state;
    struct rmcp_kernel_target target;
    for (size_t i = 0; rmcp_kernel_target_at(i, &target); i++) {
        char chip[16];
        int used = 0;
        if (!strcmp(target.name, "nvptx")) continue;
        void *bytes = NULL;
        size_t size = 0;
        assert_int_equal(rmcp_kernel_image(target.name, "narrow_f16", &bytes, &size), RMCP_OK);
        for (const char *at = target.chips; sscanf(at, "%15s%n", chip, &used) == 1; at += used) {
            uint8_t *retagged = NULL;
            size_t retagged_size = 0;
            struct codeobj *object = NULL;
            if (!strcmp(chip, target.name)) continue;
            assert_int_equal(codeobj_retag(bytes, size, chip, &retagged, &retagged_size), RMCP_OK);
            assert_int_equal(codeobj_open(retagged, retagged_size, &object), RMCP_OK);
            assert_string_equal(object->target.chip, chip);
            assert_non_null(strstr(object->note_target, chip));
            assert_string_equal(rmcp_kernel_target_for(chip), target.name);
            codeobj_close(object);
            free(retagged);
        }
        free(bytes);
    }
}

static bool is_built(const char *name)
{
    struct rmcp_kernel_target target;
    for (size_t i = 0; rmcp_kernel_target_at(i, &target); i++)
        if (!strcmp(target.name, name)) return true;
    return false;
}

static void test_chips(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        { "gfx803", "gfx803" },   { "gfx900", "gfx900" },
        { "gfx90c", "gfx900" },   { "gfx906", "gfx906" },
        { "gfx1010", "gfx1010" }, { "gfx1012", "gfx1010" },
        { "gfx1013", "gfx1010" }, { "gfx1030", "gfx1030" },
        { "gfx1036", "gfx1030" }, { "gfx1100", "gfx1102" },
        { "gfx1151", "gfx1102" }, { "gfx1201", "gfx1200" },
        { "sm_60", "nvptx" },     { "sm_90", "nvptx" },
        { "sm_120", "nvptx" },    { "gfx906:sramecc+:xnack-", "gfx906" },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const char *target = NULL;
        const char *given = rmcp_kernel_target_for(pairs[i][0]);
        rmcp_status status = rmcp_kernel_target_find(pairs[i][0], &target);
        if (is_built(pairs[i][1])) {
            assert_non_null(given);
            assert_string_equal(given, pairs[i][1]);
            assert_int_equal(status, RMCP_OK);
            assert_string_equal(target, pairs[i][1]);
        } else {
            assert_null(given);
            assert_int_equal(status, RMCP_E_UNSUPPORTED);
            assert_non_null(strstr(rmcp_last_error(), pairs[i][1]));
        }
    }
    static const char *const unknown[] = { "",        "gfx",     "gfx101",  "gfx10100", "gfx90a",
                                           "gfx1014", "gfx1037", "gfx1250", "sm_52",    "and",
                                           ":xnack+", "sm_",     "nvptx",   "avx2" };
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        const char *target = "";
        assert_null(rmcp_kernel_target_for(unknown[i]));
        assert_int_equal(rmcp_kernel_target_find(unknown[i], &target), RMCP_E_UNSUPPORTED);
        assert_null(target);
    }
}

static void test_wrong_names(void **state)
{
    (void)state;
    void *bytes = &bytes;
    size_t size = 1;
    assert_int_equal(rmcp_kernel_image("gfx700", "direct_f32", &bytes, &size), RMCP_E_UNSUPPORTED);
    assert_null(bytes);
    struct rmcp_kernel_target target;
    if (!rmcp_kernel_target_at(0, &target)) return;
    assert_int_equal(rmcp_kernel_image(target.name, "direct_f64", &bytes, &size), RMCP_E_INTERNAL);
    assert_null(bytes);
    assert_non_null(strstr(rmcp_last_error(), "direct_f64"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_kernels),
        cmocka_unit_test(test_retagged),
        cmocka_unit_test(test_chips),
        cmocka_unit_test(test_wrong_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
