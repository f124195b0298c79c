/* sequence_fusion.c: fusion plans as MIOpen's own examples and XLA call them. */
#include "sequence.h"

#include <stdlib.h>
#include <string.h>

#define API (&world.api)

enum norm { NO_NORM, INFER, TRAIN, BACKWARD };
enum { NO_ACTIVATION = -1 };

/* A convolution, a bias, a batch norm and an activation, each of which may be missing. */
static const struct fusion {
    const char *name;
    miopenDataType_t type;
    int x[4], w[4]; /* w[0] 0: no convolution */
    int pad, stride, groups;
    bool last, bias;
    enum norm norm;
    miopenBatchNormMode_t mode;
    int activation; /* miopenActivationMode_t */
    double alpha, beta, gamma;
} fusions[] = {
#include "sequence_fusions.inc"
};

struct scene {
    const struct fusion *f;
    struct tensor x, w, y, b, p;
    miopenTensorDescriptor_t x_desc, w_desc, y_desc, b_desc, p_desc;
    miopenConvolutionDescriptor_t conv;
    miopenFusionPlanDescriptor_t plan;
    miopenFusionOpDescriptor_t conv_op, bias_op, norm_op, activation_op;
    miopenOperatorArgs_t args;
};

static struct scene describe_all(const struct fusion *f)
{
    struct scene s = { .f = f,
                       .x = { f->type, 4, { 0 }, { 0 } },
                       .w = { f->type, 4, { 0 }, { 0 } },
                       .y = { f->type, 4, { 0 }, { 0 } } };
    memcpy(s.x.dims, f->x, sizeof f->x);
    memcpy(s.w.dims, f->w, sizeof f->w);
    memcpy(s.y.dims, f->x, sizeof f->x);
    if (f->w[0]) {
        s.y.dims[1] = f->w[0];
        for (int i = 2; i < 4; i++) s.y.dims[i] = (f->x[i] + 2 * f->pad - f->w[i]) / f->stride + 1;
    }
    const int k = s.y.dims[1], *d = s.y.dims;
    const bool each = f->mode == miopenBNPerActivation;
    s.b = (struct tensor){ f->type, 4, { 1, k, 1, 1 }, { 0 } };
    s.p = (struct tensor){ miopenFloat, 4, { 1, k, each ? d[2] : 1, each ? d[3] : 1 }, { 0 } };
    tensor_pack(&s.x, f->last);
    tensor_pack(&s.w, f->last);
    tensor_pack(&s.y, f->last);
    tensor_pack(&s.b, false);
    tensor_pack(&s.p, false);
    record_tensor("x", &s.x);
    record_tensor("y", &s.y);
    record_tensor("p", &s.p);
    record_tensor("b", &s.b);
    record_note("bias=%d norm=%d mode=%d activation=%d alpha=%g beta=%g gamma=%g", f->bias,
                (int)f->norm, (int)f->mode, f->activation, f->alpha, f->beta, f->gamma);
    s.x_desc = describe(&s.x, SET_INT);
    s.y_desc = describe(&s.y, SET_INT);
    s.b_desc = describe(&s.b, SET_INT);
    s.p_desc = describe(&s.p, SET_INT);
    if (f->w[0]) {
        record_tensor("w", &s.w);
        record_note("pad=%d stride=%d groups=%d", f->pad, f->stride, f->groups);
        s.w_desc = describe(&s.w, SET_INT);
        called("CreateConvolutionDescriptor", API->miopenCreateConvolutionDescriptor(&s.conv));
        called("InitConvolutionDescriptor",
               API->miopenInitConvolutionDescriptor(s.conv, miopenConvolution, f->pad, f->pad,
                                                    f->stride, f->stride, 1, 1));
        if (f->groups > 1)
            called("SetConvolutionGroupCount",
                   API->miopenSetConvolutionGroupCount(s.conv, f->groups));
    }
    return s;
}

static miopenStatus_t make_plan(struct scene *s)
{
    const struct fusion *f = s->f;
    called("CreateFusionPlan",
           API->miopenCreateFusionPlan(&s->plan, miopenVerticalFusion, s->x_desc));
    if (f->w[0])
        called("CreateOpConvForward",
               API->miopenCreateOpConvForward(s->plan, &s->conv_op, s->conv, s->w_desc));
    if (f->bias)
        called("CreateOpBiasForward",
               API->miopenCreateOpBiasForward(s->plan, &s->bias_op, s->b_desc));
    if (f->norm == INFER)
        called("CreateOpBatchNormInference",
               API->miopenCreateOpBatchNormInference(s->plan, &s->norm_op, f->mode, s->p_desc));
    if (f->norm == TRAIN)
        called("CreateOpBatchNormForward",
               API->miopenCreateOpBatchNormForward(s->plan, &s->norm_op, f->mode, true));
    if (f->norm == BACKWARD)
        called("CreateOpBatchNormBackward",
               API->miopenCreateOpBatchNormBackward(s->plan, &s->norm_op, f->mode));
    const miopenActivationMode_t mode = (miopenActivationMode_t)f->activation;
    if (f->activation >= 0 && f->norm == BACKWARD)
        called("CreateOpActivationBackward",
               API->miopenCreateOpActivationBackward(s->plan, &s->activation_op, mode));
    else if (f->activation >= 0)
        called("CreateOpActivationForward",
               API->miopenCreateOpActivationForward(s->plan, &s->activation_op, mode));
    miopenFusionOpDescriptor_t first = NULL;
    called("FusionPlanGetOp", API->miopenFusionPlanGetOp(s->plan, 0, &first));
    if (first != (s->conv_op ? s->conv_op : s->bias_op ? s->bias_op : s->norm_op))
        record_note("other_op=1");
    size_t bytes = 12345;
    called("FusionPlanGetWorkSpaceSize",
           API->miopenFusionPlanGetWorkSpaceSize(world.handle, s->plan, &bytes,
                                                 miopenConvolutionFwdAlgoDirect));
    record_note("workspace=%zu", bytes);
    return called("CompileFusionPlan", API->miopenCompileFusionPlan(world.handle, s->plan));
}

static float one = 1, zero = 0;
static double epsilon = 1e-5, factor = 0.1;

/* Memory of what a plan may have; those that it has not are not made. */
struct buffers {
    struct memory x, w, b, y, scale, shift, mean, variance, saved_mean, saved_inverse, dscale,
        dbias, old_x, out_y, old_mean, old_variance;
};

static struct buffers make_buffers(const struct scene *s)
{
    const struct fusion *f = s->f;
    struct buffers m = { .x = memory_input("x", &s->x, 41),
                         .y = memory_output("y", tensor_bytes(&s->y)) };
    if (f->w[0]) m.w = memory_input("w", &s->w, 42);
    if (f->bias) m.b = memory_input("b", &s->b, 43);
    if (f->norm) {
        m.scale = memory_positive("scale", &s->p, 44);
        m.shift = memory_input("shift", &s->p, 45);
    }
    if (f->norm == INFER || f->norm == TRAIN) {
        m.mean = memory_input("mean", &s->p, 46);
        m.variance = memory_positive("var", &s->p, 47);
    }
    if (f->norm == TRAIN) {
        /* What was there before, for the comparison. */
        m.old_mean = memory_input("omean", &s->p, 46);
        m.old_variance = memory_positive("ovar", &s->p, 47);
        m.saved_mean = memory_output("smean", m.scale.bytes);
        m.saved_inverse = memory_output("sinv", m.scale.bytes);
    }
    if (f->norm == BACKWARD) {
        /* x is the gradient that comes in; these are of the forward pass. */
        m.old_x = memory_input("old_x", &s->x, 48);
        m.out_y = memory_input("out_y", &s->x, 49);
        m.saved_mean = memory_input("smean", &s->p, 50);
        m.saved_inverse = memory_positive("sinv", &s->p, 51);
        m.dscale = memory_output("dscale", m.scale.bytes);
        m.dbias = memory_output("dbias", m.scale.bytes);
    }
    return m;
}

static void close_buffers(const struct scene *s, struct buffers *m)
{
    if (!world_wait()) record_note("device=lost");
    struct memory *read[] = { &m->x,     &m->w,     &m->b,        &m->scale,       &m->shift,
                              &m->old_x, &m->out_y, &m->old_mean, &m->old_variance };
    struct memory *saved[] = { &m->saved_mean, &m->saved_inverse };
    struct memory *written[] = { &m->y, &m->dscale, &m->dbias };
    struct memory *running[] = { &m->mean, &m->variance };
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        if (read[i]->base) memory_close(read[i], true);
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        if (written[i]->base) memory_close(written[i], false);
    for (int i = 0; i < 2; i++) {
        if (running[i]->base) memory_close(running[i], s->f->norm == INFER);
        if (saved[i]->base) memory_close(saved[i], s->f->norm == BACKWARD);
    }
    miopenTensorDescriptor_t names[] = { s->x_desc, s->w_desc, s->y_desc, s->b_desc, s->p_desc };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i]) API->miopenDestroyTensorDescriptor(names[i]);
    if (s->conv) API->miopenDestroyConvolutionDescriptor(s->conv);
}

static void set_arguments(const struct scene *s, const struct buffers *m)
{
    const struct fusion *f = s->f;
    if (f->w[0])
        called("SetOpArgsConvForward",
               API->miopenSetOpArgsConvForward(s->args, s->conv_op, &one, &zero, m->w.device));
    if (f->bias)
        called("SetOpArgsBiasForward",
               API->miopenSetOpArgsBiasForward(s->args, s->bias_op, &one, &zero, m->b.device));
    if (f->norm == INFER)
        called("SetOpArgsBatchNormInference",
               API->miopenSetOpArgsBatchNormInference(s->args, s->norm_op, &one, &zero,
                                                      m->scale.device, m->shift.device,
                                                      m->mean.device, m->variance.device, epsilon));
    if (f->norm == TRAIN)
        called("SetOpArgsBatchNormForward",
               API->miopenSetOpArgsBatchNormForward(
                   s->args, s->norm_op, &one, &zero, m->scale.device, m->shift.device,
                   m->saved_mean.device, m->saved_inverse.device, m->mean.device,
                   m->variance.device, factor, epsilon));
    if (f->norm == BACKWARD)
        called("SetOpArgsBatchNormBackward",
               API->miopenSetOpArgsBatchNormBackward(
                   s->args, s->norm_op, &one, &zero, m->old_x.device, m->scale.device,
                   m->shift.device, m->dscale.device, m->dbias.device, m->saved_mean.device,
                   m->saved_inverse.device));
    if (f->activation >= 0 && f->norm == BACKWARD)
        called("SetOpArgsActivBackward", API->miopenSetOpArgsActivBackward(
                                             s->args, s->activation_op, &one, &zero,
                                             m->out_y.device, NULL, f->alpha, f->beta, f->gamma));
    else if (f->activation >= 0)
        called("SetOpArgsActivForward",
               API->miopenSetOpArgsActivForward(s->args, s->activation_op, &one, &zero, f->alpha,
                                                f->beta, f->gamma));
}

static void run_plan(const void *what)
{
    struct scene s = describe_all(what);
    struct buffers m = make_buffers(&s);
    miopenStatus_t compiled = make_plan(&s);
    called("CreateOperatorArgs", API->miopenCreateOperatorArgs(&s.args));
    set_arguments(&s, &m);
    if (compiled == miopenStatusSuccess)
        called("ExecuteFusionPlan",
               API->miopenExecuteFusionPlan(world.handle, s.plan, s.x_desc, m.x.device, s.y_desc,
                                            m.y.device, s.args));
    called("DestroyOperatorArgs", API->miopenDestroyOperatorArgs(s.args));
    called("DestroyFusionPlan", API->miopenDestroyFusionPlan(s.plan));
    close_buffers(&s, &m);
}

/* ---- the same as fused problems ---- */

/* A problem, and what it is run with. */
struct problems {
    miopenProblem_t whole;
    size_t n;
    miopenTensorArgument_t arguments[20];
};

static void tell(miopenProblem_t problem, miopenTensorArgumentId_t id,
                 miopenTensorDescriptor_t tensor)
{
    called("SetProblemTensorDescriptor",
           API->miopenSetProblemTensorDescriptor(problem, id, tensor));
}

static void give(struct problems *p, miopenTensorArgumentId_t id, void *buffer)
{
    p->arguments[p->n++] = (miopenTensorArgument_t){ id, NULL, buffer };
}

/* Behind those that were there before. */
static void join(struct problems *p, miopenProblem_t problem)
{
    if (!p->whole) {
        p->whole = problem;
        return;
    }
    called("FuseProblems", API->miopenFuseProblems(p->whole, problem));
    called("DestroyProblem", API->miopenDestroyProblem(problem));
}

static void add_norm(const struct scene *s, struct buffers *m, struct problems *p)
{
    const struct fusion *f = s->f;
    miopenProblem_t problem = NULL;
    called("CreateBatchnormProblem",
           API->miopenCreateBatchnormProblem(&problem, f->mode, true,
                                             f->norm == INFER   ? miopenProblemDirectionInference
                                             : f->norm == TRAIN ? miopenProblemDirectionForward
                                                                : miopenProblemDirectionBackward));
    tell(problem, miopenTensorBatchnormScale, s->p_desc);
    tell(problem, miopenTensorBatchnormBias, s->p_desc);
    give(p, miopenTensorBatchnormScale, m->scale.device);
    give(p, miopenTensorBatchnormBias, m->shift.device);
    if (f->norm == BACKWARD) {
        tell(problem, miopenTensorBatchnormX, s->x_desc);
        tell(problem, miopenTensorBatchnormDY, s->x_desc);
        tell(problem, miopenTensorBatchnormDX, s->y_desc);
        tell(problem, miopenTensorBatchnormScaleDiff, s->p_desc);
        tell(problem, miopenTensorBatchnormBiasDiff, s->p_desc);
        give(p, miopenTensorBatchnormX, m->old_x.device);
        give(p, miopenTensorBatchnormDY, m->x.device);
        give(p, miopenTensorBatchnormScaleDiff, m->dscale.device);
        give(p, miopenTensorBatchnormBiasDiff, m->dbias.device);
    } else {
        tell(problem, miopenTensorBatchnormX, f->w[0] ? s->y_desc : s->x_desc);
        tell(problem, miopenTensorBatchnormY, s->y_desc);
        if (!f->w[0]) give(p, miopenTensorBatchnormX, m->x.device);
    }
    if (f->norm == INFER) {
        tell(problem, miopenTensorBatchnormEstimatedMean, s->p_desc);
        tell(problem, miopenTensorBatchnormEstimatedVariance, s->p_desc);
        give(p, miopenTensorBatchnormEstimatedMean, m->mean.device);
        give(p, miopenTensorBatchnormEstimatedVariance, m->variance.device);
    } else {
        tell(problem, miopenTensorBatchnormSavedMean, s->p_desc);
        tell(problem, miopenTensorBatchnormSavedVariance, s->p_desc);
        give(p, miopenTensorBatchnormSavedMean, m->saved_mean.device);
        give(p, miopenTensorBatchnormSavedVariance, m->saved_inverse.device);
    }
    if (f->norm == TRAIN) {
        tell(problem, miopenTensorBatchnormRunningMean, s->p_desc);
        tell(problem, miopenTensorBatchnormRunningVariance, s->p_desc);
        give(p, miopenTensorBatchnormRunningMean, m->mean.device);
        give(p, miopenTensorBatchnormRunningVariance, m->variance.device);
        give(p, miopenScalarBatchnormExpAvgFactor, &factor);
    }
    give(p, miopenScalarBatchnormEpsilon, &epsilon);
    join(p, problem);
}

static void add_activation(const struct scene *s, struct buffers *m, struct problems *p)
{
    const struct fusion *f = s->f;
    miopenActivationDescriptor_t name = NULL;
    miopenProblem_t problem = NULL;
    const bool backward = f->norm == BACKWARD;
    called("CreateActivationDescriptor", API->miopenCreateActivationDescriptor(&name));
    called("SetActivationDescriptor",
           API->miopenSetActivationDescriptor(name, (miopenActivationMode_t)f->activation, f->alpha,
                                              f->beta, f->gamma));
    called("CreateActivationProblem",
           API->miopenCreateActivationProblem(&problem, name,
                                              backward ? miopenProblemDirectionBackward
                                                       : miopenProblemDirectionForward));
    tell(problem, miopenTensorActivationX, s->y_desc);
    tell(problem, miopenTensorActivationY, s->y_desc);
    if (backward) {
        tell(problem, miopenTensorActivationDX, s->y_desc);
        tell(problem, miopenTensorActivationDY, s->y_desc);
        give(p, miopenTensorActivationX, m->out_y.device);
        give(p, miopenTensorActivationY, m->out_y.device);
    }
    join(p, problem);
    called("DestroyActivationDescriptor", API->miopenDestroyActivationDescriptor(name));
}

/* The problem, and at the end where the result goes: the output of the last of its parts. */
static struct problems make_problems(const struct scene *s, struct buffers *m)
{
    const struct fusion *f = s->f;
    struct problems p = { 0 };
    miopenTensorArgumentId_t last = miopenTensorConvolutionY;
    if (f->w[0]) {
        called("CreateConvProblem",
               API->miopenCreateConvProblem(&p.whole, s->conv, miopenProblemDirectionForward));
        tell(p.whole, miopenTensorConvolutionX, s->x_desc);
        tell(p.whole, miopenTensorConvolutionW, s->w_desc);
        tell(p.whole, miopenTensorConvolutionY, s->y_desc);
        give(&p, miopenTensorConvolutionX, m->x.device);
        give(&p, miopenTensorConvolutionW, m->w.device);
    }
    if (f->bias) {
        miopenProblem_t problem = NULL;
        called("CreateBiasProblem",
               API->miopenCreateBiasProblem(&problem, miopenProblemDirectionForward));
        tell(problem, miopenTensorBiasX, s->y_desc);
        tell(problem, miopenTensorBiasY, s->y_desc);
        tell(problem, miopenTensorBias, s->b_desc);
        give(&p, miopenTensorBias, m->b.device);
        join(&p, problem);
        last = miopenTensorBiasY;
    }
    if (f->norm) {
        add_norm(s, m, &p);
        last = f->norm == BACKWARD ? miopenTensorBatchnormDX : miopenTensorBatchnormY;
    }
    if (f->activation >= 0) {
        add_activation(s, m, &p);
        last = f->norm == BACKWARD ? miopenTensorActivationDX : miopenTensorActivationY;
    }
    give(&p, last, m->y.device);
    return p;
}

/* Through a file and back, as a client may keep it. */
static miopenSolution_t reload(miopenSolution_t solution)
{
    size_t bytes = 0;
    miopenSolution_t loaded = NULL;
    called("GetSolutionSize", API->miopenGetSolutionSize(solution, &bytes));
    char *data = malloc(bytes ? bytes : 1);
    if (!data) exit(3);
    if (called("SaveSolution", API->miopenSaveSolution(solution, data)) == miopenStatusSuccess)
        called("LoadSolution", API->miopenLoadSolution(&loaded, data, bytes));
    free(data);
    called("DestroySolution", API->miopenDestroySolution(solution));
    return loaded;
}

static void run_problem(const void *what)
{
    struct scene s = describe_all(what);
    struct buffers m = make_buffers(&s);
    struct problems p = make_problems(&s, &m);
    miopenSolution_t solution = NULL;
    size_t n = 0, workspace = 0;
    called("FindSolutions",
           API->miopenFindSolutions(world.handle, p.whole, NULL, &solution, &n, 1));
    record_note("solutions=%zu", n);
    if (n == 0) record_note("fallback=none");
    if (n) {
        solution = reload(solution);
        called("GetSolutionWorkspaceSize",
               API->miopenGetSolutionWorkspaceSize(solution, &workspace));
        struct memory work = memory_output("work", workspace);
        called("RunSolution", API->miopenRunSolution(world.handle, solution, p.n, p.arguments,
                                                     work.device, workspace));
        if (!world_wait()) record_note("device=lost");
        memory_drop(&work);
        called("DestroySolution", API->miopenDestroySolution(solution));
    }
    called("DestroyProblem", API->miopenDestroyProblem(p.whole));
    close_buffers(&s, &m);
}

void fusion_sequences(void)
{
    for (size_t i = 0; i < sizeof fusions / sizeof *fusions; i++) {
        const char *name = fusions[i].name;
        struct sequence plan = { "fusion", "fusion", name, "plan", run_plan, &fusions[i] },
                        problem = { "fusion", "fusion", name, "problem", run_problem, &fusions[i] };
        sequence_run(&plan, false);
        sequence_run(&problem, false);
    }
}
