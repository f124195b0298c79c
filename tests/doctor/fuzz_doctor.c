/* fuzz_doctor.c: libFuzzer target: any bytes as a recorded machine: a text as in
 * tests/doctor/machines, or a tar file. Every probe, every rule and every option goes over it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help/doctor/clean.h"
#include "help/doctor/doctor.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { BLOCK = 512, ROOM = 1 << 20 };

/* One entry with a right checksum, which a fuzzer would hardly find. */
static size_t put(uint8_t *tar, size_t at, const char *path, size_t path_size, char type,
                  const void *text, size_t size)
{
    uint8_t *block = tar + at;
    const size_t blocks = (size + BLOCK - 1) / BLOCK * BLOCK;
    if (at + BLOCK + blocks + 2 * BLOCK > ROOM || path_size > 99) return at;
    memset(block, 0, BLOCK + blocks);
    memcpy(block, path, path_size);
    snprintf((char *)block + 124, 12, "%011zo", type == '0' ? size : 0);
    block[156] = (uint8_t)type;
    if (type == '2')
        memcpy(block + 157, text, size < 99 ? size : 99);
    else
        memcpy(block + BLOCK, text, size);
    memset(block + 148, ' ', 8);
    unsigned sum = 0;
    for (size_t i = 0; i < BLOCK; i++) sum += block[i];
    snprintf((char *)block + 148, 8, "%06o", sum);
    return at + BLOCK + (type == '0' ? blocks : 0);
}

/* "@ PATH" and its lines, "@ PATH -> TARGET". */
static size_t pack(const char *text, uint8_t *tar)
{
    size_t at = 0;
    while (*text) {
        const char *line = text;
        size_t length = strcspn(line, "\n");
        text = line + length + (line[length] == '\n');
        if (strncmp(line, "@ ", 2)) continue;
        const char *path = line + 2;
        const size_t path_size = strcspn(path, " \n");
        const char *arrow = path + path_size;
        if (!strncmp(arrow, " -> ", 4)) {
            at = put(tar, at, path, path_size, '2', arrow + 4, strcspn(arrow + 4, "\n"));
            continue;
        }
        const char *end = text;
        while (*end && strncmp(end, "@ ", 2)) end += strcspn(end, "\n"), end += *end == '\n';
        at = put(tar, at, path, path_size, '0', text, (size_t)(end - text));
    }
    memset(tar + at, 0, BLOCK);
    return at + BLOCK;
}

static void examine(struct doctor_view *view)
{
    static struct doctor_machine machine;
    static struct doctor_finding findings[128];
    static struct doctor_advice advice[32];
    doctor_examine_here(view, &machine);
    size_t n = doctor_find(&machine, findings, 128);
    for (size_t i = 0; i < n; i++)
        if (strlen(findings[i].seen) >= DOCTOR_WORDS) abort();
    n = doctor_advise(&machine, advice, 32);
    for (size_t i = 0; i < n; i++)
        if (strlen(advice[i].command) >= DOCTOR_COMMAND) abort();
    static struct doctor_cleaner cleaner;
    doctor_cleaner_init(&cleaner, &machine);
    for (size_t i = 0; i < machine.n_variables; i++)
        free(doctor_clean_text(&cleaner, machine.variables[i].value));
    for (size_t i = 0; i < machine.n_pythons; i++)
        free(doctor_clean_path(&cleaner, machine.pythons[i].site));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static uint8_t tar[ROOM + BLOCK];
    struct doctor_view view;
    if (!doctor_view_open_tar(&view, bytes, size)) {
        examine(&view);
        doctor_view_close(&view);
    }
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, bytes, size);
    text[size] = '\0';
    if (!doctor_view_open_tar(&view, tar, pack(text, tar))) {
        examine(&view);
        doctor_view_close(&view);
    }
    free(text);
    return 0;
}
