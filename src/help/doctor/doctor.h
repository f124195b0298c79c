/* doctor.h: rmcp doctor: what is found about a machine, and what to do.
 *
 * Facts (machine.h) are collected by probes; rules turn them into findings; options into a
 * recommendation. Rules and options are tables: rules.inc, options.inc. */
#ifndef RMCP_DOCTOR_DOCTOR_H
#define RMCP_DOCTOR_DOCTOR_H

#include "help/doctor/machine.h"
#include "help/doctor/view.h"

enum doctor_verdict { DOCTOR_OK = 0, DOCTOR_NOTE, DOCTOR_WARNING, DOCTOR_PROBLEM };

enum { DOCTOR_WORDS = 400, DOCTOR_VALUE = 1600, DOCTOR_COMMAND = 2000 };

/* What a rule saw, what goes into its command in the place of "{}", and why it matters on this
 * machine, where that is not what the table says. */
struct doctor_words {
    char seen[DOCTOR_WORDS], value[DOCTOR_VALUE];
    const char *why;
};

struct doctor_rule {
    const char *id, *topic;
    enum doctor_verdict verdict;
    bool blocks; /* less than a problem, and in the way of the PyTorch that would be used */
    const char *title;
    const char *why; /* at most two lines                               */
    const char *fix; /* the command; "" when there is nothing to do     */
    bool (*applies)(const struct doctor_machine *m, struct doctor_words *words);
};
extern const struct doctor_rule doctor_rules[];
extern const size_t doctor_n_rules;

struct doctor_finding {
    const struct doctor_rule *rule;
    const char *why;
    char seen[DOCTOR_WORDS], fix[DOCTOR_COMMAND];
};
/* Fills at most `room` findings, worst first, else in the order of the table; returns how many. */
size_t doctor_find(const struct doctor_machine *m, struct doctor_finding *findings, size_t room);

struct doctor_option {
    const char *id;
    int leaf; /* of the decision tree: an enum doctor_place (tree.h) */
    const char *title, *cost, *effort, *result, *risk;
    const char *command;  /* all of them, one a line; "{}" is the value of `applies` */
    const char *evidence; /* what stands behind `result`                 */
    bool (*applies)(const struct doctor_machine *m, struct doctor_words *words);
};
extern const struct doctor_option doctor_options[];
extern const size_t doctor_n_options;

struct doctor_advice {
    const struct doctor_option *option;
    char command[DOCTOR_COMMAND];
};
/* The options for this machine, best first; returns how many. */
size_t doctor_advise(const struct doctor_machine *m, struct doctor_advice *advice, size_t room);

/* Examine a machine: every probe in a child process with a time limit. The result is to be given
 * to doctor_release. */
rmcp_status doctor_examine(struct doctor_view *view, struct doctor_machine **out);
void doctor_release(struct doctor_machine *machine);
/* The same in this process: for tests and fuzzing. */
void doctor_examine_here(struct doctor_view *view, struct doctor_machine *machine);
const char *doctor_probe_name(enum doctor_probe probe);

/* Examine a machine (NULL: this one) and write what was read to a new tar file, cleaned of what is
 * private. */
rmcp_status doctor_record(const char *root, const char *file, struct doctor_machine **out);

/* ---- facts that rules and options share: facts.c ---- */

const char *doctor_verdict_name(enum doctor_verdict verdict);
/* What the runtime believes the chip to be, the override considered. */
uint32_t doctor_believed(const struct doctor_machine *m, const struct doctor_gpu *gpu);
/* Whether the override makes the chip another family's. */
bool doctor_is_foreign(const struct doctor_machine *m, const struct doctor_gpu *gpu);
/* The value of the override for a GPU, and the variable's name; NULL: none. */
const char *doctor_override_of(const struct doctor_machine *m, const struct doctor_gpu *gpu,
                               char name[static 64]);
/* Whether it is one of the same family that has more registers: some of its kernels are refused. */
bool doctor_is_short_of_registers(const struct doctor_machine *m, const struct doctor_gpu *gpu);
/* A PyTorch for ROCm that has code for the GPU as the runtime sees it; or (`native`) code for the
 * chip itself or for the sibling of its family. */
const struct doctor_python *doctor_fit_python(const struct doctor_machine *m,
                                              const struct doctor_gpu *gpu, bool native);
/* A PyTorch with code for a chip, whose own rocBLAS, where it brings one, has it too; NULL: none.
 */
const struct doctor_python *doctor_python_for(const struct doctor_machine *m, uint32_t version);
/* The rocBLAS that a PyTorch brings, when it has no code for a chip; NULL: it has, or there is
 * none. */
const struct doctor_library *doctor_rocblas_without(const struct doctor_machine *m,
                                                    const struct doctor_python *python,
                                                    const char *chip);
/* What a PyTorch over that of ROCm is for: "CUDA", "the CPU"; NULL: nothing was put over it. */
const char *doctor_overwritten(const struct doctor_python *python);
/* A PyTorch that computes on the GPU as things are: code for it, and no override in the way. */
const struct doctor_python *doctor_ready_python(const struct doctor_machine *m,
                                                const struct doctor_gpu *gpu);
const struct doctor_library *doctor_torch_library(const struct doctor_machine *m,
                                                  const struct doctor_python *python);
/* What kind of environment a prefix (".../env1") is, as far as its path tells. */
bool doctor_is_conda(const char *prefix);
bool doctor_is_user_site(const char *prefix); /* ~/.local */
/* How RMCP's MIOpen stands in a PyTorch. */
enum doctor_dropin doctor_dropin_of(const struct doctor_machine *m,
                                    const struct doctor_python *python);
bool doctor_has_vendor(const struct doctor_machine *m, uint32_t vendor, bool discrete_only);
bool doctor_is_hidden(const struct doctor_machine *m); /* some GPUs, by a variable */
bool doctor_looks_like_shim(const char *text);
/* The ROCm whose libraries ld.so takes, or NULL. */
const struct doctor_rocm *doctor_loader_rocm(const struct doctor_machine *m);
/* How this distribution installs something: the names of the package for apt, pacman and dnf. */
void doctor_install_command(const struct doctor_machine *m, const char *apt, const char *pacman,
                            const char *dnf, char *out, size_t room);
/* How the container at hand is given the GPU, on its host. */
void doctor_container_command(const struct doctor_machine *m, char *out, size_t room);
/* How it makes the first file system of the boot anew, after a change in /etc/modprobe.d. */
const char *doctor_initramfs_command(const struct doctor_machine *m);
/* How it brings kernel and firmware up to date. */
const char *doctor_upgrade_command(const struct doctor_machine *m);
/* The command that brings a kernel of at least that release, as far as the distribution has one. */
void doctor_kernel_command(const struct doctor_machine *m, unsigned major, unsigned minor,
                           char *out, size_t room);
/* The command that takes a word out of the kernel's command line. */
void doctor_boot_command(const struct doctor_machine *m, const char *word, char *out, size_t room);
/* The PyTorch of the environment in use, when it is not this one; NULL: no other is in use. */
const struct doctor_python *doctor_other_in_use(const struct doctor_machine *m,
                                                const struct doctor_python *python);
/* ", MIOpen 3.2" of "6.2.41133", where it is known; else "". */
const char *doctor_miopen_of(const char *release);
bool doctor_same_release(const char *left, const char *right); /* "6.2.41133" and "6.2.0" */

#endif
