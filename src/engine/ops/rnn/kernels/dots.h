/* dots.h: sums of products for few sequences: LINES lines of weights with ROWS vectors.
 *
 * SETS sets of LANES work-items; those of a set share the terms of its sums, neighbours in memory
 * being neighbours in the set, and add up in local memory in a fixed order. */
#ifndef RMCP_RNN_DOTS_H
#define RMCP_RNN_DOTS_H

#define SUMS (LINES * ROWS)
#define SUMS_WIDE                                                                                  \
    (SUMS <= 1 ? 1 : SUMS <= 2 ? 2 : SUMS <= 4 ? 4 : SUMS <= 8 ? 8 : SUMS <= 16 ? 16 : 32)
#define PARTS (LANES / SUMS_WIDE)

struct dots {
    float sum[LINES][ROWS];
};

INLINE void dots_clear(struct dots *dots)
{
    UNROLL for (uint l = 0; l < LINES; l++) UNROLL for (uint n = 0; n < ROWS; n++) dots->sum[l][n] =
        0;
}

/* Terms that a work-item loads before it multiplies them: the waiting is for all of them together.
 */
#if CPU
#define AHEAD 1
#elif ROWS > 4
#define AHEAD 2
#else
#define AHEAD 4
#endif

/* `many` terms from k on, LANES apart. */
INLINE void dots_terms(struct dots *dots, __global const float *const *line,
                       __global const float *const *vector, uint k, const uint many)
{
    float w[AHEAD][LINES], v[AHEAD][ROWS];
    UNROLL for (uint i = 0; i < many; i++)
    {
        UNROLL for (uint l = 0; l < LINES; l++) w[i][l] = line[l][k + i * LANES];
        UNROLL for (uint n = 0; n < ROWS; n++) v[i][n] = vector[n][k + i * LANES];
    }
    UNROLL for (uint i = 0; i < many; i++) UNROLL for (uint l = 0; l < LINES; l++)
        UNROLL for (uint n = 0; n < ROWS; n++)
            dots->sum[l][n] = w[i][l] * v[i][n] + dots->sum[l][n];
}

/* Add terms 0 … length - 1. */
INLINE void dots_add(struct dots *dots, __global const float *const *line,
                     __global const float *const *vector, uint length, uint lane)
{
    const uint whole = length / (AHEAD * LANES) * (AHEAD * LANES);
    uint k = lane;
    for (; k < whole; k += AHEAD * LANES) dots_terms(dots, line, vector, k, AHEAD);
    for (; k < length; k += LANES) dots_terms(dots, line, vector, k, 1);
}

/* Room for one set. */
#define DOTS_LOCAL (SUMS * (LANES + 1))

/* Add up over the lanes of a set. Afterwards every work-item may ask for any sum. */
INLINE void dots_join(const struct dots *dots, __local float *room, uint lane)
{
    UNROLL for (uint l = 0; l < LINES; l++) UNROLL for (uint n = 0; n < ROWS; n++)
        room[(l * ROWS + n) * (LANES + 1) + lane] = dots->sum[l][n];
    BARRIER();
    const uint which = lane % SUMS_WIDE, part = lane / SUMS_WIDE;
    float total = 0;
    if (which < SUMS)
        for (uint i = 0; i < SUMS_WIDE; i++)
            total += room[which * (LANES + 1) + part * SUMS_WIDE + i];
    BARRIER();
    if (which < SUMS) room[which * (LANES + 1) + part] = total;
    BARRIER();
}

INLINE float dots_sum(__local const float *room, uint l, uint n)
{
    float total = 0;
    for (uint i = 0; i < PARTS; i++) total += room[(l * ROWS + n) * (LANES + 1) + i];
    return total;
}

#endif
