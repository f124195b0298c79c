/* conv_immediate.c: convolution in immediate mode: solutions, their workspace, execution by id. */
#include "dropin/miopen/conv_calls.h"
#include "dropin/miopen/log.h"

static miopenStatus_t count(struct mi_conv_entry *entry, miopenStatus_t status, size_t *n)
{
    if (status == miopenStatusSuccess && !n)
        status = mi_fail(miopenStatusBadParm, "solution count: NULL");
    const struct mi_plans *plans;
    if (status == miopenStatusSuccess)
        status = mi_plans_get(entry->handle, &entry->conv.key, &plans);
    if (status == miopenStatusSuccess) *n = (size_t)plans->n;
    mi_conv_leave(entry);
    return status;
}

/* Times are estimates of the device's model. */
static miopenStatus_t solutions(struct mi_conv_entry *entry, miopenStatus_t status, size_t room,
                                size_t *n, miopenConvSolution_t *list)
{
    if (status == miopenStatusSuccess && (!n || !list))
        status = mi_fail(miopenStatusBadParm, "solutions: an argument is NULL");
    const struct mi_plans *plans;
    if (status == miopenStatusSuccess)
        status = mi_plans_get(entry->handle, &entry->conv.key, &plans);
    if (status == miopenStatusSuccess) {
        *n = 0;
        for (int i = 0; i < plans->n && *n < room; i++) {
            const struct mi_choice *choice = &plans->choice[i];
            list[(*n)++] = (miopenConvSolution_t){ .time = choice->estimated_ms,
                                                   .workspace_size = choice->workspace,
                                                   .solution_id = choice->id,
                                                   .algorithm = choice->algorithm };
        }
    }
    mi_conv_leave(entry);
    return status;
}

/* The workspace of one solution; with `bytes` NULL only whether there is such a one: our kernels
 * are compiled, and a plan that exists is ready to run. */
static miopenStatus_t one_solution(struct mi_conv_entry *entry, miopenStatus_t status, uint64_t id,
                                   size_t *bytes)
{
    const struct mi_plans *plans;
    if (status == miopenStatusSuccess)
        status = mi_plans_get(entry->handle, &entry->conv.key, &plans);
    if (status == miopenStatusSuccess) {
        status = miopenStatusBadParm;
        for (int i = 0; i < plans->n && status != miopenStatusSuccess; i++) {
            if (plans->choice[i].id != id) continue;
            if (bytes) *bytes = plans->choice[i].workspace;
            status = miopenStatusSuccess;
        }
        if (status != miopenStatusSuccess)
            mi_log(MI_ERROR, "no solution %llu", (unsigned long long)id);
    }
    mi_conv_leave(entry);
    return status;
}

static miopenStatus_t solution_workspace(struct mi_conv_entry *entry, miopenStatus_t status,
                                         uint64_t id, size_t *bytes)
{
    if (status == miopenStatusSuccess && !bytes)
        status = mi_fail(miopenStatusBadParm, "solution workspace: NULL");
    return one_solution(entry, status, id, bytes);
}

static miopenStatus_t execute(struct mi_conv_entry *entry, miopenStatus_t status, uint64_t id,
                              struct mi_conv_memory memory)
{
    if (status == miopenStatusSuccess && (!memory.x || !memory.w || !memory.y))
        status = mi_fail(miopenStatusBadParm, "convolution: a tensor is NULL");
    if (status == miopenStatusSuccess && !id)
        status = mi_fail(miopenStatusBadParm, "no solution 0");
    if (status == miopenStatusSuccess) {
        memory.alpha = 1;
        mi_conv_log(entry);
        status = mi_conv_execute(entry->handle, &entry->conv, id, -1, &memory);
    }
    mi_conv_leave(entry);
    return status;
}

/* ---- forward ---- */

miopenStatus_t miopenConvolutionForwardGetSolutionCount(miopenHandle_t handle,
                                                        miopenTensorDescriptor_t w,
                                                        miopenTensorDescriptor_t x,
                                                        miopenConvolutionDescriptor_t convolution,
                                                        miopenTensorDescriptor_t y, size_t *n)
{
    struct mi_conv_entry entry;
    return count(&entry, mi_conv_enter(&entry, RMCP_CONV_FORWARD, handle, x, w, convolution, y), n);
}

miopenStatus_t miopenConvolutionForwardGetSolution(miopenHandle_t handle,
                                                   miopenTensorDescriptor_t w,
                                                   miopenTensorDescriptor_t x,
                                                   miopenConvolutionDescriptor_t convolution,
                                                   miopenTensorDescriptor_t y, size_t room,
                                                   size_t *n, miopenConvSolution_t *list)
{
    struct mi_conv_entry entry;
    return solutions(&entry, mi_conv_enter(&entry, RMCP_CONV_FORWARD, handle, x, w, convolution, y),
                     room, n, list);
}

miopenStatus_t miopenConvolutionForwardGetSolutionWorkspaceSize(
    miopenHandle_t handle, miopenTensorDescriptor_t w, miopenTensorDescriptor_t x,
    miopenConvolutionDescriptor_t convolution, miopenTensorDescriptor_t y, uint64_t id,
    size_t *bytes)
{
    struct mi_conv_entry entry;
    return solution_workspace(
        &entry, mi_conv_enter(&entry, RMCP_CONV_FORWARD, handle, x, w, convolution, y), id, bytes);
}

miopenStatus_t miopenConvolutionForwardCompileSolution(miopenHandle_t handle,
                                                       miopenTensorDescriptor_t w,
                                                       miopenTensorDescriptor_t x,
                                                       miopenConvolutionDescriptor_t convolution,
                                                       miopenTensorDescriptor_t y, uint64_t id)
{
    struct mi_conv_entry entry;
    return one_solution(
        &entry, mi_conv_enter(&entry, RMCP_CONV_FORWARD, handle, x, w, convolution, y), id, NULL);
}

miopenStatus_t miopenConvolutionForwardImmediate(
    miopenHandle_t handle, miopenTensorDescriptor_t w_name, const void *w,
    miopenTensorDescriptor_t x_name, const void *x, miopenConvolutionDescriptor_t convolution,
    miopenTensorDescriptor_t y_name, void *y, void *workspace, size_t workspace_bytes, uint64_t id)
{
    struct mi_conv_entry entry;
    miopenStatus_t status =
        mi_conv_enter(&entry, RMCP_CONV_FORWARD, handle, x_name, w_name, convolution, y_name);
    return execute(
        &entry, status, id,
        (struct mi_conv_memory){
            .x = x, .w = w, .y = y, .workspace = workspace, .workspace_bytes = workspace_bytes });
}

/* ---- backward data ---- */

miopenStatus_t miopenConvolutionBackwardDataGetSolutionCount(
    miopenHandle_t handle, miopenTensorDescriptor_t dy, miopenTensorDescriptor_t w,
    miopenConvolutionDescriptor_t convolution, miopenTensorDescriptor_t dx, size_t *n)
{
    struct mi_conv_entry entry;
    return count(&entry,
                 mi_conv_enter(&entry, RMCP_CONV_BACKWARD_DATA, handle, dx, w, convolution, dy), n);
}

miopenStatus_t miopenConvolutionBackwardDataGetSolution(miopenHandle_t handle,
                                                        miopenTensorDescriptor_t dy,
                                                        miopenTensorDescriptor_t w,
                                                        miopenConvolutionDescriptor_t convolution,
                                                        miopenTensorDescriptor_t dx, size_t room,
                                                        size_t *n, miopenConvSolution_t *list)
{
    struct mi_conv_entry entry;
    return solutions(&entry,
                     mi_conv_enter(&entry, RMCP_CONV_BACKWARD_DATA, handle, dx, w, convolution, dy),
                     room, n, list);
}

miopenStatus_t miopenConvolutionBackwardDataGetSolutionWorkspaceSize(
    miopenHandle_t handle, miopenTensorDescriptor_t dy, miopenTensorDescriptor_t w,
    miopenConvolutionDescriptor_t convolution, miopenTensorDescriptor_t dx, uint64_t id,
    size_t *bytes)
{
    struct mi_conv_entry entry;
    return solution_workspace(
        &entry, mi_conv_enter(&entry, RMCP_CONV_BACKWARD_DATA, handle, dx, w, convolution, dy), id,
        bytes);
}

miopenStatus_t miopenConvolutionBackwardDataCompileSolution(
    miopenHandle_t handle, miopenTensorDescriptor_t dy, miopenTensorDescriptor_t w,
    miopenConvolutionDescriptor_t convolution, miopenTensorDescriptor_t dx, uint64_t id)
{
    struct mi_conv_entry entry;
    return one_solution(
        &entry, mi_conv_enter(&entry, RMCP_CONV_BACKWARD_DATA, handle, dx, w, convolution, dy), id,
        NULL);
}

miopenStatus_t
miopenConvolutionBackwardDataImmediate(miopenHandle_t handle, miopenTensorDescriptor_t dy_name,
                                       const void *dy, miopenTensorDescriptor_t w_name,
                                       const void *w, miopenConvolutionDescriptor_t convolution,
                                       miopenTensorDescriptor_t dx_name, void *dx, void *workspace,
                                       size_t workspace_bytes, uint64_t id)
{
    struct mi_conv_entry entry;
    miopenStatus_t status = mi_conv_enter(&entry, RMCP_CONV_BACKWARD_DATA, handle, dx_name, w_name,
                                          convolution, dy_name);
    return execute(
        &entry, status, id,
        (struct mi_conv_memory){
            .x = dx, .w = w, .y = dy, .workspace = workspace, .workspace_bytes = workspace_bytes });
}

/* ---- backward weights ---- */

miopenStatus_t miopenConvolutionBackwardWeightsGetSolutionCount(
    miopenHandle_t handle, miopenTensorDescriptor_t dy, miopenTensorDescriptor_t x,
    miopenConvolutionDescriptor_t convolution, miopenTensorDescriptor_t dw, size_t *n)
{
    struct mi_conv_entry entry;
    return count(&entry,
                 mi_conv_enter(&entry, RMCP_CONV_BACKWARD_WEIGHTS, handle, x, dw, convolution, dy),
                 n);
}

miopenStatus_t miopenConvolutionBackwardWeightsGetSolution(
    miopenHandle_t handle, miopenTensorDescriptor_t dy, miopenTensorDescriptor_t x,
    miopenConvolutionDescriptor_t convolution, miopenTensorDescriptor_t dw, size_t room, size_t *n,
    miopenConvSolution_t *list)
{
    struct mi_conv_entry entry;
    return solutions(
        &entry, mi_conv_enter(&entry, RMCP_CONV_BACKWARD_WEIGHTS, handle, x, dw, convolution, dy),
        room, n, list);
}

miopenStatus_t miopenConvolutionBackwardWeightsGetSolutionWorkspaceSize(
    miopenHandle_t handle, miopenTensorDescriptor_t dy, miopenTensorDescriptor_t x,
    miopenConvolutionDescriptor_t convolution, miopenTensorDescriptor_t dw, uint64_t id,
    size_t *bytes)
{
    struct mi_conv_entry entry;
    return solution_workspace(
        &entry, mi_conv_enter(&entry, RMCP_CONV_BACKWARD_WEIGHTS, handle, x, dw, convolution, dy),
        id, bytes);
}

miopenStatus_t miopenConvolutionBackwardWeightsCompileSolution(
    miopenHandle_t handle, miopenTensorDescriptor_t dy, miopenTensorDescriptor_t x,
    miopenConvolutionDescriptor_t convolution, miopenTensorDescriptor_t dw, uint64_t id)
{
    struct mi_conv_entry entry;
    return one_solution(
        &entry, mi_conv_enter(&entry, RMCP_CONV_BACKWARD_WEIGHTS, handle, x, dw, convolution, dy),
        id, NULL);
}

miopenStatus_t
miopenConvolutionBackwardWeightsImmediate(miopenHandle_t handle, miopenTensorDescriptor_t dy_name,
                                          const void *dy, miopenTensorDescriptor_t x_name,
                                          const void *x, miopenConvolutionDescriptor_t convolution,
                                          miopenTensorDescriptor_t dw_name, void *dw,
                                          void *workspace, size_t workspace_bytes, uint64_t id)
{
    struct mi_conv_entry entry;
    miopenStatus_t status = mi_conv_enter(&entry, RMCP_CONV_BACKWARD_WEIGHTS, handle, x_name,
                                          dw_name, convolution, dy_name);
    return execute(
        &entry, status, id,
        (struct mi_conv_memory){
            .x = x, .w = dw, .y = dy, .workspace = workspace, .workspace_bytes = workspace_bytes });
}
