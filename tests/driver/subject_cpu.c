/* subject_cpu.c: the CPU device for the conformance test. It has no driver that could fail; its
 * allocations are failed by the test itself. */
#include "conformance.h"

static bool begin(const char *library, char *why, size_t size)
{
    (void)library, (void)why, (void)size;
    return conformance_make_cache();
}

struct subject subject_cpu = {
    .name = "cpu",
    .spec = "cpu",
    .begin = begin,
    .end = conformance_remove_cache,
};
