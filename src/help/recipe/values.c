/* values.c: what a script must know of a machine. */
#define _GNU_SOURCE /* realpath */
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/chip/addresses.h"
#include "base/error.h"
#include "help/doctor/rules.h"
#include "help/recipe/recipe.h"

/* The chip that the script is for: the one that was asked for, else the machine's; "" is unknown.
 */
static rmcp_status choose_chip(const struct doctor_machine *m, const char *wish,
                               char chip[static 16], uint32_t *version)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    *version = gpu ? gpu->version : 0;
    snprintf(chip, 16, "%s", gpu ? gpu->chip : "");
    if (!wish) return RMCP_OK;
    const struct rmcp_chip *known = rmcp_chip_by_name(wish, strlen(wish));
    if (!known || !known->version)
        return rmcp_fail(RMCP_E_ARG, "--chip is '%.40s', which is no chip; like gfx1010", wish);
    snprintf(chip, 16, "%s", known->name);
    *version = known->version;
    return RMCP_OK;
}

/* AMD's wheels have gfx1010 to gfx1012; the fourth of the family runs the first one's code. */
static rmcp_status set_chip(struct recipe_values *values, const char *chip, uint32_t version)
{
    const bool as_first = version > 100102 && version < 100200;
    const char *wheel = doctor_chip_wheel(version);
    rmcp_status status = recipe_set(values, "chip", chip);
    if (!status) status = recipe_set(values, "target", as_first ? "gfx1010" : chip);
    if (!status) status = recipe_set(values, "override", as_first ? "10.1.0" : "");
    if (!status) status = recipe_set(values, "served", wheel ? wheel : "");
    return status;
}

/* Variables and folders that would lead programs astray. */
static rmcp_status set_obstacles(const struct doctor_machine *m, struct recipe_values *values)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    struct doctor_words words = { .seen = "" };
    char name[64] = "", rocms[RECIPE_VALUE] = "";
    if (!gpu || !doctor_override_of(m, gpu, name)) name[0] = '\0';
    for (size_t i = 0; i < m->n_rocms; i++) {
        const size_t used = strlen(rocms);
        snprintf(rocms + used, sizeof rocms - used, "%s%s %s", used ? ", " : "", m->rocms[i].prefix,
                 m->rocms[i].version);
    }
    rmcp_status status = recipe_set(values, "foreign", name);
    if (!status) status = recipe_set(values, "profile", m->profile);
    if (!status) status = recipe_set(values, "rocms", rocms);
    if (!status)
        status =
            recipe_set(values, "visible", doctor_if_igpu_visible(m, &words) ? words.value : "");
    return status;
}

static bool is_like(const struct doctor_machine *m, const char *names)
{
    char word[40];
    for (size_t n; *names; names += n + (names[n] == ' ')) {
        n = strcspn(names, " ");
        snprintf(word, sizeof word, "%.*s", (int)n, names);
        if (!strcmp(m->os_id, word) || strstr(m->os_like, word)) return true;
    }
    return false;
}

static rmcp_status set_system(const struct doctor_machine *m, struct recipe_values *values)
{
    const char *manager = is_like(m, "debian ubuntu")        ? "apt"
                          : is_like(m, "arch")               ? "pacman"
                          : is_like(m, "fedora rhel centos") ? "dnf"
                          : is_like(m, "suse opensuse sles") ? "zypper"
                                                             : "";
    char system[200];
    snprintf(system, sizeof system, "%s %s, Linux %s", *m->os_id ? m->os_id : "unknown",
             m->os_version, m->kernel);
    const bool no_access = m->kfd.exists && m->kfd.open_error && !*m->container;
    char group[16] = "";
    if (no_access) snprintf(group, sizeof group, "%u", m->kfd.gid);
    rmcp_status status = recipe_set(values, "manager", manager);
    if (!status) status = recipe_set(values, "system", system);
    if (!status) status = recipe_set(values, "locked", group);
    if (!status) status = recipe_set(values, "container", m->container);
    return status;
}

/* The first file that a pattern finds, as an absolute path. */
static bool find_file(const char *folder, const char *pattern, char path[static PATH_MAX])
{
    char whole[PATH_MAX];
    glob_t found = { 0 };
    bool is_there = false;
    if (snprintf(whole, sizeof whole, "%s/%s", folder, pattern) < (int)sizeof whole &&
        !glob(whole, 0, NULL, &found) && found.gl_pathc)
        is_there = realpath(found.gl_pathv[found.gl_pathc - 1], path) != NULL;
    globfree(&found);
    return is_there;
}

/* Where RMCP's Python package comes from: a wheel that was named, that lies here or among the
 * downloads; else the package that belongs to this command (a tarball's). A recorded machine has
 * neither. */
static rmcp_status set_rmcp(const struct doctor_machine *m, const struct recipe_wish *wish,
                            struct recipe_values *values)
{
    static const char pattern[] = "rmcp-*manylinux*.whl";
    char wheel[PATH_MAX] = "", package[PATH_MAX] = "", downloads[DOCTOR_PATH + 16],
         beside[PATH_MAX];
    if (wish->wheel && (!realpath(wish->wheel, wheel) || access(wheel, R_OK)))
        return rmcp_fail(RMCP_E_ARG, "--wheel is '%.300s', which cannot be read", wish->wheel);
    snprintf(downloads, sizeof downloads, "%s/Downloads", m->home);
    if (!*wheel && !m->is_recorded && !find_file(".", pattern, wheel) &&
        !find_file(downloads, pattern, wheel))
        wheel[0] = '\0';
    snprintf(beside, sizeof beside, "%.*s/..",
             wish->command ? (int)(strrchr(wish->command, '/') - wish->command) : 0,
             wish->command ? wish->command : "");
    if (!*wheel && !m->is_recorded && wish->command &&
        find_file(beside, "python/rmcp/__init__.py", package))
        package[strlen(package) - strlen("/rmcp/__init__.py")] = '\0';
    rmcp_status status = recipe_set(values, "wheel", wheel);
    if (!status) status = recipe_set(values, "package", package);
    if (!status)
        status = recipe_set(values, "command",
                            wish->command && !m->is_recorded ? wish->command : "rmcp");
    return status;
}

rmcp_status recipe_values_of(const struct doctor_machine *m, const struct recipe_wish *wish,
                             bool needs_chip, struct recipe_values *values)
{
    char chip[16], folder[PATH_MAX];
    uint32_t version;
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    values->n = 0;
    rmcp_status status = choose_chip(m, wish->chip, chip, &version);
    if (status) return status;
    if (!*chip && needs_chip)
        return rmcp_fail(RMCP_E_ARG,
                         "no AMD GPU was found here; --chip gfx1010 says which one it is for");
    const bool is_guess = !*chip;
    if (is_guess) snprintf(chip, sizeof chip, "gfx1010"), version = 100100;
    snprintf(folder, sizeof folder, "%s/rmcp/%s", *m->home ? m->home : "/var/tmp", wish->name);
    if (wish->folder) snprintf(folder, sizeof folder, "%s", wish->folder);

    char rmcp[32];
    snprintf(rmcp, sizeof rmcp, "%d.%d.%d", RMCP_VERSION_MAJOR, RMCP_VERSION_MINOR,
             RMCP_VERSION_PATCH);
    const char *const more[][2] = {
        { "recipe", wish->name },
        { "version", rmcp },
        { "folder", folder },
        { "card", gpu && !wish->chip ? gpu->name : "" },
        { "guess", is_guess ? "yes" : "" },
        { "amd_index", ADDRESS_AMD_WHEELS },
        { "wheels", ADDRESS_WHEELS },
    };
    for (size_t i = 0; i < sizeof more / sizeof *more && !status; i++)
        status = recipe_set(values, more[i][0], more[i][1]);
    if (!status) status = set_chip(values, chip, version);
    if (!status) status = set_obstacles(m, values);
    if (!status) status = set_system(m, values);
    if (!status) status = set_rmcp(m, wish, values);
    return status;
}
