/* audit.c: walks files, hands their code objects to workers, and adds up what these find. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code/audit/report.h"
#include "code/audit/scan.h"
#include "code/codeobj/write.h"

struct audit {
    const struct audit_options *options;
    struct audit_report *report; /* under `lock` while workers run */
    pthread_mutex_t lock;
    struct scan_pool *pool;
    struct scan_opcodes *opcodes; /* one per worker */
    uint32_t n_workers;
    size_t argument_length; /* of the path that is walked */
    size_t first_library;   /* of that path               */
};

static void add(struct audit_count *count, uint64_t instructions, uint32_t n_kernels)
{
    if (!instructions) return;
    count->instructions += instructions;
    count->kernels += n_kernels;
    count->functions += !n_kernels;
}

/* ---- workers ---- */

static void finish(struct scan_job *job)
{
    audit_code_destroy(job->code);
    codeobj_close(job->object);
    free(job->bytes);
    free(job->modes);
    free(job);
}

/* A kernel's name rather than the function's: only a descriptor may tell of it. */
static const char *name_of(const struct scan_job *job, size_t index)
{
    const char *name = job->modes[index].kernel;
    if (!name) name = job->object->functions[index].name;
    return *name ? name : "(no name)";
}

static rmcp_status merge(struct audit *audit, const struct scan_job *job, size_t index,
                         const struct scan_function *found)
{
    struct audit_library *library = &audit->report->libraries[job->library];
    struct audit_group *group = &library->groups[job->group];
    const struct codeobj_function *function = &job->object->functions[index];
    const uint32_t n_kernels = job->modes[index].n_kernels;
    group->functions += !n_kernels;
    group->code_bytes += function->size;
    group->instructions += found->instructions;
    group->unknown_words += found->unknown_words;
    group->unknown_calls += found->unknown_calls;
    group->across += found->across;
    add(&group->lacking, found->lacking, n_kernels);
    add(&group->any, found->patterns, n_kernels);
    for (size_t i = 0; i < ISA_N_RULES; i++) add(&group->rule[i], found->rule[i], n_kernels);
    for (size_t i = 1; i < ISA_N_DETAILS; i++) add(&group->detail[i], found->detail[i], n_kernels);
    struct audit_worst one = { .library = library->name,
                               .is_kernel = n_kernels,
                               .lacking = found->lacking,
                               .patterns = found->patterns };
    if (!found->lacking && !found->patterns) return RMCP_OK;
    if (!report_is_worse(audit->report, audit->options->n_worst, &one)) return RMCP_OK;
    one.name = (char *)(uintptr_t)name_of(job, index); /* copied below */
    memcpy(one.target, group->target, sizeof one.target);
    memcpy(one.rule, found->rule, sizeof one.rule);
    return report_add_worst(audit->report, audit->options->n_worst, &one);
}

static rmcp_status run(void *context, unsigned worker, struct scan_job *job, size_t first, size_t n)
{
    struct audit *audit = context;
    rmcp_status status = RMCP_OK;
    for (size_t i = first; i < first + n && !status; i++) {
        struct scan_function found;
        status = scan_function(audit->options->chip, job, i, &audit->opcodes[worker], &found);
        if (status) break;
        pthread_mutex_lock(&audit->lock);
        status = merge(audit, job, i, &found);
        pthread_mutex_unlock(&audit->lock);
    }
    return status;
}

/* ---- the walk ---- */

static bool ends_with(const char *text, const char *end, const char *suffix)
{
    const size_t length = strlen(suffix);
    return (size_t)(end - text) > length && !strncmp(end - length, suffix, length);
}

/* The library of an item: its path up to what lies within the file, or within the member of a
 * wheel. Files for one target each (Tensile's, MIOpen's) are one library together: their folder. */
static size_t library_length(const struct audit *audit, const char *path)
{
    static const char *const parts[] = { ".co", ".hsaco", ".kdb", ".o" };
    if (strlen(path) <= audit->argument_length) return strlen(path);
    const char *from = path + audit->argument_length, *end = strstr(from, ": ");
    bool part = !end;
    if (!end) end = path + strlen(path);
    if (*end && (ends_with(path, end, ".whl") || ends_with(path, end, ".zip") ||
                 ends_with(path, end, ".pyz"))) {
        from = end + 2;
        end = strstr(from, ": ");
        part = !end;
        if (!end) end = path + strlen(path);
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (ends_with(path, end, parts[i])) part = true;
    const char *slash = end;
    while (part && slash > from && slash[-1] != '/') slash--;
    /* The argument itself, when that is such a file. */
    return (size_t)((part && slash > from ? slash : end) - path);
}

static rmcp_status trouble(struct audit *audit, size_t library, const char *path,
                           const char *message)
{
    audit->report->libraries[library].n_troubles++;
    if (audit->options->trouble) audit->options->trouble(audit->options->context, path, message);
    return RMCP_OK;
}

static rmcp_status make_job(const struct codeobj_item *item, struct scan_job **out)
{
    struct scan_job *job = calloc(1, sizeof *job);
    rmcp_status status = RMCP_OK;
    *out = NULL;
    if (!job || !(job->bytes = malloc(item->size + 1))) {
        free(job);
        return rmcp_fail_memory("code object", item->size);
    }
    memcpy(job->bytes, item->bytes, item->size);
    job->size = item->size;
    status = codeobj_open(job->bytes, job->size, &job->object);
    if (status) goto done;
    struct codeobj *object = job->object;
    job->modes = calloc(object->n_functions + 1, sizeof *job->modes);
    if (!job->modes) {
        status = rmcp_fail_memory("functions", object->n_functions * sizeof *job->modes);
        goto done;
    }
    const struct audit_mode usual = audit_mode_of(object, NULL);
    for (size_t i = 0; i < object->n_functions; i++) job->modes[i].mode = usual;
    for (size_t i = 0; i < object->n_kernels; i++)
        if (object->kernels[i].function) {
            struct scan_mode *mode = &job->modes[object->kernels[i].function - object->functions];
            mode->n_kernels++;
            mode->kernel = object->kernels[i].name;
            mode->mode = audit_mode_of(object, &object->kernels[i]);
        }
    job->built = (unsigned)isa_chip_of_mach(item->target.mach);
    status = audit_code_create(object, job->built, &job->code);
    if (status) goto done;
    *out = job;
    job = NULL;
done:
    if (job) finish(job);
    return status;
}

static void count_kernels(struct audit_group *group, const struct codeobj *object)
{
    group->objects++;
    group->repaired += codeobj_is_repaired(object);
    group->kernels += object->n_kernels;
    for (size_t i = 0; i < object->n_kernels; i++) group->no_code += !object->kernels[i].function;
}

static rmcp_status visit_object(struct audit *audit, size_t library,
                                const struct codeobj_item *item)
{
    const enum audit_kind kind = audit_kind_of(audit->options->chip, &item->target);
    struct scan_job *job = NULL;
    struct codeobj *object = NULL;
    size_t index;
    rmcp_status status =
        kind == AUDIT_OTHER ? codeobj_open(item->bytes, item->size, &object) : make_job(item, &job);
    if (status == RMCP_E_IO || status == RMCP_E_UNSUPPORTED)
        return trouble(audit, library, item->path, rmcp_last_error());
    if (status) return status;

    pthread_mutex_lock(&audit->lock);
    status = report_find_group(&audit->report->libraries[library], item->target.text, kind, &index);
    if (!status)
        count_kernels(&audit->report->libraries[library].groups[index], job ? job->object : object);
    pthread_mutex_unlock(&audit->lock);
    codeobj_close(object);
    if (status || !job) {
        if (job) finish(job);
        return status;
    }
    job->library = library;
    job->group = index;
    return scan_pool_add(audit->pool, job);
}

static rmcp_status visit(void *context, const struct codeobj_item *item)
{
    struct audit *audit = context;
    size_t library;
    pthread_mutex_lock(&audit->lock);
    rmcp_status status = report_find_library(audit->report, audit->first_library, item->path,
                                             library_length(audit, item->path), &library);
    pthread_mutex_unlock(&audit->lock);
    if (status) return status;
    if (audit->options->progress) {
        uint64_t done, added;
        scan_pool_counts(audit->pool, &done, &added);
        audit->options->progress(audit->options->context, done, added + 1, item->path);
    }
    switch (item->kind) {
    case CODEOBJ_OBJECT: return visit_object(audit, library, item);
    case CODEOBJ_OTHER: audit->report->libraries[library].n_others++; return RMCP_OK;
    case CODEOBJ_TROUBLE: return trouble(audit, library, item->path, item->message);
    }
    return RMCP_OK;
}

/* One worker a core unless the caller knows better. */
static uint32_t count_workers(uint32_t asked)
{
    enum { MOST = 1024 };
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (!asked) asked = cores > 0 ? (uint32_t)cores : 1;
    return asked < MOST ? asked : MOST;
}

static rmcp_status walk_all(struct audit *audit, const char *const *paths, size_t n_paths)
{
    rmcp_status status = RMCP_OK;
    for (size_t i = 0; i < n_paths && !status; i++) {
        audit->argument_length = strlen(paths[i]);
        audit->first_library = audit->report->n_libraries;
        status = codeobj_walk_path(paths[i], NULL, visit, audit);
    }
    return status;
}

rmcp_status audit_paths(const char *const *paths, size_t n_paths,
                        const struct audit_options *options, struct audit_report **out)
{
    if (!out) return rmcp_fail(RMCP_E_ARG, "out is NULL");
    *out = NULL;
    if (!paths || !options || options->chip >= ISA_N_CHIPS)
        return rmcp_fail(RMCP_E_ARG, "paths or options is NULL, or there is no such chip");
    struct audit audit = { .options = options, .n_workers = count_workers(options->threads) };
    audit.report = calloc(1, sizeof *audit.report);
    audit.opcodes = calloc(audit.n_workers, sizeof *audit.opcodes);
    if (!audit.report || !audit.opcodes) {
        free(audit.report);
        free(audit.opcodes);
        return rmcp_fail_memory("audit", audit.n_workers * sizeof *audit.opcodes);
    }
    audit.report->chip = options->chip;
    pthread_mutex_init(&audit.lock, NULL);
    rmcp_status status = scan_pool_create(audit.n_workers, run, finish, &audit, &audit.pool);
    if (!status) {
        status = walk_all(&audit, paths, n_paths);
        rmcp_status workers = scan_pool_destroy(audit.pool);
        if (!status) status = workers;
    }
    if (!status) status = report_finish(audit.report, audit.opcodes, audit.n_workers);
    pthread_mutex_destroy(&audit.lock);
    free(audit.opcodes);
    if (status)
        audit_report_destroy(audit.report);
    else
        *out = audit.report;
    return status;
}
