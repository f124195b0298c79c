/* fuzz_codeobj.c: libFuzzer target: any bytes as a code object, to be retagged and to be walked,
 * and as a program of the host. */
#include <stdlib.h>
#include <string.h>

#include "code/codeobj/linked.h"
#include "code/codeobj/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static rmcp_status visit(void *context, const struct codeobj_item *item)
{
    struct codeobj *object = NULL;
    size_t *sum = context;
    if (item->kind == CODEOBJ_OBJECT && !codeobj_open(item->bytes, item->size, &object))
        for (size_t i = 0; i < object->n_functions; i++)
            *sum += object->functions[i].code[object->functions[i].size - 1];
    codeobj_close(object);
    return RMCP_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const targets[] = { "gfx1030", "gfx1011:xnack-", "gfx10-3-generic" };
    uint8_t *out = NULL;
    size_t out_size = 0, sum = 0;
    const char *target = targets[size % 3];
    struct codeobj *object = NULL;
    if (!codeobj_retag(bytes, size, target, &out, &out_size)) {
        /* What comes out of retagging is a code object, and for that target. */
        struct codeobj_target wanted;
        if (codeobj_open(out, out_size, &object) || !codeobj_target_parse(target, &wanted) ||
            object->target.mach != wanted.mach)
            abort();
        codeobj_close(object);
    }
    free(out);
    struct codeobj_source source = { .name = "fuzz", .bytes = bytes, .size = size };
    source.limits.blob_bytes = 1 << 20;
    source.limits.total_bytes = 4 << 20;
    source.limits.heap_bytes = 1 << 20;
    codeobj_walk(&source, visit, &sum);
    struct codeobj_linked linked;
    if (!codeobj_linked_read(bytes, size, &linked) &&
        (!memchr(linked.soname, 0, sizeof linked.soname) ||
         !memchr(linked.interpreter, 0, sizeof linked.interpreter)))
        abort();
    codeobj_linked_exports(bytes, size, "miopenCreate");
    return 0;
}
