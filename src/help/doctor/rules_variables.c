/* rules_variables.c: conditions about variables that lead programs to other cards, libraries or
 * files than those that were looked at. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help/doctor/rules.h"

/* Ids of cards cannot be told from the topology. */
static bool lists_ids(const struct doctor_machine *m)
{
    static const char *const names[] = { "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                         "CUDA_VISIBLE_DEVICES" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = doctor_variable(m, names[i]);
        if (value && strstr(value, "GPU-")) return true;
    }
    return false;
}

bool doctor_is_shown(const struct doctor_machine *m, const struct doctor_gpu *gpu)
{
    return doctor_is_hidden(m) && lists_ids(m) ? false : doctor_is_visible(m, gpu);
}

bool doctor_if_visible_other(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *main = doctor_main_gpu(m), *left = NULL;
    unsigned ordinal = 0;
    if (!main || !main->in_kfd || doctor_is_visible(m, main)) return false;
    for (size_t i = 0; i < m->n_gpus; i++) {
        const struct doctor_gpu *gpu = &m->gpus[i];
        if (gpu->vendor != DOCTOR_AMD || !gpu->in_kfd || gpu == main) continue;
        if (doctor_is_visible(m, gpu)) left = gpu;
        if (gpu->node < main->node) ordinal++;
    }
    if (!left) return false; /* visible_none */
    doctor_value(words,
                 "unset ROCR_VISIBLE_DEVICES CUDA_VISIBLE_DEVICES; export "
                 "HIP_VISIBLE_DEVICES=%u",
                 ordinal);
    return doctor_say(words, "programs see %s (%s), and not %s (%s)", left->name, left->chip,
                      main->name, main->chip);
}

/* A library of ROCm's in a list of files to preload; RMCP's MIOpen is none. */
static const char *preloaded(const struct doctor_machine *m)
{
    static const char *const names[] = { "libamdhip64.so", "libhsa-runtime64.so",
                                         "librocblas.so",  "libhipblas",
                                         "libtorch",       "libMIOpen.so" };
    const char *value = doctor_variable(m, "LD_PRELOAD");
    for (size_t i = 0; value && i < sizeof names / sizeof *names; i++)
        if (strstr(value, names[i]) && !(i == 5 && strstr(value, "/rmcp/"))) return names[i];
    return NULL;
}

/* Whether what LD_LIBRARY_PATH brings in is of a ROCm that torch_rocm_mismatch has looked at. */
static bool is_known_rocm(const struct doctor_machine *m)
{
    for (size_t i = 0; i < m->n_rocms; i++) {
        const size_t n = strlen(m->rocms[i].prefix);
        if (n && !strncmp(m->variable_rocm, m->rocms[i].prefix, n)) return true;
    }
    return false;
}

bool doctor_if_loader_mixed(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_python *python = doctor_ready_python(m, doctor_main_gpu(m));
    if (!python || m->is_wsl) return false;
    if (preloaded(m)) {
        doctor_value(words, "unset LD_PRELOAD");
        return doctor_say(words, "LD_PRELOAD=%s", doctor_variable(m, "LD_PRELOAD"));
    }
    const size_t n = strlen(python->site);
    if (!*m->variable_rocm || !strncmp(m->variable_rocm, python->site, n)) return false;
    if (*m->variable_release ? doctor_same_release(python->hip, m->variable_release)
                             : !python->bundles_rocm && is_known_rocm(m))
        return false;
    doctor_value(words, "unset LD_LIBRARY_PATH");
    return doctor_say(words, "%.200s%s%s by LD_LIBRARY_PATH, PyTorch %s has HIP %.20s",
                      m->variable_rocm, *m->variable_release ? " of ROCm " : "",
                      m->variable_release, python->version, python->hip);
}

bool doctor_if_override_unread(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    const struct doctor_python *python = doctor_ready_python(m, gpu);
    char name[64];
    unsigned major, minor;
    const char *value = python ? doctor_override_of(m, gpu, name) : NULL;
    if (!value || !strcmp(name, "HSA_OVERRIDE_GFX_VERSION") ||
        doctor_believed(m, gpu) == gpu->version ||
        sscanf(python->hip, "%3u.%3u", &major, &minor) != 2 || 100 * major + minor >= 602)
        return false;
    doctor_value(words, "HSA_OVERRIDE_GFX_VERSION=%s", value);
    return doctor_say(words, "%s=%s, PyTorch %s has HIP %.20s", name, value, python->version,
                      python->hip);
}

/* Allocators and such: libraries that change nothing about the GPU. */
static bool is_harmless(const char *name, size_t length)
{
    static const char *const known[] = { "malloc", "libstdc++", "libgomp",   "libiomp", "libgcc",
                                         "libomp", "librmcp",   "libMIOpen", "libnuma" };
    char one[DOCTOR_PATH];
    snprintf(one, sizeof one, "%.*s", (int)length, name);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(one, known[i])) return true;
    return !*one;
}

bool doctor_preloads_unknown(const struct doctor_machine *m)
{
    const char *value = doctor_variable(m, "LD_PRELOAD");
    for (size_t n; value && *value; value += n + (value[n] != '\0')) {
        n = strcspn(value, ": ");
        if (!is_harmless(value, n)) return true;
    }
    return false;
}

bool doctor_if_kernels_elsewhere(const struct doctor_machine *m, struct doctor_words *words)
{
    static const char *const names[] = { "ROCBLAS_TENSILE_LIBPATH", "HIPBLASLT_TENSILE_LIBPATH" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = doctor_variable(m, names[i]);
        if (!value || !*value) continue;
        doctor_value(words, "%s", names[i]);
        return doctor_say(words, "%s=%s", names[i], value);
    }
    return false;
}

/* Whether PyTorch takes the options of its allocator: "key:value,key:[a:1,b:2]". */
static bool is_option(const char *text, size_t length)
{
    static const char *const keys[] = { "max_split_size_mb",
                                        "max_non_split_rounding_mb",
                                        "garbage_collection_threshold",
                                        "backend",
                                        "roundup_power2_divisions",
                                        "roundup_bypass_threshold_mb",
                                        "expandable_segments",
                                        "release_lock_on_cudamalloc",
                                        "release_lock_on_hipmalloc",
                                        "pinned_use_cuda_host_register",
                                        "pinned_use_hip_host_register",
                                        "pinned_num_register_threads",
                                        "pinned_use_background_threads",
                                        "pinned_reserve_segment_size_mb",
                                        "graph_capture_record_stream_reuse",
                                        "per_process_memory_fraction",
                                        "use_async_allocator",
                                        "throw_on_cudamalloc_oom",
                                        "large_segment_size_mb" };
    while (length && *text == ' ') text++, length--;
    const char *colon = memchr(text, ':', length);
    for (size_t i = 0; colon && i < sizeof keys / sizeof *keys; i++)
        if (strlen(keys[i]) == (size_t)(colon - text) &&
            !strncmp(text, keys[i], (size_t)(colon - text)))
            return true;
    return false;
}

bool doctor_if_allocator_malformed(const struct doctor_machine *m, struct doctor_words *words)
{
    static const char *const names[] = { "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF",
                                         "PYTORCH_ALLOC_CONF" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = doctor_variable(m, names[i]);
        for (size_t n; value && *value; value += n + (value[n] != '\0')) {
            int depth = 0;
            for (n = 0; value[n] && (depth || value[n] != ','); n++)
                depth += (value[n] == '[') - (value[n] == ']');
            if (is_option(value, n)) continue;
            doctor_value(words, "%s", names[i]);
            return doctor_say(words, "%s=%s", names[i], doctor_variable(m, names[i]));
        }
    }
    return false;
}
