/* sequence_hostile_descriptors.c: wrong calls on handles and descriptors. */
#include "sequence_hostile.h"

#include <limits.h>
#include <stdio.h>

#define API (&world.api)

void hostile_nothing(void)
{
}

void hostile_null_create(void)
{
    called("Create", API->miopenCreate(NULL));
}

void hostile_null_destroy(void)
{
    called("Destroy", API->miopenDestroy(NULL));
}

void hostile_null_stream(void)
{
    called("SetStream", API->miopenSetStream(world.handle, NULL));
}

void hostile_null_handle_stream(void)
{
    called("SetStream", API->miopenSetStream(NULL, NULL));
}

void hostile_null_get_stream(void)
{
    called("GetStream", API->miopenGetStream(world.handle, NULL));
}

void hostile_null_version(void)
{
    called("GetVersion", API->miopenGetVersion(NULL, NULL, NULL));
}

void hostile_error_strings(void)
{
    for (int i = -1; i < 13; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", API->miopenGetErrorString((miopenStatus_t)i));
        for (char *c = text; *c; c++)
            if (*c == ' ') *c = '_';
        record_note("error%d=%s", i, text);
    }
}

void hostile_null_create_tensor(void)
{
    called("CreateTensorDescriptor", API->miopenCreateTensorDescriptor(NULL));
}

void hostile_null_destroy_tensor(void)
{
    called("DestroyTensorDescriptor", API->miopenDestroyTensorDescriptor(NULL));
}

void hostile_null_set_tensor(void)
{
    const int d[4] = { 1, 2, 3, 4 };
    called("SetTensorDescriptor", API->miopenSetTensorDescriptor(NULL, miopenFloat, 4, d, d));
}

void hostile_null_dims(void)
{
    struct scene s = right();
    called("SetTensorDescriptor", API->miopenSetTensorDescriptor(s.dx, miopenFloat, 4, NULL, NULL));
}

void hostile_null_get_tensor(void)
{
    struct scene s = right();
    called("GetTensorDescriptor", API->miopenGetTensorDescriptor(s.dx, NULL, NULL, NULL));
    called("GetTensorDescriptorSize", API->miopenGetTensorDescriptorSize(s.dx, NULL));
}

void hostile_null_get_4d(void)
{
    struct scene s = right();
    called("Get4d", API->miopenGet4dTensorDescriptor(s.dx, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                                     NULL, NULL));
}

void hostile_null_num_bytes(void)
{
    struct scene s = right();
    called("GetTensorNumBytes", API->miopenGetTensorNumBytes(s.dx, NULL));
}

void hostile_num_bytes(void)
{
    struct scene s = right();
    const int d[4] = { 2, 3, 4, 5 }, gaps[4] = { 1000, 100, 10, 1 };
    size_t bytes = 0;
    called("GetTensorNumBytes", API->miopenGetTensorNumBytes(s.dx, &bytes));
    record_note("packed=%zu", bytes);
    called("SetTensorDescriptor", API->miopenSetTensorDescriptor(s.dx, miopenHalf, 4, d, gaps));
    called("GetTensorNumBytes", API->miopenGetTensorNumBytes(s.dx, &bytes));
    record_note("gaps=%zu", bytes);
}

void hostile_unset_tensor(void)
{
    miopenTensorDescriptor_t fresh = NULL;
    called("CreateTensorDescriptor", API->miopenCreateTensorDescriptor(&fresh));
    int size = -1;
    size_t bytes = 12345;
    called("GetTensorDescriptorSize", API->miopenGetTensorDescriptorSize(fresh, &size));
    called("GetTensorNumBytes", API->miopenGetTensorNumBytes(fresh, &bytes));
    record_note("rank=%d bytes=%zu", size, bytes);
}

static void set_rank(int rank)
{
    struct scene s = right();
    const int d[8] = { 2, 2, 2, 2, 2, 2, 2, 2 };
    const int st[8] = { 128, 64, 32, 16, 8, 4, 2, 1 };
    called("SetTensorDescriptor", API->miopenSetTensorDescriptor(s.dx, miopenFloat, rank, d, st));
    int size = -1;
    called("GetTensorDescriptorSize", API->miopenGetTensorDescriptorSize(s.dx, &size));
    record_note("rank=%d", size);
}

void hostile_rank_0(void)
{
    set_rank(0);
}

void hostile_rank_1(void)
{
    set_rank(1);
}

void hostile_rank_6(void)
{
    set_rank(6);
}

void hostile_rank_8(void)
{
    set_rank(8);
}

void hostile_rank_negative(void)
{
    set_rank(-1);
}

static void set_dims(int a, int b, int c, int d)
{
    struct scene s = right();
    const int dims[4] = { a, b, c, d }, strides[4] = { 64, 16, 4, 1 };
    const size_t big[4] = { (size_t)a, (size_t)b, (size_t)c, (size_t)d },
                 steps[4] = { 64, 16, 4, 1 };
    called("SetTensorDescriptor",
           API->miopenSetTensorDescriptor(s.dx, miopenFloat, 4, dims, strides));
    called("SetTensorDescriptor-packed",
           API->miopenSetTensorDescriptor(s.dx, miopenFloat, 4, dims, NULL));
    called("Set4d", API->miopenSet4dTensorDescriptor(s.dx, miopenFloat, a, b, c, d));
    if (API->miopenSetTensorDescriptorV2)
        called("SetTensorDescriptorV2",
               API->miopenSetTensorDescriptorV2(s.dx, miopenFloat, 4, big, steps));
}

void hostile_dims_negative(void)
{
    set_dims(2, -4, 4, 4);
}

void hostile_dims_zero(void)
{
    set_dims(2, 0, 4, 4);
}

void hostile_dims_huge(void)
{
    set_dims(INT_MAX, INT_MAX, INT_MAX, INT_MAX);
}

void hostile_strides_negative(void)
{
    struct scene s = right();
    const int d[4] = { 2, 2, 2, 2 }, st[4] = { 8, 4, -2, 1 };
    called("SetTensorDescriptor", API->miopenSetTensorDescriptor(s.dx, miopenFloat, 4, d, st));
}

void hostile_type_wrong(void)
{
    struct scene s = right();
    const int d[4] = { 2, 4, 8, 8 };
    called("SetTensorDescriptor",
           API->miopenSetTensorDescriptor(s.dx, (miopenDataType_t)77, 4, d, NULL));
    called("SetTensorDescriptor",
           API->miopenSetTensorDescriptor(s.dx, (miopenDataType_t)-1, 4, d, NULL));
    called("SetTensorDescriptor",
           API->miopenSetTensorDescriptor(s.dx, (miopenDataType_t)4, 4, d, NULL));
}

void hostile_null_create_conv(void)
{
    called("CreateConvolutionDescriptor", API->miopenCreateConvolutionDescriptor(NULL));
}

void hostile_null_destroy_conv(void)
{
    called("DestroyConvolutionDescriptor", API->miopenDestroyConvolutionDescriptor(NULL));
}

void hostile_null_init_conv(void)
{
    called("Init", API->miopenInitConvolutionDescriptor(NULL, miopenConvolution, 1, 1, 1, 1, 1, 1));
}

void hostile_null_init_conv_arrays(void)
{
    struct scene s = right();
    called("InitNd",
           API->miopenInitConvolutionNdDescriptor(s.conv, 2, NULL, NULL, NULL, miopenConvolution));
}

static void init(int pad, int stride, int dilation)
{
    struct scene s = right();
    const int p[3] = { pad, pad, pad }, st[3] = { stride, stride, stride },
              di[3] = { dilation, dilation, dilation };
    called("Init", API->miopenInitConvolutionDescriptor(s.conv, miopenConvolution, pad, pad, stride,
                                                        stride, dilation, dilation));
    called("InitNd",
           API->miopenInitConvolutionNdDescriptor(s.conv, 2, p, st, di, miopenConvolution));
}

void hostile_pad_negative(void)
{
    init(-1, 1, 1);
}

void hostile_stride_zero(void)
{
    init(1, 0, 1);
}

void hostile_stride_negative(void)
{
    init(1, -1, 1);
}

void hostile_dilation_zero(void)
{
    init(1, 1, 0);
}

void hostile_dilation_negative(void)
{
    init(1, 1, -1);
}

void hostile_spatial_negative(void)
{
    struct scene s = right();
    const int ones[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    called("InitNd",
           API->miopenInitConvolutionNdDescriptor(s.conv, -1, ones, ones, ones, miopenConvolution));
}

void hostile_spatial_dims(void)
{
    struct scene s = right();
    const int ones[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    for (int n = 0; n < 7; n++) {
        int got = -1;
        called("InitNd", API->miopenInitConvolutionNdDescriptor(s.conv, n, ones, ones, ones,
                                                                miopenConvolution));
        called("GetSpatialDim", API->miopenGetConvolutionSpatialDim(s.conv, &got));
        record_note("spatial=%d", got);
    }
}

void hostile_mode_wrong(void)
{
    struct scene s = right();
    for (int mode = -1; mode < 6; mode++)
        called("Init", API->miopenInitConvolutionDescriptor(s.conv, (miopenConvolutionMode_t)mode,
                                                            1, 1, 1, 1, 1, 1));
}

void hostile_groups_wrong(void)
{
    struct scene s = right();
    const int groups[] = { 0, -1, 3, 1 << 30 };
    for (int i = 0; i < 4; i++) {
        int got = -12345;
        called("SetGroupCount", API->miopenSetConvolutionGroupCount(s.conv, groups[i]));
        called("GetGroupCount", API->miopenGetConvolutionGroupCount(s.conv, &got));
        record_note("groups=%d", got);
    }
}

void hostile_attribute_wrong(void)
{
    struct scene s = right();
    int value = -12345;
    called("SetAttribute",
           API->miopenSetConvolutionAttribute(s.conv, (miopenConvolutionAttrib_t)99, 1));
    called("GetAttribute",
           API->miopenGetConvolutionAttribute(s.conv, (miopenConvolutionAttrib_t)99, &value));
    called("SetAttribute",
           API->miopenSetConvolutionAttribute(s.conv, MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC, 7));
    called("GetAttribute", API->miopenGetConvolutionAttribute(
                               s.conv, MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC, &value));
    record_note("deterministic=%d", value);
    called("GetAttribute", API->miopenGetConvolutionAttribute(
                               s.conv, MIOPEN_CONVOLUTION_ATTRIB_FP16_ALT_IMPL, &value));
    record_note("alternative=%d", value);
}

void hostile_find_mode_wrong(void)
{
    struct scene s = right();
    miopenConvolutionFindMode_t mode = 77;
    called("GetFindMode", API->miopenGetConvolutionFindMode(s.conv, &mode));
    record_note("first=%d", (int)mode);
    for (int i = -1; i < 8; i++)
        called("SetFindMode",
               API->miopenSetConvolutionFindMode(s.conv, (miopenConvolutionFindMode_t)i));
    called("GetFindMode", API->miopenGetConvolutionFindMode(s.conv, &mode));
    record_note("last=%d", (int)mode);
    called("SetFindMode", API->miopenSetConvolutionFindMode(NULL, miopenConvolutionFindModeFast));
}

void hostile_hidden_find_mode(void)
{
    struct scene s = right();
    miopenConvolutionFindMode_t mode = 77;
    for (int i = -1; i < 8; i++)
        called("HiddenSetFindMode", API->miopenHiddenSetConvolutionFindMode(s.conv, i));
    called("GetFindMode", API->miopenGetConvolutionFindMode(s.conv, &mode));
    record_note("last=%d", (int)mode);
}

void hostile_get_conv(void)
{
    struct scene s = right();
    int v[6], pad[3] = { -1, -1, -1 }, stride[3] = { -1, -1, -1 }, dilation[3] = { -1, -1, -1 },
              n = -1;
    miopenConvolutionMode_t mode;
    called("GetConvolutionDescriptor", API->miopenGetConvolutionDescriptor(
                                           s.conv, &mode, v, v + 1, v + 2, v + 3, v + 4, v + 5));
    called("GetNd",
           API->miopenGetConvolutionNdDescriptor(s.conv, 2, &n, pad, stride, dilation, &mode));
    called("GetNd",
           API->miopenGetConvolutionNdDescriptor(s.conv, 3, &n, pad, stride, dilation, &mode));
    record_note("n=%d", n);
    called("GetNd",
           API->miopenGetConvolutionNdDescriptor(s.conv, 1, &n, pad, stride, dilation, &mode));
    record_note("n=%d", n);
}

void hostile_get_tensor(void)
{
    struct scene s = right();
    miopenDataType_t type;
    int d[8] = { -1, -1, -1, -1 }, st[8] = { -1, -1, -1, -1 }, v[8];
    called("GetTensorDescriptor", API->miopenGetTensorDescriptor(s.dx, &type, d, st));
    record_ints("dims", 4, d);
    record_ints("strides", 4, st);
    const int five[5] = { 2, 3, 4, 5, 6 };
    reshape(s.dx, miopenFloat, 5, five);
    called("Get4d", API->miopenGet4dTensorDescriptor(s.dx, &type, v, v + 1, v + 2, v + 3, v + 4,
                                                     v + 5, v + 6, v + 7));
}
