/* even.cl: the gradient of the mean of whole images that lie one behind the other: every element of an image gets the
 * same. */
#include "engine/kernels/lanes.h"

#include "engine/ops/pool/kernels/args.h"

#define THREADS 256

__kernel WORKGROUP(THREADS) void pool_even(INPUT(dy), OUTPUT(dx), struct rmcp_pool_even p)
{
    const bool wide = p.wide && (uint)(ulong)ADDRESS(dx) % 16 == 0;
    UNROLL for (uint i = 0; i < RMCP_POOL_EVEN; i++) {
        const uint at = ((GROUP_ID_X * RMCP_POOL_EVEN + i) * THREADS + LOCAL_ID) * LANES;
        if (at >= p.count) continue;
        if (wide && at + LANES <= p.count) {
            float v[LANES];
            const float one = load(ADDRESS(dy), divide(at, p.length)) * p.share;
            UNROLL for (uint k = 0; k < LANES; k++) v[k] = one;
            if (p.beta != 0) {
                UNROLL for (uint k = 0; k < LANES; k++) v[k] += p.beta * load(ADDRESS(dx), at + k);
            }
            put_lanes(ADDRESS(dx) + at * (uint)sizeof(element), v, 1);
            continue;
        }
        for (uint k = at; k < smaller(at + LANES, p.count); k++) {
            float v = load(ADDRESS(dy), divide(k, p.length)) * p.share;
            if (p.beta != 0) v += p.beta * load(ADDRESS(dx), k);
            store(ADDRESS(dx), k, v);
        }
    }
}
