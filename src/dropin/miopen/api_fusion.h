/* api_fusion.h: the part of api.h that fuses operations; included by it alone. */
#ifndef RMCP_MIOPEN_API_FUSION_H
#define RMCP_MIOPEN_API_FUSION_H

typedef struct miopenFusionPlanDescriptor *miopenFusionPlanDescriptor_t;
typedef struct miopenFusionOpDescriptor *miopenFusionOpDescriptor_t;
typedef struct miopenOperatorArgs *miopenOperatorArgs_t;
typedef enum { miopenVerticalFusion = 0, miopenHorizontalFusion = 1 } miopenFusionDirection_t;

miopenStatus_t miopenCreateFusionPlan(miopenFusionPlanDescriptor_t *, miopenFusionDirection_t,
                                      miopenTensorDescriptor_t);
miopenStatus_t miopenDestroyFusionPlan(miopenFusionPlanDescriptor_t);
miopenStatus_t miopenCompileFusionPlan(miopenHandle_t, miopenFusionPlanDescriptor_t);
miopenStatus_t miopenFusionPlanGetOp(miopenFusionPlanDescriptor_t, int,
                                     miopenFusionOpDescriptor_t *);
miopenStatus_t miopenFusionPlanGetWorkSpaceSize(miopenHandle_t, miopenFusionPlanDescriptor_t,
                                                size_t *, miopenConvFwdAlgorithm_t);
miopenStatus_t miopenFusionPlanConvolutionGetAlgo(miopenFusionPlanDescriptor_t, int, int *,
                                                  miopenConvFwdAlgorithm_t *);
miopenStatus_t miopenFusionPlanConvolutionSetAlgo(miopenFusionPlanDescriptor_t,
                                                  miopenConvFwdAlgorithm_t);
miopenStatus_t miopenCreateOpConvForward(miopenFusionPlanDescriptor_t, miopenFusionOpDescriptor_t *,
                                         miopenConvolutionDescriptor_t, miopenTensorDescriptor_t);
miopenStatus_t miopenCreateOpActivationForward(miopenFusionPlanDescriptor_t,
                                               miopenFusionOpDescriptor_t *,
                                               miopenActivationMode_t);
miopenStatus_t miopenCreateOpActivationBackward(miopenFusionPlanDescriptor_t,
                                                miopenFusionOpDescriptor_t *,
                                                miopenActivationMode_t);
miopenStatus_t miopenCreateOpBiasForward(miopenFusionPlanDescriptor_t, miopenFusionOpDescriptor_t *,
                                         miopenTensorDescriptor_t);
miopenStatus_t miopenCreateOpBatchNormInference(miopenFusionPlanDescriptor_t,
                                                miopenFusionOpDescriptor_t *, miopenBatchNormMode_t,
                                                miopenTensorDescriptor_t);
miopenStatus_t miopenCreateOpBatchNormForward(miopenFusionPlanDescriptor_t,
                                              miopenFusionOpDescriptor_t *, miopenBatchNormMode_t,
                                              bool);
miopenStatus_t miopenCreateOpBatchNormBackward(miopenFusionPlanDescriptor_t,
                                               miopenFusionOpDescriptor_t *, miopenBatchNormMode_t);
miopenStatus_t miopenCreateOperatorArgs(miopenOperatorArgs_t *);
miopenStatus_t miopenDestroyOperatorArgs(miopenOperatorArgs_t);
miopenStatus_t miopenSetOpArgsConvForward(miopenOperatorArgs_t, miopenFusionOpDescriptor_t,
                                          const void *, const void *, const void *);
miopenStatus_t miopenSetOpArgsActivForward(miopenOperatorArgs_t, miopenFusionOpDescriptor_t,
                                           const void *, const void *, double, double, double);
miopenStatus_t miopenSetOpArgsActivBackward(miopenOperatorArgs_t, miopenFusionOpDescriptor_t,
                                            const void *, const void *, const void *, const void *,
                                            double, double, double);
miopenStatus_t miopenSetOpArgsBatchNormInference(miopenOperatorArgs_t, miopenFusionOpDescriptor_t,
                                                 const void *, const void *, const void *,
                                                 const void *, const void *, const void *, double);
miopenStatus_t miopenSetOpArgsBatchNormForward(miopenOperatorArgs_t, miopenFusionOpDescriptor_t,
                                               const void *, const void *, const void *,
                                               const void *, void *, void *, void *, void *, double,
                                               double);
miopenStatus_t miopenSetOpArgsBatchNormBackward(miopenOperatorArgs_t, miopenFusionOpDescriptor_t,
                                                const void *, const void *, const void *,
                                                const void *, const void *, void *, void *,
                                                const void *, const void *);
miopenStatus_t miopenSetOpArgsBiasForward(miopenOperatorArgs_t, miopenFusionOpDescriptor_t,
                                          const void *, const void *, const void *);
miopenStatus_t miopenExecuteFusionPlan(miopenHandle_t, miopenFusionPlanDescriptor_t,
                                       miopenTensorDescriptor_t, const void *,
                                       miopenTensorDescriptor_t, void *, miopenOperatorArgs_t);
miopenStatus_t miopenExecuteFusionPlan_v2(miopenHandle_t, miopenFusionPlanDescriptor_t,
                                          miopenTensorDescriptor_t, const void *,
                                          miopenTensorDescriptor_t, void *, miopenOperatorArgs_t,
                                          void *, size_t);

miopenStatus_t miopenCreateActivationProblem(miopenProblem_t *, miopenActivationDescriptor_t,
                                             miopenProblemDirection_t);
miopenStatus_t miopenCreateBiasProblem(miopenProblem_t *, miopenProblemDirection_t);
miopenStatus_t miopenCreateBatchnormProblem(miopenProblem_t *, miopenBatchNormMode_t, bool,
                                            miopenProblemDirection_t);
miopenStatus_t miopenCreateSoftmaxProblem(miopenProblem_t *, miopenSoftmaxDescriptor_t,
                                          miopenProblemDirection_t);

typedef enum { miopenMhaMaskNone = 0, miopenMhaMaskCausal = 1 } miopenMhaMask_t;
miopenStatus_t miopenCreateMhaDescriptor(miopenMhaDescriptor_t *);
miopenStatus_t miopenSetMhaDescriptor(miopenMhaDescriptor_t, float);
miopenStatus_t miopenGetMhaDescriptor(miopenMhaDescriptor_t, float *);
miopenStatus_t miopenCreateMhaProblem(miopenProblem_t *, miopenMhaDescriptor_t,
                                      miopenProblemDirection_t);
miopenStatus_t miopenFuseProblems(miopenProblem_t, miopenProblem_t);

#endif
