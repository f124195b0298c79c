/* form.c: matches lines with the patterns of forms_*.inc, and fills their texts. */
#include "help/explain/form.h"

#include "help/explain/automaton.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const struct explain_form explain_forms[] = {
#define FORM(...) { __VA_ARGS__ },
#include "help/explain/forms_build.inc" /* in this order: the first that fits counts */

#include "help/explain/forms_gpu.inc"

#include "help/explain/forms_python.inc"

#include "help/explain/forms_package.inc"

#include "help/explain/forms_general.inc"
#undef FORM
    { NULL, NULL, NULL, NULL, NULL, NULL },
};

/* A line that is being matched. */
struct text {
    const char *start, *end;
    char (*names)[FORM_NAME];
};

/* Length of the quotation mark at `at`, or 0. */
static size_t quote(const char *at, const char *end)
{
    if (at < end && (*at == '\'' || *at == '"' || *at == '`')) return 1;
    if (end - at > 1 && *at == '\\' && at[1] == '"') return 2;
    if (end - at > 2 && !memcmp(at, "\xe2\x80", 2) && strchr("\x98\x99\x9c\x9d", at[2])) return 3;
    return 0;
}

/* May the name contain what stands at `at`? */
static bool belongs(char type, const char *at, const char *end)
{
    const unsigned char c = (unsigned char)*at;
    if (type == 't') return true;
    if (type == 'n') return isxdigit(c) || c == 'x' || c == '.';
    if (quote(at, end)) return false;
    return type == 'q' || (c > ' ' && !strchr("(),;<>[]{}=", c));
}

static bool match_here(const struct text *t, const char *pattern, const char *stop, const char *at,
                       int next);

/* One of the words of a group, "(a|b)". */
static bool match_group(const struct text *t, const char *pattern, const char *stop, const char *at,
                        int next)
{
    const char *close = memchr(pattern, ')', (size_t)(stop - pattern));
    if (!close) return false;
    for (const char *word = pattern; word <= close;) {
        const char *end = word;
        while (end < close && *end != '|') end++;
        const char *p = word, *a = at;
        while (p < end) {
            if (*p == '\'') {
                a += quote(a, t->end);
            } else if (a < t->end && explain_lower(*a) == explain_lower(*p)) {
                a++;
            } else {
                break;
            }
            p++;
        }
        if (p == end && match_here(t, close + 1, stop, a, next)) return true;
        word = end + 1;
    }
    return false;
}

/* The name without blanks and marks around it. */
static void keep_name(char name[static FORM_NAME], const char *at, size_t length)
{
    while (length && (strchr(" \t.,:;", *at) || (*at == '-' && length > 1 && at[1] == ' ')))
        at++, length--;
    while (length && strchr(" \t.,:;", at[length - 1])) length--;
    memcpy(name, at, length);
    name[length] = '\0';
}

/* Take a name at `at`: words from the longest on, other text from the shortest on. */
static bool match_name(const struct text *t, char type, const char *pattern, const char *stop,
                       const char *at, int next)
{
    if (next >= FORM_NAMES) return false;
    size_t most = 0;
    if (type == 'n' && at < t->end && *at == '-') most = 1;
    while (at + most < t->end && most + 1 < FORM_NAME && belongs(type, at + most, t->end)) most++;
    const bool longest = type != 't' || pattern == stop;
    for (size_t i = 0; i <= most; i++) {
        const size_t length = longest ? most - i : i;
        if (!length && type != 't') return false;
        if (type == 'w' && length > 1 && strchr(".:", at[length - 1])) continue;
        if (!match_here(t, pattern, stop, at + length, next + 1)) continue;
        keep_name(t->names[next], at, length);
        return true;
    }
    return false;
}

static bool match_here(const struct text *t, const char *pattern, const char *stop, const char *at,
                       int next)
{
    for (; pattern < stop; pattern++) {
        switch (*pattern) {
        case ' ':
            if (at == t->end || (*at != ' ' && *at != '\t')) return false;
            while (at < t->end && (*at == ' ' || *at == '\t')) at++;
            break;
        case '\'': at += quote(at, t->end); break;
        case '$': {
            while (at < t->end && (isspace((unsigned char)*at) || *at == '.' || *at == '!')) at++;
            if (at < t->end) return false;
            break;
        }
        case '(': return match_group(t, pattern + 1, stop, at, next);
        case '{': return match_name(t, pattern[1], pattern + 3, stop, at, next);
        case '\\': pattern++; /* fall through */
        default:
            if (at == t->end || explain_lower(*at) != explain_lower(*pattern)) return false;
            at++;
        }
    }
    return true;
}

bool explain_match_pattern(const char *pattern, size_t size, const char *line, size_t length,
                           char names[static FORM_NAMES][FORM_NAME])
{
    const bool anchored = *pattern == '^';
    const struct text t = { line, line + length, names };
    const char *p = pattern + anchored, *stop = pattern + size;
    const bool word = isalnum((unsigned char)*p) || *p == '(' || *p == '{';
    const bool plain = isalnum((unsigned char)*p);
    for (const char *at = line; at < t.end; at++) {
        if (plain && explain_lower(*at) != explain_lower(*p)) continue;
        if (word && at > line && isalnum((unsigned char)at[-1])) continue;
        if (match_here(&t, p, stop, at, 0)) return true;
        if (anchored) break;
    }
    return false;
}

bool explain_match_form(const char *line, size_t length, const char *id,
                        struct explain_form_match *out)
{
    if (length > FORM_LINE) length = FORM_LINE;
    while (length && isspace((unsigned char)*line)) line++, length--;
    for (const struct explain_form *form = explain_forms; form->id; form++) {
        if (id && strcmp(id, form->id)) continue;
        for (const char *p = form->patterns; *p;) {
            const size_t size = strcspn(p, "\n");
            memset(out, 0, sizeof *out);
            if (explain_match_pattern(p, size, line, length, out->names)) {
                out->form = form;
                return true;
            }
            p += size + (p[size] == '\n');
        }
    }
    out->form = NULL;
    return false;
}

bool explain_form_is_general(const struct explain_form_match *match)
{
    static const char *const general[] = { "file-missing",     "driver-error", "program-error",
                                           "program-argument", "permission",   "python-error" };
    for (size_t i = 0; i < sizeof general / sizeof *general; i++)
        if (!strcmp(match->form->id, general[i])) return true;
    return false;
}

const char *explain_form_class(const struct explain_form_match *match)
{
    const struct explain_thing *thing =
        explain_form_is_general(match) ? explain_find_thing(match->names[0]) : NULL;
    return thing && *thing->id ? thing->id : match->form->id;
}

/* Append to a text of `size` bytes that has `*n`. */
static void append(char *out, size_t size, size_t *n, const char *text)
{
    while (*text && *n + 1 < size) {
        const unsigned char c = (unsigned char)*text++;
        out[(*n)++] = c < 32 && c != '\n' ? ' ' : (char)c;
    }
    out[*n] = '\0';
}

void explain_fill(const struct explain_form_match *match, const char *text, char *out, size_t size)
{
    size_t n = 0;
    *out = '\0';
    for (; *text; text++) {
        const int name = *text == '{' ? text[1] - '1' : -1;
        if (name < 0 || name >= FORM_NAMES) {
            append(out, size, &n, (char[]){ *text, '\0' });
            continue;
        }
        const struct explain_thing *thing = explain_find_thing(match->names[name]);
        if (!strncmp(text + 2, "is}", 3)) {
            if (thing) append(out, size, &n, " (");
            if (thing) append(out, size, &n, thing->is);
            if (thing) append(out, size, &n, ")");
        } else if (!strncmp(text + 2, "cure}", 5)) {
            if (thing && *thing->cure) append(out, size, &n, thing->cure);
            if (thing && *thing->cure) append(out, size, &n, "\n");
        } else if (*match->names[name]) {
            append(out, size, &n, match->names[name]);
        } else {
            while (n && strchr(" :,(", out[n - 1])) n--; /* nothing was named */
            out[n] = '\0';
        }
        text = strchr(text, '}');
    }
}
