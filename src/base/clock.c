/* clock.c: the one clock by which anything here is timed. */
#include "base/clock.h"

#include <time.h>

uint64_t rmcp_clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

double rmcp_clock(void)
{
    return 1e-9 * (double)rmcp_clock_ns();
}

void rmcp_clock_nap(double seconds)
{
    if (!(seconds > 0)) return;
    const time_t whole = (time_t)seconds;
    nanosleep(&(struct timespec){ whole, (long)((seconds - (double)whole) * 1e9) }, NULL);
}
