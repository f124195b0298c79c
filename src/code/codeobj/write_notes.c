/* write_notes.c: the notes of a code object written again: kernels' numbers, target, our own note.
 */
#include <stdlib.h>
#include <string.h>

#include "code/codeobj/msgpack.h"
#include "code/codeobj/parts.h"
#include "code/codeobj/write_parts.h"

struct note_writing {
    const struct writing *w;
    const struct codeobj_kernel_change **changes; /* by kernel; NULL: none */
    struct msgpack in;
    struct buffer *out;
    size_t kernel; /* the next one that a note describes */
    bool had_own;
};

static rmcp_status malformed(void)
{
    return rmcp_fail(RMCP_E_IO, "the metadata note cannot be written again");
}

static void copy_since(struct note_writing *n, const uint8_t *start)
{
    buffer_add(n->out, start, (size_t)(n->in.at - start));
}

static uint32_t number_of(const struct codeobj_metadata *metadata, size_t i)
{
    uint32_t number;
    memcpy(&number, (const char *)metadata + metadata_numbers[i].offset, sizeof number);
    return number;
}

static bool copy_value(struct note_writing *n)
{
    const uint8_t *start = n->in.at;
    if (!msgpack_skip(&n->in)) return false;
    copy_since(n, start);
    return true;
}

/* One pair of a kernel's map; `missing` forgets the number that it has. */
static bool write_kernel_pair(struct note_writing *n, const struct codeobj_metadata *old,
                              const struct codeobj_metadata *new, uint32_t *missing)
{
    const uint8_t *start = n->in.at;
    struct msgpack_value key, value;
    if (!msgpack_next(&n->in, &key) || !msgpack_skip_rest(&n->in, &key)) return false;
    size_t i = 0;
    while (i < METADATA_NUMBERS && !msgpack_is(&key, metadata_numbers[i].key)) i++;
    if (i < METADATA_NUMBERS) *missing &= ~(1u << i);
    copy_since(n, start);
    if (i == METADATA_NUMBERS || number_of(old, i) == number_of(new, i)) return copy_value(n);
    if (!msgpack_next(&n->in, &value) || !msgpack_skip_rest(&n->in, &value)) return false;
    const uint8_t truth = number_of(new, i) ? 0xc3 : 0xc2;
    if (value.type == MSGPACK_BOOL)
        buffer_add(n->out, &truth, 1);
    else
        buffer_add_msgpack_uint(n->out, number_of(new, i));
    return true;
}

static bool write_kernel(struct note_writing *n)
{
    const struct codeobj *object = n->w->object;
    if (n->kernel >= object->n_kernels) return false;
    const struct codeobj_kernel_change *change = n->changes[n->kernel];
    const struct codeobj_metadata *old = &object->kernels[n->kernel++].metadata;
    if (!change) return copy_value(n);
    if (change->is_left_out) return msgpack_skip(&n->in);
    struct msgpack_value map;
    uint32_t missing = 0, n_missing = 0;
    for (size_t i = 0; i < METADATA_NUMBERS; i++)
        if (number_of(old, i) != number_of(&change->metadata, i)) missing |= 1u << i;
    /* The head says how many there will be, so what is missing must be known before. */
    struct note_writing ahead = *n;
    struct buffer dropped = { 0 };
    ahead.out = &dropped;
    bool ok = msgpack_next(&ahead.in, &map) && map.type == MSGPACK_MAP;
    for (uint64_t i = 0; ok && i < map.number; i++)
        ok = write_kernel_pair(&ahead, old, &change->metadata, &missing);
    buffer_deinit(&dropped);
    for (size_t i = 0; i < METADATA_NUMBERS; i++) n_missing += missing >> i & 1;
    if (!ok || map.number > UINT32_MAX - n_missing) return false;
    const uint8_t *start = n->in.at;
    if (!msgpack_next(&n->in, &map)) return false;
    if (n_missing)
        buffer_add_msgpack_map(n->out, (uint32_t)map.number + n_missing);
    else
        copy_since(n, start);
    uint32_t seen = 0;
    for (uint64_t i = 0; i < map.number; i++)
        if (!write_kernel_pair(n, old, &change->metadata, &seen)) return false;
    for (size_t i = 0; i < METADATA_NUMBERS; i++) {
        if (!(missing >> i & 1)) continue;
        const char *key = metadata_numbers[i].key;
        buffer_add_msgpack_string(n->out, key, strlen(key));
        buffer_add_msgpack_uint(n->out, number_of(&change->metadata, i));
    }
    return true;
}

static bool write_kernels(struct note_writing *n)
{
    struct msgpack_value array;
    const uint8_t *start = n->in.at;
    if (!msgpack_next(&n->in, &array) || array.type != MSGPACK_ARRAY) return false;
    const size_t n_kernels = n->w->object->n_kernels;
    uint32_t n_left_out = 0;
    for (size_t i = n->kernel; i < n_kernels && i - n->kernel < array.number; i++)
        n_left_out += n->changes[i] && n->changes[i]->is_left_out;
    if (n_left_out)
        buffer_add_msgpack_array(n->out, (uint32_t)array.number - n_left_out);
    else
        copy_since(n, start);
    for (uint64_t i = 0; i < array.number; i++)
        if (!write_kernel(n)) return false;
    return true;
}

static bool write_metadata(struct note_writing *n)
{
    struct msgpack_value map, key;
    const uint8_t *start = n->in.at;
    if (!msgpack_next(&n->in, &map) || map.type != MSGPACK_MAP) return false;
    copy_since(n, start);
    for (uint64_t i = 0; i < map.number; i++) {
        start = n->in.at;
        if (!msgpack_next(&n->in, &key) || !msgpack_skip_rest(&n->in, &key)) return false;
        copy_since(n, start);
        if (msgpack_is(&key, "amdhsa.kernels")) {
            if (!write_kernels(n)) return false;
        } else if (msgpack_is(&key, "amdhsa.target") && *n->w->note_target) {
            if (!msgpack_skip(&n->in)) return false;
            buffer_add_msgpack_string(n->out, n->w->note_target, strlen(n->w->note_target));
        } else if (!copy_value(n)) {
            return false;
        }
    }
    copy_since(n, n->in.at);
    return true;
}

static void begin_note(struct buffer *out, const char *owner, uint32_t type, size_t *size_at)
{
    const uint32_t length = (uint32_t)strlen(owner) + 1;
    buffer_add_u32(out, length);
    *size_at = out->size;
    buffer_add_u32(out, 0);
    buffer_add_u32(out, type);
    buffer_add(out, owner, length);
    buffer_align(out, 4);
}

static void end_note(struct buffer *out, size_t size_at, size_t start)
{
    if (out->failed) return;
    const uint32_t size = (uint32_t)(out->size - start);
    for (int i = 0; i < 4; i++) out->bytes[size_at + (size_t)i] = (uint8_t)(size >> 8 * i);
    buffer_align(out, 4);
}

static void add_own(struct note_writing *n)
{
    size_t size_at;
    if (n->had_own) return;
    n->had_own = true;
    begin_note(n->out, CODEOBJ_NOTE_OWNER, CODEOBJ_NOTE_RMCP, &size_at);
    const size_t start = n->out->size;
    buffer_add(n->out, n->w->change->note, n->w->change->note_size);
    end_note(n->out, size_at, start);
}

static rmcp_status write_note(struct note_writing *n, const struct elf_note *note)
{
    if (n->w->change->note && elf_note_is(note, CODEOBJ_NOTE_OWNER, CODEOBJ_NOTE_RMCP)) {
        add_own(n);
        return RMCP_OK;
    }
    if (!elf_note_is(note, "AMDGPU", NT_AMDGPU_METADATA)) {
        buffer_add(n->out, n->w->view.bytes + note->offset, (size_t)(note->end - note->offset));
        buffer_align(n->out, 4);
        return RMCP_OK;
    }
    size_t size_at;
    begin_note(n->out, "AMDGPU", NT_AMDGPU_METADATA, &size_at);
    const size_t start = n->out->size;
    n->in = (struct msgpack){ note->bytes, note->bytes + note->size };
    if (!write_metadata(n)) return malformed();
    buffer_add(n->out, n->in.at, (size_t)(n->in.end - n->in.at)); /* what nobody reads */
    end_note(n->out, size_at, start);
    return RMCP_OK;
}

/* All notes of a section; padding behind them is left out. */
static rmcp_status write_section_notes(struct note_writing *n, struct write_section *s)
{
    uint64_t at = s->old.offset;
    const uint64_t end = at + s->old.size;
    const size_t start = n->out->size;
    struct elf_note note;
    for (;;) {
        rmcp_status status = elf_next_note(&n->w->view, &at, end, &note);
        if (!status && note.offset) status = write_note(n, &note);
        if (status) return status;
        if (!note.offset) break;
    }
    s->new_size = n->out->size - start;
    return RMCP_OK;
}

static rmcp_status index_changes(struct note_writing *n)
{
    const struct codeobj_change *change = n->w->change;
    const size_t n_kernels = n->w->object->n_kernels;
    n->changes = arena_alloc(n->w->arena, n_kernels, sizeof *n->changes);
    if (!n->changes) return rmcp_fail_memory("changes of kernels", n_kernels);
    for (size_t i = 0; i < change->n_kernels; i++) {
        const size_t kernel = change->kernels[i].kernel;
        if (kernel >= n_kernels)
            return rmcp_fail(RMCP_E_ARG, "kernel %zu of %zu", kernel, n_kernels);
        if (n->changes[kernel])
            return rmcp_fail(RMCP_E_ARG, "kernel %.200s is changed twice",
                             n->w->object->kernels[kernel].name);
        n->changes[kernel] = &change->kernels[i];
    }
    return RMCP_OK;
}

/* Their bytes, now that the buffer does not grow any more. */
static void finish(struct writing *w, bool changed)
{
    size_t at = 0;
    w->move_notes = changed;
    for (size_t i = 1; i <= w->object->n_sections; i++) {
        struct write_section *s = &w->sections[i];
        if (s->old.type != SHT_NOTE || !s->number) continue;
        s->bytes = w->notes.bytes + at;
        at += (size_t)s->new_size;
        s->is_piece = s->is_piece || changed;
        if (s->align > 4 || s->is_piece) s->align = 4;
    }
}

rmcp_status write_notes_plan(struct writing *w)
{
    struct note_writing n = { .w = w, .out = &w->notes };
    const size_t n_sections = w->object->n_sections;
    bool changed = false;
    rmcp_status status = index_changes(&n);
    for (size_t i = 1; !status && i < n_sections; i++) {
        struct write_section *s = &w->sections[i];
        if (s->old.type != SHT_NOTE || !s->number) continue;
        if (s->old.size) status = write_section_notes(&n, s);
        if (s->new_size != s->old.size || s->is_piece) changed = true;
    }
    size_t noted = 0;
    while (noted < w->object->n_kernels && w->object->kernels[noted].has_metadata) noted++;
    if (!status && n.kernel != noted)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "the metadata of the code object is in no section");
    if (!status && w->change->note && !n.had_own) {
        struct write_section *own = &w->sections[n_sections];
        const size_t start = w->notes.size;
        add_own(&n);
        *own = (struct write_section){ .old = { .name = "", .type = SHT_NOTE },
                                       .align = 4,
                                       .number = (uint32_t)w->n_sections++,
                                       .is_piece = true,
                                       .new_size = w->notes.size - start };
        changed = true;
    }
    if (!status) status = buffer_status(&w->notes);
    if (!status) finish(w, changed);
    return status;
}
