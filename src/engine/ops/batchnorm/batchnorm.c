/* batchnorm.c: checks a batch normalisation, brings it into canonical form, and says what it has in
 * each slot. */
#include "engine/ops/batchnorm/batchnorm.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

extern const struct rmcp_algo *const rmcp_algos_batchnorm[];

bool rmcp_norm_computes(const struct rmcp_norm *norm)
{
    return norm->pass == RMCP_BATCHNORM_TRAIN ||
           (norm->pass == RMCP_BATCHNORM_BACKWARD && !norm->problem.saved);
}

bool rmcp_norm_runs(const struct rmcp_norm *norm)
{
    return norm->pass == RMCP_BATCHNORM_TRAIN && norm->problem.running;
}

bool rmcp_norm_saves(const struct rmcp_norm *norm)
{
    return norm->pass != RMCP_BATCHNORM_INFER && norm->problem.saved;
}

bool rmcp_norm_biased(const struct rmcp_norm *norm)
{
    return norm->pass != RMCP_BATCHNORM_BACKWARD || norm->problem.activation;
}

double rmcp_norm_unbias(const struct rmcp_norm *norm)
{
    return norm->count > 1 ? (double)norm->count / (double)(norm->count - 1) : 1;
}

struct rmcp_slot rmcp_norm_slot(const void *problem, unsigned slot)
{
    enum { READ = 1, WRITTEN = 2 };
    const struct rmcp_norm *norm = problem;
    const bool train = norm->pass == RMCP_BATCHNORM_TRAIN;
    const bool infer = norm->pass == RMCP_BATCHNORM_INFER;
    const bool backward = norm->pass == RMCP_BATCHNORM_BACKWARD;
    const unsigned running = infer ? READ : rmcp_norm_runs(norm) ? READ | WRITTEN : 0;
    const unsigned saved = !rmcp_norm_saves(norm) ? 0 : train ? WRITTEN : READ;
    const struct {
        const char *name;
        unsigned use;
    } slots[RMCP_NORM_SLOTS] = {
        [RMCP_NORM_X] = { "x", READ },
        [RMCP_NORM_Y] = { "y", backward ? 0 : WRITTEN },
        [RMCP_NORM_DX] = { "dx", backward ? WRITTEN : 0 },
        [RMCP_NORM_DY] = { "dy", backward ? READ : 0 },
        [RMCP_NORM_SCALE] = { "scale", READ },
        [RMCP_NORM_BIAS] = { "bias", rmcp_norm_biased(norm) ? READ : 0 },
        [RMCP_NORM_DSCALE] = { "dscale", backward ? WRITTEN : 0 },
        [RMCP_NORM_DBIAS] = { "dbias", backward ? WRITTEN : 0 },
        [RMCP_NORM_RUNNING_MEAN] = { "running_mean", running },
        [RMCP_NORM_RUNNING_VARIANCE] = { "running_variance", running },
        [RMCP_NORM_SAVED_MEAN] = { "saved_mean", saved },
        [RMCP_NORM_SAVED_INVERSE] = { "saved_inverse", saved },
    };
    const bool data = slot <= RMCP_NORM_DY;
    const unsigned use = slots[slot].use;
    return (struct rmcp_slot){
        .name = slots[slot].name,
        .elements = !use   ? 0
                    : data ? norm->elements
                           : norm->params,
        .type = data ? norm->type : RMCP_F32,
        .read = use & READ,
        .written = use & WRITTEN,
    };
}

/* ---- checks: each returns a status of its own ---- */

static rmcp_status check_kinds(const rmcp_batchnorm *p)
{
    if (p->type > RMCP_BF16)
        return rmcp_fail(RMCP_E_ARG, "type is %u; known are f32 (0), f16 (1) and bf16 (2)",
                         (unsigned)p->type);
    if (p->layout > RMCP_NHWC)
        return rmcp_fail(RMCP_E_ARG, "layout is %u; known are nchw (0) and nhwc (1)",
                         (unsigned)p->layout);
    if (p->mode > RMCP_PER_ACTIVATION)
        return rmcp_fail(RMCP_E_ARG, "mode is %u; known are spatial (0) and per activation (1)",
                         (unsigned)p->mode);
    if (p->running > 1)
        return rmcp_fail(RMCP_E_ARG, "running is %u; it must be 0 or 1", (unsigned)p->running);
    if (p->saved > 1)
        return rmcp_fail(RMCP_E_ARG, "saved is %u; it must be 0 or 1", (unsigned)p->saved);
    if (p->activation > RMCP_CLAMP)
        return rmcp_fail(RMCP_E_ARG,
                         "activation is %u; known are none (0), relu (1), leaky relu (2) and "
                         "clamp (3)",
                         (unsigned)p->activation);
    if (p->activation == RMCP_LEAKY_RELU && !isfinite(p->slope))
        return rmcp_fail(RMCP_E_ARG, "slope is %g; it must be finite", (double)p->slope);
    if (p->activation == RMCP_CLAMP && !(p->clamp_low <= p->clamp_high))
        return rmcp_fail(RMCP_E_ARG, "clamp_low, %g, is not below clamp_high, %g",
                         (double)p->clamp_low, (double)p->clamp_high);
    if (p->reserved)
        return rmcp_fail(RMCP_E_ARG, "reserved is %u; it must be 0", (unsigned)p->reserved);
    return RMCP_OK;
}

/* Epsilon is added in f32, where it must not vanish. */
static rmcp_status check_numbers(rmcp_batchnorm *p)
{
    if (p->epsilon == 0) p->epsilon = 1e-5;
    if (p->momentum == 0) p->momentum = 0.1;
    if (!(p->epsilon >= (double)FLT_MIN && p->epsilon <= (double)FLT_MAX))
        return rmcp_fail(RMCP_E_ARG, "epsilon is %g; it must be from %g to %g, or 0 for 1e-5",
                         p->epsilon, (double)FLT_MIN, (double)FLT_MAX);
    if (!(fabs(p->momentum) <= (double)FLT_MAX))
        return rmcp_fail(RMCP_E_ARG, "momentum is %g; it must be finite", p->momentum);
    return RMCP_OK;
}

/* Sizes, so that the bytes of every tensor fit in 63 bits. */
static rmcp_status check_sizes(rmcp_batchnorm *p, int64_t *space)
{
    if (p->dims == 0) p->dims = 2;
    if (p->dims > RMCP_MAX_DIMS)
        return rmcp_fail(RMCP_E_ARG, "dims is %u; it must be 1, 2 or 3", (unsigned)p->dims);
    if (p->n < 1) return rmcp_fail(RMCP_E_ARG, "n is %" PRId64 "; it must be at least 1", p->n);
    if (p->c < 1) return rmcp_fail(RMCP_E_ARG, "c is %" PRId64 "; it must be at least 1", p->c);
    int64_t product = 1, bytes = 4;
    bool fits = true;
    for (uint32_t i = 0; i < RMCP_MAX_DIMS; i++) {
        if (i >= p->dims && p->input[i])
            return rmcp_fail(RMCP_E_ARG,
                             "input[%u] is %" PRId64 ", but the problem has %u spatial dimensions",
                             (unsigned)i, p->input[i], (unsigned)p->dims);
        if (i >= p->dims) continue;
        if (p->input[i] < 1)
            return rmcp_fail(RMCP_E_ARG,
                             "input of dimension %c is %" PRId64 "; it must be at least 1",
                             "dhw"[RMCP_MAX_DIMS - p->dims + i], p -> input[i]);
        fits = fits && !__builtin_mul_overflow(product, p->input[i], &product);
    }
    if (!fits || __builtin_mul_overflow(bytes, product, &bytes) ||
        __builtin_mul_overflow(bytes, p->c, &bytes) || __builtin_mul_overflow(bytes, p->n, &bytes))
        return rmcp_fail(RMCP_E_ARG,
                         "x is too large: %" PRId64 " * %" PRId64 " * %" PRId64 " * %" PRId64
                         " * %" PRId64 " elements do not fit in 63 bits",
                         p->n, p->c, p->input[0], p->dims > 1 ? p->input[1] : 1,
                         p->dims > 2 ? p->input[2] : 1);
    *space = product;
    return RMCP_OK;
}

rmcp_status rmcp_norm_init(struct rmcp_norm *norm, const rmcp_batchnorm *problem, int pass)
{
    memset(norm, 0, sizeof *norm);
    rmcp_batchnorm *p = &norm->problem;
    rmcp_status status =
        rmcp_struct_read(problem, p, sizeof *p, RMCP_FIRST_BATCHNORM, "rmcp_batchnorm");
    if (status) return status;
    if (pass < RMCP_BATCHNORM_TRAIN || pass > RMCP_BATCHNORM_BACKWARD)
        return rmcp_fail(RMCP_E_ARG, "pass is %d; known are train (0), infer (1) and backward (2)",
                         pass);
    int64_t space = 1;
    if ((status = check_sizes(p, &space)) || (status = check_kinds(p)) ||
        (status = check_numbers(p)))
        return status;

    norm->pass = (rmcp_batchnorm_pass)pass;
    norm->type = (rmcp_type)p->type;
    norm->outer = p->n, norm->params = p->c, norm->inner = space;
    if (p->mode == RMCP_PER_ACTIVATION)
        norm->params = p->c * space, norm->inner = 1;
    else if (p->layout == RMCP_NHWC)
        norm->outer = p->n * space, norm->inner = 1;
    norm->count = norm->outer * norm->inner;
    norm->elements = norm->count * norm->params;
    return RMCP_OK;
}

/* ---- the operation ---- */

static rmcp_type type_of(const void *problem)
{
    return ((const struct rmcp_norm *)problem)->type;
}

static rmcp_status check_options(const void *problem, const rmcp_plan_options *options)
{
    (void)problem;
    if (!options->fixed_weights.base) return RMCP_OK;
    return rmcp_fail(RMCP_E_ARG, "fixed_weights is set, but a batch normalisation has no weights");
}

/* Each element costs a subtraction, a multiplication and an addition to normalise, and as many or
 * more for each sum that it takes part in. */
static double flops(const void *problem)
{
    const struct rmcp_norm *norm = problem;
    static const double each[] = { 7, 3, 11 };
    const double anew = norm->pass == RMCP_BATCHNORM_BACKWARD && rmcp_norm_computes(norm) ? 4 : 0;
    return (double)norm->elements * (each[norm->pass] + anew);
}

double rmcp_norm_bytes(const void *problem)
{
    const struct rmcp_norm *norm = problem;
    static const double tensors[] = { 3, 2, 5 };
    double parameters = 0;
    for (unsigned slot = RMCP_NORM_SCALE; slot < RMCP_NORM_SLOTS; slot++) {
        const struct rmcp_slot s = rmcp_norm_slot(norm, slot);
        parameters += (double)s.elements * (double)(s.read + s.written);
    }
    const double anew = norm->pass == RMCP_BATCHNORM_BACKWARD && rmcp_norm_computes(norm) ? 1 : 0;
    return (tensors[norm->pass] + anew) * (double)norm->elements *
               (double)rmcp_type_bytes(norm->type) +
           parameters * sizeof(float);
}

enum { PASS, TYPE, LAYOUT, DIMS, MODE, STATISTICS, ACTIVATION };
static const struct rmcp_trait traits[] = {
    [PASS] = { "pass", (const char *const[]){ "train", "infer", "bwd", NULL } },
    [TYPE] = { "type", (const char *const[]){ "f32", "f16", "bf16", NULL } },
    [LAYOUT] = { "layout", (const char *const[]){ "nchw", "nhwc", NULL } },
    [DIMS] = { "dims", (const char *const[]){ "1-D", "2-D", "3-D", NULL } },
    [MODE] = { "mode", (const char *const[]){ "spatial", "activation", NULL } },
    [STATISTICS] = { "statistics",
                     (const char *const[]){ "none", "running", "saved", "both", NULL } },
    [ACTIVATION] = { "activation",
                     (const char *const[]){ "none", "relu", "leaky", "clamp", NULL } },
    { NULL, NULL },
};

static unsigned trait_of(const void *problem, unsigned trait)
{
    const struct rmcp_norm *norm = problem;
    const rmcp_batchnorm *p = &norm->problem;
    switch (trait) {
    case PASS: return norm->pass;
    case TYPE: return p->type;
    case LAYOUT: return p->layout;
    case DIMS: return p->dims - 1;
    case MODE: return p->mode;
    case STATISTICS: return p->running + 2 * p->saved;
    default: return p->activation;
    }
}

/* Vectors and single elements, along rows and along columns; several channels in a workgroup and
 * several workgroups for a channel. */
static const char *const trials[] = { "n3c6h4w5:%s:running:saved",
                                      "n3c5h3w3:%s:relu",
                                      "n4c12h3w3:%s:nhwc:running",
                                      "n5c7h2w2:%s:nhwc:saved",
                                      "n2c3h70w70:%s:leaky0.5",
                                      "n9000c3w1:%s:nhwc",
                                      NULL };

/* A whole sum behind a parameter is made once for all of its elements. */
static double expect_cost(const void *problem, unsigned slot)
{
    (void)problem, (void)slot;
    return 16;
}

const struct rmcp_operation rmcp_operation_batchnorm = {
    .name = "batchnorm",
    .problem_bytes = sizeof(struct rmcp_norm),
    .n_slots = RMCP_NORM_SLOTS,
    .algos = rmcp_algos_batchnorm,
    .slot = rmcp_norm_slot,
    .type = type_of,
    .check_options = check_options,
    .flops = flops,
    .bytes = rmcp_norm_bytes,
    .parse = rmcp_norm_parse,
    .print = rmcp_norm_print,
    .traits = traits,
    .trait = trait_of,
    .draw = rmcp_norm_draw,
    .trials = trials,
    .fill = rmcp_norm_fill,
    .reference_begin = rmcp_norm_reference_begin,
    .reference_end = rmcp_norm_reference_end,
    .expect = rmcp_norm_expect,
    .expect_cost = expect_cost,
};
