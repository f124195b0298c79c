/* model.h: the parts of the model: units of instructions, caches, compute units, the card. Times
 * are clocks of the engine from the begin of the replay. */
#ifndef RMCP_SIM_TIMING_MODEL_H
#define RMCP_SIM_TIMING_MODEL_H

#include "sim/timing/timing.h"

/* ---- unit.c: what an instruction occupies ---- */

enum unit {
    UNIT_VALU,
    UNIT_TRANS, /* a slot of the vector unit, and the transcendental unit */
    UNIT_SALU,
    UNIT_SMEM,
    UNIT_LDS,
    UNIT_LOAD,  /* vector memory that vmcnt counts */
    UNIT_STORE, /* and vscnt                       */
    UNIT_BRANCH,
    UNIT_WAIT,
    UNIT_BARRIER,
    UNIT_END,
    UNIT_OTHER,
    N_UNITS
};

enum { MOST_REGISTERS = 40, N_REGISTERS = 256 + 128 + 1, NO_WAIT = 255 };

struct unit_inst {
    uint64_t address;
    uint8_t unit, bytes;
    uint8_t clocks, latency; /* of a wave32 on its unit; of the result */
    uint8_t n_read, n_write; /* in reg: first those read               */
    uint8_t wait[3];         /* s_waitcnt: vm, lgkm, vs; or NO_WAIT    */
    bool fma, typed;
    uint16_t reg[MOST_REGISTERS]; /* VGPRs, then SGPRs from 256 on, 384 is SCC */
};
void unit_of(const struct record_inst *inst, const struct timing_values *values,
             struct unit_inst *out);

/* ---- cache.c ---- */

/* Sets of lines with least recent use. `ready` is when a line that is on its way arrives. */
struct cache_line {
    uint64_t tag; /* line number + 1; 0: empty */
    uint32_t used, ready;
    uint32_t dirty; /* bytes written, at most those of a line */
};
struct cache {
    struct cache_line *lines;
    unsigned ways;
    uint64_t sets;
    uint32_t clock;
};
bool cache_init(struct cache *cache, uint64_t bytes, unsigned line_bytes, double ways);
void cache_deinit(struct cache *cache);
/* The line, now the most recent one; NULL: it is not there. */
struct cache_line *cache_find(struct cache *cache, uint64_t line);
/* Put a line in the place of the oldest, of which `*dirty` bytes have to be written. */
struct cache_line *cache_put(struct cache *cache, uint64_t line, uint32_t *dirty);

/* Bytes of a path in each piece of time. Requests may come in any order. */
enum { LEDGER_CLOCKS = 32, LEDGER_PIECES = 8192 };
struct ledger_piece {
    uint32_t number;
    float bytes;
    uint32_t skip; /* the first piece that may have room */
};
struct ledger {
    float room; /* of a piece */
    struct ledger_piece *pieces;
};
bool ledger_init(struct ledger *ledger, double bytes_per_clock);
void ledger_deinit(struct ledger *ledger);
/* Clocks that a request waits which arrives at `time`. */
uint32_t ledger_take(struct ledger *ledger, uint32_t time, double bytes);

/* ---- memory.c: behind L0 ---- */

struct array {
    struct cache l1;
    struct ledger path;
};
struct memory {
    const struct timing_values *values;
    struct array *arrays;
    unsigned n_arrays, n_slices;
    struct cache l2;
    struct ledger *slices, *dram; /* a memory channel for each slice of L2 */
    uint32_t dram_latency, last;  /* last: when the last request was done  */
    struct timing_counts *counts;
};
struct chip;
/* The memory of a card, `share` of it where only a part of the WGPs is replayed. */
bool memory_init(struct memory *memory, const struct timing_card *card,
                 const struct timing_values *values, double share);
void memory_deinit(struct memory *memory);
/* A line that L0 (or another cache of the WGP) lacks, asked for at `time`: when it is there. */
uint32_t memory_load(struct memory *memory, unsigned array, uint64_t line, uint32_t time);
/* Bytes to a line: when L2 has taken them; `*queued`: clocks of it spent in queues. */
uint32_t memory_store(struct memory *memory, unsigned array, uint64_t line, unsigned bytes,
                      uint32_t time, uint32_t *queued);

/* ---- wgp.c: waves on SIMDs ---- */

enum { MOST_WAVES = 32, N_SIMDS = 4 };
#define FOR_EVER UINT32_MAX

/* Completion times of what a counter counts, oldest first. */
struct ring {
    uint32_t done[64];
    unsigned head, n;
    uint32_t last;
    bool scalar; /* one of them is a scalar load */
};

struct group {
    const struct record_group *record;
    unsigned n_alive, n_waiting; /* waves; at the barrier */
    struct twave *waves;         /* of the record, in its order */
    uint32_t begin, end;
    unsigned wgp, half; /* half: of its compute units, in CU mode */
    uint32_t lds;       /* bytes taken */
};

struct twave {
    const struct record_wave *record;
    struct group *group;
    size_t at, data;
    uint32_t previous; /* when the last instruction was issued */
    uint32_t ready;    /* earliest time of the next            */
    uint8_t reason;    /* enum timing_reason: why not earlier  */
    uint8_t unit;      /* of the next                          */
    uint8_t simd;
    bool at_barrier;
    uint64_t fetched; /* line of instructions */
    struct ring vm, lgkm, vs;
    uint32_t registers[N_REGISTERS];
};

struct simd {
    struct twave *waves[MOST_WAVES]; /* oldest first */
    unsigned n_waves;
    uint32_t next; /* nothing to do before */
    uint32_t valu_free, trans_free;
    unsigned vgprs; /* taken */
};

struct unit_pair { /* a compute unit */
    uint32_t lds_free, vmem_free;
    struct cache l0;
};

struct wgp {
    struct chip *chip;
    struct simd simds[N_SIMDS];
    struct unit_pair units[2];
    struct cache scalar, instructions;
    unsigned array, engine, n_groups;
    uint32_t lds[2]; /* bytes taken, of each half */
    uint32_t last;   /* when the last group ended */
};

/* Issue what can be issued from `from` until before `until`. */
void wgp_run(struct wgp *wgp, uint32_t from, uint32_t until);
/* A wave that has its place becomes ready at `time`. */
void wave_start(struct wgp *wgp, struct twave *wave, uint32_t time);

/* ---- access.c: instructions that reach memory; true: when the result is there ---- */
void issue_lds(struct wgp *wgp, struct twave *wave, uint32_t time, uint32_t step);
void issue_scalar(struct wgp *wgp, struct twave *wave, uint32_t time, uint32_t step);
void issue_vmem(struct wgp *wgp, struct twave *wave, const struct unit_inst *inst, uint32_t time,
                uint32_t step);
void ring_push(struct ring *ring, uint32_t done);

/* ---- chip.c ---- */

struct chip {
    const struct timing_card *card;
    const struct timing_values *values;
    const struct sim_recorder *recorder;
    struct unit_inst *insts;
    struct wgp *wgps;
    unsigned n_wgps, n_engines;
    struct memory memory;
    struct group *groups;
    size_t n_groups, next, n_done;
    uint32_t *engine_free;
    unsigned next_engine;
    uint32_t vgprs; /* of a wave, in whole granules, in rows of 32 lanes */
    struct timing_counts counts;
    struct timing_picture *picture; /* of `pictured`, or NULL */
    const struct group *pictured;
};

/* Replay groups (indices into recorder->groups) on so many WGPs. */
struct replay {
    const struct timing_card *card;
    const struct timing_values *values;
    const struct sim_recorder *recorder;
    unsigned n_wgps;
    const size_t *groups;
    size_t n;
    struct timing_picture *picture;
};
rmcp_status chip_replay(const struct replay *replay, struct timing_counts *out);
/* A group has ended at `time`. */
void chip_group_ended(struct chip *chip, struct group *group, uint32_t time);
/* Workgroups that a WGP holds at a time, at least 1; `*limit` says what allows no more. */
unsigned chip_groups_at_a_time(const struct timing_card *card, const struct sim_recorder *recorder,
                               const char **limit);

/* ---- picture.c ---- */
void picture_begin(struct timing_picture *picture, unsigned n_waves);
void picture_add(struct timing_picture *picture, unsigned wave, uint32_t from, uint32_t to,
                 unsigned what); /* enum timing_reason, or TIMING_N_REASONS + enum unit */

#endif
