/* devices.c: which OpenCL devices there are, and what they say about themselves. */
#include "engine/driver/opencl/devices.h"

#include "base/chip/chips.h"
#include "engine/figures/figures.h"

#include <stdio.h>
#include <string.h>

#define CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV 0x4000 /* cl_nv_device_attribute_query  */
#define CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV 0x4001
#define CL_DEVICE_BOARD_NAME_AMD 0x4038 /* cl_amd_device_attribute_query */

enum { MOST_PLATFORMS = 32, INTEL = 0x8086 /* its PCI vendor number */ };

/* ---- asking ---- */

/* Text of a device; "" when the driver does not tell. */
static void device_text(const struct rmcp_cl *cl, cl_device_id device, cl_device_info what,
                        char *text, size_t size)
{
    char value[1024] = "";
    size_t used = 0;
    if (cl->clGetDeviceInfo(device, what, sizeof value, value, &used)) value[0] = '\0';
    value[sizeof value - 1] = '\0';
    const char *start = value + strspn(value, " ");
    snprintf(text, size, "%s", start);
    for (size_t n = strlen(text); n > 0 && text[n - 1] == ' '; n--) text[n - 1] = '\0';
}

static void platform_text(const struct rmcp_cl *cl, cl_device_id device, cl_platform_info what,
                          char *text, size_t size)
{
    cl_platform_id platform = NULL;
    char value[1024] = "";
    if (cl->clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) ||
        cl->clGetPlatformInfo(platform, what, sizeof value, value, NULL))
        value[0] = '\0';
    value[sizeof value - 1] = '\0';
    snprintf(text, size, "%s", value);
}

static cl_uint device_uint(const struct rmcp_cl *cl, cl_device_id device, cl_device_info what)
{
    cl_uint value = 0;
    return cl->clGetDeviceInfo(device, what, sizeof value, &value, NULL) ? 0 : value;
}

static cl_ulong device_ulong(const struct rmcp_cl *cl, cl_device_id device, cl_device_info what)
{
    cl_ulong value = 0;
    return cl->clGetDeviceInfo(device, what, sizeof value, &value, NULL) ? 0 : value;
}

/* True when the driver does not tell: only a clear "no" keeps a device from being used. */
static bool device_flag(const struct rmcp_cl *cl, cl_device_id device, cl_device_info what)
{
    cl_bool value = CL_TRUE;
    return cl->clGetDeviceInfo(device, what, sizeof value, &value, NULL) || value;
}

static cl_device_type device_type(const struct rmcp_cl *cl, cl_device_id device)
{
    cl_device_type type = 0;
    return cl->clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL) ? 0 : type;
}

static bool starts_with(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

/* ---- finding ---- */

int rmcp_cl_devices_find(const struct rmcp_cl *cl, cl_device_id devices[RMCP_CL_MOST_DEVICES],
                         char *why, size_t why_size)
{
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint n_platforms = 0;
    cl_int code = cl->clGetPlatformIDs(MOST_PLATFORMS, platforms, &n_platforms);
    if (code || !n_platforms) {
        if (code && code != -1001)
            snprintf(why, why_size, "OpenCL cannot list its drivers: %s (%d)",
                     rmcp_cl_error_name(code), (int)code);
        else
            snprintf(why, why_size, "OpenCL is installed, but no driver for it");
        return 0;
    }
    if (n_platforms > MOST_PLATFORMS) n_platforms = MOST_PLATFORMS;

    int n = 0;
    snprintf(why, why_size, "no OpenCL driver has a device");
    /* Custom devices take no kernels from source and are left out. */
    const cl_device_type rounds[] = { CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR,
                                      CL_DEVICE_TYPE_CPU };
    for (int round = 0; round < 2; round++) {
        for (cl_uint i = 0; i < n_platforms && n < RMCP_CL_MOST_DEVICES; i++) {
            const cl_uint room = (cl_uint)(RMCP_CL_MOST_DEVICES - n);
            cl_uint found = 0;
            code = cl->clGetDeviceIDs(platforms[i], rounds[round], room, devices + n, &found);
            if (!code)
                n += (int)(found < room ? found : room);
            else if (code != CL_DEVICE_NOT_FOUND)
                snprintf(why, why_size, "an OpenCL driver cannot list its devices: %s (%d)",
                         rmcp_cl_error_name(code), (int)code);
        }
    }
    return n;
}

/* ---- describing ---- */

/* The instruction set: AMD's drivers call the device by it, NVIDIA's has a query, PoCL has it in
 * its version. "" for others. */
static void find_chip(const struct rmcp_cl *cl, cl_device_id device, const char *name, char *chip,
                      size_t size)
{
    char version[256];
    device_text(cl, device, CL_DEVICE_VERSION, version, sizeof version);
    const char *gfx = strstr(name, "gfx"), *pocl = strstr(version, "-gnu-");
    const cl_uint major = device_uint(cl, device, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV);
    if (gfx)
        snprintf(chip, size, "%.*s", (int)strspn(gfx, "abcdefghijklmnopqrstuvwxyz0123456789-"),
                 gfx);
    else if (pocl && strstr(version, "HSTR"))
        snprintf(chip, size, "%s", pocl + strlen("-gnu-"));
    else if (major)
        snprintf(chip, size, "sm_%u%u", (unsigned)major,
                 (unsigned)device_uint(cl, device, CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV));
    else
        snprintf(chip, size, "%s", "");
}

rmcp_status rmcp_cl_device_describe(const struct rmcp_cl *cl, cl_device_id device,
                                    rmcp_device_info *info)
{
    char name[128], board[128], platform[64], driver[48], version[64];
    device_text(cl, device, CL_DEVICE_NAME, name, sizeof name);
    device_text(cl, device, CL_DEVICE_BOARD_NAME_AMD, board, sizeof board);
    device_text(cl, device, CL_DRIVER_VERSION, driver, sizeof driver);
    device_text(cl, device, CL_DEVICE_VERSION, version, sizeof version);
    platform_text(cl, device, CL_PLATFORM_NAME, platform, sizeof platform);

    /* "OpenCL 3.0 and the driver's own words": the number ends at the second blank. */
    if (starts_with(version, "OpenCL ")) version[7 + strcspn(version + 7, " ")] = '\0';
    snprintf(info->name, sizeof info->name, "%s", *board ? board : name);
    find_chip(cl, device, name, info->chip, sizeof info->chip);
    snprintf(info->driver, sizeof info->driver, "%s %.40s, %.16s",
             strcmp(platform, "Portable Computing Language") ? platform : "PoCL", driver, version);
    info->memory_bytes = device_ulong(cl, device, CL_DEVICE_GLOBAL_MEM_SIZE);
    info->compute_units = device_uint(cl, device, CL_DEVICE_MAX_COMPUTE_UNITS);
    info->is_cpu = (device_type(cl, device) & CL_DEVICE_TYPE_CPU) != 0;

    if (!*name)
        return rmcp_fail(RMCP_E_DEVICE, "the OpenCL driver does not tell the device's name");
    if (!device_flag(cl, device, CL_DEVICE_AVAILABLE))
        return rmcp_fail(RMCP_E_DEVICE, "%s: the OpenCL driver says it is not available", name);
    if (!device_flag(cl, device, CL_DEVICE_COMPILER_AVAILABLE))
        return rmcp_fail(RMCP_E_DEVICE, "%s: its OpenCL driver has no compiler", name);
    return RMCP_OK;
}

/* By the chip, which is part of the device's name in AMD's drivers ("gfx1010:xnack-"); Mesa's have
 * the product there ("AMD Radeon RX 5600 XT (radeonsi, navi10, LLVM 19.1.7)"). */
static enum rmcp_family family_of(const struct rmcp_cl *cl, cl_device_id device)
{
    char name[256], gfx[64];
    device_text(cl, device, CL_DEVICE_NAME, name, sizeof name);
    find_chip(cl, device, name, gfx, sizeof gfx);
    switch (device_uint(cl, device, CL_DEVICE_VENDOR_ID)) {
    case RMCP_PCI_NVIDIA: return RMCP_FAMILY_NVIDIA;
    case INTEL: return RMCP_FAMILY_INTEL;
    case RMCP_PCI_AMD: break;
    default: return RMCP_FAMILY_GENERIC;
    }
    const struct rmcp_chip *chip = *gfx ? NULL : rmcp_chip_by_product(name);
    return rmcp_family_of(chip ? chip->name : gfx);
}

rmcp_status rmcp_cl_device_caps(const struct rmcp_cl *cl, cl_device_id device,
                                struct rmcp_caps *caps)
{
    size_t block = 0, sizes[8] = { 0 };
    cl_int code =
        cl->clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof block, &block, NULL);
    if (code) return rmcp_cl_fail(NULL, code, "the device's largest workgroup");
    if (!cl->clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL) &&
        sizes[0] && sizes[0] < block)
        block = sizes[0];

    cl_ulong largest = 0;
    code =
        cl->clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, NULL);
    if (code) return rmcp_cl_fail(NULL, code, "the device's largest allocation");

    /* OpenCL tells neither lanes nor bandwidth. */
    const bool is_cpu = device_type(cl, device) & CL_DEVICE_TYPE_CPU;
    const bool shares_memory = device_uint(cl, device, CL_DEVICE_HOST_UNIFIED_MEMORY) && !is_cpu;
    cl_uint units = device_uint(cl, device, CL_DEVICE_MAX_COMPUTE_UNITS);
    cl_uint clock = device_uint(cl, device, CL_DEVICE_MAX_CLOCK_FREQUENCY); /* MHz */
    if (!units) units = 1;
    if (!clock) clock = 1000;

    *caps = (struct rmcp_caps){
        .kinds = RMCP_LAUNCH_KERNEL,
        .compute_units = units,
        .max_block = block < UINT32_MAX ? (uint32_t)block : UINT32_MAX,
        .local_bytes = device_ulong(cl, device, CL_DEVICE_LOCAL_MEM_SIZE),
        .max_buffer_bytes = largest,
        .family = is_cpu ? RMCP_FAMILY_HOST : family_of(cl, device),
    };
    caps->flops_per_second = 2 * rmcp_figure(caps, RMCP_FIGURE_LANES) * units * clock * 1e6;
    caps->bytes_per_second =
        rmcp_figure(caps, shares_memory ? RMCP_FIGURE_SHARED_BANDWIDTH : RMCP_FIGURE_BANDWIDTH);
    caps->launch_seconds = rmcp_figure(caps, RMCP_FIGURE_LAUNCH_OPENCL);
    return RMCP_OK;
}

bool rmcp_cl_device_identity(const struct rmcp_cl *cl, cl_device_id device, char *text, size_t size)
{
    char platform[128], platform_version[256], name[128], version[256], driver[128];
    platform_text(cl, device, CL_PLATFORM_NAME, platform, sizeof platform);
    platform_text(cl, device, CL_PLATFORM_VERSION, platform_version, sizeof platform_version);
    device_text(cl, device, CL_DEVICE_NAME, name, sizeof name);
    device_text(cl, device, CL_DEVICE_VERSION, version, sizeof version);
    device_text(cl, device, CL_DRIVER_VERSION, driver, sizeof driver);
    if (!*platform || !*platform_version || !*name || !*version || !*driver) return false;
    int length = snprintf(text, size, "%s\n%s\n%s\n%s\n%s\n", platform, platform_version, name,
                          version, driver);
    return length > 0 && (size_t)length < size;
}
