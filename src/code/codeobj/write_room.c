/* write_room.c: where the code of an object lies, and where new code will. */
#include <inttypes.h>
#include <string.h>

#include "base/round.h"
#include "code/codeobj/write_parts.h"

enum { LARGEST_ALIGN = 1 << 21 };

static rmcp_status refuse(const char *why)
{
    return rmcp_fail(RMCP_E_UNSUPPORTED, "this code object cannot be written again: %s", why);
}

static rmcp_status find_section(const struct codeobj *object, size_t *section)
{
    size_t n = 0;
    for (size_t i = 0; i < object->n_sections; i++) {
        const struct codeobj_section *s = &object->sections[i];
        if (!(s->flags & SHF_ALLOC) || !(s->flags & SHF_EXECINSTR) || !s->size) continue;
        if (!s->bytes) return refuse("its code is not in the file");
        if (n++) return refuse("it has several executable sections");
        *section = i;
    }
    return n ? RMCP_OK : refuse("it has no executable section");
}

static rmcp_status find_segment(const struct codeobj *object, size_t section, size_t *segment)
{
    const struct codeobj_section *text = &object->sections[section];
    size_t n = 0;
    for (size_t i = 0; i < object->n_segments; i++) {
        const struct codeobj_segment *s = &object->segments[i];
        if (s->type != PT_LOAD || !(s->flags & PF_X)) continue;
        if (n++) return refuse("it has several executable segments");
        *segment = i;
    }
    if (!n) return refuse("it has no executable segment");
    const struct codeobj_segment *rx = &object->segments[*segment];
    if (text->address < rx->address || text->offset < rx->offset ||
        text->address - rx->address != text->offset - rx->offset || text->size > rx->file_size ||
        text->address - rx->address > rx->file_size - text->size)
        return refuse("its code lies outside of the executable segment");
    if (!rx->align || rx->align & (rx->align - 1) || rx->align > LARGEST_ALIGN)
        return refuse("the alignment of its executable segment is no power of two, or too large");
    for (size_t i = 0; i < object->n_sections; i++) {
        const struct codeobj_section *other = &object->sections[i];
        if (i == section || !(other->flags & SHF_ALLOC) || !other->size) continue;
        if (other->address + other->size > rx->address &&
            other->address < rx->address + rx->memory_size)
            return refuse("its code shares a segment with data");
    }
    return RMCP_OK;
}

rmcp_status write_find_text(const struct codeobj *object, struct codeobj_room *room,
                            size_t *section, size_t *segment)
{
    size_t at_section = 0, at_segment = 0;
    *room = (struct codeobj_room){ 0 };
    if (object->is_relocatable) return refuse("it is relocatable, not linked");
    if (object->version < 3) return refuse("descriptors of version 2 lie in the code");
    rmcp_status status = find_section(object, &at_section);
    if (!status) status = find_segment(object, at_section, &at_segment);
    if (status) return status;
    const struct codeobj_section *text = &object->sections[at_section];
    uint64_t end = 0;
    for (size_t i = 0; i < object->n_segments; i++) {
        const struct codeobj_segment *s = &object->segments[i];
        const uint64_t limit = (uint64_t)1 << 40;
        if (s->type != PT_LOAD || i == at_segment) continue;
        if (s->address > limit || s->memory_size > limit)
            return refuse("its segments lie beyond 1 TiB");
        if (end < s->address + s->memory_size) end = s->address + s->memory_size;
    }
    uint64_t align = object->segments[at_segment].align;
    if (align < WRITE_PAGE) align = WRITE_PAGE;
    *room = (struct codeobj_room){ .old_address = text->address,
                                   .old_size = text->size,
                                   .old_bytes = text->bytes,
                                   .new_address = rmcp_round_up(end, align) };
    if (section) *section = at_section;
    if (segment) *segment = at_segment;
    return RMCP_OK;
}

rmcp_status codeobj_write_room(const struct codeobj *object, struct codeobj_room *out)
{
    if (!object || !out) return rmcp_fail(RMCP_E_ARG, "object or out is NULL");
    return write_find_text(object, out, NULL, NULL);
}

rmcp_status write_moved(const struct writing *w, uint64_t address, bool is_end, const char *what,
                        uint64_t *moved)
{
    const uint64_t start = w->room.new_address, end = start + w->change->text_size;
    *moved = 0;
    if (!w->change->moved(w->change->moved_context, address, is_end, moved))
        return rmcp_fail(RMCP_E_UNSUPPORTED, "%#" PRIx64 " in the code, %.200s, has no new place",
                         address, what);
    if (*moved < start || *moved > end)
        return rmcp_fail(RMCP_E_ARG,
                         "%#" PRIx64 " in the code, %.200s, would move to %#" PRIx64
                         ", outside of the new code",
                         address, what, *moved);
    return RMCP_OK;
}
