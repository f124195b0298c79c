/* cases.c: lists of cases: from the command line, the suites and the networks kept in data/. */
#include "command/cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "data_files.inc" /* static const struct { file, text } sources[] */

static const char *data_file(const char *name)
{
    for (size_t i = 0; sources[i].file; i++)
        if (!strcmp(sources[i].file, name)) return sources[i].text;
    return NULL;
}

rmcp_status cli_case_add(struct cli_cases *cases, const struct cli_case *one)
{
    if (cases->n == cases->room) {
        size_t room = cases->room ? 2 * cases->room : 64;
        struct cli_case *grown = realloc(cases->list, room * sizeof *grown);
        if (!grown) return rmcp_fail_memory("list of cases", room * sizeof *grown);
        cases->list = grown;
        cases->room = room;
    }
    cases->list[cases->n++] = *one;
    return RMCP_OK;
}

void cli_cases_deinit(struct cli_cases *cases)
{
    free(cases->list);
    *cases = (struct cli_cases){ 0 };
}

static rmcp_status add_text(struct cli_cases *cases, const char *text)
{
    struct rmcp_any_problem problems[RMCP_MOST_PASSES];
    struct cli_case one = { .count = 1 };
    size_t n = 0;
    rmcp_status status = rmcp_case_parse(text, &one.operation, problems, &n);
    for (size_t i = 0; i < n && !status; i++) {
        one.problem = problems[i];
        status = cli_case_add(cases, &one);
    }
    return status;
}

/* A line that MIOpen has logged stands for one case or more. */
static rmcp_status add_line(struct cli_cases *cases, const char *text)
{
    struct cli_driver_cases found;
    rmcp_status status = cli_driver_line(text, &found);
    for (size_t i = 0; i < found.n && !status; i++) status = add_text(cases, found.text[i]);
    return status;
}

int cli_cases_read(const char *command, struct cli_cases *cases, int n, char **texts)
{
    for (int i = 0; i < n; i++) {
        rmcp_status status =
            cli_is_driver_line(texts[i]) ? add_line(cases, texts[i]) : add_text(cases, texts[i]);
        if (status) return cli_failed(command, status);
    }
    return CLI_OK;
}

/* The next line of `*at` without its end, copied to `line`; false at the end of the text. */
static bool next_line(const char **at, char *line, size_t size)
{
    if (!**at) return false;
    size_t length = strcspn(*at, "\n");
    snprintf(line, size, "%.*s", (int)length, *at);
    *at += length + ((*at)[length] == '\n');
    return true;
}

rmcp_status cli_cases_suite(struct cli_cases *cases, const char *suite)
{
    char name[64], line[RMCP_CASE_MAX];
    snprintf(name, sizeof name, "verify-%s.txt", suite);
    const char *at = data_file(name);
    if (!at)
        return rmcp_fail(RMCP_E_ARG, "no suite '%.40s'; known are quick, full, check and fuzz",
                         suite);
    while (next_line(&at, line, sizeof line)) {
        if (!*line || *line == '#') continue;
        rmcp_status status = add_text(cases, line);
        if (status) return status;
    }
    return RMCP_OK;
}

/* A row of networks.csv: net,layer,C,H,W,K,R,S,pad,stride,groups,count,flops */
static bool read_network_row(const char *line, char net[static 32], rmcp_conv *p,
                             struct cli_case *one)
{
    int64_t pad, stride;
    char layer[32];
    int n = sscanf(line,
                   "%31[^,],%31[^,],%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64
                   ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%u",
                   net, layer, &p->c, &p->input[0], &p->input[1], &p->k, &p->filter[0],
                   &p->filter[1], &pad, &stride, &p->groups, &one->count);
    if (n != 12) return false;
    snprintf(one->label, sizeof one->label, "%s", layer);
    for (int i = 0; i < 2; i++) {
        p->pad_begin[i] = p->pad_end[i] = pad;
        p->stride[i] = stride;
    }
    p->n = 1;
    return true;
}

/* A row of deepbench.csv: set,idx,N,C,H,W,K,R,S,pad_h,pad_w,stride_h,stride_w,… */
static bool read_deepbench_row(const char *line, char set[static 32], rmcp_conv *p,
                               struct cli_case *one)
{
    unsigned index;
    int n = sscanf(line,
                   "%31[^,],%u,%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64
                   ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64,
                   set, &index, &p->n, &p->c, &p->input[0], &p->input[1], &p->k, &p->filter[0],
                   &p->filter[1], &p->pad_begin[0], &p->pad_begin[1], &p->stride[0], &p->stride[1]);
    if (n != 13) return false;
    snprintf(one->label, sizeof one->label, "%.24s %u", set, index);
    p->pad_end[0] = p->pad_begin[0];
    p->pad_end[1] = p->pad_begin[1];
    one->count = 1;
    return true;
}

/* Both tables: which file, how its rows read, and the names that its first column has. */
static const struct {
    const char *file;
    bool (*read)(const char *line, char *name, rmcp_conv *problem, struct cli_case *one);
} tables[] = {
    { "networks.csv", read_network_row },
    { "deepbench.csv", read_deepbench_row },
};

const char *cli_networks(void)
{
    return "resnet50 vgg16 mobilenetv2 deepbench (training inference_server inference_device)";
}

/* "resnet50" stands for "resnet50v1.5" too. */
static bool is_named(const char *name, const char *network)
{
    size_t length = strlen(network);
    return !strncmp(name, network, length) && (!name[length] || name[length] == 'v');
}

/* The passes of a layer, as the wish has it. */
static rmcp_status add_layer(struct cli_cases *cases, const struct cli_network *wish,
                             rmcp_conv *problem, struct cli_case *one)
{
    if (wish->batch) problem->n = wish->batch;
    if (wish->type >= 0) problem->type = (uint32_t)wish->type;
    if (wish->layout >= 0) problem->layout = (uint32_t)wish->layout;
    rmcp_status status = RMCP_OK;
    one->operation = &rmcp_operation_conv;
    for (int pass = 0; pass < RMCP_CONV_PASSES && !status; pass++) {
        if (wish->pass >= 0 && wish->pass != pass) continue;
        status = rmcp_conv_init((struct rmcp_convolution *)one->problem.bytes, problem, pass);
        if (!status) status = cli_case_add(cases, one);
    }
    return status;
}

rmcp_status cli_cases_network(struct cli_cases *cases, const struct cli_network *wish)
{
    const size_t before = cases->n;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        const bool whole = t == 1 && !strcmp(wish->name, "deepbench");
        const char *at = data_file(tables[t].file);
        char line[256], name[32];
        while (at && next_line(&at, line, sizeof line)) {
            struct cli_case one = { .count = 1 };
            rmcp_conv problem = { .struct_size = sizeof problem, .dims = 2 };
            if (!tables[t].read(line, name, &problem, &one)) continue; /* the heading */
            if (!whole && !is_named(name, wish->name)) continue;
            rmcp_status status = add_layer(cases, wish, &problem, &one);
            if (status) return status;
        }
    }
    if (cases->n == before)
        return rmcp_fail(RMCP_E_ARG, "no network '%.40s'; known are %s", wish->name,
                         cli_networks());
    return RMCP_OK;
}
