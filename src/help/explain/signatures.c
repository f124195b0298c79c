/* signatures.c: the table of signatures, by the layer that prints them. */
#include "help/explain/explain.h"

#define GITHUB "https://github.com/"

const struct explain_signature explain_signatures[] = {
#define SIGNATURE(...) { __VA_ARGS__ },
#include "help/explain/signatures_build.inc"
#include "help/explain/signatures_card.inc"
#include "help/explain/signatures_general.inc"
#include "help/explain/signatures_graphics.inc"
#include "help/explain/signatures_hip.inc"
#include "help/explain/signatures_hsa.inc"
#include "help/explain/signatures_kernel.inc"
#include "help/explain/signatures_loader.inc"
#include "help/explain/signatures_model.inc"
#include "help/explain/signatures_package.inc"
#include "help/explain/signatures_python.inc"
#include "help/explain/signatures_rocm.inc"
#include "help/explain/signatures_system.inc"
#include "help/explain/signatures_torch.inc"
#undef SIGNATURE
    { NULL, 0, EXPLAIN_ANY, NULL, NULL, NULL, NULL, NULL, NULL },
};
