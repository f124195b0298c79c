/* sim_object.c: finds the code object of a kernel: alone, in a bundle, in a library or a program.
 */
#include "code/codeobj/walk.h"
#include "command/sim.h"

#include <stdlib.h>
#include <string.h>

struct object_search {
    const char *kernel;
    int chip; /* that will execute */
    unsigned char *bytes;
    size_t n_bytes;
    bool exact;        /* `bytes` were made for that chip                                */
    size_t n_objects;  /* in the file, of any target                                     */
    char other[32];    /* a target that cannot be executed                               */
    char trouble[300]; /* the first piece that could not be read                         */
    char names[200];   /* kernels that there are; those that do not fit are only counted */
    size_t n_names, n_unnamed;
};

static void keep_name(struct object_search *s, const char *name)
{
    const size_t used = strlen(s->names), length = strlen(name);
    if (s->n_unnamed || used + length + 3 > sizeof s->names) {
        s->n_unnamed++;
        return;
    }
    snprintf(s->names + used, sizeof s->names - used, "%s%s", used ? ", " : "", name);
    s->n_names++;
}

static rmcp_status visit(void *context, const struct codeobj_item *item)
{
    struct object_search *s = context;
    struct codeobj *object = NULL;
    if (item->kind != CODEOBJ_OBJECT) {
        if (!*s->trouble && item->message)
            snprintf(s->trouble, sizeof s->trouble, "%.90s: %.200s", item->path, item->message);
        return RMCP_OK;
    }
    s->n_objects++;
    const int chip = isa_chip_of_mach(item->target.mach);
    if (chip < 0) {
        snprintf(s->other, sizeof s->other, "%.31s", item->target.text);
        return RMCP_OK;
    }
    if (codeobj_open(item->bytes, item->size, &object)) {
        if (!*s->trouble)
            snprintf(s->trouble, sizeof s->trouble, "%.90s: %.200s", item->path, rmcp_last_error());
        return RMCP_OK;
    }
    const struct codeobj_kernel *kernel = codeobj_find_kernel(object, s->kernel);
    const bool wanted = kernel && kernel->has_descriptor && (!s->bytes || chip == s->chip);
    for (size_t i = 0; i < object->n_kernels && !kernel; i++) keep_name(s, object->kernels[i].name);
    codeobj_close(object);
    if (!wanted || s->exact) return RMCP_OK;
    unsigned char *copy = malloc(item->size ? item->size : 1);
    if (!copy) return rmcp_fail_memory("the code object", item->size);
    memcpy(copy, item->bytes, item->size);
    free(s->bytes);
    s->bytes = copy;
    s->n_bytes = item->size;
    s->exact = chip == s->chip;
    return RMCP_OK;
}

/* Why there is no such kernel. */
static int complain(const struct object_search *s, const char *path)
{
    if (s->n_names && s->n_unnamed)
        return cli_complain("sim", "%.300s has no kernel '%.100s'; it has %s and %zu more", path,
                            s->kernel, s->names, s->n_unnamed);
    if (s->n_names)
        return cli_complain("sim", "%.300s has no kernel '%.100s'; it has %s", path, s->kernel,
                            s->names);
    if (*s->trouble) return cli_complain("sim", "%s", s->trouble);
    if (*s->other)
        return cli_complain("sim",
                            "%.300s is code for %s; only that of gfx10.1 and gfx10.3 is executed",
                            path, s->other);
    if (s->n_objects)
        return cli_complain("sim", "%.300s has no kernel '%.100s', nor any other", path, s->kernel);
    return cli_complain("sim",
                        "%.300s has no code for AMD GPUs: neither a code object nor a bundle, "
                        "library or program with one",
                        path);
}

int sim_object_read(const char *path, const char *kernel, int chip, unsigned char **bytes,
                    size_t *n_bytes)
{
    struct object_search s = { .kernel = kernel, .chip = chip };
    const rmcp_status status = codeobj_walk_path(path, NULL, visit, &s);
    *bytes = s.bytes;
    *n_bytes = s.n_bytes;
    if (!status && s.bytes) return CLI_OK;
    free(s.bytes);
    *bytes = NULL;
    return status ? cli_complain("sim", "%s", rmcp_last_error()) : complain(&s, path);
}
