/* reference: the reference itself as an algorithm of the CPU device. */
#include "engine/ops/prelu/prelu.h"

extern const struct rmcp_algo rmcp_algo_prelu_reference;
const struct rmcp_algo rmcp_algo_prelu_reference = { RMCP_FORM_REFERENCE };
