/* kth.h: k-th smallest elements as an operation: its tensors and numbers. */
#ifndef RMCP_OPS_KTH_H
#define RMCP_OPS_KTH_H

#include "engine/core/form.h"

extern const struct rmcp_operation rmcp_operation_kth;

enum { RMCP_KTH_X, RMCP_KTH_Y, RMCP_KTH_INDICES };
enum { RMCP_KTH_K };

/* The dimension along which they are sought. */
static inline unsigned rmcp_kth_dimension(const struct rmcp_form *form)
{
    return (unsigned)form->list[0][0];
}

#endif
