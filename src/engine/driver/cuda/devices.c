/* devices.c: which CUDA devices there are, and what they say about themselves. */
#include "engine/driver/cuda/devices.h"

#include "engine/figures/figures.h"
#include "engine/gpu/images.h"

#include <stdio.h>

enum attribute {
    MAX_THREADS_PER_BLOCK = 1,
    MAX_SHARED_MEMORY_PER_BLOCK = 8, /* bytes, without asking for more */
    CLOCK_RATE = 13,                 /* kHz */
    MULTIPROCESSOR_COUNT = 16,
    MEMORY_CLOCK_RATE = 36,       /* kHz  */
    GLOBAL_MEMORY_BUS_WIDTH = 37, /* bits */
    COMPUTE_CAPABILITY_MAJOR = 75,
    COMPUTE_CAPABILITY_MINOR = 76
};

/* 0 when the driver does not tell. */
static int attribute(const struct rmcp_cuda *cuda, int device, enum attribute which)
{
    int value = 0;
    return cuda->DeviceGetAttribute(&value, which, device) || value < 0 ? 0 : value;
}

int rmcp_cuda_count(const struct rmcp_cuda *cuda, char *why, size_t why_size)
{
    int count = 0;
    const int code = cuda->DeviceGetCount(&count);
    if (code)
        snprintf(why, why_size, "NVIDIA's driver cannot count its devices: %s (%d)",
                 rmcp_cuda_error_name(cuda, code), code);
    else if (count <= 0)
        snprintf(why, why_size, "NVIDIA's driver finds no device");
    return code || count < 0 ? 0 : count;
}

rmcp_status rmcp_cuda_describe(const struct rmcp_cuda *cuda, int device, rmcp_device_info *info)
{
    int version = 0;
    size_t bytes = 0;
    int code = cuda->DeviceGetName(info->name, sizeof info->name, device);
    info->name[sizeof info->name - 1] = '\0';
    if (code) {
        info->name[0] = '\0';
        return rmcp_cuda_fail(cuda, NULL, code, "the name of CUDA device %d", device);
    }
    int major = 0, minor = 0;
    code = cuda->DeviceGetAttribute(&major, COMPUTE_CAPABILITY_MAJOR, device);
    if (!code) code = cuda->DeviceGetAttribute(&minor, COMPUTE_CAPABILITY_MINOR, device);
    if (code)
        return rmcp_cuda_fail(cuda, NULL, code, "the compute capability of %.60s", info->name);
    snprintf(info->chip, sizeof info->chip, "sm_%d%d", major, minor);
    if (!cuda->DriverGetVersion(&version) && version > 0)
        snprintf(info->driver, sizeof info->driver, "CUDA %d.%d", version / 1000,
                 version % 1000 / 10);
    else
        snprintf(info->driver, sizeof info->driver, "CUDA");
    if (!cuda->DeviceTotalMem(&bytes, device)) info->memory_bytes = bytes;
    info->compute_units = (uint32_t)attribute(cuda, device, MULTIPROCESSOR_COUNT);

    const char *target = NULL;
    return rmcp_kernel_target_find(info->chip, &target);
}

/* f32 FMA units of a multiprocessor, by compute capability. */
static double lanes_of(int major, int minor)
{
    if (major == 7 || (major == 6 && minor == 0) || (major == 8 && minor == 0)) return 64;
    return 128;
}

rmcp_status rmcp_cuda_caps(const struct rmcp_cuda *cuda, int device, struct rmcp_caps *caps)
{
    int block = 0;
    size_t bytes = 0;
    int code = cuda->DeviceGetAttribute(&block, MAX_THREADS_PER_BLOCK, device);
    if (!code) code = cuda->DeviceTotalMem(&bytes, device);
    if (code) return rmcp_cuda_fail(cuda, NULL, code, "the limits of CUDA device %d", device);

    const int units = attribute(cuda, device, MULTIPROCESSOR_COUNT);
    const int clock = attribute(cuda, device, CLOCK_RATE);
    const double lanes = lanes_of(attribute(cuda, device, COMPUTE_CAPABILITY_MAJOR),
                                  attribute(cuda, device, COMPUTE_CAPABILITY_MINOR));
    /* Two transfers a clock. */
    const double bandwidth = 2e3 * attribute(cuda, device, MEMORY_CLOCK_RATE) *
                             attribute(cuda, device, GLOBAL_MEMORY_BUS_WIDTH) / 8;
    *caps = (struct rmcp_caps){
        .kinds = RMCP_LAUNCH_KERNEL,
        .compute_units = units ? (uint32_t)units : 1,
        .max_block = (uint32_t)block,
        .local_bytes = (uint64_t)attribute(cuda, device, MAX_SHARED_MEMORY_PER_BLOCK),
        .max_buffer_bytes = bytes,
        .flops_per_second = 2 * lanes * (units ? units : 1) * 1e3 * (clock ? clock : 1000000),
        .family = RMCP_FAMILY_NVIDIA,
    };
    caps->bytes_per_second = bandwidth > 0 ? bandwidth : rmcp_figure(caps, RMCP_FIGURE_BANDWIDTH);
    caps->launch_seconds = rmcp_figure(caps, RMCP_FIGURE_LAUNCH_CUDA);
    return RMCP_OK;
}
