/* reference: the reference itself as an algorithm of the CPU device. */
#include "engine/ops/dropout/dropout.h"

extern const struct rmcp_algo rmcp_algo_dropout_reference;
const struct rmcp_algo rmcp_algo_dropout_reference = { RMCP_FORM_REFERENCE };
