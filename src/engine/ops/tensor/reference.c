/* reference.c: tensor operations as the textbook writes them, in double, with the bound of what f32
 * may make of them.
 *
 * It walks the dimensions of the public struct, not the merged loops of the algorithms.
 *
 * The bound. With u = 2^-24, each operation in f32 has a relative error of at most u, or 2^-150
 * where the result is denormal; errors of inputs pass through. So, to first order:
 *   x = alpha a, y = alpha_b b, z = beta c      u of themselves
 *   x + y, and x + y + z                        another u of all that was added, each time
 *   x y                                         its own u, those of x and of y
 *   minimum, maximum                            no more than the larger error of x and y
 *   sum of n terms                              rmcp_tensor_roundings(n) u times the sum of |a|
 * A fused multiplication and addition leaves one of these roundings out. Terms of second order are
 * below 2^-12 of these (no factor of u reaches 2^12). Then comes the rounding to c's type.
 *
 * Small integers with simple factors leave nothing to round but the result: there, the bound is 0.
 */
#include "base/convert.h"
#include "engine/ops/tensor/tensor.h"

#include <math.h>

static const double unit = 0x1p-24, smallest = 0x1p-149, second_order = 1 + 0x1p-12;

/* A multiple of 1/16 of at most 16: times small integers, and added up, still exact in f32. */
static bool simple(float factor)
{
    return fabsf(factor) <= 16 && factor * 16 == rintf(factor * 16);
}

bool rmcp_tensor_index_of(const struct rmcp_tensor_form *form, int64_t place,
                          int64_t index[RMCP_TENSOR_DIMS])
{
    const rmcp_tensor *t = &form->tensor;
    bool done[RMCP_TENSOR_DIMS] = { false };
    for (unsigned k = 0; k < t->dims; k++) {
        unsigned widest = RMCP_TENSOR_DIMS; /* of those that are left */
        for (unsigned i = 0; i < t->dims; i++)
            if (!done[i] && (widest == RMCP_TENSOR_DIMS || t->c_stride[i] > t->c_stride[widest]))
                widest = i;
        done[widest] = true;
        index[widest] = t->c_size[widest] == 1 ? 0 : place / t->c_stride[widest];
        if (index[widest] >= t->c_size[widest]) return false;
        place -= index[widest] * t->c_stride[widest];
    }
    return place == 0;
}

int64_t rmcp_tensor_place_of(const struct rmcp_tensor_form *form, unsigned slot,
                             const int64_t index[RMCP_TENSOR_DIMS])
{
    const int64_t *size = slot == RMCP_TENSOR_A ? form->tensor.a_size : form->tensor.b_size;
    const int64_t *stride = slot == RMCP_TENSOR_A ? form->tensor.a_stride : form->tensor.b_stride;
    int64_t place = 0;
    for (unsigned i = 0; i < form->tensor.dims; i++)
        if (size[i] > 1) place += index[i] * stride[i];
    return place;
}

static double load(const struct rmcp_reference *r, unsigned slot,
                   const int64_t index[RMCP_TENSOR_DIMS])
{
    const struct rmcp_tensor_form *form = r->problem;
    return rmcp_load(r->host[slot], form->type[slot], rmcp_tensor_place_of(form, slot, index));
}

/* A value before `beta c` is added, and how far f32 may be from it. */
struct tensor_part {
    double value, error, magnitude; /* magnitude: what an addition's rounding is relative to */
    double factor;                  /* of a product: the larger one, which may overflow      */
};

static struct tensor_part of_elements(const struct rmcp_reference *r,
                                      const int64_t index[RMCP_TENSOR_DIMS], double c)
{
    const struct rmcp_tensor_form *form = r->problem;
    const double alpha = (double)form->alpha, alpha_b = (double)form->alpha_b;
    if (form->kind == RMCP_TENSOR_SET) return (struct tensor_part){ .value = alpha };
    if (form->kind == RMCP_TENSOR_SCALE)
        return (struct tensor_part){ alpha * c, unit * fabs(alpha * c), fabs(alpha * c), 0 };
    const double x = alpha * load(r, RMCP_TENSOR_A, index), size_x = fabs(x);
    if (form->kind == RMCP_TENSOR_COPY) return (struct tensor_part){ x, unit * size_x, size_x, 0 };
    const double y = alpha_b * load(r, RMCP_TENSOR_B, index), size_y = fabs(y);
    const double larger = size_x > size_y ? size_x : size_y;
    switch (form->kind) {
    case RMCP_TENSOR_ADD:
        return (struct tensor_part){ x + y, 2 * unit * (size_x + size_y), size_x + size_y, 0 };
    case RMCP_TENSOR_MULTIPLY:
        return (struct tensor_part){ x * y, 3 * unit * fabs(x * y) + smallest * (size_x + size_y),
                                     fabs(x * y), larger };
    case RMCP_TENSOR_MINIMUM:
        return (struct tensor_part){ x < y ? x : y, unit * larger, larger, 0 };
    default: return (struct tensor_part){ x > y ? x : y, unit * larger, larger, 0 };
    }
}

/* The sum over all indices in which c has size 1. */
static struct tensor_part of_sum(const struct rmcp_reference *r, int64_t index[RMCP_TENSOR_DIMS])
{
    const struct rmcp_tensor_form *form = r->problem;
    const rmcp_tensor *t = &form->tensor;
    double sum = 0, magnitude = 0;
    for (;;) {
        const double a = load(r, RMCP_TENSOR_A, index);
        sum += a;
        magnitude += fabs(a);
        unsigned i = t->dims;
        while (i-- > 0) {
            if (t->c_size[i] == t->size[i]) continue;
            if (++index[i] < t->size[i]) break;
            index[i] = 0;
        }
        if (i >= t->dims) break; /* all of them wrapped around */
    }
    const double alpha = (double)form->alpha;
    const bool exact = r->data == RMCP_DATA_INTEGERS &&
                       (double)form->terms * (double)rmcp_tensor_largest_integer(form) < 0x1p24;
    const double error = exact ? 0 : unit * rmcp_tensor_roundings(form->terms) * magnitude;
    return (struct tensor_part){ alpha * sum, fabs(alpha) * error + unit * fabs(alpha * sum),
                                 fabs(alpha * sum) + fabs(alpha) * error, magnitude };
}

/* Whether f32 has no rounding to do before the last one. */
static bool is_exact(const struct rmcp_reference *r, double largest)
{
    const struct rmcp_tensor_form *form = r->problem;
    if (r->data != RMCP_DATA_INTEGERS || r->error_factor > 1) return false;
    if (form->kind == RMCP_TENSOR_SUM &&
        (double)form->terms * (double)rmcp_tensor_largest_integer(form) >= 0x1p24)
        return false;
    return simple(form->alpha) && simple(form->alpha_b) && simple(form->beta) &&
           largest * 256 < 0x1p24;
}

struct rmcp_expected rmcp_tensor_expect(const struct rmcp_reference *r, unsigned slot,
                                        int64_t place)
{
    const struct rmcp_tensor_form *form = r->problem;
    const rmcp_type type = form->type[slot];
    const double before = r->host[slot] ? (double)rmcp_load(r->host[slot], type, place) : 0;
    int64_t index[RMCP_TENSOR_DIMS] = { 0 };
    if (!rmcp_tensor_index_of(form, place, index))
        return (struct rmcp_expected){ .value = before }; /* a gap: as it was */
    struct tensor_part p =
        form->kind == RMCP_TENSOR_SUM ? of_sum(r, index) : of_elements(r, index, before);
    if (form->beta != 0) {
        const double z = (double)form->beta * before;
        p.value += z;
        p.magnitude += fabs(z);
        p.error += unit * (fabs(z) + p.magnitude);
    }
    const bool exact =
        form->kind == RMCP_TENSOR_SET || rmcp_tensor_moves(form) || is_exact(r, p.magnitude);
    return (struct rmcp_expected){
        .value = p.value,
        .allowed = exact ? 0
                         : r->error_factor * (second_order * p.error + 4 * smallest) +
                               rmcp_rounding_error(type, p.value),
        .open = !exact && (rmcp_sum_overflows(p.magnitude) || rmcp_sum_overflows(p.factor)),
    };
}

double rmcp_tensor_expect_cost(const void *problem, unsigned slot)
{
    (void)slot;
    return (double)((const struct rmcp_tensor_form *)problem)->terms;
}
