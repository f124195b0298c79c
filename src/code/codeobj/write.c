/* write.c: writing a code object again: the order of its steps. */
#include "code/codeobj/write.h"

#include <stdlib.h>
#include <string.h>

#include "code/codeobj/parts.h"
#include "code/codeobj/write_parts.h"

static rmcp_status check_arguments(const struct codeobj *object,
                                   const struct codeobj_change *change)
{
    if (!object || !change || (change->n_kernels && !change->kernels))
        return rmcp_fail(RMCP_E_ARG, "object, change or its kernels is NULL");
    if (change->text && (!change->moved || !change->text_size || change->text_size % 4))
        return rmcp_fail(RMCP_E_ARG, "new code of %zu bytes, or without a map of addresses",
                         change->text_size);
    if (change->note && change->note_size > UINT32_MAX / 2)
        return rmcp_fail(RMCP_E_ARG, "a note of %zu bytes", change->note_size);
    if (object->is_relocatable || object->version < 3)
        return rmcp_fail(RMCP_E_UNSUPPORTED,
                         "only linked code objects of version 3 to 6 are written again");
    return RMCP_OK;
}

/* In a crafted file all sections may be the same bytes; written, they would not be. */
static rmcp_status check_sizes(const struct writing *w)
{
    uint64_t left = w->object->size;
    for (size_t i = 1; i < w->object->n_sections; i++) {
        const struct write_section *s = &w->sections[i];
        if (!s->number || !s->old.bytes) continue;
        if (s->old.size > left)
            return rmcp_fail(RMCP_E_UNSUPPORTED, "sections of the code object overlap");
        left -= s->old.size;
    }
    return RMCP_OK;
}

static rmcp_status plan(struct writing *w)
{
    const struct codeobj *object = w->object;
    rmcp_status status = elf_view_init(&w->view, object->bytes, object->size);
    w->e_flags = object->e_flags;
    w->text_segment = object->n_segments;
    if (!status && w->change->text) {
        status = write_find_text(object, &w->room, &w->text_section, &w->text_segment);
        if (status) return status;
        w->text_align = object->segments[w->text_segment].align;
        if (w->text_align < WRITE_PAGE) w->text_align = WRITE_PAGE;
    }
    if (!status && w->change->target) {
        struct codeobj_target target;
        status = retag_flags(object, w->change->target, &target, &w->e_flags);
        if (!status) retag_name(object, &target, w->note_target);
    }
    if (!status) status = write_plan_segments(w);
    if (!status) status = write_plan_sections(w);
    if (!status) status = check_sizes(w);
    if (!status) status = write_notes_plan(w);
    if (!status) status = write_left_out_plan(w);
    if (!status) status = write_symbols_plan(w);
    return status;
}

static rmcp_status write_all(struct writing *w)
{
    rmcp_status status = plan(w);
    if (!status) status = write_layout(w);
    if (!status) status = write_symbols_patch(w);
    if (!status) status = write_kernels_patch(w);
    return status ? status : write_check(w);
}

rmcp_status codeobj_write(const struct codeobj *object, const struct codeobj_change *change,
                          uint8_t **out, size_t *out_size)
{
    if (!out || !out_size) return rmcp_fail(RMCP_E_ARG, "out is NULL");
    *out = NULL;
    *out_size = 0;
    rmcp_status status = check_arguments(object, change);
    if (status) return status;
    struct writing w = { .object = object, .change = change, .arena = arena_create() };
    status = w.arena ? write_all(&w) : rmcp_fail_memory("code object", object->size);
    buffer_deinit(&w.notes);
    buffer_deinit(&w.symbols);
    buffer_deinit(&w.names);
    arena_destroy(w.arena);
    if (status) {
        free(w.out);
    } else {
        *out = w.out;
        *out_size = w.out_size;
    }
    return status;
}

struct own {
    const uint8_t *bytes;
    size_t size;
};

static rmcp_status find_own(void *context, const struct elf_note *note)
{
    struct own *own = context;
    if (elf_note_is(note, CODEOBJ_NOTE_OWNER, CODEOBJ_NOTE_RMCP))
        *own = (struct own){ note->bytes, note->size };
    return RMCP_OK;
}

const uint8_t *codeobj_rmcp_note(const struct codeobj *object, size_t *size)
{
    struct elf_view view;
    struct own own = { 0 };
    if (size) *size = 0;
    if (elf_view_init(&view, object->bytes, object->size) || elf_each_note(&view, find_own, &own))
        return NULL;
    if (size) *size = own.size;
    return own.bytes;
}

bool codeobj_is_repaired(const struct codeobj *object)
{
    static const char start[] = CODEOBJ_NOTE_REPAIR;
    size_t size;
    const uint8_t *note = codeobj_rmcp_note(object, &size);
    return note && size >= sizeof start - 1 && !memcmp(note, start, sizeof start - 1);
}
