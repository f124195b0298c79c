/* rnn.h: descriptors of recurrent networks, of their dropout and of their sequences. */
#ifndef RMCP_MIOPEN_RNN_H
#define RMCP_MIOPEN_RNN_H

#include "dropin/miopen/plans.h"
#include "dropin/miopen/tensor.h"

struct mi_rnn {
    struct mi_object object;
    int hidden, layers;
    miopenRNNMode_t mode;
    miopenRNNInputMode_t input;
    miopenRNNDirectionMode_t direction;
    miopenRNNBiasMode_t bias;
    miopenRNNAlgo_t algo;
    miopenDataType_t type;
    miopenRNNPaddingMode_t padding;
    miopenDropoutDescriptor_t dropout; /* NULL: none */
};

struct mi_dropout {
    struct mi_object object;
    float rate;
    void *states; /* device memory; its first 4 words are the engine's */
    size_t states_bytes;
    unsigned long long seed;
    bool use_mask, state_evo;
    miopenRNGType_t generator;
};

struct mi_sequence {
    struct mi_object object;
    miopenDataType_t type; /* layout 0: not set yet */
    miopenRNNBaseLayout_t layout;
    int steps, batch, width;
    int *lengths;             /* of each sequence */
    int *order;               /* the longest first; NULL: they are so */
    unsigned char padding[8]; /* one element      */
    bool padded;              /* that was given   */
};

/* The descriptor, or NULL: none, or destroyed; a sequence: or never set. */
const struct mi_rnn *mi_rnn(miopenRNNDescriptor_t name);
const struct mi_dropout *mi_dropout(miopenDropoutDescriptor_t name);
const struct mi_sequence *mi_sequence(miopenSeqTensorDescriptor_t name);

/* Gates of a layer; directions; bytes of an element. */
int64_t mi_rnn_gates(const struct mi_rnn *rnn);
int64_t mi_rnn_directions(const struct mi_rnn *rnn);

/* The share that dropout takes: 0 without a descriptor, or when it was destroyed. */
double mi_rnn_dropout(const struct mi_rnn *rnn);

/* What the original asks for, in bytes, with `rows` rows of all steps; 0 when that is too much. */
size_t mi_rnn_workspace_bytes(const struct mi_rnn *rnn, int64_t rows);
size_t mi_rnn_reserve_bytes(const struct mi_rnn *rnn, int64_t rows);

/* Bytes of all weights for that many inputs. */
size_t mi_rnn_weights_bytes(const struct mi_rnn *rnn, int64_t input);

/* Rows of all steps of an array of tensors, one for each step; 0 when one is no tensor of that
 * type. */
int64_t mi_rnn_rows(const struct mi_rnn *rnn, int steps, const miopenTensorDescriptor_t *x);

#endif
