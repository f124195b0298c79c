/* guard_record.h: findings of first use on disk.
 *
 * Text under $XDG_CACHE_HOME/rmcp/first_use (else ~/.cache), one file per host, since what is known
 * is known of this machine: HOST.2.txt. (HOST.txt of earlier releases is not read: it may call
 * algorithms bad that an rmcp command which does not load has never tried.) One line per event, the
 * last one counts:
 *
 *     CHECKSUM DEVICE ALGORITHM TYPE STATE TIME PROCESS REASON
 *
 * DEVICE is a digest of chip, driver, kernel and library. STATE is trying, good, bad or forget
 * ("*" for algorithm and type, and perhaps for the device). Whoever tries holds a lock from before
 * "trying" is written until its finding is; a lock goes when its process does, so "trying" without
 * a lock is a process that did not survive. */
#ifndef RMCP_CORE_GUARD_RECORD_H
#define RMCP_CORE_GUARD_RECORD_H

#include "engine/core/guard.h"

/* What a line is about. */
struct rmcp_guard_key {
    char device[20];    /* digest, 16 digits     */
    char algorithm[64]; /* "direct/1"            */
    char type[8];       /* "f32"                 */
};

/* The last word of the file about `key`; TRYING is said as it stands there. False when there is no
 * file that could be read: then nothing is known. */
bool rmcp_guard_record_read(const struct rmcp_guard_key *key, struct rmcp_guard_finding *out);

/* Append a line and wait until it is on the disk. `state` is TRYING, GOOD, BAD or UNTRIED (forget).
 * False when that fails. */
bool rmcp_guard_record_add(const struct rmcp_guard_key *key, enum rmcp_guard_state state,
                           const char *reason);

/* Take the lock, waiting at most so long. Returns 0, EWOULDBLOCK when others hold it all the time,
 * or the errno of why there is no place for a lock. One thread at a time. */
int rmcp_guard_lock(double seconds);
void rmcp_guard_unlock(void); /* fine without the lock */

/* Whether anybody holds the lock. */
bool rmcp_guard_is_locked(void);

#endif
