/* journal.c: the journal as an append-only file, read once when it is opened. */
#include "owner/journal.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 16 << 20, LINE = 1024 };

const char *const journal_words[JOURNAL_N_STATES] = { "", "try", "pass", "FAIL", "skip", "LOST" };

/* One line, in memory. A step's later lines replace its earlier one. */
struct entry {
    struct entry *next;
    enum journal_state state; /* JOURNAL_UNKNOWN: a note */
    char *name, *detail;      /* behind the struct       */
};

struct journal {
    int fd;
    struct entry *first, **last;
    char path[512];
};

static struct entry *find(const struct journal *j, bool is_step, const char *name)
{
    for (struct entry *e = j->first; e; e = e->next)
        if ((e->state != JOURNAL_UNKNOWN) == is_step && !strcmp(e->name, name)) return e;
    return NULL;
}

static rmcp_status remember(struct journal *j, enum journal_state state, const char *name,
                            const char *detail)
{
    size_t name_bytes = strlen(name) + 1, detail_bytes = strlen(detail) + 1;
    struct entry *e = malloc(sizeof *e + name_bytes + detail_bytes);
    if (!e) return rmcp_fail_memory("a line of the journal", sizeof *e + name_bytes + detail_bytes);
    *e = (struct entry){ .state = state, .name = (char *)(e + 1) };
    e->detail = e->name + name_bytes;
    memcpy(e->name, name, name_bytes);
    memcpy(e->detail, detail, detail_bytes);
    for (struct entry **at = &j->first; *at; at = &(*at)->next)
        if (((*at)->state != JOURNAL_UNKNOWN) == (state != JOURNAL_UNKNOWN) &&
            !strcmp((*at)->name, name)) {
            struct entry *old = *at;
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

static rmcp_status read_all(struct journal *j, const char *title, bool *resumed)
{
    struct stat about;
    if (fstat(j->fd, &about)) return rmcp_fail(RMCP_E_IO, "'%.200s': %s", j->path, strerror(errno));
    if (!S_ISREG(about.st_mode) || about.st_size > MOST_BYTES)
        return rmcp_fail(RMCP_E_ARG, "'%.200s' is no file of at most %d MB", j->path,
                         MOST_BYTES >> 20);
    *resumed = about.st_size > 0;
    char *text = malloc((size_t)about.st_size + 1);
    if (!text) return rmcp_fail_memory("the journal", (size_t)about.st_size + 1);
    size_t n = 0;
    for (ssize_t got; n < (size_t)about.st_size; n += (size_t)got)
        if ((got = read(j->fd, text + n, (size_t)about.st_size - n)) <= 0) break;
    text[n] = '\0';
    rmcp_status status = RMCP_OK;
    /* A line that a crash cut off is no line; a new one must not be joined to it. */
    bool torn = n && text[n - 1] != '\n';
    bool first = true;
    for (char *line = text; *line && !status;) {
        char *end = strchr(line, '\n');
        if (!end) break;
        *end = '\0';
        if (first && strcmp(line, title))
            status = rmcp_fail(RMCP_E_ARG,
                               "'%.200s' is another kind of file: its first line is not '%s'",
                               j->path, title);
        else if (!first)
            status = read_line(j, line);
        first = false;
        line = end + 1;
    }
    if (!status && first && n)
        status = rmcp_fail(RMCP_E_ARG, "'%.200s' is another kind of file", j->path);
    free(text);
    if (!status && torn && write(j->fd, "\n", 1) != 1)
        status = rmcp_fail(RMCP_E_IO, "cannot write '%.200s': %s", j->path, strerror(errno));
    return status;
}

static rmcp_status append(struct journal *j, const char *text)
{
    size_t n = strlen(text);
    ssize_t written = write(j->fd, text, n);
    if (written != (ssize_t)n || fsync(j->fd))
        return rmcp_fail(RMCP_E_IO, "cannot write '%.200s': %s", j->path, strerror(errno));
    return RMCP_OK;
}

rmcp_status journal_open(const char *path, const char *title, bool *resumed, struct journal **out)
{
    *out = NULL;
    *resumed = false;
    struct journal *j = calloc(1, sizeof *j);
    if (!j) return rmcp_fail_memory("the journal", sizeof *j);
    j->last = &j->first;
    rmcp_status status = RMCP_OK;
    if (snprintf(j->path, sizeof j->path, "%s", path) >= (int)sizeof j->path)
        status = rmcp_fail(RMCP_E_ARG, "the journal's path is longer than %zu bytes",
                           sizeof j->path - 1);
    j->fd = status
                ? -1
                : open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644);
    if (!status && j->fd < 0)
        status = rmcp_fail(RMCP_E_IO, "cannot open '%.200s': %s", path, strerror(errno));
    if (!status && flock(j->fd, LOCK_EX | LOCK_NB))
        status = rmcp_fail(RMCP_E_IO, "'%.200s' is in use by another process", path);
    if (!status) status = read_all(j, title, resumed);
    if (!status && !*resumed) {
        char line[LINE];
        snprintf(line, sizeof line, "%s\n", title);
        status = append(j, line);
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
    for (struct entry *e = j->first, *next; e; e = next) {
        next = e->next;
        free(e);
    }
    if (j->fd >= 0) close(j->fd);
    free(j);
}

enum journal_state journal_state(const struct journal *j, const char *step)
{
    const struct entry *e = find(j, true, step);
    return e ? e->state : JOURNAL_UNKNOWN;
}

const char *journal_detail(const struct journal *j, const char *step)
{
    const struct entry *e = find(j, true, step);
    return e ? e->detail : "";
}

const char *journal_value(const struct journal *j, const char *key)
{
    const struct entry *e = find(j, false, key);
    return e ? e->detail : NULL;
}

static void make_plain(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 32 || *text == 127) *text = ' ';
}

rmcp_status journal_step(struct journal *j, enum journal_state state, const char *step,
                         const char *detail)
{
    char line[LINE];
    snprintf(line, sizeof line - 1, "step %s %s%s%s", journal_words[state], step,
             *detail ? ": " : "", detail);
    make_plain(line);
    strcat(line, "\n");
    rmcp_status status = append(j, line);
    return status ? status : remember(j, state, step, detail);
}

rmcp_status journal_note(struct journal *j, const char *key, const char *value)
{
    char line[LINE];
    snprintf(line, sizeof line - 1, "%s: %s", key, value);
    make_plain(line);
    strcat(line, "\n");
    rmcp_status status = append(j, line);
    return status ? status : remember(j, JOURNAL_UNKNOWN, key, value);
}
