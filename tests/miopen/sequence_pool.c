/* sequence_pool.c: pooling and local response normalisation, as MIGraphX, ONNX Runtime and XLA call
 * them. */
#include "sequence.h"

#define API (&world.api)

static const struct pool {
    const char *name;
    struct tensor x;
    bool last; /* channels last */
    miopenPoolingMode_t mode;
    int window[3], stride[3], pad[3];
    bool trains;
    miopenIndexType_t index_type;
    miopenPoolingWorkspaceIndexMode_t index_mode;
} pools[] = {
#include "sequence_pools.inc"
};

static const struct lrn {
    const char *name;
    struct tensor x;
    miopenLRNMode_t mode;
    unsigned n;
    double alpha, beta, k;
    bool trains;
} lrns[] = {
#include "sequence_lrns.inc"
};

static const float one = 1, zero = 0;

static miopenStatus_t set_pool(const struct pool *p, int dims, miopenPoolingDescriptor_t desc)
{
    miopenStatus_t status =
        dims == 2 ? called("Set2dPoolingDescriptor",
                           API->miopenSet2dPoolingDescriptor(desc, p->mode, p->window[0],
                                                             p->window[1], p->pad[0], p->pad[1],
                                                             p->stride[0], p->stride[1]))
                  : called("SetNdPoolingDescriptor",
                           API->miopenSetNdPoolingDescriptor(desc, p->mode, dims, p->window, p->pad,
                                                             p->stride));
    if (status == miopenStatusSuccess && p->index_type != miopenIndexUint8)
        status = called("SetPoolingIndexType", API->miopenSetPoolingIndexType(desc, p->index_type));
    if (status == miopenStatusSuccess && p->trains)
        status = called("SetPoolingWorkSpaceIndexMode",
                        API->miopenSetPoolingWorkSpaceIndexMode(desc, p->index_mode));
    return status;
}

static void run_pool(const void *what)
{
    const struct pool *p = what;
    struct tensor x = p->x, y = p->x;
    const int dims = x.n_dims - 2;
    size_t bytes = 0;
    miopenPoolingDescriptor_t desc = NULL;
    tensor_pack(&x, p->last);
    record_tensor("x", &x);
    record_note("mode=%d trains=%d index_type=%d index_mode=%d", (int)p->mode, p->trains,
                (int)p->index_type, (int)p->index_mode);
    record_ints("window", dims, p->window);
    record_ints("stride", dims, p->stride);
    record_ints("pad", dims, p->pad);
    miopenTensorDescriptor_t x_desc = describe(&x, SET_INT);
    if (called("CreatePoolingDescriptor", API->miopenCreatePoolingDescriptor(&desc)) ||
        set_pool(p, dims, desc) ||
        called("GetPoolingNdForwardOutputDim",
               API->miopenGetPoolingNdForwardOutputDim(desc, x_desc, x.n_dims, y.dims)))
        return;
    tensor_pack(&y, p->last);
    record_tensor("y", &y);
    miopenTensorDescriptor_t y_desc = describe(&y, SET_INT);
    if (called("PoolingGetWorkSpaceSizeV2",
               API->miopenPoolingGetWorkSpaceSizeV2(desc, y_desc, &bytes)))
        return;
    record_note("workspace=%zu", bytes);
    struct memory x_memory = memory_input("x", &x, 31), dy = memory_input("dy", &y, 32);
    struct memory y_memory = memory_output("y", tensor_bytes(&y));
    struct memory dx = memory_output("dx", tensor_bytes(&x));
    struct memory workspace = memory_output("index", p->trains ? bytes : 0);
    miopenStatus_t status = called(
        "PoolingForward",
        API->miopenPoolingForward(world.handle, desc, &one, x_desc, x_memory.device, &zero, y_desc,
                                  y_memory.device, p->trains, workspace.device, workspace.bytes));
    if (status == miopenStatusSuccess && p->trains)
        called("PoolingBackward",
               API->miopenPoolingBackward(world.handle, desc, &one, y_desc, y_memory.device, y_desc,
                                          dy.device, x_desc, x_memory.device, &zero, x_desc,
                                          dx.device, workspace.device));
    if (!world_wait()) record_note("device=lost");
    memory_close(&x_memory, true);
    memory_close(&dy, true);
    memory_close(&y_memory, false);
    memory_close(&dx, false);
    if (workspace.base) memory_close(&workspace, false);
    called("DestroyPoolingDescriptor", API->miopenDestroyPoolingDescriptor(desc));
    called("DestroyTensorDescriptor", API->miopenDestroyTensorDescriptor(x_desc));
    called("DestroyTensorDescriptor", API->miopenDestroyTensorDescriptor(y_desc));
}

static void run_lrn(const void *what)
{
    const struct lrn *p = what;
    struct tensor x = p->x;
    size_t bytes = 0;
    miopenLRNDescriptor_t desc = NULL;
    tensor_pack(&x, false);
    record_tensor("x", &x);
    record_note("mode=%d n=%u alpha=%g beta=%g k=%g trains=%d", (int)p->mode, p->n, p->alpha,
                p->beta, p->k, p->trains);
    miopenTensorDescriptor_t x_desc = describe(&x, SET_4D);
    if (called("CreateLRNDescriptor", API->miopenCreateLRNDescriptor(&desc)) ||
        called("SetLRNDescriptor",
               API->miopenSetLRNDescriptor(desc, p->mode, p->n, p->alpha, p->beta, p->k)) ||
        called("LRNGetWorkSpaceSize", API->miopenLRNGetWorkSpaceSize(x_desc, &bytes)))
        return;
    record_note("workspace=%zu", bytes);
    struct memory x_memory = memory_input("x", &x, 41), dy = memory_input("dy", &x, 42);
    struct memory y = memory_output("y", tensor_bytes(&x)), dx = memory_output("dx", y.bytes);
    struct memory workspace = memory_output("scale", p->trains ? bytes : 0);
    miopenStatus_t status = called(
        "LRNForward", API->miopenLRNForward(world.handle, desc, &one, x_desc, x_memory.device,
                                            &zero, x_desc, y.device, p->trains, workspace.device));
    if (status == miopenStatusSuccess && p->trains)
        called("LRNBackward", API->miopenLRNBackward(world.handle, desc, &one, x_desc, y.device,
                                                     x_desc, dy.device, x_desc, x_memory.device,
                                                     &zero, x_desc, dx.device, workspace.device));
    if (!world_wait()) record_note("device=lost");
    memory_close(&x_memory, true);
    memory_close(&dy, true);
    memory_close(&y, false);
    memory_close(&dx, false);
    if (workspace.base) memory_drop(&workspace);
    called("DestroyLRNDescriptor", API->miopenDestroyLRNDescriptor(desc));
    called("DestroyTensorDescriptor", API->miopenDestroyTensorDescriptor(x_desc));
}

void pool_sequences(void)
{
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
        struct sequence s = { "pool",        "pool",
                              pools[i].name, pools[i].trains ? "both" : "forward",
                              run_pool,      &pools[i] };
        sequence_run(&s, false);
    }
    for (size_t i = 0; i < sizeof lrns / sizeof *lrns; i++) {
        struct sequence s = { "lrn",   "lrn",   lrns[i].name, lrns[i].trains ? "both" : "forward",
                              run_lrn, &lrns[i] };
        sequence_run(&s, false);
    }
}
