/* machine.h: the facts about a machine that rmcp doctor collects.
 *
 * Plain data without pointers: the probes fill it in child processes, in shared memory, and one
 * that is killed leaves at worst a fact half told. Everything is bounded; what does not fit is left
 * out. All zero means: nothing known. */
#ifndef RMCP_DOCTOR_MACHINE_H
#define RMCP_DOCTOR_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/chip/chips.h"

enum {
    DOCTOR_GPUS = 16,
    DOCTOR_NODES = 16, /* render nodes */
    DOCTOR_GROUPS = 64,
    DOCTOR_VARIABLES = 96,
    DOCTOR_ROCMS = 12,
    DOCTOR_LIBRARIES = 64,
    DOCTOR_PYTHONS = 24,
    DOCTOR_LEFTOVERS = 24,
    DOCTOR_ICDS = 16,
    DOCTOR_PATH = 512,
    DOCTOR_TARGETS = 640
};

enum doctor_answer { DOCTOR_UNKNOWN = 0, DOCTOR_NO = 1, DOCTOR_YES = 2 };

/* How a chip is served by the PyTorch builds that are offered. */
enum doctor_service {
    DOCTOR_CHIP_UNKNOWN = 0,
    DOCTOR_CHIP_WHEEL,       /* pytorch.org's wheels have code for it              */
    DOCTOR_CHIP_FAMILY,      /* they have code for a sibling that it can run       */
    DOCTOR_CHIP_LEFT_BEHIND, /* gfx101x: they never had                            */
    DOCTOR_CHIP_OLD          /* gfx8 and before: ROCm itself dropped it            */
};

struct doctor_gpu {
    char pci[16];            /* "0000:03:00.0", "" when only KFD tells of it          */
    uint32_t vendor, device; /* PCI ids */
    uint32_t revision;
    char driver[32];    /* the bound driver, "" for none                         */
    char name[64];      /* "Radeon RX 5600 XT", or the ids                       */
    char chip[16];      /* "gfx1010", "" when unknown                            */
    uint32_t version;   /* 100100: major, minor, stepping in two digits each     */
    bool chip_from_kfd; /* else guessed from the PCI id                          */
    bool is_integrated, in_kfd;
    uint32_t node; /* of KFD */
    uint32_t compute_units;
    uint64_t vram;         /* bytes */
    uint32_t mec_firmware; /* 0: unknown */
    uint32_t mes_firmware; /* 0: unknown */
    uint32_t render;       /* minor number of its render node, 0: unknown */
    enum doctor_answer atomics;
};

struct doctor_device { /* /dev/kfd or a render node */
    char path[40];
    bool exists;
    uint32_t mode, uid, gid; /* mode as ls shows it, e.g. 0660 */
    int open_error;          /* errno of opening it for reading and writing; 0: it opens */
};

struct doctor_variable {
    char name[64], value[DOCTOR_PATH];
};

enum doctor_library_kind {
    DOCTOR_LIB_HIP,
    DOCTOR_LIB_HSA,
    DOCTOR_LIB_MIOPEN,
    DOCTOR_LIB_ROCBLAS,
    DOCTOR_LIB_TORCH,
    DOCTOR_LIB_KINDS
};

/* RMCP's MIOpen in the place of another (docs/run.md). */
enum doctor_dropin {
    DOCTOR_DROPIN_NONE = 0,
    DOCTOR_DROPIN_WHOLE,
    DOCTOR_DROPIN_BROKEN, /* a part of the installation is missing                     */
    DOCTOR_DROPIN_STALE   /* it was installed, and then another file came in its place */
};

/* A library that rmcp repair changed in place (docs/repair.md). */
enum doctor_repaired {
    DOCTOR_REPAIRED_NONE = 0,
    DOCTOR_REPAIRED_WHOLE,
    DOCTOR_REPAIRED_STALE /* it was repaired, and then another file came in its place */
};

struct doctor_library {
    enum doctor_library_kind kind;
    char path[DOCTOR_PATH];
    uint64_t size;
    char soname[64];
    char targets[DOCTOR_TARGETS]; /* "gfx900,gfx1030"; "" when none was found             */
    bool has_targets;             /* `targets` is the whole list, as far as can be told   */
    char disguised[96];           /* a Tensile file for one chip that is a link to another's */
    char trouble[96];             /* why it could not be read, "" when it could           */
    bool is_late;                 /* the time was up before all of it was read            */
    enum doctor_dropin dropin;    /* of a MIOpen */
    enum doctor_repaired repaired;
    int owner; /* index of the ROCm, or 100 + of the Python it belongs to; -1 */
};

struct doctor_rocm {
    char prefix[DOCTOR_PATH];
    char version[32];
    uint32_t clang; /* major of its compiler, 0: none found */
};

struct doctor_python {
    char site[DOCTOR_PATH];  /* folder that holds torch */
    char version[64];        /* of torch: "2.5.1+rocm6.2"  */
    char hip[48], cuda[32];  /* "" when it was not built with it */
    bool bundles_rocm;       /* brings its own HIP and MIOpen  */
    bool is_sdk;             /* TheRock: ROCm as Python packages */
    bool is_active;          /* in use: by PYTHONPATH, VIRTUAL_ENV, else CONDA_PREFIX */
    bool is_shadowed;        /* that of ~/.local comes before it */
    bool has_no_interpreter; /* the environment's link to a Python leads nowhere */
    bool has_amdsmi;         /* the package amdsmi beside it */
    char vision[64];         /* of torchvision beside it */
    char audio[64];          /* of torchaudio            */
    char layer[DOCTOR_PATH]; /* the environment on top of it (--system-site-packages) that is in use
                              */
    bool has_rmcp;           /* the package rmcp lies beside it, or in that one */
    bool has_hook;           /* rmcp-torch.pth: RMCP_TORCH=1 enables RMCP there */
    int library;             /* libtorch_hip.so among the libraries, -1 */
    int miopen;              /* the MIOpen that it would load, -1 */
};

struct doctor_leftover {
    char path[DOCTOR_PATH];
    char what[24]; /* "mtype", "shim", "rocr", "conv" */
};

struct doctor_icd {
    char file[96], library[160];
    bool is_vulkan, is_amd, library_missing;
};

enum doctor_log {
    DOCTOR_LOG_ATOMICS,
    DOCTOR_LOG_UNSUPPORTED,
    DOCTOR_LOG_PAGE_FAULT,
    DOCTOR_LOG_RESET,
    DOCTOR_LOG_PREEMPTION,
    DOCTOR_LOG_FIRMWARE,
    DOCTOR_LOG_REJECTED, /* a module that is not signed with a known key */
    DOCTOR_LOG_FAILED,   /* the driver gave the card up                  */
    DOCTOR_LOG_HARDWARE, /* memory or bus errors                         */
    DOCTOR_LOG_CRASH,    /* a program died in ROCm's libraries           */
    DOCTOR_LOG_OTHER,    /* errors of the driver that are not known      */
    DOCTOR_LOG_KINDS
};

enum doctor_probe {
    DOCTOR_PROBE_ENVIRONMENT, /* first: others need it */
    DOCTOR_PROBE_SYSTEM,
    DOCTOR_PROBE_GPU,
    DOCTOR_PROBE_ACCESS,
    DOCTOR_PROBE_LOG,
    DOCTOR_PROBE_ROCM,
    DOCTOR_PROBE_PYTHON,
    DOCTOR_PROBE_LEFTOVERS,
    DOCTOR_PROBE_DRIVERS,
    DOCTOR_PROBES
};
enum doctor_state { DOCTOR_NOT_RUN = 0, DOCTOR_RUNNING, DOCTOR_DONE, DOCTOR_LATE, DOCTOR_CRASHED };

struct doctor_machine {
    bool is_recorded;
    enum doctor_state probes[DOCTOR_PROBES];

    /* system */
    char kernel[96], os_id[32], os_like[64], os_version[32];
    char amdgpu_version[48]; /* of the DKMS module; in-tree ones have none */
    bool has_amdgpu, has_nvidia;
    enum doctor_answer config_hsa; /* CONFIG_HSA_AMD, where the configuration can be read */
    char mtype[DOCTOR_PATH];       /* where mtype_local is set: a file and its line */
    char blacklist[DOCTOR_PATH];   /* where amdgpu is kept from loading: a file and its line */
    char vfio[DOCTOR_PATH];        /* where cards are bound to vfio-pci: a file, or an option */
    char parameters[DOCTOR_PATH];  /* "noretry=1 cwsr_enable=0": those that are not the default */
    bool cwsr_off;
    char command_line[DOCTOR_PATH]; /* the options that matter here */
    uint64_t ram, swap;             /* bytes */
    uint64_t disk;                  /* free bytes at home */
    bool has_memory, has_disk;

    /* GPUs */
    bool has_kfd; /* topology in sysfs */
    size_t n_gpus;
    struct doctor_gpu gpus[DOCTOR_GPUS];

    /* access */
    struct doctor_device kfd, render[DOCTOR_NODES];
    size_t n_render;
    char container[24]; /* "docker", "podman" …, "" outside */
    bool is_wsl, has_dxg;
    bool is_enforcing; /* SELinux */
    bool is_for_other; /* root by sudo: what the user may do is not known */
    bool has_user;
    uint32_t uid, groups[DOCTOR_GROUPS];
    size_t n_groups;

    /* environment */
    char home[DOCTOR_PATH];
    size_t n_variables;
    struct doctor_variable variables[DOCTOR_VARIABLES];
    char profile[DOCTOR_PATH]; /* "~/.bashrc:12: export HSA_OVERRIDE…" */
    char preload_file[128];    /* contents of /etc/ld.so.preload       */

    /* kernel log */
    enum doctor_answer log_read;
    struct {
        uint32_t n;
        char line[200]; /* the last one */
    } log[DOCTOR_LOG_KINDS];

    /* software; ROCm and Python fill different halves of the libraries */
    uint32_t system_clang; /* newest of /usr/lib/llvm-*, 0: none */
    size_t n_rocms;
    struct doctor_rocm rocms[DOCTOR_ROCMS];
    char loader_hip[DOCTOR_PATH]; /* the libamdhip64 that ld.so takes, resolved */
    char loader_miopen[DOCTOR_PATH];
    char variable_miopen[DOCTOR_PATH]; /* the MIOpen that LD_LIBRARY_PATH brings in */
    char variable_rocm[DOCTOR_PATH];   /* another library of ROCm that it brings in */
    char variable_release[32];         /* the release of ROCm that the two are of, "" unknown */
    size_t n_system_libraries;
    struct doctor_library system_libraries[DOCTOR_LIBRARIES];
    size_t n_pythons;
    struct doctor_python pythons[DOCTOR_PYTHONS];
    size_t n_python_libraries;
    struct doctor_library python_libraries[DOCTOR_LIBRARIES];

    size_t n_leftovers;
    struct doctor_leftover leftovers[DOCTOR_LEFTOVERS];
    size_t n_icds;
    struct doctor_icd icds[DOCTOR_ICDS];
};

/* Whether a PyTorch lies in a conda environment. */
bool doctor_is_conda_site(const struct doctor_machine *machine, const struct doctor_python *python);
/* The value of a variable, or NULL. */
const char *doctor_variable(const struct doctor_machine *machine, const char *name);
/* Whether programs see a GPU of KFD, by the variables that hide some; lists of names that cannot be
 * told are taken to have it. */
bool doctor_is_visible(const struct doctor_machine *machine, const struct doctor_gpu *gpu);
/* The GPU to compute on: AMD, discrete before integrated, visible, the most compute units; NULL:
 * none. */
const struct doctor_gpu *doctor_main_gpu(const struct doctor_machine *machine);

/* ---- chips.c ---- */

enum { DOCTOR_AMD = RMCP_PCI_AMD, DOCTOR_NVIDIA = RMCP_PCI_NVIDIA };
/* Fill in name, chip and version from the PCI id; what KFD said stays. */
void doctor_chip_from_pci(struct doctor_gpu *gpu);
enum doctor_service doctor_chip_service(uint32_t version);
/* The sibling whose code the chip can run, e.g. 100300 of 100301; 0: none. */
uint32_t doctor_chip_sibling(uint32_t version);
/* The release of pytorch.org's wheels that serve the chip or its sibling: "rocm6.4"; NULL: none. */
const char *doctor_chip_wheel(uint32_t version);
/* Whether two chips have the same instructions, so that an override from one to the other is not
 * foreign; and whether code for the other asks for more than the chip has all the same: registers,
 * as far as is known. */
bool doctor_chip_same_family(uint32_t left, uint32_t right);
bool doctor_chip_has_fewer_registers(uint32_t version, uint32_t other);
/* Whether a list of targets has code that this chip loads: its own or the generic one. */
bool doctor_targets_have(const char *targets, const char *chip);
/* Read the value of HSA_OVERRIDE_GFX_VERSION, "10.3.0". */
bool doctor_override_parse(const char *text, uint32_t *version);

#endif
