/* chips.c: AMD GPUs by PCI id, and which of them the usual PyTorch builds serve. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/machine.h"

/* PCI ids by range; the kernel's amdgpu driver has the same numbers. Where KFD says more, it wins.
 */
static const struct {
    uint32_t first, last, version;
    bool is_integrated;
    const char *name;
} ids[] = {
    { 0x1304, 0x131d, 70000, true, "Kaveri graphics" },
    { 0x15d8, 0x15d8, 90002, true, "Picasso or Raven 2 graphics" },
    { 0x15dd, 0x15dd, 90002, true, "Raven graphics" },
    { 0x15bf, 0x15bf, 110003, true, "Radeon 780M" },
    { 0x15c8, 0x15c8, 110003, true, "Phoenix 2 graphics" },
    { 0x150e, 0x150e, 110500, true, "Radeon 890M" },
    { 0x1586, 0x1586, 110501, true, "Radeon 8060S" },
    { 0x1435, 0x1435, 100303, true, "Van Gogh graphics" },
    { 0x163f, 0x163f, 100303, true, "Van Gogh graphics" },
    { 0x13fe, 0x13fe, 100103, true, "Cyan Skillfish graphics" },
    { 0x1506, 0x1506, 100306, true, "Mendocino graphics" },
    { 0x1636, 0x1636, 90012, true, "Renoir graphics" },
    { 0x1638, 0x1638, 90012, true, "Cezanne graphics" },
    { 0x164c, 0x164c, 90012, true, "Lucienne graphics" },
    { 0x164d, 0x164d, 100305, true, "Rembrandt graphics" },
    { 0x164e, 0x164e, 100306, true, "Raphael graphics" },
    { 0x1681, 0x1681, 100305, true, "Rembrandt graphics" },
    { 0x66a0, 0x66a7, 90006, false, "Instinct MI50 or MI60" },
    { 0x66af, 0x66af, 90006, false, "Radeon VII" },
    { 0x67a0, 0x67be, 70001, false, "Hawaii (R9 290, 390)" },
    { 0x67c0, 0x67df, 80003, false, "Polaris 10 (RX 470 to 590)" },
    { 0x67e0, 0x67ff, 80003, false, "Polaris 11 (RX 460, 560)" },
    { 0x6860, 0x687f, 90000, false, "Vega 10 (Vega 56, 64, MI25)" },
    { 0x6900, 0x6907, 80002, false, "Topaz" },
    { 0x6920, 0x6939, 80002, false, "Tonga (R9 285, 380)" },
    { 0x6980, 0x699f, 80003, false, "Polaris 12 (RX 540, 550)" },
    { 0x69a0, 0x69af, 90004, false, "Vega 12" },
    { 0x6fdf, 0x6fdf, 80003, false, "Polaris 20 (RX 580 2048SP)" },
    { 0x7300, 0x730f, 80003, false, "Fiji (R9 Fury, Nano)" },
    { 0x7310, 0x731e, 100100, false, "Navi 10 (Radeon Pro W5700 and others)" },
    { 0x731f, 0x731f, 100100, false, "Radeon RX 5600/5700 series" },
    { 0x7340, 0x734f, 100102, false, "Radeon RX 5300/5500 series" },
    { 0x7360, 0x7362, 100101, false, "Navi 12 (Radeon Pro 5600M, V520)" },
    { 0x7388, 0x738e, 90008, false, "Instinct MI100" },
    { 0x7390, 0x7390, 90008, false, "Instinct MI100" },
    { 0x73a0, 0x73bf, 100300, false, "Radeon RX 6800/6900 series" },
    { 0x73c0, 0x73df, 100301, false, "Radeon RX 6700 series" },
    { 0x73e0, 0x73ff, 100302, false, "Radeon RX 6600 series" },
    { 0x7408, 0x7410, 90010, false, "Instinct MI200 series" },
    { 0x7420, 0x743f, 100304, false, "Radeon RX 6400/6500 series" },
    { 0x7440, 0x745f, 110000, false, "Radeon RX 7900 series" },
    { 0x7460, 0x747f, 110001, false, "Radeon RX 7700/7800 series" },
    { 0x7480, 0x749f, 110002, false, "Radeon RX 7600 series" },
    { 0x74a0, 0x74bf, 90402, false, "Instinct MI300 series" },
    { 0x75a0, 0x75a3, 90500, false, "Instinct MI350 series" },
    { 0x7550, 0x755f, 120001, false, "Radeon RX 9070 series" },
    { 0x7590, 0x759f, 120000, false, "Radeon RX 9060 series" },
};

/* Names of single cards, for those that this project is about. */
static const struct {
    uint32_t device, revision;
    const char *name;
} cards[] = {
    { 0x731f, 0xc0, "Radeon RX 5700 XT 50th Anniversary" },
    { 0x731f, 0xc1, "Radeon RX 5700 XT" },
    { 0x731f, 0xc2, "Radeon RX 5600M" },
    { 0x731f, 0xc3, "Radeon RX 5700M" },
    { 0x731f, 0xc4, "Radeon RX 5700" },
    { 0x731f, 0xc5, "Radeon RX 5700 XT" },
    { 0x731f, 0xca, "Radeon RX 5600 XT" },
    { 0x731f, 0xcb, "Radeon RX 5600 OEM" },
    { 0x7340, 0xc1, "Radeon RX 5500M" },
    { 0x7340, 0xc3, "Radeon RX 5300M" },
    { 0x7340, 0xc5, "Radeon RX 5500 XT" },
    { 0x7340, 0xc7, "Radeon RX 5500" },
    { 0x7340, 0xcf, "Radeon RX 5300" },
    { 0x73bf, 0xc0, "Radeon RX 6900 XT" },
    { 0x73bf, 0xc1, "Radeon RX 6800 XT" },
    { 0x73bf, 0xc3, "Radeon RX 6800" },
    { 0x744c, 0xc8, "Radeon RX 7900 XTX" },
    { 0x744c, 0xcc, "Radeon RX 7900 XT" },
    { 0x7480, 0xc0, "Radeon RX 7600 XT" },
    { 0x740f, 0x02, "Instinct MI210" },
};

void doctor_chip_from_pci(struct doctor_gpu *gpu)
{
    const char *name = NULL;
    for (size_t i = 0; i < sizeof ids / sizeof *ids && gpu->vendor == DOCTOR_AMD; i++) {
        if (gpu->device < ids[i].first || gpu->device > ids[i].last) continue;
        name = ids[i].name;
        gpu->is_integrated = ids[i].is_integrated;
        if (!gpu->version) gpu->version = ids[i].version;
        break;
    }
    for (size_t i = 0; i < sizeof cards / sizeof *cards && gpu->vendor == DOCTOR_AMD; i++)
        if (cards[i].device == gpu->device && cards[i].revision == gpu->revision)
            name = cards[i].name;
    if (name)
        snprintf(gpu->name, sizeof gpu->name, "%s", name);
    else
        snprintf(gpu->name, sizeof gpu->name, "%s GPU %04x:%04x",
                 gpu->vendor == DOCTOR_AMD      ? "AMD"
                 : gpu->vendor == DOCTOR_NVIDIA ? "NVIDIA"
                                                : "other",
                 gpu->vendor & 0xffff, gpu->device & 0xffff);
    if (!gpu->version || !doctor_chip_name(gpu->version, gpu->chip)) gpu->chip[0] = '\0';
}

bool doctor_chip_name(uint32_t version, char chip[static 16])
{
    const uint32_t major = version / 10000, minor = version / 100 % 100, stepping = version % 100;
    if (major < 7 || major > 12 || minor > 9 || stepping > 15) return false;
    snprintf(chip, 16, "gfx%u%u%x", major, minor, stepping);
    return true;
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
    char generic[32] = "";
    const size_t length = strlen(chip);
    if (!length) return false;
    if (!strncmp(chip, "gfx101", 6))
        snprintf(generic, sizeof generic, "gfx10-1-generic");
    else if (!strncmp(chip, "gfx103", 6))
        snprintf(generic, sizeof generic, "gfx10-3-generic");
    else if (!strncmp(chip, "gfx11", 5))
        snprintf(generic, sizeof generic, "gfx11-generic");
    else if (!strncmp(chip, "gfx12", 5))
        snprintf(generic, sizeof generic, "gfx12-generic");
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
