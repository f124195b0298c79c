/* model_card.c: the modelled time of our kernels on an RDNA1 card, case by case.
 * usage: model_card [OPTION…] FOLDER CARD CASE…
 * FOLDER has the code objects for gfx1010, CARD is one of data/cards. For each case: the chosen
 * algorithm, its modelled time, the card's limit (operations of the direct method or bytes that
 * must move, whichever takes longer), its share.
 *   --mhz N     clock (default: the card's highest)
 *   --sample N  instructions of a launch that are replayed (default: 32 million); others are not
 * executed
 *   --all       every algorithm that takes the case, not only the chosen one
 *   --within X  of these only such that are estimated to take at most X times as long as the best
 *   --estimates nothing is modelled: times are the planner's estimates
 *   --algorithm NAME  only that one
 *   --launches  a line for each launch as well, with what its waves spend their time on
 * Everything printed is modelled. Lines are tab-separated, to be read by bench/model_networks.py.
 */
#include "model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS_MAX = 400 };

struct options {
    bool all, estimates;
    double within;
    const char *algorithm;
};

/* Kernels of a plan and their workgroups: "gemm_f32_64x64_sum_col 16,1,9 + reduce_f32 25,1,1". */
static void name_kernels(const rmcp_plan *plan, char *text, size_t size)
{
    int at = 0;
    *text = '\0';
    for (size_t i = 0; i < plan->list.n_records && at >= 0 && (size_t)at < size; i++) {
        const struct rmcp_kernel_launch *l = &plan->list.records[i].kernel;
        at += snprintf(text + at, size - (size_t)at, "%s%s %u,%u,%u", i ? " + " : "", l->kernel,
                       l->grid[0], l->grid[1], l->grid[2]);
    }
}

/* `seconds` stays as it is when only estimates are asked for. */
static rmcp_status model(struct model_session *s, bool estimates,
                         const struct rmcp_operation *operation, const void *problem,
                         const char *algorithm, double *seconds, char kernels[static KERNELS_MAX])
{
    rmcp_plan *plan = NULL;
    const rmcp_plan_options options = { .struct_size = sizeof options, .algorithm = algorithm };
    rmcp_status status = rmcp_plan_make(s->device, operation, problem, &options, &plan);
    if (!status) name_kernels(plan, kernels, KERNELS_MAX);
    if (!status && !estimates) status = model_execute(s, operation, problem, plan, seconds);
    rmcp_plan_destroy(plan);
    return status;
}

static bool model_case(struct model_session *s, const struct options *o,
                       const struct rmcp_operation *operation, const void *problem)
{
    char text[RMCP_CASE_MAX] = "";
    rmcp_candidate list[RMCP_MOST_ALGOS] = { { .struct_size = sizeof list[0] } };
    size_t n = RMCP_MOST_ALGOS;
    const double by_flops = operation->flops(problem) / s->device->caps.flops_per_second,
                 by_bytes = operation->bytes(problem) / s->device->caps.bytes_per_second;
    const double limit = by_flops > by_bytes ? by_flops : by_bytes;
    bool right = true;
    rmcp_status status = rmcp_case_print(operation, problem, text, sizeof text);
    if (!status) status = rmcp_plan_ask(s->device, operation, problem, NULL, list, &n);
    double best = HUGE_VAL;
    for (size_t i = 0; i < n && !status; i++)
        if (!*list[i].refusal) best = fmin(best, list[i].estimated_seconds);
    for (size_t i = 0; i < n && !status; i++) {
        double seconds = list[i].estimated_seconds;
        char kernels[KERNELS_MAX];
        if (*list[i].refusal) continue;
        if (o->algorithm
                ? strcmp(list[i].algorithm, o->algorithm) != 0
                : !list[i].chosen && (!o->all || list[i].estimated_seconds > o->within * best))
            continue;
        const rmcp_status one =
            model(s, o->estimates, operation, problem, list[i].algorithm, &seconds, kernels);
        if (one) {
            fprintf(stderr, "%s %s: %s\n", text, list[i].algorithm, rmcp_last_error());
            right = false;
            continue;
        }
        printf("case\t%s\t%s%s\t%.3f us\tlimit %.3f us (%s)\tshare %.3f\testimated %.3f us\tfma "
               "%.3f\tdram %.3f\t"
               "spread %.3f\t%s\t%s\n",
               text, list[i].algorithm, list[i].chosen ? "*" : "", 1e6 * seconds, 1e6 * limit,
               by_flops > by_bytes ? "fma" : "dram", limit / seconds,
               1e6 * list[i].estimated_seconds, s->fma, s->dram, s->spread, s->worst, kernels);
        fflush(stdout);
    }
    if (status) fprintf(stderr, "%s: %s\n", text, rmcp_last_error());
    return right && !status;
}

static bool model_text(struct model_session *s, const struct options *o, const char *text)
{
    const struct rmcp_operation *operation = NULL;
    static struct rmcp_any_problem problems[RMCP_MOST_PASSES];
    size_t n = 0;
    bool right = true;
    if (rmcp_case_parse(text, &operation, problems, &n)) {
        fprintf(stderr, "%s: %s\n", text, rmcp_last_error());
        return false;
    }
    for (size_t i = 0; i < n; i++) right &= model_case(s, o, operation, &problems[i]);
    return right;
}

static int usage(void)
{
    fputs("usage: model_card [--mhz N] [--sample N] [--all [--within X] | --algorithm NAME] "
          "[--estimates] "
          "[--launches] FOLDER CARD CASE…\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    static struct model_session s;
    struct options o = { .within = HUGE_VAL };
    double mhz = 0;
    uint64_t sample = 0;
    int at = 1;
    for (; at < argc && !strncmp(argv[at], "--", 2); at++) {
        const char *name = argv[at] + 2;
        if (!strcmp(name, "all"))
            o.all = true;
        else if (!strcmp(name, "estimates"))
            o.estimates = true;
        else if (!strcmp(name, "within") && at + 1 < argc)
            o.within = atof(argv[++at]);
        else if (!strcmp(name, "launches"))
            s.launches = true;
        else if (!strcmp(name, "mhz") && at + 1 < argc)
            mhz = atof(argv[++at]);
        else if (!strcmp(name, "sample") && at + 1 < argc)
            sample = strtoull(argv[++at], NULL, 10);
        else if (!strcmp(name, "algorithm") && at + 1 < argc)
            o.algorithm = argv[++at];
        else
            return usage();
    }
    if (argc - at < 3) return usage();
    bool right = model_open(&s, argv[at], argv[at + 1], mhz, sample);
    for (at += 2; at < argc && s.device; at++) right &= model_text(&s, &o, argv[at]);
    model_close(&s);
    return right ? 0 : 1;
}
