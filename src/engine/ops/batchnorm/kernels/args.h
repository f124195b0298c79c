/* args.h: the structs that batch normalisation's kernels take by value, the same text for C and for
 * OpenCL C. */
#ifndef RMCP_OPS_BATCHNORM_KERNELS_ARGS_H
#define RMCP_OPS_BATCHNORM_KERNELS_ARGS_H

#include "engine/kernels/args.h"

/* What happens to statistics and values, whatever the layout. */
struct rmcp_norm_figures {
    float share;  /* 1 / count, of the elements behind one parameter              */
    float unbias; /* biased to unbiased variance                                  */
    float epsilon;
    float momentum, keep; /* keep: 1 - momentum                                           */
    unsigned runs;        /* 1: update the running statistics                             */
    unsigned saves;       /* 1: train writes, backward reads the saved statistics         */
    unsigned variances;   /* 1: apply is given variances, else inverses                   */
    struct rmcp_epilogue epilogue;
};

/* rows.h: data is [outer][params][inner]. The `lanes` work-items of one channel share its steps,
 * which are rows * row in number, of 1 or of 4 elements: each takes every lanes-th. */
struct rmcp_norm_walk {
    struct rmcp_divider row; /* steps in a row: inner / width                              */
    unsigned skip;           /* steps along the row from one step of a work-item to its next */
    unsigned share;          /* steps of one workgroup                                     */
    rmcp_long jump;          /* elements that `lanes` steps are apart, unless the row ends:
                                then image - inner more                                    */
    rmcp_long steps;         /* of the whole channel                                       */
};

struct rmcp_norm_rows {
    struct rmcp_norm_walk walk[2]; /* by single elements, by fours                          */
    rmcp_long image, inner;        /* elements between rows of a channel, and in one        */
    unsigned params;
    unsigned lane_bits;                /* lanes is 1 << lane_bits                               */
    unsigned fours;                    /* 1: rows are a multiple of four long                   */
    unsigned first_group, first_split; /* of this launch                                    */
    struct rmcp_norm_figures figures;
};

/* columns.h: data is [rows][params]. A workgroup has `lanes` work-items side by side, each with
 * four columns, and takes `share` rows. */
struct rmcp_norm_columns {
    rmcp_long rows, params;
    unsigned lane_bits;
    unsigned share;
    unsigned fours; /* 1: params is a multiple of four */
    unsigned first_group, first_split;
    struct rmcp_norm_figures figures;
};

/* finish_*.cl: merge what the splits have left in the workspace, [figure][params][splits]. The
 * `lanes` work-items of one parameter share the splits. */
struct rmcp_norm_finish {
    rmcp_long params;
    unsigned splits;
    unsigned lane_bits;
    struct rmcp_norm_figures figures;
};

#endif
