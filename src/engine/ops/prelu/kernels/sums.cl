/* sums.cl: parts of the gradients of PReLU's weights: sums of x dy where x is not positive. */
#include "engine/kernels/lanes.h"

#define TENSORS 2 /* x, dy */
#include "engine/kernels/fold.h"
#include "engine/kernels/stream.h"
#include "engine/ops/prelu/kernels/args.h"

__kernel WORKGROUP(THREADS) void prelu_sums(TENSOR(x), TENSOR(dy), RESULT(parts),
                                            struct rmcp_stream s, struct rmcp_fold f,
                                            struct rmcp_prelu_math m)
{
    __local float room[THREADS];
    struct folder sum = { 0, 0, 0 };
    __global const char *px = ADDRESS(x) + (ulong)GROUP_ID_Y * f.step[0] * sizeof(element);
    __global const char *pdy = ADDRESS(dy) + (ulong)GROUP_ID_Y * f.step[1] * sizeof(element);
    const uint end = smaller((GROUP_ID_X + 1) * f.share, s.count);
    for (uint chunk = GROUP_ID_X * f.share + LOCAL_ID; chunk < end; chunk += THREADS) {
        const struct spot p = find_spot(&s, chunk, px, sizeof(element));
        struct flow x, dy;
        take(&x, &p, 0, &s, px, TYPE);
        take(&dy, &p, 1, &s, pdy, TYPE);
        float v[LANES], d[LANES], here = 0;
        values(v, &x, TYPE);
        values(d, &dy, TYPE);
        UNROLL for (int k = 0; k < LANES; k++)
            if (k >= p.begin && k < p.end && !(v[k] > 0)) here += v[k] * d[k];
        fold_in(&sum, here);
    }
    const float all = fold_up(sum.total + sum.block, room, THREADS);
    if (LOCAL_ID == 0)
        ((__global float *)ADDRESS(parts))[(ulong)GROUP_ID_Y * f.parts + f.part + GROUP_ID_X] = all;
}
