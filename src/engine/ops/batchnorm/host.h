/* host.h: batch normalisation of neighbouring floats, as loops that a compiler can vectorise. */
#ifndef RMCP_OPS_BATCHNORM_HOST_H
#define RMCP_OPS_BATCHNORM_HOST_H

#include "engine/ops/batchnorm/batchnorm.h"

/* The activation; low and high are infinite where nothing is cut off. */
struct rmcp_norm_bend {
    rmcp_activation kind;
    float slope, low, high;
};

/* What each parameter's elements are computed with: y = (x - mean) * factor + bias, and
 * dx = (g - even - (x - mean) * slant) * factor. One for each parameter. */
struct rmcp_norm_lines {
    float *mean, *inverse, *factor, *bias, *even, *slant;
};

/* Number, mean and sum of squared distances from it; of a union of two. */
struct rmcp_norm_moments {
    double n, mean, m2;
};
struct rmcp_norm_moments rmcp_norm_merge(struct rmcp_norm_moments a, struct rmcp_norm_moments b);

/* Up to RMCP_NORM_BLOCK elements of one parameter. */
enum { RMCP_NORM_BLOCK = 1024, RMCP_NORM_TILE = 256, RMCP_NORM_DEPTH = 16 };
struct rmcp_norm_moments rmcp_norm_block_moments(const float *x, int64_t n);

/* Add to sum and product those of up to RMCP_NORM_BLOCK elements of parameter p. */
void rmcp_norm_block_sums(const struct rmcp_norm_bend *bend, const struct rmcp_norm_lines *lines,
                          int64_t p, const float *x, const float *dy, int64_t n, double *sum,
                          double *product);

/* n elements of parameter p (step 0) or of parameters p, p + 1, … (step 1). */
void rmcp_norm_forward(const struct rmcp_norm_bend *bend, const struct rmcp_norm_lines *lines,
                       int64_t p, int64_t step, const float *x, float *y, int64_t n);
void rmcp_norm_backward(const struct rmcp_norm_bend *bend, const struct rmcp_norm_lines *lines,
                        int64_t p, int64_t step, const float *x, const float *dy, float *dx,
                        int64_t n);

/* Up to RMCP_NORM_DEPTH rows of up to RMCP_NORM_TILE parameters, merged into the mean and m2 of
 * each, which have `before` rows already. */
void rmcp_norm_tile_moments(const float *const *x, int64_t rows, int64_t n, double before,
                            double *mean, double *m2);

/* The same for sums; p is the first parameter. */
void rmcp_norm_tile_sums(const struct rmcp_norm_bend *bend, const struct rmcp_norm_lines *lines,
                         int64_t p, const float *const *x, const float *const *dy, int64_t rows,
                         int64_t n, double *sum, double *product);

#endif
