/* events.c: events: waiting, polling, interrupts, faults. */
#include "driver.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

void events_wake_those_who_wait(void **state)
{
    (void)state;
    struct kfd_event_data two[2] = { { .event_id = new_event(KFD_EVENT_SIGNAL, NULL) },
                                     { .event_id = new_event(KFD_EVENT_SIGNAL, NULL) } };
    struct kfd_event_id first = { two[0].event_id, 0 }, second = { two[1].event_id, 0 };
    assert_int_equal(wait_for(two, 2, false, 0), KFD_WAIT_TIMEOUT);
    assert_int_equal(wait_for(two, 2, false, 20), KFD_WAIT_TIMEOUT);
    assert_int_equal(CALL(KFD_SET_EVENT, first), 0);
    assert_int_equal(wait_for(two, 2, true, 0), KFD_WAIT_TIMEOUT);
    assert_int_equal(wait_for(two, 2, false, KFD_WAIT_FOREVER), KFD_WAIT_COMPLETE);
    assert_int_equal(wait_for(two, 2, false, 0), KFD_WAIT_TIMEOUT); /* reset by the wait */
    assert_int_equal(CALL(KFD_SET_EVENT, first), 0);
    assert_int_equal(CALL(KFD_SET_EVENT, second), 0);
    assert_int_equal(wait_for(two, 2, true, 0), KFD_WAIT_COMPLETE);
    assert_int_equal(CALL(KFD_SET_EVENT, first), 0);
    assert_int_equal(CALL(KFD_RESET_EVENT, first), 0);
    assert_int_equal(wait_for(two, 1, false, 0), KFD_WAIT_TIMEOUT);
    two[0].last_age = 1; /* set several times since */
    assert_int_equal(wait_for(two, 1, false, 0), KFD_WAIT_COMPLETE);
    assert_true(two[0].last_age > 1);
    assert_int_equal(wait_for(two, 1, false, 0), KFD_WAIT_TIMEOUT);
    assert_int_equal(CALL(KFD_DESTROY_EVENT, first), 0);
    assert_int_equal(CALL(KFD_DESTROY_EVENT, first), EINVAL);
    struct kfd_wait_events gone = { (uint64_t)(uintptr_t)two, 1, 0, 0, 0 };
    assert_int_equal(CALL(KFD_WAIT_EVENTS, gone), EINVAL);
    assert_int_equal(CALL(KFD_DESTROY_EVENT, second), 0);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void *set_soon(void *event)
{
    nanosleep(&(struct timespec){ 0, 200000 }, NULL);
    return (void *)(intptr_t)CALL(KFD_SET_EVENT, *(struct kfd_event_id *)event);
}

/* A runtime that names an old age for ever is answered each time, but does not keep a core busy
 * with it; what really happens is told at once. */
void an_old_age_is_told_once_at_once(void **state)
{
    enum { N = 50 };
    (void)state;
    struct kfd_event_id set = { new_event(KFD_EVENT_SIGNAL, NULL), 0 };
    struct kfd_event_data old = { .event_id = set.event_id, .last_age = 1 };
    assert_int_equal(CALL(KFD_SET_EVENT, set), 0);
    assert_int_equal(CALL(KFD_RESET_EVENT, set), 0);
    double start = seconds();
    for (unsigned i = 0; i < N; i++) {
        old.last_age = 1;
        assert_int_equal(wait_for(&old, 1, false, 10000), KFD_WAIT_COMPLETE);
        assert_int_equal(old.last_age, 2);
    }
    assert_true(seconds() - start > N * 0.5e-3); /* the first one did not wait */
    assert_true(seconds() - start < 5);
    for (unsigned i = 0; i < N; i++) { /* polling never waits */
        old.last_age = 1;
        assert_int_equal(wait_for(&old, 1, false, 0), KFD_WAIT_COMPLETE);
    }
    for (uint64_t age = 3; age < 3 + N; age++) {
        pthread_t setter;
        void *error;
        old.last_age = 1;
        assert_int_equal(pthread_create(&setter, NULL, set_soon, &set), 0);
        do assert_int_equal(wait_for(&old, 1, false, 10000), KFD_WAIT_COMPLETE);
        while (old.last_age < age);
        assert_int_equal(old.last_age, age);
        assert_int_equal(pthread_join(setter, &error), 0);
        assert_null(error);
    }
    assert_int_equal(CALL(KFD_DESTROY_EVENT, set), 0);
}

static void *wait_for_both(void *events)
{
    return (void *)(intptr_t)(wait_for(events, 2, true, 500) == KFD_WAIT_COMPLETE);
}

static atomic_uint waiting;

static void *wait_for_one(void *event)
{
    atomic_fetch_add(&waiting, 1);
    const int result = wait_for(event, 1, false, 10000);
    return (void *)(intptr_t)(result == KFD_WAIT_COMPLETE);
}

/* One thread that waits must not take an event that resets itself from another. */
void events_wake_all_who_wait(void **state)
{
    enum { N = 4 };
    (void)state;
    const uint32_t id = new_event(KFD_EVENT_SIGNAL, NULL);
    struct kfd_event_id set = { id, 0 };
    struct kfd_event_data data[N];
    pthread_t threads[N];
    for (unsigned i = 0; i < N; i++) {
        data[i] = (struct kfd_event_data){ .event_id = id };
        assert_int_equal(pthread_create(&threads[i], NULL, wait_for_one, &data[i]), 0);
    }
    while (atomic_load(&waiting) < N) nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
    nanosleep(&(struct timespec){ 1, 0 }, NULL);
    assert_int_equal(CALL(KFD_SET_EVENT, set), 0);
    for (unsigned i = 0; i < N; i++) {
        void *woken;
        assert_int_equal(pthread_join(threads[i], &woken), 0);
        assert_non_null(woken);
    }
    /* A wait for two that ends for time gives back the one that came. */
    struct kfd_event_data two[2] = { { .event_id = id },
                                     { .event_id = new_event(KFD_EVENT_SIGNAL, NULL) } };
    pthread_t waiter;
    assert_int_equal(pthread_create(&waiter, NULL, wait_for_both, two), 0);
    nanosleep(&(struct timespec){ 0, 100000000 }, NULL);
    assert_int_equal(CALL(KFD_SET_EVENT, set), 0);
    void *both;
    assert_int_equal(pthread_join(waiter, &both), 0);
    assert_null(both);
    assert_int_equal(wait_for(&two[0], 1, false, 0), KFD_WAIT_COMPLETE);
    assert_int_equal(CALL(KFD_DESTROY_EVENT, set), 0);
}

void polls_and_interrupts(void **state)
{
    uint32_t slot = 0, *word = (uint32_t *)(void *)to.host;
    (void)state;
    struct kfd_event_data event = { .event_id = new_event(KFD_EVENT_SIGNAL, &slot) };
    *word = 4;
    /* Wait for (word & 0xff) >= 5, then write the event's slot and raise the interrupt. */
    PUT(8 | 5 << 28 | 1u << 31, ADDRESS(to.va), 5, 0xff, 0);
    PUT(5, ADDRESS(slots.va + slot * 8), event.event_id);
    PUT(6, event.event_id);
    assert_int_equal(wait_for(&event, 1, false, 30), KFD_WAIT_TIMEOUT);
    assert_false(drained());
    __atomic_store_n(word, 0x106, __ATOMIC_SEQ_CST);
    assert_int_equal(wait_for(&event, 1, false, KFD_WAIT_FOREVER), KFD_WAIT_COMPLETE);
    drain();
    /* Around the ring many times. */
    memset(to.host + 64, 0, 8);
    for (unsigned i = 0; i < 1000; i++) {
        PUT(10 | 0x2fu << 25, ADDRESS(to.va + 64), 1, 0, 0, 0, 0);
        if (i % 50 == 0) drain();
    }
    drain();
    uint64_t sum;
    memcpy(&sum, to.host + 64, 8);
    assert_int_equal(sum, 1000);
}

void a_fault_is_an_event(void **state)
{
    (void)state;
    struct kfd_event_data event = { .event_id = new_event(KFD_EVENT_MEMORY, NULL) };
    PUT(1, 100 - 1, 0, ADDRESS(from.va), ADDRESS(UINT64_C(0x123456789000)));
    assert_int_equal(wait_for(&event, 1, false, KFD_WAIT_FOREVER), KFD_WAIT_COMPLETE);
    assert_int_equal(event.memory.not_present, 1);
    assert_int_equal(event.memory.va, UINT64_C(0x123456789000));
    assert_int_equal(event.memory.gpu_id, gpu);
}
