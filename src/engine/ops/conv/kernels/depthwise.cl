/* depthwise.cl: forward, and backward data at stride 1, with square filters of known size.
 *
 * A work-item makes ROWS outputs of one column of one channel, so that it loads each row of the input
 * once. Its neighbours are neighbours in memory, along w in NCHW and along channels in NHWC; what
 * they have in common the cache serves.
 *
 * -D: TYPE, FILTER, STRIDE. No dilation along h and w; along d anything goes. */
#include "engine/ops/conv/kernels/depthwise.h"

#define ROWS 7 /* divides the heights of the usual networks: 112, 56, 28, 14, 7 */
#define INPUT_ROWS ((ROWS - 1) * STRIDE + FILTER)

/* Add one plane of the filter over one plane of the input. */
INLINE void add_plane(float sum[ROWS], const struct rmcp_depthwise *p,
                      const float filter[FILTER][FILTER], __global const char *data, uint plane,
                      int y, int x)
{
    struct row row[INPUT_ROWS];
    UNROLL
    for (uint i = 0; i < AHEAD; i++)
        row[i] = fetch_row(p, y + (int)i, x, data, plane);
    UNROLL
    for (uint i = 0; i < INPUT_ROWS; i++) {
        if (i + AHEAD < INPUT_ROWS)
            row[i + AHEAD] = fetch_row(p, y + (int)(i + AHEAD), x, data, plane);
        IN_ORDER();
        float value[FILTER];
        UNROLL
        for (uint s = 0; s < FILTER; s++) value[s] = value_of(p, &row[i], y + (int)i, x, s);
        UNROLL
        for (uint r = 0; r < FILTER; r++) {
            if (i < r || (i - r) % STRIDE || (i - r) / STRIDE >= ROWS) continue;
            UNROLL
            for (uint s = 0; s < FILTER; s++)
                sum[(i - r) / STRIDE] += filter[r][s] * value[s];
        }
        IN_ORDER();
    }
}

__kernel WORKGROUP(THREADS) void depthwise(INPUT(w), INPUT(data), OUTPUT(out), INPUT(bias),
                                           struct rmcp_depthwise p)
{
    __local float filters[MOST_LANES * FILTER * FILTER];
    stage(&p, ADDRESS(w), filters);
    struct spot spot;
    if (!find_spot(&p, &spot)) return;

    const int x = (int)(spot.column * STRIDE) + p.window[2].first;
    const int y = (int)(spot.block * ROWS * STRIDE) + p.window[1].first;
    const int z = (int)spot.depth * p.window[0].step + p.window[0].first;

    float sum[ROWS] = { 0 };
    for (uint i = 0; i < p.sums; i++)
        for (uint t = 0; t < p.window[0].taps.divisor; t++) {
            const struct place depth = place_of(&p.window[0], z + (int)t * p.window[0].tap_step);
            if (!depth.inside) continue;
            float filter[FILTER][FILTER];
            load_filter(filter, &p, ADDRESS(w), filters, spot.channel * p.sums + i, t);
            int top = y;
            FORGET(top);
            add_plane(sum, &p, filter, ADDRESS(data), gathered(&p, &spot, i) + depth.at, top, x);
        }

    const float shift = p.epilogue.bias ? load(ADDRESS(bias), spot.channel) : 0;
    UNROLL
    for (uint i = 0; i < ROWS; i++) sum[i] += shift;
    if (p.epilogue.kind)
        UNROLL
        for (uint i = 0; i < ROWS; i++) sum[i] = activate(&p.epilogue, sum[i]);
    const uint first = linear(&p, &spot) + spot.column * p.window[2].position;
    const uint rows = p.window[1].positions.divisor - spot.block * ROWS;
    UNROLL
    for (uint i = 0; i < ROWS && i < rows; i++) /* as store_columns of gemm_sums.h */
        store(ADDRESS(out), first + (spot.block * ROWS + i) * p.window[1].position, sum[i]);
}
