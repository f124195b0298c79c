/* arena.c: memory of one code object, freed in one go. */
#include "code/codeobj/arena.h"

#include "base/round.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16384 };

struct block {
    struct block *next;
    size_t used, room;
    alignas(max_align_t) unsigned char bytes[];
};

struct codeobj_arena {
    struct block *blocks;
};

struct codeobj_arena *arena_create(void)
{
    return calloc(1, sizeof(struct codeobj_arena));
}

void arena_destroy(struct codeobj_arena *arena)
{
    if (!arena) return;
    for (struct block *block = arena->blocks; block;) {
        struct block *next = block->next;
        free(block);
        block = next;
    }
    free(arena);
}

void *arena_alloc(struct codeobj_arena *arena, size_t n, size_t size)
{
    const size_t step = alignof(max_align_t);
    if (size && n > (SIZE_MAX / 2 - sizeof(struct block)) / size) return NULL;
    size_t wanted = (size_t)rmcp_round_up(n * size, step);
    struct block *block = arena->blocks;
    if (!block || block->room - block->used < wanted) {
        size_t room = wanted > BLOCK ? wanted : BLOCK;
        struct block *fresh = calloc(1, sizeof *fresh + room);
        if (!fresh) return NULL;
        fresh->room = room;
        /* A large piece goes behind the current block, whose rest stays in use. */
        if (block && wanted > BLOCK / 2) {
            fresh->next = block->next;
            block->next = fresh;
        } else {
            fresh->next = block;
            arena->blocks = fresh;
        }
        block = fresh;
    }
    void *at = block->bytes + block->used;
    block->used += wanted;
    return at;
}

const char *arena_string(struct codeobj_arena *arena, const void *bytes, size_t length)
{
    char *copy = arena_alloc(arena, length + 1, 1);
    if (copy && length) memcpy(copy, bytes, length);
    return copy;
}
