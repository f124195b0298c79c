/* paths.c: which paths of a program belong to the simulated machine. */
#define _GNU_SOURCE
#include "sim/driver/driver.h"
#include "sim/driver/interpose.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

void interpose_real(const char *name, void *slot)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) abort(); /* a C library without it could not have started the program */
    memcpy(slot, &function, sizeof function);
}

static const char *const taken[] = {
    "/sys/devices/virtual/kfd", "/sys/class/kfd", "/sys/class/drm", "/sys/module/amdgpu",
    "/sys/bus/pci/devices",     "/proc/modules",  "/dev/dri",       "/dev/kfd",
    "/sys/dev/char/226:", /* any minor number */
};

const char *interpose_path(const char *path, char buffer[static INTERPOSE_PATH])
{
    if (!path || path[0] != '/' || (path[1] != 's' && path[1] != 'p' && path[1] != 'd'))
        return path;
    const char *root = driver_root();
    if (!root) return path;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        const size_t n = strlen(taken[i]);
        if (strncmp(path, taken[i], n)) continue;
        if (path[n] && path[n] != '/' && taken[i][n - 1] != ':') continue;
        const int length = snprintf(buffer, INTERPOSE_PATH, "%s%s", root, path);
        return length > 0 && length < INTERPOSE_PATH ? buffer : path;
    }
    return path;
}

int interpose_device(const char *path)
{
    static const char render[] = "/dev/dri/renderD";
    if (!path || strncmp(path, "/dev/", 5) || !driver_root()) return -1;
    if (!strcmp(path, "/dev/kfd")) return 0;
    if (strncmp(path, render, sizeof render - 1)) return -1;
    for (unsigned i = 0; i < SIM_MAX_CARDS; i++) {
        char number[16];
        snprintf(number, sizeof number, "%u", sim_card_render_minor(i));
        if (!strcmp(path + sizeof render - 1, number)) return (int)i + 1;
    }
    return -1;
}
