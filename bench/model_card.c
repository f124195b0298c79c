/* model_card.c: the modelled time of our kernels on an RDNA1 card, case by case.
 * usage: model_card [OPTION…] FOLDER CARD CASE…
 * FOLDER has the code objects for gfx1010, CARD is one of data/cards. For each case: the chosen
 * algorithm, its modelled time, the card's limit (operations of the direct method or bytes that
 * must move, whichever takes longer), its share.
 *   --mhz N     clock (default: the card's highest)
 *   --sample N  instructions of a launch that are replayed (default: 32 million); others are not
 * executed
 *   --all       every algorithm that takes the case, not only the chosen one
 *   --algorithm NAME  only that one
 *   --launches  a line for each launch as well
 * Everything printed is modelled. Lines are tab-separated, to be read by bench/model_networks.py.
 */
#include "core/judge.h"
#include "core/plan.h"
#include "sim/device/device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct model_session {
    rmcp_device *device;
    struct timing_card card;
    bool all, launches;
    const char *algorithm;
    /* of the last execution */
    double spread, fma, dram, seconds;
    char worst[32];
};

/* Keeps what the longest launch says. */
static void on_launch(void *context, const char *kernel, const struct timing_result *r)
{
    struct model_session *s = context;
    unsigned most = TIMING_ISSUE + 1;
    for (unsigned i = most; i < TIMING_N_REASONS; i++)
        if (r->counts.wave_clocks[i] > r->counts.wave_clocks[most]) most = i;
    if (s->launches)
        printf("launch\t%s\t%.3f us\tfma %.3f\tlds %.3f\tl0 %.3f\tl2 %.3f\tdram %.3f\twaves "
               "%.1f\ttail %.3f\t%s\t"
               "spread %.3f\twgps %u\n",
               kernel, 1e6 * r->seconds, r->peak_fma, r->peak_lds, r->peak_l0, r->peak_l2,
               r->peak_dram, r->waves_per_simd,
               r->counts.clocks > 0 ? r->counts.tail / r->counts.clocks : 0,
               timing_reason_name((enum timing_reason)most), r->spread, r->wgps);
    if (r->seconds < s->seconds) return;
    s->seconds = r->seconds;
    s->spread = r->spread;
    s->fma = r->peak_fma;
    s->dram = r->peak_dram;
    snprintf(s->worst, sizeof s->worst, "%s", timing_reason_name((enum timing_reason)most));
}

/* Memory for every slot of a plan, with numbers in it. */
static rmcp_status allocate(struct model_session *s, const struct rmcp_operation *operation,
                            const void *problem, uint64_t workspace,
                            rmcp_memory memory[static RMCP_MOST_SLOTS])
{
    static float pattern[RMCP_PATTERN_BYTES / sizeof(float)];
    uint64_t bytes[RMCP_MOST_SLOTS] = { 0 };
    for (size_t i = 0; i < sizeof pattern / sizeof *pattern; i++) pattern[i] = (float)(i % 7) - 3;
    rmcp_slot_bytes(operation, problem, workspace, bytes);
    for (unsigned i = 0; i < RMCP_MOST_SLOTS; i++) {
        if (!bytes[i]) continue;
        const rmcp_status status = rmcp_buffer_filled(s->device, bytes[i], pattern, &memory[i]);
        if (status) return status;
    }
    return RMCP_OK;
}

static rmcp_status model(struct model_session *s, const struct rmcp_operation *operation,
                         const void *problem, const char *algorithm, double *seconds)
{
    rmcp_plan *plan = NULL;
    rmcp_memory memory[RMCP_MOST_SLOTS] = { { 0 } };
    const rmcp_plan_options options = { .struct_size = sizeof options, .algorithm = algorithm };
    rmcp_status status = rmcp_plan_make(s->device, operation, problem, &options, &plan);
    if (!status) status = allocate(s, operation, problem, plan->workspace_bytes, memory);
    s->seconds = 0;
    if (!status)
        status = rmcp_plan_execute_unchecked(plan, NULL, memory, plan->workspace_bytes, seconds);
    for (unsigned i = 0; i < RMCP_MOST_SLOTS; i++)
        if (memory[i].base) s->device->driver->release(s->device, memory[i].base);
    rmcp_plan_destroy(plan);
    return status;
}

static bool model_case(struct model_session *s, const struct rmcp_operation *operation,
                       const void *problem)
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
    for (size_t i = 0; i < n && !status; i++) {
        double seconds = 0;
        if (*list[i].refusal) continue;
        if (s->algorithm ? strcmp(list[i].algorithm, s->algorithm) != 0
                         : !s->all && !list[i].chosen)
            continue;
        const rmcp_status one = model(s, operation, problem, list[i].algorithm, &seconds);
        if (one) {
            fprintf(stderr, "%s %s: %s\n", text, list[i].algorithm, rmcp_last_error());
            right = false;
            continue;
        }
        printf("case\t%s\t%s%s\t%.3f us\tlimit %.3f us (%s)\tshare %.3f\testimated %.3f us\tfma "
               "%.3f\tdram %.3f\t"
               "spread %.3f\t%s\n",
               text, list[i].algorithm, list[i].chosen ? "*" : "", 1e6 * seconds, 1e6 * limit,
               by_flops > by_bytes ? "fma" : "dram", limit / seconds,
               1e6 * list[i].estimated_seconds, s->fma, s->dram, s->spread, s->worst);
        fflush(stdout);
    }
    if (status) fprintf(stderr, "%s: %s\n", text, rmcp_last_error());
    return right && !status;
}

static bool model_text(struct model_session *s, const char *text)
{
    const struct rmcp_operation *operation = NULL;
    static struct rmcp_any_problem problems[RMCP_MOST_PASSES];
    size_t n = 0;
    bool right = true;
    if (rmcp_case_parse(text, &operation, problems, &n)) {
        fprintf(stderr, "%s: %s\n", text, rmcp_last_error());
        return false;
    }
    for (size_t i = 0; i < n; i++) right &= model_case(s, operation, &problems[i]);
    return right;
}

static int usage(void)
{
    fputs("usage: model_card [--mhz N] [--sample N] [--all | --algorithm NAME] [--launches] FOLDER "
          "CARD CASE…\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    struct model_session s = { .algorithm = NULL };
    struct sim_machine machine;
    struct sim_recorder recorder = { .choose = NULL };
    struct timing_sampler sampler;
    char error[SIM_ERROR_MAX];
    double mhz = 0;
    uint64_t sample = 32000000;
    int at = 1;
    for (; at < argc && !strncmp(argv[at], "--", 2); at++) {
        const char *name = argv[at] + 2;
        if (!strcmp(name, "all"))
            s.all = true;
        else if (!strcmp(name, "launches"))
            s.launches = true;
        else if (!strcmp(name, "mhz") && at + 1 < argc)
            mhz = atof(argv[++at]);
        else if (!strcmp(name, "sample") && at + 1 < argc)
            sample = strtoull(argv[++at], NULL, 10);
        else if (!strcmp(name, "algorithm") && at + 1 < argc)
            s.algorithm = argv[++at];
        else
            return usage();
    }
    if (argc - at < 3) return usage();
    const char *text = sim_card_builtin(argv[at + 1]);
    if (!text || !sim_machine_parse(text, sim_card_builtin, &machine, error) ||
        !timing_card_of(&machine.cards[0], mhz, &s.card, error)) {
        fprintf(stderr, "model_card: %s: %s\n", argv[at + 1], text ? error : "no such card");
        return 2;
    }
    timing_sampler_init(&sampler, &recorder, &s.card, sample, true);
    const struct sim_device_options options = {
        .folder = argv[at],
        .sim = { .chip = ISA_GFX1010, .recorder = &recorder, .threads = 1 },
        .sampler = &sampler,
        .modelled = on_launch,
        .modelled_context = &s,
    };
    if (sim_device_open(&options, &s.device)) {
        fprintf(stderr, "model_card: %s\n", rmcp_last_error());
        return 1;
    }
    bool right = true;
    for (at += 2; at < argc; at++) right &= model_text(&s, argv[at]);
    rmcp_device_close(s.device);
    sim_recorder_clear(&recorder);
    return right ? 0 : 1;
}
