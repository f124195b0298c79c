/* reference: the reference itself as an algorithm of the CPU device. */
#include "engine/ops/rope/rope.h"

extern const struct rmcp_algo rmcp_algo_rope_reference;
const struct rmcp_algo rmcp_algo_rope_reference = { RMCP_FORM_REFERENCE };
