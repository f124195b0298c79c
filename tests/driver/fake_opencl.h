/* fake_opencl.h: how a test steers the fake OpenCL library, through dlsym. */
#ifndef RMCP_TESTS_FAKE_OPENCL_H
#define RMCP_TESTS_FAKE_OPENCL_H

#include <stdatomic.h>

struct fake_opencl {
    long fail_at;          /* the call that fails, counted from 1; 0: none                  */
    int code;              /* the error it returns                                          */
    int sticky;            /* 1: from then on every call returns it                         */
    int lazy;              /* 1: buffers without memory fail on first use, not when made    */
    int refuse_binaries;   /* 1: clCreateProgramWithBinary takes none                       */
    int no_platform;       /* 1: no driver                                                  */
    int no_profiling;      /* 1: queues have no timestamps                                  */
    int no_build;          /* 1: the compiler finds an error                                */
    unsigned small_blocks; /* largest workgroup of any kernel; 0: that of the device        */
    const char *gpu_name;  /* of all GPUs; NULL: their own                                  */
    unsigned gpu_vendor;   /* CL_DEVICE_VENDOR_ID of all GPUs; 0: a number nobody has       */
    /* Results. */
    atomic_long calls;    /* since the test last set this to 0                                */
    atomic_long live;     /* objects that exist                                               */
    atomic_long builds;   /* from source                                                      */
    atomic_long binaries; /* programs made from binaries                                      */
    atomic_long barriers; /* clEnqueueBarrierWithWaitList                                     */
    const char *failed;   /* name of the function that failed                                 */
};

#define FAKE_OPENCL_SYMBOL "fake_opencl" /* a struct fake_opencl */
enum { FAKE_OPENCL_MEMORY = 1 << 20 };   /* bytes of each device */

#endif
