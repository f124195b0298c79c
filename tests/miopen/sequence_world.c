/* sequence_world.c: MIOpen and HIP found at run time, device memory with guards, records. */
#include "sequence.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct world world;

/* HIP as every release has it; declared here, since its headers are not needed for more. */
static struct {
    int (*hipMalloc)(void **, size_t);
    int (*hipFree)(void *);
    int (*hipMemcpy)(void *, const void *, size_t, int);
    int (*hipDeviceSynchronize)(void);
    int (*hipStreamCreate)(void **);
} hip;
enum { TO_DEVICE = 1, TO_HOST = 2, GUARD = 256 };

/* Without a HIP device, memory is the host's: for RMCP_DEVICE=cpu. */
static bool on_host;

static void *find(void *library, const char *name)
{
    void *function = library ? dlsym(library, name) : dlsym(RTLD_DEFAULT, name);
    if (!function) fprintf(stderr, "sequence: no %s\n", name);
    return function;
}

static bool load_hip(void)
{
    const char *device = getenv("RMCP_DEVICE");
    on_host = device && strncmp(device, "cpu", 3) == 0;
    if (on_host) return true;
    static const char *const names[] = { NULL, "libamdhip64.so.7", "libamdhip64.so.6",
                                         "libamdhip64.so.5", "libamdhip64.so" };
    void *library = dlsym(RTLD_DEFAULT, "hipMalloc");
    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++) {
        const char *name = i ? names[i] : getenv("RMCP_HIP_LIBRARY");
        if (name) library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    }
    if (!library) {
        fprintf(stderr, "sequence: HIP cannot be loaded\n");
        return false;
    }
    *(void **)&hip.hipMalloc = find(NULL, "hipMalloc");
    *(void **)&hip.hipFree = find(NULL, "hipFree");
    *(void **)&hip.hipMemcpy = find(NULL, "hipMemcpy");
    *(void **)&hip.hipDeviceSynchronize = find(NULL, "hipDeviceSynchronize");
    *(void **)&hip.hipStreamCreate = find(NULL, "hipStreamCreate");
    return hip.hipMalloc && hip.hipFree && hip.hipMemcpy && hip.hipDeviceSynchronize &&
           hip.hipStreamCreate;
}

bool world_load(const char *miopen_library, const char *folder)
{
    world.folder = folder;
    void *library = dlopen(miopen_library, RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fprintf(stderr, "sequence: %s\n", dlerror());
        return false;
    }
#define F(name) *(void **)&world.api.name = find(library, #name);
    SEQUENCE_MIOPEN_FUNCTIONS(F)
    F(miopenSetTensorDescriptorV2)
    F(miopenHiddenSetConvolutionFindMode)
#undef F
    return load_hip();
}

miopenStatus_t world_open(void)
{
    if (!on_host && hip.hipStreamCreate(&world.stream) != 0) return miopenStatusInternalError;
    miopenStatus_t status = world.api.miopenCreate(&world.handle);
    return status ? status : world.api.miopenSetStream(world.handle, world.stream);
}

bool world_wait(void)
{
    return on_host || hip.hipDeviceSynchronize() == 0;
}

size_t type_bytes(miopenDataType_t type)
{
    return type == miopenHalf || type == miopenBFloat16 ? 2 : type == miopenDouble ? 8 : 4;
}

size_t tensor_bytes(const struct tensor *tensor)
{
    size_t last = 0;
    for (int i = 0; i < tensor->n_dims; i++)
        last += (size_t)(tensor->dims[i] - 1) * (size_t)tensor->strides[i];
    return (last + 1) * type_bytes(tensor->type);
}

void tensor_pack(struct tensor *tensor, bool last)
{
    int stride = 1;
    if (last) {
        tensor->strides[1] = 1;
        stride = tensor->dims[1];
    }
    for (int i = tensor->n_dims - 1; i >= 0; i--) {
        if (last && i == 1) continue;
        tensor->strides[i] = stride;
        stride *= tensor->dims[i];
    }
}

void store_exactly(void *to, miopenDataType_t type, float value)
{
    if (type == miopenDouble) {
        double wide = value;
        memcpy(to, &wide, 8);
        return;
    }
    uint32_t bits;
    memcpy(&bits, &value, 4);
    if (type == miopenFloat) {
        memcpy(to, &bits, 4);
        return;
    }
    uint16_t half = (uint16_t)(bits >> 16); /* bf16 */
    if (type == miopenHalf) {
        uint32_t exponent = bits >> 23 & 255;
        half = (uint16_t)(bits >> 16 & 0x8000);
        if (exponent) half |= (uint16_t)((exponent - 112) << 10 | (bits >> 13 & 0x3ff));
    }
    memcpy(to, &half, 2);
}

/* Numbers that the type holds exactly: [-1, 1] in steps that use all bits of its fraction. */
static void store_random(char *to, miopenDataType_t type, uint32_t random, bool positive)
{
    int steps = type == miopenHalf ? 1 << 11 : type == miopenBFloat16 ? 1 << 8 : 1 << 24;
    int step = (int)(random % (uint32_t)(steps + 1));
    float value = (float)step / (float)steps;
    if (positive)
        value += value < 0.125f ? 0.125f : 0;
    else if (random >> 31)
        value = -value;
    store_exactly(to, type, value);
}

static struct memory make(const char *name, size_t bytes, int fill)
{
    struct memory memory = { .bytes = bytes };
    snprintf(memory.name, sizeof memory.name, "%s", name);
    memory.initial = malloc(bytes + 2 * GUARD);
    void *base = NULL;
    if (on_host)
        base = aligned_alloc(GUARD, (bytes + 3 * GUARD) / GUARD * GUARD);
    else if (hip.hipMalloc(&base, bytes + 2 * GUARD) != 0)
        base = NULL;
    if (!memory.initial || !base) {
        fprintf(stderr, "sequence: no memory for %zu bytes\n", bytes);
        exit(3);
    }
    memory.base = base;
    memory.device = bytes ? memory.base + GUARD : NULL;
    memset(memory.initial, 0xa5, bytes + 2 * GUARD);
    memset(memory.initial + GUARD, fill, bytes);
    return memory;
}

static void copy(void *to, const void *from, size_t bytes, int kind)
{
    if (on_host) {
        memcpy(to, from, bytes);
    } else if (hip.hipMemcpy(to, from, bytes, kind) != 0) {
        fprintf(stderr, "sequence: hipMemcpy fails\n");
        exit(3);
    }
}

static void upload(struct memory *memory)
{
    copy(memory->base, memory->initial, memory->bytes + 2 * GUARD, TO_DEVICE);
}

struct memory memory_output(const char *name, size_t bytes)
{
    struct memory memory = make(name, bytes, 0xff);
    upload(&memory);
    return memory;
}

struct memory memory_zero(const char *name, size_t bytes)
{
    struct memory memory = make(name, bytes, 0);
    upload(&memory);
    return memory;
}

struct memory memory_copy(const char *name, const void *bytes, size_t n_bytes)
{
    struct memory memory = make(name, n_bytes, 0);
    memcpy(memory.initial + GUARD, bytes, n_bytes);
    upload(&memory);
    return memory;
}

static struct memory random_input(const char *name, const struct tensor *tensor, uint32_t seed,
                                  bool positive)
{
    struct memory memory = make(name, tensor_bytes(tensor), 0);
    size_t step = type_bytes(tensor->type);
    uint32_t state = seed * 2654435761u + 1;
    for (size_t i = 0; i < memory.bytes; i += step) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        store_random(memory.initial + GUARD + i, tensor->type, state, positive);
    }
    upload(&memory);
    return memory;
}

struct memory memory_input(const char *name, const struct tensor *tensor, uint32_t seed)
{
    return random_input(name, tensor, seed, false);
}

struct memory memory_positive(const char *name, const struct tensor *tensor, uint32_t seed)
{
    return random_input(name, tensor, seed, true);
}

/* Shared with the process that a sequence runs in, so that the record of a crash has its calls. */
static struct shared {
    char record[16384], calls[8192], stem[256];
} * shared;

static void dump(const struct memory *memory, const char *bytes)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.%s", world.folder, shared->stem, memory->name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, memory->bytes, file) != memory->bytes) {
        fprintf(stderr, "sequence: cannot write %s\n", path);
        exit(3);
    }
    fclose(file);
}

static void close_memory(struct memory *memory, bool input, bool keep)
{
    size_t all = memory->bytes + 2 * GUARD;
    char *now = malloc(all);
    if (!now) exit(3);
    copy(now, memory->base, all, TO_HOST);
    if (memcmp(now, memory->initial, GUARD) != 0 ||
        memcmp(now + GUARD + memory->bytes, memory->initial + GUARD + memory->bytes, GUARD) != 0)
        record_note("guard=%s", memory->name);
    if (input && memcmp(now + GUARD, memory->initial + GUARD, memory->bytes) != 0)
        record_note("changed=%s", memory->name);
    /* What an input was, whatever became of it. */
    if (keep) dump(memory, (input ? memory->initial : now) + GUARD);
    free(now);
    free(memory->initial);
    if (on_host)
        free(memory->base);
    else
        hip.hipFree(memory->base);
    *memory = (struct memory){ 0 };
}

void memory_close(struct memory *memory, bool input)
{
    close_memory(memory, input, true);
}
void memory_drop(struct memory *memory)
{
    if (memory->base) close_memory(memory, false, false);
}

bool record_share(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared != MAP_FAILED;
}

void record_begin(const char *kind, const char *client, const char *name, const char *pass)
{
    snprintf(shared->record, sizeof shared->record, "%s client=%s case=%s pass=%s", kind, client,
             name, pass);
    snprintf(shared->stem, sizeof shared->stem, "%s.%s.%s", client, name, pass);
    shared->calls[0] = 0;
    fprintf(stderr, "%s/%s/%s\n", client, name, pass);
}

static void append(char *text, size_t size, const char *format, va_list arguments)
{
    size_t used = strlen(text);
    vsnprintf(text + used, size - used, format, arguments);
}

static void add(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    append(shared->record, sizeof shared->record, format, arguments);
    va_end(arguments);
}

void record_note(const char *format, ...)
{
    add(" ");
    va_list arguments;
    va_start(arguments, format);
    append(shared->record, sizeof shared->record, format, arguments);
    va_end(arguments);
}

void record_ints(const char *key, int n, const int *values)
{
    record_note("%s=", key);
    for (int i = 0; i < n; i++) add(i ? ",%d" : "%d", values[i]);
}

void record_tensor(const char *key, const struct tensor *tensor)
{
    static const char *const types[] = {
        [miopenHalf] = "f16", [miopenFloat] = "f32", [miopenBFloat16] = "bf16"
    };
    char dims[16], strides[16];
    record_note("%s.type=%s", key, types[tensor->type]);
    snprintf(dims, sizeof dims, "%s.dims", key);
    snprintf(strides, sizeof strides, "%s.strides", key);
    record_ints(dims, tensor->n_dims, tensor->dims);
    record_ints(strides, tensor->n_dims, tensor->strides);
}

miopenStatus_t called(const char *function, miopenStatus_t status)
{
    size_t used = strlen(shared->calls);
    snprintf(shared->calls + used, sizeof shared->calls - used, used ? ",%s:%d" : "%s:%d", function,
             (int)status);
    return status;
}

void record_end(void)
{
    record_note("calls=%s", shared->calls);
    char path[1024];
    snprintf(path, sizeof path, "%s/records", world.folder);
    FILE *file = fopen(path, "a");
    if (!file || fprintf(file, "%s\n", shared->record) < 0 || fclose(file) != 0) {
        fprintf(stderr, "sequence: cannot write %s\n", path);
        exit(3);
    }
    shared->record[0] = 0;
}

bool record_open(void)
{
    return shared->record[0] != 0;
}

miopenTensorDescriptor_t describe(const struct tensor *tensor, enum setter setter)
{
    const struct miopen_functions *api = &world.api;
    miopenTensorDescriptor_t made = NULL;
    if (called("CreateTensorDescriptor", api->miopenCreateTensorDescriptor(&made)) !=
        miopenStatusSuccess)
        return NULL;
    const int *d = tensor->dims, *s = tensor->strides;
    size_t dims[MAX_DIMS], strides[MAX_DIMS];
    for (int i = 0; i < tensor->n_dims; i++) dims[i] = (size_t)d[i], strides[i] = (size_t)s[i];
    switch (setter) {
    case SET_INT:
        called("SetTensorDescriptor",
               api->miopenSetTensorDescriptor(made, tensor->type, tensor->n_dims, d, s));
        break;
    case SET_SIZE:
        called("SetTensorDescriptorV2",
               api->miopenSetTensorDescriptorV2(made, tensor->type, tensor->n_dims, dims, strides));
        break;
    case SET_NULL_STRIDES:
        called("SetTensorDescriptor",
               api->miopenSetTensorDescriptor(made, tensor->type, tensor->n_dims, d, NULL));
        break;
    case SET_4D:
        called("Set4dTensorDescriptor",
               api->miopenSet4dTensorDescriptor(made, tensor->type, d[0], d[1], d[2], d[3]));
        break;
    case SET_4D_EX:
        called("Set4dTensorDescriptorEx",
               api->miopenSet4dTensorDescriptorEx(made, tensor->type, d[0], d[1], d[2], d[3], s[0],
                                                  s[1], s[2], s[3]));
        break;
    }
    return made;
}
