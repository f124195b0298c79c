/* sequence_hostile_fusion.c: wrong calls of fusion plans and of problems that can be fused. */
#include "sequence_hostile.h"

#define API (&world.api)

/* Batch norm and ReLU: a plan that the original can compile on every chip. */
struct fused {
    miopenFusionPlanDescriptor_t plan;
    miopenFusionOpDescriptor_t norm, relu;
    miopenOperatorArgs_t args;
    struct tensor x, p;
    miopenTensorDescriptor_t x_desc, p_desc;
    struct memory mx, my, mp;
};

static float one = 1, zero = 0;

static struct fused right_plan(void)
{
    struct fused f = { .x = { miopenFloat, 4, { 2, 3, 4, 5 }, { 0 } },
                       .p = { miopenFloat, 4, { 1, 3, 1, 1 }, { 0 } } };
    tensor_pack(&f.x, false);
    tensor_pack(&f.p, false);
    f.x_desc = describe(&f.x, SET_INT);
    f.p_desc = describe(&f.p, SET_INT);
    f.mx = memory_input("x", &f.x, 1);
    f.my = memory_output("y", f.mx.bytes);
    f.mp = memory_positive("p", &f.p, 2);
    API->miopenCreateFusionPlan(&f.plan, miopenVerticalFusion, f.x_desc);
    API->miopenCreateOpBatchNormInference(f.plan, &f.norm, miopenBNSpatial, f.p_desc);
    API->miopenCreateOpActivationForward(f.plan, &f.relu, miopenActivationRELU);
    API->miopenCreateOperatorArgs(&f.args);
    return f;
}

static void compile(const struct fused *f)
{
    called("CompileFusionPlan", API->miopenCompileFusionPlan(world.handle, f->plan));
}

static void set_norm(const struct fused *f)
{
    void *p = f->mp.device;
    called("SetOpArgsBatchNormInference",
           API->miopenSetOpArgsBatchNormInference(f->args, f->norm, &one, &zero, p, p, p, p, 1e-5));
}

static void set_relu(const struct fused *f)
{
    called("SetOpArgsActivForward",
           API->miopenSetOpArgsActivForward(f->args, f->relu, &one, &zero, 0, 0, 0));
}

static void execute(const struct fused *f, miopenTensorDescriptor_t x, miopenTensorDescriptor_t y)
{
    called("ExecuteFusionPlan", API->miopenExecuteFusionPlan(world.handle, f->plan, x, f->mx.device,
                                                             y, f->my.device, f->args));
    if (!world_wait()) record_note("device=lost");
}

void hostile_fusion_nothing(void)
{
    struct fused f = right_plan();
    compile(&f);
    set_norm(&f);
    set_relu(&f);
    execute(&f, f.x_desc, f.x_desc);
}

void hostile_fusion_create_nulls(void)
{
    struct fused f = right_plan();
    miopenFusionPlanDescriptor_t plan = NULL;
    miopenFusionOpDescriptor_t op = NULL;
    called("CreateFusionPlan", API->miopenCreateFusionPlan(NULL, miopenVerticalFusion, f.x_desc));
    called("CreateFusionPlan", API->miopenCreateFusionPlan(&plan, miopenVerticalFusion, NULL));
    called("CreateOperatorArgs", API->miopenCreateOperatorArgs(NULL));
    called("CreateOpActivationForward",
           API->miopenCreateOpActivationForward(NULL, &op, miopenActivationRELU));
    called("CreateOpActivationForward",
           API->miopenCreateOpActivationForward(f.plan, NULL, miopenActivationRELU));
    called("CreateOpBiasForward", API->miopenCreateOpBiasForward(f.plan, &op, NULL));
    called("CreateOpConvForward", API->miopenCreateOpConvForward(f.plan, &op, NULL, f.x_desc));
    called("CreateOpBatchNormInference",
           API->miopenCreateOpBatchNormInference(f.plan, &op, miopenBNSpatial, NULL));
}

void hostile_fusion_plan_nulls(void)
{
    struct fused f = right_plan();
    miopenFusionOpDescriptor_t op = NULL;
    size_t bytes = 12345;
    int n = -1;
    called("CompileFusionPlan", API->miopenCompileFusionPlan(NULL, f.plan));
    called("CompileFusionPlan", API->miopenCompileFusionPlan(world.handle, NULL));
    called("FusionPlanGetOp", API->miopenFusionPlanGetOp(NULL, 0, &op));
    called("FusionPlanGetWorkSpaceSize",
           API->miopenFusionPlanGetWorkSpaceSize(world.handle, NULL, &bytes,
                                                 miopenConvolutionFwdAlgoDirect));
    called("FusionPlanConvolutionGetAlgo",
           API->miopenFusionPlanConvolutionGetAlgo(NULL, 1, &n, NULL));
    called("FusionPlanConvolutionSetAlgo",
           API->miopenFusionPlanConvolutionSetAlgo(NULL, miopenConvolutionFwdAlgoDirect));
}

void hostile_fusion_get_op(void)
{
    struct fused f = right_plan();
    miopenFusionOpDescriptor_t op = NULL;
    called("FusionPlanGetOp", API->miopenFusionPlanGetOp(f.plan, 1, &op));
    called("FusionPlanGetOp", API->miopenFusionPlanGetOp(f.plan, 2, &op));
    called("FusionPlanGetOp", API->miopenFusionPlanGetOp(f.plan, -1, &op));
}

void hostile_fusion_algorithms(void)
{
    struct fused f = right_plan();
    miopenConvFwdAlgorithm_t list[4];
    int n = -1;
    called("FusionPlanConvolutionGetAlgo",
           API->miopenFusionPlanConvolutionGetAlgo(f.plan, 4, &n, list));
    record_note("algorithms=%d", n);
    called("FusionPlanConvolutionGetAlgo",
           API->miopenFusionPlanConvolutionGetAlgo(f.plan, 1, &n, list));
    record_note("algorithms=%d", n);
}

void hostile_fusion_args_nulls(void)
{
    struct fused f = right_plan();
    called("SetOpArgsActivForward",
           API->miopenSetOpArgsActivForward(NULL, f.relu, &one, &zero, 0, 0, 0));
    called("SetOpArgsActivForward",
           API->miopenSetOpArgsActivForward(f.args, NULL, &one, &zero, 0, 0, 0));
    called("SetOpArgsActivForward",
           API->miopenSetOpArgsActivForward(f.args, f.relu, NULL, NULL, 0, 0, 0));
    called("SetOpArgsActivForward",
           API->miopenSetOpArgsActivForward(f.args, f.norm, &one, &zero, 0, 0, 0));
    called("SetOpArgsBiasForward",
           API->miopenSetOpArgsBiasForward(f.args, f.relu, &one, &zero, f.mp.device));
}

void hostile_fusion_uncompiled(void)
{
    struct fused f = right_plan();
    set_norm(&f);
    set_relu(&f);
    execute(&f, f.x_desc, f.x_desc);
}

void hostile_fusion_misfit(void)
{
    struct fused f = right_plan();
    const int d[4] = { 2, 3, 4, 4 };
    compile(&f);
    set_norm(&f);
    set_relu(&f);
    miopenTensorDescriptor_t other = describe(&f.x, SET_INT);
    reshape(other, miopenFloat, 4, d);
    execute(&f, f.x_desc, other);
    execute(&f, other, f.x_desc);
    execute(&f, NULL, f.x_desc);
}

void hostile_fusion_empty(void)
{
    struct fused f = right_plan();
    miopenFusionPlanDescriptor_t plan = NULL;
    API->miopenCreateFusionPlan(&plan, miopenVerticalFusion, f.x_desc);
    called("CompileFusionPlan", API->miopenCompileFusionPlan(world.handle, plan));
}

void hostile_fusion_destroy_nulls(void)
{
    called("DestroyFusionPlan", API->miopenDestroyFusionPlan(NULL));
    called("DestroyOperatorArgs", API->miopenDestroyOperatorArgs(NULL));
}

void hostile_fusion_without_args(void)
{
    struct fused f = right_plan();
    compile(&f);
    set_relu(&f);
    execute(&f, f.x_desc, f.x_desc);
}

/* ---- problems ---- */

static miopenActivationDescriptor_t relu(void)
{
    miopenActivationDescriptor_t made = NULL;
    API->miopenCreateActivationDescriptor(&made);
    API->miopenSetActivationDescriptor(made, miopenActivationRELU, 0, 0, 0);
    return made;
}

void hostile_task_nulls(void)
{
    miopenProblem_t problem = NULL;
    miopenActivationDescriptor_t name = relu();
    called("CreateActivationProblem",
           API->miopenCreateActivationProblem(NULL, name, miopenProblemDirectionForward));
    called("CreateActivationProblem",
           API->miopenCreateActivationProblem(&problem, NULL, miopenProblemDirectionForward));
    called("CreateBiasProblem", API->miopenCreateBiasProblem(NULL, miopenProblemDirectionForward));
    called("CreateBatchnormProblem",
           API->miopenCreateBatchnormProblem(NULL, miopenBNSpatial, true,
                                             miopenProblemDirectionForward));
    called("FuseProblems", API->miopenFuseProblems(NULL, NULL));
}

/* Without what it needs. */
void hostile_task_missing(void)
{
    miopenProblem_t first = NULL, second = NULL;
    miopenSolution_t solution = NULL;
    size_t n = 12345;
    called("CreateBatchnormProblem",
           API->miopenCreateBatchnormProblem(&first, miopenBNSpatial, true,
                                             miopenProblemDirectionForward));
    called("CreateActivationProblem",
           API->miopenCreateActivationProblem(&second, relu(), miopenProblemDirectionForward));
    called("FuseProblems", API->miopenFuseProblems(first, second));
    called("FindSolutions", API->miopenFindSolutions(world.handle, first, NULL, &solution, &n, 1));
}

/* Alone they are problems of ours only. */
void hostile_task_alone(void)
{
    struct fused f = right_plan();
    miopenProblem_t problem = NULL;
    miopenSolution_t solution = NULL;
    size_t n = 12345;
    called("CreateBatchnormProblem",
           API->miopenCreateBatchnormProblem(&problem, miopenBNSpatial, true,
                                             miopenProblemDirectionForward));
    called("SetProblemTensorDescriptor",
           API->miopenSetProblemTensorDescriptor(problem, miopenTensorBatchnormX, f.x_desc));
    called("FindSolutions",
           API->miopenFindSolutions(world.handle, problem, NULL, &solution, &n, 1));
}

void hostile_task_foreign(void)
{
    struct fused f = right_plan();
    miopenProblem_t problem = NULL;
    called("CreateActivationProblem",
           API->miopenCreateActivationProblem(&problem, relu(), miopenProblemDirectionForward));
    called("SetProblemTensorDescriptor",
           API->miopenSetProblemTensorDescriptor(problem, miopenTensorConvolutionX, f.x_desc));
}

void hostile_task_fused_tensor(void)
{
    struct fused f = right_plan();
    miopenProblem_t first = NULL, second = NULL;
    API->miopenCreateBiasProblem(&first, miopenProblemDirectionForward);
    API->miopenCreateActivationProblem(&second, relu(), miopenProblemDirectionForward);
    called("FuseProblems", API->miopenFuseProblems(first, second));
    called("SetProblemTensorDescriptor",
           API->miopenSetProblemTensorDescriptor(first, miopenTensorBiasX, f.x_desc));
}
