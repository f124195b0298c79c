/* judge.h: the one judge of results: first use, rmcp verify and the first owner's steps ask it.
 *
 * A plan is executed with tensors between guard bands, all at even or all at odd offsets, outputs
 * and workspace filled with NaN; then every guard, every input and every output is looked at, and
 * outputs are compared with the operation's reference: within its bound, times the factor that the
 * algorithm documents. Reals are judged with scalars that are drawn, too. */
#ifndef RMCP_CORE_JUDGE_H
#define RMCP_CORE_JUDGE_H

#include "engine/core/compare.h"
#include "engine/core/plan.h"

struct rmcp_judgement {
    bool passed;
    char algorithm[32];
    int64_t checked,
        outputs;   /* compared with the reference; all outputs are checked to be written */
    double worst;  /* largest error as a share of its bound */
    char why[256]; /* the first thing wrong */
};

/* Judge a plan on `stream` with inputs drawn from `seed`. As many outputs are compared as take
 * about `effort` multiplications (0: the default). RMCP_OK also when the result is wrong:
 * judgement->passed tells. Another status means that it could not be tried. */
rmcp_status rmcp_judge_plan(const rmcp_plan *plan, void *stream, enum rmcp_data data, uint64_t seed,
                            double effort, struct rmcp_judgement *judgement);

/* The same for a problem and `algorithm` (NULL: the planner's choice). */
rmcp_status rmcp_judge_problem(rmcp_device *device, const struct rmcp_operation *operation,
                               const void *problem, const char *algorithm, enum rmcp_data data,
                               uint64_t seed, double effort, struct rmcp_judgement *judgement);

/* Execute it `times` times with the same inputs: outputs must have the same bits each time. */
rmcp_status rmcp_judge_repeats(rmcp_device *device, const struct rmcp_operation *operation,
                               const void *problem, const char *algorithm, uint64_t seed,
                               uint64_t times, struct rmcp_judgement *judgement);

#endif
