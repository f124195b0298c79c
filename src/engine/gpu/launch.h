/* launch.h: launches of kernels from the table, for the GPU algorithms of all operations. */
#ifndef RMCP_GPU_LAUNCH_H
#define RMCP_GPU_LAUNCH_H

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

#endif
