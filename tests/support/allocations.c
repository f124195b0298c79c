/* allocations.c: the linker sends the engine's calls of malloc and its kin through here. */
#include "allocations.h"

#include <stdatomic.h>
#include <stddef.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void __real_free(void *block);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void __wrap_free(void *block);

static atomic_long n_calls; /* since the last allocations_arm()              */
static atomic_long n_live;  /* blocks allocated and not yet freed            */
static long fail_first;     /* the call that fails; 0: none                  */
static bool fail_rest;      /* and all that follow it                        */

void allocations_arm(long first, bool rest)
{
    n_calls = 0;
    fail_first = first;
    fail_rest = rest;
}

long allocations_calls(void)
{
    return n_calls;
}

long allocations_live(void)
{
    return n_live;
}

static bool refused(void)
{
    const long call = ++n_calls;
    return fail_first && (call == fail_first || (fail_rest && call > fail_first));
}

static void *counted(void *block)
{
    if (block) n_live++;
    return block;
}

void *__wrap_malloc(size_t bytes)
{
    return refused() ? NULL : counted(__real_malloc(bytes));
}

void *__wrap_calloc(size_t n, size_t bytes)
{
    return refused() ? NULL : counted(__real_calloc(n, bytes));
}

void *__wrap_realloc(void *old, size_t bytes)
{
    if (refused()) return NULL;
    void *block = __real_realloc(old, bytes);
    return old ? block : counted(block);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return refused() ? NULL : counted(__real_aligned_alloc(alignment, bytes));
}

void __wrap_free(void *block)
{
    if (block) n_live--;
    __real_free(block);
}
