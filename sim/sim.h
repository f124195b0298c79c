/* sim.h: executes gfx10.1 and gfx10.3 machine code on the host: dispatches on any memory.
 *
 * The caller brings the memory (struct sim_memory: GPU address to host pointer) and a dispatch as
 * the command processor of a card would get it; the executor runs every wave of it, checks what a
 * chip would punish, and tells what happened. sim/runner/runner.h loads a code object and makes the
 * memory for those who have neither. Nothing here models time: sim/timing does, from what a
 * recorder was told.
 *
 * Thread safety: one dispatch at a time per `struct sim`; different ones may run in parallel on
 * the same memory. Callbacks come from the executor's own threads: reports one at a time, memory
 * and message callbacks at any time. */
#ifndef RMCP_SIM_SIM_H
#define RMCP_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code/codeobj/codeobj.h"
#include "code/isa/isa.h"
#include "code/isa/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- memory ---- */

enum { SIM_READ = 1, SIM_WRITE = 2, SIM_EXECUTE = 4 };

/* A run of GPU addresses that lies in one piece of host memory. */
struct sim_mapping {
    uint64_t first;  /* first GPU address                              */
    uint64_t bytes;  /* at least 1                                     */
    uint8_t *host;   /* where `first` lies                             */
    unsigned access; /* SIM_READ | SIM_WRITE | SIM_EXECUTE             */
};

struct sim_memory {
    void *context;
    /* The mapping that holds `address`; false when there is none. An access that runs past its end
     * asks again for the rest. Mappings are remembered for the length of one dispatch at most, so
     * they must stay valid that long. Global atomics are host atomics on that memory. */
    bool (*find)(void *context, uint64_t address, struct sim_mapping *out);
    /* What to say of an address in a report ("12 bytes past buffer 2"); may be NULL. */
    void (*describe)(void *context, uint64_t address, char *text, size_t bytes);
};

/* ---- what is checked ---- */

enum sim_check {
    SIM_CHECK_WAITCNT = 1 << 0,  /* a register touched before its load was waited for; stores
                                  * not waited for that another wave reads behind a barrier */
    SIM_CHECK_PATTERNS = 1 << 1, /* the silicon-bug patterns of code/isa/rules.h, as executed     */
    SIM_CHECK_ALIGNMENT = 1 << 2, /* atomics, and LDS in the pattern that WGP mode punishes */
    SIM_CHECK_REGISTERS = 1 << 3, /* values never written that reach an address, a branch,
                                   * EXEC or memory                                          */
    SIM_CHECK_LDS = 1 << 4,       /* the same of LDS that this workgroup never wrote         */
    SIM_CHECK_BARRIER = 1 << 5,   /* waves that leave or wait where the others do not        */
    SIM_CHECK_ALL = 63,
    /* Not in ALL, because ROCm lets the hardware take such addresses: loads and stores that are not
     * aligned to their size or to 4 bytes. */
    SIM_CHECK_UNALIGNED = 1 << 6,
};

/* What a report is about. The first group ends the dispatch: there is no way to go on. */
enum sim_kind {
    SIM_ILLEGAL,      /* not an instruction of the chip, or one without semantics here    */
    SIM_BAD_REGISTER, /* a register past those that the kernel was given                  */
    SIM_BAD_FETCH,    /* instructions fetched where none are                              */
    SIM_FAULT,        /* global memory that is not there, or not for this access          */
    SIM_FAULT_SCRATCH,
    SIM_RUNAWAY, /* more instructions than max_instructions                              */
    SIM_TRAP,    /* s_trap that nobody took                                              */
    SIM_N_FATAL,

    SIM_WAITCNT = SIM_N_FATAL,
    SIM_FAULT_LDS,  /* past the LDS of the workgroup: loads give 0, stores are dropped   */
    SIM_PATTERN,    /* `rule` says which                                                 */
    SIM_MISALIGNED, /* global, LDS or scratch address                                    */
    SIM_UNDEFINED,  /* a register value that nothing wrote                               */
    SIM_UNDEFINED_LDS,
    SIM_BARRIER,
    SIM_DESCRIPTOR, /* not one of an image, or not for this access: as when none is bound */
    SIM_N_KINDS
};

/* A short stable name: "waitcnt", "fault-lds". */
const char *sim_kind_name(enum sim_kind kind);

/* One finding. Each kind (and rule) is reported once for an instruction of a dispatch; how often it
 * happened is counted in struct sim_result. Pointers live as long as the callback runs. */
struct sim_report {
    enum sim_kind kind;
    int rule;           /* enum isa_rule of SIM_PATTERN, else -1                     */
    const char *kernel; /* name of the dispatch                                      */
    uint64_t address;   /* GPU address of the instruction                            */
    uint64_t offset;    /* from the entry of the kernel                              */
    unsigned n_words;   /* its words, at least one, at most ISA_MAX_WORDS            */
    uint32_t word[ISA_MAX_WORDS];
    const char *instruction; /* as llvm-objdump prints it; "" when no chip has it          */
    uint32_t workgroup[3];
    unsigned wave;         /* number in its workgroup                                     */
    uint64_t lanes;        /* those concerned; 0 when it is not about lanes               */
    uint64_t data_address; /* of memory kinds: the first bad address; else 0              */
    uint64_t cause;        /* GPU address of the earlier instruction it goes back to, or 0 */
    const char *reason;    /* one sentence with the values                                */
};

/* ---- options ---- */

struct sim_trace;
struct sim_recorder; /* sim/record/record.h */

struct sim_options {
    enum isa_chip chip; /* the chip that executes, whatever the code was made for          */
    unsigned threads;   /* 0: one for each core; the threads share the workgroups          */
    uint32_t checks;    /* enum sim_check; SIM_CHECK_ALL is strict                          */
    /* Bits 1 << enum isa_rule: patterns that not only are reported but have their documented
     * effect; only those of SIM_ACT_OUT have one, others are ignored. Chips without the bug
     * (gfx1030) never act. */
    uint32_t act_out;
    /* How often: of 2^64 times; 0 means always. Which times these are follows from the seed, the
     * dispatch and the place in it, so a run with the same seed has them again. */
    uint64_t act_out_chance, act_out_seed;
    uint64_t max_instructions; /* of a wave; 0: 2^33                                       */
    unsigned compute_units;    /* 0: 36. How many workgroups are on the card at a time         */
    uint64_t shared_base, private_base; /* flat apertures of 4 GiB; 0: 1 << 48 and 2 << 48 */
    /* Called once a finding, one at a time; may be NULL. */
    void (*report)(void *context, const struct sim_report *report);
    /* Called for every instruction before it executes; NULL: no trace. Use one thread. */
    void (*trace)(void *context, const struct sim_trace *trace);
    /* s_sendmsg; `m0` as at that time. NULL: messages do nothing. */
    void (*message)(void *context, unsigned message, uint32_t m0);
    /* Asked every few thousand instructions, from any thread: true ends the dispatch. NULL: never.
     */
    bool (*cancelled)(void *context);
    /* s_trap: true when it was taken care of and the wave ends; NULL or false: a report. */
    bool (*trap)(void *context, unsigned number, const struct sim_report *where);
    void *context;
    /* Told what chosen workgroups execute, all on one thread; NULL: nobody. Outlives the executor.
     */
    struct sim_recorder *recorder;
};

/* Patterns with an effect that can be acted out: the scalar reader of EXEC sees the value of the
 * later v_cmpx; VMEM and DS see the SGPR, M0 or EXEC that was written after them; SMEM likewise;
 * FLAT ignores its offset when the address is global; s_inst_prefetch hangs. */
#define SIM_ACT_OUT                                                                                \
    (1u << ISA_RULE_VCMPX_EXEC_WAR | 1u << ISA_RULE_VMEM_SCALAR_WRITE |                            \
     1u << ISA_RULE_SMEM_VECTOR_WRITE | 1u << ISA_RULE_FLAT_OFFSET | 1u << ISA_RULE_INST_PREFETCH)

/* The state of a wave before an instruction; pointers live as long as the callback runs. */
struct sim_trace {
    const struct isa_inst *inst;
    uint64_t address;
    uint32_t workgroup[3];
    unsigned wave;
    uint64_t exec, vcc;
    bool scc;
    const uint32_t *sgpr; /* 128, numbered as in enum isa_reg           */
    const uint32_t *vgpr; /* n_vgprs rows of n_lanes                    */
    unsigned n_vgprs, n_lanes;
};

/* ---- a dispatch ---- */

struct sim_dispatch {
    const char *kernel; /* name for reports; NULL is fine                                    */
    struct codeobj_descriptor descriptor;
    uint64_t entry;         /* GPU address of the first instruction, a multiple of 4        */
    uint32_t grid[3];       /* work-items; the last workgroup of a line may be partial      */
    uint32_t workgroup[3];  /* work-items, at most 1024 in all                              */
    uint32_t group_bytes;   /* LDS of a workgroup, dynamic part included; at most 65536     */
    uint32_t private_bytes; /* scratch of a work-item                                      */
    uint64_t kernarg_address, packet_address, queue_address, dispatch_id;
    /* Scratch memory of the caller: `scratch_bytes` at `scratch_address`, at least
     * sim_scratch_bytes() of them. With 0 the executor brings its own, which only addresses of
     * the scratch kinds reach. The descriptor for user SGPRs 0-3 is made from it, or taken from
     * here when its last word is not 0 (the index stride is always that of the wave size). */
    uint64_t scratch_address, scratch_bytes;
    uint32_t scratch_descriptor[4];
    /* VGPRs and SGPRs that the kernel may use; 0: as rsrc1 says, all SGPRs. */
    unsigned n_vgprs;
};

/* Scratch that a dispatch needs from its caller for a number of executor threads; its wave slots
 * are used again when a workgroup ends. */
uint64_t sim_scratch_bytes(const struct sim_dispatch *dispatch, unsigned threads);

/* ---- what came of it ---- */

/* Classes of instructions, for statistics. */
enum sim_class {
    SIM_CLASS_SALU,
    SIM_CLASS_SMEM,
    SIM_CLASS_BRANCH,
    SIM_CLASS_WAIT,  /* s_waitcnt*, s_nop, s_barrier, other SOPP without a result */
    SIM_CLASS_VALU,  /* everything else of the vector ALU                         */
    SIM_CLASS_FMA,   /* fp32 multiply-add: v_fma, v_fmac, v_mad, v_mac, v_fma_mix_f32 */
    SIM_CLASS_PKFMA, /* v_pk_fma_f16, v_pk_fmac_f16, v_dot2: two a lane           */
    SIM_CLASS_F64,
    SIM_CLASS_TRANS,
    SIM_CLASS_VMEM_LOAD,
    SIM_CLASS_VMEM_STORE,
    SIM_CLASS_VMEM_ATOMIC,
    SIM_CLASS_DS_LOAD,
    SIM_CLASS_DS_STORE,
    SIM_CLASS_DS_OTHER, /* atomics, permutes */
    SIM_N_CLASSES
};
const char *sim_class_name(enum sim_class which);

struct sim_stats {
    uint64_t instructions[SIM_N_CLASSES]; /* executed, one a wave                          */
    uint64_t lanes[SIM_N_CLASSES];        /* of vector classes: active lanes, summed       */
    uint64_t slots[SIM_N_CLASSES];        /* lanes that could have been active             */
    uint64_t bytes_loaded, bytes_stored;  /* global and scratch, by active lanes           */
    uint64_t lds_loaded, lds_stored;      /* bytes                                         */
    uint64_t waves, workgroups;
};

struct sim_result {
    bool completed;                  /* false: a fatal kind ended it, or the caller      */
    bool cancelled;                  /* by options.cancelled; `fatal` says nothing then  */
    enum sim_kind fatal;             /* which, when not completed                        */
    uint64_t n_reports;              /* findings reported (each instruction once)        */
    uint64_t happened[SIM_N_KINDS];  /* how often each kind happened                     */
    uint64_t patterns[ISA_N_RULES];  /* how often each pattern was executed              */
    uint64_t acted_out[ISA_N_RULES]; /* and had its effect                              */
    struct sim_stats stats;
};

struct sim;

/* RMCP_E_ARG for options out of range, RMCP_E_NOMEM. `*options` and `*memory` are copied. */
rmcp_status sim_create(const struct sim_options *options, const struct sim_memory *memory,
                       struct sim **out);
void sim_destroy(struct sim *sim); /* NULL is fine */

/* Run a dispatch to its end. RMCP_OK also when the kernel misbehaved: that is in `*result`, and
 * `completed` false says that memory holds what was done until then. RMCP_E_ARG when the dispatch
 * itself makes no sense, RMCP_E_NOMEM. Decoded code is kept for the next dispatch; what changed in
 * memory is decoded again. */
rmcp_status sim_run(struct sim *sim, const struct sim_dispatch *dispatch,
                    struct sim_result *result);

#ifdef __cplusplus
}
#endif
#endif
