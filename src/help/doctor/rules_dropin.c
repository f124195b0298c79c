/* rules_dropin.c: conditions about RMCP in a PyTorch: its MIOpen in the place of another, the
 * package. */
#include <string.h>

#include "help/doctor/rules.h"

/* A PyTorch in which it stands so; the folder of the library is the value. */
static bool say_python(const struct doctor_machine *m, enum doctor_dropin dropin,
                       struct doctor_words *words)
{
    for (size_t i = 0; i < m->n_pythons; i++) {
        const struct doctor_python *python = &m->pythons[i];
        if (doctor_dropin_of(m, python) != dropin) continue;
        const char *path = m->python_libraries[python->miopen].path;
        const char *slash = strrchr(path, '/');
        doctor_value(words, "%.*s", slash ? (int)(slash - path) : 0, path);
        return doctor_say(words, "%.250s of PyTorch %s", path, python->version);
    }
    return false;
}

bool doctor_if_dropin_installed(const struct doctor_machine *m, struct doctor_words *words)
{
    return say_python(m, DOCTOR_DROPIN_WHOLE, words);
}

bool doctor_if_dropin_broken(const struct doctor_machine *m, struct doctor_words *words)
{
    return say_python(m, DOCTOR_DROPIN_BROKEN, words);
}

bool doctor_if_dropin_stale(const struct doctor_machine *m, struct doctor_words *words)
{
    return say_python(m, DOCTOR_DROPIN_STALE, words);
}

bool doctor_if_dropin_preloaded(const struct doctor_machine *m, struct doctor_words *words)
{
    const char *value = doctor_variable(m, "LD_PRELOAD");
    return value && strstr(value, "/libMIOpen.so") && doctor_say(words, "LD_PRELOAD=%s", value);
}

bool doctor_if_dropin_everywhere(const struct doctor_machine *m, struct doctor_words *words)
{
    return strstr(m->preload_file, "/libMIOpen.so") &&
           doctor_say(words, "/etc/ld.so.preload: %s", m->preload_file);
}

bool doctor_if_adapter_installed(const struct doctor_machine *m, struct doctor_words *words)
{
    for (size_t i = 0; i < m->n_pythons; i++) {
        const struct doctor_python *python = &m->pythons[i];
        if (python->has_rmcp)
            return doctor_say(words, "beside PyTorch %s in %.250s%s", python->version, python->site,
                              python->has_hook ? ", with the hook for RMCP_TORCH" : "");
    }
    return false;
}
