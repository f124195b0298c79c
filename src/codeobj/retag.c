/* retag.c: say of code for one gfx10 chip that it is for another: e_flags and the note's target. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codeobj/bytes.h"
#include "codeobj/elf.h"
#include "codeobj/msgpack.h"

enum { NOTE_HEADER = 12, NT_AMDGPU_METADATA = 32, APPEND_ALIGN = 8 };

static bool is_gfx10(const struct codeobj_target *target)
{
    return target->chip && !strncmp(target->chip, "gfx10", 5);
}

static enum codeobj_setting keep(enum codeobj_setting wanted, enum codeobj_setting had)
{
    /* ANY is what a target text gives when it does not name the feature. */
    return wanted == CODEOBJ_ANY && had != CODEOBJ_UNSUPPORTED ? had : wanted;
}

static rmcp_status new_flags(const struct codeobj *object, const char *text,
                             struct codeobj_target *target, uint32_t *flags)
{
    if (object->version < 3)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "retagging code object version %u; 3 to 6 can be",
                         object->version);
    if (!codeobj_target_parse(text, target))
        return rmcp_fail(RMCP_E_ARG, "'%.60s' is not a target", text);
    if (!is_gfx10(&object->target) || !is_gfx10(target))
        return rmcp_fail(RMCP_E_UNSUPPORTED, "retagging %s as %s: only within gfx10",
                         object->target.text, target->text);
    bool generic = strstr(target->chip, "generic");
    if (generic && object->version < 6)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "%s needs code object version 6, this is %u",
                         target->chip, object->version);
    enum codeobj_setting xnack = keep(target->xnack, object->target.xnack);
    *flags = object->e_flags & 0x00fff000; /* whatever LLVM may put there */
    *flags |= target->mach;
    if (object->version == 3) {
        if (xnack == CODEOBJ_ON) *flags |= 0x100;
    } else {
        *flags |= (uint32_t)xnack << 8;
    }
    if (generic) {
        uint32_t version = object->target.generic_version;
        *flags |= (version ? version : 1) << 24;
    }
    codeobj_target_read(*flags, object->version, target);
    return RMCP_OK;
}

/* Where the value of amdhsa.target lies in the note's contents: from `*start`, `*length` bytes with
 * its head. False: there is none. */
static bool find_target(const struct elf_note *note, size_t *start, size_t *length)
{
    struct msgpack in = { note->bytes, note->bytes + note->size };
    struct msgpack_value map, key, value;
    if (!msgpack_next(&in, &map) || map.type != MSGPACK_MAP) return false;
    for (uint64_t i = 0; i < map.number; i++) {
        if (!msgpack_next(&in, &key) || !msgpack_skip_rest(&in, &key)) return false;
        const uint8_t *at = in.at;
        if (!msgpack_next(&in, &value) || !msgpack_skip_rest(&in, &value)) return false;
        if (!msgpack_is(&key, "amdhsa.target")) continue;
        *start = (size_t)(at - note->bytes);
        *length = (size_t)(in.at - at);
        return value.type == MSGPACK_STRING;
    }
    return false;
}

/* The new value with its head, as LLVM encodes it. */
static size_t encode_target(const struct codeobj *object, const struct codeobj_target *target,
                            uint8_t out[256])
{
    char text[192];
    const char *chip = strstr(object->note_target, "-gfx");
    size_t prefix = chip ? (size_t)(chip + 1 - object->note_target) : 0;
    if (!chip || prefix > 100)
        snprintf(text, sizeof text, "amdgcn-amd-amdhsa--%s", target->text);
    else
        snprintf(text, sizeof text, "%.*s%s", (int)prefix, object->note_target, target->text);
    size_t length = strlen(text), head = length < 32 ? 1 : 2;
    out[0] = head == 1 ? (uint8_t)(0xa0 | length) : 0xd9;
    out[1] = (uint8_t)length; /* overwritten by the text when the head is one byte */
    memcpy(out + head, text, length);
    return head + length;
}

/* The one range of the file that every note section and segment with this note has. */
static rmcp_status find_container(const struct codeobj *object, uint64_t note, uint64_t *start,
                                  uint64_t *size)
{
    bool found = false, same = true;
    for (size_t i = 0; i < object->n_sections + object->n_segments; i++) {
        bool is_section = i < object->n_sections;
        const struct codeobj_section *section = is_section ? &object->sections[i] : NULL;
        const struct codeobj_segment *segment =
            is_section ? NULL : &object->segments[i - object->n_sections];
        if (is_section ? section->type != SHT_NOTE : segment->type != PT_NOTE) continue;
        uint64_t offset = is_section ? section->offset : segment->offset;
        uint64_t bytes = is_section ? section->size : segment->file_size;
        if (note < offset || note - offset >= bytes) continue;
        if (found && (*start != offset || *size != bytes)) same = false;
        found = true;
        *start = offset;
        *size = bytes;
    }
    return found && same ? RMCP_OK
                         : rmcp_fail(RMCP_E_UNSUPPORTED, "retagging: the note is in sections and "
                                                         "segments of different extent");
}

/* Point the headers of that range to where it is now. */
static void move_container(const struct elf_view *view, uint8_t *out, uint64_t start, uint64_t size,
                           uint64_t new_start, uint64_t new_size)
{
    for (uint32_t i = 0; i < view->n_sections; i++) {
        struct codeobj_section section = elf_section(view, i);
        uint8_t *header = out + view->sections_offset + (size_t)i * ELF_SECTION_BYTES;
        if (section.type != SHT_NOTE || section.offset != start || section.size != size) continue;
        store_u64(header + 24, new_start);
        store_u64(header + 32, new_size);
        if (new_start == start) continue;
        store_u64(header + 8, section.flags & ~(uint64_t)SHF_ALLOC); /* no longer in a segment */
        store_u64(header + 16, 0);
    }
    for (uint32_t i = 0; i < view->n_segments; i++) {
        struct codeobj_segment segment = elf_segment(view, i);
        uint8_t *header = out + view->segments_offset + (size_t)i * ELF_SEGMENT_BYTES;
        if (segment.type != PT_NOTE || segment.offset != start || segment.file_size != size)
            continue;
        store_u64(header + 8, new_start);
        store_u64(header + 32, new_size);
        store_u64(header + 40, new_size);
    }
}

static uint64_t align4(uint64_t size)
{
    return (size + 3) & ~(uint64_t)3;
}

struct change {
    struct elf_note note;
    size_t at, old_length, new_length; /* the target within the note's contents */
    uint8_t value[256];
};

/* Write the whole range of notes with the changed one in it; gives its size. */
static uint64_t write_notes(const struct elf_view *view, const struct change *c, uint64_t start,
                            uint64_t size, uint8_t *to)
{
    const uint8_t *from = view->bytes + start;
    uint64_t contents = (uint64_t)(c->note.bytes - from), end = contents + c->note.size;
    uint64_t behind = contents + align4(c->note.size); /* the next note */
    uint64_t changed = contents + c->at, n = changed;
    memcpy(to, from, (size_t)changed);
    memcpy(to + n, c->value, c->new_length);
    n += c->new_length;
    memcpy(to + n, from + changed + c->old_length, (size_t)(end - changed - c->old_length));
    n += end - changed - c->old_length;
    store_u32(to + (c->note.offset - start) + 4, (uint32_t)(n - contents));
    while ((n - contents) % 4) to[n++] = 0;
    if (behind < size) {
        memcpy(to + n, from + behind, (size_t)(size - behind));
        n += size - behind;
    }
    return n;
}

static rmcp_status change_note(const struct codeobj *object, const struct elf_view *view,
                               const struct change *c, uint8_t **out, size_t *out_size)
{
    uint64_t start = 0, size = 0;
    if (c->new_length == c->old_length) { /* the usual case: gfx1010 to gfx1030 */
        memcpy(*out + (c->note.bytes + c->at - view->bytes), c->value, c->new_length);
        return RMCP_OK;
    }
    rmcp_status status = find_container(object, c->note.offset, &start, &size);
    if (status) return status;
    size_t end = (view->size + APPEND_ALIGN - 1) / APPEND_ALIGN * APPEND_ALIGN;
    size_t room = end + (size_t)size + sizeof c->value + 4;
    uint8_t *grown = realloc(*out, room);
    if (!grown) return rmcp_fail_memory("retagged code object", room);
    *out = grown;
    memset(grown + view->size, 0, room - view->size);
    uint64_t n = write_notes(view, c, start, size, grown + end);
    if (n <= size) {
        memcpy(grown + start, grown + end, (size_t)n);
        memset(grown + start + n, 0, (size_t)(size - n));
        move_container(view, grown, start, size, start, n);
    } else {
        move_container(view, grown, start, size, end, n);
        *out_size = end + (size_t)n;
    }
    return RMCP_OK;
}

static rmcp_status retag(const struct codeobj *object, const char *text, uint8_t **out,
                         size_t *out_size)
{
    struct codeobj_target target;
    uint32_t flags = 0;
    struct elf_view view;
    struct change change = { 0 };
    rmcp_status status = new_flags(object, text, &target, &flags);
    if (!status) status = elf_view_init(&view, object->bytes, object->size);
    if (status) return status;
    *out = malloc(object->size);
    if (!*out) return rmcp_fail_memory("retagged code object", object->size);
    *out_size = object->size;
    memcpy(*out, object->bytes, object->size);
    store_u32(*out + 48, flags);
    if (!elf_find_note(&view, "AMDGPU", NT_AMDGPU_METADATA, &change.note) ||
        !find_target(&change.note, &change.at, &change.old_length))
        return RMCP_OK; /* version 3 has no target there */
    change.new_length = encode_target(object, &target, change.value);
    return change_note(object, &view, &change, out, out_size);
}

rmcp_status codeobj_retag(const void *bytes, size_t size, const char *target, uint8_t **out,
                          size_t *out_size)
{
    if (!out || !out_size) return rmcp_fail(RMCP_E_ARG, "out is NULL");
    *out = NULL;
    *out_size = 0;
    if (!target) return rmcp_fail(RMCP_E_ARG, "target is NULL");
    struct codeobj *object = NULL;
    rmcp_status status = codeobj_open(bytes, size, &object);
    if (!status) status = retag(object, target, out, out_size);
    if (!status) {
        /* In a crafted file the note may overlap with what describes it. */
        codeobj_close(object);
        status = codeobj_open(*out, *out_size, &object);
    }
    if (status) {
        free(*out);
        *out = NULL;
        *out_size = 0;
    }
    codeobj_close(object);
    return status;
}
