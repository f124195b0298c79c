/* signatures.c: the table of signatures, by the layer that prints them. */
#include "explain/explain.h"

#define GITHUB "https://github.com/"

const struct explain_signature explain_signatures[] = {
#define SIGNATURE(...) { __VA_ARGS__ },
#include "explain/signatures_build.inc"
#include "explain/signatures_card.inc"
#include "explain/signatures_general.inc"
#include "explain/signatures_graphics.inc"
#include "explain/signatures_hip.inc"
#include "explain/signatures_hsa.inc"
#include "explain/signatures_kernel.inc"
#include "explain/signatures_loader.inc"
#include "explain/signatures_model.inc"
#include "explain/signatures_package.inc"
#include "explain/signatures_python.inc"
#include "explain/signatures_rocm.inc"
#include "explain/signatures_system.inc"
#include "explain/signatures_torch.inc"
#undef SIGNATURE
    { NULL, 0, EXPLAIN_ANY, NULL, NULL, NULL, NULL, NULL, NULL },
};
