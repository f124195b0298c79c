/* small_case.h: one small convolution with its expected result, for the tests of drivers. */
#ifndef RMCP_TESTS_SMALL_CASE_H
#define RMCP_TESTS_SMALL_CASE_H

#include "rmcp.h"

enum {
    CASE_N = 2,
    CASE_C = 3,
    CASE_HW = 9,
    CASE_K = 4,
    CASE_RS = 3,
    CASE_X = CASE_N * CASE_C * CASE_HW * CASE_HW,
    CASE_W = CASE_K * CASE_C * CASE_RS * CASE_RS,
    CASE_Y = CASE_N * CASE_K * CASE_HW * CASE_HW
};

static const rmcp_conv case_problem = {
    .struct_size = sizeof(rmcp_conv),
    .n = CASE_N,
    .c = CASE_C,
    .k = CASE_K,
    .input = { CASE_HW, CASE_HW },
    .filter = { CASE_RS, CASE_RS },
    .pad_begin = { 1, 1 },
    .pad_end = { 1, 1 },
};

/* Small whole numbers: any order of summation gives the same result. */
static inline void case_fill(unsigned seed, float x[CASE_X], float w[CASE_W], float y[CASE_Y])
{
    for (int i = 0; i < CASE_X; i++) x[i] = (float)((int)((seed + (unsigned)i * 7) % 11) - 5);
    for (int i = 0; i < CASE_W; i++) w[i] = (float)((int)((seed + (unsigned)i * 5) % 7) - 3);
    for (int i = 0; i < CASE_Y; i++) {
        const int ow = i % CASE_HW, oh = i / CASE_HW % CASE_HW;
        const int k = i / CASE_HW / CASE_HW % CASE_K, n = i / CASE_HW / CASE_HW / CASE_K;
        y[i] = 0;
        for (int j = 0; j < CASE_C * CASE_RS * CASE_RS; j++) {
            const int s = j % CASE_RS, r = j / CASE_RS % CASE_RS, c = j / CASE_RS / CASE_RS;
            const int h = oh + r - 1, v = ow + s - 1;
            if (h < 0 || h >= CASE_HW || v < 0 || v >= CASE_HW) continue;
            y[i] += x[((n * CASE_C + c) * CASE_HW + h) * CASE_HW + v] *
                    w[((k * CASE_C + c) * CASE_RS + r) * CASE_RS + s];
        }
    }
}

#endif
