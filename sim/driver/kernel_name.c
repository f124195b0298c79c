/* kernel_name.c: the name of a kernel, from the code object that the runtime has loaded around it.
 */
#include "sim/driver/driver.h"

#include <elf.h>
#include <string.h>

/* The runtime copies the loadable parts of a code object as they are, headers and dynamic symbols
 * among them, to a page of their own. */
enum { PAGE = 4096, MAX_PAGES_BACK = 1 << 16, MAX_SYMBOLS = 1 << 16 };

struct image {
    struct gpu *gpu;
    uint64_t base;
    uint64_t symbols, strings, strings_size, n_symbols;
};

static const void *part(const struct image *image, uint64_t address, uint64_t bytes)
{
    return vm_at(image->gpu, image->base + address, bytes, SIM_READ);
}

/* The beginning of the code object that holds an address; false when none is found. */
static bool find_image(struct gpu *gpu, uint64_t address, struct image *image)
{
    struct sim_mapping m;
    if (!vm_find(gpu, address, &m)) return false;
    uint64_t page = address & ~(uint64_t)(PAGE - 1);
    for (unsigned i = 0; i < MAX_PAGES_BACK && page >= m.first; i++, page -= PAGE) {
        const uint8_t *bytes = vm_at(gpu, page, sizeof(Elf64_Ehdr), SIM_READ);
        if (!bytes || memcmp(bytes, ELFMAG, SELFMAG) || bytes[EI_CLASS] != ELFCLASS64) continue;
        *image = (struct image){ .gpu = gpu, .base = page };
        return true;
    }
    return false;
}

static void read_dynamic(struct image *image, uint64_t address, uint64_t bytes)
{
    for (uint64_t i = 0; i + sizeof(Elf64_Dyn) <= bytes; i += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry;
        const void *from = part(image, address + i, sizeof entry);
        if (!from) return;
        memcpy(&entry, from, sizeof entry);
        if (entry.d_tag == DT_NULL) return;
        if (entry.d_tag == DT_SYMTAB) image->symbols = entry.d_un.d_ptr;
        if (entry.d_tag == DT_STRTAB) image->strings = entry.d_un.d_ptr;
        if (entry.d_tag == DT_STRSZ) image->strings_size = entry.d_un.d_val;
        if (entry.d_tag == DT_HASH) {
            const uint32_t *hash = part(image, entry.d_un.d_ptr, 8);
            if (hash) image->n_symbols = hash[1];
        }
    }
}

static bool read_image(struct image *image)
{
    Elf64_Ehdr header;
    const void *from = part(image, 0, sizeof header);
    if (!from) return false;
    memcpy(&header, from, sizeof header);
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        from = part(image, header.e_phoff + i * sizeof segment, sizeof segment);
        if (!from) return false;
        memcpy(&segment, from, sizeof segment);
        if (segment.p_type == PT_DYNAMIC) read_dynamic(image, segment.p_vaddr, segment.p_memsz);
    }
    if (image->n_symbols > MAX_SYMBOLS) image->n_symbols = MAX_SYMBOLS;
    return image->symbols && image->strings;
}

/* Names of descriptors end in ".kd", which is left out. */
static bool copy_name(const struct image *image, uint64_t offset, char name[static 256])
{
    size_t n = 0;
    while (n < 255 && offset + n < image->strings_size) {
        const char *c = part(image, image->strings + offset + n, 1);
        if (!c || !*c) break;
        name[n++] = *c < 33 || *c > 126 ? '?' : *c;
    }
    name[n] = 0;
    if (n > 3 && !strcmp(name + n - 3, ".kd")) name[n - 3] = 0;
    return n > 0;
}

static bool is_symbol_of(const struct image *image, uint64_t number, uint64_t descriptor,
                         char name[static 256])
{
    Elf64_Sym symbol;
    const void *from = part(image, image->symbols + number * sizeof symbol, sizeof symbol);
    if (!from) return false;
    memcpy(&symbol, from, sizeof symbol);
    return symbol.st_value == descriptor - image->base && symbol.st_shndx != SHN_UNDEF &&
           copy_name(image, symbol.st_name, name);
}

/* Where a name was found before; libraries have tens of thousands of symbols, and the same kernel
 * is launched again and again. What is found there is looked at anew: code may be unloaded. */
enum { REMEMBERED = 1024 };
struct place {
    uint64_t descriptor, number;
    struct image image;
};
static struct place places[REMEMBERED];
static pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER;

static bool remembered(struct gpu *gpu, uint64_t descriptor, char name[static 256])
{
    pthread_mutex_lock(&places_lock);
    const struct place place = places[descriptor / 64 % REMEMBERED];
    pthread_mutex_unlock(&places_lock);
    if (place.descriptor != descriptor || place.image.gpu != gpu) return false;
    const uint8_t *bytes = vm_at(gpu, place.image.base, SELFMAG, SIM_READ);
    return bytes && !memcmp(bytes, ELFMAG, SELFMAG) &&
           is_symbol_of(&place.image, place.number, descriptor, name);
}

bool kernel_image(struct gpu *gpu, uint64_t address, uint64_t *base)
{
    struct image image;
    if (!find_image(gpu, address, &image)) return false;
    *base = image.base;
    return true;
}

void kernel_name(struct gpu *gpu, uint64_t descriptor, char name[static 256])
{
    struct image image;
    if (remembered(gpu, descriptor, name)) return;
    if (find_image(gpu, descriptor, &image) && read_image(&image))
        for (uint64_t i = 0; i < image.n_symbols; i++) {
            if (!is_symbol_of(&image, i, descriptor, name)) continue;
            pthread_mutex_lock(&places_lock);
            places[descriptor / 64 % REMEMBERED] = (struct place){ descriptor, i, image };
            pthread_mutex_unlock(&places_lock);
            return;
        }
    snprintf(name, 256, "kernel_of_the_runtime");
}

void kernel_name_forget(void)
{
    pthread_mutex_init(&places_lock, NULL);
}
