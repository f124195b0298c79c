/* fuzz_rewrite.c: libFuzzer target: words as the code of a kernel and a function behind it, lifted,
 * given s_nop at random places, and laid out, some with branches that reach little. What is laid
 * out must be right by the judge that does not know how it was made. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/rewrite/cures.h"
#include "code/rewrite/lower.h"
#include "judge.h"
#include "sample.h"

/* Once is enough: nothing that gfx1010 lacks is left in what can be executed. */
static void lower(struct rewrite *r)
{
    struct rewrite_lowered lowered;
    if (rewrite_lower(r, ISA_GFX1010, &lowered)) abort();
    rewrite_lowered_deinit(&lowered);
    if (rewrite_lower(r, ISA_GFX1010, &lowered)) abort();
    for (size_t i = 0; i < ISA_N_IDS; i++)
        if (lowered.n_lowered[i] || lowered.n_refused[i]) abort();
    rewrite_lowered_deinit(&lowered);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void cure(struct rewrite *r, const struct rewrite_options *layout)
{
    struct rewrite_text text;
    struct rewrite_cured cured;
    size_t n_left = 0;
    if (rewrite_cure(r, layout, REWRITE_ALL_CURES, &text, &cured)) return;
    for (unsigned i = 0; i < ISA_N_RULES; i++)
        if (i != ISA_RULE_LDS_MISALIGNED && i != ISA_RULE_SCRATCH_OFFSET &&
            i != ISA_RULE_FLAT_OFFSET)
            n_left += cured.n_left[i];
    if (n_left > cured.n_unreached) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct sample sample;
    if (size < 12) return 0;
    const uint8_t options = bytes[0];
    const size_t n = (size - 4) / 4 * 4, kernel = n * bytes[1] / 256 / 4 * 4;
    uint8_t *code = malloc(n);
    if (!code) return 0;
    memcpy(code, bytes + 4, n);
    sample_make(&sample, code, n, kernel ? kernel : 4, options & 1);
    struct rewrite *r = NULL;
    if (!rewrite_lift(&sample.object, &r)) {
        struct rewrite_text text;
        const struct rewrite_options layout = { .address = 0x20000,
                                                .reach = options & 2 ? 64 + bytes[2] : 0,
                                                .avoid_3f = options & 4,
                                                .drop_refused = true };
        size_t n_inserted = 0;
        if (options & 16) lower(r);
        if (judge_insert(r, bytes[3], size, &n_inserted)) abort();
        if (options & 24)
            cure(r, &layout);
        else if (!rewrite_layout(r, &layout, &text)) {
            struct judge judge = {
                .rewrite = r, .text = &text, .options = &layout, .no_sums = true
            };
            if (judge_text(&judge)) {
                fprintf(stderr, "%s\n", judge.first);
                abort();
            }
        }
    }
    rewrite_destroy(r);
    free(code);
    return 0;
}
