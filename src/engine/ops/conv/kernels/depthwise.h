/* depthwise.h: what the kernels for one input channel in a group share: where a work-item stands.
 */
#ifndef RMCP_DEPTHWISE_H
#define RMCP_DEPTHWISE_H

#include "engine/kernels/common.h"
#include "engine/kernels/target.h"
#include "engine/ops/conv/kernels/depthwise_args.h"

/* Makes the compiler forget what it knows of an integer: where keeping what follows from it in
 * registers, over all turns of a loop, costs more than computing it anew. */
#if defined(BARE) && defined(__AMDGCN__)
#define FORGET(value) __asm__ volatile("" : "+v"(value))
#elif defined(BARE) && defined(__NVPTX__)
#define FORGET(value) __asm__ volatile("" : "+r"(value))
#else
#define FORGET(value)
#endif

struct spot {
    uint column, block, depth; /* positions along w and d, block of positions along h */
    uint channel, image;
};

/* Take the fastest digit out of an index. */
INLINE uint take(uint *index, struct rmcp_divider d)
{
    const uint rest = divide(*index, d), digit = *index - rest * d.divisor;
    *index = rest;
    return digit;
}

/* All but the channel and the image, which is what is left of the index. */
INLINE struct spot spot_of_position(const struct rmcp_depthwise *p, uint *index)
{
    struct spot spot = { 0 };
    spot.column = take(index, p->window[2].positions);
    spot.block = take(index, p->blocks);
    spot.depth = take(index, p->window[0].positions);
    return spot;
}

/* The spot of a work-item, whose channel need not exist. */
INLINE struct spot spot_of(const struct rmcp_depthwise *p, uint index)
{
    const uint lane = take(&index, p->lanes);
    struct spot spot = spot_of_position(p, &index);
    spot.channel = take(&index, p->channel_blocks) * p->lanes.divisor + lane;
    spot.image = index;
    return spot;
}

#if !defined(THREADS)
#define THREADS 128
#endif
#define MOST_LANES 32

/* The block of channels of a staged workgroup; what is left of the index are its positions. */
INLINE uint staged_block(const struct rmcp_depthwise *p, uint *group)
{
    uint block = GROUP_ID_X + p->first / THREADS;
    *group = take(&block, p->groups);
    return block;
}

/* The spot of this work-item; false when there is none. */
INLINE bool find_spot(const struct rmcp_depthwise *p, struct spot *spot)
{
    const uint index = GROUP_ID_X * THREADS + LOCAL_ID;
    if (!p->staged) {
        *spot = spot_of(p, index + p->first);
        return (index < p->count) & (spot->channel < p->channels);
    }
    uint group, level = LOCAL_ID;
    const uint block = staged_block(p, &group), lane = take(&level, p->lanes);
    uint position = group * divide(THREADS, p->lanes) + level;
    *spot = spot_of_position(p, &position);
    spot->channel = block * p->lanes.divisor + lane;
    spot->image = position;
    return (spot->image < p->images) & (spot->channel < p->channels);
}

/* Bring the filters of the workgroup's channels to local memory, for all work-items: each of them
 * would read its own far from its neighbour's. */
INLINE void stage(const struct rmcp_depthwise *p, __global const char *weights,
                  __local float *filters)
{
    if (!p->staged) return;
    uint group;
    const uint first = staged_block(p, &group) * p->lanes.divisor;
    const uint count = smaller(p->lanes.divisor, p->channels - first) * p->taps;
    for (uint i = LOCAL_ID; i < count; i += THREADS)
        filters[i] = load(weights, first * p->taps + i);
    BARRIER();
}

/* Where a coordinate is in the gathered tensor; coordinates outside are moved to a safe place. */
struct place {
    uint at;
    bool inside;
};

INLINE struct place place_of(const struct rmcp_window *window, int coordinate)
{
    const bool inside = (uint)coordinate < window->size;
    return (struct place){ inside ? (uint)coordinate * window->gather : 0, inside };
}

#if defined(FILTER)
/* A row of values under the taps along w, which begin at x; as loaded: anything in the padding. */
struct row {
    float value[FILTER];
};

INLINE struct row fetch_row(const struct rmcp_depthwise *p, int y, int x, __global const char *data,
                            uint plane)
{
    struct row row;
    UNROLL
    for (uint s = 0; s < FILTER; s++)
        row.value[s] = load(data, plane + place_of(&p->window[1], y).at +
                                      place_of(&p->window[2], x + (int)s).at);
    return row;
}

/* The value under tap s: zero in the padding. */
INLINE float value_of(const struct rmcp_depthwise *p, const struct row *row, int y, int x, uint s)
{
    const struct place down = place_of(&p->window[1], y);
    const struct place right = place_of(&p->window[2], x + (int)s);
    return (down.inside & right.inside) ? row->value[s] : 0;
}

/* One plane of the filter of channel `row` of the weights. */
INLINE void load_filter(float filter[FILTER][FILTER], const struct rmcp_depthwise *p,
                        __global const char *weights, __local const float *filters, uint row,
                        uint t)
{
    uint taps = p->linear_tap + t * p->window[0].tap;
    if (p->staged) {
        uint level = LOCAL_ID;
        taps += take(&level, p->lanes) * p->taps;
        UNROLL
        for (uint r = 0; r < FILTER; r++) UNROLL
        for (uint s = 0; s < FILTER; s++)
            filter[r][s] = filters[taps + r * p->window[1].tap + s * p->window[2].tap];
        return;
    }
    taps += row * p->taps;
    FORGET(taps);
    UNROLL
    for (uint r = 0; r < FILTER; r++) UNROLL
    for (uint s = 0; s < FILTER; s++)
        filter[r][s] = load(weights, taps + r * p->window[1].tap + s * p->window[2].tap);
}

/* Rows that are on their way at once: about two dozen loads, fewer where registers are scarce. */
#define AHEAD (FILTER == 3 ? 9 : FILTER == 5 ? 5 : 2)
#endif

/* Where the gathered channel begins: of forward and weight gradients, or the i-th of backward data.
 */
INLINE uint gathered(const struct rmcp_depthwise *p, const struct spot *spot, uint i)
{
    return spot->image * p->gather_image +
           (divide(spot->channel, p->share) * p->sums + i) * p->gather_channel;
}

/* Where position 0 along h and w of the spot's channel is in the tensor that is not gathered. */
INLINE uint linear(const struct rmcp_depthwise *p, const struct spot *spot)
{
    return spot->image * p->linear_image + spot->channel * p->linear_channel + p->linear_position +
           spot->depth * p->window[0].position;
}

#endif
