/* load_kernels.c: loads code objects made of sample_kernels.c with the HIP runtime that is there,
 * runs all kernels and compares their results.
 * usage: load_kernels LIBAMDHIP64 [-p] FILE…     -p: without the kernel "points": HIP 5.2 crashes
 * when a kernel of clang 19 calls through a pointer, since that may want all hidden arguments */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LANES = 64, TO_DEVICE = 1, TO_HOST = 2 };

static const int table[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };

static float expected(const char *kernel, const float *x, int i, int n)
{
    if (!strcmp(kernel, "plain")) return (float)n;
    if (!strcmp(kernel, "looks_up")) return (float)table[(i + n) & 7];
    if (!strcmp(kernel, "calls")) return (float)n + (x[i] * 2 + (float)i);
    if (!strcmp(kernel, "points")) return n & 1 ? x[i] * x[i] - (float)i : x[i] * 2 + (float)i;
    if (!strcmp(kernel, "compares")) return 1;
    if (!strcmp(kernel, "counts")) return (float)(5 + n);
    const int at = (i * 7 + n) & 63; /* stores */
    return (float)(at * at + n) + x[i];
}

struct hip { /* the few functions that are needed, as every HIP has them */
    int (*load)(void **module, const void *image);
    int (*find)(void **function, void *module, const char *name);
    int (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                  unsigned bz, unsigned shared, void *stream, void **arguments, void **extra);
    int (*allocate)(void **at, size_t size);
    int (*copy)(void *to, const void *from, size_t size, int kind);
    int (*synchronise)(void);
};

static int open_hip(const char *library, struct hip *hip)
{
    static const char *const names[] = {
        "hipModuleLoadData", "hipModuleGetFunction", "hipModuleLaunchKernel", "hipMalloc",
        "hipMemcpy",         "hipDeviceSynchronize"
    };
    void *handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL), *symbols[6];
    if (!handle) return printf("%s\n", dlerror()), 0;
    for (int i = 0; i < 6; i++)
        if (!(symbols[i] = dlsym(handle, names[i]))) return printf("no %s\n", names[i]), 0;
    memcpy(hip, symbols, sizeof *hip);
    return 1;
}

static int run(const struct hip *hip, void *module, const char *kernel, int n)
{
    float x[LANES], y[LANES];
    void *device = NULL, *function = NULL;
    for (int i = 0; i < LANES; i++) x[i] = (float)(i % 13) - 3;
    void *arguments[] = { &device, &n };
    int error = hip->allocate(&device, sizeof x);
    if (!error) error = hip->copy(device, x, sizeof x, TO_DEVICE);
    if (!error) error = hip->find(&function, module, kernel);
    if (!error) error = hip->launch(function, 1, 1, 1, LANES, 1, 1, 0, NULL, arguments, NULL);
    if (!error) error = hip->synchronise();
    if (!error) error = hip->copy(y, device, sizeof y, TO_HOST);
    if (error) return printf("%s: HIP error %d\n", kernel, error), 0;
    for (int i = 0; i < LANES; i++)
        if (fabsf(y[i] - expected(kernel, x, i, n)) > 0)
            return printf("%s, %d: lane %d is %g, not %g\n", kernel, n, i, (double)y[i],
                          (double)expected(kernel, x, i, n)),
                   0;
    return 1;
}

int main(int argc, char **argv)
{
    static const char *const kernels[] = { "plain",  "looks_up", "calls", "compares",
                                           "counts", "stores",   "points" };
    static char image[1 << 22];
    struct hip hip;
    int wrong = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc < 3 || !open_hip(argv[1], &hip)) return 2;
    const int n_kernels = !strcmp(argv[2], "-p") ? 6 : 7;
    for (int i = n_kernels == 6 ? 3 : 2; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        void *module = NULL;
        if (!file || !fread(image, 1, sizeof image, file)) return 2;
        fclose(file);
        const int error = hip.load(&module, image);
        if (error) printf("%s: HIP error %d\n", argv[i], error);
        wrong += error != 0;
        for (int k = 0; !error && k < n_kernels; k++)
            for (int n = 0; n < 3; n++) wrong += !run(&hip, module, kernels[k], n);
        if (!error) printf("%s: %s\n", argv[i], wrong ? "wrong" : "right");
    }
    return wrong != 0;
}
