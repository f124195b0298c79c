/* gemm_sums.h: bias, activation and storing of sums whose columns are pixels or taps. Part of
 * gemm.cl. */
#ifndef RMCP_CONV_KERNELS_GEMM_SUMS_H
#define RMCP_CONV_KERNELS_GEMM_SUMS_H

/* Bias and activation, each kind in a loop of its own: a choice for each value would be much code,
 * and a wave that is alone waits for every line of it. NaN fails every comparison and so stays NaN.
 */
INLINE void finish(float4 sum[8][2], const struct rmcp_gemm *g, __global const char *bias,
                   uint first_row)
{
    const struct rmcp_epilogue *e = &g->epilogue;
    const float4 zero = 0, low = e->low, high = e->high;
    if (e->bias) UNROLL
    for (uint i = 0; i < KEEP; i++) {
        const uint row = smaller(first_row + row_of(i), g->rows - 1);
        const float shift = load(bias, GROUP_ID_Y * g->bias_group + row);
        sum[i][0] += shift;
        sum[i][1] += shift;
    }
    if (e->kind == 1) UNROLL
    for (uint i = 0; i < 2 * KEEP; i++) {
        const float4 v = sum[i / 2][i % 2];
        sum[i / 2][i % 2] = v < zero ? zero : v;
    }
    else if (e->kind == 2) UNROLL for (uint i = 0; i < 2 * KEEP; i++)
    {
        const float4 v = sum[i / 2][i % 2];
        sum[i / 2][i % 2] = v < zero ? v * e->slope : v;
    }
    else if (e->kind == 3) UNROLL for (uint i = 0; i < 2 * KEEP; i++)
    {
        const float4 v = sum[i / 2][i % 2];
        sum[i / 2][i % 2] = v < low ? low : v > high ? high : v;
    }
}

/* Where four neighbouring columns of a work-item go. */
struct target {
    __global char *out; /* elements of the result, or floats of a part of its sums */
    uint offset, pitch; /* of the first row, and from row to row                   */
    uint rows, columns; /* that exist, from the first on                           */
    uint linear[4];     /* of the columns, added to the offset of a row            */
};

/* AMD's chips take a wide store of floats at any float. */
#if defined(BARE) && defined(__AMDGCN__) && TYPE == 0
typedef float four __attribute__((ext_vector_type(4), aligned(4)));
#define ANY_ALIGNMENT 1
#else
typedef float4 four;
#define ANY_ALIGNMENT 0
#endif

INLINE __global float *part_at(__global char *base, uint index)
{
#if defined(__AMDGCN__) && TYPE == 0
    return (__global float *)(base + index * (uint)sizeof(float)); /* as load() of target.h */
#else
    return (__global float *)base + index;
#endif
}

/* Rows and columns beyond the last end the loops: no way leads from local memory to a store but
 * through the store before. On gfx1010 any other branch would make a store wait for all before it
 * (a hazard of the chip that the compiler keeps away from). */
INLINE void store_columns(const float4 *sum, const struct target *t, bool part)
{
    const uint first = t->offset + t->linear[0];
    const uint size = part ? (uint)sizeof(float) : (uint)sizeof(element);
    const bool neighbours = t->columns > 3 && t->linear[3] - t->linear[0] == 3; /* offsets rise */
    const bool aligned = t->pitch % 4 == 0 && ((ulong)t->out + first * size) % (4 * size) == 0;
    if (neighbours && t->rows > row_of(KEEP - 1) && (ANY_ALIGNMENT || aligned)) {
        UNROLL
        for (uint i = 0; i < KEEP; i++) {
            const uint at = first + row_of(i) * t->pitch;
            if (part)
                *(__global four *)part_at(t->out, at) = sum[2 * i];
            else
                store4(t->out, at, sum[2 * i]);
        }
        return;
    }
    UNROLL
    for (uint i = 0; i < KEEP && row_of(i) < t->rows; i++) {
        const float4 v = sum[2 * i];
        const float value[4] = { v.x, v.y, v.z, v.w };
        UNROLL
        for (uint j = 0; j < 4 && j < t->columns; j++) {
            const uint at = t->offset + row_of(i) * t->pitch + t->linear[j];
            if (part)
                *part_at(t->out, at) = value[j];
            else
                store(t->out, at, value[j]);
        }
    }
}

/* Store the work-item's outputs, or its part of them when the reduction is split. */
INLINE void store_sums(const float4 sum[8][2], __local const struct shared *s,
                       const struct rmcp_gemm *g, __global char *out, uint first_row,
                       uint first_column, uint columns, uint x)
{
    __global float *const parts = (__global float *)out + (ulong)GROUP_ID_Z * g->part;
    struct target t[2];
    UNROLL
    for (uint i = 0; i < 2; i++) {
        const uint column = x + i * (COLUMNS / 2);
        t[i] = (struct target){ g->partial ? (__global char *)parts : out,
                                GROUP_ID_Y * g->out_group + first_row * g->out_row,
                                g->out_row,
                                g->rows - smaller(g->rows, first_row),
                                columns - smaller(columns, first_column + column),
                                { 0 } };
        UNROLL
        for (uint j = 0; j < 4; j++) t[i].linear[j] = s->column_linear[column + j];
    }
    if (t[0].rows <= row_of(0) || !t[0].columns) return;
    if (TYPE == 0 || g->partial) {
        store_columns(sum[0], &t[0], true);
        if (t[1].columns) store_columns(sum[0] + 1, &t[1], true);
    } else {
        store_columns(sum[0], &t[0], false);
        if (t[1].columns) store_columns(sum[0] + 1, &t[1], false);
    }
}

#endif
