/* clock.c: the card's clock. Without a model it is the host's; with one it stands still while a
 * kernel is executed here, and goes on by the time that the kernel takes on the modelled card. */
#include "sim/driver/driver.h"

static struct {
    pthread_mutex_t lock;
    unsigned running; /* kernels */
    uint64_t behind;  /* nanoseconds that the card's clock is behind the host's */
    uint64_t stopped; /* the card's time, while kernels run */
} clock_state = { .lock = PTHREAD_MUTEX_INITIALIZER };

uint64_t driver_card_ns(void)
{
    if (!driver.options.timing) return driver_now_ns();
    pthread_mutex_lock(&clock_state.lock);
    const uint64_t now =
        clock_state.running ? clock_state.stopped : driver_now_ns() - clock_state.behind;
    pthread_mutex_unlock(&clock_state.lock);
    return now;
}

uint64_t driver_gpu_clock(void)
{
    return driver_card_ns() / 10;
}

/* Kernels of several queues that run at the same time take their times one after the other. */
uint64_t clock_stop(void)
{
    pthread_mutex_lock(&clock_state.lock);
    if (!clock_state.running++) clock_state.stopped = driver_now_ns() - clock_state.behind;
    const uint64_t now = clock_state.stopped;
    pthread_mutex_unlock(&clock_state.lock);
    return now;
}

uint64_t clock_go_on(uint64_t ns)
{
    pthread_mutex_lock(&clock_state.lock);
    clock_state.stopped += ns;
    const uint64_t now = clock_state.stopped, host = driver_now_ns();
    if (!--clock_state.running) clock_state.behind = host > now ? host - now : 0;
    pthread_mutex_unlock(&clock_state.lock);
    return now;
}

void clock_forget(void)
{
    pthread_mutex_init(&clock_state.lock, NULL);
    clock_state.running = 0;
}
