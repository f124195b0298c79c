/* rules.h: the conditions of the rules, by topic; the table is in rules.c. */
#ifndef RMCP_DOCTOR_RULES_H
#define RMCP_DOCTOR_RULES_H

#include "help/doctor/doctor.h"

/* One function for each rule. */
/* clang-format off */
#define DOCTOR_CONDITIONS(X)                                                                      \
    X(gpu_none) X(gpu_nvidia_only) X(gpu_supported) X(gpu_family) X(gpu_left_behind)              \
    X(first_owner) X(gpu_too_old) X(gpu_no_driver) X(gpu_vfio) X(kfd_missing) X(kfd_gpu_missing)                 \
    X(atomics_rejected) X(atomics_absent) X(firmware_mec_old) X(igpu_visible) X(kernel_old)       \
    X(module_mtype) X(module_cwsr_off) X(module_parameters) X(cmdline_nomodeset)                  \
    X(kfd_no_access) X(container_no_groups) X(container_no_devices) X(kfd_open_fails)             \
    X(render_no_access) X(access_ok) X(wsl) X(rocm_none) X(rocm_one) X(rocm_several)              \
    X(rocm_path_mixed) X(rocm_llvm_clash) X(rocm_llvm_newer) X(rocblas_no_arch)                   \
    X(rocblas_disguised) X(library_broken) X(library_unread) X(torch_none) X(torch_ok)            \
    X(torch_no_arch) X(torch_cpu_build) X(torch_cuda_build) X(torch_wrong_vendor)                 \
    X(torch_rocm_mismatch) X(torch_two_miopens) X(override_foreign) X(override_malformed)         \
    X(override_family) X(override_same) X(override_mixed) X(visible_none) X(preload_shim)         \
    X(preload_other) X(preload_file) X(sdma_off) X(miopen_tuning) X(arch_variable) X(serialize)   \
    X(profile_sets) X(log_page_fault) X(log_reset) X(log_preemption) X(log_unsupported)           \
    X(log_unreadable) X(leftover_shim) X(leftover_rocr) X(leftover_conv) X(leftover_mtype)        \
    X(build_memory) X(build_disk) X(opencl_none) X(opencl_broken) X(opencl_ok) X(vulkan_none)     \
    X(vulkan_ok) X(probe_late) X(dropin_installed) X(dropin_broken) X(dropin_stale)               \
    X(dropin_preloaded) X(dropin_everywhere) X(adapter_installed) X(adapter_enabled)            \
    X(registers_refused) X(registers_risk) X(torch_no_rocblas) X(torch_repaired)                      \
    X(repair_stale) X(container_no_render) X(firmware_missing) X(gpu_blacklisted) X(driver_rejected)                       \
    X(apu_memory) X(torch_known_bad) X(torch_layernorm) X(access_policy) X(render_missing) X(driver_failed)          \
    X(log_hardware) X(log_crash) X(vram_small) X(disk_full) X(other_cards) X(torch_incomplete)    \
    X(torch_overwritten) X(torch_mixed) X(torch_shadowed) X(python_gone) X(torch_elsewhere)       \
    X(visible_other) X(loader_mixed) X(kernels_elsewhere) X(firmware_mes_bad) X(torch_amdsmi) X(override_unread) X(path_blank) X(allocator_malformed)
/* clang-format on */

#define DOCTOR_DECLARE(name)                                                                       \
    bool doctor_if_##name(const struct doctor_machine *m, struct doctor_words *words);
DOCTOR_CONDITIONS(DOCTOR_DECLARE)
#undef DOCTOR_DECLARE

/* Whether a PyTorch was built for ROCm. */
bool doctor_is_hip_build(const struct doctor_python *python);
/* The command that installs a PyTorch anew. */
void doctor_say_reinstall(const struct doctor_machine *m, const struct doctor_python *python,
                          struct doctor_words *words);
/* The render node of a GPU, or one that opens where that is not told; NULL: it is not there. */
const struct doctor_device *doctor_render_of(const struct doctor_machine *m,
                                             const struct doctor_gpu *gpu);
/* Whether a device is refused although its owner, group and mode let this user in. */
bool doctor_is_policy(const struct doctor_machine *m, const struct doctor_device *device);
/* Whether programs certainly see a GPU: not where a variable names cards by ids. */
bool doctor_is_shown(const struct doctor_machine *m, const struct doctor_gpu *gpu);
/* Whether LD_PRELOAD has something that is not known to be harmless. */
bool doctor_preloads_unknown(const struct doctor_machine *m);
/* A PyTorch that lacks one of its libraries (`part`), or the system's ROCm (NULL); NULL: none. */
const struct doctor_python *doctor_incomplete(const struct doctor_machine *m, const char **part);

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
bool doctor_say(struct doctor_words *words, const char *format, ...); /* returns true */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void doctor_value(struct doctor_words *words, const char *format, ...);

#endif
