/* primitive.c: making oneDNN's convolution, of releases 2.x and 3.x alike. */
#include "engine/ops/conv/host/primitive.h"

#if DNNL_VERSION_MAJOR >= 3

static dnnl_status_t create_first(const struct rmcp_onednn *dnn, const struct rmcp_onednn_conv *c,
                                  rmcp_conv_pass pass, dnnl_primitive_desc_t hint,
                                  dnnl_primitive_desc_t *out)
{
    const dnnl_alg_kind_t direct = dnnl_convolution_direct;
    /* The hint carries no post-operations: only the pass asked for takes the attributes. */
    const_dnnl_primitive_attr_t attr = pass == c->pass ? c->attr : NULL;
    switch (pass) {
    case RMCP_CONV_FORWARD:
        return dnn->dnnl_convolution_forward_primitive_desc_create(
            out, dnn->engine, dnnl_forward_training, direct, c->x, c->w, c->bias, c->y, c->stride,
            c->dilation, c->pad_begin, c->pad_end, attr);
    case RMCP_CONV_BACKWARD_DATA:
        return dnn->dnnl_convolution_backward_data_primitive_desc_create(
            out, dnn->engine, direct, c->x, c->w, c->y, c->stride, c->dilation, c->pad_begin,
            c->pad_end, hint, attr);
    default:
        return dnn->dnnl_convolution_backward_weights_primitive_desc_create(
            out, dnn->engine, direct, c->x, c->w, NULL, c->y, c->stride, c->dilation, c->pad_begin,
            c->pad_end, hint, attr);
    }
}

static dnnl_status_t create_pass(const struct rmcp_onednn *dnn, const struct rmcp_onednn_conv *c,
                                 rmcp_conv_pass pass, dnnl_primitive_desc_t hint,
                                 dnnl_primitive_desc_t *out)
{
    return rmcp_onednn_first_usable(dnn, create_first(dnn, c, pass, hint, out), out);
}

#else

static dnnl_status_t create_pass(const struct rmcp_onednn *dnn, const struct rmcp_onednn_conv *c,
                                 rmcp_conv_pass pass, dnnl_primitive_desc_t hint,
                                 dnnl_primitive_desc_t *out)
{
    const dnnl_alg_kind_t direct = dnnl_convolution_direct;
    dnnl_convolution_desc_t op;
    dnnl_status_t status;
    switch (pass) {
    case RMCP_CONV_FORWARD:
        status = dnn->dnnl_dilated_convolution_forward_desc_init(
            &op, dnnl_forward_training, direct, c->x, c->w, c->bias, c->y, c->stride, c->dilation,
            c->pad_begin, c->pad_end);
        break;
    case RMCP_CONV_BACKWARD_DATA:
        status = dnn->dnnl_dilated_convolution_backward_data_desc_init(
            &op, direct, c->x, c->w, c->y, c->stride, c->dilation, c->pad_begin, c->pad_end);
        break;
    default:
        status = dnn->dnnl_dilated_convolution_backward_weights_desc_init(
            &op, direct, c->x, c->w, NULL, c->y, c->stride, c->dilation, c->pad_begin, c->pad_end);
    }
    if (status) return status;
    return rmcp_onednn_first_usable(dnn, &op, pass == c->pass ? c->attr : NULL, hint, out);
}

#endif

dnnl_status_t rmcp_onednn_conv_create(const struct rmcp_onednn *dnn,
                                      const struct rmcp_onednn_conv *conv,
                                      dnnl_primitive_desc_t *out)
{
    if (conv->pass == RMCP_CONV_FORWARD)
        return create_pass(dnn, conv, RMCP_CONV_FORWARD, NULL, out);
    dnnl_primitive_desc_t hint = NULL;
    dnnl_status_t status = create_pass(dnn, conv, RMCP_CONV_FORWARD, NULL, &hint);
    if (!status) status = create_pass(dnn, conv, conv->pass, hint, out);
    if (hint) dnn->dnnl_primitive_desc_destroy(hint);
    return status;
}
