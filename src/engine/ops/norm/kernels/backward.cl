/* backward.cl: gradients of rows; a row of no more than 4096 elements is read once. */
#include "engine/ops/norm/kernels/rows.h"

/* x - mean into v, dy * weight into g. */
INLINE void fetch_both(const struct rmcp_ln_args *a, const struct post *p, __global const char *x,
                       __global const char *dy, __global const char *weight, float mean, uint start,
                       uint n, const uint width, float *v, float *g)
{
    fetch(a, p, x, start, n, width, v);
    fetch(a, p, dy, start, n, width, g);
    UNROLL
    for (uint s = 0; s < BLOCK / width; s++) {
        float w[4] = { 1, 1, 1, 1 };
        if (a->weights) weights_of(a, p, weight, near(a, p, start, s, width), width, w);
        for (uint j = 0; j < width; j++) {
            v[width * s + j] -= mean;
            g[width * s + j] *= w[j];
        }
    }
}

INLINE void all(const struct rmcp_ln_args *a, const struct post *p, __global const char *x,
                __global const char *dy, __global const char *weight, __global const char *means,
                __global const char *rstds, __global char *dx, const uint width, __local float *room)
{
    const uint step = BLOCK << a->lane_bits;
    const float mean = a->t5 ? 0 : get1(means, p->row), rstd = get1(rstds, p->row);
    float sum[4] = { 0, 0, 0, 0 }, product[4] = { 0, 0, 0, 0 }, v[BLOCK], g[BLOCK];
    struct sums mine = { 0, 0 };
    for (uint start = 0; start < a->inner; start += step) {
        const uint n = count_of(a, p, start, width);
        fetch_both(a, p, x, dy, weight, mean, start, n, width, v, g);
        sum[0] = sum[1] = sum[2] = sum[3] = 0;
        product[0] = product[1] = product[2] = product[3] = 0;
        UNROLL
        for (uint j = 0; j < BLOCK; j++) { /* what does not exist is 0 in g */
            sum[j % 4] += g[j];
            product[j % 4] += g[j] * v[j];
        }
        mine.sum += (sum[0] + sum[1]) + (sum[2] + sum[3]);
        mine.product += (product[0] + product[1]) + (product[2] + product[3]);
    }
    const struct sums s = add_all(mine, p->thread, p->lane, p->lanes, 1, room, room + THREADS);
    const float even = a->t5 ? 0 : s.sum * a->share, slant = rstd * rstd * s.product * a->share;
    const bool once = a->inner <= step; /* it is still here */
    for (uint start = 0; start < a->inner; start += step) {
        const uint n = count_of(a, p, start, width);
        if (!once) fetch_both(a, p, x, dy, weight, mean, start, n, width, v, g);
        UNROLL
        for (uint j = 0; j < BLOCK; j++) v[j] = (g[j] - even - v[j] * slant) * rstd;
        emplace(p, dx, start, n, width, v);
    }
}

__kernel WORKGROUP(THREADS) void norm_backward(INPUT(x), INPUT(dy), INPUT(weight), INPUT(mean),
                                               INPUT(rstd), OUTPUT(dx), struct rmcp_ln_args a)
{
    __local float room[2 * THREADS];
    const struct post p = post_of(&a);
    const bool fours = a.fours && is_aligned(ADDRESS(x)) && is_aligned(ADDRESS(dy)) &&
                       is_aligned(ADDRESS(dx)) && (a.weights != 1 || is_aligned(ADDRESS(weight)));
    if (fours)
        all(&a, &p, ADDRESS(x), ADDRESS(dy), ADDRESS(weight), ADDRESS(mean), ADDRESS(rstd),
            ADDRESS(dx), 4, room);
    else
        all(&a, &p, ADDRESS(x), ADDRESS(dy), ADDRESS(weight), ADDRESS(mean), ADDRESS(rstd),
            ADDRESS(dx), 1, room);
}
