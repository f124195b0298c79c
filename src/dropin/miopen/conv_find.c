/* conv_find.c: convolution in find mode: workspace sizes, Find…Algorithm, Convolution…(algorithm).
 */
#include "dropin/miopen/command_line.h"
#include "dropin/miopen/conv_calls.h"
#include "dropin/miopen/log.h"

#include <stdlib.h>
#include <strings.h>

miopenStatus_t mi_conv_enter(struct mi_conv_entry *entry, rmcp_conv_pass pass,
                             miopenHandle_t handle, miopenTensorDescriptor_t x,
                             miopenTensorDescriptor_t w, miopenConvolutionDescriptor_t convolution,
                             miopenTensorDescriptor_t y)
{
    entry->handle = NULL;
    const struct mi_tensor *x_tensor = mi_tensor(x), *w_tensor = mi_tensor(w),
                           *y_tensor = mi_tensor(y);
    const struct mi_convolution *c = mi_convolution(convolution);
    if (!x_tensor || !w_tensor || !y_tensor || !c) return miopenStatusBadParm;
    struct mi_conv_call call = { pass, *x_tensor, *w_tensor, *y_tensor, *c };
    miopenStatus_t status = mi_conv_translate(&call, &entry->conv);
    if (status != miopenStatusSuccess) return status;
    entry->handle = mi_handle_enter(handle);
    return entry->handle ? miopenStatusSuccess : miopenStatusBadParm;
}

void mi_conv_leave(struct mi_conv_entry *entry)
{
    if (entry->handle) mi_handle_leave(entry->handle);
    entry->handle = NULL;
}

void mi_conv_log(const struct mi_conv_entry *entry)
{
    if (mi_log_wants_commands()) mi_command_conv(&entry->conv);
}

/* ---- workspace ---- */

static miopenStatus_t workspace_size(struct mi_conv_entry *entry, miopenStatus_t status,
                                     size_t *bytes)
{
    /* Some callers do not look at the status. */
    if (bytes)
        *bytes = 0;
    else if (status == miopenStatusSuccess)
        status = miopenStatusBadParm;
    const struct mi_plans *plans;
    if (status == miopenStatusSuccess)
        status = mi_plans_get(entry->handle, &entry->conv.key, &plans);
    if (status == miopenStatusSuccess) *bytes = plans->choice[0].workspace;
    mi_conv_leave(entry);
    return status;
}

miopenStatus_t miopenConvolutionForwardGetWorkSpaceSize(miopenHandle_t handle,
                                                        miopenTensorDescriptor_t w,
                                                        miopenTensorDescriptor_t x,
                                                        miopenConvolutionDescriptor_t convolution,
                                                        miopenTensorDescriptor_t y, size_t *bytes)
{
    struct mi_conv_entry entry;
    miopenStatus_t status = mi_conv_enter(&entry, RMCP_CONV_FORWARD, handle, x, w, convolution, y);
    return workspace_size(&entry, status, bytes);
}

miopenStatus_t miopenConvolutionBackwardDataGetWorkSpaceSize(
    miopenHandle_t handle, miopenTensorDescriptor_t dy, miopenTensorDescriptor_t w,
    miopenConvolutionDescriptor_t convolution, miopenTensorDescriptor_t dx, size_t *bytes)
{
    struct mi_conv_entry entry;
    miopenStatus_t status =
        mi_conv_enter(&entry, RMCP_CONV_BACKWARD_DATA, handle, dx, w, convolution, dy);
    return workspace_size(&entry, status, bytes);
}

miopenStatus_t miopenConvolutionBackwardWeightsGetWorkSpaceSize(
    miopenHandle_t handle, miopenTensorDescriptor_t dy, miopenTensorDescriptor_t x,
    miopenConvolutionDescriptor_t convolution, miopenTensorDescriptor_t dw, size_t *bytes)
{
    struct mi_conv_entry entry;
    miopenStatus_t status =
        mi_conv_enter(&entry, RMCP_CONV_BACKWARD_WEIGHTS, handle, x, dw, convolution, dy);
    return workspace_size(&entry, status, bytes);
}

/* ---- find ---- */

/* Whether the environment asks for a search: MIOPEN_FIND_ENFORCE=SEARCH and what is above it. */
static bool search_is_enforced(void)
{
    const char *text = getenv("MIOPEN_FIND_ENFORCE");
    if (!text) return false;
    int level = atoi(text);
    return level == 3 || level == 4 || !strcasecmp(text, "SEARCH") ||
           !strcasecmp(text, "SEARCH_DB_UPDATE");
}

struct find {
    const void *x, *w, *y;
    int request;
    int *returned;
    miopenConvAlgoPerf_t *results;
    void *workspace;
    size_t workspace_bytes;
    bool exhaustive;
};

/* The ways that there are, best first, as far as the workspace goes. Nothing runs, unless a search
 * is asked for: then the engine times its best few and remembers the winner. */
static miopenStatus_t find(struct mi_conv_entry *entry, miopenStatus_t status, const struct find *f)
{
    if (status == miopenStatusSuccess && (!f->x || !f->w || !f->y || !f->returned || !f->results))
        status = mi_fail(miopenStatusBadParm, "find: an argument is NULL");
    if (status == miopenStatusSuccess && f->request < 1)
        status = mi_fail(miopenStatusBadParm, "find: %d algorithms are asked for", f->request);
    const struct mi_plans *plans = NULL;
    if (status == miopenStatusSuccess) {
        mi_conv_log(entry);
        const bool search =
            (f->exhaustive || search_is_enforced()) && !mi_is_capturing(entry->handle->stream);
        status =
            (search ? mi_plans_measure : mi_plans_get)(entry->handle, &entry->conv.key, &plans);
    }
    if (status == miopenStatusSuccess) {
        int n = 0;
        for (int i = 0; i < plans->n && n < f->request; i++) {
            const struct mi_choice *choice = &plans->choice[i];
            if (choice->workspace > f->workspace_bytes && i + 1 < plans->n) continue;
            f->results[n].fwd_algo = (miopenConvFwdAlgorithm_t)choice->algorithm;
            f->results[n].time = choice->estimated_ms;
            f->results[n].memory = choice->workspace;
            n++;
        }
        *f->returned = n;
    }
    mi_conv_leave(entry);
    return status;
}

miopenStatus_t miopenFindConvolutionForwardAlgorithm(
    miopenHandle_t handle, miopenTensorDescriptor_t x_name, const void *x,
    miopenTensorDescriptor_t w_name, const void *w, miopenConvolutionDescriptor_t convolution,
    miopenTensorDescriptor_t y_name, void *y, int request, int *returned,
    miopenConvAlgoPerf_t *results, void *workspace, size_t workspace_bytes, bool exhaustive)
{
    struct mi_conv_entry entry;
    struct find f = { x, w, y, request, returned, results, workspace, workspace_bytes, exhaustive };
    miopenStatus_t status =
        mi_conv_enter(&entry, RMCP_CONV_FORWARD, handle, x_name, w_name, convolution, y_name);
    return find(&entry, status, &f);
}

miopenStatus_t miopenFindConvolutionBackwardDataAlgorithm(
    miopenHandle_t handle, miopenTensorDescriptor_t dy_name, const void *dy,
    miopenTensorDescriptor_t w_name, const void *w, miopenConvolutionDescriptor_t convolution,
    miopenTensorDescriptor_t dx_name, void *dx, int request, int *returned,
    miopenConvAlgoPerf_t *results, void *workspace, size_t workspace_bytes, bool exhaustive)
{
    struct mi_conv_entry entry;
    struct find f = {
        dx, w, dy, request, returned, results, workspace, workspace_bytes, exhaustive
    };
    miopenStatus_t status = mi_conv_enter(&entry, RMCP_CONV_BACKWARD_DATA, handle, dx_name, w_name,
                                          convolution, dy_name);
    return find(&entry, status, &f);
}

miopenStatus_t miopenFindConvolutionBackwardWeightsAlgorithm(
    miopenHandle_t handle, miopenTensorDescriptor_t dy_name, const void *dy,
    miopenTensorDescriptor_t x_name, const void *x, miopenConvolutionDescriptor_t convolution,
    miopenTensorDescriptor_t dw_name, void *dw, int request, int *returned,
    miopenConvAlgoPerf_t *results, void *workspace, size_t workspace_bytes, bool exhaustive)
{
    struct mi_conv_entry entry;
    struct find f = {
        x, dw, dy, request, returned, results, workspace, workspace_bytes, exhaustive
    };
    miopenStatus_t status = mi_conv_enter(&entry, RMCP_CONV_BACKWARD_WEIGHTS, handle, x_name,
                                          dw_name, convolution, dy_name);
    return find(&entry, status, &f);
}

/* ---- execute ---- */

/* Any algorithm is taken, found before or not: the nearest that the workspace is enough for. */
static miopenStatus_t execute(struct mi_conv_entry *entry, miopenStatus_t status, int algorithm,
                              const void *alpha, const void *beta, struct mi_conv_memory memory)
{
    if (status == miopenStatusSuccess && (!alpha || !beta || !memory.x || !memory.w || !memory.y))
        status = mi_fail(miopenStatusBadParm, "convolution: an argument is NULL");
    if (status == miopenStatusSuccess) {
        memory.alpha = *(const float *)alpha;
        memory.beta = *(const float *)beta;
        mi_conv_log(entry);
        status = mi_conv_execute(entry->handle, &entry->conv, 0, algorithm, &memory);
    }
    mi_conv_leave(entry);
    return status;
}

miopenStatus_t miopenConvolutionForward(miopenHandle_t handle, const void *alpha,
                                        miopenTensorDescriptor_t x_name, const void *x,
                                        miopenTensorDescriptor_t w_name, const void *w,
                                        miopenConvolutionDescriptor_t convolution,
                                        miopenConvFwdAlgorithm_t algorithm, const void *beta,
                                        miopenTensorDescriptor_t y_name, void *y, void *workspace,
                                        size_t workspace_bytes)
{
    struct mi_conv_entry entry;
    miopenStatus_t status =
        mi_conv_enter(&entry, RMCP_CONV_FORWARD, handle, x_name, w_name, convolution, y_name);
    struct mi_conv_memory memory = {
        .x = x, .w = w, .y = y, .workspace = workspace, .workspace_bytes = workspace_bytes
    };
    return execute(&entry, status, (int)algorithm, alpha, beta, memory);
}

miopenStatus_t miopenConvolutionBackwardData(miopenHandle_t handle, const void *alpha,
                                             miopenTensorDescriptor_t dy_name, const void *dy,
                                             miopenTensorDescriptor_t w_name, const void *w,
                                             miopenConvolutionDescriptor_t convolution,
                                             miopenConvBwdDataAlgorithm_t algorithm,
                                             const void *beta, miopenTensorDescriptor_t dx_name,
                                             void *dx, void *workspace, size_t workspace_bytes)
{
    struct mi_conv_entry entry;
    miopenStatus_t status = mi_conv_enter(&entry, RMCP_CONV_BACKWARD_DATA, handle, dx_name, w_name,
                                          convolution, dy_name);
    struct mi_conv_memory memory = {
        .x = dx, .w = w, .y = dy, .workspace = workspace, .workspace_bytes = workspace_bytes
    };
    return execute(&entry, status, (int)algorithm, alpha, beta, memory);
}

miopenStatus_t miopenConvolutionBackwardWeights(miopenHandle_t handle, const void *alpha,
                                                miopenTensorDescriptor_t dy_name, const void *dy,
                                                miopenTensorDescriptor_t x_name, const void *x,
                                                miopenConvolutionDescriptor_t convolution,
                                                miopenConvBwdWeightsAlgorithm_t algorithm,
                                                const void *beta, miopenTensorDescriptor_t dw_name,
                                                void *dw, void *workspace, size_t workspace_bytes)
{
    struct mi_conv_entry entry;
    miopenStatus_t status = mi_conv_enter(&entry, RMCP_CONV_BACKWARD_WEIGHTS, handle, x_name,
                                          dw_name, convolution, dy_name);
    struct mi_conv_memory memory = {
        .x = x, .w = dw, .y = dy, .workspace = workspace, .workspace_bytes = workspace_bytes
    };
    return execute(&entry, status, (int)algorithm, alpha, beta, memory);
}
