/* lock.h: a file that one process at a time holds.
 *
 * The lock belongs to the process, not to the open file: children that only fork do not have it,
 * and it goes when the process does, however it ends. */
#ifndef RMCP_BASE_LOCK_H
#define RMCP_BASE_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

/* One for each file, static: closing any descriptor of the file would give up the lock of the whole
 * process, hence the mutex. */
struct rmcp_lock {
    pthread_mutex_t mutex;
    pid_t holder; /* this process, or one that it was forked from; 0: nobody */
    int file;
};
#define RMCP_LOCK_START                                                                            \
    {                                                                                              \
        .mutex = PTHREAD_MUTEX_INITIALIZER, .file = -1                                             \
    }

/* Take it, waiting at most so long; the file is made where it is not. Returns 0, EWOULDBLOCK when
 * others, or other threads, hold it all the time, or the errno of what makes it impossible. */
int rmcp_lock_take(struct rmcp_lock *lock, const char *path, double seconds);
/* Give it back: after rmcp_lock_take has returned 0, by whoever called it. */
void rmcp_lock_give(struct rmcp_lock *lock);

/* Whether anybody holds it. */
bool rmcp_lock_is_taken(struct rmcp_lock *lock, const char *path);

#endif
