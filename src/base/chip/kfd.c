/* kfd.c: the GPUs as the kernel's compute driver lists them in sysfs. */
#include "base/chip/kfd.h"

#include "base/chip/chips.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_NUMBERS = 1024, /* folders looked at before those are left out that cannot be read */
    MOST_FILE = 8192,    /* bytes; a node's properties are about 1000 */
    MOST_SIMDS = 100000,
    HEAP_PUBLIC = 1, /* memory of a GPU, with the host's access and without */
    HEAP_PRIVATE = 2
};

/* ---- files ---- */

static bool format(char path[static RMCP_SYSFS_PATH], const char *text, ...)
    __attribute__((format(printf, 2, 3)));
static bool format(char path[static RMCP_SYSFS_PATH], const char *text, ...)
{
    va_list arguments;
    va_start(arguments, text);
    const int length = vsnprintf(path, RMCP_SYSFS_PATH, text, arguments);
    va_end(arguments);
    return length >= 0 && length < RMCP_SYSFS_PATH;
}

/* Whole lines of a file: one that is cut off could hold a wrong number. */
static bool read_lines(const struct rmcp_sysfs *sysfs, const char *path, const char *lines,
                       char text[static MOST_FILE])
{
    const long length = sysfs->read(sysfs, path, lines, text, MOST_FILE);
    if (length < 0) return false;
    if (length == MOST_FILE - 1) {
        char *end = strrchr(text, '\n');
        *(end ? end : text) = '\0';
    }
    return true;
}

/* The number after "name " at the start of a line; 0 when there is none up to `most`. */
static uint64_t property(const char *text, const char *name, uint64_t most)
{
    const size_t length = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (strncmp(line, name, length) || line[length] != ' ') continue;
        const char *digits = line + length + 1;
        if (!isdigit((unsigned char)*digits)) return 0;
        char *end = NULL;
        errno = 0;
        const unsigned long long value = strtoull(digits, &end, 10);
        return errno || value > most || (*end && *end != '\n') ? 0 : value;
    }
    return 0;
}

static uint32_t property32(const char *text, const char *name)
{
    return (uint32_t)property(text, name, UINT32_MAX);
}

/* ---- folders with numbers for names ---- */

struct numbers {
    size_t n;
    uint32_t list[MOST_NUMBERS];
};

static bool take_number(void *to, const char *name)
{
    struct numbers *numbers = to;
    const size_t digits = strspn(name, "0123456789");
    const bool is_plain = digits == 1 || (digits && digits <= 8 && *name != '0');
    if (is_plain && !name[digits] && numbers->n < MOST_NUMBERS)
        numbers->list[numbers->n++] = (uint32_t)strtoul(name, NULL, 10);
    return numbers->n < MOST_NUMBERS;
}

static int compare(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static int list_numbers(const struct rmcp_sysfs *sysfs, const char *folder, struct numbers *out)
{
    out->n = 0;
    const int error = sysfs->list(sysfs, folder, take_number, out);
    qsort(out->list, out->n, sizeof *out->list, compare);
    return error;
}

/* ---- nodes ---- */

static bool read_node(const struct rmcp_sysfs *sysfs, const char *folder, uint32_t number,
                      struct rmcp_kfd_node *out)
{
    static const char lines[] = "cpu_cores_count simd_ gfx_target_version vendor_id device_id "
                                "location_id domain fw_version max_engine_clk_fcompute "
                                "drm_render_minor";
    char path[RMCP_SYSFS_PATH], text[MOST_FILE];
    if (!format(path, "%s/%" PRIu32 "/properties", folder, number)) return false;
    if (!read_lines(sysfs, path, lines, text)) return false;
    const uint32_t location = property32(text, "location_id"); /* bus, device, function */
    const uint32_t simds = (uint32_t)property(text, "simd_count", MOST_SIMDS);
    const uint32_t per_unit = property32(text, "simd_per_cu");
    *out = (struct rmcp_kfd_node){
        .number = number,
        .pci = { .domain = property32(text, "domain"),
                 .bus = location >> 8 & 0xff,
                 .device = location >> 3 & 0x1f,
                 .function = location & 7 },
        .vendor = property32(text, "vendor_id"),
        .device = (uint32_t)property(text, "device_id", 0xffff),
        .version = (uint32_t)property(text, "gfx_target_version", 999999),
        .compute_units = per_unit ? simds / per_unit : 0,
        .clock_mhz = property32(text, "max_engine_clk_fcompute"),
        .firmware = property32(text, "fw_version"),
        .render = property32(text, "drm_render_minor"),
    };
    out->is_gpu = simds || out->version;
    if (!rmcp_chip_name(out->version, out->chip)) out->chip[0] = '\0';
    return true;
}

int rmcp_kfd_read(const struct rmcp_sysfs *sysfs, struct rmcp_kfd *out)
{
    static const char *const places[] = { "class/kfd/kfd/topology/nodes",
                                          "devices/virtual/kfd/kfd/topology/nodes" };
    struct numbers numbers = { .n = 0 };
    int error = ENOENT;
    out->n_nodes = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places && error; i++)
        error = format(out->folder, "%s/%s", sysfs->root, places[i])
                    ? list_numbers(sysfs, out->folder, &numbers)
                    : ENAMETOOLONG;
    if (error) return error;
    for (size_t i = 0; i < numbers.n && out->n_nodes < RMCP_KFD_NODES; i++)
        if (read_node(sysfs, out->folder, numbers.list[i], &out->nodes[out->n_nodes]))
            out->n_nodes++;
    return 0;
}

/* ---- details ---- */

static void read_memory(const struct rmcp_sysfs *sysfs, const char *folder,
                        struct rmcp_kfd_node *node)
{
    enum { MOST_BANKS = 16 };
    const uint64_t most = UINT64_C(1) << 50;
    char path[RMCP_SYSFS_PATH], text[MOST_FILE];
    struct numbers banks;
    if (!format(path, "%s/%" PRIu32 "/mem_banks", folder, node->number)) return;
    list_numbers(sysfs, path, &banks);
    for (size_t i = 0; i < banks.n && i < MOST_BANKS; i++) {
        if (!format(path, "%s/%" PRIu32 "/mem_banks/%" PRIu32 "/properties", folder, node->number,
                    banks.list[i]) ||
            !read_lines(sysfs, path, "heap_type size_in_bytes", text))
            continue;
        const uint64_t heap = property(text, "heap_type", HEAP_PRIVATE);
        if (heap == HEAP_PUBLIC || heap == HEAP_PRIVATE)
            node->memory_bytes += property(text, "size_in_bytes", most);
    }
}

static void read_links(const struct rmcp_sysfs *sysfs, struct rmcp_kfd *kfd,
                       struct rmcp_kfd_node *node)
{
    enum { MOST_LINKS = 2 * RMCP_KFD_NODES };
    char path[RMCP_SYSFS_PATH], text[MOST_FILE];
    struct numbers links;
    if (!format(path, "%s/%" PRIu32 "/io_links", kfd->folder, node->number)) return;
    list_numbers(sysfs, path, &links);
    for (size_t i = 0; i < links.n && i < MOST_LINKS; i++) {
        if (!format(path, "%s/%" PRIu32 "/io_links/%" PRIu32 "/properties", kfd->folder,
                    node->number, links.list[i]) ||
            !read_lines(sysfs, path, "node_ flags type", text))
            continue;
        const uint32_t flags = property32(text, "flags"), to = property32(text, "node_to");
        node->link_flags |= flags;
        for (size_t other = 0; other < kfd->n_nodes; other++)
            if (kfd->nodes[other].number == to) kfd->nodes[other].link_flags |= flags;
    }
}

void rmcp_kfd_read_details(const struct rmcp_sysfs *sysfs, struct rmcp_kfd *kfd)
{
    for (size_t i = 0; i < kfd->n_nodes; i++) {
        if (kfd->nodes[i].is_gpu) read_memory(sysfs, kfd->folder, &kfd->nodes[i]);
        read_links(sysfs, kfd, &kfd->nodes[i]);
    }
}
