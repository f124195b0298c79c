/* reference.c: batch normalisation as the textbook writes it: plain loops, in double, and how far
 * an implementation in f32 may be from it.
 *
 * The bound, with u = 2^-24, the error of one rounding in f32. An implementation sums in blocks,
 * then sums the blocks: whatever the number of elements, one passes through a chain of some hundred
 * roundings at most, each off by u of the partial sum, in either direction; such errors grow with
 * the root of the chain's length, hence SUM = 16 = sqrt(256) times u of the sum of magnitudes.
 *
 *   mean       no |x| exceeds |mean| + R, where R is the largest distance from the mean:
 *              E_mean = SUM u (|mean| + R); it has the rounding of the mean itself, and shifted
 * sums. variance   deviations from a mean that is off by E_mean add its square, and no more, since
 * they add up to zero; each deviation comes out of a subtraction of numbers up to 2 R: E_variance =
 * SUM u (variance + sigma R) + E_mean^2. inverse    1 / sqrt is monotonic, so the variance's
 * interval gives the inverse's; 4 u of it for the addition of epsilon, its own rounding, the root
 * and the reciprocal. z          (x - mean) * inverse * scale + bias: the errors of mean and
 * inverse, multiplied out, and 4 u of both terms for a subtraction, two products and an addition.
 *   activation does not increase an error, but by its slope.
 *   gradients  the same for sum(g) and sum(g (x - mean)), g being dy behind the activation. Where z
 * is nearer to a bend than its error, either side is right, and the bound takes the step in. dx =
 * scale inverse (g - sum(g) / m - (x - mean) inverse^2 sum(g (x - mean)) / m), its factors with
 * their errors multiplied out, and 8 u for its operations.
 *
 * Statistics that are given (running ones in INFER, saved ones in BACKWARD) have no error. */
#include "engine/ops/batchnorm/batchnorm.h"

#include "base/convert.h"

#include <math.h>
#include <stdlib.h>

static const double unit = 0x1p-24;
enum { SUM = 16 };

/* One parameter's statistics; the second half are their errors. */
struct statistics {
    double mean, variance, inverse, sum, product;
    double mean_error, variance_error, inverse_error, sum_error, product_error;
    double scale, bias, running_mean, running_variance;
    bool exact; /* sum is a sum of integers that f32 has exactly */
    bool open;  /* f32 may have overflowed                       */
};

static double load(const struct rmcp_reference *r, unsigned slot, int64_t index)
{
    const struct rmcp_norm *norm = r->problem;
    return (double)rmcp_load(r->host[slot], slot <= RMCP_NORM_DY ? norm->type : RMCP_F32, index);
}

/* Element (o, i) of parameter p. */
static int64_t at(const struct rmcp_norm *norm, int64_t p, int64_t o, int64_t i)
{
    return (o * norm->params + p) * norm->inner + i;
}

static void invert(const struct rmcp_norm *norm, struct statistics *s)
{
    const double epsilon = norm->problem.epsilon, least = s->variance - s->variance_error;
    s->inverse = 1 / sqrt(s->variance + epsilon);
    const double low = 1 / sqrt(s->variance + s->variance_error + epsilon);
    const double high = 1 / sqrt((least > 0 ? least : fmin(s->variance, 0)) + epsilon);
    s->inverse_error = fmax(high - s->inverse, s->inverse - low) + 4 * unit * s->inverse;
}

static void measure(const struct rmcp_reference *r, int64_t p, struct statistics *s)
{
    const struct rmcp_norm *norm = r->problem;
    double sum = 0, size = 0, squares = 0, reach = 0;
    for (int64_t o = 0; o < norm->outer; o++)
        for (int64_t i = 0; i < norm->inner; i++) {
            const double x = load(r, RMCP_NORM_X, at(norm, p, o, i));
            sum += x;
            size += fabs(x);
        }
    s->mean = sum / (double)norm->count;
    for (int64_t o = 0; o < norm->outer; o++)
        for (int64_t i = 0; i < norm->inner; i++) {
            const double distance = load(r, RMCP_NORM_X, at(norm, p, o, i)) - s->mean;
            squares += distance * distance;
            reach = fmax(reach, fabs(distance));
        }
    s->variance = squares / (double)norm->count;
    if (isnan(s->variance)) s->mean = s->variance; /* an infinity in x */
    s->mean_error = r->error_factor * SUM * unit * (fabs(s->mean) + reach);
    /* Distances from another point than the mean may be twice as long; those from a mean that is
     * rounded are never nothing. */
    s->open = rmcp_sum_overflows(size) || rmcp_sum_overflows(4 * squares) ||
              rmcp_sum_overflows((double)norm->count * s->mean_error * s->mean_error);
    s->variance_error = r->error_factor * SUM * unit * (s->variance + sqrt(s->variance) * reach) +
                        s->mean_error * s->mean_error;
    invert(norm, s);
}

/* What the activation is applied to, and how far it may be off. */
static double normalised(const struct statistics *s, double x, double *error)
{
    const double distance = fabs(x - s->mean), scale = fabs(s->scale);
    const double inverse = fabs(s->inverse); /* a saved one may be anything */
    *error = scale * ((distance + s->mean_error) * s->inverse_error + s->mean_error * inverse) +
             4 * unit * (distance * inverse * scale + fabs(s->bias));
    return (x - s->mean) * s->inverse * s->scale + s->bias;
}

/* Whether f32 may overflow where that is computed. */
static bool overflows(const struct statistics *s, double x)
{
    const double distance = fabs(x - s->mean);
    const double factor = fabs(s->inverse) * fmax(1, fabs(s->scale));
    return rmcp_sum_overflows(distance) || rmcp_sum_overflows(factor) ||
           rmcp_sum_overflows(distance * factor);
}

/* dy behind the activation, and how far an implementation may be off. */
static double gradient(const struct rmcp_reference *r, const struct statistics *s, double x,
                       double dy, double *error)
{
    const rmcp_batchnorm *p = &((const struct rmcp_norm *)r->problem)->problem;
    *error = 0;
    if (p->activation == RMCP_NO_ACTIVATION) return dy;
    double near;
    const double z = normalised(s, x, &near), slope = (double)p->slope;
    const double low = p->activation == RMCP_CLAMP ? (double)p->clamp_low : 0;
    const double high = p->activation == RMCP_CLAMP ? (double)p->clamp_high : HUGE_VAL;
    const double outside = p->activation == RMCP_LEAKY_RELU ? dy * slope : 0;
    near *= r->error_factor;
    if (near > 0 && (fabs(z - low) <= near || fabs(z - high) <= near)) *error = fabs(dy - outside);
    return z <= low || (z >= high && p->activation == RMCP_CLAMP) ? outside : dy;
}

static void sum_gradients(const struct rmcp_reference *r, int64_t p, struct statistics *s)
{
    const struct rmcp_norm *norm = r->problem;
    const bool bent = norm->problem.activation != RMCP_NO_ACTIVATION;
    double size = 0, product_size = 0, steps = 0, product_steps = 0;
    for (int64_t o = 0; o < norm->outer; o++)
        for (int64_t i = 0; i < norm->inner; i++) {
            const int64_t index = at(norm, p, o, i);
            const double x = load(r, RMCP_NORM_X, index), distance = x - s->mean;
            double step;
            const double g = gradient(r, s, x, load(r, RMCP_NORM_DY, index), &step);
            s->sum += g;
            s->product += g * distance;
            /* On which side of a bend infinity lies is left open. */
            s->open |=
                bent && (overflows(s, x) || isinf(distance * s->inverse * s->scale + s->bias));
            size += fabs(g);
            product_size += fabs(g * distance);
            steps += step;
            product_steps += step * (fabs(distance) + s->mean_error);
        }
    const bool leaky = norm->problem.activation == RMCP_LEAKY_RELU;
    s->exact = r->data == RMCP_DATA_INTEGERS && r->error_factor <= 1 && !leaky && steps == 0 &&
               size < 0x1p24;
    s->sum_error = s->exact ? 0 : r->error_factor * SUM * unit * size + steps;
    s->open |= rmcp_sum_overflows(size) || rmcp_sum_overflows(2 * product_size);
    s->product_error = r->error_factor * SUM * unit * product_size +
                       s->mean_error * (fabs(s->sum) + s->sum_error) + product_steps;
}

static void prepare(const struct rmcp_reference *r, int64_t p, struct statistics *s)
{
    const struct rmcp_norm *norm = r->problem;
    *s = (struct statistics){ .scale = load(r, RMCP_NORM_SCALE, p) };
    if (rmcp_norm_biased(norm)) s->bias = load(r, RMCP_NORM_BIAS, p);
    if (norm->pass == RMCP_BATCHNORM_INFER) {
        s->mean = load(r, RMCP_NORM_RUNNING_MEAN, p);
        s->variance = load(r, RMCP_NORM_RUNNING_VARIANCE, p);
        invert(norm, s);
    } else if (rmcp_norm_computes(norm)) {
        measure(r, p, s);
    } else {
        s->mean = load(r, RMCP_NORM_SAVED_MEAN, p);
        s->inverse = load(r, RMCP_NORM_SAVED_INVERSE, p);
    }
    if (rmcp_norm_runs(norm)) {
        s->running_mean = load(r, RMCP_NORM_RUNNING_MEAN, p);
        s->running_variance = load(r, RMCP_NORM_RUNNING_VARIANCE, p);
    }
    if (norm->pass == RMCP_BATCHNORM_BACKWARD) sum_gradients(r, p, s);
}

rmcp_status rmcp_norm_reference_begin(struct rmcp_reference *r)
{
    const struct rmcp_norm *norm = r->problem;
    if (!(r->error_factor > 1)) r->error_factor = 1;
    struct statistics *all = calloc((size_t)norm->params, sizeof *all);
    if (!all) return rmcp_fail_memory("reference", (size_t)norm->params * sizeof *all);
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < norm->params; p++) prepare(r, p, &all[p]);
    r->state = all;
    return RMCP_OK;
}

void rmcp_norm_reference_end(struct rmcp_reference *r)
{
    free(r->state);
    r->state = NULL;
}

/* ---- single elements ---- */

static struct rmcp_expected expect_y(const struct rmcp_reference *r, const struct statistics *s,
                                     double x)
{
    const rmcp_batchnorm *p = &((const struct rmcp_norm *)r->problem)->problem;
    struct rmcp_expected e;
    e.value = normalised(s, x, &e.allowed);
    e.allowed *= r->error_factor;
    e.open = overflows(s, x);
    switch (p->activation) {
    case RMCP_RELU: e.value = e.value < 0 ? 0 : e.value; break;
    case RMCP_LEAKY_RELU:
        e.value = e.value < 0 ? e.value * (double)p->slope : e.value;
        e.allowed = e.allowed * fmax(1, fabs((double)p->slope)) + unit * fabs(e.value);
        break;
    case RMCP_CLAMP:
        e.value = e.value < (double)p->clamp_low    ? (double)p->clamp_low
                  : e.value > (double)p->clamp_high ? (double)p->clamp_high
                                                    : e.value;
        break;
    default: break;
    }
    return e;
}

static struct rmcp_expected expect_dx(const struct rmcp_reference *r, const struct statistics *s,
                                      double x, double dy)
{
    const double m = (double)((const struct rmcp_norm *)r->problem)->count;
    const double distance = fabs(x - s->mean), inverse = fabs(s->inverse) + s->inverse_error;
    double step;
    const double g = gradient(r, s, x, dy, &step);
    const double even = s->sum / m;
    const double slanted = (x - s->mean) * s->inverse * s->inverse * s->product / m;
    const double slanted_error =
        (distance + s->mean_error) * inverse * inverse * (fabs(s->product) + s->product_error) / m -
        fabs(slanted);
    const double size = fabs(g) + fabs(even) + fabs(slanted), scale = fabs(s->scale);
    return (struct rmcp_expected){
        .value = s->scale * s->inverse * (g - even - slanted),
        .allowed = scale * inverse * (step + s->sum_error / m + slanted_error) +
                   scale * (s->inverse_error + 8 * unit * r->error_factor * inverse) * size,
        .open = overflows(s, x) || rmcp_sum_overflows(fmax(1, scale) * inverse * inverse *
                                                      fmax(1, fmax(size, fabs(s->product)))),
    };
}

static struct rmcp_expected expect_parameter(const struct rmcp_reference *r,
                                             const struct statistics *s, unsigned slot)
{
    const struct rmcp_norm *norm = r->problem;
    const double share = norm->problem.momentum, unbias = rmcp_norm_unbias(norm);
    double old, new, error;
    switch (slot) {
    case RMCP_NORM_SAVED_MEAN:
        return (struct rmcp_expected){ .value = s->mean, .allowed = s->mean_error };
    case RMCP_NORM_SAVED_INVERSE:
        return (struct rmcp_expected){ .value = s->inverse, .allowed = s->inverse_error };
    case RMCP_NORM_DBIAS: return (struct rmcp_expected){ .value = s->sum, .allowed = s->sum_error };
    case RMCP_NORM_DSCALE:
        return (struct rmcp_expected){
            .value = s->inverse * s->product,
            .allowed = (fabs(s->inverse) + s->inverse_error) * s->product_error +
                       fabs(s->product) * (s->inverse_error + 4 * unit * fabs(s->inverse)),
        };
    case RMCP_NORM_RUNNING_MEAN:
        old = (1 - share) * s->running_mean;
        new = share * s->mean;
        error = fabs(share) * s->mean_error;
        break;
    default:
        old = (1 - share) * s->running_variance;
        new = share * s->variance *unbias;
        error = fabs(share) * s->variance_error * unbias;
        break;
    }
    /* 1 - momentum may have lost digits of its own: one rounding of 1, or of what is larger */
    const double before = slot == RMCP_NORM_RUNNING_MEAN ? s->running_mean : s->running_variance;
    error += 4 * unit * (fabs(old) + fabs(new)) + unit * fmax(1, fabs(share)) * fabs(before);
    return (struct rmcp_expected){
        .value = old + new,
        .allowed = error,
        .open = rmcp_sum_overflows(fmax(fabs(share), fabs(old) + fabs(new))),
    };
}

struct rmcp_expected rmcp_norm_expect(const struct rmcp_reference *r, unsigned slot, int64_t index)
{
    const struct rmcp_norm *norm = r->problem;
    const struct statistics *all = r->state;
    const bool data = slot <= RMCP_NORM_DY;
    const struct statistics *s = &all[data ? index / norm->inner % norm->params : index];
    struct rmcp_expected e;
    if (slot == RMCP_NORM_Y)
        e = expect_y(r, s, load(r, RMCP_NORM_X, index));
    else if (slot == RMCP_NORM_DX)
        e = expect_dx(r, s, load(r, RMCP_NORM_X, index), load(r, RMCP_NORM_DY, index));
    else
        e = expect_parameter(r, s, slot);
    e.open |= s->open;
    if (slot == RMCP_NORM_DBIAS && s->exact) return e;
    e.allowed += rmcp_rounding_error(data ? norm->type : RMCP_F32, fabs(e.value) + e.allowed);
    return e;
}
