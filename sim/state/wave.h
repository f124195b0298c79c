/* wave.h: a wave: its registers, what it waits for, and what is known of its values. */
#ifndef RMCP_SIM_STATE_WAVE_H
#define RMCP_SIM_STATE_WAVE_H

#include "sim/state/op.h"

enum wave_state { WAVE_RUN, WAVE_BARRIER, WAVE_DONE };

/* A load that has not been waited for. */
struct pending {
    uint64_t address; /* of its instruction */
    uint16_t first;   /* VGPR, or SGPR      */
    uint8_t n_regs;
    bool scalar;
    bool sampler; /* an image through a sampler */
};
enum { MAX_PENDING = 64 };
struct wait_queue {
    struct pending entry[MAX_PENDING]; /* first: the rest is cleared when a wave starts */
    unsigned head, n;
    uint64_t n_begun; /* since the wave started; the last n of them are in the queue   */
    bool unordered;   /* one that may return at any time is in it: only 0 says something */
    bool overlaps;    /* two entries may name the same register                          */
};

/* A store or atomic that others may not rely on yet; see stores.c. */
struct store {
    uint64_t instruction; /* address */
    uint64_t number;      /* of those that its counter has counted */
    uint64_t lanes, low, high;
    uint8_t counter; /* ISA_VMCNT, ISA_LGKMCNT or ISA_VSCNT     */
    uint8_t width;   /* bytes of a lane                         */
    bool lds, atomic;
    bool crossed; /* not waited for when its wave passed a barrier */
    uint64_t at[MAX_LANES];
};
enum { MAX_STORES = 128 };

/* Where in LDS a register that is not written as a whole was read; see local.c. */
struct origin {
    uint64_t instruction; /* address of the load */
    uint32_t address;     /* in LDS              */
    uint8_t bytes;
    bool stored; /* a register that was not written had been stored there */
};

/* What the pattern checks remember; see patterns.c. */
struct wave_facts {
    uint64_t vmem_read[2], smem_read[2]; /* SGPRs that memory instructions may still be reading */
    uint64_t vmem_cause, smem_cause, exec_cause, cmpx_cause, lds_cause;
    uint8_t live; /* classes with a fact */
    uint8_t lds;  /* LDS_* of patterns.c */
};

struct wave {
    uint64_t pc;
    uint64_t exec; /* also in sgpr[126], sgpr[127]; 32 bits in wave32   */
    uint64_t full; /* all lanes                                         */
    uint32_t *vgpr;
    unsigned n_lanes, n_vgprs, n_active;
    bool scc;
    uint8_t state;
    /* Registers that are not plainly there: being loaded, or not written in every lane. */
    uint64_t vgpr_attention[4], sgpr_attention[2];
    struct page *page;
    struct core *core;
    struct wave_facts facts;
    uint32_t mode;
    _Alignas(64) uint32_t sgpr[128];
    _Alignas(64) uint32_t exec_row[MAX_LANES]; /* all ones in active lanes */
    /* rare */
    unsigned number; /* in its workgroup */
    uint64_t n_instructions;
    uint64_t scratch;               /* flat_scratch: GPU address of this wave's scratch */
    uint64_t slot;                  /* the part of scratch that belongs to this wave    */
    uint32_t status;                /* hardware register, what s_setreg left there      */
    uint64_t n_stores, first_store; /* those from first_store on may matter; a ring */
    uint64_t vgpr_pending[4], sgpr_pending[2];
    uint64_t vgpr_defined[256]; /* lanes that were written   */
    uint64_t vgpr_partial[256]; /* other lanes of which some bits were: see partial.c      */
    uint32_t sgpr_defined[128]; /* bits that were written    */
    uint64_t from_lds[6];       /* registers with an `origin`: 128 SGPRs, then 256 VGPRs     */
    bool scc_defined;
    /* from here on not cleared when a wave starts, but for the numbers of the queues */
    struct wait_queue vm, lgkm, vs;
    /* acting out */
    const struct op *delayed[8];
    uint64_t delayed_pc[8];
    unsigned n_delayed;
    const struct op *exec_reader;
    uint32_t reader_sgpr[128];
    bool reader_scc;
    struct origin origin[384];
    uint32_t *vgpr_bits;  /* of vgpr_partial; rows as in vgpr; set before the wave starts */
    struct store *stores; /* MAX_STORES */
};

#endif
