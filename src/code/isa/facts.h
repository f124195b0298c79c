/* facts.h: what the silicon-bug rules remember between instructions; not for other folders.
 *
 * A fact is raised by one instruction ("s4 is being read by VMEM"), dropped by others with its
 * whole class, and must not be met by a third. */
#ifndef RMCP_ISA_FACTS_H
#define RMCP_ISA_FACTS_H

#include "code/isa/rules.h"

enum {
    F_VMEM = 0,                 /* + scalar register: VMEM or DS reads it         */
    F_SMEM = 128,               /* + scalar register: SMEM reads it               */
    F_EXEC = 256,               /* a non-VALU read EXEC                           */
    F_CMPX,                     /* the last VALU was v_cmpx                       */
    F_NSA,                      /* the last instruction was a long MIMG NSA       */
    F_LDS,                      /* DS came last, of DS and VMEM                   */
    F_LDS_BRANCHED = F_LDS + 2, /* the same, and a branch after it        */
    F_VECTOR = F_LDS + 1,       /* VMEM came last, of DS and VMEM         */
    F_VECTOR_BRANCHED = F_VECTOR + 2,
    N_WORDS = 5,
    N_FACTS = 64 * N_WORDS
};

enum { /* classes */
       K_VMEM = ISA_FACT_VMEM,
       K_SMEM = ISA_FACT_SMEM,
       K_EXEC = ISA_FACT_EXEC,
       K_CMPX = ISA_FACT_CMPX,
       K_NSA = ISA_FACT_NSA,
       K_LDS = ISA_FACT_LDS
};

#define TAIL(fact) (UINT64_C(1) << ((fact)-F_EXEC)) /* bit in the last word */
#define LDS_FACTS (TAIL(F_LDS) | TAIL(F_VECTOR))
#define BRANCHED_FACTS (TAIL(F_LDS_BRANCHED) | TAIL(F_VECTOR_BRANCHED))

struct facts {
    uint64_t bits[N_WORDS];
};

static inline bool has(const struct facts *f, unsigned fact)
{
    return f->bits[fact >> 6] >> (fact & 63) & 1;
}

static inline bool any(const struct facts *f)
{
    return f->bits[0] | f->bits[1] | f->bits[2] | f->bits[3] | f->bits[4];
}

/* Forget classes (enum isa_fact). */
void facts_drop(struct facts *f, unsigned classes);

/* What an instruction raises. */
struct facts facts_raised(const struct isa_inst *inst, const struct isa_uses *u);

bool isa_is_vector_memory(const struct isa_row *row); /* VMEM that cannot touch LDS */

/* ---- between rules.c and calls.c ---- */

/* What a called function does to facts. */
struct summary {
    struct facts gen; /* hold at a return, raised by it or by what it calls                 */
    uint8_t pass;     /* classes of facts that come through it from its caller to a return  */
    bool returns;
};

/* Facts over a branch: which of DS and VMEM came last is now before one. */
static inline struct facts facts_branched(struct facts f)
{
    f.bits[4] = (f.bits[4] & ~LDS_FACTS) | (f.bits[4] & LDS_FACTS) << 2;
    return f;
}

struct isa_calls;

/* What the function behind a jump of function `self` does; where nobody knows, the worst. `index`
 * is then, or when it is no function's start, SIZE_MAX. */
const struct summary *isa_calls_summary(const struct isa_calls *calls, size_t self, bool is_known,
                                        int64_t to, size_t *index);

/* One function among others: the facts that hold at its entry. */
struct rules_request {
    const struct isa_code *code;
    const struct isa_calls *calls;
    size_t self;
    struct facts entry;
    const struct isa_flow_callees *callees;
    /* told what holds at each call out of the function; SIZE_MAX: of anything */
    void (*met)(void *context, size_t callee, const struct facts *facts);
    void *context;
};
bool isa_rules_solve(const struct rules_request *request, struct summary *out);
bool isa_rules_find(const struct rules_request *request, isa_finding_fn *found, void *context,
                    struct isa_rules_count *count);

#endif
