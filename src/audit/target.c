/* target.c: which chip to judge for, and what code of another target is to it. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/audit.h"

int audit_chip_parse(const char *name)
{
    for (unsigned chip = 0; chip < ISA_N_CHIPS; chip++)
        if (!strcmp(name, isa_chip_name(chip))) return (int)chip;
    return -1;
}

/* The number after "gfx_target_version" in a node's properties; 0 for processors and failures. */
static unsigned long node_version(const char *path)
{
    char line[128];
    unsigned long version = 0;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "gfx_target_version ", 19)) version = strtoul(line + 19, NULL, 10);
    if (file) fclose(file);
    return version;
}

/* 100302 is gfx1032, 90010 is gfx90a. */
static void version_name(unsigned long version, char name[static 32])
{
    snprintf(name, 32, "gfx%lu%lx%lx", version / 10000 % 1000, version / 100 % 100, version % 100);
}

static int compare_numbers(const void *left, const void *right)
{
    unsigned long a = *(const unsigned long *)left, b = *(const unsigned long *)right;
    return (a > b) - (a < b);
}

rmcp_status audit_chip_detect(unsigned *chip)
{
    enum { MOST_NODES = 256 };
    const char *root = getenv("RMCP_SYSFS_ROOT");
    char folder_path[4096], path[4400], name[32], seen[256] = "";
    unsigned long numbers[MOST_NODES];
    size_t n = 0;
    snprintf(folder_path, sizeof folder_path, "%.3900s/class/kfd/kfd/topology/nodes",
             root && *root ? root : "/sys");
    DIR *folder = opendir(folder_path);
    if (!folder)
        return rmcp_fail(RMCP_E_UNSUPPORTED,
                         "no chip to detect: %.300s: %s; name one, such as --target gfx1010",
                         folder_path, strerror(errno));
    for (struct dirent *entry; n < MOST_NODES && (entry = readdir(folder));)
        if (*entry->d_name >= '0' && *entry->d_name <= '9')
            numbers[n++] = strtoul(entry->d_name, NULL, 10);
    closedir(folder);
    qsort(numbers, n, sizeof *numbers, compare_numbers);
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%lu/properties", folder_path, numbers[i]);
        unsigned long version = node_version(path);
        if (!version) continue;
        version_name(version, name);
        int found = audit_chip_parse(name);
        if (found < 0 && version / 100 == 1003) found = ISA_GFX1030;
        if (found >= 0) {
            *chip = (unsigned)found;
            return RMCP_OK;
        }
        size_t used = strlen(seen);
        snprintf(seen + used, sizeof seen - used, "%s%s", used ? ", " : "", name);
    }
    return rmcp_fail(RMCP_E_UNSUPPORTED,
                     "no gfx10 chip in %.300s (%s); name one, such as --target gfx1010",
                     folder_path, *seen ? seen : "no GPU at all");
}

enum audit_kind audit_kind_of(unsigned chip, const struct codeobj_target *target)
{
    const char *family = chip == ISA_GFX1030 ? "gfx10-3-generic" : "gfx10-1-generic";
    if (!target->chip || isa_chip_of_mach(target->mach) < 0) return AUDIT_OTHER;
    /* No RDNA driver switches XNACK on, so code that insists on it is never loaded. */
    bool named = !strcmp(target->chip, isa_chip_name(chip)) || !strcmp(target->chip, family);
    return named && target->xnack != CODEOBJ_ON ? AUDIT_NATIVE : AUDIT_FOREIGN;
}

struct audit_mode audit_mode_of(const struct codeobj *object, const struct codeobj_kernel *kernel)
{
    static const uint32_t rsrc1_wgp_mode = UINT32_C(1) << 29;
    for (size_t i = 0; i < object->n_kernels && !kernel; i++)
        if (object->kernels[i].has_descriptor || object->kernels[i].has_metadata)
            kernel = &object->kernels[i];
    struct audit_mode mode = { .wave64 = false, .wgp = true }; /* what compilers take by default */
    if (!kernel) return mode;
    mode.wave64 = kernel->metadata.wavefront_size == 64;
    if (kernel->has_descriptor) {
        mode.wave64 = !(kernel->descriptor.properties & CODEOBJ_PROPERTY_WAVE32);
        mode.wgp = kernel->descriptor.rsrc1 & rsrc1_wgp_mode;
    }
    return mode;
}
