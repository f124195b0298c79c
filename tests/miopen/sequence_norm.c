/* sequence_norm.c: batch norm as PyTorch calls it. */
#include "sequence.h"

#include <string.h>

#define API (&world.api)

/* PyTorch describes 3-D tensors with a fourth dimension of size 1 and stride 1. */
static const struct norm {
    const char *name;
    miopenDataType_t type; /* of the data; parameters are f32 */
    int n_dims, dims[MAX_DIMS];
    bool last, running; /* channels last; with running mean and variance */
    double factor, epsilon;
} norms[] = {
    { "plain", miopenFloat, 4, { 3, 5, 6, 7 }, false, true, 0.1, 1e-5 },
    { "no-running", miopenFloat, 4, { 3, 5, 6, 7 }, false, false, 0.1, 1e-5 },
    { "half", miopenHalf, 4, { 4, 6, 8, 8 }, false, true, 0.1, 1e-5 },
    { "half-no-running", miopenHalf, 4, { 4, 6, 8, 8 }, false, false, 0.1, 1e-5 },
    { "bfloat", miopenBFloat16, 4, { 4, 6, 8, 8 }, false, true, 0.1, 1e-5 },
    { "flat", miopenFloat, 4, { 12, 10, 1, 1 }, false, true, 0.1, 1e-5 },
    { "line", miopenFloat, 4, { 5, 4, 19, 1 }, false, true, 0.1, 1e-3 },
    { "volume", miopenFloat, 5, { 2, 3, 4, 5, 6 }, false, true, 1.0, 1e-5 },
    { "last", miopenFloat, 4, { 3, 8, 6, 7 }, true, true, 0.1, 1e-5 },
    { "last-half", miopenHalf, 4, { 3, 8, 6, 7 }, true, true, 0.1, 1e-5 },
    { "many", miopenFloat, 4, { 2, 70, 3, 3 }, false, true, 0.25, 1e-5 },
};

static miopenBatchNormMode_t mode(const struct norm *norm)
{
    return strcmp(norm->name, "flat") == 0 ? miopenBNPerActivation : miopenBNSpatial;
}

struct scene {
    struct tensor x, p;
    miopenTensorDescriptor_t x_desc, p_desc;
    struct memory x_memory, scale, bias;
};

static struct scene open_scene(const struct norm *norm, bool bias)
{
    struct scene s = { { norm->type, norm->n_dims, { 0 }, { 0 } },
                       { miopenFloat, norm->n_dims, { 1, norm->dims[1], 1, 1, 1 }, { 0 } },
                       NULL,
                       NULL,
                       { { 0 }, NULL, NULL, NULL, 0 },
                       { { 0 }, NULL, NULL, NULL, 0 },
                       { { 0 }, NULL, NULL, NULL, 0 } };
    memcpy(s.x.dims, norm->dims, sizeof norm->dims);
    tensor_pack(&s.x, norm->last);
    tensor_pack(&s.p, false);
    record_tensor("x", &s.x);
    record_note("mode=%d epsilon=%g factor=%g", (int)mode(norm), norm->epsilon, norm->factor);
    called("SetStream", API->miopenSetStream(world.handle, world.stream));
    s.x_desc = describe(&s.x, SET_INT);
    s.p_desc = describe(&s.p, SET_INT);
    s.x_memory = memory_input("x", &s.x, 11);
    s.scale = memory_positive("scale", &s.p, 12);
    if (bias) s.bias = memory_input("bias", &s.p, 13);
    return s;
}

static void close_scene(struct scene *s)
{
    if (!world_wait()) record_note("device=lost");
    memory_close(&s->x_memory, true);
    memory_close(&s->scale, true);
    if (s->bias.base) memory_close(&s->bias, true);
    called("DestroyTensorDescriptor", API->miopenDestroyTensorDescriptor(s->x_desc));
    called("DestroyTensorDescriptor", API->miopenDestroyTensorDescriptor(s->p_desc));
}

static float one = 1, zero = 0;

static void training(const void *what)
{
    const struct norm *norm = what;
    struct scene s = open_scene(norm, true);
    struct memory y = memory_output("y", s.x_memory.bytes),
                  mean = memory_output("mean", s.scale.bytes),
                  inverse = memory_output("inv", s.scale.bytes);
    struct memory old_mean = { 0 }, old_variance = { 0 }, new_mean = { 0 }, new_variance = { 0 };
    if (norm->running) {
        /* Two of each: what was there, for the comparison, and what is updated. */
        old_mean = memory_input("om", &s.p, 14);
        old_variance = memory_positive("ov", &s.p, 15);
        new_mean = memory_input("nm", &s.p, 14);
        new_variance = memory_positive("nv", &s.p, 15);
    }
    record_note("running=%d", norm->running);
    called("BatchNormalizationForwardTraining",
           API->miopenBatchNormalizationForwardTraining(
               world.handle, mode(norm), &one, &zero, s.x_desc, s.x_memory.device, s.x_desc,
               y.device, s.p_desc, s.scale.device, s.bias.device, norm->factor, new_mean.device,
               new_variance.device, norm->epsilon, mean.device, inverse.device));
    close_scene(&s);
    memory_close(&y, false);
    memory_close(&mean, false);
    memory_close(&inverse, false);
    if (!norm->running) return;
    memory_close(&old_mean, true);
    memory_close(&old_variance, true);
    memory_close(&new_mean, false);
    memory_close(&new_variance, false);
}

static void inference(const void *what)
{
    const struct norm *norm = what;
    struct scene s = open_scene(norm, true);
    struct memory y = memory_output("y", s.x_memory.bytes), mean = memory_input("om", &s.p, 14),
                  variance = memory_positive("ov", &s.p, 15);
    called("BatchNormalizationForwardInference",
           API->miopenBatchNormalizationForwardInference(
               world.handle, mode(norm), &one, &zero, s.x_desc, s.x_memory.device, s.x_desc,
               y.device, s.p_desc, s.scale.device, s.bias.device, mean.device, variance.device,
               norm->epsilon));
    close_scene(&s);
    memory_close(&y, false);
    memory_close(&mean, true);
    memory_close(&variance, true);
}

/* With the mean and inverse deviation that training saved: run first, as PyTorch does. */
static void backward(const void *what)
{
    const struct norm *norm = what;
    struct scene s = open_scene(norm, true);
    struct memory y = memory_output("y", s.x_memory.bytes),
                  mean = memory_output("mean", s.scale.bytes),
                  inverse = memory_output("inv", s.scale.bytes), dy = memory_input("dy", &s.x, 16),
                  dx = memory_output("dx", s.x_memory.bytes),
                  dscale = memory_output("dscale", s.scale.bytes),
                  dbias = memory_output("dbias", s.scale.bytes);
    called("BatchNormalizationForwardTraining",
           API->miopenBatchNormalizationForwardTraining(
               world.handle, mode(norm), &one, &zero, s.x_desc, s.x_memory.device, s.x_desc,
               y.device, s.p_desc, s.scale.device, s.bias.device, norm->factor, NULL, NULL,
               norm->epsilon, mean.device, inverse.device));
    called("BatchNormalizationBackward",
           API->miopenBatchNormalizationBackward(
               world.handle, mode(norm), &one, &zero, &one, &zero, s.x_desc, s.x_memory.device,
               s.x_desc, dy.device, s.x_desc, dx.device, s.p_desc, s.scale.device, dscale.device,
               dbias.device, norm->epsilon, mean.device, inverse.device));
    close_scene(&s);
    memory_close(&y, false);
    memory_close(&mean, false);
    memory_close(&inverse, false);
    memory_close(&dy, true);
    memory_close(&dx, false);
    memory_close(&dscale, false);
    memory_close(&dbias, false);
}

void norm_sequences(void)
{
    for (size_t i = 0; i < sizeof norms / sizeof *norms; i++) {
        const struct norm *norm = &norms[i];
        struct sequence train = { "norm", "torch-norm", norm->name, "training", training, norm },
                        infer = { "norm", "torch-norm", norm->name, "inference", inference, norm },
                        back = { "norm", "torch-norm", norm->name, "backward", backward, norm };
        sequence_run(&train, false);
        if (norm->running) sequence_run(&infer, false);
        sequence_run(&back, false);
    }
}
