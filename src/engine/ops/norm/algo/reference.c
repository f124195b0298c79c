/* reference: the reference itself, on the host. */
#include "engine/core/form.h"

extern const struct rmcp_algo rmcp_algo_norm_reference;
const struct rmcp_algo rmcp_algo_norm_reference = { RMCP_FORM_REFERENCE };
