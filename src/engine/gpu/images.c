/* images.c: finds and unpacks the kernels that were compiled when the library was built. */
#include "engine/gpu/images.h"

#include "base/chip/chips.h"
#include "engine/gpu/archive.h"
#include "engine/gpu/kernels.h"
#include "kernel_targets.h" /* KERNEL_ARCHIVES(X), KERNEL_COMPILER, KERNEL_MISSING: of this build */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>
#include <zstd_errors.h>

/* ---- which chips a target serves ---- */

/* Families of AMD's chips are drawn in base/chip/chips.inc. */
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

/* An archive that is read from its beginning, no further than is asked for. */
struct reader {
    const char *target;
    ZSTD_DStream *stream;
    ZSTD_inBuffer packed;
    uint64_t at; /* bytes that were read */
};

static rmcp_status damaged(const struct reader *r, const char *why)
{
    return rmcp_fail(RMCP_E_INTERNAL, "the kernels for %s do not unpack: %s", r->target, why);
}

static rmcp_status begin_reading(struct reader *r, const struct archive *a)
{
    *r = (struct reader){ .target = a->target,
                          .stream = ZSTD_createDStream(),
                          .packed = { a->begin, (size_t)(a->end - a->begin), 0 } };
    return r->stream ? RMCP_OK : rmcp_fail_memory("zstd", ZSTD_DStreamInSize());
}

static rmcp_status read_bytes(struct reader *r, void *bytes, size_t size)
{
    ZSTD_outBuffer out = { bytes, size, 0 };
    while (out.pos < size) {
        const size_t before = out.pos, fed = r->packed.pos;
        const size_t left = ZSTD_decompressStream(r->stream, &out, &r->packed);
        if (ZSTD_isError(left))
            return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation
                       ? rmcp_fail_memory("zstd", size)
                       : damaged(r, ZSTD_getErrorName(left));
        if (out.pos == before && r->packed.pos == fed) return damaged(r, "it ends too early");
    }
    r->at += size;
    return RMCP_OK;
}

static rmcp_status skip_to(struct reader *r, uint64_t offset)
{
    char aside[16384];
    rmcp_status status = offset < r->at ? damaged(r, "a kernel begins before its list") : RMCP_OK;
    while (!status && r->at < offset) {
        const uint64_t left = offset - r->at;
        status = read_bytes(r, aside, left < sizeof aside ? (size_t)left : sizeof aside);
    }
    return status;
}

/* Read the list of kernels; RMCP_E_INTERNAL when this one is not in it. */
static rmcp_status find_entry(struct reader *r, uint64_t room, const char *kernel,
                              struct rmcp_archive_entry *entry)
{
    struct rmcp_archive head;
    rmcp_status status = read_bytes(r, &head, sizeof head);
    bool found = false;
    for (uint64_t i = 0; !status && i < head.n_entries; i++) { /* all: kernels begin behind */
        struct rmcp_archive_entry one;
        status = read_bytes(r, &one, sizeof one);
        one.name[sizeof one.name - 1] = '\0';
        if (status || found || strcmp(one.name, kernel)) continue;
        *entry = one;
        found = one.offset <= room && one.size <= room - one.offset;
    }
    return status || found
               ? status
               : rmcp_fail(RMCP_E_INTERNAL, "there is no kernel %.60s for %s", kernel, r->target);
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
    struct reader reader;
    struct rmcp_archive_entry entry = { .size = 0 };
    rmcp_status status = begin_reading(&reader, a);
    if (!status) status = find_entry(&reader, unpacked_bytes(a), kernel, &entry);
    if (!status) status = skip_to(&reader, entry.offset);
    char *image = status ? NULL : malloc((size_t)entry.size + 1);
    if (!status && !image) status = rmcp_fail_memory("kernel", (size_t)entry.size + 1);
    if (!status) status = read_bytes(&reader, image, (size_t)entry.size);
    ZSTD_freeDStream(reader.stream);
    if (status) {
        free(image);
        return status;
    }
    image[entry.size] = '\0';
    *bytes = image;
    *size = (size_t)entry.size;
    return RMCP_OK;
}
