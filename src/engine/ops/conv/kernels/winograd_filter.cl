/* winograd_filter.cl: filters g of 3 x 3 become G g G' of 4 x 4, in the order in which winograd.cl reads them.
 *
 * -D: TYPE */
#include "engine/kernels/target.h"
#include "engine/kernels/common.h"
#include "engine/ops/conv/kernels/winograd.h"

#define THREADS 256
#define ROWS RMCP_WINOGRAD_ROWS
#define POSITIONS RMCP_WINOGRAD_POSITIONS
#define CHUNK RMCP_WINOGRAD_CHUNK

/* Which row of its block a slot holds: those of one chunk are rows that follow each other, and each
 * work-item has two of them. Slots 4 i … 4 i + 3 and 32 + 4 i … belong to one work-item. */
INLINE uint row_of_slot(uint slot)
{
    const uint place = slot % 4 + slot / 32 * 4;
    return place / 2 * CHUNK + slot / 4 % 8 * 2 + place % 2;
}

INLINE void transform_filter_line(float t[4], float a, float b, float c)
{
    t[0] = a;
    t[1] = 0.5f * (a + b + c);
    t[2] = 0.5f * (a - b + c);
    t[3] = c;
}

/* One filter a work-item, zero where there is none: beyond the last row or channel. */
__kernel WORKGROUP(THREADS) void winograd_filter(INPUT(w), OUTPUT(out), struct rmcp_winograd_filter f)
{
    uint rest = GROUP_ID_X * THREADS + LOCAL_ID;
    if (rest >= f.count) return;
    const uint slot = rest % ROWS;
    rest /= ROWS;
    const uint matrix = rest; /* channel of a group, block of rows */
    uint next = divide(rest, f.blocks);
    const uint row = (rest - next * f.blocks.divisor) * ROWS + row_of_slot(slot);
    const uint group = divide(next, f.channels);
    const uint channel = next - group * f.channels.divisor;

    const bool exists = row < f.rows && channel < f.last_channel;
    const uint at = exists ? f.first + group * f.group + row * f.row + channel * f.channel : 0;
    float t[3][4], u[4][4];
    UNROLL
    for (uint i = 0; i < 3; i++) {
        const uint line = exists ? at + i * f.y : 0, x = exists ? f.x : 0;
        transform_filter_line(t[i], load(ADDRESS(w), line), load(ADDRESS(w), line + x),
                              load(ADDRESS(w), line + 2 * x));
    }
    __global float *const target =
        (__global float *)ADDRESS(out) + (ulong)matrix * (POSITIONS * ROWS) + slot;
    UNROLL
    for (uint j = 0; j < 4; j++) {
        transform_filter_line(u[j], t[0][j], t[1][j], t[2][j]);
        UNROLL
        for (uint i = 0; i < 4; i++) target[(i * 4 + j) * ROWS] = exists ? u[j][i] : 0;
    }
}
