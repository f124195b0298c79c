/* test_chain.c: with the original behind ours, its descriptors are told what ours are, and a
 * program is given theirs. RMCP_MIOPEN_ORIGINAL names toy_original's library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dropin/miopen/api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOOD(call) assert_int_equal(call, miopenStatusSuccess)

static const char *(*toy_text)(const void *);
static int (*toy_alive)(void);

static void pooling(void **state)
{
    (void)state;
    miopenPoolingDescriptor_t desc = NULL;
    const int window[] = { 2, 3, 4 }, pad[] = { 0, 1, 2 }, stride[] = { 1, 2, 3 };
    int h = 0, w = 0, none = 0, stride_h = 0, stride_w = 0;
    miopenPoolingMode_t mode = miopenPoolingMax;
    GOOD(miopenCreatePoolingDescriptor(&desc));
    assert_string_equal(toy_text(desc), "");
    /* Set by the original's own C++. */
    GOOD(miopenGet2dPoolingDescriptor(desc, &mode, &h, &w, &none, &none, &stride_h, &stride_w));
    assert_int_equal(mode, miopenPoolingAverage);
    assert_true(h == 2 && w == 4 && stride_h == 1 && stride_w == 2);
    GOOD(miopenSet2dPoolingDescriptor(desc, miopenPoolingAverage, 3, 2, 1, 0, 2, 1));
    assert_string_equal(toy_text(desc), "mode 1 3/1/2 2/0/1 type 0 index 0");
    GOOD(miopenSetPoolingIndexType(desc, miopenIndexUint32));
    assert_string_equal(toy_text(desc), "mode 1 3/1/2 2/0/1 type 2 index 0");
    GOOD(miopenSetNdPoolingDescriptor(desc, miopenPoolingMax, 3, window, pad, stride));
    assert_string_equal(toy_text(desc), "mode 0 2/0/1 3/1/2 4/2/3 type 0 index 1");
    assert_int_equal(toy_alive(), 1);
    GOOD(miopenDestroyPoolingDescriptor(desc));
    assert_int_equal(toy_alive(), 0);
    assert_int_equal(miopenDestroyPoolingDescriptor(desc), miopenStatusBadParm);
}

static void lrn(void **state)
{
    (void)state;
    miopenLRNDescriptor_t desc = NULL;
    unsigned n = 0;
    double alpha = 0, beta = 0, k = 0;
    miopenLRNMode_t mode;
    GOOD(miopenCreateLRNDescriptor(&desc));
    GOOD(miopenSetLRNDescriptor(desc, miopenLRNCrossChannel, 5, 0.5, 0.75, 2));
    assert_string_equal(toy_text(desc), "mode 1 5 0.5 0.75 2");
    GOOD(miopenGetLRNDescriptor(desc, &mode, &n, &alpha, &beta, &k));
    assert_int_equal(n, 5);
    /* What ours refuses is not told. */
    assert_int_equal(miopenSetLRNDescriptor(desc, (miopenLRNMode_t)7, 5, 1, 1, 1),
                     miopenStatusBadParm);
    assert_string_equal(toy_text(desc), "mode 1 5 0.5 0.75 2");
    GOOD(miopenDestroyLRNDescriptor(desc));
    assert_int_equal(toy_alive(), 0);
}

static void rnn(void **state)
{
    (void)state;
    miopenRNNDescriptor_t desc = NULL;
    miopenDropoutDescriptor_t dropout = NULL;
    char expected[256];
    GOOD(miopenCreateRNNDescriptor(&desc));
    GOOD(miopenCreateDropoutDescriptor(&dropout));
    GOOD(miopenSetRNNDescriptor(desc, 8, 2, miopenRNNlinear, miopenRNNbidirection, miopenGRU,
                                miopenRNNwithBias, miopenRNNdefault, miopenFloat));
    snprintf(expected, sizeof expected, "8 2 %p 0 1 3 1 0 1 padding 0", (void *)NULL);
    assert_string_equal(toy_text(desc), expected);
    GOOD(miopenSetRNNDescriptor_V2(desc, 9, 3, dropout, miopenRNNskip, miopenRNNunidirection,
                                   miopenLSTM, miopenRNNNoBias, miopenRNNdefault, miopenHalf));
    GOOD(miopenSetRNNPaddingMode(desc, miopenRNNIOWithPadding));
    snprintf(expected, sizeof expected, "9 3 %p 1 0 2 0 0 0 padding 1", (void *)dropout);
    assert_string_equal(toy_text(desc), expected);
    assert_int_equal(toy_alive(), 2);
    GOOD(miopenDestroyRNNDescriptor(desc));
    GOOD(miopenDestroyDropoutDescriptor(dropout));
    assert_int_equal(toy_alive(), 0);
}

/* A kind that the toy lacks: no object, and nothing left behind. */
static void lacking(void **state)
{
    (void)state;
    miopenTensorDescriptor_t tensor = NULL;
    assert_int_not_equal(miopenCreateTensorDescriptor(&tensor), miopenStatusSuccess);
    assert_null(tensor);
    assert_int_equal(toy_alive(), 0);
}

int main(void)
{
    const char *path = getenv("RMCP_MIOPEN_ORIGINAL");
    void *toy = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *text = toy ? dlsym(toy, "toy_text") : NULL, *alive = toy ? dlsym(toy, "toy_alive") : NULL;
    memcpy(&toy_text, &text, sizeof text);
    memcpy(&toy_alive, &alive, sizeof alive);
    if (!toy_text || !toy_alive) {
        fprintf(stderr, "no toy: %s\n", dlerror());
        return 1;
    }
    const struct CMUnitTest tests[] = { cmocka_unit_test(pooling), cmocka_unit_test(lrn),
                                        cmocka_unit_test(rnn), cmocka_unit_test(lacking) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
