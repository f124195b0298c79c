/* manifest.c: what an installation remembers of itself. */
#include "dropin/install/manifest.h"

#include "base/error.h"
#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char first_line[] = "rmcp-dropin 1\n";
enum { MOST_TEXT = PATH_MAX + 1024 };

struct dropin_print dropin_print_of(const struct rmcp_file *file)
{
    return (struct dropin_print){ file->size, rmcp_hash(RMCP_HASH_START, file->bytes, file->size) };
}

/* What stands behind "NAME " at the start of a line; false: no such line, or too long. */
static bool take(const char *text, const char *name, char *out, size_t room)
{
    char key[32];
    const size_t n = (size_t)snprintf(key, sizeof key, "\n%s ", name);
    const char *at = strstr(text, key);
    out[0] = '\0';
    if (!at) return false;
    const size_t length = strcspn(at + n, "\n");
    if (length >= room) return false;
    memcpy(out, at + n, length);
    out[length] = '\0';
    return true;
}

static bool take_print(const char *text, const char *name, struct dropin_print *out)
{
    char words[64], more;
    return take(text, name, words, sizeof words) &&
           sscanf(words, "%20" SCNu64 " %16" SCNx64 "%c", &out->size, &out->hash, &more) == 2;
}

bool dropin_manifest_read(int folder, struct dropin_manifest *out)
{
    struct rmcp_file map;
    char text[MOST_TEXT];
    *out = (struct dropin_manifest){ 0 };
    if (rmcp_file_map(folder, "manifest", &map)) return false;
    const size_t n = map.size < sizeof text ? map.size : 0;
    memcpy(text, map.bytes, n);
    text[n] = '\0';
    rmcp_file_unmap(&map);
    if (strncmp(text, first_line, sizeof first_line - 1)) return false;
    take(text, "link", out->link, sizeof out->link);
    return take(text, "name", out->name, sizeof out->name) &&
           take(text, "version", out->version, sizeof out->version) &&
           take_print(text, "ours", &out->ours) && take_print(text, "original", &out->original);
}

rmcp_status dropin_manifest_write(int folder, const struct dropin_manifest *m)
{
    char text[MOST_TEXT];
    snprintf(text, sizeof text,
             "%sname %s\nversion %s\nours %" PRIu64 " %016" PRIx64 "\noriginal %" PRIu64
             " %016" PRIx64 "\n%s%s%s",
             first_line, m->name, m->version, m->ours.size, m->ours.hash, m->original.size,
             m->original.hash, *m->link ? "link " : "", m->link, *m->link ? "\n" : "");
    return rmcp_file_write(folder, "manifest", 0644, text, strlen(text));
}
