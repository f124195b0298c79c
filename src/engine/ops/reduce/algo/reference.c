/* reference: the plain loops in double precision that judge reductions, as an algorithm of the CPU
 * device. */
#include "engine/ops/reduce/reduce.h"

extern const struct rmcp_algo rmcp_algo_reduce_reference;
const struct rmcp_algo rmcp_algo_reduce_reference = { RMCP_FORM_REFERENCE };
