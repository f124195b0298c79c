/* queue.c: queues of the simulated cards, each with a thread that reads its packets. */
#define _GNU_SOURCE
#include "sim/driver/driver.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N_QUEUES = 512 }; /* 8-byte doorbells of one card fit its two pages */
static struct queue *queues[N_QUEUES];

/* Sleeps longer the longer nothing happened: an idle queue costs next to nothing, a busy one
 * answers within microseconds. */
static void rest(unsigned idle)
{
    if (idle < 50) return;
    const unsigned shift = (idle - 50) / 20 < 5 ? (idle - 50) / 20 : 5;
    nanosleep(&(struct timespec){ 0, 15000L << shift }, NULL);
}

static void *serve(void *context)
{
    struct queue *q = context;
    bool (*const step)(struct queue *) = q->type == KFD_QUEUE_AQL ? aql_step : sdma_step;
    bool stopped = false; /* the card's clock, between packets that follow each other */
    for (unsigned idle = 0; !atomic_load(&q->stop);) {
        vm_enter();
        const bool worked = !atomic_load(&q->gpu->dead) && !q->failed && step(q);
        vm_leave();
        if (worked != stopped && driver.options.timing) {
            stopped = worked;
            if (worked)
                clock_stop();
            else
                clock_go_on(0);
        }
        if (worked) host_wait_completed();
        idle = worked ? 0 : idle + 1;
        rest(idle);
    }
    if (stopped) clock_go_on(0);
    return NULL;
}

/* Signals of the program are not for our threads. */
static int start_thread(struct queue *q)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&q->thread, NULL, serve, q);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static bool sound(const struct kfd_create_queue *a)
{
    const uint32_t size = a->ring_size;
    if (a->type != KFD_QUEUE_AQL && a->type != KFD_QUEUE_SDMA && a->type != KFD_QUEUE_SDMA_XGMI)
        return false;
    return a->ring && a->read_pointer && a->write_pointer && size >= 1024 && !(size & (size - 1));
}

int queue_create(struct kfd_create_queue *a)
{
    struct gpu *gpu = driver_gpu(a->gpu_id);
    if (!gpu || !sound(a)) return EINVAL;
    struct queue *q = calloc(1, sizeof *q);
    if (!q) return ENOMEM;
    q->gpu = gpu;
    q->type = a->type;
    q->ring = a->ring;
    q->ring_size = a->ring_size;
    q->read = (uint64_t *)(uintptr_t)a->read_pointer;
    q->write = (uint64_t *)(uintptr_t)a->write_pointer;
    if (q->type == KFD_QUEUE_AQL) /* behind the read index stands where it lies in the structure */
        q->amd = (struct amd_queue *)(void *)((char *)q->read - *(uint32_t *)(q->read + 1));
    pthread_mutex_lock(&driver.lock);
    uint32_t i = 0;
    while (i < N_QUEUES && queues[i]) i++;
    int error = i == N_QUEUES ? ENOMEM : 0;
    if (!error) {
        q->id = i;
        a->queue_id = i;
        a->doorbell_offset = driver_kfd_offset(gpu->index) + i * UINT64_C(8);
        memset(gpu->doorbells + i * 8, 0, 8);
        error = start_thread(q);
        if (!error) queues[i] = q;
    }
    pthread_mutex_unlock(&driver.lock);
    driver_log("queue %u of type %u: %d", i, a->type, error);
    if (error) free(q);
    return error;
}

/* A kernel that runs ends early, as when the driver takes a queue off a card. */
int queue_destroy(uint32_t id)
{
    pthread_mutex_lock(&driver.lock);
    struct queue *q = id < N_QUEUES ? queues[id] : NULL;
    if (q) queues[id] = NULL;
    pthread_mutex_unlock(&driver.lock);
    if (!q) return EINVAL;
    atomic_store(&q->stop, true);
    pthread_join(q->thread, NULL);
    dispatch_end(q);
    free(q);
    return 0;
}

void queue_forget(void)
{
    memset(queues, 0, sizeof queues);
}
