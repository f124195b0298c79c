/* journal.c: the journal as an append-only file, read once when it is opened. */
#include "help/owner/journal.h"

#include "base/error.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1024, MOST_BYTES = 16 << 20 };

const char *const journal_words[JOURNAL_N_STATES] = { "", "try", "pass", "FAIL", "skip", "LOST" };

/* One line, in memory. A step's later lines replace its earlier one. */
struct journal_entry {
    struct journal_entry *next;
    enum journal_state state; /* JOURNAL_UNKNOWN: a note */
    char *name, *detail;      /* behind the struct       */
};

struct journal {
    struct rmcp_log_kind kind;
    struct rmcp_log log;
    struct journal_entry *first, **last;
    char path[512];
    rmcp_status status; /* of reading it */
};

static struct journal_entry *find(const struct journal *j, bool is_step, const char *name)
{
    for (struct journal_entry *e = j->first; e; e = e->next)
        if ((e->state != JOURNAL_UNKNOWN) == is_step && !strcmp(e->name, name)) return e;
    return NULL;
}

static rmcp_status remember(struct journal *j, enum journal_state state, const char *name,
                            const char *detail)
{
    size_t name_bytes = strlen(name) + 1, detail_bytes = strlen(detail) + 1;
    struct journal_entry *e = malloc(sizeof *e + name_bytes + detail_bytes);
    if (!e) return rmcp_fail_memory("a line of the journal", sizeof *e + name_bytes + detail_bytes);
    *e = (struct journal_entry){ .state = state, .name = (char *)(e + 1) };
    e->detail = e->name + name_bytes;
    memcpy(e->name, name, name_bytes);
    memcpy(e->detail, detail, detail_bytes);
    for (struct journal_entry **at = &j->first; *at; at = &(*at)->next)
        if (((*at)->state != JOURNAL_UNKNOWN) == (state != JOURNAL_UNKNOWN) &&
            !strcmp((*at)->name, name)) {
            struct journal_entry *old = *at;
            e->next = old->next;
            if (j->last == &old->next) j->last = &e->next;
            *at = e;
            free(old);
            return RMCP_OK;
        }
    *j->last = e;
    j->last = &e->next;
    return RMCP_OK;
}

/* "step pass NAME: detail" or "key: value"; other lines are for people. */
static rmcp_status read_line(struct journal *j, char *line)
{
    char *colon = strstr(line, ": ");
    const char *detail = colon ? colon + 2 : "";
    size_t length = strlen(line);
    if (colon)
        *colon = '\0';
    else if (length && line[length - 1] == ':')
        line[length - 1] = '\0';
    if (strncmp(line, "step ", 5))
        return colon ? remember(j, JOURNAL_UNKNOWN, line, detail) : RMCP_OK;
    for (int state = JOURNAL_TRYING; state < JOURNAL_N_STATES; state++) {
        size_t word = strlen(journal_words[state]);
        if (!strncmp(line + 5, journal_words[state], word) && line[5 + word] == ' ')
            return remember(j, (enum journal_state)state, line + 6 + word, detail);
    }
    return RMCP_OK;
}

static bool take_line(void *context, char *line)
{
    struct journal *j = context;
    if (!j->status) j->status = read_line(j, line);
    return !j->status;
}

static rmcp_status append(struct journal *j, const char *text)
{
    const int failed = rmcp_log_append(&j->log, text);
    if (!failed) return RMCP_OK;
    return rmcp_fail(RMCP_E_IO, "cannot write '%.200s': %s", j->path, strerror(failed));
}

static rmcp_status open_file(struct journal *j)
{
    const int failed = rmcp_log_open(&j->log, &j->kind, j->path, true);
    switch (failed) {
    case 0: return RMCP_OK;
    case EWOULDBLOCK: return rmcp_fail(RMCP_E_IO, "'%.200s' is in use by another process", j->path);
    case EINVAL:
    case EFBIG:
        return rmcp_fail(RMCP_E_ARG, "'%.200s' is no file of at most %d MB", j->path,
                         MOST_BYTES >> 20);
    case EBADMSG:
        return rmcp_fail(RMCP_E_ARG, "'%.200s' is another kind of file: its first line is not '%s'",
                         j->path, j->kind.title);
    default: return rmcp_fail(RMCP_E_IO, "cannot open '%.200s': %s", j->path, strerror(failed));
    }
}

rmcp_status journal_open(const char *path, const char *title, bool *resumed, struct journal **out)
{
    *out = NULL;
    *resumed = false;
    struct journal *j = calloc(1, sizeof *j);
    if (!j) return rmcp_fail_memory("the journal", sizeof *j);
    j->kind = (struct rmcp_log_kind){
        .title = title, .synced = true, .owned = true, .mode = 0644, .most_bytes = MOST_BYTES
    };
    j->log.file = -1;
    j->last = &j->first;
    rmcp_status status = RMCP_OK;
    if (snprintf(j->path, sizeof j->path, "%s", path) >= (int)sizeof j->path)
        status = rmcp_fail(RMCP_E_ARG, "the journal's path is longer than %zu bytes",
                           sizeof j->path - 1);
    if (!status) status = open_file(j);
    if (!status) {
        *resumed = j->log.bytes > 0;
        rmcp_log_read(&j->log, take_line, j);
        status = j->status;
    }
    if (status) {
        journal_close(j);
        return status;
    }
    *out = j;
    return RMCP_OK;
}

void journal_close(struct journal *j)
{
    if (!j) return;
    for (struct journal_entry *e = j->first, *next; e; e = next) {
        next = e->next;
        free(e);
    }
    rmcp_log_close(&j->log);
    free(j);
}

enum journal_state journal_state(const struct journal *j, const char *step)
{
    const struct journal_entry *e = find(j, true, step);
    return e ? e->state : JOURNAL_UNKNOWN;
}

const char *journal_detail(const struct journal *j, const char *step)
{
    const struct journal_entry *e = find(j, true, step);
    return e ? e->detail : "";
}

const char *journal_value(const struct journal *j, const char *key)
{
    const struct journal_entry *e = find(j, false, key);
    return e ? e->detail : NULL;
}

rmcp_status journal_step(struct journal *j, enum journal_state state, const char *step,
                         const char *detail)
{
    char line[LINE];
    snprintf(line, sizeof line, "step %s %s%s%s", journal_words[state], step, *detail ? ": " : "",
             detail);
    rmcp_status status = append(j, line);
    return status ? status : remember(j, state, step, detail);
}

rmcp_status journal_note(struct journal *j, const char *key, const char *value)
{
    char line[LINE];
    snprintf(line, sizeof line, "%s: %s", key, value);
    rmcp_status status = append(j, line);
    return status ? status : remember(j, JOURNAL_UNKNOWN, key, value);
}
