/* finish_stats.cl: merges the moments of all splits; the statistics go to the workspace, and where
 * the problem wants them. */
#include "engine/kernels/target.h"
#include "engine/ops/batchnorm/kernels/finish.h"

__kernel WORKGROUP(THREADS) void batchnorm_finish_stats(INPUT(parts), OUTPUT(means),
                                                        OUTPUT(inverses), OUTPUT(running_mean),
                                                        OUTPUT(running_variance),
                                                        OUTPUT(saved_mean), OUTPUT(saved_inverse),
                                                        struct rmcp_norm_finish a)
{
    __local float n[THREADS], shift[THREADS], rest[THREADS], m2[THREADS];
    const struct post p = post_of(&a);
    __global const float *const from = INPUTS(parts);
    struct moments m = { 0, 0, 0, 0 };
    for (uint split = p.lane; split < a.splits; split += p.lanes) {
        const struct moments part = {
            from[part_of(&a, &p, 0, split)],
            from[part_of(&a, &p, 1, split)],
            from[part_of(&a, &p, 2, split)],
            from[part_of(&a, &p, 3, split)],
        };
        m = merge(m, part);
    }
    m = merge_all(m, p.thread, p.lane, p.lanes, 1, n, shift, rest, m2);
    if (!p.exists || p.lane) return;
    const struct normal normal = normal_of(&a.figures, m);
    PARAMETERS(means)[p.param] = normal.mean;
    PARAMETERS(inverses)[p.param] = normal.inverse;
    if (a.figures.saves) {
        PARAMETERS(saved_mean)[p.param] = normal.mean;
        PARAMETERS(saved_inverse)[p.param] = normal.inverse;
    }
    if (a.figures.runs)
        keep_running(&a.figures, m, PARAMETERS(running_mean) + p.param,
                     PARAMETERS(running_variance) + p.param);
}
