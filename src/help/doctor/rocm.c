/* rocm.c: probe: ROCm installations, their libraries, and which of them ld.so takes. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help/doctor/probe.h"

static const struct {
    enum doctor_library_kind kind;
    const char *prefix;
} wanted[] = {
    { DOCTOR_LIB_HIP, "libamdhip64.so" },
    { DOCTOR_LIB_HSA, "libhsa-runtime64.so" },
    { DOCTOR_LIB_MIOPEN, "libMIOpen.so" },
    { DOCTOR_LIB_ROCBLAS, "librocblas.so" },
};

static const char *const system_folders[] = { "/usr/local/lib",
                                              "/lib/x86_64-linux-gnu",
                                              "/usr/lib/x86_64-linux-gnu",
                                              "/lib64",
                                              "/usr/lib64",
                                              "/lib",
                                              "/usr/lib" };

/* The first file in a folder whose name begins so: "libamdhip64.so", "libamdhip64.so.6" … */
static bool find_in(const struct doctor_search *search, const char *folder, const char *prefix,
                    char *path, size_t room)
{
    struct doctor_names names;
    const size_t length = strlen(prefix);
    bool found = false;
    doctor_list(search->view, folder, &names);
    for (size_t i = 0; i < names.n && !found; i++) {
        const char *name = names.list[i];
        char one[2 * DOCTOR_PATH];
        if (strncmp(name, prefix, length) || (name[length] && name[length] != '.')) continue;
        if (strspn(name + length, ".0123456789") != strlen(name + length)) continue; /* .bak … */
        snprintf(one, sizeof one, "%s/%s", folder, name);
        enum doctor_kind kind;
        found =
            doctor_real(search->view, one, false, path, room, &kind, NULL) && kind == DOCTOR_FILE;
        if (found) doctor_at(search->view, one); /* noted for a recording */
    }
    doctor_names_deinit(&names);
    return found;
}

/* Folders of a list with separators, in order. */
static bool find_in_list(const struct doctor_search *search, const char *list,
                         const char *separators, const char *prefix, char *path, size_t room)
{
    char folder[DOCTOR_PATH];
    for (size_t n; *list; list += n + (list[n] != '\0')) {
        n = strcspn(list, separators);
        doctor_copy(folder, sizeof folder, list, n);
        if (*folder == '/' && find_in(search, folder, prefix, path, room)) return true;
    }
    return false;
}

static bool find_in_conf(const struct doctor_search *search, const char *prefix, char *path,
                         size_t room)
{
    struct doctor_names names;
    bool found = false;
    char file[DOCTOR_PATH], text[8192];
    doctor_list(search->view, "/etc/ld.so.conf.d", &names);
    for (size_t i = 0; i < names.n && i < 128 && !found; i++) {
        snprintf(file, sizeof file, "/etc/ld.so.conf.d/%.200s", names.list[i]);
        if (doctor_like(names.list[i], "*.conf") &&
            doctor_read(search->view, file, text, sizeof text) > 0)
            found = find_in_list(search, text, " \t\r\n", prefix, path, room);
    }
    doctor_names_deinit(&names);
    if (!found && doctor_read(search->view, "/etc/ld.so.conf", text, sizeof text) > 0)
        found = find_in_list(search, text, " \t\r\n", prefix, path, room);
    return found;
}

bool doctor_loader_find(const struct doctor_search *search, const char *prefix, bool only_variable,
                        char *path, size_t room)
{
    const char *variable = doctor_variable(search->machine, "LD_LIBRARY_PATH");
    if (variable && find_in_list(search, variable, ":;", prefix, path, room)) return true;
    if (only_variable) return false;
    if (find_in_conf(search, prefix, path, room)) return true;
    for (size_t i = 1; i < sizeof system_folders / sizeof *system_folders; i++)
        if (find_in(search, system_folders[i], prefix, path, room)) return true;
    return false;
}

static bool is_known(const struct doctor_machine *m, const char *path)
{
    for (size_t i = 0; i < m->n_system_libraries; i++)
        if (!strcmp(m->system_libraries[i].path, path)) return true;
    return false;
}

static void read_libraries(const struct doctor_search *search, const char *folder, int owner)
{
    struct doctor_machine *m = search->machine;
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
        char path[DOCTOR_PATH];
        if (!find_in(search, folder, wanted[k].prefix, path, sizeof path) || is_known(m, path))
            continue;
        if (m->n_system_libraries == DOCTOR_LIBRARIES) return;
        struct doctor_library *library = &m->system_libraries[m->n_system_libraries];
        doctor_library_read(search, path, wanted[k].kind, library);
        library->owner = owner;
        m->n_system_libraries++;
    }
}

static uint32_t read_clang(const struct doctor_search *search, const char *prefix)
{
    static const char *const places[] = { "llvm/lib/clang", "lib/llvm/lib/clang" };
    unsigned long best = 0;
    for (size_t i = 0; i < 2 && !best; i++) {
        struct doctor_names names;
        char path[DOCTOR_PATH + 32];
        snprintf(path, sizeof path, "%s/%s", prefix, places[i]);
        doctor_list(search->view, path, &names);
        for (size_t k = 0; k < names.n; k++) {
            unsigned long major = strtoul(names.list[k], NULL, 10);
            if (major < 1 || major > 99) continue;
            if (major > best) best = major;
            char folder[2 * DOCTOR_PATH];
            snprintf(folder, sizeof folder, "%s/%s", path, names.list[k]);
            doctor_at(search->view, folder); /* noted for a recording */
        }
        doctor_names_deinit(&names);
    }
    return (uint32_t)best;
}

static void add_rocm(const struct doctor_search *search, const char *prefix)
{
    struct doctor_machine *m = search->machine;
    static const char *const files[] = { ".info/version", ".info/version-dev" };
    struct doctor_rocm rocm = { 0 };
    char path[DOCTOR_PATH + 32], text[256];
    enum doctor_kind kind;
    if (!doctor_real(search->view, prefix, false, rocm.prefix, sizeof rocm.prefix, &kind, NULL) ||
        kind != DOCTOR_FOLDER)
        return;
    for (size_t i = 0; i < m->n_rocms; i++)
        if (!strcmp(m->rocms[i].prefix, rocm.prefix)) return;
    for (size_t i = 0; i < 2 && !*rocm.version; i++) {
        snprintf(path, sizeof path, "%s/%s", rocm.prefix, files[i]);
        if (doctor_read(search->view, path, text, sizeof text) > 0)
            doctor_copy_line(rocm.version, sizeof rocm.version, text);
    }
    rocm.version[strcspn(rocm.version, "-")] = '\0'; /* "6.2.2-116" */
    rocm.clang = read_clang(search, rocm.prefix);
    snprintf(path, sizeof path, "%s/lib", rocm.prefix);
    char found[DOCTOR_PATH];
    const bool has_hip = find_in(search, path, "libamdhip64.so", found, sizeof found) ||
                         find_in(search, path, "libhsa-runtime64.so", found, sizeof found);
    if ((!*rocm.version && !has_hip) || m->n_rocms == DOCTOR_ROCMS) return;
    m->rocms[m->n_rocms++] = rocm;
    read_libraries(search, path, (int)m->n_rocms - 1);
}

/* Packages of a distribution: libraries in the system's folders. Their version is in the name of
 * the file: libamdhip64.so.5.2.21153. */
static void add_distribution(const struct doctor_search *search)
{
    struct doctor_machine *m = search->machine;
    for (size_t i = 0; i < sizeof system_folders / sizeof *system_folders; i++) {
        char path[DOCTOR_PATH], real[DOCTOR_PATH];
        if (!doctor_real(search->view, system_folders[i], false, real, sizeof real, NULL, NULL))
            continue;
        if (!find_in(search, real, "libamdhip64.so", path, sizeof path) || is_known(m, path)) {
            read_libraries(search, real, -1);
            continue;
        }
        if (m->n_rocms == DOCTOR_ROCMS) return;
        struct doctor_rocm *rocm = &m->rocms[m->n_rocms];
        *rocm = (struct doctor_rocm){ 0 };
        snprintf(rocm->prefix, sizeof rocm->prefix, "%s", real);
        const char *at = strstr(path, ".so.");
        unsigned major, minor;
        if (at && sscanf(at + 4, "%3u.%3u.", &major, &minor) == 2)
            snprintf(rocm->version, sizeof rocm->version, "%u.%u", major, minor);
        m->n_rocms++;
        read_libraries(search, real, (int)m->n_rocms - 1);
    }
}

/* Debian's and Ubuntu's compilers: /usr/lib/llvm-19. */
static uint32_t read_system_clang(const struct doctor_search *search)
{
    struct doctor_names names;
    unsigned long best = 0;
    doctor_list(search->view, "/usr/lib", &names);
    for (size_t i = 0; i < names.n; i++) {
        char path[DOCTOR_PATH];
        if (!doctor_like(names.list[i], "llvm-*")) continue;
        snprintf(path, sizeof path, "/usr/lib/%.100s/bin/clang", names.list[i]);
        if (doctor_at(search->view, path) != DOCTOR_FILE) continue;
        const unsigned long major = strtoul(names.list[i] + 5, NULL, 10);
        if (major > best && major < 100) best = major;
    }
    doctor_names_deinit(&names);
    return (uint32_t)best;
}

/* "6.2.0" of /srv/rocm/lib/libamdhip64.so.6, by the file that a whole ROCm has. */
static void read_release(const struct doctor_search *search, const char *library)
{
    struct doctor_machine *m = search->machine;
    char path[DOCTOR_PATH + 32], text[256];
    snprintf(path, sizeof path, "%s", library);
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(path, '/');
        if (!slash) return;
        *slash = '\0';
    }
    doctor_append(path, sizeof path, "", "/.info/version");
    if (doctor_read(search->view, path, text, sizeof text) > 0)
        doctor_copy_line(m->variable_release, sizeof m->variable_release, text);
}

void doctor_probe_rocm(const struct doctor_search *search)
{
    static const char *const variables[] = { "ROCM_PATH", "ROCM_HOME", "HIP_PATH" };
    struct doctor_machine *m = search->machine;
    struct doctor_names names;
    char path[DOCTOR_PATH];
    add_rocm(search, "/opt/rocm");
    doctor_list(search->view, "/opt", &names);
    for (size_t i = 0; i < names.n && !doctor_late(search); i++) {
        snprintf(path, sizeof path, "/opt/%.200s", names.list[i]);
        if (doctor_like(names.list[i], "rocm*") || doctor_like(names.list[i], "rocr*"))
            add_rocm(search, path);
    }
    doctor_names_deinit(&names);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = doctor_variable(m, variables[i]);
        if (value && *value == '/') add_rocm(search, value);
    }
    add_distribution(search);
    m->system_clang = read_system_clang(search);
    doctor_loader_find(search, "libamdhip64.so", false, m->loader_hip, sizeof m->loader_hip);
    doctor_loader_find(search, "libMIOpen.so", false, m->loader_miopen, sizeof m->loader_miopen);
    doctor_loader_find(search, "libMIOpen.so", true, m->variable_miopen, sizeof m->variable_miopen);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && !*m->variable_rocm; i++)
        if (wanted[i].kind != DOCTOR_LIB_MIOPEN)
            doctor_loader_find(search, wanted[i].prefix, true, m->variable_rocm,
                               sizeof m->variable_rocm);
    read_release(search, *m->variable_rocm ? m->variable_rocm : m->variable_miopen);
}
