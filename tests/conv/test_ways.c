/* test_ways.c: what convolution's algorithms find out about a request is all in the way: other
 * requests in between change nothing, and launches use no more workspace than was told. */
#include "engine/figures/figures.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

enum { N_PROBLEMS = 250, HOST = RMCP_FAMILY_HOST };

/* A device of each family, and one with next to no memory. */
static const struct rmcp_caps devices[] = {
    { RMCP_LAUNCH_KERNEL, 0, 132, 1024, RMCP_FAMILY_NVIDIA, 48 << 10, UINT64_C(1) << 37, 67e12,
      4.8e12, 1.8e-6 },
    { RMCP_LAUNCH_KERNEL, 0, 36, 1024, RMCP_FAMILY_RDNA, 64 << 10, UINT64_C(1) << 32, 7e12, 288e9,
      8e-6 },
    { RMCP_LAUNCH_KERNEL, 0, 60, 256, RMCP_FAMILY_GENERIC, 32 << 10, UINT64_C(1) << 32, 13e12,
      250e9, 10e-6 },
    { RMCP_LAUNCH_KERNEL, 0, 96, 512, RMCP_FAMILY_INTEL, 64 << 10, UINT64_C(1) << 31, 4e12, 40e9,
      10e-6 },
    { RMCP_LAUNCH_KERNEL, 0, 2, 4096, HOST, 512 << 10, UINT64_C(1) << 30, 9e10, 10e9, 30e-6 },
    { RMCP_LAUNCH_KERNEL, 0, 1, 1024, RMCP_FAMILY_RDNA, 64 << 10, 1 << 16, 1e9, 1e9, 1e-6 },
};

/* Channels last of few channels, strides, filters to be cut: what the random ones seldom have. */
static const char *const texts[] = {
    "n16c3h64w64k32r9s9p4u3:f32:nhwc:bwd_data",     "n4c16w4000k32s128p64:f16:nhwc:fwd",
    "n8c96h56w56k96r5s5p2g96:f32:nhwc:bwd_weights", "n16c128h28w28k256u2:f32:nchw:bwd_data",
    "n16c128h28w28k128r5s5p2:f32:nchw:bwd_weights", "n1c512h28w28k128:f32:nchw:fwd",
    "n64c256h14w14k256r3s3p1:f32:nhwc:bwd_data",
};

static struct rmcp_convolution problem_of(size_t index)
{
    if (index < SUPPORT_LENGTH(texts)) {
        int pass = 0;
        const rmcp_conv problem = support_case(texts[index], &pass);
        return support_conv(&problem, (rmcp_conv_pass)pass);
    }
    rmcp_conv problem;
    rmcp_conv_pass pass;
    rmcp_conv_draw(index, &problem, &pass);
    return support_conv(&problem, pass);
}

static void assert_same_arg(const struct rmcp_arg *a, const struct rmcp_arg *b)
{
    assert_int_equal(a->kind, b->kind);
    if (a->kind == RMCP_ARG_MEMORY) {
        assert_int_equal(a->slot, b->slot);
        assert_int_equal(a->offset, b->offset);
    } else {
        assert_int_equal(a->bytes, b->bytes);
        assert_memory_equal(a->value, b->value, a->bytes);
    }
}

static void assert_same_records(const struct rmcp_launch_list *a, const struct rmcp_launch_list *b)
{
    assert_int_equal(a->n_records, b->n_records);
    for (size_t i = 0; i < a->n_records; i++) {
        const struct rmcp_kernel_launch *one = &a->records[i].kernel;
        const struct rmcp_kernel_launch *other = &b->records[i].kernel;
        assert_string_equal(one->kernel, other->kernel);
        assert_memory_equal(one->grid, other->grid, sizeof one->grid);
        assert_int_equal(one->n_args, other->n_args);
        for (uint32_t n = 0; n < one->n_args; n++) assert_same_arg(&one->args[n], &other->args[n]);
    }
}

/* Every use of the workspace begins within it. */
static void assert_within(const struct rmcp_launch_list *list, uint64_t workspace_bytes)
{
    for (size_t i = 0; i < list->n_records; i++)
        for (uint32_t n = 0; n < list->records[i].kernel.n_args; n++) {
            const struct rmcp_arg *arg = &list->records[i].kernel.args[n];
            if (arg->kind == RMCP_ARG_MEMORY && arg->slot == RMCP_SLOT_WORKSPACE)
                assert_true(arg->offset < workspace_bytes);
        }
}

/* All that an algorithm says to a request and makes of it. */
struct answer {
    struct rmcp_way way;
    struct rmcp_launch_list list;
};

static void ask(const struct rmcp_algo *algo, const struct rmcp_request *request,
                struct answer *answer)
{
    memset(answer, 0xa5, sizeof *answer);
    answer->list = (struct rmcp_launch_list){ .n_records = 0 };
    assert_int_equal(rmcp_algo_consider(algo, request, &answer->way), RMCP_OK);
}

static void emit(const struct rmcp_algo *algo, const struct rmcp_request *request,
                 struct answer *answer)
{
    if (answer->way.refusal) return;
    assert_int_equal(algo->emit(request, &answer->way, &answer->list), RMCP_OK);
    assert_within(&answer->list, answer->way.workspace_bytes);
}

/* A request, with another one between the question and the launches; again; and at once. */
static void check(const struct rmcp_algo *algo, const struct rmcp_request *request,
                  const struct rmcp_request *other)
{
    static struct answer late, at_once, between;
    ask(algo, request, &late);
    ask(algo, other, &between);
    emit(algo, other, &between);
    ask(algo, request, &at_once);
    emit(algo, request, &at_once);
    emit(algo, request, &late);
    assert_int_equal(!late.way.refusal, !at_once.way.refusal);
    if (late.way.refusal) {
        assert_string_equal(late.way.refusal, at_once.way.refusal);
        assert_int_equal(late.way.workspace_bytes, 0);
    } else {
        assert_true(late.way.seconds > 0 && late.way.seconds == at_once.way.seconds);
        assert_int_equal(late.way.workspace_bytes, at_once.way.workspace_bytes);
        assert_same_records(&late.list, &at_once.list);
    }
    rmcp_launch_list_deinit(&late.list);
    rmcp_launch_list_deinit(&at_once.list);
    rmcp_launch_list_deinit(&between.list);
}

/* Other problems, the same one of a strict plan, and on another device. */
static void ways_depend_on_the_request_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_PROBLEMS; i++) {
        const struct rmcp_convolution conv = problem_of(i), another = problem_of(i + 1);
        for (size_t d = 0; d < SUPPORT_LENGTH(devices); d++) {
            const struct rmcp_request request = { .operation = &rmcp_operation_conv,
                                                  .problem = &conv,
                                                  .caps = &devices[d],
                                                  .deterministic = true };
            struct rmcp_request others[] = { request, request, request };
            others[0].problem = &another;
            others[1].strict = true;
            others[2].caps = &devices[(d + 1) % SUPPORT_LENGTH(devices)];
            for (size_t a = 0; rmcp_algos_conv[a]; a++)
                if (rmcp_algos_conv[a]->kind == RMCP_LAUNCH_KERNEL)
                    check(rmcp_algos_conv[a], &request, &others[(i + a) % 3]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(ways_depend_on_the_request_alone) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
