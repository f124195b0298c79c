/* depthwise_finish.cl: adds up the parts of weight gradients, in a fixed order. */
#include "engine/kernels/target.h"
#include "engine/kernels/common.h"
#include "engine/ops/conv/kernels/depthwise_args.h"

#define THREADS 256
#define OUTPUTS 8 /* of a workgroup: a sector of memory */

__kernel WORKGROUP(THREADS) void depthwise_finish(INPUT(parts), OUTPUT(out),
                                                  struct rmcp_depthwise_finish f)
{
    __local float part[THREADS];
    const uint thread = LOCAL_ID, index = GROUP_ID_X * OUTPUTS + thread % OUTPUTS;
    __global const float *const from =
        (__global const float *)ADDRESS(parts) + smaller(index, f.count - 1);
    float sum = 0;
    for (uint i = thread / OUTPUTS; i < f.parts; i += THREADS / OUTPUTS)
        sum += from[(ulong)i * f.count];
    part[thread] = sum;
    BARRIER();
    for (uint half_way = THREADS / 2; half_way >= OUTPUTS; half_way /= 2) {
        if (thread < half_way) part[thread] += part[thread + half_way];
        BARRIER();
    }
    if (thread < OUTPUTS && index < f.count) store(ADDRESS(out), index, part[thread]);
}
