/* list.c: prints the table of kernels, one per line: name, operation, file, entry, block, options.
 */
#include "engine/gpu/kernels.h"

#include <stdio.h>

int main(void)
{
    for (const struct rmcp_kernel *k = rmcp_kernels; k->name; k++)
        printf("%s %s %s %s %u %s\n", k->name, k->operation, k->file, k->entry, (unsigned)k->block,
               k->options);
    return 0;
}
