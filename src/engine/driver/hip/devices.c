/* devices.c: which HIP devices there are, and what they and the kernel driver say of them. */
#include "engine/driver/hip/devices.h"

#include "engine/figures/figures.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The usual reasons why HIP sees nothing. */
static const char *usual_reason(void)
{
    if (!access("/dev/kfd", R_OK | W_OK)) return "";
    return errno == EACCES ? "; this user may not open /dev/kfd: join the group render"
                           : "; there is no /dev/kfd, so the kernel driver amdgpu drives none";
}

int rmcp_hip_count(const struct rmcp_hip *hip, char *why, size_t why_size)
{
    int n = 0;
    int code = hip->hipGetDeviceCount(&n);
    if (!code && n > 0) return n;
    if (code) hip->hipGetLastError();
    if (!code || code == RMCP_HIP_NO_DEVICE) {
        snprintf(why, why_size, "HIP is installed and sees no GPU that it can use%s",
                 usual_reason());
    } else {
        const char *name = hip->hipGetErrorName(code);
        snprintf(why, why_size, "HIP cannot list its devices: %s (%d)", name ? name : "unknown",
                 code);
    }
    return 0;
}

/* 0 when the runtime does not tell. */
static int attribute(const struct rmcp_hip *hip, int index, int what)
{
    int value = 0;
    if (!hip->hipDeviceGetAttribute(&value, what, index)) return value > 0 ? value : 0;
    hip->hipGetLastError();
    return 0;
}

/* ---- what the runtime takes the chip for ---- */

static bool is_chip_name(const char *text, size_t room)
{
    size_t length = 3;
    if (room < 8 || strncmp(text, "gfx", 3)) return false;
    while (length < room && isxdigit((unsigned char)text[length])) length++;
    return length >= 6 && length < room && (text[length] == '\0' || text[length] == ':');
}

/* gcnArchName out of hipDeviceProp_t. The struct has had two layouts (and its end moved within
 * them), so the name is looked for, behind the name of the card, which may look like one. */
static rmcp_status find_believed(const struct rmcp_hip *hip, int index, char *name, size_t size)
{
    enum { PROPERTIES = 16384, CARD_NAME = 256 }; /* several times what any release writes */
    int (*get)(void *, int) = hip->hipGetDevicePropertiesR0600 ? hip->hipGetDevicePropertiesR0600
                                                               : hip->hipGetDeviceProperties;
    if (!get) return rmcp_fail(RMCP_E_DEVICE, "this HIP has no hipGetDeviceProperties");
    char *properties = calloc(1, PROPERTIES);
    if (!properties) return rmcp_fail_memory("device properties", PROPERTIES);
    int code = get(properties, index);
    rmcp_status status = RMCP_OK;
    size_t at = CARD_NAME;
    while (at < PROPERTIES && !is_chip_name(properties + at, PROPERTIES - at)) at++;
    if (code)
        status = rmcp_hip_fail(hip, NULL, code, "the properties of hip:%d", index);
    else if (at == PROPERTIES)
        status = rmcp_fail(RMCP_E_DEVICE, "the properties of hip:%d name no chip", index);
    else
        snprintf(name, size, "%.*s", (int)size - 1, properties + at);
    free(properties);
    return status;
}

/* ---- describing ---- */

static void describe_chip(const struct rmcp_hip_chip *chip, const struct rmcp_hip_code *code,
                          rmcp_device_info *info)
{
    const bool differs = strcmp(chip->silicon, chip->believed);
    const size_t used = strlen(info->driver);
    snprintf(info->chip, sizeof info->chip, "%s", chip->silicon);
    if (differs)
        snprintf(info->driver + used, sizeof info->driver - used, " taking it for %s",
                 chip->believed);
    if (differs && code->target)
        snprintf(info->why, sizeof info->why,
                 "the runtime takes this %s for %s; code for %s is used", chip->silicon,
                 chip->believed, code->target);
    else
        snprintf(info->why, sizeof info->why, "%s", chip->remark);
}

rmcp_status rmcp_hip_describe(const struct rmcp_hip *hip, int index, rmcp_device_info *info,
                              struct rmcp_hip_chip *chip, struct rmcp_hip_code *code)
{
    char believed[256] = "", address[64] = "", name[256] = "";
    int version = 0;
    size_t bytes = 0;
    *chip = (struct rmcp_hip_chip){ 0 };
    *code = (struct rmcp_hip_code){ 0 };
    int error = hip->hipRuntimeGetVersion(&version);
    if (error) return rmcp_hip_fail(hip, NULL, error, "the version of HIP");
    snprintf(info->driver, sizeof info->driver, "HIP %d.%d.%d", version / 10000000,
             version / 100000 % 100, version % 100000);
    error = hip->hipDeviceTotalMem(&bytes, index);
    if (error) return rmcp_hip_fail(hip, NULL, error, "the memory of hip:%d", index);
    info->memory_bytes = bytes;
    rmcp_status status = find_believed(hip, index, believed, sizeof believed);
    if (status) return status;
    /* A card of no known name is called by its chip. */
    if (hip->hipDeviceGetName(name, sizeof name, index)) {
        hip->hipGetLastError();
        name[0] = '\0';
    }
    name[sizeof name - 1] = '\0';
    snprintf(info->name, sizeof info->name, "%.120s", *name ? name : believed);
    if (hip->hipDeviceGetPCIBusId(address, sizeof address, index)) {
        hip->hipGetLastError();
        address[0] = '\0';
    }
    address[sizeof address - 1] = '\0';

    status = rmcp_hip_chip_find(believed, address, chip);
    if (!status) status = rmcp_hip_code_choose(chip, code);
    if (*chip->silicon) describe_chip(chip, code, info);
    info->compute_units = chip->compute_units;
    if (!info->compute_units)
        info->compute_units = (uint32_t)attribute(hip, index, RMCP_HIP_MULTIPROCESSOR_COUNT);
    return status;
}

/* Transfers per clock that memory of this width and age makes, HBM, GDDR5 or GDDR6. */
static double transfers_per_clock(int bus_width, const char *chip)
{
    if (bus_width >= 1024) return 2;
    return strlen(chip) == 6 ? 4 : 16; /* gfx803; gfx1010 */
}

rmcp_status rmcp_hip_caps(const struct rmcp_hip *hip, int index, const rmcp_device_info *info,
                          const struct rmcp_hip_chip *chip, struct rmcp_caps *caps)
{
    const int block = attribute(hip, index, RMCP_HIP_MAX_THREADS_PER_BLOCK);
    const int local = attribute(hip, index, RMCP_HIP_MAX_SHARED_MEMORY_PER_BLOCK);
    const int width = attribute(hip, index, RMCP_HIP_MEMORY_BUS_WIDTH);
    const int memory_clock = attribute(hip, index, RMCP_HIP_MEMORY_CLOCK_RATE);
    double clock = chip->clock_mhz * 1e6;
    if (clock == 0) clock = attribute(hip, index, RMCP_HIP_CLOCK_RATE) * 1e3;
    if (clock == 0) clock = 1e9;
    const double units = info->compute_units ? info->compute_units : 1;
    const double bandwidth =
        memory_clock * 1e3 * transfers_per_clock(width, info->chip) * width / 8;
    *caps = (struct rmcp_caps){
        .kinds = RMCP_LAUNCH_KERNEL,
        .compute_units = (uint32_t)units,
        .max_block = block ? (uint32_t)block : 1024,
        .family = rmcp_family_of(info->chip),
        .local_bytes = local ? (uint64_t)local : 65536,
        .max_buffer_bytes = info->memory_bytes,
    };
    caps->flops_per_second = 2 * rmcp_figure(caps, RMCP_FIGURE_LANES) * units * clock;
    caps->bytes_per_second = bandwidth > 0 ? bandwidth : rmcp_figure(caps, RMCP_FIGURE_BANDWIDTH);
    caps->launch_seconds = rmcp_figure(caps, RMCP_FIGURE_LAUNCH_HIP);
    return RMCP_OK;
}
