/* norms.h: what the tests of batch normalisation share: problems from text, and executing them on
 * host arrays. */
#ifndef RMCP_TESTS_NORMS_H
#define RMCP_TESTS_NORMS_H

#include "engine/ops/batchnorm/batchnorm.h"
#include "support.h"

/* The problem and pass of a case string, which must name a pass. */
struct rmcp_norm norm_of(const char *text);

/* Host arrays of every slot that the problem uses, as floats. */
struct norm_arrays {
    float *of[RMCP_NORM_SLOTS];
    int64_t n[RMCP_NORM_SLOTS];
};
void norm_arrays_init(struct norm_arrays *a, const struct rmcp_norm *norm, enum rmcp_data data,
                      uint64_t seed);
void norm_arrays_deinit(struct norm_arrays *a);

/* Plan with `algorithm` (NULL: the planner's choice) and execute; every slot that is written is
 * replaced by the result. Every step must succeed. */
void norm_run(rmcp_device *device, const struct rmcp_norm *norm, const char *algorithm,
              struct norm_arrays *a);

/* The memory of a slot in the public struct. */
rmcp_memory *norm_memory(rmcp_batchnorm_tensors *t, unsigned slot);

/* The names of all algorithms that take the problem on the device; returns how many. */
enum { NORM_MOST_ALGOS = 8 };
size_t norm_algorithms(rmcp_device *device, const struct rmcp_norm *norm,
                       char names[NORM_MOST_ALGOS][32]);

#endif
