/* targets.cl: the place in dx that each index leads to, in elements, or -1 where an index is out of
 * range; then that dimension has an error. */
#include "engine/kernels/target.h"

#include "engine/kernels/common.h"
#include "engine/ops/getitem/kernels/args.h"

#define THREADS 256
#define FOLLOW(number)                                                                             \
    (number < f.n_indices                                                                          \
         ? follow(((__global const int *)ADDRESS(i##number))[j * f.index[number].step],            \
                  f.index[number].size, f.index[number].stride, place,                             \
                  (__global int *)ADDRESS(error) + f.index[number].error)                          \
         : place)

/* Negative indices count from the end. */
INLINE int follow(int index, int size, uint stride, int place, __global int *error)
{
    const int at = index < 0 ? index + size : index;
    if (at < 0 || at >= size) *error = -1; /* whoever comes first, it is the same */
    return at < 0 || at >= size || place < 0 ? -1 : place + (int)((uint)at * stride);
}

__kernel WORKGROUP(THREADS) void targets(INPUT(i0), INPUT(i1), INPUT(i2), INPUT(i3), INPUT(i4),
                                         OUTPUT(error), OUTPUT(targets),
                                         struct rmcp_getitem_targets f)
{
    const uint j = GROUP_ID_X * THREADS + LOCAL_ID;
    if (j >= f.count) return;
    int place = 0;
    place = FOLLOW(0);
    place = FOLLOW(1);
    place = FOLLOW(2);
    place = FOLLOW(3);
    place = FOLLOW(4);
    ((__global int *)ADDRESS(targets))[j] = place;
}
