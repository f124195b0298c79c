/* guard_record.c: findings of first use on disk: a text that is only appended to, and a lock. */
#include "core/guard_record.h"

#include "base/cache_path.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_PATH = 1024, MOST_LINE = 512, N_WORDS = 6 };
static const int64_t MOST_BYTES = INT64_C(4) << 20; /* of the file, read or written */

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

/* Take a line, without its end; damaged ones and those about others change nothing. */
static void take_line(char *line, const struct rmcp_guard_key *key, struct rmcp_guard_finding *out)
{
    char *words[N_WORDS], *rest = strchr(line, ' '), *end = NULL;
    if (!rest) return;
    *rest++ = '\0';
    const uint64_t checksum = strtoull(line, &end, 16);
    if (strlen(line) != 16 || *end || checksum != rmcp_hash_text(RMCP_HASH_START, rest)) return;
    for (int i = 0; i < N_WORDS; i++) {
        words[i] = rest;
        rest = strchr(rest, ' ');
        if (!rest) return;
        *rest++ = '\0';
    }
    const char *process = words[5], *reason = rest;
    if (!is_about(words[0], key->device) || !is_about(words[1], key->algorithm) ||
        !is_about(words[2], key->type))
        return;
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
        return;
    }
}

static bool own_path(const char *ending, char *path, size_t size)
{
    return rmcp_cache_host_path("first_use", ending, path, size);
}

bool rmcp_guard_record_read(const struct rmcp_guard_key *key, struct rmcp_guard_finding *out)
{
    char path[MOST_PATH], line[MOST_LINE];
    struct stat status;
    *out = (struct rmcp_guard_finding){ .state = RMCP_GUARD_UNTRIED };
    if (!own_path(".2.txt", path, sizeof path)) return false;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return false;
    FILE *file = NULL;
    if (!fstat(descriptor, &status) && S_ISREG(status.st_mode) && status.st_size <= MOST_BYTES)
        file = fdopen(descriptor, "r");
    if (!file) {
        close(descriptor);
        return false;
    }
    while (fgets(line, sizeof line, file)) {
        const size_t length = strcspn(line, "\n");
        const bool whole = line[length] == '\n';
        line[length] = '\0';
        if (whole) take_line(line, key, out);
        /* The rest of a line that was too long. */
        for (int c = 0; !whole && c != '\n' && c != EOF;) c = fgetc(file);
    }
    fclose(file);
    return true;
}

/* ---- writing ---- */

/* A new file is only as safe as its entry in the folder. */
static void sync_folder(const char *path)
{
    char folder[MOST_PATH];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    fsync(descriptor);
    close(descriptor);
}

bool rmcp_guard_record_add(const struct rmcp_guard_key *key, enum rmcp_guard_state state,
                           const char *reason)
{
    char path[MOST_PATH], rest[MOST_LINE - 40], line[MOST_LINE], last = '\n';
    if (!own_path(".2.txt", path, sizeof path) || !rmcp_cache_make_folders(path)) return false;
    snprintf(rest, sizeof rest, "%s %s %s %s %" PRId64 " %ld %.150s", key->device, key->algorithm,
             key->type, state_names[state], (int64_t)time(NULL), (long)getpid(), reason);
    for (char *c = rest; *c; c++)
        if ((unsigned char)*c < 32 || *c == 127) *c = ' ';
    const int length = snprintf(line, sizeof line, "\n%016" PRIx64 " %s\n",
                                rmcp_hash_text(RMCP_HASH_START, rest), rest);
    int file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0600);
    if (file < 0) return false;
    struct stat status;
    bool done = !fstat(file, &status) && S_ISREG(status.st_mode) && status.st_size < MOST_BYTES;
    if (done) {
        /* Begin a new line when a killed process left a torn one. */
        if (status.st_size > 0 && pread(file, &last, 1, status.st_size - 1) != 1) last = '\n';
        const int skip = last == '\n';
        done = write(file, line + skip, (size_t)(length - skip)) == length - skip && !fsync(file);
        if (done && status.st_size == 0) sync_folder(path);
    }
    close(file);
    return done;
}

/* ---- the lock ---- */

static struct flock whole_file(short type)
{
    return (struct flock){ .l_type = type, .l_whence = SEEK_SET };
}

/* Closing any descriptor of the file gives up the lock of the whole process, hence the mutex. */
static pthread_mutex_t lock_mutex = PTHREAD_MUTEX_INITIALIZER;
static bool held;

static int open_lock(void)
{
    char path[MOST_PATH];
    if (!own_path(".lock", path, sizeof path) || !rmcp_cache_make_folders(path)) return -1;
    return open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
}

/* 0 when taken, else the reason. A lock of the process, not of the open file: children that only
 * fork do not have it. */
static int try_lock(int descriptor)
{
    struct flock lock = whole_file(F_WRLCK);
    pthread_mutex_lock(&lock_mutex);
    const int reason = held ? EAGAIN : fcntl(descriptor, F_SETLK, &lock) ? errno : 0;
    if (!reason) held = true;
    pthread_mutex_unlock(&lock_mutex);
    return reason;
}

int rmcp_guard_lock(double seconds)
{
    int descriptor = open_lock();
    if (descriptor < 0) return -1;
    for (double waited = 0;; waited += 0.02) {
        const int reason = try_lock(descriptor);
        if (!reason) return descriptor;
        const bool busy = reason == EACCES || reason == EAGAIN || reason == EINTR;
        if (!busy || waited > seconds) {
            close(descriptor);
            return busy ? -2 : -1;
        }
        nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    }
}

void rmcp_guard_unlock(int descriptor)
{
    if (descriptor < 0) return;
    pthread_mutex_lock(&lock_mutex);
    close(descriptor);
    held = false;
    pthread_mutex_unlock(&lock_mutex);
}

bool rmcp_guard_is_locked(void)
{
    char path[MOST_PATH];
    if (!own_path(".lock", path, sizeof path)) return false;
    pthread_mutex_lock(&lock_mutex);
    bool locked = held;
    int descriptor = locked ? -1 : open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (descriptor >= 0) {
        struct flock lock = whole_file(F_WRLCK);
        locked = !fcntl(descriptor, F_GETLK, &lock) && lock.l_type != F_UNLCK;
        close(descriptor);
    }
    pthread_mutex_unlock(&lock_mutex);
    return locked;
}
