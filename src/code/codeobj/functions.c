/* functions.c: where the code of each kernel and function starts and ends. */
#include <stdlib.h>
#include <string.h>

#include "code/codeobj/parts.h"

/* An executable part of the file. */
struct region {
    uint64_t address, size, offset;
};

struct regions {
    struct region *list;
    size_t n;
};

static int compare_regions(const void *left, const void *right)
{
    const struct region *a = left, *b = right;
    return (a->address > b->address) - (a->address < b->address);
}

static void add_region(struct regions *regions, const struct elf_view *view, uint64_t address,
                       uint64_t offset, uint64_t size)
{
    if (!size || offset > view->size || size > view->size - offset || address > UINT64_MAX - size)
        return;
    regions->list[regions->n++] = (struct region){ address, size, offset };
}

/* Loaded segments, or sections where nothing is linked yet. */
static rmcp_status find_regions(const struct elf_view *view, const struct codeobj *object,
                                struct regions *regions)
{
    size_t room = object->n_sections + object->n_segments;
    regions->list = arena_alloc(object->arena, room, sizeof *regions->list);
    if (!regions->list) return rmcp_fail_memory("list of code", room * sizeof *regions->list);
    for (size_t i = 0; view->type != ET_REL && i < object->n_segments; i++) {
        const struct codeobj_segment *segment = &object->segments[i];
        if (segment->type == PT_LOAD && segment->flags & PF_X)
            add_region(regions, view, segment->address, segment->offset, segment->file_size);
    }
    for (size_t i = 0; view->type == ET_REL && i < object->n_sections; i++) {
        const struct codeobj_section *section = &object->sections[i];
        if (section->bytes && section->flags & SHF_EXECINSTR)
            add_region(regions, view, section->offset, section->offset, section->size);
    }
    if (regions->n) qsort(regions->list, regions->n, sizeof *regions->list, compare_regions);
    return RMCP_OK;
}

static const struct region *find_region(const struct regions *regions, uint64_t address)
{
    size_t low = 0, high = regions->n; /* the last one that does not start behind it */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (regions->list[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low) return NULL;
    const struct region *region = &regions->list[low - 1];
    return address - region->address < region->size ? region : NULL;
}

/* By address; of several at one address the one with a size, then with a name, then the first. */
static int compare_functions(const void *left, const void *right)
{
    const struct codeobj_function *a = left, *b = right;
    if (a->address != b->address) return a->address < b->address ? -1 : 1;
    if (a->size_known != b->size_known) return a->size_known ? -1 : 1;
    if (a->size != b->size) return a->size > b->size ? -1 : 1;
    if (!*a->name != !*b->name) return *a->name ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

static void add_function(struct codeobj_function *functions, size_t *n,
                         const struct regions *regions, const struct codeobj_function *one)
{
    if (find_region(regions, one->address)) functions[(*n)++] = *one;
}

/* In a relocatable object the entry is not filled in yet, but in version 2, where the code follows:
 * the function has the kernel's name. */
static bool by_name(const struct codeobj *object)
{
    return object->is_relocatable && object->version > 2;
}

static uint64_t kernel_entry(const struct codeobj_kernel *kernel)
{
    return kernel->descriptor_address + (uint64_t)kernel->descriptor.entry_offset;
}

static size_t collect(const struct codeobj *object, const struct regions *regions,
                      struct codeobj_function *functions)
{
    size_t n = 0;
    for (size_t i = 0; i < object->n_symbols; i++) {
        const struct codeobj_symbol *symbol = &object->symbols[i];
        if (symbol->type != STT_FUNC || !symbol->section) continue;
        add_function(functions, &n, regions,
                     &(struct codeobj_function){ .name = symbol->name,
                                                 .address = symbol->address,
                                                 .size = symbol->size,
                                                 .size_known = symbol->size != 0 });
    }
    for (size_t i = 0; i < object->n_kernels; i++) {
        const struct codeobj_kernel *kernel = &object->kernels[i];
        if (!kernel->has_descriptor || by_name(object)) continue;
        struct codeobj_function function = { .name = "", .address = kernel_entry(kernel) };
        uint64_t head = (uint64_t)kernel->descriptor.entry_offset;
        if (object->version == 2 && head < kernel->symbol_size) {
            function.name = kernel->name;
            function.size = kernel->symbol_size - head;
            function.size_known = true;
        }
        add_function(functions, &n, regions, &function);
    }
    return n;
}

/* Ends: the symbol's, but not beyond the next function, so that all code together is no longer
 * than the file whatever the symbols claim. */
static void finish(const struct elf_view *view, const struct regions *regions,
                   struct codeobj_function *functions, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct codeobj_function *function = &functions[i];
        const struct region *region = find_region(regions, function->address);
        uint64_t within = function->address - region->address;
        uint64_t room = region->size - within;
        if (i + 1 < n && functions[i + 1].address - function->address < room)
            room = functions[i + 1].address - function->address;
        if (!function->size_known || function->size > room) function->size = room;
        function->offset = region->offset + within;
        function->code = view->bytes + function->offset;
    }
}

static const struct codeobj_function *find_function(const struct codeobj *object, uint64_t address)
{
    size_t low = 0, high = object->n_functions;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (object->functions[middle].address == address) return &object->functions[middle];
        if (object->functions[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static int compare_names(const void *left, const void *right)
{
    const struct codeobj_function *const *a = left, *const *b = right;
    return strcmp((*a)->name, (*b)->name);
}

static rmcp_status join_by_name(struct codeobj *object, struct codeobj_kernel *kernels)
{
    size_t n = object->n_functions;
    const struct codeobj_function **sorted = arena_alloc(object->arena, n, sizeof *sorted);
    if (!sorted) return rmcp_fail_memory("functions", n * sizeof *sorted);
    for (size_t i = 0; i < n; i++) sorted[i] = &object->functions[i];
    if (!n) return RMCP_OK;
    qsort(sorted, n, sizeof *sorted, compare_names);
    for (size_t i = 0; i < object->n_kernels; i++) {
        struct codeobj_function key = { .name = kernels[i].name };
        const struct codeobj_function *wanted = &key;
        const struct codeobj_function **found =
            bsearch(&wanted, sorted, n, sizeof *sorted, compare_names);
        if (found) kernels[i].function = *found;
    }
    return RMCP_OK;
}

rmcp_status functions_read(const struct elf_view *view, struct codeobj *object,
                           struct codeobj_kernel *kernels)
{
    struct regions regions = { 0 };
    rmcp_status status = find_regions(view, object, &regions);
    if (status) return status;
    size_t room = object->n_symbols + object->n_kernels, n = 0;
    struct codeobj_function *functions = arena_alloc(object->arena, room, sizeof *functions);
    if (!functions) return rmcp_fail_memory("functions", room * sizeof *functions);
    size_t all = collect(object, &regions, functions);
    if (all) qsort(functions, all, sizeof *functions, compare_functions);
    for (size_t i = 0; i < all; i++)
        if (!n || functions[n - 1].address != functions[i].address) functions[n++] = functions[i];
    finish(view, &regions, functions, n);
    object->functions = functions;
    object->n_functions = n;
    if (by_name(object)) return join_by_name(object, kernels);
    for (size_t i = 0; i < object->n_kernels; i++)
        if (kernels[i].has_descriptor)
            kernels[i].function = find_function(object, kernel_entry(&kernels[i]));
    return RMCP_OK;
}
