/* gpu_streams.c: plans inside a captured graph, and four threads on four streams, bit for bit the
 * same as alone. For machines with a GPU: gpu_streams [cuda|hip|cpu], the last without streams and
 * graphs.
 *
 * The streams and the graph are made with the GPU's own library, as a program that uses ours would.
 */
#include <rmcp.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_THREADS = 4, ROUNDS = 20, REPLAYS = 3 };

static const char *const cases[] = {
    "n4c64h28w28k96r3s3p1:f32:nchw",   "n8c128h14w14k64r1s1:f32:nhwc",
    "n2c32h33w31k48r3s3p1u2:f16:nchw", "n2c64h30w30k64r3s3p1g64:f32:nhwc",
    "n1c16h20w20k32r5s5p2:bf16:nhwc",
};
enum { N_CASES = sizeof cases / sizeof *cases, N_WORKS = N_CASES * RMCP_CONV_PASSES };

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "gpu_streams: %s: %s\n", what, why);
    exit(1);
}

static void check(rmcp_status status, const char *what)
{
    if (status) fail(what, rmcp_last_error());
}

/* ---- the GPU's own library ---- */

/* The functions of both libraries take the same parameters. */
enum call {
    STREAM_CREATE,
    STREAM_DESTROY,
    STREAM_WAIT,
    BEGIN,
    END,
    INSTANTIATE,
    LAUNCH,
    EXEC_DESTROY,
    GRAPH_DESTROY,
    N_CALLS
};
static const struct library {
    const char *device, *file, *names[N_CALLS];
} libraries[] = {
    { "cuda",
      "libcuda.so.1",
      { "cuStreamCreate", "cuStreamDestroy_v2", "cuStreamSynchronize", "cuStreamBeginCapture_v2",
        "cuStreamEndCapture", "cuGraphInstantiateWithFlags", "cuGraphLaunch", "cuGraphExecDestroy",
        "cuGraphDestroy" } },
    { "hip",
      "libamdhip64.so",
      { "hipStreamCreateWithFlags", "hipStreamDestroy", "hipStreamSynchronize",
        "hipStreamBeginCapture", "hipStreamEndCapture", "hipGraphInstantiateWithFlags",
        "hipGraphLaunch", "hipGraphExecDestroy", "hipGraphDestroy" } },
};

static const struct library *library; /* NULL: a device without streams */
static void *handle, *context;

static void *symbol(const char *name)
{
    void *address = dlsym(handle, name);
    if (!address) fail("no such function", name);
    return address;
}

static void ok(int code, const char *what)
{
    char text[32];
    snprintf(text, sizeof text, "error %d", code);
    if (code) fail(what, text);
}

/* Call function `c` with up to three parameters; pointers and small numbers travel alike. */
static void gpu(enum call c, void *a, void *b, void *d)
{
    int (*function)(void *, void *, void *);
    void *address = symbol(library->names[c]);
    memcpy(&function, &address, sizeof function);
    ok(function(a, b, d), library->names[c]);
}

static void gpu_init(const char *device)
{
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (!strncmp(device, libraries[i].device, strlen(libraries[i].device)))
            library = &libraries[i];
    if (!library) return;
    handle = dlopen(library->file, RTLD_NOW);
    if (!handle) fail(library->file, dlerror());
    if (strcmp(library->device, "cuda")) return;
    int (*init)(unsigned), (*retain)(void **, int);
    void *address = symbol("cuInit");
    memcpy(&init, &address, sizeof init);
    ok(init(0), "cuInit");
    address = symbol("cuDevicePrimaryCtxRetain");
    memcpy(&retain, &address, sizeof retain);
    ok(retain(&context, 0), "cuDevicePrimaryCtxRetain");
}

/* What CUDA wants of each thread that makes streams itself. */
static void gpu_enter(void)
{
    if (!context) return;
    int (*set)(void *);
    void *address = symbol("cuCtxSetCurrent");
    memcpy(&set, &address, sizeof set);
    ok(set(context), "cuCtxSetCurrent");
}

static void *stream_create(void)
{
    void *stream = NULL;
    if (library)
        gpu(STREAM_CREATE, &stream, (void *)1, NULL); /* 1: not tied to the default stream */
    return stream;
}

/* ---- one convolution with its memory ---- */

struct work {
    rmcp_conv problem;
    rmcp_conv_pass pass;
    rmcp_plan *plan; /* shared by all threads */
    uint64_t bytes[3], workspace_bytes;
};

/* Memory of one thread for one work. */
struct tensors {
    rmcp_memory memory[3], workspace;
    unsigned char *result, *expected;
};

static int output_of(const struct work *w)
{
    return w->pass == RMCP_CONV_FORWARD ? 2 : w->pass == RMCP_CONV_BACKWARD_DATA ? 0 : 1;
}

static void work_init(struct work *w, rmcp_device *device, const char *text, int pass)
{
    rmcp_conv_info shape = { .struct_size = sizeof shape };
    w->problem.struct_size = sizeof w->problem;
    w->pass = (rmcp_conv_pass)pass;
    check(rmcp_conv_parse(text, &w->problem, NULL), text);
    check(rmcp_conv_describe(&w->problem, &shape), text);
    w->bytes[0] = shape.x_bytes, w->bytes[1] = shape.w_bytes, w->bytes[2] = shape.y_bytes;
    check(rmcp_conv_plan(device, &w->problem, w->pass, NULL, &w->plan), text);
    w->workspace_bytes = rmcp_plan_workspace(w->plan);
}

static void write_random(rmcp_device *device, rmcp_memory memory, uint64_t bytes, unsigned seed)
{
    uint32_t *data = malloc(bytes + 4);
    if (!data) fail("out of memory", "");
    for (uint64_t i = 0; i < (bytes + 3) / 4; i++) { /* small numbers in every type */
        seed = seed * 1664525u + 1013904223u;
        data[i] = 0x3c003c00u | (seed >> 8 & 0x80ff80ffu);
    }
    check(rmcp_copy_to_device(device, NULL, memory, data, bytes), "copy");
    free(data);
}

static void tensors_init(struct tensors *t, rmcp_device *device, const struct work *w,
                         unsigned seed)
{
    const uint64_t output = w->bytes[output_of(w)];
    for (int i = 0; i < 3; i++) {
        check(rmcp_buffer_create(device, w->bytes[i], &t->memory[i]), "buffer");
        write_random(device, t->memory[i], w->bytes[i], seed + (unsigned)i);
    }
    if (w->workspace_bytes)
        check(rmcp_buffer_create(device, w->workspace_bytes, &t->workspace), "workspace");
    t->result = malloc(output);
    t->expected = malloc(output);
    if (!t->result || !t->expected) fail("out of memory", "");
}

static void tensors_deinit(struct tensors *t, rmcp_device *device)
{
    for (int i = 0; i < 3; i++) rmcp_buffer_destroy(device, t->memory[i]);
    rmcp_buffer_destroy(device, t->workspace);
    free(t->result);
    free(t->expected);
}

static void execute(const rmcp_plan *plan, const struct work *w, const struct tensors *t,
                    void *stream)
{
    const rmcp_conv_tensors tensors = { .struct_size = sizeof tensors,
                                        .x = t->memory[0],
                                        .w = t->memory[1],
                                        .y = t->memory[2],
                                        .workspace = t->workspace,
                                        .workspace_bytes = w->workspace_bytes };
    check(rmcp_conv_execute(plan, stream, &tensors), "execute");
}

static void read_output(rmcp_device *device, const struct work *w, const struct tensors *t,
                        void *stream, void *out)
{
    const int i = output_of(w);
    check(rmcp_copy_to_host(device, stream, out, t->memory[i], w->bytes[i]), "copy");
}

static void spoil_output(rmcp_device *device, const struct work *w, const struct tensors *t,
                         void *stream)
{
    const int i = output_of(w);
    memset(t->result, 0xff, w->bytes[i]);
    check(rmcp_copy_to_device(device, stream, t->memory[i], t->result, w->bytes[i]), "copy");
}

static void compare(const struct work *w, const struct tensors *t, const char *where)
{
    char text[RMCP_CASE_MAX];
    check(rmcp_conv_print(&w->problem, (int)w->pass, text, sizeof text), "print");
    if (memcmp(t->result, t->expected, w->bytes[output_of(w)])) fail(where, text);
}

/* ---- a captured graph ---- */

/* All works in one graph. They are planned inside the capture, on a device opened anew, so that it
 * is there that kernels are loaded. */
static void test_graph(const char *spec, const struct work *works)
{
    rmcp_device *device = NULL;
    struct tensors tensors[N_WORKS] = { 0 };
    rmcp_plan *plans[N_WORKS] = { NULL };
    void *stream = stream_create(), *graph = NULL, *exec = NULL;
    check(rmcp_device_open(spec, NULL, &device), spec);
    for (int i = 0; i < N_WORKS; i++) {
        tensors_init(&tensors[i], device, &works[i], (unsigned)i);
        execute(works[i].plan, &works[i], &tensors[i], stream);
        read_output(device, &works[i], &tensors[i], stream, tensors[i].expected);
    }
    gpu(BEGIN, stream, (void *)0, NULL); /* 0: the strictest mode */
    for (int i = 0; i < N_WORKS; i++) {
        check(rmcp_conv_plan(device, &works[i].problem, works[i].pass, NULL, &plans[i]),
              "planning inside a capture");
        execute(plans[i], &works[i], &tensors[i], stream);
    }
    gpu(END, stream, &graph, NULL);
    gpu(INSTANTIATE, &exec, graph, (void *)0);
    for (int replay = 0; replay < REPLAYS; replay++) {
        for (int i = 0; i < N_WORKS; i++) spoil_output(device, &works[i], &tensors[i], stream);
        gpu(LAUNCH, exec, stream, NULL);
        gpu(STREAM_WAIT, stream, NULL, NULL);
        for (int i = 0; i < N_WORKS; i++) {
            read_output(device, &works[i], &tensors[i], stream, tensors[i].result);
            compare(&works[i], &tensors[i], "a graph gives another result");
        }
    }
    gpu(EXEC_DESTROY, exec, NULL, NULL);
    gpu(GRAPH_DESTROY, graph, NULL, NULL);
    gpu(STREAM_DESTROY, stream, NULL, NULL);
    for (int i = 0; i < N_WORKS; i++) {
        tensors_deinit(&tensors[i], device);
        rmcp_plan_destroy(plans[i]);
    }
    rmcp_device_close(device);
    printf("graph: %d convolutions captured, %d replays, all the same bits\n", (int)N_WORKS,
           (int)REPLAYS);
}

/* ---- threads ---- */

struct worker {
    pthread_t thread;
    rmcp_device *device;
    const struct work *works;
    struct tensors tensors[N_WORKS];
};

static void *run_worker(void *argument)
{
    struct worker *w = argument;
    gpu_enter();
    void *stream = stream_create();
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N_WORKS; i++) {
            spoil_output(w->device, &w->works[i], &w->tensors[i], stream);
            execute(w->works[i].plan, &w->works[i], &w->tensors[i], stream);
        }
        for (int i = 0; i < N_WORKS; i++) {
            read_output(w->device, &w->works[i], &w->tensors[i], stream, w->tensors[i].result);
            compare(&w->works[i], &w->tensors[i], "threads give another result");
        }
    }
    if (stream) gpu(STREAM_DESTROY, stream, NULL, NULL);
    return NULL;
}

static void test_threads(rmcp_device *device, const struct work *works)
{
    static struct worker workers[N_THREADS];
    for (int t = 0; t < N_THREADS; t++) {
        struct worker *w = &workers[t];
        w->device = device;
        w->works = works;
        for (int i = 0; i < N_WORKS; i++) {
            tensors_init(&w->tensors[i], device, &works[i], (unsigned)(1000 * t + i));
            execute(works[i].plan, &works[i], &w->tensors[i], NULL);
            read_output(device, &works[i], &w->tensors[i], NULL, w->tensors[i].expected);
        }
    }
    for (int t = 0; t < N_THREADS; t++)
        if (pthread_create(&workers[t].thread, NULL, run_worker, &workers[t]))
            fail("no thread", "");
    for (int t = 0; t < N_THREADS; t++) pthread_join(workers[t].thread, NULL);
    for (int t = 0; t < N_THREADS; t++)
        for (int i = 0; i < N_WORKS; i++) tensors_deinit(&workers[t].tensors[i], device);
    printf("threads: %d threads on %s, %d rounds of %d convolutions, all the same bits as alone\n",
           (int)N_THREADS, library ? "streams of their own" : "no streams", (int)ROUNDS,
           (int)N_WORKS);
}

int main(int argc, char **argv)
{
    const char *spec = argc > 1 ? argv[1] : "cuda";
    rmcp_device *device = NULL;
    struct work works[N_WORKS] = { 0 };
    gpu_init(spec);
    gpu_enter();
    check(rmcp_device_open(spec, NULL, &device), spec);
    for (int i = 0; i < N_WORKS; i++)
        work_init(&works[i], device, cases[i / RMCP_CONV_PASSES], i % RMCP_CONV_PASSES);
    for (int i = 0; i < N_WORKS; i++)
        printf("%s%s", rmcp_plan_algorithm(works[i].plan), i + 1 < N_WORKS ? " " : "\n");
    if (library) test_graph(spec, works);
    test_threads(device, works);
    for (int i = 0; i < N_WORKS; i++) rmcp_plan_destroy(works[i].plan);
    rmcp_device_close(device);
    return 0;
}
