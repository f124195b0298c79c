/* shape.h: fills the structs of convolution's kernels, for the algorithms that use them. */
#ifndef RMCP_CONV_GPU_SHAPE_H
#define RMCP_CONV_GPU_SHAPE_H

#include "engine/core/device.h"
#include "engine/gpu/launch.h"
#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/kernels/args.h"

struct rmcp_epilogue rmcp_epilogue_of(const struct rmcp_convolution *conv);

/* The memory arguments of a launch: the two tensors that the pass reads (w x, w y or y x), the
 * output, and the bias or, without one, some tensor in its place. */
void rmcp_kernel_tensors(struct rmcp_kernel_launch *launch, const struct rmcp_convolution *conv,
                         unsigned output);

/* Append the launch that adds up the parts of a split sum: f32 copies of the output, one after the
 * other, `begin` bytes behind the start of the workspace. */
rmcp_status rmcp_parts_emit(const struct rmcp_request *request, int64_t parts, uint64_t begin,
                            struct rmcp_launch_list *list);

/* The same for a data gradient, in the phases of whose strides outputs have parts of `share` terms
 * until all of theirs are in one, and no others; the strides are 1 and 2, or only one phase has
 * taps. */
rmcp_status rmcp_sparse_parts_emit(const struct rmcp_request *request, int64_t parts, int64_t share,
                                   struct rmcp_launch_list *list);

/* ---- implicit matrix products ---- */

/* NULL when 32 bits hold every offset in bytes and every coordinate, else the reason why not. */
const char *rmcp_gemm_refuse(const struct rmcp_convolution *conv);

/* Whether some position and tap meet outside of the tensor. */
bool rmcp_window_is_padded(const struct rmcp_window *w);

/* The bit that dimension i's only tap has when it never misses the tensor; else 0: it needs its
 * own. */
unsigned rmcp_gemm_spare_bit(const struct rmcp_convolution *conv, int i);

/* Backward data with a stride falls apart into phases: inputs a stride apart meet the same taps,
 * and no others. Other passes have one phase. */
enum { RMCP_GEMM_MOST_PHASES = 64 };
int64_t rmcp_gemm_phases(const struct rmcp_convolution *conv);

/* Fill everything that follows from the convolution alone; tiles and splits stay zero. False when
 * the phase has no outputs. A phase without taps has outputs and a reduction of length 0. */
bool rmcp_gemm_init(struct rmcp_gemm *g, const struct rmcp_convolution *conv, int64_t phase);

/* The same for launches of kernels that take a struct rmcp_phases, too: with strides of 1 and 2 all
 * phases are one launch, else each is one. `g` then has the most columns of all phases in it. */
int64_t rmcp_gemm_launches(const struct rmcp_convolution *conv);
bool rmcp_gemm_init_launch(struct rmcp_gemm *g, struct rmcp_phases *p,
                           const struct rmcp_convolution *conv, int64_t launch);

/* Fill in how the phases of a launch take turns, each with that many tiles; returns the workgroups.
 * A device has `at_once` of them. */
int64_t rmcp_phases_workgroups(struct rmcp_phases *p, int64_t tiles, int64_t at_once);

/* Seconds to read and write each tensor of the pass once. */
double rmcp_traffic_seconds(const struct rmcp_convolution *conv, const struct rmcp_caps *caps);

#endif
