/* tiles.cl: pooling forward with windows that are known: HIGH x WIDE outputs a work-item, which share the rows of their
 * windows. */
#include "engine/ops/pool/kernels/tiles.h"

#include "engine/kernels/meet.h"

#define HIGH RMCP_POOL_HIGH((int)sizeof(element), STRIDE, LAST)
#define SPAN RMCP_POOL_SPAN((int)sizeof(element), STRIDE, 0)
#define WIDE (LAST ? 2 : SPAN / STRIDE)
#define ACROSS ((WIDE - 1) * STRIDE + WINDOW) /* columns of a tile's windows */
#define ROWS ((HIGH - 1) * STRIDE + WINDOW)

struct tile {
    float value[HIGH][WIDE][LANES];
    uint code[HIGH][WIDE][LANES]; /* of the largest: WINDOW * row + column, from the first window's first element on */
};

/* What a and b, which comes behind it, are together; neither is NaN. */
INLINE void join(const uint kind, float *value, uint *at, float v, uint code)
{
    if (kind == RMCP_POOL_MEAN) {
        *value += v;
    } else if (kind == RMCP_POOL_MAX) {
        *value = larger(*value, v);
    } else {
        const bool wins = v > *value;
        *value = wins ? v : *value;
        *at = wins ? code : *at;
        MAKE(*at);
    }
}

/* A row of x: with LAST chunks of LANES channels; else SPAN columns, and what the windows need beside them. Beside the
 * image there is what changes nothing. */
struct line {
#if LAST
    uint column[ACROSS][WORDS(LANES)];
#else
    uint word[WORDS(SPAN)], before, behind[2];
#endif
};

/* Row `row` of the image, from column `begin` on; WHOLE: all of SPAN exist and lie well, or all channels do. */
INLINE void read_line(struct line *l, const struct rmcp_pool_args *p, __global const char *x, const struct spot *s,
                      int row, int begin, const uint pad, const uint other, const bool whole)
{
    const uint line = s->x + s->d * p->x[0] + (uint)row * p->x[1];
    const bool there = (uint)row < p->in[1];
#if LAST
    UNROLL for (uint i = 0; i < ACROSS; i++) {
        const uint column = (uint)(begin + (int)i);
        load_channels(l->column[i], x, line + column * p->x[2], there && column < p->in[2], other, whole);
    }
#else
    const uint first = (uint)(begin + (int)pad), left = first < p->in[2] ? p->in[2] - first : 0;
    __global const char *from = x + (line + first) * (uint)sizeof(bits);
    l->before = l->behind[0] = l->behind[1] = other;
    if (whole) {
        UNROLL for (uint i = 0; i < WORDS(SPAN); i++) l->word[i] = other;
        if (there) load_whole(l->word, from, SPAN);
    } else {
        load_some(l->word, x, line + first, there ? left : 0, other, SPAN);
    }
    if (pad && there && first - 1 < p->in[2]) l->before = *(__global const bits *)(from - sizeof(bits));
    if (ACROSS - pad > SPAN && there && left > SPAN)
        l->behind[0] = *(__global const bits *)(from + SPAN * sizeof(bits));
    if (ACROSS - pad > SPAN + 1 && there && left > SPAN + 1)
        l->behind[1] = *(__global const bits *)(from + (SPAN + 1) * sizeof(bits));
#endif
}

INLINE float value_of_line(const struct line *l, uint i, uint k, const uint pad)
{
#if LAST
    return value_at(l->column[i], k);
#else
    const uint from = i - pad;
    return from < SPAN ? value_at(l->word, from)
                       : i < pad ? value_at(&l->before, 0) : value_at(&l->behind[from - SPAN], 0);
#endif
}

/* What each window of a row has in its row r. With a stride of 1 two windows share two columns. */
INLINE void join_across(const uint kind, uint r, const float *column, float *value, uint *code)
{
    UNROLL for (uint j = 0; j < WIDE; j++) {
        const uint from = j * STRIDE, at = WINDOW * r + from;
        if (STRIDE == 1 && j % 2) continue; /* made with the one before */
        value[j] = column[from];
        code[j] = at;
        if (STRIDE > 1) {
            UNROLL for (uint c = 1; c < WINDOW; c++) join(kind, &value[j], &code[j], column[from + c], at + c);
        } else {
            value[j + 1] = column[j + 1];
            code[j + 1] = at + 1;
            join(kind, &value[j + 1], &code[j + 1], column[j + 2], at + 2);
            join(kind, &value[j], &code[j], value[j + 1], code[j + 1]);
            join(kind, &value[j + 1], &code[j + 1], column[j + 3], at + 3);
        }
    }
}

/* Row r of what join_across() has goes to the windows that it belongs to. With a stride of 1 two share two rows. */
INLINE void join_down(const uint kind, uint r, uint k, const float *value, const uint *code, float *pair,
                      uint *pair_code, struct tile *t)
{
    UNROLL for (uint j = 0; j < WIDE; j++) {
        if (STRIDE > 1 || HIGH == 1) {
            UNROLL for (uint i = 0; i < HIGH; i++) {
                if (r == i * STRIDE)
                    t->value[i][j][k] = value[j], t->code[i][j][k] = code[j];
                else if (r - i * STRIDE < WINDOW)
                    join(kind, &t->value[i][j][k], &t->code[i][j][k], value[j], code[j]);
            }
            continue;
        }
        if (r % 2) {
            if (r > 1) join(kind, &t->value[r - 2][j][k], &t->code[r - 2][j][k], value[j], code[j]);
            pair[j] = value[j];
            pair_code[j] = code[j];
            continue;
        }
        if (r > 0) {
            join(kind, &pair[j], &pair_code[j], value[j], code[j]);
            join(kind, &t->value[r - 2][j][k], &t->code[r - 2][j][k], pair[j], pair_code[j]);
            t->value[r - 1][j][k] = pair[j];
            t->code[r - 1][j][k] = pair_code[j];
        }
        if (r < HIGH) t->value[r][j][k] = value[j], t->code[r][j][k] = code[j];
    }
}

/* A tile where something is NaN or nothing above -Inf, which is as rare: once more, one output after the other, from
 * memory. The tile's results were stored already, so alpha must be 1 and beta 0. */
INLINE void one_by_one(const struct rmcp_pool_args *p, const struct spot *s, __global const char *x, __global char *y,
                       __global char *index, const uint kind)
{
    ROLLED for (uint n = 0; n < HIGH * WIDE * LANES; n++) {
        const uint k = n % LANES, j = n / LANES % WIDE, i = n / LANES / WIDE;
        if (s->h + i >= p->out[1] || s->w + j >= p->out[2]) continue;
        const struct range h = range_of(s->h + i, STRIDE, p->pad[1], WINDOW, p->in[1]);
        const struct range w = range_of(s->w + j, STRIDE, p->pad[2], WINDOW, p->in[2]);
        float best = LOWEST;
        uint place = 0;
        bool none = true;
        ROLLED for (int row = h.first; row < h.end; row++) ROLLED for (int column = w.first; column < w.end; column++) {
            const uint high = (uint)(h.begin + row), wide = (uint)(w.begin + column);
            const float v = load(x, s->x + s->d * p->x[0] + high * p->x[1] + wide * p->x[2] + k);
            if (!none && !beats(v, best)) continue;
            none = false;
            best = v;
            place = p->image ? (s->d * p->in[1] + high) * p->in[2] + wide : (uint)(row * WINDOW + column);
        }
        store(y, s->y + i * p->y[1] + j * p->y[2] + k, best);
        if (kind == RMCP_POOL_MAX_INDEX)
            put_index(index, s->index + i * p->index[1] + j * p->index[2] + k * p->index_channel, p->index_bytes,
                      place);
    }
}

/* Four places in windows, side by side or, with LAST, of four channels; the first one begins where the code is
 * `first`. */
INLINE uint packed_places(const uint *code, uint first)
{
    const uint step = LAST ? 0 : STRIDE;
    return (code[0] + (code[1] << 8) + (code[2] << 16) + (code[3] << 24)) - first * 0x01010101u - step * 0x03020100u;
}

/* Whether the places of a tile's rows are bytes, four of which may be stored at once. */
INLINE bool is_packed(const struct rmcp_pool_args *p, const struct spot *s, __global const char *index, uint left)
{
#if LAST
    return p->index_bytes == 1 && !p->image && p->index_channel == 1 && are_even(index, s->index, p->index, 1, 4);
#else
    return p->index_bytes == 1 && !p->image && p->index[2] == 1 && left >= WIDE &&
           ((uint)(ulong)index | s->index | p->index[1]) % 4 == 0;
#endif
}

/* Four indices that lie `apart`, at once where there often are some of their size. `first` is the code of the place
 * where the window begins, with LAST the same for all four, else of windows side by side; `base` is its place in the
 * image. */
INLINE void put_places(const struct rmcp_pool_args *p, __global char *index, uint at, uint apart, uint left,
                       const uint *code, uint first, uint base)
{
    const uint step = LAST ? 0 : STRIDE;
    __global char *to = index + (ulong)at * p->index_bytes;
    const bool together = apart == 1 && left >= 4;
    if (together && p->index_bytes == 1 && !p->image && (uint)(ulong)to % 4 == 0) {
        *(__global uint *)to = packed_places(code, first);
        return;
    }
    uint place[4];
    UNROLL for (uint k = 0; k < 4; k++) {
        const uint in_window = code[k] - first - k * step, row = WINDOW == 3 ? in_window * 11 >> 5 : in_window >> 1;
        place[k] = p->image ? base + k * step + row * p->in[2] + (in_window - row * WINDOW) : in_window;
    }
    if (together && p->index_bytes == 8 && (uint)(ulong)to % 16 == 0) {
        *(__global uint4 *)to = (uint4)(place[0], 0, place[1], 0);
        *(__global uint4 *)(to + 16) = (uint4)(place[2], 0, place[3], 0);
        return;
    }
    UNROLL for (uint k = 0; k < 4; k++)
        if (k < left) put_index(index, at + k * apart, p->index_bytes, place[k]);
}

/* Row i of the tile; `wide` is what means have of their windows' width. EVEN: all of it exists and lies well; PACKED:
 * so do its indices. */
INLINE void give(const struct rmcp_pool_args *p, const struct spot *s, uint i, const struct tile *t, const uint kind,
                 const float *wide, bool even, bool packed, __global char *y, __global char *index)
{
    const uint at = s->y + i * p->y[1], index_at = s->index + i * p->index[1], first = i * STRIDE * WINDOW;
    const uint base = (s->d * p->in[1] + (s->h + i) * STRIDE - p->pad[1]) * p->in[2] + s->w * STRIDE - p->pad[2];
    const float high = kind != RMCP_POOL_MEAN ? 1 : p->full ? p->share : part_of(s->h + i, p->pad[1], p->in[1]);
#if LAST
    UNROLL for (uint j = 0; j < WIDE; j++) {
        float v[LANES];
        if (s->w + j >= p->out[2]) continue;
        UNROLL for (uint k = 0; k < LANES; k++) v[k] = t->value[i][j][k] * (high * wide[j]);
        put_some(p, y, at + j * p->y[2], LANES, v, LANES, even, kind != RMCP_POOL_MEAN);
        if (kind != RMCP_POOL_MAX_INDEX) continue;
        if (packed) {
            __global uint *to = (__global uint *)(index + (index_at + j * p->index[2]));
            UNROLL for (uint k = 0; k < LANES; k += 4) to[k / 4] = packed_places(t->code[i][j] + k, first + j * STRIDE);
            continue;
        }
        UNROLL for (uint k = 0; k < LANES; k += 4)
            put_places(p, index, index_at + j * p->index[2] + k * p->index_channel, p->index_channel, 4,
                       t->code[i][j] + k, first + j * STRIDE, base + j * STRIDE);
    }
#else
    float v[WIDE];
    uint code[WIDE];
    const uint left = p->out[2] - s->w;
    UNROLL for (uint j = 0; j < WIDE; j++) v[j] = t->value[i][j][0] * (high * wide[j]), code[j] = t->code[i][j][0];
    if (even && packed) {
        put_some(p, y, at, left, v, WIDE, true, kind != RMCP_POOL_MEAN);
        if (kind != RMCP_POOL_MAX_INDEX) return;
        __global uint *to = (__global uint *)(index + index_at);
        UNROLL for (uint j = 0; j < WIDE; j += 4) to[j / 4] = packed_places(code + j, first + j * STRIDE);
        return;
    }
    put_some(p, y, at, left, v, WIDE, false, kind != RMCP_POOL_MEAN);
    if (kind != RMCP_POOL_MAX_INDEX) return;
    UNROLL for (uint j = 0; j < WIDE; j += 4)
        put_places(p, index, index_at + j * p->index[2], p->index[2], left > j ? left - j : 0, code + j,
                   first + j * STRIDE, base + j * STRIDE);
#endif
}

/* All rows of a tile but for LAST. */
INLINE void read_lines(struct line *l, const struct rmcp_pool_args *p, __global const char *x, const struct spot *s,
                       int top, int begin, const uint kind, const uint pad)
{
#if !LAST
    const uint other = kind == RMCP_POOL_MEAN ? 0 : MINUS, first = (uint)(begin + (int)pad);
    const uint place = (uint)(ulong)x + (s->x + s->d * p->x[0] + (uint)top * p->x[1] + first) * (uint)sizeof(bits);
    if (first + SPAN <= p->in[2] && (place | p->x[1] * (uint)sizeof(bits)) % UNIT(SPAN) == 0) {
        UNROLL for (uint r = 0; r < ROWS; r++) read_line(&l[r], p, x, s, top + (int)r, begin, pad, other, true);
    } else {
        UNROLL for (uint r = 0; r < ROWS; r++) read_line(&l[r], p, x, s, top + (int)r, begin, pad, other, false);
    }
#endif
}

/* A tile: all of its rows are read, or, with LAST, for which there are not as many registers, one after the other. */
INLINE void all(const struct rmcp_pool_args *p, const struct spot *s, __global const char *x, __global char *y,
                __global char *index, const uint kind, const uint pad, bool even, bool packed,
                const bool whole)
{
    const uint left = p->out[2] - s->w;
    const int top = (int)(s->h * STRIDE) - (int)p->pad[1], begin = (int)(s->w * STRIDE) - (int)p->pad[2];
    struct tile t;
    struct line l[LAST ? 1 : ROWS];
    float sum = 0, results = 0, wide[WIDE], column[ACROSS], value[WIDE], pair[LANES][WIDE];
    uint code[WIDE], pair_code[LANES][WIDE];
    read_lines(l, p, x, s, top, begin, kind, pad);
    UNROLL for (uint j = 0; j < WIDE; j++) {
        wide[j] = 1;
        if (kind == RMCP_POOL_MEAN && !p->full) wide[j] = part_of(s->w + j, p->pad[2], p->in[2]);
    }
    UNROLL for (uint r = 0; r < ROWS; r++) {
        if (LAST) read_line(l, p, x, s, top + (int)r, begin, 0, kind == RMCP_POOL_MEAN ? 0 : MINUS, whole);
        UNROLL for (uint k = 0; k < LANES; k++) {
            UNROLL for (uint i = 0; i < ACROSS; i++) {
                column[i] = value_of_line(LAST ? l : &l[r], i, k, pad);
                if (kind != RMCP_POOL_MEAN) sum += column[i];
            }
            join_across(kind, r, column, value, code);
            join_down(kind, r, k, value, code, pair[k], pair_code[k], &t);
        }
        if (r + 1 < WINDOW || (r + 1 - WINDOW) % STRIDE) continue;
        const uint i = (r + 1 - WINDOW) / STRIDE; /* whose windows are done */
        if (s->h + i >= p->out[1]) continue;
        if (kind != RMCP_POOL_MEAN && left >= WIDE) {
            UNROLL for (uint j = 0; j < WIDE; j++) UNROLL for (uint k = 0; k < LANES; k++) results += t.value[i][j][k];
        } else if (kind != RMCP_POOL_MEAN) { /* beyond the image there may be nothing */
            UNROLL for (uint j = 0; j < WIDE; j++) UNROLL for (uint k = 0; k < LANES; k++)
                results += j < left ? t.value[i][j][k] : 0;
        }
        give(p, s, i, &t, kind, wide, even, packed, y, index);
    }
    if (kind != RMCP_POOL_MEAN && (sum != sum || !(results > MINUS_INFINITY))) one_by_one(p, s, x, y, index, kind);
}

/* By how the tile lies in memory: with LAST x and y do so alike for all tiles of an image, and have a loop of their
 * own. */
INLINE void by_place(const struct rmcp_pool_args *p, const struct spot *s, __global const char *x, __global char *y,
                     __global char *index, const uint kind, const uint pad)
{
    const uint left = p->out[2] - s->w;
    const bool packed = kind != RMCP_POOL_MAX_INDEX || is_packed(p, s, index, left);
#if LAST
    const uint bytes = sizeof(bits);
    const bool whole = p->beta == 0 && are_even(x, s->x, p->x, bytes, 16) && are_even(y, s->y, p->y, bytes, 16);
    if (whole && packed)
        all(p, s, x, y, index, kind, pad, true, true, true);
    else if (whole)
        all(p, s, x, y, index, kind, pad, true, false, true);
    else
        all(p, s, x, y, index, kind, pad, false, false, false);
#else
    all(p, s, x, y, index, kind, pad, is_even(p, y, s->y, p->y[1], left, WIDE), packed, false);
#endif
}

__kernel WORKGROUP(THREADS) void pool_tiles(INPUT(x), OUTPUT(y), OUTPUT(index), struct rmcp_pool_args p)
{
    const uint item = GROUP_ID_X * THREADS + LOCAL_ID;
    if (item >= p.count) return;
    const struct spot s = find_spot(&p, item);
    /* Maxima with a stride of 1 have less code: without padding they begin one column later, in memory as well. */
    const bool padded = !LAST && (p.pad[2] || (STRIDE == 1 && p.kind != RMCP_POOL_MEAN));
    if (p.kind == RMCP_POOL_MEAN && padded)
        by_place(&p, &s, ADDRESS(x), ADDRESS(y), ADDRESS(index), RMCP_POOL_MEAN, 1);
    else if (p.kind == RMCP_POOL_MEAN)
        by_place(&p, &s, ADDRESS(x), ADDRESS(y), ADDRESS(index), RMCP_POOL_MEAN, 0);
    else if (p.kind == RMCP_POOL_MAX && padded)
        by_place(&p, &s, ADDRESS(x), ADDRESS(y), ADDRESS(index), RMCP_POOL_MAX, 1);
    else if (p.kind == RMCP_POOL_MAX)
        by_place(&p, &s, ADDRESS(x), ADDRESS(y), ADDRESS(index), RMCP_POOL_MAX, 0);
    else if (padded)
        by_place(&p, &s, ADDRESS(x), ADDRESS(y), ADDRESS(index), RMCP_POOL_MAX_INDEX, 1);
    else
        by_place(&p, &s, ADDRESS(x), ADDRESS(y), ADDRESS(index), RMCP_POOL_MAX_INDEX, 0);
}
