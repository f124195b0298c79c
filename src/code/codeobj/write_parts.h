/* write_parts.h: the steps of writing a code object again, each in a file of its own. */
#ifndef RMCP_CODEOBJ_WRITE_PARTS_H
#define RMCP_CODEOBJ_WRITE_PARTS_H

#include "code/codeobj/arena.h"
#include "code/codeobj/buffer.h"
#include "code/codeobj/elf.h"
#include "code/codeobj/write.h"

enum {
    SHT_STRTAB = 3,
    SHT_RELA = 4,
    SHT_DYNAMIC = 6,
    SHT_REL = 9,
    SHT_SYMTAB_SHNDX = 18,
    SHT_RELR = 19,
    SHF_INFO_LINK = 0x40,
    SHN_LORESERVE = 0xff00,
    SHN_XINDEX = 0xffff,
    PT_NULL = 0,
    WRITE_PAGE = 4096
};

/* A PT_LOAD that stays: where its bytes go in the file. Offsets never grow. */
struct write_load {
    struct codeobj_segment old;
    uint64_t new_offset;
};

struct write_section {
    struct codeobj_section old;
    uint64_t align;
    uint32_t number;      /* its new one; 0: dropped (and the first)                         */
    bool is_piece;        /* not loaded, so its bytes are `bytes` and may lie anywhere       */
    const uint8_t *bytes; /* of a piece                                                      */
    uint64_t new_offset, new_size;
};

struct writing {
    const struct codeobj *object;
    const struct codeobj_change *change;
    struct codeobj_arena *arena; /* what lives as long as the writing */
    struct elf_view view;
    struct codeobj_room room; /* zero when the code stays                       */
    size_t text_section;      /* index                                          */
    size_t text_segment;      /* index; n_segments when the code stays          */
    struct write_load *loads; /* by rising offset, without the one that is dropped */
    size_t n_loads;
    struct write_section *sections; /* one more than the object has: .note.rmcp   */
    size_t n_sections;              /* in the new file                            */
    uint64_t text_align, text_offset;
    uint32_t e_flags;
    char note_target[192]; /* "" when it stays                                */
    bool move_notes;       /* they have another size: out of the segments     */
    struct buffer notes;   /* of the sections, one behind the other           */
    struct buffer symbols; /* .symtab                                         */
    struct buffer names;   /* .shstrtab, when it grew                         */
    uint32_t first_global; /* of .symtab                                      */
    uint64_t notes_offset; /* when moved                                      */
    uint64_t *left_out;    /* entries of kernels that are left out, rising    */
    size_t n_left_out;
    uint8_t *out;
    size_t out_size;
};

/* write_room.c: the executable section and segment; `section` and `segment` may be NULL. */
rmcp_status write_find_text(const struct codeobj *object, struct codeobj_room *room,
                            size_t *section, size_t *segment);

/* write_layout.c: which segments and sections stay, and where everything goes. */
rmcp_status write_plan_segments(struct writing *w);
rmcp_status write_plan_sections(struct writing *w);
rmcp_status write_layout(struct writing *w);
/* Offset in the new file of loaded bytes; false: they are not in the file. */
bool write_offset(const struct writing *w, uint64_t address, uint64_t size, uint64_t *offset);

/* write_notes.c: the notes of all sections, changed. */
rmcp_status write_notes_plan(struct writing *w);

/* write_symbols.c */
rmcp_status write_left_out_plan(struct writing *w);
/* Whether a function of this address is a kernel that is left out: its symbol stays, for the hash
 * tables' sake, but is no function any more. HIP 5.2 lists functions by their symbols, and ends the
 * program when the notes do not name one that it listed. */
bool write_is_left_out(const struct writing *w, uint64_t address);
rmcp_status write_symbols_plan(struct writing *w);  /* .symtab, before the layout              */
rmcp_status write_symbols_patch(struct writing *w); /* .dynsym, relocations, .dynamic, entry  */

/* write_kernels.c: descriptors, in the new file. */
rmcp_status write_kernels_patch(struct writing *w);

/* write_check.c: the new object is read, and has what was meant. */
rmcp_status write_check(const struct writing *w);

/* Where something that starts (or ends) at an address of the old code is now; `what` is for the
 * message. */
rmcp_status write_moved(const struct writing *w, uint64_t address, bool is_end, const char *what,
                        uint64_t *moved);
static inline bool write_in_text(const struct writing *w, uint64_t address)
{
    return w->change->text && address >= w->room.old_address &&
           address - w->room.old_address < w->room.old_size;
}

#endif
