/* multimargin.h: the multi margin loss as an operation. x has a row of scores, one for each class,
 * t the right class of each row. The loss of a row is the mean over all classes, the right one's
 * term left out, of w[t] max(0, margin - x[t] + x[c])^p; a class that does not exist makes it NaN.
 */
#ifndef RMCP_OPS_MULTIMARGIN_H
#define RMCP_OPS_MULTIMARGIN_H

#include "engine/core/form.h"
#include "engine/ops/multimargin/kernels/args.h"

enum {
    RMCP_MULTIMARGIN_X,
    RMCP_MULTIMARGIN_T,
    RMCP_MULTIMARGIN_W,
    RMCP_MULTIMARGIN_Y,
    RMCP_MULTIMARGIN_SLOTS
};

enum { RMCP_MULTIMARGIN_NONE, RMCP_MULTIMARGIN_SUM, RMCP_MULTIMARGIN_MEAN }; /* reductions */

extern const struct rmcp_form_rules rmcp_multimargin_rules;
extern const struct rmcp_operation rmcp_operation_multimargin;
extern const struct rmcp_algo *const rmcp_algos_multimargin[];

unsigned rmcp_multimargin_reduction(const struct rmcp_form *form);
float rmcp_multimargin_margin(const struct rmcp_form *form);
bool rmcp_multimargin_square(const struct rmcp_form *form);

#endif
