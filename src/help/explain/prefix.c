/* prefix.c: takes from each line what other programs put before it. */
#include "help/explain/prefix.h"

#include <ctype.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Does the text look like this: '0' for a digit, anything else for itself? Its length, or 0. */
static size_t looks_like(const char *text, size_t length, const char *pattern)
{
    const size_t n = strlen(pattern);
    if (length < n) return 0;
    for (size_t i = 0; i < n; i++)
        if (pattern[i] == '0' ? !is_digit(text[i]) : text[i] != pattern[i]) return 0;
    return n;
}

/* "11:22:33", "11:22:33.123456Z", "11:22:33,123+01:00". */
static size_t clock_size(const char *text, size_t length)
{
    size_t n = looks_like(text, length, "00:00:00");
    if (!n) return 0;
    if (n + 1 < length && (text[n] == '.' || text[n] == ',') && is_digit(text[n + 1]))
        for (n++; n < length && is_digit(text[n]);) n++;
    if (n < length && text[n] == 'Z') return n + 1;
    const size_t zone = n < length && (text[n] == '+' || text[n] == '-')
                            ? looks_like(text + n + 1, length - n - 1, "00")
                            : 0;
    if (!zone) return n;
    for (n += 1 + zone; n < length && (is_digit(text[n]) || text[n] == ':');) n++;
    return n;
}

/* "2025-03-02T11:22:33Z", "2025/03/02 11:22:33". */
static size_t date_size(const char *text, size_t length)
{
    size_t n = looks_like(text, length, "0000-00-00");
    if (!n) n = looks_like(text, length, "0000/00/00");
    if (!n || n >= length || (text[n] != ' ' && text[n] != 'T')) return 0;
    const size_t clock = clock_size(text + n + 1, length - n - 1);
    return clock ? n + 1 + clock : 0;
}

/* A time at the line's start, in brackets or bare, with the blank behind it. */
static size_t time_size(const char *text, size_t length)
{
    const bool bracket = length && *text == '[';
    size_t n = date_size(text + bracket, length - bracket);
    if (!n && bracket) n = clock_size(text + 1, length - 1);
    if (!n) return 0;
    n += bracket;
    if (bracket && (n >= length || text[n++] != ']')) return 0;
    if (n >= length || text[n] != ' ') return 0;
    n++;
    return length - n >= 2 && !memcmp(text + n, "- ", 2) ? n + 2 : n;
}

/* "comfyui-1  | " of docker compose. The names of levels are no containers. */
static size_t container_size(const char *text, size_t length)
{
    static const char *const levels[] = { "error", "warning", "warn",    "fatal",
                                          "info",  "debug",   "critical" };
    if (!length || !islower((unsigned char)*text)) return 0;
    size_t n = 0;
    while (n < length && (isalnum((unsigned char)text[n]) || strchr("-_.", text[n]))) {
        if (!text[n]) return 0;
        n++;
    }
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (strlen(levels[i]) == n && !memcmp(text, levels[i], n)) return 0;
    const size_t name = n;
    while (n < length && text[n] == ' ') n++;
    return n > name && n + 1 < length && text[n] == '|' && text[n + 1] == ' ' ? n + 2 : 0;
}

/* "Mar 02 11:22:33 host ollama[4242]: " where the program is one that people run models with; other
 * services' lines, and the kernel's, keep theirs. */
static size_t journal_size(const char *text, size_t length)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    static const char *const programs[] = { "python", "ollama", "llama",   "comfy",  "docker",
                                            "podman", "vllm",   "webui",   "invoke", "blender",
                                            "bash",   "kobold", "env",     "uv",     "jupyter",
                                            "conda",  "lemon",  "frigate", "sh[" };
    if (length < 20) return 0;
    const char *month = months;
    while (*month && strncmp(text, month, 3)) month += 3;
    if (!*month || text[3] != ' ' || (text[4] != ' ' && !is_digit(text[4])) || !is_digit(text[5]) ||
        text[6] != ' ')
        return 0;
    size_t n = 7 + clock_size(text + 7, length - 7);
    if (n == 7 || n >= length || text[n] != ' ') return 0;
    for (n++; n < length && text[n] != ' ';) n++; /* the machine's name */
    if (n++ >= length) return 0;
    bool known = false;
    for (size_t i = 0; i < sizeof programs / sizeof *programs && !known; i++) {
        const size_t size = strlen(programs[i]);
        known = length - n > size && !memcmp(text + n, programs[i], size);
    }
    while (n < length && text[n] != ' ' && text[n] != '[') n++;
    if (!known || n >= length || text[n] != '[') return 0;
    while (n < length && text[n] != ']') n++;
    return n + 2 < length && text[n + 1] == ':' && text[n + 2] == ' ' ? n + 3 : 0;
}

/* What clusters put before a line: "stderr F " behind the time, "[pod/name/container] ". */
static size_t cluster_size(const char *text, size_t length)
{
    static const char pod[] = "[pod/";
    if (length > 9 && !memcmp(text, "std", 3) &&
        (!memcmp(text + 3, "err F ", 6) || !memcmp(text + 3, "out F ", 6)))
        return 9;
    if (length < sizeof pod || memcmp(text, pod, sizeof pod - 1)) return 0;
    const char *end = memchr(text, ']', length);
    return end && (size_t)(end - text) + 1 < length && end[1] == ' ' ? (size_t)(end - text) + 2 : 0;
}

size_t explain_prefix_size(const char *line, size_t length)
{
    enum { MOST_PREFIXES = 4 };
    size_t n = 0;
    for (int i = 0; i < MOST_PREFIXES; i++) {
        const char *text = line + n;
        const size_t left = length - n;
        size_t size = 0;
        if (left > 1 && text[0] == '>' && text[1] == ' ') size = 2;
        if (!size && left > 4 && text[0] == '<' && is_digit(text[1]) && text[2] == '>') size = 3;
        if (!size) size = time_size(text, left);
        if (!size) size = container_size(text, left);
        if (!size) size = journal_size(text, left);
        if (!size) size = cluster_size(text, left);
        if (!size) break;
        n += size;
    }
    return n;
}

/* The blanks, up to the text's own indent, that the line starts with. */
static size_t indent_size(struct explain_prefix *p, const char *line, size_t length)
{
    size_t n = 0;
    while (n < length && (line[n] == ' ' || line[n] == '\t')) n++;
    if (n == length || line[n] == '\n') return 0;
    if (!p->begun) p->indent = n >= 4 || (n && *line == '\t') ? n : 0;
    p->begun = true;
    return n < p->indent ? n : p->indent;
}

/* Copy a part of a line of JSON, its escapes taken back: "\n" ends a line, "\u001b[31m" is nothing.
 */
static size_t unescape(struct explain_prefix *p, const char *bytes, size_t n, char *out)
{
    enum { TEXT, BACKSLASH, HEX, LAST_HEX = HEX + 3, ESC, COLOUR };
    size_t written = 0;
    for (size_t i = 0; i < n; i++) {
        const char c = bytes[i];
        if (c == '\n') p->escape = TEXT;
        if (p->escape == TEXT) {
            if (c == '\\')
                p->escape = BACKSLASH;
            else
                out[written++] = c;
        } else if (p->escape == BACKSLASH) {
            p->escape = c == 'u' ? HEX : TEXT;
            p->value = 0;
            if (c != 'u') out[written++] = c == 'n' || c == 'r' ? '\n' : c == 't' ? '\t' : c;
        } else if (p->escape <= LAST_HEX) {
            const int digit = is_digit(c) ? c - '0' : (c | 32) - 'a' + 10;
            p->value = p->value * 16 + (digit & 15);
            const bool last = p->escape++ == LAST_HEX;
            if (last && p->value != 27) p->escape = TEXT;
            if (last && p->value >= 32 && p->value < 127) out[written++] = (char)p->value;
        } else if (p->escape == ESC) {
            p->escape = c == '[' ? COLOUR : TEXT;
        } else if (c >= '@' && c <= '~') {
            p->escape = TEXT;
        }
    }
    return written;
}

static size_t put(struct explain_prefix *p, const char *bytes, size_t n, char *out)
{
    if (p->json) return unescape(p, bytes, n, out);
    memcpy(out, bytes, n);
    return n;
}

/* Write the line's start without its prefix. */
static size_t put_start(struct explain_prefix *p, const char *line, size_t length, char *out)
{
    const size_t known = length < EXPLAIN_PREFIX_MOST ? length : EXPLAIN_PREFIX_MOST;
    size_t n = indent_size(p, line, known);
    n += explain_prefix_size(line + n, known - n);
    static const char docker[] = "{\"log\":\"";
    p->json = known - n > 2 && line[n] == '{' && line[n + 1] == '"';
    if (known - n > sizeof docker && !memcmp(line + n, docker, sizeof docker - 1))
        n += sizeof docker - 1;
    p->escape = 0;
    p->inside = true;
    return put(p, line + n, length - n, out);
}

size_t explain_strip(struct explain_prefix *p, const char *bytes, size_t n, char *out)
{
    size_t written = 0;
    if (!n && p->held) {
        written = put_start(p, p->start, p->held, out);
        p->held = 0;
    }
    while (n) {
        const char *end = memchr(bytes, '\n', n);
        const size_t size = end ? (size_t)(end - bytes) + 1 : n;
        size_t used = size;
        if (p->inside) {
            written += put(p, bytes, size, out + written);
        } else if (!p->held && (end || size >= EXPLAIN_PREFIX_MOST)) {
            written += put_start(p, bytes, size, out + written);
        } else {
            if (used > EXPLAIN_PREFIX_MOST - p->held) used = EXPLAIN_PREFIX_MOST - p->held;
            memcpy(p->start + p->held, bytes, used);
            p->held += used;
            if (p->held == EXPLAIN_PREFIX_MOST || p->start[p->held - 1] == '\n') {
                written += put_start(p, p->start, p->held, out + written);
                p->held = 0;
            }
        }
        if (bytes[used - 1] == '\n') p->inside = false;
        bytes += used;
        n -= used;
    }
    return written;
}
