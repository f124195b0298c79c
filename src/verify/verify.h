/* verify.h: judges one algorithm on one case on one device against the reference. */
#ifndef RMCP_VERIFY_H
#define RMCP_VERIFY_H

#include "core/plan.h"

/* Values to compute with. Small integers make every sum exact, so that one missing or doubled term
 * shows as a wrong bit; reals test rounding against a computed bound. */
enum rmcp_verify_data { RMCP_VERIFY_INTEGERS, RMCP_VERIFY_REALS, RMCP_VERIFY_N_DATA };

struct rmcp_verify_result {
    bool passed;
    char algorithm[32];
    int64_t checked, outputs; /* compared with the reference; all outputs are checked to be written */
    double worst;             /* largest error as a share of its bound */
    char why[256];            /* the first thing wrong */
};

/* Execute `algorithm` (NULL: the planner's choice) with inputs drawn from `seed`: tensors at odd
 * offsets between guard bands, outputs and workspace filled with NaN; then look at every guard, every
 * input and every output, and compare with the reference as many outputs as take about `effort`
 * multiplications (0: the default).
 * RMCP_OK also when the result is wrong: result->passed tells. Another status means that it could
 * not be tried. */
rmcp_status rmcp_verify_case(rmcp_device *device, const rmcp_problem *problem, rmcp_pass pass,
                             const char *algorithm, enum rmcp_verify_data data, uint64_t seed,
                             double effort, struct rmcp_verify_result *result);

/* How far `got` may be from a reference value: accumulation in f32 plus the final rounding. */
double rmcp_verify_bound(const struct rmcp_conv *conv, double value, double magnitude);

/* A random problem and pass; small enough that the reference takes milliseconds. */
void rmcp_verify_draw(uint64_t seed, rmcp_problem *problem, rmcp_pass *pass);

#endif
