/* forward.cl: statistics of rows, and their values; a row of no more than 4096 elements is read once. */
#include "engine/ops/norm/kernels/rows.h"

INLINE void fetch_sum(const struct rmcp_ln_args *a, const struct post *p, __global const char *x,
                      __global const char *x2, uint start, uint n, const uint width, float *v)
{
    fetch(a, p, x, start, n, width, v);
    if (a->add) {
        float w[BLOCK];
        fetch(a, p, x2, start, n, width, w);
        UNROLL
        for (uint j = 0; j < BLOCK; j++) v[j] += w[j];
    }
}

/* All values are taken relative to the mean of the first block. */
INLINE void add_block(struct moments *m, const float *v, uint n)
{
    float sum[4] = { 0, 0, 0, 0 }, square[4] = { 0, 0, 0, 0 };
    if (n == 0) return;
    const float count = (float)n, part = 1.0f / count;
    if (m->n == 0) {
        UNROLL
        for (uint j = 0; j < BLOCK; j++) sum[j % 4] += v[j];
        m->shift = ((sum[0] + sum[1]) + (sum[2] + sum[3])) * part;
        sum[0] = sum[1] = sum[2] = sum[3] = 0;
    }
    UNROLL
    for (uint j = 0; j < BLOCK; j++) sum[j % 4] += j < n ? v[j] - m->shift : 0;
    const float mean = ((sum[0] + sum[1]) + (sum[2] + sum[3])) * part;
    UNROLL
    for (uint j = 0; j < BLOCK; j++) {
        const float distance = j < n ? (v[j] - m->shift) - mean : 0;
        square[j % 4] += distance * distance;
    }
    const float all = m->n + count, share = count / all, delta = mean - m->rest;
    m->m2 += ((square[0] + square[1]) + (square[2] + square[3])) + delta * delta * (m->n * share);
    m->rest += delta * share;
    m->n = all;
}

INLINE void add_squares(struct sums *s, const float *v)
{
    float square[4] = { 0, 0, 0, 0 };
    UNROLL
    for (uint j = 0; j < BLOCK; j++) square[j % 4] += v[j] * v[j];
    s->sum += (square[0] + square[1]) + (square[2] + square[3]);
}

struct found {
    struct moments moments;
    struct sums squares;
};

INLINE void look(const struct rmcp_ln_args *a, struct found *f, const float *v, uint n)
{
    if (a->t5)
        add_squares(&f->squares, v);
    else
        add_block(&f->moments, v, n);
}

INLINE void give(const struct rmcp_ln_args *a, const struct post *p, struct normal normal,
                 __global const char *weight, __global const char *bias, __global char *y,
                 uint start, uint n, const uint width, float *v)
{
    UNROLL
    for (uint s = 0; s < BLOCK / width; s++) {
        const uint at = near(a, p, start, s, width);
        float w[4] = { 1, 1, 1, 1 }, b[4] = { 0, 0, 0, 0 };
        if (a->weights) weights_of(a, p, weight, at, width, w);
        if (a->bias) weights_of(a, p, bias, at, width, b);
        for (uint j = 0; j < width; j++)
            v[width * s + j] = (v[width * s + j] - normal.mean) * normal.inverse * w[j] + b[j];
    }
    emplace(p, y, start, n, width, v);
}

INLINE void all(const struct rmcp_ln_args *a, const struct post *p, __global const char *x,
                __global const char *x2, __global const char *weight, __global const char *bias,
                __global char *y, __global char *mean, __global char *rstd, const uint width,
                __local float *room)
{
    const uint step = BLOCK << a->lane_bits;
    struct found f = { { 0, 0, 0, 0 }, { 0, 0 } };
    float v[BLOCK];
    for (uint start = 0; start < a->inner; start += step) {
        const uint n = count_of(a, p, start, width);
        fetch_sum(a, p, x, x2, start, n, width, v);
        look(a, &f, v, n);
    }
    struct normal normal = { 0, 0 };
    if (a->t5) {
        const struct sums s = add_all(f.squares, p->thread, p->lane, p->lanes, 1, room, room + THREADS);
        normal.inverse = inverse_root(s.sum * a->share + a->epsilon);
    } else {
        const struct moments m = merge_all(f.moments, p->thread, p->lane, p->lanes, 1, room,
                                           room + THREADS, room + 2 * THREADS, room + 3 * THREADS);
        normal.mean = m.shift + m.rest;
        normal.inverse = inverse_root(m.m2 * a->share + a->epsilon);
    }
    if (a->saved && p->exists && p->lane == 0) {
        if (!a->t5) put1(mean, p->row, normal.mean);
        put1(rstd, p->row, normal.inverse);
    }
    const bool once = a->inner <= step; /* it is still here */
    for (uint start = 0; start < a->inner; start += step) {
        const uint n = count_of(a, p, start, width);
        if (!once) fetch_sum(a, p, x, x2, start, n, width, v);
        give(a, p, normal, weight, bias, y, start, n, width, v);
    }
}

__kernel WORKGROUP(THREADS) void norm_forward(INPUT(x), INPUT(x2), INPUT(weight), INPUT(bias),
                                              OUTPUT(y), OUTPUT(mean), OUTPUT(rstd),
                                              struct rmcp_ln_args a)
{
    __local float room[4 * THREADS];
    const struct post p = post_of(&a);
    const bool fours = a.fours && is_aligned(ADDRESS(x)) && is_aligned(ADDRESS(y)) &&
                       (!a.add || is_aligned(ADDRESS(x2))) &&
                       (a.weights != 1 || (is_aligned(ADDRESS(weight)) &&
                                           (!a.bias || is_aligned(ADDRESS(bias)))));
    if (fours)
        all(&a, &p, ADDRESS(x), ADDRESS(x2), ADDRESS(weight), ADDRESS(bias), ADDRESS(y),
            ADDRESS(mean), ADDRESS(rstd), 4, room);
    else
        all(&a, &p, ADDRESS(x), ADDRESS(x2), ADDRESS(weight), ADDRESS(bias), ADDRESS(y),
            ADDRESS(mean), ADDRESS(rstd), 1, room);
}
