/* pool.c: a few threads that work through code objects, a bounded number of bytes at a time. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/audit/scan.h"

/* Copies of objects in flight; a single larger one is taken when nothing else is. */
static const size_t most_bytes = (size_t)256 << 20;
/* Code of one task: a large object keeps all workers busy. */
static const uint64_t task_bytes = (uint64_t)256 << 10;

struct task {
    struct task *next;
    struct scan_job *job;
    size_t first, n;
};

struct worker {
    struct scan_pool *pool;
    unsigned index;
    pthread_t thread;
};

struct scan_pool {
    pthread_mutex_t lock;
    pthread_cond_t work, room;
    struct task *first, *last;
    scan_run run;
    void (*finish)(struct scan_job *job);
    void *context;
    size_t bytes; /* in flight */
    uint64_t added, done;
    bool closing;
    rmcp_status status; /* the first failure */
    char message[512];
    uint32_t n_workers;
    struct worker *workers;
};

static void fail(struct scan_pool *pool, rmcp_status status)
{
    if (pool->status) return;
    pool->status = status;
    snprintf(pool->message, sizeof pool->message, "%s", rmcp_last_error());
}

/* With the lock held; gives it up while the job is freed. */
static void end_task(struct scan_pool *pool, struct scan_job *job)
{
    if (--job->n_tasks) return;
    const size_t size = job->size;
    pthread_mutex_unlock(&pool->lock);
    pool->finish(job);
    pthread_mutex_lock(&pool->lock);
    pool->bytes -= size;
    pool->done++;
    pthread_cond_broadcast(&pool->room);
}

static void *work(void *argument)
{
    struct worker *self = argument;
    struct scan_pool *pool = self->pool;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->first && !pool->closing) pthread_cond_wait(&pool->work, &pool->lock);
        struct task *task = pool->first;
        if (!task) break;
        pool->first = task->next;
        if (!pool->first) pool->last = NULL;
        if (!pool->status) {
            pthread_mutex_unlock(&pool->lock);
            rmcp_status status =
                pool->run(pool->context, self->index, task->job, task->first, task->n);
            pthread_mutex_lock(&pool->lock);
            if (status) fail(pool, status);
        }
        end_task(pool, task->job);
        free(task);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

rmcp_status scan_pool_create(uint32_t threads, scan_run run, void (*finish)(struct scan_job *job),
                             void *context, struct scan_pool **out)
{
    *out = NULL;
    struct scan_pool *pool = calloc(1, sizeof *pool);
    struct worker *workers = calloc(threads, sizeof *workers);
    if (!pool || !workers) {
        free(pool);
        free(workers);
        return rmcp_fail_memory("threads", threads * sizeof *workers);
    }
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->room, NULL);
    pool->run = run;
    pool->finish = finish;
    pool->context = context;
    pool->workers = workers;
    for (uint32_t i = 0; i < threads; i++) {
        workers[i] = (struct worker){ .pool = pool, .index = i };
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i])) break;
        pool->n_workers++;
    }
    if (!pool->n_workers) {
        scan_pool_destroy(pool);
        return rmcp_fail(RMCP_E_NOMEM, "no thread could be started");
    }
    *out = pool;
    return RMCP_OK;
}

/* A list of tasks for a job, at least one; NULL when memory runs out. */
static struct task *split(struct scan_job *job, struct task **last)
{
    struct task *first = NULL, **end = &first;
    const size_t n = job->object->n_functions;
    *last = NULL;
    for (size_t at = 0; at < n || !first;) {
        struct task *task = calloc(1, sizeof *task);
        if (!task) {
            while (first) {
                task = first->next;
                free(first);
                first = task;
            }
            return NULL;
        }
        task->job = job;
        task->first = at;
        for (uint64_t bytes = 0; at < n && bytes < task_bytes; at++)
            bytes += job->object->functions[at].size;
        task->n = at - task->first;
        *end = *last = task;
        end = &task->next;
        job->n_tasks++;
    }
    return first;
}

rmcp_status scan_pool_add(struct scan_pool *pool, struct scan_job *job)
{
    struct task *last, *first = split(job, &last);
    if (!first) {
        pool->finish(job);
        return rmcp_fail_memory("task", sizeof *first);
    }
    pthread_mutex_lock(&pool->lock);
    while (pool->bytes && pool->bytes + job->size > most_bytes)
        pthread_cond_wait(&pool->room, &pool->lock);
    pool->bytes += job->size;
    pool->added++;
    if (pool->last)
        pool->last->next = first;
    else
        pool->first = first;
    pool->last = last;
    pthread_cond_broadcast(&pool->work);
    rmcp_status status = pool->status;
    if (status) rmcp_fail(status, "%s", pool->message);
    pthread_mutex_unlock(&pool->lock);
    return status;
}

void scan_pool_counts(struct scan_pool *pool, uint64_t *done, uint64_t *added)
{
    pthread_mutex_lock(&pool->lock);
    *done = pool->done;
    *added = pool->added;
    pthread_mutex_unlock(&pool->lock);
}

rmcp_status scan_pool_destroy(struct scan_pool *pool)
{
    if (!pool) return RMCP_OK;
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->n_workers; i++) pthread_join(pool->workers[i].thread, NULL);
    rmcp_status status = pool->status;
    if (status) rmcp_fail(status, "%s", pool->message);
    pthread_cond_destroy(&pool->work);
    pthread_cond_destroy(&pool->room);
    pthread_mutex_destroy(&pool->lock);
    free(pool->workers);
    free(pool);
    return status;
}
