/* driver.h: what the parts of the simulated kernel driver share.
 *
 * interpose.c catches the calls of the program, kfd.c, drm.c and gem.c answer its ioctls, vm.c
 * keeps the page tables, events.c the events, queue.c runs a thread for each queue, aql.c and
 * sdma.c read its packets, dispatch.c hands kernels to the executor, summary.c writes down what
 * happened.
 *
 * Functions that answer an ioctl return 0 or an errno value. */
#ifndef RMCP_SIM_DRIVER_DRIVER_H
#define RMCP_SIM_DRIVER_DRIVER_H

#include "sim/cards/cards.h"
#include "sim/driver/abi.h"
#include "sim/driver/protocol.h"
#include "sim/sim.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

struct page_table;
struct executor;
struct model;

struct gpu {
    const struct sim_card *card;
    unsigned index;
    uint32_t id;
    int fd; /* memory of the card and of the host that it uses, as a sparse file */
    uint64_t file_end, vram_used;
    uint8_t *doorbells;
    struct page_table *_Atomic pages;
    atomic_bool dead; /* after a fault nothing runs any more */
};

/* What rmcp sim asked for, read once: the program may change its environment at any time. */
struct driver_options {
    uint64_t threads, checks, limit;
    uint64_t act_out, act_chance, act_seed;
    uint64_t timing, timing_mhz; /* instructions that are replayed; 0: no model */
    bool timing_only;            /* workgroups that are not replayed are not executed */
    bool stats;
    char *plant, *trace, *launches; /* or NULL */
};

struct driver {
    struct sim_machine machine;
    struct driver_options options;
    struct gpu gpus[SIM_MAX_CARDS];
    int kfd_fd; /* doorbells and the page of registers, as a file */
    struct {
        dev_t device;
        ino_t inode;
    } files[SIM_MAX_CARDS + 1]; /* of kfd, of the cards */
    pthread_mutex_t lock;
};
extern struct driver driver;

/* ---- state.c ---- */

/* Where a card's doorbells begin in the kfd file. Far apart: the runtime takes the low bits of an
 * offset for the place in a card's doorbells. */
enum { DOORBELL_BYTES = 8192 };
static inline uint64_t driver_kfd_offset(unsigned card)
{
    return (uint64_t)card << 40;
}

/* The folder with the simulated machine, or NULL: do nothing. Cheap. */
const char *driver_root(void);
/* Opened on first use of a device; 0 or an errno value. */
int driver_start(void);
struct gpu *driver_gpu(uint32_t gpu_id); /* or NULL */
/* Which simulated device a file descriptor is: -1 none, 0 kfd, 1 + index a render node. Looks at
 * the file itself, so descriptors may be copied and closed as anyone likes. */
int driver_device_of(int fd);
uint64_t driver_now_ns(void);
__attribute__((format(printf, 1, 2))) void driver_log(const char *format, ...);

/* ---- clock.c ---- */

/* The card's time: the host's, unless kernels take modelled time. The clock has 100 MHz. */
uint64_t driver_card_ns(void);
uint64_t driver_gpu_clock(void);
/* A kernel with a modelled time begins, and ends so many nanoseconds later: the card's time then.
 */
uint64_t clock_stop(void);
uint64_t clock_go_on(uint64_t ns);
void clock_forget(void); /* in a child process */

/* ---- modelled.c ---- */

struct model *model_create(const struct gpu *gpu); /* or NULL, which was told */
void model_destroy(struct model *model);
struct sim_recorder *model_recorder(struct model *model);
/* Whether the same was modelled before: then it need not be recorded. */
bool model_knows(struct model *model, struct gpu *gpu, const struct sim_dispatch *dispatch,
                 uint64_t *key);
/* Whether such a known dispatch need not be executed: its results are not whole anyway. */
bool model_skips(const struct model *model, uint64_t key);
/* Nanoseconds of a dispatch; `known` as model_knows said. 0: there is no time, which was told. */
uint64_t model_time(struct model *model, struct gpu *gpu, const char *kernel, uint64_t key,
                    bool known);

/* ---- kfd.c, drm.c ---- */

int kfd_ioctl(unsigned number, unsigned bytes, void *argument);
int drm_ioctl(struct gpu *gpu, unsigned number, unsigned bytes, void *argument);

/* ---- gem.c ---- */

int gem_export(struct kfd_export_dmabuf *a);
int gem_info(struct kfd_dmabuf_info *a);
int gem_import(struct kfd_import_dmabuf *a);
int gem_ioctl(struct gpu *gpu, unsigned number, unsigned bytes, void *argument);

/* ---- vm.c ---- */

int vm_alloc(struct kfd_alloc_memory *a);
int vm_free(uint64_t handle);
int vm_map(struct kfd_map_memory *a, bool map);
/* Where the host sees the start of an allocation of at least `bytes`, or NULL. */
void *vm_of_handle(uint64_t handle, uint64_t bytes);
/* What an allocation is, to pass it on; false: nothing that can be. */
struct vm_piece {
    uint32_t gpu_id, flags;
    uint64_t offset, bytes; /* in the card's file                   */
    uint64_t note;          /* where its note is in the same file   */
};
bool vm_piece(uint64_t handle, struct vm_piece *out);
/* Takes the same piece of another process's file, which stays the caller's, for an allocation. */
int vm_import(const struct vm_piece *piece, int file, uint64_t va, uint64_t *handle);
/* Reads or writes the note at an allocation, which all processes that have it see. */
int vm_note(uint32_t number, struct amdgpu_note *note, bool write);
/* Frees what was imported for a render node, which has no address; others are KFD's to free. */
void vm_forget_import(uint32_t number);
/* By the number of an allocation, the low half of its handle: where it lies in a card's file; a
 * part of it at addresses of a card (`range->host` is found here), and away again. */
bool vm_file_offset(struct gpu *gpu, uint32_t number, uint64_t *offset);
bool vm_creation(uint32_t number, struct amdgpu_creation *out);
int vm_map_part(struct gpu *gpu, uint32_t number, uint64_t offset, const struct sim_mapping *range);
int vm_unmap_part(struct gpu *gpu, uint32_t number, const struct sim_mapping *range);
void vm_forget(void); /* in a child process */

/* ---- pages.c ---- */

/* Between these two, host memory of freed allocations stays. */
void vm_enter(void);
void vm_leave(void);
/* The mapping of a card around an address. */
bool vm_find(void *gpu, uint64_t address, struct sim_mapping *out);
/* The same for kernels and copies: also false where the program has given back memory that it had
 * registered, which would end the process here. Costs a call of the kernel for such memory. */
bool vm_find_there(void *gpu, uint64_t address, struct sim_mapping *out);
/* Host pointer to `bytes` at an address that lies in one mapping, or NULL. */
void *vm_at(struct gpu *gpu, uint64_t address, uint64_t bytes, unsigned access);
void vm_describe(void *gpu, uint64_t address, char *text, size_t bytes);

/* ---- events.c ---- */

int events_create(struct kfd_create_event *a);
/* The allocation with the slots that cards write; it may not be freed. 0: none yet. */
uint64_t events_page(void);
int events_destroy(uint32_t id);
int events_set(uint32_t id);
int events_reset(uint32_t id);
int events_wait(struct kfd_wait_events *a);
/* An interrupt of a card: a written slot says which event; `hint` is tried first. */
void events_interrupt(uint32_t hint);
void events_memory_fault(struct gpu *gpu, uint64_t address, bool write);
void events_hang(struct gpu *gpu);
void events_forget(void);

/* ---- host_wait.c ---- */

/* The card has done something: it may have changed a signal that somebody waits for. */
void host_wait_completed(void);
void host_wait_forget(void); /* in a child process */

/* ---- queue.c ---- */

struct queue {
    struct gpu *gpu;
    uint32_t id, type;
    uint64_t ring, ring_size;
    uint64_t *read, *write; /* of the program */
    uint64_t position;      /* of SDMA: bytes read */
    struct amd_queue *amd;  /* of AQL */
    bool waits_for_scratch, failed;
    struct executor *executor;
    uint64_t began,
        ended; /* of the last kernel, by the card's clock, where it was modelled; or 0 */
    atomic_bool stop;
    pthread_t thread;
};

int queue_create(struct kfd_create_queue *a);
int queue_destroy(uint32_t id);
void queue_forget(void);

/* One packet; false when there is nothing to do now. */
bool aql_step(struct queue *queue);
bool sdma_step(struct queue *queue);
/* Store an error code for the runtime in the queue's inactive signal; nothing runs on it until the
 * runtime has reset it. */
void aql_error(struct queue *queue, int64_t code);

/* ---- dispatch.c ---- */

/* Scratch that the runtime must provide first: 0 or the code to ask for it. */
int64_t dispatch_scratch(struct queue *queue, const union aql_packet *packet);
/* False: the kernel did not end well and the queue stops. */
bool dispatch_run(struct queue *queue, const union aql_packet *packet, uint64_t packet_address,
                  uint64_t number);
void dispatch_end(struct queue *queue);

/* ---- kernel_name.c ---- */

/* The name of the kernel whose descriptor lies at an address, from the code object around it. */
void kernel_name(struct gpu *gpu, uint64_t descriptor, char name[static 256]);
void kernel_name_forget(void); /* in a child process */
/* Where the code object that holds an address is loaded; false when none is found. */
bool kernel_image(struct gpu *gpu, uint64_t address, uint64_t *base);

/* ---- launches.c ---- */

/* A line for one launch, where they are asked for; see protocol.h. */
void launches_note(struct gpu *gpu, uint64_t descriptor, uint64_t entry, const char *kernel);

/* ---- trace.c ---- */

/* Whether the kernel of that name is to be traced, and the callback that does. */
bool trace_wanted(const char *kernel);
void trace_instruction(void *context, const struct sim_trace *trace);

/* ---- summary.c ---- */

void summary_process(void);
/* Add a whole line to a file for rmcp sim. */
void summary_append(const char *file, const char *line, size_t bytes);
void summary_write(const char *path, const char *line, size_t bytes); /* of any file */
void summary_forget(void);                                            /* in a child process */
void summary_dispatch(const char *kernel, const struct gpu *gpu, const struct sim_result *result,
                      uint64_t ns);
void summary_report(const struct gpu *gpu, const struct sim_report *report);
/* A kernel never ends: said at once, since the program may wait for ever. */
void summary_hang(const char *kernel);
/* A finding of the driver itself. */
__attribute__((format(printf, 1, 2))) void summary_finding(const char *format, ...);

#endif
