/* bench_page.h: what was timed, as one page that needs nothing else. */
#ifndef RMCP_CLI_BENCH_PAGE_H
#define RMCP_CLI_BENCH_PAGE_H

#include "command/cli.h"

struct bench_row {
    char text[RMCP_CASE_MAX]; /* the case string as we print it */
    char label[48], algorithm[40];
    const char *class;            /* how layers are grouped       */
    unsigned pass, count;         /* pass: index of its first trait */
    double seconds, flops, bytes; /* ours                           */
    double theirs;                /* seconds of the others; 0: not known */
};

struct bench_page {
    char device[200], driver[160], against[160]; /* from anywhere */
    double flops_per_second, bytes_per_second;   /* the device's own limits; 0: not known */
    struct bench_row *rows;
    size_t n, room;
};

/* Add a row for a case; what it computes and its class come from the case itself. */
rmcp_status bench_add(struct bench_page *page, const struct cli_case *one, const char *algorithm,
                      double seconds, double theirs);
void bench_deinit(struct bench_page *page);

/* The share of the device's limit (multiply-adds or memory, whichever is slower) that a time
 * reaches; 0: not known. */
double bench_share(const struct bench_page *page, const struct bench_row *row, double seconds);

/* Read times: CSV with a column "case" (bench/compare_cudnn.py: ours_us, cudnn_us; others: us), or
 * JSON of rmcp bench --json or of bench/compare_cpu.py. Called with both times of each line, in
 * seconds, 0 where there is none; ends when it fails. `*whose` says whose the others' times are. */
typedef rmcp_status bench_taker(void *context, const char *text, const char *algorithm, double ours,
                                double theirs);
rmcp_status bench_read(const char *file, bench_taker *take, void *context, const char **whose);
/* Fill in the others' times for rows of the same case; RMCP_E_ARG when there is none. */
rmcp_status bench_read_theirs(struct bench_page *page, const char *file);
/* Make rows of a file. */
rmcp_status bench_read_rows(struct bench_page *page, const char *file);

/* Write the page; an older one is replaced, no other file. Returns an exit status. */
int bench_write_page(const struct bench_page *page, const char *file);
/* Whether it may be written there, said before the timing; 0 or an exit status. */
int bench_check_page(const char *file);

/* ---- plots: bench_plot.c ---- */

/* One dot a layer: the others' time by ours, classes below each other. */
void bench_plot_ratios(FILE *out, const struct bench_page *page, unsigned pass);
/* Rates over operations per byte, below the device's limits. */
void bench_plot_rates(FILE *out, const struct bench_page *page);

extern const char *const bench_classes[]; /* ends with NULL */

#endif
