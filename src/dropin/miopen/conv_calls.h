/* conv_calls.h: what the functions of one convolution pass have in common. */
#ifndef RMCP_MIOPEN_CONV_CALLS_H
#define RMCP_MIOPEN_CONV_CALLS_H

#include "dropin/miopen/convolution.h"

/* A call begins: descriptors looked up and translated, the handle entered (leave it when `handle`
 * is set). */
struct mi_conv_entry {
    struct mi_handle *handle;
    struct mi_conv conv;
};

miopenStatus_t mi_conv_enter(struct mi_conv_entry *entry, rmcp_conv_pass pass,
                             miopenHandle_t handle, miopenTensorDescriptor_t x,
                             miopenTensorDescriptor_t w, miopenConvolutionDescriptor_t convolution,
                             miopenTensorDescriptor_t y);
void mi_conv_leave(struct mi_conv_entry *entry);

/* Before a call is executed: the command line for MIOpenDriver, when it is wanted. */
void mi_conv_log(const struct mi_conv_entry *entry);

#endif
