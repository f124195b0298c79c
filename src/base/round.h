/* round.h: whole numbers rounded up. */
#ifndef RMCP_BASE_ROUND_H
#define RMCP_BASE_ROUND_H

#include <stdint.h>

/* How many parts of that size take all of n, which is not negative. */
static inline int64_t rmcp_ceil_divide(int64_t n, int64_t size)
{
    return (n + size - 1) / size;
}

/* The first multiple of the step from n on. */
static inline uint64_t rmcp_round_up(uint64_t n, uint64_t step)
{
    return (n + step - 1) / step * step;
}

#endif
