/* sequence_conv.h: one convolution as a client has it, and its calls by pass. */
#ifndef RMCP_TESTS_MIOPEN_SEQUENCE_CONV_H
#define RMCP_TESTS_MIOPEN_SEQUENCE_CONV_H

#include "sequence.h"

enum pass { FORWARD, BACKWARD_DATA, BACKWARD_WEIGHTS, N_PASSES };
extern const char *const pass_names[N_PASSES];

/* Two inputs and up to MAX_OUTPUTS results of the same calls, which all have to be right. */
enum { MAX_OUTPUTS = 12, MAX_SOLUTIONS = 64, OLD_SEED = 55 };
struct conv {
    enum pass pass;
    struct tensor x, w, y;
    int n_spatial, groups;
    int pad[3], stride[3], dilation[3];
    miopenConvolutionMode_t mode;
    float alpha, beta; /* of conv_run; with a beta, outputs start as random numbers */
    miopenTensorDescriptor_t x_desc, w_desc, y_desc;
    miopenConvolutionDescriptor_t desc;
    struct memory x_memory, w_memory, y_memory; /* the pass's output among them is unused */
    struct memory outputs[MAX_OUTPUTS];
    int n_outputs;
};

/* The tensor that the pass writes, and a new result for it: NULL when there is none left. */
const struct tensor *conv_output(const struct conv *conv);
void *conv_new_output(struct conv *conv);

/* MIOpen's functions for the pass; each notes its call. */
miopenStatus_t conv_workspace_size(const struct conv *conv, size_t *bytes);
miopenStatus_t conv_solution_count(const struct conv *conv, size_t *count);
miopenStatus_t conv_solutions(const struct conv *conv, size_t max, size_t *count,
                              miopenConvSolution_t *solutions);
miopenStatus_t conv_solution_workspace(const struct conv *conv, uint64_t id, size_t *bytes);
miopenStatus_t conv_compile(const struct conv *conv, uint64_t id);
miopenStatus_t conv_immediate(const struct conv *conv, void *output, const struct memory *workspace,
                              uint64_t id);
miopenStatus_t conv_find(const struct conv *conv, void *output, const struct memory *workspace,
                         bool exhaustive, miopenConvAlgoPerf_t *perf);
miopenStatus_t conv_run(const struct conv *conv, int algorithm, void *output,
                        const struct memory *workspace);

/* Clients: how each goes through those. */
void client_immediate(struct conv *conv);
void client_immediate_low_memory(struct conv *conv);
void client_find(struct conv *conv);
void client_find_exhaustive(struct conv *conv);
void client_find_low_memory(struct conv *conv);
void client_scaled(struct conv *conv);
void client_every_solution(struct conv *conv);
void client_bias(struct conv *conv);
void client_problem(struct conv *conv);
void client_problem_prepared(struct conv *conv);

#endif
