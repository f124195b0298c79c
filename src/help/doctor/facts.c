/* facts.c: questions about a machine that more than one rule or option asks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help/doctor/doctor.h"

const char *doctor_verdict_name(enum doctor_verdict verdict)
{
    static const char *const names[] = { "ok", "note", "warning", "problem" };
    return names[verdict];
}

const char *doctor_override_of(const struct doctor_machine *m, const struct doctor_gpu *gpu,
                               char name[static 64])
{
    snprintf(name, 64, "HSA_OVERRIDE_GFX_VERSION_%u", gpu->node);
    const char *value = gpu->in_kfd ? doctor_variable(m, name) : NULL;
    if (value) return value;
    snprintf(name, 64, "HSA_OVERRIDE_GFX_VERSION");
    return doctor_variable(m, name);
}

uint32_t doctor_believed(const struct doctor_machine *m, const struct doctor_gpu *gpu)
{
    char name[64];
    uint32_t version;
    const char *value = doctor_override_of(m, gpu, name);
    return value && doctor_override_parse(value, &version) ? version : gpu->version;
}

bool doctor_is_foreign(const struct doctor_machine *m, const struct doctor_gpu *gpu)
{
    const uint32_t believed = doctor_believed(m, gpu);
    return gpu->version && !doctor_chip_same_family(gpu->version, believed);
}

bool doctor_is_short_of_registers(const struct doctor_machine *m, const struct doctor_gpu *gpu)
{
    return doctor_chip_has_fewer_registers(gpu->version, doctor_believed(m, gpu));
}

const struct doctor_library *doctor_torch_library(const struct doctor_machine *m,
                                                  const struct doctor_python *python)
{
    if (python->library < 0 || (size_t)python->library >= m->n_python_libraries) return NULL;
    return &m->python_libraries[python->library];
}

bool doctor_is_conda(const char *prefix)
{
    static const char *const marks[] = { "/envs/",    "/conda",     "/miniconda",
                                         "/anaconda", "/miniforge", "/mambaforge" };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strstr(prefix, marks[i])) return true;
    return false;
}

bool doctor_is_conda_site(const struct doctor_machine *m, const struct doctor_python *python)
{
    const char *prefix = doctor_variable(m, "CONDA_PREFIX");
    const size_t n = prefix ? strlen(prefix) : 0;
    return (n && !strncmp(python->site, prefix, n) && python->site[n] == '/') ||
           doctor_is_conda(python->site);
}

bool doctor_is_user_site(const char *prefix)
{
    const size_t n = strlen(prefix);
    return n > 7 && !strcmp(prefix + n - 7, "/.local");
}

enum doctor_dropin doctor_dropin_of(const struct doctor_machine *m,
                                    const struct doctor_python *python)
{
    if (python->miopen < 0 || (size_t)python->miopen >= m->n_python_libraries)
        return DOCTOR_DROPIN_NONE;
    return m->python_libraries[python->miopen].dropin;
}

static const struct doctor_python *python_with(const struct doctor_machine *m, uint32_t version)
{
    char chip[16];
    if (!rmcp_chip_name(version, chip)) return NULL;
    for (size_t i = 0; i < m->n_pythons; i++) {
        const struct doctor_library *library = doctor_torch_library(m, &m->pythons[i]);
        if (library && !*library->trouble && doctor_targets_have(library->targets, chip))
            return &m->pythons[i];
    }
    return NULL;
}

const struct doctor_python *doctor_fit_python(const struct doctor_machine *m,
                                              const struct doctor_gpu *gpu, bool native)
{
    if (!gpu) return NULL;
    const struct doctor_python *python =
        python_with(m, native ? gpu->version : doctor_believed(m, gpu));
    return python || !native ? python : python_with(m, doctor_chip_sibling(gpu->version));
}

const struct doctor_library *doctor_rocblas_without(const struct doctor_machine *m,
                                                    const struct doctor_python *python,
                                                    const char *chip)
{
    const int owner = 100 + (int)(python - m->pythons);
    for (size_t i = 0; i < m->n_python_libraries; i++) {
        const struct doctor_library *library = &m->python_libraries[i];
        if (library->kind == DOCTOR_LIB_ROCBLAS && library->owner == owner &&
            library->has_targets && !*library->trouble &&
            !doctor_targets_have(library->targets, chip))
            return library;
    }
    return NULL;
}

const char *doctor_overwritten(const struct doctor_python *python)
{
    if (python->library < 0 || *python->hip) return NULL;
    return *python->cuda ? "CUDA" : strstr(python->version, "+cpu") ? "the CPU" : NULL;
}

const struct doctor_python *doctor_python_for(const struct doctor_machine *m, uint32_t version)
{
    const struct doctor_python *best = NULL;
    char chip[16];
    int points = 0;
    if (!rmcp_chip_name(version, chip)) return NULL;
    for (size_t i = 0; i < m->n_pythons; i++) {
        const struct doctor_python *python = &m->pythons[i];
        const struct doctor_library *library = doctor_torch_library(m, python);
        if (!library || *library->trouble || !doctor_targets_have(library->targets, chip) ||
            doctor_rocblas_without(m, python, chip) || doctor_overwritten(python) ||
            python->has_no_interpreter)
            continue;
        const int worth = 1 + 2 * !python->is_shadowed + 4 * python->is_active;
        if (worth > points) best = python;
        if (worth > points) points = worth;
    }
    return best;
}

const struct doctor_python *doctor_ready_python(const struct doctor_machine *m,
                                                const struct doctor_gpu *gpu)
{
    if (!gpu || doctor_is_foreign(m, gpu) || doctor_is_short_of_registers(m, gpu)) return NULL;
    return doctor_python_for(m, doctor_believed(m, gpu));
}

bool doctor_has_vendor(const struct doctor_machine *m, uint32_t vendor, bool discrete_only)
{
    for (size_t i = 0; i < m->n_gpus; i++)
        if (m->gpus[i].vendor == vendor && !(discrete_only && m->gpus[i].is_integrated))
            return true;
    return false;
}

bool doctor_is_hidden(const struct doctor_machine *m)
{
    return doctor_variable(m, "HIP_VISIBLE_DEVICES") ||
           doctor_variable(m, "ROCR_VISIBLE_DEVICES") || doctor_variable(m, "CUDA_VISIBLE_DEVICES");
}

bool doctor_looks_like_shim(const char *text)
{
    static const char *const marks[] = { "intercept", "shim",       "coarse",     "rdna1",
                                         "forcegtt",  "force_host", "force-host", "forcehost" };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strstr(text, marks[i])) return true;
    return false;
}

const struct doctor_rocm *doctor_loader_rocm(const struct doctor_machine *m)
{
    for (size_t i = 0; i < m->n_rocms && *m->loader_hip; i++) {
        const size_t n = strlen(m->rocms[i].prefix);
        if (!strncmp(m->loader_hip, m->rocms[i].prefix, n) && m->loader_hip[n] == '/')
            return &m->rocms[i];
    }
    return m->n_rocms == 1 ? &m->rocms[0] : NULL;
}

enum packager { APT, PACMAN, DNF, OTHER };

static enum packager packager_of(const struct doctor_machine *m)
{
    static const struct {
        const char *name;
        enum packager packager;
    } known[] = { { "debian", APT }, { "ubuntu", APT }, { "arch", PACMAN }, { "manjaro", PACMAN },
                  { "fedora", DNF }, { "rhel", DNF },   { "centos", DNF } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(m->os_id, known[i].name) || strstr(m->os_like, known[i].name))
            return known[i].packager;
    return OTHER;
}

void doctor_install_command(const struct doctor_machine *m, const char *apt, const char *pacman,
                            const char *dnf, char *out, size_t room)
{
    switch (packager_of(m)) {
    case APT: snprintf(out, room, "sudo apt install %s", apt); return;
    case PACMAN: snprintf(out, room, "sudo pacman -S %s", pacman); return;
    case DNF: snprintf(out, room, "sudo dnf install %s", dnf); return;
    case OTHER: snprintf(out, room, "install %s (Debian) or %s (Arch)", apt, pacman); return;
    }
}

void doctor_container_command(const struct doctor_machine *m, char *out, size_t room)
{
    char group[40] = "\"$(stat -c %g /dev/kfd)\"";
    if (m->kfd.exists &&
        m->kfd.gid != 65534) /* else it is a group of the host that has no number here */
        snprintf(group, sizeof group, "%u", m->kfd.gid);
    if (strstr(m->container, "lxc"))
        snprintf(out, room,
                 "pct set ID --dev0 /dev/kfd,gid=GID --dev1 /dev/dri/renderD128,gid=GID   "
                 "# Proxmox; GID: of render, inside");
    else if (!strcmp(m->container, "flatpak"))
        snprintf(out, room,
                 "flatpak override --user --device=all APPLICATION   # with --device=dri alone "
                 "there is no /dev/kfd");
    else if (!strcmp(m->container, "kubernetes"))
        snprintf(out, room,
                 "in the pod: resources: limits: amd.com/gpu: 1   # AMD's device plugin");
    else if (!strcmp(m->container, "podman"))
        snprintf(out, room,
                 "podman run --device=/dev/kfd --device=/dev/dri --group-add keep-groups …");
    else if (!strcmp(m->container, "apptainer") && m->kfd.open_error == EACCES)
        snprintf(out, room,
                 "sudo usermod -aG render,video \"$USER\"   # on the host; then log out and in: "
                 "inside, the groups are the host's");
    else if (!strcmp(m->container, "apptainer"))
        snprintf(out, room, "apptainer exec --rocm …");
    else
        snprintf(out, room, "docker run --device=/dev/kfd --device=/dev/dri --group-add %s …",
                 group);
}

const char *doctor_initramfs_command(const struct doctor_machine *m)
{
    switch (packager_of(m)) {
    case APT: return "sudo update-initramfs -u";
    case PACMAN: return "sudo mkinitcpio -P";
    case DNF: return "sudo dracut -f";
    case OTHER: break;
    }
    return "make the initramfs anew";
}

const char *doctor_upgrade_command(const struct doctor_machine *m)
{
    switch (packager_of(m)) {
    case APT: return "sudo apt update && sudo apt full-upgrade && sudo reboot";
    case PACMAN: return "sudo pacman -Syu linux-firmware && sudo reboot";
    case DNF: return "sudo dnf upgrade && sudo reboot";
    case OTHER: break;
    }
    return "bring kernel and linux-firmware up to date; sudo reboot";
}

void doctor_kernel_command(const struct doctor_machine *m, unsigned major, unsigned minor,
                           char *out, size_t room)
{
    /* An Ubuntu stays with its first kernel until it is given the newer ones of this package. */
    static const struct {
        const char *release;
        unsigned major, minor;
    } hwe[] = { { "20.04", 5, 15 }, { "22.04", 6, 8 }, { "24.04", 6, 14 } };
    const bool is_ubuntu = !strcmp(m->os_id, "ubuntu") || !strcmp(m->os_id, "neon");
    for (size_t i = 0; is_ubuntu && i < sizeof hwe / sizeof *hwe; i++)
        if (!strcmp(m->os_version, hwe[i].release) &&
            (hwe[i].major > major || (hwe[i].major == major && hwe[i].minor >= minor))) {
            snprintf(out, room, "sudo apt install linux-generic-hwe-%s && sudo reboot",
                     hwe[i].release);
            return;
        }
    if (!strcmp(m->os_id, "ubuntu"))
        snprintf(out, room, "sudo do-release-upgrade   # to an Ubuntu with Linux %u.%u or newer",
                 major, minor);
    else if (!strcmp(m->os_id, "debian"))
        snprintf(out, room,
                 "sudo apt install -t \"$(. /etc/os-release; echo $VERSION_CODENAME)-backports\" "
                 "linux-image-amd64 && sudo reboot   # from Debian's backports");
    else
        snprintf(out, room, "%s", doctor_upgrade_command(m));
}

void doctor_boot_command(const struct doctor_machine *m, const char *word, char *out, size_t room)
{
    switch (packager_of(m)) {
    case APT:
        snprintf(out, room,
                 "sudo sed -i.aside 's/%s[^ \"]*//' /etc/default/grub && sudo update-grub && "
                 "sudo reboot",
                 word);
        return;
    case DNF:
        snprintf(out, room, "sudo grubby --update-kernel=ALL --remove-args=%s && sudo reboot",
                 word);
        return;
    case PACMAN:
    case OTHER: break;
    }
    snprintf(out, room,
             "take %s out of the kernel's command line, in the boot loader's settings; sudo reboot",
             word);
}

const struct doctor_python *doctor_other_in_use(const struct doctor_machine *m,
                                                const struct doctor_python *python)
{
    if (python && python->is_active) return NULL;
    for (size_t i = 0; i < m->n_pythons; i++)
        if (m->pythons[i].is_active) return &m->pythons[i];
    return NULL;
}

const char *doctor_miopen_of(const char *release)
{
    /* As users' reports show them; the number is compiled into PyTorch and not to be read there. */
    static const struct {
        const char *release, *text;
    } known[] = { { "5.0.", ", MIOpen 2.15" }, { "5.1.", ", MIOpen 2.16" },
                  { "5.2.", ", MIOpen 2.17" }, { "5.6.", ", MIOpen 2.20" },
                  { "6.0.", ", MIOpen 3.0" },  { "6.1.", ", MIOpen 3.1" },
                  { "6.2.", ", MIOpen 3.2" } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strncmp(release, known[i].release, 4)) return known[i].text;
    return "";
}

bool doctor_same_release(const char *left, const char *right)
{
    unsigned a[2], b[2];
    if (sscanf(left, "%u.%u", &a[0], &a[1]) != 2 || sscanf(right, "%u.%u", &b[0], &b[1]) != 2)
        return true; /* nothing can be said */
    return a[0] == b[0] && a[1] == b[1];
}
