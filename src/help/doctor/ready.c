/* ready.c: whether a machine is ready: each layer between a program and the card must have been
 * seen, and nothing may be in the way.
 *
 * What is in the way has a finding (a problem, or a rule that is marked as blocking). What could
 * not be seen is said, and keeps the machine from being called ready. */
#include <stdio.h>
#include <string.h>

#include "help/doctor/options.h"
#include "help/doctor/steps.h"

bool doctor_blocks(const struct doctor_rule *rule)
{
    return rule->blocks || (rule->verdict == DOCTOR_PROBLEM && strcmp(rule->topic, "python") != 0);
}

/* ---- the layers: each says in `words` what was not seen, with a command that shows it ---- */

typedef bool layer(const struct doctor_machine *m, const struct doctor_gpu *gpu,
                   const struct doctor_python *python, struct doctor_words *words);

/* Whatever a probe would have told. */
static bool has_probed(const struct doctor_machine *m, const struct doctor_gpu *gpu,
                       const struct doctor_python *python, struct doctor_words *words)
{
    (void)gpu, (void)python;
    for (int i = 0; i < DOCTOR_PROBES; i++) {
        if (m->probes[i] == DOCTOR_DONE) continue;
        doctor_value(words, "rmcp doctor -v   # again: not all was looked at (%s)",
                     doctor_probe_name((enum doctor_probe)i));
        return false;
    }
    return true;
}

static bool has_driver(const struct doctor_machine *m, const struct doctor_gpu *gpu,
                       const struct doctor_python *python, struct doctor_words *words)
{
    (void)python;
    doctor_value(words, "lspci -k   # which driver has the card was not seen");
    for (size_t i = 0; i < m->n_gpus && !*gpu->pci; i++) /* KFD tells of one that PCI has not */
        if (m->gpus[i].vendor == DOCTOR_AMD && *m->gpus[i].pci && !m->gpus[i].in_kfd) return false;
    return !*gpu->pci || !strcmp(gpu->driver, "amdgpu");
}

static bool has_kernel(const struct doctor_machine *m, const struct doctor_gpu *gpu,
                       const struct doctor_python *python, struct doctor_words *words)
{
    (void)gpu, (void)python;
    doctor_value(words, "uname -r   # the kernel's release was not seen");
    return *m->kernel;
}

static bool has_chip(const struct doctor_machine *m, const struct doctor_gpu *gpu,
                     const struct doctor_python *python, struct doctor_words *words)
{
    (void)m, (void)python;
    doctor_value(words, "rocminfo | grep gfx   # KFD does not tell the chip");
    return gpu->in_kfd && gpu->chip_from_kfd;
}

static bool has_memory(const struct doctor_machine *m, const struct doctor_gpu *gpu,
                       const struct doctor_python *python, struct doctor_words *words)
{
    (void)m, (void)python;
    doctor_value(words, "rocminfo   # the card's memory was not seen");
    return gpu->vram;
}

static bool has_access(const struct doctor_machine *m, const struct doctor_gpu *gpu,
                       const struct doctor_python *python, struct doctor_words *words)
{
    (void)gpu, (void)python;
    struct doctor_words unused = { .seen = "" };
    doctor_value(words, "rmcp doctor   # without sudo: what your own user may open was not seen");
    return !m->is_for_other && doctor_if_access_ok(m, &unused);
}

static bool has_libraries(const struct doctor_machine *m, const struct doctor_gpu *gpu,
                          const struct doctor_python *python, struct doctor_words *words)
{
    const int owner = 100 + (int)(python - m->pythons);
    (void)gpu;
    for (size_t i = 0; i < m->n_python_libraries; i++) {
        const struct doctor_library *library = &m->python_libraries[i];
        if (library->owner != owner || !library->is_late) continue;
        doctor_value(words, "rmcp audit %.300s   # not all of it was read", library->path);
        return false;
    }
    doctor_value(words, "python -c 'import torch; print(torch.__version__, torch.version.hip)'   # "
                        "not seen");
    return *python->hip && *python->version;
}

static bool has_plain_loader(const struct doctor_machine *m, const struct doctor_gpu *gpu,
                             const struct doctor_python *python, struct doctor_words *words)
{
    (void)gpu, (void)python;
    doctor_value(words, "unset LD_PRELOAD   # what it loads into every program is not known");
    return !doctor_preloads_unknown(m);
}

static bool has_log(const struct doctor_machine *m, const struct doctor_gpu *gpu,
                    const struct doctor_python *python, struct doctor_words *words)
{
    (void)gpu, (void)python;
    if (m->log[DOCTOR_LOG_OTHER].n) {
        doctor_value(words, "sudo dmesg | rmcp explain -   # not known: %.150s",
                     m->log[DOCTOR_LOG_OTHER].line);
        return false;
    }
    doctor_value(words, "sudo dmesg | rmcp explain -   # you may not read the kernel log, which "
                        "would tell of hangs");
    return m->log_read != DOCTOR_NO;
}

static layer *const layers[] = { has_probed, has_driver,    has_kernel,       has_chip, has_memory,
                                 has_access, has_libraries, has_plain_loader, has_log };

bool doctor_is_clear(const struct doctor_machine *m, const struct doctor_python *python)
{
    struct doctor_words unused = { .seen = "" };
    if (doctor_other_in_use(m, python) || doctor_for_match_rocm(m, &unused) ||
        doctor_dropin_of(m, python) == DOCTOR_DROPIN_BROKEN)
        return false;
    for (size_t i = 0; i < doctor_n_rules; i++) {
        struct doctor_words words = { .seen = "" };
        if (doctor_blocks(&doctor_rules[i]) && doctor_rules[i].applies(m, &words)) return false;
    }
    return true;
}

size_t doctor_unseen(const struct doctor_machine *m, const struct doctor_python *python,
                     struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    size_t n = 0;
    for (size_t i = 0; gpu && i < sizeof layers / sizeof *layers; i++) {
        struct doctor_words found = { .seen = "" };
        if (layers[i](m, gpu, python, &found)) continue;
        if (words) doctor_step(words, "%s", found.value);
        n++;
    }
    return n;
}
