/* rows.h: batch normalisation where a channel's elements are neighbours: data is
 * [outer][params][inner]. A workgroup has one channel, a part of one, or several small ones. */
#ifndef RMCP_OPS_BATCHNORM_KERNELS_ROWS_H
#define RMCP_OPS_BATCHNORM_KERNELS_ROWS_H

#include "engine/ops/batchnorm/kernels/norm.h"

#define BLOCK 16 /* elements that a work-item has in registers at once */

/* The work of one work-item: where it is, and how many steps are left. */
struct walker {
    ulong at;
    uint step, left;
};

/* Which channel a work-item has, and which of its lanes it is. */
struct post {
    uint thread, lane, lanes, param;
    bool exists;
    ulong begin;
};

INLINE struct post post_of(const struct rmcp_norm_rows *a)
{
    struct post p;
    p.thread = LOCAL_ID;
    p.lanes = 1u << a->lane_bits;
    p.lane = p.thread & (p.lanes - 1);
    const uint channels = THREADS >> a->lane_bits; /* of a workgroup */
    const uint param = (a->first_group + GROUP_ID_X) * channels + (p.thread >> a->lane_bits);
    p.exists = param < a->params;
    p.param = p.exists ? param : 0;
    p.begin = (ulong)p.param * (ulong)a->inner;
    return p;
}

INLINE struct walker start(const struct rmcp_norm_rows *a, const struct post *p, const uint width)
{
    const struct rmcp_norm_walk *w = &a->walk[width == 4];
    const ulong first = (ulong)(a->first_split + GROUP_ID_Y) * w->share + p->lane;
    const ulong behind = first - p->lane + w->share;
    const ulong end = behind < (ulong)w->steps ? behind : (ulong)w->steps;
    struct walker k;
    k.left = p->exists && first < end ? ((uint)(end - first) + p->lanes - 1) >> a->lane_bits : 0;
    const ulong row = first < 0x80000000u ? divide((uint)first, w->row) : first / w->row.divisor;
    k.step = (uint)(first - row * w->row.divisor);
    k.at = p->begin + row * (ulong)a->image + (ulong)k.step * width;
    return k;
}

INLINE void advance(const struct rmcp_norm_rows *a, struct walker *k, const uint width)
{
    const struct rmcp_norm_walk *w = &a->walk[width == 4];
    k->at += (ulong)w->jump;
    k->step += w->skip;
    if (k->step >= w->row.divisor) {
        k->step -= w->row.divisor;
        k->at += (ulong)(a->image - a->inner);
    }
}

/* The next steps of a tensor: those of a whole block, or those that are left. Returns the number of
 * elements; what lies behind them in v is zero. */
INLINE uint fetch(const struct rmcp_norm_rows *a, __global const char *base, struct walker *k,
                  const uint width, const bool whole, float *v)
{
    const uint steps = BLOCK / width;
    UNROLL
    for (uint s = 0; s < steps; s++) {
        if (whole || s < k->left) {
            if (width == 4)
                get4(base, k->at, v + 4 * s);
            else
                v[s] = get1(base, k->at);
            advance(a, k, width);
        } else {
            for (uint j = 0; j < width; j++) v[width * s + j] = 0;
        }
    }
    const uint taken = whole ? steps : k->left;
    k->left -= taken;
    return taken * width;
}

INLINE void emplace(const struct rmcp_norm_rows *a, __global char *base, struct walker *k,
                    const uint width, const bool whole, const float *v)
{
    const uint steps = BLOCK / width;
    UNROLL
    for (uint s = 0; s < steps; s++)
        if (whole || s < k->left) {
            if (width == 4)
                put4(base, k->at, v + 4 * s);
            else
                put1(base, k->at, v[s]);
            advance(a, k, width);
        }
    k->left -= whole ? steps : k->left;
}

/* ---- moments ---- */

/* All values of a work-item are taken relative to the mean of its first block. */
INLINE void add_block(struct moments *m, float *v, const bool whole, uint n)
{
    const float count = whole ? BLOCK : (float)n;
    const float part = whole ? 1.0f / BLOCK : 1.0f / (float)n;
    float sum[4] = { 0, 0, 0, 0 }, square[4] = { 0, 0, 0, 0 };
    if (m->n == 0) {
        UNROLL
        for (uint j = 0; j < BLOCK; j++) sum[j % 4] += v[j];
        m->shift = ((sum[0] + sum[1]) + (sum[2] + sum[3])) * part;
        sum[0] = sum[1] = sum[2] = sum[3] = 0;
    }
    UNROLL
    for (uint j = 0; j < BLOCK; j++) {
        v[j] = whole || j < n ? v[j] - m->shift : 0;
        sum[j % 4] += v[j];
    }
    const float mean = ((sum[0] + sum[1]) + (sum[2] + sum[3])) * part;
    UNROLL
    for (uint j = 0; j < BLOCK; j++) {
        const float distance = whole || j < n ? v[j] - mean : 0;
        square[j % 4] += distance * distance;
    }
    const float all = m->n + count, share = count / all, delta = mean - m->rest;
    m->m2 += ((square[0] + square[1]) + (square[2] + square[3])) + delta * delta * (m->n * share);
    m->rest += delta * share;
    m->n = all;
}

INLINE struct moments gather(const struct rmcp_norm_rows *a, const struct post *p,
                             __global const char *x, const uint width)
{
    struct walker k = start(a, p, width);
    struct moments m = { 0, 0, 0, 0 };
    float v[BLOCK];
    while (k.left >= BLOCK / width) {
        fetch(a, x, &k, width, true, v);
        add_block(&m, v, true, BLOCK);
    }
    if (k.left) {
        const uint n = fetch(a, x, &k, width, false, v);
        add_block(&m, v, false, n);
    }
    return m;
}

/* ---- sums of gradients ---- */

INLINE void add_gradients(const struct rmcp_epilogue *e, const struct slope *s, float *sum,
                          float *product, const float *x, const float *dy, const bool whole, uint n)
{
    UNROLL
    for (uint j = 0; j < BLOCK; j++) {
        const float g = whole || j < n ? behind(e, s, x[j], dy[j]) : 0;
        const float distance = whole || j < n ? x[j] - s->mean : 0;
        sum[j % 4] += g;
        product[j % 4] += g * distance;
    }
}

INLINE struct sums gather_gradients(const struct rmcp_norm_rows *a, const struct post *p,
                                    const struct slope *s, __global const char *x,
                                    __global const char *dy, const uint width)
{
    const struct rmcp_epilogue *e = &a->figures.epilogue;
    struct walker k = start(a, p, width), l = k;
    float sum[4] = { 0, 0, 0, 0 }, product[4] = { 0, 0, 0, 0 }, v[BLOCK], w[BLOCK];
    while (k.left >= BLOCK / width) {
        fetch(a, x, &k, width, true, v);
        fetch(a, dy, &l, width, true, w);
        add_gradients(e, s, sum, product, v, w, true, BLOCK);
    }
    if (k.left) {
        const uint n = fetch(a, x, &k, width, false, v);
        fetch(a, dy, &l, width, false, w);
        add_gradients(e, s, sum, product, v, w, false, n);
    }
    const struct sums all = { (sum[0] + sum[1]) + (sum[2] + sum[3]),
                              (product[0] + product[1]) + (product[2] + product[3]) };
    return all;
}

/* ---- values ---- */

INLINE void apply(const struct rmcp_norm_rows *a, const struct post *p, const struct slope *s,
                  __global const char *x, __global char *y, const uint width)
{
    const struct rmcp_epilogue *e = &a->figures.epilogue;
    struct walker k = start(a, p, width), l = k;
    float v[BLOCK];
    while (k.left >= BLOCK / width) {
        fetch(a, x, &k, width, true, v);
        UNROLL
        for (uint j = 0; j < BLOCK; j++) v[j] = forward(e, s, v[j]);
        emplace(a, y, &l, width, true, v);
    }
    if (k.left) {
        fetch(a, x, &k, width, false, v);
        UNROLL
        for (uint j = 0; j < BLOCK; j++) v[j] = forward(e, s, v[j]);
        emplace(a, y, &l, width, false, v);
    }
}

INLINE void apply_gradients(const struct rmcp_norm_rows *a, const struct post *p,
                            const struct slope *s, __global const char *x, __global const char *dy,
                            __global char *dx, const uint width)
{
    const struct rmcp_epilogue *e = &a->figures.epilogue;
    struct walker k = start(a, p, width), l = k, m = k;
    float v[BLOCK], w[BLOCK];
    while (k.left >= BLOCK / width) {
        fetch(a, x, &k, width, true, v);
        fetch(a, dy, &l, width, true, w);
        UNROLL
        for (uint j = 0; j < BLOCK; j++) v[j] = backward(e, s, v[j], w[j]);
        emplace(a, dx, &m, width, true, v);
    }
    if (k.left) {
        fetch(a, x, &k, width, false, v);
        fetch(a, dy, &l, width, false, w);
        UNROLL
        for (uint j = 0; j < BLOCK; j++) v[j] = backward(e, s, v[j], w[j]);
        emplace(a, dx, &m, width, false, v);
    }
}

INLINE float bias_of(const struct rmcp_norm_rows *a, const struct post *p,
                     __global const float *bias)
{
    return a->figures.epilogue.bias ? bias[p->param] : 0;
}

/* Where figure `which` of this workgroup's part goes in the workspace. */
INLINE ulong part_of(const struct rmcp_norm_rows *a, const struct post *p, uint which, uint splits)
{
    return ((ulong)which * a->params + p->param) * splits + a->first_split + GROUP_ID_Y;
}

#endif
