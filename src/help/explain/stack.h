/* stack.h: the stack of a crash, as debuggers, systemd, glibc and Windows print it: which library
 * was innermost. Internal to src/help/explain. */
#ifndef RMCP_EXPLAIN_STACK_H
#define RMCP_EXPLAIN_STACK_H

#include "help/explain/explain.h"

/* A row of stack.c: libraries of one kind. */
struct explain_library {
    const char *names; /* starts of file names, separated by blanks */
    const char *is;    /* "HIP's runtime library"; NULL: through it everything passes */
    const char *id;    /* the class of a crash in it */
};

struct explain_stack {
    const struct explain_library *library; /* of the innermost frame that tells; NULL: none */
    uint64_t line;
    bool closed;   /* a frame was met that is none of these: what lies further out says nothing */
    uint64_t bare; /* the first frame that names no library; 0: none */
    char bare_excerpt[sizeof((struct explain_match *)0)->excerpt];
    char name[64];
    char excerpt[sizeof((struct explain_match *)0)->excerpt];
};

/* A line was read; one that is no frame of a stack changes nothing. */
void explain_note_stack(struct explain_stack *stack, uint64_t number, const char *line,
                        size_t length);

/* Say where a crash was; where nothing else was found, the stack itself is a finding. True when it
 * is; it stands last then. */
bool explain_read_stack(const struct explain_stack *stack, struct explain_result *result);

#endif
