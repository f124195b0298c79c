/* ways.h: ways to compute a matrix product on a GPU: their estimates, and their launches. */
#ifndef RMCP_MATMUL_WAYS_H
#define RMCP_MATMUL_WAYS_H

#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/matmul/matmul.h"

struct rmcp_matmul_tile_kind {
    const char *name;
    int64_t rows, columns, threads, slices;
    enum rmcp_figure efficiency; /* share of peak that full compute units reach                */
    enum rmcp_figure at_once;    /* workgroups of a compute unit                               */
    enum rmcp_figure busy;       /* work-items that keep a compute unit at that                */
    enum rmcp_figure turn;       /* seconds of a turn of the loop in a workgroup that is alone */
};

/* With k or alpha 0 there is nothing to multiply, only c to finish. */
static inline int64_t rmcp_matmul_terms(const struct rmcp_matmul *p)
{
    return p->alpha == 0 ? 0 : p->k;
}

/* NULL when the family can do it, else the reason. */
const char *rmcp_matmul_family_refuse(const struct rmcp_matmul *p, enum rmcp_matmul_family family);

/* All ways, estimated; none of a product whose tiles are refused. Returns how many. */
enum { RMCP_MATMUL_MOST_WAYS = 320 };
size_t rmcp_matmul_list(const struct rmcp_matmul *p, const struct rmcp_caps *caps,
                        struct rmcp_matmul_way ways[static RMCP_MATMUL_MOST_WAYS]);

/* The fastest of them in a family that does not refuse, or with RMCP_MATMUL_FAMILIES in all;
 * `splits` is 0 when there is none. */
struct rmcp_matmul_way rmcp_matmul_choose(const struct rmcp_matmul *p, const struct rmcp_caps *caps,
                                          enum rmcp_matmul_family family);

/* Bytes of workspace: an f32 copy of c without gaps for each part, none unsplit. */
uint64_t rmcp_matmul_parts_bytes(const struct rmcp_matmul *p, const struct rmcp_matmul_way *way);

rmcp_status rmcp_matmul_emit_way(const struct rmcp_matmul *p, const struct rmcp_matmul_way *way,
                                 const struct rmcp_caps *caps, uint64_t workspace,
                                 struct rmcp_launch_list *list);

/* A batch that is one larger product: b is shared, and the matrices of a and c follow each other.
 */
struct rmcp_matmul rmcp_matmul_folded(const struct rmcp_matmul *p);

#endif
