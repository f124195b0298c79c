/* signatures.c: the table of signatures. */
#include "help/explain/explain.h"

#define GITHUB "https://github.com/"

const struct explain_signature explain_signatures[] = {
#define SIGNATURE(...) { __VA_ARGS__ },
#include "help/explain/signatures.inc"
#undef SIGNATURE
    { NULL, 0, EXPLAIN_ANY, NULL, NULL, NULL, NULL, NULL, NULL },
};
