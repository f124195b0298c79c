/* matmul.c: matrix products for the algorithms of any operation, on whichever kind of device. */
#include "engine/matmul/matmul.h"

#include "engine/matmul/host.h"
#include "engine/matmul/ways.h"

static bool is_gpu(const struct rmcp_caps *caps)
{
    return caps->kinds & RMCP_LAUNCH_KERNEL;
}

static struct rmcp_matmul_way fastest(const struct rmcp_matmul *p, const struct rmcp_caps *caps)
{
    return rmcp_matmul_choose(p, caps, RMCP_MATMUL_FAMILIES);
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
    const char *why = rmcp_matmul_refuse(p, caps);
    if (why) return rmcp_fail(RMCP_E_UNSUPPORTED, "a matrix product: %s", why);
    const struct rmcp_matmul_way way = fastest(p, caps);
    return rmcp_matmul_emit_way(p, &way, caps, workspace, list);
}
