/* write.h: a code object written again: with other code, other kernel descriptors, another target.
 *
 * What is read is as hostile as in codeobj.h; what is written is read again before it is given out.
 * Nothing that is not named here changes: data, their addresses, symbols' names and order and so
 * the hash tables, arguments in the notes.
 *
 * The order of work: codeobj_write_room says where new code will lie, so that it can be laid out
 * with all its references; codeobj_write makes the new object from it.
 *
 * Thread safety: no global state. */
#ifndef RMCP_CODEOBJ_WRITE_H
#define RMCP_CODEOBJ_WRITE_H

#include "code/codeobj/codeobj.h"

/* ---- where code lies ---- */

enum { CODEOBJ_TEXT_ALIGN = 256 }; /* of the new code, and of the entries of kernels in it */

struct codeobj_room {
    uint64_t old_address, old_size; /* of the code as it is: the one executable section */
    const uint8_t *old_bytes;
    uint64_t new_address; /* where new code, of any size, will begin: behind all data */
};

/* RMCP_E_UNSUPPORTED, with the reason, for objects whose code cannot be replaced: relocatable ones,
 * version 2, no or several executable sections, code in one segment with data, no section headers.
 */
rmcp_status codeobj_write_room(const struct codeobj *object, struct codeobj_room *out);

/* ---- what changes ---- */

/* The new address of an address of the old code, `old_address` to `old_address` + `old_size`.
 * `is_end` false: something starts there (a function, a label, what a relocation points to): where
 * it starts now. `is_end` true: something that lay before it ends there: where that ends now. The
 * two differ where padding or other code was put between. False: there is no such place any more;
 * then the object is refused with the name of what wanted it. */
typedef bool (*codeobj_moved)(void *context, uint64_t address, bool is_end, uint64_t *moved);

/* A kernel as it shall be. Start from codeobj_kernel_change_init and alter fields; the entry offset
 * is not read, codeobj_moved tells it. Numbers of the metadata that change are written into the
 * note (and added where the note has none), all others stay as they are. */
struct codeobj_kernel_change {
    size_t kernel; /* index in the object's kernels; each at most once */
    /* The note does not name it any more, so that HIP does not find it.
     * Its symbol and descriptor stay, and with them the hash table of names; the symbol is no
     * function's any more. */
    bool is_left_out;
    struct codeobj_descriptor descriptor;
    struct codeobj_metadata metadata;
};

void codeobj_kernel_change_init(struct codeobj_kernel_change *change, const struct codeobj *object,
                                size_t kernel);

/* Descriptor and note together. RMCP_E_ARG when the chip has no so many, or no such mode. */
rmcp_status codeobj_kernel_set_vgprs(const struct codeobj *object,
                                     struct codeobj_kernel_change *change, uint32_t n);
rmcp_status codeobj_kernel_set_wgp_mode(const struct codeobj *object,
                                        struct codeobj_kernel_change *change, bool on);
/* Scratch memory of a work-item; enabling it in rsrc2 and SGPRs stays the caller's business. */
void codeobj_kernel_set_private_bytes(struct codeobj_kernel_change *change, uint32_t bytes);

struct codeobj_change {
    /* The new code, for new_address of the room; NULL: the code stays as and where it is, and
     * `moved` is not called. With new code, sections for debuggers are dropped: they would lie. */
    const uint8_t *text;
    size_t text_size;
    codeobj_moved moved;
    void *moved_context;

    const struct codeobj_kernel_change *kernels; /* in any order */
    size_t n_kernels;

    const char *target; /* "gfx1010:xnack-", as for codeobj_retag; NULL: stays */

    /* Contents of a note of owner "RMCP" and type 1 that says what was done, in a section
     * .note.rmcp; replaces an earlier one. NULL: what is there stays. */
    const void *note;
    size_t note_size;
};

enum { CODEOBJ_NOTE_RMCP = 1 };
#define CODEOBJ_NOTE_OWNER "RMCP"

/* On RMCP_OK `*out` is the caller's to free(); on any error it is NULL. `object` stays as it is. */
rmcp_status codeobj_write(const struct codeobj *object, const struct codeobj_change *change,
                          uint8_t **out, size_t *out_size);

/* The contents of the object's note of owner "RMCP", or NULL. */
const uint8_t *codeobj_rmcp_note(const struct codeobj *object, size_t *size);

/* Whether that note is one of rmcp repair, whose notes start like this. */
#define CODEOBJ_NOTE_REPAIR "rmcp repair "
bool codeobj_is_repaired(const struct codeobj *object);

#endif
