/* check_report.c: what RMCP_CHECK asks for, and what it has found in this process. */
#include "base/hash.h"
#include "engine/core/check.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNREAD, OFF, ON, FULL };
static atomic_int mode;
static _Atomic uint64_t checked, skipped, wrong;

/* Case strings that had their line, by their hashes; when there are more, the rest is counted. */
enum { MOST_LINES = 256 };
static struct {
    pthread_mutex_t lock;
    size_t n;
    uint64_t told[MOST_LINES];
    char first[sizeof((rmcp_check_info *)0)->first];
} report = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int read_mode(void)
{
    int known = atomic_load_explicit(&mode, memory_order_relaxed);
    if (known != UNREAD) return known;
    const char *text = getenv("RMCP_CHECK");
    known = !text || !*text || !strcmp(text, "0") ? OFF : !strcmp(text, "full") ? FULL : ON;
    atomic_store_explicit(&mode, known, memory_order_relaxed);
    return known;
}

bool rmcp_check_is_on(void)
{
    return read_mode() != OFF;
}

bool rmcp_check_is_full(void)
{
    return read_mode() == FULL;
}

void rmcp_check_count_skipped(void)
{
    skipped++;
}

void rmcp_check_count_good(void)
{
    checked++;
}

static void write_line(const rmcp_plan *plan, const char *problem,
                       const struct rmcp_check_difference *d, char *line, size_t size)
{
    char got[32] = "never written";
    if (!d->unwritten) snprintf(got, sizeof got, "%.9g", (double)d->got);
    snprintf(line, size,
             "%s on %s, algorithm %s: %s element %" PRId64 ": %s, expected %.9g within %.3g",
             problem, plan->device->info.spec, plan->algo->name, d->tensor, d->element, got,
             d->expected.value, d->expected.allowed);
}

void rmcp_check_count_wrong(const rmcp_plan *plan, const void *problem,
                            const struct rmcp_check_difference *difference)
{
    char text[RMCP_CASE_MAX] = "", line[sizeof report.first];
    checked++;
    wrong++;
    rmcp_case_print(plan->request.operation, problem, text, sizeof text);
    write_line(plan, text, difference, line, sizeof line);
    const uint64_t hash = rmcp_hash_text(RMCP_HASH_START, text);
    bool told = false;
    pthread_mutex_lock(&report.lock);
    if (!*report.first) memcpy(report.first, line, sizeof line);
    for (size_t i = 0; i < report.n && !told; i++) told = report.told[i] == hash;
    if (!told && report.n < MOST_LINES) {
        report.told[report.n++] = hash;
        fprintf(stderr, "rmcp: check: %s\n", line);
    }
    pthread_mutex_unlock(&report.lock);
}

rmcp_status rmcp_check_describe(rmcp_check_info *info)
{
    rmcp_check_info ours = { .struct_size = sizeof ours,
                             .on = rmcp_check_is_on(),
                             .checked = checked,
                             .skipped = skipped,
                             .wrong = wrong };
    pthread_mutex_lock(&report.lock);
    memcpy(ours.first, report.first, sizeof ours.first);
    pthread_mutex_unlock(&report.lock);
    return rmcp_struct_write(&ours, sizeof ours, info, RMCP_FIRST_CHECK_INFO, "rmcp_check_info");
}
