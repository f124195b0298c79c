/* sequence_passes.c: MIOpen's convolution functions by pass, whose arguments come in different
 * orders. */
#include "sequence_conv.h"

#include <stdio.h>

#define API (&world.api)

const char *const pass_names[N_PASSES] = { "forward", "data", "weights" };

const struct tensor *conv_output(const struct conv *conv)
{
    return conv->pass == FORWARD ? &conv->y : conv->pass == BACKWARD_DATA ? &conv->x : &conv->w;
}

void *conv_new_output(struct conv *conv)
{
    if (conv->n_outputs == MAX_OUTPUTS) return NULL;
    char name[8];
    snprintf(name, sizeof name, "out%d", conv->n_outputs);
    conv->outputs[conv->n_outputs] = conv->beta != 0
                                         ? memory_input(name, conv_output(conv), OLD_SEED)
                                         : memory_output(name, tensor_bytes(conv_output(conv)));
    return conv->outputs[conv->n_outputs++].device;
}

miopenStatus_t conv_workspace_size(const struct conv *c, size_t *bytes)
{
    switch (c->pass) {
    case FORWARD:
        return called("GetWorkSpaceSize",
                      API->miopenConvolutionForwardGetWorkSpaceSize(
                          world.handle, c->w_desc, c->x_desc, c->desc, c->y_desc, bytes));
    case BACKWARD_DATA:
        return called("GetWorkSpaceSize",
                      API->miopenConvolutionBackwardDataGetWorkSpaceSize(
                          world.handle, c->y_desc, c->w_desc, c->desc, c->x_desc, bytes));
    default:
        return called("GetWorkSpaceSize",
                      API->miopenConvolutionBackwardWeightsGetWorkSpaceSize(
                          world.handle, c->y_desc, c->x_desc, c->desc, c->w_desc, bytes));
    }
}

miopenStatus_t conv_solution_count(const struct conv *c, size_t *count)
{
    switch (c->pass) {
    case FORWARD:
        return called("GetSolutionCount",
                      API->miopenConvolutionForwardGetSolutionCount(
                          world.handle, c->w_desc, c->x_desc, c->desc, c->y_desc, count));
    case BACKWARD_DATA:
        return called("GetSolutionCount",
                      API->miopenConvolutionBackwardDataGetSolutionCount(
                          world.handle, c->y_desc, c->w_desc, c->desc, c->x_desc, count));
    default:
        return called("GetSolutionCount",
                      API->miopenConvolutionBackwardWeightsGetSolutionCount(
                          world.handle, c->y_desc, c->x_desc, c->desc, c->w_desc, count));
    }
}

miopenStatus_t conv_solutions(const struct conv *c, size_t max, size_t *count,
                              miopenConvSolution_t *solutions)
{
    switch (c->pass) {
    case FORWARD:
        return called("GetSolution", API->miopenConvolutionForwardGetSolution(
                                         world.handle, c->w_desc, c->x_desc, c->desc, c->y_desc,
                                         max, count, solutions));
    case BACKWARD_DATA:
        return called("GetSolution", API->miopenConvolutionBackwardDataGetSolution(
                                         world.handle, c->y_desc, c->w_desc, c->desc, c->x_desc,
                                         max, count, solutions));
    default:
        return called("GetSolution", API->miopenConvolutionBackwardWeightsGetSolution(
                                         world.handle, c->y_desc, c->x_desc, c->desc, c->w_desc,
                                         max, count, solutions));
    }
}

miopenStatus_t conv_solution_workspace(const struct conv *c, uint64_t id, size_t *bytes)
{
    switch (c->pass) {
    case FORWARD:
        return called("GetSolutionWorkspaceSize",
                      API->miopenConvolutionForwardGetSolutionWorkspaceSize(
                          world.handle, c->w_desc, c->x_desc, c->desc, c->y_desc, id, bytes));
    case BACKWARD_DATA:
        return called("GetSolutionWorkspaceSize",
                      API->miopenConvolutionBackwardDataGetSolutionWorkspaceSize(
                          world.handle, c->y_desc, c->w_desc, c->desc, c->x_desc, id, bytes));
    default:
        return called("GetSolutionWorkspaceSize",
                      API->miopenConvolutionBackwardWeightsGetSolutionWorkspaceSize(
                          world.handle, c->y_desc, c->x_desc, c->desc, c->w_desc, id, bytes));
    }
}

miopenStatus_t conv_compile(const struct conv *c, uint64_t id)
{
    switch (c->pass) {
    case FORWARD:
        return called("CompileSolution",
                      API->miopenConvolutionForwardCompileSolution(
                          world.handle, c->w_desc, c->x_desc, c->desc, c->y_desc, id));
    case BACKWARD_DATA:
        return called("CompileSolution",
                      API->miopenConvolutionBackwardDataCompileSolution(
                          world.handle, c->y_desc, c->w_desc, c->desc, c->x_desc, id));
    default:
        return called("CompileSolution",
                      API->miopenConvolutionBackwardWeightsCompileSolution(
                          world.handle, c->y_desc, c->x_desc, c->desc, c->w_desc, id));
    }
}

miopenStatus_t conv_immediate(const struct conv *c, void *output, const struct memory *workspace,
                              uint64_t id)
{
    const void *x = c->x_memory.device, *w = c->w_memory.device, *y = c->y_memory.device;
    switch (c->pass) {
    case FORWARD:
        return called("Immediate", API->miopenConvolutionForwardImmediate(
                                       world.handle, c->w_desc, w, c->x_desc, x, c->desc, c->y_desc,
                                       output, workspace->device, workspace->bytes, id));
    case BACKWARD_DATA:
        return called("Immediate", API->miopenConvolutionBackwardDataImmediate(
                                       world.handle, c->y_desc, y, c->w_desc, w, c->desc, c->x_desc,
                                       output, workspace->device, workspace->bytes, id));
    default:
        return called("Immediate", API->miopenConvolutionBackwardWeightsImmediate(
                                       world.handle, c->y_desc, y, c->x_desc, x, c->desc, c->w_desc,
                                       output, workspace->device, workspace->bytes, id));
    }
}

miopenStatus_t conv_find(const struct conv *c, void *output, const struct memory *workspace,
                         bool exhaustive, miopenConvAlgoPerf_t *perf)
{
    const void *x = c->x_memory.device, *w = c->w_memory.device, *y = c->y_memory.device;
    int returned = -1;
    miopenStatus_t status;
    switch (c->pass) {
    case FORWARD:
        status = API->miopenFindConvolutionForwardAlgorithm(
            world.handle, c->x_desc, x, c->w_desc, w, c->desc, c->y_desc, output, 1, &returned,
            perf, workspace->device, workspace->bytes, exhaustive);
        break;
    case BACKWARD_DATA:
        status = API->miopenFindConvolutionBackwardDataAlgorithm(
            world.handle, c->y_desc, y, c->w_desc, w, c->desc, c->x_desc, output, 1, &returned,
            perf, workspace->device, workspace->bytes, exhaustive);
        break;
    default:
        status = API->miopenFindConvolutionBackwardWeightsAlgorithm(
            world.handle, c->y_desc, y, c->x_desc, x, c->desc, c->w_desc, output, 1, &returned,
            perf, workspace->device, workspace->bytes, exhaustive);
        break;
    }
    record_note("returned=%d", returned);
    return called("Find", status);
}

miopenStatus_t conv_run(const struct conv *c, int algorithm, void *output,
                        const struct memory *workspace)
{
    const void *x = c->x_memory.device, *w = c->w_memory.device, *y = c->y_memory.device;
    switch (c->pass) {
    case FORWARD:
        return called("Convolution", API->miopenConvolutionForward(
                                         world.handle, &c->alpha, c->x_desc, x, c->w_desc, w,
                                         c->desc, (miopenConvFwdAlgorithm_t)algorithm, &c->beta,
                                         c->y_desc, output, workspace->device, workspace->bytes));
    case BACKWARD_DATA:
        return called("Convolution", API->miopenConvolutionBackwardData(
                                         world.handle, &c->alpha, c->y_desc, y, c->w_desc, w,
                                         c->desc, (miopenConvBwdDataAlgorithm_t)algorithm, &c->beta,
                                         c->x_desc, output, workspace->device, workspace->bytes));
    default:
        return called("Convolution",
                      API->miopenConvolutionBackwardWeights(
                          world.handle, &c->alpha, c->y_desc, y, c->x_desc, x, c->desc,
                          (miopenConvBwdWeightsAlgorithm_t)algorithm, &c->beta, c->w_desc, output,
                          workspace->device, workspace->bytes));
    }
}
