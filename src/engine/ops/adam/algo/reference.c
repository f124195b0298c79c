/* reference: the reference itself as an algorithm of the CPU device. */
#include "engine/ops/adam/adam.h"

extern const struct rmcp_algo rmcp_algo_adam_reference;
const struct rmcp_algo rmcp_algo_adam_reference = { RMCP_FORM_REFERENCE };
