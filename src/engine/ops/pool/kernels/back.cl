/* back.cl: pooling backward with windows that are known: HIGH x WIDE elements of dx a work-item. Which windows an
 * element is in, and where, is known when it is compiled, too: tiles begin where a window does, or `pad` behind it. */
#include "engine/ops/pool/kernels/tiles.h"

#define HIGH RMCP_POOL_HIGH_BACK(WINDOW, STRIDE, LAST)
#define SPAN RMCP_POOL_SPAN((int)sizeof(element), STRIDE, 1)
#define WIDE (LAST ? 2 : SPAN)
#define MAIN (WIDE / STRIDE)            /* windows that begin in a tile's row                            */
#define BEFORE ((WINDOW - 1) / STRIDE) /* windows above that reach into the tile                          */
#define ROWS (BEFORE + (HIGH - 1) / STRIDE + 1)
#define AHEAD (STRIDE > 1) /* all is loaded before anything is added: else there are not as many registers */

/* A row of windows: MAIN of them, and those before and behind that reach into the tile, no more than two. With LAST
 * each has LANES channels. Those that do not exist have a dy of 0. Places in windows are bytes, four in a word; where
 * there are registers for it (LATE) indices of other kinds are as they lie in memory until they are needed. */
#define MANY (LAST ? MAIN + 2 : 1)
#define COUNT (LAST ? LANES : MAIN)
#define LATE (!LAST && STRIDE > 1)
struct line {
    uint dy[MANY][WORDS(COUNT)], beside[2];
    uint place[MANY][LATE ? COUNT : (COUNT + 3) / 4], place_beside[2];
};

INLINE bool is_packed(const struct rmcp_pool_args *p)
{
    return p->index_bytes == 1 && !p->image;
}

/* The place in its window of an index that counts in the image, where the window begins in row `top` and column
 * `begin`. */
INLINE uint code_in_image(const struct rmcp_pool_args *p, uint index, uint top, uint begin)
{
    const uint rest = index - top * p->in[2];
    uint row = 0;
    UNROLL for (uint h = 1; h < WINDOW; h++) row += rest >= h * p->in[2];
    const uint column = rest - row * p->in[2], w = column - begin;
    return w < WINDOW && column < p->in[2] ? row * WINDOW + w : 255;
}

/* The same of any index. */
INLINE uint code_of(const struct rmcp_pool_args *p, uint index, uint top, uint begin)
{
    return p->image ? code_in_image(p, index, top, begin) : smaller(index, 255);
}

/* n indices of a size that is known, `apart` from each other, of which `left` exist, at least one: all loads are
 * under way at once, those of indices that there are not from the last one. Branches for each index would make the
 * compiler take twice as long. */
INLINE void load_indices(uint *place, __global const char *index, uint at, uint apart, uint left, const uint bytes,
                         const uint n)
{
    UNROLL for (uint i = 0; i < n; i++) place[i] = get_index(index, at + smaller(i, left - 1) * apart, bytes);
}

INLINE void get_indices(uint *place, const struct rmcp_pool_args *p, __global const char *index, uint at, uint apart,
                        uint left, const uint n)
{
    UNROLL for (uint i = 0; i < n; i++) place[i] = 0;
    if (left == 0) return;
    if (p->index_bytes == 8)
        load_indices(place, index, at, apart, left, 8, n);
    else if (p->index_bytes == 4)
        load_indices(place, index, at, apart, left, 4, n);
    else if (p->index_bytes == 2)
        load_indices(place, index, at, apart, left, 2, n);
    else
        load_indices(place, index, at, apart, left, 1, n);
}

/* The first of n windows begins in row `top` and column `begin` of the image, each `step` columns behind the one
 * before. */
INLINE void get_places(uint *place, const struct rmcp_pool_args *p, __global const char *index, uint at, uint apart,
                       uint left, uint top, uint begin, const uint step, const uint n)
{
    if (LATE) {
        get_indices(place, p, index, at, apart, left, n);
    } else if (is_packed(p) && n == 1) {
        place[0] = *(__global const uchar *)(index + at);
    } else if (is_packed(p) && apart == 1 && left >= n && ((uint)(ulong)index + at) % smaller(n, 4) == 0) {
        if (n == 2) place[0] = *(__global const ushort *)(index + at);
        UNROLL for (uint i = 0; i < n / 4; i++) place[i] = *(__global const uint *)(index + at + 4 * i);
    } else {
        uint one[8];
        get_indices(one, p, index, at, apart, left, n);
        UNROLL for (uint i = 0; i < (n + 3) / 4; i++) place[i] = 0;
        if (p->image) {
            UNROLL for (uint i = 0; i < n; i++) one[i] = code_in_image(p, one[i], top, begin + i * step);
        } else {
            UNROLL for (uint i = 0; i < n; i++) one[i] = smaller(one[i], 255);
        }
        UNROLL for (uint i = 0; i < n; i++) place[i / 4] |= one[i] << 8 * (i % 4);
    }
}

/* The place of number i; PACKED: they are bytes, which load_codes() has loaded. */
INLINE uint place_at(const struct rmcp_pool_args *p, const uint *place, uint i, uint top, uint begin, const bool packed)
{
    return LATE && !packed ? code_of(p, place[i], top, begin) : place[i / 4] >> 8 * (i % 4) & 255;
}

/* Packed indices that lie well. */
INLINE void load_codes(uint *place, __global const char *p, bool exist)
{
    UNROLL for (uint i = 0; i < (COUNT + 3) / 4; i++) {
        place[i] = 0;
        if (exist) place[i] = COUNT == 2 ? *(__global const ushort *)p : *(__global const uint *)(p + 4 * i);
    }
}

/* Windows before the first that begins in the tile, and behind the last, which reach into it. */
#define NEAR(pad) (STRIDE == 1 ? BEFORE - (pad) : (pad) ? 0 : BEFORE)
#define FAR(pad) (pad)

/* Row `row` of the windows; `first` is the first of MAIN. WHOLE: all of them exist and lie well, PACKED: so do their
 * indices, which are bytes. */
INLINE void read_line(struct line *l, const struct rmcp_pool_args *p, __global const char *dy,
                      __global const char *index, const struct spot *s, uint row, uint first, const bool largest,
                      const uint pad, const bool whole, const bool packed)
{
    const uint at = s->y + s->d * p->y[0] + row * p->y[1], index_at = s->index + s->d * p->index[0] + row * p->index[1];
    const uint top = s->d * p->in[1] + row * STRIDE - p->pad[1], begin = first * STRIDE - p->pad[2];
    const bool there = row < p->out[1];
#if LAST
    UNROLL for (uint c = 0; c < MAIN + NEAR(pad) + FAR(pad); c++) {
        const uint o = first - NEAR(pad) + c, left = there && o < p->out[2] ? LANES : 0;
        load_channels(l->dy[c], dy, at + o * p->y[2], left > 0, 0, whole);
        if (largest && packed)
            load_codes(l->place[c], index + (index_at + o * p->index[2]), left > 0);
        else if (largest)
            get_places(l->place[c], p, index, index_at + o * p->index[2], p->index_channel, left, top,
                       begin + (c - NEAR(pad)) * STRIDE, 0, LANES);
    }
#else
    const uint left = there && first < p->out[2] ? p->out[2] - first : 0;
    __global const char *from = dy + (at + first) * (uint)sizeof(bits),
                        *codes = index + (index_at + first); /* packed */
    if (whole) {
        UNROLL for (uint i = 0; i < WORDS(MAIN); i++) l->dy[0][i] = 0;
        if (there) load_whole(l->dy[0], from, MAIN);
    } else {
        load_some(l->dy[0], dy, at + first, left, 0, MAIN);
    }
    if (largest && packed)
        load_codes(l->place[0], codes, there);
    else if (largest)
        get_places(l->place[0], p, index, index_at + first * p->index[2], p->index[2], whole && there ? MAIN : left,
                   top, begin, STRIDE, MAIN);
    UNROLL for (uint i = 0; i < NEAR(pad) + FAR(pad); i++) {
        const uint from_first = i < NEAR(pad) ? i - NEAR(pad) : MAIN, o = first + from_first;
        l->beside[i] = l->place_beside[i] = 0;
        if (there && o < p->out[2]) {
            l->beside[i] = whole ? *(__global const bits *)(from + (int)from_first * (int)sizeof(bits))
                                 : bits_at(dy, at + o);
            if (largest && packed)
                l->place_beside[i] = *(__global const uchar *)(codes + (int)from_first);
            else if (largest)
                get_places(&l->place_beside[i], p, index, index_at + o * p->index[2], 0, 1, top,
                           begin + from_first * STRIDE, 0, 1);
        }
    }
#endif
}

/* Of window c of a row, counted from the first that reaches into the tile. */
INLINE float gradient_of(const struct line *l, uint c, uint k, const uint pad)
{
#if LAST
    return value_at(l->dy[c], k);
#else
    const uint i = c - NEAR(pad);
    return i < MAIN ? value_at(l->dy[0], i) : value_at(&l->beside[c < NEAR(pad) ? c : NEAR(pad)], 0);
#endif
}

/* Where its largest element is; the row's windows begin in row `top` of the image, the first of MAIN in column
 * `begin`. */
INLINE uint place_of(const struct rmcp_pool_args *p, const struct line *l, uint c, uint k, uint top, uint begin,
                     const uint pad, const bool packed)
{
    const uint i = c - NEAR(pad), from = begin + i * STRIDE;
#if LAST
    return place_at(p, l->place[c], k, top, from, packed);
#else
    if (i < MAIN) return place_at(p, l->place[0], i, top, from, packed);
    return place_at(p, &l->place_beside[c < NEAR(pad) ? c : NEAR(pad)], 0, top, from, packed);
#endif
}

/* What row r of the windows adds to the tile. */
INLINE void add_line(const struct rmcp_pool_args *p, const struct spot *s, const struct line *l, const float *wide,
                     uint row, uint first, int r, const bool largest, const uint pad, const bool packed,
                     float sum[HIGH][WIDE][LANES])
{
    const uint top = s->d * p->in[1] + row * STRIDE - p->pad[1], begin = first * STRIDE - p->pad[2];
    float along[WIDE][LANES];
    UNROLL for (uint j = 0; j < WIDE; j++) UNROLL for (uint k = 0; k < LANES; k++) along[j][k] = 0;
    UNROLL for (uint c = 0; c < MAIN + NEAR(pad) + FAR(pad); c++) {
        UNROLL for (uint k = 0; k < LANES; k++) {
            const float dy = gradient_of(l, c, k, pad);
            const uint code = largest ? place_of(p, l, c, k, top, begin, pad, packed) : 0;
            UNROLL for (int j = 0; j < WIDE; j++) {
                const int column = j + (int)pad + ((int)NEAR(pad) - (int)c) * STRIDE;
                if (column < 0 || column >= WINDOW) continue;
                if (!largest) {
                    along[j][k] += dy * wide[c];
                    continue;
                }
                UNROLL for (int i = 0; i < HIGH; i++) {
                    const int high = i + (BEFORE - r) * STRIDE;
                    if (high < 0 || high >= WINDOW) continue;
                    if (code == (uint)(high * WINDOW + column)) sum[i][j][k] += dy;
                }
            }
        }
    }
    if (largest) return;
    const float high = p->full ? p->share : part_of(row, p->pad[1], p->in[1]);
    UNROLL for (int i = 0; i < HIGH; i++) {
        if (i + (BEFORE - r) * STRIDE < 0 || i + (BEFORE - r) * STRIDE >= WINDOW) continue;
        UNROLL for (uint j = 0; j < WIDE; j++)
            UNROLL for (uint k = 0; k < LANES; k++) sum[i][j][k] += along[j][k] * high;
    }
}

/* A row of the tile, `at` elements from the beginning of dx; EVEN: all of it exists and lies well. */
INLINE void give(const struct rmcp_pool_args *p, const struct spot *s, uint at, uint left, bool even,
                 float sum[WIDE][LANES], __global char *dx)
{
#if LAST
    UNROLL for (uint j = 0; j < WIDE; j++)
        if (j < left) put_some(p, dx, at + j * p->x[2], LANES, sum[j], LANES, even, false);
#else
    float v[WIDE];
    UNROLL for (uint j = 0; j < WIDE; j++) v[j] = sum[j][0];
    if (even)
        put_some(p, dx, at, left, v, WIDE, true, false);
    else
        put_some(p, dx, at, left, v, WIDE, false, false);
#endif
}

/* The first of MAIN windows in a row. */
INLINE uint first_of(const struct rmcp_pool_args *p, const struct spot *s, const uint pad)
{
    return LAST ? (s->w + p->pad[2] - pad) / STRIDE : s->w / STRIDE;
}

INLINE void all(const struct rmcp_pool_args *p, const struct spot *s, __global const char *dy,
                __global const char *index, __global char *dx, const bool largest, const uint pad, const bool whole,
                const bool packed)
{
    /* the first row of the tile, which may be -1 */
    const int above = (int)(p->pad[1] % STRIDE), top = (int)s->h - above;
    const uint first_row = (uint)((top + (int)p->pad[1]) / STRIDE - BEFORE), first = first_of(p, s, pad);
    struct line l[ROWS];
    float wide[MAIN + 3]; /* means: 1 by the columns of a window that count */
    UNROLL for (uint c = 0; c < MAIN + NEAR(pad) + FAR(pad); c++) wide[c] = 1;
    if (!largest && !p->full) {
        UNROLL for (uint c = 0; c < MAIN + NEAR(pad) + FAR(pad); c++)
            wide[c] = part_of(first - NEAR(pad) + c, p->pad[2], p->in[2]);
    }
    float sum[HIGH][WIDE][LANES];
    UNROLL for (uint i = 0; i < HIGH; i++)
        UNROLL for (uint j = 0; j < WIDE; j++)
            UNROLL for (uint k = 0; k < LANES; k++) sum[i][j][k] = 0;
    if (AHEAD) {
        UNROLL for (uint r = 0; r < ROWS; r++)
            read_line(&l[r], p, dy, index, s, first_row + r, first, largest, pad, whole, packed);
    }
    const uint left = p->in[2] - s->w;
    const bool even = LAST ? whole : is_even(p, dx, s->x, p->x[1], left, WIDE);
    UNROLL for (uint r = 0; r < ROWS; r++) {
        if (!AHEAD) read_line(&l[r], p, dy, index, s, first_row + r, first, largest, pad, whole, packed);
        add_line(p, s, &l[r], wide, first_row + r, first, (int)r, largest, pad, packed, sum);
        UNROLL for (uint i = 0; i < HIGH; i++) /* those that are done */
            if (BEFORE + i / STRIDE == r && (uint)(top + (int)i) < p->in[1])
                give(p, s, s->x + (i - (uint)above) * p->x[1], left, even, sum[i], dx);
    }
}

/* Whether all rows of windows of the tile may be read as WHOLE; with LAST its results are EVEN then. */
INLINE bool is_whole(const struct rmcp_pool_args *p, const struct spot *s, __global const char *dy,
                     __global const char *dx, const uint pad)
{
#if LAST
    const uint bytes = sizeof(bits);
    return p->beta == 0 && are_even(dy, s->y, p->y, bytes, 16) && are_even(dx, s->x, p->x, bytes, 16);
#else
    const uint first = first_of(p, s, pad),
               place = (uint)(ulong)dy + (s->y + s->d * p->y[0] + first) * (uint)sizeof(bits);
    return first + MAIN <= p->out[2] && (place | p->y[1] * (uint)sizeof(bits)) % UNIT(MAIN) == 0;
#endif
}

/* The same of their indices: whether they may be read as PACKED. */
INLINE bool are_packed(const struct rmcp_pool_args *p, const struct spot *s, __global const char *index, const uint pad)
{
#if LAST
    return is_packed(p) && p->index_channel == 1 && are_even(index, s->index, p->index, 1, 4);
#else
    const uint place = (uint)(ulong)index + s->index + s->d * p->index[0] + first_of(p, s, pad);
    return is_packed(p) && p->index[2] == 1 && (place | p->index[1]) % smaller(MAIN, 4) == 0;
#endif
}

/* Along rows with a stride of 1 and no padding, which is rare, maxima have one way alone: there is less code then. */
INLINE void by_place(const struct rmcp_pool_args *p, const struct spot *s, __global const char *dy,
                     __global const char *index, __global char *dx, const bool largest, const uint pad)
{
    const bool whole = (LAST || STRIDE > 1 || !largest || pad) && is_whole(p, s, dy, dx, pad);
    if (whole && (!largest || are_packed(p, s, index, pad)))
        all(p, s, dy, index, dx, largest, pad, true, true);
    else if (whole && (LATE || LAST))
        all(p, s, dy, index, dx, largest, pad, true, false);
    else
        all(p, s, dy, index, dx, largest, pad, false, false);
}

__kernel WORKGROUP(THREADS) void pool_back(INPUT(dy), INPUT(index), OUTPUT(dx), struct rmcp_pool_args p)
{
    const uint item = GROUP_ID_X * THREADS + LOCAL_ID;
    if (item >= p.count) return;
    const struct spot s = find_spot(&p, item);
    const bool late = LAST ? p.pad[2] % STRIDE != 0 : p.pad[2] != 0;
    if (p.kind == RMCP_POOL_MEAN && !late)
        by_place(&p, &s, ADDRESS(dy), ADDRESS(index), ADDRESS(dx), false, 0);
    else if (p.kind == RMCP_POOL_MEAN)
        by_place(&p, &s, ADDRESS(dy), ADDRESS(index), ADDRESS(dx), false, 1);
    else if (!late)
        by_place(&p, &s, ADDRESS(dy), ADDRESS(index), ADDRESS(dx), true, 0);
    else
        by_place(&p, &s, ADDRESS(dy), ADDRESS(index), ADDRESS(dx), true, 1);
}
