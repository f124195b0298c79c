/* gpu.c: probe: GPUs on PCI, and what KFD, the kernel's compute driver, says of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/probe.h"

static const char pci_folder[] = "/sys/bus/pci/devices";
static const char node_folder[] = "/sys/class/kfd/kfd/topology/nodes";

enum {
    LINK_NO_ATOMICS = 0xc, /* flags of a KFD link: no 32-bit, no 64-bit atomics */
    MOST_KFD_NODES = 64
};

static bool is_address(const char *name)
{
    size_t digits = strspn(name, "0123456789abcdef");
    return (digits >= 4 && digits <= 8) && strlen(name) == digits + 8 && name[digits] == ':' &&
           name[digits + 3] == ':' && name[digits + 6] == '.';
}

static void read_pci(const struct doctor_search *search, const char *address)
{
    struct doctor_machine *m = search->machine;
    struct doctor_gpu gpu = { 0 };
    char path[160], target[DOCTOR_PATH];
    uint64_t vendor, device, class, value;
    snprintf(path, sizeof path, "%s/%s/class", pci_folder, address);
    if (!doctor_read_number(search->view, path, &class) || class >> 16 != 3) return; /* displays */
    snprintf(path, sizeof path, "%s/%s/vendor", pci_folder, address);
    if (!doctor_read_number(search->view, path, &vendor) || vendor > 0xffff) return;
    snprintf(path, sizeof path, "%s/%s/device", pci_folder, address);
    if (!doctor_read_number(search->view, path, &device) || device > 0xffff) return;
    if (m->n_gpus == DOCTOR_GPUS) return;
    gpu.vendor = (uint32_t)vendor;
    gpu.device = (uint32_t)device;
    snprintf(gpu.pci, sizeof gpu.pci, "%.15s", address);
    snprintf(path, sizeof path, "%s/%s/revision", pci_folder, address);
    if (doctor_read_number(search->view, path, &value)) gpu.revision = value & 0xff;
    snprintf(path, sizeof path, "%s/%s/driver", pci_folder, address);
    if (doctor_read_link(search->view, path, target, sizeof target)) {
        const char *base = strrchr(target, '/');
        doctor_copy(gpu.driver, sizeof gpu.driver, base ? base + 1 : target,
                    strlen(base ? base + 1 : target));
    }
    snprintf(path, sizeof path, "%s/%s/mem_info_vram_total", pci_folder, address);
    if (doctor_read_number(search->view, path, &value)) gpu.vram = value;
    snprintf(path, sizeof path, "%s/%s/fw_version/mec_fw_version", pci_folder, address);
    if (doctor_read_number(search->view, path, &value)) gpu.mec_firmware = value & 0xffffffff;
    m->gpus[m->n_gpus] = gpu;
    m->n_gpus++;
}

/* The GPU at KFD's location (bus << 8 | device << 3 | function), or a new one. */
static struct doctor_gpu *gpu_of_node(struct doctor_machine *m, uint64_t domain, uint64_t location,
                                      uint32_t device)
{
    char address[16];
    snprintf(address, sizeof address, "%04x:%02x:%02x.%x", (unsigned)(domain & 0xffff),
             (unsigned)(location >> 8 & 0xff), (unsigned)(location >> 3 & 31),
             (unsigned)(location & 7));
    for (size_t i = 0; i < m->n_gpus; i++)
        if (!strcmp(m->gpus[i].pci, address) && m->gpus[i].vendor == DOCTOR_AMD) return &m->gpus[i];
    for (size_t i = 0; i < m->n_gpus; i++) /* partitions and odd locations: by id */
        if (m->gpus[i].vendor == DOCTOR_AMD && m->gpus[i].device == device && !m->gpus[i].in_kfd)
            return &m->gpus[i];
    if (m->n_gpus == DOCTOR_GPUS) return NULL;
    struct doctor_gpu *gpu = &m->gpus[m->n_gpus++];
    *gpu = (struct doctor_gpu){ .vendor = DOCTOR_AMD, .device = device };
    return gpu;
}

/* Links of a node, by which a GPU reaches the CPU or the CPU a GPU. */
static void read_links(const struct doctor_search *search, unsigned long node,
                       uint64_t flags_to[MOST_KFD_NODES], uint64_t *flags_from)
{
    struct doctor_names names;
    char path[200], text[4096];
    snprintf(path, sizeof path, "%s/%lu/io_links", node_folder, node);
    doctor_list(search->view, path, &names);
    for (size_t i = 0; i < names.n && i < 64; i++) {
        uint64_t flags = 0, to = 0;
        snprintf(path, sizeof path, "%s/%lu/io_links/%.20s/properties", node_folder, node,
                 names.list[i]);
        if (doctor_read_lines(search->view, path, text, sizeof text, "node_ flags type") < 0)
            continue;
        if (!doctor_number(text, "flags", &flags)) continue;
        *flags_from |= flags;
        if (doctor_number(text, "node_to", &to) && to < MOST_KFD_NODES) flags_to[to] |= flags;
    }
    doctor_names_deinit(&names);
}

static uint64_t read_vram(const struct doctor_search *search, unsigned long node)
{
    struct doctor_names names;
    char path[200], text[4096];
    uint64_t sum = 0;
    snprintf(path, sizeof path, "%s/%lu/mem_banks", node_folder, node);
    doctor_list(search->view, path, &names);
    for (size_t i = 0; i < names.n && i < 16; i++) {
        uint64_t heap = 0, size = 0;
        snprintf(path, sizeof path, "%s/%lu/mem_banks/%.20s/properties", node_folder, node,
                 names.list[i]);
        if (doctor_read_lines(search->view, path, text, sizeof text, "heap_type size_in_bytes") < 0)
            continue;
        if (doctor_number(text, "heap_type", &heap) && (heap == 1 || heap == 2) &&
            doctor_number(text, "size_in_bytes", &size) && size < UINT64_C(1) << 50)
            sum += size;
    }
    doctor_names_deinit(&names);
    return sum;
}

static void read_node(const struct doctor_search *search, unsigned long node,
                      uint64_t flags_to[MOST_KFD_NODES])
{
    struct doctor_machine *m = search->machine;
    char path[160], text[DOCTOR_TEXT];
    uint64_t simds = 0, per_cu = 0, version = 0, device = 0, location = 0, domain = 0, vendor = 0,
             firmware = 0, flags = 0;
    snprintf(path, sizeof path, "%s/%lu/properties", node_folder, node);
    if (doctor_read_lines(
            search->view, path, text, sizeof text,
            "cpu_cores_count simd_ gfx_target_version vendor_id device_id location_id "
            "domain fw_version") < 0)
        return;
    m->has_kfd = true;
    read_links(search, node, flags_to, &flags);
    doctor_number(text, "simd_count", &simds);
    if (!simds || simds > 100000) return; /* a CPU, or nonsense */
    doctor_number(text, "simd_per_cu", &per_cu);
    doctor_number(text, "gfx_target_version", &version);
    doctor_number(text, "vendor_id", &vendor);
    doctor_number(text, "device_id", &device);
    doctor_number(text, "location_id", &location);
    doctor_number(text, "domain", &domain);
    doctor_number(text, "fw_version", &firmware);
    if (vendor != DOCTOR_AMD || device > 0xffff || version > 999999) return;
    struct doctor_gpu *gpu = gpu_of_node(m, domain, location, (uint32_t)device);
    if (!gpu) return;
    gpu->in_kfd = true;
    gpu->node = (uint32_t)node;
    gpu->version = (uint32_t)version;
    gpu->chip_from_kfd = version != 0;
    gpu->compute_units = (uint32_t)(per_cu ? simds / per_cu : simds);
    if (!gpu->mec_firmware) gpu->mec_firmware = firmware & 0xffffffff;
    if (!gpu->vram) gpu->vram = read_vram(search, node);
    gpu->atomics = flags & LINK_NO_ATOMICS ? DOCTOR_NO : flags ? DOCTOR_YES : DOCTOR_UNKNOWN;
}

void doctor_probe_gpu(const struct doctor_search *search)
{
    struct doctor_machine *m = search->machine;
    struct doctor_names names;
    uint64_t flags_to[MOST_KFD_NODES] = { 0 };
    doctor_list(search->view, pci_folder, &names);
    for (size_t i = 0; i < names.n && i < 4096 && !doctor_late(search); i++)
        if (is_address(names.list[i])) read_pci(search, names.list[i]);
    doctor_names_deinit(&names);
    m->has_kfd = doctor_at(search->view, "/sys/class/kfd/kfd/topology") == DOCTOR_FOLDER;
    doctor_list(search->view, node_folder, &names);
    for (size_t i = 0; i < names.n && i < MOST_KFD_NODES && !doctor_late(search); i++) {
        char *end = NULL;
        unsigned long node = strtoul(names.list[i], &end, 10);
        if (*names.list[i] >= '0' && *names.list[i] <= '9' && !*end && node < MOST_KFD_NODES)
            read_node(search, node, flags_to);
    }
    doctor_names_deinit(&names);
    for (size_t i = 0; i < m->n_gpus; i++) {
        struct doctor_gpu *gpu = &m->gpus[i];
        if (gpu->in_kfd && gpu->node < MOST_KFD_NODES && flags_to[gpu->node] & LINK_NO_ATOMICS)
            gpu->atomics = DOCTOR_NO;
        doctor_chip_from_pci(gpu);
    }
}
