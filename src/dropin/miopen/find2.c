/* find2.c: Find-2.0: describe a problem, find its solutions, run one. */
#include "dropin/miopen/find2.h"

#include "dropin/miopen/command_line.h"
#include "dropin/miopen/log.h"

#include <stdlib.h>
#include <string.h>

/* ---- problems ---- */

miopenStatus_t miopenCreateConvProblem(miopenProblem_t *out, miopenConvolutionDescriptor_t name,
                                       miopenProblemDirection_t direction)
{
    const struct mi_convolution *convolution = mi_convolution(name);
    if (!out || !convolution)
        return mi_fail(miopenStatusBadParm, "miopenCreateConvProblem: bad argument");
    if ((unsigned)direction > miopenProblemDirectionBackwardWeights)
        return mi_fail(miopenStatusNotImplemented, "no direction %d of a convolution",
                       (int)direction);
    struct mi_problem *problem = mi_object_new(MI_PROBLEM, sizeof *problem);
    if (!problem) return mi_fail(miopenStatusAllocFailed, "out of memory");
    problem->pass = direction == miopenProblemDirectionForward    ? RMCP_CONV_FORWARD
                    : direction == miopenProblemDirectionBackward ? RMCP_CONV_BACKWARD_DATA
                                                                  : RMCP_CONV_BACKWARD_WEIGHTS;
    problem->convolution = *convolution;
    *out = (miopenProblem_t)(void *)problem;
    return miopenStatusSuccess;
}

miopenStatus_t miopenDestroyProblem(miopenProblem_t name)
{
    struct mi_problem *problem = mi_object(name, MI_PROBLEM);
    if (name && !problem) return mi_fail(miopenStatusBadParm, "%p is no problem", (void *)name);
    if (!problem) return miopenStatusSuccess;
    free(problem->task);
    problem->task = NULL;
    mi_object_delete(problem);
    return miopenStatusSuccess;
}

/* A problem that is no convolution. */
static miopenStatus_t create(miopenProblem_t *out, const struct mi_task_step *step)
{
    struct mi_problem *problem = mi_object_new(MI_PROBLEM, sizeof *problem);
    if (!problem) return mi_fail(miopenStatusAllocFailed, "out of memory");
    problem->task = mi_task_create(step);
    if (!problem->task) {
        mi_object_delete(problem);
        return mi_fail(miopenStatusAllocFailed, "out of memory");
    }
    *out = (miopenProblem_t)(void *)problem;
    return miopenStatusSuccess;
}

miopenStatus_t miopenCreateActivationProblem(miopenProblem_t *out,
                                             miopenActivationDescriptor_t name,
                                             miopenProblemDirection_t direction)
{
    const struct mi_activation *activation = mi_activation(name);
    if (!out || !activation)
        return mi_fail(miopenStatusBadParm, "miopenCreateActivationProblem: bad argument");
    if ((unsigned)direction > miopenProblemDirectionBackward)
        return mi_fail(miopenStatusBadParm, "no direction %d of an activation", (int)direction);
    return create(out, &(struct mi_task_step){ .kind = MI_TASK_ACTIVATION,
                                               .direction = direction,
                                               .activation = *activation });
}

miopenStatus_t miopenCreateBiasProblem(miopenProblem_t *out, miopenProblemDirection_t direction)
{
    if (!out) return mi_fail(miopenStatusBadParm, "miopenCreateBiasProblem: NULL");
    if (direction != miopenProblemDirectionForward)
        return mi_fail(miopenStatusBadParm, "no direction %d of a bias", (int)direction);
    return create(out, &(struct mi_task_step){ .kind = MI_TASK_BIAS, .direction = direction });
}

miopenStatus_t miopenCreateSoftmaxProblem(miopenProblem_t *out, miopenSoftmaxDescriptor_t name,
                                          miopenProblemDirection_t direction)
{
    const struct mi_softmax *softmax = mi_softmax(name);
    if (!out || !softmax)
        return mi_fail(miopenStatusBadParm, "miopenCreateSoftmaxProblem: bad argument");
    if ((unsigned)direction > miopenProblemDirectionBackward)
        return mi_fail(miopenStatusBadParm, "no direction %d of a softmax", (int)direction);
    return create(out, &(struct mi_task_step){
                           .kind = MI_TASK_SOFTMAX, .direction = direction, .softmax = *softmax });
}

miopenStatus_t miopenCreateMhaProblem(miopenProblem_t *out, miopenMhaDescriptor_t name,
                                      miopenProblemDirection_t direction)
{
    const struct mi_mha *mha = mi_mha(name);
    if (!out || !mha) return mi_fail(miopenStatusBadParm, "miopenCreateMhaProblem: bad argument");
    if ((unsigned)direction > miopenProblemDirectionBackward)
        return mi_fail(miopenStatusBadParm, "no direction %d of attention", (int)direction);
    return create(
        out, &(struct mi_task_step){ .kind = MI_TASK_MHA, .direction = direction, .mha = *mha });
}

/* Running statistics are updated when they are given. */
miopenStatus_t miopenCreateBatchnormProblem(miopenProblem_t *out, miopenBatchNormMode_t mode,
                                            bool running, miopenProblemDirection_t direction)
{
    (void)running;
    if (!out) return mi_fail(miopenStatusBadParm, "miopenCreateBatchnormProblem: NULL");
    if (direction != miopenProblemDirectionForward && direction != miopenProblemDirectionBackward &&
        direction != miopenProblemDirectionInference)
        return mi_fail(miopenStatusBadParm, "no direction %d of batch norm", (int)direction);
    return create(
        out, &(struct mi_task_step){ .kind = MI_TASK_NORM, .direction = direction, .norm = mode });
}

/* What a convolution problem is as a step of a fused one. */
static struct mi_task_step step_of(const struct mi_problem *problem)
{
    struct mi_task_step step = { .kind = MI_TASK_CONV, .convolution = problem->convolution };
    step.direction = problem->pass == RMCP_CONV_FORWARD ? miopenProblemDirectionForward
                     : problem->pass == RMCP_CONV_BACKWARD_DATA
                         ? miopenProblemDirectionBackward
                         : miopenProblemDirectionBackwardWeights;
    for (uint32_t i = miopenTensorConvolutionX; i <= miopenTensorConvolutionY; i++)
        if (problem->tensor[i].dims) mi_task_set(&step, i, &problem->tensor[i]);
    return step;
}

/* The second is left as it is. */
miopenStatus_t miopenFuseProblems(miopenProblem_t name, miopenProblem_t behind_name)
{
    struct mi_problem *problem = mi_object(name, MI_PROBLEM);
    const struct mi_problem *behind = mi_object(behind_name, MI_PROBLEM);
    if (!problem || !behind)
        return mi_fail(miopenStatusBadParm, "miopenFuseProblems: bad argument");
    struct mi_task *task = NULL, *second = NULL;
    const struct mi_task_step first_step = step_of(problem), second_step = step_of(behind);
    task = problem->task ? mi_task_copy(problem->task) : mi_task_create(&first_step);
    second = behind->task ? mi_task_copy(behind->task) : mi_task_create(&second_step);
    miopenStatus_t status = task && second ? mi_task_fuse(task, second)
                                           : mi_fail(miopenStatusAllocFailed, "out of memory");
    free(second);
    if (status != miopenStatusSuccess) {
        free(task);
        return status;
    }
    free(problem->task);
    problem->task = task;
    return miopenStatusSuccess;
}

miopenStatus_t miopenSetProblemTensorDescriptor(miopenProblem_t name, miopenTensorArgumentId_t id,
                                                miopenTensorDescriptor_t tensor_name)
{
    struct mi_problem *problem = mi_object(name, MI_PROBLEM);
    const struct mi_tensor *tensor = mi_tensor(tensor_name);
    if (!problem || !tensor)
        return mi_fail(miopenStatusBadParm, "miopenSetProblemTensorDescriptor: bad argument");
    if (problem->task && problem->task->n > 1)
        return mi_fail(miopenStatusBadParm, "a fused problem takes no more tensors");
    if (problem->task) return mi_task_set(&problem->task->step[0], (uint32_t)id, tensor);
    if ((unsigned)id < miopenTensorConvolutionX || (unsigned)id > miopenTensorConvolutionY)
        return mi_fail(miopenStatusBadParm, "tensor %d is none of a convolution's", (int)id);
    problem->tensor[id] = *tensor;
    return miopenStatusSuccess;
}

/* ---- options ---- */

static struct mi_find_options *options_of(miopenFindOptions_t name)
{
    struct mi_find_options *options = mi_object(name, MI_FIND_OPTIONS);
    if (!options) mi_log(MI_ERROR, "%p are no find options", (void *)name);
    return options;
}

miopenStatus_t miopenCreateFindOptions(miopenFindOptions_t *out)
{
    struct mi_find_options *options = out ? mi_object_new(MI_FIND_OPTIONS, sizeof *options) : NULL;
    if (!options) return out ? miopenStatusAllocFailed : miopenStatusBadParm;
    options->workspace_limit = SIZE_MAX;
    *out = (miopenFindOptions_t)(void *)options;
    return miopenStatusSuccess;
}

miopenStatus_t miopenDestroyFindOptions(miopenFindOptions_t name)
{
    struct mi_find_options *options = name ? options_of(name) : NULL;
    if (name && !options) return miopenStatusBadParm;
    if (options) mi_object_delete(options);
    return miopenStatusSuccess;
}

miopenStatus_t miopenSetFindOptionTuning(miopenFindOptions_t name, int value)
{
    struct mi_find_options *options = options_of(name);
    if (!options) return miopenStatusBadParm;
    options->tune = value != 0;
    return miopenStatusSuccess;
}

miopenStatus_t miopenSetFindOptionResultsOrder(miopenFindOptions_t name,
                                               miopenFindResultsOrder_t value)
{
    struct mi_find_options *options = options_of(name);
    if (!options || (unsigned)value > miopenFindResultsOrderByWorkspaceSize)
        return miopenStatusBadParm;
    options->order = value;
    return miopenStatusSuccess;
}

miopenStatus_t miopenSetFindOptionWorkspaceLimit(miopenFindOptions_t name, size_t value)
{
    struct mi_find_options *options = options_of(name);
    if (!options) return miopenStatusBadParm;
    options->workspace_limit = value;
    return miopenStatusSuccess;
}

/* Memory to search with is not needed: a search allocates its own. */
miopenStatus_t miopenSetFindOptionPreallocatedWorkspace(miopenFindOptions_t name, void *buffer,
                                                        size_t size)
{
    (void)buffer, (void)size;
    return options_of(name) ? miopenStatusSuccess : miopenStatusBadParm;
}

miopenStatus_t miopenSetFindOptionPreallocatedTensor(miopenFindOptions_t name,
                                                     miopenTensorArgumentId_t id, void *buffer)
{
    (void)id, (void)buffer;
    return options_of(name) ? miopenStatusSuccess : miopenStatusBadParm;
}

/* There are no binaries to attach: all kernels are in the engine. */
miopenStatus_t miopenSetFindOptionAttachBinaries(miopenFindOptions_t name, unsigned attach)
{
    (void)attach;
    return options_of(name) ? miopenStatusSuccess : miopenStatusBadParm;
}

/* ---- solutions ---- */

static struct mi_solution *make_solution(struct mi_handle *handle, const struct mi_conv_call *call,
                                         const struct mi_choice *choice)
{
    struct mi_solution *solution = mi_object_new(MI_SOLUTION, sizeof *solution);
    if (!solution) return NULL;
    solution->call = *call;
    solution->id = choice->id;
    solution->workspace = choice->workspace;
    solution->ms = choice->estimated_ms;
    const char *name = handle->engine->rmcp_plan_algorithm(choice->plan);
    strncpy(solution->algorithm, name, sizeof solution->algorithm - 1);
    return solution;
}

static miopenStatus_t find(struct mi_handle *handle, const struct mi_problem *problem,
                           const struct mi_find_options *options, miopenSolution_t *list, size_t *n,
                           size_t room)
{
    struct mi_conv_call call = { problem->pass, problem->tensor[miopenTensorConvolutionX],
                                 problem->tensor[miopenTensorConvolutionW],
                                 problem->tensor[miopenTensorConvolutionY], problem->convolution };
    struct mi_conv conv;
    miopenStatus_t status = mi_conv_translate(&call, &conv);
    if (status != miopenStatusSuccess) return status;
    if (mi_log_wants_commands()) mi_command_conv(&conv);
    const struct mi_plans *plans;
    const bool search = options && options->tune && !mi_is_capturing(handle->stream);
    status = (search ? mi_plans_measure : mi_plans_get)(handle, &conv.key, &plans);
    size_t made = 0;
    for (int i = 0; status == miopenStatusSuccess && i < plans->n && made < room; i++) {
        bool small_first = options && options->order == miopenFindResultsOrderByWorkspaceSize;
        const struct mi_choice *choice = &plans->choice[small_first ? plans->n - 1 - i : i];
        if (options && choice->workspace > options->workspace_limit) continue;
        struct mi_solution *solution = make_solution(handle, &call, choice);
        if (solution)
            list[made++] = (miopenSolution_t)(void *)solution;
        else
            status = mi_fail(miopenStatusAllocFailed, "out of memory");
    }
    for (size_t i = 0; status != miopenStatusSuccess && i < made; i++) mi_object_delete(list[i]);
    if (n) *n = status == miopenStatusSuccess ? made : 0;
    return status;
}

/* There is one way: the engine has chosen. */
static miopenStatus_t find_task(struct mi_handle *handle, const struct mi_task *task,
                                const struct mi_find_options *options, miopenSolution_t *list,
                                size_t *n, size_t room)
{
    uint64_t workspace = 0;
    miopenStatus_t status = mi_task_plan(handle, task, &workspace);
    if (n) *n = 0;
    if (status == miopenStatusUnsupportedOp) return miopenStatusSuccess; /* without a solution */
    if (status != miopenStatusSuccess || room == 0) return status;
    if (options && workspace > options->workspace_limit) workspace = 0; /* the handle has its own */
    struct mi_solution *solution = mi_object_new(MI_SOLUTION, sizeof *solution);
    if (solution) solution->task = mi_task_copy(task);
    if (!solution || !solution->task) {
        if (solution) mi_object_delete(solution);
        return mi_fail(miopenStatusAllocFailed, "out of memory");
    }
    solution->id = mi_algorithm_id("parts");
    solution->workspace = workspace;
    strncpy(solution->algorithm, "parts", sizeof solution->algorithm - 1);
    list[0] = (miopenSolution_t)(void *)solution;
    if (n) *n = 1;
    return miopenStatusSuccess;
}

miopenStatus_t miopenFindSolutions(miopenHandle_t name, miopenProblem_t problem_name,
                                   miopenFindOptions_t options_name, miopenSolution_t *list,
                                   size_t *n, size_t room)
{
    const struct mi_problem *problem = mi_object(problem_name, MI_PROBLEM);
    const struct mi_find_options *options = options_name ? options_of(options_name) : NULL;
    if (!problem || !list || (options_name && !options))
        return mi_fail(miopenStatusBadParm, "miopenFindSolutions: bad argument");
    for (int i = miopenTensorConvolutionX; !problem->task && i <= miopenTensorConvolutionY; i++)
        if (!problem->tensor[i].dims)
            return mi_fail(miopenStatusInvalidValue, "the problem lacks tensor %d", i);
    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    miopenStatus_t status = problem->task ? find_task(handle, problem->task, options, list, n, room)
                                          : find(handle, problem, options, list, n, room);
    mi_handle_leave(handle);
    return status;
}

static miopenStatus_t run_task(miopenHandle_t name, const struct mi_solution *solution, size_t n,
                               const miopenTensorArgument_t *arguments, void *workspace,
                               size_t workspace_bytes)
{
    if (workspace_bytes < solution->workspace)
        return mi_fail(miopenStatusBadParm, "%llu bytes of workspace are needed, not %zu",
                       (unsigned long long)solution->workspace, workspace_bytes);
    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    miopenStatus_t status =
        mi_task_run(handle, solution->task, n, arguments, workspace, workspace_bytes);
    mi_handle_leave(handle);
    return status;
}

miopenStatus_t miopenRunSolution(miopenHandle_t name, miopenSolution_t solution_name, size_t n,
                                 const miopenTensorArgument_t *arguments, void *workspace,
                                 size_t workspace_bytes)
{
    const struct mi_solution *solution = mi_object(solution_name, MI_SOLUTION);
    if (!solution || (n && !arguments))
        return mi_fail(miopenStatusBadParm, "miopenRunSolution: bad argument");
    if (solution->task) return run_task(name, solution, n, arguments, workspace, workspace_bytes);
    struct mi_conv_call call = solution->call;
    struct mi_tensor *tensors[MI_ARGUMENTS] = { NULL, &call.x, &call.w, &call.y };
    const void *buffer[MI_ARGUMENTS] = { NULL };
    for (size_t i = 0; i < n; i++) {
        unsigned id = (unsigned)arguments[i].id;
        if (id < miopenTensorConvolutionX || id > miopenTensorConvolutionY) continue;
        buffer[id] = arguments[i].buffer;
        if (arguments[i].descriptor) {
            const struct mi_tensor *tensor = mi_tensor(*arguments[i].descriptor);
            if (!tensor) return miopenStatusBadParm;
            *tensors[id] = *tensor;
        }
    }
    for (int i = miopenTensorConvolutionX; i <= miopenTensorConvolutionY; i++)
        if (!buffer[i]) return mi_fail(miopenStatusBadParm, "tensor %d is missing", i);
    if (workspace_bytes < solution->workspace)
        return mi_fail(miopenStatusBadParm, "%llu bytes of workspace are needed, not %zu",
                       (unsigned long long)solution->workspace, workspace_bytes);
    struct mi_conv conv;
    miopenStatus_t status = mi_conv_translate(&call, &conv);
    if (status != miopenStatusSuccess) return status;
    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    if (mi_log_wants_commands()) mi_command_conv(&conv);
    struct mi_conv_memory memory = { .x = buffer[miopenTensorConvolutionX],
                                     .w = buffer[miopenTensorConvolutionW],
                                     .y = buffer[miopenTensorConvolutionY],
                                     .workspace = workspace,
                                     .workspace_bytes = workspace_bytes,
                                     .alpha = 1 };
    status = mi_conv_execute(handle, &conv, solution->id, -1, &memory);
    mi_handle_leave(handle);
    return status;
}

miopenStatus_t miopenDestroySolution(miopenSolution_t name)
{
    struct mi_solution *solution = mi_object(name, MI_SOLUTION);
    if (name && !solution) return mi_fail(miopenStatusBadParm, "%p is no solution", (void *)name);
    if (!solution) return miopenStatusSuccess;
    free(solution->task);
    solution->task = NULL;
    mi_object_delete(solution);
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetSolutionWorkspaceSize(miopenSolution_t name, size_t *bytes)
{
    const struct mi_solution *solution = mi_object(name, MI_SOLUTION);
    if (!solution || !bytes) return miopenStatusBadParm;
    *bytes = solution->workspace;
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetSolutionTime(miopenSolution_t name, float *ms)
{
    const struct mi_solution *solution = mi_object(name, MI_SOLUTION);
    if (!solution || !ms) return miopenStatusBadParm;
    *ms = solution->ms;
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetSolutionSolverId(miopenSolution_t name, uint64_t *id)
{
    const struct mi_solution *solution = mi_object(name, MI_SOLUTION);
    if (!solution || !id) return miopenStatusBadParm;
    *id = solution->id;
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetSolverIdConvAlgorithm(uint64_t id, miopenConvAlgorithm_t *kind)
{
    miopenConvAlgorithm_t known;
    if (!kind) return miopenStatusBadParm;
    if (!mi_algorithm_of_id(id, &known))
        return mi_fail(miopenStatusInvalidValue, "no solution %llu", (unsigned long long)id);
    *kind = known;
    return miopenStatusSuccess;
}
