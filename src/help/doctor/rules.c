/* rules.c: the table of findings: verdict, what it means, and the command that cures it. */
#include "help/doctor/rules.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool doctor_say(struct doctor_words *words, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words->seen, sizeof words->seen, format, arguments);
    va_end(arguments);
    return true;
}

void doctor_value(struct doctor_words *words, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words->value, sizeof words->value, format, arguments);
    va_end(arguments);
}

#define RULE(ident, name, about, grade)                                                            \
    .id = ident, .topic = about, .verdict = grade, .applies = doctor_if_##name

const struct doctor_rule doctor_rules[] = {
    /* ---- GPUs ---- */
    { RULE("gpu-none", gpu_none, "gpu", DOCTOR_NOTE), .title = "No AMD or NVIDIA GPU",
      .why = "RMCP still computes on the CPU; a guest or container may simply not have been given "
             "the card.",
      .fix = "rmcp devices" },
    { RULE("gpu-nvidia-only", gpu_nvidia_only, "gpu", DOCTOR_NOTE),
      .title = "An NVIDIA GPU and no AMD one",
      .why = "Nothing of ROCm applies. PyTorch for CUDA is the normal way; RMCP's own commands run "
             "through OpenCL.",
      .fix = "rmcp devices" },
    { RULE("gpu-supported", gpu_supported, "gpu", DOCTOR_OK),
      .title = "pytorch.org's ROCm wheels serve this chip", .why = "", .fix = "" },
    { RULE("gpu-family", gpu_family, "gpu", DOCTOR_NOTE),
      .title = "The wheels may have code only for a sibling of this chip",
      .why =
          "Its family is one to the compiler: code of the sibling holds nothing that this chip "
          "lacks.\n"
          "Where a wheel has no code for the chip itself, the override inside the family is safe.",
      .fix = "export HSA_OVERRIDE_GFX_VERSION={}" },
    { RULE("gpu-left-behind", gpu_left_behind, "gpu", DOCTOR_WARNING),
      .title = "RDNA1: pytorch.org's wheels never had code for it",
      .why =
          "Without native code nothing runs; with code built for gfx1030 the workarounds for "
          "RDNA1's silicon bugs\n"
          "are missing. The card itself is fine: native builds work (rocBLAS's tests pass on it).",
      .fix = "{}" },
    { RULE("first-owner", first_owner, "gpu", DOCTOR_NOTE),
      .title = "A card that no developer of RMCP has",
      .why = "Everything about RDNA1 is simulated so far. One command tries RMCP on the card, step "
             "by\n"
             "step and safely, and writes a log to send: it would be the only evidence there is.",
      .fix = "rmcp verify --first-owner --device hip:0" },
    { RULE("gpu-too-old", gpu_too_old, "gpu", DOCTOR_WARNING),
      .title = "ROCm dropped this generation",
      .why = "AMD stopped supporting it with ROCm 4; no wheel has code for it.\n"
             "Self-made builds exist; OpenCL and Vulkan drivers still serve the card.",
      .fix = "rmcp devices   # OpenCL, where a driver is installed" },
    { RULE("gpu-no-driver", gpu_no_driver, "gpu", DOCTOR_PROBLEM),
      .title = "No amdgpu driver on the GPU",
      .why = "Without the kernel's driver there is neither display nor compute.\n"
             "A blacklist, nomodeset, a missing firmware package, or a guest that got only a part "
             "of a card.",
      .fix = "sudo modprobe amdgpu; sudo dmesg | grep -i amdgpu" },
    { RULE("gpu-blacklisted", gpu_blacklisted, "gpu", DOCTOR_PROBLEM),
      .title = "A blacklist keeps amdgpu from loading",
      .why = "The kernel's driver is there, but is told not to load by itself.", .fix = "{}" },
    { RULE("firmware-missing", firmware_missing, "log", DOCTOR_PROBLEM),
      .title = "The driver found no firmware for the card",
      .why = "Without it the card cannot be started. The package is not installed, or older than "
             "the card.",
      .fix = "{}" },
    { RULE("driver-failed", driver_failed, "log", DOCTOR_PROBLEM),
      .title = "The driver gave the card up",
      .why = "It was loaded, and could not start the card: a kernel that is too old or has a bug, "
             "firmware, no room for\n"
             "its memory on the bus, or a card that does not sit well.",
      .fix = "{}" },
    { RULE("driver-rejected", driver_rejected, "log", DOCTOR_PROBLEM),
      .title = "Secure Boot rejects a driver",
      .why = "A driver built on this machine (AMD's, by DKMS) is signed with a key that the "
             "firmware does not know.\n"
             "Make the key known, or remove that driver (the kernel's own is signed), or switch "
             "Secure Boot off.",
      .fix = "{}" },
    { RULE("apu-memory", apu_memory, "gpu", DOCTOR_WARNING), .blocks = true,
      .title = "Little memory for the processor's graphics",
      .why = "Before Linux 6.10, HIP gets only what the firmware sets aside: large tensors end "
             "with \"out of memory\".\n"
             "Set aside 4 GB or more in the firmware's set-up (UMA frame buffer), or take a newer "
             "kernel.",
      .fix = "{}" },
    { RULE("gpu-vfio", gpu_vfio, "gpu", DOCTOR_NOTE),
      .title = "The GPU is handed to a virtual machine",
      .why = "vfio-pci holds it; it can be used in the guest only.", .fix = "" },
    { RULE("kfd-missing", kfd_missing, "gpu", DOCTOR_PROBLEM),
      .title = "The compute driver (KFD) is not there",
      .why = "ROCm talks to /dev/kfd. The display works without it, HIP and PyTorch do not.\n"
             "Either the kernel was built without CONFIG_HSA_AMD, or KFD gave up at boot.",
      .fix = "{}" },
    { RULE("kfd-gpu-missing", kfd_gpu_missing, "gpu", DOCTOR_PROBLEM),
      .title = "KFD does not list the GPU",
      .why =
          "The driver is loaded, but the compute side refused the card; the kernel log says why.",
      .fix = "sudo dmesg | grep -i kfd" },
    { RULE("atomics-rejected", atomics_rejected, "gpu", DOCTOR_PROBLEM),
      .title = "The slot has no PCIe atomics",
      .why =
          "KFD skipped the card: every bridge between it and the CPU must pass atomic operations.\n"
          "Slots at the chipset, risers and boards before PCIe 3.0 often do not. Navi 1x: firmware "
          "145 or newer does without.",
      .fix = "move the card to the slot nearest to the CPU; then: sudo dmesg | grep -i kfd" },
    { RULE("atomics-absent", atomics_absent, "gpu", DOCTOR_NOTE),
      .title = "No PCIe atomics on the way to the CPU",
      .why =
          "The card works; kernels that print, and some synchronisation with the host, may hang.",
      .fix = "" },
    { RULE("firmware-mec-old", firmware_mec_old, "gpu", DOCTOR_WARNING),
      .title = "Old compute firmware",
      .why = "Navi 1x needs MEC firmware 145 or newer to do without PCIe atomics, and newer ones "
             "have fewer hangs.",
      .fix = "{}" },
    { RULE("firmware-mes-bad", firmware_mes_bad, "gpu", DOCTOR_WARNING), .blocks = true,
      .title = "A release of the scheduler's firmware that hangs",
      .why = "Owners of this chip report hangs and page faults with MES firmware 0x83; older and "
             "newer "
             "ones are well.\n"
             "It came with linux-firmware of November 2025.",
      .fix = "{}" },
    { RULE("igpu-visible", igpu_visible, "gpu", DOCTOR_WARNING), .blocks = true,
      .title = "The integrated GPU is visible to HIP",
      .why = "HIP counts it as a device, often as the first; libraries without code for it stop "
             "the whole process\n"
             "(hipErrorNoBinaryForGpu), and an override hits it as well.",
      .fix = "export HIP_VISIBLE_DEVICES={}" },
    { RULE("vram-small", vram_small, "gpu", DOCTOR_WARNING), .blocks = true,
      .title = "Hardly any memory on the card",
      .why =
          "PyTorch's libraries alone take some hundred MiB of it; a card that shows less than it "
          "has was not started well.",
      .fix = "sudo dmesg | grep -i -E 'vram|bar'" },
    { RULE("other-cards", other_cards, "gpu", DOCTOR_WARNING),
      .title = "A card that needs another PyTorch, or a setting of its own",
      .why = "What serves the first card has no code for it as it is; programs are shown one card "
             "or the other.",
      .fix = "{}" },
    /* ---- kernel ---- */
    { RULE("kernel-old", kernel_old, "kernel", DOCTOR_WARNING), .blocks = true,
      .title = "Old kernel for this chip",
      .why =
          "Compute on RDNA cards was repaired over many kernels; a kernel older than the chip does "
          "not take it at all, or fails in queues and resets.",
      .fix = "{}" },
    { RULE("module-mtype", module_mtype, "kernel", DOCTOR_WARNING),
      .title = "amdgpu.mtype_local is set",
      .why = "The kernel reads it for MI300 (GC 9.4) only; on RDNA it does nothing. RDNA1 and "
             "RDNA2 share the same\n"
             "memory types, so it cannot be what makes RDNA1 crash. Remove it, it only misleads.",
      .fix = "{}" },
    { RULE("module-cwsr-off", module_cwsr_off, "kernel", DOCTOR_WARNING),
      .title = "Saving of waves is switched off",
      .why =
          "Without CWSR a long kernel cannot be preempted: queues time out and the GPU is reset.",
      .fix = "remove cwsr_enable=0 from /etc/modprobe.d and from the kernel's command line" },
    { RULE("module-parameters", module_parameters, "kernel", DOCTOR_NOTE),
      .title = "amdgpu runs with unusual parameters",
      .why = "Nothing here needs them; for a comparison with others, use the defaults.",
      .fix = "" },
    { RULE("cmdline-nomodeset", cmdline_nomodeset, "kernel", DOCTOR_PROBLEM),
      .title = "nomodeset keeps amdgpu away",
      .why = "With nomodeset the driver does not take the card.", .fix = "{}" },
    /* ---- access ---- */
    { RULE("kfd-no-access", kfd_no_access, "access", DOCTOR_PROBLEM),
      .title = "You may not open /dev/kfd",
      .why = "Programs then see no GPU at all, or \"Permission denied\".", .fix = "{}" },
    { RULE("container-no-groups", container_no_groups, "access", DOCTOR_PROBLEM),
      .title = "The container has /dev/kfd, but not its group",
      .why = "Group names mean nothing across the border: the number of the host's group must be "
             "given.",
      .fix = "{}" },
    { RULE("container-no-devices", container_no_devices, "access", DOCTOR_PROBLEM),
      .title = "The container was not given the GPU",
      .why = "/dev/kfd and /dev/dri must be passed in.", .fix = "{}" },
    { RULE("container-no-render", container_no_render, "access", DOCTOR_PROBLEM),
      .title = "The container has /dev/kfd, but no render node that opens",
      .why = "ROCm allocates memory through /dev/dri/renderD*: HIP finds no device without it.",
      .fix = "{}" },
    { RULE("kfd-open-fails", kfd_open_fails, "access", DOCTOR_PROBLEM),
      .title = "/dev/kfd does not open",
      .why = "It is no matter of permission: KFD has no usable GPU, or is out of something.",
      .fix = "{}" },
    { RULE("render-no-access", render_no_access, "access", DOCTOR_WARNING), .blocks = true,
      .title = "You may not open a render node",
      .why = "ROCm allocates memory through it; OpenCL and Vulkan use it, too.", .fix = "{}" },
    { RULE("access-ok", access_ok, "access", DOCTOR_OK), .title = "The GPU can be opened",
      .why = "", .fix = "" },
    { RULE("access-policy", access_policy, "access", DOCTOR_PROBLEM),
      .title = "/dev/kfd is refused although its group and mode let you in",
      .why =
          "A rule beyond file permissions is in the way: SELinux, a sandbox, a service's list of "
          "devices.\n"
          "Another group does not help.",
      .fix = "{}" },
    { RULE("render-missing", render_missing, "access", DOCTOR_PROBLEM),
      .title = "The card has no render node that opens",
      .why = "ROCm allocates memory through /dev/dri/renderD*: HIP finds no device without it.",
      .fix = "ls -l /dev/dri; sudo dmesg | grep -i -E 'drm|amdgpu'" },
    { RULE("wsl", wsl, "access", DOCTOR_NOTE), .title = "Windows Subsystem for Linux",
      .why = "/dev/kfd does not exist there, by design: ROCm for WSL goes through /dev/dxg, for "
             "few chips (gfx1100 and newer).\n"
             "The chip cannot be read from here. RDNA1 is not served in WSL.",
      .fix = "export HSA_ENABLE_DXG_DETECTION=1; rocminfo   # lists the chip when it is served" },
    /* ---- ROCm ---- */
    { RULE("rocm-none", rocm_none, "rocm", DOCTOR_NOTE), .title = "No ROCm installed",
      .why = "That is fine: PyTorch's wheels bring their own.", .fix = "" },
    { RULE("rocm-one", rocm_one, "rocm", DOCTOR_OK), .title = "One ROCm", .why = "", .fix = "" },
    { RULE("rocm-several", rocm_several, "rocm", DOCTOR_WARNING), .title = "Several ROCm versions",
      .why = "Which one a program gets depends on paths; a mixture of two fails in odd ways "
             "(missing symbols, wrong\n"
             "Tensile files, \"shared object initialization failed\").",
      .fix = "{}" },
    { RULE("rocm-path-mixed", rocm_path_mixed, "rocm", DOCTOR_WARNING),
      .title = "A variable names another ROCm than the loader takes",
      .why = "Compilers then build for one release and programs run with the other.",
      .fix = "export {}" },
    { RULE("rocm-llvm-clash", rocm_llvm_clash, "rocm", DOCTOR_WARNING),
      .title = "Compilers of different LLVM releases",
      .why = "Device libraries of the newer one cannot be read by the older one (\"Unknown "
             "attribute kind\");\n"
             "CMake takes what it finds first in /opt.",
      .fix = "export ROCM_PATH={} CMAKE_PREFIX_PATH={}   # for builds; better: keep only one" },
    { RULE("rocm-llvm-newer", rocm_llvm_newer, "rocm", DOCTOR_NOTE),
      .title = "ROCm's compiler is newer than the system's",
      .why = "A build from source with the system's clang cannot read ROCm's device libraries\n"
             "(\"Unknown attribute kind\"); ROCm's own compiler can.",
      .fix = "export CC={}/llvm/bin/clang CXX={}/llvm/bin/clang++   # for builds" },
    { RULE("rocblas-no-arch", rocblas_no_arch, "rocm", DOCTOR_WARNING),
      .title = "A rocBLAS without code for this chip",
      .why = "Matrix products fail with \"Cannot read TensileLibrary.dat\".\n"
             "Do not link another chip's files in their place; rocBLAS from ROCm 6.2 on and "
             "Debian's have gfx1010.",
      .fix = "{}" },
    { RULE("rocblas-disguised", rocblas_disguised, "rocm", DOCTOR_WARNING),
      .title = "rocBLAS: another chip's files under this chip's name",
      .why = "Somebody linked gfx1030's kernels to another name. They load, and may hang or "
             "compute nonsense.",
      .fix = "sudo mv {} {}.aside" },
    { RULE("library-broken", library_broken, "rocm", DOCTOR_PROBLEM),
      .title = "A library is damaged",
      .why = "The loader says \"invalid ELF header\" or \"file too short\": an interrupted "
             "download or a full disk.",
      .fix = "{}" },
    { RULE("library-unread", library_unread, "rocm", DOCTOR_NOTE),
      .title = "A library was not read in time",
      .why = "What it has code for is not known. rmcp audit reads it without a time limit.",
      .fix = "" },
    /* ---- PyTorch ---- */
    { RULE("torch-none", torch_none, "python", DOCTOR_NOTE), .title = "No PyTorch found", .why = "",
      .fix = "" },
    { RULE("torch-ok", torch_ok, "python", DOCTOR_OK), .title = "A PyTorch with code for this chip",
      .why = "", .fix = "" },
    { RULE("torch-no-arch", torch_no_arch, "python", DOCTOR_PROBLEM),
      .title = "A PyTorch without code for this chip",
      .why = "Every operation on the GPU fails (\"invalid device function\", "
             "\"hipErrorNoBinaryForGpu\"),\n"
             "or, under an override, runs code that was built for another chip.",
      .fix = "{}" },
    { RULE("torch-repaired", torch_repaired, "python", DOCTOR_NOTE),
      .title = "A wheel with code for this chip, which pytorch.org's does not have",
      .why = "Its library was repaired or built anew on this machine; an upgrade of PyTorch brings "
             "the original back.",
      .fix = "" },
    { RULE("repair-stale", repair_stale, "python", DOCTOR_WARNING),
      .title = "A library that was repaired in place was replaced again",
      .why = "PyTorch was upgraded or installed anew: its code is the new library's, and an old "
             "backup takes room.",
      .fix = "rmcp repair --restore '{}' --keep-changed && rmcp repair --install-into '{}'" },
    { RULE("torch-no-rocblas", torch_no_rocblas, "python", DOCTOR_PROBLEM),
      .title = "This PyTorch's rocBLAS has no code for the chip",
      .why = "PyTorch's own kernels run, matrix products and linear layers fail (\"Cannot read "
             "TensileLibrary.dat\").\n"
             "ROCm 6.4 dropped gfx900 and gfx906 there; the wheels of ROCm 6.3 still have them.",
      .fix = "see the recommendation" },
    { RULE("torch-known-bad", torch_known_bad, "python", DOCTOR_WARNING), .blocks = true,
      .title = "A release that is known to fail on this chip", .why = "", .fix = "{}" },
    { RULE("torch-layernorm", torch_layernorm, "python", DOCTOR_WARNING),
      .title = "This PyTorch trains LayerNorm and RMSNorm wrongly on this card",
      .why = "Their gradients of weight and bias lack about half of the sums, without a word "
             "(pytorch issue 183861):\n"
             "2.12.0 and 2.12.1 on cards whose waves have 32 lanes. Inference is right.",
      .fix = "another release of PyTorch: before 2.12, or after 2.12.1" },
    { RULE("torch-cpu-build", torch_cpu_build, "python", DOCTOR_WARNING),
      .title = "PyTorch without any GPU support",
      .why = "torch.cuda.is_available() is False with it, whatever the driver does.", .fix = "" },
    { RULE("torch-cuda-build", torch_cuda_build, "python", DOCTOR_PROBLEM),
      .title = "PyTorch for NVIDIA",
      .why = "pip's default on Linux is the CUDA build, which cannot use an AMD GPU.",
      .fix = "enter or make another environment, as recommended" },
    { RULE("torch-wrong-vendor", torch_wrong_vendor, "python", DOCTOR_PROBLEM),
      .title = "PyTorch for ROCm on a machine with an NVIDIA card",
      .why = "An installer saw the integrated AMD graphics and took the wrong build.",
      .fix = "python3 -m venv ~/torch && . ~/torch/bin/activate && pip install torch" },
    { RULE("torch-rocm-mismatch", torch_rocm_mismatch, "python", DOCTOR_WARNING),
      .title = "PyTorch and ROCm are of different releases",
      .why = "PyTorch checks MIOpen's version (it says \"cuDNN version incompatibility\") and "
             "HIP's ABI changes between majors.",
      .fix = "{}" },
    { RULE("torch-two-miopens", torch_two_miopens, "python", DOCTOR_WARNING),
      .title = "Two MIOpens on the way to one process",
      .why = "PyTorch brings its own; LD_LIBRARY_PATH brings another for whatever else is loaded.\n"
             "Mixed releases die at start, or say \"cuDNN version incompatibility\".",
      .fix = "unset LD_LIBRARY_PATH" },
    { RULE("torch-incomplete", torch_incomplete, "python", DOCTOR_PROBLEM), .blocks = true,
      .title = "Parts of this PyTorch are missing",
      .why = "\"import torch\" ends with \"cannot open shared object file\": an interrupted "
             "installation, or a ROCm that was\n"
             "taken away.",
      .fix = "{}" },
    { RULE("torch-overwritten", torch_overwritten, "python", DOCTOR_PROBLEM),
      .title = "One PyTorch was installed over another",
      .why = "An installer put a build for something else over that for ROCm; its files are a "
             "mixture of both.",
      .fix = "{}" },
    { RULE("torch-mixed", torch_mixed, "python", DOCTOR_PROBLEM), .blocks = true,
      .title = "torchvision or torchaudio is of another build than PyTorch",
      .why = "Its import fails (\"operator torchvision::nms does not exist\", \"libcudart.so\"): a "
             "later pip took it from PyPI.",
      .fix = "{}" },
    { RULE("torch-amdsmi", torch_amdsmi, "python", DOCTOR_WARNING), .blocks = true,
      .title = "The package amdsmi beside AMD's PyTorch",
      .why =
          "Two copies of one library in a process: torch.cuda.device_count() is 0, or the program "
          "ends with a double free.",
      .fix = "{}" },
    { RULE("path-blank", path_blank, "python", DOCTOR_WARNING), .blocks = true,
      .title = "A blank in the path to PyTorch",
      .why = "Libraries of ROCm do not find their files below such a folder.", .fix = "{}" },
    { RULE("torch-shadowed", torch_shadowed, "python", DOCTOR_PROBLEM), .blocks = true,
      .title = "Another PyTorch in ~/.local comes first",
      .why = "Python looks there before a conda environment's own folder and the system's.",
      .fix = "export PYTHONNOUSERSITE=1" },
    { RULE("python-gone", python_gone, "python", DOCTOR_WARNING),
      .title = "An environment whose Python is gone",
      .why = "An upgrade of the system brought another Python; what was installed for the old one "
             "cannot be used.",
      .fix = "{}" },
    { RULE("torch-elsewhere", torch_elsewhere, "python", DOCTOR_WARNING), .blocks = true,
      .title = "The environment in use has no PyTorch",
      .why = "Programs started now do not find the one that would compute on the card.",
      .fix = "" },
    /* ---- RMCP's MIOpen ---- */
    { RULE("dropin-installed", dropin_installed, "python", DOCTOR_OK),
      .title = "RMCP's MIOpen is installed in a PyTorch", .why = "", .fix = "" },
    { RULE("dropin-broken", dropin_broken, "python", DOCTOR_PROBLEM),
      .title = "RMCP's MIOpen lacks its library",
      .why = "The installation in this PyTorch is not whole: convolutions fail there.",
      .fix = "rmcp run --install-into '{}'" },
    { RULE("dropin-stale", dropin_stale, "python", DOCTOR_WARNING),
      .title = "RMCP's MIOpen was replaced again",
      .why = "PyTorch was upgraded or installed anew: convolutions are the new library's, and an "
             "old backup takes room.",
      .fix = "rmcp run --restore '{}' && rmcp run --install-into '{}'" },
    { RULE("dropin-preloaded", dropin_preloaded, "environment", DOCTOR_OK),
      .title = "A MIOpen is preloaded, as rmcp run does", .why = "", .fix = "" },
    { RULE("dropin-everywhere", dropin_everywhere, "environment", DOCTOR_WARNING),
      .title = "/etc/ld.so.preload loads a MIOpen into every program",
      .why = "It is loaded into system services as well; rmcp run does it for one program.",
      .fix = "sudo mv /etc/ld.so.preload /etc/ld.so.preload.aside" },
    { RULE("adapter-installed", adapter_installed, "python", DOCTOR_OK),
      .title = "RMCP is installed beside a PyTorch", .why = "", .fix = "" },
    { RULE("adapter-enabled", adapter_enabled, "environment", DOCTOR_OK),
      .title = "RMCP_TORCH enables RMCP in Python programs", .why = "", .fix = "" },
    /* ---- variables ---- */
    { RULE("override-foreign", override_foreign, "environment", DOCTOR_PROBLEM),
      .title = "The override makes the chip another one",
      .why = "Code built for other silicon is loaded: on RDNA1 without the workarounds for its "
             "silicon bugs, and with instructions that it lacks; in ROCm 6.4 and 7.2 (simulated) "
             "even the copy kernel of hipMemcpy.\n"
             "Hangs, page faults, resets and wrong fp16 results follow.",
      .fix = "{}" },
    { RULE("registers-refused", registers_refused, "environment", DOCTOR_PROBLEM),
      .title = "The override names a chip that asks for more than this one has",
      .why = "The instructions are the same, but kernels tuned for the larger chip ask for more "
             "registers than there are:\n"
             "HSA_STATUS_ERROR_INVALID_ISA, page faults or a hang, as owners of this chip report.",
      .fix = "{}" },
    { RULE("registers-risk", registers_risk, "environment", DOCTOR_WARNING),
      .title = "The override names a chip with more registers",
      .why = "It works for many programs, until a kernel tuned for the larger chip asks for more "
             "registers than there are\n"
             "(HSA_STATUS_ERROR_INVALID_ISA; seen in fp16). Newer wheels have code for the chip "
             "itself.",
      .fix = "{}" },
    { RULE("override-malformed", override_malformed, "environment", DOCTOR_PROBLEM),
      .title = "The override cannot be read", .why = "ROCm stops with an error, or ignores it.",
      .fix = "{}" },
    { RULE("override-family", override_family, "environment", DOCTOR_OK),
      .title = "An override inside the chip's family: safe", .why = "", .fix = "" },
    { RULE("override-same", override_same, "environment", DOCTOR_NOTE),
      .title = "The override says what the chip is",
      .why = "It does no harm and is not needed; it would be wrong for another card.",
      .fix = "unset {}" },
    { RULE("override-unread", override_unread, "environment", DOCTOR_WARNING), .blocks = true,
      .title = "An override for one device, which this ROCm does not read",
      .why = "ROCm reads HSA_OVERRIDE_GFX_VERSION_n since 6.2; before, the chip stays what it is.",
      .fix = "export {}" },
    { RULE("override-mixed", override_mixed, "environment", DOCTOR_WARNING),
      .title = "The override also hits another GPU",
      .why = "It holds for all GPUs; on one of another family it loads foreign code.",
      .fix = "{}" },
    { RULE("visible-none", visible_none, "environment", DOCTOR_PROBLEM),
      .title = "A variable hides every GPU",
      .why = "Programs see no device, although all is installed.", .fix = "unset {}" },
    { RULE("visible-other", visible_other, "environment", DOCTOR_PROBLEM),
      .title = "A variable hides the card and shows the processor's graphics",
      .why =
          "Programs compute on what is left, which is slow, or has no code; numbers count GPUs as "
          "KFD lists them.",
      .fix = "{}" },
    { RULE("loader-mixed", loader_mixed, "environment", DOCTOR_WARNING), .blocks = true,
      .title = "Libraries of another ROCm are loaded into PyTorch",
      .why = "Two releases in one process die at start, or later, in ways that look like a broken "
             "card.",
      .fix = "{}" },
    { RULE("kernels-elsewhere", kernels_elsewhere, "environment", DOCTOR_WARNING), .blocks = true,
      .title = "A variable sends rocBLAS or hipBLASLt to other kernels",
      .why = "Those of another release or chip do not load, or compute nonsense: \"Cannot read "
             "TensileLibrary.dat\".",
      .fix = "unset {}" },
    { RULE("allocator-malformed", allocator_malformed, "environment", DOCTOR_PROBLEM),
      .title = "PyTorch does not take the options of its allocator",
      .why = "The first allocation ends with \"Unrecognized CachingAllocator option\".",
      .fix = "unset {}" },
    { RULE("preload-shim", preload_shim, "environment", DOCTOR_PROBLEM),
      .title = "A shim around HIP's memory is loaded into every program",
      .why = "Changing how memory is allocated cures nothing (memory types are not what fails),\n"
             "and breaks HIP's start or the whole system.",
      .fix = "unset LD_PRELOAD" },
    { RULE("preload-other", preload_other, "environment", DOCTOR_NOTE),
      .title = "LD_PRELOAD is set",
      .why = "Harmless for allocators; leave it out when looking for an error.", .fix = "" },
    { RULE("preload-file", preload_file, "environment", DOCTOR_PROBLEM),
      .title = "/etc/ld.so.preload loads a shim into every program",
      .why = "It is loaded into system services as well.",
      .fix = "sudo mv /etc/ld.so.preload /etc/ld.so.preload.aside" },
    { RULE("sdma-off", sdma_off, "environment", DOCTOR_NOTE),
      .title = "Copies by SDMA are switched off",
      .why = "Copies then use compute kernels: slower, and rarely of help.",
      .fix = "unset HSA_ENABLE_SDMA" },
    { RULE("miopen-tuning", miopen_tuning, "environment", DOCTOR_NOTE),
      .title = "MIOpen's behaviour is changed by variables",
      .why = "They often remain from an earlier search for an error.", .fix = "unset {}" },
    { RULE("arch-variable", arch_variable, "environment", DOCTOR_NOTE),
      .title = "A target for builds is set",
      .why = "It is read when PyTorch is compiled; it changes nothing about an installed one.",
      .fix = "" },
    { RULE("serialize", serialize, "environment", DOCTOR_NOTE),
      .title = "A debugging variable makes everything slow",
      .why = "Good for finding the failing kernel, not for work.", .fix = "unset {}" },
    { RULE("profile-sets", profile_sets, "environment", DOCTOR_NOTE),
      .title = "A start-up file sets the override", .why = "It comes back with the next terminal.",
      .fix = "" },
    /* ---- kernel log ---- */
    { RULE("log-page-fault", log_page_fault, "log", DOCTOR_WARNING), .blocks = true,
      .title = "The kernel log has GPU page faults",
      .why = "A kernel used a wild address: foreign code under an override, or a bug in a library.",
      .fix = "sudo dmesg | rmcp explain -" },
    { RULE("log-reset", log_reset, "log", DOCTOR_WARNING), .blocks = true,
      .title = "The GPU was reset",
      .why = "A kernel hung. After a reset with lost VRAM only a reboot gives a clean state.",
      .fix = "sudo reboot" },
    { RULE("log-preemption", log_preemption, "log", DOCTOR_WARNING), .blocks = true,
      .title = "Compute queues could not be preempted",
      .why =
          "A wave hung, or the scheduler's firmware did; everything after it fails until a reset.",
      .fix = "{}" },
    { RULE("log-hardware", log_hardware, "log", DOCTOR_WARNING), .blocks = true,
      .title = "The card or its bus has errors",
      .why = "Errors that cannot be corrected: a card that does not sit well, a riser, power, or "
             "memory that wears out.",
      .fix = "sudo dmesg | rmcp explain -" },
    { RULE("log-crash", log_crash, "log", DOCTOR_WARNING), .blocks = true,
      .title = "A program died in ROCm's libraries",
      .why = "Two releases in one process, an override, or a release with a bug for this chip.",
      .fix = "sudo dmesg | rmcp explain -" },
    { RULE("log-unsupported", log_unsupported, "log", DOCTOR_PROBLEM),
      .title = "KFD says that the chip is not supported",
      .why = "Neither HIP nor ROCm's OpenCL will ever work on it; Mesa's OpenCL and Vulkan may.",
      .fix = "" },
    { RULE("log-unreadable", log_unreadable, "log", DOCTOR_NOTE),
      .title = "The kernel log was not read", .why = "Faults and resets of the GPU are told there.",
      .fix = "sudo rmcp doctor" },
    /* ---- leftovers ---- */
    { RULE("leftover-shim", leftover_shim, "leftovers", DOCTOR_WARNING),
      .title = "A shim around HIP's memory is still there",
      .why = "Attempts to force other memory rest on a wrong cause; they can only do harm.",
      .fix = "mv {} {}.aside" },
    { RULE("leftover-rocr", leftover_rocr, "leftovers", DOCTOR_WARNING),
      .title = "Remains of a patched ROCm runtime",
      .why = "A patched libhsa-runtime64 misbehaves in ways that look like a broken card.",
      .fix = "sudo apt install --reinstall hsa-rocr; look at {}" },
    { RULE("leftover-conv", leftover_conv, "leftovers", DOCTOR_WARNING),
      .title = "A replacement for Conv2d is still there",
      .why = "It changes every program that uses this Python, also with a good PyTorch.",
      .fix = "mv {} {}.aside" },
    { RULE("leftover-mtype", leftover_mtype, "leftovers", DOCTOR_WARNING),
      .title = "A file for mtype_local is still there",
      .why = "The parameter does nothing on RDNA.", .fix = "{}" },
    /* ---- a build from source ---- */
    { RULE("build-memory", build_memory, "resources", DOCTOR_NOTE),
      .title = "Little memory for building PyTorch",
      .why = "Count 2 to 4 GiB for each parallel job.",
      .fix = "export MAX_JOBS=2   # for the build" },
    { RULE("disk-full", disk_full, "resources", DOCTOR_WARNING), .blocks = true,
      .title = "The disk is full",
      .why = "MIOpen keeps what it compiled at home; it and pip fail when nothing can be written.",
      .fix = "df -h ~; du -xsh ~/.cache/*" },
    { RULE("build-disk", build_disk, "resources", DOCTOR_NOTE),
      .title = "Little disk for building PyTorch", .why = "Sources and objects take about 40 GB.",
      .fix = "" },
    /* ---- other drivers ---- */
    { RULE("opencl-none", opencl_none, "drivers", DOCTOR_NOTE),
      .title = "No OpenCL driver for the GPU",
      .why = "RMCP computes through OpenCL where HIP has no code for the chip.", .fix = "{}" },
    { RULE("opencl-broken", opencl_broken, "drivers", DOCTOR_WARNING),
      .title = "An OpenCL driver is registered, but not there",
      .why = "Programs that ask for OpenCL may fail to start.", .fix = "sudo mv {} {}.aside" },
    { RULE("opencl-ok", opencl_ok, "drivers", DOCTOR_OK), .title = "An OpenCL driver", .why = "",
      .fix = "" },
    { RULE("vulkan-none", vulkan_none, "drivers", DOCTOR_NOTE),
      .title = "No Vulkan driver for the GPU",
      .why = "Programs such as llama.cpp compute through Vulkan on cards without ROCm.",
      .fix = "{}" },
    { RULE("vulkan-ok", vulkan_ok, "drivers", DOCTOR_OK), .title = "A Vulkan driver", .why = "",
      .fix = "" },
    { RULE("probe-late", probe_late, "doctor", DOCTOR_WARNING),
      .title = "A part of the examination did not finish",
      .why =
          "A file that blocks (a hung driver, a network folder), or one that made the probe crash.",
      .fix = "" },
};
const size_t doctor_n_rules = sizeof doctor_rules / sizeof *doctor_rules;

/* Put the value into every "{}". */
static void fill(const char *template, const char *value, char *out, size_t room)
{
    size_t used = 0;
    *out = '\0';
    for (const char *hole; (hole = strstr(template, "{}")) && used < room; template = hole + 2)
        used += (size_t)snprintf(out + used, room - used, "%.*s%s", (int)(hole - template),
                                 template, value);
    if (used < room) snprintf(out + used, room - used, "%s", template);
}

size_t doctor_find(const struct doctor_machine *m, struct doctor_finding *findings, size_t room)
{
    size_t n = 0;
    for (int verdict = DOCTOR_PROBLEM; verdict >= DOCTOR_OK; verdict--)
        for (size_t i = 0; i < doctor_n_rules && n < room; i++) {
            struct doctor_words words = { .seen = "" };
            if (doctor_rules[i].verdict != (enum doctor_verdict)verdict) continue;
            if (!doctor_rules[i].applies(m, &words)) continue;
            findings[n].rule = &doctor_rules[i];
            findings[n].why = words.why ? words.why : doctor_rules[i].why;
            memcpy(findings[n].seen, words.seen, sizeof words.seen);
            fill(doctor_rules[i].fix, words.value, findings[n].fix, sizeof findings[n].fix);
            n++;
        }
    return n;
}

size_t doctor_advise(const struct doctor_machine *m, struct doctor_advice *advice, size_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < doctor_n_options && n < room; i++) {
        struct doctor_words words = { .seen = "" };
        if (!doctor_options[i].applies(m, &words)) continue;
        advice[n].option = &doctor_options[i];
        fill(doctor_options[i].command, words.value, advice[n].command, sizeof advice[n].command);
        n++;
    }
    return n;
}
