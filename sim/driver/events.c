/* events.c: events of the simulated kernel driver: signals by slot, memory faults, hangs. */
#define _GNU_SOURCE
#include "sim/driver/driver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Signal events have a slot of 8 bytes in a page of the program, where the card writes; others are
 * numbered from FIRST_OTHER. */
enum { N_SIGNALS = 4096, N_OTHERS = 256, STALE_NS = 1000000 };
#define FIRST_OTHER 0x80000000u
#define SLOT_EMPTY UINT64_MAX

struct event {
    bool used, auto_reset, set;
    uint32_t type;
    uint32_t n_waiting; /* threads in events_wait                       */
    uint64_t age;       /* how often it was set, from 1                    */
    uint64_t told_age;  /* of which somebody who named an older one was told */
    uint64_t serial;    /* no two events have the same, those that are gone included */
    union {
        struct kfd_memory_exception memory;
        struct kfd_hw_exception hardware;
    } data;
};

static struct event signals[N_SIGNALS], others[N_OTHERS];
static uint32_t top;    /* above the highest signal in use */
static uint64_t serial; /* of the newest event             */
static _Atomic uint64_t page_handle;
static _Atomic uint64_t *slots;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;

/* Waits have no use for the time of day, which may jump. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void make_condition(void)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static struct event *find(uint32_t id)
{
    struct event *e = id < N_SIGNALS                                     ? &signals[id]
                      : id >= FIRST_OTHER && id - FIRST_OTHER < N_OTHERS ? &others[id - FIRST_OTHER]
                                                                         : NULL;
    return e && e->used ? e : NULL;
}

/* As the kernel has it: all who wait now are woken, by the age that they know; an event that resets
 * itself stays set only when there are none. Else one of them could take it from the others, or a
 * thread that comes later from those that have not run yet. */
static void set(struct event *e)
{
    e->set = !e->auto_reset || !e->n_waiting;
    e->age++;
    pthread_cond_broadcast(&changed);
}

int events_create(struct kfd_create_event *a)
{
    void *page = a->page_offset ? vm_of_handle(a->page_offset, N_SIGNALS * 8) : NULL;
    const bool signal = a->type == KFD_EVENT_SIGNAL || a->type == KFD_EVENT_DEBUG;
    pthread_once(&once, make_condition);
    pthread_mutex_lock(&lock);
    if (page && !slots) {
        memset(page, 0xff, N_SIGNALS * 8);
        slots = page;
        atomic_store(&page_handle, a->page_offset);
    }
    struct event *list = signal ? signals : others;
    uint32_t i = signal, n = signal ? N_SIGNALS : N_OTHERS; /* signal 0 stays unused */
    while (i < n && list[i].used) i++;
    const int error = i == n ? ENOSPC : signal && !slots ? EINVAL : 0;
    if (!error) {
        list[i] = (struct event){
            .used = true,
            .auto_reset = a->auto_reset != 0,
            .type = a->type,
            .age = 1,
            .serial = ++serial,
        };
        a->event_id = signal ? i : FIRST_OTHER + i;
        if (signal) {
            if (i >= top) top = i + 1;
            atomic_store(&slots[i], SLOT_EMPTY);
            a->trigger_data = i;
            a->page_offset = UINT64_C(1) << 62; /* not 0: there is a page with slots */
            a->slot = i;
        }
    }
    pthread_mutex_unlock(&lock);
    return error;
}

uint64_t events_page(void)
{
    return atomic_load(&page_handle);
}

/* Those who wait for it find that it is gone. */
int events_destroy(uint32_t id)
{
    pthread_mutex_lock(&lock);
    struct event *e = find(id);
    if (e) e->used = false;
    while (top && !signals[top - 1].used) top--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return e ? 0 : EINVAL;
}

int events_set(uint32_t id)
{
    pthread_mutex_lock(&lock);
    struct event *e = find(id);
    if (e) set(e);
    pthread_mutex_unlock(&lock);
    return e ? 0 : EINVAL;
}

int events_reset(uint32_t id)
{
    pthread_mutex_lock(&lock);
    struct event *e = find(id);
    if (e) e->set = false;
    pthread_mutex_unlock(&lock);
    return e ? 0 : EINVAL;
}

/* What somebody waits for, copied: the program's list may be gone before the wait is over, at its
 * end for one. */
struct awaited {
    uint32_t id;
    bool set; /* when the wait began: taken then, if the event resets itself */
    uint64_t serial, last_age;
    uint64_t age; /* when the wait began */
};

static struct event *find_awaited(const struct awaited *w)
{
    struct event *e = find(w->id);
    return e && e->serial == w->serial ? e : NULL;
}

/* Copies the list and begins to wait; false when an event is not there. */
static bool await(struct awaited *to, const struct kfd_event_data *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!find(list[i].event_id)) return false;
    for (uint32_t i = 0; i < n; i++) {
        struct event *e = find(list[i].event_id);
        to[i] = (struct awaited){ .id = list[i].event_id,
                                  .serial = e->serial,
                                  .set = e->set,
                                  .last_age = list[i].last_age,
                                  .age = e->age };
        e->n_waiting++;
    }
    return true;
}

/* A wait that ended otherwise gives back what came meanwhile. */
static void stop_waiting(const struct awaited *list, uint32_t n, bool complete)
{
    for (uint32_t i = 0; i < n; i++) {
        struct event *e = find_awaited(&list[i]);
        if (!e) continue;
        e->n_waiting--;
        if (!complete && e->age != list[i].age) e->set = true;
    }
}

/* A program that names the age of a signal it has seen does not miss one that was set and reset
 * before. */
static bool was_missed(const struct event *e, const struct awaited *w)
{
    return e->type == KFD_EVENT_SIGNAL && w->last_age && w->last_age != e->age;
}

/* Set when the wait began, or since. */
static bool was_set(const struct event *e, const struct awaited *w)
{
    return w->set || e->set || e->age != w->age;
}

static bool is_set(const struct event *e, const struct awaited *w)
{
    return was_set(e, w) || was_missed(e, w);
}

/* How many of the events are set; -1 when one is gone. */
static long count_set(const struct awaited *list, uint32_t n)
{
    long count = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct event *e = find_awaited(&list[i]);
        if (!e) return -1;
        count += is_set(e, &list[i]);
    }
    return count;
}

/* Nothing happened but what was missed, and of that somebody has been told. Runtimes of ROCm 6.4
 * and later name the first age of a signal again and again while a kernel runs: the kernel answers
 * each time at once, and a core does nothing else. */
static bool is_stale(const struct awaited *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct event *e = find_awaited(&list[i]);
        if (was_set(e, &list[i]) || (was_missed(e, &list[i]) && e->told_age != e->age))
            return false;
    }
    return n > 0;
}

static void pause_for(long ns)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (until.tv_nsec + ns) / 1000000000;
    until.tv_nsec = (until.tv_nsec + ns) % 1000000000;
    (void)pthread_cond_timedwait(&changed, &lock, &until);
}

static void hand_over(struct kfd_event_data *list, const struct awaited *awaited, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct event *e = find_awaited(&awaited[i]);
        if (was_missed(e, &awaited[i])) e->told_age = e->age;
        if (e->type == KFD_EVENT_SIGNAL && awaited[i].last_age) list[i].last_age = e->age;
        if (!e->set && e->age == awaited[i].age) continue;
        if (e->type == KFD_EVENT_MEMORY) list[i].memory = e->data.memory;
        if (e->type == KFD_EVENT_HW_EXCEPTION) list[i].hardware = e->data.hardware;
        if (e->auto_reset) e->set = false;
    }
}

/* Until enough of the events are set, one is gone (EIO, as the kernel has it), or time is up. What
 * is stale is answered a little later, or when anything happens. With the lock held. */
static int wait_for(struct kfd_wait_events *a, const struct awaited *awaited,
                    const struct timespec *until)
{
    for (bool late = a->timeout_ms == 0, paused = late;;) {
        const long n = count_set(awaited, a->n_events);
        if (n < 0) return EIO;
        if (n && !paused && is_stale(awaited, a->n_events)) {
            pause_for(STALE_NS);
            paused = true;
            continue;
        }
        if (a->all ? n == (long)a->n_events : n > 0) {
            hand_over((struct kfd_event_data *)(uintptr_t)a->events, awaited, a->n_events);
            a->result = KFD_WAIT_COMPLETE;
            return 0;
        }
        if (late) {
            a->result = KFD_WAIT_TIMEOUT;
            return 0;
        }
        if (a->timeout_ms == KFD_WAIT_FOREVER)
            pthread_cond_wait(&changed, &lock);
        else
            late = pthread_cond_timedwait(&changed, &lock, until) == ETIMEDOUT;
    }
}

int events_wait(struct kfd_wait_events *a)
{
    const struct kfd_event_data *list = (const struct kfd_event_data *)(uintptr_t)a->events;
    if (!list && a->n_events) return EFAULT;
    if (a->n_events > N_SIGNALS + N_OTHERS) return EINVAL;
    struct awaited few[64], *awaited = few;
    if (a->n_events > 64) awaited = malloc(a->n_events * sizeof *awaited);
    if (!awaited) return ENOMEM;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const uint64_t ns = (uint64_t)until.tv_nsec + a->timeout_ms % 1000 * UINT64_C(1000000);
    until.tv_sec += (time_t)(a->timeout_ms / 1000 + ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    pthread_once(&once, make_condition);
    pthread_mutex_lock(&lock);
    int error = EINVAL;
    if (await(awaited, list, a->n_events)) {
        error = wait_for(a, awaited, &until);
        stop_waiting(awaited, a->n_events, !error && a->result == KFD_WAIT_COMPLETE);
    }
    pthread_mutex_unlock(&lock);
    if (awaited != few) free(awaited);
    return error;
}

/* Take a slot that the card has written. */
static bool take_slot(uint32_t i)
{
    if (!signals[i].used || atomic_exchange(&slots[i], SLOT_EMPTY) == SLOT_EMPTY) return false;
    set(&signals[i]);
    return true;
}

void events_interrupt(uint32_t hint)
{
    pthread_mutex_lock(&lock);
    if (slots && !(hint < top && take_slot(hint)))
        for (uint32_t i = 1; i < top; i++) (void)take_slot(i);
    pthread_mutex_unlock(&lock);
}

void events_memory_fault(struct gpu *gpu, uint64_t address, bool write)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < N_OTHERS; i++) {
        if (!others[i].used || others[i].type != KFD_EVENT_MEMORY) continue;
        others[i].data.memory = (struct kfd_memory_exception){ .not_present = !write,
                                                               .read_only = write,
                                                               .va = address & ~UINT64_C(0xfff),
                                                               .gpu_id = gpu->id };
        set(&others[i]);
    }
    pthread_mutex_unlock(&lock);
}

/* As after a reset of a card that hung. */
void events_hang(struct gpu *gpu)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < N_OTHERS; i++) {
        if (!others[i].used || others[i].type != KFD_EVENT_HW_EXCEPTION) continue;
        others[i].data.hardware = (struct kfd_hw_exception){ .memory_lost = 1, .gpu_id = gpu->id };
        set(&others[i]);
    }
    pthread_mutex_unlock(&lock);
}

void events_forget(void)
{
    memset(signals, 0, sizeof signals);
    memset(others, 0, sizeof others);
    slots = NULL;
    top = 0;
    atomic_store(&page_handle, 0);
    pthread_mutex_init(&lock, NULL);
    make_condition();
}
