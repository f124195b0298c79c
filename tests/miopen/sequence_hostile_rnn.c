/* sequence_hostile_rnn.c: wrong calls of recurrent networks. */
#include "sequence_hostile.h"

#include <string.h>

#define API (&world.api)

enum { INPUT = 3, HIDDEN = 4, BATCH = 2, STEPS = 2, BYTES = 1 << 16 };

/* A right LSTM, with more memory than it needs. */
struct lstm {
    miopenRNNDescriptor_t rnn;
    miopenTensorDescriptor_t x[STEPS], y[STEPS], h, c, w;
    miopenSeqTensorDescriptor_t xs, ys;
    struct memory memory;
    size_t weights, workspace, reserve;
    int steps;
};

static miopenTensorDescriptor_t tensor(int n, int a, int b, int c)
{
    struct tensor t = { miopenFloat, n, { a, b, c }, { 0 } };
    tensor_pack(&t, false);
    return describe(&t, SET_INT);
}

static miopenSeqTensorDescriptor_t sequence_as(miopenRNNBaseLayout_t layout, int width, int first,
                                               int second)
{
    miopenSeqTensorDescriptor_t made = NULL;
    const int lengths[BATCH] = { first, second };
    API->miopenCreateSeqTensorDescriptor(&made);
    called("SetRNNDataSeqTensorDescriptor",
           API->miopenSetRNNDataSeqTensorDescriptor(made, miopenFloat, layout, STEPS, BATCH, width,
                                                    lengths, NULL));
    return made;
}

static miopenSeqTensorDescriptor_t sequence(int width, int first, int second)
{
    return sequence_as(miopenRNNDataSeqMajorPadded, width, first, second);
}

static struct lstm right_lstm(void)
{
    struct lstm l = { .steps = STEPS };
    API->miopenCreateRNNDescriptor(&l.rnn);
    API->miopenSetRNNDescriptor(l.rnn, HIDDEN, 1, miopenRNNlinear, miopenRNNunidirection,
                                miopenLSTM, miopenRNNwithBias, miopenRNNdefault, miopenFloat);
    for (int t = 0; t < STEPS; t++) {
        l.x[t] = tensor(3, BATCH, INPUT, 1);
        l.y[t] = tensor(3, BATCH, HIDDEN, 1);
    }
    l.h = tensor(3, 1, BATCH, HIDDEN);
    l.c = tensor(3, 1, BATCH, HIDDEN);
    l.w = tensor(3, 200, 1, 1);
    l.xs = sequence(INPUT, STEPS, STEPS);
    l.ys = sequence(HIDDEN, STEPS, STEPS);
    l.memory = memory_zero("m", BYTES);
    API->miopenGetRNNParamsSize(world.handle, l.rnn, l.x[0], &l.weights, miopenFloat);
    API->miopenGetRNNTempSpaceSizes(world.handle, l.rnn, l.xs, miopenRNNTraining, &l.workspace,
                                    &l.reserve);
    return l;
}

/* Part `n` of the memory; NULL for the one that is left out. */
static void *part(const struct lstm *l, int n, int leave_out)
{
    return n == leave_out ? NULL : (char *)l->memory.device + n * (BYTES / 16);
}

enum { X, W, Y, HX, CX, HY, CY, DX, DW, DY, WORK, RESERVE = 13, NONE = 99 };

/* Forward and backward with tensors of steps. */
static void run_steps(const struct lstm *l, int leave_out)
{
    called("RNNForwardTraining",
           API->miopenRNNForwardTraining(world.handle, l->rnn, l->steps, l->x,
                                         part(l, X, leave_out), l->h, part(l, HX, leave_out), l->c,
                                         part(l, CX, leave_out), l->w, part(l, W, leave_out), l->y,
                                         part(l, Y, leave_out), l->h, part(l, HY, leave_out), l->c,
                                         part(l, CY, leave_out), part(l, WORK, leave_out),
                                         l->workspace, part(l, RESERVE, leave_out), l->reserve));
    called("RNNBackwardData",
           API->miopenRNNBackwardData(world.handle, l->rnn, l->steps, l->y, part(l, Y, leave_out),
                                      l->y, part(l, DY, leave_out), l->h, NULL, l->c, NULL, l->w,
                                      part(l, W, leave_out), l->h, part(l, HX, leave_out), l->c,
                                      part(l, CX, leave_out), l->x, part(l, DX, leave_out), l->h,
                                      NULL, l->c, NULL, part(l, WORK, leave_out), l->workspace,
                                      part(l, RESERVE, leave_out), l->reserve));
    called("RNNBackwardWeights",
           API->miopenRNNBackwardWeights(
               world.handle, l->rnn, l->steps, l->x, part(l, X, leave_out), l->h,
               part(l, HX, leave_out), l->y, part(l, Y, leave_out), l->w, part(l, DW, leave_out),
               part(l, WORK, leave_out), l->workspace, part(l, RESERVE, leave_out), l->reserve));
    called("RNNForwardInference",
           API->miopenRNNForwardInference(
               world.handle, l->rnn, l->steps, l->x, part(l, X, leave_out), l->h,
               part(l, HX, leave_out), l->c, part(l, CX, leave_out), l->w, part(l, W, leave_out),
               l->y, part(l, Y, leave_out), l->h, part(l, HY, leave_out), l->c,
               part(l, CY, leave_out), part(l, WORK, leave_out), l->workspace));
    if (!world_wait()) record_note("device=lost");
}

/* The same with sequence tensors. */
static void run_sequences(const struct lstm *l, int leave_out)
{
    for (int i = 0; i < 2; i++)
        called(i ? "RNNForward-inference" : "RNNForward-training",
               API->miopenRNNForward(world.handle, l->rnn,
                                     i ? miopenRNNInference : miopenRNNTraining, l->xs,
                                     part(l, X, leave_out), l->h, part(l, HX, leave_out),
                                     part(l, HY, leave_out), l->c, part(l, CX, leave_out),
                                     part(l, CY, leave_out), l->ys, part(l, Y, leave_out),
                                     part(l, W, leave_out), l->weights, part(l, WORK, leave_out),
                                     l->workspace, part(l, RESERVE, leave_out), l->reserve));
    called("RNNBackwardSeqData",
           API->miopenRNNBackwardSeqData(
               world.handle, l->rnn, l->ys, part(l, Y, leave_out), part(l, DY, leave_out), l->h,
               part(l, HX, leave_out), NULL, NULL, l->c, part(l, CX, leave_out), NULL, NULL, l->xs,
               part(l, DX, leave_out), part(l, W, leave_out), l->weights, part(l, WORK, leave_out),
               l->workspace, part(l, RESERVE, leave_out), l->reserve));
    called("RNNBackwardWeightsSeqTensor",
           API->miopenRNNBackwardWeightsSeqTensor(
               world.handle, l->rnn, l->xs, part(l, X, leave_out), l->h, part(l, HX, leave_out),
               l->ys, part(l, Y, leave_out), part(l, DW, leave_out), l->weights,
               part(l, WORK, leave_out), l->workspace, part(l, RESERVE, leave_out), l->reserve));
    if (!world_wait()) record_note("device=lost");
}

static void without(int leave_out)
{
    struct lstm l = right_lstm();
    run_steps(&l, leave_out);
    run_sequences(&l, leave_out);
}

void hostile_rnn_nothing(void)
{
    without(NONE);
}

void hostile_rnn_null_x(void)
{
    without(X);
}

void hostile_rnn_null_w(void)
{
    without(W);
}

void hostile_rnn_null_y(void)
{
    without(Y);
}

void hostile_rnn_null_states(void)
{
    struct lstm l = right_lstm();
    run_steps(&l, HX);
    run_sequences(&l, CX);
}

void hostile_rnn_weights_small(void)
{
    struct lstm l = right_lstm();
    l.weights -= 4;
    run_sequences(&l, NONE);
}

void hostile_rnn_workspace_small(void)
{
    struct lstm l = right_lstm();
    l.workspace = 8;
    run_steps(&l, NONE);
    run_sequences(&l, NONE);
}

void hostile_rnn_reserve_small(void)
{
    struct lstm l = right_lstm();
    l.reserve = 8;
    run_steps(&l, NONE);
    run_sequences(&l, NONE);
}

void hostile_rnn_reserve_none(void)
{
    struct lstm l = right_lstm();
    l.reserve = 0;
    run_sequences(&l, RESERVE);
}

void hostile_rnn_w_desc_small(void)
{
    struct lstm l = right_lstm();
    const int one[3] = { 1, 1, 1 };
    reshape(l.w, miopenFloat, 3, one);
    run_steps(&l, NONE);
}

void hostile_rnn_state_ranks(void)
{
    struct lstm l = right_lstm();
    l.c = tensor(2, BATCH, HIDDEN, 1);
    run_sequences(&l, NONE);
}

void hostile_rnn_state_misfit(void)
{
    struct lstm l = right_lstm();
    l.h = tensor(3, 1, BATCH, HIDDEN + 1);
    run_steps(&l, NONE);
}

void hostile_rnn_steps_zero(void)
{
    struct lstm l = right_lstm();
    size_t bytes = 12345;
    l.steps = 0;
    called("GetRNNWorkspaceSize",
           API->miopenGetRNNWorkspaceSize(world.handle, l.rnn, 0, l.x, &bytes));
    run_steps(&l, NONE);
}

void hostile_rnn_steps_grow(void)
{
    struct lstm l = right_lstm();
    const int x[3] = { BATCH - 1, INPUT, 1 }, y[3] = { BATCH - 1, HIDDEN, 1 };
    reshape(l.x[0], miopenFloat, 3, x);
    reshape(l.y[0], miopenFloat, 3, y);
    run_steps(&l, NONE);
}

void hostile_rnn_width_misfit(void)
{
    struct lstm l = right_lstm();
    const int y[3] = { BATCH, HIDDEN + 1, 1 };
    for (int t = 0; t < STEPS; t++) reshape(l.y[t], miopenFloat, 3, y);
    run_steps(&l, NONE);
}

void hostile_rnn_sequence_misfit(void)
{
    struct lstm l = right_lstm();
    l.ys = sequence(HIDDEN, STEPS, STEPS - 1);
    run_sequences(&l, NONE);
}

void hostile_rnn_types(void)
{
    struct lstm l = right_lstm();
    const int x[3] = { BATCH, INPUT, 1 };
    size_t bytes = 12345;
    reshape(l.x[0], miopenHalf, 3, x);
    called("GetRNNParamsSize",
           API->miopenGetRNNParamsSize(world.handle, l.rnn, l.x[0], &bytes, miopenFloat));
    called("GetRNNParamsSize",
           API->miopenGetRNNParamsSize(world.handle, l.rnn, l.x[1], &bytes, miopenHalf));
    called("GetRNNWorkspaceSize",
           API->miopenGetRNNWorkspaceSize(world.handle, l.rnn, STEPS, l.x, &bytes));
    called("GetRNNTrainingReserveSize",
           API->miopenGetRNNTrainingReserveSize(world.handle, l.rnn, STEPS, l.x, &bytes));
    called("GetRNNLayerParamSize",
           API->miopenGetRNNLayerParamSize(world.handle, l.rnn, 0, l.x[0], 0, &bytes));
}

static void set(int hidden, int layers, int input, int direction, int mode, int bias, int type)
{
    miopenRNNDescriptor_t rnn = NULL;
    API->miopenCreateRNNDescriptor(&rnn);
    called("SetRNNDescriptor",
           API->miopenSetRNNDescriptor(rnn, hidden, layers, (miopenRNNInputMode_t)input,
                                       (miopenRNNDirectionMode_t)direction, (miopenRNNMode_t)mode,
                                       (miopenRNNBiasMode_t)bias, miopenRNNdefault,
                                       (miopenDataType_t)type));
}

void hostile_rnn_descriptor(void)
{
    set(-1, 1, 0, 0, 2, 1, miopenFloat);
    set(4, -1, 0, 0, 2, 1, miopenFloat);
    set(0, 0, 0, 0, 2, 1, miopenFloat);
    set(4, 1, 0, 2, 2, 1, miopenFloat);
    set(4, 1, 0, 0, 4, 1, miopenFloat);
    set(4, 1, 0, 0, 2, 2, miopenFloat);
    set(4, 1, 0, 0, 2, 1, miopenBFloat16);
    set(4, 1, 0, 0, 2, 1, miopenInt32);
}

void hostile_rnn_padding_mode(void)
{
    struct lstm l = right_lstm();
    called("SetRNNPaddingMode", API->miopenSetRNNPaddingMode(l.rnn, (miopenRNNPaddingMode_t)7));
}

void hostile_rnn_skip_misfit(void)
{
    struct lstm l = right_lstm();
    size_t bytes = 12345;
    API->miopenSetRNNDescriptor(l.rnn, HIDDEN, 1, miopenRNNskip, miopenRNNunidirection, miopenLSTM,
                                miopenRNNwithBias, miopenRNNdefault, miopenFloat);
    called("GetRNNParamsSize",
           API->miopenGetRNNParamsSize(world.handle, l.rnn, l.x[0], &bytes, miopenFloat));
    called("GetRNNLayerParamOffset",
           API->miopenGetRNNLayerParamOffset(l.rnn, 0, l.x[0], 0, l.w, &bytes));
    called("SetRNNLayerParam",
           API->miopenSetRNNLayerParam(world.handle, l.rnn, 0, l.x[0], l.w, l.memory.device, 0, l.w,
                                       l.memory.device));
}

void hostile_rnn_param_nulls(void)
{
    struct lstm l = right_lstm();
    called("SetRNNLayerParam", API->miopenSetRNNLayerParam(world.handle, l.rnn, 0, l.x[0], l.w,
                                                           l.memory.device, 0, l.w, NULL));
    called("SetRNNLayerBias", API->miopenSetRNNLayerBias(world.handle, l.rnn, 0, l.x[0], l.w,
                                                         l.memory.device, 0, l.w, NULL));
    called("GetRNNLayerParamOffset",
           API->miopenGetRNNLayerParamOffset(l.rnn, 0, l.x[0], 0, l.w, NULL));
    called("GetRNNLayerBiasOffset",
           API->miopenGetRNNLayerBiasOffset(l.rnn, 0, l.x[0], 0, l.w, NULL));
}

void hostile_rnn_lengths(void)
{
    sequence(INPUT, STEPS + 1, 1);
    sequence(INPUT, -1, 1);
    sequence(INPUT, STEPS, 0);
    sequence(0, STEPS, 1);
}

/* Without padding the longest comes first. */
void hostile_rnn_packed_mixed(void)
{
    struct lstm l = right_lstm();
    l.xs = sequence_as(miopenRNNDataSeqMajorNotPadded, INPUT, STEPS - 1, STEPS);
    l.ys = sequence_as(miopenRNNDataSeqMajorNotPadded, HIDDEN, STEPS - 1, STEPS);
    run_sequences(&l, NONE);
}

void hostile_rnn_empty(void)
{
    struct lstm l = right_lstm();
    l.xs = sequence(INPUT, STEPS, 0);
    l.ys = sequence(HIDDEN, STEPS, 0);
    run_sequences(&l, NONE);
}
