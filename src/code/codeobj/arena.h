/* arena.h: memory of one code object, freed in one go. */
#ifndef RMCP_CODEOBJ_ARENA_H
#define RMCP_CODEOBJ_ARENA_H

#include <stddef.h>

struct codeobj_arena;

struct codeobj_arena *arena_create(void); /* NULL: out of memory */
void arena_destroy(struct codeobj_arena *arena);

/* Zeroed, suitably aligned memory for n things of `size` bytes; NULL when there is none. */
void *arena_alloc(struct codeobj_arena *arena, size_t n, size_t size);

/* A terminated copy; a NUL within ends it early, like any C string. */
const char *arena_string(struct codeobj_arena *arena, const void *bytes, size_t length);

#endif
