/* args.h: what the by-value arguments of several operations' kernels hold, the same text for C and
 * OpenCL C. */
#ifndef RMCP_KERNEL_ARGS_H
#define RMCP_KERNEL_ARGS_H

#ifdef __OPENCL_C_VERSION__
typedef long rmcp_long;
#else
#include <stdint.h>
typedef int64_t rmcp_long;
#endif

/* n / divisor for n < 2^31 without a division: (high half of n * multiplier, plus n) >> shift. */
struct rmcp_divider {
    unsigned divisor, multiplier, shift;
};

/* What forward does to a sum before it is stored. `kind` is an rmcp_activation. */
struct rmcp_epilogue {
    unsigned bias, kind;
    float slope, low, high;
};

#endif
