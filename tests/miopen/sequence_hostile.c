/* sequence_hostile.c: calls that are wrong, each in a process of its own: which status comes back?
 */
#include "sequence_hostile.h"

#include <string.h>

#define API (&world.api)

struct scene right(void)
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

void reshape(miopenTensorDescriptor_t desc, miopenDataType_t type, int n_dims, const int *dims)
{
    struct tensor tensor = { type, n_dims, { 0 }, { 0 } };
    memcpy(tensor.dims, dims, (size_t)n_dims * sizeof *dims);
    tensor_pack(&tensor, false);
    called("SetTensorDescriptor",
           API->miopenSetTensorDescriptor(desc, type, n_dims, dims, tensor.strides));
}

void ask(const struct scene *s)
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

void run(const struct scene *s, miopenConvFwdAlgorithm_t algo)
{
    const float one = 1, zero = 0;
    called("ConvolutionForward", API->miopenConvolutionForward(
                                     world.handle, &one, s->dx, s->mx.device, s->dw, s->mw.device,
                                     s->conv, algo, &zero, s->dy, s->my.device, NULL, 0));
    if (!world_wait()) record_note("device=lost");
}

void find(const struct scene *s, int request, void *workspace, size_t workspace_bytes)
{
    int returned = -12345;
    miopenConvAlgoPerf_t perf[4];
    memset(perf, 0, sizeof perf);
    called("Find", API->miopenFindConvolutionForwardAlgorithm(
                       world.handle, s->dx, s->mx.device, s->dw, s->mw.device, s->conv, s->dy,
                       s->my.device, request, &returned, perf, workspace, workspace_bytes, false));
    record_note("returned=%d", returned);
}

static const struct hostile {
    const char *name;
    void (*body)(void);
} cases[] = {
#define H(name) { #name, hostile_##name },
#include "sequence_hostile.inc"
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
