/* elf.c: a checked view of a 64-bit little-endian ELF file: of a GPU's code or of a host's. */
#include "code/codeobj/elf.h"

#include <string.h>

#include "code/codeobj/bytes.h"

enum { LONGEST_SECTION_NAME = 4096 };

bool elf_is(const uint8_t *bytes, size_t size, uint16_t *machine)
{
    /* \x7fELF, class 64, little-endian, version 1 */
    if (size < ELF_HEADER_BYTES || memcmp(bytes, "\177ELF\2\1\1", 7)) return false;
    if (machine) *machine = load_u16(bytes + 18);
    return true;
}

static rmcp_status read_sections(struct elf_view *view)
{
    const uint8_t *header = view->bytes;
    uint64_t n = load_u16(header + 60);
    view->sections_offset = load_u64(header + 40);
    view->names_section = load_u16(header + 62);
    if (!view->sections_offset) return RMCP_OK;
    if (!in_range(view->sections_offset, ELF_SECTION_BYTES, view->size))
        return rmcp_fail(RMCP_E_IO, "ELF: section headers at %#llx are beyond the end",
                         (unsigned long long)view->sections_offset);
    /* From 0xff00 sections on, number and index of the names are in the first header. */
    if (!n) n = load_u64(header + view->sections_offset + 32);
    if (view->names_section == 0xffff)
        view->names_section = load_u32(header + view->sections_offset + 40);
    if (load_u16(header + 58) != ELF_SECTION_BYTES)
        return rmcp_fail(RMCP_E_IO, "ELF: section headers of %u bytes", load_u16(header + 58));
    if (n > (view->size - view->sections_offset) / ELF_SECTION_BYTES || n > ELF_MAX_SECTIONS)
        return rmcp_fail(RMCP_E_IO, "ELF: %llu section headers at %#llx end beyond the file",
                         (unsigned long long)n, (unsigned long long)view->sections_offset);
    view->n_sections = (uint32_t)n;
    return RMCP_OK;
}

rmcp_status elf_view_init(struct elf_view *view, const void *bytes, size_t size)
{
    *view = (struct elf_view){ .bytes = bytes, .size = size };
    if (!elf_is(bytes, size, &view->machine))
        return rmcp_fail(RMCP_E_IO, "not a 64-bit little-endian ELF file");
    const uint8_t *header = bytes;
    view->os_abi = header[7];
    view->abi_version = header[8];
    view->type = load_u16(header + 16);
    view->flags = load_u32(header + 48);
    view->segments_offset = load_u64(header + 32);
    uint32_t n = load_u16(header + 56);
    if (n && view->segments_offset) {
        if (load_u16(header + 54) != ELF_SEGMENT_BYTES || n > ELF_MAX_SEGMENTS ||
            !in_range(view->segments_offset, (uint64_t)n * ELF_SEGMENT_BYTES, size))
            return rmcp_fail(RMCP_E_IO, "ELF: %u program headers of %u bytes at %#llx", n,
                             load_u16(header + 54), (unsigned long long)view->segments_offset);
        view->n_segments = n;
    }
    return read_sections(view);
}

struct codeobj_segment elf_segment(const struct elf_view *view, uint32_t i)
{
    const uint8_t *at = view->bytes + view->segments_offset + (size_t)i * ELF_SEGMENT_BYTES;
    return (struct codeobj_segment){ .type = load_u32(at),
                                     .flags = load_u32(at + 4),
                                     .offset = load_u64(at + 8),
                                     .address = load_u64(at + 16),
                                     .file_size = load_u64(at + 32),
                                     .memory_size = load_u64(at + 40),
                                     .align = load_u64(at + 48) };
}

static const uint8_t *section_header(const struct elf_view *view, uint32_t i)
{
    return view->bytes + view->sections_offset + (size_t)i * ELF_SECTION_BYTES;
}

static const char *section_name(const struct elf_view *view, uint32_t name)
{
    if (view->names_section >= view->n_sections) return "";
    const uint8_t *table = section_header(view, view->names_section);
    uint64_t offset = load_u64(table + 24), size = load_u64(table + 32);
    if (!in_range(offset, size, view->size) || name >= size) return "";
    const char *text = (const char *)view->bytes + offset + name;
    uint64_t room = size - name;
    if (room > LONGEST_SECTION_NAME) room = LONGEST_SECTION_NAME;
    return memchr(text, 0, (size_t)room) ? text : "";
}

struct codeobj_section elf_section(const struct elf_view *view, uint32_t i)
{
    const uint8_t *at = section_header(view, i);
    struct codeobj_section section = { .name = section_name(view, load_u32(at)),
                                       .type = load_u32(at + 4),
                                       .flags = load_u64(at + 8),
                                       .address = load_u64(at + 16),
                                       .offset = load_u64(at + 24),
                                       .size = load_u64(at + 32),
                                       .link = load_u32(at + 40),
                                       .info = load_u32(at + 44),
                                       .entry_size = load_u64(at + 56) };
    if (section.type && section.type != SHT_NOBITS &&
        in_range(section.offset, section.size, view->size))
        section.bytes = view->bytes + section.offset;
    return section;
}

bool elf_offset(const struct elf_view *view, uint64_t address, uint64_t size, uint64_t *offset)
{
    if (view->type == ET_REL) {
        *offset = address;
        return in_range(address, size, view->size);
    }
    for (uint32_t i = 0; i < view->n_segments; i++) {
        struct codeobj_segment segment = elf_segment(view, i);
        if (segment.type != PT_LOAD || address < segment.address ||
            !in_range(segment.offset, segment.file_size, view->size))
            continue;
        if (in_range(address - segment.address, size, segment.file_size)) {
            *offset = segment.offset + (address - segment.address);
            return true;
        }
    }
    return false;
}

size_t elf_extent(const uint8_t *bytes, size_t size)
{
    struct elf_view view;
    if (elf_view_init(&view, bytes, size)) return 0;
    uint64_t end = ELF_HEADER_BYTES;
    if (view.n_sections) {
        /* Linkers put the section headers last; whatever they describe lies before. */
        end = view.sections_offset + (uint64_t)view.n_sections * ELF_SECTION_BYTES;
    }
    for (uint32_t i = 0; i < view.n_segments; i++) {
        struct codeobj_segment segment = elf_segment(&view, i);
        if (segment.type != PT_LOAD && segment.type != PT_NOTE) continue;
        if (!in_range(segment.offset, segment.file_size, size)) return 0;
        if (end < segment.offset + segment.file_size) end = segment.offset + segment.file_size;
    }
    return (size_t)end;
}
