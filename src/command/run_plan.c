/* run_plan.c: what rmcp run preloads for a command, and how it says so. */
#include "base/cache_path.h"
#include "base/chip/kfd.h"
#include "base/files.h"
#include "base/hash.h"
#include "command/run.h"
#include "help/doctor/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static bool is_set(const char *variable)
{
    static const char *const off[] = { "0", "no", "off", "false" }; /* as the drop-in reads it */
    const char *value = getenv(variable);
    for (size_t i = 0; value && i < sizeof off / sizeof *off; i++)
        if (!strcasecmp(value, off[i])) return false;
    return value && *value;
}

/* ---- files ---- */

/* The dynamic linker splits LD_PRELOAD at blanks and colons and reads '$' in it, whatever is done
 * about them: such a path goes by a link among this user's caches. */
static int make_preloadable(const char *path, const char *name, char out[static PATH_MAX])
{
    static const char bad[] = " :$\t\n";
    char below[128], target[PATH_MAX];
    if (!strpbrk(path, bad)) {
        snprintf(out, PATH_MAX, "%s", path);
        return CLI_OK;
    }
    snprintf(below, sizeof below, "run/%016" PRIx64 "/%s", rmcp_hash_text(RMCP_HASH_START, path),
             name);
    if (!rmcp_cache_path(below, out, PATH_MAX) || strpbrk(out, bad)) {
        cli_complain("run",
                     "no program can preload '%.300s', for a blank, a colon or a '$' in it; move "
                     "RMCP, or let XDG_CACHE_HOME name a folder without",
                     path);
        return CLI_FINDINGS;
    }
    const ssize_t n = readlink(out, target, sizeof target - 1);
    if (n > 0) {
        target[n] = '\0';
        if (!strcmp(target, path)) return CLI_OK;
        unlink(out);
    }
    if (rmcp_cache_make_folders(out) && (!symlink(path, out) || errno == EEXIST)) return CLI_OK;
    cli_complain("run", "cannot make the link '%.300s': %s", out, strerror(errno));
    return CLI_FINDINGS;
}

/* Whether a copy of ours finds librmcp by itself: beside it, or a few folders around. */
static bool finds_library(const char *copy)
{
    static const char *const around[] = { "librmcp.so.0", "rmcp/librmcp.so.0", "../librmcp.so.0",
                                          "../../librmcp.so.0", "../../../librmcp.so.0" };
    char folder[PATH_MAX], path[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", copy);
    char *slash = strrchr(folder, '/');
    if (!slash) return false;
    *slash = '\0';
    for (size_t i = 0; i < sizeof around / sizeof *around; i++)
        if (rmcp_file_join(path, folder, around[i]) && !access(path, R_OK)) return true;
    return false;
}

static bool preloads_already(const char *path)
{
    const char *list = getenv("LD_PRELOAD");
    while (list && *list) {
        const size_t n = strcspn(list, " :");
        if (n == strlen(path) && !strncmp(list, path, n)) return true;
        list += n + (list[n] != '\0');
    }
    return false;
}

static int add_copy(const struct dropin_ours *ours, enum dropin_copy copy, struct run_plan *plan)
{
    char path[PATH_MAX];
    const int status = make_preloadable(ours->copies[copy], dropin_names[copy], path);
    if (status || preloads_already(path)) return status;
    const size_t used = strlen(plan->preload);
    snprintf(plan->preload + used, sizeof plan->preload - used, "%s%s", used ? ":" : "", path);
    if (!finds_library(ours->copies[copy]) && *ours->library && !getenv("RMCP_LIBRARY"))
        snprintf(plan->library, sizeof plan->library, "%s", ours->library);
    return CLI_OK;
}

/* ---- the override ---- */

/* Whether a card is taken for one of another family: by the variable for all cards, or by its own.
 */
static bool is_foreign(const struct rmcp_kfd_node *node, const char **value)
{
    char name[64];
    uint32_t version;
    snprintf(name, sizeof name, "HSA_OVERRIDE_GFX_VERSION_%u", (unsigned)node->number);
    const char *own = getenv(name);
    *value = own ? own : getenv("HSA_OVERRIDE_GFX_VERSION");
    if (!*value || !doctor_override_parse(*value, &version) || version == node->version)
        return false;
    const uint32_t sibling = doctor_chip_sibling(node->version);
    return !sibling || sibling != doctor_chip_sibling(version);
}

/* What remains unsafe under an override; where no card can be seen, what would. */
static void describe_override(char *out, size_t room)
{
    static const char text[] = "convolutions and batch norm become safe, PyTorch's other kernels "
                               "remain code for another chip";
    const char *value = getenv("HSA_OVERRIDE_GFX_VERSION");
    uint32_t version;
    size_t n_gpus = 0;
    struct rmcp_kfd *kfd = malloc(sizeof *kfd);
    const struct rmcp_sysfs sysfs = rmcp_sysfs_here();
    out[0] = '\0';
    if (kfd && !rmcp_kfd_read(&sysfs, kfd))
        for (size_t i = 0; i < kfd->n_nodes && !*out; i++) {
            const struct rmcp_kfd_node *node = &kfd->nodes[i];
            if (!node->is_gpu || !node->version) continue;
            n_gpus++;
            const char *told;
            if (is_foreign(node, &told))
                snprintf(out, room, "; the override makes %s %.20s: %s", node->chip, told, text);
        }
    if (!n_gpus && value && doctor_override_parse(value, &version))
        snprintf(out, room,
                 "; HSA_OVERRIDE_GFX_VERSION=%.20s: unless the card is of that family, %s", value,
                 text);
    free(kfd);
}

/* ---- the plan ---- */

static void say(struct run_plan *plan, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say(struct run_plan *plan, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(plan->line, sizeof plan->line, format, arguments);
    va_end(arguments);
}

/* Ours may be installed where the original was; that has another name then. */
static bool look_beside(const char *original, char backup[static PATH_MAX])
{
    const int length = snprintf(backup, PATH_MAX, "%s.rmcp-original", original);
    return length > 0 && length < PATH_MAX && !access(backup, R_OK);
}

static int plan_replacement(const struct dropin_ours *ours, struct run_plan *plan)
{
    const struct dropin_found *found = &plan->found;
    const bool is_ours = dropin_file_is_ours(found->original);
    char note[256];
    plan->replaces = true;
    describe_override(note, sizeof note);
    if (is_ours && rmcp_file_same(AT_FDCWD, found->original, AT_FDCWD, ours->copies[found->copy])) {
        say(plan, "%.400s is RMCP's already: nothing to preload%s", found->original, note);
        return CLI_OK;
    }
    const int status = add_copy(ours, found->copy, plan);
    if (status) return status;
    if (!is_ours)
        snprintf(plan->original, sizeof plan->original, "%s", found->original);
    else if (!look_beside(found->original, plan->original))
        plan->original[0] = '\0';
    if (*plan->preload)
        say(plan, "preloading %.300s in place of %.300s (%s)%s", plan->preload, found->original,
            found->what, note);
    else
        say(plan, "%.300s is preloaded already, in place of %.300s (%s)%s",
            ours->copies[found->copy], found->original, found->what, note);
    return CLI_OK;
}

static int plan_unseen(const struct dropin_ours *ours, struct run_plan *plan)
{
    const struct dropin_found *found = &plan->found;
    const enum dropin_copy second = found->copy == DROPIN_WHEEL ? DROPIN_SYSTEM : DROPIN_WHEEL;
    char note[256];
    int status = add_copy(ours, found->copy, plan);
    if (!status) status = add_copy(ours, second, plan);
    describe_override(note, sizeof note);
    if (!dropin_file_is_ours(found->original))
        snprintf(plan->original, sizeof plan->original, "%s", found->original);
    say(plan,
        "preloading %.400s into whatever %.200s starts (%s: which MIOpen is loaded cannot be "
        "seen)%s",
        plan->preload, found->program, found->what, note);
    return status;
}

int run_plan_make(const struct run_request *request, struct run_plan *plan)
{
    struct dropin_ours ours;
    *plan = (struct run_plan){ .replaces = false };
    if (is_set("RMCP_DISABLE")) {
        say(plan, "RMCP_DISABLE is set: nothing is preloaded");
        return CLI_OK;
    }
    rmcp_status status = dropin_find(request->command, request->python, &plan->found);
    if (status) { /* as shells have it */
        const int failed = cli_failed("run", status);
        return status == RMCP_E_ARG ? 127 : status == RMCP_E_UNSUPPORTED ? 126 : failed;
    }
    const struct dropin_found *found = &plan->found;
    if (found->kind == DROPIN_SETUID) {
        say(plan,
            "%.300s is set-uid, set-gid or has capabilities, and the dynamic linker ignores "
            "LD_PRELOAD there: nothing is replaced",
            found->program);
    } else if (found->kind == DROPIN_NONE) {
        say(plan, "no MIOpen would be loaded (%s): nothing is replaced", found->what);
    } else {
        status = dropin_ours_find(&ours);
        if (status) return cli_failed("run", status);
        return found->kind == DROPIN_UNSEEN ? plan_unseen(&ours, plan)
                                            : plan_replacement(&ours, plan);
    }
    return CLI_OK;
}
