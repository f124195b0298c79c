/* gpu.h: pooling's launches: cut into pieces of images and channels, in the order of memory. */
#ifndef RMCP_OPS_POOL_GPU_H
#define RMCP_OPS_POOL_GPU_H

#include "engine/gpu/launch.h"
#include "engine/ops/pool/kernels/args.h"
#include "engine/ops/pool/pool.h"

/* How a kernel divides the work: outputs, or elements of dx, in tiles of rows, columns and
 * channels. */
struct rmcp_pool_way {
    int64_t rows, columns, channels;
    int64_t before;     /* rows above the first that the first tile has */
    double seconds;     /* how long all of it takes, about */
    bool fixed;         /* the kernel knows its window: dimensions must stay what they are */
    unsigned lane_bits; /* wide: work-items of an output, as a power of two          */
    char rest[16];      /* the end of the kernel's name                              */
    int64_t n, c;       /* images of a launch, and channels of them (rmcp_pool_consider) */
};

/* What an algorithm answers that divides the work so, whose own part of `way` is `mine`: kernels
 * with 32-bit offsets may not do it. Cuts it into launches. */
rmcp_status rmcp_pool_consider(const struct rmcp_request *request, struct rmcp_way *way,
                               struct rmcp_pool_way mine);

/* The same for kernels that know their windows (tiles.cl, back.cl): how they divide the work
 * follows from these. */
rmcp_status rmcp_pool_known(const struct rmcp_request *request, struct rmcp_way *way);

/* Append the launches, of the kernel whose name begins with `stem`. `adjust` may change arguments
 * and work-items of each. */
typedef void rmcp_pool_adjust(const struct rmcp_request *request, const struct rmcp_pool_way *way,
                              struct rmcp_pool_args *args, int64_t *work_items);
rmcp_status rmcp_pool_emit(const struct rmcp_request *request, const struct rmcp_way *way,
                           const char *stem, rmcp_pool_adjust *adjust,
                           struct rmcp_launch_list *list);

/* Seconds to move all bytes, or to compute with `instructions` for each element of each window. */
double rmcp_pool_seconds(const struct rmcp_request *request, double instructions);

/* Elements of x between those of two work-items side by side in forward. */
int64_t rmcp_pool_step(const struct rmcp_form *form);

#endif
