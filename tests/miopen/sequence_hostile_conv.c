/* sequence_hostile_conv.c: wrong calls around a convolution. */
#include "sequence_hostile.h"

#include <string.h>

#define API (&world.api)

void hostile_null_handle(void)
{
    struct scene s = right();
    world.handle = NULL;
    ask(&s);
}

void hostile_null_handle_run(void)
{
    struct scene s = right();
    world.handle = NULL;
    run(&s, miopenConvolutionFwdAlgoGEMM);
}

void hostile_unset_tensor_conv(void)
{
    struct scene s = right();
    API->miopenCreateTensorDescriptor(&s.dx);
    ask(&s);
}

void hostile_strides_zero(void)
{
    struct scene s = right();
    const int d[4] = { 2, 4, 8, 8 }, st[4] = { 0, 0, 0, 0 };
    called("SetTensorDescriptor", API->miopenSetTensorDescriptor(s.dx, miopenFloat, 4, d, st));
    ask(&s);
}

void hostile_strides_gaps(void)
{
    struct scene s = right();
    const int d[4] = { 2, 4, 8, 8 }, st[4] = { 512, 128, 16, 1 };
    called("SetTensorDescriptor", API->miopenSetTensorDescriptor(s.dx, miopenFloat, 4, d, st));
    ask(&s);
}

void hostile_groups_misfit(void)
{
    struct scene s = right();
    called("SetGroupCount", API->miopenSetConvolutionGroupCount(s.conv, 3));
    ask(&s);
}

void hostile_null_conv_desc(void)
{
    struct scene s = right();
    s.conv = NULL;
    ask(&s);
}

void hostile_null_x_desc(void)
{
    struct scene s = right();
    s.dx = NULL;
    ask(&s);
}

void hostile_null_outputs(void)
{
    struct scene s = right();
    called("GetWorkSpaceSize", API->miopenConvolutionForwardGetWorkSpaceSize(
                                   world.handle, s.dw, s.dx, s.conv, s.dy, NULL));
}

void hostile_null_count(void)
{
    struct scene s = right();
    called("GetSolutionCount", API->miopenConvolutionForwardGetSolutionCount(
                                   world.handle, s.dw, s.dx, s.conv, s.dy, NULL));
}

void hostile_null_solutions(void)
{
    struct scene s = right();
    size_t n = 0;
    called("GetSolution", API->miopenConvolutionForwardGetSolution(world.handle, s.dw, s.dx, s.conv,
                                                                   s.dy, 4, &n, NULL));
}

void hostile_zero_solutions(void)
{
    struct scene s = right();
    size_t n = 12345;
    miopenConvSolution_t one;
    called("GetSolution", API->miopenConvolutionForwardGetSolution(world.handle, s.dw, s.dx, s.conv,
                                                                   s.dy, 0, &n, &one));
    record_note("filled=%zu", n);
}

void hostile_null_x(void)
{
    struct scene s = right();
    s.mx.device = NULL;
    run(&s, miopenConvolutionFwdAlgoGEMM);
}

void hostile_null_y(void)
{
    struct scene s = right();
    s.my.device = NULL;
    run(&s, miopenConvolutionFwdAlgoGEMM);
}

void hostile_null_alpha(void)
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

void hostile_alpha_two(void)
{
    alpha(2, 0);
}

void hostile_beta_one(void)
{
    alpha(1, 1);
}

void hostile_algo_unknown(void)
{
    struct scene s = right();
    run(&s, (miopenConvFwdAlgorithm_t)42);
}

static void algo_unfound(int algo)
{
    struct scene s = right();
    run(&s, (miopenConvFwdAlgorithm_t)algo);
}

void hostile_algo_gemm_unfound(void)
{
    algo_unfound(0);
}

void hostile_algo_direct_unfound(void)
{
    algo_unfound(1);
}

void hostile_algo_fft_unfound(void)
{
    algo_unfound(2);
}

void hostile_algo_winograd_unfound(void)
{
    algo_unfound(3);
}

void hostile_algo_implicit_unfound(void)
{
    algo_unfound(5);
}

void hostile_solution_unknown(void)
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

void hostile_immediate_null_x(void)
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

void hostile_find_none(void)
{
    struct scene s = right();
    find(&s, 0, NULL, 0);
}

void hostile_find_negative(void)
{
    struct scene s = right();
    find(&s, -1, NULL, 0);
}

void hostile_find_null_x(void)
{
    struct scene s = right();
    s.mx.device = NULL;
    find(&s, 1, NULL, 0);
}

void hostile_find_null_results(void)
{
    struct scene s = right();
    called("Find", API->miopenFindConvolutionForwardAlgorithm(
                       world.handle, s.dx, s.mx.device, s.dw, s.mw.device, s.conv, s.dy,
                       s.my.device, 1, NULL, NULL, NULL, 0, false));
}

void hostile_find_no_workspace(void)
{
    struct scene s = right();
    find(&s, 4, NULL, 0);
}

void hostile_find_null_workspace(void)
{
    struct scene s = right();
    find(&s, 4, NULL, 1 << 20);
}

void hostile_types_mixed(void)
{
    struct scene s = right();
    reshape(s.dw, miopenHalf, 4, s.w.dims);
    ask(&s);
}

void hostile_ranks_mixed(void)
{
    struct scene s = right();
    const int d[5] = { 6, 4, 3, 3, 3 };
    reshape(s.dw, miopenFloat, 5, d);
    ask(&s);
}

void hostile_ranks_wrong_for_conv(void)
{
    struct scene s = right();
    const int x[5] = { 2, 4, 8, 8, 8 }, w[5] = { 6, 4, 3, 3, 3 }, y[5] = { 2, 6, 8, 8, 8 };
    reshape(s.dx, miopenFloat, 5, x);
    reshape(s.dw, miopenFloat, 5, w);
    reshape(s.dy, miopenFloat, 5, y);
    ask(&s);
}

void hostile_rank_3(void)
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

void hostile_channels_misfit(void)
{
    struct scene s = right();
    const int d[4] = { 6, 5, 3, 3 };
    reshape(s.dw, miopenFloat, 4, d);
    ask(&s);
}

void hostile_output_misfit(void)
{
    struct scene s = right();
    const int d[4] = { 2, 6, 9, 8 };
    reshape(s.dy, miopenFloat, 4, d);
    ask(&s);
}

void hostile_output_misfit_run(void)
{
    struct scene s = right();
    const int d[4] = { 2, 6, 5, 8 };
    reshape(s.dy, miopenFloat, 4, d);
    run(&s, miopenConvolutionFwdAlgoDirect);
}

void hostile_batch_misfit(void)
{
    struct scene s = right();
    const int d[4] = { 1, 6, 8, 8 };
    reshape(s.dy, miopenFloat, 4, d);
    ask(&s);
}

void hostile_filter_too_large(void)
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

void hostile_types_double(void)
{
    struct scene s = right();
    reshape(s.dx, miopenDouble, 4, s.x.dims);
    reshape(s.dw, miopenDouble, 4, s.w.dims);
    reshape(s.dy, miopenDouble, 4, s.y.dims);
    ask(&s);
}

void hostile_types_int32(void)
{
    struct scene s = right();
    reshape(s.dx, miopenInt32, 4, s.x.dims);
    reshape(s.dw, miopenInt32, 4, s.w.dims);
    reshape(s.dy, miopenInt32, 4, s.y.dims);
    ask(&s);
}

/* Beyond what memory and 32-bit counts hold, but each number is right. */
void hostile_products_overflow(void)
{
    struct scene s = right();
    const int x[4] = { 65536, 4, 65536, 65536 }, y[4] = { 65536, 6, 65536, 65536 };
    called("SetTensorDescriptor", API->miopenSetTensorDescriptor(s.dx, miopenFloat, 4, x, NULL));
    called("SetTensorDescriptor", API->miopenSetTensorDescriptor(s.dy, miopenFloat, 4, y, NULL));
    ask(&s);
}

/* Strides as a client computes them in 32 bits. */
void hostile_strides_overflow(void)
{
    struct scene s = right();
    const int x[4] = { 65536, 4, 65536, 65536 }, y[4] = { 65536, 6, 65536, 65536 },
              strides[4] = { 0, 0, 65536, 1 };
    called("SetTensorDescriptor", API->miopenSetTensorDescriptor(s.dx, miopenFloat, 4, x, strides));
    called("SetTensorDescriptor", API->miopenSetTensorDescriptor(s.dy, miopenFloat, 4, y, strides));
    ask(&s);
}

void hostile_batch_zero(void)
{
    struct scene s = right();
    const int x[4] = { 0, 4, 8, 8 }, y[4] = { 0, 6, 8, 8 };
    reshape(s.dx, miopenFloat, 4, x);
    reshape(s.dy, miopenFloat, 4, y);
    ask(&s);
}

void hostile_workspace_small(void)
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
