/* pool.h: workers for files, who repair each other's code objects while they wait.
 *
 * A file is read twice at the same time: by a thread of its own, which finds its code objects and
 * puts them into a queue, and by the worker who writes it, who takes the results in the order of
 * the file. So a single large library keeps all workers busy, and what comes out does not depend on
 * their number. */
#ifndef RMCP_REPAIR_POOL_H
#define RMCP_REPAIR_POOL_H

#include "code/repair/repair.h"

struct repair_pool;
struct repair_stream;

/* `jobs` workers, the caller included. */
rmcp_status repair_pool_create(size_t jobs, const struct repair_options *options,
                               struct repair_pool **out);
void repair_pool_destroy(struct repair_pool *pool); /* NULL is fine */

/* Call `task` for 0 … n - 1, by all workers; returns when all are done. */
void repair_pool_run(struct repair_pool *pool, size_t n, void (*task)(void *context, size_t i),
                     void *context);

/* What progress is measured in: more to do, more done. `path`: what is at work. */
void repair_pool_expect(struct repair_pool *pool, size_t n);
void repair_pool_advance(struct repair_pool *pool, const char *path, size_t n);

/* What is done with the code objects of one file. */
struct repair_wish {
    bool (*wants)(const void *context, const struct codeobj_item *item); /* these are repaired */
    const void *context;
    struct repair_code code;
};

/* The code objects of one file. NULL: of one worker, or without memory; then repair_stream_take
 * does all by itself. `source` and `wish` must outlive it. */
struct repair_stream *repair_stream_open(struct repair_pool *pool,
                                         const struct codeobj_source *source,
                                         const struct repair_wish *wish);
void repair_stream_close(struct repair_stream *stream); /* NULL is fine */

/* repair_object for the next of them; `stream` may be NULL. */
rmcp_status repair_stream_take(struct repair_pool *pool, struct repair_stream *stream,
                               const struct repair_wish *wish, const struct codeobj_item *item,
                               struct repair_report *report, struct codeobj_made *made);

#endif
