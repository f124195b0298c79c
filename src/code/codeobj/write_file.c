/* write_file.c: code objects and bundles behind each other, and files of any kind, written again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code/codeobj/elf.h"
#include "code/codeobj/write_containers.h"

enum { BUNDLE_ALIGN = 4096, LONGEST_ID = 1024 };

static void remember_chips(struct rewriting *r, const struct codeobj_target *from,
                           const struct codeobj_target *to)
{
    if (!from->chip || !to->chip || !strcmp(from->chip, to->chip)) return;
    snprintf(r->changed_from, sizeof r->changed_from, "%s", from->chip);
    snprintf(r->changed_to, sizeof r->changed_to, "%s", to->chip);
}

/* Ask the caller for one object. `made->bytes` is to be freed. */
static rmcp_status rewrite_object(struct rewriting *r, const uint8_t *bytes, size_t size,
                                  uint64_t offset, struct codeobj_made *made,
                                  struct codeobj_target *target)
{
    struct codeobj *object = NULL;
    struct codeobj_item item = { .kind = CODEOBJ_OBJECT,
                                 .path = r->walk.path,
                                 .entry_id = r->walk.entry_id,
                                 .bytes = bytes,
                                 .size = size,
                                 .offset = offset,
                                 .bundle = r->bundle,
                                 .message = "" };
    *made = (struct codeobj_made){ 0 };
    rmcp_status status = codeobj_open(bytes, size, &object);
    if (!status) item.target = object->target;
    codeobj_close(object);
    object = NULL;
    if (status) return status;
    r->done.objects++;
    status = r->rewriter(r->context, &item, made);
    if (!status && made->remove && !r->bundle)
        status =
            rmcp_fail(RMCP_E_UNSUPPORTED, "%.300s: only a bundle can do without", r->walk.path);
    if (status || made->remove || !made->bytes) {
        free(made->bytes);
        made->bytes = NULL;
        if (!status && made->remove) r->done.changed++, r->done.removed++;
        return status;
    }
    status = codeobj_open(made->bytes, made->size, &object);
    if (!status) *target = object->target;
    codeobj_close(object);
    if (status) {
        free(made->bytes);
        made->bytes = NULL;
        return status;
    }
    remember_chips(r, &item.target, target);
    r->done.changed++;
    return RMCP_OK;
}

/* "hipv4-amdgcn-amd-amdhsa--gfx1030" and another target. */
static bool rename_id(const char *id, const char *target, char out[LONGEST_ID + 1])
{
    const char *chip = NULL;
    for (const char *at = id; (at = strstr(at, "-gfx")); at++) chip = at + 1;
    if (!chip) return false;
    return snprintf(out, LONGEST_ID + 1, "%.*s%s", (int)(chip - id), id, target) <= LONGEST_ID;
}

static const char dropped[] = "";

/* Entries in whose place the new one comes go. */
static void drop_superseded(struct codeobj_bundle *bundle, size_t source,
                            const struct codeobj_made *made)
{
    for (size_t i = 0; i < bundle->n; i++) {
        struct codeobj_target target;
        struct codeobj_entry *entry = &bundle->entries[i];
        if (i != source && codeobj_target_parse(entry->id, &target) &&
            made->supersedes(made->context, &target))
            *entry = (struct codeobj_entry){ dropped, NULL, 0 };
    }
}

static void remove_dropped(struct codeobj_bundle *bundle)
{
    size_t n = 0;
    for (size_t i = 0; i < bundle->n; i++)
        if (bundle->entries[i].id != dropped) bundle->entries[n++] = bundle->entries[i];
    bundle->n = n;
}

/* What became of one entry of a bundle. */
struct rewritten_entry {
    uint8_t *bytes; /* to be freed; NULL: as it was */
    bool removed;
};

static rmcp_status rewrite_entry(struct rewriting *r, struct codeobj_bundle *bundle, size_t i,
                                 const uint8_t *start, struct rewritten_entry *out)
{
    const struct codeobj_entry entry = bundle->entries[i];
    uint16_t machine = 0;
    struct codeobj_made made;
    struct codeobj_target target;
    char id[LONGEST_ID + 1];
    if (!entry.size || !elf_is(entry.bytes, entry.size, &machine) || machine != EM_AMDGPU ||
        !strncmp(entry.id, "host", 4))
        return RMCP_OK;
    const size_t before = walk_enter(&r->walk, "%s", entry.id);
    r->walk.entry_id = entry.id;
    r->bundle = bundle;
    rmcp_status status =
        rewrite_object(r, entry.bytes, entry.size,
                       bundle->compressed ? 0 : (uint64_t)(entry.bytes - start), &made, &target);
    r->walk.entry_id = "";
    r->bundle = NULL;
    walk_leave(&r->walk, before);
    if (!status && made.remove) {
        /* Empty until all are asked for: then another may have come in its place. */
        out->removed = true;
        bundle->entries[i].bytes = NULL;
        bundle->entries[i].size = 0;
    }
    if (status || !made.bytes) return status;
    out->bytes = made.bytes;
    if (!rename_id(entry.id, target.text, id))
        return rmcp_fail(RMCP_E_UNSUPPORTED, "the bundle's name %.200s names no chip", entry.id);
    if (made.add) {
        r->done.added++;
        if (made.supersedes) drop_superseded(bundle, i, &made);
        return codeobj_bundle_set(bundle, id, made.bytes, made.size);
    }
    bundle->entries[i].bytes = made.bytes;
    bundle->entries[i].size = made.size;
    struct codeobj_target named;
    if (codeobj_target_parse(entry.id, &named) && !strcmp(named.text, target.text)) return RMCP_OK;
    /* The name was the old target's. */
    const char *copy = codeobj_bundle_text(bundle, id);
    if (!copy) return rmcp_fail_memory("name of an entry", strlen(id));
    bundle->entries[i].id = copy;
    return RMCP_OK;
}

/* Close the gaps of the entries that were taken out, of the first `n`. */
static void close_gaps(struct codeobj_bundle *bundle, const struct rewritten_entry *made, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < bundle->n; i++)
        if (i >= n || !made[i].removed || bundle->entries[i].size)
            bundle->entries[kept++] = bundle->entries[i];
    bundle->n = kept;
}

rmcp_status rewrite_bundle(struct rewriting *r, const uint8_t *bytes, size_t size, uint8_t **out,
                           size_t *out_size, size_t *extent)
{
    struct codeobj_bundle *bundle = NULL;
    *out = NULL;
    rmcp_status status = codeobj_bundle_open(bytes, size, &bundle);
    if (status) return status;
    *extent = bundle->extent;
    const size_t n = bundle->n; /* what is added is not rewritten again */
    struct rewritten_entry *made = calloc(n + 1, sizeof *made);
    if (!made) status = rmcp_fail_memory("entries", n);
    bool changed = false;
    for (size_t i = 0; !status && i < n; i++) {
        status = rewrite_entry(r, bundle, i, bytes, &made[i]);
        changed = changed || made[i].bytes || made[i].removed;
    }
    if (!status) close_gaps(bundle, made, n);
    if (changed) remove_dropped(bundle);
    if (!status && changed) status = codeobj_bundle_write(bundle, out, out_size);
    for (size_t i = 0; made && i < n; i++) free(made[i].bytes);
    free(made);
    codeobj_bundle_close(bundle);
    return status;
}

bool rewrite_is_bundle(const uint8_t *bytes, size_t size)
{
    return (size >= BUNDLE_MAGIC_BYTES && !memcmp(bytes, BUNDLE_MAGIC, BUNDLE_MAGIC_BYTES)) ||
           compressed_bundle_is(bytes, size);
}

static bool all_zero(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i]) return false;
    return true;
}

/* Bundles one behind the other; zeros between them. */
static rmcp_status rewrite_bundles(struct rewriting *r, const uint8_t *bytes, size_t size,
                                   uint8_t **out, size_t *out_size)
{
    struct buffer all = { 0 };
    bool changed = false;
    rmcp_status status = RMCP_OK;
    for (size_t at = 0; !status && at < size;) {
        uint8_t *one = NULL;
        size_t one_size = 0, extent = 0, n = 0;
        if (!rewrite_is_bundle(bytes + at, size - at)) {
            status = rmcp_fail(RMCP_E_UNSUPPORTED, "%.300s: something else follows its bundles",
                               r->walk.path);
            break;
        }
        status = rewrite_bundle(r, bytes + at, size - at, &one, &one_size, &extent);
        if (all.size) buffer_align(&all, BUNDLE_ALIGN);
        if (one)
            buffer_add(&all, one, one_size);
        else if (!status)
            buffer_add(&all, bytes + at, extent);
        changed = changed || one;
        free(one);
        at += extent;
        while (at + n < size && !bytes[at + n]) n++;
        at += n;
        if (!status && at == size && n) buffer_align(&all, BUNDLE_ALIGN); /* as it was */
    }
    if (!status) status = buffer_status(&all);
    if (status || !changed) {
        buffer_deinit(&all);
        return status;
    }
    *out = all.bytes;
    *out_size = all.size;
    return RMCP_OK;
}

rmcp_status rewrite_blob(struct rewriting *r, const uint8_t *bytes, size_t size, uint8_t **out,
                         size_t *out_size)
{
    uint16_t machine = 0;
    *out = NULL;
    *out_size = 0;
    if (rewrite_is_bundle(bytes, size)) return rewrite_bundles(r, bytes, size, out, out_size);
    if (!elf_is(bytes, size, &machine) || machine != EM_AMDGPU)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "%.300s: neither a code object nor an offload bundle",
                         r->walk.path);
    const size_t extent = elf_extent(bytes, size);
    if (!extent || !all_zero(bytes + extent, size - extent))
        return rmcp_fail(RMCP_E_UNSUPPORTED, "%.300s: something else follows its code object",
                         r->walk.path);
    struct codeobj_made made;
    struct codeobj_target target;
    rmcp_status status = rewrite_object(r, bytes, size, 0, &made, &target);
    if (status || !made.bytes) return status;
    *out = made.bytes;
    *out_size = made.size;
    return RMCP_OK;
}

static rmcp_status rewrite_any(struct rewriting *r, const uint8_t *bytes, size_t size,
                               struct codeobj_output *output)
{
    uint16_t machine = 0;
    rmcp_status status;
    if (elf_is(bytes, size, &machine) && machine != EM_AMDGPU) {
        status = rewrite_host(r, bytes, size, output);
    } else if (size >= 16 && !memcmp(bytes, "SQLite format 3", 16)) {
        status = rewrite_kdb(r, bytes, size, output);
    } else {
        uint8_t *out = NULL;
        size_t out_size = 0;
        status = rewrite_blob(r, bytes, size, &out, &out_size);
        if (!status && out) status = codeobj_output_write(output, out, out_size);
        free(out);
    }
    if (!status && !r->done.changed) status = codeobj_output_write(output, bytes, size);
    return status;
}

rmcp_status codeobj_rewrite_bytes(const struct codeobj_source *source,
                                  const struct codeobj_destination *to, codeobj_rewriter rewriter,
                                  void *context, struct codeobj_rewritten *done)
{
    struct codeobj_output *output = NULL;
    if (done) *done = (struct codeobj_rewritten){ 0 };
    if (!source || !source->name || !to || !rewriter)
        return rmcp_fail(RMCP_E_ARG, "a name or rewriter is NULL");
    struct rewriting *r = calloc(1, sizeof *r);
    if (!r) return rmcp_fail_memory("rewriting", sizeof *r);
    r->rewriter = rewriter;
    r->context = context;
    r->to = to;
    walk_init(&r->walk, &source->limits, NULL, NULL);
    walk_enter(&r->walk, "%s", source->name);
    rmcp_status status = codeobj_output_open(to->path, to->mode, &output);
    r->done.output_failed = status != RMCP_OK;
    if (!status) {
        status = rewrite_any(r, source->bytes, source->size, output);
        r->done.output_failed = codeobj_output_failed(output);
        if (status) {
            codeobj_output_abandon(output);
        } else {
            status = codeobj_output_commit(output);
            r->done.output_failed = status != RMCP_OK;
        }
    }
    if (done && !status) *done = r->done;
    if (done) done->output_failed = r->done.output_failed;
    free(r);
    return status;
}

static rmcp_status rewrite_opened(int file, const char *from, const char *to,
                                  codeobj_rewriter rewriter, void *context,
                                  struct codeobj_rewritten *done)
{
    struct stat about;
    if (fstat(file, &about) || !S_ISREG(about.st_mode) || about.st_size <= 0)
        return rmcp_fail(RMCP_E_IO, "%.300s is not a file, or empty", from);
    const size_t size = (size_t)about.st_size;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED)
        return rmcp_fail(RMCP_E_IO, "mapping %.300s: %s", from, strerror(errno));
    const struct codeobj_source source = { .name = from, .bytes = bytes, .size = size };
    const struct codeobj_destination destination = { .path = to, .mode = about.st_mode };
    rmcp_status status = codeobj_rewrite_bytes(&source, &destination, rewriter, context, done);
    munmap(bytes, size);
    return status;
}

rmcp_status codeobj_rewrite_file(const char *from, const char *to, codeobj_rewriter rewriter,
                                 void *context, struct codeobj_rewritten *done)
{
    if (done) *done = (struct codeobj_rewritten){ 0 };
    if (!from || !rewriter) return rmcp_fail(RMCP_E_ARG, "a name or rewriter is NULL");
    const int file = open(from, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (file < 0) return rmcp_fail(RMCP_E_IO, "opening %.300s: %s", from, strerror(errno));
    rmcp_status status = rewrite_opened(file, from, to, rewriter, context, done);
    close(file);
    return status;
}
