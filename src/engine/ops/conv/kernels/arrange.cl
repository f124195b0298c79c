/* arrange.cl: weights in the order in which a strided data gradient reads them (struct rmcp_arrange): rows side by
 * side, and -0 where an input of a cell and a tap do not meet; a weight of -0 becomes 0.
 *
 * A workgroup brings some channels of one filter, neighbours in memory, into local memory, and writes them
 * tap by tap. */
#include "engine/kernels/target.h"
#include "engine/kernels/common.h"
#include "engine/ops/conv/kernels/args.h"

#define THREADS 256
#define MOST 2048 /* weights of a chunk */

/* The filter's tap that meets input `inside` of a cell at tap `tap` of the window; false when none does. */
INLINE bool tap_of(const struct rmcp_arrange *a, uint i, uint inside, uint tap, uint *f)
{
    const int distance = (int)(inside + tap * a->stride[i].divisor) + a->base[i];
    if (distance < 0) return false;
    *f = divide((uint)distance, a->dilation[i]);
    return *f * a->dilation[i].divisor == (uint)distance && *f < a->filter[i];
}

/* The channel of a row and the weight of it that a tap of the window takes; false when it takes none. */
INLINE bool find_weight(const struct rmcp_arrange *a, uint row, uint tap, uint *channel, uint *at)
{
    uint scale = 1;
    bool meets = true;
    *at = 0;
    for (uint d = 3; d-- > 0;) {
        const uint rest = divide(row, a->stride[d]), left = divide(tap, a->taps[d]);
        uint f = 0;
        meets &= tap_of(a, d, row - rest * a->stride[d].divisor, tap - left * a->taps[d].divisor, &f);
        *at += f * scale;
        scale *= a->filter[d];
        row = rest, tap = left;
    }
    *channel = row;
    return meets;
}

__kernel WORKGROUP(THREADS) void arrange(INPUT(weights), OUTPUT(out), struct rmcp_arrange a)
{
    __local float chunk[MOST];
    const uint thread = LOCAL_ID, index = GROUP_ID_X;
    const uint filter = divide(index, a.chunks), first = (index - filter * a.chunks.divisor) * a.chunk;
    const uint channels = smaller(a.chunk, a.channels - first);
    const uint size = a.filter[0] * a.filter[1] * a.filter[2];
    for (uint i = thread; i < channels * size; i += THREADS)
        chunk[i] = load(ADDRESS(weights), (filter * a.channels + first) * size + i);
    BARRIER();

    const uint phases = a.stride[0].divisor * a.stride[1].divisor * a.stride[2].divisor;
    const uint taps = a.taps[0].divisor * a.taps[1].divisor * a.taps[2].divisor;
    const uint first_target = filter * taps * a.rows.divisor + first * phases;
    for (uint i = thread; i < taps * a.chunk_rows.divisor; i += THREADS) {
        const uint tap = divide(i, a.chunk_rows), row = i - tap * a.chunk_rows.divisor;
        const uint target = first_target + tap * a.rows.divisor + row;
        uint channel = row, at = tap; /* as it is without strides */
        const bool meets = phases == 1 || find_weight(&a, row, tap, &channel, &at);
        if (channel >= channels) continue;
        const float weight = chunk[channel * size + at];
        store(ADDRESS(out), target, !meets ? -0.0f : weight == 0 ? 0.0f : weight);
    }
}
