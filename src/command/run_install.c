/* run_install.c: rmcp run --install-into and --restore. */
#include "command/run.h"

#include <string.h>

static const char *const words[] = { [DROPIN_UNCHANGED] = "unchanged",
                                     [DROPIN_INSTALLED] = "installed",
                                     [DROPIN_UPGRADED] = "upgraded",
                                     [DROPIN_RESTORED] = "restored" };

static int print_json(const struct dropin_place *place, enum dropin_change change, bool restore,
                      const char *said)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "action", restore ? "restore" : "install");
    cJSON_AddStringToObject(object, "change", words[change]);
    cJSON_AddStringToObject(object, "folder", place->folder);
    cJSON_AddStringToObject(object, "library", dropin_names[place->copy]);
    cJSON_AddStringToObject(object, "says", said);
    return cli_print_json(object, "rmcp.run.install/1");
}

static void print_text(const struct dropin_place *place, enum dropin_change change, bool restore,
                       const char *said)
{
    const char *name = dropin_names[place->copy];
    if (restore) {
        printf("%s/%s: %s%s%s\n", place->folder, name, words[change], *said ? ": " : "", said);
        return;
    }
    if (change == DROPIN_UNCHANGED)
        printf("%s/%s is RMCP's %s already\n", place->folder, name, rmcp_version());
    else
        printf("%s/%s: %s, RMCP's %s; the original is rmcp/libMIOpen.so.original beside it\n",
               place->folder, name, words[change], rmcp_version());
    printf("undo it, also before PyTorch is upgraded: rmcp run --restore '%s'\n", place->folder);
}

int run_install(const struct run_request *request)
{
    struct dropin_place place;
    struct dropin_ours ours;
    enum dropin_change change = DROPIN_UNCHANGED;
    char said[400] = "";
    const bool restore = request->restore;
    rmcp_status status = dropin_place_find(restore ? request->restore : request->install, &place);
    if (status) return cli_failed("run", status);
    if (!request->force && dropin_place_is_system(&place)) {
        cli_complain("run",
                     "%.300s belongs to the system's packages, which would replace the file again "
                     "at any time; use rmcp run -- COMMAND, or --force",
                     place.folder);
        return CLI_FINDINGS;
    }
    if (restore) {
        status = dropin_restore(&place, &change, said);
    } else {
        status = dropin_ours_find(&ours);
        if (!status) status = dropin_install(&place, &ours, &change);
    }
    if (status) return cli_failed("run", status);
    if (request->json) return print_json(&place, change, restore, said);
    print_text(&place, change, restore, said);
    return CLI_OK;
}
