/* count.cl: the number of steps goes on by one, unless the step was left out. */
#include "engine/kernels/target.h"

__kernel WORKGROUP(32) void adam_count(OUTPUT(step), INPUT(inf), uint guarded)
{
    if (LOCAL_ID > 0 || GROUP_ID_X > 0) return;
    if (guarded && *(__global const uchar *)ADDRESS(inf) != 0) return;
    *(__global int *)ADDRESS(step) += 1;
}
