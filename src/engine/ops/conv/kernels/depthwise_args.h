/* depthwise_args.h: the structs that the kernels of depthwise*.cl take by value, the same text for
 * C and for OpenCL C: one input channel in a group. */
#ifndef RMCP_CONV_KERNELS_DEPTHWISE_ARGS_H
#define RMCP_CONV_KERNELS_DEPTHWISE_ARGS_H

#include "engine/ops/conv/kernels/args.h"

/* Work-items are counted, from the fastest: `lanes` neighbouring channels, positions along w,
 * blocks of positions along h, positions along d, blocks of channels, images. When `staged`, all
 * work-items of a workgroup have the same block of channels, whose filters are brought to local
 * memory; then blocks of channels are slowest and the positions of all images are counted in whole
 * workgroups. In the windows tap_step is not negative. Names as in struct rmcp_steps. */
struct rmcp_depthwise {
    struct rmcp_window window[3];
    struct rmcp_divider lanes, blocks, channel_blocks;
    struct rmcp_divider share; /* forward, weights: channels of y that share one of x  */
    unsigned sums;             /* backward data: channels of y that one of x sums over */
    unsigned channels;         /* of the tensor that is written; weights: of y         */
    unsigned taps;             /* elements between the filters of neighbouring channels */
    unsigned first, count;     /* work-items of this launch                            */
    unsigned staged, images;
    struct rmcp_divider groups; /* staged: workgroups of a block of channels */
    unsigned gather_image, gather_channel;
    unsigned linear_image, linear_channel, linear_position, linear_tap;
    unsigned odd[2], outputs[2]; /* depthwise_spread.cl, along h and w: 1 when the padding is odd;
                                    elements of the output */
    struct rmcp_epilogue epilogue;
};

/* Weight gradients: a workgroup sums over `length` positions (image, d, block, w) for `lanes`
 * channels; workgroups are counted by chunk of taps, slice, block of channels. */
struct rmcp_depthwise_sums {
    struct rmcp_divider chunks, slices;
    unsigned positions, length;
    unsigned partial; /* 1: out is f32 workspace, one part for each slice */
    unsigned part;    /* elements of a part                               */
};

/* depthwise_finish.cl: adds up the parts. */
struct rmcp_depthwise_finish {
    unsigned count, parts;
};

#endif
