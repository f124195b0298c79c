/* test_launches.c: work that would take long on a device comes in several launches, and they do all
 * of it. On whatever OpenCL driver is installed, with the figures of a slow device; skipped
 * without. */
#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/gpu/shape.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

static rmcp_device *device;

static rmcp_plan *plan_of(const rmcp_conv *problem, rmcp_conv_pass pass, const char *algorithm)
{
    const rmcp_plan_options options = { .struct_size = sizeof options, .algorithm = algorithm };
    rmcp_plan *plan = NULL;
    if (rmcp_conv_plan(device, problem, pass, &options, &plan))
        fail_msg("%s: %s", algorithm, rmcp_last_error());
    return plan;
}

static uint64_t groups_of(const struct rmcp_kernel_launch *launch)
{
    return (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
}

/* Workgroups of all launches of one kernel; of its largest launch; and how many there are. */
static void count_kernel(const rmcp_plan *plan, const char *kernel, uint64_t *all,
                         uint64_t *largest, size_t *launches)
{
    *all = *largest = 0;
    *launches = 0;
    for (size_t i = 0; i < plan->list.n_records; i++) {
        const struct rmcp_kernel_launch *launch = &plan->list.records[i].kernel;
        if (strncmp(launch->kernel, kernel, 4)) continue;
        const uint64_t groups = groups_of(launch);
        *all += groups;
        ++*launches;
        if (groups > *largest) *largest = groups;
    }
}

/* The same of the main kernel: not of those that prepare weights or add up parts. */
static void count_groups(const rmcp_plan *plan, uint64_t *all, uint64_t *largest, size_t *launches)
{
    *all = *largest = 0;
    *launches = 0;
    for (size_t i = 0; i < plan->list.n_records && !*launches; i++) {
        const char *kernel = plan->list.records[i].kernel.kernel;
        if (strncmp(kernel, "arrange", 7) && strncmp(kernel, "reduce", 6))
            count_kernel(plan, kernel, all, largest, launches);
    }
}

/* One case on a fast and on a slow device. */
static void check_case(const char *text, rmcp_conv_pass pass, const char *algorithm)
{
    const rmcp_conv problem = support_case(text, NULL);
    const struct rmcp_caps real = device->caps;
    uint64_t all = 0, largest = 0, all_slow = 0, largest_slow = 0;
    size_t launches = 0, launches_slow = 0;

    device->caps.flops_per_second = 1e15;
    device->caps.bytes_per_second = 1e15;
    rmcp_plan *plan = plan_of(&problem, pass, algorithm);
    count_groups(plan, &all, &largest, &launches);
    rmcp_plan_destroy(plan);

    /* A device on which it takes 0.4 s: at least 8 launches. */
    const struct rmcp_convolution conv = support_conv(&problem, pass);
    const struct rmcp_request request = { .operation = &rmcp_operation_conv,
                                          .problem = &conv,
                                          .caps = &device->caps };
    device->caps.flops_per_second = 1e9;
    const struct rmcp_algo *algo = NULL;
    for (size_t i = 0; rmcp_algos_conv[i]; i++)
        if (!strcmp(rmcp_algos_conv[i]->name, algorithm)) algo = rmcp_algos_conv[i];
    assert_non_null(algo);
    struct rmcp_way way;
    assert_int_equal(rmcp_algo_consider(algo, &request, &way), RMCP_OK);
    assert_null(way.refusal);
    device->caps.flops_per_second *= way.seconds / 0.4;
    device->caps.compute_units = 1;
    plan = plan_of(&problem, pass, algorithm);
    count_groups(plan, &all_slow, &largest_slow, &launches_slow);
    rmcp_plan_destroy(plan);
    printf("%s %s: %zu launches of up to %zu workgroups, at once %zu of %zu\n", algorithm, text,
           launches_slow, (size_t)largest_slow, launches, (size_t)largest);
    assert_true(launches_slow >= launches + 4);
    assert_true(largest_slow * 4 < all_slow);

    struct rmcp_judgement result;
    for (int data = 0; data < 2; data++) {
        if (rmcp_conv_judge(device, &problem, pass, algorithm, (enum rmcp_data)data, 3, 0, &result))
            fail_msg("%s", rmcp_last_error());
        if (!result.passed) fail_msg("%s %s: wrong", algorithm, text);
    }
    device->caps = real;
}

static void splits_long_work(void **state)
{
    (void)state;
    check_case("n1c4h31w29k5r3s3p1:f32:nchw", RMCP_CONV_FORWARD, "direct");
    check_case("n1c16h9w11k32r3s3p1:f32:nchw", RMCP_CONV_BACKWARD_WEIGHTS, "direct");
    check_case("n1c8h65w64k9r3s3p1:f32:nchw", RMCP_CONV_FORWARD, "implicit_gemm");
    check_case("n1c8h65w64k9r3s3p1:f32:nchw", RMCP_CONV_FORWARD, "split_k");
    check_case("n1c8h127w129k9r3s3p1u2:f32:nchw", RMCP_CONV_BACKWARD_DATA, "implicit_gemm");
    check_case("n1c8h127w129k9r3s3p1u2:f32:nchw", RMCP_CONV_BACKWARD_DATA, "split_k");
    check_case("n1c3h127w129k9r3s3p1:f32:nchw", RMCP_CONV_BACKWARD_DATA, "thin");
    check_case("n1c5h255w129k4r3s3p1u2:f32:nchw", RMCP_CONV_BACKWARD_DATA, "thin");
    check_case("n1c8h127w129k9r3s3p1u2:f32:nchw", RMCP_CONV_BACKWARD_DATA, "strided");
    check_case("n1c8h127w129k9r1s1u2:f32:nchw", RMCP_CONV_BACKWARD_DATA, "strided");
    check_case("n1c3h127w129k9r11s11p2u4:f32:nchw", RMCP_CONV_BACKWARD_DATA, "strided");
    check_case("n1c2h127w129k9r5s4p1u2:f32:nchw", RMCP_CONV_BACKWARD_DATA, "strided");
    check_case("n1c24h23w21k24r3s3p1g24:f32:nchw", RMCP_CONV_FORWARD, "narrow");
    check_case("n1c24h23w21k24r3s3p1g24:f32:nchw", RMCP_CONV_BACKWARD_WEIGHTS, "narrow");
}

static void keeps_the_quota(void **state)
{
    (void)state;
    assert_int_equal(rmcp_launch_quota(1000, 1, 0.04), 1000);
    assert_int_equal(rmcp_launch_quota(1000, 1, 0.5), 100);
    assert_int_equal(rmcp_launch_quota(1000, 0, 1e9), 1);
    assert_int_equal(rmcp_launch_quota(1000, 1, 0), 1000);
    assert_int_equal(rmcp_launch_quota(1000, 64, 1e9), 64);
    assert_int_equal(rmcp_launch_quota(INT64_C(1) << 40, 1, 0.1), INT64_C(1) << 39);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_quota),
        cmocka_unit_test(splits_long_work),
    };
    if (rmcp_device_open("opencl", NULL, &device)) {
        printf("skipped: %s\n", rmcp_last_error());
        return 77;
    }
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    rmcp_device_close(device);
    return failures;
}
