/* sums.cl: parts of the sum of all soft margin losses. */
#include "engine/kernels/lanes.h"

#define TENSORS 2 /* x, t */
#include "engine/kernels/fold.h"
#include "engine/kernels/functions.h"
#include "engine/kernels/stream.h"
#include "engine/ops/softmargin/kernels/args.h"

__kernel WORKGROUP(THREADS) void softmargin_sums(TENSOR(x), TENSOR(t), RESULT(parts),
                                                 struct rmcp_stream s, struct rmcp_fold f,
                                                 struct rmcp_softmargin_math m)
{
    __local float room[THREADS];
    struct folder sum = { 0, 0, 0 };
    const uint end = smaller((GROUP_ID_X + 1) * f.share, s.count);
    for (uint chunk = GROUP_ID_X * f.share + LOCAL_ID; chunk < end; chunk += THREADS) {
        const struct spot p = find_spot(&s, chunk, ADDRESS(x), sizeof(element));
        struct flow x, t;
        take(&x, &p, 0, &s, ADDRESS(x), TYPE);
        take(&t, &p, 1, &s, ADDRESS(t), TYPE);
        float v[LANES], target[LANES], here = 0;
        values(v, &x, TYPE);
        values(target, &t, TYPE);
        UNROLL for (int k = 0; k < LANES; k++)
            if (k >= p.begin && k < p.end) here += softplus_of(-(v[k] * target[k]));
        fold_in(&sum, here);
    }
    const float all = fold_up(sum.total + sum.block, room, THREADS);
    if (LOCAL_ID == 0) ((__global float *)ADDRESS(parts))[f.part + GROUP_ID_X] = all;
}
