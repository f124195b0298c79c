/* reference: sorting, which judges kth values, as an algorithm of the CPU device. */
#include "engine/ops/kth/kth.h"

extern const struct rmcp_algo rmcp_algo_kth_reference;
const struct rmcp_algo rmcp_algo_kth_reference = { RMCP_FORM_REFERENCE };
