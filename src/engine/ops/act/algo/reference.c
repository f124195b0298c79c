/* reference: the reference itself as an algorithm of the CPU device. */
#include "engine/ops/act/act.h"

extern const struct rmcp_algo rmcp_algo_act_reference;
const struct rmcp_algo rmcp_algo_act_reference = { RMCP_FORM_REFERENCE };
