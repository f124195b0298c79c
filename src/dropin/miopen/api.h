/* api.h: MIOpen's C interface as far as it is implemented here, the same in releases 3.5 to 7.2.
 *
 * Written from the interface's facts: names, numbers, the order of parameters. With
 * RMCP_MIOPEN_HEADER defined (as <miopen/miopen.h>) the original's header is taken instead, so that
 * the compiler compares every definition of ours with it (tests/miopen/check_headers.sh).
 * renames.h, which is generated, gives our definitions names of their own; the exported names are
 * thunks (thunks.S). */
#ifndef RMCP_MIOPEN_API_H
#define RMCP_MIOPEN_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef RMCP_MIOPEN_RENAMES
#include RMCP_MIOPEN_RENAMES
#endif

#ifdef RMCP_MIOPEN_HEADER
#define MIOPEN_BETA_API 1
typedef struct miopenTensorArgument_t miopenTensorArgument_t; /* which C++ does not need */
#include RMCP_MIOPEN_HEADER
#else

#ifdef __cplusplus
extern "C" {
#endif

typedef void *miopenAcceleratorQueue_t; /* a hipStream_t */
typedef struct miopenHandle *miopenHandle_t;
typedef struct miopenTensorDescriptor *miopenTensorDescriptor_t;
typedef struct miopenConvolutionDescriptor *miopenConvolutionDescriptor_t;
typedef struct miopenActivationDescriptor *miopenActivationDescriptor_t;
typedef struct miopenProblem *miopenProblem_t;
typedef struct miopenRNNDescriptor *miopenRNNDescriptor_t;
typedef struct miopenDropoutDescriptor *miopenDropoutDescriptor_t;
typedef struct miopenSeqTensorDescriptor *miopenSeqTensorDescriptor_t;
typedef struct miopenCTCLossDescriptor *miopenCTCLossDescriptor_t;
typedef struct miopenMhaDescriptor *miopenMhaDescriptor_t;
typedef struct miopenFindOptions *miopenFindOptions_t;
typedef struct miopenSolution *miopenSolution_t;

typedef enum {
    miopenStatusSuccess = 0,
    miopenStatusNotInitialized = 1,
    miopenStatusInvalidValue = 2,
    miopenStatusBadParm = 3,
    miopenStatusAllocFailed = 4,
    miopenStatusInternalError = 5,
    miopenStatusNotImplemented = 6,
    miopenStatusUnknownError = 7,
    miopenStatusUnsupportedOp = 8,
    miopenStatusGpuOperationsSkipped = 9,
    miopenStatusVersionMismatch = 10
} miopenStatus_t;

typedef enum {
    miopenHalf = 0,
    miopenFloat = 1,
    miopenInt32 = 2,
    miopenInt8 = 3,
    miopenBFloat16 = 5,
    miopenDouble = 6,
    miopenFloat8 = 7,
    miopenBFloat8 = 8,
    miopenInt64 = 9
} miopenDataType_t;

typedef enum {
    miopenTensorNCHW = 0,
    miopenTensorNHWC = 1,
    miopenTensorCHWN = 2,
    miopenTensorNCHWc4 = 3,
    miopenTensorNCHWc8 = 4,
    miopenTensorCHWNc4 = 5,
    miopenTensorCHWNc8 = 6,
    miopenTensorNCDHW = 7,
    miopenTensorNDHWC = 8
} miopenTensorLayout_t;

typedef enum {
    miopenTensorOpAdd = 0,
    miopenTensorOpMul = 1,
    miopenTensorOpMin = 2,
    miopenTensorOpMax = 3
} miopenTensorOp_t;

typedef enum {
    miopenConvolution = 0,
    miopenTranspose = 1,
    miopenGroupConv = 2,
    miopenDepthwise = 3
} miopenConvolutionMode_t;

typedef enum {
    miopenRNNRELU = 0,
    miopenRNNTANH = 1,
    miopenLSTM = 2,
    miopenGRU = 3
} miopenRNNMode_t;
typedef enum { miopenRNNlinear = 0, miopenRNNskip = 1 } miopenRNNInputMode_t;
typedef enum { miopenRNNdefault = 0, miopenRNNfundamental = 1 } miopenRNNAlgo_t;
typedef enum { miopenRNNunidirection = 0, miopenRNNbidirection = 1 } miopenRNNDirectionMode_t;
typedef enum { miopenRNNNoBias = 0, miopenRNNwithBias = 1 } miopenRNNBiasMode_t;
typedef enum { miopenRNNIONotPadded = 0, miopenRNNIOWithPadding = 1 } miopenRNNPaddingMode_t;
typedef enum { miopenRNNTraining = 0, miopenRNNInference = 1 } miopenRNNFWDMode_t;
typedef enum {
    miopenRNNDataUnknownLayout = 0,
    miopenRNNDataSeqMajorNotPadded = 1,
    miopenRNNDataSeqMajorPadded = 2,
    miopenRNNDataBatchMajorPadded = 3
} miopenRNNBaseLayout_t;
typedef enum { MIOPEN_RNG_PSEUDO_XORWOW = 0 } miopenRNGType_t;

typedef enum { miopenBNPerActivation = 0, miopenBNSpatial = 1 } miopenBatchNormMode_t;

typedef enum {
    miopenActivationPASTHRU = 0,
    miopenActivationLOGISTIC = 1,
    miopenActivationTANH = 2,
    miopenActivationRELU = 3,
    miopenActivationSOFTRELU = 4,
    miopenActivationABS = 5,
    miopenActivationPOWER = 6,
    miopenActivationCLIPPEDRELU = 7,
    miopenActivationLEAKYRELU = 8,
    miopenActivationELU = 9,
    miopenActivationCLAMP = 10
} miopenActivationMode_t;

typedef enum {
    MIOPEN_CONVOLUTION_ATTRIB_FP16_ALT_IMPL = 0,
    MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC = 1,
    MIOPEN_CONVOLUTION_ATTRIB_FP8_ROUNDING_MODE = 2
} miopenConvolutionAttrib_t;

typedef enum {
    miopenConvolutionFindModeNormal = 1,
    miopenConvolutionFindModeFast = 2,
    miopenConvolutionFindModeHybrid = 3,
    miopenConvolutionFindModeDynamicHybrid = 5,
    miopenConvolutionFindModeTrustVerify = 6,
    miopenConvolutionFindModeTrustVerifyFull = 7,
    miopenConvolutionFindModeDefault = miopenConvolutionFindModeDynamicHybrid
} miopenConvolutionFindMode_t;

typedef enum {
    miopenConvolutionFwdAlgoGEMM = 0,
    miopenConvolutionFwdAlgoDirect = 1,
    miopenConvolutionFwdAlgoFFT = 2,
    miopenConvolutionFwdAlgoWinograd = 3,
    miopenConvolutionFwdAlgoImplicitGEMM = 5
} miopenConvFwdAlgorithm_t;

typedef enum {
    miopenConvolutionBwdWeightsAlgoGEMM = 0,
    miopenConvolutionBwdWeightsAlgoDirect = 1,
    miopenConvolutionBwdWeightsAlgoWinograd = 3,
    miopenConvolutionBwdWeightsAlgoImplicitGEMM = 5
} miopenConvBwdWeightsAlgorithm_t;

typedef enum {
    miopenConvolutionBwdDataAlgoGEMM = 0,
    miopenConvolutionBwdDataAlgoDirect = 1,
    miopenConvolutionBwdDataAlgoFFT = 2,
    miopenConvolutionBwdDataAlgoWinograd = 3,
    miopenTransposeBwdDataAlgoGEMM = 4,
    miopenConvolutionBwdDataAlgoImplicitGEMM = 5
} miopenConvBwdDataAlgorithm_t;

typedef enum {
    miopenConvolutionAlgoGEMM = 0,
    miopenConvolutionAlgoDirect = 1,
    miopenConvolutionAlgoFFT = 2,
    miopenConvolutionAlgoWinograd = 3,
    miopenConvolutionAlgoImplicitGEMM = 5
} miopenConvAlgorithm_t;

typedef struct {
    union {
        miopenConvFwdAlgorithm_t fwd_algo;
        miopenConvBwdWeightsAlgorithm_t bwd_weights_algo;
        miopenConvBwdDataAlgorithm_t bwd_data_algo;
    };
    float time; /* milliseconds */
    size_t memory;
} miopenConvAlgoPerf_t;

typedef struct {
    float time; /* milliseconds; below 0: an estimate */
    size_t workspace_size;
    uint64_t solution_id;
    miopenConvAlgorithm_t algorithm;
} miopenConvSolution_t;

typedef enum {
    miopenProblemDirectionForward = 0,
    miopenProblemDirectionBackward = 1,
    miopenProblemDirectionBackwardWeights = 2,
    miopenProblemDirectionInference = 4
} miopenProblemDirection_t;

/* As from ROCm 6.4 on; before, those from 36 on were others. The scalars make the type unsigned, as
 * the original's is. */
__extension__ typedef enum {
    miopenTensorArgumentIdInvalid = 0,
    miopenTensorConvolutionX = 1,
    miopenTensorConvolutionW = 2,
    miopenTensorConvolutionY = 3,
    miopenTensorMhaK = 4,
    miopenTensorMhaQ = 5,
    miopenTensorMhaV = 6,
    miopenTensorMhaDescaleK = 7,
    miopenTensorMhaDescaleQ = 8,
    miopenTensorMhaDescaleV = 9,
    miopenTensorMhaDescaleS = 10,
    miopenTensorMhaScaleS = 11,
    miopenTensorMhaScaleO = 12,
    miopenTensorMhaDropoutProbability = 13,
    miopenTensorMhaDropoutSeed = 14,
    miopenTensorMhaDropoutOffset = 15,
    miopenTensorMhaO = 16,
    miopenTensorMhaAmaxO = 17,
    miopenTensorMhaAmaxS = 18,
    miopenTensorMhaM = 19,
    miopenTensorMhaZInv = 20,
    miopenTensorMhaDO = 21,
    miopenTensorMhaDescaleO = 22,
    miopenTensorMhaDescaleDO = 23,
    miopenTensorMhaDescaleDS = 24,
    miopenTensorMhaScaleDS = 25,
    miopenTensorMhaScaleDQ = 26,
    miopenTensorMhaScaleDK = 27,
    miopenTensorMhaScaleDV = 28,
    miopenTensorMhaDQ = 29,
    miopenTensorMhaDK = 30,
    miopenTensorMhaDV = 31,
    miopenTensorMhaAmaxDQ = 32,
    miopenTensorMhaAmaxDK = 33,
    miopenTensorMhaAmaxDV = 34,
    miopenTensorMhaAmaxDS = 35,
    miopenTensorMhaBias = 36,
    miopenTensorActivationX = 37,
    miopenTensorActivationY = 38,
    miopenTensorActivationDX = 39,
    miopenTensorActivationDY = 40,
    miopenTensorBiasX = 41,
    miopenTensorBiasY = 42,
    miopenTensorBias = 43,
    miopenTensorSoftmaxX = 44,
    miopenTensorSoftmaxY = 45,
    miopenTensorSoftmaxDX = 46,
    miopenTensorSoftmaxDY = 47,
    miopenTensorBatchnormX = 48,
    miopenTensorBatchnormY = 49,
    miopenTensorBatchnormRunningMean = 50,
    miopenTensorBatchnormRunningVariance = 51,
    miopenTensorBatchnormSavedMean = 52,
    miopenTensorBatchnormSavedVariance = 53,
    miopenTensorBatchnormScale = 54,
    miopenTensorBatchnormScaleDiff = 55,
    miopenTensorBatchnormEstimatedMean = 56,
    miopenTensorBatchnormEstimatedVariance = 57,
    miopenTensorBatchnormBias = 58,
    miopenTensorBatchnormBiasDiff = 59,
    miopenTensorBatchnormDX = 60,
    miopenTensorBatchnormDY = 61,
    miopenTensorArgumentIsScalar = 1U << 31,
    miopenTensorMhaMask = 1U << 31 | 1,
    miopenScalarBatchnormExpAvgFactor = 1U << 31 | 2,
    miopenScalarBatchnormEpsilon = 1U << 31 | 3
} miopenTensorArgumentId_t;

typedef enum {
    miopenFindResultsOrderByTime = 0,
    miopenFindResultsOrderByWorkspaceSize = 1
} miopenFindResultsOrder_t;

typedef enum {
    miopenTuningPolicyNone = 1,
    miopenTuningPolicyDbUpdate = 2,
    miopenTuningPolicySearch = 3,
    miopenTuningPolicySearchDbUpdate = 4,
    miopenTuningPolicyDbClean = 5
} miopenTuningPolicy_t;

typedef struct miopenTensorArgument_t {
    miopenTensorArgumentId_t id;
    miopenTensorDescriptor_t *descriptor;
    void *buffer;
} miopenTensorArgument_t;

typedef void *(*miopenAllocatorFunction)(void *context, size_t sizeBytes);
typedef void (*miopenDeallocatorFunction)(void *context, void *memory);

/* Parameters are described where the functions are defined. */
const char *miopenGetErrorString(miopenStatus_t);
miopenStatus_t miopenGetVersion(size_t *, size_t *, size_t *);
miopenStatus_t miopenCreate(miopenHandle_t *);
miopenStatus_t miopenCreateWithStream(miopenHandle_t *, miopenAcceleratorQueue_t);
miopenStatus_t miopenDestroy(miopenHandle_t);
miopenStatus_t miopenSetStream(miopenHandle_t, miopenAcceleratorQueue_t);
miopenStatus_t miopenGetStream(miopenHandle_t, miopenAcceleratorQueue_t *);
miopenStatus_t miopenSetAllocator(miopenHandle_t, miopenAllocatorFunction,
                                  miopenDeallocatorFunction, void *);
miopenStatus_t miopenGetKernelTime(miopenHandle_t, float *);
miopenStatus_t miopenEnableProfiling(miopenHandle_t, bool);
miopenStatus_t miopenCreateTensorDescriptor(miopenTensorDescriptor_t *);
miopenStatus_t miopenSet4dTensorDescriptor(miopenTensorDescriptor_t, miopenDataType_t, int, int,
                                           int, int);
miopenStatus_t miopenSetNdTensorDescriptorWithLayout(miopenTensorDescriptor_t, miopenDataType_t,
                                                     miopenTensorLayout_t, const int *, int);
miopenStatus_t miopenSet4dTensorDescriptorEx(miopenTensorDescriptor_t, miopenDataType_t, int, int,
                                             int, int, int, int, int, int);
miopenStatus_t miopenGet4dTensorDescriptor(miopenTensorDescriptor_t, miopenDataType_t *, int *,
                                           int *, int *, int *, int *, int *, int *, int *);
miopenStatus_t miopenSetTensorDescriptor(miopenTensorDescriptor_t, miopenDataType_t, int,
                                         const int *, const int *);
miopenStatus_t miopenSetTensorDescriptorV2(miopenTensorDescriptor_t, miopenDataType_t, int,
                                           const size_t *, const size_t *);
miopenStatus_t miopenSetTensorCastType(miopenTensorDescriptor_t, miopenDataType_t);
miopenStatus_t miopenGetTensorDescriptorSize(miopenTensorDescriptor_t, int *);
miopenStatus_t miopenGetTensorDescriptor(miopenTensorDescriptor_t, miopenDataType_t *, int *,
                                         int *);
miopenStatus_t miopenDestroyTensorDescriptor(miopenTensorDescriptor_t);
miopenStatus_t miopenOpTensor(miopenHandle_t, miopenTensorOp_t, const void *,
                              miopenTensorDescriptor_t, const void *, const void *,
                              miopenTensorDescriptor_t, const void *, const void *,
                              miopenTensorDescriptor_t, void *);
miopenStatus_t miopenSetTensor(miopenHandle_t, miopenTensorDescriptor_t, void *, const void *);
miopenStatus_t miopenScaleTensor(miopenHandle_t, miopenTensorDescriptor_t, void *, const void *);
miopenStatus_t miopenGetTensorNumBytes(miopenTensorDescriptor_t, size_t *);
miopenStatus_t miopenTransformTensor(miopenHandle_t, const void *, miopenTensorDescriptor_t,
                                     const void *, const void *, miopenTensorDescriptor_t, void *);
miopenStatus_t miopenCreateConvolutionDescriptor(miopenConvolutionDescriptor_t *);
miopenStatus_t miopenInitConvolutionDescriptor(miopenConvolutionDescriptor_t,
                                               miopenConvolutionMode_t, int, int, int, int, int,
                                               int);
miopenStatus_t miopenInitConvolutionNdDescriptor(miopenConvolutionDescriptor_t, int, const int *,
                                                 const int *, const int *, miopenConvolutionMode_t);
miopenStatus_t miopenGetConvolutionSpatialDim(miopenConvolutionDescriptor_t, int *);
miopenStatus_t miopenGetConvolutionDescriptor(miopenConvolutionDescriptor_t,
                                              miopenConvolutionMode_t *, int *, int *, int *, int *,
                                              int *, int *);
miopenStatus_t miopenGetConvolutionNdDescriptor(miopenConvolutionDescriptor_t, int, int *, int *,
                                                int *, int *, miopenConvolutionMode_t *);
miopenStatus_t miopenGetConvolutionGroupCount(miopenConvolutionDescriptor_t, int *);
miopenStatus_t miopenSetConvolutionGroupCount(miopenConvolutionDescriptor_t, int);
miopenStatus_t miopenSetTransposeConvOutputPadding(miopenConvolutionDescriptor_t, int, int);
miopenStatus_t miopenSetTransposeConvNdOutputPadding(miopenConvolutionDescriptor_t, int,
                                                     const int *);
miopenStatus_t miopenGetConvolutionForwardOutputDim(miopenConvolutionDescriptor_t,
                                                    miopenTensorDescriptor_t,
                                                    miopenTensorDescriptor_t, int *, int *, int *,
                                                    int *);
miopenStatus_t miopenGetConvolutionNdForwardOutputDim(miopenConvolutionDescriptor_t,
                                                      miopenTensorDescriptor_t,
                                                      miopenTensorDescriptor_t, int *, int *);
miopenStatus_t miopenDestroyConvolutionDescriptor(miopenConvolutionDescriptor_t);
miopenStatus_t miopenSetConvolutionAttribute(miopenConvolutionDescriptor_t,
                                             miopenConvolutionAttrib_t, int);
miopenStatus_t miopenGetConvolutionAttribute(miopenConvolutionDescriptor_t,
                                             miopenConvolutionAttrib_t, int *);
miopenStatus_t miopenSetConvolutionFindMode(miopenConvolutionDescriptor_t,
                                            miopenConvolutionFindMode_t);
miopenStatus_t miopenGetConvolutionFindMode(miopenConvolutionDescriptor_t,
                                            miopenConvolutionFindMode_t *);
miopenStatus_t miopenConvolutionForwardGetSolutionCount(miopenHandle_t, miopenTensorDescriptor_t,
                                                        miopenTensorDescriptor_t,
                                                        miopenConvolutionDescriptor_t,
                                                        miopenTensorDescriptor_t, size_t *);
miopenStatus_t miopenConvolutionForwardGetSolution(miopenHandle_t, miopenTensorDescriptor_t,
                                                   miopenTensorDescriptor_t,
                                                   miopenConvolutionDescriptor_t,
                                                   miopenTensorDescriptor_t, size_t, size_t *,
                                                   miopenConvSolution_t *);
miopenStatus_t miopenConvolutionForwardGetSolutionWorkspaceSize(
    miopenHandle_t, miopenTensorDescriptor_t, miopenTensorDescriptor_t,
    miopenConvolutionDescriptor_t, miopenTensorDescriptor_t, uint64_t, size_t *);
miopenStatus_t miopenConvolutionForwardCompileSolution(miopenHandle_t, miopenTensorDescriptor_t,
                                                       miopenTensorDescriptor_t,
                                                       miopenConvolutionDescriptor_t,
                                                       miopenTensorDescriptor_t, uint64_t);
miopenStatus_t miopenConvolutionForwardImmediate(miopenHandle_t, miopenTensorDescriptor_t,
                                                 const void *, miopenTensorDescriptor_t,
                                                 const void *, miopenConvolutionDescriptor_t,
                                                 miopenTensorDescriptor_t, void *, void *, size_t,
                                                 uint64_t);
miopenStatus_t miopenConvolutionBackwardDataGetSolutionCount(miopenHandle_t,
                                                             miopenTensorDescriptor_t,
                                                             miopenTensorDescriptor_t,
                                                             miopenConvolutionDescriptor_t,
                                                             miopenTensorDescriptor_t, size_t *);
miopenStatus_t miopenConvolutionBackwardDataGetSolution(miopenHandle_t, miopenTensorDescriptor_t,
                                                        miopenTensorDescriptor_t,
                                                        miopenConvolutionDescriptor_t,
                                                        miopenTensorDescriptor_t, size_t, size_t *,
                                                        miopenConvSolution_t *);
miopenStatus_t miopenConvolutionBackwardDataGetSolutionWorkspaceSize(
    miopenHandle_t, miopenTensorDescriptor_t, miopenTensorDescriptor_t,
    miopenConvolutionDescriptor_t, miopenTensorDescriptor_t, uint64_t, size_t *);
miopenStatus_t miopenConvolutionBackwardDataCompileSolution(miopenHandle_t,
                                                            miopenTensorDescriptor_t,
                                                            miopenTensorDescriptor_t,
                                                            miopenConvolutionDescriptor_t,
                                                            miopenTensorDescriptor_t, uint64_t);
miopenStatus_t miopenConvolutionBackwardDataImmediate(miopenHandle_t, miopenTensorDescriptor_t,
                                                      const void *, miopenTensorDescriptor_t,
                                                      const void *, miopenConvolutionDescriptor_t,
                                                      miopenTensorDescriptor_t, void *, void *,
                                                      size_t, uint64_t);
miopenStatus_t miopenConvolutionBackwardWeightsGetSolutionCount(miopenHandle_t,
                                                                miopenTensorDescriptor_t,
                                                                miopenTensorDescriptor_t,
                                                                miopenConvolutionDescriptor_t,
                                                                miopenTensorDescriptor_t, size_t *);
miopenStatus_t miopenConvolutionBackwardWeightsGetSolution(miopenHandle_t, miopenTensorDescriptor_t,
                                                           miopenTensorDescriptor_t,
                                                           miopenConvolutionDescriptor_t,
                                                           miopenTensorDescriptor_t, size_t,
                                                           size_t *, miopenConvSolution_t *);
miopenStatus_t miopenConvolutionBackwardWeightsGetSolutionWorkspaceSize(
    miopenHandle_t, miopenTensorDescriptor_t, miopenTensorDescriptor_t,
    miopenConvolutionDescriptor_t, miopenTensorDescriptor_t, uint64_t, size_t *);
miopenStatus_t miopenConvolutionBackwardWeightsCompileSolution(miopenHandle_t,
                                                               miopenTensorDescriptor_t,
                                                               miopenTensorDescriptor_t,
                                                               miopenConvolutionDescriptor_t,
                                                               miopenTensorDescriptor_t, uint64_t);
miopenStatus_t miopenConvolutionBackwardWeightsImmediate(
    miopenHandle_t, miopenTensorDescriptor_t, const void *, miopenTensorDescriptor_t, const void *,
    miopenConvolutionDescriptor_t, miopenTensorDescriptor_t, void *, void *, size_t, uint64_t);
miopenStatus_t miopenConvolutionForwardGetWorkSpaceSize(miopenHandle_t, miopenTensorDescriptor_t,
                                                        miopenTensorDescriptor_t,
                                                        miopenConvolutionDescriptor_t,
                                                        miopenTensorDescriptor_t, size_t *);
miopenStatus_t miopenFindConvolutionForwardAlgorithm(miopenHandle_t, miopenTensorDescriptor_t,
                                                     const void *, miopenTensorDescriptor_t,
                                                     const void *, miopenConvolutionDescriptor_t,
                                                     miopenTensorDescriptor_t, void *, int, int *,
                                                     miopenConvAlgoPerf_t *, void *, size_t, bool);
miopenStatus_t miopenConvolutionForward(miopenHandle_t, const void *, miopenTensorDescriptor_t,
                                        const void *, miopenTensorDescriptor_t, const void *,
                                        miopenConvolutionDescriptor_t, miopenConvFwdAlgorithm_t,
                                        const void *, miopenTensorDescriptor_t, void *, void *,
                                        size_t);
miopenStatus_t miopenConvolutionForwardBias(miopenHandle_t, const void *, miopenTensorDescriptor_t,
                                            const void *, const void *, miopenTensorDescriptor_t,
                                            void *);
miopenStatus_t miopenConvolutionBackwardDataGetWorkSpaceSize(miopenHandle_t,
                                                             miopenTensorDescriptor_t,
                                                             miopenTensorDescriptor_t,
                                                             miopenConvolutionDescriptor_t,
                                                             miopenTensorDescriptor_t, size_t *);
miopenStatus_t miopenFindConvolutionBackwardDataAlgorithm(
    miopenHandle_t, miopenTensorDescriptor_t, const void *, miopenTensorDescriptor_t, const void *,
    miopenConvolutionDescriptor_t, miopenTensorDescriptor_t, void *, int, int *,
    miopenConvAlgoPerf_t *, void *, size_t, bool);
miopenStatus_t miopenConvolutionBackwardData(miopenHandle_t, const void *, miopenTensorDescriptor_t,
                                             const void *, miopenTensorDescriptor_t, const void *,
                                             miopenConvolutionDescriptor_t,
                                             miopenConvBwdDataAlgorithm_t, const void *,
                                             miopenTensorDescriptor_t, void *, void *, size_t);
miopenStatus_t miopenConvolutionBackwardWeightsGetWorkSpaceSize(miopenHandle_t,
                                                                miopenTensorDescriptor_t,
                                                                miopenTensorDescriptor_t,
                                                                miopenConvolutionDescriptor_t,
                                                                miopenTensorDescriptor_t, size_t *);
miopenStatus_t miopenFindConvolutionBackwardWeightsAlgorithm(
    miopenHandle_t, miopenTensorDescriptor_t, const void *, miopenTensorDescriptor_t, const void *,
    miopenConvolutionDescriptor_t, miopenTensorDescriptor_t, void *, int, int *,
    miopenConvAlgoPerf_t *, void *, size_t, bool);
miopenStatus_t miopenConvolutionBackwardWeights(miopenHandle_t, const void *,
                                                miopenTensorDescriptor_t, const void *,
                                                miopenTensorDescriptor_t, const void *,
                                                miopenConvolutionDescriptor_t,
                                                miopenConvBwdWeightsAlgorithm_t, const void *,
                                                miopenTensorDescriptor_t, void *, void *, size_t);
miopenStatus_t miopenConvolutionBackwardBias(miopenHandle_t, const void *, miopenTensorDescriptor_t,
                                             const void *, const void *, miopenTensorDescriptor_t,
                                             void *);
miopenStatus_t miopenDeriveBNTensorDescriptor(miopenTensorDescriptor_t, miopenTensorDescriptor_t,
                                              miopenBatchNormMode_t);
miopenStatus_t miopenBatchNormalizationForwardTraining(miopenHandle_t, miopenBatchNormMode_t,
                                                       void *, void *, miopenTensorDescriptor_t,
                                                       const void *, miopenTensorDescriptor_t,
                                                       void *, miopenTensorDescriptor_t, void *,
                                                       void *, double, void *, void *, double,
                                                       void *, void *);
miopenStatus_t miopenBatchNormalizationForwardTraining_V2(
    miopenHandle_t, miopenBatchNormMode_t, void *, void *, miopenTensorDescriptor_t, const void *,
    miopenTensorDescriptor_t, void *, miopenTensorDescriptor_t, miopenTensorDescriptor_t,
    miopenTensorDescriptor_t, miopenTensorDescriptor_t, void *, void *, double, void *, void *,
    double, void *, void *);
miopenStatus_t miopenBatchNormForwardTrainingActivation(
    miopenHandle_t, miopenBatchNormMode_t, void *, void *, miopenTensorDescriptor_t, const void *,
    miopenTensorDescriptor_t, void *, miopenTensorDescriptor_t, miopenTensorDescriptor_t,
    miopenTensorDescriptor_t, miopenTensorDescriptor_t, void *, void *, double, void *, void *,
    double, void *, void *, miopenActivationDescriptor_t);
miopenStatus_t miopenBatchNormalizationForwardInference(miopenHandle_t, miopenBatchNormMode_t,
                                                        void *, void *, miopenTensorDescriptor_t,
                                                        const void *, miopenTensorDescriptor_t,
                                                        void *, miopenTensorDescriptor_t, void *,
                                                        void *, void *, void *, double);
miopenStatus_t miopenBatchNormalizationForwardInference_V2(
    miopenHandle_t, miopenBatchNormMode_t, void *, void *, miopenTensorDescriptor_t, const void *,
    miopenTensorDescriptor_t, void *, miopenTensorDescriptor_t, miopenTensorDescriptor_t,
    miopenTensorDescriptor_t, miopenTensorDescriptor_t, void *, void *, void *, void *, double);
miopenStatus_t miopenBatchNormForwardInferenceActivation(
    miopenHandle_t, miopenBatchNormMode_t, void *, void *, miopenTensorDescriptor_t, const void *,
    miopenTensorDescriptor_t, void *, miopenTensorDescriptor_t, miopenTensorDescriptor_t,
    miopenTensorDescriptor_t, miopenTensorDescriptor_t, void *, void *, void *, void *, double,
    miopenActivationDescriptor_t);
miopenStatus_t miopenBatchNormalizationBackward(miopenHandle_t, miopenBatchNormMode_t, const void *,
                                                const void *, const void *, const void *,
                                                miopenTensorDescriptor_t, const void *,
                                                miopenTensorDescriptor_t, const void *,
                                                miopenTensorDescriptor_t, void *,
                                                miopenTensorDescriptor_t, const void *, void *,
                                                void *, double, const void *, const void *);
miopenStatus_t miopenBatchNormalizationBackward_V2(
    miopenHandle_t, miopenBatchNormMode_t, const void *, const void *, const void *, const void *,
    miopenTensorDescriptor_t, const void *, miopenTensorDescriptor_t, const void *,
    miopenTensorDescriptor_t, void *, miopenTensorDescriptor_t, miopenTensorDescriptor_t,
    miopenTensorDescriptor_t, miopenTensorDescriptor_t, const void *, void *, void *, double,
    const void *, const void *);
miopenStatus_t miopenBatchNormBackwardActivation(
    miopenHandle_t, miopenBatchNormMode_t, const void *, const void *, const void *, const void *,
    miopenTensorDescriptor_t, const void *, miopenTensorDescriptor_t, const void *,
    miopenTensorDescriptor_t, void *, miopenTensorDescriptor_t, miopenTensorDescriptor_t,
    miopenTensorDescriptor_t, miopenTensorDescriptor_t, const void *, const void *, void *, void *,
    double, const void *, const void *, miopenActivationDescriptor_t);
miopenStatus_t miopenCreateActivationDescriptor(miopenActivationDescriptor_t *);
miopenStatus_t miopenSetActivationDescriptor(miopenActivationDescriptor_t, miopenActivationMode_t,
                                             double, double, double);
miopenStatus_t miopenGetActivationDescriptor(miopenActivationDescriptor_t, miopenActivationMode_t *,
                                             double *, double *, double *);
miopenStatus_t miopenDestroyActivationDescriptor(miopenActivationDescriptor_t);
miopenStatus_t miopenConvolutionBiasActivationForward(
    miopenHandle_t, const void *, miopenTensorDescriptor_t, const void *, miopenTensorDescriptor_t,
    const void *, miopenConvolutionDescriptor_t, miopenConvFwdAlgorithm_t, void *, size_t,
    const void *, miopenTensorDescriptor_t, const void *, miopenTensorDescriptor_t, const void *,
    miopenActivationDescriptor_t, miopenTensorDescriptor_t, void *);
miopenStatus_t miopenCreateSeqTensorDescriptor(miopenSeqTensorDescriptor_t *);
miopenStatus_t miopenDestroySeqTensorDescriptor(miopenSeqTensorDescriptor_t);
miopenStatus_t miopenSetRNNDataSeqTensorDescriptor(miopenSeqTensorDescriptor_t, miopenDataType_t,
                                                   miopenRNNBaseLayout_t, int, int, int,
                                                   const int *, void *);
miopenStatus_t miopenGetRNNDataSeqTensorDescriptor(miopenSeqTensorDescriptor_t, miopenDataType_t *,
                                                   miopenRNNBaseLayout_t *, int *, int *, int *,
                                                   int, int *, void *);
miopenStatus_t miopenCreateRNNDescriptor(miopenRNNDescriptor_t *);
miopenStatus_t miopenDestroyRNNDescriptor(miopenRNNDescriptor_t);
miopenStatus_t miopenGetRNNDescriptor(miopenRNNDescriptor_t, miopenRNNMode_t *, miopenRNNAlgo_t *,
                                      miopenRNNInputMode_t *, miopenRNNDirectionMode_t *,
                                      miopenRNNBiasMode_t *, int *, int *);
miopenStatus_t miopenGetRNNDescriptor_V2(miopenRNNDescriptor_t, int *, int *,
                                         miopenDropoutDescriptor_t *, miopenRNNInputMode_t *,
                                         miopenRNNDirectionMode_t *, miopenRNNMode_t *,
                                         miopenRNNBiasMode_t *, miopenRNNAlgo_t *,
                                         miopenDataType_t *);
miopenStatus_t miopenSetRNNDescriptor(miopenRNNDescriptor_t, int, int, miopenRNNInputMode_t,
                                      miopenRNNDirectionMode_t, miopenRNNMode_t,
                                      miopenRNNBiasMode_t, miopenRNNAlgo_t, miopenDataType_t);
miopenStatus_t miopenSetRNNDescriptor_V2(miopenRNNDescriptor_t, int, int, miopenDropoutDescriptor_t,
                                         miopenRNNInputMode_t, miopenRNNDirectionMode_t,
                                         miopenRNNMode_t, miopenRNNBiasMode_t, miopenRNNAlgo_t,
                                         miopenDataType_t);
miopenStatus_t miopenSetRNNPaddingMode(miopenRNNDescriptor_t, miopenRNNPaddingMode_t);
miopenStatus_t miopenGetRNNPaddingMode(miopenRNNDescriptor_t, miopenRNNPaddingMode_t *);
miopenStatus_t miopenGetRNNWorkspaceSize(miopenHandle_t, miopenRNNDescriptor_t, int,
                                         const miopenTensorDescriptor_t *, size_t *);
miopenStatus_t miopenGetRNNTrainingReserveSize(miopenHandle_t, miopenRNNDescriptor_t, int,
                                               const miopenTensorDescriptor_t *, size_t *);
miopenStatus_t miopenGetRNNTempSpaceSizes(miopenHandle_t, miopenRNNDescriptor_t,
                                          miopenSeqTensorDescriptor_t, miopenRNNFWDMode_t, size_t *,
                                          size_t *);
miopenStatus_t miopenGetRNNParamsSize(miopenHandle_t, miopenRNNDescriptor_t,
                                      miopenTensorDescriptor_t, size_t *, miopenDataType_t);
miopenStatus_t miopenGetRNNParamsDescriptor(miopenHandle_t, miopenRNNDescriptor_t,
                                            miopenTensorDescriptor_t, miopenTensorDescriptor_t,
                                            miopenDataType_t);
miopenStatus_t miopenGetRNNInputTensorSize(miopenHandle_t, miopenRNNDescriptor_t, int,
                                           miopenTensorDescriptor_t *, size_t *);
miopenStatus_t miopenGetRNNHiddenTensorSize(miopenHandle_t, miopenRNNDescriptor_t, int,
                                            miopenTensorDescriptor_t *, size_t *);
miopenStatus_t miopenGetRNNLayerParamSize(miopenHandle_t, miopenRNNDescriptor_t, int,
                                          miopenTensorDescriptor_t, int, size_t *);
miopenStatus_t miopenGetRNNLayerBiasSize(miopenHandle_t, miopenRNNDescriptor_t, int, int, size_t *);
miopenStatus_t miopenGetRNNLayerParam(miopenHandle_t, miopenRNNDescriptor_t, int,
                                      miopenTensorDescriptor_t, miopenTensorDescriptor_t,
                                      const void *, int, miopenTensorDescriptor_t, void *);
miopenStatus_t miopenGetRNNLayerBias(miopenHandle_t, miopenRNNDescriptor_t, int,
                                     miopenTensorDescriptor_t, miopenTensorDescriptor_t,
                                     const void *, int, miopenTensorDescriptor_t, void *);
miopenStatus_t miopenSetRNNLayerParam(miopenHandle_t, miopenRNNDescriptor_t, int,
                                      miopenTensorDescriptor_t, miopenTensorDescriptor_t, void *,
                                      int, miopenTensorDescriptor_t, const void *);
miopenStatus_t miopenSetRNNLayerBias(miopenHandle_t, miopenRNNDescriptor_t, int,
                                     miopenTensorDescriptor_t, miopenTensorDescriptor_t, void *,
                                     int, miopenTensorDescriptor_t, const void *);
miopenStatus_t miopenGetRNNLayerParamOffset(miopenRNNDescriptor_t, int, miopenTensorDescriptor_t,
                                            int, miopenTensorDescriptor_t, size_t *);
miopenStatus_t miopenGetRNNLayerBiasOffset(miopenRNNDescriptor_t, int, miopenTensorDescriptor_t,
                                           int, miopenTensorDescriptor_t, size_t *);
miopenStatus_t miopenRNNForward(miopenHandle_t, miopenRNNDescriptor_t, miopenRNNFWDMode_t,
                                miopenSeqTensorDescriptor_t, const void *, miopenTensorDescriptor_t,
                                const void *, void *, miopenTensorDescriptor_t, const void *,
                                void *, miopenSeqTensorDescriptor_t, void *, const void *, size_t,
                                void *, size_t, void *, size_t);
miopenStatus_t miopenRNNBackwardSeqData(miopenHandle_t, miopenRNNDescriptor_t,
                                        miopenSeqTensorDescriptor_t, const void *, const void *,
                                        miopenTensorDescriptor_t, const void *, const void *,
                                        void *, miopenTensorDescriptor_t, const void *,
                                        const void *, void *, miopenSeqTensorDescriptor_t, void *,
                                        const void *, size_t, void *, size_t, void *, size_t);
miopenStatus_t miopenRNNBackwardWeightsSeqTensor(miopenHandle_t, miopenRNNDescriptor_t,
                                                 miopenSeqTensorDescriptor_t, const void *,
                                                 miopenTensorDescriptor_t, const void *,
                                                 miopenSeqTensorDescriptor_t, const void *, void *,
                                                 size_t, void *, size_t, const void *, size_t);
miopenStatus_t miopenRNNForwardTraining(miopenHandle_t, miopenRNNDescriptor_t, int,
                                        const miopenTensorDescriptor_t *, const void *,
                                        miopenTensorDescriptor_t, const void *,
                                        miopenTensorDescriptor_t, const void *,
                                        miopenTensorDescriptor_t, const void *,
                                        const miopenTensorDescriptor_t *, void *,
                                        miopenTensorDescriptor_t, void *, miopenTensorDescriptor_t,
                                        void *, void *, size_t, void *, size_t);
miopenStatus_t miopenRNNForwardInference(
    miopenHandle_t, miopenRNNDescriptor_t, int, const miopenTensorDescriptor_t *, const void *,
    miopenTensorDescriptor_t, const void *, miopenTensorDescriptor_t, const void *,
    miopenTensorDescriptor_t, const void *, const miopenTensorDescriptor_t *, void *,
    miopenTensorDescriptor_t, void *, miopenTensorDescriptor_t, void *, void *, size_t);
miopenStatus_t miopenRNNBackwardData(
    miopenHandle_t, miopenRNNDescriptor_t, int, const miopenTensorDescriptor_t *, const void *,
    const miopenTensorDescriptor_t *, const void *, miopenTensorDescriptor_t, const void *,
    miopenTensorDescriptor_t, const void *, miopenTensorDescriptor_t, const void *,
    miopenTensorDescriptor_t, const void *, miopenTensorDescriptor_t, const void *,
    const miopenTensorDescriptor_t *, void *, miopenTensorDescriptor_t, void *,
    miopenTensorDescriptor_t, void *, void *, size_t, void *, size_t);
miopenStatus_t miopenRNNBackwardWeights(miopenHandle_t, miopenRNNDescriptor_t, int,
                                        const miopenTensorDescriptor_t *, const void *,
                                        miopenTensorDescriptor_t, const void *,
                                        const miopenTensorDescriptor_t *, const void *,
                                        miopenTensorDescriptor_t, void *, void *, size_t,
                                        const void *, size_t);
#include "dropin/miopen/api_elements.h"
miopenStatus_t miopenCreateDropoutDescriptor(miopenDropoutDescriptor_t *);
miopenStatus_t miopenDestroyDropoutDescriptor(miopenDropoutDescriptor_t);
miopenStatus_t miopenDropoutGetStatesSize(miopenHandle_t, size_t *);
miopenStatus_t miopenGetDropoutDescriptor(miopenDropoutDescriptor_t, miopenHandle_t, float *,
                                          void **, unsigned long long *, bool *, bool *,
                                          miopenRNGType_t *);
miopenStatus_t miopenRestoreDropoutDescriptor(miopenDropoutDescriptor_t, miopenHandle_t, float,
                                              void *, size_t, unsigned long long, bool, bool,
                                              miopenRNGType_t);
miopenStatus_t miopenSetDropoutDescriptor(miopenDropoutDescriptor_t, miopenHandle_t, float, void *,
                                          size_t, unsigned long long, bool, bool, miopenRNGType_t);
typedef enum { MIOPEN_CTC_LOSS_ALGO_DETERMINISTIC = 0 } miopenCTCLossAlgo_t;

typedef enum {
    MIOPEN_ELEMENTWISE_AFFINE = 0, /* neither weight nor bias, despite its name */
    MIOPEN_WEIGHT_BIAS = 1,
    MIOPEN_ELEMENTWISE_AFFINE_FUSED_ADD = 2,
    MIOPEN_WEIGHT_BIAS_FUSED_ADD = 3,
    MIOPEN_ELEMENTWISE_AFFINE_T5 = 4,
    MIOPEN_WEIGHT_BIAS_T5 = 5
} miopenNormMode_t;

miopenStatus_t miopenCreateConvProblem(miopenProblem_t *, miopenConvolutionDescriptor_t,
                                       miopenProblemDirection_t);
miopenStatus_t miopenDestroyProblem(miopenProblem_t);
miopenStatus_t miopenSetProblemTensorDescriptor(miopenProblem_t, miopenTensorArgumentId_t,
                                                miopenTensorDescriptor_t);
miopenStatus_t miopenCreateFindOptions(miopenFindOptions_t *);
miopenStatus_t miopenDestroyFindOptions(miopenFindOptions_t);
miopenStatus_t miopenSetFindOptionTuning(miopenFindOptions_t, int);
miopenStatus_t miopenSetFindOptionResultsOrder(miopenFindOptions_t, miopenFindResultsOrder_t);
miopenStatus_t miopenSetFindOptionWorkspaceLimit(miopenFindOptions_t, size_t);
miopenStatus_t miopenSetFindOptionPreallocatedWorkspace(miopenFindOptions_t, void *, size_t);
miopenStatus_t miopenSetFindOptionPreallocatedTensor(miopenFindOptions_t, miopenTensorArgumentId_t,
                                                     void *);
miopenStatus_t miopenSetFindOptionAttachBinaries(miopenFindOptions_t, unsigned);
miopenStatus_t miopenFindSolutions(miopenHandle_t, miopenProblem_t, miopenFindOptions_t,
                                   miopenSolution_t *, size_t *, size_t);
miopenStatus_t miopenRunSolution(miopenHandle_t, miopenSolution_t, size_t,
                                 const miopenTensorArgument_t *, void *, size_t);
miopenStatus_t miopenDestroySolution(miopenSolution_t);
miopenStatus_t miopenLoadSolution(miopenSolution_t *, const char *, size_t);
miopenStatus_t miopenSaveSolution(miopenSolution_t, char *);
miopenStatus_t miopenGetSolutionSize(miopenSolution_t, size_t *);
miopenStatus_t miopenGetSolutionWorkspaceSize(miopenSolution_t, size_t *);
miopenStatus_t miopenGetSolutionTime(miopenSolution_t, float *);
miopenStatus_t miopenGetSolutionSolverId(miopenSolution_t, uint64_t *);
miopenStatus_t miopenGetSolverIdConvAlgorithm(uint64_t, miopenConvAlgorithm_t *);
miopenStatus_t miopenSetTuningPolicy(miopenHandle_t, miopenTuningPolicy_t);
miopenStatus_t miopenGetTuningPolicy(miopenHandle_t, miopenTuningPolicy_t *);

#include "dropin/miopen/api_norm.h"
#include "dropin/miopen/api_pool.h"
#include "dropin/miopen/api_reduce.h"

/* Last: it has types of the others. */
#include "dropin/miopen/api_fusion.h"

#ifdef __cplusplus
}
#endif
#endif

/* Exported by the original without being in its header. */
miopenStatus_t miopenGetTensorCastType(miopenTensorDescriptor_t, miopenDataType_t *);
miopenStatus_t miopenHiddenSetConvolutionFindMode(miopenConvolutionDescriptor_t, int);
miopenStatus_t miopenHiddenGetConvolutionFindMode(miopenConvolutionDescriptor_t, int *);

#endif
