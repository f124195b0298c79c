/* sim_timing.c: shows the modelled time of a kernel: a table of stalls, JSON, a picture. */
#include "command/sim_timing.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

int sim_timing_card(const char *name, uint64_t mhz, struct timing_card *out)
{
    char error[SIM_ERROR_MAX];
    struct sim_machine machine;
    const char *text = sim_card_builtin(name);
    if (!text)
        return cli_complain("sim", "there is no card '%.60s'; known are %s", name,
                            sim_card_builtin_names());
    if (mhz > 10000) return cli_complain("sim", "--mhz is %" PRIu64 "; at most 10000", mhz);
    if (!sim_machine_parse(text, sim_card_builtin, &machine, error) ||
        !timing_card_of(&machine.cards[0], (double)mhz, out, error))
        return cli_complain("sim", "%s", error);
    return CLI_OK;
}

static double total(const struct timing_counts *c)
{
    double sum = 0;
    for (unsigned i = 0; i < TIMING_N_REASONS; i++) sum += c->wave_clocks[i];
    return sum > 0 ? sum : 1;
}

static const char *const level_names[] = { "L0", "L1", "L2", "DRAM" };

static void print_time(const struct timing_result *r, const struct timing_card *card,
                       const char *name, FILE *to)
{
    char text[32], fast[32], slow[32];
    fprintf(to, "modelled on %s at %.0f MHz: %s", name, card->mhz, cli_seconds(r->seconds, text));
    if (r->slow_seconds > 0)
        fprintf(to, " (%s to %s by other readings of the sources)",
                cli_seconds(r->fast_seconds, fast), cli_seconds(r->slow_seconds, slow));
    fprintf(to, ", %.0f clocks\n", r->clocks);
    fprintf(to, "  %u workgroups on a WGP (%s), %.1f waves on a SIMD on average\n",
            r->groups_at_a_time, r->limit, r->waves_per_simd);
    if (r->sampled)
        fprintf(to,
                "  sampled: %" PRIu64 " workgroups replayed on %u of %u WGPs, two samples differ "
                "by %.1f %% from their mean\n",
                r->counts.groups, r->wgps, card->wgps, 100 * r->spread);
}

void sim_timing_print(const struct timing_result *r, const struct timing_card *card,
                      const char *name, FILE *to)
{
    const struct timing_counts *c = &r->counts;
    const double all = total(c), clocks = c->clocks > 0 ? c->clocks : 1;
    char text[32];
    print_time(r, card, name, to);
    fprintf(to,
            "  of the peak: multiply-adds %.1f %%, vector unit %.1f %%, LDS %.1f %%, L0 %.1f %%, "
            "L2 %.1f %%, DRAM %.1f %%\n",
            100 * r->peak_fma, 100 * r->peak_valu, 100 * r->peak_lds, 100 * r->peak_l0,
            100 * r->peak_l2, 100 * r->peak_dram);
    fprintf(to, "  time of waves:");
    for (unsigned i = 0; i < TIMING_N_REASONS; i++)
        fprintf(to, "%s%s %.1f %%", i ? i % 4 ? ", " : ",\n    " : " ",
                timing_reason_name((enum timing_reason)i), 100 * c->wave_clocks[i] / all);
    fprintf(to, "\n  tail (WGPs that have nothing left) %.1f %%\n", 100 * c->tail / clocks);
    fprintf(to, "  read from");
    for (unsigned i = 0; i < TIMING_N_LEVELS; i++)
        fprintf(to, "%s %s %s", i ? "," : "", level_names[i],
                cli_bytes((uint64_t)c->bytes_read[i], text));
    fprintf(to, "; written %s", cli_bytes((uint64_t)c->bytes_written, text));
    fprintf(to, ", of it to DRAM %s\n", cli_bytes((uint64_t)c->dram_written, text));
}

static cJSON *stalls_json(const struct timing_counts *c)
{
    cJSON *o = cJSON_CreateObject();
    for (unsigned i = 0; i < TIMING_N_REASONS; i++)
        cJSON_AddNumberToObject(o, timing_reason_name((enum timing_reason)i),
                                c->wave_clocks[i] / total(c));
    return o;
}

cJSON *sim_timing_json(const struct timing_result *r, const struct timing_card *card,
                       const char *name)
{
    const struct timing_counts *c = &r->counts;
    const struct {
        const char *name;
        double value;
    } numbers[] = {
        { "mhz", card->mhz },
        { "seconds", r->seconds },
        { "clocks", r->clocks },
        { "sampling_spread", r->spread },
        { "workgroups_replayed", (double)c->groups },
        { "wgps_replayed", r->wgps },
        { "instructions_replayed", (double)c->instructions },
        { "replay_seconds", r->replay_seconds },
        { "workgroups_per_wgp", r->groups_at_a_time },
        { "waves_per_simd", r->waves_per_simd },
        { "tail", c->clocks > 0 ? c->tail / c->clocks : 0 },
        { "lds_clocks", c->busy_lds },
        { "l0_hits", c->l0_hits },
        { "l0_misses", c->l0_misses },
        { "bytes_written", c->bytes_written },
        { "dram_bytes_written", c->dram_written },
    };
    const struct {
        const char *name;
        double value;
    } peaks[] = { { "fma", r->peak_fma }, { "valu", r->peak_valu }, { "lds", r->peak_lds },
                  { "l0", r->peak_l0 },   { "l2", r->peak_l2 },     { "dram", r->peak_dram } };
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "modelled_card", name);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        cJSON_AddNumberToObject(o, numbers[i].name, numbers[i].value);
    if (r->slow_seconds > 0) {
        cJSON_AddNumberToObject(o, "fast_seconds", r->fast_seconds);
        cJSON_AddNumberToObject(o, "slow_seconds", r->slow_seconds);
    }
    cJSON_AddBoolToObject(o, "sampled", r->sampled);
    cJSON_AddStringToObject(o, "occupancy_limit", r->limit);
    cJSON *shares = cJSON_AddObjectToObject(o, "of_peak");
    for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++)
        cJSON_AddNumberToObject(shares, peaks[i].name, peaks[i].value);
    cJSON_AddItemToObject(o, "wave_time", stalls_json(c));
    cJSON *levels = cJSON_AddObjectToObject(o, "bytes_read");
    for (unsigned i = 0; i < TIMING_N_LEVELS; i++)
        cJSON_AddNumberToObject(levels, level_names[i], c->bytes_read[i]);
    return o;
}

int sim_timing_draw(const struct timing_picture *picture, const char *path, const char *kernel,
                    const char *card_name)
{
    char title[256];
    FILE *file = fopen(path, "w");
    if (!file) return cli_complain("sim", "%.300s: %s", path, strerror(errno));
    snprintf(title, sizeof title, "%.180s: one workgroup on %s (modelled)", kernel, card_name);
    const bool drawn = timing_picture_write(picture, title, file);
    if (fclose(file) || !drawn) return cli_complain("sim", "%.300s cannot be written", path);
    return CLI_OK;
}
