/* reference: the reference itself as an algorithm of the CPU device. */
#include "engine/ops/glu/glu.h"

extern const struct rmcp_algo rmcp_algo_glu_reference;
const struct rmcp_algo rmcp_algo_glu_reference = { RMCP_FORM_REFERENCE };
