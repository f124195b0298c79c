/* batchnorm.h: a checked batch normalisation in one canonical form, for its algorithms and its
 * reference. */
#ifndef RMCP_OPS_BATCHNORM_H
#define RMCP_OPS_BATCHNORM_H

#include "engine/core/algo.h"

/* Every layout and mode is one array [outer][params][inner], and each parameter belongs to `count`
 * elements, outer * inner: spatial nchw has outer = n and inner = space, spatial nhwc outer = n *
 * space and inner = 1, per activation outer = n and inner = 1. All products fit in 63 bits. */
struct rmcp_norm {
    rmcp_batchnorm problem; /* as given, defaults filled in */
    rmcp_batchnorm_pass pass;
    rmcp_type type;
    int64_t outer, params, inner;
    int64_t count, elements;
};

extern const struct rmcp_operation rmcp_operation_batchnorm;

/* Its slots; all parameters are f32. */
enum {
    RMCP_NORM_X,
    RMCP_NORM_Y,
    RMCP_NORM_DX,
    RMCP_NORM_DY,
    RMCP_NORM_SCALE,
    RMCP_NORM_BIAS,
    RMCP_NORM_DSCALE,
    RMCP_NORM_DBIAS,
    RMCP_NORM_RUNNING_MEAN,
    RMCP_NORM_RUNNING_VARIANCE,
    RMCP_NORM_SAVED_MEAN,
    RMCP_NORM_SAVED_INVERSE,
    RMCP_NORM_SLOTS
};

/* Check a caller's problem and bring it into canonical form. Each thing that can be wrong has its
 * own message with the value. */
rmcp_status rmcp_norm_init(struct rmcp_norm *norm, const rmcp_batchnorm *problem, int pass);

static inline const struct rmcp_norm *rmcp_norm_of(const struct rmcp_request *request)
{
    return request->problem;
}

struct rmcp_slot rmcp_norm_slot(const void *norm, unsigned slot);

/* Bytes that an execution moves at the least, when x does not fit on the chip: TRAIN reads it twice
 * and writes y, BACKWARD reads x and dy twice and writes dx. */
double rmcp_norm_bytes(const void *norm);

/* Whether this execution computes statistics of x; updates the running ones; reads or writes the
 * saved ones; reads a bias. */
bool rmcp_norm_computes(const struct rmcp_norm *norm);
bool rmcp_norm_runs(const struct rmcp_norm *norm);
bool rmcp_norm_saves(const struct rmcp_norm *norm);
bool rmcp_norm_biased(const struct rmcp_norm *norm);

/* Biased to unbiased variance: count / (count - 1), and 1 for a single element. */
double rmcp_norm_unbias(const struct rmcp_norm *norm);

/* ---- case.c ---- */
rmcp_status rmcp_norm_parse(const char *text, void *problems, size_t *count);
rmcp_status rmcp_norm_print(const void *norm, char *text, size_t size);

/* ---- draw.c ---- */
void rmcp_norm_draw(uint64_t seed, void *norm);
void rmcp_norm_fill(const void *norm, unsigned slot, enum rmcp_data data, uint64_t seed,
                    void *host);

/* ---- reference.c ---- */
rmcp_status rmcp_norm_reference_begin(struct rmcp_reference *r);
void rmcp_norm_reference_end(struct rmcp_reference *r);
struct rmcp_expected rmcp_norm_expect(const struct rmcp_reference *r, unsigned slot, int64_t index);

#endif
