/* test_tensor_pieces.c: large tensor operations are cut into launches that together do all of it,
 * each within 32 bits; and on whatever OpenCL driver is installed, with the figures of a slow
 * device, the results of the pieces are right. */
#include "engine/core/judge.h"
#include "engine/ops/tensor/gpu/pieces.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

static const struct rmcp_caps fast = {
    .kinds = RMCP_LAUNCH_KERNEL,
    .compute_units = 36,
    .flops_per_second = 7e12,
    .bytes_per_second = 288e9,
    .launch_seconds = 5e-6,
};

static struct rmcp_tensor_form form_of(const char *text)
{
    struct rmcp_tensor_form form;
    size_t count = 0;
    if (rmcp_tensor_parse_case(text, &form, &count)) fail_msg("%s", rmcp_last_error());
    return form;
}

/* The pieces have all elements between them, start inside and stay below 4 GiB. */
static int64_t check_pieces(const char *text, double seconds)
{
    const struct rmcp_tensor_form form = form_of(text);
    const struct rmcp_request request = { .operation = &rmcp_operation_tensor,
                                          .problem = &form,
                                          .caps = &fast };
    struct rmcp_tensor_pieces pieces;
    rmcp_tensor_cut(&pieces, &request, seconds);
    assert_true(pieces.count >= 1 && pieces.count <= RMCP_TENSOR_MOST_PIECES);
    assert_null(rmcp_tensor_cut_refuse(&pieces));
    int64_t all = 0;
    for (int64_t i = 0; i < pieces.count; i++) {
        const struct rmcp_tensor_piece piece = rmcp_tensor_piece_at(&pieces, i);
        int64_t elements = 1;
        for (unsigned k = 0; k < piece.n_loops; k++) elements *= piece.loop[k].size;
        all += elements;
        assert_true(elements <= INT64_C(1) << 29);
        for (unsigned slot = 0; slot < RMCP_TENSOR_N; slot++) {
            if (!form.span[slot]) continue;
            int64_t last = 0;
            for (unsigned k = 0; k < piece.n_loops; k++)
                last += (piece.loop[k].size - 1) * piece.loop[k].stride[slot];
            assert_true(piece.offset[slot] >= 0);
            assert_true(piece.offset[slot] + last < form.span[slot]);
            assert_true((last + 1) * (int64_t)rmcp_type_bytes(form.type[slot]) < INT64_C(1) << 32);
        }
    }
    assert_true(all == form.outputs * form.terms);
    return pieces.count;
}

static void test_pieces_are_all_of_it(void **state)
{
    (void)state;
    assert_int_equal(check_pieces("1000:set", 0), 1);
    assert_int_equal(check_pieces("536870912:copy", 0), 1);
    assert_int_equal(check_pieces("536870913:copy:f16", 0), 2);
    assert_true(check_pieces("6000000000:copy:bf16", 0) >= 12);
    assert_true(check_pieces("3x2000000011:add:b1x2000000011", 0) >= 12);
    assert_true(check_pieces("2000000011x3:copy:f32:a/1x2000000011", 0) >= 12);
    assert_true(check_pieces("100x7x50:scale:c/1000000000x100x1", 0) >= 50);
    assert_true(check_pieces("70000x70000:sum:c1x70000", 0) >= 10);
    assert_true(check_pieces("70000x70000:sum:c70000x1", 0) >= 10);
    assert_true(check_pieces("100000000:set", 1) >= 20); /* 50 ms each */
    assert_true(check_pieces("1x1x1:set", 100) == 1);
}

static void test_too_many_pieces_are_refused(void **state)
{
    (void)state;
    const struct rmcp_tensor_form form = form_of("100000:set:c/4294967296");
    const struct rmcp_request request = { .operation = &rmcp_operation_tensor,
                                          .problem = &form,
                                          .caps = &fast };
    for (size_t i = 0; rmcp_operation_tensor.algos[i]; i++) {
        const struct rmcp_algo *algo = rmcp_operation_tensor.algos[i];
        if (!strcmp(algo->name, "rows")) {
            struct rmcp_way way;
            assert_int_equal(rmcp_algo_consider(algo, &request, &way), RMCP_OK);
            assert_non_null(way.refusal);
            assert_non_null(strstr(way.refusal, "more than 1024 launches"));
        }
    }
}

static rmcp_device *device;

/* Judged whole and, on a device on which it takes seconds, in pieces. */
static void check_case(const char *text, const char *algorithm)
{
    const struct rmcp_tensor_form form = form_of(text);
    const struct rmcp_caps real = device->caps;
    rmcp_plan_options options = { .struct_size = sizeof options, .algorithm = algorithm };
    struct rmcp_judgement judgement;
    size_t launches[2];
    for (int slow = 0; slow < 2; slow++) {
        if (slow) {
            device->caps.bytes_per_second = rmcp_operation_tensor.bytes(&form) / 0.6;
            device->caps.compute_units = 0;
        }
        rmcp_plan *plan = NULL;
        if (rmcp_plan_make(device, &rmcp_operation_tensor, &form, &options, &plan))
            fail_msg("%s, %s: %s", text, algorithm, rmcp_last_error());
        launches[slow] = plan->list.n_records;
        for (int data = 0; data < RMCP_N_DATA; data++) {
            rmcp_status status =
                rmcp_judge_plan(plan, NULL, (enum rmcp_data)data, 5, 0, &judgement);
            if (status) fail_msg("%s, %s: %s", text, algorithm, rmcp_last_error());
            if (!judgement.passed) fail_msg("%s, %s: %s", text, algorithm, judgement.why);
        }
        rmcp_plan_destroy(plan);
    }
    device->caps = real;
    if (launches[1] < launches[0] + 8)
        fail_msg("%s, %s: %zu launches, %zu on a slow device", text, algorithm, launches[0],
                 launches[1]);
}

static void test_pieces_are_right(void **state)
{
    (void)state;
    if (!device) skip();
    check_case("40x50x60:add:b1x50x1:beta1", "rows");
    check_case("40x50x60:copy:f16:c/3100x1x51", "rows");
    check_case("40x50x60:copy:f16:c/3100x1x51", "tiles");
    check_case("3x200x130:maximum:bf16:a/26000x1x200:b1x200x1", "tiles");
    check_case("40x50x60:sum:c1x50x1:beta1", "sum");
    check_case("40x50x60:sum:f16-f32:c40x1x60", "sum");
    check_case("120000:sum:c1", "sum");
    check_case("300x400:sum:c1x400:alpha0.5", "sum");
    check_case("20x30x20x10:sum:bf16:c20x1x20x1", "sum");
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
        cmocka_unit_test(test_pieces_are_all_of_it),
        cmocka_unit_test(test_too_many_pieces_are_refused),
        cmocka_unit_test(test_pieces_are_right),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
