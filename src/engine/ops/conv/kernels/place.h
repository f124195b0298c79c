/* place.h: how an index of pixels or taps becomes offsets, for kernels that compute matrix
 * products. */
#ifndef RMCP_CONV_KERNELS_PLACE_H
#define RMCP_CONV_KERNELS_PLACE_H

#include "engine/kernels/common.h"
#include "engine/kernels/target.h"
#include "engine/ops/conv/kernels/args.h"

/* Copies of arguments in local memory: as arguments they would fill the scalar registers. */
struct geometry {
    struct rmcp_window window[3];
    struct rmcp_steps steps;
};

/* What the phase of a workgroup computes. */
struct extent {
    uint columns, reduction;
};

/* The phase and the tile of a workgroup. Long reductions come first: short ones then fill the
 * compute units that are done early. */
struct turn {
    uint phase, tile;
};

INLINE struct turn turn_of(uint index, const struct rmcp_phases *p)
{
    if (p->count == 1) return (struct turn){ 0, index };
    const uint round = divide(index, p->round), rest = index - round * p->round.divisor;
    const uint rank = divide(rest, p->block);
    return (struct turn){ p->order >> 4 * rank & 15,
                          round * p->block.divisor + rest - rank * p->block.divisor };
}

INLINE struct extent extent_of(const struct rmcp_gemm *g, const struct rmcp_phases *p, uint phase)
{
    if (p->count == 1) return (struct extent){ g->columns, g->reduction };
    struct extent e = { p->images, p->channels };
    for (uint i = 0; i < 3; i++) {
        const bool odd = phase & p->mask[i];
        e.columns *= odd ? p->other[i].positions.divisor : g->window[i].positions.divisor;
        e.reduction *= odd ? p->other_taps[i] : p->taps[i];
    }
    return e;
}

/* By one work-item of the workgroup. */
INLINE void copy_windows(__local struct geometry *s, const struct rmcp_gemm *g)
{
    s->steps = g->steps;
    for (uint i = 0; i < 3; i++) s->window[i] = g->window[i];
}

/* The same for one of several phases; the first is that of g. */
INLINE void copy_geometry(__local struct geometry *s, const struct rmcp_gemm *g,
                          const struct rmcp_phases *p, uint phase)
{
    copy_windows(s, g);
    if (__builtin_expect(phase == 0, 1)) return;
    for (uint i = 0; i < 3; i++)
        if (phase & p->mask[i]) {
            s->window[i] = p->other[i];
            s->steps.linear_position += p->linear_position[i];
            s->steps.linear_tap += p->linear_tap[i];
        }
}

/* A pixel or a tap. A pixel has the bits of all taps that miss the tensor from there, a tap has its
 * own bits: the two meet in the tensor when they have no bit in common. */
struct place {
    uint gather; /* offset in the gathered tensor; those of pixel and tap add up */
    uint bits;
    uint linear; /* offset in the other tensor                                    */
};

/* Take this dimension's position out of a pixel index; returns the rest of the index. */
INLINE uint add_position(struct place *place, __local const struct rmcp_window *window, uint index)
{
    uint rest = divide(index, window->positions);
    uint position = index - rest * window->positions.divisor;
    int at = (int)position * window->step + window->first;
    place->gather += (uint)at * window->gather;
    place->linear += position * window->position;
    for (uint t = 0; t < window->taps.divisor; t++, at += window->tap_step)
        place->bits |= (uint)((uint)at >= window->size) << (window->first_bit + t);
    return rest;
}

INLINE struct place place_of_pixel(__local const struct geometry *s, uint index)
{
    struct place place = { 0, 0, s->steps.linear_position };
    index = add_position(&place, &s->window[2], index);
    index = add_position(&place, &s->window[1], index);
    index = add_position(&place, &s->window[0], index);
    place.gather += index * s->steps.gather_image;
    place.linear += index * s->steps.linear_image;
    return place;
}

/* Take this dimension's tap out of a tap index; returns the rest of the index. */
INLINE uint add_tap(struct place *place, __local const struct rmcp_window *window, uint index)
{
    uint rest = divide(index, window->taps);
    uint tap = index - rest * window->taps.divisor;
    place->gather += tap * (uint)window->tap_step * window->gather;
    place->linear += tap * window->tap;
    place->bits |= 1u << (window->first_bit + tap);
    return rest;
}

INLINE struct place place_of_tap(__local const struct geometry *s, uint index)
{
    struct place place = { 0, 0, s->steps.linear_tap };
    uint channel = 0;
    if (s->steps.channels_last) {
        uint rest = divide(index, s->steps.channels);
        channel = index - rest * s->steps.channels.divisor;
        index = rest;
    }
    index = add_tap(&place, &s->window[2], index);
    index = add_tap(&place, &s->window[1], index);
    index = add_tap(&place, &s->window[0], index);
    if (!s->steps.channels_last) channel = index;
    place.gather += channel * s->steps.gather_channel;
    place.linear += channel * s->steps.linear_channel;
    return place;
}

#endif
