/* library.c: what a GPU library has code for, read from its headers in milliseconds.
 *
 * Only the tables of the offload bundles are touched, never the code: a library of gigabytes costs
 * one page for each translation unit it was built from. In recorded machines a small text stands in
 * the place of the library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "codeobj/bytes.h"
#include "codeobj/elf.h"
#include "codeobj/walker.h"
#include "doctor/probe.h"

enum {
    TABLE = 1 << 14, /* bytes of a compressed bundle that hold its table */
    GAP = 1 << 16,   /* padding between bundles                          */
    MOST_BUNDLES = 4096,
    SHT_DYNAMIC = 6,
    DT_SONAME = 14
};

static const char stub_magic[] = "rmcp-library 1\n";

static void add_target(struct doctor_library *out, const char *id, size_t length)
{
    char name[64];
    size_t skip = 0;
    for (size_t i = 0; i + 3 < length; i++)
        if (!strncmp(id + i, "gfx", 3)) skip = i; /* behind the triple */
    if (length < 4 || length - skip >= sizeof name || strncmp(id + skip, "gfx", 3)) return;
    memcpy(name, id + skip, length - skip);
    name[length - skip] = '\0';
    name[strcspn(name, ":")] = '\0'; /* features do not matter here */
    if (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(name)) return;
    for (const char *at = out->targets; *at;) {
        const size_t n = strcspn(at, ",");
        if (n == strlen(name) && !strncmp(at, name, n)) return;
        at += n + (at[n] == ',');
    }
    if (strlen(out->targets) + strlen(name) + 2 < sizeof out->targets)
        doctor_append(out->targets, sizeof out->targets, ",", name);
}

/* The ids in the table of a bundle, of which at least the table is there. */
static void read_table(struct doctor_library *out, const uint8_t *bytes, size_t size)
{
    if (size < BUNDLE_MAGIC_BYTES + 8 || memcmp(bytes, BUNDLE_MAGIC, BUNDLE_MAGIC_BYTES)) return;
    uint64_t n = load_u64(bytes + BUNDLE_MAGIC_BYTES);
    size_t at = BUNDLE_MAGIC_BYTES + 8;
    for (; n && in_range(at, 24, size); n--) {
        const uint64_t length = load_u64(bytes + at + 16);
        at += 24;
        if (!in_range(at, length, size)) return;
        add_target(out, (const char *)bytes + at, (size_t)length);
        at += (size_t)length;
    }
}

/* A compressed bundle: only as much as its table needs. Returns its size in the file, 0: unknown.
 */
static uint64_t read_compressed(struct doctor_library *out, const uint8_t *bytes, size_t size)
{
    if (!compressed_bundle_is(bytes, size)) return 0;
    static const size_t headers[] = { 0, 20, 24, 32 };
    const unsigned version = load_u16(bytes + 4), method = load_u16(bytes + 6);
    const uint64_t file_size = version == 2   ? load_u32(bytes + 8)
                               : version == 3 ? load_u64(bytes + 8)
                                              : 0;
    const size_t header = headers[version], left = size - header;
    uint8_t *table = malloc(TABLE);
    size_t have = 0;
    if (!table) return 0;
    if (method == 1) {
        ZSTD_DStream *z = ZSTD_createDStream();
        ZSTD_inBuffer in = { bytes + header, left, 0 };
        ZSTD_outBuffer to = { table, TABLE, 0 };
        while (z && to.pos < to.size && in.pos < in.size) {
            const size_t before_in = in.pos, before_out = to.pos;
            const size_t result = ZSTD_decompressStream(z, &to, &in);
            if (ZSTD_isError(result) || !result) break;
            if (in.pos == before_in && to.pos == before_out) break;
        }
        have = to.pos;
        ZSTD_freeDStream(z);
    } else {
        z_stream z = { .next_in = (Bytef *)(uintptr_t)(bytes + header),
                       .avail_in = left < 1 << 20 ? (uInt)left : 1 << 20,
                       .next_out = table,
                       .avail_out = TABLE };
        if (inflateInit(&z) == Z_OK) {
            inflate(&z, Z_SYNC_FLUSH);
            have = TABLE - z.avail_out;
            inflateEnd(&z);
        }
    }
    read_table(out, table, have);
    free(table);
    return file_size;
}

/* All bundles of a section, one behind the other. */
static void read_bundles(const struct doctor_search *search, struct doctor_library *out,
                         const uint8_t *bytes, size_t size)
{
    size_t at = 0;
    for (int n = 0; at < size && n < MOST_BUNDLES; n++) {
        struct bundle bundle;
        uint64_t used;
        if (doctor_late(search)) {
            out->is_late = true;
            return;
        }
        if (!bundle_check(bytes + at, size - at, &bundle)) {
            read_table(out, bytes + at, bundle.extent);
            used = bundle.extent;
        } else {
            used = read_compressed(out, bytes + at, size - at);
        }
        if (!used || used > size - at) return;
        at += (size_t)used;
        const size_t end = size - at < GAP ? size : at + GAP;
        while (at < end && !bytes[at]) at++;
        if (at == end) return;
    }
}

static void read_soname(const struct elf_view *view, const struct codeobj_section *dynamic,
                        struct doctor_library *out)
{
    if (dynamic->link >= view->n_sections) return;
    const struct codeobj_section names = elf_section(view, dynamic->link);
    for (uint64_t at = 0; names.bytes && at + 16 <= dynamic->size && at < 16 * 4096; at += 16) {
        const uint64_t tag = load_u64(dynamic->bytes + at),
                       value = load_u64(dynamic->bytes + at + 8);
        if (!tag) return;
        if (tag != DT_SONAME || value >= names.size) continue;
        const char *name = (const char *)names.bytes + value;
        const size_t room = (size_t)(names.size - value);
        doctor_copy(out->soname, sizeof out->soname, name, strnlen(name, room));
        return;
    }
}

static void read_elf(const struct doctor_search *search, const struct doctor_map *map,
                     struct doctor_library *out)
{
    struct elf_view view;
    uint16_t machine = 0;
    if (!elf_is(map->bytes, map->size, &machine)) {
        snprintf(out->trouble, sizeof out->trouble, "not an ELF file: a torn download?");
        return;
    }
    if (elf_view_init(&view, map->bytes, map->size)) {
        doctor_copy(out->trouble, sizeof out->trouble, rmcp_last_error(),
                    strlen(rmcp_last_error()));
        return;
    }
    for (uint32_t i = 0; i < view.n_sections; i++) {
        const struct codeobj_section section = elf_section(&view, i);
        if (!section.bytes) continue;
        if (!strcmp(section.name, ".hip_fatbin"))
            read_bundles(search, out, section.bytes, (size_t)section.size);
        if (section.type == SHT_DYNAMIC) read_soname(&view, &section, out);
    }
    out->has_targets = !out->is_late;
}

static void read_stub(const char *text, struct doctor_library *out)
{
    uint64_t size = 0;
    for (size_t length; *text;) {
        const char *line = text;
        char value[DOCTOR_TARGETS];
        text = doctor_next_line(line, &length);
        const size_t key = strcspn(line, " \n");
        doctor_copy(value, sizeof value, line + key + (line[key] == ' '),
                    length > key ? length - key - 1 : 0);
        if (key == 4 && !strncmp(line, "size", 4) && doctor_number(line, "size", &size))
            out->size = size;
        if (key == 6 && !strncmp(line, "soname", 6))
            snprintf(out->soname, sizeof out->soname, "%.63s", value);
        if (key == 9 && !strncmp(line, "disguised", 9))
            snprintf(out->disguised, sizeof out->disguised, "%.95s", value);
        if (key == 7 && !strncmp(line, "trouble", 7))
            snprintf(out->trouble, sizeof out->trouble, "%.95s", value);
        if (key == 4 && !strncmp(line, "late", 4)) out->is_late = true;
        if (key == 7 && !strncmp(line, "targets", 7)) {
            out->has_targets = true;
            if (strcmp(value, "none")) snprintf(out->targets, sizeof out->targets, "%s", value);
        }
    }
}

/* The chips that Tensile's files beside rocBLAS are for, by their names. */
static void read_tensile(const struct doctor_search *search, const char *folder,
                         struct doctor_library *out)
{
    struct doctor_names names;
    doctor_list(search->view, folder, &names);
    for (size_t i = 0; i < names.n; i++) {
        const char *at = strstr(names.list[i], "gfx");
        if (!at) continue;
        const size_t length = 3 + strspn(at + 3, "0123456789abcdef");
        add_target(out, at, length);
        char path[2 * DOCTOR_PATH], target[DOCTOR_PATH];
        snprintf(path, sizeof path, "%s/%s", folder, names.list[i]);
        if (*out->disguised || !strncmp(at, "gfx90", 5)) continue;
        struct doctor_view quiet = *search->view;
        quiet.journal = -1;
        if (!doctor_read_link(&quiet, path, target, sizeof target)) continue;
        const char *base = strrchr(target, '/') ? strrchr(target, '/') + 1 : target;
        if (strstr(base, "gfx") && strncmp(strstr(base, "gfx"), at, length))
            snprintf(out->disguised, sizeof out->disguised, "%.60s", names.list[i]);
    }
    doctor_names_deinit(&names);
}

/* Chips that come in packages of their own (AMD's multi-arch wheels): torch_gfx1010.kpack. */
static void read_kpacks(const struct doctor_search *search, const char *site,
                        struct doctor_library *out)
{
    struct doctor_names names;
    doctor_list(search->view, site, &names);
    for (size_t i = 0; i < names.n; i++) {
        const char *name = names.list[i];
        static const char package[] = "amd_torch_device_gfx";
        if (strncmp(name, package, sizeof package - 1)) continue;
        add_target(out, name + sizeof package - 4,
                   3 + strspn(name + sizeof package - 1, "0123456789abcdef"));
    }
    doctor_names_deinit(&names);
}

static void note_stub(const struct doctor_search *search, const struct doctor_library *library)
{
    char text[1024 + DOCTOR_TARGETS];
    int n =
        snprintf(text, sizeof text, "%ssize %llu\n", stub_magic, (unsigned long long)library->size);
    if (*library->soname)
        n += snprintf(text + n, sizeof text - (size_t)n, "soname %s\n", library->soname);
    if (library->has_targets)
        n += snprintf(text + n, sizeof text - (size_t)n, "targets %s\n",
                      *library->targets ? library->targets : "none");
    if (*library->disguised)
        n += snprintf(text + n, sizeof text - (size_t)n, "disguised %s\n", library->disguised);
    if (*library->trouble)
        n += snprintf(text + n, sizeof text - (size_t)n, "trouble %s\n", library->trouble);
    if (library->is_late) snprintf(text + n, sizeof text - (size_t)n, "late\n");
    doctor_note(search->view, library->path, text);
}

void doctor_library_read(const struct doctor_search *search, const char *path,
                         enum doctor_library_kind kind, struct doctor_library *out)
{
    struct doctor_map map;
    char folder[DOCTOR_PATH + 32];
    *out = (struct doctor_library){ .kind = kind, .owner = -1 };
    snprintf(out->path, sizeof out->path, "%s", path);
    if (!doctor_map(search->view, path, &map)) {
        snprintf(out->trouble, sizeof out->trouble, "empty, or not readable");
        note_stub(search, out);
        return;
    }
    out->size = map.size;
    if (map.size < DOCTOR_TEXT && map.size >= sizeof stub_magic - 1 &&
        !memcmp(map.bytes, stub_magic, sizeof stub_magic - 1)) {
        char *text = strndup((const char *)map.bytes, map.size);
        if (text) read_stub(text, out);
        free(text);
    } else {
        read_elf(search, &map, out);
        snprintf(folder, sizeof folder, "%s", path);
        char *slash = strrchr(folder, '/');
        if (slash && kind == DOCTOR_LIB_ROCBLAS) {
            snprintf(slash, sizeof folder - (size_t)(slash - folder), "/rocblas/library");
            read_tensile(search, folder, out);
        }
        if (slash && kind == DOCTOR_LIB_TORCH) { /* …/site-packages/torch/lib/libtorch_hip.so */
            snprintf(slash, sizeof folder - (size_t)(slash - folder), "/../..");
            read_kpacks(search, folder, out);
        }
    }
    doctor_unmap(&map);
    note_stub(search, out);
}
