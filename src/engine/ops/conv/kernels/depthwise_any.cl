/* depthwise_any.cl: forward, and one phase of backward data, with any filter, stride and dilation.
 *
 * A work-item makes ROWS outputs of one channel: neighbours along h, which meet about the same taps; or
 * far apart when the host has put the only spatial dimension there, so that neighbours among work-items
 * are neighbours in memory. Of a filter that reaches beyond the image it takes the taps that meet it. */
#include "engine/ops/conv/kernels/depthwise.h"

#define ROWS 4
#define MOST_TAPS 64 /* of filters in local memory */

/* A filter that is larger than the image: most of its taps then meet nothing. */
INLINE bool is_larger(const struct rmcp_window *window)
{
    return (window->taps.divisor - 1) * (uint)window->tap_step >= window->size;
}

/* Taps whose coordinates may be in the image, when those of the first tap are from `low` to `high`. */
struct range {
    uint first, end;
};

INLINE struct range taps_inside(const struct rmcp_window *window, int low, int high)
{
    struct range range = { 0, window->taps.divisor };
    while (range.first < range.end && high + (int)range.first * window->tap_step < 0) range.first++;
    while (range.first < range.end && low + (int)(range.end - 1) * window->tap_step >= (int)window->size)
        range.end--;
    return range;
}

/* Outputs of a work-item along h are `apart` from each other, and so are the blocks of neighbours. */
struct rows {
    uint apart, block;
};

INLINE struct rows rows_of(const struct rmcp_depthwise *p)
{
    const bool line = p->window[2].positions.divisor == 1;
    return (struct rows){ line ? p->blocks.divisor : 1, line ? 1 : ROWS };
}

/* Where a work-item's outputs begin in the gathered tensor, and the taps that it takes. */
struct view {
    int y, x;
    struct range down, right;
};

INLINE struct view view_of(const struct rmcp_depthwise *p, const struct spot *spot, bool clipped)
{
    const struct rows rows = rows_of(p);
    const int apart = (int)rows.apart * p->window[1].step;
    struct view v = {
        .y = (int)(spot->block * rows.block) * p->window[1].step + p->window[1].first,
        .x = (int)spot->column * p->window[2].step + p->window[2].first,
        .down = { 0, p->window[1].taps.divisor },
        .right = { 0, p->window[2].taps.divisor },
    };
    if (!clipped) return v;
    v.down = taps_inside(&p->window[1], v.y, v.y + (ROWS - 1) * apart);
    v.right = taps_inside(&p->window[2], v.x, v.x);
    return v;
}

/* Add one plane of the filter, from `taps` on, over one plane of the input. */
INLINE void add_plane(float sum[ROWS], const struct rmcp_depthwise *p, __global const char *weights,
                      __local const float *filters, uint taps, __global const char *data,
                      uint plane, const struct view *v, bool clipped)
{
    const int apart = (int)rows_of(p).apart * p->window[1].step;
    for (uint r = v->down.first; r < v->down.end; r++) {
        struct place row[ROWS];
        UNROLL
        for (uint i = 0; i < ROWS; i++)
            row[i] = place_of(&p->window[1], v->y + (int)i * apart + (int)r * p->window[1].tap_step);
        for (uint s = v->right.first; s < v->right.end; s++) {
            const int x = v->x + (int)s * p->window[2].tap_step;
            const struct place column = clipped ? (struct place){ (uint)x * p->window[2].gather, true }
                                                : place_of(&p->window[2], x);
            const uint at = taps + r * p->window[1].tap + s * p->window[2].tap;
            const float tap = p->staged ? filters[at] : load(weights, at);
            float value[ROWS];
            UNROLL
            for (uint i = 0; i < ROWS; i++) value[i] = load(data, plane + row[i].at + column.at);
            UNROLL
            for (uint i = 0; i < ROWS; i++)
                sum[i] = (row[i].inside & column.inside) ? sum[i] + tap * value[i] : sum[i];
        }
    }
}

/* All planes. */
INLINE void add_planes(float sum[ROWS], const struct rmcp_depthwise *p, __global const char *weights,
                       __local const float *filters, __global const char *data,
                       const struct spot *spot, bool clipped)
{
    const struct view v = view_of(p, spot, clipped);
    const int z = (int)spot->depth * p->window[0].step + p->window[0].first;
    for (uint i = 0; i < p->sums; i++)
        for (uint t = 0; t < p->window[0].taps.divisor; t++) {
            const struct place depth = place_of(&p->window[0], z + (int)t * p->window[0].tap_step);
            if (!depth.inside) continue;
            uint level = LOCAL_ID;
            const uint row = p->staged ? take(&level, p->lanes) : spot->channel * p->sums + i;
            const uint taps = row * p->taps + p->linear_tap + t * p->window[0].tap;
            add_plane(sum, p, weights, filters, taps, data, gathered(p, spot, i) + depth.at, &v, clipped);
        }
}

__kernel WORKGROUP(THREADS) void depthwise_any(INPUT(w), INPUT(data), OUTPUT(out), INPUT(bias),
                                               struct rmcp_depthwise p)
{
    __local float filters[MOST_LANES * MOST_TAPS];
    stage(&p, ADDRESS(w), filters);
    struct spot spot;
    if (!find_spot(&p, &spot)) return;

    float sum[ROWS] = { 0 };
    if (is_larger(&p.window[1]) || is_larger(&p.window[2]) || CPU)
        add_planes(sum, &p, ADDRESS(w), filters, ADDRESS(data), &spot, true);
    else
        add_planes(sum, &p, ADDRESS(w), filters, ADDRESS(data), &spot, false);

    const struct rows rows = rows_of(&p);
    const float shift = p.epilogue.bias ? load(ADDRESS(bias), spot.channel) : 0;
    UNROLL
    for (uint i = 0; i < ROWS; i++) sum[i] += shift;
    if (p.epilogue.kind)
        UNROLL
        for (uint i = 0; i < ROWS; i++) sum[i] = activate(&p.epilogue, sum[i]);
    const uint first = linear(&p, &spot) + spot.column * p.window[2].position;
    UNROLL
    for (uint i = 0; i < ROWS; i++) { /* rows rise; as store_columns of gemm_sums.h */
        const uint row = spot.block * rows.block + i * rows.apart;
        if (row >= p.window[1].positions.divisor) break;
        store(ADDRESS(out), first + row * p.window[1].position, sum[i]);
    }
}
