/* launch.h: launches of kernels from the table, for the GPU algorithms of all operations. */
#ifndef RMCP_GPU_LAUNCH_H
#define RMCP_GPU_LAUNCH_H

#include "engine/core/device.h"
#include "engine/core/launch.h"
#include "engine/kernels/args.h"

struct rmcp_divider rmcp_divider_of(int64_t divisor); /* 1 … 2^31 */

/* Append a launch of kernel `<stem>_<type><rest>` with at least `work_items` in one dimension. The
 * record belongs to the list and stays where it is until the next is appended. */
rmcp_status rmcp_kernel_append(struct rmcp_launch_list *list, const char *stem, rmcp_type type,
                               const char *rest, int64_t work_items,
                               struct rmcp_kernel_launch **launch);

/* How many of `count` equal pieces of work that take `seconds` in all one launch may do: none
 * should run for more than 50 ms, so that a display stays usable and no watchdog fires. But never
 * fewer than `least`, which keep the device busy: fewer of them would take as long. */
int64_t rmcp_launch_quota(int64_t count, int64_t least, double seconds);

/* Compute units of a device; 1 where its driver does not tell. */
static inline int64_t rmcp_launch_units(const struct rmcp_caps *caps)
{
    return caps->compute_units ? caps->compute_units : 1;
}

/* The least power of two that is not below n, but at most `most`. */
static inline int64_t rmcp_power_of_two(int64_t n, int64_t most)
{
    int64_t power = 1;
    while (power < n && power < most) power *= 2;
    return power;
}

#endif
