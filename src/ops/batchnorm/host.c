/* host.c: batch normalisation of neighbouring floats, as loops that a compiler can vectorise. */
#include "ops/batchnorm/host.h"

#define INLINE static inline __attribute__((always_inline))

/* Compiled for what the processor has, where the loader can choose. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__) &&             \
    !defined(__SANITIZE_THREAD__) && defined(__has_attribute)
#if __has_attribute(target_clones)
#define CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
#endif
#ifndef CLONES
#define CLONES
#endif

struct rmcp_norm_moments rmcp_norm_merge(struct rmcp_norm_moments a, struct rmcp_norm_moments b)
{
    const double n = a.n + b.n, share = n > 0 ? b.n / n : 0, delta = b.mean - a.mean;
    return (struct rmcp_norm_moments){ n, a.mean + delta * share,
                                       a.m2 + b.m2 + delta * delta * a.n * share };
}

/* The block's mean in f32 is off by a little: what the distances from it add up to corrects both. */
CLONES struct rmcp_norm_moments rmcp_norm_block_moments(const float *x, int64_t n)
{
    float sum = 0, rest = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) sum += x[i];
    const float mean = sum / (float)n;
#pragma omp simd reduction(+ : rest, squares)
    for (int64_t i = 0; i < n; i++) {
        const float distance = x[i] - mean;
        rest += distance;
        squares += distance * distance;
    }
    const double off = (double)rest / (double)n;
    const double m2 = (double)squares - off * (double)rest;
    return (struct rmcp_norm_moments){ (double)n, (double)mean + off, m2 < 0 ? 0 : m2 };
}

/* ---- activations; `kind` is a constant wherever they are inlined ---- */

INLINE float bent(rmcp_activation kind, const struct rmcp_norm_bend *bend, float z)
{
    if (kind == RMCP_NO_ACTIVATION) return z;
    const float under = kind == RMCP_LEAKY_RELU ? z * bend->slope : bend->low;
    return z < bend->low ? under : z > bend->high ? bend->high : z;
}

INLINE float gradient(rmcp_activation kind, const struct rmcp_norm_bend *bend, float z, float dy)
{
    if (kind == RMCP_NO_ACTIVATION) return dy;
    const float under = kind == RMCP_LEAKY_RELU ? dy * bend->slope : 0;
    return z <= bend->low ? under : z >= bend->high ? 0 : dy;
}

/* ---- rows ---- */

INLINE void sums(rmcp_activation kind, const struct rmcp_norm_bend *bend, float mean, float factor,
                 float bias, const float *restrict x, const float *restrict dy, int64_t n,
                 double *sum, double *product)
{
    float s = 0, t = 0;
#pragma omp simd reduction(+ : s, t)
    for (int64_t i = 0; i < n; i++) {
        const float distance = x[i] - mean;
        const float g = gradient(kind, bend, distance * factor + bias, dy[i]);
        s += g;
        t += g * distance;
    }
    *sum += (double)s;
    *product += (double)t;
}

CLONES void rmcp_norm_block_sums(const struct rmcp_norm_bend *bend,
                                 const struct rmcp_norm_lines *lines, int64_t p, const float *x,
                                 const float *dy, int64_t n, double *sum, double *product)
{
    const float mean = lines->mean[p], factor = lines->factor[p], bias = lines->bias[p];
    if (bend->kind == RMCP_NO_ACTIVATION)
        sums(RMCP_NO_ACTIVATION, bend, mean, factor, bias, x, dy, n, sum, product);
    else if (bend->kind == RMCP_LEAKY_RELU)
        sums(RMCP_LEAKY_RELU, bend, mean, factor, bias, x, dy, n, sum, product);
    else
        sums(RMCP_CLAMP, bend, mean, factor, bias, x, dy, n, sum, product);
}

INLINE void forward(rmcp_activation kind, const struct rmcp_norm_bend *bend,
                    const struct rmcp_norm_lines *lines, int64_t p, int64_t step,
                    const float *restrict x, float *restrict y, int64_t n)
{
    const float *restrict mean = lines->mean + p, *restrict factor = lines->factor + p;
    const float *restrict bias = lines->bias + p;
    const float mean0 = *mean, factor0 = *factor, bias0 = *bias;
    if (step == 0)
#pragma omp simd
        for (int64_t i = 0; i < n; i++) y[i] = bent(kind, bend, (x[i] - mean0) * factor0 + bias0);
    else
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            y[i] = bent(kind, bend, (x[i] - mean[i]) * factor[i] + bias[i]);
}

CLONES void rmcp_norm_forward(const struct rmcp_norm_bend *bend, const struct rmcp_norm_lines *lines,
                              int64_t p, int64_t step, const float *x, float *y, int64_t n)
{
    if (bend->kind == RMCP_NO_ACTIVATION)
        forward(RMCP_NO_ACTIVATION, bend, lines, p, step, x, y, n);
    else if (bend->kind == RMCP_LEAKY_RELU)
        forward(RMCP_LEAKY_RELU, bend, lines, p, step, x, y, n);
    else
        forward(RMCP_CLAMP, bend, lines, p, step, x, y, n);
}

INLINE void backward(rmcp_activation kind, const struct rmcp_norm_bend *bend,
                     const struct rmcp_norm_lines *lines, int64_t p, int64_t step,
                     const float *restrict x, const float *restrict dy, float *restrict dx,
                     int64_t n)
{
    const float *restrict mean = lines->mean + p, *restrict factor = lines->factor + p;
    const float *restrict bias = lines->bias + p, *restrict even = lines->even + p;
    const float *restrict slant = lines->slant + p;
    const float mean0 = *mean, factor0 = *factor, bias0 = *bias, even0 = *even, slant0 = *slant;
    if (step == 0)
#pragma omp simd
        for (int64_t i = 0; i < n; i++) {
            const float distance = x[i] - mean0;
            const float g = gradient(kind, bend, distance * factor0 + bias0, dy[i]);
            dx[i] = (g - even0 - distance * slant0) * factor0;
        }
    else
#pragma omp simd
        for (int64_t i = 0; i < n; i++) {
            const float distance = x[i] - mean[i];
            const float g = gradient(kind, bend, distance * factor[i] + bias[i], dy[i]);
            dx[i] = (g - even[i] - distance * slant[i]) * factor[i];
        }
}

CLONES void rmcp_norm_backward(const struct rmcp_norm_bend *bend, const struct rmcp_norm_lines *lines,
                               int64_t p, int64_t step, const float *x, const float *dy, float *dx,
                               int64_t n)
{
    if (bend->kind == RMCP_NO_ACTIVATION)
        backward(RMCP_NO_ACTIVATION, bend, lines, p, step, x, dy, dx, n);
    else if (bend->kind == RMCP_LEAKY_RELU)
        backward(RMCP_LEAKY_RELU, bend, lines, p, step, x, dy, dx, n);
    else
        backward(RMCP_CLAMP, bend, lines, p, step, x, dy, dx, n);
}

/* ---- columns ---- */

CLONES void rmcp_norm_tile_moments(const float *const *x, int64_t rows, int64_t n, double before,
                                   double *mean, double *m2)
{
    float sum[RMCP_NORM_TILE] = { 0 }, rest[RMCP_NORM_TILE] = { 0 };
    float squares[RMCP_NORM_TILE] = { 0 };
    for (int64_t r = 0; r < rows; r++) {
        const float *restrict row = x[r];
#pragma omp simd
        for (int64_t i = 0; i < n; i++) sum[i] += row[i];
    }
    for (int64_t i = 0; i < n; i++) sum[i] /= (float)rows;
    for (int64_t r = 0; r < rows; r++) {
        const float *restrict row = x[r];
#pragma omp simd
        for (int64_t i = 0; i < n; i++) {
            const float distance = row[i] - sum[i];
            rest[i] += distance;
            squares[i] += distance * distance;
        }
    }
    const double count = (double)rows, share = count / (before + count), weight = before * share;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        const double off = (double)rest[i] / count;
        const double own = (double)squares[i] - off * (double)rest[i];
        const double delta = (double)sum[i] + off - mean[i];
        mean[i] += delta * share;
        m2[i] += (own < 0 ? 0 : own) + delta * delta * weight;
    }
}

INLINE void tile_sums(rmcp_activation kind, const struct rmcp_norm_bend *bend,
                      const struct rmcp_norm_lines *lines, int64_t p, const float *const *x,
                      const float *const *dy, int64_t rows, int64_t n, double *sum, double *product)
{
    const float *restrict mean = lines->mean + p, *restrict factor = lines->factor + p;
    const float *restrict bias = lines->bias + p;
    float s[RMCP_NORM_TILE] = { 0 }, t[RMCP_NORM_TILE] = { 0 };
    for (int64_t r = 0; r < rows; r++) {
        const float *restrict row = x[r], *restrict errors = dy[r];
#pragma omp simd
        for (int64_t i = 0; i < n; i++) {
            const float distance = row[i] - mean[i];
            const float g = gradient(kind, bend, distance * factor[i] + bias[i], errors[i]);
            s[i] += g;
            t[i] += g * distance;
        }
    }
    for (int64_t i = 0; i < n; i++) sum[i] += (double)s[i], product[i] += (double)t[i];
}

CLONES void rmcp_norm_tile_sums(const struct rmcp_norm_bend *bend,
                                const struct rmcp_norm_lines *lines, int64_t p,
                                const float *const *x, const float *const *dy, int64_t rows,
                                int64_t n, double *sum, double *product)
{
    if (bend->kind == RMCP_NO_ACTIVATION)
        tile_sums(RMCP_NO_ACTIVATION, bend, lines, p, x, dy, rows, n, sum, product);
    else if (bend->kind == RMCP_LEAKY_RELU)
        tile_sums(RMCP_LEAKY_RELU, bend, lines, p, x, dy, rows, n, sum, product);
    else
        tile_sums(RMCP_CLAMP, bend, lines, p, x, dy, rows, n, sum, product);
}
