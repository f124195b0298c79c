/* loader.c: asks the dynamic linker itself which MIOpen it would load. */
#define _GNU_SOURCE /* realpath */
#include "base/child.h"
#include "dropin/install/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ANSWER = 1 << 18 };
static const double limit = 20; /* seconds */

/* "<blank>libMIOpen.so.1 => /opt/rocm/lib/libMIOpen.so.1 (0x7f…)", or the path alone when it was
 * preloaded by it. */
static bool read_line(const char *line, size_t length, char path[static PATH_MAX],
                      char name[static 64])
{
    static const char wanted[] = "libMIOpen.so", arrow[] = " => ";
    char text[2 * PATH_MAX];
    if (length >= sizeof text) return false;
    memcpy(text, line, length);
    text[length] = '\0';
    char *address = strstr(text, " (0x"), *from = text + strspn(text, " \t");
    if (!address) return false; /* "=> not found" */
    *address = '\0';
    char *to = strstr(from, arrow);
    const char *file = to ? to + sizeof arrow - 1 : from;
    if (to) *to = '\0';
    const char *base = strrchr(from, '/') ? strrchr(from, '/') + 1 : from;
    if (strncmp(base, wanted, sizeof wanted - 1) || strlen(base) >= 64) return false;
    snprintf(name, 64, "%s", base);
    if (*file != '/') return strchr(file, '/') && realpath(file, path); /* LD_LIBRARY_PATH=. */
    return snprintf(path, PATH_MAX, "%s", file) < PATH_MAX;
}

bool dropin_loader_ask(const char *linker, const char *object, const char *preload,
                       char path[static PATH_MAX], char name[static 64])
{
    char variable[PATH_MAX + 16] = "", complaint[256];
    char *answer = malloc(MOST_ANSWER);
    if (!answer || !*linker || !*object) {
        free(answer);
        return false;
    }
    char *argv[] = { (char *)linker, "--list", (char *)object, NULL };
    struct rmcp_child_output to = { .data = answer, .size = MOST_ANSWER },
                             err = { .data = complaint, .size = sizeof complaint };
    const char *environment[] = { variable, NULL };
    /* What is preloaded already is no answer: it may be ours. */
    snprintf(variable, sizeof variable, "LD_PRELOAD=%s", preload ? preload : "");
    const struct rmcp_child_request request = {
        .argv = argv, .environment = environment, .out = &to, .err = &err, .limit_seconds = limit
    };
    struct rmcp_child child;
    bool found = false;
    if (!rmcp_child_run(&request, &child))
        for (const char *line = answer; *line && !found;) {
            const size_t length = strcspn(line, "\n");
            found = read_line(line, length, path, name);
            line += length + (line[length] == '\n');
        }
    free(answer);
    return found;
}
