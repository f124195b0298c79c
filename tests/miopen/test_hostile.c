/* test_hostile.c: the drop-in called as no program should: NULL, shapes that cannot be, too little
 * workspace, objects that are gone. Every such call has a status, and the library goes on working.
 * usage: test_hostile cpu|FAKE-HIP-LIBRARY functions.txt */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "hostile.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *functions_path;
static miopenHandle_t handle;

/* ---- every function ---- */

/* Any function of MIOpen: nobody has more parameters, and those that are too many do no harm. */
typedef int any_function(void *, void *, void *, void *, void *, void *, void *, void *, void *,
                         void *, void *, void *, void *, void *, void *, void *, void *, void *,
                         void *, void *, void *, void *, void *, void *, void *, void *, void *,
                         void *, void *, void *, void *, void *, void *, void *, void *, void *,
                         double, double, double, double, double, double, double, double);

static int call(any_function *f, void *first, void *p)
{
    return f(first, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p,
             p, p, p, p, p, p, p, p, 0, 0, 0, 0, 0, 0, 0, 0);
}

/* Of the list: the next function, its name in `name`; NULL at the end. */
static any_function *next_function(FILE *list, char name[128], bool *implemented)
{
    char line[256], answer[16];
    while (fgets(line, sizeof line, list)) {
        any_function *function;
        if (sscanf(line, "%127s %*s %15s", name, answer) != 2 || *name == '#') continue;
        *implemented = !strcmp(answer, "yes");
        void *address = dlsym(RTLD_DEFAULT, name);
        if (!address) fail_msg("no %s", name);
        if (!strcmp(name, "miopenGetErrorString")) continue; /* which returns no status */
        memcpy(&function, &address, sizeof function);
        return function;
    }
    return NULL;
}

/* What may succeed with nothing but NULL. */
static bool is_harmless(const char *name)
{
    return !strncmp(name, "miopenDestroy", 13) || !strcmp(name, "miopenGetVersion");
}

static void every_function_takes_null(void **state)
{
    char name[128];
    bool implemented;
    int n = 0, n_implemented = 0;
    FILE *list = fopen(functions_path, "r");
    (void)state;
    assert_non_null(list);
    for (any_function *f; (f = next_function(list, name, &implemented)); n++) {
        const int status = call(f, NULL, NULL);
        hostile_assert_status(status, name);
        if (!implemented && status != miopenStatusNotImplemented)
            fail_msg("%s is not implemented and returns %d", name, status);
        if (implemented && status == miopenStatusSuccess && !is_harmless(name))
            fail_msg("%s succeeds without arguments", name);
        n_implemented += implemented;
    }
    fclose(list);
    assert_true(n > 260 && n_implemented > 90);
    hostile_assert_well();
}

/* A new object of each kind, all of them set to something. */
enum { N_KINDS = 10 };
static void *object_of(int kind)
{
    const int size[4] = { 2, 8, 9, 7 }, one[2] = { 1, 1 };
    union {
        miopenHandle_t handle;
        miopenTensorDescriptor_t tensor;
        miopenConvolutionDescriptor_t convolution;
        miopenActivationDescriptor_t activation;
        miopenFindOptions_t options;
        miopenProblem_t problem;
        miopenRNNDescriptor_t rnn;
        miopenDropoutDescriptor_t dropout;
        miopenSeqTensorDescriptor_t sequence;
        miopenCTCLossDescriptor_t ctc;
        void *any;
    } o = { 0 };
    miopenConvolutionDescriptor_t convolution = NULL;
    switch (kind) {
    case 0: GOOD(miopenCreate(&o.handle)); break;
    case 1:
        GOOD(miopenCreateTensorDescriptor(&o.tensor));
        GOOD(miopenSetTensorDescriptor(o.tensor, miopenFloat, 4, size, NULL));
        break;
    case 2:
        GOOD(miopenCreateConvolutionDescriptor(&o.convolution));
        GOOD(miopenInitConvolutionNdDescriptor(o.convolution, 2, one, one, one, miopenConvolution));
        break;
    case 3: GOOD(miopenCreateActivationDescriptor(&o.activation)); break;
    case 4: GOOD(miopenCreateFindOptions(&o.options)); break;
    case 5:
        GOOD(miopenCreateRNNDescriptor(&o.rnn));
        GOOD(miopenSetRNNDescriptor(o.rnn, 8, 2, miopenRNNlinear, miopenRNNbidirection, miopenLSTM,
                                    miopenRNNwithBias, miopenRNNdefault, miopenFloat));
        break;
    case 6: GOOD(miopenCreateDropoutDescriptor(&o.dropout)); break;
    case 7:
        GOOD(miopenCreateSeqTensorDescriptor(&o.sequence));
        GOOD(miopenSetRNNDataSeqTensorDescriptor(
            o.sequence, miopenFloat, miopenRNNDataBatchMajorPadded, 9, 2, 8, one, NULL));
        break;
    case 8: GOOD(miopenCreateCTCLossDescriptor(&o.ctc)); break;
    default:
        convolution = object_of(2);
        GOOD(miopenCreateConvProblem(&o.problem, convolution, miopenProblemDirectionForward));
        GOOD(miopenDestroyConvolutionDescriptor(convolution));
        break;
    }
    return o.any;
}

static void destroy_object(int kind, void *object)
{
    int status = 0;
    switch (kind) {
    case 0: status = miopenDestroy(object); break;
    case 1: status = miopenDestroyTensorDescriptor(object); break;
    case 2: status = miopenDestroyConvolutionDescriptor(object); break;
    case 3: status = miopenDestroyActivationDescriptor(object); break;
    case 4: status = miopenDestroyFindOptions(object); break;
    case 5: status = miopenDestroyRNNDescriptor(object); break;
    case 6: status = miopenDestroyDropoutDescriptor(object); break;
    case 7: status = miopenDestroySeqTensorDescriptor(object); break;
    case 8: status = miopenDestroyCTCLossDescriptor(object); break;
    default: status = miopenDestroyProblem(object); break;
    }
    /* The function under test may have been the one that destroys it. */
    if (status) assert_int_equal(status, miopenStatusBadParm);
}

/* First an object of the right kind or of a wrong one, then NULL, or memory that is no object of
 * ours; the lowest byte of its address is 0, since C has no bool but 0 and 1. */
static void every_function_takes_strangers(void **state)
{
    static _Alignas(256) char memory[65536];
    (void)state;
    for (int kind = 0; kind <= N_KINDS; kind++)
        for (int with_memory = 0; with_memory < 2; with_memory++) {
            char name[128];
            bool implemented;
            FILE *list = fopen(functions_path, "r");
            assert_non_null(list);
            for (any_function *f; (f = next_function(list, name, &implemented));) {
                void *first = kind < N_KINDS ? object_of(kind) : (void *)memory;
                memset(memory, 0, sizeof memory);
                hostile_assert_status(call(f, first, with_memory ? memory + 4096 : NULL), name);
                if (kind < N_KINDS) destroy_object(kind, first);
            }
            fclose(list);
        }
    hostile_assert_well();
}

static void error_strings_are_there(void **state)
{
    (void)state;
    for (int i = -3; i < 100; i++) {
        const char *text = miopenGetErrorString((miopenStatus_t)i);
        assert_non_null(text);
        assert_true(strlen(text) > 3);
    }
}

/* ---- objects that are gone ---- */

static void objects_that_are_gone(void **state)
{
    (void)state;
    for (int pass = 0; pass < CLIENT_PASSES; pass++)
        for (int gone = 0; gone < 4; gone++) {
            struct client_conv conv, stale;
            miopenConvSolution_t solution;
            int algorithm = 0;
            hostile_conv(&conv, &hostile_shape, 3);
            GOOD(client_solution(handle, &conv, (enum client_pass)pass, true, &solution));
            stale = conv;
            if (gone == 0) GOOD(miopenDestroyTensorDescriptor(conv.x_desc)), conv.x_desc = NULL;
            if (gone == 1) GOOD(miopenDestroyTensorDescriptor(conv.w_desc)), conv.w_desc = NULL;
            if (gone == 2) GOOD(miopenDestroyTensorDescriptor(conv.y_desc)), conv.y_desc = NULL;
            if (gone == 3) GOOD(miopenDestroyConvolutionDescriptor(conv.desc)), conv.desc = NULL;
            BAD_PARM(client_solution(handle, &stale, (enum client_pass)pass, true, &solution));
            BAD_PARM(client_execute(handle, &stale, (enum client_pass)pass, NULL, 0,
                                    solution.solution_id));
            BAD_PARM(client_found(handle, &stale, (enum client_pass)pass, 0));
            BAD_PARM(client_find(handle, &stale, (enum client_pass)pass, &algorithm));
            client_conv_deinit(&conv);
        }
}

static void objects_that_are_gone_twice(void **state)
{
    (void)state;
    miopenHandle_t own = object_of(0);
    struct client_conv conv;
    miopenConvSolution_t solution;
    hostile_conv(&conv, &hostile_shape, 3);
    GOOD(client_solution(own, &conv, CLIENT_FORWARD, true, &solution));
    GOOD(miopenDestroy(own));
    BAD_PARM(miopenDestroy(own));
    BAD_PARM(miopenSetStream(own, NULL));
    BAD_PARM(client_solution(own, &conv, CLIENT_FORWARD, true, &solution));
    BAD_PARM(client_execute(own, &conv, CLIENT_FORWARD, NULL, 0, solution.solution_id));
    client_conv_deinit(&conv);
    for (int kind = 1; kind < N_KINDS; kind++) {
        void *object = object_of(kind);
        destroy_object(kind, object);
        destroy_object(kind, object); /* a status, no more */
    }
    miopenTensorDescriptor_t tensor = object_of(1);
    int n;
    GOOD(miopenDestroyTensorDescriptor(tensor));
    BAD_PARM(miopenDestroyTensorDescriptor(tensor));
    BAD_PARM(miopenGetTensorDescriptorSize(tensor, &n));
    /* An object of one kind is none of another; nor is the middle of one. */
    tensor = object_of(1);
    BAD_PARM(miopenDestroyConvolutionDescriptor((miopenConvolutionDescriptor_t)(void *)tensor));
    BAD_PARM(miopenDestroy((miopenHandle_t)(void *)tensor));
    BAD_PARM(miopenDestroyTensorDescriptor((miopenTensorDescriptor_t)(void *)((char *)tensor + 8)));
    BAD_PARM(
        miopenDestroyTensorDescriptor((miopenTensorDescriptor_t)(void *)((char *)tensor + 16)));
    GOOD(miopenDestroyTensorDescriptor(tensor));
    hostile_assert_well();
}

static int begin(void **state)
{
    (void)state;
    return miopenCreate(&handle);
}

static int end(void **state)
{
    (void)state;
    return miopenDestroy(handle);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_takes_null),
        cmocka_unit_test(every_function_takes_strangers),
        cmocka_unit_test(error_strings_are_there),
        cmocka_unit_test(objects_that_are_gone),
        cmocka_unit_test(objects_that_are_gone_twice),
    };
    if (argc < 3) return 99;
    hostile_begin(argv[1]);
    functions_path = argv[2];
    if (argc > 3) cmocka_set_test_filter(argv[3]);
    const int failed = cmocka_run_group_tests(tests, begin, end);
    hostile_end();
    return failed;
}
