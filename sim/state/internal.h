/* internal.h: waves, decoded code and the threads that run them; not for other folders. */
#ifndef RMCP_SIM_INTERNAL_H
#define RMCP_SIM_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "sim/math/lanes.h"
#include "sim/sim.h"
#include "sim/math/valu.h"

enum {
    MAX_LANES = 64,
    MAX_WAVES = 32,    /* of a workgroup: 1024 work-items in wave32 */
    LDS_BYTES = 65536, /* most that a workgroup gets                */
    PAGE_WORDS = 1024, /* code is decoded in pages of 4 KiB         */
    PAGE_TABLE = 256,  /* hash buckets of pages                     */
    N_TLB = 8,
    N_TOLD = 1024,
    QUANTUM = 4096, /* instructions of a wave before the next one has its turn */
    /* Turns of a workgroup before its thread looks after another: the first time, and once it was
     * seen that workgroups of the kernel run long. */
    FIRST_TURNS = 64,
    LATER_TURNS = 16,
    OWN_SCRATCH_MOST = 64 << 20, /* bytes, if one workgroup for each thread needs no more */
};

struct wave;
struct op;
typedef void op_fn(struct wave *wave, const struct op *op);
/* A scalar result of two sources; may change SCC. */
typedef uint64_t salu_fn(uint64_t a, uint64_t b, bool *scc);

/* ---- decoded code ---- */

enum source_kind { SRC_VGPR, SRC_SGPR, SRC_CONSTANT, SRC_SPECIAL };

/* A source of a VALU instruction, ready to be made into rows. */
struct source {
    uint16_t reg;   /* number of the VGPR or SGPR */
    uint8_t kind;   /* enum source_kind           */
    uint8_t n_regs; /* 1, 2 or 4                  */
};

/* op.flags */
enum {
    OP_HALF = 1 << 0,      /* result of 16 bits: the other half of the register stays      */
    OP_CROSS = 1 << 1,     /* lanes look at each other: results need rows of their own     */
    OP_MODIFY = 1 << 2,    /* omod or clamp of a float result                              */
    OP_OLD_DST = 1 << 3,   /* the function finds old values in its result rows             */
    OP_MASK_OUT = 1 << 4,  /* writes a lane mask to op->sdst                               */
    OP_CMPX = 1 << 5,      /* the mask goes to EXEC                                        */
    OP_VCC_IN = 1 << 6,    /* the mask read is VCC, without an operand                     */
    OP_COPIES = 1 << 7,    /* each lane or bit of the result is a copy: see undefined.c    */
    OP_LOGIC = 1 << 8,     /* bitwise scalar operation                                     */
    OP_MEMORY = 1 << 9,    /* VMEM, DS or SMEM                                             */
    OP_INDEXED = 1 << 10,  /* M0 moves register numbers                                    */
    OP_IN_ORDER = 1 << 11, /* a load whose kind returns in order: may overwrite its like   */
};

/* What an instruction needs at every execution comes first, in two lines of the host's cache; the
 * rest is for rare paths. */
struct op {
    op_fn *run;
    union {
        valu_fn *valu;
        salu_fn *salu;
    } fn;
    uint64_t vgpr_used[4], sgpr_used[2]; /* read or written                   */
    const struct bundle *bundle;         /* that begins here, or NULL         */
    /* Constant sources: two rows of MAX_LANES words (low, high) for each source. */
    uint32_t *rows;
    struct source src[3];
    uint16_t dst;     /* VGPR or SGPR number of the result                       */
    uint16_t sdst;    /* SGPR of a mask result                                   */
    uint16_t mask_in; /* and of a mask that is read                           */
    uint32_t flags;
    uint8_t n_src, n_dst; /* n_dst: registers of the result                   */
    uint8_t bytes;        /* length in memory                                 */
    uint8_t klass;        /* enum sim_class                                   */
    uint8_t watch;        /* pattern classes it has to do with; WATCH_ALWAYS  */
    uint8_t atomic;       /* enum atomic                                      */
    uint8_t width;        /* memory: bytes of a lane in one piece             */
    bool is_signed;       /* loads of less than 4 bytes                       */
    uint8_t half;         /* 1: the low, 2: the high half of the register     */
    uint8_t n_typed;      /* components of a typed access, 0: it is not typed */
    uint8_t n_places;     /* LDS: of which it names the offsets               */
    uint32_t offset[2];
    /* rare */
    const struct isa_operand *in[3], *out, *out2, *address, *data, *data1, *base, *soffset;
    struct isa_uses uses;
    uint8_t kill, raise;        /* pattern classes that it ends and begins           */
    uint8_t single;             /* the pattern that it is by itself, or ISA_N_RULES  */
    bool decoded;               /* false: `inst` has only words                      */
    struct bundle *own_bundles; /* freed with this op                         */
    struct step *own_steps;
    struct isa_inst inst;
};

/* The two rows of a constant source. */
static inline const uint32_t *constant_row(const struct op *op, unsigned i)
{
    return op->rows + (size_t)2 * MAX_LANES * i;
}

/* op.watch and facts.live: this bit is in the latter whenever patterns are looked for. */
enum { WATCH_ALWAYS = 128 };

/* Vector instructions that follow each other; see bundle.c. */
enum { MAX_BUNDLE = 255, N_BUNDLED_CLASSES = SIM_CLASS_TRANS - SIM_CLASS_VALU + 1 };
struct bundle {
    uint64_t vgpr_used[4], sgpr_used[2]; /* by any of them */
    const struct step *steps;
    uint16_t bytes;
    uint8_t n, watch;
    uint8_t count[N_BUNDLED_CLASSES]; /* from SIM_CLASS_VALU on */
};

struct page {
    struct page *next;
    uint64_t address;    /* of the first word                               */
    uint64_t generation; /* dispatch that last compared it with memory      */
    unsigned n_words;    /* readable, from the first on                     */
    uint32_t words[PAGE_WORDS + ISA_MAX_WORDS - 1];
    _Atomic(const struct op *) ops[PAGE_WORDS];
};

struct code {
    unsigned chip_mode; /* of every page: chip, ISA_WAVE64                 */
    uint64_t generation;
    pthread_mutex_t lock;
    struct page *pages[PAGE_TABLE];
};

/* ---- a wave ---- */

enum wave_state { WAVE_RUN, WAVE_BARRIER, WAVE_DONE };

/* A load that has not been waited for. */
struct pending {
    uint64_t address; /* of its instruction */
    uint16_t first;   /* VGPR, or SGPR      */
    uint8_t n_regs;
    bool scalar;
};
enum { MAX_PENDING = 64 };
struct queue {
    struct pending entry[MAX_PENDING];
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

/* What the pattern checks remember; see patterns.c. */
struct facts {
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
    struct facts facts;
    uint32_t mode;
    _Alignas(64) uint32_t sgpr[128];
    _Alignas(64) uint32_t exec_row[MAX_LANES]; /* all ones in active lanes */
    /* rare */
    unsigned number; /* in its workgroup */
    uint64_t n_instructions;
    uint64_t scratch; /* flat_scratch: GPU address of this wave's scratch */
    uint64_t slot;    /* the part of scratch that belongs to this wave    */
    uint32_t status;  /* hardware register, what s_setreg left there      */
    struct queue vm, lgkm, vs;
    uint64_t n_stores, first_store; /* those from first_store on may matter; a ring */
    uint64_t vgpr_pending[4], sgpr_pending[2];
    uint64_t vgpr_defined[256]; /* lanes that were written   */
    uint64_t vgpr_partial[256]; /* other lanes of which some bits were: see partial.c      */
    uint32_t sgpr_defined[128]; /* bits that were written    */
    bool scc_defined;
    /* acting out; from here on not cleared when a wave starts */
    const struct op *delayed[8];
    uint64_t delayed_pc[8];
    unsigned n_delayed;
    const struct op *exec_reader;
    uint32_t reader_sgpr[128];
    bool reader_scc;
    uint32_t *vgpr_bits;  /* of vgpr_partial; rows as in vgpr; set before the wave starts */
    struct store *stores; /* MAX_STORES */
};

/* ---- what runs workgroups, one at a time ---- */

/* A thread has one; more when workgroups wait for each other. */
struct core {
    struct core *next; /* of the same thread, in a ring */
    bool busy;         /* has a workgroup that has not ended */
    struct sim *sim;
    struct run *run;
    unsigned number;
    struct sim_mapping tlb[N_TLB];
    unsigned tlb_last, tlb_next;
    uint32_t group_bytes;
    uint32_t workgroup[3];
    unsigned n_waves;
    struct wave *waves;
    uint32_t *vgprs, *vgpr_bits;
    uint8_t *lds, *lds_written; /* lds_written: 1 for bytes that were */
    bool lds_complete;          /* all of them were, at the last barrier */
    struct store *stores;
    bool watch_lds, watch_memory; /* stores of this workgroup matter to its other waves */
    uint32_t crossed;             /* waves with crossed stores, see stores.c            */
    struct sim_stats stats;
    uint64_t patterns[ISA_N_RULES]; /* executed, not yet in the result */
    uintptr_t told[N_TOLD];         /* instructions and rules that a report has named */
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

struct sim {
    struct sim_options options;
    struct sim_memory memory;
    struct code code[2]; /* wave32, wave64 */
    const struct lanes *lanes;
    struct core *cores;
    unsigned n_cores;
    uint8_t *scratch; /* the executor's own */
    uint64_t scratch_bytes;
};

/* GPU addresses of the executor's own scratch: past what any driver hands out. */
#define OWN_SCRATCH UINT64_C(0xff0000000000)

/* ---- code.c, predecode.c ---- */
void code_init(struct code *code, unsigned chip_mode);
void code_deinit(struct code *code);
const struct op *code_fetch_slow(struct wave *wave); /* NULL: reported, the wave has ended */
/* Fill in an op whose `inst` is there; false: no memory. */
bool predecode(struct op *op);
unsigned patterns_watched(const struct op *op);
salu_fn *salu_function(unsigned isa_id);
op_fn *salu_handler(unsigned isa_id); /* rows with a function of their own, or NULL */
const struct isa_operand *op_find(const struct isa_inst *inst, enum isa_role role);

/* ---- bundle.c ---- */
bool bundle_takes(const struct op *op);
/* Make the bundles of instructions that follow each other; false: no memory. */
bool bundle_make(struct op *const *ops, unsigned n);
void bundle_run(struct wave *wave, const struct bundle *bundle);

/* ---- handlers ---- */
op_fn run_illegal;
op_fn run_salu, run_salu_compare, run_salu_k, run_branch;
op_fn run_valu, run_valu_plain, run_valu_mask, run_nothing;
op_fn run_readlane, run_writelane, run_movrel, run_swap;
op_fn run_smem, run_smem_other, run_smem_atomic;
op_fn run_vmem_load, run_vmem_store, run_vmem_atomic;
op_fn run_ds_load, run_ds_store, run_ds_atomic, run_ds_lanes, run_ds_append;

/* ---- registers ---- */
uint64_t scalar_read(const struct wave *wave, const struct isa_operand *op);
void exec_changed(struct wave *wave);

static inline uint64_t mask_read(const struct wave *w, unsigned reg)
{
    if (reg == ISA_NULL) return 0;
    return w->n_lanes == 32 ? w->sgpr[reg] : w->sgpr[reg] | (uint64_t)w->sgpr[reg + 1] << 32;
}

static inline void sgpr_write(struct wave *w, unsigned reg, uint32_t value)
{
    if (reg == ISA_NULL) return;
    w->sgpr[reg] = value;
    if (reg >= ISA_EXEC_LO) exec_changed(w);
}

static inline void mask_write(struct wave *w, unsigned reg, uint64_t mask)
{
    sgpr_write(w, reg, (uint32_t)mask);
    if (w->n_lanes == 64 && reg != ISA_NULL) sgpr_write(w, reg + 1, (uint32_t)(mask >> 32));
}

static inline void exec_write(struct wave *w, uint64_t mask)
{
    w->sgpr[ISA_EXEC_LO] = (uint32_t)mask;
    if (w->n_lanes == 64) w->sgpr[ISA_EXEC_HI] = (uint32_t)(mask >> 32);
    exec_changed(w);
}

static inline uint32_t *vgpr_row(const struct wave *w, unsigned v)
{
    return w->vgpr + (size_t)v * w->n_lanes;
}

/* ---- memory.c ---- */
/* The mapping that holds an address, remembered or not. */
bool memory_find(struct core *core, uint64_t address, struct sim_mapping *out);
/* Host memory of `bytes` at an address, when it lies in one mapping that allows the access. */
uint8_t *memory_at(struct core *core, uint64_t address, uint64_t bytes, unsigned access);
/* The same in any number of mappings; false: not all there, nothing was done. */
bool memory_read(struct core *core, uint64_t address, void *to, uint64_t bytes, unsigned access);
bool memory_write(struct core *core, uint64_t address, const void *from, uint64_t bytes);
/* LDS of a workgroup at a lane's address; NULL and a report when it is not all there. */
uint8_t *lds_at(struct wave *wave, const struct op *op, unsigned lane, uint64_t address,
                unsigned bytes);
void lds_mark(struct wave *wave, const struct op *op, uint64_t address, unsigned bytes, bool store,
              unsigned lane);
void misaligned(struct wave *wave, const struct op *op, uint64_t lanes, uint64_t address,
                unsigned bytes, const char *what);
void memory_fault(struct wave *wave, const struct op *op, uint64_t lanes, uint64_t address,
                  unsigned bytes, const char *what);

/* ---- atomics.c ---- */
enum atomic {
    ATOMIC_NONE,
    ATOMIC_SWAP,
    ATOMIC_CMPSWAP,
    ATOMIC_ADD,
    ATOMIC_SUB,
    ATOMIC_RSUB,
    ATOMIC_CSUB,
    ATOMIC_SMIN,
    ATOMIC_UMIN,
    ATOMIC_SMAX,
    ATOMIC_UMAX,
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_INC,
    ATOMIC_DEC,
    ATOMIC_FCMPSWAP,
    ATOMIC_FMIN,
    ATOMIC_FMAX,
    ATOMIC_FADD,
    ATOMIC_MSKOR,
    ATOMIC_WRAP,
    ATOMIC_CONDXCHG
};
enum atomic atomic_of(const struct isa_row *row);
/* The value after the operation; `data` is the operand, `other` the comparand or second operand. */
uint64_t atomic_new(enum atomic what, unsigned bytes, uint64_t old, uint64_t data, uint64_t other);
/* On host memory that others may use at the same time; returns the old value. */
uint64_t atomic_apply(enum atomic what, unsigned bytes, uint8_t *at, uint64_t data, uint64_t other);

/* ---- formats.c ---- */
/* Bytes of an element of a buffer format (gfx10 numbers); 0: not one that is modelled. */
unsigned format_bytes(unsigned format);
/* One element between memory and components of 32 bits (floats or integers, as the format is). */
void format_unpack(unsigned format, const uint8_t *from, uint32_t to[4]);
void format_pack(unsigned format, const uint32_t from[4], uint8_t *to);

/* ---- checks ---- */
/* The instruction touches a register that is being loaded or was not written: before it runs. */
void attend(struct wave *wave, const struct op *op);
void wave_load_begins(struct wave *wave, const struct op *op, unsigned counter, bool unordered);
void wave_counts(struct wave *wave, struct queue *queue);
void wave_wait(struct wave *wave, struct queue *queue, unsigned left);
void set_vgpr_defined(struct wave *wave, unsigned v, uint64_t lanes);
void set_sgpr_defined(struct wave *wave, unsigned s, uint32_t bits);
void define_vgprs(struct wave *wave, unsigned first, unsigned n, uint64_t lanes);
void define_sgprs(struct wave *wave, unsigned first, unsigned n);
void undefined_before(struct wave *wave, const struct op *op); /* undefined.c */
/* partial.c: the bits of a lane that were written; the lanes of a result that are written as a
 * whole though not all of its sources are, after setting those that are in part. */
uint32_t vgpr_bits(const struct wave *wave, unsigned v, unsigned lane);
/* Of a lane that is not written as a whole. */
void partial_set(struct wave *wave, unsigned v, unsigned lane, uint32_t bits);
uint64_t partial_result(struct wave *wave, const struct op *op, uint64_t lanes);
/* The same for a scalar result, from the bits of two sources. */
uint64_t partial_scalar(const struct wave *wave, const struct op *op, uint64_t d0, uint64_t d1);
/* Lanes of a mask after the lane movement of a DPP instruction; what reads nothing is set. */
uint64_t dpp_mask(const struct wave *wave, const struct isa_inst *inst, uint64_t mask);
struct finding;
void pattern_found(struct wave *wave, const struct op *op, const struct finding *finding,
                   const char *what);
void watch_patterns(struct wave *wave, const struct op *op); /* patterns.c */
void delayed_run(struct wave *wave);

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

/* ---- report.c ---- */
struct finding {
    enum sim_kind kind;
    int rule;
    uint64_t address; /* of the instruction; op may be NULL then */
    uint64_t lanes, data_address, cause;
};
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void report(struct wave *wave, const struct op *op, const struct finding *finding,
            const char *format, ...);

/* ---- occupancy.c ---- */
/* Workgroups of a dispatch that are on the card at a time, at least 1. */
uint64_t occupancy(const struct run *run);

/* ---- dispatch.c, wave.c ---- */
void wave_init(struct wave *wave, struct core *core, unsigned number);
void wave_run(struct wave *wave, unsigned budget);

#endif
