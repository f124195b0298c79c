/* api_reduce.h: the part of api.h with softmax, reductions, concatenation and selection; included
 * by it alone. */
#ifndef RMCP_MIOPEN_API_REDUCE_H
#define RMCP_MIOPEN_API_REDUCE_H

typedef struct miopenSoftmaxDescriptor *miopenSoftmaxDescriptor_t;
typedef struct miopenReduceTensorDescriptor *miopenReduceTensorDescriptor_t;

typedef enum {
    MIOPEN_SOFTMAX_FAST = 0,
    MIOPEN_SOFTMAX_ACCURATE = 1,
    MIOPEN_SOFTMAX_LOG = 2
} miopenSoftmaxAlgorithm_t;
typedef enum {
    MIOPEN_SOFTMAX_MODE_INSTANCE = 0,
    MIOPEN_SOFTMAX_MODE_CHANNEL = 1
} miopenSoftmaxMode_t;

typedef enum {
    MIOPEN_REDUCE_TENSOR_ADD = 0,
    MIOPEN_REDUCE_TENSOR_MUL = 1,
    MIOPEN_REDUCE_TENSOR_MIN = 2,
    MIOPEN_REDUCE_TENSOR_MAX = 3,
    MIOPEN_REDUCE_TENSOR_AMAX = 4,
    MIOPEN_REDUCE_TENSOR_AVG = 5,
    MIOPEN_REDUCE_TENSOR_NORM1 = 6,
    MIOPEN_REDUCE_TENSOR_NORM2 = 7
} miopenReduceTensorOp_t;
typedef enum { MIOPEN_NOT_PROPAGATE_NAN = 0, MIOPEN_PROPAGATE_NAN = 1 } miopenNanPropagation_t;
typedef enum {
    MIOPEN_REDUCE_TENSOR_NO_INDICES = 0,
    MIOPEN_REDUCE_TENSOR_FLATTENED_INDICES = 1
} miopenReduceTensorIndices_t;
typedef enum {
    MIOPEN_32BIT_INDICES = 0,
    MIOPEN_64BIT_INDICES = 1,
    MIOPEN_16BIT_INDICES = 2,
    MIOPEN_8BIT_INDICES = 3
} miopenIndicesType_t;
typedef enum {
    MIOPEN_REDUCE_CALCULATION_NOT_PROPAGATE_NAN = 0,
    MIOPEN_REDUCE_CALCULATION_PROPAGATE_NAN = 1
} miopenReduceCalculationNanPropagation_t;
typedef enum {
    MIOPEN_REDUCE_CALCULATION_PROD = 1,
    MIOPEN_REDUCE_CALCULATION_SUM = 2
} miopenReduceCalculationOp_t;
typedef enum {
    MIOPEN_REDUCE_EXTREME_ARGMIN = 1,
    MIOPEN_REDUCE_EXTREME_ARGMAX = 2,
    MIOPEN_REDUCE_EXTREME_MIN = 3,
    MIOPEN_REDUCE_EXTREME_MAX = 4
} miopenReduceExtremeOp_t;

miopenStatus_t miopenCreateSoftmaxDescriptor(miopenSoftmaxDescriptor_t *);
miopenStatus_t miopenSetSoftmaxDescriptor(miopenSoftmaxDescriptor_t, float, float,
                                          miopenSoftmaxAlgorithm_t, miopenSoftmaxMode_t);
miopenStatus_t miopenGetSoftmaxDescriptor(const miopenSoftmaxDescriptor_t, float *, float *,
                                          miopenSoftmaxAlgorithm_t *, miopenSoftmaxMode_t *);
miopenStatus_t miopenSoftmaxForward(miopenHandle_t, const void *, const miopenTensorDescriptor_t,
                                    const void *, const void *, const miopenTensorDescriptor_t,
                                    void *);
miopenStatus_t miopenSoftmaxBackward(miopenHandle_t, const void *, const miopenTensorDescriptor_t,
                                     const void *, const miopenTensorDescriptor_t, const void *,
                                     const void *, const miopenTensorDescriptor_t, void *);
miopenStatus_t miopenSoftmaxForward_V2(miopenHandle_t, const void *, const miopenTensorDescriptor_t,
                                       const void *, const void *, const miopenTensorDescriptor_t,
                                       void *, miopenSoftmaxAlgorithm_t, miopenSoftmaxMode_t);
miopenStatus_t miopenSoftmaxBackward_V2(miopenHandle_t, const void *,
                                        const miopenTensorDescriptor_t, const void *,
                                        const miopenTensorDescriptor_t, const void *, const void *,
                                        const miopenTensorDescriptor_t, void *,
                                        miopenSoftmaxAlgorithm_t, miopenSoftmaxMode_t);

miopenStatus_t miopenCreateReduceTensorDescriptor(miopenReduceTensorDescriptor_t *);
miopenStatus_t miopenDestroyReduceTensorDescriptor(miopenReduceTensorDescriptor_t);
miopenStatus_t miopenSetReduceTensorDescriptor(miopenReduceTensorDescriptor_t,
                                               miopenReduceTensorOp_t, miopenDataType_t,
                                               miopenNanPropagation_t, miopenReduceTensorIndices_t,
                                               miopenIndicesType_t);
miopenStatus_t miopenGetReduceTensorDescriptor(const miopenReduceTensorDescriptor_t,
                                               miopenReduceTensorOp_t *, miopenDataType_t *,
                                               miopenNanPropagation_t *,
                                               miopenReduceTensorIndices_t *,
                                               miopenIndicesType_t *);
miopenStatus_t miopenGetReductionIndicesSize(miopenHandle_t, const miopenReduceTensorDescriptor_t,
                                             const miopenTensorDescriptor_t,
                                             const miopenTensorDescriptor_t, size_t *);
miopenStatus_t miopenGetReductionWorkspaceSize(miopenHandle_t, const miopenReduceTensorDescriptor_t,
                                               const miopenTensorDescriptor_t,
                                               const miopenTensorDescriptor_t, size_t *);
miopenStatus_t miopenReduceTensor(miopenHandle_t, const miopenReduceTensorDescriptor_t, void *,
                                  size_t, void *, size_t, const void *,
                                  const miopenTensorDescriptor_t, const void *, const void *,
                                  const miopenTensorDescriptor_t, void *);
miopenStatus_t miopenGetReduceCalculationWorkspaceSize(miopenHandle_t,
                                                       const miopenTensorDescriptor_t,
                                                       const int32_t,
                                                       const miopenReduceCalculationOp_t,
                                                       const miopenTensorDescriptor_t, size_t *);
miopenStatus_t miopenReduceCalculationForward(miopenHandle_t,
                                              miopenReduceCalculationNanPropagation_t, void *,
                                              size_t, const miopenTensorDescriptor_t, const void *,
                                              const int32_t, const miopenReduceCalculationOp_t,
                                              const miopenTensorDescriptor_t, void *);
miopenStatus_t miopenReduceExtremeForward(miopenHandle_t, const miopenTensorDescriptor_t,
                                          const void *, const int32_t,
                                          const miopenReduceExtremeOp_t,
                                          const miopenTensorDescriptor_t, void *,
                                          const miopenTensorDescriptor_t, void *);

miopenStatus_t miopenCatForward(miopenHandle_t, const int32_t, const miopenTensorDescriptor_t *,
                                const void *const *, const miopenTensorDescriptor_t, void *,
                                const int32_t);
miopenStatus_t miopenKthvalueForward(miopenHandle_t, miopenTensorDescriptor_t, const void *,
                                     miopenTensorDescriptor_t, void *, miopenTensorDescriptor_t,
                                     size_t *, size_t, int32_t, bool);
miopenStatus_t miopenGetGetitemWorkspaceSize(miopenHandle_t, uint32_t,
                                             const miopenTensorDescriptor_t *, size_t *);
miopenStatus_t miopenGetitemBackward(miopenHandle_t, void *, size_t, const miopenTensorDescriptor_t,
                                     const void *, uint32_t, const miopenTensorDescriptor_t *,
                                     const void *const *, const miopenTensorDescriptor_t, void *,
                                     const miopenTensorDescriptor_t, void *, uint32_t,
                                     const int32_t *, uint32_t, const int32_t *, uint32_t);

#endif
