/* programs.c: builds the kernels of an OpenCL device. */
#include "opencl/programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

rmcp_status rmcp_cl_programs_init(struct rmcp_cl_programs *programs, const struct rmcp_cl *cl,
                                  cl_context context, cl_device_id device, atomic_bool *lost)
{
    *programs =
        (struct rmcp_cl_programs){ .cl = cl, .context = context, .device = device, .lost = lost };
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

static rmcp_status create_from_source(const struct rmcp_cl_programs *programs,
                                      const struct rmcp_kernel *row, struct rmcp_cl_kernel *kernel)
{
    const struct rmcp_cl *cl = programs->cl;
    const char *source = rmcp_kernel_source(row->file);
    char options[512];
    if (!source) return rmcp_fail(RMCP_E_INTERNAL, "kernel %s: no source %s", row->name, row->file);
    int length = snprintf(options, sizeof options, "-cl-std=CL1.2 %s", row->options);
    if (length < 0 || (size_t)length >= sizeof options)
        return rmcp_fail(RMCP_E_INTERNAL, "kernel %s: its options have %d bytes", row->name,
                         length);

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
    return RMCP_OK;
}

/* A kernel that uses many registers may take smaller workgroups than the device in general. */
static rmcp_status check_block(const struct rmcp_cl_programs *programs,
                               const struct rmcp_kernel *row, const struct rmcp_cl_kernel *kernel)
{
    size_t most = 0;
    cl_int code = programs->cl->clGetKernelWorkGroupInfo(
        kernel->kernel, programs->device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
    if (code)
        return rmcp_cl_fail(programs->lost, code, "kernel %s: clGetKernelWorkGroupInfo", row->name);
    if (row->block > most)
        return rmcp_fail(RMCP_E_DEVICE,
                         "kernel %s needs workgroups of %u work-items; here it can have %zu",
                         row->name, (unsigned)row->block, most);
    return RMCP_OK;
}

static rmcp_status load(const struct rmcp_cl_programs *programs, const struct rmcp_kernel *row,
                        struct rmcp_cl_kernel *kernel)
{
    rmcp_status status = create_from_source(programs, row, kernel);
    if (!status) status = check_block(programs, row, kernel);
    if (status) unload(programs->cl, kernel);
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
