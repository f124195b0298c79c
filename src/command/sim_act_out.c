/* sim_act_out.c: which silicon bugs are acted out, how often, and how often they were. */
#include "command/sim.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const sim_act_out_default[] = { "data", NULL };

static bool read_rule(const char *word, size_t n, uint32_t *rules)
{
    static const struct {
        const char *name;
        uint32_t rules;
    } sets[] = { { "none", 0 },
                 { "all", SIM_ACT_OUT },
                 { "data", SIM_ACT_OUT & ~(1u << ISA_RULE_INST_PREFETCH) } };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (strlen(sets[i].name) == n && !strncmp(word, sets[i].name, n)) {
            *rules |= sets[i].rules;
            return true;
        }
    for (unsigned i = 0; i < ISA_N_RULES; i++) {
        const char *name = isa_rule_table[i].id;
        if (strlen(name) != n || strncmp(word, name, n) || !(SIM_ACT_OUT >> i & 1)) continue;
        *rules |= 1u << i;
        return true;
    }
    return false;
}

static bool read_chance(const char *text, uint64_t *chance)
{
    char *end;
    const double p = strtod(text, &end);
    if (end == text || (*end && *end != ':') || !(p > 0 && p <= 1)) return false;
    const double of = p * 0x1p64;
    *chance = of >= 0x1p64 ? 0 : of < 1 ? 1 : (uint64_t)of; /* 0: always */
    return true;
}

static bool read_seed(const char *text, uint64_t *seed)
{
    char *end;
    errno = 0;
    *seed = strtoull(text, &end, 0);
    return *text >= '0' && *text <= '9' && (!*end || *end == ':') && !errno;
}

int sim_read_act_out(const char *text, struct sim_options *options)
{
    const char *at = text;
    options->act_out = 0;
    options->act_out_chance = options->act_out_seed = 0;
    for (bool more = true; more;) {
        const size_t n = strcspn(at, ",:");
        if (!read_rule(at, n, &options->act_out))
            return cli_complain("sim",
                                "--act-out is '%.100s'; known are none, data, all and the rules "
                                "with a documented effect",
                                text);
        more = at[n] == ',';
        at += n + more;
    }
    while (*at == ':') {
        at++;
        if (!strncmp(at, "p=", 2)) {
            if (!read_chance(at + 2, &options->act_out_chance))
                return cli_complain(
                    "sim", "--act-out is '%.100s'; p is a chance, above 0 and at most 1", text);
        } else if (strncmp(at, "seed=", 5) || !read_seed(at + 5, &options->act_out_seed)) {
            return cli_complain("sim",
                                "--act-out is '%.100s'; behind the rules come :p=CHANCE "
                                "and :seed=NUMBER",
                                text);
        }
        at += strcspn(at, ":");
    }
    return CLI_OK;
}

void sim_print_acted_out(FILE *to, const char *before, uint32_t rules, const uint64_t *times)
{
    for (unsigned i = 0; i < ISA_N_RULES; i++)
        if (rules >> i & 1)
            fprintf(to, "%sacted out %s %" PRIu64 " times\n", before, isa_rule_table[i].id,
                    times[i]);
}
