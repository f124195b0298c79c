/* direct.cl: convolution and its gradients as the textbook writes them, one output a work-item.
 *
 * Any shape, any size: indices have 64 bits. Letters as in src/reference: o output position,
 * i input position, f filter tap, tied by i = o * stride - pad + f * dilation. */
#include "engine/kernels/target.h"
#include "engine/kernels/common.h"
#include "engine/ops/conv/kernels/args.h"

#define THREADS 64

/* Where an element stands: outer is n (k for weights), inner its channel. */
struct place {
    long outer, inner, at[3];
};

INLINE struct place place_of(const struct rmcp_direct *d, const rmcp_long *size, long index)
{
    struct place p;
    if (d->channels_last) p.inner = index % d->channels, index /= d->channels;
    p.at[2] = index % size[2], index /= size[2];
    p.at[1] = index % size[1], index /= size[1];
    p.at[0] = index % size[0], index /= size[0];
    if (!d->channels_last) p.inner = index % d->channels, index /= d->channels;
    p.outer = index;
    return p;
}

INLINE float at(__global const char *base, long index)
{
    return to_float((__global const element *)base + index);
}

/* The input position under tap f of output o; false in the padding. */
INLINE bool input_at(const struct rmcp_direct *d, int dim, long o, long f, long *i)
{
    *i = o * d->stride[dim] - d->pad[dim] + f * d->dilation[dim];
    return *i >= 0 && *i < d->input[dim];
}

/* The output position whose tap f lies on input i; false when there is none. */
INLINE bool output_at(const struct rmcp_direct *d, int dim, long i, long f, long *o)
{
    long start = i + d->pad[dim] - f * d->dilation[dim];
    *o = start / d->stride[dim];
    return start >= 0 && *o * d->stride[dim] == start && *o < d->output[dim];
}

/* Offset of three spatial coordinates. */
INLINE long space(const struct rmcp_direct_strides *s, const long *p)
{
    return p[0] * s->space[0] + p[1] * s->space[1] + p[2] * s->space[2];
}

/* y[n, k, o] = sum over f, c of x[n, c, i] * w[k, c, f] */
INLINE float forward(const struct rmcp_direct *d, struct place y, __global const char *w,
                     __global const char *x)
{
    const long x_first = y.outer * d->x.outer + y.inner / d->group_k * d->group_c * d->x.inner;
    const long w_first = y.inner * d->w.outer;
    float sum = 0;
    long i[3], f[3];
    for (f[0] = 0; f[0] < d->filter[0]; f[0]++) {
        if (!input_at(d, 0, y.at[0], f[0], &i[0])) continue;
        for (f[1] = 0; f[1] < d->filter[1]; f[1]++) {
            if (!input_at(d, 1, y.at[1], f[1], &i[1])) continue;
            for (f[2] = 0; f[2] < d->filter[2]; f[2]++) {
                if (!input_at(d, 2, y.at[2], f[2], &i[2])) continue;
                long xi = x_first + space(&d->x, i), wi = w_first + space(&d->w, f);
                for (long c = 0; c < d->group_c; c++, xi += d->x.inner, wi += d->w.inner)
                    sum += at(x, xi) * at(w, wi);
            }
        }
    }
    return sum;
}

/* dx[n, c, i] = sum over f, k of dy[n, k, o] * w[k, c, f] */
INLINE float backward_data(const struct rmcp_direct *d, struct place x, __global const char *w,
                           __global const char *y)
{
    const long group = x.inner / d->group_c;
    const long y_first = x.outer * d->y.outer + group * d->group_k * d->y.inner;
    const long w_first =
        group * d->group_k * d->w.outer + (x.inner - group * d->group_c) * d->w.inner;
    float sum = 0;
    long o[3], f[3];
    for (f[0] = 0; f[0] < d->filter[0]; f[0]++) {
        if (!output_at(d, 0, x.at[0], f[0], &o[0])) continue;
        for (f[1] = 0; f[1] < d->filter[1]; f[1]++) {
            if (!output_at(d, 1, x.at[1], f[1], &o[1])) continue;
            for (f[2] = 0; f[2] < d->filter[2]; f[2]++) {
                if (!output_at(d, 2, x.at[2], f[2], &o[2])) continue;
                long yi = y_first + space(&d->y, o), wi = w_first + space(&d->w, f);
                for (long k = 0; k < d->group_k; k++, yi += d->y.inner, wi += d->w.outer)
                    sum += at(y, yi) * at(w, wi);
            }
        }
    }
    return sum;
}

/* dw[k, c, f] = sum over n, o of dy[n, k, o] * x[n, c, i] */
INLINE float backward_weights(const struct rmcp_direct *d, struct place w, __global const char *y,
                              __global const char *x)
{
    const long x_first = (w.outer / d->group_k * d->group_c + w.inner) * d->x.inner;
    const long y_first = w.outer * d->y.inner;
    float sum = 0;
    long i[3], o[3];
    for (long n = 0; n < d->n; n++)
        for (o[0] = 0; o[0] < d->output[0]; o[0]++) {
            if (!input_at(d, 0, o[0], w.at[0], &i[0])) continue;
            for (o[1] = 0; o[1] < d->output[1]; o[1]++) {
                if (!input_at(d, 1, o[1], w.at[1], &i[1])) continue;
                const long xi = x_first + n * d->x.outer, yi = y_first + n * d->y.outer;
                for (o[2] = 0; o[2] < d->output[2]; o[2]++)
                    if (input_at(d, 2, o[2], w.at[2], &i[2]))
                        sum += at(y, yi + space(&d->y, o)) * at(x, xi + space(&d->x, i));
            }
        }
    return sum;
}

/* a and b are the tensors read: w and x, w and y, or y and x. */
__kernel WORKGROUP(THREADS) void direct(INPUT(a), INPUT(b), OUTPUT(out), INPUT(bias),
                                        struct rmcp_direct d)
{
    const long offset = (long)GROUP_ID_X * THREADS + LOCAL_ID;
    if (offset >= d.count) return;
    const long index = d.first + offset;
    __global const char *a = ADDRESS(a), *b = ADDRESS(b);
    float sum;
    if (d.pass == 0) {
        const struct place y = place_of(&d, d.output, index);
        sum = forward(&d, y, a, b);
        if (d.epilogue.bias) sum += at(ADDRESS(bias), y.inner);
        sum = activate(&d.epilogue, sum);
    } else if (d.pass == 1) {
        sum = backward_data(&d, place_of(&d, d.input, index), a, b);
    } else {
        sum = backward_weights(&d, place_of(&d, d.filter, index), a, b);
    }
    from_float((__global element *)ADDRESS(out) + index, sum);
}
