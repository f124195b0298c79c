/* reference: the plain loops in double precision that judge softmax, as an algorithm of the CPU
 * device. */
#include "engine/ops/softmax/softmax.h"

extern const struct rmcp_algo rmcp_algo_softmax_reference;
const struct rmcp_algo rmcp_algo_softmax_reference = { RMCP_FORM_REFERENCE };
