/* python.c: probe: Python environments with PyTorch, found and read without running Python. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/python_file.h"
#include "help/doctor/probe.h"

enum { MOST_FOLDERS = 400 };

static bool is_known(const struct doctor_machine *m, const char *site)
{
    for (size_t i = 0; i < m->n_pythons; i++)
        if (!strcmp(m->pythons[i].site, site)) return true;
    return false;
}

static void read_assignment(const char *text, const char *name, char *out, size_t room)
{
    size_t length;
    const char *value = rmcp_python_assigned(text, name, &length);
    if (value) doctor_copy(out, room, value, length);
}

static int add_library(const struct doctor_search *search, const char *path,
                       enum doctor_library_kind kind, int owner)
{
    struct doctor_machine *m = search->machine;
    char real[DOCTOR_PATH];
    enum doctor_kind found;
    if (!doctor_real(search->view, path, false, real, sizeof real, &found, NULL) ||
        found != DOCTOR_FILE)
        return -1;
    for (size_t i = 0; i < m->n_python_libraries; i++)
        if (!strcmp(m->python_libraries[i].path, real)) return (int)i;
    if (m->n_python_libraries == DOCTOR_LIBRARIES) return -1;
    struct doctor_library *library = &m->python_libraries[m->n_python_libraries];
    doctor_library_read(search, real, kind, library);
    library->owner = 100 + owner;
    return (int)m->n_python_libraries++;
}

/* A library of torch/lib, or of the folder of a ROCm package of TheRock. */
static int add_matching(const struct doctor_search *search, const char *folder, const char *pattern,
                        enum doctor_library_kind kind, int owner)
{
    struct doctor_names names;
    char path[2 * DOCTOR_PATH];
    int found = -1;
    doctor_list(search->view, folder, &names);
    for (size_t i = 0; i < names.n && found < 0; i++) {
        if (!doctor_like(names.list[i], pattern)) continue;
        snprintf(path, sizeof path, "%s/%s", folder, names.list[i]);
        found = add_library(search, path, kind, owner);
    }
    doctor_names_deinit(&names);
    return found;
}

static void read_sdk(const struct doctor_search *search, struct doctor_python *python, int owner)
{
    struct doctor_names names;
    doctor_list(search->view, python->site, &names);
    for (size_t i = 0; i < names.n; i++) {
        char folder[2 * DOCTOR_PATH];
        if (!doctor_like(names.list[i], "_rocm_sdk_*")) continue;
        snprintf(folder, sizeof folder, "%s/%s/lib", python->site, names.list[i]);
        python->is_sdk = python->bundles_rocm = true;
        add_matching(search, folder, "libamdhip64.so*", DOCTOR_LIB_HIP, owner);
        int miopen = add_matching(search, folder, "libMIOpen.so*", DOCTOR_LIB_MIOPEN, owner);
        if (miopen >= 0) python->miopen = miopen;
        add_matching(search, folder, "librocblas.so*", DOCTOR_LIB_ROCBLAS, owner);
    }
    doctor_names_deinit(&names);
}

/* The package rmcp in the same folder, and the hook that lets RMCP_TORCH enable it. */
static void read_rmcp(const struct doctor_search *search, struct doctor_python *python)
{
    char path[DOCTOR_PATH + 64], text[4096];
    snprintf(path, sizeof path, "%s/rmcp/_version.py", python->site);
    python->has_rmcp = doctor_read(search->view, path, text, sizeof text) >= 0;
    snprintf(path, sizeof path, "%s/rmcp-torch.pth", python->site);
    python->has_hook = doctor_read(search->view, path, text, sizeof text) >= 0;
}

/* Packages that must be of the same build as torch. */
static void read_companions(const struct doctor_search *search, struct doctor_python *python)
{
    char path[DOCTOR_PATH + 64], text[4096];
    snprintf(path, sizeof path, "%s/torchvision/version.py", python->site);
    if (doctor_read(search->view, path, text, sizeof text) > 0)
        read_assignment(text, "__version__", python->vision, sizeof python->vision);
    snprintf(path, sizeof path, "%s/torchaudio/version.py", python->site);
    if (doctor_read(search->view, path, text, sizeof text) > 0)
        read_assignment(text, "__version__", python->audio, sizeof python->audio);
    snprintf(path, sizeof path, "%s/amdsmi/__init__.py", python->site);
    python->has_amdsmi = doctor_at(search->view, path) == DOCTOR_FILE;
}

/* An environment's bin/python3 is a link; an upgrade of the system may take away where it leads. */
static bool has_no_interpreter(const struct doctor_search *search, const char *site)
{
    char path[DOCTOR_PATH + 32], target[DOCTOR_PATH];
    const char *lib = strstr(site, "/lib/python");
    if (!lib) return false;
    snprintf(path, sizeof path, "%.*s/bin/python3", (int)(lib - site), site);
    return doctor_read_link(search->view, path, target, sizeof target) &&
           doctor_at(search->view, path) == DOCTOR_NOTHING;
}

static void read_site(const struct doctor_search *search, const char *site)
{
    struct doctor_machine *m = search->machine;
    struct doctor_python python = { .library = -1, .miopen = -1 };
    char path[DOCTOR_PATH + 64], text[8192];
    if (!doctor_real(search->view, site, false, python.site, sizeof python.site, NULL, NULL))
        return;
    if (is_known(m, python.site) || m->n_pythons == DOCTOR_PYTHONS) return;
    snprintf(path, sizeof path, "%s/torch/version.py", python.site);
    if (doctor_read(search->view, path, text, sizeof text) < 0) return;
    read_assignment(text, "__version__", python.version, sizeof python.version);
    read_assignment(text, "hip", python.hip, sizeof python.hip);
    read_assignment(text, "cuda", python.cuda, sizeof python.cuda);
    const int owner = (int)m->n_pythons;
    snprintf(path, sizeof path, "%s/torch/lib", python.site);
    python.library = add_matching(search, path, "libtorch_hip.so", DOCTOR_LIB_TORCH, owner);
    if (*python.hip || python.library >= 0) {
        python.bundles_rocm =
            add_matching(search, path, "libamdhip64.so*", DOCTOR_LIB_HIP, owner) >= 0;
        python.miopen = add_matching(search, path, "libMIOpen.so*", DOCTOR_LIB_MIOPEN, owner);
        add_matching(search, path, "librocblas.so*", DOCTOR_LIB_ROCBLAS, owner);
        read_sdk(search, &python, owner);
    }
    read_rmcp(search, &python);
    read_companions(search, &python);
    python.has_no_interpreter = has_no_interpreter(search, python.site);
    m->pythons[m->n_pythons++] = python;
}

/* An environment on top of the system's Python, which has PyTorch: RMCP may lie in it. */
static void read_layer(const struct doctor_search *search, const char *prefix)
{
    struct doctor_machine *m = search->machine;
    struct doctor_names names;
    char path[2 * DOCTOR_PATH], text[4096];
    snprintf(path, sizeof path, "%.400s/pyvenv.cfg", prefix);
    if (doctor_read_lines(search->view, path, text, sizeof text, "include-system-site-packages") <
            0 ||
        !strstr(text, "include-system-site-packages = true"))
        return;
    snprintf(path, sizeof path, "%.400s/lib", prefix);
    doctor_list(search->view, path, &names);
    for (size_t k = 0; k < names.n; k++) {
        struct doctor_python top = { .library = -1, .miopen = -1 };
        if (!doctor_like(names.list[k], "python3*")) continue;
        snprintf(top.site, sizeof top.site, "%.300s/lib/%.100s/site-packages", prefix,
                 names.list[k]);
        read_rmcp(search, &top);
        for (size_t i = 0; i < m->n_pythons; i++) {
            struct doctor_python *python = &m->pythons[i];
            if (strncmp(python->site, "/usr/", 5)) continue;
            doctor_copy(python->layer, sizeof python->layer, prefix, strlen(prefix));
            python->has_rmcp |= top.has_rmcp;
            python->has_hook |= top.has_hook;
        }
    }
    doctor_names_deinit(&names);
}

/* A folder of a Python's modules: old machines have a PyTorch for Python 2. */
static bool is_python(const char *name)
{
    return doctor_like(name, "python3*") || doctor_like(name, "python2*");
}

/* PREFIX/lib/python3.N/site-packages and its relatives. */
static void read_prefix(const struct doctor_search *search, const char *prefix)
{
    static const char *const libs[] = { "lib", "lib64" };
    static const char *const sites[] = { "site-packages", "dist-packages" };
    for (size_t i = 0; i < 2; i++) {
        struct doctor_names names;
        char folder[DOCTOR_PATH], site[2 * DOCTOR_PATH];
        snprintf(folder, sizeof folder, "%.400s/%s", prefix, libs[i]);
        doctor_list(search->view, folder, &names);
        for (size_t k = 0; k < names.n && !doctor_late(search); k++)
            for (size_t s = 0; s < 2 && is_python(names.list[k]); s++) {
                snprintf(site, sizeof site, "%s/%s/%s", folder, names.list[k], sites[s]);
                read_site(search, site);
            }
        doctor_names_deinit(&names);
    }
}

/* Each folder below `parent` as a prefix, and where `deeper`, those below it. */
static void read_children(const struct doctor_search *search, const char *parent, int deeper)
{
    struct doctor_names names;
    char path[2 * DOCTOR_PATH];
    doctor_list(search->view, parent, &names);
    for (size_t i = 0; i < names.n && i < MOST_FOLDERS && !doctor_late(search); i++) {
        const char *name = names.list[i];
        const bool hidden = *name == '.' && !strstr(name, "env") && strcmp(name, ".conda");
        enum doctor_kind kind;
        if (hidden || strlen(parent) + strlen(name) > DOCTOR_PATH - 64) continue;
        snprintf(path, sizeof path, "%s/%s", parent, name);
        /* Links are not followed: they lead to places that are looked at anyway, or in circles. */
        struct doctor_view quiet = *search->view;
        char real[2 * DOCTOR_PATH];
        quiet.journal = -1;
        if (!doctor_real(&quiet, path, true, real, sizeof real, &kind, NULL) ||
            kind != DOCTOR_FOLDER)
            continue;
        read_prefix(search, path);
        if (deeper) read_children(search, path, deeper - 1);
    }
    doctor_names_deinit(&names);
}

/* Prefixes by a pattern below `parent`, in which a star is anything but a hidden folder. */
static void read_pattern(const struct doctor_search *search, const char *parent,
                         const char *pattern)
{
    const size_t length = strcspn(pattern, "/");
    const char *rest = pattern + length + (pattern[length] == '/');
    struct doctor_names names;
    char path[2 * DOCTOR_PATH];
    if (strlen(parent) + length > DOCTOR_PATH - 64) return;
    if (!memchr(pattern, '*', length)) {
        snprintf(path, sizeof path, "%s/%.*s", parent, (int)length, pattern);
        if (*rest)
            read_pattern(search, path, rest);
        else
            read_prefix(search, path);
        return;
    }
    char component[64];
    if (length >= sizeof component) return;
    snprintf(component, sizeof component, "%.*s", (int)length, pattern);
    doctor_list(search->view, parent, &names);
    for (size_t i = 0; i < names.n && i < MOST_FOLDERS && !doctor_late(search); i++) {
        if (*names.list[i] == '.' || !doctor_like(names.list[i], component) ||
            strlen(parent) + strlen(names.list[i]) > DOCTOR_PATH - 64)
            continue;
        snprintf(path, sizeof path, "%s/%s", parent, names.list[i]);
        if (*rest)
            read_pattern(search, path, rest);
        else
            read_prefix(search, path);
    }
    doctor_names_deinit(&names);
}

/* Where tools for environments, and launchers of web UIs, put theirs: deeper than is looked. */
static void read_nests(const struct doctor_search *search, const char *home)
{
    static const char *const below_home[] = {
        ".conda/envs/*",
        "micromamba/envs/*",
        ".local/share/mamba/envs/*",
        ".pyenv/versions/*",
        ".virtualenvs/*",
        ".local/share/virtualenvs/*",
        ".cache/pypoetry/virtualenvs/*",
        ".local/share/pipx/venvs/*",
        ".local/pipx/venvs/*",
        ".local/share/uv/tools/*",
        "StabilityMatrix/Packages/*/venv",
        "StabilityMatrix/Data/Packages/*/venv",
        "pinokio/api/*/app/env",
        ".local/share/*/*env*",
        ".local/opt/*/*env*",
        ".config/*/*env*",
        ".var/app/*/data/*/*env*",
        ".venvs/*/*env*",
        "*/*/*env*",
        "*/*/.venv",
    };
    static const char *const below_root[] = {
        "opt/*/venv",
        "opt/*/.venv",
        "opt/*/Data/Packages/*/venv",
        "opt/*/Packages/*/venv",
        "venv",
        ".venv",
        "app/venv",
        "app/.venv",
        "workspace/*",
        "workspace/*/venv",
        "srv/*/*env*",
        "data/*/*env*",
        "mnt/*/*env*",
        "mnt/*/*/*env*", /* last: these may be folders of another computer */
    };
    for (size_t i = 0; *home && strcmp(home, "/") && i < sizeof below_home / sizeof *below_home;
         i++)
        read_pattern(search, home, below_home[i]);
    for (size_t i = 0; i < sizeof below_root / sizeof *below_root; i++)
        read_pattern(search, "", below_root[i]);
}

/* The folders that PYTHONPATH puts before all others; whether one of them has a PyTorch. */
static bool read_pythonpath(const struct doctor_search *search)
{
    struct doctor_machine *m = search->machine;
    const char *list = doctor_variable(m, "PYTHONPATH");
    char folder[DOCTOR_PATH];
    for (size_t n; list && *list; list += n + (list[n] != '\0')) {
        n = strcspn(list, ":");
        doctor_copy(folder, sizeof folder, list, n);
        const size_t before = m->n_pythons;
        if (*folder == '/') read_site(search, folder);
        if (m->n_pythons == before) continue;
        m->pythons[before].is_active = true;
        return true;
    }
    return false;
}

/* "python3.12" of ".../lib/python3.12/site-packages"; "" for the folders of all releases. */
static void release_of(const char *site, char release[static 32])
{
    const char *at = strstr(site, "/python3.");
    snprintf(release, 32, "%.*s", at ? (int)strcspn(at + 1, "/") : 0, at ? at + 1 : "");
}

/* Python looks in ~/.local before the folders of a conda environment and those of the system, but
 * not in an environment of venv. */
static void note_shadows(struct doctor_machine *m)
{
    char local[DOCTOR_PATH + 16], one[32], other[32];
    if (doctor_variable(m, "PYTHONNOUSERSITE") || !*m->home) return;
    snprintf(local, sizeof local, "%s/.local/lib/", m->home);
    for (size_t i = 0; i < m->n_pythons; i++) {
        struct doctor_python *user = &m->pythons[i];
        if (strncmp(user->site, local, strlen(local))) continue;
        release_of(user->site, one);
        for (size_t k = 0; k < m->n_pythons; k++) {
            struct doctor_python *python = &m->pythons[k];
            const bool is_system = !strncmp(python->site, "/usr/", 5);
            release_of(python->site, other);
            if (python == user || (!is_system && !doctor_is_conda_site(m, python)) ||
                (*other && strcmp(one, other)))
                continue;
            python->is_shadowed = true;
            if (python->is_active) user->is_active = true;
            python->is_active = false;
        }
    }
}

void doctor_probe_python(const struct doctor_search *search)
{
    static const char *const variables[] = { "VIRTUAL_ENV", "CONDA_PREFIX" };
    static const char *const prefixes[] = { "/usr/local", "/usr", "/opt/venv", "/opt/conda" };
    const struct doctor_machine *m = search->machine;
    char path[DOCTOR_PATH + 32];
    const bool is_first = read_pythonpath(search);
    for (size_t i = 0; i < 2; i++) {
        const char *value = doctor_variable(m, variables[i]);
        const bool is_used = value && !is_first && (i == 0 || !doctor_variable(m, variables[0]));
        const size_t first = m->n_pythons;
        if (value && *value == '/') read_prefix(search, value);
        for (size_t k = first; is_used && k < m->n_pythons; k++)
            search->machine->pythons[k].is_active = true;
    }
    if (*m->home) {
        snprintf(path, sizeof path, "%s/.local", m->home);
        read_prefix(search, path);
    }
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        read_prefix(search, prefixes[i]);
    read_children(search, "/opt/conda/envs", 0);
    if (*m->home && strcmp(m->home, "/")) {
        static const char *const condas[] = { "miniconda3", "anaconda3", "miniforge3",
                                              "mambaforge" };
        for (size_t i = 0; i < sizeof condas / sizeof *condas; i++) {
            snprintf(path, sizeof path, "%s/%s/envs", m->home, condas[i]);
            read_children(search, path, 0);
        }
        read_children(search, m->home, 1);
    }
    read_children(search, "/opt", 0);
    read_nests(search, m->home);
    const char *active = doctor_variable(m, "VIRTUAL_ENV");
    if (active && *active == '/') read_layer(search, active);
    note_shadows(search->machine);
}
