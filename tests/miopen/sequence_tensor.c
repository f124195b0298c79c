/* sequence_tensor.c: the tensor operations, as frameworks call them around convolutions. */
#include "sequence.h"

#define API (&world.api)

/* a: the tensor that is read, or both read and written; b: the second operand, or what is written.
 */
static const struct operation {
    const char *name;
    enum kind { SET, SCALE, OP, TRANSFORM, BIAS } kind;
    struct tensor a, b;
    bool a_last, b_last;
    float alpha, alpha2, beta;
    miopenTensorOp_t op;
} operations[] = {
#include "sequence_operations.inc"
};

static const char *const kinds[] = { "set", "scale", "op", "transform", "bias" };

static miopenStatus_t call(const struct operation *o, miopenTensorDescriptor_t a_desc, void *a,
                           miopenTensorDescriptor_t b_desc, void *b, void *c)
{
    /* For these two the factor has the type of the tensor; for the others it is f32. */
    double alpha;
    store_exactly(&alpha, o->a.type, o->alpha);
    switch (o->kind) {
    case SET: return called("SetTensor", API->miopenSetTensor(world.handle, a_desc, c, &alpha));
    case SCALE:
        return called("ScaleTensor", API->miopenScaleTensor(world.handle, a_desc, c, &alpha));
    case TRANSFORM:
        return called("TransformTensor", API->miopenTransformTensor(world.handle, &o->alpha, a_desc,
                                                                    a, &o->beta, b_desc, c));
    case BIAS:
        return called("BackwardBias", API->miopenConvolutionBackwardBias(
                                          world.handle, &o->alpha, a_desc, a, &o->beta, b_desc, c));
    default:
        return called("OpTensor", API->miopenOpTensor(world.handle, o->op, &o->alpha, a_desc, a,
                                                      &o->alpha2, b_desc, b, &o->beta, a_desc, c));
    }
}

static void run(const void *what)
{
    const struct operation *o = what;
    struct tensor a = o->a, b = o->b;
    bool writes_b = o->kind == TRANSFORM || o->kind == BIAS, has_b = b.n_dims > 0;
    tensor_pack(&a, o->a_last);
    record_tensor("a", &a);
    if (has_b) {
        tensor_pack(&b, o->b_last);
        record_tensor("b", &b);
    }
    const struct tensor *c = writes_b ? &b : &a;
    record_note("what=%s alpha=%g alpha2=%g beta=%g op=%d", kinds[o->kind], (double)o->alpha,
                (double)o->alpha2, (double)o->beta, (int)o->op);
    miopenTensorDescriptor_t a_desc = describe(&a, SET_INT),
                             b_desc = has_b ? describe(&b, SET_INT) : NULL;
    struct memory a_memory = memory_input("a", &a, 21), b_memory = { 0 };
    if (has_b && !writes_b) b_memory = memory_input("b", &b, 22);
    /* What was in the result before, twice: kept, and written over. NaN where it must not be read.
     */
    bool reads_c = o->beta != 0 || o->kind == SCALE;
    struct memory before = memory_input("old", c, 23), result = memory_input("c", c, 23);
    if (!reads_c) {
        memory_drop(&result);
        result = memory_output("c", before.bytes);
    }
    call(o, a_desc, a_memory.device, b_desc, b_memory.device, result.device);
    if (!world_wait()) record_note("device=lost");
    memory_close(&a_memory, true);
    if (b_memory.base) memory_close(&b_memory, true);
    memory_close(&before, true);
    memory_close(&result, false);
    called("DestroyTensorDescriptor", API->miopenDestroyTensorDescriptor(a_desc));
    if (b_desc) called("DestroyTensorDescriptor", API->miopenDestroyTensorDescriptor(b_desc));
}

void tensor_sequences(void)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        struct sequence one = {
            "tensor", "tensor", operations[i].name, kinds[operations[i].kind], run, &operations[i]
        };
        sequence_run(&one, false);
    }
}
