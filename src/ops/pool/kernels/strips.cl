/* strips.cl: pooling forward, some outputs one above the other a work-item, which share the rows of
 * their windows. Neighbouring work-items have neighbouring outputs, whatever the layout. */
#include "ops/pool/kernels/pool.h"

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

/* Windows of a size that is known, all inside the image. `row` is the distance of indices from one
 * row to the next. */
INLINE void inside(const struct rmcp_pool_args *p, __global const char *x, uint at, uint row,
                   uint kind, uint height, uint width, uint stride, struct strip *s)
{
    float value[3 * 2 + 3];
    uint place[3 * 2 + 3];
    UNROLL for (uint i = 0; i < (STRIP - 1) * stride + height; i++)
    {
        value[i] = load(x, at);
        place[i] = 0;
        UNROLL for (uint k = 1; k < width; k++)
            take(kind, load(x, at + k * p->x[2]), k, &value[i], &place[i]);
        at += p->x[1];
    }
    UNROLL for (uint i = 0; i < STRIP; i++)
    {
        s->value[i] = value[i * stride];
        s->place[i] = place[i * stride];
        UNROLL for (uint k = 1; k < height; k++)
            take(kind, value[i * stride + k], k * row + place[i * stride + k], &s->value[i],
                 &s->place[i]);
    }
}

/* The two sizes that are common. */
INLINE void known(const struct rmcp_pool_args *p, __global const char *x, uint at, uint row,
                  uint kind, struct strip *s)
{
    if (p->window[1] == 3)
        inside(p, x, at, row, kind, 3, 3, 2, s);
    else
        inside(p, x, at, row, kind, 2, 2, 2, s);
}

/* One window of any size, with padding. Returns how many elements it has. */
INLINE uint any(const struct rmcp_pool_args *p, __global const char *x, uint at, struct range d,
                struct range h, struct range w, uint row, uint plane, float *value, uint *place)
{
    const uint count = (uint)(d.end - d.first) * (uint)(h.end - h.first) * (uint)(w.end - w.first);
    *value = p->kind == RMCP_POOL_MEAN ? 0 : count ? MINUS_INFINITY : LOWEST;
    *place = count ? (uint)d.first * plane + (uint)h.first * row + (uint)w.first : 0;
    for (int i = d.first; i < d.end; i++)
        for (int k = h.first; k < h.end; k++) {
            const uint line = at + (uint)(d.begin + i) * p->x[0] + (uint)(h.begin + k) * p->x[1];
            const uint first = (uint)i * plane + (uint)k * row;
            for (int m = w.first; m < w.end; m++) {
                const float v = load(x, line + (uint)(w.begin + m) * p->x[2]);
                if (p->kind == RMCP_POOL_MEAN) {
                    *value += v;
                } else if (beats(v, *value)) {
                    *value = v;
                    *place = first + (uint)m;
                }
            }
        }
    return count;
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
    const int top = (int)(s.h * p.stride[1]) - (int)p.pad[1];
    const bool common = p.window[0] == 1 && p.stride[1] == 2 && p.window[1] == p.window[2] &&
                        (p.window[1] == 3 || p.window[1] == 2);
    const bool whole = common && rows == STRIP && d.end == 1 && d.first == 0 && w.first == 0 &&
                       w.end == (int)p.window[2] && top >= 0 &&
                       top + (STRIP - 1) * 2 + (int)p.window[1] <= (int)p.in[1];
    struct strip strip;
    if (whole) {
        const uint at = s.x + (uint)d.begin * p.x[0] + (uint)top * p.x[1] + (uint)w.begin * p.x[2];
        if (p.kind == RMCP_POOL_MEAN)
            known(&p, ADDRESS(x), at, row, RMCP_POOL_MEAN, &strip);
        else if (p.kind == RMCP_POOL_MAX)
            known(&p, ADDRESS(x), at, row, RMCP_POOL_MAX, &strip);
        else
            known(&p, ADDRESS(x), at, row, RMCP_POOL_MAX_INDEX, &strip);
    }
    UNROLL for (uint i = 0; i < STRIP; i++)
    {
        if (i >= rows) continue;
        const struct range h = range_of(s.h + i, p.stride[1], p.pad[1], p.window[1], p.in[1]);
        uint count = p.window[1] * p.window[2];
        float value = whole ? strip.value[i] : 0;
        uint place = whole ? strip.place[i] : 0;
        if (!whole) count = any(&p, ADDRESS(x), s.x, d, h, w, row, plane, &value, &place);
        if (p.kind == RMCP_POOL_MEAN) value = mean(&p, value, count);
        put_result(&p, ADDRESS(y), s.y + i * p.y[1], value);
        if (p.kind != RMCP_POOL_MAX_INDEX) continue;
        if (p.image && count)
            place += ((uint)d.begin * p.in[1] + (uint)h.begin) * p.in[2] + (uint)w.begin;
        put_index(ADDRESS(index), s.index + i * p.index[1], p.index_bytes, place);
    }
}
