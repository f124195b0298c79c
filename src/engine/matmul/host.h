/* host.h: matrix products on the host: by oneDNN, or by plain loops where there is none. */
#ifndef RMCP_MATMUL_HOST_H
#define RMCP_MATMUL_HOST_H

#include "engine/matmul/matmul.h"

double rmcp_matmul_host_seconds(const struct rmcp_matmul *p, const struct rmcp_caps *caps);

/* f32 copies of one product's matrices, where the type is another. */
uint64_t rmcp_matmul_host_workspace(const struct rmcp_matmul *p);

rmcp_status rmcp_matmul_host_emit(const struct rmcp_matmul *p, const struct rmcp_caps *caps,
                                  uint64_t workspace, struct rmcp_launch_list *list);

#endif
