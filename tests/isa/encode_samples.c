/* encode_samples.c: random instructions of a chip as words and text, for LLVM's assembler to judge.
 *
 * encode_samples CHIP[+wave64] SEED COUNT: lines of
 *     words in hex <tab> text <tab> our reason to refuse it, if any
 * Every row in every form in turn; ends with 1 when one of them was never made. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"

static int find_chip(const char *name)
{
    for (unsigned i = 0; i < ISA_N_CHIPS; i++) {
        size_t n = strlen(isa_chip_name(i));
        if (strncmp(name, isa_chip_name(i), n)) continue;
        if (!name[n]) return (int)i;
        if (!strcmp(name + n, "+wave64")) return (int)(i | ISA_WAVE64);
    }
    return -1;
}

static void print_sample(const struct isa_inst *inst, const uint32_t *words, size_t n)
{
    char text[512];
    const char *refusal = isa_refusal(inst);
    for (size_t i = 0; i < n; i++) printf("%08x%s", words[i], i + 1 < n ? " " : "\t");
    isa_print(inst, text, sizeof text);
    printf("%s\t%s\n", text, refusal ? refusal : "");
}

int main(int argc, char **argv)
{
    int chip = argc == 4 ? find_chip(argv[1]) : -1;
    if (chip < 0) {
        fprintf(stderr, "usage: encode_samples CHIP[+wave64] SEED COUNT\n");
        return 2;
    }
    uint64_t state = strtoull(argv[2], NULL, 0) * UINT64_C(0x9e3779b97f4a7c15) + 1;
    unsigned long count = strtoul(argv[3], NULL, 0), made = 0;
    unsigned missing = 0, pairs = 0;
    for (unsigned turn = 0; made < count; turn++) {
        for (unsigned id = 1; id < ISA_N_IDS && made < count; id++) {
            const struct isa_row *row = isa_row(id);
            if (!(row->chips >> (chip & 15) & 1)) continue;
            for (unsigned form = 0; form <= ISA_FORM_DPP8; form++) {
                struct isa_inst inst;
                uint32_t words[ISA_MAX_WORDS];
                size_t n;
                if (!(row->forms >> form & 1)) continue;
                if (!turn) pairs++;
                if (sample_draw(&state, (unsigned)chip, id, form, &inst, words, &n)) {
                    print_sample(&inst, words, n);
                    made++;
                } else {
                    if (!turn) missing++;
                    fprintf(stderr, "never made: %s in form %u\n", row->name, form);
                }
            }
        }
    }
    fprintf(stderr, "%s: %lu instructions, %u rows in their forms, %u never made\n", argv[1], made,
            pairs, missing);
    return missing != 0;
}
