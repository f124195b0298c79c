/* library.c: what a GPU library and the files beside it have code for.
 *
 * In recorded machines a small text stands in the place of the library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/codeobj/walk.h"
#include "dropin/install/dropin.h"
#include "help/doctor/probe.h"

static const char *const dropin_words[] = { [DOCTOR_DROPIN_WHOLE] = "whole",
                                            [DOCTOR_DROPIN_BROKEN] = "broken",
                                            [DOCTOR_DROPIN_STALE] = "stale" };
static const char *const repaired_words[] = {
    [DOCTOR_REPAIRED_WHOLE] = "whole", [DOCTOR_REPAIRED_STALE] = "stale"
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

/* What codeobj_library_read tells, and until when it may. */
struct reading {
    const struct doctor_search *search;
    struct doctor_library *out;
};

static void take_soname(void *context, const char *name, size_t length)
{
    struct reading *reading = context;
    doctor_copy(reading->out->soname, sizeof reading->out->soname, name, length);
}

static void take_target(void *context, const char *id, size_t length)
{
    struct reading *reading = context;
    add_target(reading->out, id, length);
}

static bool is_in_time(void *context)
{
    struct reading *reading = context;
    reading->out->is_late = doctor_late(reading->search);
    return !reading->out->is_late;
}

static void read_elf(const struct doctor_search *search, const struct doctor_map *map,
                     struct doctor_library *out)
{
    struct reading reading = { search, out };
    const struct codeobj_library_reader reader = { &reading, take_soname, take_target, is_in_time };
    if (codeobj_library_read(map->bytes, map->size, &reader))
        doctor_copy(out->trouble, sizeof out->trouble, rmcp_last_error(),
                    strlen(rmcp_last_error()));
    else
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
        for (int i = DOCTOR_DROPIN_WHOLE; i <= DOCTOR_DROPIN_STALE; i++)
            if (key == 6 && !strncmp(line, "dropin", 6) && !strcmp(value, dropin_words[i]))
                out->dropin = (enum doctor_dropin)i;
        for (int i = DOCTOR_REPAIRED_WHOLE; i <= DOCTOR_REPAIRED_STALE; i++)
            if (key == 8 && !strncmp(line, "repaired", 8) && !strcmp(value, repaired_words[i]))
                out->repaired = (enum doctor_repaired)i;
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

/* Whether a MIOpen is RMCP's, by itself and by what an installation puts beside it. */
static void read_dropin(const struct doctor_search *search, const struct doctor_map *map,
                        struct doctor_library *out)
{
    struct doctor_view quiet = *search->view; /* the stub says all of it */
    const char *slash = strrchr(out->path, '/');
    char path[DOCTOR_PATH + 32];
    if (!slash) return;
    quiet.journal = -1;
    const int length = (int)(slash - out->path);
    snprintf(path, sizeof path, "%.*s/rmcp/manifest", length, out->path);
    const bool is_installed = doctor_at(&quiet, path) == DOCTOR_FILE;
    snprintf(path, sizeof path, "%.*s/rmcp/librmcp.so.0", length, out->path);
    const bool has_library = doctor_at(&quiet, path) == DOCTOR_FILE;
    if (dropin_is_ours(map->bytes, map->size))
        out->dropin = is_installed && !has_library ? DOCTOR_DROPIN_BROKEN : DOCTOR_DROPIN_WHOLE;
    else if (is_installed)
        out->dropin = DOCTOR_DROPIN_STALE;
}

/* Whether rmcp repair changed the library in place, by the manifest in the folder that was
 * repaired: the library's own or one of the two around it. Its size tells whether it is still the
 * same. */
static void read_repaired(const struct doctor_search *search, struct doctor_library *out)
{
    struct doctor_view quiet = *search->view; /* the stub says all of it */
    char folder[DOCTOR_PATH], path[DOCTOR_PATH + 32];
    char *text = malloc(DOCTOR_TEXT);
    if (!text) return;
    quiet.journal = -1;
    snprintf(folder, sizeof folder, "%s", out->path);
    for (unsigned up = 0; up < 3 && !out->repaired; up++) {
        char *slash = strrchr(folder, '/');
        if (!slash || slash == folder) break;
        *slash = '\0';
        snprintf(path, sizeof path, "%s/rmcp-repair/manifest", folder);
        if (doctor_read(&quiet, path, text, DOCTOR_TEXT) < 0) continue;
        const char *below = out->path + strlen(folder) + 1, *line = text;
        for (size_t length; *line && !out->repaired;) {
            const char *next = doctor_next_line(line, &length);
            const size_t n = strlen(below);
            unsigned long long size = 0;
            if (!strncmp(line, "changed ", 8) && length > n && line[length - n - 1] == ' ' &&
                !strncmp(line + length - n, below, n) &&
                sscanf(line, "changed %*64s %*64s %*20s %20llu ", &size) == 1)
                out->repaired = size == out->size ? DOCTOR_REPAIRED_WHOLE : DOCTOR_REPAIRED_STALE;
            line = next;
        }
    }
    free(text);
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
    if (library->dropin)
        n += snprintf(text + n, sizeof text - (size_t)n, "dropin %s\n",
                      dropin_words[library->dropin]);
    if (library->repaired)
        n += snprintf(text + n, sizeof text - (size_t)n, "repaired %s\n",
                      repaired_words[library->repaired]);
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
        if (kind == DOCTOR_LIB_MIOPEN) read_dropin(search, &map, out);
        read_repaired(search, out);
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
