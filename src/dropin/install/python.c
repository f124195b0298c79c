/* python.c: asks a Python where its PyTorch lies, without importing it. */
#include "base/child.h"
#include "base/error.h"
#include "base/files.h"
#include "base/python_file.h"
#include "dropin/install/program.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ANSWER = 1 << 16, MOST_VERSION = 1 << 14 };
static const double limit = 30; /* seconds; a cold start from a network folder takes some */

/* Start-up files of others may print, too: our lines have a mark. */
static const char question[] =
    "import glob, os, sys\n"
    "from importlib.util import find_spec\n"
    "if len(sys.argv) > 1 and sys.path and sys.path[0] == '': sys.path[0] = sys.argv[1]\n"
    "def tell(what, value): print('\\nrmcp:' + what + '=' + value, flush=True)\n"
    "tell('executable', sys.executable or '')\n"
    "spec = find_spec('torch')\n"
    "if spec and spec.origin: tell('torch', os.path.dirname(os.path.abspath(spec.origin)))\n"
    "for folder in sys.path:\n"
    "    names = glob.escape(folder or '.') + '/_rocm_sdk_libraries*/lib/libMIOpen.so.1'\n"
    "    for path in sorted(glob.glob(names))[:1]: tell('sdk', os.path.abspath(path))\n";

/* The first line of this name. */
static void take(const char *answer, const char *name, char *out, size_t room)
{
    char key[32];
    const int n = snprintf(key, sizeof key, "\nrmcp:%s=", name);
    const char *at = strstr(answer, key);
    out[0] = '\0';
    if (!at) return;
    const size_t length = strcspn(at + n, "\n");
    if (length < room) snprintf(out, room, "%.*s", (int)length, at + n);
}

static void read_assignment(const char *text, const char *name, char *out, size_t room)
{
    size_t length;
    const char *value = rmcp_python_assigned(text, name, &length);
    if (value) snprintf(out, room, "%.*s", (int)length, value);
}

static void read_version(struct dropin_python *out)
{
    char path[PATH_MAX], text[MOST_VERSION];
    struct rmcp_file map;
    if (!rmcp_file_join(path, out->torch, "version.py") || rmcp_file_map(AT_FDCWD, path, &map))
        return;
    const size_t n = map.size < sizeof text - 1 ? map.size : sizeof text - 1;
    memcpy(text, map.bytes, n);
    text[n] = '\0';
    rmcp_file_unmap(&map);
    read_assignment(text, "__version__", out->version, sizeof out->version);
    read_assignment(text, "hip", out->hip, sizeof out->hip);
    read_assignment(text, "cuda", out->cuda, sizeof out->cuda);
}

rmcp_status dropin_python_ask(const struct dropin_program *program, struct dropin_python *out)
{
    *out = (struct dropin_python){ 0 };
    char *argv[DROPIN_MOST_FLAGS + 5] = { (char *)program->python }, complaint[512] = "";
    size_t n = 1;
    for (size_t i = 0; i < program->n_flags; i++) argv[n++] = (char *)program->flags[i];
    argv[n++] = "-c";
    argv[n++] = (char *)question;
    if (*program->folder) argv[n++] = (char *)program->folder;
    char *answer = malloc(MOST_ANSWER);
    if (!answer) return rmcp_fail_memory("an answer", MOST_ANSWER);
    struct rmcp_child_output to = { .data = answer, .size = MOST_ANSWER },
                             err = { .data = complaint, .size = sizeof complaint };
    const struct rmcp_child_request request = {
        .argv = argv, .out = &to, .err = &err, .limit_seconds = limit
    };
    struct rmcp_child child;
    rmcp_status status = rmcp_child_run(&request, &child);
    if (!status) {
        take(answer, "executable", out->executable, sizeof out->executable);
        take(answer, "torch", out->torch, sizeof out->torch);
        take(answer, "sdk", out->sdk, sizeof out->sdk);
        if (child.end == RMCP_CHILD_LATE || child.end == RMCP_CHILD_STUCK)
            status = rmcp_fail(RMCP_E_IO, "%.200s does not answer within %.0f seconds",
                               program->python, limit);
        else if (!*out->executable)
            status = rmcp_fail(RMCP_E_IO, "%.200s does not say where torch is: %.200s",
                               program->python, complaint);
    }
    free(answer);
    if (!status && *out->torch) read_version(out);
    return status;
}
