/* system.c: probe: kernel, driver and its parameters, command line, memory and disk. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "help/doctor/probe.h"

/* Parameters of amdgpu that change how compute works, and their defaults. */
static const struct {
    const char *name, *usual;
} parameters[] = {
    { "noretry", "-1" },
    { "cwsr_enable", "1" },
    { "sched_policy", "0" },
    { "vm_fragment_size", "-1" },
    { "mtype_local", "0" },
    { "hws_max_conc_proc", "-1" },
    { "queue_preemption_timeout_ms", "9000" },
    { "lockup_timeout", "" },
    { "gpu_recovery", "-1" },
    { "ppfeaturemask", "" },
    { "dpm", "-1" },
    { "vm_update_mode", "-1" },
    { "no_system_mem_limit", "N" },
};

static void read_os(const struct doctor_search *search)
{
    static const struct {
        const char *key;
        size_t offset, room;
    } fields[] = {
        { "ID=", offsetof(struct doctor_machine, os_id), 32 },
        { "ID_LIKE=", offsetof(struct doctor_machine, os_like), 64 },
        { "VERSION_ID=", offsetof(struct doctor_machine, os_version), 32 },
    };
    char text[8192];
    if (doctor_read_lines(search->view, "/etc/os-release", text, sizeof text,
                          "ID= ID_LIKE= VERSION_ID=") < 0)
        return;
    for (const char *line = text; *line;) {
        size_t length;
        const char *next = doctor_next_line(line, &length);
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
            const size_t key = strlen(fields[i].key);
            if (strncmp(line, fields[i].key, key)) continue;
            char value[128];
            doctor_copy_line(value, sizeof value, line + key);
            char *start = value + strspn(value, "\"'");
            start[strcspn(start, "\"'")] = '\0';
            snprintf((char *)search->machine + fields[i].offset, fields[i].room, "%s", start);
        }
        line = next;
    }
}

static void read_parameters(const struct doctor_search *search)
{
    struct doctor_machine *m = search->machine;
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++) {
        char path[128], value[48], shown[112];
        snprintf(path, sizeof path, "/sys/module/amdgpu/parameters/%s", parameters[i].name);
        char text[64];
        if (doctor_read(search->view, path, text, sizeof text) < 0) continue;
        doctor_copy_line(value, sizeof value, text);
        if (!strcmp(parameters[i].name, "cwsr_enable") && !strcmp(value, "0")) m->cwsr_off = true;
        if (!*parameters[i].usual || !strcmp(value, parameters[i].usual)) continue;
        snprintf(shown, sizeof shown, "%s=%s", parameters[i].name, value);
        doctor_append(m->parameters, sizeof m->parameters, " ", shown);
    }
}

/* "blacklist amdgpu", "install amdgpu /bin/false" */
static bool keeps_away(const char *line)
{
    char verb[16], module[16], command[64];
    const int n = sscanf(line, "%15s %15s %63s", verb, module, command);
    if (n < 2 || strcmp(module, "amdgpu")) return false;
    return !strcmp(verb, "blacklist") || (!strcmp(verb, "install") && n == 3 &&
                                          (strstr(command, "/true") || strstr(command, "/false")));
}

/* Lines of modprobe's folders that set mtype_local, or keep amdgpu from loading. */
static void read_modprobe(const struct doctor_search *search, const char *folder)
{
    struct doctor_machine *m = search->machine;
    struct doctor_names names;
    doctor_list(search->view, folder, &names);
    for (size_t i = 0; i < names.n && i < 256 && !doctor_late(search); i++) {
        char path[DOCTOR_PATH], text[16384], shown[200];
        snprintf(path, sizeof path, "%s/%.200s", folder, names.list[i]);
        if (doctor_read_lines(search->view, path, text, sizeof text, "*amdgpu *vfio-pci") < 0)
            continue;
        for (const char *line = text; *line;) {
            size_t length;
            const char *next = doctor_next_line(line, &length);
            doctor_copy_line(shown, sizeof shown, line);
            if (*shown != '#' && strstr(shown, "mtype_local") && !*m->mtype)
                snprintf(m->mtype, sizeof m->mtype, "%.250s: %.200s", path, shown);
            if (!strncmp(shown, "options vfio-pci ", 17) && strstr(shown, "ids=") && !*m->vfio)
                snprintf(m->vfio, sizeof m->vfio, "%.400s", path);
            if (keeps_away(shown) && !*m->blacklist)
                snprintf(m->blacklist, sizeof m->blacklist, "%.250s: %.200s", path, shown);
            line = next;
        }
    }
    doctor_names_deinit(&names);
}

/* "modprobe.blacklist=nouveau,amdgpu" */
static bool lists_amdgpu(const char *option)
{
    const char *at = strstr(option, "blacklist=");
    at = at ? strstr(at, "amdgpu") : NULL;
    return at && strchr("=,", at[-1]) && (!at[6] || at[6] == ',');
}

static void read_command_line(const struct doctor_search *search)
{
    static const char *const options[] = { "amdgpu.*",
                                           "nomodeset",
                                           "iommu=*",
                                           "amd_iommu=*",
                                           "intel_iommu=*",
                                           "pci=*",
                                           "pcie_aspm=*",
                                           "radeon.*",
                                           "module_blacklist=*",
                                           "modprobe.blacklist=*",
                                           "rd.driver.blacklist=*",
                                           "vfio-pci.ids=*" };
    struct doctor_machine *m = search->machine;
    struct doctor_view quiet = *search->view;
    char text[4096];
    quiet.journal = -1; /* it names disks and hosts */
    if (doctor_read(&quiet, "/proc/cmdline", text, sizeof text) < 0) return;
    for (char *save = NULL, *one = strtok_r(text, " \t\r\n", &save); one;
         one = strtok_r(NULL, " \t\r\n", &save))
        for (size_t i = 0; i < sizeof options / sizeof *options; i++)
            if (doctor_like(one, options[i])) {
                char shown[128];
                doctor_copy(shown, sizeof shown, one, strlen(one));
                doctor_append(m->command_line, sizeof m->command_line, " ", shown);
                if (!strncmp(shown, "vfio-pci.ids=", 13) && !*m->vfio)
                    snprintf(m->vfio, sizeof m->vfio, "vfio-pci.ids");
                if (lists_amdgpu(shown) && !*m->blacklist)
                    snprintf(m->blacklist, sizeof m->blacklist, "kernel command line: %s", shown);
            }
    doctor_note(search->view, "/proc/cmdline", m->command_line);
    if (strstr(m->command_line, "mtype_local") && !*m->mtype)
        snprintf(m->mtype, sizeof m->mtype, "kernel command line: %.300s", m->command_line);
}

static void read_kernel(const struct doctor_search *search)
{
    struct doctor_machine *m = search->machine;
    char text[DOCTOR_TEXT], path[160];
    if (doctor_read(search->view, "/proc/sys/kernel/osrelease", text, sizeof text) > 0)
        doctor_copy_line(m->kernel, sizeof m->kernel, text);
    m->is_wsl = strstr(m->kernel, "icrosoft") || strstr(m->kernel, "WSL");
    if (doctor_read_lines(search->view, "/proc/modules", text, sizeof text,
                          "amdgpu nvidia nouveau radeon") > 0) {
        for (const char *line = text; *line;) {
            size_t length;
            const char *next = doctor_next_line(line, &length);
            if (!strncmp(line, "amdgpu ", 7)) m->has_amdgpu = true;
            if (!strncmp(line, "nvidia ", 7)) m->has_nvidia = true;
            line = next;
        }
    }
    if (doctor_at(search->view, "/sys/module/amdgpu") == DOCTOR_FOLDER) m->has_amdgpu = true;
    if (doctor_read(search->view, "/sys/module/amdgpu/version", text, sizeof text) > 0)
        doctor_copy_line(m->amdgpu_version, sizeof m->amdgpu_version, text);
    if (strchr(m->kernel, '/')) return;
    char *config = malloc(1 << 19);
    snprintf(path, sizeof path, "/boot/config-%s", m->kernel);
    if (config && doctor_read_lines(search->view, path, config, 1 << 19, "*CONFIG_HSA_AMD") > 0)
        m->config_hsa = strstr(config, "CONFIG_HSA_AMD=y") ? DOCTOR_YES : DOCTOR_NO;
    free(config);
}

static void read_resources(const struct doctor_search *search)
{
    struct doctor_machine *m = search->machine;
    char text[8192];
    uint64_t value;
    if (doctor_read_lines(search->view, "/proc/meminfo", text, sizeof text, "MemTotal SwapTotal") >
        0) {
        if (doctor_number(text, "MemTotal", &value) && value < UINT64_MAX / 1024)
            m->ram = value * 1024, m->has_memory = true;
        if (doctor_number(text, "SwapTotal", &value) && value < UINT64_MAX / 1024)
            m->swap = value * 1024;
    }
    if (search->view->is_live) {
        struct statvfs disk;
        if (!statvfs(*m->home ? m->home : "/", &disk)) {
            m->disk = (uint64_t)disk.f_bavail * disk.f_frsize;
            m->has_disk = true;
            snprintf(text, sizeof text, "/home %llu\n", (unsigned long long)m->disk);
            doctor_note(search->view, "/rmcp/disks", text);
        }
    } else if (doctor_read(search->view, "/rmcp/disks", text, sizeof text) > 0) {
        m->has_disk = doctor_number(text, "/home", &m->disk) || doctor_number(text, "/", &m->disk);
    }
}

void doctor_probe_system(const struct doctor_search *search)
{
    read_kernel(search);
    read_os(search);
    read_parameters(search);
    read_modprobe(search, "/etc/modprobe.d");
    read_modprobe(search, "/usr/lib/modprobe.d");
    read_command_line(search);
    read_resources(search);
}
