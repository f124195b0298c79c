/* reduce.cl: sums, products and largest values along lines, with the place of the largest; in a
 * fixed order, and sums in blocks, so that errors stay small. */
#include "engine/ops/reduce/kernels/args.h"
#include "engine/kernels/lines.h"

#define KEEP (16 / LANES) /* chunks that are loaded at a time */
#define NOWHERE 0xffffffffu

/* What a line has become so far. */
struct best {
    float value;
    uint index; /* of the largest */
};

INLINE float nothing_of(uint merge)
{
    return merge == RMCP_REDUCE_SUM ? 0.0f : merge == RMCP_REDUCE_PRODUCT ? 1.0f : -INFINITY;
}

/* The kind is the same for all work-items: no choice inside the loops. */
INLINE void prepare(const struct rmcp_reduce_args *f, float *v)
{
    if (f->before == RMCP_REDUCE_NEGATED) {
        UNROLL for (int k = 0; k < LANES; k++) v[k] = -v[k];
    } else if (f->before == RMCP_REDUCE_ABSOLUTE) {
        UNROLL for (int k = 0; k < LANES; k++) v[k] = v[k] < 0 ? -v[k] : v[k];
    } else if (f->before == RMCP_REDUCE_SQUARED) {
        UNROLL for (int k = 0; k < LANES; k++) v[k] *= v[k];
    } else if (f->before == RMCP_REDUCE_NOT_ZERO) {
        UNROLL for (int k = 0; k < LANES; k++) v[k] = v[k] == 0 ? 1.0f : v[k];
    }
}

/* Whether a is to be taken rather than b: NaN above all, of equals the first. */
INLINE bool is_above(float a, uint a_index, float b, uint b_index)
{
    const bool a_nan = a != a, b_nan = b != b;
    return a > b || (a_nan && !b_nan) || ((a == b || (a_nan && b_nan)) && a_index < b_index);
}

INLINE struct best merged(uint merge, struct best a, struct best b)
{
    if (merge == RMCP_REDUCE_LARGEST) return is_above(b.value, b.index, a.value, a.index) ? b : a;
    a.value = merge == RMCP_REDUCE_SUM ? a.value + b.value : a.value * b.value;
    return a;
}

/* The chunks of a part of the line. */
INLINE void gather(struct best *h, const struct rmcp_reduce_args *f, const struct share *s,
                   __global const char *a)
{
    const struct rmcp_lines *l = &f->lines;
    for (uint next = s->begin + s->lane; next < s->end; next += KEEP * l->lanes) {
        struct chunk c[KEEP];
        struct lanes raw[KEEP];
        uint way[KEEP];
        UNROLL for (uint i = 0; i < KEEP; i++)
        {
            c[i] = chunk_of(l, s, next + i * l->lanes, a);
            way[i] = load_chunk(&raw[i], l, &c[i], a, c[i].at.a, l->vector.a);
        }
        float v[KEEP][LANES];
        uint counts[KEEP]; /* a bit for each that does */
        UNROLL for (uint i = 0; i < KEEP; i++)
        {
            value_lanes(v[i], &raw[i], TYPE, way[i]);
            counts[i] = (1u << LANES) - 1;
            if (f->ignore || !c[i].whole) {
                counts[i] = 0;
                UNROLL for (int k = 0; k < LANES; k++) counts[i] |=
                    is_there(l, &c[i], k) && !(f->ignore && v[i][k] != v[i][k]) ? 1u << k : 0;
            }
            prepare(f, v[i]);
            if (f->ignore || !c[i].whole) {
                UNROLL for (int k = 0; k < LANES; k++) if (!(counts[i] >> k & 1)) v[i][k] =
                    nothing_of(f->merge);
            }
        }
        float block[WIDTH];
        UNROLL for (uint w = 0; w < WIDTH; w++) block[w] = nothing_of(f->merge);
        if (f->merge == RMCP_REDUCE_SUM) {
            UNROLL for (uint i = 0; i < KEEP; i++) UNROLL for (int k = 0; k < LANES; k++)
                block[OF(k)] += v[i][k];
            UNROLL for (uint w = 0; w < WIDTH; w++) h[w].value += block[w];
        } else if (f->merge == RMCP_REDUCE_PRODUCT) {
            UNROLL for (uint i = 0; i < KEEP; i++) UNROLL for (int k = 0; k < LANES; k++)
                block[OF(k)] *= v[i][k];
            UNROLL for (uint w = 0; w < WIDTH; w++) h[w].value *= block[w];
        } else if (!f->indices) { /* NaN, once there, stays */
            UNROLL for (uint i = 0; i < KEEP; i++) UNROLL for (int k = 0; k < LANES; k++) h[OF(k)]
                .value = v[i][k] > h[OF(k)].value || v[i][k] != v[i][k] ? v[i][k] : h[OF(k)].value;
        } else {
            UNROLL for (uint i = 0; i < KEEP; i++) UNROLL for (int k = 0; k < LANES; k++)
            {
                const uint index = c[i].at.b + (uint)(c[i].first + k) * l->vector.b;
                const struct best this = { v[i][k], counts[i] >> k & 1 ? index : NOWHERE };
                h[OF(k)] = merged(RMCP_REDUCE_LARGEST, h[OF(k)], this);
            }
        }
    }
}

/* Merges what all work-items of each line have; the first of them gets the result. */
INLINE void merge_lines(struct best *h, const struct rmcp_reduce_args *f, const struct share *s,
                        __local float *values, __local uint *indices)
{
    const uint thread = LOCAL_ID, apart = apart_of(&f->lines);
    UNROLL for (uint w = 0; w < WIDTH; w++)
    {
        values[w * THREADS + thread] = h[w].value;
        indices[w * THREADS + thread] = h[w].index;
    }
    for (uint half_way = f->lines.lanes / 2; half_way > 0; half_way /= 2) {
        BARRIER();
        if (s->lane < half_way) {
            UNROLL for (uint w = 0; w < WIDTH; w++)
            {
                const uint other = w * THREADS + thread + half_way * apart;
                const struct best theirs = { values[other], indices[other] };
                h[w] = merged(f->merge, h[w], theirs);
                values[w * THREADS + thread] = h[w].value;
                indices[w * THREADS + thread] = h[w].index;
            }
        }
    }
}

INLINE float finished(const struct rmcp_reduce_args *f, float v)
{
    const float x = f->before == RMCP_REDUCE_NEGATED ? -v : v;
#if defined(BARE)
    return f->alpha * (f->root ? __builtin_sqrtf(x) : x * f->scale);
#else
    return f->alpha * (f->root ? sqrt(x) : x * f->scale);
#endif
}

__kernel WORKGROUP(THREADS) void reduce_lines(TENSOR(a), RESULT(c), RESULT(d), RESULT(parts),
                                              struct rmcp_reduce_args f)
{
    __local float values[THREADS * WIDTH];
    __local uint indices[THREADS * WIDTH];
    const struct rmcp_lines *l = &f.lines;
    const struct share s = share_of(l);
    struct best h[WIDTH];
    UNROLL for (uint w = 0; w < WIDTH; w++) h[w].value = nothing_of(f.merge), h[w].index = NOWHERE;

    __global float *part_values = (__global float *)ADDRESS(parts);
    __global uint *part_indices = (__global uint *)ADDRESS(parts) + f.parts * l->lines * WIDTH;
    if (f.stage == RMCP_REDUCE_APPLY) {
        for (uint part = s.exists ? s.lane : f.parts; part < f.parts; part += l->lanes) {
            UNROLL for (uint w = 0; w < WIDTH; w++)
            {
                const uint at = part_of(l, &s, part, w);
                const struct best theirs = { part_values[at], f.indices ? part_indices[at] : 0 };
                h[w] = merged(f.merge, h[w], theirs);
            }
        }
    } else if (s.exists) {
        gather(h, &f, &s, ADDRESS(a));
    }
    merge_lines(h, &f, &s, values, indices);
    if (s.lane > 0 || !s.exists) return;

    if (f.stage == RMCP_REDUCE_PARTS) {
        UNROLL for (uint w = 0; w < WIDTH; w++)
        {
            const uint at = part_of(l, &s, GROUP_ID_Y, w);
            part_values[at] = h[w].value;
            if (f.indices) part_indices[at] = h[w].index;
        }
        return;
    }
    UNROLL for (uint w = 0; w < WIDTH; w++)
    {
        if (COLUMNS && s.first + w >= l->vector.size.divisor) continue;
        const uint across = COLUMNS ? s.first + w : 0;
        if (f.values) {
            __global char *p = ADDRESS(c) + (s.at.c + across * l->vector.c) * (uint)sizeof(element);
            const float v = finished(&f, h[w].value);
            from_float((__global element *)p, f.beta != 0 ? f.beta * fetch(p, TYPE) + v : v);
        }
        if (f.indices)
            ((__global uint *)ADDRESS(d))[s.at.d + across * l->vector.d] =
                h[w].index == NOWHERE ? 0 : h[w].index;
    }
}
