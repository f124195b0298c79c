/* winograd.h: the structs that winograd.cl, winograd4.cl and product.cl take by value, the same
 * text for C and for OpenCL C. */
#ifndef RMCP_CONV_KERNELS_WINOGRAD_H
#define RMCP_CONV_KERNELS_WINOGRAD_H

#include "engine/kernels/args.h"

/* ---- winograd.cl: 3x3, stride 1; tensors below 4 GiB ---- */

/* What a workgroup makes: rows (channels of the output), tiles of 2 x 2 outputs; how many channels
 * it adds up between two barriers, and how many rows of sums it exchanges between two. */
#define RMCP_WINOGRAD_POSITIONS 16
#define RMCP_WINOGRAD_CHUNK 16
#define RMCP_WINOGRAD_ROWS 64
#define RMCP_WINOGRAD_TILES 32
#define RMCP_WINOGRAD_DEPTH 8

/* Filters become [group][channel][block of rows][position][slot] in f32. */
struct rmcp_winograd_filter {
    struct rmcp_divider blocks, channels; /* blocks of rows; channels, a multiple of the depth */
    unsigned count;                       /* of filters with those that pad rows and channels     */
    unsigned rows, last_channel;          /* that there are in a group                            */
    unsigned first, group, row, channel, y,
        x; /* offsets, modulo 2^32: backward data turns filters around */
};

/* Outputs, tile by tile: the tile in (image, line, place in it) begins at twice its place. */
struct rmcp_winograd {
    struct rmcp_divider across, down;      /* tiles in a line, lines of an image      */
    struct rmcp_divider blocks;            /* of rows                                 */
    unsigned tiles, rows, channels;        /* rows and channels of a group            */
    unsigned filter_channels;              /* channels, rounded up to the depth       */
    unsigned filter_group, filter_channel; /* floats between them                */
    unsigned share;                        /* channels that one split takes           */
    unsigned first_task;                   /* of this launch                          */
    int first_y, first_x;                  /* where the first tile begins             */
    unsigned height, width;                /* of the tensor that is read              */
    unsigned in_image, in_channel, in_y, in_x, in_group;
    unsigned out_height, out_width, out_image, out_channel, out_y, out_x;
    unsigned channels_last;
    unsigned partial, part; /* as in struct rmcp_gemm                  */
    struct rmcp_epilogue epilogue;
};

/* ---- winograd_fused.cl: beside a struct rmcp_winograd, of which the filters' members are not used
 * ---- */

#define RMCP_WINOGRAD_FUSED_DEPTH 4

/* Elements between neighbours of the filters. */
struct rmcp_winograd_fused {
    unsigned group, row, channel, y, x;
    unsigned together; /* 1: the taps of a filter are next to each other          */
    unsigned by_rows;  /* 1: rows are nearer to each other than channels          */
    unsigned turned;   /* 1: filters are turned around                            */
};

/* ---- product.cl: many products of f32 matrices of the same size ---- */

#define RMCP_PRODUCT_SLICES 8 /* the reduction is a multiple of it */

struct rmcp_product {
    struct rmcp_divider row_tiles;
    unsigned reduction, share;            /* share: what one split takes                */
    unsigned a_pitch, b_pitch, out_pitch; /* floats between lines                     */
    unsigned a_batch, b_batch, out_batch; /* floats between matrices                  */
    unsigned part;                        /* floats between the results of splits       */
    unsigned first_tile;                  /* of this launch                             */
    unsigned add;                         /* 1: to what is there, 0: in its place       */
};

/* ---- winograd4.cl: transforms around them ---- */

/* Tiles of a tensor, 4 x 4 outputs apart, that become or came from [position][slow][fast]. */
struct rmcp_tiles {
    struct rmcp_divider across, down; /* tiles in a line, lines of an image              */
    struct rmcp_divider fast;         /* tiles, or channels with channels last, padded   */
    unsigned count;                   /* slow times fast                                 */
    unsigned first_tile, tiles;       /* the first here; all of the tensor               */
    unsigned channels;
    int first_y, first_x; /* where the tensor's first tile begins            */
    unsigned height, width;
    unsigned image, channel, y, x; /* elements between neighbours in the tensor       */
    unsigned channels_last;
    unsigned batch; /* floats between positions                        */
    struct rmcp_epilogue epilogue;
};

/* Filters, which become [position][channel][row], or their gradient, from [position][row][channel].
 */
struct rmcp_taps {
    struct rmcp_divider fast;
    unsigned count, rows, channels;
    unsigned first, row, channel, y, x; /* offsets, as in struct rmcp_winograd_filter */
    unsigned batch, parts, part;        /* as in struct rmcp_product                  */
};

#endif
