/* options.c: the table of ways to compute on a machine. */
#include "help/doctor/options.h"

#include "base/chip/addresses.h"
#include "help/doctor/tree.h"

#define FREE "free"

const struct doctor_option doctor_options[] = {
#define OPTION(name, ident, place, ...)                                                            \
    { .id = ident, .leaf = DOCTOR_AT_##place, .applies = doctor_for_##name, __VA_ARGS__ },
#include "help/doctor/options.inc"
#undef OPTION
};
const size_t doctor_n_options = sizeof doctor_options / sizeof *doctor_options;
