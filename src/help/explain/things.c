/* things.c: what the names are that errors mention: libraries, headers, packages, commands. */
#include "help/explain/form.h"

#include "base/chip/addresses.h"
#include "help/explain/automaton.h"

#include <string.h>

static const struct explain_thing things[] = {
#define THING(...) { __VA_ARGS__ },
#include "help/explain/things.inc"
#undef THING
};

/* Is `name` one of these names? '*' at an end stands for anything. */
static bool is_named(const char *name, const char *names)
{
    const size_t length = strlen(name);
    while (*names) {
        size_t size = strcspn(names, " ");
        const char *one = names;
        names += size + (names[size] == ' ');
        const bool head = size && *one == '*', tail = size && one[size - 1] == '*';
        one += head;
        size -= (size_t)head + tail;
        if (size > length || (!head && !tail && size != length)) continue;
        for (size_t at = head ? (tail ? 0 : length - size) : 0; at + size <= length; at++) {
            size_t i = 0;
            while (i < size && explain_lower(name[at + i]) == explain_lower(one[i])) i++;
            if (i == size) return true;
            if (!head || !tail) break;
        }
    }
    return false;
}

const struct explain_thing *explain_find_thing(const char *name)
{
    if (!*name) return NULL;
    const size_t n = sizeof things / sizeof *things;
    for (size_t i = 0; i < n; i++)
        if (is_named(name, things[i].names)) return &things[i];
    const char *base = name; /* of a path */
    for (const char *c = name; *c; c++)
        if ((*c == '/' || *c == '\\') && c[1]) base = c + 1;
    for (size_t i = 0; base != name && i < n; i++)
        if (is_named(base, things[i].names)) return &things[i];
    return NULL;
}
