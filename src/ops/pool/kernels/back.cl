/* back.cl: pooling backward with windows that are known: HIGH x WIDE elements of dx a work-item. Which windows an element is
 * in, and where, is known when it is compiled, too: rows begin where a window does, and columns behave alike after `phase`. */
#include "ops/pool/kernels/tiles.h"

#define HIGH RMCP_POOL_HIGH
#define WIDE (LAST ? 2 : WIDTH)
#define BEFORE ((WINDOW - 1) / STRIDE)                 /* windows above that reach into the tile */
#define ROWS (BEFORE + (HIGH - 1) / STRIDE + 1)
#define COLUMNS (BEFORE + (WIDE + STRIDE - 2) / STRIDE + 1) /* whichever the phase is */

/* The windows of a tile. Those that do not exist have a dy of 0. */
struct windows {
    float dy[ROWS][COLUMNS][LANES];
    uint place[ROWS][COLUMNS][LANES];
};

/* Indices of a type that is known, relative to the first element of the window. */
INLINE void get_places(const struct rmcp_pool_args *p, __global const char *index, uint at, int first_row, int first_column,
                       const uint bytes, uint place[ROWS][COLUMNS][LANES])
{
    UNROLL for (uint r = 0; r < ROWS; r++) UNROLL for (uint c = 0; c < COLUMNS; c++) {
        const uint row = (uint)(first_row + (int)r), column = (uint)(first_column + (int)c);
        const bool there = row < p->out[1] && column < p->out[2];
        const uint from = at + row * p->index[1] + column * p->index[2];
#if LAST
        if (bytes == 1 && p->index_channel == 1 && there && ((uint)(ulong)index + from) % 4 == 0) {
            const uint four = *(__global const uint *)(index + from);
            UNROLL for (uint k = 0; k < LANES; k++) place[r][c][k] = four >> 8 * k & 255;
            continue;
        }
#endif
        UNROLL for (uint k = 0; k < LANES; k++) {
            place[r][c][k] = 0;
            if (there) place[r][c][k] = get_index(index, from + k * p->index_channel, bytes);
        }
    }
}

INLINE void read_windows(const struct rmcp_pool_args *p, __global const char *dy, __global const char *index,
                         const struct spot *s, int first_row, int first_column, const bool largest, struct windows *w)
{
    const uint at = s->y + s->d * p->y[0];
    channels r[ROWS][COLUMNS];
    UNROLL for (uint i = 0; i < ROWS; i++) UNROLL for (uint c = 0; c < COLUMNS; c++) {
        const uint row = (uint)(first_row + (int)i), column = (uint)(first_column + (int)c);
        r[i][c] = 0;
        if (row < p->out[1] && column < p->out[2])
            r[i][c] = get_channels(dy, at + row * p->y[1] + column * p->y[2]);
    }
    UNROLL for (uint i = 0; i < ROWS; i++) UNROLL for (uint c = 0; c < COLUMNS; c++) values_of(w->dy[i][c], r[i][c]);
    if (!largest) return;
    const uint index_at = s->index + s->d * p->index[0];
    if (p->index_bytes == 1)
        get_places(p, index, index_at, first_row, first_column, 1, w->place);
    else if (p->index_bytes == 2)
        get_places(p, index, index_at, first_row, first_column, 2, w->place);
    else if (p->index_bytes == 4)
        get_places(p, index, index_at, first_row, first_column, 4, w->place);
    else
        get_places(p, index, index_at, first_row, first_column, 8, w->place);
}

/* Indices become relative to the first element of their windows. */
INLINE void shift_places(const struct rmcp_pool_args *p, const struct spot *s, int first_row, int first_column,
                         struct windows *w)
{
    UNROLL for (uint r = 0; r < ROWS; r++) UNROLL for (uint c = 0; c < COLUMNS; c++) {
        const uint row = (uint)(first_row + (int)r), column = (uint)(first_column + (int)c);
        const uint first = (s->d * p->in[1] + row * STRIDE - p->pad[1]) * p->in[2] + column * STRIDE - p->pad[2];
        UNROLL for (uint k = 0; k < LANES; k++) w->place[r][c][k] -= first;
    }
}

/* 1 by how many elements of a window are no padding in one dimension. */
INLINE float part_of(int o, uint pad, uint in)
{
    const struct range r = range_of((uint)o, STRIDE, pad, WINDOW, in);
    const int n = r.end - r.first;
    return n > 2 ? 1 / 3.0f : n == 2 ? 0.5f : 1.0f;
}

/* What each element of a window gets of its mean's gradient. */
INLINE void share_out(const struct rmcp_pool_args *p, int first_row, int first_column, struct windows *w)
{
    UNROLL for (uint r = 0; r < ROWS; r++) {
        const float high = p->full ? p->share : part_of(first_row + (int)r, p->pad[1], p->in[1]);
        UNROLL for (uint c = 0; c < COLUMNS; c++) {
            const float wide = p->full ? 1.0f : part_of(first_column + (int)c, p->pad[2], p->in[2]);
            UNROLL for (uint k = 0; k < LANES; k++) w->dy[r][c][k] *= high * wide;
        }
    }
}

/* Elements of dx beside each other in row i of the tile. */
INLINE void write_row(const struct rmcp_pool_args *p, __global char *dx, uint at, uint column, float sum[WIDE][LANES])
{
#if LAST
    UNROLL for (uint j = 0; j < WIDE; j++)
        if (column + j < p->in[2]) put_four(p, dx, at + j * p->x[2], sum[j]);
#else
    float v[WIDE];
    UNROLL for (uint j = 0; j < WIDE; j++) v[j] = sum[j][0];
    if (column + WIDE <= p->in[2]) {
        put_wide(p, dx, at, v);
        return;
    }
    UNROLL for (uint j = 0; j < WIDE; j++)
        if (column + j < p->in[2]) put_result(p, dx, at + j, v[j]);
#endif
}

INLINE void all(const struct rmcp_pool_args *p, const struct spot *s, __global const char *dy,
                __global const char *index, __global char *dx, const bool largest, const int phase)
{
    struct windows w;
    const int top = (int)s->h - (int)(p->pad[1] % STRIDE); /* the first row of the tile, which may be -1 */
    const int first_row = (top + (int)p->pad[1]) / STRIDE - BEFORE;
    const int skip = phase ? BEFORE - (WINDOW - 1 - phase) / STRIDE : 0; /* windows that do not reach here */
    const int first_column = ((int)s->w + (int)p->pad[2]) / STRIDE - BEFORE + skip;
    const uint row = p->image ? p->in[2] : WINDOW;
    read_windows(p, dy, index, s, first_row, first_column, largest, &w);
    if (!largest)
        share_out(p, first_row, first_column, &w);
    else if (p->image)
        shift_places(p, s, first_row, first_column, &w);
    UNROLL for (int i = 0; i < HIGH; i++) {
        float sum[WIDE][LANES];
        UNROLL for (int j = 0; j < WIDE; j++) UNROLL for (uint k = 0; k < LANES; k++) {
            sum[j][k] = 0;
            UNROLL for (int r = 0; r < ROWS; r++) UNROLL for (int c = 0; c < COLUMNS; c++) {
                const int high = i + (BEFORE - r) * STRIDE, wide = phase + j + (BEFORE - skip - c) * STRIDE;
                if (high < 0 || high >= WINDOW || wide < 0 || wide >= WINDOW) continue;
                if (largest)
                    sum[j][k] += w.place[r][c][k] == (uint)high * row + (uint)wide ? w.dy[r][c][k] : 0;
                else
                    sum[j][k] += w.dy[r][c][k];
            }
        }
        const uint line = (uint)(top + i);
        if (line < p->in[1])
            write_row(p, dx, s->x + (uint)(i - (int)(p->pad[1] % STRIDE)) * p->x[1], s->w, sum);
    }
}

__kernel WORKGROUP(THREADS) void pool_back(INPUT(dy), INPUT(index), OUTPUT(dx), struct rmcp_pool_args p)
{
    const uint item = GROUP_ID_X * THREADS + LOCAL_ID;
    if (item >= p.count) return;
    const struct spot s = find_spot(&p, item);
    const bool late = p.pad[2] % STRIDE != 0;
    if (p.kind == RMCP_POOL_MEAN && !late)
        all(&p, &s, ADDRESS(dy), ADDRESS(index), ADDRESS(dx), false, 0);
    else if (p.kind == RMCP_POOL_MEAN)
        all(&p, &s, ADDRESS(dy), ADDRESS(index), ADDRESS(dx), false, STRIDE - 1);
    else if (!late)
        all(&p, &s, ADDRESS(dy), ADDRESS(index), ADDRESS(dx), true, 0);
    else
        all(&p, &s, ADDRESS(dy), ADDRESS(index), ADDRESS(dx), true, STRIDE - 1);
}
