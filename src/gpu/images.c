/* images.c: finds and unpacks the kernels that were compiled when the library was built. */
#include "gpu/images.h"

#include "chip/chips.h"
#include "gpu/archive.h"
#include "gpu/kernels.h"
#include "kernel_targets.h" /* KERNEL_ARCHIVES(X), KERNEL_COMPILER, KERNEL_MISSING: of this build */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>
#include <zstd_errors.h>

/* ---- which chips a target serves ---- */

/* Families of AMD's chips are drawn in chip/chips.inc. */
static const char ptx[] = "nvptx";
enum { OLDEST_SM = 60 };

/* The target for a chip, whether or not this build has it; NULL when there is none. */
static const char *target_of(const char *chip)
{
    if (!strncmp(chip, "sm_", 3)) return atoi(chip + 3) >= OLDEST_SM ? ptx : NULL;
    const struct rmcp_chip *known = rmcp_chip_by_name(chip, strcspn(chip, ":")); /* features */
    return known ? known->kernels : NULL;
}

/* The chips of a target, separated by blanks. */
static void list_chips(const char *target, char *text, size_t room)
{
    const struct rmcp_chip *chip;
    size_t used = 0;
    snprintf(text, room, "%s", strcmp(target, ptx) ? target : "sm_60 and up");
    for (size_t i = 0; (chip = rmcp_chip_at(i)) && used < room; i++)
        if (chip->kernels && !strcmp(chip->kernels, target))
            used += (size_t)snprintf(text + used, room - used, "%s%s", used ? " " : "", chip->name);
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
    *out = (struct rmcp_kernel_target){ .name = a->target };
    for (; a->target && !strcmp(a->target, out->name); a++) {
        out->bytes += unpacked_bytes(a);
        out->packed_bytes += (uint64_t)(a->end - a->begin);
    }
    list_chips(out->name, out->chips, sizeof out->chips);
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
    const char *target = target_of(chip);
    const struct archive *a = target ? archive_of(target, NULL) : NULL;
    return a ? a->target : NULL;
}

rmcp_status rmcp_kernel_target_find(const char *chip, const char **target)
{
    *target = rmcp_kernel_target_for(chip);
    if (*target) return RMCP_OK;
    const char *left_out = target_of(chip);
    if (!left_out)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "there are no kernels for the chip '%.40s'", chip);
    return rmcp_fail(RMCP_E_UNSUPPORTED,
                     "this build has no kernels for %.40s: the target %s was left out%s%s", chip,
                     left_out, *KERNEL_MISSING ? "; " : "", KERNEL_MISSING);
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
