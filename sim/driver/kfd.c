/* kfd.c: the ioctls of /dev/kfd. */
#include "sim/driver/driver.h"

#include <errno.h>
#include <string.h>

/* The version of the interface: what a kernel of 2024 says. Programs ask it before newer calls. */
enum { KFD_MAJOR = 1, KFD_MINOR = 17 };

union arguments {
    struct kfd_version version;
    struct kfd_create_queue create_queue;
    struct kfd_queue_id queue;
    struct kfd_clock_counters clocks;
    struct kfd_get_apertures apertures;
    struct kfd_create_event create_event;
    struct kfd_event_id event;
    struct kfd_wait_events wait;
    struct kfd_tile_config tiles;
    struct kfd_acquire_vm vm;
    struct kfd_alloc_memory alloc;
    struct kfd_memory_handle memory;
    struct kfd_map_memory map;
    struct kfd_xnack_mode xnack;
    struct kfd_available_memory available;
    struct kfd_export_dmabuf dmabuf;
    struct kfd_dmabuf_info dmabuf_info;
    struct kfd_import_dmabuf import;
    uint8_t bytes[128];
};

static int get_version(union arguments *a)
{
    a->version = (struct kfd_version){ KFD_MAJOR, KFD_MINOR };
    return 0;
}

/* Node 0, the host, has no clock of a card but the others. */
static int get_clocks(union arguments *a)
{
    if (a->clocks.gpu_id && !driver_gpu(a->clocks.gpu_id)) return EINVAL;
    const uint64_t now = driver_card_ns();
    a->clocks.gpu = a->clocks.gpu_id ? now / 10 : 0;
    a->clocks.cpu = now;
    a->clocks.system = now;
    a->clocks.system_frequency = 1000000000;
    return 0;
}

/* Without a list the number of cards is asked. */
static int get_apertures(union arguments *a)
{
    struct kfd_apertures *list = (struct kfd_apertures *)(uintptr_t)a->apertures.list;
    const uint32_t n =
        a->apertures.n_nodes < driver.machine.n ? a->apertures.n_nodes : driver.machine.n;
    for (uint32_t i = 0; i < n && list; i++)
        list[i] = (struct kfd_apertures){
            .lds_base = UINT64_C(1) << 48,
            .lds_limit = (UINT64_C(1) << 48) + 0xffffffff,
            .scratch_base = UINT64_C(2) << 48,
            .scratch_limit = (UINT64_C(2) << 48) + 0xffffffff,
            .gpuvm_base = 0x1000,
            .gpuvm_limit = (UINT64_C(1) << 47) - 1,
            .gpu_id = driver.gpus[i].id,
        };
    a->apertures.n_nodes = a->apertures.n_nodes ? n : driver.machine.n;
    return 0;
}

static int acquire_vm(union arguments *a)
{
    return driver_gpu(a->vm.gpu_id) && driver_device_of((int)a->vm.drm_fd) > 0 ? 0 : EINVAL;
}

static int get_tiles(union arguments *a)
{
    if (!driver_gpu(a->tiles.gpu_id)) return EINVAL;
    a->tiles.n_tiles = 0;
    a->tiles.n_macro_tiles = 0;
    a->tiles.address_config = 0x44;
    a->tiles.banks = 0;
    a->tiles.ranks = 0;
    return 0;
}

/* Retrying after page faults is for other chips. */
static int set_xnack(union arguments *a)
{
    if (a->xnack.enabled > 0) return EPERM;
    a->xnack.enabled = 0;
    return 0;
}

static int available_memory(union arguments *a)
{
    struct gpu *gpu = driver_gpu(a->available.gpu_id);
    if (!gpu) return EINVAL;
    pthread_mutex_lock(&driver.lock);
    a->available.available = sim_card_memory(gpu->card) - gpu->vram_used;
    pthread_mutex_unlock(&driver.lock);
    return 0;
}

static int answer(unsigned number, union arguments *a)
{
    switch (number) {
    case KFD_GET_VERSION: return get_version(a);
    case KFD_CREATE_QUEUE: return queue_create(&a->create_queue);
    case KFD_DESTROY_QUEUE: return queue_destroy(a->queue.queue_id);
    case KFD_UPDATE_QUEUE:
        return 0; /* share of time and priority: every queue has its own thread */
    case KFD_SET_CU_MASK: return 0;
    case KFD_GET_CLOCK_COUNTERS: return get_clocks(a);
    case KFD_CREATE_EVENT: return events_create(&a->create_event);
    case KFD_DESTROY_EVENT: return events_destroy(a->event.event_id);
    case KFD_SET_EVENT: return events_set(a->event.event_id);
    case KFD_RESET_EVENT: return events_reset(a->event.event_id);
    case KFD_WAIT_EVENTS: return events_wait(&a->wait);
    case KFD_GET_TILE_CONFIG: return get_tiles(a);
    case KFD_GET_APERTURES: return get_apertures(a);
    case KFD_ACQUIRE_VM: return acquire_vm(a);
    case KFD_ALLOC_MEMORY: return vm_alloc(&a->alloc);
    case KFD_FREE_MEMORY: return vm_free(a->memory.handle);
    case KFD_MAP_MEMORY: return vm_map(&a->map, true);
    case KFD_UNMAP_MEMORY: return vm_map(&a->map, false);
    case KFD_EXPORT_DMABUF: return gem_export(&a->dmabuf);
    case KFD_GET_DMABUF_INFO: return gem_info(&a->dmabuf_info);
    case KFD_IMPORT_DMABUF: return gem_import(&a->import);
    case KFD_SET_XNACK_MODE: return set_xnack(a);
    case KFD_AVAILABLE_MEMORY: return available_memory(a);
    case KFD_SET_MEMORY_POLICY:   /* caches are not simulated                            */
    case KFD_SET_SCRATCH_BACKING: /* scratch addresses come with each queue              */
    case KFD_SET_TRAP_HANDLER:    /* aql.c reports to the runtime what its handler would */
    case KFD_RUNTIME_ENABLE: return 0;
    default: return EINVAL;
    }
}

/* The program's structure may be shorter or longer than ours: what it does not have is 0, as the
 * kernel does it. */
int kfd_ioctl(unsigned number, unsigned bytes, void *argument)
{
    union arguments a;
    const size_t n = bytes < sizeof a ? bytes : sizeof a;
    if (!argument) return EFAULT;
    memset(&a, 0, sizeof a);
    memcpy(&a, argument, n);
    const int error = answer(number, &a);
    memcpy(argument, &a, n);
    if (error || number != KFD_WAIT_EVENTS) driver_log("kfd 0x%02x: %d", number, error);
    return error;
}
