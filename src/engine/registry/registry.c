/* registry.c: the tables of operations, their algorithms and drivers, made from the names of
 * folders and files and from the rows of functions. */
#include "engine/core/form.h"

/* ALGOS(operation) begins the algorithms of one, X(operation, stem) names one of them, and
 * FORM_REFERENCE stands for a file algo/reference.c that an operation in table form does without.
 */
#define ALGOS(operation)
#define FORM_REFERENCE
#define END
#define X(operation, stem) extern const struct rmcp_algo rmcp_algo_##operation##_##stem;
#include "algos.inc"
#undef ALGOS
#undef FORM_REFERENCE
#undef END
#undef X
#define ALGOS(operation)                                                                           \
    extern const struct rmcp_algo *const rmcp_algos_##operation[];                                 \
    const struct rmcp_algo *const rmcp_algos_##operation[] = {
#define X(operation, stem) &rmcp_algo_##operation##_##stem,
#define FORM_REFERENCE &rmcp_algo_form_reference,
#define END                                                                                        \
    NULL                                                                                           \
    }                                                                                              \
    ;
#include "algos.inc"
#undef ALGOS
#undef FORM_REFERENCE
#undef END
#undef X

/* Folders and files, then the rows of one formula each. */
#define X(name) extern const struct rmcp_operation rmcp_operation_##name;
#define F(name, ...) X(name)
#include "engine/elements/functions.inc"
#include "operations.inc"
#undef X
#define X(name) &rmcp_operation_##name,
const struct rmcp_operation *const rmcp_operations[] = {
#include "operations.inc"
/* Then those that are one formula. */
#include "engine/elements/functions.inc"
    NULL
};
#undef X
#undef F

#define X(name) extern const struct rmcp_driver rmcp_driver_##name;
#include "drivers.inc"
#undef X
#define X(name) &rmcp_driver_##name,
const struct rmcp_driver *const rmcp_drivers[] = {
#include "drivers.inc"
    NULL
};
#undef X
