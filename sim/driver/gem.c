/* gem.c: memory that is passed on as a file and mapped by calls of a render node, as newer runtimes
 * do for virtual memory (hipMemCreate, hipMemMap, pools). */
#define _GNU_SOURCE
#include "sim/driver/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the file holds instead of the memory: where that lies. */
struct token {
    char magic[8];
    uint64_t handle;
    struct vm_piece piece;
    int64_t process;        /* whose memory it is            */
    int64_t fd;             /* of the card's file there      */
    uint64_t device, inode; /* the identity of that file     */
};
static const char magic[8] = "rmcpbuf";

int gem_export(struct kfd_export_dmabuf *a)
{
    struct token token = { .handle = a->handle, .process = getpid() };
    if (!vm_piece(a->handle, &token.piece)) return EINVAL;
    const struct gpu *gpu = driver_gpu(token.piece.gpu_id);
    token.fd = gpu->fd;
    token.device = driver.files[gpu->index + 1].device;
    token.inode = driver.files[gpu->index + 1].inode;
    memcpy(token.magic, magic, sizeof magic);
    const int fd = memfd_create("simulated dma-buf", MFD_CLOEXEC);
    if (fd < 0) return errno;
    if (ftruncate(fd, (off_t)token.piece.bytes) ||
        pwrite(fd, &token, sizeof token, 0) != sizeof token) {
        const int error = errno;
        close(fd);
        return error;
    }
    a->fd = (uint32_t)fd;
    return 0;
}

static bool read_token(int fd, struct token *token)
{
    return pread(fd, token, sizeof *token, 0) == sizeof *token &&
           !memcmp(token->magic, magic, sizeof magic) && driver_gpu(token->piece.gpu_id);
}

/* Nobody hands over metadata: there are no images. */
int gem_info(struct kfd_dmabuf_info *a)
{
    struct token token;
    if (!read_token((int)a->fd, &token)) return EINVAL;
    a->size = token.piece.bytes;
    a->metadata_size = 0;
    a->gpu_id = token.piece.gpu_id;
    a->flags = token.piece.flags;
    return 0;
}

/* The owner's file is opened again through its entry in /proc; it must still be the same. */
static int take(const struct token *token, uint64_t va, uint64_t *handle)
{
    const struct vm_piece *piece = &token->piece;
    char path[64];
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)token->process,
             (long long)token->fd);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return errno;
    struct stat status;
    const bool same = !fstat(file, &status) && status.st_dev == token->device &&
                      status.st_ino == token->inode && status.st_size >= 0 &&
                      piece->offset <= (uint64_t)status.st_size &&
                      piece->bytes <= (uint64_t)status.st_size - piece->offset;
    const int error = same ? vm_import(piece, file, va, handle) : EINVAL;
    close(file);
    return error;
}

int gem_import(struct kfd_import_dmabuf *a)
{
    struct token token;
    return read_token((int)a->fd, &token) ? take(&token, a->va, &a->handle) : EINVAL;
}

/* Handles of a render node are the numbers of allocations. What is another process's gets one. */
static int import(struct drm_prime *p)
{
    struct token token;
    struct vm_piece piece;
    if (!read_token(p->fd, &token)) return EINVAL;
    if (token.process != getpid()) {
        const int error = take(&token, 0, &token.handle);
        if (error) return error;
    } else if (!vm_piece(token.handle, &piece)) {
        return EINVAL;
    }
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
    case DRM_GEM_CLOSE:
        if (bytes < sizeof(uint32_t)) return EINVAL;
        vm_forget_import(*(const uint32_t *)argument);
        return 0;
    case DRM_PRIME_TO_HANDLE: return bytes >= sizeof(struct drm_prime) ? import(argument) : EINVAL;
    case DRM_AMDGPU_GEM_MMAP: {
        union amdgpu_gem_mmap *a = argument;
        if (bytes < sizeof *a) return EINVAL;
        return vm_file_offset(gpu, a->handle, &a->offset) ? 0 : EINVAL;
    }
    case DRM_AMDGPU_GEM_METADATA: {
        struct amdgpu_gem_metadata *a = argument;
        if (bytes < sizeof *a || a->note.bytes > sizeof a->note.data) return EINVAL;
        return vm_note(a->handle, &a->note, a->operation == AMDGPU_METADATA_SET);
    }
    case DRM_AMDGPU_GEM_OP: {
        const struct amdgpu_gem_op *a = argument;
        if (bytes < sizeof *a || a->operation != AMDGPU_OP_GET_CREATION || !a->value) return EINVAL;
        return vm_creation(a->handle, (void *)(uintptr_t)a->value) ? 0 : EINVAL;
    }
    case DRM_AMDGPU_GEM_VA:
        return bytes >= sizeof(struct amdgpu_gem_va) ? change(gpu, argument) : EINVAL;
    default: return EINVAL;
    }
}
