/* leftovers.c: probe: what earlier attempts to patch ROCm left behind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help/doctor/probe.h"

/* Patterns of names that people gave to shims, patched runtimes and replaced convolutions. */
static const struct {
    const char *pattern, *what;
} patterns[] = {
    { "lib*hip*intercept*.so*", "shim" },
    { "lib*hip*shim*.so*", "shim" },
    { "lib*memory*intercept*.so*", "shim" },
    { "lib*force*alloc*.so*", "shim" },
    { "lib*coarse*grain*.so*", "shim" },
    { "lib*hsa*shim*.so*", "shim" },
    { "lib*rdna1*.so*", "shim" },
    { "libhsa-runtime64.so*.bak*", "rocr" },
    { "libhsa-runtime64.so*.orig*", "rocr" },
    { "libhsa-runtime64.so*.backup*", "rocr" },
    { "libhsa-runtime64.so*.old", "rocr" },
    { "ROCR-Runtime", "rocr" },
    { "conv2d_gfx10*.py", "conv" },
    { "*rdna1*conv*.pth", "conv" },
    { "amdgpu-mtype*.conf", "mtype" },
};

static void add(struct doctor_machine *m, const char *path, const char *what)
{
    if (m->n_leftovers == DOCTOR_LEFTOVERS) return;
    struct doctor_leftover *one = &m->leftovers[m->n_leftovers];
    doctor_copy(one->path, sizeof one->path, path, strlen(path));
    snprintf(one->what, sizeof one->what, "%s", what);
    m->n_leftovers++;
}

static void look_in(const struct doctor_search *search, const char *folder)
{
    struct doctor_names names;
    char path[2 * DOCTOR_PATH];
    doctor_list(search->view, folder, &names);
    for (size_t i = 0; i < names.n && !doctor_late(search); i++)
        for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++) {
            if (!doctor_like(names.list[i], patterns[k].pattern) ||
                doctor_like(names.list[i], "*.aside")) /* where doctor says to put it */
                continue;
            snprintf(path, sizeof path, "%s/%s", folder, names.list[i]);
            if (doctor_at(search->view, path) != DOCTOR_NOTHING)
                add(search->machine, path, patterns[k].what);
            break;
        }
    doctor_names_deinit(&names);
}

/* A folder at home, and the ones in it where libraries and scripts are built. */
static void look_at_home(const struct doctor_search *search)
{
    static const char *const inner[] = { "", "/lib", "/build", "/src", "/scripts", "/patches" };
    const char *home = search->machine->home;
    struct doctor_names names;
    char path[2 * DOCTOR_PATH];
    if (!*home || !strcmp(home, "/")) return;
    look_in(search, home);
    doctor_list(search->view, home, &names);
    for (size_t i = 0; i < names.n && i < 200 && !doctor_late(search); i++)
        for (size_t k = 0; k < sizeof inner / sizeof *inner && *names.list[i] != '.'; k++) {
            snprintf(path, sizeof path, "%s/%.200s%s", home, names.list[i], inner[k]);
            look_in(search, path);
        }
    doctor_names_deinit(&names);
}

void doctor_probe_leftovers(const struct doctor_search *search)
{
    static const char *const folders[] = { "/etc/modprobe.d", "/tmp",
                                           "/usr/local/lib",  "/usr/local/lib64",
                                           "/opt/rocm/lib",   "/usr/lib/x86_64-linux-gnu",
                                           "/usr/src" };
    struct doctor_names names;
    char path[DOCTOR_PATH], text[DOCTOR_TEXT];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) look_in(search, folders[i]);
    if (doctor_at(search->view, "/usr/local/lib/libhsa-runtime64.so.1") == DOCTOR_FILE)
        add(search->machine, "/usr/local/lib/libhsa-runtime64.so.1", "rocr");
    doctor_list(search->view, "/opt", &names);
    for (size_t i = 0; i < names.n; i++) {
        snprintf(path, sizeof path, "/opt/%.200s", names.list[i]);
        if (doctor_like(names.list[i], "roc*patch*")) add(search->machine, path, "rocr");
        snprintf(path, sizeof path, "/opt/%.200s/lib", names.list[i]);
        if (doctor_like(names.list[i], "rocm-*")) look_in(search, path);
    }
    doctor_names_deinit(&names);
    look_at_home(search);
    const char *environment = doctor_variable(search->machine, "VIRTUAL_ENV");
    if (!environment) return;
    snprintf(path, sizeof path, "%.400s/lib", environment);
    doctor_list(search->view, path, &names);
    for (size_t i = 0; i < names.n; i++) {
        if (!doctor_like(names.list[i], "python3*")) continue;
        snprintf(path, sizeof path, "%.300s/lib/%.60s/site-packages", environment, names.list[i]);
        look_in(search, path);
        doctor_append(path, sizeof path, "", "/sitecustomize.py");
        if (doctor_read_lines(search->view, path, text, sizeof text, "*Conv2d *conv2d") > 0 &&
            (strstr(text, "Conv2d") || strstr(text, "conv2d")))
            add(search->machine, path, "conv");
    }
    doctor_names_deinit(&names);
}
