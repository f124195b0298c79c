/* summary.c: what happened in all processes: counters in a shared file, findings and statistics as
 * lines of text. */
#define _GNU_SOURCE
#include "base/hash.h"
#include "sim/driver/driver.h"

#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { REMEMBERED = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Counters that count nowhere, where the file cannot be mapped. */
static struct sim_summary lost;

static struct sim_summary *summary(void)
{
    static struct sim_summary *_Atomic mapped;
    struct sim_summary *s = atomic_load(&mapped);
    if (s) return s;
    char path[4096];
    snprintf(path, sizeof path, "%s/" SIM_FILE_SUMMARY, driver_root());
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_CREAT, 0666);
    s = &lost;
    if (fd >= 0 && !ftruncate(fd, sizeof *s)) {
        void *map = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (map != MAP_FAILED) s = map;
    }
    if (fd >= 0) close(fd);
    atomic_store(&mapped, s);
    return s;
}

void summary_append(const char *file, const char *line, size_t bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", driver_root(), file);
    summary_write(path, line, bytes);
}

/* Whole lines, so that those of several processes do not mix. */
void summary_write(const char *path, const char *line, size_t bytes)
{
    const int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return;
    if (write(fd, line, bytes) < 0) driver_log("cannot write to %s", path);
    close(fd);
}

void summary_forget(void)
{
    pthread_mutex_init(&lock, NULL);
}

void summary_process(void)
{
    atomic_fetch_add(&summary()->processes, 1);
}

void summary_dispatch(const char *kernel, const struct gpu *gpu, const struct sim_result *result,
                      uint64_t ns)
{
    const struct sim_stats *s = &result->stats;
    uint64_t instructions = 0;
    for (unsigned i = 0; i < SIM_N_CLASSES; i++) instructions += s->instructions[i];
    atomic_fetch_add(&summary()->kernels, 1);
    atomic_fetch_add(&summary()->instructions, instructions);
    _Static_assert(sizeof lost.acted_out / sizeof *lost.acted_out >= ISA_N_RULES, "one each");
    for (unsigned i = 0; i < ISA_N_RULES && driver.options.act_out; i++)
        atomic_fetch_add(&summary()->acted_out[i], result->acted_out[i]);
    driver_log("%s: %s, %llu instructions", kernel, result->completed ? "done" : "ended early",
               (unsigned long long)instructions);
    if (!driver.options.stats) return;
    char line[1024];
    int n = snprintf(line, sizeof line, "%s %s %llu %llu %llu %llu %llu %llu", kernel,
                     gpu->card->card, (unsigned long long)ns, (unsigned long long)s->waves,
                     (unsigned long long)s->bytes_loaded, (unsigned long long)s->bytes_stored,
                     (unsigned long long)s->lds_loaded, (unsigned long long)s->lds_stored);
    for (unsigned i = 0; i < SIM_N_CLASSES; i++)
        n += snprintf(line + n, sizeof line - (size_t)n, " %llu",
                      (unsigned long long)s->instructions[i]);
    line[n++] = '\n';
    summary_append(SIM_FILE_STATS, line, (size_t)n);
}

/* Whether this process says it for the first time. */
static bool is_new(uint64_t key)
{
    static uint64_t seen[REMEMBERED];
    bool new = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0, at = key % REMEMBERED; i < REMEMBERED; i++, at = (at + 1) % REMEMBERED) {
        if (seen[at] == key) break;
        if (seen[at]) continue;
        seen[at] = key;
        new = true;
        break;
    }
    pthread_mutex_unlock(&lock);
    return new;
}

static void finding(uint64_t key, const char *line, size_t n)
{
    atomic_fetch_add(&summary()->happened, 1);
    if (!is_new(key | 1)) return;
    atomic_fetch_add(&summary()->findings, 1);
    summary_append(SIM_FILE_REPORTS, line, n);
}

void summary_report(const struct gpu *gpu, const struct sim_report *r)
{
    char line[2048], lanes[48] = "";
    if (r->lanes) snprintf(lanes, sizeof lanes, " lanes 0x%llx", (unsigned long long)r->lanes);
    int n = snprintf(
        line, sizeof line - 1,
        "%s: kernel %.200s on %s, +0x%llx (0x%llx): %.200s; workgroup %u,%u,%u wave %u%s: %.900s",
        sim_kind_name(r->kind), r->kernel ? r->kernel : "?", gpu->card->card,
        (unsigned long long)r->offset, (unsigned long long)r->address,
        *r->instruction ? r->instruction : "not an instruction", r->workgroup[0], r->workgroup[1],
        r->workgroup[2], r->wave, lanes, r->reason);
    if (n >= (int)sizeof line - 1) n = (int)sizeof line - 2;
    line[n++] = '\n';
    uint64_t key = RMCP_HASH_START;
    key = rmcp_hash(key, r->kernel ? r->kernel : "", r->kernel ? strlen(r->kernel) : 0);
    key = rmcp_hash(key, &r->offset, sizeof r->offset);
    key = rmcp_hash(key, &r->kind, sizeof r->kind);
    key = rmcp_hash(key, &r->rule, sizeof r->rule);
    finding(key, line, (size_t)n);
}

void summary_hang(const char *kernel)
{
    char line[512];
    const int n = snprintf(
        line, sizeof line,
        "rmcp sim: kernel %.300s hangs the simulated card, as it would a real one\n", kernel);
    if (n > 0 && write(2, line, (size_t)n) < 0) return;
}

void summary_finding(const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (n >= (int)sizeof line - 1) n = (int)sizeof line - 2;
    driver_log("%s", line);
    line[n++] = '\n';
    finding(rmcp_hash(RMCP_HASH_START, line, (size_t)n), line, (size_t)n);
}
