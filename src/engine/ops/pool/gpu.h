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
    int64_t before; /* rows above the first that the first tile has */
    double seconds; /* how long all of it takes, about */
    bool fixed;     /* the kernel knows its window: dimensions must stay what they are */
};

/* NULL, or the reason why kernels with 32-bit offsets cannot do it. */
const char *rmcp_pool_refuse(const struct rmcp_request *request, const struct rmcp_pool_way *way);

/* The launches that it takes. */
int64_t rmcp_pool_launches(const struct rmcp_request *request, const struct rmcp_pool_way *way);

/* Append them, of the kernel whose name begins with `stem` and ends with `rest`. `adjust` may
 * change arguments and work-items of each. */
typedef void rmcp_pool_adjust(const struct rmcp_request *request, struct rmcp_pool_args *args,
                              int64_t *work_items);
rmcp_status rmcp_pool_emit(const struct rmcp_request *request, const struct rmcp_pool_way *way,
                           const char *stem, const char *rest, rmcp_pool_adjust *adjust,
                           struct rmcp_launch_list *list);

/* Seconds to move all bytes, or to compute with `instructions` for each element of each window. */
double rmcp_pool_seconds(const struct rmcp_request *request, double instructions);

/* Whether kernels for windows that are known (tiles.cl, back.cl) take it: NULL, and `way` and the
 * end of the kernel's name; or why not. */
struct rmcp_pool_known {
    struct rmcp_pool_way way;
    char rest[16];
};
const char *rmcp_pool_known(const struct rmcp_request *request, struct rmcp_pool_known *known);
double rmcp_pool_known_cost(const struct rmcp_request *request);
rmcp_status rmcp_pool_known_emit(const struct rmcp_request *request, const char *stem,
                                 struct rmcp_launch_list *list);

/* Elements of x between those of two work-items side by side in forward. */
int64_t rmcp_pool_step(const struct rmcp_form *form);

#endif
