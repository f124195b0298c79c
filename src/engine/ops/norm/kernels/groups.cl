/* groups.cl: group normalisation (BACKWARD: gradients), a workgroup a group, `lanes` work-items a channel, so that a
 * work-item has one weight and one bias. What fits into registers of the group is read once; of a larger one the sums
 * come first, and all but the last block, which is still there, is read again for the results, from the end to the
 * beginning. */
#include "engine/ops/norm/kernels/chunk.h"

#if defined(OTHER)
#define ROOM (THREADS / 32) /* for one sum of the workgroup */
#else
#define ROOM THREADS
#endif

/* Where a work-item is. Its chunk i is number lane + i * lanes of its channel. */
struct post {
    uint row, channel;    /* of the tensor; of the group    */
    uint lane, begin;     /* in the channel; its first byte */
    bool exists, aligned; /* the channel; the tensors       */
};

INLINE uint place_of(const struct rmcp_ln_groups *a, const struct post *p, uint i)
{
    return p->lane + i * a->lanes;
}

/* Chunks from number `first` on; what does not exist is 0. */
INLINE void load_block(uint raw[CHUNKS][WORDS], __global const char *row, const struct rmcp_ln_groups *a,
                       const struct post *p, uint first)
{
    UNROLL for (uint i = 0; i < CHUNKS; i++) {
        const uint at = place_of(a, p, first + i);
        UNROLL for (uint k = 0; k < WORDS; k++) raw[i][k] = 0;
        if (p->exists && at < a->chunks) load_chunk(raw[i], row + (p->begin + at * 16), 0, p->aligned);
    }
}

INLINE struct post post_of(const struct rmcp_ln_groups *a)
{
    struct post p;
    p.row = a->first + GROUP_ID_X;
    p.channel = LOCAL_ID / a->lanes;
    p.lane = LOCAL_ID & (a->lanes - 1);
    p.begin = p.channel * a->chunks * 16;
    p.exists = p.channel < a->each;
    return p;
}

/* The first channel of a row. */
INLINE uint channel_of(const struct rmcp_ln_groups *a, uint row)
{
    return (row - divide(row, a->groups) * a->groups.divisor) * a->each;
}

#if BACKWARD

__kernel WORKGROUP(THREADS) void norm_groups(INPUT(x), INPUT(dy), INPUT(weight), INPUT(mean), INPUT(rstd), OUTPUT(dx),
                                             OUTPUT(parts), struct rmcp_ln_groups a)
{
    __local float room[2 * ROOM];
    __local float4 ends[ROOM / 2];
    __local float2 channels[RMCP_LN_GROUP_EACH];
    struct post p = post_of(&a);
    p.aligned = is_even(ADDRESS(x)) && is_even(ADDRESS(dy)) && is_even(ADDRESS(dx));
    const ulong begin = (ulong)p.row * a.each * a.chunks * 16;
    __global const char *const x_row = ADDRESS(x) + begin, *const dy_row = ADDRESS(dy) + begin;
    const uint first_channel = channel_of(&a, p.row), last = (a.steps - 1) / CHUNKS;
    const uint before = a.steps - (last + 1) * CHUNKS;
    const float mean = get1(ADDRESS(mean), p.row), rstd = get1(ADDRESS(rstd), p.row);
    const float weight = a.weights && p.exists ? get1(ADDRESS(weight), first_channel + p.channel) : 1;
    uint x[CHUNKS][WORDS], dy[CHUNKS][WORDS];
    float v[LANES], g[LANES], sum = 0, product = 0;
    /* The first block is the one that is not full; what it lacks has numbers far beyond the end. */
    for (uint n = 0, step = before; n <= last; n++, step += CHUNKS) {
        float sums[4] = { 0, 0, 0, 0 }, products[4] = { 0, 0, 0, 0 };
        load_block(x, x_row, &a, &p, step);
        load_block(dy, dy_row, &a, &p, step);
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            if (step + i >= a.steps) continue;
            values_of_words(v, x[i]);
            values_of_words(g, dy[i]); /* 0 where there is nothing */
            UNROLL for (uint k = 0; k < LANES; k++) {
                sums[k % 4] += g[k];
                products[k % 4] += g[k] * (v[k] - mean);
            }
        }
        sum += total(sums);
        product += total(products);
    }
    fold_both(&sum, &product, p.lane, a.lanes, room, ends);
    if (p.exists && p.lane == 0) {
        channels[p.channel] = (float2)(weight * sum, weight * product);
        if (a.sums) {
            const uint all = a.each * a.groups.divisor, sample = divide(p.row, a.groups);
            __global float *const to =
                (__global float *)ADDRESS(parts) + ((ulong)sample * 2 * all + first_channel + p.channel);
            to[0] = product * rstd;
            to[all] = sum;
        }
    }
    BARRIER();
    float even = 0, slant = 0;
    for (uint c = 0; c < a.each; c++) even += channels[c].x, slant += channels[c].y;
    even *= a.share;
    slant = rstd * rstd * slant * a.share;
    for (uint n = last + 1; n-- > 0;) {
        const uint step = before + n * CHUNKS;
        if (n < last) {
            load_block(x, x_row, &a, &p, step);
            load_block(dy, dy_row, &a, &p, step);
        }
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            const uint at = place_of(&a, &p, step + i);
            if (at >= a.chunks || !p.exists) continue;
            forget_words(x[i]), forget_words(dy[i]);
            values_of_words(v, x[i]);
            values_of_words(g, dy[i]);
            UNROLL for (uint k = 0; k < LANES; k++) v[k] = (g[k] * weight - even - (v[k] - mean) * slant) * rstd;
            put_lanes(ADDRESS(dx) + begin + (p.begin + at * 16), v, 1);
        }
    }
}

#else

__kernel WORKGROUP(THREADS) void norm_groups(INPUT(x), INPUT(weight), INPUT(bias), OUTPUT(y), OUTPUT(mean),
                                             OUTPUT(rstd), struct rmcp_ln_groups a)
{
    __local float room[3 * ROOM];
    __local float4 ends[ROOM]; /* three quarters of it */
    struct post p = post_of(&a);
    p.aligned = is_even(ADDRESS(x)) && is_even(ADDRESS(y));
    const ulong begin = (ulong)p.row * a.each * a.chunks * 16;
    __global const char *const row = ADDRESS(x) + begin;
    const uint channel = channel_of(&a, p.row) + (p.exists ? p.channel : 0), last = (a.steps - 1) / CHUNKS;
    uint x[CHUNKS][WORDS];
    float v[LANES], count = 0, shift = 0, rest = 0, square = 0;
    /* Each work-item's values are taken relative to the mean of its first block. */
    for (uint n = 0; n <= last; n++) {
        float sums[4] = { 0, 0, 0, 0 }, squares[4] = { 0, 0, 0, 0 };
        load_block(x, row, &a, &p, n * CHUNKS);
        if (n == 0) {
            UNROLL for (uint i = 0; i < CHUNKS; i++) {
                values_of_words(v, x[i]); /* 0 where there is nothing */
                if (p.exists && place_of(&a, &p, i) < a.chunks) count += LANES;
                UNROLL for (uint k = 0; k < LANES; k++) sums[k % 4] += v[k];
            }
            shift = count > 0 ? total(sums) / count : 0;
            count = 0;
            UNROLL for (uint k = 0; k < 4; k++) sums[k] = 0;
        }
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            if (place_of(&a, &p, n * CHUNKS + i) >= a.chunks || !p.exists) continue;
            forget_words(x[i]);
            values_of_words(v, x[i]);
            UNROLL for (uint k = 0; k < LANES; k++) {
                const float d = v[k] - shift;
                sums[k % 4] += d;
                squares[k % 4] += d * d;
            }
            count += LANES;
        }
        rest += total(sums);
        square += total(squares);
    }
    const float sum = fold_lines(shift * count + rest, false, LOCAL_ID, THREADS, room, ends), center = sum * a.share;
    /* The mean of the distances from the mean is what the first sum lost. */
    const float off = shift - center;
    float lost = off * count + rest;
    square += off * (2 * rest + off * count);
    fold_both(&square, &lost, LOCAL_ID, THREADS, room + ROOM, ends + ROOM / 4);
    const float more = lost * a.share, middle = center + more;
    square = square * a.share - more * more;
    const float inverse = inverse_root((square > 0 ? square : square == square ? 0 : square) + a.epsilon);
    if (a.saved && LOCAL_ID == 0) {
        put1(ADDRESS(mean), p.row, middle);
        put1(ADDRESS(rstd), p.row, inverse);
    }
    const float w = a.weights ? get1(ADDRESS(weight), channel) : 1, b = a.bias ? get1(ADDRESS(bias), channel) : 0;
    for (uint n = last + 1; n-- > 0;) {
        if (n < last) load_block(x, row, &a, &p, n * CHUNKS);
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            const uint at = place_of(&a, &p, n * CHUNKS + i);
            if (at >= a.chunks || !p.exists) continue;
            forget_words(x[i]);
            values_of_words(v, x[i]);
            UNROLL for (uint k = 0; k < LANES; k++) v[k] = ((v[k] - center) - more) * inverse * w + b;
            put_lanes(ADDRESS(y) + begin + (p.begin + at * 16), v, 1);
        }
    }
}

#endif
