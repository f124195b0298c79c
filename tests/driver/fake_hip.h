/* fake_hip.h: how a test steers the fake HIP library: through dlsym, and by its environment. */
#ifndef RMCP_TESTS_FAKE_HIP_H
#define RMCP_TESTS_FAKE_HIP_H

#include <stdatomic.h>

/* FAKE_HIP_DEVICES in the environment lists the devices: "gfx1030 0000:03:00.0;gfx1010 …", each
 * with the chip that the runtime takes it for and its PCI address. HIP_VISIBLE_DEVICES picks from
 * them as in HIP. FAKE_HIP_HANG names a file that the first launch creates before it sleeps. */
struct fake_hip {
    long fail_at;      /* the call that fails, counted from 1; 0: none                   */
    int code;          /* the error it returns                                           */
    int sticky;        /* 1: and all later ones fail with it, as on a lost device        */
    int refuse_module; /* the error of hipModuleLoadData; 0: it takes code for the chip  */
    int fail_launch;   /* the error of hipModuleLaunchKernel                             */
    int no_pci;        /* 1: no PCI address is told                                      */
    int capturing;     /* 1: what is forbidden in a capture fails, and is counted        */
    /* Results. */
    atomic_long calls;         /* since the test last set this to 0                             */
    atomic_long live;          /* objects that exist                                            */
    atomic_long launches;      /* kernels that ran                                              */
    atomic_long waits;         /* calls that wait for the device                                */
    atomic_long violations;    /* calls that a capture forbids                                  */
    atomic_int last;           /* what hipGetLastError would say                                */
    atomic_int current;        /* the device that the last call was made on                     */
    atomic_uint mach;          /* EF_AMDGPU_MACH of the code object loaded last                 */
    const void *_Atomic image; /* that code object, while its module lives                      */
    const char *failed;        /* name of the function that failed                              */
};

#define FAKE_HIP_SYMBOL "fake_hip"   /* a struct fake_hip    */
enum { FAKE_HIP_MEMORY = 64 << 20 }; /* bytes of each device */

#endif
