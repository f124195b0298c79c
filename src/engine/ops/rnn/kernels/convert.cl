/* convert.cl: halves to floats and back: everything between is computed in f32. */
#include "engine/ops/rnn/kernels/cell.h"

__kernel WORKGROUP(256) void rnn_to_float(INPUT(from), OUTPUT(to), uint count)
{
    const uint i = GROUP_ID_X * 256 + LOCAL_ID;
    if (i < count) FLOATS(to)[i] = load(ADDRESS(from), i);
}

__kernel WORKGROUP(256) void rnn_from_float(INPUT(from), OUTPUT(to), uint count)
{
    const uint i = GROUP_ID_X * 256 + LOCAL_ID;
    if (i < count) store(ADDRESS(to), i, CONST_FLOATS(from)[i]);
}
