/* log.h: a text file that is only appended to, a line at a time, by one process or by many at once.
 *
 * A line is one write, so those of several processes do not mix and a process that is killed leaves
 * at most one torn line. The next line begins anew behind it; readers pass over what is torn,
 * damaged or longer than any line of ours. */
#ifndef RMCP_BASE_LOG_H
#define RMCP_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RMCP_LOG_LINE_MAX = 2048 }; /* bytes of a line with its end */

/* What all logs of a kind have in common. */
struct rmcp_log_kind {
    const char *title; /* first line of each file, short; NULL: none                              */
    bool checked;      /* each line begins with the digest of the rest, in 16 digits; blank ones  */
                       /* mean nothing                                                            */
    bool synced;       /* a line is on the disk before rmcp_log_append returns                    */
    bool owned;        /* one process at a time has it open                                       */
    unsigned mode;     /* of a new file, as in chmod                                              */
    int64_t most_bytes; /* a longer file is not read, and not made longer */
};

struct rmcp_log {
    const struct rmcp_log_kind *kind;
    int file;
    int64_t bytes; /* its length when it was opened */
};

/* Open a file; `to_write` makes it where it is not. Returns 0, to be closed, or an errno: EINVAL
 * when it is no regular file, EFBIG when it is too long, EWOULDBLOCK when another one owns it,
 * EBADMSG when its first line is not the title: then it is somebody else's, and stays as it is. */
int rmcp_log_open(struct rmcp_log *log, const struct rmcp_log_kind *kind, const char *path,
                  bool to_write);
void rmcp_log_close(struct rmcp_log *log);

/* Call `take` with each line behind the title in turn, without digest and end; it may write to the
 * text, and returns false when the line makes no sense to it. Returns how many lines were passed
 * over. */
size_t rmcp_log_read(const struct rmcp_log *log, bool (*take)(void *context, char *line),
                     void *context);

/* Append a line; control characters become blanks. Returns 0 or an errno. */
int rmcp_log_append(struct rmcp_log *log, const char *text);

/* The same in one go. */
int rmcp_log_append_to(const struct rmcp_log_kind *kind, const char *path, const char *text);

#endif
