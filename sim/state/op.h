/* op.h: an instruction made ready to be executed many times, and bundles of them. */
#ifndef RMCP_SIM_STATE_OP_H
#define RMCP_SIM_STATE_OP_H

#include "sim/math/lanes.h"
#include "sim/math/valu.h"
#include "sim/sim.h"

enum { MAX_LANES = 64 };

struct wave;
struct op;
typedef void op_fn(struct wave *wave, const struct op *op);
/* A scalar result of two sources; may change SCC. */
typedef uint64_t salu_fn(uint64_t a, uint64_t b, bool *scc);

enum source_kind { SRC_VGPR, SRC_SGPR, SRC_CONSTANT, SRC_SPECIAL };

/* A source of a VALU instruction, ready to be made into rows. */
struct source {
    uint16_t reg;   /* number of the VGPR or SGPR */
    uint8_t kind;   /* enum source_kind           */
    uint8_t n_regs; /* 1, 2 or 4                  */
};

/* op.flags */
enum {
    OP_HALF = 1 << 0,     /* result of 16 bits: the other half of the register stays      */
    OP_CROSS = 1 << 1,    /* lanes look at each other: results need rows of their own     */
    OP_MODIFY = 1 << 2,   /* omod or clamp of a float result                              */
    OP_OLD_DST = 1 << 3,  /* the function finds old values in its result rows             */
    OP_MASK_OUT = 1 << 4, /* writes a lane mask to op->sdst                               */
    OP_CMPX = 1 << 5,     /* the mask goes to EXEC                                        */
    OP_VCC_IN = 1 << 6,   /* the mask read is VCC, without an operand                     */
    OP_COPIES = 1 << 7,   /* each lane or bit of the result is a copy: see undefined.c    */
    OP_MEMORY = 1 << 8,   /* VMEM, DS or SMEM                                             */
    OP_INDEXED = 1 << 9,  /* M0 moves register numbers                                    */
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
    const struct valu_bundle *bundle;    /* that begins here, or NULL         */
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
    uint8_t atomic;       /* enum isa_does                                    */
    uint8_t width;        /* memory: bytes of a lane in one piece             */
    bool is_signed;       /* loads of less than 4 bytes                       */
    uint8_t half;         /* 1: the low, 2: the high half of the register     */
    uint8_t n_typed;      /* components of a typed access, 0: it is not typed */
    uint8_t n_places;     /* LDS: of which it names the offsets               */
    uint32_t offset[2];
    /* rare */
    const struct isa_operand *in[3], *out, *out2, *address, *data, *data1, *base, *soffset;
    const struct isa_operand *sampler; /* of images */
    struct isa_uses uses;
    uint8_t kill, raise;             /* pattern classes that it ends and begins           */
    uint8_t single;                  /* the pattern that it is by itself, or ISA_N_RULES  */
    bool decoded;                    /* false: `inst` has only words                      */
    struct valu_bundle *own_bundles; /* freed with this op                         */
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
struct valu_bundle {
    uint64_t vgpr_used[4], sgpr_used[2]; /* by any of them */
    const struct step *steps;
    uint16_t bytes;
    uint8_t n, watch;
    uint8_t count[N_BUNDLED_CLASSES]; /* from SIM_CLASS_VALU on */
};

#endif
