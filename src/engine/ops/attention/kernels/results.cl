/* results.cl: results of products times their factors, and the largest magnitude of each. */
#include "engine/ops/attention/kernels/rows.h"

__kernel WORKGROUP(THREADS) void attention_result(INPUT(from), OUTPUT(to), INPUT(factors),
                                                  OUTPUT(largest), struct rmcp_att_result r)
{
    __local float room[THREADS];
    __global const float *const f = CONST_FLOATS(factors);
    const float factor = f[r.left] * f[r.right], last = f[r.to];
    const ulong first = (ulong)GROUP_ID_X * RMCP_ATT_RESULTS + LOCAL_ID;
    float top = 0;
    for (uint i = 0; i < RMCP_ATT_RESULTS; i += THREADS) {
        if (first + i >= (ulong)r.count) break;
        const float v = CONST_FLOATS(from)[first + i] * factor;
        top = larger(top, magnitude(v));
        from_float((__global element *)ADDRESS(to) + first + i, v * last);
    }
    top = whole(top, true, room);
    if (LOCAL_ID == 0) FLOATS(largest)[GROUP_ID_X] = top;
}

/* The largest of `count` numbers that are not negative: place `at` of `to`. */
__kernel WORKGROUP(THREADS) void attention_largest(INPUT(from), OUTPUT(to), uint count, uint at)
{
    __local float room[THREADS];
    float top = 0;
    for (uint i = LOCAL_ID; i < count; i += THREADS) top = larger(top, CONST_FLOATS(from)[i]);
    top = whole(top, true, room);
    if (LOCAL_ID == 0) FLOATS(to)[at] = top;
}
