/* host_wait.c: programs that would spin until the card is done sleep instead.
 *
 * HIP waits for a stream by reading a signal over and over. On a machine with a card that costs one
 * idle core; here the cores are the card. The call is AMD's own, only the hint of how to wait is
 * changed: the runtime then sleeps on an event of the driver. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

/* As in hsa.h: a signal is a structure of one 64-bit handle. */
typedef int64_t wait_fn(uint64_t signal, int condition, int64_t value, uint64_t timeout, int hint);
enum { HINT_BLOCKED = 0 };

/* The runtime may be loaded for one library only, so it is asked by its name. */
static wait_fn *runtime_function(const char *name)
{
    void *library = dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD);
    wait_fn *found = NULL;
    if (library) *(void **)&found = dlsym(library, name);
    if (!found) *(void **)&found = dlsym(RTLD_NEXT, name);
    return found;
}

#define WAIT(name)                                                                                 \
    EXPORT wait_fn name;                                                                           \
    int64_t name(uint64_t signal, int condition, int64_t value, uint64_t timeout, int hint)        \
    {                                                                                              \
        static _Atomic(wait_fn *) known;                                                           \
        wait_fn *real = known;                                                                     \
        (void)hint;                                                                                \
        if (!real) known = real = runtime_function(#name);                                         \
        return real ? real(signal, condition, value, timeout, HINT_BLOCKED) : value;               \
    }
WAIT(hsa_signal_wait_scacquire)
WAIT(hsa_signal_wait_acquire)
WAIT(hsa_signal_wait_relaxed)
