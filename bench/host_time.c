/* host_time: how long the host takes to plan (the first time, a new shape, the same again) and to
 * submit an execution. usage: host_time [DEVICE [CASE…]]
 *
 * "new" is the median over batches that were not planned before: most find their kernels loaded and
 * tried. With RMCP_HIP_LIBRARY naming the library of the tests whose kernels do nothing
 * (libfake_hip_null.so) and RMCP_GUARD=0, execute is our own share of it. */
#include <rmcp.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 200 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(rmcp_status status)
{
    if (!status) return;
    fprintf(stderr, "host_time: %s\n", rmcp_last_error());
    exit(1);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times)
{
    qsort(times, REPEATS, sizeof *times, by_value);
    return times[REPEATS / 2];
}

/* Seconds to make a plan. */
static double plan(rmcp_device *device, const rmcp_conv *problem, int pass, rmcp_plan **out)
{
    double start = now();
    check(rmcp_conv_plan(device, problem, (rmcp_conv_pass)pass, NULL, out));
    return now() - start;
}

/* Of a batch that was not planned before. */
static double plan_new(rmcp_device *device, rmcp_conv problem, int pass)
{
    double times[REPEATS];
    for (int i = 0; i < REPEATS; i++) {
        rmcp_plan *p;
        problem.n++;
        times[i] = plan(device, &problem, pass, &p);
        rmcp_plan_destroy(p);
    }
    return median(times);
}

static double submit(rmcp_device *device, const rmcp_plan *p, const rmcp_conv_info *shape)
{
    double times[REPEATS];
    rmcp_conv_tensors t = { .struct_size = sizeof t, .workspace_bytes = rmcp_plan_workspace(p) };
    check(rmcp_buffer_create(device, shape->x_bytes, &t.x));
    check(rmcp_buffer_create(device, shape->w_bytes, &t.w));
    check(rmcp_buffer_create(device, shape->y_bytes, &t.y));
    if (shape->bias_bytes) check(rmcp_buffer_create(device, shape->bias_bytes, &t.bias));
    if (t.workspace_bytes) check(rmcp_buffer_create(device, t.workspace_bytes, &t.workspace));
    for (int i = 0; i < REPEATS; i++) {
        double start = now();
        check(rmcp_conv_execute(p, NULL, &t));
        times[i] = now() - start;
        check(rmcp_device_wait(device, NULL)); /* an empty queue each time: no waiting for room */
    }
    rmcp_buffer_destroy(device, t.x);
    rmcp_buffer_destroy(device, t.w);
    rmcp_buffer_destroy(device, t.y);
    rmcp_buffer_destroy(device, t.bias);
    rmcp_buffer_destroy(device, t.workspace);
    return median(times);
}

/* Seconds that the driver itself takes to launch a kernel that does nothing and has no arguments:
 * the least that an execution can take. 0 where there is no CUDA. */
static double bare_launch(rmcp_device *device)
{
    static const char ptx[] = ".version 6.0\n.target sm_60\n.address_size 64\n"
                              ".visible .entry nothing()\n{\nret;\n}\n";
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW), *context = NULL, *module = NULL, *kernel = NULL;
    if (!cuda) return 0;
    int (*retain)(void **, int), (*enter)(void *), (*load)(void **, const void *),
        (*find)(void **, void *, const char *),
        (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **);
    *(void **)&retain = dlsym(cuda, "cuDevicePrimaryCtxRetain");
    *(void **)&enter = dlsym(cuda, "cuCtxSetCurrent");
    *(void **)&load = dlsym(cuda, "cuModuleLoadData");
    *(void **)&find = dlsym(cuda, "cuModuleGetFunction");
    *(void **)&launch = dlsym(cuda, "cuLaunchKernel");
    if (!retain || !enter || !load || !find || !launch || retain(&context, 0) || enter(context) ||
        load(&module, ptx) || find(&kernel, module, "nothing"))
        return 0;
    double times[REPEATS];
    for (int i = 0; i < REPEATS; i++) {
        double start = now();
        if (launch(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL)) return 0;
        times[i] = now() - start;
        check(rmcp_device_wait(device, NULL));
    }
    return median(times);
}

int main(int argc, char **argv)
{
    static char *standard[] = { "n1c64h14w14k64r3s3p1", "n1c64h14w14k64", "n1c32h14w14k32r3s3p1g32",
                                "n1c3h32w32k16r7s7p3u2" };
    const char *spec = argc > 1 ? argv[1] : "auto";
    char **cases = argc > 2 ? argv + 2 : standard;
    int n_cases = argc > 2 ? argc - 2 : (int)(sizeof standard / sizeof *standard);
    rmcp_device *device;
    rmcp_device_info info = { .struct_size = sizeof info };
    check(rmcp_device_open(spec, NULL, &device));
    check(rmcp_device_describe(device, &info));
    printf("%s: %s (%s); microseconds of host time%s\n", info.spec, info.name, info.driver,
           info.is_cpu && info.spec[0] == 'c' ? "; execute includes the computation" : "");
    printf("%10s %10s %10s %10s  %-16s %s\n", "plan cold", "new", "again", "execute", "algorithm",
           "case");
    for (int i = 0; i < n_cases; i++)
        for (int pass = 0; pass < RMCP_CONV_PASSES; pass++) {
            rmcp_conv problem = { .struct_size = sizeof problem };
            rmcp_conv_info shape = { .struct_size = sizeof shape };
            rmcp_plan *p;
            int only;
            double warm[REPEATS];
            char text[RMCP_CASE_MAX];
            check(rmcp_conv_parse(cases[i], &problem, &only));
            if (only >= 0 && only != pass) continue;
            check(rmcp_conv_describe(&problem, &shape));
            check(rmcp_conv_print(&problem, pass, text, sizeof text));
            double cold = plan(device, &problem, pass, &p);
            for (int r = 0; r < REPEATS; r++) {
                rmcp_plan_destroy(p);
                warm[r] = plan(device, &problem, pass, &p);
            }
            double again = median(warm), execute = submit(device, p, &shape);
            double other = plan_new(device, problem, pass);
            printf("%10.1f %10.1f %10.1f %10.1f  %-16s %s\n", cold * 1e6, other * 1e6, again * 1e6,
                   execute * 1e6, rmcp_plan_algorithm(p), text);
            rmcp_plan_destroy(p);
        }
    double bare = strncmp(info.spec, "cuda", 4) ? 0 : bare_launch(device);
    if (bare > 0) printf("the driver's own launch of an empty kernel: %.1f\n", bare * 1e6);
    rmcp_device_close(device);
    return 0;
}
