/* plans.h: the plans that a handle has made, found again in less than a microsecond. */
#ifndef RMCP_MIOPEN_PLANS_H
#define RMCP_MIOPEN_PLANS_H

#include "dropin/miopen/handle.h"

enum mi_operation { MI_OP_CONV, MI_OP_BATCHNORM, MI_OP_TENSOR, MI_OP_RNN, MI_OP_CASE };

/* A recurrent network; its batches are runs of equal ones, so that they can be compared. */
enum { MI_RNN_RUNS = 96 };
struct mi_rnn_problem {
    rmcp_rnn rnn; /* without batches */
    uint64_t n_runs;
    struct mi_rnn_run {
        int32_t steps, batch;
    } run[MI_RNN_RUNS];
};

/* What is planned. All bytes count: zero it first. */
struct mi_key {
    uint32_t operation; /* mi_operation    */
    uint32_t pass;      /* the operation's                 */
    union {
        rmcp_conv conv;
        rmcp_batchnorm batchnorm;
        rmcp_tensor tensor;
        struct mi_rnn_problem rnn;
        char text[RMCP_CASE_MAX]; /* zeros behind its end */
    } problem;
};

/* The names that the engine's operations give their tensors, of those that are called by case
 * string (rmcp_plan_slot). They are known here by name alone: which number one has, each plan says.
 */
#define MI_SLOT_NAMES(F)                                                                           \
    F(A, "a")                                                                                      \
    F(AMAX, "amax")                                                                                \
    F(BIAS, "bias")                                                                                \
    F(C, "c")                                                                                      \
    F(COPY, "copy")                                                                                \
    F(COS, "cos")                                                                                  \
    F(DBIAS, "dbias")                                                                              \
    F(DK, "dk")                                                                                    \
    F(DO, "do")                                                                                    \
    F(DQ, "dq")                                                                                    \
    F(DV, "dv")                                                                                    \
    F(DW, "dw")                                                                                    \
    F(DWEIGHT, "dweight")                                                                          \
    F(DX, "dx")                                                                                    \
    F(DY, "dy")                                                                                    \
    F(ERRORS, "error")                                                                             \
    F(FACTORS, "factors")                                                                          \
    F(GRAD, "grad")                                                                                \
    F(I0, "i0")                                                                                    \
    F(I1, "i1")                                                                                    \
    F(I2, "i2")                                                                                    \
    F(I3, "i3")                                                                                    \
    F(I4, "i4")                                                                                    \
    F(INDEX, "index")                                                                              \
    F(INDICES, "indices")                                                                          \
    F(INF, "inf")                                                                                  \
    F(K, "k")                                                                                      \
    F(LENGTHS, "lengths")                                                                          \
    F(LOSS, "loss")                                                                                \
    F(M, "m")                                                                                      \
    F(MEAN, "mean")                                                                                \
    F(MOST, "most")                                                                                \
    F(O, "o")                                                                                      \
    F(PARAM, "param")                                                                              \
    F(Q, "q")                                                                                      \
    F(RESERVE, "reserve")                                                                          \
    F(RSTD, "rstd")                                                                                \
    F(SCALE, "scale")                                                                              \
    F(SIN, "sin")                                                                                  \
    F(SQUARE, "square")                                                                            \
    F(STATE, "state")                                                                              \
    F(STEP, "step")                                                                                \
    F(T, "t")                                                                                      \
    F(TARGETS, "targets")                                                                          \
    F(V, "v")                                                                                      \
    F(W, "w")                                                                                      \
    F(WEIGHT, "weight")                                                                            \
    F(X, "x")                                                                                      \
    F(X2, "x2")                                                                                    \
    F(Y, "y")                                                                                      \
    F(ZINV, "zinv")

enum mi_slot {
#define F(slot, name) MI_##slot,
    MI_SLOT_NAMES(F)
#undef F
        MI_SLOTS
};
const char *mi_slot_name(enum mi_slot slot);

/* The same of the numbers that a call brings (rmcp_plan_scalar): one plan does with all of them. */
#define MI_SCALAR_NAMES(F)                                                                         \
    F(BETA1, "beta1")                                                                              \
    F(BETA2, "beta2")                                                                              \
    F(DECAY, "decay")                                                                              \
    F(EPS, "eps")                                                                                  \
    F(LR, "lr")                                                                                    \
    F(NUMBER, "number")                                                                            \
    F(SIZE, "size")

enum mi_scalar {
#define F(scalar, name) MI_##scalar,
    MI_SCALAR_NAMES(F)
#undef F
        MI_SCALARS
};
const char *mi_scalar_name(enum mi_scalar scalar);

/* More scalars than any plan has, and more tensors; those of a plan that are behind are not known.
 */
enum { MI_PLAN_SLOTS = 16, MI_PLAN_SCALARS = 16 };

/* One way to do it. */
struct mi_choice {
    rmcp_plan *plan;
    uint64_t workspace;
    uint64_t id;                     /* MIOpen's solution id: from the algorithm's name, never 0 */
    miopenConvAlgorithm_t algorithm; /* of MIOpen's names, the one that fits best                */
    float estimated_ms;
};

/* All ways that are offered: the best, and, if that needs workspace, the best without. */
struct mi_plans {
    int n;
    struct mi_choice choice[2];
    /* of a plan by case string, the number of each name; -1: not there */
    int8_t slot[MI_SLOTS], scalar[MI_SCALARS];
    double standard[MI_PLAN_SCALARS]; /* its own scalars, in the order of their numbers */
};

struct mi_plan_table *mi_plans_create(void);
void mi_plans_destroy(const struct mi_engine *engine,
                      struct mi_plan_table *table); /* NULL is fine */

/* The plans for `key`, made when they are not there. They stay valid until the handle is left. */
miopenStatus_t mi_plans_get(struct mi_handle *handle, const struct mi_key *key,
                            const struct mi_plans **out);

/* The same, the conv plans chosen by timing the engine's best few; from now on mi_plans_get gives
 * these, too. When timing fails those by estimate stay. Not while the stream is captured. */
miopenStatus_t mi_plans_measure(struct mi_handle *handle, const struct mi_key *key,
                                const struct mi_plans **out);

/* MIOpen's kind and a solution id for the engine's algorithm of this name; and back: false when the
 * id is none of ours. */
miopenConvAlgorithm_t mi_algorithm_kind(const char *name);
uint64_t mi_algorithm_id(const char *name);
bool mi_algorithm_of_id(uint64_t id, miopenConvAlgorithm_t *kind);

/* The workspace that is asked for at most. */
#define MI_WORKSPACE_LIMIT (UINT64_C(256) << 20)

#endif
