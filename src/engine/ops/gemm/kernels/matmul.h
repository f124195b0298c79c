/* matmul.h: what the kernels of matrix products share: four neighbours at once, and the end of a
 * sum. */
#ifndef RMCP_GEMM_KERNELS_MATMUL_H
#define RMCP_GEMM_KERNELS_MATMUL_H

#include "engine/kernels/common.h"
#include "engine/kernels/matmul_args.h"
#include "engine/kernels/target.h"

/* Four neighbours that are aligned as one. */
INLINE float4 load4(__global const char *base, uint index)
{
#if DRIVER_HALF
    return vload_half4(0, (__global const half *)base + index);
#else
#if defined(__AMDGCN__)
    const element4 v = *(__global const element4 *)(base + index * (uint)sizeof(element));
#else
    const element4 v = *(__global const element4 *)((__global const element *)base + index);
#endif
#if TYPE == 2
    return (float4)(as_float((uint)v.x << 16), as_float((uint)v.y << 16), as_float((uint)v.z << 16),
                    as_float((uint)v.w << 16));
#else
    return (float4)((float)v.x, (float)v.y, (float)v.z, (float)v.w);
#endif
#endif
}

INLINE bool aligned4(__global const char *base, uint pitch)
{
    return (ulong)base % (4 * sizeof(element)) == 0 && pitch % 4 == 0;
}

/* The value of c from its sum. */
INLINE float finish(const struct rmcp_matmul_math *math, float sum, __global const char *c,
                    __global const char *bias, uint row, uint column)
{
    float v = math->alpha * sum;
    if (math->beta != 0) v += math->beta * load(c, 0);
    if (math->epilogue.bias) v += load(bias, math->epilogue.bias == 1 ? row : column);
    return activate(&math->epilogue, v);
}

#endif
