/* frame.c: reads the lines of a Python traceback that name a file. */
#include "help/explain/frame.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The text before `stop` or the end, from `at` on, into `out`. */
static void take(char *out, size_t size, const char *at, const char *end, const char *stops)
{
    size_t n = 0;
    while (at < end && n + 1 < size && (unsigned char)*at >= ' ' && !strchr(stops, *at))
        out[n++] = *at++;
    out[n] = '\0';
}

static const char *find(const char *at, const char *end, const char *word)
{
    const size_t size = strlen(word);
    for (; at + size <= end; at++)
        if (!memcmp(at, word, size)) return at;
    return NULL;
}

/* The part of a path behind `folder`, or NULL. */
static const char *behind(const char *path, const char *end, const char *folder)
{
    const char *last = NULL;
    for (const char *at = path; (at = find(at, end, folder)); at++) {
        const char *next = at + strlen(folder);
        if (next < end && (*next == '/' || *next == '\\')) last = next + 1;
    }
    return last;
}

void explain_note_frame(struct explain_frame *frame, uint64_t number, const char *line,
                        size_t length)
{
    const char *end = line + length, *path = find(line, end, "File \"");
    if (!path) return;
    path += 6;
    const char *stop = memchr(path, '"', (size_t)(end - path));
    if (!stop || *path == '<') return;
    const char *in_package = behind(path, stop, "site-packages");
    if (!in_package) in_package = behind(path, stop, "dist-packages");
    const char *node = behind(path, stop, "custom_nodes");
    if (!node) node = behind(path, stop, "extensions");
    const bool python =
        !in_package && (find(path, stop, "lib/python3") || find(path, stop, "Lib\\") ||
                        find(path, stop, "/usr/lib/python"));
    if (python || find(path, stop, "nn/modules/module.py") || find(path, stop, "_contextlib.py"))
        return;
    if (in_package) {
        take(frame->package, sizeof frame->package, in_package, stop, "/\\.");
    } else if (node) {
        char name[32];
        take(name, sizeof name, node, stop, "/\\");
        snprintf(frame->package, sizeof frame->package, "the extension %s", name);
    } else {
        snprintf(frame->package, sizeof frame->package, "the program itself");
    }
    frame->line = number;
    const char *base = path;
    for (const char *c = path; c < stop; c++)
        if (*c == '/' || *c == '\\') base = c + 1;
    take(frame->file, sizeof frame->file, base, stop, "");
    const char *function = find(stop, end, ", in ");
    frame->function[0] = '\0';
    if (function) take(frame->function, sizeof frame->function, function + 5, end, " ");
}
