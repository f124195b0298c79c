/* depthwise_spread.cl: backward data at stride 2, with square filters of known size.
 *
 * With u = (input + padding), tap f joins it to the output (u - f) / 2: even u meet the even taps, odd
 * u the odd ones. So a work-item takes a pair of u along w, and PAIRS pairs along h: all of them read
 * the same few outputs, and each input is written once.
 *
 * -D: TYPE, FILTER. No dilation along h and w; along d anything goes but a stride. */
#include "engine/ops/conv/kernels/depthwise.h"

#define PAIRS 4
#define REACH ((FILTER + 1) / 2) /* outputs that a pair meets, in one direction */
#define INPUT_ROWS (PAIRS + REACH - 1)

/* Add one plane of the filter over one plane of dy. */
INLINE void add_plane(float sum[PAIRS][2][2], const struct rmcp_depthwise *p,
                      const float filter[FILTER][FILTER], __global const char *data,
                      uint plane, int y, const struct place column[REACH])
{
    float value[INPUT_ROWS][REACH];
    UNROLL
    for (uint i = 0; i < INPUT_ROWS; i++) {
        const struct place row = place_of(&p->window[1], y + (int)i);
        UNROLL
        for (uint j = 0; j < REACH; j++)
            value[i][j] = load(data, plane + row.at + column[j].at);
    }
    IN_ORDER();
    UNROLL
    for (uint i = 0; i < INPUT_ROWS; i++) {
        const struct place row = place_of(&p->window[1], y + (int)i);
        UNROLL
        for (uint j = 0; j < REACH; j++)
            value[i][j] = (row.inside & column[j].inside) ? value[i][j] : 0;
    }
    UNROLL
    for (uint i = 0; i < PAIRS; i++)
        UNROLL
        for (uint r = 0; r < FILTER; r++)
            UNROLL
            for (uint s = 0; s < FILTER; s++)
                sum[i][r % 2][s % 2] +=
                    filter[r][s] * value[i + REACH - 1 - r / 2][REACH - 1 - s / 2];
}

__kernel WORKGROUP(THREADS) void depthwise_spread(INPUT(w), INPUT(data), OUTPUT(out), INPUT(bias),
                                                  struct rmcp_depthwise p)
{
    __local float filters[MOST_LANES * FILTER * FILTER];
    stage(&p, ADDRESS(w), filters);
    struct spot spot;
    if (!find_spot(&p, &spot)) return;

    const int x = (int)spot.column + p.window[2].first;
    const int y = (int)(spot.block * PAIRS) + p.window[1].first;
    const int z = (int)spot.depth * p.window[0].step + p.window[0].first;
    struct place column[REACH];
    UNROLL
    for (uint j = 0; j < REACH; j++) column[j] = place_of(&p.window[2], x + (int)j);

    float sum[PAIRS][2][2] = { { { 0 } } };
    for (uint i = 0; i < p.sums; i++)
        for (uint t = 0; t < p.window[0].taps.divisor; t++) {
            const struct place depth = place_of(&p.window[0], z + (int)t * p.window[0].tap_step);
            if (!depth.inside) continue;
            float filter[FILTER][FILTER];
            load_filter(filter, &p, ADDRESS(w), filters, spot.channel * p.sums + i, t);
            int top = y;
            FORGET(top);
            add_plane(sum, &p, filter, ADDRESS(data), gathered(&p, &spot, i) + depth.at,
                      top, column);
        }

    /* Outputs that do not exist are stored where their neighbour is, with its value: winograd.cl says
     * why. One of two neighbours exists. */
    const uint first = linear(&p, &spot), column_at = spot.column * 2 - p.odd[1]; /* may wrap */
    const bool left = column_at < p.outputs[1], right = column_at + 1 < p.outputs[1];
    const uint top = spot.block * PAIRS * 2 - p.odd[0];
    uint line = top < p.outputs[0] ? top : top + 1;
    float now[2] = { 0, 0 };
    UNROLL
    for (uint j = 0; j < 2; j++) now[j] = top < p.outputs[0] ? sum[0][0][j] : sum[0][1][j];
    UNROLL
    for (uint i = 0; i < PAIRS * 2; i++) {
        const bool exists = top + i < p.outputs[0];
        line = exists ? top + i : line;
        UNROLL
        for (uint j = 0; j < 2; j++) now[j] = exists ? sum[i / 2][i % 2][j] : now[j];
        const uint at = first + line * p.window[1].position;
        store(ADDRESS(out), at + (left ? column_at : column_at + 1) * p.window[2].position,
              left ? now[0] : now[1]);
        store(ADDRESS(out), at + (right ? column_at + 1 : column_at) * p.window[2].position,
              right ? now[1] : now[0]);
    }
}
