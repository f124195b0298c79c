/* form.c: checks a tensor operation and brings it into canonical form. */
#include "engine/ops/tensor/tensor.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const names[RMCP_TENSOR_N] = { "a", "b", "c" };

const char *const rmcp_tensor_kinds[] = { "set",     "scale",   "copy", "add", "multiply",
                                          "minimum", "maximum", "sum",  NULL };

bool rmcp_tensor_has(rmcp_tensor_kind kind, unsigned slot)
{
    if (slot == RMCP_TENSOR_A) return kind >= RMCP_TENSOR_COPY;
    if (slot == RMCP_TENSOR_B) return kind >= RMCP_TENSOR_ADD && kind <= RMCP_TENSOR_MAXIMUM;
    return true;
}

bool rmcp_tensor_reads_output(const struct rmcp_tensor_form *form)
{
    return form->kind == RMCP_TENSOR_SCALE || form->beta != 0;
}

bool rmcp_tensor_moves(const struct rmcp_tensor_form *form)
{
    return form->kind == RMCP_TENSOR_COPY && form->alpha == 1 && form->beta == 0 &&
           form->type[RMCP_TENSOR_A] == form->type[RMCP_TENSOR_C];
}

int64_t *rmcp_tensor_size(rmcp_tensor *tensor, unsigned slot)
{
    return slot == RMCP_TENSOR_A   ? tensor->a_size
           : slot == RMCP_TENSOR_B ? tensor->b_size
                                   : tensor->c_size;
}

int64_t *rmcp_tensor_stride(rmcp_tensor *tensor, unsigned slot)
{
    return slot == RMCP_TENSOR_A   ? tensor->a_stride
           : slot == RMCP_TENSOR_B ? tensor->b_stride
                                   : tensor->c_stride;
}

double rmcp_tensor_roundings(int64_t terms)
{
    return terms - 1 < RMCP_TENSOR_MOST_ROUNDINGS ? (double)(terms - 1)
                                                  : (double)RMCP_TENSOR_MOST_ROUNDINGS;
}

/* ---- checks: each returns a status of its own ---- */

static rmcp_status check_kinds(const rmcp_tensor *t)
{
    if (t->kind > RMCP_TENSOR_SUM)
        return rmcp_fail(RMCP_E_ARG,
                         "kind is %u; known are set (0), scale (1), copy (2), add (3), multiply "
                         "(4), minimum (5), maximum (6) and sum (7)",
                         (unsigned)t->kind);
    if (t->dims < 1 || t->dims > RMCP_TENSOR_DIMS)
        return rmcp_fail(RMCP_E_ARG, "dims is %u; it must be 1 to 5", (unsigned)t->dims);
    const uint32_t types[RMCP_TENSOR_N] = { t->a_type, t->b_type, t->c_type };
    for (unsigned i = 0; i < RMCP_TENSOR_N; i++)
        if (types[i] > RMCP_BF16)
            return rmcp_fail(RMCP_E_ARG, "%s_type is %u; known are f32 (0), f16 (1) and bf16 (2)",
                             names[i], (unsigned)types[i]);
    return RMCP_OK;
}

/* What the kind does not have must be zero: a caller who filled it wants to know. */
static rmcp_status check_absent(rmcp_tensor *t)
{
    const char *kind = rmcp_tensor_kinds[t->kind];
    const uint32_t types[RMCP_TENSOR_N] = { t->a_type, t->b_type, t->c_type };
    for (unsigned slot = 0; slot < RMCP_TENSOR_N; slot++) {
        if (rmcp_tensor_has(t->kind, slot)) continue;
        if (types[slot])
            return rmcp_fail(RMCP_E_ARG, "%s_type is %u, but %s has no %s", names[slot],
                             (unsigned)types[slot], kind, names[slot]);
        for (unsigned i = 0; i < RMCP_TENSOR_DIMS; i++) {
            const int64_t size = rmcp_tensor_size(t, slot)[i];
            const int64_t stride = rmcp_tensor_stride(t, slot)[i];
            if (size || stride)
                return rmcp_fail(RMCP_E_ARG, "%s_%s[%u] is %" PRId64 ", but %s has no %s",
                                 names[slot], size ? "size" : "stride", i, size ? size : stride,
                                 kind, names[slot]);
        }
    }
    if (!rmcp_tensor_has(t->kind, RMCP_TENSOR_B) && t->alpha_b != 0)
        return rmcp_fail(RMCP_E_ARG, "alpha_b is %g, but %s has no b", t->alpha_b, kind);
    if (!rmcp_tensor_has(t->kind, RMCP_TENSOR_A) && t->beta != 0)
        return rmcp_fail(RMCP_E_ARG, "beta is %g, but %s has none", t->beta, kind);
    return RMCP_OK;
}

static rmcp_status check_unused(rmcp_tensor *t)
{
    for (unsigned i = t->dims; i < RMCP_TENSOR_DIMS; i++) {
        if (t->size[i])
            return rmcp_fail(RMCP_E_ARG, "size[%u] is %" PRId64 ", but dims is %u", i, t->size[i],
                             (unsigned)t->dims);
        for (unsigned slot = 0; slot < RMCP_TENSOR_N; slot++) {
            const int64_t size = rmcp_tensor_size(t, slot)[i];
            const int64_t stride = rmcp_tensor_stride(t, slot)[i];
            if (size || stride)
                return rmcp_fail(RMCP_E_ARG, "%s_%s[%u] is %" PRId64 ", but dims is %u",
                                 names[slot], size ? "size" : "stride", i, size ? size : stride,
                                 (unsigned)t->dims);
        }
    }
    return RMCP_OK;
}

/* A scalar in f32; Inf and NaN are what they are, but a number must not become Inf. */
static rmcp_status check_scalar(const char *name, double value, float *rounded)
{
    if (isfinite(value) && fabs(value) > (double)FLT_MAX)
        return rmcp_fail(RMCP_E_ARG, "%s is %g, beyond f32", name, value);
    *rounded = (float)value;
    return RMCP_OK;
}

/* The sizes of a tensor: those of the operation, or 1. */
static rmcp_status fill_sizes(rmcp_tensor *t, unsigned slot)
{
    int64_t *size = rmcp_tensor_size(t, slot);
    const bool may_be_one = slot != RMCP_TENSOR_C || t->kind == RMCP_TENSOR_SUM;
    for (unsigned i = 0; i < t->dims; i++) {
        if (size[i] == 0) size[i] = t->size[i];
        if (size[i] == t->size[i] || (size[i] == 1 && may_be_one)) continue;
        return rmcp_fail(RMCP_E_ARG, "%s_size[%u] is %" PRId64 "; it must be %" PRId64 "%s",
                         names[slot], i, size[i], t->size[i], may_be_one ? " or 1" : "");
    }
    return RMCP_OK;
}

/* Its strides and its span, so that its bytes in any type fit in 63 bits. */
static rmcp_status fill_strides(rmcp_tensor *t, unsigned slot, int64_t *span)
{
    const int64_t *size = rmcp_tensor_size(t, slot);
    int64_t *stride = rmcp_tensor_stride(t, slot), packed[RMCP_TENSOR_DIMS], product = 1;
    bool all_zero = true;
    for (unsigned i = t->dims; i-- > 0;) {
        packed[i] = product; /* the whole index space has been counted: this fits */
        product *= size[i];
        if (stride[i] < 0)
            return rmcp_fail(RMCP_E_ARG, "%s_stride[%u] is %" PRId64 "; it must not be negative",
                             names[slot], i, stride[i]);
        if (stride[i]) all_zero = false;
    }
    int64_t last = 0;
    for (unsigned i = 0; i < t->dims; i++) {
        if (all_zero || size[i] == 1) stride[i] = packed[i];
        int64_t reach, bytes;
        if (__builtin_mul_overflow(size[i] - 1, stride[i], &reach) ||
            __builtin_add_overflow(last, reach, &last) || __builtin_add_overflow(last, 1, &bytes) ||
            __builtin_mul_overflow(bytes, 4, &bytes))
            return rmcp_fail(RMCP_E_ARG,
                             "%s is too large: %" PRId64 " elements %" PRId64
                             " apart in dimension %u do not fit in 63 bits",
                             names[slot], size[i], stride[i], i);
    }
    *span = last + 1;
    return RMCP_OK;
}

/* Sorted by stride, each dimension of c steps over all that the smaller ones reach. */
static rmcp_status check_output_strides(const rmcp_tensor *t)
{
    unsigned order[RMCP_TENSOR_DIMS], n = 0;
    for (unsigned i = 0; i < t->dims; i++) {
        if (t->c_size[i] == 1) continue;
        unsigned at = n++;
        for (; at > 0 && t->c_stride[order[at - 1]] > t->c_stride[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    int64_t reach = 0;
    for (unsigned k = 0; k < n; k++) {
        const unsigned i = order[k];
        if (t->c_stride[i] <= reach)
            return rmcp_fail(RMCP_E_ARG,
                             "c_stride[%u] is %" PRId64 "; elements of c would share memory, since "
                             "smaller strides reach over %" PRId64,
                             i, t->c_stride[i], reach);
        reach += (t->c_size[i] - 1) * t->c_stride[i];
    }
    return RMCP_OK;
}

/* ---- loops ---- */

/* Which of two loops is the slower one: by the stride of the tensor that leads. Where that takes
 * the same element again, anything else is faster. */
static bool slower(const struct rmcp_tensor_loop *x, const struct rmcp_tensor_loop *y,
                   unsigned leader)
{
    const int64_t first = x->stride[leader], second = y->stride[leader];
    return first && second ? first > second : !first && second;
}

static bool continues(const struct rmcp_tensor_loop *outer, const struct rmcp_tensor_loop *inner)
{
    for (unsigned slot = 0; slot < RMCP_TENSOR_N; slot++) {
        int64_t reach;
        if (__builtin_mul_overflow(inner->size, inner->stride[slot], &reach) ||
            outer->stride[slot] != reach)
            return false;
    }
    return true;
}

static void make_loops(struct rmcp_tensor_form *form)
{
    rmcp_tensor *t = &form->tensor;
    const unsigned leader = form->kind == RMCP_TENSOR_SUM ? RMCP_TENSOR_A : RMCP_TENSOR_C;
    struct rmcp_tensor_loop sorted[RMCP_TENSOR_DIMS];
    unsigned n = 0;
    for (unsigned i = 0; i < t->dims; i++) {
        if (t->size[i] == 1) continue;
        struct rmcp_tensor_loop loop = { .size = t->size[i] };
        for (unsigned slot = 0; slot < RMCP_TENSOR_N; slot++)
            if (form->span[slot] && rmcp_tensor_size(t, slot)[i] > 1)
                loop.stride[slot] = rmcp_tensor_stride(t, slot)[i];
        unsigned at = n++;
        for (; at > 0 && slower(&loop, &sorted[at - 1], leader); at--) sorted[at] = sorted[at - 1];
        sorted[at] = loop;
    }
    if (n == 0) sorted[n++] = (struct rmcp_tensor_loop){ .size = 1 };

    form->n_loops = 0;
    for (unsigned i = 0; i < n; i++) {
        struct rmcp_tensor_loop *last = form->n_loops ? &form->loop[form->n_loops - 1] : NULL;
        if (last && continues(last, &sorted[i])) {
            const int64_t size = last->size * sorted[i].size;
            *last = sorted[i];
            last->size = size;
        } else {
            form->loop[form->n_loops++] = sorted[i];
        }
    }
}

rmcp_status rmcp_tensor_init(struct rmcp_tensor_form *form, const rmcp_tensor *tensor)
{
    memset(form, 0, sizeof *form);
    rmcp_tensor *t = &form->tensor;
    rmcp_status status = rmcp_struct_read(tensor, t, sizeof *t, RMCP_FIRST_TENSOR, "rmcp_tensor");
    if (status) return status;
    if ((status = check_kinds(t)) || (status = check_absent(t)) || (status = check_unused(t)) ||
        (status = check_scalar("alpha", t->alpha, &form->alpha)) ||
        (status = check_scalar("alpha_b", t->alpha_b, &form->alpha_b)) ||
        (status = check_scalar("beta", t->beta, &form->beta)))
        return status;
    t->alpha = (double)form->alpha, t->alpha_b = (double)form->alpha_b;
    t->beta = (double)form->beta;

    int64_t bytes = 4; /* of the largest type */
    for (unsigned i = 0; i < t->dims; i++) {
        if (t->size[i] < 1)
            return rmcp_fail(RMCP_E_ARG, "size[%u] is %" PRId64 "; it must be at least 1", i,
                             t->size[i]);
        if (__builtin_mul_overflow(bytes, t->size[i], &bytes))
            return rmcp_fail(RMCP_E_ARG,
                             "the sizes multiply to more than 61 bits: size[%u] is %" PRId64, i,
                             t->size[i]);
    }
    form->kind = (rmcp_tensor_kind)t->kind;
    form->type[RMCP_TENSOR_A] = (rmcp_type)t->a_type;
    form->type[RMCP_TENSOR_B] = (rmcp_type)t->b_type;
    form->type[RMCP_TENSOR_C] = (rmcp_type)t->c_type;
    for (unsigned slot = 0; slot < RMCP_TENSOR_N; slot++) {
        if (!rmcp_tensor_has(form->kind, slot)) continue;
        if ((status = fill_sizes(t, slot)) || (status = fill_strides(t, slot, &form->span[slot])))
            return status;
    }
    if ((status = check_output_strides(t))) return status;

    form->outputs = 1;
    for (unsigned i = 0; i < t->dims; i++) form->outputs *= t->c_size[i];
    form->terms = bytes / 4 / form->outputs;
    make_loops(form);
    return RMCP_OK;
}
