/* host.c: batch normalisation of neighbouring floats, as loops that a compiler can vectorise. */
#include "engine/ops/batchnorm/host.h"

#define INLINE static inline __attribute__((always_inline))

/* Compiled for what the processor has, where the loader can choose; such functions are static,
 * since the linker would export them else. */
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

/* Sums in f32 are those of LANES neighbours side by side over RUN elements at most, added up in
 * double: short, and the same whatever the processor's vectors are. */
enum { LANES = 16, RUN = 64 * LANES };

INLINE double add_lanes(const float lanes[static LANES])
{
    double sum = 0;
    for (int l = 0; l < LANES; l++) sum += (double)lanes[l];
    return sum;
}

INLINE int64_t run_length(int64_t n, int64_t first)
{
    return n - first < RUN ? n - first : RUN;
}

INLINE double run_sum(const float *x, int64_t n)
{
    float sum[LANES] = { 0 };
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) sum[l] += x[i + l];
    for (int l = 0; i + l < n; l++) sum[l] += x[i + l];
    return add_lanes(sum);
}

/* Distances from a mean: their sum and that of their squares. */
INLINE void run_distances(const float *x, int64_t n, float mean, double *rest, double *squares)
{
    float sum[LANES] = { 0 }, square[LANES] = { 0 };
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) {
            const float distance = x[i + l] - mean;
            sum[l] += distance;
            square[l] += distance * distance;
        }
    for (int l = 0; i + l < n; l++) {
        const float distance = x[i + l] - mean;
        sum[l] += distance;
        square[l] += distance * distance;
    }
    *rest += add_lanes(sum);
    *squares += add_lanes(square);
}

/* The block's mean in f32 is off by a little: what the distances from it add up to corrects both.
 */
CLONES static struct rmcp_norm_moments block_moments_best(const float *x, int64_t n)
{
    double sum = 0, rest = 0, squares = 0;
    for (int64_t i = 0; i < n; i += RUN) sum += run_sum(x + i, run_length(n, i));
    const float mean = (float)(sum / (double)n);
    for (int64_t i = 0; i < n; i += RUN)
        run_distances(x + i, run_length(n, i), mean, &rest, &squares);
    const double off = rest / (double)n, m2 = squares - off * rest;
    return (struct rmcp_norm_moments){ (double)n, (double)mean + off, m2 < 0 ? 0 : m2 };
}

struct rmcp_norm_moments rmcp_norm_block_moments(const float *x, int64_t n)
{
    return block_moments_best(x, n);
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
    return z <= bend->low ? under : z >= bend->high && kind == RMCP_CLAMP ? 0 : dy;
}

/* ---- rows ---- */

INLINE void sums(rmcp_activation kind, const struct rmcp_norm_bend *bend, float mean, float factor,
                 float bias, const float *restrict x, const float *restrict dy, int64_t n,
                 double *sum, double *product)
{
    for (int64_t first = 0; first < n; first += RUN) {
        const int64_t end = first + run_length(n, first);
        float s[LANES] = { 0 }, t[LANES] = { 0 };
        int64_t i = first;
        for (; i + LANES <= end; i += LANES)
            for (int l = 0; l < LANES; l++) {
                const float distance = x[i + l] - mean;
                const float g = gradient(kind, bend, distance * factor + bias, dy[i + l]);
                s[l] += g;
                t[l] += g * distance;
            }
        for (int l = 0; i + l < end; l++) {
            const float distance = x[i + l] - mean;
            const float g = gradient(kind, bend, distance * factor + bias, dy[i + l]);
            s[l] += g;
            t[l] += g * distance;
        }
        *sum += add_lanes(s);
        *product += add_lanes(t);
    }
}

CLONES static void block_sums_best(const struct rmcp_norm_bend *bend,
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

void rmcp_norm_block_sums(const struct rmcp_norm_bend *bend, const struct rmcp_norm_lines *lines,
                          int64_t p, const float *x, const float *dy, int64_t n, double *sum,
                          double *product)
{
    block_sums_best(bend, lines, p, x, dy, n, sum, product);
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

CLONES static void forward_best(const struct rmcp_norm_bend *bend,
                                const struct rmcp_norm_lines *lines, int64_t p, int64_t step,
                                const float *x, float *y, int64_t n)
{
    if (bend->kind == RMCP_NO_ACTIVATION)
        forward(RMCP_NO_ACTIVATION, bend, lines, p, step, x, y, n);
    else if (bend->kind == RMCP_LEAKY_RELU)
        forward(RMCP_LEAKY_RELU, bend, lines, p, step, x, y, n);
    else
        forward(RMCP_CLAMP, bend, lines, p, step, x, y, n);
}

void rmcp_norm_forward(const struct rmcp_norm_bend *bend, const struct rmcp_norm_lines *lines,
                       int64_t p, int64_t step, const float *x, float *y, int64_t n)
{
    forward_best(bend, lines, p, step, x, y, n);
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

CLONES static void backward_best(const struct rmcp_norm_bend *bend,
                                 const struct rmcp_norm_lines *lines, int64_t p, int64_t step,
                                 const float *x, const float *dy, float *dx, int64_t n)
{
    if (bend->kind == RMCP_NO_ACTIVATION)
        backward(RMCP_NO_ACTIVATION, bend, lines, p, step, x, dy, dx, n);
    else if (bend->kind == RMCP_LEAKY_RELU)
        backward(RMCP_LEAKY_RELU, bend, lines, p, step, x, dy, dx, n);
    else
        backward(RMCP_CLAMP, bend, lines, p, step, x, dy, dx, n);
}

void rmcp_norm_backward(const struct rmcp_norm_bend *bend, const struct rmcp_norm_lines *lines,
                        int64_t p, int64_t step, const float *x, const float *dy, float *dx,
                        int64_t n)
{
    backward_best(bend, lines, p, step, x, dy, dx, n);
}

/* ---- columns: strips of neighbouring parameters, whose sums stay in registers ---- */

enum { STRIP = 16 };
typedef float strip __attribute__((vector_size(STRIP * sizeof(float)), may_alias));
typedef strip strip_at __attribute__((aligned(4), may_alias)); /* anywhere in memory */

/* A row's strip; behind the last column of a tile there is nothing to read. */
INLINE void get_strip(strip *v, const float *row, int64_t n)
{
    if (n == STRIP) {
        *v = *(const strip_at *)row;
    } else {
        float values[STRIP] = { 0 };
        for (int64_t i = 0; i < n; i++) values[i] = row[i];
        *v = *(const strip_at *)values;
    }
}

/* Merge what a block of rows has into the moments of n parameters. */
INLINE void merge_rows(const float *centre, const float *rest, const float *squares, int64_t n,
                       int64_t rows, double before, double *restrict mean, double *restrict m2)
{
    const double count = (double)rows, share = count / (before + count), weight = before * share;
    const double each = 1 / count;
    for (int64_t i = 0; i < n; i++) {
        const double off = (double)rest[i] * each;
        const double own = (double)squares[i] - off * (double)rest[i];
        const double delta = (double)centre[i] + off - mean[i];
        mean[i] += delta * share;
        m2[i] += (own < 0 ? 0 : own) + delta * delta * weight;
    }
}

INLINE void strip_moments(const float *const *x, int64_t rows, int64_t first, int64_t n,
                          double before, double *mean, double *m2)
{
    strip sum = { 0 }, rest = { 0 }, squares = { 0 }, v;
    for (int64_t r = 0; r < rows; r++) {
        get_strip(&v, x[r] + first, n);
        sum += v;
    }
    const strip centre = sum * (1.0f / (float)rows);
    for (int64_t r = 0; r < rows; r++) {
        get_strip(&v, x[r] + first, n);
        v -= centre;
        rest += v;
        squares += v * v;
    }
    merge_rows((const float *)&centre, (const float *)&rest, (const float *)&squares, n, rows,
               before, mean, m2);
}

/* Four strips at once: a row's 256 bytes one after the other, as the processor fetches them. */
INLINE void wide_moments(const float *const *x, int64_t rows, int64_t first, double before,
                         double *mean, double *m2)
{
    strip centre[4] = { { 0 } }, rest[4], squares[4];
    {
        strip s0 = { 0 }, s1 = { 0 }, s2 = { 0 }, s3 = { 0 };
        for (int64_t r = 0; r < rows; r++) {
            const strip_at *v = (const strip_at *)(x[r] + first);
            s0 += v[0], s1 += v[1], s2 += v[2], s3 += v[3];
        }
        const float part = 1.0f / (float)rows;
        centre[0] = s0 * part, centre[1] = s1 * part, centre[2] = s2 * part, centre[3] = s3 * part;
    }
    for (int half = 0; half < 4; half += 2) {
        const strip c0 = centre[half], c1 = centre[half + 1];
        strip r0 = { 0 }, r1 = { 0 }, q0 = { 0 }, q1 = { 0 };
        for (int64_t r = 0; r < rows; r++) {
            const strip_at *v = (const strip_at *)(x[r] + first) + half;
            const strip d0 = v[0] - c0, d1 = v[1] - c1;
            r0 += d0, q0 += d0 * d0;
            r1 += d1, q1 += d1 * d1;
        }
        rest[half] = r0, rest[half + 1] = r1, squares[half] = q0, squares[half + 1] = q1;
    }
    merge_rows((const float *)centre, (const float *)rest, (const float *)squares, 4 * STRIP, rows,
               before, mean, m2);
}

CLONES static void tile_moments_best(const float *const *x, int64_t rows, int64_t n, double before,
                                     double *mean, double *m2)
{
    int64_t i = 0;
    for (; i + 4 * STRIP <= n; i += 4 * STRIP) wide_moments(x, rows, i, before, mean + i, m2 + i);
    for (; i + STRIP <= n; i += STRIP) strip_moments(x, rows, i, STRIP, before, mean + i, m2 + i);
    if (i < n) strip_moments(x, rows, i, n - i, before, mean + i, m2 + i);
}

void rmcp_norm_tile_moments(const float *const *x, int64_t rows, int64_t n, double before,
                            double *mean, double *m2)
{
    tile_moments_best(x, rows, n, before, mean, m2);
}

INLINE void wide_sums(const float *restrict mean, const float *const *x, const float *const *g,
                      int64_t rows, int64_t first, double *restrict sum, double *restrict product)
{
    const strip_at *centre = (const strip_at *)(mean + first);
    const strip c0 = centre[0], c1 = centre[1], c2 = centre[2], c3 = centre[3];
    strip s0 = { 0 }, s1 = { 0 }, s2 = { 0 }, s3 = { 0 };
    strip t0 = { 0 }, t1 = { 0 }, t2 = { 0 }, t3 = { 0 };
    for (int64_t r = 0; r < rows; r++) {
        const strip_at *v = (const strip_at *)(x[r] + first), *w = (const strip_at *)(g[r] + first);
        s0 += w[0], t0 += w[0] * (v[0] - c0);
        s1 += w[1], t1 += w[1] * (v[1] - c1);
        s2 += w[2], t2 += w[2] * (v[2] - c2);
        s3 += w[3], t3 += w[3] * (v[3] - c3);
    }
    for (int64_t i = 0; i < STRIP; i++) {
        sum[i] += (double)s0[i], product[i] += (double)t0[i];
        sum[i + STRIP] += (double)s1[i], product[i + STRIP] += (double)t1[i];
        sum[i + 2 * STRIP] += (double)s2[i], product[i + 2 * STRIP] += (double)t2[i];
        sum[i + 3 * STRIP] += (double)s3[i], product[i + 3 * STRIP] += (double)t3[i];
    }
}

INLINE void strip_sums(const float *restrict mean, const float *const *x, const float *const *g,
                       int64_t rows, int64_t first, int64_t n, double *restrict sum,
                       double *restrict product)
{
    strip centre, s = { 0 }, t = { 0 }, v, w;
    get_strip(&centre, mean + first, n);
    for (int64_t r = 0; r < rows; r++) {
        get_strip(&v, x[r] + first, n);
        get_strip(&w, g[r] + first, n);
        s += w;
        t += w * (v - centre);
    }
    for (int64_t i = 0; i < n; i++) sum[i] += (double)s[i], product[i] += (double)t[i];
}

/* One row of gradients behind the activation. */
INLINE void bend_row(rmcp_activation kind, const struct rmcp_norm_bend *bend,
                     const struct rmcp_norm_lines *lines, int64_t p, const float *restrict x,
                     const float *restrict dy, int64_t n, float *restrict g)
{
    const float *restrict mean = lines->mean + p, *restrict factor = lines->factor + p;
    const float *restrict bias = lines->bias + p;
    const struct rmcp_norm_bend own = *bend;
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        g[i] = gradient(kind, &own, (x[i] - mean[i]) * factor[i] + bias[i], dy[i]);
}

CLONES static void tile_sums_best(const struct rmcp_norm_bend *bend,
                                  const struct rmcp_norm_lines *lines, int64_t p,
                                  const float *const *x, const float *const *dy, int64_t rows,
                                  int64_t n, double *sum, double *product)
{
    float room[RMCP_NORM_DEPTH][RMCP_NORM_TILE];
    const float *bent_rows[RMCP_NORM_DEPTH], *const *g = dy;
    if (bend->kind != RMCP_NO_ACTIVATION) {
        for (int64_t r = 0; r < rows; r++) {
            if (bend->kind == RMCP_LEAKY_RELU)
                bend_row(RMCP_LEAKY_RELU, bend, lines, p, x[r], dy[r], n, room[r]);
            else
                bend_row(RMCP_CLAMP, bend, lines, p, x[r], dy[r], n, room[r]);
            bent_rows[r] = room[r];
        }
        g = bent_rows;
    }
    const float *mean = lines->mean + p;
    int64_t i = 0;
    for (; i + 4 * STRIP <= n; i += 4 * STRIP) wide_sums(mean, x, g, rows, i, sum + i, product + i);
    for (; i + STRIP <= n; i += STRIP) strip_sums(mean, x, g, rows, i, STRIP, sum + i, product + i);
    if (i < n) strip_sums(mean, x, g, rows, i, n - i, sum + i, product + i);
}

void rmcp_norm_tile_sums(const struct rmcp_norm_bend *bend, const struct rmcp_norm_lines *lines,
                         int64_t p, const float *const *x, const float *const *dy, int64_t rows,
                         int64_t n, double *sum, double *product)
{
    tile_sums_best(bend, lines, p, x, dy, rows, n, sum, product);
}
