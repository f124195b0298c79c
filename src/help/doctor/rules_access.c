/* rules_access.c: conditions about what keeps programs from a card whose driver runs: render nodes,
 * rules of the system, errors of the card, sizes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "help/doctor/steps.h"

static bool is_denied(const struct doctor_device *device)
{
    return device->exists && (device->open_error == EACCES || device->open_error == EPERM);
}

/* Whether owner, group and mode of a device would let this user open it. */
static bool is_allowed(const struct doctor_machine *m, const struct doctor_device *device)
{
    if ((device->mode & 0006) == 0006) return true;
    if (device->uid == m->uid && (device->mode & 0600) == 0600) return true;
    for (size_t i = 0; i < m->n_groups; i++)
        if (m->groups[i] == device->gid && (device->mode & 0060) == 0060) return true;
    return false;
}

bool doctor_is_policy(const struct doctor_machine *m, const struct doctor_device *device)
{
    return is_denied(device) && m->has_user && is_allowed(m, device) &&
           (m->is_enforcing || !*m->container);
}

const struct doctor_device *doctor_render_of(const struct doctor_machine *m,
                                             const struct doctor_gpu *gpu)
{
    const struct doctor_device *some = NULL;
    for (size_t i = 0; i < m->n_render; i++) {
        const struct doctor_device *one = &m->render[i];
        unsigned minor;
        if (gpu && gpu->render &&
            (sscanf(one->path, "/dev/dri/renderD%5u", &minor) != 1 || minor != gpu->render))
            continue;
        if (!some || (some->open_error && !one->open_error)) some = one;
    }
    return some;
}

bool doctor_if_access_policy(const struct doctor_machine *m, struct doctor_words *words)
{
    if (!doctor_is_policy(m, &m->kfd)) return false;
    if (m->is_enforcing)
        doctor_value(words, "%s",
                     *m->container ? "sudo setsebool -P container_use_devices 1   # on the host"
                                   : "sudo ausearch -m avc -ts recent | audit2why");
    else
        doctor_value(words,
                     "systemctl show -p DeviceAllow -p PrivateDevices \"$(ps -o unit= $$)\"");
    return doctor_say(words, "/dev/kfd: mode %o, owner %u, group %u let you in; %s does not",
                      m->kfd.mode, m->kfd.uid, m->kfd.gid,
                      m->is_enforcing ? "SELinux"
                                      : "something else (a sandbox, a service's rules)");
}

bool doctor_if_render_missing(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    const struct doctor_device *render = doctor_render_of(m, gpu);
    if (!gpu || !gpu->in_kfd || *m->container || !m->kfd.exists || m->kfd.open_error ||
        m->probes[DOCTOR_PROBE_ACCESS] != DOCTOR_DONE)
        return false;
    if (render && !render->open_error) return false;
    if (render)
        return doctor_say(words, "opening %s: %s", render->path, strerror(render->open_error));
    if (gpu->render)
        return doctor_say(words, "%s is /dev/dri/renderD%u, which is not there", gpu->name,
                          gpu->render);
    return doctor_say(words, "/dev/kfd opens, no /dev/dri/renderD* is there");
}

/* ---- the kernel log ---- */

static bool say_log(const struct doctor_machine *m, enum doctor_log kind,
                    struct doctor_words *words)
{
    return m->log[kind].n && doctor_say(words, "%u line%s, the last: %s", m->log[kind].n,
                                        m->log[kind].n == 1 ? "" : "s", m->log[kind].line);
}

bool doctor_if_driver_failed(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    if (!gpu || gpu->in_kfd || !say_log(m, DOCTOR_LOG_FAILED, words)) return false;
    if (strstr(m->log[DOCTOR_LOG_FAILED].line, "error -12")) {
        words->why = "There is no room for the card's memory on the bus (error -12).";
        doctor_value(words, "in the firmware's set-up: Above 4G Decoding and Resizable BAR on, CSM "
                            "off; then: sudo dmesg | grep BAR");
    } else {
        doctor_value(words, "sudo dmesg | rmcp explain -   # why the driver gave the card up");
    }
    return true;
}

bool doctor_if_log_hardware(const struct doctor_machine *m, struct doctor_words *words)
{
    return say_log(m, DOCTOR_LOG_HARDWARE, words);
}

bool doctor_if_log_crash(const struct doctor_machine *m, struct doctor_words *words)
{
    return say_log(m, DOCTOR_LOG_CRASH, words);
}

/* ---- firmware ---- */

/* The release of the scheduler's firmware of late 2025 that hangs on the first RDNA 3.5. */
static bool has_bad_mes(const struct doctor_gpu *gpu)
{
    return (gpu->version == 110500 || gpu->version == 110501) &&
           (gpu->mes_firmware & 0xfff) == 0x83;
}

bool doctor_if_firmware_mes_bad(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    doctor_value(words, "%s", doctor_upgrade_command(m));
    return gpu && has_bad_mes(gpu) &&
           doctor_say(words, "%s, MES firmware 0x%x", gpu->name, gpu->mes_firmware & 0xfff);
}

/* ---- sizes ---- */

bool doctor_if_vram_small(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    return gpu && !gpu->is_integrated && gpu->in_kfd && gpu->vram && gpu->vram < 1u << 30 &&
           doctor_say(words, "%s has %.2f GiB", gpu->name, (double)gpu->vram / (1u << 30));
}

bool doctor_if_disk_full(const struct doctor_machine *m, struct doctor_words *words)
{
    return m->has_disk && m->disk < 1000000000 && doctor_has_vendor(m, DOCTOR_AMD, false) &&
           doctor_say(words, "%.2f GB free at home", (double)m->disk / 1e9);
}

/* ---- other cards ---- */

/* The way to compute on one card beside the others. */
static void advise_card(const struct doctor_machine *m, const struct doctor_gpu *gpu,
                        struct doctor_words *words)
{
    const uint32_t sibling = doctor_chip_sibling(gpu->version);
    const struct doctor_python *python = doctor_python_for(m, gpu->version);
    unsigned ordinal = 0;
    for (size_t i = 0; i < m->n_gpus; i++)
        ordinal +=
            m->gpus[i].vendor == DOCTOR_AMD && m->gpus[i].in_kfd && m->gpus[i].node < gpu->node;
    const enum doctor_service service = doctor_chip_service(gpu->version);
    if (service == DOCTOR_CHIP_OLD || service == DOCTOR_CHIP_UNKNOWN) {
        doctor_step(words, "rmcp devices   # %s: OpenCL, where a driver is installed", gpu->name);
        return;
    }
    unsigned major = 0, minor = 0;
    if (!python && service == DOCTOR_CHIP_FAMILY && (python = doctor_python_for(m, sibling))) {
        const bool reads_one =
            sscanf(python->hip, "%3u.%3u", &major, &minor) == 2 && 100 * major + minor >= 602;
        char node[16] = "";
        if (reads_one) snprintf(node, sizeof node, "_%u", gpu->node);
        doctor_step_enter(words, python);
        doctor_step(words, "export HSA_OVERRIDE_GFX_VERSION%s=%u.%u.%u", node, sibling / 10000,
                    sibling / 100 % 100, sibling % 100);
    } else if (python) {
        doctor_step_enter(words, python);
    } else {
        doctor_step(words, "python3 -m venv ~/torch-%s && . ~/torch-%s/bin/activate   # for %s",
                    gpu->chip, gpu->chip, gpu->name);
        if (service == DOCTOR_CHIP_LEFT_BEHIND)
            doctor_step_amd_wheel(words, gpu->version <= 100102 ? gpu->chip : "gfx1010");
        else
            doctor_step_wheel(words, gpu->version);
        if (service == DOCTOR_CHIP_FAMILY)
            doctor_step(words, "export HSA_OVERRIDE_GFX_VERSION_%u=%u.%u.%u", gpu->node,
                        sibling / 10000, sibling / 100 % 100, sibling % 100);
    }
    doctor_step(words, "export HIP_VISIBLE_DEVICES=%u   # %s", ordinal, gpu->name);
    if (!python || !python->has_rmcp)
        doctor_step(words, "pip install rmcp-*.whl   # docs/install.md");
    doctor_step(words, "rmcp check");
    doctor_step(words, "python -m rmcp train.py");
}

/* Whether what is installed or recommended for one card serves another. */
static bool serves_both(const struct doctor_machine *m, const struct doctor_gpu *main,
                        const struct doctor_gpu *gpu)
{
    const struct doctor_python *python = doctor_ready_python(m, main);
    const char *wheel = doctor_chip_wheel(main->version), *other = doctor_chip_wheel(gpu->version);
    if (python)
        return !doctor_rocblas_without(m, python, gpu->chip) &&
               doctor_targets_have(doctor_torch_library(m, python)->targets, gpu->chip);
    return wheel && other && !strcmp(wheel, other) &&
           doctor_chip_service(gpu->version) == DOCTOR_CHIP_WHEEL;
}

bool doctor_if_other_cards(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *main = doctor_main_gpu(m);
    for (size_t i = 0; i < m->n_gpus && main; i++) {
        const struct doctor_gpu *gpu = &m->gpus[i];
        bool is_said = gpu == main || gpu->vendor != DOCTOR_AMD || gpu->is_integrated ||
                       !*gpu->chip || !gpu->in_kfd || gpu->version == main->version ||
                       serves_both(m, main, gpu);
        for (size_t k = 0; k < i && !is_said; k++)
            is_said = m->gpus[k].version == gpu->version && !m->gpus[k].is_integrated;
        if (is_said) continue;
        const size_t used = strlen(words->seen);
        snprintf(words->seen + used, sizeof words->seen - used, "%s%s (%s)",
                 used ? ", " : "beside ", gpu->name, gpu->chip);
        advise_card(m, gpu, words);
    }
    const size_t used = strlen(words->seen);
    if (used && main)
        snprintf(words->seen + used, sizeof words->seen - used,
                 "; recommended is for %.60s (%.15s)", main->name, main->chip);
    return used;
}
