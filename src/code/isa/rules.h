/* rules.h: patterns of the gfx101x silicon bugs, found in decoded code of any gfx10 target.
 *
 * A rule is what LLVM 19's GCNHazardRecognizer (and, for single instructions, its selection and
 * its assembler) keeps out of gfx101x code; code made for gfx103x is free to have it. A finding
 * says that the code has the pattern, not what a chip does with it: nothing here was run on one.
 *
 * Thread safety: no global state. */
#ifndef RMCP_ISA_RULES_H
#define RMCP_ISA_RULES_H

#include "code/isa/isa.h"

#ifdef __cplusplus
extern "C" {
#endif

enum isa_rule {
    ISA_RULE_VCMPX_EXEC_WAR = 0,
    ISA_RULE_VCMPX_PERMLANE = 1,
    ISA_RULE_VMEM_SCALAR_WRITE = 2,
    ISA_RULE_SMEM_VECTOR_WRITE = 3,
    ISA_RULE_INST_PREFETCH = 4,
    ISA_RULE_LDS_BRANCH_VMEM = 5,
    ISA_RULE_FLAT_OFFSET = 6,
    ISA_RULE_BRANCH_3F = 7,
    ISA_RULE_LDS_MISALIGNED = 8,
    ISA_RULE_NSA = 9,
    ISA_RULE_SCRATCH_OFFSET = 10,
    ISA_N_RULES
};

/* What a finding is about more closely; a rule that is not named here has only ISA_DETAIL_NONE. */
enum isa_detail {
    ISA_DETAIL_NONE = 0,
    ISA_DETAIL_EXEC,   /* VMEM_SCALAR_WRITE: the register is EXEC             */
    ISA_DETAIL_SGPR,   /* VMEM_SCALAR_WRITE: it is an SGPR, VCC or M0         */
    ISA_DETAIL_VMEM,   /* NSA: a buffer instruction follows at once           */
    ISA_DETAIL_CLAUSE, /* NSA: the instruction is in an s_clause              */
    ISA_N_DETAILS
};

struct isa_rule_info {
    const char *id;      /* "vcmpx-exec-war": names the rule in reports, never changes */
    const char *feature; /* the feature of LLVM's AMDGPU target that switches it on    */
    const char *pattern; /* what is looked for, in one line                            */
    const char *silicon; /* what LLVM's sources say of the chips                       */
};
extern const struct isa_rule_info isa_rule_table[ISA_N_RULES];

#define ISA_NO_CAUSE UINT32_MAX

struct isa_finding {
    enum isa_rule rule;
    enum isa_detail detail;
    uint32_t at;    /* byte offset of the instruction that has the pattern                      */
    uint32_t cause; /* of an earlier one that makes it one (in time: in a loop it may lie behind);
                     * the same as `at` for a rule of a single instruction; the call when it lies
                     * in what was called; ISA_NO_CAUSE when it lies in a caller, or the code is so
                     * tangled that it was not kept */
    uint16_t reg;   /* scalar register written too early (enum isa_reg), ISA_NULL when none */
};

struct isa_rules_count {
    size_t n_instructions;
    size_t n_undecodable; /* words that are no instruction of the chip; skipped one at a time */
    /* isa_calls_check: calls of nobody knows what, taken for the worst; and findings whose cause is
     * in a caller or callee, where LLVM does not look */
    size_t n_unknown_calls, n_across;
    size_t n_findings[ISA_N_RULES];
    size_t n_details[ISA_N_DETAILS]; /* of all findings */
};

typedef void isa_finding_fn(const struct isa_finding *finding, void *context);

/* Look for every rule in one function: n_words from its entry on, less than 2^30.
 *
 * Branches are followed, loops and joins included: a pattern that any path has is found, once an
 * instruction and rule, in the order of the code. Jumps through registers are followed within the
 * function where flow.h knows them, calls within it there and back. A path ends where nobody knows
 * how it goes on: s_endpgm, another s_setpc, the end of the words, a branch out of them or into an
 * instruction; behind a call out of the function it goes on as if the callee did nothing, as LLVM
 * has it (isa_calls_check knows better). Code that no path reaches is looked at as well.
 *
 * `chip_mode` is what isa_decode takes: the target the code was made for, ISA_WAVE64 or-ed to it.
 * `wgp_mode`: workgroups span both halves of a WGP (LDS_MISALIGNED is about those only).
 * `found` may be NULL; `*count` is always set. Time is proportional to n_words for code as
 * compilers make it, memory at most some 300 bytes a word in any case.
 * Returns false when memory ran out: nothing was looked at then, and `*count` is all zero. */
bool isa_rules_check(unsigned chip_mode, const uint32_t *words, size_t n_words, bool wgp_mode,
                     isa_finding_fn *found, void *context, struct isa_rules_count *count);

/* ---- functions that call each other ---- */

struct isa_code {
    const uint32_t *words;
    size_t n_words; /* less than 2^30 */
    uint64_t address;
    unsigned chip_mode; /* as for isa_rules_check */
    bool wgp_mode;
    bool is_kernel; /* starts with nothing before it */
};

/* What each function of a code object meets when it is entered and leaves when it returns.
 *
 * A call or return counts as a branch. A call whose target is not known, or is no function here,
 * may go anywhere: it may leave every fact that can be left, and what holds at it is taken to hold
 * at the entry of every function that is no kernel. Such a function that nobody here calls may be
 * called from anywhere: everything may hold at its entry.
 *
 * `functions` (by rising address) and their words must outlive `*out`, which is to be freed with
 * isa_calls_destroy. Returns false, and `*out` NULL, when memory ran out. Time is a few times that
 * of isa_rules_check for functions that call or are called, and next to nothing for others. */
struct isa_calls;
bool isa_calls_create(const struct isa_code *functions, size_t n_functions, struct isa_calls **out);
void isa_calls_destroy(struct isa_calls *calls); /* NULL is fine */

/* isa_rules_check of functions[index], with what comes over its calls and from its callers. */
bool isa_calls_check(const struct isa_calls *calls, size_t index, isa_finding_fn *found,
                     void *context, struct isa_rules_count *count);

/* ---- for those who follow executed code by themselves ---- */

/* Classes of facts that a rule needs to remember between instructions. */
enum isa_fact {
    ISA_FACT_VMEM = 1, /* scalar registers that VMEM or DS may still be reading    */
    ISA_FACT_SMEM = 2, /* those that SMEM may still be reading                     */
    ISA_FACT_EXEC = 4, /* a non-VALU read EXEC                                     */
    ISA_FACT_CMPX = 8, /* the last VALU was v_cmpx                                 */
    ISA_FACT_NSA = 16, /* the last instruction was a long MIMG NSA                 */
    ISA_FACT_LDS = 32, /* which of DS and VMEM came last, and whether a branch followed */
};

/* The classes that end at an instruction, and those that it raises. */
unsigned isa_rules_kills(const struct isa_inst *inst);
unsigned isa_rules_raises(const struct isa_inst *inst, const struct isa_uses *uses);

/* The rule that an instruction breaks all by itself, or ISA_N_RULES. LDS_MISALIGNED goes by the
 * offset alone. */
enum isa_rule isa_rules_single(const struct isa_inst *inst, bool wgp_mode);

#ifdef __cplusplus
}
#endif
#endif
