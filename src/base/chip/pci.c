/* pci.c: places on the PCI bus, and what is there. */
#include "base/chip/pci.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

static bool take_hex(const char **text, int most_digits, uint32_t *value)
{
    int digits = 0;
    *value = 0;
    for (; digits < most_digits && isxdigit((unsigned char)**text); digits++, ++*text) {
        const int c = tolower((unsigned char)**text);
        *value = *value * 16 + (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return digits > 0;
}

bool rmcp_pci_parse(const char *text, struct rmcp_pci *out)
{
    struct rmcp_pci p;
    if (!take_hex(&text, 8, &p.domain) || *text++ != ':') return false;
    if (!take_hex(&text, 2, &p.bus) || *text++ != ':') return false;
    if (!take_hex(&text, 2, &p.device) || *text++ != '.') return false;
    if (!take_hex(&text, 1, &p.function) || *text) return false;
    if (p.device > 31 || p.function > 7) return false;
    *out = p;
    return true;
}

bool rmcp_pci_same(const struct rmcp_pci *one, const struct rmcp_pci *other)
{
    return one->domain == other->domain && one->bus == other->bus && one->device == other->device &&
           one->function == other->function;
}

static bool read_id(const struct rmcp_sysfs *sysfs, const struct rmcp_pci *pci, const char *name,
                    uint32_t *value)
{
    char path[RMCP_SYSFS_PATH], text[32];
    const int length =
        snprintf(path, sizeof path,
                 "%s/bus/pci/devices/%04" PRIx32 ":%02" PRIx32 ":%02" PRIx32 ".%" PRIx32 "/%s",
                 sysfs->root, pci->domain, pci->bus, pci->device, pci->function, name);
    if (length < 0 || (size_t)length >= sizeof path) return false;
    if (sysfs->read(sysfs, path, "0x", text, sizeof text) < 0) return false;
    const char *at = text;
    if (at[0] != '0' || at[1] != 'x') return false;
    at += 2;
    return take_hex(&at, 8, value) && (!*at || *at == '\n');
}

bool rmcp_pci_ids(const struct rmcp_sysfs *sysfs, const struct rmcp_pci *pci, uint32_t *vendor,
                  uint32_t *device, uint32_t *revision)
{
    if (!read_id(sysfs, pci, "revision", revision)) *revision = 0;
    return read_id(sysfs, pci, "vendor", vendor) && read_id(sysfs, pci, "device", device);
}
