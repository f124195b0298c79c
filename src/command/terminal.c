/* terminal.c: how wide the reader's terminal is, whether it takes colours, and text that fits it.
 */
#define _DEFAULT_SOURCE /* struct winsize */
#include "command/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LEAST = 20, MOST = 10000 };

static bool is_dumb(void)
{
    const char *term = getenv("TERM");
    return !term || !*term || !strcmp(term, "dumb");
}

bool cli_takes_colours(int descriptor)
{
    const char *no = getenv("NO_COLOR"); /* https://no-color.org: set, and not empty */
    return !(no && *no) && !is_dumb() && isatty(descriptor);
}

bool cli_takes_motion(int descriptor)
{
    return !is_dumb() && isatty(descriptor);
}

int cli_width(int descriptor)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size = { 0 };
    char *end = NULL;
    long width = 0;
    errno = 0;
    if (columns && *columns >= '0' && *columns <= '9') width = strtol(columns, &end, 10);
    if (!end || *end || errno || width < 1) {
        width = 0;
        if (isatty(descriptor) && !ioctl(descriptor, TIOCGWINSZ, &size)) width = size.ws_col;
    }
    if (width < 1) return 0;
    return width < LEAST ? LEAST : width > MOST ? MOST : (int)width;
}

/* Columns of `bytes` of UTF-8: one for each character. */
static int columns_of(const char *text, size_t bytes)
{
    int wide = 0;
    for (size_t i = 0; i < bytes; i++) wide += (text[i] & 0xc0) != 0x80;
    return wide;
}

void cli_print_words(int width, int hang, const char *text)
{
    int column = hang;
    while (*(text += strspn(text, " \n"))) {
        const size_t bytes = strcspn(text, " \n");
        const int wide = columns_of(text, bytes);
        if (column > hang && column + 1 + wide > width) {
            printf("\n%*s", hang, "");
            column = hang;
        }
        printf("%s%.*s", column > hang ? " " : "", (int)bytes, text);
        column += wide + (column > hang);
        text += bytes;
    }
    putchar('\n');
}

void cli_print_wrapped(int width, int indent, const char *label, const char *text)
{
    printf("%*s%s", indent, "", label);
    cli_print_words(width, indent + columns_of(label, strlen(label)), text);
}

/* The byte at which character number `index` begins. */
static size_t byte_of(const char *text, int index)
{
    size_t at = 0;
    for (; text[at] && index > 0; index--) do
            at++;
        while ((text[at] & 0xc0) == 0x80);
    return at;
}

void cli_print_shortened(FILE *out, const char *text, int width)
{
    const int wide = columns_of(text, strlen(text));
    size_t cut = strlen(text), resume = cut;
    if (width > 0 && wide > width) {
        const int kept = width > 3 ? width - 3 : 1;
        cut = byte_of(text, kept - kept / 2);
        resume = byte_of(text, wide - kept / 2);
    }
    for (size_t i = 0; text[i]; i++) {
        if (i == cut && resume > cut) {
            fputs("...", out);
            i = resume;
            if (!text[i]) break;
        }
        /* Names come from files: no control characters to the terminal. */
        putc((unsigned char)text[i] < 32 || text[i] == 127 ? '?' : text[i], out);
    }
}
