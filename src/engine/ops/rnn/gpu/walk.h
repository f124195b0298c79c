/* walk.h: launches of a recurrent network: one walk through layers and steps, which either
 * estimates and measures its workspace, or emits. */
#ifndef RMCP_OPS_RNN_WALK_H
#define RMCP_OPS_RNN_WALK_H

#include "engine/matmul/matmul.h"
#include "engine/ops/rnn/kernels/args.h"
#include "engine/ops/rnn/rnn.h"

/* Where floats are. */
struct rmcp_rnn_place {
    unsigned slot;
    uint64_t offset; /* bytes */
};

struct rmcp_rnn_walk {
    const struct rmcp_recurrence *rec;
    const struct rmcp_caps *caps;
    bool fused; /* each step is one launch, else a product and one for the gates */
    struct rmcp_launch_list *list; /* NULL: nothing is emitted */
    rmcp_status status;     /* of what was appended: the first failure                       */
    const char *refusal;    /* of a product; NULL: none                                      */
    double seconds;         /* estimated so far                                              */
    uint64_t workspace;     /* bytes of all places below, a multiple of 256                  */
    uint64_t product_bytes; /* that the products need behind them                            */
    struct rmcp_matmul_known known; /* ways of products */

    struct rmcp_rnn_place tensor[RMCP_REC_SLOTS]; /* as f32: the slot itself, or a copy of it */
    struct rmcp_rnn_place saved;   /* INFER: in place of the reserve                 */
    struct rmcp_rnn_place product; /* of each step: [directions][batch][gates or 1][hidden] */
    struct rmcp_rnn_place carry; /* backward: [directions][batch][hidden]                         */
    struct rmcp_rnn_place output; /* backward: gradient of a layer's output */
    struct rmcp_rnn_place turned; /* backward: a layer's Wh with lines and columns exchanged */
    struct rmcp_rnn_place before; /* weights: the hidden state that each row follows */
};

/* Walk through everything. With a list, emit; the places are the same each time. `known`: the ways
 * of products that an earlier walk found; may be NULL. */
void rmcp_rnn_walk(struct rmcp_rnn_walk *walk, const struct rmcp_request *request, bool fused,
                   const struct rmcp_matmul_known *known, struct rmcp_launch_list *list);

/* ---- what the passes share (walk.c) ---- */

struct rmcp_rnn_place rmcp_rnn_behind(struct rmcp_rnn_place place, int64_t elements);

/* Begin a launch of kernel `<stem>_f32<rest>`; NULL when it only estimates, or failed. */
struct rmcp_kernel_launch *rmcp_rnn_launch(struct rmcp_rnn_walk *walk, const char *stem,
                                           const char *rest, int64_t work_items, double bytes);
void rmcp_rnn_argument(struct rmcp_kernel_launch *launch, struct rmcp_rnn_place place);

/* c (+)= a b, all f32. A matrix is a place, its pitch and whether it is stored transposed. */
struct rmcp_rnn_matrix {
    struct rmcp_rnn_place place;
    int64_t pitch;
    bool transposed;
};
struct rmcp_rnn_product {
    int64_t m, n, k;
    struct rmcp_rnn_matrix a, b, c;
    bool add;
};
void rmcp_rnn_multiply(struct rmcp_rnn_walk *walk, const struct rmcp_rnn_product *product);

/* A layer's planes: where they begin, and the places within. */
struct rmcp_rnn_planes {
    struct rmcp_rnn_place start;
    int64_t cell, tanh, out; /* elements behind it; -1: none */
};
struct rmcp_rnn_planes rmcp_rnn_planes(const struct rmcp_rnn_walk *walk, int64_t layer);

/* What a layer reads: x, or the output of the layer before. */
struct rmcp_rnn_place rmcp_rnn_input(const struct rmcp_rnn_walk *walk, int64_t layer);

/* A direction at step number i of its own order, forward in time or, for the second, backward. */
struct rmcp_rnn_move rmcp_rnn_move(const struct rmcp_recurrence *rec, int d,
                                   const struct rmcp_rnn_step *step);

/* The part of a kernel's arguments that a layer's steps share. */
struct rmcp_rnn_step_args rmcp_rnn_step_args(const struct rmcp_rnn_walk *walk, int64_t layer);

/* Sequences that a workgroup of the fused kernels takes at once. */
int64_t rmcp_rnn_rows(int64_t batch);

/* Bytes whose reading would take as long as a fused launch of `groups` workgroups that go through
 * `terms` terms `lanes` at a time: these wait for memory, hardly move it. */
double rmcp_rnn_waiting_bytes(const struct rmcp_rnn_walk *walk, int64_t groups, int64_t terms,
                              int64_t lanes, int64_t rows);

/* Multiply `count` elements with the mask of a layer's output. */
void rmcp_rnn_mask(struct rmcp_rnn_walk *walk, int64_t layer, struct rmcp_rnn_place from,
                   struct rmcp_rnn_place state, struct rmcp_rnn_place to);

/* The passes. */
void rmcp_rnn_walk_forward(struct rmcp_rnn_walk *walk);
void rmcp_rnn_walk_backward(struct rmcp_rnn_walk *walk);
void rmcp_rnn_walk_weights(struct rmcp_rnn_walk *walk);

/* ---- for the algorithms ---- */
rmcp_status rmcp_rnn_consider(const struct rmcp_request *request, bool fused, struct rmcp_way *way);
rmcp_status rmcp_rnn_emit(const struct rmcp_request *request, bool fused,
                          const struct rmcp_way *way, struct rmcp_launch_list *list);

#endif
