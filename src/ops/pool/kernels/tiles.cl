/* tiles.cl: pooling forward with windows that are known: HIGH x WIDE outputs a work-item, which share the rows of their
 * windows. */
#include "ops/pool/kernels/tiles.h"

#define HIGH RMCP_POOL_HIGH((int)sizeof(element), STRIDE, LAST)
#define SPAN RMCP_POOL_SPAN((int)sizeof(element), STRIDE, 0)
#define WIDE (LAST ? 2 : SPAN / STRIDE)
#define ACROSS ((WIDE - 1) * STRIDE + WINDOW) /* columns of a tile's windows */
#define ROWS ((HIGH - 1) * STRIDE + WINDOW)

struct tile {
    float value[HIGH][WIDE][LANES];
    uint place[HIGH][WIDE][LANES]; /* of the largest, in rows of `row` elements, from the tile's first one on */
};

/* What a and b, which comes behind it, are together. */
INLINE void join(const uint kind, float *value, uint *at, float v, uint place)
{
    if (kind == RMCP_POOL_MEAN) {
        *value += v;
        return;
    }
    const bool wins = beats(v, *value);
    *value = wins ? v : *value;
    if (kind == RMCP_POOL_MAX_INDEX) *at = wins ? place : *at;
}

/* A row of x: with LAST chunks of LANES channels; else SPAN columns, and what the windows need beside them. Beside the image
 * there is what changes nothing. */
struct line {
#if LAST
    uint column[ACROSS][WORDS(LANES)];
#else
    uint word[WORDS(SPAN)], before, behind[2];
#endif
};

/* Row `row` of the image, from column `begin` on. */
INLINE void read_line(struct line *l, const struct rmcp_pool_args *p, __global const char *x, const struct spot *s, int row,
                      int begin, const uint pad, const uint other)
{
    const uint line = s->x + s->d * p->x[0] + (uint)row * p->x[1];
    const bool there = (uint)row < p->in[1];
#if LAST
    UNROLL for (uint i = 0; i < ACROSS; i++) {
        const uint column = (uint)(begin + (int)i);
        load_channels(l->column[i], x, line + column * p->x[2], there && column < p->in[2], other);
    }
#else
    const uint first = (uint)(begin + (int)pad), left = there && first < p->in[2] ? p->in[2] - first : 0;
    load_some(l->word, x, line + first, left, other, SPAN);
    l->before = l->behind[0] = l->behind[1] = other;
    if (pad && first > 0 && there && first <= p->in[2]) l->before = bits_at(x, line + first - 1);
    if (ACROSS - pad > SPAN && left > SPAN) l->behind[0] = bits_at(x, line + first + SPAN);
    if (ACROSS - pad > SPAN + 1 && left > SPAN + 1) l->behind[1] = bits_at(x, line + first + SPAN + 1);
#endif
}

INLINE float value_of_line(const struct line *l, uint i, uint k, const uint pad)
{
#if LAST
    return value_at(l->column[i], k);
#else
    const uint from = i - pad;
    return from < SPAN ? value_at(l->word, from) : i < pad ? value_at(&l->before, 0) : value_at(&l->behind[from - SPAN], 0);
#endif
}

INLINE void fill(const struct rmcp_pool_args *p, __global const char *x, const struct spot *s, uint row, int top, int begin,
                 const uint kind, const uint pad, struct tile *t)
{
    const uint other = kind == RMCP_POOL_MEAN ? 0 : MINUS;
    struct line l[ROWS];
    if (!LAST) { /* else there are not as many registers */
        UNROLL for (uint r = 0; r < ROWS; r++) read_line(&l[r], p, x, s, top + (int)r, begin, pad, other);
    }
    UNROLL for (uint r = 0; r < ROWS; r++) {
        if (LAST) read_line(&l[r], p, x, s, top + (int)r, begin, pad, other);
        UNROLL for (uint j = 0; j < WIDE; j++) UNROLL for (uint k = 0; k < LANES; k++) {
            float value = value_of_line(&l[r], j * STRIDE, k, pad);
            uint place = j * STRIDE;
            UNROLL for (uint c = 1; c < WINDOW; c++)
                join(kind, &value, &place, value_of_line(&l[r], j * STRIDE + c, k, pad), j * STRIDE + c);
            place += r * row;
            UNROLL for (uint i = 0; i < HIGH; i++) {
                if (r == i * STRIDE)
                    t->value[i][j][k] = value, t->place[i][j][k] = place;
                else if (r - i * STRIDE < WINDOW)
                    join(kind, &t->value[i][j][k], &t->place[i][j][k], value, place);
            }
        }
    }
}

/* What a place in a tile lacks of that in the image, or in the window of output (i, j). */
INLINE uint base_of(const struct rmcp_pool_args *p, const struct spot *s, uint row, uint i, uint j)
{
    if (!p->image) return 0 - (i * STRIDE * row + j * STRIDE);
    return (s->d * p->in[1] + s->h * STRIDE - p->pad[1]) * row + s->w * STRIDE - p->pad[2];
}

/* Where nothing is above -Inf it is the first element of the window that counts, if there is one. */
INLINE void mend(const struct rmcp_pool_args *p, const struct spot *s, uint row, struct tile *t)
{
    UNROLL for (uint i = 0; i < HIGH; i++) UNROLL for (uint j = 0; j < WIDE; j++) {
        const struct range h = range_of(s->h + i, STRIDE, p->pad[1], WINDOW, p->in[1]);
        const struct range w = range_of(s->w + j, STRIDE, p->pad[2], WINDOW, p->in[2]);
        const bool none = h.first >= h.end || w.first >= w.end;
        UNROLL for (uint k = 0; k < LANES; k++) {
            if (t->value[i][j][k] != MINUS_INFINITY) continue;
            if (none) t->value[i][j][k] = LOWEST;
            t->place[i][j][k] = none ? 0 - base_of(p, s, row, i, j) : (i * STRIDE + (uint)h.first) * row + j * STRIDE + (uint)w.first;
        }
    }
}

/* Four indices that lie `apart`, at once where there often are some of their size. */
INLINE void put_places(const struct rmcp_pool_args *p, __global char *index, uint at, uint apart, uint left, const uint *place)
{
    __global char *to = index + (ulong)at * p->index_bytes;
    const bool together = apart == 1 && left >= 4;
    if (together && p->index_bytes == 1 && (uint)(ulong)to % 4 == 0) {
        *(__global uint *)to = (place[0] & 255) | (place[1] & 255) << 8 | (place[2] & 255) << 16 | place[3] << 24;
    } else if (together && p->index_bytes == 8 && (uint)(ulong)to % 16 == 0) {
        *(__global uint4 *)to = (uint4)(place[0], 0, place[1], 0);
        *(__global uint4 *)(to + 16) = (uint4)(place[2], 0, place[3], 0);
    } else {
        UNROLL for (uint k = 0; k < 4; k++)
            if (k < left) put_index(index, at + k * apart, p->index_bytes, place[k]);
    }
}

INLINE void give(const struct rmcp_pool_args *p, const struct spot *s, uint row, struct tile *t, const uint kind,
                 __global char *y, __global char *index)
{
    float wide[WIDE];
    UNROLL for (uint j = 0; j < WIDE; j++) wide[j] = 1;
    if (kind == RMCP_POOL_MEAN && !p->full) {
        UNROLL for (uint j = 0; j < WIDE; j++) wide[j] = part_of(s->w + j, p->pad[2], p->in[2]);
    }
    UNROLL for (uint i = 0; i < HIGH; i++) {
        if (s->h + i >= p->out[1]) continue;
        const uint at = s->y + i * p->y[1], index_at = s->index + i * p->index[1];
        const float high = p->full ? p->share : part_of(s->h + i, p->pad[1], p->in[1]);
        UNROLL for (uint j = 0; j < WIDE; j++) {
            const uint base = base_of(p, s, row, i, j);
            UNROLL for (uint k = 0; k < LANES; k++) {
                if (kind == RMCP_POOL_MEAN) t->value[i][j][k] *= high * wide[j];
                t->place[i][j][k] += base;
            }
        }
#if LAST
        UNROLL for (uint j = 0; j < WIDE; j++) {
            if (s->w + j >= p->out[2]) continue;
            put_some(p, y, at + j * p->y[2], LANES, t->value[i][j], LANES);
            if (kind != RMCP_POOL_MAX_INDEX) continue;
            UNROLL for (uint k = 0; k < LANES; k += 4)
                put_places(p, index, index_at + j * p->index[2] + k * p->index_channel, p->index_channel, 4,
                           t->place[i][j] + k);
        }
#else
        float v[WIDE];
        uint place[WIDE];
        UNROLL for (uint j = 0; j < WIDE; j++) v[j] = t->value[i][j][0], place[j] = t->place[i][j][0];
        const uint left = p->out[2] - s->w;
        put_some(p, y, at, left, v, WIDE);
        if (kind != RMCP_POOL_MAX_INDEX) continue;
        UNROLL for (uint j = 0; j < WIDE; j += 4)
            put_places(p, index, index_at + j * p->index[2], p->index[2], left > j ? left - j : 0, place + j);
#endif
    }
}

INLINE void all(const struct rmcp_pool_args *p, const struct spot *s, __global const char *x, __global char *y,
                __global char *index, const uint kind)
{
    struct tile t;
    const uint row = p->image ? p->in[2] : WINDOW;
    const int top = (int)(s->h * STRIDE) - (int)p->pad[1], begin = (int)(s->w * STRIDE) - (int)p->pad[2];
#if LAST
    fill(p, x, s, row, top, begin, kind, 0, &t);
#else
    if (p->pad[2])
        fill(p, x, s, row, top, begin, kind, 1, &t);
    else
        fill(p, x, s, row, top, begin, kind, 0, &t);
#endif
    if (kind != RMCP_POOL_MEAN) {
        bool low = false;
        UNROLL for (uint i = 0; i < HIGH; i++) UNROLL for (uint j = 0; j < WIDE; j++) UNROLL for (uint k = 0; k < LANES; k++)
            low = low || t.value[i][j][k] == MINUS_INFINITY;
        if (low) mend(p, s, row, &t);
    }
    give(p, s, row, &t, kind, y, index);
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
