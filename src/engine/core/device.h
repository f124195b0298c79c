/* device.h: the contract of a device driver. One folder in src/engine/driver each
 * (docs/extending.md). */
#ifndef RMCP_CORE_DEVICE_H
#define RMCP_CORE_DEVICE_H

#include "engine/core/launch.h"

/* Whose figures estimates go by (engine/figures). */
enum rmcp_family {
    RMCP_FAMILY_GENERIC, /* a device that nobody knows    */
    RMCP_FAMILY_NVIDIA,
    RMCP_FAMILY_RDNA, /* AMD's chips from gfx1010 on   */
    RMCP_FAMILY_INTEL,
    RMCP_FAMILY_HOST, /* a processor                   */
    RMCP_N_FAMILIES
};

/* What algorithms may know about a device: what it has and how fast it is, never its name. */
struct rmcp_caps {
    unsigned kinds;            /* mask of rmcp_launch_kind it accepts                     */
    uint32_t threads;          /* host threads of a HOST_CALL device                      */
    uint32_t compute_units;    /* of a KERNEL device                                      */
    uint32_t max_block;        /* work-items of a workgroup                               */
    uint32_t family;           /* enum rmcp_family                                        */
    uint64_t local_bytes;      /* local memory of a workgroup                             */
    uint64_t max_buffer_bytes; /* largest single allocation                               */
    double flops_per_second;   /* f32 peak, for cost estimates                            */
    double bytes_per_second;   /* memory bandwidth, for cost estimates                    */
    double launch_seconds;     /* overhead of one record, for cost estimates              */
};

struct rmcp_driver;

/* A stream of our own for work beside the caller's. */
struct rmcp_side {
    void *stream;
    int mode; /* the driver's own */
};

struct rmcp_device {
    const struct rmcp_driver *driver;
    void *state; /* the driver's own */
    rmcp_device_info info;
    struct rmcp_caps caps;
    char *note;
};

/* Every src/engine/driver/<name>/driver.c defines one of these, named rmcp_driver_<name>; the build
 * makes the table from the folder names. Functions with a device are called from many threads. */
struct rmcp_driver {
    const char *name; /* the folder and the first half of a device spec             */
    int rank;         /* "auto" tries drivers in rising order                            */

    /* Number of devices. 0 is not an error: `why` says the reason. Must be safe with no driver
     * library installed and leave nothing open. */
    int (*count)(char *why, size_t why_size);

    /* Fill name, chip, driver, memory … of device `index`, without opening it. */
    rmcp_status (*describe)(int index, rmcp_device_info *info);

    /* Set device->state, info and caps. On error nothing is held. `options` is never NULL. */
    rmcp_status (*open)(int index, const rmcp_device_options *options, struct rmcp_device *device);
    void (*close)(struct rmcp_device *device);

    rmcp_status (*allocate)(struct rmcp_device *device, uint64_t bytes, void **base);
    void (*release)(struct rmcp_device *device, void *base);
    rmcp_status (*write)(struct rmcp_device *device, void *stream, rmcp_memory target,
                         const void *source, uint64_t bytes);
    rmcp_status (*read)(struct rmcp_device *device, void *stream, void *target, rmcp_memory source,
                        uint64_t bytes);
    rmcp_status (*wait)(struct rmcp_device *device, void *stream);

    /* Set `*active` when `stream` records work in place of doing it, so that waiting for it is
     * forbidden. NULL: no stream of this driver does. */
    rmcp_status (*capturing)(struct rmcp_device *device, void *stream, bool *active);

    /* KERNEL devices: make `kernel` ready and set its handle, which lives until close. NULL for
     * devices that take no kernels. */
    rmcp_status (*load_kernel)(struct rmcp_device *device, const char *kernel, void **handle);

    /* Make a kernel of a code object ready that the caller brings: for looking into silicon, not
     * for plans. NULL for devices that cannot. The bytes are not needed afterwards. */
    rmcp_status (*load_object)(struct rmcp_device *device, const void *object, size_t bytes,
                               const char *kernel, void **handle);

    /* Submit the records in order. With `seconds` also wait and set the time that the device
     * took. */
    rmcp_status (*submit)(struct rmcp_device *device, void *stream,
                          const struct rmcp_launch_list *list, const struct rmcp_given *given,
                          double *seconds);

    /* First use of an algorithm is guarded (engine/core/guard.h): the driver runs code that was
     * never tried on its chip before. */
    bool guarded;

    /* Between these two the thread's calls, on `side->stream`, disturb neither what the caller has
     * in flight nor a capture that he has begun. Both NULL where NULL as a stream does that. */
    rmcp_status (*side_begin)(struct rmcp_device *device, struct rmcp_side *side);
    void (*side_end)(struct rmcp_device *device, struct rmcp_side *side);
};

extern const struct rmcp_driver *const rmcp_drivers[]; /* ends with NULL */

/* The drivers in the order in which "auto" tries them; returns how many. */
enum { RMCP_MOST_DRIVERS = 16 };
size_t rmcp_drivers_by_rank(const struct rmcp_driver *sorted[static RMCP_MOST_DRIVERS]);

/* What `driver` says of its device `index`, or why it has none. Returns the number of entries that
 * a list of its devices has: one without any. */
int rmcp_driver_ask(const struct rmcp_driver *driver, int index, rmcp_device_info *info);

#endif
