/* drm.c: the ioctls of a render node that ROCm uses: questions about the card. */
#include "sim/driver/driver.h"

#include <errno.h>
#include <string.h>

/* Fill a text of the program as far as it has room; it asks for the length first. */
static void give_text(uint64_t *length, uint64_t address, const char *text)
{
    const size_t n = strlen(text);
    if (address) memcpy((char *)(uintptr_t)address, text, *length < n ? *length : n);
    *length = n;
}

static int version(struct drm_version_data *v)
{
    v->major = 3;
    v->minor = 57;
    v->patch = 0;
    give_text(&v->name_length, v->name, "amdgpu");
    give_text(&v->date_length, v->date, "20150101");
    give_text(&v->description_length, v->description, "AMD GPU");
    return 0;
}

static void describe(const struct sim_card *card, struct amdgpu_device *d)
{
    *d = (struct amdgpu_device){
        .device_id = card->pci_device,
        .external_revision = card->external_revision,
        .pci_revision = card->pci_revision,
        .family = 143, /* Navi */
        .shader_engines = card->shader_engines,
        .arrays_per_engine = card->arrays_per_engine,
        .counter_khz = 100000,
        .max_engine_khz = card->engine_mhz * UINT64_C(1000),
        .max_memory_khz = card->memory_mhz * UINT64_C(1000),
        .compute_units = card->compute_units,
        .render_pipes = 16,
        .va_offset = 0x200000,
        .va_max = UINT64_C(1) << 47,
        .va_alignment = 4096,
        .fragment_size = 2 << 20,
        .gart_page_size = 4096,
        .vram_type = 9, /* GDDR6 */
        .vram_bits = card->memory_bits,
        .wave_size = 32,
        .vgprs = 1024,
        .cu_per_array = card->cu_per_array,
        .tcc_blocks = card->l2_kb / 256,
        .high_va_offset = UINT64_C(0xffff800000000000),
        .high_va_max = UINT64_C(0xffffffffffe00000),
    };
    uint32_t left = card->compute_units;
    const uint32_t arrays = card->shader_engines * card->arrays_per_engine;
    for (uint32_t i = 0; i < arrays && i < 16; i++) {
        const uint32_t here = left / (arrays - i);
        d->cu_bitmap[i / card->arrays_per_engine % 4][i % card->arrays_per_engine % 4] =
            here >= 32 ? UINT32_MAX : (1u << here) - 1;
        left -= here;
    }
}

static int info(struct gpu *gpu, const struct amdgpu_info *question)
{
    union {
        uint32_t word;
        uint64_t number, numbers[3];
        struct amdgpu_device device;
        struct amdgpu_memory memory;
        uint32_t words[256];
    } result;
    size_t bytes = sizeof(uint64_t);
    const uint64_t total = sim_card_memory(gpu->card);
    const uint64_t visible = gpu->card->large_bar ? total : UINT64_C(1) << 28;
    pthread_mutex_lock(&driver.lock);
    const uint64_t used = gpu->vram_used;
    pthread_mutex_unlock(&driver.lock);
    memset(&result, 0, sizeof result);
    switch (question->query) {
    case AMDGPU_INFO_ACCEL_WORKING:
        result.word = 1;
        bytes = sizeof result.word;
        break;
    case AMDGPU_INFO_TIMESTAMP: result.number = driver_gpu_clock(); break;
    case AMDGPU_INFO_FIRMWARE: result.words[0] = gpu->card->firmware; break;
    case AMDGPU_INFO_VRAM_USAGE:
    case AMDGPU_INFO_VISIBLE_USAGE: result.number = used; break;
    case AMDGPU_INFO_GTT_USAGE: break;
    case AMDGPU_INFO_READ_REGISTER: /* tiling registers: nothing here is tiled */
        bytes = question->argument[1] < 256 ? question->argument[1] * sizeof(uint32_t) : 0;
        break;
    case AMDGPU_INFO_DEVICE:
        describe(gpu->card, &result.device);
        bytes = sizeof result.device;
        break;
    case AMDGPU_INFO_VRAM_GTT:
        result.numbers[0] = total;
        result.numbers[1] = visible;
        result.numbers[2] = total;
        bytes = 3 * sizeof result.number;
        break;
    case AMDGPU_INFO_MEMORY:
        result.memory.vram = (struct amdgpu_heap){ total, total, used, total - used };
        result.memory.visible = (struct amdgpu_heap){ visible, visible, 0, visible };
        result.memory.gtt = (struct amdgpu_heap){ total, total, 0, total };
        bytes = sizeof result.memory;
        break;
    default: return EINVAL;
    }
    if (!question->result || !question->result_size) return EINVAL;
    memcpy((void *)(uintptr_t)question->result, &result,
           question->result_size < bytes ? question->result_size : bytes);
    return 0;
}

int drm_ioctl(struct gpu *gpu, unsigned number, unsigned bytes, void *argument)
{
    int error = EINVAL;
    if (!argument) return EFAULT;
    if (number == DRM_GEM_CLOSE || number == DRM_PRIME_TO_HANDLE || number == DRM_AMDGPU_GEM_MMAP ||
        number == DRM_AMDGPU_GEM_METADATA || number == DRM_AMDGPU_GEM_OP ||
        number == DRM_AMDGPU_GEM_VA)
        error = gem_ioctl(gpu, number, bytes, argument);
    if (number == DRM_VERSION && bytes >= sizeof(struct drm_version_data))
        error = version(argument);
    if (number == DRM_AMDGPU_INFO && bytes >= 16) {
        struct amdgpu_info question = { 0 };
        memcpy(&question, argument, bytes < sizeof question ? bytes : sizeof question);
        error = info(gpu, &question);
    }
    driver_log("drm 0x%02x: %d", number, error);
    return error;
}
