/* narrow.cl: products of few rows, whose tiles would be mostly empty: depthwise convolution above
 * all. Bound by memory: one output a work-item, or a workgroup in weight gradients. */
#include "engine/kernels/target.h"
#include "engine/kernels/common.h"
#include "engine/ops/conv/kernels/args.h"

#define THREADS 256

/* Take this dimension's position out of an index: where its window begins in the gathered tensor
 * and its share of the output's offset. Returns the rest of the index. */
INLINE uint take_position(const struct rmcp_window *window, uint index, int *at, uint *linear)
{
    const uint rest = divide(index, window->positions);
    const uint position = index - rest * window->positions.divisor;
    *at = (int)position * window->step + window->first;
    *linear += position * window->position;
    return rest;
}

/* Forward, and one phase of backward data. */
__kernel WORKGROUP(THREADS) void narrow(INPUT(a), INPUT(b), OUTPUT(out), INPUT(bias),
                                         struct rmcp_gemm g, struct rmcp_narrow o)
{
    uint index = GROUP_ID_X * THREADS + LOCAL_ID;
    if (index >= o.count) return;
    index += o.first;

    uint channel = 0, linear = g.steps.linear_position;
    int d, h, w;
    if (g.steps.channels_last) {
        const uint rest = divide(divide(index, o.rows), o.groups);
        channel = index - rest * (o.rows.divisor * o.groups.divisor);
        index = rest;
    }
    index = take_position(&g.window[2], index, &w, &linear);
    index = take_position(&g.window[1], index, &h, &linear);
    index = take_position(&g.window[0], index, &d, &linear);
    if (!g.steps.channels_last) {
        const uint rest = divide(divide(index, o.rows), o.groups);
        channel = index - rest * (o.rows.divisor * o.groups.divisor);
        index = rest;
    }
    const uint group = divide(channel, o.rows), row = channel - group * o.rows.divisor;
    linear += index * g.steps.linear_image + group * g.out_group + row * g.out_row;

    __global const char *const weights = ADDRESS(a), *const data = ADDRESS(b);
    const uint a_first = group * g.a_group + row * g.a_row + g.steps.linear_tap;
    const uint b_first = group * g.b_group + index * g.steps.gather_image;
    float sum = 0;
    for (uint c = 0; c < g.steps.channels.divisor && g.reduction; c++)
        for (uint t = 0; t < g.window[0].taps.divisor; t++) {
            const int z = d + (int)t * g.window[0].tap_step;
            if ((uint)z >= g.window[0].size) continue;
            for (uint r = 0; r < g.window[1].taps.divisor; r++) {
                const int y = h + (int)r * g.window[1].tap_step;
                if ((uint)y >= g.window[1].size) continue;
                uint at_a = a_first + c * g.steps.linear_channel + t * g.window[0].tap +
                            r * g.window[1].tap;
                const uint at_b = b_first + c * g.steps.gather_channel + (uint)z * g.window[0].gather +
                                  (uint)y * g.window[1].gather;
                int x = w;
                for (uint s = 0; s < g.window[2].taps.divisor; s++) {
                    if ((uint)x < g.window[2].size)
                        sum += load(weights, at_a) *
                               load(data, at_b + (uint)x * g.window[2].gather);
                    x += g.window[2].tap_step;
                    at_a += g.window[2].tap;
                }
            }
        }
    if (g.epilogue.bias) sum += load(ADDRESS(bias), channel);
    store(ADDRESS(out), linear, activate(&g.epilogue, sum));
}

/* Backward weights: a workgroup sums over all pixels for `lanes` rows of one column. */
__kernel WORKGROUP(THREADS) void narrow_weights(INPUT(a), INPUT(b), OUTPUT(out), INPUT(bias),
                                                 struct rmcp_gemm g, struct rmcp_narrow o)
{
    __local float part[THREADS];
    const uint thread = LOCAL_ID, task = GROUP_ID_X + o.first;
    const uint block = divide(task, o.columns), column = task - block * o.columns.divisor;
    const uint lane = thread % o.lanes, pixels = THREADS / o.lanes;
    const uint channels = o.rows.divisor * o.groups.divisor;
    const uint channel = block * o.lanes + lane;
    const bool exists = channel < channels;
    const uint group = divide(exists ? channel : 0, o.rows);
    const uint row = (exists ? channel : 0) - group * o.rows.divisor;

    uint rest = column, c = 0;
    if (g.steps.channels_last) rest = divide(column, g.steps.channels), c = column - rest * g.steps.channels.divisor;
    const uint s_rest = divide(rest, g.window[2].taps);
    const uint s = rest - s_rest * g.window[2].taps.divisor;
    const uint r_rest = divide(s_rest, g.window[1].taps);
    const uint r = s_rest - r_rest * g.window[1].taps.divisor;
    const uint t_rest = divide(r_rest, g.window[0].taps);
    const uint t = r_rest - t_rest * g.window[0].taps.divisor;
    if (!g.steps.channels_last) c = t_rest;

    __global const char *const errors = ADDRESS(a), *const data = ADDRESS(b);
    const uint a_first = group * g.a_group + row * g.a_row;
    const uint b_first = group * g.b_group + c * g.steps.gather_channel;
    float sum = 0;
    for (uint pixel = thread / o.lanes; pixel < g.reduction; pixel += pixels) {
        uint linear = g.steps.linear_position;
        int z, y, x;
        uint image = take_position(&g.window[2], pixel, &x, &linear);
        image = take_position(&g.window[1], image, &y, &linear);
        image = take_position(&g.window[0], image, &z, &linear);
        z += (int)t * g.window[0].tap_step;
        y += (int)r * g.window[1].tap_step;
        x += (int)s * g.window[2].tap_step;
        if ((uint)z >= g.window[0].size || (uint)y >= g.window[1].size ||
            (uint)x >= g.window[2].size)
            continue;
        sum += load(errors, a_first + image * g.steps.linear_image + linear) *
               load(data, b_first + image * g.steps.gather_image + (uint)z * g.window[0].gather +
                              (uint)y * g.window[1].gather + (uint)x * g.window[2].gather);
    }

    part[thread] = sum;
    BARRIER();
    for (uint half_way = THREADS / 2; half_way >= o.lanes; half_way /= 2) {
        if (thread < half_way) part[thread] += part[thread + half_way];
        BARRIER();
    }
    if (thread < o.lanes && exists)
        store(ADDRESS(out),
              group * g.out_group + row * g.out_row + c * g.steps.linear_channel + g.steps.linear_tap +
                  t * g.window[0].tap + r * g.window[1].tap + s * g.window[2].tap,
              part[thread]);
}
