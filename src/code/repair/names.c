/* names.c: names of files that tell a chip, as Tensile's do. */
#include "code/repair/names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source_chip[] = "gfx1030";

rmcp_status repair_rename(const char *name, const char *from, const char *to, char **out)
{
    const size_t n = strlen(from), room = strlen(name) * (strlen(to) + 1) + 1;
    size_t length = 0, n_found = 0;
    *out = NULL;
    char *made = malloc(room);
    if (!made) return rmcp_fail_memory("name of a file", room);
    for (size_t at = 0; name[at];) {
        const bool starts = !at || !isalnum((unsigned char)name[at - 1]);
        if (starts && !strncmp(name + at, from, n) && !isalnum((unsigned char)name[at + n])) {
            memcpy(made + length, to, strlen(to));
            length += strlen(to);
            at += n;
            n_found++;
        } else {
            made[length++] = name[at++];
        }
    }
    made[length] = 0;
    if (n_found)
        *out = made;
    else
        free(made);
    return RMCP_OK;
}

static bool names_a_chip(const char *name)
{
    for (const char *at = name; (at = strstr(at, "gfx")); at++) {
        char word[32];
        struct codeobj_target target;
        const size_t length = strcspn(at, "_-.");
        if ((at == name || strchr("_-.", at[-1])) && length < sizeof word) {
            snprintf(word, sizeof word, "%.*s", (int)length, at);
            if (codeobj_target_parse(word, &target)) return true;
        }
    }
    return false;
}

rmcp_status repair_choose_name(const struct repair_names *names, const char *name, char **out)
{
    const char *chip = isa_chip_name(names->target);
    char *other = NULL;
    rmcp_status status = repair_rename(name, source_chip, chip, out);
    if (status) return status;
    if (*out) {
        /* What was made for the chip stays. */
        if (!names->replace && names->exists(names->context, *out)) {
            free(*out);
            *out = NULL;
        }
        return RMCP_OK;
    }
    if (names_a_chip(name)) {
        status = repair_rename(name, chip, source_chip, &other);
        if (status || !other) return status;
        const bool replaced = names->replace && names->exists(names->context, other);
        free(other);
        if (replaced) return RMCP_OK;
    }
    *out = strdup(name);
    return *out ? RMCP_OK : rmcp_fail_memory("name", strlen(name));
}

bool repair_name_is_safe(const char *name)
{
    if (!*name || *name == '/') return false;
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f || *c == '\\') return false;
    for (const char *at = name; *at;) {
        const size_t n = strcspn(at, "/");
        if (!n || (n == 1 && at[0] == '.') || (n == 2 && at[0] == '.' && at[1] == '.'))
            return false;
        at += n + (at[n] == '/');
    }
    return true;
}
