/* fake_hip.c: a libamdhip64 without a GPU that fails on demand, for the tests of faults.
 *
 * Device memory is the host's. Of the kernels it runs `direct` in f32, from its own source; others
 * do nothing. Every call is counted and the chosen one fails; objects are counted, so that a leak
 * shows. With FAKE_HIP_OLD it is a library of ROCm 5: the older struct of properties. With
 * FAKE_HIP_NULL it has one gfx1010 with much memory and no kernel does anything: what then takes
 * time is the host's work. */
#include "fake_hip.h"
#include "fake_direct.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- devices ---- */

#define EXPORT __attribute__((visibility("default")))
EXPORT struct fake_hip fake_hip;
static _Thread_local int current;

enum { MOST_DEVICES = 8 };
#ifdef FAKE_HIP_NULL
enum { IS_NULL = true };
static const size_t memory_bytes = (size_t)8 << 30;
#else
enum { IS_NULL = false };
static const size_t memory_bytes = FAKE_HIP_MEMORY;
#endif
struct device {
    char chip[32], address[32];
};
static const struct {
    const char *chip;
    unsigned mach;
} machs[] = { { "gfx906", 0x2f },  { "gfx1010", 0x33 }, { "gfx1011", 0x34 }, { "gfx1012", 0x35 },
              { "gfx1030", 0x36 }, { "gfx1031", 0x37 }, { "gfx1100", 0x41 }, { "gfx1102", 0x47 } };

static int list_all(struct device list[MOST_DEVICES])
{
    const char *text = getenv("FAKE_HIP_DEVICES");
    int n = 0;
    if (!text && IS_NULL) text = "gfx1010 0000:03:00.0";
    for (; text && *text && n < MOST_DEVICES; n++) {
        if (sscanf(text, "%31[^ ] %31[^;]", list[n].chip, list[n].address) != 2) abort();
        text += strcspn(text, ";");
        if (*text) text++;
    }
    return n;
}

static int list_devices(struct device list[MOST_DEVICES])
{
    struct device all[MOST_DEVICES];
    const int n_all = list_all(all);
    const char *visible = getenv("HIP_VISIBLE_DEVICES");
    int n = 0;
    if (!visible || !*visible) {
        memcpy(list, all, sizeof all);
        return n_all;
    }
    for (char *end; *visible && n < MOST_DEVICES; visible = *end ? end + 1 : end) {
        const long index = strtol(visible, &end, 10);
        if (end == visible || index < 0 || index >= n_all) break;
        list[n++] = all[index];
    }
    return n;
}

/* ---- failing ---- */

static int result(int code)
{
    if (code) fake_hip.last = code;
    return code;
}

static int gate(const char *name)
{
    fake_hip.current = current;
    const long call = ++fake_hip.calls;
    if (!fake_hip.fail_at || call < fake_hip.fail_at) return 0;
    if (call > fake_hip.fail_at && !fake_hip.sticky) return 0;
    if (!fake_hip.failed) fake_hip.failed = name;
    return result(fake_hip.code);
}
#define GATE()                                                                                     \
    do {                                                                                           \
        const int gate_code = gate(__func__);                                                      \
        if (gate_code) return gate_code;                                                           \
    } while (0)
#define API EXPORT int

/* While a stream captures, this is forbidden to threads that did not relax their rules. */
static _Thread_local int capture_mode;
static int check_capture(void)
{
    enum { RELAXED = 2, CAPTURE_UNSUPPORTED = 900 };
    if (!fake_hip.capturing || capture_mode == RELAXED) return 0;
    fake_hip.violations++;
    return result(CAPTURE_UNSUPPORTED);
}

API hipGetLastError(void);
API hipGetLastError(void)
{
    const int code = fake_hip.last;
    fake_hip.last = 0;
    return code;
}

EXPORT const char *hipGetErrorName(int code);
EXPORT const char *hipGetErrorName(int code)
{
    return code == 2     ? "hipErrorOutOfMemory"
           : code == 700 ? "hipErrorIllegalAddress"
                         : "hipErrorFake";
}

/* ---- asking ---- */

API hipGetDeviceCount(int *n);
API hipGetDeviceCount(int *n)
{
    struct device list[MOST_DEVICES];
    GATE();
    *n = list_devices(list);
    return *n ? 0 : result(100);
}

API hipGetDevice(int *index);
API hipGetDevice(int *index)
{
    GATE();
    *index = current;
    return 0;
}

static bool find(int index, struct device *out)
{
    struct device list[MOST_DEVICES];
    if (index < 0 || index >= list_devices(list)) return false;
    *out = list[index];
    return true;
}

API hipSetDevice(int index);
API hipSetDevice(int index)
{
    struct device device;
    GATE();
    if (!find(index, &device)) return result(101);
    current = index;
    return 0;
}

API hipDeviceGetName(char *name, int size, int index);
API hipDeviceGetName(char *name, int size, int index)
{
    GATE();
    snprintf(name, (size_t)size, "fake card %d", index);
    return 0;
}

API hipDeviceTotalMem(size_t *bytes, int index);
API hipDeviceTotalMem(size_t *bytes, int index)
{
    (void)index;
    GATE();
    *bytes = memory_bytes;
    return 0;
}

API hipDeviceGetAttribute(int *value, int attribute, int index);
API hipDeviceGetAttribute(int *value, int attribute, int index)
{
    (void)index;
    GATE();
    switch (attribute) {
    case 5: *value = 1560000; return 0;
    case 56: *value = 1024; return 0;
    case 59: *value = 192; return 0;
    case 60: *value = 875000; return 0;
    case 63: *value = 18; return 0;
    case 74: *value = 65536; return 0;
    default: return result(1);
    }
}

API hipDeviceGetPCIBusId(char *address, int size, int index);
API hipDeviceGetPCIBusId(char *address, int size, int index)
{
    struct device device;
    GATE();
    if (fake_hip.no_pci || !find(index, &device)) return result(101);
    snprintf(address, (size_t)size, "%s", device.address);
    return 0;
}

API hipRuntimeGetVersion(int *version);
API hipRuntimeGetVersion(int *version)
{
    GATE();
    *version = 50221153;
    return 0;
}

/* hipDeviceProp_t: where the name of the chip is, and what lies around it, is all that matters. */
static int properties(char *out, size_t size, size_t chip_at, int index)
{
    struct device device;
    if (!find(index, &device)) return result(101);
    memset(out, 1, size);
    snprintf(out, 256, "gfx9999"); /* some releases call the card like this */
    snprintf(out + chip_at, 256, "%s%s", device.chip,
             strncmp(device.chip, "gfx101", 6) ? "" : ":xnack-");
    return 0;
}

API hipGetDeviceProperties(void *out, int index);
API hipGetDeviceProperties(void *out, int index)
{
    GATE();
    return properties(out, 792, 396, index);
}

#ifndef FAKE_HIP_OLD
API hipGetDevicePropertiesR0600(void *out, int index);
API hipGetDevicePropertiesR0600(void *out, int index)
{
    GATE();
    return properties(out, 1472, 1160, index);
}

API hipThreadExchangeStreamCaptureMode(int *mode);
API hipThreadExchangeStreamCaptureMode(int *mode)
{
    GATE();
    const int old = capture_mode;
    capture_mode = *mode;
    *mode = old;
    return 0;
}
#endif

/* ---- objects ---- */

struct object {
    int device;
    size_t bytes;
    unsigned char *image;
    char name[32];
    struct object *module;
};
static _Atomic size_t used[MOST_DEVICES];

static int create(void **out, struct object **object)
{
    *object = calloc(1, sizeof **object);
    if (!*object) abort();
    (*object)->device = current;
    *out = *object;
    fake_hip.live++;
    return 0;
}

static int destroy(const char *name, void *object)
{
    free(object);
    fake_hip.live--;
    return gate(name);
}

API hipStreamCreateWithFlags(void **stream, unsigned flags);
API hipStreamCreateWithFlags(void **stream, unsigned flags)
{
    struct object *object;
    (void)flags;
    GATE();
    return create(stream, &object);
}

API hipStreamDestroy(void *stream);
API hipStreamDestroy(void *stream)
{
    return destroy(__func__, stream);
}

API hipStreamSynchronize(void *stream);
API hipStreamSynchronize(void *stream)
{
    (void)stream;
    fake_hip.waits++;
    GATE();
    return check_capture();
}

/* The default stream cannot be asked while another one captures. */
API hipStreamIsCapturing(void *stream, int *status);
API hipStreamIsCapturing(void *stream, int *status)
{
    enum { CAPTURE_IMPLICIT = 906 };
    GATE();
    *status = fake_hip.capturing;
    return fake_hip.capturing && !stream ? result(CAPTURE_IMPLICIT) : 0;
}

API hipEventCreate(void **event);
API hipEventCreate(void **event)
{
    struct object *object;
    GATE();
    return create(event, &object);
}

API hipEventDestroy(void *event);
API hipEventDestroy(void *event)
{
    return destroy(__func__, event);
}

API hipEventRecord(void *event, void *stream);
API hipEventRecord(void *event, void *stream)
{
    (void)event, (void)stream;
    GATE();
    return 0;
}

API hipEventSynchronize(void *event);
API hipEventSynchronize(void *event)
{
    (void)event;
    fake_hip.waits++;
    GATE();
    return 0;
}

API hipEventElapsedTime(float *milliseconds, void *first, void *last);
API hipEventElapsedTime(float *milliseconds, void *first, void *last)
{
    (void)first, (void)last;
    GATE();
    *milliseconds = 0.25f;
    return 0;
}

/* ---- memory ---- */

enum { HEAD = 256 }; /* bytes before each allocation, for its size and device; aligned as HIP's */

API hipMalloc(void **pointer, size_t bytes);
API hipMalloc(void **pointer, size_t bytes)
{
    GATE();
    const int forbidden = check_capture();
    if (forbidden) return forbidden;
    if (bytes > memory_bytes - used[current]) return result(2);
    char *memory = aligned_alloc(HEAD, (bytes + 2 * HEAD - 1) / HEAD * HEAD);
    if (!memory) return result(2);
    memcpy(memory, &bytes, sizeof bytes);
    memcpy(memory + sizeof bytes, &current, sizeof current);
    used[current] += bytes;
    fake_hip.live++;
    *pointer = memory + HEAD;
    return 0;
}

API hipFree(void *pointer);
API hipFree(void *pointer)
{
    char *memory = (char *)pointer - HEAD;
    size_t bytes = 0;
    int device = 0;
    memcpy(&bytes, memory, sizeof bytes);
    memcpy(&device, memory + sizeof bytes, sizeof device);
    used[device] -= bytes;
    return destroy(__func__, memory);
}

API hipMemcpyAsync(void *target, const void *source, size_t bytes, int kind, void *stream);
API hipMemcpyAsync(void *target, const void *source, size_t bytes, int kind, void *stream)
{
    (void)kind, (void)stream;
    GATE();
    const int forbidden = check_capture();
    if (forbidden) return forbidden;
    memcpy(target, source, bytes);
    return 0;
}

/* ---- kernels ---- */

API hipModuleLoadData(void **module, const void *image);
API hipModuleLoadData(void **module, const void *image)
{
    const unsigned char *elf = image;
    struct device device;
    struct object *object;
    unsigned wanted = 0;
    GATE();
    const int forbidden = check_capture();
    if (forbidden) return forbidden;
    if (fake_hip.refuse_module) return result(fake_hip.refuse_module);
    if (memcmp(elf, "\177ELF", 4) || !find(current, &device)) return result(200);
    for (size_t i = 0; i < sizeof machs / sizeof *machs; i++)
        if (!strcmp(machs[i].chip, device.chip)) wanted = machs[i].mach;
    fake_hip.mach = elf[48];
    if (elf[48] != wanted) return result(209);
    create(module, &object);
    object->image = (unsigned char *)(size_t)image;
    fake_hip.image = image;
    return 0;
}

API hipModuleUnload(void *module);
API hipModuleUnload(void *module)
{
    return destroy(__func__, module);
}

API hipModuleGetFunction(void **function, void *module, const char *name);
API hipModuleGetFunction(void **function, void *module, const char *name)
{
    struct object *object = module;
    GATE();
    snprintf(object->name, sizeof object->name, "%s", name);
    *function = object;
    return 0;
}

/* As a kernel that hangs: tell that it has begun, and stay. */
static void hang(const char *path)
{
    FILE *file = fopen(path, "wx");
    if (!file) return;
    fclose(file);
    const struct timespec second = { .tv_sec = 1 };
    for (int i = 0; i < 600; i++) nanosleep(&second, NULL);
}

API hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned local_bytes, void *stream, void **parameters, void **extra);
API hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned local_bytes, void *stream, void **parameters, void **extra)
{
    const struct object *object = function;
    if (IS_NULL) return 0;
    const char *path = getenv("FAKE_HIP_HANG");
    (void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z, (void)local_bytes;
    (void)stream, (void)extra;
    GATE();
    if (fake_hip.fail_launch) return result(fake_hip.fail_launch);
    if (object->device != current || object->image[0] != 0177) return result(400);
    if (path) hang(path);
    fake_hip.launches++;
    if (!strcmp(object->name, "direct")) run_direct(grid_x, parameters);
    return 0;
}
