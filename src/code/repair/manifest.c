/* manifest.c: what an installation remembers of itself. */
#include "code/repair/manifest.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "code/codeobj/buffer.h"
#include "code/repair/files.h"
#include "code/repair/names.h"

static const char first_line[] = "rmcp-repair 1\n", last_line[] = "end\n";
enum { LARGEST = 1 << 26 };

void repair_manifest_deinit(struct repair_manifest *manifest)
{
    for (size_t i = 0; i < manifest->n; i++) free(manifest->list[i].path);
    free(manifest->list);
    *manifest = (struct repair_manifest){ 0 };
}

rmcp_status repair_manifest_add(struct repair_manifest *manifest, struct repair_kept *one)
{
    if (manifest->n == manifest->room) {
        const size_t room = manifest->room ? 2 * manifest->room : 32;
        struct repair_kept *grown = realloc(manifest->list, room * sizeof *grown);
        if (!grown) {
            free(one->path);
            return rmcp_fail_memory("manifest", room * sizeof *grown);
        }
        manifest->list = grown;
        manifest->room = room;
    }
    manifest->list[manifest->n++] = *one;
    return RMCP_OK;
}

/* One line, with its end made a zero. */
static rmcp_status read_line(struct repair_manifest *manifest, const char *line, bool *ok)
{
    struct repair_kept one = { .path = NULL };
    char kind[8];
    int at = 0;
    *ok = sscanf(line, "%7s %64s %64s %20" SCNu64 " %20" SCNu64 " %n", kind, one.before, one.after,
                 &one.size_before, &one.size_after, &at) == 5 &&
          at && repair_name_is_safe(line + at) && strlen(one.after) == SHA256_HEX - 1;
    if (!*ok) return RMCP_OK;
    one.is_added = !strcmp(kind, "added");
    *ok = one.is_added || (!strcmp(kind, "changed") && strlen(one.before) == SHA256_HEX - 1);
    if (!*ok) return RMCP_OK;
    one.path = strdup(line + at);
    if (!one.path) return rmcp_fail_memory("path", strlen(line + at));
    return repair_manifest_add(manifest, &one);
}

static rmcp_status read_text(char *text, struct repair_manifest *out, bool *ok)
{
    rmcp_status status = RMCP_OK;
    *ok = !strncmp(text, first_line, sizeof first_line - 1);
    char *at = text + sizeof first_line - 1;
    while (!status && *ok) {
        char *newline = strchr(at, '\n');
        *ok = newline != NULL;
        if (!*ok || !strcmp(at, last_line)) break;
        *newline = 0;
        status = read_line(out, at, ok);
        at = newline + 1;
    }
    return status;
}

rmcp_status repair_manifest_read(const char *path, struct repair_manifest *out, bool *found)
{
    struct rmcp_file file;
    bool ok = false;
    *out = (struct repair_manifest){ 0 };
    *found = !access(path, F_OK);
    if (!*found) return RMCP_OK;
    rmcp_status status = rmcp_file_map(AT_FDCWD, path, &file);
    if (status) return status;
    char *text = file.size && file.size < LARGEST ? strndup(file.bytes, file.size) : NULL;
    const bool is_short = file.size && file.size < LARGEST && !text;
    rmcp_file_unmap(&file);
    if (is_short) return rmcp_fail_memory("manifest", LARGEST);
    if (text) status = read_text(text, out, &ok);
    free(text);
    if (!status && !ok) status = rmcp_fail(RMCP_E_IO, "%.300s is damaged", path);
    if (status) repair_manifest_deinit(out);
    return status;
}

rmcp_status repair_manifest_write(int room, const struct repair_manifest *manifest)
{
    struct buffer text = { 0 };
    buffer_add(&text, first_line, sizeof first_line - 1);
    for (size_t i = 0; i < manifest->n; i++) {
        const struct repair_kept *one = &manifest->list[i];
        char words[256];
        const int n = snprintf(words, sizeof words, "%s %s %s %" PRIu64 " %" PRIu64 " ",
                               one->is_added ? "added" : "changed", one->before, one->after,
                               one->size_before, one->size_after);
        buffer_add(&text, words, (size_t)n);
        buffer_add(&text, one->path, strlen(one->path));
        buffer_add(&text, "\n", 1);
    }
    buffer_add(&text, last_line, sizeof last_line - 1);
    rmcp_status status = buffer_status(&text);
    if (!status) status = rmcp_file_write(room, REPAIR_MANIFEST, 0644, text.bytes, text.size);
    if (!status) status = rmcp_folder_sync(room);
    buffer_deinit(&text);
    return status;
}
