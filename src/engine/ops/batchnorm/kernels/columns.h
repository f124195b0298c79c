/* columns.h: batch normalisation where neighbours belong to different parameters: data is
 * [rows][params]. Work-items lie along the parameters, four for each; above one another they share
 * the rows. */
#ifndef RMCP_OPS_BATCHNORM_KERNELS_COLUMNS_H
#define RMCP_OPS_BATCHNORM_KERNELS_COLUMNS_H

#include "engine/ops/batchnorm/kernels/norm.h"

#ifndef DEPTH
#define DEPTH 4 /* rows that a work-item has in registers at once */
#endif
#define BLOCK (4 * DEPTH)

/* Where a work-item stands: four columns from `first` on, `exist` of which there are. */
struct post {
    uint thread, lane, lanes, level, levels;
    ulong first;
    uint exist;
};

INLINE struct post post_of(const struct rmcp_norm_columns *a)
{
    struct post p;
    p.thread = LOCAL_ID;
    p.lanes = 1u << a->lane_bits;
    p.lane = p.thread & (p.lanes - 1);
    p.level = p.thread >> a->lane_bits;
    p.levels = THREADS >> a->lane_bits;
    const ulong tile = (ulong)(a->first_group + GROUP_ID_X) * p.lanes * 4;
    const ulong params = (ulong)a->params;
    p.first = tile + 4 * p.lane;
    p.exist = p.first >= params ? 0 : params - p.first < 4 ? (uint)(params - p.first) : 4;
    return p;
}

/* The rows of one work-item. */
struct walker {
    ulong at;
    uint left;
};

INLINE struct walker start(const struct rmcp_norm_columns *a, const struct post *p)
{
    const ulong first = (ulong)(a->first_split + GROUP_ID_Y) * a->share + p->level;
    const ulong behind = first - p->level + a->share;
    const ulong end = behind < (ulong)a->rows ? behind : (ulong)a->rows;
    struct walker k;
    k.left = p->exist && first < end ? ((uint)(end - first) + p->levels - 1) / p->levels : 0;
    k.at = first * (ulong)a->params + p->first;
    return k;
}

/* The next rows of a tensor, row after row in v: those of a whole block, or those that are left.
 * Returns their number; the rest of v is zero. */
INLINE uint fetch(const struct rmcp_norm_columns *a, const struct post *p,
                  __global const char *base, struct walker *k, const bool fours, const bool whole,
                  float *v)
{
    UNROLL
    for (uint s = 0; s < DEPTH; s++) {
        /* Columns that are not there are read as the last one: what comes of them is not kept. */
        if ((whole || s < k->left) && fours) {
            get4(base, k->at, v + 4 * s);
        } else {
            UNROLL
            for (uint j = 0; j < 4; j++)
                v[4 * s + j] =
                    whole || s < k->left ? get1(base, k->at + smaller(j, p->exist - 1)) : 0;
        }
        k->at += (ulong)p->levels * (ulong)a->params;
    }
    const uint taken = whole ? DEPTH : k->left;
    k->left -= taken;
    return taken;
}

INLINE void emplace(const struct rmcp_norm_columns *a, const struct post *p, __global char *base,
                    struct walker *k, const bool fours, const bool whole, const float *v)
{
    UNROLL
    for (uint s = 0; s < DEPTH; s++) {
        if ((whole || s < k->left) && fours) {
            put4(base, k->at, v + 4 * s);
        } else if (whole || s < k->left) {
            UNROLL
            for (uint j = 0; j < 4; j++)
                if (j < p->exist) put1(base, k->at + j, v[4 * s + j]);
        }
        k->at += (ulong)p->levels * (ulong)a->params;
    }
    k->left -= whole ? DEPTH : k->left;
}

/* One value of each of a work-item's parameters; zero where there is none. */
INLINE float parameter(const struct post *p, __global const float *values, uint j)
{
    return j < p->exist ? values[p->first + j] : 0;
}

/* ---- moments, of four columns with the same number of elements ---- */

struct moments4 {
    float n, shift[4], rest[4], m2[4];
};

/* All values of a work-item are taken relative to its first one. */
INLINE void add_block(struct moments4 *m, float *v, const bool whole, uint n)
{
    const float count = whole ? DEPTH : (float)n;
    const float part = whole ? 1.0f / DEPTH : 1.0f / (float)n;
    const float all = m->n + count, share = count / all, weight = m->n * share;
    const bool first = m->n == 0;
    UNROLL
    for (uint j = 0; j < 4; j++) {
        m->shift[j] = first ? v[j] : m->shift[j];
        float sum = 0, square = 0;
        UNROLL
        for (uint s = 0; s < DEPTH; s++) {
            v[4 * s + j] = whole || s < n ? v[4 * s + j] - m->shift[j] : 0;
            sum += v[4 * s + j];
        }
        const float mean = sum * part;
        UNROLL
        for (uint s = 0; s < DEPTH; s++) {
            const float distance = whole || s < n ? v[4 * s + j] - mean : 0;
            square += distance * distance;
        }
        const float delta = mean - m->rest[j];
        m->rest[j] += delta * share;
        m->m2[j] += square + delta * delta * weight;
    }
    m->n = all;
}

INLINE struct moments4 gather(const struct rmcp_norm_columns *a, const struct post *p,
                              __global const char *x, const bool fours)
{
    struct walker k = start(a, p);
    struct moments4 m = { 0, { 0, 0, 0, 0 }, { 0, 0, 0, 0 }, { 0, 0, 0, 0 } };
    float v[BLOCK];
    while (k.left >= DEPTH) {
        fetch(a, p, x, &k, fours, true, v);
        add_block(&m, v, true, DEPTH);
    }
    if (k.left) {
        const uint n = fetch(a, p, x, &k, fours, false, v);
        add_block(&m, v, false, n);
    }
    return m;
}

/* Those of one column. */
INLINE struct moments column_of(const struct moments4 *m, uint j)
{
    const struct moments one = { m->n, m->shift[j], m->rest[j], m->m2[j] };
    return one;
}

/* ---- sums of gradients ---- */

struct sums4 {
    float sum[4], product[4];
};

INLINE void add_gradients(const struct rmcp_epilogue *e, const struct slope *s, struct sums4 *all,
                          const float *x, const float *dy, const bool whole, uint n)
{
    UNROLL
    for (uint j = 0; j < 4; j++) {
        float sum = 0, product = 0;
        UNROLL
        for (uint r = 0; r < DEPTH; r++) {
            const bool here = whole || r < n;
            const float g = here ? behind(e, &s[j], x[4 * r + j], dy[4 * r + j]) : 0;
            sum += g;
            product += g * (here ? x[4 * r + j] - s[j].mean : 0);
        }
        all->sum[j] += sum;
        all->product[j] += product;
    }
}

INLINE struct sums4 gather_gradients(const struct rmcp_norm_columns *a, const struct post *p,
                                     const struct slope *s, __global const char *x,
                                     __global const char *dy, const bool fours)
{
    const struct rmcp_epilogue *e = &a->figures.epilogue;
    struct walker k = start(a, p), l = k;
    struct sums4 all = { { 0, 0, 0, 0 }, { 0, 0, 0, 0 } };
    float v[BLOCK], w[BLOCK];
    while (k.left >= DEPTH) {
        fetch(a, p, x, &k, fours, true, v);
        fetch(a, p, dy, &l, fours, true, w);
        add_gradients(e, s, &all, v, w, true, DEPTH);
    }
    if (k.left) {
        const uint n = fetch(a, p, x, &k, fours, false, v);
        fetch(a, p, dy, &l, fours, false, w);
        add_gradients(e, s, &all, v, w, false, n);
    }
    return all;
}

INLINE struct sums sums_of(const struct sums4 *s, uint j)
{
    const struct sums one = { s->sum[j], s->product[j] };
    return one;
}

/* ---- values ---- */

INLINE void apply(const struct rmcp_norm_columns *a, const struct post *p, const struct slope *s,
                  __global const char *x, __global char *y, const bool fours)
{
    const struct rmcp_epilogue *e = &a->figures.epilogue;
    struct walker k = start(a, p), l = k;
    float v[BLOCK];
    while (k.left >= DEPTH) {
        fetch(a, p, x, &k, fours, true, v);
        UNROLL
        for (uint i = 0; i < BLOCK; i++) v[i] = forward(e, &s[i % 4], v[i]);
        emplace(a, p, y, &l, fours, true, v);
    }
    if (k.left) {
        fetch(a, p, x, &k, fours, false, v);
        UNROLL
        for (uint i = 0; i < BLOCK; i++) v[i] = forward(e, &s[i % 4], v[i]);
        emplace(a, p, y, &l, fours, false, v);
    }
}

INLINE void apply_gradients(const struct rmcp_norm_columns *a, const struct post *p,
                            const struct slope *s, __global const char *x, __global const char *dy,
                            __global char *dx, const bool fours)
{
    const struct rmcp_epilogue *e = &a->figures.epilogue;
    struct walker k = start(a, p), l = k, m = k;
    float v[BLOCK], w[BLOCK];
    while (k.left >= DEPTH) {
        fetch(a, p, x, &k, fours, true, v);
        fetch(a, p, dy, &l, fours, true, w);
        UNROLL
        for (uint i = 0; i < BLOCK; i++) v[i] = backward(e, &s[i % 4], v[i], w[i]);
        emplace(a, p, dx, &m, fours, true, v);
    }
    if (k.left) {
        fetch(a, p, x, &k, fours, false, v);
        fetch(a, p, dy, &l, fours, false, w);
        UNROLL
        for (uint i = 0; i < BLOCK; i++) v[i] = backward(e, &s[i % 4], v[i], w[i]);
        emplace(a, p, dx, &m, fours, false, v);
    }
}

INLINE float bias_of(const struct rmcp_norm_columns *a, const struct post *p,
                     __global const float *bias, uint j)
{
    return a->figures.epilogue.bias ? parameter(p, bias, j) : 0;
}

/* Where figure `which` of column j of this workgroup's part goes in the workspace. */
INLINE ulong part_of(const struct rmcp_norm_columns *a, const struct post *p, uint which,
                     uint splits, uint j)
{
    return ((ulong)which * (ulong)a->params + p->first + j) * splits + a->first_split + GROUP_ID_Y;
}

#endif
