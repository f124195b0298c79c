/* timing.h: a model of the time that RDNA1 takes for what a recorder was told
 * (sim/record/record.h).
 *
 * Everything it gives is modelled: no RDNA1 card was at hand. docs/performance.md has the model
 * beside figures that others measured. */
#ifndef RMCP_SIM_TIMING_TIMING_H
#define RMCP_SIM_TIMING_TIMING_H

#include "sim/cards/cards.h"
#include "sim/record/record.h"

/* Parameters, as data/cards/rdna1.timing names and explains them. */
/* clang-format off */
#define TIMING_PARAMETERS(P)                                                                       \
    P(valu_latency_clk) P(trans_clk) P(trans_latency_clk) P(quarter_clk) P(quarter_latency_clk)    \
    P(wide_clk) P(wide_latency_clk) P(f64_clk) P(f64_latency_clk) P(salu_latency_clk)              \
    P(branch_clk) P(simd_vgprs) P(vgpr_granule) P(barrier_slots) P(lds_kb) P(lds_B_clk)            \
    P(lds_latency_clk) P(lds_queue_clk) P(l0_B_clk) P(l0_lines_clk) P(raw_extra_clk)               \
    P(l0_latency_clk) P(l0_ways) P(vmem_queue_clk) P(l1_B_clk) P(l1_latency_clk) P(l1_ways)        \
    P(l2_slice_B_clk) P(l2_latency_clk) P(l2_ways) P(dram_latency_ns) P(dram_efficiency)           \
    P(smem_latency_clk) P(scalar_ways) P(icache_ways) P(icache_miss_clk) P(icache_ahead_lines)     \
    P(barrier_clk) P(dispatch_waves_clk) P(group_start_clk) P(kernel_us) P(host_launch_us)
/* clang-format on */

struct timing_values {
#define P(name) double name;
    TIMING_PARAMETERS(P)
#undef P
};

enum timing_reading { TIMING_FAST, TIMING_USED, TIMING_SLOW, TIMING_N_READINGS };
struct timing_parameters {
    struct timing_values reading[TIMING_N_READINGS];
};

/* Read such a text; false: `error` names the line. */
bool timing_parse(const char *text, struct timing_parameters *out,
                  char error[static SIM_ERROR_MAX]);

/* A card with its parameters. */
struct timing_card {
    unsigned wgps, arrays, engines, waves_per_simd, slices;
    double mhz, dram_B_s;
    uint64_t l0_bytes, scalar_bytes, icache_bytes, l1_bytes, l2_bytes;
    struct timing_parameters parameters;
};

/* False: `error` says why this card has no model (its chip is not RDNA1). `mhz` 0: the card's
 * highest clock. */
bool timing_card_of(const struct sim_card *card, double mhz, struct timing_card *out,
                    char error[static SIM_ERROR_MAX]);

/* What waves spend their time on. */
enum timing_reason {
    TIMING_ISSUE,      /* issuing, one clock an instruction                    */
    TIMING_DEPENDENCE, /* a result of the vector or scalar unit                */
    TIMING_VALU,       /* the vector unit is busy with another wave            */
    TIMING_LDS,        /* the queue of LDS is full                             */
    TIMING_VMEM,       /* that of vector memory is                             */
    TIMING_WAIT_LDS,   /* s_waitcnt: LDS                                       */
    TIMING_WAIT_SMEM,  /* scalar loads                                         */
    TIMING_WAIT_LOAD,  /* vector loads                                         */
    TIMING_WAIT_STORE,
    TIMING_BARRIER,
    TIMING_BRANCH,
    TIMING_FETCH, /* instructions that are not in the cache                */
    TIMING_N_REASONS
};
const char *timing_reason_name(enum timing_reason reason);

enum timing_level { TIMING_L0, TIMING_L1, TIMING_L2, TIMING_DRAM, TIMING_N_LEVELS };

/* Of the workgroups that were replayed; shares are of the time from their begin to their end. */
struct timing_counts {
    uint64_t groups, waves, instructions;
    double clocks;                        /* from the first to the last                     */
    double wave_clocks[TIMING_N_REASONS]; /* summed over all waves                          */
    double busy_valu, busy_lds, busy_l0;  /* clocks summed over SIMDs, units, units         */
    double fma_clocks;                    /* of busy_valu: fp32 multiply-adds, all lanes on */
    double bytes_read[TIMING_N_LEVELS];   /* served by a level                              */
    double bytes_written;                 /* to L2                                          */
    double dram_written;
    double l0_hits, l0_misses; /* lines; misses on the way count once            */
    double tail;               /* clocks that WGPs have nothing left, on average */
};

struct timing_result {
    double clocks, seconds;            /* of the dispatch; seconds with kernel_us          */
    double fast_seconds, slow_seconds; /* by the other readings; 0: not asked for          */
    double spread;                     /* of samples, as a part of the time; 0: no sample  */
    bool sampled;
    unsigned wgps;             /* replayed; all of the card's, unless workgroups are too long */
    unsigned groups_at_a_time; /* of a WGP                                                   */
    const char *limit;         /* what allows no more: "waves", "vgprs", "lds", "barriers"  */
    double waves_per_simd;     /* in flight, on average                                     */
    double peak_fma, peak_valu, peak_lds, peak_l0, peak_l2, peak_dram; /* shares            */
    double replay_seconds;                                             /* of the host */
    struct timing_counts counts;
};

/* What to keep of a dispatch: all when it has at most `most_steps` instructions, else samples.
 * `only`: workgroups that are not sampled are not executed either. */
struct timing_sampler {
    uint64_t most_steps;
    bool only;
    /* private */
    struct sim_recorder *recorder;
    const struct timing_card *card;
    uint64_t n_first, middle, n_middle, full;
};
/* Make the recorder ask this sampler. `most_steps` 0: 32 million. */
void timing_sampler_init(struct timing_sampler *sampler, struct sim_recorder *recorder,
                         const struct timing_card *card, uint64_t most_steps, bool only);

struct timing_picture;

/* Model the dispatch in the recorder. `ranges`: also by the other readings. `picture` (may be NULL)
 * gets what the waves of one workgroup did. RMCP_E_NOMEM, RMCP_E_ARG: nothing was recorded. */
rmcp_status timing_estimate(const struct timing_sampler *sampler, bool ranges,
                            struct timing_picture *picture, struct timing_result *out);

/* ---- picture.c ---- */
struct timing_picture *timing_picture_create(void); /* or NULL */
void timing_picture_destroy(struct timing_picture *picture);
/* An SVG drawing: a row for each wave, time to the right. False: `out` has an error. */
bool timing_picture_write(const struct timing_picture *picture, const char *title, FILE *out);

#endif
