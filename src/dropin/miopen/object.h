/* object.h: what MIOpen's opaque pointers point to: handles, descriptors, problems, solutions.
 *
 * Their memory is never given back to the system but used again for others of the same kind, so
 * that a pointer to a destroyed object is recognised instead of followed. */
#ifndef RMCP_MIOPEN_OBJECT_H
#define RMCP_MIOPEN_OBJECT_H

#include "dropin/miopen/api.h"

enum mi_kind {
    MI_HANDLE,
    MI_TENSOR,
    MI_CONVOLUTION,
    MI_ACTIVATION,
    MI_PROBLEM,
    MI_FIND_OPTIONS,
    MI_SOLUTION,
    MI_RNN,
    MI_DROPOUT,
    MI_SEQUENCE,
    MI_POOL,
    MI_LRN,
    MI_SOFTMAX,
    MI_REDUCE,
    MI_CTC,
    MI_FUSION_PLAN,
    MI_FUSION_OP,
    MI_OPERATOR_ARGS,
    MI_MHA,
    MI_KINDS
};

/* Every object begins with it. */
struct mi_object {
    uint32_t live; /* its kind + 1, or 0; written under the lock of its kind */
    uint32_t reserved;
    struct mi_object *next; /* among those that can be used again */
    void *twin;             /* the original library's object behind the same name, or NULL */
};

/* A zeroed object of `kind`, `size` bytes, the same for all of the kind. NULL when memory ran out.
 * Thread-safe. */
void *mi_object_new(enum mi_kind kind, size_t size);

/* The live object that `pointer` names, or NULL: no pointer of ours, of another kind, destroyed.
 * Thread-safe; constant time. */
void *mi_object(const void *pointer, enum mi_kind kind);

/* Destroy what `mi_object` gave. */
void mi_object_delete(void *object);

/* What the caller of the library is given for `object`: itself, or its twin of the original
 * library. */
void *mi_object_name(void *object);

/* Let `twin` stand for `object` from now on. False when memory ran out. */
bool mi_object_twin(void *object, void *twin);

#endif
