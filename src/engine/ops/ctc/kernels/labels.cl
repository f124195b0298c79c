/* labels.cl: the gradient of the blank and of the classes of the label: what the shares of their states
 * take from it. One workgroup for each step of each sequence. */
#include "engine/ops/ctc/kernels/number.h"

#define THREADS 64

INLINE float gradient(const struct rmcp_ctc_args *a, float x, float most, float inverse, float share)
{
    const struct number p = probability(a, x, most, inverse);
    if (a->softmax) return plain(p) - share;
    if (share == 0) return 0;
    const struct number ratio = number_of(share, 0);
    const struct number part = { ratio.m / p.m, ratio.e - p.e };
    return -plain(number_of(part.m, part.e));
}

__kernel WORKGROUP(THREADS) void ctc_labels(INPUT(x), INPUT(targets), INPUT(lengths), INPUT(sums),
                                            INPUT(states), INPUT(links), OUTPUT(dx),
                                            struct rmcp_ctc_args a)
{
    __local float room[THREADS];
    const uint row = a.first + GROUP_ID_X, t = row / a.batch, n = row - t * a.batch;
    __global const int *const target = (__global const int *)ADDRESS(targets);
    __global const int *const length = (__global const int *)ADDRESS(lengths);
    if (t >= steps_of(&a, length, n)) return;
    const uint labels = labels_of(&a, length, n);
    __global const float *const sum = (__global const float *)ADDRESS(sums) + 2 * (ulong)row;
    __global const uint2 *const share =
        (__global const uint2 *)ADDRESS(states) + state_at(&a, n, t, 0);
    __global const uint *const link = (__global const uint *)ADDRESS(links) + (ulong)n * a.labels;
    __global const char *const in = ADDRESS(x);
    const float most = sum[0], inverse = sum[1];

    float blank = 0;
    for (uint s = LOCAL_ID; s < 2 * labels + 1; s += THREADS)
        if (class_of(&a, target, n, s) == a.blank) blank += as_float(share[s].x);
    room[LOCAL_ID] = blank;
    BARRIER();
    for (uint half_way = THREADS / 2; half_way > 0; half_way /= 2) {
        if (LOCAL_ID < half_way) room[LOCAL_ID] += room[LOCAL_ID + half_way];
        BARRIER();
    }
    if (LOCAL_ID == 0)
        put_dx(&a, ADDRESS(dx), t, n, a.blank,
               gradient(&a, x_at(&a, in, t, n, a.blank), most, inverse, room[0]));

    for (uint i = LOCAL_ID; i < labels; i += THREADS) {
        if (!(link[i] & FIRST)) continue;
        float mine = 0;
        for (uint k = i + 1; k; k = link[k - 1] & ~FIRST) mine += as_float(share[2 * k - 1].x);
        const uint c = label_of(&a, target, n, i);
        put_dx(&a, ADDRESS(dx), t, n, c,
               gradient(&a, x_at(&a, in, t, n, c), most, inverse, mine));
    }
}
