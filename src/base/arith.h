/* arith.h: whole numbers: what C has no operator for. */
#ifndef RMCP_ARITH_H
#define RMCP_ARITH_H

#include <stdint.h>

/* a / b, rounded up; a is not below 0, b above. */
static inline int64_t rmcp_ceil_divide(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

#endif
