/* pointwise.cl: few products of 1x1 filters, all passes, with hardly any code before the first load: where a
 * tile of gemm.cl decodes indices for longer than it computes.
 *
 * A work-item makes ROWS outputs of one column, straight from global memory; where that leaves a device
 * idle, several share the sum and add up at the end.
 *
 * -D: TYPE */
#include "engine/kernels/target.h"
#include "engine/kernels/common.h"
#include "engine/ops/conv/kernels/pointwise_args.h"

#define THREADS RMCP_POINTWISE_THREADS
#define LEVELS RMCP_POINTWISE_LEVELS
#define ROWS RMCP_POINTWISE_ROWS
#define AHEAD RMCP_POINTWISE_AHEAD

/* Add up the products of `share` and every 2^shift-th behind it. */
INLINE void accumulate(float sum[ROWS], const struct rmcp_pointwise *g, __global const char *a,
                       __global const char *b, const uint row[ROWS], uint at_b, uint share)
{
    const uint apart = 1u << g->shift;
    #pragma unroll 1
    for (uint outer = 0; outer < g->outer; outer++) {
        const uint outer_a = outer * g->a_outer, outer_b = at_b + outer * g->b_outer;
        #pragma unroll 1
        for (uint first = share; first < g->inner; first += AHEAD * apart) {
            float left[AHEAD][ROWS], right[AHEAD];
            UNROLL
            for (uint i = 0; i < AHEAD; i++) {
                const uint r = smaller(first + i * apart, g->inner - 1);
                right[i] = load(b, outer_b + r * g->b_inner);
                UNROLL
                for (uint j = 0; j < ROWS; j++)
                    left[i][j] = load(a, outer_a + r * g->a_inner + row[j]);
            }
            IN_ORDER();
            UNROLL
            for (uint i = 0; i < AHEAD; i++) {
                const bool exists = first + i * apart < g->inner;
                UNROLL
                for (uint j = 0; j < ROWS; j++)
                    sum[j] = exists ? sum[j] + left[i][j] * right[i] : sum[j];
            }
        }
    }
}

/* Add up over the work-items that share a sum, `distance` apart; the first then has it. */
INLINE void add_shares(float sum[ROWS], __local float part[ROWS * THREADS], uint shift, uint share,
                       uint distance)
{
    const uint thread = LOCAL_ID;
    for (uint half_way = 1u << shift >> 1; half_way > 0; half_way /= 2) {
        if (share >= half_way && share < 2 * half_way)
            UNROLL
            for (uint j = 0; j < ROWS; j++) part[j * THREADS + thread] = sum[j];
        BARRIER();
        if (share < half_way)
            UNROLL
            for (uint j = 0; j < ROWS; j++)
                sum[j] += part[j * THREADS + thread + half_way * distance];
    }
}

__kernel WORKGROUP(THREADS) void pointwise(INPUT(a), INPUT(b), OUTPUT(out), INPUT(bias),
                                           struct rmcp_pointwise g)
{
    __local float part[ROWS * THREADS];
    const uint thread = LOCAL_ID, shares = 1u << g.shift, items = THREADS >> g.shift;
    const uint share = g.fast ? thread & (shares - 1) : thread >> (LEVELS - g.shift);
    const uint item = g.fast ? thread >> g.shift : thread & (items - 1);
    const uint place = GROUP_ID_X * items + item, index = smaller(place, g.count - 1);

    const uint block = divide(index, g.columns);
    uint column = index - block * g.columns.divisor, at_b = 0, at_out = 0;
    UNROLL
    for (uint i = 0; i < 3; i++) {
        const uint rest = divide(column, g.size[i]), digit = column - rest * g.size[i].divisor;
        at_b += digit * g.b_digit[i];
        at_out += digit * g.out_digit[i];
        column = rest;
    }
    at_b += column * g.b_digit[3];
    at_out += column * g.out_digit[3];

    uint row[ROWS]; /* beyond the last is the last again, computed and not stored */
    UNROLL
    for (uint j = 0; j < ROWS; j++) row[j] = smaller(block * ROWS + j, g.rows - 1) * g.a_row;
    float sum[ROWS] = { 0 };
    accumulate(sum, &g, ADDRESS(a), ADDRESS(b), row, at_b, share);
    if (g.shift) add_shares(sum, part, g.shift, share, g.fast ? 1 : items);

    if (share || place >= g.count) return;
    if (g.epilogue.bias || g.epilogue.kind)
        UNROLL
        for (uint j = 0; j < ROWS; j++) {
            const uint at = smaller(block * ROWS + j, g.rows - 1);
            const float shift = g.epilogue.bias ? load(ADDRESS(bias), at) : 0;
            sum[j] = activate(&g.epilogue, sum[j] + shift);
        }
    const uint rows = g.rows - block * ROWS;
    UNROLL
    for (uint j = 0; j < ROWS && j < rows; j++) /* as store_columns of gemm_sums.h */
        store(ADDRESS(out), at_out + (block * ROWS + j) * g.out_row, sum[j]);
}
