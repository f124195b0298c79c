/* lines.h: plans launches of kernels that go along lines of tensors (kernels/line_args.h). */
#ifndef RMCP_GPU_LINES_H
#define RMCP_GPU_LINES_H

#include "engine/core/form.h"
#include "engine/gpu/launch.h"
#include "engine/kernels/line_args.h"

/* What is to be gone through: a tensor's sizes, which of its dimensions are along a line, and the
 * strides of up to four tensors in them; a is the one whose neighbours are loaded together. */
struct rmcp_line_problem {
    unsigned dims;
    int64_t size[RMCP_FORM_DIMS];
    bool along[RMCP_FORM_DIMS];
    int64_t stride[4][RMCP_FORM_DIMS];
    unsigned bytes[4]; /* of an element; 0: there is no such tensor */
    int64_t lanes;     /* elements of a chunk                       */
    int64_t keep;      /* chunks that a work-item holds             */
    bool passing;      /* none is needed again: a work-item may take any number of them      */
};

struct rmcp_line_loop {
    int64_t size, stride[4];
    bool along;
};

/* Boxes of the loops across, so small that 32 bits hold every offset in bytes and that none runs
 * long. */
struct rmcp_line_plan {
    struct rmcp_line_problem problem;
    unsigned n_loops; /* slowest first by the strides of a */
    struct rmcp_line_loop loop[RMCP_FORM_DIMS];
    int64_t block[RMCP_FORM_DIMS]; /* turns of each loop in one piece */
    int64_t count;                 /* of pieces                       */
    int64_t compute_units;
    bool columns;
};

/* One piece: its arguments and how often workgroups share its lines. */
struct rmcp_line_piece {
    struct rmcp_lines lines;
    int64_t offset[4]; /* of its first elements, in elements    */
    int64_t groups, parts;
    int64_t width; /* lines of a work-item                      */
    bool once;     /* each line fits into registers             */
};

enum { RMCP_LINE_MOST_PIECES = 1024 };

void rmcp_line_plan_make(struct rmcp_line_plan *plan, const struct rmcp_line_problem *problem,
                         const struct rmcp_request *request);

/* NULL, or why there is no such launch. */
const char *rmcp_line_refuse(const struct rmcp_line_plan *plan);

/* Piece number `index`. `split`: whether several workgroups may share a line. */
struct rmcp_line_piece rmcp_line_piece_at(const struct rmcp_line_plan *plan, int64_t index,
                                          bool split);

/* The most values that the parts of a piece leave in the workspace; 0 when none is shared. */
int64_t rmcp_line_parts(const struct rmcp_line_plan *plan);

#endif
