/* sequence_hostile_rest.c: wrong calls of batch norm, tensor operations and problems of Find 2.0.
 */
#include "sequence_hostile.h"

#define API (&world.api)

static void norm(miopenBatchNormMode_t mode, double epsilon, double factor, int leave_out)
{
    struct tensor x = { miopenFloat, 4, { 3, 5, 4, 4 }, { 0 } },
                  p = { miopenFloat, 4, { 1, 5, 1, 1 }, { 0 } };
    tensor_pack(&x, false);
    tensor_pack(&p, false);
    miopenTensorDescriptor_t dx = describe(&x, SET_INT), dp = describe(&p, SET_INT);
    struct memory mx = memory_input("x", &x, 1), my = memory_output("y", tensor_bytes(&x));
    void *device[6];
    for (int i = 0; i < 6; i++) {
        struct memory m = memory_positive("p", &p, (uint32_t)i);
        device[i] = m.device;
    }
    float one = 1, zero = 0;
    if (leave_out >= 0 && leave_out < 6) device[leave_out] = NULL;
    called("BatchNormalizationForwardInference",
           API->miopenBatchNormalizationForwardInference(
               world.handle, mode, &one, &zero, dx, leave_out == 6 ? NULL : mx.device, dx,
               leave_out == 7 ? NULL : my.device, leave_out == 8 ? NULL : dp, device[0], device[1],
               device[2], device[3], epsilon));
    called("BatchNormalizationForwardTraining",
           API->miopenBatchNormalizationForwardTraining(
               world.handle, mode, &one, &zero, dx, leave_out == 6 ? NULL : mx.device, dx,
               leave_out == 7 ? NULL : my.device, leave_out == 8 ? NULL : dp, device[0], device[1],
               factor, device[2], device[3], epsilon, device[4], device[5]));
    if (!world_wait()) record_note("device=lost");
}

void hostile_norm_null_x(void)
{
    norm(miopenBNSpatial, 1e-5, 0.1, 6);
}

void hostile_norm_null_y(void)
{
    norm(miopenBNSpatial, 1e-5, 0.1, 7);
}

void hostile_norm_null_scale(void)
{
    norm(miopenBNSpatial, 1e-5, 0.1, 0);
}

void hostile_norm_null_bias(void)
{
    norm(miopenBNSpatial, 1e-5, 0.1, 1);
}

void hostile_norm_null_mean(void)
{
    norm(miopenBNSpatial, 1e-5, 0.1, 2);
}

void hostile_norm_null_saved(void)
{
    norm(miopenBNSpatial, 1e-5, 0.1, 4);
}

void hostile_norm_null_desc(void)
{
    norm(miopenBNSpatial, 1e-5, 0.1, 8);
}

void hostile_norm_mode(void)
{
    norm((miopenBatchNormMode_t)7, 1e-5, 0.1, -1);
}

void hostile_norm_factor(void)
{
    norm(miopenBNSpatial, 1e-5, 3.0, -1);
}

void hostile_norm_epsilon(void)
{
    norm(miopenBNSpatial, -1.0, 0.1, -1);
}

void hostile_tensor_nulls(void)
{
    struct scene s = right();
    const float one = 1;
    called("SetTensor", API->miopenSetTensor(world.handle, s.dx, NULL, &one));
    called("ScaleTensor", API->miopenScaleTensor(world.handle, s.dx, NULL, &one));
    called("TransformTensor",
           API->miopenTransformTensor(world.handle, &one, s.dx, NULL, &one, s.dx, NULL));
    called("OpTensor", API->miopenOpTensor(world.handle, miopenTensorOpAdd, &one, s.dx, NULL, &one,
                                           s.dx, NULL, &one, s.dx, NULL));
    called("ConvolutionBackwardBias",
           API->miopenConvolutionBackwardBias(world.handle, &one, s.dy, NULL, &one, s.dx, NULL));
    called("ConvolutionForwardBias",
           API->miopenConvolutionForwardBias(world.handle, &one, s.dx, NULL, &one, s.dy, NULL));
}

void hostile_tensor_misfit(void)
{
    struct scene s = right();
    const float one = 1, zero = 0;
    const int d[4] = { 2, 4, 8, 7 };
    reshape(s.dw, miopenFloat, 4, d);
    called("TransformTensor", API->miopenTransformTensor(world.handle, &one, s.dx, s.mx.device,
                                                         &zero, s.dw, s.my.device));
    called("OpTensor", API->miopenOpTensor(world.handle, miopenTensorOpAdd, &one, s.dx, s.mx.device,
                                           &one, s.dw, s.mw.device, &zero, s.dx, s.my.device));
    called("OpTensor",
           API->miopenOpTensor(world.handle, (miopenTensorOp_t)9, &one, s.dx, s.mx.device, &one,
                               s.dx, s.mw.device, &zero, s.dx, s.my.device));
    world_wait();
}

void hostile_problem_nulls(void)
{
    struct scene s = right();
    miopenProblem_t problem = NULL;
    miopenSolution_t solution = NULL;
    size_t n = 12345;
    called("CreateConvProblem",
           API->miopenCreateConvProblem(&problem, NULL, miopenProblemDirectionForward));
    called("CreateConvProblem",
           API->miopenCreateConvProblem(NULL, s.conv, miopenProblemDirectionForward));
    called("CreateConvProblem",
           API->miopenCreateConvProblem(&problem, s.conv, (miopenProblemDirection_t)9));
    problem = NULL;
    called("CreateConvProblem",
           API->miopenCreateConvProblem(&problem, s.conv, miopenProblemDirectionForward));
    called("FindSolutions-empty",
           API->miopenFindSolutions(world.handle, problem, NULL, &solution, &n, 1));
    record_note("found=%zu", n);
}

void hostile_problem_id(void)
{
    struct scene s = right();
    miopenProblem_t problem = NULL;
    called("CreateConvProblem",
           API->miopenCreateConvProblem(&problem, s.conv, miopenProblemDirectionForward));
    called("SetTensor",
           API->miopenSetProblemTensorDescriptor(problem, miopenTensorConvolutionX, s.dx));
    called("SetTensor-twice",
           API->miopenSetProblemTensorDescriptor(problem, miopenTensorConvolutionX, s.dx));
    called("SetTensor-invalid",
           API->miopenSetProblemTensorDescriptor(problem, miopenTensorArgumentIdInvalid, s.dx));
    called("SetTensor-other",
           API->miopenSetProblemTensorDescriptor(problem, (miopenTensorArgumentId_t)4, s.dx));
    called("DestroyProblem", API->miopenDestroyProblem(problem));
}

void hostile_problem_null_handle(void)
{
    struct scene s = right();
    miopenProblem_t problem = NULL;
    called("CreateConvProblem",
           API->miopenCreateConvProblem(&problem, s.conv, miopenProblemDirectionForward));
    called("SetTensor",
           API->miopenSetProblemTensorDescriptor(problem, miopenTensorConvolutionX, NULL));
}

void hostile_destroy_nulls_problem(void)
{
    called("DestroyProblem", API->miopenDestroyProblem(NULL));
}

void hostile_destroy_nulls_solution(void)
{
    called("DestroySolution", API->miopenDestroySolution(NULL));
}

void hostile_destroy_nulls_options(void)
{
    called("DestroyFindOptions", API->miopenDestroyFindOptions(NULL));
}

void hostile_load_garbage(void)
{
    miopenSolution_t solution = NULL;
    const char text[] = "not a solution at all, but long enough to be one of them, one might think";
    called("LoadSolution", API->miopenLoadSolution(&solution, text, sizeof text));
}

void hostile_load_nothing(void)
{
    miopenSolution_t solution = NULL;
    called("LoadSolution", API->miopenLoadSolution(&solution, "", 0));
}

void hostile_load_null(void)
{
    miopenSolution_t solution = NULL;
    called("LoadSolution", API->miopenLoadSolution(&solution, NULL, 0));
}

void hostile_options_nulls(void)
{
    called("CreateFindOptions", API->miopenCreateFindOptions(NULL));
}

void hostile_options_null_set(void)
{
    called("SetFindOptionTuning", API->miopenSetFindOptionTuning(NULL, 1));
}

void hostile_solver_id(void)
{
    miopenConvAlgorithm_t algorithm = 77;
    called("GetSolverIdConvAlgorithm", API->miopenGetSolverIdConvAlgorithm(99999, &algorithm));
    called("GetSolverIdConvAlgorithm", API->miopenGetSolverIdConvAlgorithm(0, &algorithm));
}

void hostile_run_null_solution(void)
{
    called("RunSolution", API->miopenRunSolution(world.handle, NULL, 0, NULL, NULL, 0));
}

void hostile_size_null_solution(void)
{
    size_t bytes = 12345;
    called("GetSolutionSize", API->miopenGetSolutionSize(NULL, &bytes));
}
