/* sequence_conv.c: convolutions and the clients that ask for them. */
#include "sequence_conv.h"

#include <stdio.h>
#include <string.h>

#define API (&world.api)

/* How strides are told. */
enum layout { PACKED, LAST, ODD };
/* Which clients run it: every one, or those that can have it. */
enum {
    TORCH = 1,
    ONNX = 2,
    MIGRAPHX = 4,
    XLA = 8,
    MORE = 16,
    ALL = TORCH | ONNX | MIGRAPHX | XLA | MORE
};

static const struct shape {
    const char *name;
    miopenDataType_t type;
    enum layout layout;
    int clients;
    int n_spatial;
    int x[5];                           /* n, c, spatial */
    int k, filter[3];                   /* of w */
    int pad[3], stride[3], dilation[3]; /* 0 means stride or dilation 1 */
    int groups;                         /* 0 means 1 */
    miopenConvolutionMode_t mode;
} shapes[] = {
#include "sequence_shapes.inc"
};

static const struct client {
    const char *name;
    int of; /* the shapes that it runs: those with one of these bits */
    int passes;
    enum setter setter;
    void (*body)(struct conv *conv);
    /* What is set in the convolution's descriptor: -1 for not at all. */
    int deterministic, find_mode;
    bool hidden;      /* the find mode through the function that no header has */
    const char *only; /* which shapes it needs, NULL for all */
} clients[] = {
    { "torch-2.6", TORCH | MORE, 7, SET_INT, client_immediate, 0, -1, false, NULL },
    { "torch-1.13", TORCH, 7, SET_INT, client_immediate, -1, -1, false,
      "plain grouped depthwise last" },
    { "torch-1.13-benchmark", TORCH, 7, SET_INT, client_find_exhaustive, -1, -1, false,
      "plain plain-f16 depthwise" },
    { "torch-2.6-low-memory", TORCH, 7, SET_INT, client_immediate_low_memory, 0, -1, false,
      "plain stem grouped volume last one" },
    { "torch-2.12", TORCH, 7, SET_SIZE, client_find, 0, -1, false, NULL },
    { "torch-2.12-benchmark", TORCH, 7, SET_SIZE, client_find_exhaustive, 0,
      miopenConvolutionFindModeNormal, false, "plain plain-f16 grouped volume last" },
    { "torch-2.12-deterministic", TORCH, 7, SET_SIZE, client_find, 1, -1, false,
      "plain plain-f16 stem depthwise" },
    { "torch-2.12-low-memory", TORCH, 7, SET_SIZE, client_find_low_memory, 0, -1, false,
      "plain stem grouped volume one" },
    { "scaled", TORCH, 7, SET_INT, client_scaled, -1, -1, false,
      "plain plain-f16 grouped last volume" },
    { "onnxruntime", ONNX, 1, SET_NULL_STRIDES, client_bias, -1, -1, false, NULL },
    { "onnxruntime-4d", ONNX, 1, SET_4D, client_bias, -1, -1, false,
      "plain plain-f16 one grouped dilated line" },
    { "migraphx", MIGRAPHX, 1, SET_INT, client_problem, -1, miopenConvolutionFindModeNormal, false,
      NULL },
    { "migraphx-hidden", MIGRAPHX, 1, SET_INT, client_problem, -1, 1, true, "plain grouped" },
    { "migraphx-prepared", MIGRAPHX, 7, SET_INT, client_problem_prepared, -1, -1, false,
      "plain plain-f16 volume one" },
    { "xla", XLA, 7, SET_4D_EX, client_every_solution, -1, -1, false,
      "plain plain-f16 plain-bf16 one stem grouped" },
    { "xla-volume", XLA, 7, SET_INT, client_every_solution, -1, -1, false, "volume" },
};

struct job {
    const struct shape *shape;
    const struct client *client;
    enum pass pass;
};

static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == 0 || at[length] == ' ')) return true;
    return false;
}

/* Strides of dimensions of size 1 are whatever a view left there. */
static void stride_oddly(struct tensor *tensor)
{
    tensor_pack(tensor, false);
    for (int i = 0; i < tensor->n_dims; i++)
        if (tensor->dims[i] == 1) tensor->strides[i] = i % 2 ? 1 : 17;
}

static void lay_out(struct tensor *tensor, enum layout layout)
{
    if (layout == ODD)
        stride_oddly(tensor);
    else
        tensor_pack(tensor, layout == LAST);
}

static void fill(struct conv *c, const struct shape *shape)
{
    c->n_spatial = shape->n_spatial;
    c->groups = shape->groups ? shape->groups : 1;
    c->mode = shape->mode;
    bool transposed = c->mode == miopenTranspose;
    c->x.type = c->w.type = c->y.type = shape->type;
    c->x.n_dims = c->w.n_dims = c->y.n_dims = c->n_spatial + 2;
    memcpy(c->x.dims, shape->x, sizeof shape->x);
    c->w.dims[0] = transposed ? shape->x[1] : shape->k;
    c->w.dims[1] = (transposed ? shape->k : shape->x[1]) / c->groups;
    c->y.dims[0] = shape->x[0];
    c->y.dims[1] = shape->k;
    for (int i = 0; i < c->n_spatial; i++) {
        int filter = c->w.dims[i + 2] = shape->filter[i];
        c->pad[i] = shape->pad[i];
        c->stride[i] = shape->stride[i] ? shape->stride[i] : 1;
        c->dilation[i] = shape->dilation[i] ? shape->dilation[i] : 1;
        int reach = c->dilation[i] * (filter - 1) + 1;
        c->y.dims[i + 2] = transposed
                               ? (shape->x[i + 2] - 1) * c->stride[i] - 2 * c->pad[i] + reach
                               : (shape->x[i + 2] + 2 * c->pad[i] - reach) / c->stride[i] + 1;
    }
    lay_out(&c->x, shape->layout);
    lay_out(&c->w, shape->layout);
    lay_out(&c->y, shape->layout);
}

static void describe_conv(struct conv *c, const struct client *client)
{
    c->x_desc = describe(&c->x, client->setter);
    c->w_desc = describe(&c->w, client->setter);
    c->y_desc = describe(&c->y, client->setter);
    called("CreateConvolutionDescriptor", API->miopenCreateConvolutionDescriptor(&c->desc));
    called("InitConvolutionNdDescriptor",
           API->miopenInitConvolutionNdDescriptor(c->desc, c->n_spatial, c->pad, c->stride,
                                                  c->dilation, c->mode));
    called("SetConvolutionGroupCount", API->miopenSetConvolutionGroupCount(c->desc, c->groups));
    if (client->deterministic >= 0)
        called("SetConvolutionAttribute",
               API->miopenSetConvolutionAttribute(c->desc, MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC,
                                                  client->deterministic));
    if (client->find_mode < 0) return;
    if (client->hidden)
        called("HiddenSetConvolutionFindMode",
               API->miopenHiddenSetConvolutionFindMode(c->desc, client->find_mode));
    else
        called("SetConvolutionFindMode",
               API->miopenSetConvolutionFindMode(c->desc,
                                                 (miopenConvolutionFindMode_t)client->find_mode));
}

static void run(const void *what)
{
    const struct job *job = what;
    struct conv c = { .pass = job->pass, .alpha = 1 };
    fill(&c, job->shape);
    record_tensor("x", &c.x);
    record_tensor("w", &c.w);
    record_tensor("y", &c.y);
    record_ints("pad", c.n_spatial, c.pad);
    record_ints("stride", c.n_spatial, c.stride);
    record_ints("dilation", c.n_spatial, c.dilation);
    record_note("groups=%d mode=%d", c.groups, (int)c.mode);
    /* PyTorch sets the stream before every operation. */
    called("SetStream", API->miopenSetStream(world.handle, world.stream));
    describe_conv(&c, job->client);
    uint32_t seed = (uint32_t)(job->shape - shapes) * 8 + 1;
    if (c.pass != BACKWARD_DATA) c.x_memory = memory_input("x", &c.x, seed);
    if (c.pass != BACKWARD_WEIGHTS) c.w_memory = memory_input("w", &c.w, seed + 1);
    if (c.pass != FORWARD) c.y_memory = memory_input("y", &c.y, seed + 2);
    job->client->body(&c);
    record_note("outputs=%d", c.n_outputs);
    for (int i = 0; i < c.n_outputs; i++) memory_close(&c.outputs[i], false);
    if (c.x_memory.base) memory_close(&c.x_memory, true);
    if (c.w_memory.base) memory_close(&c.w_memory, true);
    if (c.y_memory.base) memory_close(&c.y_memory, true);
    called("DestroyConvolutionDescriptor", API->miopenDestroyConvolutionDescriptor(c.desc));
    called("DestroyTensorDescriptor", API->miopenDestroyTensorDescriptor(c.x_desc));
    called("DestroyTensorDescriptor", API->miopenDestroyTensorDescriptor(c.w_desc));
    called("DestroyTensorDescriptor", API->miopenDestroyTensorDescriptor(c.y_desc));
}

static void run_client(const struct client *client)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct shape *shape = &shapes[i];
        if (!(shape->clients & client->of) ||
            (client->only && !has_word(client->only, shape->name)))
            continue;
        for (int pass = 0; pass < N_PASSES; pass++) {
            if (!(client->passes >> pass & 1)) continue;
            struct job job = { shape, client, (enum pass)pass };
            struct sequence one = {
                "conv", client->name, shape->name, pass_names[pass], run, &job
            };
            sequence_run(&one, false);
        }
    }
}

void conv_sequences(void)
{
    for (size_t i = 0; i < sizeof clients / sizeof *clients; i++) run_client(&clients[i]);
}
