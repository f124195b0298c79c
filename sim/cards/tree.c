/* tree.c: the files that the kernel would show of a machine with these cards, written to a folder.
 */
#include "sim/cards/cards.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_MAX_HERE = 4096 };

#define TOPOLOGY "sys/devices/virtual/kfd/kfd/topology"

struct tree {
    const char *root;
    char *error;
    bool good;
};

static void failed(struct tree *t, const char *what, const char *path)
{
    if (t->good)
        snprintf(t->error, SIM_ERROR_MAX, "cannot %s %.160s: %s", what, path, strerror(errno));
    t->good = false;
}

/* Make the folders above `path`, which gets the root in front; false when that failed. */
static bool prepare(struct tree *t, const char *relative, char path[static PATH_MAX_HERE])
{
    if (!t->good) return false;
    const int n = snprintf(path, PATH_MAX_HERE, "%s/%s", t->root, relative);
    if (n < 0 || n >= PATH_MAX_HERE) {
        errno = ENAMETOOLONG;
        failed(t, "write", relative);
        return false;
    }
    for (char *slash = path + strlen(t->root); (slash = strchr(slash + 1, '/'));) {
        *slash = 0;
        if (mkdir(path, 0777) && errno != EEXIST) failed(t, "make", path);
        *slash = '/';
    }
    return t->good;
}

__attribute__((format(printf, 3, 4))) static void put(struct tree *t, const char *relative,
                                                      const char *format, ...)
{
    char path[PATH_MAX_HERE];
    if (!prepare(t, relative, path)) return;
    FILE *file = fopen(path, "w");
    if (!file) {
        failed(t, "create", path);
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vfprintf(file, format, arguments);
    va_end(arguments);
    const bool bad = ferror(file);
    if (fclose(file) || bad) failed(t, "write", path);
}

static void put_link(struct tree *t, const char *relative, const char *target)
{
    char path[PATH_MAX_HERE];
    if (prepare(t, relative, path) && symlink(target, path) && errno != EEXIST)
        failed(t, "link", path);
}

static void put_folder(struct tree *t, const char *relative)
{
    char path[PATH_MAX_HERE];
    if (prepare(t, relative, path) && mkdir(path, 0777) && errno != EEXIST) failed(t, "make", path);
}

/* A file of a topology node: nodes/NODE/NAME. */
static const char *node_file(unsigned node, const char *name, char path[static 256])
{
    snprintf(path, 256, TOPOLOGY "/nodes/%u/%s", node, name);
    return path;
}

/* Link `number` of a node over PCI Express to another node. */
static void put_io_link(struct tree *t, unsigned from, unsigned to, unsigned number)
{
    char path[256], name[64];
    snprintf(name, sizeof name, "io_links/%u/properties", number);
    put(t, node_file(from, name, path),
        "type 2\nversion_major 0\nversion_minor 0\nnode_from %u\nnode_to %u\nweight 20\n"
        "min_latency 0\nmax_latency 0\nmin_bandwidth 312\nmax_bandwidth 16000\n"
        "recommended_transfer_size 0\nflags 1\n",
        from, to);
}

static unsigned long long host_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (unsigned long long)pages * (unsigned long long)size
                                 : 1ull << 32;
}

static unsigned host_cores(void)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

/* Node 0: the host. A link from it to a card exists only where the host maps the card's memory. */
static void put_host(struct tree *t, const struct sim_machine *machine)
{
    char path[256];
    unsigned links = 0;
    put_folder(t, node_file(0, "io_links", path));
    put_folder(t, node_file(0, "caches", path));
    for (unsigned i = 0; i < machine->n; i++)
        if (machine->cards[i].large_bar) put_io_link(t, 0, i + 1, links++);
    put(t, node_file(0, "gpu_id", path), "0\n");
    put(t, node_file(0, "name", path), "\n");
    put(t, node_file(0, "properties", path),
        "cpu_cores_count %u\nsimd_count 0\nmem_banks_count 1\ncaches_count 0\nio_links_count %u\n"
        "p2p_links_count 0\ncpu_core_id_base 0\nsimd_id_base 0\nmax_waves_per_simd 0\n"
        "lds_size_in_kb 0\ngds_size_in_kb 0\nnum_gws 0\nwave_front_size 0\narray_count 0\n"
        "simd_arrays_per_engine 0\ncu_per_simd_array 0\nsimd_per_cu 0\nmax_slots_scratch_cu 0\n"
        "gfx_target_version 0\nvendor_id 0\ndevice_id 0\nlocation_id 0\ndomain 0\n"
        "drm_render_minor 0\nhive_id 0\nnum_sdma_engines 0\nnum_sdma_xgmi_engines 0\n"
        "num_sdma_queues_per_engine 0\nnum_cp_queues 0\nmax_engine_clk_ccompute 3000\n",
        host_cores(), links);
    put(t, node_file(0, "mem_banks/0/properties", path),
        "heap_type 0\nsize_in_bytes %llu\nflags 0\nwidth 64\nmem_clk_max 3200\n", host_memory());
}

/* Returns how many there are. Type: 1 data, 2 instruction, 8 of the SIMDs. */
static unsigned put_caches(struct tree *t, const struct sim_card *card, unsigned node)
{
    const struct {
        unsigned level, kb, line, type;
    } caches[] = {
        { 1, card->l0_kb, 128, 9 },    { 1, card->instruction_kb, 64, 10 },
        { 1, card->scalar_kb, 64, 9 }, { 2, card->l2_kb, 128, 9 },
        { 3, card->l3_kb, 64, 9 },
    };
    unsigned n = 0;
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
        if (!caches[i].kb) continue;
        char path[256], name[64];
        snprintf(name, sizeof name, "caches/%u/properties", n++);
        put(t, node_file(node, name, path),
            "processor_id_low 2147487744\nlevel %u\nsize %u\ncache_line_size %u\n"
            "cache_lines_per_tag 1\nassociation 0\nlatency 0\ntype %u\nsibling_map 1\n",
            caches[i].level, caches[i].kb, caches[i].line, caches[i].type);
    }
    return n;
}

/* Nodes 1…: the cards, each linked to the host. Heap type 1 is memory that the host maps, 2 not. */
static void put_card(struct tree *t, const struct sim_card *card, unsigned index)
{
    const unsigned node = index + 1;
    char path[256];
    const unsigned caches = put_caches(t, card, node);
    put_io_link(t, node, 0, 0);
    put(t, node_file(node, "gpu_id", path), "%u\n", sim_card_gpu_id(index));
    put(t, node_file(node, "name", path), "%s\n", card->codename);
    put(t, node_file(node, "properties", path),
        "cpu_cores_count 0\nsimd_count %u\nmem_banks_count 1\ncaches_count %u\nio_links_count 1\n"
        "p2p_links_count 0\ncpu_core_id_base 0\nsimd_id_base 2147487744\nmax_waves_per_simd %u\n"
        "lds_size_in_kb 64\ngds_size_in_kb 0\nnum_gws 0\nwave_front_size 32\narray_count %u\n"
        "simd_arrays_per_engine %u\ncu_per_simd_array %u\nsimd_per_cu 2\nmax_slots_scratch_cu 32\n"
        "gfx_target_version %u\nvendor_id 4098\ndevice_id %u\nlocation_id %u\ndomain 0\n"
        "drm_render_minor %u\nhive_id 0\nnum_sdma_engines 2\nnum_sdma_xgmi_engines 0\n"
        "num_sdma_queues_per_engine 8\nnum_cp_queues 8\nmax_engine_clk_fcompute %u\n"
        "local_mem_size 0\nfw_version %u\ncapability 9344\ndebug_prop 0\nsdma_fw_version %u\n"
        "unique_id 0\nnum_xcc 1\nmax_engine_clk_ccompute 3000\n",
        2 * card->compute_units, caches, card->waves_per_simd,
        card->shader_engines * card->arrays_per_engine, card->arrays_per_engine, card->cu_per_array,
        sim_card_target_version(card), card->pci_device, sim_card_location(index),
        sim_card_render_minor(index), card->engine_mhz, card->firmware, card->sdma_firmware);
    put(t, node_file(node, "mem_banks/0/properties", path),
        "heap_type %u\nsize_in_bytes %llu\nflags 0\nwidth %u\nmem_clk_max %u\n",
        card->large_bar ? 1 : 2, (unsigned long long)sim_card_memory(card), card->memory_bits,
        card->memory_mhz);
}

/* The card as PCI and DRM show it. */
static void put_pci(struct tree *t, const struct sim_card *card, unsigned index)
{
    const unsigned bus = sim_card_location(index) >> 8, minor = sim_card_render_minor(index);
    const unsigned long long memory = sim_card_memory(card);
    char folder[64], path[256], target[256];
    snprintf(folder, sizeof folder, "sys/bus/pci/devices/0000:%02x:00.0", bus);
    const struct {
        const char *name;
        int digits; /* hexadecimal ones; 0: decimal */
        unsigned long long value;
    } files[] = {
        { "vendor", 4, 0x1002 },
        { "device", 4, card->pci_device },
        { "revision", 2, card->pci_revision },
        { "class", 6, 0x030000 },
        { "subsystem_vendor", 4, 0x1002 },
        { "subsystem_device", 4, 0x0b36 },
        { "mem_info_vram_total", 0, memory },
        { "mem_info_vis_vram_total", 0, card->large_bar ? memory : 1ull << 28 },
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
        if (files[i].digits)
            put(t, path, "0x%0*llx\n", files[i].digits, files[i].value);
        else
            put(t, path, "%llu\n", files[i].value);
    }
    snprintf(path, sizeof path, "%s/uevent", folder);
    put(t, path, "DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=1002:%04X\nPCI_SLOT_NAME=0000:%02x:00.0\n",
        card->pci_device, bus);
    snprintf(path, sizeof path, "%s/drm/renderD%u/dev", folder, minor);
    put(t, path, "226:%u\n", minor);
    /* libdrm tells cards apart by the name of their primary node. */
    snprintf(path, sizeof path, "%s/drm/card%u/dev", folder, index);
    put(t, path, "226:%u\n", index);
    snprintf(target, sizeof target, "../../../bus/pci/devices/0000:%02x:00.0", bus);
    snprintf(path, sizeof path, "sys/dev/char/226:%u/device", minor);
    put_link(t, path, target);
    snprintf(path, sizeof path, "sys/dev/char/226:%u/uevent", minor);
    put(t, path, "MAJOR=226\nMINOR=%u\nDEVNAME=dri/renderD%u\nDEVTYPE=drm_minor\n", minor, minor);
    snprintf(path, sizeof path, "sys/class/drm/renderD%u", minor);
    snprintf(target, sizeof target, "../../dev/char/226:%u", minor);
    put_link(t, path, target);
    snprintf(path, sizeof path, "dev/dri/renderD%u", minor);
    put(t, path, "%s", "");
}

static void put_module(struct tree *t)
{
    put(t, "proc/modules", "amdgpu 9801728 1 - Live 0x0000000000000000\n");
    put(t, "sys/module/amdgpu/initstate", "live\n");
    put(t, "sys/module/amdgpu/coresize", "9801728\n");
    put(t, "sys/module/amdgpu/refcnt", "1\n");
    put_folder(t, "sys/module/amdgpu/holders");
}

bool sim_machine_write(const struct sim_machine *machine, const char *root,
                       char error[static SIM_ERROR_MAX])
{
    struct tree t = { .root = root, .error = error, .good = true };
    if (mkdir(root, 0777) && errno != EEXIST) failed(&t, "make", root);
    put(&t, TOPOLOGY "/generation_id", "2\n");
    put(&t, TOPOLOGY "/system_properties", "platform_oem 0\nplatform_id 0\nplatform_rev 0\n");
    put_link(&t, "sys/class/kfd/kfd", "../../devices/virtual/kfd/kfd");
    put(&t, "dev/kfd", "%s", "");
    put_module(&t);
    put_host(&t, machine);
    for (unsigned i = 0; i < machine->n; i++) {
        put_card(&t, &machine->cards[i], i);
        put_pci(&t, &machine->cards[i], i);
    }
    char path[PATH_MAX_HERE];
    if (!prepare(&t, "machine.card", path)) return false;
    FILE *file = fopen(path, "w");
    if (!file) {
        failed(&t, "create", path);
        return false;
    }
    const bool bad = !sim_machine_print(machine, file);
    if (fclose(file) || bad) failed(&t, "write", path);
    return t.good;
}
