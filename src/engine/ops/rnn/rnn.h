/* rnn.h: a checked recurrent network in one canonical form, for its algorithms and its reference.
 */
#ifndef RMCP_OPS_RNN_H
#define RMCP_OPS_RNN_H

#include "engine/core/algo.h"

/* Batches only shrink with time, so they are runs of steps with the same one. */
enum { RMCP_RNN_MOST_RUNS = 96 };
struct rmcp_rnn_run {
    int32_t steps, batch;
};

struct rmcp_recurrence {
    rmcp_rnn problem; /* as given, defaults filled in; no batches, which are the runs */
    rmcp_rnn_pass pass;
    rmcp_type type;
    int64_t gates, directions; /* 1, 3 or 4; 1 or 2                                   */
    int64_t rows;              /* of all steps                                        */
    int64_t width;             /* of a row of a layer's output: directions * hidden   */
    int64_t n_runs;
    struct rmcp_rnn_run run[RMCP_RNN_MOST_RUNS];
};

extern const struct rmcp_operation rmcp_operation_rnn;

/* Its slots; a gradient of y, hy or cy has the slot of what it is the gradient of. */
enum {
    RMCP_REC_X,
    RMCP_REC_W,
    RMCP_REC_HX,
    RMCP_REC_CX,
    RMCP_REC_Y,
    RMCP_REC_HY,
    RMCP_REC_CY,
    RMCP_REC_DX,
    RMCP_REC_DW,
    RMCP_REC_DHX,
    RMCP_REC_DCX,
    RMCP_REC_RESERVE,
    RMCP_REC_GRADIENTS,
    RMCP_REC_STATE,
    RMCP_REC_SLOTS
};

/* Check a caller's problem and bring it into canonical form. Each thing that can be wrong has its
 * own message with the value. */
rmcp_status rmcp_rec_init(struct rmcp_recurrence *rec, const rmcp_rnn *problem, int pass);

static inline const struct rmcp_recurrence *rmcp_rec_of(const struct rmcp_request *request)
{
    return request->problem;
}

struct rmcp_slot rmcp_rec_slot(const void *rec, unsigned slot);
double rmcp_rec_flops(const void *rec);
double rmcp_rec_bytes(const void *rec);

/* Whether a state takes part in the pass: RMCP_RNN_HX and so on. */
bool rmcp_rec_has(const struct rmcp_recurrence *rec, uint32_t state);

/* Whether it draws masks, or applies those of TRAIN. */
bool rmcp_rec_drops(const struct rmcp_recurrence *rec);

/* A mask keeps a number that is not below this, and multiplies what it keeps by that. */
uint32_t rmcp_rec_threshold(const struct rmcp_recurrence *rec);
float rmcp_rec_scale(const struct rmcp_recurrence *rec);

/* ---- walking through the steps ---- */

/* Step t: its rows begin at `first`; those of its neighbours in time with theirs, 0 where there is
 * none. */
struct rmcp_rnn_step {
    int64_t t, first, batch;
    int64_t before_first, before; /* of step t - 1: first row, batch */
    int64_t after_first, after;   /* of step t + 1                   */
};

struct rmcp_rnn_step rmcp_rec_first(const struct rmcp_recurrence *rec);
struct rmcp_rnn_step rmcp_rec_last(const struct rmcp_recurrence *rec);

/* The next or the one before; false when there is none. */
bool rmcp_rec_next(const struct rmcp_recurrence *rec, struct rmcp_rnn_step *step);
bool rmcp_rec_previous(const struct rmcp_recurrence *rec, struct rmcp_rnn_step *step);

/* ---- places.c: where parts of w, reserve and gradients are, in elements ---- */

/* Elements of a row of a layer's input, without skip: columns of Wx. */
int64_t rmcp_rec_columns(const struct rmcp_recurrence *rec, int64_t layer);

struct rmcp_rnn_weights {
    int64_t wx,
        wh; /* the layer's, all directions: [directions][gates][hidden][columns or hidden] */
    int64_t bx, bh; /* [directions][gates][hidden]; -1 without bias                               */
};
struct rmcp_rnn_weights rmcp_rec_weights(const struct rmcp_recurrence *rec, int64_t layer);
int64_t rmcp_rec_weight_elements(const struct rmcp_recurrence *rec);
int64_t rmcp_rec_matrix_elements(const struct rmcp_recurrence *rec); /* without biases */

/* A layer's part of the reserve; -1: the mode has none. What is called out is the layer's output.
 */
struct rmcp_rnn_saved {
    int64_t gates; /* [rows][directions][gates][hidden], behind their functions: LSTM, GRU */
    int64_t cell; /* [rows][directions][hidden]: LSTM c, GRU Wh h + bh of n                       */
    int64_t tanh; /* [rows][directions][hidden]: LSTM tanh(c)                                     */
    int64_t out;  /* [rows][directions][hidden]                                                   */
    int64_t dropped; /* [rows][directions][hidden]: out behind its mask */
};
struct rmcp_rnn_saved rmcp_rec_saved(const struct rmcp_recurrence *rec, int64_t layer);
int64_t rmcp_rec_reserve_elements(const struct rmcp_recurrence *rec);

/* The state of the masks as TRAIN found it, 4 words at the end of the reserve. */
int64_t rmcp_rec_reserve_state(const struct rmcp_recurrence *rec);

/* A layer's part of the gradients. */
struct rmcp_rnn_gradients {
    int64_t gates;  /* [rows][directions][gates][hidden]: of what their functions are applied to */
    int64_t hidden; /* GRU: [rows][directions][hidden]: of Wh h + bh of n; else -1                */
};
struct rmcp_rnn_gradients rmcp_rec_gradients(const struct rmcp_recurrence *rec, int64_t layer);
int64_t rmcp_rec_gradient_elements(const struct rmcp_recurrence *rec);

/* ---- case.c ---- */
rmcp_status rmcp_rec_parse(const char *text, void *problems, size_t *count);
rmcp_status rmcp_rec_print(const void *rec, char *text, size_t size);

/* ---- draw.c ---- */
void rmcp_rec_draw(uint64_t seed, void *rec);
void rmcp_rec_fill(const void *rec, unsigned slot, enum rmcp_data data, uint64_t seed, void *host);

/* ---- reference.c ---- */
rmcp_status rmcp_rec_reference_begin(struct rmcp_reference *r);
void rmcp_rec_reference_end(struct rmcp_reference *r);
struct rmcp_expected rmcp_rec_expect(const struct rmcp_reference *r, unsigned slot, int64_t index);

#endif
