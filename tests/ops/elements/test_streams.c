/* test_streams.c: launches that go element by element do all of it between them, each within 32
 * bits; and on whatever OpenCL driver is installed, with the figures of a slow device, results of
 * many launches are right. */
#include "engine/core/judge.h"
#include "engine/gpu/stream.h"
#include "support.h"

#include <string.h>

enum { X, Y }; /* tensors of an activation */

static const struct rmcp_caps fast = {
    .kinds = RMCP_LAUNCH_KERNEL,
    .compute_units = 36,
    .flops_per_second = 7e12,
    .bytes_per_second = 288e9,
    .launch_seconds = 5e-6,
};

static struct rmcp_any_problem problem_of(const char *text, const struct rmcp_operation **operation)
{
    struct rmcp_any_problem problems[RMCP_MOST_PASSES];
    size_t count = 0;
    if (rmcp_case_parse(text, operation, problems, &count)) fail_msg("%s", rmcp_last_error());
    assert_int_equal(count, 1);
    return problems[0];
}

/* Of y = f(x): how many launches; they have all elements between them, inside both tensors. */
static int64_t check_launches(const char *text)
{
    const struct rmcp_operation *operation;
    const struct rmcp_any_problem problem = problem_of(text, &operation);
    const struct rmcp_form *form = (const struct rmcp_form *)&problem;
    const struct rmcp_request request = { .operation = operation, .problem = form, .caps = &fast };
    const unsigned slots[] = { Y, X };
    struct rmcp_launch_list list = { 0 };
    struct rmcp_streams streams;
    int64_t all = 0;
    rmcp_streams_begin(&streams, form->dims, form->size);
    for (int i = 0; i < 2; i++) rmcp_streams_add(&streams, form, slots[i], NULL, 0);
    rmcp_streams_cut(&streams, &request);
    assert_null(rmcp_streams_refuse(&streams));
    for (int64_t i = 0; i < streams.launches; i++) {
        struct rmcp_stream_launch launch;
        if (rmcp_streams_append(&streams, i, &list, "act", (rmcp_type)form->type, &launch))
            fail_msg("%s", rmcp_last_error());
        const struct rmcp_stream *s = &launch.args;
        int64_t rows = 1, last[2] = { (s->length - 1) * (int64_t)s->step[0],
                                      (s->length - 1) * (int64_t)s->step[1] };
        for (unsigned k = 0; k < s->n_outer; k++) {
            rows *= s->outer[k].size.divisor;
            for (int t = 0; t < 2; t++)
                last[t] += (s->outer[k].size.divisor - 1) * (int64_t)s->outer[k].step[t];
        }
        all += rows * s->length;
        assert_true(s->count >= rows * (s->length / streams.lanes) && s->count < UINT32_C(1) << 31);
        assert_true((int64_t)launch.kernel->grid[0] * 256 * RMCP_STREAM_CHUNKS >= s->count);
        for (int t = 0; t < 2; t++) {
            assert_true(launch.first[t] >= 0);
            assert_true(launch.first[t] + last[t] < form->tensor[slots[t]].span);
            assert_true((last[t] + 1) * streams.tensor[t].bytes < INT64_C(1) << 32);
        }
    }
    assert_true(all == form->tensor[Y].elements);
    rmcp_launch_list_deinit(&list);
    return streams.launches;
}

static void test_launches_are_all_of_it(void **state)
{
    (void)state;
    assert_int_equal(check_launches("act:1000:fwd:relu"), 1);
    assert_int_equal(check_launches("act:1x1x1:fwd:relu"), 1);
    assert_int_equal(check_launches("act:8x64x56x56:fwd:relu:x/200704x1x3584x64"), 1);
    assert_int_equal(check_launches("act:536870912:fwd:relu"), 1);
    assert_int_equal(check_launches("act:536870913:fwd:relu:f16"), 2);
    assert_true(check_launches("act:6000000000:fwd:relu:bf16") >= 12);
    assert_true(check_launches("act:2000000011x3:fwd:relu:x/1x2000000011") >= 12);
    assert_true(check_launches("act:100x7x50:fwd:relu:y/1000000000x100x1") >= 50);
}

/* A tensor without gaps is one row, whatever its dimensions and in whatever order they lie. */
static void test_loops_are_joined(void **state)
{
    (void)state;
    static const char *const texts[] = { "act:2x3x4x5:fwd:relu", "act:1x6x1x5:fwd:relu",
                                         "act:2x3x4x5:fwd:relu:x/60x1x15x3:y/60x1x15x3" };
    for (int i = 0; i < 3; i++) {
        const struct rmcp_operation *operation;
        const struct rmcp_any_problem problem = problem_of(texts[i], &operation);
        const struct rmcp_form *form = (const struct rmcp_form *)&problem;
        const struct rmcp_request request = { .operation = operation,
                                              .problem = form,
                                              .caps = &fast };
        struct rmcp_streams streams;
        rmcp_streams_begin(&streams, form->dims, form->size);
        rmcp_streams_add(&streams, form, Y, NULL, 0);
        rmcp_streams_add(&streams, form, X, NULL, 0);
        rmcp_streams_cut(&streams, &request);
        assert_int_equal(streams.n_loops, 1);
        assert_true(streams.loop[0].size == form->tensor[Y].elements);
        assert_true(streams.loop[0].stride[0] == 1 && streams.loop[0].stride[1] == 1);
    }
}

static void test_too_many_launches_are_refused(void **state)
{
    (void)state;
    const struct rmcp_operation *operation;
    const struct rmcp_any_problem problem =
        problem_of("act:60000:fwd:relu:y/4294967296", &operation);
    const struct rmcp_request request = { .operation = operation,
                                          .problem = &problem,
                                          .caps = &fast };
    for (size_t i = 0; operation->algos[i]; i++)
        if (!strcmp(operation->algos[i]->name, "stream")) {
            struct rmcp_way way;
            assert_int_equal(rmcp_algo_consider(operation->algos[i], &request, &way), RMCP_OK);
            assert_non_null(way.refusal);
            assert_non_null(strstr(way.refusal, "1024 launches"));
        }
}

static rmcp_device *device;

static void judge(rmcp_plan *plan, const char *text)
{
    struct rmcp_judgement judgement;
    for (int data = 0; data < RMCP_N_DATA; data++) {
        if (rmcp_judge_plan(plan, NULL, (enum rmcp_data)data, 5, 0, &judgement))
            fail_msg("%s: %s", text, rmcp_last_error());
        if (!judgement.passed) fail_msg("%s: %s", text, judgement.why);
    }
}

static void check_result(const char *text)
{
    const struct rmcp_operation *operation;
    const struct rmcp_any_problem problem = problem_of(text, &operation);
    rmcp_plan *plan = NULL;
    if (rmcp_plan_make(device, operation, &problem, NULL, &plan))
        fail_msg("%s: %s", text, rmcp_last_error());
    judge(plan, text);
    rmcp_plan_destroy(plan);
}

/* Judged whole and, on a device on which it takes seconds, in many launches. */
static void check_case(const char *text)
{
    const struct rmcp_operation *operation;
    const struct rmcp_any_problem problem = problem_of(text, &operation);
    const struct rmcp_caps real = device->caps;
    size_t launches[2];
    for (int slow = 0; slow < 2; slow++) {
        if (slow) {
            device->caps.bytes_per_second = operation->bytes(&problem) / 0.6;
            device->caps.compute_units = 0;
        }
        rmcp_plan *plan = NULL;
        if (rmcp_plan_make(device, operation, &problem, NULL, &plan))
            fail_msg("%s: %s", text, rmcp_last_error());
        launches[slow] = plan->list.n_records;
        judge(plan, text);
        rmcp_plan_destroy(plan);
    }
    device->caps = real;
    if (launches[1] < launches[0] + 8)
        fail_msg("%s: %zu launches, %zu on a slow device", text, launches[0], launches[1]);
}

static void test_many_launches_are_right(void **state)
{
    (void)state;
    if (!device) skip();
    check_case("act:40x50x60:bwd:elu:f16:alpha1:x/3000x1x50:dx/3100x62x1");
    check_case("glu:40x50x60:bwd:dim1");
    check_case("prelu:40x50x60:channels:bf16");
    check_case("dropout:41x51x61:fwd:saved:counting:y/3111x1x51");
    check_case("dropout:120001:bwd:drawn:f16");
    check_case("softmargin:40x50x60:fwd:mean:t/3000x1x50");
    check_case("adam:120001:amsgrad:counted:amp:copied:f16");
    check_case("rope:400x100:fwd:bf16");
}

/* Tensors that all rows share have strides, too; what has none of its own says so. */
static void test_shared_tensors_have_strides(void **state)
{
    (void)state;
    struct rmcp_any_problem problems[RMCP_MOST_PASSES];
    const struct rmcp_operation *operation;
    size_t count = 0;
    support_assert_failed(
        rmcp_case_parse("dropout:33:saved:reserve/2", &operation, problems, &count), RMCP_E_ARG,
        "gaps");
    support_assert_failed(rmcp_case_parse("dropout:33:state/2", &operation, problems, &count),
                          RMCP_E_ARG, "gaps");
    if (!device) skip();
    check_result("rope:5x8:fwd:cos/2:sin/0");
    check_result("rope:500x24:bwd:f16:cos/0:sin/3");
}

static int open_device(void **state)
{
    (void)state;
    if (rmcp_device_open("opencl", NULL, &device)) device = NULL;
    return 0;
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
        cmocka_unit_test(test_launches_are_all_of_it),
        cmocka_unit_test(test_loops_are_joined),
        cmocka_unit_test(test_too_many_launches_are_refused),
        cmocka_unit_test(test_many_launches_are_right),
        cmocka_unit_test(test_shared_tensors_have_strides),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
