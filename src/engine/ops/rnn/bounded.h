/* bounded.h: numbers with how far an implementation in f32 may be from them: a running error
 * analysis.
 *
 * An operation passes the errors of its operands on and adds its own rounding, u = 2^-24 of the
 * result; a sum of n products adds 2 u sqrt(n) of the sum of their magnitudes, as everywhere in the
 * judge. tanh and the sigmoid pass an error on by their slope where it is steepest within it, and
 * are themselves exact to a few u, and to what the reciprocal of the largest number is. Where f32
 * may overflow, nothing is known any more: the error is infinite. */
#ifndef RMCP_OPS_RNN_BOUNDED_H
#define RMCP_OPS_RNN_BOUNDED_H

#include "engine/core/operation.h"

#include <math.h>

struct bounded {
    double v, e;
};

static inline struct bounded bounded_by(double v, double e)
{
    return (struct bounded){ v, rmcp_sum_overflows(fabs(v) + e) ? (double)INFINITY : e };
}

static inline struct bounded exactly(double v)
{
    return (struct bounded){ v, 0 };
}

static inline struct bounded bounded_add(struct bounded a, struct bounded b)
{
    return bounded_by(a.v + b.v, a.e + b.e + 0x1p-24 * (fabs(a.v) + fabs(b.v)));
}

static inline struct bounded bounded_multiply(struct bounded a, struct bounded b)
{
    const double v = a.v * b.v;
    return bounded_by(v,
                      fabs(a.v) * b.e + fabs(b.v) * a.e + a.e * b.e + 0x1p-24 * fabs(v) + 0x1p-149);
}

static inline struct bounded bounded_negate(struct bounded a)
{
    return (struct bounded){ -a.v, a.e };
}

enum { BOUNDED_FUNCTION = 8 }; /* u of the result that tanh and the sigmoid may be off */

static inline struct bounded bounded_tanh(struct bounded a)
{
    const double nearest = fabs(a.v) > a.e ? fabs(a.v) - a.e : 0, t = tanh(nearest), v = tanh(a.v);
    return (struct bounded){ v, a.e * (1 - t * t) + BOUNDED_FUNCTION * 0x1p-24 * fabs(v) };
}

static inline struct bounded bounded_sigmoid(struct bounded a)
{
    const double nearest = fabs(a.v) > a.e ? fabs(a.v) - a.e : 0;
    const double s = 1 / (1 + exp(-nearest)), v = 1 / (1 + exp(-a.v));
    return (struct bounded){ v, a.e * s * (1 - s) + BOUNDED_FUNCTION * 0x1p-24 * v + 0x1p-125 };
}

/* A sum of products that is being added up. */
struct bounded_sum {
    double v, magnitude, e;
    double terms;
};

static inline void bounded_accumulate(struct bounded_sum *s, struct bounded a, double w)
{
    const double term = a.v * w;
    s->v += term;
    s->magnitude += fabs(term);
    s->e += fabs(w) * a.e;
    s->terms++;
}

static inline struct bounded bounded_total(const struct bounded_sum *s)
{
    const double e = s->e + 2 * 0x1p-24 * s->magnitude * sqrt(s->terms);
    return (struct bounded){ s->v, rmcp_sum_overflows(s->magnitude + e) ? (double)INFINITY : e };
}

#endif
