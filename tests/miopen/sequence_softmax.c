/* sequence_softmax.c: softmax as a problem of Find 2.0, forward and backward. */
#include "sequence.h"

#define API (&world.api)

static const struct case_of {
    const char *name;
    struct tensor x;
    miopenSoftmaxAlgorithm_t algorithm;
    miopenSoftmaxMode_t mode;
} cases[] = {
    { "channel",
      { miopenFloat, 4, { 3, 10, 4, 5 }, { 0 } },
      MIOPEN_SOFTMAX_ACCURATE,
      MIOPEN_SOFTMAX_MODE_CHANNEL },
    { "instance",
      { miopenFloat, 4, { 3, 10, 4, 5 }, { 0 } },
      MIOPEN_SOFTMAX_FAST,
      MIOPEN_SOFTMAX_MODE_INSTANCE },
    { "log",
      { miopenFloat, 4, { 4, 30, 1, 1 }, { 0 } },
      MIOPEN_SOFTMAX_LOG,
      MIOPEN_SOFTMAX_MODE_CHANNEL },
    { "half",
      { miopenHalf, 4, { 2, 20, 3, 3 }, { 0 } },
      MIOPEN_SOFTMAX_ACCURATE,
      MIOPEN_SOFTMAX_MODE_CHANNEL },
};

static void run(const struct case_of *c, bool backward)
{
    struct tensor x = c->x;
    tensor_pack(&x, false);
    record_tensor("x", &x);
    record_note("algorithm=%d mode=%d", (int)c->algorithm, (int)c->mode);
    miopenTensorDescriptor_t desc = describe(&x, SET_INT);
    miopenSoftmaxDescriptor_t softmax = NULL;
    miopenProblem_t problem = NULL;
    miopenSolution_t solution = NULL;
    size_t n = 0, workspace = 0;
    called("CreateSoftmaxDescriptor", API->miopenCreateSoftmaxDescriptor(&softmax));
    called("SetSoftmaxDescriptor",
           API->miopenSetSoftmaxDescriptor(softmax, 1, 0, c->algorithm, c->mode));
    called("CreateSoftmaxProblem",
           API->miopenCreateSoftmaxProblem(&problem, softmax,
                                           backward ? miopenProblemDirectionBackward
                                                    : miopenProblemDirectionForward));
    /* y of a backward pass need be none of a forward one: any numbers will do. */
    struct memory in = memory_input(backward ? "dy" : "x", &x, 61),
                  y = memory_positive("given", &x, 62),
                  out = memory_output("out", tensor_bytes(&x));
    const miopenTensorArgument_t arguments[] = {
        { backward ? miopenTensorSoftmaxDY : miopenTensorSoftmaxX, NULL, in.device },
        { backward ? miopenTensorSoftmaxDX : miopenTensorSoftmaxY, NULL, out.device },
        { miopenTensorSoftmaxY, NULL, y.device },
    };
    for (int i = 0; i < 2 + backward; i++)
        called("SetProblemTensorDescriptor",
               API->miopenSetProblemTensorDescriptor(problem, arguments[i].id, desc));
    called("FindSolutions",
           API->miopenFindSolutions(world.handle, problem, NULL, &solution, &n, 1));
    if (n) {
        called("GetSolutionWorkspaceSize",
               API->miopenGetSolutionWorkspaceSize(solution, &workspace));
        struct memory work = memory_output("work", workspace);
        called("RunSolution", API->miopenRunSolution(world.handle, solution, backward ? 3 : 2,
                                                     arguments, work.device, workspace));
        if (!world_wait()) record_note("device=lost");
        memory_drop(&work);
        called("DestroySolution", API->miopenDestroySolution(solution));
    } else {
        record_note("fallback=none");
    }
    memory_close(&in, true);
    memory_close(&y, true);
    memory_close(&out, false);
    called("DestroyProblem", API->miopenDestroyProblem(problem));
    API->miopenDestroyTensorDescriptor(desc);
}

static void forward(const void *what)
{
    run(what, false);
}

static void backward(const void *what)
{
    run(what, true);
}

void softmax_problem_sequences(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sequence there = { "softmax", "softmax-problem", cases[i].name,
                                  "forward", forward,           &cases[i] },
                        back = { "softmax",  "softmax-problem", cases[i].name,
                                 "backward", backward,          &cases[i] };
        sequence_run(&there, false);
        sequence_run(&back, false);
    }
}
