/* product.c: matrix products for the algorithms of any operation, on whichever kind of device. */
#include "ops/gemm/product.h"

#include "ops/gemm/gpu.h"
#include "ops/gemm/host.h"

static bool is_gpu(const struct rmcp_caps *caps)
{
    return caps->kinds & RMCP_LAUNCH_KERNEL;
}

/* The fastest way of all families; `splits` is 0 when there is none. */
static struct rmcp_matmul_way fastest(const struct rmcp_matmul *p, const struct rmcp_caps *caps)
{
    struct rmcp_matmul_way best = { .splits = 0 };
    for (int family = 0; family < RMCP_MATMUL_FAMILIES; family++) {
        if (rmcp_matmul_family_refuse(p, (enum rmcp_matmul_family)family)) continue;
        const struct rmcp_matmul_way way =
            rmcp_matmul_choose(p, caps, (enum rmcp_matmul_family)family);
        if (!best.splits || way.seconds < best.seconds) best = way;
    }
    return best;
}

const char *rmcp_matmul_refuse(const struct rmcp_matmul *p, const struct rmcp_caps *caps)
{
    return is_gpu(caps) ? rmcp_matmul_family_refuse(p, RMCP_MATMUL_TILED) : NULL;
}

double rmcp_matmul_seconds(const struct rmcp_matmul *p, const struct rmcp_caps *caps)
{
    return is_gpu(caps) ? fastest(p, caps).seconds : rmcp_matmul_host_seconds(p, caps);
}

uint64_t rmcp_matmul_workspace(const struct rmcp_matmul *p, const struct rmcp_caps *caps)
{
    if (!is_gpu(caps)) return rmcp_matmul_host_workspace(p);
    const struct rmcp_matmul_way way = fastest(p, caps);
    return rmcp_matmul_parts_bytes(p, &way);
}

rmcp_status rmcp_matmul_emit(const struct rmcp_matmul *p, const struct rmcp_caps *caps,
                             uint64_t workspace, struct rmcp_launch_list *list)
{
    if (!is_gpu(caps)) return rmcp_matmul_host_emit(p, caps, workspace, list);
    const struct rmcp_matmul_way way = fastest(p, caps);
    if (!way.splits)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "a matrix product: %s",
                         rmcp_matmul_family_refuse(p, RMCP_MATMUL_TILED));
    return rmcp_matmul_emit_way(p, &way, caps, workspace, list);
}
