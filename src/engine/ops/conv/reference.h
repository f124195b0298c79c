/* reference.h: convolution as the textbook writes it; the judge of every algorithm. */
#ifndef RMCP_CONV_REFERENCE_H
#define RMCP_CONV_REFERENCE_H

#include "engine/ops/conv/conv.h"

/* The tensors in host memory; the one that the pass writes may be NULL. */
struct rmcp_conv_reference {
    const struct rmcp_convolution *conv;
    const void *x, *w, *y, *bias;
};

struct rmcp_conv_value {
    double value;     /* bias and activation included, not yet rounded to the type */
    double magnitude; /* the sum of |a * b| behind it: what an error is measured by */
};

/* The output element that stands at `index` in memory. */
struct rmcp_conv_value rmcp_conv_element(const struct rmcp_conv_reference *r, int64_t index);

/* What the errors of an algorithm that transforms tiles are measured by: the magnitude that the
 * element would have if each factor were as large as the largest one near it. Infinite where one of
 * them is not finite. */
double rmcp_conv_magnitude_near(const struct rmcp_conv_reference *r, int64_t index);

/* Whether all weights behind that element are finite, those that lie on the padding included; of
 * backward weights, all of y. */
bool rmcp_conv_factors_finite(const struct rmcp_conv_reference *r, int64_t index);

/* All output elements, rounded to the type, written to `output`. */
void rmcp_conv_loops(const struct rmcp_conv_reference *r, void *output, unsigned threads);

#endif
