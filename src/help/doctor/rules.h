/* rules.h: the tests of the rules of rules.inc, and what they share. */
#ifndef RMCP_DOCTOR_RULES_H
#define RMCP_DOCTOR_RULES_H

#include "help/doctor/doctor.h"

/* The test of each rule. */
#define RULE(name, ...)                                                                            \
    bool doctor_if_##name(const struct doctor_machine *m, struct doctor_words *words);
#include "help/doctor/rules.inc"
#undef RULE

/* Whether a PyTorch was built for ROCm. */
bool doctor_is_hip_build(const struct doctor_python *python);
/* The command that installs a PyTorch anew. */
void doctor_say_reinstall(const struct doctor_machine *m, const struct doctor_python *python,
                          struct doctor_words *words);
/* The render node of a GPU, or one that opens where that is not told; NULL: it is not there. */
const struct doctor_device *doctor_render_of(const struct doctor_machine *m,
                                             const struct doctor_gpu *gpu);
/* Whether a device is refused although its owner, group and mode let this user in. */
bool doctor_is_policy(const struct doctor_machine *m, const struct doctor_device *device);
/* Whether programs certainly see a GPU: not where a variable names cards by ids. */
bool doctor_is_shown(const struct doctor_machine *m, const struct doctor_gpu *gpu);
/* Whether LD_PRELOAD has something that is not known to be harmless. */
bool doctor_preloads_unknown(const struct doctor_machine *m);
/* A PyTorch that lacks one of its libraries (`part`), or the system's ROCm (NULL); NULL: none. */
const struct doctor_python *doctor_incomplete(const struct doctor_machine *m, const char **part);

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
bool doctor_say(struct doctor_words *words, const char *format, ...); /* returns true */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void doctor_value(struct doctor_words *words, const char *format, ...);

#endif
