/* model_ways.c: the modelled time of every tile and split that computes a convolution as a matrix
 * product, or with --winograd every split of F(2x2, 3x3), beside its estimate: what convolution's
 * figures in src/engine/figures/rdna.inc are fitted to.
 * usage: model_ways [--winograd] [--mhz N] [--sample N] [--within X] FOLDER CARD CASE…
 * FOLDER and CARD as for model_card; ways that are estimated to take more than X times as long as
 * the best (default: 2) are left out. Everything printed is modelled; lines are tab-separated. */
#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/gpu/gemm_cost.h"
#include "engine/ops/conv/gpu/shape.h"
#include "engine/ops/conv/gpu/winograd.h"
#include "model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The way that the algorithm below is made of: of the two the one that was set last. */
static struct rmcp_gemm_way product;
static struct rmcp_winograd_way winograd;
static bool is_winograd;

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    return is_winograd ? rmcp_winograd_emit(request, &winograd, list)
                       : rmcp_gemm_emit(request, &product, list);
}

static const struct rmcp_algo one_way = { .name = "way", .kind = RMCP_LAUNCH_KERNEL, .emit = emit };

static rmcp_status try_way(struct model_session *s, const struct rmcp_request *request,
                           const char *text)
{
    const struct rmcp_choice choice = {
        .algo = &one_way,
        .way.workspace_bytes = is_winograd ? rmcp_winograd_workspace(request->problem, &winograd)
                                           : rmcp_gemm_workspace(request->problem, &product)
    };
    rmcp_plan *plan = NULL;
    double seconds = 0;
    rmcp_status status = rmcp_plan_build_unguarded(s->device, request, &choice, &plan);
    if (!status) status = model_execute(s, request->operation, request->problem, plan, &seconds);
    if (!status)
        printf(
            "way\t%s\t%s\tsplits %d\t%.3f us\testimated %.3f us\tlongest %.3f us\tfma %.3f\t%s\n",
            text,
            !is_winograd     ? product.tile->name
            : winograd.fused ? "winograd_fused"
                             : "winograd",
            (int)(is_winograd ? winograd.splits : product.splits), 1e6 * seconds,
            1e6 * (is_winograd ? winograd.seconds : product.seconds), 1e6 * s->seconds, s->fma,
            s->worst);
    fflush(stdout);
    rmcp_plan_destroy(plan);
    return status;
}

static rmcp_status try_products(struct model_session *s, const struct rmcp_request *request,
                                const char *text, double within)
{
    struct rmcp_gemm_products products;
    struct rmcp_gemm_way ways[2 * RMCP_GEMM_MOST_WAYS];
    double best = HUGE_VAL;
    rmcp_status status = RMCP_OK;
    rmcp_gemm_products_of(request->problem, RMCP_FORM_PHASES, &products);
    size_t n = rmcp_gemm_list(request, &products, false, ways);
    if (products.longest >= 32) n += rmcp_gemm_list(request, &products, true, ways + n);
    for (size_t i = 0; i < n; i++) best = fmin(best, ways[i].seconds);
    for (size_t i = 0; i < n && !status; i++) {
        product = ways[i];
        if (product.seconds <= within * best) status = try_way(s, request, text);
    }
    return status;
}

static rmcp_status try_winograd(struct model_session *s, const struct rmcp_request *request,
                                const char *text, double within)
{
    rmcp_status status = RMCP_OK;
    for (int fused = 0; fused < 2 && !status; fused++) {
        struct rmcp_way best = { .refusal = NULL };
        status = rmcp_winograd_consider(request, fused, &best);
        if (status || best.refusal) continue;
        for (int64_t splits = 1; splits <= RMCP_WINOGRAD_MOST_SPLITS && !status; splits++)
            if (rmcp_winograd_way_of(request, fused, splits, &winograd) &&
                winograd.seconds <= within * best.seconds)
                status = try_way(s, request, text);
    }
    return status;
}

static rmcp_status try_problem(struct model_session *s, const struct rmcp_operation *operation,
                               const void *problem, double within)
{
    char text[RMCP_CASE_MAX] = "";
    const struct rmcp_request request = { .operation = operation,
                                          .problem = problem,
                                          .caps = &s->device->caps };
    if (operation != &rmcp_operation_conv || rmcp_gemm_refuse(problem)) return RMCP_OK;
    rmcp_status status = rmcp_case_print(operation, problem, text, sizeof text);
    if (status) return status;
    return is_winograd ? try_winograd(s, &request, text, within)
                       : try_products(s, &request, text, within);
}

static rmcp_status try_text(struct model_session *s, const char *text, double within)
{
    const struct rmcp_operation *operation = NULL;
    static struct rmcp_any_problem problems[RMCP_MOST_PASSES];
    size_t n = 0;
    rmcp_status status = rmcp_case_parse(text, &operation, problems, &n);
    for (size_t i = 0; i < n && !status; i++)
        status = try_problem(s, operation, &problems[i], within);
    if (status) fprintf(stderr, "%s: %s\n", text, rmcp_last_error());
    return status;
}

int main(int argc, char **argv)
{
    static struct model_session s;
    double mhz = 0, within = 2;
    uint64_t sample = 0;
    int at = 1;
    if (argc > 1 && !strcmp(argv[1], "--winograd")) is_winograd = ++at > 1;
    for (; at + 1 < argc && !strncmp(argv[at], "--", 2); at += 2) {
        const char *name = argv[at] + 2;
        if (!strcmp(name, "mhz"))
            mhz = atof(argv[at + 1]);
        else if (!strcmp(name, "within"))
            within = atof(argv[at + 1]);
        else if (!strcmp(name, "sample"))
            sample = strtoull(argv[at + 1], NULL, 10);
        else
            break;
    }
    if (argc - at < 3 || !strncmp(argv[at], "--", 2)) {
        fputs("usage: model_ways [--winograd] [--mhz N] [--sample N] [--within X] FOLDER CARD "
              "CASE…\n",
              stderr);
        return 2;
    }
    bool right = model_open(&s, argv[at], argv[at + 1], mhz, sample);
    for (at += 2; at < argc && s.device; at++) right &= !try_text(&s, argv[at], within);
    model_close(&s);
    return right ? 0 : 1;
}
