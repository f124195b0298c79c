/* sequence_hostile.c: calls that are wrong, each in a process of its own: which status comes back?
 */
#include "sequence.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define API (&world.api)

/* A small right convolution, for one thing at a time to be wrong. */
struct scene {
    struct tensor x, w, y;
    struct memory mx, mw, my;
    miopenTensorDescriptor_t dx, dw, dy;
    miopenConvolutionDescriptor_t conv;
};

static struct scene right(void)
{
    struct scene s = {
        .x = { miopenFloat, 4, { 2, 4, 8, 8 }, { 0 } },
        .w = { miopenFloat, 4, { 6, 4, 3, 3 }, { 0 } },
        .y = { miopenFloat, 4, { 2, 6, 8, 8 }, { 0 } },
    };
    tensor_pack(&s.x, false);
    tensor_pack(&s.w, false);
    tensor_pack(&s.y, false);
    s.mx = memory_input("x", &s.x, 1);
    s.mw = memory_input("w", &s.w, 2);
    s.my = memory_output("y", tensor_bytes(&s.y));
    API->miopenCreateTensorDescriptor(&s.dx);
    API->miopenCreateTensorDescriptor(&s.dw);
    API->miopenCreateTensorDescriptor(&s.dy);
    API->miopenSetTensorDescriptor(s.dx, s.x.type, 4, s.x.dims, s.x.strides);
    API->miopenSetTensorDescriptor(s.dw, s.w.type, 4, s.w.dims, s.w.strides);
    API->miopenSetTensorDescriptor(s.dy, s.y.type, 4, s.y.dims, s.y.strides);
    API->miopenCreateConvolutionDescriptor(&s.conv);
    API->miopenInitConvolutionDescriptor(s.conv, miopenConvolution, 1, 1, 1, 1, 1, 1);
    return s;
}

static void reshape(miopenTensorDescriptor_t desc, miopenDataType_t type, int n_dims,
                    const int *dims)
{
    struct tensor tensor = { type, n_dims, { 0 }, { 0 } };
    memcpy(tensor.dims, dims, (size_t)n_dims * sizeof *dims);
    tensor_pack(&tensor, false);
    called("SetTensorDescriptor",
           API->miopenSetTensorDescriptor(desc, type, n_dims, dims, tensor.strides));
}

/* The questions before a convolution, and the convolution with what they answered. */
static void ask(const struct scene *s)
{
    size_t bytes = 12345, count = 12345, filled = 12345;
    called("GetWorkSpaceSize", API->miopenConvolutionForwardGetWorkSpaceSize(
                                   world.handle, s->dw, s->dx, s->conv, s->dy, &bytes));
    called("GetSolutionCount", API->miopenConvolutionForwardGetSolutionCount(
                                   world.handle, s->dw, s->dx, s->conv, s->dy, &count));
    record_note("workspace=%zu solutions=%zu", bytes, count);
    miopenConvSolution_t solutions[64];
    called("GetSolution", API->miopenConvolutionForwardGetSolution(
                              world.handle, s->dw, s->dx, s->conv, s->dy, 64, &filled, solutions));
    record_note("filled=%zu", filled);
}

static void run(const struct scene *s, miopenConvFwdAlgorithm_t algo)
{
    const float one = 1, zero = 0;
    called("ConvolutionForward", API->miopenConvolutionForward(
                                     world.handle, &one, s->dx, s->mx.device, s->dw, s->mw.device,
                                     s->conv, algo, &zero, s->dy, s->my.device, NULL, 0));
    if (!world_wait()) record_note("device=lost");
}

static void find(const struct scene *s, int request, void *workspace, size_t workspace_bytes)
{
    int returned = -12345;
    miopenConvAlgoPerf_t perf[4];
    memset(perf, 0, sizeof perf);
    called("Find", API->miopenFindConvolutionForwardAlgorithm(
                       world.handle, s->dx, s->mx.device, s->dw, s->mw.device, s->conv, s->dy,
                       s->my.device, request, &returned, perf, workspace, workspace_bytes, false));
    record_note("returned=%d", returned);
}

static void nothing(void)
{
}

static void null_handle(void)
{
    struct scene s = right();
    world.handle = NULL;
    ask(&s);
}
static void null_handle_run(void)
{
    struct scene s = right();
    world.handle = NULL;
    run(&s, miopenConvolutionFwdAlgoGEMM);
}
static void null_create(void)
{
    called("Create", API->miopenCreate(NULL));
}
static void null_destroy(void)
{
    called("Destroy", API->miopenDestroy(NULL));
}
static void null_stream(void)
{
    called("SetStream", API->miopenSetStream(world.handle, NULL));
}
static void null_handle_stream(void)
{
    called("SetStream", API->miopenSetStream(NULL, NULL));
}
static void null_get_stream(void)
{
    called("GetStream", API->miopenGetStream(world.handle, NULL));
}
static void null_version(void)
{
    called("GetVersion", API->miopenGetVersion(NULL, NULL, NULL));
}
static void error_strings(void)
{
    for (int i = -1; i < 13; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", API->miopenGetErrorString((miopenStatus_t)i));
        for (char *c = text; *c; c++)
            if (*c == ' ') *c = '_';
        record_note("error%d=%s", i, text);
    }
}
static void null_create_tensor(void)
{
    called("CreateTensorDescriptor", API->miopenCreateTensorDescriptor(NULL));
}
static void null_destroy_tensor(void)
{
    called("DestroyTensorDescriptor", API->miopenDestroyTensorDescriptor(NULL));
}
static void null_set_tensor(void)
{
    const int d[4] = { 1, 2, 3, 4 };
    called("SetTensorDescriptor", API->miopenSetTensorDescriptor(NULL, miopenFloat, 4, d, d));
}
static void null_dims(void)
{
    struct scene s = right();
    called("SetTensorDescriptor", API->miopenSetTensorDescriptor(s.dx, miopenFloat, 4, NULL, NULL));
}
static void null_get_tensor(void)
{
    struct scene s = right();
    called("GetTensorDescriptor", API->miopenGetTensorDescriptor(s.dx, NULL, NULL, NULL));
    called("GetTensorDescriptorSize", API->miopenGetTensorDescriptorSize(s.dx, NULL));
}
static void null_get_4d(void)
{
    struct scene s = right();
    called("Get4d", API->miopenGet4dTensorDescriptor(s.dx, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                                     NULL, NULL));
}
static void null_num_bytes(void)
{
    struct scene s = right();
    called("GetTensorNumBytes", API->miopenGetTensorNumBytes(s.dx, NULL));
}
static void num_bytes(void)
{
    struct scene s = right();
    const int d[4] = { 2, 3, 4, 5 }, gaps[4] = { 1000, 100, 10, 1 };
    size_t bytes = 0;
    called("GetTensorNumBytes", API->miopenGetTensorNumBytes(s.dx, &bytes));
    record_note("packed=%zu", bytes);
    called("SetTensorDescriptor", API->miopenSetTensorDescriptor(s.dx, miopenHalf, 4, d, gaps));
    called("GetTensorNumBytes", API->miopenGetTensorNumBytes(s.dx, &bytes));
    record_note("gaps=%zu", bytes);
}
static void unset_tensor(void)
{
    miopenTensorDescriptor_t fresh = NULL;
    called("CreateTensorDescriptor", API->miopenCreateTensorDescriptor(&fresh));
    int size = -1;
    size_t bytes = 12345;
    called("GetTensorDescriptorSize", API->miopenGetTensorDescriptorSize(fresh, &size));
    called("GetTensorNumBytes", API->miopenGetTensorNumBytes(fresh, &bytes));
    record_note("rank=%d bytes=%zu", size, bytes);
}
static void unset_tensor_conv(void)
{
    struct scene s = right();
    API->miopenCreateTensorDescriptor(&s.dx);
    ask(&s);
}
static void set_rank(int rank)
{
    struct scene s = right();
    const int d[8] = { 2, 2, 2, 2, 2, 2, 2, 2 };
    const int st[8] = { 128, 64, 32, 16, 8, 4, 2, 1 };
    called("SetTensorDescriptor", API->miopenSetTensorDescriptor(s.dx, miopenFloat, rank, d, st));
    int size = -1;
    called("GetTensorDescriptorSize", API->miopenGetTensorDescriptorSize(s.dx, &size));
    record_note("rank=%d", size);
}
static void rank_0(void)
{
    set_rank(0);
}
static void rank_1(void)
{
    set_rank(1);
}
static void rank_6(void)
{
    set_rank(6);
}
static void rank_8(void)
{
    set_rank(8);
}
static void rank_negative(void)
{
    set_rank(-1);
}
static void set_dims(int a, int b, int c, int d)
{
    struct scene s = right();
    const int dims[4] = { a, b, c, d }, strides[4] = { 64, 16, 4, 1 };
    const size_t big[4] = { (size_t)a, (size_t)b, (size_t)c, (size_t)d },
                 steps[4] = { 64, 16, 4, 1 };
    called("SetTensorDescriptor",
           API->miopenSetTensorDescriptor(s.dx, miopenFloat, 4, dims, strides));
    called("SetTensorDescriptor-packed",
           API->miopenSetTensorDescriptor(s.dx, miopenFloat, 4, dims, NULL));
    called("Set4d", API->miopenSet4dTensorDescriptor(s.dx, miopenFloat, a, b, c, d));
    if (API->miopenSetTensorDescriptorV2)
        called("SetTensorDescriptorV2",
               API->miopenSetTensorDescriptorV2(s.dx, miopenFloat, 4, big, steps));
}
static void dims_negative(void)
{
    set_dims(2, -4, 4, 4);
}
static void dims_zero(void)
{
    set_dims(2, 0, 4, 4);
}
static void dims_huge(void)
{
    set_dims(INT_MAX, INT_MAX, INT_MAX, INT_MAX);
}
static void strides_negative(void)
{
    struct scene s = right();
    const int d[4] = { 2, 2, 2, 2 }, st[4] = { 8, 4, -2, 1 };
    called("SetTensorDescriptor", API->miopenSetTensorDescriptor(s.dx, miopenFloat, 4, d, st));
}
static void strides_zero(void)
{
    struct scene s = right();
    const int d[4] = { 2, 4, 8, 8 }, st[4] = { 0, 0, 0, 0 };
    called("SetTensorDescriptor", API->miopenSetTensorDescriptor(s.dx, miopenFloat, 4, d, st));
    ask(&s);
}
static void strides_gaps(void)
{
    struct scene s = right();
    const int d[4] = { 2, 4, 8, 8 }, st[4] = { 512, 128, 16, 1 };
    called("SetTensorDescriptor", API->miopenSetTensorDescriptor(s.dx, miopenFloat, 4, d, st));
    ask(&s);
}
static void type_wrong(void)
{
    struct scene s = right();
    const int d[4] = { 2, 4, 8, 8 };
    called("SetTensorDescriptor",
           API->miopenSetTensorDescriptor(s.dx, (miopenDataType_t)77, 4, d, NULL));
    called("SetTensorDescriptor",
           API->miopenSetTensorDescriptor(s.dx, (miopenDataType_t)-1, 4, d, NULL));
    called("SetTensorDescriptor",
           API->miopenSetTensorDescriptor(s.dx, (miopenDataType_t)4, 4, d, NULL));
}
static void null_create_conv(void)
{
    called("CreateConvolutionDescriptor", API->miopenCreateConvolutionDescriptor(NULL));
}
static void null_destroy_conv(void)
{
    called("DestroyConvolutionDescriptor", API->miopenDestroyConvolutionDescriptor(NULL));
}
static void null_init_conv(void)
{
    called("Init", API->miopenInitConvolutionDescriptor(NULL, miopenConvolution, 1, 1, 1, 1, 1, 1));
}
static void null_init_conv_arrays(void)
{
    struct scene s = right();
    called("InitNd",
           API->miopenInitConvolutionNdDescriptor(s.conv, 2, NULL, NULL, NULL, miopenConvolution));
}
static void init(int pad, int stride, int dilation)
{
    struct scene s = right();
    const int p[3] = { pad, pad, pad }, st[3] = { stride, stride, stride },
              di[3] = { dilation, dilation, dilation };
    called("Init", API->miopenInitConvolutionDescriptor(s.conv, miopenConvolution, pad, pad, stride,
                                                        stride, dilation, dilation));
    called("InitNd",
           API->miopenInitConvolutionNdDescriptor(s.conv, 2, p, st, di, miopenConvolution));
}
static void pad_negative(void)
{
    init(-1, 1, 1);
}
static void stride_zero(void)
{
    init(1, 0, 1);
}
static void stride_negative(void)
{
    init(1, -1, 1);
}
static void dilation_zero(void)
{
    init(1, 1, 0);
}
static void dilation_negative(void)
{
    init(1, 1, -1);
}
static void spatial_dims(void)
{
    struct scene s = right();
    const int ones[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    for (int n = -1; n < 7; n++) {
        int got = -1;
        called("InitNd", API->miopenInitConvolutionNdDescriptor(s.conv, n, ones, ones, ones,
                                                                miopenConvolution));
        called("GetSpatialDim", API->miopenGetConvolutionSpatialDim(s.conv, &got));
        record_note("spatial=%d", got);
    }
}
static void mode_wrong(void)
{
    struct scene s = right();
    for (int mode = -1; mode < 6; mode++)
        called("Init", API->miopenInitConvolutionDescriptor(s.conv, (miopenConvolutionMode_t)mode,
                                                            1, 1, 1, 1, 1, 1));
}
static void groups_wrong(void)
{
    struct scene s = right();
    const int groups[] = { 0, -1, 3, 1 << 30 };
    for (int i = 0; i < 4; i++) {
        int got = -12345;
        called("SetGroupCount", API->miopenSetConvolutionGroupCount(s.conv, groups[i]));
        called("GetGroupCount", API->miopenGetConvolutionGroupCount(s.conv, &got));
        record_note("groups=%d", got);
    }
}
static void groups_misfit(void)
{
    struct scene s = right();
    called("SetGroupCount", API->miopenSetConvolutionGroupCount(s.conv, 3));
    ask(&s);
}
static void attribute_wrong(void)
{
    struct scene s = right();
    int value = -12345;
    called("SetAttribute",
           API->miopenSetConvolutionAttribute(s.conv, (miopenConvolutionAttrib_t)99, 1));
    called("GetAttribute",
           API->miopenGetConvolutionAttribute(s.conv, (miopenConvolutionAttrib_t)99, &value));
    called("SetAttribute",
           API->miopenSetConvolutionAttribute(s.conv, MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC, 7));
    called("GetAttribute", API->miopenGetConvolutionAttribute(
                               s.conv, MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC, &value));
    record_note("deterministic=%d", value);
    called("GetAttribute", API->miopenGetConvolutionAttribute(
                               s.conv, MIOPEN_CONVOLUTION_ATTRIB_FP16_ALT_IMPL, &value));
    record_note("alternative=%d", value);
}
static void find_mode_wrong(void)
{
    struct scene s = right();
    miopenConvolutionFindMode_t mode = 77;
    called("GetFindMode", API->miopenGetConvolutionFindMode(s.conv, &mode));
    record_note("first=%d", (int)mode);
    for (int i = -1; i < 8; i++)
        called("SetFindMode",
               API->miopenSetConvolutionFindMode(s.conv, (miopenConvolutionFindMode_t)i));
    called("GetFindMode", API->miopenGetConvolutionFindMode(s.conv, &mode));
    record_note("last=%d", (int)mode);
    called("SetFindMode", API->miopenSetConvolutionFindMode(NULL, miopenConvolutionFindModeFast));
}
static void hidden_find_mode(void)
{
    struct scene s = right();
    miopenConvolutionFindMode_t mode = 77;
    for (int i = -1; i < 8; i++)
        called("HiddenSetFindMode", API->miopenHiddenSetConvolutionFindMode(s.conv, i));
    called("GetFindMode", API->miopenGetConvolutionFindMode(s.conv, &mode));
    record_note("last=%d", (int)mode);
}
static void null_conv_desc(void)
{
    struct scene s = right();
    s.conv = NULL;
    ask(&s);
}
static void null_x_desc(void)
{
    struct scene s = right();
    s.dx = NULL;
    ask(&s);
}
static void null_outputs(void)
{
    struct scene s = right();
    called("GetWorkSpaceSize", API->miopenConvolutionForwardGetWorkSpaceSize(
                                   world.handle, s.dw, s.dx, s.conv, s.dy, NULL));
}
static void null_count(void)
{
    struct scene s = right();
    called("GetSolutionCount", API->miopenConvolutionForwardGetSolutionCount(
                                   world.handle, s.dw, s.dx, s.conv, s.dy, NULL));
}
static void null_solutions(void)
{
    struct scene s = right();
    size_t n = 0;
    called("GetSolution", API->miopenConvolutionForwardGetSolution(world.handle, s.dw, s.dx, s.conv,
                                                                   s.dy, 4, &n, NULL));
}
static void zero_solutions(void)
{
    struct scene s = right();
    size_t n = 12345;
    miopenConvSolution_t one;
    called("GetSolution", API->miopenConvolutionForwardGetSolution(world.handle, s.dw, s.dx, s.conv,
                                                                   s.dy, 0, &n, &one));
    record_note("filled=%zu", n);
}
static void null_x(void)
{
    struct scene s = right();
    s.mx.device = NULL;
    run(&s, miopenConvolutionFwdAlgoGEMM);
}
static void null_y(void)
{
    struct scene s = right();
    s.my.device = NULL;
    run(&s, miopenConvolutionFwdAlgoGEMM);
}
static void null_alpha(void)
{
    struct scene s = right();
    called("ConvolutionForward",
           API->miopenConvolutionForward(world.handle, NULL, s.dx, s.mx.device, s.dw, s.mw.device,
                                         s.conv, miopenConvolutionFwdAlgoDirect, NULL, s.dy,
                                         s.my.device, NULL, 0));
}
static void alpha(float a, float b)
{
    struct scene s = right();
    called("ConvolutionForward",
           API->miopenConvolutionForward(world.handle, &a, s.dx, s.mx.device, s.dw, s.mw.device,
                                         s.conv, miopenConvolutionFwdAlgoDirect, &b, s.dy,
                                         s.my.device, NULL, 0));
    world_wait();
}
static void alpha_two(void)
{
    alpha(2, 0);
}
static void beta_one(void)
{
    alpha(1, 1);
}
static void algo_unknown(void)
{
    struct scene s = right();
    run(&s, (miopenConvFwdAlgorithm_t)42);
}
static void algo_unfound(int algo)
{
    struct scene s = right();
    run(&s, (miopenConvFwdAlgorithm_t)algo);
}
static void algo_gemm_unfound(void)
{
    algo_unfound(0);
}
static void algo_direct_unfound(void)
{
    algo_unfound(1);
}
static void algo_fft_unfound(void)
{
    algo_unfound(2);
}
static void algo_winograd_unfound(void)
{
    algo_unfound(3);
}
static void algo_implicit_unfound(void)
{
    algo_unfound(5);
}
static void solution_unknown(void)
{
    struct scene s = right();
    const uint64_t ids[] = { 0, 1, 99999, UINT64_MAX };
    for (int i = 0; i < 4; i++) {
        size_t bytes = 12345;
        called("GetSolutionWorkspaceSize",
               API->miopenConvolutionForwardGetSolutionWorkspaceSize(world.handle, s.dw, s.dx,
                                                                     s.conv, s.dy, ids[i], &bytes));
        called("CompileSolution", API->miopenConvolutionForwardCompileSolution(
                                      world.handle, s.dw, s.dx, s.conv, s.dy, ids[i]));
        called("Immediate", API->miopenConvolutionForwardImmediate(world.handle, s.dw, s.mw.device,
                                                                   s.dx, s.mx.device, s.conv, s.dy,
                                                                   s.my.device, NULL, 0, ids[i]));
    }
}
static void immediate_null_x(void)
{
    struct scene s = right();
    size_t n = 0;
    miopenConvSolution_t one;
    memset(&one, 0, sizeof one);
    called("GetSolution", API->miopenConvolutionForwardGetSolution(world.handle, s.dw, s.dx, s.conv,
                                                                   s.dy, 1, &n, &one));
    called("Immediate", API->miopenConvolutionForwardImmediate(
                            world.handle, s.dw, s.mw.device, s.dx, NULL, s.conv, s.dy, s.my.device,
                            NULL, 0, one.solution_id));
}
static void find_none(void)
{
    struct scene s = right();
    find(&s, 0, NULL, 0);
}
static void find_negative(void)
{
    struct scene s = right();
    find(&s, -1, NULL, 0);
}
static void find_null_x(void)
{
    struct scene s = right();
    s.mx.device = NULL;
    find(&s, 1, NULL, 0);
}
static void find_null_results(void)
{
    struct scene s = right();
    called("Find", API->miopenFindConvolutionForwardAlgorithm(
                       world.handle, s.dx, s.mx.device, s.dw, s.mw.device, s.conv, s.dy,
                       s.my.device, 1, NULL, NULL, NULL, 0, false));
}
static void find_no_workspace(void)
{
    struct scene s = right();
    find(&s, 4, NULL, 0);
}
static void find_null_workspace(void)
{
    struct scene s = right();
    find(&s, 4, NULL, 1 << 20);
}
static void types_mixed(void)
{
    struct scene s = right();
    reshape(s.dw, miopenHalf, 4, s.w.dims);
    ask(&s);
}
static void ranks_mixed(void)
{
    struct scene s = right();
    const int d[5] = { 6, 4, 3, 3, 3 };
    reshape(s.dw, miopenFloat, 5, d);
    ask(&s);
}
static void ranks_wrong_for_conv(void)
{
    struct scene s = right();
    const int x[5] = { 2, 4, 8, 8, 8 }, w[5] = { 6, 4, 3, 3, 3 }, y[5] = { 2, 6, 8, 8, 8 };
    reshape(s.dx, miopenFloat, 5, x);
    reshape(s.dw, miopenFloat, 5, w);
    reshape(s.dy, miopenFloat, 5, y);
    ask(&s);
}
static void rank_3(void)
{
    struct scene s = right();
    const int x[3] = { 2, 4, 8 }, w[3] = { 6, 4, 3 }, y[3] = { 2, 6, 8 }, one[1] = { 1 };
    reshape(s.dx, miopenFloat, 3, x);
    reshape(s.dw, miopenFloat, 3, w);
    reshape(s.dy, miopenFloat, 3, y);
    called("InitNd",
           API->miopenInitConvolutionNdDescriptor(s.conv, 1, one, one, one, miopenConvolution));
    ask(&s);
}
static void channels_misfit(void)
{
    struct scene s = right();
    const int d[4] = { 6, 5, 3, 3 };
    reshape(s.dw, miopenFloat, 4, d);
    ask(&s);
}
static void output_misfit(void)
{
    struct scene s = right();
    const int d[4] = { 2, 6, 9, 8 };
    reshape(s.dy, miopenFloat, 4, d);
    ask(&s);
}
static void output_misfit_run(void)
{
    struct scene s = right();
    const int d[4] = { 2, 6, 5, 8 };
    reshape(s.dy, miopenFloat, 4, d);
    run(&s, miopenConvolutionFwdAlgoDirect);
}
static void batch_misfit(void)
{
    struct scene s = right();
    const int d[4] = { 1, 6, 8, 8 };
    reshape(s.dy, miopenFloat, 4, d);
    ask(&s);
}
static void filter_too_large(void)
{
    struct scene s = right();
    const int d[4] = { 6, 4, 33, 33 };
    int out[4] = { -1, -1, -1, -1 };
    reshape(s.dw, miopenFloat, 4, d);
    called("ForwardOutputDim", API->miopenGetConvolutionForwardOutputDim(
                                   s.conv, s.dx, s.dw, out, out + 1, out + 2, out + 3));
    record_ints("out", 4, out);
    ask(&s);
}
static void types_double(void)
{
    struct scene s = right();
    reshape(s.dx, miopenDouble, 4, s.x.dims);
    reshape(s.dw, miopenDouble, 4, s.w.dims);
    reshape(s.dy, miopenDouble, 4, s.y.dims);
    ask(&s);
}
static void types_int32(void)
{
    struct scene s = right();
    reshape(s.dx, miopenInt32, 4, s.x.dims);
    reshape(s.dw, miopenInt32, 4, s.w.dims);
    reshape(s.dy, miopenInt32, 4, s.y.dims);
    ask(&s);
}
static void products_overflow(void)
{
    struct scene s = right();
    const int x[4] = { 65536, 4, 65536, 65536 }, y[4] = { 65536, 6, 65536, 65536 };
    reshape(s.dx, miopenFloat, 4, x);
    reshape(s.dy, miopenFloat, 4, y);
    ask(&s);
}
static void batch_zero(void)
{
    struct scene s = right();
    const int x[4] = { 0, 4, 8, 8 }, y[4] = { 0, 6, 8, 8 };
    reshape(s.dx, miopenFloat, 4, x);
    reshape(s.dy, miopenFloat, 4, y);
    ask(&s);
}
static void workspace_small(void)
{
    /* The pass and shape in which implementations want a workspace. */
    struct scene s = right();
    size_t n = 0;
    miopenConvSolution_t all[64];
    called("GetSolution", API->miopenConvolutionForwardGetSolution(world.handle, s.dw, s.dx, s.conv,
                                                                   s.dy, 64, &n, all));
    size_t with = 0;
    for (size_t i = 0; i < n && i < 64; i++) {
        if (!all[i].workspace_size) continue;
        with++;
        called("Immediate", API->miopenConvolutionForwardImmediate(
                                world.handle, s.dw, s.mw.device, s.dx, s.mx.device, s.conv, s.dy,
                                s.my.device, NULL, 0, all[i].solution_id));
    }
    record_note("with_workspace=%s", with ? "some" : "none");
    world_wait();
}
static void get_conv(void)
{
    struct scene s = right();
    int v[6], pad[3] = { -1, -1, -1 }, stride[3] = { -1, -1, -1 }, dilation[3] = { -1, -1, -1 },
              n = -1;
    miopenConvolutionMode_t mode;
    called("GetConvolutionDescriptor", API->miopenGetConvolutionDescriptor(
                                           s.conv, &mode, v, v + 1, v + 2, v + 3, v + 4, v + 5));
    called("GetNd",
           API->miopenGetConvolutionNdDescriptor(s.conv, 2, &n, pad, stride, dilation, &mode));
    called("GetNd",
           API->miopenGetConvolutionNdDescriptor(s.conv, 3, &n, pad, stride, dilation, &mode));
    record_note("n=%d", n);
    called("GetNd",
           API->miopenGetConvolutionNdDescriptor(s.conv, 1, &n, pad, stride, dilation, &mode));
    record_note("n=%d", n);
}
static void get_tensor(void)
{
    struct scene s = right();
    miopenDataType_t type;
    int d[8] = { -1, -1, -1, -1 }, st[8] = { -1, -1, -1, -1 }, v[8];
    called("GetTensorDescriptor", API->miopenGetTensorDescriptor(s.dx, &type, d, st));
    record_ints("dims", 4, d);
    record_ints("strides", 4, st);
    const int five[5] = { 2, 3, 4, 5, 6 };
    reshape(s.dx, miopenFloat, 5, five);
    called("Get4d", API->miopenGet4dTensorDescriptor(s.dx, &type, v, v + 1, v + 2, v + 3, v + 4,
                                                     v + 5, v + 6, v + 7));
}

static void norm(miopenBatchNormMode_t mode, double epsilon, double factor, int leave_out)
{
    struct tensor x = { miopenFloat, 4, { 3, 5, 4, 4 }, { 0 } },
                  p = { miopenFloat, 4, { 1, 5, 1, 1 }, { 0 } };
    tensor_pack(&x, false);
    tensor_pack(&p, false);
    miopenTensorDescriptor_t dx = describe(&x, SET_INT), dp = describe(&p, SET_INT);
    struct memory mx = memory_input("x", &x, 1), my = memory_output("y", tensor_bytes(&x));
    void *device[6];
    for (int i = 0; i < 6; i++) {
        struct memory m = memory_positive("p", &p, (uint32_t)i);
        device[i] = m.device;
    }
    float one = 1, zero = 0;
    if (leave_out >= 0 && leave_out < 6) device[leave_out] = NULL;
    called("BatchNormalizationForwardInference",
           API->miopenBatchNormalizationForwardInference(
               world.handle, mode, &one, &zero, dx, leave_out == 6 ? NULL : mx.device, dx,
               leave_out == 7 ? NULL : my.device, leave_out == 8 ? NULL : dp, device[0], device[1],
               device[2], device[3], epsilon));
    called("BatchNormalizationForwardTraining",
           API->miopenBatchNormalizationForwardTraining(
               world.handle, mode, &one, &zero, dx, leave_out == 6 ? NULL : mx.device, dx,
               leave_out == 7 ? NULL : my.device, leave_out == 8 ? NULL : dp, device[0], device[1],
               factor, device[2], device[3], epsilon, device[4], device[5]));
    if (!world_wait()) record_note("device=lost");
}
static void norm_null_x(void)
{
    norm(miopenBNSpatial, 1e-5, 0.1, 6);
}
static void norm_null_y(void)
{
    norm(miopenBNSpatial, 1e-5, 0.1, 7);
}
static void norm_null_scale(void)
{
    norm(miopenBNSpatial, 1e-5, 0.1, 0);
}
static void norm_null_bias(void)
{
    norm(miopenBNSpatial, 1e-5, 0.1, 1);
}
static void norm_null_mean(void)
{
    norm(miopenBNSpatial, 1e-5, 0.1, 2);
}
static void norm_null_saved(void)
{
    norm(miopenBNSpatial, 1e-5, 0.1, 4);
}
static void norm_null_desc(void)
{
    norm(miopenBNSpatial, 1e-5, 0.1, 8);
}
static void norm_mode(void)
{
    norm((miopenBatchNormMode_t)7, 1e-5, 0.1, -1);
}
static void norm_factor(void)
{
    norm(miopenBNSpatial, 1e-5, 3.0, -1);
}
static void norm_epsilon(void)
{
    norm(miopenBNSpatial, -1.0, 0.1, -1);
}

static void tensor_nulls(void)
{
    struct scene s = right();
    const float one = 1;
    called("SetTensor", API->miopenSetTensor(world.handle, s.dx, NULL, &one));
    called("ScaleTensor", API->miopenScaleTensor(world.handle, s.dx, NULL, &one));
    called("TransformTensor",
           API->miopenTransformTensor(world.handle, &one, s.dx, NULL, &one, s.dx, NULL));
    called("OpTensor", API->miopenOpTensor(world.handle, miopenTensorOpAdd, &one, s.dx, NULL, &one,
                                           s.dx, NULL, &one, s.dx, NULL));
    called("ConvolutionBackwardBias",
           API->miopenConvolutionBackwardBias(world.handle, &one, s.dy, NULL, &one, s.dx, NULL));
    called("ConvolutionForwardBias",
           API->miopenConvolutionForwardBias(world.handle, &one, s.dx, NULL, &one, s.dy, NULL));
}
static void tensor_misfit(void)
{
    struct scene s = right();
    const float one = 1, zero = 0;
    const int d[4] = { 2, 4, 8, 7 };
    reshape(s.dw, miopenFloat, 4, d);
    called("TransformTensor", API->miopenTransformTensor(world.handle, &one, s.dx, s.mx.device,
                                                         &zero, s.dw, s.my.device));
    called("OpTensor", API->miopenOpTensor(world.handle, miopenTensorOpAdd, &one, s.dx, s.mx.device,
                                           &one, s.dw, s.mw.device, &zero, s.dx, s.my.device));
    called("OpTensor",
           API->miopenOpTensor(world.handle, (miopenTensorOp_t)9, &one, s.dx, s.mx.device, &one,
                               s.dx, s.mw.device, &zero, s.dx, s.my.device));
    world_wait();
}

static void problem_nulls(void)
{
    struct scene s = right();
    miopenProblem_t problem = NULL;
    miopenSolution_t solution = NULL;
    size_t n = 12345;
    called("CreateConvProblem",
           API->miopenCreateConvProblem(&problem, NULL, miopenProblemDirectionForward));
    called("CreateConvProblem",
           API->miopenCreateConvProblem(NULL, s.conv, miopenProblemDirectionForward));
    called("CreateConvProblem",
           API->miopenCreateConvProblem(&problem, s.conv, (miopenProblemDirection_t)9));
    problem = NULL;
    called("CreateConvProblem",
           API->miopenCreateConvProblem(&problem, s.conv, miopenProblemDirectionForward));
    called("FindSolutions-empty",
           API->miopenFindSolutions(world.handle, problem, NULL, &solution, &n, 1));
    record_note("found=%zu", n);
}
static void problem_id(void)
{
    struct scene s = right();
    miopenProblem_t problem = NULL;
    called("CreateConvProblem",
           API->miopenCreateConvProblem(&problem, s.conv, miopenProblemDirectionForward));
    called("SetTensor",
           API->miopenSetProblemTensorDescriptor(problem, miopenTensorConvolutionX, s.dx));
    called("SetTensor-twice",
           API->miopenSetProblemTensorDescriptor(problem, miopenTensorConvolutionX, s.dx));
    called("SetTensor-invalid",
           API->miopenSetProblemTensorDescriptor(problem, miopenTensorArgumentIdInvalid, s.dx));
    called("SetTensor-other",
           API->miopenSetProblemTensorDescriptor(problem, (miopenTensorArgumentId_t)4, s.dx));
    called("DestroyProblem", API->miopenDestroyProblem(problem));
}
static void problem_null_handle(void)
{
    struct scene s = right();
    miopenProblem_t problem = NULL;
    called("CreateConvProblem",
           API->miopenCreateConvProblem(&problem, s.conv, miopenProblemDirectionForward));
    called("SetTensor",
           API->miopenSetProblemTensorDescriptor(problem, miopenTensorConvolutionX, NULL));
}
static void destroy_nulls_problem(void)
{
    called("DestroyProblem", API->miopenDestroyProblem(NULL));
}
static void destroy_nulls_solution(void)
{
    called("DestroySolution", API->miopenDestroySolution(NULL));
}
static void destroy_nulls_options(void)
{
    called("DestroyFindOptions", API->miopenDestroyFindOptions(NULL));
}
static void load_garbage(void)
{
    miopenSolution_t solution = NULL;
    const char text[] = "not a solution at all, but long enough to be one of them, one might think";
    called("LoadSolution", API->miopenLoadSolution(&solution, text, sizeof text));
}
static void load_nothing(void)
{
    miopenSolution_t solution = NULL;
    called("LoadSolution", API->miopenLoadSolution(&solution, "", 0));
}
static void load_null(void)
{
    miopenSolution_t solution = NULL;
    called("LoadSolution", API->miopenLoadSolution(&solution, NULL, 0));
}
static void options_nulls(void)
{
    called("CreateFindOptions", API->miopenCreateFindOptions(NULL));
}
static void options_null_set(void)
{
    called("SetFindOptionTuning", API->miopenSetFindOptionTuning(NULL, 1));
}
static void solver_id(void)
{
    miopenConvAlgorithm_t algorithm = 77;
    called("GetSolverIdConvAlgorithm", API->miopenGetSolverIdConvAlgorithm(99999, &algorithm));
    called("GetSolverIdConvAlgorithm", API->miopenGetSolverIdConvAlgorithm(0, &algorithm));
}
static void run_null_solution(void)
{
    called("RunSolution", API->miopenRunSolution(world.handle, NULL, 0, NULL, NULL, 0));
}
static void size_null_solution(void)
{
    size_t bytes = 12345;
    called("GetSolutionSize", API->miopenGetSolutionSize(NULL, &bytes));
}

static const struct hostile {
    const char *name;
    void (*body)(void);
} cases[] = {
#define H(name)                                                                                    \
    {                                                                                              \
#name, name                                                                                \
    }
    H(nothing),
    H(null_handle),
    H(null_handle_run),
    H(null_create),
    H(null_destroy),
    H(null_stream),
    H(null_handle_stream),
    H(null_get_stream),
    H(null_version),
    H(error_strings),
    H(null_create_tensor),
    H(null_destroy_tensor),
    H(null_set_tensor),
    H(null_dims),
    H(null_get_tensor),
    H(null_get_4d),
    H(null_num_bytes),
    H(num_bytes),
    H(unset_tensor),
    H(unset_tensor_conv),
    H(rank_0),
    H(rank_1),
    H(rank_6),
    H(rank_8),
    H(rank_negative),
    H(dims_negative),
    H(dims_zero),
    H(dims_huge),
    H(strides_negative),
    H(strides_zero),
    H(strides_gaps),
    H(type_wrong),
    H(null_create_conv),
    H(null_destroy_conv),
    H(null_init_conv),
    H(null_init_conv_arrays),
    H(pad_negative),
    H(stride_zero),
    H(stride_negative),
    H(dilation_zero),
    H(dilation_negative),
    H(spatial_dims),
    H(mode_wrong),
    H(groups_wrong),
    H(groups_misfit),
    H(attribute_wrong),
    H(find_mode_wrong),
    H(hidden_find_mode),
    H(null_conv_desc),
    H(null_x_desc),
    H(null_outputs),
    H(null_count),
    H(null_solutions),
    H(zero_solutions),
    H(null_x),
    H(null_y),
    H(null_alpha),
    H(alpha_two),
    H(beta_one),
    H(algo_unknown),
    H(algo_gemm_unfound),
    H(algo_direct_unfound),
    H(algo_fft_unfound),
    H(algo_winograd_unfound),
    H(algo_implicit_unfound),
    H(solution_unknown),
    H(immediate_null_x),
    H(find_none),
    H(find_negative),
    H(find_null_x),
    H(find_null_results),
    H(find_no_workspace),
    H(find_null_workspace),
    H(types_mixed),
    H(ranks_mixed),
    H(ranks_wrong_for_conv),
    H(rank_3),
    H(channels_misfit),
    H(output_misfit),
    H(output_misfit_run),
    H(batch_misfit),
    H(filter_too_large),
    H(types_double),
    H(types_int32),
    H(products_overflow),
    H(batch_zero),
    H(workspace_small),
    H(get_conv),
    H(get_tensor),
    H(norm_null_x),
    H(norm_null_y),
    H(norm_null_scale),
    H(norm_null_bias),
    H(norm_null_mean),
    H(norm_null_saved),
    H(norm_null_desc),
    H(norm_mode),
    H(norm_factor),
    H(norm_epsilon),
    H(tensor_nulls),
    H(tensor_misfit),
    H(problem_nulls),
    H(problem_id),
    H(problem_null_handle),
    H(destroy_nulls_problem),
    H(destroy_nulls_solution),
    H(destroy_nulls_options),
    H(load_garbage),
    H(load_nothing),
    H(load_null),
    H(options_nulls),
    H(options_null_set),
    H(solver_id),
    H(run_null_solution),
    H(size_null_solution),
#undef H
};

static void run_case(const void *what)
{
    ((const struct hostile *)what)->body();
}

void hostile_sequences(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sequence one = {
            "hostile", "hostile", cases[i].name, "status", run_case, &cases[i]
        };
        sequence_run(&one, true);
    }
}
