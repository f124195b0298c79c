/* finish_stats.cl: merges the moments of all splits; the statistics go to the workspace, and where the
 * problem wants them. */
#include "kernels/target.h"
#include "ops/batchnorm/kernels/finish.h"

__kernel WORKGROUP(THREADS) void batchnorm_finish_stats(INPUT(parts), OUTPUT(means), OUTPUT(inverses),
                                                        OUTPUT(running_mean),
                                                        OUTPUT(running_variance),
                                                        OUTPUT(saved_mean), OUTPUT(saved_inverse),
                                                        struct rmcp_norm_finish a)
{
    __local float n[THREADS], mean[THREADS], m2[THREADS];
    const struct post p = post_of(&a);
    __global const float *const from = INPUTS(parts);
    struct moments m = { 0, 0, 0 };
    for (uint split = p.lane; split < a.splits; split += p.lanes) {
        const struct moments part = { from[part_of(&a, &p, 0, split)], from[part_of(&a, &p, 1, split)],
                                      from[part_of(&a, &p, 2, split)] };
        m = merge(m, part);
    }
    n[p.thread] = m.n, mean[p.thread] = m.mean, m2[p.thread] = m.m2;
    BARRIER();
    for (uint half_way = p.lanes / 2; half_way > 0; half_way /= 2) {
        if (p.lane < half_way) {
            const uint other = p.thread + half_way;
            const struct moments theirs = { n[other], mean[other], m2[other] };
            m = merge(m, theirs);
            n[p.thread] = m.n, mean[p.thread] = m.mean, m2[p.thread] = m.m2;
        }
        BARRIER();
    }
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
