/* test_solution_file.c: solutions as bytes that somebody has changed: each byte, each number with a
 * sum that is right again, every length. They are refused, or are solutions that can be saved.
 * usage: test_solution_file cpu */
#include "hostile.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static miopenHandle_t handle;
static struct client_conv conv;

static void describe(miopenProblem_t problem, miopenTensorArgumentId_t id,
                     miopenTensorDescriptor_t tensor)
{
    GOOD(miopenSetProblemTensorDescriptor(problem, id, tensor));
}

/* A convolution, with a bias and a ReLU when it is fused; its first solution. */
static miopenSolution_t solution(bool fused)
{
    miopenProblem_t problem = NULL, bias = NULL, relu = NULL;
    miopenActivationDescriptor_t mode = NULL;
    miopenTensorDescriptor_t b = NULL;
    miopenSolution_t found = NULL;
    size_t n = 0;
    const int k[] = { 1, conv.shape.k, 1, 1 };
    GOOD(miopenCreateConvProblem(&problem, conv.desc, miopenProblemDirectionForward));
    describe(problem, miopenTensorConvolutionX, conv.x_desc);
    describe(problem, miopenTensorConvolutionW, conv.w_desc);
    describe(problem, miopenTensorConvolutionY, conv.y_desc);
    GOOD(miopenCreateTensorDescriptor(&b));
    GOOD(miopenSetTensorDescriptor(b, miopenFloat, 4, k, NULL));
    GOOD(miopenCreateBiasProblem(&bias, miopenProblemDirectionForward));
    describe(bias, miopenTensorBias, b);
    GOOD(miopenCreateActivationDescriptor(&mode));
    GOOD(miopenSetActivationDescriptor(mode, miopenActivationRELU, 0, 0, 0));
    GOOD(miopenCreateActivationProblem(&relu, mode, miopenProblemDirectionForward));
    describe(relu, miopenTensorActivationY, conv.y_desc);
    if (fused) {
        GOOD(miopenFuseProblems(problem, bias));
        GOOD(miopenFuseProblems(problem, relu));
    }
    GOOD(miopenFindSolutions(handle, problem, NULL, &found, &n, 1));
    assert_int_equal(n, 1);
    GOOD(miopenDestroyProblem(problem));
    GOOD(miopenDestroyProblem(bias));
    GOOD(miopenDestroyProblem(relu));
    GOOD(miopenDestroyActivationDescriptor(mode));
    GOOD(miopenDestroyTensorDescriptor(b));
    return found;
}

static char *save(miopenSolution_t one, size_t *size)
{
    GOOD(miopenGetSolutionSize(one, size));
    char *data = malloc(*size);
    assert_non_null(data);
    GOOD(miopenSaveSolution(one, data));
    return data;
}

/* Loads; what is taken has as many bytes again. 1 when it is taken. */
static int load(const char *data, size_t size)
{
    miopenSolution_t loaded = NULL;
    /* A copy of just that size, so that reading further is noticed. */
    char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, data, size);
    const int status = miopenLoadSolution(&loaded, copy, size);
    hostile_assert_status(status, "miopenLoadSolution");
    free(copy);
    if (status) return 0;
    size_t again = 0;
    char *bytes = save(loaded, &again);
    assert_int_equal(again, size);
    assert_memory_equal(bytes, data, 16);
    free(bytes);
    GOOD(miopenDestroySolution(loaded));
    return 1;
}

/* The last number is a sum over all others. */
static void mend(char *data, size_t size)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325), word;
    for (size_t i = 0; i + 8 < size; i += 8) {
        memcpy(&word, data + i, 8);
        sum = (sum ^ word) * UINT64_C(0x100000001b3);
    }
    memcpy(data + size - 8, &sum, 8);
}

static void check(bool fused)
{
    size_t size = 0;
    miopenSolution_t one = solution(fused);
    char *data = save(one, &size);
    GOOD(miopenDestroySolution(one));
    assert_int_equal(load(data, size), 1);
    for (size_t i = 0; i < size; i++) {
        data[i] ^= 0x10;
        assert_int_equal(load(data, size), 0);
        data[i] ^= 0x10;
    }
    for (size_t i = 0; i < size; i += 4) assert_int_equal(load(data, i), 0);
    static const int64_t wild[] = { -1, 0, 1, 7, 1 << 20, INT32_MAX, INT64_MAX, INT64_MIN };
    int taken = 0;
    for (size_t i = 16; i + 8 < size; i += 8) {
        int64_t before;
        memcpy(&before, data + i, 8);
        for (size_t k = 0; k < LENGTH(wild); k++) {
            memcpy(data + i, &wild[k], 8);
            mend(data, size);
            taken += load(data, size);
        }
        memcpy(data + i, &before, 8);
    }
    mend(data, size);
    assert_int_equal(load(data, size), 1);
    assert_true(taken > 0);
    free(data);
}

static void of_a_convolution(void **state)
{
    (void)state;
    check(false);
}

static void of_a_fused_problem(void **state)
{
    (void)state;
    check(true);
}

static int begin(void **state)
{
    (void)state;
    hostile_conv(&conv, &hostile_shape, 1);
    return miopenCreate(&handle);
}

static int end(void **state)
{
    (void)state;
    client_conv_deinit(&conv);
    return miopenDestroy(handle);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_a_convolution),
        cmocka_unit_test(of_a_fused_problem),
    };
    if (argc < 2) return 99;
    hostile_begin(argv[1]);
    const int failed = cmocka_run_group_tests(tests, begin, end);
    hostile_end();
    return failed;
}
