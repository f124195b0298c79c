/* tiles.cl: pooling forward with windows that are known: HIGH x WIDE outputs a work-item, which share the rows of their
 * windows. */
#include "ops/pool/kernels/tiles.h"

#define HIGH RMCP_POOL_HIGH
#define WIDE (LAST ? 2 : RMCP_POOL_SPAN / STRIDE)
#define SPAN ((WIDE - 1) * STRIDE + WINDOW)   /* columns of a tile's windows */
#define ROWS ((HIGH - 1) * STRIDE + WINDOW)

struct tile {
    float value[HIGH][WIDE][LANES];
    uint place[HIGH][WIDE][LANES]; /* of the largest, in rows of `row` elements */
};

/* One element more, where there is one. */
INLINE void take(uint kind, bool there, float v, uint place, float *value, uint *at)
{
    if (kind == RMCP_POOL_MEAN) {
        *value += there ? v : 0;
    } else {
        const bool wins = there && beats(v, *value);
        *value = wins ? v : *value;
        if (kind == RMCP_POOL_MAX_INDEX) *at = wins ? place : *at;
    }
}

/* A row of x as it was loaded: with LAST a chunk for each column; else RMCP_POOL_SPAN columns that begin at a multiple of it, and
 * what the windows need beside them. */
struct line {
#if LAST
    channels column[SPAN];
#else
    raw4 four[2];
    raw before, behind[2];
#endif
};

/* Row `row` of the image, from column `begin` on. */
INLINE struct line read_line(const struct rmcp_pool_args *p, __global const char *x, const struct spot *s, int row,
                             int begin, const uint pad)
{
    const uint line = s->x + s->d * p->x[0] + (uint)row * p->x[1];
    const bool there = (uint)row < p->in[1];
    struct line l;
#if LAST
    UNROLL for (uint i = 0; i < SPAN; i++) {
        const uint column = (uint)(begin + (int)i);
        l.column[i] = 0;
        if (there && column < p->in[2]) l.column[i] = get_channels(x, line + column * p->x[2]);
    }
#else
    const uint first = (uint)(begin + (int)pad), most = p->in[2] - 1;
    l.four[0] = l.four[1] = 0;
    l.before = l.behind[0] = l.behind[1] = 0;
    if (there) {
        if (first + RMCP_POOL_SPAN <= p->in[2] && is_aligned(x, line + first)) {
            l.four[0] = load_raw4(x, line + first);
            l.four[1] = load_raw4(x, line + first + 4);
        } else { /* of what does not exist the last one, which is not used */
            raw w[RMCP_POOL_SPAN];
            UNROLL for (uint i = 0; i < RMCP_POOL_SPAN; i++) w[i] = load_raw(x, line + smaller(first + i, most));
            l.four[0] = raw4_of(w[0], w[1], w[2], w[3]);
            l.four[1] = raw4_of(w[4], w[5], w[6], w[7]);
        }
        if (pad && first > 0) l.before = load_raw(x, line + first - 1);
        if (SPAN - pad > RMCP_POOL_SPAN) l.behind[0] = load_raw(x, line + smaller(first + RMCP_POOL_SPAN, most));
        if (SPAN - pad > RMCP_POOL_SPAN + 1) l.behind[1] = load_raw(x, line + smaller(first + RMCP_POOL_SPAN + 1, most));
    }
#endif
    return l;
}

/* Its values; beside the image there is what changes nothing. */
INLINE void values_of_line(float v[SPAN][LANES], const struct line *l, const struct rmcp_pool_args *p, int begin,
                           float other, const uint pad)
{
#if LAST
    UNROLL for (uint i = 0; i < SPAN; i++) values_of(v[i], l->column[i]);
#else
    float w[RMCP_POOL_SPAN];
    values_of_raw4(w, l->four[0]);
    values_of_raw4(w + 4, l->four[1]);
    UNROLL for (uint i = 0; i < SPAN; i++) {
        const uint from = i - pad;
        v[i][0] = from < RMCP_POOL_SPAN ? w[from]
                  : i < pad             ? value_of_raw(l->before)
                                        : value_of_raw(l->behind[from - RMCP_POOL_SPAN]);
    }
#endif
    UNROLL for (uint i = 0; i < SPAN; i++) UNROLL for (uint k = 0; k < LANES; k++)
        v[i][k] = (uint)(begin + (int)i) < p->in[2] ? v[i][k] : other;
}

INLINE void fill(const struct rmcp_pool_args *p, __global const char *x, const struct spot *s, uint row,
                 const uint kind, const uint pad, struct tile *t)
{
    const float other = kind == RMCP_POOL_MEAN ? 0 : MINUS_INFINITY;
    struct line l[ROWS];
    const int top = (int)(s->h * STRIDE) - (int)p->pad[1], begin = (int)(s->w * STRIDE) - (int)p->pad[2];
    if (!LAST) { /* else there are not as many registers */
        UNROLL for (uint r = 0; r < ROWS; r++) l[r] = read_line(p, x, s, top + (int)r, begin, pad);
    }
    UNROLL for (uint i = 0; i < HIGH; i++) UNROLL for (uint j = 0; j < WIDE; j++) UNROLL for (uint k = 0; k < LANES; k++) {
        const int above = -(top + (int)(i * STRIDE)), before = -(begin + (int)(j * STRIDE));
        t->value[i][j][k] = other;
        t->place[i][j][k] = (above > 0 ? (uint)above * row : 0) + (before > 0 ? (uint)before : 0);
    }
    UNROLL for (uint r = 0; r < ROWS; r++) {
        const bool there = (uint)(top + (int)r) < p->in[1];
        float v[SPAN][LANES];
        if (LAST) l[r] = read_line(p, x, s, top + (int)r, begin, pad);
        values_of_line(v, &l[r], p, begin, other, pad);
        UNROLL for (uint j = 0; j < WIDE; j++) UNROLL for (uint k = 0; k < LANES; k++) {
            float value = v[j * STRIDE][k];
            uint place = 0;
            UNROLL for (uint c = 1; c < WINDOW; c++)
                take(kind, true, v[j * STRIDE + c][k], c, &value, &place);
            UNROLL for (uint i = 0; i < HIGH; i++)
                if (r - i * STRIDE < WINDOW)
                    take(kind, there, value, (r - i * STRIDE) * row + place, &t->value[i][j][k], &t->place[i][j][k]);
        }
    }
}

/* Indices that lie side by side, four of a byte at once. */
INLINE void put_indices(const struct rmcp_pool_args *p, __global char *index, uint at, uint apart, const uint *place)
{
    if (p->index_bytes == 1 && apart == 1 && ((uint)(ulong)index + at) % 4 == 0) {
        *(__global uint *)(index + at) = (place[0] & 255) | (place[1] & 255) << 8 | (place[2] & 255) << 16 | place[3] << 24;
        return;
    }
    UNROLL for (uint k = 0; k < 4; k++) put_index(index, at + k * apart, p->index_bytes, place[k]);
}

/* The result of one output, and its index. */
INLINE void finish(const struct rmcp_pool_args *p, struct range h, uint o, uint kind, float *value, uint *place)
{
    const struct range w = range_of(o, STRIDE, p->pad[2], WINDOW, p->in[2]);
    const uint count = (uint)(h.end - h.first) * (uint)(w.end - w.first);
    if (kind == RMCP_POOL_MEAN)
        *value = mean(p, *value, count);
    else if (!count)
        *value = LOWEST;
    if (kind != RMCP_POOL_MAX_INDEX) return;
    if (p->image) *place += (uint)h.begin * p->in[2] + (uint)w.begin;
    if (!count) *place = 0;
}

INLINE void give(const struct rmcp_pool_args *p, const struct spot *s, struct tile *t, const uint kind,
                 __global char *y, __global char *index)
{
    UNROLL for (uint i = 0; i < HIGH; i++) {
        if (s->h + i >= p->out[1]) continue;
        struct range h = range_of(s->h + i, STRIDE, p->pad[1], WINDOW, p->in[1]);
        if (p->image) h.begin += (int)(s->d * p->in[1]);
        UNROLL for (uint j = 0; j < WIDE; j++) UNROLL for (uint k = 0; k < LANES; k++)
            finish(p, h, s->w + j, kind, &t->value[i][j][k], &t->place[i][j][k]);
        const uint at = s->y + i * p->y[1], index_at = s->index + i * p->index[1];
#if LAST
        UNROLL for (uint j = 0; j < WIDE; j++) {
            if (s->w + j >= p->out[2]) continue;
            put_four(p, y, at + j * p->y[2], t->value[i][j]);
            if (kind == RMCP_POOL_MAX_INDEX)
                put_indices(p, index, index_at + j * p->index[2], p->index_channel, t->place[i][j]);
        }
#else
        UNROLL for (uint j = 0; j < WIDE; j += 4) {
            float v[4];
            uint place[4];
            UNROLL for (uint k = 0; k < 4; k++) v[k] = t->value[i][j + k][0], place[k] = t->place[i][j + k][0];
            if (s->w + j + 4 <= p->out[2]) {
                put_four(p, y, at + j, v);
                if (kind == RMCP_POOL_MAX_INDEX) put_indices(p, index, index_at + j * p->index[2], p->index[2], place);
                continue;
            }
            UNROLL for (uint k = 0; k < 4; k++) {
                if (s->w + j + k >= p->out[2]) continue;
                put_result(p, y, at + j + k, v[k]);
                if (kind == RMCP_POOL_MAX_INDEX)
                    put_index(index, index_at + (j + k) * p->index[2], p->index_bytes, place[k]);
            }
        }
#endif
    }
}

INLINE void all(const struct rmcp_pool_args *p, const struct spot *s, __global const char *x, __global char *y,
                __global char *index, const uint kind)
{
    struct tile t;
    const uint row = p->image ? p->in[2] : WINDOW;
#if LAST
    fill(p, x, s, row, kind, 0, &t);
#else
    if (p->pad[2])
        fill(p, x, s, row, kind, 1, &t);
    else
        fill(p, x, s, row, kind, 0, &t);
#endif
    give(p, s, &t, kind, y, index);
}

__kernel WORKGROUP(THREADS) void pool_tiles(INPUT(x), OUTPUT(y), OUTPUT(index), struct rmcp_pool_args p)
{
    const uint item = GROUP_ID_X * THREADS + LOCAL_ID;
    if (item >= p.count) return;
    const struct spot s = find_spot(&p, item);
    if (p.kind == RMCP_POOL_MEAN)
        all(&p, &s, ADDRESS(x), ADDRESS(y), ADDRESS(index), RMCP_POOL_MEAN);
    else if (p.kind == RMCP_POOL_MAX)
        all(&p, &s, ADDRESS(x), ADDRESS(y), ADDRESS(index), RMCP_POOL_MAX);
    else
        all(&p, &s, ADDRESS(x), ADDRESS(y), ADDRESS(index), RMCP_POOL_MAX_INDEX);
}
