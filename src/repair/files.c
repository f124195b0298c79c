/* files.c: one file repaired: which of its code objects, and in which form it is written. */
#include "repair/files.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codeobj/tensile.h"
#include "codeobj/write.h"

enum kind { KIND_OTHER, KIND_OBJECT, KIND_CONTAINER, KIND_TENSILE };

struct mapped {
    void *bytes;
    size_t size;
    unsigned mode;
};

struct context {
    enum isa_chip target;
    struct repair_report *report;
    bool alone; /* the file is one code object: refused with it */
};

/* ---- which objects ---- */

/* From which of a bundle's entries code is taken: the least counts; 9 is none. */
static unsigned rank_of(const struct codeobj_target *target)
{
    if (!target->chip || isa_chip_of_mach(target->mach) != ISA_GFX1030) return 9;
    if (!strcmp(target->chip, "gfx1030")) return 0;
    return strcmp(target->chip, "gfx10-3-generic") ? 2 : 1;
}

static bool is_for(const struct codeobj_target *target, enum isa_chip chip)
{
    return target->chip && target->xnack != CODEOBJ_ON &&
           (!strcmp(target->chip, isa_chip_name(chip)) || !strcmp(target->chip, "gfx10-1-generic"));
}

/* Whether the bundle has code for the chip already, or a better one to take it from. */
static bool is_passed_over(const struct codeobj_item *item, enum isa_chip chip)
{
    for (size_t i = 0; item->bundle && i < item->bundle->n; i++) {
        struct codeobj_target target;
        if (!item->bundle->entries[i].size ||
            !codeobj_target_parse(item->bundle->entries[i].id, &target))
            continue;
        if (is_for(&target, chip) || rank_of(&target) < rank_of(&item->target)) return true;
    }
    return false;
}

static rmcp_status count_native(const struct context *c, const struct codeobj_item *item)
{
    struct codeobj *object = NULL;
    rmcp_status status = codeobj_open(item->bytes, item->size, &object);
    if (status) return status;
    if (codeobj_is_repaired(object))
        c->report->n_already++;
    else
        c->report->n_native++;
    codeobj_close(object);
    return RMCP_OK;
}

static rmcp_status rewrite_item(void *context, const struct codeobj_item *item,
                                struct codeobj_made *made)
{
    struct context *c = context;
    if (is_for(&item->target, c->target)) return count_native(c, item);
    if (rank_of(&item->target) == 9 || is_passed_over(item, c->target)) {
        c->report->n_other++;
        return RMCP_OK;
    }
    rmcp_status status =
        repair_object(item->bytes, item->size, c->target, c->report, &made->bytes, &made->size);
    made->add = item->bundle != NULL;
    if (status != RMCP_E_UNSUPPORTED && status != RMCP_E_IO) return status;
    c->report->n_refused_objects++;
    const rmcp_status kept = repair_report_refuse(c->report, item->path, rmcp_last_error(), false);
    if (kept) return kept;
    return c->alone ? status : RMCP_OK;
}

/* ---- files ---- */

static rmcp_status map_file(const char *path, struct mapped *out)
{
    struct stat about;
    const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    *out = (struct mapped){ NULL, 0, 0 };
    if (file < 0 || fstat(file, &about) || !S_ISREG(about.st_mode)) {
        const int error = errno;
        if (file >= 0) close(file);
        return rmcp_fail(RMCP_E_IO, "%.300s: %s", path,
                         file < 0 ? strerror(error) : "is not a file");
    }
    out->size = (size_t)about.st_size;
    out->mode = about.st_mode;
    if (out->size) out->bytes = mmap(NULL, out->size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (out->size && out->bytes == MAP_FAILED)
        return rmcp_fail(RMCP_E_IO, "mapping %.300s: %s", path, strerror(errno));
    return RMCP_OK;
}

static void unmap(struct mapped *file)
{
    if (file->size) munmap(file->bytes, file->size);
}

static enum kind kind_of(const char *path, const struct mapped *file)
{
    static const char bundle[] = "__CLANG_OFFLOAD_BUNDLE__", database[] = "SQLite format 3";
    const uint8_t *bytes = file->bytes;
    const size_t length = strlen(path);
    if (length > 4 && !strcmp(path + length - 4, ".dat")) return KIND_TENSILE;
    if (file->size >= 64 && !memcmp(bytes, "\177ELF", 4))
        return bytes[18] == 224 && !bytes[19] ? KIND_OBJECT : KIND_CONTAINER; /* EM_AMDGPU */
    if (file->size >= sizeof bundle && !memcmp(bytes, bundle, sizeof bundle - 1))
        return KIND_CONTAINER;
    if (file->size >= sizeof database && !memcmp(bytes, database, sizeof database))
        return KIND_CONTAINER;
    return file->size >= 4 && !memcmp(bytes, "CCOB", 4) ? KIND_CONTAINER : KIND_OTHER;
}

static rmcp_status copy(const struct mapped *file, const char *to, enum repair_made *made)
{
    *made = REPAIR_COPIED;
    if (!to) return RMCP_OK;
    return codeobj_output_file(to, file->mode, file->size ? file->bytes : "", file->size);
}

static rmcp_status repair_index(const struct mapped *file, const char *from, const char *to,
                                struct context *c, enum repair_made *made)
{
    uint8_t *bytes = NULL;
    size_t size = 0, n = 0;
    rmcp_status status = codeobj_tensile_retarget(file->bytes, file->size, "gfx1030",
                                                  isa_chip_name(c->target), &bytes, &size, &n);
    if (status == RMCP_E_IO || status == RMCP_E_ARG) {
        /* Another program's .dat. */
        if (!strstr(from, "Tensile")) return copy(file, to, made);
        status = repair_report_refuse(c->report, from, rmcp_last_error(), false);
        return status ? status : copy(file, to, made);
    }
    if (status) return status;
    *made = n ? REPAIR_CHANGED : REPAIR_COPIED;
    if (to) status = codeobj_output_file(to, file->mode, bytes, size);
    free(bytes);
    return status;
}

struct seen {
    const struct context *c;
    size_t n;
};

static rmcp_status count_source(void *context, const struct codeobj_item *item)
{
    struct seen *seen = context;
    seen->n += item->kind == CODEOBJ_OBJECT && rank_of(&item->target) < 9;
    return RMCP_OK;
}

/* A file that cannot be written again stays as it is; that is worth a word when it has code. */
static rmcp_status keep_whole(const struct mapped *file, const char *from, const char *to,
                              struct context *c, enum repair_made *made)
{
    char why[512];
    struct seen seen = { c, 0 };
    snprintf(why, sizeof why, "%s", rmcp_last_error());
    rmcp_status status = codeobj_walk_path(from, NULL, count_source, &seen);
    if (status == RMCP_E_IO) status = RMCP_OK;
    if (!status && seen.n) status = repair_report_refuse(c->report, from, why, false);
    if (!status && seen.n) c->report->n_refused_objects += seen.n;
    return status ? status : copy(file, to, made);
}

rmcp_status repair_file(const char *from, const char *to, enum isa_chip target,
                        struct repair_report *report, enum repair_made *made)
{
    struct mapped file;
    struct repair_report one = { .n_files = 1 };
    struct context c = { .target = target, .report = &one };
    struct codeobj_rewritten done = { 0 };
    *made = REPAIR_NOTHING;
    rmcp_status status = map_file(from, &file);
    if (status) return status;
    const enum kind kind = kind_of(from, &file);
    c.alone = kind == KIND_OBJECT;
    if (kind == KIND_TENSILE) {
        status = repair_index(&file, from, to, &c, made);
    } else if (kind == KIND_OTHER) {
        status = copy(&file, to, made);
    } else {
        const size_t n_before = one.n_refusals;
        status = codeobj_rewrite_file(from, to, rewrite_item, &c, &done);
        if (!status) *made = done.changed ? REPAIR_CHANGED : REPAIR_COPIED;
        const bool is_content = status == RMCP_E_UNSUPPORTED || status == RMCP_E_IO;
        if (is_content && c.alone && one.n_refusals > n_before) {
            status = RMCP_OK;
        } else if (is_content) {
            repair_report_deinit(&one);
            one.n_files = 1;
            status = keep_whole(&file, from, to, &c, made);
        }
    }
    unmap(&file);
    one.n_changed_files = *made == REPAIR_CHANGED;
    one.n_copied_files = *made == REPAIR_COPIED;
    const rmcp_status merged = repair_report_merge(report, &one);
    return status ? status : merged;
}

/* ---- names ---- */

rmcp_status repair_rename(const char *name, const char *from, const char *to, char **out)
{
    const size_t n = strlen(from), room = strlen(name) * (strlen(to) + 1) + 1;
    size_t length = 0, n_found = 0;
    *out = NULL;
    char *made = malloc(room);
    if (!made) return rmcp_fail_memory("name of a file", room);
    for (size_t at = 0; name[at];) {
        const bool starts = !at || !isalnum((unsigned char)name[at - 1]);
        if (starts && !strncmp(name + at, from, n) && !isalnum((unsigned char)name[at + n])) {
            memcpy(made + length, to, strlen(to));
            length += strlen(to);
            at += n;
            n_found++;
        } else {
            made[length++] = name[at++];
        }
    }
    made[length] = 0;
    if (n_found)
        *out = made;
    else
        free(made);
    return RMCP_OK;
}
