/* trace.c: prints every instruction of a kernel on the program's stderr. */
#include "sim/driver/driver.h"

#include <string.h>
#include <unistd.h>

bool trace_wanted(const char *kernel)
{
    const char *name = driver.options.trace;
    return name && !strcmp(kernel, name);
}

void trace_instruction(void *context, const struct sim_trace *t)
{
    char text[256], line[512];
    (void)context;
    isa_print(t->inst, text, sizeof text);
    const int n =
        snprintf(line, sizeof line, "%u,%u,%u wave %u 0x%llx exec %0*llx vcc %0*llx scc %d  %s\n",
                 t->workgroup[0], t->workgroup[1], t->workgroup[2], t->wave,
                 (unsigned long long)t->address, (int)t->n_lanes / 4, (unsigned long long)t->exec,
                 (int)t->n_lanes / 4, (unsigned long long)t->vcc, t->scc, text);
    if (n > 0 && write(2, line, (size_t)n) < 0) return;
}
