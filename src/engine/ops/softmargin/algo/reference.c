/* reference: the reference itself as an algorithm of the CPU device. */
#include "engine/ops/softmargin/softmargin.h"

extern const struct rmcp_algo rmcp_algo_softmargin_reference;
const struct rmcp_algo rmcp_algo_softmargin_reference = { RMCP_FORM_REFERENCE };
