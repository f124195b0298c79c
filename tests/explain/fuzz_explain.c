/* fuzz_explain.c: libFuzzer on the reader of logs. */
#include "help/explain/explain.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct explain_result result;
    static int fd = -1;
    if (fd < 0) fd = memfd_create("log", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size) return 0;
    lseek(fd, 0, SEEK_SET);
    result.card = (struct explain_card){ 0 };
    if (explain_read(fd, &result, NULL, NULL)) __builtin_trap();
    return 0;
}
