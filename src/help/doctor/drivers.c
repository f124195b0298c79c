/* drivers.c: probe: OpenCL and Vulkan drivers, by their registration files; none is loaded. */
#include <stdio.h>
#include <string.h>

#include "help/doctor/probe.h"

static const char *const amd_marks[] = { "amdocl", "rusticl", "MesaOpenCL", "radeon",
                                         "amdvlk", "amd_",    "amdgpu" };

static bool is_amd(const char *text)
{
    for (size_t i = 0; i < sizeof amd_marks / sizeof *amd_marks; i++)
        if (strstr(text, amd_marks[i])) return true;
    return false;
}

static void read_icd(const struct doctor_search *search, const char *folder, const char *name)
{
    struct doctor_machine *m = search->machine;
    char path[DOCTOR_PATH], text[1024], found[DOCTOR_PATH];
    if (m->n_icds == DOCTOR_ICDS || !doctor_like(name, "*.icd")) return;
    struct doctor_icd *icd = &m->icds[m->n_icds];
    snprintf(path, sizeof path, "%s/%.200s", folder, name);
    if (doctor_read(search->view, path, text, sizeof text) <= 0) return;
    *icd = (struct doctor_icd){ 0 };
    doctor_copy(icd->file, sizeof icd->file, path, strlen(path));
    doctor_copy_line(icd->library, sizeof icd->library, text);
    icd->is_amd = is_amd(icd->library) || is_amd(name);
    icd->library_missing =
        *icd->library == '/'
            ? doctor_at(search->view, icd->library) != DOCTOR_FILE
            : !doctor_loader_find(search, icd->library, false, found, sizeof found);
    m->n_icds++;
}

static void read_vulkan(const struct doctor_search *search, const char *folder, const char *name)
{
    struct doctor_machine *m = search->machine;
    char path[DOCTOR_PATH];
    if (m->n_icds == DOCTOR_ICDS || !doctor_like(name, "*.json")) return;
    struct doctor_icd *icd = &m->icds[m->n_icds];
    snprintf(path, sizeof path, "%s/%.200s", folder, name);
    if (doctor_at(search->view, path) != DOCTOR_FILE) return;
    *icd = (struct doctor_icd){ .is_vulkan = true, .is_amd = is_amd(name) };
    doctor_copy(icd->file, sizeof icd->file, path, strlen(path));
    m->n_icds++;
}

void doctor_probe_drivers(const struct doctor_search *search)
{
    static const struct {
        const char *folder;
        void (*read)(const struct doctor_search *search, const char *folder, const char *name);
    } places[] = { { "/etc/OpenCL/vendors", read_icd },
                   { "/usr/share/OpenCL/vendors", read_icd },
                   { "/usr/share/vulkan/icd.d", read_vulkan },
                   { "/etc/vulkan/icd.d", read_vulkan } };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct doctor_names names;
        doctor_list(search->view, places[i].folder, &names);
        for (size_t k = 0; k < names.n; k++)
            places[i].read(search, places[i].folder, names.list[k]);
        doctor_names_deinit(&names);
    }
}
