/* parts.h: the steps of reading a code object, each in a file of its own. */
#ifndef RMCP_CODEOBJ_PARTS_H
#define RMCP_CODEOBJ_PARTS_H

#include "code/codeobj/arena.h"
#include "code/codeobj/elf.h"

/* More than any real object has (rocBLAS: 15,651 kernels in all its gfx1030 objects together). */
enum { MAX_KERNELS = 1 << 18, MAX_ARGUMENTS = 1 << 21, LONGEST_NAME = 65536 };

/* symbols.c: .symtab and .dynsym, or the dynamic table of a file without section headers. */
rmcp_status symbols_read(const struct elf_view *view, struct codeobj *object);

/* metadata.c: the kernels that the notes describe, and their target. */
struct metadata {
    struct codeobj_arena *arena;
    struct codeobj_kernel *kernels;
    size_t n, room, n_arguments;
    const char *target;
};
rmcp_status metadata_read(void *metadata, const struct elf_note *note);

/* The numbers of a kernel: their keys, and where they are (uint32_t) in struct codeobj_metadata. */
enum { METADATA_NUMBERS = 13 };
struct metadata_number {
    const char *key;
    size_t offset;
};
extern const struct metadata_number metadata_numbers[METADATA_NUMBERS];

/* kernels.c: the `n` kernels of the notes and their descriptors, then those without a note. */
rmcp_status kernels_read(const struct elf_view *view, struct codeobj *object,
                         const struct codeobj_kernel *noted, size_t n);

/* functions.c: all code that symbols and descriptors tell of, and each kernel's. */
rmcp_status functions_read(const struct elf_view *view, struct codeobj *object,
                           struct codeobj_kernel *kernels);

/* retag.c: what the ELF header says when `object` is for the target `text`, which is read into
 * `target`; and what its note says then ("amdgcn-amd-amdhsa--gfx1010"). */
rmcp_status retag_flags(const struct codeobj *object, const char *text,
                        struct codeobj_target *target, uint32_t *flags);
enum { RETAG_NAME_MAX = 192 };
void retag_name(const struct codeobj *object, const struct codeobj_target *target,
                char out[RETAG_NAME_MAX]);

#endif
