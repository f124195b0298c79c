/* launched.c: where the kernels come from that a program launched on a simulated card.
 * usage: launched LAUNCHES PATH…
 * LAUNCHES is what rmcp sim --launches wrote; the paths hold the code that the program was given.
 * Prints how many launches are of objects with the note of rmcp repair, how many of the runtime's
 * own kernels (copies, fills), and how many of anything else, with the names of those. Exit status
 * 1 when there are any of these, or none of a repaired object. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/codeobj/walk.h"
#include "code/codeobj/write.h"
#include "sim/driver/protocol.h"

/* The simulated driver cuts names, with the .kd of their descriptor, at 255 characters. */
enum { LONGEST = 1024, COMPARED = 252 };

struct known {
    uint64_t digest;
    char name[256];
};

struct found {
    struct known *list;
    size_t n, room, n_objects;
};

static uint64_t digest_of(const struct codeobj *object, const struct codeobj_kernel *kernel)
{
    const uint64_t entry = kernel->function->address;
    const uint8_t *descriptor =
        codeobj_at(object, kernel->descriptor_address, SIM_LAUNCH_DESCRIPTOR);
    for (size_t i = 0; descriptor && i < object->n_segments; i++) {
        const struct codeobj_segment *segment = &object->segments[i];
        const uint64_t at = entry - segment->address;
        if (segment->type != PT_LOAD || !(segment->flags & PF_X) || at >= segment->file_size)
            continue;
        const uint64_t left = segment->file_size - at;
        const size_t n = left < SIM_LAUNCH_CODE ? (size_t)left : SIM_LAUNCH_CODE;
        const uint8_t *code = codeobj_at(object, entry, n);
        if (code) return sim_launch_digest(object->e_flags, descriptor, code, n);
    }
    return 0;
}

static rmcp_status visit(void *context, const struct codeobj_item *item)
{
    struct found *found = context;
    struct codeobj *object = NULL;
    if (item->kind != CODEOBJ_OBJECT) return RMCP_OK;
    rmcp_status status = codeobj_open(item->bytes, item->size, &object);
    if (status) return status;
    const bool repaired = codeobj_is_repaired(object);
    found->n_objects += repaired;
    for (size_t i = 0; repaired && !status && i < object->n_kernels; i++) {
        const struct codeobj_kernel *kernel = &object->kernels[i];
        if (!kernel->has_descriptor || !kernel->function) continue;
        if (found->n == found->room) {
            const size_t room = 2 * found->room + 1024;
            struct known *grown = realloc(found->list, room * sizeof *grown);
            if (!grown) {
                status = rmcp_fail(RMCP_E_NOMEM, "too many kernels");
                break;
            }
            found->list = grown;
            found->room = room;
        }
        struct known *one = &found->list[found->n++];
        one->digest = digest_of(object, kernel);
        snprintf(one->name, sizeof one->name, "%.*s", COMPARED, kernel->name);
    }
    codeobj_close(object);
    return status;
}

static int by_digest(const void *a, const void *b)
{
    const uint64_t x = ((const struct known *)a)->digest, y = ((const struct known *)b)->digest;
    return x < y ? -1 : x > y;
}

/* Whether a repaired object has this very code under this very name. */
static bool is_known(const struct found *found, uint64_t digest, const char *name)
{
    const struct known key = { .digest = digest };
    const struct known *one = bsearch(&key, found->list, found->n, sizeof key, by_digest);
    if (!digest || !one) return false;
    while (one > found->list && one[-1].digest == digest) one--;
    for (; one < found->list + found->n && one->digest == digest; one++)
        if (!strncmp(one->name, name, COMPARED)) return true;
    return false;
}

static bool is_of_runtime(const char *chip, const char *name)
{
    return !strcmp(chip, "-") || !strncmp(name, "__amd_rocclr_", strlen("__amd_rocclr_"));
}

int main(int argc, char **argv)
{
    struct found found = { 0 };
    size_t n_repaired = 0, n_runtime = 0, n_others = 0;
    char line[LONGEST], chip[32], name[512];
    unsigned long long digest;
    if (argc < 3) return 2;
    for (int i = 2; i < argc; i++)
        if (codeobj_walk_path(argv[i], NULL, visit, &found)) {
            fprintf(stderr, "%s: %s\n", argv[i], rmcp_last_error());
            return 2;
        }
    if (found.n) qsort(found.list, found.n, sizeof *found.list, by_digest);
    FILE *file = fopen(argv[1], "r");
    if (!file) return 2;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%31s %llx %511s", chip, &digest, name) != 3) return 2;
        if (is_known(&found, digest, name)) {
            n_repaired++;
        } else if (is_of_runtime(chip, name)) {
            n_runtime++;
        } else {
            n_others++;
            printf("other: %s %s\n", chip, name);
        }
    }
    fclose(file);
    free(found.list);
    printf("%zu launches of repaired objects, %zu of the runtime, %zu others\n", n_repaired,
           n_runtime, n_others);
    return n_others || !n_repaired;
}
