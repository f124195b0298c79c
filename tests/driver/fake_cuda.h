/* fake_cuda.h: how a test steers the fake NVIDIA driver, through dlsym. */
#ifndef RMCP_TESTS_FAKE_CUDA_H
#define RMCP_TESTS_FAKE_CUDA_H

#include <stdatomic.h>
#include <stdint.h>

struct fake_cuda {
    long fail_at;  /* the call that fails, counted from 1; 0: none                         */
    int code;      /* the error it returns                                                 */
    int sticky;    /* 1: from then on every call returns it                                */
    int n_devices; /* 0: cuInit says that there is none                                    */
    int major;     /* compute capability of them, minor 0                                  */
    int bad_ptx;   /* 1: the compiler in the driver finds an error                         */
    int capturing; /* 1: what is forbidden in a capture fails, and is counted              */
    /* Results. */
    atomic_long calls; /* since the test last set this to 0                                    */
    atomic_long live;  /* contexts held, modules, events, buffers                              */
    atomic_long depth; /* contexts pushed and not popped, in all threads                       */
    atomic_long launches, violations;
    atomic_int mode;           /* of capture, of the thread that set it last                    */
    const char *failed;        /* name of the function that failed                              */
    void *_Atomic stream;      /* of the last launch                                            */
    _Atomic uint64_t first[2]; /* the first two parameters of the last launch                   */
};

#define FAKE_CUDA_SYMBOL "fake_cuda" /* a struct fake_cuda   */
enum { FAKE_CUDA_MEMORY = 1 << 20 }; /* bytes of each device */

#endif
