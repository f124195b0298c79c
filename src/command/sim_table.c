/* sim_table.c: the table of rmcp sim --stats, summed over the dispatches of each kernel. */
#include "command/sim_card.h"
#include "sim/sim.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One kernel on one card. Numbers stand in the file in this order. */
struct row {
    char kernel[256], card[32];
    uint64_t dispatches;
    uint64_t ns, waves, loaded, stored, lds_loaded, lds_stored;
    uint64_t instructions[SIM_N_CLASSES];
};

struct kernel_table {
    struct row *rows;
    size_t n, room;
};

static struct row *row_of(struct kernel_table *table, const char *kernel, const char *card)
{
    for (size_t i = 0; i < table->n; i++)
        if (!strcmp(table->rows[i].kernel, kernel) && !strcmp(table->rows[i].card, card))
            return &table->rows[i];
    if (table->n == table->room) {
        const size_t room = table->room ? 2 * table->room : 64;
        struct row *rows = realloc(table->rows, room * sizeof *rows);
        if (!rows) return NULL;
        table->rows = rows;
        table->room = room;
    }
    struct row *row = &table->rows[table->n++];
    memset(row, 0, sizeof *row);
    snprintf(row->kernel, sizeof row->kernel, "%s", kernel);
    snprintf(row->card, sizeof row->card, "%s", card);
    return row;
}

static void add_line(struct kernel_table *table, char *line)
{
    char *rest = line, *kernel = strtok_r(rest, " \n", &rest), *card = strtok_r(NULL, " \n", &rest);
    struct row *row = kernel && card ? row_of(table, kernel, card) : NULL;
    if (!row) return;
    uint64_t *const sums[] = { &row->ns,     &row->waves,      &row->loaded,
                               &row->stored, &row->lds_loaded, &row->lds_stored };
    row->dispatches++;
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) *sums[i] += strtoull(rest, &rest, 10);
    for (size_t i = 0; i < SIM_N_CLASSES; i++) row->instructions[i] += strtoull(rest, &rest, 10);
}

static uint64_t total(const struct row *row)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < SIM_N_CLASSES; i++) sum += row->instructions[i];
    return sum;
}

static int by_instructions(const void *a, const void *b)
{
    const uint64_t x = total(a), y = total(b);
    return (x < y) - (x > y);
}

/* The file summed up, the kernel with most instructions first; false without a file. */
static bool read_table(const char *path, struct kernel_table *table)
{
    char line[2048];
    FILE *file = fopen(path, "r");
    *table = (struct kernel_table){ 0 };
    if (!file) return false;
    while (fgets(line, sizeof line, file)) add_line(table, line);
    fclose(file);
    if (table->n) qsort(table->rows, table->n, sizeof *table->rows, by_instructions);
    return true;
}

cJSON *sim_table_json(const char *path)
{
    struct kernel_table table;
    cJSON *list = cJSON_CreateArray();
    read_table(path, &table);
    for (size_t i = 0; i < table.n; i++) {
        const struct row *r = &table.rows[i];
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "kernel", r->kernel);
        cJSON_AddStringToObject(row, "card", r->card);
        cJSON_AddNumberToObject(row, "dispatches", (double)r->dispatches);
        cJSON_AddNumberToObject(row, "waves", (double)r->waves);
        cJSON_AddNumberToObject(row, "instructions", (double)total(r));
        cJSON_AddNumberToObject(
            row, "multiply_adds",
            (double)(r->instructions[SIM_CLASS_FMA] + r->instructions[SIM_CLASS_PKFMA]));
        cJSON_AddNumberToObject(row, "bytes_loaded", (double)r->loaded);
        cJSON_AddNumberToObject(row, "bytes_stored", (double)r->stored);
        cJSON_AddNumberToObject(row, "host_seconds", (double)r->ns * 1e-9);
        cJSON_AddItemToArray(list, row);
    }
    free(table.rows);
    return list;
}

void sim_table_print(const char *path)
{
    enum { BEFORE = 81, LEAST = 24 };
    struct kernel_table table;
    const int columns = cli_width(STDERR_FILENO), left = columns - BEFORE;
    const int width = !columns ? 0 : left < LEAST ? LEAST : left;
    if (!read_table(path, &table)) return;
    fprintf(stderr, "%10s %10s %14s %6s %12s %12s %9s  %s\n", "dispatches", "waves", "instructions",
            "FMA %", "loaded", "stored", "host s", "kernel");
    for (size_t i = 0; i < table.n; i++) {
        const struct row *r = &table.rows[i];
        const uint64_t all = total(r),
                       fma = r->instructions[SIM_CLASS_FMA] + r->instructions[SIM_CLASS_PKFMA];
        char loaded[32], stored[32];
        fprintf(stderr, "%10" PRIu64 " %10" PRIu64 " %14" PRIu64 " %6.1f %12s %12s %9.3f  ",
                r->dispatches, r->waves, all, all ? 100.0 * (double)fma / (double)all : 0.0,
                cli_bytes(r->loaded, loaded), cli_bytes(r->stored, stored), (double)r->ns * 1e-9);
        cli_print_shortened(stderr, r->kernel, width);
        putc('\n', stderr);
    }
    free(table.rows);
}
