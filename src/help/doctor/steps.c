/* steps.c: commands that lead to the end: an environment, a PyTorch, RMCP in it, the check. */
#include "help/doctor/steps.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/chip/addresses.h"

const char *doctor_quote(const char *word, char *out, size_t room)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_@%+=:,./-";
    size_t n = 0;
    if (*word && strspn(word, plain) == strlen(word)) {
        snprintf(out, room, "%s", word);
        return out;
    }
    if (room < 8) return "''";
    out[n++] = '\'';
    for (; *word && n + 6 < room; word++) {
        if (*word == '\'') {
            memcpy(out + n, "'\\''", 4);
            n += 4;
        } else {
            out[n++] = *word;
        }
    }
    out[n++] = '\'';
    out[n] = '\0';
    return out;
}

void doctor_step(struct doctor_words *words, const char *format, ...)
{
    size_t used = strlen(words->value);
    va_list arguments;
    if (used && used + 1 < sizeof words->value) words->value[used++] = '\n';
    va_start(arguments, format);
    vsnprintf(words->value + used, sizeof words->value - used, format, arguments);
    va_end(arguments);
}

void doctor_step_fresh(const struct doctor_machine *m, struct doctor_words *words)
{
    const size_t n = strlen(m->home);
    const char *name = "torch";
    for (size_t i = 0; i < m->n_pythons; i++) /* one that has a PyTorch already is not fresh */
        if (n && !strncmp(m->pythons[i].site, m->home, n) &&
            !strncmp(m->pythons[i].site + n, "/torch/", 7))
            name = "torch-rmcp";
    doctor_step(words, "python3 -m venv ~/%s && . ~/%s/bin/activate", name, name);
}

void doctor_step_enter(struct doctor_words *words, const struct doctor_python *python)
{
    char prefix[DOCTOR_PATH], word[DOCTOR_PATH + 64];
    const char *lib = strstr(python->site, "/lib/python");
    if (!lib) lib = strstr(python->site, "/lib64/python");
    snprintf(prefix, sizeof prefix, "%.*s", lib ? (int)(lib - python->site) : 0, python->site);
    if (*python->layer) snprintf(prefix, sizeof prefix, "%s", python->layer);
    if (doctor_is_conda(prefix))
        doctor_step(words, "conda activate %s", doctor_quote(prefix, word, sizeof word));
    else if (!*prefix || !strcmp(prefix, "/usr") || !strcmp(prefix, "/usr/local") ||
             doctor_is_user_site(prefix))
        doctor_step(words,
                    "python3 -m venv --system-site-packages ~/torch && . ~/torch/bin/activate");
    else
        doctor_step(words, ". %s/bin/activate", doctor_quote(prefix, word, sizeof word));
}

void doctor_step_wheel(struct doctor_words *words, uint32_t version)
{
    const char *release = doctor_chip_wheel(version);
    doctor_step(words, "pip install torch torchvision --index-url " ADDRESS_WHEELS "%s",
                release ? release : "rocm6.4");
}

void doctor_step_amd_wheel(struct doctor_words *words, const char *chip)
{
    doctor_step(words,
                "pip install --index-url " ADDRESS_AMD_WHEELS
                " \"torch[device-%s]\" \"torchvision[device-%s]\"",
                chip, chip);
}

void doctor_step_variables(const struct doctor_machine *m, struct doctor_words *words,
                           uint32_t believed)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    struct doctor_words found = { .seen = "" };
    char name[64];
    const char *value = gpu ? doctor_override_of(m, gpu, name) : NULL;
    uint32_t now = 0;
    if (value && !doctor_override_parse(value, &now)) now = 1;
    if (!believed && value)
        doctor_step(words, "unset %s%s%.180s", name, *m->profile ? "   # and take it out of " : "",
                    m->profile);
    else if (believed && now != believed)
        doctor_step(words, "export HSA_OVERRIDE_GFX_VERSION=%u.%u.%u", believed / 10000,
                    believed / 100 % 100, believed % 100);
    if (doctor_if_igpu_visible(m, &found))
        doctor_step(words, "export HIP_VISIBLE_DEVICES=%.8s   # not the processor's graphics",
                    found.value);
}

void doctor_step_rmcp(const struct doctor_machine *m, struct doctor_words *words,
                      const struct doctor_python *python)
{
    const bool dropin = python && doctor_dropin_of(m, python) == DOCTOR_DROPIN_WHOLE;
    if (!python || !python->has_rmcp)
        doctor_step(words, "pip install rmcp-*.whl   # docs/install.md");
    doctor_step(words, "rmcp check%s   # convolutions in RMCP, compared with the processor's",
                dropin ? " --miopen" : "");
    if (dropin)
        doctor_step(words, "python train.py   # RMCP's MIOpen is installed there");
    else if (python && python->has_hook && doctor_variable(m, "RMCP_TORCH"))
        doctor_step(words, "python train.py   # RMCP_TORCH enables RMCP there");
    else
        doctor_step(words, "python -m rmcp train.py%s",
                    doctor_main_gpu(m) ? "   # or: rmcp run -- python train.py" : "");
}
