/* api_norm.h: the part of api.h with losses of sequences and normalisations; included by it alone.
 */
#ifndef RMCP_MIOPEN_API_NORM_H
#define RMCP_MIOPEN_API_NORM_H

miopenStatus_t miopenCreateCTCLossDescriptor(miopenCTCLossDescriptor_t *);
miopenStatus_t miopenDestroyCTCLossDescriptor(miopenCTCLossDescriptor_t);
miopenStatus_t miopenGetCTCLossDescriptor(miopenCTCLossDescriptor_t, miopenDataType_t *, int *,
                                          bool *);
miopenStatus_t miopenSetCTCLossDescriptor(miopenCTCLossDescriptor_t, miopenDataType_t, const int,
                                          bool);
miopenStatus_t miopenGetCTCLossWorkspaceSize(miopenHandle_t, const miopenTensorDescriptor_t,
                                             const miopenTensorDescriptor_t, const int *,
                                             const int *, const int *, miopenCTCLossAlgo_t,
                                             const miopenCTCLossDescriptor_t, size_t *);
miopenStatus_t miopenCTCLoss(miopenHandle_t, const miopenTensorDescriptor_t, const void *,
                             const int *, const int *, const int *, void *,
                             const miopenTensorDescriptor_t, void *, miopenCTCLossAlgo_t,
                             const miopenCTCLossDescriptor_t, void *, size_t);

miopenStatus_t miopenLayerNormForward(miopenHandle_t, miopenNormMode_t,
                                      const miopenTensorDescriptor_t, const void *,
                                      const miopenTensorDescriptor_t, const void *,
                                      const miopenTensorDescriptor_t, const void *, const float,
                                      const int32_t, const miopenTensorDescriptor_t, void *,
                                      const miopenTensorDescriptor_t, void *,
                                      const miopenTensorDescriptor_t, void *);
miopenStatus_t miopenAddLayerNormForward(miopenHandle_t, miopenNormMode_t,
                                         const miopenTensorDescriptor_t, const void *,
                                         const miopenTensorDescriptor_t, const void *,
                                         const miopenTensorDescriptor_t, const void *,
                                         const miopenTensorDescriptor_t, const void *, const float,
                                         const int32_t, const miopenTensorDescriptor_t, void *,
                                         const miopenTensorDescriptor_t, void *,
                                         const miopenTensorDescriptor_t, void *);
miopenStatus_t miopenGroupNormForward(miopenHandle_t, miopenNormMode_t,
                                      const miopenTensorDescriptor_t, const void *,
                                      const miopenTensorDescriptor_t, const void *,
                                      const miopenTensorDescriptor_t, const void *, const uint64_t,
                                      const float, const miopenTensorDescriptor_t, void *,
                                      const miopenTensorDescriptor_t, void *,
                                      const miopenTensorDescriptor_t, void *);
miopenStatus_t miopenT5LayerNormForward(miopenHandle_t, miopenNormMode_t,
                                        const miopenTensorDescriptor_t, const void *,
                                        const miopenTensorDescriptor_t, const void *, const float,
                                        const miopenTensorDescriptor_t, void *,
                                        const miopenTensorDescriptor_t, void *);
miopenStatus_t miopenGetT5LayerNormBackwardWorkspaceSize(
    miopenHandle_t, miopenNormMode_t, const miopenTensorDescriptor_t,
    const miopenTensorDescriptor_t, const miopenTensorDescriptor_t, const miopenTensorDescriptor_t,
    const miopenTensorDescriptor_t, const miopenTensorDescriptor_t, size_t *);
miopenStatus_t miopenT5LayerNormBackward(miopenHandle_t, miopenNormMode_t, void *, size_t,
                                         const miopenTensorDescriptor_t, const void *,
                                         const miopenTensorDescriptor_t, const void *,
                                         const miopenTensorDescriptor_t, const void *,
                                         const miopenTensorDescriptor_t, const void *,
                                         const miopenTensorDescriptor_t, void *,
                                         const miopenTensorDescriptor_t, void *);
miopenStatus_t miopenGetLayerNormBackwardWorkspaceSize(
    miopenHandle_t, miopenNormMode_t, const miopenTensorDescriptor_t,
    const miopenTensorDescriptor_t, const miopenTensorDescriptor_t, const miopenTensorDescriptor_t,
    const miopenTensorDescriptor_t, const int32_t, const miopenTensorDescriptor_t,
    const miopenTensorDescriptor_t, const miopenTensorDescriptor_t, size_t *);
miopenStatus_t miopenLayerNormBackward(
    miopenHandle_t, miopenNormMode_t, void *, size_t, const miopenTensorDescriptor_t, const void *,
    const miopenTensorDescriptor_t, const void *, const miopenTensorDescriptor_t, const void *,
    const miopenTensorDescriptor_t, const void *, const miopenTensorDescriptor_t, const void *,
    const int32_t, const miopenTensorDescriptor_t, void *, const miopenTensorDescriptor_t, void *,
    const miopenTensorDescriptor_t, void *);

#endif
