/* gpu.h: what the GPU algorithms of activations share. */
#ifndef RMCP_OPS_ACT_GPU_H
#define RMCP_OPS_ACT_GPU_H

#include "engine/gpu/stream.h"
#include "engine/ops/act/act.h"

/* The tensors of a problem as streams: what is written, x, y, dy. */
void rmcp_act_cut(const struct rmcp_request *request, struct rmcp_streams *streams);

#endif
