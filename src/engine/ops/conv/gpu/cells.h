/* cells.h: strided data gradients in cells: a cell is as many inputs as the stride has, and one
 * column of a matrix product. */
#ifndef RMCP_CONV_GPU_CELLS_H
#define RMCP_CONV_GPU_CELLS_H

#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/kernels/args.h"

/* How a data gradient becomes matrix products. */
enum rmcp_form {
    RMCP_FORM_PHASES, /* one for each phase of the stride; other passes: the only one       */
    RMCP_FORM_TURNED, /* the same, with weights arranged so that rows are side by side      */
    RMCP_FORM_LONE,   /* one: in each cell only one input meets any tap, the others are zero */
    RMCP_FORM_CELLS,  /* one with a row for each channel and input of a cell, weights arranged */
    RMCP_N_FORMS
};

/* NULL when the kernels with CELLS can do it in this form, else the reason why not. */
const char *rmcp_cells_refuse(const struct rmcp_convolution *conv, enum rmcp_form form);

/* Whether in each cell only one input meets any tap. */
bool rmcp_cells_lone(const struct rmcp_convolution *conv);

/* Fill both structs for RMCP_FORM_LONE or RMCP_FORM_CELLS; tiles and splits stay zero. */
void rmcp_cells_init(struct rmcp_gemm *g, struct rmcp_cells *c, const struct rmcp_convolution *conv,
                     enum rmcp_form form);

/* The same convolution with its weights as RMCP_FORM_TURNED has them. */
struct rmcp_convolution rmcp_turned(const struct rmcp_convolution *conv);

/* Bytes of arranged weights; 0 for forms that take them as they are. */
uint64_t rmcp_arranged_bytes(const struct rmcp_convolution *conv, enum rmcp_form form);

/* Seconds to arrange so many. */
double rmcp_arrange_seconds(const struct rmcp_caps *caps, uint64_t bytes);

/* Append the launch that arranges them, `begin` bytes behind the start of the workspace; none for
 * the other forms. */
rmcp_status rmcp_arrange_emit(const struct rmcp_request *request, enum rmcp_form form,
                              uint64_t begin, struct rmcp_launch_list *list);

#endif
