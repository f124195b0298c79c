/* cells.h: outputs that are inputs of a strided convolution, a cell of them at a time. */
#ifndef RMCP_CONV_KERNELS_CELLS_H
#define RMCP_CONV_KERNELS_CELLS_H

#include "engine/ops/conv/kernels/place.h"

/* A cell in the tensor: the offset of its first input, which may lie before the tensor, and which
 * inputs of it exist: in each dimension those from `low` on below `high`, in 5 bits each. */
struct corner {
    uint offset, bounds;
};

#define CELL_LOW(bounds, i) ((bounds) >> (i)*10 & 31)
#define CELL_HIGH(bounds, i) ((bounds) >> ((i)*10 + 5) & 31)

INLINE uint add_corner(struct corner *corner, const struct rmcp_cell *cell,
                       const struct rmcp_divider *positions, uint index, uint i)
{
    const uint rest = divide(index, *positions);
    const int first =
        (int)((index - rest * positions->divisor) * cell->stride.divisor) + cell->first;
    const int left = (int)cell->size - first;
    const uint low = first < 0 ? (uint)-first : 0;
    const uint high = left < (int)cell->stride.divisor ? (uint)left : cell->stride.divisor;
    corner->offset += (uint)first * cell->step;
    corner->bounds |= (low | high << 5) << i * 10;
    return rest;
}

INLINE struct corner corner_of(const struct rmcp_gemm *g, const struct rmcp_cells *c, uint column)
{
    struct corner corner = { 0, 0 };
    column = add_corner(&corner, &c->cell[2], &g->window[2].positions, column, 2);
    column = add_corner(&corner, &c->cell[1], &g->window[1].positions, column, 1);
    column = add_corner(&corner, &c->cell[0], &g->window[0].positions, column, 0);
    corner.offset += column * g->steps.linear_image;
    return corner;
}

/* What a row is: a channel, and an input of the cell. */
struct inside {
    uint channel, at[3];
};

INLINE struct inside inside_of(const struct rmcp_cells *c, uint row)
{
    struct inside inside;
    for (uint i = 3; i-- > 0;) {
        const uint rest = divide(row, c->cell[i].stride);
        inside.at[i] = row - rest * c->cell[i].stride.divisor;
        row = rest;
    }
    inside.channel = row;
    return inside;
}

INLINE bool exists(uint bounds, const struct inside *inside)
{
    bool all = true;
    for (uint i = 0; i < 3; i++)
        all &= inside->at[i] >= CELL_LOW(bounds, i) && inside->at[i] < CELL_HIGH(bounds, i);
    return all;
}

/* Where a row's sums go, counted from the corner of a cell. */
INLINE uint offset_of(const struct rmcp_gemm *g, const struct rmcp_cells *c,
                      const struct inside *inside)
{
    return inside->channel * g->out_row + inside->at[0] * c->cell[0].step +
           inside->at[1] * c->cell[1].step + inside->at[2] * c->cell[2].step;
}

#if CELLS
/* The products of a row and a column from place `origin` of the reduction on, without those of
 * weights that do not exist (arrange.cl writes -0 for them, and for no other): zero times Inf or
 * NaN would be NaN. For sums that came out as NaN. */
INLINE float exact_sum(__local const struct geometry *geometry, const struct rmcp_gemm *g,
                       __global const char *a, __global const char *b, uint row, uint column,
                       uint origin, uint length)
{
    const struct place pixel = place_of_pixel(geometry, column);
    float sum = 0;
#pragma unroll 1
    for (uint r = origin; r < origin + length; r++) {
        const struct place tap = place_of_tap(geometry, r);
        const float weight = load(a, tap.linear + row * g->a_row);
        if ((tap.bits & pixel.bits) == 0 && as_uint(weight) != 0x80000000u)
            sum += weight * load(b, tap.gather + pixel.gather);
    }
    return sum;
}
#endif

/* Store a channel's product in the cell's one input that has any, and zeros in the others. */
INLINE void store_lone(__global char *out, const struct rmcp_cells *c, struct corner corner,
                       uint offset, float value)
{
    const bool pairs = c->cell[2].stride.divisor == 2 && c->cell[2].step == 1 &&
                       (corner.bounds >> 20 & 1023) == (2 << 5);
    for (uint d = CELL_LOW(corner.bounds, 0); d < CELL_HIGH(corner.bounds, 0); d++)
        for (uint h = CELL_LOW(corner.bounds, 1); h < CELL_HIGH(corner.bounds, 1); h++) {
            const float v = d == c->cell[0].phase && h == c->cell[1].phase ? value : 0;
            const uint line = corner.offset + offset + d * c->cell[0].step + h * c->cell[1].step;
            const uint phase = c->cell[2].phase;
            if (pairs) {
                store2(out, line, phase ? 0 : v, phase ? v : 0);
                continue;
            }
            for (uint w = CELL_LOW(corner.bounds, 2); w < CELL_HIGH(corner.bounds, 2); w++)
                store(out, line + w * c->cell[2].step, w == phase ? v : 0);
        }
}

#endif
