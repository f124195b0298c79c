/* hip_world.c: a fake HIP library and a sysfs tree to go with it. */
#define _XOPEN_SOURCE 700 /* nftw */
#include "hip_world.h"

#include <dlfcn.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fake_hip *fake;
static void *library_handle;
static char folder[64]; /* in memory where possible: thousands of records are synced */

static int remove_item(const char *path, const struct stat *stat, int kind, struct FTW *where)
{
    (void)stat, (void)kind, (void)where;
    return remove(path);
}

static void remove_below(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    nftw(path, remove_item, 8, FTW_DEPTH | FTW_PHYS);
}

bool world_begin(const char *library)
{
    char path[256];
    library_handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    fake = library_handle ? dlsym(library_handle, FAKE_HIP_SYMBOL) : NULL;
    snprintf(folder, sizeof folder, "%s/rmcp-test-hip-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!fake || !mkdtemp(folder)) {
        fprintf(stderr, "%s is not the fake HIP library\n", library);
        return false;
    }
    snprintf(path, sizeof path, "%s/cache", folder);
    setenv("XDG_CACHE_HOME", path, 1);
    snprintf(path, sizeof path, "%s/sys", folder);
    setenv("RMCP_SYSFS_ROOT", path, 1);
    setenv("RMCP_HIP_LIBRARY", library, 1);
    unsetenv("HIP_VISIBLE_DEVICES");
    unsetenv("HSA_OVERRIDE_GFX_VERSION");
    unsetenv("RMCP_GUARD");
    unsetenv("RMCP_COMMAND");
    return true;
}

void world_end(void)
{
    nftw(folder, remove_item, 8, FTW_DEPTH | FTW_PHYS);
    dlclose(library_handle);
}

void world_calm(void)
{
    const long live = fake->live;
    *fake = (struct fake_hip){ .live = live };
}

void world_devices(const char *devices)
{
    setenv("FAKE_HIP_DEVICES", devices, 1);
}

void world_no_sysfs(void)
{
    remove_below("sys");
}

void world_forget(void)
{
    remove_below("cache");
}

void world_file(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s/sys/%s", folder, path);
    for (char *slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    if (!file || fputs(text, file) < 0 || fclose(file)) abort();
}

void world_node(int number, unsigned version, unsigned bus)
{
    char path[128], text[512];
    snprintf(path, sizeof path, "class/kfd/kfd/topology/nodes/%d/properties", number);
    snprintf(text, sizeof text,
             "cpu_cores_count 0\nsimd_count 72\nsimd_per_cu 2\ngfx_target_version %u\n"
             "vendor_id 4098\ndevice_id 29471\nlocation_id %u\ndomain 0\n"
             "max_engine_clk_fcompute 1780\n",
             version, bus << 8);
    world_file(path, text);
}
