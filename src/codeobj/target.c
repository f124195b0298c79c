/* target.c: the chips that AMDGPU code is made for: e_flags to names and back. */
#include <stdio.h>
#include <string.h>

#include "codeobj/codeobj.h"

enum { XNACK = 1, SRAMECC = 2 };

/* LLVM's AMDGPUUsage, "AMDGPU ELF header e_flags", and which target features each chip has. */
static const struct chip {
    uint8_t mach, features;
    const char *name;
} chips[] = {
    { 0x20, 0, "gfx600" },
    { 0x21, 0, "gfx601" },
    { 0x22, 0, "gfx700" },
    { 0x23, 0, "gfx701" },
    { 0x24, 0, "gfx702" },
    { 0x25, 0, "gfx703" },
    { 0x26, 0, "gfx704" },
    { 0x28, XNACK, "gfx801" },
    { 0x29, 0, "gfx802" },
    { 0x2a, 0, "gfx803" },
    { 0x2b, XNACK, "gfx810" },
    { 0x2c, XNACK, "gfx900" },
    { 0x2d, XNACK, "gfx902" },
    { 0x2e, XNACK, "gfx904" },
    { 0x2f, XNACK | SRAMECC, "gfx906" },
    { 0x30, XNACK | SRAMECC, "gfx908" },
    { 0x31, XNACK, "gfx909" },
    { 0x32, XNACK, "gfx90c" },
    { 0x33, XNACK, "gfx1010" },
    { 0x34, XNACK, "gfx1011" },
    { 0x35, XNACK, "gfx1012" },
    { 0x36, 0, "gfx1030" },
    { 0x37, 0, "gfx1031" },
    { 0x38, 0, "gfx1032" },
    { 0x39, 0, "gfx1033" },
    { 0x3a, 0, "gfx602" },
    { 0x3b, 0, "gfx705" },
    { 0x3c, 0, "gfx805" },
    { 0x3d, 0, "gfx1035" },
    { 0x3e, 0, "gfx1034" },
    { 0x3f, XNACK | SRAMECC, "gfx90a" },
    { 0x40, XNACK | SRAMECC, "gfx940" },
    { 0x41, 0, "gfx1100" },
    { 0x42, XNACK, "gfx1013" },
    { 0x43, 0, "gfx1150" },
    { 0x44, 0, "gfx1103" },
    { 0x45, 0, "gfx1036" },
    { 0x46, 0, "gfx1101" },
    { 0x47, 0, "gfx1102" },
    { 0x48, 0, "gfx1200" },
    { 0x49, 0, "gfx1250" },
    { 0x4a, 0, "gfx1151" },
    { 0x4b, XNACK | SRAMECC, "gfx941" },
    { 0x4c, XNACK | SRAMECC, "gfx942" },
    { 0x4e, 0, "gfx1201" },
    { 0x4f, XNACK | SRAMECC, "gfx950" },
    { 0x50, 0, "gfx1310" },
    { 0x51, XNACK, "gfx9-generic" },
    { 0x52, XNACK, "gfx10-1-generic" },
    { 0x53, 0, "gfx10-3-generic" },
    { 0x54, 0, "gfx11-generic" },
    { 0x55, 0, "gfx1152" },
    { 0x57, 0, "gfx1154" },
    { 0x58, 0, "gfx1153" },
    { 0x59, 0, "gfx12-generic" },
    { 0x5a, 0, "gfx1251" },
    { 0x5b, 0, "gfx12-5-generic" },
    { 0x5c, 0, "gfx1172" },
    { 0x5d, 0, "gfx1170" },
    { 0x5e, 0, "gfx1171" },
    { 0x5f, XNACK | SRAMECC, "gfx9-4-generic" },
    { 0x62, 0, "gfx11-7-generic" },
    { 0x63, 0, "gfx13-generic" },
};
enum { N_CHIPS = sizeof chips / sizeof *chips };

static void write_text(struct codeobj_target *target)
{
    static const char *const sramecc[] = { "", "", ":sramecc-", ":sramecc+" };
    static const char *const xnack[] = { "", "", ":xnack-", ":xnack+" };
    if (target->chip)
        snprintf(target->text, sizeof target->text, "%s%s%s", target->chip,
                 sramecc[target->sramecc], xnack[target->xnack]);
    else
        snprintf(target->text, sizeof target->text, "unknown-%#04x", (unsigned)target->mach);
}

void codeobj_target_read(uint32_t e_flags, unsigned version, struct codeobj_target *out)
{
    *out = (struct codeobj_target){ .mach = e_flags & 0xff };
    int features = 0;
    for (size_t i = 0; i < N_CHIPS; i++)
        if (chips[i].mach == out->mach) {
            out->chip = chips[i].name;
            features = chips[i].features;
        }
    if (version >= 4) {
        out->xnack = e_flags >> 8 & 3;
        out->sramecc = e_flags >> 10 & 3;
    } else {
        /* Version 3 has one bit each; version 2 as LLVM writes it is the same. */
        if (features & XNACK || e_flags & 0x100)
            out->xnack = e_flags & 0x100 ? CODEOBJ_ON : CODEOBJ_OFF;
        if (features & SRAMECC || e_flags & 0x200)
            out->sramecc = e_flags & 0x200 ? CODEOBJ_ON : CODEOBJ_OFF;
    }
    if (version >= 6) out->generic_version = e_flags >> 24;
    write_text(out);
}

static bool read_feature(const char *text, size_t length, const char *name,
                         enum codeobj_setting *setting)
{
    size_t n = strlen(name);
    if (length != n + 1 || memcmp(text, name, n) || !*setting) return false;
    if (text[n] != '+' && text[n] != '-') return false;
    *setting = text[n] == '+' ? CODEOBJ_ON : CODEOBJ_OFF;
    return true;
}

bool codeobj_target_parse(const char *text, struct codeobj_target *out)
{
    *out = (struct codeobj_target){ 0 };
    /* After "hipv4-amdgcn-amd-amdhsa--" or "amdgcn-amd-amdhsa-unknown-"; a generic target's own
     * name has hyphens, so the last "-gfx" or the beginning is what counts. */
    const char *name = text;
    for (const char *at = text; (at = strstr(at, "-gfx")); at++) name = at + 1;
    size_t length = strcspn(name, ":");
    const struct chip *chip = NULL;
    for (size_t i = 0; i < N_CHIPS && !chip; i++)
        if (strlen(chips[i].name) == length && !memcmp(chips[i].name, name, length))
            chip = &chips[i];
    if (!chip) return false;
    out->chip = chip->name;
    out->mach = chip->mach;
    out->xnack = chip->features & XNACK ? CODEOBJ_ANY : CODEOBJ_UNSUPPORTED;
    out->sramecc = chip->features & SRAMECC ? CODEOBJ_ANY : CODEOBJ_UNSUPPORTED;
    for (const char *at = name + length; *at == ':';) {
        length = strcspn(++at, ":");
        if (!read_feature(at, length, "xnack", &out->xnack) &&
            !read_feature(at, length, "sramecc", &out->sramecc))
            return false;
        at += length;
    }
    write_text(out);
    return true;
}
