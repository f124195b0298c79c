/* case.h: calls of the engine by case string, for operations that have no structs of their own. */
#ifndef RMCP_MIOPEN_CASE_H
#define RMCP_MIOPEN_CASE_H

#include "dropin/miopen/plans.h"
#include "dropin/miopen/tensor.h"

enum { MI_CASE_TENSORS = 14, MI_CASE_SCALARS = 8 }; /* of one call */

/* A call that is being put together. What does not fit or is not supported is remembered, and is
 * the status of running it. */
struct mi_case {
    char text[RMCP_CASE_MAX];
    size_t used;
    miopenStatus_t status;
    unsigned n;
    uint8_t slot[MI_CASE_TENSORS]; /* mi_slot */
    rmcp_memory memory[MI_CASE_TENSORS];
    unsigned n_scalars;
    uint8_t scalar[MI_CASE_SCALARS]; /* mi_scalar */
    double value[MI_CASE_SCALARS];
};

/* Begin with the operation's name, the sizes of a tensor and its type: "softmax:8x64x7x7:f16". */
void mi_case_begin(struct mi_case *c, const char *name, const struct mi_tensor *whole);

/* The same with sizes that are no tensor's. */
void mi_case_begin_sizes(struct mi_case *c, const char *name, const int64_t *size, int dims,
                         miopenDataType_t type);

/* ":word" and the like; no numbers with a point, which locales write in their own way. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void mi_case_put(struct mi_case *c, const char *format, ...);

/* ":alpha0.5" */
void mi_case_number(struct mi_case *c, const char *name, double value);

/* ":window3x3" */
void mi_case_list(struct mi_case *c, const char *name, const int64_t *values, int n);

/* The memory of a slot, and of a tensor its strides, where it is not packed. */
void mi_case_memory(struct mi_case *c, enum mi_slot slot, const void *memory);
void mi_case_memory_at(struct mi_case *c, enum mi_slot slot, rmcp_memory memory);
void mi_case_tensor(struct mi_case *c, enum mi_slot slot, const struct mi_tensor *tensor,
                    const void *memory);
void mi_case_tensor_at(struct mi_case *c, enum mi_slot slot, const struct mi_tensor *tensor,
                       rmcp_memory memory);

/* A number that the plan does not depend on. */
void mi_case_scalar(struct mi_case *c, enum mi_scalar scalar, double value);

/* Plan, or take the plan that the handle has, and execute it on the handle's stream with workspace
 * of the handle. Adds to handle->kernel_ms while profiling. The handle is entered. */
miopenStatus_t mi_case_run(struct mi_handle *handle, const struct mi_case *c);

/* Only plan: whether the engine takes it. */
miopenStatus_t mi_case_plan(struct mi_handle *handle, const struct mi_case *c);

/* A whole call: enters the handle, sets handle->kernel_ms to 0, runs, leaves. BadParm for no
 * handle. */
miopenStatus_t mi_case_call(miopenHandle_t name, const struct mi_case *c);

#endif
