/* reference: pooling as it is defined, on the host. */
#include "engine/ops/pool/pool.h"

const struct rmcp_algo rmcp_algo_pool_reference = { RMCP_FORM_REFERENCE };
