/* plan_cache.c: what was measured, remembered between processes. */
#include "engine/core/plan_cache.h"

#include "base/cache_path.h"
#include "base/hash.h"
#include "base/log.h"
#include "engine/core/scalars.h"

#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PATH = 1024, MOST_LINE = RMCP_CASE_MAX + 160, MOST_FILES = 256 };
static const struct rmcp_log_kind kind = { .checked = true,
                                           .mode = 0600,
                                           .most_bytes = INT64_C(32) << 20 };

/* What is known, by hash of "DIGEST OPTIONS CASE". Open addressing; grows by doubling. */
struct entry {
    uint64_t key; /* 0: free */
    char algorithm[32];
};

static struct {
    pthread_mutex_t lock; /* of everything here */
    bool loaded;
    struct entry *entries;
    size_t n_entries, room; /* room: a power of two */
    size_t n_damaged;
    char remark[256];
} cache = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- the table ---- */

static struct entry *slot_of(struct entry *entries, size_t room, uint64_t key)
{
    size_t at = (size_t)key & (room - 1);
    while (entries[at].key && entries[at].key != key) at = (at + 1) & (room - 1);
    return &entries[at];
}

static bool grow(void)
{
    size_t room = cache.room ? 2 * cache.room : 256;
    struct entry *entries = calloc(room, sizeof *entries);
    if (!entries) return false;
    for (size_t i = 0; i < cache.room; i++)
        if (cache.entries[i].key) *slot_of(entries, room, cache.entries[i].key) = cache.entries[i];
    free(cache.entries);
    cache.entries = entries;
    cache.room = room;
    return true;
}

/* Later lines win. Forgotten when memory is short: it is only a cache. */
static void remember(uint64_t key, const char *algorithm)
{
    if (2 * cache.n_entries >= cache.room && !grow()) return;
    struct entry *e = slot_of(cache.entries, cache.room, key);
    if (!e->key) cache.n_entries++;
    e->key = key;
    snprintf(e->algorithm, sizeof e->algorithm, "%s", algorithm);
}

static uint64_t key_of(const char *text)
{
    uint64_t key = rmcp_hash_text(RMCP_HASH_START, text);
    return key ? key : 1;
}

/* ---- reading ---- */

/* "DIGEST OPTIONS CASE ALGORITHM SECONDS" */
static bool take_line(void *context, char *line)
{
    (void)context;
    char *words[5], *rest = line;
    for (int i = 0; i < 5; i++) {
        words[i] = rest;
        rest = strchr(rest, ' ');
        if (!rest != (i == 4)) return false;
        if (rest) *rest++ = '\0';
    }
    char text[RMCP_LOG_LINE_MAX];
    snprintf(text, sizeof text, "%s %s %s", words[0], words[1], words[2]);
    remember(key_of(text), words[3]);
    return true;
}

static void read_file(const char *path)
{
    struct rmcp_log log;
    if (rmcp_log_open(&log, &kind, path, false)) return;
    const size_t damaged = rmcp_log_read(&log, take_line, NULL);
    rmcp_log_close(&log);
    if (damaged) {
        cache.n_damaged += damaged;
        snprintf(cache.remark, sizeof cache.remark,
                 "plan cache: %zu damaged line%s passed over, last in %.160s", cache.n_damaged,
                 cache.n_damaged > 1 ? "s" : "", path);
    }
}

static void load(void)
{
    char folder[MOST_PATH], path[MOST_PATH + 300];
    cache.loaded = true;
    if (!rmcp_cache_path("plans", folder, sizeof folder)) return;
    DIR *listing = opendir(folder);
    if (!listing) return;
    struct dirent *item;
    for (int n = 0; n < MOST_FILES && (item = readdir(listing));) {
        size_t length = strlen(item->d_name);
        if (length < 5 || strcmp(item->d_name + length - 4, ".txt")) continue;
        snprintf(path, sizeof path, "%s/%s", folder, item->d_name);
        read_file(path);
        n++;
    }
    closedir(listing);
}

/* ---- keys ---- */

static bool write_key(const rmcp_device *device, const struct rmcp_request *request,
                      uint64_t max_workspace, char *text, size_t size)
{
    uint64_t digest = rmcp_hash_text(RMCP_HASH_START, device->info.name);
    digest = rmcp_hash_text(digest, device->info.chip);
    digest = rmcp_hash_text(digest, device->info.driver);
    digest = rmcp_hash(digest, &device->info.compute_units, sizeof device->info.compute_units);
    digest = rmcp_hash(digest, &request->max_error, sizeof request->max_error);
    for (const struct rmcp_algo *const *algo = request->operation->algos; *algo; algo++) {
        digest = rmcp_hash_text(digest, (*algo)->name);
        digest = rmcp_hash(digest, &(*algo)->version, sizeof(*algo)->version);
    }
    /* What executions bring is not part of it. */
    double scalars[RMCP_MOST_SCALARS];
    struct rmcp_any_problem room;
    rmcp_scalars_usual(request->operation, request->problem, scalars);
    const void *usual = rmcp_scalars_in(request->operation, request->problem, scalars, &room);
    char problem[RMCP_CASE_MAX];
    if (rmcp_case_print(request->operation, usual, problem, sizeof problem)) return false;
    int length = snprintf(text, size, "%016" PRIx64 " %c%c%c%" PRIx64 " %s", digest,
                          request->strict ? 's' : '-', request->deterministic ? 'd' : '-',
                          request->fixed_weights.base ? 'f' : '-', max_workspace, problem);
    return length > 0 && (size_t)length < size;
}

bool rmcp_plan_cache_find(const rmcp_device *device, const struct rmcp_request *request,
                          uint64_t max_workspace, char algorithm[static 32])
{
    char text[MOST_LINE];
    if (!write_key(device, request, max_workspace, text, sizeof text)) return false;
    pthread_mutex_lock(&cache.lock);
    if (!cache.loaded) load();
    const struct entry *e = cache.room ? slot_of(cache.entries, cache.room, key_of(text)) : NULL;
    const bool found = e && e->key;
    if (found) memcpy(algorithm, e->algorithm, sizeof e->algorithm);
    pthread_mutex_unlock(&cache.lock);
    return found;
}

/* ---- writing ---- */

static bool own_path(char *path, size_t size)
{
    return rmcp_cache_host_path("plans", ".txt", path, size) && rmcp_cache_make_folders(path);
}

void rmcp_plan_cache_add(const rmcp_device *device, const struct rmcp_request *request,
                         uint64_t max_workspace, const char *algorithm, double seconds)
{
    char key[MOST_LINE], line[MOST_LINE + 64], path[MOST_PATH];
    if (!write_key(device, request, max_workspace, key, sizeof key)) return;
    /* Nanoseconds, whole: no decimal point that a locale could turn into a comma. */
    int length = snprintf(line, sizeof line, "%s %s %" PRIu64 "ns", key, algorithm,
                          (uint64_t)(seconds * 1e9));
    if (length <= 0 || (size_t)length >= sizeof line) return;
    pthread_mutex_lock(&cache.lock);
    if (!cache.loaded) load();
    remember(key_of(key), algorithm);
    if (own_path(path, sizeof path)) rmcp_log_append_to(&kind, path, line);
    pthread_mutex_unlock(&cache.lock);
}

const char *rmcp_plan_cache_remark(void)
{
    return cache.remark;
}
