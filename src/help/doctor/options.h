/* options.h: the conditions of the options, which also write their commands; the table is in
 * options.c.
 */
#ifndef RMCP_DOCTOR_OPTIONS_H
#define RMCP_DOCTOR_OPTIONS_H

#include "help/doctor/doctor.h"

/* ---- ready.c ---- */

/* Whether what a rule finds is in the way of every PyTorch, or of the one that would be used. */
bool doctor_blocks(const struct doctor_rule *rule);
/* Whether nothing that was found is in the way of a PyTorch with code for the GPU. */
bool doctor_is_clear(const struct doctor_machine *m, const struct doctor_python *python);
/* How many layers below that PyTorch could not be seen; a command for each. `words` may be NULL. */
size_t doctor_unseen(const struct doctor_machine *m, const struct doctor_python *python,
                     struct doctor_words *words);

/* clang-format off */
#define DOCTOR_OPTION_CONDITIONS(X) \
    X(reinstall) X(fix_driver) X(fix_kfd) X(fix_slot) X(fix_access) X(fix_open) X(wsl)            \
    X(nvidia) X(cpu) X(keep_native) X(unset) X(match_rocm) X(nothing) X(as_seen) X(settings) X(sibling)      \
    X(official) X(therock) X(therock_family) X(distribution) X(source) X(docker) X(gfx803)        \
    X(not_served) X(rent) X(vulkan) X(opencl_cpu) X(rocm52) X(last_resort)      \
    X(repair)
/* clang-format on */

#define DOCTOR_DECLARE(name)                                                                       \
    bool doctor_for_##name(const struct doctor_machine *m, struct doctor_words *words);
DOCTOR_OPTION_CONDITIONS(DOCTOR_DECLARE)
#undef DOCTOR_DECLARE

#endif
