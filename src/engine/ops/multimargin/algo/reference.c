/* reference: the reference itself as an algorithm of the CPU device. */
#include "engine/ops/multimargin/multimargin.h"

extern const struct rmcp_algo rmcp_algo_multimargin_reference;
const struct rmcp_algo rmcp_algo_multimargin_reference = { RMCP_FORM_REFERENCE };
