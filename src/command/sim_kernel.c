/* sim_kernel.c: rmcp sim --kernel: one kernel by the direct runner. */
#include "base/clock.h"
#include "command/sim.h"
#include "command/sim_timing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What the callbacks of the executor need. */
struct sim_session {
    const struct sim_cli *cli;
    struct sim_runner *runner;
    cJSON *reports;
    uint64_t n_shown, n_hidden;
    uint32_t act_out;
    struct timing_card card;
    struct sim_recorder recorder;
    struct timing_sampler sampler;
    struct timing_result modelled;
};

/* "fib+0x14" for code of a function that the kernel called, "" in the kernel itself. */
static const char *function_of(struct sim_runner *runner, const struct sim_report *report,
                               char text[static 128])
{
    const struct codeobj *object = sim_runner_object(runner);
    const struct codeobj_kernel *kernel = sim_runner_kernel(runner, report->kernel);
    const struct codeobj_function *own = kernel ? kernel->function : NULL;
    *text = 0;
    for (size_t i = 0; i < object->n_functions && own; i++) {
        const struct codeobj_function *f = &object->functions[i];
        const uint64_t at = own->address + report->offset - f->address;
        if (f != own && at < f->size && *f->name)
            snprintf(text, 128, "%.100s+0x%" PRIx64, f->name, at);
    }
    return text;
}

static void on_report(void *context, const struct sim_report *report)
{
    struct sim_session *s = context;
    char line[256], function[128];
    /* What ended the run is shown, however much came before it. */
    if (s->n_shown >= s->cli->most_reports && report->kind >= SIM_N_FATAL) {
        s->n_hidden++;
        return;
    }
    s->n_shown++;
    sim_runner_line(s->runner, report->address, line);
    function_of(s->runner, report, function);
    if (s->reports)
        cJSON_AddItemToArray(s->reports, sim_report_json(report, line, function));
    else
        sim_print_report(report, line, function);
}

static void on_trace(void *context, const struct sim_trace *t)
{
    const struct sim_session *s = context;
    char text[256];
    isa_print(t->inst, text, sizeof text);
    FILE *to = s->cli->json ? stderr : stdout; /* JSON has stdout for itself */
    fprintf(to, "%u,%u,%u.%u %08" PRIx64 " exec %" PRIx64 " vcc %" PRIx64 " scc %d  %s\n",
            t->workgroup[0], t->workgroup[1], t->workgroup[2], t->wave, t->address, t->exec, t->vcc,
            t->scc, text);
}

/* The modelled time of what ran. Returns 0 or an exit status. */
static int model(struct sim_session *s, const char *kernel)
{
    const struct sim_cli *cli = s->cli;
    struct timing_picture *picture = cli->picture ? timing_picture_create() : NULL;
    const rmcp_status modelled = timing_estimate(&s->sampler, cli->ranges, picture, &s->modelled);
    int status = modelled ? cli_failed("sim", modelled) : CLI_OK;
    if (!status && picture) status = sim_timing_draw(picture, cli->picture, kernel, cli->card);
    timing_picture_destroy(picture);
    return status;
}

static int finish(struct sim_session *s, const struct sim_result *result, double seconds)
{
    const struct sim_cli *cli = s->cli;
    int exit_status = result->completed && !result->n_reports ? CLI_OK : CLI_FINDINGS;
    if (cli->json) {
        cJSON *o = sim_result_json(result, seconds);
        cJSON_AddStringToObject(o, "chip", isa_chip_names[cli->chip]);
        cJSON_AddItemToObject(o, "reports", s->reports);
        if (cli->timing && result->completed)
            cJSON_AddItemToObject(o, "timing", sim_timing_json(&s->modelled, &s->card, cli->card));
        s->reports = NULL;
        int printed = cli_print_json(o, "rmcp.sim/1");
        return printed ? printed : exit_status;
    }
    if (s->n_hidden) printf("and %" PRIu64 " more reports\n", s->n_hidden);
    if (cli->stats) sim_print_stats(&result->stats, seconds);
    if (cli->timing && result->completed)
        sim_timing_print(&s->modelled, &s->card, cli->card, stdout);
    for (unsigned i = 0; i < ISA_N_RULES; i++)
        if (result->patterns[i])
            printf("pattern %s executed %" PRIu64 " times\n", isa_rule_table[i].id,
                   result->patterns[i]);
    sim_print_acted_out(stdout, "", s->act_out, result->acted_out);
    printf("%s, %" PRIu64 " reports (simulated %s)\n",
           result->completed ? "completed" : sim_kind_name(result->fatal), result->n_reports,
           isa_chip_names[cli->chip]);
    return exit_status;
}

static int run(struct sim_session *s, const char *name, int n_arguments, char **texts)
{
    static unsigned char segment[65536];
    const struct sim_cli *cli = s->cli;
    const struct codeobj_kernel *kernel = sim_runner_kernel(s->runner, name);
    struct sim_launch launch = { .arguments = segment, .dynamic_lds = (uint32_t)cli->lds };
    struct sim_result result;
    unsigned wave = kernel->descriptor.properties & CODEOBJ_PROPERTY_WAVE32 ? 32 : 64;
    if (cli->wave && cli->wave != wave)
        return cli_complain("sim", "%.100s has waves of %u, not %" PRIu64, name, wave, cli->wave);
    if (!sim_read_size(cli->grid, launch.grid))
        return cli_complain("sim", "--grid is '%.40s'; write X, X,Y or X,Y,Z, each at least 1",
                            cli->grid);
    memcpy(launch.block, kernel->metadata.required_workgroup_size, sizeof launch.block);
    if (cli->block && !sim_read_size(cli->block, launch.block))
        return cli_complain("sim", "--block is '%.40s'; write X, X,Y or X,Y,Z, each at least 1",
                            cli->block);
    struct sim_argument *arguments = calloc((size_t)n_arguments + 1, sizeof *arguments);
    if (!arguments) return CLI_INTERNAL;
    int status = CLI_OK;
    for (int i = 0; i < n_arguments && !status; i++)
        status = sim_argument_read(s->runner, texts[i], &arguments[i]);
    if (!status)
        status =
            sim_arguments_place(kernel, arguments, n_arguments, segment, sizeof segment, &launch);
    if (!status) status = sim_arguments_try(arguments, n_arguments);
    if (!status) {
        double start = rmcp_clock();
        rmcp_status ran = sim_runner_run(s->runner, name, &launch, &result);
        const double seconds = rmcp_clock() - start;
        status = ran ? cli_failed("sim", ran) : CLI_OK;
        if (!status && cli->timing && result.completed) status = model(s, name);
        if (!status) status = finish(s, &result, seconds);
        for (int i = 0; i < n_arguments && !ran; i++) {
            int saved = sim_argument_save(&arguments[i]);
            if (saved) status = saved;
        }
    }
    free(arguments);
    return status;
}

int sim_kernel(const struct sim_cli *cli, int n_words, char **words)
{
    struct sim_session s = { .cli = cli };
    struct sim_options options = { .chip = (enum isa_chip)cli->chip,
                                   .threads = cli->trace ? 1 : (unsigned)cli->threads,
                                   .max_instructions = cli->limit,
                                   .report = on_report,
                                   .trace = cli->trace ? on_trace : NULL,
                                   .context = &s };
    unsigned char *bytes;
    size_t n = 0;
    if (!sim_read_checks(cli->checks, &options.checks))
        return cli_complain("sim", "--checks is '%.60s'; rmcp sim --help lists them", cli->checks);
    int status = sim_read_act_out(cli->act_out, &options);
    if (status) return status;
    s.act_out = options.act_out;
    if (cli->timing) {
        status = sim_timing_card(cli->card, cli->mhz, &s.card);
        if (status) return status;
        timing_sampler_init(&s.sampler, &s.recorder, &s.card, cli->sample, cli->sample_only);
        options.recorder = &s.recorder;
    }
    status = sim_object_read(cli->kernel, words[0], cli->chip, &bytes, &n);
    if (status) return status;
    rmcp_status made = sim_runner_create(bytes, n, &options, &s.runner);
    free(bytes);
    if (made) return cli_complain("sim", "%.300s: %s", cli->kernel, rmcp_last_error());
    if (cli->json) s.reports = cJSON_CreateArray();
    status = run(&s, words[0], n_words - 1, words + 1);
    cJSON_Delete(s.reports);
    sim_runner_destroy(s.runner);
    sim_recorder_clear(&s.recorder);
    return status;
}
