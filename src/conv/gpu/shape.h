/* shape.h: fills the structs of args.h and makes launches, for the algorithms that use kernels. */
#ifndef RMCP_CONV_GPU_SHAPE_H
#define RMCP_CONV_GPU_SHAPE_H

#include "core/device.h"
#include "conv/kernels/args.h"

struct rmcp_divider rmcp_divider_of(int64_t divisor); /* 1 … 2^31 */

struct rmcp_epilogue rmcp_epilogue_of(const struct rmcp_conv *conv);

/* ---- launches ---- */

/* Append a launch of kernel `<stem>_<type><rest>` with at least `work_items` in one dimension. The
 * record belongs to the list and stays where it is until the next is appended. */
rmcp_status rmcp_kernel_append(struct rmcp_launch_list *list, const char *stem, rmcp_type type,
                               const char *rest, int64_t work_items,
                               struct rmcp_kernel_launch **launch);

/* Its memory arguments: the two tensors that the pass reads (w x, w y or y x), the output, and the
 * bias or, without one, some tensor in its place. */
void rmcp_kernel_tensors(struct rmcp_kernel_launch *launch, const struct rmcp_conv *conv,
                         enum rmcp_slot output);

/* How many of `count` equal pieces of work that take `seconds` in all one launch may do: none
 * should run for more than 50 ms, so that a display stays usable and no watchdog fires. But never
 * fewer than `least`, which keep the device busy: fewer of them would take as long. */
int64_t rmcp_launch_quota(int64_t count, int64_t least, double seconds);

/* ---- implicit matrix products ---- */

/* NULL when 32 bits hold every offset in bytes and every coordinate, else the reason why not. */
const char *rmcp_gemm_refuse(const struct rmcp_conv *conv);

/* Backward data with a stride falls apart into phases: inputs a stride apart meet the same taps,
 * and no others. Other passes have one phase. */
int64_t rmcp_gemm_phases(const struct rmcp_conv *conv);

/* Fill everything that follows from the convolution alone; tiles and splits stay zero. False when
 * the phase has no outputs. A phase without taps has outputs and a reduction of length 0. */
bool rmcp_gemm_init(struct rmcp_gemm *g, const struct rmcp_conv *conv, int64_t phase);

/* Seconds to read and write each tensor of the pass once. */
double rmcp_traffic_seconds(const struct rmcp_conv *conv, const struct rmcp_caps *caps);

#endif
