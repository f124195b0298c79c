/* parameters.c: the model's parameters, from the text of a chip and the description of a card. */
#include "sim/timing/timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    size_t offset;
} parameters[] = {
#define P(name) { #name, offsetof(struct timing_values, name) },
    TIMING_PARAMETERS(P)
#undef P
};
enum { N_PARAMETERS = sizeof parameters / sizeof *parameters };

static double *value_of(struct timing_values *values, unsigned i)
{
    return (double *)(void *)((char *)values + parameters[i].offset);
}

static bool read_line(char *line, unsigned number, struct timing_parameters *out,
                      char error[static SIM_ERROR_MAX], bool seen[N_PARAMETERS])
{
    char *rest = line, *name = strtok_r(line, " \t", &rest);
    unsigned i = 0;
    while (i < N_PARAMETERS && strcmp(parameters[i].name, name)) i++;
    if (i == N_PARAMETERS || seen[i]) {
        snprintf(error, SIM_ERROR_MAX, "line %u: %s '%.60s'", number,
                 i == N_PARAMETERS ? "no such parameter" : "given twice:", name);
        return false;
    }
    seen[i] = true;
    for (unsigned k = 0; k < TIMING_N_READINGS; k++) {
        char *end = rest;
        const double value = strtod(rest, &end);
        if (end == rest || !(value >= 0 && value < 1e9)) {
            snprintf(error, SIM_ERROR_MAX, "line %u: %s needs three numbers from 0 to 1e9", number,
                     name);
            return false;
        }
        *value_of(&out->reading[k], i) = value;
        rest = end;
    }
    if (rest[strspn(rest, " \t")]) {
        snprintf(error, SIM_ERROR_MAX, "line %u: '%.60s' is too much", number, rest);
        return false;
    }
    return true;
}

/* What the model divides by, or counts with. */
static bool check(const struct timing_values *v, char error[static SIM_ERROR_MAX])
{
    const double least =
        fmin(fmin(fmin(v->lds_B_clk, v->l0_B_clk), fmin(v->l0_lines_clk, v->l1_B_clk)),
             fmin(fmin(v->l2_slice_B_clk, v->dispatch_waves_clk), fmin(v->l0_ways, v->l1_ways)));
    const double more =
        fmin(fmin(v->l2_ways, v->scalar_ways), fmin(v->icache_ways, v->vgpr_granule));
    const double clocks = fmax(
        fmax(fmax(v->valu_latency_clk, v->trans_clk), fmax(v->trans_latency_clk, v->quarter_clk)),
        fmax(fmax(v->quarter_latency_clk, v->wide_clk),
             fmax(v->wide_latency_clk, v->salu_latency_clk)));
    if (fmax(clocks, fmax(v->f64_clk, v->f64_latency_clk)) > 255) {
        snprintf(error, SIM_ERROR_MAX, "clocks of an instruction are at most 255");
        return false;
    }
    if (least > 0 && more > 0 && v->simd_vgprs >= 256 && v->barrier_slots >= 1 && v->lds_kb >= 64 &&
        v->dram_efficiency > 0 && v->dram_efficiency <= 1)
        return true;
    snprintf(error, SIM_ERROR_MAX, "a rate, a size or a number of ways is too small");
    return false;
}

bool timing_parse(const char *text, struct timing_parameters *out, char error[static SIM_ERROR_MAX])
{
    bool seen[N_PARAMETERS] = { false };
    unsigned number = 0;
    while (*text) {
        char line[256];
        const size_t length = strcspn(text, "\n");
        number++;
        snprintf(line, sizeof line, "%.*s", (int)(length < 255 ? length : 255), text);
        text += length + (text[length] == '\n');
        line[strcspn(line, "#\r")] = 0;
        if (!line[strspn(line, " \t")]) continue;
        if (!read_line(line, number, out, error, seen)) return false;
    }
    for (unsigned i = 0; i < N_PARAMETERS; i++)
        if (!seen[i]) {
            snprintf(error, SIM_ERROR_MAX, "no line '%s'", parameters[i].name);
            return false;
        }
    for (unsigned k = 0; k < TIMING_N_READINGS; k++)
        if (!check(&out->reading[k], error)) return false;
    return true;
}

bool timing_card_of(const struct sim_card *card, double mhz, struct timing_card *out,
                    char error[static SIM_ERROR_MAX])
{
    const char *text = sim_timing_builtin("rdna1");
    memset(out, 0, sizeof *out);
    if (strncmp(card->chip, "gfx101", 6)) {
        snprintf(error, SIM_ERROR_MAX, "%s is %s; time is modelled for gfx101x only", card->card,
                 card->chip);
        return false;
    }
    if (!text || !timing_parse(text, &out->parameters, error)) return false;
    out->wgps = card->compute_units > 1 ? card->compute_units / 2 : 1;
    out->engines = card->shader_engines;
    out->arrays = card->shader_engines * card->arrays_per_engine;
    if (out->arrays > out->wgps) out->arrays = out->wgps;
    if (out->engines > out->arrays) out->engines = out->arrays;
    out->waves_per_simd = card->waves_per_simd;
    out->mhz = mhz > 0 ? mhz : card->engine_mhz;
    /* GDDR6 moves 16 bits a pin in a clock as the driver counts them. */
    out->dram_B_s = card->memory_mhz * 1e6 * 16 / 8 * card->memory_bits;
    out->l0_bytes = (uint64_t)card->l0_kb << 10;
    out->scalar_bytes = (uint64_t)card->scalar_kb << 10;
    out->icache_bytes = (uint64_t)card->instruction_kb << 10;
    out->l1_bytes = (uint64_t)card->l1_kb << 10;
    out->l2_bytes = (uint64_t)card->l2_kb << 10;
    out->slices = card->l2_kb >= 256 ? card->l2_kb / 256 : 1;
    return true;
}
