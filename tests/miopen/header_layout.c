/* header_layout.c: prints the sizes, places and numbers of MIOpen's interface, for
 * check_headers.sh: compiled once with our header and once with the original's. ENUMERATORS names a
 * file of lines E(name). */
#include "dropin/miopen/api.h"

#include <stdio.h>

#define SIZE(type) printf("sizeof %s %zu\n", #type, sizeof(type));
#define PLACE(type, member)                                                                        \
    printf("offsetof %s.%s %zu %zu\n", #type, #member, offsetof(type, member),                     \
           sizeof(((type *)0)->member));
#define E(name) printf("%s %lld\n", #name, (long long)name);

int main(void)
{
    SIZE(miopenStatus_t)
    SIZE(miopenDataType_t)
    SIZE(miopenTensorLayout_t)
    SIZE(miopenTensorOp_t)
    SIZE(miopenConvolutionMode_t)
    SIZE(miopenBatchNormMode_t)
    SIZE(miopenActivationMode_t)
    SIZE(miopenConvolutionAttrib_t)
    SIZE(miopenConvolutionFindMode_t)
    SIZE(miopenConvFwdAlgorithm_t)
    SIZE(miopenConvBwdWeightsAlgorithm_t)
    SIZE(miopenConvBwdDataAlgorithm_t)
    SIZE(miopenConvAlgorithm_t)
    SIZE(miopenProblemDirection_t)
    SIZE(miopenTensorArgumentId_t)
    SIZE(miopenFindResultsOrder_t)
    SIZE(miopenAcceleratorQueue_t)
    SIZE(miopenHandle_t)
    SIZE(miopenAllocatorFunction)
    SIZE(miopenDeallocatorFunction)
    SIZE(miopenConvAlgoPerf_t)
    PLACE(miopenConvAlgoPerf_t, fwd_algo)
    PLACE(miopenConvAlgoPerf_t, bwd_weights_algo)
    PLACE(miopenConvAlgoPerf_t, bwd_data_algo)
    PLACE(miopenConvAlgoPerf_t, time)
    PLACE(miopenConvAlgoPerf_t, memory)
    SIZE(miopenConvSolution_t)
    PLACE(miopenConvSolution_t, time)
    PLACE(miopenConvSolution_t, workspace_size)
    PLACE(miopenConvSolution_t, solution_id)
    PLACE(miopenConvSolution_t, algorithm)
    SIZE(miopenTensorArgument_t)
    PLACE(miopenTensorArgument_t, id)
    PLACE(miopenTensorArgument_t, descriptor)
    PLACE(miopenTensorArgument_t, buffer)
#include ENUMERATORS
    return 0;
}
