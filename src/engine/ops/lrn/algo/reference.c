/* reference: local response normalisation as it is defined, on the host. */
#include "engine/ops/lrn/lrn.h"

const struct rmcp_algo rmcp_algo_lrn_reference = { RMCP_FORM_REFERENCE };
