/* kernels.c: kernel descriptors, found by their symbols and joined with what the note says. */
#include <stdlib.h>
#include <string.h>

#include "code/codeobj/bytes.h"
#include "code/codeobj/parts.h"

enum { DESCRIPTOR_BYTES = 64, KERNEL_CODE_BYTES = 256 };

/* Names are compared by length first: it is cheap, and only equality matters. */
static int order(const char *a, size_t a_length, const char *b, size_t b_length)
{
    if (a_length != b_length) return a_length < b_length ? -1 : 1;
    return memcmp(a, b, a_length);
}

static int compare_symbols(const void *left, const void *right)
{
    const struct codeobj_symbol *a = *(const struct codeobj_symbol *const *)left;
    const struct codeobj_symbol *b = *(const struct codeobj_symbol *const *)right;
    int result = order(a->name, a->name_length, b->name, b->name_length);
    return result ? result : (a > b) - (a < b);
}

static bool describes_kernel(const struct codeobj *object, const struct codeobj_symbol *symbol)
{
    if (!symbol->section) return false; /* undefined */
    if (object->version == 2) return symbol->type == STT_AMDGPU_HSA_KERNEL && symbol->name_length;
    return symbol->type <= STT_OBJECT && symbol->name_length > 3 &&
           !memcmp(symbol->name + symbol->name_length - 3, ".kd", 3);
}

struct found {
    const struct codeobj_symbol **symbols; /* sorted, no name twice */
    bool *taken;
    size_t n;
};

static rmcp_status find_descriptors(const struct codeobj *object, struct found *found)
{
    size_t n = 0;
    for (size_t i = 0; i < object->n_symbols; i++)
        n += describes_kernel(object, &object->symbols[i]);
    found->symbols = arena_alloc(object->arena, n, sizeof *found->symbols);
    found->taken = arena_alloc(object->arena, n, sizeof *found->taken);
    if (!found->symbols || !found->taken) return rmcp_fail_memory("kernel descriptors", n);
    n = 0;
    for (size_t i = 0; i < object->n_symbols; i++)
        if (describes_kernel(object, &object->symbols[i]))
            found->symbols[n++] = &object->symbols[i];
    if (n) qsort(found->symbols, n, sizeof *found->symbols, compare_symbols);
    /* .symtab and .dynsym name the same descriptors. */
    for (size_t i = 0; i < n; i++) {
        const struct codeobj_symbol *symbol = found->symbols[i];
        const struct codeobj_symbol *last = found->n ? found->symbols[found->n - 1] : NULL;
        if (!last || order(last->name, last->name_length, symbol->name, symbol->name_length))
            found->symbols[found->n++] = symbol;
    }
    return RMCP_OK;
}

static const struct codeobj_symbol *take_descriptor(struct found *found, const char *name)
{
    size_t length = strlen(name), low = 0, high = found->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct codeobj_symbol *symbol = found->symbols[middle];
        int result = order(symbol->name, symbol->name_length, name, length);
        if (!result) {
            found->taken[middle] = true;
            return symbol;
        }
        if (result < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void read_descriptor(const uint8_t *at, struct codeobj_descriptor *out)
{
    *out = (struct codeobj_descriptor){ .group_bytes = load_u32(at),
                                        .private_bytes = load_u32(at + 4),
                                        .kernarg_bytes = load_u32(at + 8),
                                        .entry_offset = (int64_t)load_u64(at + 16),
                                        .rsrc3 = load_u32(at + 44),
                                        .rsrc1 = load_u32(at + 48),
                                        .rsrc2 = load_u32(at + 52),
                                        .properties = load_u16(at + 56),
                                        .kernarg_preload = load_u16(at + 58) };
}

/* amd_kernel_code_t of version 2, in front of the code. */
static void read_kernel_code(const uint8_t *at, struct codeobj_descriptor *out)
{
    *out = (struct codeobj_descriptor){ .group_bytes = load_u32(at + 64),
                                        .private_bytes = load_u32(at + 60),
                                        .kernarg_bytes = load_u32(at + 72),
                                        .entry_offset = (int64_t)load_u64(at + 16),
                                        .rsrc1 = load_u32(at + 48),
                                        .rsrc2 = load_u32(at + 52),
                                        .properties = load_u16(at + 56) };
}

static rmcp_status describe(const struct elf_view *view, const struct codeobj *object,
                            const struct codeobj_symbol *symbol, struct codeobj_kernel *kernel)
{
    uint64_t size = object->version == 2 ? KERNEL_CODE_BYTES : DESCRIPTOR_BYTES;
    if (!elf_offset(view, symbol->address, size, &kernel->descriptor_offset))
        return rmcp_fail(RMCP_E_IO, "descriptor of %.200s at %#llx is not in the file",
                         symbol->name, (unsigned long long)symbol->address);
    kernel->has_descriptor = true;
    kernel->descriptor_address = symbol->address;
    kernel->symbol_size = symbol->size;
    const uint8_t *at = view->bytes + kernel->descriptor_offset;
    if (object->version == 2)
        read_kernel_code(at, &kernel->descriptor);
    else
        read_descriptor(at, &kernel->descriptor);
    return RMCP_OK;
}

rmcp_status kernels_read(const struct elf_view *view, struct codeobj *object,
                         const struct codeobj_kernel *noted, size_t n)
{
    struct found found = { 0 };
    rmcp_status status = find_descriptors(object, &found);
    if (status) return status;
    if (found.n > MAX_KERNELS) return rmcp_fail(RMCP_E_IO, "%zu kernel descriptors", found.n);
    struct codeobj_kernel *kernels = arena_alloc(object->arena, n + found.n, sizeof *kernels);
    if (!kernels) return rmcp_fail_memory("kernels", (n + found.n) * sizeof *kernels);
    object->kernels = kernels;
    for (size_t i = 0; i < n; i++) {
        struct codeobj_kernel *kernel = &kernels[object->n_kernels++];
        *kernel = noted[i];
        const struct codeobj_symbol *symbol = take_descriptor(&found, kernel->symbol);
        if (symbol) status = describe(view, object, symbol, kernel);
        if (status) return status;
    }
    for (size_t i = 0; i < found.n; i++) {
        const struct codeobj_symbol *symbol = found.symbols[i];
        if (found.taken[i]) continue;
        struct codeobj_kernel *kernel = &kernels[object->n_kernels++];
        kernel->symbol = symbol->name;
        kernel->name = symbol->name;
        if (object->version != 2)
            kernel->name = arena_string(object->arena, symbol->name, symbol->name_length - 3);
        if (!kernel->name) return rmcp_fail_memory("name of a kernel", symbol->name_length);
        status = describe(view, object, symbol, kernel);
        if (status) return status;
    }
    return functions_read(view, object, kernels);
}
