/* codeobj_rewrite.c: writes code objects again for the tests.
 * usage: codeobj_rewrite same FILE OUT             nothing changes but the layout of the file
 *        codeobj_rewrite spread GAP FILE OUT       all functions move apart
 *        codeobj_rewrite tag TARGET FILE OUT       spread, with a target and a note of ours
 *        codeobj_rewrite file HOW CHIP FROM TO     a library, bundle, database …: what is for CHIP
 * is kept (keep), spread, or spread and added as code for another chip (add=gfx1010:xnack-);
 * only: all that is for other chips is taken out of its bundles; as=gfx1030: called code for
 * another chip, and else the same
 *        codeobj_rewrite index FROM TO IN OUT      Tensile's index for another chip
 *        codeobj_rewrite --walk PATH… [--out DIR [--target CHIP] [--every N]]
 *            every code object below the paths, both ways, compared; one line of counts at the
 *            end. With --out, pairs of files N.old.co, N.new.co for LLVM's tools. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/codeobj/containers.h"
#include "code/codeobj/tensile.h"
#include "rewriting.h"
#include "whole_file.h"

static void write_file(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file)) exit(2);
}

/* Written, read and compared; `*out` is the caller's. NULL or what is wrong. */
static const char *rewrite(const struct codeobj *object, int gap, const char *target, uint8_t **out,
                           size_t *out_size)
{
    struct spread spread = { 0 };
    struct codeobj *again = NULL;
    struct codeobj_change change = { .target = target };
    rmcp_status status = RMCP_OK;
    const char *wrong = NULL;
    if (gap >= 0) {
        status = spread_init(&spread, object, (unsigned)gap);
        change.text = spread.text;
        change.text_size = spread.text_size;
        change.moved = spread_moved;
        change.moved_context = &spread;
    }
    if (target) {
        change.note = "spread by a test";
        change.note_size = strlen(change.note);
    }
    if (!status) status = codeobj_write(object, &change, out, out_size);
    if (!status) status = codeobj_open(*out, *out_size, &again);
    if (status)
        wrong = rmcp_last_error();
    else if (!target)
        wrong = rewriting_difference(object, again, gap >= 0 ? &spread : NULL);
    codeobj_close(again);
    spread_deinit(&spread);
    return wrong;
}

struct tally {
    const char *folder, *only;
    unsigned every;
    size_t objects, kernels, functions, refused, failed, written;
    uint64_t code;
};

static rmcp_status visit(void *context, const struct codeobj_item *item)
{
    struct tally *t = context;
    struct codeobj *object = NULL;
    struct codeobj_room room;
    const char *wrong = NULL;
    if (item->kind != CODEOBJ_OBJECT) return RMCP_OK;
    if (t->only && strncmp(item->target.text, t->only, strlen(t->only))) return RMCP_OK;
    if (codeobj_open(item->bytes, item->size, &object)) {
        printf("%s: %s\n", item->path, rmcp_last_error());
        t->failed++;
        return RMCP_OK;
    }
    t->objects++;
    t->kernels += object->n_kernels;
    t->functions += object->n_functions;
    if (codeobj_write_room(object, &room)) {
        t->refused++;
        printf("%s: %s\n", item->path, rmcp_last_error());
        codeobj_close(object);
        return RMCP_OK;
    }
    t->code += room.old_size;
    for (int gap = -1; !wrong && gap < 2; gap += 2) {
        uint8_t *out = NULL;
        size_t size = 0;
        wrong = rewrite(object, gap, NULL, &out, &size);
        if (wrong) printf("%s, gap %d: %s\n", item->path, gap, wrong);
        if (!wrong && gap > 0 && t->folder && t->objects % t->every == 0) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%zu.old.co", t->folder, t->written);
            write_file(path, item->bytes, item->size);
            snprintf(path, sizeof path, "%s/%zu.new.co", t->folder, t->written++);
            write_file(path, out, size);
        }
        free(out);
    }
    t->failed += wrong != NULL;
    codeobj_close(object);
    return RMCP_OK;
}

static int walk(int argc, char **argv)
{
    struct tally t = { .every = 1 };
    int n = argc;
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] != '-' || i + 1 == argc) continue;
        if (n == argc) n = i;
        if (!strcmp(argv[i], "--out")) t.folder = argv[i + 1];
        if (!strcmp(argv[i], "--target")) t.only = argv[i + 1];
        if (!strcmp(argv[i], "--every")) t.every = (unsigned)atoi(argv[i + 1]);
    }
    if (!t.every) return 2;
    for (int i = 0; i < n; i++)
        if (codeobj_walk_path(argv[i], NULL, visit, &t)) {
            printf("%s: %s\n", argv[i], rmcp_last_error());
            t.failed++;
        }
    printf("%zu objects, %zu kernels, %zu functions, %llu bytes of code, %zu refused, "
           "%zu differ\n",
           t.objects, t.kernels, t.functions, (unsigned long long)t.code, t.refused, t.failed);
    return t.failed ? 1 : 0;
}

struct how {
    const char *chip, *add, *as; /* add: as code for this target */
    bool keep, only;
};

static rmcp_status rewrite_item(void *context, const struct codeobj_item *item,
                                struct codeobj_made *made)
{
    const struct how *how = context;
    struct codeobj *object = NULL;
    if (how->as)
        return item->target.chip && !strcmp(item->target.chip, how->chip)
                   ? codeobj_retag(item->bytes, item->size, how->as, &made->bytes, &made->size)
                   : RMCP_OK;
    if (how->only) {
        made->remove = !item->target.chip || strcmp(item->target.chip, how->chip);
        return RMCP_OK;
    }
    if (how->keep || !item->target.chip || strcmp(item->target.chip, how->chip)) return RMCP_OK;
    rmcp_status status = codeobj_open(item->bytes, item->size, &object);
    if (status) return status;
    made->add = how->add;
    const char *wrong = rewrite(object, 1, how->add, &made->bytes, &made->size);
    codeobj_close(object);
    return wrong ? rmcp_fail(RMCP_E_IO, "%s: %s", item->path, wrong) : RMCP_OK;
}

static int rewrite_file(char **argv)
{
    struct how how = { .chip = argv[1],
                       .add = strncmp(argv[0], "add=", 4) ? NULL : argv[0] + 4,
                       .as = strncmp(argv[0], "as=", 3) ? NULL : argv[0] + 3,
                       .keep = !strcmp(argv[0], "keep"),
                       .only = !strcmp(argv[0], "only") };
    struct codeobj_rewritten done;
    if (codeobj_rewrite_file(argv[2], argv[3], rewrite_item, &how, &done)) {
        fprintf(stderr, "%s\n", rmcp_last_error());
        return 1;
    }
    printf("%zu objects, %zu changed, %zu added, %zu removed\n", done.objects, done.changed,
           done.added, done.removed);
    return 0;
}

static int retarget_index(char **argv)
{
    size_t size, out_size, n;
    uint8_t *bytes = whole_file(argv[2], &size), *out = NULL;
    const bool ok = !codeobj_tensile_retarget(bytes, size, argv[0], argv[1], &out, &out_size, &n);
    if (ok) {
        write_file(argv[3], out, out_size);
        printf("%zu names\n", n);
    } else {
        fprintf(stderr, "%s\n", rmcp_last_error());
    }
    free(bytes);
    free(out);
    return !ok;
}

int main(int argc, char **argv)
{
    if (argc == 6 && !strcmp(argv[1], "file")) return rewrite_file(argv + 2);
    if (argc == 6 && !strcmp(argv[1], "index")) return retarget_index(argv + 2);
    if (argc > 2 && !strcmp(argv[1], "--walk")) return walk(argc - 2, argv + 2);
    const bool same = argc == 4 && !strcmp(argv[1], "same");
    const bool spread = argc == 5 && !strcmp(argv[1], "spread");
    const bool tag = argc == 5 && !strcmp(argv[1], "tag");
    if (!same && !spread && !tag) return 2;
    size_t size, out_size = 0;
    uint8_t *bytes = whole_file(argv[argc - 2], &size), *out = NULL;
    struct codeobj *object = NULL;
    const char *wrong = NULL;
    if (codeobj_open(bytes, size, &object))
        wrong = rmcp_last_error();
    else
        wrong = rewrite(object,
                        same  ? -1
                        : tag ? 1
                              : atoi(argv[2]),
                        tag ? argv[2] : NULL, &out, &out_size);
    if (wrong)
        fprintf(stderr, "%s\n", wrong);
    else
        write_file(argv[argc - 1], out, out_size);
    codeobj_close(object);
    free(out);
    free(bytes);
    return wrong ? 1 : 0;
}
