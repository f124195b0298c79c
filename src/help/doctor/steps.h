/* steps.h: commands that lead to the end: an environment, a PyTorch, RMCP in it, the check.
 *
 * Each function appends lines to the value of an option, one command a line. */
#ifndef RMCP_DOCTOR_STEPS_H
#define RMCP_DOCTOR_STEPS_H

#include "help/doctor/rules.h"

/* A word for the shell, quoted where it must be. */
const char *doctor_quote(const char *word, char *out, size_t room);

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void doctor_step(struct doctor_words *words, const char *format, ...);
/* Enter a new environment, or the one that a PyTorch lies in (one on top of it for the system's).
 */
void doctor_step_fresh(const struct doctor_machine *m, struct doctor_words *words);
void doctor_step_enter(struct doctor_words *words, const struct doctor_python *python);
/* pytorch.org's wheel for a chip; AMD's. */
void doctor_step_wheel(struct doctor_words *words, uint32_t version);
void doctor_step_amd_wheel(struct doctor_words *words, const char *chip);
/* The variables as they must be: the override taken away (0) or set, the integrated GPU hidden. */
void doctor_step_variables(const struct doctor_machine *m, struct doctor_words *words,
                           uint32_t believed);
/* RMCP installed, where it is not yet; checked; a program run with it. `python` may be NULL. */
void doctor_step_rmcp(const struct doctor_machine *m, struct doctor_words *words,
                      const struct doctor_python *python);

#endif
