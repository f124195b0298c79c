/* rnn_execute.c: the passes of recurrent networks, with a tensor for each step or one for all
 * sequences. */
#include "miopen/log.h"
#include "miopen/rnn.h"

#include <limits.h>
#include <string.h>

static rmcp_memory at(const void *pointer)
{
    return (rmcp_memory){ (void *)(uintptr_t)pointer, 0 };
}

/* How the rows of x and y lie: one after the other, or with gaps where a sequence has ended. */
enum gaps { NO_GAPS, BY_STEP, BY_SEQUENCE };

/* One call, in whichever form it came. */
struct call {
    const struct mi_rnn *rnn;
    rmcp_rnn_pass pass;
    struct mi_key key;
    int64_t rows;
    enum gaps gaps;
    int64_t steps; /* with gaps: those that no sequence has, too */
    const struct mi_sequence *padding; /* whose element fills the gaps; NULL: 0 */
    miopenTensorDescriptor_t h, c;     /* of those states that are given        */
    rmcp_rnn_tensors tensors;
    void *workspace;
    const void *reserve;
    size_t workspace_bytes, reserve_bytes;
};

/* ---- problems ---- */

/* One more step of `batch` sequences. */
static miopenStatus_t add_step(struct call *call, int64_t batch)
{
    struct mi_rnn_problem *p = &call->key.problem.rnn;
    if (batch < 1) return mi_fail(miopenStatusBadParm, "RNN: a step without sequences");
    if (p->n_runs == 0) p->rnn.batch = batch;
    if (p->n_runs > 0 && batch > p->run[p->n_runs - 1].batch)
        return mi_fail(miopenStatusBadParm, "RNN: a step of more sequences than the one before");
    if (p->n_runs == 0 || batch < p->run[p->n_runs - 1].batch) {
        if (p->n_runs == MI_RNN_RUNS)
            return mi_fail(miopenStatusNotImplemented,
                           "RNN: sequences of more than %d different lengths", MI_RNN_RUNS);
        p->run[p->n_runs++].batch = (int32_t)batch;
    }
    p->run[p->n_runs - 1].steps++;
    p->rnn.steps++;
    call->rows += batch;
    return miopenStatusSuccess;
}

static miopenStatus_t begin(struct call *call, miopenRNNDescriptor_t name, rmcp_rnn_pass pass,
                            int64_t input)
{
    memset(call, 0, sizeof *call);
    const struct mi_rnn *rnn = mi_rnn(name);
    if (!rnn) return miopenStatusBadParm;
    call->rnn = rnn;
    call->pass = pass;
    call->key.operation = MI_OP_RNN;
    call->key.pass = pass;
    rmcp_rnn *p = &call->key.problem.rnn.rnn;
    p->struct_size = sizeof *p;
    p->mode = (uint32_t)rnn->mode;
    p->input = input;
    p->hidden = rnn->hidden;
    p->layers = (uint32_t)rnn->layers;
    p->bidirectional = rnn->direction == miopenRNNbidirection;
    p->bias = rnn->bias == miopenRNNwithBias;
    p->skip = rnn->input == miopenRNNskip;
    p->dropout = pass == RMCP_RNN_INFER ? 0 : mi_rnn_dropout(rnn);
    call->tensors.struct_size = sizeof call->tensors;
    if (!mi_type(rnn->type, &p->type) || rnn->hidden < 1 || rnn->layers < 1)
        return mi_fail(miopenStatusBadParm, "RNN: the descriptor was not set");
    if (p->dropout >= 1)
        return mi_fail(miopenStatusNotImplemented, "RNN: dropout of %g", p->dropout);
    return miopenStatusSuccess;
}

/* Tensors of single steps. */
static miopenStatus_t begin_steps(struct call *call, miopenRNNDescriptor_t name, rmcp_rnn_pass pass,
                                  int steps, const miopenTensorDescriptor_t *x,
                                  const miopenTensorDescriptor_t *y)
{
    const struct mi_rnn *rnn = mi_rnn(name);
    if (!rnn || steps < 1 || !x || !y || mi_rnn_rows(rnn, steps, x) <= 0 ||
        mi_rnn_rows(rnn, steps, y) <= 0)
        return mi_fail(miopenStatusBadParm, "RNN: bad tensors");
    const int64_t input = mi_tensor(x[0])->size[1], width = mi_rnn_directions(rnn) * rnn->hidden;
    miopenStatus_t status = begin(call, name, pass, input);
    for (int t = 0; t < steps && status == miopenStatusSuccess; t++) {
        const struct mi_tensor *in = mi_tensor(x[t]), *out = mi_tensor(y[t]);
        if (!in || !out || in->size[1] != input || out->size[1] != width ||
            out->size[0] != in->size[0])
            return mi_fail(miopenStatusBadParm, "RNN: the tensors of step %d do not fit", t);
        status = add_step(call, in->size[0]);
    }
    if (rnn->padding == miopenRNNIOWithPadding && call->key.problem.rnn.n_runs > 1)
        call->gaps = BY_STEP;
    call->steps = steps;
    return status;
}

/* All sequences in one tensor. */
static miopenStatus_t begin_sequences(struct call *call, miopenRNNDescriptor_t name,
                                      rmcp_rnn_pass pass, miopenSeqTensorDescriptor_t x_name,
                                      miopenSeqTensorDescriptor_t y_name)
{
    const struct mi_rnn *rnn = mi_rnn(name);
    const struct mi_sequence *x = mi_sequence(x_name), *y = mi_sequence(y_name);
    if (!rnn || !x || !y) return miopenStatusBadParm;
    if (x->type != rnn->type || y->type != rnn->type || x->layout != y->layout ||
        x->steps != y->steps || x->batch != y->batch ||
        y->width != mi_rnn_directions(rnn) * rnn->hidden ||
        memcmp(x->lengths, y->lengths, (size_t)x->batch * sizeof *x->lengths) != 0)
        return mi_fail(miopenStatusBadParm, "RNN: the sequences of x and y differ");
    for (int i = 0; i < x->batch; i++)
        if (x->lengths[i] < 1 || (i > 0 && x->lengths[i] > x->lengths[i - 1]))
            return mi_fail(miopenStatusNotImplemented,
                           "RNN: sequences that are empty, or not the longest first");
    miopenStatus_t status = begin(call, name, pass, x->width);
    int batch = x->batch;
    for (int t = 0; t < x->lengths[0] && status == miopenStatusSuccess; t++) {
        while (x->lengths[batch - 1] <= t) batch--;
        status = add_step(call, batch);
    }
    const bool full = call->key.problem.rnn.n_runs == 1 && x->lengths[0] == x->steps;
    if (x->layout == miopenRNNDataBatchMajorPadded && (x->steps > 1 || !full))
        call->gaps = BY_SEQUENCE;
    else if (x->layout == miopenRNNDataSeqMajorPadded && !full)
        call->gaps = BY_STEP;
    call->padding = y->padded ? y : NULL;
    call->steps = x->steps;
    return status;
}

/* ---- padding ---- */

/* Between a tensor with gaps and one without, all rows of `width` elements. */
struct spread {
    int64_t width, steps; /* steps: with those that no sequence has */
    rmcp_memory with, without;
};

static miopenStatus_t copy_rows(struct mi_handle *handle, const struct call *call,
                                const struct spread *s, bool gather)
{
    const struct mi_rnn_problem *p = &call->key.problem.rnn;
    const int64_t batch = p->rnn.batch, bytes = (int64_t)mi_type_bytes(call->rnn->type) * s->width;
    const bool by_step = call->gaps == BY_STEP;
    int64_t t = 0, row = 0;
    miopenStatus_t status = miopenStatusSuccess;
    for (uint64_t i = 0; i < p->n_runs && status == miopenStatusSuccess; i++) {
        const struct mi_rnn_run *run = &p->run[i];
        const struct mi_tensor wide = {
            .type = call->rnn->type,
            .dims = 3,
            .size = { run->steps, run->batch, s->width },
            .stride = { by_step ? batch * s->width : s->width,
                        by_step ? s->width : s->steps * s->width, 1 },
        };
        struct mi_tensor narrow = wide;
        narrow.stride[0] = run->batch * s->width;
        narrow.stride[1] = s->width;
        rmcp_memory with = s->with, without = s->without;
        with.offset += (uint64_t)(t * (by_step ? batch : 1) * bytes);
        without.offset += (uint64_t)(row * bytes);
        status = gather ? mi_tensor_copy(handle, 1, &wide, with, 0, &narrow, without)
                        : mi_tensor_copy(handle, 1, &narrow, without, 0, &wide, with);
        t += run->steps;
        row += (int64_t)run->steps * run->batch;
    }
    return status;
}

/* What a tensor with gaps has in them. */
static miopenStatus_t fill(struct mi_handle *handle, const struct call *call,
                           const struct spread *s)
{
    const struct mi_tensor flat = { .type = call->rnn->type,
                                    .dims = 1,
                                    .size = { s->steps * call->key.problem.rnn.rnn.batch *
                                              s->width },
                                    .stride = { 1 } };
    float value = 0;
    if (call->padding && call->rnn->type == miopenFloat)
        memcpy(&value, call->padding->padding, sizeof value);
    const rmcp_tensor set = { .kind = RMCP_TENSOR_SET, .alpha = (double)value };
    const rmcp_memory none = { NULL, 0 };
    return mi_tensor_run(handle, set, NULL, none, NULL, none, &flat, s->with);
}

/* ---- running ---- */

/* A state that is given has a descriptor that fits. */
static miopenStatus_t check_state(const struct call *call, miopenTensorDescriptor_t name)
{
    const struct mi_tensor *tensor = mi_tensor(name);
    const rmcp_rnn *p = &call->key.problem.rnn.rnn;
    if (!tensor) return miopenStatusBadParm;
    if (tensor->dims < 3 || tensor->type != call->rnn->type ||
        tensor->size[0] != (int64_t)p->layers * (p->bidirectional ? 2 : 1) ||
        tensor->size[1] != p->batch || tensor->size[2] != p->hidden)
        return mi_fail(miopenStatusBadParm, "RNN: a state's tensor does not fit");
    return miopenStatusSuccess;
}

/* Which states there are, and whether memory is large enough. */
static miopenStatus_t check(struct call *call)
{
    const rmcp_rnn_tensors *t = &call->tensors;
    const bool lstm = call->rnn->mode == miopenLSTM;
    const bool backward = call->pass == RMCP_RNN_BACKWARD_DATA;
    const void *hy = backward ? t->dhy.base : t->hy.base;
    const void *cy = backward ? t->dcy.base : t->cy.base;
    uint32_t given = 0;
    if (t->hx.base) given |= RMCP_RNN_HX;
    if (hy) given |= RMCP_RNN_HY;
    if (t->dhx.base) given |= RMCP_RNN_DHX;
    if (lstm && t->cx.base) given |= RMCP_RNN_CX;
    if (lstm && cy) given |= RMCP_RNN_CY;
    if (lstm && t->dcx.base) given |= RMCP_RNN_DCX;
    call->key.problem.rnn.rnn.given = given;
    miopenStatus_t status = miopenStatusSuccess;
    if (given & (RMCP_RNN_HX | RMCP_RNN_HY | RMCP_RNN_DHX)) status = check_state(call, call->h);
    if (status == miopenStatusSuccess && given & (RMCP_RNN_CX | RMCP_RNN_CY | RMCP_RNN_DCX))
        status = check_state(call, call->c);
    if (status != miopenStatusSuccess) return status;
    const bool weights = call->pass == RMCP_RNN_BACKWARD_WEIGHTS;
    if ((!backward && !t->x.base) || (!weights && !t->w.base) || (weights && !t->dw.base) ||
        (backward && (!t->dy.base || !t->dx.base)) || (!backward && !weights && !t->y.base))
        return mi_fail(miopenStatusBadParm, "RNN: an argument is NULL");
    if (call->pass != RMCP_RNN_INFER &&
        (!call->reserve || call->reserve_bytes < mi_rnn_reserve_bytes(call->rnn, call->rows)))
        return mi_fail(miopenStatusBadParm, "RNN: %zu bytes of reserve space are not enough",
                       call->reserve_bytes);
    if ((backward || weights) &&
        (!call->workspace || call->workspace_bytes < mi_rnn_workspace_bytes(call->rnn, call->rows)))
        return mi_fail(miopenStatusBadParm, "RNN: %zu bytes of workspace are not enough",
                       call->workspace_bytes);
    return miopenStatusSuccess;
}

/* The first words of the states that dropout's descriptor has. */
static miopenStatus_t find_state(struct call *call)
{
    const rmcp_rnn *p = &call->key.problem.rnn.rnn;
    if (call->pass != RMCP_RNN_TRAIN || p->dropout == 0 || p->layers < 2)
        return miopenStatusSuccess;
    const struct mi_dropout *dropout = mi_dropout(call->rnn->dropout);
    if (!dropout || !dropout->states)
        return mi_fail(miopenStatusBadParm, "RNN: dropout without states");
    call->tensors.state = at(dropout->states);
    return miopenStatusSuccess;
}

static uint64_t aligned(int64_t bytes)
{
    return ((uint64_t)bytes + 255) / 256 * 256;
}

/* Execute between copies of x and y without gaps, which are behind the workspace. */
static miopenStatus_t execute(struct mi_handle *handle, struct call *call,
                              const struct mi_choice *choice)
{
    const struct mi_engine *e = handle->engine;
    rmcp_rnn_tensors *t = &call->tensors;
    const rmcp_rnn *p = &call->key.problem.rnn.rnn;
    const bool backward = call->pass == RMCP_RNN_BACKWARD_DATA;
    const bool weights = call->pass == RMCP_RNN_BACKWARD_WEIGHTS, gaps = call->gaps != NO_GAPS;
    const int64_t element = (int64_t)mi_type_bytes(call->rnn->type);
    const int64_t width = mi_rnn_directions(call->rnn) * p->hidden;
    const int64_t steps = call->steps;
    rmcp_memory *x = backward ? &t->dx : &t->x, *y = backward ? &t->dy : &t->y;
    const uint64_t main = aligned((int64_t)choice->workspace);
    const uint64_t x_bytes = aligned(call->rows * p->input * element);
    const uint64_t y_bytes = aligned(call->rows * width * element);
    miopenStatus_t status =
        mi_handle_scratch(handle, main + (gaps ? x_bytes + y_bytes : 0), &t->workspace);
    if (status != miopenStatusSuccess) return status;
    t->workspace_bytes = choice->workspace;
    struct spread in = { p->input, steps, *x, t->workspace };
    struct spread out = { width, steps, *y, t->workspace };
    in.without.offset += main;
    out.without.offset += main + x_bytes;
    if (gaps) {
        *x = in.without;
        *y = out.without;
        status =
            backward ? copy_rows(handle, call, &out, true) : copy_rows(handle, call, &in, true);
        if (status != miopenStatusSuccess) return status;
    }
    double seconds = 0;
    rmcp_status done = handle->profiling
                           ? e->rmcp_rnn_execute_timed(choice->plan, handle->stream, t, &seconds)
                           : e->rmcp_rnn_execute(choice->plan, handle->stream, t);
    handle->kernel_ms += (float)(seconds * 1e3);
    status = mi_status(done, "RNN");
    if (status != miopenStatusSuccess || !gaps || weights) return status;
    const struct spread *result = backward ? &in : &out;
    status = fill(handle, call, result);
    return status == miopenStatusSuccess ? copy_rows(handle, call, result, false) : status;
}

static miopenStatus_t run(miopenHandle_t name, struct call *call)
{
    call->tensors.gradients = at(call->workspace);
    call->tensors.reserve = at(call->reserve);
    miopenStatus_t status = check(call);
    if (status == miopenStatusSuccess) status = find_state(call);
    if (status != miopenStatusSuccess) return status;
    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    handle->kernel_ms = 0;
    const struct mi_plans *plans;
    status = mi_plans_get(handle, &call->key, &plans);
    if (status == miopenStatusSuccess) {
        const struct mi_choice choice = plans->choice[0]; /* other plans may be made meanwhile */
        status = execute(handle, call, &choice);
    }
    mi_handle_leave(handle);
    return status;
}

/* ---- a tensor for each step ---- */

miopenStatus_t miopenRNNForwardTraining(miopenHandle_t handle, miopenRNNDescriptor_t name,
                                        int steps, const miopenTensorDescriptor_t *xs,
                                        const void *x, miopenTensorDescriptor_t h, const void *hx,
                                        miopenTensorDescriptor_t c, const void *cx,
                                        miopenTensorDescriptor_t w_name, const void *w,
                                        const miopenTensorDescriptor_t *ys, void *y,
                                        miopenTensorDescriptor_t hy_name, void *hy,
                                        miopenTensorDescriptor_t cy_name, void *cy, void *workspace,
                                        size_t workspace_bytes, void *reserve, size_t reserve_bytes)
{
    (void)w_name;
    struct call call;
    miopenStatus_t status = begin_steps(&call, name, RMCP_RNN_TRAIN, steps, xs, ys);
    if (status != miopenStatusSuccess) return status;
    call.h = hx ? h : hy_name;
    call.c = cx ? c : cy_name;
    call.tensors.x = at(x), call.tensors.w = at(w), call.tensors.y = at(y);
    call.tensors.hx = at(hx), call.tensors.cx = at(cx);
    call.tensors.hy = at(hy), call.tensors.cy = at(cy);
    call.workspace = workspace, call.workspace_bytes = workspace_bytes;
    call.reserve = reserve, call.reserve_bytes = reserve_bytes;
    return run(handle, &call);
}

miopenStatus_t miopenRNNForwardInference(
    miopenHandle_t handle, miopenRNNDescriptor_t name, int steps,
    const miopenTensorDescriptor_t *xs, const void *x, miopenTensorDescriptor_t h, const void *hx,
    miopenTensorDescriptor_t c, const void *cx, miopenTensorDescriptor_t w_name, const void *w,
    const miopenTensorDescriptor_t *ys, void *y, miopenTensorDescriptor_t hy_name, void *hy,
    miopenTensorDescriptor_t cy_name, void *cy, void *workspace, size_t workspace_bytes)
{
    (void)w_name;
    struct call call;
    miopenStatus_t status = begin_steps(&call, name, RMCP_RNN_INFER, steps, xs, ys);
    if (status != miopenStatusSuccess) return status;
    call.h = hx ? h : hy_name;
    call.c = cx ? c : cy_name;
    call.tensors.x = at(x), call.tensors.w = at(w), call.tensors.y = at(y);
    call.tensors.hx = at(hx), call.tensors.cx = at(cx);
    call.tensors.hy = at(hy), call.tensors.cy = at(cy);
    call.workspace = workspace, call.workspace_bytes = workspace_bytes;
    return run(handle, &call);
}

miopenStatus_t miopenRNNBackwardData(
    miopenHandle_t handle, miopenRNNDescriptor_t name, int steps,
    const miopenTensorDescriptor_t *ys, const void *y, const miopenTensorDescriptor_t *dys,
    const void *dy, miopenTensorDescriptor_t dhy_name, const void *dhy,
    miopenTensorDescriptor_t dcy_name, const void *dcy, miopenTensorDescriptor_t w_name,
    const void *w, miopenTensorDescriptor_t h, const void *hx, miopenTensorDescriptor_t c,
    const void *cx, const miopenTensorDescriptor_t *dxs, void *dx,
    miopenTensorDescriptor_t dhx_name, void *dhx, miopenTensorDescriptor_t dcx_name, void *dcx,
    void *workspace, size_t workspace_bytes, void *reserve, size_t reserve_bytes)
{
    (void)ys, (void)y, (void)w_name;
    struct call call;
    miopenStatus_t status = begin_steps(&call, name, RMCP_RNN_BACKWARD_DATA, steps, dxs, dys);
    if (status != miopenStatusSuccess) return status;
    call.h = hx ? h : dhy ? dhy_name : dhx_name;
    call.c = cx ? c : dcy ? dcy_name : dcx_name;
    call.tensors.w = at(w), call.tensors.dy = at(dy), call.tensors.dx = at(dx);
    call.tensors.hx = at(hx), call.tensors.cx = at(cx);
    call.tensors.dhy = at(dhy), call.tensors.dcy = at(dcy);
    call.tensors.dhx = at(dhx), call.tensors.dcx = at(dcx);
    call.workspace = workspace, call.workspace_bytes = workspace_bytes;
    call.reserve = reserve, call.reserve_bytes = reserve_bytes;
    return run(handle, &call);
}

miopenStatus_t miopenRNNBackwardWeights(miopenHandle_t handle, miopenRNNDescriptor_t name,
                                        int steps, const miopenTensorDescriptor_t *xs,
                                        const void *x, miopenTensorDescriptor_t h, const void *hx,
                                        const miopenTensorDescriptor_t *ys, const void *y,
                                        miopenTensorDescriptor_t dw_name, void *dw, void *workspace,
                                        size_t workspace_bytes, const void *reserve,
                                        size_t reserve_bytes)
{
    (void)y, (void)dw_name;
    struct call call;
    miopenStatus_t status = begin_steps(&call, name, RMCP_RNN_BACKWARD_WEIGHTS, steps, xs, ys);
    if (status != miopenStatusSuccess) return status;
    call.h = h;
    call.tensors.x = at(x), call.tensors.dw = at(dw), call.tensors.hx = at(hx);
    call.workspace = workspace, call.workspace_bytes = workspace_bytes;
    call.reserve = reserve, call.reserve_bytes = reserve_bytes;
    return run(handle, &call);
}

/* ---- a tensor for all sequences ---- */

miopenStatus_t miopenRNNForward(miopenHandle_t handle, miopenRNNDescriptor_t name,
                                miopenRNNFWDMode_t mode, miopenSeqTensorDescriptor_t x_name,
                                const void *x, miopenTensorDescriptor_t h, const void *hx, void *hy,
                                miopenTensorDescriptor_t c, const void *cx, void *cy,
                                miopenSeqTensorDescriptor_t y_name, void *y, const void *w,
                                size_t w_bytes, void *workspace, size_t workspace_bytes,
                                void *reserve, size_t reserve_bytes)
{
    (void)w_bytes;
    struct call call;
    const rmcp_rnn_pass pass = mode == miopenRNNTraining ? RMCP_RNN_TRAIN : RMCP_RNN_INFER;
    miopenStatus_t status = begin_sequences(&call, name, pass, x_name, y_name);
    if (status != miopenStatusSuccess) return status;
    call.h = h;
    call.c = c;
    call.tensors.x = at(x), call.tensors.w = at(w), call.tensors.y = at(y);
    call.tensors.hx = at(hx), call.tensors.cx = at(cx);
    call.tensors.hy = at(hy), call.tensors.cy = at(cy);
    call.workspace = workspace, call.workspace_bytes = workspace_bytes;
    call.reserve = reserve, call.reserve_bytes = reserve_bytes;
    return run(handle, &call);
}

miopenStatus_t miopenRNNBackwardSeqData(miopenHandle_t handle, miopenRNNDescriptor_t name,
                                        miopenSeqTensorDescriptor_t y_name, const void *y,
                                        const void *dy, miopenTensorDescriptor_t h, const void *hx,
                                        const void *dhy, void *dhx, miopenTensorDescriptor_t c,
                                        const void *cx, const void *dcy, void *dcx,
                                        miopenSeqTensorDescriptor_t x_name, void *dx, const void *w,
                                        size_t w_bytes, void *workspace, size_t workspace_bytes,
                                        void *reserve, size_t reserve_bytes)
{
    (void)y, (void)w_bytes;
    struct call call;
    miopenStatus_t status = begin_sequences(&call, name, RMCP_RNN_BACKWARD_DATA, x_name, y_name);
    if (status != miopenStatusSuccess) return status;
    call.h = h;
    call.c = c;
    call.tensors.w = at(w), call.tensors.dy = at(dy), call.tensors.dx = at(dx);
    call.tensors.hx = at(hx), call.tensors.cx = at(cx);
    call.tensors.dhy = at(dhy), call.tensors.dcy = at(dcy);
    call.tensors.dhx = at(dhx), call.tensors.dcx = at(dcx);
    call.workspace = workspace, call.workspace_bytes = workspace_bytes;
    call.reserve = reserve, call.reserve_bytes = reserve_bytes;
    return run(handle, &call);
}

miopenStatus_t miopenRNNBackwardWeightsSeqTensor(miopenHandle_t handle, miopenRNNDescriptor_t name,
                                                 miopenSeqTensorDescriptor_t x_name, const void *x,
                                                 miopenTensorDescriptor_t h, const void *hx,
                                                 miopenSeqTensorDescriptor_t y_name, const void *y,
                                                 void *dw, size_t w_bytes, void *workspace,
                                                 size_t workspace_bytes, const void *reserve,
                                                 size_t reserve_bytes)
{
    (void)y, (void)w_bytes;
    struct call call;
    miopenStatus_t status = begin_sequences(&call, name, RMCP_RNN_BACKWARD_WEIGHTS, x_name, y_name);
    if (status != miopenStatusSuccess) return status;
    call.h = h;
    call.tensors.x = at(x), call.tensors.dw = at(dw), call.tensors.hx = at(hx);
    call.workspace = workspace, call.workspace_bytes = workspace_bytes;
    call.reserve = reserve, call.reserve_bytes = reserve_bytes;
    return run(handle, &call);
}
