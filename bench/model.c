/* model.c: a device of the engine whose times are modelled for a card. */
#include "model.h"

#include <stdio.h>

/* What waves spend their time on, as shares of it. */
static void print_reasons(const double clocks[static TIMING_N_REASONS])
{
    double all = 0;
    for (unsigned i = 0; i < TIMING_N_REASONS; i++) all += clocks[i];
    for (unsigned i = 0; i < TIMING_N_REASONS && all > 0; i++)
        if (clocks[i] >= 0.02 * all)
            printf("\t%s %.0f %%", timing_reason_name((enum timing_reason)i),
                   100 * clocks[i] / all);
    putchar('\n');
}

/* Keeps what the longest launch says. */
static void on_launch(void *context, const char *kernel, const struct timing_result *r)
{
    struct model_session *s = context;
    unsigned most = TIMING_ISSUE + 1;
    for (unsigned i = most; i < TIMING_N_REASONS; i++)
        if (r->counts.wave_clocks[i] > r->counts.wave_clocks[most]) most = i;
    if (s->launches) {
        printf("launch\t%s\t%.3f us\tfma %.3f\tlds %.3f\tl0 %.3f\tl2 %.3f\tdram %.3f\twaves "
               "%.1f\ttail %.3f\t"
               "spread %.3f\twgps %u",
               kernel, 1e6 * r->seconds, r->peak_fma, r->peak_lds, r->peak_l0, r->peak_l2,
               r->peak_dram, r->waves_per_simd,
               r->counts.clocks > 0 ? r->counts.tail / r->counts.clocks : 0, r->spread, r->wgps);
        print_reasons(r->counts.wave_clocks);
    }
    if (r->seconds < s->seconds) return;
    s->seconds = r->seconds;
    s->spread = r->spread;
    s->fma = r->peak_fma;
    s->dram = r->peak_dram;
    snprintf(s->worst, sizeof s->worst, "%s", timing_reason_name((enum timing_reason)most));
}

bool model_open(struct model_session *s, const char *folder, const char *name, double mhz,
                uint64_t sample)
{
    struct sim_machine machine;
    char error[SIM_ERROR_MAX];
    const char *text = sim_card_builtin(name);
    if (!text || !sim_machine_parse(text, sim_card_builtin, &machine, error) ||
        !timing_card_of(&machine.cards[0], mhz, &s->card, error)) {
        fprintf(stderr, "%s: %s\n", name, text ? error : "no such card");
        return false;
    }
    timing_sampler_init(&s->sampler, &s->recorder, &s->card, sample, true);
    const struct sim_device_options options = {
        .folder = folder,
        .sim = { .chip = ISA_GFX1010, .recorder = &s->recorder, .threads = 1 },
        .sampler = &s->sampler,
        .modelled = on_launch,
        .modelled_context = s,
    };
    if (!sim_device_open(&options, &s->device)) return true;
    fprintf(stderr, "%s\n", rmcp_last_error());
    return false;
}

void model_close(struct model_session *s)
{
    if (s->device) rmcp_device_close(s->device);
    sim_recorder_clear(&s->recorder);
}

/* Memory for every slot of a plan; nobody looks at what is in it. */
static rmcp_status allocate(struct model_session *s, const struct rmcp_operation *operation,
                            const void *problem, uint64_t workspace,
                            rmcp_memory memory[static RMCP_MOST_SLOTS])
{
    uint64_t bytes[RMCP_MOST_SLOTS] = { 0 };
    rmcp_status status = RMCP_OK;
    rmcp_slot_bytes(operation, problem, workspace, bytes);
    for (unsigned i = 0; i < RMCP_MOST_SLOTS && !status; i++)
        if (bytes[i]) status = s->device->driver->allocate(s->device, bytes[i], &memory[i].base);
    return status;
}

rmcp_status model_execute(struct model_session *s, const struct rmcp_operation *operation,
                          const void *problem, const rmcp_plan *plan, double *seconds)
{
    rmcp_memory memory[RMCP_MOST_SLOTS] = { { 0 } };
    rmcp_status status = allocate(s, operation, problem, plan->workspace_bytes, memory);
    s->seconds = 0;
    if (!status)
        status =
            rmcp_plan_execute_unchecked(plan, NULL, memory, NULL, plan->workspace_bytes, seconds);
    for (unsigned i = 0; i < RMCP_MOST_SLOTS; i++)
        if (memory[i].base) s->device->driver->release(s->device, memory[i].base);
    return status;
}
