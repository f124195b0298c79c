/* test_faults.c: the drop-in on a HIP library whose calls fail, each in turn, once and for good: a
 * status, nothing left behind, no error left with HIP that somebody else would stumble over; and
 * once HIP is well again, so is the library. usage: test_faults FAKE-HIP-LIBRARY */
#include "hostile.h"

#include "hip_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* After some errors a device is lost to the process for good; after others it works again. */
enum { OUT_OF_MEMORY = 2, NO_DEVICE = 100, ILLEGAL_ADDRESS = 700, UNKNOWN = 12345 };
static const int passing[] = { OUT_OF_MEMORY, UNKNOWN };
static const int all[] = { OUT_OF_MEMORY, UNKNOWN, NO_DEVICE, ILLEGAL_ADDRESS };

/* The memory of the calls below, from before anything fails. */
static struct client_conv conv;
static struct client_norm norm;

/* ---- what is done; each returns a status ---- */

static int use_immediate(miopenHandle_t handle)
{
    int status = 0;
    for (int pass = 0; pass < CLIENT_PASSES && !status; pass++)
        status = client_immediate(handle, &conv, (enum client_pass)pass, false);
    return status;
}

static int use_find(miopenHandle_t handle)
{
    int status = 0;
    for (int pass = 0; pass < CLIENT_PASSES && !status; pass++) {
        int algorithm = -1;
        status = client_find(handle, &conv, (enum client_pass)pass, &algorithm);
        if (!status) status = client_found(handle, &conv, (enum client_pass)pass, algorithm);
    }
    return status;
}

static int use_norm(miopenHandle_t handle)
{
    int status = client_norm_train(handle, &norm);
    if (!status) status = client_norm_infer(handle, &norm);
    if (!status) status = client_norm_backward(handle, &norm);
    return status;
}

static int use_tensors(miopenHandle_t handle)
{
    const float two = 2, one = 1, zero = 0;
    int status = miopenSetTensor(handle, conv.x_desc, conv.x, &two);
    if (!status) status = miopenScaleTensor(handle, conv.x_desc, conv.x, &two);
    if (!status)
        status = miopenTransformTensor(handle, &one, conv.x_desc, conv.x, &zero, norm.desc, norm.x);
    if (!status)
        status = miopenOpTensor(handle, miopenTensorOpAdd, &one, conv.x_desc, conv.x, &one,
                                conv.x_desc, conv.x, &zero, norm.desc, norm.y);
    return status;
}

/* An LSTM of two layers and directions with dropout: all passes. Its memory is `space`, in parts.
 */
enum { SPACE = 1 << 20, STEPS = 2, UNITS = 4 };
static char *space;
static int use_rnn(miopenHandle_t handle)
{
    miopenRNNDescriptor_t rnn = NULL;
    miopenDropoutDescriptor_t dropout = NULL;
    miopenTensorDescriptor_t x = NULL, y = NULL, h = NULL;
    const int in[] = { 3, UNITS }, out[] = { 3, 2 * UNITS }, states[] = { 4, 3, UNITS };
    size_t work = 0, reserve = 0;
    char *part[8];
    for (int i = 0; i < 8; i++) part[i] = space + i * (SPACE / 8);
    int status = miopenCreateRNNDescriptor(&rnn);
    if (!status) status = miopenCreateDropoutDescriptor(&dropout);
    if (!status) status = miopenCreateTensorDescriptor(&x);
    if (!status) status = miopenCreateTensorDescriptor(&y);
    if (!status) status = miopenCreateTensorDescriptor(&h);
    if (!status) status = miopenSetTensorDescriptor(x, miopenFloat, 2, in, NULL);
    if (!status) status = miopenSetTensorDescriptor(y, miopenFloat, 2, out, NULL);
    if (!status) status = miopenSetTensorDescriptor(h, miopenFloat, 3, states, NULL);
    if (!status)
        status = miopenSetDropoutDescriptor(dropout, handle, 0.5f, part[7], SPACE / 8, 1, false,
                                            false, MIOPEN_RNG_PSEUDO_XORWOW);
    if (!status)
        status =
            miopenSetRNNDescriptor_V2(rnn, UNITS, 2, dropout, miopenRNNlinear, miopenRNNbidirection,
                                      miopenLSTM, miopenRNNwithBias, miopenRNNdefault, miopenFloat);
    const miopenTensorDescriptor_t xs[STEPS] = { x, x }, ys[STEPS] = { y, y };
    if (!status) status = miopenGetRNNWorkspaceSize(handle, rnn, STEPS, xs, &work);
    if (!status) status = miopenGetRNNTrainingReserveSize(handle, rnn, STEPS, xs, &reserve);
    if (!status)
        status = miopenRNNForwardTraining(handle, rnn, STEPS, xs, part[0], h, NULL, h, NULL, x,
                                          part[1], ys, part[2], h, part[3], h, NULL, part[4], work,
                                          part[5], reserve);
    if (!status)
        status = miopenRNNBackwardData(handle, rnn, STEPS, ys, part[2], ys, part[2], h, NULL, h,
                                       NULL, x, part[1], h, NULL, h, NULL, xs, part[6], h, part[3],
                                       h, NULL, part[4], work, part[5], reserve);
    if (!status)
        status = miopenRNNBackwardWeights(handle, rnn, STEPS, xs, part[0], h, NULL, ys, part[2], x,
                                          part[1], part[4], work, part[5], reserve);
    if (!status)
        status = miopenRNNForwardInference(handle, rnn, STEPS, xs, part[0], h, NULL, h, NULL, x,
                                           part[1], ys, part[2], h, NULL, h, NULL, part[4], work);
    miopenDestroyTensorDescriptor(x);
    miopenDestroyTensorDescriptor(y);
    miopenDestroyTensorDescriptor(h);
    miopenDestroyRNNDescriptor(rnn);
    miopenDestroyDropoutDescriptor(dropout);
    return status;
}

/* CTC loss with labels on the host, and normalisations, both passes. */
static int use_losses(miopenHandle_t handle)
{
    const int size[] = { 4, 2, 5 }, inner[] = { 5 }, outer[] = { 8 };
    const int labels[] = { 1, 2, 2 }, label_lengths[] = { 1, 2 }, input_lengths[] = { 3, 4 };
    miopenCTCLossDescriptor_t ctc = NULL;
    miopenTensorDescriptor_t x = NULL, w = NULL, row = NULL;
    size_t bytes = 0;
    char *part[8];
    for (int i = 0; i < 8; i++) part[i] = space + i * (SPACE / 8);
    int status = miopenCreateCTCLossDescriptor(&ctc);
    if (!status) status = miopenCreateTensorDescriptor(&x);
    if (!status) status = miopenCreateTensorDescriptor(&w);
    if (!status) status = miopenCreateTensorDescriptor(&row);
    if (!status) status = miopenSetTensorDescriptor(x, miopenFloat, 3, size, NULL);
    if (!status) status = miopenSetTensorDescriptor(w, miopenFloat, 1, inner, NULL);
    if (!status) status = miopenSetTensorDescriptor(row, miopenFloat, 1, outer, NULL);
    if (!status)
        status = miopenGetCTCLossWorkspaceSize(handle, x, x, labels, label_lengths, input_lengths,
                                               MIOPEN_CTC_LOSS_ALGO_DETERMINISTIC, ctc, &bytes);
    if (!status)
        status = miopenCTCLoss(handle, x, part[0], labels, label_lengths, input_lengths, part[1], x,
                               part[2], MIOPEN_CTC_LOSS_ALGO_DETERMINISTIC, ctc, part[3], bytes);
    if (!status)
        status = miopenLayerNormForward(handle, MIOPEN_WEIGHT_BIAS, x, part[0], w, part[1], w,
                                        part[2], 1e-5f, 2, x, part[3], row, part[4], row, part[5]);
    if (!status)
        status = miopenLayerNormBackward(handle, MIOPEN_WEIGHT_BIAS, NULL, 0, x, part[3], x,
                                         part[0], w, part[1], row, part[4], row, part[5], 2, x,
                                         part[2], w, part[6], w, part[7]);
    if (!status)
        status = miopenT5LayerNormForward(handle, MIOPEN_WEIGHT_BIAS_T5, x, part[0], w, part[1],
                                          1e-5f, x, part[3], row, part[5]);
    if (!status)
        status =
            miopenT5LayerNormBackward(handle, MIOPEN_WEIGHT_BIAS_T5, NULL, 0, x, part[3], x,
                                      part[0], w, part[1], row, part[5], x, part[2], w, part[6]);
    miopenDestroyTensorDescriptor(x);
    miopenDestroyTensorDescriptor(w);
    miopenDestroyTensorDescriptor(row);
    miopenDestroyCTCLossDescriptor(ctc);
    return status;
}

/* An activation, dropout, a loss that is summed, and Adam with outputs apart. */
static int use_elements(miopenHandle_t handle)
{
    const float one = 1, zero = 0;
    const int sizes[] = { 40, 50 }, single[] = { 1 };
    miopenActivationDescriptor_t activation = NULL;
    miopenDropoutDescriptor_t dropout = NULL;
    miopenTensorDescriptor_t x = NULL, scalar = NULL;
    char *part[12];
    for (int i = 0; i < 12; i++) part[i] = space + i * (SPACE / 16);
    int status = miopenCreateActivationDescriptor(&activation);
    if (!status) status = miopenCreateDropoutDescriptor(&dropout);
    if (!status) status = miopenCreateTensorDescriptor(&x);
    if (!status) status = miopenCreateTensorDescriptor(&scalar);
    if (!status) status = miopenSetTensorDescriptor(x, miopenFloat, 2, sizes, NULL);
    if (!status) status = miopenSetTensorDescriptor(scalar, miopenFloat, 1, single, NULL);
    if (!status) status = miopenSetActivationDescriptor(activation, miopenActivationTANH, 1, 1, 0);
    if (!status)
        status = miopenActivationForward(handle, activation, &one, x, part[0], &zero, x, part[1]);
    if (!status)
        status = miopenActivationBackward(handle, activation, &one, x, part[1], x, part[2], x,
                                          part[0], &zero, x, part[3]);
    if (!status)
        status = miopenSetDropoutDescriptor(dropout, handle, 0.5f, part[4], 1024, 1, false, true,
                                            MIOPEN_RNG_PSEUDO_XORWOW);
    if (!status)
        status = miopenDropoutForward(handle, dropout, x, x, part[0], x, part[1], part[5], 2000);
    if (!status)
        status = miopenSoftMarginLossForward(handle, x, part[0], x, part[1], scalar, part[2],
                                             MIOPEN_LOSS_REDUCTION_MEAN, NULL, 0);
    if (!status)
        status = miopenFusedAdamWithOutput(
            handle, x, part[0], x, part[6], NULL, NULL, x, part[1], x, part[2], x, part[7], x,
            part[3], x, part[8], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0.1f, 0.9f,
            0.999f, 0, 1e-8f, false, false, false, NULL, NULL, NULL, NULL);
    miopenDestroyTensorDescriptor(x);
    miopenDestroyTensorDescriptor(scalar);
    miopenDestroyActivationDescriptor(activation);
    miopenDestroyDropoutDescriptor(dropout);
    return status;
}

/* Max pooling and LRN, both passes. */
static int use_pool(miopenHandle_t handle)
{
    const float one = 1, zero = 0;
    miopenPoolingDescriptor_t pool = NULL;
    miopenLRNDescriptor_t lrn = NULL;
    miopenTensorDescriptor_t x = NULL, y = NULL;
    char *part[5];
    for (int i = 0; i < 5; i++) part[i] = space + i * (SPACE / 8);
    int status = miopenCreatePoolingDescriptor(&pool);
    if (!status) status = miopenCreateLRNDescriptor(&lrn);
    if (!status) status = miopenCreateTensorDescriptor(&x);
    if (!status) status = miopenCreateTensorDescriptor(&y);
    if (!status) status = miopenSet4dTensorDescriptor(x, miopenFloat, 2, 3, 8, 8);
    if (!status) status = miopenSet4dTensorDescriptor(y, miopenFloat, 2, 3, 4, 4);
    if (!status) status = miopenSet2dPoolingDescriptor(pool, miopenPoolingMax, 2, 2, 0, 0, 2, 2);
    if (!status) status = miopenSetLRNDescriptor(lrn, miopenLRNCrossChannel, 3, 1, 0.75, 1);
    if (!status)
        status = miopenPoolingForward(handle, pool, &one, x, part[0], &zero, y, part[1], true,
                                      part[2], SPACE / 8);
    if (!status)
        status = miopenPoolingBackward(handle, pool, &one, y, part[1], y, part[1], x, part[0],
                                       &zero, x, part[3], part[2]);
    if (!status)
        status = miopenLRNForward(handle, lrn, &one, x, part[0], &zero, x, part[1], true, part[2]);
    if (!status)
        status = miopenLRNBackward(handle, lrn, &one, x, part[1], x, part[3], x, part[0], &zero, x,
                                   part[4], part[2]);
    miopenDestroyTensorDescriptor(x);
    miopenDestroyTensorDescriptor(y);
    miopenDestroyPoolingDescriptor(pool);
    miopenDestroyLRNDescriptor(lrn);
    return status;
}

/* Sequence tensors with gaps whose longest is the last: copied there and back. */
static int use_sequences(miopenHandle_t handle)
{
    miopenRNNDescriptor_t rnn = NULL;
    miopenSeqTensorDescriptor_t x = NULL, y = NULL;
    miopenTensorDescriptor_t h = NULL;
    const int lengths[] = { 1, 3, 2 }, states[] = { 1, 3, UNITS };
    size_t work = 0, reserve = 0;
    char *part[8];
    for (int i = 0; i < 8; i++) part[i] = space + i * (SPACE / 8);
    int status = miopenCreateRNNDescriptor(&rnn);
    if (!status) status = miopenCreateTensorDescriptor(&h);
    if (!status) status = miopenCreateSeqTensorDescriptor(&x);
    if (!status) status = miopenCreateSeqTensorDescriptor(&y);
    if (!status) status = miopenSetTensorDescriptor(h, miopenFloat, 3, states, NULL);
    if (!status)
        status = miopenSetRNNDescriptor(rnn, UNITS, 1, miopenRNNlinear, miopenRNNunidirection,
                                        miopenGRU, miopenRNNNoBias, miopenRNNdefault, miopenFloat);
    miopenSeqTensorDescriptor_t sequences[] = { x, y };
    for (int i = 0; i < 2 && !status; i++)
        status = miopenSetRNNDataSeqTensorDescriptor(
            sequences[i], miopenFloat, miopenRNNDataBatchMajorPadded, 3, 3, UNITS, lengths, NULL);
    if (!status)
        status = miopenGetRNNTempSpaceSizes(handle, rnn, x, miopenRNNTraining, &work, &reserve);
    if (!status)
        status = miopenRNNForward(handle, rnn, miopenRNNTraining, x, part[0], h, part[3], part[6],
                                  h, NULL, NULL, y, part[2], part[1], SPACE / 8, part[4], work,
                                  part[5], reserve);
    if (!status)
        status = miopenRNNBackwardSeqData(handle, rnn, y, part[2], part[2], h, part[3], NULL,
                                          part[6], h, NULL, NULL, NULL, x, part[7], part[1],
                                          SPACE / 8, part[4], work, part[5], reserve);
    miopenDestroyTensorDescriptor(h);
    miopenDestroySeqTensorDescriptor(x);
    miopenDestroySeqTensorDescriptor(y);
    miopenDestroyRNNDescriptor(rnn);
    return status;
}

/* Convolution, bias, batch norm and ReLU in one plan, which is two launches. */
static int use_fusion(miopenHandle_t handle)
{
    miopenFusionPlanDescriptor_t plan = NULL;
    miopenFusionOpDescriptor_t conv_op = NULL, bias_op = NULL, norm_op = NULL, relu_op = NULL;
    miopenOperatorArgs_t args = NULL;
    miopenTensorDescriptor_t b = NULL;
    const int k[] = { 1, conv.shape.k, 1, 1 };
    const float one = 1, zero = 0;
    int status = miopenCreateTensorDescriptor(&b);
    if (!status) status = miopenSetTensorDescriptor(b, miopenFloat, 4, k, NULL);
    if (!status) status = miopenCreateFusionPlan(&plan, miopenVerticalFusion, conv.x_desc);
    if (!status) status = miopenCreateOpConvForward(plan, &conv_op, conv.desc, conv.w_desc);
    if (!status) status = miopenCreateOpBiasForward(plan, &bias_op, b);
    if (!status) status = miopenCreateOpBatchNormInference(plan, &norm_op, miopenBNSpatial, b);
    if (!status) status = miopenCreateOpActivationForward(plan, &relu_op, miopenActivationRELU);
    if (!status) status = miopenCompileFusionPlan(handle, plan);
    if (!status) status = miopenCreateOperatorArgs(&args);
    if (!status) status = miopenSetOpArgsConvForward(args, conv_op, &one, &zero, conv.w);
    if (!status) status = miopenSetOpArgsBiasForward(args, bias_op, &one, &zero, space);
    if (!status)
        status = miopenSetOpArgsBatchNormInference(args, norm_op, &one, &zero, space, space, space,
                                                   space, 1e-5);
    if (!status) status = miopenSetOpArgsActivForward(args, relu_op, &one, &zero, 0, 0, 0);
    if (!status)
        status =
            miopenExecuteFusionPlan(handle, plan, conv.x_desc, conv.x, conv.y_desc, conv.y, args);
    miopenDestroyOperatorArgs(args);
    miopenDestroyFusionPlan(plan);
    miopenDestroyTensorDescriptor(b);
    return status;
}

/* Softmax both ways, an extreme with its index, a concatenation, a k-th value. */
static int use_reductions(miopenHandle_t handle)
{
    miopenReduceTensorDescriptor_t reduce = NULL;
    miopenTensorDescriptor_t x = NULL, y = NULL, both = NULL;
    const int whole[] = { 6, 32 }, part[] = { 6, 1 }, twice[] = { 12, 32 };
    const float one = 1, zero = 0;
    char *at[5];
    for (int i = 0; i < 5; i++) at[i] = space + i * (SPACE / 8);
    int status = miopenCreateReduceTensorDescriptor(&reduce);
    if (!status) status = miopenCreateTensorDescriptor(&x);
    if (!status) status = miopenCreateTensorDescriptor(&y);
    if (!status) status = miopenCreateTensorDescriptor(&both);
    if (!status) status = miopenSetTensorDescriptor(x, miopenFloat, 2, whole, NULL);
    if (!status) status = miopenSetTensorDescriptor(y, miopenFloat, 2, part, NULL);
    if (!status) status = miopenSetTensorDescriptor(both, miopenFloat, 2, twice, NULL);
    if (!status)
        status = miopenSetReduceTensorDescriptor(
            reduce, MIOPEN_REDUCE_TENSOR_MAX, miopenFloat, MIOPEN_PROPAGATE_NAN,
            MIOPEN_REDUCE_TENSOR_FLATTENED_INDICES, MIOPEN_32BIT_INDICES);
    if (!status) status = miopenSoftmaxForward(handle, &one, x, at[0], &zero, x, at[1]);
    if (!status) status = miopenSoftmaxBackward(handle, &one, x, at[1], x, at[0], &zero, x, at[2]);
    if (!status)
        status = miopenReduceTensor(handle, reduce, at[3], SPACE / 8, NULL, 0, &one, x, at[0],
                                    &zero, y, at[1]);
    const miopenTensorDescriptor_t xs[] = { x, x };
    const void *const memory[] = { at[0], at[1] };
    if (!status) status = miopenCatForward(handle, 2, xs, memory, both, at[2], 0);
    if (!status)
        status = miopenKthvalueForward(handle, x, at[0], y, at[1], y, (size_t *)(void *)at[3], 7, 1,
                                       true);
    miopenDestroyTensorDescriptor(x);
    miopenDestroyTensorDescriptor(y);
    miopenDestroyTensorDescriptor(both);
    miopenDestroyReduceTensorDescriptor(reduce);
    return status;
}

/* One pass of attention with one scale, one largest magnitude and k that is not packed. */
static int use_attention_pass(miopenHandle_t handle, miopenMhaDescriptor_t desc, bool backward,
                              const miopenTensorDescriptor_t tensor[4])
{
    static const miopenTensorArgumentId_t ids[2][13] = {
        { miopenTensorMhaQ, miopenTensorMhaK, miopenTensorMhaV, miopenTensorMhaO, miopenTensorMhaM,
          miopenTensorMhaZInv, miopenTensorMhaDescaleK, miopenTensorMhaAmaxO },
        { miopenTensorMhaQ, miopenTensorMhaK, miopenTensorMhaV, miopenTensorMhaDO, miopenTensorMhaM,
          miopenTensorMhaZInv, miopenTensorMhaDescaleK, miopenTensorMhaAmaxDQ, miopenTensorMhaDQ,
          miopenTensorMhaDK, miopenTensorMhaDV }
    };
    static const int kinds[13] = { 0, 1, 0, 0, 2, 2, 3, 3, 0, 1, 0 }; /* of `tensor` */
    miopenProblem_t problem = NULL;
    miopenSolution_t solution = NULL;
    miopenTensorArgument_t arguments[13];
    size_t n = 0, found = 0;
    int status = miopenCreateMhaProblem(
        &problem, desc, backward ? miopenProblemDirectionBackward : miopenProblemDirectionForward);
    for (; !status && ids[backward][n]; n++) {
        arguments[n] = (miopenTensorArgument_t){ ids[backward][n], NULL, space + n * (SPACE / 16) };
        status = miopenSetProblemTensorDescriptor(problem, ids[backward][n], tensor[kinds[n]]);
    }
    if (!status) status = miopenFindSolutions(handle, problem, NULL, &solution, &found, 1);
    if (!status && !found) status = miopenStatusUnsupportedOp;
    if (!status) status = miopenRunSolution(handle, solution, n, arguments, NULL, 0);
    miopenDestroySolution(solution);
    miopenDestroyProblem(problem);
    return status;
}

static int use_attention(miopenHandle_t handle)
{
    static miopenMhaDescriptor_t desc; /* nothing destroys one */
    static const int sizes[4][4] = {
        { 1, 2, 6, 8 }, { 1, 2, 6, 8 }, { 1, 2, 6, 1 }, { 1, 1, 1, 1 }
    };
    static const int strides[4][4] = {
        { 96, 48, 8, 1 }, { 108, 54, 9, 1 }, { 12, 6, 1, 1 }, { 1, 1, 1, 1 }
    };
    miopenTensorDescriptor_t tensor[4] = { NULL };
    int status = desc ? 0 : miopenCreateMhaDescriptor(&desc);
    for (int i = 0; i < 4 && !status; i++) {
        status = miopenCreateTensorDescriptor(&tensor[i]);
        if (!status)
            status = miopenSetTensorDescriptor(tensor[i], miopenFloat, 4, sizes[i], strides[i]);
    }
    for (int backward = 0; backward < 2 && !status; backward++)
        status = use_attention_pass(handle, desc, backward, tensor);
    for (int i = 0; i < 4; i++) miopenDestroyTensorDescriptor(tensor[i]);
    return status;
}

/* With a handle of its own, from its creation to its end. */
static int (*use)(miopenHandle_t handle);
static int live(void)
{
    miopenHandle_t handle = NULL;
    int status = miopenCreate(&handle);
    if (status) return status;
    status = miopenSetStream(handle, NULL);
    if (!status) status = use(handle);
    const int end = miopenDestroy(handle);
    hostile_assert_status(end, "miopenDestroy");
    return status;
}

/* ---- failing ---- */

static void check_after(const char *name, int status)
{
    hostile_assert_status(status, name);
    if (fake->last) fail_msg("%s fails, and HIP still says so", name);
}

/* Every call of one life, in a process that has used the library before. Whether a failure is one
 * of the life is the library's to say; what it must not do is to say success without having
 * launched (`exact`; a search may leave out what fails). The number of calls that failed. */
static int fail_each_call(int code, int sticky, bool exact)
{
    int n_failed = 0;
    world_calm();
    GOOD(live()); /* the device is open now, and kernels are loaded */
    world_calm();
    GOOD(live());
    const long n = fake->calls, n_live = fake->live, launches = fake->launches;
    for (long i = 1; i <= n; i++) {
        world_calm();
        fake->fail_at = i;
        fake->code = code;
        fake->sticky = sticky;
        const int status = live();
        const char *name = fake->failed;
        if (!name) break; /* what was searched for is remembered */
        n_failed++;
        if (exact && !status && fake->launches < launches)
            fail_msg("%s fails, and nobody is told", name);
        check_after(name, status);
        world_calm();
        GOOD(live());
        if (fake->live > n_live)
            fail_msg("%s fails, %ld objects are left", name, fake->live - n_live);
    }
    return n_failed;
}

static void fail_calls(int (*what)(miopenHandle_t), bool exact)
{
    use = what;
    for (size_t i = 0; i < LENGTH(passing); i++)
        for (int sticky = 0; sticky < 2; sticky++)
            assert_true(fail_each_call(passing[i], sticky, exact) > 0);
}

static void immediate_mode(void **state)
{
    (void)state;
    fail_calls(use_immediate, true);
}

static void find_mode(void **state)
{
    (void)state;
    fail_calls(use_find, false);
}

static void batch_norm(void **state)
{
    (void)state;
    fail_calls(use_norm, true);
}

static void tensor_operations(void **state)
{
    (void)state;
    fail_calls(use_tensors, true);
}

static void recurrent_networks(void **state)
{
    (void)state;
    fail_calls(use_rnn, true);
}

static void losses_and_norms(void **state)
{
    (void)state;
    fail_calls(use_losses, true);
}

static void elements(void **state)
{
    (void)state;
    fail_calls(use_elements, true);
}

static void pooling(void **state)
{
    (void)state;
    fail_calls(use_pool, true);
}

static void sequence_tensors(void **state)
{
    (void)state;
    fail_calls(use_sequences, true);
}

static void fusion(void **state)
{
    (void)state;
    fail_calls(use_fusion, true);
}

static void reductions(void **state)
{
    (void)state;
    fail_calls(use_reductions, true);
}

static void attention(void **state)
{
    (void)state;
    fail_calls(use_attention, true);
}

/* ---- the first use of a process ---- */

/* Call number `at` of the very first life fails. 0: as it should be, 1: all calls were made, 2:
 * wrong. */
static int first_life(long at, int code)
{
    world_calm();
    fake->fail_at = at;
    fake->code = code;
    const int status = live();
    const bool over = !fake->failed;
    if (status < 0 || status > miopenStatusVersionMismatch || fake->last) return 2;
    world_calm();
    const bool lost = code == NO_DEVICE || code == ILLEGAL_ADDRESS;
    const int again = live();
    if (again < 0 || again > miopenStatusVersionMismatch) return 2;
    if (again && !lost) return 2; /* the second attempt works */
    return over ? 1 : 0;
}

static void the_first_use(void **state)
{
    (void)state;
    use = use_immediate;
    for (size_t i = 0; i < LENGTH(all); i++) {
        long at = 1;
        for (int answer = 0; !answer; at++) {
            int status = 0;
            fflush(NULL);
            const pid_t child = fork();
            assert_true(child >= 0);
            if (!child) {
                alarm(30);
                _exit(first_life(at, all[i]));
            }
            assert_int_equal(waitpid(child, &status, 0), child);
            if (!WIFEXITED(status)) fail_msg("call %ld: the process ends with %d", at, status);
            answer = WEXITSTATUS(status);
            if (answer == 2) fail_msg("call %ld fails with %d: wrong", at, all[i]);
        }
        assert_true(at > 20); /* describing a device alone takes a dozen */
    }
}

static int begin(void **state)
{
    (void)state;
    hostile_conv(&conv, &hostile_shape, 1);
    space = client_alloc(SPACE);
    if (!space) return 1;
    return !client_norm_init(&norm, 2, 8, 9, 7, miopenFloat) || !client_workspace(&conv, 4 << 20);
}

static int end(void **state)
{
    (void)state;
    client_free(space);
    client_conv_deinit(&conv);
    client_norm_deinit(&norm);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_use), /* the first: its children are the first users */
        cmocka_unit_test(immediate_mode),
        cmocka_unit_test(find_mode),
        cmocka_unit_test(batch_norm),
        cmocka_unit_test(tensor_operations),
        cmocka_unit_test(recurrent_networks),
        cmocka_unit_test(elements),
        cmocka_unit_test(pooling),
        cmocka_unit_test(sequence_tensors),
        cmocka_unit_test(fusion),
        cmocka_unit_test(reductions),
        cmocka_unit_test(attention),
        cmocka_unit_test(losses_and_norms),
    };
    if (argc < 2) return 99;
    hostile_begin(argv[1]);
    if (argc > 2) cmocka_set_test_filter(argv[2]);
    const int failed = cmocka_run_group_tests(tests, begin, end);
    hostile_end();
    return failed;
}
