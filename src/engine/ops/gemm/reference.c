/* reference.c: the matrix product as the textbook writes it, in double, with the bound of what f32
 * may make of it.
 *
 * The bound. With u = 2^-24, a sum of k products in f32 in any order of a fixed tree has an error
 * of about u sqrt(k) times the sum of |a b| (each rounding is as often up as down; twice that is
 * allowed). Scaling, adding beta c (two operations), the bias and a slope round once each, u of all
 * that was added up so far; so does the product in a sum of one. Then comes the rounding to the
 * type.
 *
 * Small integers with simple factors leave nothing to round but the result: there, the bound is 0.
 */
#include "base/convert.h"
#include "engine/ops/gemm/gemm.h"

#include <math.h>

static const double unit = 0x1p-24, smallest = 0x1p-149;

/* How many bits behind the point a factor has, up to 4; more: -1. */
static int fraction_bits(float factor)
{
    for (int bits = 0; bits <= 4; bits++)
        if (ldexpf(factor, bits) == rintf(ldexpf(factor, bits))) return bits;
    return -1;
}

/* Whether f32 has no rounding to do before the last one: with so many bits behind the point all
 * partial sums stay below 2^24 of the last of them. */
static bool is_exact(const struct rmcp_reference *r, double products, double magnitude)
{
    const struct rmcp_gemm_form *form = r->problem;
    const struct rmcp_matmul *p = &form->product;
    if (r->data != RMCP_DATA_INTEGERS || r->error_factor > 1) return false;
    const bool leaky = p->activation == RMCP_LEAKY_RELU;
    const int alpha = fraction_bits(p->alpha), beta = fraction_bits(p->beta);
    const int slope = leaky ? fraction_bits(p->slope) : 0;
    if (alpha < 0 || beta < 0 || slope < 0) return false;
    const double grown = leaky ? fmax(1, fabs((double)p->slope)) : 1;
    return products < 0x1p24 &&
           ldexp(magnitude * grown, (alpha > beta ? alpha : beta) + slope) < 0x1p24;
}

static double activate(const struct rmcp_matmul *p, double v)
{
    switch (p->activation) {
    case RMCP_RELU: return v < 0 ? 0 : v;
    case RMCP_LEAKY_RELU: return v < 0 ? v * (double)p->slope : v;
    case RMCP_CLAMP:
        return v < (double)p->low ? (double)p->low : v > (double)p->high ? (double)p->high : v;
    default: return v;
    }
}

bool rmcp_gemm_index_of(const struct rmcp_gemm_form *form, int64_t place,
                        struct rmcp_gemm_index *index)
{
    const rmcp_gemm *g = &form->gemm;
    const bool side_by_side = g->batch > 1 && g->c_stride < g->c_pitch;
    if (side_by_side) {
        index->row = place / g->c_pitch;
        const int64_t rest = place % g->c_pitch;
        index->batch = rest / g->c_stride;
        index->column = rest % g->c_stride;
    } else {
        index->batch = g->batch > 1 ? place / g->c_stride : 0;
        const int64_t rest = place - index->batch * g->c_stride;
        index->row = rest / g->c_pitch;
        index->column = rest % g->c_pitch;
    }
    return index->batch < g->batch && index->row < g->m && index->column < g->n;
}

struct rmcp_expected rmcp_gemm_expect(const struct rmcp_reference *r, unsigned slot, int64_t place)
{
    const struct rmcp_gemm_form *form = r->problem;
    const struct rmcp_matmul *p = &form->product;
    const rmcp_gemm *g = &form->gemm;
    const double before = r->host[slot] ? (double)rmcp_load(r->host[slot], p->type, place) : 0;
    struct rmcp_gemm_index at;
    if (!rmcp_gemm_index_of(form, place, &at))
        return (struct rmcp_expected){ .value = before }; /* a gap: as it was */

    const int64_t a_step = g->transpose_a ? g->a_pitch : 1,
                  b_step = g->transpose_b ? 1 : g->b_pitch;
    const int64_t a_first = at.batch * g->a_stride + at.row * (g->transpose_a ? 1 : g->a_pitch);
    const int64_t b_first = at.batch * g->b_stride + at.column * (g->transpose_b ? g->b_pitch : 1);
    double sum = 0, products = 0, largest = 0;
    for (int64_t i = 0; i < form->terms; i++) {
        const double a = (double)rmcp_load(r->host[RMCP_GEMM_A], p->type, a_first + i * a_step);
        const double b = (double)rmcp_load(r->host[RMCP_GEMM_B], p->type, b_first + i * b_step);
        sum += a * b;
        products += fabs(a * b);
        largest = fmax(largest, fmax(fabs(a), fabs(b)));
    }
    const double alpha = (double)p->alpha;
    double value = form->terms ? alpha * sum : 0, magnitude = fabs(alpha) * products;
    if (p->beta != 0) {
        value += (double)p->beta * before;
        magnitude += fabs((double)p->beta * before);
    }
    if (p->bias) {
        const double bias = (double)rmcp_load(r->host[RMCP_GEMM_BIAS], p->type,
                                              p->bias == RMCP_MATMUL_ROW_BIAS ? at.row : at.column);
        value += bias;
        magnitude += fabs(bias);
    }
    value = activate(p, value);
    const double terms = (double)form->terms;
    const double slope = p->activation == RMCP_LEAKY_RELU ? fmax(1, fabs((double)p->slope)) : 1;
    const double error = slope * (unit * (2 * sqrt(terms) + 6) * magnitude +
                                  smallest * (terms + 6) * fmax(1, fabs(alpha)));
    return (struct rmcp_expected){
        .value = value,
        .allowed = is_exact(r, products, magnitude)
                       ? 0
                       : r->error_factor * error + rmcp_rounding_error(p->type, value),
        /* Also where alpha is taken to a factor before the sum, as oneDNN does. */
        .open = rmcp_sum_overflows(magnitude * slope) || rmcp_sum_overflows(products) ||
                rmcp_sum_overflows(largest * fabs(alpha)),
    };
}
