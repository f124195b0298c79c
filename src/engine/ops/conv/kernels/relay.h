/* relay.h: the argument of relay.cl, the same text for C and OpenCL C. */
#ifndef RMCP_CONV_KERNELS_RELAY_H
#define RMCP_CONV_KERNELS_RELAY_H

#include "engine/kernels/args.h"

/* So many matrices, one after the other, whose rows become columns. */
struct rmcp_relay {
    unsigned rows, columns;                      /* of each matrix as it is read */
    struct rmcp_divider tile_rows, tile_columns; /* of a tile                    */
    struct rmcp_divider row_tiles, column_tiles; /* of a matrix                  */
    unsigned first;                              /* tile of this launch          */
};

#endif
