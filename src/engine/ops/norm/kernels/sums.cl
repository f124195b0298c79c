/* sums.cl: gradients of weights and biases: sums over rows, or over samples and space, in parts; and the
 * sums of the parts. */
#include "engine/kernels/target.h"

#include "engine/kernels/moments.h"
#include "engine/ops/norm/kernels/args.h"

#define WIDE 32
#define DEEP (THREADS / WIDE)

/* Weight and bias side by side: parts are [split][2][inner]. */
INLINE void put_parts(__global float *parts, const struct rmcp_ln_sums *s, uint split, uint column,
                      float product, float sum)
{
    __global float *const to = parts + (ulong)split * 2 * s->inner + column;
    to[0] = product;
    to[s->inner] = sum;
}

INLINE void columns(const struct rmcp_ln_sums *s, __global const char *x, __global const char *dy,
                    __global const char *means, __global const char *rstds, __global float *parts,
                    const uint width, const bool aligned, __local float *room)
{
    const uint wide = LOCAL_ID % WIDE, deep = LOCAL_ID / WIDE, split = s->first + GROUP_ID_Y;
    const uint column = (GROUP_ID_X * WIDE + wide) * width;
    const ulong begin = (ulong)split * (ulong)s->share, behind = begin + (ulong)s->share;
    const ulong end = behind < (ulong)s->rows ? behind : (ulong)s->rows;
    const bool exists = column < s->inner;
    float product[4] = { 0, 0, 0, 0 }, sum[4] = { 0, 0, 0, 0 };
    float block[4] = { 0, 0, 0, 0 }, block_sum[4] = { 0, 0, 0, 0 };
    uint count = 0;
    for (ulong row = begin + deep; exists && row < end; row += DEEP) {
        const float mean = s->t5 ? 0 : get1(means, row), rstd = get1(rstds, row);
        float v[4], g[4];
        if (width == 4 && aligned) {
            get4(x, row * s->inner + column, v);
            get4(dy, row * s->inner + column, g);
        } else {
            for (uint j = 0; j < width; j++) {
                v[j] = get1(x, row * s->inner + column + j);
                g[j] = get1(dy, row * s->inner + column + j);
            }
        }
        for (uint j = 0; j < width; j++) {
            block[j] += g[j] * ((v[j] - mean) * rstd);
            block_sum[j] += g[j];
        }
        if (++count % 16 == 0)
            for (uint j = 0; j < width; j++) {
                product[j] += block[j];
                sum[j] += block_sum[j];
                block[j] = block_sum[j] = 0;
            }
    }
    for (uint j = 0; j < width; j++) {
        room[(j * 2) * THREADS + LOCAL_ID] = product[j] + block[j];
        room[(j * 2 + 1) * THREADS + LOCAL_ID] = sum[j] + block_sum[j];
    }
    BARRIER();
    if (deep > 0 || !exists) return;
    for (uint j = 0; j < width; j++) {
        float all = 0, all_sum = 0;
        for (uint d = 0; d < DEEP; d++) {
            all += room[(j * 2) * THREADS + d * WIDE + wide];
            all_sum += room[(j * 2 + 1) * THREADS + d * WIDE + wide];
        }
        put_parts(parts, s, split, column + j, all, all_sum);
    }
}

__kernel WORKGROUP(THREADS) void norm_columns(INPUT(x), INPUT(dy), INPUT(mean), INPUT(rstd),
                                              OUTPUT(parts), struct rmcp_ln_sums s)
{
    __local float room[8 * THREADS];
    __global float *const to = (__global float *)ADDRESS(parts);
    const bool aligned = is_aligned(ADDRESS(x)) && is_aligned(ADDRESS(dy));
    if (s.fours)
        columns(&s, ADDRESS(x), ADDRESS(dy), ADDRESS(mean), ADDRESS(rstd), to, 4, aligned, room);
    else
        columns(&s, ADDRESS(x), ADDRESS(dy), ADDRESS(mean), ADDRESS(rstd), to, 1, false, room);
}

/* One channel of the samples of a split. */
__kernel WORKGROUP(THREADS) void norm_channels(INPUT(x), INPUT(dy), INPUT(mean), INPUT(rstd),
                                               OUTPUT(parts), struct rmcp_ln_sums s)
{
    __local float room[2 * THREADS];
    const uint channel = GROUP_ID_X, split = s.first + GROUP_ID_Y, space = s.space.divisor;
    const uint begin = split * (uint)s.share, behind = begin + (uint)s.share;
    const uint samples = smaller(behind, (uint)s.rows) - begin;
    struct sums mine = { 0, 0 };
    float block = 0, block_sum = 0;
    uint count = 0;
    for (uint i = LOCAL_ID; i < samples * space; i += THREADS) {
        const uint sample = divide(i, s.space), n = begin + sample;
        const ulong at = ((ulong)n * s.inner + channel) * space + (i - sample * space);
        const ulong row = (ulong)n * s.groups + channel / s.each;
        const float g = get1(ADDRESS(dy), at);
        block += g * ((get1(ADDRESS(x), at) - get1(ADDRESS(mean), row)) * get1(ADDRESS(rstd), row));
        block_sum += g;
        if (++count % 16 == 0) {
            mine.product += block;
            mine.sum += block_sum;
            block = block_sum = 0;
        }
    }
    mine.product += block;
    mine.sum += block_sum;
    const struct sums all = add_all(mine, LOCAL_ID, LOCAL_ID, THREADS, 1, room, room + THREADS);
    if (LOCAL_ID == 0)
        put_parts((__global float *)ADDRESS(parts), &s, split, channel, all.product, all.sum);
}

/* RMCP_LN_FINISH columns a workgroup, of which several work-items have some parts each. */
__kernel WORKGROUP(THREADS) void norm_finish(INPUT(parts), OUTPUT(dweight), OUTPUT(dbias), struct rmcp_ln_sums s)
{
    __local float room[2 * THREADS];
    const uint mine = LOCAL_ID % RMCP_LN_FINISH, deep = LOCAL_ID / RMCP_LN_FINISH, high = THREADS / RMCP_LN_FINISH;
    const uint column = GROUP_ID_X * RMCP_LN_FINISH + mine;
    __global const float *from = (__global const float *)ADDRESS(parts) + column;
    float product = 0, sum = 0, block = 0, block_sum = 0;
    uint count = 0;
    for (uint i = deep; i < s.splits && column < s.inner; i += high) {
        block += from[(ulong)i * 2 * s.inner];
        block_sum += from[(ulong)i * 2 * s.inner + s.inner];
        if (++count % 16 == 0) {
            product += block;
            sum += block_sum;
            block = block_sum = 0;
        }
    }
    room[LOCAL_ID] = product + block;
    room[THREADS + LOCAL_ID] = sum + block_sum;
    BARRIER();
    if (deep > 0 || column >= s.inner) return;
    product = sum = 0;
    for (uint i = 0; i < high; i++) {
        product += room[i * RMCP_LN_FINISH + mine];
        sum += room[THREADS + i * RMCP_LN_FINISH + mine];
    }
    put1(ADDRESS(dweight), column, product);
    if (!s.t5) put1(ADDRESS(dbias), column, sum);
}
