/* null_cuda.h: how a program steers the NVIDIA driver without a GPU, through dlsym. */
#ifndef RMCP_TESTS_NULL_CUDA_H
#define RMCP_TESTS_NULL_CUDA_H

struct null_cuda {
    const char *label; /* launches are printed, with this in front; NULL: they are not. Set before
                          the first plan, or the sizes of arguments are not known                 */
    long launches; /* since the program last set this to 0                                     */
};

#endif
