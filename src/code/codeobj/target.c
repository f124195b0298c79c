/* target.c: the chips that AMDGPU code is made for: e_flags to names and back. */
#include <stdio.h>
#include <string.h>

#include "base/chip/chips.h"
#include "code/codeobj/codeobj.h"

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
    const struct rmcp_chip *chip = rmcp_chip_by_mach(out->mach);
    const uint32_t features = chip ? chip->flags : 0;
    if (chip) out->chip = chip->name;
    if (version >= 4) {
        out->xnack = e_flags >> 8 & 3;
        out->sramecc = e_flags >> 10 & 3;
    } else {
        /* Version 3 has one bit each; version 2 as LLVM writes it is the same. */
        if (features & RMCP_CHIP_XNACK || e_flags & 0x100)
            out->xnack = e_flags & 0x100 ? CODEOBJ_ON : CODEOBJ_OFF;
        if (features & RMCP_CHIP_SRAMECC || e_flags & 0x200)
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
    const struct rmcp_chip *chip = rmcp_chip_by_name(name, length);
    if (!chip) return false;
    out->chip = chip->name;
    out->mach = chip->mach;
    out->xnack = chip->flags & RMCP_CHIP_XNACK ? CODEOBJ_ANY : CODEOBJ_UNSUPPORTED;
    out->sramecc = chip->flags & RMCP_CHIP_SRAMECC ? CODEOBJ_ANY : CODEOBJ_UNSUPPORTED;
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
