/* getitem.h: the gradient of x[…, i, j, …] as an operation: its tensors and lists. */
#ifndef RMCP_OPS_GETITEM_H
#define RMCP_OPS_GETITEM_H

#include "engine/core/form.h"

extern const struct rmcp_operation rmcp_operation_getitem;

/* Index number i is slot RMCP_GETITEM_FIRST + i. */
enum { RMCP_GETITEM_DY, RMCP_GETITEM_DX, RMCP_GETITEM_ERROR, RMCP_GETITEM_FIRST };

/* The first dimension that is indexed, how many follow it, and the length of all indices. */
static inline unsigned rmcp_getitem_begin(const struct rmcp_form *form)
{
    return (unsigned)form->list[0][0];
}
static inline unsigned rmcp_getitem_count(const struct rmcp_form *form)
{
    return form->listed[0];
}
static inline int64_t rmcp_getitem_length(const struct rmcp_form *form)
{
    return form->list[1][0];
}

#endif
