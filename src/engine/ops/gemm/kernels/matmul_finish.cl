/* matmul_finish.cl: adds up the parts that a split reduction left in the workspace, in a fixed order,
 * and makes c of them. */
#include "engine/ops/gemm/kernels/matmul.h"

__kernel WORKGROUP(256) void matmul_finish(INPUT(parts), OUTPUT(c), INPUT(bias),
                                           struct rmcp_matmul_finish p)
{
    const uint index = GROUP_ID_X * 256 + LOCAL_ID;
    if (index >= p.count) return;
    const uint row = divide(index, p.n), column = index - row * p.n.divisor;
    __global const float *const part =
        (__global const float *)ADDRESS(parts) + (ulong)GROUP_ID_Y * p.count + index;
    float sum = 0;
    #pragma unroll 4
    for (uint i = 0; i < p.parts; i++) sum += part[(ulong)i * p.part];
    __global char *const place =
        ADDRESS(c) + ((ulong)GROUP_ID_Y * p.c_stride + (ulong)row * p.c_pitch + column) * sizeof(element);
    store(place, 0, finish(&p.math, sum, place, ADDRESS(bias), row, column));
}
