/* clean.c: taking private things out of what is recorded. */
#define _GNU_SOURCE
#include "help/doctor/clean.h"

#include "help/doctor/doctor.h"

#include <ctype.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char ENVIRONMENT[] = "/home/user/env", CONDA[] = "/home/user/miniconda3/envs/env",
                  USER_SITE[] = "/home/user/.local";

static void add_prefix(struct doctor_cleaner *cleaner, const char *from)
{
    const size_t n = strlen(from);
    if (!n || cleaner->n_prefixes == sizeof cleaner->prefixes / sizeof *cleaner->prefixes) return;
    for (size_t i = 0; i < cleaner->n_prefixes; i++)
        if (!strcmp(cleaner->prefixes[i].from, from)) return;
    snprintf(cleaner->prefixes[cleaner->n_prefixes].from, DOCTOR_PATH, "%s", from);
    /* The kind of environment stays: it decides which commands lead into it. */
    if (doctor_is_user_site(from))
        snprintf(cleaner->prefixes[cleaner->n_prefixes].to, 40, "%s", USER_SITE);
    else
        snprintf(cleaner->prefixes[cleaner->n_prefixes].to, 40, "%s%zu",
                 doctor_is_conda(from) ? CONDA : ENVIRONMENT, cleaner->n_prefixes + 1);
    cleaner->n_prefixes++;
}

/* Whether a path is somebody's: the length of the home in it, or 0. */
static size_t home_length(const struct doctor_cleaner *cleaner, const char *path)
{
    const char *home = cleaner->machine->home;
    const size_t n = strlen(home);
    if (n > 1 && !strncmp(path, home, n) &&
        (!path[n] || !(isalnum((unsigned char)path[n]) || path[n] == '-' || path[n] == '_')))
        return n;
    if (!strncmp(path, "/root", 5) && (!path[5] || path[5] == '/')) return 5;
    static const char *const homes[] = { "/home/", "/Users/", "/media/", "/run/media/" };
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
        const size_t start = strlen(homes[i]);
        if (strncmp(path, homes[i], start)) continue;
        size_t end = start;
        while (path[end] && (isalnum((unsigned char)path[end]) || strchr("-_.@", path[end]))) end++;
        if (end > start) return end;
    }
    return 0;
}

void doctor_cleaner_init(struct doctor_cleaner *cleaner, const struct doctor_machine *machine)
{
    memset(cleaner, 0, sizeof *cleaner);
    cleaner->machine = machine;
    gethostname(cleaner->host, sizeof cleaner->host - 1);
    snprintf(cleaner->short_host, sizeof cleaner->short_host, "%s", cleaner->host);
    cleaner->short_host[strcspn(cleaner->short_host, ".")] = '\0';
    const struct passwd *who = getpwuid(getuid());
    const char *user = who && who->pw_name ? who->pw_name : getenv("USER");
    if (user) snprintf(cleaner->user, sizeof cleaner->user, "%.127s", user);
    for (size_t i = 0; i < machine->n_pythons; i++) {
        char prefix[DOCTOR_PATH];
        snprintf(prefix, sizeof prefix, "%s", machine->pythons[i].site);
        char *lib = strstr(prefix, "/lib/python3");
        if (!lib) lib = strstr(prefix, "/lib64/python3");
        if (!lib || !home_length(cleaner, prefix)) continue;
        *lib = '\0';
        add_prefix(cleaner, prefix);
    }
    for (size_t i = 0; i < machine->n_pythons; i++)
        if (home_length(cleaner, machine->pythons[i].layer))
            add_prefix(cleaner, machine->pythons[i].layer);
}

/* ---- a growing text ---- */

struct text {
    char *bytes;
    size_t n, room;
    bool failed;
};

static void put(struct text *text, const char *bytes, size_t n)
{
    if (text->n + n + 1 > text->room) {
        size_t room = 2 * (text->n + n + 64);
        char *grown = realloc(text->bytes, room);
        if (!grown) {
            text->failed = true;
            return;
        }
        text->bytes = grown;
        text->room = room;
    }
    memcpy(text->bytes + text->n, bytes, n);
    text->n += n;
    text->bytes[text->n] = '\0';
}

static char *finish(struct text *text)
{
    put(text, "", 0);
    if (!text->failed) return text->bytes;
    free(text->bytes);
    return NULL;
}

/* ---- what to replace at a place: how much of the text it takes, 0 for nothing ---- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static size_t match_word(const char *start, const char *at, const char *word)
{
    const size_t n = strlen(word);
    if (n < 2 || strncmp(at, word, n)) return 0;
    if ((at > start && is_word(at[-1])) || is_word(at[n])) return 0;
    return n;
}

/* Digits in groups, as of UUIDs (8-4-4-4-12) and MAC addresses (six times two). */
static size_t match_groups(const char *start, const char *at, const int *groups, char separator)
{
    size_t n = 0;
    if (at > start && (isalnum((unsigned char)at[-1]) || at[-1] == separator)) return 0;
    for (int g = 0; groups[g]; g++) {
        if (g && at[n++] != separator) return 0;
        for (int i = 0; i < groups[g]; i++)
            if (!isxdigit((unsigned char)at[n++])) return 0;
    }
    return isalnum((unsigned char)at[n]) ? 0 : n;
}

/* "unique_id 1234", "serial: …": the rest of the line. */
static size_t match_serial(const char *start, const char *at)
{
    static const char *const keys[] = { "unique_id", "serial",   "Serial",
                                        "SERIAL",    "board_id", "asset_tag" };
    if (at > start && is_word(at[-1])) return 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!strncmp(at, keys[i], strlen(keys[i]))) return strcspn(at, "\n");
    return 0;
}

static size_t match_home(const struct doctor_cleaner *cleaner, const char *start, const char *at,
                         const char **instead)
{
    if (*at != '/' || (at > start && is_word(at[-1]))) return 0;
    for (size_t i = 0; i < cleaner->n_prefixes; i++) {
        const size_t n = strlen(cleaner->prefixes[i].from);
        if (strncmp(at, cleaner->prefixes[i].from, n) ||
            (at[n] && at[n] != '/' && !strchr(":;\n\"' ", at[n])))
            continue;
        *instead = cleaner->prefixes[i].to;
        return n;
    }
    if (!home_length(cleaner, at)) return 0;
    if (!strncmp(at, ENVIRONMENT, strlen(ENVIRONMENT)) || !strncmp(at, CONDA, strlen(CONDA)) ||
        !strncmp(at, USER_SITE, strlen(USER_SITE)))
        return 0;
    *instead = "/home/user/private";
    return strcspn(at, ":;\n\"' \t");
}

static size_t match(const struct doctor_cleaner *cleaner, const char *start, const char *at,
                    const char **instead)
{
    static const int uuid[] = { 8, 4, 4, 4, 12, 0 }, mac[] = { 2, 2, 2, 2, 2, 2, 0 };
    size_t n;
    if ((n = match_home(cleaner, start, at, instead))) return n;
    *instead = "host";
    if ((n = match_word(start, at, cleaner->host))) return n;
    if (strcmp(cleaner->short_host, "localhost") &&
        (n = match_word(start, at, cleaner->short_host)))
        return n;
    *instead = "user";
    if (strcmp(cleaner->user, "root") && (n = match_word(start, at, cleaner->user))) return n;
    *instead = "removed";
    if ((n = match_groups(start, at, uuid, '-'))) return n;
    if ((n = match_groups(start, at, mac, ':'))) return n;
    return match_serial(start, at);
}

char *doctor_clean_text(const struct doctor_cleaner *cleaner, const char *start)
{
    struct text out = { 0 };
    for (const char *at = start; *at;) {
        const char *instead = "";
        const size_t n = match(cleaner, start, at, &instead);
        if (n)
            put(&out, instead, strlen(instead));
        else
            put(&out, at, 1);
        at += n ? n : 1;
    }
    return finish(&out);
}

char *doctor_clean_path(const struct doctor_cleaner *cleaner, const char *path)
{
    char *cleaned = doctor_clean_text(cleaner, path);
    if (!cleaned || strncmp(cleaned, "/home/user/private", 18) || !home_length(cleaner, path))
        return cleaned;
    /* The last component only: a start-up file or a leftover, both known by name. */
    const char *base = strrchr(path, '/') + 1;
    char text[DOCTOR_PATH];
    const bool in_home = strlen(path) == home_length(cleaner, path) + 1 + strlen(base);
    snprintf(text, sizeof text, "/home/user/%s%.300s", in_home ? "" : "private/", base);
    free(cleaned);
    struct doctor_cleaner names = *cleaner; /* names may still be in the last component */
    names.n_prefixes = 0;
    char *out = strdup(text);
    if (!out) return NULL;
    char *base_out = doctor_clean_text(&names, strrchr(text, '/') + 1);
    if (base_out) {
        snprintf(text, sizeof text, "/home/user/%s%.300s", in_home ? "" : "private/", base_out);
        free(out);
        out = strdup(text);
    }
    free(base_out);
    return out;
}
