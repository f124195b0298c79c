/* reduce.cl: adds up the parts that a split reduction left in the workspace, in a fixed order. */
#include "kernels/target.h"
#include "kernels/common.h"
#include "conv/kernels/args.h"

#define THREADS 256

__kernel WORKGROUP(THREADS) void reduce(INPUT(parts), OUTPUT(out), INPUT(bias),
                                        struct rmcp_reduce r)
{
    const uint index = GROUP_ID_X * THREADS + LOCAL_ID;
    if (index >= r.count) return;
    __global const float *part = (__global const float *)ADDRESS(parts) + index;
    float sum = 0;
    for (uint i = 0; i < r.parts; i++, part += r.count) sum += *part;
    if (r.epilogue.bias) {
        const uint row = divide(index, r.inner);
        const uint channel = row - divide(row, r.channels) * r.channels.divisor;
        sum += load(ADDRESS(bias), channel);
    }
    store(ADDRESS(out), index, activate(&r.epilogue, sum));
}
