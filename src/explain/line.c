/* line.c: what a line is by its beginning: a system's log, an exception, an error that calls itself
 * one. */
#include "explain/line.h"

#include "explain/automaton.h"

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
    if (is_level(line + n, length - n) || has_level(line, length)) return true;
    while (n < length && n < 60 && line[n] > ' ' && line[n] != ':') n++;
    return n + 2 < length && line[n] == ':' && line[n + 1] == ' ' &&
           is_level(line + n + 2, length - n - 2);
}
