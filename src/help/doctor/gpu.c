/* gpu.c: probe: GPUs on PCI, and what KFD, the kernel's compute driver, says of them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/chip/kfd.h"
#include "help/doctor/probe.h"

static const char pci_folder[] = "/sys/bus/pci/devices";

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
    snprintf(path, sizeof path, "%s/%s/fw_version/mes_fw_version", pci_folder, address);
    if (doctor_read_number(search->view, path, &value)) gpu.mes_firmware = value & 0xffffffff;
    m->gpus[m->n_gpus] = gpu;
    m->n_gpus++;
}

/* ---- KFD's topology, through the view ---- */

static int list_names(const struct rmcp_sysfs *sysfs, const char *path,
                      bool (*take)(void *to, const char *name), void *to)
{
    const struct doctor_search *search = sysfs->context;
    struct doctor_names names;
    if (doctor_at(search->view, path) != DOCTOR_FOLDER) return ENOENT;
    doctor_list(search->view, path, &names);
    for (size_t i = 0; i < names.n && take(to, names.list[i]);) i++;
    doctor_names_deinit(&names);
    return 0;
}

static long read_file(const struct rmcp_sysfs *sysfs, const char *path, const char *lines,
                      char *text, size_t room)
{
    const struct doctor_search *search = sysfs->context;
    return doctor_late(search) ? -1 : doctor_read_lines(search->view, path, text, room, lines);
}

/* The GPU at a node's address, or a new one. */
static struct doctor_gpu *gpu_of_node(struct doctor_machine *m, const struct rmcp_kfd_node *node)
{
    struct rmcp_pci pci;
    for (size_t i = 0; i < m->n_gpus; i++)
        if (m->gpus[i].vendor == DOCTOR_AMD && rmcp_pci_parse(m->gpus[i].pci, &pci) &&
            rmcp_pci_same(&pci, &node->pci))
            return &m->gpus[i];
    for (size_t i = 0; i < m->n_gpus; i++) /* partitions and odd locations: by id */
        if (m->gpus[i].vendor == DOCTOR_AMD && m->gpus[i].device == node->device &&
            !m->gpus[i].in_kfd)
            return &m->gpus[i];
    if (m->n_gpus == DOCTOR_GPUS) return NULL;
    struct doctor_gpu *gpu = &m->gpus[m->n_gpus++];
    *gpu = (struct doctor_gpu){ .vendor = DOCTOR_AMD, .device = node->device };
    return gpu;
}

static void take_node(struct doctor_machine *m, const struct rmcp_kfd_node *node)
{
    if (!node->is_gpu || node->vendor != DOCTOR_AMD || !node->device) return;
    struct doctor_gpu *gpu = gpu_of_node(m, node);
    if (!gpu) return;
    gpu->in_kfd = true;
    gpu->node = node->number;
    gpu->version = node->version;
    gpu->chip_from_kfd = node->version != 0;
    gpu->compute_units = node->compute_units;
    gpu->render = node->render;
    if (!gpu->mec_firmware) gpu->mec_firmware = node->firmware;
    if (!gpu->vram) gpu->vram = node->memory_bytes;
    gpu->atomics = node->link_flags & RMCP_KFD_NO_ATOMICS ? DOCTOR_NO
                   : node->link_flags                     ? DOCTOR_YES
                                                          : DOCTOR_UNKNOWN;
}

void doctor_probe_gpu(const struct doctor_search *search)
{
    struct doctor_machine *m = search->machine;
    const struct rmcp_sysfs sysfs = { "/sys", (void *)(uintptr_t)search, list_names, read_file };
    struct doctor_names names;
    struct rmcp_pci pci;
    struct rmcp_kfd kfd;
    doctor_list(search->view, pci_folder, &names);
    for (size_t i = 0; i < names.n && i < 4096 && !doctor_late(search); i++)
        if (rmcp_pci_parse(names.list[i], &pci)) read_pci(search, names.list[i]);
    doctor_names_deinit(&names);
    m->has_kfd = doctor_at(search->view, "/sys/class/kfd/kfd/topology") == DOCTOR_FOLDER;
    if (!rmcp_kfd_read(&sysfs, &kfd)) {
        m->has_kfd = m->has_kfd || kfd.n_nodes;
        rmcp_kfd_read_details(&sysfs, &kfd);
        for (size_t i = 0; i < kfd.n_nodes; i++) take_node(m, &kfd.nodes[i]);
    }
    for (size_t i = 0; i < m->n_gpus; i++) doctor_chip_from_pci(&m->gpus[i]);
}
