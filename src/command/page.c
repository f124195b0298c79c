/* page.c: pages that need nothing else: head and style, text, and the file. */
#include "command/page.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/cli.h"

/* The bytes of the character at `text`, and the character; 0: no UTF-8. */
static size_t decode(const unsigned char *text, uint32_t *point)
{
    const size_t n = text[0] < 0x80                       ? 1
                     : text[0] >= 0xc2 && text[0] <= 0xdf ? 2
                     : text[0] >= 0xe0 && text[0] <= 0xef ? 3
                     : text[0] >= 0xf0 && text[0] <= 0xf4 ? 4
                                                          : 0;
    *point = n == 1 ? text[0] : n ? text[0] & (0xffu >> (n + 1)) : 0;
    for (size_t i = 1; i < n; i++) {
        if ((text[i] & 0xc0) != 0x80) return 0;
        *point = *point << 6 | (text[i] & 0x3f);
    }
    const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    return n && *point >= least[n] && *point <= 0x10ffff && *point / 0x800 != 0x1b ? n : 0;
}

static bool is_shown(uint32_t point)
{
    const bool turns = (point >= 0x202a && point <= 0x202e) ||
                       (point >= 0x2066 && point <= 0x2069) || point == 0x200e || point == 0x200f;
    return (point >= 0x20 || point == '\n' || point == '\t') && !turns &&
           !(point >= 0x7f && point < 0xa0) && (point & 0xfffe) != 0xfffe;
}

void cli_page_text(FILE *out, const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        uint32_t point;
        const size_t n = decode(at, &point);
        if (!n || !is_shown(point))
            fputs("\xef\xbf\xbd", out); /* U+FFFD */
        else if (point == '&')
            fputs("&amp;", out);
        else if (point == '<')
            fputs("&lt;", out);
        else if (point == '>')
            fputs("&gt;", out);
        else if (point == '"')
            fputs("&quot;", out);
        else if (point == '\'')
            fputs("&#39;", out);
        else
            fwrite(at, 1, n, out);
        at += n ? n : 1;
    }
}

enum { MARK_ROOM = 128 };

static size_t mark_of(const char *command, char mark[static MARK_ROOM])
{
    return (size_t)snprintf(mark, MARK_ROOM, "<!DOCTYPE html>\n<!-- a page of rmcp %s -->\n",
                            command);
}

void cli_page_begin(FILE *out, const char *command, const struct cli_page_style *style)
{
    char mark[MARK_ROOM];
    mark_of(command, mark);
    fprintf(out,
            "%s<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\"><head><meta "
            "charset=\"utf-8\"/>\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
            "'unsafe-inline'\"/>\n<title>rmcp %s</title>\n<style>\n"
            ":root{--ink:#1d2330;--soft:#5b6475;--page:#f6f7f9;--card:#fff;--line:#d9dde5;%s}\n"
            "@media(prefers-color-scheme:dark){:root{--ink:#e5e9f0;--soft:#9ba5b7;--page:#14171d;"
            "--card:#1d222b;--line:#353c49;%s}}\n"
            "*{box-sizing:border-box}\n"
            "body{margin:0;padding:16px;background:var(--page);color:var(--ink);"
            "font:15px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}\n"
            "main{max-width:1160px;margin:0 auto}\n"
            "h1{font-size:1.45em;line-height:1.25;margin:.2em 0}h2{font-size:1.1em;margin:1.6em 0 "
            ".6em}\n"
            "%s</style></head><body><main>\n",
            mark, command, style->light, style->dark, style->rules);
}

/* Whether a file is an older page of that command, or there is none. */
static bool may_write(const char *file, const char *command)
{
    char start[MARK_ROOM] = "", mark[MARK_ROOM];
    const size_t length = mark_of(command, mark);
    FILE *old = fopen(file, "rb");
    if (!old) return errno == ENOENT;
    const size_t n = length < sizeof start ? fread(start, 1, length, old) : 0;
    fclose(old);
    return n == length && !memcmp(start, mark, n);
}

/* Whether the file, or one in its folder, can be written; else errno says why not. */
static bool can_write(const char *file)
{
    const char *slash = strrchr(file, '/');
    char *folder = slash ? strndup(file, (size_t)(slash - file) + 1) : strdup(".");
    const bool can =
        folder && (!access(file, W_OK) || (errno == ENOENT && !access(folder, W_OK | X_OK)));
    const int error = errno;
    free(folder);
    errno = error;
    return can;
}

int cli_page_check(const char *command, const char *file)
{
    if (!file) return CLI_OK;
    if (!can_write(file))
        return cli_complain(command, "cannot write %.200s: %s", file, strerror(errno));
    if (may_write(file, command)) return CLI_OK;
    return cli_complain(command, "%.200s is there already, and no page of rmcp %s", file, command);
}

int cli_page_open(const char *command, const char *file, FILE **out)
{
    const int exit_status = cli_page_check(command, file);
    if (exit_status) return exit_status;
    *out = file ? fopen(file, "wb") : stdout;
    if (*out) return CLI_OK;
    cli_complain(command, "cannot write %.200s: %s", file, strerror(errno));
    return CLI_INTERNAL;
}

int cli_page_close(const char *command, const char *file, FILE *out)
{
    bool failed = ferror(out) || fflush(out);
    if (file && fclose(out)) failed = true;
    if (failed) cli_complain(command, "cannot write %.200s", file ? file : "the page");
    return failed ? CLI_INTERNAL : CLI_OK;
}
