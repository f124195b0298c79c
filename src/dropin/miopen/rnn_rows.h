/* rnn_rows.h: sequences as a caller has them and as the engine takes them: without gaps, all steps
 * one after the other, the longest sequence first. */
#ifndef RMCP_MIOPEN_RNN_ROWS_H
#define RMCP_MIOPEN_RNN_ROWS_H

#include "dropin/miopen/rnn.h"

enum mi_rnn_gaps {
    MI_RNN_NO_GAPS,
    MI_RNN_BY_STEP,     /* each step has a row for every sequence */
    MI_RNN_BY_SEQUENCE, /* each sequence has a row for every step */
};

struct mi_rnn_rows {
    enum mi_rnn_gaps gaps;
    int64_t steps;    /* with gaps: those that no sequence has, too      */
    const int *order; /* of the caller's sequences, the longest first; NULL: they are so */
    bool fill;        /* gaps of results get `value`; else they are left */
    double value;
};

/* Copies of one tensor: rows of `width` elements, as the caller has them and as the engine does. */
struct mi_rnn_pair {
    int64_t width;
    rmcp_memory theirs, ours;
};

/* Rows of x or y to the engine, or, with `back`, to the caller; the handle is entered. */
miopenStatus_t mi_rnn_copy_rows(struct mi_handle *handle, const struct mi_rnn_problem *p,
                                miopenDataType_t type, const struct mi_rnn_rows *rows,
                                const struct mi_rnn_pair *pair, bool back);

/* The same for a state, of which `width` is the hidden units. */
miopenStatus_t mi_rnn_copy_state(struct mi_handle *handle, const struct mi_rnn_problem *p,
                                 miopenDataType_t type, const struct mi_rnn_rows *rows,
                                 const struct mi_rnn_pair *pair, bool back);

#endif
