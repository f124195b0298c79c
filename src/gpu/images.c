/* images.c: finds and unpacks the kernels that were compiled when the library was built. */
#include "gpu/images.h"

#include "gpu/archive.h"
#include "gpu/kernels.h"
#include "kernel_targets.h" /* KERNEL_ARCHIVES(X), KERNEL_COMPILER, KERNEL_MISSING: of this build */

#include <stdlib.h>
#include <string.h>

#include <zstd.h>
#include <zstd_errors.h>

/* ---- which chips a target serves ---- */

/* Families as LLVM's generic targets draw them (gfx10-1-generic …). gfx1102 is the gfx11 chip that
 * has every restriction of gfx11-generic. gfx900 and gfx906 differ in mixed-precision FMA. */
static const struct {
    const char *target, *chips;
} families[] = {
    { "gfx803", "gfx803" },
    { "gfx900", "gfx900 gfx902 gfx909 gfx90c" },
    { "gfx906", "gfx906" },
    { "gfx1010", "gfx1010 gfx1011 gfx1012 gfx1013" },
    { "gfx1030", "gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036" },
    { "gfx1102", "gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153" },
    { "gfx1200", "gfx1200 gfx1201" },
    { "nvptx", "sm_60 and up" },
};
enum { N_FAMILIES = sizeof families / sizeof *families, OLDEST_SM = 60 };

static bool has_word(const char *text, const char *word, size_t length)
{
    for (; *text; text += strcspn(text, " "), text += strspn(text, " "))
        if (strcspn(text, " ") == length && !strncmp(text, word, length)) return true;
    return false;
}

/* The row of `families` for a chip, whether or not this build has it; -1 when there is none. */
static int family_of(const char *chip)
{
    if (!strncmp(chip, "sm_", 3)) return atoi(chip + 3) >= OLDEST_SM ? N_FAMILIES - 1 : -1;
    const size_t length = strcspn(chip, ":"); /* features follow */
    for (int i = 0; i < N_FAMILIES - 1 && length; i++)
        if (has_word(families[i].chips, chip, length)) return i;
    return -1;
}

/* ---- the archives of this build ---- */

#define X(target, operation)                                                                       \
    extern const unsigned char rmcp_archive_##target##_##operation[],                              \
        rmcp_archive_##target##_##operation##_end[];
KERNEL_ARCHIVES(X)
#undef X

/* Those of one target follow each other. */
static const struct archive {
    const char *target, *operation;
    const unsigned char *begin, *end;
} archives[] = {
#define X(target, operation)                                                                       \
    { #target, #operation, rmcp_archive_##target##_##operation,                                    \
      rmcp_archive_##target##_##operation##_end },
    KERNEL_ARCHIVES(X)
#undef X
        { NULL, NULL, NULL, NULL },
};

/* An archive of the target: that of an operation, or with NULL the first. */
static const struct archive *archive_of(const char *target, const char *operation)
{
    for (const struct archive *a = archives; a->target; a++)
        if (!strcmp(a->target, target) && (!operation || !strcmp(a->operation, operation)))
            return a;
    return NULL;
}

static uint64_t unpacked_bytes(const struct archive *a)
{
    unsigned long long size = ZSTD_getFrameContentSize(a->begin, (size_t)(a->end - a->begin));
    return size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR ? 0 : size;
}

bool rmcp_kernel_target_at(size_t index, struct rmcp_kernel_target *out)
{
    const struct archive *a = archives;
    for (; a->target; a++)
        if ((a == archives || strcmp(a->target, a[-1].target)) && !index--) break;
    if (!a->target) return false;
    *out = (struct rmcp_kernel_target){ .name = a->target, .chips = a->target };
    for (; a->target && !strcmp(a->target, out->name); a++) {
        out->bytes += unpacked_bytes(a);
        out->packed_bytes += (uint64_t)(a->end - a->begin);
    }
    for (int i = 0; i < N_FAMILIES; i++)
        if (!strcmp(families[i].target, out->name)) out->chips = families[i].chips;
    return true;
}

const char *rmcp_kernel_compiler(void)
{
    return KERNEL_COMPILER;
}

const char *rmcp_kernel_missing(void)
{
    return KERNEL_MISSING;
}

const char *rmcp_kernel_target_for(const char *chip)
{
    const int family = family_of(chip);
    const struct archive *a = family < 0 ? NULL : archive_of(families[family].target, NULL);
    return a ? a->target : NULL;
}

rmcp_status rmcp_kernel_target_find(const char *chip, const char **target)
{
    *target = rmcp_kernel_target_for(chip);
    if (*target) return RMCP_OK;
    const int family = family_of(chip);
    if (family < 0)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "there are no kernels for the chip '%.40s'", chip);
    return rmcp_fail(RMCP_E_UNSUPPORTED,
                     "this build has no kernels for %.40s: the target %s was left out%s%s", chip,
                     families[family].target, *KERNEL_MISSING ? "; " : "", KERNEL_MISSING);
}

/* ---- unpacking ---- */

/* Where a kernel lies in an unpacked archive, all checked; false when it is not there. */
static bool find_entry(const char *bytes, size_t size, const char *kernel,
                       struct rmcp_archive_entry *entry)
{
    struct rmcp_archive head;
    if (size < sizeof head) return false;
    memcpy(&head, bytes, sizeof head);
    if (head.n_entries > (size - sizeof head) / sizeof *entry) return false;
    for (uint64_t i = 0; i < head.n_entries; i++) {
        memcpy(entry, bytes + sizeof head + i * sizeof *entry, sizeof *entry);
        entry->name[sizeof entry->name - 1] = '\0';
        if (!strcmp(entry->name, kernel))
            return entry->offset <= size && entry->size <= size - entry->offset;
    }
    return false;
}

rmcp_status rmcp_kernel_image(const char *target, const char *kernel, void **bytes, size_t *size)
{
    *bytes = NULL;
    *size = 0;
    const struct rmcp_kernel *row = rmcp_kernel_find(kernel);
    const struct archive *a = archive_of(target, row ? row->operation : NULL);
    if (!a)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "this build has no kernels for %.40s%s%s", target,
                         *KERNEL_MISSING ? ": " : "", KERNEL_MISSING);
    const size_t room = (size_t)unpacked_bytes(a);
    char *all = room ? malloc(room) : NULL;
    if (!all) return rmcp_fail_memory("compiled kernels", room);
    const size_t used = ZSTD_decompress(all, room, a->begin, (size_t)(a->end - a->begin));
    struct rmcp_archive_entry entry;
    rmcp_status status = RMCP_OK;
    if (ZSTD_isError(used))
        status = ZSTD_getErrorCode(used) == ZSTD_error_memory_allocation
                     ? rmcp_fail_memory("zstd", room)
                     : rmcp_fail(RMCP_E_INTERNAL, "the kernels for %s do not unpack: %s", target,
                                 ZSTD_getErrorName(used));
    else if (!find_entry(all, used, kernel, &entry))
        status = rmcp_fail(RMCP_E_INTERNAL, "there is no kernel %.60s for %s", kernel, target);
    if (!status) {
        char *copy = malloc((size_t)entry.size + 1);
        if (!copy) status = rmcp_fail_memory("kernel", (size_t)entry.size + 1);
        if (copy) {
            memcpy(copy, all + entry.offset, (size_t)entry.size);
            copy[entry.size] = '\0';
            *bytes = copy;
            *size = (size_t)entry.size;
        }
    }
    free(all);
    return status;
}
