/* scan.h: the workers of an audit, and what they count. */
#ifndef RMCP_AUDIT_SCAN_H
#define RMCP_AUDIT_SCAN_H

#include "code/audit/audit.h"

/* How a function is run. */
struct scan_mode {
    struct audit_mode mode;
    uint32_t n_kernels; /* that enter there; 0 for a device function */
    const char *kernel; /* the last of them; NULL when there is none */
};

/* What one function has. */
struct scan_function {
    uint64_t instructions, unknown_words, unknown_calls, across, lacking, patterns;
    uint64_t rule[ISA_N_RULES], detail[ISA_N_DETAILS];
};

/* Which instructions were lacking, by row; one per worker, added up at the end. */
struct scan_opcodes {
    uint64_t instructions[ISA_N_IDS], kernels[ISA_N_IDS];
    const char *means[ISA_N_IDS]; /* what the same bits are on the chip, NULL for nothing      */
    uint64_t seen[ISA_N_IDS];     /* the last function that had it, as counted by `functions` */
    uint64_t functions;
};

/* One code object in flight; its bytes are our own copy. */
struct scan_job {
    struct codeobj *object;
    uint8_t *bytes;
    size_t size;
    size_t library, group;   /* of the report, of the library */
    unsigned built;          /* enum isa_chip */
    struct scan_mode *modes; /* per function */
    struct audit_code *code;
    size_t n_tasks; /* not yet done */
};

/* Judge function `index` of a job for `chip`. */
rmcp_status scan_function(unsigned chip, const struct scan_job *job, size_t index,
                          struct scan_opcodes *opcodes, struct scan_function *out);

/* Called by a worker for functions first … first + n - 1 of a job. */
typedef rmcp_status (*scan_run)(void *context, unsigned worker, struct scan_job *job, size_t first,
                                size_t n);

struct scan_pool;
/* `finish` is called, from whichever thread did the last task, when a job is done. */
rmcp_status scan_pool_create(uint32_t threads, scan_run run, void (*finish)(struct scan_job *job),
                             void *context, struct scan_pool **out);
/* Hand over a job; waits while there is too much in flight. Takes the job over, also on failure.
 * Fails with what a worker failed with. */
rmcp_status scan_pool_add(struct scan_pool *pool, struct scan_job *job);
void scan_pool_counts(struct scan_pool *pool, uint64_t *done, uint64_t *added);
/* Wait for all jobs and end the workers; the first failure of any. NULL is fine. */
rmcp_status scan_pool_destroy(struct scan_pool *pool);

#endif
