/* sequence_hostile_mha.c: wrong calls of multi-head attention. */
#include "sequence_hostile.h"

#define API (&world.api)

void hostile_mha_nulls(void)
{
    float scale = 12345;
    miopenMhaDescriptor_t desc = NULL;
    called("CreateMhaDescriptor", API->miopenCreateMhaDescriptor(&desc));
    called("SetMhaDescriptor-null", API->miopenSetMhaDescriptor(NULL, 1));
    called("GetMhaDescriptor-null", API->miopenGetMhaDescriptor(NULL, &scale));
    called("CreateMhaProblem-null",
           API->miopenCreateMhaProblem(NULL, desc, miopenProblemDirectionForward));
}

void hostile_mha_create_null(void)
{
    called("CreateMhaDescriptor", API->miopenCreateMhaDescriptor(NULL));
}

void hostile_mha_no_descriptor(void)
{
    miopenProblem_t problem = NULL;
    called("CreateMhaProblem",
           API->miopenCreateMhaProblem(&problem, NULL, miopenProblemDirectionForward));
}

void hostile_mha_direction(void)
{
    miopenProblem_t problem = NULL;
    miopenMhaDescriptor_t desc = NULL;
    called("CreateMhaDescriptor", API->miopenCreateMhaDescriptor(&desc));
    called("SetMhaDescriptor", API->miopenSetMhaDescriptor(desc, 1));
    called("CreateMhaProblem",
           API->miopenCreateMhaProblem(&problem, desc, miopenProblemDirectionBackwardWeights));
}

/* A problem of forward attention with q, k, v and o alone. */
static miopenProblem_t few_tensors(int keys, miopenDataType_t type)
{
    struct tensor q = { type, 4, { 1, 2, 4, 8 }, { 0 } }, k = { type, 4, { 1, 2, 4, 8 }, { 0 } };
    miopenProblem_t problem = NULL;
    miopenMhaDescriptor_t desc = NULL;
    k.dims[1] = keys;
    tensor_pack(&q, false);
    tensor_pack(&k, false);
    called("CreateMhaDescriptor", API->miopenCreateMhaDescriptor(&desc));
    called("SetMhaDescriptor", API->miopenSetMhaDescriptor(desc, 1));
    called("CreateMhaProblem",
           API->miopenCreateMhaProblem(&problem, desc, miopenProblemDirectionForward));
    miopenTensorDescriptor_t dq = describe(&q, SET_INT), dk = describe(&k, SET_INT);
    API->miopenSetProblemTensorDescriptor(problem, miopenTensorMhaQ, dq);
    API->miopenSetProblemTensorDescriptor(problem, miopenTensorMhaK, dk);
    API->miopenSetProblemTensorDescriptor(problem, miopenTensorMhaV, dk);
    API->miopenSetProblemTensorDescriptor(problem, miopenTensorMhaO, dq);
    return problem;
}

static void find_few(int heads, miopenDataType_t type)
{
    miopenSolution_t solution = NULL;
    size_t n = 12345;
    miopenProblem_t problem = few_tensors(heads, type);
    called("FindSolutions",
           API->miopenFindSolutions(world.handle, problem, NULL, &solution, &n, 1));
    record_note("solutions=%zu", n);
    if (n != 1) return;
    called("RunSolution", API->miopenRunSolution(world.handle, solution, 0, NULL, NULL, 0));
    called("DestroySolution", API->miopenDestroySolution(solution));
}

void hostile_mha_missing(void)
{
    find_few(2, miopenFloat);
}

void hostile_mha_misfit(void)
{
    find_few(3, miopenFloat);
}

void hostile_mha_type(void)
{
    find_few(2, miopenDouble);
}

void hostile_mha_empty(void)
{
    miopenSolution_t solution = NULL;
    size_t n = 12345;
    miopenProblem_t problem = NULL;
    miopenMhaDescriptor_t desc = NULL;
    called("CreateMhaDescriptor", API->miopenCreateMhaDescriptor(&desc));
    called("SetMhaDescriptor", API->miopenSetMhaDescriptor(desc, 1));
    called("CreateMhaProblem",
           API->miopenCreateMhaProblem(&problem, desc, miopenProblemDirectionBackward));
    called("FindSolutions",
           API->miopenFindSolutions(world.handle, problem, NULL, &solution, &n, 1));
    record_note("solutions=%zu", n);
}
