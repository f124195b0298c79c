/* find2.h: Find-2.0's objects: problems, options, solutions. */
#ifndef RMCP_MIOPEN_FIND2_H
#define RMCP_MIOPEN_FIND2_H

#include "dropin/miopen/convolution.h"
#include "dropin/miopen/task.h"

enum { MI_ARGUMENTS = 4 }; /* by number: none, x, w, y */

struct mi_problem {
    struct mi_object object;
    struct mi_task *task; /* instead of what follows, when it is no single convolution */
    rmcp_conv_pass pass;
    struct mi_convolution convolution;
    struct mi_tensor tensor[MI_ARGUMENTS]; /* dims 0: not set */
};

struct mi_find_options {
    struct mi_object object;
    miopenFindResultsOrder_t order;
    size_t workspace_limit;
    bool tune;
};

struct mi_solution {
    struct mi_object object;
    struct mi_task *task; /* instead of `call` */
    struct mi_conv_call call;
    uint64_t id, workspace;
    float ms;
    char algorithm[32];
};

#endif
