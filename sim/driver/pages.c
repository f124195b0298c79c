/* pages.c: page tables of the simulated cards.
 *
 * A page table is a sorted list of ranges that never changes: mapping makes a new one. Queue
 * threads look things up without a lock; what they may still see is freed when none of them is
 * inside vm_enter() … vm_leave(). */
#define _GNU_SOURCE
#include "sim/driver/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct page_table {
    size_t n;
    struct sim_mapping range[];
};

/* What waits until no queue thread can see it. */
struct retired {
    struct retired *next;
    struct page_table *table;
    uint8_t *host;
    uint64_t size, offset;
    int fd;
};

static struct retired *retired;
static atomic_uint inside;

static void release(struct retired *r)
{
    if (r->host) munmap(r->host, r->size);
    if (r->host && r->fd >= 0)
        (void)fallocate(r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)r->offset,
                        (off_t)r->size);
    free(r->table);
    free(r);
}

void pages_release(void)
{
    while (retired && !atomic_load(&inside)) {
        struct retired *r = retired;
        retired = r->next;
        release(r);
    }
}

static void retire(struct retired what)
{
    struct retired *r = malloc(sizeof *r);
    if (!r) return; /* leaked: nothing wrong comes of it */
    *r = what;
    r->next = retired;
    retired = r;
}

void pages_retire(uint8_t *host, uint64_t size, uint64_t offset, int fd)
{
    retire((struct retired){ .host = host, .size = size, .offset = offset, .fd = fd });
}

void vm_enter(void)
{
    atomic_fetch_add(&inside, 1);
}

void vm_leave(void)
{
    atomic_fetch_sub(&inside, 1);
}

/* The last range that begins at or before an address, or -1. */
static long range_before(const struct page_table *table, uint64_t address)
{
    size_t low = 0, high = table ? table->n : 0;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (table->range[middle].first <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return (long)low - 1;
}

bool vm_find(void *context, uint64_t address, struct sim_mapping *out)
{
    struct gpu *gpu = context;
    const struct page_table *table = atomic_load(&gpu->pages);
    const long i = range_before(table, address);
    if (i < 0 || address - table->range[i].first >= table->range[i].bytes) return false;
    *out = table->range[i];
    return true;
}

static bool is_gone(const struct sim_mapping *m)
{
    if (!(m->access & OF_PROGRAM)) return false;
    const uintptr_t first = (uintptr_t)m->host & ~(uintptr_t)(PAGE - 1);
    const size_t bytes = (uintptr_t)m->host + m->bytes - first;
    return msync((void *)first, bytes, MS_ASYNC) && errno == ENOMEM;
}

bool vm_find_there(void *context, uint64_t address, struct sim_mapping *out)
{
    return vm_find(context, address, out) && !is_gone(out);
}

void *vm_at(struct gpu *gpu, uint64_t address, uint64_t bytes, unsigned access)
{
    struct sim_mapping m;
    if (!vm_find(gpu, address, &m) || (m.access & access) != access) return NULL;
    const uint64_t skip = address - m.first;
    return bytes <= m.bytes - skip ? m.host + skip : NULL;
}

void vm_describe(void *context, uint64_t address, char *text, size_t bytes)
{
    struct gpu *gpu = context;
    const struct page_table *table = atomic_load(&gpu->pages);
    const long i = range_before(table, address);
    if (i < 0) {
        snprintf(text, bytes, "before all memory of the card");
        return;
    }
    const struct sim_mapping *m = &table->range[i];
    const uint64_t end = m->first + m->bytes;
    if (address < end && is_gone(m))
        snprintf(text, bytes, "in memory that the program registered and has given back");
    else if (address < end)
        snprintf(text, bytes, "byte %llu of %llu mapped at 0x%llx",
                 (unsigned long long)(address - m->first), (unsigned long long)m->bytes,
                 (unsigned long long)m->first);
    else
        snprintf(text, bytes, "%llu bytes past the %llu mapped at 0x%llx",
                 (unsigned long long)(address - end), (unsigned long long)m->bytes,
                 (unsigned long long)m->first);
}

int pages_change(struct gpu *gpu, const struct sim_mapping *range, bool map)
{
    struct page_table *old = atomic_load(&gpu->pages);
    const size_t n = old ? old->n : 0;
    const long before = range_before(old, range->first);
    if (map) {
        if (before >= 0 && range->first - old->range[before].first < old->range[before].bytes)
            return EINVAL;
        if ((size_t)(before + 1) < n && old->range[before + 1].first - range->first < range->bytes)
            return EINVAL;
    }
    struct page_table *new = malloc(sizeof *new + (n + 1) * sizeof new->range[0]);
    if (!new) return ENOMEM;
    const size_t kept = (size_t)(before + (map ? 1 : 0)); /* ranges in front of the change */
    if (kept) memcpy(new->range, old->range, kept * sizeof new->range[0]);
    size_t from = kept, to = kept;
    if (map)
        new->range[to++] = *range;
    else
        from++;
    if (n > from) memcpy(new->range + to, old->range + from, (n - from) * sizeof new->range[0]);
    new->n = to + (n > from ? n - from : 0);
    atomic_store(&gpu->pages, new);
    if (old) retire((struct retired){ .table = old, .fd = -1 });
    pages_release();
    return 0;
}

void pages_forget(void)
{
    retired = NULL;
    atomic_store(&inside, 0);
}
