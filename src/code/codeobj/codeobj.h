/* codeobj.h: AMDGPU code objects as bytes: reading one, retagging one.
 *
 * Every byte is taken as hostile: nothing outside the given bytes is read, memory and time are
 * bounded by the size of the input, and a damaged input is an error with a message, never a crash.
 * Malformed input is RMCP_E_IO; input that is whole but not for us (another machine, a version
 * that we do not know) is RMCP_E_UNSUPPORTED.
 *
 * Thread safety: no global state; different objects may be used from different threads. */
#ifndef RMCP_CODEOBJ_CODEOBJ_H
#define RMCP_CODEOBJ_CODEOBJ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* ---- targets ---- */

enum codeobj_setting {
    CODEOBJ_UNSUPPORTED = 0, /* the chip does not have the feature, or nothing is said */
    CODEOBJ_ANY = 1,         /* runs with the feature on and off                       */
    CODEOBJ_OFF = 2,
    CODEOBJ_ON = 3
};

enum { CODEOBJ_TARGET_MAX = 64 };

struct codeobj_target {
    const char *chip; /* "gfx1010", "gfx10-1-generic"; static; NULL when `mach` is unknown */
    uint32_t mach;    /* EF_AMDGPU_MACH, the low byte of e_flags                           */
    enum codeobj_setting xnack, sramecc;
    uint32_t generic_version;      /* of a generic target (code object version 6), else 0  */
    char text[CODEOBJ_TARGET_MAX]; /* "gfx906:sramecc+:xnack-", as ROCm writes it          */
};

/* The target that these e_flags mean in code objects of `version` (2 to 6). */
void codeobj_target_read(uint32_t e_flags, unsigned version, struct codeobj_target *out);

/* Read "gfx1010", "gfx90a:xnack+" or the same after a triple or a bundle's "hipv4-amdgcn-…--".
 * Features that are not named become ANY where the chip has them. False: no chip of that name. */
bool codeobj_target_parse(const char *text, struct codeobj_target *out);

/* ---- one code object ---- */

struct codeobj_section {
    const char *name; /* "" when it has none; lives as long as the bytes */
    uint32_t type, link, info;
    uint64_t flags, address, offset, size, entry_size;
    const uint8_t *bytes; /* NULL for NOBITS */
};

struct codeobj_segment {
    uint32_t type, flags;
    uint64_t offset, address, file_size, memory_size, align;
};

/* Addresses are virtual ones of the linked object; in a relocatable object (is_relocatable) they
 * are offsets in the file, because nothing has an address yet. */
struct codeobj_symbol {
    const char *name;
    uint32_t name_length;
    uint8_t type, bind, visibility;
    uint16_t section;
    uint64_t address, size;
};

/* The 64 bytes of NAME.kd (code object versions 3 to 6). For version 2 the fields that
 * amd_kernel_code_t has as well are filled in. */
struct codeobj_descriptor {
    uint32_t group_bytes, private_bytes, kernarg_bytes;
    int64_t entry_offset; /* from the address of the descriptor */
    uint32_t rsrc1, rsrc2, rsrc3;
    uint16_t properties;      /* KERNEL_CODE_PROPERTY_*             */
    uint16_t kernarg_preload; /* length in bits 0-6, offset in 7-15 */
};

enum {
    CODEOBJ_PROPERTY_PRIVATE_SEGMENT_BUFFER = 1 << 0,
    CODEOBJ_PROPERTY_DISPATCH_PTR = 1 << 1,
    CODEOBJ_PROPERTY_QUEUE_PTR = 1 << 2,
    CODEOBJ_PROPERTY_KERNARG_SEGMENT_PTR = 1 << 3,
    CODEOBJ_PROPERTY_DISPATCH_ID = 1 << 4,
    CODEOBJ_PROPERTY_FLAT_SCRATCH_INIT = 1 << 5,
    CODEOBJ_PROPERTY_PRIVATE_SEGMENT_SIZE = 1 << 6,
    CODEOBJ_PROPERTY_WAVE32 = 1 << 10,
    CODEOBJ_PROPERTY_DYNAMIC_STACK = 1 << 11
};

struct codeobj_argument {
    const char *name;          /* "" when the compiler left it out          */
    const char *kind;          /* "global_buffer", "hidden_block_count_x" … */
    const char *address_space; /* "global", "local" …, "" for values        */
    uint32_t offset, size;
    bool hidden; /* the kind starts with "hidden_" */
};

/* What the note says of a kernel; a number that is not there is 0. */
struct codeobj_metadata {
    uint32_t group_bytes, private_bytes, kernarg_bytes, kernarg_align;
    uint32_t sgpr_count, vgpr_count, agpr_count;
    uint32_t sgpr_spill_count, vgpr_spill_count;
    uint32_t wavefront_size, max_flat_workgroup_size;
    uint32_t workgroup_processor_mode, uses_dynamic_stack;
    uint32_t required_workgroup_size[3];
};

struct codeobj_function {
    const char *name; /* "" when only a kernel's descriptor tells of it          */
    uint64_t address, size;
    const uint8_t *code; /* never NULL; `size` bytes; may be unaligned in memory */
    uint64_t offset;     /* of the code in the file                              */
    bool size_known;     /* from the symbol; else up to the next function        */
};

struct codeobj_kernel {
    const char *name;   /* without ".kd" */
    const char *symbol; /* "NAME.kd"; in version 2 the same as the name */
    bool has_descriptor, has_metadata;
    uint64_t descriptor_address, descriptor_offset;
    uint64_t symbol_size; /* 64; in version 2 its header and code together */
    struct codeobj_descriptor descriptor;
    struct codeobj_metadata metadata;
    const struct codeobj_argument *arguments;
    size_t n_arguments;
    const struct codeobj_function *function; /* its code; NULL when the entry is not in the file */
};

struct codeobj {
    const uint8_t *bytes;
    size_t size;
    unsigned version; /* 2 to 6; 0 when it is not for HSA (Mesa, PAL): then there are no kernels */
    uint32_t e_flags;
    uint8_t os_abi, abi_version;
    bool is_relocatable;
    struct codeobj_target target;
    const char *note_target; /* amdhsa.target, "" when the note has none */
    const struct codeobj_section *sections;
    size_t n_sections;
    const struct codeobj_segment *segments;
    size_t n_segments;
    const struct codeobj_symbol *symbols; /* of .symtab and .dynsym, in this order */
    size_t n_symbols;
    const struct codeobj_function *functions; /* all known code, by rising address, no two alike */
    size_t n_functions;
    const struct codeobj_kernel *kernels; /* in the order of the notes, then those without one */
    size_t n_kernels;
    struct codeobj_arena *arena; /* all of the above */
};

/* Read the code object in these bytes, which stay the caller's and must outlive `*out`.
 * On RMCP_OK `*out` is to be closed with codeobj_close; on any error it is NULL. */
rmcp_status codeobj_open(const void *bytes, size_t size, struct codeobj **out);
void codeobj_close(struct codeobj *object); /* NULL is fine */

/* The kernel of that name (without ".kd"), or NULL. Linear. */
const struct codeobj_kernel *codeobj_find_kernel(const struct codeobj *object, const char *name);

/* The file bytes behind `size` bytes at an address, or NULL. */
const uint8_t *codeobj_at(const struct codeobj *object, uint64_t address, uint64_t size);

/* ---- retagging ---- */

/* Copy a code object of version 3 to 6 and say that it is for another chip of the same generation
 * (gfx9, gfx10, gfx11 or gfx12): e_flags and the target in the notes change, nothing else does, so
 * it is for the caller to know that the code is right for the chip that will run it. A feature
 * setting that `target` does not name is kept where the new chip has the feature. Notes that became
 * longer move to the end of the file. On RMCP_OK `*out` is the caller's to free(); on any error it
 * is NULL. */
rmcp_status codeobj_retag(const void *bytes, size_t size, const char *target, uint8_t **out,
                          size_t *out_size);

#endif
