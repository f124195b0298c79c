/* bench_read.c: times that were measured elsewhere, or before: CSV and JSON. */
#include "command/bench_page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 64 << 20, MOST_ROWS = 200000, MOST_FIELDS = 64 };

/* The whole text of a file, to be given to free(). */
static rmcp_status read_file(const char *file, char **text)
{
    FILE *in = fopen(file, "rb");
    size_t room = 1 << 16, n = 0;
    *text = NULL;
    if (!in) return rmcp_fail(RMCP_E_ARG, "cannot read %.200s: %s", file, strerror(errno));
    for (;;) {
        char *grown = room <= MOST_BYTES ? realloc(*text, room + 1) : NULL;
        if (!grown) break;
        *text = grown;
        n += fread(*text + n, 1, room - n, in);
        if (n < room) break;
        room *= 2;
    }
    const bool failed = !*text || ferror(in) || n == room;
    fclose(in);
    if (failed) {
        free(*text);
        *text = NULL;
        return rmcp_fail(RMCP_E_ARG, "cannot read %.200s: no text of at most 64 MiB", file);
    }
    (*text)[n] = '\0';
    return RMCP_OK;
}

/* Cut a line of CSV into fields, in place; quotes are taken away. Returns how many, and leaves
 * `*line` at the next one. */
static size_t cut(char **line, char *fields[static MOST_FIELDS])
{
    size_t n = 0;
    char *at = *line, *to;
    for (bool more = true; more;) {
        bool quoted = *at == '"';
        char *start = to = at + quoted;
        for (at = start; *at && (quoted || (*at != ',' && *at != '\n')); at++) {
            if (quoted && *at == '"') {
                if (at[1] != '"') {
                    quoted = false;
                    continue;
                }
                at++;
            }
            if (*at != '\r') *to++ = *at;
        }
        more = *at == ',';
        const bool ended = !*at;
        *to = '\0';
        if (n < MOST_FIELDS) fields[n++] = start;
        if (!ended) at++;
    }
    *line = at;
    return n;
}

static double seconds_of(const char *text, double unit)
{
    char *end;
    const double value = strtod(text, &end) * unit;
    return end != text && isfinite(value) && value > 0 ? value : 0;
}

static rmcp_status read_csv(const char *file, char *text, bench_taker *take, void *context,
                            const char **whose)
{
    static const char *const names[] = { "case", "algorithm", "ours_us", "cudnn_us", "us" };
    int place[] = { -1, -1, -1, -1, -1 };
    char *fields[MOST_FIELDS];
    size_t n = cut(&text, fields);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (!strcmp(fields[i], names[k])) place[k] = (int)i;
    if (place[0] < 0 || (place[2] < 0 && place[3] < 0 && place[4] < 0))
        return rmcp_fail(
            RMCP_E_ARG, "%.200s: no table with the columns case and ours_us, cudnn_us or us", file);
    *whose = place[3] >= 0 ? "PyTorch with cuDNN" : "other times";
    rmcp_status status = RMCP_OK;
    for (size_t rows = 0; *text && !status; rows++) {
        if (rows == MOST_ROWS)
            return rmcp_fail(RMCP_E_ARG, "%.200s: more than %d rows", file, MOST_ROWS);
        const char *found[5] = { "", "", "", "", "" };
        n = cut(&text, fields);
        for (size_t k = 0; k < 5; k++)
            if (place[k] >= 0 && (size_t)place[k] < n) found[k] = fields[place[k]];
        if (!*found[0]) continue;
        const double ours = seconds_of(*found[2] ? found[2] : found[4], 1e-6);
        status = take(context, found[0], found[1], ours, seconds_of(found[3], 1e-6));
    }
    return status;
}

static const char *text_in(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static double number_in(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) && item->valuedouble > 0 && isfinite(item->valuedouble)
               ? item->valuedouble
               : 0;
}

static rmcp_status take_list(const cJSON *list, bench_taker *take, void *context)
{
    const cJSON *row;
    rmcp_status status = RMCP_OK;
    cJSON_ArrayForEach(row, list)
    {
        const double best = number_in(row, "seconds_best"); /* rmcp bench; else compare_cpu.py */
        if (*text_in(row, "case") && !status)
            status = take(context, text_in(row, "case"), text_in(row, "algorithm"),
                          best > 0 ? best : number_in(row, "our_seconds"),
                          number_in(row, "pytorch_seconds"));
    }
    return status;
}

static rmcp_status read_json(const char *file, const char *text, bench_taker *take, void *context,
                             const char **whose)
{
    cJSON *whole = cJSON_Parse(text);
    const cJSON *results = cJSON_GetObjectItemCaseSensitive(whole, "results"), *table;
    const cJSON *tables = cJSON_GetObjectItemCaseSensitive(whole, "tables");
    rmcp_status status = RMCP_OK;
    if (!cJSON_IsArray(results) && !cJSON_IsArray(tables))
        status = rmcp_fail(
            RMCP_E_ARG, "%.200s: neither of rmcp bench --json nor of compare_cpu.py --json", file);
    *whose = cJSON_IsArray(tables) ? "PyTorch on the CPU" : "another run of rmcp bench";
    if (!status) status = take_list(results, take, context);
    cJSON_ArrayForEach(table, tables)
    {
        if (!status)
            status = take_list(cJSON_GetObjectItemCaseSensitive(table, "layers"), take, context);
    }
    cJSON_Delete(whole);
    return status;
}

rmcp_status bench_read(const char *file, bench_taker *take, void *context, const char **whose)
{
    char *text;
    rmcp_status status = read_file(file, &text);
    if (status) return status;
    status = text[strspn(text, " \t\r\n")] == '{' ? read_json(file, text, take, context, whose)
                                                  : read_csv(file, text, take, context, whose);
    free(text);
    return status;
}

/* ---- what becomes of them ---- */

/* The case of a text that leaves nothing open; false: it is none. */
static bool parse(const char *text, struct cli_case *one)
{
    struct rmcp_any_problem problems[RMCP_MOST_PASSES];
    size_t n = 0;
    *one = (struct cli_case){ .count = 1 };
    if (rmcp_case_parse(text, &one->operation, problems, &n) || n != 1) return false;
    one->problem = problems[0];
    return true;
}

struct matching {
    struct bench_page *page;
    size_t n;
};

static rmcp_status match(void *context, const char *text, const char *algorithm, double ours,
                         double theirs)
{
    struct matching *m = context;
    struct cli_case one;
    char canonical[RMCP_CASE_MAX];
    (void)algorithm;
    if (!parse(text, &one) ||
        rmcp_case_print(one.operation, one.problem.bytes, canonical, sizeof canonical))
        return RMCP_OK; /* of another release, perhaps */
    for (size_t i = 0; i < m->page->n; i++) {
        struct bench_row *row = &m->page->rows[i];
        if (strcmp(row->text, canonical) || !(theirs > 0 || ours > 0)) continue;
        if (!(row->theirs > 0)) m->n++;
        row->theirs = theirs > 0 ? theirs : ours;
    }
    return RMCP_OK;
}

rmcp_status bench_read_theirs(struct bench_page *page, const char *file)
{
    struct matching matching = { page, 0 };
    const char *whose = "";
    rmcp_status status = bench_read(file, match, &matching, &whose);
    if (!status && !matching.n)
        status = rmcp_fail(RMCP_E_ARG, "%.200s has none of these cases", file);
    const char *slash = strrchr(file, '/');
    snprintf(page->against, sizeof page->against, "%s (%.100s)", whose, slash ? slash + 1 : file);
    return status;
}

static rmcp_status add(void *context, const char *text, const char *algorithm, double ours,
                       double theirs)
{
    struct cli_case one;
    if (!(ours > 0) || !parse(text, &one)) return RMCP_OK;
    return bench_add(context, &one, algorithm, ours, theirs);
}

rmcp_status bench_read_rows(struct bench_page *page, const char *file)
{
    const char *whose = "";
    rmcp_status status = bench_read(file, add, page, &whose);
    if (!status && !page->n)
        status = rmcp_fail(RMCP_E_ARG, "%.200s has no case with a time of ours", file);
    for (size_t i = 0; i < page->n; i++)
        if (page->rows[i].theirs > 0) snprintf(page->against, sizeof page->against, "%s", whose);
    return status;
}
