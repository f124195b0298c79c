/* driver.h: the tests of the simulated kernel driver by its own interface, and what they share. */
#ifndef RMCP_TESTS_SIM_DRIVER_H
#define RMCP_TESTS_SIM_DRIVER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/driver/abi.h"

enum { PAGE = 4096, RING_BYTES = 4096 };
#define WRITABLE (KFD_MEMORY_WRITABLE | KFD_MEMORY_EXECUTABLE)

/* ---- card.c ---- */

extern int kfd, render; /* device files, from open_devices on */
extern uint32_t gpu;

/* Memory of the card or the host, mapped for both at the same address. */
struct block {
    uint8_t *host;
    uint64_t va, size, handle;
};
/* Slots of events; memory of the copy queue; memory to copy. From make_queue on. */
extern struct block slots, ring, pointers, from, to;

/* A request to the driver; 0 or an errno. */
int call(unsigned number, void *argument, size_t bytes);
#define CALL(number, argument) call(number, &(argument), sizeof(argument))
int allocate(uint64_t va, uint64_t size, uint32_t flags, struct kfd_alloc_memory *a);
int map(uint64_t handle, unsigned number);
struct block block(uint64_t size, uint32_t flags);
void release(struct block *b);

uint32_t new_event(uint32_t type, uint32_t *slot);
int wait_for(struct kfd_event_data *data, uint32_t n, bool all, uint32_t ms);

int open_devices(void **state);
int make_queue(void **state);
int drop_queue(void **state);

/* Write words behind what is in the ring; at its end NOPs fill up. */
void put(const uint32_t *words, unsigned n);
#define PUT(...)                                                                                   \
    put((const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4)
#define LOW(address) (uint32_t)(address)
#define HIGH(address) (uint32_t)((address) >> 32)
#define ADDRESS(address) LOW(address), HIGH(address)
bool drained(void);
void drain(void); /* wait until the copy queue has done all */

/* ---- tests ---- */

/* devices.c */
void devices_look_like_devices(void **state);
void answers_fit_shorter_structures(void **state);
void a_child_begins_anew(void **state);
/* memory.c */
void memory_has_a_limit(void **state);
void mappings_do_not_overlap(void **state);
void parts_of_memory(void **state);
void memory_of_two_processes(void **state);
/* copies.c */
void copies(void **state);
void writes_and_fills(void **state);
void atomics(void **state);
/* events.c */
void events_wake_those_who_wait(void **state);
void an_old_age_is_told_once_at_once(void **state);
void events_wake_all_who_wait(void **state);
void polls_and_interrupts(void **state);
void a_fault_is_an_event(void **state); /* the last one, since the card is lost then */
/* queues.c */
void a_queue_ends_with_its_kernel(void **state);

#endif
