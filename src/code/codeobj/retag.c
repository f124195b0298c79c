/* retag.c: say of code for one chip that it is for another of its generation: e_flags and the
 * target in the notes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/round.h"
#include "code/codeobj/bytes.h"
#include "code/codeobj/elf.h"
#include "code/codeobj/msgpack.h"
#include "code/codeobj/parts.h"

enum { APPEND_ALIGN = 8, MOST_NOTE_SECTIONS = 64, VALUE_MAX = 256 };

/* gfx90c and gfx9-generic are of generation 9, gfx1010 and gfx10-1-generic of 10; 0 when unknown.
 */
static unsigned generation(const struct codeobj_target *target)
{
    const char *digits = target->chip ? target->chip + strlen("gfx") : "";
    size_t n = strcspn(digits, "-"), length = digits[n] ? n : n > 2 ? n - 2 : 0;
    unsigned number = 0;
    for (size_t i = 0; i < length; i++) number = number * 10 + (unsigned)(digits[i] - '0');
    return number;
}

static enum codeobj_setting keep(enum codeobj_setting wanted, enum codeobj_setting had)
{
    /* ANY is what a target text gives when it does not name the feature. */
    return wanted == CODEOBJ_ANY && had != CODEOBJ_UNSUPPORTED ? had : wanted;
}

rmcp_status retag_flags(const struct codeobj *object, const char *text,
                        struct codeobj_target *target, uint32_t *flags)
{
    if (object->version < 3)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "retagging code object version %u; 3 to 6 can be",
                         object->version);
    if (!codeobj_target_parse(text, target))
        return rmcp_fail(RMCP_E_ARG, "'%.60s' is not a target", text);
    const unsigned of = generation(&object->target);
    if (of < 9 || of != generation(target))
        return rmcp_fail(RMCP_E_UNSUPPORTED,
                         "retagging %s as %s: only within one generation from gfx9 on",
                         object->target.text, target->text);
    bool generic = strstr(target->chip, "generic");
    if (generic && object->version < 6)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "%s needs code object version 6, this is %u",
                         target->chip, object->version);
    enum codeobj_setting xnack = keep(target->xnack, object->target.xnack);
    enum codeobj_setting sramecc = keep(target->sramecc, object->target.sramecc);
    *flags = object->e_flags & 0x00fff000; /* whatever LLVM may put there */
    *flags |= target->mach;
    if (object->version == 3) {
        if (xnack == CODEOBJ_ON) *flags |= 0x100;
        if (sramecc == CODEOBJ_ON) *flags |= 0x200;
    } else {
        *flags |= (uint32_t)xnack << 8 | (uint32_t)sramecc << 10;
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
    if (!elf_note_is(note, "AMDGPU", NT_AMDGPU_METADATA)) return false;
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

void retag_name(const struct codeobj *object, const struct codeobj_target *target,
                char out[RETAG_NAME_MAX])
{
    const char *chip = strstr(object->note_target, "-gfx");
    size_t prefix = chip ? (size_t)(chip + 1 - object->note_target) : 0;
    if (!chip || prefix > 100)
        snprintf(out, RETAG_NAME_MAX, "amdgcn-amd-amdhsa--%s", target->text);
    else
        snprintf(out, RETAG_NAME_MAX, "%.*s%s", (int)prefix, object->note_target, target->text);
}

/* The new value with its head, as LLVM encodes it. */
static size_t encode_target(const struct codeobj *object, const struct codeobj_target *target,
                            uint8_t out[VALUE_MAX])
{
    char text[RETAG_NAME_MAX];
    retag_name(object, target, text);
    size_t length = strlen(text), head = length < 32 ? 1 : 2;
    out[0] = head == 1 ? (uint8_t)(0xa0 | length) : 0xd9;
    out[1] = (uint8_t)length; /* overwritten by the text when the head is one byte */
    memcpy(out + head, text, length);
    return head + length;
}

/* What is to be done to the notes. */
struct change {
    const struct elf_view *view;
    uint8_t value[VALUE_MAX];
    size_t length;
    uint8_t *out;           /* for changes in place                  */
    uint64_t first, behind; /* all notes with a target lie in between */
    size_t n;
    bool same_length;
};

static rmcp_status survey(void *context, const struct elf_note *note)
{
    struct change *c = context;
    size_t at, length;
    if (!find_target(note, &at, &length)) return RMCP_OK;
    if (!c->n++) c->first = note->offset;
    if (c->first > note->offset) c->first = note->offset;
    if (c->behind < note->end) c->behind = note->end;
    if (length != c->length) c->same_length = false;
    return RMCP_OK;
}

static rmcp_status overwrite(void *context, const struct elf_note *note)
{
    struct change *c = context;
    size_t at, length;
    if (find_target(note, &at, &length))
        memcpy(c->out + (note->bytes + at - c->view->bytes), c->value, c->length);
    return RMCP_OK;
}

static rmcp_status odd_layout(void)
{
    return rmcp_fail(RMCP_E_UNSUPPORTED, "retagging: the notes lie in no one segment or section");
}

/* The changed note; `to` may be NULL. Gives its size. */
static uint64_t write_note(const struct change *c, const struct elf_note *note, uint8_t *to)
{
    const uint8_t *from = c->view->bytes + note->offset;
    uint64_t whole = note->end - note->offset;
    size_t at, length;
    if (!find_target(note, &at, &length)) {
        if (to) memcpy(to, from, (size_t)whole);
        return whole;
    }
    size_t head = (size_t)(note->bytes - from) + at, tail = note->size - at - length;
    size_t size = at + c->length + tail, padding = (0 - size) % 4;
    if (to) {
        memcpy(to, from, head);
        store_u32(to + 4, (uint32_t)size);
        memcpy(to + head, c->value, c->length);
        memcpy(to + head + c->length, note->bytes + at + length, tail);
        memset(to + head + c->length + tail, 0, padding);
    }
    return head + c->length + tail + padding;
}

/* The notes from `start` up to `stop`, where one must begin or the range to `end` be over. */
static rmcp_status write_notes(const struct change *c, uint64_t start, uint64_t end, uint64_t stop,
                               uint8_t *to, uint64_t *size)
{
    uint64_t at = start;
    struct elf_note note;
    *size = 0;
    while (at < stop) {
        rmcp_status status = elf_next_note(c->view, &at, end, &note);
        if (status) return status;
        if (!note.offset) { /* padding */
            if (to) memcpy(to + *size, c->view->bytes + at, (size_t)(end - at));
            *size += end - at;
            at = end;
        } else {
            *size += write_note(c, &note, to ? to + *size : NULL);
        }
    }
    return at == stop ? RMCP_OK : odd_layout();
}

/* The segment, or in a relocatable object the section, that has all the notes. */
static rmcp_status find_container(const struct codeobj *object, const struct change *c,
                                  uint64_t *start, uint64_t *end)
{
    for (size_t i = 0; i < object->n_segments + object->n_sections; i++) {
        uint64_t offset, size;
        if (i < object->n_segments) {
            if (object->segments[i].type != PT_NOTE) continue;
            offset = object->segments[i].offset;
            size = object->segments[i].file_size;
        } else {
            const struct codeobj_section *section = &object->sections[i - object->n_segments];
            if (section->type != SHT_NOTE) continue;
            offset = section->offset;
            size = section->size;
        }
        if (offset > c->first || offset + size < c->behind) continue;
        *start = offset;
        *end = offset + size;
        return RMCP_OK;
    }
    return odd_layout();
}

/* Where a part of the notes is now, in the notes. */
static rmcp_status moved(const struct change *c, uint64_t start, uint64_t end, uint64_t offset,
                         uint64_t length, uint64_t *new_offset, uint64_t *new_size)
{
    uint64_t new_end = 0;
    if (offset < start || !in_range(offset, length, end)) return odd_layout();
    rmcp_status status = write_notes(c, start, end, offset, NULL, new_offset);
    if (!status) status = write_notes(c, start, end, offset + length, NULL, &new_end);
    *new_size = new_end - *new_offset;
    return status;
}

/* Point the headers of sections and segments within the notes to where these are now. */
static rmcp_status move_headers(const struct change *c, uint64_t start, uint64_t end,
                                uint64_t new_start)
{
    const struct elf_view *view = c->view;
    unsigned left = MOST_NOTE_SECTIONS;
    uint64_t offset = 0, size = 0;
    for (uint32_t i = 0; i < view->n_sections; i++) {
        struct codeobj_section section = elf_section(view, i);
        uint8_t *header = c->out + view->sections_offset + (size_t)i * ELF_SECTION_BYTES;
        if (section.type != SHT_NOTE || section.offset >= end ||
            section.offset + section.size <= start)
            continue;
        rmcp_status status =
            left-- ? moved(c, start, end, section.offset, section.size, &offset, &size)
                   : odd_layout();
        if (status) return status;
        store_u64(header + 24, new_start + offset);
        store_u64(header + 32, size);
        if (new_start == start) {
            store_u64(header + 16, section.address - (section.offset - start - offset));
        } else {
            store_u64(header + 8, section.flags & ~(uint64_t)SHF_ALLOC); /* in no segment now */
            store_u64(header + 16, 0);
        }
    }
    for (uint32_t i = 0; i < view->n_segments; i++) {
        struct codeobj_segment segment = elf_segment(view, i);
        uint8_t *header = c->out + view->segments_offset + (size_t)i * ELF_SEGMENT_BYTES;
        if (segment.type != PT_NOTE || segment.offset >= end ||
            segment.offset + segment.file_size <= start)
            continue;
        rmcp_status status =
            moved(c, start, end, segment.offset, segment.file_size, &offset, &size);
        if (status) return status;
        store_u64(header + 8, new_start + offset);
        store_u64(header + 32, size);
        store_u64(header + 40, size);
    }
    return RMCP_OK;
}

/* Notes of another length: in their old place when they fit there, else at the end of the file. */
static rmcp_status rewrite(const struct codeobj *object, struct change *c, uint8_t **out,
                           size_t *out_size)
{
    uint64_t start = 0, end = 0, size = 0;
    rmcp_status status = find_container(object, c, &start, &end);
    if (!status) status = write_notes(c, start, end, end, NULL, &size);
    if (status) return status;
    uint64_t new_start = start;
    if (size > end - start) {
        new_start = rmcp_round_up(object->size, APPEND_ALIGN);
        uint8_t *grown = realloc(*out, (size_t)(new_start + size));
        if (!grown) return rmcp_fail_memory("retagged code object", (size_t)(new_start + size));
        memset(grown + object->size, 0, (size_t)(new_start - object->size));
        *out = grown;
        *out_size = (size_t)(new_start + size);
    } else {
        memset(*out + start, 0, (size_t)(end - start));
    }
    c->out = *out;
    status = write_notes(c, start, end, end, *out + new_start, &size);
    return status ? status : move_headers(c, start, end, new_start);
}

static rmcp_status retag(const struct codeobj *object, const char *text, uint8_t **out,
                         size_t *out_size)
{
    struct codeobj_target target;
    uint32_t flags = 0;
    struct elf_view view;
    struct change change = { .view = &view, .same_length = true };
    rmcp_status status = retag_flags(object, text, &target, &flags);
    if (!status) status = elf_view_init(&view, object->bytes, object->size);
    if (status) return status;
    *out = malloc(object->size);
    if (!*out) return rmcp_fail_memory("retagged code object", object->size);
    *out_size = object->size;
    memcpy(*out, object->bytes, object->size);
    store_u32(*out + 48, flags);
    change.length = encode_target(object, &target, change.value);
    change.out = *out;
    status = elf_each_note(&view, survey, &change);
    if (status || !change.n) return status; /* version 3 has no target there */
    /* The usual case, gfx1010 to gfx1030. */
    if (change.same_length) return elf_each_note(&view, overwrite, &change);
    return rewrite(object, &change, out, out_size);
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
