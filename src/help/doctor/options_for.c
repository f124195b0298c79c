/* options_for.c: the machines that each way to compute suits, and the commands that lead there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chip/addresses.h"
#include "help/doctor/options.h"
#include "help/doctor/steps.h"

static enum doctor_service service(const struct doctor_machine *m)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    return gpu ? doctor_chip_service(gpu->version) : DOCTOR_CHIP_UNKNOWN;
}

static bool is_left_behind(const struct doctor_machine *m)
{
    return service(m) == DOCTOR_CHIP_LEFT_BEHIND;
}

/* The card to compute with is NVIDIA's. */
static bool is_nvidia(const struct doctor_machine *m)
{
    if (!doctor_has_vendor(m, DOCTOR_NVIDIA, true)) return false;
    if (!doctor_has_vendor(m, DOCTOR_AMD, true)) return true;
    bool cuda = false, hip = false; /* one of each: what was installed tells which is meant */
    for (size_t i = 0; i < m->n_pythons; i++) {
        cuda |= *m->pythons[i].cuda != '\0';
        hip |= *m->pythons[i].hip != '\0';
    }
    return cuda && !hip;
}

bool doctor_for_wsl_guide(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_python *python = NULL;
    for (size_t i = 0; i < m->n_pythons && !python; i++)
        if (*m->pythons[i].hip) python = &m->pythons[i];
    if (!m->has_dxg)
        doctor_step(words, "wsl --update; wsl --shutdown   # in Windows, with AMD's newest driver: "
                           "then /dev/dxg must be there");
    doctor_step(words, "export HSA_ENABLE_DXG_DETECTION=1   # and in ~/.bashrc");
    doctor_step(words, "rocminfo | grep gfx   # the chip is listed when WSL serves it; else AMD's "
                       "guide for WSL, with librocdxg, comes first");
    if (python) {
        doctor_step_enter(words, python);
    } else {
        doctor_step_fresh(m, words);
        doctor_step(words, "pip install torch torchvision --index-url " ADDRESS_WHEELS "rocm7.2");
    }
    doctor_step_rmcp(m, words, python);
    return m->is_wsl;
}

bool doctor_for_cuda_wheel(const struct doctor_machine *m, struct doctor_words *words)
{
    doctor_step_fresh(m, words);
    doctor_step(words, "pip install torch torchvision");
    doctor_step_rmcp(m, words, NULL);
    return is_nvidia(m);
}

bool doctor_for_cpu(const struct doctor_machine *m, struct doctor_words *words)
{
    (void)words;
    return !doctor_has_vendor(m, DOCTOR_AMD, false) &&
           !doctor_has_vendor(m, DOCTOR_NVIDIA, false) && !m->is_wsl;
}

bool doctor_for_keep_native(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    const struct doctor_python *python = is_left_behind(m) ? doctor_fit_python(m, gpu, true) : NULL;
    if (!python) return false;
    const bool own = doctor_targets_have(doctor_torch_library(m, python)->targets, gpu->chip);
    doctor_step_enter(words, python);
    if (!own || doctor_is_foreign(m, gpu))
        doctor_step_variables(m, words, own ? 0 : 100100); /* gfx1010 for gfx1012 */
    doctor_step_rmcp(m, words, python);
    return true;
}

static bool is_served(const struct doctor_machine *m)
{
    return (service(m) == DOCTOR_CHIP_WHEEL || service(m) == DOCTOR_CHIP_FAMILY) && !is_nvidia(m) &&
           !doctor_is_hopeless(m);
}

bool doctor_for_unset_override(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    const struct doctor_python *python = is_served(m) ? doctor_python_for(m, gpu->version) : NULL;
    if (!python || doctor_ready_python(m, gpu) || doctor_believed(m, gpu) == gpu->version)
        return false;
    doctor_step_enter(words, python);
    doctor_step_variables(m, words, 0);
    doctor_step_rmcp(m, words, python);
    return true;
}

bool doctor_for_match_rocm(const struct doctor_machine *m, struct doctor_words *words)
{
    struct doctor_words found = { .seen = "" };
    const struct doctor_python *python = doctor_ready_python(m, doctor_main_gpu(m));
    if (!doctor_if_torch_rocm_mismatch(m, &found) && !doctor_if_loader_mixed(m, &found)) {
        if (!doctor_holds(m, doctor_if_torch_two_miopens)) return false;
        doctor_value(&found, "unset LD_LIBRARY_PATH");
    }
    doctor_step(words, "%s", found.value);
    if (!python) return true;
    doctor_step_enter(words, python);
    doctor_step_rmcp(m, words, python);
    return true;
}

/* The commands that cure what is in the way of the PyTorch that would be used, one a finding. */
static void cure(const struct doctor_machine *m, struct doctor_words *words)
{
    struct doctor_finding *findings = calloc(doctor_n_rules, sizeof *findings);
    const size_t n = findings ? doctor_find(m, findings, doctor_n_rules) : 0;
    for (size_t i = 0; i < n; i++) {
        const struct doctor_finding *one = &findings[i];
        if (!doctor_blocks(one->rule) || !strncmp(one->fix, "see ", 4)) continue;
        if (strstr(words->value, one->fix) && *one->fix) continue; /* one command for two of them */
        if (!*one->fix)
            doctor_step(words, "rmcp doctor -v   # %s", one->rule->title);
        else if (strchr(one->fix, '\n') || strstr(one->fix, "   # "))
            doctor_step(words, "%s", one->fix);
        else
            doctor_step(words, "%s   # %s", one->fix, one->rule->title);
    }
    free(findings);
}

/* The kernel log tells of a GPU that hung or faulted: whatever did it may do it again. */
static bool has_crashed(const struct doctor_machine *m)
{
    return m->log[DOCTOR_LOG_RESET].n || m->log[DOCTOR_LOG_PREEMPTION].n ||
           m->log[DOCTOR_LOG_PAGE_FAULT].n || m->log[DOCTOR_LOG_CRASH].n;
}

/* Whether a PyTorch is of an older release than the one that is recommended for the chip. */
static bool is_behind(const struct doctor_python *python, const struct doctor_gpu *gpu)
{
    const char *wanted = doctor_chip_wheel(gpu->version);
    unsigned has[2], wants[2];
    return wanted && sscanf(python->hip, "%3u.%3u", &has[0], &has[1]) == 2 &&
           sscanf(wanted, "rocm%3u.%3u", &wants[0], &wants[1]) == 2 &&
           (has[0] < wants[0] || (has[0] == wants[0] && has[1] < wants[1]));
}

/* The PyTorch that computes on the GPU as things are, with nothing in its way. */
static const struct doctor_python *clear_python(const struct doctor_machine *m)
{
    const struct doctor_python *python =
        is_served(m) ? doctor_ready_python(m, doctor_main_gpu(m)) : NULL;
    return python && doctor_is_clear(m, python) ? python : NULL;
}

/* Into its environment, a first product of matrices, and RMCP. */
static void use(const struct doctor_machine *m, const struct doctor_python *python,
                struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    char name[64];
    doctor_step_enter(words, python);
    doctor_step_variables(m, words, doctor_override_of(m, gpu, name) ? doctor_believed(m, gpu) : 0);
    doctor_step(words, "python -c 'import torch; print(torch.ones(3, device=\"cuda\") @ "
                       "torch.ones(3, device=\"cuda\"))'");
    if (python->has_rmcp)
        doctor_step_rmcp(m, words, python);
    else
        doctor_step(words, "pip install rmcp-*.whl && rmcp check   # where RMCP's convolutions are "
                           "wanted: docs/install.md");
}

bool doctor_for_nothing(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_python *python = clear_python(m);
    if (!python || doctor_unseen(m, python, NULL)) return false;
    use(m, python, words);
    return true;
}

bool doctor_for_as_seen(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_python *python = clear_python(m);
    if (!python || !doctor_unseen(m, python, words)) return false;
    use(m, python, words);
    return true;
}

bool doctor_for_fix_settings(const struct doctor_machine *m, struct doctor_words *words)
{
    struct doctor_words unused = { .seen = "" };
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    const struct doctor_python *python = is_served(m) ? doctor_ready_python(m, gpu) : NULL;
    if (!python || doctor_is_clear(m, python) || doctor_for_match_rocm(m, &unused)) return false;
    if (doctor_holds(m, doctor_if_torch_known_bad) && is_behind(python, gpu)) {
        size_t n = 0; /* where nothing else is in the way, another PyTorch is the cure */
        for (size_t i = 0; i < doctor_n_rules; i++) {
            struct doctor_words found = { .seen = "" };
            n += doctor_blocks(&doctor_rules[i]) && doctor_rules[i].applies(m, &found);
        }
        if (n == 1) return false;
    }
    if (has_crashed(m)) doctor_step(words, "sudo dmesg | rmcp explain -   # what the card did");
    cure(m, words);
    if (strstr(words->value, "rmcp check")) return true;
    doctor_step_enter(words, python);
    doctor_step_rmcp(m, words, python);
    return true;
}

bool doctor_for_use_sibling(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    if (!is_served(m) || doctor_ready_python(m, gpu) || doctor_python_for(m, gpu->version))
        return false;
    const uint32_t sibling = doctor_chip_sibling(gpu->version);
    const struct doctor_python *python = doctor_python_for(m, sibling);
    if (!python) return false;
    doctor_step_enter(words, python);
    doctor_step_variables(m, words, sibling);
    doctor_step_rmcp(m, words, python);
    return true;
}

bool doctor_for_official_wheel(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    if (!is_served(m)) return false;
    const struct doctor_python *python = doctor_ready_python(m, gpu);
    const bool fails = has_crashed(m) || doctor_holds(m, doctor_if_torch_known_bad);
    if (python ? !fails || !is_behind(python, gpu) : doctor_python_for(m, gpu->version) != NULL)
        return false;
    doctor_step_fresh(m, words);
    doctor_step_wheel(words, gpu->version);
    doctor_step_variables(m, words,
                          service(m) == DOCTOR_CHIP_FAMILY ? doctor_chip_sibling(gpu->version) : 0);
    doctor_step_rmcp(m, words, NULL);
    return true;
}

bool doctor_for_therock(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    if (!is_left_behind(m) || doctor_fit_python(m, gpu, true)) return false;
    const bool listed = gpu->version <= 100102; /* AMD's index has gfx1010 to gfx1012 */
    doctor_step_fresh(m, words);
    doctor_step_amd_wheel(words, listed ? gpu->chip : "gfx1010");
    doctor_step_variables(m, words, listed ? 0 : 100100);
    doctor_step_rmcp(m, words, NULL);
    return true;
}

/* Chips that AMD's own index has, and pytorch.org's wheels only through a sibling. */
bool doctor_for_therock_family(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    if (!is_served(m) || service(m) != DOCTOR_CHIP_FAMILY || gpu->version < 100000 ||
        doctor_python_for(m, gpu->version))
        return false;
    doctor_step_fresh(m, words);
    doctor_step_amd_wheel(words, gpu->chip);
    doctor_step_variables(m, words, 0);
    doctor_step_rmcp(m, words, NULL);
    return true;
}

bool doctor_for_distribution(const struct doctor_machine *m, struct doctor_words *words)
{
    if (!is_left_behind(m) || !(!strcmp(m->os_id, "arch") || strstr(m->os_like, "arch")) ||
        doctor_fit_python(m, doctor_main_gpu(m), true))
        return false;
    doctor_step(words, "sudo pacman -S python-pytorch-rocm");
    doctor_step(words, "python3 -m venv --system-site-packages ~/torch && . ~/torch/bin/activate");
    doctor_step_variables(m, words, 0);
    doctor_step_rmcp(m, words, NULL);
    return true;
}

bool doctor_for_source_build(const struct doctor_machine *m, struct doctor_words *words)
{
    if (!is_left_behind(m)) return false;
    const char *chip = doctor_main_gpu(m)->chip;
    doctor_step_fresh(m, words);
    doctor_step(words, "git clone --recursive https://github.com/pytorch/pytorch && cd pytorch");
    doctor_step(words, "pip install -r requirements.txt && python tools/amd_build/build_amd.py");
    doctor_step(words, "PYTORCH_ROCM_ARCH=%s pip install --no-build-isolation -v .", chip);
    doctor_step_rmcp(m, words, NULL);
    return true;
}

bool doctor_for_docker(const struct doctor_machine *m, struct doctor_words *words)
{
    if (!is_left_behind(m)) return false;
    doctor_step(words, "docker run -it --device=/dev/kfd --device=/dev/dri --group-add "
                       "\"$(stat -c %%g /dev/kfd)\" -v \"$PWD:/work\" -w /work python:3.12 bash");
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    const bool listed = gpu->version <= 100102;
    doctor_step_amd_wheel(words, listed ? gpu->chip : "gfx1010");
    doctor_step_variables(m, words, listed ? 0 : 100100);
    doctor_step_rmcp(m, words, NULL);
    return true;
}

bool doctor_for_community_gfx803(const struct doctor_machine *m, struct doctor_words *words)
{
    (void)words;
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    return gpu && gpu->version == 80003;
}

/* A card that no wheel of pytorch.org has code for. */
static bool is_not_served(const struct doctor_machine *m)
{
    return doctor_main_gpu(m) && !is_served(m) && !is_nvidia(m);
}

bool doctor_for_other_hardware(const struct doctor_machine *m, struct doctor_words *words)
{
    (void)words;
    return is_not_served(m);
}

bool doctor_for_nvidia_card(const struct doctor_machine *m, struct doctor_words *words)
{
    (void)words;
    return is_not_served(m);
}

/* Machines on which nothing of PyTorch is native by a usual wheel, and those without a GPU. */
bool doctor_for_rented_gpu(const struct doctor_machine *m, struct doctor_words *words)
{
    doctor_step(words, "python3 -m venv ~/torch && . ~/torch/bin/activate && pip install torch "
                       "torchvision   # there, with an NVIDIA GPU");
    doctor_step_rmcp(m, words, NULL);
    return is_not_served(m) || doctor_for_cpu(m, words) || m->is_wsl;
}

bool doctor_for_vulkan(const struct doctor_machine *m, struct doctor_words *words)
{
    doctor_install_command(m, "mesa-vulkan-drivers", "vulkan-radeon", "mesa-vulkan-drivers",
                           words->value, sizeof words->value);
    doctor_step(words, "vulkaninfo --summary   # the card must be listed");
    return is_not_served(m);
}

bool doctor_for_opencl_cpu(const struct doctor_machine *m, struct doctor_words *words)
{
    bool opencl = false;
    for (size_t i = 0; i < m->n_icds; i++)
        opencl |= !m->icds[i].is_vulkan && m->icds[i].is_amd && !m->icds[i].library_missing;
    doctor_step_fresh(m, words);
    doctor_step(words, "pip install torch torchvision --index-url " ADDRESS_WHEELS "cpu");
    doctor_step(words, "pip install rmcp-*.whl   # docs/install.md");
    doctor_step(words, "rmcp check%s", opencl ? " --device offload:opencl" : "");
    doctor_step(words, "python -m rmcp --device %s train.py", opencl ? "offload:opencl" : "cpu");
    return is_not_served(m);
}

bool doctor_for_rocm52(const struct doctor_machine *m, struct doctor_words *words)
{
    bool is_there = false;
    for (size_t i = 0; i < m->n_pythons; i++) is_there |= !strncmp(m->pythons[i].hip, "5.2.", 4);
    if (!is_there) {
        doctor_step(words, "python3.10 -m venv ~/torch && . ~/torch/bin/activate");
        doctor_step(words,
                    "pip install torch==1.13.1+rocm5.2 --index-url " ADDRESS_WHEELS "rocm5.2");
    }
    doctor_step(words, "export HSA_OVERRIDE_GFX_VERSION=10.3.0   # fp32 only (--no-half)");
    doctor_step_rmcp(m, words, NULL);
    return is_left_behind(m);
}

bool doctor_for_repair_wheel(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    if (!is_left_behind(m) || gpu->version > 100102 || doctor_fit_python(m, gpu, true))
        return false; /* gfx1013 is no card's chip */
    for (size_t i = 0; i < m->n_pythons; i++) {
        const struct doctor_library *library = doctor_torch_library(m, &m->pythons[i]);
        char folder[DOCTOR_PATH], word[DOCTOR_PATH + 64];
        if (!library || !doctor_targets_have(library->targets, "gfx1030") ||
            doctor_targets_have(library->targets, gpu->chip))
            continue;
        const char *slash = strrchr(library->path, '/');
        snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - library->path) : 0,
                 library->path);
        doctor_quote(folder, word, sizeof word);
        doctor_step_enter(words, &m->pythons[i]);
        doctor_step(words, "rmcp repair --target %s --install-into %s", gpu->chip, word);
        doctor_step_variables(m, words, 0);
        doctor_step_rmcp(m, words, &m->pythons[i]);
        doctor_step(words, "rmcp repair --restore %s   # undoes it", word);
        return true;
    }
    return false;
}

bool doctor_for_override_last_resort(const struct doctor_machine *m, struct doctor_words *words)
{
    if (!is_left_behind(m) || doctor_fit_python(m, doctor_main_gpu(m), true)) return false;
    for (size_t i = 0; i < m->n_pythons; i++) {
        const struct doctor_library *library = doctor_torch_library(m, &m->pythons[i]);
        if (!library || !doctor_targets_have(library->targets, "gfx1030")) continue;
        doctor_step_enter(words, &m->pythons[i]);
        doctor_step(words, "export HSA_OVERRIDE_GFX_VERSION=10.3.0");
        doctor_step_rmcp(m, words, &m->pythons[i]);
        return true;
    }
    return false;
}
