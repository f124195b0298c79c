/* reduce.h: what reductions along one dimension share. */
#ifndef RMCP_MIOPEN_REDUCE_H
#define RMCP_MIOPEN_REDUCE_H

#include "dropin/miopen/tensor.h"

/* `result`, from which dimension `dim` of `x` is gone, with that dimension put back. False when it
 * does not fit. */
bool mi_reduce_put_back(const struct mi_tensor *x, int dim, const struct mi_tensor *result,
                        struct mi_tensor *out);

#endif
