/* card.c: the simulated card as the tests use it: calls, memory, events, and a copy queue. */
#define _GNU_SOURCE
#include "driver.h"

#include "sim/cards/cards.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int kfd = -1, render = -1;
uint32_t gpu;
struct block slots, ring, pointers, from, to;
static uint32_t queue_id;

int call(unsigned number, void *argument, size_t bytes)
{
    return ioctl(kfd, _IOC(_IOC_READ | _IOC_WRITE, 'K', number, bytes), argument) ? errno : 0;
}

int allocate(uint64_t va, uint64_t size, uint32_t flags, struct kfd_alloc_memory *a)
{
    *a = (struct kfd_alloc_memory){ .va = va, .size = size, .gpu_id = gpu, .flags = flags };
    return CALL(KFD_ALLOC_MEMORY, *a);
}

int map(uint64_t handle, unsigned number)
{
    struct kfd_map_memory m = { handle, (uint64_t)(uintptr_t)&gpu, 1, 0 };
    return CALL(number, m);
}

struct block block(uint64_t size, uint32_t flags)
{
    struct kfd_alloc_memory a;
    struct block b = { .size = size };
    b.host = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(b.host != MAP_FAILED);
    b.va = (uint64_t)(uintptr_t)b.host;
    assert_int_equal(allocate(b.va, size, flags, &a), 0);
    b.handle = a.handle;
    assert_true(mmap(b.host, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, render,
                     (off_t)a.mmap_offset) == b.host);
    assert_int_equal(map(b.handle, KFD_MAP_MEMORY), 0);
    return b;
}

void release(struct block *b)
{
    struct kfd_memory_handle h = { b->handle };
    assert_int_equal(map(b->handle, KFD_UNMAP_MEMORY), 0);
    assert_int_equal(CALL(KFD_FREE_MEMORY, h), 0);
    munmap(b->host, b->size);
}

int open_devices(void **state)
{
    struct kfd_apertures apertures[SIM_MAX_CARDS];
    struct kfd_get_apertures question = { (uint64_t)(uintptr_t)apertures, SIM_MAX_CARDS, 0 };
    (void)state;
    kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
    render = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
    if (kfd < 0 || render < 0 || CALL(KFD_GET_APERTURES, question) || question.n_nodes != 1)
        return -1;
    gpu = apertures[0].gpu_id;
    struct kfd_acquire_vm vm = { (uint32_t)render, gpu };
    return CALL(KFD_ACQUIRE_VM, vm);
}

uint32_t new_event(uint32_t type, uint32_t *slot)
{
    struct kfd_create_event e = { .type = type, .auto_reset = 1, .page_offset = slots.handle };
    assert_int_equal(CALL(KFD_CREATE_EVENT, e), 0);
    if (slot) *slot = e.slot;
    return e.event_id;
}

int wait_for(struct kfd_event_data *data, uint32_t n, bool all, uint32_t ms)
{
    struct kfd_wait_events w = { (uint64_t)(uintptr_t)data, n, all, ms, 9 };
    assert_int_equal(CALL(KFD_WAIT_EVENTS, w), 0);
    return (int)w.result;
}

static uint64_t *read_pointer(void)
{
    return (uint64_t *)(void *)pointers.host;
}

static uint64_t *write_pointer(void)
{
    return (uint64_t *)(void *)(pointers.host + 64);
}

int make_queue(void **state)
{
    (void)state;
    slots = block(32768, KFD_MEMORY_GTT | WRITABLE);
    ring = block(RING_BYTES, KFD_MEMORY_GTT | WRITABLE);
    pointers = block(PAGE, KFD_MEMORY_GTT | WRITABLE);
    from = block(4 * PAGE, KFD_MEMORY_VRAM | WRITABLE);
    to = block(4 * PAGE, KFD_MEMORY_GTT | WRITABLE);
    struct kfd_create_queue q = {
        .ring = ring.va,
        .ring_size = RING_BYTES,
        .read_pointer = (uint64_t)(uintptr_t)read_pointer(),
        .write_pointer = (uint64_t)(uintptr_t)write_pointer(),
        .gpu_id = gpu,
        .type = KFD_QUEUE_SDMA,
    };
    const int error = CALL(KFD_CREATE_QUEUE, q);
    queue_id = q.queue_id;
    return error;
}

int drop_queue(void **state)
{
    struct kfd_queue_id q = { queue_id, 0 };
    (void)state;
    const int error = CALL(KFD_DESTROY_QUEUE, q);
    struct block *const all[] = { &ring, &pointers, &from, &to };
    for (size_t i = 0; i < 4; i++) release(all[i]);
    return error || CALL(KFD_DESTROY_QUEUE, q) != EINVAL;
}

void put(const uint32_t *words, unsigned n)
{
    uint64_t at = *write_pointer();
    if (at % RING_BYTES + n * 4 > RING_BYTES) {
        memset(ring.host + at % RING_BYTES, 0, RING_BYTES - at % RING_BYTES);
        at += RING_BYTES - at % RING_BYTES;
    }
    memcpy(ring.host + at % RING_BYTES, words, n * 4);
    __atomic_store_n(write_pointer(), at + n * 4, __ATOMIC_SEQ_CST);
}

bool drained(void)
{
    return __atomic_load_n(read_pointer(), __ATOMIC_SEQ_CST) == *write_pointer();
}

void drain(void)
{
    while (!drained()) nanosleep(&(struct timespec){ 0, 100000 }, NULL);
}
