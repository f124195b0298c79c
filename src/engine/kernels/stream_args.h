/* stream_args.h: what kernels that go element by element over several tensors take by value, the
 * same text for C and OpenCL C. All offsets of one launch fit in 32 bits, in bytes. */
#ifndef RMCP_KERNEL_STREAM_ARGS_H
#define RMCP_KERNEL_STREAM_ARGS_H

#include "engine/kernels/args.h"

#define RMCP_STREAMS 10      /* tensors at the most                 */
#define RMCP_STREAM_CHUNKS 2 /* of a work-item, unless it says other */

/* One loop: how often it turns, and the elements between two turns in each tensor. */
struct rmcp_stream_turn {
    struct rmcp_divider size;
    unsigned step[RMCP_STREAMS];
};

/* Rows of chunks; the first tensor is written, and decides where a chunk begins. */
struct rmcp_stream {
    struct rmcp_stream_turn outer[4]; /* fastest first; those that are not there turn once */
    unsigned n_outer;
    struct rmcp_divider chunks;  /* of a row                                               */
    unsigned count;              /* of all rows                                            */
    unsigned length;             /* elements of a row                                      */
    unsigned step[RMCP_STREAMS]; /* elements between its neighbours                        */
    unsigned
        align; /* 1: chunks begin where the first tensor is aligned, the first one before the row */
};

#endif
