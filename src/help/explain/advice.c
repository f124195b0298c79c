/* advice.c: what the program and the family of the chip change about an answer. */
#include "help/explain/explain.h"

#include "base/chip/addresses.h"
#include "help/explain/codes.h"

#include <stdio.h>
#include <string.h>

const struct explain_program explain_programs[] = {
#define PROGRAM(...) { __VA_ARGS__ },
#define FAMILY(...)
#include "help/explain/advice.inc"
#undef PROGRAM
#undef FAMILY
    { NULL, NULL, NULL, NULL },
};

const struct explain_family explain_families[] = {
#define PROGRAM(...)
#define FAMILY(...) { __VA_ARGS__ },
#include "help/explain/advice.inc"
#undef PROGRAM
#undef FAMILY
    { NULL, NULL, NULL },
};

const char *explain_remedy(const struct explain_result *result, const struct explain_match *match)
{
    const bool no_code = match->signature->depends == EXPLAIN_NO_CODE;
    if (no_code && result->program && result->program->remedy) return result->program->remedy;
    return match->signature->remedy;
}

const char *explain_next(const struct explain_result *result)
{
    const struct explain_match as_match = { .signature = result->unknown.about };
    if (result->unknown.reading) return result->unknown.reading->remedy;
    return explain_remedy(result, &as_match);
}

bool explain_code_text(const char *line, char *text, size_t size)
{
    const struct explain_code *code = explain_code_in(line);
    if (code) snprintf(text, size, "%s: %s.", code->name, code->meaning);
    return code;
}

bool explain_by_override(const struct explain_result *result, const struct explain_match *match)
{
    return result->foreign && match->signature->depends == EXPLAIN_FOREIGN;
}

void explain_foreign(const struct explain_result *result, const char **why, const char **remedy)
{
    const bool rdna1 = !strncmp(result->card.chip, "gfx101", 6);
    *why =
        rdna1 ? "HSA_OVERRIDE_GFX_VERSION makes this card run code built for another kind of chip. "
                "That code decodes\n"
                "on gfx101x but leaves out the workarounds for its silicon bugs, and "
                "half-precision code uses\n"
                "instructions that it does not have. It is the first suspect, before any bug of a "
                "program or a driver."
              : "HSA_OVERRIDE_GFX_VERSION makes this card run code built for another family of "
                "chips, whose\n"
                "instructions differ. It is the first suspect, before any bug of a program or a "
                "driver.";
    *remedy =
        "unset HSA_OVERRIDE_GFX_VERSION and use a PyTorch built for the chip: rmcp doctor "
        "recommends one.\n"
        "Where the override must stay, rmcp.torch.enable() at least runs convolutions as native "
        "code.";
}
