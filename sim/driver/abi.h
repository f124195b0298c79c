/* abi.h: the part of the kernel's interface that ROCm uses: ioctls of /dev/kfd and of render nodes.
 *
 * Only layouts and numbers, as the running kernel fixes them; a structure may be passed shorter or
 * longer than here (older or newer programs), see kfd.c. */
#ifndef RMCP_SIM_DRIVER_ABI_H
#define RMCP_SIM_DRIVER_ABI_H

#include <stdint.h>

/* ---- /dev/kfd, ioctls of type 'K' ---- */

enum kfd_number {
    KFD_GET_VERSION = 0x01,
    KFD_CREATE_QUEUE = 0x02,
    KFD_DESTROY_QUEUE = 0x03,
    KFD_SET_MEMORY_POLICY = 0x04,
    KFD_GET_CLOCK_COUNTERS = 0x05,
    KFD_UPDATE_QUEUE = 0x07,
    KFD_CREATE_EVENT = 0x08,
    KFD_DESTROY_EVENT = 0x09,
    KFD_SET_EVENT = 0x0a,
    KFD_RESET_EVENT = 0x0b,
    KFD_WAIT_EVENTS = 0x0c,
    KFD_SET_SCRATCH_BACKING = 0x11,
    KFD_GET_TILE_CONFIG = 0x12,
    KFD_SET_TRAP_HANDLER = 0x13,
    KFD_GET_APERTURES = 0x14,
    KFD_ACQUIRE_VM = 0x15,
    KFD_ALLOC_MEMORY = 0x16,
    KFD_FREE_MEMORY = 0x17,
    KFD_MAP_MEMORY = 0x18,
    KFD_UNMAP_MEMORY = 0x19,
    KFD_SET_CU_MASK = 0x1a,
    KFD_SET_XNACK_MODE = 0x21,
    KFD_GET_DMABUF_INFO = 0x1c,
    KFD_IMPORT_DMABUF = 0x1d,
    KFD_AVAILABLE_MEMORY = 0x23,
    KFD_EXPORT_DMABUF = 0x24,
    KFD_RUNTIME_ENABLE = 0x25,
};

struct kfd_version {
    uint32_t major, minor;
};

enum { KFD_QUEUE_COMPUTE = 0, KFD_QUEUE_SDMA = 1, KFD_QUEUE_AQL = 2, KFD_QUEUE_SDMA_XGMI = 3 };

struct kfd_create_queue {
    uint64_t ring, write_pointer, read_pointer, doorbell_offset;
    uint32_t ring_size, gpu_id, type, percentage, priority, queue_id;
    uint64_t eop_address, eop_size, save_address;
    uint32_t save_size, control_stack_size;
    uint32_t sdma_engine, pad;
};

struct kfd_queue_id {
    uint32_t queue_id, pad;
};

struct kfd_clock_counters {
    uint64_t gpu, cpu, system, system_frequency;
    uint32_t gpu_id, pad;
};

struct kfd_apertures {
    uint64_t lds_base, lds_limit, scratch_base, scratch_limit, gpuvm_base, gpuvm_limit;
    uint32_t gpu_id, pad;
};

struct kfd_get_apertures {
    uint64_t list; /* struct kfd_apertures[] of the caller */
    uint32_t n_nodes, pad;
};

enum {
    KFD_EVENT_SIGNAL = 0,
    KFD_EVENT_HW_EXCEPTION = 3,
    KFD_EVENT_DEBUG = 5,
    KFD_EVENT_MEMORY = 8
};

struct kfd_create_event {
    uint64_t page_offset; /* in: handle of the page of slots */
    uint32_t trigger_data, type, auto_reset, node, event_id, slot;
};

struct kfd_event_id {
    uint32_t event_id, pad;
};

struct kfd_memory_exception {
    uint32_t not_present, read_only, no_execute, imprecise;
    uint64_t va;
    uint32_t gpu_id, error_type;
};

struct kfd_hw_exception {
    uint32_t reset_type, reset_cause, memory_lost, gpu_id;
};

struct kfd_event_data {
    union {
        struct kfd_memory_exception memory;
        struct kfd_hw_exception hardware;
        uint64_t last_age; /* of signal events */
    };
    uint64_t extension;
    uint32_t event_id, pad;
};

enum { KFD_WAIT_COMPLETE = 0, KFD_WAIT_TIMEOUT = 1 };
#define KFD_WAIT_FOREVER 0xffffffffu

struct kfd_wait_events {
    uint64_t events; /* struct kfd_event_data[] of the caller */
    uint32_t n_events, all, timeout_ms, result;
};

struct kfd_tile_config {
    uint64_t tiles, macro_tiles;
    uint32_t n_tiles, n_macro_tiles, gpu_id, address_config, banks, ranks;
};

struct kfd_acquire_vm {
    uint32_t drm_fd, gpu_id;
};

enum {
    KFD_MEMORY_VRAM = 1 << 0,
    KFD_MEMORY_GTT = 1 << 1,
    KFD_MEMORY_USERPTR = 1 << 2,
    KFD_MEMORY_DOORBELL = 1 << 3,
    KFD_MEMORY_MMIO = 1 << 4,
    KFD_MEMORY_AQL_QUEUE = 1 << 27,
    KFD_MEMORY_EXECUTABLE = 1 << 30,
};
#define KFD_MEMORY_WRITABLE 0x80000000u

struct kfd_alloc_memory {
    uint64_t va, size, handle, mmap_offset;
    uint32_t gpu_id, flags;
};

struct kfd_memory_handle {
    uint64_t handle;
};

struct kfd_map_memory {
    uint64_t handle, device_ids; /* uint32_t[] of the caller */
    uint32_t n_devices, n_success;
};

struct kfd_xnack_mode {
    int32_t enabled; /* below 0: only ask */
};

struct kfd_available_memory {
    uint64_t available;
    uint32_t gpu_id, pad;
};

struct kfd_dmabuf_info {
    uint64_t size, metadata;
    uint32_t metadata_size, gpu_id, flags, fd;
};

struct kfd_import_dmabuf {
    uint64_t va, handle;
    uint32_t gpu_id, fd;
};

struct kfd_export_dmabuf {
    uint64_t handle;
    uint32_t flags, fd;
};

/* ---- render nodes, ioctls of type 'd' ---- */

enum {
    DRM_VERSION = 0x00,
    DRM_GET_CLIENT = 0x05,
    DRM_GEM_CLOSE = 0x09,
    DRM_GET_CAP = 0x0c,
    DRM_PRIME_TO_HANDLE = 0x2e,
    DRM_AMDGPU_GEM_MMAP = 0x41,
    DRM_AMDGPU_INFO = 0x45,
    DRM_AMDGPU_GEM_METADATA = 0x46,
    DRM_AMDGPU_GEM_VA = 0x48,
    DRM_AMDGPU_GEM_OP = 0x50,
};

struct drm_prime {
    uint32_t handle, flags;
    int32_t fd;
};

union amdgpu_gem_mmap {
    uint32_t handle;
    uint64_t offset; /* the answer: of the file to map */
};

/* What programs note at a buffer for those who import it. */
enum { AMDGPU_METADATA_SET = 1, AMDGPU_METADATA_GET = 2 };
struct amdgpu_note {
    uint64_t flags, tiling;
    uint32_t bytes, data[64];
};
struct amdgpu_gem_metadata {
    uint32_t handle, operation;
    struct amdgpu_note note;
};

/* How a buffer was made; `value` points to the answer. */
enum { AMDGPU_OP_GET_CREATION = 0 };
enum { AMDGPU_DOMAIN_GTT = 2, AMDGPU_DOMAIN_VRAM = 4 };
struct amdgpu_gem_op {
    uint32_t handle, operation;
    uint64_t value;
};
struct amdgpu_creation {
    uint64_t bytes, alignment, domains, flags;
};

enum { AMDGPU_VA_MAP = 1, AMDGPU_VA_UNMAP = 2 };
enum { AMDGPU_VA_READABLE = 2, AMDGPU_VA_WRITABLE = 4, AMDGPU_VA_EXECUTABLE = 8 };
struct amdgpu_gem_va {
    uint32_t handle, pad, operation, flags;
    uint64_t va, offset, bytes;
};

struct drm_version_data {
    int32_t major, minor, patch, pad;
    uint64_t name_length, name, date_length, date, description_length, description;
};

enum {
    AMDGPU_INFO_ACCEL_WORKING = 0x00,
    AMDGPU_INFO_TIMESTAMP = 0x05,
    AMDGPU_INFO_FIRMWARE = 0x0e,
    AMDGPU_INFO_VRAM_USAGE = 0x10,
    AMDGPU_INFO_GTT_USAGE = 0x11,
    AMDGPU_INFO_VRAM_GTT = 0x14,
    AMDGPU_INFO_READ_REGISTER = 0x15,
    AMDGPU_INFO_DEVICE = 0x16,
    AMDGPU_INFO_VISIBLE_USAGE = 0x17,
    AMDGPU_INFO_MEMORY = 0x19,
};

struct amdgpu_info {
    uint64_t result;
    uint32_t result_size, query;
    uint32_t argument[4];
};

struct amdgpu_device {
    uint32_t device_id, chip_revision, external_revision, pci_revision, family, shader_engines,
        arrays_per_engine, counter_khz;
    uint64_t max_engine_khz, max_memory_khz;
    uint32_t compute_units, always_on_mask, cu_bitmap[4][4];
    uint32_t render_mask, render_pipes, graphics_contexts, pad;
    uint64_t flags, va_offset, va_max;
    uint32_t va_alignment, fragment_size, gart_page_size, ce_ram_size, vram_type, vram_bits,
        vce_harvest, double_offchip_lds;
    uint64_t graphics_buffers[4];
    uint32_t graphics_sizes[4];
    uint32_t wave_size, vgprs, cu_per_array, tcc_blocks, gs_table_depth, gs_buffer_depth, gs_waves,
        pad1, always_on_bitmap[4][4];
    uint64_t high_va_offset, high_va_max;
    uint32_t tile_steering, pad2;
    uint64_t tcc_disabled;
};

struct amdgpu_heap {
    uint64_t total, usable, used, largest;
};
struct amdgpu_memory {
    struct amdgpu_heap vram, visible, gtt;
};

/* ---- what queues hold ---- */

enum aql_type {
    AQL_VENDOR = 0,
    AQL_INVALID = 1,
    AQL_DISPATCH = 2,
    AQL_BARRIER_AND = 3,
    AQL_AGENT = 4,
    AQL_BARRIER_OR = 5,
};
enum { AQL_VENDOR_PM4 = 1, AQL_VENDOR_BARRIER_VALUE = 2 };

/* A packet of 64 bytes, as a dispatch, a barrier, or a wait for a value. */
union aql_packet {
    struct {
        uint16_t header, setup;
        uint16_t workgroup[3], pad;
        uint32_t grid[3], private_bytes, group_bytes;
        uint64_t kernel, kernarg, pad1, completion;
    } dispatch;
    struct {
        uint16_t header, pad[3];
        uint64_t signal[5], pad1, completion;
    } barrier;
    struct {
        uint16_t header;
        uint8_t format, pad[5];
        uint64_t signal;
        int64_t value, mask;
        uint32_t condition, pad1[5];
        uint64_t completion;
    } vendor;
};

/* What a signal handle points to. */
struct amd_signal {
    int64_t kind, value;
    uint64_t mailbox;
    uint32_t event_id, pad;
    uint64_t start, end, queue;
    uint32_t pad1[2];
};

/* The queue as the command processor sees it. */
struct amd_queue {
    uint8_t hsa_queue[0x28];
    uint32_t pad[4];
    uint64_t write_index; /* 0x38 */
    uint32_t group_base_hi, private_base_hi, max_cu_id, max_wave_id;
    uint64_t legacy_doorbell;
    uint32_t legacy_lock, pad1[9];
    uint64_t read_index; /* 0x80 */
    uint32_t read_index_offset, tmpring_size;
    uint32_t scratch_descriptor[4];
    uint64_t scratch_address, scratch_bytes;
    uint32_t scratch_lane_bytes, properties, pad2[2];
    uint64_t inactive_signal; /* 0xc0 */
};
#define AMD_QUEUE_SCRATCH_ONCE 0x10u

_Static_assert(sizeof(union aql_packet) == 64, "packet");
_Static_assert(sizeof(struct kfd_event_data) == 48, "event data");
_Static_assert(sizeof(struct amdgpu_info) == 32, "amdgpu info");
_Static_assert(sizeof(struct amdgpu_device) == 368, "device info");
_Static_assert(__builtin_offsetof(struct amd_queue, read_index) == 0x80, "queue");
_Static_assert(__builtin_offsetof(struct amd_queue, inactive_signal) == 0xc0, "queue");

#endif
