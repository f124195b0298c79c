/* rules_software.c: conditions about ROCm, libraries and PyTorch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chip/addresses.h"
#include "help/doctor/rules.h"

bool doctor_is_hip_build(const struct doctor_python *python)
{
    return *python->hip || (python->library >= 0 && !doctor_overwritten(python));
}

static const struct doctor_library *library_at(const struct doctor_machine *m, size_t i)
{
    return i < m->n_system_libraries ? &m->system_libraries[i]
                                     : &m->python_libraries[i - m->n_system_libraries];
}

static size_t n_libraries(const struct doctor_machine *m)
{
    return m->n_system_libraries + m->n_python_libraries;
}

static void say_rocms(const struct doctor_machine *m, struct doctor_words *words)
{
    for (size_t i = 0; i < m->n_rocms; i++) {
        const struct doctor_rocm *rocm = &m->rocms[i];
        const size_t used = strlen(words->seen);
        snprintf(words->seen + used, sizeof words->seen - used, "%s%s in %.120s", used ? ", " : "",
                 *rocm->version ? rocm->version : "?", rocm->prefix);
    }
    const struct doctor_rocm *taken = doctor_loader_rocm(m);
    const size_t used = strlen(words->seen);
    if (taken && m->n_rocms > 1)
        snprintf(words->seen + used, sizeof words->seen - used, "; programs get %.160s",
                 m->loader_hip);
}

static bool has_several(const struct doctor_machine *m)
{
    for (size_t i = 1; i < m->n_rocms; i++)
        if (strcmp(m->rocms[i].version, m->rocms[0].version)) return true;
    return false;
}

bool doctor_if_rocm_none(const struct doctor_machine *m, struct doctor_words *words)
{
    return !m->n_rocms && doctor_has_vendor(m, DOCTOR_AMD, false) &&
           m->probes[DOCTOR_PROBE_ROCM] == DOCTOR_DONE &&
           doctor_say(words, "no ROCm in /opt or in the system's folders");
}

bool doctor_if_rocm_one(const struct doctor_machine *m, struct doctor_words *words)
{
    if (!m->n_rocms || has_several(m)) return false;
    say_rocms(m, words);
    return true;
}

bool doctor_if_rocm_several(const struct doctor_machine *m, struct doctor_words *words)
{
    if (!has_several(m)) return false;
    const struct doctor_rocm *taken = doctor_loader_rocm(m);
    say_rocms(m, words);
    for (size_t i = 0; i < m->n_rocms; i++)
        if (&m->rocms[i] != taken) {
            doctor_value(words, "%s",
                         strncmp(m->rocms[i].prefix, "/opt/rocm-", 10)
                             ? ""
                             : "sudo update-alternatives --config rocm   # the one that "
                               "/opt/rocm is");
            break;
        }
    return true;
}

bool doctor_if_rocm_path_mixed(const struct doctor_machine *m, struct doctor_words *words)
{
    static const char *const names[] = { "ROCM_PATH", "HIP_PATH", "ROCM_HOME",
                                         "HIP_DEVICE_LIB_PATH", "DEVICE_LIB_PATH" };
    const struct doctor_rocm *taken = doctor_loader_rocm(m);
    for (size_t i = 0; i < sizeof names / sizeof *names && taken; i++) {
        const char *value = doctor_variable(m, names[i]);
        if (!value || strncmp(value, "/opt/rocm-", 10) || strncmp(taken->prefix, "/opt/rocm-", 10))
            continue;
        const size_t n = strlen(taken->prefix);
        if (!strncmp(value, taken->prefix, n) && (!value[n] || value[n] == '/')) continue;
        doctor_value(words, "%s=%s%s", names[i], taken->prefix, i < 3 ? "" : "/amdgcn/bitcode");
        return doctor_say(words, "%s=%s, but programs get %s", names[i], value, m->loader_hip);
    }
    return false;
}

bool doctor_if_rocm_llvm_clash(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_rocm *first = NULL;
    for (size_t i = 0; i < m->n_rocms; i++) {
        const struct doctor_rocm *rocm = &m->rocms[i];
        if (!rocm->clang) continue;
        if (first && first->clang != rocm->clang) {
            const struct doctor_rocm *taken = doctor_loader_rocm(m);
            doctor_value(words, "%s", taken ? taken->prefix : first->prefix);
            return doctor_say(words, "clang %u in %.120s, clang %u in %.120s", first->clang,
                              first->prefix, rocm->clang, rocm->prefix);
        }
        if (!first) first = rocm;
    }
    return false;
}

bool doctor_if_rocm_llvm_newer(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_rocm *rocm = doctor_loader_rocm(m);
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    if (!gpu || doctor_chip_service(gpu->version) != DOCTOR_CHIP_LEFT_BEHIND || !rocm) return false;
    if (!m->system_clang || m->system_clang >= rocm->clang) return false;
    doctor_value(words, "%s", rocm->prefix);
    return doctor_say(words, "the system's clang is %u, that of %.150s is %u", m->system_clang,
                      rocm->prefix, rocm->clang);
}

bool doctor_if_rocblas_no_arch(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    char chip[16];
    if (!gpu || !rmcp_chip_name(doctor_believed(m, gpu), chip)) return false;
    for (size_t i = 0; i < n_libraries(m); i++) {
        const struct doctor_library *library = library_at(m, i);
        if (library->kind != DOCTOR_LIB_ROCBLAS || !library->has_targets || !*library->targets)
            continue;
        if (doctor_targets_have(library->targets, chip)) continue;
        if (library->owner >= 100) continue; /* torch_no_rocblas */
        const uint32_t sibling = doctor_chip_sibling(gpu->version);
        char other[16] = "";
        if (sibling) rmcp_chip_name(sibling, other);
        if (doctor_targets_have(library->targets, other))
            doctor_value(words, "export HSA_OVERRIDE_GFX_VERSION=%u.%u.%u", sibling / 10000,
                         sibling / 100 % 100, sibling % 100);
        if (doctor_chip_service(gpu->version) != DOCTOR_CHIP_LEFT_BEHIND)
            words->why = "Matrix products of programs that use this ROCm fail with \"Cannot read "
                         "TensileLibrary.dat\".\n"
                         "PyTorch's wheels bring a rocBLAS of their own.";
        return doctor_say(words, "%.200s has %.150s, not %s", library->path, library->targets,
                          chip);
    }
    return false;
}

bool doctor_if_torch_no_rocblas(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    char chip[16];
    if (!gpu || !rmcp_chip_name(doctor_believed(m, gpu), chip)) return false;
    for (size_t i = 0; i < m->n_pythons; i++) {
        const struct doctor_library *torch = doctor_torch_library(m, &m->pythons[i]);
        if (!torch || *torch->trouble || !doctor_targets_have(torch->targets, chip)) continue;
        const struct doctor_library *rocblas = doctor_rocblas_without(m, &m->pythons[i], chip);
        if (rocblas)
            return doctor_say(words, "%.200s of PyTorch %s has %.120s, not %s", rocblas->path,
                              m->pythons[i].version,
                              *rocblas->targets ? rocblas->targets : "no code", chip);
    }
    return false;
}

bool doctor_if_rocblas_disguised(const struct doctor_machine *m, struct doctor_words *words)
{
    for (size_t i = 0; i < n_libraries(m); i++) {
        const struct doctor_library *library = library_at(m, i);
        if (!*library->disguised) continue;
        const char *slash = strrchr(library->path, '/');
        doctor_value(words, "%.*s/rocblas/library/%s", slash ? (int)(slash - library->path) : 0,
                     library->path, library->disguised);
        return doctor_say(words, "%s beside %.200s is a link to another chip's file",
                          library->disguised, library->path);
    }
    return false;
}

/* The command that brings a whole library: a wheel that suits the chip, or the one that is there.
 */
static void say_reinstall(const struct doctor_machine *m, const struct doctor_library *library,
                          struct doctor_words *words)
{
    const struct doctor_python *python =
        library->owner >= 100 ? &m->pythons[(library->owner - 100) % DOCTOR_PYTHONS] : NULL;
    if (python)
        doctor_say_reinstall(m, python, words);
    else
        doctor_value(words, "sudo apt install --reinstall \"$(dpkg -S %.200s | cut -d: -f1)\"",
                     library->path);
}

void doctor_say_reinstall(const struct doctor_machine *m, const struct doctor_python *python,
                          struct doctor_words *words)
{
    static const char pip[] = "pip install --force-reinstall --no-cache-dir";
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    const char *release = strstr(python->version, "+rocm");
    if (gpu && doctor_chip_service(gpu->version) == DOCTOR_CHIP_LEFT_BEHIND)
        doctor_value(words, "%s --index-url " ADDRESS_AMD_WHEELS " \"torch[device-%s]\"", pip,
                     gpu->chip);
    else if (release && !release[5 + strspn(release + 5, "0123456789.")] &&
             !strstr(python->version, "dev"))
        doctor_value(words, "%s torch==%s --index-url " ADDRESS_WHEELS "%s", pip, python->version,
                     release + 1);
    else /* a nightly, or a build of AMD's: in no index that lasts */
        doctor_value(words, "%s torch --index-url " ADDRESS_WHEELS "%s", pip,
                     gpu && doctor_chip_wheel(gpu->version) ? doctor_chip_wheel(gpu->version)
                                                            : "rocm6.4");
}

bool doctor_if_library_broken(const struct doctor_machine *m, struct doctor_words *words)
{
    for (size_t i = 0; i < n_libraries(m); i++) {
        const struct doctor_library *library = library_at(m, i);
        if (!*library->trouble) continue;
        say_reinstall(m, library, words);
        return doctor_say(words, "%.250s: %s", library->path, library->trouble);
    }
    return false;
}

bool doctor_if_library_unread(const struct doctor_machine *m, struct doctor_words *words)
{
    for (size_t i = 0; i < n_libraries(m); i++)
        if (library_at(m, i)->is_late)
            return doctor_say(words, "%.250s: not read in time", library_at(m, i)->path);
    return false;
}

/* ---- PyTorch ---- */

static bool has_hip_build(const struct doctor_machine *m)
{
    for (size_t i = 0; i < m->n_pythons; i++)
        if (doctor_is_hip_build(&m->pythons[i])) return true;
    return false;
}

bool doctor_if_torch_none(const struct doctor_machine *m, struct doctor_words *words)
{
    return !m->n_pythons && m->probes[DOCTOR_PROBE_PYTHON] == DOCTOR_DONE &&
           doctor_say(words, "no PyTorch in the usual places, $VIRTUAL_ENV, $CONDA_PREFIX or three "
                             "levels below home");
}

bool doctor_if_torch_ok(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    const struct doctor_python *python = doctor_ready_python(m, gpu);
    if (!python) return false;
    char chip[16];
    rmcp_chip_name(doctor_believed(m, gpu), chip);
    return doctor_say(words, "PyTorch %s in %.200s has code for %s", python->version, python->site,
                      chip);
}

bool doctor_if_torch_no_arch(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    char chip[16];
    if (!gpu || (gpu->is_integrated && doctor_has_vendor(m, DOCTOR_NVIDIA, false))) return false;
    const bool foreign = doctor_is_foreign(m, gpu);
    if (!rmcp_chip_name(foreign ? gpu->version : doctor_believed(m, gpu), chip)) return false;
    for (size_t i = 0; i < m->n_pythons; i++) {
        const struct doctor_library *library = doctor_torch_library(m, &m->pythons[i]);
        if (!library || *library->trouble || !library->has_targets || !*library->targets) continue;
        if (doctor_targets_have(library->targets, chip)) continue;
        const uint32_t sibling = doctor_chip_sibling(gpu->version);
        char sibling_chip[16] = "";
        if (sibling && sibling != gpu->version) rmcp_chip_name(sibling, sibling_chip);
        if (*sibling_chip && doctor_targets_have(library->targets, sibling_chip))
            doctor_value(words, "export HSA_OVERRIDE_GFX_VERSION=%u.%u.%u", sibling / 10000,
                         sibling / 100 % 100, sibling % 100);
        else
            doctor_value(words, "see the recommendation");
        return doctor_say(words, "PyTorch %s in %.120s has %.180s, not %s", m->pythons[i].version,
                          m->pythons[i].site, library->targets, chip);
    }
    return false;
}

bool doctor_if_torch_repaired(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    if (!gpu || doctor_chip_service(gpu->version) != DOCTOR_CHIP_LEFT_BEHIND) return false;
    for (size_t i = 0; i < m->n_pythons; i++) {
        const struct doctor_python *python = &m->pythons[i];
        const struct doctor_library *library = doctor_torch_library(m, python);
        const char *release = strstr(python->version, "+rocm");
        if (library && library->repaired == DOCTOR_REPAIRED_WHOLE)
            return doctor_say(
                words,
                "PyTorch %s in %.120s, by rmcp repair --install-into (simulated only; "
                "undo: --restore), has %.120s",
                python->version, python->site, library->targets);
        /* "2.5.1+rocm6.2" of pytorch.org, with a ROCm of its own in torch/lib */
        if (!library || !release || python->is_sdk || !python->bundles_rocm ||
            strspn(python->version, "0123456789.") != (size_t)(release - python->version) ||
            !doctor_targets_have(library->targets, gpu->chip))
            continue;
        return doctor_say(words, "PyTorch %s in %.150s has %.150s", python->version, python->site,
                          library->targets);
    }
    return false;
}

bool doctor_if_repair_stale(const struct doctor_machine *m, struct doctor_words *words)
{
    for (size_t i = 0; i < m->n_python_libraries; i++) {
        const struct doctor_library *library = &m->python_libraries[i];
        if (library->repaired != DOCTOR_REPAIRED_STALE) continue;
        const char *slash = strrchr(library->path, '/');
        doctor_value(words, "%.*s", slash ? (int)(slash - library->path) : 0, library->path);
        return doctor_say(words, "%.300s is not what rmcp repair put there", library->path);
    }
    return false;
}

bool doctor_if_torch_known_bad(const struct doctor_machine *m, struct doctor_words *words)
{
    /* Releases of ROCm that have code for a chip, and do not work on it. */
    static const struct {
        uint32_t chip;
        unsigned from, before; /* 602: 6.2 */
        const char *why;
    } known[] = {
        { 110501, 0, 702,
          "Before 7.2 the runtime saves too few registers of gfx1151: segmentation faults, hangs.\n"
          "amdgpu.cwsr_enable=0 helps for a while." },
        { 90000, 600, 601, "Owners of gfx900 report hangs and resets with 6.0; 6.1 has the cure." },
    };
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    const struct doctor_python *python = doctor_ready_python(m, gpu);
    unsigned major, minor;
    if (!python || sscanf(python->hip, "%3u.%3u", &major, &minor) != 2) return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const unsigned release = 100 * major + minor;
        if (gpu->version != known[i].chip || release < known[i].from || release >= known[i].before)
            continue;
        if (gpu->version == 110501 && m->cwsr_off) continue;
        words->why = known[i].why;
        doctor_value(words, "see the recommendation");
        return doctor_say(words, "PyTorch %s in %.200s is of ROCm %u.%u, the chip is %s",
                          python->version, python->site, major, minor, gpu->chip);
    }
    return false;
}

/* The kernel takes 64 lanes for a wave (pytorch#183861); gfx10 and later run it with 32. TheRock's
 * builds of the same version may have the cure. */
bool doctor_if_torch_layernorm(const struct doctor_machine *m, struct doctor_words *words)
{
    enum { FIRST_OF_32_LANES = 100100 };
    static const char *const releases[] = { "2.12.0", "2.12.1" };
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    const struct doctor_python *python = doctor_ready_python(m, gpu);
    if (!python || gpu->version < FIRST_OF_32_LANES || python->is_sdk) return false;
    const size_t length = strcspn(python->version, "+");
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++)
        if (strlen(releases[i]) == length && !memcmp(python->version, releases[i], length))
            return doctor_say(words, "PyTorch %s in %.200s, the chip is %s", python->version,
                              python->site, gpu->chip);
    return false;
}

bool doctor_if_torch_cpu_build(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_python *used = doctor_other_in_use(m, NULL);
    if (!doctor_has_vendor(m, DOCTOR_AMD, false)) return false;
    if (used && !doctor_is_hip_build(used) && !*used->cuda)
        return doctor_say(words, "PyTorch %s in %.200s, the environment in use, is a CPU build",
                          used->version, used->site);
    if (has_hip_build(m)) return false;
    for (size_t i = 0; i < m->n_pythons; i++)
        if (!*m->pythons[i].cuda)
            return doctor_say(words, "PyTorch %s in %.200s is a CPU build", m->pythons[i].version,
                              m->pythons[i].site);
    return false;
}

bool doctor_if_torch_cuda_build(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_python *used = doctor_other_in_use(m, NULL);
    if (!doctor_has_vendor(m, DOCTOR_AMD, false) || doctor_has_vendor(m, DOCTOR_NVIDIA, false))
        return false;
    if (used && !doctor_is_hip_build(used) && *used->cuda)
        return doctor_say(words,
                          "PyTorch %s in %.200s, the environment in use, is built for CUDA %s",
                          used->version, used->site, used->cuda);
    if (has_hip_build(m)) return false;
    for (size_t i = 0; i < m->n_pythons; i++)
        if (*m->pythons[i].cuda)
            return doctor_say(words, "PyTorch %s in %.200s is built for CUDA %s",
                              m->pythons[i].version, m->pythons[i].site, m->pythons[i].cuda);
    return false;
}

bool doctor_if_torch_wrong_vendor(const struct doctor_machine *m, struct doctor_words *words)
{
    if (!doctor_has_vendor(m, DOCTOR_NVIDIA, true) || doctor_has_vendor(m, DOCTOR_AMD, true))
        return false;
    for (size_t i = 0; i < m->n_pythons; i++)
        if (*m->pythons[i].cuda) return false; /* one that serves the card is there */
    for (size_t i = 0; i < m->n_pythons; i++)
        if (*m->pythons[i].hip)
            return doctor_say(words, "PyTorch %s in %.200s is built for ROCm, the card is NVIDIA's",
                              m->pythons[i].version, m->pythons[i].site);
    return false;
}

bool doctor_if_torch_rocm_mismatch(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_rocm *rocm = doctor_loader_rocm(m);
    for (size_t i = 0; i < m->n_pythons && rocm && *rocm->version; i++) {
        const struct doctor_python *python = &m->pythons[i];
        if (!*python->hip || python->bundles_rocm ||
            doctor_same_release(python->hip, rocm->version))
            continue;
        unsigned major, minor;
        if (sscanf(python->hip, "%3u.%3u", &major, &minor) == 2)
            doctor_value(words, "sudo amdgpu-install --usecase=rocm --rocmrelease=%u.%u.0", major,
                         minor);
        return doctor_say(
            words, "PyTorch %s was built with HIP %.20s%s and would load ROCm %s%s of %.120s",
            python->version, python->hip, doctor_miopen_of(python->hip), rocm->version,
            doctor_miopen_of(rocm->version), rocm->prefix);
    }
    return false;
}

bool doctor_if_torch_two_miopens(const struct doctor_machine *m, struct doctor_words *words)
{
    for (size_t i = 0; i < m->n_pythons && *m->variable_miopen; i++) {
        const struct doctor_python *python = &m->pythons[i];
        if (python->miopen < 0 || (size_t)python->miopen >= m->n_python_libraries) continue;
        const char *own = m->python_libraries[python->miopen].path;
        if (!strcmp(own, m->variable_miopen)) continue;
        return doctor_say(words, "%.170s of PyTorch %s (HIP %.8s%s), and %.120s by LD_LIBRARY_PATH",
                          own, python->version, python->hip, doctor_miopen_of(python->hip),
                          m->variable_miopen);
    }
    return false;
}
