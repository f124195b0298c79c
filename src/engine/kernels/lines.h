/* lines.h: elements along lines of tensors, LANES at a time, for kernels that reduce or normalise.
 *
 * COLUMNS chooses what a chunk is (line_args.h). Work-items of a line meet in local memory in a
 * fixed order. */
#ifndef RMCP_KERNEL_LINES_H
#define RMCP_KERNEL_LINES_H

#include "engine/kernels/lanes.h"
#include "engine/kernels/line_args.h"

#define THREADS 256
#define WIDTH (COLUMNS ? LANES : 1) /* lines of a work-item                        */
#define OF(k) (COLUMNS ? (k) : 0)   /* the line of element k of a chunk, of WIDTH  */

/* Offsets in the four tensors. */
struct place {
    uint a, b, c, d;
};

/* What a work-item has to do. */
struct share {
    uint lane, out; /* which of the work-items of a line, which line of the workgroup */
    uint line;
    bool exists;
    uint begin, end; /* items of the part */
    uint first; /* columns: the first line along `vector`                                      */
    struct place at; /* of the line */
};

/* A chunk: LANES elements along `vector` from `first` on, which may be before it in rows. */
struct chunk {
    struct place at; /* of the turn of `vector`                          */
    int first;
    bool whole; /* all of them are there                                 */
};

INLINE uint take_line_turn(struct rmcp_line_turn t, uint index, struct place *p)
{
    const uint rest = divide(index, t.size), digit = index - rest * t.size.divisor;
    p->a += digit * t.a;
    p->b += digit * t.b;
    p->c += digit * t.c;
    p->d += digit * t.d;
    return rest;
}

INLINE struct share share_of(const struct rmcp_lines *l)
{
    const uint thread = LOCAL_ID;
    struct share s;
    s.lane = COLUMNS ? thread / l->outs : thread & (l->lanes - 1);
    s.out = COLUMNS ? thread & (l->outs - 1) : thread / l->lanes;
    s.line = GROUP_ID_X * l->outs + s.out;
    s.exists = s.line < l->lines;
    s.begin = GROUP_ID_Y * l->share;
    s.end = smaller(s.begin + l->share, l->count);
    s.at.a = s.at.b = s.at.c = s.at.d = 0;
    s.first = 0;
    uint rest = s.exists ? s.line : 0;
    if (COLUMNS) {
        const uint row = divide(rest, l->chunks);
        s.first = (rest - row * l->chunks.divisor) * LANES;
        rest = row;
    }
    UNROLL for (uint i = 0; i < 4; i++) if (i >= l->n_along && i < l->n_turns) rest =
        take_line_turn(l->turn[i], rest, &s.at);
    return s;
}

/* Item `item` of a line. Beyond the end it is a chunk without elements. */
INLINE struct chunk chunk_of(const struct rmcp_lines *l, const struct share *s, uint item,
                             __global const char *a)
{
    const uint there = smaller(item, s->end - 1);
    struct chunk c;
    c.at = s->at;
    c.first = (int)s->first;
    if (COLUMNS && l->n_along <= 1) { /* no division where one loop is all there is */
        c.at.a += there * l->turn[0].a;
        c.at.b += there * l->turn[0].b;
        c.at.c += there * l->turn[0].c;
        c.at.d += there * l->turn[0].d;
    } else if (!COLUMNS && l->n_along == 0) {
        c.first = (int)(there * LANES);
    } else {
        uint rest = there;
        if (!COLUMNS) {
            rest = divide(there, l->chunks);
            c.first = (int)((there - rest * l->chunks.divisor) * LANES);
        }
        UNROLL for (uint i = 0; i < 4; i++) if (i < l->n_along) rest =
            take_line_turn(l->turn[i], rest, &c.at);
    }
    if (!COLUMNS && l->align)
        c.first -= (int)((uint)(ulong)(a + c.at.a * (uint)sizeof(element)) / (uint)sizeof(element) %
                         LANES);
    if (item >= s->end) c.first = (int)l->vector.size.divisor;
    c.whole = c.first >= 0 && (uint)c.first + LANES <= l->vector.size.divisor;
    return c;
}

INLINE bool is_there(const struct rmcp_lines *l, const struct chunk *c, int k)
{
    return c->whole || (c->first + k >= 0 && c->first + k < (int)l->vector.size.divisor);
}

/* Begin to load a chunk of a tensor; some element of it stands for those that are not there.
 * Returns the way, for value_lanes. */
INLINE uint load_chunk(struct lanes *x, const struct rmcp_lines *l, const struct chunk *c,
                       __global const char *base, uint at, uint step)
{
    __global const char *p = base + at * (uint)sizeof(element);
    if (c->whole) {
        p += (uint)c->first * step * (uint)sizeof(element);
        const uint way = way_of(p, TYPE, step);
        load_lanes(x, p, TYPE, step, way);
        return way;
    }
    UNROLL for (int k = 0; k < LANES; k++)
    {
        const int most = (int)l->vector.size.divisor - 1, i = c->first + k;
        const uint nearest = (uint)(i < 0 ? 0 : i < most ? i : most);
        x->word[k] = *(__global const bits *)(p + nearest * step * (uint)sizeof(element));
    }
    return SINGLY;
}

/* What stands for elements that are not there. */
INLINE void mask_chunk(float *v, const struct rmcp_lines *l, const struct chunk *c, float other)
{
    if (c->whole) return;
    UNROLL for (int k = 0; k < LANES; k++) if (!is_there(l, c, k)) v[k] = other;
}

/* v, and `beta` of what was there before, to a chunk of a tensor. */
INLINE void store_chunk(const struct rmcp_lines *l, const struct chunk *c, __global char *base,
                        uint at, uint step, float *v, float beta)
{
    if (beta != 0) {
        struct lanes before;
        float z[LANES];
        const uint way = load_chunk(&before, l, c, base, at, step);
        value_lanes(z, &before, TYPE, way);
        UNROLL for (int k = 0; k < LANES; k++) v[k] = beta * z[k] + v[k];
    }
    __global char *p = base + at * (uint)sizeof(element);
    if (c->whole) {
        put_lanes(p + (uint)c->first * step * (uint)sizeof(element), v, step);
        return;
    }
    UNROLL for (int k = 0; k < LANES; k++) if (is_there(l, c, k)) from_float(
        (__global element *)(p + (uint)(c->first + k) * step * (uint)sizeof(element)), v[k]);
}

/* How far the work-items of a line are from each other in the workgroup. */
INLINE uint apart_of(const struct rmcp_lines *l)
{
    return COLUMNS ? l->outs : 1;
}

/* Where line `w` of this work-item's has its `part` in the workspace, counted in values. */
INLINE uint part_of(const struct rmcp_lines *l, const struct share *s, uint part, uint w)
{
    return (part * l->lines + s->line) * WIDTH + w;
}

#endif
