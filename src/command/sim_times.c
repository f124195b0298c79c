/* sim_times.c: the modelled times of a program's kernels, summed over the dispatches of each. */
#include "command/sim_card.h"
#include "sim/timing/timing.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Numbers of a line of the file, after the kernel and the card; shares are weighted by the time. */
enum { SPREAD = 1, FMA, VALU, LDS, L0, L2, DRAM, WAVES, FIRST_REASON };
enum { N_NUMBERS = FIRST_REASON + TIMING_N_REASONS };

struct time_row {
    char kernel[256], card[32];
    unsigned dispatches;
    double seconds, number[N_NUMBERS]; /* times seconds */
};

struct time_table {
    struct time_row *rows;
    size_t n, room;
    double seconds;
};

static struct time_row *row_of(struct time_table *t, const char *kernel, const char *card)
{
    for (size_t i = 0; i < t->n; i++)
        if (!strcmp(t->rows[i].kernel, kernel) && !strcmp(t->rows[i].card, card))
            return &t->rows[i];
    if (t->n == t->room) {
        const size_t room = t->room ? 2 * t->room : 64;
        struct time_row *rows = realloc(t->rows, room * sizeof *rows);
        if (!rows) return NULL;
        t->rows = rows;
        t->room = room;
    }
    struct time_row *row = &t->rows[t->n++];
    memset(row, 0, sizeof *row);
    snprintf(row->kernel, sizeof row->kernel, "%s", kernel);
    snprintf(row->card, sizeof row->card, "%s", card);
    return row;
}

static void add_line(struct time_table *t, char *line)
{
    char *rest = line, *kernel = strtok_r(line, " \n", &rest), *card = strtok_r(NULL, " \n", &rest);
    struct time_row *row = kernel && card && rest ? row_of(t, kernel, card) : NULL;
    if (!row) return;
    const double seconds = strtod(rest, &rest);
    row->dispatches++;
    row->seconds += seconds;
    t->seconds += seconds;
    for (unsigned i = SPREAD; i < N_NUMBERS; i++) row->number[i] += seconds * strtod(rest, &rest);
}

static int by_seconds(const void *a, const void *b)
{
    const double x = ((const struct time_row *)a)->seconds,
                 y = ((const struct time_row *)b)->seconds;
    return (x < y) - (x > y);
}

static bool read_times(const char *path, struct time_table *t)
{
    char line[2048];
    FILE *file = fopen(path, "r");
    *t = (struct time_table){ 0 };
    if (!file) return false;
    while (fgets(line, sizeof line, file)) add_line(t, line);
    fclose(file);
    if (t->n) qsort(t->rows, t->n, sizeof *t->rows, by_seconds);
    for (size_t i = 0; i < t->n; i++)
        for (unsigned k = SPREAD; k < N_NUMBERS && t->rows[i].seconds > 0; k++)
            t->rows[i].number[k] /= t->rows[i].seconds;
    return true;
}

/* What waves of a kernel mostly do besides issuing. */
static const char *worst(const struct time_row *row)
{
    unsigned most = TIMING_ISSUE + 1;
    for (unsigned i = most; i < TIMING_N_REASONS; i++)
        if (row->number[FIRST_REASON + i] > row->number[FIRST_REASON + most]) most = i;
    return timing_reason_name((enum timing_reason)most);
}

cJSON *sim_times_json(const char *path)
{
    static const struct {
        const char *name;
        unsigned number;
    } shares[] = { { "sampling_spread", SPREAD },
                   { "fma", FMA },
                   { "valu", VALU },
                   { "lds", LDS },
                   { "l0", L0 },
                   { "l2", L2 },
                   { "dram", DRAM },
                   { "waves_per_simd", WAVES } };
    struct time_table t;
    cJSON *list = cJSON_CreateArray();
    read_times(path, &t);
    for (size_t i = 0; i < t.n; i++) {
        const struct time_row *r = &t.rows[i];
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "kernel", r->kernel);
        cJSON_AddStringToObject(row, "card", r->card);
        cJSON_AddNumberToObject(row, "dispatches", r->dispatches);
        cJSON_AddNumberToObject(row, "seconds", r->seconds);
        for (size_t k = 0; k < sizeof shares / sizeof *shares; k++)
            cJSON_AddNumberToObject(row, shares[k].name, r->number[shares[k].number]);
        cJSON *reasons = cJSON_AddObjectToObject(row, "wave_time");
        for (unsigned k = 0; k < TIMING_N_REASONS; k++)
            cJSON_AddNumberToObject(reasons, timing_reason_name((enum timing_reason)k),
                                    r->number[FIRST_REASON + k]);
        cJSON_AddItemToArray(list, row);
    }
    free(t.rows);
    return list;
}

void sim_times_print(const char *path)
{
    enum { BEFORE = 84, LEAST = 24 }; /* columns before the name, and those of it */
    struct time_table t;
    const int columns = cli_width(STDERR_FILENO), left = columns - BEFORE;
    const int width = !columns ? 0 : left < LEAST ? LEAST : left;
    char text[32];
    if (!read_times(path, &t)) return;
    fprintf(stderr, "%10s %12s %6s %6s %6s %6s %6s  %-22s %s\n", "dispatches", "modelled", "time %",
            "FMA %", "LDS %", "DRAM %", "waves", "waves mostly", "kernel");
    for (size_t i = 0; i < t.n; i++) {
        const struct time_row *r = &t.rows[i];
        fprintf(stderr, "%10u %12s %6.1f %6.1f %6.1f %6.1f %6.1f  %-22s ", r->dispatches,
                cli_seconds(r->seconds, text), t.seconds > 0 ? 100 * r->seconds / t.seconds : 0,
                100 * r->number[FMA], 100 * r->number[LDS], 100 * r->number[DRAM], r->number[WAVES],
                worst(r));
        cli_print_shortened(stderr, r->kernel, width);
        putc('\n', stderr);
    }
    free(t.rows);
}
