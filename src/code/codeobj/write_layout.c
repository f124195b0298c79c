/* write_layout.c: which segments and sections of a code object stay, and where everything goes. */
#include <stdlib.h>
#include <string.h>

#include "base/round.h"
#include "code/codeobj/bytes.h"
#include "code/codeobj/write_parts.h"

#define NOTE_SECTION ".note.rmcp"

enum { LARGEST_PIECE_ALIGN = 4096 };

static int compare_loads(const void *left, const void *right)
{
    const struct write_load *a = left, *b = right;
    if (a->old.offset != b->old.offset) return a->old.offset < b->old.offset ? -1 : 1;
    return (a->old.address > b->old.address) - (a->old.address < b->old.address);
}

/* Closes the gap that dropped code leaves, by whole pages, so that offsets and addresses stay
 * congruent. */
static rmcp_status place_loads(struct writing *w)
{
    uint64_t old_end = 0, new_end = 0;
    for (size_t i = 0; i < w->n_loads; i++) {
        struct write_load *load = &w->loads[i];
        const uint64_t align = load->old.align > WRITE_PAGE ? load->old.align : WRITE_PAGE;
        if (load->old.offset < old_end)
            return rmcp_fail(RMCP_E_UNSUPPORTED, "segments of the code object overlap");
        const uint64_t gap = load->old.offset - new_end;
        load->new_offset = load->old.offset - (align & (align - 1) ? 0 : gap / align * align);
        old_end = load->old.offset + load->old.file_size;
        new_end = load->new_offset + load->old.file_size;
    }
    w->out_size = (size_t)new_end;
    return RMCP_OK;
}

rmcp_status write_plan_segments(struct writing *w)
{
    const struct codeobj *object = w->object;
    w->loads = arena_alloc(w->arena, object->n_segments, sizeof *w->loads);
    if (!w->loads) return rmcp_fail_memory("segments", object->n_segments);
    for (size_t i = 0; i < object->n_segments; i++)
        if (object->segments[i].type == PT_LOAD && i != w->text_segment)
            w->loads[w->n_loads++].old = object->segments[i];
    if (w->n_loads) qsort(w->loads, w->n_loads, sizeof *w->loads, compare_loads);
    const uint64_t table = (uint64_t)object->n_segments * ELF_SEGMENT_BYTES;
    if (!w->n_loads || w->loads[0].old.offset || w->loads[0].old.file_size < ELF_HEADER_BYTES ||
        w->view.segments_offset < ELF_HEADER_BYTES ||
        !in_range(w->view.segments_offset, table, w->loads[0].old.file_size))
        return rmcp_fail(RMCP_E_UNSUPPORTED,
                         "the code object's headers lie in none of its segments");
    return place_loads(w);
}

static const struct write_load *find_load(const struct writing *w, uint64_t address, uint64_t size,
                                          bool in_file)
{
    for (size_t i = 0; i < w->n_loads; i++) {
        const struct codeobj_segment *s = &w->loads[i].old;
        if (address >= s->address &&
            in_range(address - s->address, size, in_file ? s->file_size : s->memory_size))
            return &w->loads[i];
    }
    return NULL;
}

bool write_offset(const struct writing *w, uint64_t address, uint64_t size, uint64_t *offset)
{
    const struct write_load *load = find_load(w, address, size, true);
    if (load) *offset = load->new_offset + (address - load->old.address);
    return load;
}

static bool starts(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

/* What speaks of addresses in the code, and of nothing that a loader needs. */
static bool is_for_debuggers(const struct codeobj_section *section)
{
    return section->type == SHT_RELA || section->type == SHT_REL ||
           starts(section->name, ".debug") || starts(section->name, ".zdebug") ||
           starts(section->name, ".gdb_index") || starts(section->name, ".stack_sizes") ||
           starts(section->name, ".llvm_bb_addr_map") || starts(section->name, ".llvm_stackmaps");
}

static rmcp_status plan_section(struct writing *w, size_t i)
{
    struct write_section *s = &w->sections[i];
    const struct codeobj_section *old = &w->object->sections[i];
    s->old = *old;
    s->align = load_u64(w->view.bytes + w->view.sections_offset + i * ELF_SECTION_BYTES + 48);
    s->new_size = old->bytes || old->type == SHT_NOBITS ? old->size : 0; /* 0: of no type */
    s->bytes = old->bytes;
    if (s->align > LARGEST_PIECE_ALIGN || !s->align || s->align & (s->align - 1))
        s->align = s->align > LARGEST_PIECE_ALIGN ? LARGEST_PIECE_ALIGN : 1;
    if (!i) return RMCP_OK;
    if (old->type == SHT_SYMTAB_SHNDX)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "the code object has 65,280 sections or more");
    if (w->change->text && old->type == SHT_RELR && old->size)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "the code object has packed relocations");
    s->is_piece = !(old->flags & SHF_ALLOC);
    if (s->is_piece && w->change->text && is_for_debuggers(old)) return RMCP_OK;
    s->number = (uint32_t)w->n_sections++;
    if (s->is_piece || (w->change->text && i == w->text_section)) return RMCP_OK;
    const bool in_file = old->type != SHT_NOBITS;
    const struct write_load *load = find_load(w, old->address, old->size, in_file);
    if (!load && !old->size) return RMCP_OK; /* it may stand anywhere */
    if (!load || (in_file && old->offset - load->old.offset != old->address - load->old.address))
        return rmcp_fail(RMCP_E_UNSUPPORTED, "section %.100s lies in no segment", old->name);
    s->new_offset = load->new_offset + (old->offset - load->old.offset);
    return RMCP_OK;
}

rmcp_status write_plan_sections(struct writing *w)
{
    const size_t n = w->object->n_sections;
    if (!n || n >= SHN_LORESERVE - 1)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "a code object with %zu section headers", n);
    w->sections = arena_alloc(w->arena, n + 1, sizeof *w->sections);
    if (!w->sections) return rmcp_fail_memory("sections", n);
    w->n_sections = 1;
    rmcp_status status = RMCP_OK;
    for (size_t i = 0; !status && i < n; i++) status = plan_section(w, i);
    return status;
}

/* The name of a section that was not there before. */
static rmcp_status add_name(struct writing *w, const char *name, uint32_t *offset)
{
    const uint32_t i = w->view.names_section;
    struct write_section *names = i < w->object->n_sections ? &w->sections[i] : NULL;
    if (!names || !names->is_piece || !names->bytes || names->old.type != SHT_STRTAB)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "the code object has no table of section names");
    buffer_add(&w->names, names->bytes, (size_t)names->new_size);
    *offset = (uint32_t)w->names.size;
    buffer_add(&w->names, name, strlen(name) + 1);
    names->bytes = w->names.bytes;
    names->new_size = w->names.size;
    return buffer_status(&w->names);
}

static void place_piece(struct writing *w, struct write_section *s)
{
    w->out_size = (size_t)rmcp_round_up(w->out_size, s->align);
    s->new_offset = w->out_size;
    if (s->old.type != SHT_NOBITS) w->out_size += (size_t)s->new_size;
}

static bool is_note(const struct write_section *s)
{
    return s->old.type == SHT_NOTE && s->number;
}

/* Loaded segments, new code, notes when they were moved, what is not loaded, section headers. */
static void place_all(struct writing *w, uint64_t *headers)
{
    const size_t n = w->object->n_sections + 1;
    if (w->change->text) {
        w->out_size = (size_t)rmcp_round_up(w->out_size, w->text_align);
        w->text_offset = w->out_size;
        w->out_size += w->change->text_size;
        w->sections[w->text_section].new_offset = w->text_offset;
        w->sections[w->text_section].new_size = w->change->text_size;
    }
    w->out_size = (size_t)rmcp_round_up(w->out_size, 8);
    w->notes_offset = w->out_size;
    for (size_t i = 1; i < n; i++)
        if (is_note(&w->sections[i]) && w->sections[i].is_piece) place_piece(w, &w->sections[i]);
    for (size_t i = 1; i < n; i++)
        if (!is_note(&w->sections[i]) && w->sections[i].is_piece && w->sections[i].number)
            place_piece(w, &w->sections[i]);
    w->out_size = (size_t)rmcp_round_up(w->out_size, 8);
    *headers = w->out_size;
    w->out_size += w->n_sections * ELF_SECTION_BYTES;
}

static uint32_t renumber(const struct writing *w, uint32_t i)
{
    return i < w->object->n_sections ? w->sections[i].number : i;
}

static void write_section_headers(struct writing *w, uint64_t headers, uint32_t note_name)
{
    const size_t n = w->object->n_sections;
    for (size_t i = 0; i < n; i++) {
        const struct write_section *s = &w->sections[i];
        if (i && !s->number) continue;
        uint8_t *to = w->out + headers + (size_t)s->number * ELF_SECTION_BYTES;
        memcpy(to, w->view.bytes + w->view.sections_offset + i * ELF_SECTION_BYTES,
               ELF_SECTION_BYTES);
        if (!i) continue;
        store_u64(to + 24, s->new_offset);
        store_u64(to + 32, s->new_size);
        store_u32(to + 40, renumber(w, s->old.link));
        if (s->old.type == SHT_RELA || s->old.type == SHT_REL || s->old.flags & SHF_INFO_LINK)
            store_u32(to + 44, renumber(w, s->old.info));
        if (s->old.type == SHT_SYMTAB && s->is_piece && w->symbols.size)
            store_u32(to + 44, w->first_global);
        if (s->is_piece) {
            store_u64(to + 8, s->old.flags & ~(uint64_t)SHF_ALLOC);
            store_u64(to + 16, 0);
        }
        if (w->change->text && i == w->text_section) {
            store_u64(to + 16, w->room.new_address);
            if (load_u64(to + 48) < CODEOBJ_TEXT_ALIGN) store_u64(to + 48, CODEOBJ_TEXT_ALIGN);
        }
    }
    if (!w->sections[n].number) return;
    uint8_t *to = w->out + headers + (size_t)w->sections[n].number * ELF_SECTION_BYTES;
    store_u32(to, note_name);
    store_u32(to + 4, SHT_NOTE);
    store_u64(to + 24, w->sections[n].new_offset);
    store_u64(to + 32, w->sections[n].new_size);
    store_u64(to + 48, w->sections[n].align);
}

static void write_segment(uint8_t *to, const struct writing *w, size_t i, bool *has_notes)
{
    const struct codeobj_segment *old = &w->object->segments[i];
    memcpy(to, w->view.bytes + w->view.segments_offset + i * ELF_SEGMENT_BYTES, ELF_SEGMENT_BYTES);
    if (i == w->text_segment) {
        store_u64(to + 8, w->text_offset);
        store_u64(to + 16, w->room.new_address);
        store_u64(to + 24, w->room.new_address);
        store_u64(to + 32, w->change->text_size);
        store_u64(to + 40, w->change->text_size);
        store_u64(to + 48, w->text_align);
        return;
    }
    if (old->type == PT_NOTE && w->move_notes) {
        uint64_t end = w->notes_offset;
        for (size_t j = 1; j <= w->object->n_sections; j++)
            if (is_note(&w->sections[j]) &&
                end < w->sections[j].new_offset + w->sections[j].new_size)
                end = w->sections[j].new_offset + w->sections[j].new_size;
        if (*has_notes) store_u32(to, PT_NULL);
        *has_notes = true;
        store_u64(to + 8, w->notes_offset);
        store_u64(to + 16, 0);
        store_u64(to + 24, 0);
        store_u64(to + 32, end - w->notes_offset);
        store_u64(to + 40, end - w->notes_offset);
        return;
    }
    for (size_t j = 0; j < w->n_loads; j++) {
        const struct write_load *load = &w->loads[j];
        if (old->offset >= load->old.offset && old->address >= load->old.address &&
            in_range(old->offset - load->old.offset, old->file_size, load->old.file_size)) {
            store_u64(to + 8, load->new_offset + (old->offset - load->old.offset));
            return;
        }
    }
    if (old->file_size) store_u32(to, PT_NULL); /* its bytes were not loaded and are gone */
}

/* In their order, but the code's last of those that are loaded: they must rise. */
static void write_segment_headers(struct writing *w)
{
    const size_t n = w->object->n_segments;
    uint8_t *to = w->out + w->view.segments_offset;
    size_t last_load = 0;
    bool has_notes = false;
    for (size_t i = 0; i < n; i++)
        if (w->object->segments[i].type == PT_LOAD) last_load = i;
    for (size_t i = 0; i < n; i++) {
        if (i != w->text_segment) {
            write_segment(to, w, i, &has_notes);
            to += ELF_SEGMENT_BYTES;
        }
        if (i == last_load && w->text_segment < n) {
            write_segment(to, w, w->text_segment, &has_notes);
            to += ELF_SEGMENT_BYTES;
        }
    }
}

static void write_header(struct writing *w, uint64_t headers)
{
    store_u64(w->out + 40, headers);
    store_u32(w->out + 48, w->e_flags);
    store_u16(w->out + 60, (uint16_t)w->n_sections);
    store_u16(w->out + 62, (uint16_t)renumber(w, w->view.names_section));
}

rmcp_status write_layout(struct writing *w)
{
    const size_t n = w->object->n_sections;
    uint64_t headers = 0;
    uint32_t name = 0;
    rmcp_status status = RMCP_OK;
    if (w->sections[n].number) status = add_name(w, NOTE_SECTION, &name);
    if (status) return status;
    place_all(w, &headers);
    w->out = calloc(1, w->out_size);
    if (!w->out) return rmcp_fail_memory("code object", w->out_size);
    for (size_t i = 0; i < w->n_loads; i++)
        if (w->loads[i].old.file_size)
            memcpy(w->out + w->loads[i].new_offset, w->view.bytes + w->loads[i].old.offset,
                   (size_t)w->loads[i].old.file_size);
    if (w->change->text) memcpy(w->out + w->text_offset, w->change->text, w->change->text_size);
    for (size_t i = 1; i <= n; i++) {
        const struct write_section *s = &w->sections[i];
        if (!s->number || s->old.type == SHT_NOBITS) continue;
        uint64_t old_place;
        if (is_note(s) && s->old.flags & SHF_ALLOC && w->move_notes &&
            write_offset(w, s->old.address, s->old.size, &old_place))
            memset(w->out + old_place, 0, (size_t)s->old.size);
        if (s->new_size && (s->is_piece || is_note(s)))
            memcpy(w->out + s->new_offset, s->bytes, (size_t)s->new_size);
    }
    write_section_headers(w, headers, name);
    write_segment_headers(w);
    write_header(w, headers);
    return RMCP_OK;
}
