/* host_wait.c: programs that would spin until the card is done sleep instead.
 *
 * HIP waits for a stream by reading a signal over and over. On a machine with a card that costs one
 * idle core; here the cores are the card. The call is AMD's own, only the hint of how to wait is
 * changed: the runtime then sleeps on an event of the driver. Signals without an event it reads for
 * as long as it takes, whatever the hint: those are waited for here, and the runtime is called when
 * there is nothing left to wait for. */
#define _GNU_SOURCE
#include "sim/driver/driver.h"

#include <dlfcn.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

/* As in hsa.h: a signal is a structure of one 64-bit handle. */
typedef int64_t wait_fn(uint64_t signal, int condition, int64_t value, uint64_t timeout, int hint);
enum { HINT_BLOCKED = 0 };
enum { SIGNAL_OF_USER = 1 }; /* amd_signal.kind: its value is in it */

/* The card is not all that changes signals: other threads and processes do. */
enum { LOOK_AGAIN_NS = 200000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t completed;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_uint n_waiting;

static void make_condition(void)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&completed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void host_wait_completed(void)
{
    if (!atomic_load(&n_waiting)) return;
    pthread_mutex_lock(&lock);
    pthread_cond_broadcast(&completed);
    pthread_mutex_unlock(&lock);
}

void host_wait_forget(void)
{
    pthread_mutex_init(&lock, NULL);
    make_condition();
    atomic_store(&n_waiting, 0);
}

/* Conditions as in hsa.h: equal, not equal, less, greater or equal. A signal that is gone is not
 * waited for. */
static bool is_met(const struct amd_signal *signal, int condition, int64_t value)
{
    if (__atomic_load_n(&signal->kind, __ATOMIC_SEQ_CST) != SIGNAL_OF_USER) return true;
    const int64_t now = __atomic_load_n(&signal->value, __ATOMIC_SEQ_CST);
    switch (condition) {
    case 0: return now == value;
    case 1: return now != value;
    case 2: return now < value;
    case 3: return now >= value;
    default: return true; /* for the runtime to judge */
    }
}

static void sleep_until_met(const struct amd_signal *signal, int condition, int64_t value)
{
    if (!signal || signal->mailbox || is_met(signal, condition, value)) return;
    pthread_once(&once, make_condition);
    pthread_mutex_lock(&lock);
    atomic_fetch_add(&n_waiting, 1);
    while (!is_met(signal, condition, value)) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += (until.tv_nsec + LOOK_AGAIN_NS) / 1000000000;
        until.tv_nsec = (until.tv_nsec + LOOK_AGAIN_NS) % 1000000000;
        (void)pthread_cond_timedwait(&completed, &lock, &until);
    }
    atomic_fetch_sub(&n_waiting, 1);
    pthread_mutex_unlock(&lock);
}

/* The runtime may be loaded for one library only, so it is asked by its name. */
static wait_fn *runtime_function(const char *name)
{
    void *library = dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD);
    wait_fn *found = NULL;
    if (library) *(void **)&found = dlsym(library, name);
    if (!found) *(void **)&found = dlsym(RTLD_NEXT, name);
    return found;
}

#define WAIT(name)                                                                                 \
    EXPORT wait_fn name;                                                                           \
    int64_t name(uint64_t signal, int condition, int64_t value, uint64_t timeout, int hint)        \
    {                                                                                              \
        static _Atomic(wait_fn *) known;                                                           \
        wait_fn *real = known;                                                                     \
        (void)hint;                                                                                \
        if (!real) known = real = runtime_function(#name);                                         \
        if (timeout == UINT64_MAX)                                                                 \
            sleep_until_met((const struct amd_signal *)(uintptr_t)signal, condition, value);       \
        return real ? real(signal, condition, value, timeout, HINT_BLOCKED) : value;               \
    }
WAIT(hsa_signal_wait_scacquire)
WAIT(hsa_signal_wait_acquire)
WAIT(hsa_signal_wait_relaxed)
