/* channels.cl: softmax (BACKWARD: its gradient) along lines whose neighbours lie side by side: over the channels of an image's
 * pixels.
 *
 * Neighbouring work-items have neighbouring columns of VECTOR lines; `lanes` work-items share one and have every
 * lanes-th element of it. Lines that fit into their registers are read once, of longer ones all is read again for the
 * results. */
#include "kernels/target.h"

#include "kernels/common.h"
#include "kernels/functions.h"
#include "kernels/raw.h"
#include "ops/softmax/kernels/packed_args.h"
#include "ops/softmax/kernels/terms.h"

#define VECTOR (RMCP_SOFTMAX_COLUMN_BYTES / (int)sizeof(element))
#define KEEP ((BACKWARD ? RMCP_SOFTMAX_KEEP_BACKWARD : RMCP_SOFTMAX_KEEP_FORWARD) / VECTOR)

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
#if TYPE == 0
typedef float column;
#else
typedef uint column;
#endif

INLINE column get(__global const char *p, bool aligned)
{
#if TYPE == 0
    return load_raw(p, 0);
#else
    if (aligned) return *(__global const column *)p;
    return load_raw(p, 0) | (uint)load_raw(p, 1) << 16;
#endif
}

INLINE void values(float *v, column c)
{
#if TYPE == 0
    v[0] = c;
#else
    v[0] = value_of_raw((raw)c), v[1] = value_of_raw((raw)(c >> 16));
#endif
}

INLINE void put(__global char *p, const float *v)
{
#if TYPE == 0
    *(__global float *)p = v[0];
#else
    store2(p, 0, v[0], v[1]);
#endif
}

/* The next elements of a work-item, from `first` on; beyond the end they are `other`. */
INLINE void read_column(float v[KEEP][VECTOR], __global const char *line, const struct rmcp_softmax_channels *p,
                        uint lane, uint first, float other, bool aligned)
{
    column c[KEEP];
    UNROLL for (uint i = 0; i < KEEP; i++) {
        const uint all = first + i * p->lanes, at = all + lane; /* `all`: the same for all work-items */
        c[i] = 0;
        if (all < p->length) c[i] = get(line + (at < p->length ? at : 0) * p->step, aligned);
    }
    UNROLL for (uint i = 0; i < KEEP; i++) {
        const bool beyond = first + i * p->lanes + lane >= p->length;
        values(v[i], c[i]);
        UNROLL for (uint k = 0; k < VECTOR; k++) v[i][k] = beyond ? other : v[i][k];
    }
}

INLINE void write_column(float v[KEEP][VECTOR], __global char *line, const struct rmcp_softmax_channels *p,
                         const struct post *s, uint first, bool aligned)
{
    UNROLL for (uint i = 0; i < KEEP; i++) {
        const uint at = first + i * p->lanes + s->lane;
        if (at >= p->length || !s->exists) continue;
        UNROLL for (uint k = 0; k < VECTOR; k++) v[i][k] *= p->alpha;
        if (p->beta != 0) {
            float before[VECTOR];
            values(before, get(line + at * p->step, aligned));
            UNROLL for (uint k = 0; k < VECTOR; k++) v[i][k] += p->beta * before[k];
        }
        put(line + at * p->step, v[i]);
    }
}

/* Of the work-items of a column, for all of them; `room` is not used again. */
INLINE void fold_columns(float *v, bool largest, const struct post *s, uint lanes, __local float *room)
{
    UNROLL for (uint k = 0; k < VECTOR; k++) room[k * THREADS + LOCAL_ID] = v[k];
    for (uint apart = lanes / 2; apart > 0; apart /= 2) {
        BARRIER();
        if (s->lane < apart) {
            UNROLL for (uint k = 0; k < VECTOR; k++) {
                v[k] = both(v[k], room[k * THREADS + LOCAL_ID + apart * s->across], largest);
                room[k * THREADS + LOCAL_ID] = v[k];
            }
        }
    }
    BARRIER();
    UNROLL for (uint k = 0; k < VECTOR; k++) v[k] = room[k * THREADS + (LOCAL_ID & (s->across - 1))];
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
    float y[KEEP][VECTOR], dy[KEEP][VECTOR], sum[VECTOR];
    UNROLL for (uint k = 0; k < VECTOR; k++) sum[k] = 0;
    for (uint first = 0; first < p.length; first += block) {
        float part[VECTOR]; /* apart, so that long sums stay accurate */
        UNROLL for (uint k = 0; k < VECTOR; k++) part[k] = 0;
        read_column(y, y_line, &p, s.lane, first, 0, aligned);
        read_column(dy, dy_line, &p, s.lane, first, 0, aligned);
        UNROLL for (uint i = 0; i < KEEP; i++) UNROLL for (uint k = 0; k < VECTOR; k++)
            part[k] += p.log ? dy[i][k] : y[i][k] * dy[i][k];
        UNROLL for (uint k = 0; k < VECTOR; k++) sum[k] += part[k];
    }
    fold_columns(sum, false, &s, p.lanes, room);
    for (uint first = 0; first < p.length; first += block) {
        if (!once) {
            read_column(y, y_line, &p, s.lane, first, 0, aligned);
            read_column(dy, dy_line, &p, s.lane, first, 0, aligned);
        }
        UNROLL for (uint i = 0; i < KEEP; i++) {
            if (first + i * p.lanes >= p.length) continue;
            UNROLL for (uint k = 0; k < VECTOR; k++)
                y[i][k] = p.log ? dy[i][k] - exp_of(y[i][k]) * sum[k] : y[i][k] * (dy[i][k] - sum[k]);
        }
        write_column(y, ADDRESS(dx) + s.begin, &p, &s, first, aligned);
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
    float v[KEEP][VECTOR], top[VECTOR], sum[VECTOR], lost[VECTOR];
    UNROLL for (uint k = 0; k < VECTOR; k++) top[k] = -INFINITY, sum[k] = 0;
    for (uint first = 0; first < p.length; first += block) {
        float largest[VECTOR], part[VECTOR], base[VECTOR];
        UNROLL for (uint k = 0; k < VECTOR; k++) largest[k] = top[k], part[k] = 0;
        read_column(v, x_line, &p, s.lane, first, -INFINITY, aligned);
        UNROLL for (uint i = 0; i < KEEP; i++) UNROLL for (uint k = 0; k < VECTOR; k++)
            largest[k] = v[i][k] > largest[k] ? v[i][k] : largest[k];
        if (once) fold_columns(largest, true, &s, p.lanes, room);
        UNROLL for (uint k = 0; k < VECTOR; k++) {
            if (largest[k] > top[k]) sum[k] *= exp_down(top[k] - largest[k]);
            top[k] = largest[k];
            base[k] = base_of(top[k]);
        }
        UNROLL for (uint i = 0; i < KEEP; i++) {
            if (first + i * p.lanes >= p.length) continue;
            UNROLL for (uint k = 0; k < VECTOR; k++) {
                const float below = v[i][k] - base[k], term = exp_down(below);
                part[k] += term;
                v[i][k] = p.log ? below : term;
            }
        }
        UNROLL for (uint k = 0; k < VECTOR; k++) sum[k] += part[k];
    }
    if (!once) {
        float own[VECTOR];
        UNROLL for (uint k = 0; k < VECTOR; k++) own[k] = top[k];
        fold_columns(top, true, &s, p.lanes, room);
        UNROLL for (uint k = 0; k < VECTOR; k++)
            if (own[k] != top[k]) sum[k] *= exp_down(own[k] - top[k]);
    }
    fold_columns(sum, false, &s, p.lanes, room + VECTOR * THREADS);
    UNROLL for (uint k = 0; k < VECTOR; k++) lost[k] = p.log ? log_of(sum[k]) : 1.0f / sum[k];
    for (uint first = 0; first < p.length; first += block) {
        if (!once) read_column(v, x_line, &p, s.lane, first, -INFINITY, aligned);
        UNROLL for (uint i = 0; i < KEEP; i++) {
            if (first + i * p.lanes >= p.length) continue;
            UNROLL for (uint k = 0; k < VECTOR; k++) {
                if (!once) v[i][k] = p.log ? v[i][k] - top[k] : exp_down(v[i][k] - top[k]);
                v[i][k] = p.log ? v[i][k] - lost[k] : v[i][k] * lost[k];
            }
        }
        write_column(v, ADDRESS(y) + s.begin, &p, &s, first, aligned);
    }
}

#endif
