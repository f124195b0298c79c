/* write_check.c: what was written is read again and compared with what was meant. */
#include <string.h>

#include "code/codeobj/write_parts.h"

static rmcp_status differs(const char *what)
{
    return rmcp_fail(RMCP_E_UNSUPPORTED,
                     "the code object cannot be written again: %.200s would not be read the same",
                     what);
}

static bool same_arguments(const struct codeobj_kernel *a, const struct codeobj_kernel *b)
{
    if (a->n_arguments != b->n_arguments) return false;
    for (size_t i = 0; i < a->n_arguments; i++) {
        const struct codeobj_argument *x = &a->arguments[i], *y = &b->arguments[i];
        if (strcmp(x->name, y->name) || strcmp(x->kind, y->kind) ||
            strcmp(x->address_space, y->address_space) || x->offset != y->offset ||
            x->size != y->size)
            return false;
    }
    return true;
}

static bool same_descriptor(const struct codeobj_descriptor *a, const struct codeobj_descriptor *b)
{
    return a->group_bytes == b->group_bytes && a->private_bytes == b->private_bytes &&
           a->kernarg_bytes == b->kernarg_bytes && a->rsrc1 == b->rsrc1 && a->rsrc2 == b->rsrc2 &&
           a->rsrc3 == b->rsrc3 && a->properties == b->properties &&
           a->kernarg_preload == b->kernarg_preload;
}

static rmcp_status check_kernel(const struct writing *w, const struct codeobj_kernel *old,
                                const struct codeobj_kernel *new,
                                const struct codeobj_kernel_change *change)
{
    const struct codeobj_descriptor *descriptor = change ? &change->descriptor : &old->descriptor;
    const struct codeobj_metadata *metadata = change ? &change->metadata : &old->metadata;
    const bool left_out = change && change->is_left_out;
    if (strcmp(old->name, new->name) || strcmp(old->symbol, new->symbol) ||
        old->has_descriptor != new->has_descriptor ||
        (old->has_metadata && !left_out) != new->has_metadata ||
        old->descriptor_address != new->descriptor_address ||
        (!left_out && !same_arguments(old, new)))
        return differs(old->name);
    if (old->has_descriptor && !same_descriptor(descriptor, &new->descriptor))
        return differs(old->symbol);
    if (new->has_metadata && memcmp(metadata, &new->metadata, sizeof *metadata))
        return differs(old->name);
    if (!old->has_descriptor) return RMCP_OK;
    uint64_t entry = old->descriptor_address + (uint64_t)old->descriptor.entry_offset;
    rmcp_status status = RMCP_OK;
    if (w->change->text) status = write_moved(w, entry, false, old->name, &entry);
    if (status) return status;
    if (entry != new->descriptor_address + (uint64_t) new->descriptor.entry_offset ||
        !old->function != !new->function || (new->function &&new->function->address != entry))
        return differs(old->name);
    return RMCP_OK;
}

static rmcp_status check_kernels(const struct writing *w, const struct codeobj *new)
{
    const struct codeobj *old = w->object;
    const struct codeobj_kernel_change **changes =
        arena_alloc(w->arena, old->n_kernels, sizeof *changes);
    if (!changes) return rmcp_fail_memory("changes of kernels", old->n_kernels);
    for (size_t i = 0; i < w->change->n_kernels; i++)
        changes[w->change->kernels[i].kernel] = &w->change->kernels[i];
    if (old->n_kernels != new->n_kernels) return differs("the list of kernels");
    rmcp_status status = RMCP_OK;
    /* Those that the note names come first, in its order. */
    size_t at = 0, n_left_out = 0;
    for (size_t i = 0; i < old->n_kernels; i++) n_left_out += changes[i] && changes[i]->is_left_out;
    for (size_t i = 0; !status && i < old->n_kernels; i++) {
        const bool left_out = changes[i] && changes[i]->is_left_out;
        const struct codeobj_kernel *found = NULL;
        if (n_left_out && (left_out || !old->kernels[i].has_metadata))
            found = codeobj_find_kernel(new, old->kernels[i].name);
        else
            found = &new->kernels[at++];
        status = found ? check_kernel(w, &old->kernels[i], found, changes[i])
                       : differs(old->kernels[i].name);
    }
    return status;
}

/* Symbols keep their order; those of dropped sections are gone. */
static rmcp_status check_symbols(const struct writing *w, const struct codeobj *new)
{
    size_t at = 0;
    for (size_t i = 0; i < w->object->n_symbols; i++) {
        const struct codeobj_symbol *a = &w->object->symbols[i];
        const bool in_section = a->section && a->section < w->object->n_sections;
        if (in_section && !w->sections[a->section].number) continue;
        const struct codeobj_symbol *b = at < new->n_symbols ? &new->symbols[at++] : NULL;
        const bool left_out = in_section && a->type == STT_FUNC && write_is_left_out(w, a->address);
        if (!b || strcmp(a->name, b->name) || b->type != (left_out ? 0 : a->type) ||
            a->bind != b->bind || a->visibility != b->visibility)
            return differs(a->name);
        const bool moves = w->change->text && a->section == w->text_section;
        if (!moves && (a->address != b->address || a->size != b->size)) return differs(a->name);
    }
    return at == new->n_symbols ? RMCP_OK : differs("the list of symbols");
}

rmcp_status write_check(const struct writing *w)
{
    struct codeobj *new = NULL;
    rmcp_status status = codeobj_open(w->out, w->out_size, &new);
    if (!status && (new->e_flags != w->e_flags || new->version != w->object->version))
        status = differs("its header");
    if (!status && *w->note_target && *w->object->note_target &&
        strcmp(new->note_target, w->note_target))
        status = differs("its target");
    if (!status) status = check_symbols(w, new);
    if (!status) status = check_kernels(w, new);
    codeobj_close(new);
    return status;
}
