/* count.cl: what goes on by one after a step: the number of steps, unless the step was left out; and the counter in a
 * generator's state, words 2 and 3. */
#include "engine/kernels/target.h"

#if ADAM
__kernel WORKGROUP(32) void adam_count(OUTPUT(step), INPUT(inf), uint guarded)
{
    if (LOCAL_ID > 0 || GROUP_ID_X > 0) return;
    if (guarded && *(__global const uchar *)ADDRESS(inf) != 0) return;
    *(__global int *)ADDRESS(step) += 1;
}
#else
__kernel WORKGROUP(32) void dropout_count(OUTPUT(state))
{
    if (LOCAL_ID > 0 || GROUP_ID_X > 0) return;
    __global uint *word = (__global uint *)ADDRESS(state);
    word[2] += 1;
    if (word[2] == 0) word[3] += 1;
}
#endif
