/* registry.c: the tables of algorithms and drivers, made from the file names in their folders. */
#include "core/algo.h"

#define X(stem) extern const struct rmcp_algo rmcp_algo_##stem;
#include "algos.inc"
#undef X
#define X(stem) &rmcp_algo_##stem,
const struct rmcp_algo *const rmcp_algos[] = {
#include "algos.inc"
    NULL
};
#undef X

#define X(stem) extern const struct rmcp_driver rmcp_driver_##stem;
#include "drivers.inc"
#undef X
#define X(stem) &rmcp_driver_##stem,
const struct rmcp_driver *const rmcp_drivers[] = {
#include "drivers.inc"
    NULL
};
#undef X
