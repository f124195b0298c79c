/* reference: the plain loops that judge getitem's gradient, as an algorithm of the CPU device. */
#include "engine/ops/getitem/getitem.h"

extern const struct rmcp_algo rmcp_algo_getitem_reference;
const struct rmcp_algo rmcp_algo_getitem_reference = { RMCP_FORM_REFERENCE };
