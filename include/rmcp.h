/* rmcp.h: convolutions and what else a network needs, forward and backward, on whichever device is
 * there. The whole public API.
 *
 * The flow is one way: open a device, describe a problem, make a plan, execute the plan as often
 * as wanted. Planning may fail and may take time; executing is a few microseconds of host work.
 * An operation's names begin with it: rmcp_conv describes a convolution, rmcp_conv_plan plans it,
 * rmcp_conv_execute runs the plan.
 *
 * Conventions
 *  - Every function that can fail returns an rmcp_status; rmcp_last_error() then holds one line
 *    with the offending value. After a call that succeeded that line means nothing.
 *  - Every struct starts with struct_size: zero the struct, set it to sizeof. Zero in any other
 *    field means "default". Structs only ever grow at the end: a program compiled with an older
 *    header works with a newer library, and one compiled with a newer header works with an older
 *    library as long as the fields that the library does not know are zero.
 *  - Spatial arrays hold the slowest dimension first: {w}, {h, w} or {d, h, w}.
 *  - The library never exits or aborts, prints nothing unless RMCP_CHECK asks for it, and starts no
 *    thread of its own but those of OpenMP on the CPU device.
 *
 * What a first plan may do. On HIP and CUDA an algorithm that was never used with a type on this
 * chip, driver, kernel and release is first tried on small problems with known results: by the
 * `rmcp` command beside the library in a child process (with a time limit of RMCP_GUARD_LIMIT
 * seconds; two minutes), or, where no command works, in this process on a stream of its own. That
 * takes a second or so (rmcp_on_notice), minutes on a card that hangs; it writes
 * $XDG_CACHE_HOME/rmcp (else
 * ~/.cache/rmcp)/first_use, and is done once. A plan with RMCP_MEASURE allocates buffers, runs the
 * best few algorithms and appends to …/rmcp/plans. On OpenCL kernels are compiled when they are
 * first planned, seconds each, and kept in …/rmcp/opencl; on CUDA the driver compiles PTX and keeps
 * the result. Without a home and a cache folder all that works and is forgotten.
 *
 * Environment, read when it is needed
 *  RMCP_DEVICE          the device that "auto" and NULL take: any spec of rmcp_device_open
 *  RMCP_CHECK=1         compare every execution with a reference (below); read once
 *  RMCP_GUARD=0         no trial of first use
 *  RMCP_GUARD_LIMIT     seconds that a trial in a child process may take (120)
 *  RMCP_COMMAND         path of the rmcp command that tries; else the one beside the library
 *  RMCP_HIP_LIBRARY, RMCP_CUDA_LIBRARY, RMCP_OPENCL_LIBRARY
 *                       path of the driver's library in place of the usual names
 *  RMCP_SYSFS_ROOT      folder in place of / below which /sys is read: recorded and simulated cards
 *  XDG_CACHE_HOME, HOME where caches live
 *  OMP_NUM_THREADS      threads of the CPU device */
#ifndef RMCP_H
#define RMCP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RMCP_API __attribute__((visibility("default")))
#else
#define RMCP_API
#endif

/* The only place of the version: the build and the Python package read these lines. */
#define RMCP_VERSION_MAJOR 0
#define RMCP_VERSION_MINOR 1
#define RMCP_VERSION_PATCH 0

/* ---- status ---- */

typedef enum rmcp_status {
    RMCP_OK = 0,
    RMCP_E_ARG = 1,         /* the caller broke a documented rule; the message has the value     */
    RMCP_E_UNSUPPORTED = 2, /* a valid request that no algorithm or device here can do           */
    RMCP_E_NOMEM = 3,       /* host or device memory ran out                                     */
    RMCP_E_DEVICE = 4,      /* a driver said no; the message has its own code                    */
    RMCP_E_LOST = 5,        /* the device is gone: close it; nothing else on it will work        */
    RMCP_E_IO = 6,          /* a file could not be read or written                               */
    RMCP_E_INTERNAL = 7     /* a bug of ours                                                     */
} rmcp_status;              /* numbers are ABI: append only                                      */

/* The message of the last failing call on this thread; never NULL, "" when nothing failed yet.
 * Valid until the next failing rmcp_ call on the same thread. */
RMCP_API const char *rmcp_last_error(void);

/* "RMCP_E_ARG" and so on; static storage, never NULL. */
RMCP_API const char *rmcp_status_name(rmcp_status status);

/* "MAJOR.MINOR.PATCH": the version of the library that is loaded, which may differ from the
 * header's. */
RMCP_API const char *rmcp_version(void);

/* ---- notices ---- */

/* Be told when a trial of first use (above), or waiting for that of another process, takes longer
 * than two seconds: `say` is called with one line, without an end of line, that lives as long as
 * the call; once for each trial, by the thread that plans, while the trial goes on. One that runs
 * in this process is noticed between its problems. `say` must not call the library. There is one
 * listener in a process; NULL is none. After the call the one before is not called any more.
 * Thread-safe. */
typedef void rmcp_notice(const char *line, void *context);
RMCP_API void rmcp_on_notice(rmcp_notice *say, void *context);

/* ---- checking: RMCP_CHECK ---- */

/* With RMCP_CHECK=1 in the environment every execution of a plan, on any device, is compared with
 * plain loops in double precision on the CPU, within the bounds of `rmcp verify`; of large results
 * some thousand elements, others each time, or all of them with RMCP_CHECK=full. The first
 * difference of each case goes to stderr in one line,
 *   rmcp: check: CASE on DEVICE, algorithm NAME: TENSOR element N: GOT, expected VALUE within BOUND
 * and the execution succeeds with the device's data as it is. It waits for the stream, copies all
 * tensors, and is slow. Outputs must be written entirely: elements that were not are reported, too.
 * NaN equals NaN; not reported is what overflows f32 or the type of the result, and what this
 * header leaves open (rmcp_accuracy). */
typedef struct rmcp_check_info {
    uint32_t struct_size;
    uint32_t on;      /* 1: RMCP_CHECK was set at the first execution, or is now                */
    uint64_t checked; /* executions that were compared                                           */
    uint64_t skipped; /* that could not be: in the capture of a stream, or host memory ran out   */
    uint64_t wrong;   /* of those compared, how many differed                                    */
    char first[1024]; /* the first difference: the line above from CASE on; "": none             */
} rmcp_check_info;

/* Fill `*info`, whose struct_size the caller has set, with what was found in this process so far.
 * Thread-safe. */
RMCP_API rmcp_status rmcp_check_describe(rmcp_check_info *info);

/* ---- problems ---- */

typedef enum rmcp_type {
    RMCP_F32 = 0, /* these three are what operations compute with    */
    RMCP_F16 = 1,
    RMCP_BF16 = 2,
    RMCP_I32 = 3, /* these are indices, labels and masks of some     */
    RMCP_I64 = 4,
    RMCP_U8 = 5,
    RMCP_U16 = 6
} rmcp_type;

/* RMCP_NCHW: x is N C [D] [H] W, w is K C/groups [T] [R] S, y is N K [D] [H] W.
 * RMCP_NHWC: x is N [D] [H] W C, w is K [T] [R] S C/groups, y is N [D] [H] W K. */
typedef enum rmcp_layout { RMCP_NCHW = 0, RMCP_NHWC = 1 } rmcp_layout;

typedef enum rmcp_conv_pass {
    RMCP_CONV_FORWARD = 0,         /* reads x, w (and bias), writes y             */
    RMCP_CONV_BACKWARD_DATA = 1,   /* reads w and y (the gradient), writes x;
                                 a transposed convolution is this pass       */
    RMCP_CONV_BACKWARD_WEIGHTS = 2 /* reads x and y (the gradient), writes w      */
} rmcp_conv_pass;
#define RMCP_CONV_PASSES 3

typedef enum rmcp_activation {
    RMCP_NO_ACTIVATION = 0,
    RMCP_RELU = 1,
    RMCP_LEAKY_RELU = 2, /* v > 0 ? v : v * slope         */
    RMCP_CLAMP = 3       /* min(max(v, clamp_low), clamp_high) */
} rmcp_activation;

#define RMCP_MAX_DIMS 3

/* One convolution layer. Accumulation is in f32 whatever the type. Entries of the spatial arrays
 * from `dims` on must be zero. */
typedef struct rmcp_conv {
    uint32_t struct_size;
    uint32_t dims; /* spatial dimensions: 1, 2 or 3; 0 means 2       */
    int64_t n, c, k;
    int64_t groups;                   /* 0 means 1; must divide c and k                 */
    int64_t input[RMCP_MAX_DIMS];     /* spatial size of x                              */
    int64_t filter[RMCP_MAX_DIMS];    /* spatial size of w                              */
    int64_t pad_begin[RMCP_MAX_DIMS]; /* zeros before the first element                 */
    int64_t pad_end[RMCP_MAX_DIMS];   /* zeros after the last                           */
    int64_t stride[RMCP_MAX_DIMS];    /* 0 means 1                                      */
    int64_t dilation[RMCP_MAX_DIMS];  /* 0 means 1                                      */
    uint32_t type;                    /* rmcp_type of x, w, y and bias                  */
    uint32_t layout;                  /* rmcp_layout                                    */
    uint32_t bias;                    /* 1: forward adds bias[k]                        */
    uint32_t activation;              /* rmcp_activation, applied by forward after bias */
    float slope;                      /* RMCP_LEAKY_RELU                                */
    float clamp_low, clamp_high;      /* RMCP_CLAMP                                     */
    uint32_t reserved;                /* must be 0                                      */
} rmcp_conv;

/* What a problem's tensors look like. */
typedef struct rmcp_conv_info {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t output[RMCP_MAX_DIMS]; /* spatial size of y; zero from dims on        */
    uint64_t x_bytes, w_bytes, y_bytes;
    uint64_t bias_bytes; /* 0 without bias                              */
    double flops;        /* of one pass: 2 * n*k*output * c/groups*filter */
} rmcp_conv_info;

/* Check `problem` and fill `*shape`, whose struct_size the caller has set.
 * On error `*shape` is untouched. Thread-safe. */
RMCP_API rmcp_status rmcp_conv_describe(const rmcp_conv *problem, rmcp_conv_info *shape);

/* Read a case string such as "n8c64h56w56k64r3s3p1:f32:nchw:fwd" (docs/cases.md) into `*problem`,
 * whose struct_size the caller has set, and the pass into `*pass`: -1 when the text names none.
 * `pass` may be NULL. On error both are untouched. Thread-safe. */
RMCP_API rmcp_status rmcp_conv_parse(const char *text, rmcp_conv *problem, int *pass);

/* Write the case string of `problem` and `pass` (-1: none) to `text`, always terminated.
 * RMCP_E_ARG when `size` is too small; RMCP_CASE_MAX is always enough. Thread-safe. */
#define RMCP_CASE_MAX 640
RMCP_API rmcp_status rmcp_conv_print(const rmcp_conv *problem, int pass, char *text, size_t size);

/* ---- devices ---- */

typedef struct rmcp_device rmcp_device;

typedef struct rmcp_device_options {
    uint32_t struct_size;
    uint32_t threads;     /* cpu: threads to use; 0 means OMP_NUM_THREADS, or all cores      */
    void *native_context; /* opencl: the caller's cl_context, kept alive while open; cuda: a
                             CUcontext, which must outlive the device; or NULL               */
    void *native_device;  /* opencl: the caller's cl_device_id in that context; or NULL      */
} rmcp_device_options;

typedef struct rmcp_device_info {
    uint32_t struct_size;
    uint32_t usable;        /* 0: this driver has no device here; `why` says so           */
    char spec[32];          /* what rmcp_device_open takes: "cpu", "opencl:1"             */
    char name[128];         /* as the driver calls it                                     */
    char chip[64];          /* instruction set: "gfx1010", "avx512"; "" when unknown      */
    char driver[128];       /* library and version                                        */
    char why[256];          /* reason when not usable, or a remark about a usable device  */
    uint64_t memory_bytes;  /* 0 when unknown                                             */
    uint32_t compute_units; /* 0 when unknown                                             */
    uint32_t is_cpu;        /* 1: this device is the host processor                       */
} rmcp_device_info;

/* Open a device. `spec` is a driver, "hip", "cuda", "opencl" or "cpu", with the number of a device
 * behind a colon where there are several: "hip:1"; devices count as the driver has them. "auto" or
 * NULL takes RMCP_DEVICE from the environment or, without it, the first of hip, cuda, opencl, cpu
 * that opens (rmcp_device_note says why others were passed over). `options` may be NULL.
 * On RMCP_OK `*out` owns the device; free it with rmcp_device_close. On error `*out` is NULL.
 * A device may be used from many threads at once. */
RMCP_API rmcp_status rmcp_device_open(const char *spec, const rmcp_device_options *options,
                                      rmcp_device **out);

/* Close a device; its plans and buffers must be gone. NULL is fine. */
RMCP_API void rmcp_device_close(rmcp_device *device);

/* Fill `*info`, whose struct_size the caller has set. */
RMCP_API rmcp_status rmcp_device_describe(const rmcp_device *device, rmcp_device_info *info);

/* Why "auto" passed over other devices, one per line; "" for a device opened by name.
 * Lives as long as the device. */
RMCP_API const char *rmcp_device_note(const rmcp_device *device);

/* All devices of all drivers, and one entry with usable = 0 for each driver that has none.
 * `*count` holds the room in `list` and receives the number there are; list[0].struct_size must
 * be set (all entries have that size). With `list` NULL only counts. Thread-safe. */
RMCP_API rmcp_status rmcp_device_list(rmcp_device_info *list, size_t *count);

/* Wait until everything submitted to `stream` is done. `stream` is a hipStream_t, CUstream or
 * cl_command_queue; NULL is the device's own: the default stream of hip and cuda. The CPU device
 * has none and ignores it. */
RMCP_API rmcp_status rmcp_device_wait(rmcp_device *device, void *stream);

/* ---- memory ---- */

/* A place in device memory. base: a device pointer (hip, cuda), a host pointer (cpu) or a cl_mem
 * (opencl); offset: bytes from there. Tensors must be aligned to their element, workspace to 256
 * bytes. */
typedef struct rmcp_memory {
    void *base;
    uint64_t offset;
} rmcp_memory;

/* For programs without an allocator of their own. On error `*out` is {NULL, 0}. */
RMCP_API rmcp_status rmcp_buffer_create(rmcp_device *device, uint64_t bytes, rmcp_memory *out);

/* Free what rmcp_buffer_create gave. A NULL base is fine. */
RMCP_API void rmcp_buffer_destroy(rmcp_device *device, rmcp_memory buffer);

/* Copy between host and device in the order of `stream`; done when the call returns. */
RMCP_API rmcp_status rmcp_copy_to_device(rmcp_device *device, void *stream, rmcp_memory target,
                                         const void *source, uint64_t bytes);
RMCP_API rmcp_status rmcp_copy_to_host(rmcp_device *device, void *stream, void *target,
                                       rmcp_memory source, uint64_t bytes);

/* ---- plans ---- */

typedef struct rmcp_plan rmcp_plan;

typedef enum rmcp_effort {
    RMCP_ESTIMATE = 0, /* choose by the cost model: microseconds                              */
    RMCP_MEASURE = 1   /* time the best few on the device: allocates, waits, not for capture  */
} rmcp_effort;

typedef enum rmcp_accuracy {
    RMCP_ACCURATE = 0, /* every algorithm within its documented bound                         */
    RMCP_STRICT = 1    /* only algorithms that propagate NaN and Inf exactly as IEEE 754 says */
} rmcp_accuracy;       /* whether weights (of backward weights: y) are multiplied with the zeros of
                          the padding, which shows only where one is NaN or Inf, is left open in
                          both                                                                  */

#define RMCP_NO_WORKSPACE UINT64_MAX

typedef struct rmcp_plan_options {
    uint32_t struct_size;
    uint32_t effort;           /* rmcp_effort                                                  */
    uint32_t accuracy;         /* rmcp_accuracy                                                */
    uint32_t nondeterministic; /* 1: algorithms whose bits differ from run to run are welcome  */
    uint64_t max_workspace;    /* bytes; 0: no limit; RMCP_NO_WORKSPACE: none at all           */
    const char *algorithm;     /* take this one or fail; NULL: the planner chooses             */
    rmcp_memory fixed_weights; /* forward, backward data: weights that stay as they are now for
                                  the plan's life. They are prepared once, here, and execute
                                  ignores tensors.w. base NULL: weights come with execute.     */
    double max_error;          /* the largest rmcp_candidate.error_factor that is welcome: 1 keeps
                                  transforms out (Winograd); 0: no limit                       */
} rmcp_plan_options;

/* Make a plan for one pass of `problem` on `device`; the first one may take its time (above).
 * `options` may be NULL.
 * On RMCP_OK `*out` owns a plan; free it with rmcp_plan_destroy. On error `*out` is NULL.
 * `problem` is copied; `device` must outlive the plan.
 * A plan is immutable: it may be executed from many threads at once. */
RMCP_API rmcp_status rmcp_conv_plan(rmcp_device *device, const rmcp_conv *problem,
                                    rmcp_conv_pass pass, const rmcp_plan_options *options,
                                    rmcp_plan **out);
RMCP_API void rmcp_plan_destroy(rmcp_plan *plan); /* NULL is fine */

/* Bytes of workspace each execution needs; 0 for NULL. Two executions at once need two. */
RMCP_API uint64_t rmcp_plan_workspace(const rmcp_plan *plan);

/* The name of the algorithm chosen; lives as long as the plan; "" for NULL. */
RMCP_API const char *rmcp_plan_algorithm(const rmcp_plan *plan);

/* One algorithm's answer to a problem. */
typedef struct rmcp_candidate {
    uint32_t struct_size;
    uint32_t chosen; /* 1: rmcp_conv_plan with the same arguments takes this one  */
    char algorithm[32];
    char refusal[160];        /* why it does not apply; "" when it does                      */
    double estimated_seconds; /* by the cost model; 0 when refused                           */
    uint64_t workspace_bytes;
    double error_factor; /* its errors reach at most this many times the bound of plain
                            sums (docs/api.md); 1 for those that add products up         */
} rmcp_candidate;

/* What each algorithm says to this pass of `problem`: the reasons behind a choice or a refusal.
 * `*count` holds the room in `list` and receives the number there are; list[0].struct_size must
 * be set. With `list` NULL only counts. */
RMCP_API rmcp_status rmcp_conv_candidates(rmcp_device *device, const rmcp_conv *problem,
                                          rmcp_conv_pass pass, const rmcp_plan_options *options,
                                          rmcp_candidate *list, size_t *count);

/* The memory of one execution. Which of x, w, y are read and written: see rmcp_conv_pass. Outputs
 * are overwritten, never added to, and must not overlap anything else. */
typedef struct rmcp_conv_tensors {
    uint32_t struct_size;
    uint32_t reserved;
    rmcp_memory x, w, y;
    rmcp_memory bias; /* only when the problem has one */
    rmcp_memory workspace;
    uint64_t workspace_bytes; /* size of it: at least rmcp_plan_workspace */
} rmcp_conv_tensors;

/* Submit the work to `stream` (see rmcp_device_wait) and return. The CPU device has computed when
 * the call returns. The library allocates nothing here, but that the CPU device keeps a set of
 * oneDNN's objects for each execution that runs at the same time, and uses it again. */
RMCP_API rmcp_status rmcp_conv_execute(const rmcp_plan *plan, void *stream,
                                       const rmcp_conv_tensors *tensors);

/* The same, then wait, and set `*seconds` to the time the device took, by its own clock where it
 * has one. */
RMCP_API rmcp_status rmcp_conv_execute_timed(const rmcp_plan *plan, void *stream,
                                             const rmcp_conv_tensors *tensors, double *seconds);

/* ---- batch normalisation ---- */

/* y = activation((x - mean) * inverse * scale + bias), where inverse = 1 / sqrt(variance +
 * epsilon). In TRAIN, and in BACKWARD without `saved`, mean and (biased) variance are those of the
 * batch; there a NaN or an infinity in x makes the statistics of its channel NaN. */
typedef enum rmcp_batchnorm_pass {
    RMCP_BATCHNORM_TRAIN = 0, /* reads x, scale, bias, writes y; with `saved` writes saved_mean and
                                 saved_inverse; with `running` updates running_mean and
                                 running_variance                                             */
    RMCP_BATCHNORM_INFER = 1, /* reads x, scale, bias, running_mean, running_variance, writes y   */
    RMCP_BATCHNORM_BACKWARD = 2 /* the gradient of TRAIN: reads x, dy, scale, with an activation
                                   bias (to know where it cut), with `saved` saved_mean and
                                   saved_inverse, which else are computed anew from x; writes dx,
                                   dscale, dbias                                                */
} rmcp_batchnorm_pass;
#define RMCP_BATCHNORM_PASSES 3

/* What one mean and one variance are taken over. Parameters are scale, bias, their gradients and
 * all statistics. */
typedef enum rmcp_batchnorm_mode {
    RMCP_SPATIAL = 0, /* images and space: one parameter for each channel, c of them         */
    RMCP_PER_ACTIVATION = 1 /* images: one parameter for each element of an image, in x's layout
                               without n, c * space of them                                     */
} rmcp_batchnorm_mode;

/* One batch normalisation. Arithmetic is in f32 whatever the type. Entries of `input` from `dims`
 * on must be zero. */
typedef struct rmcp_batchnorm {
    uint32_t struct_size;
    uint32_t dims; /* spatial dimensions: 1, 2 or 3; 0 means 2                      */
    int64_t n, c;
    int64_t input[RMCP_MAX_DIMS]; /* spatial size of x, y, dx and dy */
    uint32_t type;               /* rmcp_type of x, y, dx and dy; all parameters are f32          */
    uint32_t layout;             /* rmcp_layout                                                   */
    uint32_t mode;               /* rmcp_batchnorm_mode                                           */
    uint32_t running;            /* 1: TRAIN updates the running statistics                       */
    uint32_t saved;              /* 1: TRAIN writes, BACKWARD reads saved_mean and saved_inverse  */
    uint32_t activation;         /* rmcp_activation after the normalisation; BACKWARD takes its
                                    gradient, which is that of the cut-off side where it bends    */
    float slope;                 /* RMCP_LEAKY_RELU                                               */
    float clamp_low, clamp_high; /* RMCP_CLAMP                                                    */
    uint32_t reserved;           /* must be 0                                                     */
    double epsilon;              /* added to the variance; 0 means 1e-5                           */
    double momentum;             /* share of the batch in the running statistics, usually from 0
                                    to 1; 0 means 0.1: running = (1 - momentum) * running +
                                    momentum * batch. The variance there is the unbiased one,
                                    m / (m - 1) times the biased over m elements; for m = 1 the
                                    biased, 0                                                     */
} rmcp_batchnorm;

/* Case strings such as "batchnorm:n8c64h56w56:f32:nchw:train" (docs/cases.md), in both directions,
 * as rmcp_conv_parse and rmcp_conv_print; "batchnorm:" may be left out when reading. Thread-safe.
 */
RMCP_API rmcp_status rmcp_batchnorm_parse(const char *text, rmcp_batchnorm *problem, int *pass);
RMCP_API rmcp_status rmcp_batchnorm_print(const rmcp_batchnorm *problem, int pass, char *text,
                                          size_t size);

/* Plans, as rmcp_conv_plan and rmcp_conv_candidates make and explain them. options->fixed_weights
 * must be {NULL, 0}. */
RMCP_API rmcp_status rmcp_batchnorm_plan(rmcp_device *device, const rmcp_batchnorm *problem,
                                         rmcp_batchnorm_pass pass, const rmcp_plan_options *options,
                                         rmcp_plan **out);
RMCP_API rmcp_status rmcp_batchnorm_candidates(rmcp_device *device, const rmcp_batchnorm *problem,
                                               rmcp_batchnorm_pass pass,
                                               const rmcp_plan_options *options,
                                               rmcp_candidate *list, size_t *count);

/* The memory of one execution; what the pass does not use (see rmcp_batchnorm_pass) is ignored.
 * Outputs must not overlap anything else. */
typedef struct rmcp_batchnorm_tensors {
    uint32_t struct_size;
    uint32_t reserved;
    rmcp_memory x, y, dx, dy;
    rmcp_memory scale, bias, dscale, dbias;
    rmcp_memory running_mean, running_variance; /* TRAIN updates them in place    */
    rmcp_memory saved_mean, saved_inverse;
    rmcp_memory workspace;
    uint64_t workspace_bytes; /* size of it: at least rmcp_plan_workspace */
} rmcp_batchnorm_tensors;

/* Execute a plan of rmcp_batchnorm_plan, as rmcp_conv_execute and rmcp_conv_execute_timed. */
RMCP_API rmcp_status rmcp_batchnorm_execute(const rmcp_plan *plan, void *stream,
                                            const rmcp_batchnorm_tensors *tensors);
RMCP_API rmcp_status rmcp_batchnorm_execute_timed(const rmcp_plan *plan, void *stream,
                                                  const rmcp_batchnorm_tensors *tensors,
                                                  double *seconds);

/* ---- tensor operations: fill, scale, copy, add …, sum ---- */

typedef enum rmcp_tensor_kind {
    RMCP_TENSOR_SET = 0,      /* c = alpha                                                      */
    RMCP_TENSOR_SCALE = 1,    /* c = alpha * c                                                  */
    RMCP_TENSOR_COPY = 2,     /* c = alpha * a + beta * c: changes strides and type on the way  */
    RMCP_TENSOR_ADD = 3,      /* c = alpha * a + alpha_b * b + beta * c                         */
    RMCP_TENSOR_MULTIPLY = 4, /* c = (alpha * a) * (alpha_b * b) + beta * c                     */
    RMCP_TENSOR_MINIMUM = 5,  /* c = (x < y ? x : y) + beta * c, x = alpha * a, y = alpha_b * b */
    RMCP_TENSOR_MAXIMUM = 6,  /* c = (x > y ? x : y) + beta * c: where x or y is NaN, y is taken */
    RMCP_TENSOR_SUM = 7       /* c = alpha * (sum of a) + beta * c, the sum over the dimensions in
                                 which c has size 1: the gradient of a bias, for example        */
} rmcp_tensor_kind;

#define RMCP_TENSOR_DIMS 5

/* One operation on tensors of any strides. It runs over all indices of `size`. Each tensor has that
 * size or 1 in each dimension. Where a or b has 1, its element is taken again for every index
 * (broadcasting); c may have 1 in RMCP_TENSOR_SUM alone, and there that dimension is summed.
 *
 * Strides are distances in elements, none negative. All of a tensor's strides 0: it is packed in
 * its own size, the last dimension fastest. Otherwise they are taken as they are, and 0 in a or b
 * means the same element again. The stride of a dimension of size 1 means nothing. No two elements
 * of c may share memory: sorted, each stride must exceed the distance that all smaller ones reach.
 * What lies between the elements of c is neither read nor written.
 *
 * Computed in f32 and rounded to c's type once, at the end; sums in blocks, so that their error
 * hardly grows with their length. A copy with alpha 1 and beta 0 within one type keeps every bit.
 * Fields of a tensor that the kind does not have, scalars too, and entries from `dims` on must be
 * 0. */
typedef struct rmcp_tensor {
    uint32_t struct_size;
    uint32_t kind;                      /* rmcp_tensor_kind                                   */
    uint32_t dims;                      /* 1 … 5                                              */
    uint32_t a_type, b_type, c_type;    /* rmcp_type                                          */
    int64_t size[RMCP_TENSOR_DIMS];     /* slowest first, by custom: strides decide           */
    int64_t a_size[RMCP_TENSOR_DIMS];   /* 0 means as `size`; or 1                            */
    int64_t b_size[RMCP_TENSOR_DIMS];   /* likewise                                           */
    int64_t c_size[RMCP_TENSOR_DIMS];   /* likewise; 1 only where RMCP_TENSOR_SUM sums        */
    int64_t a_stride[RMCP_TENSOR_DIMS]; /* see above                                          */
    int64_t b_stride[RMCP_TENSOR_DIMS];
    int64_t c_stride[RMCP_TENSOR_DIMS];
    double alpha, alpha_b; /* taken as they are: 0 is 0, and 0 * NaN is NaN. Rounded to f32    */
    double beta;           /* 0: c is not read                                                 */
} rmcp_tensor;

/* Read a case string such as "tensor:8x64x56x56:add:b1x64x1x1:f16" (docs/cases.md) into `*tensor`,
 * whose struct_size the caller has set. On error it is untouched. Thread-safe. */
RMCP_API rmcp_status rmcp_tensor_parse(const char *text, rmcp_tensor *tensor);

/* Write the case string of `tensor` to `text`, always terminated. RMCP_E_ARG when `size` is too
 * small; RMCP_CASE_MAX is always enough. Thread-safe. */
RMCP_API rmcp_status rmcp_tensor_print(const rmcp_tensor *tensor, char *text, size_t size);

/* Plans, as rmcp_conv_plan and rmcp_conv_candidates make and explain them. options->fixed_weights
 * must be {NULL, 0}. */
RMCP_API rmcp_status rmcp_tensor_plan(rmcp_device *device, const rmcp_tensor *tensor,
                                      const rmcp_plan_options *options, rmcp_plan **out);
RMCP_API rmcp_status rmcp_tensor_candidates(rmcp_device *device, const rmcp_tensor *tensor,
                                            const rmcp_plan_options *options, rmcp_candidate *list,
                                            size_t *count);

/* The memory of one execution: those of a, b and c that the kind has. c must not overlap anything
 * else, but a or b may be c itself, at the same place with the same type, size and strides, unless
 * the kind is RMCP_TENSOR_SUM. */
typedef struct rmcp_tensor_operands {
    uint32_t struct_size;
    uint32_t reserved; /* must be 0 */
    rmcp_memory a, b, c;
    rmcp_memory workspace;
    uint64_t workspace_bytes; /* size of it: at least rmcp_plan_workspace */
} rmcp_tensor_operands;

/* Execute a plan of rmcp_tensor_plan, as rmcp_conv_execute and rmcp_conv_execute_timed. */
RMCP_API rmcp_status rmcp_tensor_execute(const rmcp_plan *plan, void *stream,
                                         const rmcp_tensor_operands *operands);
RMCP_API rmcp_status rmcp_tensor_execute_timed(const rmcp_plan *plan, void *stream,
                                               const rmcp_tensor_operands *operands,
                                               double *seconds);

/* ---- matrix products ---- */

/* Which values of a bias a product adds. */
typedef enum rmcp_gemm_bias {
    RMCP_GEMM_NO_BIAS = 0,
    RMCP_GEMM_ROW_BIAS = 1,   /* m values: bias[row] to all of a row of c                       */
    RMCP_GEMM_COLUMN_BIAS = 2 /* n values: bias[column] to all of a column                      */
} rmcp_gemm_bias;

/* A stride of matrices that follow each other without a gap but those of their pitch. */
#define RMCP_GEMM_PACKED (-1)

/* c[i] = activation(alpha * op(a[i]) op(b[i]) + beta * c[i] + bias) for i = 0 … batch - 1, where
 * op(a) is m x k, op(b) is k x n and c is m x n. All matrices are row-major: a is m x k, or k x m
 * with transpose_a; b is k x n, or n x k with transpose_b. Who has column-major matrices exchanges
 * a with b, m with n, and rows with columns in the bias: a column-major c is the row-major
 * transposed one.
 *
 * A pitch is the distance of rows in memory, in elements; 0: as many as a row has. Strides are the
 * distances of the matrices of a batch; 0 in a or b: all products share the one matrix. The
 * matrices of c must not overlap: one after the other, or side by side in rows of a larger pitch.
 * What lies between the elements of c is not written.
 *
 * Sums are in f32 whatever the type, and rounded to it once. With beta 0, c is not read; with alpha
 * or k 0, a and b are not, and c becomes activation(beta * c + bias). With m, n or batch 0 nothing
 * is done. */
typedef struct rmcp_gemm_problem {
    uint32_t struct_size;
    uint32_t type;                        /* rmcp_type of a, b, c and bias                     */
    int64_t batch, m, n, k;               /* 1 for a single product                            */
    uint32_t transpose_a, transpose_b;    /* 0 or 1                                            */
    int64_t a_pitch, b_pitch, c_pitch;    /* 0: packed                                         */
    int64_t a_stride, b_stride, c_stride; /* or RMCP_GEMM_PACKED; nothing to a single product  */
    double alpha, beta;                   /* taken as they are, rounded to f32; finite         */
    uint32_t bias;                        /* rmcp_gemm_bias; the same for all of a batch       */
    uint32_t activation;                  /* rmcp_activation                                   */
    float slope;                          /* RMCP_LEAKY_RELU                                   */
    float clamp_low, clamp_high;          /* RMCP_CLAMP                                        */
    uint32_t reserved;                    /* must be 0                                         */
} rmcp_gemm;

/* Case strings such as "gemm:m128n64k256:nt:f16:b4" (docs/cases.md), in both directions, as
 * rmcp_tensor_parse and rmcp_tensor_print; "gemm:" may be left out when reading. Thread-safe. */
RMCP_API rmcp_status rmcp_gemm_parse(const char *text, rmcp_gemm *gemm);
RMCP_API rmcp_status rmcp_gemm_print(const rmcp_gemm *gemm, char *text, size_t size);

/* Plans, as rmcp_conv_plan and rmcp_conv_candidates make and explain them. options->fixed_weights
 * must be {NULL, 0}. */
RMCP_API rmcp_status rmcp_gemm_plan(rmcp_device *device, const rmcp_gemm *gemm,
                                    const rmcp_plan_options *options, rmcp_plan **out);
RMCP_API rmcp_status rmcp_gemm_candidates(rmcp_device *device, const rmcp_gemm *gemm,
                                          const rmcp_plan_options *options, rmcp_candidate *list,
                                          size_t *count);

/* The memory of one execution; bias only when the problem has one. c must not overlap anything
 * else. */
typedef struct rmcp_gemm_matrices {
    uint32_t struct_size;
    uint32_t reserved; /* must be 0 */
    rmcp_memory a, b, c, bias;
    rmcp_memory workspace;
    uint64_t workspace_bytes; /* size of it: at least rmcp_plan_workspace */
} rmcp_gemm_matrices;

/* Execute a plan of rmcp_gemm_plan, as rmcp_conv_execute and rmcp_conv_execute_timed. */
RMCP_API rmcp_status rmcp_gemm_execute(const rmcp_plan *plan, void *stream,
                                       const rmcp_gemm_matrices *matrices);
RMCP_API rmcp_status rmcp_gemm_execute_timed(const rmcp_plan *plan, void *stream,
                                             const rmcp_gemm_matrices *matrices, double *seconds);
/* ---- recurrent networks: relu, tanh, LSTM, GRU ---- */

typedef enum rmcp_rnn_mode {
    RMCP_RNN_RELU = 0, /* h' = max(a, 0), a = Wx x + bx + Wh h + bh                             */
    RMCP_RNN_TANH = 1, /* h' = tanh(a)                                                          */
    RMCP_RNN_LSTM = 2, /* c' = f c + i g, h' = o tanh(c'); gates in the order i f o g           */
    RMCP_RNN_GRU = 3   /* h' = (1 - z) n + z h, n = tanh(Wx x + bx + r (Wh h + bh)); order z r n */
} rmcp_rnn_mode;

typedef enum rmcp_rnn_pass {
    RMCP_RNN_INFER = 0,         /* reads x, w, hx, cx, writes y, hy, cy                         */
    RMCP_RNN_TRAIN = 1,         /* the same, and writes `reserve` for the backward passes; with
                                   dropout updates `state`                                      */
    RMCP_RNN_BACKWARD_DATA = 2, /* reads w (but no bias), hx, cx, dy, dhy, dcy, reserve, writes dx,
                                   dhx, dcx and `gradients` for the next pass */
    RMCP_RNN_BACKWARD_WEIGHTS = 3 /* reads x, hx, reserve, gradients, adds to dw                  */
} rmcp_rnn_pass;
#define RMCP_RNN_PASSES 4

/* States that an execution brings; one that is not given is 0 (hx, cx, dhy, dcy) or not wanted (hy,
 * cy, dhx, dcx). What a pass does not have is ignored; those of c are LSTM's alone. */
#define RMCP_RNN_HX 1u
#define RMCP_RNN_CX 2u
#define RMCP_RNN_HY 4u /* in BACKWARD_DATA dhy */
#define RMCP_RNN_CY 8u /* in BACKWARD_DATA dcy */
#define RMCP_RNN_DHX 16u
#define RMCP_RNN_DCX 32u

/* One recurrent network of `layers` layers. Arithmetic is in f32 whatever the type.
 *
 * Sequences are packed: x and dx hold the rows of step 0, then those of step 1 …, each row of
 * `input` elements; y and dy likewise with rows of hidden * directions, the forward direction
 * first. Step t has batches[t] rows, the first sequences of the batch, so sequences come longest
 * first. hx, cx, hy, cy and their gradients are [layers][directions][batch][hidden].
 *
 * w and dw are one array, as MIOpen lays it out. For each layer: Wx
 * [directions][gates][hidden][width], width being `input` in the first layer and hidden *
 * directions in others, then Wh [directions][gates][hidden][hidden]. With bias, behind all of them,
 * for each layer: bx, then bh, [directions][gates][hidden] each. With `skip` the first layer has no
 * Wx: x, which then has `hidden` elements, is added to every gate itself. */
typedef struct rmcp_rnn {
    uint32_t struct_size;
    uint32_t mode; /* rmcp_rnn_mode                                                       */
    int64_t steps; /* of the longest sequence                                             */
    int64_t batch; /* sequences                                                           */
    int64_t input, hidden;
    uint32_t layers;        /* 0 means 1                                                  */
    uint32_t bidirectional; /* 1: two directions, the second from the end to the start    */
    uint32_t bias;          /* 1: bx and bh                                               */
    uint32_t skip;          /* 1: see above                                               */
    uint32_t type;          /* rmcp_type of all tensors but reserve, gradients and state  */
    uint32_t given;         /* RMCP_RNN_HX | …                                            */
    const int64_t *batches; /* `steps` numbers, none larger than the one before, the first `batch`;
                               NULL: all sequences are `steps` long                       */
    double dropout;         /* TRAIN and backward: the share of the outputs of each layer but the
                               last that the next one sees as 0, the others divided by
                               (1 - dropout). From 0 to below 1                           */
} rmcp_rnn;

/* Elements of the tensors of a problem. */
typedef struct rmcp_rnn_info {
    uint32_t struct_size;
    uint32_t directions, gates; /* 1 or 2; 1, 3 or 4                                   */
    uint32_t reserved;
    int64_t rows;               /* of x and y: the sum of all batches                  */
    int64_t x, y, states, w;    /* `states`: of hx and the like                        */
    int64_t reserve, gradients; /* in floats, whatever the type                        */
    double flops;               /* of one pass of products, forward                    */
} rmcp_rnn_info;

/* Check `problem` and fill `*info`, whose struct_size the caller has set. On error it is untouched.
 * Thread-safe. */
RMCP_API rmcp_status rmcp_rnn_describe(const rmcp_rnn *problem, rmcp_rnn_info *info);

/* Case strings such as "rnn:t50n64i512h512l2:lstm:bi:bias:f32:train" (docs/cases.md) of a problem
 * and its pass, in both directions, as rmcp_conv_parse and rmcp_conv_print. `batches` receives the
 * batches of a text that has them: it has room for `room` of them, and problem->batches is set to
 * it; without (room 0) such a text is refused. Thread-safe. */
RMCP_API rmcp_status rmcp_rnn_parse(const char *text, rmcp_rnn *problem, int *pass,
                                    int64_t *batches, size_t room);
RMCP_API rmcp_status rmcp_rnn_print(const rmcp_rnn *problem, int pass, char *text, size_t size);

/* Plans, as rmcp_conv_plan and rmcp_conv_candidates make and explain them. options->fixed_weights
 * must be {NULL, 0}. `batches` is read in the call only. */
RMCP_API rmcp_status rmcp_rnn_plan(rmcp_device *device, const rmcp_rnn *problem, rmcp_rnn_pass pass,
                                   const rmcp_plan_options *options, rmcp_plan **out);
RMCP_API rmcp_status rmcp_rnn_candidates(rmcp_device *device, const rmcp_rnn *problem,
                                         rmcp_rnn_pass pass, const rmcp_plan_options *options,
                                         rmcp_candidate *list, size_t *count);

/* The memory of one execution; what the pass does not use (see rmcp_rnn_pass) is ignored. Outputs
 * must not overlap anything else. */
typedef struct rmcp_rnn_tensors {
    uint32_t struct_size;
    uint32_t reserved;
    rmcp_memory x, w, hx, cx, y, hy, cy;
    rmcp_memory dx, dw, dhx, dcx, dy, dhy, dcy;
    rmcp_memory reserve;   /* f32: what TRAIN leaves for both backward passes          */
    rmcp_memory gradients; /* f32: what BACKWARD_DATA leaves for BACKWARD_WEIGHTS      */
    rmcp_memory state;     /* of dropout, 4 words of 32 bits: seed (2), counter (2). TRAIN draws its
                              masks from both and adds 1 to the counter               */
    rmcp_memory workspace;
    uint64_t workspace_bytes; /* size of it: at least rmcp_plan_workspace */
} rmcp_rnn_tensors;

/* Execute a plan of rmcp_rnn_plan, as rmcp_conv_execute and rmcp_conv_execute_timed. */
RMCP_API rmcp_status rmcp_rnn_execute(const rmcp_plan *plan, void *stream,
                                      const rmcp_rnn_tensors *tensors);
RMCP_API rmcp_status rmcp_rnn_execute_timed(const rmcp_plan *plan, void *stream,
                                            const rmcp_rnn_tensors *tensors, double *seconds);

/* ---- any operation by its case string ---- */

/* Plans of all operations, also of those that have no structures here (docs/cases.md has their case
 * strings): "softmax:8x1000:fwd:log:f16". The text must mean one problem: with several passes it
 * names one. Otherwise as rmcp_conv_plan and rmcp_conv_candidates. */
RMCP_API rmcp_status rmcp_case_plan(rmcp_device *device, const char *text,
                                    const rmcp_plan_options *options, rmcp_plan **out);
RMCP_API rmcp_status rmcp_case_candidates(rmcp_device *device, const char *text,
                                          const rmcp_plan_options *options, rmcp_candidate *list,
                                          size_t *count);

/* A tensor of a plan of any operation. */
typedef struct rmcp_slot_info {
    uint32_t struct_size;
    uint32_t type;          /* rmcp_type                                                     */
    uint32_t read, written; /* both: updated, or with places between its elements that stay  */
    uint64_t bytes;         /* 0: the problem does not use it                                */
    char name[32];          /* "x"                                                           */
} rmcp_slot_info;

/* Fill `*info`, whose struct_size the caller has set, with what is said of tensor number `slot`,
 * from 0 on. RMCP_E_ARG past the last one. */
RMCP_API rmcp_status rmcp_plan_slot(const rmcp_plan *plan, uint32_t slot, rmcp_slot_info *info);

/* A number that an execution may bring in place of the one that the plan's text has: with Adam the
 * number of the step, for one plan does all of them. */
typedef struct rmcp_scalar_info {
    uint32_t struct_size;
    uint32_t reserved;
    double value;       /* what it is when an execution does not say                            */
    double least, most; /* what it may be; both infinite: anything                              */
    char name[32];      /* as in case strings: "number"                                          */
} rmcp_scalar_info;

/* Fill `*info`, whose struct_size the caller has set, with what is said of scalar number `scalar`,
 * from 0 on. RMCP_E_ARG past the last one; most operations have none. */
RMCP_API rmcp_status rmcp_plan_scalar(const rmcp_plan *plan, uint32_t scalar,
                                      rmcp_scalar_info *info);

/* What one execution is given. Outputs must not overlap anything else, unless an operation says so.
 */
typedef struct rmcp_slots {
    uint32_t struct_size;
    uint32_t count;            /* of `memory`: those behind are not there         */
    const rmcp_memory *memory; /* in the order of rmcp_plan_slot; {NULL, 0} for what is not used */
    rmcp_memory workspace;
    uint64_t workspace_bytes; /* size of it: at least rmcp_plan_workspace        */
    uint32_t n_scalars;       /* of `scalars`: those behind are the plan's own   */
    uint32_t reserved;        /* must be 0                                       */
    const double *scalars;    /* in the order of rmcp_plan_scalar; read in the call */
} rmcp_slots;

/* Execute a plan of any operation, as rmcp_conv_execute and rmcp_conv_execute_timed. */
RMCP_API rmcp_status rmcp_plan_run(const rmcp_plan *plan, void *stream, const rmcp_slots *slots);
RMCP_API rmcp_status rmcp_plan_run_timed(const rmcp_plan *plan, void *stream,
                                         const rmcp_slots *slots, double *seconds);

#ifdef __cplusplus
}
#endif

#endif
