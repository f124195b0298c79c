/* notes.c: the notes of an ELF file, by its sections or by its segments. */
#include <string.h>

#include "code/codeobj/bytes.h"
#include "code/codeobj/elf.h"

enum { NOTE_HEADER = 12 };

bool elf_note_is(const struct elf_note *note, const char *owner, uint32_t type)
{
    return note->type == type && note->owner_size == strlen(owner) + 1 &&
           !memcmp(note->owner, owner, note->owner_size);
}

static uint64_t align4(uint64_t size)
{
    return (size + 3) & ~(uint64_t)3;
}

rmcp_status elf_next_note(const struct elf_view *view, uint64_t *at, uint64_t end,
                          struct elf_note *note)
{
    *note = (struct elf_note){ 0 };
    uint64_t left = end - *at;
    if (left < NOTE_HEADER) return RMCP_OK; /* at most padding */
    const uint8_t *header = view->bytes + *at;
    uint32_t owner_size = load_u32(header), size = load_u32(header + 4);
    uint64_t contents = NOTE_HEADER + align4(owner_size);
    if (contents > left || size > left - contents)
        return rmcp_fail(RMCP_E_IO, "note at %#llx is cut off", (unsigned long long)*at);
    uint64_t whole = contents + align4(size);
    *note = (struct elf_note){ .offset = *at,
                               .end = *at + (whole < left ? whole : left),
                               .owner = header + NOTE_HEADER,
                               .bytes = header + contents,
                               .owner_size = owner_size,
                               .size = size,
                               .type = load_u32(header + 8) };
    *at = note->end;
    return RMCP_OK;
}

struct each {
    const struct elf_view *view;
    rmcp_status (*visit)(void *context, const struct elf_note *note);
    void *context;
    uint64_t left; /* bytes of notes: not more than the file, however often it is claimed */
};

static rmcp_status each_in(struct each *each, uint64_t at, uint64_t size)
{
    uint64_t end = at + size;
    struct elf_note note;
    if (size > each->left) return rmcp_fail(RMCP_E_IO, "sections or segments of notes overlap");
    each->left -= size;
    for (;;) {
        rmcp_status status = elf_next_note(each->view, &at, end, &note);
        if (status || !note.offset) return status;
        status = each->visit(each->context, &note);
        if (status) return status;
    }
}

rmcp_status elf_each_note(const struct elf_view *view,
                          rmcp_status (*visit)(void *context, const struct elf_note *note),
                          void *context)
{
    struct each each = { view, visit, context, view->size };
    bool found = false;
    rmcp_status status = RMCP_OK;
    for (uint32_t i = 0; !status && i < view->n_sections; i++) {
        struct codeobj_section section = elf_section(view, i);
        if (section.type != SHT_NOTE || !section.bytes || !section.size) continue;
        found = true;
        status = each_in(&each, section.offset, section.size);
    }
    for (uint32_t i = 0; !status && !found && i < view->n_segments; i++) {
        struct codeobj_segment segment = elf_segment(view, i);
        if (segment.type == PT_NOTE && in_range(segment.offset, segment.file_size, view->size))
            status = each_in(&each, segment.offset, segment.file_size);
    }
    return status;
}
