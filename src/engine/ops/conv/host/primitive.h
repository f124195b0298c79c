/* primitive.h: making oneDNN's convolution, of releases 2.x and 3.x alike. */
#ifndef RMCP_CONV_HOST_PRIMITIVE_H
#define RMCP_CONV_HOST_PRIMITIVE_H

#include "engine/onednn/onednn.h"
#include "engine/ops/conv/conv.h"

/* Everything that makes a convolution. */
struct rmcp_onednn_conv {
    rmcp_conv_pass pass;
    rmcp_onednn_md x, w, y, bias; /* bias may be NULL */
    dnnl_dims_t stride, dilation, pad_begin, pad_end;
    dnnl_primitive_attr_t attr;
};
dnnl_status_t rmcp_onednn_conv_create(const struct rmcp_onednn *dnn,
                                      const struct rmcp_onednn_conv *conv,
                                      dnnl_primitive_desc_t *out);

#endif
