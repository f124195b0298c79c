/* fuzz_write.c: libFuzzer target: any bytes as a code object, a bundle, an index or a library that
 * are read, written and read again: refused, or equal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code/codeobj/containers.h"
#include "code/codeobj/tensile.h"
#include "rewriting.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void complain(const char *what)
{
    fprintf(stderr, "differs: %s\n", what);
    abort();
}

static void write_object(const struct codeobj *object, int gap)
{
    struct spread spread = { 0 };
    struct codeobj_change change = { 0 };
    struct codeobj *again = NULL;
    uint8_t *out = NULL;
    size_t size = 0;
    if (gap >= 0) {
        if (spread_init(&spread, object, (unsigned)gap)) {
            spread_deinit(&spread);
            return;
        }
        change.text = spread.text;
        change.text_size = spread.text_size;
        change.moved = spread_moved;
        change.moved_context = &spread;
        change.note = "fuzz";
        change.note_size = 4;
    }
    if (!codeobj_write(object, &change, &out, &size)) {
        if (codeobj_open(out, size, &again)) complain(rmcp_last_error());
        /* Data may overlap with tables in a crafted file; kernels are promised. */
        if (again->n_kernels != object->n_kernels) complain("number of kernels");
        for (size_t i = 0; i < again->n_kernels; i++) {
            const struct codeobj_kernel *a = &object->kernels[i], *b = &again->kernels[i];
            if (strcmp(a->name, b->name) || a->descriptor.rsrc1 != b->descriptor.rsrc1 ||
                memcmp(&a->metadata, &b->metadata, sizeof a->metadata) ||
                a->n_arguments != b->n_arguments)
                complain(a->name);
        }
        if (gap >= 0 && !codeobj_rmcp_note(again, NULL)) complain("note");
    }
    codeobj_close(again);
    spread_deinit(&spread);
    free(out);
}

static void write_bundle(const uint8_t *bytes, size_t size)
{
    struct codeobj_bundle *bundle = NULL, *again = NULL;
    uint8_t *out = NULL;
    size_t out_size = 0;
    if (codeobj_bundle_open(bytes, size, &bundle)) return;
    if (codeobj_bundle_set(bundle, "hipv4-amdgcn-amd-amdhsa--gfx1010", "code", 4) ||
        codeobj_bundle_write(bundle, &out, &out_size) ||
        codeobj_bundle_open(out, out_size, &again) || again->n != bundle->n)
        complain("bundle");
    for (size_t i = 0; i < bundle->n; i++) {
        const struct codeobj_entry *a = &bundle->entries[i], *b = &again->entries[i];
        if (strcmp(a->id, b->id) || a->size != b->size ||
            (a->size && memcmp(a->bytes, b->bytes, a->size)))
            complain(a->id);
    }
    codeobj_bundle_close(again);
    codeobj_bundle_close(bundle);
    free(out);
}

static rmcp_status shorten(void *context, const struct codeobj_item *item,
                           struct codeobj_made *made)
{
    (void)context;
    struct codeobj *object = NULL;
    rmcp_status status = codeobj_open(item->bytes, item->size, &object);
    if (!status)
        status = codeobj_write(object, &(struct codeobj_change){ .note = "n", .note_size = 1 },
                               &made->bytes, &made->size);
    made->add = item->size % 2;
    codeobj_close(object);
    return status == RMCP_E_NOMEM ? status : RMCP_OK;
}

/* Files: into the folder in which the fuzzer runs. */
static void write_file(const uint8_t *bytes, size_t size)
{
    FILE *file = fopen("fuzz.in", "wb");
    if (!file || fwrite(bytes, 1, size, file) != size) abort();
    fclose(file);
    unlink("fuzz.out");
    const rmcp_status status = codeobj_rewrite_file("fuzz.in", "fuzz.out", shorten, NULL, NULL);
    if ((status == RMCP_OK) != (access("fuzz.out", F_OK) == 0)) complain("file");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct codeobj *object = NULL;
    uint8_t *out = NULL;
    size_t out_size = 0;
    if (!codeobj_open(bytes, size, &object)) {
        write_object(object, -1);
        write_object(object, (int)(size % 3));
    }
    codeobj_close(object);
    if (size < 1 << 16) write_bundle(bytes, size);
    /* Names of the same length; only a head that was longer than it has to be gets shorter. */
    if (!codeobj_tensile_retarget(bytes, size, "gfx1030", "gfx1010", &out, &out_size, NULL) &&
        out_size > size)
        complain("index");
    free(out);
    if (size > 18 &&
        (!memcmp(bytes, "\177ELF\2\1\1", 7) ? bytes[18] == 62 : !memcmp(bytes, "SQL", 3)))
        write_file(bytes, size);
    return 0;
}
