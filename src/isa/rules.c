/* rules.c: the silicon-bug rules over decoded instructions. */
#include "isa/rules.h"

#include <string.h>

bool isa_rules_check(unsigned chip_mode, const uint32_t *words, size_t n_words, bool wgp_mode,
                     isa_finding_fn *found, void *context, struct isa_rules_count *count)
{
    (void)wgp_mode, (void)found, (void)context;
    memset(count, 0, sizeof *count);
    for (size_t i = 0; i < n_words;) {
        struct isa_inst inst;
        size_t n = isa_decode(chip_mode, words + i, n_words - i, &inst);
        if (n)
            count->n_instructions++;
        else
            count->n_undecodable++;
        i += n ? n : 1;
    }
    return true;
}
