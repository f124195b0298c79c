/* sim_print.c: reports and statistics of rmcp sim, as text and as JSON. */
#include "command/sim.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void sim_print_report(const struct sim_report *r, const char *line, const char *function)
{
    printf("%s: %s\n  kernel %s", sim_kind_name(r->kind), r->reason, r->kernel);
    if (*function)
        printf(" in %s", function);
    else
        printf("+0x%" PRIx64, r->offset);
    if (*line) printf(" (%s)", line);
    printf(", workgroup %u,%u,%u wave %u", r->workgroup[0], r->workgroup[1], r->workgroup[2],
           r->wave);
    if (r->lanes) printf(", lanes 0x%" PRIx64, r->lanes);
    printf("\n  %s", *r->instruction ? r->instruction : "?");
    for (unsigned i = 0; i < r->n_words; i++)
        printf(i ? " %08" PRIx32 : "  // %08" PRIx32, r->word[i]);
    if (r->cause) printf("  (goes back to +0x%" PRIx64 ")", r->cause - (r->address - r->offset));
    putchar('\n');
}

cJSON *sim_report_json(const struct sim_report *r, const char *line, const char *function)
{
    char text[32];
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "kind", sim_kind_name(r->kind));
    if (r->rule >= 0) cJSON_AddStringToObject(o, "rule", isa_rule_table[r->rule].id);
    cJSON_AddStringToObject(o, "kernel", r->kernel);
    cJSON_AddNumberToObject(o, "offset", (double)(int64_t)r->offset);
    if (*function) cJSON_AddStringToObject(o, "function", function);
    cJSON_AddStringToObject(o, "instruction", r->instruction);
    cJSON_AddStringToObject(o, "reason", r->reason);
    cJSON_AddStringToObject(o, "line", line);
    int group[3] = { (int)r->workgroup[0], (int)r->workgroup[1], (int)r->workgroup[2] };
    cJSON_AddItemToObject(o, "workgroup", cJSON_CreateIntArray(group, 3));
    cJSON_AddNumberToObject(o, "wave", r->wave);
    snprintf(text, sizeof text, "0x%" PRIx64, r->lanes);
    cJSON_AddStringToObject(o, "lanes", text);
    snprintf(text, sizeof text, "0x%" PRIx64, r->data_address);
    cJSON_AddStringToObject(o, "data_address", text);
    return o;
}

static uint64_t total(const struct sim_stats *s)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < SIM_N_CLASSES; i++) sum += s->instructions[i];
    return sum;
}

/* Lanes that were off, of those that could have been on, in vector instructions. */
static double idle_share(const struct sim_stats *s)
{
    uint64_t on = 0, all = 0;
    for (unsigned i = SIM_CLASS_VALU; i < SIM_N_CLASSES; i++) {
        on += s->lanes[i];
        all += s->slots[i];
    }
    return all ? 1 - (double)on / (double)all : 0;
}

static uint64_t fused(const struct sim_stats *s)
{
    return s->lanes[SIM_CLASS_FMA] + 2 * s->lanes[SIM_CLASS_PKFMA];
}

static double fma_share(const struct sim_stats *s)
{
    uint64_t all = total(s);
    uint64_t fma = s->instructions[SIM_CLASS_FMA] + s->instructions[SIM_CLASS_PKFMA];
    return all ? (double)fma / (double)all : 0;
}

void sim_print_stats(const struct sim_stats *s, double seconds)
{
    char text[32];
    printf("%" PRIu64 " workgroups, %" PRIu64 " waves, %" PRIu64 " instructions in %s\n",
           s->workgroups, s->waves, total(s), cli_seconds(seconds, text));
    for (unsigned i = 0; i < SIM_N_CLASSES; i++) {
        if (!s->instructions[i]) continue;
        printf("  %-16s %12" PRIu64, sim_class_name(i), s->instructions[i]);
        if (i >= SIM_CLASS_VALU)
            printf("  %5.1f %% of lanes", 100.0 * (double)s->lanes[i] / (double)s->slots[i]);
        putchar('\n');
    }
    printf("  multiply-adds %" PRIu64 " (%.1f %% of instructions, %.3f G/s on this host)\n",
           fused(s), 100 * fma_share(s), seconds > 0 ? 1e-9 * (double)fused(s) / seconds : 0);
    printf("  idle lanes %.1f %%\n", 100 * idle_share(s));
    printf("  memory: %s loaded", cli_bytes(s->bytes_loaded, text));
    printf(", %s stored", cli_bytes(s->bytes_stored, text));
    printf("; LDS: %s loaded", cli_bytes(s->lds_loaded, text));
    printf(", %s stored\n", cli_bytes(s->lds_stored, text));
}

cJSON *sim_result_json(const struct sim_result *r, double seconds)
{
    const struct sim_stats *s = &r->stats;
    cJSON *o = cJSON_CreateObject();
    cJSON_AddBoolToObject(o, "completed", r->completed);
    if (!r->completed) cJSON_AddStringToObject(o, "fatal", sim_kind_name(r->fatal));
    cJSON_AddNumberToObject(o, "seconds", seconds);
    cJSON *patterns = cJSON_AddObjectToObject(o, "patterns");
    for (unsigned i = 0; i < ISA_N_RULES; i++)
        cJSON_AddNumberToObject(patterns, isa_rule_table[i].id, (double)r->patterns[i]);
    cJSON *happened = cJSON_AddObjectToObject(o, "happened");
    for (unsigned i = 0; i < SIM_N_KINDS; i++)
        cJSON_AddNumberToObject(happened, sim_kind_name(i), (double)r->happened[i]);
    cJSON *stats = cJSON_AddObjectToObject(o, "stats");
    cJSON *classes = cJSON_AddObjectToObject(stats, "instructions");
    for (unsigned i = 0; i < SIM_N_CLASSES; i++)
        cJSON_AddNumberToObject(classes, sim_class_name(i), (double)s->instructions[i]);
    cJSON_AddNumberToObject(stats, "total", (double)total(s));
    cJSON_AddNumberToObject(stats, "multiply_adds", (double)fused(s));
    cJSON_AddNumberToObject(stats, "fma_share", fma_share(s));
    cJSON_AddNumberToObject(stats, "idle_lanes", idle_share(s));
    cJSON_AddNumberToObject(stats, "bytes_loaded", (double)s->bytes_loaded);
    cJSON_AddNumberToObject(stats, "bytes_stored", (double)s->bytes_stored);
    cJSON_AddNumberToObject(stats, "lds_loaded", (double)s->lds_loaded);
    cJSON_AddNumberToObject(stats, "lds_stored", (double)s->lds_stored);
    cJSON_AddNumberToObject(stats, "waves", (double)s->waves);
    cJSON_AddNumberToObject(stats, "workgroups", (double)s->workgroups);
    return o;
}

bool sim_read_size(const char *text, uint32_t size[3])
{
    size[0] = size[1] = size[2] = 1;
    for (unsigned i = 0; i < 3; i++) {
        char *end;
        unsigned long value = strtoul(text, &end, 10);
        if (end == text || !value || value > UINT32_MAX || *text < '0' || *text > '9') return false;
        size[i] = (uint32_t)value;
        if (!*end) return true;
        if (*end != ',') return false;
        text = end + 1;
    }
    return false;
}

/* One word of a list separated by commas; false at its end. */
static bool next_word(const char **text, char word[static 32])
{
    size_t n = strcspn(*text, ",");
    if (!**text) return false;
    snprintf(word, 32, "%.*s", (int)(n < 31 ? n : 31), *text);
    *text += n + ((*text)[n] == ',');
    return true;
}

bool sim_read_checks(const char *text, uint32_t *checks)
{
    static const struct {
        const char *name;
        uint32_t bits;
    } known[] = { { "waitcnt", SIM_CHECK_WAITCNT },
                  { "patterns", SIM_CHECK_PATTERNS },
                  { "alignment", SIM_CHECK_ALIGNMENT },
                  { "registers", SIM_CHECK_REGISTERS },
                  { "lds", SIM_CHECK_LDS },
                  { "barrier", SIM_CHECK_BARRIER },
                  { "unaligned", SIM_CHECK_UNALIGNED },
                  { "all", SIM_CHECK_ALL },
                  { "none", 0 } };
    char word[32];
    *checks = *text == '-' ? SIM_CHECK_ALL : 0;
    while (next_word(&text, word)) {
        bool off = *word == '-', found = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            if (strcmp(word + off, known[i].name)) continue;
            found = true;
            *checks = off ? *checks & ~known[i].bits : *checks | known[i].bits;
        }
        if (!found) return false;
    }
    return true;
}
