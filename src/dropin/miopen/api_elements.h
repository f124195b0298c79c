/* api_elements.h: the part of api.h that goes element by element: activations, dropout, losses,
 * optimisers, RoPE; included by it alone. */
#ifndef RMCP_MIOPEN_API_ELEMENTS_H
#define RMCP_MIOPEN_API_ELEMENTS_H

miopenStatus_t miopenActivationForward(miopenHandle_t, miopenActivationDescriptor_t, const void *,
                                       miopenTensorDescriptor_t, const void *, const void *,
                                       miopenTensorDescriptor_t, void *);
miopenStatus_t miopenActivationBackward(miopenHandle_t, miopenActivationDescriptor_t, const void *,
                                        miopenTensorDescriptor_t, const void *,
                                        miopenTensorDescriptor_t, const void *,
                                        miopenTensorDescriptor_t, const void *, const void *,
                                        miopenTensorDescriptor_t, void *);
miopenStatus_t miopenGLUForward(miopenHandle_t, miopenTensorDescriptor_t, const void *,
                                miopenTensorDescriptor_t, void *, uint32_t);
miopenStatus_t miopenGLUBackward(miopenHandle_t, miopenTensorDescriptor_t, const void *,
                                 miopenTensorDescriptor_t, const void *, miopenTensorDescriptor_t,
                                 void *, uint32_t);
miopenStatus_t miopenGetPReLUBackwardWorkspaceSize(miopenHandle_t, miopenTensorDescriptor_t,
                                                   miopenTensorDescriptor_t, size_t *);
miopenStatus_t miopenPReLUBackward(miopenHandle_t, void *, size_t, miopenTensorDescriptor_t,
                                   const void *, miopenTensorDescriptor_t, const void *,
                                   miopenTensorDescriptor_t, const void *, miopenTensorDescriptor_t,
                                   void *, miopenTensorDescriptor_t, void *);
miopenStatus_t miopenDropoutGetReserveSpaceSize(miopenTensorDescriptor_t, size_t *);
miopenStatus_t miopenDropoutForward(miopenHandle_t, miopenDropoutDescriptor_t,
                                    miopenTensorDescriptor_t, miopenTensorDescriptor_t,
                                    const void *, miopenTensorDescriptor_t, void *, void *, size_t);
miopenStatus_t miopenDropoutBackward(miopenHandle_t, miopenDropoutDescriptor_t,
                                     miopenTensorDescriptor_t, miopenTensorDescriptor_t,
                                     const void *, miopenTensorDescriptor_t, void *, void *,
                                     size_t);

typedef enum {
    MIOPEN_LOSS_REDUCTION_NONE = 0,
    MIOPEN_LOSS_REDUCTION_SUM = 1,
    MIOPEN_LOSS_REDUCTION_MEAN = 2
} miopenLossReductionMode_t;

miopenStatus_t miopenGetSoftMarginLossForwardWorkspaceSize(miopenHandle_t, miopenTensorDescriptor_t,
                                                           miopenTensorDescriptor_t,
                                                           miopenTensorDescriptor_t,
                                                           miopenLossReductionMode_t, size_t *);
miopenStatus_t miopenSoftMarginLossForward(miopenHandle_t, miopenTensorDescriptor_t, const void *,
                                           miopenTensorDescriptor_t, const void *,
                                           miopenTensorDescriptor_t, void *,
                                           miopenLossReductionMode_t, void *, size_t);
miopenStatus_t miopenSoftMarginLossBackward(miopenHandle_t, miopenTensorDescriptor_t, const void *,
                                            miopenTensorDescriptor_t, const void *,
                                            miopenTensorDescriptor_t, const void *,
                                            miopenTensorDescriptor_t, void *,
                                            miopenLossReductionMode_t);
miopenStatus_t miopenGetMultiMarginLossForwardWorkspaceSize(
    miopenHandle_t, miopenTensorDescriptor_t, miopenTensorDescriptor_t, miopenTensorDescriptor_t,
    miopenTensorDescriptor_t, long, float, miopenLossReductionMode_t, size_t *);
miopenStatus_t miopenMultiMarginLossForward(miopenHandle_t, miopenTensorDescriptor_t, const void *,
                                            miopenTensorDescriptor_t, const void *,
                                            miopenTensorDescriptor_t, const void *,
                                            miopenTensorDescriptor_t, void *, long, float,
                                            miopenLossReductionMode_t, void *, size_t);

miopenStatus_t miopenFusedAdam(miopenHandle_t, miopenTensorDescriptor_t, void *,
                               miopenTensorDescriptor_t, const void *, miopenTensorDescriptor_t,
                               void *, miopenTensorDescriptor_t, void *, miopenTensorDescriptor_t,
                               void *, miopenTensorDescriptor_t, void *, unsigned, float, float,
                               float, float, float, bool, bool, bool, miopenTensorDescriptor_t,
                               const void *, miopenTensorDescriptor_t, const void *);
miopenStatus_t miopenFusedAdamWithOutput(
    miopenHandle_t, miopenTensorDescriptor_t, void *, miopenTensorDescriptor_t, void *,
    miopenTensorDescriptor_t, void *, miopenTensorDescriptor_t, const void *,
    miopenTensorDescriptor_t, void *, miopenTensorDescriptor_t, void *, miopenTensorDescriptor_t,
    void *, miopenTensorDescriptor_t, void *, miopenTensorDescriptor_t, void *,
    miopenTensorDescriptor_t, void *, miopenTensorDescriptor_t, void *, miopenTensorDescriptor_t,
    void *, unsigned, float, float, float, float, float, bool, bool, bool, miopenTensorDescriptor_t,
    const void *, miopenTensorDescriptor_t, const void *);
miopenStatus_t miopenTransformersAdamW(miopenHandle_t, miopenTensorDescriptor_t, void *,
                                       miopenTensorDescriptor_t, const void *,
                                       miopenTensorDescriptor_t, void *, miopenTensorDescriptor_t,
                                       void *, miopenTensorDescriptor_t, void *, unsigned, float,
                                       float, float, float, float, bool, miopenTensorDescriptor_t,
                                       const void *, miopenTensorDescriptor_t, const void *);
miopenStatus_t miopenTransformersAdamWWithOutput(
    miopenHandle_t, miopenTensorDescriptor_t, void *, miopenTensorDescriptor_t, void *,
    miopenTensorDescriptor_t, void *, miopenTensorDescriptor_t, const void *,
    miopenTensorDescriptor_t, void *, miopenTensorDescriptor_t, void *, miopenTensorDescriptor_t,
    void *, miopenTensorDescriptor_t, void *, miopenTensorDescriptor_t, void *,
    miopenTensorDescriptor_t, void *, unsigned, float, float, float, float, float, float, bool,
    miopenTensorDescriptor_t, const void *, miopenTensorDescriptor_t, const void *);

miopenStatus_t miopenRoPEForward(miopenHandle_t, miopenTensorDescriptor_t, const void *,
                                 miopenTensorDescriptor_t, const void *, miopenTensorDescriptor_t,
                                 const void *, miopenTensorDescriptor_t, void *);
miopenStatus_t miopenRoPEBackward(miopenHandle_t, miopenTensorDescriptor_t, const void *,
                                  miopenTensorDescriptor_t, const void *, miopenTensorDescriptor_t,
                                  const void *, miopenTensorDescriptor_t, void *);

#endif
