/* line.c: what a line is by its beginning: a system's log, an exception, an error that calls itself
 * one. */
#include "help/explain/line.h"

#include "help/explain/automaton.h"

#include <ctype.h>
#include <string.h>

/* A line of the kernel's or the system's log: "[   12.3] …", "Nov 16 12:00:00 host …". */
bool explain_is_system_log(const char *line, size_t length)
{
    if (length < 6) return false;
    if (*line == '[') return line[1] == ' ' || isdigit((unsigned char)line[1]);
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (const char *month = months; *month; month += 3)
        if (!strncmp(line, month, 3))
            return line[3] == ' ' && (line[4] == ' ' || isdigit((unsigned char)line[4]));
    return false;
}

bool explain_is_service(const char *line, size_t length)
{
    enum { REACHES = 100 };
    if (!explain_is_system_log(line, length) || *line == '[') return false;
    if (length > REACHES) length = REACHES;
    for (size_t at = 1; at + 3 <= length; at++) {
        if (memcmp(line + at, "]: ", 3)) continue;
        size_t n = at; /* "sshd[42]: " */
        while (n && isdigit((unsigned char)line[n - 1])) n--;
        return n < at && n && line[n - 1] == '[';
    }
    return false;
}

/* Does the line start with the name of an exception, "torch.cuda.OutOfMemoryError: …"? Such a line
 * is an error whatever its other words are. */
bool explain_is_exception(const char *line, size_t length)
{
    size_t n = 0;
    while (n < length && (isalnum((unsigned char)line[n]) || line[n] == '_' || line[n] == '.')) n++;
    if (n + 2 > length || line[n] != ':' || line[n + 1] != ' ' || !isalpha((unsigned char)*line))
        return false;
    return (n > 5 && !strncmp(line + n - 5, "Error", 5)) ||
           (n > 9 && !strncmp(line + n - 9, "Exception", 9));
}

bool explain_ends_trace(const char *line, size_t length)
{
    size_t n = 0, part = 0; /* where the last part of the name starts */
    for (; n < length && (isalnum((unsigned char)line[n]) || strchr("_.", line[n])); n++)
        if (line[n] == '.') part = n + 1;
    if (n < part + 4 || !isupper((unsigned char)line[part]) || !islower((unsigned char)line[n - 1]))
        return false;
    return n == length || (n + 1 < length && line[n] == ':' && line[n + 1] == ' ');
}

/* Does the text start with a word that programs put before errors, "ERROR: …"? */
static bool is_level(const char *text, size_t length)
{
    static const char *const words[] = { "error", "fatal", "critical", "fatal error" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t size = strlen(words[i]);
        size_t n = 0;
        while (n < size && n < length && explain_lower(text[n]) == words[i][n]) n++;
        if (n == size && size + 1 < length && strchr(":]|", text[size])) return true;
        if (!i && n == size && size + 4 < length && text[0] == 'E' && text[size] == ' ' &&
            islower((unsigned char)text[size + 1]))
            return true; /* "Error running …" */
    }
    return false;
}

/* The mark of a fatal line of TensorFlow's logger, "…: F tensorflow/…/x.cc:305] ". */
static bool has_fatal_mark(const char *line, size_t length)
{
    enum { REACHES = 40 };
    const size_t most = length > REACHES ? REACHES : length;
    for (size_t at = 0; at + 5 < most; at++)
        if (!memcmp(line + at, ": F ", 4)) return memchr(line + at, ']', length - at) != NULL;
    return false;
}

/* Is there such a mark of a logger in the first letters, "level=ERROR", " - ERROR - "? */
static bool has_level(const char *line, size_t length)
{
    enum { REACHES = 80 };
    if (length > REACHES) length = REACHES;
    for (size_t at = 0; at + 5 < length; at++)
        if (!memcmp(line + at, "ERROR", 5) && !isalnum((unsigned char)line[at + 5]) &&
            line[at + 5] != '_' && at && strchr(" =|[", line[at - 1]))
            return true;
    return false;
}

/* Does the line call itself an error, "[12:00:01] ERROR: …", "main: error: …"? Likewise. */
bool explain_is_called_error(const char *line, size_t length)
{
    size_t n = 0;
    while (n < length && n < 40 && !isalpha((unsigned char)line[n])) n++;
    if (is_level(line + n, length - n) || has_level(line, length) || has_fatal_mark(line, length))
        return true;
    while (n < length && n < 60 && line[n] > ' ' && line[n] != ':') n++;
    return n + 2 < length && line[n] == ':' && line[n + 1] == ' ' &&
           is_level(line + n + 2, length - n - 2);
}

bool explain_has_warning_mark(const char *line, size_t length)
{
    size_t n = length && *line == '[';
    if (n + 6 > length || line[n++] != 'W') return false;
    size_t digits = 0;
    while (n < length && isdigit((unsigned char)line[n])) n++, digits++;
    return digits > 2 && n < length && line[n] == ' ';
}

bool explain_has_address(const char *line, size_t length)
{
    enum { REACHES = 80 };
    if (length > REACHES) length = REACHES;
    for (size_t at = 0; at + 6 < length; at++)
        if (line[at] == '0' && line[at + 1] == 'x') return true;
    return false;
}

bool explain_is_refusal(const char *line, size_t length, const char *before, size_t size)
{
    enum { REACHES = 400 };
    static const char *const questions[] = { "torch.cuda.is_available()",
                                             "torch.cuda.device_count()" };
    while (length && isspace((unsigned char)*line)) line++, length--;
    while (length && isspace((unsigned char)line[length - 1])) length--;
    const bool no = (length == 5 && !memcmp(line, "False", 5)) || (length == 1 && *line == '0');
    if (size > REACHES) size = REACHES;
    for (size_t i = 0; no && i < sizeof questions / sizeof *questions; i++) {
        const size_t n = strlen(questions[i]);
        for (size_t at = 0; at + n <= size; at++)
            if (!memcmp(before + at, questions[i], n)) return true;
    }
    return false;
}

bool explain_is_other_device(const char *line, size_t length)
{
    enum { REACHES = 100 };
    static const char *const ours[] = { "amdgpu",   "kfd",  "radeon", "pci",
                                        "pcieport", "vfio", "AMD-Vi" };
    if (!explain_is_system_log(line, length)) return false;
    if (length > REACHES) length = REACHES;
    for (size_t at = 2; at + 6 < length; at++) {
        if (memcmp(line + at, " 0000:", 6)) continue;
        size_t start = at;
        while (start && line[start - 1] > ' ') start--;
        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
            if (!strncmp(line + start, ours[i], strlen(ours[i]))) return false;
        return start < at && islower((unsigned char)line[start]) && line[at - 1] != ':';
    }
    return false;
}

bool explain_is_speech(const char *line, size_t length)
{
    static const char said[] = "\"role\":\"assistant\"";
    enum { REACHES = 400 };
    for (size_t at = 0; at + sizeof said <= length && at < REACHES; at++)
        if (line[at] == '"' && !memcmp(line + at, said, sizeof said - 1)) return true;
    size_t n = 1;
    if (!length || *line != '[') return false;
    while (n < length && (isdigit((unsigned char)line[n]) || strchr(":.,", line[n]))) n++;
    return n > 4 && n + 5 < length && !memcmp(line + n, " --> ", 5);
}

bool explain_is_row(const char *line, size_t length)
{
    enum { COLUMNS = 5 };
    int columns = 0;
    for (size_t at = 0; at < length; at++) {
        if (line[at] != ' ') continue;
        const size_t start = at;
        while (at < length && line[at] == ' ') at++;
        columns += start && at - start > 1 && at < length;
    }
    return columns + 1 >= COLUMNS;
}
