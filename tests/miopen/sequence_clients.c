/* sequence_clients.c: how PyTorch, ONNX Runtime, XLA and MIGraphX go through MIOpen's convolution
 * functions. */
#include "sequence_conv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API (&world.api)

/* The workspace as PyTorch's allocator gives it: NULL for none. */
static struct memory workspace(size_t bytes)
{
    return memory_output("space", bytes);
}

/* PyTorch's array has ten places; more solutions make it throw. */
static bool ask_solutions(const struct conv *conv, size_t *count, miopenConvSolution_t *solutions)
{
    size_t max = 0;
    if (conv_solution_count(conv, &max) != miopenStatusSuccess) return false;
    record_note("solutions=%zu", max);
    if (max > MAX_SOLUTIONS) max = MAX_SOLUTIONS;
    *count = 0;
    if (conv_solutions(conv, max, count, solutions) != miopenStatusSuccess) return false;
    record_note("filled=%zu", *count);
    return *count > 0;
}

static void run_solution(struct conv *conv, const miopenConvSolution_t *solution)
{
    struct memory space = workspace(solution->workspace_size);
    record_note("algorithm=%d workspace=%zu", (int)solution->algorithm, solution->workspace_size);
    conv_immediate(conv, conv_new_output(conv), &space, solution->solution_id);
    if (!world_wait()) record_note("device=lost");
    memory_drop(&space);
}

/* PyTorch up to 2.6: three calls for every convolution, nothing kept; here for two of them. */
void client_immediate(struct conv *conv)
{
    for (int i = 0; i < 2; i++) {
        size_t count;
        miopenConvSolution_t solutions[MAX_SOLUTIONS];
        if (ask_solutions(conv, &count, solutions)) run_solution(conv, &solutions[0]);
    }
}

/* The same after an allocation failed: the solution that is called GEMM, else the first without a
 * workspace. */
void client_immediate_low_memory(struct conv *conv)
{
    size_t count, chosen;
    miopenConvSolution_t solutions[MAX_SOLUTIONS];
    if (!ask_solutions(conv, &count, solutions)) return;
    for (chosen = 0; chosen < count && solutions[chosen].algorithm != miopenConvolutionAlgoGEMM;)
        chosen++;
    if (chosen == count)
        for (chosen = 0; chosen < count && solutions[chosen].workspace_size;) chosen++;
    if (chosen == count) {
        record_note("fallback=none");
        return;
    }
    run_solution(conv, &solutions[chosen]);
}

/* Find, then the algorithm that it names; runs more of the same without asking again. */
static void find_and_run(struct conv *conv, bool exhaustive, bool low_memory, int n_runs)
{
    size_t bytes = 0;
    conv_workspace_size(conv, &bytes);
    record_note("workspace=%zu", bytes);
    struct memory space = workspace(bytes);
    miopenConvAlgoPerf_t perf;
    memset(&perf, 0, sizeof perf);
    miopenStatus_t status = conv_find(conv, conv_new_output(conv), &space, exhaustive, &perf);
    memory_drop(&space);
    /* What Find leaves in the output is nobody's result. */
    struct memory *scratch = &conv->outputs[--conv->n_outputs];
    memory_drop(scratch);
    if (status != miopenStatusSuccess) return;
    record_note("algorithm=%d memory=%zu time=%s", (int)perf.fwd_algo, perf.memory,
                perf.time >= 0 ? "some" : "none");
    int algorithm = (int)perf.fwd_algo;
    size_t needed = perf.memory;
    if (low_memory) {
        algorithm = miopenConvolutionFwdAlgoGEMM;
        needed = 0;
        conv_workspace_size(conv, &needed);
    }
    for (int i = 0; i < n_runs; i++) {
        struct memory exact = workspace(needed);
        conv_run(conv, algorithm, conv_new_output(conv), &exact);
        if (!world_wait()) record_note("device=lost");
        memory_drop(&exact);
    }
}

void client_find(struct conv *conv)
{
    find_and_run(conv, false, false, 3);
}
void client_find_exhaustive(struct conv *conv)
{
    find_and_run(conv, true, false, 2);
}
void client_find_low_memory(struct conv *conv)
{
    find_and_run(conv, false, true, 1);
}

/* Nobody does it, but the interface has it: alpha times the convolution and beta times what was
 * there. */
void client_scaled(struct conv *conv)
{
    conv->alpha = 2;
    conv->beta = 0.5f;
    record_note("alpha=2 beta=0.5");
    struct memory old = memory_input("old", conv_output(conv), OLD_SEED);
    find_and_run(conv, false, false, 1);
    memory_close(&old, true);
}

/* XLA compiles and times all that there is. */
void client_every_solution(struct conv *conv)
{
    size_t count, bytes;
    miopenConvSolution_t solutions[MAX_SOLUTIONS];
    if (!ask_solutions(conv, &count, solutions)) return;
    for (size_t i = 0; i < count && i < MAX_OUTPUTS; i++) {
        bytes = 12345;
        if (conv_solution_workspace(conv, solutions[i].solution_id, &bytes) ==
                miopenStatusSuccess &&
            bytes != solutions[i].workspace_size)
            record_note("other_workspace=%zu", bytes);
        conv_compile(conv, solutions[i].solution_id);
        run_solution(conv, &solutions[i]);
    }
}

/* ONNX Runtime: a workspace of 32 MiB whatever is wanted, one Find, then convolution and bias. */
void client_bias(struct conv *conv)
{
    struct memory space = workspace((size_t)32 << 20);
    miopenConvAlgoPerf_t perf;
    memset(&perf, 0, sizeof perf);
    void *output = conv_new_output(conv);
    miopenStatus_t status = conv_find(conv, output, &space, false, &perf);
    memory_drop(&space);
    if (status != miopenStatusSuccess) return;
    record_note("algorithm=%d memory=%zu bias=1", (int)perf.fwd_algo, perf.memory);
    struct memory exact = workspace(perf.memory);
    struct tensor b = { conv->y.type, conv->y.n_dims, { 1, conv->y.dims[1], 1, 1, 1 }, { 0 } };
    tensor_pack(&b, false);
    struct memory bias = memory_input("b", &b, 77);
    miopenTensorDescriptor_t b_desc = describe(&b, SET_NULL_STRIDES);
    const float one = 1, zero = 0;
    conv_run(conv, (int)perf.fwd_algo, output, &exact);
    called("ForwardBias", API->miopenConvolutionForwardBias(world.handle, &one, b_desc, bias.device,
                                                            &zero, conv->y_desc, output));
    if (!world_wait()) record_note("device=lost");
    called("DestroyTensorDescriptor", API->miopenDestroyTensorDescriptor(b_desc));
    memory_drop(&exact);
    memory_close(&bias, true);
}

static void run_problem_solution(struct conv *conv, miopenSolution_t solution)
{
    size_t bytes = 12345;
    called("GetSolutionWorkspaceSize", API->miopenGetSolutionWorkspaceSize(solution, &bytes));
    record_note("workspace=%zu", bytes);
    struct memory space = workspace(bytes);
    void *output = conv_new_output(conv);
    miopenTensorArgument_t arguments[3];
    memset(arguments, 0, sizeof arguments);
    arguments[0].id = miopenTensorConvolutionX;
    arguments[0].buffer = conv->pass == BACKWARD_DATA ? output : conv->x_memory.device;
    arguments[1].id = miopenTensorConvolutionW;
    arguments[1].buffer = conv->pass == BACKWARD_WEIGHTS ? output : conv->w_memory.device;
    arguments[2].id = miopenTensorConvolutionY;
    arguments[2].buffer = conv->pass == FORWARD ? output : conv->y_memory.device;
    called("RunSolution",
           API->miopenRunSolution(world.handle, solution, 3, arguments, space.device, space.bytes));
    if (!world_wait()) record_note("device=lost");
    memory_drop(&space);
}

/* MIGraphX keeps a solution as bytes and loads it when its program is loaded. */
static void save_and_load(struct conv *conv, miopenSolution_t solution)
{
    size_t bytes = 0;
    called("GetSolutionSize", API->miopenGetSolutionSize(solution, &bytes));
    char *saved = malloc(bytes ? bytes : 1);
    if (!saved) exit(3);
    miopenSolution_t loaded = NULL;
    called("SaveSolution", API->miopenSaveSolution(solution, saved));
    if (called("LoadSolution", API->miopenLoadSolution(&loaded, saved, bytes)) ==
        miopenStatusSuccess) {
        run_problem_solution(conv, loaded);
        called("DestroySolution", API->miopenDestroySolution(loaded));
    }
    free(saved);
}

static void solve(struct conv *conv, miopenFindOptions_t options)
{
    miopenProblem_t problem = NULL;
    called("CreateConvProblem",
           API->miopenCreateConvProblem(&problem, conv->desc,
                                        conv->pass == FORWARD ? miopenProblemDirectionForward
                                        : conv->pass == BACKWARD_DATA
                                            ? miopenProblemDirectionBackward
                                            : miopenProblemDirectionBackwardWeights));
    called("SetProblemTensorDescriptor",
           API->miopenSetProblemTensorDescriptor(problem, miopenTensorConvolutionX, conv->x_desc));
    called("SetProblemTensorDescriptor",
           API->miopenSetProblemTensorDescriptor(problem, miopenTensorConvolutionW, conv->w_desc));
    called("SetProblemTensorDescriptor",
           API->miopenSetProblemTensorDescriptor(problem, miopenTensorConvolutionY, conv->y_desc));
    miopenSolution_t solution = NULL;
    size_t found = 0;
    if (called("FindSolutions", API->miopenFindSolutions(world.handle, problem, options, &solution,
                                                         &found, 1)) == miopenStatusSuccess &&
        found) {
        float time = -1;
        uint64_t solver = 0;
        miopenConvAlgorithm_t algorithm = 0;
        called("GetSolutionTime", API->miopenGetSolutionTime(solution, &time));
        called("GetSolutionSolverId", API->miopenGetSolutionSolverId(solution, &solver));
        called("GetSolverIdConvAlgorithm", API->miopenGetSolverIdConvAlgorithm(solver, &algorithm));
        record_note("algorithm=%d", (int)algorithm);
        run_problem_solution(conv, solution);
        save_and_load(conv, solution);
        called("DestroySolution", API->miopenDestroySolution(solution));
    }
    record_note("found=%zu", found);
    called("DestroyProblem", API->miopenDestroyProblem(problem));
}

void client_problem(struct conv *conv)
{
    solve(conv, NULL);
}

/* With buffers for the search, which MIGraphX gives to keep MIOpen from allocating. */
void client_problem_prepared(struct conv *conv)
{
    miopenFindOptions_t options = NULL;
    struct memory x = memory_input("fx", &conv->x, 91), w = memory_input("fw", &conv->w, 92),
                  y = memory_output("fy", tensor_bytes(&conv->y)),
                  space = workspace((size_t)1 << 20);
    called("CreateFindOptions", API->miopenCreateFindOptions(&options));
    called("SetFindOptionTuning", API->miopenSetFindOptionTuning(options, 1));
    called("SetFindOptionResultsOrder",
           API->miopenSetFindOptionResultsOrder(options, miopenFindResultsOrderByWorkspaceSize));
    called("SetFindOptionPreallocatedTensor",
           API->miopenSetFindOptionPreallocatedTensor(options, miopenTensorConvolutionX, x.device));
    called("SetFindOptionPreallocatedTensor",
           API->miopenSetFindOptionPreallocatedTensor(options, miopenTensorConvolutionW, w.device));
    called("SetFindOptionPreallocatedTensor",
           API->miopenSetFindOptionPreallocatedTensor(options, miopenTensorConvolutionY, y.device));
    called("SetFindOptionPreallocatedWorkspace",
           API->miopenSetFindOptionPreallocatedWorkspace(options, space.device, space.bytes));
    solve(conv, options);
    called("DestroyFindOptions", API->miopenDestroyFindOptions(options));
    memory_drop(&x);
    memory_drop(&w);
    memory_drop(&y);
    memory_drop(&space);
}
