/* lines.c: source lines by libdw; without it there are none. */
#include "sim/runner/lines.h"

#ifdef RMCP_HAVE_LIBDW

#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lines {
    Elf *elf;
    Dwarf *dwarf;
    char *copy; /* libelf wants bytes that it may write to */
};

struct lines *lines_open(const void *bytes, size_t size)
{
    struct lines *lines = calloc(1, sizeof *lines);
    if (!lines) return NULL;
    elf_version(EV_CURRENT);
    lines->copy = malloc(size ? size : 1);
    if (lines->copy) {
        memcpy(lines->copy, bytes, size);
        lines->elf = elf_memory(lines->copy, size);
    }
    if (lines->elf) lines->dwarf = dwarf_begin_elf(lines->elf, DWARF_C_READ, NULL);
    if (lines->dwarf) return lines;
    lines_close(lines);
    return NULL;
}

void lines_close(struct lines *lines)
{
    if (!lines) return;
    if (lines->dwarf) dwarf_end(lines->dwarf);
    if (lines->elf) elf_end(lines->elf);
    free(lines->copy);
    free(lines);
}

void lines_find(struct lines *lines, uint64_t address, char *text, size_t bytes)
{
    Dwarf_Off at = 0, next;
    size_t header;
    *text = 0;
    if (!lines) return;
    while (!dwarf_nextcu(lines->dwarf, at, &next, &header, NULL, NULL, NULL)) {
        Dwarf_Die unit;
        Dwarf_Line *line = NULL;
        int number = 0;
        if (dwarf_offdie(lines->dwarf, at + header, &unit)) line = dwarf_getsrc_die(&unit, address);
        const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
        if (file && !dwarf_lineno(line, &number) && number) {
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
