/* links.cl: makes chains of the indices that lead to one place: of each whether it is the first,
 * and which is the next. */
#include "engine/kernels/target.h"

#include "engine/kernels/common.h"
#include "engine/ops/getitem/kernels/args.h"

#define THREADS 256

__kernel WORKGROUP(THREADS) void links(INPUT(targets), OUTPUT(chains),
                                       struct rmcp_getitem_targets f)
{
    __local int some[THREADS];
    __global const int *all = (__global const int *)ADDRESS(targets);
    const uint thread = LOCAL_ID, j = GROUP_ID_X * THREADS + thread;
    const int mine = j < f.count ? all[j] : -1;
    bool first = mine >= 0;
    int next = -1;
    for (uint begin = 0; begin < f.count; begin += THREADS) {
        BARRIER();
        some[thread] = begin + thread < f.count ? all[begin + thread] : -1;
        BARRIER();
        for (uint i = 0; i < THREADS; i++) {
            const uint other = begin + i;
            if (some[i] != mine || mine < 0) continue;
            if (other < j) first = false;
            if (other > j && next < 0) next = (int)other;
        }
    }
    if (j >= f.count) return;
    __global int *out = (__global int *)ADDRESS(chains) + 2 * j;
    out[0] = first ? mine : -1;
    out[1] = next;
}
