/* sums.h: parts of sums over pairs of elements, by a workgroup each. What is their own comes
 * before: NAME, MATH      the function's name, and the struct that it takes by value ONE_SUM 1:
 * there is one sum; 0: one for each GROUP_ID_Y add(m, sum, a, b) adds what a pair counts for */
#define TENSORS 2
#include "engine/kernels/fold.h"
#include "engine/kernels/stream.h"

#if ONE_SUM
#define BEGIN(name, number) ADDRESS(name)
#define PART(f) ((f).part + GROUP_ID_X)
#else
#define BEGIN(name, number) (ADDRESS(name) + (ulong)GROUP_ID_Y * f.step[number] * sizeof(element))
#define PART(f) ((ulong)GROUP_ID_Y * (f).parts + (f).part + GROUP_ID_X)
#endif

__kernel WORKGROUP(THREADS) void NAME(TENSOR(a), TENSOR(b), RESULT(parts), struct rmcp_stream s,
                                      struct rmcp_fold f, struct MATH m)
{
    __local float room[THREADS];
    struct folder sum = { 0, 0, 0 };
    __global const char *begin_a = BEGIN(a, 0), *begin_b = BEGIN(b, 1);
    const uint end = smaller((GROUP_ID_X + 1) * f.share, s.count);
    for (uint chunk = GROUP_ID_X * f.share + LOCAL_ID; chunk < end; chunk += THREADS) {
        const struct spot p = find_spot(&s, chunk, begin_a, sizeof(element));
        struct flow a_flow, b_flow;
        take(&a_flow, &p, 0, &s, begin_a, TYPE);
        take(&b_flow, &p, 1, &s, begin_b, TYPE);
        float a[LANES], b[LANES], here = 0;
        values(a, &a_flow, TYPE);
        values(b, &b_flow, TYPE);
        UNROLL for (int k = 0; k < LANES; k++) if (k >= p.begin && k < p.end)
            add(&m, &here, a[k], b[k]);
        fold_in(&sum, here);
    }
    const float all = fold_up(sum.total + sum.block, room, THREADS);
    if (LOCAL_ID == 0) ((__global float *)ADDRESS(parts))[PART(f)] = all;
}
