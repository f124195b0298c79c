/* lrn.c: local response normalisation: descriptors, forward and backward. */
#include "dropin/miopen/lrn.h"

#include "dropin/miopen/case.h"
#include "dropin/miopen/chain.h"
#include "dropin/miopen/log.h"

#include <stdio.h>

static struct mi_lrn *lrn_of(miopenLRNDescriptor_t name)
{
    struct mi_lrn *lrn = mi_object(name, MI_LRN);
    if (!lrn) mi_log(MI_ERROR, "%p is no LRN descriptor", (const void *)name);
    return lrn;
}

miopenStatus_t miopenCreateLRNDescriptor(miopenLRNDescriptor_t *out)
{
    if (!out) return mi_fail(miopenStatusBadParm, "miopenCreateLRNDescriptor: NULL");
    struct mi_lrn *lrn = mi_object_new(MI_LRN, sizeof *lrn);
    if (!lrn) return mi_fail(miopenStatusAllocFailed, "out of memory");
    return mi_chain_descriptor(&lrn->object, MI_LRN, out);
}

miopenStatus_t miopenDestroyLRNDescriptor(miopenLRNDescriptor_t name)
{
    if (!name) return miopenStatusSuccess;
    struct mi_lrn *lrn = lrn_of(name);
    if (!lrn) return miopenStatusBadParm;
    mi_chain_destroy(&lrn->object, MI_LRN);
    mi_object_delete(lrn);
    return miopenStatusSuccess;
}

miopenStatus_t miopenSetLRNDescriptor(miopenLRNDescriptor_t name, miopenLRNMode_t mode, unsigned n,
                                      double alpha, double beta, double k)
{
    struct mi_lrn *lrn = lrn_of(name);
    if (!lrn) return miopenStatusBadParm;
    if ((unsigned)mode > miopenLRNCrossChannel)
        return mi_fail(miopenStatusBadParm, "no LRN mode %d", (int)mode);
    lrn->set = true;
    lrn->mode = mode;
    lrn->n = n;
    lrn->alpha = alpha;
    lrn->beta = beta;
    lrn->k = k;
    return mi_chain_lrn(lrn);
}

miopenStatus_t miopenGetLRNDescriptor(miopenLRNDescriptor_t name, miopenLRNMode_t *mode,
                                      unsigned *n, double *alpha, double *beta, double *k)
{
    const struct mi_lrn *lrn = lrn_of(name);
    if (!lrn || !mode || !n || !alpha || !beta || !k) return miopenStatusBadParm;
    *mode = lrn->mode;
    *n = lrn->n;
    *alpha = lrn->alpha;
    *beta = lrn->beta;
    *k = lrn->k;
    return miopenStatusSuccess;
}

/* For the scale, which lies as y does. */
miopenStatus_t miopenLRNGetWorkSpaceSize(miopenTensorDescriptor_t y_name, size_t *bytes)
{
    const struct mi_tensor *y = mi_tensor(y_name);
    if (!y || !bytes) return miopenStatusBadParm;
    int64_t elements;
    if (__builtin_mul_overflow(y->size[0], y->stride[0], &elements) || elements < mi_tensor_span(y))
        elements = mi_tensor_span(y);
    *bytes = (size_t)elements * sizeof(float);
    return miopenStatusSuccess;
}

static void log_command(const struct mi_lrn *lrn, const struct mi_tensor *x, int pass)
{
    if (!mi_log_wants_commands()) return;
    char text[384];
    snprintf(text, sizeof text,
             "lrn%s -A %g -B %g -F %d -H %lld -K %g -N %u -W %lld -c %lld -m %d -n %lld",
             x->type == miopenHalf       ? "fp16"
             : x->type == miopenBFloat16 ? "bfp16"
                                         : "",
             lrn->alpha, lrn->beta, pass, (long long)x->size[2], lrn->k, lrn->n,
             (long long)x->size[3], (long long)x->size[1], (int)lrn->mode, (long long)x->size[0]);
    mi_log_command(text);
}

/* Checks descriptor and tensors, and begins the case. The factors alpha and beta of the call are
 * not used, as in the original. */
static miopenStatus_t begin(struct mi_case *c, const struct mi_lrn *lrn,
                            const struct mi_tensor *const *tensors, int n, int pass)
{
    const struct mi_tensor *x = tensors[0];
    if (!lrn->set) return mi_fail(miopenStatusBadParm, "an LRN descriptor was never set");
    for (int i = 0; i < n; i++) {
        if (tensors[i]->dims != 4)
            return mi_fail(miopenStatusUnknownError, "LRN of a tensor of %d dimensions",
                           tensors[i]->dims);
        bool fits = tensors[i]->type == x->type;
        for (int d = 0; d < 4; d++) fits = fits && tensors[i]->size[d] == x->size[d];
        if (!fits) return mi_fail(miopenStatusBadParm, "LRN: tensors that do not fit");
    }
    if (lrn->k == 0) return mi_fail(miopenStatusUnknownError, "LRN with K = 0");
    log_command(lrn, x, pass);
    mi_case_begin(c, "lrn", x);
    mi_case_put(c, ":%s:%s:n%u", pass == 1 ? "fwd" : "bwd",
                lrn->mode == miopenLRNCrossChannel ? "cross" : "within", lrn->n);
    mi_case_number(c, "alpha", lrn->alpha);
    mi_case_number(c, "beta", lrn->beta);
    mi_case_number(c, "k", lrn->k);
    return miopenStatusSuccess;
}

miopenStatus_t miopenLRNForward(miopenHandle_t handle, miopenLRNDescriptor_t name,
                                const void *alpha, miopenTensorDescriptor_t x_name, const void *x,
                                const void *beta, miopenTensorDescriptor_t y_name, void *y,
                                bool do_backward, void *workspace)
{
    (void)alpha, (void)beta;
    const struct mi_lrn *lrn = lrn_of(name);
    const struct mi_tensor *x_tensor = mi_tensor(x_name), *y_tensor = mi_tensor(y_name);
    if (!lrn || !x_tensor || !y_tensor || !x || !y || (do_backward && !workspace))
        return miopenStatusBadParm;
    struct mi_case c;
    miopenStatus_t status =
        begin(&c, lrn, (const struct mi_tensor *[]){ x_tensor, y_tensor }, 2, 1);
    if (status != miopenStatusSuccess) return status;
    mi_case_tensor(&c, MI_X, x_tensor, x);
    mi_case_tensor(&c, MI_Y, y_tensor, y);
    if (do_backward)
        mi_case_tensor(&c, MI_SCALE, y_tensor, workspace);
    else
        mi_case_put(&c, ":plain");
    return mi_case_call(handle, &c);
}

miopenStatus_t miopenLRNBackward(miopenHandle_t handle, miopenLRNDescriptor_t name,
                                 const void *alpha, miopenTensorDescriptor_t y_name, const void *y,
                                 miopenTensorDescriptor_t dy_name, const void *dy,
                                 miopenTensorDescriptor_t x_name, const void *x, const void *beta,
                                 miopenTensorDescriptor_t dx_name, void *dx, const void *workspace)
{
    (void)alpha, (void)beta;
    const struct mi_lrn *lrn = lrn_of(name);
    const struct mi_tensor *tensors[] = { mi_tensor(x_name), mi_tensor(y_name), mi_tensor(dy_name),
                                          mi_tensor(dx_name) };
    if (!lrn || !x || !y || !dy || !dx || !workspace) return miopenStatusBadParm;
    for (int i = 0; i < 4; i++)
        if (!tensors[i]) return miopenStatusBadParm;
    struct mi_case c;
    miopenStatus_t status = begin(&c, lrn, tensors, 4, 2);
    if (status != miopenStatusSuccess) return status;
    mi_case_tensor(&c, MI_X, tensors[0], x);
    mi_case_tensor(&c, MI_Y, tensors[1], y);
    mi_case_tensor(&c, MI_SCALE, tensors[1], workspace);
    mi_case_tensor(&c, MI_DY, tensors[2], dy);
    mi_case_tensor(&c, MI_DX, tensors[3], dx);
    return mi_case_call(handle, &c);
}
