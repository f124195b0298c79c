/* mask.cl: dropout: a number of a counter-based generator for each element, the same forward and
 * backward; and the state that the numbers are drawn from. */
#include "engine/ops/rnn/kernels/cell.h"

#include "engine/kernels/philox.h"

__kernel WORKGROUP(256) void rnn_mask(INPUT(from), INPUT(state), OUTPUT(to), struct rmcp_rnn_mask m)
{
    const uint i = GROUP_ID_X * 256 + LOCAL_ID;
    if (i >= m.count) return;
    __global const uint *word = (__global const uint *)ADDRESS(state);
    const uint words[4] = { word[0], word[1], word[2], word[3] };
    const bool keep = rmcp_philox_at(words, (ulong)m.first + i) >= m.threshold;
    FLOATS(to)[i] = CONST_FLOATS(from)[i] * (keep ? m.scale : 0);
}

/* Keep the state for the backward passes, and count. */
__kernel WORKGROUP(32) void rnn_count(OUTPUT(state), OUTPUT(kept))
{
    if (LOCAL_ID > 0 || GROUP_ID_X > 0) return;
    __global uint *word = (__global uint *)ADDRESS(state);
    __global uint *copy = (__global uint *)ADDRESS(kept);
    const uint low = word[2];
    copy[0] = word[0];
    copy[1] = word[1];
    copy[2] = low;
    copy[3] = word[3];
    word[2] = low + 1;
    if (low == 0xffffffffu) word[3] += 1;
}
