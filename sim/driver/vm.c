/* vm.c: memory of the simulated cards: allocations, where they are mapped, who shares them. */
#define _GNU_SOURCE
#include "sim/driver/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define NOTES (UINT64_C(1) << 49) /* of a card's file: a page with a note for each allocation */
#define MMIO_OFFSET 0x80000u      /* of the page of registers in a card's part of the kfd file */

struct allocation {
    bool used, imported; /* from another process */
    struct gpu *gpu;
    uint64_t va, size, offset;
    uint32_t flags, mapped; /* bit for each card                     */
    unsigned n_parts;       /* mappings of parts, by calls of gem.c  */
    uint8_t *host;
    struct amdgpu_note *note; /* NULL: not looked at yet */
};

static struct allocation *allocations;
static size_t n_allocations, room;

/* Handles are the card's id and the number of the allocation, from 1. With the lock held. */
static struct allocation *by_handle(uint64_t handle)
{
    const uint64_t number = (uint32_t)handle;
    if (!number || number > n_allocations || !allocations[number - 1].used) return NULL;
    struct allocation *a = &allocations[number - 1];
    return a->gpu->id == handle >> 32 ? a : NULL;
}

static struct allocation *new_allocation(void)
{
    for (size_t i = 0; i < n_allocations; i++)
        if (!allocations[i].used) return &allocations[i];
    if (n_allocations == room) {
        const size_t more = room ? 2 * room : 256;
        struct allocation *list = realloc(allocations, more * sizeof *list);
        if (!list) return NULL;
        allocations = list;
        room = more;
    }
    allocations[n_allocations].used = false;
    return &allocations[n_allocations++];
}

/* Memory of the card, or of the host for it: a piece of the card's file. */
static int back_by_file(struct allocation *a)
{
    struct gpu *gpu = a->gpu;
    const bool vram = a->flags & KFD_MEMORY_VRAM;
    if (vram && a->size > sim_card_memory(gpu->card) - gpu->vram_used) return ENOMEM;
    a->host = mmap(NULL, a->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, gpu->fd,
                   (off_t)gpu->file_end);
    if (a->host == MAP_FAILED) return ENOMEM;
    a->offset = gpu->file_end;
    gpu->file_end += (a->size + 0x1fffff) & ~UINT64_C(0x1fffff);
    if (vram) gpu->vram_used += a->size;
    return 0;
}

static int back(struct allocation *a, uint64_t *mmap_offset)
{
    if (a->flags & KFD_MEMORY_USERPTR) {
        a->host = (uint8_t *)(uintptr_t)*mmap_offset;
        return a->host ? 0 : EINVAL;
    }
    if (a->flags & KFD_MEMORY_DOORBELL) {
        a->host = a->gpu->doorbells;
        *mmap_offset = driver_kfd_offset(a->gpu->index);
        return a->size <= DOORBELL_BYTES ? 0 : EINVAL;
    }
    if (a->flags & KFD_MEMORY_MMIO) {
        a->offset = driver_kfd_offset(a->gpu->index) + MMIO_OFFSET;
        *mmap_offset = a->offset;
        if (a->size > PAGE) return EINVAL;
        a->host =
            mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, driver.kfd_fd, (off_t)a->offset);
        return a->host == MAP_FAILED ? ENOMEM : 0;
    }
    const int error = back_by_file(a);
    *mmap_offset = a->offset;
    return error;
}

int vm_alloc(struct kfd_alloc_memory *args)
{
    const unsigned kinds = args->flags & 31;
    struct gpu *gpu = driver_gpu(args->gpu_id);
    if (!gpu || !args->size || args->size > UINT64_C(1) << 46 || args->va + args->size < args->va)
        return EINVAL;
    if (!kinds || kinds & (kinds - 1) || args->flags & KFD_MEMORY_AQL_QUEUE) return EINVAL;
    pthread_mutex_lock(&driver.lock);
    struct allocation *a = new_allocation();
    int error = a ? 0 : ENOMEM;
    if (a) {
        *a = (struct allocation){ .gpu = gpu,
                                  .va = args->va,
                                  .size = (args->size + PAGE - 1) & ~(uint64_t)(PAGE - 1),
                                  .flags = args->flags };
        error = back(a, &args->mmap_offset);
    }
    if (!error) {
        a->used = true;
        args->handle = (uint64_t)gpu->id << 32 | (uint64_t)(a - allocations + 1);
    }
    pthread_mutex_unlock(&driver.lock);
    driver_log("alloc 0x%llx bytes at 0x%llx flags 0x%x: %d", (unsigned long long)args->size,
               (unsigned long long)args->va, args->flags, error);
    return error;
}

static uint64_t note_offset(const struct allocation *a)
{
    return NOTES + (uint64_t)(a - allocations) * PAGE;
}

int vm_free(uint64_t handle)
{
    pthread_mutex_lock(&driver.lock);
    struct allocation *a = by_handle(handle);
    const int error = !a                        ? EINVAL
                      : a->mapped || a->n_parts ? EBUSY
                      : handle == events_page() ? EPERM
                                                : 0;
    if (!error) {
        const bool file = a->flags & (KFD_MEMORY_VRAM | KFD_MEMORY_GTT) && !a->imported;
        if (a->flags & KFD_MEMORY_VRAM && !a->imported) a->gpu->vram_used -= a->size;
        if (file || a->imported || a->flags & KFD_MEMORY_MMIO)
            pages_retire(a->host, a->size, a->offset, file ? a->gpu->fd : -1);
        if (a->note) munmap(a->note, PAGE);
        if (a->note && file)
            (void)fallocate(a->gpu->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                            (off_t)note_offset(a), PAGE);
        a->used = false;
        pages_release();
    }
    pthread_mutex_unlock(&driver.lock);
    return error;
}

static unsigned access_of(const struct allocation *a)
{
    unsigned access = SIM_READ;
    if (a->flags & KFD_MEMORY_WRITABLE) access |= SIM_WRITE;
    if (a->flags & KFD_MEMORY_EXECUTABLE) access |= SIM_EXECUTE;
    if (a->flags & KFD_MEMORY_USERPTR) access |= OF_PROGRAM;
    return access;
}

int vm_map(struct kfd_map_memory *args, bool map)
{
    const uint32_t *ids = (const uint32_t *)(uintptr_t)args->device_ids;
    if (!args->n_devices || !ids || args->n_success > args->n_devices) return EINVAL;
    int error = 0;
    pthread_mutex_lock(&driver.lock);
    struct allocation *a = by_handle(args->handle);
    if (!a) error = EINVAL;
    for (uint32_t i = args->n_success; i < args->n_devices && !error; i++) {
        struct gpu *gpu = driver_gpu(ids[i]);
        const uint32_t bit = gpu ? 1u << gpu->index : 0;
        if (!gpu) {
            error = EINVAL;
        } else if (map != !!(a->mapped & bit)) {
            const struct sim_mapping range = { a->va, a->size, a->host, access_of(a) };
            error = pages_change(gpu, &range, map);
            if (!error) a->mapped ^= bit;
        }
        if (!error) args->n_success = i + 1;
    }
    pthread_mutex_unlock(&driver.lock);
    return error;
}

void *vm_of_handle(uint64_t handle, uint64_t bytes)
{
    pthread_mutex_lock(&driver.lock);
    const struct allocation *a = by_handle(handle);
    void *host = a && a->size >= bytes ? a->host : NULL;
    pthread_mutex_unlock(&driver.lock);
    return host;
}

/* ---- memory that is passed on, parts of allocations ---- */

bool vm_piece(uint64_t handle, struct vm_piece *out)
{
    pthread_mutex_lock(&driver.lock);
    const struct allocation *a = by_handle(handle);
    const bool there = a && !a->imported && a->flags & (KFD_MEMORY_VRAM | KFD_MEMORY_GTT);
    if (there) *out = (struct vm_piece){ a->gpu->id, a->flags, a->offset, a->size, note_offset(a) };
    pthread_mutex_unlock(&driver.lock);
    return there;
}

/* It counts against the card's memory where it was allocated. */
int vm_import(const struct vm_piece *piece, int file, uint64_t va, uint64_t *handle)
{
    struct gpu *gpu = driver_gpu(piece->gpu_id);
    if (!gpu || !piece->bytes || piece->bytes % PAGE || va % PAGE) return EINVAL;
    uint8_t *host = mmap(NULL, piece->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                         file, (off_t)piece->offset);
    void *note = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)piece->note);
    if (host == MAP_FAILED || note == MAP_FAILED) {
        if (host != MAP_FAILED) munmap(host, piece->bytes);
        if (note != MAP_FAILED) munmap(note, PAGE);
        return ENOMEM;
    }
    pthread_mutex_lock(&driver.lock);
    struct allocation *a = new_allocation();
    if (a) {
        *a = (struct allocation){ .used = true,
                                  .imported = true,
                                  .gpu = gpu,
                                  .va = va,
                                  .size = piece->bytes,
                                  .flags = piece->flags,
                                  .host = host,
                                  .note = note };
        *handle = (uint64_t)gpu->id << 32 | (uint64_t)(a - allocations + 1);
    }
    pthread_mutex_unlock(&driver.lock);
    if (!a) {
        munmap(host, piece->bytes);
        munmap(note, PAGE);
    }
    return a ? 0 : ENOMEM;
}

/* With the lock held. */
static struct allocation *by_number(uint32_t number)
{
    return number && number <= n_allocations && allocations[number - 1].used
               ? &allocations[number - 1]
               : NULL;
}

void vm_forget_import(uint32_t number)
{
    pthread_mutex_lock(&driver.lock);
    const struct allocation *a = by_number(number);
    const bool ours = a && a->imported && !a->va;
    const uint64_t handle = ours ? (uint64_t)a->gpu->id << 32 | number : 0;
    pthread_mutex_unlock(&driver.lock);
    if (ours) (void)vm_free(handle);
}

int vm_note(uint32_t number, struct amdgpu_note *note, bool write)
{
    pthread_mutex_lock(&driver.lock);
    struct allocation *a = by_number(number);
    int error = a && a->flags & (KFD_MEMORY_VRAM | KFD_MEMORY_GTT) ? 0 : EINVAL;
    if (!error && !a->note) {
        void *page =
            mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, a->gpu->fd, (off_t)note_offset(a));
        if (page == MAP_FAILED)
            error = ENOMEM;
        else
            a->note = page;
    }
    if (!error && write) *a->note = *note;
    if (!error && !write) *note = *a->note;
    pthread_mutex_unlock(&driver.lock);
    return error;
}

bool vm_file_offset(struct gpu *gpu, uint32_t number, uint64_t *offset)
{
    pthread_mutex_lock(&driver.lock);
    const struct allocation *a = by_number(number);
    const bool there =
        a && a->gpu == gpu && !a->imported && a->flags & (KFD_MEMORY_VRAM | KFD_MEMORY_GTT);
    if (there) *offset = a->offset;
    pthread_mutex_unlock(&driver.lock);
    return there;
}

bool vm_creation(uint32_t number, struct amdgpu_creation *out)
{
    pthread_mutex_lock(&driver.lock);
    const struct allocation *a = by_number(number);
    const bool vram = a && a->flags & KFD_MEMORY_VRAM;
    if (a)
        *out = (struct amdgpu_creation){
            .bytes = a->size,
            .alignment = PAGE,
            .domains = vram ? AMDGPU_DOMAIN_VRAM : AMDGPU_DOMAIN_GTT,
        };
    pthread_mutex_unlock(&driver.lock);
    return a;
}

int vm_map_part(struct gpu *gpu, uint32_t number, uint64_t offset, const struct sim_mapping *range)
{
    if (!range->bytes || (range->first | range->bytes | offset) % PAGE ||
        range->first + range->bytes < range->first)
        return EINVAL;
    pthread_mutex_lock(&driver.lock);
    struct allocation *a = by_number(number);
    int error = a && offset <= a->size && range->bytes <= a->size - offset ? 0 : EINVAL;
    if (!error) {
        const struct sim_mapping part = { range->first, range->bytes, a->host + offset,
                                          range->access };
        error = pages_change(gpu, &part, true);
    }
    if (!error) a->n_parts++;
    pthread_mutex_unlock(&driver.lock);
    return error;
}

int vm_unmap_part(struct gpu *gpu, uint32_t number, const struct sim_mapping *range)
{
    struct sim_mapping there;
    pthread_mutex_lock(&driver.lock);
    struct allocation *a = by_number(number);
    const bool right = a && a->n_parts && vm_find(gpu, range->first, &there) &&
                       there.first == range->first && there.bytes == range->bytes &&
                       there.host >= a->host && there.host < a->host + a->size;
    const int error = right ? pages_change(gpu, &there, false) : EINVAL;
    if (!error) a->n_parts--;
    pthread_mutex_unlock(&driver.lock);
    return error;
}

/* The mappings themselves stay with the child: harmless, and its program may still point there. */
void vm_forget(void)
{
    allocations = NULL; /* another thread may have been changing it */
    n_allocations = room = 0;
    pages_forget();
}
