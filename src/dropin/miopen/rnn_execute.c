/* rnn_execute.c: the passes of recurrent networks, with a tensor for each step or one for all
 * sequences. */
#include "dropin/miopen/command_line.h"
#include "dropin/miopen/log.h"
#include "dropin/miopen/rnn_rows.h"

#include <string.h>

static rmcp_memory at(const void *pointer)
{
    return (rmcp_memory){ (void *)(uintptr_t)pointer, 0 };
}

/* One call, in whichever form it came. */
struct call {
    const struct mi_rnn *rnn;
    rmcp_rnn_pass pass;
    struct mi_key key;
    int64_t rows;
    struct mi_rnn_rows lie;        /* how those of x and y lie       */
    miopenTensorDescriptor_t h, c; /* of those states that are given */
    rmcp_rnn_tensors tensors;
    void *workspace;
    const void *reserve;
    size_t workspace_bytes, reserve_bytes, weights_bytes;
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
    call->weights_bytes = SIZE_MAX; /* known for sequence tensors only */
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
        call->lie.gaps = MI_RNN_BY_STEP;
    call->lie.steps = steps;
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
    const int *order = x->order;
    for (int i = 0; i < x->batch; i++)
        if (x->lengths[i] < 1)
            return mi_fail(miopenStatusNotImplemented, "RNN: sequence %d is empty", i);
    if (order && x->layout == miopenRNNDataSeqMajorNotPadded)
        return mi_fail(miopenStatusUnknownError, "RNN: without padding the longest comes first");
    miopenStatus_t status = begin(call, name, pass, x->width);
    const int longest = x->lengths[order ? order[0] : 0];
    int batch = x->batch;
    for (int t = 0; t < longest && status == miopenStatusSuccess; t++) {
        while (x->lengths[order ? order[batch - 1] : batch - 1] <= t) batch--;
        status = add_step(call, batch);
    }
    const bool full = call->key.problem.rnn.n_runs == 1 && longest == x->steps;
    if (x->layout == miopenRNNDataBatchMajorPadded && (x->steps > 1 || !full))
        call->lie.gaps = MI_RNN_BY_SEQUENCE;
    else if (x->layout == miopenRNNDataSeqMajorPadded && !full)
        call->lie.gaps = MI_RNN_BY_STEP;
    call->lie.steps = x->steps;
    call->lie.order = order;
    call->lie.fill = true;
    call->lie.value = y->padded ? mi_type_number(y->type, y->padding) : 0;
    return status;
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
        return mi_fail(miopenStatusUnknownError, "RNN: %zu bytes of reserve space are not enough",
                       call->reserve_bytes);
    if (((backward || weights) && !call->workspace) ||
        call->workspace_bytes < mi_rnn_workspace_bytes(call->rnn, call->rows))
        return mi_fail(miopenStatusUnknownError, "RNN: %zu bytes of workspace are not enough",
                       call->workspace_bytes);
    if (call->weights_bytes < mi_rnn_weights_bytes(call->rnn, call->key.problem.rnn.rnn.input))
        return mi_fail(miopenStatusUnknownError, "RNN: %zu bytes of weights are not enough",
                       call->weights_bytes);
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

/* A tensor that is copied to the engine before it executes, or back after it. */
struct moved {
    struct mi_rnn_pair pair;
    bool state, result;
};

/* Put `*memory` behind what is used of `room` already, and remember that it is to be copied. */
static void move(struct moved *list, int *n, rmcp_memory *memory, struct moved what, uint64_t bytes,
                 rmcp_memory *room)
{
    if (!memory->base) return;
    what.pair.theirs = *memory;
    what.pair.ours = *memory = *room;
    room->offset += bytes;
    list[(*n)++] = what;
}

static miopenStatus_t copy_all(struct mi_handle *handle, const struct call *call,
                               const struct moved *list, int n, bool back)
{
    miopenStatus_t status = miopenStatusSuccess;
    for (int i = 0; i < n && status == miopenStatusSuccess; i++)
        if (list[i].result == back)
            status = (list[i].state ? mi_rnn_copy_state : mi_rnn_copy_rows)(
                handle, &call->key.problem.rnn, call->rnn->type, &call->lie, &list[i].pair, back);
    return status;
}

/* Execute between copies of x and y without gaps, and of states in the engine's order; they are
 * behind the workspace. */
static miopenStatus_t execute(struct mi_handle *handle, struct call *call,
                              const struct mi_choice *choice)
{
    const struct mi_engine *e = handle->engine;
    rmcp_rnn_tensors *t = &call->tensors;
    const rmcp_rnn *p = &call->key.problem.rnn.rnn;
    const bool backward = call->pass == RMCP_RNN_BACKWARD_DATA;
    const bool weights = call->pass == RMCP_RNN_BACKWARD_WEIGHTS;
    const bool gaps = call->lie.gaps != MI_RNN_NO_GAPS;
    const int64_t element = (int64_t)mi_type_bytes(call->rnn->type);
    const int64_t directions = mi_rnn_directions(call->rnn), width = directions * p->hidden;
    rmcp_memory *states[] = { &t->hx, &t->cx, &t->dhy, &t->dcy, &t->hy, &t->cy, &t->dhx, &t->dcx };
    enum { STATES = sizeof states / sizeof *states, RESULTS = 4 /* from which on */ };
    const uint64_t main = aligned((int64_t)choice->workspace);
    const uint64_t x_bytes = aligned(call->rows * p->input * element);
    const uint64_t y_bytes = aligned(call->rows * width * element);
    const uint64_t state_bytes = aligned(p->layers * p->batch * width * element);
    miopenStatus_t status = mi_handle_scratch(handle,
                                              main + (gaps ? x_bytes + y_bytes : 0) +
                                                  (call->lie.order ? STATES * state_bytes : 0),
                                              &t->workspace);
    if (status != miopenStatusSuccess) return status;
    t->workspace_bytes = choice->workspace;
    struct moved list[2 + STATES];
    int n = 0;
    rmcp_memory room = t->workspace;
    room.offset += main;
    if (gaps) {
        struct moved x = { .pair = { .width = p->input }, .result = backward };
        struct moved y = { .pair = { .width = width }, .result = !backward };
        move(list, &n, backward ? &t->dx : &t->x, x, x_bytes, &room);
        if (!weights) move(list, &n, backward ? &t->dy : &t->y, y, y_bytes, &room);
    }
    for (int i = 0; call->lie.order && i < STATES; i++)
        move(
            list, &n, states[i],
            (struct moved){ .pair = { .width = p->hidden }, .state = true, .result = i >= RESULTS },
            state_bytes, &room);
    status = copy_all(handle, call, list, n, false);
    if (status != miopenStatusSuccess) return status;
    double seconds = 0;
    rmcp_status done = handle->profiling
                           ? e->rmcp_rnn_execute_timed(choice->plan, handle->stream, t, &seconds)
                           : e->rmcp_rnn_execute(choice->plan, handle->stream, t);
    handle->kernel_ms += (float)(seconds * 1e3);
    status = mi_status(done, "RNN");
    return status == miopenStatusSuccess ? copy_all(handle, call, list, n, true) : status;
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
    if (mi_log_wants_commands()) mi_command_rnn(&call->key);
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
    call.weights_bytes = w_bytes;
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
    (void)y;
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
    call.weights_bytes = w_bytes;
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
    (void)y;
    struct call call;
    miopenStatus_t status = begin_sequences(&call, name, RMCP_RNN_BACKWARD_WEIGHTS, x_name, y_name);
    if (status != miopenStatusSuccess) return status;
    call.h = h;
    call.tensors.x = at(x), call.tensors.dw = at(dw), call.tensors.hx = at(hx);
    call.workspace = workspace, call.workspace_bytes = workspace_bytes;
    call.weights_bytes = w_bytes;
    call.reserve = reserve, call.reserve_bytes = reserve_bytes;
    return run(handle, &call);
}
