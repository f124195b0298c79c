/* whole.cl: layer and T5 normalisation (BACKWARD: its gradients) of rows that are shared evenly: each of `lanes` work-items has
 * as many chunks of four neighbours, all of which it keeps in registers. */
#include "kernels/target.h"

#include "kernels/meet.h"
#include "kernels/raw.h"
#include "ops/batchnorm/kernels/norm.h"
#include "ops/norm/kernels/args.h"

#define CHUNKS RMCP_LN_CHUNKS
#define MEET (THREADS / 4) /* ends of fold_lines */

/* Four times 1. */
#if TYPE == 0
#define ONES ((raw4)(1.0f, 1.0f, 1.0f, 1.0f))
#elif TYPE == 1
#define ONES ((raw4)(0x3c003c00u, 0x3c003c00u))
#else
#define ONES ((raw4)(0x3f803f80u, 0x3f803f80u))
#endif

/* Chunk i of a work-item: four elements of a row. */
INLINE raw4 load_chunk(__global const char *base, ulong at, bool aligned)
{
    return load_raw_four(base + at * sizeof(raw), 0, aligned);
}

INLINE void put_chunk(const float *v, __global char *base, ulong at, bool aligned)
{
    if (aligned) {
        put4(base, at, v);
    } else {
        UNROLL for (uint k = 0; k < 4; k++) put1(base, at + k, v[k]);
    }
}

/* All chunks of a row; those that no work-item has, or that do not exist, are `other`. */
INLINE void load_row(raw4 r[CHUNKS], __global const char *base, ulong begin, uint lane,
                     const struct rmcp_ln_whole *a, bool exists, raw4 other, bool aligned)
{
    UNROLL for (uint i = 0; i < CHUNKS; i++) {
        r[i] = other;
        if (exists && i < a->chunks) r[i] = load_chunk(base, begin + (lane + i * a->lanes) * 4, aligned);
    }
}

INLINE void values_of_row(float v[CHUNKS][4], const raw4 r[CHUNKS])
{
    UNROLL for (uint i = 0; i < CHUNKS; i++) values_of_raw4(v[i], r[i]);
}

INLINE float total(const float v[4])
{
    return (v[0] + v[1]) + (v[2] + v[3]);
}

#if BACKWARD

/* The sums of all lines of the workgroup, for its split: four columns at a time. */
INLINE void put_sums(float v[CHUNKS][4], __global float *to, uint lane, const struct rmcp_ln_whole *a,
                     __local float4 *room)
{
    UNROLL for (uint i = 0; i < CHUNKS; i++) {
        BARRIER();
        room[LOCAL_ID] = (float4)(v[i][0], v[i][1], v[i][2], v[i][3]);
        BARRIER();
        if (LOCAL_ID >= a->lanes || i >= a->chunks || !a->sums) continue;
        float4 sum = room[LOCAL_ID];
        for (uint line = LOCAL_ID + a->lanes; line < THREADS; line += a->lanes) sum += room[line];
        __global float *const place = to + (lane + i * a->lanes) * 4;
        place[0] = sum.x, place[1] = sum.y, place[2] = sum.z, place[3] = sum.w;
    }
}

__kernel WORKGROUP(THREADS) void norm_whole(INPUT(x), INPUT(dy), INPUT(weight), INPUT(mean), INPUT(rstd), OUTPUT(dx),
                                            OUTPUT(parts), struct rmcp_ln_whole a)
{
    __local float4 room[THREADS];
    __local float4 ends[2 * MEET];
    const uint lanes = a.lanes, lane = LOCAL_ID & (lanes - 1), lines = THREADS / lanes;
    const bool aligned = is_aligned(ADDRESS(x)) && is_aligned(ADDRESS(dy)) && is_aligned(ADDRESS(dx)) &&
                         (!a.weights || is_aligned(ADDRESS(weight)));
    float product[CHUNKS][4], sum[CHUNKS][4];
    raw4 weights[CHUNKS];
    load_row(weights, ADDRESS(weight), 0, lane, &a, a.weights, ONES, aligned);
    UNROLL for (uint i = 0; i < CHUNKS; i++) UNROLL for (uint k = 0; k < 4; k++) product[i][k] = sum[i][k] = 0;
    for (uint first = GROUP_ID_X * lines; first < a.count; first += a.groups * lines) {
        const bool exists = first + LOCAL_ID / lanes < a.count;
        const ulong row = a.first + (exists ? first + LOCAL_ID / lanes : first), begin = row * a.inner;
        const float mean = a.t5 ? 0 : get1(ADDRESS(mean), row), rstd = get1(ADDRESS(rstd), row);
        float v[CHUNKS][4], g[CHUNKS][4], w[4];
        float slants[4] = { 0, 0, 0, 0 }, evens[4] = { 0, 0, 0, 0 };
        raw4 x[CHUNKS], dy[CHUNKS];
        load_row(x, ADDRESS(x), begin, lane, &a, true, 0, aligned);
        load_row(dy, ADDRESS(dy), begin, lane, &a, true, 0, aligned);
        values_of_row(v, x);
        values_of_row(g, dy);
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            if (i >= a.chunks) continue;
            values_of_raw4(w, weights[i]);
            UNROLL for (uint k = 0; k < 4; k++) {
                const float d = v[i][k] - mean, e = g[i][k] * w[k];
                if (exists && a.sums) {
                    product[i][k] += g[i][k] * (d * rstd);
                    sum[i][k] += g[i][k];
                }
                evens[k] += e;
                slants[k] += e * d;
                v[i][k] = d;
                g[i][k] = e;
            }
        }
        const float all = fold_lines(total(slants), false, lane, lanes, (__local float *)room, ends);
        const float mine =
            fold_lines(total(evens), false, lane, lanes, (__local float *)room + THREADS, ends + MEET);
        const float even = a.t5 ? 0 : mine * a.share, slant = rstd * rstd * all * a.share;
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            if (i >= a.chunks || !exists) continue;
            UNROLL for (uint k = 0; k < 4; k++) v[i][k] = (g[i][k] - even - v[i][k] * slant) * rstd;
            put_chunk(v[i], ADDRESS(dx), begin + (lane + i * lanes) * 4, aligned);
        }
    }
    __global float *const to = (__global float *)ADDRESS(parts) + (ulong)(a.split + GROUP_ID_X) * 2 * a.inner;
    put_sums(product, to, lane, &a, room);
    put_sums(sum, to + a.inner, lane, &a, room);
}

#else

__kernel WORKGROUP(THREADS) void norm_whole(INPUT(x), INPUT(x2), INPUT(weight), INPUT(bias), OUTPUT(y), OUTPUT(mean),
                                            OUTPUT(rstd), struct rmcp_ln_whole a)
{
    __local float room[3 * THREADS];
    __local float4 ends[3 * MEET];
    const uint lanes = a.lanes, lane = LOCAL_ID & (lanes - 1);
    const uint number = GROUP_ID_X * (THREADS / lanes) + LOCAL_ID / lanes;
    const bool exists = number < a.count;
    const bool aligned = is_aligned(ADDRESS(x)) && is_aligned(ADDRESS(y)) && (!a.add || is_aligned(ADDRESS(x2))) &&
                         (!a.weights || is_aligned(ADDRESS(weight))) && (!a.bias || is_aligned(ADDRESS(bias)));
    const ulong row = a.first + (exists ? number : 0), begin = row * a.inner;
    float v[CHUNKS][4], part[4] = { 0, 0, 0, 0 }, squares[4] = { 0, 0, 0, 0 };
    raw4 x[CHUNKS];
    load_row(x, ADDRESS(x), begin, lane, &a, true, 0, aligned);
    if (a.add) {
        raw4 x2[CHUNKS];
        float more[CHUNKS][4];
        load_row(x2, ADDRESS(x2), begin, lane, &a, true, 0, aligned);
        values_of_row(more, x2);
        values_of_row(v, x);
        UNROLL for (uint i = 0; i < CHUNKS; i++) UNROLL for (uint k = 0; k < 4; k++) v[i][k] += more[i][k];
    } else {
        values_of_row(v, x);
    }
    UNROLL for (uint i = 0; i < CHUNKS; i++) UNROLL for (uint k = 0; k < 4; k++) part[k] += v[i][k];
    const float sum = fold_lines(total(part), false, lane, lanes, room, ends), center = a.t5 ? 0 : sum * a.share;
    /* The mean of the distances from the mean is what the first sum lost. */
    UNROLL for (uint k = 0; k < 4; k++) part[k] = 0;
    UNROLL for (uint i = 0; i < CHUNKS; i++) {
        if (i >= a.chunks) continue;
        UNROLL for (uint k = 0; k < 4; k++) {
            v[i][k] -= center;
            part[k] += v[i][k];
            squares[k] += v[i][k] * v[i][k];
        }
    }
    float square =
        fold_lines(total(squares), false, lane, lanes, room + THREADS, ends + MEET) * a.share;
    const float lost = fold_lines(total(part), false, lane, lanes, room + 2 * THREADS, ends + 2 * MEET);
    const float rest = a.t5 ? 0 : lost * a.share;
    square -= rest * rest;
    const float inverse = inverse_root((square > 0 ? square : square == square ? 0 : square) + a.epsilon);
    if (!exists) return;
    if (a.saved && lane == 0) {
        if (!a.t5) put1(ADDRESS(mean), row, center + rest);
        put1(ADDRESS(rstd), row, inverse);
    }
    raw4 weights[CHUNKS], biases[CHUNKS];
    load_row(weights, ADDRESS(weight), 0, lane, &a, a.weights, ONES, aligned);
    load_row(biases, ADDRESS(bias), 0, lane, &a, a.bias, 0, aligned);
    UNROLL for (uint i = 0; i < CHUNKS; i++) {
        if (i >= a.chunks) continue;
        const uint at = (lane + i * lanes) * 4;
        float w[4], b[4];
        values_of_raw4(w, weights[i]);
        values_of_raw4(b, biases[i]);
        UNROLL for (uint k = 0; k < 4; k++) v[i][k] = (v[i][k] - rest) * inverse * w[k] + b[k];
        put_chunk(v[i], ADDRESS(y), begin + at, aligned);
    }
}

#endif
