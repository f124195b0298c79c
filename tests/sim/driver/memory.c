/* memory.c: memory of the card: limits, mappings, parts, other processes. */
#define _GNU_SOURCE
#include "driver.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void memory_has_a_limit(void **state)
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

void mappings_do_not_overlap(void **state)
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

static int ask_render(unsigned number, void *argument, size_t bytes)
{
    return ioctl(render, _IOC(_IOC_READ | _IOC_WRITE, 'd', number, bytes), argument) ? errno : 0;
}

/* The second page of an allocation at another address, by way of a file. */
void parts_of_memory(void **state)
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

void memory_of_two_processes(void **state)
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
