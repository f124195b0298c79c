/* strips.cl: pooling forward, some outputs one above the other a work-item, which share the rows of
 * their windows. Neighbouring work-items have neighbouring outputs, whatever the layout. */
#include "engine/ops/pool/kernels/pool.h"

#define THREADS 256
#define STRIP RMCP_POOL_STRIP

struct strip {
    float value[STRIP];
    uint place[STRIP]; /* of the largest, as indices count */
};

/* One element more. */
INLINE void take(uint kind, float v, uint place, float *value, uint *at)
{
    if (kind == RMCP_POOL_MEAN) {
        *value += v;
    } else if (beats(v, *value)) {
        *value = v;
        if (kind == RMCP_POOL_MAX_INDEX) *at = place;
    }
}

INLINE float neutral(uint kind)
{
    return kind == RMCP_POOL_MEAN ? 0 : MINUS_INFINITY;
}

/* The nearest place that there is. */
INLINE uint inside(int i, uint size)
{
    return i < 0 ? 0 : (uint)i < size ? (uint)i : size - 1;
}

/* Windows of a size that is known, in one layer: what they share is computed once. Padding is
 * loaded from the nearest element and then replaced by one that changes nothing, so that work-items
 * at the edges do as the others and all loads are under way at once. `at` is where the layer
 * begins, `top` the row of the first window, `row` the distance of indices from one row to the
 * next. */
INLINE void strip_of(const struct rmcp_pool_args *p, __global const char *x, uint at, bool layer,
                     int top, struct range w, uint row, uint kind, uint size, uint stride,
                     struct strip *s)
{
    float v[(STRIP - 1) * 2 + 3][3], value[(STRIP - 1) * 2 + 3];
    uint place[(STRIP - 1) * 2 + 3], column[3];
    UNROLL for (uint k = 0; k < size; k++) column[k] =
        at + inside(w.begin + (int)k, p->in[2]) * p->x[2];
    UNROLL for (uint i = 0; i < (STRIP - 1) * stride + size; i++)
    {
        const uint line = inside(top + (int)i, p->in[1]) * p->x[1];
        UNROLL for (uint k = 0; k < size; k++) v[i][k] = load(x, line + column[k]);
    }
    UNROLL for (uint i = 0; i < (STRIP - 1) * stride + size; i++)
    {
        const bool there = layer && (uint)(top + (int)i) < p->in[1];
        value[i] = neutral(kind);
        place[i] = (uint)w.first;
        UNROLL for (uint k = 0; k < size; k++)
        {
            const bool counts = there && (int)k >= w.first && (int)k < w.end;
            take(kind, counts ? v[i][k] : neutral(kind), k, &value[i], &place[i]);
        }
    }
    UNROLL for (uint i = 0; i < STRIP; i++)
    {
        const int begin = top + (int)(i * stride);
        s->value[i] = neutral(kind);
        s->place[i] = (begin < 0 ? (uint)-begin : 0) * row + (uint)w.first;
        UNROLL for (uint k = 0; k < size; k++)
            take(kind, value[i * stride + k], k * row + place[i * stride + k], &s->value[i],
                 &s->place[i]);
    }
}

/* The three sizes that are common. */
INLINE void known(const struct rmcp_pool_args *p, __global const char *x, uint at, bool layer,
                  int top, struct range w, uint row, uint kind, struct strip *s)
{
    if (p->window[1] == 2)
        strip_of(p, x, at, layer, top, w, row, kind, 2, 2, s);
    else if (p->stride[1] == 2)
        strip_of(p, x, at, layer, top, w, row, kind, 3, 2, s);
    else
        strip_of(p, x, at, layer, top, w, row, kind, 3, 1, s);
}

/* One window of any size. */
INLINE void any(const struct rmcp_pool_args *p, __global const char *x, uint at, struct range d,
                struct range h, struct range w, uint row, uint plane, float *value, uint *place)
{
    *value = neutral(p->kind);
    *place = (uint)d.first * plane + (uint)h.first * row + (uint)w.first;
    for (int i = d.first; i < d.end; i++)
        for (int k = h.first; k < h.end; k++) {
            const uint line = at + (uint)(d.begin + i) * p->x[0] + (uint)(h.begin + k) * p->x[1];
            const uint first = (uint)i * plane + (uint)k * row;
            for (int m = w.first; m < w.end; m++)
                take(p->kind, load(x, line + (uint)(w.begin + m) * p->x[2]), first + (uint)m, value,
                     place);
        }
}

__kernel WORKGROUP(THREADS) void pool_strips(INPUT(x), OUTPUT(y), OUTPUT(index),
                                             struct rmcp_pool_args p)
{
    const uint item = GROUP_ID_X * THREADS + LOCAL_ID;
    if (item >= p.count) return;
    const struct spot s = find_spot(&p, item);
    const struct range d = range_of(s.d, p.stride[0], p.pad[0], p.window[0], p.in[0]);
    const struct range w = range_of(s.w, p.stride[2], p.pad[2], p.window[2], p.in[2]);
    const uint row = p.image ? p.in[2] : p.window[2];
    const uint plane = row * (p.image ? p.in[1] : p.window[1]);
    const uint rows = smaller(STRIP, p.out[1] - s.h);
    const bool common = p.window[0] == 1 && p.window[1] == p.window[2] &&
                        (p.stride[1] == 2 ? p.window[1] == 2 || p.window[1] == 3
                                          : p.stride[1] == 1 && p.window[1] == 3);
    struct strip strip;
    if (common) {
        const int top = (int)(s.h * p.stride[1]) - (int)p.pad[1];
        const bool layer = d.first < d.end;
        const uint at = s.x + inside(d.begin, p.in[0]) * p.x[0];
        if (p.kind == RMCP_POOL_MEAN)
            known(&p, ADDRESS(x), at, layer, top, w, row, RMCP_POOL_MEAN, &strip);
        else if (p.kind == RMCP_POOL_MAX)
            known(&p, ADDRESS(x), at, layer, top, w, row, RMCP_POOL_MAX, &strip);
        else
            known(&p, ADDRESS(x), at, layer, top, w, row, RMCP_POOL_MAX_INDEX, &strip);
    }
    UNROLL for (uint i = 0; i < STRIP; i++)
    {
        if (i >= rows) continue;
        const struct range h = range_of(s.h + i, p.stride[1], p.pad[1], p.window[1], p.in[1]);
        const uint count =
            (uint)(d.end - d.first) * (uint)(h.end - h.first) * (uint)(w.end - w.first);
        float value = common ? strip.value[i] : 0;
        uint place = common ? strip.place[i] : 0;
        if (!common) any(&p, ADDRESS(x), s.x, d, h, w, row, plane, &value, &place);
        if (p.kind == RMCP_POOL_MEAN)
            value = mean(&p, value, count);
        else if (!count)
            value = LOWEST;
        put_result(&p, ADDRESS(y), s.y + i * p.y[1], value);
        if (p.kind != RMCP_POOL_MAX_INDEX) continue;
        if (p.image) place += ((uint)d.begin * p.in[1] + (uint)h.begin) * p.in[2] + (uint)w.begin;
        put_index(ADDRESS(index), s.index + i * p.index[1], p.index_bytes, count ? place : 0);
    }
}
