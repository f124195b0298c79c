/* miopen_host: host time of MIOpen calls, made as PyTorch makes them: the first of a shape and
 * later ones. usage: miopen_host [HIP-LIBRARY [--first]]
 *
 * With the HIP library of the tests whose kernels do nothing (libfake_hip_null.so) what remains is
 * the host's work; with RMCP_DEVICE=cpu and no library the calls compute, too. Works with any
 * libMIOpen.so.1 and libamdhip64: ours is the one it is built with, LD_PRELOAD puts another in its
 * place.
 *
 * --first: only the first convolution of a process, from the beginning of main. */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 2001 }; /* medians of so many */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(int status, const char *what)
{
    if (!status) return;
    fprintf(stderr, "miopen_host: %s: %s\n", what, miopenGetErrorString((miopenStatus_t)status));
    exit(1);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- what is timed ---- */

static miopenHandle_t handle;
static struct client_conv conv;
static struct client_norm norm;
static enum client_pass pass;
static miopenConvSolution_t solution;
static int algorithm;

static int set_stream(void)
{
    return miopenSetStream(handle, NULL);
}

static int descriptors(void)
{
    client_forget(&conv);
    return client_describe(&conv);
}

static int ask(void)
{
    return client_solution(handle, &conv, pass, false, &solution);
}

static int triple(void)
{
    return client_immediate(handle, &conv, pass, false);
}

/* All that PyTorch does in one call of immediate mode. */
static int whole(void)
{
    int status = set_stream();
    if (!status) status = descriptors();
    return status ? status : triple();
}

static int find(void)
{
    return client_find(handle, &conv, pass, &algorithm);
}

static int found(void)
{
    return client_found(handle, &conv, pass, algorithm);
}

static int train(void)
{
    return client_norm_train(handle, &norm);
}

static int infer(void)
{
    return client_norm_infer(handle, &norm);
}

static int backward(void)
{
    return client_norm_backward(handle, &norm);
}

/* Microseconds: one call; the median of many. */
static double once(int (*call)(void), const char *what)
{
    const double start = now();
    const int status = call();
    const double end = now();
    check(status, what);
    return 1e6 * (end - start);
}

static double often(int (*call)(void), const char *what)
{
    static double times[REPEATS];
    for (int i = 0; i < REPEATS; i++) times[i] = once(call, what);
    qsort(times, REPEATS, sizeof *times, by_value);
    return times[REPEATS / 2];
}

/* ---- the tables ---- */

static const struct {
    const char *name;
    struct client_shape shape;
} layers[] = {
    { "ResNet-50 3x3", { 1, 64, 56, 56, 64, 3, 1, 1, 1, miopenFloat, false } },
    { "ResNet-50 1x1", { 1, 256, 56, 56, 64, 1, 0, 1, 1, miopenFloat, false } },
    { "ResNet-50 first", { 1, 3, 224, 224, 64, 7, 3, 2, 1, miopenFloat, false } },
    { "depthwise f16", { 1, 96, 28, 28, 96, 3, 1, 1, 96, miopenHalf, true } },
};
static const char *const pass_names[] = { "forward", "data", "weights" };

static void convolutions(void)
{
    printf("%-16s %-8s %10s %10s %10s %10s %10s %10s %10s\n", "", "", "triple", "again",
           "of it ask", "PyTorch", "find", "again", "found");
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        for (int p = 0; p < CLIENT_PASSES; p++) {
            pass = (enum client_pass)p;
            if (!client_conv_init(&conv, &layers[i].shape))
                check(miopenStatusAllocFailed, "memory");
            check(client_describe(&conv), "descriptors");
            /* Its memory is there from the beginning, as PyTorch's is, which keeps it. */
            if (!client_workspace(&conv, 64 << 20)) check(miopenStatusAllocFailed, "workspace");
            const double first = once(triple, layers[i].name),
                         later = often(triple, layers[i].name);
            const double asking = often(ask, layers[i].name), all = often(whole, layers[i].name);
            /* A handle that does not know the shape yet. */
            miopenHandle_t knowing = handle;
            check(miopenCreate(&handle), "miopenCreate");
            const double search = once(find, layers[i].name), again = once(find, layers[i].name);
            const double use = often(found, layers[i].name);
            check(miopenDestroy(handle), "miopenDestroy");
            handle = knowing;
            printf("%-16s %-8s %10.1f %10.2f %10.2f %10.2f %10.1f %10.1f %10.2f\n", layers[i].name,
                   pass_names[p], first, later, asking, all, search, again, use);
            client_conv_deinit(&conv);
        }
}

static void norms(void)
{
    static const struct {
        const char *name;
        int (*call)(void);
    } calls[] = { { "train", train }, { "infer", infer }, { "backward", backward } };
    printf("\n%-25s %10s %10s\n", "batch norm", "first", "again");
    for (int type = miopenHalf; type <= miopenFloat; type++) {
        if (!client_norm_init(&norm, 1, 64, 56, 56, (miopenDataType_t)type))
            check(miopenStatusAllocFailed, "batch norm");
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
            const double first = once(calls[i].call, calls[i].name);
            printf("%-16s %-8s %10.1f %10.2f\n", calls[i].name, type == miopenFloat ? "f32" : "f16",
                   first, often(calls[i].call, calls[i].name));
        }
        client_norm_deinit(&norm);
    }
}

static void small_calls(void)
{
    if (!client_conv_init(&conv, &layers[0].shape)) check(miopenStatusAllocFailed, "memory");
    printf("\n%-25s %10s\n", "", "again");
    printf("%-25s %10.3f\n", "SetStream", often(set_stream, "SetStream"));
    printf("%-25s %10.3f\n", "descriptors of one call", often(descriptors, "descriptors"));
    client_conv_deinit(&conv);
}

/* Milliseconds from `start` until the handle is there, and until the first convolution is
 * submitted. */
static void first_use(double start)
{
    check(miopenCreate(&handle), "miopenCreate");
    const double created = now();
    if (!client_conv_init(&conv, &layers[0].shape)) check(miopenStatusAllocFailed, "memory");
    check(client_describe(&conv), "descriptors");
    check(triple(), "the first convolution");
    const double end = now();
    pass = CLIENT_BACKWARD_DATA;
    check(triple(), "the second");
    printf("handle %.2f ms, first convolution %.2f ms more, another pass of it %.2f ms more\n",
           1e3 * (created - start), 1e3 * (end - created), 1e3 * (now() - end));
    client_conv_deinit(&conv);
    check(miopenDestroy(handle), "miopenDestroy");
}

int main(int argc, char **argv)
{
    const double start = now();
    const char *library = argc > 1 ? argv[1] : NULL;
    if (!client_begin(library)) return 1;
    if (library) setenv("RMCP_HIP_LIBRARY", library, 0);
    if (argc > 2 && !strcmp(argv[2], "--first")) {
        first_use(start);
        return 0;
    }
    size_t major = 0, minor = 0, patch = 0;
    check(miopenGetVersion(&major, &minor, &patch), "miopenGetVersion");
    printf("MIOpen %zu.%zu.%zu; microseconds, medians of %d but for first calls\n", major, minor,
           patch, (int)REPEATS);
    check(miopenCreate(&handle), "miopenCreate");
    convolutions();
    norms();
    small_calls();
    check(miopenDestroy(handle), "miopenDestroy");
    return 0;
}
