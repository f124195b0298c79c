/* chip_names.h: host code that reads a card's name letter by letter, made to take one chip for
 * another.
 *
 * rocPRIM chooses the sizes of its kernels by the card's name. Compilers turn its list of names
 * into rows of comparisons of one byte each; in such a row the letter in which two names differ can
 * be compared with both, in the same number of bytes. Other forms (a table of pointers, a map) are
 * not understood, and nothing is done about them. */
#ifndef RMCP_CODEOBJ_CHIP_NAMES_H
#define RMCP_CODEOBJ_CHIP_NAMES_H

#include "code/codeobj/containers.h"

struct codeobj_naming {
    struct codeobj_patch *patches; /* malloc()ed, by rising offset */
    size_t n_patches;
    size_t n_places; /* rows; 0: there is none, or something of the file is not understood */
};

/* What is to be changed in a library or program of the host, so that wherever it looks for the chip
 * `known` ("gfx1030") it is content with `also` ("gfx1010"), too. Both have the same length. Names
 * that have the letter of either at each place pass as well. rocPRIM's own symbols are hidden from
 * other libraries, which may have the same functions and believe otherwise. RMCP_E_NOMEM. */
rmcp_status codeobj_accept_name(const void *bytes, size_t size, const char *known, const char *also,
                                struct codeobj_naming *out);
/* Whether such code takes the chip `name` for `known`. */
bool codeobj_name_passes(const char *known, const char *also, const char *name);
void codeobj_naming_deinit(struct codeobj_naming *naming);

#endif
