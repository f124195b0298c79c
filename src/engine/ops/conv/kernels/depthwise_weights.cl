/* depthwise_weights.cl: weight gradients of square filters of known size.
 *
 * A work-item keeps the sums of all taps. It goes over the pixels in strips of ROWS along h, so that
 * it loads each row of the input once for all taps.
 *
 * -D: TYPE, FILTER, STRIDE. No dilation along h and w; each tap along d is a chunk of its own. */
#define TAPS (FILTER * FILTER)
#include "engine/ops/conv/kernels/depthwise_sums.h"

#define ROWS 7 /* divides the heights of the usual networks: 112, 56, 28, 14, 7 */
#define INPUT_ROWS ((ROWS - 1) * STRIDE + FILTER)

/* One strip of `rows` pixels; a constant. */
INLINE void add_strip(float sum[TAPS], const struct rmcp_depthwise *p, uint rows,
                      __global const char *errors, uint at, __global const char *data, uint plane,
                      int y, int x)
{
    float error[ROWS];
    UNROLL
    for (uint i = 0; i < rows; i++) error[i] = load(errors, at + i * p->window[1].position);
    const uint input_rows = (rows - 1) * STRIDE + FILTER;
    struct row row[INPUT_ROWS];
    UNROLL
    for (uint i = 0; i < AHEAD && i < input_rows; i++)
        row[i] = fetch_row(p, y + (int)i, x, data, plane);
    UNROLL
    for (uint i = 0; i < input_rows; i++) {
        if (i + AHEAD < input_rows)
            row[i + AHEAD] = fetch_row(p, y + (int)(i + AHEAD), x, data, plane);
        IN_ORDER();
        float value[FILTER];
        UNROLL
        for (uint s = 0; s < FILTER; s++) value[s] = value_of(p, &row[i], y + (int)i, x, s);
        UNROLL
        for (uint r = 0; r < FILTER; r++) {
            if (i < r || (i - r) % STRIDE || (i - r) / STRIDE >= rows) continue;
            UNROLL
            for (uint s = 0; s < FILTER; s++)
                sum[r * FILTER + s] += error[(i - r) / STRIDE] * value[s];
        }
        IN_ORDER();
    }
}

__kernel WORKGROUP(THREADS) void depthwise_weights(INPUT(errors), INPUT(data), OUTPUT(out),
                                                   INPUT(bias), struct rmcp_depthwise p,
                                                   struct rmcp_depthwise_sums o)
{
    __local float part[TAPS * THREADS / 2];
    const struct task task = task_of(&p, &o);
    float sum[TAPS] = { 0 };
    for (uint position = task.first; position < task.end; position += task.stride) {
        uint index = position;
        struct spot spot = spot_of_position(&p, &index);
        spot.channel = task.channel;
        spot.image = index;
        const int z = (int)spot.depth * p.window[0].step + p.window[0].first;
        const struct place depth =
            place_of(&p.window[0], z + (int)task.chunk * p.window[0].tap_step);
        if (!depth.inside) continue;

        const int x = (int)(spot.column * STRIDE) + p.window[2].first;
        const uint plane = gathered(&p, &spot, 0) + depth.at;
        uint row = spot.block * ROWS;
        const uint end = smaller(row + ROWS, p.window[1].positions.divisor);
        const uint first = linear(&p, &spot) + spot.column * p.window[2].position;
        if (end - row == ROWS) {
            add_strip(sum, &p, ROWS, ADDRESS(errors), first + row * p.window[1].position,
                      ADDRESS(data), plane, (int)(row * STRIDE) + p.window[1].first, x);
            continue;
        }
        /* Rows that do not exist would need a zero, and zero times infinity is not zero. */
        #pragma unroll 1
        for (; row < end; row++)
            add_strip(sum, &p, 1, ADDRESS(errors), first + row * p.window[1].position,
                      ADDRESS(data), plane, (int)(row * STRIDE) + p.window[1].first, x);
    }
    add_levels(sum, p.lanes.divisor, o.length, part);
    store_sums(sum, &p, &o, &task, ADDRESS(out), task.chunk * TAPS);
}
