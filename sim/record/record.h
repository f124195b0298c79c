/* record.h: what the waves of chosen workgroups executed, for a model of time: instructions in
 * their order, cache lines, LDS conflicts. Execution is the same with it and without. */
#ifndef RMCP_SIM_RECORD_RECORD_H
#define RMCP_SIM_RECORD_RECORD_H

#include "sim/sim.h"

/* An instruction of the kernel, once however often it was executed. */
struct record_inst {
    uint64_t address;
    struct isa_inst inst;
    struct isa_uses uses;
    uint8_t klass; /* enum sim_class */
};

/* A step is the number of an instruction, how many halves of the wave were on, and whether it has
 * data. */
enum {
    RECORD_INDEX = 0xffffff,
    RECORD_HALVES_SHIFT = 24,
    RECORD_HALVES = 3,
    RECORD_HAS_DATA = 1 << 26,
    RECORD_LINE_BYTES = 128,
};

/* Data, of steps that have some, in their order:
 * VMEM: the number of lines, bits 16-31 the bytes that lanes move, bit 32 set where it is scratch;
 *       then a word for each line: its number << 16 | bytes that lanes touch in it (at most 128
 *       times the lanes).
 * DS:   clocks that the banks take, each 128 bytes.
 * SMEM: address << 16 | bytes. */
struct record_wave {
    uint32_t *steps;
    uint64_t *data;
    size_t n_steps, n_data, steps_room, data_room;
};

struct record_group {
    uint64_t number; /* in the order of dispatch */
    unsigned n_waves;
    uint64_t n_steps; /* of all waves */
    struct record_wave *waves;
};

enum record_choice { RECORD_RUN, RECORD_KEEP, RECORD_SKIP };

/* One dispatch, filled by the executor, on one thread. Set `choose` and `context` before, and
 * sim_options.recorder; everything else begins as zeros. */
struct sim_recorder {
    /* What to do with a workgroup, asked in the order of dispatch. RECORD_SKIP: it is not executed,
     * so memory lacks its results. */
    enum record_choice (*choose)(void *context, uint64_t number, uint64_t n_total);
    void *context;

    struct sim_dispatch dispatch; /* as it was run; `kernel` is not kept */
    unsigned n_lanes, n_vgprs, waves_per_group;
    bool wgp_mode, failed; /* failed: too long, or memory ran out */
    uint64_t n_total;      /* workgroups of the dispatch */
    struct record_inst *insts;
    size_t n_insts, insts_room;
    struct record_group **groups; /* those kept */
    size_t n_groups, n_ended, groups_room;
    uint64_t n_steps, bytes;
    /* address to number, open addressing */
    uint64_t *keys;
    uint32_t *values;
    size_t table_size;
};

/* Forget the last dispatch; `choose` and `context` stay. */
void sim_recorder_clear(struct sim_recorder *recorder);

#endif
