/* channels.cl: softmax (BACKWARD: its gradient) along lines whose neighbours lie side by side: over the channels of an image's
 * pixels.
 *
 * Neighbouring work-items have neighbouring columns of VECTOR lines; `lanes` work-items share one and have every
 * lanes-th element of it. Lines that fit into their registers are read once, of longer ones all is read again for the
 * results. */
#include "kernels/target.h"

#include "kernels/common.h"
#include "kernels/functions.h"
#include "kernels/pairs.h"
#include "kernels/raw.h"
#include "ops/softmax/kernels/packed_args.h"
#include "ops/softmax/kernels/terms.h"

#define VECTOR (RMCP_SOFTMAX_COLUMN_BYTES / (int)sizeof(element))
#define KEEP (BACKWARD ? RMCP_SOFTMAX_KEEP_BACKWARD : RMCP_SOFTMAX_KEEP_FORWARD)
#define TOGETHER (!(TYPE == 0 && BACKWARD)) /* tests for all of a GROUP: an H200 has it so */
#define GROUP 4 /* elements of a work-item that are there or not, together, but for the last ones */
#define NEAR 8 /* work-items that add up for all of a column */

/* What a work-item has: elements `lane`, lane + lanes … of a column at `begin` bytes. */
struct post {
    uint lane, across;
    bool exists;
    ulong begin;
};

INLINE struct post post_of(const struct rmcp_softmax_channels *p)
{
    struct post s;
    s.across = THREADS / p->lanes;
    s.lane = LOCAL_ID / s.across;
    const uint mine = GROUP_ID_X * s.across + (LOCAL_ID & (s.across - 1));
    s.exists = mine < p->count;
    const uint place = p->first + (s.exists ? mine : 0), image = divide(place, p->columns);
    s.begin = (ulong)image * p->length * p->step +
              (ulong)(place - image * p->columns.divisor) * RMCP_SOFTMAX_COLUMN_BYTES;
    return s;
}

/* One element of each line of a column, as they lie in memory. A tensor that begins between two columns is read one by
 * one. */
INLINE uint get(__global const char *p, bool aligned)
{
    if (TYPE == 0 || aligned) return *(__global const uint *)p;
    return *(__global const ushort *)p | (uint) * (__global const ushort *)(p + 2) << 16;
}

INLINE void values(float *v, uint c)
{
#if TYPE == 0
    v[0] = as_float(c);
#else
    FORGET(c);
    v[0] = value_of_raw((raw)c), v[1] = value_of_raw((raw)(c >> 16));
#endif
}

/* The next elements of a work-item, from `first` on; beyond the end they are `other`. */
INLINE void read_column(uint c[KEEP], __global const char *line, const struct rmcp_softmax_channels *p, uint lane,
                        uint first, uint other, bool aligned)
{
    const ulong step = (ulong)p->lanes * p->step;
    UNROLL for (uint i = 0; i < KEEP; i += GROUP) {
        const uint all = first + i * p->lanes; /* the same for all work-items */
        __global const char *from = line + (ulong)(all + lane) * p->step;
        if (TOGETHER && all + GROUP * p->lanes <= p->length) {
            UNROLL for (uint k = 0; k < GROUP; k++) c[i + k] = get(from + k * step, aligned);
        } else {
            UNROLL for (uint k = 0; k < GROUP; k++) {
                c[i + k] = other;
                if (all + k * p->lanes + lane < p->length) c[i + k] = get(from + k * step, aligned);
            }
        }
    }
}

INLINE void put(__global char *to, uint word, bool aligned)
{
    if (TYPE == 0 || aligned) {
        *(__global uint *)to = word;
    } else {
        ((__global ushort *)to)[0] = (ushort)word;
        ((__global ushort *)to)[1] = (ushort)(word >> 16);
    }
}

/* GROUP elements of a work-item, the first of which is number `all` + lane. */
INLINE void write_columns(float v[GROUP][VECTOR], __global char *line, const struct rmcp_softmax_channels *p, uint all,
                          uint lane, bool aligned)
{
    const ulong step = (ulong)p->lanes * p->step;
    __global char *to = line + (ulong)(all + lane) * p->step;
    if (p->beta != 0) {
        UNROLL for (uint i = 0; i < GROUP; i++) {
            float before[VECTOR];
            if (all + i * p->lanes + lane >= p->length) continue;
            values(before, get(to + i * step, aligned));
            UNROLL for (uint k = 0; k < VECTOR; k++) v[i][k] += p->beta * before[k];
        }
    }
#if DRIVER_HALF
    UNROLL for (uint i = 0; i < GROUP; i++)
        if (all + i * p->lanes + lane < p->length) store2(to + i * step, 0, v[i][0], v[i][1]);
#else
    uint word[GROUP];
#if TYPE == 0
    UNROLL for (uint i = 0; i < GROUP; i++) word[i] = as_uint(v[i][0]);
#else
    pairs_of(word, v[0], GROUP);
#endif
    if (TOGETHER && all + GROUP * p->lanes <= p->length) {
        UNROLL for (uint i = 0; i < GROUP; i++) put(to + i * step, word[i], aligned);
    } else {
        UNROLL for (uint i = 0; i < GROUP; i++)
            if (all + i * p->lanes + lane < p->length) put(to + i * step, word[i], aligned);
    }
#endif
}

/* Of the work-items of a column, for all of them; `room` is not used again. */
INLINE void fold_columns(float *v, bool largest, const struct post *s, uint lanes, __local float *room)
{
    const uint column = LOCAL_ID & (s->across - 1), most = smaller(lanes, NEAR);
    UNROLL for (uint k = 0; k < VECTOR; k++) room[k * THREADS + LOCAL_ID] = v[k];
    BARRIER();
    if (s->lane < NEAR) {
        UNROLL for (uint k = 0; k < VECTOR; k++) {
            for (uint i = s->lane + NEAR; i < lanes; i += NEAR)
                v[k] = both(v[k], room[k * THREADS + i * s->across + column], largest);
            room[k * THREADS + LOCAL_ID] = v[k];
        }
    }
    BARRIER();
    UNROLL for (uint k = 0; k < VECTOR; k++) {
        v[k] = room[k * THREADS + column];
        for (uint i = 1; i < most; i++) v[k] = both(v[k], room[k * THREADS + i * s->across + column], largest);
    }
}

INLINE bool is_aligned(__global const char *a, __global const char *b, __global const char *c)
{
    return (((uint)(ulong)a | (uint)(ulong)b | (uint)(ulong)c) & (RMCP_SOFTMAX_COLUMN_BYTES - 1)) == 0;
}

#if BACKWARD

__kernel WORKGROUP(THREADS) void softmax_channels(INPUT(y), INPUT(dy), OUTPUT(dx), struct rmcp_softmax_channels p)
{
    __local float room[VECTOR * THREADS];
    const struct post s = post_of(&p);
    const bool aligned = is_aligned(ADDRESS(y), ADDRESS(dy), ADDRESS(dx));
    __global const char *y_line = ADDRESS(y) + s.begin, *dy_line = ADDRESS(dy) + s.begin;
    const uint block = KEEP * p.lanes;
    const bool once = !CPU && p.length <= block; /* a barrier that depends on it takes a CPU's compiler minutes */
    uint y[KEEP], dy[KEEP];
    float a[VECTOR], b[VECTOR], sum[VECTOR];
    UNROLL for (uint k = 0; k < VECTOR; k++) sum[k] = 0;
    for (uint first = 0; first < p.length; first += block) {
        float part[VECTOR]; /* apart, so that long sums stay accurate */
        UNROLL for (uint k = 0; k < VECTOR; k++) part[k] = 0;
        read_column(y, y_line, &p, s.lane, first, 0, aligned);
        read_column(dy, dy_line, &p, s.lane, first, 0, aligned);
        UNROLL for (uint i = 0; i < KEEP; i++) {
            if (first + i / GROUP * GROUP * p.lanes >= p.length) continue;
            values(a, y[i]);
            values(b, dy[i]);
            UNROLL for (uint k = 0; k < VECTOR; k++) part[k] += p.log ? b[k] : a[k] * b[k];
        }
        UNROLL for (uint k = 0; k < VECTOR; k++) sum[k] += part[k];
    }
    fold_columns(sum, false, &s, p.lanes, room);
    for (uint first = 0; first < p.length; first += block) {
        if (!once) {
            read_column(y, y_line, &p, s.lane, first, 0, aligned);
            read_column(dy, dy_line, &p, s.lane, first, 0, aligned);
        }
        UNROLL for (uint i = 0; i < KEEP; i += GROUP) {
            const uint all = first + i * p.lanes;
            float dx[GROUP][VECTOR];
            if (all >= p.length) continue;
            UNROLL for (uint j = 0; j < GROUP; j++) {
                values(a, y[i + j]);
                values(b, dy[i + j]);
                if (p.log) {
                    UNROLL for (uint k = 0; k < VECTOR; k++) dx[j][k] = p.alpha * (b[k] - exp_of(a[k]) * sum[k]);
                } else {
                    UNROLL for (uint k = 0; k < VECTOR; k++) dx[j][k] = p.alpha * (a[k] * (b[k] - sum[k]));
                }
            }
            if (s.exists) write_columns(dx, ADDRESS(dx) + s.begin, &p, all, s.lane, aligned);
        }
    }
}

#else

__kernel WORKGROUP(THREADS) void softmax_channels(INPUT(x), OUTPUT(y), struct rmcp_softmax_channels p)
{
    __local float room[2 * VECTOR * THREADS];
    const struct post s = post_of(&p);
    const bool aligned = is_aligned(ADDRESS(x), ADDRESS(y), ADDRESS(y));
    __global const char *x_line = ADDRESS(x) + s.begin;
    const uint block = KEEP * p.lanes;
    const bool once = !CPU && p.length <= block; /* a barrier that depends on it takes a CPU's compiler minutes */
#define KEPT (TYPE == 0 && once && !p.log) /* what is in the registers are terms, then */
    uint x[KEEP];
    float v[VECTOR], top[VECTOR], base[VECTOR], sum[VECTOR], rest[VECTOR];
    UNROLL for (uint k = 0; k < VECTOR; k++) top[k] = -INFINITY, sum[k] = 0;
    for (uint first = 0; first < p.length; first += block) {
        float largest[VECTOR], part[VECTOR];
        UNROLL for (uint k = 0; k < VECTOR; k++) largest[k] = top[k], part[k] = 0;
        read_column(x, x_line, &p, s.lane, first, NOTHING, aligned);
        UNROLL for (uint i = 0; i < KEEP; i++) {
            if (first + i / GROUP * GROUP * p.lanes >= p.length) continue;
            values(v, x[i]);
            UNROLL for (uint k = 0; k < VECTOR; k++) largest[k] = larger(largest[k], v[k]);
        }
        if (once && p.lanes > 1) fold_columns(largest, true, &s, p.lanes, room);
        UNROLL for (uint k = 0; k < VECTOR; k++) {
            if (largest[k] > top[k]) sum[k] *= exp_term(top[k] - largest[k]);
            top[k] = largest[k];
            base[k] = base_of(top[k]);
        }
        UNROLL for (uint i = 0; i < KEEP; i++) {
            if (first + i / GROUP * GROUP * p.lanes >= p.length) continue;
            values(v, x[i]);
            UNROLL for (uint k = 0; k < VECTOR; k++) part[k] += v[k] = exp_term(v[k] - base[k]);
            if (KEPT) x[i] = as_uint(v[0]);
        }
        UNROLL for (uint k = 0; k < VECTOR; k++) sum[k] += part[k];
    }
    if (!once) {
        float own[VECTOR];
        UNROLL for (uint k = 0; k < VECTOR; k++) own[k] = top[k];
        fold_columns(top, true, &s, p.lanes, room);
        UNROLL for (uint k = 0; k < VECTOR; k++) {
            if (own[k] != top[k]) sum[k] *= exp_term(own[k] - top[k]);
            base[k] = base_of(top[k]);
        }
    }
    if (CPU || p.lanes > 1) fold_columns(sum, false, &s, p.lanes, room + VECTOR * THREADS);
    UNROLL for (uint k = 0; k < VECTOR; k++) rest[k] = p.log ? log_of(sum[k]) : p.alpha / sum[k];
    for (uint first = 0; first < p.length; first += block) {
        if (!once) read_column(x, x_line, &p, s.lane, first, NOTHING, aligned);
        UNROLL for (uint i = 0; i < KEEP; i += GROUP) {
            const uint all = first + i * p.lanes;
            float y[GROUP][VECTOR];
            if (all >= p.length) continue;
            UNROLL for (uint j = 0; j < GROUP; j++) {
                values(v, x[i + j]);
                if (p.log) {
                    UNROLL for (uint k = 0; k < VECTOR; k++) y[j][k] = p.alpha * ((v[k] - base[k]) - rest[k]);
                } else if (KEPT) {
                    y[j][0] = rest[0] * v[0];
                } else { /* once more: terms of 16 bits would take twice as many registers */
                    UNROLL for (uint k = 0; k < VECTOR; k++) y[j][k] = rest[k] * exp_term(v[k] - base[k]);
                }
            }
            if (s.exists) write_columns(y, ADDRESS(y) + s.begin, &p, all, s.lane, aligned);
        }
    }
}

#endif
