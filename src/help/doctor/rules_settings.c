/* rules_settings.c: conditions about variables, the kernel log, leftovers, memory and drivers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help/doctor/steps.h"

static void version_text(uint32_t version, char text[static 24])
{
    snprintf(text, 24, "%u.%u.%u", version / 10000, version / 100 % 100, version % 100);
}

/* The override of the GPU to compute on, when it can be read. */
static bool main_override(const struct doctor_machine *m, const struct doctor_gpu **gpu,
                          char name[static 64], const char **value, uint32_t *version)
{
    *gpu = doctor_main_gpu(m);
    if (!*gpu || !(*gpu)->version) return false;
    *value = doctor_override_of(m, *gpu, name);
    return *value && doctor_override_parse(*value, version);
}

bool doctor_if_override_foreign(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu;
    const char *value;
    uint32_t version;
    char name[64];
    if (!main_override(m, &gpu, name, &value, &version) || !doctor_is_foreign(m, gpu)) return false;
    const uint32_t sibling = doctor_chip_sibling(gpu->version);
    char own[24];
    version_text(sibling, own);
    if (doctor_chip_service(gpu->version) == DOCTOR_CHIP_FAMILY && doctor_python_for(m, sibling))
        doctor_value(words, "export %s=%s   # the value of this chip's own family", name, own);
    else /* without native code nothing runs at all, so that comes first */
        doctor_value(
            words, "%sunset %s%s%s",
            doctor_fit_python(m, gpu, true) ? "" : "install native code as recommended; then: ",
            name, *m->profile ? "   # and remove it in " : "", *m->profile ? m->profile : "");
    if (doctor_chip_service(gpu->version) != DOCTOR_CHIP_LEFT_BEHIND)
        words->why =
            "Code built for other silicon is loaded, with instructions that this chip lacks.\n"
            "Hangs, page faults, resets and wrong results follow.";
    return doctor_say(words, "%s=%s, but the chip is %s", name, value, gpu->chip);
}

/* What has been reported: with ROCm 6.0 and 6.1 gfx1102 fails at once, and the others of these
 * chips with every release. */
static bool is_refused(const struct doctor_machine *m, const struct doctor_gpu *gpu)
{
    const struct doctor_python *python = doctor_python_for(m, doctor_believed(m, gpu));
    return gpu->version != 110002 ||
           (python && (!strncmp(python->hip, "6.0.", 4) || !strncmp(python->hip, "6.1.", 4)));
}

static bool say_registers(const struct doctor_machine *m, struct doctor_words *words, bool refused)
{
    const struct doctor_gpu *gpu;
    const char *value;
    uint32_t version;
    char name[64];
    if (!main_override(m, &gpu, name, &value, &version) || !doctor_is_short_of_registers(m, gpu) ||
        is_refused(m, gpu) != refused)
        return false;
    doctor_value(words, "%sunset %s",
                 doctor_python_for(m, gpu->version) ? "" : "install as recommended; then: ", name);
    if (version == 110002) {
        words->why =
            "Owners of this chip report hangs under it; newer wheels have code for the chip "
            "itself.";
        return doctor_say(words, "%s=%s on %s", name, value, gpu->chip);
    }
    return doctor_say(words, "%s=%s on %s, which has 1024 registers where that chip has 1536", name,
                      value, gpu->chip);
}

bool doctor_if_registers_refused(const struct doctor_machine *m, struct doctor_words *words)
{
    return say_registers(m, words, true);
}

bool doctor_if_registers_risk(const struct doctor_machine *m, struct doctor_words *words)
{
    return say_registers(m, words, false);
}

bool doctor_if_override_malformed(const struct doctor_machine *m, struct doctor_words *words)
{
    for (size_t i = 0; i < m->n_variables; i++) {
        uint32_t version;
        const struct doctor_variable *one = &m->variables[i];
        if (strncmp(one->name, "HSA_OVERRIDE_GFX_VERSION", 24)) continue;
        if (doctor_override_parse(one->value, &version)) continue;
        doctor_value(words, "unset %s", one->name);
        return doctor_say(words, "%s='%s'; it must be three numbers, such as 10.1.0", one->name,
                          one->value);
    }
    return false;
}

bool doctor_if_override_family(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu;
    const char *value;
    uint32_t version;
    char name[64];
    return main_override(m, &gpu, name, &value, &version) && version != gpu->version &&
           !doctor_is_foreign(m, gpu) && !doctor_is_short_of_registers(m, gpu) &&
           doctor_say(words, "%s=%s on %s", name, value, gpu->chip);
}

bool doctor_if_override_same(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu;
    const char *value;
    uint32_t version;
    char name[64];
    if (!main_override(m, &gpu, name, &value, &version) || version != gpu->version) return false;
    doctor_value(words, "%s", name);
    return doctor_say(words, "%s=%s, which the chip is anyway", name, value);
}

bool doctor_if_override_mixed(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *main = doctor_main_gpu(m);
    char name[64], own[24];
    for (size_t i = 0; i < m->n_gpus && main; i++) {
        const struct doctor_gpu *gpu = &m->gpus[i];
        if (!doctor_is_shown(m, gpu) || gpu == main || gpu->vendor != DOCTOR_AMD || !gpu->in_kfd ||
            !doctor_is_foreign(m, gpu))
            continue;
        const char *value = doctor_override_of(m, gpu, name);
        version_text(gpu->version, own);
        doctor_value(words, "unset %s; export HSA_OVERRIDE_GFX_VERSION_%u=%s", name, main->node,
                     value ? value : own);
        return doctor_say(words, "%s=%s is also for %s (%s)", name, value ? value : "", gpu->name,
                          gpu->chip);
    }
    return false;
}

/* How many of `n` devices a list leaves: "0,1", "GPU-0123456789abcdef"; it ends with the first that
 * is not there. */
static unsigned long count_listed(const char *list, unsigned long n)
{
    unsigned long count = 0;
    while (count < n) {
        list += strspn(list, " ");
        const bool is_number = *list >= '0' && *list <= '9';
        if (is_number ? strtoul(list, NULL, 10) >= n : strncmp(list, "GPU-", 4)) break;
        count++;
        list += strcspn(list, ",");
        if (*list != ',') break;
        list++;
    }
    return count;
}

bool doctor_if_visible_none(const struct doctor_machine *m, struct doctor_words *words)
{
    static const char *const names[] = { "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                         "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL" };
    unsigned long n = 0;
    for (size_t i = 0; i < m->n_gpus; i++)
        n += m->gpus[i].vendor == DOCTOR_AMD && m->gpus[i].in_kfd;
    for (size_t i = 0; i < 4 && n; i++) {
        const char *value = doctor_variable(m, names[i]), *before = doctor_variable(m, names[0]);
        if (!value || (i == 3 && !*value)) continue;
        const unsigned long left = count_listed(value, n);
        if (!left) {
            doctor_value(words, "%s", names[i]);
            return doctor_say(
                words, "%s='%s' with %lu GPU%s%s%.60s", names[i], value, n, n == 1 ? "" : "s",
                i && before ? ", those of ROCR_VISIBLE_DEVICES=" : "", i && before ? before : "");
        }
        if (!i) n = left; /* the runtime below HIP hides first, and HIP counts what it leaves */
    }
    return false;
}

bool doctor_if_preload_shim(const struct doctor_machine *m, struct doctor_words *words)
{
    const char *value = doctor_variable(m, "LD_PRELOAD");
    return value && doctor_looks_like_shim(value) && doctor_say(words, "LD_PRELOAD=%s", value);
}

bool doctor_if_preload_other(const struct doctor_machine *m, struct doctor_words *words)
{
    const char *value = doctor_variable(m, "LD_PRELOAD");
    return value && *value && !doctor_looks_like_shim(value) && !strstr(value, "librmcp") &&
           !strstr(value, "/libMIOpen.so") && doctor_say(words, "LD_PRELOAD=%s", value);
}

bool doctor_if_preload_file(const struct doctor_machine *m, struct doctor_words *words)
{
    return doctor_looks_like_shim(m->preload_file) &&
           doctor_say(words, "/etc/ld.so.preload: %s", m->preload_file);
}

bool doctor_if_adapter_enabled(const struct doctor_machine *m, struct doctor_words *words)
{
    const char *value = doctor_variable(m, "RMCP_TORCH");
    if (!value || !*value || !strcmp(value, "0")) return false;
    for (size_t i = 0; i < m->n_pythons; i++)
        if (m->pythons[i].has_hook)
            return doctor_say(words, "RMCP_TORCH=%s, and %.300s/rmcp-torch.pth", value,
                              m->pythons[i].site);
    return false;
}

bool doctor_if_sdma_off(const struct doctor_machine *m, struct doctor_words *words)
{
    const char *value = doctor_variable(m, "HSA_ENABLE_SDMA");
    return value && !strcmp(value, "0") && doctor_say(words, "HSA_ENABLE_SDMA=0");
}

/* All variables of a kind, as "A=1 B=2". */
static bool say_variables(const struct doctor_machine *m, struct doctor_words *words,
                          const char *const *prefixes)
{
    bool any = false;
    for (size_t i = 0; i < m->n_variables; i++)
        for (const char *const *prefix = prefixes; *prefix; prefix++) {
            const struct doctor_variable *one = &m->variables[i];
            if (strncmp(one->name, *prefix, strlen(*prefix))) continue;
            const size_t used = strlen(words->seen);
            snprintf(words->seen + used, sizeof words->seen - used, "%s%s=%.60s", used ? " " : "",
                     one->name, one->value);
            if (!any) doctor_value(words, "%s", one->name);
            any = true;
            break;
        }
    return any;
}

bool doctor_if_miopen_tuning(const struct doctor_machine *m, struct doctor_words *words)
{
    static const char *const prefixes[] = { "MIOPEN_", NULL };
    return say_variables(m, words, prefixes);
}

bool doctor_if_arch_variable(const struct doctor_machine *m, struct doctor_words *words)
{
    static const char *const prefixes[] = { "PYTORCH_ROCM_ARCH", "HCC_AMDGPU_TARGET", NULL };
    return say_variables(m, words, prefixes);
}

bool doctor_if_serialize(const struct doctor_machine *m, struct doctor_words *words)
{
    static const char *const prefixes[] = { "AMD_SERIALIZE_", "HIP_LAUNCH_BLOCKING",
                                            "AMD_LOG_LEVEL", NULL };
    return say_variables(m, words, prefixes);
}

bool doctor_if_profile_sets(const struct doctor_machine *m, struct doctor_words *words)
{
    return *m->profile && doctor_say(words, "%s", m->profile);
}

/* ---- the kernel log ---- */

static bool say_log(const struct doctor_machine *m, enum doctor_log kind,
                    struct doctor_words *words)
{
    if (!m->log[kind].n) return false;
    doctor_value(words, "%s", doctor_upgrade_command(m));
    return doctor_say(words, "%u line%s, the last: %s", m->log[kind].n,
                      m->log[kind].n == 1 ? "" : "s", m->log[kind].line);
}

bool doctor_if_log_page_fault(const struct doctor_machine *m, struct doctor_words *words)
{
    return say_log(m, DOCTOR_LOG_PAGE_FAULT, words);
}

bool doctor_if_log_reset(const struct doctor_machine *m, struct doctor_words *words)
{
    return say_log(m, DOCTOR_LOG_RESET, words);
}

bool doctor_if_log_preemption(const struct doctor_machine *m, struct doctor_words *words)
{
    return say_log(m, DOCTOR_LOG_PREEMPTION, words);
}

bool doctor_if_log_unsupported(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    return !(gpu && gpu->in_kfd) && say_log(m, DOCTOR_LOG_UNSUPPORTED, words);
}

bool doctor_if_log_unreadable(const struct doctor_machine *m, struct doctor_words *words)
{
    return m->log_read == DOCTOR_NO && doctor_has_vendor(m, DOCTOR_AMD, false) &&
           doctor_say(words, "this user may not read the kernel log");
}

/* ---- leftovers ---- */

static bool say_leftover(const struct doctor_machine *m, const char *what,
                         struct doctor_words *words)
{
    for (size_t i = 0; i < m->n_leftovers; i++)
        if (!strcmp(m->leftovers[i].what, what)) {
            char word[DOCTOR_PATH + 64];
            doctor_value(words, "%s", doctor_quote(m->leftovers[i].path, word, sizeof word));
            return doctor_say(words, "%s", m->leftovers[i].path);
        }
    return false;
}

bool doctor_if_leftover_shim(const struct doctor_machine *m, struct doctor_words *words)
{
    return say_leftover(m, "shim", words);
}

bool doctor_if_leftover_rocr(const struct doctor_machine *m, struct doctor_words *words)
{
    return say_leftover(m, "rocr", words);
}

bool doctor_if_leftover_conv(const struct doctor_machine *m, struct doctor_words *words)
{
    return say_leftover(m, "conv", words);
}

bool doctor_if_leftover_mtype(const struct doctor_machine *m, struct doctor_words *words)
{
    char file[DOCTOR_PATH + 64];
    if (*m->mtype || !say_leftover(m, "mtype", words)) return false;
    snprintf(file, sizeof file, "%.*s", DOCTOR_PATH + 40, words->value);
    doctor_value(words, "sudo mv %s %s.aside && %s", file, file, doctor_initramfs_command(m));
    return true;
}

/* ---- a build from source ---- */

static bool may_build(const struct doctor_machine *m)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    return gpu && doctor_chip_service(gpu->version) == DOCTOR_CHIP_LEFT_BEHIND;
}

bool doctor_if_build_memory(const struct doctor_machine *m, struct doctor_words *words)
{
    const double gib = (double)(m->ram + m->swap) / (1u << 30);
    return m->has_memory && may_build(m) && gib < 24 &&
           doctor_say(words, "%.1f GiB of memory and swap", gib);
}

bool doctor_if_build_disk(const struct doctor_machine *m, struct doctor_words *words)
{
    const double gb = (double)m->disk / 1e9;
    return m->has_disk && may_build(m) && gb < 40 && doctor_say(words, "%.0f GB free at home", gb);
}

/* ---- OpenCL, Vulkan ---- */

static const struct doctor_icd *find_icd(const struct doctor_machine *m, bool vulkan)
{
    for (size_t i = 0; i < m->n_icds; i++)
        if (m->icds[i].is_vulkan == vulkan && m->icds[i].is_amd && !m->icds[i].library_missing)
            return &m->icds[i];
    return NULL;
}

bool doctor_if_opencl_none(const struct doctor_machine *m, struct doctor_words *words)
{
    if (find_icd(m, false) || !doctor_has_vendor(m, DOCTOR_AMD, false)) return false;
    doctor_install_command(m, "mesa-opencl-icd", "opencl-mesa", "mesa-libOpenCL", words->value,
                           sizeof words->value);
    return m->probes[DOCTOR_PROBE_DRIVERS] == DOCTOR_DONE &&
           doctor_say(words, "no AMD driver in /etc/OpenCL/vendors");
}

bool doctor_if_opencl_broken(const struct doctor_machine *m, struct doctor_words *words)
{
    for (size_t i = 0; i < m->n_icds; i++)
        if (!m->icds[i].is_vulkan && m->icds[i].library_missing) {
            doctor_value(words, "%s", m->icds[i].file);
            return doctor_say(words, "%s names %s, which is not there", m->icds[i].file,
                              m->icds[i].library);
        }
    return false;
}

bool doctor_if_opencl_ok(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_icd *icd = find_icd(m, false);
    return icd && doctor_has_vendor(m, DOCTOR_AMD, false) &&
           doctor_say(words, "%s: %s", icd->file, icd->library);
}

bool doctor_if_vulkan_none(const struct doctor_machine *m, struct doctor_words *words)
{
    if (find_icd(m, true) || !doctor_has_vendor(m, DOCTOR_AMD, false)) return false;
    doctor_install_command(m, "mesa-vulkan-drivers", "vulkan-radeon", "mesa-vulkan-drivers",
                           words->value, sizeof words->value);
    return m->probes[DOCTOR_PROBE_DRIVERS] == DOCTOR_DONE &&
           doctor_say(words, "no AMD driver in /usr/share/vulkan/icd.d");
}

bool doctor_if_vulkan_ok(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_icd *icd = find_icd(m, true);
    return icd && doctor_has_vendor(m, DOCTOR_AMD, false) && doctor_say(words, "%s", icd->file);
}

bool doctor_if_probe_late(const struct doctor_machine *m, struct doctor_words *words)
{
    bool any = false;
    for (int i = 0; i < DOCTOR_PROBES; i++) {
        if (m->probes[i] != DOCTOR_LATE && m->probes[i] != DOCTOR_CRASHED) continue;
        const size_t used = strlen(words->seen);
        snprintf(words->seen + used, sizeof words->seen - used, "%s%s %s", used ? ", " : "",
                 doctor_probe_name((enum doctor_probe)i),
                 m->probes[i] == DOCTOR_LATE ? "took too long" : "crashed");
        any = true;
    }
    return any;
}
