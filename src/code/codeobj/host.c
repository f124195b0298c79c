/* host.c: host libraries and programs: the sections that carry GPU code, then everything else. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/codeobj/elf.h"
#include "code/codeobj/walker.h"

struct part {
    size_t start, end;
    const char *name;
};

static bool carries_code(const char *name)
{
    return !strcmp(name, ".hip_fatbin") || !strcmp(name, ".llvm.offloading") ||
           !strncmp(name, BUNDLE_MAGIC, BUNDLE_MAGIC_BYTES);
}

static int compare_parts(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return (a->end < b->end) - (a->end > b->end);
}

static size_t find_parts(const struct elf_view *view, struct part *parts)
{
    size_t n = 0;
    for (uint32_t i = 0; i < view->n_sections; i++) {
        struct codeobj_section section = elf_section(view, i);
        if (!section.bytes || !section.size || !carries_code(section.name)) continue;
        parts[n++] = (struct part){ (size_t)section.offset, (size_t)(section.offset + section.size),
                                    section.name };
    }
    qsort(parts, n, sizeof *parts, compare_parts);
    return n;
}

/* Every byte once: what the sections that are known for it hold, under their names, and what lies
 * between. Libraries without section headers, and code kept in other sections, are so found too. */
static rmcp_status walk_parts(struct walk *walk, const uint8_t *bytes, size_t size,
                              const struct part *parts, size_t n)
{
    rmcp_status status = RMCP_OK;
    size_t at = 0;
    for (size_t i = 0; !status && i < n; i++) {
        char label[64];
        if (parts[i].end <= at) continue; /* within one that was seen already */
        if (parts[i].start > at) status = walk_scan(walk, bytes, at, parts[i].start, "", true);
        size_t start = parts[i].start > at ? parts[i].start : at;
        snprintf(label, sizeof label, "%.60s ", parts[i].name);
        if (!status) status = walk_scan(walk, bytes, start, parts[i].end, label, false);
        at = parts[i].end;
    }
    return status ? status : walk_scan(walk, bytes, at, size, "", true);
}

rmcp_status walk_host_elf(struct walk *walk, const uint8_t *bytes, size_t size)
{
    struct elf_view view;
    if (elf_view_init(&view, bytes, size)) return walk_scan(walk, bytes, 0, size, "", true);
    struct part *parts = malloc((view.n_sections + (size_t)1) * sizeof *parts);
    if (!parts) return rmcp_fail_memory("sections", view.n_sections * sizeof *parts);
    rmcp_status status = walk_parts(walk, bytes, size, parts, find_parts(&view, parts));
    free(parts);
    return status;
}
