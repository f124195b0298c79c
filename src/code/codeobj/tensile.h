/* tensile.h: Tensile's index files (TensileLibrary*.dat, MessagePack): which kernels in which files
 * serve which problems, on which chips. */
#ifndef RMCP_CODEOBJ_TENSILE_H
#define RMCP_CODEOBJ_TENSILE_H

#include "code/codeobj/codeobj.h"

/* Called for each string that is a value, with the key of the innermost map ("" outside of maps and
 * where the key is no string): a predicate's "value", a file's or kernel's name. Neither ends with
 * a zero. */
typedef rmcp_status (*codeobj_tensile_visit)(void *context, const char *key, size_t key_length,
                                             const char *text, size_t length);

/* RMCP_E_IO when the bytes are not one whole value of MessagePack. */
rmcp_status codeobj_tensile_read(const void *bytes, size_t size, codeobj_tensile_visit visit,
                                 void *context);

/* A copy for another chip: where a string names the chip `from` ("gfx1030" as a word: the
 * processor's predicate, names of files), it names `to`. Everything else is kept byte by byte.
 * `*n` strings were changed; n may be NULL. `*out` is to be freed. */
rmcp_status codeobj_tensile_retarget(const void *bytes, size_t size, const char *from,
                                     const char *to, uint8_t **out, size_t *out_size, size_t *n);

#endif
