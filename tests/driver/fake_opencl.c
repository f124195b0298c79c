/* fake_opencl.c: a libOpenCL without a compiler that fails on demand, for the tests only.
 *
 * Two drivers: one with a processor, one with two GPUs, whose memory is the host's. Of the kernels
 * they run `direct` in f32; others do nothing. Every call is counted and the chosen one fails;
 * objects are counted, so that a leak shows. Releasing always releases, even when it says that it
 * failed. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "fake_direct.h"
#include "fake_opencl.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((visibility("default"))) struct fake_opencl fake_opencl;

struct _cl_platform_id {
    const char *name;
};
struct _cl_device_id {
    cl_platform_id platform;
    const char *name;
    cl_device_type type;
};

static struct _cl_platform_id platforms[] = { { "Fake Processors" }, { "Fake Graphics" } };
static struct _cl_device_id devices[] = {
    { &platforms[0], "fake processor", CL_DEVICE_TYPE_CPU },
    { &platforms[1], "gfx1010:xnack-", CL_DEVICE_TYPE_GPU },
    { &platforms[1], "gfx1030", CL_DEVICE_TYPE_GPU },
};

/* All objects are alike; each holds what it was made from. */
struct object {
    atomic_long references;
    cl_context context;
    cl_device_id device;
    cl_ulong properties;
    size_t bytes;
    char *memory;
    struct parameters *parameters; /* of a kernel that is run */
};

enum { N_PARAMETERS = 9 };
struct parameters {
    size_t n_set;
    size_t bytes[N_PARAMETERS];
    unsigned char value[N_PARAMETERS][512];
};
struct _cl_context {
    struct object o;
};
struct _cl_command_queue {
    struct object o;
};
struct _cl_mem {
    struct object o;
};
struct _cl_program {
    struct object o;
};
struct _cl_kernel {
    struct object o;
};
struct _cl_event {
    struct object o;
};

static cl_int gate(const char *name)
{
    const long call = ++fake_opencl.calls;
    if (!fake_opencl.fail_at || call < fake_opencl.fail_at) return CL_SUCCESS;
    if (call > fake_opencl.fail_at && !fake_opencl.sticky) return CL_SUCCESS;
    if (call == fake_opencl.fail_at) fake_opencl.failed = name;
    return fake_opencl.code;
}

/* A new object, or NULL with the error in `*error`, which may be NULL as in OpenCL itself. */
static void *create(const char *name, cl_context context, cl_device_id device, cl_int *error)
{
    const cl_int code = gate(name);
    if (error) *error = code;
    if (code) return NULL;
    struct object *object = calloc(1, sizeof *object);
    if (!object) abort();
    object->references = 1;
    object->context = context;
    object->device = device;
    fake_opencl.live++;
    return object;
}

static cl_int release(const char *name, struct object *object)
{
    if (--object->references == 0) {
        free(object->memory);
        free(object->parameters);
        free(object);
        fake_opencl.live--;
    }
    return gate(name);
}

static cl_int answer(const void *value, size_t bytes, size_t room, void *out, size_t *used)
{
    if (used) *used = bytes;
    if (out && room < bytes) return CL_INVALID_VALUE;
    if (out) memcpy(out, value, bytes);
    return CL_SUCCESS;
}

static cl_int answer_text(const char *text, size_t room, void *out, size_t *used)
{
    return answer(text, strlen(text) + 1, room, out, used);
}

/* ---- platforms and devices ---- */

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *out, cl_uint *n)
{
    cl_int code = gate("clGetPlatformIDs");
    if (code) return code;
    if (fake_opencl.no_platform) return -1001;
    for (cl_uint i = 0; out && i < 2 && i < room; i++) out[i] = &platforms[i];
    if (n) *n = 2;
    return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t room, void *out,
                         size_t *used)
{
    cl_int code = gate("clGetPlatformInfo");
    if (code) return code;
    return answer_text(what == CL_PLATFORM_NAME ? platform->name : "OpenCL 1.2 fake", room, out,
                       used);
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *out,
                      cl_uint *n)
{
    cl_int code = gate("clGetDeviceIDs");
    if (code) return code;
    cl_uint found = 0;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        if (devices[i].platform != platform || !(devices[i].type & type)) continue;
        if (out && found < room) out[found] = &devices[i];
        found++;
    }
    if (n) *n = found;
    return found ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void *out,
                       size_t *used)
{
    cl_int code = gate("clGetDeviceInfo");
    if (code) return code;
    const cl_ulong memory = FAKE_OPENCL_MEMORY;
    const size_t block = 1024, blocks[3] = { 1024, 1024, 1024 };
    const cl_uint number = 10;
    const bool gpu = device->type == CL_DEVICE_TYPE_GPU;
    const cl_uint vendor = gpu && fake_opencl.gpu_vendor ? fake_opencl.gpu_vendor : number;
    const cl_bool yes = CL_TRUE;
    switch (what) {
    case CL_DEVICE_NAME:
        return answer_text(gpu && fake_opencl.gpu_name ? fake_opencl.gpu_name : device->name, room,
                           out, used);
    case CL_DEVICE_VERSION: return answer_text("OpenCL 1.2 fake", room, out, used);
    case CL_DRIVER_VERSION: return answer_text("1.0", room, out, used);
    case CL_DEVICE_PLATFORM:
        return answer(&device->platform, sizeof device->platform, room, out, used);
    case CL_DEVICE_TYPE: return answer(&device->type, sizeof device->type, room, out, used);
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_COMPILER_AVAILABLE: return answer(&yes, sizeof yes, room, out, used);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
    case CL_DEVICE_HOST_UNIFIED_MEMORY: return answer(&number, sizeof number, room, out, used);
    case CL_DEVICE_VENDOR_ID: return answer(&vendor, sizeof vendor, room, out, used);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
    case CL_DEVICE_LOCAL_MEM_SIZE:
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE: return answer(&memory, sizeof memory, room, out, used);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE: return answer(&block, sizeof block, room, out, used);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES: return answer(blocks, sizeof blocks, room, out, used);
    default: return CL_INVALID_VALUE;
    }
}

/* ---- contexts and queues ---- */

cl_context clCreateContext(const cl_context_properties *properties, cl_uint n,
                           const cl_device_id *of,
                           void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                           void *data, cl_int *error)
{
    (void)properties, (void)n, (void)notify, (void)data;
    return create("clCreateContext", NULL, of[0], error);
}

cl_int clRetainContext(cl_context context)
{
    cl_int code = gate("clRetainContext");
    if (!code) context->o.references++;
    return code;
}

cl_int clReleaseContext(cl_context context)
{
    return release("clReleaseContext", &context->o);
}

cl_int clGetContextInfo(cl_context context, cl_context_info what, size_t room, void *out,
                        size_t *used)
{
    (void)what;
    cl_int code = gate("clGetContextInfo");
    return code ? code : answer(&context->o.device, sizeof(cl_device_id), room, out, used);
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                      cl_command_queue_properties properties, cl_int *error)
{
    if (fake_opencl.no_profiling && (properties & CL_QUEUE_PROFILING_ENABLE)) {
        if (error) *error = CL_INVALID_QUEUE_PROPERTIES;
        return NULL;
    }
    cl_command_queue queue = create("clCreateCommandQueue", context, device, error);
    if (queue) queue->o.properties = properties;
    return queue;
}

cl_int clReleaseCommandQueue(cl_command_queue queue)
{
    return release("clReleaseCommandQueue", &queue->o);
}

cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info what, size_t room,
                             void *out, size_t *used)
{
    cl_int code = gate("clGetCommandQueueInfo");
    if (code) return code;
    switch (what) {
    case CL_QUEUE_CONTEXT: return answer(&queue->o.context, sizeof(cl_context), room, out, used);
    case CL_QUEUE_DEVICE: return answer(&queue->o.device, sizeof(cl_device_id), room, out, used);
    case CL_QUEUE_PROPERTIES:
        return answer(&queue->o.properties, sizeof(cl_command_queue_properties), room, out, used);
    default: return CL_INVALID_VALUE;
    }
}

cl_int clFlush(cl_command_queue queue)
{
    (void)queue;
    return gate("clFlush");
}

cl_int clFinish(cl_command_queue queue)
{
    (void)queue;
    return gate("clFinish");
}

/* ---- memory ---- */

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host,
                      cl_int *error)
{
    (void)flags, (void)host;
    cl_mem memory = create("clCreateBuffer", context, NULL, error);
    if (!memory) return NULL;
    memory->o.bytes = bytes;
    memory->o.memory = calloc(1, bytes);
    if (!memory->o.memory) abort();
    return memory;
}

cl_int clReleaseMemObject(cl_mem memory)
{
    return release("clReleaseMemObject", &memory->o);
}

cl_int clGetMemObjectInfo(cl_mem memory, cl_mem_info what, size_t room, void *out, size_t *used)
{
    (void)what;
    cl_int code = gate("clGetMemObjectInfo");
    return code ? code : answer(&memory->o.context, sizeof(cl_context), room, out, used);
}

static cl_int check_copy(const char *name, cl_mem memory, size_t offset, size_t bytes)
{
    cl_int code = gate(name);
    if (code) return code;
    if (fake_opencl.lazy) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return offset > memory->o.bytes || bytes > memory->o.bytes - offset ? CL_INVALID_VALUE
                                                                        : CL_SUCCESS;
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset,
                           size_t bytes, void *target, cl_uint n, const cl_event *wait,
                           cl_event *event)
{
    (void)queue, (void)blocking, (void)n, (void)wait, (void)event;
    cl_int code = check_copy("clEnqueueReadBuffer", memory, offset, bytes);
    if (!code) memcpy(target, memory->o.memory + offset, bytes);
    return code;
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset,
                            size_t bytes, const void *source, cl_uint n, const cl_event *wait,
                            cl_event *event)
{
    (void)queue, (void)blocking, (void)n, (void)wait, (void)event;
    cl_int code = check_copy("clEnqueueWriteBuffer", memory, offset, bytes);
    if (!code) memcpy(memory->o.memory + offset, source, bytes);
    return code;
}

/* ---- programs and kernels ---- */

static const unsigned char binary[] = "the binary of a fake program";

cl_program clCreateProgramWithSource(cl_context context, cl_uint n, const char **texts,
                                     const size_t *sizes, cl_int *error)
{
    (void)n, (void)texts, (void)sizes;
    return create("clCreateProgramWithSource", context, context->o.device, error);
}

cl_program clCreateProgramWithBinary(cl_context context, cl_uint n, const cl_device_id *of,
                                     const size_t *sizes, const unsigned char **binaries,
                                     cl_int *status, cl_int *error)
{
    (void)n;
    if (fake_opencl.refuse_binaries || sizes[0] != sizeof binary ||
        memcmp(binaries[0], binary, sizeof binary)) {
        if (status) *status = CL_INVALID_BINARY;
        if (error) *error = CL_INVALID_BINARY;
        return NULL;
    }
    cl_program program = create("clCreateProgramWithBinary", context, of[0], error);
    if (program) program->o.properties = 1;
    if (program) fake_opencl.binaries++;
    return program;
}

cl_int clBuildProgram(cl_program program, cl_uint n, const cl_device_id *of, const char *options,
                      void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    (void)n, (void)of, (void)options, (void)notify, (void)data;
    cl_int code = gate("clBuildProgram");
    if (!code && fake_opencl.no_build) code = CL_BUILD_PROGRAM_FAILURE;
    if (!code && !program->o.properties) fake_opencl.builds++;
    return code;
}

cl_int clGetProgramInfo(cl_program program, cl_program_info what, size_t room, void *out,
                        size_t *used)
{
    cl_int code = gate("clGetProgramInfo");
    if (code) return code;
    const size_t bytes = sizeof binary;
    switch (what) {
    case CL_PROGRAM_DEVICES:
        return answer(&program->o.device, sizeof(cl_device_id), room, out, used);
    case CL_PROGRAM_BINARY_SIZES: return answer(&bytes, sizeof bytes, room, out, used);
    case CL_PROGRAM_BINARIES: memcpy(*(unsigned char **)out, binary, bytes); return CL_SUCCESS;
    default: return CL_INVALID_VALUE;
    }
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what,
                             size_t room, void *out, size_t *used)
{
    (void)program, (void)device, (void)what;
    cl_int code = gate("clGetProgramBuildInfo");
    return code ? code
                : answer_text("1 warning\n\nfile.cl:7: error: no such thing\n   ^\n", room, out,
                              used);
}

cl_int clReleaseProgram(cl_program program)
{
    return release("clReleaseProgram", &program->o);
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *error)
{
    cl_kernel kernel = create("clCreateKernel", program->o.context, NULL, error);
    if (!kernel || strcmp(name, "direct")) return kernel;
    kernel->o.parameters = calloc(1, sizeof *kernel->o.parameters);
    if (!kernel->o.parameters) abort();
    return kernel;
}

cl_int clReleaseKernel(cl_kernel kernel)
{
    return release("clReleaseKernel", &kernel->o);
}

cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                cl_kernel_work_group_info what, size_t room, void *out,
                                size_t *used)
{
    (void)kernel, (void)device, (void)what;
    cl_int code = gate("clGetKernelWorkGroupInfo");
    const size_t block = fake_opencl.small_blocks ? fake_opencl.small_blocks : 1024;
    return code ? code : answer(&block, sizeof block, room, out, used);
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
    struct parameters *p = kernel->o.parameters;
    cl_int code = gate("clSetKernelArg");
    if (code || !p) return code;
    if (index >= N_PARAMETERS) return CL_INVALID_ARG_INDEX;
    if (bytes > sizeof p->value[index]) return CL_INVALID_ARG_SIZE;
    if (!p->bytes[index]) p->n_set++;
    p->bytes[index] = bytes;
    memcpy(p->value[index], value, bytes);
    return CL_SUCCESS;
}

/* Buffers are objects here; the kernel takes their memory. */
static cl_int run(const struct parameters *p, const size_t *global, const size_t *local)
{
    void *pointers[N_PARAMETERS];
    char *memory[N_PARAMETERS];
    if (!p) return CL_SUCCESS;
    if (p->n_set != N_PARAMETERS) return CL_INVALID_KERNEL_ARGS;
    for (int i = 0; i < N_PARAMETERS; i++) {
        cl_mem buffer = NULL;
        pointers[i] = (void *)(size_t)p->value[i];
        if (i % 2 || i == N_PARAMETERS - 1) continue;
        if (p->bytes[i] != sizeof buffer) return CL_INVALID_ARG_SIZE;
        memcpy(&buffer, p->value[i], sizeof buffer);
        memory[i] = buffer ? buffer->o.memory : NULL;
        pointers[i] = &memory[i];
    }
    run_direct(global[0] / local[0], pointers);
    return CL_SUCCESS;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint n_dims,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint n, const cl_event *wait, cl_event *event)
{
    (void)n_dims, (void)offset, (void)n, (void)wait;
    cl_int code = CL_SUCCESS;
    if (event)
        *event = create("clEnqueueNDRangeKernel", queue->o.context, queue->o.device, &code);
    else
        code = gate("clEnqueueNDRangeKernel");
    return code ? code : run(kernel->o.parameters, global, local);
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint n, const cl_event *wait,
                                    cl_event *event)
{
    (void)queue, (void)n, (void)wait, (void)event;
    fake_opencl.barriers++;
    return gate("clEnqueueBarrierWithWaitList");
}

/* ---- events ---- */

cl_int clWaitForEvents(cl_uint n, const cl_event *events)
{
    (void)n, (void)events;
    return gate("clWaitForEvents");
}

cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t room, void *out, size_t *used)
{
    (void)event, (void)what;
    cl_int code = gate("clGetEventInfo");
    const cl_int failed = CL_OUT_OF_RESOURCES;
    return code ? code : answer(&failed, sizeof failed, room, out, used);
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t room, void *out,
                               size_t *used)
{
    (void)event;
    cl_int code = gate("clGetEventProfilingInfo");
    const cl_ulong time = what == CL_PROFILING_COMMAND_END ? 3000 : 1000;
    return code ? code : answer(&time, sizeof time, room, out, used);
}

cl_int clReleaseEvent(cl_event event)
{
    return release("clReleaseEvent", &event->o);
}
