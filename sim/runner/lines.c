/* lines.c: source lines by libdw, where it is installed: it is looked for when first needed. */
#include "sim/runner/lines.h"

#ifdef RMCP_HAVE_LIBDW /* its headers */

#include "base/dynlib.h"

#include <elfutils/libdw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBDW_FUNCTIONS(F)                                                                         \
    F(dwarf_begin_elf)                                                                             \
    F(dwarf_end)                                                                                   \
    F(dwarf_getsrc_die)                                                                            \
    F(dwarf_lineno)                                                                                \
    F(dwarf_linesrc)                                                                               \
    F(dwarf_nextcu)                                                                                \
    F(dwarf_offdie)                                                                                \
    F(elf_end)                                                                                     \
    F(elf_memory)                                                                                  \
    F(elf_version)

static struct dw {
#define F(name) __typeof__(name) *name;
    LIBDW_FUNCTIONS(F)
#undef F
} dw;
static bool dw_loaded; /* and kept to the end */
static pthread_once_t dw_once = PTHREAD_ONCE_INIT;

static void load_dw(void)
{
    /* libelf, which it needs, is found through it. */
    static const char *const names[] = { "libdw.so.1", NULL };
    static const struct rmcp_symbol symbols[] = {
#define F(name) { #name, offsetof(struct dw, name), false },
        LIBDW_FUNCTIONS(F)
#undef F
            { NULL, 0, false },
    };
    char why[160];
    dw_loaded = rmcp_dynlib_open(names, symbols, &dw, why, sizeof why);
}

struct lines {
    Elf *elf;
    Dwarf *dwarf;
    char *copy; /* libelf wants bytes that it may write to */
};

struct lines *lines_open(const void *bytes, size_t size)
{
    pthread_once(&dw_once, load_dw);
    struct lines *lines = dw_loaded ? calloc(1, sizeof *lines) : NULL;
    if (!lines) return NULL;
    dw.elf_version(EV_CURRENT);
    lines->copy = malloc(size ? size : 1);
    if (lines->copy) {
        memcpy(lines->copy, bytes, size);
        lines->elf = dw.elf_memory(lines->copy, size);
    }
    if (lines->elf) lines->dwarf = dw.dwarf_begin_elf(lines->elf, DWARF_C_READ, NULL);
    if (lines->dwarf) return lines;
    lines_close(lines);
    return NULL;
}

void lines_close(struct lines *lines)
{
    if (!lines) return;
    if (lines->dwarf) dw.dwarf_end(lines->dwarf);
    if (lines->elf) dw.elf_end(lines->elf);
    free(lines->copy);
    free(lines);
}

void lines_find(struct lines *lines, uint64_t address, char *text, size_t bytes)
{
    Dwarf_Off at = 0, next;
    size_t header;
    *text = 0;
    if (!lines) return;
    while (!dw.dwarf_nextcu(lines->dwarf, at, &next, &header, NULL, NULL, NULL)) {
        Dwarf_Die unit;
        Dwarf_Line *line = NULL;
        int number = 0;
        if (dw.dwarf_offdie(lines->dwarf, at + header, &unit))
            line = dw.dwarf_getsrc_die(&unit, address);
        const char *file = line ? dw.dwarf_linesrc(line, NULL, NULL) : NULL;
        if (file && !dw.dwarf_lineno(line, &number) && number) {
            const char *base = strrchr(file, '/');
            snprintf(text, bytes, "%s:%d", base ? base + 1 : file, number);
            return;
        }
        at = next;
    }
}

#else

struct lines *lines_open(const void *bytes, size_t size)
{
    (void)bytes;
    (void)size;
    return NULL;
}

void lines_close(struct lines *lines)
{
    (void)lines;
}

void lines_find(struct lines *lines, uint64_t address, char *text, size_t bytes)
{
    (void)lines;
    (void)address;
    if (bytes) *text = 0;
}

#endif
