/* clock.h: the one clock by which anything here is timed. */
#ifndef RMCP_BASE_CLOCK_H
#define RMCP_BASE_CLOCK_H

#include <stdint.h>

/* Seconds, and nanoseconds, since some moment in the past; never goes back. */
double rmcp_clock(void);
uint64_t rmcp_clock_ns(void);

/* Do nothing for so long; a signal may end it early. */
void rmcp_clock_nap(double seconds);

#endif
