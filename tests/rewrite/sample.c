/* sample.c: words as the code of a kernel and a function behind it. */
#include "sample.h"

#include <string.h>

void sample_make(struct sample *s, const uint8_t *code, size_t size, size_t kernel_size,
                 bool wave64)
{
    memset(s, 0, sizeof *s);
    s->sections[0] = (struct codeobj_section){
        .name = ".text", .flags = 6, .address = SAMPLE_TEXT_AT, .size = size, .bytes = code
    };
    s->sections[1] = (struct codeobj_section){ .name = ".rodata",
                                               .flags = 2,
                                               .address = SAMPLE_DATA_AT,
                                               .size = sizeof s->data,
                                               .bytes = s->data };
    s->functions[0] = (struct codeobj_function){ .name = "kernel",
                                                 .address = SAMPLE_TEXT_AT,
                                                 .size = kernel_size,
                                                 .code = code,
                                                 .size_known = true };
    s->functions[1] = (struct codeobj_function){ .name = "function",
                                                 .address = SAMPLE_TEXT_AT + kernel_size,
                                                 .size = size - kernel_size,
                                                 .code = code + kernel_size,
                                                 .size_known = true };
    s->kernel = (struct codeobj_kernel){ .name = "kernel",
                                         .has_descriptor = true,
                                         .function = &s->functions[0] };
    if (!wave64) s->kernel.descriptor.properties = CODEOBJ_PROPERTY_WAVE32;
    s->object = (struct codeobj){ .version = 5,
                                  .target = { .chip = "gfx1030", .mach = 0x36 },
                                  .sections = s->sections,
                                  .n_sections = 2,
                                  .functions = s->functions,
                                  .n_functions = size > kernel_size ? 2 : 1,
                                  .kernels = &s->kernel,
                                  .n_kernels = 1 };
}
