/* test_streams.c: the drop-in on streams of the program's own and inside captures, on a HIP that
 * computes: the simulated card's, or NVIDIA's GPU behind hip_cuda.c. usage: test_streams
 * HIP-LIBRARY [PATTERN] */
#include "hostile.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- HIP ---- */

static struct {
    int (*hipStreamCreateWithFlags)(void **stream, unsigned flags);
    int (*hipStreamSynchronize)(void *stream);
    int (*hipStreamDestroy)(void *stream);
    int (*hipMemset)(void *memory, int value, size_t bytes);
    int (*hipDeviceSynchronize)(void);
    int (*hipStreamBeginCapture)(void *stream, int mode);
    int (*hipStreamEndCapture)(void *stream, void **graph);
    int (*hipGraphInstantiate)(void **exec, void *graph, void **node, char *log, size_t bytes);
    int (*hipGraphLaunch)(void *exec, void *stream);
    int (*hipGraphExecDestroy)(void *exec);
    int (*hipGraphDestroy)(void *graph);
    int (*hipRuntimeGetVersion)(int *version);
} hip;

static void *find(void *library, const char *name)
{
    void *address = dlsym(library, name);
    if (!address) {
        fprintf(stderr, "no %s\n", name);
        exit(99);
    }
    return address;
}

static void find_hip(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(99);
    }
#define FIND(name)                                                                                 \
    {                                                                                              \
        void *address = find(library, #name);                                                      \
        memcpy(&hip.name, &address, sizeof address);                                               \
    }
    FIND(hipStreamCreateWithFlags)
    FIND(hipStreamSynchronize)
    FIND(hipStreamDestroy)
    FIND(hipMemset)
    FIND(hipDeviceSynchronize)
    FIND(hipStreamBeginCapture)
    FIND(hipStreamEndCapture)
    FIND(hipGraphInstantiate)
    FIND(hipGraphLaunch)
    FIND(hipGraphExecDestroy)
    FIND(hipGraphDestroy)
    FIND(hipRuntimeGetVersion)
#undef FIND
}

#define HIP(call) assert_int_equal(hip.call, 0)

/* ---- a small network ---- */

enum { N_STREAMS = 4 };

struct network {
    miopenHandle_t handle;
    void *stream;
    struct client_conv conv[CLIENT_PASSES]; /* each for its own pass: outputs are no inputs */
    struct client_norm norm;
};

static void network_init(struct network *n, unsigned seed, int height)
{
    struct client_shape shape = hostile_shape;
    *n = (struct network){ 0 };
    shape.h = height;
    HIP(hipStreamCreateWithFlags(&n->stream, 1)); /* 1: not tied to the default stream */
    GOOD(miopenCreateWithStream(&n->handle, n->stream));
    for (int pass = 0; pass < CLIENT_PASSES; pass++) {
        hostile_conv(&n->conv[pass], &shape, seed + (unsigned)pass);
        assert_true(client_workspace(&n->conv[pass], 8 << 20));
    }
    assert_true(client_norm_init(&n->norm, 2, 8, height, 7, miopenFloat));
    float *data = malloc(n->conv[0].n_x * sizeof *data);
    assert_non_null(data);
    for (size_t i = 0; i < n->conv[0].n_x; i++) data[i] = (float)((i * 31 + seed) % 17) - 8;
    client_write(n->norm.x, data, n->conv[0].n_x * sizeof *data);
    client_write(n->norm.dy, data, n->conv[0].n_x * sizeof *data);
    free(data);
    HIP(hipDeviceSynchronize());
}

static void network_deinit(struct network *n)
{
    HIP(hipStreamSynchronize(n->stream));
    for (int pass = 0; pass < CLIENT_PASSES; pass++) client_conv_deinit(&n->conv[pass]);
    client_norm_deinit(&n->norm);
    GOOD(miopenDestroy(n->handle));
    HIP(hipStreamDestroy(n->stream));
}

static void run(struct network *n, bool by_find)
{
    for (int pass = 0; pass < CLIENT_PASSES; pass++) {
        int algorithm = 0;
        GOOD(miopenSetStream(n->handle, n->stream));
        if (!by_find) {
            GOOD(client_immediate(n->handle, &n->conv[pass], (enum client_pass)pass, false));
            continue;
        }
        GOOD(client_find(n->handle, &n->conv[pass], (enum client_pass)pass, &algorithm));
        GOOD(client_found(n->handle, &n->conv[pass], (enum client_pass)pass, algorithm));
    }
    GOOD(client_norm_train(n->handle, &n->norm));
    GOOD(client_norm_backward(n->handle, &n->norm));
}

/* Nothing is left of the results. */
static void spoil(struct network *n)
{
    HIP(hipMemset(n->conv[CLIENT_FORWARD].y, 0xff, n->conv[0].n_y * sizeof(float)));
    HIP(hipMemset(n->conv[CLIENT_BACKWARD_DATA].x, 0xff, n->conv[0].n_x * sizeof(float)));
    HIP(hipMemset(n->conv[CLIENT_BACKWARD_WEIGHTS].w, 0xff, n->conv[0].n_w * sizeof(float)));
    HIP(hipMemset(n->norm.y, 0xff, n->conv[0].n_x * sizeof(float)));
    HIP(hipMemset(n->norm.dx, 0xff, n->conv[0].n_x * sizeof(float)));
    HIP(hipDeviceSynchronize());
}

/* Convolutions of integers are exact; of the batch norm, y has mean 0 and variance 1 in each
 * channel. */
static void assert_right(struct network *n)
{
    const size_t n_x = n->conv[0].n_x;
    HIP(hipStreamSynchronize(n->stream));
    for (int pass = 0; pass < CLIENT_PASSES; pass++)
        hostile_assert_right(&n->conv[pass], (enum client_pass)pass);
    float *y = malloc(n_x * sizeof *y);
    assert_non_null(y);
    client_read(y, n->norm.y, n_x * sizeof *y);
    const int area = n->norm.h * n->norm.w;
    for (int c = 0; c < n->norm.c; c++) {
        double sum = 0, squares = 0;
        for (int i = 0; i < n->norm.n * area; i++) {
            const double value = (double)y[(i / area * n->norm.c + c) * area + i % area];
            sum += value;
            squares += value * value;
        }
        const double m = n->norm.n * area;
        if (!(sum / m < 1e-4 && sum / m > -1e-4 && squares / m < 1.001 && squares / m > 0.999))
            fail_msg("channel %d has mean %g and variance %g", c, sum / m, squares / m);
    }
    free(y);
}

/* ---- streams ---- */

static void streams_side_by_side(void **state)
{
    struct network networks[N_STREAMS];
    (void)state;
    for (int i = 0; i < N_STREAMS; i++) network_init(&networks[i], (unsigned)i, 6 + i);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N_STREAMS; i++) spoil(&networks[i]);
        for (int i = 0; i < N_STREAMS; i++) run(&networks[i], round == 2);
        for (int i = 0; i < N_STREAMS; i++) assert_right(&networks[i]);
    }
    for (int i = 0; i < N_STREAMS; i++) network_deinit(&networks[i]);
}

static void the_stream_is_the_handle_s(void **state)
{
    struct network n;
    void *stream = NULL;
    (void)state;
    network_init(&n, 1, 9);
    GOOD(miopenGetStream(n.handle, &stream));
    assert_ptr_equal(stream, n.stream);
    GOOD(miopenSetStream(n.handle, NULL));
    GOOD(miopenGetStream(n.handle, &stream));
    assert_null(stream);
    network_deinit(&n);
}

/* ---- captures ---- */

/* Captured, replayed: the same results each time. `by_find`: a search inside a capture may measure
 * nothing. */
static void capture(bool warm, bool by_find, int height)
{
    struct network n;
    void *graph = NULL, *exec = NULL;
    int version = 0;
    HIP(hipRuntimeGetVersion(&version));
    if (version < 50300000) {
        print_message(
            "HIP 5.2 executes what hipModuleLaunchKernel is given instead of recording it\n");
        skip();
    }
    network_init(&n, 3, height);
    if (warm) run(&n, by_find);
    spoil(&n);
    HIP(hipStreamBeginCapture(n.stream, 0)); /* 0: the strictest mode */
    run(&n, by_find);
    HIP(hipStreamEndCapture(n.stream, &graph));
    assert_non_null(graph);
    HIP(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    for (int replay = 0; replay < 3; replay++) {
        spoil(&n);
        HIP(hipGraphLaunch(exec, n.stream));
        assert_right(&n);
    }
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));
    network_deinit(&n);
}

static void captured_after_a_first_run(void **state)
{
    (void)state;
    capture(true, false, 10);
    capture(true, true, 11);
}

static void captured_at_once(void **state)
{
    (void)state;
    capture(false, false, 12);
    capture(false, true, 13);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_side_by_side),
        cmocka_unit_test(the_stream_is_the_handle_s),
        cmocka_unit_test(captured_after_a_first_run),
        cmocka_unit_test(captured_at_once),
    };
    if (argc < 2) return 99;
    hostile_begin(argv[1]);
    find_hip(argv[1]);
    if (argc > 2) cmocka_set_test_filter(argv[2]);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    hostile_end();
    return failed;
}
