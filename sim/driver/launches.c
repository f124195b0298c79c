/* launches.c: a line for each kernel that was launched: which code it was, so that it can be found
 * again in the files that a program was given. */
#define _GNU_SOURCE
#include "code/isa/isa.h"
#include "sim/driver/driver.h"

#include <elf.h>
#include <string.h>

/* Code from the entry on, as far as its segment goes; NULL: it is in none. */
static const void *code_at(struct gpu *gpu, uint64_t base, const Elf64_Ehdr *header, uint64_t entry,
                           uint64_t *bytes)
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;
        const void *from =
            vm_at(gpu, base + header->e_phoff + i * sizeof segment, sizeof segment, SIM_READ);
        if (!from) return NULL;
        memcpy(&segment, from, sizeof segment);
        const uint64_t at = entry - base - segment.p_vaddr;
        if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X) || at >= segment.p_filesz)
            continue;
        *bytes = segment.p_filesz - at < SIM_LAUNCH_CODE ? segment.p_filesz - at : SIM_LAUNCH_CODE;
        return vm_at(gpu, entry, *bytes, SIM_READ);
    }
    return NULL;
}

void launches_note(struct gpu *gpu, uint64_t descriptor, uint64_t entry, const char *kernel)
{
    char line[512];
    const char *chip = "-";
    uint64_t base, bytes = 0, digest = 0;
    if (!driver.options.launches) return;
    const void *from = kernel_image(gpu, descriptor, &base)
                           ? vm_at(gpu, base, sizeof(Elf64_Ehdr), SIM_READ)
                           : NULL;
    if (from) {
        Elf64_Ehdr header;
        memcpy(&header, from, sizeof header);
        const void *kd = vm_at(gpu, descriptor, SIM_LAUNCH_DESCRIPTOR, SIM_READ);
        const void *code = code_at(gpu, base, &header, entry, &bytes);
        const int found = isa_chip_of_mach(header.e_flags & 0xff);
        if (kd && code) digest = sim_launch_digest(header.e_flags, kd, code, (size_t)bytes);
        chip = found >= 0 ? isa_chip_name((unsigned)found) : "?";
    }
    const int n = snprintf(line, sizeof line, "%s %016llx %.255s\n", chip,
                           (unsigned long long)digest, kernel);
    summary_write(driver.options.launches, line, (size_t)n);
}
