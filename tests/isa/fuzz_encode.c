/* fuzz_encode.c: libFuzzer on the encoder: words go there and back, and an instruction of noise is
 * refused or comes back as it was asked for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"

static void check(const char *fault)
{
    if (!fault) return;
    fprintf(stderr, "%s\n", fault);
    abort();
}

/* Noise over a sound instruction: the first bytes choose it, the others change it. */
static void encode_noise(unsigned chip, const uint8_t *data, size_t size)
{
    struct isa_inst in, back;
    uint32_t words[ISA_MAX_WORDS];
    char why[160];
    uint64_t random = 1;
    if (size < 8) return;
    unsigned id = 1 + (data[0] | data[1] << 8) % (ISA_N_IDS - 1), form = data[2] % 5;
    memcpy(&random, data, 5);
    random |= 1;
    if (!(isa_row(id)->forms >> form & 1)) form = 0;
    if (!(isa_row(id)->forms >> form & 1)) return;
    sample_build(&random, id, form, &in);
    size_t first = offsetof(struct isa_inst, imm);
    for (size_t i = 5; i + 3 <= size; i += 3)
        ((uint8_t *)&in)[first + (data[i] | data[i + 1] << 8) % (sizeof in - first)] = data[i + 2];
    size_t n = isa_encode_any(chip, &in, words, why, sizeof why);
    if (!n) {
        check(why[0] ? NULL : "refused without a reason");
        return;
    }
    check(isa_decode(chip, words, n, &back) == n && back.id == id && back.imm == in.imm &&
                  back.n_operands == in.n_operands
              ? roundtrip_fault(chip, words, n)
              : "another instruction");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t words[16] = { 0 };
    if (!size) return 0;
    unsigned chip = data[0] % ISA_N_CHIPS | (data[0] & 0x80 ? ISA_WAVE64 : 0);
    data++, size--;
    encode_noise(chip, data, size);
    if (size > sizeof words) size = sizeof words;
    memcpy(words, data, size);
    for (size_t at = 0; at < size / 4; at++)
        check(roundtrip_fault(chip, words + at, size / 4 - at));
    return 0;
}
