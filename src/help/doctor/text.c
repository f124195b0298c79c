/* text.c: small texts of sysfs and configuration files: numbers, lines, patterns. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "help/doctor/probe.h"

bool doctor_late(const struct doctor_search *search)
{
    return rmcp_clock_ns() > search->deadline;
}

void doctor_copy(char *out, size_t room, const char *text, size_t length)
{
    if (length > room - 1) length = room - 1;
    for (size_t i = 0; i < length; i++)
        out[i] = (unsigned char)text[i] < 32 || text[i] == 127 ? '?' : text[i];
    out[length] = '\0';
}

void doctor_copy_line(char *out, size_t room, const char *text)
{
    text += strspn(text, " \t");
    size_t length = strcspn(text, "\r\n");
    while (length && (text[length - 1] == ' ' || text[length - 1] == '\t')) length--;
    doctor_copy(out, room, text, length);
}

void doctor_append(char *out, size_t room, const char *separator, const char *text)
{
    const size_t used = strlen(out);
    snprintf(out + used, room - used, "%s%s", used ? separator : "", text);
}

const char *doctor_next_line(const char *line, size_t *length)
{
    *length = strcspn(line, "\n");
    return line + *length + (line[*length] == '\n');
}

static bool read_value(const char *text, uint64_t *value)
{
    char *end = NULL;
    errno = 0;
    if (*text < '0' || *text > '9') return false;
    unsigned long long number = strtoull(text, &end, 0);
    if (errno) return false;
    *value = number;
    return true;
}

bool doctor_number(const char *text, const char *key, uint64_t *value)
{
    const size_t n = strlen(key);
    for (size_t length; *text;) {
        const char *line = text;
        text = doctor_next_line(line, &length);
        if (length > n && !strncmp(line, key, n) && strspn(line + n, " :\t"))
            return read_value(line + n + strspn(line + n, " :\t"), value);
    }
    return false;
}

bool doctor_read_number(const struct doctor_view *view, const char *path, uint64_t *value)
{
    char text[64];
    return doctor_read(view, path, text, sizeof text) > 0 &&
           read_value(text + strspn(text, " \t"), value);
}

bool doctor_like(const char *text, const char *pattern)
{
    const char *star = NULL, *back = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            back = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star;
            text = ++back;
        } else {
            return false;
        }
    }
    while (*pattern == '*') pattern++;
    return !*pattern;
}

static bool is_wanted(const char *line, size_t length, const char *keys)
{
    char copy[1024], key[64];
    doctor_copy(copy, sizeof copy, line, length);
    for (size_t n; *keys; keys += n + (keys[n] == ' ')) {
        n = strcspn(keys, " ");
        if (n >= sizeof key) continue;
        memcpy(key, keys, n);
        key[n] = '\0';
        if (*key == '*' ? strstr(copy, key + 1) != NULL : !strncmp(copy, key, n)) return true;
    }
    return false;
}

long doctor_read_lines(const struct doctor_view *view, const char *path, char *text, size_t room,
                       const char *keys)
{
    struct doctor_view quiet = *view;
    char *kept = view->journal < 0 ? NULL : calloc(1, room);
    size_t used = 0;
    quiet.journal = -1;
    long n = doctor_read(&quiet, path, text, room);
    for (const char *line = text; n >= 0 && kept && *line;) {
        size_t length;
        const char *next = doctor_next_line(line, &length);
        if (is_wanted(line, length, keys) && used + length + 2 < room) {
            memcpy(kept + used, line, length);
            used += length;
            kept[used++] = '\n';
        }
        line = next;
    }
    if (n >= 0 && kept) doctor_note(view, path, kept);
    free(kept);
    return n;
}
