/* codeobj.c: opening a code object: what it is, and the steps of reading it. */
#include "code/codeobj/codeobj.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/codeobj/bytes.h"
#include "code/codeobj/parts.h"

static rmcp_status read_tables(const struct elf_view *view, struct codeobj *object)
{
    struct codeobj_section *sections =
        arena_alloc(object->arena, view->n_sections, sizeof *sections);
    struct codeobj_segment *segments =
        arena_alloc(object->arena, view->n_segments, sizeof *segments);
    if (!sections || !segments) return rmcp_fail_memory("section headers", view->n_sections);
    for (uint32_t i = 0; i < view->n_sections; i++) {
        sections[i] = elf_section(view, i);
        if (sections[i].type && sections[i].type != SHT_NOBITS && !sections[i].bytes)
            return rmcp_fail(RMCP_E_IO, "section %u ends beyond the file", (unsigned)i);
    }
    for (uint32_t i = 0; i < view->n_segments; i++) {
        segments[i] = elf_segment(view, i);
        if (!in_range(segments[i].offset, segments[i].file_size, view->size))
            return rmcp_fail(RMCP_E_IO, "segment %u ends beyond the file", (unsigned)i);
    }
    object->sections = sections;
    object->n_sections = view->n_sections;
    object->segments = segments;
    object->n_segments = view->n_segments;
    return RMCP_OK;
}

/* Version 2 says its target in a note: lengths of two names, major, minor, stepping. */
static rmcp_status read_isa_note(void *context, const struct elf_note *note)
{
    struct codeobj *object = context;
    if (object->target.chip || !elf_note_is(note, "AMD", NT_AMD_HSA_ISA_VERSION) || note->size < 16)
        return RMCP_OK;
    uint32_t major = load_u32(note->bytes + 4), minor = load_u32(note->bytes + 8);
    uint32_t stepping = load_u32(note->bytes + 12);
    if (major > 99 || minor > 15 || stepping > 15) return RMCP_OK;
    char name[CODEOBJ_TARGET_MAX];
    struct codeobj_target target;
    snprintf(name, sizeof name, "gfx%u%x%x", (unsigned)major, (unsigned)minor, (unsigned)stepping);
    if (!codeobj_target_parse(name, &target)) {
        /* gfx901, gfx903, gfx905 and gfx907 were the even ones with XNACK. */
        snprintf(name, sizeof name, "gfx%u%x%x", (unsigned)major, (unsigned)minor,
                 (unsigned)(stepping & ~1u));
        if (!codeobj_target_parse(name, &target)) return RMCP_OK;
    }
    codeobj_target_read(target.mach, 2, &object->target);
    return RMCP_OK;
}

static rmcp_status read_all(struct codeobj *object)
{
    struct elf_view view;
    rmcp_status status = elf_view_init(&view, object->bytes, object->size);
    if (status) return status;
    if (view.machine != EM_AMDGPU)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "ELF for machine %u, not for an AMD GPU (%d)",
                         view.machine, EM_AMDGPU);
    object->e_flags = view.flags;
    object->os_abi = view.os_abi;
    object->abi_version = view.abi_version;
    object->is_relocatable = view.type == ET_REL;
    object->note_target = "";
    if (view.os_abi == ELFOSABI_AMDGPU_HSA) {
        if (view.abi_version > 4)
            return rmcp_fail(RMCP_E_UNSUPPORTED, "code object version %u; known are 2 to 6",
                             view.abi_version + 2u);
        object->version = view.abi_version + 2u;
    }
    codeobj_target_read(view.flags, object->version ? object->version : 4, &object->target);
    status = read_tables(&view, object);
    if (!status) status = symbols_read(&view, object);
    if (status || !object->version) return status;

    struct metadata metadata = { .arena = object->arena, .target = "" };
    if (object->version == 2)
        status = elf_each_note(&view, read_isa_note, object);
    else
        status = elf_each_note(&view, metadata_read, &metadata);
    object->note_target = metadata.target;
    return status ? status : kernels_read(&view, object, metadata.kernels, metadata.n);
}

rmcp_status codeobj_open(const void *bytes, size_t size, struct codeobj **out)
{
    if (!out) return rmcp_fail(RMCP_E_ARG, "out is NULL");
    *out = NULL;
    if (!bytes) return rmcp_fail(RMCP_E_ARG, "bytes is NULL");
    struct codeobj_arena *arena = arena_create();
    struct codeobj *object = arena ? arena_alloc(arena, 1, sizeof *object) : NULL;
    if (!object) {
        arena_destroy(arena);
        return rmcp_fail_memory("code object", sizeof *object);
    }
    *object = (struct codeobj){ .bytes = bytes, .size = size, .arena = arena };
    rmcp_status status = read_all(object);
    if (status)
        arena_destroy(arena);
    else
        *out = object;
    return status;
}

void codeobj_close(struct codeobj *object)
{
    if (object) arena_destroy(object->arena);
}

const struct codeobj_kernel *codeobj_find_kernel(const struct codeobj *object, const char *name)
{
    for (size_t i = 0; i < object->n_kernels; i++)
        if (!strcmp(object->kernels[i].name, name)) return &object->kernels[i];
    return NULL;
}

const uint8_t *codeobj_at(const struct codeobj *object, uint64_t address, uint64_t size)
{
    struct elf_view view;
    uint64_t offset;
    if (elf_view_init(&view, object->bytes, object->size)) return NULL;
    return elf_offset(&view, address, size, &offset) ? object->bytes + offset : NULL;
}
