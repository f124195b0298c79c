/* test_hostile_shapes.c: the drop-in asked for what cannot be: shapes that do not fit or exceed all
 * memory, data that is missing, too little workspace. It says so, computes nothing, and goes on
 * working. usage: test_hostile_shapes cpu|FAKE-HIP-LIBRARY */
#include "hostile.h"

#include <limits.h>
#include <math.h>

static miopenHandle_t handle;

/* ---- descriptors ---- */

static void tensors_that_cannot_be(void **state)
{
    miopenTensorDescriptor_t desc = NULL;
    const int good[8] = { 2, 3, 4, 5, 1, 1, 1, 1 }, negative[4] = { 2, 3, -4, 5 };
    const int strides[4] = { 60, 20, -5, 1 };
    const size_t wide[4] = { 2, SIZE_MAX, 4, 5 }, half[4] = { (size_t)1 << 40, 1 << 30, 4, 5 };
    (void)state;
    GOOD(miopenCreateTensorDescriptor(&desc));
    const int ranks[] = { -1, 0, 100, INT_MAX, INT_MIN };
    for (size_t i = 0; i < LENGTH(ranks); i++)
        REFUSED(miopenSetTensorDescriptor(desc, miopenFloat, ranks[i], good, NULL));
    REFUSED(miopenSetTensorDescriptor(desc, miopenFloat, 4, negative, NULL));
    REFUSED(miopenSetTensorDescriptor(desc, miopenFloat, 4, NULL, NULL));
    REFUSED(miopenSetTensorDescriptor(desc, miopenFloat, 4, good, strides));
    REFUSED(miopenSetTensorDescriptor(desc, (miopenDataType_t)77, 4, good, NULL));
    REFUSED(miopenSetTensorDescriptor(desc, (miopenDataType_t)-1, 4, good, NULL));
    REFUSED(miopenSetTensorDescriptorV2(desc, miopenFloat, 4, wide, NULL));
    REFUSED(miopenSetTensorDescriptorV2(desc, miopenFloat, 4, half, NULL));
    REFUSED(miopenSet4dTensorDescriptor(desc, miopenFloat, 2, -3, 4, 5));
    REFUSED(miopenSetNdTensorDescriptorWithLayout(desc, miopenFloat, (miopenTensorLayout_t)99, good,
                                                  4));
    REFUSED(miopenSetNdTensorDescriptorWithLayout(desc, miopenFloat, miopenTensorNCHW, good, -4));
    /* What was refused has changed nothing. */
    int n = -1;
    GOOD(miopenSetTensorDescriptor(desc, miopenHalf, 3, good, NULL));
    REFUSED(miopenSetTensorDescriptor(desc, miopenFloat, 4, negative, NULL));
    GOOD(miopenGetTensorDescriptorSize(desc, &n));
    assert_int_equal(n, 3);
    GOOD(miopenDestroyTensorDescriptor(desc));
}

static void convolutions_that_cannot_be(void **state)
{
    miopenConvolutionDescriptor_t desc = NULL;
    const int one[2] = { 1, 1 }, zero[2] = { 0, 0 }, less[2] = { 1, -1 };
    const miopenConvolutionMode_t mode = miopenConvolution;
    (void)state;
    GOOD(miopenCreateConvolutionDescriptor(&desc));
    REFUSED(miopenInitConvolutionNdDescriptor(desc, 2, less, one, one, mode));
    REFUSED(miopenInitConvolutionNdDescriptor(desc, 2, zero, zero, one, mode));
    REFUSED(miopenInitConvolutionNdDescriptor(desc, 2, zero, less, one, mode));
    REFUSED(miopenInitConvolutionNdDescriptor(desc, 2, zero, one, zero, mode));
    REFUSED(miopenInitConvolutionNdDescriptor(desc, -1, zero, one, one, mode));
    REFUSED(miopenInitConvolutionNdDescriptor(desc, INT_MAX, zero, one, one, mode));
    REFUSED(miopenInitConvolutionNdDescriptor(desc, 2, NULL, one, one, mode));
    REFUSED(miopenInitConvolutionNdDescriptor(desc, 2, zero, NULL, one, mode));
    REFUSED(miopenInitConvolutionNdDescriptor(desc, 2, zero, one, NULL, mode));
    REFUSED(
        miopenInitConvolutionNdDescriptor(desc, 2, zero, one, one, (miopenConvolutionMode_t)50));
    /* What was refused has changed nothing. Any number of groups may be set; then nothing fits it.
     */
    GOOD(miopenInitConvolutionNdDescriptor(desc, 2, one, one, one, mode));
    REFUSED(miopenInitConvolutionNdDescriptor(desc, 2, zero, one, zero, mode));
    int n = 0, pad[2] = { 0, 0 }, stride[2], dilation[2];
    miopenConvolutionMode_t got_mode;
    GOOD(miopenGetConvolutionNdDescriptor(desc, 2, &n, pad, stride, dilation, &got_mode));
    assert_int_equal(n, 2);
    assert_int_equal(pad[0], 1);
    assert_int_equal(pad[1], 1);
    GOOD(miopenDestroyConvolutionDescriptor(desc));
}

/* ---- shapes that do not fit ---- */

struct problem {
    const char *what;
    int x_rank, w_rank, y_rank;
    int x[5], w[5], y[5];
    miopenDataType_t x_type, w_type, y_type;
    int dims, pad, stride, dilation, groups;
};

/* One that fits, to be spoiled. */
static const struct problem fitting = { .what = "fits",
                                        .x_rank = 4,
                                        .w_rank = 4,
                                        .y_rank = 4,
                                        .x = { 2, 8, 9, 7, 1 },
                                        .w = { 12, 8, 3, 3, 1 },
                                        .y = { 2, 12, 9, 7, 1 },
                                        .x_type = miopenFloat,
                                        .w_type = miopenFloat,
                                        .y_type = miopenFloat,
                                        .dims = 2,
                                        .pad = 1,
                                        .stride = 1,
                                        .dilation = 1,
                                        .groups = 1 };

static bool set_tensor(miopenTensorDescriptor_t *desc, int rank, const int *size,
                       miopenDataType_t type)
{
    GOOD(miopenCreateTensorDescriptor(desc));
    return !miopenSetTensorDescriptor(*desc, type, rank, size, NULL);
}

/* Whether something of the problem was refused before anything ran; nothing must run. */
static void assert_not_computed(const struct problem *p)
{
    static char memory[4096];
    struct client_conv c = { .x = memory, .w = memory + 1024, .y = memory + 2048 };
    const int pad[3] = { p->pad, p->pad, p->pad }, stride[3] = { p->stride, p->stride, p->stride };
    const int dilation[3] = { p->dilation, p->dilation, p->dilation };
    miopenConvSolution_t solution;
    bool set = set_tensor(&c.x_desc, p->x_rank, p->x, p->x_type);
    set &= set_tensor(&c.w_desc, p->w_rank, p->w, p->w_type);
    set &= set_tensor(&c.y_desc, p->y_rank, p->y, p->y_type);
    GOOD(miopenCreateConvolutionDescriptor(&c.desc));
    set &= !miopenInitConvolutionNdDescriptor(c.desc, p->dims, pad, stride, dilation,
                                              miopenConvolution);
    set &= !miopenSetConvolutionGroupCount(c.desc, p->groups);
    for (int pass = 0; set && pass < CLIENT_PASSES; pass++) {
        int algorithm;
        hostile_assert_refused(
            client_solution(handle, &c, (enum client_pass)pass, false, &solution), p->what);
        hostile_assert_refused(client_find(handle, &c, (enum client_pass)pass, &algorithm),
                               p->what);
        hostile_assert_refused(client_found(handle, &c, (enum client_pass)pass, 0), p->what);
        hostile_assert_refused(client_execute(handle, &c, (enum client_pass)pass, NULL, 0, 1),
                               p->what);
    }
    for (size_t i = 0; i < sizeof memory; i++)
        if (memory[i]) fail_msg("%s: something was written", p->what);
    client_forget(&c);
    client_free(c.workspace);
}

#define SPOILED(text, change)                                                                      \
    p = fitting;                                                                                   \
    p.what = text;                                                                                 \
    change;                                                                                        \
    assert_not_computed(&p)

static void shapes_that_do_not_fit(void **state)
{
    struct problem p;
    (void)state;
    SPOILED("x has another rank", p.x_rank = 3);
    SPOILED("x has a higher rank", p.x_rank = 5);
    SPOILED("w has another rank", p.w_rank = 5);
    SPOILED("y has another rank", p.y_rank = 3);
    SPOILED("all have rank 2", p.x_rank = p.w_rank = p.y_rank = 2);
    SPOILED("three dimensions for images", p.dims = 3);
    SPOILED("one dimension for images", p.dims = 1);
    SPOILED("w has other channels", p.w[1] = 7);
    SPOILED("y has other channels", p.y[1] = 11);
    SPOILED("y has other images", p.y[0] = 3);
    SPOILED("y is too low", p.y[2] = 8);
    SPOILED("y is too wide", p.y[3] = 8);
    SPOILED("x has another type", p.x_type = miopenHalf);
    SPOILED("w has another type", p.w_type = miopenBFloat16);
    SPOILED("y has another type", p.y_type = miopenHalf);
    SPOILED("64-bit numbers", p.x_type = p.w_type = p.y_type = miopenDouble);
    SPOILED("bytes", p.x_type = p.w_type = p.y_type = miopenInt8);
    SPOILED("less than no padding", p.pad = -1);
    SPOILED("stride 0", p.stride = 0);
    SPOILED("stride -1", p.stride = -1);
    SPOILED("dilation 0", p.dilation = 0);
    SPOILED("no groups", p.groups = 0);
    SPOILED("groups that do not divide", p.groups = 3);
    SPOILED("more groups than channels", p.groups = 16);
    SPOILED("groups and w do not fit", p.groups = 4);
    SPOILED("filter larger than the image", p.w[2] = p.w[3] = 40);
    SPOILED("padding beyond int", p.pad = INT_MAX);
    SPOILED("dilation beyond int", p.dilation = INT_MAX);
    SPOILED("stride beyond the image", p.stride = INT_MAX);
    SPOILED("no image", p.x[0] = p.y[0] = -1);
    SPOILED("more than memory", p.x[0] = p.y[0] = INT_MAX; p.x[2] = p.y[2] = INT_MAX;
            p.x[3] = p.y[3] = INT_MAX);
    SPOILED("as many channels as numbers", p.x[1] = p.w[1] = INT_MAX; p.w[0] = p.y[1] = INT_MAX);
    SPOILED("a filter beyond memory", p.w[2] = p.w[3] = INT_MAX);
    hostile_assert_well();
}

/* Outputs whose elements share memory: what they would hold is anybody's guess. */
static void outputs_that_overlap(void **state)
{
    const int size[4] = { 2, 12, 9, 7 }, same[4] = { 0, 63, 7, 1 }, crossed[4] = { 756, 63, 6, 1 };
    struct client_conv conv;
    (void)state;
    hostile_conv(&conv, &hostile_shape, 1);
    if (!miopenSetTensorDescriptor(conv.y_desc, miopenFloat, 4, size, same))
        REFUSED(client_immediate(handle, &conv, CLIENT_FORWARD, false));
    if (!miopenSetTensorDescriptor(conv.y_desc, miopenFloat, 4, size, crossed))
        REFUSED(client_immediate(handle, &conv, CLIENT_FORWARD, false));
    client_conv_deinit(&conv);
}

/* ---- calls with a hole ---- */

static void data_that_is_missing(void **state)
{
    (void)state;
    for (int pass = 0; pass < CLIENT_PASSES; pass++) {
        struct client_conv conv, holed;
        miopenConvSolution_t solution;
        int algorithm = 0;
        hostile_conv(&conv, &hostile_shape, 7);
        GOOD(client_solution(handle, &conv, (enum client_pass)pass, true, &solution));
        for (int hole = 0; hole < 7; hole++) {
            holed = conv;
            if (hole == 0) holed.x = NULL;
            if (hole == 1) holed.w = NULL;
            if (hole == 2) holed.y = NULL;
            if (hole == 3) holed.x_desc = NULL;
            if (hole == 4) holed.w_desc = NULL;
            if (hole == 5) holed.y_desc = NULL;
            if (hole == 6) holed.desc = NULL;
            BAD_PARM(client_execute(handle, &holed, (enum client_pass)pass, NULL, 0,
                                    solution.solution_id));
            BAD_PARM(client_found(handle, &holed, (enum client_pass)pass, 0));
            REFUSED(client_find(handle, &holed, (enum client_pass)pass, &algorithm));
            client_free(holed.workspace);
        }
        BAD_PARM(
            client_execute(NULL, &conv, (enum client_pass)pass, NULL, 0, solution.solution_id));
        REFUSED(client_execute(handle, &conv, (enum client_pass)pass, NULL, 0, 0xdeadbeefcafe));
        client_conv_deinit(&conv);
    }
}

static void results_that_nobody_takes(void **state)
{
    struct client_conv c;
    size_t n = 0;
    int found = 0;
    miopenConvAlgoPerf_t perf;
    miopenConvSolution_t solution;
    (void)state;
    hostile_conv(&c, &hostile_shape, 7);
    REFUSED(miopenConvolutionForwardGetSolutionCount(handle, c.w_desc, c.x_desc, c.desc, c.y_desc,
                                                     NULL));
    REFUSED(miopenConvolutionForwardGetSolution(handle, c.w_desc, c.x_desc, c.desc, c.y_desc, 1,
                                                NULL, &solution));
    hostile_assert_status(miopenConvolutionForwardGetSolution(handle, c.w_desc, c.x_desc, c.desc,
                                                              c.y_desc, 1, &n, NULL),
                          "no list");
    REFUSED(miopenConvolutionForwardGetWorkSpaceSize(handle, c.w_desc, c.x_desc, c.desc, c.y_desc,
                                                     NULL));
    REFUSED(miopenFindConvolutionForwardAlgorithm(handle, c.x_desc, c.x, c.w_desc, c.w, c.desc,
                                                  c.y_desc, c.y, 1, NULL, &perf, NULL, 0, false));
    REFUSED(miopenFindConvolutionForwardAlgorithm(handle, c.x_desc, c.x, c.w_desc, c.w, c.desc,
                                                  c.y_desc, c.y, 1, &found, NULL, NULL, 0, false));
    REFUSED(miopenFindConvolutionForwardAlgorithm(handle, c.x_desc, c.x, c.w_desc, c.w, c.desc,
                                                  c.y_desc, c.y, 0, &found, &perf, NULL, 0, false));
    REFUSED(miopenFindConvolutionForwardAlgorithm(handle, c.x_desc, c.x, c.w_desc, c.w, c.desc,
                                                  c.y_desc, c.y, -1, &found, &perf, NULL, 0,
                                                  false));
    /* Room for fewer than there are. */
    GOOD(miopenConvolutionForwardGetSolution(handle, c.w_desc, c.x_desc, c.desc, c.y_desc, 1, &n,
                                             &solution));
    assert_int_equal(n, 1);
    GOOD(miopenConvolutionForwardGetSolution(handle, c.w_desc, c.x_desc, c.desc, c.y_desc, 0, &n,
                                             &solution));
    assert_int_equal(n, 0);
    client_conv_deinit(&c);
}

/* ---- workspace ---- */

/* Too little, none, or one that begins anywhere: an error, or the right result; never more than
 * there is. */
static void workspace_that_does_not_fit(void **state)
{
    static const struct client_shape shapes[] = {
        { 2, 8, 9, 7, 12, 3, 1, 1, 1, miopenFloat, false },
        { 1, 64, 14, 14, 64, 3, 1, 1, 1, miopenFloat, false },
        { 4, 32, 28, 28, 64, 1, 0, 2, 1, miopenFloat, false },
        { 1, 3, 33, 33, 8, 7, 3, 2, 1, miopenFloat, false },
        { 2, 16, 20, 20, 16, 3, 1, 1, 16, miopenFloat, false },
    };
    int n_with = 0;
    (void)state;
    for (size_t i = 0; i < LENGTH(shapes); i++)
        for (int pass = 0; pass < CLIENT_PASSES; pass++) {
            struct client_conv conv;
            miopenConvSolution_t solution;
            hostile_conv(&conv, &shapes[i], 11);
            GOOD(client_solution(handle, &conv, (enum client_pass)pass, false, &solution));
            const size_t need = solution.workspace_size;
            n_with += need > 0;
            const uint64_t id = solution.solution_id;
            char *memory = client_alloc(need + 4096);
            assert_non_null(memory);
            const struct {
                size_t begin, bytes;
                bool none;
            } offers[] = { { 0, need, false },     { 1, need, false },
                           { 4, need, false },     { 8, need, false },
                           { 0, need / 2, false }, { 0, need ? need - 1 : 0, false },
                           { 0, 0, false },        { 0, need, true },
                           { 0, 0, true } };
            for (size_t o = 0; o < LENGTH(offers); o++) {
                char *begin = offers[o].none ? NULL : memory + offers[o].begin;
                const int status = client_execute(handle, &conv, (enum client_pass)pass, begin,
                                                  offers[o].bytes, id);
                hostile_assert_status(status, "a workspace that does not fit");
                if (!status) hostile_assert_right(&conv, (enum client_pass)pass);
                if (!o) assert_int_equal(status, miopenStatusSuccess);
            }
            client_free(memory);
            client_conv_deinit(&conv);
        }
    print_message("%d of %zu had workspace\n", n_with, LENGTH(shapes) * CLIENT_PASSES);
}

/* ---- batch norm ---- */

static void norms_that_cannot_be(void **state)
{
    struct client_norm norm, n;
    float one = 1, zero = 0;
    (void)state;
    assert_true(client_norm_init(&norm, 2, 6, 5, 5, miopenFloat));
    GOOD(client_norm_train(handle, &norm));
    GOOD(client_norm_infer(handle, &norm));
    GOOD(client_norm_backward(handle, &norm));
    for (int hole = 0; hole < 4; hole++) {
        n = norm;
        if (hole == 0) n.x = NULL;
        if (hole == 1) n.scale = NULL;
        if (hole == 2) n.desc = NULL;
        if (hole == 3) n.parameter_desc = NULL;
        BAD_PARM(client_norm_train(handle, &n));
        BAD_PARM(client_norm_infer(handle, &n));
        BAD_PARM(client_norm_backward(handle, &n));
    }
    n = norm;
    n.y = NULL;
    BAD_PARM(client_norm_train(handle, &n));
    BAD_PARM(client_norm_infer(handle, &n));
    n = norm;
    n.dx = NULL;
    BAD_PARM(client_norm_backward(handle, &n));
    BAD_PARM(client_norm_train(NULL, &norm));
    /* Parameters of another size. */
    const int wrong[4] = { 1, 7, 1, 1 };
    GOOD(miopenSetTensorDescriptor(norm.parameter_desc, miopenFloat, 4, wrong, NULL));
    REFUSED(client_norm_train(handle, &norm));
    REFUSED(client_norm_infer(handle, &norm));
    REFUSED(client_norm_backward(handle, &norm));
    const int right[4] = { 1, 6, 1, 1 };
    GOOD(miopenSetTensorDescriptor(norm.parameter_desc, miopenFloat, 4, right, NULL));
    /* Numbers that make no sense make none of the result, as with the original; no more than that.
     */
    const double odd[] = { NAN, -1, -INFINITY, INFINITY, 3 };
    for (size_t i = 0; i < LENGTH(odd); i++)
        for (int which = 0; which < 2; which++)
            hostile_assert_status(miopenBatchNormalizationForwardTraining(
                                      handle, miopenBNSpatial, &one, &zero, norm.desc, norm.x,
                                      norm.desc, norm.y, norm.parameter_desc, norm.scale, norm.bias,
                                      which ? odd[i] : 0.1, norm.mean, norm.variance,
                                      which ? 1e-5 : odd[i], norm.saved_mean, norm.saved_inverse),
                                  "an odd epsilon or factor");
    REFUSED(miopenBatchNormalizationForwardTraining(
        handle, (miopenBatchNormMode_t)9, &one, &zero, norm.desc, norm.x, norm.desc, norm.y,
        norm.parameter_desc, norm.scale, norm.bias, 0.1, norm.mean, norm.variance, 1e-5,
        norm.saved_mean, norm.saved_inverse));
    GOOD(client_norm_train(handle, &norm));
    client_norm_deinit(&norm);
}

static int begin(void **state)
{
    (void)state;
    return miopenCreate(&handle);
}

static int end(void **state)
{
    (void)state;
    return miopenDestroy(handle);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_that_cannot_be),
        cmocka_unit_test(convolutions_that_cannot_be),
        cmocka_unit_test(shapes_that_do_not_fit),
        cmocka_unit_test(outputs_that_overlap),
        cmocka_unit_test(data_that_is_missing),
        cmocka_unit_test(results_that_nobody_takes),
        cmocka_unit_test(workspace_that_does_not_fit),
        cmocka_unit_test(norms_that_cannot_be),
    };
    if (argc < 2) return 99;
    hostile_begin(argv[1]);
    if (argc > 2) cmocka_set_test_filter(argv[2]);
    const int failed = cmocka_run_group_tests(tests, begin, end);
    hostile_end();
    return failed;
}
