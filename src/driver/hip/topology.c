/* topology.c: the GPUs as the kernel driver lists them in sysfs. Files are taken as hostile: lines
 * and counts are bounded, numbers checked. */
#include "driver/hip/topology.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_NODES = 1024, MOST_FILE = 8192, MOST_PATH = 1024 };

static bool sysfs_path(char *path, size_t size, const char *below)
{
    const char *root = getenv("RMCP_SYSFS_ROOT");
    int length = snprintf(path, size, "%s/%s", root && *root ? root : "/sys", below);
    return length > 0 && (size_t)length < size;
}

/* The beginning of a file as text; false when it cannot be read. */
static bool read_text(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return false;
    size_t used = 0;
    ssize_t got = 1;
    while (used < size - 1 && got > 0) {
        got = read(file, text + used, size - 1 - used);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            used += (size_t)got;
    }
    close(file);
    text[used] = '\0';
    return got >= 0;
}

/* ---- addresses ---- */

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

static bool read_id(const struct rmcp_pci *pci, const char *name, uint32_t *value)
{
    char below[128], path[MOST_PATH], text[32];
    snprintf(below, sizeof below,
             "bus/pci/devices/%04" PRIx32 ":%02" PRIx32 ":%02" PRIx32 ".%" PRIx32 "/%s",
             pci->domain, pci->bus, pci->device, pci->function, name);
    if (!sysfs_path(path, sizeof path, below) || !read_text(path, text, sizeof text)) return false;
    const char *at = text;
    if (at[0] != '0' || at[1] != 'x') return false;
    at += 2;
    return take_hex(&at, 8, value) && (!*at || *at == '\n');
}

bool rmcp_pci_ids(const struct rmcp_pci *pci, uint32_t *vendor, uint32_t *device)
{
    return read_id(pci, "vendor", vendor) && read_id(pci, "device", device);
}

/* ---- nodes ---- */

/* The number after "name " at the start of a line; 0 when there is none that fits 32 bits. */
static uint32_t property(const char *text, const char *name)
{
    const size_t length = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (strncmp(line, name, length) || line[length] != ' ') continue;
        const char *digits = line + length + 1;
        if (!isdigit((unsigned char)*digits)) return 0;
        char *end = NULL;
        errno = 0;
        unsigned long long value = strtoull(digits, &end, 10);
        return errno || value > UINT32_MAX || (*end && *end != '\n') ? 0 : (uint32_t)value;
    }
    return 0;
}

/* 100100 is major 10, minor 1, stepping 0; AMD writes the last two as hexadecimal digits. */
static bool name_chip(uint32_t version, char *chip, size_t size)
{
    const uint32_t major = version / 10000, minor = version / 100 % 100, step = version % 100;
    if (major == 0 || major > 99 || minor > 15 || step > 15) return false;
    snprintf(chip, size, "gfx%" PRIu32 "%" PRIx32 "%" PRIx32, major, minor, step);
    return true;
}

/* False: the node is a processor, or its file says nothing that makes sense. */
static bool read_node(const char *folder, uint32_t number, struct rmcp_kfd_node *out)
{
    char path[MOST_PATH + 64], text[MOST_FILE];
    snprintf(path, sizeof path, "%s/%" PRIu32 "/properties", folder, number);
    if (!read_text(path, text, sizeof text)) return false;
    const uint32_t location = property(text, "location_id");
    const uint32_t simds = property(text, "simd_count"), per_unit = property(text, "simd_per_cu");
    *out = (struct rmcp_kfd_node){
        .node = number,
        .pci = { .domain = property(text, "domain"),
                 .bus = location >> 8 & 0xff,
                 .device = location >> 3 & 0x1f,
                 .function = location & 7 },
        .vendor_id = property(text, "vendor_id"),
        .device_id = property(text, "device_id"),
        .gfx_target_version = property(text, "gfx_target_version"),
        .compute_units = per_unit ? simds / per_unit : 0,
        .clock_mhz = property(text, "max_engine_clk_fcompute"),
    };
    return name_chip(out->gfx_target_version, out->chip, sizeof out->chip);
}

static int compare(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

int rmcp_kfd_nodes(struct rmcp_kfd_node *list, size_t room, char *why, size_t why_size)
{
    static const char *const places[] = { "class/kfd/kfd/topology/nodes",
                                          "devices/virtual/kfd/kfd/topology/nodes" };
    char folder[MOST_PATH] = "";
    DIR *listing = NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places && !listing; i++)
        if (sysfs_path(folder, sizeof folder, places[i])) listing = opendir(folder);
    if (!listing) {
        snprintf(why, why_size, "%.160s cannot be read: %s", folder, strerror(errno));
        return -1;
    }
    uint32_t numbers[MOST_NODES];
    size_t n_numbers = 0;
    for (struct dirent *item; n_numbers < MOST_NODES && (item = readdir(listing));) {
        char *end = NULL;
        if (!isdigit((unsigned char)item->d_name[0]) || strlen(item->d_name) > 8) continue;
        unsigned long number = strtoul(item->d_name, &end, 10);
        if (!*end) numbers[n_numbers++] = (uint32_t)number;
    }
    closedir(listing);
    qsort(numbers, n_numbers, sizeof *numbers, compare);

    size_t n = 0;
    for (size_t i = 0; i < n_numbers; i++) {
        struct rmcp_kfd_node node;
        if (!read_node(folder, numbers[i], &node)) continue;
        if (n < room) list[n] = node;
        n++;
    }
    return (int)n;
}
