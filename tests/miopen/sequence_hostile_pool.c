/* sequence_hostile_pool.c: wrong calls of pooling and of local response normalisation: a right one,
 * of which each changes one thing. */
#include "sequence_hostile.h"

#define API (&world.api)

/* ---- pooling ---- */

/* What is left out, or wrong; each pass is told of it. */
struct pool_call {
    bool no_handle, no_desc, no_x_desc, no_y_desc, no_x, no_y, no_alpha, no_index, no_dy, no_dx;
    bool no_saving, unset;
    int window, stride, pad;
    int y_size; /* of both its dimensions; 0: as it should be */
    miopenDataType_t type;
    miopenPoolingMode_t mode;
    size_t bytes; /* of the workspace */
};

static struct pool_call right_pool(void)
{
    return (struct pool_call){
        .window = 3, .stride = 2, .pad = 1, .type = miopenFloat, .bytes = 2 * 3 * 16 * 8
    };
}

static void pool(const struct pool_call *c)
{
    const float one = 1, zero = 0;
    struct tensor x = { c->type, 4, { 2, 3, 8, 8 }, { 0 } }, y = x;
    y.dims[2] = y.dims[3] = c->y_size ? c->y_size : 4;
    tensor_pack(&x, false);
    tensor_pack(&y, false);
    miopenTensorDescriptor_t dx = describe(&x, SET_INT), dy = describe(&y, SET_INT);
    struct memory mx = memory_input("x", &x, 1), my = memory_output("y", tensor_bytes(&y));
    struct memory gy = memory_input("dy", &y, 2), gx = memory_output("dx", tensor_bytes(&x));
    struct memory index = memory_zero("index", 2 * 3 * 16 * 8);
    miopenPoolingDescriptor_t desc = NULL;
    called("CreatePoolingDescriptor", API->miopenCreatePoolingDescriptor(&desc));
    if (!c->unset)
        called("Set2dPoolingDescriptor",
               API->miopenSet2dPoolingDescriptor(desc, c->mode, c->window, c->window, c->pad,
                                                 c->pad, c->stride, c->stride));
    miopenHandle_t handle = c->no_handle ? NULL : world.handle;
    miopenTensorDescriptor_t x_desc = c->no_x_desc ? NULL : dx, y_desc = c->no_y_desc ? NULL : dy;
    int size[4] = { -1, -1, -1, -1 };
    called("GetPoolingNdForwardOutputDim",
           API->miopenGetPoolingNdForwardOutputDim(c->no_desc ? NULL : desc, x_desc, 4, size));
    record_ints("size", 4, size);
    called("PoolingForward",
           API->miopenPoolingForward(handle, c->no_desc ? NULL : desc, c->no_alpha ? NULL : &one,
                                     x_desc, c->no_x ? NULL : mx.device, &zero, y_desc,
                                     c->no_y ? NULL : my.device, !c->no_saving,
                                     c->no_index ? NULL : index.device, c->bytes));
    called("PoolingBackward",
           API->miopenPoolingBackward(
               handle, c->no_desc ? NULL : desc, c->no_alpha ? NULL : &one, y_desc,
               c->no_y ? NULL : my.device, y_desc, c->no_dy ? NULL : gy.device, x_desc,
               c->no_x ? NULL : mx.device, &zero, x_desc, c->no_dx ? NULL : gx.device,
               c->no_index ? NULL : index.device));
    if (!world_wait()) record_note("device=lost");
}

#define POOL(name, change)                                                                         \
    void hostile_pool_##name(void)                                                                 \
    {                                                                                              \
        struct pool_call c = right_pool();                                                         \
        change;                                                                                    \
        pool(&c);                                                                                  \
    }
POOL(nothing, c.window = 3)
POOL(null_handle, c.no_handle = true)
POOL(null_desc, c.no_desc = true)
POOL(null_x_desc, c.no_x_desc = true)
POOL(null_y_desc, c.no_y_desc = true)
POOL(null_x, c.no_x = true)
POOL(null_y, c.no_y = true)
POOL(null_alpha, c.no_alpha = true)
POOL(null_index, c.no_index = true)
POOL(null_dy, c.no_dy = true)
POOL(null_dx, c.no_dx = true)
POOL(no_saving, c.no_saving = true)
POOL(unset, c.unset = true)
POOL(window_zero, c.window = 0)
POOL(window_negative, c.window = -3)
POOL(window_large, c.window = 100)
POOL(stride_zero, c.stride = 0)
POOL(stride_negative, c.stride = -1)
POOL(pad_negative, c.pad = -1)
POOL(pad_large, c.pad = 3)
POOL(mode, c.mode = (miopenPoolingMode_t)9)
POOL(output_misfit, c.y_size = 3)
POOL(type_double, c.type = miopenDouble)
POOL(workspace_small, c.bytes = 1)
#undef POOL

void hostile_pool_descriptor(void)
{
    miopenPoolingDescriptor_t desc = NULL;
    const int three[] = { 3, 3, 3 }, ones[] = { 1, 1, 1 };
    called("CreatePoolingDescriptor", API->miopenCreatePoolingDescriptor(&desc));
    called("SetNd-0",
           API->miopenSetNdPoolingDescriptor(desc, miopenPoolingMax, 0, three, ones, ones));
    called("SetNd-null",
           API->miopenSetNdPoolingDescriptor(NULL, miopenPoolingMax, 2, three, ones, ones));
    called("SetIndexType", API->miopenSetPoolingIndexType(desc, (miopenIndexType_t)9));
    called("SetIndexType-null", API->miopenSetPoolingIndexType(NULL, miopenIndexUint8));
    called("SetIndexMode-null",
           API->miopenSetPoolingWorkSpaceIndexMode(NULL, miopenPoolingWorkspaceIndexMask));
    called("DestroyPoolingDescriptor", API->miopenDestroyPoolingDescriptor(desc));
}

void hostile_pool_create_null(void)
{
    called("CreatePoolingDescriptor", API->miopenCreatePoolingDescriptor(NULL));
}

void hostile_pool_destroy_null(void)
{
    called("DestroyPoolingDescriptor", API->miopenDestroyPoolingDescriptor(NULL));
}

/* ---- local response normalisation ---- */

struct lrn_call {
    bool no_handle, no_desc, no_x_desc, no_x, no_y, no_alpha, no_space, no_dy, no_dx, unset;
    bool no_saving;
    unsigned n;
    miopenLRNMode_t mode;
    double beta;
    miopenDataType_t type;
};

static struct lrn_call right_lrn(void)
{
    return (struct lrn_call){
        .n = 3, .mode = miopenLRNCrossChannel, .beta = 0.75, .type = miopenFloat
    };
}

static void lrn(const struct lrn_call *c)
{
    const float one = 1, zero = 0;
    struct tensor x = { c->type, 4, { 2, 6, 5, 5 }, { 0 } };
    tensor_pack(&x, false);
    miopenTensorDescriptor_t dx = describe(&x, SET_INT), x_desc = c->no_x_desc ? NULL : dx;
    struct memory mx = memory_input("x", &x, 1), my = memory_output("y", tensor_bytes(&x));
    struct memory gy = memory_input("dy", &x, 2), gx = memory_output("dx", tensor_bytes(&x));
    struct memory space = memory_zero("space", tensor_bytes(&x) + 4096);
    miopenLRNDescriptor_t made = NULL;
    called("CreateLRNDescriptor", API->miopenCreateLRNDescriptor(&made));
    if (!c->unset)
        called("SetLRNDescriptor",
               API->miopenSetLRNDescriptor(made, c->mode, c->n, 1e-2, c->beta, 1));
    miopenLRNDescriptor_t desc = c->no_desc ? NULL : made;
    miopenHandle_t handle = c->no_handle ? NULL : world.handle;
    void *work = c->no_space ? NULL : space.device;
    size_t bytes = 12345;
    called("LRNGetWorkSpaceSize", API->miopenLRNGetWorkSpaceSize(x_desc, &bytes));
    record_note("workspace=%zu", bytes);
    called("LRNForward", API->miopenLRNForward(handle, desc, c->no_alpha ? NULL : &one, x_desc,
                                               c->no_x ? NULL : mx.device, &zero, x_desc,
                                               c->no_y ? NULL : my.device, !c->no_saving, work));
    called("LRNBackward",
           API->miopenLRNBackward(handle, desc, c->no_alpha ? NULL : &one, x_desc,
                                  c->no_y ? NULL : my.device, x_desc, c->no_dy ? NULL : gy.device,
                                  x_desc, c->no_x ? NULL : mx.device, &zero, x_desc,
                                  c->no_dx ? NULL : gx.device, work));
    if (!world_wait()) record_note("device=lost");
}

#define LRN(name, change)                                                                          \
    void hostile_lrn_##name(void)                                                                  \
    {                                                                                              \
        struct lrn_call c = right_lrn();                                                           \
        change;                                                                                    \
        lrn(&c);                                                                                   \
    }
LRN(nothing, c.n = 3)
LRN(null_handle, c.no_handle = true)
LRN(null_desc, c.no_desc = true)
LRN(null_x_desc, c.no_x_desc = true)
LRN(null_x, c.no_x = true)
LRN(null_y, c.no_y = true)
LRN(null_alpha, c.no_alpha = true)
LRN(null_space, c.no_space = true)
LRN(null_dy, c.no_dy = true)
LRN(null_dx, c.no_dx = true)
LRN(no_saving, c.no_saving = true)
LRN(unset, c.unset = true)
LRN(zero, c.n = 0)
LRN(long, c.n = 1000)
LRN(mode, c.mode = (miopenLRNMode_t)9)
LRN(type_double, c.type = miopenDouble)
#undef LRN

void hostile_lrn_create_null(void)
{
    called("CreateLRNDescriptor", API->miopenCreateLRNDescriptor(NULL));
}

void hostile_lrn_destroy_null(void)
{
    called("DestroyLRNDescriptor", API->miopenDestroyLRNDescriptor(NULL));
}
