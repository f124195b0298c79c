/* device.c: finds, opens and lists devices; buffers and copies. */
#include "engine/core/device.h"

#include "engine/core/guard.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t rmcp_drivers_by_rank(const struct rmcp_driver *sorted[static RMCP_MOST_DRIVERS])
{
    size_t n = 0;
    for (; rmcp_drivers[n] && n < RMCP_MOST_DRIVERS; n++) {
        size_t at = n;
        for (; at > 0 && sorted[at - 1]->rank > rmcp_drivers[n]->rank; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = rmcp_drivers[n];
    }
    return n;
}

static void write_spec(char *spec, size_t size, const struct rmcp_driver *driver, int index,
                       int count)
{
    if (count > 1 || index > 0)
        snprintf(spec, size, "%s:%d", driver->name, index);
    else
        snprintf(spec, size, "%s", driver->name);
}

static rmcp_status open_index(const struct rmcp_driver *driver, int index, int count,
                              const rmcp_device_options *options, rmcp_device **out)
{
    rmcp_device *device = calloc(1, sizeof *device);
    if (!device) return rmcp_fail_memory("device", sizeof *device);
    device->driver = driver;
    device->info.struct_size = sizeof device->info;
    device->info.usable = 1;
    write_spec(device->info.spec, sizeof device->info.spec, driver, index, count);
    rmcp_status status = driver->open(index, options, device);
    if (status) {
        free(device);
        return status;
    }
    *out = device;
    return RMCP_OK;
}

static rmcp_status open_by_name(const char *spec, const rmcp_device_options *options,
                                rmcp_device **out)
{
    const struct rmcp_driver *drivers[RMCP_MOST_DRIVERS];
    size_t n_drivers = rmcp_drivers_by_rank(drivers);
    char known[160] = "auto";
    size_t length = strcspn(spec, ":");
    for (size_t i = 0; i < n_drivers; i++) {
        const struct rmcp_driver *driver = drivers[i];
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, ", %s", driver->name);
        if (strlen(driver->name) != length || strncmp(spec, driver->name, length)) continue;

        long index = 0;
        if (spec[length]) {
            const char *digits = spec + length + 1;
            char *end = NULL;
            index = strtol(digits, &end, 10);
            if (*digits < '0' || *digits > '9' || *end || index > 9999)
                return rmcp_fail(RMCP_E_ARG, "device '%.60s': a device number must follow '%s:'",
                                 spec, driver->name);
        }
        int count = 1;
        if (!options->native_context) {
            char why[256] = "";
            count = driver->count(why, sizeof why);
            if (count == 0) return rmcp_fail(RMCP_E_DEVICE, "device '%.60s': %s", spec, why);
            if (index >= count)
                return rmcp_fail(RMCP_E_ARG, "device '%.60s': there %s %d (%s:0%s)", spec,
                                 count == 1 ? "is only" : "are only", count, driver->name,
                                 count == 1 ? "" : " and up");
        }
        return open_index(driver, (int)index, count, options, out);
    }
    return rmcp_fail(RMCP_E_ARG, "no device '%.60s'; known are %s", spec, known);
}

/* Remember why a device was passed over. Losing a remark for want of memory is no failure. */
static void add_note(char **note, const char *spec, const char *why)
{
    size_t old = *note ? strlen(*note) : 0;
    size_t size = old + strlen(spec) + strlen(why) + 4;
    char *grown = realloc(*note, size);
    if (!grown) return;
    snprintf(grown + old, size - old, "%s%s: %s", old ? "\n" : "", spec, why);
    *note = grown;
}

static rmcp_status open_best(const rmcp_device_options *options, rmcp_device **out)
{
    const struct rmcp_driver *drivers[RMCP_MOST_DRIVERS];
    size_t n_drivers = rmcp_drivers_by_rank(drivers);
    char *note = NULL;
    rmcp_status failure = RMCP_E_DEVICE;
    for (size_t i = 0; i < n_drivers && !*out; i++) {
        const struct rmcp_driver *driver = drivers[i];
        /* The last driver is the CPU's own and is taken as it is; any other device that turns out
         * to be the host processor (an OpenCL CPU driver) is slower than it. */
        bool last = i + 1 == n_drivers;
        char why[256] = "";
        int count = driver->count(why, sizeof why);
        if (count == 0) add_note(&note, driver->name, why);
        for (int index = 0; index < count && !*out; index++) {
            rmcp_device_info info = { .struct_size = sizeof info };
            char spec[32];
            write_spec(spec, sizeof spec, driver, index, count);
            rmcp_status status = driver->describe(index, &info);
            if (!status && info.is_cpu && !last) {
                add_note(&note, spec, "is the host processor, which the cpu device uses better");
                continue;
            }
            if (!status) status = open_index(driver, index, count, options, out);
            if (status) add_note(&note, spec, rmcp_last_error());
            if (status == RMCP_E_NOMEM) failure = status;
        }
    }
    if (*out) {
        (*out)->note = note;
        return RMCP_OK;
    }
    /* The remark on want of memory may itself be lost for want of it. */
    rmcp_fail(failure, "%sno device can be used: %s",
              failure == RMCP_E_NOMEM ? "out of memory: " : "", note ? note : "no driver");
    free(note);
    return failure;
}

rmcp_status rmcp_device_open(const char *spec, const rmcp_device_options *options,
                             rmcp_device **out)
{
    if (!out) return rmcp_fail(RMCP_E_ARG, "out is NULL");
    *out = NULL;
    rmcp_device_options ours = { .struct_size = sizeof ours };
    if (options) {
        rmcp_status status = rmcp_struct_read(options, &ours, sizeof ours,
                                              RMCP_FIRST_DEVICE_OPTIONS, "rmcp_device_options");
        if (status) return status;
    }
    if (!spec || !strcmp(spec, "auto")) {
        spec = getenv("RMCP_DEVICE");
        if (!spec || !*spec || !strcmp(spec, "auto")) return open_best(&ours, out);
    }
    return open_by_name(spec, &ours, out);
}

void rmcp_device_close(rmcp_device *device)
{
    if (!device) return;
    device->driver->close(device);
    free(device->note);
    free(device);
}

rmcp_status rmcp_device_describe(const rmcp_device *device, rmcp_device_info *info)
{
    if (!device) return rmcp_fail(RMCP_E_ARG, "device is NULL");
    rmcp_device_info told = device->info;
    char remark[RMCP_GUARD_REMARK_MAX] = "";
    if (rmcp_guard_applies(device->driver)) rmcp_guard_remark(remark);
    const size_t used = strlen(told.why);
    if (*remark)
        snprintf(told.why + used, sizeof told.why - used, "%s%s", used ? "; " : "", remark);
    return rmcp_struct_write(&told, sizeof told, info, RMCP_FIRST_DEVICE_INFO, "rmcp_device_info");
}

const char *rmcp_device_note(const rmcp_device *device)
{
    return device && device->note ? device->note : "";
}

int rmcp_driver_ask(const struct rmcp_driver *driver, int index, rmcp_device_info *info)
{
    *info = (rmcp_device_info){ .struct_size = sizeof *info };
    const int devices = driver->count(info->why, sizeof info->why);
    if (index < devices) {
        *info = (rmcp_device_info){ .struct_size = sizeof *info, .usable = 1 };
        if (driver->describe(index, info)) {
            info->usable = 0;
            snprintf(info->why, sizeof info->why, "%s", rmcp_last_error());
        }
    }
    write_spec(info->spec, sizeof info->spec, driver, index, devices);
    return devices ? devices : 1;
}

rmcp_status rmcp_device_list(rmcp_device_info *list, size_t *count)
{
    if (!count) return rmcp_fail(RMCP_E_ARG, "count is NULL");
    const size_t room = list ? *count : 0;
    const size_t step = room ? list->struct_size : 0;
    const struct rmcp_driver *drivers[RMCP_MOST_DRIVERS];
    size_t n_drivers = rmcp_drivers_by_rank(drivers), n = 0;

    for (size_t i = 0; i < n_drivers; i++) {
        rmcp_device_info info;
        int devices = 1;
        for (int index = 0; index < devices; index++, n++) {
            devices = rmcp_driver_ask(drivers[i], index, &info);
            if (n >= room) continue;
            void *target = (char *)list + n * step;
            memcpy(target, &(uint32_t){ (uint32_t)step }, sizeof(uint32_t));
            rmcp_status status = rmcp_struct_write(&info, sizeof info, target,
                                                   RMCP_FIRST_DEVICE_INFO, "rmcp_device_info");
            if (status) return status;
        }
    }
    *count = n;
    return RMCP_OK;
}

rmcp_status rmcp_device_wait(rmcp_device *device, void *stream)
{
    if (!device) return rmcp_fail(RMCP_E_ARG, "device is NULL");
    return device->driver->wait(device, stream);
}

rmcp_status rmcp_buffer_create(rmcp_device *device, uint64_t bytes, rmcp_memory *out)
{
    if (!out) return rmcp_fail(RMCP_E_ARG, "out is NULL");
    *out = (rmcp_memory){ 0 };
    if (!device) return rmcp_fail(RMCP_E_ARG, "device is NULL");
    if (bytes == 0 || bytes > INT64_MAX)
        return rmcp_fail(RMCP_E_ARG, "a buffer cannot have %" PRIu64 " bytes", bytes);
    return device->driver->allocate(device, bytes, &out->base);
}

void rmcp_buffer_destroy(rmcp_device *device, rmcp_memory buffer)
{
    if (device && buffer.base) device->driver->release(device, buffer.base);
}

static rmcp_status check_copy(const rmcp_device *device, const void *host, rmcp_memory memory)
{
    if (!device) return rmcp_fail(RMCP_E_ARG, "device is NULL");
    if (!host) return rmcp_fail(RMCP_E_ARG, "the host side of the copy is NULL");
    if (!memory.base) return rmcp_fail(RMCP_E_ARG, "the device side of the copy is NULL");
    return RMCP_OK;
}

rmcp_status rmcp_copy_to_device(rmcp_device *device, void *stream, rmcp_memory target,
                                const void *source, uint64_t bytes)
{
    rmcp_status status = check_copy(device, source, target);
    if (status || !bytes) return status;
    return device->driver->write(device, stream, target, source, bytes);
}

rmcp_status rmcp_copy_to_host(rmcp_device *device, void *stream, void *target, rmcp_memory source,
                              uint64_t bytes)
{
    rmcp_status status = check_copy(device, target, source);
    if (status || !bytes) return status;
    return device->driver->read(device, stream, target, source, bytes);
}
