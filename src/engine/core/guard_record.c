/* guard_record.c: findings of first use on disk. */
#include "engine/core/guard_record.h"

#include "base/cache_path.h"
#include "base/lock.h"
#include "base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_PATH = 1024, MOST_LINE = 480, N_WORDS = 6 };

static const struct rmcp_log_kind kind = {
    .checked = true, .synced = true, .mode = 0600, .most_bytes = INT64_C(4) << 20
};
static struct rmcp_lock lock = RMCP_LOCK_START;

static const char *const state_names[] = {
    [RMCP_GUARD_UNTRIED] = "forget",
    [RMCP_GUARD_TRYING] = "trying",
    [RMCP_GUARD_GOOD] = "good",
    [RMCP_GUARD_BAD] = "bad",
};
enum { N_STATES = sizeof state_names / sizeof *state_names };

/* ---- reading ---- */

static bool is_about(const char *word, const char *wanted)
{
    return !strcmp(word, "*") || !strcmp(word, wanted);
}

/* "2026-11-15 05:20 UTC"; "" when the number makes no sense. */
static void write_time(const char *seconds, char *text, size_t size)
{
    time_t t = (time_t)strtoll(seconds, NULL, 10);
    struct tm parts;
    if (t <= 0 || !gmtime_r(&t, &parts) || !strftime(text, size, "%Y-%m-%d %H:%M UTC", &parts))
        snprintf(text, size, "%s", "");
}

/* What is asked for, and the answer so far. */
struct question {
    const struct rmcp_guard_key *key;
    struct rmcp_guard_finding *out;
};

/* Take a line; those about others change nothing. */
static bool take_line(void *context, char *line)
{
    const struct question *q = context;
    const struct rmcp_guard_key *key = q->key;
    struct rmcp_guard_finding *out = q->out;
    char *words[N_WORDS], *rest = line;
    for (int i = 0; i < N_WORDS; i++) {
        words[i] = rest;
        rest = strchr(rest, ' ');
        if (!rest) return false;
        *rest++ = '\0';
    }
    const char *process = words[5], *reason = rest;
    if (!is_about(words[0], key->device) || !is_about(words[1], key->algorithm) ||
        !is_about(words[2], key->type))
        return true;
    for (int state = 0; state < N_STATES; state++) {
        if (strcmp(words[3], state_names[state])) continue;
        *out = (struct rmcp_guard_finding){ .state = (enum rmcp_guard_state)state };
        char when[40];
        write_time(words[4], when, sizeof when);
        if (state == RMCP_GUARD_TRYING)
            snprintf(out->reason, sizeof out->reason,
                     "process %.20s ended or the machine stopped while "
                     "it was tried for the first time, %s",
                     process, when);
        else if (state == RMCP_GUARD_BAD)
            snprintf(out->reason, sizeof out->reason, "%.150s (%s)", reason, when);
        return true;
    }
    return false;
}

static bool own_path(const char *ending, char *path, size_t size)
{
    return rmcp_cache_host_path("first_use", ending, path, size);
}

bool rmcp_guard_record_read(const struct rmcp_guard_key *key, struct rmcp_guard_finding *out)
{
    char path[MOST_PATH];
    struct rmcp_log log;
    struct question question = { key, out };
    *out = (struct rmcp_guard_finding){ .state = RMCP_GUARD_UNTRIED };
    if (!own_path(".2.txt", path, sizeof path) || rmcp_log_open(&log, &kind, path, false))
        return false;
    rmcp_log_read(&log, take_line, &question);
    rmcp_log_close(&log);
    return true;
}

/* ---- writing ---- */

bool rmcp_guard_record_add(const struct rmcp_guard_key *key, enum rmcp_guard_state state,
                           const char *reason)
{
    char path[MOST_PATH], line[MOST_LINE];
    if (!own_path(".2.txt", path, sizeof path) || !rmcp_cache_make_folders(path)) return false;
    snprintf(line, sizeof line, "%s %s %s %s %" PRId64 " %ld %.150s", key->device, key->algorithm,
             key->type, state_names[state], (int64_t)time(NULL), (long)getpid(), reason);
    return !rmcp_log_append_to(&kind, path, line);
}

/* ---- the lock ---- */

int rmcp_guard_lock(double seconds)
{
    char path[MOST_PATH];
    if (!own_path(".lock", path, sizeof path) || !rmcp_cache_make_folders(path)) return ENOENT;
    return rmcp_lock_take(&lock, path, seconds);
}

void rmcp_guard_unlock(void)
{
    rmcp_lock_give(&lock);
}

bool rmcp_guard_is_locked(void)
{
    char path[MOST_PATH];
    return own_path(".lock", path, sizeof path) && rmcp_lock_is_taken(&lock, path);
}
