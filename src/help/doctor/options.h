/* options.h: the tests of the options of options.inc, and what they share. */
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

/* ---- options_cure.c ---- */

/* Whether a rule's test holds, whatever it would say. */
bool doctor_holds(const struct doctor_machine *m,
                  bool (*test)(const struct doctor_machine *, struct doctor_words *));
/* Whether the kernel says that it will never take the chip. */
bool doctor_is_hopeless(const struct doctor_machine *m);

/* ---- options_cure.c, options_for.c ---- */

/* Whether each option suits a machine; what stands for "{}" in its commands is put into `words`. */
#define OPTION(name, ...)                                                                          \
    bool doctor_for_##name(const struct doctor_machine *m, struct doctor_words *words);
#include "help/doctor/options.inc"
#undef OPTION

#endif
