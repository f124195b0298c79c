/* first_sizes.h: the size that each public struct had in its first release. Structs only grow: a
 * caller's may be as short as this and is filled up with zeros. Numbers, never sizeof, and never
 * changed. */
#ifndef RMCP_BASE_FIRST_SIZES_H
#define RMCP_BASE_FIRST_SIZES_H

enum {
    RMCP_FIRST_CONV = 216,
    RMCP_FIRST_CONV_INFO = 72,
    RMCP_FIRST_CONV_TENSORS = 96,
    RMCP_FIRST_DEVICE_OPTIONS = 24,
    RMCP_FIRST_DEVICE_INFO = 632,
    RMCP_FIRST_PLAN_OPTIONS = 48,
    RMCP_FIRST_CANDIDATE = 216,
    RMCP_FIRST_BATCHNORM = 104,
    RMCP_FIRST_BATCHNORM_TENSORS = 224,
    RMCP_FIRST_TENSOR = 328,
    RMCP_FIRST_TENSOR_OPERANDS = 80,
    RMCP_FIRST_CHECK_INFO = 1056,
    RMCP_FIRST_GEMM = 136,
    RMCP_FIRST_GEMM_MATRICES = 96,
    RMCP_FIRST_RNN = 80,
    RMCP_FIRST_RNN_INFO = 80,
    RMCP_FIRST_RNN_TENSORS = 304,
    RMCP_FIRST_SLOT_INFO = 56,
    RMCP_FIRST_SLOTS = 40,
    RMCP_FIRST_SCALAR_INFO = 64,
};

#endif
