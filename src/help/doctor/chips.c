/* chips.c: the name of a GPU, and whether the usual PyTorch builds serve its chip. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help/doctor/machine.h"

void doctor_chip_from_pci(struct doctor_gpu *gpu)
{
    const char *name = NULL;
    if (gpu->vendor == DOCTOR_AMD) {
        const struct rmcp_chip *chip = rmcp_chip_by_pci(gpu->device, gpu->revision, &name);
        if (chip) gpu->is_integrated = chip->flags & RMCP_CHIP_INTEGRATED;
        if (chip && !gpu->version) gpu->version = chip->version; /* where KFD says more, it wins */
    }
    if (name)
        snprintf(gpu->name, sizeof gpu->name, "%s", name);
    else
        snprintf(gpu->name, sizeof gpu->name, "%s GPU %04x:%04x",
                 gpu->vendor == DOCTOR_AMD      ? "AMD"
                 : gpu->vendor == DOCTOR_NVIDIA ? "NVIDIA"
                                                : "other",
                 gpu->vendor & 0xffff, gpu->device & 0xffff);
    if (!gpu->version || !rmcp_chip_name(gpu->version, gpu->chip)) gpu->chip[0] = '\0';
}

static const char *wheel_of(uint32_t version)
{
    const struct rmcp_chip *chip = rmcp_chip_by_version(version);
    return chip ? chip->wheel : NULL;
}

const char *doctor_chip_wheel(uint32_t version)
{
    const char *own = wheel_of(version);
    return own ? own : wheel_of(doctor_chip_sibling(version));
}

enum doctor_service doctor_chip_service(uint32_t version)
{
    if (!version) return DOCTOR_CHIP_UNKNOWN;
    if (version < 90000) return DOCTOR_CHIP_OLD;
    if (version / 100 == 1001) return DOCTOR_CHIP_LEFT_BEHIND;
    if (wheel_of(version)) return DOCTOR_CHIP_WHEEL;
    return doctor_chip_sibling(version) ? DOCTOR_CHIP_FAMILY : DOCTOR_CHIP_UNKNOWN;
}

uint32_t doctor_chip_sibling(uint32_t version)
{
    const struct rmcp_chip *chip = rmcp_chip_by_version(version);
    if (!chip || !chip->sibling) return 0;
    chip = rmcp_chip_by_name(chip->sibling, strlen(chip->sibling));
    return chip ? chip->version : 0;
}

bool doctor_chip_same_family(uint32_t left, uint32_t right)
{
    const struct rmcp_chip *a = rmcp_chip_by_version(left), *b = rmcp_chip_by_version(right);
    if (left == right) return true;
    return a && b && a->kernels && b->kernels && !strcmp(a->kernels, b->kernels);
}

bool doctor_chip_has_fewer_registers(uint32_t version, uint32_t other)
{
    /* 1536 vector registers for each lane of a SIMD against 1024. */
    static const uint32_t many[] = { 110000, 110001, 110501 };
    bool has_many = false, other_has = false;
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        has_many |= many[i] == version;
        other_has |= many[i] == other;
    }
    if (version == 110003 && other != version && other / 100 == 1100)
        return true; /* its owners report hangs under 11.0.2, too, which has as many */
    return version / 10000 == 11 && other_has && !has_many;
}

bool doctor_targets_have(const char *targets, const char *chip)
{
    const size_t length = strlen(chip);
    const struct rmcp_chip *known = rmcp_chip_by_name(chip, length);
    const char *generic = known && known->generic ? known->generic : "";
    if (!length) return false;
    while (*targets) {
        const size_t field = strcspn(targets, ","), name = strcspn(targets, ",:");
        if (name == length && !strncmp(targets, chip, name)) return true;
        if (*generic && name == strlen(generic) && !strncmp(targets, generic, name)) return true;
        targets += field + (targets[field] == ',');
    }
    return false;
}

bool doctor_override_parse(const char *text, uint32_t *version)
{
    unsigned long part[3];
    for (int i = 0; i < 3; i++) {
        char *end = NULL;
        if (*text < '0' || *text > '9') return false;
        part[i] = strtoul(text, &end, 10);
        if (part[i] > 63 || *end != (i < 2 ? '.' : '\0')) return false;
        text = end + 1;
    }
    *version = (uint32_t)(part[0] * 10000 + part[1] * 100 + part[2]);
    return true;
}

const char *doctor_variable(const struct doctor_machine *machine, const char *name)
{
    for (size_t i = 0; i < machine->n_variables; i++)
        if (!strcmp(machine->variables[i].name, name)) return machine->variables[i].value;
    return NULL;
}

/* How many GPUs of KFD are before this one. */
static unsigned long ordinal_of(const struct doctor_machine *m, const struct doctor_gpu *gpu)
{
    unsigned long n = 0;
    for (size_t i = 0; i < m->n_gpus; i++)
        n += m->gpus[i].vendor == DOCTOR_AMD && m->gpus[i].in_kfd && m->gpus[i].node < gpu->node;
    return n;
}

/* The place that a list gives to a device, counted from 0; -1: none. It ends with the first entry
 * that is none of the `n`; an id ("GPU-0123456789abcdef") may be any. */
static long place_in(const char *list, unsigned long device, unsigned long n)
{
    for (long place = 0;; place++) {
        char *end = NULL;
        list += strspn(list, " ");
        if (!strncmp(list, "GPU-", 4)) return place;
        if (*list < '0' || *list > '9') return -1;
        const unsigned long number = strtoul(list, &end, 10);
        if (number == device) return place;
        if (number >= n || *end != ',') return -1;
        list = end + 1;
    }
}

bool doctor_is_visible(const struct doctor_machine *m, const struct doctor_gpu *gpu)
{
    const char *const rocr = doctor_variable(m, "ROCR_VISIBLE_DEVICES");
    const char *hip = doctor_variable(m, "HIP_VISIBLE_DEVICES");
    const char *const opencl = doctor_variable(m, "GPU_DEVICE_ORDINAL");
    unsigned long n = 0;
    if (!gpu->in_kfd) return true;
    for (size_t i = 0; i < m->n_gpus; i++)
        n += m->gpus[i].vendor == DOCTOR_AMD && m->gpus[i].in_kfd;
    long place = (long)ordinal_of(m, gpu);
    if (rocr) place = place_in(rocr, (unsigned long)place, n);
    if (!hip) hip = doctor_variable(m, "CUDA_VISIBLE_DEVICES");
    if (place >= 0 && hip) place = place_in(hip, (unsigned long)place, n);
    if (place >= 0 && opencl && *opencl) place = place_in(opencl, (unsigned long)place, n);
    return place >= 0;
}

const struct doctor_gpu *doctor_main_gpu(const struct doctor_machine *machine)
{
    const struct doctor_gpu *best = NULL;
    for (size_t i = 0; i < machine->n_gpus; i++) {
        const struct doctor_gpu *gpu = &machine->gpus[i];
        if (gpu->vendor != DOCTOR_AMD) continue;
        const bool is_seen = doctor_is_visible(machine, gpu);
        const bool best_is_seen = best && doctor_is_visible(machine, best);
        if (!best || (best->is_integrated && !gpu->is_integrated) ||
            (best->is_integrated == gpu->is_integrated &&
             (is_seen != best_is_seen ? is_seen : gpu->compute_units > best->compute_units)))
            best = gpu;
    }
    return best;
}
