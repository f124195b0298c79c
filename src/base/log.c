/* log.c: text files that are only appended to. */
#include "base/log.h"

#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIGITS = 16 };

/* ---- opening ---- */

/* A new file is only as safe as its entry in the folder. */
static void sync_folder(const char *path)
{
    char folder[1024];
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) : 0;
    if (length >= sizeof folder) return;
    memcpy(folder, path, length);
    folder[length] = '\0';
    int file = open(length ? folder : slash ? "/" : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return;
    fsync(file);
    close(file);
}

/* The first line of an empty file is written, that of another one compared. */
static int settle_title(const struct rmcp_log *log, bool to_write)
{
    char line[RMCP_LOG_LINE_MAX], found[RMCP_LOG_LINE_MAX];
    const int length = snprintf(line, sizeof line, "%s\n", log->kind->title);
    if (length < 0 || (size_t)length >= sizeof line) return EMSGSIZE;
    if (log->bytes)
        return pread(log->file, found, (size_t)length, 0) == length &&
                       !memcmp(line, found, (size_t)length)
                   ? 0
                   : EBADMSG;
    if (!to_write) return 0;
    const ssize_t written = write(log->file, line, (size_t)length);
    if (written != length) return written < 0 ? errno : ENOSPC;
    return log->kind->synced && fsync(log->file) ? errno : 0;
}

int rmcp_log_open(struct rmcp_log *log, const struct rmcp_log_kind *kind, const char *path,
                  bool to_write)
{
    /* Nothing that stands there in place of a file may make us wait. */
    const int flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    struct stat about;
    *log = (struct rmcp_log){ .kind = kind };
    log->file = to_write ? open(path, O_RDWR | O_CREAT | O_APPEND | flags, (mode_t)kind->mode)
                         : open(path, O_RDONLY | flags);
    if (log->file < 0) return errno;
    int failed = 0;
    if (kind->owned && flock(log->file, LOCK_EX | LOCK_NB))
        failed = errno;
    else if (fstat(log->file, &about))
        failed = errno;
    else if (!S_ISREG(about.st_mode))
        failed = EINVAL;
    else if (about.st_size > kind->most_bytes)
        failed = EFBIG;
    else
        log->bytes = about.st_size;
    if (!failed && kind->title) failed = settle_title(log, to_write);
    if (failed) {
        rmcp_log_close(log);
        return failed;
    }
    if (to_write && kind->synced && !log->bytes) sync_folder(path);
    return 0;
}

void rmcp_log_close(struct rmcp_log *log)
{
    if (log->file >= 0) close(log->file);
    log->file = -1;
}

/* What stands before a text: its digest and a blank. */
static void write_digest(const char *text, char to[static DIGITS + 1])
{
    char digits[DIGITS + 1];
    snprintf(digits, sizeof digits, "%016" PRIx64, rmcp_hash_text(RMCP_HASH_START, text));
    memcpy(to, digits, DIGITS);
    to[DIGITS] = ' ';
}

/* ---- reading ---- */

/* The text of a line behind its digest; NULL when that is wrong. */
static char *behind_digest(char *line, size_t length)
{
    char expected[DIGITS + 1];
    if (length <= DIGITS) return NULL;
    write_digest(line + DIGITS + 1, expected);
    return memcmp(line, expected, sizeof expected) ? NULL : line + DIGITS + 1;
}

/* Whether a line of that length has been taken, or means nothing. */
static bool take_line(const struct rmcp_log *log, char *line, size_t length,
                      bool (*take)(void *context, char *line), void *context)
{
    if (log->kind->checked && !length) return true;
    if (strlen(line) != length) return false;
    char *text = log->kind->checked ? behind_digest(line, length) : line;
    return text && take(context, text);
}

size_t rmcp_log_read(const struct rmcp_log *log, bool (*take)(void *context, char *line),
                     void *context)
{
    char buffer[2 * RMCP_LOG_LINE_MAX];
    size_t used = 0, n_passed_over = 0;
    bool too_long = false; /* of the line that the buffer begins with */
    off_t at = log->kind->title ? (off_t)strlen(log->kind->title) + 1 : 0;
    while (at < log->kind->most_bytes) {
        const ssize_t n = pread(log->file, buffer + used, sizeof buffer - used, at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        at += n;
        used += (size_t)n;
        size_t begin = 0;
        for (char *end; (end = memchr(buffer + begin, '\n', used - begin));) {
            *end = '\0';
            char *line = buffer + begin;
            const size_t length = (size_t)(end - line);
            if (too_long || length >= RMCP_LOG_LINE_MAX ||
                !take_line(log, line, length, take, context))
                n_passed_over++;
            too_long = false;
            begin += length + 1;
        }
        used -= begin;
        memmove(buffer, buffer + begin, used);
        if (used >= RMCP_LOG_LINE_MAX) {
            too_long = true;
            used = 0;
        }
    }
    return n_passed_over + (used || too_long); /* the torn one at the end */
}

/* ---- writing ---- */

static bool ends_in_the_middle(int file, off_t bytes)
{
    char last = '\n';
    return bytes > 0 && pread(file, &last, 1, bytes - 1) == 1 && last != '\n';
}

int rmcp_log_append(struct rmcp_log *log, const char *text)
{
    char line[RMCP_LOG_LINE_MAX + 2] = "\n"; /* one to begin anew with */
    const size_t before = log->kind->checked ? DIGITS + 1 : 0, length = strlen(text);
    char *start = line + 1, *rest = start + before;
    if (before + length + 1 > RMCP_LOG_LINE_MAX) return EMSGSIZE;
    memcpy(rest, text, length + 1);
    for (char *c = rest; *c; c++)
        if ((unsigned char)*c < 32 || *c == 127) *c = ' ';
    if (log->kind->checked) write_digest(rest, start);
    rest[length] = '\n';

    struct stat about;
    if (fstat(log->file, &about)) return errno;
    if (about.st_size >= log->kind->most_bytes) return EFBIG;
    if (ends_in_the_middle(log->file, about.st_size)) start = line;
    const size_t bytes = (size_t)(rest + length + 1 - start);
    const ssize_t written = write(log->file, start, bytes);
    if (written != (ssize_t)bytes) return written < 0 ? errno : ENOSPC;
    return log->kind->synced && fsync(log->file) ? errno : 0;
}

int rmcp_log_append_to(const struct rmcp_log_kind *kind, const char *path, const char *text)
{
    struct rmcp_log log;
    int failed = rmcp_log_open(&log, kind, path, true);
    if (failed) return failed;
    failed = rmcp_log_append(&log, text);
    rmcp_log_close(&log);
    return failed;
}
