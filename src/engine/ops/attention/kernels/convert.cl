/* convert.cl: halves to floats and back: everything between is computed in f32. */
#include "engine/kernels/exponential.h"

__kernel WORKGROUP(256) void attention_to_float(INPUT(from), OUTPUT(to), ulong count)
{
    const ulong i = (ulong)GROUP_ID_X * 256 + LOCAL_ID;
    if (i < count) FLOATS(to)[i] = to_float((__global const element *)ADDRESS(from) + i);
}

__kernel WORKGROUP(256) void attention_from_float(INPUT(from), OUTPUT(to), ulong count)
{
    const ulong i = (ulong)GROUP_ID_X * 256 + LOCAL_ID;
    if (i < count) from_float((__global element *)ADDRESS(to) + i, CONST_FLOATS(from)[i]);
}
