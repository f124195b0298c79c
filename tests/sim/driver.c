/* driver.c: the simulated kernel driver by its own interface, without ROCm: run by rmcp sim. */
#define _GNU_SOURCE
#include "sim/driver/abi.h"
#include "sim/driver/cards.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGE = 4096, RING_BYTES = 4096 };
#define WRITABLE (KFD_MEMORY_WRITABLE | KFD_MEMORY_EXECUTABLE)

static int kfd = -1, render = -1;
static uint32_t gpu;

static int call(unsigned number, void *argument, size_t bytes)
{
    return ioctl(kfd, _IOC(_IOC_READ | _IOC_WRITE, 'K', number, bytes), argument) ? errno : 0;
}
#define CALL(number, argument) call(number, &(argument), sizeof(argument))

/* Memory of the card or the host, mapped for both at the same address. */
struct block {
    uint8_t *host;
    uint64_t va, size, handle;
};

static int allocate(uint64_t va, uint64_t size, uint32_t flags, struct kfd_alloc_memory *a)
{
    *a = (struct kfd_alloc_memory){ .va = va, .size = size, .gpu_id = gpu, .flags = flags };
    return CALL(KFD_ALLOC_MEMORY, *a);
}

static int map(uint64_t handle, unsigned number)
{
    struct kfd_map_memory m = { handle, (uint64_t)(uintptr_t)&gpu, 1, 0 };
    return CALL(number, m);
}

static struct block block(uint64_t size, uint32_t flags)
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

static void release(struct block *b)
{
    struct kfd_memory_handle h = { b->handle };
    assert_int_equal(map(b->handle, KFD_UNMAP_MEMORY), 0);
    assert_int_equal(CALL(KFD_FREE_MEMORY, h), 0);
    munmap(b->host, b->size);
}

static int open_devices(void **state)
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

/* ---- devices ---- */

static void devices_look_like_devices(void **state)
{
    struct stat status;
    (void)state;
    assert_int_equal(fstat(render, &status), 0);
    assert_true(S_ISCHR(status.st_mode) && status.st_rdev == makedev(226, 128));
    assert_int_equal(stat("/dev/kfd", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
    assert_int_equal(stat("/sys/dev/char/226:128/device/drm", &status), 0);
    assert_int_equal(access("/dev/dri/renderD128", R_OK), 0);
    assert_int_equal(access("/dev/dri/renderD129", R_OK), -1);
    assert_int_equal(open("/dev/dri/renderD130", O_RDWR), -1);
    char *path = realpath("/sys/class/drm/renderD128/device", NULL);
    assert_string_equal(path, "/sys/bus/pci/devices/0000:03:00.0");
    free(path);
    const int copy = dup(kfd);
    struct kfd_version version = { 0, 0 };
    assert_int_equal(ioctl(copy, _IOC(_IOC_READ, 'K', KFD_GET_VERSION, sizeof version), &version),
                     0);
    assert_int_equal(version.major, 1);
    close(copy);
    assert_int_equal(ioctl(copy, _IOC(_IOC_READ, 'K', KFD_GET_VERSION, sizeof version), &version),
                     -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(call(0x7f, &version, sizeof version), EINVAL);
}

static void answers_fit_shorter_structures(void **state)
{
    uint64_t old[8] = { 0 };
    struct kfd_create_queue bad = { .gpu_id = gpu };
    (void)state;
    assert_int_equal(call(KFD_GET_VERSION, old, 4), 0);
    assert_int_equal(old[0], 1); /* the minor number had no room */
    assert_int_equal(call(KFD_CREATE_QUEUE, &bad, 88), EINVAL);
}

/* ---- memory ---- */

static void memory_has_a_limit(void **state)
{
    struct kfd_available_memory before = { .gpu_id = gpu }, after = before;
    struct kfd_alloc_memory a, b;
    (void)state;
    assert_int_equal(CALL(KFD_AVAILABLE_MEMORY, before), 0);
    assert_int_equal(before.available, UINT64_C(6128) << 20);
    assert_int_equal(allocate(0x100000000, before.available - PAGE, KFD_MEMORY_VRAM | WRITABLE, &a),
                     0);
    assert_int_equal(allocate(0x900000000, 2 * PAGE, KFD_MEMORY_VRAM | WRITABLE, &b), ENOMEM);
    assert_int_equal(allocate(0x900000000, 2 * PAGE, KFD_MEMORY_GTT | WRITABLE, &b), 0);
    struct kfd_memory_handle first = { a.handle }, second = { b.handle };
    assert_int_equal(CALL(KFD_FREE_MEMORY, first), 0);
    assert_int_equal(CALL(KFD_FREE_MEMORY, first), EINVAL);
    assert_int_equal(CALL(KFD_FREE_MEMORY, second), 0);
    assert_int_equal(CALL(KFD_AVAILABLE_MEMORY, after), 0);
    assert_int_equal(after.available, before.available);
    for (uint32_t flags = 0; flags < 4; flags += 3) /* no kind of memory, and two kinds */
        assert_int_equal(allocate(0x1000, PAGE, flags, &a), EINVAL);
    assert_int_equal(allocate(0x1000, 0, KFD_MEMORY_GTT, &a), EINVAL);
    assert_int_equal(allocate(UINT64_MAX - 10, PAGE, KFD_MEMORY_GTT, &a), EINVAL);
    assert_int_equal(allocate(0x1000, PAGE, KFD_MEMORY_USERPTR, &a), EINVAL);
}

static void mappings_do_not_overlap(void **state)
{
    struct kfd_alloc_memory a[3];
    (void)state;
    const uint64_t va = UINT64_C(0x200000000);
    for (unsigned i = 0; i < 3; i++) /* the second begins inside the first, the third behind it */
        assert_int_equal(allocate(va + i * PAGE, 2 * PAGE, KFD_MEMORY_GTT | WRITABLE, &a[i]), 0);
    assert_int_equal(map(a[0].handle, KFD_MAP_MEMORY), 0);
    assert_int_equal(map(a[0].handle, KFD_MAP_MEMORY), 0); /* nothing more to do */
    assert_int_equal(map(a[1].handle, KFD_MAP_MEMORY), EINVAL);
    assert_int_equal(map(a[2].handle, KFD_MAP_MEMORY), 0);
    struct kfd_memory_handle h = { a[0].handle };
    assert_int_equal(CALL(KFD_FREE_MEMORY, h), EBUSY);
    assert_int_equal(map(a[0].handle, KFD_UNMAP_MEMORY), 0);
    assert_int_equal(map(a[1].handle, KFD_MAP_MEMORY), EINVAL); /* the third is in its way */
    assert_int_equal(map(a[2].handle, KFD_UNMAP_MEMORY), 0);
    assert_int_equal(map(a[1].handle, KFD_MAP_MEMORY), 0);
    assert_int_equal(map(a[1].handle, KFD_UNMAP_MEMORY), 0);
    for (unsigned i = 0; i < 3; i++) {
        h.handle = a[i].handle;
        assert_int_equal(CALL(KFD_FREE_MEMORY, h), 0);
    }
    assert_int_equal(map(12345, KFD_MAP_MEMORY), EINVAL);
    struct kfd_map_memory none = { h.handle, 0, 1, 0 };
    assert_int_equal(CALL(KFD_MAP_MEMORY, none), EINVAL);
}

/* ---- events ---- */

static struct block slots;

static uint32_t new_event(uint32_t type, uint32_t *slot)
{
    struct kfd_create_event e = { .type = type, .auto_reset = 1, .page_offset = slots.handle };
    assert_int_equal(CALL(KFD_CREATE_EVENT, e), 0);
    if (slot) *slot = e.slot;
    return e.event_id;
}

static int wait_for(struct kfd_event_data *data, uint32_t n, bool all, uint32_t ms)
{
    struct kfd_wait_events w = { (uint64_t)(uintptr_t)data, n, all, ms, 9 };
    assert_int_equal(CALL(KFD_WAIT_EVENTS, w), 0);
    return (int)w.result;
}

static void events_wake_those_who_wait(void **state)
{
    (void)state;
    struct kfd_event_data two[2] = { { .event_id = new_event(KFD_EVENT_SIGNAL, NULL) },
                                     { .event_id = new_event(KFD_EVENT_SIGNAL, NULL) } };
    struct kfd_event_id first = { two[0].event_id, 0 }, second = { two[1].event_id, 0 };
    assert_int_equal(wait_for(two, 2, false, 0), KFD_WAIT_TIMEOUT);
    assert_int_equal(wait_for(two, 2, false, 20), KFD_WAIT_TIMEOUT);
    assert_int_equal(CALL(KFD_SET_EVENT, first), 0);
    assert_int_equal(wait_for(two, 2, true, 0), KFD_WAIT_TIMEOUT);
    assert_int_equal(wait_for(two, 2, false, KFD_WAIT_FOREVER), KFD_WAIT_COMPLETE);
    assert_int_equal(wait_for(two, 2, false, 0), KFD_WAIT_TIMEOUT); /* reset by the wait */
    assert_int_equal(CALL(KFD_SET_EVENT, first), 0);
    assert_int_equal(CALL(KFD_SET_EVENT, second), 0);
    assert_int_equal(wait_for(two, 2, true, 0), KFD_WAIT_COMPLETE);
    assert_int_equal(CALL(KFD_SET_EVENT, first), 0);
    assert_int_equal(CALL(KFD_RESET_EVENT, first), 0);
    assert_int_equal(wait_for(two, 1, false, 0), KFD_WAIT_TIMEOUT);
    two[0].last_age = 1; /* set several times since */
    assert_int_equal(wait_for(two, 1, false, 0), KFD_WAIT_COMPLETE);
    assert_true(two[0].last_age > 1);
    assert_int_equal(wait_for(two, 1, false, 0), KFD_WAIT_TIMEOUT);
    assert_int_equal(CALL(KFD_DESTROY_EVENT, first), 0);
    assert_int_equal(CALL(KFD_DESTROY_EVENT, first), EINVAL);
    struct kfd_wait_events gone = { (uint64_t)(uintptr_t)two, 1, 0, 0, 0 };
    assert_int_equal(CALL(KFD_WAIT_EVENTS, gone), EINVAL);
    assert_int_equal(CALL(KFD_DESTROY_EVENT, second), 0);
}

/* ---- the copy queue ---- */

static struct block ring, pointers, from, to;
static uint32_t queue_id;

static uint64_t *read_pointer(void)
{
    return (uint64_t *)(void *)pointers.host;
}

static uint64_t *write_pointer(void)
{
    return (uint64_t *)(void *)(pointers.host + 64);
}

static int make_queue(void **state)
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

static int drop_queue(void **state)
{
    struct kfd_queue_id q = { queue_id, 0 };
    (void)state;
    const int error = CALL(KFD_DESTROY_QUEUE, q);
    struct block *const all[] = { &ring, &pointers, &from, &to };
    for (size_t i = 0; i < 4; i++) release(all[i]);
    return error || CALL(KFD_DESTROY_QUEUE, q) != EINVAL;
}

/* Write words behind what is in the ring; at its end NOPs fill up. */
static void put(const uint32_t *words, unsigned n)
{
    uint64_t at = *write_pointer();
    if (at % RING_BYTES + n * 4 > RING_BYTES) {
        memset(ring.host + at % RING_BYTES, 0, RING_BYTES - at % RING_BYTES);
        at += RING_BYTES - at % RING_BYTES;
    }
    memcpy(ring.host + at % RING_BYTES, words, n * 4);
    __atomic_store_n(write_pointer(), at + n * 4, __ATOMIC_SEQ_CST);
}
#define PUT(...)                                                                                   \
    put((const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4)
#define LOW(address) (uint32_t)(address)
#define HIGH(address) (uint32_t)((address) >> 32)
#define ADDRESS(address) LOW(address), HIGH(address)

static bool drained(void)
{
    return __atomic_load_n(read_pointer(), __ATOMIC_SEQ_CST) == *write_pointer();
}

static void drain(void)
{
    while (!drained()) nanosleep(&(struct timespec){ 0, 100000 }, NULL);
}

static void copies(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4 * PAGE; i++) from.host[i] = (uint8_t)(i * 7 + i / 256);
    memset(to.host, 0, 4 * PAGE);
    PUT(0x00020000, 0, 0); /* NOP of three words */
    PUT(1, 5000 - 1, 0, ADDRESS(from.va + 3), ADDRESS(to.va + 1));
    drain();
    assert_memory_equal(to.host + 1, from.host + 3, 5000);
    assert_int_equal(to.host[0] | to.host[5001], 0);
    /* A box of 5x3x2 elements of 4 bytes, pitch 20 and 10, from (1,2,1) to (2,0,0). */
    memset(to.host, 0, 4 * PAGE);
    PUT(1 | 4 << 8 | 2u << 29, ADDRESS(from.va), 1 | 2 << 16, 1 | 19 << 13, 100 - 1, ADDRESS(to.va),
        2, 9 << 13, 40 - 1, 4 | 2 << 16, 1);
    drain();
    for (unsigned z = 0; z < 2; z++)
        for (unsigned y = 0; y < 3; y++)
            assert_memory_equal(to.host + 4 * (z * 40 + y * 10 + 2),
                                from.host + 4 * ((z + 1) * 100 + (y + 2) * 20 + 1), 20);
    assert_int_equal(to.host[4 * 1], 0);
    assert_int_equal(to.host[4 * 7], 0);
}

static void writes_and_fills(void **state)
{
    uint32_t *words = (uint32_t *)(void *)to.host;
    (void)state;
    memset(to.host, 0xff, PAGE);
    PUT(11 | 2u << 30, ADDRESS(to.va + 4), 0x11223344, 40 - 1);
    PUT(2, ADDRESS(to.va + 100), 3 - 1, 7, 8, 9);
    PUT(5, ADDRESS(to.va + 200), 0xabcdef01);
    PUT(13 | 2 << 8, ADDRESS(to.va + 208));
    PUT(17, 0, 0, 0, 0);
    drain();
    assert_true(words[0] == UINT32_MAX && words[1] == 0x11223344 && words[10] == 0x11223344 &&
                words[11] == UINT32_MAX);
    assert_true(words[25] == 7 && words[26] == 8 && words[27] == 9 && words[28] == UINT32_MAX);
    assert_int_equal(words[50], 0xabcdef01);
    struct kfd_clock_counters clocks = { .gpu_id = gpu };
    uint64_t stamp;
    memcpy(&stamp, to.host + 208, 8);
    assert_int_equal(CALL(KFD_GET_CLOCK_COUNTERS, clocks), 0);
    assert_true(stamp > 0 && stamp <= clocks.gpu && clocks.gpu - stamp < UINT64_C(60) * 100000000);
    clocks.gpu_id = 0;
    assert_int_equal(CALL(KFD_GET_CLOCK_COUNTERS, clocks), 0);
    assert_true(clocks.gpu == 0 && clocks.system > 0 && clocks.system_frequency == 1000000000);
}

static void atomics(void **state)
{
    static const struct {
        unsigned op;
        uint64_t old, operand, comparison, new;
    } cases[] = {
        { 0x2f, 5, UINT64_MAX, 0, 4 },
        { 0x0f, 0xffffffff00000005, 0xfffffffe, 0, 0xffffffff00000003 },
        { 0x30, 5, 7, 0, UINT64_MAX - 1 },
        { 0x27, 1, 2, 0, 2 },
        { 0x28, 1, 2, 1, 2 },
        { 0x28, 1, 2, 3, 1 },
        { 0x31, (uint64_t)-4, 3, 0, (uint64_t)-4 },
        { 0x32, (uint64_t)-4, 3, 0, 3 },
        { 0x33, (uint64_t)-4, 3, 0, 3 },
        { 0x34, (uint64_t)-4, 3, 0, (uint64_t)-4 },
        { 0x11, 0xfffffffc, 3, 0, 0xfffffffc },
        { 0x35, 0xff, 0xf0f, 0, 0xf },
        { 0x36, 0xf0, 0xf, 0, 0xff },
        { 0x37, 0xff, 0xf, 0, 0xf0 },
        { 0x38, 7, 7, 0, 0 },
        { 0x38, 6, 7, 0, 7 },
        { 0x39, 0, 9, 0, 9 },
        { 0x39, 6, 9, 0, 5 },
        { 0x6f, 40, 2, 0, 42 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t value = cases[i].old;
        memcpy(to.host, &value, 8);
        PUT(10 | cases[i].op << 25, ADDRESS(to.va), ADDRESS(cases[i].operand),
            ADDRESS(cases[i].comparison), 0);
        drain();
        memcpy(&value, to.host, 8);
        if (value != cases[i].new)
            fail_msg("atomic %u: 0x%llx", cases[i].op, (unsigned long long)value);
    }
}

static void polls_and_interrupts(void **state)
{
    uint32_t slot = 0, *word = (uint32_t *)(void *)to.host;
    (void)state;
    struct kfd_event_data event = { .event_id = new_event(KFD_EVENT_SIGNAL, &slot) };
    *word = 4;
    /* Wait for (word & 0xff) >= 5, then write the event's slot and raise the interrupt. */
    PUT(8 | 5 << 28 | 1u << 31, ADDRESS(to.va), 5, 0xff, 0);
    PUT(5, ADDRESS(slots.va + slot * 8), event.event_id);
    PUT(6, event.event_id);
    assert_int_equal(wait_for(&event, 1, false, 30), KFD_WAIT_TIMEOUT);
    assert_false(drained());
    __atomic_store_n(word, 0x106, __ATOMIC_SEQ_CST);
    assert_int_equal(wait_for(&event, 1, false, KFD_WAIT_FOREVER), KFD_WAIT_COMPLETE);
    drain();
    /* Around the ring many times. */
    memset(to.host + 64, 0, 8);
    for (unsigned i = 0; i < 1000; i++) {
        PUT(10 | 0x2fu << 25, ADDRESS(to.va + 64), 1, 0, 0, 0, 0);
        if (i % 50 == 0) drain();
    }
    drain();
    uint64_t sum;
    memcpy(&sum, to.host + 64, 8);
    assert_int_equal(sum, 1000);
}

static int ask_render(unsigned number, void *argument, size_t bytes)
{
    return ioctl(render, _IOC(_IOC_READ | _IOC_WRITE, 'd', number, bytes), argument) ? errno : 0;
}

/* The second page of an allocation at another address, by way of a file. */
static void parts_of_memory(void **state)
{
    (void)state;
    struct kfd_memory_handle memory = { from.handle };
    struct kfd_export_dmabuf file = { .handle = from.handle };
    assert_int_equal(CALL(KFD_EXPORT_DMABUF, file), 0);
    assert_int_equal(lseek((int)file.fd, 0, SEEK_END), from.size);
    struct drm_prime prime = { .fd = (int)file.fd };
    assert_int_equal(ask_render(DRM_PRIME_TO_HANDLE, &prime, sizeof prime), 0);
    close((int)file.fd);
    union amdgpu_gem_mmap offset = { .handle = prime.handle };
    assert_int_equal(ask_render(DRM_AMDGPU_GEM_MMAP, &offset, sizeof offset), 0);
    uint8_t *again = mmap(NULL, from.size, PROT_READ, MAP_SHARED, render, (off_t)offset.offset);
    assert_true(again != MAP_FAILED);
    struct amdgpu_gem_va part = { .handle = prime.handle,
                                  .operation = AMDGPU_VA_MAP,
                                  .flags = AMDGPU_VA_READABLE | AMDGPU_VA_WRITABLE,
                                  .va = UINT64_C(0x100000000000),
                                  .offset = PAGE,
                                  .bytes = PAGE };
    assert_int_equal(ask_render(DRM_AMDGPU_GEM_VA, &part, sizeof part), 0);
    assert_int_equal(ask_render(DRM_AMDGPU_GEM_VA, &part, sizeof part), EINVAL); /* taken */
    memset(from.host, 1, from.size);
    PUT(11, ADDRESS(part.va + 16), 0x42424242, 8 - 1); /* fill */
    drain();
    for (unsigned i = 0; i < from.size; i++)
        assert_int_equal(again[i], i >= PAGE + 16 && i < PAGE + 24 ? 0x42 : 1);
    assert_int_equal(CALL(KFD_FREE_MEMORY, memory), EBUSY);
    part.operation = AMDGPU_VA_UNMAP;
    assert_int_equal(ask_render(DRM_AMDGPU_GEM_VA, &part, sizeof part), 0);
    assert_int_equal(ask_render(DRM_AMDGPU_GEM_VA, &part, sizeof part), EINVAL);
    part.operation = AMDGPU_VA_MAP;
    part.offset = from.size;
    assert_int_equal(ask_render(DRM_AMDGPU_GEM_VA, &part, sizeof part), EINVAL);
    prime.fd = kfd;
    assert_int_equal(ask_render(DRM_PRIME_TO_HANDLE, &prime, sizeof prime), EINVAL);
    munmap(again, from.size);
    memory.handle = slots.handle; /* that of the events stays */
    assert_int_equal(map(slots.handle, KFD_UNMAP_MEMORY), 0);
    assert_int_equal(CALL(KFD_FREE_MEMORY, memory), EPERM);
    assert_int_equal(map(slots.handle, KFD_MAP_MEMORY), 0);
}

/* In a child, with a card of its own: copies what it imports, and answers in it. */
static bool child_imports(int file)
{
    struct kfd_dmabuf_info info = { .fd = (uint32_t)file };
    struct kfd_import_dmabuf import = { .va = UINT64_C(0x100000000000), .fd = (uint32_t)file };
    if (open_devices(NULL) || make_queue(NULL) || CALL(KFD_GET_DMABUF_INFO, info)) return false;
    import.gpu_id = info.gpu_id;
    if (CALL(KFD_IMPORT_DMABUF, import) || map(import.handle, KFD_MAP_MEMORY)) return false;
    PUT(1, PAGE - 1, 0, ADDRESS(import.va), ADDRESS(to.va)); /* copy */
    PUT(11, ADDRESS(import.va + PAGE), 0x66666666, PAGE - 1);
    drain();
    bool same = info.size == 4 * PAGE;
    for (unsigned i = 0; i < PAGE; i++) same = same && to.host[i] == 0x37;
    struct kfd_memory_handle memory = { import.handle };
    return same && !map(import.handle, KFD_UNMAP_MEMORY) && !CALL(KFD_FREE_MEMORY, memory);
}

static void memory_of_two_processes(void **state)
{
    (void)state;
    struct kfd_export_dmabuf file = { .handle = from.handle };
    memset(from.host, 0x37, from.size);
    assert_int_equal(CALL(KFD_EXPORT_DMABUF, file), 0);
    const pid_t child = fork();
    if (!child) _exit(child_imports((int)file.fd) ? 0 : 1);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    for (unsigned i = 0; i < from.size; i++)
        assert_int_equal(from.host[i], i >= PAGE && i < 2 * PAGE ? 0x66 : 0x37);
    close((int)file.fd);
}

/* ---- a compute queue ---- */

static unsigned count_threads(void)
{
    unsigned n = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    while (readdir(tasks)) n++;
    closedir(tasks);
    return n;
}

/* A kernel that stores 1 where its argument points to, then never ends. */
static void write_endless_kernel(struct block *b)
{
    static const uint32_t code[] = {
        0xf4040100, 0xfa000000, /* s_load_dwordx2 s[4:5], s[0:1], 0x0 */
        0x7e020280, 0x7e040281, /* v_mov_b32 v1, 0; v_mov_b32 v2, 1 */
        0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
        0xdc708000, 0x00040201, /* global_store_dword v1, v2, s[4:5] */
        0xbf82ffff,             /* s_branch to itself */
    };
    memset(b->host, 0, b->size);
    memcpy(b->host + 256, code, sizeof code);
    memcpy(b->host + 16, &(int64_t){ 256 }, 8);          /* entry, from the descriptor */
    memcpy(b->host + 52, &(uint32_t){ 2 << 1 }, 4);      /* two user SGPRs */
    memcpy(b->host + 56, &(uint16_t){ 8 | 1 << 10 }, 2); /* the argument pointer; wave32 */
}

static void a_queue_ends_with_its_kernel(void **state)
{
    (void)state;
    struct block kernel = block(PAGE, KFD_MEMORY_GTT | WRITABLE);
    struct block packets = block(RING_BYTES, KFD_MEMORY_GTT | WRITABLE);
    struct block memory = block(PAGE, KFD_MEMORY_GTT | WRITABLE);
    write_endless_kernel(&kernel);
    memset(memory.host, 0, PAGE);
    struct amd_queue *amd = (struct amd_queue *)(void *)memory.host;
    amd->read_index_offset = offsetof(struct amd_queue, read_index);
    uint64_t *argument = (uint64_t *)(void *)(memory.host + 2048);
    uint32_t *started = (uint32_t *)(void *)(memory.host + 3072);
    *argument = (uint64_t)(uintptr_t)started;
    union aql_packet *packet = (union aql_packet *)(void *)packets.host;
    *packet = (union aql_packet){ .dispatch = { .header = AQL_DISPATCH,
                                                .workgroup = { 64, 1, 1 },
                                                .grid = { 64, 1, 1 },
                                                .kernel = kernel.va,
                                                .kernarg = (uint64_t)(uintptr_t)argument } };
    const unsigned threads = count_threads();
    struct kfd_create_queue q = {
        .ring = packets.va,
        .ring_size = RING_BYTES,
        .read_pointer = (uint64_t)(uintptr_t)&amd->read_index,
        .write_pointer = (uint64_t)(uintptr_t)&amd->write_index,
        .gpu_id = gpu,
        .type = KFD_QUEUE_AQL,
    };
    assert_int_equal(CALL(KFD_CREATE_QUEUE, q), 0);
    __atomic_store_n(&amd->write_index, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(started, __ATOMIC_SEQ_CST))
        nanosleep(&(struct timespec){ 0, 100000 }, NULL);
    assert_true(count_threads() > threads);
    struct kfd_queue_id id = { q.queue_id, 0 };
    assert_int_equal(CALL(KFD_DESTROY_QUEUE, id), 0);
    assert_int_equal(amd->read_index, 0); /* the packet was never done */
    assert_int_equal(count_threads(), threads);
    release(&kernel);
    release(&packets);
    release(&memory);
}

/* ---- at the end, since the card is lost then ---- */

static void a_fault_is_an_event(void **state)
{
    (void)state;
    struct kfd_event_data event = { .event_id = new_event(KFD_EVENT_MEMORY, NULL) };
    PUT(1, 100 - 1, 0, ADDRESS(from.va), ADDRESS(UINT64_C(0x123456789000)));
    assert_int_equal(wait_for(&event, 1, false, KFD_WAIT_FOREVER), KFD_WAIT_COMPLETE);
    assert_int_equal(event.memory.not_present, 1);
    assert_int_equal(event.memory.va, UINT64_C(0x123456789000));
    assert_int_equal(event.memory.gpu_id, gpu);
}

static void a_child_begins_anew(void **state)
{
    (void)state;
    const pid_t child = fork();
    if (!child) {
        struct kfd_version version = { 0, 0 };
        const bool stale =
            ioctl(kfd, _IOC(_IOC_READ, 'K', KFD_GET_VERSION, sizeof version), &version) < 0;
        const int again = open("/dev/kfd", O_RDWR);
        _exit(stale && again >= 0 &&
                      !ioctl(again, _IOC(_IOC_READ, 'K', KFD_GET_VERSION, sizeof version), &version)
                  ? 0
                  : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest first[] = {
        cmocka_unit_test(devices_look_like_devices),
        cmocka_unit_test(answers_fit_shorter_structures),
        cmocka_unit_test(memory_has_a_limit),
        cmocka_unit_test(mappings_do_not_overlap),
        cmocka_unit_test(a_child_begins_anew),
    };
    const struct CMUnitTest second[] = {
        cmocka_unit_test(events_wake_those_who_wait),
        cmocka_unit_test(copies),
        cmocka_unit_test(writes_and_fills),
        cmocka_unit_test(atomics),
        cmocka_unit_test(polls_and_interrupts),
        cmocka_unit_test(a_queue_ends_with_its_kernel),
        cmocka_unit_test(parts_of_memory),
        cmocka_unit_test(memory_of_two_processes),
        cmocka_unit_test(a_fault_is_an_event),
    };
    const int failed = cmocka_run_group_tests(first, open_devices, NULL);
    return failed ? failed : cmocka_run_group_tests(second, make_queue, drop_queue);
}
