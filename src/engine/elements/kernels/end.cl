/* end.cl: the end of a sum that several workgroups shared, under any NAME. */
#include "engine/kernels/target.h"

#include "engine/kernels/fold.h"

__kernel WORKGROUP(256) void NAME(INPUT(parts), OUTPUT(out), struct rmcp_fold_end e)
{
    __local float room[256];
    fold_end(ADDRESS(parts), ADDRESS(out), &e, room);
}
