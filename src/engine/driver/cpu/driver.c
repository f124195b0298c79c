/* cpu: the host processor. Runs host calls at once, in the caller's thread. */
#include "base/clock.h"
#include "base/round.h"
#include "engine/core/device.h"
#include "engine/figures/figures.h"
#include "engine/onednn/onednn.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int count(char *why, size_t why_size)
{
    (void)why, (void)why_size;
    return 1;
}

/* OMP_NUM_THREADS may be a list, one number per nesting level; the first counts. */
static uint32_t default_threads(void)
{
    const char *text = getenv("OMP_NUM_THREADS");
    if (text) {
        char *end = NULL;
        errno = 0;
        long n = strtol(text, &end, 10);
        if (!errno && end != text && n > 0 && n <= 4096) return (uint32_t)n;
    }
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (uint32_t)cores : 1;
}

static void processor_name(char *name, size_t size)
{
    snprintf(name, size, "host processor");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file) return;
    char line[256];
    while (fgets(line, sizeof line, file)) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !value) continue;
        value += strspn(value, ": \t");
        snprintf(name, size, "%.*s", (int)strcspn(value, "\n"), value);
        break;
    }
    fclose(file);
}

static rmcp_status describe(int index, rmcp_device_info *info)
{
    (void)index;
    info->is_cpu = 1;
    info->compute_units = default_threads();
    processor_name(info->name, sizeof info->name);
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0) info->memory_bytes = (uint64_t)pages * (uint64_t)page;

    const char *why = "";
    const struct rmcp_onednn *dnn = rmcp_onednn_get(&why);
    if (dnn) {
        const dnnl_version_t *v = dnn->dnnl_version();
        snprintf(info->driver, sizeof info->driver, "oneDNN %d.%d.%d", v->major, v->minor,
                 v->patch);
        snprintf(info->chip, sizeof info->chip, "%s", rmcp_onednn_isa(dnn));
    } else {
        snprintf(info->driver, sizeof info->driver, "plain loops");
        snprintf(info->why, sizeof info->why, "slow: %s", why);
    }
    return RMCP_OK;
}

static rmcp_status open_cpu(int index, const rmcp_device_options *options,
                            struct rmcp_device *device)
{
    if (options->threads > 4096)
        return rmcp_fail(RMCP_E_ARG, "threads is %" PRIu32 "; at most 4096", options->threads);
    if (options->native_context || options->native_device)
        return rmcp_fail(RMCP_E_ARG, "the cpu device has no native_context or native_device");
    describe(index, &device->info);
    const uint32_t threads = options->threads ? options->threads : default_threads();
    device->info.compute_units = threads;
    device->caps = (struct rmcp_caps){
        .kinds = RMCP_LAUNCH_HOST_CALL,
        .threads = threads,
        .compute_units = threads,
        .family = RMCP_FAMILY_HOST,
        .max_buffer_bytes = device->info.memory_bytes,
    };
    struct rmcp_caps *caps = &device->caps;
    caps->flops_per_second = rmcp_figure(caps, RMCP_FIGURE_HOST_FLOPS) * threads;
    caps->bytes_per_second = rmcp_figure(caps, RMCP_FIGURE_BANDWIDTH);
    return RMCP_OK;
}

static void close_cpu(struct rmcp_device *device)
{
    (void)device;
}

static rmcp_status allocate(struct rmcp_device *device, uint64_t bytes, void **base)
{
    enum { PAGE = 4096 };
    (void)device;
    const uint64_t rounded = rmcp_round_up(bytes, PAGE); /* bytes is below 2^63 */
    *base = rounded <= SIZE_MAX ? aligned_alloc(PAGE, (size_t)rounded) : NULL;
    if (*base) return RMCP_OK;
    return rmcp_fail(RMCP_E_NOMEM, "out of memory: a buffer of %" PRIu64 " bytes", bytes);
}

static void release(struct rmcp_device *device, void *base)
{
    (void)device;
    free(base);
}

static rmcp_status write_memory(struct rmcp_device *device, void *stream, rmcp_memory target,
                                const void *source, uint64_t bytes)
{
    (void)device, (void)stream;
    memcpy((char *)target.base + target.offset, source, (size_t)bytes);
    return RMCP_OK;
}

static rmcp_status read_memory(struct rmcp_device *device, void *stream, void *target,
                               rmcp_memory source, uint64_t bytes)
{
    (void)device, (void)stream;
    memcpy(target, (const char *)source.base + source.offset, (size_t)bytes);
    return RMCP_OK;
}

static rmcp_status wait_cpu(struct rmcp_device *device, void *stream)
{
    (void)device, (void)stream;
    return RMCP_OK;
}

static rmcp_status submit(struct rmcp_device *device, void *stream,
                          const struct rmcp_launch_list *list, const struct rmcp_given *given,
                          double *seconds)
{
    (void)device, (void)stream;
    rmcp_status status = RMCP_OK;
    const double start = seconds ? rmcp_clock() : 0;
    for (size_t i = 0; i < list->n_records && !status; i++)
        status = rmcp_host_call_run(&list->records[i].host, given);
    if (seconds) *seconds = rmcp_clock() - start;
    return status;
}

const struct rmcp_driver rmcp_driver_cpu = {
    .name = "cpu",
    .rank = 100,
    .count = count,
    .describe = describe,
    .open = open_cpu,
    .close = close_cpu,
    .allocate = allocate,
    .release = release,
    .write = write_memory,
    .read = read_memory,
    .wait = wait_cpu,
    .submit = submit,
};
