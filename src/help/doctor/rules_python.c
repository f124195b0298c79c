/* rules_python.c: conditions about the PyTorch that programs get: whole, of one build, in use. */
#include <stdio.h>
#include <string.h>

#include "base/chip/addresses.h"
#include "help/doctor/steps.h"

/* The PyTorch to look at: the one that computes on the GPU as things are, else the one in use. */
static const struct doctor_python *chosen(const struct doctor_machine *m)
{
    const struct doctor_python *python = doctor_ready_python(m, doctor_main_gpu(m));
    return python ? python : doctor_other_in_use(m, NULL);
}

static bool has_library(const struct doctor_machine *m, const struct doctor_python *python,
                        enum doctor_library_kind kind)
{
    const int owner = 100 + (int)(python - m->pythons);
    for (size_t i = 0; i < m->n_python_libraries; i++)
        if (m->python_libraries[i].kind == kind && m->python_libraries[i].owner == owner)
            return true;
    return false;
}

/* What a wheel that brings ROCm lacks of it; NULL: nothing that is known. A recording that tells of
 * none of them does not say that they are missing. */
static const char *missing_part(const struct doctor_machine *m, const struct doctor_python *python)
{
    static const struct {
        enum doctor_library_kind kind;
        const char *name;
    } parts[] = { { DOCTOR_LIB_HIP, "libamdhip64.so" },
                  { DOCTOR_LIB_MIOPEN, "libMIOpen.so" },
                  { DOCTOR_LIB_ROCBLAS, "librocblas.so" } };
    const bool is_wheel = strstr(python->version, "+rocm");
    const char *missing = NULL;
    size_t n = 0;
    if (!*python->hip || (!is_wheel && !python->is_sdk)) return NULL;
    if (python->library < 0) return "libtorch_hip.so";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const bool has = has_library(m, python, parts[i].kind);
        n += has;
        if (!has && !missing) missing = parts[i].name;
    }
    if (n) return missing;
    return python->bundles_rocm || m->is_recorded || *m->loader_hip || m->n_rocms ? NULL : missing;
}

/* One that takes the system's ROCm, and there is none. */
static bool lacks_rocm(const struct doctor_machine *m, const struct doctor_python *python)
{
    return *python->hip && !python->bundles_rocm && !python->is_sdk &&
           !strstr(python->version, "+rocm") && !*m->loader_hip && !m->n_rocms &&
           !m->n_system_libraries && m->probes[DOCTOR_PROBE_ROCM] == DOCTOR_DONE;
}

const struct doctor_python *doctor_incomplete(const struct doctor_machine *m, const char **part)
{
    const struct doctor_python *python = chosen(m);
    *part = python ? missing_part(m, python) : NULL;
    if (*part) return python;
    if (python && lacks_rocm(m, python)) return python;
    for (size_t i = 0; i < m->n_pythons && !python; i++)
        if ((*part = missing_part(m, &m->pythons[i]))) return &m->pythons[i];
    return NULL;
}

bool doctor_if_torch_incomplete(const struct doctor_machine *m, struct doctor_words *words)
{
    const char *part;
    const struct doctor_python *python = doctor_incomplete(m, &part);
    if (!python || !doctor_has_vendor(m, DOCTOR_AMD, false)) return false;
    doctor_value(words, "see the recommendation");
    if (!part)
        return doctor_say(words,
                          "PyTorch %s in %.200s takes the system's ROCm %.20s, and none is "
                          "installed",
                          python->version, python->site, python->hip);
    return doctor_say(words, "PyTorch %s in %.200s has no %s", python->version, python->site, part);
}

bool doctor_if_torch_overwritten(const struct doctor_machine *m, struct doctor_words *words)
{
    if (!doctor_has_vendor(m, DOCTOR_AMD, false)) return false;
    for (size_t i = 0; i < m->n_pythons; i++) {
        const struct doctor_python *python = &m->pythons[i];
        if (!doctor_overwritten(python)) continue;
        doctor_value(words, "see the recommendation");
        return doctor_say(words, "PyTorch %s in %.200s is for %s, beside a libtorch_hip.so",
                          python->version, python->site, doctor_overwritten(python));
    }
    return false;
}

/* "+cu121" and such: what a package was built for, "" when its version does not tell. */
static const char *build_of(const char *version)
{
    const char *plus = strchr(version, '+');
    if (plus) return plus + 1;
    return strspn(version, "0123456789.") == strlen(version) ? "cu" : ""; /* as on PyPI */
}

/* Whether a package beside torch is of another build: other code, or another release. */
static bool is_apart(const struct doctor_python *python, const char *version, bool is_vision)
{
    unsigned torch[2], other[2];
    const char *build = build_of(version), *own = strstr(python->version, "+rocm");
    const bool is_plain =
        strspn(python->version, "0123456789.") == (own ? (size_t)(own - python->version) : 0) &&
        strspn(version, "0123456789.") == strcspn(version, "+");
    if (!own || !*version) return false;
    if (!strncmp(build, "cu", 2) || !strncmp(build, "cpu", 3)) return true;
    if (strncmp(build, "rocm", 4)) return false; /* a build of one's own */
    if (!doctor_same_release(own + 5, build + 4)) return true;
    if (!is_plain) return false; /* nightlies: their numbers run apart */
    if (sscanf(python->version, "%3u.%3u", &torch[0], &torch[1]) != 2 ||
        sscanf(version, "%3u.%3u", &other[0], &other[1]) != 2)
        return false;
    if (!is_vision) return torch[0] != other[0] || torch[1] != other[1];
    return other[0] || other[1] != torch[1] + (torch[0] == 2 ? 15 : 1);
}

bool doctor_if_torch_mixed(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_python *python = chosen(m);
    unsigned torch[2];
    if (!python || sscanf(python->version, "%3u.%3u", &torch[0], &torch[1]) != 2) return false;
    const bool vision = is_apart(python, python->vision, true);
    if (!vision && !is_apart(python, python->audio, false)) return false;
    const char *own = strstr(python->version, "+rocm") + 1;
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    const bool is_official = !own[4 + strspn(own + 4, "0123456789.")];
    if (!is_official) { /* what fits to AMD's own builds and to nightlies is in no index */
        doctor_step_fresh(m, words);
        doctor_step_wheel(words, gpu ? gpu->version : 0);
    } else {
        doctor_step_enter(words, python);
        doctor_step(
            words,
            "pip install --force-reinstall --no-deps \"%s==%u.%u.*\" --index-url " ADDRESS_WHEELS
            "%s",
            vision ? "torchvision" : "torchaudio", vision ? 0 : torch[0],
            vision ? torch[1] + (torch[0] == 2 ? 15 : 1) : torch[1], own);
    }
    doctor_step_rmcp(m, words, is_official ? python : NULL);
    return doctor_say(words, "%s %s beside PyTorch %s in %.160s",
                      vision ? "torchvision" : "torchaudio",
                      vision ? python->vision : python->audio, python->version, python->site);
}

bool doctor_if_torch_amdsmi(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_python *python = chosen(m);
    char word[DOCTOR_PATH + 64];
    if (!python || !python->is_sdk || !python->has_amdsmi) return false;
    doctor_quote(python->site, word, sizeof word);
    doctor_value(words, "mv %s/amdsmi %s/amdsmi.aside", word, word);
    return doctor_say(words, "amdsmi beside PyTorch %s in %.250s", python->version, python->site);
}

bool doctor_if_path_blank(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_python *python = chosen(m);
    if (!python || !*python->hip || !strchr(python->site, ' ')) return false;
    doctor_step_fresh(m, words);
    doctor_step_wheel(words, doctor_main_gpu(m) ? doctor_main_gpu(m)->version : 0);
    doctor_step_rmcp(m, words, NULL);
    return doctor_say(words, "PyTorch %s in '%.300s'", python->version, python->site);
}

bool doctor_if_torch_shadowed(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_python *python = doctor_ready_python(m, doctor_main_gpu(m));
    if (!python || !python->is_shadowed) return false;
    for (size_t i = 0; i < m->n_pythons; i++) {
        const char *local = strstr(m->pythons[i].site, "/.local/lib/");
        if (local)
            return doctor_say(words, "PyTorch %s in %.150s is taken instead of %s in %.150s",
                              m->pythons[i].version, m->pythons[i].site, python->version,
                              python->site);
    }
    return false;
}

bool doctor_if_python_gone(const struct doctor_machine *m, struct doctor_words *words)
{
    for (size_t i = 0; i < m->n_pythons; i++) {
        if (!m->pythons[i].has_no_interpreter) continue;
        doctor_value(words, "see the recommendation");
        return doctor_say(words, "the Python that %.300s belongs to is not there any more",
                          m->pythons[i].site);
    }
    return false;
}

/* The environment in use, when it is one that somebody made for a purpose. */
static const char *environment_in_use(const struct doctor_machine *m)
{
    const char *value = doctor_variable(m, "VIRTUAL_ENV");
    if (value && *value) return value;
    value = doctor_variable(m, "CONDA_PREFIX");
    return value && strstr(value, "/envs/") ? value : NULL;
}

bool doctor_if_torch_elsewhere(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_python *python = doctor_ready_python(m, doctor_main_gpu(m));
    const char *used = environment_in_use(m);
    if (!python || !used || doctor_other_in_use(m, NULL) || *python->layer) return false;
    const size_t n = strlen(used);
    if (!strncmp(python->site, used, n) && python->site[n] == '/') return false;
    return doctor_say(words, "%.200s has none; that of %.200s would compute", used, python->site);
}
