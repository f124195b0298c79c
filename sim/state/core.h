/* core.h: what runs the workgroups of a dispatch, one at a time. */
#ifndef RMCP_SIM_STATE_CORE_H
#define RMCP_SIM_STATE_CORE_H

#include <pthread.h>
#include <stdatomic.h>

#include "sim/state/code.h"
#include "sim/state/wave.h"

enum {
    MAX_WAVES = 32,    /* of a workgroup: 1024 work-items in wave32 */
    LDS_BYTES = 65536, /* most that a workgroup gets                */
    LDS_GRANULE = 512, /* in which the chip hands it out            */
    N_TLB = 8,
    N_TOLD = 1024,
};

struct record_group;

/* A thread has one; more when workgroups wait for each other. */
struct core {
    struct core *next; /* of the same thread, in a ring */
    bool busy;         /* has a workgroup that has not ended */
    struct sim *sim;
    struct run *run;
    unsigned number;
    struct sim_mapping tlb[N_TLB];
    unsigned tlb_last, tlb_next;
    uint32_t group_bytes; /* of LDS that there are, in whole granules */
    uint32_t workgroup[3];
    unsigned n_waves;
    struct wave *waves;
    uint32_t *vgprs, *vgpr_bits;
    uint8_t *lds, *lds_written; /* lds_written: 1 for bytes that were, with all their bits */
    uint16_t *lds_rest;         /* of the others: see local.c                              */
    bool lds_has_rest;
    uint32_t lds_whole; /* so many bytes from 0 on are written, as known at the last barrier */
    struct store *stores;
    bool watch_lds, watch_memory; /* stores of this workgroup matter to its other waves */
    uint32_t crossed;             /* waves with crossed stores, see stores.c            */
    struct record_group *record;  /* of this workgroup, or NULL */
    struct sim_stats stats;
    uint64_t patterns[ISA_N_RULES];  /* executed, not yet in the result */
    uint64_t acted_out[ISA_N_RULES]; /* the same of effects             */
    uintptr_t told[N_TOLD];          /* instructions and rules that a report has named */
    uint64_t address[MAX_LANES];
    /* Rows for operands and results while an instruction runs. */
    _Alignas(64) uint32_t row[12][MAX_LANES];
    _Alignas(64) uint32_t result[4][MAX_LANES];
};

/* One dispatch. */
struct run {
    struct sim *sim;
    const struct sim_dispatch *dispatch;
    struct sim_result *result;
    uint32_t n_groups[3];
    uint64_t n_total;
    atomic_uint_fast64_t next;
    atomic_bool stop;
    atomic_uint_fast64_t next_place; /* of those in scratch that have no core yet */
    uint64_t places, most;           /* workgroups at a time: of all threads, of one */
    unsigned waves_per_group;        /* of a full workgroup */
    unsigned n_lanes, n_vgprs;
    uint64_t scratch, wave_bytes, scratch_bytes;
    uint32_t descriptor[4];
    bool wgp_mode, has_bugs;
    uint32_t checks, act_out;
    pthread_mutex_t lock; /* result and reports */
    struct seen *seen;
    size_t n_seen, seen_room;
    rmcp_status status;
};

/* What a kernel took that ran before, to know whether a second thread is worth it. */
enum { N_TAKEN = 256 };
struct taken {
    uint64_t entry, workgroups;
    uint64_t instructions;
};

struct sim {
    struct sim_options options;
    struct sim_memory memory;
    struct code code[2]; /* wave32, wave64 */
    const struct lanes *lanes;
    struct core *cores;
    unsigned n_cores;
    struct taken taken[N_TAKEN]; /* by entry */
    uint8_t *scratch;            /* the executor's own */
    uint64_t scratch_bytes;
};

#endif
