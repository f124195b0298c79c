/* args.h: what the kernels of dropout take by value, the same text for C and for OpenCL C. */
#ifndef RMCP_DROPOUT_KERNELS_ARGS_H
#define RMCP_DROPOUT_KERNELS_ARGS_H

#include "engine/kernels/stream_args.h"

/* Where the mask comes from: in the order of the words of case strings. */
#define RMCP_DROPOUT_DRAWN 0 /* the generator                              */
#define RMCP_DROPOUT_SAVED 1 /* the same, and it is written to the reserve */
#define RMCP_DROPOUT_GIVEN 2 /* the reserve                                */

struct rmcp_dropout_math {
    rmcp_long index; /* of the launch's first element, counted densely           */
    unsigned mask;
    unsigned threshold; /* a number below it drops the element                    */
    unsigned all;       /* 1: every element is dropped                            */
    unsigned before;    /* 1: of the numbers one count ago                        */
    float scale;
};

#endif
