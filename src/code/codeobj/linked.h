/* linked.h: what the dynamic linker reads in a program or library of the host. */
#ifndef RMCP_CODEOBJ_LINKED_H
#define RMCP_CODEOBJ_LINKED_H

#include "code/codeobj/codeobj.h"

struct codeobj_linked {
    uint16_t machine;      /* EM_X86_64 is 62                                                    */
    char interpreter[256]; /* the dynamic linker that a program asks for; "": a static program,
                              or a library                                                       */
    char soname[64];       /* "": none, as programs                                              */
};

/* RMCP_E_IO when it is no 64-bit little-endian ELF file, or a damaged one. */
rmcp_status codeobj_linked_read(const void *bytes, size_t size, struct codeobj_linked *out);

/* Whether a file that was read so defines a function of this name for others. */
bool codeobj_linked_exports(const void *bytes, size_t size, const char *name);

#endif
