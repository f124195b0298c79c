/* notice.c: who wants to know what takes long, and telling it. */
#include "engine/core/notice.h"

#include "base/clock.h"

#include <pthread.h>

static struct {
    pthread_mutex_t lock; /* held during a call, so that one who leaves is not called any more */
    rmcp_notice *say;
    void *context;
} listener = { .lock = PTHREAD_MUTEX_INITIALIZER };

void rmcp_on_notice(rmcp_notice *say, void *context)
{
    pthread_mutex_lock(&listener.lock);
    listener.say = say;
    listener.context = context;
    pthread_mutex_unlock(&listener.lock);
}

void rmcp_wait_tell(void *wait)
{
    struct rmcp_wait *w = wait;
    if (w->told) return;
    w->told = true;
    pthread_mutex_lock(&listener.lock);
    if (listener.say) listener.say(w->line, listener.context);
    pthread_mutex_unlock(&listener.lock);
}

void rmcp_wait_look(struct rmcp_wait *wait)
{
    if (rmcp_clock() - wait->start > RMCP_LONG_WAIT) rmcp_wait_tell(wait);
}
