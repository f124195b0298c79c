/* gem.c: memory that is passed on as a file and mapped by calls of a render node, as newer runtimes
 * do for virtual memory (hipMemCreate, hipMemMap, pools). */
#define _GNU_SOURCE
#include "sim/driver/driver.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What the file holds instead of the memory: it only names an allocation of this process. */
struct token {
    char magic[8];
    uint64_t handle;
    int64_t process;
};
static const char magic[8] = "rmcpbuf";

int gem_export(struct kfd_export_dmabuf *a)
{
    uint64_t bytes;
    if (!vm_size_of(a->handle, &bytes)) return EINVAL;
    struct token token = { .handle = a->handle, .process = getpid() };
    memcpy(token.magic, magic, sizeof magic);
    const int fd = memfd_create("simulated dma-buf", MFD_CLOEXEC);
    if (fd < 0) return errno;
    if (ftruncate(fd, (off_t)bytes) || pwrite(fd, &token, sizeof token, 0) != sizeof token) {
        const int error = errno;
        close(fd);
        return error;
    }
    a->fd = (uint32_t)fd;
    return 0;
}

/* Handles of a render node are the numbers of allocations. */
static int import(struct drm_prime *p)
{
    struct token token;
    uint64_t bytes;
    if (pread(p->fd, &token, sizeof token, 0) != sizeof token ||
        memcmp(token.magic, magic, sizeof magic) || token.process != getpid() ||
        !vm_size_of(token.handle, &bytes))
        return EINVAL;
    p->handle = (uint32_t)token.handle;
    return 0;
}

static int change(struct gpu *gpu, const struct amdgpu_gem_va *a)
{
    unsigned access = SIM_READ;
    if (a->flags & AMDGPU_VA_WRITABLE) access |= SIM_WRITE;
    if (a->flags & AMDGPU_VA_EXECUTABLE) access |= SIM_EXECUTE;
    const struct sim_mapping range = { a->va, a->bytes, NULL, access };
    switch (a->operation) {
    case AMDGPU_VA_MAP: return vm_map_part(gpu, a->handle, a->offset, &range);
    case AMDGPU_VA_UNMAP: return vm_unmap_part(gpu, a->handle, &range);
    default: return EINVAL;
    }
}

int gem_ioctl(struct gpu *gpu, unsigned number, unsigned bytes, void *argument)
{
    switch (number) {
    case DRM_GEM_CLOSE: return 0; /* the allocation is KFD's */
    case DRM_PRIME_TO_HANDLE: return bytes >= sizeof(struct drm_prime) ? import(argument) : EINVAL;
    case DRM_AMDGPU_GEM_MMAP: {
        union amdgpu_gem_mmap *a = argument;
        if (bytes < sizeof *a) return EINVAL;
        return vm_file_offset(gpu, a->handle, &a->offset) ? 0 : EINVAL;
    }
    case DRM_AMDGPU_GEM_VA:
        return bytes >= sizeof(struct amdgpu_gem_va) ? change(gpu, argument) : EINVAL;
    default: return EINVAL;
    }
}
