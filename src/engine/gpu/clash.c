/* clash.c: OpenCL drivers and HIP that cannot be in one process. */
#define _GNU_SOURCE /* dladdr, memmem */
#include "engine/gpu/clash.h"

#include "base/dynlib.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PATH = 4096 };

static bool is_loaded(const char *start)
{
    char path[MOST_PATH];
    return rmcp_dynlib_loaded(start, path, sizeof path);
}

/* ---- OpenCL after HIP ---- */

/* Whether the file that names an OpenCL driver names one that loads libclang-cpp. */
static bool uses_clang(int folder, const char *name)
{
    char text[512] = "";
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return false;
    if (read(file, text, sizeof text - 1) < 0) text[0] = '\0';
    close(file);
    return strstr(text, "pocl") || strstr(text, "MesaOpenCL") || strstr(text, "RusticlOpenCL");
}

bool rmcp_clash_opencl(char *why, size_t why_size)
{
    if (!is_loaded("libamd_comgr") || !is_loaded("libLLVM") || is_loaded("libclang-cpp"))
        return false;
    const char *folder = getenv("OCL_ICD_VENDORS");
    if (!folder || *folder != '/') folder = "/etc/OpenCL/vendors";
    DIR *listing = opendir(folder);
    bool clash = false;
    for (struct dirent *item; listing && !clash && (item = readdir(listing));) {
        if (!uses_clang(dirfd(listing), item->d_name)) continue;
        clash = true;
        snprintf(why, why_size,
                 "not beside HIP: %.60s would load clang a second time into one LLVM, which ends "
                 "the process (HIP_VISIBLE_DEVICES=-1 keeps HIP out)",
                 item->d_name);
    }
    if (listing) closedir(listing);
    return clash;
}

/* ---- HIP after OpenCL ---- */

static bool file_has(const char *path, const char *text)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return false;
    bool found = false;
    if (!fstat(file, &status) && S_ISREG(status.st_mode) && status.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            found = memmem(bytes, (size_t)status.st_size, text, strlen(text) + 1);
            munmap(bytes, (size_t)status.st_size);
        }
    }
    close(file);
    return found;
}

bool rmcp_clash_hip(const void *function, char *why, size_t why_size)
{
    static const char *const names[] = { "libamd_comgr.so.3", "libamd_comgr.so.2",
                                         "libamd_comgr.so" };
    char llvm[MOST_PATH], path[MOST_PATH];
    Dl_info place;
    if (!is_loaded("libclang-cpp") || is_loaded("libamd_comgr")) return false;
    if (!rmcp_dynlib_loaded("libLLVM", llvm, sizeof llvm)) return false;
    if (!dladdr(function, &place) || !place.dli_fname) return false;
    const char *slash = strrchr(place.dli_fname, '/'), *name = strrchr(llvm, '/');
    for (size_t i = 0; i < sizeof names / sizeof *names && slash && name; i++) {
        const int n = snprintf(path, sizeof path, "%.*s/%s", (int)(slash - place.dli_fname),
                               place.dli_fname, names[i]);
        if (n <= 0 || (size_t)n >= sizeof path || !file_has(path, name + 1)) continue;
        snprintf(why, why_size,
                 "not after OpenCL: %s would load clang a second time into %.40s, which ends the "
                 "process; open the hip device first",
                 names[i], name + 1);
        return true;
    }
    return false;
}
