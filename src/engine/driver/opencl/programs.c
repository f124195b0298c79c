/* programs.c: makes the kernels of an OpenCL device, from binaries kept on disk or from source. */
#include "engine/driver/opencl/programs.h"

#include "engine/driver/opencl/binary_cache.h"
#include "engine/driver/opencl/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

rmcp_status rmcp_cl_programs_init(struct rmcp_cl_programs *programs, const struct rmcp_cl *cl,
                                  cl_context context, cl_device_id device, atomic_bool *lost)
{
    *programs =
        (struct rmcp_cl_programs){ .cl = cl, .context = context, .device = device, .lost = lost };
    if (!rmcp_cl_device_identity(cl, device, programs->identity, sizeof programs->identity))
        programs->identity[0] = '\0';
    size_t n_rows = 0;
    while (rmcp_kernels[n_rows].name) n_rows++;
    programs->kernels = calloc(n_rows + 1, sizeof *programs->kernels);
    if (!programs->kernels)
        return rmcp_fail_memory("kernels", (n_rows + 1) * sizeof *programs->kernels);
    for (; programs->n_kernels < n_rows; programs->n_kernels++) {
        if (pthread_mutex_init(&programs->kernels[programs->n_kernels].lock, NULL)) {
            rmcp_cl_programs_deinit(programs);
            return rmcp_fail(RMCP_E_NOMEM, "no lock could be made for a kernel");
        }
    }
    return RMCP_OK;
}

static void unload(const struct rmcp_cl *cl, struct rmcp_cl_kernel *kernel)
{
    if (kernel->kernel) cl->clReleaseKernel(kernel->kernel);
    if (kernel->program) cl->clReleaseProgram(kernel->program);
    kernel->kernel = NULL;
    kernel->program = NULL;
}

void rmcp_cl_programs_deinit(struct rmcp_cl_programs *programs)
{
    for (size_t i = 0; i < programs->n_kernels; i++) {
        unload(programs->cl, &programs->kernels[i]);
        pthread_mutex_destroy(&programs->kernels[i].lock);
    }
    free(programs->kernels);
    programs->kernels = NULL;
    programs->n_kernels = 0;
}

/* The part of a compiler's log that tells most: from the first error on, in one line. */
static void shorten_log(const char *log, char *text, size_t size)
{
    const char *start = strstr(log, "error");
    if (!start) start = log;
    while (start > log && start[-1] != '\n') start--;
    start += strspn(start, " \t\r\n");
    size_t used = 0;
    for (; *start && used + 3 < size; start++) {
        if (*start == '\n' || *start == '\r') {
            start += strspn(start, " \t\r\n") - 1;
            if (start[1]) used += (size_t)snprintf(text + used, size - used, "; ");
        } else {
            text[used++] = *start;
        }
    }
    text[used] = '\0';
}

static rmcp_status fail_build(const struct rmcp_cl_programs *programs, cl_program program,
                              const struct rmcp_kernel *row, cl_int code)
{
    const struct rmcp_cl *cl = programs->cl;
    char text[300] = "the compiler left no log";
    size_t size = 0;
    if (!cl->clGetProgramBuildInfo(program, programs->device, CL_PROGRAM_BUILD_LOG, 0, NULL,
                                   &size) &&
        size > 1) {
        char *log = calloc(1, size + 1);
        if (log && !cl->clGetProgramBuildInfo(program, programs->device, CL_PROGRAM_BUILD_LOG, size,
                                              log, NULL))
            shorten_log(log, text, sizeof text);
        free(log);
    }
    rmcp_cl_fail(programs->lost, code, "kernel %s", row->name);
    return rmcp_fail(rmcp_cl_status(code), "kernel %s does not build: %s (%d): %s", row->name,
                     rmcp_cl_error_name(code), (int)code, text);
}

/* ---- from source ---- */

static rmcp_status build(const struct rmcp_cl_programs *programs, const struct rmcp_kernel *row,
                         const char *options, struct rmcp_cl_kernel *kernel)
{
    const struct rmcp_cl *cl = programs->cl;
    const char *source = rmcp_kernel_source(row->file);
    if (!source) return rmcp_fail(RMCP_E_INTERNAL, "kernel %s: no source %s", row->name, row->file);
    cl_int code = CL_SUCCESS;
    kernel->program = cl->clCreateProgramWithSource(programs->context, 1, &source, NULL, &code);
    if (!kernel->program)
        return rmcp_cl_fail(programs->lost, code, "kernel %s: clCreateProgramWithSource",
                            row->name);
    code = cl->clBuildProgram(kernel->program, 1, &programs->device, options, NULL, NULL);
    if (code) return fail_build(programs, kernel->program, row, code);
    kernel->kernel = cl->clCreateKernel(kernel->program, row->entry, &code);
    if (!kernel->kernel)
        return rmcp_cl_fail(programs->lost, code, "kernel %s: clCreateKernel(%s)", row->name,
                            row->entry);

    /* A kernel that uses many registers may take smaller workgroups than the device in general. */
    size_t most = 0;
    code = cl->clGetKernelWorkGroupInfo(kernel->kernel, programs->device, CL_KERNEL_WORK_GROUP_SIZE,
                                        sizeof most, &most, NULL);
    if (code)
        return rmcp_cl_fail(programs->lost, code, "kernel %s: clGetKernelWorkGroupInfo", row->name);
    if (row->block > most)
        return rmcp_fail(RMCP_E_DEVICE,
                         "kernel %s needs workgroups of %u work-items; here it can have %zu",
                         row->name, (unsigned)row->block, most);
    return RMCP_OK;
}

/* ---- from disk ---- */

/* What the binary depends on. False when binaries are not kept. */
static bool make_key(const struct rmcp_cl_programs *programs, const struct rmcp_kernel *row,
                     const char *options, char *key, size_t size)
{
    if (!programs->identity[0]) return false;
    int length = snprintf(key, size, "%s%s\n%s\n%016llx\n", programs->identity, row->name, options,
                          (unsigned long long)rmcp_kernel_digest(row));
    return length > 0 && (size_t)length < size;
}

/* Leaves the kernel NULL when there is no binary or the driver does not take it. */
static void load_binary(const struct rmcp_cl_programs *programs, const struct rmcp_kernel *row,
                        const char *options, const char *key, struct rmcp_cl_kernel *kernel)
{
    const struct rmcp_cl *cl = programs->cl;
    size_t bytes = 0;
    unsigned char *binary = rmcp_binary_cache_read(key, &bytes);
    if (!binary) return;
    const unsigned char *binaries[] = { binary };
    cl_int code = CL_SUCCESS, taken = CL_SUCCESS;
    kernel->program = cl->clCreateProgramWithBinary(programs->context, 1, &programs->device, &bytes,
                                                    binaries, &taken, &code);
    if (kernel->program && !taken &&
        !cl->clBuildProgram(kernel->program, 1, &programs->device, options, NULL, NULL))
        kernel->kernel = cl->clCreateKernel(kernel->program, row->entry, &code);
    if (!kernel->kernel) unload(cl, kernel);
    free(binary);
}

/* Where our device is among those of the program: a caller's context may have several. */
static bool find_binary(const struct rmcp_cl_programs *programs, cl_program program, size_t *at,
                        size_t *n, size_t sizes[RMCP_CL_MOST_DEVICES])
{
    const struct rmcp_cl *cl = programs->cl;
    cl_device_id devices[RMCP_CL_MOST_DEVICES];
    size_t bytes = 0;
    if (cl->clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof devices, devices, &bytes) ||
        cl->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, RMCP_CL_MOST_DEVICES * sizeof *sizes,
                             sizes, NULL))
        return false;
    *n = bytes / sizeof *devices;
    for (*at = 0; *at < *n && devices[*at] != programs->device;) ++*at;
    return *at < *n && sizes[*at] > 0;
}

static void store_binary(const struct rmcp_cl_programs *programs, cl_program program,
                         const char *key)
{
    size_t at = 0, n = 0, sizes[RMCP_CL_MOST_DEVICES] = { 0 };
    if (!find_binary(programs, program, &at, &n, sizes)) return;
    /* Binaries of devices whose place is NULL are not asked for. */
    unsigned char *binaries[RMCP_CL_MOST_DEVICES] = { NULL };
    binaries[at] = malloc(sizes[at]);
    if (binaries[at] && !programs->cl->clGetProgramInfo(program, CL_PROGRAM_BINARIES,
                                                        n * sizeof *binaries, binaries, NULL))
        rmcp_binary_cache_write(key, binaries[at], sizes[at]);
    free(binaries[at]);
}

/* ---- loading ---- */

static rmcp_status load(const struct rmcp_cl_programs *programs, const struct rmcp_kernel *row,
                        struct rmcp_cl_kernel *kernel)
{
    char options[512], key[sizeof programs->identity + sizeof options + 256];
    int length = snprintf(options, sizeof options, "-cl-std=CL1.2 %s", row->options);
    if (length < 0 || (size_t)length >= sizeof options)
        return rmcp_fail(RMCP_E_INTERNAL, "kernel %s: its options have %d bytes", row->name,
                         length);
    const bool kept = make_key(programs, row, options, key, sizeof key);
    if (kept) load_binary(programs, row, options, key, kernel);
    if (kernel->kernel) return RMCP_OK;
    rmcp_status status = build(programs, row, options, kernel);
    if (status)
        unload(programs->cl, kernel);
    else if (kept)
        store_binary(programs, kernel->program, key);
    return status;
}

rmcp_status rmcp_cl_programs_load(struct rmcp_cl_programs *programs, const char *name,
                                  struct rmcp_cl_kernel **out)
{
    *out = NULL;
    const struct rmcp_kernel *row = rmcp_kernel_find(name);
    if (!row) return rmcp_fail(RMCP_E_INTERNAL, "there is no kernel %s", name);
    struct rmcp_cl_kernel *kernel = &programs->kernels[row - rmcp_kernels];
    pthread_mutex_lock(&kernel->lock);
    rmcp_status status = kernel->kernel ? RMCP_OK : load(programs, row, kernel);
    pthread_mutex_unlock(&kernel->lock);
    if (!status) *out = kernel;
    return status;
}
