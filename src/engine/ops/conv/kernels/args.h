/* args.h: the structs that convolution's kernels take by value, the same text for C and for OpenCL
 * C. */
#ifndef RMCP_CONV_KERNELS_ARGS_H
#define RMCP_CONV_KERNELS_ARGS_H

#include "engine/kernels/args.h"

/* ---- direct.cl: any problem, in 64 bits ---- */

/* Distances in elements, as in struct rmcp_strides. */
struct rmcp_direct_strides {
    rmcp_long outer, inner, space[3];
};

struct rmcp_direct {
    rmcp_long first, count; /* the outputs of this launch                                  */
    rmcp_long n, group_c, group_k;
    rmcp_long channels; /* of the tensor that is written                               */
    rmcp_long input[3], filter[3], output[3], pad[3], stride[3], dilation[3];
    struct rmcp_direct_strides x, w, y;
    unsigned pass, channels_last; /* an rmcp_conv_pass; 1 for NHWC */
    struct rmcp_epilogue epilogue;
};

/* ---- gemm.cl, thin.cl and narrow.cl: tensors below 4 GiB, in 32 bits ---- */

/* One spatial dimension. Position p and tap t meet at coordinate p * step + first + t * tap_step of
 * the gathered tensor; outside [0, size) there is zero. */
struct rmcp_window {
    struct rmcp_divider positions, taps;
    int step, first, tap_step;
    unsigned size;
    unsigned gather;        /* elements between neighbours in the gathered tensor       */
    unsigned position, tap; /* elements one position, one tap apart in the other tensor */
    unsigned first_bit;     /* of this dimension's taps in a mask of taps               */
};

/* An implicit matrix product: out[row, column] = sum over r of a[row, r] * b[r, column].
 * b is gathered: it is never built, each element is fetched from where the convolution has it.
 * One of column and r counts pixels (image, position), the other taps (channel, tap). */

/* How an index of pixels or taps becomes offsets, together with the windows. */
struct rmcp_steps {
    struct rmcp_divider channels; /* of one group, on the side of the taps            */
    unsigned sum_pixels;          /* 1: r counts pixels and columns count taps        */
    unsigned channels_last;       /* 1: channel is the fastest digit of a tap index   */
    unsigned gather_image, gather_channel;
    unsigned linear_image, linear_channel; /* in the tensor that is not gathered      */
    unsigned linear_position, linear_tap;  /* offset of position 0 and of tap 0 in it */
};

struct rmcp_gemm {
    struct rmcp_window window[3];
    struct rmcp_steps steps;
    struct rmcp_divider row_tiles;
    unsigned rows, columns, reduction;
    unsigned share;          /* length of the reduction that one split takes     */
    unsigned first_tile;     /* of this launch                                   */
    unsigned padded;         /* 1: some pixels and taps meet outside the tensor  */
    unsigned a_row, out_row; /* elements between rows                            */
    unsigned a_group, b_group, out_group, bias_group;
    unsigned partial; /* 1: out is f32 workspace, one part for each split */
    unsigned part;    /* elements of a part                               */
    unsigned sparse;  /* 1: parts without products are not stored         */
    struct rmcp_epilogue epilogue;
};

/* The phases of a data gradient whose strides are 1 and 2, in one launch. The struct rmcp_gemm
 * beside it has the windows of even inputs in every dimension; `other` are those of odd ones, for
 * the phases that have the bit `mask`. Workgroups come in rounds: `block` tiles of the phase with
 * the longest reduction, then the same tiles of the next. */
struct rmcp_phases {
    unsigned count;                             /* 1, 2, 4 or 8                                */
    unsigned order;                             /* the phases, longest first: 4 bits each      */
    struct rmcp_divider block, round;           /* tiles of a block; workgroups of a round    */
    unsigned images, channels;                  /* factors of columns and of the reduction     */
    unsigned mask[3];                           /* 0: no odd inputs                            */
    unsigned taps[3], other_taps[3];            /* that meet even and odd inputs: perhaps none */
    unsigned linear_position[3], linear_tap[3]; /* of odd inputs: to add to steps'  */
    struct rmcp_window other[3];
};

/* ---- gemm.cl and thin.cl with CELLS: a column is a cell of the input, as large as the stride ----
 */

/* One spatial dimension: cell p is the inputs from p * stride + first on; those outside [0, size)
 * do not exist. */
struct rmcp_cell {
    struct rmcp_divider stride; /* at most RMCP_CELL_MOST */
    int first;
    unsigned size;
    unsigned step;  /* elements between neighbours */
    unsigned phase; /* lone: where in a cell the product belongs */
};
enum { RMCP_CELL_MOST = 31 };

struct rmcp_cells {
    struct rmcp_cell cell[3];
    unsigned lone; /* 1: a row is a channel, and all of a cell but one input is zero; 0: a row is a
                      channel and an input of the cell */
};

/* arrange.cl: weights for CELLS, or for phases: out[k][tap][row], a row being a channel and an
 * input of a cell. Input i of a cell and tap t meet where the filter has tap (i + base + t *
 * stride) / dilation, if it has. */
struct rmcp_arrange {
    struct rmcp_divider stride[3], taps[3], dilation[3];
    int base[3];
    unsigned filter[3];
    struct rmcp_divider rows, chunk_rows; /* of a group; of a chunk             */
    struct rmcp_divider chunks;           /* of the channels of a group         */
    unsigned channels, chunk;             /* of a group, of a chunk             */
};

/* ---- narrow.cl: few rows; used beside a struct rmcp_gemm ---- */

struct rmcp_narrow {
    unsigned first, count;            /* outputs of this launch                         */
    struct rmcp_divider rows, groups; /* rows of one group, groups                      */
    struct rmcp_divider columns;      /* narrow_weights: of the product                */
    unsigned lanes;                   /* narrow_weights: neighbours that differ in row */
};

/* ---- reduce.cl: the parts that splits have left in the workspace ---- */

/* One dimension of a strided data gradient: its inputs have `taps` taps where input % stride is
 * `phase`, and `other_taps` elsewhere. */
struct rmcp_phase_taps {
    struct rmcp_divider size, stride;
    unsigned phase, taps, other_taps;
};

struct rmcp_reduce {
    unsigned count, parts;               /* elements of a part and of the output; parts */
    struct rmcp_divider inner, channels; /* channel of output i: i / inner % channels */
    struct rmcp_epilogue epilogue;
    unsigned shift;  /* 2^shift work-items, up to 2^8, share the parts of an output */
    unsigned sparse; /* 1: an output has only the parts of its phase       */
    unsigned terms;  /* of one tap                                         */
    struct rmcp_divider last, share; /* channels that are the last dimension; terms of a part */
    struct rmcp_phase_taps dim[3];
};

#endif
