/* test_reduce.c: softmax, reductions, concatenation, k-th values and getitem through the drop-in's
 * ABI: values against plain loops, sizes, and calls that must be refused. usage: test_reduce
 * cpu|FAKE-HIP-LIBRARY */
#include "hostile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static miopenHandle_t handle;
static const float one = 1, zero = 0;

/* ---- tensors ---- */

enum { MOST = 4096 };

struct array {
    miopenTensorDescriptor_t desc;
    void *memory;
    size_t bytes;
};

/* A tensor with room for MOST elements; strides NULL: packed. */
static struct array array_of(miopenDataType_t type, int dims, const int *size, const int *strides)
{
    struct array a = { .bytes = MOST * 8 };
    GOOD(miopenCreateTensorDescriptor(&a.desc));
    GOOD(miopenSetTensorDescriptor(a.desc, type, dims, size, strides));
    a.memory = client_alloc(a.bytes);
    assert_non_null(a.memory);
    return a;
}

static void forget(struct array *a)
{
    GOOD(miopenDestroyTensorDescriptor(a->desc));
    client_free(a->memory);
}

/* Small numbers, all different in a short tensor. */
static void fill(const struct array *a, float *host, int n)
{
    for (int i = 0; i < n; i++) host[i] = (float)((i * 37 + 11) % 101 - 50) / 16;
    client_write(a->memory, host, (size_t)n * sizeof *host);
}

static void expect(const struct array *a, const double *want, int n)
{
    static float got[MOST];
    if (!hostile_computes) return;
    client_read(got, a->memory, (size_t)n * sizeof *got);
    for (int i = 0; i < n; i++)
        if (!(fabs((double)got[i] - want[i]) <= 1e-5 * (1 + fabs(want[i]))) &&
            !(isnan(got[i]) && isnan(want[i])))
            fail_msg("element %d is %g, not %g", i, (double)got[i], want[i]);
}

static void expect_integers(const struct array *a, const int *want, int n)
{
    int got[MOST];
    if (!hostile_computes) return;
    client_read(got, a->memory, (size_t)n * sizeof *got);
    for (int i = 0; i < n; i++)
        if (got[i] != want[i]) fail_msg("element %d is %d, not %d", i, got[i], want[i]);
}

/* ---- softmax ---- */

enum { N = 3, C = 5, S = 8 }; /* images, channels, pixels */

static double softmax_of(const float *x, const int *place, int n, int i, bool log_wanted)
{
    double sum = 0;
    for (int k = 0; k < n; k++) sum += exp((double)x[place[k]]);
    return log_wanted ? (double)x[place[i]] - log(sum) : exp((double)x[place[i]]) / sum;
}

/* The elements of the line of element `at`, in memory that has channels last or not. */
static int line_of(int at, bool last, bool instance, int place[C * S], int *self)
{
    const int image = at / (C * S), inside = at % (C * S), pixel = last ? inside / C : inside % S;
    int n = 0;
    for (int i = 0; i < C * S; i++) {
        if (!instance && (last ? i / C : i % S) != pixel) continue;
        if (i == inside) *self = n;
        place[n++] = image * C * S + i;
    }
    return n;
}

static void softmax(void **state)
{
    (void)state;
    const int size[] = { N, C, 2, S / 2 }, last[] = { C * S, 1, C * S / 2, C };
    static float x[MOST], y[MOST], dy[MOST];
    static double want[MOST];
    for (int way = 0; way < 12; way++) {
        const miopenSoftmaxAlgorithm_t algorithm = (miopenSoftmaxAlgorithm_t)(way % 3);
        const miopenSoftmaxMode_t mode = (miopenSoftmaxMode_t)(way / 3 % 2);
        const bool nhwc = way >= 6, is_log = algorithm == MIOPEN_SOFTMAX_LOG;
        const bool instance = mode == MIOPEN_SOFTMAX_MODE_INSTANCE;
        const float alpha = nhwc ? -2 : 1, beta = nhwc ? 0.5f : 0;
        struct array a = array_of(miopenFloat, 4, size, nhwc ? last : NULL);
        struct array b = array_of(miopenFloat, 4, size, nhwc ? last : NULL);
        struct array c = array_of(miopenFloat, 4, size, nhwc ? last : NULL);
        fill(&a, x, N * C * S);
        fill(&b, y, N * C * S);
        int place[C * S], self = 0;
        for (int i = 0; i < N * C * S; i++) {
            const int n = line_of(i, nhwc, instance, place, &self);
            want[i] = alpha * softmax_of(x, place, n, self, is_log) + (double)(beta * y[i]);
        }
        GOOD(miopenSoftmaxForward_V2(handle, &alpha, a.desc, a.memory, &beta, b.desc, b.memory,
                                     algorithm, mode));
        expect(&b, want, N * C * S);

        GOOD(miopenSoftmaxForward_V2(handle, &one, a.desc, a.memory, &zero, b.desc, b.memory,
                                     algorithm, mode));
        client_read(y, b.memory, sizeof y);
        fill(&c, dy, N * C * S);
        for (int i = 0; i < N * C * S; i++) {
            const int n = line_of(i, nhwc, instance, place, &self);
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += (double)dy[place[k]] * (is_log ? 1 : (double)y[place[k]]);
            want[i] = is_log ? (double)dy[i] - exp((double)y[i]) * sum
                             : (double)y[i] * ((double)dy[i] - sum);
        }
        GOOD(miopenSoftmaxBackward_V2(handle, &one, b.desc, b.memory, c.desc, c.memory, &zero,
                                      a.desc, a.memory, algorithm, mode));
        expect(&a, want, N * C * S);
        forget(&a);
        forget(&b);
        forget(&c);
    }
}

static void softmax_refuses(void **state)
{
    (void)state;
    const int size[] = { N, C, 2, 4 }, other[] = { N, C, 4, 2 };
    struct array a = array_of(miopenFloat, 4, size, NULL),
                 b = array_of(miopenFloat, 4, other, NULL), c = array_of(miopenHalf, 4, size, NULL),
                 d = array_of(miopenDouble, 4, size, NULL);
    BAD_PARM(miopenSoftmaxForward(NULL, &one, a.desc, a.memory, &zero, a.desc, a.memory));
    BAD_PARM(miopenSoftmaxForward(handle, NULL, a.desc, a.memory, &zero, a.desc, a.memory));
    BAD_PARM(miopenSoftmaxForward(handle, &one, NULL, a.memory, &zero, a.desc, a.memory));
    BAD_PARM(miopenSoftmaxForward(handle, &one, a.desc, NULL, &zero, a.desc, a.memory));
    BAD_PARM(miopenSoftmaxForward(handle, &one, a.desc, a.memory, NULL, a.desc, a.memory));
    BAD_PARM(miopenSoftmaxForward(handle, &one, a.desc, a.memory, &zero, a.desc, NULL));
    BAD_PARM(miopenSoftmaxForward(handle, &one, a.desc, a.memory, &zero, b.desc, b.memory));
    BAD_PARM(miopenSoftmaxForward(handle, &one, a.desc, a.memory, &zero, c.desc, c.memory));
    assert_int_equal(miopenSoftmaxForward(handle, &one, d.desc, d.memory, &zero, d.desc, d.memory),
                     miopenStatusNotImplemented);
    BAD_PARM(miopenSoftmaxForward_V2(handle, &one, a.desc, a.memory, &zero, a.desc, a.memory,
                                     (miopenSoftmaxAlgorithm_t)3, MIOPEN_SOFTMAX_MODE_CHANNEL));
    BAD_PARM(miopenSoftmaxBackward(handle, &one, a.desc, a.memory, b.desc, b.memory, &zero, a.desc,
                                   a.memory));
    GOOD(miopenSoftmaxForward(handle, &one, a.desc, a.memory, &zero, a.desc,
                              a.memory)); /* in place */
    GOOD(miopenSoftmaxBackward(handle, &one, a.desc, a.memory, a.desc, a.memory, &zero, a.desc,
                               a.memory));

    miopenSoftmaxDescriptor_t desc = NULL;
    miopenSoftmaxAlgorithm_t algorithm;
    miopenSoftmaxMode_t mode;
    float alpha, beta;
    BAD_PARM(miopenCreateSoftmaxDescriptor(NULL));
    GOOD(miopenCreateSoftmaxDescriptor(&desc));
    GOOD(miopenSetSoftmaxDescriptor(desc, 3, 4, MIOPEN_SOFTMAX_LOG, MIOPEN_SOFTMAX_MODE_CHANNEL));
    BAD_PARM(miopenSetSoftmaxDescriptor(desc, 1, 1, MIOPEN_SOFTMAX_LOG, (miopenSoftmaxMode_t)-1));
    GOOD(miopenGetSoftmaxDescriptor(desc, &alpha, &beta, &algorithm, &mode));
    assert_true(alpha == 3 && beta == 4 && algorithm == MIOPEN_SOFTMAX_LOG &&
                mode == MIOPEN_SOFTMAX_MODE_CHANNEL);
    BAD_PARM(miopenGetSoftmaxDescriptor(desc, &alpha, NULL, &algorithm, &mode));
    BAD_PARM(miopenGetSoftmaxDescriptor((miopenSoftmaxDescriptor_t)(void *)a.desc, &alpha, &beta,
                                        &algorithm, &mode));
    forget(&a);
    forget(&b);
    forget(&c);
    forget(&d);
}

/* ---- reductions ---- */

static double reduced(int op, const float *x, int first, int *place)
{
    double sum = 0, product = 1, squares = 0, norm = 0, low = INFINITY, high = -INFINITY,
           most = -INFINITY;
    int at_low = 0, at_high = 0, at_most = 0;
    for (int i = 0; i < S; i++) {
        const double v = (double)x[first + i];
        if (isnan(v)) continue;
        sum += v, product *= v, squares += v * v, norm += fabs(v);
        if (v < low) low = v, at_low = i;
        if (v > high) high = v, at_high = i;
        if (fabs(v) > most) most = fabs(v), at_most = i;
    }
    *place = op == MIOPEN_REDUCE_TENSOR_MIN   ? at_low
             : op == MIOPEN_REDUCE_TENSOR_MAX ? at_high
                                              : at_most;
    const double all[] = { sum, product, low, high, most, sum / S, norm, sqrt(squares) };
    return all[op];
}

static void reductions(void **state)
{
    (void)state;
    const int size[] = { N, C, 1, S }, small[] = { N, C, 1, 1 };
    struct array a = array_of(miopenFloat, 4, size, NULL),
                 c = array_of(miopenFloat, 4, small, NULL),
                 indices = array_of(miopenInt32, 4, small, NULL);
    static float x[MOST], before[MOST];
    double want[N * C];
    int places[N * C];
    miopenReduceTensorDescriptor_t desc = NULL;
    GOOD(miopenCreateReduceTensorDescriptor(&desc));
    for (int op = 0; op < 8; op++) {
        const bool extreme = op >= MIOPEN_REDUCE_TENSOR_MIN && op <= MIOPEN_REDUCE_TENSOR_AMAX;
        const float alpha = op % 2 ? 1 : -3, beta = op % 2 ? 0 : 2;
        size_t bytes = 1, workspace = 1;
        GOOD(miopenSetReduceTensorDescriptor(
            desc, (miopenReduceTensorOp_t)op, miopenFloat, MIOPEN_NOT_PROPAGATE_NAN,
            MIOPEN_REDUCE_TENSOR_FLATTENED_INDICES, MIOPEN_32BIT_INDICES));
        GOOD(miopenGetReductionIndicesSize(handle, desc, a.desc, c.desc, &bytes));
        assert_int_equal(bytes, extreme ? N * C * 4 : 0);
        GOOD(miopenGetReductionWorkspaceSize(handle, desc, a.desc, c.desc, &workspace));
        fill(&a, x, N * C * S);
        fill(&c, before, N * C);
        if (extreme) {
            x[3] = NAN;
            client_write(a.memory, x, N * C * S * sizeof *x);
        }
        for (int i = 0; i < N * C; i++)
            want[i] = alpha * reduced(op, x, i * S, &places[i]) + (double)(beta * before[i]);
        GOOD(miopenReduceTensor(handle, desc, indices.memory, bytes, NULL, 0, &alpha, a.desc,
                                a.memory, &beta, c.desc, c.memory));
        expect(&c, want, N * C);
        if (extreme) expect_integers(&indices, places, N * C);
    }
    /* NaN wins when it is to. */
    GOOD(miopenSetReduceTensorDescriptor(desc, MIOPEN_REDUCE_TENSOR_MAX, miopenFloat,
                                         MIOPEN_PROPAGATE_NAN, MIOPEN_REDUCE_TENSOR_NO_INDICES,
                                         MIOPEN_32BIT_INDICES));
    fill(&a, x, N * C * S);
    x[3] = NAN;
    client_write(a.memory, x, N * C * S * sizeof *x);
    for (int i = 0; i < N * C; i++)
        want[i] = i ? reduced(MIOPEN_REDUCE_TENSOR_MAX, x, i * S, places) : (double)NAN;
    GOOD(miopenReduceTensor(handle, desc, NULL, 0, NULL, 0, &one, a.desc, a.memory, &zero, c.desc,
                            c.memory));
    expect(&c, want, N * C);
    GOOD(miopenDestroyReduceTensorDescriptor(desc));
    BAD_PARM(miopenDestroyReduceTensorDescriptor(desc));
    forget(&a);
    forget(&c);
    forget(&indices);
}

static void reductions_refuse(void **state)
{
    (void)state;
    const int size[] = { N, C, 2, S }, small[] = { N, 1, 2, 1 }, wrong[] = { N, 2, 2, 1 };
    const int six[] = { 2, 1, 2, 2, 2, 2, 2 }, all_but[] = { 1, 1, 2, 2, 2, 2, 2 };
    struct array a = array_of(miopenFloat, 4, size, NULL),
                 c = array_of(miopenFloat, 4, small, NULL),
                 w = array_of(miopenFloat, 4, wrong, NULL),
                 h = array_of(miopenHalf, 4, small, NULL),
                 many = array_of(miopenFloat, 6, six, NULL),
                 few = array_of(miopenFloat, 6, all_but, NULL);
    miopenReduceTensorDescriptor_t desc = NULL;
    miopenReduceTensorOp_t op;
    miopenDataType_t type;
    miopenNanPropagation_t nan;
    miopenReduceTensorIndices_t indices;
    miopenIndicesType_t bits;
    size_t bytes;
    BAD_PARM(miopenCreateReduceTensorDescriptor(NULL));
    GOOD(miopenCreateReduceTensorDescriptor(&desc));
    REFUSED(miopenSetReduceTensorDescriptor(
        desc, MIOPEN_REDUCE_TENSOR_MAX, miopenFloat, MIOPEN_PROPAGATE_NAN,
        MIOPEN_REDUCE_TENSOR_FLATTENED_INDICES, MIOPEN_64BIT_INDICES));
    GOOD(miopenSetReduceTensorDescriptor(
        desc, MIOPEN_REDUCE_TENSOR_MAX, miopenFloat, MIOPEN_PROPAGATE_NAN,
        MIOPEN_REDUCE_TENSOR_FLATTENED_INDICES, MIOPEN_32BIT_INDICES));
    GOOD(miopenGetReduceTensorDescriptor(desc, &op, &type, &nan, &indices, &bits));
    assert_true(op == MIOPEN_REDUCE_TENSOR_MAX && type == miopenFloat &&
                nan == MIOPEN_PROPAGATE_NAN && indices == MIOPEN_REDUCE_TENSOR_FLATTENED_INDICES &&
                bits == MIOPEN_32BIT_INDICES);
    BAD_PARM(miopenGetReduceTensorDescriptor(desc, &op, NULL, &nan, &indices, &bits));
    REFUSED(miopenGetReductionIndicesSize(handle, desc, a.desc, w.desc, &bytes));
    REFUSED(miopenGetReductionWorkspaceSize(handle, desc, a.desc, w.desc, &bytes));
    BAD_PARM(miopenGetReductionWorkspaceSize(handle, NULL, a.desc, c.desc, &bytes));
    BAD_PARM(miopenGetReductionIndicesSize(handle, desc, a.desc, c.desc, NULL));
    /* too little room for the indices, none, another size, another type, nothing to reduce */
    REFUSED(miopenReduceTensor(handle, desc, c.memory, N * 2 * 4 - 1, NULL, 0, &one, a.desc,
                               a.memory, &zero, c.desc, c.memory));
    REFUSED(miopenReduceTensor(handle, desc, NULL, 0, NULL, 0, &one, a.desc, a.memory, &zero,
                               c.desc, c.memory));
    GOOD(miopenSetReduceTensorDescriptor(desc, MIOPEN_REDUCE_TENSOR_ADD, miopenFloat,
                                         MIOPEN_PROPAGATE_NAN, MIOPEN_REDUCE_TENSOR_NO_INDICES,
                                         MIOPEN_32BIT_INDICES));
    REFUSED(miopenReduceTensor(handle, desc, NULL, 0, NULL, 0, &one, a.desc, a.memory, &zero,
                               w.desc, w.memory));
    REFUSED(miopenReduceTensor(handle, desc, NULL, 0, NULL, 0, &one, a.desc, a.memory, &zero,
                               h.desc, h.memory));
    REFUSED(miopenReduceTensor(handle, desc, NULL, 0, NULL, 0, &one, a.desc, a.memory, &zero,
                               a.desc, c.memory));
    BAD_PARM(miopenReduceTensor(handle, desc, NULL, 0, NULL, 0, NULL, a.desc, a.memory, &zero,
                                c.desc, c.memory));
    BAD_PARM(miopenReduceTensor(NULL, desc, NULL, 0, NULL, 0, &one, a.desc, a.memory, &zero, c.desc,
                                c.memory));
    GOOD(miopenReduceTensor(handle, desc, NULL, 0, NULL, 0, &one, many.desc, many.memory, &zero,
                            few.desc, few.memory));
    GOOD(miopenSetReduceTensorDescriptor(desc, (miopenReduceTensorOp_t)77, miopenFloat,
                                         MIOPEN_PROPAGATE_NAN, MIOPEN_REDUCE_TENSOR_NO_INDICES,
                                         MIOPEN_32BIT_INDICES));
    REFUSED(miopenReduceTensor(handle, desc, NULL, 0, NULL, 0, &one, a.desc, a.memory, &zero,
                               c.desc, c.memory));
    GOOD(miopenDestroyReduceTensorDescriptor(desc));
    forget(&a);
    forget(&c);
    forget(&w);
    forget(&h);
    forget(&many);
    forget(&few);
}

/* ---- along one dimension ---- */

static void along_one_dimension(void **state)
{
    (void)state;
    const int size[] = { N, C, S }, small[] = { N, S };
    struct array x = array_of(miopenFloat, 3, size, NULL),
                 y = array_of(miopenFloat, 2, small, NULL),
                 indices = array_of(miopenInt32, 2, small, NULL),
                 wide = array_of(miopenInt64, 2, small, NULL);
    static float host[MOST];
    double sum[N * S], product[N * S], low[N * S], high[N * S], second[N * S];
    int at_low[N * S], at_high[N * S];
    size_t bytes = 1;
    fill(&x, host, N * C * S);
    for (int i = 0; i < N * S; i++) {
        sum[i] = 0, product[i] = 1, low[i] = INFINITY, high[i] = -INFINITY, second[i] = INFINITY;
        for (int c = 0; c < C; c++) {
            const double v = (double)host[(i / S * C + c) * S + i % S];
            sum[i] += v, product[i] *= v;
            if (v < low[i]) low[i] = v, at_low[i] = c;
            if (v > high[i]) high[i] = v, at_high[i] = c;
        }
        for (int c = 0; c < C; c++) {
            const double v = (double)host[(i / S * C + c) * S + i % S];
            if (c != at_low[i] && v < second[i]) second[i] = v;
        }
    }
    GOOD(miopenGetReduceCalculationWorkspaceSize(handle, x.desc, 1, MIOPEN_REDUCE_CALCULATION_SUM,
                                                 y.desc, &bytes));
    GOOD(miopenReduceCalculationForward(handle, MIOPEN_REDUCE_CALCULATION_NOT_PROPAGATE_NAN, NULL,
                                        0, x.desc, x.memory, 1, MIOPEN_REDUCE_CALCULATION_SUM,
                                        y.desc, y.memory));
    expect(&y, sum, N * S);
    GOOD(miopenReduceCalculationForward(handle, MIOPEN_REDUCE_CALCULATION_PROPAGATE_NAN, NULL, 0,
                                        x.desc, x.memory, 1, MIOPEN_REDUCE_CALCULATION_PROD, y.desc,
                                        y.memory));
    expect(&y, product, N * S);
    REFUSED(miopenReduceCalculationForward(handle, 0, NULL, 0, x.desc, x.memory, 1,
                                           (miopenReduceCalculationOp_t)9, y.desc, y.memory));
    BAD_PARM(miopenReduceCalculationForward(handle, 0, NULL, 0, x.desc, x.memory, 3,
                                            MIOPEN_REDUCE_CALCULATION_SUM, y.desc, y.memory));
    BAD_PARM(miopenReduceCalculationForward(handle, 0, NULL, 0, x.desc, x.memory, 0,
                                            MIOPEN_REDUCE_CALCULATION_SUM, y.desc, y.memory));

    GOOD(miopenReduceExtremeForward(handle, x.desc, x.memory, 1, MIOPEN_REDUCE_EXTREME_MIN, y.desc,
                                    y.memory, indices.desc, indices.memory));
    expect(&y, low, N * S);
    expect_integers(&indices, at_low, N * S);
    GOOD(miopenReduceExtremeForward(handle, x.desc, x.memory, 1, MIOPEN_REDUCE_EXTREME_ARGMAX, NULL,
                                    NULL, indices.desc, indices.memory));
    expect_integers(&indices, at_high, N * S);
    BAD_PARM(miopenReduceExtremeForward(handle, x.desc, x.memory, 1, MIOPEN_REDUCE_EXTREME_MAX,
                                        NULL, NULL, indices.desc, indices.memory));
    BAD_PARM(miopenReduceExtremeForward(handle, x.desc, x.memory, 1, MIOPEN_REDUCE_EXTREME_ARGMAX,
                                        NULL, NULL, y.desc, indices.memory));
    REFUSED(miopenReduceExtremeForward(handle, x.desc, x.memory, 1, (miopenReduceExtremeOp_t)0,
                                       y.desc, y.memory, indices.desc, indices.memory));

    GOOD(miopenKthvalueForward(handle, x.desc, x.memory, y.desc, y.memory, wide.desc, wide.memory,
                               2, -2, false));
    expect(&y, second, N * S);
    BAD_PARM(miopenKthvalueForward(handle, x.desc, x.memory, y.desc, y.memory, wide.desc,
                                   wide.memory, 0, 1, false));
    BAD_PARM(miopenKthvalueForward(handle, x.desc, x.memory, y.desc, y.memory, wide.desc,
                                   wide.memory, 6, 1, false));
    BAD_PARM(miopenKthvalueForward(handle, x.desc, x.memory, y.desc, y.memory, wide.desc,
                                   wide.memory, 1, 7, false));
    BAD_PARM(miopenKthvalueForward(handle, x.desc, x.memory, y.desc, y.memory, wide.desc,
                                   wide.memory, 1, 2, false));
    BAD_PARM(miopenKthvalueForward(handle, x.desc, x.memory, y.desc, y.memory, wide.desc, NULL, 1,
                                   1, false));
    forget(&x);
    forget(&y);
    forget(&indices);
    forget(&wide);
}

/* ---- concatenation, and the gradient of indexing ---- */

static void concatenation(void **state)
{
    (void)state;
    enum { PARTS = 10 };
    const int whole[] = { N, PARTS * (PARTS + 1) / 2, 2 };
    struct array y = array_of(miopenFloat, 3, whole, NULL), x[PARTS];
    miopenTensorDescriptor_t descs[PARTS];
    const void *memory[PARTS];
    static float host[MOST];
    static double want[MOST];
    int at = 0;
    for (int i = 0; i < PARTS; i++) {
        const int size[] = { N, i + 1, 2 };
        x[i] = array_of(miopenFloat, 3, size, NULL);
        fill(&x[i], host, N * (i + 1) * 2);
        for (int k = 0; k < N * (i + 1) * 2; k++)
            want[(k / (2 * (i + 1)) * whole[1] + at) * 2 + k % (2 * (i + 1))] = (double)host[k];
        descs[i] = x[i].desc;
        memory[i] = x[i].memory;
        at += i + 1;
    }
    GOOD(miopenCatForward(handle, PARTS, descs, memory, y.desc, y.memory, 1));
    expect(&y, want, N * whole[1] * 2);
    BAD_PARM(miopenCatForward(handle, PARTS - 1, descs, memory, y.desc, y.memory, 1));
    BAD_PARM(miopenCatForward(handle, PARTS, descs, memory, y.desc, y.memory, 0));
    BAD_PARM(miopenCatForward(handle, PARTS, descs, memory, y.desc, y.memory, 3));
    BAD_PARM(miopenCatForward(handle, 0, descs, memory, y.desc, y.memory, 1));
    BAD_PARM(miopenCatForward(handle, -1, descs, memory, y.desc, y.memory, 1));
    BAD_PARM(miopenCatForward(handle, PARTS, descs, memory, y.desc, NULL, 1));
    memory[4] = NULL;
    BAD_PARM(miopenCatForward(handle, PARTS, descs, memory, y.desc, y.memory, 1));
    for (int i = 0; i < PARTS; i++) forget(&x[i]);
    forget(&y);
}

static void gradient_of_indexing(void **state)
{
    (void)state;
    const int size[] = { N, C, S }, sliced[] = { N, 6, S / 2 }, length[] = { 6 }, single[] = { 1 };
    struct array dx = array_of(miopenFloat, 3, size, NULL),
                 dy = array_of(miopenFloat, 3, sliced, NULL),
                 index = array_of(miopenInt32, 1, length, NULL),
                 error = array_of(miopenInt32, 1, single, NULL);
    const int indices[] = { 2, 0, -1, 2, 4, 9 }, none[] = { 0 }, bad[] = { -1 };
    const int32_t dims[] = { 1 }, slices[] = { 2, 0, S, 2 }, later[] = { 2, 1, S, 2 };
    const void *index_memory[] = { index.memory };
    static float before[MOST], gradient[MOST];
    static double want[MOST];
    size_t bytes = 1;
    fill(&dx, before, N * C * S);
    fill(&dy, gradient, N * 6 * S / 2);
    client_write(index.memory, indices, sizeof indices);
    client_write(error.memory, none, sizeof none);
    for (int i = 0; i < N * C * S; i++) want[i] = (double)before[i];
    for (int i = 0; i < N * 6 * S / 2; i++) {
        const int n = i / (6 * S / 2), j = i / (S / 2) % 6, s = i % (S / 2);
        const int c = indices[j] < 0 ? indices[j] + C : indices[j];
        if (c < C) want[(n * C + c) * S + 2 * s] += (double)gradient[i];
    }
    GOOD(miopenGetGetitemWorkspaceSize(handle, 1, &index.desc, &bytes));
    GOOD(miopenGetitemBackward(handle, NULL, 0, dy.desc, dy.memory, 1, &index.desc, index_memory,
                               dx.desc, dx.memory, error.desc, error.memory, 1, dims, 1, slices,
                               0));
    expect(&dx, want, N * C * S);
    expect_integers(&error, bad, 1);
    REFUSED(miopenGetitemBackward(handle, NULL, 0, dy.desc, dy.memory, 1, &index.desc, index_memory,
                                  dx.desc, dx.memory, error.desc, error.memory, 1, dims, 1, later,
                                  0));
    REFUSED(miopenGetitemBackward(handle, NULL, 0, dy.desc, dy.memory, 1, &index.desc, index_memory,
                                  dx.desc, dx.memory, error.desc, error.memory, 1, dims, 1, slices,
                                  1));
    BAD_PARM(miopenGetitemBackward(handle, NULL, 0, dy.desc, dy.memory, 1, &index.desc,
                                   index_memory, dx.desc, dx.memory, error.desc, error.memory, 1,
                                   dims, 0, NULL, 0));
    BAD_PARM(miopenGetitemBackward(handle, NULL, 0, dy.desc, dy.memory, 9, &index.desc,
                                   index_memory, dx.desc, dx.memory, error.desc, error.memory, 9,
                                   dims, 1, slices, 0));
    BAD_PARM(miopenGetitemBackward(handle, NULL, 0, dy.desc, dy.memory, 1, NULL, index_memory,
                                   dx.desc, dx.memory, error.desc, error.memory, 1, dims, 1, slices,
                                   0));
    /* without indices */
    fill(&dx, before, N * C * S);
    for (int i = 0; i < N * C * S; i++) want[i] = 2 * (double)before[i];
    fill(&index, before, 1);
    struct array same = array_of(miopenFloat, 3, size, NULL);
    fill(&same, before, N * C * S);
    GOOD(miopenGetitemBackward(handle, NULL, 0, same.desc, same.memory, 0, NULL, NULL, dx.desc,
                               dx.memory, NULL, NULL, 0, NULL, 0, NULL, 0));
    expect(&dx, want, N * C * S);
    forget(&same);
    forget(&dx);
    forget(&dy);
    forget(&index);
    forget(&error);
}

static int begin(void **state)
{
    (void)state;
    return miopenCreate(&handle);
}

static int end(void **state)
{
    (void)state;
    return miopenDestroy(handle);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax),
        cmocka_unit_test(softmax_refuses),
        cmocka_unit_test(reductions),
        cmocka_unit_test(reductions_refuse),
        cmocka_unit_test(along_one_dimension),
        cmocka_unit_test(concatenation),
        cmocka_unit_test(gradient_of_indexing),
    };
    if (argc < 2) return 99;
    hostile_begin(argv[1]);
    const int failed = cmocka_run_group_tests(tests, begin, end);
    hostile_end();
    return failed;
}
