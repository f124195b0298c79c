/* environment.c: probe: variables that change what the GPU does, and the files that set them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/probe.h"

extern char **environ;

/* Names, or beginnings of names with '*'. */
static const char *const wanted[] = { "HSA_*",          "HIP_*",           "ROCR_*",
                                      "ROCM_*",         "ROC_*",           "MIOPEN_*",
                                      "AMD_*",          "GPU_*",           "PYTORCH_*",
                                      "TORCH_*",        "ROCBLAS_*",       "TENSILE_*",
                                      "LD_PRELOAD",     "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES",
                                      "VIRTUAL_ENV",    "CONDA_PREFIX",    "OCL_ICD_*",
                                      "VK_ICD_*",       "VK_DRIVER_FILES", "RMCP_*",
                                      "HCC_AMDGPU_*",   "DEVICE_LIB_PATH" };

/* What a start-up file may set that matters here. */
static const char profile_keys[] = "*HSA_OVERRIDE_GFX_VERSION *LD_PRELOAD *MIOPEN_ "
                                   "*HIP_VISIBLE_DEVICES *ROCR_VISIBLE_DEVICES *PYTORCH_ROCM_ARCH";

static bool is_wanted(const char *name)
{
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (doctor_like(name, wanted[i])) return true;
    return false;
}

static void add(struct doctor_machine *m, const char *line, size_t length)
{
    struct doctor_variable one = { 0 };
    const char *equals = memchr(line, '=', length);
    if (!equals || m->n_variables == DOCTOR_VARIABLES) return;
    doctor_copy(one.name, sizeof one.name, line, (size_t)(equals - line));
    doctor_copy(one.value, sizeof one.value, equals + 1, length - (size_t)(equals - line) - 1);
    if (!is_wanted(one.name)) return;
    m->variables[m->n_variables++] = one;
}

static void note_variables(const struct doctor_search *search)
{
    const struct doctor_machine *m = search->machine;
    const size_t room = DOCTOR_VARIABLES * sizeof *m->variables;
    char *text = search->view->journal < 0 ? NULL : calloc(1, room);
    if (!text) return;
    for (size_t i = 0, used = 0; i < m->n_variables; i++)
        used += (size_t)snprintf(text + used, room - used, "%s=%s\n", m->variables[i].name,
                                 m->variables[i].value);
    doctor_note(search->view, "/rmcp/environment", text);
    free(text);
}

static void read_profile(const struct doctor_search *search, const char *path)
{
    struct doctor_machine *m = search->machine;
    char text[DOCTOR_TEXT], shown[256];
    const size_t home = strlen(m->home);
    const bool at_home = home && !strncmp(path, m->home, home);
    if (doctor_read_lines(search->view, path, text, sizeof text, profile_keys) < 0) return;
    for (const char *line = text; *line && !*m->profile;) {
        size_t length;
        const char *next = doctor_next_line(line, &length);
        doctor_copy_line(shown, sizeof shown, line);
        if (*shown != '#' && strstr(shown, "HSA_OVERRIDE_GFX_VERSION"))
            snprintf(m->profile, sizeof m->profile, "%s%.150s: %.200s", at_home ? "~" : "",
                     at_home ? path + home : path, shown);
        line = next;
    }
}

static void read_profiles(const struct doctor_search *search)
{
    static const char *const at_home[] = { ".bashrc",  ".profile",  ".bash_profile",
                                           ".zshrc",   ".zprofile", ".xprofile",
                                           ".pam_environment" };
    static const char *const folders[] = { "/etc/profile.d", "/etc/environment.d" };
    char path[DOCTOR_PATH + 300];
    for (size_t i = 0; i < sizeof at_home / sizeof *at_home && *search->machine->home; i++) {
        snprintf(path, sizeof path, "%s/%s", search->machine->home, at_home[i]);
        read_profile(search, path);
    }
    read_profile(search, "/etc/environment");
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        struct doctor_names names;
        doctor_list(search->view, folders[i], &names);
        for (size_t k = 0; k < names.n && k < 64 && !doctor_late(search); k++) {
            snprintf(path, sizeof path, "%s/%s", folders[i], names.list[k]);
            read_profile(search, path);
        }
        doctor_names_deinit(&names);
    }
}

void doctor_probe_environment(const struct doctor_search *search)
{
    struct doctor_machine *m = search->machine;
    char text[DOCTOR_TEXT];
    if (search->view->is_live) {
        const char *home = getenv("HOME");
        if (home && *home == '/') snprintf(m->home, sizeof m->home, "%s", home);
        for (char **one = environ; one && *one; one++) add(m, *one, strlen(*one));
    } else {
        snprintf(m->home, sizeof m->home, "/home/user");
        doctor_read(search->view, "/rmcp/environment", text, sizeof text);
        for (const char *line = text; *line;) {
            size_t length;
            const char *next = doctor_next_line(line, &length);
            add(m, line, length);
            line = next;
        }
    }
    note_variables(search);
    if (doctor_read(search->view, "/etc/ld.so.preload", text, sizeof text) > 0)
        doctor_copy_line(m->preload_file, sizeof m->preload_file, text);
    read_profiles(search);
}
