/* reduce.cl: adds up the parts that a split reduction left in the workspace, in a fixed order.
 *
 * Where outputs are few, 2^shift work-items share the parts of each: one would wait for its loads, and
 * most of the device for it. */
#include "engine/kernels/target.h"
#include "engine/kernels/common.h"
#include "engine/ops/conv/kernels/args.h"

#define THREADS 256

/* How many parts an output has: as many as the taps that meet it fill. */
INLINE uint parts_of(const struct rmcp_reduce *r, uint index)
{
    uint terms = r->terms;
    index = divide(index, r->last);
    for (uint i = 3; i-- > 0;) {
        const struct rmcp_phase_taps *const d = &r->dim[i];
        const uint rest = divide(index, d->size), at = index - rest * d->size.divisor;
        const uint phase = at - divide(at, d->stride) * d->stride.divisor;
        terms *= phase == d->phase ? d->taps : d->other_taps;
        index = rest;
    }
    return divide(terms + r->share.divisor - 1, r->share);
}

__kernel WORKGROUP(THREADS) void reduce(INPUT(parts), OUTPUT(out), INPUT(bias),
                                        struct rmcp_reduce r)
{
    __local float sums[THREADS];
    const uint thread = LOCAL_ID, outputs = THREADS >> r.shift, sharers = 1u << r.shift;
    const uint index = GROUP_ID_X * outputs + thread % outputs;
    const bool exists = index < r.count;
    __global const float *const part = (__global const float *)ADDRESS(parts) + (exists ? index : 0);
    const uint parts_here = r.sparse && exists ? parts_of(&r, index) : r.parts;
    float sum = 0;
    #pragma unroll 4
    for (uint i = thread / outputs; i < parts_here; i += sharers) sum += part[(ulong)i * r.count];

    if (sharers > 1) {
        sums[thread] = sum;
        BARRIER();
        for (uint half_way = THREADS / 2; half_way >= outputs; half_way /= 2) {
            if (thread < half_way) sums[thread] += sums[thread + half_way];
            BARRIER();
        }
        sum = sums[thread];
    }
    if (thread >= outputs || !exists) return;
    if (r.epilogue.bias) {
        const uint row = divide(index, r.inner);
        const uint channel = row - divide(row, r.channels) * r.channels.divisor;
        sum += load(ADDRESS(bias), channel);
    }
    store(ADDRESS(out), index, activate(&r.epilogue, sum));
}
