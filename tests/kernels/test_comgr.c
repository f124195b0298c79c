/* test_comgr.c: AMD's own code object manager, which HIP reads code objects with, accepts ours as
 * they are and retagged. Needs no GPU; exit status 77 (skip) without the library. */
#include "base/dynlib.h"
#include "code/codeobj/codeobj.h"
#include "engine/gpu/images.h"
#include "engine/gpu/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct handle {
    uint64_t value;
};
enum { KIND_EXECUTABLE = 8 };

/* All return an amd_comgr_status_t, 0 for success. */
static struct {
    int (*amd_comgr_create_data)(int kind, struct handle *data);
    int (*amd_comgr_release_data)(struct handle data);
    int (*amd_comgr_set_data)(struct handle data, size_t size, const char *bytes);
    int (*amd_comgr_get_data_isa_name)(struct handle data, size_t *size, char *name);
    int (*amd_comgr_get_data_metadata)(struct handle data, struct handle *node);
    int (*amd_comgr_destroy_metadata)(struct handle node);
    int (*amd_comgr_metadata_lookup)(struct handle map, const char *key, struct handle *value);
    int (*amd_comgr_get_metadata_list_size)(struct handle list, size_t *size);
} comgr;

#define S(name)                                                                                    \
    {                                                                                              \
#name, (size_t)((char *)&comgr.name - (char *)&comgr), false                               \
    }

static int n_asked, n_wrong;

static void complain(const char *what, const char *kernel, const char *chip)
{
    printf("%s called %s: %s\n", kernel, chip, what);
    n_wrong++;
}

/* Whether the library reads the object as code for `chip` with kernels in it. */
static bool accepts(const void *bytes, size_t size, const char *chip)
{
    struct handle data, node, kernels;
    char name[128] = "", wanted[128];
    size_t length = sizeof name, n = 0;
    snprintf(wanted, sizeof wanted, "amdgcn-amd-amdhsa--%s", chip);
    if (comgr.amd_comgr_create_data(KIND_EXECUTABLE, &data)) return false;
    bool good = !comgr.amd_comgr_set_data(data, size, bytes) &&
                !comgr.amd_comgr_get_data_isa_name(data, &length, name) && !strcmp(name, wanted);
    if (good && !comgr.amd_comgr_get_data_metadata(data, &node)) {
        good = !comgr.amd_comgr_metadata_lookup(node, "amdhsa.kernels", &kernels);
        if (good) {
            good = !comgr.amd_comgr_get_metadata_list_size(kernels, &n) && n > 0;
            comgr.amd_comgr_destroy_metadata(kernels);
        }
        comgr.amd_comgr_destroy_metadata(node);
    } else {
        good = false;
    }
    comgr.amd_comgr_release_data(data);
    return good;
}

static void ask(const char *target, const char *chip, const char *kernel)
{
    void *native = NULL;
    uint8_t *bytes = NULL;
    size_t size = 0;
    n_asked++;
    rmcp_status status = rmcp_kernel_image(target, kernel, &native, &size);
    if (!status && strcmp(target, chip)) {
        status = codeobj_retag(native, size, chip, &bytes, &size);
        free(native);
    } else {
        bytes = native;
    }
    if (status) {
        complain(rmcp_last_error(), kernel, chip);
        return;
    }
    if (!accepts(bytes, size, chip)) complain("refused", kernel, chip);
    /* What it says is worth something: a chip that nobody knows is refused. */
    bytes[48] = 0xfe;
    if (accepts(bytes, size, chip)) complain("accepted with a wrong chip", kernel, chip);
    free(bytes);
}

int main(void)
{
    const struct rmcp_symbol symbols[] = {
        S(amd_comgr_create_data),
        S(amd_comgr_release_data),
        S(amd_comgr_set_data),
        S(amd_comgr_get_data_isa_name),
        S(amd_comgr_get_data_metadata),
        S(amd_comgr_destroy_metadata),
        S(amd_comgr_metadata_lookup),
        S(amd_comgr_get_metadata_list_size),
        { NULL, 0, false },
    };
    const char *names[] = { "libamd_comgr.so.3", "libamd_comgr.so.2", NULL };
    char why[256];
    if (!rmcp_dynlib_open(names, symbols, &comgr, why, sizeof why)) {
        printf("skipped: %s\n", why);
        return 77;
    }
    if (!rmcp_kernel_target_for("gfx1010")) {
        printf("skipped: no kernels for gfx1010 in this build\n");
        return 77;
    }
    for (const struct rmcp_kernel *k = rmcp_kernels; k->name; k++) {
        ask("gfx1010", "gfx1010", k->name);
        ask("gfx1010", "gfx1030", k->name); /* under the override */
    }
    static const struct {
        const char *target, *chip;
    } others[] = { { "gfx1010", "gfx1011" }, { "gfx1010", "gfx1012" }, { "gfx1030", "gfx1030" },
                   { "gfx1030", "gfx1032" }, { "gfx900", "gfx90c" },   { "gfx906", "gfx906" },
                   { "gfx803", "gfx803" } };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (rmcp_kernel_target_for(others[i].target))
            ask(others[i].target, others[i].chip, "direct_f32");
    printf("%d code objects, %d not as they should be\n", n_asked, n_wrong);
    return n_wrong ? 1 : 0;
}
