/* pool.c: workers for files, who repair each other's code objects while they wait. */
#include "code/repair/pool.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_JOBS = 256 };

/* One code object. */
struct job {
    struct job *next, *next_queued; /* of its file; of all that nobody has begun */
    uint8_t *source;
    size_t size;
    const struct repair_code *code;
    bool is_begun, is_done;
    rmcp_status status;
    char message[512];
    struct repair_report report;
    uint8_t *out;
    size_t out_size;
};

struct repair_pool {
    const struct repair_options *options;
    size_t jobs;
    pthread_mutex_t lock; /* everything below, and all jobs and streams */
    pthread_cond_t changed;
    struct job *queue, **queue_end;
    size_t n_tasks, next_task, n_running;
    void (*task)(void *context, size_t i);
    void *context;
    size_t n_done, n_total;
};

struct repair_stream {
    struct repair_pool *pool;
    const struct codeobj_source *source;
    const struct repair_wish *wish;
    pthread_t reader;
    struct job *first, **end;
    size_t n_ahead;            /* read, and not taken yet */
    bool is_over, is_stopping; /* the reader has ended; shall end */
};

rmcp_status repair_pool_create(size_t jobs, const struct repair_options *options,
                               struct repair_pool **out)
{
    *out = calloc(1, sizeof **out);
    if (!*out) return rmcp_fail_memory("workers", sizeof **out);
    (*out)->options = options;
    (*out)->jobs = jobs < 1 ? 1 : jobs > MOST_JOBS ? MOST_JOBS : jobs;
    (*out)->queue_end = &(*out)->queue;
    pthread_mutex_init(&(*out)->lock, NULL);
    pthread_cond_init(&(*out)->changed, NULL);
    return RMCP_OK;
}

void repair_pool_destroy(struct repair_pool *pool)
{
    if (!pool) return;
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

/* ---- progress ---- */

void repair_pool_expect(struct repair_pool *pool, size_t n)
{
    pthread_mutex_lock(&pool->lock);
    pool->n_total += n;
    pthread_mutex_unlock(&pool->lock);
}

void repair_pool_advance(struct repair_pool *pool, const char *path, size_t n)
{
    pthread_mutex_lock(&pool->lock);
    pool->n_done += n;
    if (pool->n_total < pool->n_done) pool->n_total = pool->n_done;
    if (pool->options->progress)
        pool->options->progress(pool->options->context, pool->n_done, pool->n_total, path);
    pthread_mutex_unlock(&pool->lock);
}

/* ---- workers; all with the lock held, which they give back while they work ---- */

static void work_on(struct repair_pool *pool, struct job *job)
{
    job->is_begun = true;
    pthread_mutex_unlock(&pool->lock);
    job->status =
        repair_object(job->source, job->size, job->code, &job->report, &job->out, &job->out_size);
    if (job->status) snprintf(job->message, sizeof job->message, "%s", rmcp_last_error());
    pthread_mutex_lock(&pool->lock);
    job->is_done = true;
    pthread_cond_broadcast(&pool->changed);
}

/* One object of the queue, or false when there is none. */
static bool help(struct repair_pool *pool)
{
    struct job *job = pool->queue;
    if (!job) return false;
    pool->queue = job->next_queued;
    if (!pool->queue) pool->queue_end = &pool->queue;
    work_on(pool, job);
    return true;
}

static void *serve(void *context)
{
    struct repair_pool *pool = context;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        if (pool->next_task < pool->n_tasks) {
            const size_t i = pool->next_task++;
            pool->n_running++;
            pthread_mutex_unlock(&pool->lock);
            pool->task(pool->context, i);
            pthread_mutex_lock(&pool->lock);
            pool->n_running--;
            pthread_cond_broadcast(&pool->changed);
        } else if (!help(pool)) {
            if (!pool->n_running) break;
            pthread_cond_wait(&pool->changed, &pool->lock);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

void repair_pool_run(struct repair_pool *pool, size_t n, void (*task)(void *context, size_t i),
                     void *context)
{
    pthread_t threads[MOST_JOBS];
    size_t n_threads = 0;
    pool->n_tasks = n;
    pool->next_task = 0;
    pool->task = task;
    pool->context = context;
    while (n && n_threads + 1 < pool->jobs &&
           !pthread_create(&threads[n_threads], NULL, serve, pool))
        n_threads++;
    serve(pool); /* this thread works, too */
    for (size_t i = 0; i < n_threads; i++) pthread_join(threads[i], NULL);
}

/* ---- the objects of one file ---- */

static void job_destroy(struct job *job)
{
    if (!job) return;
    repair_report_deinit(&job->report);
    free(job->source);
    free(job->out);
    free(job);
}

static struct job *job_create(const struct codeobj_item *item)
{
    struct job *job = calloc(1, sizeof *job);
    if (job) job->source = malloc(item->size);
    if (!job || !job->source) {
        free(job);
        return NULL;
    }
    memcpy(job->source, item->bytes, item->size);
    job->size = item->size;
    return job;
}

/* Called by the reader for every object of the file. */
static rmcp_status feed(void *context, const struct codeobj_item *item, struct codeobj_made *made)
{
    struct repair_stream *stream = context;
    struct repair_pool *pool = stream->pool;
    (void)made;
    if (!stream->wish->wants(stream->wish->context, item)) return RMCP_OK;
    struct job *job = job_create(item);
    if (!job) return RMCP_E_NOMEM; /* the writer goes on alone */
    job->code = &stream->wish->code;
    pthread_mutex_lock(&pool->lock);
    while (stream->n_ahead > 2 * pool->jobs && !stream->is_stopping)
        pthread_cond_wait(&pool->changed, &pool->lock);
    const bool is_stopping = stream->is_stopping;
    if (!is_stopping) {
        *stream->end = job;
        stream->end = &job->next;
        stream->n_ahead++;
        *pool->queue_end = job;
        pool->queue_end = &job->next_queued;
        pthread_cond_broadcast(&pool->changed);
    }
    pthread_mutex_unlock(&pool->lock);
    if (!is_stopping) return RMCP_OK;
    job_destroy(job);
    return RMCP_E_IO;
}

static void *read_stream(void *context)
{
    struct repair_stream *stream = context;
    codeobj_rewrite_bytes(stream->source, &(struct codeobj_destination){ 0 }, feed, stream, NULL);
    pthread_mutex_lock(&stream->pool->lock);
    stream->is_over = true;
    pthread_cond_broadcast(&stream->pool->changed);
    pthread_mutex_unlock(&stream->pool->lock);
    return NULL;
}

struct repair_stream *repair_stream_open(struct repair_pool *pool,
                                         const struct codeobj_source *source,
                                         const struct repair_wish *wish)
{
    struct repair_stream *stream = pool->jobs > 1 ? calloc(1, sizeof *stream) : NULL;
    if (!stream) return NULL;
    stream->pool = pool;
    stream->source = source;
    stream->wish = wish;
    stream->end = &stream->first;
    if (!pthread_create(&stream->reader, NULL, read_stream, stream)) return stream;
    free(stream);
    return NULL;
}

/* With the lock held. */
static struct job *take_first(struct repair_stream *stream)
{
    struct job *job = stream->first;
    stream->first = job->next;
    if (!stream->first) stream->end = &stream->first;
    stream->n_ahead--;
    pthread_cond_broadcast(&stream->pool->changed);
    return job;
}

static void wait_for(struct repair_pool *pool, const struct job *job)
{
    while (!job->is_done)
        if (!help(pool)) pthread_cond_wait(&pool->changed, &pool->lock);
}

void repair_stream_close(struct repair_stream *stream)
{
    if (!stream) return;
    struct repair_pool *pool = stream->pool;
    pthread_mutex_lock(&pool->lock);
    stream->is_stopping = true;
    pthread_cond_broadcast(&pool->changed);
    while (!stream->is_over) pthread_cond_wait(&pool->changed, &pool->lock);
    while (stream->first) { /* what nobody has begun is taken out of the queue */
        struct job *job = take_first(stream);
        for (struct job **at = &pool->queue; *at && !job->is_begun; at = &(*at)->next_queued)
            if (*at == job) {
                *at = job->next_queued;
                if (!*at) pool->queue_end = at;
                break;
            }
        if (job->is_begun) wait_for(pool, job);
        job_destroy(job);
    }
    pthread_mutex_unlock(&pool->lock);
    pthread_join(stream->reader, NULL);
    free(stream);
}

rmcp_status repair_stream_take(struct repair_pool *pool, struct repair_stream *stream,
                               const struct repair_wish *wish, const struct codeobj_item *item,
                               struct repair_report *report, struct codeobj_made *made)
{
    struct job *job = NULL;
    if (stream) {
        pthread_mutex_lock(&pool->lock);
        while (!stream->first && !stream->is_over)
            if (!help(pool)) pthread_cond_wait(&pool->changed, &pool->lock);
        if (stream->first) job = take_first(stream);
        if (job) wait_for(pool, job);
        pthread_mutex_unlock(&pool->lock);
    }
    if (!job || job->size != item->size || memcmp(job->source, item->bytes, item->size)) {
        job_destroy(job);
        return repair_object(item->bytes, item->size, &wish->code, report, &made->bytes,
                             &made->size);
    }
    rmcp_status status = repair_report_merge(report, &job->report);
    if (!status && job->status) status = rmcp_fail(job->status, "%s", job->message);
    if (!status) {
        made->bytes = job->out;
        made->size = job->out_size;
        job->out = NULL;
    }
    job_destroy(job);
    return status;
}
