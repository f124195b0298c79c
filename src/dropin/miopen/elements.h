/* elements.h: calls that go element by element over tensors of the same sizes. */
#ifndef RMCP_MIOPEN_ELEMENTS_H
#define RMCP_MIOPEN_ELEMENTS_H

#include "dropin/miopen/activation.h"
#include "dropin/miopen/case.h"

/* Begin a case over `n` tensors of one type and as many elements. When all are packed their
 * dimensions do not matter, and they become one row; else they must be the same. The reason why not
 * is the status of the case. */
void mi_elements_begin(struct mi_case *c, const char *name, const struct mi_tensor *const *tensors,
                       int n);

/* The same type and the same sizes. */
bool mi_elements_same(const struct mi_tensor *a, const struct mi_tensor *b);

/* What the original asks for to sum `elements`: an f32 for each, and for each 256 of them, each in
 * whole 256 bytes. */
size_t mi_parts_bytes(size_t elements);

/* The mode and the parameters of an activation, as the operation "act" has them. */
void mi_elements_activation(struct mi_case *c, const struct mi_activation *activation);

/* Which of x and y a mode's gradient reads; the original takes NULL for the others. */
bool mi_activation_reads_x(miopenActivationMode_t mode);
bool mi_activation_reads_y(miopenActivationMode_t mode);

#endif
