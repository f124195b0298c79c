/* count.cl: the counter in a generator's state, words 2 and 3, goes on by one. */
#include "engine/kernels/target.h"

__kernel WORKGROUP(32) void dropout_count(OUTPUT(state))
{
    if (LOCAL_ID > 0 || GROUP_ID_X > 0) return;
    __global uint *word = (__global uint *)ADDRESS(state);
    word[2] += 1;
    if (word[2] == 0) word[3] += 1;
}
