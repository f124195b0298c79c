/* winograd4_lines.h: one line of each transform of F(4x4, TAPS x TAPS) and, for weight gradients,
 * of F(TAPS x TAPS, 4x4): pixels become B' d B, filters (in weight gradients: errors, 4 x 4 of
 * them) G g G', and A' m A of the sums m are the outputs.
 *
 * The points are 0, infinity and pairs +-p, whose lines differ in the sign of the odd terms. For
 * three taps the pairs are 5/8 and 3/2, whose errors are half of those of 1 and 2; for five they
 * are 1/2, 1 and 2, the best of those with short binary fractions. Only the lines of filters have
 * others.
 *
 * -D: TAPS, 3 or 5 */
#ifndef RMCP_CONV_KERNELS_WINOGRAD4_LINES_H
#define RMCP_CONV_KERNELS_WINOGRAD4_LINES_H

#include "engine/kernels/target.h"

#define SIZE (TAPS + 3) /* of a tile */
#define PAIRS (SIZE / 2 - 1)
#define MOST (TAPS > 4 ? TAPS : 4) /* taps, errors or outputs of a line */

/* The pairs; what lines of filters are multiplied with, those of 0 and of each pair; and
 * polynomials in x^2 whose roots are the squares of the other pairs, and of all: their coefficients
 * from the lowest on, but for the highest, which is 1. */
#if TAPS == 3
#define POINTS                                                                                     \
    {                                                                                              \
        0.625f, 1.5f                                                                               \
    }
#define SCALE (1 / (PP * QQ))
#define SCALES                                                                                     \
    {                                                                                              \
        1 / (2 * PP * (PP - QQ)), 1 / (2 * QQ * (QQ - PP))                                         \
    }
#define OTHERS                                                                                     \
    {                                                                                              \
        { -QQ },                                                                                   \
        {                                                                                          \
            -PP                                                                                    \
        }                                                                                          \
    }
#define ALL                                                                                        \
    {                                                                                              \
        PP *QQ, -(PP + QQ)                                                                         \
    }
#define PP 0.390625f
#define QQ 2.25f
#else
#define POINTS                                                                                     \
    {                                                                                              \
        0.5f, 1.0f, 2.0f                                                                           \
    }
#define SCALE (-1.0f)
#define SCALES                                                                                     \
    {                                                                                              \
        32 / 45.0f, -2 / 9.0f, 1 / 90.0f                                                           \
    }
#define OTHERS                                                                                     \
    {                                                                                              \
        { 4, -5 }, { 1, -4.25f },                                                                  \
        {                                                                                          \
            0.25f, -1.25f                                                                          \
        }                                                                                          \
    }
#define ALL                                                                                        \
    {                                                                                              \
        -1, 5.25f, -5.25f                                                                          \
    }
#endif

/* Such a polynomial of degree n, over every second element from the first on. */
INLINE float every_second(const float d[SIZE], uint first, const float *coefficient, uint n)
{
    float sum = d[first + 2 * n];
    UNROLL
    for (uint i = n; i-- > 0;) sum += coefficient[i] * d[first + 2 * i];
    return sum;
}

INLINE void transform_pixels(float t[SIZE], const float d[SIZE])
{
    const float point[PAIRS] = POINTS, others[PAIRS][PAIRS - 1] = OTHERS, all[PAIRS] = ALL;
    t[0] = every_second(d, 0, all, PAIRS);
    UNROLL
    for (uint i = 0; i < PAIRS; i++) {
        const float even = every_second(d, 2, others[i], PAIRS - 1);
        const float odd = point[i] * every_second(d, 1, others[i], PAIRS - 1);
        t[2 * i + 1] = even + odd;
        t[2 * i + 2] = even - odd;
    }
    t[SIZE - 1] = every_second(d, 1, all, PAIRS);
}

/* n taps or errors. */
INLINE void transform_taps(float u[SIZE], const float g[MOST], uint n)
{
    const float point[PAIRS] = POINTS, scale[PAIRS] = SCALES;
    u[0] = SCALE * g[0];
    UNROLL
    for (uint i = 0; i < PAIRS; i++) {
        float part[2] = { 0 }, power = 1; /* even and odd powers of the point */
        UNROLL
        for (uint j = 0; j < n; j++, power *= point[i]) part[j % 2] += power * g[j];
        u[2 * i + 1] = scale[i] * (part[0] + part[1]);
        u[2 * i + 2] = scale[i] * (part[0] - part[1]);
    }
    u[SIZE - 1] = g[n - 1];
}

/* n outputs or taps of a gradient. */
INLINE void transform_sums(float y[MOST], const float m[SIZE], uint n)
{
    const float point[PAIRS] = POINTS;
    UNROLL
    for (uint j = 0; j < n; j++) y[j] = j == 0 ? m[0] : 0;
    UNROLL
    for (uint i = 0; i < PAIRS; i++) {
        const float part[2] = { m[2 * i + 1] + m[2 * i + 2], m[2 * i + 1] - m[2 * i + 2] };
        float power = 1;
        UNROLL
        for (uint j = 0; j < n; j++, power *= point[i]) y[j] += power * part[j % 2];
    }
    y[n - 1] += m[SIZE - 1];
}

#endif
