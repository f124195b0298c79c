/* gpu.h: pooling's launches: cut into pieces of images and channels, in the order of memory. */
#ifndef RMCP_OPS_POOL_GPU_H
#define RMCP_OPS_POOL_GPU_H

#include "gpu/launch.h"
#include "ops/pool/kernels/args.h"
#include "ops/pool/pool.h"

/* How a kernel divides the work: outputs in strips of `rows` along the height, or elements of dx in
 * strips of `columns` along the width. */
struct rmcp_pool_way {
    int64_t rows, columns;
    double seconds; /* how long all of it takes, about */
};

/* NULL, or the reason why kernels with 32-bit offsets cannot do it. */
const char *rmcp_pool_refuse(const struct rmcp_request *request, const struct rmcp_pool_way *way);

/* The launches that it takes. */
int64_t rmcp_pool_launches(const struct rmcp_request *request, const struct rmcp_pool_way *way);

/* Append them. `adjust` may change arguments and work-items of each. */
typedef void rmcp_pool_adjust(const struct rmcp_request *request, struct rmcp_pool_args *args,
                              int64_t *work_items);
rmcp_status rmcp_pool_emit(const struct rmcp_request *request, const struct rmcp_pool_way *way,
                           const char *stem, rmcp_pool_adjust *adjust,
                           struct rmcp_launch_list *list);

/* Seconds to move all bytes, or to compute with `instructions` for each element of each window. */
double rmcp_pool_seconds(const struct rmcp_request *request, double instructions);

/* Elements of x between those of two work-items side by side in forward. */
int64_t rmcp_pool_step(const struct rmcp_form *form);

#endif
