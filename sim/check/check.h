/* check.h: what is checked while code executes, and how findings are told. */
#ifndef RMCP_SIM_CHECK_CHECK_H
#define RMCP_SIM_CHECK_CHECK_H

#include "sim/state/core.h"

/* ---- report.c ---- */
struct finding {
    enum sim_kind kind;
    int rule;
    uint64_t address; /* of the instruction; op may be NULL then */
    uint64_t lanes, data_address, cause;
    const struct isa_inst *elsewhere; /* what another chip takes the words for, or NULL */
};
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void report(struct wave *wave, const struct op *op, const struct finding *finding,
            const char *format, ...);
op_fn run_illegal; /* reports an instruction that there is not, or that has no semantics here */

/* ---- waits.c ---- */
/* The instruction touches a register that is being loaded or was not written: before it runs. */
void attend(struct wave *wave, const struct op *op);
void wave_load_begins(struct wave *wave, const struct op *op, unsigned counter, bool unordered);
void wave_counts(struct wave *wave, struct wait_queue *queue);
void wave_wait(struct wave *wave, struct wait_queue *queue, unsigned left);
void set_vgpr_defined(struct wave *wave, unsigned v, uint64_t lanes);
void set_sgpr_defined(struct wave *wave, unsigned s, uint32_t bits);
void define_vgprs(struct wave *wave, unsigned first, unsigned n, uint64_t lanes);
void define_sgprs(struct wave *wave, unsigned first, unsigned n);

/* ---- undefined.c ---- */
void undefined_before(struct wave *wave, const struct op *op);
/* `bits` of a register reach something (`where`) in some lanes: were they written? */
void undefined_vgpr(struct wave *wave, const struct op *op, unsigned v, uint64_t lanes,
                    uint32_t bits, const char *where);

/* ---- partial.c ---- */
/* The bits of a lane that were written. */
uint32_t vgpr_bits(const struct wave *wave, unsigned v, unsigned lane);
/* Of a lane that is not written as a whole. */
void partial_set(struct wave *wave, unsigned v, unsigned lane, uint32_t bits);
/* The lanes of a result that are written as a whole though not all of its sources are, after
 * setting those that are in part. */
uint64_t partial_result(struct wave *wave, const struct op *op, uint64_t lanes);
/* The same for a scalar result, from the bits of two sources. */
uint64_t partial_scalar(const struct wave *wave, const struct op *op, uint64_t d0, uint64_t d1);

/* ---- local.c ---- */
/* LDS of a workgroup that starts; `watched`: nothing in it counts as written. */
void local_begin(struct core *core, bool watched);
void local_barrier(struct core *core); /* finds out how much from 0 on is written */
/* `bytes` of LDS, all of them there, that get a value, or the written bits of one (at most 4). */
void local_define(struct core *core, uint32_t address, unsigned bytes);
void local_put(struct core *core, uint32_t address, unsigned bytes, uint32_t bits);
bool local_is_written(const struct core *core, uint32_t address, unsigned bytes);
/* The written bits of at most 4 bytes; those behind them count as written. */
uint32_t local_get(const struct core *core, uint32_t address, unsigned bytes);
/* A lane of a register gets a value of which only `bits` are written, read by `op` at an address of
 * LDS. */
void local_loaded(struct wave *wave, const struct op *op, unsigned v, unsigned lane, uint32_t bits,
                  uint32_t address);
/* A lane of registers from `v` on goes to LDS, shifted right by `shift` bits. */
void local_stored(struct wave *wave, unsigned v, unsigned lane, unsigned shift, uint32_t address,
                  unsigned bytes);
/* The written bits of a lane, whatever they were before. */
void undefine_lane(struct wave *wave, unsigned v, unsigned lane, uint32_t bits);
/* Where the garbage in a register came from: SGPRs by number, VGPRs from ORIGIN_VGPR on. NULL: it
 * was there when the wave began. */
enum { ORIGIN_VGPR = 128 };
const struct origin *origin_of(const struct wave *wave, unsigned reg);
void origin_set(struct wave *wave, unsigned reg, const struct origin *from);

/* ---- patterns.c ---- */
unsigned patterns_watched(const struct op *op); /* op.watch */
void pattern_found(struct wave *wave, const struct op *op, const struct finding *finding,
                   const char *what);
/* Those that wait and cannot wait longer execute, before `op` is looked at. */
void delayed_settle(struct wave *wave, const struct op *op);
void watch_patterns(struct wave *wave, const struct op *op); /* runs it, too */
/* Whether a pattern has its effect this time, if it is to be acted out at all. */
bool acts_out(const struct wave *wave, enum isa_rule rule);

/* ---- stores.c ---- */
/* What an instruction touches: `width` bytes at core->address of each lane. */
struct touch {
    uint64_t lanes;
    unsigned width;
    bool lds, atomic, scalar;
};
/* The newest one that `counter` has counted is a store; only when core->watch_* says so. */
void store_begins(struct wave *wave, const struct op *op, const struct touch *touch,
                  unsigned counter);
/* Reads or atomics; only when core->crossed is not 0. */
void stores_touched(struct wave *wave, const struct op *op, const struct touch *touch);
/* The same at any time, for the lanes of EXEC in LDS. */
void lds_store_begins(struct wave *wave, const struct op *op, const uint32_t *base,
                      uint32_t offset);
void lds_touched(struct wave *wave, const struct op *op, const uint32_t *base, uint32_t offset);
void stores_cross(struct core *core); /* a barrier opens */

#endif
