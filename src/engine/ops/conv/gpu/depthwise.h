/* depthwise.h: which kernel computes a convolution with one input channel in a group, and with
 * which arguments. */
#ifndef RMCP_CONV_GPU_DEPTHWISE_H
#define RMCP_CONV_GPU_DEPTHWISE_H

#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/gpu/shape.h"
#include "engine/ops/conv/kernels/depthwise_args.h"

/* A kernel, and what one work-item (of weight gradients: one turn of its loop) does. */
struct rmcp_depthwise_way {
    const char *stem;
    char variant[8];
    bool spread;         /* depthwise_spread.cl: all phases of a stride of 2 at once */
    int64_t rows;        /* positions along h that it takes                          */
    int64_t threads;     /* of a workgroup                                           */
    double instructions; /* about                                                    */
    double setup;        /* more of them, of each work-item of weight gradients      */
    double waiting;      /* seconds that it waits for loads at least                 */
    int64_t at_once;     /* weight gradients: workgroups that a compute unit holds   */
};

struct rmcp_depthwise_way rmcp_depthwise_choose(const struct rmcp_request *request);

/* Launches of the way: one for each phase of the stride, or one in all. */
int64_t rmcp_depthwise_phases(const struct rmcp_convolution *conv,
                              const struct rmcp_depthwise_way *way);

/* Fill everything but `first` and `count`. False when the phase has no outputs. */
bool rmcp_depthwise_init(struct rmcp_depthwise *p, const struct rmcp_convolution *conv,
                         const struct rmcp_depthwise_way *way, int64_t phase);

/* Work-items of all channels and positions of one launch. */
int64_t rmcp_depthwise_items(const struct rmcp_depthwise *p, const struct rmcp_convolution *conv);

/* How the weight gradients are shared out. */
struct rmcp_depthwise_slices {
    struct rmcp_depthwise_sums sums;
    int64_t slices, groups; /* more than one slice needs workspace; workgroups in all */
    int64_t turns, levels;  /* of a work-item's loop; halvings when they add up       */
};
struct rmcp_depthwise_slices rmcp_depthwise_slice(const struct rmcp_request *request,
                                                  const struct rmcp_depthwise_way *way,
                                                  const struct rmcp_depthwise *p);

#endif
