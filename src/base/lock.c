/* lock.c: files that one process at a time holds. */
#include "base/lock.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static const double nap = 0.02; /* seconds between two looks */

static struct flock whole_file(void)
{
    return (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET };
}

static bool is_ours(const struct rmcp_lock *lock)
{
    return lock->holder == getpid();
}

/* Once, by one thread at a time. */
static int take_now(struct rmcp_lock *lock, const char *path)
{
    struct flock whole = whole_file();
    if (is_ours(lock)) return EWOULDBLOCK;
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
    if (file < 0) return errno;
    if (!fcntl(file, F_SETLK, &whole)) {
        lock->holder = getpid();
        lock->file = file;
        return 0;
    }
    const int reason = errno;
    close(file);
    return reason == EACCES || reason == EAGAIN || reason == EINTR ? EWOULDBLOCK : reason;
}

int rmcp_lock_take(struct rmcp_lock *lock, const char *path, double seconds)
{
    for (const double end = rmcp_clock() + seconds;;) {
        pthread_mutex_lock(&lock->mutex);
        const int reason = take_now(lock, path);
        pthread_mutex_unlock(&lock->mutex);
        if (reason != EWOULDBLOCK || rmcp_clock() >= end) return reason;
        rmcp_clock_nap(nap);
    }
}

void rmcp_lock_give(struct rmcp_lock *lock)
{
    pthread_mutex_lock(&lock->mutex);
    if (is_ours(lock)) {
        close(lock->file);
        lock->holder = 0;
        lock->file = -1;
    }
    pthread_mutex_unlock(&lock->mutex);
}

bool rmcp_lock_is_taken(struct rmcp_lock *lock, const char *path)
{
    pthread_mutex_lock(&lock->mutex);
    bool taken = is_ours(lock);
    const int file = taken ? -1 : open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (file >= 0) {
        struct flock whole = whole_file();
        taken = !fcntl(file, F_GETLK, &whole) && whole.l_type != F_UNLCK;
        close(file);
    }
    pthread_mutex_unlock(&lock->mutex);
    return taken;
}
