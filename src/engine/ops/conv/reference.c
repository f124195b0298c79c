/* reference.c: convolution as the textbook writes it: plain loops, sums in double.
 *
 * A problem always has three spatial dimensions here (d, h, w); 1-D and 2-D ones have leading sizes
 * of 1. Letters: n image, k output channel, c input channel of the group, o output position,
 * i input position, f filter tap. They are tied by i = o * stride - pad + f * dilation. */
#include "engine/ops/conv/reference.h"

#include "base/convert.h"

#include <math.h>

/* Where an element stands: outer is n (k for weights), inner its channel. */
struct place {
    int64_t outer, inner, at[3];
};

static struct place place_of(rmcp_layout layout, int64_t channels, const int64_t size[3],
                             int64_t index)
{
    struct place p;
    if (layout == RMCP_NHWC) p.inner = index % channels, index /= channels;
    for (int d = 2; d >= 0; d--) p.at[d] = index % size[d], index /= size[d];
    if (layout == RMCP_NCHW) p.inner = index % channels, index /= channels;
    p.outer = index;
    return p;
}

static double load(const struct rmcp_conv_reference *r, const void *tensor,
                   const struct rmcp_strides *stride, int64_t outer, int64_t inner,
                   const int64_t at[3])
{
    int64_t index = outer * stride->outer + inner * stride->inner + at[0] * stride->space[0] +
                    at[1] * stride->space[1] + at[2] * stride->space[2];
    return rmcp_load(tensor, r->conv->type, index);
}

static void add(struct rmcp_conv_value *sum, double a, double b)
{
    sum->value += a * b;
    sum->magnitude += fabs(a * b);
}

/* The elements of a tensor that an inner loop goes through. */
struct walk {
    const void *tensor;
    int64_t at, step;
};

static struct walk walk_from(const void *tensor, const struct rmcp_strides *stride, int64_t outer,
                             int64_t inner, const int64_t at[3], int64_t step)
{
    return (struct walk){ tensor,
                          outer * stride->outer + inner * stride->inner + at[0] * stride->space[0] +
                              at[1] * stride->space[1] + at[2] * stride->space[2],
                          step };
}

static inline void add_typed(struct rmcp_conv_value *sum, rmcp_type type, struct walk a,
                             struct walk b, int64_t n)
{
    struct rmcp_conv_value s = *sum; /* in registers */
    for (int64_t i = 0; i < n; i++)
        add(&s, (double)rmcp_load(a.tensor, type, a.at + i * a.step),
            (double)rmcp_load(b.tensor, type, b.at + i * b.step));
    *sum = s;
}

/* Add `n` products to the sum, in order. The type is a constant in each loop, which makes it fast.
 */
static void add_products(struct rmcp_conv_value *sum, rmcp_type type, struct walk a, struct walk b,
                         int64_t n)
{
    if (type == RMCP_F32)
        add_typed(sum, RMCP_F32, a, b, n);
    else if (type == RMCP_F16)
        add_typed(sum, RMCP_F16, a, b, n);
    else
        add_typed(sum, RMCP_BF16, a, b, n);
}

/* The input position under tap f of output o; false in the padding. */
static bool input_at(const struct rmcp_convolution *conv, int d, int64_t o, int64_t f, int64_t *i)
{
    *i = o * conv->stride[d] - conv->pad_begin[d] + f * conv->dilation[d];
    return *i >= 0 && *i < conv->input[d];
}

/* The output position whose tap f lies on input i; false when there is none. */
static bool output_at(const struct rmcp_convolution *conv, int d, int64_t i, int64_t f, int64_t *o)
{
    int64_t start = i + conv->pad_begin[d] - f * conv->dilation[d];
    *o = start / conv->stride[d];
    return start >= 0 && start % conv->stride[d] == 0 && *o < conv->output[d];
}

/* y[n, k, o] = sum over c, f of x[n, c, i] * w[k, c, f] */
static struct rmcp_conv_value forward(const struct rmcp_conv_reference *r, struct place y)
{
    const struct rmcp_convolution *conv = r->conv;
    const int64_t n = y.outer, k = y.inner, first_c = k / conv->group_k * conv->group_c;
    struct rmcp_conv_value sum = { 0, 0 };
    int64_t i[3], f[3];
    for (f[0] = 0; f[0] < conv->filter[0]; f[0]++) {
        if (!input_at(conv, 0, y.at[0], f[0], &i[0])) continue;
        for (f[1] = 0; f[1] < conv->filter[1]; f[1]++) {
            if (!input_at(conv, 1, y.at[1], f[1], &i[1])) continue;
            for (f[2] = 0; f[2] < conv->filter[2]; f[2]++) {
                if (!input_at(conv, 2, y.at[2], f[2], &i[2])) continue;
                add_products(&sum, conv->type,
                             walk_from(r->x, &conv->x, n, first_c, i, conv->x.inner),
                             walk_from(r->w, &conv->w, k, 0, f, conv->w.inner), conv->group_c);
            }
        }
    }
    return sum;
}

/* dx[n, c, i] = sum over k, f of dy[n, k, o] * w[k, c, f] */
static struct rmcp_conv_value backward_data(const struct rmcp_conv_reference *r, struct place x)
{
    const struct rmcp_convolution *conv = r->conv;
    const int64_t n = x.outer, first_k = x.inner / conv->group_c * conv->group_k;
    const int64_t c = x.inner % conv->group_c;
    struct rmcp_conv_value sum = { 0, 0 };
    int64_t o[3], f[3];
    for (f[0] = 0; f[0] < conv->filter[0]; f[0]++) {
        if (!output_at(conv, 0, x.at[0], f[0], &o[0])) continue;
        for (f[1] = 0; f[1] < conv->filter[1]; f[1]++) {
            if (!output_at(conv, 1, x.at[1], f[1], &o[1])) continue;
            for (f[2] = 0; f[2] < conv->filter[2]; f[2]++) {
                if (!output_at(conv, 2, x.at[2], f[2], &o[2])) continue;
                add_products(
                    &sum, conv->type, walk_from(r->y, &conv->y, n, first_k, o, conv->y.inner),
                    walk_from(r->w, &conv->w, first_k, c, f, conv->w.outer), conv->group_k);
            }
        }
    }
    return sum;
}

/* The first output position of a row whose tap f lies in the input, and how many follow. */
static int64_t outputs_within(const struct rmcp_convolution *conv, int64_t f, int64_t *first)
{
    int64_t begin = 0, end = conv->output[2], i;
    while (begin < end && !input_at(conv, 2, begin, f, &i)) begin++;
    while (begin < end && !input_at(conv, 2, end - 1, f, &i)) end--;
    *first = begin;
    return end - begin;
}

/* dw[k, c, f] = sum over n, o of dy[n, k, o] * x[n, c, i] */
static struct rmcp_conv_value backward_weights(const struct rmcp_conv_reference *r, struct place w)
{
    const struct rmcp_convolution *conv = r->conv;
    const int64_t k = w.outer, c = k / conv->group_k * conv->group_c + w.inner;
    struct rmcp_conv_value sum = { 0, 0 };
    int64_t i[3], o[3];
    const int64_t row = outputs_within(conv, w.at[2], &o[2]);
    if (row == 0) return sum;
    input_at(conv, 2, o[2], w.at[2], &i[2]);
    for (int64_t n = 0; n < conv->n; n++)
        for (o[0] = 0; o[0] < conv->output[0]; o[0]++) {
            if (!input_at(conv, 0, o[0], w.at[0], &i[0])) continue;
            for (o[1] = 0; o[1] < conv->output[1]; o[1]++)
                if (input_at(conv, 1, o[1], w.at[1], &i[1]))
                    add_products(
                        &sum, conv->type, walk_from(r->y, &conv->y, n, k, o, conv->y.space[2]),
                        walk_from(r->x, &conv->x, n, c, i, conv->stride[2] * conv->x.space[2]),
                        row);
        }
    return sum;
}

struct rmcp_conv_value rmcp_conv_element(const struct rmcp_conv_reference *r, int64_t index)
{
    const struct rmcp_convolution *conv = r->conv;
    if (conv->pass == RMCP_CONV_BACKWARD_DATA)
        return backward_data(r, place_of(conv->layout, conv->c, conv->input, index));
    if (conv->pass == RMCP_CONV_BACKWARD_WEIGHTS)
        return backward_weights(r, place_of(conv->layout, conv->group_c, conv->filter, index));

    struct place y = place_of(conv->layout, conv->k, conv->output, index);
    struct rmcp_conv_value sum = forward(r, y);
    if (rmcp_conv_has_bias(conv)) add(&sum, rmcp_load(r->bias, conv->type, y.inner), 1);
    sum.value = rmcp_conv_activate(conv, sum.value);
    return sum;
}

/* The largest |value| of a channel from `first` to `last` in each dimension, as far as they lie in
 * the tensor; infinite when one is not finite. */
static double largest_within(const struct rmcp_conv_reference *r, const void *tensor,
                             const struct rmcp_strides *stride, const int64_t size[3],
                             int64_t outer, int64_t inner, const int64_t first[3],
                             const int64_t last[3])
{
    int64_t from[3], to[3], at[3];
    for (int d = 0; d < 3; d++) {
        from[d] = first[d] > 0 ? first[d] : 0;
        to[d] = last[d] < size[d] ? last[d] : size[d] - 1;
    }
    double largest = 0;
    for (at[0] = from[0]; at[0] <= to[0]; at[0]++)
        for (at[1] = from[1]; at[1] <= to[1]; at[1]++)
            for (at[2] = from[2]; at[2] <= to[2]; at[2]++) {
                const double value = fabs(load(r, tensor, stride, outer, inner, at));
                if (!isfinite(value)) return HUGE_VAL;
                if (value > largest) largest = value;
            }
    return largest;
}

/* The sum of |weights| between two channels. */
static double weights_between(const struct rmcp_conv_reference *r, int64_t k, int64_t c)
{
    const struct rmcp_convolution *conv = r->conv;
    double sum = 0;
    int64_t f[3];
    for (f[0] = 0; f[0] < conv->filter[0]; f[0]++)
        for (f[1] = 0; f[1] < conv->filter[1]; f[1]++)
            for (f[2] = 0; f[2] < conv->filter[2]; f[2]++)
                sum += fabs(load(r, r->w, &conv->w, k, c, f));
    return isfinite(sum) ? sum : HUGE_VAL;
}

enum { NEAR = 7 }; /* tiles have at most 8 x 8 elements */

/* A product of magnitudes in which 0 * Inf is Inf: a NaN is somewhere near. */
static double times(double a, double b)
{
    return isfinite(a) && isfinite(b) ? a * b : HUGE_VAL;
}

static double forward_near(const struct rmcp_conv_reference *r, struct place y)
{
    const struct rmcp_convolution *conv = r->conv;
    const int64_t first_c = y.inner / conv->group_k * conv->group_c;
    int64_t first[3], last[3];
    for (int d = 0; d < 3; d++) {
        first[d] = y.at[d] * conv->stride[d] - conv->pad_begin[d] - NEAR;
        last[d] = first[d] + 2 * NEAR + (conv->filter[d] - 1) * conv->dilation[d];
    }
    double sum = 0;
    for (int64_t c = 0; c < conv->group_c; c++)
        sum +=
            times(largest_within(r, r->x, &conv->x, conv->input, y.outer, first_c + c, first, last),
                  weights_between(r, y.inner, c));
    return sum;
}

static double backward_data_near(const struct rmcp_conv_reference *r, struct place x)
{
    const struct rmcp_convolution *conv = r->conv;
    const int64_t c = x.inner % conv->group_c, first_k = x.inner / conv->group_c * conv->group_k;
    int64_t first[3], last[3];
    for (int d = 0; d < 3; d++) {
        const int64_t reach = (conv->filter[d] - 1) * conv->dilation[d];
        last[d] = (x.at[d] + conv->pad_begin[d]) / conv->stride[d] + NEAR;
        first[d] = (x.at[d] + conv->pad_begin[d] - reach) / conv->stride[d] - NEAR;
    }
    double sum = 0;
    for (int64_t k = first_k; k < first_k + conv->group_k; k++)
        sum += times(largest_within(r, r->y, &conv->y, conv->output, x.outer, k, first, last),
                     weights_between(r, k, c));
    return sum;
}

/* Here near means in the same image: a window for each of so many products would take too long. */
static double backward_weights_near(const struct rmcp_conv_reference *r, struct place w)
{
    const struct rmcp_convolution *conv = r->conv;
    const int64_t k = w.outer, c = k / conv->group_k * conv->group_c + w.inner;
    static const int64_t first[3] = { 0, 0, 0 };
    double sum = 0;
    int64_t o[3];
    for (int64_t n = 0; n < conv->n; n++) {
        double errors = 0;
        for (o[0] = 0; o[0] < conv->output[0]; o[0]++)
            for (o[1] = 0; o[1] < conv->output[1]; o[1]++)
                for (o[2] = 0; o[2] < conv->output[2]; o[2]++)
                    errors += fabs(load(r, r->y, &conv->y, n, k, o));
        sum +=
            times(errors, largest_within(r, r->x, &conv->x, conv->input, n, c, first, conv->input));
    }
    return sum;
}

double rmcp_conv_magnitude_near(const struct rmcp_conv_reference *r, int64_t index)
{
    const struct rmcp_convolution *conv = r->conv;
    if (conv->pass == RMCP_CONV_BACKWARD_DATA)
        return backward_data_near(r, place_of(conv->layout, conv->c, conv->input, index));
    if (conv->pass == RMCP_CONV_BACKWARD_WEIGHTS)
        return backward_weights_near(r, place_of(conv->layout, conv->group_c, conv->filter, index));
    const struct place y = place_of(conv->layout, conv->k, conv->output, index);
    const double bias = rmcp_conv_has_bias(conv) ? rmcp_load(r->bias, conv->type, y.inner) : 0;
    return forward_near(r, y) + fabs(bias);
}

/* All elements of a tensor with this outer and inner index. */
static bool all_finite(const struct rmcp_conv_reference *r, const void *tensor,
                       const struct rmcp_strides *stride, const int64_t size[3], int64_t outer,
                       int64_t inner)
{
    int64_t at[3];
    for (at[0] = 0; at[0] < size[0]; at[0]++)
        for (at[1] = 0; at[1] < size[1]; at[1]++)
            for (at[2] = 0; at[2] < size[2]; at[2]++)
                if (!isfinite(load(r, tensor, stride, outer, inner, at))) return false;
    return true;
}

bool rmcp_conv_factors_finite(const struct rmcp_conv_reference *r, int64_t index)
{
    const struct rmcp_convolution *conv = r->conv;
    bool finite = true;
    if (conv->pass == RMCP_CONV_FORWARD) {
        const int64_t k = place_of(conv->layout, conv->k, conv->output, index).inner;
        for (int64_t c = 0; c < conv->group_c && finite; c++)
            finite = all_finite(r, r->w, &conv->w, conv->filter, k, c);
    } else if (conv->pass == RMCP_CONV_BACKWARD_DATA) {
        const int64_t inner = place_of(conv->layout, conv->c, conv->input, index).inner;
        const int64_t first = inner / conv->group_c * conv->group_k;
        for (int64_t k = first; k < first + conv->group_k && finite; k++)
            finite = all_finite(r, r->w, &conv->w, conv->filter, k, inner % conv->group_c);
    } else {
        const int64_t k = place_of(conv->layout, conv->group_c, conv->filter, index).outer;
        for (int64_t n = 0; n < conv->n && finite; n++)
            finite = all_finite(r, r->y, &conv->y, conv->output, n, k);
    }
    return finite;
}

void rmcp_conv_loops(const struct rmcp_conv_reference *r, void *output, unsigned threads)
{
    const int64_t n = rmcp_conv_elements(r->conv, rmcp_conv_output_slot(r->conv));
    (void)threads; /* without OpenMP */
#pragma omp parallel for num_threads(threads) schedule(dynamic, 64)
    for (int64_t i = 0; i < n; i++)
        rmcp_store(output, r->conv->type, i, (float)rmcp_conv_element(r, i).value);
}
