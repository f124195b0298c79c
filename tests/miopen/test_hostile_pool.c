/* test_hostile_pool.c: pooling and local response normalisation called as no program should: a
 * status for each such call, and right results after them. usage: test_hostile_pool
 * cpu|FAKE-HIP-LIBRARY */
#include "hostile.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { SPACE = 1 << 16 };
static miopenHandle_t handle;
static void *space[4]; /* device memory */
static const float one = 1, zero = 0;

static miopenTensorDescriptor_t tensor(miopenDataType_t type, int dims, const int *size,
                                       const int *stride)
{
    miopenTensorDescriptor_t desc;
    GOOD(miopenCreateTensorDescriptor(&desc));
    GOOD(miopenSetTensorDescriptor(desc, type, dims, size, stride));
    return desc;
}

static miopenTensorDescriptor_t plain(int n, int c, int h, int w)
{
    return tensor(miopenFloat, 4, (int[]){ n, c, h, w }, NULL);
}

static miopenPoolingDescriptor_t pool_2d(miopenPoolingMode_t mode, int window, int pad, int stride)
{
    miopenPoolingDescriptor_t desc;
    GOOD(miopenCreatePoolingDescriptor(&desc));
    GOOD(miopenSet2dPoolingDescriptor(desc, mode, window, window, pad, pad, stride, stride));
    return desc;
}

static miopenLRNDescriptor_t lrn_of(miopenLRNMode_t mode, unsigned n, double alpha, double k)
{
    miopenLRNDescriptor_t desc;
    GOOD(miopenCreateLRNDescriptor(&desc));
    GOOD(miopenSetLRNDescriptor(desc, mode, n, alpha, 0.75, k));
    return desc;
}

static int forward(miopenPoolingDescriptor_t desc, miopenTensorDescriptor_t x,
                   miopenTensorDescriptor_t y, bool trains, size_t bytes)
{
    return miopenPoolingForward(handle, desc, &one, x, space[0], &zero, y, space[1], trains,
                                space[2], bytes);
}

static int backward(miopenPoolingDescriptor_t desc, miopenTensorDescriptor_t x,
                    miopenTensorDescriptor_t y)
{
    return miopenPoolingBackward(handle, desc, &one, y, space[1], y, space[3], x, space[0], &zero,
                                 x, space[0], space[2]);
}

/* 4 x 4 to 2 x 2: right, as far as anything computes here. */
static void assert_well(void)
{
    const float in[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
    float out[4] = { 0 };
    miopenPoolingDescriptor_t desc = pool_2d(miopenPoolingMax, 2, 0, 2);
    miopenTensorDescriptor_t x = plain(1, 1, 4, 4), y = plain(1, 1, 2, 2);
    client_write(space[0], in, sizeof in);
    GOOD(forward(desc, x, y, true, 4));
    GOOD(backward(desc, x, y));
    client_write(space[0], in, sizeof in);
    GOOD(forward(desc, x, y, false, 0));
    client_read(out, space[1], sizeof out);
    if (hostile_computes) {
        const float want[] = { 6, 8, 14, 16 };
        assert_memory_equal(out, want, sizeof want);
    }
    GOOD(miopenDestroyPoolingDescriptor(desc));
    GOOD(miopenDestroyTensorDescriptor(x));
    GOOD(miopenDestroyTensorDescriptor(y));
}

static void descriptors(void **state)
{
    (void)state;
    miopenPoolingDescriptor_t desc;
    miopenPoolingMode_t mode;
    miopenIndexType_t type;
    miopenPoolingWorkspaceIndexMode_t index_mode;
    int dims, window[3], pad[3], stride[3], size[5];
    miopenTensorDescriptor_t x = plain(2, 3, 10, 11);
    BAD_PARM(miopenCreatePoolingDescriptor(NULL));
    GOOD(miopenCreatePoolingDescriptor(&desc));
    REFUSED(miopenGetPoolingNdForwardOutputDim(desc, x, 4, size)); /* never set */
    REFUSED(forward(desc, x, x, false, 0));
    REFUSED(miopenSetNdPoolingDescriptor(desc, miopenPoolingMax, 0, stride, pad, stride));
    REFUSED(miopenSetNdPoolingDescriptor(desc, miopenPoolingMax, -1, stride, pad, stride));
    REFUSED(miopenSetNdPoolingDescriptor(desc, miopenPoolingMax, 4, stride, pad, stride));
    REFUSED(miopenSetNdPoolingDescriptor(desc, miopenPoolingMax, 2, NULL, pad, stride));
    REFUSED(miopenSet2dPoolingDescriptor(desc, (miopenPoolingMode_t)7, 2, 2, 0, 0, 2, 2));
    GOOD(miopenSetNdPoolingDescriptor(desc, miopenPoolingAverage, 3, (int[]){ 2, 3, 4 },
                                      (int[]){ 0, 1, 2 }, (int[]){ 1, 2, 3 }));
    GOOD(miopenGetPoolingIndexType(desc, &type));
    GOOD(miopenGetPoolingWorkSpaceIndexMode(desc, &index_mode));
    assert_int_equal(type, miopenIndexUint8);
    assert_int_equal(index_mode, miopenPoolingWorkspaceIndexImage);
    GOOD(miopenGetNdPoolingDescriptor(desc, 3, &mode, &dims, window, pad, stride));
    assert_true(mode == miopenPoolingAverage && dims == 3);
    assert_true(window[0] == 2 && window[2] == 4 && pad[2] == 2 && stride[1] == 2);
    REFUSED(miopenGetNdPoolingDescriptor(desc, 4, &mode, &dims, window, pad, stride));
    REFUSED(miopenGetNdPoolingDescriptor(desc, -1, &mode, &dims, window, pad, stride));
    REFUSED(miopenGet2dPoolingDescriptor(desc, &mode, window, window, pad, pad, stride, stride));
    REFUSED(miopenGetPoolingForwardOutputDim(desc, x, size, size, size, size)); /* 2-D x, 3-D */
    GOOD(miopenSet2dPoolingDescriptor(desc, miopenPoolingMax, 3, 3, 1, 1, 2, 2));
    GOOD(miopenGetPoolingWorkSpaceIndexMode(desc, &index_mode));
    assert_int_equal(index_mode, miopenPoolingWorkspaceIndexMask);
    GOOD(miopenGetPoolingForwardOutputDim(desc, x, &size[0], &size[1], &size[2], &size[3]));
    assert_true(size[0] == 2 && size[1] == 3 && size[2] == 5 && size[3] == 6);
    REFUSED(miopenGetPoolingNdForwardOutputDim(desc, x, 5, size));
    GOOD(miopenSet2dPoolingDescriptor(desc, miopenPoolingMax, 30, 30, 1, 1, 2, 2));
    GOOD(miopenGetPoolingNdForwardOutputDim(desc, x, 4, size));
    assert_true(size[2] == 1 && size[3] == 1); /* never less than one */
    GOOD(miopenSet2dPoolingDescriptor(desc, miopenPoolingMax, 2, 2, 0, 0, 0, 2));
    REFUSED(miopenGetPoolingNdForwardOutputDim(desc, x, 4, size));
    GOOD(miopenDestroyPoolingDescriptor(desc));
    BAD_PARM(miopenDestroyPoolingDescriptor(desc));
    BAD_PARM(miopenSetPoolingIndexType(desc, miopenIndexUint8));
    BAD_PARM(miopenSet2dPoolingDescriptor(desc, miopenPoolingMax, 2, 2, 0, 0, 2, 2));
    BAD_PARM(miopenDestroyLRNDescriptor((miopenLRNDescriptor_t)(void *)x));
    BAD_PARM(miopenDestroyPoolingDescriptor((miopenPoolingDescriptor_t)(void *)x));
    GOOD(miopenDestroyTensorDescriptor(x));
    assert_well();
}

static void workspaces(void **state)
{
    (void)state;
    size_t bytes;
    miopenPoolingDescriptor_t desc = pool_2d(miopenPoolingMax, 2, 0, 2);
    miopenTensorDescriptor_t y = plain(2, 3, 4, 5);
    miopenTensorDescriptor_t last =
        tensor(miopenHalf, 4, (int[]){ 2, 3, 4, 5 }, (int[]){ 60, 1, 15, 3 });
    GOOD(miopenPoolingGetWorkSpaceSize(y, &bytes));
    assert_int_equal(bytes, 120);
    for (unsigned type = miopenIndexUint8; type <= miopenIndexUint64; type++) {
        GOOD(miopenSetPoolingIndexType(desc, (miopenIndexType_t)type));
        GOOD(miopenPoolingGetWorkSpaceSizeV2(desc, y, &bytes));
        assert_int_equal(bytes, 120u << type);
    }
    GOOD(miopenPoolingGetWorkSpaceSizeV2(desc, last, &bytes));
    assert_int_equal(bytes, 120 * 8 + 3 * 120 * 2);
    GOOD(miopenSetPoolingIndexType(desc, (miopenIndexType_t)9));
    REFUSED(miopenPoolingGetWorkSpaceSizeV2(desc, y, &bytes));
    GOOD(miopenSet2dPoolingDescriptor(desc, miopenPoolingAverage, 2, 2, 0, 0, 2, 2));
    GOOD(miopenPoolingGetWorkSpaceSizeV2(desc, y, &bytes));
    assert_int_equal(bytes, 0);
    GOOD(miopenLRNGetWorkSpaceSize(y, &bytes));
    assert_int_equal(bytes, 480);
    GOOD(miopenDestroyPoolingDescriptor(desc));
    GOOD(miopenDestroyTensorDescriptor(y));
    GOOD(miopenDestroyTensorDescriptor(last));
}

static void poolings(void **state)
{
    (void)state;
    miopenTensorDescriptor_t x = plain(2, 3, 8, 8), y = plain(2, 3, 4, 4),
                             other = plain(2, 4, 4, 4);
    miopenTensorDescriptor_t wide = tensor(miopenDouble, 4, (int[]){ 2, 3, 8, 8 }, NULL);
    miopenTensorDescriptor_t three = tensor(miopenFloat, 3, (int[]){ 2, 3, 8 }, NULL);
    miopenTensorDescriptor_t half = tensor(miopenHalf, 4, (int[]){ 2, 3, 4, 4 }, NULL);
    miopenTensorDescriptor_t shared =
        tensor(miopenFloat, 4, (int[]){ 2, 3, 4, 4 }, (int[]){ 48, 16, 1, 1 });
    miopenPoolingDescriptor_t desc = pool_2d(miopenPoolingMax, 2, 0, 2);
    const size_t enough = 96;
    GOOD(forward(desc, x, y, true, enough));
    REFUSED(forward(desc, x, y, true, enough - 1));
    REFUSED(forward(desc, x, other, false, 0));
    REFUSED(forward(desc, wide, wide, false, 0));
    REFUSED(forward(desc, three, three, false, 0));
    REFUSED(forward(desc, x, half, false, 0));
    REFUSED(forward(desc, x, shared, false, 0)); /* elements of y on top of each other */
    REFUSED(forward(NULL, x, y, false, 0));
    REFUSED(forward(desc, NULL, y, false, 0));
    REFUSED(
        miopenPoolingForward(NULL, desc, &one, x, space[0], &zero, y, space[1], false, NULL, 0));
    REFUSED(miopenPoolingForward(handle, desc, NULL, x, space[0], &zero, y, space[1], 0, NULL, 0));
    REFUSED(miopenPoolingForward(handle, desc, &one, x, NULL, &zero, y, space[1], false, NULL, 0));
    REFUSED(miopenPoolingForward(handle, desc, &one, x, space[0], &zero, y, NULL, false, NULL, 0));
    REFUSED(miopenPoolingForward(handle, desc, &one, x, space[0], &zero, y, space[1], true, NULL,
                                 enough));
    GOOD(backward(desc, x, y));
    REFUSED(backward(desc, x, other));
    REFUSED(miopenPoolingBackward(handle, desc, &one, y, NULL, y, space[3], x, NULL, &zero, x,
                                  space[0], NULL));
    REFUSED(miopenPoolingBackward(handle, desc, &one, y, NULL, y, NULL, x, NULL, &zero, x, space[0],
                                  space[2]));
    REFUSED(miopenPoolingBackward(handle, desc, &one, NULL, NULL, y, space[3], x, NULL, &zero, x,
                                  space[0], space[2]));
    REFUSED(miopenPoolingBackward(handle, desc, &one, y, NULL, y, space[3], y, NULL, &zero, x,
                                  space[0], space[2]));
    GOOD(miopenPoolingBackward(handle, desc, &one, y, NULL, y, space[3], x, NULL, &zero, x,
                               space[0], space[2])); /* x and y are not read */
    static const int wrong[][3] = { { 0, 0, 1 },       { -1, 0, 1 },     { 2, -1, 1 },
                                    { 2, 0, 0 },       { 2, 0, -3 },     { INT_MIN, 0, 1 },
                                    { 2, INT_MIN, 1 }, { 2, 0, INT_MIN } };
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        GOOD(miopenSet2dPoolingDescriptor(desc, miopenPoolingAverage, 2, wrong[i][0], 0,
                                          wrong[i][1], 2, wrong[i][2]));
        REFUSED(forward(desc, x, y, false, 0));
        REFUSED(backward(desc, x, y));
    }
    /* Large ones are windows like others: far from 2^31 elements of anything. */
    static const int large[][3] = {
        { INT_MAX, 0, 1 }, { 2, INT_MAX, 1 }, { 2, 0, INT_MAX }, { INT_MAX, INT_MAX, INT_MAX }
    };
    for (size_t i = 0; i < LENGTH(large); i++) {
        GOOD(miopenSet2dPoolingDescriptor(desc, miopenPoolingAverage, 2, large[i][0], 0,
                                          large[i][1], 2, large[i][2]));
        hostile_assert_status(forward(desc, x, y, false, 0), "a large window");
        hostile_assert_status(backward(desc, x, y), "a large window");
    }
    /* An index type too small, as the original counts. */
    GOOD(miopenSet2dPoolingDescriptor(desc, miopenPoolingMax, 15, 17, 8, 8, 2, 2));
    assert_int_equal(forward(desc, x, y, true, enough), miopenStatusUnknownError);
    GOOD(forward(desc, x, y, false, 0));
    GOOD(miopenSetPoolingIndexType(desc, miopenIndexUint16));
    GOOD(forward(desc, x, y, true, 2 * enough));
    GOOD(miopenSetPoolingWorkSpaceIndexMode(desc, (miopenPoolingWorkspaceIndexMode_t)5));
    REFUSED(forward(desc, x, y, true, 2 * enough));
    miopenTensorDescriptor_t all[] = { x, y, other, wide, three, half, shared };
    for (size_t i = 0; i < LENGTH(all); i++) GOOD(miopenDestroyTensorDescriptor(all[i]));
    GOOD(miopenDestroyPoolingDescriptor(desc));
    REFUSED(forward(desc, x, y, false, 0));
    assert_well();
}

static int lrn_forward(miopenLRNDescriptor_t desc, miopenTensorDescriptor_t x,
                       miopenTensorDescriptor_t y)
{
    return miopenLRNForward(handle, desc, &one, x, space[0], &zero, y, space[1], true, space[2]);
}

static void normalisations(void **state)
{
    (void)state;
    miopenLRNDescriptor_t desc;
    miopenLRNMode_t mode;
    unsigned n;
    double alpha, beta, k;
    miopenTensorDescriptor_t x = plain(2, 5, 6, 6), other = plain(2, 5, 6, 5);
    miopenTensorDescriptor_t five = tensor(miopenFloat, 5, (int[]){ 2, 5, 6, 6, 1 }, NULL);
    miopenTensorDescriptor_t wide = tensor(miopenDouble, 4, (int[]){ 2, 5, 6, 6 }, NULL);
    BAD_PARM(miopenCreateLRNDescriptor(NULL));
    GOOD(miopenCreateLRNDescriptor(&desc));
    REFUSED(lrn_forward(desc, x, x)); /* never set */
    REFUSED(miopenSetLRNDescriptor(desc, (miopenLRNMode_t)2, 5, 1, 1, 1));
    GOOD(miopenDestroyLRNDescriptor(desc));
    desc = lrn_of(miopenLRNCrossChannel, 5, 1, 2);
    GOOD(miopenGetLRNDescriptor(desc, &mode, &n, &alpha, &beta, &k));
    assert_true(mode == miopenLRNCrossChannel && n == 5 && alpha == 1 && beta == 0.75 && k == 2);
    REFUSED(miopenGetLRNDescriptor(desc, &mode, &n, &alpha, &beta, NULL));
    GOOD(lrn_forward(desc, x, x));
    REFUSED(lrn_forward(desc, x, other));
    REFUSED(lrn_forward(desc, five, five));
    REFUSED(lrn_forward(desc, wide, wide));
    REFUSED(miopenLRNForward(handle, desc, &one, x, space[0], &zero, x, space[1], true, NULL));
    GOOD(miopenLRNForward(handle, desc, NULL, x, space[0], NULL, x, space[1], false, NULL));
    REFUSED(miopenLRNForward(NULL, desc, NULL, x, space[0], NULL, x, space[1], false, NULL));
    GOOD(miopenLRNBackward(handle, desc, NULL, x, space[1], x, space[3], x, space[0], NULL, x,
                           space[0], space[2]));
    REFUSED(miopenLRNBackward(handle, desc, NULL, x, space[1], x, space[3], x, space[0], NULL, x,
                              space[0], NULL));
    REFUSED(miopenLRNBackward(handle, desc, NULL, x, space[1], other, space[3], x, space[0], NULL,
                              x, space[0], space[2]));
    static const unsigned wrong[] = { 0, UINT_MAX, INT_MAX };
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        GOOD(miopenSetLRNDescriptor(desc, miopenLRNWithinChannel, wrong[i], 1, 1, 1));
        REFUSED(lrn_forward(desc, x, x));
    }
    GOOD(miopenSetLRNDescriptor(desc, miopenLRNWithinChannel, 5, 1, 1, 0));
    assert_int_equal(lrn_forward(desc, x, x), miopenStatusUnknownError);
    GOOD(miopenSetLRNDescriptor(desc, miopenLRNWithinChannel, 5, (double)NAN, 1, 1));
    REFUSED(lrn_forward(desc, x, x));
    GOOD(miopenSetLRNDescriptor(desc, miopenLRNWithinChannel, 5, 1, (double)INFINITY, 1));
    REFUSED(lrn_forward(desc, x, x));
    GOOD(miopenDestroyLRNDescriptor(desc));
    BAD_PARM(lrn_forward(desc, x, x));
    BAD_PARM(miopenDestroyLRNDescriptor(desc));
    miopenTensorDescriptor_t all[] = { x, other, five, wide };
    for (size_t i = 0; i < LENGTH(all); i++) GOOD(miopenDestroyTensorDescriptor(all[i]));
    assert_well();
}

static int begin(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(space); i++) {
        static const char zeros[SPACE];
        if (!(space[i] = client_alloc(SPACE))) return 1;
        client_write(space[i], zeros, SPACE);
    }
    return miopenCreate(&handle);
}

static int end(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(space); i++) client_free(space[i]);
    return miopenDestroy(handle);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptors),
        cmocka_unit_test(workspaces),
        cmocka_unit_test(poolings),
        cmocka_unit_test(normalisations),
    };
    if (argc < 2) return 99;
    hostile_begin(argv[1]);
    const int failed = cmocka_run_group_tests(tests, begin, end);
    hostile_end();
    return failed;
}
