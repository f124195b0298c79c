/* fusion.h: fusion plans, their operations, and the arguments of one execution. */
#ifndef RMCP_MIOPEN_FUSION_H
#define RMCP_MIOPEN_FUSION_H

#include "dropin/miopen/parts.h"

/* One operation of a plan, which owns it. */
struct mi_fusion_op {
    struct mi_object object;
    int index;
    enum mi_part_kind kind;
};

struct mi_fusion_plan {
    struct mi_object object;
    miopenFusionDirection_t direction;
    struct mi_parts parts;
    struct mi_fusion_op *op[MI_PARTS];
    bool compiled;
};

/* Arguments belong to an operation's number, not to its plan, as with the original. */
struct mi_operator_args {
    struct mi_object object;
    struct mi_part_values values[MI_PARTS];
};

#endif
