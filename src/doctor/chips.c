/* chips.c: the name of a GPU, and whether the usual PyTorch builds serve its chip. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/machine.h"

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

enum doctor_service doctor_chip_service(uint32_t version)
{
    static const uint32_t in_wheels[] = { 90000,  90006,  90008,  90010,  90402,  90500,  100300,
                                          110000, 110001, 110002, 110500, 110501, 120000, 120001 };
    if (!version) return DOCTOR_CHIP_UNKNOWN;
    if (version < 90000) return DOCTOR_CHIP_OLD;
    if (version / 100 == 1001) return DOCTOR_CHIP_LEFT_BEHIND;
    for (size_t i = 0; i < sizeof in_wheels / sizeof *in_wheels; i++)
        if (in_wheels[i] == version) return DOCTOR_CHIP_WHEEL;
    return doctor_chip_sibling(version) ? DOCTOR_CHIP_FAMILY : DOCTOR_CHIP_UNKNOWN;
}

uint32_t doctor_chip_sibling(uint32_t version)
{
    /* Families that LLVM's generic targets call one: code for the sibling has nothing that the
     * chip lacks. gfx1010 is the common part of gfx101x, gfx1030 all of gfx103x. */
    switch (version / 100) {
    case 1001: return 100100;
    case 1003: return 100300;
    case 1100: return 110000;
    default: return 0;
    }
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

const struct doctor_gpu *doctor_main_gpu(const struct doctor_machine *machine)
{
    const struct doctor_gpu *best = NULL;
    for (size_t i = 0; i < machine->n_gpus; i++) {
        const struct doctor_gpu *gpu = &machine->gpus[i];
        if (gpu->vendor != DOCTOR_AMD) continue;
        if (!best || (best->is_integrated && !gpu->is_integrated) ||
            (best->is_integrated == gpu->is_integrated && gpu->compute_units > best->compute_units))
            best = gpu;
    }
    return best;
}
