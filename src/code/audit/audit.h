/* audit.h: what the GPU code in files would mean to a gfx10 chip: whether there is code for it,
 * which kernels use instructions that it lacks, and which have patterns of its silicon bugs.
 *
 * All is read from the bytes; nothing is run. A pattern is a sequence that LLVM keeps out of code
 * for the chip; it says that the chip's bug may be met there, not that it will be. */
#ifndef RMCP_AUDIT_AUDIT_H
#define RMCP_AUDIT_AUDIT_H

#include "code/codeobj/walk.h"
#include "code/isa/isa.h"
#include "code/isa/rules.h"

enum audit_kind {
    AUDIT_NATIVE = 0,  /* the chip's own code, or its family's generic code                    */
    AUDIT_FOREIGN = 1, /* of another gfx10 chip: runs on this one under an override of its name */
    AUDIT_OTHER = 2,   /* of no gfx10 chip: counted, not decoded                               */
    AUDIT_N_KINDS
};

/* Where something was found. A function here is device code that is no kernel's entry. */
struct audit_count {
    uint64_t instructions, kernels, functions;
};

/* The code of one target in one library. */
struct audit_group {
    char target[CODEOBJ_TARGET_MAX]; /* "gfx1030", "gfx906:xnack-"              */
    enum audit_kind kind;
    uint64_t objects, kernels;
    uint64_t repaired;  /* objects with a note of rmcp repair      */
    uint64_t no_code;   /* kernels whose code is not in the object */
    uint64_t functions; /* decoded ones that are no kernels        */
    uint64_t code_bytes, instructions;
    uint64_t unknown_words;          /* not instructions of the chip they were built for: data */
    uint64_t unknown_calls;          /* of functions that nobody knows; taken for the worst    */
    uint64_t across;                 /* patterns whose cause is in a caller or callee          */
    struct audit_count lacking, any; /* any: at least one pattern; its instructions are findings */
    struct audit_count rule[ISA_N_RULES];
    struct audit_count detail[ISA_N_DETAILS]; /* of the rules that have them */
};

struct audit_library {
    char *name; /* a file, a member of a wheel, or a folder of files for one target each */
    struct audit_group *groups;
    size_t n_groups;
    uint64_t n_others;   /* LLVM bitcode, SPIR-V: GPU code that we do not read */
    uint64_t n_troubles; /* pieces that could not be read                      */
};

/* An instruction that the chip lacks; `means` is what its bits are there, NULL for nothing. */
struct audit_opcode {
    const char *name, *means;
    uint64_t instructions, kernels;
};

/* A kernel or function with findings. */
struct audit_worst {
    char *name, *library;
    char target[CODEOBJ_TARGET_MAX];
    bool is_kernel;
    uint64_t lacking, patterns;
    uint64_t rule[ISA_N_RULES];
};

struct audit_options {
    unsigned chip;    /* enum isa_chip: the one to judge for      */
    uint32_t threads; /* 0: one for each core                     */
    size_t n_worst;   /* how many worst kernels to keep           */
    void *context;    /* of the two functions, either may be NULL */
    void (*trouble)(void *context, const char *path, const char *message);
    void (*progress)(void *context, uint64_t done, uint64_t found, const char *path);
};

struct audit_report {
    unsigned chip;
    struct audit_library *libraries; /* those with GPU code or trouble, in the order of the walk */
    size_t n_libraries;
    struct audit_group *totals; /* by target, by rising name */
    size_t n_totals;
    struct audit_opcode *opcodes; /* lacking ones, most frequent first */
    size_t n_opcodes;
    struct audit_worst *worst; /* lacking instructions first, then patterns, then the name */
    size_t n_worst;
};

/* Audit files and folders. On RMCP_OK `*out` is to be freed with audit_report_destroy; on any error
 * it is NULL. A path that cannot be opened is RMCP_E_IO; damage within one is trouble and the audit
 * goes on. The same input gives the same report, whatever the number of threads. */
rmcp_status audit_paths(const char *const *paths, size_t n_paths,
                        const struct audit_options *options, struct audit_report **out);
void audit_report_destroy(struct audit_report *report); /* NULL is fine */

/* "exec" and so on; "" for ISA_DETAIL_NONE. */
extern const char *const audit_detail_names[ISA_N_DETAILS];
/* The rule that a detail is of. */
extern const enum isa_rule audit_detail_rules[ISA_N_DETAILS];

/* Whether a library has GPU code at all, and whether code for the chip. */
bool audit_has_code(const struct audit_library *library);
bool audit_has_native(const struct audit_library *library);

/* ---- pieces, for whoever looks at single kernels ---- */

/* The chip of "gfx1010"; -1 when the instruction table has none of that name. */
int audit_chip_parse(const char *name);

/* The chip of this machine from the kernel driver's topology, below $RMCP_SYSFS_ROOT (default
 * /sys): the first gfx10 one. RMCP_E_UNSUPPORTED, with what was there instead, when there is none.
 */
rmcp_status audit_chip_detect(unsigned *chip);

enum audit_kind audit_kind_of(unsigned chip, const struct codeobj_target *target);

/* What of a kernel's descriptor the code depends on; `kernel` NULL takes the object's first. */
struct audit_mode {
    bool wave64;
    bool wgp; /* workgroups span both halves of a WGP */
};
struct audit_mode audit_mode_of(const struct codeobj *object, const struct codeobj_kernel *kernel);

/* The functions of a code object as words, and how they call each other: what isa_calls_check
 * takes, by the index of object->functions. `built` is the chip that they were built for. */
struct audit_code {
    struct isa_code *codes;
    struct isa_calls *calls;
    uint32_t **copies; /* of functions that are not aligned in the file */
    size_t n;
};
rmcp_status audit_code_create(const struct codeobj *object, unsigned built,
                              struct audit_code **out);
void audit_code_destroy(struct audit_code *code); /* NULL is fine */

/* Whether `chip` does not have an instruction that was decoded for another; `*means` is what the
 * same bits are there, or NULL. */
bool audit_lacks(unsigned chip, const struct isa_inst *inst, const char **means);

#endif
