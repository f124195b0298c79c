/* files.c: one file repaired: which of its code objects, and in which form it is written. */
#include "code/repair/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code/codeobj/chip_names.h"
#include "code/codeobj/tensile.h"
#include "code/codeobj/write.h"

enum kind { KIND_OTHER, KIND_OBJECT, KIND_CONTAINER, KIND_TENSILE, KIND_ARCHIVE };

struct context {
    const struct repair_how *how;
    enum isa_chip target;
    struct repair_report *report;
    struct repair_stream *stream;
    struct repair_wish wish;
    const char *path;
    bool alone;      /* the file is one code object: refused with it       */
    bool has_others; /* code for the chip is in it that is not made here,
                        or some for a chip whose name passes as well       */
};

static const char source_chip[] = "gfx1030";

/* ---- which objects ---- */

enum { NO_RANK = 9 };

/* From which of a bundle's entries code is taken: the least counts. */
static unsigned rank_of(const struct codeobj_target *target)
{
    if (!target->chip || isa_chip_of_mach(target->mach) != ISA_GFX1030) return NO_RANK;
    if (!strcmp(target->chip, source_chip)) return 0;
    return strcmp(target->chip, "gfx10-3-generic") ? 2 : 1;
}

static bool is_for(const struct codeobj_target *target, enum isa_chip chip)
{
    return target->chip && target->xnack != CODEOBJ_ON &&
           (!strcmp(target->chip, isa_chip_name(chip)) || !strcmp(target->chip, "gfx10-1-generic"));
}

static bool is_superseded(const void *context, const struct codeobj_target *target)
{
    const struct context *c = context;
    return is_for(target, c->target);
}

static bool is_repaired(const struct codeobj_entry *entry)
{
    struct codeobj *object = NULL;
    if (codeobj_open(entry->bytes, entry->size, &object)) return false;
    const bool repaired = codeobj_is_repaired(object);
    codeobj_close(object);
    return repaired;
}

/* The entry of a bundle that code is taken from, and how many were made for the chip; `*is_settled`
 * when one of these stays. n: none. */
static size_t find_source(const struct context *c, const struct codeobj_bundle *bundle,
                          size_t *n_native, bool *is_settled)
{
    size_t best = bundle->n;
    unsigned best_rank = NO_RANK;
    *n_native = 0;
    *is_settled = false;
    for (size_t i = 0; i < bundle->n; i++) {
        struct codeobj_target target;
        const struct codeobj_entry *entry = &bundle->entries[i];
        if (!entry->size || !codeobj_target_parse(entry->id, &target)) continue;
        if (is_for(&target, c->target)) {
            ++*n_native;
            *is_settled |= !c->how->options->replace || is_repaired(entry);
        } else if (rank_of(&target) < best_rank) {
            best = i;
            best_rank = rank_of(&target);
        }
    }
    return best;
}

/* Whether an object is to be repaired: the first of the best ones of its bundle. */
static bool wants(const void *context, const struct codeobj_item *item)
{
    size_t n_native;
    bool is_settled;
    if (rank_of(&item->target) == NO_RANK) return false;
    if (!item->bundle) return true;
    const size_t i = find_source(context, item->bundle, &n_native, &is_settled);
    return i < item->bundle->n && !is_settled && item->bundle->entries[i].bytes == item->bytes;
}

static rmcp_status count_native(struct context *c, const struct codeobj_item *item)
{
    struct codeobj *object = NULL;
    size_t n_native = 0;
    bool is_settled = true;
    rmcp_status status = codeobj_open(item->bytes, item->size, &object);
    if (status) return status;
    const bool repaired = codeobj_is_repaired(object);
    codeobj_close(object);
    /* What is about to be replaced is counted with what replaces it. */
    if (item->bundle && find_source(c, item->bundle, &n_native, &is_settled) < item->bundle->n &&
        !is_settled)
        return RMCP_OK;
    c->has_others = true;
    if (repaired)
        c->report->n_already++;
    else
        c->report->n_native++;
    return RMCP_OK;
}

/* Whether host code that takes the target for gfx1030 takes another chip for it, too. */
static bool is_taken_for_source(const struct context *c, const struct codeobj_target *target)
{
    return target->chip && strcmp(target->chip, source_chip) != 0 &&
           codeobj_name_passes(source_chip, isa_chip_name(c->target), target->chip);
}

static rmcp_status rewrite_item(void *context, const struct codeobj_item *item,
                                struct codeobj_made *made)
{
    struct context *c = context;
    size_t n_native = 0;
    bool is_settled;
    if (is_for(&item->target, c->target)) return count_native(c, item);
    if (!wants(c, item)) {
        c->has_others |= is_taken_for_source(c, &item->target);
        c->report->n_other++;
        return RMCP_OK;
    }
    if (item->bundle) find_source(c, item->bundle, &n_native, &is_settled);
    rmcp_status status =
        repair_stream_take(c->how->pool, c->stream, &c->wish, item, c->report, made);
    repair_pool_advance(c->how->pool, c->path, 1);
    made->add = item->bundle != NULL;
    made->supersedes = is_superseded;
    made->context = c;
    if (!status) c->report->n_replaced += n_native;
    if (status != RMCP_E_UNSUPPORTED && status != RMCP_E_IO) return status;
    c->report->n_refused_objects++;
    c->report->n_native += n_native;
    c->has_others |= n_native > 0;
    const rmcp_status kept = repair_report_refuse(c->report, item->path, rmcp_last_error(), false);
    if (kept) return kept;
    return c->alone ? status : RMCP_OK;
}

/* ---- files ---- */

static enum kind kind_of(const struct codeobj_source *file)
{
    static const char bundle[] = "__CLANG_OFFLOAD_BUNDLE__", database[] = "SQLite format 3";
    const uint8_t *bytes = file->bytes;
    const size_t length = strlen(file->name);
    if (length > 4 && !strcmp(file->name + length - 4, ".dat")) return KIND_TENSILE;
    if (file->size >= 64 && !memcmp(bytes, "\177ELF", 4))
        return bytes[18] == 224 && !bytes[19] ? KIND_OBJECT : KIND_CONTAINER; /* EM_AMDGPU */
    if (file->size >= sizeof bundle && !memcmp(bytes, bundle, sizeof bundle - 1))
        return KIND_CONTAINER;
    if (file->size >= sizeof database && !memcmp(bytes, database, sizeof database))
        return KIND_CONTAINER;
    if (file->size >= 4 && !memcmp(bytes, "CCOB", 4)) return KIND_CONTAINER;
    bool compressed = false;
    return codeobj_packed_as(bytes, file->size, &compressed) && !compressed &&
                   memcmp(bytes, "PK", 2) != 0 /* which would have to be unpacked to know */
               ? KIND_ARCHIVE
               : KIND_OTHER;
}

/* A file as it is to be written. */
struct file {
    const struct codeobj_source *source;
    unsigned mode;
    const char *to;
    struct context *c;
};

static rmcp_status copy(const struct file *f, enum repair_made *made)
{
    *made = REPAIR_COPIED;
    if (!f->to || f->c->how->changes_only) return RMCP_OK;
    return codeobj_output_file(f->to, f->mode, f->source->size ? f->source->bytes : "",
                               f->source->size);
}

static rmcp_status repair_index(const struct file *f, enum repair_made *made)
{
    uint8_t *bytes = NULL;
    size_t size = 0, n = 0;
    const char *from = f->source->name;
    rmcp_status status = codeobj_tensile_retarget(f->source->bytes, f->source->size, source_chip,
                                                  isa_chip_name(f->c->target), &bytes, &size, &n);
    if (status == RMCP_E_IO || status == RMCP_E_ARG) {
        /* Another program's .dat. */
        if (!strstr(from, "Tensile")) return copy(f, made);
        status = repair_report_refuse(f->c->report, from, rmcp_last_error(), false);
        return status ? status : copy(f, made);
    }
    if (status) return status;
    if (!n) {
        free(bytes);
        return copy(f, made);
    }
    *made = REPAIR_CHANGED;
    if (f->to) status = codeobj_output_file(f->to, f->mode, bytes, size);
    free(bytes);
    return status;
}

/* Code in a file that cannot be written again, and why not. */
struct kept {
    const struct context *c;
    size_t n, n_native;
    char why[512];
};

static rmcp_status count_source(void *context, const struct codeobj_item *item)
{
    struct kept *kept = context;
    if (item->kind == CODEOBJ_TROUBLE) {
        snprintf(kept->why, sizeof kept->why, "%s", item->message);
        kept->n++;
    }
    if (item->kind != CODEOBJ_OBJECT) return RMCP_OK;
    kept->n += rank_of(&item->target) < NO_RANK;
    kept->n_native += is_for(&item->target, kept->c->target);
    return RMCP_OK;
}

/* A file that cannot be written again stays as it is; that is worth a word when it has code, or
 * what once was some. */
static rmcp_status keep_whole(const struct file *f, enum repair_made *made)
{
    struct kept kept = { .c = f->c };
    snprintf(kept.why, sizeof kept.why, "%s", rmcp_last_error());
    rmcp_status status = codeobj_walk(f->source, count_source, &kept);
    if (status == RMCP_E_IO) status = RMCP_OK;
    if (!status && kept.n)
        status = repair_report_refuse(f->c->report, f->source->name, kept.why, false);
    if (!status && kept.n) f->c->report->n_refused_objects += kept.n;
    return status ? status : copy(f, made);
}

/* An archive stays as it is, and that is said when it has code that nothing in it replaces. */
static rmcp_status keep_archive(const struct file *f, enum repair_made *made)
{
    static const char why[] = "an archive: unpack it, repair what is in it, pack it again";
    struct kept kept = { .c = f->c };
    rmcp_status status = codeobj_walk(f->source, count_source, &kept);
    if (status == RMCP_E_IO) status = RMCP_OK;
    if (!status && kept.n && !kept.n_native) {
        status = repair_report_refuse(f->c->report, f->source->name, why, false);
        f->c->report->n_refused_objects += kept.n;
    }
    return status ? status : copy(f, made);
}

/* One try at it, with or without host code that takes the chip for gfx1030. */
static rmcp_status rewrite(const struct file *f, const struct codeobj_naming *naming,
                           struct codeobj_rewritten *done)
{
    struct context *c = f->c;
    const struct codeobj_destination to = { .path = f->to,
                                            .mode = f->mode,
                                            .patches = naming->patches,
                                            .n_patches = naming->n_patches,
                                            .n_needing = &c->report->n_by_name };
    c->has_others = false;
    c->wish = (struct repair_wish){ .wants = wants,
                                    .context = c,
                                    .code = { c->target, naming->n_places > 0 } };
    if (!c->alone) c->stream = repair_stream_open(c->how->pool, f->source, &c->wish);
    rmcp_status status = codeobj_rewrite_bytes(f->source, &to, rewrite_item, c, done);
    char why[512];
    snprintf(why, sizeof why, "%s", status ? rmcp_last_error() : "");
    repair_stream_close(c->stream);
    c->stream = NULL;
    if (!status && done->changed && c->report->n_by_name)
        c->report->n_host_places = naming->n_places;
    return status ? rmcp_fail(status, "%s", why) : RMCP_OK;
}

static void forget(struct context *c)
{
    repair_report_deinit(c->report);
    c->report->n_files = 1;
}

static rmcp_status repair_container(const struct file *f, enum repair_made *made)
{
    struct codeobj_rewritten done = { 0 };
    struct codeobj_naming naming = { 0 };
    struct context *c = f->c;
    rmcp_status status = codeobj_accept_name(f->source->bytes, f->source->size, source_chip,
                                             isa_chip_name(c->target), &naming);
    if (!status) status = rewrite(f, &naming, &done);
    if (!status && naming.n_places && c->has_others) {
        /* That code has the sizes for a chip that rocPRIM does not know. */
        codeobj_naming_deinit(&naming);
        repair_pool_expect(c->how->pool, c->report->n_repaired + c->report->n_refused_objects);
        forget(c);
        status = rewrite(f, &naming, &done);
    }
    codeobj_naming_deinit(&naming);
    if (!status) *made = done.changed ? REPAIR_CHANGED : REPAIR_COPIED;
    if (!status && !done.changed && f->to && c->how->changes_only) unlink(f->to);
    const bool is_content =
        (status == RMCP_E_UNSUPPORTED || status == RMCP_E_IO) && !done.output_failed;
    if (is_content && c->alone && c->report->n_refusals) return RMCP_OK;
    if (!is_content) return status;
    forget(c);
    return keep_whole(f, made);
}

rmcp_status repair_bytes(const struct codeobj_source *source, unsigned mode, const char *to,
                         const struct repair_how *how, struct repair_report *report,
                         enum repair_made *made)
{
    struct repair_report one = { .n_files = 1 };
    struct context c = {
        .how = how, .target = how->options->target, .report = &one, .path = source->name
    };
    const struct file file = { source, mode, to, &c };
    const enum kind kind = kind_of(source);
    rmcp_status status = RMCP_OK;
    *made = REPAIR_NOTHING;
    c.alone = kind == KIND_OBJECT;
    if (kind == KIND_TENSILE)
        status = repair_index(&file, made);
    else if (kind == KIND_ARCHIVE)
        status = keep_archive(&file, made);
    else if (kind == KIND_OTHER)
        status = copy(&file, made);
    else
        status = repair_container(&file, made);
    one.n_changed_files = *made == REPAIR_CHANGED;
    one.n_copied_files = *made == REPAIR_COPIED;
    const rmcp_status merged = repair_report_merge(report, &one);
    return status ? status : merged;
}

rmcp_status repair_file(const char *from, const char *to, const struct repair_how *how,
                        struct repair_report *report, enum repair_made *made)
{
    struct rmcp_file file;
    *made = REPAIR_NOTHING;
    rmcp_status status = rmcp_file_map(AT_FDCWD, from, &file);
    if (status) return status;
    const struct codeobj_source source = { .name = from, .bytes = file.bytes, .size = file.size };
    status = repair_bytes(&source, file.mode, to, how, report, made);
    rmcp_file_unmap(&file);
    return status;
}

/* ---- how many there are ---- */

static void count_target(void *context, const char *id, size_t length)
{
    char text[256];
    struct codeobj_target target;
    if (length >= sizeof text) return;
    memcpy(text, id, length);
    text[length] = 0;
    if (codeobj_target_parse(text, &target) && rank_of(&target) == 0) ++*(size_t *)context;
}

static void pass_soname(void *context, const char *name, size_t length)
{
    (void)context;
    (void)name;
    (void)length;
}

static bool go_on(void *context)
{
    (void)context;
    return true;
}

size_t repair_count(const char *path)
{
    struct rmcp_file file;
    size_t n = 0;
    if (rmcp_file_map(AT_FDCWD, path, &file)) return 0;
    const struct codeobj_library_reader reader = {
        .context = &n, .soname = pass_soname, .target = count_target, .go_on = go_on
    };
    if (file.size && codeobj_library_read(file.bytes, file.size, &reader)) n = 0;
    rmcp_file_unmap(&file);
    return n;
}
