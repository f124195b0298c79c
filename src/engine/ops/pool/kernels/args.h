/* args.h: what pooling's kernels take by value, the same text for C and for OpenCL C. All offsets
 * of one launch fit in 32 bits, in bytes. */
#ifndef RMCP_POOL_KERNELS_ARGS_H
#define RMCP_POOL_KERNELS_ARGS_H

#include "engine/kernels/args.h"

/* One loop over work: how often it turns, the elements between two turns in each tensor, and what a
 * turn adds to the coordinates. x stands for x or dx, y for y or dy. */
struct rmcp_pool_turn {
    struct rmcp_divider size;
    unsigned x, y, index;
    unsigned d, h, w;
};

struct rmcp_pool_args {
    struct rmcp_pool_turn turn[5]; /* fastest first */
    unsigned n_turns;
    unsigned count; /* of all turns                                                        */
    unsigned in[3], out[3], window[3], stride[3], pad[3];
    unsigned x[3], y[3], index[3];  /* elements between neighbours                         */
    struct rmcp_divider divider[3]; /* wide: by `window`; gather: by `stride`              */
    float alpha, beta;
    float share;            /* 1 / taps                                                        */
    unsigned taps;          /* elements of a window                                            */
    unsigned kind;          /* RMCP_POOL_MEAN …                                                */
    unsigned full;          /* 1: no window has padding, or it counts                          */
    unsigned index_bytes;   /* 1, 2, 4 or 8                                                   */
    unsigned image;         /* 1: indices count in the image                                   */
    unsigned lane_bits;     /* wide: 1 << lane_bits work-items share an output                 */
    unsigned along;         /* wide: 1: neighbouring work-items share one; 0: have one each     */
    unsigned line;          /* wide: 1: a window is one row without padding                     */
    unsigned align;         /* gather: 1: strips begin where dx is aligned                      */
    unsigned index_channel; /* tiles: elements from one channel's index to the next            */
};

/* even.cl: `count` elements of images of `length`. */
#define RMCP_POOL_EVEN 4 /* chunks of 16 bytes of a work-item */
struct rmcp_pool_even {
    struct rmcp_divider length;
    unsigned count, wide; /* wide: 1: images are whole chunks */
    float share, beta;    /* share: alpha / length            */
};

#define RMCP_POOL_MEAN 0
#define RMCP_POOL_MAX 1
#define RMCP_POOL_MAX_INDEX 2

#define RMCP_POOL_LANES 4 /* elements of dx side by side of a work-item in gather.cl */
/* Rows of a work-item's tile in tiles.cl and back.cl: as many as there are registers for, where
 * windows overlap. */
#define RMCP_POOL_HIGH(bytes, stride, last)                                                        \
    ((bytes) == 2 && (last) ? 1 : (stride) == 1 && !(last) ? 4 : 2)
#define RMCP_POOL_HIGH_BACK(window, stride, last)                                                  \
    ((last) && (stride) == 1 ? 1 : (last) || (window) == (stride) ? 2 : 4)
/* Columns of x or dx of one, where rows are neighbours: what is written are 16 bytes. */
#define RMCP_POOL_SPAN(bytes, stride, back) ((bytes) == 4 && ((back) || (stride) == 1) ? 4 : 8)
#define RMCP_POOL_CHANNELS(bytes) (16 / (bytes)) /* channels of one, where channels are */
#define RMCP_POOL_STRIP 4 /* outputs of a work-item in strips.cl, one above the other */

#endif
