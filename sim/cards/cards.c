/* cards.c: reading the text that describes simulated cards. */
#include "sim/cards/cards.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_INCLUDES = 4 };

struct key {
    const char *name;
    size_t offset, size; /* size 0: a number */
    uint32_t min, max;
};

#define TEXT(field)                                                                                \
    {                                                                                              \
#field, offsetof(struct sim_card, field), sizeof(((struct sim_card *)0)->field), 0, 0      \
    }
#define NUMBER(field, min, max)                                                                    \
    {                                                                                              \
#field, offsetof(struct sim_card, field), 0, min, max                                      \
    }

static const struct key keys[] = {
    TEXT(name),
    TEXT(chip),
    TEXT(codename),
    NUMBER(pci_device, 1, 0xffff),
    NUMBER(pci_revision, 0, 0xff),
    NUMBER(external_revision, 0, 0xff),
    NUMBER(compute_units, 1, 256),
    NUMBER(shader_engines, 1, 16),
    NUMBER(arrays_per_engine, 1, 8),
    NUMBER(cu_per_array, 1, 64),
    NUMBER(waves_per_simd, 1, 32),
    NUMBER(engine_mhz, 1, 10000),
    NUMBER(memory_mhz, 1, 10000),
    NUMBER(memory_bits, 1, 8192),
    NUMBER(memory_mb, 64, 1 << 20),
    NUMBER(large_bar, 0, 1),
    NUMBER(l0_kb, 1, 1 << 20),
    NUMBER(scalar_kb, 1, 1 << 20),
    NUMBER(instruction_kb, 1, 1 << 20),
    NUMBER(l1_kb, 1, 1 << 20),
    NUMBER(l2_kb, 1, 1 << 20),
    NUMBER(l3_kb, 0, 1 << 20),
    NUMBER(firmware, 1, 65535),
    NUMBER(sdma_firmware, 1, 65535),
};
enum { N_KEYS = sizeof keys / sizeof *keys };

struct card_reader {
    struct sim_machine *machine;
    sim_card_text *find;
    char *error;
    uint64_t seen; /* bit per key of the card being read */
    unsigned depth, line;
};

static bool wrong(struct card_reader *r, const char *what, const char *value)
{
    snprintf(r->error, SIM_ERROR_MAX, "line %u: %s '%.60s'", r->line, what, value);
    return false;
}

/* A card is whole when every key was given. */
static bool finish_card(struct card_reader *r)
{
    if (!r->machine->n) return true;
    const struct sim_card *card = &r->machine->cards[r->machine->n - 1];
    for (unsigned i = 0; i < N_KEYS; i++)
        if (!(r->seen >> i & 1)) {
            snprintf(r->error, SIM_ERROR_MAX, "card %s has no line '%s'", card->card, keys[i].name);
            return false;
        }
    if (!sim_card_target_version(card)) return wrong(r, "not a chip like gfx1010:", card->chip);
    return true;
}

static bool set_key(struct card_reader *r, const char *name, const char *value)
{
    unsigned i = 0;
    while (i < N_KEYS && strcmp(keys[i].name, name)) i++;
    if (i == N_KEYS) return wrong(r, "no such key", name);
    if (!r->machine->n) return wrong(r, "a line 'card NAME' must come before", name);
    if (r->seen >> i & 1) return wrong(r, "given twice:", name);
    r->seen |= (uint64_t)1 << i;
    char *field = (char *)&r->machine->cards[r->machine->n - 1] + keys[i].offset;
    if (keys[i].size) {
        if (strlen(value) >= keys[i].size) return wrong(r, "too long:", value);
        memcpy(field, value, strlen(value) + 1);
        return true;
    }
    char *end = NULL;
    errno = 0;
    const unsigned long long number = strtoull(value, &end, 0);
    if (*value < '0' || *value > '9' || *end || errno || number < keys[i].min ||
        number > keys[i].max) {
        snprintf(r->error, SIM_ERROR_MAX, "line %u: %s is '%.40s', not a number from %u to %u",
                 r->line, name, value, keys[i].min, keys[i].max);
        return false;
    }
    *(uint32_t *)(void *)field = (uint32_t)number;
    return true;
}

static bool begin_card(struct card_reader *r, const char *name)
{
    if (!finish_card(r)) return false;
    if (r->machine->n == SIM_MAX_CARDS) return wrong(r, "more than 8 cards; too much is", name);
    struct sim_card *card = &r->machine->cards[r->machine->n++];
    if (strlen(name) >= sizeof card->card || strpbrk(name, "/ \t"))
        return wrong(r, "not a short name without spaces:", name);
    memcpy(card->card, name, strlen(name) + 1);
    r->seen = 0;
    return true;
}

static bool read_text(struct card_reader *r, const char *text);

static bool include(struct card_reader *r, const char *name)
{
    const char *text = r->find ? r->find(name) : NULL;
    if (!text) return wrong(r, "no card", name);
    if (++r->depth > MAX_INCLUDES) return wrong(r, "descriptions include each other at", name);
    const unsigned line = r->line;
    if (!read_text(r, text)) return false;
    r->line = line;
    r->depth--;
    return true;
}

/* One line, comment and outer blanks already gone. */
static bool read_line(struct card_reader *r, char *line)
{
    const size_t length = strcspn(line, " \t");
    char *value = line + length + strspn(line + length, " \t");
    if (!*value) return wrong(r, "no value after", line);
    line[length] = 0;
    if (!strcmp(line, "card")) return begin_card(r, value);
    if (!strcmp(line, "include")) return include(r, value);
    return set_key(r, line, value);
}

static bool read_text(struct card_reader *r, const char *text)
{
    r->line = 0;
    while (*text) {
        const size_t length = strcspn(text, "\n");
        char line[256];
        r->line++;
        if (length >= sizeof line) return wrong(r, "longer than 255 characters:", text);
        memcpy(line, text, length);
        line[length] = 0;
        text += length + (text[length] == '\n');
        line[strcspn(line, "#\r")] = 0;
        char *start = line + strspn(line, " \t");
        size_t n = strlen(start);
        while (n && strchr(" \t", start[n - 1])) start[--n] = 0;
        if (n && !read_line(r, start)) return false;
    }
    return true;
}

bool sim_machine_parse(const char *text, sim_card_text *find, struct sim_machine *out,
                       char error[static SIM_ERROR_MAX])
{
    struct card_reader r = { .machine = out, .find = find, .error = error };
    memset(out, 0, sizeof *out);
    if (!read_text(&r, text) || !finish_card(&r)) return false;
    if (!out->n) snprintf(error, SIM_ERROR_MAX, "no line 'card NAME'");
    return out->n > 0;
}

bool sim_machine_print(const struct sim_machine *machine, FILE *out)
{
    for (unsigned c = 0; c < machine->n; c++) {
        fprintf(out, "card %s\n", machine->cards[c].card);
        for (unsigned i = 0; i < N_KEYS; i++) {
            const char *field = (const char *)&machine->cards[c] + keys[i].offset;
            if (keys[i].size)
                fprintf(out, "%s %s\n", keys[i].name, field);
            else
                fprintf(out, "%s %u\n", keys[i].name, *(const uint32_t *)(const void *)field);
        }
    }
    return !ferror(out);
}

uint32_t sim_card_gpu_id(unsigned index)
{
    return 22222 + 1111 * index;
}

uint32_t sim_card_render_minor(unsigned index)
{
    return 128 + index;
}

uint32_t sim_card_location(unsigned index)
{
    return (3 + 3 * index) << 8;
}

uint64_t sim_card_memory(const struct sim_card *card)
{
    return (uint64_t)card->memory_mb << 20;
}

/* The last two characters are minor version and stepping, the digits before them the major one. */
uint32_t sim_card_target_version(const struct sim_card *card)
{
    const size_t n = strlen(card->chip);
    if (n < 6 || n > 7 || strncmp(card->chip, "gfx", 3)) return 0;
    uint32_t major = 0;
    for (size_t i = 3; i < n - 2; i++) {
        if (card->chip[i] < '0' || card->chip[i] > '9') return 0;
        major = major * 10 + (uint32_t)(card->chip[i] - '0');
    }
    static const char digits[] = "0123456789abcdef";
    const char *minor = strchr(digits, card->chip[n - 2]),
               *step = strchr(digits, card->chip[n - 1]);
    if (!minor || !step) return 0;
    return major * 10000 + (uint32_t)(minor - digits) * 100 + (uint32_t)(step - digits);
}
