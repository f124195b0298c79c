/* lrn.h: local response normalisation as an operation in table form (engine/core/form.h). */
#ifndef RMCP_OPS_LRN_H
#define RMCP_OPS_LRN_H

#include "engine/core/form.h"

enum { RMCP_LRN_X, RMCP_LRN_Y, RMCP_LRN_SCALE, RMCP_LRN_DY, RMCP_LRN_DX, RMCP_LRN_SLOTS };

/* y = x * scale^-beta with scale = k + alpha / area * (sum of x^2 over a window of n, or n x n). In
 * forward the window of element i is i - (n - 1) / 2 … i + n / 2; in backward the other way round.
 */
struct rmcp_lrn {
    bool backward, within;
    bool saved; /* forward writes the scale                           */
    int64_t n;
    int64_t before, after; /* of the window, in this pass                        */
    double area;
    double alpha, beta, k;
    unsigned strip_axis;  /* dimension of the window: channels, or the height   */
    unsigned column_axis; /* the width; as strip_axis when there is no second    */
};

struct rmcp_lrn rmcp_lrn_of(const struct rmcp_form *form);

/* The rules' evaluate. */
rmcp_status rmcp_lrn_evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values);

extern const struct rmcp_operation rmcp_operation_lrn;
extern const struct rmcp_algo *const rmcp_algos_lrn[];
extern const struct rmcp_algo rmcp_algo_lrn_strips;

#endif
