/* sequence_functions.h: every MIOpen function that the call sequences use, once. */
#ifndef RMCP_TESTS_MIOPEN_SEQUENCE_FUNCTIONS_H
#define RMCP_TESTS_MIOPEN_SEQUENCE_FUNCTIONS_H

#define SEQUENCE_PASS_FUNCTIONS(F, pass)                                                           \
    F(miopenFindConvolution##pass##Algorithm)                                                      \
    F(miopenConvolution##pass)                                                                     \
    F(miopenConvolution##pass##GetWorkSpaceSize)                                                   \
    F(miopenConvolution##pass##GetSolutionCount)                                                   \
    F(miopenConvolution##pass##GetSolution)                                                        \
    F(miopenConvolution##pass##GetSolutionWorkspaceSize)                                           \
    F(miopenConvolution##pass##CompileSolution)                                                    \
    F(miopenConvolution##pass##Immediate)

#define SEQUENCE_MIOPEN_FUNCTIONS(F)                                                               \
    F(miopenGetErrorString)                                                                        \
    F(miopenGetVersion)                                                                            \
    F(miopenCreate)                                                                                \
    F(miopenCreateWithStream)                                                                      \
    F(miopenDestroy)                                                                               \
    F(miopenSetStream)                                                                             \
    F(miopenGetStream)                                                                             \
    F(miopenEnableProfiling)                                                                       \
    F(miopenGetKernelTime)                                                                         \
    F(miopenCreateTensorDescriptor)                                                                \
    F(miopenDestroyTensorDescriptor)                                                               \
    F(miopenSet4dTensorDescriptor)                                                                 \
    F(miopenSet4dTensorDescriptorEx)                                                               \
    F(miopenGet4dTensorDescriptor)                                                                 \
    F(miopenSetTensorDescriptor)                                                                   \
    F(miopenGetTensorDescriptor)                                                                   \
    F(miopenGetTensorDescriptorSize)                                                               \
    F(miopenGetTensorNumBytes)                                                                     \
    F(miopenSetTensor)                                                                             \
    F(miopenScaleTensor)                                                                           \
    F(miopenOpTensor)                                                                              \
    F(miopenTransformTensor)                                                                       \
    F(miopenCreateConvolutionDescriptor)                                                           \
    F(miopenDestroyConvolutionDescriptor)                                                          \
    F(miopenInitConvolutionDescriptor)                                                             \
    F(miopenInitConvolutionNdDescriptor)                                                           \
    F(miopenGetConvolutionDescriptor)                                                              \
    F(miopenGetConvolutionNdDescriptor)                                                            \
    F(miopenGetConvolutionSpatialDim)                                                              \
    F(miopenSetConvolutionGroupCount)                                                              \
    F(miopenGetConvolutionGroupCount)                                                              \
    F(miopenSetConvolutionAttribute)                                                               \
    F(miopenGetConvolutionAttribute)                                                               \
    F(miopenSetConvolutionFindMode)                                                                \
    F(miopenGetConvolutionFindMode)                                                                \
    F(miopenSetTransposeConvNdOutputPadding)                                                       \
    F(miopenGetConvolutionForwardOutputDim)                                                        \
    F(miopenGetConvolutionNdForwardOutputDim)                                                      \
    SEQUENCE_PASS_FUNCTIONS(F, Forward)                                                            \
    SEQUENCE_PASS_FUNCTIONS(F, BackwardData)                                                       \
    SEQUENCE_PASS_FUNCTIONS(F, BackwardWeights)                                                    \
    F(miopenConvolutionForwardBias)                                                                \
    F(miopenConvolutionBackwardBias)                                                               \
    F(miopenDeriveBNTensorDescriptor)                                                              \
    F(miopenBatchNormalizationForwardTraining)                                                     \
    F(miopenBatchNormalizationForwardInference)                                                    \
    F(miopenBatchNormalizationBackward)                                                            \
    F(miopenCreateConvProblem)                                                                     \
    F(miopenDestroyProblem)                                                                        \
    F(miopenSetProblemTensorDescriptor)                                                            \
    F(miopenCreateFindOptions)                                                                     \
    F(miopenDestroyFindOptions)                                                                    \
    F(miopenSetFindOptionTuning)                                                                   \
    F(miopenSetFindOptionResultsOrder)                                                             \
    F(miopenSetFindOptionWorkspaceLimit)                                                           \
    F(miopenSetFindOptionPreallocatedWorkspace)                                                    \
    F(miopenSetFindOptionPreallocatedTensor)                                                       \
    F(miopenFindSolutions)                                                                         \
    F(miopenRunSolution)                                                                           \
    F(miopenDestroySolution)                                                                       \
    F(miopenLoadSolution)                                                                          \
    F(miopenSaveSolution)                                                                          \
    F(miopenGetSolutionSize)                                                                       \
    F(miopenGetSolutionWorkspaceSize)                                                              \
    F(miopenGetSolutionTime)                                                                       \
    F(miopenGetSolutionSolverId)                                                                   \
    F(miopenGetSolverIdConvAlgorithm)                                                              \
    F(miopenCreateSeqTensorDescriptor)                                                             \
    F(miopenDestroySeqTensorDescriptor)                                                            \
    F(miopenSetRNNDataSeqTensorDescriptor)                                                         \
    F(miopenCreateRNNDescriptor)                                                                   \
    F(miopenDestroyRNNDescriptor)                                                                  \
    F(miopenSetRNNDescriptor)                                                                      \
    F(miopenSetRNNPaddingMode)                                                                     \
    F(miopenGetRNNWorkspaceSize)                                                                   \
    F(miopenGetRNNTrainingReserveSize)                                                             \
    F(miopenGetRNNTempSpaceSizes)                                                                  \
    F(miopenGetRNNParamsSize)                                                                      \
    F(miopenGetRNNParamsDescriptor)                                                                \
    F(miopenGetRNNLayerParamSize)                                                                  \
    F(miopenGetRNNLayerBiasSize)                                                                   \
    F(miopenGetRNNLayerParam)                                                                      \
    F(miopenGetRNNLayerBias)                                                                       \
    F(miopenSetRNNLayerParam)                                                                      \
    F(miopenSetRNNLayerBias)                                                                       \
    F(miopenGetRNNLayerParamOffset)                                                                \
    F(miopenGetRNNLayerBiasOffset)                                                                 \
    F(miopenRNNForward)                                                                            \
    F(miopenRNNBackwardSeqData)                                                                    \
    F(miopenRNNBackwardWeightsSeqTensor)                                                           \
    F(miopenRNNForwardTraining)                                                                    \
    F(miopenRNNForwardInference)                                                                   \
    F(miopenRNNBackwardData)                                                                       \
    F(miopenRNNBackwardWeights)

#endif
