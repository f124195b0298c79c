/* train.c: trains a small convolutional network on shapes it draws itself, on any RMCP device.
 *
 * The convolutions and the linear layer run on the device, forward and backward, through the public
 * API of librmcp; pooling, the other gradients, softmax and the optimiser are plain C on the host.
 * The same seed, device and number of threads give the same numbers in every run. */
#include "rmcp.h"
#include "shapes.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES_PER_EPOCH = 128, HELD_OUT_PART = 4 }; /* one held-out batch for four */
static const float first_rate = 0.05f, momentum = 0.9f;
static const double wanted_accuracy = 0.97;

static _Noreturn void fail(const char *message)
{
    fprintf(stderr, "train: %s\n", message);
    exit(1);
}

static void check(rmcp_status status)
{
    if (status) fail(rmcp_last_error());
}

static void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (!memory) fail("out of memory");
    return memory;
}

/* ---- the network ---- */

/* Each layer is a convolution, its bias and activation fused; a linear layer is one with a 1x1
 * filter on a 1x1 image, for which NCHW memory needs no rearranging. Give it any layers that fit
 * together, SIZE x SIZE images first and N_SHAPES scores last. */
static const struct {
    const char *name, *text;
    bool pool; /* 2x2 maximum afterwards, halving both sides */
} descriptions[] = {
    { "conv1", "c1h24w24k16r3s3p1:f32:nchw:bias:relu", true },
    { "conv2", "c16h12w12k32r3s3p1:f32:nchw:bias:relu", true },
    { "conv3", "c32h6w6k32r3s3p1:f32:nchw:bias:relu", true },
    { "linear", "c288h1w1k10r1s1:f32:nchw:bias", false },
};
enum { N_LAYERS = sizeof descriptions / sizeof *descriptions };

/* Weights or biases: on the host, where they are updated, and on the device. */
struct parameter {
    size_t count;
    float *value, *gradient, *velocity; /* one allocation */
    rmcp_memory memory;
};

struct layer {
    const char *name;
    rmcp_conv problem;
    rmcp_conv_info shape;
    rmcp_plan *plan[RMCP_CONV_PASSES]; /* the first layer needs no backward data: NULL */
    struct parameter w, bias;
    rmcp_memory x, y, w_gradient; /* on the way back x and y hold the gradients of x and y */
    size_t n_out;
    float *out, *out_gradient; /* y, pooled where there is pooling; one allocation     */
    uint32_t *out_from;        /* which element of y each is; NULL where nothing pools */
};

struct network {
    rmcp_device *device;
    struct layer layer[N_LAYERS];
    rmcp_memory workspace; /* shared: one plan runs at a time */
    uint64_t workspace_bytes;
    float *unpooled; /* y or its gradient on its way between host and device */
};

static void upload(const struct network *net, rmcp_memory to, const float *from, uint64_t bytes)
{
    check(rmcp_copy_to_device(net->device, NULL, to, from, bytes));
}

static void download(const struct network *net, float *to, rmcp_memory from, uint64_t bytes)
{
    check(rmcp_copy_to_host(net->device, NULL, to, from, bytes));
}

/* Random numbers up to +-limit; for biases 0. */
static void init_parameter(const struct network *net, struct parameter *p, uint64_t bytes,
                           float limit, uint64_t *random)
{
    p->count = (size_t)bytes / sizeof(float);
    p->value = allocate(3 * (size_t)bytes);
    p->gradient = p->value + p->count;
    p->velocity = p->gradient + p->count;
    for (size_t i = 0; i < p->count && limit > 0; i++) p->value[i] = uniform(random, -limit, limit);
    check(rmcp_buffer_create(net->device, bytes, &p->memory));
    upload(net, p->memory, p->value, bytes);
}

/* All plans are made here, once. Estimated, not measured: a measurement may choose otherwise in the
 * next run, and other algorithms round otherwise. */
static void init_layer(struct network *net, int index, uint64_t *random)
{
    struct layer *layer = &net->layer[index];
    layer->name = descriptions[index].name;
    layer->problem.struct_size = sizeof layer->problem;
    layer->shape.struct_size = sizeof layer->shape;
    check(rmcp_conv_parse(descriptions[index].text, &layer->problem, NULL));
    layer->problem.n = BATCH;
    check(rmcp_conv_describe(&layer->problem, &layer->shape));

    for (int pass = 0; pass < RMCP_CONV_PASSES; pass++) {
        if (index == 0 && pass == RMCP_CONV_BACKWARD_DATA) continue;
        rmcp_plan **plan = &layer->plan[pass];
        check(rmcp_conv_plan(net->device, &layer->problem, (rmcp_conv_pass)pass, NULL, plan));
        const uint64_t bytes = rmcp_plan_workspace(*plan);
        if (bytes > net->workspace_bytes) net->workspace_bytes = bytes;
    }
    const rmcp_conv_info *shape = &layer->shape;
    check(rmcp_buffer_create(net->device, shape->x_bytes, &layer->x));
    check(rmcp_buffer_create(net->device, shape->y_bytes, &layer->y));
    check(rmcp_buffer_create(net->device, shape->w_bytes, &layer->w_gradient));
    /* A variance of 2 / inputs per output keeps the scale of the signal through relu. */
    const int64_t inputs = layer->problem.c * layer->problem.filter[0] * layer->problem.filter[1];
    init_parameter(net, &layer->w, shape->w_bytes, sqrtf(6.0f / (float)inputs), random);
    init_parameter(net, &layer->bias, shape->bias_bytes, 0, random);

    const uint64_t given = index ? net->layer[index - 1].n_out : BATCH * PIXELS;
    if (shape->x_bytes != given * sizeof(float)) fail("a layer does not fit the one before it");
    const bool pools = descriptions[index].pool;
    layer->n_out = shape->y_bytes / sizeof(float) / (pools ? 4 : 1);
    layer->out = allocate(2 * layer->n_out * sizeof(float));
    layer->out_gradient = layer->out + layer->n_out;
    if (pools) layer->out_from = allocate(layer->n_out * sizeof(uint32_t));
}

static void init_network(struct network *net, rmcp_device *device, uint64_t *random)
{
    *net = (struct network){ .device = device };
    uint64_t largest = 0;
    for (int i = 0; i < N_LAYERS; i++) {
        init_layer(net, i, random);
        if (net->layer[i].shape.y_bytes > largest) largest = net->layer[i].shape.y_bytes;
    }
    net->unpooled = allocate(largest);
    if (net->workspace_bytes)
        check(rmcp_buffer_create(device, net->workspace_bytes, &net->workspace));
}

static void deinit_network(struct network *net)
{
    for (struct layer *layer = net->layer; layer < net->layer + N_LAYERS; layer++) {
        for (int pass = 0; pass < RMCP_CONV_PASSES; pass++) rmcp_plan_destroy(layer->plan[pass]);
        rmcp_buffer_destroy(net->device, layer->x);
        rmcp_buffer_destroy(net->device, layer->y);
        rmcp_buffer_destroy(net->device, layer->w_gradient);
        rmcp_buffer_destroy(net->device, layer->w.memory);
        rmcp_buffer_destroy(net->device, layer->bias.memory);
        free(layer->w.value);
        free(layer->bias.value);
        free(layer->out);
        free(layer->out_from);
    }
    rmcp_buffer_destroy(net->device, net->workspace);
    free(net->unpooled);
}

/* ---- forward and backward ---- */

static void execute(const struct network *net, const struct layer *layer, rmcp_conv_pass pass)
{
    const rmcp_conv_tensors tensors = {
        .struct_size = sizeof tensors,
        .x = layer->x,
        .w = pass == RMCP_CONV_BACKWARD_WEIGHTS ? layer->w_gradient : layer->w.memory,
        .y = layer->y,
        .bias = layer->bias.memory,
        .workspace = net->workspace,
        .workspace_bytes = net->workspace_bytes,
    };
    check(rmcp_conv_execute(layer->plan[pass], NULL, &tensors));
}

/* The largest of each 2x2 window, and where it was. */
static void pool(struct layer *layer, const float *y)
{
    const uint32_t width = (uint32_t)layer->shape.output[1];
    size_t i = 0;
    for (uint32_t row = 0; i < layer->n_out; row += 2 * width)
        for (uint32_t at = row; at < row + width; at += 2, i++) {
            const uint32_t below = at + width;
            const uint32_t upper = y[at] >= y[at + 1] ? at : at + 1;
            const uint32_t lower = y[below] >= y[below + 1] ? below : below + 1;
            layer->out_from[i] = y[upper] >= y[lower] ? upper : lower;
            layer->out[i] = y[layer->out_from[i]];
        }
}

/* The gradient goes to the largest of each window; the others get none. */
static void unpool(const struct layer *layer, float *y_gradient)
{
    memset(y_gradient, 0, layer->shape.y_bytes);
    for (size_t i = 0; i < layer->n_out; i++)
        y_gradient[layer->out_from[i]] = layer->out_gradient[i];
}

/* Done before unpool, with four times fewer elements: relu and the maximum may change places. */
static void relu_gradient(struct layer *layer)
{
    for (size_t i = 0; i < layer->n_out; i++)
        layer->out_gradient[i] = layer->out[i] > 0 ? layer->out_gradient[i] : 0;
}

/* The sum over images and pixels; unpool, which comes later, only adds zeros to it. */
static void bias_gradient(struct layer *layer)
{
    const size_t area = layer->n_out / (BATCH * layer->bias.count);
    const float *gradient = layer->out_gradient;
    memset(layer->bias.gradient, 0, layer->shape.bias_bytes);
    for (size_t n = 0; n < BATCH; n++)
        for (size_t k = 0; k < layer->bias.count; k++, gradient += area) {
            float sum = 0;
            for (size_t i = 0; i < area; i++) sum += gradient[i];
            layer->bias.gradient[k] += sum;
        }
}

/* Leaves the scores, N_SHAPES of them for each image, in `out` of the last layer. */
static void forward(struct network *net, const float *images)
{
    const float *x = images;
    for (int i = 0; i < N_LAYERS; i++) {
        struct layer *layer = &net->layer[i];
        float *y = layer->out_from ? net->unpooled : layer->out;
        upload(net, layer->x, x, layer->shape.x_bytes);
        execute(net, layer, RMCP_CONV_FORWARD);
        download(net, y, layer->y, layer->shape.y_bytes);
        if (layer->out_from) pool(layer, y);
        x = layer->out;
    }
}

/* From the gradient of the scores, `out_gradient` of the last layer, to those of all parameters. */
static void backward(struct network *net)
{
    for (int i = N_LAYERS - 1; i >= 0; i--) {
        struct layer *layer = &net->layer[i];
        float *y_gradient = layer->out_from ? net->unpooled : layer->out_gradient;
        if (layer->problem.activation == RMCP_RELU) relu_gradient(layer);
        bias_gradient(layer);
        if (layer->out_from) unpool(layer, y_gradient);
        upload(net, layer->y, y_gradient, layer->shape.y_bytes);
        execute(net, layer, RMCP_CONV_BACKWARD_WEIGHTS);
        download(net, layer->w.gradient, layer->w_gradient, layer->shape.w_bytes);
        if (i == 0) break;
        execute(net, layer,
                RMCP_CONV_BACKWARD_DATA); /* overwrites x, which nobody needs any more */
        download(net, net->layer[i - 1].out_gradient, layer->x, layer->shape.x_bytes);
    }
}

/* Mean cross-entropy of softmax over the batch; leaves its gradient in `out_gradient`. */
static double softmax_loss(struct layer *last, const enum shape *labels)
{
    const float *scores = last->out;
    float *gradient = last->out_gradient;
    double loss = 0;
    for (int n = 0; n < BATCH; n++, scores += N_SHAPES, gradient += N_SHAPES) {
        float largest = scores[0], sum = 0;
        for (int k = 1; k < N_SHAPES; k++) largest = fmaxf(largest, scores[k]);
        for (int k = 0; k < N_SHAPES; k++) sum += gradient[k] = expf(scores[k] - largest);
        for (int k = 0; k < N_SHAPES; k++) gradient[k] /= sum * BATCH;
        gradient[labels[n]] -= 1.0f / BATCH;
        loss += logf(sum) - (scores[labels[n]] - largest);
    }
    return loss / BATCH;
}

static void update(const struct network *net, struct parameter *p, float rate)
{
    for (size_t i = 0; i < p->count; i++) {
        p->velocity[i] = momentum * p->velocity[i] - rate * p->gradient[i];
        p->value[i] += p->velocity[i];
    }
    upload(net, p->memory, p->value, p->count * sizeof(float));
}

static double train_batch(struct network *net, const struct batch *batch, float rate)
{
    forward(net, batch->images);
    const double loss = softmax_loss(&net->layer[N_LAYERS - 1], batch->labels);
    backward(net);
    for (int i = 0; i < N_LAYERS; i++) {
        update(net, &net->layer[i].w, rate);
        update(net, &net->layer[i].bias, rate);
    }
    return loss;
}

/* `random` comes by value: every call draws the same images, which training never sees. */
static double held_out_accuracy(struct network *net, struct batch *batch, int n_batches,
                                uint64_t random)
{
    int n_right = 0;
    for (int i = 0; i < n_batches; i++) {
        draw_batch(batch, &random);
        forward(net, batch->images);
        const float *scores = net->layer[N_LAYERS - 1].out;
        for (int n = 0; n < BATCH; n++, scores += N_SHAPES) {
            int best = 0;
            for (int k = 1; k < N_SHAPES; k++)
                if (scores[k] > scores[best]) best = k;
            n_right += best == (int)batch->labels[n];
        }
    }
    return (double)n_right / ((double)n_batches * BATCH);
}

/* ---- the program ---- */

static const char help[] =
    "usage: train [--device SPEC] [--epochs N] [--batches N] [--seed N] [--threads N]\n\n"
    "Trains a small convolutional network to tell ten shapes apart. The exit status is 0 when it\n"
    "then names more than 97 % of the images right that it was not trained on, else 1.\n\n"
    "  --device SPEC  cpu, opencl, opencl:1 ...; auto, the default, takes the best one\n"
    "  --epochs N     rounds of fresh images, 1 to 1000 (default 6)\n"
    "  --batches N    batches of 64 images a round, 1 to 10000 (default 128)\n"
    "  --seed N       start of the random numbers (default 1)\n"
    "  --threads N    threads of the cpu device, 1 to 4096 (default 1)\n"
    "  --help         this text\n";

struct options {
    const char *device;
    int n_epochs, n_batches;
    uint32_t threads;
    uint64_t seed;
};

/* Ends where the line began, so that the line of the epoch, which is longer, replaces it. */
static void show_progress(int epoch, int batch, int n_batches)
{
    static const char bar[] = "########################################";
    if (!isatty(STDERR_FILENO)) return;
    fprintf(stderr, "\repoch %d [%-40.*s]\r", epoch, batch * 40 / n_batches, bar);
}

/* Every image is drawn for one batch and never seen again. Returns the held-out accuracy. */
static double train(struct network *net, const struct options *options, uint64_t *random)
{
    struct batch *batch = allocate(sizeof *batch);
    const uint64_t held_out = next_random(random);
    const int n_batches = options->n_batches, n_epochs = options->n_epochs;
    double accuracy = 0;
    for (int epoch = 0; epoch < n_epochs; epoch++) {
        double loss = 0;
        for (int i = 0; i < n_batches; i++) {
            const float done = (float)epoch + (float)i / (float)n_batches;
            show_progress(epoch + 1, i, n_batches);
            draw_batch(batch, random);
            loss += train_batch(net, batch, first_rate * (1 - done / (float)n_epochs));
        }
        accuracy = held_out_accuracy(net, batch, (n_batches + HELD_OUT_PART - 1) / HELD_OUT_PART,
                                     held_out);
        printf("epoch %d of %d: loss %.4f, held-out accuracy %.2f %%\n", epoch + 1, n_epochs,
               loss / n_batches, 100 * accuracy);
        fflush(stdout);
    }
    free(batch);
    return accuracy;
}

static void print_layers(const struct network *net)
{
    static const char format[] = "%-7s %-43s %-14s %-14s %s\n";
    size_t n_parameters = 0;
    puts("");
    printf(format, "layer", "problem", "forward", "backward data", "backward weights");
    for (int i = 0; i < N_LAYERS; i++) {
        const struct layer *layer = &net->layer[i];
        char text[RMCP_CASE_MAX];
        check(rmcp_conv_print(&layer->problem, -1, text, sizeof text));
        printf(format, layer->name, text, rmcp_plan_algorithm(layer->plan[RMCP_CONV_FORWARD]),
               i ? rmcp_plan_algorithm(layer->plan[RMCP_CONV_BACKWARD_DATA]) : "-",
               rmcp_plan_algorithm(layer->plan[RMCP_CONV_BACKWARD_WEIGHTS]));
        n_parameters += layer->w.count + layer->bias.count;
    }
    printf("\nparameters         %zu\n", n_parameters);
}

/* Two runs that computed the same have the same digest. */
static uint64_t digest(const struct network *net)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < N_LAYERS; i++) {
        const struct parameter *both[] = { &net->layer[i].w, &net->layer[i].bias };
        for (int p = 0; p < 2; p++)
            for (size_t b = 0; b < both[p]->count * sizeof(float); b++)
                sum = (sum ^ ((const unsigned char *)both[p]->value)[b]) * UINT64_C(0x100000001b3);
    }
    return sum;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static _Noreturn void usage_error(const char *option, const char *what)
{
    fprintf(stderr, "train: '%s' %s; see train --help\n", option, what);
    exit(2);
}

static uint64_t read_number(const char *option, const char *text, uint64_t least, uint64_t most)
{
    char *end = NULL;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno) usage_error(option, "takes a whole number");
    if (value < least || value > most) usage_error(option, "is out of range");
    return value;
}

/* One thread is the default: the layers are too small to gain much from more, and the numbers are
 * then the same on every machine. */
static struct options read_options(int argc, char **argv)
{
    struct options options = {
        .device = "auto", .n_epochs = 6, .n_batches = BATCHES_PER_EPOCH, .threads = 1, .seed = 1
    };
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1]; /* argv ends with NULL */
        if (!strcmp(name, "--help")) {
            fputs(help, stdout);
            exit(0);
        }
        const bool device = !strcmp(name, "--device"), epochs = !strcmp(name, "--epochs");
        const bool batches = !strcmp(name, "--batches");
        const bool seed = !strcmp(name, "--seed"), threads = !strcmp(name, "--threads");
        if (!device && !epochs && !batches && !seed && !threads) usage_error(name, "is no option");
        if (!value) usage_error(name, "has no value");
        if (device) options.device = value;
        if (epochs) options.n_epochs = (int)read_number(name, value, 1, 1000);
        if (batches) options.n_batches = (int)read_number(name, value, 1, 10000);
        if (seed) options.seed = read_number(name, value, 0, UINT64_MAX);
        if (threads) options.threads = (uint32_t)read_number(name, value, 1, 4096);
    }
    return options;
}

int main(int argc, char **argv)
{
    const struct options options = read_options(argc, argv);
    const rmcp_device_options device_options = { .struct_size = sizeof device_options,
                                                 .threads = options.threads };
    rmcp_device_info info = { .struct_size = sizeof info };
    rmcp_device *device = NULL;
    check(rmcp_device_open(options.device, &device_options, &device));
    check(rmcp_device_describe(device, &info));
    printf("device %s: %s (%s)\n", info.spec, info.name, info.driver);

    struct network net;
    uint64_t random = options.seed;
    init_network(&net, device, &random);
    const double start = now();
    const double accuracy = train(&net, &options, &random);
    const double seconds = now() - start;
    const int64_t n_images = (int64_t)options.n_epochs * options.n_batches * BATCH;

    print_layers(&net);
    printf("images seen        %" PRId64 "\n", n_images);
    printf("seconds            %.1f\n", seconds);
    printf("images per second  %.0f\n", (double)n_images / seconds);
    printf("weights            %016" PRIx64 " (a digest of their bits)\n", digest(&net));
    printf("held-out accuracy  %.2f %%\n", 100 * accuracy);
    deinit_network(&net);
    rmcp_device_close(device);
    if (fflush(stdout) || ferror(stdout)) fail("cannot write to standard output");
    if (!(accuracy > wanted_accuracy)) fail("the held-out accuracy is not above 97 %");
    return 0;
}
