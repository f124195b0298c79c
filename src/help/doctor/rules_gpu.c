/* rules_gpu.c: conditions about GPUs, kernel, access and containers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help/doctor/steps.h"

/* "Radeon RX 5600 XT (gfx1010, 36 CUs, 6.0 GiB)" */
static void describe(const struct doctor_gpu *gpu, char text[static 160])
{
    int n = snprintf(text, 160, "%s (%s", gpu->name, *gpu->chip ? gpu->chip : "chip unknown");
    if (*gpu->chip && !gpu->chip_from_kfd) n += snprintf(text + n, 160 - (size_t)n, " by PCI id");
    if (gpu->compute_units)
        n += snprintf(text + n, 160 - (size_t)n, ", %u CUs", gpu->compute_units);
    if (gpu->vram)
        n += snprintf(text + n, 160 - (size_t)n, ", %.1f GiB", (double)gpu->vram / (1u << 30));
    snprintf(text + n, 160 - (size_t)n, ")");
}

/* All AMD GPUs that a service class or a test holds for. */
static bool say_gpus(const struct doctor_machine *m, struct doctor_words *words,
                     bool (*test)(const struct doctor_gpu *gpu))
{
    char text[160];
    bool any = false;
    for (size_t i = 0; i < m->n_gpus; i++) {
        if (m->gpus[i].vendor != DOCTOR_AMD || !test(&m->gpus[i])) continue;
        describe(&m->gpus[i], text);
        const size_t used = strlen(words->seen);
        snprintf(words->seen + used, sizeof words->seen - used, "%s%s", used ? "; " : "", text);
        if (!any) doctor_value(words, "%s", m->gpus[i].chip);
        any = true;
    }
    return any;
}

static bool has_wheel(const struct doctor_gpu *gpu)
{
    return doctor_chip_service(gpu->version) == DOCTOR_CHIP_WHEEL;
}

static bool is_of_family(const struct doctor_gpu *gpu)
{
    return doctor_chip_service(gpu->version) == DOCTOR_CHIP_FAMILY;
}

static bool has_family(const struct doctor_gpu *gpu)
{
    return is_of_family(gpu) && !gpu->is_integrated;
}

static bool is_left_behind(const struct doctor_gpu *gpu)
{
    return doctor_chip_service(gpu->version) == DOCTOR_CHIP_LEFT_BEHIND;
}

static bool is_old(const struct doctor_gpu *gpu)
{
    return doctor_chip_service(gpu->version) == DOCTOR_CHIP_OLD;
}

static bool has_no_driver(const struct doctor_gpu *gpu)
{
    return *gpu->pci && strcmp(gpu->driver, "amdgpu") && strcmp(gpu->driver, "vfio-pci") &&
           (*gpu->driver || !gpu->in_kfd);
}

static bool is_passed_on(const struct doctor_gpu *gpu)
{
    return !strcmp(gpu->driver, "vfio-pci");
}

static bool has_no_atomics(const struct doctor_gpu *gpu)
{
    return gpu->in_kfd && gpu->atomics == DOCTOR_NO && !gpu->is_integrated;
}

static bool has_old_firmware(const struct doctor_gpu *gpu)
{
    return is_left_behind(gpu) && gpu->mec_firmware && gpu->mec_firmware < 145;
}

static bool has_amd_driver(const struct doctor_machine *m)
{
    for (size_t i = 0; i < m->n_gpus; i++)
        if (m->gpus[i].vendor == DOCTOR_AMD && !strcmp(m->gpus[i].driver, "amdgpu")) return true;
    return false;
}

bool doctor_if_gpu_none(const struct doctor_machine *m, struct doctor_words *words)
{
    if (doctor_has_vendor(m, DOCTOR_AMD, false) || doctor_has_vendor(m, DOCTOR_NVIDIA, false) ||
        m->is_wsl || m->probes[DOCTOR_PROBE_GPU] != DOCTOR_DONE)
        return false;
    return doctor_say(words, "no AMD or NVIDIA display or accelerator on PCI");
}

bool doctor_if_gpu_nvidia_only(const struct doctor_machine *m, struct doctor_words *words)
{
    if (doctor_has_vendor(m, DOCTOR_AMD, false)) return false;
    for (size_t i = 0; i < m->n_gpus; i++)
        if (m->gpus[i].vendor == DOCTOR_NVIDIA)
            return doctor_say(words, "%s at %s", m->gpus[i].name, m->gpus[i].pci);
    return false;
}

bool doctor_if_gpu_supported(const struct doctor_machine *m, struct doctor_words *words)
{
    return say_gpus(m, words, has_wheel);
}

bool doctor_if_gpu_family(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    const bool alone = gpu && gpu->is_integrated; /* the processor's graphics, and no card */
    if (!say_gpus(m, words, alone ? is_of_family : has_family)) return false;
    const uint32_t sibling = doctor_chip_sibling(gpu->version);
    doctor_value(words, "%u.%u.%u", sibling / 10000, sibling / 100 % 100, sibling % 100);
    return sibling;
}

bool doctor_if_gpu_left_behind(const struct doctor_machine *m, struct doctor_words *words)
{
    if (!say_gpus(m, words, is_left_behind)) return false;
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    if (doctor_fit_python(m, gpu, true))
        doctor_value(words, "%s", ""); /* native code is there already */
    else
        doctor_value(words, "see the recommendation");
    return true;
}

bool doctor_if_first_owner(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    return gpu && is_left_behind(gpu) && gpu->in_kfd && m->kfd.exists && !m->kfd.open_error &&
           doctor_say(words, "%s, and it can be opened", gpu->name);
}

bool doctor_if_gpu_too_old(const struct doctor_machine *m, struct doctor_words *words)
{
    return say_gpus(m, words, is_old);
}

bool doctor_if_gpu_no_driver(const struct doctor_machine *m, struct doctor_words *words)
{
    if (!say_gpus(m, words, has_no_driver)) return false;
    for (size_t i = 0; i < m->n_gpus; i++) {
        const struct doctor_gpu *gpu = &m->gpus[i];
        if (gpu->vendor != DOCTOR_AMD || !has_no_driver(gpu)) continue;
        const size_t used = strlen(words->seen);
        snprintf(words->seen + used, sizeof words->seen - used, ", driver: %s",
                 *gpu->driver ? gpu->driver : "none");
        doctor_value(words, "%s", gpu->pci);
        break;
    }
    return true;
}

static bool lacks_driver(const struct doctor_machine *m)
{
    for (size_t i = 0; i < m->n_gpus; i++)
        if (m->gpus[i].vendor == DOCTOR_AMD && has_no_driver(&m->gpus[i])) return true;
    return false;
}

bool doctor_if_gpu_blacklisted(const struct doctor_machine *m, struct doctor_words *words)
{
    static const char *const options[] = { "modprobe.blacklist", "module_blacklist",
                                           "rd.driver.blacklist" };
    if (!*m->blacklist || !lacks_driver(m)) return false;
    if (*m->blacklist == '/') {
        char file[DOCTOR_PATH], word[DOCTOR_PATH + 64];
        snprintf(file, sizeof file, "%.*s", (int)strcspn(m->blacklist, ":"), m->blacklist);
        doctor_value(words,
                     "sudo sed -i.aside -E 's/^ *(blacklist|install) +amdgpu/# &/' %s && %s && "
                     "sudo reboot",
                     doctor_quote(file, word, sizeof word), doctor_initramfs_command(m));
    }
    for (size_t i = 0; i < sizeof options / sizeof *options && *m->blacklist != '/'; i++)
        if (strstr(m->blacklist, options[i]))
            doctor_boot_command(m, options[i], words->value, sizeof words->value);
    return doctor_say(words, "%.390s", m->blacklist);
}

bool doctor_if_firmware_missing(const struct doctor_machine *m, struct doctor_words *words)
{
    char command[200];
    const bool debian = !strcmp(m->os_id, "debian") ||
                        (strstr(m->os_like, "debian") && !strstr(m->os_like, "ubuntu") &&
                         strcmp(m->os_id, "ubuntu"));
    doctor_install_command(m, debian ? "firmware-amd-graphics" : "linux-firmware", "linux-firmware",
                           "amd-gpu-firmware", command, sizeof command);
    doctor_value(words, "%s && %s && sudo reboot%s", command, doctor_initramfs_command(m),
                 debian ? "   # of non-free-firmware" : "");
    return m->log[DOCTOR_LOG_FIRMWARE].n && lacks_driver(m) &&
           doctor_say(words, "%s", m->log[DOCTOR_LOG_FIRMWARE].line);
}

bool doctor_if_driver_rejected(const struct doctor_machine *m, struct doctor_words *words)
{
    const bool ubuntu = !strcmp(m->os_id, "ubuntu") || strstr(m->os_like, "ubuntu");
    doctor_value(words, "sudo mokutil --import %s && sudo reboot   # and say yes to the key",
                 ubuntu ? "/var/lib/shim-signed/mok/MOK.der" : "/var/lib/dkms/mok.pub");
    return m->log[DOCTOR_LOG_REJECTED].n && lacks_driver(m) &&
           doctor_say(words, "%s", m->log[DOCTOR_LOG_REJECTED].line);
}

bool doctor_if_apu_memory(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    unsigned major, minor;
    if (!gpu || !gpu->is_integrated || !gpu->vram || gpu->vram >= 2ull << 30 ||
        *m->amdgpu_version || sscanf(m->kernel, "%u.%u", &major, &minor) != 2 || major > 6 ||
        (major == 6 && minor >= 10))
        return false;
    doctor_kernel_command(m, 6, 10, words->value, sizeof words->value);
    return doctor_say(words, "%s has %.1f GiB, under Linux %.60s", gpu->name,
                      (double)gpu->vram / (1u << 30), m->kernel);
}

bool doctor_if_gpu_vfio(const struct doctor_machine *m, struct doctor_words *words)
{
    return say_gpus(m, words, is_passed_on);
}

bool doctor_if_kfd_missing(const struct doctor_machine *m, struct doctor_words *words)
{
    if (m->is_wsl || *m->container || !has_amd_driver(m) || m->kfd.exists ||
        m->probes[DOCTOR_PROBE_ACCESS] != DOCTOR_DONE)
        return false;
    if (m->config_hsa == DOCTOR_NO)
        doctor_value(
            words, "cd /usr/src/linux && scripts/config -e HSA_AMD && make olddefconfig && make && "
                   "sudo make modules_install install && sudo reboot");
    else
        doctor_value(words, "%s", doctor_upgrade_command(m));
    if (m->has_kfd) { /* the driver runs: the node is what is missing */
        doctor_value(words, "sudo udevadm trigger --subsystem-match=kfd && ls -l /dev/kfd   # a "
                            "sandbox or chroot must be given it");
        return doctor_say(words, "KFD's topology is there, /dev/kfd is not");
    }
    return doctor_say(words, "amdgpu is loaded, /dev/kfd is not there%s",
                      m->config_hsa == DOCTOR_NO    ? "; CONFIG_HSA_AMD is off in this kernel"
                      : m->config_hsa == DOCTOR_YES ? "; CONFIG_HSA_AMD is on in this kernel"
                                                    : "");
}

bool doctor_if_kfd_gpu_missing(const struct doctor_machine *m, struct doctor_words *words)
{
    if ((!m->has_kfd && !m->kfd.exists) || m->log[DOCTOR_LOG_ATOMICS].n ||
        m->log[DOCTOR_LOG_UNSUPPORTED].n)
        return false;
    for (size_t i = 0; i < m->n_gpus && *m->container; i++)
        if (m->gpus[i].in_kfd) return false; /* a container may be given one of several */
    for (size_t i = 0; i < m->n_gpus; i++) {
        const struct doctor_gpu *gpu = &m->gpus[i];
        if (gpu->vendor == DOCTOR_AMD && !gpu->in_kfd && !gpu->is_integrated &&
            !strcmp(gpu->driver, "amdgpu"))
            return doctor_say(words, "%s at %s is not in KFD's topology", gpu->name, gpu->pci);
    }
    return false;
}

bool doctor_if_atomics_rejected(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    if (gpu && !is_left_behind(gpu))
        words->why = "KFD skipped the card: every bridge between it and the CPU must pass atomic "
                     "operations.\n"
                     "Slots at the chipset, risers and boards before PCIe 3.0 often do not.";
    return m->log[DOCTOR_LOG_ATOMICS].n && doctor_say(words, "%s", m->log[DOCTOR_LOG_ATOMICS].line);
}

bool doctor_if_atomics_absent(const struct doctor_machine *m, struct doctor_words *words)
{
    return say_gpus(m, words, has_no_atomics);
}

bool doctor_if_firmware_mec_old(const struct doctor_machine *m, struct doctor_words *words)
{
    if (!say_gpus(m, words, has_old_firmware)) return false;
    const size_t used = strlen(words->seen);
    snprintf(words->seen + used, sizeof words->seen - used, ", MEC firmware below 145");
    doctor_value(words, "%s", doctor_upgrade_command(m));
    return true;
}

bool doctor_if_igpu_visible(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *main = doctor_main_gpu(m), *built_in = NULL;
    unsigned ordinal = 0;
    if (!main || main->is_integrated || !main->in_kfd || !doctor_is_visible(m, main)) return false;
    for (size_t i = 0; i < m->n_gpus; i++) {
        const struct doctor_gpu *gpu = &m->gpus[i];
        if (gpu->vendor != DOCTOR_AMD || !gpu->in_kfd || gpu == main) continue;
        if (gpu->is_integrated && doctor_is_shown(m, gpu)) built_in = gpu;
        if (gpu->node < main->node) ordinal++;
    }
    if (!built_in) return false;
    doctor_value(words, "%u", ordinal);
    return doctor_say(words, "%s (%s) beside %s (%s), and no variable hides it", built_in->name,
                      *built_in->chip ? built_in->chip : "?", main->name, main->chip);
}

bool doctor_if_kernel_old(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    unsigned major, minor;
    /* The first kernels that are good for a chip; AMD's own driver (DKMS) brings older ones up. */
    static const struct {
        uint32_t version;
        unsigned major, minor;
    } first[] = { { 120000, 6, 12 }, { 110500, 6, 10 }, { 110000, 6, 0 }, { 100100, 5, 10 } };
    if (!gpu || gpu->version < 100100 || *m->amdgpu_version || m->is_wsl ||
        strstr(m->kernel, ".el8") || strstr(m->kernel, ".el9") || /* newer drivers in old kernels */
        sscanf(m->kernel, "%u.%u", &major, &minor) != 2)
        return false;
    size_t i = 0;
    while (gpu->version < first[i].version) i++;
    if (major > first[i].major || (major == first[i].major && minor >= first[i].minor))
        return false;
    doctor_kernel_command(m, first[i].major, first[i].minor, words->value, sizeof words->value);
    return doctor_say(words, "Linux %s with %s; %u.%u or newer is wanted", m->kernel, gpu->chip,
                      first[i].major, first[i].minor);
}

bool doctor_if_module_mtype(const struct doctor_machine *m, struct doctor_words *words)
{
    const char *set = strstr(m->parameters, "mtype_local=");
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    if ((!*m->mtype && !set) || (gpu && gpu->version / 100 == 904)) return false; /* MI300 */
    if (gpu && !is_left_behind(gpu))
        words->why =
            "The kernel reads it for MI300 (GC 9.4) only; on this chip it does nothing but "
            "mislead.";
    const size_t file = *m->mtype == '/' ? strcspn(m->mtype, ":") : 0;
    if (file)
        doctor_value(words, "sudo mv %.*s %.*s.aside && %s", (int)file, m->mtype, (int)file,
                     m->mtype, doctor_initramfs_command(m));
    else
        doctor_value(words, "remove amdgpu.mtype_local from the kernel's command line");
    return doctor_say(words, "%s", *m->mtype ? m->mtype : set);
}

bool doctor_if_module_cwsr_off(const struct doctor_machine *m, struct doctor_words *words)
{
    return m->cwsr_off && doctor_say(words, "amdgpu.cwsr_enable=0");
}

bool doctor_if_module_parameters(const struct doctor_machine *m, struct doctor_words *words)
{
    return *m->parameters && doctor_say(words, "%s", m->parameters);
}

bool doctor_if_cmdline_nomodeset(const struct doctor_machine *m, struct doctor_words *words)
{
    const char *const word =
        strstr(m->command_line, "nomodeset") ? "nomodeset" : "amdgpu.modeset=0";
    doctor_boot_command(m, word, words->value, sizeof words->value);
    return strstr(m->command_line, word) && doctor_has_vendor(m, DOCTOR_AMD, false) &&
           doctor_say(words, "%s", m->command_line);
}

static bool is_denied(const struct doctor_device *device)
{
    return device->exists && (device->open_error == EACCES || device->open_error == EPERM);
}

/* "mode 660, group 109; you are in 1000 27 44" */
static void say_device(const struct doctor_machine *m, const struct doctor_device *device,
                       struct doctor_words *words)
{
    doctor_say(words, "%s: mode %o, owner %u, group %u; you are uid %u in groups", device->path,
               device->mode, device->uid, device->gid, m->uid);
    for (size_t i = 0; i < m->n_groups && i < 12; i++) {
        const size_t used = strlen(words->seen);
        snprintf(words->seen + used, sizeof words->seen - used, " %u", m->groups[i]);
    }
    doctor_value(words, "%u", device->gid);
}

/* The command that opens a device: a group, where the device is open to one. */
static void open_device(const struct doctor_machine *m, const struct doctor_device *device,
                        struct doctor_words *words)
{
    static const char join[] = "sudo usermod -aG render,video \"$USER\"   # then log out and in";
    struct doctor_words policy = { .seen = "" };
    if (doctor_is_policy(m, device) && doctor_if_access_policy(m, &policy))
        doctor_value(words, "%s", policy.value);
    else if (device->gid && (device->mode & 0060) == 0060)
        doctor_value(words, "%s", join);
    else
        doctor_value(
            words,
            "printf 'KERNEL==\"kfd\", GROUP=\"render\", MODE=\"0660\"\\nKERNEL==\"renderD*\", "
            "GROUP=\"render\", MODE=\"0660\"\\n' | sudo tee "
            "/etc/udev/rules.d/70-kfd.rules && sudo udevadm control --reload && sudo "
            "udevadm trigger && %s",
            join);
}

bool doctor_if_kfd_no_access(const struct doctor_machine *m, struct doctor_words *words)
{
    if (*m->container || !is_denied(&m->kfd)) return false;
    say_device(m, &m->kfd, words);
    open_device(m, &m->kfd, words);
    return true;
}

bool doctor_if_container_no_groups(const struct doctor_machine *m, struct doctor_words *words)
{
    if (!*m->container || !is_denied(&m->kfd)) return false;
    say_device(m, &m->kfd, words);
    doctor_container_command(m, words->value, sizeof words->value);
    return true;
}

/* Does the render node of the GPU to compute on open, or any where that is not told? */
static bool opens(const struct doctor_machine *m)
{
    const struct doctor_device *render = doctor_render_of(m, doctor_main_gpu(m));
    return render && !render->open_error;
}

static bool are_refused(const struct doctor_machine *m)
{
    return m->n_render && !opens(m) && !is_denied(&m->kfd);
}

bool doctor_if_container_no_render(const struct doctor_machine *m, struct doctor_words *words)
{
    doctor_container_command(m, words->value, sizeof words->value);
    return *m->container && m->kfd.exists && (!m->n_render || are_refused(m)) &&
           doctor_main_gpu(m) && m->probes[DOCTOR_PROBE_ACCESS] == DOCTOR_DONE &&
           (m->n_render
                ? doctor_say(words, "%s container, /dev/kfd; opening %s: %s", m->container,
                             m->render[0].path, strerror(m->render[0].open_error))
                : doctor_say(words, "%s container, /dev/kfd, nothing in /dev/dri", m->container));
}

bool doctor_if_container_no_devices(const struct doctor_machine *m, struct doctor_words *words)
{
    doctor_container_command(m, words->value, sizeof words->value);
    return *m->container && !m->kfd.exists && doctor_has_vendor(m, DOCTOR_AMD, false) &&
           m->probes[DOCTOR_PROBE_ACCESS] == DOCTOR_DONE &&
           doctor_say(words, "%s container, an AMD GPU on PCI, no /dev/kfd", m->container);
}

bool doctor_if_kfd_open_fails(const struct doctor_machine *m, struct doctor_words *words)
{
    if (*m->container)
        words->why =
            "It is no matter of permission: the device is there, but the kernel refuses this "
            "process. Try it on the host first;\n"
            "when it works there, the container's own rules are in the way.";
    doctor_value(words, "%s",
                 *m->container ? "on the host: rocminfo; sudo dmesg | grep -i -E 'kfd|amdgpu'"
                               : "sudo dmesg | grep -i -E 'kfd|amdgpu'");
    return m->kfd.exists && m->kfd.open_error && !is_denied(&m->kfd) &&
           doctor_say(words, "opening /dev/kfd: %s", strerror(m->kfd.open_error));
}

bool doctor_if_render_no_access(const struct doctor_machine *m, struct doctor_words *words)
{
    if (is_denied(&m->kfd) || (*m->container && are_refused(m))) return false; /* said already */
    for (size_t i = 0; i < m->n_render; i++) {
        if (!is_denied(&m->render[i])) continue;
        say_device(m, &m->render[i], words);
        open_device(m, &m->render[i], words);
        return true;
    }
    return false;
}

bool doctor_if_access_ok(const struct doctor_machine *m, struct doctor_words *words)
{
    return m->kfd.exists && !m->kfd.open_error && opens(m) &&
           doctor_has_vendor(m, DOCTOR_AMD, false) &&
           doctor_say(words, "/dev/kfd opens; %zu render node%s", m->n_render,
                      m->n_render == 1 ? "" : "s");
}

bool doctor_if_wsl(const struct doctor_machine *m, struct doctor_words *words)
{
    return m->is_wsl && doctor_say(words, "Linux %s, /dev/dxg %s", m->kernel,
                                   m->has_dxg ? "is there" : "is missing");
}
