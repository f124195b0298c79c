/* whole.cl: layer, T5 and group normalisation (BACKWARD: gradients; SUMS: also those of weights) of rows that `lanes`
 * work-items keep in registers, as they lie in memory: every tensor is read once. */
#include "engine/ops/norm/kernels/chunk.h"

#define CHUNKS RMCP_LN_CHUNKS((int)sizeof(element), THREADS > 256, BACKWARD, SUMS)
#define ADDS (TYPE == 0 || THREADS == 256) /* a second tensor, which takes as many again except in f32 */
#define AHEAD (TYPE != 0) /* loading the next row ahead, which takes registers */

/* A word of ones. */
#if TYPE == 0
#define ONES 0x3f800000u
#elif TYPE == 1
#define ONES 0x3c003c00u
#else
#define ONES 0x3f803f80u
#endif

/* Of the chunks of a row work-item `lane` has number lane + i * lanes. */
INLINE uint place_of(const struct rmcp_ln_whole *a, uint lane, uint i)
{
    return (lane + i * a->lanes) * LANES;
}

/* What does not exist is `other`. */
INLINE void load_row(uint raw[CHUNKS][WORDS], __global const char *base, uint lane, const struct rmcp_ln_whole *a,
                     bool exists, uint other, bool aligned)
{
    UNROLL for (uint i = 0; i < CHUNKS; i++) {
        const uint at = place_of(a, lane, i);
        UNROLL for (uint k = 0; k < WORDS; k++) raw[i][k] = other;
        if (exists && at < a->inner) load_chunk(raw[i], base, at, aligned);
    }
}

/* Chunk i of weights or biases: one for each element of a row, or for each channel. */
INLINE void load_weights(uint *word, __global const char *base, uint channel, uint at, const struct rmcp_ln_whole *a,
                         bool exist, uint other, bool aligned)
{
    UNROLL for (uint k = 0; k < WORDS; k++) word[k] = other;
    if (exist && a->weights == 2) {
        const uint one = ((__global const bits *)base)[channel + divide(at, a->space)];
        UNROLL for (uint k = 0; k < WORDS; k++) word[k] = IN_WORD == 1 ? one : one | one << 16;
    } else if (exist) {
        load_chunk(word, base, at, aligned);
    }
}

/* The first channel of a row. */
INLINE uint channel_of(const struct rmcp_ln_whole *a, uint row)
{
    return (row - divide(row, a->parts) * a->parts.divisor) * a->each;
}

#if BACKWARD

/* A row of both tensors and its figures. */
struct row {
    uint x[CHUNKS][WORDS], dy[CHUNKS][WORDS];
    float mean, rstd;
};

INLINE void load_both(struct row *r, const struct rmcp_ln_whole *a, __global const char *x, __global const char *dy,
                      __global const char *means, __global const char *rstds, uint number, uint lane, bool aligned)
{
    const bool exists = number < a->count;
    const ulong row = a->first + (exists ? number : 0), begin = row * a->inner * sizeof(element);
    load_row(r->x, x + begin, lane, a, exists, 0, aligned);
    load_row(r->dy, dy + begin, lane, a, exists, 0, aligned);
    r->mean = a->t5 ? 0 : get1(means, row);
    r->rstd = get1(rstds, row);
}

#if SUMS
/* The sums of all lines of the workgroup, for its split: four columns at a time. */
INLINE void put_sums(float v[CHUNKS][LANES], __global float *to, uint lane, const struct rmcp_ln_whole *a,
                     __local float4 *room)
{
    UNROLL for (uint i = 0; i < CHUNKS; i++) UNROLL for (uint k = 0; k < LANES; k += 4) {
        BARRIER();
        room[LOCAL_ID] = (float4)(v[i][k], v[i][k + 1], v[i][k + 2], v[i][k + 3]);
        BARRIER();
        if (LOCAL_ID >= a->lanes || place_of(a, lane, i) >= a->inner) continue;
        float4 sum = room[LOCAL_ID];
        for (uint line = LOCAL_ID + a->lanes; line < THREADS; line += a->lanes) sum += room[line];
        __global float *const place = to + place_of(a, lane, i) + k;
        place[0] = sum.x, place[1] = sum.y, place[2] = sum.z, place[3] = sum.w;
    }
}
#endif

__kernel WORKGROUP(THREADS) void norm_whole(INPUT(x), INPUT(dy), INPUT(weight), INPUT(mean), INPUT(rstd), OUTPUT(dx),
                                            OUTPUT(parts), struct rmcp_ln_whole a)
{
    __local float4 room[THREADS], ends[THREADS];
    const uint lanes = a.lanes, lane = LOCAL_ID & (lanes - 1), lines = THREADS / lanes;
    const bool aligned = is_even(ADDRESS(x)) && is_even(ADDRESS(dy)) && is_even(ADDRESS(dx)) &&
                         (!a.weights || is_even(ADDRESS(weight)));
    uint number = GROUP_ID_X * lines + LOCAL_ID / lanes, weights[CHUNKS][WORDS];
    struct row r;
    load_both(&r, &a, ADDRESS(x), ADDRESS(dy), ADDRESS(mean), ADDRESS(rstd), number, lane, aligned);
    const uint channel = channel_of(&a, a.first + (number < a.count ? number : 0));
    UNROLL for (uint i = 0; i < CHUNKS; i++)
        load_weights(weights[i], ADDRESS(weight), channel, place_of(&a, lane, i), &a,
                     a.weights && place_of(&a, lane, i) < a.inner, ONES, aligned);
#if SUMS
    float product[CHUNKS][LANES], sum[CHUNKS][LANES];
    UNROLL for (uint i = 0; i < CHUNKS; i++) UNROLL for (uint k = 0; k < LANES; k++) product[i][k] = sum[i][k] = 0;
    /* As often for all of a workgroup, which has a part of the sums; the next row is under way while this one is
     * summed. */
    for (uint first = GROUP_ID_X * lines, turn = 0; first < a.count; first += a.groups * lines, turn++) {
        struct row next;
        if (AHEAD && first + a.groups * lines < a.count)
            load_both(&next, &a, ADDRESS(x), ADDRESS(dy), ADDRESS(mean), ADDRESS(rstd), number + a.groups * lines, lane,
                      aligned);
#else
    {
        const uint turn = 0;
#endif
        const bool exists = number < a.count;
        const ulong begin = (a.first + (ulong)(exists ? number : 0)) * a.inner;
        float v[LANES], g[LANES], w[LANES], slants[4] = { 0, 0, 0, 0 }, evens[4] = { 0, 0, 0, 0 };
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            if (place_of(&a, 0, i) >= a.inner) continue;
            values_of_words(v, r.x[i]);
            values_of_words(g, r.dy[i]); /* 0 where there is nothing */
            values_of_words(w, weights[i]);
            UNROLL for (uint k = 0; k < LANES; k++) {
                const float d = v[k] - r.mean, slope = g[k] * d;
#if SUMS
                product[i][k] += slope * r.rstd;
                sum[i][k] += g[k];
#endif
                evens[k % 4] += g[k] * w[k];
                slants[k % 4] += slope * w[k];
            }
        }
        float even = total(evens), slant = total(slants);
        fold_both(&even, &slant, lane, lanes, (__local float *)room + turn % 2 * 2 * THREADS,
                  ends + turn % 2 * (THREADS / 2));
        even = a.t5 ? 0 : even * a.share;
        slant = r.rstd * r.rstd * slant * a.share;
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            const uint at = place_of(&a, lane, i);
            if (at >= a.inner || !exists) continue;
            forget_words(r.x[i]), forget_words(r.dy[i]);
            if (!SUMS) forget_words(weights[i]); /* with sums there are registers for what they were made into */
            values_of_words(v, r.x[i]);
            values_of_words(g, r.dy[i]);
            values_of_words(w, weights[i]);
            UNROLL for (uint k = 0; k < LANES; k++)
                v[k] = (g[k] * w[k] - even - (v[k] - r.mean) * slant) * r.rstd;
            put_lanes(ADDRESS(dx) + (begin + at) * sizeof(element), v, 1);
        }
#if SUMS
        number += a.groups * lines;
        if (AHEAD)
            r = next;
        else if (first + a.groups * lines < a.count)
            load_both(&r, &a, ADDRESS(x), ADDRESS(dy), ADDRESS(mean), ADDRESS(rstd), number, lane, aligned);
#endif
    }
#if SUMS
    __global float *const to = (__global float *)ADDRESS(parts) + (ulong)(a.split + GROUP_ID_X) * 2 * a.inner;
    put_sums(product, to, lane, &a, room);
    put_sums(sum, to + a.inner, lane, &a, room);
#endif
}

#else

/* The values of chunk i. */
INLINE void values_of(float *v, uint x[CHUNKS][WORDS], uint x2[CHUNKS][WORDS], uint i, const struct rmcp_ln_whole *a)
{
    forget_words(x[i]);
    values_of_words(v, x[i]);
    if (TYPE != 0 && ADDS && a->add) {
        float more[LANES];
        forget_words(x2[i]);
        values_of_words(more, x2[i]);
        UNROLL for (uint k = 0; k < LANES; k++) v[k] += more[k];
    }
}

__kernel WORKGROUP(THREADS) void norm_whole(INPUT(x), INPUT(x2), INPUT(weight), INPUT(bias), OUTPUT(y), OUTPUT(mean),
                                            OUTPUT(rstd), struct rmcp_ln_whole a)
{
    __local float room[3 * THREADS];
    __local float4 ends[THREADS];
    const uint lanes = a.lanes, lane = LOCAL_ID & (lanes - 1);
    const uint number = GROUP_ID_X * (THREADS / lanes) + LOCAL_ID / lanes;
    const bool exists = number < a.count;
    const bool aligned = is_even(ADDRESS(x)) && is_even(ADDRESS(y)) && (!a.add || is_even(ADDRESS(x2))) &&
                         (!a.weights || is_even(ADDRESS(weight))) && (!a.bias || is_even(ADDRESS(bias)));
    const ulong row = a.first + (exists ? number : 0), begin = row * a.inner * sizeof(element);
    float v[LANES], part[4] = { 0, 0, 0, 0 }, squares[4] = { 0, 0, 0, 0 };
    uint x[CHUNKS][WORDS], x2[CHUNKS][WORDS];
    load_row(x, ADDRESS(x) + begin, lane, &a, true, 0, aligned);
    if (TYPE != 0 && ADDS && a.add) load_row(x2, ADDRESS(x2) + begin, lane, &a, true, 0, aligned);
    if (TYPE == 0 && a.add) { /* whose sums are elements, too */
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            uint more[WORDS];
            if (place_of(&a, lane, i) >= a.inner) continue;
            load_chunk(more, ADDRESS(x2) + begin, place_of(&a, lane, i), aligned);
            UNROLL for (uint k = 0; k < WORDS; k++) x[i][k] = as_uint(as_float(x[i][k]) + as_float(more[k]));
        }
    }
    UNROLL for (uint i = 0; i < CHUNKS; i++) {
        if (place_of(&a, 0, i) >= a.inner) continue;
        values_of(v, x, x2, i, &a);
        UNROLL for (uint k = 0; k < LANES; k++) part[k % 4] += v[k];
    }
    const float sum = fold_lines(total(part), false, lane, lanes, room, ends), center = a.t5 ? 0 : sum * a.share;
    /* The mean of the distances from the mean is what the first sum lost. */
    UNROLL for (uint k = 0; k < 4; k++) part[k] = 0;
    UNROLL for (uint i = 0; i < CHUNKS; i++) {
        if (place_of(&a, lane, i) >= a.inner) continue;
        values_of(v, x, x2, i, &a);
        UNROLL for (uint k = 0; k < LANES; k++) {
            const float d = v[k] - center;
            part[k % 4] += d;
            squares[k % 4] += d * d;
        }
    }
    float square = total(squares), lost = total(part);
    fold_both(&square, &lost, lane, lanes, room + THREADS, ends + THREADS / 4);
    const float rest = a.t5 ? 0 : lost * a.share, middle = center + rest;
    square = square * a.share - rest * rest;
    const float inverse = inverse_root((square > 0 ? square : square == square ? 0 : square) + a.epsilon);
    if (!exists) return;
    if (a.saved && lane == 0) {
        if (!a.t5) put1(ADDRESS(mean), row, middle);
        put1(ADDRESS(rstd), row, inverse);
    }
    const uint channel = channel_of(&a, (uint)row);
    UNROLL for (uint i = 0; i < CHUNKS; i++) {
        const uint at = place_of(&a, lane, i);
        if (at >= a.inner) continue;
        uint weights[WORDS], biases[WORDS];
        float w[LANES], b[LANES];
        load_weights(weights, ADDRESS(weight), channel, at, &a, a.weights, ONES, aligned);
        load_weights(biases, ADDRESS(bias), channel, at, &a, a.bias, 0, aligned);
        values_of(v, x, x2, i, &a);
        values_of_words(w, weights);
        values_of_words(b, biases);
        UNROLL for (uint k = 0; k < LANES; k++) v[k] = ((v[k] - center) - rest) * inverse * w[k] + b[k];
        put_lanes(ADDRESS(y) + begin + at * (uint)sizeof(element), v, 1);
    }
}

#endif
