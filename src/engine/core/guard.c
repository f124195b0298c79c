/* guard.c: first use of an algorithm on a GPU: known, or tried now. */
#include "engine/core/guard.h"

#include "base/clock.h"
#include "base/hash.h"
#include "engine/core/guard_record.h"
#include "engine/core/trial.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum { MOST_KNOWN = 512, USUAL_LIMIT = 120, MOST_LIMIT = 3600 };

/* What this process has found or read to be good; bad findings only of its own trials. */
static struct {
    pthread_mutex_t lock;  /* of the table                           */
    pthread_mutex_t trial; /* one at a time                          */
    size_t n;
    struct {
        struct rmcp_guard_key key;
        struct rmcp_guard_finding finding;
    } known[MOST_KNOWN];
    char remarks[RMCP_GUARD_N_SUBJECTS][RMCP_GUARD_REMARK_MAX];
} guard = { .lock = PTHREAD_MUTEX_INITIALIZER, .trial = PTHREAD_MUTEX_INITIALIZER };

bool rmcp_guard_applies(const struct rmcp_driver *driver)
{
    const char *text = getenv("RMCP_GUARD");
    return driver->guarded && !(text && !strcmp(text, "0"));
}

/* ---- keys ---- */

static struct utsname kernel; /* it stays what it is; empty when it cannot be asked */

static void ask_kernel(void)
{
    if (uname(&kernel) < 0) kernel.release[0] = '\0';
}

static void write_device(const rmcp_device_info *info, char text[static 20])
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, ask_kernel);
    uint64_t digest = rmcp_hash_text(RMCP_HASH_START, info->chip);
    digest = rmcp_hash_text(digest, info->driver);
    digest = rmcp_hash_text(digest, rmcp_version());
    if (*kernel.release) digest = rmcp_hash_text(digest, kernel.release);
    snprintf(text, 20, "%016" PRIx64, digest);
}

static struct rmcp_guard_key key_of(const rmcp_device_info *info,
                                    const struct rmcp_operation *operation,
                                    const struct rmcp_algo *algo, rmcp_type type)
{
    struct rmcp_guard_key key;
    memset(&key, 0, sizeof key);
    write_device(info, key.device);
    /* As in case strings, one operation's go without its name. */
    snprintf(key.algorithm, sizeof key.algorithm, "%.16s%s%.32s/%u",
             operation->nameless ? "" : operation->name, operation->nameless ? "" : ".", algo->name,
             (unsigned)algo->version);
    snprintf(key.type, sizeof key.type, "%s", rmcp_type_names[type]);
    return key;
}

/* ---- what this process knows ---- */

static bool recall(const struct rmcp_guard_key *key, struct rmcp_guard_finding *out)
{
    bool found = false;
    pthread_mutex_lock(&guard.lock);
    for (size_t i = 0; i < guard.n && !found; i++) {
        found = !memcmp(&guard.known[i].key, key, sizeof *key);
        if (found) *out = guard.known[i].finding;
    }
    pthread_mutex_unlock(&guard.lock);
    return found;
}

static void remember(const struct rmcp_guard_key *key, const struct rmcp_guard_finding *finding)
{
    pthread_mutex_lock(&guard.lock);
    if (guard.n < MOST_KNOWN) {
        guard.known[guard.n].key = *key;
        guard.known[guard.n++].finding = *finding;
    }
    pthread_mutex_unlock(&guard.lock);
}

void rmcp_guard_say(enum rmcp_guard_subject subject, const char *text)
{
    pthread_mutex_lock(&guard.lock);
    snprintf(guard.remarks[subject], sizeof guard.remarks[subject], "%s", text);
    pthread_mutex_unlock(&guard.lock);
}

void rmcp_guard_remark(char text[static RMCP_GUARD_REMARK_MAX])
{
    size_t used = 0;
    *text = '\0';
    pthread_mutex_lock(&guard.lock);
    for (size_t i = 0; i < RMCP_GUARD_N_SUBJECTS && used < RMCP_GUARD_REMARK_MAX; i++)
        if (*guard.remarks[i])
            used += (size_t)snprintf(text + used, RMCP_GUARD_REMARK_MAX - used, "%s%s",
                                     used ? "; " : "", guard.remarks[i]);
    pthread_mutex_unlock(&guard.lock);
}

/* ---- looking ---- */

struct rmcp_guard_finding rmcp_guard_look(const rmcp_device_info *info,
                                          const struct rmcp_operation *operation,
                                          const struct rmcp_algo *algo, rmcp_type type)
{
    const struct rmcp_guard_key key = key_of(info, operation, algo, type);
    struct rmcp_guard_finding finding;
    if (recall(&key, &finding)) return finding;
    rmcp_guard_record_read(&key, &finding);
    if (finding.state == RMCP_GUARD_GOOD) remember(&key, &finding);
    if (finding.state != RMCP_GUARD_TRYING) return finding;
    if (!rmcp_guard_is_locked()) {
        /* The lock may just have been given up after a finding. */
        rmcp_guard_record_read(&key, &finding);
        if (finding.state == RMCP_GUARD_TRYING) finding.state = RMCP_GUARD_CRASHED;
    } else {
        finding.reason[0] = '\0';
    }
    return finding;
}

/* ---- trying ---- */

static unsigned time_limit(void)
{
    const char *text = getenv("RMCP_GUARD_LIMIT");
    const long seconds = text ? strtol(text, NULL, 10) : 0;
    return seconds > 0 && seconds <= MOST_LIMIT ? (unsigned)seconds : USUAL_LIMIT;
}

static struct rmcp_guard_finding try_out(rmcp_device *device, const struct rmcp_guard_key *key,
                                         const struct rmcp_trial *trial, struct rmcp_wait *wait)
{
    if (!rmcp_guard_record_add(key, RMCP_GUARD_TRYING, ""))
        rmcp_guard_say(
            RMCP_GUARD_ON_RECORD,
            "first use: the cache folder cannot be written, so findings are not remembered");
    struct rmcp_guard_finding finding = rmcp_trial_apart(device, trial, time_limit(), wait);
    if (finding.state == RMCP_GUARD_UNTRIED) finding = rmcp_trial_here(device, trial, wait);
    rmcp_guard_record_add(key, finding.state, finding.reason);
    return finding;
}

/* Other processes may be trying. */
static int lock(struct rmcp_wait *wait)
{
    const int failed = rmcp_guard_lock(RMCP_LONG_WAIT);
    if (failed != EWOULDBLOCK) return failed;
    rmcp_wait_tell(wait);
    return rmcp_guard_lock(time_limit() + 10.0 - RMCP_LONG_WAIT);
}

/* Known by now, or tried. Called by one thread at a time. */
static struct rmcp_guard_finding settle(rmcp_device *device, const struct rmcp_guard_key *key,
                                        const struct rmcp_trial *trial)
{
    struct rmcp_guard_finding finding;
    if (recall(key, &finding)) return finding;
    struct rmcp_wait wait = { .start = rmcp_clock() };
    snprintf(wait.line, sizeof wait.line,
             "first use of %s %s on %s (%s): small problems are tried before; once, and for up to "
             "%u seconds",
             trial->algo->name, key->type, device->info.spec, device->info.chip, time_limit());
    if (lock(&wait) == EWOULDBLOCK) {
        finding = (struct rmcp_guard_finding){ .state = RMCP_GUARD_TRYING,
                                               .reason = "another process is still trying it" };
        return finding;
    }
    rmcp_guard_record_read(key, &finding);
    if (finding.state == RMCP_GUARD_TRYING) /* and who did that no longer holds the lock */
        finding.state = RMCP_GUARD_CRASHED;
    if (finding.state == RMCP_GUARD_UNTRIED) {
        finding = try_out(device, key, trial, &wait);
        if (finding.state != RMCP_GUARD_UNTRIED) remember(key, &finding);
    } else if (finding.state == RMCP_GUARD_GOOD) {
        remember(key, &finding);
    }
    rmcp_guard_unlock();
    return finding;
}

rmcp_status rmcp_guard_admit(rmcp_device *device, const struct rmcp_operation *operation,
                             const struct rmcp_algo *algo, rmcp_type type)
{
    if (!rmcp_guard_applies(device->driver)) return RMCP_OK;
    const struct rmcp_guard_key key = key_of(&device->info, operation, algo, type);
    struct rmcp_guard_finding finding;
    if (!recall(&key, &finding)) {
        const struct rmcp_trial trial = rmcp_trial_of(device, operation, algo, type);
        if (!trial.n_cases) return RMCP_OK;
        pthread_mutex_lock(&guard.trial);
        finding = settle(device, &key, &trial);
        pthread_mutex_unlock(&guard.trial);
    }
    if (finding.state == RMCP_GUARD_GOOD) return RMCP_OK;
    if (finding.state == RMCP_GUARD_UNTRIED) /* and tried again next time */
        return rmcp_fail(finding.status, "%s could not be tried: %s", algo->name, finding.reason);
    return rmcp_fail(RMCP_E_UNSUPPORTED, "%s: %s; rmcp devices --forget to try again", algo->name,
                     finding.reason);
}

/* ---- forgetting ---- */

rmcp_status rmcp_guard_forget(const rmcp_device_info *info)
{
    struct rmcp_guard_key key = { .device = "*", .algorithm = "*", .type = "*" };
    if (info) write_device(info, key.device);
    pthread_mutex_lock(&guard.lock);
    guard.n = 0;
    pthread_mutex_unlock(&guard.lock);
    if (rmcp_guard_record_add(&key, RMCP_GUARD_UNTRIED, "")) return RMCP_OK;
    return rmcp_fail(RMCP_E_IO, "the record of first use cannot be written in the cache folder");
}
