/* linked.c: what the dynamic linker reads in a program or library of the host. */
#include "code/codeobj/linked.h"

#include <string.h>

#include "code/codeobj/bytes.h"
#include "code/codeobj/elf.h"

enum {
    PT_INTERP = 3,
    SHT_DYNAMIC = 6,
    DT_SONAME = 14,
    STT_NOTYPE = 0,
    STT_GNU_IFUNC = 10,
    MOST_DYNAMIC = 4096
};

static void copy_text(char *out, size_t room, const uint8_t *bytes, uint64_t length)
{
    size_t n = 0;
    while (n < length && bytes[n]) n++;
    if (n >= room) return; /* cut, it would be another name */
    memcpy(out, bytes, n);
    out[n] = '\0';
}

static void read_soname(const struct elf_view *view, const struct codeobj_section *dynamic,
                        struct codeobj_linked *out)
{
    if (dynamic->link >= view->n_sections) return;
    const struct codeobj_section names = elf_section(view, dynamic->link);
    for (uint64_t at = 0; names.bytes && in_range(at, 16, dynamic->size) && at < 16 * MOST_DYNAMIC;
         at += 16) {
        const uint64_t tag = load_u64(dynamic->bytes + at),
                       value = load_u64(dynamic->bytes + at + 8);
        if (!tag) return;
        if (tag == DT_SONAME && value < names.size)
            copy_text(out->soname, sizeof out->soname, names.bytes + value, names.size - value);
    }
}

rmcp_status codeobj_linked_read(const void *bytes, size_t size, struct codeobj_linked *out)
{
    struct elf_view view;
    *out = (struct codeobj_linked){ 0 };
    rmcp_status status = elf_view_init(&view, bytes, size);
    if (status) return status;
    out->machine = view.machine;
    for (uint32_t i = 0; i < view.n_segments; i++) {
        const struct codeobj_segment segment = elf_segment(&view, i);
        if (segment.type != PT_INTERP || !in_range(segment.offset, segment.file_size, size))
            continue;
        copy_text(out->interpreter, sizeof out->interpreter, view.bytes + segment.offset,
                  segment.file_size);
    }
    for (uint32_t i = 0; i < view.n_sections; i++) {
        const struct codeobj_section section = elf_section(&view, i);
        if (!section.bytes || section.type != SHT_DYNAMIC) continue;
        read_soname(&view, &section, out);
        break; /* there is one; more would only take time */
    }
    return RMCP_OK;
}

static bool defines(const struct codeobj_section *symbols, const struct codeobj_section *names,
                    const char *name, size_t length)
{
    for (uint64_t at = 0; in_range(at, ELF_SYMBOL_BYTES, symbols->size); at += ELF_SYMBOL_BYTES) {
        const uint8_t *symbol = symbols->bytes + at;
        const uint32_t text = load_u32(symbol);
        const unsigned type = symbol[4] & 15; /* assembly may leave it open */
        const bool is_function = type == STT_FUNC || type == STT_NOTYPE || type == STT_GNU_IFUNC;
        const bool is_local = !(symbol[4] >> 4), is_undefined = !load_u16(symbol + 6);
        if (!is_function || is_local || is_undefined) continue;
        if (in_range(text, length + 1, names->size) &&
            !memcmp(names->bytes + text, name, length + 1))
            return true;
    }
    return false;
}

bool codeobj_linked_exports(const void *bytes, size_t size, const char *name)
{
    struct elf_view view;
    if (elf_view_init(&view, bytes, size)) return false;
    for (uint32_t i = 0; i < view.n_sections; i++) {
        const struct codeobj_section symbols = elf_section(&view, i);
        if (symbols.type != SHT_DYNSYM || !symbols.bytes || symbols.link >= view.n_sections)
            continue;
        const struct codeobj_section names = elf_section(&view, symbols.link);
        return names.bytes && defines(&symbols, &names, name, strlen(name));
    }
    return false;
}
