/* record.c: this machine as a tar file that another one can be asked about.
 *
 * What the probes read is noted in a file without a name; then everything is cleaned and written.
 * Host and user names, home folders, serial numbers and addresses are replaced. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "help/doctor/clean.h"
#include "help/doctor/doctor.h"
#include "help/doctor/probe.h"

struct note {
    enum doctor_kind kind;
    char *path, *text;
    size_t size, order;
};

static int compare_notes(const void *left, const void *right)
{
    const struct note *a = left, *b = right;
    int order = strcmp(a->path, b->path);
    if (order) return order;
    if (!a->size != !b->size) return a->size ? -1 : 1; /* contents before mere existence */
    return a->order < b->order ? -1 : a->order > b->order;
}

static void write_notes(struct doctor_tar_writer *writer, struct note *notes, size_t n)
{
    if (n) qsort(notes, n, sizeof *notes, compare_notes);
    for (size_t i = 0; i < n; i++) {
        if (i && !strcmp(notes[i].path, notes[i - 1].path)) continue;
        if (notes[i].kind == DOCTOR_OTHER) continue;
        doctor_tar_put(writer, notes[i].kind, notes[i].path, notes[i].text, notes[i].size);
    }
}

/* The notes of the journal, cleaned. */
static rmcp_status read_notes(const uint8_t *bytes, size_t size,
                              const struct doctor_cleaner *cleaner, struct note **out,
                              size_t *n_out)
{
    size_t n = 0, room = 0;
    struct note *notes = NULL;
    *out = NULL;
    *n_out = 0;
    for (size_t at = 0; size - at >= sizeof(struct doctor_note_header);) {
        struct doctor_note_header head;
        memcpy(&head, bytes + at, sizeof head);
        at += sizeof head;
        if (head.path_size > size - at || head.text_size > size - at - head.path_size) break;
        if (n == room) {
            room = room ? 2 * room : 256;
            struct note *grown = realloc(notes, room * sizeof *grown);
            if (!grown) break;
            notes = grown;
        }
        struct note *note = &notes[n];
        *note = (struct note){ .kind = (enum doctor_kind)head.kind, .order = n };
        char *path = strndup((const char *)bytes + at, head.path_size);
        char *text = strndup((const char *)bytes + at + head.path_size, head.text_size);
        at += head.path_size + head.text_size;
        note->path = path ? doctor_clean_path(cleaner, path) : NULL;
        note->text = text ? doctor_clean_text(cleaner, text) : NULL;
        free(path);
        free(text);
        if (!note->path || !note->text) {
            free(note->path);
            free(note->text);
            continue;
        }
        note->size = strlen(note->text);
        n++;
    }
    *out = notes;
    *n_out = n;
    return RMCP_OK;
}

static rmcp_status write_tar(int journal, const struct doctor_machine *m, int file)
{
    static const char about[] = "rmcp-machine 1\n"
                                "Made by rmcp doctor --record. Text only; look at it before you "
                                "send it: tar tvf, tar xOf.\n";
    struct doctor_tar_writer writer = { file, RMCP_OK };
    struct doctor_cleaner cleaner;
    struct stat size;
    struct note *notes = NULL;
    size_t n = 0;
    if (fstat(journal, &size) || size.st_size > 64 << 20)
        return rmcp_fail(RMCP_E_IO, "cannot read back what was recorded");
    uint8_t *bytes = malloc((size_t)size.st_size + 1);
    if (!bytes) return rmcp_fail_memory("recording", (size_t)size.st_size);
    ssize_t have = pread(journal, bytes, (size_t)size.st_size, 0);
    doctor_cleaner_init(&cleaner, m);
    rmcp_status status = read_notes(bytes, have > 0 ? (size_t)have : 0, &cleaner, &notes, &n);
    doctor_tar_put(&writer, DOCTOR_FILE, "/rmcp/format", about, sizeof about - 1);
    if (!status) write_notes(&writer, notes, n);
    doctor_tar_end(&writer);
    for (size_t i = 0; i < n; i++) {
        free(notes[i].path);
        free(notes[i].text);
    }
    free(notes);
    free(bytes);
    return status ? status : writer.status;
}

rmcp_status doctor_record(const char *root, const char *name, struct doctor_machine **out)
{
    struct doctor_view view;
    *out = NULL;
    int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return rmcp_fail(RMCP_E_ARG, "cannot create %.300s: %s%s", name, strerror(errno),
                         errno == EEXIST ? "; nothing is overwritten" : "");
    FILE *journal = tmpfile();
    rmcp_status status = journal ? doctor_view_open(&view, root)
                                 : rmcp_fail(RMCP_E_IO, "no temporary file: %s", strerror(errno));
    if (!status) {
        view.journal = fileno(journal);
        fcntl(view.journal, F_SETFL, O_APPEND);
        status = doctor_examine(&view, out);
        if (!status) status = write_tar(view.journal, *out, file);
        view.journal = -1;
        doctor_view_close(&view);
    }
    if (journal) fclose(journal);
    if (close(file) && !status)
        status = rmcp_fail(RMCP_E_IO, "cannot write %.300s: %s", name, strerror(errno));
    if (status) unlink(name);
    return status;
}
