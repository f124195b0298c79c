/* repair.h: code of gfx10.3 chips made code of gfx10.1 chips.
 *
 * One code object in, one out: taken apart (code/rewrite/rewrite.h), what the chip lacks replaced,
 * the patterns of its silicon bugs cured, laid out, written (code/codeobj/write.h) for the other
 * target, and then read and checked again. A kernel that cannot be repaired is left out: no note
 * names it and a trap stands in the place of its code. Bytes are as hostile as in codeobj.h.
 *
 * Nothing here was run on silicon. Thread safety: no global state. */
#ifndef RMCP_REPAIR_REPAIR_H
#define RMCP_REPAIR_REPAIR_H

#include "code/codeobj/containers.h"
#include "code/isa/isa.h"
#include "code/isa/rules.h"

struct repair_refusal {
    char *name;   /* a kernel, or the path of an object or file */
    char *reason; /* "v_dot8_i32_i4", "flat-offset", or a sentence */
    bool is_kernel;
};

/* What was done; all of it adds up. */
struct repair_report {
    size_t n_files, n_changed_files, n_copied_files, n_left_out_files;
    size_t n_repaired, n_already, n_native, n_other, n_refused_objects; /* code objects          */
    size_t n_replaced;             /* that were made for the chip, and are gone now */
    size_t n_kernels, n_refused;   /* of repaired and refused
                                      objects               */
    size_t n_by_name;              /* of those that are not refused, chosen by the chip's name    */
    size_t n_host_places;          /* where host code asks for it, and was changed                */
    size_t n_functions;            /* device functions                                            */
    size_t n_found[ISA_N_RULES];   /* patterns in the code as it was                              */
    size_t n_cures[ISA_N_RULES];   /* places that were changed for them                           */
    size_t n_unreached;            /* patterns left in words that no path reaches                 */
    size_t n_lowered;              /* instructions that were replaced by others                   */
    size_t n_wide;                 /* kernels with accesses that are or may be wide ones of LDS   */
    size_t n_proven;               /* of those, all proven to be aligned: nothing changes         */
    size_t n_cu_mode;              /* of those, had WGP mode and lost it                          */
    size_t n_split;                /* of those, too large for CU mode: accesses in pieces         */
    size_t n_flat_elsewhere;       /* of those, too large, FLAT accesses which never are of LDS   */
    size_t n_wide_flat;            /* of those, too large, FLAT accesses which may be, and stay   */
    uint64_t old_bytes, new_bytes; /* of code                                                    */
    struct repair_refusal *refusals;
    size_t n_refusals, room;
};

void repair_report_deinit(struct repair_report *report);
/* Adds a copy; RMCP_E_NOMEM. */
rmcp_status repair_report_refuse(struct repair_report *report, const char *name, const char *reason,
                                 bool is_kernel);
/* Takes everything of `one`, which is empty afterwards. */
rmcp_status repair_report_merge(struct repair_report *report, struct repair_report *one);

/* Which operator a kernel belongs to, as far as its name tells: "syr2k_kernel",
 * "vectorized_elementwise_kernel: CUDAFunctor_add". */
enum { REPAIR_OPERATOR = 160 };
void repair_operator(const char *kernel, char out[static REPAIR_OPERATOR]);

/* Chips that code can be made for: gfx1010, gfx1011, gfx1012. RMCP_E_ARG, with the reason, for
 * others. */
rmcp_status repair_target_parse(const char *name, enum isa_chip *out);

struct repair_code {
    enum isa_chip target;
    bool is_named; /* the host code takes the chip for gfx1030 where rocPRIM asks for its name */
};

/* One code object. On RMCP_OK `*out` is the caller's to free(), or NULL when the object carries our
 * note already. RMCP_E_UNSUPPORTED, with the reason: nothing of it can be repaired. `report` grows
 * by what was done. */
rmcp_status repair_object(const void *bytes, size_t size, const struct repair_code *code,
                          struct repair_report *report, uint8_t **out, size_t *out_size);

/* ---- files and folders ---- */

struct repair_options {
    enum isa_chip target;
    bool dry_run;  /* everything but writing */
    bool replace;  /* also where there is code for the chip; else that stays */
    uint32_t jobs; /* workers; 0: one a core */
    void *context;
    /* May be NULL. Files and code objects; one thread at a time. */
    void (*progress)(void *context, size_t done, size_t total, const char *path);
};

/* Write `to` from `from`: a file from a file, a wheel from a wheel, a folder from a folder; see
 * docs/repair.md. `to` must
 * not be there yet, and is there whole or not at all; with dry_run it is not read. What cannot be
 * repaired is no error but in the report. */
rmcp_status repair_path(const char *from, const char *to, const struct repair_options *options,
                        struct repair_report *report);

/* ---- in place ---- */

struct repair_installed {
    size_t n_changed, n_added; /* files */
    char said[400];            /* what else there is to tell, or "" */
};

/* Repair a folder in place: what changes is kept in FOLDER/rmcp-repair, with a manifest. Whenever
 * it ends, each file is as it was or as it shall be, whole, and repair_restore can bring back what
 * was. RMCP_E_ARG: wrong use; RMCP_E_IO: also when something else changed the files meanwhile. With
 * dry_run nothing is written. */
rmcp_status repair_install(const char *folder, const struct repair_options *options,
                           struct repair_report *report, struct repair_installed *out);

/* Bring back what was there, or nothing at all: RMCP_E_IO, with the file, when one is neither what
 * was there nor what was put there. With `keep_changed` such files stay as they are, and what was
 * kept of them is moved aside. */
rmcp_status repair_restore(const char *folder, bool keep_changed, struct repair_installed *out);

#endif
