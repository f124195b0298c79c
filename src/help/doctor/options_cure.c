/* options_cure.c: the ways that cure first what is in the way of every program: a damaged library,
 * the driver, the slot, permissions. */
#include "help/doctor/options.h"
#include "help/doctor/steps.h"

#include <string.h>

bool doctor_holds(const struct doctor_machine *m,
                  bool (*test)(const struct doctor_machine *, struct doctor_words *))
{
    struct doctor_words words = { .seen = "" };
    return test(m, &words);
}

bool doctor_is_hopeless(const struct doctor_machine *m)
{
    return doctor_holds(m, doctor_if_log_unsupported);
}

bool doctor_for_reinstall(const struct doctor_machine *m, struct doctor_words *words)
{
    struct doctor_words found = { .seen = "" };
    const char *part;
    const struct doctor_python *python = doctor_incomplete(m, &part);
    if (doctor_if_library_broken(m, &found)) {
        doctor_step(words, "%s", found.value);
    } else if (python && part && doctor_has_vendor(m, DOCTOR_AMD, false)) {
        doctor_step_enter(words, python);
        doctor_say_reinstall(m, python, &found);
        doctor_step(words, "%s", found.value);
    } else {
        return false;
    }
    doctor_step(words, "rmcp doctor   # again, for the next step");
    return true;
}

/* The card to compute on is handed to a virtual machine: it can be taken back. */
static bool take_back(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    char word[DOCTOR_PATH + 64], command[DOCTOR_PATH + 64];
    if (!gpu || strcmp(gpu->driver, "vfio-pci")) return false;
    doctor_quote(m->vfio, word, sizeof word);
    if (*m->vfio == '/') {
        doctor_step(words, "sudo mv %s %s.aside && %s && sudo reboot   # or compute in the guest",
                    word, word, doctor_initramfs_command(m));
    } else if (*m->vfio) {
        doctor_boot_command(m, "vfio-pci.ids", command, sizeof command);
        doctor_step(words, "%s   # or compute in the guest", command);
    } else {
        doctor_step(words, "stop the virtual machine that has the card, or compute in it");
    }
    doctor_step(words, "rmcp doctor   # again, for the next step");
    return true;
}

/* Another module has the card; radeon is the driver of old ones. */
static void step_aside(const struct doctor_machine *m, struct doctor_words *words)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    if (!gpu || !*gpu->driver || !strcmp(gpu->driver, "amdgpu") || !strcmp(gpu->driver, "radeon") ||
        strspn(gpu->driver, plain) != strlen(gpu->driver))
        return;
    doctor_step(
        words,
        "echo 'blacklist %s' | sudo tee /etc/modprobe.d/no-%s.conf && %s && sudo reboot   # "
        "%s has the card",
        gpu->driver, gpu->driver, doctor_initramfs_command(m), gpu->driver);
}

bool doctor_for_fix_driver(const struct doctor_machine *m, struct doctor_words *words)
{
    if (take_back(m, words)) return true;
    step_aside(m, words);
    bool (*const causes[])(const struct doctor_machine *, struct doctor_words *) = {
        doctor_if_cmdline_nomodeset, doctor_if_gpu_blacklisted, doctor_if_firmware_missing,
        doctor_if_driver_rejected,   doctor_if_driver_failed,   doctor_if_kernel_old
    };
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        struct doctor_words found = { .seen = "" };
        if (causes[i](m, &found) && *found.value) doctor_step(words, "%s", found.value);
    }
    if (!*words->value) doctor_step(words, "sudo modprobe amdgpu; sudo dmesg | grep -i amdgpu");
    doctor_step(words, "rmcp doctor   # again, for the next step");
    return doctor_holds(m, doctor_if_gpu_no_driver) || doctor_holds(m, doctor_if_cmdline_nomodeset);
}

bool doctor_for_fix_kfd(const struct doctor_machine *m, struct doctor_words *words)
{
    struct doctor_words found = { .seen = "" };
    if (!doctor_if_kfd_missing(m, &found)) return false;
    doctor_value(words, "%s", found.value);
    return true;
}

bool doctor_for_fix_slot(const struct doctor_machine *m, struct doctor_words *words)
{
    (void)words;
    return doctor_holds(m, doctor_if_atomics_rejected);
}

bool doctor_for_fix_access(const struct doctor_machine *m, struct doctor_words *words)
{
    if (doctor_holds(m, doctor_if_container_no_groups) ||
        doctor_holds(m, doctor_if_container_no_devices) ||
        doctor_holds(m, doctor_if_container_no_render)) {
        doctor_container_command(m, words->value, sizeof words->value);
        doctor_step(words, "rmcp doctor   # again, inside");
        return true;
    }
    struct doctor_words found = { .seen = "" };
    if (!doctor_if_kfd_no_access(m, &found)) {
        if (!doctor_holds(m, doctor_if_render_missing)) return false;
        if (!doctor_if_render_no_access(m, &found))
            doctor_value(&found, "ls -l /dev/dri; sudo dmesg | grep -i -E 'drm|amdgpu'");
    }
    doctor_step(words, "%s", found.value);
    doctor_step(words, "rmcp doctor   # again, for the next step");
    return true;
}

bool doctor_for_fix_open(const struct doctor_machine *m, struct doctor_words *words)
{
    if (doctor_is_hopeless(m) ||
        !(doctor_holds(m, doctor_if_kfd_open_fails) || doctor_holds(m, doctor_if_kfd_gpu_missing)))
        return false;
    if (*m->container) {
        doctor_step(words, "rocminfo   # on the host: does it work there?");
        doctor_step(words, "sudo dmesg | grep -i -E 'kfd|amdgpu'   # on the host");
        char command[400];
        doctor_container_command(m, command, sizeof command);
        if (!strstr(command, "   # "))
            doctor_step(words, "%s   # with --security-opt seccomp=unconfined, to compare",
                        command);
    } else {
        doctor_step(words, "sudo dmesg | grep -i -E 'kfd|amdgpu'   # | rmcp explain -");
        doctor_step(words, "%s", doctor_upgrade_command(m));
    }
    doctor_step(words, "rmcp doctor   # again, for the next step");
    return true;
}
