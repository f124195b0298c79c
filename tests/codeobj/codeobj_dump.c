/* codeobj_dump.c: prints what src/code/codeobj reads from a code object, one JSON line per kernel,
 * for the tests to compare with LLVM's tools. usage: codeobj_dump FILE               the kernels of
 * a code object codeobj_dump FILE TARGET OUT    retag it codeobj_dump --walk PATH…       every code
 * object in files and folders */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/codeobj/walk.h"
#include "whole_file.h"

static void print_kernel(const struct codeobj_kernel *k)
{
    const struct codeobj_descriptor *d = &k->descriptor;
    const struct codeobj_metadata *m = &k->metadata;
    printf("{\"name\":\"%s\",\"symbol\":\"%s\",\"has_descriptor\":%d,\"has_metadata\":%d,", k->name,
           k->symbol, k->has_descriptor, k->has_metadata);
    printf("\"kd\":[%u,%u,%u,%lld,%u,%u,%u,%u,%u],\"kd_address\":%llu,", d->group_bytes,
           d->private_bytes, d->kernarg_bytes, (long long)d->entry_offset, d->rsrc1, d->rsrc2,
           d->rsrc3, d->properties, d->kernarg_preload, (unsigned long long)k->descriptor_address);
    if (k->function)
        printf("\"address\":%llu,\"size\":%llu,\"offset\":%llu,\"size_known\":%d,",
               (unsigned long long)k->function->address, (unsigned long long)k->function->size,
               (unsigned long long)k->function->offset, k->function->size_known);
    printf("\".group_segment_fixed_size\":%u,\".private_segment_fixed_size\":%u,"
           "\".kernarg_segment_size\":%u,\".kernarg_segment_align\":%u,\".sgpr_count\":%u,"
           "\".vgpr_count\":%u,\".sgpr_spill_count\":%u,\".vgpr_spill_count\":%u,"
           "\".wavefront_size\":%u,\".max_flat_workgroup_size\":%u,\"args\":[",
           m->group_bytes, m->private_bytes, m->kernarg_bytes, m->kernarg_align, m->sgpr_count,
           m->vgpr_count, m->sgpr_spill_count, m->vgpr_spill_count, m->wavefront_size,
           m->max_flat_workgroup_size);
    for (size_t i = 0; i < k->n_arguments; i++) {
        const struct codeobj_argument *a = &k->arguments[i];
        printf("%s[\"%s\",\"%s\",\"%s\",%u,%u,%d]", i ? "," : "", a->name, a->kind,
               a->address_space, a->offset, a->size, a->hidden);
    }
    puts("]}");
}

static rmcp_status print_item(void *context, const struct codeobj_item *item)
{
    static const char *const kinds[] = { "object", "other", "trouble" };
    struct codeobj *object = NULL;
    rmcp_status status = RMCP_OK;
    (void)context;
    if (item->kind == CODEOBJ_OBJECT) status = codeobj_open(item->bytes, item->size, &object);
    size_t n = object ? object->n_kernels : 0, with_code = 0, code = 0;
    for (size_t i = 0; i < n; i++)
        if (object->kernels[i].function) {
            with_code++;
            code += object->kernels[i].function->size;
        }
    printf("{\"kind\":\"%s\",\"path\":\"%s\",\"id\":\"%s\",\"target\":\"%s\",\"size\":%zu,"
           "\"offset\":%llu,\"message\":\"%s\",\"kernels\":%zu,\"with_code\":%zu,"
           "\"code_bytes\":%zu,\"error\":\"%s\"}\n",
           kinds[item->kind], item->path, item->entry_id, item->target.text, item->size,
           (unsigned long long)item->offset, item->message, n, with_code, code,
           status ? rmcp_last_error() : "");
    codeobj_close(object);
    return RMCP_OK;
}

static int walk(int n, char **paths)
{
    int result = 0;
    for (int i = 0; i < n; i++)
        if (codeobj_walk_path(paths[i], NULL, print_item, NULL)) {
            fprintf(stderr, "%s\n", rmcp_last_error());
            result = 1;
        }
    return result;
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "--walk")) return walk(argc - 2, argv + 2);
    if (argc != 2 && argc != 4) return 2;
    size_t size, out_size;
    uint8_t *bytes = whole_file(argv[1], &size), *out = NULL;
    struct codeobj *object = NULL;
    rmcp_status status;
    if (argc == 4) {
        status = codeobj_retag(bytes, size, argv[2], &out, &out_size);
        FILE *file = status ? NULL : fopen(argv[3], "wb");
        if (file) fwrite(out, 1, out_size, file);
        if (file) fclose(file);
    } else {
        status = codeobj_open(bytes, size, &object);
    }
    if (status) fprintf(stderr, "%s\n", rmcp_last_error());
    if (object) {
        printf("{\"version\":%u,\"e_flags\":%u,\"target\":\"%s\",\"note_target\":\"%s\","
               "\"relocatable\":%d,\"functions\":%zu}\n",
               object->version, object->e_flags, object->target.text, object->note_target,
               object->is_relocatable, object->n_functions);
        for (size_t i = 0; i < object->n_kernels; i++) print_kernel(&object->kernels[i]);
    }
    codeobj_close(object);
    free(out);
    free(bytes);
    return status ? 1 : 0;
}
