/* signatures.c: the table of signatures, and the answers that an override changes. */
#include "explain/explain.h"

const struct explain_signature explain_signatures[] = {
#define SIGNATURE(...) { __VA_ARGS__ },
#include "explain/signatures.inc"
#undef SIGNATURE
    { NULL, 0, EXPLAIN_ANY, NULL, NULL, NULL, NULL, NULL, NULL },
};

const char *const explain_foreign_why =
    "HSA_OVERRIDE_GFX_VERSION makes this card run code built for another kind of chip. That code "
    "decodes\n"
    "on gfx101x but leaves out the workarounds for its silicon bugs, and half-precision code uses\n"
    "instructions that it does not have. It is the first suspect, before any bug of a program or a "
    "driver.";
const char *const explain_foreign_remedy =
    "unset HSA_OVERRIDE_GFX_VERSION and use a PyTorch built for the chip: rmcp doctor recommends "
    "one.\n"
    "Where the override must stay, rmcp.torch.enable() at least runs convolutions as native code.";

bool explain_by_override(const struct explain_result *result, const struct explain_match *match)
{
    return result->foreign && match->signature->override == EXPLAIN_FOREIGN;
}
