/* add.cl: adds dy to dx along the chains: one work-item for each place, in the order of the
 * indices. */
#include "engine/kernels/target.h"

#include "engine/kernels/common.h"
#include "engine/ops/getitem/kernels/args.h"

#define THREADS 256

__kernel WORKGROUP(THREADS) void add(INPUT(dy), OUTPUT(dx), INPUT(chains),
                                     struct rmcp_getitem_add f)
{
    uint rest = GROUP_ID_X * THREADS + LOCAL_ID;
    if (rest >= f.elements) return;
    uint from = 0, to = 0, j = 0;
    UNROLL for (uint i = 0; i < 5; i++)
    {
        if (i >= f.n_loops) continue;
        const uint more = divide(rest, f.loop[i].size),
                   digit = rest - more * f.loop[i].size.divisor;
        from += digit * f.loop[i].dy;
        to += digit * f.loop[i].dx;
        j = i == f.indexed ? digit : j;
        rest = more;
    }
    __global const int *chain = (__global const int *)ADDRESS(chains);
    const int place = chain[2 * j];
    if (place < 0) return;
    float sum = 0;
    for (int at = (int)j; at >= 0; at = chain[2 * at + 1])
        sum += load(ADDRESS(dy), from + (uint)(at - (int)j) * f.next);
    to += (uint)place;
    store(ADDRESS(dx), to, load(ADDRESS(dx), to) + sum);
}
