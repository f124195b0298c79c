/* elf.h: a checked view of a 64-bit little-endian ELF file: of a GPU's code or of a host's. */
#ifndef RMCP_CODEOBJ_ELF_H
#define RMCP_CODEOBJ_ELF_H

#include "code/codeobj/codeobj.h"

enum {
    EM_AMDGPU = 224,
    ELFOSABI_AMDGPU_HSA = 64,
    ET_REL = 1,
    SHT_PROGBITS = 1,
    SHT_SYMTAB = 2,
    SHT_NOTE = 7,
    SHT_NOBITS = 8,
    SHT_DYNSYM = 11,
    SHF_ALLOC = 2,
    SHF_EXECINSTR = 4,
    PT_LOAD = 1,
    PT_DYNAMIC = 2,
    PT_NOTE = 4,
    PF_X = 1,
    STT_OBJECT = 1,
    STT_FUNC = 2,
    STT_AMDGPU_HSA_KERNEL = 10,
    ELF_HEADER_BYTES = 64,
    ELF_SECTION_BYTES = 64,
    ELF_SEGMENT_BYTES = 56,
    ELF_SYMBOL_BYTES = 24,
    ELF_MAX_SEGMENTS = 512,    /* real files have a dozen; lookups by address are linear in it */
    ELF_MAX_SECTIONS = 1 << 20 /* real files have dozens, relocatable ones thousands           */
};

struct elf_view {
    const uint8_t *bytes;
    size_t size;
    uint8_t os_abi, abi_version;
    uint16_t type, machine;
    uint32_t flags;
    uint64_t segments_offset, sections_offset;
    uint32_t n_segments, n_sections, names_section;
};

/* Whether a 64-bit little-endian ELF header starts here; `machine` may be NULL. */
bool elf_is(const uint8_t *bytes, size_t size, uint16_t *machine);

rmcp_status elf_view_init(struct elf_view *view, const void *bytes, size_t size);

/* `i` below n_segments or n_sections. A section's bytes are NULL when it has none in the file. */
struct codeobj_segment elf_segment(const struct elf_view *view, uint32_t i);
struct codeobj_section elf_section(const struct elf_view *view, uint32_t i);

/* File offset of `size` bytes at a virtual address, by the loaded segments; false: not there. */
bool elf_offset(const struct elf_view *view, uint64_t address, uint64_t size, uint64_t *offset);

struct elf_note {
    uint64_t offset, end; /* in the file, with header and padding  */
    const uint8_t *owner; /* owner_size bytes with the final NUL   */
    const uint8_t *bytes; /* the contents                          */
    uint32_t owner_size, size, type;
};

enum { NT_AMD_HSA_ISA_VERSION = 3, NT_AMDGPU_METADATA = 32 };

bool elf_note_is(const struct elf_note *note, const char *owner, uint32_t type);

/* notes.c: the note at `*at`, which then is behind it. `*note` has offset 0 when there is none
 * before `end`. */
rmcp_status elf_next_note(const struct elf_view *view, uint64_t *at, uint64_t end,
                          struct elf_note *note);

/* Calls `visit` for all notes, until it fails: those of the sections, or of the segments where no
 * section has notes. A linked object may have hundreds: one of each of its parts. */
rmcp_status elf_each_note(const struct elf_view *view,
                          rmcp_status (*visit)(void *context, const struct elf_note *note),
                          void *context);

/* How many bytes this file takes when other things follow it; 0 when it ends beyond `size`. The
 * cost does not depend on the number of sections, so that a scan stays linear. */
size_t elf_extent(const uint8_t *bytes, size_t size);

#endif
