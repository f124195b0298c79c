/* protocol.h: what `rmcp sim` and the library in the program tell each other: environment and
 * files. */
#ifndef RMCP_SIM_DRIVER_PROTOCOL_H
#define RMCP_SIM_DRIVER_PROTOCOL_H

#include "base/hash.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Environment. Without the folder made by `rmcp sim` the library does nothing. */
#define SIM_ENV_ROOT "RMCP_SIM_ROOT"
#define SIM_ENV_CHECKS "RMCP_SIM_CHECKS"   /* number: enum sim_check           */
#define SIM_ENV_THREADS "RMCP_SIM_THREADS" /* of the executor, for each kernel */
#define SIM_ENV_LIMIT "RMCP_SIM_LIMIT"     /* instructions of a wave           */
#define SIM_ENV_TRACE "RMCP_SIM_TRACE"     /* kernel to trace                  */
#define SIM_ENV_PLANT "RMCP_SIM_PLANT"     /* WHAT:KERNEL, see dispatch.c      */
#define SIM_ENV_ACT_OUT "RMCP_SIM_ACT_OUT" /* act_out* of struct sim_options   */
#define SIM_ENV_ACT_CHANCE "RMCP_SIM_ACT_CHANCE"
#define SIM_ENV_ACT_SEED "RMCP_SIM_ACT_SEED"
#define SIM_ENV_STATS "RMCP_SIM_STATS"             /* 1: a line for each dispatch      */
#define SIM_ENV_TIMING "RMCP_SIM_TIMING"           /* instructions of a kernel that are replayed */
#define SIM_ENV_TIMING_ONLY "RMCP_SIM_TIMING_ONLY" /* 1: no other workgroups are executed */
#define SIM_ENV_MHZ "RMCP_SIM_MHZ"                 /* clock of the model                */
#define SIM_ENV_LAUNCHES "RMCP_SIM_LAUNCHES"       /* file: a line for each launch */
#define SIM_ENV_LOG "RMCP_SIM_LOG"                 /* 1: ioctls and packets on stderr  */

/* Files in that folder. */
#define SIM_FILE_MACHINE "machine.card"
#define SIM_FILE_SUMMARY "summary"
#define SIM_FILE_REPORTS "reports.txt"
#define SIM_FILE_STATS "stats.txt"   /* see summary.c */
#define SIM_FILE_TIMING "timing.txt" /* see modelled.c */

/* The summary: counters of all processes. */
struct sim_summary {
    _Atomic uint64_t processes, kernels, instructions;
    _Atomic uint64_t findings;      /* lines of reports     */
    _Atomic uint64_t happened;      /* repetitions counted  */
    _Atomic uint64_t acted_out[16]; /* by enum isa_rule */
};

/* A line of launches is "CHIP DIGEST NAME": the chip that the code object is for ("-": the kernel
 * lies in none), and a digest (base/hash.h) of the object's flags, of the kernel's descriptor, with
 * the distance of its code, and of the code from its entry on, at most so many bytes of the
 * segment. */
enum { SIM_LAUNCH_DESCRIPTOR = 64, SIM_LAUNCH_CODE = 65536 };

static inline uint64_t sim_launch_digest(uint32_t flags, const void *descriptor, const void *code,
                                         size_t n_code)
{
    const void *parts[] = { &flags, descriptor, code };
    const size_t sizes[] = { sizeof flags, SIM_LAUNCH_DESCRIPTOR, n_code };
    uint64_t digest = RMCP_HASH_START;
    for (unsigned part = 0; part < 3; part++) digest = rmcp_hash(digest, parts[part], sizes[part]);
    return digest;
}

#endif
