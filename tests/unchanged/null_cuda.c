/* null_cuda.c: an NVIDIA driver without a GPU, for records: it says the figures of an H200, its
 * memory has addresses and no bytes, and its kernels do nothing.
 *
 * Launches go to stdout where the program around wants them (null_cuda.h): which kernel, its grid,
 * and each argument, whose size stands in the PTX. NULL_CUDA_KERNELS in the environment is the
 * folder of compiled PTX that tells the variants of a kernel apart. */
#include "null_cuda.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/memcheck.h>

#define API __attribute__((visibility("default"))) int

__attribute__((visibility("default"))) struct null_cuda null_cuda;

enum { OK = 0, INVALID_VALUE = 1 };
enum { MOST_PARAMETERS = 64, MOST_BYTES = 4096, PAGE = 65536 };

struct module {
    char name[128]; /* of the variant; that of the kernel where it is not known */
    int n_parameters;
    unsigned bytes[MOST_PARAMETERS];
    char *image;
};

/* ---- devices and contexts ---- */

API cuInit(unsigned flags);
API cuInit(unsigned flags)
{
    (void)flags;
    return OK;
}

API cuDriverGetVersion(int *version);
API cuDriverGetVersion(int *version)
{
    *version = 12040;
    return OK;
}

API cuGetErrorName(int code, const char **name);
API cuGetErrorName(int code, const char **name)
{
    *name = code ? "CUDA_ERROR_OF_NULL" : "CUDA_SUCCESS";
    return OK;
}

API cuDeviceGetCount(int *count);
API cuDeviceGetCount(int *count)
{
    *count = 1;
    return OK;
}

API cuDeviceGet(int *device, int index);
API cuDeviceGet(int *device, int index)
{
    *device = index;
    return OK;
}

API cuDeviceGetName(char *name, int size, int device);
API cuDeviceGetName(char *name, int size, int device)
{
    (void)device;
    snprintf(name, (size_t)size, "null GPU");
    return OK;
}

API cuDeviceTotalMem_v2(size_t *bytes, int device);
API cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = (size_t)140 << 30;
    return OK;
}

API cuDeviceGetAttribute(int *value, int attribute, int device);
API cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    switch (attribute) {
    case 1: *value = 1024; return OK;     /* work-items of a workgroup */
    case 8: *value = 49152; return OK;    /* bytes of local memory     */
    case 13: *value = 1980000; return OK; /* kHz                       */
    case 16: *value = 132; return OK;     /* multiprocessors           */
    case 36: *value = 3201000; return OK; /* kHz of memory             */
    case 37: *value = 6144; return OK;    /* bits of its bus           */
    case 75: *value = 9; return OK;       /* compute capability 9.0    */
    case 76: *value = 0; return OK;
    default: return INVALID_VALUE;
    }
}

static int context;

API cuDevicePrimaryCtxRetain(void **out, int device);
API cuDevicePrimaryCtxRetain(void **out, int device)
{
    (void)device;
    *out = &context;
    return OK;
}

API cuDevicePrimaryCtxRelease(int device);
API cuDevicePrimaryCtxRelease(int device)
{
    (void)device;
    return OK;
}

API cuCtxPushCurrent_v2(void *pushed);
API cuCtxPushCurrent_v2(void *pushed)
{
    (void)pushed;
    return OK;
}

API cuCtxPopCurrent_v2(void **popped);
API cuCtxPopCurrent_v2(void **popped)
{
    *popped = &context;
    return OK;
}

API cuCtxGetDevice(int *device);
API cuCtxGetDevice(int *device)
{
    *device = 0;
    return OK;
}

API cuThreadExchangeStreamCaptureMode(int *mode);
API cuThreadExchangeStreamCaptureMode(int *mode)
{
    (void)mode;
    return OK;
}

API cuStreamIsCapturing(void *stream, int *status);
API cuStreamIsCapturing(void *stream, int *status)
{
    (void)stream;
    *status = 0;
    return OK;
}

/* ---- streams and events: there is one of each ---- */

API cuStreamCreate(void **stream, unsigned flags);
API cuStreamCreate(void **stream, unsigned flags)
{
    (void)flags;
    *stream = &context;
    return OK;
}

API cuStreamDestroy_v2(void *stream);
API cuStreamDestroy_v2(void *stream)
{
    (void)stream;
    return OK;
}

API cuStreamSynchronize(void *stream);
API cuStreamSynchronize(void *stream)
{
    (void)stream;
    return OK;
}

API cuEventCreate(void **event, unsigned flags);
API cuEventCreate(void **event, unsigned flags)
{
    (void)flags;
    *event = &context;
    return OK;
}

API cuEventRecord(void *event, void *stream);
API cuEventRecord(void *event, void *stream)
{
    (void)event, (void)stream;
    return OK;
}

API cuEventSynchronize(void *event);
API cuEventSynchronize(void *event)
{
    (void)event;
    return OK;
}

API cuEventElapsedTime(float *milliseconds, void *first, void *last);
API cuEventElapsedTime(float *milliseconds, void *first, void *last)
{
    (void)first, (void)last;
    *milliseconds = 1;
    return OK;
}

API cuEventDestroy_v2(void *event);
API cuEventDestroy_v2(void *event)
{
    (void)event;
    return OK;
}

/* ---- memory: addresses that follow each other ---- */

API cuMemAlloc_v2(void **pointer, size_t bytes);
API cuMemAlloc_v2(void **pointer, size_t bytes)
{
    static uintptr_t next = (uintptr_t)1 << 40;
    *pointer = (void *)next;
    next += (bytes + 2 * PAGE - 1) / PAGE * PAGE;
    return OK;
}

API cuMemFree_v2(void *pointer);
API cuMemFree_v2(void *pointer)
{
    (void)pointer;
    return OK;
}

API cuMemcpyHtoDAsync_v2(void *target, const void *source, size_t bytes, void *stream);
API cuMemcpyHtoDAsync_v2(void *target, const void *source, size_t bytes, void *stream)
{
    (void)target, (void)source, (void)bytes, (void)stream;
    return OK;
}

API cuMemcpyDtoHAsync_v2(void *target, const void *source, size_t bytes, void *stream);
API cuMemcpyDtoHAsync_v2(void *target, const void *source, size_t bytes, void *stream)
{
    (void)source, (void)stream;
    memset(target, 0, bytes);
    return OK;
}

/* ---- kernels ---- */

/* The bytes of each parameter: "NAME(", then ".param .u64 …," or ".param .align 8 .b8 NAME[32],",
 * then ")". */
static void read_parameters(struct module *m, const char *entry)
{
    char sought[160];
    snprintf(sought, sizeof sought, ".entry %s(", entry);
    const char *at = strstr(m->image, sought), *end = at ? strchr(at, ')') : NULL;
    while (at && end && (at = strstr(at, ".param ")) && at < end &&
           m->n_parameters < MOST_PARAMETERS) {
        const char *next = at + strcspn(at, ",)"), *array = memchr(at, '[', (size_t)(next - at));
        unsigned bits = 0;
        for (const char *word = at + strlen(".param"); word < next && !bits; word++)
            if (*word == '.' && strchr("usbf", word[1]))
                bits = (unsigned)strtoul(word + 2, NULL, 10);
        m->bytes[m->n_parameters++] = array ? (unsigned)strtoul(array + 1, NULL, 10) : bits / 8;
        at = next;
    }
}

/* Whether a file has this text. */
static int is_in(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    char *bytes = malloc(length + 1);
    const int same =
        bytes && fread(bytes, 1, length + 1, file) == length && !memcmp(bytes, text, length);
    free(bytes);
    fclose(file);
    return same;
}

/* The variant with this text: of several, the first by name. */
static void find_name(struct module *m)
{
    const char *folder = getenv("NULL_CUDA_KERNELS");
    DIR *listing = folder ? opendir(folder) : NULL;
    const size_t length = strlen(m->image);
    char found[128] = "";
    for (struct dirent *d; listing && (d = readdir(listing));) {
        const size_t stem = strlen(d->d_name) - 4;
        char path[4096];
        if (strlen(d->d_name) < 5 || stem >= sizeof found || strcmp(d->d_name + stem, ".ptx"))
            continue;
        d->d_name[stem] = 0;
        if (*found && strcmp(d->d_name, found) > 0) continue;
        snprintf(path, sizeof path, "%s/%s.ptx", folder, d->d_name);
        if (is_in(path, m->image, length)) snprintf(found, sizeof found, "%s", d->d_name);
    }
    if (listing) closedir(listing);
    if (*found) snprintf(m->name, sizeof m->name, "%s", found);
}

API cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *options, void **values);
API cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *options, void **values)
{
    (void)n, (void)options, (void)values;
    struct module *m = calloc(1, sizeof *m);
    if (!m || !(m->image = strdup(image))) abort();
    *module = m;
    return OK;
}

API cuModuleUnload(void *module);
API cuModuleUnload(void *module)
{
    free(((struct module *)module)->image);
    free(module);
    return OK;
}

API cuModuleGetFunction(void **function, void *module, const char *name);
API cuModuleGetFunction(void **function, void *module, const char *name)
{
    struct module *m = module;
    *function = m;
    snprintf(m->name, sizeof m->name, "%s", name);
    if (!null_cuda.label) return OK;
    read_parameters(m, name);
    find_name(m);
    return OK;
}

API cuFuncGetAttribute(int *value, int attribute, void *function);
API cuFuncGetAttribute(int *value, int attribute, void *function)
{
    (void)function;
    *value = attribute == 0 ? 1024 : 0;
    return OK;
}

/* Eight bytes as a number, which may be an address; others as they lie in memory, with "??" for
 * those that nobody wrote, such as the padding of a struct: memcheck knows them. */
static void print_argument(const unsigned char *value, unsigned bytes)
{
    uint64_t number;
    unsigned char undefined[MOST_BYTES] = { 0 };
    unsigned n_undefined = 0;
    if (bytes > sizeof undefined) abort();
    (void)VALGRIND_GET_VBITS(value, undefined, bytes);
    for (unsigned i = 0; i < bytes; i++) n_undefined += undefined[i] != 0;
    putchar(' ');
    if (bytes == sizeof number && !n_undefined) {
        memcpy(&number, value, sizeof number);
        printf("%#" PRIx64, number);
        return;
    }
    for (unsigned i = 0; i < bytes; i++)
        if (undefined[i])
            printf("??");
        else
            printf("%02x", value[i]);
}

API cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned local_bytes,
                   void *stream, void **parameters, void **extra);
API cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned local_bytes,
                   void *stream, void **parameters, void **extra)
{
    const struct module *m = function;
    (void)stream, (void)extra;
    null_cuda.launches++;
    if (!null_cuda.label) return OK;
    printf("%s\t%ld\t%s\t%u,%u,%u\t%u,%u,%u\t%u", null_cuda.label, null_cuda.launches, m->name,
           grid_x, grid_y, grid_z, block_x, block_y, block_z, local_bytes);
    for (int i = 0; i < m->n_parameters; i++) print_argument(parameters[i], m->bytes[i]);
    putchar('\n');
    return OK;
}
