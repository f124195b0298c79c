/* test_sizes.c: public structs of callers that were compiled with an older or a newer header. */
#include "base/error.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

/* Ours never shrink below their first release; what fits there is what a caller of then has. */
_Static_assert(sizeof(rmcp_conv) >= RMCP_FIRST_CONV, "rmcp_conv");
_Static_assert(sizeof(rmcp_conv_info) >= RMCP_FIRST_CONV_INFO, "rmcp_conv_info");
_Static_assert(sizeof(rmcp_conv_tensors) >= RMCP_FIRST_CONV_TENSORS, "rmcp_conv_tensors");
_Static_assert(sizeof(rmcp_device_options) >= RMCP_FIRST_DEVICE_OPTIONS, "rmcp_device_options");
_Static_assert(sizeof(rmcp_device_info) >= RMCP_FIRST_DEVICE_INFO, "rmcp_device_info");
_Static_assert(sizeof(rmcp_plan_options) >= RMCP_FIRST_PLAN_OPTIONS, "rmcp_plan_options");
_Static_assert(sizeof(rmcp_candidate) >= RMCP_FIRST_CANDIDATE, "rmcp_candidate");
_Static_assert(sizeof(rmcp_check_info) >= RMCP_FIRST_CHECK_INFO, "rmcp_check_info");

enum { NEWER = 24 }; /* bytes that a later release might add */

/* A struct of today in memory of exactly `size` bytes, so that a sanitizer sees each byte beyond:
 * what a caller of another release has. */
static void *as_size(const void *ours, size_t our_size, size_t size)
{
    unsigned char *theirs = calloc(1, size);
    assert_non_null(theirs);
    memcpy(theirs, ours, our_size < size ? our_size : size);
    memcpy(theirs, &(uint32_t){ (uint32_t)size }, sizeof(uint32_t));
    return theirs;
}

static const char text[] = "n1c2h4w4k3r3s3p1:f32:nchw:fwd";

/* Every function that reads a struct: with the first size, a newer one, one byte too few, and a
 * newer one that uses what it has. */
static void reads(size_t ours, size_t first, const void *value, rmcp_status (*call)(const void *))
{
    const size_t sizes[] = { first, ours, ours + NEWER };
    for (size_t i = 0; i < SUPPORT_LENGTH(sizes); i++) {
        void *theirs = as_size(value, ours, sizes[i]);
        if (call(theirs)) fail_msg("%zu bytes: %s", sizes[i], rmcp_last_error());
        free(theirs);
    }
    void *cut = as_size(value, ours, first - 1);
    support_assert_failed(call(cut), RMCP_E_ARG, "struct_size is");
    free(cut);
    unsigned char *used = as_size(value, ours, ours + NEWER);
    used[ours + NEWER - 1] = 1;
    support_assert_failed(call(used), RMCP_E_UNSUPPORTED, "newer release");
    free(used);
}

static rmcp_device *device;
static rmcp_conv problem;

static rmcp_status describe(const void *conv)
{
    rmcp_conv_info info = { .struct_size = sizeof info };
    return rmcp_conv_describe(conv, &info);
}

static rmcp_status plan_with(const void *options)
{
    rmcp_plan *plan = NULL;
    rmcp_status status = rmcp_conv_plan(device, &problem, RMCP_CONV_FORWARD, options, &plan);
    rmcp_plan_destroy(plan);
    return status;
}

static rmcp_status open_with(const void *options)
{
    rmcp_device *opened = NULL;
    rmcp_status status = rmcp_device_open("cpu", options, &opened);
    rmcp_device_close(opened);
    return status;
}

static rmcp_plan *made;
static rmcp_status execute(const void *tensors)
{
    return rmcp_conv_execute(made, NULL, tensors);
}

static void reads_old_and_new_callers(void **state)
{
    (void)state;
    reads(sizeof problem, RMCP_FIRST_CONV, &problem, describe);
    const rmcp_plan_options options = { .struct_size = sizeof options, .algorithm = "reference" };
    reads(sizeof options, RMCP_FIRST_PLAN_OPTIONS, &options, plan_with);
    const rmcp_device_options open = { .struct_size = sizeof open, .threads = 1 };
    reads(sizeof open, RMCP_FIRST_DEVICE_OPTIONS, &open, open_with);

    float x[32] = { 0 }, w[54] = { 0 }, y[48];
    const rmcp_conv_tensors tensors = {
        .struct_size = sizeof tensors, .x.base = x, .w.base = w, .y.base = y
    };
    assert_int_equal(rmcp_conv_plan(device, &problem, RMCP_CONV_FORWARD, &options, &made), RMCP_OK);
    reads(sizeof tensors, RMCP_FIRST_CONV_TENSORS, &tensors, execute);
    rmcp_plan_destroy(made);
}

/* A struct that is written: what fits is written, what is beyond ours becomes zero. */
static void writes(size_t ours, size_t first, rmcp_status (*call)(void *))
{
    const size_t sizes[] = { first, ours, ours + NEWER };
    unsigned char *told[SUPPORT_LENGTH(sizes)];
    for (size_t i = 0; i < SUPPORT_LENGTH(sizes); i++) {
        told[i] = malloc(sizes[i]);
        assert_non_null(told[i]);
        memset(told[i], 0xee, sizes[i]);
        memcpy(told[i], &(uint32_t){ (uint32_t)sizes[i] }, sizeof(uint32_t));
        if (call(told[i])) fail_msg("%zu bytes: %s", sizes[i], rmcp_last_error());
        uint32_t size;
        memcpy(&size, told[i], sizeof size);
        assert_int_equal(size, sizes[i]);
        assert_memory_equal(told[i] + sizeof size, told[0] + sizeof size, first - sizeof size);
    }
    for (size_t i = ours; i < ours + NEWER; i++) assert_int_equal(told[2][i], 0);
    memcpy(told[0], &(uint32_t){ (uint32_t)first - 1 }, sizeof(uint32_t));
    support_assert_failed(call(told[0]), RMCP_E_ARG, "struct_size is");
    for (size_t i = 0; i < SUPPORT_LENGTH(sizes); i++) free(told[i]);
}

static rmcp_status parse(void *conv)
{
    return rmcp_conv_parse(text, conv, NULL);
}

static rmcp_status shape(void *info)
{
    return rmcp_conv_describe(&problem, info);
}

static rmcp_status tell(void *info)
{
    return rmcp_device_describe(device, info);
}

static rmcp_status tell_check(void *info)
{
    return rmcp_check_describe(info);
}

static void writes_for_old_and_new_callers(void **state)
{
    (void)state;
    writes(sizeof(rmcp_conv), RMCP_FIRST_CONV, parse);
    writes(sizeof(rmcp_conv_info), RMCP_FIRST_CONV_INFO, shape);
    writes(sizeof(rmcp_device_info), RMCP_FIRST_DEVICE_INFO, tell);
    writes(sizeof(rmcp_check_info), RMCP_FIRST_CHECK_INFO, tell_check);
}

/* Lists: entries lie as far apart as the caller's struct is long. */
static void fills_lists_of_old_and_new_callers(void **state)
{
    (void)state;
    const size_t sizes[] = { RMCP_FIRST_CANDIDATE, sizeof(rmcp_candidate),
                             sizeof(rmcp_candidate) + NEWER };
    for (size_t i = 0; i < SUPPORT_LENGTH(sizes); i++) {
        size_t count = 0;
        assert_int_equal(
            rmcp_conv_candidates(device, &problem, RMCP_CONV_FORWARD, NULL, NULL, &count), RMCP_OK);
        assert_true(count > 2);
        char *list = calloc(count, sizes[i]);
        assert_non_null(list);
        memcpy(list, &(uint32_t){ (uint32_t)sizes[i] }, sizeof(uint32_t));
        assert_int_equal(rmcp_conv_candidates(device, &problem, RMCP_CONV_FORWARD, NULL,
                                              (rmcp_candidate *)list, &count),
                         RMCP_OK);
        for (size_t k = 0; k < count; k++) {
            rmcp_candidate one;
            memcpy(&one, list + k * sizes[i], RMCP_FIRST_CANDIDATE);
            assert_int_equal(one.struct_size, sizes[i]);
            assert_string_equal(one.algorithm, rmcp_algos_conv[k]->name);
        }
        free(list);
    }
}

static int open_device(void **state)
{
    (void)state;
    problem = support_case(text, NULL);
    return (int)rmcp_device_open("cpu", NULL, &device);
}

static int close_device(void **state)
{
    (void)state;
    rmcp_device_close(device);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_old_and_new_callers),
        cmocka_unit_test(writes_for_old_and_new_callers),
        cmocka_unit_test(fills_lists_of_old_and_new_callers),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
