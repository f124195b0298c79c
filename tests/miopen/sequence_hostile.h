/* sequence_hostile.h: a right convolution, of which wrong calls change one thing each. */
#ifndef RMCP_TESTS_MIOPEN_SEQUENCE_HOSTILE_H
#define RMCP_TESTS_MIOPEN_SEQUENCE_HOSTILE_H

#include "sequence.h"

struct scene {
    struct tensor x, w, y;
    struct memory mx, mw, my;
    miopenTensorDescriptor_t dx, dw, dy;
    miopenConvolutionDescriptor_t conv;
};
struct scene right(void);
/* Another packed shape in a descriptor. */
void reshape(miopenTensorDescriptor_t desc, miopenDataType_t type, int n_dims, const int *dims);
/* The questions before a convolution. */
void ask(const struct scene *scene);
void run(const struct scene *scene, miopenConvFwdAlgorithm_t algo);
void find(const struct scene *scene, int request, void *workspace, size_t workspace_bytes);

#define H(name) void hostile_##name(void);
#include "sequence_hostile.inc"
#undef H

#endif
