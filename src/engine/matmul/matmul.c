/* matmul.c: matrix products for the algorithms of any operation, on whichever kind of device. */
#include "engine/matmul/matmul.h"

#include "engine/matmul/host.h"
#include "engine/matmul/ways.h"

static bool is_gpu(const struct rmcp_caps *caps)
{
    return caps->kinds & RMCP_LAUNCH_KERNEL;
}

static struct rmcp_matmul_shape shape_of(const struct rmcp_matmul *p)
{
    return (struct rmcp_matmul_shape){
        .batch = p->batch,
        .m = p->m,
        .n = p->n,
        .k = p->k,
        .pitch = { p->a.pitch, p->b.pitch, p->c.pitch },
        .stride = { p->a.stride, p->b.stride, p->c.stride },
        .type = p->type,
        .flags = (unsigned)p->a.transposed | (unsigned)p->b.transposed << 1 |
                 (unsigned)(p->alpha == 0) << 2 | (unsigned)(p->beta != 0) << 3 |
                 (unsigned)p->bias << 4,
    };
}

static bool same(const struct rmcp_matmul_shape *a, const struct rmcp_matmul_shape *b)
{
    for (int i = 0; i < 3; i++)
        if (a->pitch[i] != b->pitch[i] || a->stride[i] != b->stride[i]) return false;
    return a->batch == b->batch && a->m == b->m && a->n == b->n && a->k == b->k &&
           a->type == b->type && a->flags == b->flags;
}

/* NULL: none of that shape. */
static const struct rmcp_matmul_way *find(const struct rmcp_matmul_known *known,
                                          const struct rmcp_matmul_shape *shape)
{
    for (unsigned i = 0; i < known->count; i++)
        if (same(&known->shape[i], shape)) return &known->way[i];
    return NULL;
}

struct rmcp_matmul_cost rmcp_matmul_consider(const struct rmcp_matmul *p,
                                             const struct rmcp_caps *caps,
                                             struct rmcp_matmul_known *known)
{
    if (!is_gpu(caps))
        return (struct rmcp_matmul_cost){ NULL, rmcp_matmul_host_seconds(p, caps),
                                          rmcp_matmul_host_workspace(p) };
    const struct rmcp_matmul_shape shape = shape_of(p);
    const struct rmcp_matmul_way *way = find(known, &shape);
    struct rmcp_matmul_way chosen;
    if (!way) {
        const char *why = rmcp_matmul_family_refuse(p, RMCP_MATMUL_TILED);
        if (why) return (struct rmcp_matmul_cost){ .refusal = why };
        chosen = rmcp_matmul_choose(p, caps, RMCP_MATMUL_FAMILIES);
        way = &chosen;
        if (known->count < RMCP_MATMUL_KNOWN) {
            known->shape[known->count] = shape;
            known->way[known->count++] = chosen;
        }
    }
    return (struct rmcp_matmul_cost){ NULL, way->seconds, rmcp_matmul_parts_bytes(p, way) };
}

rmcp_status rmcp_matmul_emit(const struct rmcp_matmul *p, const struct rmcp_caps *caps,
                             const struct rmcp_matmul_known *known, uint64_t workspace,
                             struct rmcp_launch_list *list)
{
    if (!is_gpu(caps)) return rmcp_matmul_host_emit(p, caps, workspace, list);
    const struct rmcp_matmul_shape shape = shape_of(p);
    const struct rmcp_matmul_way *way = find(known, &shape);
    if (way) return rmcp_matmul_emit_way(p, way, caps, workspace, list);
    const char *why = rmcp_matmul_family_refuse(p, RMCP_MATMUL_TILED);
    if (why) return rmcp_fail(RMCP_E_UNSUPPORTED, "a matrix product: %s", why);
    const struct rmcp_matmul_way chosen = rmcp_matmul_choose(p, caps, RMCP_MATMUL_FAMILIES);
    return rmcp_matmul_emit_way(p, &chosen, caps, workspace, list);
}
