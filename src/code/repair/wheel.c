/* wheel.c: a wheel repaired: its members like the files of a folder, its RECORD made right again.
 *
 * Members that stay the same are copied as they are packed. Whatever pip would refuse, or might
 * take for another file, is refused: names that lead out of the wheel, two members of one name,
 * encrypted ones, far more bytes than the file can honestly hold. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code/codeobj/zip.h"
#include "code/repair/files.h"
#include "code/repair/names.h"
#include "code/repair/record.h"

enum { MOST_MEMBERS = 1 << 20, LONGEST_NAME = 4096, EXPANSION = 100 };
#define ALWAYS_ALLOWED ((uint64_t)1 << 30) /* bytes, whatever the size of the wheel */

struct member {
    struct zip_member in;
    char *name, *new_name; /* new_name NULL: left out */
    bool is_record, is_changed;
    uint64_t size, packed; /* when it is changed */
    uint32_t crc;
    uint8_t before[SHA256_BYTES], digest[SHA256_BYTES];
    struct repair_report report;
    rmcp_status status;
    char message[512];
};

struct wheel {
    const struct repair_how *how;
    const char *path, *scratch; /* scratch NULL: nothing is written */
    struct zip zip;
    struct member *members;
    struct member **sorted; /* by name */
    size_t n;
    const struct member *record;
    const char *folder; /* where a name is looked for */
    size_t folder_length;
    atomic_bool is_over; /* a member failed: the others need not be tried */
};

static rmcp_status refuse(const struct wheel *w, const char *name, const char *why)
{
    return rmcp_fail(RMCP_E_UNSUPPORTED, "%.300s: %s%s%.100s", w->path, why, *name ? ": " : "",
                     name);
}

/* ---- names ---- */

static int compare(const void *left, const void *right)
{
    return strcmp((*(struct member *const *)left)->name, (*(struct member *const *)right)->name);
}

static int compare_key(const void *key, const void *member)
{
    return strcmp(key, (*(struct member *const *)member)->name);
}

static rmcp_status read_members(struct wheel *w)
{
    uint64_t total = 0;
    if (w->zip.n > MOST_MEMBERS) return refuse(w, "", "it has more than a million members");
    w->members = calloc((size_t)w->zip.n + 1, sizeof *w->members);
    w->sorted = calloc((size_t)w->zip.n + 1, sizeof *w->sorted);
    if (!w->members || !w->sorted) return rmcp_fail_memory("members", (size_t)w->zip.n);
    for (; w->n < w->zip.n; w->n++) {
        struct member *m = &w->members[w->n];
        rmcp_status status = zip_next(&w->zip, &m->in);
        if (status) return status;
        if (m->in.name_length > LONGEST_NAME || memchr(m->in.name, 0, m->in.name_length))
            return refuse(w, "", "a member has an odd name");
        m->name = strndup(m->in.name, m->in.name_length);
        if (!m->name) return rmcp_fail_memory("name", m->in.name_length);
        w->sorted[w->n] = m;
        if (!repair_name_is_safe(m->name)) {
            w->n++; /* its name is to be freed */
            return refuse(w, m->name, "a member's name leads out of it");
        }
        total += m->in.uncompressed;
        if (m->in.uncompressed > UINT64_MAX / 4 || total > UINT64_MAX / 4 ||
            total > EXPANSION * (uint64_t)w->zip.size + ALWAYS_ALLOWED) {
            w->n++;
            return refuse(w, m->name, "it would become more than 100 times as large unpacked");
        }
    }
    qsort(w->sorted, w->n, sizeof *w->sorted, compare);
    for (size_t i = 1; i < w->n; i++)
        if (!strcmp(w->sorted[i - 1]->name, w->sorted[i]->name))
            return refuse(w, w->sorted[i]->name, "two members have the same name");
    return RMCP_OK;
}

static bool ends(const char *text, const char *end)
{
    const size_t n = strlen(text), length = strlen(end);
    return n >= length && !strcmp(text + n - length, end);
}

/* NAME.dist-info/RECORD, one of them. */
static rmcp_status find_record(struct wheel *w)
{
    for (size_t i = 0; i < w->n; i++) {
        struct member *m = &w->members[i];
        const char *slash = strchr(m->name, '/');
        if (!slash || strcmp(slash, "/RECORD") || !ends(m->name, ".dist-info/RECORD")) continue;
        if (w->record) return refuse(w, m->name, "a second RECORD");
        m->is_record = true;
        w->record = m;
    }
    return w->record ? RMCP_OK : refuse(w, "", "it is no wheel: there is no RECORD in it");
}

static bool exists(void *context, const char *name)
{
    const struct wheel *w = context;
    char path[LONGEST_NAME + 64];
    if ((size_t)snprintf(path, sizeof path, "%.*s%s", (int)w->folder_length, w->folder, name) >=
        sizeof path)
        return false;
    return bsearch(path, w->sorted, w->n, sizeof *w->sorted, compare_key) != NULL;
}

/* Signatures of the RECORD hold no longer. */
static bool is_signature(const struct wheel *w, const char *name)
{
    const size_t n = strlen(w->record->name);
    return !strncmp(name, w->record->name, n) &&
           (!strcmp(name + n, ".jws") || !strcmp(name + n, ".p7s"));
}

static rmcp_status choose(struct wheel *w, struct member *m, size_t *n_left_out)
{
    const char *slash = strrchr(m->name, '/'), *base = slash ? slash + 1 : m->name;
    const struct repair_names names = { w->how->options->target, w->how->options->replace, w,
                                        exists };
    char *chosen = NULL;
    w->folder = m->name;
    w->folder_length = (size_t)(base - m->name);
    if (is_signature(w, m->name)) return RMCP_OK;
    rmcp_status status = repair_choose_name(&names, base, &chosen);
    if (status) return status;
    if (!chosen) {
        ++*n_left_out;
        return RMCP_OK;
    }
    const size_t room = w->folder_length + strlen(chosen) + 1;
    m->new_name = malloc(room);
    if (m->new_name)
        snprintf(m->new_name, room, "%.*s%s", (int)w->folder_length, m->name, chosen);
    else
        status = rmcp_fail_memory("name", room);
    free(chosen);
    return status;
}

/* ---- members ---- */

static void scratch_path(const struct wheel *w, const struct member *m, const char *suffix,
                         char *out, size_t room)
{
    snprintf(out, room, "%s/%zu%s", w->scratch, (size_t)(m - w->members), suffix);
}

/* What was repaired, packed as the member was. */
static rmcp_status pack(struct wheel *w, struct member *m, const char *made)
{
    char packed[4096];
    struct rmcp_file file;
    struct codeobj_output *output = NULL;
    rmcp_status status = rmcp_file_map(AT_FDCWD, made, &file);
    if (status) return status;
    m->size = m->packed = file.size;
    m->crc = zip_crc(file.bytes, file.size);
    sha256(file.bytes, file.size, m->digest);
    if (m->in.method == ZIP_DEFLATED) {
        scratch_path(w, m, ".z", packed, sizeof packed);
        status = codeobj_output_open(packed, 0600, &output);
        if (!status) status = zip_deflate(file.bytes, file.size, output);
        m->packed = status ? 0 : codeobj_output_size(output);
        if (!status)
            status = codeobj_output_commit(output);
        else
            codeobj_output_abandon(output);
        unlink(made);
    }
    rmcp_file_unmap(&file);
    return status;
}

static rmcp_status repair_member(struct wheel *w, struct member *m)
{
    struct spool spool;
    const uint8_t *bytes = NULL;
    char made_path[4096], path[LONGEST_NAME + 8192];
    enum repair_made made;
    struct repair_how how = *w->how;
    how.changes_only = true; /* the others are copied as they are packed */
    rmcp_status status = zip_extract(&w->zip, &m->in, m->in.uncompressed + 1, &spool, &bytes);
    if (!status && m->in.uncompressed && m->new_name && !m->is_record) {
        snprintf(path, sizeof path, "%.4000s/%s", w->path, m->name);
        const struct codeobj_source source = { .name = path,
                                               .bytes = bytes,
                                               .size = (size_t)m->in.uncompressed };
        if (w->scratch) scratch_path(w, m, "", made_path, sizeof made_path);
        status =
            repair_bytes(&source, 0600, w->scratch ? made_path : NULL, &how, &m->report, &made);
        m->is_changed = !status && made == REPAIR_CHANGED;
        if (m->is_changed) sha256(bytes, (size_t)m->in.uncompressed, m->before);
        if (!status && made == REPAIR_NOTHING) m->report.n_copied_files++; /* stays as it is */
        if (m->is_changed && w->scratch) status = pack(w, m, made_path);
    } else if (!status) {
        m->report.n_files = m->report.n_copied_files = m->new_name != NULL;
    }
    spool_deinit(&spool);
    return status;
}

static void task(void *context, size_t i)
{
    struct wheel *w = context;
    struct member *m = &w->members[i];
    if (atomic_load(&w->is_over)) return;
    repair_pool_advance(w->how->pool, m->name, 0);
    m->status = repair_member(w, m);
    if (m->status) atomic_store(&w->is_over, true);
    if (m->status)
        snprintf(m->message, sizeof m->message, "%.200s: %.300s", m->name, rmcp_last_error());
    repair_pool_advance(w->how->pool, m->name, 1);
}

/* ---- the new wheel ---- */

static rmcp_status make_record(const struct wheel *w, struct buffer *out)
{
    struct repair_row *rows = calloc(w->n + 1, sizeof *rows);
    struct spool spool;
    const uint8_t *text = NULL;
    if (!rows) return rmcp_fail_memory("rows of RECORD", w->n);
    for (size_t i = 0; i < w->n; i++) {
        const struct member *m = w->sorted[i];
        rows[i] = (struct repair_row){
            .name = m->name, .new_name = m->new_name, .is_changed = m->is_changed, .size = m->size
        };
        memcpy(rows[i].before, m->before, sizeof rows[i].before);
        memcpy(rows[i].digest, m->digest, sizeof rows[i].digest);
    }
    rmcp_status status =
        zip_extract(&w->zip, &w->record->in, w->record->in.uncompressed + 1, &spool, &text);
    if (!status) status = repair_record(text, (size_t)w->record->in.uncompressed, rows, w->n, out);
    spool_deinit(&spool);
    free(rows);
    return status;
}

static rmcp_status add_member(const struct wheel *w, struct zip_writer *writer,
                              const struct member *m, const struct buffer *record)
{
    struct zip_member out = m->in;
    struct rmcp_file file = { NULL, 0, 0 };
    const uint8_t *bytes = NULL;
    char path[4096];
    rmcp_status status = zip_data(&w->zip, &m->in, &bytes);
    out.name = m->new_name;
    out.name_length = strlen(m->new_name);
    if (m->is_record) {
        out.method = ZIP_STORED;
        out.compressed = out.uncompressed = record->size;
        out.crc = zip_crc(record->bytes, record->size);
        bytes = record->bytes;
    } else if (m->is_changed && !status) {
        scratch_path(w, m, m->in.method == ZIP_DEFLATED ? ".z" : "", path, sizeof path);
        status = rmcp_file_map(AT_FDCWD, path, &file);
        if (!status && file.size != m->packed)
            status = rmcp_fail(RMCP_E_IO, "%.300s changed while it was used", path);
        out.compressed = m->packed;
        out.uncompressed = m->size;
        out.crc = m->crc;
        bytes = file.bytes;
        unlink(path); /* it stays mapped */
    }
    if (!status) status = zip_writer_add(writer, &m->in, &out, bytes);
    rmcp_file_unmap(&file);
    return status;
}

/* What was written has these members and no others. */
static rmcp_status check_written(const struct wheel *w, const char *to)
{
    struct rmcp_file file;
    struct zip zip;
    rmcp_status status = rmcp_file_map(AT_FDCWD, to, &file);
    if (status) return status;
    status = zip_open(&zip, file.bytes, file.size);
    size_t at = 0;
    for (size_t i = 0; !status && i < w->n; i++) {
        const struct member *m = &w->members[i];
        struct zip_member found;
        const uint8_t *bytes;
        if (!m->new_name) continue;
        status = at++ < zip.n ? zip_next(&zip, &found) : RMCP_E_INTERNAL;
        if (!status) status = zip_data(&zip, &found, &bytes);
        if (!status && (found.name_length != strlen(m->new_name) ||
                        memcmp(found.name, m->new_name, found.name_length) ||
                        (!m->is_record &&
                         (found.crc != (m->is_changed ? m->crc : m->in.crc) ||
                          found.uncompressed != (m->is_changed ? m->size : m->in.uncompressed)))))
            status = rmcp_fail(RMCP_E_INTERNAL, "%.300s was not written as it should be", m->name);
    }
    if (!status && at != zip.n) status = rmcp_fail(RMCP_E_INTERNAL, "members too many");
    rmcp_file_unmap(&file);
    return status;
}

static rmcp_status write_wheel(const struct wheel *w, const char *to, unsigned mode)
{
    struct codeobj_output *output = NULL;
    struct zip_writer *writer = NULL;
    struct buffer record = { 0 };
    rmcp_status status = make_record(w, &record);
    if (!status) status = codeobj_output_open(to, mode, &output);
    if (!status) status = zip_writer_open(output, &writer);
    for (size_t i = 0; !status && i < w->n; i++)
        if (w->members[i].new_name) status = add_member(w, writer, &w->members[i], &record);
    if (!status) status = zip_writer_finish(writer);
    zip_writer_close(writer);
    buffer_deinit(&record);
    if (!status) {
        status = codeobj_output_commit(output);
        if (!status) status = check_written(w, to);
        return status;
    }
    codeobj_output_abandon(output);
    return status;
}

/* ---- all of it ---- */

static rmcp_status finish(struct wheel *w, const char *to, const struct rmcp_file *file,
                          struct repair_report *report)
{
    bool is_changed = false;
    rmcp_status status = RMCP_OK;
    for (size_t i = 0; i < w->n; i++) {
        struct member *m = &w->members[i];
        if (m->status && !status) status = rmcp_fail(m->status, "%s", m->message);
        const rmcp_status merged = repair_report_merge(report, &m->report);
        if (!status) status = merged;
        is_changed |= m->is_changed || !m->new_name || strcmp(m->name, m->new_name);
    }
    if (status) return status;
    if (!to && is_changed) { /* would it be refused? */
        struct buffer record = { 0 };
        status = make_record(w, &record);
        buffer_deinit(&record);
    }
    if (status || !to) return status;
    if (!is_changed) return codeobj_output_file(to, file->mode, file->bytes, file->size);
    return write_wheel(w, to, file->mode);
}

static void deinit(struct wheel *w)
{
    for (size_t i = 0; i < w->n; i++) {
        free(w->members[i].name);
        free(w->members[i].new_name);
        repair_report_deinit(&w->members[i].report);
    }
    free(w->members);
    free(w->sorted);
}

/* Which wheel it is that there is something wrong with. */
static rmcp_status with_path(rmcp_status status, const char *path)
{
    char why[400];
    snprintf(why, sizeof why, "%s", rmcp_last_error());
    if (!strncmp(why, path, strlen(path))) return status;
    return rmcp_fail(status, "%.300s: %s", path, why);
}

bool repair_is_wheel(const char *path)
{
    return ends(path, ".whl");
}

rmcp_status repair_wheel(const char *from, const char *to, const char *scratch,
                         const struct repair_how *how, struct repair_report *report)
{
    struct rmcp_file file;
    struct wheel w = { .how = how, .path = from, .scratch = to ? scratch : NULL };
    rmcp_status status = rmcp_file_map(AT_FDCWD, from, &file);
    if (status) return status;
    status = zip_open(&w.zip, file.bytes, file.size);
    if (!status) status = read_members(&w);
    if (!status) status = find_record(&w);
    for (size_t i = 0; !status && i < w.n; i++)
        status = choose(&w, &w.members[i], &report->n_left_out_files);
    if (!status) {
        repair_pool_expect(how->pool, w.n);
        repair_pool_run(how->pool, w.n, task, &w);
        status = finish(&w, to, &file, report);
    }
    deinit(&w);
    rmcp_file_unmap(&file);
    return status ? with_path(status, from) : RMCP_OK;
}
