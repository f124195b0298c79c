/* thin.h: the host side of thin.cl: how many rows and pixels a work-item has, and the launches. */
#ifndef RMCP_CONV_GPU_THIN_H
#define RMCP_CONV_GPU_THIN_H

#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/gpu/cells.h"

/* A way to compute a request, in RMCP_FORM_PHASES or RMCP_FORM_CELLS. */
struct rmcp_thin_way {
    enum rmcp_form form;
    int64_t rows, pixels; /* that a work-item has */
    double seconds;       /* estimated */
};

/* Rows of the product: RMCP_THIN_MOST at most, RMCP_THIN_MOST_CELLS of cells. */
enum { RMCP_THIN_MOST = 32, RMCP_THIN_MOST_CELLS = 16 };
int64_t rmcp_thin_rows(const struct rmcp_convolution *conv, enum rmcp_form form);

/* The fastest way of a form by estimate. Arranged weights are the whole workspace. */
struct rmcp_thin_way rmcp_thin_choose(const struct rmcp_request *request, enum rmcp_form form);
rmcp_status rmcp_thin_emit(const struct rmcp_request *request, const struct rmcp_thin_way *way,
                           struct rmcp_launch_list *list);

#endif
