/* parts.h: operations that follow each other, each on the result of the one before: in one launch
 * where the engine has it, else one after the other. Fusion plans and fused problems are made of
 * them. */
#ifndef RMCP_MIOPEN_PARTS_H
#define RMCP_MIOPEN_PARTS_H

#include "dropin/miopen/convolution.h"

enum { MI_PARTS = 8 };

enum mi_part_kind {
    MI_PART_CONV,
    MI_PART_BIAS,
    MI_PART_ACTIVATION,
    MI_PART_ACTIVATION_BACKWARD,
    MI_PART_NORM_INFER,
    MI_PART_NORM_TRAIN,
    MI_PART_NORM_BACKWARD,
};

struct mi_part {
    enum mi_part_kind kind;
    struct mi_convolution convolution;
    struct mi_tensor shape; /* of the filter, the bias, scale and statistics */
    miopenActivationMode_t activation;
    miopenBatchNormMode_t norm;
};

/* What one execution gives to a part. */
struct mi_part_values {
    bool given;
    const void *w;                              /* filter, or bias                     */
    const void *x, *y;                          /* of a forward pass, to a backward one */
    const void *scale, *bias, *mean, *variance; /* batch norm                          */
    void *running_mean, *running_variance, *saved_mean, *saved_inverse, *dscale, *dbias;
    double alpha, beta, gamma; /* activation                          */
    double epsilon, factor;    /* batch norm                          */
};

struct mi_parts {
    int n;
    struct mi_part part[MI_PARTS];
    struct mi_tensor input, output;
};

/* Add a part behind the others: what it makes is the output. */
miopenStatus_t mi_parts_add(struct mi_parts *parts, const struct mi_part *part);

/* Plan them; the workspace that they take. UnsupportedOp for what cannot be. The handle is entered.
 */
miopenStatus_t mi_parts_plan(struct mi_handle *handle, const struct mi_parts *parts,
                             uint64_t *workspace);

/* Execute with one set of values for each part; memory of the handle's own where the workspace is
 * too small. */
miopenStatus_t mi_parts_run(struct mi_handle *handle, const struct mi_parts *parts,
                            const struct mi_part_values *values, const void *input, void *output,
                            void *workspace, size_t workspace_bytes);

#endif
