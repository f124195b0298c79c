/* environment.c: probe: variables that change what the GPU does, and the files that set them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help/doctor/probe.h"

extern char **environ;

/* Names, or beginnings of names with '*': those that change what the GPU or the loader does. */
static const char *const wanted[] = {
    "HSA_*",
    "HIP_*",
    "ROCR_*",
    "ROCM_*",
    "ROC_*",
    "MIOPEN_*",
    "AMD_LOG_*",
    "AMD_SERIALIZE_*",
    "AMD_DIRECT_DISPATCH",
    "AMD_COMGR_*",
    "GPU_MAX_*",
    "GPU_DEVICE_*",
    "PYTORCH_*",
    "TORCH_*",
    "ROCBLAS_*",
    "TENSILE_*",
    "HIPBLASLT_*",
    "PYTHONPATH",
    "PYTHONNOUSERSITE",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "CUDA_VISIBLE_DEVICES",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "OCL_ICD_*",
    "VK_ICD_*",
    "VK_DRIVER_FILES",
    "RMCP_*",
    "HCC_AMDGPU_*",
    "DEVICE_LIB_PATH",
};
/* Never these, whatever they begin with. */
static const char *const unwanted[] = { "*TOKEN*", "*KEY*", "*SECRET*", "*PASSWORD*",
                                        "*CREDENTIAL*" };

static bool is_wanted(const char *name)
{
    for (size_t i = 0; i < sizeof unwanted / sizeof *unwanted; i++)
        if (doctor_like(name, unwanted[i])) return false;
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

/* Only the assignment itself is taken: the rest of the line is nobody's business. */
static void read_profile(const struct doctor_search *search, const char *path)
{
    static const char name[] = "HSA_OVERRIDE_GFX_VERSION";
    struct doctor_machine *m = search->machine;
    struct doctor_view quiet = *search->view;
    char text[DOCTOR_TEXT], line[256], shown[96];
    const size_t home = strlen(m->home);
    const bool at_home = home && !strncmp(path, m->home, home);
    quiet.journal = -1;
    if (*m->profile || doctor_read(&quiet, path, text, sizeof text) < 0) return;
    for (const char *next = text; *next && !*m->profile;) {
        size_t length;
        doctor_copy_line(line, sizeof line, next);
        next = doctor_next_line(next, &length);
        const char *at = *line == '#' ? NULL : strstr(line, name);
        if (!at) continue;
        snprintf(shown, sizeof shown, "%.*s", (int)strcspn(at, " \t;&#"), at);
        snprintf(m->profile, sizeof m->profile, "%s%.150s: %s", at_home ? "~" : "",
                 at_home ? path + home : path, shown);
        doctor_note(search->view, path, shown);
    }
}

static void read_profiles(const struct doctor_search *search)
{
    static const char *const at_home[] = { ".bashrc",   ".profile",  ".bash_profile",   ".zshrc",
                                           ".zprofile", ".xprofile", ".pam_environment" };
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
